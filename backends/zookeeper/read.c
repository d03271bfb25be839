/*
 * read.c - the view as the server has it now
 *
 * A server answers one request after the other, so what is read is not of one moment. But each of pawl's writes changes
 * the node of an owner, or makes a new one: when these are the same before the offsets were read and afterwards, nothing
 * was written in between.
 */
#include "backends/zookeeper/zookeeper_store.h"

#include <string.h>

#include "util/clock.h"
#include "util/text.h"

#define NO_OWNERS (-1)

/* One try. */
typedef struct reading {
    pawl__zk_store *store;
    const pawl_store_call *call;
    const void *partitions;
    size_t stride;
    guint count;
    pawl__zk_view *view;
    char *owners_path;
    int32_t owners_version; /* grows with each owner that comes or goes; NO_OWNERS: there have been none */
    bool moved;             /* something was written meanwhile */
} reading;

static pawl_partition
partition_at(const reading *read, guint i)
{
    return *(const pawl_partition *) ((const char *) read->partitions + read->stride * i);
}

/* ---------------------------------------------------------------------------------- the group, and who its owners are -- */

static pawl_status
take_group(reading *read, const pawl__zk_answer *answer, pawl_error *err)
{
    char *path = pawl__zk_group_path(read->store, read->call->group, "/pawl");
    int64_t layout = 0;
    pawl_status status = PAWL_OK;

    if (answer->code != ZOK && answer->code != ZNONODE)
        status = pawl__zk_fail(read->store, answer->code, path, err);
    else if (answer->code == ZOK && !pawl__zk_group_parse(read->view, answer->data, &layout))
        status = pawl_error_set(err, PAWL_UNREADABLE, 0, 0,
                                "node %s in ZooKeeper at %s holds what pawl did not write: it should begin with a line "
                                "'layout %d', and a cluster's id has at most %d bytes",
                                path, read->store->hosts, PAWL__ZK_LAYOUT, PAWL_CLUSTER_SIZE - 1);
    else if (layout > PAWL__ZK_LAYOUT)
        status = pawl_error_set(err, PAWL_UNSUPPORTED, 0, 0,
                                "node %s in ZooKeeper at %s has layout version %" G_GINT64_FORMAT
                                ", and this pawl knows versions up to %d: it was written by a newer one",
                                path, read->store->hosts, layout, PAWL__ZK_LAYOUT);
    read->view->exists = answer->code == ZOK;
    read->view->version = answer->stat.version;
    g_free(path);
    return status;
}

static pawl_status
take_owner_names(reading *read, const pawl__zk_answer *answer, pawl_error *err)
{
    read->owners_version = NO_OWNERS;
    if (answer->code == ZNONODE)
        return PAWL_OK;
    if (answer->code != ZOK)
        return pawl__zk_fail(read->store, answer->code, read->owners_path, err);
    read->owners_version = answer->stat.cversion;
    for (char **name = answer->children; *name != NULL; name++)
        pawl__zk_view_owner(read->view, g_strconcat(read->owners_path, "/", *name, NULL));
    return PAWL_OK;
}

/* The sync makes sure that the server which we talk to has what any other has acknowledged. */
static pawl_status
read_group(reading *read, pawl_error *err)
{
    pawl__zk_round *round = pawl__zk_round_new(read->store);
    char *path = pawl__zk_group_path(read->store, read->call->group, "/pawl");
    guint sync = pawl__zk_round_sync(round), group, owners;
    pawl_status status;

    group = pawl__zk_round_get(round, path);
    owners = pawl__zk_round_children(round, read->owners_path);
    status = pawl__zk_round_wait(round, read->call->deadline_ms, err);
    if (status == PAWL_OK && pawl__zk_round_answer(round, sync)->code != ZOK)
        status = pawl__zk_fail(read->store, pawl__zk_round_answer(round, sync)->code, "/", err);
    if (status == PAWL_OK)
        status = take_group(read, pawl__zk_round_answer(round, group), err);
    if (status == PAWL_OK)
        status = take_owner_names(read, pawl__zk_round_answer(round, owners), err);
    pawl__zk_round_end(round);
    g_free(path);
    return status;
}

/* ---------------------------------------------------------------------------------------------- owners and offsets -- */

static pawl_status
take_owner(reading *read, pawl__zk_owner *owner, const pawl__zk_answer *answer, pawl_error *err)
{
    if (answer->code == ZNONODE) {
        read->moved = true;
        return PAWL_OK;
    }
    if (answer->code != ZOK)
        return pawl__zk_fail(read->store, answer->code, owner->path, err);
    owner->version = answer->stat.version;
    owner->epoch = answer->stat.czxid;
    if (pawl__zk_owner_parse(read->view, owner, answer->data))
        return PAWL_OK;
    return pawl_error_set(err, PAWL_UNREADABLE, 0, 0, "node %s in ZooKeeper at %s holds what pawl did not write",
                          owner->path, read->store->hosts);
}

static pawl_status
unreadable(reading *read, pawl_partition partition, const void *bytes, size_t size, pawl_error *err)
{
    char place[PAWL__ZK_PLACE_SIZE], shown[PAWL__BYTES_TEXT_SIZE];

    pawl__zk_place(read->store, read->call->group, partition, place, sizeof place);
    pawl__text_from_bytes(bytes, size, shown);
    return pawl_error_set(err, PAWL_UNREADABLE, 0, 0, "'%s' is no offset, in %s", shown, place);
}

