/*
 * read.c - load, read_back and list
 */
#include "backends/postgresql/postgresql_store.h"

#include <string.h>

#include <glib.h>

#include "util/text.h"

#define LAYOUT 1

/* The columns of PAWL__PG_LOAD and PAWL__PG_LOCK. */
enum { PLACE, OFFSET, EPOCH, BATCH, PENDING, PRINT, OWNER_HOST, OWNER_PID, OWNER_CLIENT, OWNER_RENEWED, VERSION, XID };

/* A text as SQL writes it. The caller frees it. */
static char *
quoted(const char *text)
{
    GString *literal = g_string_new(text);

    g_string_replace(literal, "'", "''", 0);
    g_string_prepend_c(literal, '\'');
    g_string_append_c(literal, '\'');
    return g_string_free(literal, FALSE);
}

void
pawl__pg_place(void *self, const char *group, pawl_partition partition, char *text, size_t text_size)
{
    pawl__pg_store *store = self;
    char *group_name = quoted(group), *topic = quoted(partition.topic);

    g_snprintf(text, text_size, "table %s in %s, WHERE group_name = %s AND topic = %s AND partition = %d", store->table,
               store->url, group_name, topic, (int) partition.number);
    g_free(group_name);
    g_free(topic);
}

/* ------------------------------------------------------------------------------------------------------- columns -- */

/* Something stands there that pawl did not write. It is shown, and never taken for "nothing". */
static pawl_status
unreadable(pawl__pg_store *store, const char *group, pawl_partition partition, const PGresult *rows, int row,
           int column, pawl_error *err)
{
    char place[PAWL__PG_PLACE_SIZE], shown[PAWL__BYTES_TEXT_SIZE];

    pawl__pg_place(store, group, partition, place, sizeof place);
    pawl__text_from_bytes(PQgetvalue(rows, row, column), (size_t) PQgetlength(rows, row, column), shown);
    return pawl_error_set(err, PAWL_UNREADABLE, 0, 0, "column '%s' holds '%s', which pawl did not write, in %s",
                          PQfname(rows, column), shown, place);
}

/* A number that is never negative. */
static bool
read_number(const PGresult *rows, int row, int column, int64_t *ret_number)
{
    return pawl__text_offset(PQgetvalue(rows, row, column), (size_t) PQgetlength(rows, row, column), ret_number);
}

static bool
read_position(const PGresult *rows, int row, int column, pawl_position *ret_position)
{
    int64_t offset;

    if (PQgetisnull(rows, row, column)) {
        *ret_position = pawl_position_absent();
        return true;
    }
    if (!read_number(rows, row, column, &offset))
        return false;
    *ret_position = pawl_position_at(offset);
    return true;
}

/* NULL reads as "". What is too long is cut: they are for people, but for the print; a cut one matches nothing. */
static void
read_text(const PGresult *rows, int row, int column, char *ret_text, size_t size)
{
    const char *text = PQgetvalue(rows, row, column);
    size_t kept = pawl__text_cut(text, strlen(text), size - 1);

    memcpy(ret_text, text, kept);
    ret_text[kept] = '\0';
}

/* For people: what is no number reads as 0. */
static int64_t
read_detail(const PGresult *rows, int row, int column)
{
    return g_ascii_strtoll(PQgetvalue(rows, row, column), NULL, 10);
}

/* Fills in an entry; the column that is unreadable, or -1. */
static int
read_row(const PGresult *rows, int row, pawl_entry *entry)
{
    if (!read_position(rows, row, OFFSET, &entry->offset))
        return OFFSET;
    if (!read_number(rows, row, EPOCH, &entry->epoch))
        return EPOCH;
    if (!read_number(rows, row, BATCH, &entry->batch))
        return BATCH;
    if (!read_position(rows, row, PENDING, &entry->pending))
        return PENDING;
    read_text(rows, row, PRINT, entry->print, sizeof entry->print);
    read_text(rows, row, OWNER_HOST, entry->owner.host, sizeof entry->owner.host);
    read_text(rows, row, OWNER_CLIENT, entry->owner.client_id, sizeof entry->owner.client_id);
    entry->owner.pid = read_detail(rows, row, OWNER_PID);
    entry->owner.renewed_ms = read_detail(rows, row, OWNER_RENEWED);
    return -1;
}

/* -------------------------------------------------------------------------------------------------------- entries -- */

static pawl_status
read_entry(pawl__pg_store *store, const char *group, const PGresult *rows, int row, pawl_entry *entry, pawl_error *err)
{
    int bad;

    if (read_detail(rows, row, VERSION) != LAYOUT)
        return pawl_error_set(err, PAWL_UNSUPPORTED, 0, 0,
                              "%s, table %s: group '%s' was written by another pawl: its layout is version %s, this "
                              "pawl knows version %d",
                              store->url, store->table, group, PQgetvalue(rows, row, VERSION), LAYOUT);
    bad = read_row(rows, row, entry);
    return bad < 0 ? PAWL_OK : unreadable(store, group, entry->partition, rows, row, bad, err);
}

