/*
 * test_job_loss.c - records that are gone, and brokers that do not tell
 */
#include "tests/support/job_fixture.h"

#include <string.h>

#include "util/clock.h"

/* Reads ten records, and cuts the log so that it begins at `low`. */
static void
lose_the_start(fixture *f, int64_t low)
{
    pawl__memory_append(f->cluster, "t", 0, 10);
    assert_int_equal(fixture_run(f), PAWL_OK);
    pawl__memory_append(f->cluster, "t", 0, 10);
    pawl__memory_cut_start(f->cluster, "t", 0, low);
    fixture_forget(f);
}

/* Reads ten records, and makes the log anew with fewer. */
static void
lose_the_end(fixture *f, int64_t high)
{
    pawl__memory_append(f->cluster, "t", 0, 10);
    assert_int_equal(fixture_run(f), PAWL_OK);
    pawl__memory_cut_end(f->cluster, "t", 0, high);
    fixture_forget(f);
}

/* ------------------------------------------------------------------------------------------------ found when planning -- */

static void
below_the_start_fails(void **state)
{
    fixture *f = *state;

    lose_the_start(f, 15);
    assert_int_equal(fixture_run(f), PAWL_DATA_LOSS);
    assert_int_equal(pawl_status_exit_code(f->status), 3);
    assert_string_equal(f->err.message,
                        "t [0]: the stored offset 10 is below the start of the log, which goes from 15 to 20: 5 "
                        "records are lost (on_data_loss = fail)");
    fixture_expect(f, "save process", "");
    fixture_expect_stored(f, "t", 0, 10);
    assert_int_equal(f->stats.lost, 0);
}

static void
above_the_end_fails(void **state)
{
    fixture *f = *state;

    lose_the_end(f, 4);
    assert_int_equal(fixture_run(f), PAWL_DATA_LOSS);
    assert_non_null(strstr(f->err.message, "the stored offset 10 is above the end of the log, which goes from 0 to 4"));
    fixture_expect_stored(f, "t", 0, 10);
}

static void
below_the_start_goes_on_at_the_earliest(void **state)
{
    fixture *f = *state;

    lose_the_start(f, 15);
    fixture_set(f, "on_data_loss", "earliest");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "save flush", "save 0: t:0 10>15\nflush 2: t:0 15..20\nsave 2: t:0 15>20\n");
    assert_int_equal(f->stats.lost, 5);
    assert_true(fixture_logged(
        f, "the stored offset 10 is below the start of the log 15..20: moved to 15 by on_data_loss, 5 records lost"));
}

static void
below_the_start_goes_on_at_the_latest(void **state)
{
    fixture *f = *state;

    lose_the_start(f, 15);
    fixture_set(f, "on_data_loss", "latest");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "save flush", "save 0: t:0 10>20\n");
    assert_int_equal(f->stats.lost, 10); /* those that are jumped over as well */
}

static void
above_the_end_goes_on_at_the_earliest(void **state)
{
    fixture *f = *state;

    lose_the_end(f, 4);
    fixture_set(f, "on_data_loss", "earliest");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "save flush", "save 0: t:0 10>0\nflush 2: t:0 0..4\nsave 2: t:0 0>4\n");
    assert_true(fixture_logged(f, "the stored offset 10 is above the end of the log 0..4: moved to 0"));
}

static void
above_the_end_goes_on_at_the_latest(void **state)
{
    fixture *f = *state;

    lose_the_end(f, 4);
    fixture_set(f, "on_data_loss", "latest");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "save flush", "save 0: t:0 10>4\n");
    assert_int_equal(f->stats.lost, 0); /* it cannot be counted */
}

/* The log is empty: no record follows, and still the new position is stored. */
static void
a_move_is_saved_without_a_record(void **state)
{
    fixture *f = *state;

    lose_the_start(f, 20);
    fixture_set(f, "on_data_loss", "earliest");
    fixture_set(f, "trigger", "once");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "save flush", "save 0: t:0 10>20\n");
    assert_int_equal(f->stats.lost, 10);
}

/* An emptied partition is no loss when all of it was read. */
static void
an_empty_log_is_no_loss(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    assert_int_equal(fixture_run(f), PAWL_OK);
    pawl__memory_cut_start(f->cluster, "t", 0, 10);
    assert_int_equal(fixture_run(f), PAWL_OK);
}

