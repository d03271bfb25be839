/*
 * test_kafka_loss.c - records that were never read are gone from a real log
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <glib.h>

#include "tests/support/kafka_fixture.h"
#include "tests/support/recorder.h"

/* -------------------------------------------------------------------------------------------------- when planning -- */

/* A log of 100 records that was cut before 60. */
static char *
make_cut(void)
{
    char *topic = kafka_fixture_make("loss", 1, NULL);

    kafka_fixture_fill(topic, 0, 100);
    kafka_fixture_delete_records(topic, 0, 60);
    return topic;
}

static void
cut_below_at_and_above_the_stored_offset(void **state)
{
    char *topic = make_cut();

    (void) state;
    for (int64_t stored = 59; stored <= 61; stored++) {
        job_recorder *recorder = recorder_new();

        recorder_store(recorder, topic, 0, stored);
        assert_run(recorder, stored < 60 ? PAWL_DATA_LOSS : PAWL_OK, "topics", topic, NULL);
        if (stored < 60) {
            assert_says(recorder, topic);
            assert_says(recorder, "[0]");
            assert_says(recorder, "59 is below");
            assert_says(recorder, "from 60 to 100");
            assert_says(recorder, "1 records");
            assert_int_equal(recorder_saved(recorder, topic, 0), 59);
        } else {
            recorder_check(recorder, topic, 0, stored, 100, true);
        }
        recorder_free(recorder);
    }
    g_free(topic);
}

/* Goes on where the policy says, saves that, and counts what is lost. */
static void
moves(const char *topic, int64_t stored, const char *policy, int64_t to, int64_t lost, const char *says)
{
    job_recorder *recorder = recorder_new();

    recorder_store(recorder, topic, 0, stored);
    assert_run(recorder, PAWL_OK, "topics", topic, "on_data_loss", policy, NULL);
    recorder_check(recorder, topic, 0, to, 100, true);
    assert_int_equal(recorder->stats.lost, lost);
    assert_int_equal(recorder_count_log(recorder, says), 1);
    recorder_free(recorder);
}

static void
moved_by_policy(void **state)
{
    char *topic = make_cut();

    (void) state;
    moves(topic, 10, "earliest", 60, 50, "below the start");
    moves(topic, 10, "latest", 100, 90, "below the start");
    moves(topic, 500, "earliest", 60, 0, "above the end");
    moves(topic, 500, "latest", 100, 0, "above the end");
    g_free(topic);
}

/* The move is saved although no record follows, and is not made twice. */
static void
moved_in_an_emptied_log(void **state)
{
    char *topic = kafka_fixture_make("emptied", 1, NULL);
    job_recorder *recorder = recorder_new();

    (void) state;
    kafka_fixture_fill(topic, 0, 40);
    kafka_fixture_delete_records(topic, 0, 40);
    recorder_store(recorder, topic, 0, 12);
    assert_run(recorder, PAWL_OK, "topics", topic, "on_data_loss", "earliest", NULL);
    assert_int_equal(recorder_saved(recorder, topic, 0), 40);
    assert_int_equal(recorder->stats.lost, 28);
    assert_run(recorder, PAWL_OK, "topics", topic, "on_data_loss", "earliest", NULL);
    assert_int_equal(recorder->stats.lost, 0);
    recorder_free(recorder);
    g_free(topic);
}

/* Reads 50 records of a topic, which is deleted and made anew with so many. */
static void
make_anew_with(int count, const char *finding)
{
    char *topic = kafka_fixture_make("anew", 1, NULL), *bounds = g_strdup_printf("from 0 to %d", count);
    job_recorder *recorder = recorder_new();

    kafka_fixture_fill(topic, 0, 50);
    assert_run(recorder, PAWL_OK, "topics", topic, NULL);
    kafka_fixture_delete(topic);
    kafka_fixture_make_named(topic, 1, NULL);
    kafka_fixture_fill(topic, 0, count);

    recorder_forget(recorder);
    assert_run(recorder, PAWL_DATA_LOSS, "topics", topic, NULL);
    assert_says(recorder, finding);
    assert_says(recorder, bounds);
    assert_int_equal(recorder_saved(recorder, topic, 0), 50);
    recorder_forget(recorder);
    assert_run(recorder, PAWL_OK, "topics", topic, "on_data_loss", "earliest", NULL);
    recorder_check(recorder, topic, 0, 0, count, true);
    recorder_free(recorder);
    g_free(bounds);
    g_free(topic);
}

static void
made_anew_and_shorter(void **state)
{
    (void) state;
    make_anew_with(20, "50 is above");
}

/* Only the record before the stored offset tells. */
static void
made_anew_and_longer(void **state)
{
    (void) state;
    make_anew_with(80, "50 has another record before it");
}

/* Whoever deletes what was processed leaves no record before the stored offset. */
static void
purged_up_to_the_stored_offset(void **state)
{
    char *topic = kafka_fixture_make("purged", 1, NULL);
    job_recorder *recorder = recorder_new();

    (void) state;
    kafka_fixture_fill(topic, 0, 50);
    assert_run(recorder, PAWL_OK, "topics", topic, NULL);
    kafka_fixture_delete_records(topic, 0, 50);
    kafka_fixture_fill(topic, 0, 30);
    recorder_forget(recorder);
    assert_run(recorder, PAWL_OK, "topics", topic, NULL);
    recorder_check(recorder, topic, 0, 50, 80, true);
    assert_int_equal(recorder->stats.lost, 0);
    recorder_free(recorder);
    g_free(topic);
}

