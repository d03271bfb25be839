/*
 * test_job_owner.c - other owners, other clusters, crashes, and stores that fail
 */
#include "tests/support/job_fixture.h"

#include <string.h>

#include "util/clock.h"

/* --------------------------------------------------------------------------------------------------- fenced off -- */

/* Somebody takes the partition while the batch is being processed. */
static pawl_verdict
intrude_in_process(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    (void) range;
    (void) err;
    if (strcmp(hook, "process") == 0 && f->calls++ == 0)
        fixture_intrude(f, "t", 0, -1);
    return PAWL_DONE;
}

static void
a_new_owner_fences_the_job_off(void **state)
{
    static const char *const stores[] = {"trap", "traptx"};
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 0, 2);
    pawl__memory_append(f->cluster, "t", 1, 2);
    for (size_t i = 0; i < G_N_ELEMENTS(stores); i++) {
        fixture_use_store(f, stores[i]);
        f->calls = 0;
        f->answer = intrude_in_process;
        assert_int_equal(fixture_run(f), PAWL_FENCED);
        assert_int_equal(pawl_status_exit_code(f->status), 4);
        assert_non_null(strstr(f->err.message, "client 'intruder', pid 7 on elsewhere"));
        fixture_expect(f, "save", "");
        fixture_expect_stored(f, "t", 0, 0);
        fixture_expect_stored(f, "t", 1, 0);
        /* The intruder's entry is not touched by what the job gives back. */
        assert_string_equal(fixture_stored(f, "t", 0).owner.host, "elsewhere");
        assert_string_equal(fixture_stored(f, "t", 1).owner.host, "");
    }
}

/* Somebody moves the offset and leaves: that is told as well. */
static pawl_verdict
move_in_process(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    (void) range;
    (void) err;
    if (strcmp(hook, "process") == 0 && f->calls++ == 0)
        fixture_intrude(f, "t", 0, 1);
    return PAWL_DONE;
}

static void
a_moved_offset_is_not_written_over(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    f->answer = move_in_process;
    assert_int_equal(fixture_run(f), PAWL_FENCED);
    fixture_expect_stored(f, "t", 0, 1);
}

/* A store that went back to an older state under its owner. */
static void
a_store_that_contradicts_is_a_conflict(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    trap_store_fail(TRAP_SAVE, 1, PAWL_CONFLICT, 0);
    assert_int_equal(fixture_run(f), PAWL_CONFLICT);
    assert_int_equal(pawl_status_exit_code(f->status), 4);
    fixture_expect_stored(f, "t", 0, 0);
}

static void
a_batch_is_given_up_when_its_owner_is_fenced_off(void **state)
{
    fixture *f = *state;

    fixture_set(f, "refresh.interval", "100ms");
    pawl__memory_append(f->cluster, "t", 0, 2);
    pawl__memory_stall(f->cluster, "t", 0, true);
    fixture_start(f);
    fixture_await(f, "save 0", 1);
    fixture_intrude(f, "t", 0, -1);
    assert_int_equal(fixture_join(f), PAWL_FENCED);
}

/* ------------------------------------------------------------------------------------------------------- takeover -- */

static void
takeover_now_takes_what_is_owned(void **state)
{
    fixture *f = *state;

    fixture_intrude(f, "t", 0, -1);
    assert_int_equal(fixture_run(f), PAWL_OK);
    assert_int_equal(fixture_stored(f, "t", 0).epoch, 2);
}

static void
takeover_refuse_takes_only_what_is_free(void **state)
{
    fixture *f = *state;

    fixture_set(f, "takeover", "refuse");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_intrude(f, "t", 0, -1);
    assert_int_equal(fixture_run(f), PAWL_FENCED);
    assert_non_null(strstr(f->err.message, "t [0] belongs to intruder (process 7 on elsewhere), which was active"));
    assert_non_null(
        strstr(f->err.message, "let it work, or end it there; takeover = now is for an owner that is surely"));
    assert_int_equal(fixture_stored(f, "t", 0).epoch, 2);
}

