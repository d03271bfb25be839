/*
 * test_postgresql_results.c - results in the transaction of a save, and what can come in between
 */
#include "tests/conformance/postgresql_raw.h"
#include "tests/conformance/suite.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>

#include <pawl/postgresql.h>

#include "util/clock.h"

/* What a test has: a store, and a partition at 0 of a group that nobody else has. */
struct fixture {
    char *group;
    pawl_store *store;
    pawl_save_line line; /* that moves it to 1 */
};

static void
open_fixture(struct fixture *fixture, const char *query)
{
    static int groups;
    char *url = raw_url_with(query);
    pawl_error err;

    fixture->group = g_strdup_printf("results-%d", ++groups);
    assert_status(PAWL_OK, raw_try_store(url, &fixture->store, &err), err);
    fixture->line = suite_line("t", 0, suite_acquire(fixture->store, fixture->group, "t", 0, pawl_position_at(0)),
                               pawl_position_at(0), 1);
    g_free(url);
}

static void
close_fixture(struct fixture *fixture)
{
    pawl_store_close(fixture->store);
    g_free(fixture->group);
}

static PGconn *
begin(struct fixture *fixture)
{
    void *handle = NULL;
    pawl_error err;

    assert_status(PAWL_OK, pawl_store_begin(fixture->store, fixture->group, &fixture->line, 1, &handle, &err), err);
    return handle;
}

static pawl_status
save(struct fixture *fixture, pawl_error *err)
{
    return pawl_store_save(fixture->store, fixture->group, &fixture->line, 1, err);
}

static void
assert_holds(struct fixture *fixture, int64_t offset, int64_t result)
{
    assert_int_equal(suite_load(fixture->store, fixture->group, "t", 0).offset.offset, offset);
    assert_int_equal(raw_get_result(raw_url, fixture->group), result);
}

/* The batch once more, as the loop does it. */
static void
assert_goes_on(struct fixture *fixture)
{
    pawl_error err;

    raw_put_result(begin(fixture), fixture->group, 2);
    assert_status(PAWL_OK, save(fixture, &err), err);
    assert_holds(fixture, 1, 2);
}

/* ------------------------------------------------------------------------------------- what the program does to it -- */

static void
a_transaction_that_the_program_ends(void **state)
{
    static const struct {
        const char *ending;
        int64_t result; /* what stands there afterwards */
    } endings[] = {{"ROLLBACK", -1}, {"ROLLBACK; BEGIN", -1}, {"COMMIT", 1}, {"COMMIT; BEGIN", 1}, {"END", 1}};
    struct fixture fixture;
    pawl_error err;

    (void) state;
    open_fixture(&fixture, "");
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
        PGconn *conn = begin(&fixture);

        raw_put_result(conn, fixture.group, 1);
        raw_run(conn, "%s", endings[i].ending);
        assert_status(PAWL_FAILED, save(&fixture, &err), err);
        assert_says(err, "COMMIT");
        assert_int_equal(err.flags & PAWL_ERROR_RETRIABLE, 0);
        assert_holds(&fixture, 0, endings[i].result);
    }
    assert_goes_on(&fixture);
    close_fixture(&fixture);
}

/* Saves of ours are prepared; a program may throw that away with what is its own. */
static void
prepared_statements_that_the_program_forgets(void **state)
{
    struct fixture fixture;
    pawl_error err;

    (void) state;
    open_fixture(&fixture, "");
    assert_status(PAWL_OK, save(&fixture, &err), err);
    fixture.line.expected = pawl_position_at(1), fixture.line.until = 2;
    raw_run(begin(&fixture), "DEALLOCATE ALL");
    assert_status(PAWL_UNREACHABLE, save(&fixture, &err), err);
    assert_int_equal(err.flags, PAWL_ERROR_RETRIABLE);
    raw_put_result(begin(&fixture), fixture.group, 2);
    assert_status(PAWL_OK, save(&fixture, &err), err);
    assert_holds(&fixture, 2, 2);

    fixture.line.expected = pawl_position_at(2), fixture.line.until = 3;
    assert_status(PAWL_OK, save(&fixture, &err), err);
    fixture.line.expected = pawl_position_at(3), fixture.line.until = 4;
    raw_run(begin(&fixture), "DEALLOCATE ALL");
    pawl_store_rollback(fixture.store);
    assert_status(PAWL_OK, save(&fixture, &err), err);
    close_fixture(&fixture);
}

