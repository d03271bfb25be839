/*
 * test_job_loop.c - triggers, limits, and exact ranges
 */
#include "tests/support/job_fixture.h"

#include <string.h>

#include "util/clock.h"

/* ---------------------------------------------------------------------------------------------------- the whole way -- */

static void
goes_from_recovery_to_release(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 5);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "acquire open begin process end flush save close release",
                   "acquire: t:0=0\n"
                   "open t:0 none@0\n"
                   "begin t:0 0..5 #1\n"
                   "process t:0 0..5 #1: 0 1 2\n"
                   "process t:0 0..5 #1: 3 4\n"
                   "end t:0 0..5 #1\n"
                   "flush 1: t:0 0..5\n"
                   "save 1: t:0 0>5\n"
                   "close t:0\n"
                   "release: t:0\n");
    assert_int_equal(f->stats.batches, 1);
    assert_int_equal(f->stats.ranges, 1);
    assert_int_equal(f->stats.records, 5);
    assert_int_equal(f->stats.partitions, 1);
    assert_int_equal(f->stats.lag, 0);
    assert_int_equal(f->err.status, PAWL_OK);
    assert_true(fixture_logged(f, "saved t [0]: 0 -> 5 in memory:"));
}

static void
goes_on_where_the_last_job_ended(void **state)
{
    fixture *f = *state;
    pawl_entry entry;

    pawl__memory_append(f->cluster, "t", 0, 2);
    assert_int_equal(fixture_run(f), PAWL_OK);
    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_forget(f);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "open process save",
                   "open t:0 2@2\n"
                   "process t:0 2..4 #1: 2 3\n"
                   "save 2: t:0 2>4\n");
    entry = fixture_stored(f, "t", 0);
    assert_int_equal(entry.batch, 2);
    assert_int_equal(entry.epoch, 2);
    assert_string_equal(entry.owner.host, "");
}

static void
runs_once_only(void **state)
{
    fixture *f = *state;
    pawl_error err;

    assert_int_equal(fixture_run(f), PAWL_OK);
    assert_int_equal(pawl_job_run(f->job, &err), PAWL_INVALID);
    assert_int_equal(pawl_job_run(f->job, NULL), PAWL_INVALID);
}

static void
needs_no_hook_at_all(void **state)
{
    fixture *f = *state;
    pawl_hooks none = {.size = sizeof none};

    pawl__memory_append(f->cluster, "t", 0, 5);
    f->hooks = none;
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 5);
    assert_int_equal(f->stats.records, 5);
}

/* A program that was compiled against a library with fewer hooks. */
static void
takes_the_hooks_that_the_program_knows(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 1);
    f->hooks.size = offsetof(pawl_hooks, on_close);
    assert_int_equal(fixture_run(f), PAWL_OK);
    assert_int_equal(fixture_count(f, "flush"), 1);
    assert_int_equal(fixture_count(f, "close"), 0);
}

static pawl_verdict
reject_all(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    pawl_record record = {.offset = 7};

    (void) f;
    (void) err;
    if (strcmp(hook, "process") == 0)
        pawl_range_reject(range, &record, "no such carrier");
    return PAWL_DONE;
}

static void
counts_bytes_and_rejected_records(void **state)
{
    fixture *f = *state;

    pawl__memory_append_record(f->cluster, "t", 0, "key", "value", 1);
    pawl__memory_append_record(f->cluster, "t", 0, NULL, "", 2);
    f->answer = reject_all;
    assert_int_equal(fixture_run(f), PAWL_OK);
    assert_int_equal(f->stats.bytes, 8);
    assert_int_equal(f->stats.rejected, 1);
    assert_true(fixture_logged(f, "t [0] offset 7: rejected: no such carrier"));
    fixture_expect_stored(f, "t", 0, 2);
}

/* ------------------------------------------------------------------------------------------------------- triggers -- */

static void
once_runs_one_batch(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    fixture_set(f, "trigger", "once");
    fixture_set(f, "max_offsets_per_batch", "4");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "flush", "flush 1: t:0 0..4\n");
    fixture_expect_stored(f, "t", 0, 4);
    assert_int_equal(f->stats.lag, 6); /* what is left of the ends as they were planned with */
}

static void
once_without_records_is_no_batch(void **state)
{
    fixture *f = *state;

    fixture_set(f, "trigger", "once");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "begin flush save", "");
    assert_int_equal(f->stats.batches, 0);
    fixture_expect_stored(f, "t", 0, 0);
}

static pawl_verdict
append_more(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    (void) range;
    (void) err;
    if (strcmp(hook, "process") == 0)
        pawl__memory_append(f->cluster, "t", 0, 5);
    return PAWL_DONE;
}

