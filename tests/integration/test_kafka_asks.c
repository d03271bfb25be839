/*
 * test_kafka_asks.c - questions about offsets of which the brokers do not answer all
 *
 * Brokers that fail between two questions are librdkafka's own mock, which fails when it is told to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include <librdkafka/rdkafka.h>
#include <string.h>

#include <librdkafka/rdkafka_mock.h>

#include "source/kafka/kafka.h"
#include "tests/support/kafka_fixture.h"
#include "util/clock.h"

#define DEADLINE_MS  20000
#define LIST_OFFSETS 2 /* as the Kafka protocol numbers requests */
#define LATER_MS     INT64_C(4000000000000)

/* ------------------------------------------------------------------------------------------------------- sources -- */

static const char *brokers;

static void
give_brokers(const pawl_source_setup *setup, void (*fn)(void *user, const char *name, const char *value), void *user)
{
    (void) setup;
    fn(user, "bootstrap.servers", brokers);
}

static void
open_source(kafka_source *source, const char *const *topics)
{
    static const pawl_log log = {.level = PAWL_LOG_ERROR};
    pawl_source_setup setup = {.group = "asks",
                               .client_id = "asks",
                               .topics = topics,
                               .memory_bytes = 64 << 20,
                               .stall_timeout_ms = DEADLINE_MS,
                               .lanes = 1,
                               .log = &log,
                               .properties = give_brokers};

    assert_int_equal(pawl__kafka_source.open(source, &setup, NULL), PAWL_OK);
}

static void
note_nothing(void *user, pawl_partition partition)
{
    (void) user, (void) partition;
}

/* Makes the source know what the brokers say of topics now. */
static void
look_at_topics(kafka_source *source)
{
    assert_int_equal(
        pawl__kafka_source.discover(source, pawl__clock_ms() + DEADLINE_MS, note_nothing, NULL, NULL, NULL), PAWL_OK);
}

/* ----------------------------------------------------------------------------------------------------- the tests -- */

struct mock {
    rd_kafka_t *client;
    rd_kafka_mock_cluster_t *cluster;
    kafka_source source;
};

/* A cluster with a topic "t" that has two partitions, and a source of it that knows them. */
static int
set_up_mock(void **state)
{
    static const char *const topics[] = {"t", NULL};
    struct mock *mock = g_new0(struct mock, 1);
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    kafka_fixture_set(conf, "log_level", "0"); /* it would warn of brokers that it has not */
    mock->client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, NULL, 0);
    mock->cluster = rd_kafka_mock_cluster_new(mock->client, 1);
    assert_int_equal(rd_kafka_mock_topic_create(mock->cluster, "t", 2, 1), RD_KAFKA_RESP_ERR_NO_ERROR);
    brokers = rd_kafka_mock_cluster_bootstraps(mock->cluster);
    open_source(&mock->source, topics);
    look_at_topics(&mock->source);
    *state = mock;
    return 0;
}

static int
tear_down_mock(void **state)
{
    struct mock *mock = *state;

    pawl__kafka_source.close(&mock->source);
    rd_kafka_mock_cluster_destroy(mock->cluster);
    rd_kafka_destroy(mock->client);
    g_free(mock);
    return 0;
}

/* No record is at or after the time; then the partitions leave their broker, and nobody tells where their logs end. */
static void
an_end_that_nobody_tells(void **state)
{
    struct mock *mock = *state;
    pawl_time_line lines[] = {{.partition = {"t", 0}}, {.partition = {"t", 1}}};
    pawl_error err = {0};

    rd_kafka_mock_push_request_errors(mock->cluster, LIST_OFFSETS, 3, RD_KAFKA_RESP_ERR_NO_ERROR,
                                      RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    assert_int_equal(
        pawl__kafka_source.at_time(&mock->source, pawl__clock_ms() + DEADLINE_MS, LATER_MS, lines, 2, &err),
        PAWL_UNREACHABLE);
    assert_true((err.flags & PAWL_ERROR_RETRIABLE) != 0);
    assert_string_equal(err.message,
                        "t [0]: the broker does not tell the offset of a time: the partition does not exist");
}

static void
a_partition_without_leader(void **state)
{
    struct mock *mock = *state;
    pawl_bounds_line lines[] = {{.partition = {"t", 0}}, {.partition = {"t", 1}}};

    rd_kafka_mock_partition_set_leader(mock->cluster, "t", 0, -1);
    look_at_topics(&mock->source);
    assert_int_equal(pawl__kafka_source.bounds(&mock->source, pawl__clock_ms() + DEADLINE_MS, lines, 2, NULL), PAWL_OK);
    assert_int_equal(lines[0].ret_status, PAWL_UNREACHABLE);
    assert_string_equal(lines[0].ret_why, rd_kafka_err2str(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE));
    assert_int_equal(lines[1].ret_status, PAWL_OK);
    assert_int_equal(lines[1].ret_high, 0);
}

/* The source has seen both topics, and does not know yet that one of them is gone. */
static void
a_topic_that_is_gone(void **state)
{
    char *stays = kafka_fixture_make("stays", 1, NULL), *goes = kafka_fixture_make("goes", 1, NULL);
    const char *const topics[] = {goes, stays, NULL};
    pawl_bounds_line lines[] = {{.partition = {goes, 0}}, {.partition = {stays, 0}}};
    kafka_source source = {NULL};

    (void) state;
    kafka_fixture_fill(stays, 0, 5);
    brokers = kafka_fixture_address();
    open_source(&source, topics);
    look_at_topics(&source);
    kafka_fixture_delete(goes);
    assert_int_equal(pawl__kafka_source.bounds(&source, pawl__clock_ms() + DEADLINE_MS, lines, 2, NULL), PAWL_OK);
    assert_int_equal(lines[0].ret_status, PAWL_FAILED);
    assert_int_equal(lines[1].ret_status, PAWL_OK);
    assert_int_equal(lines[1].ret_low, 0);
    assert_int_equal(lines[1].ret_high, 5);
    pawl__kafka_source.close(&source);
    g_free(stays);
    g_free(goes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_end_that_nobody_tells, set_up_mock, tear_down_mock),
        cmocka_unit_test_setup_teardown(a_partition_without_leader, set_up_mock, tear_down_mock),
        cmocka_unit_test(a_topic_that_is_gone),
    };
    int failed;

    if (kafka_fixture_brokers() == NULL)
        return 77;
    failed = cmocka_run_group_tests_name("kafka asks", tests, NULL, NULL);
    kafka_fixture_done();
    return failed;
}
