/*
 * test_offsets.c - positions: absent is not 0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <pawl/offsets.h>

static void
positions_as_text(void **state)
{
    char text[PAWL_POSITION_TEXT_SIZE];

    (void) state;
    assert_string_equal(pawl_position_text(pawl_position_absent(), text), "none");
    assert_string_equal(pawl_position_text(pawl_position_at(0), text), "0");
    assert_string_equal(pawl_position_text(pawl_position_at(INT64_MAX), text), "9223372036854775807");
    assert_string_equal(pawl_position_text(pawl_position_at(INT64_MIN), text), "-9223372036854775808");
}

static void
zeros_are_absent(void **state)
{
    pawl_position position;

    (void) state;
    memset(&position, 0, sizeof position);
    assert_false(position.known);
    assert_true(pawl_position_equal(position, pawl_position_absent()));
    assert_false(pawl_position_equal(position, pawl_position_at(0)));
}

static void
equality(void **state)
{
    pawl_position absent = {false, 7}; /* what an absent position holds means nothing */

    (void) state;
    assert_true(pawl_position_equal(absent, pawl_position_absent()));
    assert_true(pawl_position_equal(pawl_position_at(7), pawl_position_at(7)));
    assert_false(pawl_position_equal(pawl_position_at(7), pawl_position_at(8)));
    assert_false(pawl_position_equal(absent, pawl_position_at(7)));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_as_text),
        cmocka_unit_test(zeros_are_absent),
        cmocka_unit_test(equality),
    };

    return cmocka_run_group_tests_name("offsets", tests, NULL, NULL);
}
