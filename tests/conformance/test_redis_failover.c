/*
 * test_redis_failover.c - servers that freeze, die, come back, or lose what they had: the same handle goes on
 */
#include "tests/conformance/suite.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/redis_raw.h"
#include "tests/support/proxy.h"
#include "util/clock.h"
#include "util/wait.h"

/* Two servers, "master" and "replica", and a handle that owns partitions 0 and 1 of "t" in group "g" with offset 1. */
typedef struct fixture {
    service *master;
    service *replica;
    proxy *between;  /* the handle and the master, where a test wants one */
    size_t requests; /* that it has seen before one is in flight */
    char *master_url;
    char *replica_url;
    pawl_store *store;
    int64_t epochs[2];
} fixture;

static void
start_servers(fixture *fix)
{
    char *port, *line;

    fix->master = raw_server(NULL);
    fix->master_url = raw_url(fix->master, "");
    port = service_value(fix->master, "REDIS_PORT");
    line = g_strdup_printf("replicaof=127.0.0.1 %s", port);
    fix->replica = raw_server((const char *const[]){line, NULL});
    fix->replica_url = raw_url(fix->replica, "");
    g_free(line);
    g_free(port);
}

static void
open_url(fixture *fix, const char *url, int64_t timeout_ms)
{
    pawl_error err;

    assert_status(PAWL_OK, raw_try_store(url, timeout_ms, &fix->store, &err), err);
    for (int32_t i = 0; i < 2; i++)
        fix->epochs[i] = suite_acquire(fix->store, "g", "t", i, pawl_position_at(1));
}

/* Opens the handle, on both servers. */
static void
open_store(fixture *fix, const char *options, int64_t timeout_ms)
{
    char *url = raw_url_of_both(fix->master, fix->replica, options);

    open_url(fix, url, timeout_ms);
    g_free(url);
}

/* The same with a proxy before the master. */
static void
open_store_behind_proxy(fixture *fix, const char *options)
{
    char *url;

    fix->between = proxy_new(atoi(strrchr(fix->master_url, ':') + 1));
    url = g_strdup_printf("redis://127.0.0.1:%d,%s%s", proxy_port(fix->between), fix->replica_url + strlen("redis://"),
                          options);
    open_url(fix, url, 10000);
    g_free(url);
}

static int
set_up(void **state)
{
    fixture *fix = g_new0(fixture, 1);

    start_servers(fix);
    *state = fix;
    return 0;
}

static int
tear_down(void **state)
{
    fixture *fix = *state;

    pawl_store_close(fix->store);
    if (fix->between != NULL)
        proxy_free(fix->between);
    service_free(fix->replica);
    service_free(fix->master);
    g_free(fix->replica_url);
    g_free(fix->master_url);
    g_free(fix);
    return 0;
}

/* Moves both offsets by one, in one save. */
static pawl_status
save_next(const fixture *fix, int64_t from, pawl_error *err)
{
    pawl_save_line lines[2];

    for (int32_t i = 0; i < 2; i++)
        lines[i] = suite_line("t", i, fix->epochs[i], pawl_position_at(from), from + 1);
    return pawl_store_save(fix->store, "g", lines, 2, err);
}

static void
assert_both(const fixture *fix, int64_t offset)
{
    for (int32_t i = 0; i < 2; i++)
        suite_assert_offset(fix->store, "g", "t", i, pawl_position_at(offset), __FILE__, __LINE__);
}

/* Waits until the replica has all that the master has; returns then. */
static void
await_replica(const fixture *fix)
{
    char *count;

    raw_do(fix->master_url, "SET fence 1");
    do {
        count = raw_ask(fix->replica_url, "EXISTS fence");
    } while (strcmp(count, "1") != 0 && (g_free(count), true));
    g_free(count);
    raw_do(fix->master_url, "DEL fence");
    do {
        count = raw_ask(fix->replica_url, "EXISTS fence");
    } while (strcmp(count, "0") != 0 && (g_free(count), true));
    g_free(count);
}

