/*
 * test_redis_lost.c - requests and answers that are lost or late on their way to a Redis server
 */
#include "tests/conformance/suite.h"

#include <stdlib.h>

#include "tests/conformance/redis_raw.h"
#include "tests/support/proxy.h"

/* A server behind a proxy, and a handle that owns partition 0 of "t" in group "g", with offset 1. */
typedef struct fixture {
    service *server;
    char *server_url;
    proxy *between;
    char *url;
    pawl_store *store;
    int64_t epoch;
} fixture;

static int
set_up(void **state)
{
    fixture *fix = g_new0(fixture, 1);
    char *port;
    pawl_error err;

    fix->server = raw_server(NULL);
    fix->server_url = raw_url(fix->server, "");
    port = service_value(fix->server, "REDIS_PORT");
    fix->between = proxy_new(atoi(port));
    fix->url = g_strdup_printf("redis://127.0.0.1:%d", proxy_port(fix->between));
    assert_status(PAWL_OK, raw_try_store(fix->url, 10000, &fix->store, &err), err);
    fix->epoch = suite_acquire(fix->store, "g", "t", 0, pawl_position_at(1));
    g_free(port);
    *state = fix;
    return 0;
}

static int
tear_down(void **state)
{
    fixture *fix = *state;

    pawl_store_close(fix->store);
    proxy_free(fix->between);
    service_free(fix->server);
    g_free(fix->server_url);
    g_free(fix->url);
    g_free(fix);
    return 0;
}

static pawl_status
save_next(const fixture *fix, int64_t from, pawl_error *err)
{
    return suite_save(fix->store, "g", "t", 0, fix->epoch, pawl_position_at(from), from + 1, err);
}

static pawl_status
plan(pawl_store *store, const char *group, int64_t epoch, int64_t pending, pawl_error *err)
{
    pawl_plan_line line = {
        .partition = {"t", 0}, .epoch = epoch, .expected = pawl_position_at(1), .pending = pawl_position_at(pending)};

    return pawl_store_plan(store, group, &line, 1, err);
}

/* A plan that is held on its way is sent again, and another one after it. When it comes in the end, it changes nothing. */
static void
assert_late_plan_changes_nothing(proxy *between, pawl_store *store, const char *group, int64_t epoch)
{
    pawl_error err;

    proxy_hold_next_request(between);
    assert_status(PAWL_OK, plan(store, group, epoch, 5, &err), err);
    assert_status(PAWL_OK, plan(store, group, epoch, 7, &err), err);
    proxy_let_go(between);
    for (int i = 0; i < 20; i++)
        assert_int_equal(suite_load(store, group, "t", 0).pending.offset, 7);
}

/* ------------------------------------------------------------------------------------------------------ requests -- */

static void
a_save_is_one_request(void **state)
{
    fixture *fix = *state;
    pawl_save_line *lines = suite_many(fix->store, "many", 100);
    size_t before;
    pawl_error err;

    assert_status(PAWL_OK, pawl_store_save(fix->store, "many", lines, 100, &err), err);
    before = proxy_requests(fix->between);
    for (int i = 0; i < 10; i++) {
        for (int j = 0; j < 100; j++)
            lines[j].expected = pawl_position_at(lines[j].until++);
        assert_status(PAWL_OK, pawl_store_save(fix->store, "many", lines, 100, &err), err);
    }
    assert_int_equal(proxy_requests(fix->between) - before, 10);
    g_free(lines);
}

static void
a_lost_answer_is_looked_up(void **state)
{
    fixture *fix = *state;
    pawl_acquire_line line = {.partition = {"t", 0}, .epoch_seen = fix->epoch};
    pawl_owner owner = suite_owner("again");
    pawl_error err;

    for (int64_t i = 1; i < 20; i++) {
        proxy_lose_next_answer(fix->between);
        assert_status(PAWL_OK, save_next(fix, i, &err), err);
        assert_int_equal(suite_load(fix->store, "g", "t", 0).offset.offset, i + 1);
    }
    proxy_lose_next_answer(fix->between);
    assert_status(PAWL_OK, pawl_store_acquire(fix->store, "g", &owner, NULL, &line, 1, &err), err);
    assert_int_equal(suite_load(fix->store, "g", "t", 0).epoch, line.ret_epoch);
}

static void
a_late_request_changes_nothing(void **state)
{
    fixture *fix = *state;
    pawl_error err;

    assert_late_plan_changes_nothing(fix->between, fix->store, "g", fix->epoch);
    proxy_hold_next_request(fix->between);
    assert_status(PAWL_OK, save_next(fix, 1, &err), err);
    assert_status(PAWL_OK, save_next(fix, 2, &err), err);
    proxy_let_go(fix->between);
    for (int i = 0; i < 20; i++)
        assert_int_equal(suite_load(fix->store, "g", "t", 0).offset.offset, 3);
}

/* Each of the answers that a session begins with. */
static void
an_answer_that_is_lost_while_opening(void **state)
{
    fixture *fix = *state;
    pawl_store *store = NULL;
    pawl_error err;

    for (int i = 0; i < 3; i++) {
        proxy_lose_answers(fix->between, (uint64_t) 1 << i);
        assert_status(PAWL_UNREACHABLE, raw_try_store(fix->url, 3000, &store, &err), err);
    }
    assert_status(PAWL_OK, raw_try_store(fix->url, 3000, &store, &err), err);
    pawl_store_close(store);
}

