/*
 * test_print.c - fingerprints of records
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "core/print.h"

#define PRINT_OF_41 "41-0123456789abcdef0123456789abcdef"

static char big[10000];

/* Records that differ in one thing each. */
static const pawl_record records[] = {
    {.key = "k", .key_size = 1, .value = "v", .value_size = 1, .timestamp_ms = 1},
    {.key = "k", .key_size = 1, .value = "v", .value_size = 1, .timestamp_ms = 2},
    {.key = "l", .key_size = 1, .value = "v", .value_size = 1, .timestamp_ms = 1},
    {.key = "k", .key_size = 1, .value = "w", .value_size = 1, .timestamp_ms = 1},
    {.key = "kv", .key_size = 2, .value = "", .value_size = 0, .timestamp_ms = 1},
    {.key = "", .key_size = 0, .value = "v", .value_size = 1, .timestamp_ms = 1},
    {.key = NULL, .value = "v", .value_size = 1, .timestamp_ms = 1},
    {.key = "k", .key_size = 1, .value = NULL, .timestamp_ms = 1},
    {.key = "k", .key_size = 1, .value = "", .timestamp_ms = 1},
    {.key = "k", .key_size = 1, .value = big, .value_size = sizeof big, .timestamp_ms = 1},
    {.key = "k", .key_size = 1, .value = big, .value_size = sizeof big - 1, .timestamp_ms = 1},
};

static void
every_record_has_its_own(void **state)
{
    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(records); i++) {
        pawl__print print = pawl__print_of(&records[i]);

        for (size_t j = 0; j < G_N_ELEMENTS(records); j++)
            assert_int_equal(pawl__print_is_of(&print, &records[j]), i == j);
    }
}

/* It is stored, and must stay what it is. */
static void
stays_what_it_is(void **state)
{
    (void) state;
    assert_string_equal(pawl__print_of(&records[0]).text, "0-44b4768dfe5eba911850f710fe0c8031");
}

static void
what_others_stored_says_nothing(void **state)
{
    (void) state;
    assert_string_equal(pawl__print_stored("9f86d081", 42).text, "");
    assert_string_equal(pawl__print_stored(NULL, 42).text, "");
    assert_string_equal(pawl__print_stored("", 42).text, "");
    assert_string_equal(pawl__print_stored("41-0123456789abcdef", 42).text, "");
    assert_string_equal(pawl__print_stored(PRINT_OF_41, 42).text, PRINT_OF_41);
}

/* Nothing comes before the first offset. */
static void
there_is_none_of_offset_0(void **state)
{
    (void) state;
    assert_string_equal(pawl__print_stored("-1-0123456789abcdef0123456789abcdef", 0).text, "");
}

/* Somebody has moved the offset, and left the print. */
static void
a_print_of_another_offset_says_nothing(void **state)
{
    static const int64_t moved[] = {0, 1, 40, 41, 43, 142, INT64_MAX};

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(moved); i++)
        assert_string_equal(pawl__print_stored(PRINT_OF_41, moved[i]).text, "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_has_its_own),
        cmocka_unit_test(stays_what_it_is),
        cmocka_unit_test(what_others_stored_says_nothing),
        cmocka_unit_test(there_is_none_of_offset_0),
        cmocka_unit_test(a_print_of_another_offset_says_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
