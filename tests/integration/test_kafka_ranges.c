/*
 * test_kafka_ranges.c - ranges are exact, whatever lies between their bounds
 *
 * Every topic here is read by jobs of several settings, and each reading has to be what a plain consumer reads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>

#include "tests/support/kafka_fixture.h"
#include "tests/support/recorder.h"

/* Records of an old segment get this age, so that a record of now begins a new segment. */
#define OLD_MS 600000

/* ---------------------------------------------------------------------------------------------------------- cells -- */

/* The settings of one reading. */
struct cell {
    const char *parallelism, *memory, *max_offsets;
};

static const char *const parallelisms[] = {"1", "3"};
static const char *const memories[] = {"1MiB", "256MiB"};
static const char *const maxima[] = {"1", "7", "1000", "0"};

/* Reads from..until of each partition from a topic of `partitions`, in one cell. */
static void
read_cell(const struct cell *cell, const char *topic, int partitions, int64_t from, bool committed)
{
    job_recorder *recorder = recorder_new();

    if (from > 0)
        for (int p = 0; p < partitions; p++)
            recorder_store(recorder, topic, p, from);
    assert_run(recorder, PAWL_OK, "topics", topic, "parallelism", cell->parallelism, "fetch.memory", cell->memory,
               "max_offsets_per_batch", cell->max_offsets, "isolation",
               committed ? "read_committed" : "read_uncommitted", NULL);
    for (int p = 0; p < partitions; p++) {
        int64_t low, high;

        kafka_fixture_bounds(topic, p, committed, &low, &high);
        recorder_check(recorder, topic, p, MAX(from, low), high, committed);
    }
    recorder_free(recorder);
}

/* Reads a topic in every cell, or in some that the seed chooses, so that each value comes once. Limits below `least`
 * would take too long on this topic. */
static void
read_cells(const char *topic, int partitions, int64_t from, bool committed, unsigned least)
{
    static unsigned turn;
    unsigned at = kafka_fixture_seed() + turn++;

    for (size_t m = 0; m < G_N_ELEMENTS(maxima); m++) {
        struct cell cell = {parallelisms[at & 1], memories[(at >> 1) & 1], maxima[m]};

        if (maxima[m][0] != '0' && g_ascii_strtoull(maxima[m], NULL, 10) < least)
            continue;
        if (!kafka_fixture_full()) {
            read_cell(&cell, topic, partitions, from, committed);
            at += 1 + (at >> 2 & 1);
            continue;
        }
        for (size_t p = 0; p < G_N_ELEMENTS(parallelisms); p++)
            for (size_t s = 0; s < G_N_ELEMENTS(memories); s++) {
                cell.parallelism = parallelisms[p];
                cell.memory = memories[s];
                read_cell(&cell, topic, partitions, from, committed);
            }
    }
}

/* ------------------------------------------------------------------------------------------------------ compaction -- */

static const char *const compacted[] = {"cleanup.policy",
                                        "compact",
                                        "segment.ms",
                                        "60000",
                                        "min.cleanable.dirty.ratio",
                                        "0.001",
                                        "delete.retention.ms",
                                        "0",
                                        "min.compaction.lag.ms",
                                        "0",
                                        NULL};

/* Updates of one key in a segment that may be compacted. */
static void
send_updates(rd_kafka_t *producer, const char *topic, int partition, const char *key, int count)
{
    int64_t old_ms = g_get_real_time() / 1000 - OLD_MS;

    for (int i = 0; i < count; i++) {
        char *value = g_strdup_printf("%s %d", key, i);

        kafka_fixture_send(producer, topic, partition, key, strlen(key), value, strlen(value), NULL, old_ms);
        g_free(value);
    }
}

/* 100 updates of one key, then two more records: offsets 99, 100 and 101 are left. */
static char *
make_short_hole(void)
{
    char *topic = kafka_fixture_make("hole", 1, compacted);
    rd_kafka_t *producer = kafka_fixture_producer(NULL);

    send_updates(producer, topic, 0, "k", 100);
    kafka_fixture_flush(producer);
    kafka_fixture_send_many(producer, topic, 0, "l", 2);
    kafka_fixture_flush(producer);
    rd_kafka_destroy(producer);
    kafka_fixture_await_compaction(topic, 0, 3);
    return topic;
}

