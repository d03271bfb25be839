/*
 * lane.h - a lane from inside
 *
 *     lane.c      opening and shutting ranges, and the loop that waits for the next delivery
 *     deliver.c   messages: cut into runs and lent out, kept for later, or the end of a range
 *     hunger.c    nothing comes: waiting, nudging, giving up
 *
 * All of it is for the lane's thread.
 */
#ifndef PAWL_SOURCE_KAFKA_LANE_H
#define PAWL_SOURCE_KAFKA_LANE_H

#include "source/kafka/kafka.h"

/* Messages taken out of the queue at once: enough to spread the cost, few enough to stay in the cache. */
#define PAWL__LANE_ROOM 2048

struct pawl_source_lane {
    kafka_source *source;
    rd_kafka_queue_t *queue;
    int event_fd;      /* written to by librdkafka when the queue is no longer empty, and by wake */
    atomic_bool woken; /* by wake */

    rd_kafka_message_t *messages[PAWL__LANE_ROOM]; /* received, from `next` on not looked at yet */
    size_t next, count;
    rd_kafka_message_t *kept[PAWL__LANE_ROOM]; /* taken from a tap to be lent */
    rd_kafka_message_t **lent;                 /* in the last delivery: a part of one of these arrays */
    size_t lent_count;
    pawl_record records[PAWL__LANE_ROOM]; /* of the messages lent */

    GHashTable *own;       /* pawl_partition, inside the tap -> tap: those that no other lane touches now */
    GPtrArray *open;       /* of them, with a range open */
    pawl_source_tap *last; /* the tap of the last run, and of which message that was */
    const rd_kafka_topic_t *last_topic;
    int32_t last_partition;

    bool delivered;        /* the last call of `next` gave something, and user code has had the time since then */
    int64_t idle_since_ms; /* since when nothing could be delivered */
    int64_t hungry_at_ms;  /* when to nudge because of that */
    int64_t average_bytes; /* of a value, lately */
    bool was_full;         /* the queue was over its limit: the broker thread may sleep */
};

/* ----------------------------------------------------------------------------------------------------- deliver.c -- */

/* What every record of a lane has. */
extern const struct pawl_record_ops pawl__kafka_record_ops;

/* The tap of a message, if it is the lane's own; else NULL. */
pawl_source_tap *pawl__kafka_tap_of(pawl_source_lane *lane, const rd_kafka_message_t *message);

/* Looks for an open range that can be served without the queue, or has just become complete. */
bool pawl__kafka_serve_open(pawl_source_lane *lane, pawl_delivery *ret_delivery);

/* Makes a delivery out of the front of the array. False: what was there was put aside. */
bool pawl__kafka_cut_run(pawl_source_lane *lane, pawl_delivery *ret_delivery);

/* Takes care of one message that cannot be lent now: `tap` is its own, or NULL. True: it made a delivery. */
bool pawl__kafka_put_aside(pawl_source_lane *lane, pawl_source_tap *tap, rd_kafka_message_t *message,
                           pawl_delivery *ret_delivery);

/* Gives back what the last delivery lent. */
void pawl__kafka_give_back(pawl_source_lane *lane);

/* ------------------------------------------------------------------------------------------------------ hunger.c -- */

/* The lane has nothing to complain about at this moment. */
void pawl__kafka_note_activity(pawl_source_lane *lane, int64_t now);

/* Has the broker thread woken when the queue runs low after it was full: see nudge.c. */
void pawl__kafka_watch_level(pawl_source_lane *lane, size_t received);

/* Nudges when the queue has been empty for long. */
void pawl__kafka_nudge_hungry(pawl_source_lane *lane, int64_t now);

/* Has a range of which nothing comes start over, and in the end gives it up. True: it made a delivery. */
bool pawl__kafka_lose_patience(pawl_source_lane *lane, int64_t now, pawl_delivery *ret_delivery);

/* Waits for the queue, a wake, the deadline, or the time to lose patience. */
void pawl__kafka_wait_for_event(pawl_source_lane *lane, int64_t now, int64_t deadline_ms);

#endif
