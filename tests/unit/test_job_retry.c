/*
 * test_job_retry.c - what hooks and the source ask to be tried again, and
 * threads
 */
#include "tests/support/job_fixture.h"

#include <string.h>

#include "util/clock.h"

/* Says no to one hook of partition 0, `calls` times. */
typedef struct refusal {
    const char *hook;
    pawl_verdict verdict;
} refusal;

static refusal refusal_now;

static pawl_verdict
refuse(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    if (range == NULL || strcmp(hook, refusal_now.hook) != 0 || pawl_range_partition(range) != 0 || f->calls == 0)
        return PAWL_DONE;
    f->calls--;
    pawl_error_set(err, PAWL_UNREACHABLE, 0, 0, "not now");
    return refusal_now.verdict;
}

static void
set_refusal(fixture *f, const char *hook, pawl_verdict verdict, int times)
{
    refusal_now = (refusal){hook, verdict};
    f->calls = times;
    f->answer = refuse;
}

/* ---------------------------------------------------------------------------------------------------------
 * ranges -- */

static void
a_range_is_tried_again_from_its_start(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 4);
    set_refusal(f, "end", PAWL_RETRY, 2);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "begin process end flush save",
                   "begin t:0 0..4 #1\n"
                   "process t:0 0..4 #1: 0 1 2\n"
                   "process t:0 0..4 #1: 3\n"
                   "end t:0 0..4 #1\n"
                   "begin t:0 0..4 #2\n"
                   "process t:0 0..4 #2: 0 1 2\n"
                   "process t:0 0..4 #2: 3\n"
                   "end t:0 0..4 #2\n"
                   "begin t:0 0..4 #3\n"
                   "process t:0 0..4 #3: 0 1 2\n"
                   "process t:0 0..4 #3: 3\n"
                   "end t:0 0..4 #3\n"
                   "flush 1: t:0 0..4\n"
                   "save 1: t:0 0>4\n");
    assert_int_equal(f->stats.retries, 2);
    assert_int_equal(f->stats.records, 4);
    assert_true(fixture_logged(f, "t [0] 0..4: attempt 1 failed, next in 1ms: range_end: not now"));
}

static void
each_hook_of_a_range_may_ask(void **state)
{
    static const char *const hooks[] = {"begin", "process", "end"};
    fixture *f = *state;

    for (size_t i = 0; i < G_N_ELEMENTS(hooks); i++) {
        pawl__memory_append(f->cluster, "t", 0, 4);
        set_refusal(f, hooks[i], PAWL_RETRY, 1);
        assert_int_equal(fixture_run(f), PAWL_OK);
        assert_int_equal(f->stats.retries, 1);
        fixture_expect_stored(f, "t", 0, 4 * (int64_t) (i + 1));
    }
}

static void
retries_come_to_an_end(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 0, 2);
    pawl__memory_append(f->cluster, "t", 1, 2);
    fixture_set(f, "max_retries", "2");
    set_refusal(f, "process", PAWL_RETRY, 100);
    assert_int_equal(fixture_run(f), PAWL_UNREACHABLE);
    assert_string_equal(f->err.message, "t [0] 0..2, attempt 3: process: not now");
    assert_int_equal(fixture_count(f, "begin t:0"), 3);
    fixture_expect(f, "flush save", "");
    fixture_expect_stored(f, "t", 0, 0);
    fixture_expect_stored(f, "t", 1, 0);
}

static void
no_retries_is_none(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_set(f, "max_retries", "0");
    set_refusal(f, "process", PAWL_RETRY, 1);
    assert_int_equal(fixture_run(f), PAWL_UNREACHABLE);
    assert_int_equal(fixture_count(f, "begin"), 1);
}

static void
a_range_may_be_skipped(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 0, 5);
    pawl__memory_append(f->cluster, "t", 1, 2);
    fixture_set(f, "max_retries", "1");
    fixture_set(f, "on_error", "skip");
    set_refusal(f, "process", PAWL_RETRY, 2);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "flush save", "flush 1: t:1 0..2\nsave 1: t:0 0>5 t:1 0>2\n");
    assert_int_equal(f->stats.skipped, 5);
    assert_int_equal(f->stats.records, 2);
    assert_true(fixture_logged(f, "t [0] 0..5: skipped after 2 attempts (on_error = skip): process: not now"));
    assert_true(fixture_logged(f, "left out: offsets skipped 5 (on_error = skip)"));
    pawl__memory_append(f->cluster, "t", 0, 1); /* the source goes on behind what was skipped */
    fixture_forget(f);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "process", "process t:0 5..6 #1: 5\n");
}

