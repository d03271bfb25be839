/*
 * zookeeper_store.h - what the files of the zookeeper: store share
 *
 *     zookeeper_store.c  the table; options, opening, closing
 *     session.c          the client's handle: connected by a deadline, made anew when its session has expired
 *     client_log.c       the client library's own log
 *     round.c            requests that are sent together and answered together, by a deadline
 *     error.c            ZooKeeper's error codes in pawl's words
 *     names.c            names as nodes, and back
 *     view.c             what a group holds, in memory
 *     node_text.c        what is written in pawl's own nodes
 *     read.c             the view as the server has it now; load
 *     list.c             list
 *     parents.c          the nodes above
 *     change.c           one multi: judged, sent, and sent again when something moved meanwhile
 *     write.c            what acquire, plan, save, release and remove put into it
 */
#ifndef PAWL_ZOOKEEPER_ZOOKEEPER_STORE_H
#define PAWL_ZOOKEEPER_ZOOKEEPER_STORE_H

#include <glib.h>
#include <zookeeper/zookeeper.h>

#include <pawl/sys/store.h>

#include "util/wait.h"

#define PAWL__ZK_LAYOUT     1
#define PAWL__ZK_PLACE_SIZE PAWL_ERROR_MESSAGE_SIZE

typedef struct pawl__zk_view pawl__zk_view;

typedef struct pawl__zk_store {
    char *hosts;
    char *root; /* "/chroot", or "" */
    char *user; /* NULL: nobody in particular */
    char *credentials;
    const pawl_log *log;
    int session_timeout_ms;
    size_t packet_limit;
    bool create_root;
    struct ACL_vector acl; /* of nodes that are made */
    struct ACL acl_lines[2];

    zhandle_t *client;   /* NULL: not yet, or its session has expired */
    pawl__zk_view *view; /* what this handle has read or written last; NULL: nothing that can be relied on */

    pawl__wait wait;    /* for answers, and for changes of what is below */
    int state;          /* ZOO_..._STATE, as the client's thread told */
    GPtrArray *unheard; /* rounds that ended before they were answered */
    bool cancelled;
} pawl__zk_store;

/* ------------------------------------------------------------------------------------------------- client_log.c -- */

/* Hands the client's lines to this log from now on. There is one client log in a process: every open store gets all. */
void pawl__zk_log_add(const pawl_log *log);
void pawl__zk_log_remove(const pawl_log *log);
void pawl__zk_log_take(const char *line);

/* ----------------------------------------------------------------------------------------------------- session.c -- */

/* Waits until the client is connected, and makes a new one where there is none or its session has expired.
 * PAWL_UNREACHABLE, PAWL_FAILED, PAWL_CANCELLED. */
pawl_status pawl__zk_connect(pawl__zk_store *store, int64_t deadline_ms, pawl_error *err);

void pawl__zk_disconnect(pawl__zk_store *store);

/* ------------------------------------------------------------------------------------------------------- round.c -- */

/* What came back for one request, or for one operation of a multi. */
typedef struct pawl__zk_answer {
    int code;     /* ZOK, ZNONODE ... */
    GBytes *data; /* of a get; NULL: the node has none */
    struct Stat stat;
    char **children;
} pawl__zk_answer;

/*
 * Requests that are under way. The client answers them in the order in which they were sent, on a thread of its own. A
 * round that is ended before that lives on until the last answer has come.
 */
typedef struct pawl__zk_round pawl__zk_round;

pawl__zk_round *pawl__zk_round_new(pawl__zk_store *store);

/* Sends a request and returns its number. The round waits for it. */
guint pawl__zk_round_sync(pawl__zk_round *round);
guint pawl__zk_round_get(pawl__zk_round *round, const char *path);
guint pawl__zk_round_exists(pawl__zk_round *round, const char *path);
guint pawl__zk_round_children(pawl__zk_round *round, const char *path);
guint pawl__zk_round_create(pawl__zk_round *round, const char *path, const char *data);

/* Sends what the calls below collected as one transaction; its answer's code is that of the operation that failed. */
guint pawl__zk_round_multi(pawl__zk_round *round);

