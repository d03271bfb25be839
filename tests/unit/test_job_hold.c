/*
 * test_job_hold.c - sinks that gather several batches before they write
 */
#include "tests/support/job_fixture.h"

#include <string.h>

/* Holds everything, as long as it may. */
static pawl_verdict
hold_all(fixture *f, pawl_batch *batch, pawl_error *err)
{
    (void) f;
    (void) err;
    for (size_t i = 0; i < pawl_batch_count(batch) && !pawl_batch_must_flush(batch); i++)
        pawl_range_hold(pawl_batch_range(batch, i));
    return PAWL_DONE;
}

static void
what_is_held_is_saved_at_the_end(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 10);
    fixture_set(f, "max_offsets_per_batch", "4");
    f->on_flush = hold_all;
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "flush save",
                   "flush 1: t:0 0..4\n"
                   "flush 2: t:0 4..8\n"
                   "flush 3: t:0 8..10\n"
                   "flush 4: t:0 0..10\n"
                   "save 4: t:0 0>10\n");
    assert_int_equal(fixture_count(f, "process"), 5);
    assert_int_equal(f->stats.records, 10);
    assert_int_equal(f->stats.batches, 4);
    assert_int_equal(f->stats.ranges, 3);
}

/* A job that is stopped lets its sink write what it gathered. */
static void
what_is_held_is_saved_at_a_stop(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 4);
    fixture_set(f, "trigger", "continuous");
    f->on_flush = hold_all;
    fixture_start(f);
    fixture_await(f, "flush 1", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
    fixture_expect(f, "save", "save 2: t:0 0>4\n");
}

static pawl_verdict
hold_the_first(fixture *f, pawl_batch *batch, pawl_error *err)
{
    (void) f;
    (void) err;
    if (pawl_batch_number(batch) == 1)
        pawl_range_hold(pawl_batch_range(batch, 0));
    return PAWL_DONE;
}

static void
the_next_save_covers_what_was_held(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 0, 8);
    pawl__memory_append(f->cluster, "t", 1, 4);
    fixture_set(f, "max_offsets_per_partition", "4");
    f->on_flush = hold_the_first;
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "flush save",
                   "flush 1: t:0 0..4 t:1 0..4\n"
                   "save 1: t:1 0>4\n"
                   "flush 2: t:0 4..8\n"
                   "save 2: t:0 0>8\n");
}

/* A partition that has no range of its own is in the batch all the same while something of it is held. */
static void
a_held_partition_is_flushed_with_others(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 0, 4);
    pawl__memory_append(f->cluster, "t", 1, 8);
    fixture_set(f, "max_offsets_per_partition", "4");
    f->on_flush = hold_the_first;
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "flush save process",
                   "process t:0 0..4 #1: 0 1 2\n"
                   "process t:1 0..4 #1: 0 1 2\n"
                   "process t:0 0..4 #1: 3\n"
                   "process t:1 0..4 #1: 3\n"
                   "flush 1: t:0 0..4 t:1 0..4\n"
                   "save 1: t:1 0>4\n"
                   "process t:1 4..8 #1: 4 5 6\n"
                   "process t:1 4..8 #1: 7\n"
                   "flush 2: t:0 0..4 t:1 4..8\n"
                   "save 2: t:0 0>4 t:1 4>8\n");
}

static void
holding_has_a_limit(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 6);
    fixture_set(f, "max_offsets_per_batch", "1");
    fixture_set(f, "max_held_batches", "2");
    f->on_flush = hold_all;
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "save", "save 3: t:0 0>3\nsave 6: t:0 3>6\n");
}

static pawl_verdict
hold_for_ever(fixture *f, pawl_batch *batch, pawl_error *err)
{
    (void) f;
    (void) err;
    pawl_range_hold(pawl_batch_range(batch, 0));
    return PAWL_DONE;
}

static void
who_holds_beyond_the_limit_fails(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 6);
    f->on_flush = hold_for_ever;
    assert_int_equal(fixture_run(f), PAWL_FAILED);
    assert_non_null(strstr(f->err.message, "pawl_batch_must_flush()"));
    fixture_expect_stored(f, "t", 0, 0);
}

/* ------------------------------------------------------------------------------------------------------ saved_to -- */

static pawl_verdict
save_in_part(fixture *f, pawl_batch *batch, pawl_error *err)
{
    pawl_range *range = pawl_batch_range(batch, 0);

    (void) f;
    assert_int_equal(pawl_range_saved_to(range, pawl_range_until(range) + 1, NULL), PAWL_INVALID);
    assert_int_equal(pawl_range_saved_to(range, pawl_range_from(range) - 1, NULL), PAWL_INVALID);
    if (pawl_batch_must_flush(batch))
        return PAWL_DONE;
    return pawl_range_saved_to(range, pawl_range_until(range) - 1, err) == PAWL_OK ? PAWL_DONE : PAWL_STOP;
}

