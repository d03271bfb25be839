/*
 * store.h - where a group's offsets live
 *
 * For programs that look at stored offsets or change them. A job uses a store by itself; a program that writes one reads
 * sys/store.h.
 *
 * For each (group, partition) a store keeps: the offset, or that there is none; an epoch, which grows each time somebody
 * becomes the owner (0: never owned); the owner; the number of the batch that was saved last; `pending`, the `until` of
 * a range that was written down before it ran, or none; and a print, a fingerprint of the record before the offset.
 *
 * Who changes something does it as an owner: load, acquire with the epochs just seen, write, release. A write names what
 * it expects to find, so that a process that was frozen, restarted or started twice changes nothing.
 */
#ifndef PAWL_STORE_H
#define PAWL_STORE_H

#include <pawl/error.h>
#include <pawl/log.h>
#include <pawl/offsets.h>
#include <pawl/visibility.h>

PAWL_BEGIN_DECLS

/* One thread at a time, except for pawl_store_cancel(). */
typedef struct pawl_store pawl_store;

/* What a store can do. */
#define PAWL_STORE_ATOMIC      0x01u /* a save is all or nothing */
#define PAWL_STORE_CAS_EPOCH   0x02u /* an owner whose epoch is old is refused */
#define PAWL_STORE_CAS_OFFSET  0x04u /* a save that expects another offset is refused */
#define PAWL_STORE_PLAN        0x08u /* pending is kept */
#define PAWL_STORE_TRANSACTION 0x10u /* results can go into the save's transaction */
#define PAWL_STORE_LIST        0x20u /* groups and partitions can be listed */

/* How a store is opened. Set `size` to sizeof(pawl_store_options); zeros mean the defaults. */
typedef struct pawl_store_options {
    size_t size;
    const pawl_log *log; /* copied; NULL: silence */
    int64_t timeout_ms;  /* the longest that any call may take; default 30,000 */
    bool read_only;      /* nothing is made and nothing is written: what is not there yet counts as empty */

    /* Properties of librdkafka for a store that Kafka keeps: name, value, name, value ... NULL; borrowed until the store
     * is open. NULL: none. */
    const char *const *kafka;
} pawl_store_options;

#define PAWL_HOST_SIZE      256
#define PAWL_CLIENT_ID_SIZE 256
#define PAWL_PRINT_SIZE     65
#define PAWL_CLUSTER_SIZE   128

/*
 * Who holds a partition. An empty host: nobody; client_id may then still name who had it last. Longer names are cut: they
 * are for people.
 */
typedef struct pawl_owner {
    char host[PAWL_HOST_SIZE];
    int64_t pid;
    char client_id[PAWL_CLIENT_ID_SIZE];
    int64_t renewed_ms; /* wall clock of the last acquire, save or plan, milliseconds since 1970 */
} pawl_owner;

/* What is stored for one partition. */
typedef struct pawl_entry {
    pawl_partition partition; /* as asked for: borrowed from the array given to load */
    pawl_position offset;     /* the next offset to read */
    int64_t epoch;            /* 0: never owned */
    pawl_owner owner;
    int64_t batch;               /* 0: none */
    pawl_position pending;       /* the until of a planned range */
    char print[PAWL_PRINT_SIZE]; /* "" where there is none */
} pawl_entry;

/* What is stored for a group as a whole. */
typedef struct pawl_group_info {
    char cluster[PAWL_CLUSTER_SIZE]; /* Kafka's cluster id, "" where there is none yet */
} pawl_group_info;

/* One partition to own. */
typedef struct pawl_acquire_line {
    pawl_partition partition;
    int64_t epoch_seen;    /* as loaded */
    pawl_position initial; /* written only where no offset is stored; absent: leave it so */
    int64_t ret_epoch;     /* the epoch of the new owner; set when acquire succeeds */
} pawl_acquire_line;

/* One planned range (replay = exact). */
typedef struct pawl_plan_line {
    pawl_partition partition;
    int64_t epoch;
    pawl_position expected;
    pawl_position pending;
} pawl_plan_line;

/* One offset to save. */
typedef struct pawl_save_line {
    pawl_partition partition;
    int64_t epoch;          /* the owner's */
    pawl_position expected; /* what the store holds now; absent: nothing */
    int64_t until;          /* what it shall hold */
    int64_t batch;          /* the batch's number; 0 for a position save: the stored number stays */
    const char *print;      /* borrowed; NULL: none */
} pawl_save_line;

/* One offset to forget. The epoch stays, so that an old owner remains an old owner. */
typedef struct pawl_remove_line {
    pawl_partition partition;
    int64_t epoch;
    pawl_position expected;
    bool ret_removed; /* whether there was an offset; set when remove succeeds */
} pawl_remove_line;

/*
 * Opens the store that a URL names, "sqlite:offsets.db" for instance. The caller closes it.
 * PAWL_INVALID: the URL is wrong, or there is no module for its scheme (the message lists those that are there).
 * PAWL_UNREACHABLE, PAWL_UNREADABLE, PAWL_FAILED: as the store says.
 */
PAWL_API pawl_status pawl_store_open(const char *url, const pawl_store_options *options, pawl_store **ret_store,
                                     pawl_error *err);

/* Closes it, rolling back what is open. NULL is fine. */
PAWL_API void pawl_store_close(pawl_store *store);

