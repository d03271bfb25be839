/*
 * loss.c - positions that lie outside of their logs
 *
 *     a finding of loss is looked at again -> it is certain -> the job fails, or moves on as on_data_loss says
 */
#include "core/job.h"

#include <glib.h>
#include <inttypes.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

/* A finding of loss is believed when it is still there after so many looks: a new leader may tell old ends for a moment. */
#define LOSS_LOOKS   3
#define LOSS_WAIT_MS 200

/* How often in a row a fetch may be out of range although the bounds say that it is not. */
#define OUT_OF_RANGE_LIMIT 5

/* What the ends of the logs say of the positions that seem to lie above them. */
static void
take_ends(pawl_job *job, const pawl_bounds_line *ends, size_t count, bool *ret_known)
{
    for (size_t i = 0; i < count; i++) {
        pawl__holding *holding = pawl__holdings_find(job->holdings, ends[i].partition);

        if (ends[i].ret_status != PAWL_OK)
            *ret_known = false;
        else if (holding->position <= ends[i].ret_high)
            holding->high = holding->position;
    }
}

/*
 * With read_committed the end is the last stable offset, which an open transaction holds back. A position between that
 * and the end of the log (stored by a job that read uncommitted records) is nothing to worry about: it has to wait.
 * *ret_known is false when nobody tells the end of the log.
 */
static pawl_status
excuse_open_transactions(pawl_job *job, const pawl__cut *cut, bool *ret_known, pawl_error *err)
{
    pawl_bounds_line *ends = g_new0(pawl_bounds_line, cut->count);
    size_t above = 0;
    char timeout[PAWL__DURATION_TEXT_SIZE];
    pawl_status status = PAWL_OK, kept;

    for (size_t i = 0; i < cut->count; i++)
        if (cut->lines[i].ret_finding == PAWL__PLAN_ABOVE && job->settings.isolation == PAWL__READ_COMMITTED)
            ends[above++].partition = pawl__holdings_at(job->holdings, i)->partition;
    pawl__keeper_lend(job->keeper);
    if (above > 0)
        status = job->source.api->log_end(job->source.self, pawl__job_source_deadline(job), ends, above, err);
    kept = pawl__keeper_take_back(job->keeper, err);
    *ret_known = status == PAWL_OK;
    if (status == PAWL_OK)
        take_ends(job, ends, above, ret_known);
    g_free(ends);
    if (kept != PAWL_OK || status == PAWL_CANCELLED)
        return kept != PAWL_OK ? kept : status;
    if (*ret_known)
        job->end_unknown_since_ms = 0;
    else if (pawl__job_has_stalled(job, &job->end_unknown_since_ms))
        return status != PAWL_OK ? status
                                 : pawl_error_set(err, PAWL_STALLED, PAWL_ERROR_RETRIABLE, 0,
                                                  "nobody tells where logs end for stall_timeout = %s",
                                                  pawl__text_from_duration(job->settings.stall_timeout_ms, timeout));
    return PAWL_OK;
}

static const char *
finding_text(pawl__plan_finding finding)
{
    switch (finding) {
    case PAWL__PLAN_BELOW:
        return "is below the start of the log";
    case PAWL__PLAN_ABOVE:
        return "is above the end of the log";
    default:
        return "has another record before it than when it was stored, in the log";
    }
}

static pawl_status
report_loss(const pawl__holding *holding, const pawl__plan_line *line, pawl_error *err)
{
    if (line->ret_finding == PAWL__PLAN_BELOW)
        return pawl_error_set(err, PAWL_DATA_LOSS, 0, 0,
                              "%s [%" PRId32 "]: the stored offset %" PRId64 " %s, which goes from %" PRId64
                              " to %" PRId64 ": %" PRId64 " records are lost (on_data_loss = fail)",
                              holding->partition.topic, holding->partition.number, line->position,
                              finding_text(line->ret_finding), line->low, line->high, line->low - line->position);
    return pawl_error_set(err, PAWL_DATA_LOSS, 0, 0,
                          "%s [%" PRId32 "]: the stored offset %" PRId64 " %s, which goes from %" PRId64 " to %" PRId64
                          ": it was cut or made anew, and what is lost cannot be counted (on_data_loss = fail)",
                          holding->partition.topic, holding->partition.number, line->position,
                          finding_text(line->ret_finding), line->low, line->high);
}

/* Where the policy moves a lost position to. */
static int64_t
new_position(const pawl_job *job, const pawl__plan_line *line)
{
    return job->settings.on_data_loss == PAWL__LOSS_EARLIEST ? line->low : line->high;
}

/* The source has to read on from somewhere else. */
static pawl_status
hold_again(pawl_job *job, pawl__holding *holding, pawl_error *err)
{
    pawl_hold_line line = {.partition = holding->partition, .position = holding->position};
    pawl_status status;

    job->source.api->unhold(job->source.self, &holding->tap, 1);
    holding->tap = NULL;
    holding->fetch_lost = false;
    holding->looks_back = false;
    status = job->source.api->hold(job->source.self, &line, 1, err);
    holding->tap = line.ret_tap;
    return status;
}

