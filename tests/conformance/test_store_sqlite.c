/*
 * test_store_sqlite.c - the sqlite: store passes the conformance suite, and what only a file can do
 *
 * PAWL_TEST_DIR says where the file is made; by default in the folder for temporary files.
 */
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

#include <sqlite3.h>

#include <pawl/sys/registry.h>

extern const pawl_store_backend pawl__store_sqlite;

static char *folder; /* of this run */

/* --------------------------------------------------------------------------------------- behind the store's back -- */

static sqlite3 *
raw_open(const char *url)
{
    char *path = g_strndup(url + strlen("sqlite:"), strcspn(url + strlen("sqlite:"), "?"));
    sqlite3 *db;

    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL), SQLITE_OK);
    sqlite3_busy_timeout(db, 10000);
    g_free(path);
    return db;
}

static void
run_sql(sqlite3 *db, const char *format, ...)
{
    va_list args;
    char *sql;

    va_start(args, format);
    sql = sqlite3_vmprintf(format, args);
    va_end(args);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_free(sql);
}

static void
run_raw(const char *url, const char *sql)
{
    sqlite3 *db = raw_open(url);

    run_sql(db, "%s", sql);
    sqlite3_close(db);
}

/* The first column of the first row, or -1. */
static int64_t
get_number(sqlite3 *db, const char *format, ...)
{
    sqlite3_stmt *statement;
    int64_t number = -1;
    va_list args;
    char *sql;

    va_start(args, format);
    sql = sqlite3_vmprintf(format, args);
    va_end(args);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    if (sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return number;
}

/* pawl's table takes no text, so one without types takes its place; "42", a true offset, brings the old one back. */
static bool
spoil(const char *url, const char *group, pawl_partition partition, const char *text)
{
    sqlite3 *db = raw_open(url);
    bool spoilt = get_number(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'kept'") == 1;

    if (spoilt)
        run_sql(db, "DROP TABLE pawl_offsets; ALTER TABLE kept RENAME TO pawl_offsets");
    if (strcmp(text, "42") != 0) {
        run_sql(db, "ALTER TABLE pawl_offsets RENAME TO kept;"
                    "CREATE TABLE pawl_offsets (group_name, topic, partition, offset, epoch, owner_host, owner_pid,"
                    " owner_client, owner_renewed_ms, batch, pending, print,"
                    " PRIMARY KEY (group_name, topic, partition));"
                    "INSERT INTO pawl_offsets SELECT * FROM kept");
        run_sql(db, "UPDATE pawl_offsets SET offset = %Q WHERE group_name = %Q AND topic = %Q AND partition = %d", text,
                group, partition.topic, (int) partition.number);
    }
    sqlite3_close(db);
    return true;
}

static void
change_layout(const char *url, const char *group, int step)
{
    sqlite3 *db = raw_open(url);

    (void) group;
    run_sql(db, "UPDATE pawl_meta SET value = value + %d WHERE key = 'layout'", step);
    sqlite3_close(db);
}

static void
hang(const char *url, bool hung)
{
    static sqlite3 *holder;

    if (hung) {
        holder = raw_open(url);
        run_sql(holder, "BEGIN IMMEDIATE");
    } else {
        run_sql(holder, "ROLLBACK");
        sqlite3_close(holder);
    }
}

static void
put_result(void *handle, const char *group, int64_t number)
{
    run_sql(handle, "INSERT INTO results (name, number) VALUES (%Q, %lld) ON CONFLICT DO UPDATE SET number = %lld",
            group, (long long) number, (long long) number);
}

static int64_t
get_result(const char *url, const char *group)
{
    sqlite3 *db = raw_open(url);
    int64_t number = get_number(db, "SELECT number FROM results WHERE name = %Q", group);

    sqlite3_close(db);
    return number;
}

/* ------------------------------------------------------------------------------------------------- the open file -- */

/* The URL of a file in this run's folder; the caller frees it. */
static char *
url_of(const char *name, const char *query)
{
    return g_strdup_printf("sqlite:%s/%s%s", folder, name, query);
}

static pawl_status
try_open(const char *url, pawl_store **ret_store, pawl_error *err)
{
    pawl_store_options options = {.size = sizeof options, .timeout_ms = 3000};

    return pawl_store_open(url, &options, ret_store, err);
}

static void
bad_files(void **state)
{
    char *urls[] = {
        url_of("missing.db", "?create=no"),
        url_of("no/such/folder.db", ""),
        url_of("x.db", "?create=perhaps"),
        url_of("x.db", "?durability=little"),
        url_of("x.db", "?busy_timeout=5parsec"),
        g_strdup("sqlite:"),
        g_strdup("sqlite::memory:"),
        g_strdup("sqlite://host/x.db"),
    };
    const char *const says[] = {"create=no", "no folder", "create", "durability", "busy_timeout", "", "", "host"};
    pawl_store *store = NULL;
    pawl_error err;

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(urls); i++) {
        assert_status(PAWL_INVALID, try_open(urls[i], &store, &err), err);
        assert_says(err, says[i]);
        assert_null(store);
        g_free(urls[i]);
    }
}

static void
no_database(void **state)
{
    char *path = g_build_filename(folder, "text.db", NULL), *url = url_of("text.db", "");
    char text[2048], *after;
    pawl_store *store = NULL;
    pawl_error err;

    (void) state;
    memset(text, 'x', sizeof text);
    assert_true(g_file_set_contents(path, text, sizeof text, NULL));
    assert_status(PAWL_UNREADABLE, try_open(url, &store, &err), err);
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
    char *path = g_build_filename(folder, "damaged.db", NULL), *url = url_of("damaged.db", "");
    pawl_partition partition = {"t", 1};
    pawl_store *store;
    pawl_entry entry;
    FILE *file;
    pawl_status status;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, try_open(url, &store, &err), err);
    suite_acquire(store, "g", "t", 1, pawl_position_at(5));
    pawl_store_close(store);

    file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 4096, SEEK_SET), 0);
    for (int i = 0; i < 4096 * 3; i++)
        fputc(0xa5, file);
    fclose(file);
    status = try_open(url, &store, &err);
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
    char *url = url_of("foreign.db", "");
    pawl_partition partition = {"t", 1};
    pawl_store *store;
    pawl_entry entry;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, try_open(url, &store, &err), err);
    pawl_store_close(store);
    run_raw(url, "DROP TABLE pawl_offsets; CREATE TABLE pawl_offsets (a, b)");
    assert_status(PAWL_OK, try_open(url, &store, &err), err);
    assert_status(PAWL_UNREADABLE, pawl_store_load(store, "g", &partition, 1, &entry, NULL, &err), err);
    assert_says(err, "not pawl's");
    pawl_store_close(store);
    g_free(url);
}

