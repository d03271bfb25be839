/*
 * partition.c - partitions as keys, and arrays of them
 */
#include "util/partition.h"

#include <string.h>

int
pawl__partition_compare(const void *a, const void *b)
{
    const pawl_partition *left = a, *right = b;
    int order = strcmp(left->topic, right->topic);

    if (order != 0)
        return order;
    return (left->number > right->number) - (left->number < right->number);
}

guint
pawl__partition_hash(gconstpointer key)
{
    const pawl_partition *partition = key;

    return g_str_hash(partition->topic) * 31 + (guint) partition->number;
}

gboolean
pawl__partition_equal(gconstpointer a, gconstpointer b)
{
    return pawl__partition_compare(a, b) == 0;
}

static void
clear(gpointer data)
{
    pawl_partition *partition = data;

    g_free((char *) partition->topic);
}

GArray *
pawl__partitions_new(void)
{
    GArray *partitions = g_array_new(FALSE, FALSE, sizeof(pawl_partition));

    g_array_set_clear_func(partitions, clear);
    return partitions;
}

void
pawl__partitions_add(GArray *partitions, pawl_partition partition)
{
    partition.topic = g_strdup(partition.topic);
    g_array_append_val(partitions, partition);
}

bool
pawl__partitions_find(const GArray *partitions, pawl_partition wanted, guint *ret_index)
{
    for (guint i = 0; i < partitions->len; i++) {
        if (!pawl__partition_equal(&g_array_index(partitions, pawl_partition, i), &wanted))
            continue;
        *ret_index = i;
        return true;
    }
    return false;
}