static void
a_range_may_be_safe_in_part(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 8);
    fixture_set(f, "max_offsets_per_batch", "4");
    f->on_flush = save_in_part;
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "flush save",
                   "flush 1: t:0 0..4\n"
                   "save 1: t:0 0>3\n"
                   "flush 2: t:0 4..8\n"
                   "save 2: t:0 3>7\n"
                   "flush 3: t:0 7..8\n"
                   "save 3: t:0 7>8\n");
}

/* What a flush said that then failed counts no more. */
static pawl_verdict
hold_and_retry(fixture *f, pawl_batch *batch, pawl_error *err)
{
    (void) err;
    if (f->calls++ > 0)
        return PAWL_DONE;
    pawl_range_hold(pawl_batch_range(batch, 0));
    return PAWL_RETRY;
}

static void
a_failed_flush_holds_nothing(void **state)
{
    static const char *const stores[] = {"trap", "traptx"};
    fixture *f = *state;

    for (size_t i = 0; i < G_N_ELEMENTS(stores); i++) {
        pawl__memory_append(f->cluster, "t", 0, 8);
        fixture_use_store(f, stores[i]);
        f->on_flush = hold_and_retry;
        f->calls = 0;
        assert_int_equal(fixture_run(f), PAWL_OK);
    }
    fixture_expect(f, "save", "save 1: t:0 0>8\nsave 2: t:0 8>16\n");
}

static void
a_transaction_without_a_line_is_rolled_back(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 8);
    fixture_use_store(f, "traptx");
    fixture_set(f, "trigger", "continuous");
    f->on_flush = hold_all;
    fixture_start(f);
    fixture_await(f, "rollback", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
    fixture_expect(f, "transaction flush rollback save",
                   "transaction\nflush 1: t:0 0..8\nrollback\ntransaction\nflush 2: t:0 0..8\nsave 2: t:0 0>8\n");
}

/* -------------------------------------------------------------------------------------- what is held is not passed over -- */

static pawl_verdict
refuse_the_second(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    (void) f;
    (void) err;
    return strcmp(hook, "process") == 0 && pawl_range_from(range) == 4 ? PAWL_RETRY : PAWL_DONE;
}

static pawl_verdict
hold_and_fail_at_the_end(fixture *f, pawl_batch *batch, pawl_error *err)
{
    if (pawl_batch_must_flush(batch))
        return PAWL_STOP;
    return hold_all(f, batch, err);
}

/* A range that is skipped must not save the records before it, which the sink still holds. */
static void
a_skipped_range_does_not_save_what_is_held_before_it(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 8);
    fixture_set(f, "max_offsets_per_batch", "4");
    fixture_set(f, "max_retries", "0");
    fixture_set(f, "on_error", "skip");
    f->answer = refuse_the_second;
    f->on_flush = hold_and_fail_at_the_end;
    assert_int_equal(fixture_run(f), PAWL_FAILED);
    fixture_expect_stored(f, "t", 0, 0);
    fixture_forget(f);
    f->on_flush = hold_all;
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "flush save", "flush 1: t:0 0..4\nflush 2: t:0 4..8\nflush 3: t:0 0..8\nsave 3: t:0 0>8\n");
    assert_int_equal(f->stats.skipped, 4);
}

static pawl_verdict
hold_and_cut(fixture *f, pawl_batch *batch, pawl_error *err)
{
    if (pawl_batch_number(batch) == 1)
        pawl__memory_cut_start(f->cluster, "t", 0, 6);
    return hold_and_fail_at_the_end(f, batch, err);
}

/* Neither does a move by on_data_loss: the sink has to let go first. */
static void
a_loss_does_not_save_what_is_held_before_it(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 8);
    fixture_set(f, "max_offsets_per_batch", "4");
    fixture_set(f, "on_data_loss", "earliest");
    f->on_flush = hold_and_cut;
    assert_int_equal(fixture_run(f), PAWL_FAILED);
    fixture_expect_stored(f, "t", 0, 0);
    assert_int_equal(f->stats.lost, 0);
}

static pawl_verdict
hold_the_first_and_lose_the_second(fixture *f, pawl_batch *batch, pawl_error *err)
{
    if (pawl_batch_number(batch) == 1)
        pawl__memory_fail_ranges(f->cluster, "t", 0, 1, PAWL_DATA_LOSS, 0);
    return hold_the_first(f, batch, err);
}

