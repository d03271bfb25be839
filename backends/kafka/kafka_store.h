/*
 * kafka_store.h - the kafka: store from inside
 *
 *     kafka_store.c   the table; opening, closing, cancelling
 *     client.c        the client that speaks for a group
 *     request.c       one request to the group's coordinator, and what its errors mean
 *     offsets.c       load, acquire, plan, save, release
 *     admin.c         list, remove
 *     metadata.c      what pawl keeps beside an offset
 *
 * Offsets are the group's own committed offsets. A job that is a member of the group (members = group) reads and commits as
 * that member, and Kafka refuses a commit of it once it is none any more. Everybody else has a client that names the group
 * and never joins it; Kafka refuses its commits while the group has members.
 *
 * Threads: that of the caller, and another one in kafka_cancel().
 */
#ifndef PAWL_BACKENDS_KAFKA_H
#define PAWL_BACKENDS_KAFKA_H

#include <glib.h>
#include <librdkafka/rdkafka.h>

#include <pawl/sys/source.h>
#include <pawl/sys/store.h>

#include "util/wait.h"

typedef struct pawl__kafka_store {
    const pawl_log *log;
    char *url;                        /* masked: for messages */
    rd_kafka_conf_t *properties;      /* of each client, but for the group */
    rd_kafka_t *client;               /* the store's own, made when it is needed, for ... */
    char *group;                      /* ... this group; NULL: none */
    bool unanswered;                  /* a commit of that client */
    const pawl_source_member *member; /* the job's; NULL: this is no member of the group */
    bool warned;                      /* that nothing fences this job */
    GHashTable *remembered;           /* pawl_partition -> pawl__kafka_metadata, both owned: what is stored */

    pawl__wait wait;         /* guards what follows */
    rd_kafka_queue_t *queue; /* of the request that is waited for; NULL: none is */
    bool cancelled;
} pawl__kafka_store;

/* ---------------------------------------------------------------------------------------------------- metadata.c -- */

/* What is kept beside an offset. */
typedef struct pawl__kafka_metadata {
    int64_t batch;
    pawl_position pending;
    char print[PAWL_PRINT_SIZE];
} pawl__kafka_metadata;

/* It as JSON, which the caller frees. */
char *pawl__kafka_store_metadata_text(const pawl__kafka_metadata *metadata);

/*
 * Reads it. What others have written, or nothing, is zeros. `place` is for messages. PAWL_UNSUPPORTED: a newer pawl wrote
 * it; PAWL_UNREADABLE: it looks like ours, and is not.
 */
pawl_status pawl__kafka_store_metadata_read(const char *text, size_t size, const char *place,
                                            pawl__kafka_metadata *ret_metadata, pawl_error *err);

/* ------------------------------------------------------------------------------------------------------ client.c -- */

/* Takes the brokers and the properties of librdkafka out of what open got. */
pawl_status pawl__kafka_store_configure(pawl__kafka_store *store, const pawl_store_setup *setup, pawl_error *err);

/* The client that speaks for a group (NULL: any will do): that of the member, or the store's own. Borrowed until the next
 * call, or until it is dropped. */
pawl_status pawl__kafka_store_client(pawl__kafka_store *store, const char *group, rd_kafka_t **ret_client,
                                     pawl_error *err);
void pawl__kafka_store_drop_client(pawl__kafka_store *store);

/* ----------------------------------------------------------------------------------------------------- request.c -- */

/* Begins a request on a client; its answer comes to the queue. */
typedef void (*pawl__kafka_store_begin_fn)(rd_kafka_t *client, rd_kafka_queue_t *queue, int timeout_ms, void *user);

/*
 * Sends a request and waits for the answer, which the caller destroys. PAWL_TIMEOUT, PAWL_CANCELLED: there is none, and
 * what was asked for may have been done.
 */
pawl_status pawl__kafka_store_request(pawl__kafka_store *store, rd_kafka_t *client, int64_t deadline_ms,
                                      pawl__kafka_store_begin_fn begin, void *user, rd_kafka_event_t **ret_answer,
                                      pawl_error *err);

/* Waits until the client knows where the group is kept, for which Kafka may have to make a topic first. */
pawl_status pawl__kafka_store_await_coordinator(pawl__kafka_store *store, rd_kafka_t *client, int64_t deadline_ms,
                                                pawl_error *err);

/* Fills in the committed offset and metadata, or an error, of each partition of the list. */
pawl_status pawl__kafka_store_committed(pawl__kafka_store *store, rd_kafka_t *client,
                                        rd_kafka_topic_partition_list_t *list, int64_t deadline_ms, pawl_error *err);

/* Before a commit: waits while the group of a member is about to go on to another generation. */
pawl_status pawl__kafka_store_await_generation(pawl__kafka_store *store, int64_t deadline_ms, pawl_error *err);

/* The status of an error code. `what`: "load", "save" ...; `is_write`: whether it may have been done nevertheless. */
pawl_status pawl__kafka_store_failed(const pawl__kafka_store *store, rd_kafka_resp_err_t code, const char *text,
                                     const char *what, bool is_write, pawl_error *err);

/* The status of the first partition of an answer that has an error. */
pawl_status pawl__kafka_store_check(const pawl__kafka_store *store, const char *group,
                                    const rd_kafka_topic_partition_list_t *list, bool is_write, pawl_error *err);

void pawl__kafka_store_place(void *self, const char *group, pawl_partition partition, char *text, size_t text_size);

/* ----------------------------------------------------------------------------------------------------- offsets.c -- */

/* What is remembered of what is stored. */
void pawl__kafka_store_remembered_init(pawl__kafka_store *store);
void pawl__kafka_store_remembered_done(pawl__kafka_store *store);

pawl_status pawl__kafka_store_load(void *self, const pawl_store_call *call, const pawl_partition *partitions,
                                   size_t count, pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err);
pawl_status pawl__kafka_store_read_back(void *self, const pawl_store_call *call, const pawl_partition *partitions,
                                        size_t count, pawl_entry *ret_entries, pawl_error *err);
pawl_status pawl__kafka_store_acquire(void *self, const pawl_store_call *call, const pawl_owner *owner,
                                      const char *cluster, pawl_acquire_line *lines, size_t count, pawl_error *err);
pawl_status pawl__kafka_store_plan(void *self, const pawl_store_call *call, const pawl_plan_line *lines, size_t count,
                                   pawl_error *err);
pawl_status pawl__kafka_store_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count,
                                   pawl_error *err);
pawl_status pawl__kafka_store_release(void *self, const pawl_store_call *call, const pawl_acquire_line *lines,
                                      size_t count, pawl_error *err);
/* ------------------------------------------------------------------------------------------------------- admin.c -- */

pawl_status pawl__kafka_store_list(void *self, const pawl_store_call *call, pawl_list_fn fn, void *user,
                                   pawl_error *err);
pawl_status pawl__kafka_store_remove(void *self, const pawl_store_call *call, const pawl_remove_line *lines,
                                     size_t count, pawl_error *err);

#endif
