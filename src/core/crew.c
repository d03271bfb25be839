/*
 * crew.c - the worker threads
 */
#include "core/crew.h"

#include <glib.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/worker.h"
#include "util/clock.h"

/* Largest first: the classic order for sharing out work of known sizes. */
static int
larger_first(const void *a, const void *b)
{
    const pawl_range *left = *(pawl_range *const *) a, *right = *(pawl_range *const *) b;
    int64_t left_size = left->until - left->from, right_size = right->until - right->from;

    return (left_size < right_size) - (left_size > right_size);
}

/* Gives each range to the worker that has the least so far. With the lock held. */
static void
share_out(pawl__crew *crew, pawl_batch *batch)
{
    pawl_range **sorted = g_new(pawl_range *, batch->count);
    size_t count = 0;

    for (int w = 0; w < crew->size; w++) {
        g_ptr_array_set_size(crew->workers[w].unopened, 0);
        g_ptr_array_set_size(crew->workers[w].opened, 0);
        crew->workers[w].share = 0;
    }
    for (size_t i = 0; i < batch->count; i++)
        if (batch->ranges[i].state == PAWL__RANGE_WAITING)
            sorted[count++] = &batch->ranges[i];
    qsort(sorted, count, sizeof *sorted, larger_first);
    for (size_t i = 0; i < count; i++) {
        pawl__worker *least = &crew->workers[0];

        for (int w = 1; w < crew->size; w++)
            if (crew->workers[w].share < least->share)
                least = &crew->workers[w];
        least->share += sorted[i]->until - sorted[i]->from;
        g_ptr_array_add(least->unopened, sorted[i]);
    }
    g_free(sorted);
}

/* How many ranges a worker may have open at once: its part of open_ranges, which may be nothing. */
static size_t
quota(const pawl__crew *crew, int index)
{
    int64_t open_ranges = crew->settings->open_ranges;

    if (open_ranges == 0)
        return SIZE_MAX;
    return (size_t) (open_ranges / crew->size + (index < open_ranges % crew->size));
}

void
pawl__crew_start(pawl__crew *crew, pawl_batch *batch)
{
    pawl__wait_lock(&crew->wait);
    pawl_error_clear(&crew->failure);
    share_out(crew, batch);
    crew->busy = crew->size;
    crew->turn++;
    pawl__wait_wake(&crew->wait);
    pawl__wait_unlock(&crew->wait);
}

bool
pawl__crew_wait(pawl__crew *crew, int64_t deadline_ms)
{
    bool through;

    pawl__wait_lock(&crew->wait);
    while (crew->busy > 0 && !crew->nudged && pawl__wait_until(&crew->wait, deadline_ms))
        continue;
    crew->nudged = false;
    through = crew->busy == 0;
    pawl__wait_unlock(&crew->wait);
    return through;
}

pawl_status
pawl__crew_result(pawl__crew *crew, pawl_error *err)
{
    pawl_status status;

    pawl__wait_lock(&crew->wait);
    status = crew->failure.status;
    if (status != PAWL_OK && err != NULL)
        *err = crew->failure;
    pawl__wait_unlock(&crew->wait);
    return status;
}

void
pawl__crew_nudge(pawl__crew *crew)
{
    pawl__wait_lock(&crew->wait);
    crew->nudged = true;
    pawl__wait_wake(&crew->wait);
    pawl__wait_unlock(&crew->wait);
}

void
pawl__crew_drop_ranges(pawl__crew *crew)
{
    atomic_fetch_add(&crew->drops, 1);
    crew->source->api->wake(crew->source->self);
}

void
pawl__crew_drop(pawl__crew *crew)
{
    pawl__worker_fail(&crew->workers[0], PAWL_CANCELLED, "the batch was dropped");
}

void
pawl__crew_abandon(pawl__crew *crew)
{
    atomic_store(&crew->abandoned, true);
    crew->source->api->wake(crew->source->self);
}

/* ------------------------------------------------------------------------------------------------------- threads -- */

