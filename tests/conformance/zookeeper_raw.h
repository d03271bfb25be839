/*
 * zookeeper_raw.h - a ZooKeeper server and its nodes behind the store's back, for the tests of the zookeeper: store
 */
#ifndef PAWL_TESTS_ZOOKEEPER_RAW_H
#define PAWL_TESTS_ZOOKEEPER_RAW_H

#include <stdbool.h>
#include <stdint.h>

#include <pawl/sys/store.h>

#include "tests/support/service.h"

/* The store, linked into the tests. */
extern const pawl_store_backend pawl__store_zookeeper;

/* The server of this run, and its HOST:PORT. */
extern service *raw_server;
extern char *raw_hosts;

/* Starts the server and makes the store known; false if that fails. */
bool raw_init(const char *const *properties);
void raw_done(void);

/* "zookeeper://HOST:PORT" and what follows; the caller frees it. */
char *raw_url(const char *path_and_query);

/* Opens a store whose calls may take so long. */
pawl_status raw_try_store(const char *url, int64_t timeout_ms, pawl_store **ret_store, pawl_error *err);

/* What a node holds, or NULL: there is none; the caller frees it. */
char *raw_get(const char *path);

/* Writes a node, made with its parents where it is missing. */
void raw_set(const char *path, const char *text);
void raw_delete(const char *path);
void raw_delete_tree(const char *path);

/* How many children it has; 0: none, or no such node. */
int raw_children(const char *path);

/* Ends the session of a store as the servers do when they have not heard of it for too long. */
void raw_expire(pawl_store *store);

#endif
