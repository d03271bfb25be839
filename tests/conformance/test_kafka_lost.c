/*
 * test_kafka_lost.c - requests of the kafka: store and answers that are lost, or late, on their way
 */
#include "tests/conformance/suite.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <pawl/sys/registry.h>

#include "tests/support/kafka_fixture.h"
#include "tests/support/proxy.h"
#include "tests/support/service.h"
#include "util/clock.h"

#define PARTITIONS 50

extern const pawl_store_backend pawl__store_kafka;

/* A broker that everybody reaches through the proxy only. */
static service *broker;
static proxy *between;
static conformance kafka = {.name = "kafka"};

static void
start_broker(void)
{
    char *advertised, *address;

    between = proxy_new(0);
    advertised = g_strdup_printf("advertised.listeners=PLAINTEXT://127.0.0.1:%d", proxy_port(between));
    broker = service_new("kafka", (const char *const[]){advertised, NULL});
    address = service_value(broker, "KAFKA_BROKERS");
    proxy_connect_to(between, atoi(strrchr(address, ':') + 1));
    kafka.url = g_strdup_printf("kafka://127.0.0.1:%d", proxy_port(between));
    kafka_fixture_use(kafka.url + strlen("kafka://"));
    kafka_fixture_make_named("even", PARTITIONS, NULL);
    kafka_fixture_make_named("odd", PARTITIONS, NULL);
    kafka_fixture_done();
    g_free(address);
    g_free(advertised);
}

static void
stop_broker(void)
{
    service_free(broker);
    proxy_free(between);
    g_free((char *) kafka.url);
}

/* A handle that has saved once, so that it knows where the group is kept. */
typedef struct fixture {
    pawl_store *store;
    const char *group;
    pawl_save_line *lines;
} fixture;

static pawl_status
save(fixture *fix, size_t count, int64_t until, pawl_error *err)
{
    for (size_t i = 0; i < count; i++) {
        fix->lines[i].expected = pawl_position_at(fix->lines[i].until);
        fix->lines[i].until = until;
    }
    return pawl_store_save(fix->store, fix->group, fix->lines, count, err);
}

static pawl_entry
load(const fixture *fix)
{
    return suite_load(fix->store, fix->group, "even", 0);
}

static int
set_up(void **state)
{
    static int groups;
    fixture *fix = g_new0(fixture, 1);
    pawl_error err;

    fix->store = suite_open(&kafka, 10000);
    fix->group = g_strdup_printf("lost-%d", ++groups);
    fix->lines = suite_many(fix->store, fix->group, 2 * PARTITIONS);
    assert_status(PAWL_OK, save(fix, 2 * PARTITIONS, 1, &err), err);
    *state = fix;
    return 0;
}

