/*
 * mirror.c - saved offsets, told to Kafka's consumer group as well
 */
#include "core/mirror.h"

#include <glib.h>
#include <pthread.h>

#include "util/backoff.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/partition.h"
#include "util/text.h"
#include "util/wait.h"

#define RETRY_MS      500 /* after the first failure; longer after each further one */
#define RETRY_CAP_MS  60000
#define WARN_AGAIN_MS 60000

/* The latest offset of one partition. `line.expected` is what was written last. */
struct latest {
    pawl_save_line line; /* its topic is one of the mirror's */
    bool written;
};

struct pawl__mirror {
    pawl_store *store;
    const char *group;
    const pawl_log *log;
    pthread_t thread;
    bool joined;

    pawl__wait wait;      /* guards what follows */
    GHashTable *latest;   /* pawl_partition -> struct latest, which begins with it */
    GStringChunk *topics; /* kept to the end: the thread reads them without the lock */
    bool unwritten;       /* some of the latest are */
    bool ending;
    bool ended;       /* the thread has done its last */
    int failures;     /* in a row */
    int64_t retry_ms; /* when to try again after a failure */
    int64_t warn_ms;  /* from when on a failure is told */
};

/* ------------------------------------------------------------------------------------------------ on any thread -- */

static struct latest *
latest_of(pawl__mirror *mirror, pawl_partition partition)
{
    struct latest *latest = g_hash_table_lookup(mirror->latest, &partition);

    if (latest != NULL)
        return latest;
    latest = g_new0(struct latest, 1);
    latest->line.partition.topic = g_string_chunk_insert_const(mirror->topics, partition.topic);
    latest->line.partition.number = partition.number;
    g_hash_table_insert(mirror->latest, &latest->line.partition, latest);
    return latest;
}

void
pawl__mirror_give(pawl__mirror *mirror, const pawl_save_line *lines, size_t count)
{
    if (mirror == NULL || count == 0)
        return;
    pawl__wait_lock(&mirror->wait);
    for (size_t i = 0; i < count; i++) {
        struct latest *latest = latest_of(mirror, lines[i].partition);

        latest->written = false;
        latest->line.epoch = lines[i].epoch;
        latest->line.until = lines[i].until;
        if (lines[i].batch != 0) /* a save that is no batch leaves the number of the last one */
            latest->line.batch = lines[i].batch;
    }
    mirror->unwritten = true;
    pawl__wait_wake(&mirror->wait);
    pawl__wait_unlock(&mirror->wait);
}

void
pawl__mirror_forget(pawl__mirror *mirror, pawl_partition partition)
{
    if (mirror == NULL)
        return;
    pawl__wait_lock(&mirror->wait);
    g_hash_table_remove(mirror->latest, &partition);
    pawl__wait_unlock(&mirror->wait);
}

static void
tell_to_end(pawl__mirror *mirror)
{
    pawl__wait_lock(&mirror->wait);
    mirror->ending = true;
    pawl__wait_wake(&mirror->wait);
    pawl__wait_unlock(&mirror->wait);
}

void
pawl__mirror_cancel(pawl__mirror *mirror)
{
    if (mirror == NULL)
        return;
    pawl_store_cancel(mirror->store); /* first, or the end would write once more */
    tell_to_end(mirror);
}

/* ------------------------------------------------------------------------------------------------- on its thread -- */

/* All of this is called with the lock held. */

static GArray *
gather_unwritten(pawl__mirror *mirror)
{
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(pawl_save_line));
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, mirror->latest);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const struct latest *latest = value;

        if (!latest->written)
            g_array_append_val(lines, latest->line);
    }
    return lines;
}

/* Meanwhile there may be newer ones, and partitions that were forgotten. */
static void
note_written(pawl__mirror *mirror, const GArray *lines)
{
    for (guint i = 0; i < lines->len; i++) {
        const pawl_save_line *line = &g_array_index(lines, pawl_save_line, i);
        struct latest *latest = g_hash_table_lookup(mirror->latest, &line->partition);

        if (latest == NULL)
            continue;
        latest->line.expected = pawl_position_at(line->until);
        latest->written = latest->line.until == line->until;
    }
    mirror->failures = 0;
    mirror->retry_ms = 0;
}

