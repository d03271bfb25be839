/*
 * test_zookeeper_server.c - what can happen to a ZooKeeper server and to a session
 */
#include "tests/conformance/suite.h"
#include "tests/conformance/zookeeper_raw.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/clock.h"

#define TIMEOUT_MS       20000
#define SHORT_TIMEOUT_MS 3000 /* where it is waited for */

static pawl_store *
open_store(const char *path_and_query)
{
    char *url = raw_url(path_and_query);
    pawl_store *store = NULL;
    pawl_error err;

    assert_status(PAWL_OK, raw_try_store(url, TIMEOUT_MS, &store, &err), err);
    g_free(url);
    return store;
}

/* ---------------------------------------------------------------------------------------------------- cannot open -- */

static void
assert_refused(const char *url, pawl_status status, const char *says)
{
    pawl_store *store = NULL;
    pawl_error err;

    assert_status(status, raw_try_store(url, SHORT_TIMEOUT_MS, &store, &err), err);
    assert_says(err, says);
    assert_null(store);
}

static void
bad_urls(void **state)
{
    static const struct {
        const char *url, *says;
    } bad[] = {
        {"zookeeper:", "no host"},
        {"zookeeper:///pawl", "no host"},
        {"zookeeper://h/a//b", "path"},
        {"zookeeper://h/a/../b", "path"},
        {"zookeeper://h?create=perhaps", "create"},
        {"zookeeper://h?acl=closed", "acl"},
        {"zookeeper://h?acl=owner", "user"},
        {"zookeeper://h?session_timeout=0", "session_timeout"},
        {"zookeeper://h?session_timeout=long", "session_timeout"},
        {"zookeeper://h?packet_limit=1", "packet_limit"},
        {"zookeeper://u@h?acl=owner", "password"},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
        assert_refused(bad[i].url, PAWL_INVALID, bad[i].says);
}

static void
nobody_there(void **state)
{
    int64_t start_ms = pawl__clock_ms();

    (void) state;
    assert_refused("zookeeper://127.0.0.1:1", PAWL_UNREACHABLE, "127.0.0.1:1");
    assert_in_range(pawl__clock_ms() - start_ms, 2000, 4500);
    assert_refused("zookeeper://no-such-host.invalid:2181", PAWL_UNREACHABLE, "no-such-host.invalid");
}

/* Answers everybody as a web server does. */
static void *
serve_pages(void *user)
{
    static const char page[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    int listener = *(int *) user, one;

    while ((one = accept(listener, NULL, NULL)) >= 0) {
        if (write(one, page, sizeof page - 1) < 0)
            perror("write");
        close(one);
    }
    return NULL;
}

static void
a_server_of_another_kind(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    pthread_t thread;
    char *url;

    (void) state;
    assert_int_equal(bind(listener, (struct sockaddr *) &address, size), 0);
    assert_int_equal(listen(listener, 16), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *) &address, &size), 0);
    assert_int_equal(pthread_create(&thread, NULL, serve_pages, &listener), 0);
    url = g_strdup_printf("zookeeper://127.0.0.1:%d", ntohs(address.sin_port));
    assert_refused(url, PAWL_UNREACHABLE, "no ZooKeeper server answers");
    shutdown(listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(listener);
    g_free(url);
}

static void
one_of_several_hosts(void **state)
{
    char *url = g_strdup_printf("zookeeper://127.0.0.1:1,%s/several", raw_hosts);
    pawl_store_options options = {.size = sizeof options, .timeout_ms = 20000};
    pawl_store *store;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, pawl_store_open(url, &options, &store, &err), err);
    suite_acquire(store, "g", "t", 0, pawl_position_at(1));
    pawl_store_close(store);
    g_free(url);
}

