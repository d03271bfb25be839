/*
 * memory.c - offsets in the memory of this process: the store contract in its shortest form
 *
 * "memory:NAME" opens the space of that name. A space is made when it is first opened and stays until the process ends,
 * as a server's data outlives its clients; all handles of a name see the same data, under one lock for everything.
 *
 * All or nothing comes from two passes: the first looks at every line and may refuse, the second writes and cannot
 * fail.
 */
#include "backends/memory/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "util/clock.h"
#include "util/partition.h"

#define PLACE_SIZE PAWL_ERROR_MESSAGE_SIZE

typedef struct memory_group {
    char cluster[PAWL_CLUSTER_SIZE];
    GHashTable *rows; /* pawl_partition, inside the row, to memory_row */
} memory_group;

/* What is kept for one partition. Its own partition is the key, with a topic of its own. */
typedef struct memory_row {
    pawl_partition partition;
    pawl_entry entry;
} memory_row;

typedef struct memory_store {
    char *name;
    GHashTable *groups; /* name to memory_group; the space's, borrowed */
} memory_store;

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static GHashTable *memory_spaces; /* name to GHashTable of groups */

/* ----------------------------------------------------------------------------------------------- spaces and rows -- */

static GHashTable *
get_space(const char *name)
{
    GHashTable *groups;

    if (memory_spaces == NULL)
        memory_spaces = g_hash_table_new(g_str_hash, g_str_equal);
    groups = g_hash_table_lookup(memory_spaces, name);
    if (groups == NULL) {
        groups = g_hash_table_new(g_str_hash, g_str_equal);
        g_hash_table_insert(memory_spaces, g_strdup(name), groups);
    }
    return groups;
}

/* The row of a partition, or NULL. */
static memory_row *
find_row(const memory_store *store, const char *group, pawl_partition partition)
{
    memory_group *found = g_hash_table_lookup(store->groups, group);

    return found != NULL ? g_hash_table_lookup(found->rows, &partition) : NULL;
}

/* The group, made if there is none. */
static memory_group *
get_group(const memory_store *store, const char *name)
{
    memory_group *group = g_hash_table_lookup(store->groups, name);

    if (group == NULL) {
        group = g_new0(memory_group, 1);
        group->rows = g_hash_table_new(pawl__partition_hash, pawl__partition_equal);
        g_hash_table_insert(store->groups, g_strdup(name), group);
    }
    return group;
}

/* The row of a partition, made if there is none. */
static memory_row *
get_row(const memory_store *store, const char *group, pawl_partition partition)
{
    GHashTable *rows = get_group(store, group)->rows;
    memory_row *row = g_hash_table_lookup(rows, &partition);

    if (row == NULL) {
        row = g_new0(memory_row, 1);
        row->partition = (pawl_partition){g_strdup(partition.topic), partition.number};
        g_hash_table_insert(rows, &row->partition, row);
    }
    return row;
}

/* What is stored, as load gives it: zeros where there is nothing. */
static void
read_entry(const memory_store *store, const char *group, pawl_partition partition, pawl_entry *ret_entry)
{
    const memory_row *row = find_row(store, group, partition);

    if (row != NULL)
        *ret_entry = row->entry;
    ret_entry->partition = partition;
}

/* ---------------------------------------------------------------------------------------------- opening, looking -- */

static pawl_status
memory_open(void *self, const pawl_store_setup *setup, pawl_error *err)
{
    memory_store *store = self;

    if (setup->path[0] == '\0')
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s names no space: write memory:NAME", setup->url);
    store->name = g_strdup(setup->path);
    pthread_mutex_lock(&memory_lock);
    store->groups = get_space(store->name);
    pthread_mutex_unlock(&memory_lock);
    return PAWL_OK;
}

static void
memory_close(void *self)
{
    g_free(((memory_store *) self)->name);
}

static void
memory_place(void *self, const char *group, pawl_partition partition, char *text, size_t text_size)
{
    snprintf(text, text_size, "memory:%s, group '%s', partition %d of topic '%s'", ((memory_store *) self)->name, group,
             (int) partition.number, partition.topic);
}

static pawl_status
memory_load(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
            pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err)
{
    memory_store *store = self;
    memory_group *group;

    (void) err;
    pthread_mutex_lock(&memory_lock);
    group = g_hash_table_lookup(store->groups, call->group);
    if (group != NULL)
        memcpy(ret_group->cluster, group->cluster, sizeof group->cluster);
    for (size_t i = 0; i < count; i++)
        read_entry(store, call->group, partitions[i], &ret_entries[i]);
    pthread_mutex_unlock(&memory_lock);
    return PAWL_OK;
}

/* A row that is worth telling of: not what a remove or an acquire without an offset left behind. */
static bool
is_listed(const memory_row *row)
{
    return row->entry.offset.known || row->entry.owner.host[0] != '\0';
}

/* Lists the rows of one group, or only the group itself if it has any. False: fn wants no more. */
static bool
list_rows(const char *name, memory_group *group, bool only_group, pawl_list_fn fn, void *user)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, group->rows);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const memory_row *row = value;

        if (!is_listed(row))
            continue;
        if (only_group)
            return fn(user, name, NULL);
        if (!fn(user, name, &row->partition))
            return false;
    }
    return true;
}

static pawl_status
memory_list(void *self, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err)
{
    memory_store *store = self;
    GHashTableIter iter;
    gpointer name, group;
    bool more = true;

    (void) err;
    pthread_mutex_lock(&memory_lock);
    g_hash_table_iter_init(&iter, store->groups);
    while (more && g_hash_table_iter_next(&iter, &name, &group))
        if (call->group == NULL || strcmp(call->group, name) == 0)
            more = list_rows(name, group, call->group == NULL, fn, user);
    pthread_mutex_unlock(&memory_lock);
    return PAWL_OK;
}