static void
a_hole_at_the_start(void **state)
{
    char *topic = make_short_hole();

    (void) state;
    read_cells(topic, 1, 0, true, 0);
    read_cells(topic, 1, 50, true, 0); /* a stored offset inside of the hole */
    read_cells(topic, 1, 99, true, 0);
    read_cells(topic, 1, 101, true, 0);
    g_free(topic);
}

/* Ten batches without a record: each is saved, at once, and nobody takes it for loss. */
static void
ranges_without_records(void **state)
{
    char *topic = make_short_hole();
    job_recorder *recorder = recorder_new();

    (void) state;
    assert_run(recorder, PAWL_OK, "topics", topic, "max_offsets_per_batch", "10", NULL);
    recorder_check(recorder, topic, 0, 0, 102, true);
    assert_int_equal(recorder_count_ranges(recorder, topic, 0), 11);
    assert_int_equal(recorder->stats.batches, 11);
    assert_int_equal(recorder->stats.records, 3);
    assert_int_equal(recorder->stats.lost, 0);
    assert_int_equal(recorder_count_log(recorder, "warn"), 0);
    assert_true(recorder->seconds < 5);
    recorder_free(recorder);
    g_free(topic);
}

/* Holes of tens of thousands of offsets, with records before, between and after them. */
static void
long_holes(void **state)
{
    char *topic = kafka_fixture_make("holes", 2, compacted);
    rd_kafka_t *producer = kafka_fixture_producer(NULL);
    int hole = kafka_fixture_full() ? 300000 : 30000;

    (void) state;
    for (int p = 0; p < 2; p++) {
        send_updates(producer, topic, p, "first", 1);
        send_updates(producer, topic, p, "k", hole);
        send_updates(producer, topic, p, "between", 1);
        send_updates(producer, topic, p, "k", hole);
        kafka_fixture_flush(producer);
        kafka_fixture_send_many(producer, topic, p, p == 0 ? NULL : "k", p); /* one ends behind a hole */
        kafka_fixture_send_many(producer, topic, p, "last", 1);
        kafka_fixture_flush(producer);
    }
    rd_kafka_destroy(producer);
    for (int p = 0; p < 2; p++)
        kafka_fixture_await_compaction(topic, p, 5);
    read_cells(topic, 2, 0, true, 1000);
    read_cells(topic, 2, hole / 2, true, 1000);
    g_free(topic);
}

/* ---------------------------------------------------------------------------------------------------- transactions -- */

static void
send_transaction(rd_kafka_t *producer, const char *topic, int32_t partition, int count, bool commit)
{
    kafka_fixture_begin(producer);
    kafka_fixture_send_many(producer, topic, partition, commit ? "kept" : "aborted", count);
    if (commit) {
        kafka_fixture_commit(producer);
    } else {
        kafka_fixture_flush(producer); /* else nothing of it may get to the broker */
        kafka_fixture_abort(producer);
    }
}

/* A transaction that leaves nothing in a partition but its end: the partition was announced, the record given up. */
static void
send_empty(const char *topic, int32_t partition)
{
    const char *const id[] = {"transactional.id", topic, "linger.ms", "1000", NULL};
    rd_kafka_t *producer = kafka_fixture_producer(id);
    int64_t low, before, after;

    kafka_fixture_bounds(topic, partition, true, &low, &before);
    assert_null(rd_kafka_init_transactions(producer, 60000));
    do {
        kafka_fixture_begin(producer);
        kafka_fixture_send_many(producer, topic, partition, "never", 1);
        rd_kafka_poll(producer, 20); /* time for the announcement, and not for the record */
        kafka_fixture_abort(producer);
        kafka_fixture_bounds(topic, partition, true, &low, &after);
    } while (after == before);
    rd_kafka_destroy(producer);
}

