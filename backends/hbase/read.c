/*
 * read.c - load, list, read back
 */
#include "backends/hbase/hbase_store.h"

#include <string.h>

#define ROWS_AT_ONCE 100

pawl_status
pawl__hbase_load(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
                 pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err)
{
    pawl__hbase_store *store = self;
    pawl_status status = pawl__hbase_row_load(store, call->group, call->deadline_ms, err);

    if (status != PAWL_OK)
        return status;
    memcpy(ret_group->cluster, store->row->cluster, sizeof ret_group->cluster);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = pawl__hbase_row_entry(store->row, partitions[i], &ret_entries[i], err);
    return status;
}

pawl_status
pawl__hbase_read_back(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
                      pawl_entry *ret_entries, pawl_error *err)
{
    pawl_group_info group;
    pawl_status status = pawl__hbase_settle(self, call, err);

    return status == PAWL_OK ? pawl__hbase_load(self, call, partitions, count, ret_entries, &group, err) : status;
}

/* ---------------------------------------------------------------------------------------------------------- list -- */

/* A listing of all groups, a page of rows after the other. */
typedef struct listing {
    pawl__hbase_store *store;
    pawl_list_fn fn;
    void *user;
    GString *next; /* the key after the last one of this page */
    int rows;      /* of this page */
    bool more;
    bool foreign; /* there is a key that no group has: `next` is that key */
} listing;

static bool
has_listed_line(const pawl__hbase_row *row)
{
    GHashTableIter iter;
    gpointer line;

    g_hash_table_iter_init(&iter, row->lines);
    while (g_hash_table_iter_next(&iter, NULL, &line))
        if (pawl__hbase_line_is_listed(line))
            return true;
    return false;
}

static void
list_row(void *user, const pawl__hbase_cells *cells)
{
    listing *list = user;
    pawl__hbase_row *row;

    if (!list->more || list->foreign)
        return;
    list->rows++;
    list->foreign = !g_utf8_validate(cells->key->str, (gssize) cells->key->len, NULL);
    g_string_truncate(list->next, 0);
    g_string_append_len(list->next, cells->key->str, (gssize) cells->key->len);
    if (list->foreign)
        return;
    g_string_append_c(list->next, '\0');
    row = pawl__hbase_row_new(cells->key->str);
    pawl__hbase_row_read(list->store, row, cells);
    if (has_listed_line(row))
        list->more = list->fn(list->user, row->group, NULL);
    pawl__hbase_row_free(row);
}

static pawl_status
list_groups(pawl__hbase_store *store, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err)
{
    listing list = {.store = store, .fn = fn, .user = user, .next = g_string_new(NULL), .more = true};
    pawl_status status = PAWL_OK;

    do {
        GString *from = g_string_new_len(list.next->str, (gssize) list.next->len);

        list.rows = 0;
        status = pawl__hbase_scan(store, call->deadline_ms, from, NULL, ROWS_AT_ONCE, list_row, &list, err);
        g_string_free(from, TRUE);
    } while (status == PAWL_OK && list.more && !list.foreign && list.rows == ROWS_AT_ONCE);
    if (status == PAWL_OK && list.foreign) {
        char *shown = g_strescape(list.next->str, NULL);

        status = pawl_error_set(err, PAWL_UNREADABLE, 0, 0,
                                "row '%s' in HBase's table '%s' is no group of pawl's, which wants a table of its own",
                                shown, store->table);
        g_free(shown);
    }
    g_string_free(list.next, TRUE);
    return status;
}

static pawl_status
list_partitions(pawl__hbase_store *store, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err)
{
    pawl_status status = pawl__hbase_row_load(store, call->group, call->deadline_ms, err);
    bool more = status == PAWL_OK;
    GHashTableIter iter;
    gpointer value;

    if (more)
        g_hash_table_iter_init(&iter, store->row->lines);
    while (more && g_hash_table_iter_next(&iter, NULL, &value)) {
        const pawl__hbase_line *line = value;

        if (pawl__hbase_line_is_listed(line))
            more = fn(user, call->group, &line->entry.partition);
    }
    return status;
}

pawl_status
pawl__hbase_list(void *self, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err)
{
    pawl__hbase_store *store = self;

    if (store->nothing_stored)
        return PAWL_OK;
    return call->group == NULL ? list_groups(store, call, fn, user, err) : list_partitions(store, call, fn, user, err);
}
