/*
 * test_postgresql_servers.c - servers that die, freeze, are not there or will not do, and tables that are another's
 */
#include "tests/conformance/postgresql_raw.h"
#include "tests/conformance/suite.h"

#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/clock.h"

static pawl_store *
open_store(const char *query)
{
    char *url = raw_url_with(query);
    pawl_store *store = NULL;
    pawl_error err;

    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    g_free(url);
    return store;
}

/* Opening says this, in time, and nothing of the password. The URL is freed. */
static void
assert_refused(char *url, pawl_status expected, const char *says)
{
    int64_t start_ms = pawl__clock_ms();
    pawl_store *store = NULL;
    pawl_error err;

    assert_status(expected, raw_try_store(url, &store, &err), err);
    assert_in_range(pawl__clock_ms() - start_ms, 0, 10000);
    assert_says(err, says);
    assert_null(strstr(err.message, "secret"));
    assert_null(strstr(err.message, "pawl%3A"));
    assert_null(strchr(err.message, '\n'));
    g_free(url);
}

/* ------------------------------------------------------------------------------------------- servers that go away -- */

static void
killed_after_a_save(void **state)
{
    pawl_store *store = open_store("");
    int64_t epoch = suite_acquire(store, "killed", "t", 0, pawl_position_at(0));
    pawl_error err;

    (void) state;
    for (int64_t until = 1; until <= 5; until++) {
        assert_status(PAWL_OK, suite_save(store, "killed", "t", 0, epoch, pawl_position_at(until - 1), until, &err),
                      err);
        service_do(raw_server, "kill");
        service_do(raw_server, "start");
        /* The same handle finds it again. */
        assert_int_equal(suite_load(store, "killed", "t", 0).offset.offset, until);
    }
    pawl_store_close(store);
}

static void
restarted_between_two_saves(void **state)
{
    pawl_store *store = open_store("");
    int64_t epoch = suite_acquire(store, "restarted", "t", 0, pawl_position_at(0));
    pawl_error err;

    (void) state;
    service_do(raw_server, "stop");
    assert_status(PAWL_UNREACHABLE, suite_save(store, "restarted", "t", 0, epoch, pawl_position_at(0), 1, &err), err);
    service_do(raw_server, "start");
    assert_status(PAWL_OK, suite_save(store, "restarted", "t", 0, epoch, pawl_position_at(0), 1, &err), err);
    service_do(raw_server, "stop");
    service_do(raw_server, "start");
    assert_status(PAWL_OK, suite_save(store, "restarted", "t", 0, epoch, pawl_position_at(1), 2, &err), err);
    pawl_store_close(store);
}

/* Nothing answers, not even to an order to stop: whether the save was applied cannot be known. */
static void
frozen_server(void **state)
{
    pawl_store *store = open_store(""), *second = open_store("");
    int64_t epoch = suite_acquire(store, "frozen", "t", 0, pawl_position_at(0)), start_ms;
    PGconn *conn = raw_connect();
    pawl_status status;
    pawl_error err;
    int backend;

    (void) state;
    assert_status(PAWL_OK, suite_save(store, "frozen", "t", 0, epoch, pawl_position_at(0), 1, &err), err);
    backend = (int) raw_number(conn, "SELECT pid FROM pg_stat_activity WHERE query LIKE 'WITH written AS (UPDATE%%'"
                                     " ORDER BY state_change DESC LIMIT 1");
    PQfinish(conn);
    assert_true(backend > 0);
    service_signal(raw_server, "POSTGRESQL_PID", SIGSTOP);
    kill(backend, SIGSTOP);
    start_ms = pawl__clock_ms();
    status = suite_save(store, "frozen", "t", 0, epoch, pawl_position_at(1), 2, &err);
    kill(backend, SIGCONT);
    service_signal(raw_server, "POSTGRESQL_PID", SIGCONT);
    assert_status(PAWL_OUTCOME_UNKNOWN, status, err);
    assert_in_range(pawl__clock_ms() - start_ms, 0, 10000);

    /* It may come late; then it is there, or nothing is. */
    assert_true(suite_load(second, "frozen", "t", 0).offset.known);
    pawl_store_close(second);
    pawl_store_close(store);
}

/* ---------------------------------------------------------------------------------------- servers that will not do -- */

