/*
 * test_kafka_lanes.c - what reaches another lane than its partition's
 *
 * librdkafka may put an event into the queue of a lane that has settled meanwhile. That takes an unlucky moment, so here
 * the tests take what a partition's queue has, and give it to the wrong lane, or to none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>

#include "source/kafka/lane.h"
#include "tests/support/kafka_fixture.h"
#include "util/clock.h"

#define DEADLINE_MS 20000
#define STALL_MS    4000
#define RECORDS     3

/* A source with two lanes, and a partition whose log ends with a record that nobody sees: only an event tells that. */
struct bench {
    char *topic;
    kafka_source *source;
    pawl_log log;
    pawl_source_lane *wrong, *right;
    pawl_source_tap *tap;
    int64_t deadline_ms;
};

static void
give_brokers(const pawl_source_setup *setup, void (*fn)(void *user, const char *name, const char *value), void *user)
{
    (void) setup;
    fn(user, "bootstrap.servers", kafka_fixture_address());
}

static char *
make_topic(void)
{
    char *topic = kafka_fixture_make("lanes", 1, NULL);
    rd_kafka_t *producer = kafka_fixture_transactional("none");

    kafka_fixture_begin(producer);
    kafka_fixture_send_many(producer, topic, 0, NULL, RECORDS);
    kafka_fixture_commit(producer);
    rd_kafka_destroy(producer);
    return topic;
}

static int
set_up(void **state)
{
    struct bench *bench = g_new0(struct bench, 1);
    pawl_source_setup setup = {.group = "lanes",
                               .client_id = "lanes",
                               .read_committed = true,
                               .memory_bytes = 64 << 20,
                               .stall_timeout_ms = STALL_MS,
                               .lanes = 2,
                               .log = &bench->log,
                               .properties = give_brokers};
    pawl_hold_line line = {.partition = {NULL, 0}};
    const char *topics[] = {NULL, NULL};

    bench->topic = make_topic();
    line.partition.topic = topics[0] = bench->topic;
    setup.topics = topics;
    bench->source = g_new0(kafka_source, 1);
    assert_int_equal(pawl__kafka_source.open(bench->source, &setup, NULL), PAWL_OK);
    assert_int_equal(pawl__kafka_source.hold(bench->source, &line, 1, NULL), PAWL_OK);
    bench->tap = line.ret_tap;
    bench->wrong = pawl__kafka_source.lane(bench->source, 0);
    bench->right = pawl__kafka_source.lane(bench->source, 1);
    bench->deadline_ms = pawl__clock_ms() + DEADLINE_MS;
    *state = bench;
    return 0;
}

static int
tear_down(void **state)
{
    struct bench *bench = *state;

    pawl__kafka_source.close(bench->source);
    g_free(bench->source);
    g_free(bench->topic);
    g_free(bench);
    return 0;
}

/* Takes everything out of the partition's own queue: the tap keeps the records, as after a batch. Returns the event. */
static rd_kafka_message_t *
take_event(struct bench *bench)
{
    rd_kafka_message_t *message = NULL;

    while (message == NULL || message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        assert_true(pawl__clock_ms() < bench->deadline_ms);
        message = rd_kafka_consume_queue(bench->tap->queue, DEADLINE_MS);
        assert_non_null(message);
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR)
            continue;
        bench->tap->reached = message->offset + 1;
        pawl__kafka_tap_keep(bench->tap, message);
    }
    assert_int_equal(message->err, RD_KAFKA_RESP_ERR__PARTITION_EOF);
    assert_int_equal(message->offset, RECORDS + 1);
    return message;
}

/* Gives a message to the lane that has nothing open, as if it had just received it. */
static void
hand_over(struct bench *bench, rd_kafka_message_t *message)
{
    bench->wrong->messages[0] = message;
    bench->wrong->next = 0;
    bench->wrong->count = 1;
}

/* What that lane has received is no delivery of its own. */
static void
run_wrong_lane(struct bench *bench)
{
    pawl_delivery delivery;

    pawl__kafka_source.next(bench->wrong, 0, &delivery);
    assert_int_equal(delivery.kind, PAWL_DELIVERY_NONE);
    assert_int_equal(bench->wrong->next, bench->wrong->count);
}

static void
expect_whole_range(struct bench *bench)
{
    size_t records = 0;
    pawl_delivery delivery;

    pawl__kafka_source.range_open(bench->right, bench->tap, 0, RECORDS + 1, NULL);
    do {
        pawl__kafka_source.next(bench->right, bench->deadline_ms, &delivery);
        assert_true(delivery.kind == PAWL_DELIVERY_RECORDS || delivery.kind == PAWL_DELIVERY_END);
        if (delivery.kind == PAWL_DELIVERY_RECORDS)
            records += delivery.count;
    } while (delivery.kind != PAWL_DELIVERY_END);
    assert_int_equal(records, RECORDS);
}

/* It lies in the queue of a lane that has settled. */
static void
an_event_that_nobody_looks_at(void **state)
{
    struct bench *bench = *state;

    rd_kafka_message_destroy(take_event(bench));
    expect_whole_range(bench);
}

static void
an_event_that_another_lane_receives(void **state)
{
    struct bench *bench = *state;

    hand_over(bench, take_event(bench));
    run_wrong_lane(bench);
    assert_int_equal(bench->tap->reached, RECORDS);
    expect_whole_range(bench);
}

/* The other lane has it in hand while the partition is read from elsewhere: it is no news of the new reading. */
static void
an_event_of_an_earlier_reading(void **state)
{
    struct bench *bench = *state;

    hand_over(bench, take_event(bench));
    assert_int_equal(pawl__kafka_source.rewind(bench->right, bench->tap, 0, NULL), PAWL_OK);
    run_wrong_lane(bench);
    expect_whole_range(bench);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_event_that_nobody_looks_at, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_event_that_another_lane_receives, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_event_of_an_earlier_reading, set_up, tear_down),
    };
    int failed;

    if (kafka_fixture_brokers() == NULL)
        return 77;
    failed = cmocka_run_group_tests_name("kafka lanes", tests, NULL, NULL);
    kafka_fixture_done();
    return failed;
}
