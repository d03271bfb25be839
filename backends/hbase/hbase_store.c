/*
 * hbase_store.c - offsets in a table of HBase, by way of its REST gateway: the table of functions; options, opening,
 * closing, cancelling
 */
#include "backends/hbase/hbase_store.h"

#include <string.h>

#include "util/text.h"
#include "util/url.h"

#define DEFAULT_PORT "8080"

/* A module's one symbol. Where the store is built in, the build gives it another name. */
extern PAWL_API const pawl_store_backend pawl_store_module;

static const pawl_store_option options[] = {
    {"create", "no", "Whether the table is made when it is missing: yes or no."},
    {"family", "o", "The column family of the table in which everything is kept."},
    {"request_timeout", "10s",
     "How long one gateway may take to answer before the next one is asked; the store's timeout ends the wait, too."},
    {"tls", "no", "Whether the gateways are spoken to by https: yes or no."},
    {"ca", "", "A file of certificates to trust instead of the system's, with tls=yes."},
    {NULL, NULL, NULL},
};

/* ------------------------------------------------------------------------------------------------------- options -- */

/* Names that need no escaping in a URL or in JSON; HBase allows no others for tables. */
static bool
is_name(const char *text, const char *also)
{
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++)
        if (!g_ascii_isalnum(*text) && strchr(also, *text) == NULL)
            return false;
    return true;
}

static pawl_status
read_options(pawl__hbase_store *store, const pawl_store_setup *setup, bool *ret_create, pawl_error *err)
{
    const char *name;

    if (pawl__text_flag(setup->option(setup, name = "create"), ret_create, err) != PAWL_OK ||
        pawl__text_flag(setup->option(setup, name = "tls"), &store->tls, err) != PAWL_OK ||
        pawl__text_duration(setup->option(setup, name = "request_timeout"), &store->request_timeout_ms, err) !=
            PAWL_OK) {
        pawl_error_prefix(err, "%s: option '%s'", setup->url, name);
        return PAWL_INVALID;
    }
    if (store->request_timeout_ms < 1 || store->request_timeout_ms > G_MAXINT32)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s: option 'request_timeout' is too small or too large",
                              setup->url);
    store->family = g_strdup(setup->option(setup, "family"));
    store->ca_file = g_strdup(setup->option(setup, "ca"));
    if (!is_name(store->family, "_-."))
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "%s: option 'family' is made of letters, digits, '_', '-' and '.'", setup->url);
    return PAWL_OK;
}

static pawl_status
read_place(pawl__hbase_store *store, const pawl_store_setup *setup, pawl_error *err)
{
    const char *table = setup->path[0] == '/' ? setup->path + 1 : setup->path;

    if (setup->hosts[0] == '\0' || !is_name(table, "_-.:"))
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "%s names no gateway, or no table: write hbase://HOST:PORT/TABLE, or several hosts with "
                              "commas between, and the port of the REST gateway",
                              setup->url);
    store->table = g_strdup(table);
    store->user = g_strdup(setup->user);
    store->password = g_strdup(setup->password);
    store->gateways = g_strsplit(setup->hosts, ",", -1);
    for (char **gateway = store->gateways; *gateway != NULL; gateway++) {
        char *host, *port;

        pawl__url_cut_host(*gateway, DEFAULT_PORT, &host, &port);
        g_free(*gateway);
        *gateway = pawl__url_join_host(host, port);
        g_free(host);
        g_free(port);
    }
    return PAWL_OK;
}

/* ------------------------------------------------------------------------------------------------ open and close -- */

static pawl_status
hbase_open(void *self, const pawl_store_setup *setup, pawl_error *err)
{
    pawl__hbase_store *store = self;
    bool create = false;
    pawl_status status;

    store->log = setup->log;
    status = read_options(store, setup, &create, err);
    if (status == PAWL_OK)
        status = read_place(store, setup, err);
    if (status == PAWL_OK)
        status = pawl__hbase_http_init(store, err);
    if (status == PAWL_OK)
        status = pawl__hbase_table_open(store, setup->deadline_ms, create, setup->read_only, err);
    return status;
}

static void
hbase_close(void *self)
{
    pawl__hbase_store *store = self;

    pawl__hbase_http_done(store);
    pawl__hbase_row_free(store->row);
    if (store->lost != NULL)
        g_string_free(store->lost, TRUE);
    g_free(store->lost_group);
    g_strfreev(store->gateways);
    g_free(store->table);
    g_free(store->family);
    g_free(store->user);
    g_free(store->password);
    g_free(store->ca_file);
}

static void
hbase_cancel(void *self)
{
    pawl__hbase_store *store = self;

    g_atomic_int_set(&store->cancelled, 1);
    curl_multi_wakeup(store->multi);
}

/* ----------------------------------------------------------------------------------------------------- the table -- */

const pawl_store_backend pawl_store_module = {
    .abi = PAWL_STORE_ABI,
    .scheme = "hbase",
    .summary = "a table in HBase, by way of its REST gateway",
    .capabilities =
        PAWL_STORE_ATOMIC | PAWL_STORE_CAS_EPOCH | PAWL_STORE_CAS_OFFSET | PAWL_STORE_PLAN | PAWL_STORE_LIST,
    .instance_size = sizeof(pawl__hbase_store),
    .options = options,
    .open = hbase_open,
    .close = hbase_close,
    .cancel = hbase_cancel,
    .place = pawl__hbase_place,
    .load = pawl__hbase_load,
    .read_back = pawl__hbase_read_back,
    .acquire = pawl__hbase_acquire,
    .plan = pawl__hbase_plan,
    .save = pawl__hbase_save,
    .release = pawl__hbase_release,
    .list = pawl__hbase_list,
    .remove = pawl__hbase_remove,
};
