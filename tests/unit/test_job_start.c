/*
 * test_job_start.c - where a job starts, and partitions that come and go
 */
#include "tests/support/job_fixture.h"

#include <string.h>

/* --------------------------------------------------------------------------------------------------------- start -- */

static void
from_the_earliest(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    pawl__memory_cut_start(f->cluster, "t", 0, 7);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "acquire process", "acquire: t:0=7\nprocess t:0 7..10 #1: 7 8 9\n");
}

/* Nothing is there to read at first; what comes later is not skipped, as it would be if the end were asked again. */
static void
from_the_latest_which_stays_where_it_was(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    fixture_set(f, "start", "latest");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "flush save", "");
    fixture_expect_stored(f, "t", 0, 10);
    assert_int_equal(fixture_run(f), PAWL_OK);
    pawl__memory_append(f->cluster, "t", 0, 2);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "process", "process t:0 10..12 #1: 10 11\n");
}

static void
none_is_an_error(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    fixture_set(f, "start", "none");
    assert_int_equal(fixture_run(f), PAWL_INVALID);
    assert_string_equal(f->err.message, "t [0] has no stored offset, and start = none");
    fixture_expect_stored(f, "t", 0, -1);
    fixture_expect(f, "acquire open begin close release", "");
}

static void
a_stored_offset_wins(void **state)
{
    static const char *const starts[] = {"none", "latest", "2013-01-01T00:00:00Z", "t:0=9"};
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 5);
    assert_int_equal(fixture_run(f), PAWL_OK);
    for (size_t i = 0; i < G_N_ELEMENTS(starts); i++) {
        fixture_set(f, "start", starts[i]);
        pawl__memory_append(f->cluster, "t", 0, 1);
        assert_int_equal(fixture_run(f), PAWL_OK);
    }
    fixture_expect_stored(f, "t", 0, 9);
    assert_int_equal(fixture_count(f, "process"), 2 + 4);
}

/* Timestamps go up and down: the first that is not older counts. A partition without one starts at its end. */
static void
from_a_time(void **state)
{
    static const int64_t times[] = {1000, 3000, 2000, 4000};
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 3);
    for (size_t i = 0; i < G_N_ELEMENTS(times); i++)
        pawl__memory_append_record(f->cluster, "t", 0, NULL, NULL, times[i]);
    pawl__memory_append_record(f->cluster, "t", 1, NULL, NULL, 1999);
    fixture_set(f, "start", "2000");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "acquire process", "acquire: t:0=1 t:1=1 t:2=0\nprocess t:0 1..4 #1: 1 2 3\n");
    assert_true(fixture_logged(f, "t [1] has no record at or after 1970-01-01T00:00:02.000Z: starting at its end"));
    assert_int_equal(pawl__memory_calls(f->cluster, PAWL__MEMORY_AT_TIME), 1);
}

static void
a_time_that_cannot_be_asked_for_ends_the_job(void **state)
{
    fixture *f = *state;

    fixture_set(f, "start", "2000");
    pawl__memory_fail_calls(f->cluster, PAWL__MEMORY_AT_TIME, 1, PAWL_UNREACHABLE);
    assert_int_equal(fixture_run(f), PAWL_UNREACHABLE);
    fixture_expect_stored(f, "t", 0, -1);
}

static void
from_a_list(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 0, 10);
    pawl__memory_append(f->cluster, "t", 1, 10);
    fixture_set(f, "start", "t:0=4 t:1=10");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "acquire flush", "acquire: t:0=4 t:1=10\nflush 1: t:0 4..10\n");
}

static void
a_list_that_lacks_a_partition_is_an_error(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    fixture_set(f, "start", "t:0=0");
    assert_int_equal(fixture_run(f), PAWL_INVALID);
    assert_string_equal(f->err.message, "start: t [1] has nothing stored and is not in the list of offsets");
    fixture_expect_stored(f, "t", 0, -1);
}

static void
a_list_outside_of_the_log_is_an_error(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    fixture_set(f, "start", "t:0=11");
    assert_int_equal(fixture_run(f), PAWL_INVALID);
    assert_string_equal(f->err.message, "start: offset 11 of t [0] is outside of its log, which goes from 0 to 10");
}

