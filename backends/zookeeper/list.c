/*
 * list.c - which groups there are, and which partitions a group has
 *
 * A partition is listed when it has an offset, also one that Kafka's own consumers left, or an owner. All groups are asked
 * about at once: two rounds, however many there are.
 */
#include "backends/zookeeper/zookeeper_store.h"

#include <string.h>

#include "util/text.h"

/* What is asked about one group; its view collects what there is. */
typedef struct listing {
    pawl__zk_view *view;
    char *offsets_path, *owners_path;
    char **topics; /* nodes; borrowed from the first round */
    char **owners;
} listing;

static void
listing_done(gpointer item)
{
    listing *one = item;

    pawl__zk_view_free(one->view);
    g_free(one->offsets_path);
    g_free(one->owners_path);
}

static void
add_listing(pawl__zk_store *store, GArray *listings, const char *group)
{
    listing one = {.view = pawl__zk_view_new(group),
                   .offsets_path = pawl__zk_group_path(store, group, "/offsets"),
                   .owners_path = pawl__zk_group_path(store, group, "/pawl/owners")};

    g_array_append_val(listings, one);
}

/* --------------------------------------------------------------------------------------------- topics and owners -- */

/* Where there is no such node there are no children. */
static pawl_status
take_children(pawl__zk_store *store, const pawl__zk_answer *answer, const char *path, char ***ret_children,
              pawl_error *err)
{
    if (answer->code != ZOK && answer->code != ZNONODE)
        return pawl__zk_fail(store, answer->code, path, err);
    *ret_children = answer->children;
    return PAWL_OK;
}

static pawl_status
ask_for_names(pawl__zk_store *store, GArray *listings, pawl__zk_round *round, int64_t deadline_ms, pawl_error *err)
{
    guint number = pawl__zk_round_sync(round) + 1;
    pawl_status status;

    for (guint i = 0; i < listings->len; i++) {
        pawl__zk_round_children(round, g_array_index(listings, listing, i).offsets_path);
        pawl__zk_round_children(round, g_array_index(listings, listing, i).owners_path);
    }
    status = pawl__zk_round_wait(round, deadline_ms, err);
    for (guint i = 0; i < listings->len && status == PAWL_OK; i++) {
        listing *one = &g_array_index(listings, listing, i);

        status = take_children(store, pawl__zk_round_answer(round, number++), one->offsets_path, &one->topics, err);
        if (status == PAWL_OK)
            status = take_children(store, pawl__zk_round_answer(round, number++), one->owners_path, &one->owners, err);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------- partitions -- */

static void
ask_below(const listing *one, pawl__zk_round *round)
{
    for (char **topic = one->topics; topic != NULL && *topic != NULL; topic++) {
        char *path = g_strconcat(one->offsets_path, "/", *topic, NULL);

        pawl__zk_round_children(round, path);
        g_free(path);
    }
    for (char **owner = one->owners; owner != NULL && *owner != NULL; owner++) {
        char *path = g_strconcat(one->owners_path, "/", *owner, NULL);

        pawl__zk_round_get(round, path);
        g_free(path);
    }
}

static void
take_numbers(pawl__zk_view *view, const char *topic_node, char **numbers)
{
    char *topic = pawl__zk_name_from_node(topic_node);
    int64_t number;

    for (; numbers != NULL && *numbers != NULL; numbers++)
        if (pawl__text_offset(*numbers, strlen(*numbers), &number) && number <= INT32_MAX)
            pawl__zk_view_part(view, (pawl_partition){topic, (int32_t) number})->exists = true;
    g_free(topic);
}

static pawl_status
take_owner(pawl__zk_store *store, listing *one, const char *name, const pawl__zk_answer *answer, pawl_error *err)
{
    pawl__zk_owner *owner = pawl__zk_view_owner(one->view, g_strconcat(one->owners_path, "/", name, NULL));

    if (answer->code == ZNONODE || (answer->code == ZOK && pawl__zk_owner_parse(one->view, owner, answer->data)))
        return PAWL_OK;
    if (answer->code != ZOK)
        return pawl__zk_fail(store, answer->code, owner->path, err);
    return pawl_error_set(err, PAWL_UNREADABLE, 0, 0, "node %s in ZooKeeper at %s holds what pawl did not write",
                          owner->path, store->hosts);
}

static pawl_status
take_below(pawl__zk_store *store, listing *one, const pawl__zk_round *round, guint *number, pawl_error *err)
{
    pawl_status status = PAWL_OK;

    for (char **topic = one->topics; topic != NULL && *topic != NULL && status == PAWL_OK; topic++) {
        char **numbers = NULL;

        status = take_children(store, pawl__zk_round_answer(round, (*number)++), one->offsets_path, &numbers, err);
        take_numbers(one->view, *topic, numbers);
    }
    for (char **owner = one->owners; owner != NULL && *owner != NULL && status == PAWL_OK; owner++)
        status = take_owner(store, one, *owner, pawl__zk_round_answer(round, (*number)++), err);
    return status;
}

static pawl_status
fill(pawl__zk_store *store, GArray *listings, int64_t deadline_ms, pawl_error *err)
{
    pawl__zk_round *names = pawl__zk_round_new(store), *below = pawl__zk_round_new(store);
    guint number = 0;
    pawl_status status = ask_for_names(store, listings, names, deadline_ms, err);

    for (guint i = 0; i < listings->len && status == PAWL_OK; i++)
        ask_below(&g_array_index(listings, listing, i), below);
    if (status == PAWL_OK)
        status = pawl__zk_round_wait(below, deadline_ms, err);
    for (guint i = 0; i < listings->len && status == PAWL_OK; i++)
        status = take_below(store, &g_array_index(listings, listing, i), below, &number, err);
    pawl__zk_round_end(names);
    pawl__zk_round_end(below);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- telling -- */

/* False: fn wants no more. */
static bool
tell(const pawl__zk_view *view, bool only_group, pawl_list_fn fn, void *user)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, view->parts);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const pawl__zk_part *part = value;

        if (!part->exists && !part->held)
            continue;
        if (only_group)
            return fn(user, view->group, NULL);
        if (!fn(user, view->group, &part->partition))
            return false;
    }
    return true;
}

