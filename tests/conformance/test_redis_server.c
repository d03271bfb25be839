/*
 * test_redis_server.c - what servers answer instead: the redis: store says so, and writes nothing
 */
#include "tests/conformance/suite.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/conformance/redis_raw.h"
#include "util/clock.h"

#define TIMEOUT_MS 5000

/* A server of the test's own, and a handle that owns partition 0 of "t" in group "g", with offset 1. */
typedef struct fixture {
    service *server;
    char *url;
    pawl_store *store;
    int64_t epoch;
} fixture;

static int
set_up(void **state)
{
    fixture *fix = g_new0(fixture, 1);
    pawl_error err;

    fix->server = raw_server(NULL);
    fix->url = raw_url(fix->server, "");
    assert_status(PAWL_OK, raw_try_store(fix->url, TIMEOUT_MS, &fix->store, &err), err);
    fix->epoch = suite_acquire(fix->store, "g", "t", 0, pawl_position_at(1));
    *state = fix;
    return 0;
}

static int
tear_down(void **state)
{
    fixture *fix = *state;

    pawl_store_close(fix->store);
    service_free(fix->server);
    g_free(fix->url);
    g_free(fix);
    return 0;
}

/* Moves the offset of "t" by one. */
static pawl_status
save_next(fixture *fix, int64_t from, pawl_error *err)
{
    return suite_save(fix->store, "g", "t", 0, fix->epoch, pawl_position_at(from), from + 1, err);
}

/* Opening that URL fails like this, in a second or two; what it says holds neither secret. */
static void
assert_no_store(const char *url, pawl_status status, const char *says)
{
    int64_t start_ms = pawl__clock_ms();
    pawl_store *store = NULL;
    pawl_error err;

    assert_status(status, raw_try_store(url, 2000, &store, &err), err);
    assert_says(err, says);
    assert_null(strstr(err.message, "sesame"));
    assert_true(pawl__clock_ms() - start_ms < 6000);
}

static void
assert_no_store_at(const service *server, const char *rest, pawl_status status, const char *says)
{
    char *url = raw_url(server, rest);

    assert_no_store(url, status, says);
    g_free(url);
}

static void
assert_store(const char *url)
{
    pawl_store *store = NULL;
    pawl_error err;

    assert_status(PAWL_OK, raw_try_store(url, 2000, &store, &err), err);
    suite_load(store, "g", "t", 0);
    pawl_store_close(store);
}

/* ----------------------------------------------------------------------------------------------- what it answers -- */

static void
scripts_that_are_gone(void **state)
{
    fixture *fix = *state;
    pawl_error err;

    raw_do(fix->url, "SCRIPT FLUSH");
    assert_status(PAWL_OK, save_next(fix, 1, &err), err);
    raw_do(fix->url, "SCRIPT FLUSH");
    assert_int_equal(suite_load(fix->store, "g", "t", 0).offset.offset, 2);
}

static void
no_memory_left(void **state)
{
    fixture *fix = *state;
    pawl_error err;

    raw_do(fix->url, "CONFIG SET maxmemory 1");
    assert_status(PAWL_FAILED, save_next(fix, 1, &err), err);
    assert_says(err, "maxmemory");
    raw_do(fix->url, "CONFIG SET maxmemory 0");
    assert_int_equal(suite_load(fix->store, "g", "t", 0).offset.offset, 1);
    assert_status(PAWL_OK, save_next(fix, 1, &err), err);
}

/* It is no answer to a password that happens to be the first thing said. */
static void
no_room_for_another_client(void **state)
{
    fixture *fix = *state;

    raw_do(fix->url, "CONFIG SET maxclients 1");
    assert_no_store_at(fix->server, "", PAWL_UNREACHABLE, "maxclients");
    assert_no_store_at(fix->server, "?password=sesame", PAWL_UNREACHABLE, "maxclients");
}

static void
something_else_under_our_key(void **state)
{
    fixture *fix = *state;
    pawl_owner owner = suite_owner("suite");
    pawl_acquire_line line = {.partition = {"t", 0}};
    pawl_entry entry;
    pawl_error err;
    char *kept;

    raw_do(fix->url, "SET pawl:{other} letter");
    assert_status(PAWL_UNREADABLE, pawl_store_load(fix->store, "other", &line.partition, 1, &entry, NULL, &err), err);
    assert_says(err, "key of this group");
    assert_status(PAWL_UNREADABLE, pawl_store_acquire(fix->store, "other", &owner, NULL, &line, 1, &err), err);
    kept = raw_ask(fix->url, "GET pawl:{other}");
    assert_string_equal(kept, "letter");
    g_free(kept);
}

/* A state that pawl did not write is no reason to take the partition for nobody's. Only an owner who knows that nobody has
 * acquired anything since it did does not look. */
