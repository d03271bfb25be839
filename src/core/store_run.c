/*
 * store_run.c - one call of a store: its deadline, its tries, its error
 */
#include "core/store.h"

#include "util/backoff.h"
#include "util/clock.h"
#include "util/log.h"

#define FIRST_PAUSE_MS   50
#define LONGEST_PAUSE_MS 2000

static pawl_status
cancelled(pawl_error *err)
{
    return pawl_error_set(err, PAWL_CANCELLED, 0, 0, "the store was cancelled");
}

static bool
is_cancelled(pawl_store *store)
{
    bool is;

    pawl__wait_lock(&store->wait);
    is = store->cancelled;
    pawl__wait_unlock(&store->wait);
    return is;
}

pawl_status
pawl__store_run_start_commit(pawl__store_run *run, pawl_store *store, const char *group)
{
    run->store = store;
    run->tries = 0;
    run->deadline_ms = pawl__clock_ms() + store->timeout_ms;
    run->call = (pawl_store_call){.group = group, .deadline_ms = run->deadline_ms};
    pawl_error_clear(&run->error);
    return is_cancelled(store) ? cancelled(&run->error) : PAWL_OK;
}

pawl_status
pawl__store_run_start(pawl__store_run *run, pawl_store *store, const char *group)
{
    pawl_status status = pawl__store_run_start_commit(run, store, group);

    if (status == PAWL_OK && store->in_transaction)
        status = pawl_error_set(&run->error, PAWL_INVALID, 0, 0,
                                "a transaction of this store is open: save or roll back first");
    return status;
}

pawl_status
pawl__store_run_start_lines(pawl__store_run *run, pawl_store *store, const char *group, const void *lines,
                            size_t stride, size_t count)
{
    pawl_status status = pawl__store_run_start(run, store, group);

    if (status == PAWL_OK)
        status = pawl__store_check_group(group, &run->error);
    if (status == PAWL_OK)
        status = pawl__store_check_partitions(lines, stride, count, &run->error);
    return status;
}

pawl_status
pawl__store_run_require(pawl__store_run *run, unsigned capability, const char *what)
{
    const pawl_store_backend *backend = run->store->backend;

    if (backend->capabilities & capability)
        return PAWL_OK;
    return pawl_error_set(&run->error, PAWL_UNSUPPORTED, 0, 0, "a %s: store cannot %s", backend->scheme, what);
}

void
pawl__store_run_leave_time(pawl__store_run *run)
{
    int64_t now_ms = pawl__clock_ms();

    if (run->deadline_ms > now_ms)
        run->call.deadline_ms = now_ms + (run->deadline_ms - now_ms) / 4 * 3;
}

/* Waits until then, or until cancel; true when the time has come. */
static bool
pause_until(pawl_store *store, int64_t when_ms)
{
    bool is;

    pawl__wait_lock(&store->wait);
    while (!store->cancelled && pawl__wait_until(&store->wait, when_ms))
        ;
    is = store->cancelled;
    pawl__wait_unlock(&store->wait);
    return !is;
}

bool
pawl__store_run_again(pawl__store_run *run, pawl_status *status)
{
    int64_t when_ms;

    if (*status == PAWL_OK || !(run->error.flags & PAWL_ERROR_RETRIABLE))
        return false;

    run->tries++;
    when_ms = pawl__clock_ms() + pawl__backoff_ms(FIRST_PAUSE_MS, LONGEST_PAUSE_MS, run->tries, g_random_int());
    if (when_ms >= run->deadline_ms)
        return false;

    pawl__log(&run->store->log, PAWL_LOG_WARN, "store", "%s; trying again", run->error.message);
    if (!pause_until(run->store, when_ms)) {
        *status = cancelled(&run->error);
        return false;
    }
    return true;
}

pawl_status
pawl__store_run_end(pawl__store_run *run, pawl_status status, pawl_error *err)
{
    if (status != PAWL_OK && err != NULL)
        *err = run->error;
    return status;
}
