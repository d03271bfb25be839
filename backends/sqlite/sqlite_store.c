/*
 * sqlite_store.c - offsets in a file: the table; opening, closing, cancelling
 */
#include "backends/sqlite/sqlite_store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "util/text.h"

/* A module's one symbol. Where the store is built in, the build gives it another name. */
extern PAWL_API const pawl_store_backend pawl_store_module;

static const pawl_store_option options[] = {
    {"create", "yes", "Whether the file is made when it is missing: yes or no."},
    {"busy_timeout", "30s",
     "How long to wait for another process that writes to the file; the store's timeout ends the wait, too."},
    {"durability", "full",
     "full: a save is on the disk when it returns. normal: a save survives the end of the process, but the last ones "
     "may be lost when the machine loses its power; they are then read again."},
    {NULL, NULL, NULL},
};

/* ------------------------------------------------------------------------------------------------------- options -- */

static pawl_status
read_options(pawl__sqlite_store *store, const pawl_store_setup *setup, bool *ret_create, pawl_error *err)
{
    const char *durability = setup->option(setup, "durability");

    if (pawl__text_flag(setup->option(setup, "create"), ret_create, err) != PAWL_OK) {
        pawl_error_prefix(err, "%s: option 'create'", setup->url);
        return PAWL_INVALID;
    }
    if (pawl__text_duration(setup->option(setup, "busy_timeout"), &store->busy_timeout_ms, err) != PAWL_OK) {
        pawl_error_prefix(err, "%s: option 'busy_timeout'", setup->url);
        return PAWL_INVALID;
    }
    store->normal_durability = strcmp(durability, "normal") == 0;
    if (!store->normal_durability && strcmp(durability, "full") != 0)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s: option 'durability' is full or normal, not '%s'",
                              setup->url, durability);
    return PAWL_OK;
}

/* The path, absolute. SQLite's special names would keep offsets in memory or in a file that vanishes. */
static pawl_status
read_path(pawl__sqlite_store *store, const pawl_store_setup *setup, pawl_error *err)
{
    char *folder;

    if (setup->hosts != NULL && setup->hosts[0] != '\0')
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s names a host: write sqlite:FILE or sqlite:/PATH/FILE",
                              setup->url);
    if (setup->path[0] == '\0' || strcmp(setup->path, ":memory:") == 0)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s names no file: write sqlite:FILE", setup->url);
    if (g_path_is_absolute(setup->path)) {
        store->path = g_strdup(setup->path);
        return PAWL_OK;
    }
    folder = g_get_current_dir();
    store->path = g_build_filename(folder, setup->path, NULL);
    g_free(folder);
    return PAWL_OK;
}

/* ------------------------------------------------------------------------------------------------ open and close -- */

static int
on_busy(void *user, int count)
{
    return pawl__sqlite_wait_for_lock(user, count);
}

/* A file that cannot be looked at may well be there: who may not see it is told so, by opening it. */
static bool
is_missing(const char *path)
{
    return access(path, F_OK) != 0 && errno == ENOENT;
}

/* SQLite says "unable to open" to all of it, and its errno is that of a second try, for reading. */
static pawl_status
cannot_open(pawl__sqlite_store *store, int rc, bool create, pawl_error *err)
{
    char *folder = g_path_get_dirname(store->path);
    bool missing = is_missing(store->path);
    pawl_status status;

    if (!g_file_test(folder, G_FILE_TEST_IS_DIR))
        status =
            pawl_error_set(err, PAWL_INVALID, 0, rc, "%s cannot be made: there is no folder %s", store->path, folder);
    else if (!create && missing)
        status = pawl_error_set(err, PAWL_INVALID, 0, rc, "there is no file %s, and create=no", store->path);
    else if (missing && faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0)
        status = pawl_error_set(err, PAWL_INVALID, 0, rc, "%s cannot be made: its folder cannot be written: %s",
                                store->path, strerror(errno));
    else
        status = pawl__sqlite_fail(store, rc, err);
    g_free(folder);
    return status;
}

