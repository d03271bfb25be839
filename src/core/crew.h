/*
 * crew.h - the worker threads that fetch and process the ranges of a batch
 *
 * Each worker has a lane of the source. The loop gives the crew a batch and waits; the workers share its ranges out among
 * themselves, largest first, and a worker that has nothing left takes what another has not opened yet.
 *
 * Threads: all functions are for the loop's thread, but pawl__crew_abandon() and pawl__crew_nudge(). A range belongs to the
 * worker that opened it until the crew is through with the batch; a failure, and what is left to open, are guarded by the
 * crew's lock.
 */
#ifndef PAWL_CORE_CREW_H
#define PAWL_CORE_CREW_H

#include <stdatomic.h>

#include <pawl/job.h>

#include "core/batch.h"
#include "core/settings.h"
#include "core/source.h"

typedef struct pawl__crew pawl__crew;

/* Counters that grow while a batch runs; any thread may read them. */
typedef struct pawl__crew_counts {
    atomic_llong retries;
} pawl__crew_counts;

/* Starts the workers. Everything is borrowed until pawl__crew_free(). Fails when a thread_init hook says so. */
pawl_status pawl__crew_new(const pawl__source *source, const pawl_hooks *hooks, const pawl__settings *settings,
                           const pawl_log *log, pawl__crew_counts *counts, pawl__crew **ret_crew, pawl_error *err);

/* Ends the workers. NULL is fine. */
void pawl__crew_free(pawl__crew *crew);

/* Gives the workers a batch. */
void pawl__crew_start(pawl__crew *crew, pawl_batch *batch);

/* Waits until they are through with it; false when the deadline passed first, or when the loop was nudged. */
bool pawl__crew_wait(pawl__crew *crew, int64_t deadline_ms);

/*
 * How the batch that they are through with went. PAWL_OK: each range is DONE, SKIPPED or LOST. PAWL_CANCELLED: abandoned.
 * Else nothing of the batch may be saved: the user's code or the source failed for good.
 */
pawl_status pawl__crew_result(pawl__crew *crew, pawl_error *err);

/* Makes pawl__crew_wait() return. Any thread. */
void pawl__crew_nudge(pawl__crew *crew);

/* Makes the workers leave the ranges that were marked as dropped. */
void pawl__crew_drop_ranges(pawl__crew *crew);

/* Makes the workers leave the batch in hand: what becomes of it is of no interest any more. */
void pawl__crew_drop(pawl__crew *crew);

/* Makes the workers leave the batch in hand, and each later one at once: its result is PAWL_CANCELLED. Any thread. */
void pawl__crew_abandon(pawl__crew *crew);

#endif