/* The replica hears no more, and the master gets one more save. */
static void
save_without_the_replica(fixture *fix)
{
    pawl_error err;

    assert_status(PAWL_OK, save_next(fix, 1, &err), err);
    await_replica(fix);
    raw_do(fix->replica_url, "REPLICAOF NO ONE");
    assert_status(PAWL_OK, save_next(fix, 2, &err), err);
}

/* Then the master dies, and the replica takes its place. */
static void
fail_over_without_the_last_save(fixture *fix)
{
    save_without_the_replica(fix);
    service_do(fix->master, "kill");
}

static void *
kill_master_in_flight(void *user)
{
    fixture *fix = user;

    while (proxy_requests(fix->between) == fix->requests)
        sched_yield();
    service_do(fix->master, "kill");
    return NULL;
}

/* The same while the save after it is on its way. */
static pawl_status
fail_over_during_the_next_save(fixture *fix, pawl_error *err)
{
    pthread_t killer;
    pawl_status status;

    save_without_the_replica(fix);
    service_signal(fix->master, "REDIS_PID", SIGSTOP);
    fix->requests = proxy_requests(fix->between);
    assert_int_equal(pthread_create(&killer, NULL, kill_master_in_flight, fix), 0);
    status = save_next(fix, 3, err);
    pthread_join(killer, NULL);
    return status;
}

/* ------------------------------------------------------------------------------------------------ killed, frozen -- */

static void
killed_right_after_a_save(void **state)
{
    fixture *fix = *state;
    pawl_error err;

    open_store(fix, "", 10000);
    for (int64_t i = 1; i < 4; i++) {
        assert_status(PAWL_OK, save_next(fix, i, &err), err);
        service_do(fix->master, "kill");
        service_do(fix->master, "start");
        assert_both(fix, i + 1);
    }
    assert_status(PAWL_OK, save_next(fix, 4, &err), err);
}

static void
away_for_a_while(void **state)
{
    fixture *fix = *state;
    pawl_status status;
    pawl_error err;

    open_store(fix, "", 1000);
    service_do(fix->master, "kill");
    status = save_next(fix, 1, &err);
    assert_true(status == PAWL_UNREACHABLE || status == PAWL_TIMEOUT); /* whichever comes first */
    service_do(fix->master, "start");
    assert_status(PAWL_OK, save_next(fix, 1, &err), err);
}

/* A save that times out, again and again: no answer is taken for another's, and what was sent comes before what is
 * read. */
static void
frozen_in_the_middle(void **state)
{
    fixture *fix = *state;
    int64_t stored = 1;
    pawl_error err;

    open_store(fix, "", 1000);
    for (int i = 0; i < 5; i++) {
        int64_t start_ms = pawl__clock_ms(), found;
        pawl_status status;

        service_signal(fix->master, "REDIS_PID", SIGSTOP);
        status = save_next(fix, stored, &err);
        service_signal(fix->master, "REDIS_PID", SIGCONT);
        assert_true(status == PAWL_OUTCOME_UNKNOWN || status == PAWL_TIMEOUT);
        assert_true(pawl__clock_ms() - start_ms < 4000);

        found = suite_load(fix->store, "g", "t", 0).offset.offset;
        assert_true(found == stored || found == stored + 1);
        for (int again = 0; again < 20; again++)
            assert_both(fix, found);
        assert_status(PAWL_OK, save_next(fix, found, &err), err);
        stored = found + 1;
    }
}

/* --------------------------------------------------------------------------------------------- masters, replicas -- */

static void
a_replica_is_no_master(void **state)
{
    fixture *fix = *state;
    char *other = raw_url_of_both(fix->replica, fix->master, "");
    pawl_store *store = NULL;
    pawl_error err;

    assert_status(PAWL_UNREACHABLE, raw_try_store(fix->replica_url, 3000, &store, &err), err);
    assert_says(err, "replica");
    assert_status(PAWL_OK, raw_try_store(other, 3000, &store, &err), err);
    pawl_store_close(store);
    g_free(other);
}

