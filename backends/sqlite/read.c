/*
 * read.c - load and list
 */
#include "backends/sqlite/sqlite_store.h"

#include <string.h>

#include "util/text.h"

/* The columns of PAWL__SQL_ENTRY. */
enum { OFFSET, EPOCH, BATCH, PENDING, PRINT, OWNER_HOST, OWNER_PID, OWNER_CLIENT, OWNER_RENEWED };

void
pawl__sqlite_place(void *self, const char *group, pawl_partition partition, char *text, size_t text_size)
{
    pawl__sqlite_store *store = self;

    sqlite3_snprintf((int) text_size, text, "%s, pawl_offsets (%Q, %Q, %d)", store->path, group, partition.topic,
                     (int) partition.number);
}

/* ------------------------------------------------------------------------------------------------------- columns -- */

/* Something stands there that pawl did not write. It is shown, and never taken for "nothing". */
static pawl_status
unreadable(pawl__sqlite_store *store, const char *group, pawl_partition partition, sqlite3_stmt *row, int column,
           pawl_error *err)
{
    char place[PAWL__SQLITE_PLACE_SIZE], shown[PAWL__BYTES_TEXT_SIZE];
    const void *bytes;

    pawl__sqlite_place(store, group, partition, place, sizeof place);
    if (sqlite3_column_type(row, column) == SQLITE_NULL)
        return pawl_error_set(err, PAWL_UNREADABLE, 0, 0, "column '%s' holds nothing, in %s",
                              sqlite3_column_name(row, column), place);
    bytes = sqlite3_column_blob(row, column);
    pawl__text_from_bytes(bytes, (size_t) sqlite3_column_bytes(row, column), shown);
    return pawl_error_set(err, PAWL_UNREADABLE, 0, 0, "column '%s' holds '%s', which pawl did not write, in %s",
                          sqlite3_column_name(row, column), shown, place);
}

/* A number that is never negative. */
static bool
read_number(sqlite3_stmt *row, int column, int64_t *ret_number)
{
    if (sqlite3_column_type(row, column) != SQLITE_INTEGER || sqlite3_column_int64(row, column) < 0)
        return false;
    *ret_number = sqlite3_column_int64(row, column);
    return true;
}

static bool
read_position(sqlite3_stmt *row, int column, pawl_position *ret_position)
{
    int64_t offset;

    if (sqlite3_column_type(row, column) == SQLITE_NULL) {
        *ret_position = pawl_position_absent();
        return true;
    }
    if (!read_number(row, column, &offset))
        return false;
    *ret_position = pawl_position_at(offset);
    return true;
}

/* NULL reads as "". What is too long is cut: they are for people, but for the print; a cut one matches nothing. */
static void
read_text(sqlite3_stmt *row, int column, char *ret_text, size_t size)
{
    const char *text = (const char *) sqlite3_column_text(row, column);

    sqlite3_snprintf((int) size, ret_text, "%s", text != NULL ? text : "");
}

/* Fills in an entry; the column that is unreadable, or -1. */
static int
read_row(sqlite3_stmt *row, pawl_entry *entry)
{
    if (!read_position(row, OFFSET, &entry->offset))
        return OFFSET;
    if (!read_number(row, EPOCH, &entry->epoch))
        return EPOCH;
    if (!read_number(row, BATCH, &entry->batch))
        return BATCH;
    if (!read_position(row, PENDING, &entry->pending))
        return PENDING;
    read_text(row, PRINT, entry->print, sizeof entry->print);
    read_text(row, OWNER_HOST, entry->owner.host, sizeof entry->owner.host);
    read_text(row, OWNER_CLIENT, entry->owner.client_id, sizeof entry->owner.client_id);
    entry->owner.pid = sqlite3_column_int64(row, OWNER_PID);
    entry->owner.renewed_ms = sqlite3_column_int64(row, OWNER_RENEWED);
    return -1;
}

/* ---------------------------------------------------------------------------------------------------------- load -- */