static pawl_status
take_offset(reading *read, pawl_partition partition, const pawl__zk_answer *answer, pawl_error *err)
{
    pawl__zk_part *part = pawl__zk_view_part(read->view, partition);
    const char *bytes = "";
    gsize size = 0;

    part->read = true;
    part->exists = answer->code == ZOK;
    part->version = answer->stat.version;
    if (answer->code == ZNONODE)
        return PAWL_OK;
    if (answer->code != ZOK) {
        char *path = pawl__zk_offset_path(read->store, read->call->group, partition);
        pawl_status status = pawl__zk_fail(read->store, answer->code, path, err);

        g_free(path);
        return status;
    }
    if (answer->data != NULL)
        bytes = g_bytes_get_data(answer->data, &size);
    part->offset.known = pawl__text_offset(bytes, size, &part->offset.offset);
    return part->offset.known ? PAWL_OK : unreadable(read, partition, bytes, size, err);
}

/* An owner that has nothing of what was asked for may do what it likes. */
static bool
is_concerned(const reading *read, const pawl__zk_owner *owner)
{
    for (guint i = 0; i < read->count; i++)
        if (pawl__zk_view_part(read->view, partition_at(read, i))->owner == owner)
            return true;
    return false;
}

static bool
has_moved(const reading *read, const pawl__zk_owner *owner, const pawl__zk_answer *answer)
{
    return (answer->code != ZOK || answer->stat.version != owner->version) && is_concerned(read, owner);
}

static bool
owners_have_changed(const reading *read, const pawl__zk_answer *answer)
{
    return (answer->code == ZOK ? answer->stat.cversion : NO_OWNERS) != read->owners_version;
}

/* In the order in which they are sent, and answered: the owners, the offsets, the owners once more. */
static void
ask_for_parts(const reading *read, pawl__zk_round *round)
{
    const GPtrArray *owners = read->view->owners;

    for (guint i = 0; i < owners->len; i++)
        pawl__zk_round_get(round, ((pawl__zk_owner *) g_ptr_array_index(owners, i))->path);
    for (guint i = 0; i < read->count; i++) {
        char *path = pawl__zk_offset_path(read->store, read->call->group, partition_at(read, i));

        pawl__zk_round_get(round, path);
        g_free(path);
    }
    for (guint i = 0; i < owners->len; i++)
        pawl__zk_round_exists(round, ((pawl__zk_owner *) g_ptr_array_index(owners, i))->path);
    pawl__zk_round_exists(round, read->owners_path);
}

static pawl_status
take_parts(reading *read, const pawl__zk_round *round, pawl_error *err)
{
    const GPtrArray *owners = read->view->owners;
    guint number = 0;
    pawl_status status = PAWL_OK;

    for (guint i = 0; i < owners->len && status == PAWL_OK; i++)
        status = take_owner(read, g_ptr_array_index(owners, i), pawl__zk_round_answer(round, number++), err);
    for (guint i = 0; i < read->count && status == PAWL_OK; i++)
        status = take_offset(read, partition_at(read, i), pawl__zk_round_answer(round, number++), err);
    for (guint i = 0; i < owners->len && status == PAWL_OK && !read->moved; i++)
        read->moved = has_moved(read, g_ptr_array_index(owners, i), pawl__zk_round_answer(round, number++));
    if (status == PAWL_OK && !read->moved)
        read->moved = owners_have_changed(read, pawl__zk_round_answer(round, number));
    return status;
}

static pawl_status
read_parts(reading *read, pawl_error *err)
{
    pawl__zk_round *round = pawl__zk_round_new(read->store);
    pawl_status status;

    ask_for_parts(read, round);
    status = pawl__zk_round_wait(round, read->call->deadline_ms, err);
    if (status == PAWL_OK)
        status = take_parts(read, round, err);
    pawl__zk_round_end(round);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- reading -- */

static pawl_status
read_once(reading *read, pawl_error *err)
{
    pawl_status status;

    read->moved = false;
    read->view = pawl__zk_view_new(read->call->group);
    status = read_group(read, err);
    if (status == PAWL_OK)
        status = read_parts(read, err);
    if (status == PAWL_OK && !read->moved)
        pawl__zk_view_keep(read->store, read->view);
    else
        pawl__zk_view_free(read->view);
    return status;
}

pawl_status
pawl__zk_read(pawl__zk_store *store, const pawl_store_call *call, const void *partitions, size_t stride, size_t count,
              pawl_error *err)
{
    reading read = {store, call, partitions, stride, (guint) count, .owners_path = NULL};
    pawl_status status;

    pawl__zk_view_keep(store, NULL);
    status = pawl__zk_connect(store, call->deadline_ms, err);
    if (status != PAWL_OK)
        return status;
    read.owners_path = pawl__zk_group_path(store, call->group, "/pawl/owners");
    do
        status = read_once(&read, err);
    while (status == PAWL_OK && read.moved && pawl__clock_ms() < call->deadline_ms);
    if (status == PAWL_OK && read.moved)
        status = pawl_error_set(err, PAWL_TIMEOUT, PAWL_ERROR_RETRIABLE, 0,
                                "ZooKeeper at %s: others wrote to group '%s' as often as it was read", store->hosts,
                                call->group);
    g_free(read.owners_path);
    return status;
}

pawl_status
pawl__zk_load(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
              pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err)
{
    pawl__zk_store *store = self;
    pawl_status status = pawl__zk_read(store, call, partitions, sizeof *partitions, count, err);

    if (status != PAWL_OK)
        return status;
    memcpy(ret_group->cluster, store->view->cluster, sizeof ret_group->cluster);
    for (size_t i = 0; i < count; i++)
        pawl__zk_part_entry(pawl__zk_view_part(store->view, partitions[i]), partitions[i], &ret_entries[i]);
    return PAWL_OK;
}
