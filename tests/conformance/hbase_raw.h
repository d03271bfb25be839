/*
 * hbase_raw.h - a real HBase for tests, and its tables without pawl
 */
#ifndef PAWL_TESTS_HBASE_RAW_H
#define PAWL_TESTS_HBASE_RAW_H

#include <stdbool.h>

#include "tests/support/service.h"

/* The server whose folder PAWL_TEST_HBASE names: to start one takes long. */
extern service raw_hbase;

/* Starts what of it does not run. False: there is none. */
bool raw_hbase_init(void);
void raw_hbase_done(void);

/* SIGKILL for its "gateway" or its "master"; service_do(&raw_hbase, "start") brings it back. */
void raw_hbase_kill(const char *part);

/* "127.0.0.1:PORT" of its gateway. Borrowed. */
const char *raw_hbase_gateway(void);

/* Asks the gateway: the status, and the body, which the caller frees. A NULL body is a GET, else a PUT. */
long raw_hbase_ask(const char *path, const char *body, char **ret_answer);

/* Makes a table with one family. */
void raw_hbase_make(const char *table, const char *family);

/* Puts a value into a column "o:...", without looking at the guard. */
void raw_hbase_put(const char *table, const char *row, const char *column, const char *value);

/* The value of a column, which the caller frees; NULL where there is none. */
char *raw_hbase_get(const char *table, const char *row, const char *column);

/* A table for the tests that are about HBase only, and a handle on it by way of a gateway, which the caller closes. */
extern char *raw_hbase_table;
pawl_store *raw_hbase_open(const char *gateways);

/* Of partition `number` of topic "t". */
void raw_hbase_assert_stored(pawl_store *store, const char *group, int32_t number, int64_t offset);

/* These tests. They return how many failed. */
int hbase_row_tests(void);
int hbase_server_tests(void);

#endif
