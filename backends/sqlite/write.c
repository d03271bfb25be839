/*
 * write.c - acquire, release, plan, remove: each one transaction
 *
 * The guard is in the UPDATE itself. Only when it meets no row is the row read, to say why.
 */
#include "backends/sqlite/sqlite_store.h"

#include <string.h>

#include "util/clock.h"

pawl_status
pawl__sqlite_explain(pawl__sqlite_store *store, const char *group, pawl_partition partition, int64_t epoch,
                     pawl_position expected, pawl_error *err)
{
    char place[PAWL__SQLITE_PLACE_SIZE];
    pawl_entry found;
    pawl_status status = pawl__sqlite_read_entry(store, group, partition, &found, err);

    if (status == PAWL_OK) {
        pawl__sqlite_place(store, group, partition, place, sizeof place);
        status = pawl_sys_check_owned(&found, epoch, expected, place, err);
    }
    if (status == PAWL_OK)
        status = pawl_error_set(err, PAWL_FAILED, 0, 0, "a row could not be changed: %s", place);
    return status;
}

/* Steps a guarded UPDATE. */
static pawl_status
run_guarded(pawl__sqlite_store *store, sqlite3_stmt *statement, const char *group, pawl_partition partition,
            int64_t epoch, pawl_position expected, pawl_error *err)
{
    int changes;
    pawl_status status = pawl__sqlite_statement_run(store, statement, &changes, err);

    if (status == PAWL_OK && changes != 1)
        status = pawl__sqlite_explain(store, group, partition, epoch, expected, err);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- acquire -- */

static pawl_status
check_seen(pawl__sqlite_store *store, const char *group, const pawl_acquire_line *line, pawl_error *err)
{
    char place[PAWL__SQLITE_PLACE_SIZE];
    pawl_entry found;
    pawl_status status = pawl__sqlite_read_entry(store, group, line->partition, &found, err);

    if (status != PAWL_OK)
        return status;
    pawl__sqlite_place(store, group, line->partition, place, sizeof place);
    if (found.epoch == INT64_MAX)
        return pawl_error_set(err, PAWL_FAILED, 0, 0, "there is no epoch after the last one: %s", place);
    return pawl_sys_check_seen(&found, line->epoch_seen, place, err);
}

static pawl_status
acquire_line(pawl__sqlite_store *store, const char *group, const pawl_owner *owner, const pawl_acquire_line *line,
             pawl_error *err)
{
    sqlite3_stmt *statement;
    pawl_status status = check_seen(store, group, line, err);

    if (status == PAWL_OK)
        status = pawl__sqlite_statement_for(store, PAWL__SQL_ACQUIRE, group, line->partition, &statement, err);
    if (status != PAWL_OK)
        return status;
    sqlite3_bind_int64(statement, 4, line->epoch_seen + 1);
    pawl__sqlite_bind_position(statement, 5, line->initial);
    sqlite3_bind_text(statement, 6, owner->host, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 7, owner->pid);
    sqlite3_bind_text(statement, 8, owner->client_id, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 9, owner->renewed_ms);
    return pawl__sqlite_statement_run(store, statement, NULL, err);
}

static pawl_status
set_cluster(pawl__sqlite_store *store, const char *group, const char *cluster, pawl_error *err)
{
    sqlite3_stmt *statement;
    pawl_status status;

    if (cluster == NULL || cluster[0] == '\0')
        return PAWL_OK;
    status = pawl__sqlite_statement(store, PAWL__SQL_SET_CLUSTER, &statement, err);
    if (status != PAWL_OK)
        return status;
    sqlite3_bind_text(statement, 1, group, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, cluster, -1, SQLITE_STATIC);
    return pawl__sqlite_statement_run(store, statement, NULL, err);
}

pawl_status
pawl__sqlite_acquire(void *self, const pawl_store_call *call, const pawl_owner *owner, const char *cluster,
                     pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    pawl__sqlite_store *store = self;
    pawl_status status = pawl__sqlite_begin_write(store, call, err);

    if (status != PAWL_OK)
        return status;
    status = set_cluster(store, call->group, cluster, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = acquire_line(store, call->group, owner, &lines[i], err);
    status = pawl__sqlite_end(store, status, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        lines[i].ret_epoch = lines[i].epoch_seen + 1;
    return status;
}

/* ------------------------------------------------------------------------------------------------------- release -- */

static pawl_status
release_line(pawl__sqlite_store *store, const char *group, const pawl_acquire_line *line, pawl_error *err)
{
    sqlite3_stmt *statement;
    pawl_status status = pawl__sqlite_statement_for(store, PAWL__SQL_RELEASE, group, line->partition, &statement, err);

    if (status != PAWL_OK)
        return status;
    sqlite3_bind_int64(statement, 4, line->ret_epoch);
    return pawl__sqlite_statement_run(store, statement, NULL, err); /* what is another's stays as it is */
}

pawl_status
pawl__sqlite_release(void *self, const pawl_store_call *call, const pawl_acquire_line *lines, size_t count,
                     pawl_error *err)
{
    pawl__sqlite_store *store = self;
    pawl_status status = pawl__sqlite_begin_write(store, call, err);

    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = release_line(store, call->group, &lines[i], err);
    return pawl__sqlite_end(store, status, err);
}

/* ----------------------------------------------------------------------------------------------- plan and remove -- */

static pawl_status
plan_line(pawl__sqlite_store *store, const char *group, const pawl_plan_line *line, int64_t now_ms, pawl_error *err)
{
    sqlite3_stmt *statement;
    pawl_status status = pawl__sqlite_statement_for(store, PAWL__SQL_PLAN, group, line->partition, &statement, err);

    if (status != PAWL_OK)
        return status;
    sqlite3_bind_int64(statement, 4, line->epoch);
    pawl__sqlite_bind_position(statement, 5, line->expected);
    pawl__sqlite_bind_position(statement, 6, line->pending);
    sqlite3_bind_int64(statement, 7, now_ms);
    return run_guarded(store, statement, group, line->partition, line->epoch, line->expected, err);
}

pawl_status
pawl__sqlite_plan(void *self, const pawl_store_call *call, const pawl_plan_line *lines, size_t count, pawl_error *err)
{
    pawl__sqlite_store *store = self;
    int64_t now_ms = pawl__clock_wall_ms();
    pawl_status status = pawl__sqlite_begin_write(store, call, err);

    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = plan_line(store, call->group, &lines[i], now_ms, err);
    return pawl__sqlite_end(store, status, err);
}

static pawl_status
remove_line(pawl__sqlite_store *store, const char *group, const pawl_remove_line *line, pawl_error *err)
{
    sqlite3_stmt *statement;
    pawl_status status = pawl__sqlite_statement_for(store, PAWL__SQL_REMOVE, group, line->partition, &statement, err);

    if (status != PAWL_OK)
        return status;
    sqlite3_bind_int64(statement, 4, line->epoch);
    pawl__sqlite_bind_position(statement, 5, line->expected);
    return run_guarded(store, statement, group, line->partition, line->epoch, line->expected, err);
}

pawl_status
pawl__sqlite_remove(void *self, const pawl_store_call *call, const pawl_remove_line *lines, size_t count,
                    pawl_error *err)
{
    pawl__sqlite_store *store = self;
    pawl_status status = pawl__sqlite_begin_write(store, call, err);

    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = remove_line(store, call->group, &lines[i], err);
    return pawl__sqlite_end(store, status, err);
}