static void
aborted_and_committed(void **state)
{
    char *topic = kafka_fixture_make("transactions", 3, NULL);
    rd_kafka_t *plain = kafka_fixture_transactional("none"), *lz4 = kafka_fixture_transactional("lz4");

    (void) state;
    for (int p = 0; p < 3; p++) {
        send_transaction(plain, topic, p, 5, p == 1);
        send_transaction(lz4, topic, p, 40, false);
        send_empty(topic, p);
        send_transaction(lz4, topic, p, 30, true);
        send_transaction(plain, topic, p, 1, false);
        send_transaction(plain, topic, p, 1, false);
        send_transaction(lz4, topic, p, 7, false);
        kafka_fixture_fill(topic, p, 3);
        send_transaction(lz4, topic, p, 2, p != 2); /* one partition ends with what was aborted */
        if (p == 2)
            send_empty(topic, p);
    }
    rd_kafka_destroy(plain);
    rd_kafka_destroy(lz4);
    read_cells(topic, 3, 0, true, 0);
    read_cells(topic, 3, 0, false, 7);
    read_cells(topic, 3, 17, true, 7);
    g_free(topic);
}

/* Two transactions at the same time, their records mixed: one is kept, the other is not. */
static void
interleaved(void **state)
{
    char *topic = kafka_fixture_make("interleaved", 1, NULL);
    rd_kafka_t *kept = kafka_fixture_transactional("none"), *aborted = kafka_fixture_transactional("lz4");

    (void) state;
    for (int round = 0; round < 3; round++) {
        kafka_fixture_begin(kept);
        kafka_fixture_begin(aborted);
        for (int i = 0; i < 5; i++) {
            kafka_fixture_send_many(kept, topic, 0, "kept", 3);
            kafka_fixture_flush(kept);
            kafka_fixture_send_many(aborted, topic, 0, "aborted", 4);
            kafka_fixture_flush(aborted);
            kafka_fixture_fill(topic, 0, 2);
        }
        if (round == 1) {
            kafka_fixture_abort(aborted);
            kafka_fixture_commit(kept);
        } else {
            kafka_fixture_commit(kept);
            kafka_fixture_abort(aborted);
        }
    }
    rd_kafka_destroy(kept);
    rd_kafka_destroy(aborted);
    read_cells(topic, 1, 0, true, 0);
    read_cells(topic, 1, 0, false, 7);
    g_free(topic);
}

/* 200,000 records that were aborted, before the one that counts. */
static void
a_long_run_of_aborted_records(void **state)
{
    char *topic = kafka_fixture_make("aborted", 1, NULL);
    rd_kafka_t *producer = kafka_fixture_transactional("none");

    (void) state;
    for (int i = 0; i < 200; i++)
        send_transaction(producer, topic, 0, 1000, false);
    send_transaction(producer, topic, 0, 1, true);
    rd_kafka_destroy(producer);
    read_cells(topic, 1, 0, true, 1000);
    g_free(topic);
}

/* ----------------------------------------------------------------------------------------------- open transactions -- */

static void
run_to(job_recorder *recorder, const char *topic, const char *isolation, int64_t saved)
{
    assert_run(recorder, PAWL_OK, "topics", topic, "isolation", isolation, NULL);
    assert_int_equal(recorder_saved(recorder, topic, 0), saved);
}

static void
an_open_transaction(bool commit)
{
    char *topic = kafka_fixture_make("open", 1, NULL);
    rd_kafka_t *producer = kafka_fixture_transactional("none");
    job_recorder *recorder = recorder_new();

    kafka_fixture_fill(topic, 0, 10);
    kafka_fixture_begin(producer);
    kafka_fixture_send_many(producer, topic, 0, "open", 5);
    kafka_fixture_flush(producer);
    kafka_fixture_fill(topic, 0, 4);

    run_to(recorder, topic, "read_committed", 10);
    recorder_check(recorder, topic, 0, 0, 10, true);
    run_to(recorder, topic, "read_committed", 10);

    /* A batch that waits at the last stable offset goes on by itself. */
    recorder_start(recorder, "topics", topic, "trigger", "continuous", NULL);
    recorder_await_log(recorder, "[0]");
    if (commit)
        kafka_fixture_commit(producer);
    else
        kafka_fixture_abort(producer);
    recorder_await_flushed(recorder, commit ? 19 : 14);
    pawl_job_stop(recorder->job);
    assert_int_equal(recorder_join(recorder), PAWL_OK);
    run_to(recorder, topic, "read_committed", 20);
    recorder_check(recorder, topic, 0, 0, 20, true);
    rd_kafka_destroy(producer);
    recorder_free(recorder);
    g_free(topic);
}

static void
an_open_transaction_is_committed(void **state)
{
    (void) state;
    an_open_transaction(true);
}

static void
an_open_transaction_is_aborted(void **state)
{
    (void) state;
    an_open_transaction(false);
}

