/*
 * store.h - what the files of the store wrappers share
 *
 *     store.c          open, close, cancel, and what a store is asked about itself
 *     store_check.c    are the arguments of a call right? Pure
 *     store_owner.c    what tells one acquire from another
 *     store_run.c      one call: its deadline, its tries, its error
 *     store_read.c     load, list
 *     store_write.c    acquire, plan, release, remove, and the loop that all writes share
 *     store_save.c     save, alone or with results in one transaction
 *     store_resolve.c  what became of a write whose answer was lost? Pure
 */
#ifndef PAWL_CORE_STORE_H
#define PAWL_CORE_STORE_H

#include <glib.h>

#include <pawl/sys/store.h>

#include "util/wait.h"

/* The stores that are built in, ended by NULL; see src/builtin_stores.c. */
extern const pawl_store_backend *const pawl__builtin_stores[];

struct pawl_store {
    const pawl_store_backend *backend;
    void *self;
    char *url; /* secrets masked */
    pawl_log log;
    int64_t timeout_ms;
    bool read_only;

    pawl__wait wait; /* between two tries, so that cancel ends it */
    bool cancelled;  /* under the lock of `wait` */

    /* What begin was given: the save that ends the transaction has to be about the same. */
    bool in_transaction;
    GArray *begun;       /* pawl_save_line */
    GStringChunk *texts; /* their topics, and the group's name */
    const char *begun_group;
};

/* ------------------------------------------------------------------------------------------------- store_check.c -- */

/* PAWL_INVALID: the name of a group is empty or no UTF-8. */
pawl_status pawl__store_check_group(const char *group, pawl_error *err);

/* `lines` is an array of structs that begin with a pawl_partition, `stride` bytes each. PAWL_INVALID: a topic is empty
 * or no UTF-8, a number negative, or a partition there twice. */
pawl_status pawl__store_check_partitions(const void *lines, size_t stride, size_t count, pawl_error *err);

/* PAWL_INVALID: a text of the owner, or the cluster's id (which may be NULL), is too long, no UTF-8, or holds a control
 * character; or the host is empty. */
pawl_status pawl__store_check_owner(const pawl_owner *owner, const char *cluster, pawl_error *err);

/* Offsets, epochs and prints of lines whose partitions are right. `capabilities` are those of the store. */
pawl_status pawl__store_check_acquire(const pawl_acquire_line *lines, size_t count, pawl_error *err);
pawl_status pawl__store_check_plan(unsigned capabilities, const pawl_plan_line *lines, size_t count, pawl_error *err);
pawl_status pawl__store_check_save(unsigned capabilities, const pawl_save_line *lines, size_t count, pawl_error *err);
pawl_status pawl__store_check_remove(unsigned capabilities, const pawl_remove_line *lines, size_t count,
                                     pawl_error *err);

/* ------------------------------------------------------------------------------------------------- store_owner.c -- */

/* Puts a new token behind the host's name, which is cut where it leaves no room. */
pawl_status pawl__owner_mark(pawl_owner *owner, pawl_error *err);

/* Takes it away again, if there is one. */
void pawl__owner_unmark(pawl_owner *owner);

/* --------------------------------------------------------------------------------------------------- store_run.c -- */

/*
 * One call of a wrapper. The error of a try that failed is kept here, so that a later try that succeeds leaves the
 * caller's error as it was.
 */
typedef struct pawl__store_run {
    pawl_store *store;
    pawl_store_call call;
    int64_t deadline_ms; /* of the whole; call.deadline_ms is that of one try */
    int tries;
    pawl_error error;
} pawl__store_run;

/* Starts a call. PAWL_CANCELLED: the store was cancelled. PAWL_INVALID: a transaction is open. */
pawl_status pawl__store_run_start(pawl__store_run *run, pawl_store *store, const char *group);

/* The same for a call about lines, see pawl__store_check_partitions(), whose group and partitions it checks. */
pawl_status pawl__store_run_start_lines(pawl__store_run *run, pawl_store *store, const char *group, const void *lines,
                                        size_t stride, size_t count);

