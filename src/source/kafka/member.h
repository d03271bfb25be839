/*
 * member.h - the member of a consumer group from inside
 *
 *     member.c       its client: joining, leaving, taking another client's place
 *     rebalance.c    what the group tells it, on a thread of its own, and what the loop sees of that
 */
#ifndef PAWL_SOURCE_KAFKA_MEMBER_H
#define PAWL_SOURCE_KAFKA_MEMBER_H

#include "source/kafka/kafka.h"

typedef enum kafka_stage {
    KAFKA_APART,      /* it has not subscribed, or has left: no thread takes its events */
    KAFKA_SUBSCRIBED, /* the thread runs */
    KAFKA_LEAVING,    /* the thread is to end */
    KAFKA_CLOSING,    /* it has left, and has not heard that the group knows */
} kafka_stage;

typedef enum kafka_revocation {
    KAFKA_NOT_REVOKED,
    KAFKA_REVOKED,      /* of some partitions, perhaps none: the group waits for an answer */
    KAFKA_REVOKED_TOLD, /* and the loop knows: when it lets go, that is the answer */
} kafka_revocation;

typedef enum kafka_session {
    KAFKA_SESSION_ALIVE,
    KAFKA_SESSION_LOST,     /* it has ended, and the member has not joined again */
    KAFKA_SESSION_OUTLIVED, /* and that has made its client useless */
} kafka_session;

/* The loop's thread owns it, but for what the lock guards: the member's thread and those of librdkafka change that. */
struct kafka_member {
    pawl_source_member facade; /* for the store; first, so that it is found again */
    kafka_source *source;
    kafka_client_setup setup;
    rd_kafka_t *client; /* changed with the lock held */
    rd_kafka_queue_t *queue;
    GPtrArray *outlived_clients; /* a store may still be about to use them */
    pthread_t thread;
    void (*changed)(void *user);
    void *user;
    char **topics;         /* subscribed to; NULL-terminated */
    size_t partitions;     /* that there were when it subscribed; 0: it has not */
    int64_t look_again_ms; /* when its topics are looked at again, even if they are no more than before */

    pawl__wait wait;   /* guards what follows */
    kafka_stage stage; /* changed by the loop's thread only */
    kafka_session session;
    kafka_revocation revocation;
    GArray *assigned;         /* pawl_partition, just as the group has it; topics are owned */
    GArray *revoked;          /* pawl_partition, waiting for the loop to let go */
    bool was_assigned;        /* the group has assigned something to this client, perhaps nothing */
    bool joining;             /* its generation is about to change */
    int64_t asked_ms;         /* when it last asked to join */
    int64_t stirred_until_ms; /* until when it may be about to ask again */
    int64_t settled_ms; /* when what is assigned counts as all that will be; PAWL__NEVER: when the group has spoken */
    pawl_error failure; /* fatal: this is no member any more */
};

/* The member may ask to join at that time, or a little later. With the lock held. */
void pawl__kafka_member_stir(kafka_member *member, int64_t when_ms);

/* Tells the client that its part of a rebalance is done. It reads nothing, so its own assignment stays empty. */
void pawl__kafka_member_answer(kafka_member *member, bool assigned);

/* Forgets what was revoked. With the lock held. */
void pawl__kafka_member_drop_revoked(kafka_member *member);

/* The thread: takes the events of member->queue until the member is leaving. */
void *pawl__kafka_member_take_events(void *member);

#endif
