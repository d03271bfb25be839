/*
 * test_kafka_records.c - records come as they were produced, whatever is in them
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "tests/support/kafka_fixture.h"
#include "tests/support/measure.h"
#include "tests/support/recorder.h"

#define MIB (1024 * 1024)

/* Reads partition 0 of a topic with `instead` in place of writing down. */
static void
read_with(const char *topic, recorder_fn instead, void *user)
{
    job_recorder *recorder = recorder_new();

    recorder->instead = instead;
    recorder->user = user;
    assert_run(recorder, PAWL_OK, "topics", topic, NULL);
    recorder_free(recorder);
}

/* And once more, beside the plain reading. */
static void
compare(const char *topic, int64_t until)
{
    job_recorder *recorder = recorder_new();

    assert_run(recorder, PAWL_OK, "topics", topic, "parallelism", "3", NULL);
    recorder_check(recorder, topic, 0, 0, until, true);
    recorder_free(recorder);
}

/* -------------------------------------------------------------------------------------------------------- headers -- */

static const struct {
    const char *name, *value;
    size_t size;
} headers[] = {
    {"twice", "first", 5}, {"null", NULL, 0},  {"twice", "second", 6},    {"empty", "", 0},
    {"", "no name", 7},    {"twice", NULL, 0}, {"binary", "\0\xff\0", 3}, {"twice", "first", 5},
};

/* Whether a record has exactly the headers above. */
static bool
has_headers(const pawl_record *record)
{
    pawl_header header;
    bool ok = true;

    for (size_t i = 0; ok && i < G_N_ELEMENTS(headers); i++)
        ok = pawl_record_header(record, i, &header) && strcmp(header.name, headers[i].name) == 0 &&
             header.value_size == headers[i].size && (header.value != NULL) == (headers[i].value != NULL) &&
             (header.value == NULL || memcmp(header.value, headers[i].value, headers[i].size) == 0);
    return ok && !pawl_record_header(record, G_N_ELEMENTS(headers), &header) &&
           !pawl_record_header(record, SIZE_MAX, &header);
}

static pawl_verdict
check_headers(job_recorder *recorder, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    bool ok = true;
    size_t r;

    (void) range;
    for (r = 0; ok && r < count; r++) {
        pawl_header header = {.name = "untouched"};

        if (records[r].offset != 1)
            ok = has_headers(&records[r]);
        else
            ok = !pawl_record_header(&records[r], 0, &header) && strcmp(header.name, "untouched") == 0;
        ++*(int *) recorder->user;
    }
    return recorder_verdict(ok, &records[r - 1], err);
}

static void
headers_in_their_order(void **state)
{
    char *topic = kafka_fixture_make("headers", 1, NULL);
    rd_kafka_t *producer = kafka_fixture_producer(NULL);
    int seen = 0;

    (void) state;
    for (int r = 0; r < 3; r++) {
        rd_kafka_headers_t *list = rd_kafka_headers_new(8);

        for (size_t i = 0; r != 1 && i < G_N_ELEMENTS(headers); i++)
            rd_kafka_header_add(list, headers[i].name, -1, headers[i].value,
                                headers[i].value != NULL ? (ssize_t) headers[i].size : -1);
        kafka_fixture_send(producer, topic, 0, "k", 1, "v", 1, list, 0);
    }
    kafka_fixture_flush(producer);
    rd_kafka_destroy(producer);
    read_with(topic, check_headers, &seen);
    assert_int_equal(seen, 3);
    compare(topic, 3);
    g_free(topic);
}

static pawl_verdict
count_headers(job_recorder *recorder, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    bool ok = count == 1;
    char name[32];
    pawl_header header;
    size_t i;

    (void) range;
    for (i = 0; ok && pawl_record_header(&records[0], i, &header); i++) {
        g_snprintf(name, sizeof name, "name %zu", i);
        ok = strcmp(header.name, name) == 0 && header.value_size == sizeof i && memcmp(header.value, &i, sizeof i) == 0;
    }
    *(size_t *) recorder->user = i;
    return recorder_verdict(ok, &records[0], err);
}

static void
ten_thousand_headers(void **state)
{
    char *topic = kafka_fixture_make("many-headers", 1, NULL), name[32];
    rd_kafka_t *producer = kafka_fixture_producer(NULL);
    rd_kafka_headers_t *list = rd_kafka_headers_new(10000);
    size_t seen = 0;

    (void) state;
    for (size_t i = 0; i < 10000; i++) {
        g_snprintf(name, sizeof name, "name %zu", i);
        rd_kafka_header_add(list, name, -1, &i, sizeof i);
    }
    kafka_fixture_send(producer, topic, 0, NULL, 0, NULL, 0, list, 0);
    kafka_fixture_flush(producer);
    rd_kafka_destroy(producer);
    read_with(topic, count_headers, &seen);
    assert_int_equal(seen, 10000);
    compare(topic, 1);
    g_free(topic);
}

/* ------------------------------------------------------------------------------------------------- keys and values -- */

static const char every_byte[] = "\x00\x01\xfe\xff\x80\n\r\t%s\xc3\x28";

static bool
is_as_sent(const pawl_record *record)
{
    if (record->offset == 4)
        return record->key_size == sizeof every_byte && memcmp(record->key, every_byte, sizeof every_byte) == 0 &&
               record->value_size == sizeof every_byte && memcmp(record->value, every_byte, sizeof every_byte) == 0;
    return record->key_size == 0 && record->value_size == 0 && (record->key != NULL) == ((record->offset & 1) != 0) &&
           (record->value != NULL) == ((record->offset & 2) != 0);
}