static void
a_missing_chroot(void **state)
{
    char *url = raw_url("/not/there?create=no"), *made;
    pawl_store_options options = {.size = sizeof options, .timeout_ms = SHORT_TIMEOUT_MS, .read_only = true};
    pawl_store *store;
    pawl_error err;

    (void) state;
    assert_refused(url, PAWL_INVALID, "create=no");
    g_free(url);

    url = raw_url("/not/there");
    assert_status(PAWL_OK, pawl_store_open(url, &options, &store, &err), err);
    assert_false(suite_load(store, "g", "t", 0).offset.known);
    pawl_store_close(store);
    assert_null(raw_get("/not"));
    g_free(url);

    pawl_store_close(open_store("/not/there/"));
    made = raw_get("/not/there");
    assert_non_null(made);
    g_free(made);
    pawl_store_close(open_store("/not/there?create=no"));
}

/* --------------------------------------------------------------------------------------------------------- access -- */

/* Every call is refused, and the message tells where, for whom, and no password. */
static void
assert_locked_out(const char *credentials, const char *who)
{
    char *url = g_strdup_printf("zookeeper://%s%s/locked", credentials, raw_hosts);
    pawl_owner owner = suite_owner("intruder");
    pawl_acquire_line line = {.partition = {"t", 0}};
    pawl_store *store = NULL;
    pawl_entry entry;
    pawl_error err;

    assert_status(PAWL_OK, raw_try_store(url, TIMEOUT_MS, &store, &err), err);
    assert_status(PAWL_FAILED, pawl_store_load(store, "g", &line.partition, 1, &entry, NULL, &err), err);
    assert_says(err, "/locked/consumers/g");
    assert_says(err, who);
    assert_null(strstr(err.message, "secret"));
    assert_status(PAWL_FAILED, pawl_store_acquire(store, "g", &owner, NULL, &line, 1, &err), err);
    assert_null(strstr(err.message, "secret"));
    pawl_store_close(store);
    g_free(url);
}

static void
nodes_of_one_user(void **state)
{
    char *url = g_strdup_printf("zookeeper://etl:secret@%s/locked?acl=owner", raw_hosts);
    pawl_store *store = NULL;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, raw_try_store(url, TIMEOUT_MS, &store, &err), err);
    suite_acquire(store, "g", "t", 0, pawl_position_at(7));
    assert_true(pawl_position_equal(suite_load(store, "g", "t", 0).offset, pawl_position_at(7)));
    assert_locked_out("", "without a user");
    assert_locked_out("etl:wrong-secret@", "user etl");
    assert_true(pawl_position_equal(suite_load(store, "g", "t", 0).offset, pawl_position_at(7)));
    pawl_store_close(store);
    g_free(url);
}

static void
nodes_that_others_may_read(void **state)
{
    char *url = g_strdup_printf("zookeeper://etl:secret@%s/readable?acl=read", raw_hosts);
    pawl_owner owner = suite_owner("intruder");
    pawl_acquire_line line = {.partition = {"t", 0}};
    pawl_store *store = NULL, *other;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, raw_try_store(url, TIMEOUT_MS, &store, &err), err);
    line.epoch_seen = suite_acquire(store, "g", "t", 0, pawl_position_at(7));
    other = open_store("/readable");
    assert_true(pawl_position_equal(suite_load(other, "g", "t", 0).offset, pawl_position_at(7)));
    assert_status(PAWL_FAILED, pawl_store_acquire(other, "g", &owner, NULL, &line, 1, &err), err);
    assert_says(err, "ACL");
    assert_int_equal(suite_load(store, "g", "t", 0).epoch, line.epoch_seen);
    pawl_store_close(other);
    pawl_store_close(store);
    g_free(url);
}

/* ----------------------------------------------------------------------------------------------- servers, sessions -- */

static void
a_session_that_expires(void **state)
{
    pawl_store *store = open_store("/expiry?session_timeout=1s");
    int64_t epoch = suite_acquire(store, "g", "t", 0, pawl_position_at(1));
    pawl_error err;

    (void) state;
    for (int64_t offset = 1; offset < 4; offset++) {
        raw_expire(store);
        assert_status(PAWL_OK, suite_save(store, "g", "t", 0, epoch, pawl_position_at(offset), offset + 1, &err), err);
        raw_expire(store);
        assert_true(pawl_position_equal(suite_load(store, "g", "t", 0).offset, pawl_position_at(offset + 1)));
    }
    pawl_store_close(store);
}