/* The scheme of its URL, "sqlite" for instance; a static string. */
PAWL_API const char *pawl_store_scheme(const pawl_store *store);

/* Its URL as it was given, passwords masked; borrowed, as long as it is open. */
PAWL_API const char *pawl_store_url(const pawl_store *store);

/* PAWL_STORE_* */
PAWL_API unsigned pawl_store_capabilities(const pawl_store *store);

/* The greatest number of partitions that one save can hold; 0: no limit. */
PAWL_API size_t pawl_store_max_partitions(const pawl_store *store);

/* Writes where a partition's offset is kept, in words that help to find it with the store's own tools; returns text. */
PAWL_API const char *pawl_store_place(pawl_store *store, const char *group, pawl_partition partition, char *text,
                                      size_t text_size);

/*
 * Makes the call in progress, and each later one, return PAWL_CANCELLED soon. A write that is cancelled has an unknown
 * outcome. From any thread; not async-signal-safe.
 */
PAWL_API void pawl_store_cancel(pawl_store *store);

/*
 * Reads the entries of the partitions asked for, in their order, into an array of `count`, and what is stored about the
 * group (ret_group may be NULL). Nothing stored is an entry of zeros, and no error.
 * PAWL_UNREADABLE: something is stored that is no offset; the message names the place and shows the bytes.
 * PAWL_UNSUPPORTED: the group was written by a newer layout.
 */
PAWL_API pawl_status pawl_store_load(pawl_store *store, const char *group, const pawl_partition *partitions,
                                     size_t count, pawl_entry *ret_entries, pawl_group_info *ret_group,
                                     pawl_error *err);

/*
 * Makes the caller the owner of all these partitions, or of none. `cluster` (may be NULL) is stored with the group. An
 * owner->renewed_ms of 0 stands for the time of the call. Texts are UTF-8 without control characters, and no number is
 * negative.
 * PAWL_STALE: an epoch is no longer the one seen; load again.
 */
PAWL_API pawl_status pawl_store_acquire(pawl_store *store, const char *group, const pawl_owner *owner,
                                        const char *cluster, pawl_acquire_line *lines, size_t count, pawl_error *err);

/* Writes down the ranges that are about to run, and renews the owner's entry. PAWL_FENCED, PAWL_CONFLICT: as for save. */
PAWL_API pawl_status pawl_store_plan(pawl_store *store, const char *group, const pawl_plan_line *lines, size_t count,
                                     pawl_error *err);

/*
 * Saves all these offsets, or none of them, and clears what was planned for them. When it returns PAWL_OK they are
 * durable. An answer that was lost is resolved by reading back, and the save is sent again if it was not applied, until
 * the store's timeout.
 *
 * PAWL_FENCED: somebody else is the owner now; PAWL_CONFLICT: another offset is stored than expected; the message names
 * the partition and what was found, and nothing was written. PAWL_OUTCOME_UNKNOWN: the store could not be read back;
 * starting again is safe, since the store is read first.
 *
 * After pawl_store_begin() it commits that transaction, results and all, and ends it whatever it returns. It cannot be
 * sent again, since the results are gone with it: PAWL_FAILED with PAWL_ERROR_RETRIABLE means that nothing was written,
 * and that begin and flush may run again for the same batch.
 */
PAWL_API pawl_status pawl_store_save(pawl_store *store, const char *group, const pawl_save_line *lines, size_t count,
                                     pawl_error *err);

/*
 * For stores with PAWL_STORE_TRANSACTION: opens the transaction of the save that follows, checks epochs and expected
 * offsets and locks them, and gives the native handle (borrowed until save or rollback). The lines are copied. The next
 * call has to be a rollback, or a save with these lines: in their order, with another `until`, batch or print where need
 * be, without those that are held back. Without any line left nothing is saved, and the results are rolled back, too.
 *
 * PAWL_FENCED, PAWL_CONFLICT: as for save. PAWL_TIMEOUT: another process holds the lock.
 */
PAWL_API pawl_status pawl_store_begin(pawl_store *store, const char *group, const pawl_save_line *lines, size_t count,
                                      void **ret_handle, pawl_error *err);

/* Ends the transaction of a pawl_store_begin() without a save. Without one it does nothing. */
PAWL_API void pawl_store_rollback(pawl_store *store);

/*
 * Gives partitions up: clears the owner where the epoch is still the given one. Offsets and epochs stay, and the name of
 * the client where the store can keep it, so that a job which was fenced can say by whom.
 */
PAWL_API pawl_status pawl_store_release(pawl_store *store, const char *group, const pawl_acquire_line *lines,
                                        size_t count, pawl_error *err);

/* Takes a group's name, and a partition when one group is listed (else NULL). Borrowed. False ends the listing. */
typedef bool (*pawl_list_fn)(void *user, const char *group, const pawl_partition *partition);

/*
 * Lists what is stored: with group NULL every group, once; else the partitions of that group which have an offset or an
 * owner. Sorted by name, then number. An unknown group is an empty list.
 */
PAWL_API pawl_status pawl_store_list(pawl_store *store, const char *group, pawl_list_fn fn, void *user,
                                     pawl_error *err);

/* Forgets the offsets, pending ranges and prints of all these partitions, or of none; says which there were. */
PAWL_API pawl_status pawl_store_remove(pawl_store *store, const char *group, pawl_remove_line *lines, size_t count,
                                       pawl_error *err);

PAWL_END_DECLS

#endif
