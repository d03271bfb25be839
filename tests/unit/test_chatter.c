/*
 * test_chatter.c - what a command says, as log lines: bounded, and text whatever it says
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include <string.h>

#include "cli/chatter.h"

/* The clock is an argument. */
#define START_MS INT64_C(1000000)

struct fixture {
    pawl_log log;
    GPtrArray *lines;
    pawl_chatter chatter;
};

static void
take(void *user, const pawl_log_line *line)
{
    g_ptr_array_add(user, g_strdup(line->message));
}

static int
setup(void **state)
{
    struct fixture *f = g_new0(struct fixture, 1);

    f->lines = g_ptr_array_new_with_free_func(g_free);
    f->log = (pawl_log){PAWL_LOG_DEBUG, take, f->lines};
    pawl__chatter_init(&f->chatter, &f->log, "t [0] 0..1", START_MS);
    *state = f;
    return 0;
}

static int
teardown(void **state)
{
    struct fixture *f = *state;

    g_ptr_array_unref(f->lines);
    g_free(f);
    return 0;
}

static void
say(struct fixture *f, const char *text, int64_t after_ms)
{
    pawl__chatter_add(&f->chatter, text, strlen(text), START_MS + after_ms);
}

static void
expect(struct fixture *f, guint index, const char *line)
{
    assert_true(index < f->lines->len);
    assert_string_equal(g_ptr_array_index(f->lines, index), line);
}

static void
lines_come_with_their_range(void **state)
{
    struct fixture *f = *state;

    say(f, "one\ntw", 0);
    say(f, "o\r\n", 0);
    say(f, "three", 0);
    assert_int_equal(f->lines->len, 2);
    pawl__chatter_end(&f->chatter, START_MS);
    assert_int_equal(f->lines->len, 3);
    expect(f, 0, "t [0] 0..1: one");
    expect(f, 1, "t [0] 0..1: two");
    expect(f, 2, "t [0] 0..1: three");
    assert_string_equal(f->chatter.last, "three");
}

static void
long_lines_are_cut(void **state)
{
    struct fixture *f = *state;
    char *line = g_strnfill(5 * PAWL_CHATTER_LINE_SIZE, 'x');

    say(f, line, 0);
    say(f, "y\nz\n", 0);
    assert_int_equal(f->lines->len, 2);
    assert_true(strlen(g_ptr_array_index(f->lines, 0)) < PAWL_CHATTER_LINE_SIZE + 30);
    assert_true(g_str_has_suffix(g_ptr_array_index(f->lines, 0), "xxx ..."));
    expect(f, 1, "t [0] 0..1: z");
    g_free(line);
}

static void
many_lines_are_counted(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 1000; i++)
        say(f, "again\n", 0);
    assert_int_equal(f->lines->len, 100);
    say(f, "the reason\n", 0);
    pawl__chatter_end(&f->chatter, START_MS);
    assert_int_equal(f->lines->len, 101);
    expect(f, 100, "t [0] 0..1: 901 lines more, not logged (4510 bytes); the last: the reason");
}

static void
more_is_allowed_as_time_goes_by(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 200; i++)
        say(f, "at once\n", 0);
    assert_int_equal(f->lines->len, 100);
    for (int i = 0; i < 200; i++)
        say(f, "a second later\n", 1000);
    assert_int_equal(f->lines->len, 110);
    for (int i = 0; i < 400; i++)
        say(f, "often\n", 1000 + 10 * i); /* more often than a line becomes allowed */
    assert_int_equal(f->lines->len, 110 + 39);
    for (int i = 0; i < 200; i++)
        say(f, "much later\n", 10000000);
    assert_int_equal(f->lines->len, 110 + 39 + 100);
}

static void
what_is_no_text_becomes_some(void **state)
{
    struct fixture *f = *state;

    pawl__chatter_add(&f->chatter, "a\033[1m\0b\xff\tc\n", 11, START_MS);
    assert_int_equal(f->lines->len, 1);
    assert_true(g_utf8_validate(g_ptr_array_index(f->lines, 0), -1, NULL));
    assert_null(strchr(g_ptr_array_index(f->lines, 0), '\033'));
    assert_non_null(strstr(g_ptr_array_index(f->lines, 0), "\xef\xbf\xbd"));
}

#define test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        test(lines_come_with_their_range),     test(long_lines_are_cut),           test(many_lines_are_counted),
        test(more_is_allowed_as_time_goes_by), test(what_is_no_text_becomes_some),
    };

    return cmocka_run_group_tests_name("chatter", tests, NULL, NULL);
}
