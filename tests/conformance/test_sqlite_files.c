/*
 * test_sqlite_files.c - files that cannot be used, and disks that fail
 */
#define _GNU_SOURCE /* setresuid */

#include "tests/conformance/sqlite_raw.h"
#include "tests/conformance/suite.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void
bad_files(void **state)
{
    char *urls[] = {
        raw_url("missing.db", "?create=no"),
        raw_url("no/such/folder.db", ""),
        raw_url("x.db", "?create=perhaps"),
        raw_url("x.db", "?durability=little"),
        raw_url("x.db", "?busy_timeout=5parsec"),
        g_strdup("sqlite:"),
        g_strdup("sqlite::memory:"),
        g_strdup("sqlite://host/x.db"),
    };
    const char *const says[] = {"create=no", "no folder", "create", "durability", "busy_timeout", "", "", "host"};
    pawl_store *store = NULL;
    pawl_error err;

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(urls); i++) {
        assert_status(PAWL_INVALID, raw_try_store(urls[i], &store, &err), err);
        assert_says(err, says[i]);
        assert_null(store);
        g_free(urls[i]);
    }
}

static void
no_database(void **state)
{
    char *path = g_build_filename(raw_folder, "text.db", NULL), *url = raw_url("text.db", "");
    char text[2048], *after;
    pawl_store *store = NULL;
    pawl_error err;

    (void) state;
    memset(text, 'x', sizeof text);
    assert_true(g_file_set_contents(path, text, sizeof text, NULL));
    assert_status(PAWL_INVALID, raw_try_store(url, &store, &err), err);
    assert_says(err, "text.db");
    assert_true(g_file_get_contents(path, &after, NULL, NULL));
    assert_memory_equal(after, text, sizeof text);
    g_free(after);
    g_free(path);
    g_free(url);
}

static void
damaged_pages(void **state)
{
    char *path = g_build_filename(raw_folder, "damaged.db", NULL), *url = raw_url("damaged.db", "");
    pawl_partition partition = {"t", 1};
    pawl_store *store;
    pawl_entry entry;
    FILE *file;
    pawl_status status;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    suite_acquire(store, "g", "t", 1, pawl_position_at(5));
    pawl_store_close(store);

    file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 4096, SEEK_SET), 0);
    for (int i = 0; i < 4096 * 3; i++)
        fputc(0xa5, file);
    fclose(file);
    status = raw_try_store(url, &store, &err);
    if (status == PAWL_OK) {
        status = pawl_store_load(store, "g", &partition, 1, &entry, NULL, &err);
        pawl_store_close(store);
    }
    assert_status(PAWL_UNREADABLE, status, err);
    assert_says(err, "damaged");
    g_free(path);
    g_free(url);
}

/* Tables of these names that are somebody else's. */
static void
foreign_tables(void **state)
{
    char *url = raw_url("foreign.db", "");
    pawl_partition partition = {"t", 1};
    pawl_store *store;
    pawl_entry entry;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    pawl_store_close(store);
    raw_run_once(url, "DROP TABLE pawl_offsets; CREATE TABLE pawl_offsets (a, b)");
    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    assert_status(PAWL_UNREADABLE, pawl_store_load(store, "g", &partition, 1, &entry, NULL, &err), err);
    assert_says(err, "not pawl's");
    pawl_store_close(store);
    g_free(url);
}

/* Root may write to everything: somebody else tries. The saved user, by which it comes back, tells whether we are root. */
static void
give_up_root(bool give_up)
{
    uid_t real, effective, saved, user = give_up ? 65534 : 0;

    assert_int_equal(getresuid(&real, &effective, &saved), 0);
    if (saved != 0)
        return;
    assert_int_equal(setresuid(user, user, 0), 0);
    prctl(PR_SET_DUMPABLE, 1); /* the change of user took that away, and the leak checker needs it */
}

/* A test that failed on its way left that undone. */
static int
become_root_again(void **state)
{
    (void) state;
    give_up_root(false);
    return chmod(raw_folder, 0755);
}

