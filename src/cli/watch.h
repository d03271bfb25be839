/*
 * watch.h - the thread of a running job that takes signals and shows progress
 *
 *     SIGTERM, SIGINT, SIGHUP    the first: finish and save the batch in hand; the second: leave it, at once
 *     SIGUSR1                    phase, offset and age of every range in hand, to the log
 */
#ifndef PAWL_CLI_WATCH_H
#define PAWL_CLI_WATCH_H

#include <pthread.h>
#include <stdbool.h>

#include <pawl/job.h>

#include "cli/exec.h"
#include "cli/progress.h"
#include "cli/sink.h"

typedef struct pawl_watch {
    pawl_job *job;
    pawl_exec *exec; /* NULL: there is none */
    pawl_sink *sink;
    pawl_progress *progress; /* NULL: nobody looks at it */
    bool on_terminal;        /* it is shown there; the service manager is told in any case */
    int64_t shutdown_timeout_ms;

    pthread_t thread;
    int signal_fd, quit_fd;
    int stops;        /* signals that tell to stop, so far */
    int64_t abort_ms; /* when commands are killed that have not ended by then */
} pawl_watch;

/* Blocks the signals that the watch takes, and ignores SIGPIPE. To be called while there is one thread. */
void pawl__watch_block(void);

/* Starts the thread. The first six members are filled in; all are borrowed until pawl__watch_stop(). */
pawl_status pawl__watch_start(pawl_watch *watch, pawl_error *err);
void pawl__watch_stop(pawl_watch *watch);

#endif