/* Root may write to everything: somebody else tries. */
static void
give_up_root(bool give_up)
{
    if (getuid() != 0)
        return;
    assert_int_equal(seteuid(give_up ? 65534 : 0), 0);
    prctl(PR_SET_DUMPABLE, 1); /* the change of user took that away, and the leak checker needs it */
}

static void
read_only(void **state)
{
    char *path = g_build_filename(folder, "readonly.db", NULL), *url = url_of("readonly.db", "");
    pawl_owner owner = suite_owner("suite");
    pawl_acquire_line line = {.partition = {"t", 0}};
    pawl_store *store;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, try_open(url, &store, &err), err);
    line.epoch_seen = suite_acquire(store, "g", "t", 0, pawl_position_at(5));
    pawl_store_close(store);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0777), 0);

    give_up_root(true);
    assert_status(PAWL_OK, try_open(url, &store, &err), err);
    assert_true(pawl_position_equal(suite_load(store, "g", "t", 0).offset, pawl_position_at(5)));
    assert_status(PAWL_FAILED, pawl_store_acquire(store, "g", &owner, NULL, &line, 1, &err), err);
    assert_says(err, "read-only");
    pawl_store_close(store);
    give_up_root(false);

    assert_int_equal(chmod(path, 0), 0);
    give_up_root(true);
    assert_status(PAWL_FAILED, try_open(url, &store, &err), err);
    assert_says(err, "Permission denied");
    give_up_root(false);
    g_free(path);
    g_free(url);
}

/* A write-ahead log needs to make files beside the database, even for reading. */
static void
read_only_folder(void **state)
{
    char *url = url_of("closed.db", ""), *new_url = url_of("never.db", "");
    pawl_store *store = NULL;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, try_open(url, &store, &err), err);
    pawl_store_close(store); /* the last one to close it takes the log away */
    assert_int_equal(chmod(folder, 0555), 0);
    give_up_root(true);
    assert_status(PAWL_FAILED, try_open(url, &store, &err), err);
    assert_says(err, "read-only");
    assert_status(PAWL_FAILED, try_open(new_url, &store, &err), err);
    assert_says(err, "Permission denied");
    give_up_root(false);
    assert_int_equal(chmod(folder, 0755), 0);
    g_free(url);
    g_free(new_url);
}

