/*
 * test_job_stop.c - being told to stop, once and twice, while everything hangs
 */
#include "tests/support/job_fixture.h"

#include <string.h>

#include "util/clock.h"

/* A hook that waits until the test opens the gate. */
static bool gate_open;

static void
open_gate(fixture *f, bool open)
{
    pawl__wait_lock(&f->wait);
    gate_open = open;
    pawl__wait_wake(&f->wait);
    pawl__wait_unlock(&f->wait);
}

static pawl_verdict
wait_at_gate(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    int64_t deadline_ms = fixture_deadline();

    (void) range;
    (void) err;
    if (strcmp(hook, "process") != 0)
        return PAWL_DONE;
    pawl__wait_lock(&f->wait);
    while (!gate_open && pawl__wait_until(&f->wait, deadline_ms))
        continue;
    pawl__wait_unlock(&f->wait);
    return PAWL_DONE;
}

/* Starts a job without end on a log of ten records, in batches of four. */
static void
start_continuous(fixture *f)
{
    pawl__memory_append(f->cluster, "t", 0, 10);
    fixture_set(f, "trigger", "continuous");
    fixture_set(f, "max_offsets_per_batch", "4");
    fixture_start(f);
}

/* Stops twice and checks that the job is gone soon, with nothing of this batch saved. */
static void
leave_at_once(fixture *f)
{
    int64_t started_ms = pawl__clock_ms();

    pawl_job_stop(f->job);
    pawl_job_stop(f->job);
    assert_int_equal(fixture_join(f), PAWL_CANCELLED);
    assert_true(pawl__clock_ms() - started_ms < 1000);
    assert_int_equal(pawl_status_exit_code(f->status), 1);
    assert_int_equal(f->err.status, PAWL_CANCELLED);
}

/* ---------------------------------------------------------------------------------------------------------- once -- */

static void
once_finishes_the_batch(void **state)
{
    fixture *f = *state;

    open_gate(f, false);
    f->answer = wait_at_gate;
    start_continuous(f);
    fixture_await(f, "process", 1);
    pawl_job_stop(f->job);
    open_gate(f, true);
    assert_int_equal(fixture_join(f), PAWL_OK);
    fixture_expect(f, "flush save close release", "flush 1: t:0 0..4\nsave 1: t:0 0>4\nclose t:0\nrelease: t:0\n");
}

static pawl_verdict
stop_in_process(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    (void) range;
    (void) err;
    if (strcmp(hook, "process") == 0 && f->calls-- > 0)
        pawl_job_stop(f->job);
    return PAWL_DONE;
}

static void
once_from_inside_a_hook(void **state)
{
    fixture *f = *state;

    f->calls = 1;
    f->answer = stop_in_process;
    start_continuous(f);
    assert_int_equal(fixture_join(f), PAWL_OK);
    fixture_expect(f, "flush save", "flush 1: t:0 0..4\nsave 1: t:0 0>4\n");
}

static void
once_before_it_runs(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    fixture_make(f);
    pawl_job_stop(f->job);
    f->status = pawl_job_run(f->job, &f->err);
    assert_int_equal(f->status, PAWL_OK);
    fixture_expect(f, "acquire begin save", "");
    assert_int_equal(pawl__memory_calls(f->cluster, PAWL__MEMORY_CLUSTER), 0);
}

static void
twice_before_it_runs(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    fixture_make(f);
    pawl_job_stop(f->job);
    pawl_job_stop(f->job);
    f->status = pawl_job_run(f->job, &f->err);
    assert_int_equal(f->status, PAWL_CANCELLED);
    assert_string_equal(f->err.message, "told to stop at once: no batch was in hand");
    fixture_expect(f, "acquire begin save", "");
}

static void
once_while_idle(void **state)
{
    fixture *f = *state;

    fixture_set(f, "trigger", "1h");
    fixture_start(f);
    assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_BOUNDS, 2, fixture_deadline()));
    assert_int_equal(fixture_stop(f), PAWL_OK);
    fixture_expect(f, "release", "release: t:0\n");
}

static void
once_while_waiting_for_a_topic(void **state)
{
    fixture *f = *state;

    fixture_set(f, "topics", "nowhere");
    fixture_start(f);
    assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_DISCOVER, 1, fixture_deadline()));
    assert_int_equal(fixture_stop(f), PAWL_OK);
}

static void
once_during_a_back_off_still_finishes(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 4);
    pawl__memory_fail_ranges(f->cluster, "t", 0, 1, PAWL_FAILED, PAWL_ERROR_RETRIABLE);
    fixture_set(f, "retry_backoff", "300ms");
    fixture_start(f);
    fixture_await(f, "process", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 4);
}

/* ------------------------------------------------------------------------------------------------ shutdown_timeout -- */

