/*
 * test_log.c - lines that are lines, and logs that take nothing
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "util/log.h"

/* What a log function got. */
typedef struct taken {
    int count;
    pawl_log_level level;
    int64_t time_ms;
    char scope[32];
    char message[2 * PAWL__LOG_MESSAGE_SIZE];
} taken;

static void
take(void *user, const pawl_log_line *line)
{
    taken *got = user;

    got->count++;
    got->level = line->level;
    got->time_ms = line->time_ms;
    g_strlcpy(got->scope, line->scope, sizeof got->scope);
    g_strlcpy(got->message, line->message, sizeof got->message);
}

static void
hands_over_what_the_level_takes(void **state)
{
    taken got = {0};
    pawl_log log = {PAWL_LOG_INFO, take, &got};

    (void) state;
    pawl__log(&log, PAWL_LOG_DEBUG, "job", "%d", 1);
    assert_int_equal(got.count, 0);
    pawl__log(&log, PAWL_LOG_INFO, "job", "saved %d of %s", 7, "flights");
    assert_int_equal(got.count, 1);
    assert_int_equal(got.level, PAWL_LOG_INFO);
    assert_string_equal(got.scope, "job");
    assert_string_equal(got.message, "saved 7 of flights");
    assert_true(got.time_ms > INT64_C(1600000000000));
    pawl__log(&log, PAWL_LOG_ERROR, "job", "x");
    assert_int_equal(got.count, 2);
}

static void
nothing_takes_nothing(void **state)
{
    pawl_log silent = {0};

    (void) state;
    silent.level = PAWL_LOG_DEBUG;
    pawl__log(NULL, PAWL_LOG_ERROR, "job", "%s", "x");
    pawl__log(&silent, PAWL_LOG_ERROR, "job", "%s", "x");
    assert_false(pawl__log_takes(NULL, PAWL_LOG_ERROR));
    assert_false(pawl__log_takes(&silent, PAWL_LOG_ERROR));
}

static void
cuts_long_messages(void **state)
{
    taken got = {0};
    pawl_log log = {PAWL_LOG_DEBUG, take, &got};
    GString *text = g_string_new("x");

    (void) state;
    while (text->len < 3 * PAWL__LOG_MESSAGE_SIZE)
        g_string_append(text, "\xe2\x82\xac");
    pawl__log(&log, PAWL_LOG_INFO, "job", "%s", text->str);
    assert_true(strlen(got.message) < PAWL__LOG_MESSAGE_SIZE);
    assert_true(strlen(got.message) > PAWL__LOG_MESSAGE_SIZE - 8);
    assert_true(g_utf8_validate(got.message, -1, NULL));
    g_string_free(text, TRUE);
}

/* What pawl_log_to_stdio() writes for a line; the caller frees it. */
static char *
written(pawl_log_level level, const char *scope, const char *message)
{
    pawl_log_line line = {sizeof line, level, INT64_C(1357034400000), scope, message};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    assert_non_null(file);
    pawl_log_to_stdio(file, &line);
    fclose(file);
    return text;
}

static void
check_written(pawl_log_level level, const char *message, const char *expected)
{
    char *text = written(level, "job", message);

    assert_string_equal(text, expected);
    free(text);
}

static void
writes_one_line(void **state)
{
    (void) state;
    check_written(PAWL_LOG_INFO, "hello", "2013-01-01T10:00:00.000Z INFO  job: hello\n");
    check_written(PAWL_LOG_ERROR, "a\nb\x1b[31m", "2013-01-01T10:00:00.000Z ERROR job: a b [31m\n");
    check_written(PAWL_LOG_DEBUG, "", "2013-01-01T10:00:00.000Z DEBUG job: \n");
}

static void
writes_one_line_however_long(void **state)
{
    GString *text = g_string_new(NULL);
    char *line;

    (void) state;
    while (text->len < 10000)
        g_string_append(text, "\xc3\xa4");
    line = written(PAWL_LOG_WARN, text->str, text->str);
    assert_true(g_utf8_validate(line, -1, NULL));
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    free(line);
    g_string_free(text, TRUE);
}

static void
levels_have_names(void **state)
{
    (void) state;
    assert_string_equal(pawl_log_level_name(PAWL_LOG_ERROR), "error");
    assert_string_equal(pawl_log_level_name(PAWL_LOG_WARN), "warn");
    assert_string_equal(pawl_log_level_name(PAWL_LOG_INFO), "info");
    assert_string_equal(pawl_log_level_name(PAWL_LOG_DEBUG), "debug");
    assert_string_equal(pawl_log_level_name((pawl_log_level) 99), "debug");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hands_over_what_the_level_takes),
        cmocka_unit_test(nothing_takes_nothing),
        cmocka_unit_test(cuts_long_messages),
        cmocka_unit_test(writes_one_line),
        cmocka_unit_test(writes_one_line_however_long),
        cmocka_unit_test(levels_have_names),
    };

    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
