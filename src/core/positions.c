/*
 * positions.c - saves that are no batch: a position is moved, or the owner's entry is renewed
 */
#include "core/job.h"

#include <glib.h>

#include "util/clock.h"

pawl_status
pawl__job_save_positions(pawl_job *job, pawl__holding *const *holdings, const int64_t *positions, size_t count,
                         pawl_error *err)
{
    pawl_save_line *lines = g_new0(pawl_save_line, count);
    pawl_status status;

    for (size_t i = 0; i < count; i++)
        lines[i] = (pawl_save_line){
            .partition = holdings[i]->partition,
            .epoch = holdings[i]->epoch,
            .expected = holdings[i]->stored,
            .until = positions != NULL ? positions[i] : holdings[i]->stored.offset,
            .print = positions != NULL ? NULL : holdings[i]->stored_print.text,
        };
    status = pawl_store_save(job->store, job->settings.group, lines, count, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        if (!pawl_position_equal(lines[i].expected, pawl_position_at(lines[i].until)))
            pawl__job_tell_saved(job, &lines[i]);
        pawl__holding_note_saved(holdings[i], &lines[i]);
        holdings[i]->pending = pawl_position_absent();
    }
    if (status == PAWL_OK)
        pawl__mirror_give(job->mirror, lines, count);
    g_free(lines);
    return status;
}

/* What is written down for a partition: for the batch in hand, or before a crash. */
static pawl_position
planned_until(const pawl__holding *holding)
{
    return holding->planned.known ? holding->planned : holding->pending;
}

/* Whether there is something to renew, and it belongs to nobody else. */
static bool
is_renewed(const pawl__holding *holding)
{
    return holding->tenure != PAWL__TENURE_GONE && (holding->stored.known || planned_until(holding).known);
}

/*
 * Whether a partition takes part in a renewal that is due. Half the interval is enough: partitions that were saved apart are
 * renewed together from then on.
 */
static bool
takes_part(const pawl_job *job, const pawl__holding *holding)
{
    return is_renewed(holding) && pawl__clock_ms() - holding->saved_ms >= job->settings.refresh_interval_ms / 2;
}

/* Renews the entries of partitions that have nothing planned. */
static pawl_status
renew_stored(pawl_job *job, pawl_error *err)
{
    size_t count = pawl__holdings_count(job->holdings), known = 0;
    pawl__holding **holdings = g_new0(pawl__holding *, count);
    pawl_status status = PAWL_OK;

    for (size_t i = 0; i < count; i++) {
        pawl__holding *holding = pawl__holdings_at(job->holdings, i);

        if (!takes_part(job, holding) || planned_until(holding).known)
            continue;
        holdings[known++] = holding;
    }
    if (known > 0)
        status = pawl__job_save_positions(job, holdings, NULL, known, err);
    g_free(holdings);
    return status;
}

/* The same for those that have: by planning it again. */
static pawl_status
renew_planned(pawl_job *job, pawl_error *err)
{
    size_t count = pawl__holdings_count(job->holdings), planned = 0;
    pawl_plan_line *lines = g_new0(pawl_plan_line, count);
    pawl_status status = PAWL_OK;

    for (size_t i = 0; i < count; i++) {
        const pawl__holding *holding = pawl__holdings_at(job->holdings, i);

        if (takes_part(job, holding) && planned_until(holding).known)
            lines[planned++] = pawl__job_plan_line(holding, planned_until(holding));
    }
    if (planned > 0)
        status = pawl_store_plan(job->store, job->settings.group, lines, planned, err);
    for (size_t i = 0; status == PAWL_OK && i < planned; i++)
        pawl__holdings_find(job->holdings, lines[i].partition)->saved_ms = pawl__clock_ms();
    g_free(lines);
    return status;
}

int64_t
pawl__job_refresh_due(const pawl_job *job)
{
    int64_t due_ms = PAWL__NEVER;

    if (pawl__job_is_fenced_by_group(job)) /* whose members' offsets do not expire either */
        return PAWL__NEVER;
    for (size_t i = 0; i < pawl__holdings_count(job->holdings); i++) {
        const pawl__holding *holding = pawl__holdings_at(job->holdings, i);

        if (is_renewed(holding))
            due_ms = MIN(due_ms, holding->saved_ms + job->settings.refresh_interval_ms);
    }
    return due_ms;
}

pawl_status
pawl__job_refresh(pawl_job *job, pawl_error *err)
{
    pawl_status status;

    if (pawl__clock_ms() < pawl__job_refresh_due(job))
        return PAWL_OK;
    status = renew_stored(job, err);
    if (status == PAWL_OK)
        status = renew_planned(job, err);
    if (status == PAWL_FENCED && pawl__job_mark_fenced(job))
        status = PAWL_OK;
    return status;
}
