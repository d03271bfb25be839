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
plan(const fixture *fix, int64_t pending, pawl_error *err)
{
    pawl_plan_line line = {.partition = {"t", 0},
                           .epoch = fix->epoch,
                           .expected = pawl_position_at(1),
                           .pending = pawl_position_at(pending)};

    return pawl_store_plan(fix->store, "g", &line, 1, err);
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

/* A request that is held on its way is sent again, and something else after it. When it comes in the end, it changes
 * nothing. */
static void
a_late_request_changes_nothing(void **state)
{
    fixture *fix = *state;
    pawl_error err;

    proxy_hold_next_request(fix->between);
    assert_status(PAWL_OK, plan(fix, 5, &err), err);
    assert_status(PAWL_OK, plan(fix, 7, &err), err);
    proxy_let_go(fix->between);
    for (int i = 0; i < 20; i++)
        assert_int_equal(suite_load(fix->store, "g", "t", 0).pending.offset, 7);

    proxy_hold_next_request(fix->between);
    assert_status(PAWL_OK, save_next(fix, 1, &err), err);
    assert_status(PAWL_OK, save_next(fix, 2, &err), err);
    proxy_let_go(fix->between);
    for (int i = 0; i < 20; i++)
        assert_int_equal(suite_load(fix->store, "g", "t", 0).offset.offset, 3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_save_is_one_request, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lost_answer_is_looked_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_late_request_changes_nothing, set_up, tear_down),
    };

    return raw_init() ? cmocka_run_group_tests(tests, NULL, NULL) : EXIT_FAILURE;
}
