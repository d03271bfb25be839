/*
 * lane.c - records, from a lane's queue to the ranges that are open on it
 *
 * The queue holds messages of all open taps, in runs: a fetch response puts thousands of one partition after each other.
 * A lane takes an array of them, cuts it into runs, and lends each run out as one delivery.
 *
 * A range is over when everything below its `until` was received (tap->reached): a record at or past `until` came, or an
 * end-of-partition event that lies there. An event that was queued before the range was planned lies below, and ends
 * nothing. So gaps of any length, control records and aborted transactions need no special case.
 */
#include "source/kafka/kafka.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/text.h"

/* Messages taken out of the queue at once: enough to spread the cost, few enough to stay in the cache. */
#define ARRAY_SIZE 2048

/* An empty queue is taken for a sleeping broker thread after this long, then twice as long, and so on. */
#define HUNGRY_MS 5

struct pawl_source_lane {
    kafka_source *source;
    rd_kafka_queue_t *queue;
    int event_fd;      /* written to by librdkafka when the queue is no longer empty, and by wake */
    atomic_bool woken; /* by wake */

    rd_kafka_message_t *messages[ARRAY_SIZE]; /* received, from `next` on not looked at yet */
    size_t next, count;
    rd_kafka_message_t *kept[ARRAY_SIZE]; /* taken from a tap to be lent */
    rd_kafka_message_t **lent;            /* in the last delivery: a part of one of these arrays */
    size_t lent_count;
    pawl_record records[ARRAY_SIZE]; /* of the messages lent */

    GPtrArray *open;       /* taps with a range open here */
    pawl_source_tap *last; /* the tap of the last run, and of which message that was */
    const rd_kafka_topic_t *last_topic;
    int32_t last_partition;

    bool delivered;        /* the last call of `next` gave something, and user code has had the time since then */
    int64_t idle_since_ms; /* since when nothing could be delivered */
    int64_t hungry_at_ms;  /* when to nudge because of that */
    int64_t average_bytes; /* of a value, lately */
    bool was_full;         /* the queue was over its limit: the broker thread may sleep */
};

/* ------------------------------------------------------------------------------------------------------- records -- */

