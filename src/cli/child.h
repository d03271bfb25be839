/*
 * child.h - one run of a command: its standard input, its standard error, its end
 *
 * The command runs by /bin/sh in a process group of its own, with no descriptor but its standard ones, no signal blocked
 * and none ignored. When it ends, or is killed, all that is left of its group is killed with it; who wants to live on
 * calls setsid.
 *
 * Nothing here waits for more than the command's deadline, or than until `cancel_fd` is readable. Standard error is read
 * whenever there is something to wait for, so a command that writes there is never held up for good.
 */
#ifndef PAWL_CLI_CHILD_H
#define PAWL_CLI_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include <pawl/error.h>

#include "cli/chatter.h"

typedef struct pawl_child_setup {
    const char *command;
    char *const *environment;
    bool wants_input;   /* else its standard input is /dev/null */
    bool output_to_log; /* its standard output goes where its standard error goes; else it is ours */
    int64_t timeout_ms; /* 0: none */
    int cancel_fd;      /* an eventfd */
    const pawl_log *log;
    const char *who; /* for the log; copied */
} pawl_child_setup;

/* How a command ended. */
typedef enum pawl_ending {
    PAWL_ENDING_NONE,      /* it runs */
    PAWL_ENDING_EXIT,      /* with `code` */
    PAWL_ENDING_SIGNAL,    /* died of signal `code` */
    PAWL_ENDING_TIMEOUT,   /* was killed at its deadline */
    PAWL_ENDING_CANCELLED, /* was killed since cancel_fd became readable */
    PAWL_ENDING_LOST,      /* the system did not let us watch it; it was killed; `code` is errno */
} pawl_ending;

typedef struct pawl_child {
    pid_t pid;
    int pid_fd, in_fd, log_fd, cancel_fd; /* -1 where there is none; cancel_fd is borrowed */
    int64_t deadline_ms;
    pawl_ending ending;
    int code;
    char *who;
    pawl_chatter chatter;
} pawl_child;

/* Starts the command. PAWL_FAILED, and retriable where the system has no process, memory or descriptor left. */
pawl_status pawl__child_start(pawl_child *child, const pawl_child_setup *setup, pawl_error *err);

/* Writes to its standard input, as fast as it reads. Stops as soon as it does not read any more, or ends: what is left is
 * dropped, and its end is what tells. After it has ended this does nothing. */
void pawl__child_write(pawl_child *child, const char *bytes, size_t size);

/* Reads what there is on its standard error, and looks whether it has ended, without waiting. */
void pawl__child_look(pawl_child *child);

/* Closes its standard input and waits for its end. */
void pawl__child_finish(pawl_child *child);

/* Kills it, if it runs, and frees all but the struct. */
void pawl__child_done(pawl_child *child);

#endif
