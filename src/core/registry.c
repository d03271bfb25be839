/*
 * registry.c - the table of stores, and the modules that fill it
 *
 * Tables are only ever added and modules never unloaded, so a table that was handed out stays good without a lock. The
 * lock is a pthread mutex since ThreadSanitizer does not see through GLib's.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include <glib.h>

#include <pawl/sys/registry.h>

#include "core/store.h"
#include "util/log.h"

#define MODULE_PREFIX "store-"
#define MODULE_SUFFIX ".so"
#define MODULE_SYMBOL "pawl_store_module"

#define ALL_CAPABILITIES                                                                                           \
    (PAWL_STORE_ATOMIC | PAWL_STORE_CAS_EPOCH | PAWL_STORE_CAS_OFFSET | PAWL_STORE_PLAN | PAWL_STORE_TRANSACTION | \
     PAWL_STORE_LIST)

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static GPtrArray *registry_stores;  /* const pawl_store_backend *, borrowed for ever */
static GPtrArray *registry_folders; /* char *, owned; the one that was added last comes first */

static void
registry_enter(void)
{
    pthread_mutex_lock(&registry_lock);
    if (registry_stores != NULL)
        return;
    registry_stores = g_ptr_array_new();
    registry_folders = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; pawl__builtin_stores[i] != NULL; i++)
        g_ptr_array_add(registry_stores, (void *) pawl__builtin_stores[i]);
}

static void
registry_leave(void)
{
    pthread_mutex_unlock(&registry_lock);
}

/* A scheme becomes part of a file's name: nothing that could lead elsewhere may be in it. RFC 3986, in lower case. */
static bool
scheme_is_legal(const char *scheme)
{
    if (!scheme || !g_ascii_islower(scheme[0]))
        return false;
    for (const char *c = scheme; *c; c++)
        if (!g_ascii_islower(*c) && !g_ascii_isdigit(*c) && !strchr("+.-", *c))
            return false;
    return true;
}

/* ---------------------------------------------------------------------------------------------- checking a table -- */

static pawl_status
refuse(pawl_error *err, const pawl_store_backend *backend, const char *why)
{
    return pawl_error_set(err, PAWL_INVALID, 0, 0, "the store '%s' cannot be used: %s", backend->scheme, why);
}

static bool
options_are_complete(const pawl_store_option *options)
{
    for (const pawl_store_option *option = options; option && option->name; option++)
        if (!option->fallback || !option->summary)
            return false;
    return true;
}

static pawl_status
check_functions(const pawl_store_backend *backend, pawl_error *err)
{
    if (!backend->open || !backend->close || !backend->place || !backend->load || !backend->acquire || !backend->save ||
        !backend->release || !backend->remove)
        return refuse(err, backend, "one of open, close, place, load, acquire, save, release, remove is missing");
    if ((backend->capabilities & PAWL_STORE_PLAN) && !backend->plan)
        return refuse(err, backend, "it says PAWL_STORE_PLAN and has no plan function");
    if ((backend->capabilities & PAWL_STORE_TRANSACTION) && (!backend->begin || !backend->rollback))
        return refuse(err, backend, "it says PAWL_STORE_TRANSACTION and has no begin or no rollback function");
    if ((backend->capabilities & PAWL_STORE_LIST) && !backend->list)
        return refuse(err, backend, "it says PAWL_STORE_LIST and has no list function");
    return PAWL_OK;
}

static pawl_status
check_store(const pawl_store_backend *backend, pawl_error *err)
{
    /* The ABI number first: with another one the rest of the table may lie elsewhere. */
    if (!backend || backend->abi != PAWL_STORE_ABI)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "a store for ABI %u cannot be used: this libpawl has ABI %u",
                              backend ? (unsigned) backend->abi : 0, PAWL_STORE_ABI);
    if (!scheme_is_legal(backend->scheme))
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "a store has no legal scheme: a lower-case letter, then letters, digits, '+', '.', '-'");
    if (!backend->summary || backend->instance_size == 0 || !options_are_complete(backend->options))
        return refuse(err, backend, "its table is not complete: summary, instance_size or an option's texts");
    if (backend->capabilities & ~ALL_CAPABILITIES)
        return refuse(err, backend, "it has capabilities that this libpawl does not know");
    if ((backend->capabilities & PAWL_STORE_TRANSACTION) && !(backend->capabilities & PAWL_STORE_ATOMIC))
        return refuse(err, backend, "it says PAWL_STORE_TRANSACTION without PAWL_STORE_ATOMIC");
    return check_functions(backend, err);
}