static void
a_master_that_became_a_replica(void **state)
{
    fixture *fix = *state;
    char *port = service_value(fix->replica, "REDIS_PORT");
    pawl_error err;

    open_store(fix, "?replicas=1", 10000);
    assert_status(PAWL_OK, save_next(fix, 1, &err), err);
    raw_do(fix->replica_url, "REPLICAOF NO ONE");
    raw_do(fix->master_url, "REPLICAOF 127.0.0.1 %s", port);
    assert_status(PAWL_OK, save_next(fix, 2, &err), err); /* READONLY, and then the other one */
    assert_both(fix, 3);
    g_free(port);
}

static void
a_failover_with_every_save(void **state)
{
    fixture *fix = *state;
    pawl_error err;

    open_store(fix, "?replicas=1", 10000);
    assert_status(PAWL_OK, save_next(fix, 1, &err), err);
    service_do(fix->master, "kill");
    raw_do(fix->replica_url, "REPLICAOF NO ONE");
    assert_both(fix, 2);
}

static void
too_few_replicas(void **state)
{
    fixture *fix = *state;
    char *url = raw_url(fix->master, "?replicas=2");
    pawl_store *store = NULL;
    pawl_error err;

    open_store(fix, "?replicas=1", 10000);
    await_replica(fix);
    assert_status(PAWL_OK, raw_try_store(url, 2000, &store, &err), err);
    assert_status(PAWL_OUTCOME_UNKNOWN, suite_save(store, "g", "t", 0, fix->epochs[0], pawl_position_at(1), 2, &err),
                  err);
    assert_says(err, "1 of 2 replicas");
    pawl_store_close(store);
    g_free(url);
}

/* ---------------------------------------------------------------------------------------------------- going back -- */

static void
a_failover_without_the_last_save(void **state)
{
    fixture *fix = *state;
    pawl_error err;

    open_store(fix, "", 10000);
    fail_over_without_the_last_save(fix);
    assert_status(PAWL_CONFLICT, save_next(fix, 3, &err), err);
    assert_says(err, "lost our last saves");
    assert_says(err, "on_rollback=reassert");
    assert_both(fix, 2);
}

static void
the_last_save_is_written_again(void **state)
{
    fixture *fix = *state;
    pawl_error err;

    open_store(fix, "?on_rollback=reassert", 10000);
    fail_over_without_the_last_save(fix);
    assert_status(PAWL_OK, save_next(fix, 3, &err), err);
    assert_both(fix, 4);
}

static void
a_failover_with_a_save_in_flight(void **state)
{
    fixture *fix = *state;
    pawl_error err;

    open_store_behind_proxy(fix, "");
    assert_status(PAWL_CONFLICT, fail_over_during_the_next_save(fix, &err), err);
    assert_says(err, "lost our last saves");
    assert_both(fix, 2);
}

static void
a_save_in_flight_is_written_again_with_the_last_one(void **state)
{
    fixture *fix = *state;
    pawl_error err;

    open_store_behind_proxy(fix, "?on_rollback=reassert");
    assert_status(PAWL_OK, fail_over_during_the_next_save(fix, &err), err);
    assert_both(fix, 4);
    assert_status(PAWL_OK, save_next(fix, 4, &err), err);
}

/* With replay = exact a plan is what comes after a save. */
static void
the_last_save_is_written_again_before_a_plan(void **state)
{
    fixture *fix = *state;
    pawl_plan_line line = {.partition = {"t", 0}, .expected = pawl_position_at(3), .pending = pawl_position_at(4)};
    pawl_entry entry;
    pawl_error err;

    open_store(fix, "?on_rollback=reassert", 10000);
    line.epoch = fix->epochs[0];
    fail_over_without_the_last_save(fix);
    assert_status(PAWL_OK, pawl_store_plan(fix->store, "g", &line, 1, &err), err);
    entry = suite_load(fix->store, "g", "t", 0);
    assert_int_equal(entry.offset.offset, 3);
    assert_int_equal(entry.pending.offset, 4);
}