static void
a_batch_of_skipped_ranges_is_not_flushed(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 5);
    fixture_set(f, "max_retries", "0");
    fixture_set(f, "on_error", "skip");
    fixture_set(f, "max_offsets_per_batch", "3");
    set_refusal(f, "process", PAWL_RETRY, 1);
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "flush save", "save 1: t:0 0>3\nflush 2: t:0 3..5\nsave 2: t:0 3>5\n");
}

static void
stop_saves_nothing(void **state)
{
    static const char *const hooks[] = {"begin", "process", "end"};
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_append(f->cluster, "t", 0, 2);
    pawl__memory_append(f->cluster, "t", 1, 2);
    fixture_set(f, "on_error", "skip");
    for (size_t i = 0; i < G_N_ELEMENTS(hooks); i++) {
        set_refusal(f, hooks[i], PAWL_STOP, 1);
        assert_int_equal(fixture_run(f), PAWL_UNREACHABLE);
        assert_non_null(strstr(f->err.message, "not now"));
        assert_int_equal(fixture_count(f, "begin t:0"), i + 1);
    }
    fixture_expect(f, "flush save", "");
    fixture_expect_stored(f, "t", 0, 0);
    fixture_expect_stored(f, "t", 1, 0);
}

static pawl_verdict
cancel_from_inside(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    (void) range;
    if (strcmp(hook, "process") != 0)
        return PAWL_DONE;
    pawl_job_stop(f->job);
    pawl_error_set(err, PAWL_CANCELLED, 0, 0, "the user's own");
    return PAWL_STOP;
}

/* A hook's own PAWL_CANCELLED is not taken for a stop that was obeyed. */
static void
a_cancelled_hook_is_a_failure(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    f->answer = cancel_from_inside;
    assert_int_equal(fixture_run(f), PAWL_CANCELLED);
    assert_non_null(strstr(f->err.message, "the user's own"));
    fixture_expect_stored(f, "t", 0, 0);
}

static void
the_source_is_tried_again(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 5);
    pawl__memory_fail_ranges(f->cluster, "t", 0, 2, PAWL_FAILED, PAWL_ERROR_RETRIABLE);
    assert_int_equal(fixture_run(f), PAWL_OK);
    assert_int_equal(fixture_count(f, "begin"), 3);
    fixture_expect_stored(f, "t", 0, 5);
    pawl__memory_append(f->cluster, "t", 0, 5);
    pawl__memory_fail_ranges(f->cluster, "t", 0, 1, PAWL_FAILED, 0);
    assert_int_equal(fixture_run(f), PAWL_FAILED);
    fixture_expect_stored(f, "t", 0, 5);
}

/* Nobody is delayed by the back-off of another range. */
static void
other_ranges_go_on_meanwhile(void **state)
{
    fixture *f = *state;
    const char *last = NULL;

    pawl__memory_make_topic(f->cluster, "t", 3);
    for (int p = 0; p < 3; p++)
        pawl__memory_append(f->cluster, "t", p, 2);
    fixture_set(f, "retry_backoff", "200ms");
    set_refusal(f, "begin", PAWL_RETRY, 1);
    assert_int_equal(fixture_run(f), PAWL_OK);
    assert_int_equal(fixture_count(f, "end"), 3);
    for (guint k = 0; k < f->events->len; k++)
        if (g_str_has_prefix(g_ptr_array_index(f->events, k), "end"))
            last = g_ptr_array_index(f->events, k);
    assert_string_equal(last, "end t:0 0..2 #2");
}

/* ----------------------------------------------------------------------------------------------------------
 * flush -- */

static pawl_verdict
refuse_flush(fixture *f, pawl_batch *batch, pawl_error *err)
{
    (void) batch;
    if (f->calls == 0)
        return PAWL_DONE;
    f->calls--;
    pawl_error_set(err, PAWL_TIMEOUT, 0, 0, "disk full");
    return refusal_now.verdict;
}