static pawl_status
find_groups(pawl__zk_store *store, GArray *listings, int64_t deadline_ms, pawl_error *err)
{
    pawl__zk_round *round = pawl__zk_round_new(store);
    char *path = g_strconcat(store->root, "/consumers", NULL), **groups = NULL;
    guint number;
    pawl_status status;

    pawl__zk_round_sync(round);
    number = pawl__zk_round_children(round, path);
    status = pawl__zk_round_wait(round, deadline_ms, err);
    if (status == PAWL_OK)
        status = take_children(store, pawl__zk_round_answer(round, number), path, &groups, err);
    for (; groups != NULL && *groups != NULL; groups++) {
        char *group = pawl__zk_name_from_node(*groups);

        add_listing(store, listings, group);
        g_free(group);
    }
    pawl__zk_round_end(round);
    g_free(path);
    return status;
}

pawl_status
pawl__zk_list(void *self, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err)
{
    pawl__zk_store *store = self;
    GArray *listings = g_array_new(FALSE, FALSE, sizeof(listing));
    pawl_status status = pawl__zk_connect(store, call->deadline_ms, err);
    bool more = true;

    g_array_set_clear_func(listings, listing_done);
    if (status == PAWL_OK && call->group == NULL)
        status = find_groups(store, listings, call->deadline_ms, err);
    else if (status == PAWL_OK)
        add_listing(store, listings, call->group);
    if (status == PAWL_OK)
        status = fill(store, listings, call->deadline_ms, err);
    for (guint i = 0; i < listings->len && status == PAWL_OK && more; i++)
        more = tell(g_array_index(listings, listing, i).view, call->group == NULL, fn, user);
    g_array_free(listings, TRUE);
    return status;
}
