/*
 * request.c - one request to the group's coordinator
 *
 * Each request has a queue of its own, so that an answer which comes too late is nobody's.
 */
#include "backends/kafka/kafka_store.h"

#include "util/clock.h"

/* librdkafka answers by itself when a request has taken too long; what we wait is a little less. */
#define MARGIN_MS 500

static pawl_status
enter(pawl__kafka_store *store, rd_kafka_queue_t *queue, pawl_error *err)
{
    bool cancelled;

    pawl__wait_lock(&store->wait);
    store->queue = queue;
    cancelled = store->cancelled;
    pawl__wait_unlock(&store->wait);
    return cancelled ? pawl_error_set(err, PAWL_CANCELLED, 0, 0, "%s: cancelled", store->url) : PAWL_OK;
}

static bool
is_cancelled(pawl__kafka_store *store)
{
    bool cancelled;

    pawl__wait_lock(&store->wait);
    cancelled = store->cancelled;
    pawl__wait_unlock(&store->wait);
    return cancelled;
}

static pawl_status
await_answer(pawl__kafka_store *store, rd_kafka_queue_t *queue, int64_t deadline_ms, rd_kafka_event_t **ret_answer,
             pawl_error *err)
{
    int64_t left;

    while ((left = deadline_ms - pawl__clock_ms()) > 0 && !is_cancelled(store)) {
        *ret_answer = rd_kafka_queue_poll(queue, (int) MIN(left, INT32_MAX));
        if (*ret_answer != NULL)
            return PAWL_OK;
    }
    if (is_cancelled(store))
        return pawl_error_set(err, PAWL_CANCELLED, 0, 0, "%s: cancelled", store->url);
    return pawl_error_set(err, PAWL_TIMEOUT, PAWL_ERROR_RETRIABLE, 0, "%s: the brokers did not answer in time",
                          store->url);
}

pawl_status
pawl__kafka_store_request(pawl__kafka_store *store, rd_kafka_t *client, int64_t deadline_ms,
                          pawl__kafka_store_begin_fn begin, void *user, rd_kafka_event_t **ret_answer, pawl_error *err)
{
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    int64_t left = MAX(deadline_ms - pawl__clock_ms(), 1);
    pawl_status status = enter(store, queue, err);

    *ret_answer = NULL;
    if (status == PAWL_OK) {
        begin(client, queue, (int) MIN(left + MARGIN_MS, INT32_MAX), user);
        status = await_answer(store, queue, deadline_ms, ret_answer, err);
    }
    pawl__wait_lock(&store->wait);
    store->queue = NULL;
    pawl__wait_unlock(&store->wait);
    rd_kafka_queue_destroy(queue);
    return status;
}

/* In slices, since a cancelled store cannot end it. */
pawl_status
pawl__kafka_store_await_generation(pawl__kafka_store *store, int64_t deadline_ms, pawl_error *err)
{
    const int64_t slice_ms = 100;
    int64_t now = pawl__clock_ms();

    while (!store->member->await_generation(store->member, MIN(now + slice_ms, deadline_ms))) {
        now = pawl__clock_ms();
        if (is_cancelled(store))
            return pawl_error_set(err, PAWL_CANCELLED, 0, 0, "%s: cancelled", store->url);
        if (now >= deadline_ms)
            return pawl_error_set(err, PAWL_TIMEOUT, PAWL_ERROR_RETRIABLE, 0, "%s: the group is still rebalancing",
                                  store->url);
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
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
    case RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT:
    case RD_KAFKA_RESP_ERR__WAIT_COORD:
        return pawl_error_set(err, PAWL_FAILED, PAWL_ERROR_RETRIABLE, code, "%s: %s: %s", store->url, what, reason);
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__DESTROY:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
        return pawl_error_set(err, is_write ? PAWL_OUTCOME_UNKNOWN : PAWL_UNREACHABLE,
                              is_write ? 0 : PAWL_ERROR_RETRIABLE, code, "%s: %s: %s", store->url, what, reason);
    default:
        return pawl_error_set(err, PAWL_FAILED, 0, code, "%s: %s: %s", store->url, what, reason);
    }
}