static int
connect_to(pawl__sqlite_store *store, const char *path, int flags)
{
    int rc = sqlite3_open_v2(path, &store->db, flags | SQLITE_OPEN_FULLMUTEX, NULL);

    if (rc != SQLITE_OK)
        return rc;
    sqlite3_extended_result_codes(store->db, 1);
    return sqlite3_busy_handler(store->db, on_busy, store);
}

static pawl_status
open_file(pawl__sqlite_store *store, bool create, pawl_error *err)
{
    int rc = connect_to(store, store->path, SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0));

    return rc == SQLITE_OK ? pawl__sqlite_schema_open(store, err) : cannot_open(store, rc, create, err);
}

/* Where there is no file, or one without pawl's tables, an empty database in memory stands for it. */
static pawl_status
open_for_reading(pawl__sqlite_store *store, pawl_error *err)
{
    bool has = false;
    pawl_status status = PAWL_OK;
    int rc = SQLITE_OK;

    if (!is_missing(store->path)) {
        rc = connect_to(store, store->path, SQLITE_OPEN_READONLY);
        status =
            rc == SQLITE_OK ? pawl__sqlite_schema_has_tables(store, &has, err) : cannot_open(store, rc, false, err);
    }
    if (status != PAWL_OK)
        return status;
    if (has)
        return pawl__sqlite_schema_check(store, err);
    sqlite3_close_v2(store->db);
    store->db = NULL;
    rc = connect_to(store, ":memory:", SQLITE_OPEN_READWRITE);
    return rc == SQLITE_OK ? pawl__sqlite_schema_create(store, err) : pawl__sqlite_fail(store, rc, err);
}

static pawl_status
sqlite_open(void *self, const pawl_store_setup *setup, pawl_error *err)
{
    pawl__sqlite_store *store = self;
    bool create = true;
    pawl_status status;

    pawl__wait_init(&store->wait);
    store->log = setup->log;
    store->deadline_ms = setup->deadline_ms;
    status = read_options(store, setup, &create, err);
    if (status == PAWL_OK)
        status = read_path(store, setup, err);
    if (status != PAWL_OK)
        return status;
    return setup->read_only ? open_for_reading(store, err) : open_file(store, create, err);
}

static void
sqlite_close(void *self)
{
    pawl__sqlite_store *store = self;

    pawl__sqlite_statements_done(store);
    sqlite3_close_v2(store->db); /* _v2: the program may have left a statement of its own */
    pawl__wait_done(&store->wait);
    g_free(store->path);
}

/* Ends both kinds of waiting: for a lock, and for a statement that takes long. */
static void
sqlite_cancel(void *self)
{
    pawl__sqlite_store *store = self;

    pawl__wait_lock(&store->wait);
    store->cancelled = true;
    pawl__wait_wake(&store->wait);
    pawl__wait_unlock(&store->wait);
    sqlite3_interrupt(store->db);
}

/* ----------------------------------------------------------------------------------------------------- the table -- */

const pawl_store_backend pawl_store_module = {
    .abi = PAWL_STORE_ABI,
    .scheme = "sqlite",
    .summary = "a SQLite file, which can hold the job's results, too",
    .capabilities = PAWL_STORE_ATOMIC | PAWL_STORE_CAS_EPOCH | PAWL_STORE_CAS_OFFSET | PAWL_STORE_PLAN |
                    PAWL_STORE_TRANSACTION | PAWL_STORE_LIST,
    .instance_size = sizeof(pawl__sqlite_store),
    .options = options,
    .open = sqlite_open,
    .close = sqlite_close,
    .cancel = sqlite_cancel,
    .place = pawl__sqlite_place,
    .load = pawl__sqlite_load,
    .acquire = pawl__sqlite_acquire,
    .plan = pawl__sqlite_plan,
    .save = pawl__sqlite_save,
    .begin = pawl__sqlite_begin,
    .rollback = pawl__sqlite_rollback,
    .release = pawl__sqlite_release,
    .list = pawl__sqlite_list,
    .remove = pawl__sqlite_remove,
};
