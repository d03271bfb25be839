/*
 * report.c - telling others how far the batch in hand has come
 */
#include "core/job.h"

#include <glib.h>
#include <inttypes.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

/* How often hooks that hang are looked for, as a part of stall_timeout, and at the longest. */
#define HUNG_LOOKS   4
#define HUNG_LOOK_MS 5000

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
report_range(pawl_range *range, pawl__call *flush, int64_t now, pawl_report_fn fn, void *user)
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
    report.hook = pawl__call_running(report.phase == PAWL_PHASE_FLUSHING ? flush : &range->call, now, &report.hook_ms);
    fn(user, &report);
}

static size_t
report_at(pawl_job *job, int64_t now, pawl_report_fn fn, void *user)
{
    size_t count;

    pawl__wait_lock(&job->stats_wait);
    count = job->in_hand != NULL ? job->in_hand->count : 0;
    for (size_t i = 0; i < count; i++)
        report_range(&job->in_hand->ranges[i], &job->call, now, fn, user);
    pawl__wait_unlock(&job->stats_wait);
    return count;
}

size_t
pawl_job_report(pawl_job *job, pawl_report_fn fn, void *user)
{
    return report_at(job, pawl__clock_ms(), fn, user);
}

/* ----------------------------------------------------------------------------------------------------- hung hooks -- */

/* One look for hooks that hang. */
struct look {
    const pawl_job *job;
    int64_t now, since_last_ms;
};

static bool
is_overdue(const struct look *look, const char *hook, int64_t running_ms)
{
    return hook != NULL && pawl__call_is_overdue(running_ms, look->since_last_ms, look->job->settings.stall_timeout_ms);
}

static void
warn_of_range(void *user, const pawl_range_report *report)
{
    const struct look *look = user;
    char duration[PAWL__DURATION_TEXT_SIZE];

    if (report->phase == PAWL_PHASE_FLUSHING || !is_overdue(look, report->hook, report->hook_ms))
        return;
    pawl__log(&look->job->log, PAWL_LOG_WARN, "job",
              "%s [%" PRId32 "] at offset %" PRId64 ": %s has not returned for %s (range %" PRId64 "..%" PRId64
              ", attempt %d)",
              report->partition.topic, report->partition.number, report->offset, report->hook,
              pawl__text_about_duration(report->hook_ms, duration), report->from, report->until, report->attempt);
}

/* flush and the other hooks that have no range. */
static void
warn_of_call(const struct look *look, pawl__call *call)
{
    char duration[PAWL__DURATION_TEXT_SIZE];
    int64_t running_ms;
    const char *hook = pawl__call_running(call, look->now, &running_ms);

    if (!is_overdue(look, hook, running_ms))
        return;
    pawl__log(&look->job->log, PAWL_LOG_WARN, "job", "%s has not returned for %s", hook,
              pawl__text_about_duration(running_ms, duration));
}

int64_t
pawl__job_warn_of_hung(void *user)
{
    pawl_job *job = user;
    int64_t now = pawl__clock_ms();
    struct look look = {job, now, now - job->hung_looked_ms};

    report_at(job, now, warn_of_range, &look);
    warn_of_call(&look, &job->call);
    job->hung_looked_ms = now;
    return now + MIN(job->settings.stall_timeout_ms / HUNG_LOOKS, HUNG_LOOK_MS);
}
