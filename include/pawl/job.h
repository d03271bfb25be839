/*
 * job.h - a batch loop: a source, the user's code, and a store
 *
 *     recover  ->  plan ranges  ->  process them  ->  flush  ->  save `until` of each, atomically  ->  plan ...
 *
 * A program fills in a pawl_config and a pawl_hooks, makes a job of them, and runs it.
 */
#ifndef PAWL_JOB_H
#define PAWL_JOB_H

#include <pawl/batch.h>
#include <pawl/config.h>
#include <pawl/error.h>
#include <pawl/offsets.h>
#include <pawl/visibility.h>

PAWL_BEGIN_DECLS

typedef struct pawl_job pawl_job;

/* What a hook says of the work it was given. */
typedef enum pawl_verdict {
    PAWL_DONE,
    PAWL_RETRY, /* the same range (for flush: the same batch) again after a back-off, up to max_retries times */
    PAWL_STOP,  /* the job ends; nothing of this batch is saved */
} pawl_verdict;

/* A partition that the job is about to read, as on_open sees it. */
typedef struct pawl_opening {
    pawl_partition partition; /* borrowed until on_open returns */
    pawl_position stored;     /* what the store holds; absent when the job has never saved here */
    pawl_position position;   /* where the job will start; a sink that keeps its own offsets may change it */
} pawl_opening;

/*
 * The user's code. Any of them may be NULL. `user` comes back as the first argument of each. An error that a hook writes
 * is logged, with the range's coordinates where there is a range; `err` is never NULL.
 *
 * Threads: on_open, flush and on_close run on the thread that called pawl_job_run(). thread_init, range_begin, process,
 * range_end and thread_exit run on `parallelism` worker threads: for one range never two at once, and always in that
 * order; for different ranges at the same time when parallelism is more than 1.
 */
typedef struct pawl_hooks {
    size_t size; /* sizeof(pawl_hooks) of the program: later versions add hooks at the end */
    void *user;

    /* Partitions are about to be read. PAWL_RETRY is the same as PAWL_STOP here, and in thread_init. */
    pawl_verdict (*on_open)(void *user, pawl_opening *openings, size_t count, pawl_error *err);

    /* A worker thread starts; what it puts into *ret_thread is pawl_range_thread() on that thread. One connection a
     * worker, for instance. */
    pawl_verdict (*thread_init)(void *user, void **ret_thread, pawl_error *err);
    void (*thread_exit)(void *user, void *thread);

    /* A range is opened. Not called for a range that turns out to have no records: it is called before the first. */
    pawl_verdict (*range_begin)(void *user, pawl_range *range, pawl_error *err);

    /* The next records of a range, in ascending order of their offsets, count > 0. Borrowed until it returns. */
    pawl_verdict (*process)(void *user, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err);

    /* All records of a range were processed. Called where range_begin was. */
    pawl_verdict (*range_end)(void *user, pawl_range *range, pawl_error *err);

    /*
     * All ranges of the batch are processed, and their offsets are saved as soon as this says PAWL_DONE: make the
     * results safe. May be called again for the same batch, after a retry or when the store lost the transaction.
     *
     * The owner's entry is renewed meanwhile, but not inside the transaction of a store that has them: there a flush has to
     * be shorter than the takeover = idle:DURATION of any other job, or that job takes the partitions over.
     */
    pawl_verdict (*flush)(void *user, pawl_batch *batch, pawl_error *err);

    /* These partitions are no longer read. Nothing of them that was not flushed will ever be saved. */
    void (*on_close)(void *user, const pawl_partition *partitions, size_t count);

    /* The batch is saved, and pawl_job_stats() counts it. On the thread of flush. For telling others; it cannot fail. */
    void (*on_saved)(void *user, const pawl_batch *batch);
} pawl_hooks;

/*
 * What a job has done since it was made: the counters from `batches` to `lost` only grow; the rest is as it is now, or was
 * in the last batch. `size` as in pawl_hooks.
 */
typedef struct pawl_stats {
    size_t size;
    int64_t batches;    /* saved */
    int64_t ranges;     /* that were read for them */
    int64_t records;    /* handed to process, those of saved batches */
    int64_t bytes;      /* keys and values of these */
    int64_t retries;    /* of ranges and of flushes */
    int64_t rejected;   /* records: pawl_range_reject() */
    int64_t skipped;    /* offsets: on_error = skip */
    int64_t lost;       /* offsets: on_data_loss moved over them */
    int64_t partitions; /* held now */
    int64_t lag;        /* offsets between what is stored now and the end, as it was when the last batch was planned */
    int64_t plan_ms;    /* of the last batch: finding the ends and cutting the ranges */
    int64_t process_ms; /* of the last batch: fetching and processing */
    int64_t flush_ms;   /* of the last batch: the flush function */
    int64_t save_ms;    /* of the last batch: the store */
    int64_t standby;    /* 1: the group has assigned nothing to this member of it; else 0 */
} pawl_stats;