static void
only_what_is_lost_is_moved(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 3);
    for (int p = 0; p < 3; p++)
        pawl__memory_append(f->cluster, "t", p, 4);
    assert_int_equal(fixture_run(f), PAWL_OK);
    pawl__memory_cut_start(f->cluster, "t", 1, 6);
    pawl__memory_append(f->cluster, "t", 2, 1);
    fixture_forget(f);
    fixture_set(f, "on_data_loss", "earliest");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "save", "save 0: t:1 4>6\nsave 2: t:2 4>5\n");
}

/* ---------------------------------------------------------------------------------------------------- false alarms -- */

/* A new leader told an old end for a moment, which made others read everything again. */
static void
a_loss_is_looked_at_twice(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    assert_int_equal(fixture_run(f), PAWL_OK);
    pawl__memory_lie(f->cluster, "t", 0, 1, 0, 3);
    assert_int_equal(fixture_run(f), PAWL_OK);
    pawl__memory_lie(f->cluster, "t", 0, 1, 12, 20);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 10);
}

/* Brokers that do not answer confirm nothing. */
static void
silence_does_not_confirm_a_loss(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    assert_int_equal(fixture_run(f), PAWL_OK);
    pawl__memory_append(f->cluster, "t", 0, 1);
    pawl__memory_lie(f->cluster, "t", 0, 1, 0, 3);
    fixture_set(f, "trigger", "continuous");
    fixture_set(f, "isolation", "read_uncommitted");
    pawl__memory_spare_calls(f->cluster, PAWL__MEMORY_BOUNDS, 1);
    pawl__memory_fail_calls(f->cluster, PAWL__MEMORY_BOUNDS, 4, PAWL_UNREACHABLE);
    fixture_start(f);
    fixture_await(f, "save 2: t:0 10>11", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
}

/* A job that read uncommitted records stands above what committed reading sees as the end. */
static void
an_open_transaction_is_no_loss(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    pawl__memory_open_transaction(f->cluster, "t", 0, 6);
    fixture_set(f, "isolation", "read_uncommitted");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 10);
    fixture_set(f, "isolation", "read_committed");
    assert_int_equal(fixture_run(f), PAWL_OK);
    pawl__memory_open_transaction(f->cluster, "t", 0, -1);
    pawl__memory_append(f->cluster, "t", 0, 1);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 11);
}

static void
an_end_that_is_not_told_is_no_loss(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    pawl__memory_open_transaction(f->cluster, "t", 0, 6);
    fixture_set(f, "isolation", "read_uncommitted");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_set(f, "isolation", "read_committed");
    pawl__memory_fail_calls(f->cluster, PAWL__MEMORY_LOG_END, 3, PAWL_UNREACHABLE);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 10);
}

/* Lets a running job look at the brokers for so long. */
static void
let_it_look(fixture *f, int64_t ms)
{
    int asked = pawl__memory_calls(f->cluster, PAWL__MEMORY_BOUNDS);

    for (int64_t until_ms = pawl__clock_ms() + ms; pawl__clock_ms() < until_ms; asked++)
        assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_BOUNDS, asked + 1, fixture_deadline()));
}

/* The silence about one suspicion does not count for the next. */
static void
an_end_that_is_not_told_twice_is_no_loss(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_set(f, "trigger", "continuous");
    fixture_set(f, "stall_timeout", "2s");
    pawl__memory_fail_calls(f->cluster, PAWL__MEMORY_LOG_END, -1, PAWL_UNREACHABLE);
    fixture_start(f);
    for (int i = 1; i <= 2; i++) {
        int asked = pawl__memory_calls(f->cluster, PAWL__MEMORY_LOG_END);

        pawl__memory_open_transaction(f->cluster, "t", 0, 6);
        assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_LOG_END, asked + 2, fixture_deadline()));
        pawl__memory_open_transaction(f->cluster, "t", 0, -1);
        if (i == 1)
            let_it_look(f, 2000);
    }
    pawl__memory_append(f->cluster, "t", 0, 1);
    fixture_await(f, "save 2: t:0 10>11", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
}

/* ------------------------------------------------------------------------------------------------ found when fetching -- */

/* Retention takes the start of a range away when its first records are being processed. */
static pawl_verdict
lose_while_reading(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    (void) err;
    if (strcmp(hook, "process") == 0 && pawl_range_partition(range) == 0 && f->calls++ == 0)
        pawl__memory_cut_start(f->cluster, "t", 0, 8);
    return PAWL_DONE;
}

