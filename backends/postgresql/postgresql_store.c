/*
 * postgresql_store.c - offsets in a table: the table of functions; options, opening, closing, cancelling
 */
#include "backends/postgresql/postgresql_store.h"

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <glib.h>

#include "util/text.h"

/* A module's one symbol. Where the store is built in, the build gives it another name. */
extern PAWL_API const pawl_store_backend pawl_store_module;

static const pawl_store_option options[] = {
    {"schema", "public", "The schema of the table, which has to be there."},
    {"table", "pawl_offsets", "The table's name; it is made when the first offset is stored."},
    {"lock_timeout", "30s",
     "How long to wait for a transaction that holds the rows, in flush, too; the store's timeout ends the wait, too."},
    {"hold_timeout", "5m",
     "How long flush may let its transaction stand idle before the server ends it, so that others can go on; 0: for "
     "ever."},
    {"socket", "", "FOLDER or FOLDER:PORT of the server's Unix socket, for a URL without hosts."},
    {"application_name", "pawl", "What pg_stat_activity shows."},
    /* These are libpq's own; one that is empty is left to libpq. */
    {"sslmode", "", "As libpq knows it: disable, prefer, require, verify-ca, verify-full ..."},
    {"sslrootcert", "", "The file with the certificates of the authorities."},
    {"sslcert", "", "The file with the client's certificate."},
    {"sslkey", "", "The file with the client's key."},
    {"sslpassword", "", "The password of sslkey."},
    {"sslcrl", "", "The file with revoked certificates."},
    {"channel_binding", "", "disable, prefer or require."},
    {"gssencmode", "", "disable, prefer or require."},
    {"krbsrvname", "", "The Kerberos name of the server."},
    {"passfile", "", "A file with passwords, ~/.pgpass by default."},
    {"options", "", "Settings for the session: -c NAME=VALUE ..."},
    {"keepalives_idle", "", "Seconds without traffic before the system asks whether the server is there."},
    {"tcp_user_timeout", "", "Milliseconds until data that nobody acknowledges breaks the connection."},
    {NULL, NULL, NULL},
};

static const char *const handed_on[] = {
    "application_name", "sslmode",         "sslrootcert", "sslcert",  "sslkey",  "sslpassword",     "sslcrl",
    "gssencmode",       "channel_binding", "krbsrvname",  "passfile", "options", "keepalives_idle", "tcp_user_timeout"};

/* ------------------------------------------------------------------------------------------------------- options -- */

static pawl_status
read_duration(const pawl_store_setup *setup, const char *name, int64_t *ret_ms, pawl_error *err)
{
    if (pawl__text_duration(setup->option(setup, name), ret_ms, err) == PAWL_OK)
        return PAWL_OK;
    pawl_error_prefix(err, "%s: option '%s'", setup->url, name);
    return PAWL_INVALID;
}

/* Appends a name as SQL writes it. */
static void
append_quoted(GString *text, const char *name)
{
    GString *quoted = g_string_new(name);

    g_string_replace(quoted, "\"", "\"\"", 0);
    g_string_append_printf(text, "\"%s\"", quoted->str);
    g_string_free(quoted, TRUE);
}

static pawl_status
read_table(pawl__pg_store *store, const pawl_store_setup *setup, pawl_error *err)
{
    const char *schema = setup->option(setup, "schema"), *name = setup->option(setup, "table");
    GString *table;

    if (schema[0] == '\0' || name[0] == '\0')
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s: the options 'schema' and 'table' are never empty",
                              setup->url);
    table = g_string_new(NULL);
    append_quoted(table, schema);
    g_string_append_c(table, '.');
    append_quoted(table, name);
    store->table = g_string_free(table, FALSE);
    return PAWL_OK;
}

static void
append_keyword(GPtrArray *keywords, const char *name, const char *value)
{
    if (value == NULL || value[0] == '\0')
        return;
    g_ptr_array_add(keywords, g_strdup(name));
    g_ptr_array_add(keywords, g_strdup(value));
}

