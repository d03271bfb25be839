/*
 * report.c - telling others how far the batch in hand has come
 */
#include "core/job.h"

#include <glib.h>

#include "util/clock.h"

const char *
pawl_phase_name(pawl_phase phase)
{
    static const char *const names[] = {"waiting", "fetching", "processing", "processed", "flushing", "saving"};

    return (size_t) phase < G_N_ELEMENTS(names) ? names[phase] : "unknown";
}

void
pawl__job_take_in_hand(pawl_job *job, pawl_batch *batch)
{
    pawl__wait_lock(&job->stats_wait);
    job->in_hand = batch;
    pawl__wait_unlock(&job->stats_wait);
}

static void
report_range(pawl_range *range, int64_t now, pawl_report_fn fn, void *user)
{
    int64_t opened_ms = atomic_load(&range->opened_ms);
    pawl_range_report report = {
        .size = sizeof report,
        .partition = range->holding->partition,
        .from = range->from,
        .until = range->until,
        .offset = MAX(range->from, (int64_t) atomic_load(&range->handed)),
        .age_ms = opened_ms == 0 ? -1 : now - opened_ms,
        .attempt = MAX(atomic_load(&range->tries), 1),
        .phase = (pawl_phase) atomic_load(&range->phase),
    };

    if (report.phase >= PAWL_PHASE_PROCESSED)
        report.offset = range->until;
    fn(user, &report);
}

size_t
pawl_job_report(pawl_job *job, pawl_report_fn fn, void *user)
{
    int64_t now = pawl__clock_ms();
    size_t count;

    pawl__wait_lock(&job->stats_wait);
    count = job->in_hand != NULL ? job->in_hand->count : 0;
    for (size_t i = 0; i < count; i++)
        report_range(&job->in_hand->ranges[i], now, fn, user);
    pawl__wait_unlock(&job->stats_wait);
    return count;
}