/* What a person wrote down for this very partition is not overruled by what its siblings have. */
static void
a_list_counts_also_for_a_partition_that_is_new(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 3);
    pawl__memory_append(f->cluster, "t", 1, 10);
    pawl__memory_append(f->cluster, "t", 2, 10);
    pawl__memory_hide_partitions(f->cluster, "t", 1);
    assert_int_equal(fixture_run(f), PAWL_OK);
    pawl__memory_hide_partitions(f->cluster, "t", -1);
    fixture_forget(f);
    fixture_set(f, "start", "t:1=8");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "flush", "flush 1: t:1 8..10 t:2 0..10\n");
}

static void
bounds_that_come_late_are_waited_for(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    pawl__memory_refuse_bounds(f->cluster, "t", 0, PAWL_UNREACHABLE);
    fixture_start(f);
    assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_BOUNDS, 3, fixture_deadline()));
    pawl__memory_refuse_bounds(f->cluster, "t", 0, PAWL_OK);
    assert_int_equal(fixture_join(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 2);
}

static void
bounds_that_never_come_end_the_job(void **state)
{
    fixture *f = *state;

    fixture_set(f, "source_timeout", "100ms");
    pawl__memory_refuse_bounds(f->cluster, "t", 0, PAWL_UNREACHABLE);
    assert_int_equal(fixture_run(f), PAWL_UNREACHABLE);
    assert_non_null(strstr(f->err.message, "t [0]"));
    fixture_expect_stored(f, "t", 0, -1);
}

/* ---------------------------------------------------------------------------------------------------- the sink's word -- */

static pawl_verdict
answer_with_4(fixture *f, pawl_opening *openings, size_t count, pawl_error *err)
{
    (void) f;
    (void) err;
    for (size_t i = 0; i < count; i++)
        openings[i].position = pawl_position_at(4);
    return PAWL_DONE;
}

static void
the_store_follows_a_sink_with_offsets_of_its_own(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 0, 6);
    pawl__memory_append(f->cluster, "t", 1, 4);
    f->on_open = answer_with_4;
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "open save process",
                   "open t:0 none@0\n"
                   "open t:1 none@0\n"
                   "save 0: t:0 0>4 t:1 0>4\n"
                   "process t:0 4..6 #1: 4 5\n"
                   "save 1: t:0 4>6\n");
    fixture_forget(f);
    assert_int_equal(fixture_run(f), PAWL_OK); /* and back */
    fixture_expect(f, "open save",
                   "open t:0 6@6\n"
                   "open t:1 4@4\n"
                   "save 0: t:0 6>4\n"
                   "save 2: t:0 4>6\n");
}

static pawl_verdict
answer_above(fixture *f, pawl_opening *openings, size_t count, pawl_error *err)
{
    (void) f;
    (void) count;
    (void) err;
    openings[0].position = pawl_position_at(100);
    return PAWL_DONE;
}

static void
a_sink_above_the_end_is_a_loss(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 6);
    f->on_open = answer_above;
    assert_int_equal(fixture_run(f), PAWL_DATA_LOSS);
}

static pawl_verdict
refuse_to_open(fixture *f, pawl_opening *openings, size_t count, pawl_error *err)
{
    (void) f;
    (void) openings;
    (void) count;
    pawl_error_set(err, PAWL_UNREACHABLE, 0, 0, "no table");
    return PAWL_STOP;
}

static void
a_sink_may_refuse_to_start(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 6);
    f->on_open = refuse_to_open;
    assert_int_equal(fixture_run(f), PAWL_UNREACHABLE);
    assert_string_equal(f->err.message, "on_open: no table");
    /* What was not opened is not closed, but it is given back. */
    fixture_expect(f, "open begin close release", "open t:0 none@0\nrelease: t:0\n");
    fixture_expect_stored(f, "t", 0, 0);
}

/* ----------------------------------------------------------------------------------------------------- discovery -- */

static void
partitions_that_appear_while_running_start_at_their_beginning(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 3);
    pawl__memory_append(f->cluster, "t", 0, 5);
    pawl__memory_append(f->cluster, "t", 2, 3);
    pawl__memory_hide_partitions(f->cluster, "t", 1);
    fixture_set(f, "start", "latest");
    fixture_set(f, "trigger", "continuous");
    fixture_set(f, "discovery.interval", "100ms");
    fixture_start(f);
    fixture_await(f, "open t:0 none@5", 1);
    pawl__memory_hide_partitions(f->cluster, "t", -1);
    fixture_await(f, "save 1: t:2 0>3", 1);
    fixture_expect(f, "open", "open t:0 none@5\nopen t:1 none@0\nopen t:2 none@0\n");
    assert_int_equal(fixture_stop(f), PAWL_OK);
    fixture_expect(f, "close release", "close t:0 t:1 t:2\nrelease: t:0 t:1 t:2\n");
}

