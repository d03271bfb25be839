/*
 * cluster.c - questions to the brokers, without a job
 */
#include "cli/cluster.h"

#include <string.h>

#include <pawl/config.h>
#include <pawl/sys/registry.h>

#include "cli/expand.h"
#include "util/clock.h"
#include "util/partition.h"

/* What is read ahead when records are asked for. */
#define MEMORY_BYTES (INT64_C(16) << 20)

/* ---------------------------------------------------------------------------------------------------- properties -- */

static void
give_properties(const pawl_source_setup *setup, void (*fn)(void *user, const char *name, const char *value), void *user)
{
    const GPtrArray *properties = setup->_properties;

    for (guint i = 0; i + 1 < properties->len; i += 2)
        fn(user, g_ptr_array_index(properties, i), g_ptr_array_index(properties, i + 1));
}

static void
add_property(GPtrArray *properties, const char *name, const char *value)
{
    g_ptr_array_add(properties, g_strdup(name));
    g_ptr_array_add(properties, g_strdup(value));
}

/* Which names pawl keeps for itself is for its settings to say. */
static pawl_status
check_property(const char *name, const char *value, pawl_error *err)
{
    pawl_config *config = pawl_config_new();
    char *setting = g_strconcat("kafka.", name, NULL);
    pawl_status status = pawl_config_set(config, setting, value, err);

    g_free(setting);
    pawl_config_free(config);
    return status;
}

/* One --kafka NAME=VALUE: the value is all that follows the first '='. */
static pawl_status
take_property(pawl_cluster *cluster, const char *text, pawl_error *err)
{
    const char *equals = strchr(text, '=');
    char *name, *value = NULL, *shown = NULL;
    pawl_status status;

    if (equals == NULL || equals == text)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "--kafka takes NAME=VALUE");
    name = g_strndup(text, (gsize) (equals - text));
    status = pawl__expand(equals + 1, &value, &shown, err);
    if (status == PAWL_OK)
        status = check_property(name, value, err);
    if (status == PAWL_OK)
        add_property(cluster->properties, name, value);
    else
        pawl_error_prefix(err, "--kafka");
    g_free(shown);
    g_free(value);
    g_free(name);
    return status;
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

    *cluster = (pawl_cluster){.properties = g_ptr_array_new_with_free_func(g_free)};
    status = pawl__places_timeout(places, &cluster->timeout_ms, err);
    add_property(cluster->properties, "bootstrap.servers", places->brokers);
    for (guint i = 0; status == PAWL_OK && i < places->kafka->len; i++)
        status = take_property(cluster, g_ptr_array_index(places->kafka, i), err);
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