static void
set_up_loss_while_reading(fixture *f)
{
    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 0, 10);
    pawl__memory_append(f->cluster, "t", 1, 2);
    f->answer = lose_while_reading;
}

static void
a_loss_while_reading_fails(void **state)
{
    fixture *f = *state;

    set_up_loss_while_reading(f);
    assert_int_equal(fixture_run(f), PAWL_DATA_LOSS);
    assert_non_null(strstr(f->err.message, "the stored offset 0 is below the start of the log, which goes from 8 to "
                                           "10: 8 records are lost"));
    fixture_expect(f, "flush save", "flush 1: t:1 0..2\nsave 1: t:1 0>2\n");
    fixture_expect_stored(f, "t", 0, 0);
}

static void
a_loss_while_reading_goes_on(void **state)
{
    fixture *f = *state;

    set_up_loss_while_reading(f);
    fixture_set(f, "on_data_loss", "earliest");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "flush save",
                   "flush 1: t:1 0..2\nsave 1: t:1 0>2\nsave 0: t:0 0>8\nflush 2: t:0 8..10\nsave 2: t:0 8>10\n");
    assert_int_equal(f->stats.lost, 8);
    assert_int_equal(f->stats.records, 4);
}

/* The one batch of this job is over, and yet it does not end as if nothing were wrong. */
static void
once_tells_of_a_loss_while_reading(void **state)
{
    fixture *f = *state;

    set_up_loss_while_reading(f);
    fixture_set(f, "trigger", "once");
    assert_int_equal(fixture_run(f), PAWL_DATA_LOSS);
    fixture_expect_stored(f, "t", 1, 2);
}

static void
once_reads_what_is_left_of_a_lost_range(void **state)
{
    fixture *f = *state;

    set_up_loss_while_reading(f);
    fixture_set(f, "trigger", "once");
    fixture_set(f, "on_data_loss", "earliest");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "flush", "flush 1: t:1 0..2\nflush 2: t:0 8..10\n");
}

/* A broker that says "out of range" of a range that is inside of its own bounds. */
static void
a_fetch_out_of_range_is_tried_again(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    pawl__memory_fail_ranges(f->cluster, "t", 0, 2, PAWL_DATA_LOSS, 0);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 10);
    assert_int_equal(fixture_count(f, "begin"), 3);
    assert_int_equal(fixture_count(f, "save"), 1);
    assert_int_equal(f->stats.lost, 0);
    assert_int_equal(f->stats.batches, 1);
}

static void
a_fetch_out_of_range_is_not_tried_for_ever(void **state)
{
    fixture *f = *state;
    int64_t started_ms = pawl__clock_ms();

    pawl__memory_append(f->cluster, "t", 0, 10);
    pawl__memory_fail_ranges(f->cluster, "t", 0, 1000, PAWL_DATA_LOSS, 0);
    assert_int_equal(fixture_run(f), PAWL_STALLED);
    assert_non_null(strstr(f->err.message, "t [0] at offset 0: the broker says that it is out of range, and that its "
                                           "log goes from 0 to 10"));
    fixture_expect_stored(f, "t", 0, 0);
    assert_true(pawl__clock_ms() - started_ms >= 900); /* a leader may need a moment */
}

/* ---------------------------------------------------------------------------------------------------------- silence -- */

static void
a_range_without_progress_stalls(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    pawl__memory_stall(f->cluster, "t", 0, true);
    fixture_set(f, "stall_timeout", "100ms");
    assert_int_equal(fixture_run(f), PAWL_STALLED);
    assert_non_null(strstr(f->err.message, "t [0] at offset 0"));
    fixture_expect_stored(f, "t", 0, 0);
}

static void
bounds_that_are_not_told_stall(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_set(f, "stall_timeout", "100ms");
    pawl__memory_refuse_bounds(f->cluster, "t", 0, PAWL_UNREACHABLE);
    assert_int_equal(fixture_run(f), PAWL_STALLED);
    assert_non_null(strstr(f->err.message, "t [0] at offset 10: there is no leader for stall_timeout"));
    pawl__memory_refuse_bounds(f->cluster, "t", 0, PAWL_FAILED);
    assert_int_equal(fixture_run(f), PAWL_STALLED);
    assert_non_null(strstr(f->err.message, "the partition does not exist"));
    pawl__memory_refuse_bounds(f->cluster, "t", 0, PAWL_OK);
    pawl__memory_fail_calls(f->cluster, PAWL__MEMORY_BOUNDS, -1, PAWL_UNREACHABLE);
    assert_int_equal(fixture_run(f), PAWL_UNREACHABLE);
    fixture_expect_stored(f, "t", 0, 10);
}

