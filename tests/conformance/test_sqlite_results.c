/*
 * test_sqlite_results.c - programs that end the transaction they were lent
 */
#include "tests/conformance/sqlite_raw.h"
#include "tests/conformance/suite.h"

#include <stdlib.h>
#include <string.h>

/* A store with one partition at 0, and a table for results. */
static pawl_store *
open_with_results(const char *name, pawl_save_line *ret_line)
{
    char *url = raw_url(name, "");
    pawl_store *store;
    pawl_error err;

    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    raw_run_once(url, "CREATE TABLE results (name PRIMARY KEY, number)");
    *ret_line = suite_line("t", 0, suite_acquire(store, "g", "t", 0, pawl_position_at(0)), pawl_position_at(0), 1);
    g_free(url);
    return store;
}

static void
a_commit_of_the_program_s_own(void **state)
{
    static const char *const endings[] = {"COMMIT", "ROLLBACK", "COMMIT; BEGIN", "ROLLBACK; BEGIN IMMEDIATE", "END"};
    pawl_save_line line;
    pawl_store *store = open_with_results("commits.db", &line);
    char *url = raw_url("commits.db", "");
    void *handle;
    pawl_error err;

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
        assert_status(PAWL_OK, pawl_store_begin(store, "g", &line, 1, &handle, &err), err);
        raw_put_result(handle, "g", 1);
        sqlite3_exec(handle, endings[i], NULL, NULL, NULL);
        if (strchr(endings[i], ';') != NULL) /* exec ends at the COMMIT that is refused */
            sqlite3_exec(handle, "BEGIN", NULL, NULL, NULL);
        assert_status(PAWL_FAILED, pawl_store_save(store, "g", &line, 1, &err), err);
        assert_says(err, "COMMIT");
        assert_int_equal(raw_get_result(url, "g"), -1);
        assert_int_equal(suite_load(store, "g", "t", 0).offset.offset, 0);
    }

    /* Savepoints are fine. */
    assert_status(PAWL_OK, pawl_store_begin(store, "g", &line, 1, &handle, &err), err);
    raw_run(handle, "SAVEPOINT a");
    raw_put_result(handle, "g", 1);
    raw_run(handle, "ROLLBACK TO a");
    raw_put_result(handle, "g", 2);
    raw_run(handle, "RELEASE a; SAVEPOINT left_open");
    assert_status(PAWL_OK, pawl_store_save(store, "g", &line, 1, &err), err);
    assert_int_equal(raw_get_result(url, "g"), 2);

    /* Outside of a transaction the handle is the program's own affair. */
    raw_run(handle, "BEGIN; DELETE FROM results; COMMIT");
    pawl_store_close(store);
    g_free(url);
}

static void
a_statement_that_is_not_finished(void **state)
{
    pawl_save_line line;
    pawl_store *store = open_with_results("unfinished.db", &line), *other;
    char *url = raw_url("unfinished.db", "");
    sqlite3_stmt *writing, *reading;
    void *handle;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, pawl_store_begin(store, "g", &line, 1, &handle, &err), err);
    assert_int_equal(
        sqlite3_prepare_v2(handle, "INSERT INTO results VALUES ('a', 1), ('b', 2) RETURNING name", -1, &writing, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(writing), SQLITE_ROW);
    assert_status(PAWL_FAILED, pawl_store_save(store, "g", &line, 1, &err), err);
    assert_says(err, "INSERT INTO results");
    sqlite3_finalize(writing);
    assert_int_equal(suite_load(store, "g", "t", 0).offset.offset, 0);

    /* Reading does no harm. */
    assert_status(PAWL_OK, pawl_store_begin(store, "g", &line, 1, &handle, &err), err);
    raw_put_result(handle, "g", 1);
    assert_int_equal(sqlite3_prepare_v2(handle, "SELECT * FROM results", -1, &reading, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(reading), SQLITE_ROW);
    assert_status(PAWL_OK, pawl_store_save(store, "g", &line, 1, &err), err);
    assert_int_equal(raw_get_result(url, "g"), 1);

    /* Nor does it keep the store from seeing what came after. */
    assert_status(PAWL_OK, raw_try_store(url, &other, &err), err);
    suite_acquire(other, "g", "t", 0, pawl_position_absent());
    line.expected = pawl_position_at(line.until), line.until++;
    assert_int_equal(suite_load(store, "g", "t", 0).epoch, line.epoch + 1);
    assert_status(PAWL_FENCED, pawl_store_begin(store, "g", &line, 1, &handle, &err), err);
    pawl_store_close(other);
    pawl_store_close(store);
    sqlite3_finalize(reading);
    g_free(url);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_commit_of_the_program_s_own),
        cmocka_unit_test(a_statement_that_is_not_finished),
    };
    int failed;

    if (!raw_folder_init())
        return EXIT_FAILURE;
    failed = cmocka_run_group_tests_name("sqlite results", tests, NULL, NULL);
    raw_folder_done();
    return failed;
}
