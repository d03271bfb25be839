/*
 * store_read.c - load and list: tried again while that may help
 */
#include "core/store.h"

#include <string.h>

pawl_entry *
pawl__store_entries(const void *lines, size_t stride, size_t count)
{
    pawl_entry *entries = g_new0(pawl_entry, count);

    for (size_t i = 0; i < count; i++)
        entries[i].partition = *(const pawl_partition *) ((const char *) lines + stride * i);
    return entries;
}

pawl_status
pawl_store_load(pawl_store *store, const char *group, const pawl_partition *partitions, size_t count,
                pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err)
{
    pawl__store_run run;
    pawl_group_info info;
    pawl_entry *entries;
    pawl_status status = pawl__store_run_start_lines(&run, store, group, partitions, sizeof *partitions, count);

    if (status != PAWL_OK || (count == 0 && ret_group == NULL))
        return pawl__store_run_end(&run, status, err);

    do {
        memset(&info, 0, sizeof info);
        entries = pawl__store_entries(partitions, sizeof *partitions, count);
        status = store->backend->load(store->self, &run.call, partitions, count, entries, &info, &run.error);
        if (status == PAWL_OK && count > 0)
            memcpy(ret_entries, entries, count * sizeof *entries);
        g_free(entries);
    } while (pawl__store_run_again(&run, &status));

    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        pawl__owner_unmark(&ret_entries[i].owner);
    if (status == PAWL_OK && ret_group != NULL)
        *ret_group = info;
    return pawl__store_run_end(&run, status, err);
}

/* One answer of the backend's list function. */
typedef struct listed {
    char *group;
    char *topic; /* NULL when groups are listed */
    int32_t number;
} listed;

static void
listed_done(void *item)
{
    g_free(((listed *) item)->group);
    g_free(((listed *) item)->topic);
}

static int
compare_listed(const void *a, const void *b)
{
    const listed *left = a, *right = b;
    int order = strcmp(left->group, right->group);

    if (order == 0)
        order = g_strcmp0(left->topic, right->topic);
    return order != 0 ? order : (left->number > right->number) - (left->number < right->number);
}

static bool
collect(void *user, const char *group, const pawl_partition *partition)
{
    listed item = {.group = g_strdup(group)};

    if (partition != NULL) {
        item.topic = g_strdup(partition->topic);
        item.number = partition->number;
    }
    g_array_append_val((GArray *) user, item);
    return true;
}

pawl_status
pawl_store_list(pawl_store *store, const char *group, pawl_list_fn fn, void *user, pawl_error *err)
{
    GArray *items = g_array_new(FALSE, FALSE, sizeof(listed));
    pawl__store_run run;
    pawl_status status = pawl__store_run_start(&run, store, group);
    bool more = true;

    g_array_set_clear_func(items, listed_done);
    if (status == PAWL_OK && group != NULL)
        status = pawl__store_check_group(group, &run.error);
    if (status == PAWL_OK)
        status = pawl__store_run_require(&run, PAWL_STORE_LIST, "list what it holds");
    if (status == PAWL_OK) {
        do {
            g_array_set_size(items, 0);
            status = store->backend->list(store->self, &run.call, collect, items, &run.error);
        } while (pawl__store_run_again(&run, &status));
    }

    /* All of it is known before the first is told: fn may call the store, and hears of nothing twice. */
    if (status == PAWL_OK)
        g_array_sort(items, compare_listed);
    for (guint i = 0; status == PAWL_OK && more && i < items->len; i++) {
        const listed *item = &g_array_index(items, listed, i);
        pawl_partition partition = {item->topic, item->number};

        more = fn(user, item->group, item->topic != NULL ? &partition : NULL);
    }
    g_array_free(items, TRUE);
    return pawl__store_run_end(&run, status, err);
}
