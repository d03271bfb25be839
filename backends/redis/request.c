/*
 * request.c - requests on the connection of a session, and those whose answer was lost
 */
#include "backends/redis/redis_store.h"

#include <inttypes.h>
#include <string.h>

#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

/* What is left for the answer to a WAIT to come back. */
#define WAIT_MARGIN_MS 100

static void
remember_stray(pawl__redis_store *store)
{
    g_free(store->stray.run);
    store->stray.run = g_strdup(store->run);
    store->stray.connection = store->our_connection;
}

pawl_status
pawl__redis_write(pawl__redis_store *store, const GString *request, int64_t deadline_ms, redisReply **ret_reply,
                  pawl_error *err)
{
    bool sent;
    pawl_status status =
        pawl__redis_link_ask(&store->link, request->str, request->len, deadline_ms, &sent, ret_reply, err);

    if (status == PAWL_OK || status == PAWL_CANCELLED || !sent)
        return status;
    remember_stray(store);
    return pawl__error_turn_into(err, PAWL_OUTCOME_UNKNOWN, 0);
}

pawl_status
pawl__redis_read(pawl__redis_store *store, const GString *request, int64_t deadline_ms, redisReply **ret_reply,
                 pawl_error *err)
{
    bool sent;

    return pawl__redis_link_ask(&store->link, request->str, request->len, deadline_ms, &sent, ret_reply, err);
}

pawl_status
pawl__redis_ask(pawl__redis_store *store, int argc, const char **argv, int64_t deadline_ms, redisReply **ret_reply,
                pawl_error *err)
{
    pawl__redis_args args;
    GString *request;
    pawl_status status;

    pawl__redis_args_init(&args);
    for (int i = 0; i < argc; i++)
        pawl__redis_args_add(&args, argv[i]);
    request = pawl__redis_args_request(&args, NULL);
    status = pawl__redis_read(store, request, deadline_ms, ret_reply, err);
    g_string_free(request, TRUE);
    pawl__redis_args_done(&args);
    return status;
}

pawl_status
pawl__redis_request(pawl__redis_store *store, int argc, const char **argv, int64_t deadline_ms, redisReply **ret_reply,
                    pawl_error *err)
{
    redisReply *reply = NULL;
    pawl_status status = pawl__redis_ask(store, argc, argv, deadline_ms, &reply, err);

    if (status == PAWL_OK && reply->type == REDIS_REPLY_ERROR) {
        status = pawl__redis_fail(store, reply, err);
        freeReplyObject(reply);
    } else if (status == PAWL_OK)
        *ret_reply = reply;
    return status;
}

pawl_status
pawl__redis_tell(pawl__redis_store *store, int argc, const char **argv, int64_t deadline_ms, pawl_error *err)
{
    redisReply *reply = NULL;
    pawl_status status = pawl__redis_request(store, argc, argv, deadline_ms, &reply, err);

    if (status == PAWL_OK)
        freeReplyObject(reply);
    return status;
}

/* -------------------------------------------------------------------------------------------------- lost answers -- */

/*
 * A request whose answer was lost may lie unread in the server's socket, and would be carried out after we have looked.
 * Ending its connection there makes sure that it was carried out before, or never will be. Without the right to do so
 * the epoch and the expected offset in the request still guard what was written since. On another server, as a node of a
 * cluster that only sends us on, there is nothing to end yet.
 */
pawl_status
pawl__redis_end_stray(pawl__redis_store *store, int64_t deadline_ms, pawl_error *err)
{
    char number[24];
    const char *argv[] = {"CLIENT", "KILL", "ID", number};
    redisReply *reply = NULL;
    pawl_status status;

    if (store->stray.connection == 0 || strcmp(store->stray.run, store->run) != 0)
        return PAWL_OK;
    g_snprintf(number, sizeof number, "%" PRId64, store->stray.connection);
    status = pawl__redis_ask(store, 4, argv, deadline_ms, &reply, err);
    if (status != PAWL_OK)
        return status;
    if (reply->type == REDIS_REPLY_ERROR)
        pawl__log(store->log, PAWL_LOG_WARN, "store",
                  "redis at %s does not end the connection on which an answer was lost: %s", store->link.address,
                  reply->str);
    freeReplyObject(reply);
    g_clear_pointer(&store->stray.run, g_free);
    store->stray.connection = 0;
    return PAWL_OK;
}

/* ------------------------------------------------------------------------------------------------------ replicas -- */

pawl_status
pawl__redis_wait_replicas(pawl__redis_store *store, int64_t deadline_ms, pawl_error *err)
{
    int64_t left_ms = deadline_ms - pawl__clock_ms();
    char replicas[24], timeout[24];
    const char *argv[] = {"WAIT", replicas, timeout};
    redisReply *reply = NULL;
    pawl_status status;

    if (store->replicas == 0)
        return PAWL_OK;
    g_snprintf(replicas, sizeof replicas, "%" PRId64, store->replicas);
    g_snprintf(timeout, sizeof timeout, "%" PRId64, MAX(left_ms - WAIT_MARGIN_MS, 1)); /* 0 would be for ever */
    status = pawl__redis_request(store, 3, argv, deadline_ms, &reply, err);
    if (reply == NULL)
        return status;
    if (reply->type != REDIS_REPLY_INTEGER)
        status = pawl__redis_strange(store, err);
    else if (reply->integer < store->replicas)
        status = pawl_error_set(err, PAWL_TIMEOUT, PAWL_ERROR_RETRIABLE, 0,
                                "%lld of %" PRId64 " replicas of redis at %s have confirmed a write in time",
                                reply->integer, store->replicas, store->link.address);
    freeReplyObject(reply);
    return status;
}
