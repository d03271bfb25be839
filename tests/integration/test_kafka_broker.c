/*
 * test_kafka_broker.c - brokers that cannot be reached, die, freeze, or give what cannot be read
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib.h>

#include "tests/support/kafka_fixture.h"
#include "tests/support/recorder.h"

#define PARTITIONS 4
#define RECORDS    3000 /* in each, of 10,000 bytes: more than a small fetch.memory */

static kafka_fixture_broker *broker;
static char *topic;

/* -------------------------------------------------------------------------------------------------------- topics -- */

static void
fill_large(const char *name, int32_t partition, int records)
{
    rd_kafka_t *producer = kafka_fixture_producer(NULL);
    char value[10000];

    memset(value, 'x', sizeof value);
    for (int i = 0; i < records; i++) {
        g_snprintf(value, sizeof value, "value %d", i);
        kafka_fixture_send(producer, name, partition, NULL, 0, value, sizeof value, NULL, 0);
    }
    kafka_fixture_flush(producer);
    rd_kafka_destroy(producer);
}

static int
make_broker(void **state)
{
    static const char *const properties[] = {"log.flush.interval.messages=1000", NULL};

    (void) state;
    broker = kafka_fixture_broker_new(properties);
    kafka_fixture_use(broker->address);
    topic = kafka_fixture_make("large", PARTITIONS, NULL);
    for (int p = 0; p < PARTITIONS; p++)
        fill_large(topic, p, RECORDS);
    return 0;
}

static int
free_broker(void **state)
{
    (void) state;
    kafka_fixture_done();
    kafka_fixture_broker_free(broker);
    g_free(topic);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------- unreachable -- */

/* A port at which nobody listens: bound, so that nobody else takes it. */
static int
take_port(char address[32])
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof name;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *) &name, sizeof name), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *) &name, &size), 0);
    g_snprintf(address, 32, "127.0.0.1:%d", ntohs(name.sin_port));
    return fd;
}

static void
expect_unreachable(const char *address, const char *protocol, const char *says)
{
    job_recorder *recorder = recorder_new();

    assert_run(recorder, PAWL_UNREACHABLE, "topics", "t", "kafka.bootstrap.servers", address, "kafka.security.protocol",
               protocol, "source_timeout", "1500ms", NULL);
    assert_says(recorder, says);
    assert_true(recorder->seconds >= 1 && recorder->seconds < 4);
    assert_true(recorder_count_log(recorder, "warn") < 10);
    recorder_free(recorder);
}

static void
nobody_listens(void **state)
{
    char address[32];
    int fd = take_port(address);

    (void) state;
    expect_unreachable(address, "PLAINTEXT", "refused");
    close(fd);
}

/* Connections are taken, and nothing is answered. */
static void
nobody_answers(void **state)
{
    char address[32];
    int fd = take_port(address);

    (void) state;
    assert_int_equal(listen(fd, 10), 0);
    expect_unreachable(address, "PLAINTEXT", "cluster");
    close(fd);
}

static void
an_unknown_host(void **state)
{
    (void) state;
    expect_unreachable("no-such-host.invalid:9092", "PLAINTEXT", "no-such-host.invalid");
}

static void
another_protocol(void **state)
{
    (void) state;
    expect_unreachable(kafka_fixture_brokers(), "SSL", "SSL");
}

/* ------------------------------------------------------------------------------------------- killed, and brought back -- */

/* Does something to the broker, once, when so many records have come. */
struct attack {
    int64_t after;
    void (*attack)(void);
    atomic_int_fast64_t seen;
};

static pawl_verdict
attack(job_recorder *recorder, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    struct attack *plan = recorder->user;
    int64_t before = atomic_fetch_add(&plan->seen, (int64_t) count);

    (void) range, (void) records, (void) err;
    if (before < plan->after && before + (int64_t) count >= plan->after)
        plan->attack();
    return PAWL_DONE;
}

static void
kill_and_start(void)
{
    kafka_fixture_broker_do(broker, "kill");
    kafka_fixture_broker_do(broker, "start");
}

static void
kill_broker(void)
{
    kafka_fixture_broker_do(broker, "kill");
}

static void
freeze(void)
{
    kill(broker->pid, SIGSTOP);
}

static void
thaw(void)
{
    kill(broker->pid, SIGCONT);
}

