/*
 * member.h - the member of a consumer group from inside
 *
 *     member.c       its client: joining, leaving, taking another client's place
 *     rebalance.c    what the group tells it, on a thread of its own, and what the loop sees of that
 */
#ifndef PAWL_SOURCE_KAFKA_MEMBER_H
#define PAWL_SOURCE_KAFKA_MEMBER_H

#include "source/kafka/kafka.h"

struct kafka_member {
    pawl_source_member facade; /* for the store; first, so that it is found again */
    kafka_source *source;
    kafka_client_setup setup;
    rd_kafka_t *client; /* changed with the lock held */
    rd_kafka_queue_t *queue;
    GPtrArray *outlived_clients; /* a store may still be about to use them */
    pthread_t thread;
    bool subscribed; /* and the thread runs */
    bool closing;    /* it was left before it had heard that the group knows */
    void (*changed)(void *user);
    void *user;
    char **topics;         /* subscribed to; NULL-terminated */
    size_t partitions;     /* that there were when it subscribed; 0: it has not */
    int64_t look_again_ms; /* when its topics are looked at again, even if they are no more than before */

    pawl__wait wait;  /* guards what follows */
    GArray *assigned; /* pawl_partition, just as the group has it; topics are owned */
    GArray *revoked;  /* pawl_partition, waiting for the loop to let go */
    bool must_answer; /* a revocation waits for an answer, perhaps one of no partitions */
    bool told;        /* the loop knows of it */
    bool assigned_once;
    bool joining;                /* its generation is about to change */
    bool unassigned;             /* it waits for what it will be assigned */
    int64_t unassigned_until_ms; /* at most until then */
    bool lost;                   /* its session has ended, and it has not joined again */
    bool outlived;               /* and that has made its client useless */
    bool leaving;
    pawl_error failure; /* fatal: this is no member any more */
};

/* Tells the client that its part of a rebalance is done. It reads nothing, so its own assignment stays empty. */
void pawl__kafka_member_answer(kafka_member *member, bool assigned);

/* Forgets what was revoked. With the lock held. */
void pawl__kafka_member_drop_revoked(kafka_member *member);

/* The thread: takes the events of member->queue until the member is leaving. */
void *pawl__kafka_member_take_events(void *member);

#endif
