/*
 * test_kafka_memory.c - memory and speed at the bounds that fetch.memory sets
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "tests/support/kafka_fixture.h"
#include "tests/support/measure.h"
#include "tests/support/recorder.h"

#define MIB (INT64_C(1024) * 1024)

/* A topic whose every partition has `records` values of `size` bytes. */
static char *
make_topic(const char *what, int partitions, int records, size_t size, const char *compression)
{
    const char *const properties[] = {"compression.codec", compression, "batch.size", "1000000",
                                      "linger.ms",         "20",        NULL};
    char *topic = kafka_fixture_make(what, partitions, NULL), *value = g_malloc0(size);
    rd_kafka_t *producer = kafka_fixture_producer(properties);

    for (int p = 0; p < partitions; p++)
        for (int i = 0; i < records; i++)
            kafka_fixture_send(producer, topic, p, NULL, 0, value, size, NULL, 0);
    kafka_fixture_flush(producer);
    rd_kafka_destroy(producer);
    g_free(value);
    return topic;
}

/* Counts, and takes the time that it is told to. */
struct counting {
    atomic_int_fast64_t records;
    int64_t ns_per_record;
    atomic_int_fast64_t us_spent; /* by this function */
    atomic_int_fast64_t calls;
};

static pawl_verdict
count_records(job_recorder *recorder, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    struct counting *counting = recorder->user;
    gint64 started = g_get_monotonic_time();

    (void) range, (void) records, (void) err;
    atomic_fetch_add(&counting->calls, 1);
    atomic_fetch_add(&counting->records, (int64_t) count);
    if (counting->ns_per_record > 0)
        g_usleep((gulong) ((int64_t) count * counting->ns_per_record / 1000));
    atomic_fetch_add(&counting->us_spent, g_get_monotonic_time() - started);
    return PAWL_DONE;
}

static int64_t at_first; /* resident when the program began */

/* Reads a topic; gives the most memory that this took, in MiB, and the time, in all and in user code. */
static double
read_counting(const char *topic, int64_t records, const char *memory, const char *parallelism, int64_t ns_per_record,
              double *ret_seconds, double *ret_spent)
{
    struct counting counting = {.ns_per_record = ns_per_record};
    job_recorder *recorder = recorder_new();
    double most;

    measure_reset_peak();

    recorder->instead = count_records;
    recorder->user = &counting;
    assert_run(recorder, PAWL_OK, "topics", topic, "fetch.memory", memory, "parallelism", parallelism, NULL);
    assert_int_equal(counting.records, records);
    most = (double) (measure_peak() - at_first) / (double) MIB;
    *ret_seconds = recorder->seconds;
    *ret_spent = (double) counting.us_spent / 1e6;
    print_message("    %d calls of process, %.2f s in it\n", (int) counting.calls, *ret_spent);
    recorder_free(recorder);
    return most;
}

static void
expect_at_most(double most, double limit)
{
    if (!measure_is_blurred() && most > limit)
        fail_msg("%.0f MiB, more than %.0f", most, limit);
}

/* ---------------------------------------------------------------------------------------------------------- bounds -- */

/* A range that is far larger than fetch.memory. */
static void
a_large_range(void **state)
{
    int records = kafka_fixture_full() ? 10000000 : 1000000;
    char *topic = make_topic("large-range", 1, records, 100, "none");

    (void) state;
    for (int fast = 0; fast < 2; fast++) {
        double seconds, spent, most = read_counting(topic, records, "16MiB", "1", fast ? 0 : 500, &seconds, &spent);

        print_message("one range of %d records, fetch.memory 16MiB: %.0f MiB, %.2f s\n", records, most, seconds);
        expect_at_most(most, 16 + 64);
    }
    g_free(topic);
}