/* What somebody else has written is not older work of ours. */
static void
a_hand_in_it_is_no_going_back(void **state)
{
    fixture *fix = *state;
    pawl_error err;

    open_store(fix, "?on_rollback=reassert", 10000);
    fail_over_without_the_last_save(fix);
    raw_do(fix->replica_url, "HSET pawl:{g} t:1 1");
    assert_status(PAWL_CONFLICT, save_next(fix, 3, &err), err);
    suite_assert_offset(fix->store, "g", "t", 0, pawl_position_at(2), __FILE__, __LINE__);
    suite_assert_offset(fix->store, "g", "t", 1, pawl_position_at(1), __FILE__, __LINE__);
}

/* The failover forgot that we are the owner, and somebody else is one now: never with our epoch. */
static void
an_acquire_that_was_lost(void **state)
{
    fixture *fix = *state;
    pawl_store *other = NULL;
    pawl_error err;

    await_replica(fix);
    raw_do(fix->replica_url, "REPLICAOF NO ONE");
    open_store(fix, "?on_rollback=reassert", 10000);
    service_do(fix->master, "kill");
    assert_status(PAWL_OK, raw_try_store(fix->replica_url, 3000, &other, &err), err);
    for (int32_t i = 0; i < 2; i++)
        suite_acquire(other, "g", "t", i, pawl_position_at(1));
    pawl_store_close(other);
    assert_status(PAWL_FENCED, save_next(fix, 1, &err), err);
}

/* ------------------------------------------------------------------------------------------------------ clusters -- */

static void
assert_moved_to(const service *server, const char *url, const char *group)
{
    pawl_store *store = NULL;
    int64_t epoch;
    pawl_error err;
    char *own = raw_url(server, ""), *key = g_strdup_printf("pawl:{%s}", group), *offset;

    assert_status(PAWL_OK, raw_try_store(url, 10000, &store, &err), err);
    epoch = suite_acquire(store, group, "t", 0, pawl_position_at(1));
    assert_status(PAWL_OK, suite_save(store, group, "t", 0, epoch, pawl_position_at(1), 2, &err), err);
    offset = raw_ask(own, "HGET %s t:0", key);
    assert_string_equal(offset, "2");
    assert_status(PAWL_UNSUPPORTED, pawl_store_list(store, NULL, NULL, NULL, &err), err);
    pawl_store_close(store);
    g_free(offset);
    g_free(key);
    g_free(own);
}

/* "a" has slot 15495, "b" has slot 3300. */
static void
a_group_on_another_node(void **state)
{
    service *low = raw_node(), *high = raw_node();
    char *low_url = raw_url(low, ""), *high_url = raw_url(high, "");

    (void) state;
    raw_join_nodes(low, high);
    assert_moved_to(high, low_url, "a");
    assert_moved_to(low, high_url, "b");
    service_free(high);
    service_free(low);
    g_free(high_url);
    g_free(low_url);
}

#define with_servers(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        with_servers(killed_right_after_a_save),
        with_servers(away_for_a_while),
        with_servers(frozen_in_the_middle),
        with_servers(a_replica_is_no_master),
        with_servers(a_master_that_became_a_replica),
        with_servers(a_failover_with_every_save),
        with_servers(too_few_replicas),
        with_servers(a_failover_without_the_last_save),
        with_servers(the_last_save_is_written_again),
        with_servers(a_failover_with_a_save_in_flight),
        with_servers(a_save_in_flight_is_written_again_with_the_last_one),
        with_servers(the_last_save_is_written_again_before_a_plan),
        with_servers(a_hand_in_it_is_no_going_back),
        with_servers(an_acquire_that_was_lost),
        cmocka_unit_test(a_group_on_another_node),
    };

    return raw_init() ? cmocka_run_group_tests(tests, NULL, NULL) : EXIT_FAILURE;
}
