/*
 * sys/registry.h - how pawl finds its stores, and its source
 *
 * A store is found by the scheme of its URL: first among those that the program registered or that are built in, then
 * as a loadable module "store-SCHEME.so", in the folders that the program added, in "pawl" beside libpawl itself (so a
 * prefix may be moved), and in the folder that was configured. A module exports one symbol, its table, under the name
 * `pawl_store_module`.
 */
#ifndef PAWL_SYS_REGISTRY_H
#define PAWL_SYS_REGISTRY_H

#include <pawl/sys/source.h>
#include <pawl/sys/store.h>

PAWL_BEGIN_DECLS

/*
 * Makes a backend of the program's own known. The table is borrowed for ever. Any thread.
 * PAWL_INVALID: its ABI number is another, its scheme is taken, or a function that its capabilities promise is missing.
 */
PAWL_API pawl_status pawl_registry_add_store(const pawl_store_backend *backend, pawl_error *err);

/* Adds a folder to look for modules in, before all others. Copied. Any thread. */
PAWL_API void pawl_registry_add_path(const char *folder);

/* Takes one table; false ends the listing. */
typedef bool (*pawl_registry_fn)(void *user, const pawl_store_backend *backend);

/* Calls fn for each store that can be found, sorted by scheme; modules that do not load are left out and logged. */
PAWL_API void pawl_registry_list_stores(pawl_registry_fn fn, void *user, const pawl_log *log);

/* The table for a scheme. PAWL_INVALID: there is none; the message lists the schemes that there are. */
PAWL_API pawl_status pawl_registry_find_store(const char *scheme, const pawl_store_backend **ret_backend,
                                              pawl_error *err);

/*
 * The table of a source: today there is "kafka". For programs that ask about partitions and bounds, or read records,
 * without a job; who calls its functions keeps the rules that stand in sys/source.h, threads above all. The table is
 * borrowed for ever. Any thread. PAWL_INVALID: there is none of this name.
 */
PAWL_API pawl_status pawl_registry_find_source(const char *name, const pawl_source_backend **ret_backend,
                                               pawl_error *err);

PAWL_END_DECLS

#endif
