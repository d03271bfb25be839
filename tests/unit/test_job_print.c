/*
 * test_job_print.c - logs that only a record tells from the one that was read
 */
#include "tests/support/job_fixture.h"

#include <string.h>

static void
append_values(fixture *f, int count, const char *value)
{
    for (int i = 0; i < count; i++)
        pawl__memory_append_record(f->cluster, "t", 0, NULL, value, 1000 + i);
}

/* Reads ten records, and makes the log anew with more: only the records tell. */
static void
make_anew(fixture *f)
{
    append_values(f, 10, "old");
    assert_int_equal(fixture_run(f), PAWL_OK);
    pawl__memory_cut_end(f->cluster, "t", 0, 0);
    append_values(f, 20, "new");
    fixture_forget(f);
}

static void
another_log_fails(void **state)
{
    fixture *f = *state;

    make_anew(f);
    assert_int_equal(fixture_run(f), PAWL_DATA_LOSS);
    assert_string_equal(f->err.message,
                        "t [0]: the stored offset 10 has another record before it than when it was stored, in the log, "
                        "which goes from 0 to 20: it was cut or made anew, and what is lost cannot be counted "
                        "(on_data_loss = fail)");
    fixture_expect(f, "save process flush", "");
    fixture_expect_stored(f, "t", 0, 10);
    assert_int_equal(fixture_run(f), PAWL_DATA_LOSS); /* nor is that forgotten */
}

static void
another_log_is_read_from_the_earliest(void **state)
{
    fixture *f = *state;

    make_anew(f);
    fixture_set(f, "on_data_loss", "earliest");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "save flush", "save 0: t:0 10>0\nflush 2: t:0 0..20\nsave 2: t:0 0>20\n");
    assert_true(fixture_logged(f, "in the log 0..20: moved to 0 by on_data_loss, what is lost cannot be counted"));
    append_values(f, 1, "more");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 21);
}

static void
another_log_is_left_for_the_latest(void **state)
{
    fixture *f = *state;

    make_anew(f);
    fixture_set(f, "on_data_loss", "latest");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "save flush", "save 0: t:0 10>20\n");
}

/* The record before the first range is looked at, and handed over in no attempt. */
static void
the_same_log_goes_on(void **state)
{
    fixture *f = *state;

    append_values(f, 10, "old");
    assert_int_equal(fixture_run(f), PAWL_OK);
    append_values(f, 2, "old");
    pawl__memory_fail_ranges(f->cluster, "t", 0, 1, PAWL_FAILED, PAWL_ERROR_RETRIABLE);
    fixture_forget(f);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "process flush save",
                   "process t:0 10..12 #1: 10 11\nprocess t:0 10..12 #2: 10 11\nflush 2: t:0 10..12\n"
                   "save 2: t:0 10>12\n");
    assert_int_equal(f->stats.records, 2);
}

/* All that was processed has left the log: there is nothing to compare, and nothing is wrong. */
static void
the_record_before_has_left_the_log(void **state)
{
    fixture *f = *state;

    append_values(f, 10, "old");
    assert_int_equal(fixture_run(f), PAWL_OK);
    pawl__memory_cut_start(f->cluster, "t", 0, 10);
    append_values(f, 2, "new");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 12);
    assert_false(fixture_logged(f, "out of range"));
}

static void
the_record_before_was_compacted(void **state)
{
    fixture *f = *state;

    append_values(f, 10, "old");
    assert_int_equal(fixture_run(f), PAWL_OK);
    pawl__memory_cut_end(f->cluster, "t", 0, 9);
    pawl__memory_append_gap(f->cluster, "t", 0, 1);
    append_values(f, 2, "new");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 12);
}

/* A print is of the very record before the offset, or there is none. */
static void
what_has_no_print(void **state)
{
    fixture *f = *state;

    append_values(f, 10, "old");
    assert_int_equal(fixture_run(f), PAWL_OK);
    assert_memory_equal(fixture_stored(f, "t", 0).print, "9-", 2);
    pawl__memory_append_gap(f->cluster, "t", 0, 1);
    assert_int_equal(fixture_run(f), PAWL_OK);
    assert_string_equal(fixture_stored(f, "t", 0).print, "");
    pawl__memory_cut_end(f->cluster, "t", 0, 0);
    append_values(f, 20, "new");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 20);
}

