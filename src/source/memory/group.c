/*
 * group.c - a group in memory: what a test says that it assigns and takes back
 *
 * A cluster has one group, and one source at a time is a member of it.
 */
#include "source/memory/cluster.h"

#include "util/partition.h"

static void
tell(pawl__memory_cluster *cluster)
{
    if (cluster->member != NULL)
        cluster->member->changed(cluster->member->changed_user);
}

void
pawl__memory_assign(pawl__memory_cluster *cluster, const char *topic, int partition)
{
    pawl__wait_lock(&cluster->wait);
    pawl__partitions_add(cluster->assigned, (pawl_partition){topic, partition});
    cluster->assigned_once = true;
    tell(cluster);
    pawl__wait_unlock(&cluster->wait);
}

void
pawl__memory_revoke(pawl__memory_cluster *cluster, const char *topic, int partition, bool lost)
{
    pawl__wait_lock(&cluster->wait);
    pawl__partitions_add(cluster->revoked, (pawl_partition){topic, partition});
    cluster->lost = lost;
    tell(cluster);
    pawl__wait_unlock(&cluster->wait);
}

bool
pawl__memory_await_let_go(pawl__memory_cluster *cluster, int64_t deadline_ms)
{
    bool let_go;

    pawl__wait_lock(&cluster->wait);
    while (cluster->revoked->len > 0 && pawl__wait_until(&cluster->wait, deadline_ms))
        continue;
    let_go = cluster->revoked->len == 0;
    pawl__wait_unlock(&cluster->wait);
    return let_go;
}

/* --------------------------------------------------------------------------------------------- the source's table -- */

pawl_status
pawl__memory_subscribe(void *self, const char *const *topics, size_t partitions, pawl_error *err)
{
    memory_source *source = self;

    (void) topics, (void) partitions, (void) err;
    pawl__wait_lock(&source->cluster->wait);
    if (source->cluster->member != source) {
        source->cluster->member = source;
        tell(source->cluster);
    }
    pawl__wait_unlock(&source->cluster->wait);
    return PAWL_OK;
}

void
pawl__memory_unsubscribe(void *self)
{
    memory_source *source = self;

    pawl__wait_lock(&source->cluster->wait);
    source->cluster->member = NULL;
    pawl__wait_unlock(&source->cluster->wait);
}

bool
pawl__memory_assigned(void *self, void (*found)(void *user, pawl_partition partition), void *user)
{
    pawl__memory_cluster *cluster = ((memory_source *) self)->cluster;
    bool assigned_once;
    guint index;

    pawl__wait_lock(&cluster->wait);
    for (guint i = 0; i < cluster->assigned->len; i++) {
        pawl_partition partition = g_array_index(cluster->assigned, pawl_partition, i);

        if (!pawl__partitions_find(cluster->revoked, partition, &index))
            found(user, partition);
    }
    assigned_once = cluster->assigned_once;
    pawl__wait_unlock(&cluster->wait);
    return assigned_once;
}

pawl_status
pawl__memory_revoked(void *self, void (*found)(void *user, pawl_partition partition, bool lost), void *user,
                     pawl_error *err)
{
    pawl__memory_cluster *cluster = ((memory_source *) self)->cluster;

    (void) err;
    pawl__wait_lock(&cluster->wait);
    for (guint i = 0; i < cluster->revoked->len; i++)
        found(user, g_array_index(cluster->revoked, pawl_partition, i), cluster->lost);
    cluster->told = cluster->revoked->len;
    pawl__wait_unlock(&cluster->wait);
    return PAWL_OK;
}

void
pawl__memory_let_go(void *self)
{
    pawl__memory_cluster *cluster = ((memory_source *) self)->cluster;
    guint index;

    pawl__wait_lock(&cluster->wait);
    for (; cluster->told > 0; cluster->told--) {
        if (pawl__partitions_find(cluster->assigned, g_array_index(cluster->revoked, pawl_partition, 0), &index))
            g_array_remove_index(cluster->assigned, index);
        g_array_remove_index(cluster->revoked, 0);
    }
    pawl__wait_wake(&cluster->wait);
    pawl__wait_unlock(&cluster->wait);
}

const pawl_source_member *
pawl__memory_member(void *self)
{
    (void) self;
    return NULL;
}
