/*
 * server.c - what kind of server is it, and may it be relied upon?
 */
#include "backends/redis/redis_store.h"

#include <string.h>

#include "util/log.h"

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
    pawl_status status = pawl__redis_ask(store, 3, argv, deadline_ms, &reply, err);

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

pawl_status
pawl__redis_look_at_server(pawl__redis_store *store, int64_t deadline_ms, pawl_error *err)
{
    const char *argv[] = {"INFO"};
    redisReply *reply = NULL;
    pawl_status status = pawl__redis_request(store, 1, argv, deadline_ms, &reply, err);

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