static void
a_state_that_is_no_state(void **state)
{
    fixture *fix = *state;
    pawl_partition partition = {"t", 0};
    pawl_entry entry;
    pawl_error err;

    raw_do(fix->url, "HSET pawl:{g}:state t:0 epoch=1");
    assert_status(PAWL_UNREADABLE, pawl_store_load(fix->store, "g", &partition, 1, &entry, NULL, &err), err);
    assert_says(err, "epoch=1");
    raw_do(fix->url, "HDEL pawl:{g}:state owner");
    assert_status(PAWL_UNREADABLE, save_next(fix, 1, &err), err);
}

/* What has been written, and cannot be confirmed, is not known to be kept; why it cannot is said. */
static void
a_user_who_may_not_wait(void **state)
{
    fixture *fix = *state;
    char *url = raw_url(fix->server, "?replicas=1");
    pawl_store *store = NULL;
    pawl_error err;

    raw_do(fix->url, "ACL SETUSER default -wait");
    assert_status(PAWL_OK, raw_try_store(url, 3000, &store, &err), err);
    assert_status(PAWL_OUTCOME_UNKNOWN, suite_save(store, "g", "t", 0, fix->epoch, pawl_position_at(1), 2, &err), err);
    assert_says(err, "does not let this user");
    assert_int_equal(suite_load(store, "g", "t", 0).offset.offset, 2);
    pawl_store_close(store);
    g_free(url);
}

/* More than Lua's stack holds, and more than one packet. */
static void
ten_thousand_partitions(void **state)
{
    fixture *fix = *state;
    pawl_save_line *lines = suite_many(fix->store, "many", 10000);
    pawl_error err;

    assert_status(PAWL_OK, pawl_store_save(fix->store, "many", lines, 10000, &err), err);
    assert_int_equal(suite_load(fix->store, "many", "odd", 4999).offset.offset, 1);
    lines[9999].expected = pawl_position_at(7);
    assert_status(PAWL_CONFLICT, pawl_store_save(fix->store, "many", lines, 10000, &err), err);
    g_free(lines);
}

/* ----------------------------------------------------------------------------------------- what it is set up for -- */

static void
a_server_that_forgets(void **state)
{
    fixture *fix = *state;
    char *any = raw_url(fix->server, "/0?durability=none");

    raw_do(fix->url, "CONFIG SET maxmemory-policy allkeys-lru");
    assert_no_store(fix->url, PAWL_FAILED, "noeviction");
    assert_store(any);
    raw_do(fix->url, "CONFIG SET maxmemory-policy noeviction");
    assert_store(fix->url);
    raw_do(fix->url, "CONFIG SET appendonly no");
    assert_no_store(fix->url, PAWL_FAILED, "durability=none");
    assert_store(any);
    g_free(any);
}

static void
passwords(void **state)
{
    fixture *fix = *state;
    char *port = service_value(fix->server, "REDIS_PORT");
    char *with = g_strdup_printf("redis://:open%%20sesame@127.0.0.1:%s", port);
    char *wrong = g_strdup_printf("redis://:sesame@127.0.0.1:%s", port);
    char *user = g_strdup_printf("redis://ali:open%%20sesame@127.0.0.1:%s", port);
    char *nobody = g_strdup_printf("redis://kasim:open%%20sesame@127.0.0.1:%s", port);

    assert_no_store(with, PAWL_UNREACHABLE, "does not take");
    raw_do(fix->url, "ACL SETUSER ali on >%s ~pawl:{* +@all -@dangerous +info +config|get -client|kill", "open sesame");
    assert_store(user);
    assert_no_store(nobody, PAWL_UNREACHABLE, "user and password");
    raw_do(fix->url, "CONFIG SET requirepass %s", "open sesame");
    assert_no_store(fix->url, PAWL_UNREACHABLE, "wants a password");
    assert_no_store(wrong, PAWL_UNREACHABLE, "user and password");
    assert_store(with);
    g_free(nobody);
    g_free(user);
    g_free(wrong);
    g_free(with);
    g_free(port);
}

static void
databases(void **state)
{
    fixture *fix = *state;
    char *third = raw_url(fix->server, "/3"), *other = raw_url(fix->server, "?db=3");
    pawl_store *store = NULL;
    pawl_error err;

    assert_status(PAWL_OK, raw_try_store(third, 3000, &store, &err), err);
    assert_int_equal(suite_load(store, "g", "t", 0).epoch, 0);
    suite_acquire(store, "g", "t", 0, pawl_position_at(33));
    pawl_store_close(store);
    assert_status(PAWL_OK, raw_try_store(other, 3000, &store, &err), err);
    assert_int_equal(suite_load(store, "g", "t", 0).offset.offset, 33);
    pawl_store_close(store);
    assert_int_equal(suite_load(fix->store, "g", "t", 0).offset.offset, 1);
    assert_no_store_at(fix->server, "/99", PAWL_FAILED, "database 99");
    assert_no_store_at(fix->server, "/one", PAWL_INVALID, "a number");
    assert_no_store_at(fix->server, "/1?db=1", PAWL_INVALID, "twice");
    g_free(other);
    g_free(third);
}

