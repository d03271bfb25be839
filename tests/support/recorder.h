/*
 * recorder.h - jobs that write down all they get, and whether that was exact
 *
 *     job_recorder *recorder = recorder_new();
 *     assert_run(recorder, PAWL_OK, "topics", topic, "max_offsets_per_batch", "7", NULL);
 *     recorder_check(recorder, topic, 0, 0, 100, true);
 *     recorder_free(recorder);
 *
 * Offsets are in a memory: store of the recorder's own, so that a second run of it goes on where the first one ended.
 */
#ifndef PAWL_TESTS_RECORDER_H
#define PAWL_TESTS_RECORDER_H

#include <pthread.h>

#include <glib.h>

#include <pawl/pawl.h>

typedef struct job_recorder job_recorder;

/* A test's own say in process, before the records are written down; without the lock. */
typedef pawl_verdict (*recorder_fn)(job_recorder *recorder, pawl_range *range, const pawl_record *records, size_t count,
                                    pawl_error *err);

struct job_recorder {
    recorder_fn before;  /* may be NULL */
    recorder_fn instead; /* in place of writing down; may be NULL */
    void *user;          /* the test's */

    pawl_job *job; /* while it runs */
    pawl_error err;
    pawl_status status;
    pawl_stats stats; /* after it ran */
    double seconds;   /* that the run took */

    /* the rest is the recorder's own */
    char *space;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    GHashTable *partitions;
    GPtrArray *log;
    int64_t processed, flushed;
    GPtrArray *names, *values;
};

job_recorder *recorder_new(void);
void recorder_free(job_recorder *recorder);

/* Runs a job to its end with these settings, NAME, VALUE ..., NULL. By default it drains what is there. */
pawl_status recorder_run(job_recorder *recorder, ...) G_GNUC_NULL_TERMINATED;

/* The same on a thread: returns when the job was made. join waits for its end. */
void recorder_start(job_recorder *recorder, ...) G_GNUC_NULL_TERMINATED;
pawl_status recorder_join(job_recorder *recorder);

/* Waits until so many records were given to process, or belong to ranges that were flushed; fails after a minute. */
void recorder_await_processed(job_recorder *recorder, int64_t records);
void recorder_await_flushed(job_recorder *recorder, int64_t records);

/* Waits until the log has such a line; fails after a minute. */
void recorder_await_log(job_recorder *recorder, const char *words);

/* How many lines of the log have these words in them. */
int recorder_count_log(job_recorder *recorder, const char *words);

/* The job's ranges of a partition cover from..until without a hole, and hold exactly what a plain reading gives. */
void recorder_check(job_recorder *recorder, const char *topic, int32_t partition, int64_t from, int64_t until,
                    bool committed);

/* The number of records that were flushed, and of ranges, of a partition. */
int64_t recorder_count_records(job_recorder *recorder, const char *topic, int32_t partition);
int64_t recorder_count_ranges(job_recorder *recorder, const char *topic, int32_t partition);

/* What the store holds: the next offset, or -1. */
int64_t recorder_saved(job_recorder *recorder, const char *topic, int32_t partition);

/* Puts an offset into the store, as an earlier run would have. */
void recorder_store(job_recorder *recorder, const char *topic, int32_t partition, int64_t offset);

/* Forgets what was written down; the store keeps what it has. */
void recorder_forget(job_recorder *recorder);

/* What `before` and `instead` return, since they run on other threads than the test: STOP with the offset unless ok. */
pawl_verdict recorder_verdict(bool ok, const pawl_record *record, pawl_error *err);

/* Fails with the log when the run ended differently. */
void recorder_expect(job_recorder *recorder, pawl_status status, const char *file, int line);
#define assert_run(recorder, status, ...) \
    (recorder_run((recorder), __VA_ARGS__), recorder_expect((recorder), (status), __FILE__, __LINE__))

/* Fails unless the message of the last run has these words in it. */
#define assert_says(recorder, words) recorder_expect_words((recorder), (words), __FILE__, __LINE__)
void recorder_expect_words(job_recorder *recorder, const char *words, const char *file, int line);

#endif
