/*
 * tap.c - partitions that are read, and what was read ahead of them
 */
#include "source/kafka/kafka.h"

#include <inttypes.h>

#include "util/clock.h"

/* ---------------------------------------------------------------------------------------------------- read ahead -- */

/*
 * Nothing follows the error that an offset is out of range, since librdkafka gives the partition up then. If something
 * does, the error is left over from before the tap was restarted: it is the one message that has no version by which
 * librdkafka would know that.
 */
static void
drop_outdated_error(pawl_source_tap *tap)
{
    guint last = tap->ahead->len - 1;

    if (pawl__kafka_tap_peek(tap) == NULL || !pawl__kafka_is_loss(g_ptr_array_index(tap->ahead, last)))
        return;
    rd_kafka_message_destroy(g_ptr_array_index(tap->ahead, last));
    g_ptr_array_set_size(tap->ahead, (int) last);
}

bool
pawl__kafka_is_loss(const rd_kafka_message_t *message)
{
    return message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
           message->err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE;
}

void
pawl__kafka_tap_keep(pawl_source_tap *tap, rd_kafka_message_t *message)
{
    drop_outdated_error(tap);
    g_ptr_array_add(tap->ahead, message);
}

rd_kafka_message_t *
pawl__kafka_tap_peek(const pawl_source_tap *tap)
{
    return tap->ahead_first < tap->ahead->len ? g_ptr_array_index(tap->ahead, tap->ahead_first) : NULL;
}

void
pawl__kafka_tap_take(pawl_source_tap *tap)
{
    tap->ahead_first++;
    if (tap->ahead_first == tap->ahead->len) {
        g_ptr_array_set_size(tap->ahead, 0);
        tap->ahead_first = 0;
    }
}

static void
drop_ahead(pawl_source_tap *tap)
{
    rd_kafka_message_t *message;

    while ((message = pawl__kafka_tap_peek(tap)) != NULL) {
        pawl__kafka_tap_take(tap);
        rd_kafka_message_destroy(message);
    }
}

/* --------------------------------------------------------------------------------------------------------- valve -- */

void
pawl__kafka_tap_open(pawl_source_tap *tap, rd_kafka_queue_t *lane_queue)
{
    if (tap->forwarded)
        return;
    rd_kafka_queue_forward(tap->queue, lane_queue);
    tap->forwarded = true;
}

void
pawl__kafka_tap_shut(pawl_source_tap *tap)
{
    if (!tap->forwarded)
        return;
    rd_kafka_queue_forward(tap->queue, NULL);
    tap->forwarded = false;
}

/* ------------------------------------------------------------------------------------------------------ assigning -- */

/*
 * Gives a queue back for good: what it has, and what still comes, goes to a queue that is no more, which keeps nothing. Each
 * message holds its partition, which holds the queue: of a topic that has vanished librdkafka does not break that circle,
 * and then waits for ever for the client's last partition to end.
 */
static void
give_queue_back(pawl_source_tap *tap)
{
    rd_kafka_queue_t *gone;

    if (tap->queue == NULL)
        return;
    gone = rd_kafka_queue_new(tap->source->client);
    rd_kafka_queue_forward(tap->queue, gone);
    rd_kafka_queue_destroy(gone);
    rd_kafka_queue_destroy(tap->queue);
    tap->queue = NULL;
    tap->forwarded = false;
}

/*
 * Takes librdkafka's queue of the partition, anew each time: of a topic that was away meanwhile it is another. Forwarding
 * it to nowhere before the partition is assigned also tells librdkafka that the queue is ours: else it would forward it to
 * the consumer's own queue at the start.
 */
static pawl_status
take_queue(pawl_source_tap *tap, pawl_error *err)
{
    give_queue_back(tap);
    tap->queue = rd_kafka_queue_get_partition(tap->source->client, tap->partition.topic, tap->partition.number);
    if (tap->queue == NULL)
        return pawl_error_set(err, PAWL_FAILED, 0, 0, "%s [%" PRId32 "]: librdkafka gives no queue for it",
                              tap->partition.topic, tap->partition.number);
    rd_kafka_queue_forward(tap->queue, NULL);
    return PAWL_OK;
}

