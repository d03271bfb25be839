/*
 * change.c - one multi: judged, sent, and sent again when something moved meanwhile
 *
 * Every operation names the version that it has to find, so that the multi as a whole is a compare-and-set on all that
 * was judged. The view that is kept saves the reading: as long as nobody else writes, a save is one request.
 */
#include "backends/zookeeper/zookeeper_store.h"

#include <string.h>

#include "util/error.h"

/* Others who move something are few and slow. After so many tries the caller waits a little. */
#define TRIES 5

static pawl_partition
partition_at(const pawl__zk_change *change, size_t i)
{
    return *(const pawl_partition *) ((const char *) change->lines + change->stride * i);
}

/* ------------------------------------------------------------------------------------------------------- judging -- */

static bool
is_covered(const pawl__zk_view *view, const pawl__zk_change *change)
{
    if (view == NULL || strcmp(view->group, change->call->group) != 0)
        return false;
    for (size_t i = 0; i < change->count; i++) {
        pawl_partition partition = partition_at(change, i);
        const pawl__zk_part *part = g_hash_table_lookup(view->parts, &partition);

        if (part == NULL || !part->read)
            return false;
    }
    return true;
}

static pawl_status
judge(pawl__zk_store *store, const pawl__zk_change *change, pawl_error *err)
{
    pawl_status status = PAWL_OK;

    for (size_t i = 0; i < change->count && status == PAWL_OK; i++)
        status = change->judge(store, change, i, pawl__zk_view_part(store->view, partition_at(change, i)), err);
    return status;
}

/* A verdict that is no good is given on what the server holds, and not on what we remember. */
pawl_status
pawl__zk_change_check(pawl__zk_store *store, const pawl__zk_change *change, pawl_error *err)
{
    pawl_status status = pawl__zk_read(store, change->call, change->lines, change->stride, change->count, err);

    return status == PAWL_OK ? judge(store, change, err) : status;
}

static pawl_status
read_and_judge(pawl__zk_store *store, const pawl__zk_change *change, bool afresh, pawl_error *err)
{
    if (!afresh && is_covered(store->view, change) && judge(store, change, NULL) == PAWL_OK)
        return pawl__zk_connect(store, change->call->deadline_ms, err);
    return pawl__zk_change_check(store, change, err);
}

/* ------------------------------------------------------------------------------------------------------- sending -- */

static bool
has_parts(const pawl__zk_owner *owner)
{
    for (guint i = 0; i < owner->parts->len; i++)
        if (((const pawl__zk_part *) g_ptr_array_index(owner->parts, i))->owner == owner)
            return true;
    return false;
}

/* An owner without an epoch is new; one without a partition goes. */
static void
put_owner(pawl__zk_owner *owner, pawl__zk_round *round)
{
    char *text;

    if (!has_parts(owner)) {
        pawl__zk_multi_delete(round, owner->path, owner->version);
        return;
    }
    text = pawl__zk_owner_text(owner);
    if (owner->epoch == 0)
        pawl__zk_multi_create(round, owner->path, text);
    else
        pawl__zk_multi_set(round, owner->path, text, owner->version++);
    g_free(text);
}

static bool
put_owners(pawl__zk_view *view, pawl__zk_round *round)
{
    bool any = false;

    for (guint i = 0; i < view->owners->len; i++) {
        pawl__zk_owner *owner = g_ptr_array_index(view->owners, i);

        if (owner->changed)
            put_owner(owner, round);
        any = any || owner->changed;
        owner->changed = false;
    }
    return any;
}

/* The group's node: a newer layout, written meanwhile, is noticed. */
static void
put_group(pawl__zk_store *store, const char *cluster, pawl__zk_round *round)
{
    pawl__zk_view *view = store->view;
    char *path = pawl__zk_group_path(store, view->group, "/pawl"), *text;

    if (cluster != NULL && cluster[0] != '\0' && strcmp(cluster, view->cluster) != 0) {
        g_strlcpy(view->cluster, cluster, sizeof view->cluster);
        view->changed = true;
    }
    if (view->changed) {
        text = pawl__zk_group_text(view->cluster);
        pawl__zk_multi_set(round, path, text, view->version++);
        g_free(text);
    } else {
        pawl__zk_multi_check(round, path, view->version);
    }
    view->changed = false;
    g_free(path);
}