static void
available_now_pins_the_ends_once(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    fixture_set(f, "max_offsets_per_batch", "4");
    f->answer = append_more;
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "flush",
                   "flush 1: t:0 0..4\n"
                   "flush 2: t:0 4..8\n"
                   "flush 3: t:0 8..10\n");
    fixture_expect_stored(f, "t", 0, 10);
}

static void
continuous_reads_until_it_is_stopped(void **state)
{
    fixture *f = *state;

    fixture_set(f, "trigger", "continuous");
    fixture_start(f);
    assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_BOUNDS, 5, fixture_deadline()));
    fixture_expect(f, "begin flush save", "");
    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_await(f, "save 1: t:0 0>2", 1);
    pawl__memory_append(f->cluster, "t", 0, 1);
    fixture_await(f, "save 2: t:0 2>3", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
    assert_int_equal(f->stats.batches, 2);
}

/* An interval that never passes: what happens, happens at the first tick. */
static void
an_empty_tick_is_over(void **state)
{
    fixture *f = *state;

    fixture_set(f, "trigger", "1h");
    fixture_set(f, "refresh.interval", "100ms");
    fixture_start(f);
    assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_BOUNDS, 2, fixture_deadline())); /* start, tick */
    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_await(f, "save 0: t:0 0>0", 3); /* the owner's entry is renewed meanwhile */
    assert_int_equal(fixture_stop(f), PAWL_OK);
    assert_int_equal(pawl__memory_calls(f->cluster, PAWL__MEMORY_BOUNDS), 2);
    fixture_expect(f, "flush", "");
}

static void
an_interval_lies_between_batches(void **state)
{
    fixture *f = *state;
    int64_t started_ms = pawl__clock_ms();

    pawl__memory_append(f->cluster, "t", 0, 3);
    fixture_set(f, "trigger", "50ms");
    fixture_set(f, "max_offsets_per_batch", "1");
    fixture_start(f);
    fixture_await(f, "save 3: t:0 2>3", 1);
    assert_true(pawl__clock_ms() - started_ms >= 100);
    assert_int_equal(fixture_stop(f), PAWL_OK);
}

/* Takes more than two ticks for its first batch. */
static pawl_verdict
overrun(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    int64_t until_ms = pawl__clock_ms() + 500;

    (void) err;
    if (strcmp(hook, "process") != 0 || pawl_range_from(range) > 0)
        return PAWL_DONE;
    pawl__wait_lock(&f->wait);
    while (pawl__wait_until(&f->wait, until_ms))
        continue;
    pawl__wait_unlock(&f->wait);
    return PAWL_DONE;
}

static int64_t second_ms, third_ms;

static pawl_verdict
note_time(fixture *f, pawl_batch *batch, pawl_error *err)
{
    (void) f;
    (void) err;
    if (pawl_batch_number(batch) == 2)
        second_ms = pawl__clock_ms();
    if (pawl_batch_number(batch) == 3)
        third_ms = pawl__clock_ms();
    return PAWL_DONE;
}

static void
missed_ticks_do_not_add_up(void **state)
{
    fixture *f = *state;
    int64_t started_ms;

    pawl__memory_append(f->cluster, "t", 0, 3);
    fixture_set(f, "trigger", "200ms");
    fixture_set(f, "max_offsets_per_batch", "1");
    f->answer = overrun;
    f->on_flush = note_time;
    started_ms = pawl__clock_ms();
    fixture_start(f);
    fixture_await(f, "save 3: t:0 2>3", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
    assert_true(second_ms - started_ms >= 500); /* after the first, which missed two ticks */
    assert_true(third_ms - second_ms >= 100);   /* and not at once for those that were missed */
}

/* --------------------------------------------------------------------------------------------------------- limits -- */

static void
min_offsets_wait_for_more(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_set(f, "trigger", "continuous");
    fixture_set(f, "min_offsets_per_batch", "3");
    fixture_start(f);
    assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_BOUNDS, 5, fixture_deadline()));
    fixture_expect(f, "flush", "");
    pawl__memory_append(f->cluster, "t", 0, 1);
    fixture_await(f, "save 1: t:0 0>3", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
}

