/*
 * starts.c - where to start in a partition that has nothing stored
 */
#include "core/job.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

/* How often bounds that are not known yet are asked again: a leader may take a moment after its topic was made. */
#define BOUNDS_RETRY_MS 50

pawl_status
pawl__job_bounds(pawl_job *job, pawl_bounds_line *lines, size_t count, pawl_error *err)
{
    int64_t deadline_ms = pawl__job_source_deadline(job);

    for (;;) {
        const pawl_bounds_line *unknown = NULL;
        pawl_status status, kept;

        pawl__keeper_lend(job->keeper);
        status = job->source.api->bounds(job->source.self, deadline_ms, lines, count, err);
        kept = pawl__keeper_take_back(job->keeper, err);
        if (kept != PAWL_OK)
            return kept;
        for (size_t i = 0; status == PAWL_OK && i < count; i++)
            if (lines[i].ret_status != PAWL_OK)
                unknown = &lines[i];
        if (status != PAWL_OK || unknown == NULL)
            return status;
        if (job->recovered || pawl__clock_ms() >= deadline_ms)
            return pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, 0,
                                  "%s [%" PRId32 "]: nobody tells where its log begins and ends: %s",
                                  unknown->partition.topic, unknown->partition.number,
                                  unknown->ret_why != NULL ? unknown->ret_why : "is it without a leader?");
        if (!pawl__job_wait(job, pawl__clock_ms() + BOUNDS_RETRY_MS))
            return pawl__job_broken_off(job, err);
    }
}

/* Whether another partition of the same topic has an offset: then this one has appeared since. */
static bool
has_stored_sibling(const pawl_entry *entries, size_t count, const char *topic)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i].offset.known && strcmp(entries[i].partition.topic, topic) == 0)
            return true;
    return false;
}

/* The offset that start = LIST gives for a partition, or NULL. */
static const pawl__settings_place *
listed(const pawl__settings *settings, pawl_partition partition)
{
    for (size_t i = 0; i < settings->start_offset_count; i++)
        if (settings->start_offsets[i].partition == partition.number &&
            strcmp(settings->start_offsets[i].topic, partition.topic) == 0)
            return &settings->start_offsets[i];
    return NULL;
}

static pawl_status
start_from_list(const pawl__settings *settings, const pawl_bounds_line *bounds, int64_t *ret_offset, pawl_error *err)
{
    const pawl__settings_place *place = listed(settings, bounds->partition);

    if (place == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "start: %s [%" PRId32 "] has nothing stored and is not in the list of offsets",
                              bounds->partition.topic, bounds->partition.number);
    if (place->offset < bounds->ret_low || place->offset > bounds->ret_high)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "start: offset %" PRId64 " of %s [%" PRId32
                              "] is outside of its log, which goes from %" PRId64 " to %" PRId64,
                              place->offset, bounds->partition.topic, bounds->partition.number, bounds->ret_low,
                              bounds->ret_high);
    *ret_offset = place->offset;
    return PAWL_OK;
}

static int64_t
start_from_time(pawl_job *job, const pawl_time_line *line)
{
    char text[PAWL__TIME_TEXT_SIZE];

    if (line->ret_none_after)
        pawl__log(&job->log, PAWL_LOG_WARN, "job", "%s [%" PRId32 "] has no record at or after %s: starting at its end",
                  line->partition.topic, line->partition.number,
                  pawl__text_from_time(job->settings.start_time_ms, text));
    return line->ret_offset;
}

/* What the setting says for a partition that has nothing stored and is not new. */
static pawl_status
start_from_setting(pawl_job *job, const pawl_bounds_line *bounds, const pawl_time_line *time, int64_t *ret_offset,
                   pawl_error *err)
{
    switch (job->settings.start) {
    case PAWL__START_EARLIEST:
        *ret_offset = bounds->ret_low;
        return PAWL_OK;
    case PAWL__START_LATEST:
        *ret_offset = bounds->ret_high;
        return PAWL_OK;
    case PAWL__START_TIME:
        *ret_offset = start_from_time(job, time);
        return PAWL_OK;
    case PAWL__START_OFFSETS:
        return start_from_list(&job->settings, bounds, ret_offset, err);
    case PAWL__START_NONE:
        break;
    }
    return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s [%" PRId32 "] has no stored offset, and start = none",
                          bounds->partition.topic, bounds->partition.number);
}

