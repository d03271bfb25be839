/*
 * plugin.h - a job's hooks in a shared object, for `pawl run`
 *
 * A job file with `plugin = FILE.so` in its section [process] loads the file and runs the job with the hooks that it
 * gives. The file exports one symbol, its table, under the name `pawl_plugin_module`:
 *
 *     PAWL_API const pawl_plugin pawl_plugin_module = {
 *         .abi = PAWL_PLUGIN_ABI, .name = "count", .summary = "counts records", .init = init, .done = done,
 *     };
 *
 * It is linked with libpawl.
 */
#ifndef PAWL_PLUGIN_H
#define PAWL_PLUGIN_H

#include <pawl/config.h>
#include <pawl/job.h>

PAWL_BEGIN_DECLS

/* Grows when a plugin that was compiled before can no longer be loaded. Hooks that are new do not make it grow. */
#define PAWL_PLUGIN_ABI 1u

typedef struct pawl_plugin {
    uint32_t abi;        /* PAWL_PLUGIN_ABI; stays the first member for ever */
    const char *name;    /* one word */
    const char *summary; /* what it does, in half a sentence */

    /*
     * Reads its own settings, `pawl_config_get(config, "user.NAME")` (NULL: not set), and gives the hooks, with their
     * `size` and `user`; they are the plugin's until done. `config` is borrowed until init returns. Nothing is connected
     * yet, and with --dry-run nothing will be. PAWL_INVALID: a setting is wrong; the message begins with its name.
     */
    pawl_status (*init)(const pawl_config *config, const pawl_hooks **ret_hooks, pawl_error *err);

    /* The job has ended; called once after an init that succeeded, with the `user` of its hooks. May be NULL. */
    void (*done)(void *user);
} pawl_plugin;

PAWL_END_DECLS

#endif