static void
min_offsets_wait_for_so_long_only(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_set(f, "trigger", "continuous");
    fixture_set(f, "min_offsets_per_batch", "3");
    fixture_set(f, "max_trigger_delay", "100ms");
    fixture_start(f);
    fixture_await(f, "save 1: t:0 0>2", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
}

/* Also when the next tick of the trigger comes later. */
static void
the_longest_delay_does_not_wait_for_a_tick(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_set(f, "trigger", "1h");
    fixture_set(f, "min_offsets_per_batch", "3");
    fixture_set(f, "max_trigger_delay", "100ms");
    fixture_start(f);
    fixture_await(f, "flush 1: t:0 0..2", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
}

static void
min_offsets_do_not_hold_back_what_is_drained(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_set(f, "min_offsets_per_batch", "3");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 2);
}

static void
shares_a_batch_among_partitions(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 3);
    pawl__memory_append(f->cluster, "t", 0, 100);
    pawl__memory_append(f->cluster, "t", 1, 1);
    pawl__memory_append(f->cluster, "t", 2, 49);
    fixture_set(f, "trigger", "once");
    fixture_set(f, "max_offsets_per_batch", "15");
    fixture_set(f, "max_offsets_per_partition", "20");
    assert_int_equal(fixture_run(f), PAWL_OK);
    assert_int_equal(f->stats.ranges, 3);
    assert_int_equal(f->stats.records, 15);
    fixture_expect_stored(f, "t", 1, 1);
}

static void
limits_a_partition(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 0, 5);
    pawl__memory_append(f->cluster, "t", 1, 1);
    fixture_set(f, "max_offsets_per_partition", "3");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "flush",
                   "flush 1: t:0 0..3 t:1 0..1\n"
                   "flush 2: t:0 3..5\n");
}

/* ---------------------------------------------------------------------------------------------------- exact ranges -- */

static void
gaps_are_part_of_a_range(void **state)
{
    fixture *f = *state;

    pawl__memory_append_gap(f->cluster, "t", 0, 4);
    pawl__memory_append(f->cluster, "t", 0, 1);
    pawl__memory_append_gap(f->cluster, "t", 0, 1000000);
    pawl__memory_append(f->cluster, "t", 0, 1);
    pawl__memory_append_gap(f->cluster, "t", 0, 4);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "process flush",
                   "process t:0 0..1000010 #1: 4 1000005\n"
                   "flush 1: t:0 0..1000010\n");
    fixture_expect_stored(f, "t", 0, 1000010);
}

static void
an_empty_range_calls_nothing_and_is_saved(void **state)
{
    fixture *f = *state;

    pawl__memory_append_gap(f->cluster, "t", 0, 30);
    fixture_set(f, "max_offsets_per_batch", "20");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "begin process end flush save",
                   "flush 1: t:0 0..20\n"
                   "save 1: t:0 0>20\n"
                   "flush 2: t:0 20..30\n"
                   "save 2: t:0 20>30\n");
    assert_int_equal(f->stats.records, 0);
}

static void
a_range_may_begin_inside_a_gap(void **state)
{
    fixture *f = *state;

    pawl__memory_append_gap(f->cluster, "t", 0, 100);
    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_set(f, "start", "t:0=50");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "process", "process t:0 50..102 #1: 100 101\n");
}

static void
read_committed_ends_where_a_transaction_is_open(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    pawl__memory_open_transaction(f->cluster, "t", 0, 6);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 6);
    fixture_set(f, "isolation", "read_uncommitted");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 10);
}

static void
offsets_go_up_to_the_largest(void **state)
{
    fixture *f = *state;

    pawl__memory_append_gap(f->cluster, "t", 0, INT64_MAX - 3);
    pawl__memory_append(f->cluster, "t", 0, 3);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "process",
                   "process t:0 0..9223372036854775807 #1: 9223372036854775804 9223372036854775805 "
                   "9223372036854775806\n");
    fixture_expect_stored(f, "t", 0, INT64_MAX);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(goes_from_recovery_to_release),
        fixture_test(goes_on_where_the_last_job_ended),
        fixture_test(runs_once_only),
        fixture_test(needs_no_hook_at_all),
        fixture_test(takes_the_hooks_that_the_program_knows),
        fixture_test(counts_bytes_and_rejected_records),
        fixture_test(once_runs_one_batch),
        fixture_test(once_without_records_is_no_batch),
        fixture_test(available_now_pins_the_ends_once),
        fixture_test(continuous_reads_until_it_is_stopped),
        fixture_test(an_empty_tick_is_over),
        fixture_test(an_interval_lies_between_batches),
        fixture_test(missed_ticks_do_not_add_up),
        fixture_test(min_offsets_wait_for_more),
        fixture_test(min_offsets_wait_for_so_long_only),
        fixture_test(the_longest_delay_does_not_wait_for_a_tick),
        fixture_test(min_offsets_do_not_hold_back_what_is_drained),
        fixture_test(shares_a_batch_among_partitions),
        fixture_test(limits_a_partition),
        fixture_test(gaps_are_part_of_a_range),
        fixture_test(an_empty_range_calls_nothing_and_is_saved),
        fixture_test(a_range_may_begin_inside_a_gap),
        fixture_test(read_committed_ends_where_a_transaction_is_open),
        fixture_test(offsets_go_up_to_the_largest),
    };

    return cmocka_run_group_tests_name("job: the loop", tests, NULL, NULL);
}