/* -------------------------------------------------------------------------------------------------- known tables -- */

/* With the lock held. */
static const pawl_store_backend *
lookup(const char *scheme)
{
    for (guint i = 0; i < registry_stores->len; i++) {
        const pawl_store_backend *backend = g_ptr_array_index(registry_stores, i);

        if (strcmp(backend->scheme, scheme) == 0)
            return backend;
    }
    return NULL;
}

pawl_status
pawl_registry_add_store(const pawl_store_backend *backend, pawl_error *err)
{
    const pawl_store_backend *other;
    pawl_status status = check_store(backend, err);

    if (status != PAWL_OK)
        return status;

    registry_enter();
    other = lookup(backend->scheme);
    if (!other)
        g_ptr_array_add(registry_stores, (void *) backend);
    registry_leave();

    /* The same table twice is no mistake: two threads may have loaded one module at the same time. */
    if (other && other != backend)
        return refuse(err, backend, "its scheme is taken");
    return PAWL_OK;
}

void
pawl_registry_add_path(const char *folder)
{
    registry_enter();
    g_ptr_array_insert(registry_folders, 0, g_strdup(folder));
    registry_leave();
}

/* ------------------------------------------------------------------------------------------------------- modules -- */

/* "pawl" beside the shared library, or NULL. A relative answer is not taken: it would mean the working directory, from
 * which no code should be loaded. */
static char *
folder_beside_library(void)
{
    char *folder, *beside;
    Dl_info info;

    if (!dladdr((void *) (uintptr_t) pawl_registry_find_store, &info) || !info.dli_fname ||
        !g_path_is_absolute(info.dli_fname))
        return NULL;
    folder = g_path_get_dirname(info.dli_fname);
    beside = g_build_filename(folder, "pawl", NULL);
    g_free(folder);
    return beside;
}

/* All folders, in the order in which they are searched. The caller frees it. */
static GPtrArray *
module_folders(void)
{
    GPtrArray *folders = g_ptr_array_new_with_free_func(g_free);
    char *beside = folder_beside_library();

    registry_enter();
    for (guint i = 0; i < registry_folders->len; i++)
        g_ptr_array_add(folders, g_strdup(g_ptr_array_index(registry_folders, i)));
    registry_leave();

    if (beside)
        g_ptr_array_add(folders, beside);
#ifdef PAWL_MODULE_DIR
    g_ptr_array_add(folders, g_strdup(PAWL_MODULE_DIR));
#endif
    return folders;
}

/* The path of a scheme's module, or NULL. The caller frees it. */
static char *
find_module(const char *scheme)
{
    GPtrArray *folders = module_folders();
    char *name = g_strconcat(MODULE_PREFIX, scheme, MODULE_SUFFIX, NULL), *found = NULL;

    for (guint i = 0; i < folders->len && !found; i++) {
        found = g_build_filename(g_ptr_array_index(folders, i), name, NULL);
        if (!g_file_test(found, G_FILE_TEST_EXISTS))
            g_clear_pointer(&found, g_free);
    }
    g_free(name);
    g_ptr_array_free(folders, TRUE);
    return found;
}

