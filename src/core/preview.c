/*
 * preview.c - what a run would do first, found out without writing anything
 *
 *     find partitions  ->  load  ->  resolve starts  ->  ask bounds  ->  cut ranges
 */
#include "core/job.h"

#include <glib.h>
#include <inttypes.h>

/* All partitions, and what was found of each. */
struct preview {
    const pawl_partition *partitions;
    size_t count;
    pawl_entry *entries;
    pawl_position *initial; /* of those with nothing stored */
    pawl_bounds_line *bounds;
    pawl__plan_line *lines;
};

/* Who is told. */
struct listener {
    pawl_preview_fn fn;
    void *user;
};

static pawl_status
load(pawl_job *job, struct preview *preview, pawl_error *err)
{
    pawl_group_info group;
    pawl_status status = pawl_store_load(job->store, job->settings.group, preview->partitions, preview->count,
                                         preview->entries, &group, err);

    if (status == PAWL_OK)
        status = pawl__job_check_cluster(job, group.cluster, err);
    if (status == PAWL_OK && pawl__job_is_member(job))
        pawl__job_note_start(job, preview->entries, preview->count);
    if (status == PAWL_OK)
        status = pawl__job_resolve_starts(job, preview->entries, preview->count, preview->initial, err);
    return status;
}

static pawl_status
ask_bounds(pawl_job *job, struct preview *preview, pawl_error *err)
{
    for (size_t i = 0; i < preview->count; i++)
        preview->bounds[i].partition = preview->partitions[i];
    return pawl__job_bounds(job, preview->bounds, preview->count, err);
}

static void
cut(pawl_job *job, struct preview *preview)
{
    pawl__plan_limits limits = pawl__job_limits(job);

    pawl__plan(preview->lines, preview->count, &limits);
}

/* As a run does: an open transaction ends a log early for those who read committed records, and that is no loss. */
static pawl_status
excuse_open_transactions(pawl_job *job, struct preview *preview, pawl_error *err)
{
    pawl_bounds_line *ends = g_new0(pawl_bounds_line, preview->count);
    pawl__plan_line **above = g_new0(pawl__plan_line *, preview->count);
    size_t count = 0;
    pawl_status status = PAWL_OK;

    for (size_t i = 0; i < preview->count; i++) {
        if (preview->lines[i].ret_finding != PAWL__PLAN_ABOVE || job->settings.isolation != PAWL__READ_COMMITTED)
            continue;
        ends[count].partition = preview->partitions[i];
        above[count++] = &preview->lines[i];
    }
    if (count > 0)
        status = job->source.api->log_end(job->source.self, pawl__job_source_deadline(job), ends, count, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        if (ends[i].ret_status != PAWL_OK)
            status = pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, 0,
                                    "%s [%" PRId32 "]: nobody tells whether its log ends at %" PRId64,
                                    ends[i].partition.topic, ends[i].partition.number, above[i]->high);
        else if (above[i]->position <= ends[i].ret_high)
            above[i]->high = above[i]->position;
    cut(job, preview);
    g_free(ends);
    g_free(above);
    return status;
}

static void
describe(pawl_job *job, struct preview *preview)
{
    for (size_t i = 0; i < preview->count; i++) {
        const pawl_entry *entry = &preview->entries[i];

        preview->lines[i] = (pawl__plan_line){
            .position = entry->offset.known ? entry->offset.offset : preview->initial[i].offset,
            .low = preview->bounds[i].ret_low,
            .high = preview->bounds[i].ret_high,
            .pending = entry->pending,
        };
        job->batch_number = MAX(job->batch_number, entry->batch);
    }
}

static void
tell(const struct preview *preview, const struct listener *listener)
{
    for (size_t i = 0; i < preview->count; i++) {
        const pawl__plan_line *line = &preview->lines[i];
        pawl_preview told = {
            .size = sizeof told,
            .partition = preview->partitions[i],
            .stored = preview->entries[i].offset,
            .position = line->position,
            .low = line->low,
            .high = preview->bounds[i].ret_high,
            .from = line->ret_from,
            .until = line->ret_until,
            .lost = pawl__plan_is_loss(line->ret_finding),
            .owner_host = preview->entries[i].owner.host,
            .owner_pid = preview->entries[i].owner.pid,
        };

        listener->fn(listener->user, &told);
    }
}

static pawl_status
look_at(pawl_job *job, const pawl_partition *partitions, size_t count, void *user, pawl_error *err)
{
    struct preview preview = {
        .partitions = partitions,
        .count = count,
        .entries = g_new0(pawl_entry, count),
        .initial = g_new0(pawl_position, count),
        .bounds = g_new0(pawl_bounds_line, count),
        .lines = g_new0(pawl__plan_line, count),
    };
    pawl_status status = load(job, &preview, err);

    if (status == PAWL_OK)
        status = ask_bounds(job, &preview, err);
    if (status == PAWL_OK) {
        describe(job, &preview);
        cut(job, &preview);
        status = excuse_open_transactions(job, &preview, err);
    }
    if (status == PAWL_OK)
        tell(&preview, user);
    g_free(preview.entries);
    g_free(preview.initial);
    g_free(preview.bounds);
    g_free(preview.lines);
    return status;
}

pawl_status
pawl__job_preview(pawl_job *job, pawl_preview_fn fn, void *user, pawl_error *err)
{
    struct listener listener = {fn, user};

    return pawl__job_find(job, look_at, &listener, err);
}
