/*
 * wait.h - waiting for an event with a deadline
 *
 * A mutex and a condition on the monotonic clock. pthreads rather than GLib: ThreadSanitizer understands them.
 */
#ifndef PAWL_UTIL_WAIT_H
#define PAWL_UTIL_WAIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct pawl__wait {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
} pawl__wait;

/* A deadline that never comes. */
#define PAWL__NEVER INT64_MAX

void pawl__wait_init(pawl__wait *wait);
void pawl__wait_done(pawl__wait *wait);

void pawl__wait_lock(pawl__wait *wait);
void pawl__wait_unlock(pawl__wait *wait);

/* With the lock held: wakes everybody who waits. */
void pawl__wait_wake(pawl__wait *wait);

/* With the lock held: waits for a wake. False when the deadline (pawl__clock_ms()) passed first. */
bool pawl__wait_until(pawl__wait *wait, int64_t deadline_ms);

#endif
