/*
 * test_error.c - messages that fit, and statuses that have names
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "util/error.h"

#define LAST_SIZE (PAWL_ERROR_MESSAGE_SIZE - 1)

static void
sets_all_fields(void **state)
{
    pawl_error err = {0};

    (void) state;
    assert_int_equal(pawl_error_set(&err, PAWL_TIMEOUT, PAWL_ERROR_RETRIABLE, -185, "no answer in %d ms", 30),
                     PAWL_TIMEOUT);
    assert_int_equal(err.status, PAWL_TIMEOUT);
    assert_int_equal(err.flags, PAWL_ERROR_RETRIABLE);
    assert_int_equal(err.native_code, -185);
    assert_string_equal(err.message, "no answer in 30 ms");
    pawl_error_clear(&err);
    assert_int_equal(err.status, PAWL_OK);
    assert_int_equal(err.flags, 0);
    assert_int_equal(err.native_code, 0);
    assert_string_equal(err.message, "");
}

static void
takes_null(void **state)
{
    (void) state;
    pawl_error_clear(NULL);
    assert_int_equal(pawl_error_set(NULL, PAWL_FENCED, 0, 0, "%s", "x"), PAWL_FENCED);
    pawl_error_prefix(NULL, "%s", "x");
}

static void
prefixes_without_touching_the_rest(void **state)
{
    pawl_error err = {0};

    (void) state;
    pawl_error_set(&err, PAWL_UNREADABLE, PAWL_ERROR_FATAL, 26, "file is not a database");
    assert_int_equal(pawl_error_prefix(&err, "sqlite:%s", "x.db"), PAWL_UNREADABLE);
    assert_string_equal(err.message, "sqlite:x.db: file is not a database");
    assert_int_equal(err.flags, PAWL_ERROR_FATAL);
    assert_int_equal(err.native_code, 26);
}

static void
the_old_message_may_be_an_argument(void **state)
{
    pawl_error err = {0};

    (void) state;
    pawl_error_set(&err, PAWL_FAILED, 0, 0, "cause");
    pawl_error_set(&err, PAWL_CONFLICT, 0, 0, "after %s", err.message);
    assert_string_equal(err.message, "after cause");
    pawl_error_prefix(&err, "%s", err.message);
    assert_string_equal(err.message, "after cause: after cause");
}

static void
drops_newlines_at_the_end(void **state)
{
    pawl_error err = {0};

    (void) state;
    pawl_error_set(&err, PAWL_FAILED, 0, 0, "one\ntwo\r\n\n");
    assert_string_equal(err.message, "one\ntwo");
    pawl_error_set(&err, PAWL_FAILED, 0, 0, "\n");
    assert_string_equal(err.message, "");
}

/* Whatever the length, no half of a character is left at the end. */
static void
cuts_where_a_character_ends(void **state)
{
    static const char *const characters[] = {"a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x90\x9f"};

    (void) state;
    for (size_t c = 0; c < G_N_ELEMENTS(characters); c++) {
        for (size_t shift = 0; shift < 4; shift++) {
            GString *text = g_string_new_len("...", (gssize) shift);
            pawl_error err = {0};

            while (text->len < 5000)
                g_string_append(text, characters[c]);
            pawl_error_set(&err, PAWL_FAILED, 0, 0, "%s", text->str);
            assert_true(g_utf8_validate(err.message, -1, NULL));
            assert_true(strlen(err.message) + strlen(characters[c]) > LAST_SIZE);
            pawl_error_prefix(&err, "%s", text->str);
            assert_true(g_utf8_validate(err.message, -1, NULL));
            assert_true(strlen(err.message) + strlen(characters[c]) > LAST_SIZE);
            g_string_free(text, TRUE);
        }
    }
}

static void
cuts_the_cause_after_a_prefix(void **state)
{
    char cause[LAST_SIZE + 1];
    pawl_error err = {0};

    (void) state;
    memset(cause, 'c', LAST_SIZE);
    cause[LAST_SIZE] = '\0';
    pawl_error_set(&err, PAWL_FAILED, 0, 0, "%s", cause);
    assert_int_equal(strlen(err.message), LAST_SIZE);
    pawl_error_prefix(&err, "while saving");
    assert_int_equal(strlen(err.message), LAST_SIZE);
    assert_true(g_str_has_prefix(err.message, "while saving: ccc"));
}

static void
statuses_have_names_and_exit_codes(void **state)
{
    static const struct {
        pawl_status status;
        const char *name;
        int exit_code;
    } cases[] = {
        {PAWL_OK, "ok", 0},
        {PAWL_FAILED, "failed", 1},
        {PAWL_INVALID, "invalid", 2},
        {PAWL_UNSUPPORTED, "unsupported", 2},
        {PAWL_UNREACHABLE, "unreachable", 5},
        {PAWL_TIMEOUT, "timeout", 5},
        {PAWL_CANCELLED, "cancelled", 1},
        {PAWL_UNREADABLE, "unreadable", 1},
        {PAWL_STALE, "stale", 4},
        {PAWL_FENCED, "fenced", 4},
        {PAWL_CONFLICT, "conflict", 4},
        {PAWL_OUTCOME_UNKNOWN, "outcome unknown", 5},
        {PAWL_DATA_LOSS, "data loss", 3},
        {PAWL_STALLED, "stalled", 1},
        {(pawl_status) 14, "failed", 1}, /* of a later version */
        {(pawl_status) -1, "failed", 1},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        assert_string_equal(pawl_status_name(cases[i].status), cases[i].name);
        assert_int_equal(pawl_status_exit_code(cases[i].status), cases[i].exit_code);
    }
    assert_int_equal(pawl__status_count(), PAWL_STALLED + 1);
    for (size_t i = 0; i < pawl__status_count(); i++)
        assert_true(g_str_has_suffix(pawl__status_meaning((pawl_status) i), "."));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_all_fields),
        cmocka_unit_test(takes_null),
        cmocka_unit_test(prefixes_without_touching_the_rest),
        cmocka_unit_test(the_old_message_may_be_an_argument),
        cmocka_unit_test(drops_newlines_at_the_end),
        cmocka_unit_test(cuts_where_a_character_ends),
        cmocka_unit_test(cuts_the_cause_after_a_prefix),
        cmocka_unit_test(statuses_have_names_and_exit_codes),
    };

    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
