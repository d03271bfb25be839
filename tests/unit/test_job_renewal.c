/*
 * test_job_renewal.c - the owner's entry is renewed, whatever the job is doing
 */
#include "tests/support/job_fixture.h"

static void
an_idle_job_is_fenced_off_by_its_refresh(void **state)
{
    fixture *f = *state;

    fixture_set(f, "trigger", "continuous");
    fixture_set(f, "refresh.interval", "100ms");
    fixture_start(f);
    fixture_await(f, "save 0: t:0 0>0", 2);
    fixture_intrude(f, "t", 0, -1);
    assert_int_equal(fixture_join(f), PAWL_FENCED);
}

/* A batch may take longer than anybody waits for the owner to renew its entry. */
static void
the_owner_is_renewed_while_a_batch_runs(void **state)
{
    static const char *const stores[] = {"trap", "traptx"};
    fixture *f = *state;

    fixture_set(f, "refresh.interval", "100ms");
    pawl__memory_make_topic(f->cluster, "t", 2);
    for (size_t i = 0; i < G_N_ELEMENTS(stores); i++) {
        pawl__memory_append(f->cluster, "t", 0, 2);
        pawl__memory_stall(f->cluster, "t", 0, true);
        fixture_use_store(f, stores[i]);
        fixture_forget(f);
        fixture_start(f);
        fixture_await(f, "save 0", 2);
        pawl__memory_stall(f->cluster, "t", 0, false);
        assert_int_equal(fixture_join(f), PAWL_OK);
        fixture_expect_stored(f, "t", 0, 2 * (int64_t) (i + 1));
    }
}

/* There is more to read of t:0 as soon as a batch is saved. */
static pawl_verdict
append_more(fixture *f, pawl_batch *batch, pawl_error *err)
{
    (void) batch, (void) err;
    pawl__memory_append(f->cluster, "t", 0, 1);
    return PAWL_DONE;
}

static void
a_quiet_partition_of_a_busy_job_is_renewed(void **state)
{
    static const char *const stores[] = {"trap", "traptx"};
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 0, 1);
    fixture_set(f, "trigger", "continuous");
    fixture_set(f, "refresh.interval", "100ms");
    f->on_flush = append_more;
    for (size_t i = 0; i < G_N_ELEMENTS(stores); i++) {
        fixture_use_store(f, stores[i]);
        fixture_forget(f);
        fixture_start(f);
        fixture_await(f, "save 0: t:1 0>0", 2);
        assert_int_equal(fixture_stop(f), PAWL_OK);
    }
}

/* While nothing is read all are due at different times, and are renewed together all the same. */
static void
partitions_that_were_saved_apart_are_renewed_together(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 0, 1);
    pawl__memory_append(f->cluster, "t", 1, 1);
    fixture_set(f, "trigger", "continuous");
    fixture_set(f, "max_offsets_per_batch", "1");
    fixture_set(f, "refresh.interval", "1s");
    fixture_start(f);
    fixture_await(f, "save 0: t:0 1>1 t:1 1>1", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
    assert_int_equal(fixture_count(f, "save 0"), 1);
}

static pawl_verdict
flush_until_renewed(fixture *f, pawl_batch *batch, pawl_error *err)
{
    (void) batch, (void) err;
    fixture_await(f, "save 0", 1);
    return PAWL_DONE;
}

static void
the_owner_is_renewed_while_flush_runs(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_set(f, "refresh.interval", "100ms");
    f->on_flush = flush_until_renewed;
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 2);
}

static pawl_verdict
try_later(fixture *f, pawl_batch *batch, pawl_error *err)
{
    (void) f, (void) batch, (void) err;
    return PAWL_RETRY;
}

static void
the_owner_is_renewed_between_two_flushes(void **state)
{
    static const char *const stores[] = {"trap", "traptx"};
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_set(f, "refresh.interval", "100ms");
    fixture_set(f, "retry_backoff", "1h");
    f->on_flush = try_later;
    for (size_t i = 0; i < G_N_ELEMENTS(stores); i++) {
        fixture_use_store(f, stores[i]);
        fixture_forget(f);
        fixture_start(f);
        fixture_await(f, "save 0", 2);
        pawl_job_stop(f->job);
        assert_int_equal(fixture_stop(f), PAWL_CANCELLED);
    }
}

static pawl_verdict
fence_off_and_try_later(fixture *f, pawl_batch *batch, pawl_error *err)
{
    fixture_intrude(f, "t", 0, -1);
    return try_later(f, batch, err);
}

/* Who finds out while it waits that it is fenced off does not flush again. */
static void
a_flush_is_not_repeated_by_who_is_fenced_off(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_set(f, "refresh.interval", "100ms");
    fixture_set(f, "retry_backoff", "500ms");
    f->on_flush = fence_off_and_try_later;
    assert_int_equal(fixture_run(f), PAWL_FENCED);
    assert_int_equal(fixture_count(f, "flush"), 1);
}

static void
the_owner_is_renewed_while_the_brokers_are_silent(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_set(f, "trigger", "continuous");
    fixture_set(f, "refresh.interval", "100ms");
    f->on_flush = fixture_silence_brokers;
    fixture_start(f);
    fixture_await(f, "save 0: t:0 2>2", 2);
    pawl_job_stop(f->job);
    assert_int_equal(fixture_stop(f), PAWL_CANCELLED);
}

/* The renewal of the owner's entry is a save, and a save clears what is planned: that is planned again. */
static void
the_refresh_keeps_what_is_planned(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 6);
    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_stall(f->cluster, "t", 0, true);
    fixture_set(f, "replay", "exact");
    fixture_set(f, "refresh.interval", "100ms");
    fixture_start(f);
    fixture_await(f, "save 0: t:1 0>0", 2); /* of the other partition */
    fixture_await(f, "plan: t:0", 3);
    assert_int_equal(fixture_stored(f, "t", 0).pending.offset, 6);
    pawl__memory_stall(f->cluster, "t", 0, false);
    assert_int_equal(fixture_join(f), PAWL_OK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(an_idle_job_is_fenced_off_by_its_refresh),
        fixture_test(the_owner_is_renewed_while_a_batch_runs),
        fixture_test(a_quiet_partition_of_a_busy_job_is_renewed),
        fixture_test(partitions_that_were_saved_apart_are_renewed_together),
        fixture_test(the_owner_is_renewed_while_flush_runs),
        fixture_test(the_owner_is_renewed_between_two_flushes),
        fixture_test(a_flush_is_not_repeated_by_who_is_fenced_off),
        fixture_test(the_owner_is_renewed_while_the_brokers_are_silent),
        fixture_test(the_refresh_keeps_what_is_planned),
    };

    return cmocka_run_group_tests_name("job: renewals", tests, NULL, NULL);
}
