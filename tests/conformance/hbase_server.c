/*
 * hbase_server.c - gateways and servers that go away, answers that are lost, and what answers in their place
 */
#include "tests/conformance/suite.h"

#include "tests/conformance/hbase_raw.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/proxy.h"
#include "util/clock.h"

/* A port at which nothing answers. */
#define NOBODY "127.0.0.1:1"

static char *
make_url(const char *gateways, const char *name, const char *query)
{
    return g_strdup_printf("hbase://%s/%s%s", gateways, name, query);
}

static pawl_status
try_open(const char *url, int64_t timeout_ms, bool read_only, pawl_store **ret_store, pawl_error *err)
{
    pawl_store_options options = {.size = sizeof options, .timeout_ms = timeout_ms, .read_only = read_only};

    return pawl_store_open(url, &options, ret_store, err);
}

/* -------------------------------------------------------------------------------------------------------- answers -- */

/* A store behind a proxy. */
static pawl_store *
open_behind(proxy **ret_between)
{
    char *gateway;
    pawl_store *store;

    *ret_between = proxy_new(atoi(strchr(raw_hbase_gateway(), ':') + 1));
    gateway = g_strdup_printf("127.0.0.1:%d", proxy_port(*ret_between));
    store = raw_hbase_open(gateway);
    g_free(gateway);
    return store;
}

static void
a_save_is_one_request(void **state)
{
    proxy *between;
    pawl_store *store = open_behind(&between);
    pawl_save_line *lines = suite_many(store, "one-request", 100);
    size_t before = proxy_requests(between);
    pawl_error err;

    (void) state;
    for (int i = 0; i < 10; i++) {
        assert_status(PAWL_OK, pawl_store_save(store, "one-request", lines, 100, &err), err);
        for (size_t line = 0; line < 100; line++)
            lines[line].expected = pawl_position_at(lines[line].until++);
    }
    assert_int_equal(proxy_requests(between) - before, 10);
    g_free(lines);
    pawl_store_close(store);
    proxy_free(between);
}

/* The write was applied, and nobody heard of it. */
static void
an_answer_that_is_lost(void **state)
{
    proxy *between;
    pawl_store *store = open_behind(&between);
    int64_t epoch = suite_acquire(store, "lost", "t", 0, pawl_position_at(0));
    pawl_acquire_line line = {.partition = {"t", 0}, .epoch_seen = epoch};
    pawl_owner owner = suite_owner("again");
    pawl_error err;

    (void) state;
    for (int64_t i = 0; i < 5; i++) {
        proxy_lose_next_answer(between);
        assert_status(PAWL_OK, suite_save(store, "lost", "t", 0, epoch, pawl_position_at(i), i + 1, &err), err);
        raw_hbase_assert_stored(store, "lost", 0, i + 1);
    }
    proxy_lose_next_answer(between);
    assert_status(PAWL_OK, pawl_store_acquire(store, "lost", &owner, NULL, &line, 1, &err), err);
    assert_int_equal(line.ret_epoch, epoch + 1);
    proxy_lose_next_answer(between);
    assert_status(PAWL_FENCED, suite_save(store, "lost", "t", 0, epoch, pawl_position_at(5), 6, &err), err);
    pawl_store_close(store);
    proxy_free(between);
}

/* The gateway writes twice and is refused because of its own first try; then HBase is away when the row is read. */
static void
a_refusal_of_one_s_own_write(void **state)
{
    static const char *const answers[] = {
        "HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        NULL,
    };
    proxy *between;
    pawl_store *store = open_behind(&between);
    int64_t epoch = suite_acquire(store, "own", "t", 0, pawl_position_at(0));
    pawl_error err;

    (void) state;
    proxy_answer_instead(between, answers);
    assert_status(PAWL_OK, suite_save(store, "own", "t", 0, epoch, pawl_position_at(0), 1, &err), err);
    raw_hbase_assert_stored(store, "own", 0, 1);
    pawl_store_close(store);
    proxy_free(between);
}

/* The write was not applied, is sent again, and then its first copy arrives: it finds another guard. */
static void
a_request_that_arrives_late(void **state)
{
    proxy *between;
    pawl_store *store = open_behind(&between), *other = raw_hbase_open(raw_hbase_gateway());
    int64_t epoch = suite_acquire(store, "late", "t", 0, pawl_position_at(0));
    pawl_error err;

    (void) state;
    proxy_hold_next_request(between);
    assert_status(PAWL_OK, suite_save(store, "late", "t", 0, epoch, pawl_position_at(0), 1, &err), err);
    assert_status(PAWL_OK, suite_save(other, "late", "t", 0, epoch, pawl_position_at(1), 2, &err), err);
    assert_status(PAWL_OK, suite_save(other, "late", "t", 0, epoch, pawl_position_at(2), 0, &err), err);
    proxy_let_go(between);
    for (int i = 0; i < 20; i++)
        raw_hbase_assert_stored(other, "late", 0, 0);
    pawl_store_close(other);
    pawl_store_close(store);
    proxy_free(between);
}