/* ------------------------------------------------------------------------------------------- in the middle of a batch -- */

/* Records of some size, so that a small fetch.memory does not hold them all. */
static char *
make_large(int partitions, int records)
{
    char *topic = kafka_fixture_make("middle", partitions, NULL), value[10000];
    rd_kafka_t *producer = kafka_fixture_producer(NULL);

    memset(value, 'x', sizeof value);
    for (int p = 0; p < partitions; p++)
        for (int i = 0; i < records; i++)
            kafka_fixture_send(producer, topic, p, NULL, 0, value, sizeof value, NULL, 0);
    kafka_fixture_flush(producer);
    rd_kafka_destroy(producer);
    return topic;
}

struct cutting {
    const char *topic;
    int64_t before; /* where to cut, once */
};

/* Cuts the log at the first records of partition 0, while the rest of the range is still at the broker. */
static pawl_verdict
cut(job_recorder *recorder, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    struct cutting *cutting = recorder->user;

    (void) records, (void) count, (void) err;
    if (pawl_range_partition(range) != 0 || cutting->before == 0)
        return PAWL_DONE;
    kafka_fixture_delete_records(cutting->topic, 0, cutting->before);
    cutting->before = 0;
    return PAWL_DONE;
}

static void
cut_in_the_middle(const char *policy, const char *trigger, const char *parallelism)
{
    char *topic = make_large(2, 2000);
    struct cutting cutting = {topic, 1900};
    job_recorder *recorder = recorder_new();
    bool fails = g_str_equal(policy, "fail");

    recorder->before = cut;
    recorder->user = &cutting;
    assert_run(recorder, fails ? PAWL_DATA_LOSS : PAWL_OK, "topics", topic, "fetch.memory", "1MiB", "on_data_loss",
               policy, "trigger", trigger, "parallelism", parallelism, NULL);
    if (fails) {
        assert_says(recorder, "0 is below");
        assert_says(recorder, "from 1900 to 2000");
        assert_says(recorder, "1900 records");
        assert_int_equal(recorder_saved(recorder, topic, 0), 0);
    } else {
        recorder_check(recorder, topic, 0, g_str_equal(policy, "latest") ? 2000 : 1900, 2000, true);
        assert_int_equal(recorder->stats.lost, g_str_equal(policy, "latest") ? 2000 : 1900);
    }
    recorder_check(recorder, topic, 1, 0, 2000, true); /* the other one is not held up */
    recorder_free(recorder);
    g_free(topic);
}

static void
cut_while_reading(void **state)
{
    (void) state;
    cut_in_the_middle("fail", "available-now", "1");
    cut_in_the_middle("earliest", "available-now", "2");
    cut_in_the_middle("latest", "available-now", "1");
}

static void
cut_while_reading_once(void **state)
{
    (void) state;
    cut_in_the_middle("fail", "once", "2");
    cut_in_the_middle("earliest", "once", "1");
}

/* Deleted and made anew, shorter, while it is read. */
static pawl_verdict
make_anew(job_recorder *recorder, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    struct cutting *cutting = recorder->user;

    (void) range, (void) records, (void) count, (void) err;
    if (cutting->before == 0)
        return PAWL_DONE;
    cutting->before = 0;
    kafka_fixture_delete(cutting->topic);
    kafka_fixture_make_named(cutting->topic, 1, NULL);
    kafka_fixture_fill(cutting->topic, 0, 30);
    return PAWL_DONE;
}

static void
made_anew_while_reading(void **state)
{
    char *topic = make_large(1, 2000);
    struct cutting cutting = {topic, 1};
    job_recorder *recorder = recorder_new();

    (void) state;
    recorder->before = make_anew;
    recorder->user = &cutting;
    recorder_store(recorder, topic, 0, 100);
    assert_run(recorder, PAWL_DATA_LOSS, "topics", topic, "fetch.memory", "1MiB", "stall_timeout", "20s", NULL);
    assert_says(recorder, "100 is above");
    assert_says(recorder, "from 0 to 30");
    assert_int_equal(recorder_saved(recorder, topic, 0), 100);
    recorder_free(recorder);
    g_free(topic);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_below_at_and_above_the_stored_offset),
        cmocka_unit_test(moved_by_policy),
        cmocka_unit_test(moved_in_an_emptied_log),
        cmocka_unit_test(made_anew_and_shorter),
        cmocka_unit_test(made_anew_and_longer),
        cmocka_unit_test(purged_up_to_the_stored_offset),
        cmocka_unit_test(cut_while_reading),
        cmocka_unit_test(cut_while_reading_once),
        cmocka_unit_test(made_anew_while_reading),
    };
    int failed;

    if (kafka_fixture_brokers() == NULL)
        return 77;
    failed = cmocka_run_group_tests_name("kafka loss", tests, NULL, NULL);
    kafka_fixture_done();
    return failed;
}
