/*
 * batch.h - what user code sees of a batch: ranges and their records
 *
 * A batch is a set of ranges, one a partition. A range is half-open: the records with from <= offset < until. One that is
 * run again after a crash has the same `from`; with replay = exact also the same `until`, and then (group, topic,
 * partition, from, until) is its idempotence key.
 */
#ifndef PAWL_BATCH_H
#define PAWL_BATCH_H

#include <pawl/error.h>
#include <pawl/offsets.h>
#include <pawl/visibility.h>

PAWL_BEGIN_DECLS

typedef struct pawl_batch pawl_batch;
typedef struct pawl_range pawl_range;

/* ------------------------------------------------------------------------------------------------------- records -- */

/* What a record's timestamp means (KIP-32). */
typedef enum pawl_timestamp_type {
    PAWL_TIMESTAMP_NONE,
    PAWL_TIMESTAMP_CREATE_TIME,
    PAWL_TIMESTAMP_LOG_APPEND_TIME,
} pawl_timestamp_type;

/*
 * A record, borrowed: everything in it is valid until the process function that got it returns.
 *
 * A NULL key or value is "null" (a value of NULL is a tombstone); one that is there and empty has a size of 0 and a
 * pointer that is not NULL. Neither ends with a NUL. The layout is frozen; fields with an underscore are not yours.
 */
typedef struct pawl_record {
    const void *key;
    const void *value;
    size_t key_size;
    size_t value_size;
    int64_t offset;
    int64_t timestamp_ms; /* milliseconds since 1970, UTC; -1 where timestamp_type is NONE */
    pawl_timestamp_type timestamp_type;
    const struct pawl_record_ops *_ops;
    const void *_native;
} pawl_record;

/* A header. The name is NUL-terminated; a NULL value is "null". Borrowed like its record. */
typedef struct pawl_header {
    const char *name;
    const void *value;
    size_t value_size;
} pawl_header;

/*
 * Gives the record's header number `index`, counted from 0, in the order in which they were produced; the same name may
 * come more than once (KIP-82). False, and *ret_header untouched, when there is none of that number.
 */
PAWL_API bool pawl_record_header(const pawl_record *record, size_t index, pawl_header *ret_header);

/* -------------------------------------------------------------------------------------------------------- ranges -- */

/* Borrowed like the range itself: in a hook until it returns, through a batch until flush returns. */
PAWL_API const char *pawl_range_topic(const pawl_range *range);
PAWL_API int32_t pawl_range_partition(const pawl_range *range);

/* The first offset of the range, and the one after its last. from < until. */
PAWL_API int64_t pawl_range_from(const pawl_range *range);
PAWL_API int64_t pawl_range_until(const pawl_range *range);

/* 1 when the range is processed for the first time in this run of the job; more after a PAWL_RETRY. */
PAWL_API int pawl_range_attempt(const pawl_range *range);

/* The batch that the range is in: for its number and its group. What else is known of a batch is for flush to ask. */
PAWL_API const pawl_batch *pawl_range_batch(const pawl_range *range);

/*
 * The user's state of this range: a pointer that lives from range_begin until the batch is over or the range is tried
 * again. `free_fn` (may be NULL) is called on it then, on any of the job's threads. Setting another frees the former.
 */
PAWL_API void pawl_range_set_slot(pawl_range *range, void *slot, void (*free_fn)(void *slot));
PAWL_API void *pawl_range_slot(const pawl_range *range);

/* What thread_init gave for the thread that runs the present hook; NULL without one, and in flush. Borrowed. */
PAWL_API void *pawl_range_thread(const pawl_range *range);

/*
 * Says that a record of this range is not accepted, and why. It is counted and logged with its coordinates, and the
 * range goes on: the record counts as handled. To be called inside process only, with a record of that call.
 */
PAWL_API void pawl_range_reject(pawl_range *range, const pawl_record *record, const char *reason);

/* ------------------------------------------------------------------------------------------------------- batches -- */

/* The number that is stored with each partition of the batch. For people: two members may use the same one. */
PAWL_API int64_t pawl_batch_number(const pawl_batch *batch);

PAWL_API const char *pawl_batch_group(const pawl_batch *batch);

/* The ranges that were processed, ordered by topic and partition; those that had no record are among them. */
PAWL_API size_t pawl_batch_count(const pawl_batch *batch);
PAWL_API pawl_range *pawl_batch_range(const pawl_batch *batch, size_t index);

/*
 * The open transaction of a store that commits results and offsets together, as a borrowed native handle that is valid
 * until flush returns: everything written through it is committed with the offsets, or not at all. `scheme` names the
 * kind of store whose handle the caller can use. Most callers want the typed function of a backend's own header, such
 * as pawl_sqlite_transaction(). PAWL_UNSUPPORTED: the job's store is of another kind, or has no transactions.
 */
PAWL_API pawl_status pawl_batch_transaction(const pawl_batch *batch, const char *scheme, void **ret_handle,
                                            pawl_error *err);

/*
 * For a sink that gathers several batches before it writes. Both are called inside flush. Without either, flush's DONE
 * means that all records of all ranges are safe, and `until` is saved for each. Not with replay = exact, which promises
 * the same ranges again: the job ends then with PAWL_UNSUPPORTED.
 *
 * saved_to: the records below `offset` are safe, those from it on are not yet; from <= offset <= until.
 * hold: none of this range's records is safe yet; the next save that is not held covers it.
 */
PAWL_API pawl_status pawl_range_saved_to(pawl_range *range, int64_t offset, pawl_error *err);
PAWL_API void pawl_range_hold(pawl_range *range);

/* True when holding has reached its limit (`max_held_batches`): after this flush everything has to be safe. */
PAWL_API bool pawl_batch_must_flush(const pawl_batch *batch);

PAWL_END_DECLS

#endif
