/*
 * hunger.c - what a lane does when nothing comes
 *
 *     a broker thread may sleep: it is nudged -> an event was missed: the tap starts over -> nothing can be read: the range
 *     is given up, and says why
 *
 * librdkafka puts end-of-partition events and errors into a forwarded queue after it has unlocked the partition's own, so
 * that one may come late: into the queue of a lane that has settled, and has the tap no more. There it is of no use, since
 * no lane touches another's taps. But it comes once, and its range may have no other end. So halfway to stall_timeout the
 * range starts over from where it stands, on which librdkafka tells again whatever there is to tell.
 */
#include "source/kafka/lane.h"

#include <inttypes.h>
#include <poll.h>
#include <unistd.h>

#include "util/log.h"
#include "util/text.h"

/* An empty queue is taken for a sleeping broker thread after this long, then twice as long, and so on. */
#define HUNGRY_MS 5

void
pawl__kafka_note_activity(pawl_source_lane *lane, int64_t now)
{
    lane->idle_since_ms = now;
    lane->hungry_at_ms = now + HUNGRY_MS;
}

void
pawl__kafka_watch_level(pawl_source_lane *lane, size_t received)
{
    const kafka_budget *budget = &lane->source->budget;
    const rd_kafka_message_t *last;
    int64_t length, bytes;

    if (lane->source->nudger == NULL || received == 0)
        return;
    last = lane->messages[received - 1];
    lane->average_bytes = (lane->average_bytes * 7 + (int64_t) last->len) / 8;
    length = (int64_t) rd_kafka_queue_length(lane->queue);
    bytes = length * lane->average_bytes;
    if (length >= budget->queue_messages || bytes >= budget->queue_bytes) {
        lane->was_full = true;
    } else if (lane->was_full && length < budget->queue_messages / 2 && bytes < budget->queue_bytes / 2) {
        lane->was_full = false;
        if (lane->last != NULL)
            pawl__kafka_nudge(lane->source->nudger, lane->last->partition.topic, lane->last->partition.number);
    }
}

/* The open tap that has gone without progress for longest. */
static pawl_source_tap *
hungriest(const pawl_source_lane *lane)
{
    pawl_source_tap *hungriest = NULL;

    for (guint i = 0; i < lane->open->len; i++) {
        pawl_source_tap *tap = g_ptr_array_index(lane->open, i);

        if (hungriest == NULL || tap->progress_ms < hungriest->progress_ms)
            hungriest = tap;
    }
    return hungriest;
}

/* When the patience with a tap is at its end. */
static int64_t
patience_ends_ms(const pawl_source_lane *lane, const pawl_source_tap *tap)
{
    int64_t timeout_ms = lane->source->stall_timeout_ms;

    return MAX(tap->progress_ms, lane->idle_since_ms) + (tap->started_over ? timeout_ms : timeout_ms / 2);
}

/* Nothing that was received is left: all below `reached` was delivered. */
static pawl_status
start_over(pawl_source_lane *lane, pawl_source_tap *tap, pawl_error *err)
{
    pawl_status status;

    pawl__log(lane->source->log, PAWL_LOG_INFO, "source",
              "%s [%" PRId32 "] at offset %" PRId64 ": nothing comes, starting over", tap->partition.topic,
              tap->partition.number, tap->reached);
    tap->started_over = true;
    status = pawl__kafka_tap_restart(tap, tap->reached, err);
    if (status == PAWL_OK)
        pawl__kafka_tap_open(tap, lane->queue);
    return status;
}

static void
say_stalled(kafka_source *source, const pawl_source_tap *tap, int64_t now, pawl_error *err)
{
    char timeout[PAWL__DURATION_TEXT_SIZE], complaint[PAWL__KAFKA_COMPLAINT_SIZE];

    pawl__kafka_complaint_text(&source->complaint, now, complaint);
    pawl_error_set(
        err, PAWL_STALLED, 0, 0, "%s [%" PRId32 "] at offset %" PRId64 ": nothing came for stall_timeout = %s%s%s",
        tap->partition.topic, tap->partition.number, tap->reached,
        pawl__text_from_duration(source->stall_timeout_ms, timeout), complaint[0] != '\0' ? "; " : "", complaint);
}

bool
pawl__kafka_lose_patience(pawl_source_lane *lane, int64_t now, pawl_delivery *ret_delivery)
{
    pawl_source_tap *tap = hungriest(lane);

    if (tap == NULL || now < patience_ends_ms(lane, tap))
        return false;
    if (tap->started_over)
        say_stalled(lane->source, tap, now, &ret_delivery->err);
    else if (start_over(lane, tap, &ret_delivery->err) == PAWL_OK)
        return false;
    ret_delivery->kind = PAWL_DELIVERY_FAILED;
    ret_delivery->cookie = tap->cookie;
    pawl__kafka_range_shut(lane, tap);
    return true;
}

void
pawl__kafka_nudge_hungry(pawl_source_lane *lane, int64_t now)
{
    const pawl_source_tap *tap = hungriest(lane);

    if (lane->source->nudger == NULL || tap == NULL || now < lane->hungry_at_ms)
        return;
    pawl__kafka_nudge(lane->source->nudger, tap->partition.topic, tap->partition.number);
    lane->hungry_at_ms = now + (now - lane->idle_since_ms) + HUNGRY_MS;
}

void
pawl__kafka_wait_for_event(pawl_source_lane *lane, int64_t now, int64_t deadline_ms)
{
    struct pollfd item = {.fd = lane->event_fd, .events = POLLIN};
    const pawl_source_tap *tap = hungriest(lane);
    int64_t until_ms = deadline_ms;
    uint64_t count;

    if (tap != NULL) {
        until_ms = MIN(until_ms, patience_ends_ms(lane, tap));
        if (lane->source->nudger != NULL)
            until_ms = MIN(until_ms, lane->hungry_at_ms);
    }
    if (poll(&item, 1, (int) CLAMP(until_ms - now, 0, INT32_MAX)) > 0 && read(lane->event_fd, &count, sizeof count) < 0)
        return; /* the counter was read already: look at the queue all the same */
}
