/*
 * kafka_store.h - the kafka: store from inside
 *
 *     kafka_store.c   the table; opening, closing, cancelling
 *     request.c       one request to the group's coordinator, and what its errors mean
 *     offsets.c       load, acquire, plan, save, release, list, remove
 *     metadata.c      what pawl keeps beside an offset
 *
 * Offsets are the group's own committed offsets. A job that is a member of the group (members = group) commits as that
 * member, and Kafka refuses it once it is none any more. Everybody else commits as an administrator does, which Kafka
 * refuses while the group has members.
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
    rd_kafka_t *client;               /* asks, and commits as an administrator */
    const pawl_source_member *member; /* the job's; NULL: this is no member of the group */
    bool warned;                      /* that nothing fences this job */
    GHashTable *batches; /* pawl_partition, owned -> int64_t, owned: the batch that is stored with each offset */

    pawl__wait wait;         /* guards what follows */
    rd_kafka_queue_t *queue; /* of the request that is waited for; NULL: none is */
    bool cancelled;
} pawl__kafka_store;

/* ---------------------------------------------------------------------------------------------------- metadata.c -- */

/* The longest text that pawl writes; the broker's limit is offset.metadata.max.bytes, 4,096 unless it was changed. */
#define PAWL__KAFKA_METADATA_SIZE 512

/* What is kept beside an offset. */
typedef struct pawl__kafka_metadata {
    int64_t batch;
    pawl_position pending;
    char print[PAWL_PRINT_SIZE];
} pawl__kafka_metadata;

/* Writes it as JSON. Returns text. */
const char *pawl__kafka_store_metadata_text(const pawl__kafka_metadata *metadata, char text[PAWL__KAFKA_METADATA_SIZE]);

/*
 * Reads it. What others have written, or nothing, is zeros. `place` is for messages. PAWL_UNSUPPORTED: a newer pawl wrote
 * it; PAWL_UNREADABLE: it looks like ours, and is not.
 */
pawl_status pawl__kafka_store_metadata_read(const char *text, size_t size, const char *place,
                                            pawl__kafka_metadata *ret_metadata, pawl_error *err);

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

/* Before a commit as a member: waits while the group is about to go on to another generation. */
pawl_status pawl__kafka_store_await_generation(pawl__kafka_store *store, int64_t deadline_ms, pawl_error *err);

/* The status of an error code. `what`: "load", "save" ...; `is_write`: whether it may have been done nevertheless. */
pawl_status pawl__kafka_store_failed(const pawl__kafka_store *store, rd_kafka_resp_err_t code, const char *text,
                                     const char *what, bool is_write, pawl_error *err);

/* ----------------------------------------------------------------------------------------------------- offsets.c -- */

/* Prepares what the other calls need to know; pawl__kafka_store_offsets_done() frees it. */
void pawl__kafka_store_offsets_init(pawl__kafka_store *store);
void pawl__kafka_store_offsets_done(pawl__kafka_store *store);

void pawl__kafka_store_place(void *self, const char *group, pawl_partition partition, char *text, size_t text_size);
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
pawl_status pawl__kafka_store_list(void *self, const pawl_store_call *call, pawl_list_fn fn, void *user,
                                   pawl_error *err);
pawl_status pawl__kafka_store_remove(void *self, const pawl_store_call *call, const pawl_remove_line *lines,
                                     size_t count, pawl_error *err);

#endif