/*
 * Makes a job from a copy of the configuration and of the hooks. Nothing is connected yet.
 * PAWL_INVALID: a setting is wrong, or no store or module for the URL's scheme was found. The caller frees the job.
 */
PAWL_API pawl_status pawl_job_new(const pawl_config *config, const pawl_hooks *hooks, pawl_job **ret_job,
                                  pawl_error *err);

/*
 * Runs the job on this thread and on workers of its own until its trigger is exhausted, it is told to stop, or
 * something fails. Once per job. When it returns, all its threads have ended, and what was not saved never will be.
 *
 * PAWL_OK: the trigger is exhausted, or a stop was obeyed with everything saved. PAWL_CANCELLED: told to stop at once;
 * a batch in hand was left unsaved, unless the message says that it was being saved. PAWL_FENCED, PAWL_CONFLICT: another
 * process owns or moved the offsets; do not restart blindly. PAWL_DATA_LOSS: see on_data_loss. PAWL_UNREACHABLE,
 * PAWL_TIMEOUT: a server; PAWL_STALLED: no progress for stall_timeout, or a batch beyond batch_timeout; starting again is
 * safe. PAWL_OUTCOME_UNKNOWN: starting again is safe, the store is read first.
 */
PAWL_API pawl_status pawl_job_run(pawl_job *job, pawl_error *err);

/*
 * Asks a running job to end. The first time: the batch in hand is finished and saved if that takes no longer than
 * shutdown_timeout. The second time: it is left unsaved, at once. While the store is being opened, which takes no longer
 * than store_timeout, or thread_init runs, either waits for that. Any thread, any time; async-signal-safe.
 */
PAWL_API void pawl_job_stop(pawl_job *job);

/* Copies the counters as they are now. Any thread. ret_stats->size has to be set. */
PAWL_API void pawl_job_stats(pawl_job *job, pawl_stats *ret_stats);

/* How far a range in hand has come. */
typedef enum pawl_phase {
    PAWL_PHASE_WAITING,    /* not opened yet, or to be tried again later */
    PAWL_PHASE_FETCHING,   /* open, and the next records are awaited */
    PAWL_PHASE_PROCESSING, /* in one of the hooks of a range */
    PAWL_PHASE_PROCESSED,  /* through; other ranges of the batch are not */
    PAWL_PHASE_FLUSHING,   /* in flush */
    PAWL_PHASE_SAVING,     /* in the store */
} pawl_phase;

/* The phase as a word: "waiting", "fetching" ...; a static string. */
PAWL_API const char *pawl_phase_name(pawl_phase phase);

/* What is told of a range in hand. `size` tells how much of the struct is there. */
typedef struct pawl_range_report {
    size_t size;
    pawl_partition partition; /* borrowed until the function returns */
    int64_t from, until;
    int64_t offset; /* the next one to be handed to process */
    int64_t age_ms; /* since the range was opened in this attempt; -1: it is not */
    int attempt;
    pawl_phase phase;
    const char *hook; /* the hook that has it, "process" for instance; a static string; NULL: none does */
    int64_t hook_ms;  /* since that was called */
} pawl_range_report;

typedef void (*pawl_report_fn)(void *user, const pawl_range_report *report);

/*
 * Calls fn for each range of the batch in hand and returns how many there are; 0 between batches. Any thread but those
 * that a hook runs on; not async-signal-safe. The end of the batch waits meanwhile, so fn is to be quick.
 */
PAWL_API size_t pawl_job_report(pawl_job *job, pawl_report_fn fn, void *user);

/* What is found of a partition before a run. `size` as in pawl_range_report. */
typedef struct pawl_preview {
    size_t size;
    pawl_partition partition; /* borrowed until the function returns */
    pawl_position stored;     /* what the store holds */
    int64_t position;         /* where the job would start; hooks are not asked */
    int64_t low, high;        /* the bounds of the log */
    int64_t from, until;      /* the first range; both are the position when there is none */
    bool lost;                /* the position lies outside of the log: on_data_loss would decide */
    const char *owner_host;   /* who owns the partition now, "" for nobody; borrowed likewise */
    int64_t owner_pid;
} pawl_preview;

typedef void (*pawl_preview_fn)(void *user, const pawl_preview *preview);

/*
 * Finds out what pawl_job_run() would do first, and calls fn for each partition, ordered by topic and number. Nothing is
 * written, neither to the store nor to Kafka, and no hook is called. In place of pawl_job_run(), once per job.
 *
 * PAWL_INVALID: the job has run. Else as pawl_job_run(), but for a position that the log does not hold, which is told.
 */
PAWL_API pawl_status pawl_job_preview(pawl_job *job, pawl_preview_fn fn, void *user, pawl_error *err);

/* Frees a job that does not run. NULL is fine. */
PAWL_API void pawl_job_free(pawl_job *job);

PAWL_END_DECLS

#endif
