/*
 * save.c - save: alone, or at the end of a transaction that the program has written its results into
 */
#include "backends/sqlite/sqlite_store.h"

#include <string.h>

#include "util/clock.h"

static pawl_status
save_line(pawl__sqlite_store *store, const char *group, const pawl_save_line *line, int64_t now_ms, pawl_error *err)
{
    sqlite3_stmt *statement;
    pawl_status status = pawl__sqlite_statement_for(store, PAWL__SQL_SAVE, group, line->partition, &statement, err);
    int changes;

    if (status != PAWL_OK)
        return status;
    sqlite3_bind_int64(statement, 4, line->epoch);
    pawl__sqlite_bind_position(statement, 5, line->expected);
    sqlite3_bind_int64(statement, 6, line->until);
    sqlite3_bind_int64(statement, 7, line->batch);
    sqlite3_bind_text(statement, 8, line->print, -1, SQLITE_STATIC); /* NULL is bound as NULL */
    sqlite3_bind_int64(statement, 9, now_ms);
    status = pawl__sqlite_statement_run(store, statement, &changes, err);
    if (status == PAWL_OK && changes != 1)
        status = pawl__sqlite_explain(store, group, line->partition, line->epoch, line->expected, err);
    return status;
}

/* --------------------------------------------------------------------------------------- lending the transaction -- */

/* The program says COMMIT: a commit without the offsets must not be. Answering so makes SQLite roll back instead. */
static int
refuse_commit(void *user)
{
    pawl__sqlite_store *store = user;

    store->ended = true;
    return 1;
}

static void
note_rollback(void *user)
{
    pawl__sqlite_store *store = user;

    store->ended = true;
}

static void
lend(pawl__sqlite_store *store)
{
    store->lent = true;
    store->ended = false;
    store->deadline_ms = PAWL__NEVER;
    sqlite3_commit_hook(store->db, refuse_commit, store);
    sqlite3_rollback_hook(store->db, note_rollback, store);
}

/* A SELECT that the program has not reset would keep our next reads in its snapshot, and our writes from beginning. */
static void
end_reading(pawl__sqlite_store *store)
{
    sqlite3_stmt *statement = NULL;

    while ((statement = pawl__sqlite_next_busy(store, statement, true)) != NULL)
        sqlite3_reset(statement);
}

static void
take_back(pawl__sqlite_store *store)
{
    end_reading(store);
    store->lent = false;
    sqlite3_commit_hook(store->db, NULL, NULL);
    sqlite3_rollback_hook(store->db, NULL, NULL);
}

pawl_status
pawl__sqlite_begin(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count,
                   void **ret_handle, pawl_error *err)
{
    pawl__sqlite_store *store = self;
    pawl_status status = pawl__sqlite_begin_write(store, call, err);

    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        char place[PAWL__SQLITE_PLACE_SIZE];
        pawl_entry found;

        pawl__sqlite_place(store, call->group, lines[i].partition, place, sizeof place);
        status = pawl__sqlite_read_entry(store, call->group, lines[i].partition, &found, err);
        if (status == PAWL_OK)
            status = pawl_sys_check_owned(&found, lines[i].epoch, lines[i].expected, place, err);
    }
    if (status != PAWL_OK) {
        pawl__sqlite_abandon(store);
        return status;
    }
    lend(store);
    *ret_handle = store->db;
    return PAWL_OK;
}

void
pawl__sqlite_rollback(void *self)
{
    pawl__sqlite_store *store = self;

    if (!store->lent)
        return;
    take_back(store);
    pawl__sqlite_abandon(store);
}

/* ---------------------------------------------------------------------------------------------------------- save -- */

/* The transaction that the program had, or a new one. */
static pawl_status
enter(pawl__sqlite_store *store, const pawl_store_call *call, pawl_error *err)
{
    pawl_status status;

    if (!store->lent)
        return pawl__sqlite_begin_write(store, call, err);

    take_back(store);
    store->deadline_ms = call->deadline_ms;
    if (!store->ended && !sqlite3_get_autocommit(store->db)) {
        status = pawl__sqlite_check_still_there(store, err);
        if (status != PAWL_OK)
            pawl__sqlite_abandon(store);
        return status;
    }
    pawl__sqlite_abandon(store);
    return pawl_error_set(err, PAWL_FAILED, 0, 0,
                          "%s: nothing was saved, since the transaction was ended while the program had it: by its own "
                          "COMMIT or ROLLBACK, or by a statement that failed",
                          store->path);
}

pawl_status
pawl__sqlite_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count, pawl_error *err)
{
    pawl__sqlite_store *store = self;
    int64_t now_ms = pawl__clock_wall_ms();
    pawl_status status = enter(store, call, err);

    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = save_line(store, call->group, &lines[i], now_ms, err);
    return pawl__sqlite_end(store, status, err);
}
