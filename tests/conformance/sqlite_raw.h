/*
 * sqlite_raw.h - SQLite files behind the store's back, for the tests of the sqlite: store
 */
#ifndef PAWL_TESTS_SQLITE_RAW_H
#define PAWL_TESTS_SQLITE_RAW_H

#include <stdint.h>

#include <sqlite3.h>

#include <pawl/sys/store.h>

/* The store, linked into the tests. */
extern const pawl_store_backend pawl__store_sqlite;

/* The folder of this run, below PAWL_TEST_DIR or the folder for temporary files. */
extern char *raw_folder;

/* Makes the folder and makes the store known; false if that fails. Done removes the folder and its files. */
bool raw_folder_init(void);
void raw_folder_done(void);

/* The URL of a file in the folder; the caller frees it. */
char *raw_url(const char *name, const char *query);

/* Opens a store with a short timeout. */
pawl_status raw_try_store(const char *url, pawl_store **ret_store, pawl_error *err);

/* Opens the file that a URL names; the caller closes it. */
sqlite3 *raw_open(const char *url);

/* Runs SQL, made as by sqlite3_mprintf(), and fails the test if it fails. */
void raw_run(sqlite3 *db, const char *format, ...);
void raw_run_once(const char *url, const char *sql);

/* The first column of the first row, or -1. */
int64_t raw_number(sqlite3 *db, const char *format, ...);

/* The result of a group: in the table `results` (name, number). */
void raw_put_result(void *handle, const char *group, int64_t number);
int64_t raw_get_result(const char *url, const char *group);

#endif
