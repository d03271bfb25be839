/*
 * test_job_hung.c - hooks that do not return: who, where, and for how long
 */
#include "tests/support/job_fixture.h"

#include <string.h>

#include "core/call.h"
#include "util/clock.h"

#define FIRST_MS 100

/* The hook that waits, until the test has seen what is said about it. */
static const char *hanging;

static pawl_verdict
hang_in(fixture *f, const char *hook)
{
    int64_t deadline_ms = fixture_deadline();

    pawl__wait_lock(&f->wait);
    while (g_strcmp0(hanging, hook) == 0 && pawl__wait_until(&f->wait, deadline_ms))
        continue;
    pawl__wait_unlock(&f->wait);
    return PAWL_DONE;
}

static pawl_verdict
hang_in_range(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    (void) range, (void) err;
    return hang_in(f, hook);
}

static pawl_verdict
hang_in_flush(fixture *f, pawl_batch *batch, pawl_error *err)
{
    (void) batch, (void) err;
    return hang_in(f, "flush");
}

static pawl_verdict
hang_in_open(fixture *f, pawl_opening *openings, size_t count, pawl_error *err)
{
    (void) openings, (void) count, (void) err;
    return hang_in(f, "open");
}

static void
let_go(fixture *f)
{
    pawl__wait_lock(&f->wait);
    hanging = NULL;
    pawl__wait_wake(&f->wait);
    pawl__wait_unlock(&f->wait);
    assert_int_equal(fixture_join(f), PAWL_OK);
}

static void
start_hanging(fixture *f, const char *hook)
{
    pawl__memory_append(f->cluster, "t", 0, 5);
    fixture_set(f, "stall_timeout", "100ms");
    hanging = hook;
    fixture_start(f);
}

static void
names_hook_and_range(void **state)
{
    static const struct {
        const char *hook, *said;
    } rows[] = {
        {"begin", "t [0] at offset 0: range_begin has not returned for 1"},
        {"process", "t [0] at offset 0: process has not returned for 1"},
        {"end", "t [0] at offset 5: range_end has not returned for 1"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        fixture *f;

        if (i > 0)
            fixture_setup(state);
        f = *state;
        f->answer = hang_in_range;
        start_hanging(f, rows[i].hook);
        fixture_await_log(f, rows[i].said);
        assert_true(fixture_logged(f, "(range 0..5, attempt 1)"));
        let_go(f);
        if (i + 1 < G_N_ELEMENTS(rows))
            fixture_teardown(state);
    }
}

static void
names_hooks_without_a_range(void **state)
{
    fixture *f = *state;

    f->on_flush = hang_in_flush;
    start_hanging(f, "flush");
    fixture_await_log(f, "flush has not returned for 1");
    assert_false(fixture_logged(f, "t [0] at offset 5: "));
    let_go(f);

    f->on_flush = NULL;
    f->on_open = hang_in_open;
    start_hanging(f, "open");
    fixture_await_log(f, "on_open has not returned for 1");
    let_go(f);
}

static int
count_warnings(fixture *f)
{
    int count = 0;

    for (guint i = 0; i < f->lines->len; i++)
        count += strstr(g_ptr_array_index(f->lines, i), "has not returned") != NULL;
    return count;
}

static void
warns_with_growing_distance(void **state)
{
    fixture *f = *state;
    int64_t started_ms = pawl__clock_ms(), deadline_ms = fixture_deadline();
    int warned;

    f->answer = hang_in_range;
    start_hanging(f, "process");
    pawl__wait_lock(&f->wait);
    while (count_warnings(f) < 3 && pawl__wait_until(&f->wait, deadline_ms))
        continue;
    warned = count_warnings(f);
    pawl__wait_unlock(&f->wait);
    assert_int_equal(warned, 3);
    assert_true(pawl__clock_ms() - started_ms >= 4 * FIRST_MS);
    let_go(f);
}

static void
is_overdue_at_each_doubling(void **state)
{
    int64_t warned_ms[8];
    size_t count = 0;

    (void) state;
    for (int64_t running_ms = 0; running_ms <= 1000; running_ms += 25)
        if (pawl__call_is_overdue(running_ms, 25, FIRST_MS) && count < G_N_ELEMENTS(warned_ms))
            warned_ms[count++] = running_ms;
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(warned_ms[i], FIRST_MS << i);
    assert_true(pawl__call_is_overdue(950, 900, FIRST_MS)); /* several at once are one */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(names_hook_and_range),
        fixture_test(names_hooks_without_a_range),
        fixture_test(warns_with_growing_distance),
        cmocka_unit_test(is_overdue_at_each_doubling),
    };

    return cmocka_run_group_tests_name("job: hung", tests, NULL, NULL);
}