static void
flush_is_tried_again(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    refusal_now.verdict = PAWL_RETRY;
    f->calls = 2;
    f->on_flush = refuse_flush;
    assert_int_equal(fixture_run(f), PAWL_OK);
    assert_int_equal(fixture_count(f, "process"), 1);
    assert_int_equal(fixture_count(f, "flush 1: t:0 0..2"), 3);
    assert_int_equal(f->stats.retries, 2);
    fixture_expect_stored(f, "t", 0, 2);
}

static void
flush_is_not_tried_for_ever(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    refusal_now.verdict = PAWL_RETRY;
    f->calls = 100;
    f->on_flush = refuse_flush;
    assert_int_equal(fixture_run(f), PAWL_TIMEOUT);
    assert_string_equal(f->err.message, "batch 1: flush: disk full");
    assert_int_equal(fixture_count(f, "flush"), 4);
    fixture_expect_stored(f, "t", 0, 0);
}

static void
flush_may_stop(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    refusal_now.verdict = PAWL_STOP;
    f->calls = 1;
    f->on_flush = refuse_flush;
    assert_int_equal(fixture_run(f), PAWL_TIMEOUT);
    assert_int_equal(fixture_count(f, "flush"), 1);
    fixture_expect_stored(f, "t", 0, 0);
}

static pawl_verdict
look_at_the_transaction(fixture *f, pawl_batch *batch, pawl_error *err)
{
    void *handle = NULL;

    (void) f;
    assert_int_equal(pawl_batch_transaction(batch, "sqlite", &handle, NULL), PAWL_UNSUPPORTED);
    if (pawl_batch_transaction(batch, "traptx", &handle, err) != PAWL_OK)
        return PAWL_STOP;
    assert_string_equal(handle, "transaction");
    return PAWL_DONE;
}

static void
results_go_into_the_transaction(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_use_store(f, "traptx");
    f->on_flush = look_at_the_transaction;
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "transaction flush save rollback", "transaction\nflush 1: t:0 0..2\nsave 1: t:0 0>2\n");
    fixture_use_store(f, "trap");
    pawl__memory_append(f->cluster, "t", 0, 2);
    assert_int_equal(fixture_run(f), PAWL_UNSUPPORTED);
}

/* The results are gone with the transaction: flush has to write them again. */
static void
a_lost_transaction_is_flushed_again(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_use_store(f, "traptx");
    trap_store_fail(TRAP_SAVE, 2, PAWL_FAILED, PAWL_ERROR_RETRIABLE);
    assert_int_equal(fixture_run(f), PAWL_OK);
    assert_int_equal(fixture_count(f, "transaction"), 3);
    assert_int_equal(fixture_count(f, "flush"), 3);
    fixture_expect(f, "save", "save 1: t:0 0>2\n");
}

static void
a_flush_that_fails_rolls_back(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 2);
    fixture_use_store(f, "traptx");
    refusal_now.verdict = PAWL_RETRY;
    f->calls = 1;
    f->on_flush = refuse_flush;
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "transaction flush save rollback",
                   "transaction\nflush 1: t:0 0..2\nrollback\ntransaction\nflush "
                   "1: t:0 0..2\nsave 1: t:0 0>2\n");
}

/* --------------------------------------------------------------------------------------------------------
 * threads -- */

static void
run_on_threads(fixture *f, const char *threads, const char *open_ranges)
{
    enum { PARTITIONS = 24 };

    pawl__memory_make_topic(f->cluster, "t", PARTITIONS);
    for (int p = 0; p < PARTITIONS; p++)
        pawl__memory_append(f->cluster, "t", p, 1 + p * 5 % 17);
    fixture_set(f, "parallelism", threads);
    fixture_set(f, "open_ranges", open_ranges);
    fixture_set(f, "max_offsets_per_partition", "7");
    assert_int_equal(fixture_run(f), PAWL_OK);
    for (int p = 0; p < PARTITIONS; p++)
        fixture_expect_stored(f, "t", p, 1 + p * 5 % 17);
    assert_int_equal(f->stats.batches, 3);
}

static void
one_thread(void **state)
{
    fixture *f = *state;

    run_on_threads(f, "1", "0");
    assert_int_equal(pawl__memory_most_open(f->cluster), 24);
    fixture_expect(f, "init exit", "init\nexit\n");
}