static void
log_move(pawl_job *job, const pawl__holding *holding, const pawl__plan_line *line, int64_t position)
{
    bool is_known = line->ret_finding == PAWL__PLAN_BELOW; /* only of a log that goes on */
    /* What is moved over unread on purpose (latest) counts as lost as well. */
    int64_t lost = is_known ? position - line->position : 0;
    char *count =
        is_known ? g_strdup_printf("%" PRId64 " records lost", lost) : g_strdup("what is lost cannot be counted");

    pawl__log(&job->log, PAWL_LOG_ERROR, "job",
              "%s [%" PRId32 "]: the stored offset %" PRId64 " %s %" PRId64 "..%" PRId64 ": moved to %" PRId64
              " by on_data_loss, %s",
              holding->partition.topic, holding->partition.number, line->position, finding_text(line->ret_finding),
              line->low, line->high, position, count);
    g_free(count);
    pawl__wait_lock(&job->stats_wait);
    job->stats.lost += lost;
    pawl__wait_unlock(&job->stats_wait);
}

static pawl_status
move_lost(pawl_job *job, const pawl__cut *cut, pawl_error *err)
{
    pawl__holding **moved = g_new0(pawl__holding *, cut->losses);
    int64_t *positions = g_new0(int64_t, cut->losses);
    size_t moves = 0;
    pawl_status status = PAWL_OK;

    for (size_t i = 0; status == PAWL_OK && i < cut->count; i++) {
        pawl__holding *holding = pawl__holdings_at(job->holdings, i);

        if (!pawl__plan_is_loss(cut->lines[i].ret_finding))
            continue;
        if (job->settings.on_data_loss == PAWL__LOSS_FAIL)
            status = report_loss(holding, &cut->lines[i], err);
        positions[moves] = new_position(job, &cut->lines[i]);
        moved[moves++] = holding;
    }
    if (status == PAWL_OK)
        status = pawl__job_save_positions(job, moved, positions, moves, err);
    for (size_t i = 0; status == PAWL_OK && i < cut->count; i++) {
        pawl__holding *holding = pawl__holdings_at(job->holdings, i);

        if (!pawl__plan_is_loss(cut->lines[i].ret_finding))
            continue;
        holding->position = new_position(job, &cut->lines[i]);
        holding->position_print = pawl__print_none();
        holding->remade = false;
        log_move(job, holding, &cut->lines[i], holding->position);
        status = hold_again(job, holding, err);
    }
    g_free(moved);
    g_free(positions);
    return status;
}

/* Looks again until the loss is gone or certain, or nobody tells: *ret_known is false then. */
static pawl_status
confirm_loss(pawl_job *job, pawl__cut *cut, bool *ret_known, pawl_error *err)
{
    for (int look = 1;; look++) {
        pawl_status status = excuse_open_transactions(job, cut, ret_known, err);

        if (status != PAWL_OK || !*ret_known)
            return status;
        pawl__job_cut(job, cut);
        if (cut->losses == 0 || look == LOSS_LOOKS)
            return PAWL_OK;
        if (!pawl__job_wait(job, pawl__clock_ms() + LOSS_WAIT_MS))
            return pawl__job_broken_off(job, err);
        status = pawl__job_ask_bounds(job, ret_known, err);
        if (status != PAWL_OK || !*ret_known)
            return status;
        pawl__job_cut(job, cut);
    }
}

pawl_status
pawl__job_settle_losses(pawl_job *job, pawl__cut *cut, bool *ret_known, pawl_error *err)
{
    pawl_status status = PAWL_OK;

    *ret_known = true;
    if (cut->losses == 0)
        job->end_unknown_since_ms = 0;
    else
        status = confirm_loss(job, cut, ret_known, err);
    if (status != PAWL_OK || !*ret_known || cut->losses == 0)
        return status;
    /* What a sink holds back was read before the loss: it is flushed and saved before the position moves past it. */
    status = pawl__job_flush_held(job, err);
    pawl__job_cut(job, cut); /* meanwhile some may have become another's */
    if (status == PAWL_OK && cut->losses > 0)
        status = move_lost(job, cut, err);
    pawl__job_cut(job, cut);
    return status;
}

/* The record before the position has left the log, in which the position is the first. */
static bool
looks_too_far_back(const pawl__holding *holding)
{
    return holding->looks_back && holding->low == holding->position;
}

static bool
has_lost_fetch(pawl_job *job)
{
    for (size_t i = 0; i < pawl__holdings_count(job->holdings); i++)
        if (pawl__holdings_at(job->holdings, i)->fetch_lost)
            return true;
    return false;
}

pawl_status
pawl__job_reopen_lost(pawl_job *job, pawl_error *err)
{
    pawl_status status = PAWL_OK;

    if (has_lost_fetch(job) && !pawl__job_wait(job, pawl__clock_ms() + LOSS_WAIT_MS))
        return pawl__job_broken_off(job, err);
    for (size_t i = 0; status == PAWL_OK && i < pawl__holdings_count(job->holdings); i++) {
        pawl__holding *holding = pawl__holdings_at(job->holdings, i);

        if (!holding->fetch_lost && !looks_too_far_back(holding))
            continue;
        if (holding->fetch_lost && ++holding->out_of_range > OUT_OF_RANGE_LIMIT)
            return pawl_error_set(
                err, PAWL_STALLED, PAWL_ERROR_RETRIABLE, 0,
                "%s [%" PRId32 "] at offset %" PRId64 ": the broker says that it is out of range, and "
                "that its log goes from %" PRId64 " to %" PRId64,
                holding->partition.topic, holding->partition.number, holding->position, holding->low, holding->high);
        status = hold_again(job, holding, err);
    }
    return status;
}
