/*
 * memory.h - a cluster in the memory of this process, and what a test can do to it
 *
 * For tests of the core, and to be read before writing a source: the whole contract of pawl/sys/source.h without a server
 * in the way.
 *
 *     cluster.c   the logs, and what a test does to them
 *     source.c    the table: opening, closing, and the questions of the loop's thread
 *     group.c     membership in a group, and what it assigns
 *     lane.c      reading: ranges, and the records they deliver
 *
 * A cluster has a name. A job reads it when its setting "kafka.bootstrap.servers" is that name and it was made with
 * pawl__memory_source. Everything of a cluster, the sources and lanes that are open on it as well, is guarded by the
 * cluster's one lock: what a test does is seen by a lane that waits at once. All functions may be called from any thread,
 * a hook of the job included.
 *
 * A log has records at ascending offsets with gaps between them, and bounds: `low`, `high`, and `stable`, above which lie
 * the records of transactions that are still open. A gap stands for what a range has to get over: compacted records,
 * control records, aborted transactions.
 */
#ifndef PAWL_SOURCE_MEMORY_H
#define PAWL_SOURCE_MEMORY_H

#include <pawl/sys/source.h>

typedef struct pawl__memory_cluster pawl__memory_cluster;

extern const pawl_source_backend pawl__memory_source;

/* Makes a cluster and makes it known. The id may be "". */
pawl__memory_cluster *pawl__memory_cluster_new(const char *name, const char *id);

/* Frees it; no source is open on it. NULL is fine. */
void pawl__memory_cluster_free(pawl__memory_cluster *cluster);

/* -------------------------------------------------------------------------------------------------------- topics -- */

/* Makes a topic, or gives one that is there more partitions: it has `partitions` of them now. */
void pawl__memory_make_topic(pawl__memory_cluster *cluster, const char *topic, int partitions);

/* Metadata tell only the first `partitions` of a topic's partitions; those hidden are still read. -1: all of them. */
void pawl__memory_hide_partitions(pawl__memory_cluster *cluster, const char *topic, int partitions);

/* ---------------------------------------------------------------------------------------------------------- logs -- */

/* Appends records with the next offsets; key and value are null, timestamps are 0. */
void pawl__memory_append(pawl__memory_cluster *cluster, const char *topic, int partition, int count);

/* Appends one record; a key or a value that is NULL is null. */
void pawl__memory_append_record(pawl__memory_cluster *cluster, const char *topic, int partition, const char *key,
                                const char *value, int64_t timestamp_ms);

/* Appends offsets that have no record. */
void pawl__memory_append_gap(pawl__memory_cluster *cluster, const char *topic, int partition, int64_t count);

/* The log begins at `low` now: retention. A low above the end empties it, and moves the end as well. */
void pawl__memory_cut_start(pawl__memory_cluster *cluster, const char *topic, int partition, int64_t low);

/* The log ends at `high` now: an unclean election, or a topic that was made anew. */
void pawl__memory_cut_end(pawl__memory_cluster *cluster, const char *topic, int partition, int64_t high);

/* From this offset on everything belongs to open transactions; -1: nothing does. */
void pawl__memory_open_transaction(pawl__memory_cluster *cluster, const char *topic, int partition, int64_t offset);

/* --------------------------------------------------------------------------------------------------------- group -- */

/* The group assigns a partition to its member, or will when there is one. */
void pawl__memory_assign(pawl__memory_cluster *cluster, const char *topic, int partition);

/* The group takes a partition back. `lost`: it has given it to another already. */
void pawl__memory_revoke(pawl__memory_cluster *cluster, const char *topic, int partition, bool lost);

/* Waits until the member has let go of all that was revoked; false when the deadline passed first. */
bool pawl__memory_await_let_go(pawl__memory_cluster *cluster, int64_t deadline_ms);

/* ---------------------------------------------------------------------------------------------------------- harm -- */

/* The calls of the loop's thread. */
typedef enum pawl__memory_call {
    PAWL__MEMORY_CLUSTER,
    PAWL__MEMORY_DISCOVER,
    PAWL__MEMORY_BOUNDS,
    PAWL__MEMORY_LOG_END,
    PAWL__MEMORY_AT_TIME,
    PAWL__MEMORY_HOLD,
    PAWL__MEMORY_UNHOLD,
    PAWL__MEMORY_CALLS, /* how many there are */
} pawl__memory_call;

/* The next `times` calls of this kind fail at once with a status; -1: until told otherwise. */
void pawl__memory_fail_calls(pawl__memory_cluster *cluster, pawl__memory_call call, int times, pawl_status status);

/* So many calls are answered before those begin to fail. */
void pawl__memory_spare_calls(pawl__memory_cluster *cluster, pawl__memory_call call, int count);

/* Calls of this kind get no answer: they return when they are cancelled or their deadline has passed. */
void pawl__memory_hang_calls(pawl__memory_cluster *cluster, pawl__memory_call call, bool hang);

/* Bounds of this partition are answered with a status. PAWL_OK: with the bounds. */
void pawl__memory_refuse_bounds(pawl__memory_cluster *cluster, const char *topic, int partition, pawl_status status);

/* The next `times` answers about bounds tell this log from `low` to `high`, whatever it is. */
void pawl__memory_lie(pawl__memory_cluster *cluster, const char *topic, int partition, int times, int64_t low,
                      int64_t high);

/* The next `times` ranges of this partition fail after the first chunk of their records. */
void pawl__memory_fail_ranges(pawl__memory_cluster *cluster, const char *topic, int partition, int times,
                              pawl_status status, unsigned flags);

/* The same, before any record of them comes. */
void pawl__memory_fail_ranges_at_once(pawl__memory_cluster *cluster, const char *topic, int partition, int times,
                                      pawl_status status, unsigned flags);

/* No record of this partition comes, and no end either. */
void pawl__memory_stall(pawl__memory_cluster *cluster, const char *topic, int partition, bool stall);

/* The most records in one delivery; 3 at first. */
void pawl__memory_set_chunk(pawl__memory_cluster *cluster, int records);

/* ------------------------------------------------------------------------------------------------------ watching -- */

/* How many calls of a kind have begun since the cluster was made. */
int pawl__memory_calls(pawl__memory_cluster *cluster, pawl__memory_call call);

/* Waits until so many calls of a kind have begun; false when the deadline passed first. */
bool pawl__memory_await_calls(pawl__memory_cluster *cluster, pawl__memory_call call, int count, int64_t deadline_ms);

/* Waits until a range of this partition is open and its lane waits for records; false as above. */
bool pawl__memory_await_open(pawl__memory_cluster *cluster, const char *topic, int partition, int64_t deadline_ms);

/* The most ranges that were open at once so far. */
int pawl__memory_most_open(pawl__memory_cluster *cluster);

#endif