/* A socket that listens and is never looked at, or says something that PostgreSQL does not. */
static int
listen_somewhere(char **ret_host)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *) &address, sizeof address), 0);
    assert_int_equal(listen(fd, 5), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *) &address, &size), 0);
    *ret_host = g_strdup_printf("127.0.0.1:%d", ntohs(address.sin_port));
    return fd;
}

static void *
answer_as_a_web_server(void *listening)
{
    static const char answer[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
    int fd = accept(GPOINTER_TO_INT(listening), NULL, NULL);

    send(fd, answer, strlen(answer), MSG_NOSIGNAL);
    close(fd);
    return NULL;
}

static void
wrong_addresses(void **state)
{
    char *host, *good = raw_host_of(raw_server), *hosts, *url;
    int fd = listen_somewhere(&host);
    pawl_store *store;
    pawl_error err;

    (void) state;
    assert_refused(raw_url_of(NULL, "127.0.0.1:1", NULL), PAWL_UNREACHABLE, "refused");
    assert_refused(raw_url_of(NULL, "no-such-host.invalid", NULL), PAWL_UNREACHABLE, "no-such-host.invalid");
    assert_refused(raw_url_of(NULL, host, NULL), PAWL_UNREACHABLE, "did not answer in time");

    /* Of several hosts the one that answers is used; what does not answer has its share of the time only. */
    hosts = g_strdup_printf("127.0.0.1:1,%s,%s", host, good);
    url = raw_url_of(NULL, hosts, NULL);
    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    suite_acquire(store, "several-hosts", "t", 0, pawl_position_at(0));
    pawl_store_close(store);
    close(fd);
    g_free(url);
    g_free(hosts);
    g_free(good);
    g_free(host);
}

static void
another_kind_of_server(void **state)
{
    char *host;
    int fd = listen_somewhere(&host);
    pthread_t thread;

    (void) state;
    assert_int_equal(pthread_create(&thread, NULL, answer_as_a_web_server, GINT_TO_POINTER(fd)), 0);
    assert_refused(raw_url_of(NULL, host, NULL), PAWL_UNREACHABLE, "invalid response");
    pthread_join(thread, NULL);
    close(fd);
    g_free(host);
}

static void
wrong_names(void **state)
{
    (void) state;
    assert_refused(raw_url_of("pawl:secret", NULL, NULL), PAWL_UNREACHABLE, "password authentication failed");
    assert_refused(raw_url_of("nobody:secret", NULL, NULL), PAWL_UNREACHABLE, "nobody");
    assert_refused(raw_url_of(NULL, NULL, "no_such_database"), PAWL_UNREACHABLE, "no_such_database");
    assert_refused(raw_url_of(NULL, NULL, ""), PAWL_INVALID, "names no database");
    assert_refused(raw_url_with("?sslmode=nonsense"), PAWL_UNREACHABLE, "sslmode");
    assert_refused(raw_url_with("?sslmode=require"), PAWL_UNREACHABLE, "SSL");
    assert_refused(raw_url_with("?socket=/nowhere"), PAWL_INVALID, "socket");
    assert_refused(raw_url_with("?lock_timeout=soon"), PAWL_INVALID, "lock_timeout");
    assert_refused(raw_url_with("?table="), PAWL_INVALID, "table");
    assert_refused(g_strdup("postgresql:///db?socket=/nowhere"), PAWL_UNREACHABLE, "/nowhere");
}

static void
default_transaction_read_only(void **state)
{
    (void) state;
    assert_refused(raw_url_with("?options=-c%20default_transaction_read_only%3Don"), PAWL_UNREACHABLE,
                   "default_transaction_read_only");
}

/* A server that waits for the log of a primary. */
static service *
start_replica(void)
{
    service *replica = service_new("postgresql", NULL);
    char *flag = g_build_filename(replica->folder, "data", "standby.signal", NULL);

    service_do(replica, "stop");
    assert_true(g_file_set_contents(flag, "", 0, NULL));
    service_do(replica, "start");
    g_free(flag);
    return replica;
}

static void
a_replica(void **state)
{
    pawl_store_options options = {.size = sizeof options, .read_only = true};
    service *replica = start_replica();
    char *host = raw_host_of(replica), *primary = raw_host_of(raw_server);
    char *hosts = g_strdup_printf("%s,%s", host, primary), *url = raw_url_of(NULL, host, NULL);
    pawl_store *store;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, pawl_store_open(url, &options, &store, &err), err);
    assert_false(suite_load(store, "g", "t", 0).offset.known);
    pawl_store_close(store);
    assert_refused(url, PAWL_UNREACHABLE, "replica");

    url = raw_url_of(NULL, hosts, NULL);
    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    suite_acquire(store, "beside-a-replica", "t", 0, pawl_position_at(0));
    pawl_store_close(store);
    /* Who only reads wants what is true now as well, while there is somebody who knows. This replica follows nobody. */
    assert_status(PAWL_OK, pawl_store_open(url, &options, &store, &err), err);
    assert_true(suite_load(store, "beside-a-replica", "t", 0).offset.known);
    pawl_store_close(store);
    service_free(replica);
    g_free(host);
    g_free(primary);
    g_free(hosts);
    g_free(url);
}