/* A new partition has no leader yet: it waits, and the others do not. */
static void
a_new_partition_without_bounds_is_left_for_later(void **state)
{
    fixture *f = *state;

    fixture_set(f, "trigger", "continuous");
    fixture_set(f, "discovery.interval", "100ms");
    fixture_start(f);
    fixture_await(f, "open t:0", 1);
    pawl__memory_hide_partitions(f->cluster, "t", 1);
    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_refuse_bounds(f->cluster, "t", 1, PAWL_UNREACHABLE);
    pawl__memory_append(f->cluster, "t", 1, 3);
    pawl__memory_hide_partitions(f->cluster, "t", -1);
    fixture_await_log(f, "new partitions are left until the next look: t [1]");
    pawl__memory_append(f->cluster, "t", 0, 1);
    fixture_await(f, "save 1: t:0 0>1", 1);
    pawl__memory_refuse_bounds(f->cluster, "t", 1, PAWL_OK);
    fixture_await(f, "save 2: t:1 0>3", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
}

static void
topics_that_appear_while_running_start_at_their_beginning(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 5);
    fixture_select(f, "topics_pattern", "[ab]|t");
    fixture_set(f, "start", "latest");
    fixture_set(f, "trigger", "continuous");
    fixture_set(f, "discovery.interval", "100ms");
    fixture_start(f);
    fixture_await(f, "open t:0 none@5", 1);
    pawl__memory_make_topic(f->cluster, "c", 1);
    pawl__memory_make_topic(f->cluster, "b", 1);
    pawl__memory_append(f->cluster, "b", 0, 2);
    fixture_await(f, "save 1: b:0 0>2", 1);
    pawl__memory_append(f->cluster, "t", 0, 1);
    pawl__memory_append(f->cluster, "b", 0, 1);
    fixture_await(f, "process t:0", 1);
    fixture_await(f, "process b:0", 2);
    assert_int_equal(fixture_stop(f), PAWL_OK);
    assert_int_equal(fixture_count(f, "open"), 2);
}

static void
partitions_that_appeared_while_down_start_at_their_beginning(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 5);
    fixture_set(f, "start", "latest");
    assert_int_equal(fixture_run(f), PAWL_OK);
    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 1, 3);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "process", "process t:1 0..3 #1: 0 1 2\n");
}

/* Ranges are in the order of topic and partition, whenever these were found. */
static void
a_batch_is_ordered(void **state)
{
    fixture *f = *state;

    fixture_select(f, "topics_pattern", "[st]");
    fixture_set(f, "trigger", "continuous");
    fixture_set(f, "min_offsets_per_batch", "3");
    fixture_set(f, "discovery.interval", "100ms");
    fixture_start(f);
    fixture_await(f, "open t:0", 1);
    pawl__memory_make_topic(f->cluster, "t", 2);
    fixture_await(f, "open t:1", 1);
    pawl__memory_make_topic(f->cluster, "s", 1);
    fixture_await(f, "open s:0", 1);
    pawl__memory_append(f->cluster, "t", 0, 1);
    pawl__memory_append(f->cluster, "t", 1, 1);
    pawl__memory_append(f->cluster, "s", 0, 1);
    fixture_await(f, "save 1", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
    fixture_expect(f, "flush close", "flush 1: s:0 0..1 t:0 0..1 t:1 0..1\nclose s:0 t:0 t:1\n");
}

/* The answer that once made others read everything again from the beginning. */
static void
metadata_without_partitions_forget_nothing(void **state)
{
    fixture *f = *state;
    int looks;

    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 0, 2);
    pawl__memory_append(f->cluster, "t", 1, 2);
    fixture_set(f, "trigger", "continuous");
    fixture_set(f, "discovery.interval", "100ms");
    fixture_start(f);
    fixture_await(f, "save 1", 1);
    for (int shown = 1; shown >= 0; shown--) {
        pawl__memory_hide_partitions(f->cluster, "t", shown);
        looks = pawl__memory_calls(f->cluster, PAWL__MEMORY_DISCOVER);
        assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_DISCOVER, looks + 2, fixture_deadline()));
    }
    pawl__memory_append(f->cluster, "t", 1, 1);
    fixture_await(f, "save 2: t:1 2>3", 1);
    pawl__memory_fail_calls(f->cluster, PAWL__MEMORY_DISCOVER, -1, PAWL_UNREACHABLE);
    looks = pawl__memory_calls(f->cluster, PAWL__MEMORY_DISCOVER);
    assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_DISCOVER, looks + 2, fixture_deadline()));
    pawl__memory_append(f->cluster, "t", 0, 1);
    fixture_await(f, "save 3: t:0 2>3", 1);
    pawl__memory_fail_calls(f->cluster, PAWL__MEMORY_DISCOVER, 0, PAWL_OK);
    pawl__memory_hide_partitions(f->cluster, "t", -1);
    looks = pawl__memory_calls(f->cluster, PAWL__MEMORY_DISCOVER);
    assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_DISCOVER, looks + 2, fixture_deadline()));
    assert_int_equal(fixture_stop(f), PAWL_OK);
    fixture_expect(f, "open", "open t:0 none@0\nopen t:1 none@0\n");
    fixture_expect_stored(f, "t", 0, 3);
    fixture_expect_stored(f, "t", 1, 3);
}

