/*
 * error.c - SQLite's result codes in pawl's words
 */
#include "backends/sqlite/sqlite_store.h"

#include <errno.h>
#include <string.h>

bool
pawl__sqlite_is_cancelled(pawl__sqlite_store *store)
{
    bool cancelled;

    pawl__wait_lock(&store->wait);
    cancelled = store->cancelled;
    pawl__wait_unlock(&store->wait);
    return cancelled;
}

static pawl_status
cancelled(pawl__sqlite_store *store, int rc, pawl_error *err)
{
    return pawl_error_set(err, PAWL_CANCELLED, 0, rc, "%s: the store was cancelled", store->path);
}

static pawl_status
locked(pawl__sqlite_store *store, int rc, pawl_error *err)
{
    if (pawl__sqlite_is_cancelled(store))
        return cancelled(store, rc, err);
    return pawl_error_set(err, PAWL_TIMEOUT, PAWL_ERROR_RETRIABLE, rc,
                          "%s is locked: another process writes to it and has not let go in time", store->path);
}

/* A system call failed below SQLite: its reason says more than SQLite's. */
static pawl_status
failed_by_system(pawl__sqlite_store *store, int rc, const char *what, pawl_error *err)
{
    int system = store->db != NULL ? sqlite3_system_errno(store->db) : 0;
    bool is_wrong_file = system == EACCES || system == EISDIR || system == EROFS;

    return pawl_error_set(err, is_wrong_file ? PAWL_INVALID : PAWL_FAILED, 0, rc, "%s %s: %s", store->path, what,
                          system != 0 ? strerror(system) : sqlite3_errstr(rc));
}

pawl_status
pawl__sqlite_fail(pawl__sqlite_store *store, int rc, pawl_error *err)
{
    switch (rc & 0xff) {
    case SQLITE_BUSY:
        return locked(store, rc, err);
    case SQLITE_INTERRUPT:
        return cancelled(store, rc, err);
    case SQLITE_NOTADB:
        return pawl_error_set(err, PAWL_INVALID, 0, rc, "%s is no SQLite database", store->path);
    case SQLITE_CORRUPT:
        return pawl_error_set(err, PAWL_UNREADABLE, 0, rc,
                              "%s is damaged (%s): restore it, or see what 'PRAGMA integrity_check' says", store->path,
                              sqlite3_errmsg(store->db));
    case SQLITE_READONLY:
        if (rc == SQLITE_READONLY_DIRECTORY || rc == SQLITE_READONLY_CANTINIT)
            return pawl_error_set(err, PAWL_INVALID, 0, rc,
                                  "the folder of %s is read-only, and SQLite has to make files beside it, even to read",
                                  store->path);
        return pawl_error_set(err, PAWL_INVALID, 0, rc, "%s is read-only: nothing was written", store->path);
    case SQLITE_FULL:
        return pawl_error_set(err, PAWL_FAILED, 0, rc, "%s: the disk is full: nothing was written", store->path);
    case SQLITE_CANTOPEN:
        return failed_by_system(store, rc, "cannot be opened", err);
    case SQLITE_IOERR:
        return failed_by_system(store, rc, "cannot be read or written", err);
    default:
        return pawl_error_set(err, PAWL_FAILED, 0, rc, "%s: %s", store->path,
                              store->db != NULL ? sqlite3_errmsg(store->db) : sqlite3_errstr(rc));
    }
}