static void
killed_and_started(const char *parallelism, const char *max_offsets, int64_t after)
{
    struct attack plan = {.after = after, .attack = kill_and_start};
    job_recorder *recorder = recorder_new();

    recorder->before = attack;
    recorder->user = &plan;
    assert_run(recorder, PAWL_OK, "topics", topic, "fetch.memory", "1MiB", "parallelism", parallelism,
               "max_offsets_per_batch", max_offsets, NULL);
    for (int p = 0; p < PARTITIONS; p++)
        recorder_check(recorder, topic, p, 0, RECORDS, true);
    assert_true(recorder_count_log(recorder, "warn") < 30);
    recorder_free(recorder);
}

static void
killed_in_the_middle(void **state)
{
    (void) state;
    killed_and_started("1", "0", 5000);
    killed_and_started("3", "700", 3000);
}

/* It stays away: the range that waits for it is named. */
static void
killed_for_good(void **state)
{
    struct attack plan = {.after = 2000, .attack = kill_broker};
    job_recorder *recorder = recorder_new();

    (void) state;
    recorder->before = attack;
    recorder->user = &plan;
    assert_run(recorder, PAWL_STALLED, "topics", topic, "fetch.memory", "1MiB", "stall_timeout", "2s", "max_retries",
               "0", NULL);
    assert_says(recorder, topic);
    assert_says(recorder, "at offset ");
    assert_says(recorder, "stall_timeout");
    assert_true(recorder->seconds < 10);
    assert_int_equal(recorder_saved(recorder, topic, 0), 0);
    assert_true(recorder_count_log(recorder, "warn") + recorder_count_log(recorder, "error") < 20);
    recorder_free(recorder);
    kafka_fixture_broker_do(broker, "start");
}

/* --------------------------------------------------------------------------------------------------------- frozen -- */

static job_recorder *
start_and_freeze(struct attack *plan, const char *stall_timeout)
{
    job_recorder *recorder = recorder_new();

    *plan = (struct attack){.after = 2000, .attack = freeze};
    recorder->before = attack;
    recorder->user = plan;
    recorder_start(recorder, "topics", topic, "fetch.memory", "1MiB", "stall_timeout", stall_timeout, NULL);
    return recorder;
}

static void
thaw_and_expect_all(job_recorder *recorder)
{
    thaw();
    recorder_join(recorder);
    recorder_expect(recorder, PAWL_OK, __FILE__, __LINE__);
    for (int p = 0; p < PARTITIONS; p++)
        recorder_check(recorder, topic, p, 0, RECORDS, true);
    recorder_free(recorder);
}

static void
frozen(void **state)
{
    struct attack plan;
    job_recorder *recorder = start_and_freeze(&plan, "1500ms");

    (void) state;
    recorder_join(recorder);
    thaw();
    recorder_expect(recorder, PAWL_STALLED, __FILE__, __LINE__);
    assert_says(recorder, topic);
    assert_says(recorder, "at offset ");
    assert_int_equal(recorder_saved(recorder, topic, 0), 0);
    recorder_free(recorder);
}

/* Frozen for less than stall_timeout: it goes on. */
static void
thawed(void **state)
{
    struct attack plan;
    job_recorder *recorder = start_and_freeze(&plan, "30s");

    (void) state;
    recorder_await_processed(recorder, 2000);
    kafka_fixture_broker_await_unread(broker, 1);
    thaw_and_expect_all(recorder);
}

/* Frozen for so long that a range has started over meanwhile: it goes on, and gets no record twice. */
static void
thawed_late(void **state)
{
    struct attack plan;
    job_recorder *recorder = start_and_freeze(&plan, "10s");

    (void) state;
    recorder_await_log(recorder, "starting over");
    thaw_and_expect_all(recorder);
}

/* Told twice to stop, the job is gone within a second, whatever it waits for. */
static void
stop_twice(job_recorder *recorder)
{
    gint64 asked = g_get_monotonic_time();

    pawl_job_stop(recorder->job);
    pawl_job_stop(recorder->job);
    recorder_join(recorder);
    thaw();
    recorder_expect(recorder, PAWL_CANCELLED, __FILE__, __LINE__);
    assert_true(g_get_monotonic_time() - asked < G_USEC_PER_SEC);
}