/* Waits for the next batch; false when the crew is sent home. */
static bool
await_turn(pawl__worker *worker, unsigned *turn)
{
    pawl__crew *crew = worker->crew;
    bool go;

    pawl__wait_lock(&crew->wait);
    while (crew->turn == *turn && !crew->quit)
        pawl__wait_until(&crew->wait, PAWL__NEVER);
    *turn = crew->turn;
    go = !crew->quit;
    pawl__wait_unlock(&crew->wait);
    return go;
}

static void
report_idle(pawl__crew *crew)
{
    pawl__wait_lock(&crew->wait);
    crew->busy--;
    pawl__wait_wake(&crew->wait);
    pawl__wait_unlock(&crew->wait);
}

static bool
init_thread(pawl__worker *worker)
{
    const pawl_hooks *hooks = worker->crew->hooks;
    pawl_verdict verdict = PAWL_DONE;
    pawl_error err = {0};
    char *why;

    if (hooks->thread_init != NULL)
        verdict = hooks->thread_init(hooks->user, &worker->thread_data, &err);
    if (verdict == PAWL_DONE)
        return true;
    why = pawl__refusal_text("thread_init", verdict, &err);
    pawl__worker_fail(worker, err.status != PAWL_OK ? err.status : PAWL_FAILED, "%s", why);
    g_free(why);
    return false;
}

static void *
worker_main(void *data)
{
    pawl__worker *worker = data;
    pawl__crew *crew = worker->crew;
    bool ready = init_thread(worker);
    unsigned turn = 0;

    report_idle(crew);
    while (await_turn(worker, &turn)) {
        pawl__worker_run(worker);
        report_idle(crew);
    }
    if (ready && crew->hooks->thread_exit != NULL)
        crew->hooks->thread_exit(crew->hooks->user, worker->thread_data);
    return NULL;
}

static void
start_worker(pawl__crew *crew, int index)
{
    pawl__worker *worker = &crew->workers[index];
    int code;

    worker->crew = crew;
    worker->lane = crew->source->api->lane(crew->source->self, index);
    worker->unopened = g_ptr_array_new();
    worker->opened = g_ptr_array_new();
    worker->waiting = g_ptr_array_new();
    worker->quota = quota(crew, index);
    code = pthread_create(&worker->pthread, NULL, worker_main, worker);
    worker->started = code == 0;
    if (!worker->started) {
        pawl__worker_fail(worker, PAWL_FAILED, "cannot start worker thread %d: %s", index, g_strerror(code));
        report_idle(crew);
    }
}

pawl_status
pawl__crew_new(const pawl__source *source, const pawl_hooks *hooks, const pawl__settings *settings, const pawl_log *log,
               pawl__crew_counts *counts, pawl__crew **ret_crew, pawl_error *err)
{
    pawl__crew *crew = g_new0(pawl__crew, 1);
    pawl_status status;

    crew->source = source;
    crew->hooks = hooks;
    crew->settings = settings;
    crew->log = log;
    crew->counts = counts;
    crew->size = (int) settings->parallelism;
    crew->workers = g_new0(pawl__worker, crew->size);
    crew->busy = crew->size;
    pawl__wait_init(&crew->wait);
    for (int w = 0; w < crew->size; w++)
        start_worker(crew, w);
    pawl__crew_wait(crew, PAWL__NEVER);
    status = pawl__crew_result(crew, err);
    if (status != PAWL_OK)
        pawl__crew_free(crew);
    else
        *ret_crew = crew;
    return status;
}

void
pawl__crew_free(pawl__crew *crew)
{
    if (crew == NULL)
        return;
    pawl__wait_lock(&crew->wait);
    crew->quit = true;
    pawl__wait_wake(&crew->wait);
    pawl__wait_unlock(&crew->wait);
    for (int w = 0; w < crew->size; w++) {
        if (crew->workers[w].started)
            pthread_join(crew->workers[w].pthread, NULL);
        g_ptr_array_unref(crew->workers[w].unopened);
        g_ptr_array_unref(crew->workers[w].opened);
        g_ptr_array_unref(crew->workers[w].waiting);
    }
    pawl__wait_done(&crew->wait);
    g_free(crew->workers);
    g_free(crew);
}
