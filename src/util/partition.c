/*
 * partition.c - partitions as keys
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
