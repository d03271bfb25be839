/*
 * lane.c - the records of the ranges that are open on a lane
 *
 * Nothing is read ahead: a tap knows the next offset, and looks into the log when its lane is asked. Open ranges take
 * turns, so that chunks of different ranges come interleaved as they do from brokers.
 *
 * What the core owes a source is asserted here: a tap has one user at a time, and its ranges follow each other.
 */
#include "source/memory/cluster.h"

#include <inttypes.h>
#include <string.h>

#include "util/clock.h"

struct pawl_source_lane {
    memory_source *source;
    bool woken;
    GPtrArray *open; /* taps */
    guint turn;      /* which of them comes first */
    GArray *records; /* pawl_record: the last delivery */
};

pawl_source_lane *
pawl__memory_lane_new(memory_source *source)
{
    pawl_source_lane *lane = g_new0(pawl_source_lane, 1);

    lane->source = source;
    lane->open = g_ptr_array_new();
    lane->records = g_array_new(FALSE, FALSE, sizeof(pawl_record));
    return lane;
}

void
pawl__memory_lane_free(pawl_source_lane *lane)
{
    g_ptr_array_unref(lane->open);
    g_array_unref(lane->records);
    g_free(lane);
}

pawl_source_lane *
pawl__memory_lane(void *self, int index)
{
    memory_source *source = self;

    return g_ptr_array_index(source->lanes, index);
}

void
pawl__memory_wake(void *self)
{
    memory_source *source = self;

    pawl__wait_lock(&source->cluster->wait);
    for (guint i = 0; i < source->lanes->len; i++)
        ((pawl_source_lane *) g_ptr_array_index(source->lanes, i))->woken = true;
    pawl__wait_wake(&source->cluster->wait);
    pawl__wait_unlock(&source->cluster->wait);
}

/* -------------------------------------------------------------------------------------------------------- ranges -- */

void
pawl__memory_range_open(pawl_source_lane *lane, pawl_source_tap *tap, int64_t from, int64_t until, void *cookie)
{
    pawl__memory_cluster *cluster = lane->source->cluster;

    pawl__wait_lock(&cluster->wait);
    g_assert(tap->lane == NULL);
    g_assert(tap->position == from && from < until);
    tap->lane = lane;
    tap->until = until;
    tap->cookie = cookie;
    tap->chunks = 0;
    tap->progress_ms = pawl__clock_ms();
    g_ptr_array_add(lane->open, tap);
    cluster->open++;
    cluster->most_open = MAX(cluster->most_open, cluster->open);
    pawl__wait_unlock(&cluster->wait);
}

/* With the lock held. */
static void
shut(pawl_source_lane *lane, pawl_source_tap *tap)
{
    if (tap->lane == NULL)
        return;
    g_assert(tap->lane == lane);
    tap->log->awaited = false;
    tap->lane = NULL;
    tap->cookie = NULL;
    g_ptr_array_remove(lane->open, tap);
    lane->source->cluster->open--;
}

void
pawl__memory_range_shut(pawl_source_lane *lane, pawl_source_tap *tap)
{
    pawl__wait_lock(&lane->source->cluster->wait);
    shut(lane, tap);
    pawl__wait_unlock(&lane->source->cluster->wait);
}

pawl_status
pawl__memory_rewind(pawl_source_lane *lane, pawl_source_tap *tap, int64_t offset, pawl_error *err)
{
    (void) err;
    pawl__wait_lock(&lane->source->cluster->wait);
    shut(lane, tap);
    tap->position = offset;
    pawl__wait_unlock(&lane->source->cluster->wait);
    return PAWL_OK;
}

/* ---------------------------------------------------------------------------------------------------- deliveries -- */

static bool
end_range(pawl_source_lane *lane, pawl_source_tap *tap, pawl_delivery *ret_delivery)
{
    ret_delivery->kind = PAWL_DELIVERY_END;
    ret_delivery->cookie = tap->cookie;
    tap->position = tap->until;
    shut(lane, tap);
    return true;
}

static bool
fail_range(pawl_source_lane *lane, pawl_source_tap *tap, pawl_status status, unsigned flags, const char *why,
           pawl_delivery *ret_delivery)
{
    ret_delivery->kind = PAWL_DELIVERY_FAILED;
    ret_delivery->cookie = tap->cookie;
    pawl_error_set(&ret_delivery->err, status, flags, 0, "%s [%" PRId32 "] at offset %" PRId64 ": %s",
                   tap->log->partition.topic, tap->log->partition.number, tap->position, why);
    shut(lane, tap);
    return true;
}

static void
add_record(pawl_source_lane *lane, const memory_record *record)
{
    pawl_record view = {
        .key = record->key,
        .key_size = record->key != NULL ? strlen(record->key) : 0,
        .value = record->value,
        .value_size = record->value != NULL ? strlen(record->value) : 0,
        .offset = record->offset,
        .timestamp_ms = record->timestamp_ms,
        .timestamp_type = PAWL_TIMESTAMP_CREATE_TIME,
    };

    g_array_append_val(lane->records, view);
}