static void
a_topic_that_nobody_makes_ends_the_job(void **state)
{
    fixture *f = *state;

    fixture_set(f, "topics", "t, nowhere");
    fixture_set(f, "topic_timeout", "0");
    assert_int_equal(fixture_run(f), PAWL_FAILED);
    assert_non_null(strstr(f->err.message, "topic 'nowhere' does not exist"));
    assert_int_equal(pawl__memory_calls(f->cluster, PAWL__MEMORY_DISCOVER), 1);
    fixture_expect(f, "acquire", "");
}

static void
a_topic_that_comes_late_is_waited_for(void **state)
{
    fixture *f = *state;

    fixture_set(f, "topics", "late");
    fixture_start(f);
    assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_DISCOVER, 2, fixture_deadline()));
    pawl__memory_make_topic(f->cluster, "late", 1);
    assert_int_equal(fixture_join(f), PAWL_OK);
    fixture_expect_stored(f, "late", 0, 0);
}

static void
a_cluster_that_does_not_answer_ends_the_job(void **state)
{
    static const pawl__memory_call calls[] = {PAWL__MEMORY_CLUSTER, PAWL__MEMORY_DISCOVER, PAWL__MEMORY_BOUNDS};
    fixture *f = *state;

    fixture_set(f, "source_timeout", "100ms");
    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
        pawl__memory_hang_calls(f->cluster, calls[i], true);
        assert_int_equal(fixture_run(f), PAWL_UNREACHABLE);
        pawl__memory_hang_calls(f->cluster, calls[i], false);
    }
    fixture_expect(f, "acquire", "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(from_the_earliest),
        fixture_test(from_the_latest_which_stays_where_it_was),
        fixture_test(none_is_an_error),
        fixture_test(a_stored_offset_wins),
        fixture_test(from_a_time),
        fixture_test(a_time_that_cannot_be_asked_for_ends_the_job),
        fixture_test(from_a_list),
        fixture_test(a_list_that_lacks_a_partition_is_an_error),
        fixture_test(a_list_outside_of_the_log_is_an_error),
        fixture_test(a_list_counts_also_for_a_partition_that_is_new),
        fixture_test(bounds_that_come_late_are_waited_for),
        fixture_test(bounds_that_never_come_end_the_job),
        fixture_test(the_store_follows_a_sink_with_offsets_of_its_own),
        fixture_test(a_sink_above_the_end_is_a_loss),
        fixture_test(a_sink_may_refuse_to_start),
        fixture_test(partitions_that_appear_while_running_start_at_their_beginning),
        fixture_test(a_new_partition_without_bounds_is_left_for_later),
        fixture_test(topics_that_appear_while_running_start_at_their_beginning),
        fixture_test(partitions_that_appeared_while_down_start_at_their_beginning),
        fixture_test(a_batch_is_ordered),
        fixture_test(metadata_without_partitions_forget_nothing),
        fixture_test(a_topic_that_nobody_makes_ends_the_job),
        fixture_test(a_topic_that_comes_late_is_waited_for),
        fixture_test(a_cluster_that_does_not_answer_ends_the_job),
    };

    return cmocka_run_group_tests_name("job: where it starts", tests, NULL, NULL);
}
