/*
 * job_fixture.h - a job on a cluster and a store in memory, and a transcript of all that it does
 *
 * The transcript has one line for each call of a hook and for each write of the store that succeeded, in their order:
 *
 *     open t:0 none@0                      on_open: what is stored, and where the job will start
 *     begin t:0 0..10 #1                   range_begin: the range, and the attempt
 *     process t:0 0..10 #1: 0 1 2          the offsets of the records
 *     end t:0 0..10 #1                     range_end
 *     flush 1: t:0 0..10                   the batch's number and ranges
 *     close t:0 t:1                        on_close
 *     init, exit                           thread_init, thread_exit
 *     acquire:, plan:, save N:, release:   see trap_store.h; N is 0 for a position save
 *
 * Whatever the test, the fixture checks of each range that its hooks are called in order and never two at once, that its
 * records ascend and lie inside of it, and that each slot is freed once.
 *
 * Nothing here sleeps: what waits, waits for an event, and fails the test when none comes.
 */
#ifndef PAWL_TESTS_JOB_FIXTURE_H
#define PAWL_TESTS_JOB_FIXTURE_H

/* What cmocka needs before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>

#include <pawl/job.h>
#include <pawl/store.h>

#include "source/memory/memory.h"
#include "tests/support/trap_store.h"
#include "util/wait.h"

typedef struct fixture fixture;

struct fixture {
    pawl__memory_cluster *cluster;
    char name[32]; /* of the cluster and of the store's space */
    pawl_config *config;
    pawl_hooks hooks; /* a test may take some away */
    pawl_job *job;    /* the last */

    pawl_status status; /* what the last run returned */
    pawl_error err;
    pawl_stats stats; /* when it had */
    pthread_t thread;
    bool running;

    /* What hooks answer, "begin", "process", "end" or "init"; NULL: PAWL_DONE. Several threads may call it at once. */
    pawl_verdict (*answer)(fixture *f, const char *hook, pawl_range *range, pawl_error *err);
    pawl_verdict (*on_flush)(fixture *f, pawl_batch *batch, pawl_error *err);
    pawl_verdict (*on_open)(fixture *f, pawl_opening *openings, size_t count, pawl_error *err);

    pawl__wait wait;   /* guards what follows */
    GPtrArray *events; /* the transcript */
    GPtrArray *lines;  /* of the log */
    int calls;         /* for the test's own use */
    int faults;        /* promises that were broken */
    int slots;         /* that are not freed yet */
};

/* For cmocka_unit_test_setup_teardown(): *state is a fixture with topic "t" of one partition, trigger = available-now,
 * retry_backoff = 1ms, and the store trap:. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

#define fixture_test(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

/* Changes a setting for the jobs to come. */
void fixture_set(fixture *f, const char *name, const char *value);

/* Starts over with the settings, and selects otherwise: "topics_pattern" or "partitions". */
void fixture_select(fixture *f, const char *name, const char *value);

/* Uses another store on the same space: "memory", "trap", "traptx" or "trapgroup". */
void fixture_use_store(fixture *f, const char *scheme);

/* Makes a new job with the settings as they are, runs it to its end, and returns the status. */
pawl_status fixture_run(fixture *f);

/* The same on a thread of its own. */
void fixture_start(fixture *f);
pawl_status fixture_join(fixture *f);

/* Makes the job of the next run now. */
void fixture_make(fixture *f);

/* pawl_job_stop(), then fixture_join(). */
pawl_status fixture_stop(fixture *f);

/* Waits for `count` lines of the transcript that begin so. */
void fixture_await(fixture *f, const char *start, int count);

/* How many lines of the transcript begin so. */
int fixture_count(fixture *f, const char *start);

/* Whether a line of the log has this text in it. */
bool fixture_logged(fixture *f, const char *text);

/* Waits for such a line. */
void fixture_await_log(fixture *f, const char *text);

/* Forgets the transcript. */
void fixture_forget(fixture *f);

/* Asserts that the lines that begin with one of these words, "flush save" for instance, are exactly these. */
void fixture_expect(fixture *f, const char *words, const char *lines);

/* What the store has for a partition. Owned by the store's reader: the topic is not. */
pawl_entry fixture_stored(fixture *f, const char *topic, int partition);

/* Asserts that this offset is stored; -1: none. */
void fixture_expect_stored(fixture *f, const char *topic, int partition, int64_t offset);

/* Does to the store, as another owner: takes the partition over, and moves it to `offset` unless that is -1. */
void fixture_intrude(fixture *f, const char *topic, int partition, int64_t offset);

/* The same without a move, by an owner whose clock says so. */
void fixture_intrude_at(fixture *f, const char *topic, int partition, int64_t wall_ms);

/* What `pawl offsets import` and `delete` do, while no job runs: nobody owns the partition afterwards. */
void fixture_import(fixture *f, const char *topic, int partition, int64_t offset);
void fixture_remove(fixture *f, const char *topic, int partition);

/* For on_flush: the brokers do not tell any more where logs end. */
pawl_verdict fixture_silence_brokers(fixture *f, pawl_batch *batch, pawl_error *err);

/* Whoever owns a partition saves this offset. */
void fixture_save_as_owner(fixture *f, const char *topic, int partition, int64_t offset);

/* A deadline that is far enough for everything. */
int64_t fixture_deadline(void);

#endif