/* Loads a module and adds its table. No lock is held: its constructors may call anything. */
static pawl_status
load_module(const char *path, const char *scheme, const pawl_store_backend **ret_backend, pawl_error *err)
{
    const pawl_store_backend *backend;
    pawl_status status;
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!module)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "cannot load the store module %s: %s", path, dlerror());

    backend = dlsym(module, MODULE_SYMBOL);
    if (!backend) {
        status =
            pawl_error_set(err, PAWL_INVALID, 0, 0, "%s is no store module: it has no symbol %s", path, MODULE_SYMBOL);
    } else {
        status = check_store(backend, err);
        if (status == PAWL_OK && strcmp(backend->scheme, scheme) != 0)
            status = pawl_error_set(err, PAWL_INVALID, 0, 0, "it holds the store '%s'", backend->scheme);
        if (status == PAWL_OK)
            status = pawl_registry_add_store(backend, err);
        if (status != PAWL_OK)
            pawl_error_prefix(err, "%s", path);
    }
    if (status != PAWL_OK) {
        dlclose(module);
        return status;
    }
    *ret_backend = backend;
    return PAWL_OK;
}

/* Adds to `schemes`, a set, what the names of the files in a folder promise. */
static void
add_module_names(const char *folder, GHashTable *schemes)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;

    while (dir && (name = g_dir_read_name(dir))) {
        char *scheme;

        if (!g_str_has_prefix(name, MODULE_PREFIX) || !g_str_has_suffix(name, MODULE_SUFFIX))
            continue;
        scheme = g_strndup(name + strlen(MODULE_PREFIX), strlen(name) - strlen(MODULE_PREFIX) - strlen(MODULE_SUFFIX));
        if (scheme_is_legal(scheme))
            g_hash_table_add(schemes, scheme);
        else
            g_free(scheme);
    }
    if (dir)
        g_dir_close(dir);
}

static gint
compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(a, b);
}

/* The schemes that are known or for which a module lies ready, sorted. The caller frees the list and its texts. */
static GList *
all_schemes(void)
{
    GHashTable *schemes = g_hash_table_new(g_str_hash, g_str_equal);
    GPtrArray *folders = module_folders();
    GList *list;

    registry_enter();
    for (guint i = 0; i < registry_stores->len; i++)
        g_hash_table_add(schemes,
                         g_strdup(((const pawl_store_backend *) g_ptr_array_index(registry_stores, i))->scheme));
    registry_leave();
    for (guint i = 0; i < folders->len; i++)
        add_module_names(g_ptr_array_index(folders, i), schemes);

    list = g_list_sort(g_hash_table_get_keys(schemes), compare_texts);
    g_hash_table_destroy(schemes);
    g_ptr_array_free(folders, TRUE);
    return list;
}

/* ---------------------------------------------------------------------------------------------- finding, listing -- */

static pawl_status
no_such_store(const char *scheme, pawl_error *err)
{
    GList *schemes = all_schemes();
    GString *names = g_string_new(NULL);

    for (GList *item = schemes; item; item = item->next)
        g_string_append_printf(names, "%s%s:", item == schemes ? "" : ", ", (const char *) item->data);
    pawl_error_set(err, PAWL_INVALID, 0, 0, "there is no store for '%s:'; there is %s", scheme,
                   names->len ? names->str : "none at all: no module was found");
    g_string_free(names, TRUE);
    g_list_free_full(schemes, g_free);
    return PAWL_INVALID;
}

pawl_status
pawl_registry_find_store(const char *scheme, const pawl_store_backend **ret_backend, pawl_error *err)
{
    const pawl_store_backend *known;
    pawl_status status;
    char *path;

    if (!scheme_is_legal(scheme))
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "'%s' is no scheme of a store", scheme ? scheme : "");

    registry_enter();
    known = lookup(scheme);
    registry_leave();
    if (known) {
        *ret_backend = known;
        return PAWL_OK;
    }

    path = find_module(scheme);
    if (!path)
        return no_such_store(scheme, err);
    status = load_module(path, scheme, ret_backend, err);
    g_free(path);
    return status;
}

void
pawl_registry_list_stores(pawl_registry_fn fn, void *user, const pawl_log *log)
{
    GList *schemes = all_schemes();
    bool more = true;

    for (GList *item = schemes; item && more; item = item->next) {
        const pawl_store_backend *backend;
        pawl_error err;

        if (pawl_registry_find_store(item->data, &backend, &err) == PAWL_OK)
            more = fn(user, backend);
        else
            pawl__log(log, PAWL_LOG_WARN, "store", "%s", err.message);
    }
    g_list_free_full(schemes, g_free);
}