static int
tear_down(void **state)
{
    fixture *fix = *state;

    pawl_store_close(fix->store);
    g_free((char *) fix->group);
    g_free(fix->lines);
    g_free(fix);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------- what is sent -- */

static void
a_save_is_one_request(void **state)
{
    fixture *fix = *state;
    size_t before = proxy_requests(between);
    pawl_error err;

    for (int64_t i = 2; i < 12; i++)
        assert_status(PAWL_OK, save(fix, 2 * PARTITIONS, i, &err), err);
    assert_int_equal(proxy_requests(between) - before, 10);
    assert_int_equal(load(fix).offset.offset, 11);
    assert_int_equal(proxy_requests(between) - before, 11);
}

/* ------------------------------------------------------------------------------------------------------ what is lost -- */

static void
a_lost_answer_is_asked_for_again(void **state)
{
    fixture *fix = *state;
    pawl_error err;

    for (int64_t i = 2; i < 8; i++) {
        proxy_lose_next_answer(between);
        assert_status(PAWL_OK, save(fix, 2 * PARTITIONS, i, &err), err);
        proxy_lose_next_answer(between);
        assert_int_equal(load(fix).offset.offset, i);
    }
}

/* Nothing but the offset says who wrote it: what is there is taken as it is. */
static void
an_acquire_is_asked_for_again(void **state)
{
    fixture *fix = *state;
    pawl_acquire_line line = {.partition = {"even", 0}, .initial = pawl_position_at(5)};
    pawl_owner owner = suite_owner("suite");
    pawl_store *store = suite_open(&kafka, 10000);
    char *group = g_strconcat(fix->group, "-new", NULL);
    pawl_error err;

    suite_load(store, group, "even", 0);
    proxy_lose_answers(between, 1 << 1); /* of the commit, which follows a load */
    assert_status(PAWL_OK, pawl_store_acquire(store, group, &owner, NULL, &line, 1, &err), err);
    assert_int_equal(suite_load(store, group, "even", 0).offset.offset, 5);
    pawl_store_close(store);
    g_free(group);
}

static void
a_request_that_never_comes_is_sent_again(void **state)
{
    fixture *fix = *state;
    pawl_error err;

    proxy_hold_next_request(between);
    assert_status(PAWL_OK, save(fix, 1, 5, &err), err);
    assert_int_equal(load(fix).offset.offset, 5);
}

/* ---------------------------------------------------------------------------------------------------- what is late -- */

/* A thread that loads from a broker that is frozen. */
typedef struct loading {
    fixture *fix;
    pawl_status status;
    pawl_error err;
} loading;

static void *
load_in_thread(void *user)
{
    loading *loader = user;
    pawl_partition partition = {"even", 0};
    pawl_entry entry;

    loader->status = pawl_store_load(loader->fix->store, loader->fix->group, &partition, 1, &entry, NULL, &loader->err);
    return NULL;
}

/* The proxy has no event for that: it is asked again, soon. */
static void
await_requests(size_t count)
{
    int64_t deadline_ms = pawl__clock_ms() + 30000;

    while (proxy_requests(between) < count) {
        assert_true(pawl__clock_ms() < deadline_ms);
        g_usleep(1000);
    }
}

static pthread_t
load_frozen(loading *loader)
{
    size_t before = proxy_requests(between);
    pthread_t thread;

    service_signal(broker, "KAFKA_PID", SIGSTOP);
    assert_int_equal(pthread_create(&thread, NULL, load_in_thread, loader), 0);
    await_requests(before + 1);
    return thread;
}

static void
a_load_waits_for_a_slow_broker(void **state)
{
    loading loader = {.fix = *state};
    size_t before = proxy_requests(between);
    pthread_t thread = load_frozen(&loader);

    await_requests(before + 3); /* it has lost patience and asked again, twice */
    service_signal(broker, "KAFKA_PID", SIGCONT);
    pthread_join(thread, NULL);
    assert_status(PAWL_OK, loader.status, loader.err);
}

static void
cancel_ends_a_load(void **state)
{
    loading loader = {.fix = *state};
    pthread_t thread = load_frozen(&loader);
    int64_t start_ms = pawl__clock_ms();

    pawl_store_cancel(loader.fix->store);
    pthread_join(thread, NULL);
    service_signal(broker, "KAFKA_PID", SIGCONT);
    assert_in_range(pawl__clock_ms() - start_ms, 0, 1000);
    assert_status(PAWL_CANCELLED, loader.status, loader.err);
}

/* Neither one that was sent nor one that waits for the broker to be found. */
static void
close_waits_for_no_save(void **state)
{
    const fixture *fix = *state;
    pawl_store *known = suite_open(&kafka, 1000), *fresh = suite_open(&kafka, 1000);
    int64_t start_ms;
    pawl_status statuses[2];
    pawl_error err;

    suite_load(known, fix->group, "even", 0);
    service_signal(broker, "KAFKA_PID", SIGSTOP);
    statuses[0] = suite_save(known, fix->group, "even", 0, 1, pawl_position_at(1), 2, &err);
    statuses[1] = suite_save(fresh, fix->group, "even", 0, 1, pawl_position_at(1), 2, &err);
    start_ms = pawl__clock_ms();
    pawl_store_close(known);
    pawl_store_close(fresh);
    start_ms = pawl__clock_ms() - start_ms;
    service_signal(broker, "KAFKA_PID", SIGCONT);
    assert_int_not_equal(statuses[0], PAWL_OK);
    assert_int_not_equal(statuses[1], PAWL_OK);
    assert_in_range(start_ms, 0, 2000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_save_is_one_request, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lost_answer_is_asked_for_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_acquire_is_asked_for_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_request_that_never_comes_is_sent_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_load_waits_for_a_slow_broker, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancel_ends_a_load, set_up, tear_down),
        cmocka_unit_test_setup_teardown(close_waits_for_no_save, set_up, tear_down),
    };
    int failed;

    if (kafka_fixture_brokers() == NULL)
        return 77;
    if (pawl_registry_add_store(&pawl__store_kafka, NULL) != PAWL_OK)
        return EXIT_FAILURE;
    start_broker();
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    stop_broker();
    return failed;
}