/* Killed right after a save was acknowledged: it is there, and the handle from before goes on. */
static void
a_server_that_is_killed(void **state)
{
    pawl_store *store = open_store("/killed?session_timeout=2s"), *second;
    int64_t epoch = suite_acquire(store, "g", "t", 0, pawl_position_at(0));
    pawl_error err;

    (void) state;
    for (int64_t offset = 0; offset < 3; offset++) {
        assert_status(PAWL_OK, suite_save(store, "g", "t", 0, epoch, pawl_position_at(offset), offset + 1, &err), err);
        service_do(raw_server, "kill");
        service_do(raw_server, "start");
        second = open_store("/killed?session_timeout=2s");
        assert_true(pawl_position_equal(suite_load(second, "g", "t", 0).offset, pawl_position_at(offset + 1)));
        pawl_store_close(second);
    }
    assert_status(PAWL_OK, suite_save(store, "g", "t", 0, epoch, pawl_position_at(3), 4, &err), err);
    pawl_store_close(store);
}

static void
a_server_that_is_away(void **state)
{
    char *url = raw_url("/away?session_timeout=2s");
    pawl_partition partition = {"t", 0};
    pawl_store *store, *hasty;
    int64_t epoch, start_ms;
    pawl_status status;
    pawl_entry entry;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, raw_try_store(url, TIMEOUT_MS, &store, &err), err);
    assert_status(PAWL_OK, raw_try_store(url, SHORT_TIMEOUT_MS, &hasty, &err), err);
    epoch = suite_acquire(store, "g", "t", 0, pawl_position_at(0));
    service_do(raw_server, "kill");
    start_ms = pawl__clock_ms();
    status = suite_save(hasty, "g", "t", 0, epoch, pawl_position_at(0), 1, &err);
    assert_true(status == PAWL_UNREACHABLE || status == PAWL_OUTCOME_UNKNOWN);
    assert_says(err, raw_hosts);
    assert_status(PAWL_UNREACHABLE, pawl_store_load(hasty, "g", &partition, 1, &entry, NULL, &err), err);
    assert_in_range(pawl__clock_ms() - start_ms, SHORT_TIMEOUT_MS, 2 * SHORT_TIMEOUT_MS + 2000);
    service_do(raw_server, "start");

    assert_status(PAWL_OK, suite_save(store, "g", "t", 0, epoch, pawl_position_at(0), 1, &err), err);
    assert_true(pawl_position_equal(suite_load(store, "g", "t", 0).offset, pawl_position_at(1)));
    pawl_store_close(hasty);
    pawl_store_close(store);
    g_free(url);
}

/* ---------------------------------------------------------------------------------------------------------- size -- */

static pawl_status
acquire_many(pawl_store *store, const char *topic, size_t count, pawl_acquire_line **ret_lines, pawl_error *err)
{
    pawl_acquire_line *lines = g_new0(pawl_acquire_line, count);
    pawl_owner owner = suite_owner("many");
    pawl_status status;

    for (size_t i = 0; i < count; i++)
        lines[i] = (pawl_acquire_line){.partition = {topic, (int32_t) i}, .initial = pawl_position_at(0)};
    status = pawl_store_acquire(store, "g", &owner, NULL, lines, count, err);
    *ret_lines = lines;
    return status;
}

static void
too_many_are_refused_at_the_start(void **state)
{
    pawl_store *store = open_store("/small?packet_limit=8KiB");
    pawl_acquire_line *lines;
    pawl_error err;

    (void) state;
    assert_status(PAWL_UNSUPPORTED, acquire_many(store, "t", 60, &lines, &err), err);
    assert_says(err, "packet_limit");
    g_free(lines);
    assert_int_equal(raw_children("/small/consumers/g/pawl/owners"), 0);
    assert_status(PAWL_OK, acquire_many(store, "t", 20, &lines, &err), err);
    g_free(lines);
    pawl_store_close(store);
}

