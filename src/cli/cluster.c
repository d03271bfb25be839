/*
 * cluster.c - questions to the brokers, without a job
 */
#include "cli/cluster.h"

#include <pawl/sys/registry.h>

#include "util/clock.h"
#include "util/partition.h"

/* What is read ahead when records are asked for. */
#define MEMORY_BYTES (INT64_C(16) << 20)

/* ---------------------------------------------------------------------------------------------------- properties -- */

static void
give_properties(const pawl_source_setup *setup, void (*fn)(void *user, const char *name, const char *value), void *user)
{
    const GPtrArray *properties = setup->_properties;

    for (guint i = 0; g_ptr_array_index(properties, i) != NULL; i += 2)
        fn(user, g_ptr_array_index(properties, i), g_ptr_array_index(properties, i + 1));
}

/* ------------------------------------------------------------------------------------------------------- opening -- */

static pawl_status
open_source(const pawl_places *places, const char *const *topics, pawl_cluster *cluster, pawl_error *err)
{
    pawl_source_setup setup = {
        .group = places->group != NULL ? places->group : "pawl",
        .client_id = "pawl",
        .topics = topics,
        .read_committed = places->isolation == NULL || strcmp(places->isolation, "read_committed") == 0,
        .memory_bytes = MEMORY_BYTES,
        .stall_timeout_ms = cluster->timeout_ms,
        .lanes = 1,
        .log = &pawl__cli_log,
        .properties = give_properties,
        ._properties = cluster->properties,
    };

    cluster->self = g_malloc0(cluster->source->instance_size);
    return cluster->source->open(cluster->self, &setup, err);
}

pawl_status
pawl__cluster_open(const pawl_places *places, const char *const *topics, pawl_cluster *ret_cluster, pawl_error *err)
{
    pawl_cluster *cluster = ret_cluster;
    pawl_status status;

    *cluster = (pawl_cluster){.self = NULL};
    status = pawl__places_timeout(places, &cluster->timeout_ms, err);
    if (status == PAWL_OK)
        status = pawl__places_properties(places, &cluster->properties, err);
    if (status == PAWL_OK)
        status = pawl_registry_find_source("kafka", &cluster->source, err);
    if (status == PAWL_OK)
        status = open_source(places, topics, cluster, err);
    if (status == PAWL_OK)
        status = cluster->source->cluster(cluster->self, pawl__cluster_deadline(cluster), cluster->id,
                                          sizeof cluster->id, err);
    return status;
}

void
pawl__cluster_close(pawl_cluster *cluster)
{
    if (cluster->self != NULL)
        cluster->source->close(cluster->self);
    g_free(cluster->self);
    if (cluster->properties != NULL)
        g_ptr_array_unref(cluster->properties);
    *cluster = (pawl_cluster){.self = NULL};
}

int64_t
pawl__cluster_deadline(const pawl_cluster *cluster)
{
    return pawl__clock_ms() + cluster->timeout_ms;
}

/* ----------------------------------------------------------------------------------------------------- discovery -- */

static void
found(void *user, pawl_partition partition)
{
    partition.topic = g_intern_string(partition.topic);
    g_array_append_val((GArray *) user, partition);
}

/* What is missing is missed by whoever needs it. */
static void
missing(void *user, const char *topic)
{
    (void) user, (void) topic;
}

pawl_status
pawl__cluster_discover(pawl_cluster *cluster, GArray **ret_partitions, pawl_error *err)
{
    GArray *partitions = g_array_new(FALSE, FALSE, sizeof(pawl_partition));
    pawl_status status =
        cluster->source->discover(cluster->self, pawl__cluster_deadline(cluster), found, missing, partitions, err);

    if (status != PAWL_OK) {
        g_array_unref(partitions);
        return status;
    }
    g_array_sort(partitions, pawl__partition_compare);
    *ret_partitions = partitions;
    return PAWL_OK;
}
