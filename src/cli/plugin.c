/*
 * plugin.c - hooks out of a shared object
 */
#include "cli/plugin.h"

#include <dlfcn.h>
#include <string.h>

#include <glib.h>

#define SYMBOL "pawl_plugin_module"

/* A name without a slash would be looked for in the system's folders: here it is a file like others. */
static void *
open_file(const char *path)
{
    char *file = strchr(path, '/') != NULL ? g_strdup(path) : g_strdup_printf("./%s", path);
    void *module = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    g_free(file);
    return module;
}

static pawl_status
check_table(const char *path, const pawl_plugin *table, pawl_error *err)
{
    if (table == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "plugin: %s is no plugin of pawl: it has no symbol " SYMBOL,
                              path);
    if (table->abi != PAWL_PLUGIN_ABI)
        return pawl_error_set(
            err, PAWL_INVALID, 0, 0,
            "plugin: %s was made for version %u of the plugin interface, and this pawl has version %u: "
            "compile it anew",
            path, table->abi, PAWL_PLUGIN_ABI);
    if (table->init == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "plugin: %s has no init function", path);
    return PAWL_OK;
}

static pawl_status
init(const char *path, const pawl_plugin *table, const pawl_config *config, pawl_hooks *ret_hooks, pawl_error *err)
{
    const pawl_hooks *hooks = NULL;
    pawl_status status = table->init(config, &hooks, err);

    if (status != PAWL_OK) {
        pawl_error_prefix(err, "plugin: %s", path);
        return status;
    }
    if (hooks == NULL || hooks->size == 0)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "plugin: %s gives no hooks, or does not say their size", path);
    memset(ret_hooks, 0, sizeof *ret_hooks);
    memcpy(ret_hooks, hooks, MIN(hooks->size, sizeof *ret_hooks));
    ret_hooks->size = sizeof *ret_hooks;
    return PAWL_OK;
}

pawl_status
pawl__plugin_load(const char *path, const pawl_config *config, pawl_loaded_plugin *ret_plugin, pawl_hooks *ret_hooks,
                  pawl_error *err)
{
    void *module = open_file(path);
    const pawl_plugin *table;
    pawl_status status;

    if (module == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "plugin: %s", dlerror());
    table = dlsym(module, SYMBOL);
    status = check_table(path, table, err);
    if (status == PAWL_OK)
        status = init(path, table, config, ret_hooks, err);
    if (status == PAWL_OK)
        *ret_plugin = (pawl_loaded_plugin){module, table, ret_hooks->user};
    else
        dlclose(module);
    return status;
}

void
pawl__plugin_done(pawl_loaded_plugin *plugin)
{
    if (plugin->table != NULL && plugin->table->done != NULL)
        plugin->table->done(plugin->user);
    *plugin = (pawl_loaded_plugin){NULL, NULL, NULL};
}
