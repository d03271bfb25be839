/*
 * schema.c - the tables in the file and their version
 *
 * The names begin with pawl_ since results of the program's own usually lie in the same file. What a table may hold is
 * checked by SQLite (STRICT, CHECK); whatever is read is checked again, as there are other ways to edit a file.
 */
#include "backends/sqlite/sqlite_store.h"

#include <string.h>

#include "util/log.h"

#define LAYOUT 1

static const char make_tables[] =
    "CREATE TABLE IF NOT EXISTS pawl_meta ("
    " key TEXT NOT NULL PRIMARY KEY,"
    " value INTEGER NOT NULL"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS pawl_groups ("
    " name TEXT NOT NULL PRIMARY KEY,"
    " cluster TEXT NOT NULL"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS pawl_offsets ("
    " group_name TEXT NOT NULL,"
    " topic TEXT NOT NULL,"
    " partition INTEGER NOT NULL CHECK (partition BETWEEN 0 AND 2147483647),"
    " offset INTEGER CHECK (offset >= 0)," /* the next one to read; NULL: none is stored */
    " epoch INTEGER NOT NULL CHECK (epoch > 0),"
    " owner_host TEXT,"
    " owner_pid INTEGER,"
    " owner_client TEXT,"
    " owner_renewed_ms INTEGER,"
    " batch INTEGER NOT NULL DEFAULT 0 CHECK (batch >= 0),"
    " pending INTEGER CHECK (pending >= 0)," /* the until of a planned range */
    " print TEXT,"
    " PRIMARY KEY (group_name, topic, partition)"
    ") STRICT, WITHOUT ROWID;"
    "INSERT OR IGNORE INTO pawl_meta (key, value) VALUES ('layout', 1);";

/* -------------------------------------------------------------------------------------------------------- layout -- */

pawl_status
pawl__sqlite_schema_check(pawl__sqlite_store *store, pawl_error *err)
{
    sqlite3_stmt *statement;
    pawl_status status = pawl__sqlite_statement(store, PAWL__SQL_LAYOUT, &statement, err);
    int rc;

    if (status != PAWL_OK)
        return status;
    rc = sqlite3_step(statement);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        status = pawl__sqlite_fail(store, rc, err);
    else if (rc == SQLITE_DONE || sqlite3_column_type(statement, 0) != SQLITE_INTEGER)
        status = pawl_error_set(err, PAWL_UNREADABLE, 0, 0, "%s: table pawl_meta holds no version of the layout",
                                store->path);
    else if (sqlite3_column_int64(statement, 0) != LAYOUT)
        status = pawl_error_set(err, PAWL_UNSUPPORTED, 0, 0,
                                "%s was written by another pawl: its layout is version %lld, this pawl knows version "
                                "%d",
                                store->path, (long long) sqlite3_column_int64(statement, 0), LAYOUT);
    pawl__sqlite_statement_end(statement);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- switching -- */

/* Runs SQL and keeps the first column of its last row; for what is done once and need not be prepared. */
static int
ask(pawl__sqlite_store *store, const char *sql, char *ret_answer, size_t size)
{
    sqlite3_stmt *statement;
    int rc = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);

    ret_answer[0] = '\0';
    if (rc != SQLITE_OK)
        return rc;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
        sqlite3_snprintf((int) size, ret_answer, "%s", (const char *) sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Switching to WAL does not always ask the busy handler: when another does it at the same moment it just fails. */
static int
switch_to_wal(pawl__sqlite_store *store, char *ret_mode, size_t size)
{
    int rc = ask(store, "PRAGMA journal_mode = WAL", ret_mode, size);

    for (int attempt = 0; rc == SQLITE_BUSY && pawl__sqlite_wait_for_lock(store, attempt); attempt++)
        rc = ask(store, "PRAGMA journal_mode = WAL", ret_mode, size);
    return rc;
}

/*
 * With a rollback journal FULL is not enough: a commit is there for good only when the journal's name is gone from its
 * folder, and only EXTRA waits for that. In WAL mode the two are the same.
 */
static pawl_status
set_durability(pawl__sqlite_store *store, const char *mode, pawl_error *err)
{
    bool wal = strcmp(mode, "wal") == 0;
    const char *sql = store->normal_durability ? "PRAGMA synchronous = NORMAL"
                      : wal                    ? "PRAGMA synchronous = FULL"
                                               : "PRAGMA synchronous = EXTRA";
    int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);

    if (!wal)
        pawl__log(
            store->log, PAWL_LOG_WARN, "store",
            "%s: no write-ahead log here, the journal's mode is '%s': saves are slower, and readers wait for them",
            store->path, mode);
    return rc == SQLITE_OK ? PAWL_OK : pawl__sqlite_fail(store, rc, err);
}

static pawl_status
open_journal(pawl__sqlite_store *store, pawl_error *err)
{
    char mode[16];
    int rc = ask(store, "PRAGMA journal_mode", mode, sizeof mode); /* reads the file: no database is found out here */

    if (rc == SQLITE_OK && strcmp(mode, "wal") != 0 && !sqlite3_db_readonly(store->db, "main"))
        rc = switch_to_wal(store, mode, sizeof mode);
    return rc == SQLITE_OK ? set_durability(store, mode, err) : pawl__sqlite_fail(store, rc, err);
}

/* -------------------------------------------------------------------------------------------------------- making -- */

pawl_status
pawl__sqlite_schema_has_tables(pawl__sqlite_store *store, bool *ret_has, pawl_error *err)
{
    char count[16];
    int rc = ask(store, "SELECT count(*) FROM sqlite_schema WHERE name IN ('pawl_meta', 'pawl_groups', 'pawl_offsets')",
                 count, sizeof count);

    if (rc != SQLITE_OK)
        return pawl__sqlite_fail(store, rc, err);
    *ret_has = strcmp(count, "3") == 0;
    return PAWL_OK;
}

pawl_status
pawl__sqlite_schema_create(pawl__sqlite_store *store, pawl_error *err)
{
    pawl_status status = PAWL_OK;
    int rc;

    if (sqlite3_db_readonly(store->db, "main"))
        return pawl_error_set(err, PAWL_FAILED, 0, SQLITE_READONLY,
                              "%s is read-only, and pawl's tables are not in it yet", store->path);

    rc = sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(store->db, make_tables, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        status = pawl__sqlite_fail(store, rc, err);
    if (!sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

pawl_status
pawl__sqlite_schema_open(pawl__sqlite_store *store, pawl_error *err)
{
    bool has = false;
    pawl_status status = open_journal(store, err);

    if (status == PAWL_OK)
        status = pawl__sqlite_schema_has_tables(store, &has, err);
    if (status == PAWL_OK && !has)
        status = pawl__sqlite_schema_create(store, err);
    return status == PAWL_OK ? pawl__sqlite_schema_check(store, err) : status;
}