/* ------------------------------------------------------------------------------------------------- who goes away -- */

static void
the_gateway_is_killed(void **state)
{
    pawl_store *store = raw_hbase_open(raw_hbase_gateway());
    int64_t epoch = suite_acquire(store, "gateway", "t", 0, pawl_position_at(0));
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, suite_save(store, "gateway", "t", 0, epoch, pawl_position_at(0), 1, &err), err);
    raw_hbase_kill("gateway");
    service_do(&raw_hbase, "start");
    assert_status(PAWL_OK, suite_save(store, "gateway", "t", 0, epoch, pawl_position_at(1), 2, &err), err);
    raw_hbase_assert_stored(store, "gateway", 0, 2);
    pawl_store_close(store);
}

static void *
start_again(void *user)
{
    service_do(&raw_hbase, "start");
    return user;
}

/* What was acknowledged is there after HBase was killed, and a save that finds it away goes on when it is back. */
static void
hbase_is_killed(void **state)
{
    pawl_store *store = raw_hbase_open(raw_hbase_gateway());
    char *url = make_url(raw_hbase_gateway(), raw_hbase_table, "");
    pawl_save_line *lines = suite_many(store, "killed", 100);
    pawl_store *patient = NULL;
    pthread_t thread;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, try_open(url, 180000, false, &patient, &err), err);
    assert_status(PAWL_OK, pawl_store_save(store, "killed", lines, 100, &err), err);
    raw_hbase_kill("master");
    assert_int_equal(pthread_create(&thread, NULL, start_again, NULL), 0);
    for (size_t i = 0; i < 100; i++) {
        lines[i].expected = pawl_position_at(1);
        lines[i].until = 2;
    }
    assert_status(PAWL_OK, pawl_store_save(patient, "killed", lines, 100, &err), err);
    pthread_join(thread, NULL);
    for (size_t i = 0; i < 100; i++)
        suite_assert_offset(store, "killed", lines[i].partition.topic, lines[i].partition.number, pawl_position_at(2),
                            __FILE__, __LINE__);
    g_free(lines);
    g_free(url);
    pawl_store_close(patient);
    pawl_store_close(store);
}

static void
an_acknowledged_save_survives(void **state)
{
    pawl_store *store = raw_hbase_open(raw_hbase_gateway());
    int64_t epoch = suite_acquire(store, "durable", "t", 0, pawl_position_at(0));
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, suite_save(store, "durable", "t", 0, epoch, pawl_position_at(0), 77, &err), err);
    raw_hbase_kill("master");
    service_do(&raw_hbase, "start");
    raw_hbase_assert_stored(store, "durable", 0, 77);
    pawl_store_close(store);
}

/* ------------------------------------------------------------------------------------------- what answers instead -- */

/* A server that says one thing to whoever connects, or nothing. */
typedef struct impostor {
    int listener;
    const char *answer; /* NULL: hangs up */
    char address[32];
    pthread_t thread;
    int asked;
} impostor;

static void *
serve(void *user)
{
    impostor *server = user;
    char request[4096];
    int client;

    while ((client = accept(server->listener, NULL, NULL)) >= 0) {
        if (recv(client, request, sizeof request, 0) > 0) {
            __atomic_fetch_add(&server->asked, 1, __ATOMIC_RELAXED);
            if (server->answer != NULL)
                send(client, server->answer, strlen(server->answer), MSG_NOSIGNAL);
        }
        close(client);
    }
    return NULL;
}

static void
impostor_init(impostor *server, const char *answer)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;

    *server = (impostor){.listener = socket(AF_INET, SOCK_STREAM, 0), .answer = answer};
    assert_int_equal(bind(server->listener, (struct sockaddr *) &address, size), 0);
    assert_int_equal(listen(server->listener, 8), 0);
    assert_int_equal(getsockname(server->listener, (struct sockaddr *) &address, &size), 0);
    snprintf(server->address, sizeof server->address, "127.0.0.1:%d", (int) ntohs(address.sin_port));
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void
impostor_done(impostor *server)
{
    shutdown(server->listener, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->listener);
}

static void
another_kind_of_server(void **state)
{
    static const struct {
        const char *answer;
        pawl_status status;
        const char *says;
    } cases[] = {
        {NULL, PAWL_UNREACHABLE, "cannot be reached"},
        {"-ERR unknown command\r\n", PAWL_UNREACHABLE, "no gateway of HBase"},
        {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", PAWL_UNREACHABLE, "no REST gateway of HBase"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", PAWL_UNREACHABLE, "no REST gateway of HBase"},
        {"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", PAWL_FAILED, "password"},
        {"HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n", PAWL_UNREACHABLE,
         "no REST gateway of HBase"},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        impostor server;
        char *userinfo, *url;
        pawl_store *store = NULL;
        pawl_error err;

        impostor_init(&server, cases[i].answer);
        userinfo = g_strconcat("me:the-secret@", server.address, NULL);
        url = make_url(userinfo, "t", "?create=yes");
        assert_status(cases[i].status, try_open(url, 5000, false, &store, &err), err);
        assert_says(err, cases[i].says);
        assert_says(err, server.address);
        assert_null(strstr(err.message, "the-secret"));
        assert_null(store);
        impostor_done(&server);
        g_free(url);
        g_free(userinfo);
    }
}