/* --------------------------------------------------------------------------------------------------------- tables -- */

static void
a_table_of_another_name(void **state)
{
    static const char query[] = "?schema=odd%20%22schema%22&table=my.offsets";
    pawl_store_options options = {.size = sizeof options, .read_only = true};
    char *url = raw_url_with(query);
    PGconn *conn = raw_connect();
    pawl_store *store;
    pawl_owner owner = suite_owner("suite");
    pawl_acquire_line line = {.partition = {"t", 0}};
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    assert_status(PAWL_INVALID, pawl_store_acquire(store, "g", &owner, NULL, &line, 1, &err), err);
    assert_says(err, "schema");
    pawl_store_close(store);

    raw_run(conn, "CREATE SCHEMA \"odd \"\"schema\"\"\"");
    assert_status(PAWL_OK, pawl_store_open(url, &options, &store, &err), err);
    assert_false(suite_load(store, "g", "t", 0).offset.known);
    assert_status(PAWL_OK, pawl_store_list(store, NULL, NULL, NULL, &err), err);
    pawl_store_close(store);
    assert_int_equal(raw_number(conn, "SELECT count(*) FROM pg_class WHERE relname = 'my.offsets'"), 0);

    store = open_store(query);
    assert_status(PAWL_CONFLICT, suite_save(store, "g", "t", 0, 1, pawl_position_at(0), 1, &err), err);
    suite_acquire(store, "g", "t", 0, pawl_position_at(7));
    assert_int_equal(raw_number(conn, "SELECT \"offset\" FROM \"odd \"\"schema\"\"\".\"my.offsets\""), 7);
    pawl_store_close(store);
    PQfinish(conn);
    g_free(url);
}

static void
tables_that_will_not_do(void **state)
{
    pawl_store *store;
    pawl_partition partition = {"t", 0};
    pawl_owner owner = suite_owner("suite");
    pawl_acquire_line line = {.partition = partition};
    pawl_entry entry;
    char *url;
    pawl_error err;

    (void) state;
    raw_run_once("CREATE UNLOGGED TABLE unlogged (LIKE results)");
    assert_refused(raw_url_with("?table=unlogged"), PAWL_INVALID, "unlogged");

    store = open_store("?table=results");
    assert_status(PAWL_UNREADABLE, pawl_store_load(store, "g", &partition, 1, &entry, NULL, &err), err);
    assert_says(err, "results");
    assert_status(PAWL_UNREADABLE, pawl_store_acquire(store, "g", &owner, NULL, &line, 1, &err), err);
    pawl_store_close(store);

    raw_run_once("CREATE ROLE poor LOGIN PASSWORD 'secret'");
    url = raw_url_of("poor:secret", NULL, "postgres?table=poor");
    assert_status(PAWL_OK, raw_try_store(url, &store, &err), err);
    assert_status(PAWL_FAILED, pawl_store_acquire(store, "g", &owner, NULL, &line, 1, &err), err);
    assert_says(err, "permission denied");
    pawl_store_close(store);
    g_free(url);
}

