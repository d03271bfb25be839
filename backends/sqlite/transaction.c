/*
 * transaction.c - begin, commit, roll back, and waiting for the lock
 */
#include "backends/sqlite/sqlite_store.h"

#include <glib.h>
#include <sys/stat.h>

#include "util/clock.h"

/* Most transactions take a millisecond or two; one that holds a program's results may take long. */
#define SHORT_PAUSE_MS 2
#define SHORT_PAUSES   250
#define LONG_PAUSE_MS  20

/*
 * SQLite tells nobody when a lock becomes free, so this has to look again and again. The wait in between ends when the
 * store is cancelled.
 */
bool
pawl__sqlite_wait_for_lock(pawl__sqlite_store *store, int attempt)
{
    int64_t now_ms = pawl__clock_ms(), give_up_ms;
    bool cancelled;

    if (attempt == 0)
        store->busy_since_ms = now_ms;
    give_up_ms = MIN(store->deadline_ms, store->busy_since_ms + store->busy_timeout_ms);
    if (now_ms >= give_up_ms)
        return false;

    now_ms += MIN(attempt < SHORT_PAUSES ? SHORT_PAUSE_MS : LONG_PAUSE_MS, give_up_ms - now_ms);
    pawl__wait_lock(&store->wait);
    while (!store->cancelled && pawl__wait_until(&store->wait, now_ms))
        ;
    cancelled = store->cancelled;
    pawl__wait_unlock(&store->wait);
    return !cancelled;
}

static pawl_status
run(pawl__sqlite_store *store, pawl__sqlite_sql sql, pawl_error *err)
{
    sqlite3_stmt *statement;
    pawl_status status = pawl__sqlite_statement(store, sql, &statement, err);

    return status == PAWL_OK ? pawl__sqlite_statement_run(store, statement, NULL, err) : status;
}

/* SQLite keeps the -wal file for as long as anybody has the database open, and asks no more whether it is still there. */
static bool
has_lost_wal(pawl__sqlite_store *store)
{
    struct stat found = {0};
    bool there = stat(sqlite3_filename_wal(sqlite3_db_filename(store->db, "main")), &found) == 0;

    if (store->wal_inode == 0)
        store->wal_inode = there ? found.st_ino : 0;
    return found.st_ino != store->wal_inode;
}

pawl_status
pawl__sqlite_check_still_there(pawl__sqlite_store *store, pawl_error *err)
{
    int moved = 0;

    if (sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved)
        return pawl_error_set(err, PAWL_FAILED, PAWL_ERROR_FATAL, 0,
                              "%s was deleted, moved or replaced while it was open: nothing was written", store->path);
    if (has_lost_wal(store))
        return pawl_error_set(err, PAWL_FAILED, PAWL_ERROR_FATAL, 0,
                              "%s-wal was deleted, moved or replaced while %s was open: nothing was written",
                              store->path, store->path);
    return PAWL_OK;
}

static pawl_status
begin(pawl__sqlite_store *store, pawl__sqlite_sql how, const pawl_store_call *call, pawl_error *err)
{
    pawl_status status;

    store->deadline_ms = call->deadline_ms;
    status = run(store, how, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_check_still_there(store, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_schema_check(store, err);
    if (status != PAWL_OK)
        pawl__sqlite_abandon(store);
    return status;
}

pawl_status
pawl__sqlite_begin_read(pawl__sqlite_store *store, const pawl_store_call *call, pawl_error *err)
{
    return begin(store, PAWL__SQL_BEGIN_READ, call, err);
}

pawl_status
pawl__sqlite_begin_write(pawl__sqlite_store *store, const pawl_store_call *call, pawl_error *err)
{
    return begin(store, PAWL__SQL_BEGIN_WRITE, call, err);
}

void
pawl__sqlite_abandon(pawl__sqlite_store *store)
{
    if (store->db != NULL && !sqlite3_get_autocommit(store->db))
        run(store, PAWL__SQL_ROLLBACK, NULL);
}

/* A statement of the program that it has stepped and not reset, or NULL: it keeps COMMIT from succeeding. */
static const char *
unfinished_statement(pawl__sqlite_store *store)
{
    sqlite3_stmt *statement = pawl__sqlite_next_busy(store, NULL, false);

    return statement != NULL ? sqlite3_sql(statement) : NULL;
}

/*
 * Of all that can fail here only an I/O error leaves doubt: the record of the commit may or may not have reached the
 * disk when its fsync failed. With a full disk or a lock nothing is written.
 */
static pawl_status
commit_failed(pawl__sqlite_store *store, int rc, pawl_error *err)
{
    const char *unfinished = unfinished_statement(store);

    if ((rc & 0xff) == SQLITE_IOERR)
        return pawl_error_set(err, PAWL_OUTCOME_UNKNOWN, 0, rc, "%s: the commit failed: %s", store->path,
                              sqlite3_errmsg(store->db));
    if ((rc & 0xff) == SQLITE_BUSY && unfinished != NULL)
        return pawl_error_set(err, PAWL_FAILED, 0, rc,
                              "%s: nothing was saved, since a statement of the program's is not finished: %s",
                              store->path, unfinished);
    return pawl__sqlite_fail(store, rc, err);
}

static pawl_status
commit(pawl__sqlite_store *store, pawl_error *err)
{
    sqlite3_stmt *statement;
    pawl_status status = pawl__sqlite_statement(store, PAWL__SQL_COMMIT, &statement, err);
    int rc;

    if (status != PAWL_OK)
        return status;
    rc = sqlite3_step(statement);
    if (rc != SQLITE_DONE)
        status = commit_failed(store, rc, err);
    pawl__sqlite_statement_end(statement);
    return status;
}

pawl_status
pawl__sqlite_end(pawl__sqlite_store *store, pawl_status status, pawl_error *err)
{
    if (status == PAWL_OK)
        status = commit(store, err);
    if (status != PAWL_OK)
        pawl__sqlite_abandon(store);
    return status;
}