static pawl_verdict
check_null_and_empty(job_recorder *recorder, pawl_range *range, const pawl_record *records, size_t count,
                     pawl_error *err)
{
    bool ok = true;
    size_t r;

    (void) range;
    for (r = 0; ok && r < count; r++, ++*(int *) recorder->user)
        ok = is_as_sent(&records[r]);
    return recorder_verdict(ok, &records[r - 1], err);
}

static void
null_is_not_empty(void **state)
{
    char *topic = kafka_fixture_make("null", 1, NULL);
    rd_kafka_t *producer = kafka_fixture_producer(NULL);
    int seen = 0;

    (void) state;
    for (int i = 0; i < 4; i++)
        kafka_fixture_send(producer, topic, 0, i & 1 ? "" : NULL, 0, i & 2 ? "" : NULL, 0, NULL, 0);
    kafka_fixture_send(producer, topic, 0, every_byte, sizeof every_byte, every_byte, sizeof every_byte, NULL, 0);
    kafka_fixture_flush(producer);
    rd_kafka_destroy(producer);
    read_with(topic, check_null_and_empty, &seen);
    assert_int_equal(seen, 5);
    compare(topic, 5);
    g_free(topic);
}

/* ------------------------------------------------------------------------------------------------------ timestamps -- */

static const int64_t times[] = {1000, 999, INT64_C(4102444800000), 1, 1356998400123};

static pawl_verdict
check_create_times(job_recorder *recorder, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    bool ok = true;
    size_t r;

    (void) range;
    for (r = 0; ok && r < count; r++, ++*(int *) recorder->user)
        ok = records[r].timestamp_type == PAWL_TIMESTAMP_CREATE_TIME &&
             records[r].timestamp_ms == times[records[r].offset];
    return recorder_verdict(ok, &records[r - 1], err);
}

static pawl_verdict
check_append_times(job_recorder *recorder, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    int64_t now = g_get_real_time() / 1000;
    bool ok = true;
    size_t r;

    (void) range;
    for (r = 0; ok && r < count; r++, ++*(int *) recorder->user)
        ok = records[r].timestamp_type == PAWL_TIMESTAMP_LOG_APPEND_TIME && records[r].timestamp_ms > now - 60000 &&
             records[r].timestamp_ms < now + 1000;
    return recorder_verdict(ok, &records[r - 1], err);
}

static void
timestamps_of(const char *kind, recorder_fn check)
{
    const char *const config[] = {"message.timestamp.type", kind, "message.timestamp.after.max.ms",
                                  "9223372036854775807", NULL};
    char *topic = kafka_fixture_make("times", 1, config);
    rd_kafka_t *producer = kafka_fixture_producer(NULL);
    int seen = 0;

    for (size_t i = 0; i < G_N_ELEMENTS(times); i++)
        kafka_fixture_send(producer, topic, 0, NULL, 0, "v", 1, NULL, times[i]);
    kafka_fixture_flush(producer);
    rd_kafka_destroy(producer);
    read_with(topic, check, &seen);
    assert_int_equal(seen, G_N_ELEMENTS(times));
    compare(topic, G_N_ELEMENTS(times));
    g_free(topic);
}

static void
timestamps_of_both_kinds(void **state)
{
    (void) state;
    timestamps_of("CreateTime", check_create_times);
    timestamps_of("LogAppendTime", check_append_times);
}

/* ----------------------------------------------------------------------------------------------------------- sizes -- */

static pawl_verdict
check_large(job_recorder *recorder, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    bool ok = true;
    size_t r;

    (void) range;
    for (r = 0; ok && r < count; r++, ++*(int *) recorder->user) {
        const char *value = records[r].value;
        size_t size = records[r].offset % 2 == 0 ? 100 * MIB : 10;

        ok = records[r].value_size == size && value[0] == 'a' + records[r].offset &&
             value[size - 1] == 'a' + records[r].offset;
    }
    return recorder_verdict(ok, &records[r - 1], err);
}

/* Values of 100 MiB among small ones: each passes, however small fetch.memory is, and two are not kept at once. */
static void
large_values(void **state)
{
    const char *const config[] = {"max.message.bytes", "115343360", NULL};
    char *topic = kafka_fixture_make("large", 1, config), *value = g_malloc(100 * MIB);
    rd_kafka_t *producer = kafka_fixture_producer(NULL);
    int seen = 0;
    int64_t before, peak;

    (void) state;
    for (int i = 0; i < 5; i++) {
        memset(value, 'a' + i, 100 * MIB);
        kafka_fixture_send(producer, topic, 0, NULL, 0, value, i % 2 == 0 ? 100 * MIB : 10, NULL, 0);
        kafka_fixture_flush(producer);
    }
    rd_kafka_destroy(producer);
    g_free(value);

    before = measure_reset_peak();
    read_with(topic, check_large, &seen);
    peak = measure_peak();
    assert_int_equal(seen, 5);
    print_message("three values of 100 MiB: %.0f MiB more at the most\n", (double) (peak - before) / MIB);
    if (!measure_is_blurred() && peak - before > (256 + 64) * (int64_t) MIB)
        fail_msg("%.0f MiB", (double) (peak - before) / MIB);
    g_free(topic);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_in_their_order), cmocka_unit_test(ten_thousand_headers),
        cmocka_unit_test(null_is_not_empty),      cmocka_unit_test(timestamps_of_both_kinds),
        cmocka_unit_test(large_values),
    };
    int failed;

    if (kafka_fixture_brokers() == NULL)
        return 77;
    failed = cmocka_run_group_tests_name("kafka records", tests, NULL, NULL);
    kafka_fixture_done();
    return failed;
}
