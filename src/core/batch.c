/*
 * batch.c - batches and ranges, as user code sees them
 */
#include "core/batch.h"

#include <glib.h>
#include <inttypes.h>

#include <pawl/sys/source.h>

#include "util/log.h"

pawl_batch *
pawl__batch_new(int64_t number, const char *group, const pawl_log *log, size_t count)
{
    pawl_batch *batch = g_new0(pawl_batch, 1);

    batch->number = number;
    batch->group = group;
    batch->log = log;
    batch->count = count;
    batch->ranges = g_new0(pawl_range, count);
    batch->flushed = g_new0(pawl_range *, count);
    for (size_t i = 0; i < count; i++) {
        batch->ranges[i].batch = batch;
        atomic_init(&batch->ranges[i].phase, PAWL_PHASE_WAITING);
        batch->ranges[i].attempt = 1;
    }
    return batch;
}

void
pawl__batch_free(pawl_batch *batch)
{
    if (batch == NULL)
        return;
    for (size_t i = 0; i < batch->count; i++)
        pawl_range_set_slot(&batch->ranges[i], NULL, NULL);
    g_free(batch->ranges);
    g_free(batch->flushed);
    g_free(batch);
}

void
pawl__range_enter(pawl_range *range, pawl_phase phase)
{
    atomic_store_explicit(&range->phase, (int) phase, memory_order_relaxed);
}

void
pawl__range_reset(pawl_range *range)
{
    atomic_store(&range->handed, 0);
    atomic_store(&range->opened_ms, 0);
    pawl__range_enter(range, PAWL_PHASE_WAITING);
    pawl_range_set_slot(range, NULL, NULL);
    range->begun = false;
    range->until_print = pawl__print_none();
    range->records = range->bytes = range->rejected = 0;
}

bool
pawl__batch_is_void(const pawl_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->ranges[i].state != PAWL__RANGE_LOST && batch->ranges[i].state != PAWL__RANGE_DROPPED)
            return false;
    return true;
}

/* A range that was skipped, but before it lies what a sink holds back: only flush can say that that is safe. */
static bool
is_skipped_over_held(const pawl_range *range)
{
    return range->state == PAWL__RANGE_SKIPPED && pawl__holding_is_held(range->holding);
}

void
pawl__batch_gather(pawl_batch *batch)
{
    batch->flushed_count = 0;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->ranges[i].state == PAWL__RANGE_DONE || is_skipped_over_held(&batch->ranges[i]))
            batch->flushed[batch->flushed_count++] = &batch->ranges[i];
}

void
pawl__batch_unflush(pawl_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        batch->ranges[i].held = false;
        batch->ranges[i].saved_to = batch->ranges[i].until;
    }
}

/* ------------------------------------------------------------------------------------------------------- records -- */

bool
pawl_record_header(const pawl_record *record, size_t index, pawl_header *ret_header)
{
    return record->_ops != NULL && record->_ops->header(record, index, ret_header);
}

/* -------------------------------------------------------------------------------------------------------- ranges -- */

const char *
pawl_range_topic(const pawl_range *range)
{
    return range->holding->partition.topic;
}

int32_t
pawl_range_partition(const pawl_range *range)
{
    return range->holding->partition.number;
}

int64_t
pawl_range_from(const pawl_range *range)
{
    return range->from;
}

int64_t
pawl_range_until(const pawl_range *range)
{
    return range->until;
}

int
pawl_range_attempt(const pawl_range *range)
{
    return range->attempt;
}

const pawl_batch *
pawl_range_batch(const pawl_range *range)
{
    return range->batch;
}

void
pawl_range_set_slot(pawl_range *range, void *slot, void (*free_fn)(void *slot))
{
    if (range->slot != NULL && range->slot_free != NULL && range->slot != slot)
        range->slot_free(range->slot);
    range->slot = slot;
    range->slot_free = free_fn;
}

void *
pawl_range_slot(const pawl_range *range)
{
    return range->slot;
}

void *
pawl_range_thread(const pawl_range *range)
{
    return range->thread;
}

void
pawl_range_reject(pawl_range *range, const pawl_record *record, const char *reason)
{
    range->rejected++;
    pawl__log(range->batch->log, PAWL_LOG_WARN, "job", "%s [%" PRId32 "] offset %" PRId64 ": rejected: %s",
              pawl_range_topic(range), pawl_range_partition(range), record->offset, reason);
}

pawl_status
pawl_range_saved_to(pawl_range *range, int64_t offset, pawl_error *err)
{
    if (!range->batch->in_flush)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "pawl_range_saved_to() was called outside of flush");
    if (offset < range->from || offset > range->until)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "%s [%" PRId32 "]: saved_to %" PRId64 " is outside of the range %" PRId64 "..%" PRId64,
                              pawl_range_topic(range), pawl_range_partition(range), offset, range->from, range->until);
    range->saved_to = offset;
    range->held = false;
    return PAWL_OK;
}

void
pawl_range_hold(pawl_range *range)
{
    range->held = true;
}

/* ------------------------------------------------------------------------------------------------------- batches -- */

int64_t
pawl_batch_number(const pawl_batch *batch)
{
    return batch->number;
}

const char *
pawl_batch_group(const pawl_batch *batch)
{
    return batch->group;
}

size_t
pawl_batch_count(const pawl_batch *batch)
{
    return batch->flushed_count;
}

pawl_range *
pawl_batch_range(const pawl_batch *batch, size_t index)
{
    return index < batch->flushed_count ? batch->flushed[index] : NULL;
}

pawl_status
pawl_batch_transaction(const pawl_batch *batch, const char *scheme, void **ret_handle, pawl_error *err)
{
    if (!batch->in_flush)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "a batch's transaction is open inside flush only");
    if (batch->scheme == NULL)
        return pawl_error_set(err, PAWL_UNSUPPORTED, 0, 0, "the store of this job has no transactions");
    if (g_strcmp0(batch->scheme, scheme) != 0)
        return pawl_error_set(err, PAWL_UNSUPPORTED, 0, 0, "the store of this job is %s:, not %s:", batch->scheme,
                              scheme);
    *ret_handle = batch->handle;
    return PAWL_OK;
}

bool
pawl_batch_must_flush(const pawl_batch *batch)
{
    return batch->must_flush;
}