static void
takeover_idle_waits_until_the_owner_is_silent(void **state)
{
    fixture *f = *state;
    int64_t started_ms = pawl__clock_ms();

    fixture_set(f, "refresh.interval", "100ms");
    fixture_set(f, "takeover", "idle:200ms");
    fixture_intrude(f, "t", 0, -1);
    assert_int_equal(fixture_run(f), PAWL_OK);
    assert_true(pawl__clock_ms() - started_ms >= 190);
    assert_int_equal(fixture_stored(f, "t", 0).epoch, 2);
    /* Who was released, or has been silent for long, is not waited for. */
    fixture_set(f, "takeover", "idle:1d");
    assert_int_equal(fixture_run(f), PAWL_OK);
}

static void
takeover_idle_gives_up_when_the_owner_stirs(void **state)
{
    fixture *f = *state;

    fixture_set(f, "refresh.interval", "100ms");
    fixture_set(f, "takeover", "idle:2s");
    fixture_intrude(f, "t", 0, -1);
    fixture_start(f);
    fixture_await_log(f, "waiting until intruder (process 7 on elsewhere) has been idle for 2s, which is at 20");
    fixture_intrude(f, "t", 0, 0);
    assert_int_equal(fixture_join(f), PAWL_FENCED);
    assert_int_equal(fixture_stored(f, "t", 0).epoch, 2);
}

static void
takeover_idle_can_be_stopped(void **state)
{
    fixture *f = *state;

    fixture_set(f, "takeover", "idle:1d");
    fixture_intrude(f, "t", 0, -1);
    fixture_start(f);
    fixture_await_log(f, "waiting until intruder (process 7");
    assert_int_equal(fixture_stop(f), PAWL_OK);
    assert_int_equal(fixture_stored(f, "t", 0).epoch, 1);
}

/* A clock that is ahead makes nobody wait for longer than the setting says. */
static void
takeover_idle_does_not_trust_the_owners_clock(void **state)
{
    fixture *f = *state;

    fixture_set(f, "refresh.interval", "100ms");
    fixture_set(f, "takeover", "idle:200ms");
    fixture_intrude_at(f, "t", 0, pawl__clock_wall_ms() + 3600000);
    fixture_start(f);
    fixture_await(f, "acquire", 1);
    assert_int_equal(fixture_join(f), PAWL_OK);
}

static void
intrude_once(void *user)
{
    fixture *f = user;

    if (f->calls++ == 0)
        fixture_intrude(f, "t", 0, -1);
}

/* The epoch changes between load and acquire: it is looked at once more. */
static void
a_stale_epoch_is_loaded_again(void **state)
{
    fixture *f = *state;

    trap_store_before(TRAP_ACQUIRE, intrude_once, f);
    assert_int_equal(fixture_run(f), PAWL_OK);
    assert_int_equal(fixture_stored(f, "t", 0).epoch, 2);
}

static void
save_as_the_owner_before(void *user)
{
    fixture *f = user;

    if (f->calls++ == 0)
        fixture_save_as_owner(f, "t", 0, 3);
}

/* The owner before saves once more between load and acquire, which does not change its epoch: nothing comes twice. */
static void
what_the_owner_before_saved_last_is_read(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 5);
    fixture_intrude(f, "t", 0, 1);
    trap_store_before(TRAP_ACQUIRE, save_as_the_owner_before, f);
    assert_int_equal(fixture_run(f), PAWL_OK);
    assert_int_equal(f->stats.records, 2);
    fixture_expect_stored(f, "t", 0, 5);
}

/* -------------------------------------------------------------------------------------------------------- cluster -- */

