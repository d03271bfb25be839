/*
 * postgresql_raw.h - a PostgreSQL server and its tables behind the store's back, for the tests of the postgresql: store
 */
#ifndef PAWL_TESTS_POSTGRESQL_RAW_H
#define PAWL_TESTS_POSTGRESQL_RAW_H

#include <stdint.h>

#include <glib.h>
#include <libpq-fe.h>

#include <pawl/sys/store.h>

#include "tests/support/service.h"

/* The store, linked into the tests. */
extern const pawl_store_backend pawl__store_postgresql;

/* The server of this run, and the URL of its database. */
extern service *raw_server;
extern char *raw_url;

/* Starts the server, makes the store known, and a table `results` (name, number). */
void raw_init(void);
void raw_done(void);

/* The URL with something after it: "?table=t". The caller frees it. */
char *raw_url_with(const char *query);

/* The same for another user, host and database; NULL leaves one as it is. */
char *raw_url_of(const char *user_and_password, const char *host, const char *database);

/* HOST:PORT of a server; the caller frees it. */
char *raw_host_of(const service *server);

/* Opens a store with a short timeout. */
pawl_status raw_try_store(const char *url, pawl_store **ret_store, pawl_error *err);

/* A connection to the server; the caller closes it with PQfinish(). */
PGconn *raw_connect(void);

/* Runs SQL, made as by printf(), and fails the test if it fails. */
void raw_run(PGconn *conn, const char *format, ...) G_GNUC_PRINTF(2, 3);
void raw_run_once(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* The first column of the first row as a number, or -1. */
int64_t raw_number(PGconn *conn, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* A text as SQL writes it; the caller frees it. */
char *raw_quote(const char *text);

/* The result of a group: in the table `results`. */
void raw_put_result(void *handle, const char *group, int64_t number);
int64_t raw_get_result(const char *url, const char *group);

#endif
