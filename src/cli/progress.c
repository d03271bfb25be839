/*
 * progress.c - how fast a job is and when it will have caught up
 */
#include "cli/progress.h"

#include <inttypes.h>

#include <glib.h>

#include "util/text.h"

/* How much of the smoothed rate a new look replaces. */
#define SMOOTHING 0.4

static void
add_range(void *user, const pawl_range_report *report)
{
    *(int64_t *) user += report->offset - report->from;
}

static void
measure(pawl_progress *progress, int64_t handled, int64_t now_ms)
{
    int64_t passed_ms = now_ms - progress->looked_ms;
    double rate;

    if (progress->looked_ms != 0 && passed_ms > 0) {
        rate = (double) MAX(handled - progress->handled, 0) * 1000 / (double) passed_ms;
        progress->rate = progress->rate == 0 ? rate : progress->rate * (1 - SMOOTHING) + rate * SMOOTHING;
    }
    progress->looked_ms = now_ms;
    progress->handled = handled;
}

static void
write_catching_up(const pawl_progress *progress, int64_t lag, char *text, size_t size)
{
    char duration[PAWL__DURATION_TEXT_SIZE];
    double seconds = progress->rate >= 1 ? (double) lag / progress->rate : -1;

    if (lag == 0)
        g_strlcpy(text, "caught up", size);
    else if (seconds < 0 || seconds > 366.0 * 24 * 60 * 60)
        g_strlcpy(text, "catching up takes for ever", size);
    else
        g_snprintf(text, size, "caught up in %s", pawl__text_from_duration(MAX((int64_t) seconds, 1) * 1000, duration));
}

const char *
pawl__progress_text(pawl_progress *progress, pawl_job *job, int64_t now_ms, char text[PAWL_PROGRESS_TEXT_SIZE])
{
    pawl_stats stats = {.size = sizeof stats};
    int64_t in_hand = 0, lag;
    char when[64];

    pawl_job_stats(job, &stats);
    pawl_job_report(job, add_range, &in_hand);
    lag = MAX(stats.lag - in_hand, 0);
    measure(progress, stats.records + in_hand, now_ms);
    progress->standby = stats.standby != 0;
    if (stats.partitions == 0) {
        g_strlcpy(text, "waiting for partitions", PAWL_PROGRESS_TEXT_SIZE);
        return text;
    }
    write_catching_up(progress, lag, when, sizeof when);
    g_snprintf(text, PAWL_PROGRESS_TEXT_SIZE, "%.0f records/s, lag %" PRId64 ", %s", progress->rate, lag, when);
    return text;
}

static void
add_member(pawl_buffer *out, const char *name, int64_t number)
{
    pawl__buffer_add_text(out, out->data[out->size - 1] == '{' ? "\"" : ",\"");
    pawl__buffer_add_text(out, name);
    pawl__buffer_add_text(out, "\":");
    pawl__buffer_add_number(out, number);
}

static void
add_json(pawl_buffer *out, const pawl_batch *batch, const pawl_stats *before, const pawl_stats *now)
{
    int64_t ms = MAX(now->plan_ms + now->process_ms + now->flush_ms + now->save_ms, 1);
    int64_t records = now->records - before->records, bytes = now->bytes - before->bytes;

    pawl__buffer_add_byte(out, '{');
    add_member(out, "batch", pawl_batch_number(batch));
    add_member(out, "ranges", now->ranges - before->ranges);
    add_member(out, "records", records);
    add_member(out, "bytes", bytes);
    add_member(out, "rejected", now->rejected - before->rejected);
    add_member(out, "skipped", now->skipped - before->skipped);
    add_member(out, "lost", now->lost - before->lost);
    add_member(out, "retries", now->retries - before->retries);
    add_member(out, "lag", now->lag);
    add_member(out, "records_per_s", records * 1000 / ms);
    add_member(out, "bytes_per_s", bytes * 1000 / ms);
    add_member(out, "plan_ms", now->plan_ms);
    add_member(out, "process_ms", now->process_ms);
    add_member(out, "flush_ms", now->flush_ms);
    add_member(out, "save_ms", now->save_ms);
    pawl__buffer_add(out, "}\n", 2);
}

void
pawl__progress_saved(pawl_progress *progress, pawl_job *job, const pawl_batch *batch, pawl_buffer *out)
{
    pawl_stats now = {.size = sizeof now};

    pawl_job_stats(job, &now);
    if (out != NULL)
        add_json(out, batch, &progress->before, &now);
    progress->before = now;
}
