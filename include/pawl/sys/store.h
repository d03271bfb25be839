/*
 * sys/store.h - for those who write a store
 *
 * A store is one `const` table. Programs never call its functions: they call pawl_store_*(), which check the arguments,
 * set the deadline, and resolve outcomes that are not known. What each call has to do for its caller stands there; here
 * stands what a backend may rely on. The conformance suite (tests/conformance) is the contract in the form of code.
 */
#ifndef PAWL_SYS_STORE_H
#define PAWL_SYS_STORE_H

#include <pawl/store.h>

PAWL_BEGIN_DECLS

#define PAWL_STORE_ABI 1u

/* One setting that may stand in the query of the store's URL: sqlite:offsets.db?busy_timeout=5s. */
typedef struct pawl_store_option {
    const char *name;
    const char *fallback; /* the default, as text */
    const char *summary;  /* one sentence for the manual */
} pawl_store_option;

/* What open gets. Everything is borrowed until open returns, but for `log`, which lives as long as the store. */
typedef struct pawl_store_setup {
    const char *url;      /* as given, secrets masked: for messages */
    const char *user;     /* parts of the URL, decoded; NULL where it has none */
    const char *password; /* never to be shown */
    const char *hosts;    /* "h1:2181,h2:2181" */
    const char *path;     /* "" where it has none; for "sqlite:offsets.db" it is "offsets.db" */
    const pawl_log *log;
    int64_t deadline_ms;
    bool read_only; /* open makes nothing: where nothing is, nothing is stored. Writes will not be asked for. */
    const char *const *kafka; /* properties of librdkafka: name, value ... NULL; or NULL */
    const struct pawl_source_member
        *member; /* of sys/source.h, when the job is a member of its group; outlives the store */
    /* The value of an option of this backend's table: from the query, or its default. */
    const char *(*option)(const struct pawl_store_setup *setup, const char *name);
    const void *_options;
} pawl_store_setup;

/*
 * What every call gets: for which group, and until when (on the clock of pawl_sys_now_ms()). A call returns within
 * a second of its deadline, PAWL_TIMEOUT if nothing was sent, and soon after cancel, PAWL_CANCELLED.
 */
typedef struct pawl_store_call {
    const char *group; /* any non-empty UTF-8 text */
    int64_t deadline_ms;
} pawl_store_call;

/* The clock of deadlines: monotonic milliseconds. */
PAWL_API int64_t pawl_sys_now_ms(void);

/*
 * What a write has to find, judged and told in the same words by every store. `place` is where the partition is kept.
 *
 * For plan, save, begin and remove. PAWL_OK: the epoch is the stored one, and so is the offset. PAWL_FENCED: the stored
 * epoch is newer, whatever the offset. PAWL_CONFLICT: another offset, or an epoch that is older than the caller's.
 */
PAWL_API pawl_status pawl_sys_check_owned(const pawl_entry *found, int64_t epoch, pawl_position expected,
                                          const char *place, pawl_error *err);

/* For acquire. PAWL_STALE: the stored epoch is not the one that was seen. */
PAWL_API pawl_status pawl_sys_check_seen(const pawl_entry *found, int64_t epoch_seen, const char *place,
                                         pawl_error *err);

/*
 * The table. All functions but cancel are called by one thread at a time. count is never 0, no partition comes twice,
 * offsets are never negative, and lines are in the order in which the caller gave them.
 *
 * Status and flags steer the wrapper. A failure with PAWL_ERROR_RETRIABLE means: nothing was written, and the same call
 * may succeed later; it is tried again, with a back-off, until the store's timeout. A write whose outcome is not known
 * returns PAWL_OUTCOME_UNKNOWN; the wrapper then calls read_back, and sends it again if it was not applied. Writes get
 * three quarters of the time that is left as their deadline, so that some remains for that. Errors that name a partition
 * name the place where its offset is kept.
 */
typedef struct pawl_store_backend {
    uint32_t abi; /* PAWL_STORE_ABI */
    const char *scheme;
    const char *summary; /* one line for `pawl stores` */
    unsigned capabilities;
    size_t instance_size;             /* allocated, zeroed and freed by the core; passed as `self` */
    const pawl_store_option *options; /* ended by one without a name; NULL: none */

    /* Connects, or makes ready to. After a failure close is called as well: it has to cope with a half-open one. */
    pawl_status (*open)(void *self, const pawl_store_setup *setup, pawl_error *err);
    void (*close)(void *self);

    /* From any thread, while another is inside a call. */
    void (*cancel)(void *self);

    /* May depend on the server; 0: no limit. NULL: never a limit. */
    size_t (*max_partitions)(const void *self);

    void (*place)(void *self, const char *group, pawl_partition partition, char *text, size_t text_size);

    /* ret_entries is zeroed, and its partitions are filled in; *ret_group is zeroed. After a failure the wrapper throws
     * away what was filled in. What does not read as pawl wrote it is PAWL_UNREADABLE. */
    pawl_status (*load)(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
                        pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err);

    /* load that does not overtake an earlier write of this handle whose answer was lost. NULL: load is that.
     * PAWL_CONFLICT: the write was not applied and must not be, for a reason that the entries would not show. */
    pawl_status (*read_back)(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
                             pawl_entry *ret_entries, pawl_error *err);

    /* The owner's texts are UTF-8 without control characters, renewed_ms is set: to be stored as they are. Behind the
     * host's name is a token, by which this acquire is told from any other. Of a cluster that is NULL or ""
     * nothing is stored. What stands there and cannot be read is PAWL_UNREADABLE, and stays. */
    pawl_status (*acquire)(void *self, const pawl_store_call *call, const pawl_owner *owner, const char *cluster,
                           pawl_acquire_line *lines, size_t count, pawl_error *err);
    pawl_status (*plan)(void *self, const pawl_store_call *call, const pawl_plan_line *lines, size_t count,
                        pawl_error *err);
    pawl_status (*save)(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count,
                        pawl_error *err);

    /* Both or none. After a begin that succeeded the next call is save with the same lines, which commits, or rollback.
     * Such a save ends the transaction whatever it returns; it checks the lines once more, and that the program has not
     * ended the transaction itself. After a begin that failed there is none. */
    pawl_status (*begin)(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count,
                         void **ret_handle, pawl_error *err);
    void (*rollback)(void *self);

    pawl_status (*release)(void *self, const pawl_store_call *call, const pawl_acquire_line *lines, size_t count,
                           pawl_error *err);
    /* call->group is NULL when the groups are listed. In any order: the wrapper collects and sorts. */
    pawl_status (*list)(void *self, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err);
    /* ret_removed is the wrapper's. */
    pawl_status (*remove)(void *self, const pawl_store_call *call, const pawl_remove_line *lines, size_t count,
                          pawl_error *err);
} pawl_store_backend;

PAWL_END_DECLS

#endif