/* Queues of many partitions fill up while their turn has not come. */
static void
many_partitions_with_much_in_them(void **state)
{
    static const char *const memories[] = {"8MiB", "64MiB"};
    char *topic = make_topic("much", 200, 5000, 100, "none");

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(memories); i++) {
        double seconds, spent, most = read_counting(topic, 1000000, memories[i], "2", 1000, &seconds, &spent);

        print_message("200 partitions, fetch.memory %s: %.0f MiB, %.2f s\n", memories[i], most, seconds);
        expect_at_most(most, strtod(memories[i], NULL) + 64);
    }
    g_free(topic);
}

/* What comes in a response of 16 KiB is a hundred times as much when it is unpacked. */
static void
compressed(void **state)
{
    char *topic = make_topic("compressed", 8, 50000, 1000, "zstd");
    double seconds, spent, most = read_counting(topic, 8 * 50000, "16MiB", "2", 1000, &seconds, &spent);

    (void) state;
    print_message("8 partitions of zeros in zstd, fetch.memory 16MiB: %.0f MiB, %.2f s\n", most, seconds);
    g_free(topic);
}

/* ----------------------------------------------------------------------------------------------- a thousand partitions -- */

static void
a_thousand_partitions(void **state)
{
    static const char *const cells[][2] = {{"1", "16MiB"}, {"3", "256MiB"}};
    char *topic = make_topic("thousand", 1000, 20, 100, "none");

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cells); i++) {
        job_recorder *recorder = recorder_new();
        double most;

        measure_reset_peak();
        assert_run(recorder, PAWL_OK, "topics", topic, "parallelism", cells[i][0], "fetch.memory", cells[i][1],
                   "max_offsets_per_batch", "7000", NULL);
        most = (double) (measure_peak() - at_first) / (double) MIB;
        print_message("1000 partitions, parallelism %s, fetch.memory %s: %.0f MiB, %.2f s\n", cells[i][0], cells[i][1],
                      most, recorder->seconds);
        expect_at_most(most, strtod(cells[i][1], NULL) + 64);
        assert_int_equal(recorder->stats.records, 20000);
        for (int p = 0; p < 1000; p++) {
            assert_int_equal(recorder_count_records(recorder, topic, p), 20);
            assert_int_equal(recorder_saved(recorder, topic, p), 20);
        }
        for (int p = 0; p < 1000; p += 97)
            recorder_check(recorder, topic, p, 0, 20, true);
        recorder_free(recorder);
    }
    g_free(topic);
}

/* ----------------------------------------------------------------------------------------------------------- speed -- */

/*
 * A process function that is slower than the broker sets the pace: librdkafka's thread, which sleeps up to a second when
 * all queues are full, is woken in time. The bound is loose since the machine may be busy.
 */
static void
a_slow_process_function(void **state)
{
    static const char *const memories[] = {"2MiB", "16MiB", "256MiB"};
    const int partitions = 8, records = 200000;
    char *topic = make_topic("slow", partitions, records, 100, "none");

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(memories); i++) {
        double seconds, spent,
            most = read_counting(topic, (int64_t) partitions * records, memories[i], "1", 1000, &seconds, &spent);

        print_message("1 ms for 1000 records, fetch.memory %s: %.2f s, of these %.2f in it, %.0f MiB\n", memories[i],
                      seconds, spent, most);
        /* With 2 MiB there is room for hardly more than one response: each is waited for. */
        if (!measure_is_blurred() && i > 0 && seconds > 2 * spent + 1)
            fail_msg("%.2f s", seconds);
        expect_at_most(most, strtod(memories[i], NULL) + 64);
    }
    g_free(topic);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_range),
        cmocka_unit_test(many_partitions_with_much_in_them),
        cmocka_unit_test(a_thousand_partitions),
        cmocka_unit_test(a_slow_process_function),
        cmocka_unit_test(compressed), /* last: the allocator keeps what it took */
    };
    int failed;

    if (kafka_fixture_brokers() == NULL)
        return 77;
    at_first = measure_reset_peak();
    failed = cmocka_run_group_tests_name("kafka memory", tests, NULL, NULL);
    kafka_fixture_done();
    return failed;
}