/* Who was let in can save, also with the greatest numbers: the server takes what the size was computed to be. */
static void
as_many_as_there_can_be(void **state)
{
    pawl_store_options options = {.size = sizeof options, .timeout_ms = 60000};
    char *url = raw_url("/many"), print[PAWL_PRINT_SIZE];
    size_t count = 6000;
    pawl_acquire_line *lines;
    pawl_save_line *saves = g_new0(pawl_save_line, count);
    pawl_store *store;
    pawl_error err;

    (void) state;
    memset(print, 'f', sizeof print - 1);
    print[sizeof print - 1] = '\0';
    assert_status(PAWL_OK, pawl_store_open(url, &options, &store, &err), err);
    while (acquire_many(store, "flights", count, &lines, &err) == PAWL_UNSUPPORTED) {
        g_free(lines);
        count -= 10;
    }
    print_message("# %zu partitions\n", count);
    assert_in_range(count, 5000, 5990);
    for (size_t i = 0; i < count; i++)
        saves[i] = (pawl_save_line){.partition = lines[i].partition,
                                    .epoch = lines[i].ret_epoch,
                                    .expected = pawl_position_at(0),
                                    .until = INT64_MAX,
                                    .batch = INT64_MAX,
                                    .print = print};
    assert_status(PAWL_OK, pawl_store_save(store, "g", saves, count, &err), err);
    assert_int_equal(suite_load(store, "g", "flights", (int32_t) count - 1).offset.offset, INT64_MAX);
    pawl_store_close(store);
    g_free(saves);
    g_free(lines);
    g_free(url);
}

/* ------------------------------------------------------------------------------------------------- other clients -- */

static bool
take_name(void *user, const char *group, const pawl_partition *partition)
{
    g_string_append_printf(user, "%s:%s/%d ", group, partition->topic, (int) partition->number);
    return true;
}

static void
offsets_of_kafka_s_old_consumers(void **state)
{
    pawl_store *store = open_store("/old");
    GString *names = g_string_new(NULL);
    pawl_entry entry;
    pawl_error err;
    int64_t epoch;
    char *text;

    (void) state;
    raw_set("/old/consumers/old-group/ids/consumer_1", "{}");
    raw_set("/old/consumers/old-group/offsets/t/3", "123");
    raw_set("/old/consumers/old-group/offsets/t/not-a-number", "1");
    entry = suite_load(store, "old-group", "t", 3);
    assert_true(pawl_position_equal(entry.offset, pawl_position_at(123)));
    assert_int_equal(entry.epoch, 0);
    assert_string_equal(entry.owner.host, "");
    assert_status(PAWL_OK, pawl_store_list(store, "old-group", take_name, names, &err), err);
    assert_string_equal(names->str, "old-group:t/3 ");
    g_string_free(names, TRUE);

    epoch = suite_acquire(store, "old-group", "t", 3, pawl_position_at(9));
    assert_status(PAWL_OK, suite_save(store, "old-group", "t", 3, epoch, pawl_position_at(123), 200, &err), err);
    text = raw_get("/old/consumers/old-group/offsets/t/3");
    assert_string_equal(text, "200");
    g_free(text);
    pawl_store_close(store);
}

static void
moved_by_another_client(void **state)
{
    static const char path[] = "/moved/consumers/g/offsets/t/0";
    pawl_store *store = open_store("/moved");
    int64_t epoch = suite_acquire(store, "g", "t", 0, pawl_position_at(10));
    pawl_error err;

    (void) state;
    raw_set(path, "50");
    assert_status(PAWL_CONFLICT, suite_save(store, "g", "t", 0, epoch, pawl_position_at(10), 11, &err), err);
    assert_says(err, "50");
    assert_says(err, path);
    raw_set(path, "10"); /* as it was, but for its version */
    assert_status(PAWL_OK, suite_save(store, "g", "t", 0, epoch, pawl_position_at(10), 11, &err), err);
    raw_delete(path);
    assert_status(PAWL_CONFLICT, suite_save(store, "g", "t", 0, epoch, pawl_position_at(11), 12, &err), err);

    /* Also the node above can go: it comes back. */
    raw_delete("/moved/consumers/g/offsets/t");
    assert_status(PAWL_OK, suite_save(store, "g", "t", 0, epoch, pawl_position_absent(), 12, &err), err);
    assert_true(pawl_position_equal(suite_load(store, "g", "t", 0).offset, pawl_position_at(12)));
    pawl_store_close(store);
}