pawl_status
pawl__pg_read_entries(pawl__pg_store *store, const char *group, const void *lines, size_t stride, size_t count,
                      bool lock, pawl_entry *ret_entries, int64_t *ret_xid, bool *ret_missing, pawl_error *err)
{
    pawl__pg_params params = {0};
    PGresult *rows = NULL;
    pawl_status status;

    memset(ret_entries, 0, count * sizeof *ret_entries);
    for (size_t i = 0; i < count; i++)
        ret_entries[i].partition = *(const pawl_partition *) (const void *) ((const char *) lines + i * stride);

    pawl__pg_add_text(&params, group);
    pawl__pg_add_partitions(&params, lines, stride, count);
    status = pawl__pg_run(store, lock ? PAWL__PG_LOCK : PAWL__PG_LOAD, &params, PAWL__PG_NOTHING, &rows, err);
    for (int row = 0; status == PAWL_OK && row < PQntuples(rows); row++)
        status = read_entry(store, group, rows, row, &ret_entries[read_detail(rows, row, PLACE) - 1], err);
    if (status == PAWL_OK && ret_xid != NULL && PQntuples(rows) > 0)
        *ret_xid = read_detail(rows, 0, XID);
    if (status == PAWL_OK && ret_missing != NULL)
        *ret_missing = pawl__pg_is_missing(rows);
    pawl__pg_params_done(&params);
    PQclear(rows);
    return status;
}

static pawl_status
read_group(pawl__pg_store *store, const char *group, pawl_group_info *ret_group, pawl_error *err)
{
    pawl__pg_params params = {0};
    PGresult *rows = NULL;
    pawl_status status;

    pawl__pg_add_text(&params, group);
    status = pawl__pg_run(store, PAWL__PG_CLUSTER, &params, PAWL__PG_NOTHING, &rows, err);
    if (status == PAWL_OK && PQntuples(rows) > 0)
        read_text(rows, 0, 0, ret_group->cluster, sizeof ret_group->cluster);
    PQclear(rows);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- load -- */

pawl_status
pawl__pg_load(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
              pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err)
{
    pawl__pg_store *store = self;
    pawl_status status = pawl__pg_enter(store, call, err);

    if (status == PAWL_OK)
        status = read_group(store, call->group, ret_group, err);
    if (status == PAWL_OK && count > 0)
        status = pawl__pg_read_entries(store, call->group, partitions, sizeof *partitions, count, false, ret_entries,
                                       NULL, NULL, err);
    return status;
}

/* A request whose answer was lost may not have arrived, and must not any more; or its transaction may still be on its way
 * to its end: its locks are waited for. */
pawl_status
pawl__pg_read_back(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
                   pawl_entry *ret_entries, pawl_error *err)
{
    pawl__pg_store *store = self;
    pawl_status status = pawl__pg_enter(store, call, err);

    if (status == PAWL_OK)
        status = pawl__pg_end_lost(store, err);
    if (status != PAWL_OK)
        return status;
    return pawl__pg_read_entries(store, call->group, partitions, sizeof *partitions, count, true, ret_entries, NULL,
                                 NULL, err);
}

/* ---------------------------------------------------------------------------------------------------------- list -- */

static pawl_status
unreadable_name(pawl__pg_store *store, const PGresult *rows, int row, int column, pawl_error *err)
{
    char shown[PAWL__BYTES_TEXT_SIZE];

    pawl__text_from_bytes(PQgetvalue(rows, row, column), (size_t) PQgetlength(rows, row, column), shown);
    return pawl_error_set(err, PAWL_UNREADABLE, 0, 0, "%s, table %s: '%s' in column '%s' is not pawl's", store->url,
                          store->table, shown, PQfname(rows, column));
}

/* Tells one row of PAWL__PG_GROUPS or PAWL__PG_PARTITIONS. */
static pawl_status
tell_row(pawl__pg_store *store, const char *group, const PGresult *rows, int row, pawl_list_fn fn, void *user,
         bool *ret_more, pawl_error *err)
{
    pawl_partition partition = {.topic = PQgetvalue(rows, row, 0)};
    int64_t number;

    if (PQgetisnull(rows, row, 0))
        return unreadable_name(store, rows, row, 0, err);
    if (group == NULL) {
        *ret_more = fn(user, partition.topic, NULL);
        return PAWL_OK;
    }
    if (!read_number(rows, row, 1, &number) || number > INT32_MAX)
        return unreadable_name(store, rows, row, 1, err);
    partition.number = (int32_t) number;
    *ret_more = fn(user, group, &partition);
    return PAWL_OK;
}

pawl_status
pawl__pg_list(void *self, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err)
{
    pawl__pg_store *store = self;
    pawl__pg_params params = {0};
    PGresult *rows = NULL;
    bool more = true;
    pawl_status status = pawl__pg_enter(store, call, err);

    if (status != PAWL_OK)
        return status;
    if (call->group != NULL)
        pawl__pg_add_text(&params, call->group);
    status = pawl__pg_run(store, call->group == NULL ? PAWL__PG_GROUPS : PAWL__PG_PARTITIONS, &params, PAWL__PG_NOTHING,
                          &rows, err);
    for (int row = 0; status == PAWL_OK && more && row < PQntuples(rows); row++)
        status = tell_row(store, call->group, rows, row, fn, user, &more, err);
    PQclear(rows);
    return status;
}