static bool
record_header(const pawl_record *record, size_t index, pawl_header *ret_header)
{
    rd_kafka_headers_t *headers;

    /* librdkafka takes the index for an int without looking. */
    if (rd_kafka_message_headers(record->_native, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
        index >= rd_kafka_header_cnt(headers))
        return false;
    return rd_kafka_header_get_all(headers, index, &ret_header->name, &ret_header->value, &ret_header->value_size) ==
           RD_KAFKA_RESP_ERR_NO_ERROR;
}

static const struct pawl_record_ops record_ops = {.header = record_header};

/* All but `_ops`, which never changes. */
static void
fill_record(pawl_record *record, const rd_kafka_message_t *message)
{
    rd_kafka_timestamp_type_t type;

    record->key = message->key;
    record->key_size = message->key_len;
    record->value = message->payload;
    record->value_size = message->len;
    record->offset = message->offset;
    record->timestamp_ms = rd_kafka_message_timestamp(message, &type);
    record->timestamp_type = (pawl_timestamp_type) type; /* the same numbers, from KIP-32 */
    record->_native = message;
}

G_STATIC_ASSERT((int) PAWL_TIMESTAMP_NONE == (int) RD_KAFKA_TIMESTAMP_NOT_AVAILABLE);
G_STATIC_ASSERT((int) PAWL_TIMESTAMP_CREATE_TIME == (int) RD_KAFKA_TIMESTAMP_CREATE_TIME);
G_STATIC_ASSERT((int) PAWL_TIMESTAMP_LOG_APPEND_TIME == (int) RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME);

/* ---------------------------------------------------------------------------------------------------- life cycle -- */

pawl_source_lane *
pawl__kafka_lane_new(kafka_source *source)
{
    pawl_source_lane *lane = g_new0(pawl_source_lane, 1);

    lane->source = source;
    lane->open = g_ptr_array_new();
    lane->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (size_t i = 0; i < ARRAY_SIZE; i++)
        lane->records[i]._ops = &record_ops;
    return lane;
}

void
pawl__kafka_lane_connect(pawl_source_lane *lane, rd_kafka_t *client)
{
    static const uint64_t one = 1;

    lane->queue = rd_kafka_queue_new(client);
    rd_kafka_queue_io_event_enable(lane->queue, lane->event_fd, &one, sizeof one);
}

/* Gives back what the last delivery lent. */
static void
give_back(pawl_source_lane *lane)
{
    for (size_t i = 0; i < lane->lent_count; i++)
        rd_kafka_message_destroy(lane->lent[i]);
    lane->lent_count = 0;
}

static void
forget_last(pawl_source_lane *lane)
{
    lane->last = NULL;
    lane->last_topic = NULL;
}

void
pawl__kafka_lane_disconnect(pawl_source_lane *lane)
{
    give_back(lane);
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

static void
note_activity(pawl_source_lane *lane, int64_t now)
{
    lane->idle_since_ms = now;
    lane->hungry_at_ms = now + HUNGRY_MS;
}

void
pawl__kafka_range_open(pawl_source_lane *lane, pawl_source_tap *tap, int64_t from, int64_t until, void *cookie)
{
    tap->lane = lane;
    tap->cookie = cookie;
    tap->position = from;
    tap->until = until;
    tap->progress_ms = pawl__clock_ms();
    if (lane->open->len == 0) /* what was idle so far had nothing to wait for */
        note_activity(lane, tap->progress_ms);
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

/* Ends a range that was delivered whole. */
static void
end_range(pawl_source_lane *lane, pawl_source_tap *tap, pawl_delivery *ret_delivery)
{
    ret_delivery->kind = PAWL_DELIVERY_END;
    ret_delivery->cookie = tap->cookie;
    tap->position = tap->until;
    pawl__kafka_range_shut(lane, tap);
}

/* True when nothing of the open range is missing any more. */
static bool
is_complete(const pawl_source_tap *tap)
{
    const rd_kafka_message_t *kept = pawl__kafka_tap_peek(tap);

    return tap->reached >= tap->until && (kept == NULL || kept->offset >= tap->until);
}

/* ------------------------------------------------------------------------------------------------------ messages -- */

/* The tap of a message; runs are long, so it is nearly always the last one's. */
static pawl_source_tap *
tap_of(pawl_source_lane *lane, const rd_kafka_message_t *message)
{
    if (message->rkt != lane->last_topic || message->partition != lane->last_partition) {
        lane->last = message->rkt != NULL ? pawl__kafka_find_tap(lane->source, message) : NULL;
        lane->last_topic = message->rkt;
        lane->last_partition = message->partition;
    }
    return lane->last;
}

/* Notes how far a tap has come. False: the message is none of ours, older than what we have. */
static bool
note_reached(pawl_source_tap *tap, const rd_kafka_message_t *message)
{
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        tap->reached = MAX(tap->reached, message->offset);
        return false;
    }
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        return !pawl__kafka_is_loss(message) || message->offset >= tap->reached;
    if (message->offset < tap->reached)
        return false;
    tap->reached = message->offset + 1;
    return true;
}

/* Lends these messages out as the records of the range that is open on a tap. */
static void
lend(pawl_source_lane *lane, pawl_source_tap *tap, rd_kafka_message_t **messages, size_t count,
     pawl_delivery *ret_delivery)
{
    for (size_t i = 0; i < count; i++)
        fill_record(&lane->records[i], messages[i]);
    lane->lent = messages;
    lane->lent_count = count;
    ret_delivery->kind = PAWL_DELIVERY_RECORDS;
    ret_delivery->cookie = tap->cookie;
    ret_delivery->records = lane->records;
    ret_delivery->count = lane->lent_count;
}

/* -------------------------------------------------------------------------------------------------------- errors -- */

/* Errors that librdkafka goes on from by itself; if it does not, the range stalls in the end. */
static bool
is_passing(rd_kafka_resp_err_t code)
{
    switch (code) {
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
    case RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED:
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        return false;
    default:
        return true;
    }
}

/* Fails the range that is open on a tap. */
static void
fail_range(pawl_source_lane *lane, pawl_source_tap *tap, const rd_kafka_message_t *message, pawl_delivery *ret_delivery)
{
    bool lost = pawl__kafka_is_loss(message);

    ret_delivery->kind = PAWL_DELIVERY_FAILED;
    ret_delivery->cookie = tap->cookie;
    pawl_error_set(&ret_delivery->err, lost ? PAWL_DATA_LOSS : PAWL_FAILED, PAWL_ERROR_RETRIABLE, message->err,
                   "%s [%" PRId32 "] at offset %" PRId64 ": cannot be read: %s", tap->partition.topic,
                   tap->partition.number, MAX(tap->reached, tap->position), rd_kafka_message_errstr(message));
    pawl__kafka_range_shut(lane, tap);
}

/* ------------------------------------------------------------------------------------------------------- cutting -- */

/* Takes care of one message that cannot be lent now. True: it made a delivery. */
static bool
put_aside(pawl_source_lane *lane, pawl_source_tap *tap, rd_kafka_message_t *message, pawl_delivery *ret_delivery)
{
    bool failed = false;

    if (tap == NULL || !note_reached(tap, message)) {
        rd_kafka_message_destroy(message);
        return false;
    }
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        pawl__kafka_tap_keep(tap, message);
        return false;
    }
    if (is_passing(message->err)) {
        pawl__kafka_complain(&lane->source->complaint, rd_kafka_message_errstr(message));
    } else if (tap->lane == lane && message->offset < tap->until) {
        fail_range(lane, tap, message, ret_delivery);
        failed = true;
    } else {
        pawl__kafka_tap_keep(tap, message);
        return false;
    }
    rd_kafka_message_destroy(message);
    return failed;
}

/* The length of the run at the front of the array: messages that belong to the same open range. */
static size_t
measure_run(pawl_source_lane *lane, pawl_source_tap *tap)
{
    int64_t until = tap->until, reached = tap->reached;
    size_t end;

    for (end = lane->next; end < lane->count; end++) {
        rd_kafka_message_t *message = lane->messages[end];

        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR || message->offset >= until || message->offset < reached ||
            message->partition != lane->last_partition || message->rkt != lane->last_topic)
            break;
        reached = message->offset + 1;
    }
    tap->reached = reached;
    return end - lane->next;
}