static void
read_only(void **state)
{
    char *path = g_build_filename(raw_folder, "readonly.db", NULL), *url = raw_url("readonly.db", "");
    pawl_owner owner = suite_owner("suite");
    pawl_acquire_line line = {.partition = {"t", 0}};
    pawl_store *store;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    line.epoch_seen = suite_acquire(store, "g", "t", 0, pawl_position_at(5));
    pawl_store_close(store);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(raw_folder, 0777), 0);

    give_up_root(true);
    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    assert_true(pawl_position_equal(suite_load(store, "g", "t", 0).offset, pawl_position_at(5)));
    assert_status(PAWL_INVALID, pawl_store_acquire(store, "g", &owner, NULL, &line, 1, &err), err);
    assert_says(err, "read-only");
    pawl_store_close(store);
    give_up_root(false);

    assert_int_equal(chmod(path, 0), 0);
    give_up_root(true);
    assert_status(PAWL_INVALID, raw_try_store(url, &store, &err), err);
    assert_says(err, "Permission denied");
    give_up_root(false);
    g_free(path);
    g_free(url);
}

/* What is stored in a folder that one may not look into is not "nothing". */
static void
hidden_folder(void **state)
{
    pawl_store_options options = {.size = sizeof options, .read_only = true};
    char *url = raw_url("hidden.db", ""), *closed = raw_url("hidden.db", "?create=no");
    pawl_store *store = NULL;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    suite_acquire(store, "g", "t", 0, pawl_position_at(5));
    pawl_store_close(store);
    assert_int_equal(chmod(raw_folder, 0700), 0);
    give_up_root(true);
    assert_status(PAWL_INVALID, pawl_store_open(url, &options, &store, &err), err);
    assert_says(err, "Permission denied");
    assert_status(PAWL_INVALID, raw_try_store(closed, &store, &err), err);
    assert_says(err, "Permission denied");
    give_up_root(false);
    assert_int_equal(chmod(raw_folder, 0755), 0);
    g_free(url);
    g_free(closed);
}

/* A write-ahead log needs to make files beside the database, even for reading. */
static void
read_only_folder(void **state)
{
    char *url = raw_url("closed.db", ""), *new_url = raw_url("never.db", "");
    pawl_store *store = NULL;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    pawl_store_close(store); /* the last one to close it takes the log away */
    assert_int_equal(chmod(raw_folder, 0555), 0);
    give_up_root(true);
    assert_status(PAWL_INVALID, raw_try_store(url, &store, &err), err);
    assert_says(err, "read-only");
    assert_status(PAWL_INVALID, raw_try_store(new_url, &store, &err), err);
    assert_says(err, "Permission denied");
    give_up_root(false);
    assert_int_equal(chmod(raw_folder, 0755), 0);
    g_free(url);
    g_free(new_url);
}

/* A full disk, in SQLite's words: the file may not grow. Nothing is lost or half done, and later it goes on. */
static void
full_disk(void **state)
{
    char *url = raw_url("full.db", "");
    pawl_save_line *lines, line;
    pawl_store *store;
    void *handle;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    lines = suite_many(store, "g", 10);
    line = lines[0];
    g_free(lines);
    assert_status(PAWL_OK, pawl_store_begin(store, "g", &line, 1, &handle, &err), err);
    raw_run(handle, "CREATE TABLE fat (x)");
    raw_run(handle, "PRAGMA max_page_count = 10");
    assert_int_equal(sqlite3_exec(handle, "INSERT INTO fat VALUES (zeroblob(1000000))", NULL, NULL, NULL), SQLITE_FULL);
    assert_status(PAWL_FAILED, pawl_store_save(store, "g", &line, 1, &err), err);
    assert_int_equal(suite_load(store, "g", line.partition.topic, line.partition.number).offset.offset, 0);

    assert_status(PAWL_OK, pawl_store_begin(store, "g", &line, 1, &handle, &err), err);
    raw_run(handle, "PRAGMA max_page_count = 100000");
    raw_run(handle, "CREATE TABLE fat (x)");
    assert_status(PAWL_OK, pawl_store_save(store, "g", &line, 1, &err), err);
    pawl_store_close(store);
    g_free(url);
}

