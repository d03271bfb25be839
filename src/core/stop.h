/*
 * stop.h - asking a job to end, from anywhere
 *
 * Requests come from signal handlers, so they are an atomic and a write to an eventfd. A thread of its own turns them into
 * what the rest of the job can wait for: first FINISH, then, on a second request or when shutdown_timeout has passed,
 * LEAVE, on which it calls the job's function that cancels whatever blocks. Since it waits for nothing else, it is also the
 * one that looks whether the other threads get on.
 */
#ifndef PAWL_CORE_STOP_H
#define PAWL_CORE_STOP_H

#include <stdbool.h>
#include <stdint.h>

#include <pawl/error.h>

typedef enum pawl__stop_state {
    PAWL__STOP_RUN,
    PAWL__STOP_FINISH, /* end after the batch in hand */
    PAWL__STOP_LEAVE,  /* end now, unsaved */
} pawl__stop_state;

typedef struct pawl__stop pawl__stop;

/* The caller frees it. PAWL_FAILED: no file descriptor was to be had. */
pawl_status pawl__stop_new(int64_t shutdown_timeout_ms, pawl__stop **ret_stop, pawl_error *err);
void pawl__stop_free(pawl__stop *stop);

/* Any thread, and signal handlers. */
void pawl__stop_request(pawl__stop *stop);

/*
 * Starts the watching thread, which calls leave(user) once, when it comes to LEAVE. It also calls look(user) now and then,
 * the first time at once: this one says when it wants to be called again.
 */
pawl_status pawl__stop_watch(pawl__stop *stop, void (*leave)(void *user), int64_t (*look)(void *user), void *user,
                             pawl_error *err);

/* Ends the watching thread: after this, leave is not called any more. */
void pawl__stop_unwatch(pawl__stop *stop);

/* Any thread. */
pawl__stop_state pawl__stop_state_now(pawl__stop *stop);

/* Waits until the deadline, or until the state is no longer RUN; returns the state. */
pawl__stop_state pawl__stop_wait(pawl__stop *stop, int64_t deadline_ms);

/* Like that, and returns as well when it was nudged, now or since it was last called. */
pawl__stop_state pawl__stop_wait_for_news(pawl__stop *stop, int64_t deadline_ms);

/* Makes pawl__stop_wait_for_news() return. Any thread. */
void pawl__stop_nudge(pawl__stop *stop);

/* Waits until the deadline, or until the state is LEAVE: for what is done within shutdown_timeout. */
void pawl__stop_wait_to_leave(pawl__stop *stop, int64_t deadline_ms);

#endif
