/*
 * telling.c - what a job logs of itself: its start, each batch, and its end
 */
#include "core/job.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include <pawl/version.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"
#include "util/url.h"

/* The first of these settings that is set, as "NAME VALUE": one of the three always is. The caller frees it. */
static char *
selection_text(const pawl_job *job)
{
    static const char *const names[] = {"topics", "topics_pattern", "partitions"};

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (pawl_config_get(job->config, names[i]) != NULL)
            return g_strdup_printf("%s %s", names[i], pawl_config_get(job->config, names[i]));
    return g_strdup("nothing");
}

void
pawl__job_tell_start(pawl_job *job)
{
    char *selection = selection_text(job);
    pawl__url store;

    pawl__url_parse(job->settings.store, &store, NULL);
    pawl__log(&job->log, PAWL_LOG_INFO, "job", "start: group %s, %s, store %s, trigger %s, pawl %s",
              job->settings.group, selection, store.masked, pawl_config_get(job->config, "trigger"), pawl_version());
    pawl__url_done(&store);
    g_free(selection);
}

void
pawl__job_tell_saved(pawl_job *job, const pawl_save_line *line)
{
    char place[512], expected[PAWL_POSITION_TEXT_SIZE];

    if (!pawl__log_takes(&job->log, PAWL_LOG_INFO))
        return;
    pawl__log(&job->log, PAWL_LOG_INFO, "job", "saved %s [%" PRId32 "]: %s -> %" PRId64 " in %s", line->partition.topic,
              line->partition.number, pawl_position_text(line->expected, expected), line->until,
              pawl_store_place(job->store, job->settings.group, line->partition, place, sizeof place));
}

void
pawl__job_tell_batch(pawl_job *job, const pawl_batch *batch)
{
    char size[PAWL__SIZE_TEXT_SIZE], plan[PAWL__DURATION_TEXT_SIZE], process[PAWL__DURATION_TEXT_SIZE],
        flush[PAWL__DURATION_TEXT_SIZE], save[PAWL__DURATION_TEXT_SIZE];
    int64_t records = 0, bytes = 0;

    if (!pawl__log_takes(&job->log, PAWL_LOG_INFO) || pawl__batch_is_void(batch))
        return;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->ranges[i].state == PAWL__RANGE_DONE) {
            records += batch->ranges[i].records;
            bytes += batch->ranges[i].bytes;
        }
    pawl__log(
        &job->log, PAWL_LOG_INFO, "job",
        "batch %" PRId64 ": ranges %zu, records %" PRId64 " (%s), lag %" PRId64
        "; plan %s, process %s, flush %s, save %s",
        batch->number, batch->count, records, pawl__text_about_size(bytes, size), pawl__job_lag(job),
        pawl__text_about_duration(job->stats.plan_ms, plan), pawl__text_about_duration(job->stats.process_ms, process),
        pawl__text_about_duration(job->stats.flush_ms, flush), pawl__text_about_duration(job->stats.save_ms, save));
}

/* What the job went on without, because a setting or the program said so: nobody should have to add it up. */
static void
tell_left_out(pawl_job *job)
{
    const pawl_stats *stats = &job->stats;
    GString *text = g_string_new(NULL);

    if (stats->skipped > 0)
        g_string_append_printf(text, ", offsets skipped %" PRId64 " (on_error = skip)", stats->skipped);
    if (stats->rejected > 0)
        g_string_append_printf(text, ", records rejected %" PRId64, stats->rejected);
    if (stats->lost > 0)
        g_string_append_printf(text, ", offsets lost %" PRId64 " (on_data_loss = %s)", stats->lost,
                               pawl_config_get(job->config, "on_data_loss"));
    if (text->len > 0)
        pawl__log(&job->log, PAWL_LOG_WARN, "job", "left out: %s", text->str + strlen(", "));
    g_string_free(text, TRUE);
}

/* Why the job ends. The caller frees it. */
static char *
reason_text(pawl_job *job, pawl_status status)
{
    if (status != PAWL_OK)
        return g_strdup(pawl_status_name(status));
    if (pawl__stop_state_now(job->stop) != PAWL__STOP_RUN)
        return g_strdup("told to stop");
    return g_strdup_printf("trigger %s is exhausted", pawl_config_get(job->config, "trigger"));
}

void
pawl__job_tell_end(pawl_job *job, pawl_status status, int64_t started_ms)
{
    char size[PAWL__SIZE_TEXT_SIZE], duration[PAWL__DURATION_TEXT_SIZE];
    char *reason = reason_text(job, status);

    tell_left_out(job);
    pawl__log(&job->log, PAWL_LOG_INFO, "job", "end: %s; batches %" PRId64 ", records %" PRId64 " (%s), in %s", reason,
              job->stats.batches, job->stats.records, pawl__text_about_size(job->stats.bytes, size),
              pawl__text_about_duration(pawl__clock_ms() - started_ms, duration));
    g_free(reason);
}
