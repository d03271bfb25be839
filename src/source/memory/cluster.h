/*
 * cluster.h - a cluster in memory from inside
 *
 * Everything is guarded by the cluster's lock. Its condition is woken by every change.
 */
#ifndef PAWL_SOURCE_MEMORY_CLUSTER_H
#define PAWL_SOURCE_MEMORY_CLUSTER_H

#include <glib.h>

#include "source/memory/memory.h"
#include "util/wait.h"

typedef struct memory_source memory_source;

/* A record; its texts belong to the cluster and stay until it is freed, so that they can be lent without copying. */
typedef struct memory_record {
    int64_t offset;
    int64_t timestamp_ms;
    const char *key, *value;
} memory_record;

/* The log of one partition. */
typedef struct memory_log {
    pawl_partition partition; /* the topic is the cluster's */
    GArray *records;          /* memory_record, ascending */
    int64_t low, high;
    int64_t stable; /* -1: high */

    pawl_status refused; /* bounds: the answer */
    int lies;            /* bounds: how often the next two are told */
    int64_t lie_low, lie_high;
    int failures; /* ranges to fail */
    bool at_once; /* before their first chunk */
    pawl_status failure;
    unsigned failure_flags;
    bool stalled;
    bool awaited; /* a lane waits for records of it */
} memory_log;

typedef struct memory_topic {
    char *name;
    GPtrArray *logs; /* memory_log, owned */
    int shown;       /* partitions that metadata tell; -1: all */
} memory_topic;

struct pawl__memory_cluster {
    char *name, *id;
    pawl__wait wait; /* guards all that follows, and all that is open on it */

    GPtrArray *topics;   /* memory_topic, owned; in the order in which they were made */
    GStringChunk *texts; /* keys and values */
    int chunk;

    int called[PAWL__MEMORY_CALLS];
    int failing[PAWL__MEMORY_CALLS]; /* calls that are yet to fail; -1: all */
    int spared[PAWL__MEMORY_CALLS];  /* calls that are answered before that */
    pawl_status failure[PAWL__MEMORY_CALLS];
    bool hanging[PAWL__MEMORY_CALLS];
    int open, most_open; /* ranges */

    /* The group, see group.c. */
    memory_source *member; /* NULL: there is none */
    GArray *assigned;      /* pawl_partition, those that are revoked as well; topics are owned */
    GArray *revoked;       /* of those above */
    bool lost;             /* they are */
    guint told;            /* how many of those revoked the member knows of */
    bool assigned_once;
};

/* The cluster of that name, or NULL. Takes no cluster's lock. */
pawl__memory_cluster *pawl__memory_cluster_find(const char *name);

/* With the lock held: the topic, or the log of a partition; NULL where there is none. */
memory_topic *pawl__memory_find_topic(pawl__memory_cluster *cluster, const char *name);
memory_log *pawl__memory_find_log(pawl__memory_cluster *cluster, pawl_partition partition);

/* With the lock held: the index of the first record at or after an offset. */
guint pawl__memory_first_at(const memory_log *log, int64_t offset);

/* ------------------------------------------------------------------------------------------------------ source.c -- */

struct memory_source {
    pawl__memory_cluster *cluster;
    bool read_committed;
    bool cancelled;
    int64_t stall_timeout_ms;

    GPtrArray *topics;  /* names; owned */
    GRegex *pattern;    /* or NULL */
    GArray *partitions; /* pawl_partition; topics are owned */

    GPtrArray *taps;  /* held; owned */
    GPtrArray *lanes; /* owned */

    void (*changed)(void *user); /* members = group */
    void *changed_user;
};

/* With the lock held: one past the last offset that this source may read. */
int64_t pawl__memory_end(const memory_source *source, const memory_log *log);

/* ------------------------------------------------------------------------------------------------------- group.c -- */

pawl_status pawl__memory_subscribe(void *self, const char *const *topics, size_t partitions, pawl_error *err);
void pawl__memory_unsubscribe(void *self);
bool pawl__memory_assigned(void *self, void (*found)(void *user, pawl_partition partition), void *user);
pawl_status pawl__memory_revoked(void *self, void (*found)(void *user, pawl_partition partition, bool lost), void *user,
                                 pawl_error *err);
void pawl__memory_let_go(void *self);
const pawl_source_member *pawl__memory_member(void *self);

/* -------------------------------------------------------------------------------------------------------- lane.c -- */

struct pawl_source_tap {
    memory_log *log;
    int64_t position; /* the next offset to deliver */

    pawl_source_lane *lane; /* where its range is open; NULL: shut */
    int64_t until;
    void *cookie;
    int chunks; /* delivered of this range */
    int64_t progress_ms;
};

pawl_source_lane *pawl__memory_lane_new(memory_source *source);
void pawl__memory_lane_free(pawl_source_lane *lane);

pawl_source_lane *pawl__memory_lane(void *self, int index);
void pawl__memory_wake(void *self);
void pawl__memory_range_open(pawl_source_lane *lane, pawl_source_tap *tap, int64_t from, int64_t until, void *cookie);
void pawl__memory_range_shut(pawl_source_lane *lane, pawl_source_tap *tap);
pawl_status pawl__memory_rewind(pawl_source_lane *lane, pawl_source_tap *tap, int64_t offset, pawl_error *err);
void pawl__memory_next(pawl_source_lane *lane, int64_t deadline_ms, pawl_delivery *ret_delivery);
void pawl__memory_settle(pawl_source_lane *lane);

#endif
