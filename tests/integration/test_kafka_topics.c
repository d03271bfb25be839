/*
 * test_kafka_topics.c - topics and partitions that are not there yet, appear, or vanish
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>

#include "tests/support/kafka_fixture.h"
#include "tests/support/recorder.h"

static void
stop(job_recorder *recorder)
{
    pawl_job_stop(recorder->job);
    recorder_join(recorder);
    recorder_expect(recorder, PAWL_OK, __FILE__, __LINE__);
}

/* ------------------------------------------------------------------------------------------------------- appearing -- */

/* Records that come into new partitions before anybody has looked are not skipped, although start = latest. */
static void
partitions_are_added(void **state)
{
    static const char *const parallelisms[] = {"1", "3"};

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(parallelisms); i++) {
        char *topic = kafka_fixture_make("growing", 1, NULL);
        job_recorder *recorder = recorder_new();

        kafka_fixture_fill(topic, 0, 10);
        recorder_start(recorder, "topics", topic, "trigger", "continuous", "start", "latest", "discovery.interval",
                       "300ms", "parallelism", parallelisms[i], NULL);
        recorder_await_log(recorder, "starting at 10");
        kafka_fixture_add_partitions(topic, 3);
        kafka_fixture_fill(topic, 2, 20);
        kafka_fixture_fill(topic, 0, 5);
        recorder_await_flushed(recorder, 25);
        /* More than there was room for at first: the client is made anew, with records read ahead. */
        kafka_fixture_add_partitions(topic, 20);
        for (int p = 0; p < 20; p++)
            kafka_fixture_fill(topic, p, 7);
        recorder_await_flushed(recorder, 25 + 20 * 7);
        stop(recorder);
        for (int p = 0; p < 20; p++)
            recorder_check(recorder, topic, p, p == 0 ? 10 : 0, p == 0 ? 22 : p == 2 ? 27 : 7, true);
        recorder_free(recorder);
        g_free(topic);
    }
}

/* The job was not running while the partitions were added. */
static void
partitions_were_added(void **state)
{
    char *topic = kafka_fixture_make("grown", 1, NULL);
    job_recorder *recorder = recorder_new();

    (void) state;
    kafka_fixture_fill(topic, 0, 10);
    assert_run(recorder, PAWL_OK, "topics", topic, "start", "latest", NULL);
    kafka_fixture_add_partitions(topic, 2);
    kafka_fixture_fill(topic, 1, 6);
    assert_run(recorder, PAWL_OK, "topics", topic, "start", "latest", NULL);
    recorder_check(recorder, topic, 1, 0, 6, true);
    recorder_free(recorder);
    g_free(topic);
}

static void
a_topic_that_is_waited_for(void **state)
{
    char *topic = kafka_fixture_name("awaited");
    job_recorder *recorder = recorder_new();

    (void) state;
    recorder_start(recorder, "topics", topic, "trigger", "continuous", "topic_timeout", "60s", NULL);
    recorder_await_log(recorder, "waiting for up to topic_timeout");
    kafka_fixture_make_named(topic, 2, NULL);
    kafka_fixture_fill(topic, 1, 5);
    recorder_await_flushed(recorder, 5);
    stop(recorder);
    recorder_check(recorder, topic, 1, 0, 5, true);
    recorder_free(recorder);
    g_free(topic);
}

static void
a_pattern_picks_up_topics(void **state)
{
    char *stem = kafka_fixture_name("pattern"), *pattern = g_strdup_printf("%s-[ab]", stem);
    char *a = g_strdup_printf("%s-a", stem), *b = g_strdup_printf("%s-b", stem);
    char *other = g_strdup_printf("%s-abc", stem);
    job_recorder *recorder = recorder_new();

    (void) state;
    kafka_fixture_make_named(a, 2, NULL);
    kafka_fixture_make_named(other, 1, NULL);
    kafka_fixture_fill(a, 0, 3);
    kafka_fixture_fill(other, 0, 100);
    recorder_start(recorder, "topics_pattern", pattern, "trigger", "continuous", "discovery.interval", "200ms", "start",
                   "latest", NULL);
    recorder_await_log(recorder, "starting at 3");
    kafka_fixture_make_named(b, 1, NULL);
    kafka_fixture_fill(b, 0, 4);
    kafka_fixture_fill(a, 1, 5);
    recorder_await_flushed(recorder, 9);
    stop(recorder);
    recorder_check(recorder, b, 0, 0, 4, true);
    recorder_check(recorder, a, 1, 0, 5, true);
    assert_int_equal(recorder_saved(recorder, other, 0), -1);
    recorder_free(recorder);
    g_free(other);
    g_free(b);
    g_free(a);
    g_free(pattern);
    g_free(stem);
}

static void
a_pattern_that_nothing_matches(void **state)
{
    job_recorder *recorder = recorder_new();

    (void) state;
    assert_run(recorder, PAWL_FAILED, "topics_pattern", "no-such-thing-.*", "topic_timeout", "300ms", NULL);
    assert_says(recorder, "no-such-thing-.*");
    recorder_free(recorder);
}