static pawl_status
take_error(rd_kafka_error_t *error, const char *what, pawl_error *err)
{
    pawl_status status;

    if (error == NULL)
        return PAWL_OK;
    status =
        pawl_error_set(err, PAWL_FAILED, 0, rd_kafka_error_code(error), "%s: %s", what, rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    return status;
}

pawl_status
pawl__kafka_taps_connect(kafka_source *source, pawl_source_tap *const *taps, size_t count, pawl_error *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int) count);
    pawl_status status = PAWL_OK;

    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        pawl_source_tap *tap = taps[i];

        status = take_queue(tap, err);
        rd_kafka_topic_partition_list_add(list, tap->partition.topic, tap->partition.number)->offset = tap->position;
        tap->reached = tap->position;
    }
    if (status == PAWL_OK)
        status = take_error(rd_kafka_incremental_assign(source->client, list), "starting to read", err);
    rd_kafka_topic_partition_list_destroy(list);
    return status;
}

static void
unassign(kafka_source *source, pawl_source_tap *const *taps, size_t count)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int) count);

    for (size_t i = 0; i < count; i++) {
        pawl__kafka_tap_shut(taps[i]);
        rd_kafka_topic_partition_list_add(list, taps[i]->partition.topic, taps[i]->partition.number);
    }
    /* What is not assigned any more need not be unassigned: an error changes nothing. */
    take_error(rd_kafka_incremental_unassign(source->client, list), "ending to read", NULL);
    rd_kafka_topic_partition_list_destroy(list);
}

/* A seek would do for a partition that is being fetched; one that librdkafka gave up (out of range) has to start over.
 * Messages of before carry an old version and are dropped by librdkafka wherever they are queued. */
pawl_status
pawl__kafka_tap_restart(pawl_source_tap *tap, int64_t offset, pawl_error *err)
{
    drop_ahead(tap);
    unassign(tap->source, &tap, 1);
    tap->position = offset;
    return pawl__kafka_taps_connect(tap->source, &tap, 1, err);
}

/* ------------------------------------------------------------------------------------------------- hold, let go -- */

void
pawl__kafka_tap_disconnect(pawl_source_tap *tap)
{
    drop_ahead(tap);
    give_queue_back(tap);
}

void
pawl__kafka_tap_free(pawl_source_tap *tap)
{
    pawl__kafka_tap_disconnect(tap);
    g_ptr_array_unref(tap->ahead);
    g_free((char *) tap->partition.topic);
    g_free(tap);
}

static pawl_source_tap *
tap_new(kafka_source *source, const pawl_hold_line *line)
{
    pawl_source_tap *tap = g_new0(pawl_source_tap, 1);

    tap->source = source;
    tap->partition.topic = g_strdup(line->partition.topic);
    tap->partition.number = line->partition.number;
    tap->position = line->position;
    tap->ahead = g_ptr_array_new();
    g_ptr_array_add(source->taps, tap);
    return tap;
}

pawl_status
pawl__kafka_hold(void *self, pawl_hold_line *lines, size_t count, pawl_error *err)
{
    kafka_source *source = self;
    guint first = source->taps->len;
    pawl_status status = pawl__kafka_make_room(source, (int) (first + count), err);

    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        lines[i].ret_tap = tap_new(source, &lines[i]);
    return pawl__kafka_taps_connect(source, (pawl_source_tap *const *) &source->taps->pdata[first], count, err);
}

void
pawl__kafka_unhold(void *self, pawl_source_tap *const *taps, size_t count)
{
    kafka_source *source = self;

    unassign(source, taps, count);
    for (size_t i = 0; i < count; i++) {
        for (guint l = 0; l < source->lanes->len; l++)
            pawl__kafka_lane_disown(g_ptr_array_index(source->lanes, l), taps[i]);
        g_ptr_array_remove(source->taps, taps[i]); /* frees it */
    }
}