/* ---------------------------------------------------------------------------------------------------------- owners -- */

static void
some_partitions_are_taken_over(void **state)
{
    pawl_store *first = open_store("/some"), *second = open_store("/some");
    pawl_save_line *lines = suite_many(first, "g", 4);
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, pawl_store_save(first, "g", lines, 4, &err), err);
    for (int i = 0; i < 4; i++)
        lines[i].expected = pawl_position_at(1), lines[i].until = 2;
    suite_acquire(second, "g", lines[3].partition.topic, lines[3].partition.number, pawl_position_absent());
    assert_status(PAWL_FENCED, pawl_store_save(first, "g", lines, 4, &err), err);
    for (int i = 0; i < 4; i++)
        assert_int_equal(suite_load(second, "g", lines[i].partition.topic, lines[i].partition.number).offset.offset, 1);
    assert_status(PAWL_OK, pawl_store_save(first, "g", lines, 3, &err), err);
    assert_int_equal(suite_load(second, "g", lines[0].partition.topic, lines[0].partition.number).offset.offset, 2);
    pawl_store_close(second);
    pawl_store_close(first);
    g_free(lines);
}

/* What cannot be read, or is gone, is left as it is. */
static void
nothing_is_made_in_vain(void **state)
{
    pawl_store *store = open_store("/vain");
    int64_t epoch = suite_acquire(store, "g", "t", 0, pawl_position_at(0));
    pawl_acquire_line line = {.partition = {"other", 0}};
    pawl_owner owner = suite_owner("vain");
    pawl_error err;

    (void) state;
    raw_set("/vain/consumers/g/pawl", "layout 2\n");
    assert_status(PAWL_UNSUPPORTED, pawl_store_acquire(store, "g", &owner, NULL, &line, 1, &err), err);
    assert_int_equal(raw_children("/vain/consumers/g/offsets"), 1);
    raw_set("/vain/consumers/g/pawl", "layout 1\n");

    assert_status(PAWL_OK, suite_save(store, "g", "t", 0, epoch, pawl_position_at(0), 1, &err), err);
    raw_delete_tree("/vain/consumers/g");
    assert_status(PAWL_CONFLICT, suite_save(store, "g", "t", 0, epoch, pawl_position_at(1), 2, &err), err);
    assert_int_equal(raw_children("/vain/consumers"), 0);
    line.epoch_seen = epoch;
    assert_status(PAWL_STALE, pawl_store_acquire(store, "g", &owner, NULL, &line, 1, &err), err);
    assert_int_equal(raw_children("/vain/consumers"), 0);
    pawl_store_close(store);
}

static void
a_cluster_that_is_too_long(void **state)
{
    pawl_store *store = open_store("/long");
    char *id = g_strnfill(PAWL_CLUSTER_SIZE, 'c'), *text = g_strdup_printf("layout 1\ncluster %s\n", id), *stored;
    pawl_acquire_line line = {.partition = {"t", 0}};
    pawl_owner owner = suite_owner("long");
    pawl_entry entry;
    pawl_error err;

    (void) state;
    line.epoch_seen = suite_acquire(store, "g", "t", 0, pawl_position_at(0));
    raw_set("/long/consumers/g/pawl", text);
    assert_status(PAWL_UNREADABLE, pawl_store_load(store, "g", &line.partition, 1, &entry, NULL, &err), err);
    assert_says(err, "/long/consumers/g/pawl");
    assert_status(PAWL_UNREADABLE, pawl_store_acquire(store, "g", &owner, "new", &line, 1, &err), err);
    assert_string_equal(text, stored = raw_get("/long/consumers/g/pawl"));
    g_free(stored);
    g_free(text);
    g_free(id);
    pawl_store_close(store);
}

