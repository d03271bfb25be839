/*
 * kafka.h - the Kafka source from inside
 *
 *     source.c   the table, opening and closing
 *     client.c   librdkafka's client: its properties and its log
 *     ask.c      questions to the brokers: how they are asked, and those about topics
 *     offsets.c  questions about offsets: bounds, offsets by time
 *     tap.c      partitions: starting and ending to read them, what was read ahead
 *     lane.c     records: from the shared queue to their open ranges; lane.h lists the files that help
 *     member.c   membership in a consumer group; member.h lists the files
 *     nudge.c    waking a broker thread that sleeps although there is room
 *
 * How records flow. librdkafka's broker threads put parsed messages into a queue for each partition. An open range
 * forwards its partition's queue to the queue of a lane; a shut one does not, so that its queue fills up to its own limit
 * and no further. Records that reached a lane's queue past the end of their range belong to the next one: they are kept
 * in the tap. There are no seeks between consecutive ranges.
 *
 * Threads. A tap belongs to the loop's thread while no batch runs, and while one does to the lane that opened its range; no
 * other lane even looks at it. A lane belongs to its worker. What several threads touch is atomic, or under the lock it
 * stands with.
 */
#ifndef PAWL_SOURCE_KAFKA_H
#define PAWL_SOURCE_KAFKA_H

#include <glib.h>
#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdatomic.h>

#include <pawl/sys/source.h>

#include "util/wait.h"

typedef struct kafka_source kafka_source;

/* ------------------------------------------------------------------------------------------------------ client.c -- */

/* A share of fetch.memory, as librdkafka takes it. */
typedef struct kafka_budget {
    int partitions;                /* for how many it was made */
    int64_t queue_bytes;           /* one queue: values */
    int64_t queue_messages;        /* one queue: number, since each costs memory of its own */
    int64_t partition_fetch_bytes; /* one partition in one fetch response */
    int64_t fetch_bytes;           /* one fetch response */
    int64_t fetch_wait_ms;         /* how long one may wait for news */
} kafka_budget;

/* Cuts fetch.memory into budgets that hold for so many partitions and lanes. Pure. */
kafka_budget pawl__kafka_budget(int64_t memory_bytes, int partitions, int lanes);

#define PAWL__KAFKA_COMPLAINT_SIZE 512

/* What the brokers complained about last: it explains why there is no answer. */
typedef struct kafka_complaint {
    pthread_mutex_t mutex;
    char text[PAWL__KAFKA_COMPLAINT_SIZE];
    int64_t came_ms;
    int64_t logged_ms;
} kafka_complaint;

/* Takes a complaint. Any thread. */
void pawl__kafka_complain(kafka_complaint *complaint, const char *text);

/* Copies the complaint, if it came lately and so may be the reason of what is wrong now; else "". Any thread. */
void pawl__kafka_complaint_text(kafka_complaint *complaint, int64_t now_ms, char text[PAWL__KAFKA_COMPLAINT_SIZE]);

/* Everything that a client is made of; kept, since a client may have to be made anew. */
typedef struct kafka_client_setup {
    const pawl_log *log;
    char *group; /* NULL: this client only asks, and looks for no coordinator */
    char *client_id;
    char *instance_id; /* of a static member, or NULL */
    bool read_committed;
    bool is_told_of_topics;                  /* so it does not look for news of them by itself */
    int events;                              /* RD_KAFKA_EVENT_* that its queue carries */
    rd_kafka_interceptor_f_on_new_t *on_new; /* or NULL */
    void *on_new_opaque;
    GPtrArray *properties; /* name, value, name, value ... */
    kafka_complaint *complaint;
} kafka_client_setup;

/* Makes a consumer. PAWL_INVALID: a property is wrong; the message names it, never its value. */
pawl_status pawl__kafka_client_new(const kafka_client_setup *setup, const kafka_budget *budget, rd_kafka_t **ret_client,
                                   pawl_error *err);

/* Ends a client without waiting for anybody. NULL is fine. */
void pawl__kafka_client_free(rd_kafka_t *client);

/* The error for a question that nobody answered: with the complaint, if there was one. */
pawl_status pawl__kafka_unreachable(kafka_source *source, rd_kafka_resp_err_t code, const char *question,
                                    pawl_error *err);

/* --------------------------------------------------------------------------------------------------------- tap.c -- */

struct pawl_source_tap {
    kafka_source *source;
    pawl_partition partition; /* the topic is owned */
    int64_t position;         /* where the next range starts */
    rd_kafka_queue_t *queue;  /* librdkafka's own of this partition */

