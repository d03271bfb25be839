/*
 * test_kafka_starts.c - where a job starts when nothing is stored, on real logs
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>

#include "tests/support/kafka_fixture.h"
#include "tests/support/recorder.h"

/* Of the records in partition 0: up and down. */
static const int64_t times[] = {1000, 5000, 2000, 9000, 3000, 4000};

/*
 * A topic on which each kind of start gives another offset: partition 0 has the times above at offsets 2 to 7 and was cut
 * before 2; 1 has records that are all older than 1000; 2 is empty; 3 was emptied, and goes from 4 to 4.
 */
static char *
make_topic(void)
{
    char *topic = kafka_fixture_make("starts", 4, NULL);
    rd_kafka_t *producer = kafka_fixture_producer(NULL);

    for (int i = 0; i < 2; i++)
        kafka_fixture_send(producer, topic, 0, NULL, 0, "cut", 3, NULL, 100000);
    for (size_t i = 0; i < G_N_ELEMENTS(times); i++)
        kafka_fixture_send(producer, topic, 0, NULL, 0, "v", 1, NULL, times[i]);
    for (int i = 0; i < 3; i++)
        kafka_fixture_send(producer, topic, 1, NULL, 0, "old", 3, NULL, 500);
    for (int i = 0; i < 4; i++)
        kafka_fixture_send(producer, topic, 3, NULL, 0, "gone", 4, NULL, 100000);
    kafka_fixture_flush(producer);
    rd_kafka_destroy(producer);
    kafka_fixture_delete_records(topic, 0, 2);
    kafka_fixture_delete_records(topic, 3, 4);
    return topic;
}

static const int64_t ends[] = {8, 3, 0, 4};

/* Runs with a start; then everything from these offsets on was read, and the ends are saved. */
static void
start_at(const char *topic, const char *start, const int64_t from[4])
{
    job_recorder *recorder = recorder_new();

    assert_run(recorder, PAWL_OK, "topics", topic, "start", start, NULL);
    for (int p = 0; p < 4; p++) {
        recorder_check(recorder, topic, p, from[p], ends[p], true);
        assert_int_equal(recorder_saved(recorder, topic, p), ends[p]);
    }
    recorder_free(recorder);
}

static void
earliest_latest_and_times(void **state)
{
    static const struct {
        const char *start;
        int64_t from[4];
    } cases[] = {
        {"earliest", {2, 0, 0, 4}},
        {"latest", {8, 3, 0, 4}},
        {"400", {2, 0, 0, 4}},
        {"1000", {2, 3, 0, 4}},
        {"1970-01-01T00:00:02Z", {3, 3, 0, 4}}, /* 5000 is the first that is not older than 2000 */
        {"1970-01-01T01:00:06+01:00", {5, 3, 0, 4}},
        {"9000", {5, 3, 0, 4}},
        {"9001", {8, 3, 0, 4}}, /* none is: the end */
        {"2100-01-01T00:00:00Z", {8, 3, 0, 4}},
    };
    char *topic = make_topic();

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        start_at(topic, cases[i].start, cases[i].from);
    g_free(topic);
}

/* What the list says, and an error for what it does not or cannot say. */
static void
a_list_of_offsets(void **state)
{
    static const struct {
        const char *list; /* %s stands for the topic */
        const char *says; /* NULL: fine */
    } cases[] = {
        {"%s:0=5 %s:1=1 %s:2=0 %s:3=4", NULL},
        {"%s:0=8 %s:1=3 %s:2=0 %s:3=4", NULL},
        {"%s:0=1 %s:1=1 %s:2=0 %s:3=4", "goes from 2 to 8"},
        {"%s:0=5 %s:1=4 %s:2=0 %s:3=4", "goes from 0 to 3"},
        {"%s:0=5 %s:1=1 %s:2=0 %s:3=3", "goes from 4 to 4"},
        {"%s:0=5 %s:1=1 %s:2=0", "[3]"},
    };
    static const int64_t from[][4] = {{5, 1, 0, 4}, {8, 3, 0, 4}};
    char *topic = make_topic();

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char **parts = g_strsplit(cases[i].list, "%s", -1);
        char *list = g_strjoinv(topic, parts);
        job_recorder *recorder = recorder_new();

        if (cases[i].says == NULL) {
            start_at(topic, list, from[i]);
        } else {
            assert_run(recorder, PAWL_INVALID, "topics", topic, "start", list, NULL);
            assert_says(recorder, topic);
            assert_says(recorder, cases[i].says);
            assert_int_equal(recorder_saved(recorder, topic, 0), -1);
        }
        recorder_free(recorder);
        g_free(list);
        g_strfreev(parts);
    }
    g_free(topic);
}

static void
none_is_an_error(void **state)
{
    char *topic = make_topic();
    job_recorder *recorder = recorder_new();

    (void) state;
    assert_run(recorder, PAWL_INVALID, "topics", topic, "start", "none", NULL);
    assert_says(recorder, "start = none");
    assert_int_equal(recorder_saved(recorder, topic, 0), -1);
    recorder_free(recorder);
    g_free(topic);
}

/* Nothing comes in two runs; then something does. It is read, since "latest" was written down the first time. */
static void
latest_stays_where_it_was(void **state)
{
    char *topic = kafka_fixture_make("quiet", 2, NULL);
    job_recorder *recorder = recorder_new();

    (void) state;
    kafka_fixture_fill(topic, 0, 5);
    for (int i = 0; i < 2; i++) {
        assert_run(recorder, PAWL_OK, "topics", topic, "start", "latest", NULL);
        assert_int_equal(recorder_saved(recorder, topic, 0), 5);
        assert_int_equal(recorder_saved(recorder, topic, 1), 0);
    }
    kafka_fixture_fill(topic, 0, 3);
    kafka_fixture_fill(topic, 1, 2);
    assert_run(recorder, PAWL_OK, "topics", topic, "start", "latest", NULL);
    recorder_check(recorder, topic, 0, 5, 8, true);
    recorder_check(recorder, topic, 1, 0, 2, true);
    recorder_free(recorder);
    g_free(topic);
}

/* What is stored wins over any start. */
static void
a_stored_offset_wins(void **state)
{
    static const char *const starts[] = {"earliest", "latest", "none", "9000"};
    char *topic = kafka_fixture_make("stored", 1, NULL);

    (void) state;
    kafka_fixture_fill(topic, 0, 20);
    for (size_t i = 0; i < G_N_ELEMENTS(starts); i++) {
        job_recorder *recorder = recorder_new();

        recorder_store(recorder, topic, 0, 7);
        assert_run(recorder, PAWL_OK, "topics", topic, "start", starts[i], NULL);
        recorder_check(recorder, topic, 0, 7, 20, true);
        recorder_free(recorder);
    }
    g_free(topic);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(earliest_latest_and_times), cmocka_unit_test(a_list_of_offsets),
        cmocka_unit_test(none_is_an_error),          cmocka_unit_test(latest_stays_where_it_was),
        cmocka_unit_test(a_stored_offset_wins),
    };
    int failed;

    if (kafka_fixture_brokers() == NULL)
        return 77;
    failed = cmocka_run_group_tests_name("kafka starts", tests, NULL, NULL);
    kafka_fixture_done();
    return failed;
}