static void
a_socket(void **state)
{
    fixture *fix = *state;
    char *path = service_value(fix->server, "REDIS_SOCKET"), *url = g_strdup_printf("redis:%s", path);
    pawl_store *store = NULL;
    pawl_error err;

    assert_status(PAWL_OK, raw_try_store(url, 2000, &store, &err), err);
    assert_int_equal(suite_load(store, "g", "t", 0).offset.offset, 1);
    pawl_store_close(store);
    assert_no_store("redis:/nowhere/redis.sock", PAWL_UNREACHABLE, "/nowhere/redis.sock");
    g_free(url);
    g_free(path);
}

/* ----------------------------------------------------------------------------------------------- no Redis at all -- */

/* Listens on a port of its own, and answers whoever says something with the same text. */
typedef struct impostor {
    const char *answer; /* NULL: silence */
    int listening;
    int end; /* closing this end makes it end */
    pthread_t thread;
    char url[64];
} impostor;

static void *
pretend(void *user)
{
    impostor *liar = user;
    struct pollfd fds[2] = {{.fd = liar->listening, .events = POLLIN}, {.fd = liar->end, .events = POLLIN}};
    char heard[1024];
    int client = -1;

    while (poll(fds, 2, -1) > 0 && fds[1].revents == 0) {
        if (client < 0) {
            client = fds[0].fd = accept(liar->listening, NULL, NULL);
        } else if (read(client, heard, sizeof heard) <= 0) {
            close(client);
            client = -1;
            fds[0].fd = liar->listening;
        } else if (liar->answer != NULL && write(client, liar->answer, strlen(liar->answer)) < 0)
            break;
    }
    if (client >= 0)
        close(client);
    return NULL;
}

static void
assert_no_redis(const char *answer, pawl_status status, const char *says)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    impostor liar = {.answer = answer, .listening = socket(AF_INET, SOCK_STREAM, 0)};
    int ends[2];

    assert_int_equal(bind(liar.listening, (struct sockaddr *) &address, size), 0);
    assert_int_equal(listen(liar.listening, 5), 0);
    assert_int_equal(getsockname(liar.listening, (struct sockaddr *) &address, &size), 0);
    assert_int_equal(pipe(ends), 0);
    liar.end = ends[0];
    g_snprintf(liar.url, sizeof liar.url, "redis://127.0.0.1:%d", (int) ntohs(address.sin_port));
    assert_int_equal(pthread_create(&liar.thread, NULL, pretend, &liar), 0);
    assert_no_store(liar.url, status, says);
    close(ends[1]);
    pthread_join(liar.thread, NULL);
    close(ends[0]);
    close(liar.listening);
}

static void
servers_of_another_kind(void **state)
{
    (void) state;
    assert_no_redis("HTTP/1.1 400 Bad Request\r\n\r\n", PAWL_UNREACHABLE, "no Redis server");
    assert_no_redis("SSH-2.0-OpenSSH_9.2\r\n", PAWL_UNREACHABLE, "no Redis server");
    assert_no_redis(":1\r\n", PAWL_FAILED, "not Redis as pawl knows it");
    assert_no_redis(NULL, PAWL_TIMEOUT, "did not answer in time");
    assert_no_redis("-LOADING Redis is loading the dataset in memory\r\n", PAWL_UNREACHABLE, "loading");
}

static void
nobody_there(void **state)
{
    (void) state;
    assert_no_store("redis://127.0.0.1:1", PAWL_UNREACHABLE, "127.0.0.1:1");
    assert_no_store("redis://127.0.0.1:1,127.0.0.1:2", PAWL_UNREACHABLE, "cannot be reached");
    assert_no_store("redis://no-such-host.invalid", PAWL_UNREACHABLE, "no-such-host.invalid");
    assert_no_store("redis:", PAWL_INVALID, "write redis://");
    assert_no_store("redis://127.0.0.1?replicas=x", PAWL_INVALID, "replicas");
    assert_no_store("redis://127.0.0.1?on_rollback=maybe", PAWL_INVALID, "on_rollback");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scripts_that_are_gone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_memory_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_room_for_another_client, set_up, tear_down),
        cmocka_unit_test_setup_teardown(something_else_under_our_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_state_that_is_no_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_user_who_may_not_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ten_thousand_partitions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_server_that_forgets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(passwords, set_up, tear_down),
        cmocka_unit_test_setup_teardown(databases, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_socket, set_up, tear_down),
        cmocka_unit_test(servers_of_another_kind),
        cmocka_unit_test(nobody_there),
    };

    return raw_init() ? cmocka_run_group_tests(tests, NULL, NULL) : EXIT_FAILURE;
}
