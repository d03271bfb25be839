/*
 * test_postgresql_lost.c - requests and answers that are lost or late on their way to a PostgreSQL server
 */
#include "tests/conformance/postgresql_raw.h"
#include "tests/conformance/suite.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/proxy.h"

/* A handle on the server behind a proxy, which owns partition 0 of "t" in a group of its own, with offset 1. */
struct fixture {
    proxy *between;
    char *group;
    pawl_store *store;
    int64_t epoch;
};

static int
set_up(void **state)
{
    static int groups;
    struct fixture *fix = g_new0(struct fixture, 1);
    char *real = raw_host_of(raw_server), *host, *url;
    pawl_error err;

    fix->between = proxy_new(atoi(strchr(real, ':') + 1));
    fix->group = g_strdup_printf("lost-%d", ++groups);
    host = g_strdup_printf("127.0.0.1:%d", proxy_port(fix->between));
    url = raw_url_of(NULL, host, "postgres?sslmode=disable&gssencmode=disable");
    assert_status(PAWL_OK, raw_try_store(url, &fix->store, &err), err);
    fix->epoch = suite_acquire(fix->store, fix->group, "t", 0, pawl_position_at(1));
    g_free(real);
    g_free(host);
    g_free(url);
    *state = fix;
    return 0;
}

static int
tear_down(void **state)
{
    struct fixture *fix = *state;

    pawl_store_close(fix->store);
    proxy_free(fix->between);
    g_free(fix->group);
    g_free(fix);
    return 0;
}

static pawl_status
save_next(const struct fixture *fix, int64_t from, pawl_error *err)
{
    return suite_save(fix->store, fix->group, "t", 0, fix->epoch, pawl_position_at(from), from + 1, err);
}

static void
assert_stored(const struct fixture *fix, int64_t offset)
{
    assert_int_equal(suite_load(fix->store, fix->group, "t", 0).offset.offset, offset);
}

static void
a_save_is_one_request(void **state)
{
    struct fixture *fix = *state;
    pawl_save_line *lines = suite_many(fix->store, fix->group, 100);
    size_t before;
    pawl_error err;

    assert_status(PAWL_OK, pawl_store_save(fix->store, fix->group, lines, 100, &err), err);
    before = proxy_requests(fix->between);
    for (int i = 0; i < 10; i++) {
        for (int j = 0; j < 100; j++)
            lines[j].expected = pawl_position_at(lines[j].until++);
        assert_status(PAWL_OK, pawl_store_save(fix->store, fix->group, lines, 100, &err), err);
    }
    assert_int_equal(proxy_requests(fix->between) - before, 10);
    g_free(lines);
}

static void
a_lost_answer_is_looked_up(void **state)
{
    struct fixture *fix = *state;
    pawl_error err;

    for (int64_t i = 1; i < 20; i++) {
        proxy_lose_next_answer(fix->between);
        assert_status(PAWL_OK, save_next(fix, i, &err), err);
        assert_stored(fix, i + 1);
    }
}

/* A request that is held on its way is sent again, and something else after it. When it comes in the end, it changes
 * nothing. */
static void
a_late_request_changes_nothing(void **state)
{
    struct fixture *fix = *state;
    pawl_plan_line plan = {.partition = {"t", 0}, .epoch = fix->epoch, .expected = pawl_position_at(1)};
    pawl_error err;

    plan.pending = pawl_position_at(5);
    proxy_hold_next_request(fix->between);
    assert_status(PAWL_OK, pawl_store_plan(fix->store, fix->group, &plan, 1, &err), err);
    plan.pending = pawl_position_at(7);
    assert_status(PAWL_OK, pawl_store_plan(fix->store, fix->group, &plan, 1, &err), err);
    proxy_let_go(fix->between);
    for (int i = 0; i < 20; i++)
        assert_int_equal(suite_load(fix->store, fix->group, "t", 0).pending.offset, 7);

    proxy_hold_next_request(fix->between);
    assert_status(PAWL_OK, save_next(fix, 1, &err), err);
    assert_status(PAWL_OK, save_next(fix, 2, &err), err);
    proxy_let_go(fix->between);
    for (int i = 0; i < 20; i++)
        assert_stored(fix, 3);
}

static void
set_standbys(const char *names)
{
    PGconn *conn = raw_connect();

    raw_run(conn, "ALTER SYSTEM SET synchronous_standby_names = '%s'", names);
    raw_run(conn, "SELECT pg_reload_conf()");
    while (raw_number(conn, "SELECT (current_setting('synchronous_standby_names') = '%s')::int", names) != 1)
        ;
    PQfinish(conn);
}

/* A commit that its standby does not confirm is there, and would be lost with the primary. */
static void
a_standby_that_is_away(void **state)
{
    struct fixture *fix = *state;
    pawl_save_line line = suite_line("t", 0, fix->epoch, pawl_position_at(2), 3);
    void *handle;
    pawl_status alone, with_results;
    pawl_error err, later;

    set_standbys("nobody");
    alone = save_next(fix, 1, &err);
    assert_status(PAWL_OK, pawl_store_begin(fix->store, fix->group, &line, 1, &handle, &later), later);
    with_results = pawl_store_save(fix->store, fix->group, &line, 1, &later);
    set_standbys("");
    assert_status(PAWL_OUTCOME_UNKNOWN, alone, err);
    assert_says(err, "synchronous_standby_names");
    assert_status(PAWL_OUTCOME_UNKNOWN, with_results, later);
    assert_says(later, "synchronous_standby_names");
    assert_status(PAWL_OK, save_next(fix, 3, &err), err);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_save_is_one_request, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lost_answer_is_looked_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_late_request_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_standby_that_is_away, set_up, tear_down),
    };
    int failed;

    raw_init();
    failed = cmocka_run_group_tests_name("postgresql lost", tests, NULL, NULL);
    raw_done();
    return failed;
}
