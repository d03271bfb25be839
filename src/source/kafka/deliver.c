/*
 * deliver.c - messages become deliveries
 *
 * The queue holds messages of all open taps, in runs: a fetch response puts thousands of one partition after each other.
 * A lane takes an array of them, cuts it into runs, and lends each run out as one delivery.
 *
 * A range is over when everything below its `until` was received (tap->reached): a record at or past `until` came, or an
 * end-of-partition event that lies there. An event that was queued before the range was planned lies below, and ends
 * nothing. So gaps of any length, control records and aborted transactions need no special case.
 */
#include "source/kafka/lane.h"

#include <inttypes.h>

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

const struct pawl_record_ops pawl__kafka_record_ops = {.header = record_header};

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

/* ------------------------------------------------------------------------------------------------------ messages -- */

static pawl_source_tap *
find_own(const pawl_source_lane *lane, const rd_kafka_message_t *message)
{
    pawl_partition partition = {rd_kafka_topic_name(message->rkt), message->partition};

    return g_hash_table_lookup(lane->own, &partition);
}

/* Runs are long, so it is nearly always the last one's. */
pawl_source_tap *
pawl__kafka_tap_of(pawl_source_lane *lane, const rd_kafka_message_t *message)
{
    if (lane->last == NULL || message->rkt != lane->last_topic || message->partition != lane->last_partition) {
        lane->last = message->rkt != NULL ? find_own(lane, message) : NULL;
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

void
pawl__kafka_give_back(pawl_source_lane *lane)
{
    for (size_t i = 0; i < lane->lent_count; i++)
        rd_kafka_message_destroy(lane->lent[i]);
    lane->lent_count = 0;
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
    bool forbidden = message->err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;

    ret_delivery->kind = PAWL_DELIVERY_FAILED;
    ret_delivery->cookie = tap->cookie;
    pawl_error_set(&ret_delivery->err, lost ? PAWL_DATA_LOSS : PAWL_FAILED, forbidden ? 0 : PAWL_ERROR_RETRIABLE,
                   message->err, "%s [%" PRId32 "] at offset %" PRId64 ": cannot be read%s: %s", tap->partition.topic,
                   tap->partition.number, MAX(tap->reached, tap->position),
                   forbidden ? ", this user lacks the right to read the topic" : "", rd_kafka_message_errstr(message));
    pawl__kafka_range_shut(lane, tap);
}

/* ------------------------------------------------------------------------------------------------------- cutting -- */

bool
pawl__kafka_put_aside(pawl_source_lane *lane, pawl_source_tap *tap, rd_kafka_message_t *message,
                      pawl_delivery *ret_delivery)
{
    bool failed = false;

    /* Not the lane's own any more: an event that came late, or what is left of a partition that is read no more. */
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
    } else if (tap->lane != NULL && message->offset < tap->until) {
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

bool
pawl__kafka_cut_run(pawl_source_lane *lane, pawl_delivery *ret_delivery)
{
    pawl_source_tap *tap = pawl__kafka_tap_of(lane, lane->messages[lane->next]);
    size_t length = 0;

    /* What was kept of a tap comes before what its queue brings. */
    if (tap != NULL && tap->lane != NULL && pawl__kafka_tap_peek(tap) == NULL)
        length = measure_run(lane, tap);
    if (length == 0)
        return pawl__kafka_put_aside(lane, tap, lane->messages[lane->next++], ret_delivery);
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

    while (count < PAWL__LANE_ROOM && (message = pawl__kafka_tap_peek(tap)) != NULL && message->offset < tap->until) {
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

bool
pawl__kafka_serve_open(pawl_source_lane *lane, pawl_delivery *ret_delivery)
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