/* While a range cannot be read, what is held of its partition is in the batch all the same. */
static void
what_is_held_takes_the_place_of_a_lost_range(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 0, 8);
    pawl__memory_append(f->cluster, "t", 1, 8);
    fixture_set(f, "max_offsets_per_partition", "4");
    f->on_flush = hold_the_first_and_lose_the_second;
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "flush save",
                   "flush 1: t:0 0..4 t:1 0..4\n"
                   "save 1: t:1 0>4\n"
                   "flush 2: t:0 0..4 t:1 4..8\n"
                   "save 2: t:0 0>4 t:1 4>8\n"
                   "flush 3: t:0 4..8\n"
                   "save 3: t:0 4>8\n");
    assert_int_equal(f->stats.batches, 3);
    assert_int_equal(f->stats.ranges, 4);
    assert_int_equal(f->stats.records, 16);
}

static pawl_verdict
hold_and_lose_the_rest(fixture *f, pawl_batch *batch, pawl_error *err)
{
    if (pawl_batch_number(batch) == 1)
        pawl__memory_cut_start(f->cluster, "t", 0, 6);
    return hold_all(f, batch, err);
}

static void
a_stop_while_a_loss_is_confirmed_saves_what_is_held(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 8);
    fixture_set(f, "max_offsets_per_batch", "4");
    fixture_set(f, "on_data_loss", "earliest");
    fixture_set(f, "trigger", "continuous");
    f->on_flush = hold_and_lose_the_rest;
    fixture_start(f);
    /* Asked where to start, asked for the batch; then a look that finds the loss, and one that is not believed yet. */
    assert_true(pawl__memory_await_calls(f->cluster, PAWL__MEMORY_BOUNDS, 4, fixture_deadline()));
    assert_int_equal(fixture_stop(f), PAWL_OK);
    fixture_expect(f, "save", "save 2: t:0 0>4\n");
    assert_int_equal(f->stats.lost, 0);
}

static pawl_verdict
hold_and_make_anew(fixture *f, pawl_batch *batch, pawl_error *err)
{
    if (pawl_batch_number(batch) == 2)
        pawl__memory_cut_end(f->cluster, "t", 0, 0);
    return hold_all(f, batch, err);
}

/* A log that was made anew moves a position below what is stored: what is held is flushed, and the move is saved. */
static void
what_is_held_is_flushed_before_a_move_backwards(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 8);
    fixture_set(f, "max_offsets_per_batch", "4");
    fixture_set(f, "on_data_loss", "earliest");
    f->on_flush = hold_and_make_anew;
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 0);
    assert_int_equal(fixture_count(f, "save 3: t:0 0>8"), 1);
}

/* The ranges that are promised again would be others. */
static void
exact_replay_refuses_a_sink_that_holds(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 4);
    fixture_set(f, "replay", "exact");
    f->on_flush = hold_all;
    assert_int_equal(fixture_run(f), PAWL_UNSUPPORTED);
    fixture_expect_stored(f, "t", 0, 0);
}

/* The owner's entry is renewed also while batches are held. */
static void
holding_does_not_put_off_the_renewal(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_set(f, "trigger", "20ms");
    fixture_set(f, "max_offsets_per_batch", "1");
    fixture_set(f, "refresh.interval", "100ms");
    f->on_flush = hold_all;
    pawl__memory_append(f->cluster, "t", 0, 1000);
    fixture_start(f);
    fixture_await(f, "save 0: t:0 0>0", 2);
    assert_int_equal(fixture_stop(f), PAWL_OK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(what_is_held_is_saved_at_the_end),
        fixture_test(what_is_held_is_saved_at_a_stop),
        fixture_test(the_next_save_covers_what_was_held),
        fixture_test(a_held_partition_is_flushed_with_others),
        fixture_test(holding_has_a_limit),
        fixture_test(who_holds_beyond_the_limit_fails),
        fixture_test(a_range_may_be_safe_in_part),
        fixture_test(a_failed_flush_holds_nothing),
        fixture_test(a_transaction_without_a_line_is_rolled_back),
        fixture_test(a_skipped_range_does_not_save_what_is_held_before_it),
        fixture_test(a_loss_does_not_save_what_is_held_before_it),
        fixture_test(what_is_held_takes_the_place_of_a_lost_range),
        fixture_test(a_stop_while_a_loss_is_confirmed_saves_what_is_held),
        fixture_test(what_is_held_is_flushed_before_a_move_backwards),
        fixture_test(exact_replay_refuses_a_sink_that_holds),
        fixture_test(holding_does_not_put_off_the_renewal),
    };

    return cmocka_run_group_tests_name("job: holding back", tests, NULL, NULL);
}
