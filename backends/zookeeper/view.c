/*
 * view.c - what a group holds, in memory
 */
#include "backends/zookeeper/zookeeper_store.h"

#include "util/partition.h"

#include <string.h>

static void
owner_free(gpointer item)
{
    pawl__zk_owner *owner = item;

    g_free(owner->path);
    g_ptr_array_free(owner->parts, TRUE);
    g_free(owner);
}

pawl__zk_view *
pawl__zk_view_new(const char *group)
{
    pawl__zk_view *view = g_new0(pawl__zk_view, 1);

    view->group = g_strdup(group);
    view->owners = g_ptr_array_new_with_free_func(owner_free);
    view->parts = g_hash_table_new_full(pawl__partition_hash, pawl__partition_equal, NULL, g_free);
    view->topics = g_string_chunk_new(1024);
    return view;
}

void
pawl__zk_view_free(pawl__zk_view *view)
{
    if (view == NULL)
        return;
    g_free(view->group);
    g_ptr_array_free(view->owners, TRUE);
    g_hash_table_unref(view->parts);
    g_string_chunk_free(view->topics);
    g_free(view);
}

void
pawl__zk_view_keep(pawl__zk_store *store, pawl__zk_view *view)
{
    pawl__zk_view_free(store->view);
    store->view = view;
}

pawl__zk_part *
pawl__zk_view_part(pawl__zk_view *view, pawl_partition partition)
{
    pawl__zk_part *part = g_hash_table_lookup(view->parts, &partition);

    if (part == NULL) {
        part = g_new0(pawl__zk_part, 1);
        part->partition.topic = g_string_chunk_insert_const(view->topics, partition.topic);
        part->partition.number = partition.number;
        g_hash_table_insert(view->parts, &part->partition, part);
    }
    return part;
}

pawl__zk_owner *
pawl__zk_view_owner(pawl__zk_view *view, char *path)
{
    pawl__zk_owner *owner = g_new0(pawl__zk_owner, 1);

    owner->path = path;
    owner->parts = g_ptr_array_new();
    g_ptr_array_add(view->owners, owner);
    return owner;
}

/* The old owner's list is left as it is: who reads it looks whose each part is. */
void
pawl__zk_part_move(pawl__zk_part *part, pawl__zk_owner *owner)
{
    if (part->owner != NULL)
        part->owner->changed = true;
    part->owner = owner;
    owner->changed = true;
    g_ptr_array_add(owner->parts, part);
}

int64_t
pawl__zk_part_epoch(const pawl__zk_part *part)
{
    return part->owner != NULL ? part->owner->epoch : 0;
}

void
pawl__zk_part_entry(const pawl__zk_part *part, pawl_partition partition, pawl_entry *ret_entry)
{
    memset(ret_entry, 0, sizeof *ret_entry);
    ret_entry->partition = partition;
    ret_entry->offset = part->offset;
    ret_entry->epoch = pawl__zk_part_epoch(part);
    ret_entry->batch = part->batch;
    ret_entry->pending = part->pending;
    memcpy(ret_entry->print, part->print, sizeof ret_entry->print);
    if (part->owner == NULL)
        return;
    if (part->held)
        ret_entry->owner = part->owner->owner;
    else /* whoever was fenced by it wants to know */
        memcpy(ret_entry->owner.client_id, part->owner->owner.client_id, sizeof ret_entry->owner.client_id);
}
