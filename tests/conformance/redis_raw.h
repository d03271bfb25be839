/*
 * redis_raw.h - Redis servers behind the store's back, for the tests of the redis: store
 */
#ifndef PAWL_TESTS_REDIS_RAW_H
#define PAWL_TESTS_REDIS_RAW_H

#include <stdint.h>

#include <pawl/sys/store.h>

#include "tests/support/service.h"

/* Makes the store known, which is linked into the tests; false if that fails. */
bool raw_init(void);

/* A server of the test's own, with a folder that service_free() removes. */
service *raw_server(const char *const *properties);

/* A node for a cluster, which it is not part of yet. */
service *raw_node(void);

/* Makes a cluster of two nodes: the first one has the slots below 8192. */
void raw_join_nodes(const service *low, const service *high);

/* "redis://127.0.0.1:PORT" and what is put behind it; the caller frees it. */
char *raw_url(const service *server, const char *rest);

/* The same for two servers, in this order. */
char *raw_url_of_both(const service *first, const service *second, const char *rest);

/* Opens a store; the caller closes it. */
pawl_status raw_try_store(const char *url, int64_t timeout_ms, pawl_store **ret_store, pawl_error *err);

/* Runs a command on the server of a URL, and fails the test if that answers an error. Words are cut at blanks, and each
 * may hold what printf() puts into it ("%s" only). The answer as text, "" for nil; the caller frees it. */
char *raw_ask(const char *url, const char *format, ...);

/* The same where the answer is of no interest. */
void raw_do(const char *url, const char *format, ...);

#endif