static void
stopped_twice_while_frozen(void **state)
{
    struct attack plan = {.after = 2000, .attack = freeze};
    job_recorder *recorder = recorder_new();

    (void) state;
    /* in the middle of a batch */
    recorder->before = attack;
    recorder->user = &plan;
    recorder_start(recorder, "topics", topic, "fetch.memory", "1MiB", "parallelism", "2", NULL);
    recorder_await_processed(recorder, 2000);
    stop_twice(recorder);
    assert_int_equal(recorder_saved(recorder, topic, 0), 0);
    recorder_free(recorder);

    /* between batches, when it asks for the ends */
    recorder = recorder_new();
    recorder_start(recorder, "topics", topic, "trigger", "continuous", NULL);
    recorder_await_flushed(recorder, PARTITIONS * RECORDS);
    freeze();
    kafka_fixture_broker_await_unread(broker, 1); /* the question; a fetch may have been read before */
    stop_twice(recorder);
    recorder_free(recorder);

    /* as a member of a group, to which the coordinator does not say goodbye */
    recorder = recorder_new();
    recorder_start(recorder, "topics", topic, "trigger", "continuous", "members", "group", NULL);
    recorder_await_flushed(recorder, PARTITIONS * RECORDS);
    freeze();
    kafka_fixture_broker_await_unread(broker, 1);
    stop_twice(recorder);
    recorder_free(recorder);

    /* at the start, when it asks for everything */
    freeze();
    recorder = recorder_new();
    recorder_start(recorder, "topics", topic, NULL);
    kafka_fixture_broker_await_unread(broker, 1);
    stop_twice(recorder);
    recorder_free(recorder);
}

/* --------------------------------------------------------------------------------------------------------- corrupt -- */

/* Turns a byte around behind the last occurrence of `words` in the segment of a partition. */
static void
damage(const char *name, const char *words)
{
    char *path = g_strdup_printf("%s/data/%s-0/00000000000000000000.log", broker->folder, name), *bytes, *at = NULL;
    gsize size;

    assert_true(g_file_get_contents(path, &bytes, &size, NULL));
    for (char *next = bytes; next + strlen(words) + 1 < bytes + size; next++)
        if (memcmp(next, words, strlen(words)) == 0)
            at = next;
    assert_non_null(at);
    at[strlen(words) + 1] ^= 0x55;
    FILE *file = fopen(path, "r+b"); /* in place, as a disk would */
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    g_free(bytes);
    g_free(path);
}

static void
a_corrupt_batch(void **state)
{
    char *name = kafka_fixture_make("corrupt", 1, NULL);
    job_recorder *recorder = recorder_new();

    (void) state;
    for (int batch = 0; batch < 5; batch++)
        fill_large(name, 0, 10);
    kafka_fixture_broker_do(broker, "stop");
    damage(name, "value 7"); /* in the last batch, that of offsets 40 to 49 */
    kafka_fixture_broker_do(broker, "start");

    assert_run(recorder, PAWL_FAILED, "topics", name, "max_offsets_per_batch", "20", NULL);
    assert_says(recorder, name);
    assert_says(recorder, "[0] at offset 40");
    assert_says(recorder, "CRC");
    recorder_check(recorder, name, 0, 0, 40, true);
    assert_int_equal(recorder->stats.retries, 3);
    assert_true(recorder_count_log(recorder, "warn") + recorder_count_log(recorder, "error") < 10);

    /* Once more, from inside of it. */
    recorder_free(recorder);
    recorder = recorder_new();
    recorder_store(recorder, name, 0, 45);
    assert_run(recorder, PAWL_FAILED, "topics", name, NULL);
    assert_says(recorder, "[0] at offset 45");
    assert_int_equal(recorder_saved(recorder, name, 0), 45);

    /* Whoever does not look gets it all. */
    assert_run(recorder, PAWL_OK, "topics", name, "kafka.check.crcs", "false", NULL);
    assert_int_equal(recorder_saved(recorder, name, 0), 50);
    assert_int_equal(recorder_count_records(recorder, name, 0), 5);
    recorder_free(recorder);
    g_free(name);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(nobody_answers),
        cmocka_unit_test(an_unknown_host),
        cmocka_unit_test(another_protocol),
        cmocka_unit_test(killed_in_the_middle),
        cmocka_unit_test(killed_for_good),
        cmocka_unit_test(frozen),
        cmocka_unit_test(thawed),
        cmocka_unit_test(thawed_late),
        cmocka_unit_test(stopped_twice_while_frozen),
        cmocka_unit_test(a_corrupt_batch),
    };

    if (kafka_fixture_brokers() == NULL)
        return 77;
    return cmocka_run_group_tests_name("kafka broker", tests, make_broker, free_broker);
}