static pawl_status
read_keywords(pawl__pg_store *store, const pawl_store_setup *setup, pawl_error *err)
{
    const char *database = setup->path[0] == '/' ? setup->path + 1 : setup->path;
    GPtrArray *keywords;

    if (database[0] == '\0' || strchr(database, '/') != NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s names no database: write postgresql://USER@HOST/DATABASE",
                              setup->url);
    keywords = g_ptr_array_new();
    append_keyword(keywords, "dbname", database);
    append_keyword(keywords, "user", setup->user);
    append_keyword(keywords, "password", setup->password);
    append_keyword(keywords, "client_encoding", "UTF8");
    for (size_t i = 0; i < G_N_ELEMENTS(handed_on); i++)
        append_keyword(keywords, handed_on[i], setup->option(setup, handed_on[i]));
    g_ptr_array_add(keywords, NULL);
    store->keywords = (char **) g_ptr_array_free(keywords, FALSE);
    return PAWL_OK;
}

static pawl_status
read_hosts(pawl__pg_store *store, const pawl_store_setup *setup, pawl_error *err)
{
    const char *socket = setup->option(setup, "socket");

    if (setup->hosts[0] == '\0') {
        const char *only[] = {socket, NULL};

        store->hosts = g_strdupv((char **) only);
        return PAWL_OK;
    }
    if (socket[0] != '\0')
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s has hosts and the option 'socket'", setup->url);
    store->hosts = g_strsplit(setup->hosts, ",", -1);
    return PAWL_OK;
}

/* ------------------------------------------------------------------------------------------------ open and close -- */

static pawl_status
postgresql_open(void *self, const pawl_store_setup *setup, pawl_error *err)
{
    pawl__pg_store *store = self;
    pawl_status status;

    pawl__wait_init(&store->wait);
    store->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    store->log = setup->log;
    store->url = g_strdup(setup->url);
    store->read_only = setup->read_only;
    store->deadline_ms = setup->deadline_ms;
    status = read_duration(setup, "lock_timeout", &store->lock_timeout_ms, err);
    if (status == PAWL_OK)
        status = read_duration(setup, "hold_timeout", &store->hold_timeout_ms, err);
    if (status == PAWL_OK)
        status = read_table(store, setup, err);
    if (status == PAWL_OK)
        status = read_hosts(store, setup, err);
    if (status == PAWL_OK)
        status = read_keywords(store, setup, err);
    if (status != PAWL_OK)
        return status;
    pawl__pg_sql_init(store);
    return pawl__pg_connect(store, err);
}

static void
postgresql_close(void *self)
{
    pawl__pg_store *store = self;

    pawl__pg_drop(store);
    pawl__pg_forget_sessions(store);
    close(store->cancel_fd);
    pawl__wait_done(&store->wait);
    pawl__pg_sql_done(store);
    g_strfreev(store->hosts);
    g_strfreev(store->keywords);
    g_free(store->table);
    g_free(store->url);
}

/* Whoever waits wakes up and stops what runs on the server. While the program has the connection this does it. */
static void
postgresql_cancel(void *self)
{
    pawl__pg_store *store = self;
    const uint64_t one = 1;

    if (write(store->cancel_fd, &one, sizeof one) < 0)
        return; /* it is full: cancelled before, more often than can be counted */
    pawl__wait_lock(&store->wait);
    if (store->lent)
        pawl__pg_stop_statement(store->conn);
    pawl__wait_unlock(&store->wait);
}

/* ----------------------------------------------------------------------------------------------------- the table -- */

const pawl_store_backend pawl_store_module = {
    .abi = PAWL_STORE_ABI,
    .scheme = "postgresql",
    .summary = "a table in PostgreSQL, which can hold the job's results, too",
    .capabilities = PAWL_STORE_ATOMIC | PAWL_STORE_CAS_EPOCH | PAWL_STORE_CAS_OFFSET | PAWL_STORE_PLAN |
                    PAWL_STORE_TRANSACTION | PAWL_STORE_LIST,
    .instance_size = sizeof(pawl__pg_store),
    .options = options,
    .open = postgresql_open,
    .close = postgresql_close,
    .cancel = postgresql_cancel,
    .place = pawl__pg_place,
    .load = pawl__pg_load,
    .read_back = pawl__pg_read_back,
    .acquire = pawl__pg_acquire,
    .plan = pawl__pg_plan,
    .save = pawl__pg_save,
    .begin = pawl__pg_begin,
    .rollback = pawl__pg_rollback,
    .release = pawl__pg_release,
    .list = pawl__pg_list,
    .remove = pawl__pg_remove,
};