static void
savepoints(void **state)
{
    struct fixture fixture;
    PGconn *conn;
    pawl_error err;

    (void) state;
    open_fixture(&fixture, "");
    conn = begin(&fixture);
    raw_run(conn, "SAVEPOINT a");
    raw_put_result(conn, fixture.group, 1);
    raw_run(conn, "ROLLBACK TO a");
    raw_put_result(conn, fixture.group, 2);
    raw_run(conn, "RELEASE a; SAVEPOINT left_open");
    assert_status(PAWL_OK, save(&fixture, &err), err);
    assert_holds(&fixture, 1, 2);
    close_fixture(&fixture);
}

static void
a_connection_that_is_not_as_it_was(void **state)
{
    struct fixture fixture;
    PGconn *conn;
    pawl_error err;

    (void) state;
    open_fixture(&fixture, "");

    conn = begin(&fixture);
    PQclear(PQexec(conn, "SELECT no such thing"));
    assert_status(PAWL_FAILED, save(&fixture, &err), err);
    assert_says(err, "failed");

    conn = begin(&fixture);
    raw_put_result(conn, fixture.group, 1);
    assert_true(PQsendQuery(conn, "SELECT 1"));
    assert_status(PAWL_FAILED, save(&fixture, &err), err);
    assert_says(err, "not finished");

    conn = begin(&fixture);
    raw_put_result(conn, fixture.group, 1);
    assert_true(PQenterPipelineMode(conn));
    assert_status(PAWL_FAILED, save(&fixture, &err), err);
    assert_says(err, "not finished");

    conn = begin(&fixture);
    raw_put_result(conn, fixture.group, 1);
    raw_run_once("SELECT pg_terminate_backend(%d)", PQbackendPID(conn));
    assert_status(PAWL_UNREACHABLE, save(&fixture, &err), err);
    assert_int_equal(err.flags, PAWL_ERROR_RETRIABLE);

    conn = begin(&fixture);
    raw_run_once("SELECT pg_terminate_backend(%d)", PQbackendPID(conn));
    PQclear(PQexec(conn, "SELECT 1"));
    assert_status(PAWL_UNREACHABLE, save(&fixture, &err), err);
    assert_int_equal(err.flags, PAWL_ERROR_RETRIABLE);
    assert_holds(&fixture, 0, -1);
    assert_goes_on(&fixture);
    close_fixture(&fixture);
}

/* --------------------------------------------------------------------------------------------- what others do to it -- */

/* Two transactions each read what the other one writes: PostgreSQL lets one of them commit. */
static void
a_serialization_failure(void **state)
{
    PGconn *other = raw_connect(), *conn;
    struct fixture fixture;
    pawl_error err;

    (void) state;
    open_fixture(&fixture, "?options=-c%20default_transaction_isolation%3Dserializable");
    conn = begin(&fixture);
    raw_run(conn, "SELECT count(*) FROM results");
    raw_run(other, "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM results;"
                   " INSERT INTO results VALUES ('skew', 1)");
    raw_put_result(conn, fixture.group, 1);
    raw_run(other, "COMMIT");
    assert_status(PAWL_FAILED, save(&fixture, &err), err);
    assert_int_equal(err.flags, PAWL_ERROR_RETRIABLE);
    assert_says(err, "40001");
    assert_holds(&fixture, 0, -1);
    assert_goes_on(&fixture);
    PQfinish(other);
    close_fixture(&fixture);
}

