/*
 * test_backoff.c - how long to wait before the next try
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>

#include "util/backoff.h"

static void
doubles_up_to_the_cap(void **state)
{
    static const struct {
        int64_t base_ms, cap_ms;
        int attempt;
        int64_t delay_ms;
    } cases[] = {
        {1000, 60000, 1, 1000},
        {1000, 60000, 2, 2000},
        {1000, 60000, 6, 32000},
        {1000, 60000, 7, 60000},
        {1000, 60000, 1000, 60000},
        {1000, 60000, INT_MAX, 60000},
        {1000, 60000, 0, 1000},
        {1000, 60000, INT_MIN, 1000},
        {1000, 500, 3, 1000},
        {0, 60000, 5, 0},
        {-5, 60000, 5, 0},
        {1000, 0, 5, 1000},
        {1, INT64_MAX, 63, INT64_C(1) << 62},
        {1, INT64_MAX, 64, INT64_MAX},
        {INT64_MAX, INT64_MAX, 2, INT64_MAX},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        assert_int_equal(pawl__backoff_ms(cases[i].base_ms, cases[i].cap_ms, cases[i].attempt, 0), cases[i].delay_ms);
}

static void
takes_away_a_fifth_at_most(void **state)
{
    static const int64_t bases[] = {1, 4, 5, 9, 1000, 1 << 30, INT64_MAX};

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(bases); i++) {
        for (uint32_t step = 0; step < 1000; step++) {
            int64_t delay_ms = pawl__backoff_ms(bases[i], INT64_MAX, 1, step * 4294967u);

            assert_true(delay_ms <= bases[i]);
            assert_true(delay_ms >= bases[i] - bases[i] / 5);
        }
    }
    assert_int_equal(pawl__backoff_ms(1000, 1000, 1, 200), 800);
    assert_int_equal(pawl__backoff_ms(1000, 1000, 1, 201), 1000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_up_to_the_cap),
        cmocka_unit_test(takes_away_a_fifth_at_most),
    };

    return cmocka_run_group_tests_name("backoff", tests, NULL, NULL);
}