/* The confirmation of a save is lost, and then one of the answers that the read-back needs, its confirmation included. */
static void
a_lost_confirmation_is_asked_for_again(void **state)
{
    fixture *fix = *state;
    char *master = g_strdup_printf("replicaof=127.0.0.1 %s", strrchr(fix->server_url, ':') + 1);
    service *replica = raw_server((const char *const[]){master, NULL});
    char *url = g_strconcat(fix->url, "?replicas=1", NULL);
    pawl_store *store = NULL;
    int64_t epoch;
    pawl_error err;

    assert_status(PAWL_OK, raw_try_store(url, 10000, &store, &err), err);
    epoch = suite_acquire(store, "sure", "t", 0, pawl_position_at(0));
    for (int i = 0; i < 8; i++) {
        proxy_lose_answers(fix->between, (uint64_t) 2 | (uint64_t) 4 << i);
        assert_status(PAWL_OK, suite_save(store, "sure", "t", 0, epoch, pawl_position_at(i), i + 1, &err), err);
        proxy_lose_answers(fix->between, 0);
    }
    pawl_store_close(store);
    service_free(replica);
    g_free(url);
    g_free(master);
}

/* Keeps both hashes of group "g" as they are; later they are put back, as if the server had lost what came after. */
static void
keep_a_copy(const fixture *fix)
{
    raw_do(fix->server_url, "COPY pawl:{g} kept REPLACE");
    raw_do(fix->server_url, "COPY pawl:{g}:state kept:state REPLACE");
}

static void
go_back_to_the_copy(const fixture *fix)
{
    raw_do(fix->server_url, "COPY kept pawl:{g} REPLACE");
    raw_do(fix->server_url, "COPY kept:state pawl:{g}:state REPLACE");
}

static void
reopen(fixture *fix, const char *options)
{
    char *url = g_strconcat(fix->url, options, NULL);
    pawl_error err;

    pawl_store_close(fix->store);
    assert_status(PAWL_OK, raw_try_store(url, 10000, &fix->store, &err), err);
    fix->epoch = suite_acquire(fix->store, "g", "t", 0, pawl_position_at(1));
    g_free(url);
}

/* The server went back, and then each of the answers is lost that the way out of it needs. */
static void
lost_answers_while_a_lost_save_is_written_again(void **state)
{
    fixture *fix = *state;
    pawl_error err;

    reopen(fix, "?on_rollback=reassert");
    for (int64_t i = 1; i < 40; i += 3) {
        assert_status(PAWL_OK, save_next(fix, i, &err), err);
        keep_a_copy(fix);
        assert_status(PAWL_OK, save_next(fix, i + 1, &err), err);
        go_back_to_the_copy(fix);
        proxy_lose_answers(fix->between, (uint64_t) 1 << i / 3);
        assert_status(PAWL_OK, save_next(fix, i + 2, &err), err);
        proxy_lose_answers(fix->between, 0);
        assert_int_equal(suite_load(fix->store, "g", "t", 0).offset.offset, i + 3);
    }
}

/* A save that was only found by reading back is remembered like any other: the server can lose it, too. */
static void
a_save_that_was_looked_up_is_written_again(void **state)
{
    fixture *fix = *state;
    pawl_error err;

    assert_status(PAWL_OK, save_next(fix, 1, &err), err); /* the server knows the script now */
    reopen(fix, "?on_rollback=reassert");
    keep_a_copy(fix);
    proxy_lose_next_answer(fix->between);
    assert_status(PAWL_OK, save_next(fix, 2, &err), err);
    go_back_to_the_copy(fix);
    assert_status(PAWL_OK, save_next(fix, 3, &err), err);
    assert_int_equal(suite_load(fix->store, "g", "t", 0).offset.offset, 4);
}

/* "a" has slot 15495. After a lost answer the node that is asked first only sends us on. */
static void
a_late_request_to_another_node(void **state)
{
    service *low = raw_node(), *high = raw_node();
    char *low_url = raw_url(low, ""), *high_url = raw_url(high, "");
    proxy *between = proxy_new(atoi(strrchr(high_url, ':') + 1));
    char *port = g_strdup_printf("%d", proxy_port(between));
    pawl_store *store = NULL;
    pawl_error err;

    (void) state;
    raw_do(high_url, "CONFIG SET cluster-announce-port %s", port);
    raw_join_nodes(low, high);
    assert_status(PAWL_OK, raw_try_store(low_url, 10000, &store, &err), err);
    assert_late_plan_changes_nothing(between, store, "a", suite_acquire(store, "a", "t", 0, pawl_position_at(1)));
    pawl_store_close(store);
    proxy_free(between);
    service_free(high);
    service_free(low);
    g_free(port);
    g_free(high_url);
    g_free(low_url);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_save_is_one_request, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lost_answer_is_looked_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_late_request_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_answer_that_is_lost_while_opening, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lost_confirmation_is_asked_for_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost_answers_while_a_lost_save_is_written_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_save_that_was_looked_up_is_written_again, set_up, tear_down),
        cmocka_unit_test(a_late_request_to_another_node),
    };

    return raw_init() ? cmocka_run_group_tests(tests, NULL, NULL) : EXIT_FAILURE;
}
