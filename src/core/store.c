/*
 * store.c - opening a store by its URL, closing and cancelling it, and what it says about itself
 */
#include "core/store.h"

#include <string.h>

#include <pawl/sys/registry.h>

#include "util/clock.h"
#include "util/url.h"

#define DEFAULT_TIMEOUT_MS 30000

/* As it was in the first version: the least that any program gives. */
#define SMALLEST_OPTIONS_SIZE offsetof(pawl_store_options, kafka)

int64_t
pawl_sys_now_ms(void)
{
    return pawl__clock_ms();
}

/* -------------------------------------------------------------------------------------------- options in the URL -- */

typedef struct option_source {
    const pawl_store_backend *backend;
    const pawl__url *url;
} option_source;

static const pawl_store_option *
find_option(const pawl_store_backend *backend, const char *name)
{
    for (const pawl_store_option *option = backend->options; option != NULL && option->name != NULL; option++)
        if (strcmp(option->name, name) == 0)
            return option;
    return NULL;
}

static const char *
get_option(const pawl_store_setup *setup, const char *name)
{
    const option_source *source = setup->_options;
    const pawl_store_option *option = find_option(source->backend, name);
    const char *given;

    g_return_val_if_fail(option != NULL, ""); /* a backend asks only for what its own table has */
    given = g_hash_table_lookup(source->url->query, name);
    return given != NULL ? given : option->fallback;
}

static char *
option_names(const pawl_store_backend *backend)
{
    GString *names = g_string_new(NULL);

    for (const pawl_store_option *option = backend->options; option != NULL && option->name != NULL; option++)
        g_string_append_printf(names, "%s%s", names->len > 0 ? ", " : "", option->name);
    if (names->len == 0)
        g_string_append(names, "none");
    return g_string_free(names, FALSE);
}

/* The URL is shown without its query: the value of an option that nobody knows may be a secret. */
static pawl_status
unknown_option(const pawl_store_backend *backend, const pawl__url *url, const char *name, pawl_error *err)
{
    char *names = option_names(backend);

    pawl_error_set(err, PAWL_INVALID, 0, 0, "%.*s: a %s: store has no option '%s'; its options are: %s",
                   (int) strcspn(url->masked, "?"), url->masked, backend->scheme, name, names);
    g_free(names);
    return PAWL_INVALID;
}

static pawl_status
check_options(const pawl_store_backend *backend, const pawl__url *url, pawl_error *err)
{
    GHashTableIter iter;
    gpointer name;

    g_hash_table_iter_init(&iter, url->query);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        if (find_option(backend, name) == NULL)
            return unknown_option(backend, url, name, err);
    return PAWL_OK;
}

/* ------------------------------------------------------------------------------------------------ open and close -- */

/* The caller's options, whatever version of the struct they are, as this version sees them. */
static pawl_status
read_options(const pawl_store_options *given, pawl_store_options *ret_options, pawl_error *err)
{
    memset(ret_options, 0, sizeof *ret_options);
    if (given != NULL && given->size < SMALLEST_OPTIONS_SIZE)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "the size of pawl_store_options is not set");
    if (given != NULL)
        memcpy(ret_options, given, MIN(given->size, sizeof *ret_options));
    if (ret_options->timeout_ms < 0)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "a store's timeout is never negative");
    if (ret_options->timeout_ms == 0)
        ret_options->timeout_ms = DEFAULT_TIMEOUT_MS;
    return PAWL_OK;
}

static pawl_store *
store_new(const pawl_store_backend *backend, const pawl_store_options *options)
{
    pawl_store *store = g_new0(pawl_store, 1);

    store->backend = backend;
    store->self = g_malloc0(backend->instance_size);
    store->timeout_ms = options->timeout_ms;
    store->read_only = options->read_only;
    if (options->log != NULL)
        store->log = *options->log;
    pawl__wait_init(&store->wait);
    return store;
}

static pawl_status
open_backend(pawl_store *store, const pawl__url *url, const pawl_store_options *options,
             const struct pawl_source_member *member, pawl_error *err)
{
    option_source source = {store->backend, url};
    pawl_store_setup setup = {
        .url = url->masked,
        .user = url->user,
        .password = url->password,
        .hosts = url->hosts,
        .path = url->path,
        .log = &store->log,
        .deadline_ms = pawl__clock_ms() + store->timeout_ms,
        .read_only = store->read_only,
        .kafka = options->kafka,
        .member = member,
        .option = get_option,
        ._options = &source,
    };

    return store->backend->open(store->self, &setup, err);
}

static pawl_status
open_url(const pawl__url *url, const pawl_store_options *options, const struct pawl_source_member *member,
         pawl_store **ret_store, pawl_error *err)
{
    const pawl_store_backend *backend;
    pawl_store *store;
    pawl_status status = pawl_registry_find_store(url->scheme, &backend, err);

    if (status == PAWL_OK)
        status = check_options(backend, url, err);
    if (status != PAWL_OK)
        return status;

    store = store_new(backend, options);
    store->url = g_strdup(url->masked);
    status = open_backend(store, url, options, member, err);
    if (status != PAWL_OK) {
        pawl_store_close(store);
        return status;
    }
    *ret_store = store;
    return PAWL_OK;
}

pawl_status
pawl__store_open_as_member(const char *url, const pawl_store_options *options, const struct pawl_source_member *member,
                           pawl_store **ret_store, pawl_error *err)
{
    pawl_store_options known;
    pawl__url parts;
    pawl_status status = read_options(options, &known, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__url_parse(url, &parts, err);
    if (status == PAWL_OK)
        status = open_url(&parts, &known, member, ret_store, err);
    pawl__url_done(&parts);
    return status;
}

pawl_status
pawl_store_open(const char *url, const pawl_store_options *options, pawl_store **ret_store, pawl_error *err)
{
    return pawl__store_open_as_member(url, options, NULL, ret_store, err);
}

void
pawl_store_close(pawl_store *store)
{
    if (store == NULL)
        return;
    pawl_store_rollback(store);
    store->backend->close(store->self);
    pawl__wait_done(&store->wait);
    g_free(store->self);
    g_free(store->url);
    g_free(store);
}

void
pawl__store_hurry(pawl_store *store, int64_t timeout_ms)
{
    store->timeout_ms = MIN(store->timeout_ms, timeout_ms);
}

/* ------------------------------------------------------------------------------------------ what it says, cancel -- */

const char *
pawl_store_scheme(const pawl_store *store)
{
    return store->backend->scheme;
}

const char *
pawl_store_url(const pawl_store *store)
{
    return store->url;
}

unsigned
pawl_store_capabilities(const pawl_store *store)
{
    return store->backend->capabilities;
}

size_t
pawl_store_max_partitions(const pawl_store *store)
{
    return store->backend->max_partitions != NULL ? store->backend->max_partitions(store->self) : 0;
}

const char *
pawl_store_place(pawl_store *store, const char *group, pawl_partition partition, char *text, size_t text_size)
{
    store->backend->place(store->self, group, partition, text, text_size);
    return text;
}

void
pawl_store_cancel(pawl_store *store)
{
    pawl__wait_lock(&store->wait);
    store->cancelled = true;
    pawl__wait_wake(&store->wait);
    pawl__wait_unlock(&store->wait);
    if (store->backend->cancel != NULL)
        store->backend->cancel(store->self);
}