/* A full disk, in SQLite's words: the file may not grow. Nothing is lost or half done, and later it goes on. */
static void
full_disk(void **state)
{
    char *url = url_of("full.db", "");
    pawl_save_line *lines, line;
    pawl_store *store;
    void *handle;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, try_open(url, &store, &err), err);
    lines = suite_many(store, "g", 10);
    line = lines[0];
    g_free(lines);
    assert_status(PAWL_OK, pawl_store_begin(store, "g", &line, 1, &handle, &err), err);
    run_sql(handle, "CREATE TABLE fat (x)");
    run_sql(handle, "PRAGMA max_page_count = 10");
    assert_int_equal(sqlite3_exec(handle, "INSERT INTO fat VALUES (zeroblob(1000000))", NULL, NULL, NULL), SQLITE_FULL);
    assert_status(PAWL_FAILED, pawl_store_save(store, "g", &line, 1, &err), err);
    assert_int_equal(suite_load(store, "g", line.partition.topic, line.partition.number).offset.offset, 0);

    assert_status(PAWL_OK, pawl_store_begin(store, "g", &line, 1, &handle, &err), err);
    run_sql(handle, "PRAGMA max_page_count = 100000");
    run_sql(handle, "CREATE TABLE fat (x)");
    assert_status(PAWL_OK, pawl_store_save(store, "g", &line, 1, &err), err);
    pawl_store_close(store);
    g_free(url);
}

/* The file may not grow: the commit fails with an I/O error, after which its outcome is not known. Reading back tells. */
static void
commit_with_an_io_error(void **state)
{
    char *path = g_build_filename(folder, "limited.db-wal", NULL), *url = url_of("limited.db", "");
    struct rlimit before, limited;
    struct stat log;
    pawl_store *store;
    void *handle;
    int64_t epoch;
    pawl_save_line line;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, try_open(url, &store, &err), err);
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
    char *path = g_build_filename(folder, "deleted.db", NULL), *url = url_of("deleted.db", "");
    pawl_store *store;
    int64_t epoch;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, try_open(url, &store, &err), err);
    epoch = suite_acquire(store, "g", "t", 0, pawl_position_at(5));
    assert_int_equal(unlink(path), 0);
    assert_status(PAWL_FAILED, suite_save(store, "g", "t", 0, epoch, pawl_position_at(5), 6, &err), err);
    assert_says(err, "deleted");
    pawl_store_close(store);
    g_free(path);
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
    assert_int_equal(chdir(folder), 0);
    assert_status(PAWL_OK, try_open("sqlite:relative.db", &store, &err), err);
    assert_int_equal(chdir(back), 0);
    suite_acquire(store, "g", "t", 0, pawl_position_at(5));
    assert_non_null(strstr(pawl_store_place(store, "g", (pawl_partition){"t", 0}, place, sizeof place), folder));
    pawl_store_close(store);
    g_free(back);
}

