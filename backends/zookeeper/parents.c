/*
 * parents.c - the nodes above those that hold something
 *
 * Only what is missing is made: who may not make a node need not be the one who uses it.
 */
#include "backends/zookeeper/zookeeper_store.h"

#include <string.h>

/* A node to make, and what goes into it. */
typedef struct parent {
    char *path;
    const char *data;
    bool missing;
} parent;

static void
parent_done(gpointer item)
{
    g_free(((parent *) item)->path);
}

static void
add_parent(GArray *parents, char *path, const char *data)
{
    parent one = {path, data, false};

    g_array_append_val(parents, one);
}

static GArray *
parents_new(void)
{
    GArray *parents = g_array_new(FALSE, FALSE, sizeof(parent));

    g_array_set_clear_func(parents, parent_done);
    return parents;
}

/* Asks for them all, marks those that are missing, and tells whether there are any. */
static pawl_status
find_missing(pawl__zk_store *store, GArray *parents, int64_t deadline_ms, bool *ret_any, pawl_error *err)
{
    pawl__zk_round *round = pawl__zk_round_new(store);
    pawl_status status;

    for (guint i = 0; i < parents->len; i++)
        pawl__zk_round_exists(round, g_array_index(parents, parent, i).path);
    status = pawl__zk_round_wait(round, deadline_ms, err);
    *ret_any = false;
    for (guint i = 0; i < parents->len && status == PAWL_OK; i++) {
        parent *one = &g_array_index(parents, parent, i);
        int code = pawl__zk_round_answer(round, i)->code;

        one->missing = code == ZNONODE;
        *ret_any = *ret_any || one->missing;
        if (code != ZOK && code != ZNONODE)
            status = pawl__zk_fail(store, code, one->path, err);
    }
    pawl__zk_round_end(round);
    return status;
}

static pawl_status
make(pawl__zk_store *store, const GArray *parents, int64_t deadline_ms, pawl_error *err)
{
    pawl__zk_round *round = pawl__zk_round_new(store);
    guint number = 0;
    pawl_status status;

    for (guint i = 0; i < parents->len; i++)
        if (g_array_index(parents, parent, i).missing)
            pawl__zk_round_create(round, g_array_index(parents, parent, i).path,
                                  g_array_index(parents, parent, i).data);
    status = pawl__zk_round_wait(round, deadline_ms, err);
    for (guint i = 0; i < parents->len && status == PAWL_OK; i++) {
        const parent *one = &g_array_index(parents, parent, i);
        int code = one->missing ? pawl__zk_round_answer(round, number++)->code : ZOK;

        if (code != ZOK && code != ZNODEEXISTS) /* somebody else was faster */
            status = pawl__zk_fail(store, code, one->path, err);
    }
    pawl__zk_round_end(round);
    return status;
}

static pawl_status
make_missing(pawl__zk_store *store, GArray *parents, int64_t deadline_ms, pawl_error *err)
{
    bool any;
    pawl_status status = find_missing(store, parents, deadline_ms, &any, err);

    return status == PAWL_OK && any ? make(store, parents, deadline_ms, err) : status;
}

/* -------------------------------------------------------------------------------------------------------- chroot -- */

/* "/a", "/a/b" for "/a/b". */
static void
add_each_level(GArray *parents, const char *path)
{
    for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/'))
        add_parent(parents, g_strndup(path, (gsize) (slash - path)), "");
    add_parent(parents, g_strdup(path), "");
}

static pawl_status
check_root(pawl__zk_store *store, int64_t deadline_ms, pawl_error *err)
{
    GArray *root = parents_new();
    bool missing;
    pawl_status status;

    add_parent(root, g_strdup(store->root), "");
    status = find_missing(store, root, deadline_ms, &missing, err);
    if (status == PAWL_OK && missing)
        status = pawl_error_set(err, PAWL_INVALID, 0, ZNONODE, "there is no node %s in ZooKeeper at %s, and create=no",
                                store->root, store->hosts);
    g_array_free(root, TRUE);
    return status;
}

pawl_status
pawl__zk_make_root(pawl__zk_store *store, int64_t deadline_ms, bool read_only, pawl_error *err)
{
    GArray *levels;
    pawl_status status;

    if (store->root[0] == '\0' || (read_only && store->create_root))
        return PAWL_OK;
    if (!store->create_root)
        return check_root(store, deadline_ms, err);
    levels = parents_new();
    add_each_level(levels, store->root);
    status = make_missing(store, levels, deadline_ms, err);
    g_array_free(levels, TRUE);
    return status;
}

/* --------------------------------------------------------------------------------------------------- of a group -- */

static void
add_topics(pawl__zk_store *store, GArray *parents, const char *group, const void *partitions, size_t stride,
           size_t count)
{
    GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);

    for (size_t i = 0; i < count; i++) {
        const pawl_partition *partition = (const void *) ((const char *) partitions + stride * i);

        if (g_hash_table_add(seen, (gpointer) partition->topic))
            add_parent(parents, pawl__zk_topic_path(store, group, partition->topic), "");
    }
    g_hash_table_unref(seen);
}

pawl_status
pawl__zk_make_parents(pawl__zk_store *store, const pawl_store_call *call, const void *partitions, size_t stride,
                      size_t count, pawl_error *err)
{
    GArray *parents = parents_new();
    char *group_text = pawl__zk_group_text("");
    pawl_status status = pawl__zk_connect(store, call->deadline_ms, err);

    if (status == PAWL_OK) {
        add_parent(parents, g_strconcat(store->root, "/consumers", NULL), "");
        add_parent(parents, pawl__zk_group_path(store, call->group, ""), "");
        add_parent(parents, pawl__zk_group_path(store, call->group, "/pawl"), group_text);
        add_parent(parents, pawl__zk_group_path(store, call->group, "/pawl/owners"), "");
        add_parent(parents, pawl__zk_group_path(store, call->group, "/offsets"), "");
        add_topics(store, parents, call->group, partitions, stride, count);
        status = make_missing(store, parents, call->deadline_ms, err);
    }
    g_array_free(parents, TRUE);
    g_free(group_text);
    return status;
}