static void
a_batch_that_takes_too_long_is_left(void **state)
{
    fixture *f = *state;

    pawl__memory_stall(f->cluster, "t", 0, true);
    fixture_set(f, "shutdown_timeout", "100ms");
    start_continuous(f);
    assert_true(pawl__memory_await_open(f->cluster, "t", 0, fixture_deadline()));
    assert_int_equal(fixture_stop(f), PAWL_CANCELLED);
    fixture_expect(f, "flush save", "");
    fixture_expect_stored(f, "t", 0, 0);
}

static void
no_time_at_all_leaves_at_once(void **state)
{
    fixture *f = *state;

    pawl__memory_stall(f->cluster, "t", 0, true);
    fixture_set(f, "shutdown_timeout", "0");
    start_continuous(f);
    assert_true(pawl__memory_await_open(f->cluster, "t", 0, fixture_deadline()));
    assert_int_equal(fixture_stop(f), PAWL_CANCELLED);
}

/* --------------------------------------------------------------------------------------------------------- twice -- */

static void
twice_while_records_do_not_come(void **state)
{
    fixture *f = *state;

    pawl__memory_stall(f->cluster, "t", 0, true);
    start_continuous(f);
    assert_true(pawl__memory_await_open(f->cluster, "t", 0, fixture_deadline()));
    leave_at_once(f);
    assert_string_equal(f->err.message, "told to stop at once: the last batch was left unsaved");
    /* The sink hears of it all the same; the store may hang, and is left alone. */
    fixture_expect(f, "flush save close release", "close t:0\n");
    fixture_expect_stored(f, "t", 0, 0);
}

static void
twice_while_the_brokers_hang(void **state)
{
    static const pawl__memory_call calls[] = {PAWL__MEMORY_CLUSTER, PAWL__MEMORY_DISCOVER, PAWL__MEMORY_BOUNDS,
                                              PAWL__MEMORY_HOLD};
    fixture *f = *state;

    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
        int called = pawl__memory_calls(f->cluster, calls[i]);

        pawl__memory_hang_calls(f->cluster, calls[i], true);
        fixture_start(f);
        assert_true(pawl__memory_await_calls(f->cluster, calls[i], called + 1, fixture_deadline()));
        leave_at_once(f);
        assert_string_equal(f->err.message,
                            "told to stop at once: the source was cancelled"); /* and no batch was left */
        pawl__memory_hang_calls(f->cluster, calls[i], false);
    }
}

static void
twice_while_the_store_hangs(void **state)
{
    static const trap_call calls[] = {TRAP_LOAD, TRAP_ACQUIRE, TRAP_SAVE};
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
        trap_store_hang(calls[i], true);
        fixture_start(f);
        assert_true(trap_store_await_hanging(calls[i], fixture_deadline()));
        leave_at_once(f);
        trap_store_hang(calls[i], false);
    }
    fixture_expect(f, "save", "");
}

static void
twice_while_a_plan_hangs(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    fixture_set(f, "replay", "exact");
    trap_store_hang(TRAP_PLAN, true);
    fixture_start(f);
    assert_true(trap_store_await_hanging(TRAP_PLAN, fixture_deadline()));
    leave_at_once(f);
    fixture_expect(f, "begin save", "");
}

static void
twice_while_a_transaction_does_not_begin(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    fixture_use_store(f, "traptx");
    trap_store_hang(TRAP_BEGIN, true);
    fixture_start(f);
    assert_true(trap_store_await_hanging(TRAP_BEGIN, fixture_deadline()));
    leave_at_once(f);
    fixture_expect(f, "flush save", "");
}

static void
a_store_that_is_away_is_not_waited_for_twice(void **state)
{
    fixture *f = *state;
    int64_t started_ms = pawl__clock_ms();

    pawl__memory_append(f->cluster, "t", 0, 5);
    fixture_set(f, "store_timeout", "1h");
    trap_store_fail(TRAP_SAVE, -1, PAWL_UNREACHABLE, 0);
    trap_store_hang(TRAP_RELEASE, true);
    fixture_start(f);
    assert_true(trap_store_await_hanging(TRAP_RELEASE, fixture_deadline()));
    assert_int_equal(fixture_join(f), PAWL_UNREACHABLE);
    assert_true(pawl__clock_ms() - started_ms < 30000);
    trap_store_hang(TRAP_RELEASE, false);
}

/* Everything is saved; only the goodbye to the store hangs. */
static void
twice_while_the_release_hangs(void **state)
{
    fixture *f = *state;
    int64_t started_ms;

    pawl__memory_append(f->cluster, "t", 0, 10);
    trap_store_hang(TRAP_RELEASE, true);
    fixture_start(f);
    assert_true(trap_store_await_hanging(TRAP_RELEASE, fixture_deadline()));
    started_ms = pawl__clock_ms();
    pawl_job_stop(f->job);
    pawl_job_stop(f->job);
    assert_int_equal(fixture_join(f), PAWL_OK);
    assert_true(pawl__clock_ms() - started_ms < 1000);
    fixture_expect_stored(f, "t", 0, 10);
    assert_true(fixture_logged(f, "the partitions were not given back"));
}

