/*
 * batch.h - the inside of a batch and of its ranges
 *
 * Who owns what: the loop makes the batch and frees it. While the crew runs it, a range belongs to the worker that opened
 * it; before and after, everything belongs to the loop.
 */
#ifndef PAWL_CORE_BATCH_H
#define PAWL_CORE_BATCH_H

#include <stdatomic.h>

#include <pawl/job.h>
#include <pawl/log.h>

#include "core/call.h"
#include "core/holdings.h"

/* How far a range has come. */
typedef enum pawl__range_state {
    PAWL__RANGE_WAITING, /* not opened yet, or to be opened again at retry_at_ms */
    PAWL__RANGE_OPEN,    /* on a lane */
    PAWL__RANGE_DONE,    /* every record was handed over and accepted */
    PAWL__RANGE_SKIPPED, /* user code failed for good, and on_error says to go on without it */
    PAWL__RANGE_DROPPED, /* its partition is another's now */
    PAWL__RANGE_LOST,    /* its records are not in the log (any more): the next plan deals with that */
} pawl__range_state;

struct pawl_range {
    pawl_batch *batch;
    pawl__holding *holding;
    int64_t from, until;

    pawl__range_state state;
    int attempt;
    int64_t retry_at_ms;
    atomic_bool dropped; /* by the loop: the worker that has it lets it be */
    bool begun;          /* range_begin was called in this attempt */

    void *slot;
    void (*slot_free)(void *slot);
    void *thread;

    pawl__print from_print;  /* known: the record before `from` comes first, and should have this */
    bool remade;             /* it had another */
    pawl__print until_print; /* none: there is no record before `until`, or it was not read yet */

    bool stands_in; /* for what a sink holds back of earlier batches: nothing of it is read or counted in this one */

    int64_t records, bytes, rejected; /* of this attempt */

    /* For pawl_job_report(), on any thread. */
    atomic_int phase;       /* pawl_phase */
    atomic_llong handed;    /* the next offset to be handed over; below `from`: from */
    atomic_llong opened_ms; /* when this attempt began; 0: not yet */
    atomic_int tries;       /* attempt */
    pawl__call call;        /* the hook that this range is in */

    bool held;        /* flush: nothing of it is safe yet */
    int64_t saved_to; /* flush: what is below is safe */
};

struct pawl_batch {
    int64_t number;
    const char *group;   /* borrowed from the job */
    const pawl_log *log; /* likewise */
    pawl_range *ranges;  /* all that were planned */
    size_t count;
    pawl_range **flushed; /* those that flush sees: done ones, and skipped ones that follow what is held back */
    size_t flushed_count;

    bool in_flush;
    bool must_flush;
    const char *scheme; /* of the open transaction's handle; NULL: none is open */
    void *handle;
};

/* Makes a batch with room for `count` ranges that wait, zeroed but for their batch and attempt. */
pawl_batch *pawl__batch_new(int64_t number, const char *group, const pawl_log *log, size_t count);

/* Frees it with the slots of its ranges. NULL is fine. */
void pawl__batch_free(pawl_batch *batch);

/* Notes how far a range has come, for pawl_job_report(). */
void pawl__range_enter(pawl_range *range, pawl_phase phase);

/* Forgets what an attempt has left: the slot, the counts. */
void pawl__range_reset(pawl_range *range);

/* Whether nothing is left of it, since all its ranges were lost or dropped while they were read. */
bool pawl__batch_is_void(const pawl_batch *batch);

/* Gathers the ranges for flush. */
void pawl__batch_gather(pawl_batch *batch);

/* Takes back what an earlier flush of this batch said. */
void pawl__batch_unflush(pawl_batch *batch);

#endif