/* Whether a partition that has nothing stored is new, so that all of it has to be read whatever `start` says in general. */
static bool
is_new(const pawl_job *job, const pawl_entry *entries, size_t count, pawl_partition partition)
{
    if (pawl__job_is_member(job))
        return listed(&job->settings, partition) == NULL && pawl__job_is_new(job, partition);
    if (job->recovered)
        return true;
    return listed(&job->settings, partition) == NULL && has_stored_sibling(entries, count, partition.topic);
}

static void
log_start(pawl_job *job, const pawl_bounds_line *bounds, int64_t offset)
{
    char place[512];

    if (!pawl__log_takes(&job->log, PAWL_LOG_INFO))
        return;
    pawl__log(&job->log, PAWL_LOG_INFO, "job",
              "read  %s [%" PRId32 "]: nothing, starting at %" PRId64 " of %" PRId64 "..%" PRId64 ", in %s",
              bounds->partition.topic, bounds->partition.number, offset, bounds->ret_low, bounds->ret_high,
              pawl_store_place(job->store, job->settings.group, bounds->partition, place, sizeof place));
}

static pawl_status
resolve_absent(pawl_job *job, const pawl_entry *entries, size_t count, const pawl_bounds_line *bounds,
               const pawl_time_line *times, size_t absent, pawl_position *ret_initial, pawl_error *err)
{
    size_t next = 0;

    for (size_t i = 0; i < count && next < absent; i++) {
        const pawl_bounds_line *line = &bounds[next];
        pawl_status status = PAWL_OK;
        int64_t offset = line->ret_low;

        if (entries[i].offset.known)
            continue;
        if (!is_new(job, entries, count, line->partition))
            status = start_from_setting(job, line, &times[next], &offset, err);
        next++;
        if (status != PAWL_OK)
            return status;
        ret_initial[i] = pawl_position_at(offset);
        log_start(job, line, offset);
    }
    return PAWL_OK;
}

/* start = TIME: the offsets of all these partitions, in one question. */
static pawl_status
ask_times(pawl_job *job, const pawl_bounds_line *bounds, pawl_time_line *times, size_t count, pawl_error *err)
{
    if (job->settings.start != PAWL__START_TIME || (job->recovered && !pawl__job_is_member(job)) || count == 0)
        return PAWL_OK;
    for (size_t i = 0; i < count; i++)
        times[i].partition = bounds[i].partition;
    return job->source.api->at_time(job->source.self, pawl__job_source_deadline(job), job->settings.start_time_ms,
                                    times, count, err);
}

pawl_status
pawl__job_resolve_starts(pawl_job *job, const pawl_entry *entries, size_t count, pawl_position *ret_initial,
                         pawl_error *err)
{
    pawl_bounds_line *bounds = g_new0(pawl_bounds_line, count);
    pawl_time_line *times = g_new0(pawl_time_line, count);
    size_t absent = 0;
    pawl_status status = PAWL_OK;

    for (size_t i = 0; i < count; i++) {
        ret_initial[i] = pawl_position_absent();
        if (!entries[i].offset.known)
            bounds[absent++].partition = entries[i].partition;
    }
    if (absent > 0)
        status = pawl__job_bounds(job, bounds, absent, err);
    if (status == PAWL_OK)
        status = ask_times(job, bounds, times, absent, err);
    if (status == PAWL_OK)
        status = resolve_absent(job, entries, count, bounds, times, absent, ret_initial, err);
    g_free(bounds);
    g_free(times);
    return status;
}