static void
a_deadlock_in_flush(void **state)
{
    PGconn *other = raw_connect(), *conn;
    struct fixture fixture;
    PGresult *result;
    pawl_error err;

    (void) state;
    open_fixture(&fixture, "");
    raw_run_once("INSERT INTO results VALUES ('left', 0), ('right', 0)");
    conn = begin(&fixture);
    raw_run(conn, "UPDATE results SET number = 1 WHERE name = 'left'");
    raw_run(other, "SET deadlock_timeout = '1h'"); /* ours is the one that looks, and dies */
    raw_run(other, "BEGIN; UPDATE results SET number = 2 WHERE name = 'right'");
    assert_true(PQsendQuery(other, "UPDATE results SET number = 2 WHERE name = 'left'; COMMIT"));
    assert_int_equal(PQflush(other), 0);
    result = PQexec(conn, "UPDATE results SET number = 1 WHERE name = 'right'");
    assert_string_equal(PQresultErrorField(result, PG_DIAG_SQLSTATE), "40P01");
    assert_int_equal(pawl_postgresql_verdict(PQresultErrorField(result, PG_DIAG_SQLSTATE)), PAWL_RETRY);
    PQclear(result);
    assert_status(PAWL_FAILED, save(&fixture, &err), err);
    while ((result = PQgetResult(other)) != NULL)
        PQclear(result);
    assert_goes_on(&fixture);
    PQfinish(other);
    close_fixture(&fixture);
}

static void
verdicts(void **state)
{
    (void) state;
    assert_int_equal(pawl_postgresql_verdict("40001"), PAWL_RETRY);
    assert_int_equal(pawl_postgresql_verdict(NULL), PAWL_RETRY);
    assert_int_equal(pawl_postgresql_verdict("23505"), PAWL_STOP);
}

/* A save of its own meets somebody who locks its rows in another order. */
static void *
save_both(void *user)
{
    struct fixture *fixture = user;
    pawl_save_line lines[] = {fixture->line, fixture->line};
    pawl_error err = {0};

    lines[1].partition.number = 1;
    return GINT_TO_POINTER(pawl_store_save(fixture->store, fixture->group, lines, 2, &err));
}

static void
a_deadlock_in_save(void **state)
{
    PGconn *other = raw_connect();
    struct fixture fixture;
    pthread_t thread;
    void *status;

    (void) state;
    open_fixture(&fixture, "?application_name=deadlocked");
    suite_acquire(fixture.store, fixture.group, "t", 1, pawl_position_at(0));
    raw_run(other, "SET deadlock_timeout = '1h'");
    raw_run(other, "BEGIN; SELECT 1 FROM pawl_offsets WHERE group_name = '%s' AND partition = 1 FOR UPDATE",
            fixture.group);
    assert_int_equal(pthread_create(&thread, NULL, save_both, &fixture), 0);
    while (raw_number(other, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'deadlocked'"
                             " AND wait_event_type = 'Lock'") != 1)
        ;
    /* It comes back when the save has been chosen to die. */
    raw_run(other, "SELECT 1 FROM pawl_offsets WHERE group_name = '%s' AND partition = 0 FOR UPDATE", fixture.group);
    raw_run(other, "ROLLBACK");
    pthread_join(thread, &status);
    assert_int_equal(GPOINTER_TO_INT(status), PAWL_OK);
    assert_holds(&fixture, 1, -1);
    PQfinish(other);
    close_fixture(&fixture);
}

/* ----------------------------------------------------------------------------------------------- owners that hang -- */