static pawl_status
too_large(pawl__zk_store *store, const pawl__zk_round *round, size_t count, pawl_error *err)
{
    return pawl_error_set(err, PAWL_UNSUPPORTED, 0, 0,
                          "a write of %zu partitions takes %zu bytes, and ZooKeeper at %s takes %zu (packet_limit)",
                          count, pawl__zk_multi_size(round), store->hosts, store->packet_limit);
}

/* The epoch of a new owner is when its node was made: asked for behind the multi, it costs no time. */
static pawl__zk_owner *
new_owner(const pawl__zk_view *view)
{
    pawl__zk_owner *last = view->owners->len > 0 ? g_ptr_array_index(view->owners, view->owners->len - 1) : NULL;

    return last != NULL && last->epoch == 0 ? last : NULL;
}

/* Sends the multi. *ret_code is its answer's. PAWL_OUTCOME_UNKNOWN: there was none. */
static pawl_status
send_multi(pawl__zk_store *store, const pawl__zk_change *change, pawl__zk_round *round, int *ret_code, pawl_error *err)
{
    pawl__zk_owner *made = new_owner(store->view);
    guint multi = pawl__zk_round_multi(round), made_number = 0;
    pawl_status status;

    if (made != NULL)
        made_number = pawl__zk_round_exists(round, made->path);
    status = pawl__zk_round_wait(round, change->call->deadline_ms, err);
    if (status != PAWL_OK)
        return pawl__error_turn_into(err, PAWL_OUTCOME_UNKNOWN, 0);
    *ret_code = pawl__zk_round_answer(round, multi)->code;
    if (*ret_code == ZOK && made != NULL) {
        made->epoch = pawl__zk_round_answer(round, made_number)->stat.czxid;
        *ret_code = pawl__zk_round_answer(round, made_number)->code; /* it may have been taken over and gone already */
    }
    return PAWL_OK;
}

/* Writes what was judged. *ret_moved: nothing was written, since something is no longer as it was. */
static pawl_status
write_judged(pawl__zk_store *store, const pawl__zk_change *change, bool *ret_moved, int *ret_code, pawl_error *err)
{
    pawl__zk_round *round = pawl__zk_round_new(store);
    pawl_status status = PAWL_OK;

    change->write(store, change, round);
    put_group(store, change->cluster, round);
    if (put_owners(store->view, round)) {
        if (pawl__zk_multi_size(round) > store->packet_limit)
            status = too_large(store, round, change->count, err);
        else
            status = send_multi(store, change, round, ret_code, err);
        *ret_moved = *ret_code == ZBADVERSION || *ret_code == ZNONODE || *ret_code == ZNODEEXISTS;
        if (status == PAWL_OK && *ret_code != ZOK && !*ret_moved)
            status = pawl__zk_fail(store, *ret_code, pawl__zk_multi_culprit(round), err);
        if (status != PAWL_OK || *ret_moved)
            pawl__zk_view_keep(store, NULL); /* it holds what was not written */
    }
    pawl__zk_round_end(round);
    return status;
}

pawl_status
pawl__zk_change_run(pawl__zk_store *store, const pawl__zk_change *change, pawl_error *err)
{
    for (int i = 0; i < TRIES; i++) {
        bool afresh = change->afresh || i > 0, moved = false;
        int code = ZOK;
        pawl_status status = read_and_judge(store, change, afresh, err);

        if (status == PAWL_OK)
            status = write_judged(store, change, &moved, &code, err);
        if (status != PAWL_OK || !moved)
            return status;
        if (code == ZNONODE && afresh) /* not of a group that is gone and that we only remember */
            status = pawl__zk_make_parents(store, change->call, change->lines, change->stride, change->count, err);
        if (status != PAWL_OK)
            return status;
    }
    return pawl_error_set(err, PAWL_FAILED, PAWL_ERROR_RETRIABLE, ZBADVERSION,
                          "ZooKeeper at %s: others changed group '%s' each time that it was written to", store->hosts,
                          change->call->group);
}
