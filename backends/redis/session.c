/*
 * session.c - finding a master that can be relied upon, and beginning to talk to it
 */
#include "backends/redis/redis_store.h"

#include <string.h>

#include "util/clock.h"

/* ----------------------------------------------------------------------------------------------------- beginning -- */

static pawl_status
authenticate(pawl__redis_store *store, int64_t deadline_ms, pawl_error *err)
{
    const char *both[] = {"AUTH", store->user, store->password != NULL ? store->password : ""};
    const char *only[] = {"AUTH", store->password};
    pawl_status status = PAWL_OK;

    if (store->user != NULL)
        status = pawl__redis_tell(store, 3, both, deadline_ms, err);
    else if (store->password != NULL)
        status = pawl__redis_tell(store, 2, only, deadline_ms, err);
    /* A server without passwords says so in many words, and some older ones show what they were given. */
    if (status == PAWL_FAILED)
        status = pawl_error_set(err, PAWL_UNREACHABLE, 0, 0,
                                "redis at %s does not take this user and password: it may have none, or be older than "
                                "version 6, which knows no users",
                                store->link.address);
    return status;
}

static pawl_status
select_database(pawl__redis_store *store, int64_t deadline_ms, pawl_error *err)
{
    const char *argv[] = {"SELECT", store->database};
    pawl_status status;

    if (strcmp(store->database, "0") == 0)
        return PAWL_OK;
    status = pawl__redis_tell(store, 2, argv, deadline_ms, err);
    if (status == PAWL_FAILED)
        pawl_error_prefix(err, "database %s", store->database);
    return status;
}

/* Of an old server, or one where the command has another name. */
static bool
is_unknown_command(const redisReply *reply)
{
    return g_ascii_strncasecmp(reply->str, "ERR unknown ", strlen("ERR unknown ")) == 0;
}

/* The number of this connection; 0 on a server that gives none. */
static pawl_status
number_connection(pawl__redis_store *store, int64_t deadline_ms, pawl_error *err)
{
    const char *argv[] = {"CLIENT", "ID"};
    redisReply *reply = NULL;
    pawl_status status = pawl__redis_ask(store, 2, argv, deadline_ms, &reply, err);

    if (status != PAWL_OK)
        return status;
    if (reply->type == REDIS_REPLY_ERROR && !is_unknown_command(reply))
        status = pawl__redis_fail(store, reply, err);
    store->our_connection = reply->type == REDIS_REPLY_INTEGER ? reply->integer : 0;
    freeReplyObject(reply);
    return status;
}

static pawl_status
begin(pawl__redis_store *store, const char *address, int64_t deadline_ms, pawl_error *err)
{
    pawl_status status = pawl__redis_link_connect(&store->link, address, deadline_ms, err);

    if (status == PAWL_OK)
        status = authenticate(store, deadline_ms, err);
    if (status == PAWL_OK)
        status = number_connection(store, deadline_ms, err);
    if (status == PAWL_OK)
        status = pawl__redis_look_at_server(store, deadline_ms, err);
    if (status == PAWL_OK)
        status = select_database(store, deadline_ms, err);
    if (status == PAWL_OK)
        status = pawl__redis_end_stray(store, deadline_ms, err);
    if (status != PAWL_OK)
        pawl__redis_link_close(&store->link);
    return status;
}

/* ---------------------------------------------------------------------------------------------- finding a master -- */

/* Tries one address, for as long as one may take. */
static pawl_status
try_address(pawl__redis_store *store, const char *address, int64_t deadline_ms, pawl_error *err)
{
    return begin(store, address, MIN(deadline_ms, pawl__clock_ms() + store->connect_timeout_ms), err);
}

/* Another server may be what this one is not. */
static bool
may_try_next(pawl_status status, const pawl_error *err)
{
    return status != PAWL_OK && status != PAWL_CANCELLED && (err->flags & PAWL_ERROR_RETRIABLE) != 0;
}

pawl_status
pawl__redis_session(pawl__redis_store *store, int64_t deadline_ms, pawl_error *err)
{
    size_t count = g_strv_length(store->addresses);
    pawl_error last = {0};
    pawl_status status;

    if (pawl__redis_link_is_up(&store->link))
        return PAWL_OK;
    if (store->elsewhere != NULL) {
        status = try_address(store, store->elsewhere, deadline_ms, &last);
        if (!may_try_next(status, &last))
            count = 0;
        g_clear_pointer(&store->elsewhere, g_free);
    } else
        status = PAWL_UNREACHABLE;
    for (size_t i = 0; i < count; i++) {
        status = try_address(store, store->addresses[store->current], deadline_ms, &last);
        if (!may_try_next(status, &last))
            break;
        store->current = (store->current + 1) % g_strv_length(store->addresses);
    }
    if (status != PAWL_OK && err != NULL)
        *err = last;
    return status;
}

void
pawl__redis_session_done(pawl__redis_store *store)
{
    pawl__redis_link_close(&store->link);
    g_free(store->elsewhere);
    g_free(store->run);
    g_free(store->stray.run);
}