/* The same for the one call that may come while a transaction is open. */
pawl_status pawl__store_run_start_commit(pawl__store_run *run, pawl_store *store, const char *group);

/* PAWL_UNSUPPORTED: the store cannot "list what it holds", for instance. */
pawl_status pawl__store_run_require(pawl__store_run *run, unsigned capability, const char *what);

/* Gives a write the first three quarters of the time that is left: the rest is for reading back, should its answer be
 * lost. */
void pawl__store_run_leave_time(pawl__store_run *run);

/* After a try: whether to try once more. If so it has waited a little; if the wait was cut short, *status says why. */
bool pawl__store_run_again(pawl__store_run *run, pawl_status *status);

/* Ends a call: hands the error over, unless the status is PAWL_OK, and returns the status. */
pawl_status pawl__store_run_end(pawl__store_run *run, pawl_status status, pawl_error *err);

/* ----------------------------------------------------------------------------------- store_read.c, store_write.c -- */

/* An array of `count` empty entries for the partitions of these lines; the caller frees it. */
pawl_entry *pawl__store_entries(const void *lines, size_t stride, size_t count);

/* One write, for the loop. */
typedef struct pawl__store_write {
    pawl_status (*send)(pawl__store_run *run, const struct pawl__store_write *write);
    pawl_status (*judge)(pawl__store_run *run, const struct pawl__store_write *write, const pawl_entry *entries);
    union {
        pawl_acquire_line *acquire;
        const pawl_acquire_line *release;
        const pawl_plan_line *plan;
        const pawl_save_line *save;
        pawl_remove_line *remove;
        const void *any;
    } lines;
    size_t stride;
    size_t count;
    const pawl_owner *owner; /* of acquire */
    const char *cluster;
    bool once; /* a transaction's results are gone after the first try */
} pawl__store_write;

/* Starts a write: pawl__store_run_start_lines(), and PAWL_UNSUPPORTED if there are too many. */
pawl_status pawl__store_write_start(pawl__store_run *run, pawl_store *store, const char *group, const void *lines,
                                    size_t stride, size_t count);

/* Sends until the outcome is known. count is not 0. */
pawl_status pawl__store_write_run(pawl__store_run *run, const pawl__store_write *write);

/* ----------------------------------------------------------------------------------------------- store_resolve.c -- */

/*
 * Given what was read back: what became of the write?
 *
 * PAWL_OK: it was applied. PAWL_FAILED with PAWL_ERROR_RETRIABLE: it was not, and may be sent again. PAWL_FENCED,
 * PAWL_CONFLICT, PAWL_STALE: it was not, and must not be.
 */
pawl_status pawl__store_judge_save(pawl_store *store, const char *group, const pawl_save_line *lines, size_t count,
                                   const pawl_entry *entries, pawl_error *err);
pawl_status pawl__store_judge_plan(pawl_store *store, const char *group, const pawl_plan_line *lines, size_t count,
                                   const pawl_entry *entries, pawl_error *err);
pawl_status pawl__store_judge_remove(pawl_store *store, const char *group, const pawl_remove_line *lines, size_t count,
                                     const pawl_entry *entries, pawl_error *err);
pawl_status pawl__store_judge_release(const pawl_acquire_line *lines, size_t count, const pawl_entry *entries,
                                      pawl_error *err);
pawl_status pawl__store_judge_acquire(pawl_store *store, const char *group, const pawl_owner *owner,
                                      pawl_acquire_line *lines, size_t count, const pawl_entry *entries,
                                      pawl_error *err);

/* From now on no call takes longer than this. On the thread of the calls. */
void pawl__store_hurry(pawl_store *store, int64_t timeout_ms);

/* pawl_store_open() for a job that is a member of its group; `member` is what the source calls it. */
pawl_status pawl__store_open_as_member(const char *url, const pawl_store_options *options,
                                       const struct pawl_source_member *member, pawl_store **ret_store,
                                       pawl_error *err);

#endif
