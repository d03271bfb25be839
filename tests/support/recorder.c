/*
 * recorder.c - jobs that write down all they get
 */
#include "tests/support/recorder.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <pawl/sys/registry.h>

#include "backends/memory/memory.h"
#include "tests/support/kafka_fixture.h"

#define WAIT_S 60

/* What was flushed of one partition. */
struct recorded {
    GArray *seen;   /* kafka_fixture_seen */
    GArray *ranges; /* int64_t pairs */
};

/* ----------------------------------------------------------------------------------------------------- life cycle -- */

static void
free_recorded(gpointer data)
{
    struct recorded *recorded = data;

    g_array_unref(recorded->seen);
    g_array_unref(recorded->ranges);
    g_free(recorded);
}

static void
free_array(void *array)
{
    g_array_unref(array);
}

job_recorder *
recorder_new(void)
{
    job_recorder *recorder = g_new0(struct job_recorder, 1);
    static bool registered;

    if (!registered)
        assert_int_equal(pawl_registry_add_store(&pawl__store_memory, NULL), PAWL_OK);
    registered = true;
    recorder->space = kafka_fixture_name("recorder");
    recorder->partitions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_recorded);
    recorder->log = g_ptr_array_new_with_free_func(g_free);
    pthread_mutex_init(&recorder->mutex, NULL);
    pthread_cond_init(&recorder->moved, NULL);
    return recorder;
}

void
recorder_free(job_recorder *recorder)
{
    g_hash_table_unref(recorder->partitions);
    g_ptr_array_unref(recorder->log);
    pthread_cond_destroy(&recorder->moved);
    pthread_mutex_destroy(&recorder->mutex);
    g_free(recorder->space);
    g_free(recorder);
}

void
recorder_forget(job_recorder *recorder)
{
    g_hash_table_remove_all(recorder->partitions);
    g_ptr_array_set_size(recorder->log, 0);
    recorder->processed = recorder->flushed = 0;
}

/* With the lock held. */
static struct recorded *
recorded_of(job_recorder *recorder, const char *topic, int32_t partition)
{
    char *name = g_strdup_printf("%s:%" PRId32, topic, partition);
    struct recorded *recorded = g_hash_table_lookup(recorder->partitions, name);

    if (recorded == NULL) {
        recorded = g_new0(struct recorded, 1);
        recorded->seen = g_array_new(FALSE, FALSE, sizeof(kafka_fixture_seen));
        recorded->ranges = g_array_new(FALSE, FALSE, sizeof(int64_t));
        g_hash_table_insert(recorder->partitions, name, recorded);
    } else {
        g_free(name);
    }
    return recorded;
}

/* ---------------------------------------------------------------------------------------------------------- hooks -- */

static uint64_t
digest_of(const pawl_record *record)
{
    uint64_t digest = kafka_fixture_digest(0, record->key, record->key_size);
    pawl_header header;

    digest = kafka_fixture_digest(digest, record->value, record->value_size);
    digest = kafka_fixture_digest(digest, &record->timestamp_ms, sizeof record->timestamp_ms);
    digest = kafka_fixture_digest(digest, NULL, (size_t) record->timestamp_type);
    for (size_t i = 0; pawl_record_header(record, i, &header); i++) {
        digest = kafka_fixture_digest(digest, header.name, strlen(header.name));
        digest = kafka_fixture_digest(digest, header.value, header.value_size);
    }
    return digest;
}

static pawl_verdict
begin(void *user, pawl_range *range, pawl_error *err)
{
    (void) user, (void) err;
    pawl_range_set_slot(range, g_array_new(FALSE, FALSE, sizeof(kafka_fixture_seen)), free_array);
    return PAWL_DONE;
}

/* What a chunk has to be like whatever happens. */
static void
check_chunk(const pawl_range *range, const GArray *slot, const pawl_record *records, size_t count)
{
    int64_t last = slot->len > 0 ? g_array_index(slot, kafka_fixture_seen, slot->len - 1).offset : -1;

    if (count == 0)
        g_error("a chunk without records");
    for (size_t i = 0; i < count; i++) {
        if (records[i].offset <= last || records[i].offset < pawl_range_from(range) ||
            records[i].offset >= pawl_range_until(range))
            g_error("%s [%d] %" PRId64 "..%" PRId64 ": offset %" PRId64 " after %" PRId64, pawl_range_topic(range),
                    (int) pawl_range_partition(range), pawl_range_from(range), pawl_range_until(range),
                    records[i].offset, last);
        last = records[i].offset;
    }
}

