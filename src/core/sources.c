/*
 * sources.c - finding a source by its name
 *
 * A file of its own: programs that need the registry of stores do not need a source, too.
 */
#include <string.h>

#include <pawl/sys/registry.h>

#include "core/source.h"

pawl_status
pawl_registry_find_source(const char *name, const pawl_source_backend **ret_backend, pawl_error *err)
{
    if (name == NULL || strcmp(name, pawl__default_source->name) != 0)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "there is no source '%s'; there is %s", name != NULL ? name : "",
                              pawl__default_source->name);
    *ret_backend = pawl__default_source;
    return PAWL_OK;
}