static void
four_threads(void **state)
{
    fixture *f = *state;

    run_on_threads(f, "4", "0");
    fixture_expect(f, "init exit", "init\ninit\ninit\ninit\nexit\nexit\nexit\nexit\n");
}

static void
open_ranges_limit_one_thread(void **state)
{
    fixture *f = *state;

    run_on_threads(f, "1", "3");
    assert_int_equal(pawl__memory_most_open(f->cluster), 3);
}

static void
open_ranges_limit_all_threads_together(void **state)
{
    static const char *const limits[] = {"1", "2", "5", "7"};
    fixture *f = *state;

    for (size_t i = 0; i < G_N_ELEMENTS(limits); i++) {
        char topic[2] = {(char) ('a' + i), '\0'};

        pawl__memory_make_topic(f->cluster, topic, 12);
        for (int p = 0; p < 12; p++)
            pawl__memory_append(f->cluster, topic, p, 5);
        fixture_set(f, "topics", topic);
        fixture_set(f, "parallelism", "4");
        fixture_set(f, "open_ranges", limits[i]);
        assert_int_equal(fixture_run(f), PAWL_OK);
        assert_true(pawl__memory_most_open(f->cluster) <= atoi(limits[i]));
        for (int p = 0; p < 12; p++)
            fixture_expect_stored(f, topic, p, 5);
    }
}

static void
retries_on_threads(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 8);
    for (int p = 0; p < 8; p++)
        pawl__memory_append(f->cluster, "t", p, 20);
    pawl__memory_fail_ranges(f->cluster, "t", 3, 2, PAWL_FAILED, PAWL_ERROR_RETRIABLE);
    pawl__memory_fail_ranges(f->cluster, "t", 5, 3, PAWL_FAILED, PAWL_ERROR_RETRIABLE);
    fixture_set(f, "parallelism", "4");
    fixture_set(f, "max_offsets_per_batch", "60");
    assert_int_equal(fixture_run(f), PAWL_OK);
    for (int p = 0; p < 8; p++)
        fixture_expect_stored(f, "t", p, 20);
    assert_int_equal(f->stats.retries, 5);
}

static pawl_verdict
refuse_init(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    bool second;

    (void) range;
    if (strcmp(hook, "init") != 0)
        return PAWL_DONE;
    pawl__wait_lock(&f->wait);
    second = ++f->calls == 2;
    pawl__wait_unlock(&f->wait);
    if (!second)
        return PAWL_DONE;
    pawl_error_set(err, PAWL_UNREACHABLE, 0, 0, "no connection");
    return PAWL_STOP;
}

static void
a_thread_that_cannot_start_ends_the_job(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 5);
    fixture_set(f, "parallelism", "3");
    f->answer = refuse_init;
    assert_int_equal(fixture_run(f), PAWL_UNREACHABLE);
    assert_string_equal(f->err.message, "thread_init: no connection");
    assert_int_equal(fixture_count(f, "init"), 3);
    assert_int_equal(fixture_count(f, "exit"), 2);
    fixture_expect(f, "acquire process", "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(a_range_is_tried_again_from_its_start),
        fixture_test(each_hook_of_a_range_may_ask),
        fixture_test(retries_come_to_an_end),
        fixture_test(no_retries_is_none),
        fixture_test(a_range_may_be_skipped),
        fixture_test(a_batch_of_skipped_ranges_is_not_flushed),
        fixture_test(stop_saves_nothing),
        fixture_test(a_cancelled_hook_is_a_failure),
        fixture_test(the_source_is_tried_again),
        fixture_test(other_ranges_go_on_meanwhile),
        fixture_test(flush_is_tried_again),
        fixture_test(flush_is_not_tried_for_ever),
        fixture_test(flush_may_stop),
        fixture_test(results_go_into_the_transaction),
        fixture_test(a_lost_transaction_is_flushed_again),
        fixture_test(a_flush_that_fails_rolls_back),
        fixture_test(one_thread),
        fixture_test(four_threads),
        fixture_test(open_ranges_limit_one_thread),
        fixture_test(open_ranges_limit_all_threads_together),
        fixture_test(retries_on_threads),
        fixture_test(a_thread_that_cannot_start_ends_the_job),
    };

    return cmocka_run_group_tests_name("job: retries and threads", tests, NULL, NULL);
}