static void
another_cluster_is_refused(void **state)
{
    fixture *f = *state;
    pawl__memory_cluster *other = pawl__memory_cluster_new("another", "cluster-two");

    pawl__memory_make_topic(other, "t", 1);
    pawl__memory_append(f->cluster, "t", 0, 2);
    pawl__memory_append(other, "t", 0, 4);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_set(f, "kafka.bootstrap.servers", "another");
    assert_int_equal(fixture_run(f), PAWL_INVALID);
    assert_non_null(strstr(f->err.message, "belong to the Kafka cluster cluster-one, and this is cluster-two"));
    fixture_expect_stored(f, "t", 0, 2);
    assert_int_equal(fixture_stored(f, "t", 0).epoch, 1);
    fixture_set(f, "accept_cluster", "true");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 4);
    fixture_set(f, "accept_cluster", "false"); /* the store remembers the new one */
    assert_int_equal(fixture_run(f), PAWL_OK);
    pawl_job_free(f->job);
    f->job = NULL;
    pawl__memory_cluster_free(other);
}

/* ---------------------------------------------------------------------------------------------------------- replay -- */

/* A crash: what was processed is not saved. */
static void
crash(fixture *f)
{
    fixture_set(f, "replay", "exact");
    trap_store_fail(TRAP_SAVE, -1, PAWL_UNREACHABLE, 0);
    trap_store_fail(TRAP_RELEASE, -1, PAWL_UNREACHABLE, 0);
    assert_int_equal(fixture_run(f), PAWL_UNREACHABLE);
    trap_store_fail(TRAP_SAVE, 0, PAWL_OK, 0);
    trap_store_fail(TRAP_RELEASE, 0, PAWL_OK, 0);
}

static void
a_range_that_was_written_down_is_run_again_exactly(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 0, 6);
    pawl__memory_append(f->cluster, "t", 1, 1);
    fixture_set(f, "max_offsets_per_partition", "4");
    crash(f);
    fixture_expect(f, "plan flush save", "plan: t:0 0..4 t:1 0..1\nflush 1: t:0 0..4 t:1 0..1\n");
    assert_int_equal(fixture_stored(f, "t", 0).pending.offset, 4);
    fixture_forget(f);
    pawl__memory_append(f->cluster, "t", 0, 10);
    pawl__memory_append(f->cluster, "t", 1, 10);
    fixture_set(f, "max_offsets_per_partition", "100"); /* whatever the limits are now */
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "plan flush save",
                   "plan: t:0 0..4 t:1 0..1\n"
                   "flush 1: t:0 0..4 t:1 0..1\n"
                   "save 1: t:0 0>4 t:1 0>1\n"
                   "plan: t:0 4..16 t:1 1..11\n"
                   "flush 2: t:0 4..16 t:1 1..11\n"
                   "save 2: t:0 4>16 t:1 1>11\n");
    assert_false(fixture_stored(f, "t", 0).pending.known);
}

/* Even with replay = free now: the one who crashed has promised it. */
static void
who_takes_over_keeps_the_promise(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 6);
    fixture_set(f, "max_offsets_per_partition", "4");
    crash(f);
    fixture_forget(f);
    fixture_set(f, "replay", "free");
    fixture_set(f, "max_offsets_per_partition", "1");
    fixture_set(f, "max_offsets_per_batch", "1");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "flush", "flush 1: t:0 0..4\nflush 2: t:0 4..5\nflush 3: t:0 5..6\n");
}

static void
a_planned_range_above_the_end_is_waited_for(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 6);
    crash(f);
    pawl__memory_cut_end(f->cluster, "t", 0, 3);
    fixture_set(f, "stall_timeout", "100ms");
    assert_int_equal(fixture_run(f), PAWL_STALLED);
    assert_non_null(strstr(f->err.message, "the range up to 6"));
    fixture_set(f, "stall_timeout", "1h");
    fixture_set(f, "trigger", "once");
    fixture_forget(f);
    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 1, 1);
    fixture_start(f);
    fixture_await(f, "save 1: t:1", 1); /* others go on, but it is not the end */
    pawl__memory_append(f->cluster, "t", 0, 5);
    assert_int_equal(fixture_join(f), PAWL_OK);
    fixture_expect(f, "flush", "flush 1: t:1 0..1\nflush 2: t:0 0..6\n");
}

/* ----------------------------------------------------------------------------------------------- stores that fail -- */