/* -------------------------------------------------------------------------------------------- becoming the owner -- */

static pawl_status
check_seen(memory_store *store, const char *group, const pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    for (size_t i = 0; i < count; i++) {
        pawl_entry entry = {.epoch = 0};
        char place[PLACE_SIZE];

        read_entry(store, group, lines[i].partition, &entry);
        memory_place(store, group, lines[i].partition, place, sizeof place);
        if (pawl_sys_check_seen(&entry, lines[i].epoch_seen, place, err) != PAWL_OK)
            return PAWL_STALE;
    }
    return PAWL_OK;
}

static pawl_status
memory_acquire(void *self, const pawl_store_call *call, const pawl_owner *owner, const char *cluster,
               pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    memory_store *store = self;
    pawl_status status;

    pthread_mutex_lock(&memory_lock);
    status = check_seen(store, call->group, lines, count, err);
    if (status == PAWL_OK && cluster != NULL && cluster[0] != '\0')
        g_strlcpy(get_group(store, call->group)->cluster, cluster, PAWL_CLUSTER_SIZE);
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        pawl_entry *entry = &get_row(store, call->group, lines[i].partition)->entry;

        lines[i].ret_epoch = ++entry->epoch;
        entry->owner = *owner;
        if (!entry->offset.known)
            entry->offset = lines[i].initial;
    }
    pthread_mutex_unlock(&memory_lock);
    return status;
}

static pawl_status
memory_release(void *self, const pawl_store_call *call, const pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    (void) err;
    pthread_mutex_lock(&memory_lock);
    for (size_t i = 0; i < count; i++) {
        memory_row *row = find_row(self, call->group, lines[i].partition);

        if (row == NULL || row->entry.epoch != lines[i].ret_epoch)
            continue;
        /* The client's name stays: who was fenced by it wants to know. */
        row->entry.owner.host[0] = '\0';
        row->entry.owner.pid = 0;
        row->entry.owner.renewed_ms = 0;
    }
    pthread_mutex_unlock(&memory_lock);
    return PAWL_OK;
}

/* ------------------------------------------------------------------------------------------ writing as the owner -- */

/* Whether the caller owns the partition, and it holds what the caller expects. */
static pawl_status
check_owned(memory_store *store, const char *group, pawl_partition partition, int64_t epoch, pawl_position expected,
            pawl_error *err)
{
    pawl_entry entry = {.epoch = 0};
    char place[PLACE_SIZE];

    read_entry(store, group, partition, &entry);
    memory_place(store, group, partition, place, sizeof place);
    return pawl_sys_check_owned(&entry, epoch, expected, place, err);
}

static pawl_status
memory_plan(void *self, const pawl_store_call *call, const pawl_plan_line *lines, size_t count, pawl_error *err)
{
    memory_store *store = self;
    pawl_status status = PAWL_OK;

    pthread_mutex_lock(&memory_lock);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = check_owned(store, call->group, lines[i].partition, lines[i].epoch, lines[i].expected, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        pawl_entry *entry = &get_row(store, call->group, lines[i].partition)->entry;

        entry->pending = lines[i].pending;
        entry->owner.renewed_ms = pawl__clock_wall_ms();
    }
    pthread_mutex_unlock(&memory_lock);
    return status;
}

static void
write_offset(memory_row *row, const pawl_save_line *line)
{
    pawl_entry *entry = &row->entry;

    entry->offset = pawl_position_at(line->until);
    entry->pending = pawl_position_absent();
    entry->owner.renewed_ms = pawl__clock_wall_ms();
    if (line->batch != 0)
        entry->batch = line->batch;
    g_strlcpy(entry->print, line->print != NULL ? line->print : "", sizeof entry->print);
}

static pawl_status
memory_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count, pawl_error *err)
{
    memory_store *store = self;
    pawl_status status = PAWL_OK;

    pthread_mutex_lock(&memory_lock);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = check_owned(store, call->group, lines[i].partition, lines[i].epoch, lines[i].expected, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        write_offset(get_row(store, call->group, lines[i].partition), &lines[i]);
    pthread_mutex_unlock(&memory_lock);
    return status;
}

static pawl_status
memory_remove(void *self, const pawl_store_call *call, const pawl_remove_line *lines, size_t count, pawl_error *err)
{
    memory_store *store = self;
    pawl_status status = PAWL_OK;

    pthread_mutex_lock(&memory_lock);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = check_owned(store, call->group, lines[i].partition, lines[i].epoch, lines[i].expected, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        pawl_entry *entry = &get_row(store, call->group, lines[i].partition)->entry;

        entry->offset = entry->pending = pawl_position_absent();
        entry->print[0] = '\0';
    }
    pthread_mutex_unlock(&memory_lock);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- the table -- */

/* No cancel: nothing here waits for anything. */
const pawl_store_backend pawl__store_memory = {
    .abi = PAWL_STORE_ABI,
    .scheme = "memory",
    .summary = "the memory of this process: for tests",
    .capabilities =
        PAWL_STORE_ATOMIC | PAWL_STORE_CAS_EPOCH | PAWL_STORE_CAS_OFFSET | PAWL_STORE_PLAN | PAWL_STORE_LIST,
    .instance_size = sizeof(memory_store),
    .open = memory_open,
    .close = memory_close,
    .place = memory_place,
    .load = memory_load,
    .acquire = memory_acquire,
    .plan = memory_plan,
    .save = memory_save,
    .release = memory_release,
    .list = memory_list,
    .remove = memory_remove,
};