/* An event trigger drops the table as soon as it is made. */
static void
a_table_that_does_not_stay(void **state)
{
    char *url = raw_url_with("?table=gone");
    pawl_store_options options = {.size = sizeof options, .timeout_ms = 4000};
    pawl_owner owner = suite_owner("suite");
    pawl_acquire_line line = {.partition = {"t", 0}};
    pawl_store *store;
    pawl_error err;

    (void) state;
    raw_run_once("CREATE FUNCTION drop_it() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN DROP TABLE gone; END';"
                 " CREATE EVENT TRIGGER drop_it ON ddl_command_end WHEN TAG IN ('CREATE TABLE')"
                 " EXECUTE FUNCTION drop_it()");
    assert_status(PAWL_OK, pawl_store_open(url, &options, &store, &err), err);
    assert_status(PAWL_FAILED, pawl_store_acquire(store, "g", &owner, NULL, &line, 1, &err), err);
    assert_says(err, "dropped the table");
    raw_run_once("DROP EVENT TRIGGER drop_it");
    assert_status(PAWL_OK, pawl_store_acquire(store, "g", &owner, NULL, &line, 1, &err), err);
    pawl_store_close(store);
    g_free(url);
}

/* -------------------------------------------------------------------------------------------------------- warnings -- */

static void
keep_last(void *user, const pawl_log_line *line)
{
    g_snprintf(user, 200, "%d %s", (int) line->level, line->message);
}

/* What the server remarks goes to the log, not to the program's stderr. */
static void
notices(void **state)
{
    char last[200] = "";
    const pawl_log log = {PAWL_LOG_DEBUG, keep_last, last};
    pawl_store_options options = {.size = sizeof options, .log = &log};
    pawl_save_line line;
    pawl_store *store;
    void *handle;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, pawl_store_open(raw_url, &options, &store, &err), err);
    line = suite_line("t", 0, suite_acquire(store, "notices", "t", 0, pawl_position_at(0)), pawl_position_at(0), 1);
    assert_status(PAWL_OK, pawl_store_begin(store, "notices", &line, 1, &handle, &err), err);
    raw_run(handle, "DO 'BEGIN RAISE WARNING ''mind the gap''; END'");
    assert_non_null(strstr(last, "mind the gap"));
    assert_int_equal(last[0] - '0', PAWL_LOG_WARN);
    raw_run(handle, "DROP TABLE IF EXISTS not_there");
    assert_non_null(strstr(last, "not_there"));
    assert_int_equal(last[0] - '0', PAWL_LOG_DEBUG);
    pawl_store_close(store);
}

static void
count_warnings(void *user, const pawl_log_line *line)
{
    *(int *) user += strstr(line->message, "synchronous_commit") != NULL;
}

static void
a_commit_that_does_not_wait(void **state)
{
    int warnings = 0;
    const pawl_log log = {PAWL_LOG_WARN, count_warnings, &warnings};
    pawl_store_options options = {.size = sizeof options, .log = &log};
    char *url = raw_url_with("?options=-c%20synchronous_commit%3Doff");
    pawl_save_line line;
    pawl_store *store;
    void *handle;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, pawl_store_open(url, &options, &store, &err), err);
    assert_int_equal(warnings, 1);
    line = suite_line("t", 0, suite_acquire(store, "waits", "t", 0, pawl_position_at(0)), pawl_position_at(0), 1);
    assert_status(PAWL_OK, pawl_store_begin(store, "waits", &line, 1, &handle, &err), err);
    assert_int_equal(raw_number(handle, "SELECT (current_setting('synchronous_commit') = 'on')::int"), 1);
    pawl_store_close(store);
    g_free(url);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_after_a_save),
        cmocka_unit_test(restarted_between_two_saves),
        cmocka_unit_test(frozen_server),
        cmocka_unit_test(wrong_addresses),
        cmocka_unit_test(another_kind_of_server),
        cmocka_unit_test(wrong_names),
        cmocka_unit_test(default_transaction_read_only),
        cmocka_unit_test(a_replica),
        cmocka_unit_test(a_table_of_another_name),
        cmocka_unit_test(tables_that_will_not_do),
        cmocka_unit_test(a_table_that_does_not_stay),
        cmocka_unit_test(notices),
        cmocka_unit_test(a_commit_that_does_not_wait),
    };
    int failed;

    raw_init();
    failed = cmocka_run_group_tests_name("postgresql servers", tests, NULL, NULL);
    raw_done();
    return failed;
}