/* An offset between the last stable one and the end of the log was stored by a reader of uncommitted records. */
static void
stored_above_the_last_stable_offset(void **state)
{
    char *topic = kafka_fixture_make("stored-above", 1, NULL);
    rd_kafka_t *producer = kafka_fixture_transactional("none");
    job_recorder *recorder = recorder_new();

    (void) state;
    kafka_fixture_fill(topic, 0, 10);
    kafka_fixture_begin(producer);
    kafka_fixture_send_many(producer, topic, 0, "open", 5);
    kafka_fixture_flush(producer);
    run_to(recorder, topic, "read_uncommitted", 15);
    recorder_check(recorder, topic, 0, 0, 15, false);

    run_to(recorder, topic, "read_committed", 15);
    assert_int_equal(recorder->stats.lost, 0);
    kafka_fixture_send_many(producer, topic, 0, "open", 3);
    kafka_fixture_commit(producer);
    recorder_forget(recorder);
    run_to(recorder, topic, "read_committed", 19);
    recorder_check(recorder, topic, 0, 15, 19, true);
    rd_kafka_destroy(producer);
    recorder_free(recorder);
    g_free(topic);
}

/* --------------------------------------------------------------------------------------------------- end of the log -- */

/* The job sits at the end, with an end-of-partition event behind it, when two records come: again and again. */
static void
an_old_end_ends_nothing(void **state)
{
    char *topic = kafka_fixture_make("end", 2, NULL);
    rd_kafka_t *producer = kafka_fixture_producer(NULL);
    job_recorder *recorder = recorder_new();

    (void) state;
    kafka_fixture_fill(topic, 0, 1);
    recorder_start(recorder, "topics", topic, "trigger", "continuous", NULL);
    recorder_await_flushed(recorder, 1);
    for (int round = 1; round <= 30; round++) {
        kafka_fixture_send_many(producer, topic, round % 3 == 0, NULL, 2);
        kafka_fixture_flush(producer);
        recorder_await_flushed(recorder, 1 + 2 * round);
    }
    pawl_job_stop(recorder->job);
    assert_int_equal(recorder_join(recorder), PAWL_OK);
    recorder_check(recorder, topic, 0, 0, 41, true);
    recorder_check(recorder, topic, 1, 0, 20, true);
    rd_kafka_destroy(producer);
    recorder_free(recorder);
    g_free(topic);
}

/* Many partitions at the end for each that is not: the ones that wait do not keep the others waiting. */
static void
batches_one_after_the_other(void **state)
{
    char *topic = kafka_fixture_make("batches", 8, NULL);

    (void) state;
    for (int p = 0; p < 8; p++)
        kafka_fixture_fill(topic, p, 1000 * (p + 1));
    read_cells(topic, 8, 0, true, 1000);
    read_cells(topic, 8, 500, true, 1000);
    g_free(topic);
}

/* The start of the log is not 0. */
static void
a_log_that_was_cut(void **state)
{
    char *topic = kafka_fixture_make("cut", 2, NULL);

    (void) state;
    kafka_fixture_fill(topic, 0, 300);
    kafka_fixture_fill(topic, 1, 300);
    kafka_fixture_delete_records(topic, 0, 123);
    kafka_fixture_delete_records(topic, 1, 300); /* emptied: both bounds are 300 */
    read_cells(topic, 2, 0, true, 7);
    g_free(topic);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hole_at_the_start),
        cmocka_unit_test(ranges_without_records),
        cmocka_unit_test(long_holes),
        cmocka_unit_test(aborted_and_committed),
        cmocka_unit_test(interleaved),
        cmocka_unit_test(a_long_run_of_aborted_records),
        cmocka_unit_test(an_open_transaction_is_committed),
        cmocka_unit_test(an_open_transaction_is_aborted),
        cmocka_unit_test(stored_above_the_last_stable_offset),
        cmocka_unit_test(an_old_end_ends_nothing),
        cmocka_unit_test(batches_one_after_the_other),
        cmocka_unit_test(a_log_that_was_cut),
    };
    int failed;

    if (kafka_fixture_brokers() == NULL)
        return 77;
    failed = cmocka_run_group_tests_name("kafka ranges", tests, NULL, NULL);
    kafka_fixture_done();
    return failed;
}