/* Collect the operations of the multi, in that order. */
void pawl__zk_multi_create(pawl__zk_round *round, const char *path, const char *data);
void pawl__zk_multi_set(pawl__zk_round *round, const char *path, const char *data, int32_t version);
void pawl__zk_multi_check(pawl__zk_round *round, const char *path, int32_t version);
void pawl__zk_multi_delete(pawl__zk_round *round, const char *path, int32_t version);

/* The multi's size on the wire so far, and the path of the operation that failed, or NULL. */
size_t pawl__zk_multi_size(const pawl__zk_round *round);
const char *pawl__zk_multi_culprit(const pawl__zk_round *round);

/*
 * Waits for all answers. PAWL_TIMEOUT, PAWL_CANCELLED, PAWL_UNREACHABLE (the connection or the session was lost): some
 * have not come, and what they would have said is not known.
 */
pawl_status pawl__zk_round_wait(pawl__zk_round *round, int64_t deadline_ms, pawl_error *err);

/* Borrowed until the round ends. */
const pawl__zk_answer *pawl__zk_round_answer(const pawl__zk_round *round, guint number);

/* NULL is fine. */
void pawl__zk_round_end(pawl__zk_round *round);

/* Frees those that will not be answered any more, since the client was closed: it forgets some of what it has received. */
void pawl__zk_rounds_done(pawl__zk_store *store);

/* ------------------------------------------------------------------------------------------------------- error.c -- */

/* Sets the error for an answer about a path and returns its status. */
pawl_status pawl__zk_fail(pawl__zk_store *store, int code, const char *path, pawl_error *err);

pawl_status pawl__zk_cancelled(pawl__zk_store *store, pawl_error *err);

/* Whether the answer says that the server did not get to the request. */
bool pawl__zk_is_lost(int code);

/* ------------------------------------------------------------------------------------------------------- names.c -- */

/* Any text as the name of a node, and back; the caller frees it. */
char *pawl__zk_name_to_node(const char *name);
char *pawl__zk_name_from_node(const char *node);

/* Paths; the caller frees them. */
char *pawl__zk_group_path(const pawl__zk_store *store, const char *group, const char *below);
char *pawl__zk_topic_path(const pawl__zk_store *store, const char *group, const char *topic);
char *pawl__zk_offset_path(const pawl__zk_store *store, const char *group, pawl_partition partition);

void pawl__zk_place(void *self, const char *group, pawl_partition partition, char *text, size_t text_size);

/* -------------------------------------------------------------------------------------------------------- view.c -- */

/* A node below pawl/owners: an owner, and what it holds. It is never ephemeral, since its epoch outlives its session. */
typedef struct pawl__zk_owner {
    char *path;
    int32_t version;
    int64_t epoch; /* the node's czxid */
    pawl_owner owner;
    GPtrArray *parts; /* borrowed from the view */
    bool changed;     /* has to be written in the multi under way */
} pawl__zk_owner;

/* What is known of one partition. All but the offset stands in its owner's node. */
typedef struct pawl__zk_part {
    pawl_partition partition; /* the topic is the view's */
    pawl__zk_owner *owner;    /* NULL: never owned */
    bool held;                /* not given back yet */
    int64_t batch;
    pawl_position pending;
    char print[PAWL_PRINT_SIZE];

    bool read; /* whether the rest is known */
    bool exists;
    int32_t version;
    pawl_position offset;
} pawl__zk_part;

struct pawl__zk_view {
    char *group;
    bool exists; /* the node "pawl" of the group */
    int32_t version;
    char cluster[PAWL_CLUSTER_SIZE];
    bool changed;      /* the group's node has to be written in the multi under way */
    GPtrArray *owners; /* pawl__zk_owner */
    GHashTable *parts; /* pawl_partition, inside the part, to pawl__zk_part */
    GStringChunk *topics;
};

pawl__zk_view *pawl__zk_view_new(const char *group);
void pawl__zk_view_free(pawl__zk_view *view);

/* The part of a partition; made if there is none. */
pawl__zk_part *pawl__zk_view_part(pawl__zk_view *view, pawl_partition partition);

/* An owner's node, without parts; taken by the view. */
pawl__zk_owner *pawl__zk_view_owner(pawl__zk_view *view, char *path);