static void
twice_during_a_back_off(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 4);
    pawl__memory_fail_ranges(f->cluster, "t", 0, 1, PAWL_FAILED, PAWL_ERROR_RETRIABLE);
    fixture_set(f, "retry_backoff", "1h");
    fixture_start(f);
    fixture_await_log(f, "next in");
    leave_at_once(f);
    fixture_expect_stored(f, "t", 0, 0);
}

static pawl_verdict
retry_flush(fixture *f, pawl_batch *batch, pawl_error *err)
{
    (void) f;
    (void) batch;
    (void) err;
    return PAWL_RETRY;
}

static void
twice_during_the_back_off_of_a_flush(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 4);
    fixture_set(f, "retry_backoff", "1h");
    f->on_flush = retry_flush;
    fixture_start(f);
    fixture_await_log(f, "next in");
    leave_at_once(f);
    assert_int_equal(fixture_count(f, "flush"), 1); /* and not once more on the way out */
}

static pawl_verdict
stop_twice_in_process(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    (void) range;
    (void) err;
    if (strcmp(hook, "process") == 0) {
        pawl_job_stop(f->job);
        pawl_job_stop(f->job);
    }
    return PAWL_DONE;
}

/* The batch would be through in no time, and is left all the same. */
static void
twice_from_inside_a_hook(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    f->answer = stop_twice_in_process;
    assert_int_equal(fixture_run(f), PAWL_CANCELLED);
    fixture_expect(f, "flush save", "");
    fixture_expect_stored(f, "t", 0, 0);
}

/* Says no for a reason of its own when it is told twice to stop. */
static pawl_verdict
fail_when_stopped_twice(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    if (strcmp(hook, "process") != 0)
        return PAWL_DONE;
    stop_twice_in_process(f, hook, range, err);
    pawl_error_set(err, PAWL_UNREACHABLE, 0, 0, "the sink is away");
    return PAWL_STOP;
}

static void
twice_and_a_hook_that_fails(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    f->answer = fail_when_stopped_twice;
    assert_int_equal(fixture_run(f), PAWL_UNREACHABLE);
    assert_int_equal(pawl_status_exit_code(f->status), 5);
    assert_string_equal(f->err.message, "t [0] 0..2, attempt 1: process: the sink is away");
}

static pawl_verdict
lose_the_store(fixture *f, pawl_batch *batch, pawl_error *err)
{
    (void) f, (void) batch, (void) err;
    trap_store_lose_answer(TRAP_SAVE, 1);
    trap_store_hang(TRAP_LOAD, true);
    return PAWL_DONE;
}

/* The save was sent: nobody knows that it was left. */
static void
twice_while_a_save_is_read_back(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    f->on_flush = lose_the_store;
    fixture_start(f);
    assert_true(trap_store_await_hanging(TRAP_LOAD, fixture_deadline()));
    leave_at_once(f);
    assert_string_equal(f->err.message,
                        "told to stop at once: batch 1 was being saved: group 'g': whether a write was applied is not "
                        "known (the trap took the "
                        "answer), and it could not be read back (the trap was cancelled); starting again is safe, the "
                        "store is read first");
    fixture_expect_stored(f, "t", 0, 2);
}

static void
twice_with_many_threads(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 16);
    for (int p = 0; p < 16; p++) {
        pawl__memory_append(f->cluster, "t", p, 20);
        pawl__memory_stall(f->cluster, "t", p, p % 2 == 1);
    }
    fixture_set(f, "parallelism", "4");
    fixture_start(f);
    assert_true(pawl__memory_await_open(f->cluster, "t", 15, fixture_deadline()));
    leave_at_once(f);
    assert_int_equal(fixture_count(f, "init"), 4);
    assert_int_equal(fixture_count(f, "exit"), 4);
    fixture_expect(f, "save", "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(once_finishes_the_batch),
        fixture_test(once_from_inside_a_hook),
        fixture_test(once_before_it_runs),
        fixture_test(twice_before_it_runs),
        fixture_test(once_while_idle),
        fixture_test(once_while_waiting_for_a_topic),
        fixture_test(once_during_a_back_off_still_finishes),
        fixture_test(a_batch_that_takes_too_long_is_left),
        fixture_test(no_time_at_all_leaves_at_once),
        fixture_test(twice_while_records_do_not_come),
        fixture_test(twice_while_the_brokers_hang),
        fixture_test(twice_while_the_store_hangs),
        fixture_test(twice_while_a_plan_hangs),
        fixture_test(twice_while_a_transaction_does_not_begin),
        fixture_test(a_store_that_is_away_is_not_waited_for_twice),
        fixture_test(twice_while_the_release_hangs),
        fixture_test(twice_during_a_back_off),
        fixture_test(twice_during_the_back_off_of_a_flush),
        fixture_test(twice_from_inside_a_hook),
        fixture_test(twice_and_a_hook_that_fails),
        fixture_test(twice_while_a_save_is_read_back),
        fixture_test(twice_with_many_threads),
    };

    return cmocka_run_group_tests_name("job: stopping", tests, NULL, NULL);
}