static void
note_failure(pawl__mirror *mirror, const pawl_error *failure)
{
    int64_t now = pawl__clock_ms(), delay;
    char wait[PAWL__DURATION_TEXT_SIZE];

    mirror->unwritten = true;
    mirror->failures++;
    delay = pawl__backoff_ms(RETRY_MS, RETRY_CAP_MS, mirror->failures, g_random_int());
    mirror->retry_ms = now + delay;
    if (failure->status == PAWL_CANCELLED || now < mirror->warn_ms)
        return;
    mirror->warn_ms = now + WARN_AGAIN_MS;
    pawl__log(mirror->log, PAWL_LOG_WARN, "mirror", "offsets of group '%s' were not mirrored, next try in %s: %s",
              mirror->group, pawl__text_about_duration(delay, wait), failure->message);
}

static void
write_latest(pawl__mirror *mirror)
{
    GArray *lines = gather_unwritten(mirror);
    pawl_error err = {0};
    pawl_status status = PAWL_OK;

    mirror->unwritten = false;
    pawl__wait_unlock(&mirror->wait);
    if (lines->len > 0)
        status = pawl_store_save(mirror->store, mirror->group, (const pawl_save_line *) (const void *) lines->data,
                                 lines->len, &err);
    pawl__wait_lock(&mirror->wait);
    if (status == PAWL_OK)
        note_written(mirror, lines);
    else
        note_failure(mirror, &err);
    g_array_unref(lines);
}

static void *
run(void *data)
{
    pawl__mirror *mirror = data;

    pawl__wait_lock(&mirror->wait);
    while (!mirror->ending) {
        int64_t due_ms = mirror->unwritten ? mirror->retry_ms : PAWL__NEVER;

        if (due_ms > pawl__clock_ms())
            pawl__wait_until(&mirror->wait, due_ms);
        else
            write_latest(mirror);
    }
    write_latest(mirror);
    mirror->ended = true;
    pawl__wait_wake(&mirror->wait);
    pawl__wait_unlock(&mirror->wait);
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------- life cycle -- */

static void
done(pawl__mirror *mirror)
{
    pawl_store_close(mirror->store);
    g_hash_table_unref(mirror->latest);
    g_string_chunk_free(mirror->topics);
    pawl__wait_done(&mirror->wait);
    g_free(mirror);
}

pawl_status
pawl__mirror_new(pawl_store *store, const char *group, const pawl_log *log, pawl__mirror **ret_mirror, pawl_error *err)
{
    pawl__mirror *mirror = g_new0(pawl__mirror, 1);
    int code;

    mirror->store = store;
    mirror->group = group;
    mirror->log = log;
    mirror->latest = g_hash_table_new_full(pawl__partition_hash, pawl__partition_equal, NULL, g_free);
    mirror->topics = g_string_chunk_new(1024);
    pawl__wait_init(&mirror->wait);
    code = pthread_create(&mirror->thread, NULL, run, mirror);
    if (code != 0) {
        done(mirror);
        return pawl_error_set(err, PAWL_FAILED, 0, code, "cannot start a thread: %s", g_strerror(code));
    }
    *ret_mirror = mirror;
    return PAWL_OK;
}

void
pawl__mirror_finish(pawl__mirror *mirror, int64_t deadline_ms)
{
    bool in_time = true;

    if (mirror == NULL || mirror->joined)
        return;
    tell_to_end(mirror);
    pawl__wait_lock(&mirror->wait);
    while (!mirror->ended && in_time)
        in_time = pawl__wait_until(&mirror->wait, deadline_ms);
    pawl__wait_unlock(&mirror->wait);
    if (!in_time)
        pawl_store_cancel(mirror->store);
    pthread_join(mirror->thread, NULL);
    mirror->joined = true;
    if (mirror->unwritten)
        pawl__log(mirror->log, PAWL_LOG_WARN, "mirror", "the last offsets of group '%s' were not mirrored",
                  mirror->group);
}

void
pawl__mirror_free(pawl__mirror *mirror)
{
    if (mirror == NULL)
        return;
    if (!mirror->joined)
        pawl__mirror_cancel(mirror);
    pawl__mirror_finish(mirror, PAWL__NEVER);
    done(mirror);
}
