/*
 * sqlite_raw.c - SQLite files behind the store's back, for the tests of the sqlite: store
 */
#include "tests/conformance/sqlite_raw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pawl/sys/registry.h>

char *raw_folder;

bool
raw_folder_init(void)
{
    const char *where = g_getenv("PAWL_TEST_DIR");

    raw_folder = g_build_filename(where != NULL ? where : g_get_tmp_dir(), "pawl-sqlite-XXXXXX", NULL);
    return mkdtemp(raw_folder) != NULL && pawl_registry_add_store(&pawl__store_sqlite, NULL) == PAWL_OK;
}

void
raw_folder_done(void)
{
    GDir *dir = g_dir_open(raw_folder, 0, NULL);
    const char *name;

    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        char *path = g_build_filename(raw_folder, name, NULL);

        unlink(path);
        g_free(path);
    }
    if (dir != NULL)
        g_dir_close(dir);
    rmdir(raw_folder);
    g_free(raw_folder);
}

char *
raw_url(const char *name, const char *query)
{
    return g_strdup_printf("sqlite:%s/%s%s", raw_folder, name, query);
}

pawl_status
raw_try_store(const char *url, pawl_store **ret_store, pawl_error *err)
{
    pawl_store_options options = {.size = sizeof options, .timeout_ms = 3000};

    return pawl_store_open(url, &options, ret_store, err);
}

sqlite3 *
raw_open(const char *url)
{
    char *path = g_strndup(url + strlen("sqlite:"), strcspn(url + strlen("sqlite:"), "?"));
    sqlite3 *db;

    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL), SQLITE_OK);
    sqlite3_busy_timeout(db, 10000);
    g_free(path);
    return db;
}

void
raw_run(sqlite3 *db, const char *format, ...)
{
    va_list args;
    char *sql;

    va_start(args, format);
    sql = sqlite3_vmprintf(format, args);
    va_end(args);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_free(sql);
}

void
raw_run_once(const char *url, const char *sql)
{
    sqlite3 *db = raw_open(url);

    raw_run(db, "%s", sql);
    sqlite3_close(db);
}

int64_t
raw_number(sqlite3 *db, const char *format, ...)
{
    sqlite3_stmt *statement;
    int64_t number = -1;
    va_list args;
    char *sql;

    va_start(args, format);
    sql = sqlite3_vmprintf(format, args);
    va_end(args);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    if (sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return number;
}

void
raw_put_result(void *handle, const char *group, int64_t number)
{
    raw_run(handle, "INSERT INTO results (name, number) VALUES (%Q, %lld) ON CONFLICT DO UPDATE SET number = %lld",
            group, (long long) number, (long long) number);
}

int64_t
raw_get_result(const char *url, const char *group)
{
    sqlite3 *db = raw_open(url);
    int64_t number = raw_number(db, "SELECT number FROM results WHERE name = %Q", group);

    sqlite3_close(db);
    return number;
}