static void
note_processed(job_recorder *recorder, size_t count)
{
    pthread_mutex_lock(&recorder->mutex);
    recorder->processed += (int64_t) count;
    pthread_cond_broadcast(&recorder->moved);
    pthread_mutex_unlock(&recorder->mutex);
}

pawl_verdict
recorder_verdict(bool ok, const pawl_record *record, pawl_error *err)
{
    if (ok)
        return PAWL_DONE;
    pawl_error_set(err, PAWL_FAILED, 0, 0, "the record of offset %" PRId64 " is another than it should be",
                   record->offset);
    return PAWL_STOP;
}

static pawl_verdict
process(void *user, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    job_recorder *recorder = user;
    GArray *slot = pawl_range_slot(range);

    check_chunk(range, slot, records, count);
    if (recorder->before != NULL) {
        pawl_verdict verdict = recorder->before(recorder, range, records, count, err);

        if (verdict != PAWL_DONE)
            return verdict;
    }
    if (recorder->instead != NULL)
        return recorder->instead(recorder, range, records, count, err);
    for (size_t i = 0; i < count; i++) {
        kafka_fixture_seen seen = {records[i].offset, digest_of(&records[i])};

        g_array_append_val(slot, seen);
    }
    note_processed(recorder, count);
    return PAWL_DONE;
}

static pawl_verdict
flush(void *user, pawl_batch *batch, pawl_error *err)
{
    job_recorder *recorder = user;

    (void) err;
    pthread_mutex_lock(&recorder->mutex);
    for (size_t i = 0; i < pawl_batch_count(batch); i++) {
        const pawl_range *range = pawl_batch_range(batch, i);
        struct recorded *recorded = recorded_of(recorder, pawl_range_topic(range), pawl_range_partition(range));
        const GArray *slot = pawl_range_slot(range);
        int64_t bounds[] = {pawl_range_from(range), pawl_range_until(range)};

        g_array_append_vals(recorded->ranges, bounds, 2);
        if (slot == NULL)
            continue;
        g_array_append_vals(recorded->seen, slot->data, slot->len);
        recorder->flushed += slot->len;
    }
    pthread_cond_broadcast(&recorder->moved);
    pthread_mutex_unlock(&recorder->mutex);
    return PAWL_DONE;
}

static void
take_log(void *user, const pawl_log_line *line)
{
    job_recorder *recorder = user;

    pthread_mutex_lock(&recorder->mutex);
    g_ptr_array_add(recorder->log, g_strdup_printf("%" PRId64 " %s %s: %s", line->time_ms,
                                                   pawl_log_level_name(line->level), line->scope, line->message));
    pthread_cond_broadcast(&recorder->moved);
    pthread_mutex_unlock(&recorder->mutex);
}

/* ------------------------------------------------------------------------------------------------------- settings -- */

static void
take_settings(job_recorder *recorder, va_list settings)
{
    const char *name;

    recorder->names = g_ptr_array_new_with_free_func(g_free);
    recorder->values = g_ptr_array_new_with_free_func(g_free);
    while ((name = va_arg(settings, const char *)) != NULL) {
        g_ptr_array_add(recorder->names, g_strdup(name));
        g_ptr_array_add(recorder->values, g_strdup(va_arg(settings, const char *)));
    }
}

static pawl_status
set_all(job_recorder *recorder, pawl_config *config, pawl_error *err)
{
    char *store = g_strdup_printf("memory:%s", recorder->space);
    const char *const defaults[][2] = {
        {"kafka.bootstrap.servers", kafka_fixture_address()},
        {"store", store},
        {"group", "recorder"},
        {"trigger", "available-now"},
        {"retry_backoff", "20ms"},
        {"topic_timeout", "10s"},
        {"shutdown_timeout", "20s"},
    };
    pawl_status status = PAWL_OK;

    for (size_t i = 0; status == PAWL_OK && i < G_N_ELEMENTS(defaults); i++)
        status = pawl_config_set(config, defaults[i][0], defaults[i][1], err);
    for (guint i = 0; status == PAWL_OK && i < recorder->names->len; i++)
        status =
            pawl_config_set(config, g_ptr_array_index(recorder->names, i), g_ptr_array_index(recorder->values, i), err);
    g_ptr_array_unref(recorder->names);
    g_ptr_array_unref(recorder->values);
    g_free(store);
    return status;
}