/* Neither of the triggers that end takes what it does not know for nothing to do. */
static void
what_is_not_told_is_waited_for(void **state)
{
    static const char *const triggers[] = {"available-now", "once"};
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    assert_int_equal(fixture_run(f), PAWL_OK);
    for (size_t i = 0; i < G_N_ELEMENTS(triggers); i++) {
        int64_t stored = (int64_t) i + 1;
        int asked = pawl__memory_calls(f->cluster, PAWL__MEMORY_BOUNDS);

        pawl__memory_append(f->cluster, "t", 0, 1);
        pawl__memory_append(f->cluster, "t", 1, 1);
        pawl__memory_refuse_bounds(f->cluster, "t", 1, PAWL_UNREACHABLE);
        pawl__memory_fail_calls(f->cluster, PAWL__MEMORY_BOUNDS, 2, PAWL_UNREACHABLE);
        fixture_set(f, "trigger", triggers[i]);
        fixture_start(f);
        assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_BOUNDS, asked + 4, fixture_deadline()));
        pawl__memory_refuse_bounds(f->cluster, "t", 1, PAWL_OK);
        assert_int_equal(fixture_join(f), PAWL_OK);
        fixture_expect_stored(f, "t", 0, stored);
        fixture_expect_stored(f, "t", 1, stored);
    }
}

/* After the ends were pinned a leader goes away for a moment: what is left has still to be read. */
static pawl_verdict
take_the_leader_away(fixture *f, pawl_batch *batch, pawl_error *err)
{
    (void) err;
    if (pawl_batch_number(batch) == 1)
        pawl__memory_refuse_bounds(f->cluster, "t", 0, PAWL_UNREACHABLE);
    return PAWL_DONE;
}

static void
available_now_waits_for_a_leader(void **state)
{
    fixture *f = *state;
    int asked;

    pawl__memory_append(f->cluster, "t", 0, 4);
    fixture_set(f, "max_offsets_per_batch", "2");
    f->on_flush = take_the_leader_away;
    fixture_start(f);
    fixture_await(f, "save 1", 1);
    asked = pawl__memory_calls(f->cluster, PAWL__MEMORY_BOUNDS);
    assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_BOUNDS, asked + 2, fixture_deadline()));
    pawl__memory_refuse_bounds(f->cluster, "t", 0, PAWL_OK);
    assert_int_equal(fixture_join(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(below_the_start_fails),
        fixture_test(above_the_end_fails),
        fixture_test(below_the_start_goes_on_at_the_earliest),
        fixture_test(below_the_start_goes_on_at_the_latest),
        fixture_test(above_the_end_goes_on_at_the_earliest),
        fixture_test(above_the_end_goes_on_at_the_latest),
        fixture_test(a_move_is_saved_without_a_record),
        fixture_test(an_empty_log_is_no_loss),
        fixture_test(only_what_is_lost_is_moved),
        fixture_test(a_loss_is_looked_at_twice),
        fixture_test(silence_does_not_confirm_a_loss),
        fixture_test(an_open_transaction_is_no_loss),
        fixture_test(an_end_that_is_not_told_is_no_loss),
        fixture_test(an_end_that_is_not_told_twice_is_no_loss),
        fixture_test(a_loss_while_reading_fails),
        fixture_test(a_loss_while_reading_goes_on),
        fixture_test(once_tells_of_a_loss_while_reading),
        fixture_test(once_reads_what_is_left_of_a_lost_range),
        fixture_test(a_fetch_out_of_range_is_tried_again),
        fixture_test(a_fetch_out_of_range_is_not_tried_for_ever),
        fixture_test(a_range_without_progress_stalls),
        fixture_test(bounds_that_are_not_told_stall),
        fixture_test(what_is_not_told_is_waited_for),
        fixture_test(available_now_waits_for_a_leader),
    };

    return cmocka_run_group_tests_name("job: loss", tests, NULL, NULL);
}