/* The next records of a range; false when none of those that are left is there. */
static bool
deliver_records(pawl_source_lane *lane, pawl_source_tap *tap, pawl_delivery *ret_delivery)
{
    const memory_log *log = tap->log;
    int64_t until = MIN(tap->until, pawl__memory_end(lane->source, log));

    g_array_set_size(lane->records, 0);
    for (guint i = pawl__memory_first_at(log, tap->position);
         i < log->records->len && lane->records->len < (guint) lane->source->cluster->chunk; i++) {
        const memory_record *record = &g_array_index(log->records, memory_record, i);

        if (record->offset >= until)
            break;
        add_record(lane, record);
        tap->position = record->offset + 1;
    }
    if (lane->records->len == 0)
        return false;
    tap->chunks++;
    tap->progress_ms = pawl__clock_ms();
    ret_delivery->kind = PAWL_DELIVERY_RECORDS;
    ret_delivery->cookie = tap->cookie;
    ret_delivery->records = (const pawl_record *) (const void *) lane->records->data;
    ret_delivery->count = lane->records->len;
    return true;
}

/* True when it made a delivery. */
static bool
serve(pawl_source_lane *lane, pawl_source_tap *tap, pawl_delivery *ret_delivery)
{
    memory_log *log = tap->log;

    if (log->stalled) {
        if (pawl__clock_ms() - tap->progress_ms < lane->source->stall_timeout_ms)
            return false;
        return fail_range(lane, tap, PAWL_STALLED, 0, "nothing came for stall_timeout", ret_delivery);
    }
    if (log->failures > 0 && (log->at_once || tap->chunks > 0)) {
        log->failures--;
        return fail_range(lane, tap, log->failure, log->failure_flags, "the cluster in memory fails", ret_delivery);
    }
    if (tap->position < log->low || tap->position > log->high)
        return fail_range(lane, tap, PAWL_DATA_LOSS, 0, "out of range", ret_delivery);
    if (deliver_records(lane, tap, ret_delivery))
        return true;
    return pawl__memory_end(lane->source, log) >= tap->until && end_range(lane, tap, ret_delivery);
}

static bool
serve_open(pawl_source_lane *lane, pawl_delivery *ret_delivery)
{
    guint count = lane->open->len;

    for (guint i = 0; i < count; i++) {
        pawl_source_tap *tap = g_ptr_array_index(lane->open, (lane->turn + i) % count);

        if (!serve(lane, tap, ret_delivery))
            continue;
        lane->turn++;
        return true;
    }
    return false;
}

/* When to look for stalled ranges, if nothing happens before. */
static int64_t
stalled_at_ms(const pawl_source_lane *lane)
{
    int64_t at_ms = PAWL__NEVER;

    for (guint i = 0; i < lane->open->len; i++) {
        const pawl_source_tap *tap = g_ptr_array_index(lane->open, i);

        if (tap->log->stalled)
            at_ms = MIN(at_ms, tap->progress_ms + lane->source->stall_timeout_ms);
    }
    return at_ms;
}

/* Tells tests which ranges this lane waits for. Only news wakes: other lanes wait for the same condition. */
static void
tell_awaited(pawl_source_lane *lane)
{
    bool news = false;

    for (guint i = 0; i < lane->open->len; i++) {
        memory_log *log = ((pawl_source_tap *) g_ptr_array_index(lane->open, i))->log;

        news = news || !log->awaited;
        log->awaited = true;
    }
    if (news)
        pawl__wait_wake(&lane->source->cluster->wait);
}

void
pawl__memory_next(pawl_source_lane *lane, int64_t deadline_ms, pawl_delivery *ret_delivery)
{
    pawl__wait *wait = &lane->source->cluster->wait;

    pawl_error_clear(&ret_delivery->err);
    ret_delivery->kind = PAWL_DELIVERY_NONE;
    pawl__wait_lock(wait);
    while (!lane->woken && !serve_open(lane, ret_delivery)) {
        if (pawl__clock_ms() >= deadline_ms)
            break;
        tell_awaited(lane);
        pawl__wait_until(wait, MIN(deadline_ms, stalled_at_ms(lane)));
    }
    if (ret_delivery->kind == PAWL_DELIVERY_NONE)
        lane->woken = false;
    pawl__wait_unlock(wait);
}

void
pawl__memory_settle(pawl_source_lane *lane)
{
    pawl__wait_lock(&lane->source->cluster->wait);
    while (lane->open->len > 0)
        shut(lane, g_ptr_array_index(lane->open, 0));
    pawl__wait_unlock(&lane->source->cluster->wait);
}
