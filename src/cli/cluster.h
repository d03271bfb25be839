/*
 * cluster.h - questions to the brokers, without a job
 */
#ifndef PAWL_CLI_CLUSTER_H
#define PAWL_CLI_CLUSTER_H

#include <pawl/sys/source.h>

#include "cli/places.h"

/* One thread. */
typedef struct pawl_cluster {
    const pawl_source_backend *source;
    void *self;
    int64_t timeout_ms;
    char id[128];
    GPtrArray *properties; /* of pawl__places_properties() */
} pawl_cluster;

/*
 * Connects to the brokers of --brokers, and asks which cluster they are. `topics` are those that will be asked about,
 * ended by NULL. The caller closes it, also after a failure. PAWL_UNREACHABLE: no broker answers.
 */
pawl_status pawl__cluster_open(const pawl_places *places, const char *const *topics, pawl_cluster *ret_cluster,
                               pawl_error *err);

/* Closes it. {0} is fine. */
void pawl__cluster_close(pawl_cluster *cluster);

/* Until when the next question may take. */
int64_t pawl__cluster_deadline(const pawl_cluster *cluster);

/*
 * Which partitions the topics have. *ret_partitions, of pawl_partition, is the caller's; its topics live for ever, and it
 * is sorted. A topic that does not exist is simply not there.
 */
pawl_status pawl__cluster_discover(pawl_cluster *cluster, GArray **ret_partitions, pawl_error *err);

#endif