/* Moves a part to this owner. */
void pawl__zk_part_move(pawl__zk_part *part, pawl__zk_owner *owner);

/* The epoch of a part, and all of it as load gives it. */
int64_t pawl__zk_part_epoch(const pawl__zk_part *part);
void pawl__zk_part_entry(const pawl__zk_part *part, pawl_partition partition, pawl_entry *ret_entry);

/* Forgets what the store has read, or takes this view for it. */
void pawl__zk_view_keep(pawl__zk_store *store, pawl__zk_view *view);

/* --------------------------------------------------------------------------------------------------- node_text.c -- */

/* The node "pawl" of a group: layout and cluster. False: it does not read as pawl writes it. */
char *pawl__zk_group_text(const char *cluster);
bool pawl__zk_group_parse(pawl__zk_view *view, GBytes *data, int64_t *ret_layout);

/* The node of an owner: itself and its parts. */
char *pawl__zk_owner_text(const pawl__zk_owner *owner);
bool pawl__zk_owner_parse(pawl__zk_view *view, pawl__zk_owner *owner, GBytes *data);

/* -------------------------------------------------------------------------------------------------------- read.c -- */

/*
 * What the server holds for these partitions, all of one moment, after every write that was acknowledged to anybody.
 * `partitions` begins each struct of an array, `stride` bytes each. It replaces what the store has kept before.
 */
pawl_status pawl__zk_read(pawl__zk_store *store, const pawl_store_call *call, const void *partitions, size_t stride,
                          size_t count, pawl_error *err);

pawl_status pawl__zk_load(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
                          pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err);

/* -------------------------------------------------------------------------------------------------------- list.c -- */

pawl_status pawl__zk_list(void *self, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err);

/* ----------------------------------------------------------------------------------------------------- parents.c -- */

/* Makes the chroot, or checks that it is there. */
pawl_status pawl__zk_make_root(pawl__zk_store *store, int64_t deadline_ms, bool read_only, pawl_error *err);

/* Makes what is missing above the nodes of these partitions, and the group's own. */
pawl_status pawl__zk_make_parents(pawl__zk_store *store, const pawl_store_call *call, const void *partitions,
                                  size_t stride, size_t count, pawl_error *err);

/* ------------------------------------------------------------------------------------------------------ change.c -- */

/* One write: judged by what the view holds, then put into a multi. */
typedef struct pawl__zk_change {
    const pawl_store_call *call;
    const void *lines; /* structs that begin with a pawl_partition */
    size_t stride;
    size_t count;
    bool afresh; /* what the store has kept is not enough */
    pawl_status (*judge)(pawl__zk_store *store, const struct pawl__zk_change *change, size_t i, pawl__zk_part *part,
                         pawl_error *err);
    /* Changes the view and collects the operations on offsets; those on owners and on the group's node, written where
     * they are marked as changed, come by themselves. */
    void (*write)(pawl__zk_store *store, const struct pawl__zk_change *change, pawl__zk_round *round);
    const pawl_owner *owner; /* of acquire */
    const char *cluster;
} pawl__zk_change;

/* Whether it can be done now, by what the server holds. */
pawl_status pawl__zk_change_check(pawl__zk_store *store, const pawl__zk_change *change, pawl_error *err);

/* Sends it until it is decided. Afterwards the store's view holds what was written. */
pawl_status pawl__zk_change_run(pawl__zk_store *store, const pawl__zk_change *change, pawl_error *err);

/* ------------------------------------------------------------------------------------------------------- write.c -- */

pawl_status pawl__zk_acquire(void *self, const pawl_store_call *call, const pawl_owner *owner, const char *cluster,
                             pawl_acquire_line *lines, size_t count, pawl_error *err);
pawl_status pawl__zk_plan(void *self, const pawl_store_call *call, const pawl_plan_line *lines, size_t count,
                          pawl_error *err);
pawl_status pawl__zk_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count,
                          pawl_error *err);
pawl_status pawl__zk_release(void *self, const pawl_store_call *call, const pawl_acquire_line *lines, size_t count,
                             pawl_error *err);
pawl_status pawl__zk_remove(void *self, const pawl_store_call *call, const pawl_remove_line *lines, size_t count,
                            pawl_error *err);

#endif