    GPtrArray *ahead;  /* messages received past the end of their range, in order; owned */
    guint ahead_first; /* the first of them that is still there */
    int64_t reached;   /* every record below this was received */

    pawl_source_lane *lane; /* where its range is open; NULL: shut */
    bool forwarded;         /* the queue is forwarded to the lane's */
    void *cookie;
    int64_t until;
    int64_t progress_ms; /* when something came last */
    bool started_over;   /* since the range was opened: see hunger.c */
};

/* Starts to read at these positions. */
pawl_status pawl__kafka_hold(void *self, pawl_hold_line *lines, size_t count, pawl_error *err);
void pawl__kafka_unhold(void *self, pawl_source_tap *const *taps, size_t count);

/* Gives everything back that belongs to the client; the tap goes on with pawl__kafka_tap_restart() on another. */
void pawl__kafka_tap_disconnect(pawl_source_tap *tap);

/* Starts to read at the taps' positions, on a client that does not read them yet. */
pawl_status pawl__kafka_taps_connect(kafka_source *source, pawl_source_tap *const *taps, size_t count, pawl_error *err);

/* Forgets what was read ahead, and starts over at an offset. */
pawl_status pawl__kafka_tap_restart(pawl_source_tap *tap, int64_t offset, pawl_error *err);

/* Stops the flow from the partition's queue to the lane's. */
void pawl__kafka_tap_shut(pawl_source_tap *tap);

/* Starts it. */
void pawl__kafka_tap_open(pawl_source_tap *tap, rd_kafka_queue_t *lane_queue);

/* Whether a message says that the offset to be fetched is out of the log's bounds. */
bool pawl__kafka_is_loss(const rd_kafka_message_t *message);

/* Keeps a message for a later range: the tap owns it now. */
void pawl__kafka_tap_keep(pawl_source_tap *tap, rd_kafka_message_t *message);

/* The next message that was kept, or NULL; it stays the tap's until it is taken. */
rd_kafka_message_t *pawl__kafka_tap_peek(const pawl_source_tap *tap);

/* Takes the message just peeked at: the caller owns it now. */
void pawl__kafka_tap_take(pawl_source_tap *tap);

/* Frees a tap. */
void pawl__kafka_tap_free(pawl_source_tap *tap);

/* -------------------------------------------------------------------------------------------------------- lane.c -- */

pawl_source_lane *pawl__kafka_lane_new(kafka_source *source);
void pawl__kafka_lane_free(pawl_source_lane *lane);

/* A client was made anew: its queue is another. Loop's thread, no batch runs. */
void pawl__kafka_lane_connect(pawl_source_lane *lane, rd_kafka_t *client);

/* The lane has nothing to do with this tap any more. Loop's thread, no batch runs. */
void pawl__kafka_lane_disown(pawl_source_lane *lane, const pawl_source_tap *tap);

/* Gives everything back that belongs to the client: messages and the queue. */
void pawl__kafka_lane_disconnect(pawl_source_lane *lane);

pawl_source_lane *pawl__kafka_lane(void *self, int index);
void pawl__kafka_wake(void *self);

void pawl__kafka_range_open(pawl_source_lane *lane, pawl_source_tap *tap, int64_t from, int64_t until, void *cookie);
void pawl__kafka_range_shut(pawl_source_lane *lane, pawl_source_tap *tap);
pawl_status pawl__kafka_rewind(pawl_source_lane *lane, pawl_source_tap *tap, int64_t offset, pawl_error *err);
void pawl__kafka_next(pawl_source_lane *lane, int64_t deadline_ms, pawl_delivery *ret_delivery);
void pawl__kafka_settle(pawl_source_lane *lane);

/* --------------------------------------------------------------------------------------------------------- ask.c -- */

/* How long the next call to librdkafka may take; 0: the time is up, or the job was cancelled. */
int pawl__kafka_slice_ms(kafka_source *source, int64_t deadline_ms);

/* Whether what went wrong may be over soon. */
bool pawl__kafka_is_worth_another_try(rd_kafka_resp_err_t code);

/* An answer that came at once and said "not now" is not asked for again at once. */
void pawl__kafka_breathe(kafka_source *source, int64_t asked_ms);

pawl_status pawl__kafka_cluster(void *self, int64_t deadline_ms, char *ret_id, size_t size, pawl_error *err);
pawl_status pawl__kafka_discover(void *self, int64_t deadline_ms, void (*found)(void *user, pawl_partition partition),
                                 void (*missing)(void *user, const char *topic), void *user, pawl_error *err);

