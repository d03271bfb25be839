/*
 * source.h - a source and its instance, as the loop passes them around
 */
#ifndef PAWL_CORE_SOURCE_H
#define PAWL_CORE_SOURCE_H

#include <pawl/sys/source.h>

typedef struct pawl__source {
    const pawl_source_backend *api;
    void *self;
} pawl__source;

/* The source of pawl_job_new(): defined where the library is put together (src/builtins.c). */
extern const pawl_source_backend *const pawl__default_source;

#endif
