/*
 * test_job_group.c - a job that is a member of a group: partitions come and go
 */
#include "tests/support/job_fixture.h"

#include <string.h>

#include "util/clock.h"

/* A running member of a group; nothing is assigned to it yet. */
static void
start_member(fixture *f, int partitions)
{
    pawl__memory_make_topic(f->cluster, "t", partitions);
    fixture_set(f, "members", "group");
    fixture_set(f, "trigger", "continuous");
    fixture_start(f);
}

static void
let_go(fixture *f)
{
    assert_true(pawl__memory_await_let_go(f->cluster, fixture_deadline()));
}

static void
what_is_assigned_is_taken_over(void **state)
{
    fixture *f = *state;

    start_member(f, 3);
    pawl__memory_append(f->cluster, "t", 0, 2);
    pawl__memory_append(f->cluster, "t", 1, 2);
    pawl__memory_assign(f->cluster, "t", 0);
    fixture_await(f, "save 1: t:0 0>2", 1);
    pawl__memory_assign(f->cluster, "t", 1);
    fixture_await(f, "save 2: t:1 0>2", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
    assert_int_equal(fixture_count(f, "acquire"), 2);
    fixture_expect_stored(f, "t", 2, -1);
}

static void
what_is_revoked_is_released(void **state)
{
    fixture *f = *state;

    start_member(f, 2);
    pawl__memory_append(f->cluster, "t", 0, 2);
    pawl__memory_assign(f->cluster, "t", 0);
    pawl__memory_assign(f->cluster, "t", 1);
    fixture_await(f, "save 1", 1);
    pawl__memory_revoke(f->cluster, "t", 0, false);
    let_go(f);
    assert_int_equal(fixture_count(f, "close t:0"), 1);
    assert_string_equal(fixture_stored(f, "t", 0).owner.host, "");
    assert_string_not_equal(fixture_stored(f, "t", 1).owner.host, "");

    /* It comes back, and is read on from where it stood. */
    pawl__memory_append(f->cluster, "t", 0, 1);
    pawl__memory_assign(f->cluster, "t", 0);
    fixture_await(f, "save 2: t:0 2>3", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
}

/* The group takes a partition back in the middle of its range. */
static pawl_verdict
revoke_in_process(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    (void) range, (void) err;
    if (strcmp(hook, "process") == 0 && f->calls++ == 0)
        pawl__memory_revoke(f->cluster, "t", 0, false);
    return PAWL_DONE;
}

static void
a_revoked_range_is_finished_first(void **state)
{
    fixture *f = *state;

    f->answer = revoke_in_process;
    pawl__memory_append(f->cluster, "t", 0, 9);
    pawl__memory_assign(f->cluster, "t", 0);
    start_member(f, 1);
    fixture_await(f, "close t:0", 1);
    let_go(f);
    fixture_expect(f, "save release:", "save 1: t:0 0>9\nrelease: t:0\n");
    assert_int_equal(fixture_stop(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 9);
}

/* The group has changed its mind before anything was let go of: the partition is given back all the same, and taken anew. */
static pawl_verdict
revoke_and_assign_in_process(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    (void) range, (void) err;
    if (strcmp(hook, "process") == 0 && f->calls++ == 0) {
        pawl__memory_revoke(f->cluster, "t", 0, false);
        pawl__memory_assign(f->cluster, "t", 0);
    }
    return PAWL_DONE;
}

static void
what_comes_back_at_once_is_taken_over_again(void **state)
{
    fixture *f = *state;

    f->answer = revoke_and_assign_in_process;
    pawl__memory_append(f->cluster, "t", 0, 9);
    pawl__memory_assign(f->cluster, "t", 0);
    start_member(f, 1);
    fixture_await(f, "close t:0", 1);
    let_go(f);
    pawl__memory_append(f->cluster, "t", 0, 1);
    fixture_await(f, "save 2: t:0 9>10", 1);
    fixture_expect(f, "acquire save release:",
                   "acquire: t:0=0\nsave 1: t:0 0>9\nrelease: t:0\nacquire: t:0=none\nsave 2: t:0 9>10\n");
    assert_int_equal(fixture_stop(f), PAWL_OK);
}

/* The source brings nothing of t:0 any more, so that its range cannot end; that of t:1 goes on. */
static void
an_overdue_range_is_dropped(void **state)
{
    fixture *f = *state;

    fixture_set(f, "revoke_timeout", "1ms");
    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 0, 2);
    pawl__memory_append(f->cluster, "t", 1, 2);
    pawl__memory_stall(f->cluster, "t", 0, true);
    pawl__memory_assign(f->cluster, "t", 0);
    pawl__memory_assign(f->cluster, "t", 1);
    start_member(f, 2);
    assert_true(pawl__memory_await_open(f->cluster, "t", 0, fixture_deadline()));
    pawl__memory_revoke(f->cluster, "t", 0, false);
    let_go(f);
    assert_int_equal(fixture_stop(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 0);
    fixture_expect_stored(f, "t", 1, 2);
    assert_true(fixture_logged(f, "t [0] 0..2: dropped unsaved, revoke_timeout has passed"));
}

static pawl_verdict
lose_in_process(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    (void) range, (void) err;
    if (strcmp(hook, "process") == 0 && f->calls++ == 0)
        pawl__memory_revoke(f->cluster, "t", 0, true);
    return PAWL_DONE;
}

static void
what_is_lost_is_never_saved(void **state)
{
    fixture *f = *state;

    f->answer = lose_in_process;
    pawl__memory_append(f->cluster, "t", 0, 9);
    pawl__memory_assign(f->cluster, "t", 0);
    start_member(f, 1);
    fixture_await(f, "close t:0", 1);
    let_go(f);
    assert_int_equal(fixture_stop(f), PAWL_OK);
    assert_int_equal(fixture_count(f, "save 1"), 0);
    assert_int_equal(fixture_count(f, "release"), 0);
    fixture_expect_stored(f, "t", 0, 0);
}

/* Somebody takes one of two partitions in the store: the other one is saved, and the first is acquired again. */
static pawl_verdict
intrude_in_process(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    (void) range, (void) err;
    if (strcmp(hook, "process") == 0 && f->calls++ == 0)
        fixture_intrude(f, "t", 0, -1);
    return PAWL_DONE;
}

static void
being_fenced_off_from_one_is_no_end(void **state)
{
    static const char *const stores[] = {"trap", "traptx"};
    fixture *f = *state;

    for (size_t i = 0; i < G_N_ELEMENTS(stores); i++) {
        const int64_t end = 2 * (int64_t) (i + 1);

        fixture_use_store(f, stores[i]);
        fixture_forget(f);
        f->calls = 0;
        f->answer = intrude_in_process;
        pawl__memory_make_topic(f->cluster, "t", 2);
        pawl__memory_append(f->cluster, "t", 0, 2);
        pawl__memory_append(f->cluster, "t", 1, 2);
        if (i == 0) {
            pawl__memory_assign(f->cluster, "t", 0);
            pawl__memory_assign(f->cluster, "t", 1);
        }
        start_member(f, 2);
        fixture_await_log(f, "t [0] was taken over");
        fixture_await(f, i == 0 ? "save 2: t:0 0>2" : "save 4: t:0 2>4", 1);
        assert_int_equal(fixture_stop(f), PAWL_OK);
        fixture_expect_stored(f, "t", 0, end);
        fixture_expect_stored(f, "t", 1, end);
    }
}

static pawl_verdict
intrude_in_flush(fixture *f, pawl_batch *batch, pawl_error *err)
{
    (void) batch, (void) err;
    if (f->calls++ == 0) {
        fixture_intrude(f, "t", 0, -1);
        fixture_await_log(f, "t [0] was taken over");
    }
    return PAWL_DONE;
}

/* The renewal of the owner's entry finds it out. */
static void
being_fenced_off_from_one_while_flush_runs(void **state)
{
    fixture *f = *state;

    fixture_set(f, "refresh.interval", "100ms");
    f->on_flush = intrude_in_flush;
    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 0, 2);
    pawl__memory_append(f->cluster, "t", 1, 2);
    pawl__memory_assign(f->cluster, "t", 0);
    pawl__memory_assign(f->cluster, "t", 1);
    start_member(f, 2);
    fixture_await(f, "save 2: t:0 0>2", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
    fixture_expect(f, "flush", "flush 1: t:0 0..2 t:1 0..2\nflush 2: t:0 0..2\n");
    fixture_expect_stored(f, "t", 1, 2);
}

/* A member that has read two records asks for more, and is fenced off before it is answered. */
static void
fence_off_beside_a_question(fixture *f)
{
    fixture_set(f, "refresh.interval", "100ms");
    f->on_flush = fixture_silence_brokers; /* the entry is renewed while they are asked: so the member learns of it */
    pawl__memory_append(f->cluster, "t", 0, 2);
    pawl__memory_assign(f->cluster, "t", 0);
    start_member(f, 1);
    fixture_await(f, "save 0: t:0 2>2", 2);
    fixture_intrude(f, "t", 0, -1);
    fixture_await_log(f, "t [0] was taken over");
}

static void
expect_to_go_on(fixture *f, const char *save)
{
    pawl__memory_hang_calls(f->cluster, PAWL__MEMORY_BOUNDS, false);
    fixture_await(f, save, 1);
    pawl__memory_hang_calls(f->cluster, PAWL__MEMORY_BOUNDS, false);
    assert_int_equal(fixture_stop(f), PAWL_OK);
}

static void
being_fenced_off_beside_a_question_is_no_end(void **state)
{
    fixture *f = *state;

    fence_off_beside_a_question(f);
    pawl__memory_append(f->cluster, "t", 0, 1);
    expect_to_go_on(f, "save 2: t:0 2>3");
}

static void
what_is_anothers_is_not_written_down(void **state)
{
    fixture *f = *state;

    fixture_set(f, "replay", "exact");
    fence_off_beside_a_question(f);
    pawl__memory_append(f->cluster, "t", 0, 1);
    expect_to_go_on(f, "save 2: t:0 2>3");
}

static void
what_is_anothers_is_not_moved(void **state)
{
    fixture *f = *state;

    fixture_set(f, "on_data_loss", "earliest");
    fence_off_beside_a_question(f);
    pawl__memory_append(f->cluster, "t", 0, 3);
    pawl__memory_cut_start(f->cluster, "t", 0, 4);
    expect_to_go_on(f, "save 2: t:0 4>5");
    assert_int_equal(fixture_count(f, "save 0: t:0 2>4"), 1);
    assert_int_equal(f->stats.lost, 2);
}

/* What a sink holds back is flushed before a position moves past it, and by then the partition may be another's. */
static pawl_verdict
hold_then_fence_off(fixture *f, pawl_batch *batch, pawl_error *err)
{
    (void) err;
    if (++f->calls == 1) {
        pawl_range_hold(pawl_batch_range(batch, 0));
        pawl__memory_append(f->cluster, "t", 0, 3);
        pawl__memory_cut_start(f->cluster, "t", 0, 4);
    } else if (f->calls == 2) {
        fixture_intrude(f, "t", 0, -1);
        fixture_await_log(f, "t [0] was taken over");
    }
    return PAWL_DONE;
}

static void
what_becomes_anothers_before_a_move_is_not_moved(void **state)
{
    fixture *f = *state;

    fixture_set(f, "refresh.interval", "100ms");
    fixture_set(f, "on_data_loss", "earliest");
    f->on_flush = hold_then_fence_off;
    pawl__memory_append(f->cluster, "t", 0, 2);
    pawl__memory_assign(f->cluster, "t", 0);
    start_member(f, 1);
    fixture_await(f, "save 0: t:0 0>4", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
}

/* A group that fences keeps no owner's entry, and forgets no offset of its members: there is nothing to renew. */
static void
where_the_group_fences_nothing_is_renewed(void **state)
{
    fixture *f = *state;
    int asked;

    fixture_use_store(f, "trapgroup");
    fixture_set(f, "refresh.interval", "100ms");
    pawl__memory_append(f->cluster, "t", 0, 2);
    pawl__memory_assign(f->cluster, "t", 0);
    start_member(f, 1);
    fixture_await(f, "save 1: t:0 0>2", 1);
    asked = pawl__memory_calls(f->cluster, PAWL__MEMORY_BOUNDS);
    for (int64_t until_ms = pawl__clock_ms() + 300; pawl__clock_ms() < until_ms; asked++) /* idle, it goes on asking */
        assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_BOUNDS, asked + 1, fixture_deadline()));
    assert_int_equal(fixture_count(f, "save 0"), 0);
    assert_int_equal(fixture_stop(f), PAWL_OK);
}

/* A member to which nothing is assigned waits; one that has drained what is assigned to it ends. */
static void
available_now_waits_for_the_group(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_set(f, "members", "group");
    fixture_start(f);
    assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_DISCOVER, 1, fixture_deadline()));
    pawl__memory_assign(f->cluster, "t", 0);
    assert_int_equal(fixture_join(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 2);
}

/* start = latest goes for what is there when the job starts. A partition that comes later is read from its beginning. */
static void
a_new_partition_is_read_from_its_beginning(void **state)
{
    fixture *f = *state;

    fixture_set(f, "start", "latest");
    pawl__memory_append(f->cluster, "t", 0, 3);
    start_member(f, 1);
    pawl__memory_assign(f->cluster, "t", 0);
    fixture_await(f, "acquire", 1);
    fixture_expect_stored(f, "t", 0, 3);
    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 1, 5);
    pawl__memory_assign(f->cluster, "t", 1);
    fixture_await(f, "save 1: t:1 0>5", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
}

/* What is stored was imported while no job ran: nobody owns it, and no batch was saved. */
static void
a_partition_beside_imported_offsets_is_read_from_its_beginning(void **state)
{
    fixture *f = *state;

    fixture_set(f, "start", "latest");
    fixture_import(f, "t", 0, 0);
    pawl__memory_append(f->cluster, "t", 0, 3);
    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 1, 5);
    start_member(f, 2);
    pawl__memory_assign(f->cluster, "t", 1);
    fixture_await(f, "save 1: t:1 0>5", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
}

/* Its batches are remembered when its offsets are not. */
static void
a_topic_that_was_forgotten_starts_as_the_setting_says(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 3);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_remove(f, "t", 0);
    fixture_set(f, "start", "latest");
    start_member(f, 1);
    pawl__memory_assign(f->cluster, "t", 0);
    fixture_await(f, "acquire", 2);
    fixture_expect_stored(f, "t", 0, 3);
    assert_int_equal(fixture_stop(f), PAWL_OK);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        fixture_test(what_is_assigned_is_taken_over),
        fixture_test(what_is_revoked_is_released),
        fixture_test(a_revoked_range_is_finished_first),
        fixture_test(what_comes_back_at_once_is_taken_over_again),
        fixture_test(an_overdue_range_is_dropped),
        fixture_test(what_is_lost_is_never_saved),
        fixture_test(being_fenced_off_from_one_is_no_end),
        fixture_test(being_fenced_off_from_one_while_flush_runs),
        fixture_test(being_fenced_off_beside_a_question_is_no_end),
        fixture_test(what_is_anothers_is_not_written_down),
        fixture_test(what_is_anothers_is_not_moved),
        fixture_test(what_becomes_anothers_before_a_move_is_not_moved),
        fixture_test(where_the_group_fences_nothing_is_renewed),
        fixture_test(available_now_waits_for_the_group),
        fixture_test(a_new_partition_is_read_from_its_beginning),
        fixture_test(a_partition_beside_imported_offsets_is_read_from_its_beginning),
        fixture_test(a_topic_that_was_forgotten_starts_as_the_setting_says),
    };

    return cmocka_run_group_tests_name("job_group", tests, NULL, NULL);
}
