/*
 * request.c - one request to the group's coordinator, and what its errors mean
 *
 * Each request has a queue of its own, so that an answer which comes too late is nobody's.
 */
#include "backends/kafka/kafka_store.h"

#include <inttypes.h>

#include "util/clock.h"

/* librdkafka answers by itself when a request has taken too long; what we wait is a little less. */
#define MARGIN_MS 500

#define NO_ANSWER "the brokers did not answer in time"

/* The calls of a client that only wait cannot be ended from outside: they are made again and again. So long may a cancelled
 * store wait for one to end; the answer to a question is lost with it, so these may take longer. */
#define WAIT_SLICE_MS 20
#define ASK_SLICE_MS  500

/* How long to wait at a time. PAWL_OK: there is time left. */
static pawl_status
next_wait(pawl__kafka_store *store, int64_t deadline_ms, int64_t most_ms, const char *why, int *ret_ms, pawl_error *err)
{
    int64_t left = deadline_ms - pawl__clock_ms();
    bool cancelled;

    pawl__wait_lock(&store->wait);
    cancelled = store->cancelled;
    pawl__wait_unlock(&store->wait);
    if (cancelled)
        return pawl_error_set(err, PAWL_CANCELLED, 0, 0, "%s: cancelled", store->url);
    if (left <= 0)
        return pawl_error_set(err, PAWL_TIMEOUT, PAWL_ERROR_RETRIABLE, 0, "%s: %s", store->url, why);
    *ret_ms = (int) MIN(left, most_ms);
    return PAWL_OK;
}

/* -------------------------------------------------------------------------------------------- requests with a queue -- */

/* The queue that cancel wakes; NULL: none. */
static void
set_queue(pawl__kafka_store *store, rd_kafka_queue_t *queue)
{
    pawl__wait_lock(&store->wait);
    store->queue = queue;
    pawl__wait_unlock(&store->wait);
}

pawl_status
pawl__kafka_store_request(pawl__kafka_store *store, rd_kafka_t *client, int64_t deadline_ms,
                          pawl__kafka_store_begin_fn begin, void *user, rd_kafka_event_t **ret_answer, pawl_error *err)
{
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    int wait_ms;
    pawl_status status;

    *ret_answer = NULL;
    set_queue(store, queue);
    status = next_wait(store, deadline_ms, INT32_MAX - MARGIN_MS, NO_ANSWER, &wait_ms, err);
    if (status == PAWL_OK)
        begin(client, queue, wait_ms + MARGIN_MS, user);
    while (status == PAWL_OK && (*ret_answer = rd_kafka_queue_poll(queue, wait_ms)) == NULL)
        status = next_wait(store, deadline_ms, INT32_MAX, NO_ANSWER, &wait_ms, err);
    set_queue(store, NULL);
    rd_kafka_queue_destroy(queue);
    return status;
}

/* ---------------------------------------------------------------------------------------------- calls that only wait -- */