static void *
open_in_thread(void *user)
{
    pawl_store *store = NULL;
    pawl_error err;
    pawl_status status = try_open(user, &store, &err);

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
        char *name = g_strdup_printf("fresh-%d.db", round), *url = url_of(name, "");
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
    char *url = url_of("fresh-0.db", "");
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
    assert_int_equal(get_number(db, "SELECT count(*) FROM pragma_table_list WHERE name LIKE 'pawl_%%' AND strict"), 3);
    assert_int_not_equal(sqlite3_exec(db,
                                      "INSERT INTO pawl_offsets (group_name, topic, partition, epoch, offset)"
                                      " VALUES ('g', 't', 0, 1, 'x')",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
    sqlite3_close(db);

    assert_status(PAWL_OK, try_open(url, &store, &err), err);
    line = suite_line("t", 0, suite_acquire(store, "g", "t", 0, pawl_position_at(0)), pawl_position_at(0), 1);
    assert_status(PAWL_OK, pawl_store_begin(store, "g", &line, 1, &handle, &err), err);
    assert_int_equal(get_number(handle, "PRAGMA synchronous"), 2); /* FULL */
    pawl_store_close(store);
    g_free(url);
}

/* -------------------------------------------------------------------------------- programs that end transactions -- */

/* A store with one partition at 0, and a table for results. */
static pawl_store *
open_with_results(const char *name, pawl_save_line *ret_line)
{
    char *url = url_of(name, "");
    pawl_store *store;
    pawl_error err;

    assert_status(PAWL_OK, try_open(url, &store, &err), err);
    run_raw(url, "CREATE TABLE results (name PRIMARY KEY, number)");
    *ret_line = suite_line("t", 0, suite_acquire(store, "g", "t", 0, pawl_position_at(0)), pawl_position_at(0), 1);
    g_free(url);
    return store;
}

static void
a_commit_of_the_program_s_own(void **state)
{
    static const char *const endings[] = {"COMMIT", "ROLLBACK", "COMMIT; BEGIN", "ROLLBACK; BEGIN IMMEDIATE", "END"};
    pawl_save_line line;
    pawl_store *store = open_with_results("commits.db", &line);
    char *url = url_of("commits.db", "");
    void *handle;
    pawl_error err;

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
        assert_status(PAWL_OK, pawl_store_begin(store, "g", &line, 1, &handle, &err), err);
        put_result(handle, "g", 1);
        sqlite3_exec(handle, endings[i], NULL, NULL, NULL);
        if (strchr(endings[i], ';') != NULL) /* exec ends at the COMMIT that is refused */
            sqlite3_exec(handle, "BEGIN", NULL, NULL, NULL);
        assert_status(PAWL_FAILED, pawl_store_save(store, "g", &line, 1, &err), err);
        assert_says(err, "COMMIT");
        assert_int_equal(get_result(url, "g"), -1);
        assert_int_equal(suite_load(store, "g", "t", 0).offset.offset, 0);
    }

    /* Savepoints are fine. */
    assert_status(PAWL_OK, pawl_store_begin(store, "g", &line, 1, &handle, &err), err);
    run_sql(handle, "SAVEPOINT a");
    put_result(handle, "g", 1);
    run_sql(handle, "ROLLBACK TO a");
    put_result(handle, "g", 2);
    run_sql(handle, "RELEASE a; SAVEPOINT left_open");
    assert_status(PAWL_OK, pawl_store_save(store, "g", &line, 1, &err), err);
    assert_int_equal(get_result(url, "g"), 2);

    /* Outside of a transaction the handle is the program's own affair. */
    run_sql(handle, "BEGIN; DELETE FROM results; COMMIT");
    pawl_store_close(store);
    g_free(url);
}

static void
a_statement_that_is_not_finished(void **state)
{
    pawl_save_line line;
    pawl_store *store = open_with_results("unfinished.db", &line);
    char *url = url_of("unfinished.db", "");
    sqlite3_stmt *writing, *reading;
    void *handle;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, pawl_store_begin(store, "g", &line, 1, &handle, &err), err);
    assert_int_equal(
        sqlite3_prepare_v2(handle, "INSERT INTO results VALUES ('a', 1), ('b', 2) RETURNING name", -1, &writing, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(writing), SQLITE_ROW);
    assert_status(PAWL_FAILED, pawl_store_save(store, "g", &line, 1, &err), err);
    assert_says(err, "INSERT INTO results");
    sqlite3_finalize(writing);
    assert_int_equal(suite_load(store, "g", "t", 0).offset.offset, 0);

    /* Reading does no harm. */
    assert_status(PAWL_OK, pawl_store_begin(store, "g", &line, 1, &handle, &err), err);
    put_result(handle, "g", 1);
    assert_int_equal(sqlite3_prepare_v2(handle, "SELECT * FROM results", -1, &reading, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(reading), SQLITE_ROW);
    assert_status(PAWL_OK, pawl_store_save(store, "g", &line, 1, &err), err);
    assert_int_equal(get_result(url, "g"), 1);
    pawl_store_close(store);
    sqlite3_finalize(reading);
    g_free(url);
}

/* ------------------------------------------------------------------------------------------------------- running -- */

static void
remove_folder(void)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;

    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        char *path = g_build_filename(folder, name, NULL);

        unlink(path);
        g_free(path);
    }
    if (dir != NULL)
        g_dir_close(dir);
    rmdir(folder);
    g_free(folder);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_files),
        cmocka_unit_test(no_database),
        cmocka_unit_test(damaged_pages),
        cmocka_unit_test(foreign_tables),
        cmocka_unit_test(read_only),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(commit_with_an_io_error),
        cmocka_unit_test(deleted_while_open),
        cmocka_unit_test(relative_paths),
        cmocka_unit_test(opened_by_many_at_once),
        cmocka_unit_test(read_only_folder),
        cmocka_unit_test(the_file_is_as_promised),
        cmocka_unit_test(a_commit_of_the_program_s_own),
        cmocka_unit_test(a_statement_that_is_not_finished),
    };
    const char *where = g_getenv("PAWL_TEST_DIR");
    conformance sqlite = {
        .name = "sqlite",
        .survives_kill = true,
        .spoil = spoil,
        .change_layout = change_layout,
        .hang = hang,
        .put_result = put_result,
        .get_result = get_result,
    };
    char *url;
    int failed;

    if (pawl_registry_add_store(&pawl__store_sqlite, NULL) != PAWL_OK)
        return EXIT_FAILURE;
    folder = g_build_filename(where != NULL ? where : g_get_tmp_dir(), "pawl-sqlite-XXXXXX", NULL);
    if (mkdtemp(folder) == NULL)
        return EXIT_FAILURE;
    sqlite.url = url = url_of("conformance.db", "");
    run_raw(url, "CREATE TABLE results (name PRIMARY KEY, number)");

    failed = conformance_run(&sqlite) + cmocka_run_group_tests_name("sqlite files", tests, NULL, NULL);
    remove_folder();
    g_free(url);
    return failed;
}