static void
make_job(job_recorder *recorder)
{
    const pawl_hooks hooks = {
        .size = sizeof hooks,
        .user = recorder,
        .range_begin = begin,
        .process = process,
        .flush = flush,
    };
    const pawl_log log = {PAWL_LOG_DEBUG, take_log, recorder};
    pawl_config *config = pawl_config_new();

    pawl_error_clear(&recorder->err);
    pawl_config_set_log(config, &log);
    recorder->job = NULL;
    recorder->status = set_all(recorder, config, &recorder->err);
    if (recorder->status == PAWL_OK)
        recorder->status = pawl_job_new(config, &hooks, &recorder->job, &recorder->err);
    pawl_config_free(config);
}

/* ---------------------------------------------------------------------------------------------------------- runs -- */

static void *
run(void *data)
{
    job_recorder *recorder = data;
    gint64 started = g_get_monotonic_time();

    if (recorder->status == PAWL_OK)
        recorder->status = pawl_job_run(recorder->job, &recorder->err);
    recorder->seconds = (double) (g_get_monotonic_time() - started) / 1e6;
    return NULL;
}

static void
take_stats(job_recorder *recorder)
{
    recorder->stats.size = sizeof recorder->stats;
    if (recorder->job != NULL)
        pawl_job_stats(recorder->job, &recorder->stats);
    pawl_job_free(recorder->job);
    recorder->job = NULL;
}

pawl_status
recorder_run(job_recorder *recorder, ...)
{
    va_list settings;

    va_start(settings, recorder);
    take_settings(recorder, settings);
    va_end(settings);
    make_job(recorder);
    run(recorder);
    take_stats(recorder);
    return recorder->status;
}

void
recorder_start(job_recorder *recorder, ...)
{
    va_list settings;

    va_start(settings, recorder);
    take_settings(recorder, settings);
    va_end(settings);
    make_job(recorder);
    assert_int_equal(pthread_create(&recorder->thread, NULL, run, recorder), 0);
}

pawl_status
recorder_join(job_recorder *recorder)
{
    pthread_join(recorder->thread, NULL);
    take_stats(recorder);
    return recorder->status;
}

/* -------------------------------------------------------------------------------------------------------- waiting -- */

/* With the lock held. */
static void
dump_log(job_recorder *recorder)
{
    for (guint i = 0; i < recorder->log->len; i++)
        if (recorder->log->len < 200 || i < 100 || i >= recorder->log->len - 100)
            g_printerr("    %s\n", (const char *) g_ptr_array_index(recorder->log, i));
}

/* With the lock held. */
static int
count_log(const job_recorder *recorder, const char *words)
{
    int count = 0;

    for (guint i = 0; i < recorder->log->len; i++)
        count += strstr(g_ptr_array_index(recorder->log, i), words) != NULL;
    return count;
}

/* Waits until one of the numbers is high enough, or the log has the words. */
static void
await(job_recorder *recorder, int64_t processed, int64_t flushed, const char *words)
{
    struct timespec deadline;
    int code = 0;

    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += WAIT_S;
    pthread_mutex_lock(&recorder->mutex);
    while (code == 0 && (recorder->processed < processed || recorder->flushed < flushed ||
                         (words != NULL && count_log(recorder, words) == 0)))
        code = pthread_cond_timedwait(&recorder->moved, &recorder->mutex, &deadline);
    if (code != 0)
        dump_log(recorder);
    pthread_mutex_unlock(&recorder->mutex);
    if (code != 0)
        fail_msg("nothing came for a minute: %" PRId64 " processed, %" PRId64 " flushed", recorder->processed,
                 recorder->flushed);
}

void
recorder_await_processed(job_recorder *recorder, int64_t records)
{
    await(recorder, records, 0, NULL);
}

void
recorder_await_flushed(job_recorder *recorder, int64_t records)
{
    await(recorder, 0, records, NULL);
}

void
recorder_await_log(job_recorder *recorder, const char *words)
{
    await(recorder, 0, 0, words);
}

int
recorder_count_log(job_recorder *recorder, const char *words)
{
    int count;

    pthread_mutex_lock(&recorder->mutex);
    count = count_log(recorder, words);
    pthread_mutex_unlock(&recorder->mutex);
    return count;
}

/* ------------------------------------------------------------------------------------------------------- checking -- */

