/*
 * options.c - the URL of a redis: store
 */
#include "backends/redis/redis_store.h"

#include <string.h>

#include "util/text.h"

static pawl_status
wrong(const pawl_store_setup *setup, const char *what, pawl_error *err)
{
    return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s: %s", setup->url, what);
}

/* A host's number of the database is the path; a socket's path is the path. */
static pawl_status
read_where(pawl__redis_store *store, const pawl_store_setup *setup, pawl_error *err)
{
    const char *path = setup->path, *database = setup->option(setup, "db");
    const char *const socket[] = {path, NULL};
    int64_t number;

    if (setup->hosts[0] != '\0') {
        store->addresses = g_strsplit(setup->hosts, ",", -1);
        if (path[0] == '/')
            path++;
        if (path[0] != '\0' && database[0] != '\0')
            return wrong(setup, "it names a database twice", err);
        if (path[0] != '\0')
            database = path;
    } else if (path[0] == '/') {
        store->addresses = g_strdupv((char **) socket);
    } else
        return wrong(setup, "write redis://HOST:PORT/DATABASE, or redis:/PATH/OF/SOCKET", err);
    if (database[0] == '\0')
        database = "0";
    if (!pawl__text_offset(database, strlen(database), &number) || number > INT32_MAX)
        return wrong(setup, "a database is a number, 0 or greater", err);
    store->database = g_strdup(database);
    return PAWL_OK;
}

/* A socket has no place for them before its path, so that they may also stand behind it. */
static pawl_status
read_user(pawl__redis_store *store, const pawl_store_setup *setup, pawl_error *err)
{
    const char *user = setup->option(setup, "user"), *password = setup->option(setup, "password");

    if ((setup->user != NULL && user[0] != '\0') || (setup->password != NULL && password[0] != '\0'))
        return wrong(setup, "it names a user or a password twice", err);
    store->user = g_strdup(setup->user != NULL ? setup->user : user[0] != '\0' ? user : NULL);
    store->password = g_strdup(setup->password != NULL ? setup->password : password[0] != '\0' ? password : NULL);
    return PAWL_OK;
}

static pawl_status
read_choice(const pawl_store_setup *setup, const char *name, const char *yes, const char *no, bool *ret_yes,
            pawl_error *err)
{
    const char *value = setup->option(setup, name);

    *ret_yes = strcmp(value, yes) == 0;
    if (*ret_yes || strcmp(value, no) == 0)
        return PAWL_OK;
    return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s: option '%s' is %s or %s, not '%s'", setup->url, name, yes, no,
                          value);
}

static pawl_status
read_numbers(pawl__redis_store *store, const pawl_store_setup *setup, pawl_error *err)
{
    const char *replicas = setup->option(setup, "replicas");

    if (pawl__text_duration(setup->option(setup, "connect_timeout"), &store->connect_timeout_ms, err) != PAWL_OK) {
        pawl_error_prefix(err, "%s: option 'connect_timeout'", setup->url);
        return PAWL_INVALID;
    }
    if (!pawl__text_offset(replicas, strlen(replicas), &store->replicas) || store->replicas > 1000)
        return wrong(setup, "option 'replicas' is a number, 0 to 1000", err);
    return PAWL_OK;
}

pawl_status
pawl__redis_options(pawl__redis_store *store, const pawl_store_setup *setup, pawl_error *err)
{
    pawl_status status = read_where(store, setup, err);

    store->url = g_strdup(setup->url);
    if (status == PAWL_OK)
        status = read_user(store, setup, err);
    if (status == PAWL_OK)
        status = read_numbers(store, setup, err);
    if (status == PAWL_OK)
        status = read_choice(setup, "durability", "full", "none", &store->durable, err);
    if (status == PAWL_OK)
        status = read_choice(setup, "on_rollback", "reassert", "fail", &store->reassert, err);
    return status;
}

void
pawl__redis_options_done(pawl__redis_store *store)
{
    g_strfreev(store->addresses);
    g_free(store->url);
    g_free(store->user);
    g_free(store->password);
    g_free(store->database);
}