static void
every_failure_of_the_store_ends_the_job_cleanly(void **state)
{
    static const trap_call calls[] = {TRAP_OPEN, TRAP_LOAD, TRAP_ACQUIRE, TRAP_PLAN, TRAP_BEGIN, TRAP_SAVE};
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 6);
    fixture_use_store(f, "traptx");
    fixture_set(f, "replay", "exact");
    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
        trap_store_fail(calls[i], 1, PAWL_UNREADABLE, 0);
        assert_int_equal(fixture_run(f), PAWL_UNREADABLE);
        assert_string_equal(f->err.message, "the trap was sprung");
        assert_int_equal(fixture_count(f, "init"), fixture_count(f, "exit"));
    }
    trap_store_fail(TRAP_RELEASE, 1, PAWL_UNREADABLE, 0);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 6);
}

static void
every_failure_of_the_source_ends_the_job_cleanly(void **state)
{
    static const pawl__memory_call calls[] = {PAWL__MEMORY_CLUSTER, PAWL__MEMORY_DISCOVER, PAWL__MEMORY_BOUNDS,
                                              PAWL__MEMORY_HOLD};
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 6);
    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
        pawl__memory_fail_calls(f->cluster, calls[i], 1, PAWL_UNREACHABLE);
        assert_int_equal(fixture_run(f), PAWL_UNREACHABLE);
        assert_int_equal(fixture_count(f, "init"), fixture_count(f, "exit"));
    }
    fixture_set(f, "kafka.bootstrap.servers", "nowhere");
    assert_int_equal(fixture_run(f), PAWL_INVALID);
}

/* The answer is lost, and the wrapper finds out that the save was done. */
static void
a_lost_answer_is_resolved(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 6);
    trap_store_lose_answer(TRAP_SAVE, 1);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 6);
    assert_int_equal(fixture_count(f, "save"), 1);
    assert_int_equal(fixture_count(f, "flush"), 1);
}

static void
a_passing_failure_is_tried_again(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 6);
    trap_store_fail(TRAP_SAVE, 1, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE);
    trap_store_fail(TRAP_LOAD, 1, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE);
    assert_int_equal(fixture_run(f), PAWL_OK);
    assert_int_equal(fixture_count(f, "flush"), 1);
}

static void
a_store_may_be_too_small(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 3);
    trap_store_limit(2);
    assert_int_equal(fixture_run(f), PAWL_INVALID);
    assert_string_equal(f->err.message, "3 partitions are more than the 2 that this store can save at once");
    fixture_expect(f, "acquire", "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(a_new_owner_fences_the_job_off),
        fixture_test(a_moved_offset_is_not_written_over),
        fixture_test(a_store_that_contradicts_is_a_conflict),
        fixture_test(a_batch_is_given_up_when_its_owner_is_fenced_off),
        fixture_test(takeover_now_takes_what_is_owned),
        fixture_test(takeover_refuse_takes_only_what_is_free),
        fixture_test(takeover_idle_waits_until_the_owner_is_silent),
        fixture_test(takeover_idle_gives_up_when_the_owner_stirs),
        fixture_test(takeover_idle_can_be_stopped),
        fixture_test(takeover_idle_does_not_trust_the_owners_clock),
        fixture_test(a_stale_epoch_is_loaded_again),
        fixture_test(what_the_owner_before_saved_last_is_read),
        fixture_test(another_cluster_is_refused),
        fixture_test(a_range_that_was_written_down_is_run_again_exactly),
        fixture_test(who_takes_over_keeps_the_promise),
        fixture_test(a_planned_range_above_the_end_is_waited_for),
        fixture_test(every_failure_of_the_store_ends_the_job_cleanly),
        fixture_test(every_failure_of_the_source_ends_the_job_cleanly),
        fixture_test(a_lost_answer_is_resolved),
        fixture_test(a_passing_failure_is_tried_again),
        fixture_test(a_store_may_be_too_small),
    };

    return cmocka_run_group_tests_name("job: owners, crashes and failing stores", tests, NULL, NULL);
}