void
recorder_expect(job_recorder *recorder, pawl_status status, const char *file, int line)
{
    if (recorder->status == status)
        return;
    dump_log(recorder);
    g_printerr("the job ended with \"%s\" and not \"%s\": %s\n", pawl_status_name(recorder->status),
               pawl_status_name(status), recorder->err.message);
    _fail(file, line);
}

void
recorder_expect_words(job_recorder *recorder, const char *words, const char *file, int line)
{
    if (strstr(recorder->err.message, words) != NULL)
        return;
    g_printerr("the message is \"%s\", without \"%s\"\n", recorder->err.message, words);
    _fail(file, line);
}

static void
check_ranges(const struct recorded *recorded, const char *topic, int32_t partition, int64_t from, int64_t until)
{
    int64_t at = from;

    for (guint i = 0; i < recorded->ranges->len; i += 2) {
        if (g_array_index(recorded->ranges, int64_t, i) != at)
            fail_msg("%s [%d]: a range from %" PRId64 " after one up to %" PRId64, topic, (int) partition,
                     g_array_index(recorded->ranges, int64_t, i), at);
        at = g_array_index(recorded->ranges, int64_t, i + 1);
    }
    if (at != until)
        fail_msg("%s [%d]: the ranges end at %" PRId64 " and not at %" PRId64, topic, (int) partition, at, until);
}

static void
check_seen(const GArray *seen, const GArray *plain, const char *topic, int32_t partition)
{
    for (guint i = 0; i < seen->len && i < plain->len; i++) {
        const kafka_fixture_seen *a = &g_array_index(seen, kafka_fixture_seen, i);
        const kafka_fixture_seen *b = &g_array_index(plain, kafka_fixture_seen, i);

        if (a->offset != b->offset)
            fail_msg("%s [%d]: record %u is that of offset %" PRId64 " and not of %" PRId64, topic, (int) partition, i,
                     a->offset, b->offset);
        if (a->digest != b->digest)
            fail_msg("%s [%d]: the record of offset %" PRId64 " is another", topic, (int) partition, a->offset);
    }
    if (seen->len != plain->len)
        fail_msg("%s [%d]: %u records and not %u", topic, (int) partition, seen->len, plain->len);
}

void
recorder_check(job_recorder *recorder, const char *topic, int32_t partition, int64_t from, int64_t until,
               bool committed)
{
    const struct recorded *recorded = recorded_of(recorder, topic, partition);
    GArray *plain = kafka_fixture_read(topic, partition, from, until, committed);

    check_ranges(recorded, topic, partition, from, until);
    check_seen(recorded->seen, plain, topic, partition);
    assert_int_equal(recorder_saved(recorder, topic, partition), until);
    g_array_unref(plain);
}

int64_t
recorder_count_records(job_recorder *recorder, const char *topic, int32_t partition)
{
    return recorded_of(recorder, topic, partition)->seen->len;
}

int64_t
recorder_count_ranges(job_recorder *recorder, const char *topic, int32_t partition)
{
    return recorded_of(recorder, topic, partition)->ranges->len / 2;
}

/* ---------------------------------------------------------------------------------------------------------- store -- */

static pawl_store *
open_store(job_recorder *recorder)
{
    char *url = g_strdup_printf("memory:%s", recorder->space);
    pawl_store_options options = {.size = sizeof options};
    pawl_store *store;

    assert_int_equal(pawl_store_open(url, &options, &store, NULL), PAWL_OK);
    g_free(url);
    return store;
}

int64_t
recorder_saved(job_recorder *recorder, const char *topic, int32_t partition)
{
    pawl_store *store = open_store(recorder);
    pawl_partition asked = {topic, partition};
    pawl_entry entry;

    assert_int_equal(pawl_store_load(store, "recorder", &asked, 1, &entry, NULL, NULL), PAWL_OK);
    pawl_store_close(store);
    return entry.offset.known ? entry.offset.offset : -1;
}

void
recorder_store(job_recorder *recorder, const char *topic, int32_t partition, int64_t offset)
{
    pawl_store *store = open_store(recorder);
    pawl_owner owner = {.host = "test"};
    pawl_acquire_line line = {.partition = {topic, partition}, .initial = pawl_position_at(offset)};

    assert_int_equal(pawl_store_acquire(store, "recorder", &owner, NULL, &line, 1, NULL), PAWL_OK);
    assert_int_equal(pawl_store_release(store, "recorder", &line, 1, NULL), PAWL_OK);
    pawl_store_close(store);
}