/*
 * Makes a client know the topics that were asked for by name, for as long as it has these handles: one question of the
 * asker is then about all of them, and the client that fetches looks for their leaders before it is told to.
 */
pawl_status pawl__kafka_name_topics(const kafka_source *source, rd_kafka_t *client, GPtrArray *handles,
                                    pawl_error *err);

/* ----------------------------------------------------------------------------------------------------- offsets.c -- */

pawl_status pawl__kafka_bounds(void *self, int64_t deadline_ms, pawl_bounds_line *lines, size_t count, pawl_error *err);
pawl_status pawl__kafka_log_end(void *self, int64_t deadline_ms, pawl_bounds_line *lines, size_t count,
                                pawl_error *err);
pawl_status pawl__kafka_at_time(void *self, int64_t deadline_ms, int64_t time_ms, pawl_time_line *lines, size_t count,
                                pawl_error *err);

/* The element of a list that is about a partition: number `hint`, unless librdkafka has moved it. */
const rd_kafka_topic_partition_t *pawl__kafka_answer(const rd_kafka_topic_partition_list_t *list, int hint,
                                                     pawl_partition partition);

/* ------------------------------------------------------------------------------------------------------ member.c -- */

typedef struct kafka_member kafka_member;

/* Makes the client that will be a member. pawl__kafka_member_free() frees it; NULL is fine. */
pawl_status pawl__kafka_member_new(kafka_source *source, const pawl_source_group *group, kafka_member **ret_member,
                                   pawl_error *err);
void pawl__kafka_member_free(kafka_member *member);

pawl_status pawl__kafka_subscribe(void *self, const char *const *topics, size_t partitions, pawl_error *err);
bool pawl__kafka_assigned(void *self, void (*found)(void *user, pawl_partition partition), void *user);
pawl_status pawl__kafka_revoked(void *self, void (*found)(void *user, pawl_partition partition, bool lost), void *user,
                                pawl_error *err);
void pawl__kafka_let_go(void *self);
void pawl__kafka_unsubscribe(void *self);
const pawl_source_member *pawl__kafka_member(void *self);

/* ------------------------------------------------------------------------------------------------------- nudge.c -- */

typedef struct kafka_nudger kafka_nudger;

/* A thread that asks the leader of a partition a small question, so that its broker thread looks at its queues. */
pawl_status pawl__kafka_nudger_new(rd_kafka_t *client, kafka_nudger **ret_nudger, pawl_error *err);
void pawl__kafka_nudger_free(kafka_nudger *nudger);

/* Asks for the leader of this partition to be nudged; returns at once. Any thread. */
void pawl__kafka_nudge(kafka_nudger *nudger, const char *topic, int32_t partition);

/* ------------------------------------------------------------------------------------------------------ source.c -- */

struct kafka_source {
    const pawl_log *log;
    rd_kafka_t *client;   /* fetches */
    rd_kafka_t *asker;    /* asks: a broker answers one request of a connection after the other, and a fetch may wait */
    kafka_member *member; /* NULL: of no group */
    kafka_client_setup client_setup;
    kafka_client_setup asker_setup;
    kafka_complaint complaint;
    bool answered; /* the brokers have told something once: they are there, and are spoken to as they want */
    kafka_budget budget;
    kafka_nudger *nudger;
    int64_t memory_bytes;
    int64_t stall_timeout_ms;
    int lane_count;
    atomic_bool cancelled;
    pawl__wait cancel_wait; /* woken when it is set */

    GPtrArray *topics;        /* asked for by name; owned texts */
    GArray *explicit;         /* pawl_partition; topics are owned */
    GRegex *pattern;          /* NULL: topics are named */
    GPtrArray *client_topics; /* rd_kafka_topic_t * of the topics asked for by name: the client's */
    GPtrArray *asker_topics;  /* and the asker's */

    GPtrArray *taps;  /* all that are held; owned */
    GPtrArray *lanes; /* owned */
};

/* Waits until the deadline, or until the source is cancelled. */
void pawl__kafka_pause(kafka_source *source, int64_t deadline_ms);

/* Makes a client whose budget holds for at least so many partitions, if the present one's does not. */
pawl_status pawl__kafka_make_room(kafka_source *source, int partitions, pawl_error *err);

extern const pawl_source_backend pawl__kafka_source;

#endif