static void
explicit_partitions(void **state)
{
    char *topic = kafka_fixture_make("explicit", 4, NULL);
    char *some = g_strdup_printf("%s:3,1", topic), *too_many = g_strdup_printf("%s:0,4", topic);
    job_recorder *recorder = recorder_new();

    (void) state;
    for (int p = 0; p < 4; p++)
        kafka_fixture_fill(topic, p, 10 + p);
    assert_run(recorder, PAWL_OK, "partitions", some, NULL);
    recorder_check(recorder, topic, 1, 0, 11, true);
    recorder_check(recorder, topic, 3, 0, 13, true);
    assert_int_equal(recorder_saved(recorder, topic, 0), -1);
    assert_int_equal(recorder_saved(recorder, topic, 2), -1);

    assert_run(recorder, PAWL_FAILED, "partitions", too_many, "topic_timeout", "300ms", NULL);
    assert_says(recorder, topic);
    assert_int_equal(recorder_saved(recorder, topic, 0), -1);
    recorder_free(recorder);
    g_free(too_many);
    g_free(some);
    g_free(topic);
}

/* -------------------------------------------------------------------------------------------- not there, and vanished -- */

static void
an_unknown_topic(void **state)
{
    char *topic = kafka_fixture_make("known", 1, NULL), *both = g_strdup_printf("%s, unknown-topic", topic);
    job_recorder *recorder = recorder_new();

    (void) state;
    kafka_fixture_fill(topic, 0, 3);
    assert_run(recorder, PAWL_FAILED, "topics", both, "topic_timeout", "500ms", NULL);
    assert_says(recorder, "'unknown-topic' does not exist");
    assert_says(recorder, "topic_timeout");
    assert_true(recorder->seconds >= 0.5 && recorder->seconds < 3);
    assert_int_equal(recorder_saved(recorder, topic, 0), -1);
    assert_run(recorder, PAWL_FAILED, "topics", both, "topic_timeout", "0", NULL);
    assert_true(recorder->seconds < 2);
    recorder_free(recorder);
    g_free(both);
    g_free(topic);
}

/* Even where the broker makes topics for whoever asks for them, a job does not. */
static void
an_unknown_topic_is_not_made(void **state)
{
    static const char *const properties[] = {"auto.create.topics.enable=true", NULL};
    kafka_fixture_broker *broker = kafka_fixture_broker_new(properties);
    job_recorder *recorder = recorder_new();

    (void) state;
    kafka_fixture_use(broker->address);
    assert_run(recorder, PAWL_FAILED, "topics", "typo", "topic_timeout", "1s", NULL);
    assert_says(recorder, "'typo' does not exist");
    assert_run(recorder, PAWL_FAILED, "partitions", "typo:0", "topic_timeout", "1s", NULL);
    assert_false(kafka_fixture_has("typo"));
    recorder_free(recorder);
    kafka_fixture_done();
    kafka_fixture_broker_free(broker);
}

/* The topic is deleted while the job waits for more of it. */
static void
a_topic_that_vanishes(void **state)
{
    char *topic = kafka_fixture_make("vanishing", 1, NULL);
    job_recorder *recorder = recorder_new();

    (void) state;
    kafka_fixture_fill(topic, 0, 12);
    recorder_start(recorder, "topics", topic, "trigger", "continuous", "stall_timeout", "1s", "discovery.interval",
                   "200ms", NULL);
    recorder_await_flushed(recorder, 12);
    kafka_fixture_delete(topic);
    recorder_join(recorder);
    recorder_expect(recorder, PAWL_STALLED, __FILE__, __LINE__);
    assert_says(recorder, topic);
    assert_says(recorder, "[0] at offset 12");
    assert_int_equal(recorder_saved(recorder, topic, 0), 12);
    assert_true(recorder_count_log(recorder, "warn") + recorder_count_log(recorder, "error") < 10);
    recorder_free(recorder);
    g_free(topic);
}

/* It is deleted for a moment, and comes back with as many records: the job, which cannot see that, goes on. */
static void
a_topic_that_comes_back(void **state)
{
    char *topic = kafka_fixture_make("returning", 2, NULL);
    job_recorder *recorder = recorder_new();

    (void) state;
    kafka_fixture_fill(topic, 0, 12);
    recorder_start(recorder, "topics", topic, "trigger", "continuous", "stall_timeout", "20s", "on_data_loss",
                   "earliest", NULL);
    recorder_await_flushed(recorder, 12);
    kafka_fixture_delete(topic);
    kafka_fixture_make_named(topic, 2, NULL);
    recorder_await_log(recorder, "moved to 0");
    kafka_fixture_fill(topic, 0, 30);
    kafka_fixture_fill(topic, 1, 3);
    recorder_await_flushed(recorder, 12 + 33);
    stop(recorder);
    assert_int_equal(recorder_saved(recorder, topic, 0), 30);
    assert_int_equal(recorder_saved(recorder, topic, 1), 3);
    recorder_free(recorder);
    g_free(topic);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partitions_are_added),
        cmocka_unit_test(partitions_were_added),
        cmocka_unit_test(a_topic_that_is_waited_for),
        cmocka_unit_test(a_pattern_picks_up_topics),
        cmocka_unit_test(a_pattern_that_nothing_matches),
        cmocka_unit_test(explicit_partitions),
        cmocka_unit_test(an_unknown_topic),
        cmocka_unit_test(a_topic_that_vanishes),
        cmocka_unit_test(a_topic_that_comes_back),
        cmocka_unit_test(an_unknown_topic_is_not_made),
    };
    int failed;

    if (kafka_fixture_brokers() == NULL)
        return 77;
    failed = cmocka_run_group_tests_name("kafka topics", tests, NULL, NULL);
    kafka_fixture_done();
    return failed;
}