static void
an_owner_that_hangs_delays_others_for_a_while(void **state)
{
    struct fixture fixture;
    pawl_store *second;
    char *url = raw_url_with("?lock_timeout=100ms");
    int64_t start_ms;
    pawl_error err;

    (void) state;
    open_fixture(&fixture, "");
    assert_status(PAWL_OK, raw_try_store(url, &second, &err), err);
    raw_put_result(begin(&fixture), fixture.group, 1);
    start_ms = pawl__clock_ms();
    assert_status(PAWL_TIMEOUT,
                  suite_save(second, fixture.group, "t", 0, fixture.line.epoch, pawl_position_at(0), 1, &err), err);
    assert_in_range(pawl__clock_ms() - start_ms, 100, 4000);
    assert_says(err, "holds the rows");

    /* Nothing of it is left on the server, waiting for its turn. */
    assert_status(PAWL_OK, save(&fixture, &err), err);
    assert_holds(&fixture, 1, 1);
    pawl_store_close(second);
    close_fixture(&fixture);
    g_free(url);
}

static void
an_owner_that_hangs_for_too_long(void **state)
{
    struct fixture fixture;
    struct pollfd fd = {.events = POLLIN};
    pawl_store *second;
    PGconn *conn;
    pawl_error err;

    (void) state;
    open_fixture(&fixture, "?hold_timeout=100ms");
    assert_status(PAWL_OK, raw_try_store(raw_url, &second, &err), err);
    conn = begin(&fixture);
    raw_put_result(conn, fixture.group, 1);
    fd.fd = PQsocket(conn);
    assert_int_equal(poll(&fd, 1, 10000), 1); /* the server says why it goes */
    assert_status(PAWL_OK, suite_save(second, fixture.group, "t", 0, fixture.line.epoch, pawl_position_at(0), 1, &err),
                  err);
    assert_status(PAWL_UNREACHABLE, save(&fixture, &err), err);
    assert_int_equal(err.flags, PAWL_ERROR_RETRIABLE);
    assert_holds(&fixture, 1, -1);
    pawl_store_close(second);
    close_fixture(&fixture);
}

static void *
sleep_on_the_server(void *conn)
{
    PQclear(PQexec(conn, "SELECT pg_sleep(60)"));
    return NULL;
}

static void
cancel_reaches_flush(void **state)
{
    PGconn *conn, *other = raw_connect();
    int64_t start_ms = pawl__clock_ms();
    struct fixture fixture;
    pthread_t thread;

    (void) state;
    open_fixture(&fixture, "");
    conn = begin(&fixture);
    assert_int_equal(pthread_create(&thread, NULL, sleep_on_the_server, conn), 0);
    while (raw_number(other, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") != 1)
        ;
    pawl_store_cancel(fixture.store);
    pthread_join(thread, NULL);
    assert_in_range(pawl__clock_ms() - start_ms, 0, 30000);
    PQfinish(other);
    close_fixture(&fixture);
}

/* What only COMMIT finds out is no reason to try the same again. */
static void
a_constraint_that_is_checked_last(void **state)
{
    struct fixture fixture;
    pawl_error err;

    (void) state;
    raw_run_once("CREATE TABLE late (number int UNIQUE DEFERRABLE INITIALLY DEFERRED)");
    open_fixture(&fixture, "");
    raw_run(begin(&fixture), "INSERT INTO late VALUES (1), (1)");
    assert_status(PAWL_FAILED, save(&fixture, &err), err);
    assert_says(err, "nothing was written: duplicate key");
    assert_int_equal(err.flags & PAWL_ERROR_RETRIABLE, 0);
    close_fixture(&fixture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transaction_that_the_program_ends),
        cmocka_unit_test(prepared_statements_that_the_program_forgets),
        cmocka_unit_test(savepoints),
        cmocka_unit_test(a_connection_that_is_not_as_it_was),
        cmocka_unit_test(a_serialization_failure),
        cmocka_unit_test(a_deadlock_in_flush),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(a_deadlock_in_save),
        cmocka_unit_test(an_owner_that_hangs_delays_others_for_a_while),
        cmocka_unit_test(an_owner_that_hangs_for_too_long),
        cmocka_unit_test(cancel_reaches_flush),
        cmocka_unit_test(a_constraint_that_is_checked_last),
    };
    int failed;

    raw_init();
    failed = cmocka_run_group_tests_name("postgresql results", tests, NULL, NULL);
    raw_done();
    return failed;
}