/* The file may not grow: the commit fails with an I/O error, after which its outcome is not known. Reading back tells. */
static void
commit_with_an_io_error(void **state)
{
    char *path = g_build_filename(raw_folder, "limited.db-wal", NULL), *url = raw_url("limited.db", "");
    struct rlimit before, limited;
    struct stat log;
    pawl_store *store;
    void *handle;
    int64_t epoch;
    pawl_save_line line;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    epoch = suite_acquire(store, "g", "t", 0, pawl_position_at(5));
    line = suite_line("t", 0, epoch, pawl_position_at(5), 6);
    assert_int_equal(stat(path, &log), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limited = before;
    limited.rlim_cur = (rlim_t) log.st_size + 100; /* the head of one page more, not the page */
    signal(SIGXFSZ, SIG_IGN);

    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limited), 0);
    assert_status(PAWL_FAILED, pawl_store_save(store, "g", &line, 1, &err), err);
    assert_int_equal(err.flags, PAWL_ERROR_RETRIABLE);
    assert_says(err, "not applied");
    assert_says(err, "limited.db");
    assert_status(PAWL_OK, pawl_store_begin(store, "g", &line, 1, &handle, &err), err);
    assert_status(PAWL_FAILED, pawl_store_save(store, "g", &line, 1, &err), err);
    assert_int_equal(err.flags, PAWL_ERROR_RETRIABLE); /* begin and flush may run again */
    assert_int_equal(suite_load(store, "g", "t", 0).offset.offset, 5);

    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_status(PAWL_OK, pawl_store_save(store, "g", &line, 1, &err), err);
    pawl_store_close(store);
    g_free(path);
    g_free(url);
}

static void
deleted_while_open(void **state)
{
    char *path = g_build_filename(raw_folder, "deleted.db", NULL), *url = raw_url("deleted.db", "");
    pawl_store *store;
    int64_t epoch;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    epoch = suite_acquire(store, "g", "t", 0, pawl_position_at(5));
    assert_int_equal(unlink(path), 0);
    assert_status(PAWL_FAILED, suite_save(store, "g", "t", 0, epoch, pawl_position_at(5), 6, &err), err);
    assert_says(err, "deleted");
    pawl_store_close(store);
    g_free(path);
    g_free(url);
}

/* The same while results are written: then it is the commit that must not succeed. */
static void
deleted_in_a_transaction(void **state)
{
    char *path = g_build_filename(raw_folder, "during.db", NULL), *url = raw_url("during.db", "");
    pawl_save_line line;
    pawl_store *store;
    void *handle;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    line = suite_line("t", 0, suite_acquire(store, "g", "t", 0, pawl_position_at(5)), pawl_position_at(5), 6);
    assert_status(PAWL_OK, pawl_store_begin(store, "g", &line, 1, &handle, &err), err);
    assert_int_equal(unlink(path), 0);
    assert_status(PAWL_FAILED, pawl_store_save(store, "g", &line, 1, &err), err);
    assert_says(err, "deleted");
    pawl_store_close(store);
    g_free(path);
    g_free(url);
}

/* What was saved last stands in the -wal file only. */
static void
wal_deleted_while_open(void **state)
{
    char *wal = g_build_filename(raw_folder, "log.db-wal", NULL), *url = raw_url("log.db", "");
    pawl_store *store;
    int64_t epoch;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    epoch = suite_acquire(store, "g", "t", 0, pawl_position_at(5));
    assert_status(PAWL_OK, suite_save(store, "g", "t", 0, epoch, pawl_position_at(5), 6, &err), err);
    assert_int_equal(unlink(wal), 0);
    assert_status(PAWL_FAILED, suite_save(store, "g", "t", 0, epoch, pawl_position_at(6), 7, &err), err);
    assert_says(err, "log.db-wal was deleted");
    assert_true(g_file_set_contents(wal, "", 0, NULL));
    assert_status(PAWL_FAILED, suite_save(store, "g", "t", 0, epoch, pawl_position_at(6), 7, &err), err);
    assert_says(err, "log.db-wal was deleted");
    pawl_store_close(store);
    g_free(wal);
    g_free(url);
}