/* ---------------------------------------------------------------------------------------------- kept by what saves -- */

static void
expect_print_of(fixture *f, const char *start)
{
    assert_memory_equal(fixture_stored(f, "t", 0).print, start, strlen(start));
}

/* Of what the job has saved itself, and of what it found. */
static void
a_renewal_keeps_the_print(void **state)
{
    fixture *f = *state;

    append_values(f, 10, "old");
    fixture_set(f, "trigger", "continuous");
    fixture_set(f, "refresh.interval", "100ms");
    for (int i = 0; i < 2; i++) {
        fixture_forget(f);
        fixture_start(f);
        fixture_await(f, "save 0: t:0 10>10", 1);
        assert_int_equal(fixture_stop(f), PAWL_OK);
        expect_print_of(f, "9-");
    }
    pawl__memory_cut_end(f->cluster, "t", 0, 0);
    append_values(f, 20, "new");
    fixture_set(f, "trigger", "available-now");
    assert_int_equal(fixture_run(f), PAWL_DATA_LOSS);
}

static pawl_verdict
keep_all_back(fixture *f, pawl_batch *batch, pawl_error *err)
{
    pawl_range *range = pawl_batch_range(batch, 0);

    (void) f;
    if (pawl_batch_must_flush(batch))
        return PAWL_DONE;
    return pawl_range_saved_to(range, pawl_range_from(range), err) == PAWL_OK ? PAWL_DONE : PAWL_STOP;
}

/* The stored offset stays where it is, and later moves over what was read in other batches. */
static void
a_sink_that_holds_back_keeps_the_print(void **state)
{
    fixture *f = *state;

    append_values(f, 10, "old");
    assert_int_equal(fixture_run(f), PAWL_OK);
    append_values(f, 2, "old");
    fixture_set(f, "trigger", "continuous");
    f->on_flush = keep_all_back;
    fixture_start(f);
    fixture_await(f, "save 2: t:0 10>10", 1);
    expect_print_of(f, "9-");
    assert_int_equal(fixture_stop(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 12);
    expect_print_of(f, "11-");
}

/* A sink that starts somewhere else: nothing is known of that place. */
static pawl_verdict
start_at_5(fixture *f, pawl_opening *openings, size_t count, pawl_error *err)
{
    (void) f, (void) count, (void) err;
    openings[0].position = pawl_position_at(5);
    return PAWL_DONE;
}

static void
a_sink_that_starts_elsewhere_has_no_print(void **state)
{
    fixture *f = *state;

    append_values(f, 10, "old");
    assert_int_equal(fixture_run(f), PAWL_OK);
    pawl__memory_cut_end(f->cluster, "t", 0, 5);
    f->on_open = start_at_5;
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 5);
    assert_string_equal(fixture_stored(f, "t", 0).print, "");
}

/* ------------------------------------------------------------------------------------------------------ interrupted -- */

static void
take_the_other(void *user)
{
    fixture *f = user;

    trap_store_before(TRAP_PLAN, NULL, NULL);
    fixture_intrude(f, "t", 1, -1);
}

/* A member whose first plan is refused, since another has taken one of its two partitions. */
static void
start_fenced_off(fixture *f)
{
    pawl__memory_append(f->cluster, "t", 1, 1);
    fixture_set(f, "members", "group");
    fixture_set(f, "replay", "exact");
    fixture_set(f, "trigger", "continuous");
    pawl__memory_assign(f->cluster, "t", 0);
    pawl__memory_assign(f->cluster, "t", 1);
    trap_store_before(TRAP_PLAN, take_the_other, f);
    fixture_forget(f);
    fixture_start(f);
}

