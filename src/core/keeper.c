/*
 * keeper.c - renews the owner's entry while the loop's thread cannot
 */
#include "core/keeper.h"

#include <glib.h>
#include <pthread.h>

#include "core/job.h"
#include "util/clock.h"

struct pawl__keeper {
    pawl_job *job;
    pthread_t thread;

    pawl__wait wait; /* guards what follows; held while an entry is renewed */
    bool lent;
    bool idle;          /* the thread waits until it is woken */
    pawl_error failure; /* of a renewal since the store was lent */
    bool quit;
};

/* When the next renewal is due; never while there is nothing to be done about it. With the lock held. */
static int64_t
due_ms(const pawl__keeper *keeper)
{
    if (!keeper->lent || keeper->failure.status != PAWL_OK)
        return PAWL__NEVER;
    return pawl__job_refresh_due(keeper->job);
}

static void *
keep(void *data)
{
    pawl__keeper *keeper = data;

    pawl__wait_lock(&keeper->wait);
    while (!keeper->quit) {
        int64_t next_ms = due_ms(keeper);

        if (next_ms <= pawl__clock_ms()) {
            if (pawl__job_refresh(keeper->job, &keeper->failure) == PAWL_OK)
                pawl_error_clear(&keeper->failure); /* a member may go on although it was fenced off */
            continue;
        }
        keeper->idle = next_ms == PAWL__NEVER;
        pawl__wait_until(&keeper->wait, next_ms);
        keeper->idle = false;
    }
    pawl__wait_unlock(&keeper->wait);
    return NULL;
}

pawl_status
pawl__keeper_new(pawl_job *job, pawl__keeper **ret_keeper, pawl_error *err)
{
    pawl__keeper *keeper = g_new0(pawl__keeper, 1);
    int code;

    keeper->job = job;
    pawl__wait_init(&keeper->wait);
    code = pthread_create(&keeper->thread, NULL, keep, keeper);
    if (code != 0) {
        pawl__wait_done(&keeper->wait);
        g_free(keeper);
        return pawl_error_set(err, PAWL_FAILED, 0, code, "cannot start a thread: %s", g_strerror(code));
    }
    *ret_keeper = keeper;
    return PAWL_OK;
}

void
pawl__keeper_free(pawl__keeper *keeper)
{
    if (keeper == NULL)
        return;
    pawl__wait_lock(&keeper->wait);
    keeper->quit = true;
    pawl__wait_wake(&keeper->wait);
    pawl__wait_unlock(&keeper->wait);
    pthread_join(keeper->thread, NULL);
    pawl__wait_done(&keeper->wait);
    g_free(keeper);
}

/* A thread that is not idle looks by itself when it had to before: lending is cheap, and each batch does it. */
void
pawl__keeper_lend(pawl__keeper *keeper)
{
    if (keeper == NULL)
        return;
    pawl__wait_lock(&keeper->wait);
    keeper->lent = true;
    pawl_error_clear(&keeper->failure);
    if (keeper->idle)
        pawl__wait_wake(&keeper->wait);
    pawl__wait_unlock(&keeper->wait);
}

pawl_status
pawl__keeper_take_back(pawl__keeper *keeper, pawl_error *err)
{
    pawl_status status;

    if (keeper == NULL)
        return PAWL_OK;
    pawl__wait_lock(&keeper->wait);
    keeper->lent = false;
    status = keeper->failure.status;
    if (status != PAWL_OK && err != NULL)
        *err = keeper->failure;
    pawl__wait_unlock(&keeper->wait);
    return status;
}