/* The working directory changes, the store stays where it is. */
static void
relative_paths(void **state)
{
    char *back = g_get_current_dir(), place[2000];
    pawl_store *store;
    pawl_error err;

    (void) state;
    assert_int_equal(chdir(raw_folder), 0);
    assert_status(PAWL_OK, raw_try_store("sqlite:relative.db", &store, &err), err);
    assert_int_equal(chdir(back), 0);
    suite_acquire(store, "g", "t", 0, pawl_position_at(5));
    assert_non_null(strstr(pawl_store_place(store, "g", (pawl_partition){"t", 0}, place, sizeof place), raw_folder));
    pawl_store_close(store);
    g_free(back);
}

static void *
open_in_thread(void *user)
{
    pawl_store *store = NULL;
    pawl_error err;
    pawl_status status = raw_try_store(user, &store, &err);

    if (status != PAWL_OK)
        fprintf(stderr, "%s\n", err.message);
    pawl_store_close(store);
    return status == PAWL_OK ? user : NULL;
}

/* All of them find no tables, all switch to WAL, one makes them. */
static void
opened_by_many_at_once(void **state)
{
    (void) state;
    for (int round = 0; round < 10; round++) {
        char *name = g_strdup_printf("fresh-%d.db", round), *url = raw_url(name, "");
        pthread_t threads[8];

        for (int i = 0; i < 8; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, open_in_thread, url), 0);
        for (int i = 0; i < 8; i++) {
            void *result;

            pthread_join(threads[i], &result);
            assert_ptr_equal(result, url);
        }
        g_free(name);
        g_free(url);
    }
}

static void
the_file_is_as_promised(void **state)
{
    char *url = raw_url("fresh-0.db", "");
    sqlite3 *db = raw_open(url);
    sqlite3_stmt *statement;
    pawl_store *store;
    pawl_save_line line;
    void *handle;
    pawl_error err;

    (void) state;
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA journal_mode", -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal(sqlite3_column_text(statement, 0), "wal");
    sqlite3_finalize(statement);
    assert_int_equal(raw_number(db, "SELECT count(*) FROM pragma_table_list WHERE name LIKE 'pawl_%%' AND strict"), 3);
    assert_int_not_equal(sqlite3_exec(db,
                                      "INSERT INTO pawl_offsets (group_name, topic, partition, epoch, offset)"
                                      " VALUES ('g', 't', 0, 1, 'x')",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
    sqlite3_close(db);

    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    line = suite_line("t", 0, suite_acquire(store, "g", "t", 0, pawl_position_at(0)), pawl_position_at(0), 1);
    assert_status(PAWL_OK, pawl_store_begin(store, "g", &line, 1, &handle, &err), err);
    assert_int_equal(raw_number(handle, "PRAGMA synchronous"), 2); /* FULL */
    pawl_store_close(store);
    g_free(url);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_files),
        cmocka_unit_test(no_database),
        cmocka_unit_test(damaged_pages),
        cmocka_unit_test(foreign_tables),
        cmocka_unit_test_teardown(read_only, become_root_again),
        cmocka_unit_test_teardown(hidden_folder, become_root_again),
        cmocka_unit_test_teardown(read_only_folder, become_root_again),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(commit_with_an_io_error),
        cmocka_unit_test(deleted_while_open),
        cmocka_unit_test(deleted_in_a_transaction),
        cmocka_unit_test(wal_deleted_while_open),
        cmocka_unit_test(relative_paths),
        cmocka_unit_test(opened_by_many_at_once),
        cmocka_unit_test(the_file_is_as_promised),
    };
    int failed;

    if (!raw_folder_init())
        return EXIT_FAILURE;
    failed = cmocka_run_group_tests_name("sqlite files", tests, NULL, NULL);
    raw_folder_done();
    return failed;
}
