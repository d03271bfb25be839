/*
 * lane.c - a worker's lane: ranges are opened on it, and deliveries come out of it
 */
#include "source/kafka/lane.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "util/partition.h"
#include "util/clock.h"

/* ---------------------------------------------------------------------------------------------------- life cycle -- */

pawl_source_lane *
pawl__kafka_lane_new(kafka_source *source)
{
    pawl_source_lane *lane = g_new0(pawl_source_lane, 1);

    lane->source = source;
    lane->own = g_hash_table_new(pawl__partition_hash, pawl__partition_equal);
    lane->open = g_ptr_array_new();
    lane->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (size_t i = 0; i < PAWL__LANE_ROOM; i++)
        lane->records[i]._ops = &pawl__kafka_record_ops;
    return lane;
}

void
pawl__kafka_lane_connect(pawl_source_lane *lane, rd_kafka_t *client)
{
    static const uint64_t one = 1;

    lane->queue = rd_kafka_queue_new(client);
    rd_kafka_queue_io_event_enable(lane->queue, lane->event_fd, &one, sizeof one);
}

static void
forget_last(pawl_source_lane *lane)
{
    lane->last = NULL;
    lane->last_topic = NULL;
}

void
pawl__kafka_lane_disown(pawl_source_lane *lane, const pawl_source_tap *tap)
{
    g_hash_table_remove(lane->own, &tap->partition);
    forget_last(lane);
}

void
pawl__kafka_lane_disconnect(pawl_source_lane *lane)
{
    pawl__kafka_give_back(lane);
    while (lane->next < lane->count)
        rd_kafka_message_destroy(lane->messages[lane->next++]);
    forget_last(lane);
    if (lane->queue != NULL) {
        rd_kafka_queue_io_event_enable(lane->queue, -1, NULL, 0);
        rd_kafka_queue_destroy(lane->queue);
    }
    lane->queue = NULL;
}

void
pawl__kafka_lane_free(pawl_source_lane *lane)
{
    pawl__kafka_lane_disconnect(lane);
    if (lane->event_fd >= 0)
        close(lane->event_fd);
    g_ptr_array_unref(lane->open);
    g_hash_table_unref(lane->own);
    g_free(lane);
}

pawl_source_lane *
pawl__kafka_lane(void *self, int index)
{
    kafka_source *source = self;

    return g_ptr_array_index(source->lanes, index);
}

void
pawl__kafka_wake(void *self)
{
    kafka_source *source = self;
    uint64_t one = 1;

    for (guint i = 0; i < source->lanes->len; i++) {
        pawl_source_lane *lane = g_ptr_array_index(source->lanes, i);

        atomic_store(&lane->woken, true);
        if (write(lane->event_fd, &one, sizeof one) < 0 && errno != EAGAIN)
            return; /* the descriptor is good for as long as the lane: cannot happen */
    }
}

/* -------------------------------------------------------------------------------------------------------- ranges -- */

void
pawl__kafka_range_open(pawl_source_lane *lane, pawl_source_tap *tap, int64_t from, int64_t until, void *cookie)
{
    tap->lane = lane;
    tap->cookie = cookie;
    tap->position = from;
    tap->until = until;
    tap->progress_ms = pawl__clock_ms();
    tap->started_over = false;
    if (lane->open->len == 0) /* what was idle so far had nothing to wait for */
        pawl__kafka_note_activity(lane, tap->progress_ms);
    g_hash_table_insert(lane->own, &tap->partition, tap);
    g_ptr_array_add(lane->open, tap);
    if (tap->reached < until)
        pawl__kafka_tap_open(tap, lane->queue);
}

void
pawl__kafka_range_shut(pawl_source_lane *lane, pawl_source_tap *tap)
{
    if (tap->lane == NULL)
        return;
    pawl__kafka_tap_shut(tap);
    tap->lane = NULL;
    tap->cookie = NULL;
    g_ptr_array_remove_fast(lane->open, tap);
}

/* ---------------------------------------------------------------------------------------------------------- next -- */

/* Takes what the queue has. False: it had nothing. */
static bool
receive(pawl_source_lane *lane)
{
    ssize_t received = rd_kafka_consume_batch_queue(lane->queue, 0, lane->messages, PAWL__LANE_ROOM);

    lane->next = 0;
    lane->count = received > 0 ? (size_t) received : 0;
    if (lane->count == 0)
        return false;
    pawl__kafka_watch_level(lane, lane->count);
    return true;
}

/* Waits until something can be delivered. False: the deadline passed, or wake was called. */
static bool
await_delivery(pawl_source_lane *lane, int64_t deadline_ms, pawl_delivery *ret_delivery)
{
    while (!atomic_exchange(&lane->woken, false)) {
        int64_t now;

        if (pawl__kafka_serve_open(lane, ret_delivery))
            return true;
        if (lane->next < lane->count || receive(lane)) {
            if (pawl__kafka_cut_run(lane, ret_delivery))
                return true;
            continue;
        }
        now = pawl__clock_ms();
        if (now >= deadline_ms)
            return false;
        if (pawl__kafka_lose_patience(lane, now, ret_delivery))
            return true;
        pawl__kafka_nudge_hungry(lane, now);
        pawl__kafka_wait_for_event(lane, now, deadline_ms);
    }
    return false;
}

/* Only deliveries count as progress: a partition that brings nothing but errors stalls as well as a silent one. */
void
pawl__kafka_next(pawl_source_lane *lane, int64_t deadline_ms, pawl_delivery *ret_delivery)
{
    ret_delivery->kind = PAWL_DELIVERY_NONE;
    pawl__kafka_give_back(lane);
    if (lane->delivered)
        pawl__kafka_note_activity(lane, pawl__clock_ms());
    lane->delivered = await_delivery(lane, deadline_ms, ret_delivery);
}

/* -------------------------------------------------------------------------------------------------- between ranges -- */

pawl_status
pawl__kafka_rewind(pawl_source_lane *lane, pawl_source_tap *tap, int64_t offset, pawl_error *err)
{
    size_t kept = lane->next;

    pawl__kafka_range_shut(lane, tap);
    for (size_t i = lane->next; i < lane->count; i++) {
        if (pawl__kafka_tap_of(lane, lane->messages[i]) == tap)
            rd_kafka_message_destroy(lane->messages[i]);
        else
            lane->messages[kept++] = lane->messages[i];
    }
    lane->count = kept;
    return pawl__kafka_tap_restart(tap, offset, err);
}

/*
 * With one lane, what is in its queue can stay there: the next ranges come to the same, and its taps stay its own. With
 * several, a tap may go to another lane, so what this one has of it is kept in the tap. No queue is forwarded here any more,
 * and librdkafka moves records to a forwarded queue under the lock that changing the forwarding takes: so this sees all
 * there will be of them. Events may come later: the next lane does without (see hunger.c).
 */
void
pawl__kafka_settle(pawl_source_lane *lane)
{
    pawl_delivery none = {.kind = PAWL_DELIVERY_NONE};

    pawl__kafka_give_back(lane);
    while (lane->open->len > 0)
        pawl__kafka_range_shut(lane, g_ptr_array_index(lane->open, 0));
    while (lane->next < lane->count || (lane->source->lane_count > 1 && receive(lane))) {
        rd_kafka_message_t *message = lane->messages[lane->next++];

        pawl__kafka_put_aside(lane, pawl__kafka_tap_of(lane, message), message, &none);
    }
    lane->next = lane->count = 0;
    if (lane->source->lane_count > 1)
        g_hash_table_remove_all(lane->own);
    forget_last(lane);
}
