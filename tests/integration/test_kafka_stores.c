/*
 * test_kafka_stores.c - SQLite files that are of no use, as a job sees them: a status and a message, and nothing written
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib.h>
#include <sqlite3.h>

#include <pawl/sys/registry.h>

#include "tests/support/kafka_fixture.h"
#include "tests/support/recorder.h"

extern const pawl_store_backend pawl__store_sqlite;

static char *folder, *topic;

static char *
path_of(const char *name)
{
    return g_build_filename(folder, name, NULL);
}

static sqlite3 *
open_file(const char *path)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    return db;
}

static void
run_sql(const char *path, const char *sql)
{
    sqlite3 *db = open_file(path);

    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* The stored offset of partition 0; -1: none. */
static int64_t
saved(const char *path)
{
    sqlite3 *db = open_file(path);
    sqlite3_stmt *statement;
    int64_t offset = -1;

    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT offset FROM pawl_offsets WHERE partition = 0", -1, &statement, NULL), SQLITE_OK);
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_type(statement, 0) == SQLITE_INTEGER)
        offset = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return offset;
}

/* Runs a job on a file. */
static void
run_on(job_recorder *recorder, const char *path, pawl_status status)
{
    char *url = g_strdup_printf("sqlite:%s", path);

    assert_run(recorder, status, "topics", topic, "store", url, "store_timeout", "1s", "max_offsets_per_batch", "30",
               "max_retries", "1", NULL);
    g_free(url);
}

/* A file with an offset of 50 in it. */
static char *
make_file(const char *name)
{
    char *path = path_of(name);
    job_recorder *recorder = recorder_new();

    run_on(recorder, path, PAWL_OK);
    recorder_free(recorder);
    run_sql(path, "UPDATE pawl_offsets SET offset = 50");
    return path;
}

/* ---------------------------------------------------------------------------------------------------------- files -- */

static void
a_good_file(void **state)
{
    char *path = make_file("good.db");
    job_recorder *recorder = recorder_new();

    (void) state;
    run_on(recorder, path, PAWL_OK);
    assert_int_equal(recorder_count_records(recorder, topic, 0), 50);
    assert_int_equal(saved(path), 100);
    recorder_free(recorder);
    g_free(path);
}

/* Somebody else holds the lock for writing, and does not let go. */
static void
a_locked_file(void **state)
{
    char *path = make_file("locked.db");
    job_recorder *recorder = recorder_new();
    sqlite3 *holder = open_file(path);

    (void) state;
    assert_int_equal(sqlite3_exec(holder, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    run_on(recorder, path, PAWL_TIMEOUT);
    assert_says(recorder, "locked");
    assert_true(recorder->seconds < 4);
    sqlite3_close(holder);
    assert_int_equal(saved(path), 50);
    assert_int_equal(recorder->stats.records, 0);
    recorder_free(recorder);
    g_free(path);
}

static void
no_database(void **state)
{
    char *path = path_of("text.db"), *after;
    job_recorder *recorder = recorder_new();

    (void) state;
    assert_true(g_file_set_contents(path, "this is a letter, and no database at all\n", -1, NULL));
    run_on(recorder, path, PAWL_INVALID);
    assert_says(recorder, "text.db");
    assert_true(g_file_get_contents(path, &after, NULL, NULL));
    assert_string_equal(after, "this is a letter, and no database at all\n");
    g_free(after);
    recorder_free(recorder);
    g_free(path);
}

/* SQLite keeps whatever it is given where a column has no type: each is shown, and none is taken for "nothing stored". */
static void
values_that_are_no_offset(void **state)
{
    static const char *const values[][2] = {
        {"'12x'", "12x"}, {"''", "offset"}, {"1.5", "1.5"}, {"-1", "-1"}, {"x'00ff'", "00"}, {"9.3e18", "9.3"},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
        char *name = g_strdup_printf("value-%zu.db", i), *path = make_file(name);
        char *sql =
            g_strdup_printf("ALTER TABLE pawl_offsets RENAME TO kept;"
                            "CREATE TABLE pawl_offsets (group_name, topic, partition, offset, epoch, owner_host,"
                            " owner_pid, owner_client, owner_renewed_ms, batch, pending, print,"
                            " PRIMARY KEY (group_name, topic, partition));"
                            "INSERT INTO pawl_offsets SELECT * FROM kept;"
                            "UPDATE pawl_offsets SET offset = %s",
                            values[i][0]);
        job_recorder *recorder = recorder_new();

        run_sql(path, sql);
        run_on(recorder, path, PAWL_UNREADABLE);
        assert_says(recorder, topic);
        assert_says(recorder, values[i][1]);
        assert_int_equal(recorder->stats.records, 0);
        recorder_free(recorder);
        g_free(sql);
        g_free(path);
        g_free(name);
    }
}

/* ----------------------------------------------------------------------------------------------------------- limits -- */

/* Root may write to everything: somebody else tries. */
static void
as_somebody_else(bool somebody_else)
{
    if (getuid() == 0)
        assert_int_equal(seteuid(somebody_else ? 65534 : 0), 0);
}

static void
a_read_only_file(void **state)
{
    char *path = make_file("readonly.db");
    job_recorder *recorder = recorder_new();

    (void) state;
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(chmod(path, 0444), 0);
    as_somebody_else(true);
    run_on(recorder, path, PAWL_INVALID);
    as_somebody_else(false);
    assert_says(recorder, "read-only");
    assert_int_equal(recorder->stats.records, 0);
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(saved(path), 50);
    recorder_free(recorder);
    g_free(path);
}

/* The disk is full: no file may grow any more. Nothing of the batch is saved, and later it goes on. */
static void
a_full_disk(void **state)
{
    char *path = make_file("full.db"), *url = g_strdup_printf("sqlite:%s", path);
    struct rlimit before, small = {1, 1};
    job_recorder *recorder = recorder_new();

    (void) state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    recorder_run(recorder, "topics", topic, "store", url, "store_timeout", "1s", NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_not_equal(recorder->status, PAWL_OK);
    assert_int_not_equal(recorder->status, PAWL_UNREADABLE);
    assert_says(recorder, "full.db");
    assert_int_equal(saved(path), 50);
    run_on(recorder, path, PAWL_OK);
    assert_int_equal(saved(path), 100);
    recorder_free(recorder);
    g_free(url);
    g_free(path);
}

static int
make_all(void **state)
{
    (void) state;
    folder = g_build_filename(g_get_tmp_dir(), "pawl-stores-XXXXXX", NULL);
    topic = kafka_fixture_make("stores", 1, NULL);
    kafka_fixture_fill(topic, 0, 100);
    return g_mkdtemp(folder) != NULL && pawl_registry_add_store(&pawl__store_sqlite, NULL) == PAWL_OK ? 0 : -1;
}

static int
free_all(void **state)
{
    const char *const command[] = {"rm", "-rf", folder, NULL};

    (void) state;
    g_spawn_sync(NULL, (char **) command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
    g_free(folder);
    g_free(topic);
    kafka_fixture_done();
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_file),      cmocka_unit_test(a_locked_file),
        cmocka_unit_test(no_database),      cmocka_unit_test(values_that_are_no_offset),
        cmocka_unit_test(a_read_only_file), cmocka_unit_test(a_full_disk),
    };

    if (kafka_fixture_brokers() == NULL)
        return 77;
    return cmocka_run_group_tests_name("kafka stores", tests, make_all, free_all);
}
