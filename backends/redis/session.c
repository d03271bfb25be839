/*
 * session.c - finding a master that can be relied upon, and talking to it
 */
#include "backends/redis/redis_store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/log.h"

/* What is left for the answer to a WAIT to come back. */
#define WAIT_MARGIN_MS 100

/* -------------------------------------------------------------------------------------------------------- asking -- */

static void
remember_stray(pawl__redis_store *store)
{
    g_free(store->stray.run);
    store->stray.run = g_strdup(store->run);
    store->stray.connection = store->our_connection;
}

pawl_status
pawl__redis_ask(pawl__redis_store *store, int argc, const char **argv, bool writes, int64_t deadline_ms,
                redisReply **ret_reply, pawl_error *err)
{
    bool sent;
    pawl_status status = pawl__redis_link_ask(&store->link, argc, argv, deadline_ms, &sent, ret_reply, err);

    if (status == PAWL_OK || status == PAWL_CANCELLED || !sent || !writes)
        return status;
    remember_stray(store);
    if (err != NULL)
        err->status = PAWL_OUTCOME_UNKNOWN, err->flags = 0;
    return PAWL_OUTCOME_UNKNOWN;
}

/* Asks for what is never refused; an answer that is an error fails. */
static pawl_status
ask(pawl__redis_store *store, int argc, const char **argv, int64_t deadline_ms, redisReply **ret_reply, pawl_error *err)
{
    redisReply *reply = NULL;
    pawl_status status = pawl__redis_ask(store, argc, argv, false, deadline_ms, &reply, err);

    if (status == PAWL_OK && reply->type == REDIS_REPLY_ERROR) {
        status = pawl__redis_fail(store, reply, err);
        freeReplyObject(reply);
    } else if (status == PAWL_OK)
        *ret_reply = reply;
    return status;
}

/* The same where the answer is of no interest. */
static pawl_status
tell(pawl__redis_store *store, int argc, const char **argv, int64_t deadline_ms, pawl_error *err)
{
    redisReply *reply = NULL;
    pawl_status status = ask(store, argc, argv, deadline_ms, &reply, err);

    if (status == PAWL_OK)
        freeReplyObject(reply);
    return status;
}

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
    status = ask(store, 3, argv, deadline_ms, &reply, err);
    if (status != PAWL_OK)
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

/* ------------------------------------------------------------------------------------------- what kind of server -- */

/* The value of a line "name:value" of INFO; "" where there is none. The caller frees it. */
static char *
info_value(const char *info, const char *name)
{
    char *start = g_strconcat("\n", name, ":", NULL);
    const char *found = strstr(info, start);
    const char *value = found != NULL ? found + strlen(start) : "";

    g_free(start);
    return g_strndup(value, strcspn(value, "\r\n"));
}

static bool
info_says(const char *info, const char *name, const char *value)
{
    char *is = info_value(info, name);
    bool says = strcmp(is, value) == 0;

    g_free(is);
    return says;
}

/* The value of a setting of the server, which the caller frees; NULL where it may not be asked for. */
static pawl_status
server_setting(pawl__redis_store *store, const char *name, int64_t deadline_ms, char **ret_value, pawl_error *err)
{
    const char *argv[] = {"CONFIG", "GET", name};
    redisReply *reply = NULL;
    pawl_status status = pawl__redis_ask(store, 3, argv, false, deadline_ms, &reply, err);

    *ret_value = NULL;
    if (status != PAWL_OK)
        return status;
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 && reply->element[1]->type == REDIS_REPLY_STRING)
        *ret_value = g_strdup(reply->element[1]->str);
    freeReplyObject(reply);
    return PAWL_OK;
}

/* A second of saves, or more, may be lost with the machine: that is for people to know, not to be refused. */
static void
tell_durability(pawl__redis_store *store, bool aof, const char *fsync)
{
    if (store->told || (aof && g_strcmp0(fsync, "always") == 0))
        return;
    store->told = true;
    pawl__log(store->log, PAWL_LOG_WARN, "store",
              "redis at %s is set up so that the last saves may be lost when its machine goes down, and are then read "
              "again: appendonly is %s, appendfsync is %s; 'yes' and 'always' keep them all",
              store->link.address, aof ? "yes" : "no", fsync != NULL ? fsync : "not to be asked for");
}

/* Without a log of what is written there are the copies that `save` makes, if any. */
static pawl_status
check_copies(pawl__redis_store *store, int64_t deadline_ms, pawl_error *err)
{
    char *save;
    pawl_status status = server_setting(store, "save", deadline_ms, &save, err);

    if (status == PAWL_OK && save != NULL && save[0] == '\0')
        status = pawl_error_set(err, PAWL_FAILED, 0, 0,
                                "redis at %s keeps nothing on its disk: set its appendonly to yes and appendfsync to "
                                "always, or say durability=none",
                                store->link.address);
    g_free(save);
    return status;
}