pawl_status
pawl__sqlite_read_entry(pawl__sqlite_store *store, const char *group, pawl_partition partition, pawl_entry *ret_entry,
                        pawl_error *err)
{
    sqlite3_stmt *statement;
    pawl_status status = pawl__sqlite_statement_for(store, PAWL__SQL_ENTRY, group, partition, &statement, err);
    int rc, bad;

    if (status != PAWL_OK)
        return status;
    memset(ret_entry, 0, sizeof *ret_entry);
    ret_entry->partition = partition;

    rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW) {
        bad = read_row(statement, ret_entry);
        if (bad >= 0)
            status = unreadable(store, group, partition, statement, bad, err);
    } else if (rc != SQLITE_DONE) {
        status = pawl__sqlite_fail(store, rc, err);
    }
    pawl__sqlite_statement_end(statement);
    return status;
}

static pawl_status
read_group(pawl__sqlite_store *store, const char *group, pawl_group_info *ret_group, pawl_error *err)
{
    sqlite3_stmt *statement;
    pawl_status status = pawl__sqlite_statement(store, PAWL__SQL_CLUSTER, &statement, err);
    int rc;

    if (status != PAWL_OK)
        return status;
    sqlite3_bind_text(statement, 1, group, -1, SQLITE_STATIC);
    rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        read_text(statement, 0, ret_group->cluster, sizeof ret_group->cluster);
    else if (rc != SQLITE_DONE)
        status = pawl__sqlite_fail(store, rc, err);
    pawl__sqlite_statement_end(statement);
    return status;
}

/* One transaction, so that all entries are of the same moment. */
pawl_status
pawl__sqlite_load(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
                  pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err)
{
    pawl__sqlite_store *store = self;
    pawl_status status = pawl__sqlite_begin_read(store, call, err);

    if (status != PAWL_OK)
        return status;
    status = read_group(store, call->group, ret_group, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = pawl__sqlite_read_entry(store, call->group, partitions[i], &ret_entries[i], err);
    return pawl__sqlite_end(store, status, err);
}

/* ---------------------------------------------------------------------------------------------------------- list -- */

static pawl_status
unreadable_name(pawl__sqlite_store *store, sqlite3_stmt *row, int column, pawl_error *err)
{
    char shown[PAWL__BYTES_TEXT_SIZE];
    const void *bytes = sqlite3_column_blob(row, column);

    pawl__text_from_bytes(bytes, (size_t) sqlite3_column_bytes(row, column), shown);
    return pawl_error_set(err, PAWL_UNREADABLE, 0, 0, "%s: '%s' in column '%s' of pawl_offsets is not pawl's",
                          store->path, shown, sqlite3_column_name(row, column));
}

/* Tells one row of PAWL__SQL_GROUPS or PAWL__SQL_PARTITIONS. */
static pawl_status
tell_row(pawl__sqlite_store *store, const char *group, sqlite3_stmt *row, pawl_list_fn fn, void *user, bool *ret_more,
         pawl_error *err)
{
    const char *name = (const char *) sqlite3_column_text(row, 0);
    pawl_partition partition = {.topic = name};
    int64_t number;

    if (name == NULL)
        return unreadable_name(store, row, 0, err);
    if (group == NULL) {
        *ret_more = fn(user, name, NULL);
        return PAWL_OK;
    }
    if (!read_number(row, 1, &number) || number > INT32_MAX)
        return unreadable_name(store, row, 1, err);
    partition.number = (int32_t) number;
    *ret_more = fn(user, group, &partition);
    return PAWL_OK;
}

static pawl_status
list_rows(pawl__sqlite_store *store, const char *group, pawl_list_fn fn, void *user, pawl_error *err)
{
    sqlite3_stmt *statement;
    pawl_status status =
        pawl__sqlite_statement(store, group == NULL ? PAWL__SQL_GROUPS : PAWL__SQL_PARTITIONS, &statement, err);
    bool more = true;
    int rc = SQLITE_DONE;

    if (status != PAWL_OK)
        return status;
    if (group != NULL)
        sqlite3_bind_text(statement, 1, group, -1, SQLITE_STATIC);
    while (status == PAWL_OK && more && (rc = sqlite3_step(statement)) == SQLITE_ROW)
        status = tell_row(store, group, statement, fn, user, &more, err);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        status = pawl__sqlite_fail(store, rc, err);
    pawl__sqlite_statement_end(statement);
    return status;
}

pawl_status
pawl__sqlite_list(void *self, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err)
{
    pawl__sqlite_store *store = self;
    pawl_status status = pawl__sqlite_begin_read(store, call, err);

    if (status != PAWL_OK)
        return status;
    return pawl__sqlite_end(store, list_rows(store, call->group, fn, user, err), err);
}
