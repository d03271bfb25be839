/*
 * test_kafka_retry.c - ranges that are tried again, or given up, on a real log
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "tests/support/kafka_fixture.h"
#include "tests/support/recorder.h"

#define RECORDS 5000

static char *
make_topic(int partitions, size_t size)
{
    char *topic = kafka_fixture_make("retry", partitions, NULL), *value = g_malloc0(size);
    rd_kafka_t *producer = kafka_fixture_producer(NULL);

    for (int p = 0; p < partitions; p++)
        for (int i = 0; i < RECORDS; i++) {
            g_snprintf(value, size, "%d %d", p, i);
            kafka_fixture_send(producer, topic, p, NULL, 0, value, size, NULL, 0);
        }
    kafka_fixture_flush(producer);
    rd_kafka_destroy(producer);
    g_free(value);
    return topic;
}

/* Every range fails at its record number `at`, until its last attempt. */
struct failing {
    int64_t at;
    int attempts;  /* that fail */
    int partition; /* of this partition only; -1: of all */
};

static pawl_verdict
fail_at(job_recorder *recorder, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    const struct failing *failing = recorder->user;
    int64_t at = pawl_range_from(range) + failing->at;

    if ((failing->partition >= 0 && pawl_range_partition(range) != failing->partition) ||
        pawl_range_attempt(range) > failing->attempts || records[count - 1].offset < at)
        return PAWL_DONE;
    pawl_error_set(err, PAWL_FAILED, 0, 0, "not today");
    return PAWL_RETRY;
}

/* All of it comes again, from the range's start, whether records of it or past it were read ahead or not. */
static void
again(const char *topic, int partitions, struct failing failing, const char *parallelism, const char *memory,
      const char *max_offsets)
{
    job_recorder *recorder = recorder_new();

    recorder->before = fail_at;
    recorder->user = &failing;
    assert_run(recorder, PAWL_OK, "topics", topic, "parallelism", parallelism, "fetch.memory", memory,
               "max_offsets_per_batch", max_offsets, "retry_backoff", "1ms", NULL);
    for (int p = 0; p < partitions; p++)
        recorder_check(recorder, topic, p, 0, RECORDS, true);
    assert_true(recorder->stats.retries >= failing.attempts);
    recorder_free(recorder);
}

static void
tried_again(void **state)
{
    static const struct {
        struct failing failing;
        const char *parallelism, *memory, *max_offsets;
    } cells[] = {
        {{0, 1, -1}, "1", "256MiB", "0"},    {{0, 3, -1}, "3", "1MiB", "0"},        {{2500, 2, -1}, "1", "1MiB", "0"},
        {{4999, 3, -1}, "3", "256MiB", "0"}, {{100, 1, -1}, "1", "256MiB", "1000"}, {{330, 2, 1}, "3", "1MiB", "1000"},
        {{50, 3, 0}, "1", "1MiB", "700"},    {{1, 1, 2}, "2", "256MiB", "2000"},
    };
    char *small = make_topic(3, 20), *large = make_topic(3, 1500);

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cells); i++) {
        again(small, 3, cells[i].failing, cells[i].parallelism, cells[i].memory, cells[i].max_offsets);
        again(large, 3, cells[i].failing, cells[i].parallelism, cells[i].memory, cells[i].max_offsets);
    }
    g_free(small);
    g_free(large);
}

/* Two ranges are behind, each in its own back-off, while the third goes on. */
static void
stopped_after_its_retries(void **state)
{
    char *topic = make_topic(2, 20);
    struct failing failing = {.at = 1234, .attempts = 100, .partition = 1};
    job_recorder *recorder = recorder_new();

    (void) state;
    recorder->before = fail_at;
    recorder->user = &failing;
    assert_run(recorder, PAWL_FAILED, "topics", topic, "max_retries", "2", "retry_backoff", "1ms", NULL);
    assert_says(recorder, topic);
    assert_says(recorder, "[1] 0..5000, attempt 3");
    assert_says(recorder, "not today");
    assert_int_equal(recorder->stats.retries, 2);
    assert_int_equal(recorder_saved(recorder, topic, 0), 0);
    assert_int_equal(recorder_saved(recorder, topic, 1), 0);
    recorder_free(recorder);
    g_free(topic);
}

/* The range is given up, saved and counted; what comes after it is read. */
static pawl_verdict
fail_the_first(job_recorder *recorder, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    (void) recorder, (void) records, (void) count;
    if (pawl_range_partition(range) != 1 || pawl_range_from(range) >= 1000)
        return PAWL_DONE;
    pawl_error_set(err, PAWL_FAILED, 0, 0, "never");
    return PAWL_RETRY;
}

static void
skipped(const char *memory, const char *parallelism)
{
    char *topic = make_topic(2, 100);
    job_recorder *recorder = recorder_new();

    recorder->before = fail_the_first;
    assert_run(recorder, PAWL_OK, "topics", topic, "max_offsets_per_partition", "1000", "on_error", "skip",
               "max_retries", "1", "retry_backoff", "1ms", "fetch.memory", memory, "parallelism", parallelism, NULL);
    recorder_check(recorder, topic, 0, 0, RECORDS, true);
    recorder_check(recorder, topic, 1, 1000, RECORDS, true);
    assert_int_equal(recorder->stats.skipped, 1000);
    assert_int_equal(recorder->stats.retries, 1);
    assert_int_equal(recorder_count_log(recorder, "skipped after 2 attempts"), 1);
    recorder_free(recorder);
    g_free(topic);
}

static void
skipped_and_gone_on_behind_it(void **state)
{
    (void) state;
    skipped("256MiB", "1");
    skipped("1MiB", "2");
}

/* A process function that takes longer than stall_timeout is not a broker that has stalled: the time is what is tried. */
static pawl_verdict
dawdle(job_recorder *recorder, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    int *left = recorder->user;

    (void) range, (void) records, (void) count, (void) err;
    if (*left > 0)
        g_usleep(400 * 1000);
    --*left;
    return PAWL_DONE;
}

static void
slow_user_code_is_no_stall(void **state)
{
    char *topic = make_topic(2, 3000);
    job_recorder *recorder = recorder_new();
    int left = 5;

    (void) state;
    recorder->before = dawdle;
    recorder->user = &left;
    assert_run(recorder, PAWL_OK, "topics", topic, "fetch.memory", "4MiB", "stall_timeout", "300ms",
               "max_offsets_per_batch", "2000", NULL);
    for (int p = 0; p < 2; p++)
        recorder_check(recorder, topic, p, 0, RECORDS, true);
    recorder_free(recorder);
    g_free(topic);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tried_again),
        cmocka_unit_test(stopped_after_its_retries),
        cmocka_unit_test(skipped_and_gone_on_behind_it),
        cmocka_unit_test(slow_user_code_is_no_stall),
    };
    int failed;

    if (kafka_fixture_brokers() == NULL)
        return 77;
    failed = cmocka_run_group_tests_name("kafka retry", tests, NULL, NULL);
    kafka_fixture_done();
    return failed;
}