/* Makes a delivery out of the front of the array. False: what was there was put aside. */
static bool
cut_run(pawl_source_lane *lane, pawl_delivery *ret_delivery)
{
    pawl_source_tap *tap = tap_of(lane, lane->messages[lane->next]);
    size_t length = 0;

    /* What was kept of a tap comes before what its queue brings. */
    if (tap != NULL && tap->lane == lane && pawl__kafka_tap_peek(tap) == NULL)
        length = measure_run(lane, tap);
    if (length == 0)
        return put_aside(lane, tap, lane->messages[lane->next++], ret_delivery);
    tap->progress_ms = lane->idle_since_ms;
    lend(lane, tap, &lane->messages[lane->next], length, ret_delivery);
    lane->next += length;
    return true;
}

/* Lends what a tap has kept for the range that is open on it now. */
static bool
lend_kept(pawl_source_lane *lane, pawl_source_tap *tap, pawl_delivery *ret_delivery)
{
    rd_kafka_message_t *message;
    size_t count = 0;

    while (count < ARRAY_SIZE && (message = pawl__kafka_tap_peek(tap)) != NULL && message->offset < tap->until) {
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR)
            break;
        pawl__kafka_tap_take(tap);
        lane->kept[count++] = message;
    }
    if (count > 0) {
        lend(lane, tap, lane->kept, count, ret_delivery);
        return true;
    }
    if (message == NULL || message->offset >= tap->until)
        return false;
    pawl__kafka_tap_take(tap);
    fail_range(lane, tap, message, ret_delivery);
    rd_kafka_message_destroy(message);
    return true;
}