/* A client that may not ask about its group is told once, and goes on asking where it is kept: another one is told again. */
static pawl_status
check_refused(pawl__kafka_store *store, pawl_error *err)
{
    rd_kafka_queue_t *queue = store->client != NULL ? rd_kafka_queue_get_consumer(store->client) : NULL;
    rd_kafka_event_t *event;
    pawl_status status = PAWL_OK;

    while (status == PAWL_OK && queue != NULL && (event = rd_kafka_queue_poll(queue, 0)) != NULL) {
        if (rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
            status = pawl__kafka_store_failed(store, rd_kafka_event_error(event), NULL, store->group, false, err);
        rd_kafka_event_destroy(event);
    }
    g_clear_pointer(&queue, rd_kafka_queue_destroy);
    if (status != PAWL_OK)
        pawl__kafka_store_drop_client(store);
    return status;
}

static pawl_status
wait_for_offsets(pawl__kafka_store *store, rd_kafka_t *client, rd_kafka_topic_partition_list_t *list,
                 int64_t deadline_ms, int64_t slice_ms, const char *why, pawl_error *err)
{
    int wait_ms;
    pawl_status status;

    while ((status = next_wait(store, deadline_ms, slice_ms, why, &wait_ms, err)) == PAWL_OK) {
        rd_kafka_resp_err_t code = rd_kafka_committed(client, list, wait_ms);

        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
            return PAWL_OK;
        if (code != RD_KAFKA_RESP_ERR__TIMED_OUT)
            return pawl__kafka_store_failed(store, code, NULL, "load", false, err);
        status = check_refused(store, err);
        if (status != PAWL_OK)
            return status;
    }
    return status;
}

/* librdkafka has an answer for no partitions at once, when it knows where the group is kept. */
pawl_status
pawl__kafka_store_await_coordinator(pawl__kafka_store *store, rd_kafka_t *client, int64_t deadline_ms, pawl_error *err)
{
    rd_kafka_topic_partition_list_t *none = rd_kafka_topic_partition_list_new(1);
    pawl_status status = wait_for_offsets(store, client, none, deadline_ms, WAIT_SLICE_MS, NO_ANSWER, err);

    rd_kafka_topic_partition_list_destroy(none);
    return status;
}

pawl_status
pawl__kafka_store_committed(pawl__kafka_store *store, rd_kafka_t *client, rd_kafka_topic_partition_list_t *list,
                            int64_t deadline_ms, pawl_error *err)
{
    pawl_status status = pawl__kafka_store_await_coordinator(store, client, deadline_ms, err);

    if (status == PAWL_OK)
        status = wait_for_offsets(store, client, list, deadline_ms, ASK_SLICE_MS,
                                  "the group's offsets did not come in time; a transaction may hold them back", err);
    return status;
}

pawl_status
pawl__kafka_store_await_generation(pawl__kafka_store *store, int64_t deadline_ms, pawl_error *err)
{
    int wait_ms;
    pawl_status status = PAWL_OK;

    if (store->member == NULL)
        return PAWL_OK;
    while ((status = next_wait(store, deadline_ms, WAIT_SLICE_MS, "the group is still rebalancing", &wait_ms, err)) ==
           PAWL_OK)
        if (store->member->await_generation(store->member, pawl__clock_ms() + wait_ms))
            break;
    return status;
}

/* -------------------------------------------------------------------------------------------------------- errors -- */

void
pawl__kafka_store_place(void *self, const char *group, pawl_partition partition, char *text, size_t text_size)
{
    (void) self;
    g_snprintf(text, text_size, "offset of %s-%" PRId32 " in consumer group '%s'", partition.topic, partition.number,
               group);
}

pawl_status
pawl__kafka_store_check(const pawl__kafka_store *store, const char *group, const rd_kafka_topic_partition_list_t *list,
                        bool is_write, pawl_error *err)
{
    char place[512];

    for (int i = 0; list != NULL && i < list->cnt; i++) {
        const rd_kafka_topic_partition_t *line = &list->elems[i];

        if (line->err == RD_KAFKA_RESP_ERR_NO_ERROR)
            continue;
        pawl__kafka_store_place((void *) store, group, (pawl_partition){line->topic, line->partition}, place,
                                sizeof place);
        return pawl__kafka_store_failed(store, line->err, NULL, place, is_write, err);
    }
    return PAWL_OK;
}

pawl_status
pawl__kafka_store_failed(const pawl__kafka_store *store, rd_kafka_resp_err_t code, const char *text, const char *what,
                         bool is_write, pawl_error *err)
{
    const char *reason = text != NULL ? text : rd_kafka_err2str(code);

    switch (code) {
    case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
    case RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST:
    case RD_KAFKA_RESP_ERR__FATAL: /* another process with the same instance_id */
        if (store->member != NULL)
            return pawl_error_set(err, PAWL_FENCED, 0, code, "%s: %s: this is no member of the group any more: %s",
                                  store->url, what, reason);
        return pawl_error_set(err, PAWL_FENCED, 0, code,
                              "%s: %s: the group has members, and only they may change its offsets: end them first",
                              store->url, what);
    case RD_KAFKA_RESP_ERR_NON_EMPTY_GROUP:
    case RD_KAFKA_RESP_ERR_GROUP_SUBSCRIBED_TO_TOPIC:
        return pawl_error_set(err, PAWL_FENCED, 0, code,
                              "%s: %s: the group has members that read this topic: end them first", store->url, what);
    case RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT:
    case RD_KAFKA_RESP_ERR__WAIT_COORD:
        return pawl_error_set(err, PAWL_FAILED, PAWL_ERROR_RETRIABLE, code, "%s: %s: %s", store->url, what, reason);
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__DESTROY:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    /* A coordinator answers so as well when it has written a commit, and its replicas have not. */
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
        return pawl_error_set(err, is_write ? PAWL_OUTCOME_UNKNOWN : PAWL_UNREACHABLE,
                              is_write ? 0 : PAWL_ERROR_RETRIABLE, code, "%s: %s: %s", store->url, what, reason);
    default:
        return pawl_error_set(err, PAWL_FAILED, 0, code, "%s: %s: %s", store->url, what, reason);
    }
}