/* The first does not answer, the second hangs up, the third is one. */
static void
the_next_gateway_is_asked(void **state)
{
    impostor server;
    char *gateways;
    pawl_store *store;

    (void) state;
    impostor_init(&server, NULL);
    gateways = g_strdup_printf(NOBODY ",%s,%s", server.address, raw_hbase_gateway());
    store = raw_hbase_open(gateways);
    suite_acquire(store, "next", "t", 0, pawl_position_at(4));
    raw_hbase_assert_stored(store, "next", 0, 4);
    assert_int_equal(__atomic_load_n(&server.asked, __ATOMIC_RELAXED), 1); /* who answers is kept */
    pawl_store_close(store);
    impostor_done(&server);
    g_free(gateways);
}

static void
wrong_urls(void **state)
{
    static const struct {
        const char *url;
        pawl_status status;
        const char *says;
    } cases[] = {
        {"hbase://" NOBODY "/t", PAWL_UNREACHABLE, NOBODY},
        {"hbase://no-such-host.invalid:8080/t", PAWL_UNREACHABLE, "no-such-host.invalid"},
        {"hbase:t", PAWL_INVALID, "hbase://HOST:PORT/TABLE"},
        {"hbase://localhost:1", PAWL_INVALID, "hbase://HOST:PORT/TABLE"},
        {"hbase://localhost:1/a/b", PAWL_INVALID, "hbase://HOST:PORT/TABLE"},
        {"hbase://localhost:1/t?create=perhaps", PAWL_INVALID, "create"},
        {"hbase://localhost:1/t?family=o:x", PAWL_INVALID, "family"},
        {"hbase://localhost:1/t?request_timeout=0", PAWL_INVALID, "request_timeout"},
        {"hbase://me:the-secret@localhost:1/t?tls=no&colour=red", PAWL_INVALID, "colour"},
    };
    pawl_store *store = NULL;
    pawl_error err;

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        assert_status(cases[i].status, try_open(cases[i].url, 5000, false, &store, &err), err);
        assert_says(err, cases[i].says);
        assert_null(strstr(err.message, "the-secret"));
        assert_null(store);
    }
}

static void
tables_and_families(void **state)
{
    char *absent = g_strconcat(raw_hbase_table, "-absent", NULL);
    char *without = make_url(raw_hbase_gateway(), absent, ""),
         *with = make_url(raw_hbase_gateway(), absent, "?create=yes");
    char *family = make_url(raw_hbase_gateway(), raw_hbase_table, "?create=yes&family=other");
    pawl_store *store = NULL;
    pawl_entry entry;
    pawl_error err;

    (void) state;
    assert_status(PAWL_INVALID, try_open(without, 20000, false, &store, &err), err);
    assert_says(err, absent);
    assert_says(err, "create=yes");
    assert_status(PAWL_INVALID, try_open(family, 20000, false, &store, &err), err);
    assert_says(err, "no column family 'other'");

    /* Who only reads makes nothing. */
    assert_status(PAWL_OK, try_open(with, 20000, true, &store, &err), err);
    assert_status(PAWL_OK, pawl_store_load(store, "g", &(pawl_partition){"t", 0}, 1, &entry, NULL, &err), err);
    assert_false(entry.offset.known);
    pawl_store_close(store);
    assert_status(PAWL_INVALID, try_open(without, 20000, false, &store, &err), err);

    for (int i = 0; i < 2; i++) {
        assert_status(PAWL_OK, try_open(with, 60000, false, &store, &err), err);
        pawl_store_close(store);
    }
    g_free(family);
    g_free(with);
    g_free(without);
    g_free(absent);
}

int
hbase_server_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_save_is_one_request),
        cmocka_unit_test(an_answer_that_is_lost),
        cmocka_unit_test(a_refusal_of_one_s_own_write),
        cmocka_unit_test(a_request_that_arrives_late),
        cmocka_unit_test(another_kind_of_server),
        cmocka_unit_test(the_next_gateway_is_asked),
        cmocka_unit_test(wrong_urls),
        cmocka_unit_test(tables_and_families),
        cmocka_unit_test(the_gateway_is_killed),
        cmocka_unit_test(an_acknowledged_save_survives),
        cmocka_unit_test(hbase_is_killed),
    };

    return cmocka_run_group_tests_name("hbase server", tests, NULL, NULL);
}