/* Looks for an open range that can be served without the queue, or has just become complete. */
static bool
serve_open(pawl_source_lane *lane, pawl_delivery *ret_delivery)
{
    for (guint i = 0; i < lane->open->len; i++) {
        pawl_source_tap *tap = g_ptr_array_index(lane->open, i);

        if (pawl__kafka_tap_peek(tap) != NULL && lend_kept(lane, tap, ret_delivery))
            return true;
        if (is_complete(tap)) {
            end_range(lane, tap, ret_delivery);
            return true;
        }
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------- waiting -- */

/* Has the broker thread woken when the queue runs low after it was full: see nudge.c. */
static void
watch_level(pawl_source_lane *lane, size_t received)
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

/* Fails the range that has stalled, if one has. */
static bool
fail_stalled(pawl_source_lane *lane, int64_t now, pawl_delivery *ret_delivery)
{
    kafka_source *source = lane->source;
    pawl_source_tap *tap = hungriest(lane);
    int64_t since_ms = tap != NULL ? MAX(tap->progress_ms, lane->idle_since_ms) : now;
    char timeout[PAWL__DURATION_TEXT_SIZE];

    if (tap == NULL || now - since_ms < source->stall_timeout_ms)
        return false;
    ret_delivery->kind = PAWL_DELIVERY_FAILED;
    ret_delivery->cookie = tap->cookie;
    pthread_mutex_lock(&source->complaint.mutex);
    pawl_error_set(&ret_delivery->err, PAWL_STALLED, 0, 0,
                   "%s [%" PRId32 "] at offset %" PRId64 ": nothing came for stall_timeout = %s%s%s",
                   tap->partition.topic, tap->partition.number, tap->reached,
                   pawl__text_from_duration(source->stall_timeout_ms, timeout),
                   source->complaint.text[0] != '\0' ? "; " : "", source->complaint.text);
    pthread_mutex_unlock(&source->complaint.mutex);
    pawl__kafka_range_shut(lane, tap);
    return true;
}

static void
nudge_hungry(pawl_source_lane *lane, int64_t now)
{
    const pawl_source_tap *tap = hungriest(lane);

    if (lane->source->nudger == NULL || tap == NULL || now < lane->hungry_at_ms)
        return;
    pawl__kafka_nudge(lane->source->nudger, tap->partition.topic, tap->partition.number);
    lane->hungry_at_ms = now + (now - lane->idle_since_ms) + HUNGRY_MS;
}

/* Waits for the queue, a wake, the deadline, or the time to look for stalled ranges. */
static void
wait_for_event(pawl_source_lane *lane, int64_t now, int64_t deadline_ms)
{
    struct pollfd item = {.fd = lane->event_fd, .events = POLLIN};
    const pawl_source_tap *tap = hungriest(lane);
    int64_t until_ms = deadline_ms;
    uint64_t count;

    if (tap != NULL) {
        until_ms = MIN(until_ms, MAX(tap->progress_ms, lane->idle_since_ms) + lane->source->stall_timeout_ms);
        if (lane->source->nudger != NULL)
            until_ms = MIN(until_ms, lane->hungry_at_ms);
    }
    if (poll(&item, 1, (int) CLAMP(until_ms - now, 0, INT32_MAX)) > 0 && read(lane->event_fd, &count, sizeof count) < 0)
        return; /* the counter was read already: look at the queue all the same */
}

/* Takes what the queue has. False: it had nothing. */
static bool
receive(pawl_source_lane *lane)
{
    ssize_t received = rd_kafka_consume_batch_queue(lane->queue, 0, lane->messages, ARRAY_SIZE);

    lane->next = 0;
    lane->count = received > 0 ? (size_t) received : 0;
    if (lane->count == 0)
        return false;
    watch_level(lane, lane->count);
    return true;
}

/* Waits until something can be delivered. False: the deadline passed, or wake was called. */
static bool
await_delivery(pawl_source_lane *lane, int64_t deadline_ms, pawl_delivery *ret_delivery)
{
    while (!atomic_exchange(&lane->woken, false)) {
        int64_t now;

        if (serve_open(lane, ret_delivery))
            return true;
        if (lane->next < lane->count || receive(lane)) {
            if (cut_run(lane, ret_delivery))
                return true;
            continue;
        }
        now = pawl__clock_ms();
        if (now >= deadline_ms)
            return false;
        if (fail_stalled(lane, now, ret_delivery))
            return true;
        nudge_hungry(lane, now);
        wait_for_event(lane, now, deadline_ms);
    }
    return false;
}

/* Only deliveries count as progress: a partition that brings nothing but errors stalls as well as a silent one. */
void
pawl__kafka_next(pawl_source_lane *lane, int64_t deadline_ms, pawl_delivery *ret_delivery)
{
    ret_delivery->kind = PAWL_DELIVERY_NONE;
    give_back(lane);
    if (lane->delivered)
        note_activity(lane, pawl__clock_ms());
    lane->delivered = await_delivery(lane, deadline_ms, ret_delivery);
}

/* -------------------------------------------------------------------------------------------------- between ranges -- */

pawl_status
pawl__kafka_rewind(pawl_source_lane *lane, pawl_source_tap *tap, int64_t offset, pawl_error *err)
{
    size_t kept = lane->next;

    pawl__kafka_range_shut(lane, tap);
    for (size_t i = lane->next; i < lane->count; i++) {
        if (tap_of(lane, lane->messages[i]) == tap)
            rd_kafka_message_destroy(lane->messages[i]);
        else
            lane->messages[kept++] = lane->messages[i];
    }
    lane->count = kept;
    return pawl__kafka_tap_restart(tap, offset, err);
}

/*
 * With one lane, what is in its queue can stay there: the next ranges come to the same. With several, a tap may go to
 * another lane, so what this one has of it is kept in the tap. No queue is forwarded here any more, and librdkafka moves
 * messages to a forwarded queue under the lock that changing the forwarding takes: so this sees all there will be.
 */
void
pawl__kafka_settle(pawl_source_lane *lane)
{
    pawl_delivery none = {.kind = PAWL_DELIVERY_NONE};

    give_back(lane);
    while (lane->open->len > 0)
        pawl__kafka_range_shut(lane, g_ptr_array_index(lane->open, 0));
    while (lane->next < lane->count || (lane->source->lane_count > 1 && receive(lane))) {
        rd_kafka_message_t *message = lane->messages[lane->next++];

        put_aside(lane, tap_of(lane, message), message, &none);
    }
    lane->next = lane->count = 0;
    forget_last(lane);
}
