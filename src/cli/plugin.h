/*
 * plugin.h - hooks out of a shared object
 */
#ifndef PAWL_CLI_PLUGIN_H
#define PAWL_CLI_PLUGIN_H

#include <pawl/plugin.h>

typedef struct pawl_loaded_plugin {
    void *module;
    const pawl_plugin *table;
    void *user;
} pawl_loaded_plugin;

/* Loads the file and calls its init. PAWL_INVALID: it is no plugin, or one for another ABI, or init says so. */
pawl_status pawl__plugin_load(const char *path, const pawl_config *config, pawl_loaded_plugin *ret_plugin,
                              pawl_hooks *ret_hooks, pawl_error *err);

/* Calls its done. All zeros are fine. It stays loaded: its threads and handlers may outlive it. */
void pawl__plugin_done(pawl_loaded_plugin *plugin);

#endif
