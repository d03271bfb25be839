/*
 * partition.h - partitions as keys, and arrays of them. Pure
 */
#ifndef PAWL_UTIL_PARTITION_H
#define PAWL_UTIL_PARTITION_H

#include <glib.h>

#include <pawl/offsets.h>

/* The order of partitions, and of whatever begins with one: by topic, then by number. */
int pawl__partition_compare(const void *a, const void *b);

/* For hash tables with a pawl_partition as the key. */
guint pawl__partition_hash(gconstpointer key);
gboolean pawl__partition_equal(gconstpointer a, gconstpointer b);

/* An array of pawl_partition that owns their topics. */
GArray *pawl__partitions_new(void);

/* Appends a copy. */
void pawl__partitions_add(GArray *partitions, pawl_partition partition);

/* Where a partition is in the array. False: it is not. */
bool pawl__partitions_find(const GArray *partitions, pawl_partition wanted, guint *ret_index);

#endif