static void
a_refused_plan_reads_no_record_twice(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    append_values(f, 10, "old");
    assert_int_equal(fixture_run(f), PAWL_OK);
    append_values(f, 1, "old");
    start_fenced_off(f);
    fixture_await_log(f, "t [1] was taken over");
    fixture_await(f, "process t:0", 1);
    fixture_await(f, "process t:1", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
    assert_int_equal(fixture_count(f, "process t:0 10..11 #1: 10"), 1);
    fixture_expect_stored(f, "t", 0, 11);
}

/* The topic was gone when it was first read, and has been made anew since. */
static void
another_log_is_found_by_a_later_attempt(void **state)
{
    fixture *f = *state;

    make_anew(f);
    pawl__memory_fail_ranges_at_once(f->cluster, "t", 0, 2, PAWL_FAILED, PAWL_ERROR_RETRIABLE);
    assert_int_equal(fixture_run(f), PAWL_DATA_LOSS);
    assert_int_equal(f->stats.retries, 2);
    fixture_expect(f, "process save", "");
}

static void
another_log_is_found_after_a_refused_plan(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    make_anew(f);
    start_fenced_off(f);
    assert_int_equal(fixture_join(f), PAWL_DATA_LOSS);
    assert_true(fixture_logged(f, "t [1] was taken over"));
    fixture_expect_stored(f, "t", 0, 10);
}

/* The range meets another log, and then nobody tells from where to where that goes. */
static void
meet_another_log_and_silence(fixture *f)
{
    make_anew(f);
    pawl__memory_stall(f->cluster, "t", 0, true);
    fixture_start(f);
    assert_true(pawl__memory_await_open(f->cluster, "t", 0, fixture_deadline()));
    pawl__memory_refuse_bounds(f->cluster, "t", 0, PAWL_UNREACHABLE);
    pawl__memory_stall(f->cluster, "t", 0, false);
}

static void
another_log_is_not_left_before_its_bounds_are_told(void **state)
{
    fixture *f = *state;
    int asked;

    fixture_set(f, "on_data_loss", "earliest");
    meet_another_log_and_silence(f);
    asked = pawl__memory_calls(f->cluster, PAWL__MEMORY_BOUNDS);
    assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_BOUNDS, asked + 5, fixture_deadline()));
    pawl__memory_refuse_bounds(f->cluster, "t", 0, PAWL_OK);
    assert_int_equal(fixture_join(f), PAWL_OK);
    fixture_expect(f, "save flush", "save 0: t:0 10>0\nflush 2: t:0 0..20\nsave 2: t:0 0>20\n");
}

/* What was found out is found again by the next job, although the owner's entry was renewed meanwhile. */
static void
another_log_is_not_forgotten_by_a_renewal(void **state)
{
    fixture *f = *state;

    fixture_set(f, "refresh.interval", "100ms");
    meet_another_log_and_silence(f);
    fixture_await(f, "save 0: t:0 10>10", 1);
    pawl__memory_refuse_bounds(f->cluster, "t", 0, PAWL_OK);
    assert_int_equal(fixture_join(f), PAWL_DATA_LOSS);
    assert_int_equal(fixture_run(f), PAWL_DATA_LOSS);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(another_log_fails),
        fixture_test(another_log_is_read_from_the_earliest),
        fixture_test(another_log_is_left_for_the_latest),
        fixture_test(the_same_log_goes_on),
        fixture_test(the_record_before_has_left_the_log),
        fixture_test(the_record_before_was_compacted),
        fixture_test(what_has_no_print),
        fixture_test(a_renewal_keeps_the_print),
        fixture_test(a_sink_that_holds_back_keeps_the_print),
        fixture_test(a_sink_that_starts_elsewhere_has_no_print),
        fixture_test(a_refused_plan_reads_no_record_twice),
        fixture_test(another_log_is_found_by_a_later_attempt),
        fixture_test(another_log_is_found_after_a_refused_plan),
        fixture_test(another_log_is_not_left_before_its_bounds_are_told),
        fixture_test(another_log_is_not_forgotten_by_a_renewal),
    };

    return cmocka_run_group_tests_name("job: print", tests, NULL, NULL);
}