/* However often a job starts again, it leaves one owner behind. */
static void
owners_without_partitions_are_gone(void **state)
{
    pawl_store *store = open_store("/owners");

    (void) state;
    for (int i = 0; i < 5; i++)
        suite_acquire(store, "g", "t", 0, pawl_position_at(0));
    assert_int_equal(raw_children("/owners/consumers/g/pawl/owners"), 1);
    pawl_store_close(store);
}

static void
a_node_of_ours_that_was_spoilt(void **state)
{
    pawl_store *store = open_store("/spoilt");
    pawl_partition partition = {"t", 0};
    pawl_entry entry;
    pawl_error err;

    (void) state;
    suite_acquire(store, "g", "t", 0, pawl_position_at(0));
    raw_set("/spoilt/consumers/g/pawl/owners/somebody", "else\n");
    assert_status(PAWL_UNREADABLE, pawl_store_load(store, "g", &partition, 1, &entry, NULL, &err), err);
    assert_says(err, "/spoilt/consumers/g/pawl/owners/somebody");
    raw_delete("/spoilt/consumers/g/pawl/owners/somebody");
    raw_set("/spoilt/consumers/g/pawl", "");
    assert_status(PAWL_UNREADABLE, pawl_store_load(store, "g", &partition, 1, &entry, NULL, &err), err);
    assert_says(err, "/spoilt/consumers/g/pawl");
    pawl_store_close(store);
}

/* ------------------------------------------------------------------------------------------------------------ log -- */

static void
count_lines(void *user, const pawl_log_line *line)
{
    if (line->level == PAWL_LOG_DEBUG && strcmp(line->scope, "zookeeper") == 0)
        __atomic_fetch_add((int *) user, 1, __ATOMIC_RELAXED);
}

static void
the_client_s_log(void **state)
{
    int lines = 0, kept = dup(STDERR_FILENO);
    pawl_log log = {.fn = count_lines, .user = &lines, .level = PAWL_LOG_DEBUG};
    pawl_store_options options = {.size = sizeof options, .timeout_ms = SHORT_TIMEOUT_MS, .log = &log};
    FILE *stderr_text = tmpfile();
    char *url = raw_url("/log");
    pawl_store *store;
    pawl_error err;

    (void) state;
    dup2(fileno(stderr_text), STDERR_FILENO);
    assert_status(PAWL_OK, pawl_store_open(url, &options, &store, &err), err);
    pawl_store_close(store);
    pawl_store_open("zookeeper://127.0.0.1:1", &options, &store, &err);
    dup2(kept, STDERR_FILENO);
    assert_int_equal(ftell(stderr_text), 0);
    assert_true(lines > 0);
    fclose(stderr_text);
    close(kept);
    g_free(url);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_urls),
        cmocka_unit_test(nobody_there),
        cmocka_unit_test(a_server_of_another_kind),
        cmocka_unit_test(one_of_several_hosts),
        cmocka_unit_test(a_missing_chroot),
        cmocka_unit_test(nodes_of_one_user),
        cmocka_unit_test(nodes_that_others_may_read),
        cmocka_unit_test(a_session_that_expires),
        cmocka_unit_test(a_server_that_is_killed),
        cmocka_unit_test(a_server_that_is_away),
        cmocka_unit_test(too_many_are_refused_at_the_start),
        cmocka_unit_test(as_many_as_there_can_be),
        cmocka_unit_test(offsets_of_kafka_s_old_consumers),
        cmocka_unit_test(moved_by_another_client),
        cmocka_unit_test(some_partitions_are_taken_over),
        cmocka_unit_test(nothing_is_made_in_vain),
        cmocka_unit_test(a_cluster_that_is_too_long),
        cmocka_unit_test(owners_without_partitions_are_gone),
        cmocka_unit_test(a_node_of_ours_that_was_spoilt),
        cmocka_unit_test(the_client_s_log),
    };
    int failed;

    if (!raw_init(NULL))
        return EXIT_FAILURE;
    failed = cmocka_run_group_tests_name("zookeeper server", tests, NULL, NULL);
    raw_done();
    return failed;
}