/* Refuses a server that throws offsets away by itself. */
static pawl_status
check_durability(pawl__redis_store *store, const char *info, int64_t deadline_ms, pawl_error *err)
{
    bool aof = info_says(info, "aof_enabled", "1");
    char *fsync = NULL;
    pawl_status status = PAWL_OK;

    if (!store->durable)
        return PAWL_OK;
    if (!info_says(info, "maxmemory_policy", "noeviction"))
        return pawl_error_set(err, PAWL_FAILED, 0, 0,
                              "redis at %s may evict offsets: set its maxmemory-policy to noeviction, or say "
                              "durability=none",
                              store->link.address);
    if (!aof)
        status = check_copies(store, deadline_ms, err);
    if (status == PAWL_OK)
        status = server_setting(store, "appendfsync", deadline_ms, &fsync, err);
    if (status == PAWL_OK)
        tell_durability(store, aof, fsync);
    g_free(fsync);
    return status;
}

static pawl_status
check_role(pawl__redis_store *store, const char *info, pawl_error *err)
{
    char *host, *port;
    pawl_status status;

    if (info_says(info, "loading", "1"))
        return pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, 0, "redis at %s is still loading its data",
                              store->link.address);
    if (!info_says(info, "role", "slave"))
        return PAWL_OK;
    host = info_value(info, "master_host");
    port = info_value(info, "master_port");
    status = pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, 0,
                            "redis at %s is a replica of %s:%s, and offsets are kept on a master: name it in the URL",
                            store->link.address, host, port);
    g_free(host);
    g_free(port);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- beginning -- */

static pawl_status
authenticate(pawl__redis_store *store, int64_t deadline_ms, pawl_error *err)
{
    const char *both[] = {"AUTH", store->user, store->password != NULL ? store->password : ""};
    const char *only[] = {"AUTH", store->password};
    pawl_status status = PAWL_OK;

    if (store->user != NULL)
        status = tell(store, 3, both, deadline_ms, err);
    else if (store->password != NULL)
        status = tell(store, 2, only, deadline_ms, err);
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
    status = tell(store, 2, argv, deadline_ms, err);
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
    pawl_status status = pawl__redis_ask(store, 2, argv, false, deadline_ms, &reply, err);

    if (status != PAWL_OK)
        return status;
    if (reply->type == REDIS_REPLY_ERROR && !is_unknown_command(reply))
        status = pawl__redis_fail(store, reply, err);
    store->our_connection = reply->type == REDIS_REPLY_INTEGER ? reply->integer : 0;
    freeReplyObject(reply);
    return status;
}

/*
 * A request whose answer was lost may lie unread in the server's socket, and would be carried out after we have looked.
 * Ending its connection there makes sure that it was carried out before, or never will be. Without the right to do so
 * the epoch and the expected offset in the request still guard what was written since. On another server, as a node of a
 * cluster that only sends us on, there is nothing to end yet.
 */
static pawl_status
end_stray(pawl__redis_store *store, int64_t deadline_ms, pawl_error *err)
{
    char number[24];
    const char *argv[] = {"CLIENT", "KILL", "ID", number};
    redisReply *reply = NULL;
    pawl_status status;

    if (store->stray.connection == 0 || strcmp(store->stray.run, store->run) != 0)
        return PAWL_OK;
    g_snprintf(number, sizeof number, "%" PRId64, store->stray.connection);
    status = pawl__redis_ask(store, 4, argv, false, deadline_ms, &reply, err);
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

static pawl_status
look_at_server(pawl__redis_store *store, int64_t deadline_ms, pawl_error *err)
{
    const char *argv[] = {"INFO"};
    redisReply *reply = NULL;
    pawl_status status = ask(store, 1, argv, deadline_ms, &reply, err);

    if (status != PAWL_OK)
        return status;
    if (reply->type != REDIS_REPLY_STRING) {
        freeReplyObject(reply);
        return pawl__redis_strange(store, err);
    }
    g_free(store->run);
    store->run = info_value(reply->str, "run_id");
    store->cluster = info_says(reply->str, "cluster_enabled", "1");
    status = check_role(store, reply->str, err);
    if (status == PAWL_OK)
        status = check_durability(store, reply->str, deadline_ms, err);
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
        status = look_at_server(store, deadline_ms, err);
    if (status == PAWL_OK)
        status = select_database(store, deadline_ms, err);
    if (status == PAWL_OK)
        status = end_stray(store, deadline_ms, err);
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
