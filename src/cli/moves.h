/*
 * moves.h - partitions, what is stored for them, and the bounds of their logs
 */
#ifndef PAWL_CLI_MOVES_H
#define PAWL_CLI_MOVES_H

#include "cli/cluster.h"

/* One partition that is looked at, or whose offset is changed. The partition comes first: pawl__partition_compare(). */
typedef struct pawl_move {
    pawl_partition partition;
    pawl_entry entry;  /* what is stored */
    pawl_owner owner;  /* who owned it before we did */
    pawl_position low; /* the bounds of the log; absent: not known */
    pawl_position high;
    pawl_status asked;     /* PAWL_OK, or why the bounds are not known, as in pawl_bounds_line */
    pawl_position log_end; /* at any isolation; absent: not asked for */
    pawl_position at_time; /* the first record of a time; absent: there is none, or it was not asked for */
    pawl_position given;   /* the offset on a command line or in a file */
    pawl_position to;      /* what shall be stored; absent: nothing */
    const char *note;      /* for people: static, or NULL */
} pawl_move;

/* An empty list of moves. The caller unrefs it. */
GArray *pawl__moves_new(void);

/* Number i. */
pawl_move *pawl__moves_at(const GArray *moves, size_t i);

/* Adds a partition; its topic has to live for ever. */
void pawl__moves_add(GArray *moves, pawl_partition partition, pawl_position given);

/* Sorts them. PAWL_INVALID: one is there twice. */
pawl_status pawl__moves_sort(GArray *moves, pawl_error *err);

/* The topics of the moves, each once, ended by NULL. The caller frees the array only. */
const char **pawl__moves_topics(const GArray *moves);

/* Adds all partitions that are stored for a group. PAWL_FAILED: there are none; the nearest group is named. */
pawl_status pawl__moves_add_stored(GArray *moves, pawl_store *store, const char *group, pawl_error *err);

/*
 * Puts the partitions that are stored for the group in the place of PAWL__ALL_PARTITIONS. PAWL_FAILED: nothing is stored
 * for a topic.
 */
pawl_status pawl__moves_expand_stored(GArray *moves, pawl_store *store, const char *group, pawl_error *err);

/* Reads what is stored. ret_info may be NULL. */
pawl_status pawl__moves_load(GArray *moves, pawl_store *store, const char *group, pawl_group_info *ret_info,
                             pawl_error *err);

/*
 * Puts the partitions that there are in the place of PAWL__ALL_PARTITIONS. PAWL_INVALID: a topic or a partition does not
 * exist.
 */
pawl_status pawl__moves_discover(GArray *moves, pawl_cluster *cluster, pawl_error *err);

/* Asks the brokers for the bounds. What is not known of one partition stays absent, and is told by `asked`. */
pawl_status pawl__moves_bound(GArray *moves, pawl_cluster *cluster, pawl_error *err);

/* Whether the brokers have said that there is no such partition. */
bool pawl__move_is_missing(const pawl_move *move);

/* The first partition whose bounds are not known is an error. */
pawl_status pawl__moves_need_bounds(const GArray *moves, pawl_error *err);

/* Who owns it: "client (pid 12 on host)", or NULL for nobody. The caller frees it. */
char *pawl__owner_text(const pawl_owner *owner);

#endif
