/*
 * test_kafka_lanes.c - what reaches another lane than its partition's
 *
 * librdkafka may put an event into the queue of a lane that has settled meanwhile. That takes an unlucky moment, so here
 * the partition's queue is forwarded to the wrong lane on purpose.
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
#define LOOK_MS     20
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
                               .stall_timeout_ms = DEADLINE_MS,
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

/* What the lane that has nothing open receives is no delivery of its own. */
static void
run_wrong_lane(struct bench *bench)
{
    pawl_delivery delivery;

    assert_true(pawl__clock_ms() < bench->deadline_ms);
    pawl__kafka_source.next(bench->wrong, pawl__clock_ms() + LOOK_MS, &delivery);
    assert_int_equal(delivery.kind, PAWL_DELIVERY_NONE);
}

/* Reads the open range to its end; `feed`: from the wrong lane. */
static void
expect_whole_range(struct bench *bench, bool feed)
{
    size_t records = 0;
    pawl_delivery delivery;

    do {
        if (feed)
            run_wrong_lane(bench);
        pawl__kafka_source.next(bench->right, feed ? 0 : bench->deadline_ms, &delivery);
        assert_true(delivery.kind != PAWL_DELIVERY_FAILED);
        assert_true(feed || delivery.kind != PAWL_DELIVERY_NONE);
        if (delivery.kind == PAWL_DELIVERY_RECORDS)
            records += delivery.count;
    } while (delivery.kind != PAWL_DELIVERY_END);
    assert_int_equal(records, RECORDS);
}

static void
a_lane_gets_what_reached_another(void **state)
{
    struct bench *bench = *state;

    pawl__kafka_source.range_open(bench->right, bench->tap, 0, RECORDS + 1, NULL);
    rd_kafka_queue_forward(bench->tap->queue, bench->wrong->queue);
    expect_whole_range(bench, true);
}

static guint
count_strays(struct bench *bench)
{
    guint count;

    pthread_mutex_lock(&bench->source->strays_mutex);
    count = bench->source->strays->len;
    pthread_mutex_unlock(&bench->source->strays_mutex);
    return count;
}

/* Nobody has the tap yet: it stays as it is until somebody does. */
static void
what_is_nobodys_waits(void **state)
{
    struct bench *bench = *state;

    rd_kafka_queue_forward(bench->tap->queue, bench->wrong->queue);
    while (count_strays(bench) < RECORDS + 1)
        run_wrong_lane(bench);
    pawl__kafka_source.settle(bench->wrong);
    assert_int_equal(bench->tap->reached, 0);
    assert_null(pawl__kafka_tap_peek(bench->tap));
    pawl__kafka_source.range_open(bench->right, bench->tap, 0, RECORDS + 1, NULL);
    expect_whole_range(bench, false);
    assert_int_equal(count_strays(bench), 0);
}

/* What was posted before a partition is read from elsewhere is no news of the new reading. */
static void
reading_anew_drops_it(void **state)
{
    struct bench *bench = *state;

    rd_kafka_queue_forward(bench->tap->queue, bench->wrong->queue);
    while (count_strays(bench) < RECORDS + 1)
        run_wrong_lane(bench);
    pawl__kafka_source.settle(bench->wrong);
    assert_int_equal(pawl__kafka_source.rewind(bench->right, bench->tap, 0, NULL), PAWL_OK);
    assert_int_equal(count_strays(bench), 0);
    pawl__kafka_source.range_open(bench->right, bench->tap, 0, RECORDS + 1, NULL);
    expect_whole_range(bench, false);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_lane_gets_what_reached_another, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_nobodys_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reading_anew_drops_it, set_up, tear_down),
    };
    int failed;

    if (kafka_fixture_brokers() == NULL)
        return 77;
    failed = cmocka_run_group_tests_name("kafka lanes", tests, NULL, NULL);
    kafka_fixture_done();
    return failed;
}
