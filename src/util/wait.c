/*
 * wait.c - waiting for an event with a deadline
 */
#include "util/wait.h"

#include <errno.h>
#include <time.h>

void
pawl__wait_init(pawl__wait *wait)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&wait->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&wait->condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

void
pawl__wait_done(pawl__wait *wait)
{
    pthread_cond_destroy(&wait->condition);
    pthread_mutex_destroy(&wait->mutex);
}

void
pawl__wait_lock(pawl__wait *wait)
{
    pthread_mutex_lock(&wait->mutex);
}

void
pawl__wait_unlock(pawl__wait *wait)
{
    pthread_mutex_unlock(&wait->mutex);
}

void
pawl__wait_wake(pawl__wait *wait)
{
    pthread_cond_broadcast(&wait->condition);
}

bool
pawl__wait_until(pawl__wait *wait, int64_t deadline_ms)
{
    struct timespec deadline = {.tv_sec = (time_t) (deadline_ms / 1000), .tv_nsec = deadline_ms % 1000 * 1000000};

    if (deadline_ms == PAWL__NEVER)
        return pthread_cond_wait(&wait->condition, &wait->mutex) == 0;
    return pthread_cond_timedwait(&wait->condition, &wait->mutex, &deadline) != ETIMEDOUT;
}
