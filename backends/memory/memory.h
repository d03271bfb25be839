/*
 * memory.h - the memory: store, for tests, and to be read before writing a store
 */
#ifndef PAWL_MEMORY_MEMORY_H
#define PAWL_MEMORY_MEMORY_H

#include <pawl/sys/store.h>

/* To be made known with pawl_registry_add_store(). */
extern const pawl_store_backend pawl__store_memory;

#endif
