/*
 * planning.c - asking for the ends, and cutting the next batch
 *
 *     bounds of all logs -> ranges are cut -> what is lost is settled -> a batch
 */
#include "core/job.h"

#include <glib.h>
#include <inttypes.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

/* --------------------------------------------------------------------------------------------------------- bounds -- */

bool
pawl__job_has_stalled(const pawl_job *job, int64_t *since_ms)
{
    int64_t now = pawl__clock_ms();

    if (*since_ms == 0)
        *since_ms = now;
    return now - *since_ms >= job->settings.stall_timeout_ms;
}

/* Takes the answer for one partition over into its holding. */
static pawl_status
take_bounds(pawl_job *job, pawl__holding *holding, const pawl_bounds_line *line, pawl_error *err)
{
    char timeout[PAWL__DURATION_TEXT_SIZE];

    if (line->ret_status == PAWL_OK) {
        holding->low = line->ret_low;
        holding->high = line->ret_high;
        holding->unanswered_since_ms = 0;
        return PAWL_OK;
    }
    if (!pawl__job_has_stalled(job, &holding->unanswered_since_ms))
        return PAWL_OK;
    return pawl_error_set(err, PAWL_STALLED, PAWL_ERROR_RETRIABLE, 0,
                          "%s [%" PRId32 "] at offset %" PRId64 ": %s for stall_timeout = %s", holding->partition.topic,
                          holding->partition.number, holding->position,
                          line->ret_why != NULL ? line->ret_why : "nobody tells where its log ends",
                          pawl__text_from_duration(job->settings.stall_timeout_ms, timeout));
}

pawl_status
pawl__job_ask_bounds(pawl_job *job, bool *ret_known, pawl_error *err)
{
    size_t count = pawl__holdings_count(job->holdings);
    pawl_bounds_line *lines;
    pawl_status status, kept;

    *ret_known = true;
    if (count == 0) /* the group assigns nothing */
        return PAWL_OK;
    lines = g_new0(pawl_bounds_line, count);
    for (size_t i = 0; i < count; i++)
        lines[i].partition = pawl__holdings_at(job->holdings, i)->partition;
    pawl__keeper_lend(job->keeper);
    status = job->source.api->bounds(job->source.self, pawl__job_source_deadline(job), lines, count, err);
    kept = pawl__keeper_take_back(job->keeper, err);
    *ret_known = status == PAWL_OK;
    if (kept != PAWL_OK)
        status = kept;
    else if (status == PAWL_OK)
        job->unanswered_since_ms = 0;
    else if (status != PAWL_CANCELLED && !pawl__job_has_stalled(job, &job->unanswered_since_ms))
        status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && *ret_known && i < count; i++)
        status = take_bounds(job, pawl__holdings_at(job->holdings, i), &lines[i], err);
    g_free(lines);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- cutting -- */

pawl__plan_limits
pawl__job_limits(const pawl_job *job)
{
    const pawl__settings *settings = &job->settings;
    bool waited = pawl__clock_ms() - job->batch_ended_ms >= settings->max_trigger_delay_ms;

    return (pawl__plan_limits){
        .per_batch = settings->max_offsets_per_batch,
        .per_partition = settings->max_offsets_per_partition,
        .at_least = settings->min_offsets_per_batch,
        .due = waited || pawl__job_ends_by_itself(job),
        .turn = (uint64_t) job->batch_number,
    };
}

static pawl__plan_line
describe(const pawl_job *job, const pawl__holding *holding)
{
    return (pawl__plan_line){
        .position = holding->position,
        .low = holding->low,
        .high = holding->high,
        .unknown = holding->unanswered_since_ms != 0 || holding->tenure == PAWL__TENURE_GONE,
        .pin = pawl__job_pin(job, holding),
        .pending = holding->pending,
        .remade = holding->remade,
    };
}

void
pawl__job_cut(const pawl_job *job, pawl__cut *cut)
{
    pawl__plan_limits limits = pawl__job_limits(job);

    cut->count = pawl__holdings_count(job->holdings);
    cut->lines = g_renew(pawl__plan_line, cut->lines, cut->count);
    for (size_t i = 0; i < cut->count; i++)
        cut->lines[i] = describe(job, pawl__holdings_at(job->holdings, i));
    cut->ranges = pawl__plan(cut->lines, cut->count, &limits);
    cut->losses = 0;
    for (size_t i = 0; i < cut->count; i++)
        cut->losses += pawl__plan_is_loss(cut->lines[i].ret_finding);
}

/* --------------------------------------------------------------------------------------------------------- batch -- */

int64_t
pawl__job_lag(const pawl_job *job)
{
    int64_t lag = 0;

    for (size_t i = 0; i < pawl__holdings_count(job->holdings); i++) {
        const pawl__holding *holding = pawl__holdings_at(job->holdings, i);
        int64_t offset = holding->stored.known ? holding->stored.offset : holding->position;

        if (holding->high > offset && __builtin_add_overflow(lag, holding->high - offset, &lag))
            return INT64_MAX;
    }
    return lag;
}

static void
count_plan(pawl_job *job, int64_t started_ms)
{
    int64_t lag = pawl__job_lag(job);

    pawl__wait_lock(&job->stats_wait);
    job->stats.lag = lag;
    job->stats.partitions = (int64_t) pawl__holdings_count(job->holdings);
    job->stats.plan_ms = pawl__clock_ms() - started_ms;
    pawl__wait_unlock(&job->stats_wait);
}

static size_t
count_held(pawl_job *job)
{
    size_t held = 0;

    for (size_t i = 0; i < pawl__holdings_count(job->holdings); i++)
        held += pawl__holding_is_held(pawl__holdings_at(job->holdings, i));
    return held;
}

static pawl_range *
add_range(pawl_batch *batch, pawl__holding *holding, int64_t from, int64_t until)
{
    pawl_range *range = &batch->ranges[batch->count++];

    range->holding = holding;
    range->from = from;
    range->until = range->saved_to = until;
    return range;
}

/* What a sink holds back was processed before. */
static void
add_held(pawl_batch *batch, pawl__holding *holding)
{
    pawl_range *range = add_range(batch, holding, holding->stored.offset, holding->position);

    range->until_print = holding->position_print;
    range->stands_in = true;
    range->state = PAWL__RANGE_DONE;
}

/*
 * Makes a batch of the ranges that were cut; cut = NULL: of none. A partition that has none, but of which a sink holds
 * records back, is in it with what was processed before, so that flush can say that it is safe now.
 */
static pawl_batch *
make_batch(pawl_job *job, const pawl__cut *cut)
{
    size_t count = pawl__holdings_count(job->holdings), ranges = cut != NULL ? cut->ranges : 0;
    pawl_batch *batch =
        pawl__batch_new(job->batch_number + 1, job->settings.group, &job->log, ranges + count_held(job));

    batch->count = 0;
    for (size_t i = 0; i < count; i++) {
        pawl__holding *holding = pawl__holdings_at(job->holdings, i);

        if (cut != NULL && cut->lines[i].ret_finding == PAWL__PLAN_RANGE)
            add_range(batch, holding, cut->lines[i].ret_from, cut->lines[i].ret_until);
        else if (pawl__holding_is_held(holding))
            add_held(batch, holding);
    }
    return batch;
}

pawl_batch *
pawl__job_plan_held(pawl_job *job)
{
    pawl_batch *batch;

    if (count_held(job) == 0)
        return NULL;
    batch = make_batch(job, NULL);
    batch->must_flush = true;
    return batch;
}

pawl_plan_line
pawl__job_plan_line(const pawl__holding *holding, pawl_position pending)
{
    return (pawl_plan_line){
        .partition = holding->partition, .epoch = holding->epoch, .expected = holding->stored, .pending = pending};
}

/* replay = exact: writes the ranges down before they run. */
static pawl_status
write_down(pawl_job *job, const pawl_batch *batch, pawl_error *err)
{
    pawl_plan_line *lines;
    size_t planned = 0;
    pawl_status status;

    if (job->settings.replay != PAWL__REPLAY_EXACT)
        return PAWL_OK;
    lines = g_new0(pawl_plan_line, batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        const pawl_range *range = &batch->ranges[i];

        if (range->state != PAWL__RANGE_WAITING)
            continue;
        lines[planned++] = pawl__job_plan_line(range->holding, pawl_position_at(range->until));
    }
    status = pawl_store_plan(job->store, job->settings.group, lines, planned, err);
    for (size_t i = 0; status == PAWL_OK && i < planned; i++)
        pawl__holdings_find(job->holdings, lines[i].partition)->planned = lines[i].pending;
    g_free(lines);
    return status;
}

/* The batch will run: what was to be looked at before the first range of a partition is that range's business now. */
static void
hand_over_prints(pawl_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        pawl_range *range = &batch->ranges[i];

        if (range->holding->looks_back)
            range->from_print = range->holding->position_print;
        range->holding->looks_back = false;
    }
}

/*
 * A range that was written down before a crash ends above the end of the log, as the log is now: what was there may become
 * visible again (an open transaction, a leader that catches up). Waits for it, but not for ever.
 */
static pawl_status
await_pending(pawl_job *job, const pawl__cut *cut, pawl_error *err)
{
    char timeout[PAWL__DURATION_TEXT_SIZE];

    for (size_t i = 0; i < cut->count; i++) {
        const pawl__plan_line *line = &cut->lines[i];
        pawl__holding *holding = pawl__holdings_at(job->holdings, i);

        if (line->ret_finding != PAWL__PLAN_PENDING_ABOVE)
            holding->pending_above_since_ms = 0;
        else if (pawl__job_has_stalled(job, &holding->pending_above_since_ms))
            return pawl_error_set(
                err, PAWL_STALLED, PAWL_ERROR_RETRIABLE, 0,
                "%s [%" PRId32 "] at offset %" PRId64 ": the range up to %" PRId64 " that was planned "
                "before has to be read first, and the log ends at %" PRId64 " for stall_timeout = %s",
                holding->partition.topic, holding->partition.number, line->position, line->pending.offset, line->high,
                pawl__text_from_duration(job->settings.stall_timeout_ms, timeout));
    }
    return PAWL_OK;
}

/* Makes the batch that was cut, ready to run. */
static pawl_status
begin_batch(pawl_job *job, const pawl__cut *cut, pawl_batch **ret_batch, pawl_error *err)
{
    pawl_batch *batch = make_batch(job, cut);
    pawl_status status = write_down(job, batch, err);

    if (status != PAWL_OK) {
        pawl__batch_free(batch);
        return status;
    }
    hand_over_prints(batch);
    *ret_batch = batch;
    return PAWL_OK;
}

static pawl_status
plan_known(pawl_job *job, pawl__cut *cut, pawl_batch **ret_batch, bool *ret_finished, int64_t started_ms,
           pawl_error *err)
{
    bool known;
    pawl_status status = pawl__job_settle_losses(job, cut, &known, err);

    if (status != PAWL_OK || !known)
        return status;
    status = pawl__job_reopen_lost(job, err);
    if (status == PAWL_OK)
        status = await_pending(job, cut, err);
    if (status != PAWL_OK)
        return status;
    job->answered = true;
    count_plan(job, started_ms);
    *ret_finished = pawl__job_is_drained(job);
    return cut->ranges > 0 ? begin_batch(job, cut, ret_batch, err) : PAWL_OK;
}

pawl_status
pawl__job_plan(pawl_job *job, pawl_batch **ret_batch, bool *ret_finished, pawl_error *err)
{
    int64_t started_ms = pawl__clock_ms();
    pawl__cut cut = {0};
    bool known = false;
    pawl_status status = pawl__job_ask_bounds(job, &known, err);

    *ret_batch = NULL;
    *ret_finished = job->answered = false;
    if (status != PAWL_OK || !known || !pawl__job_pin_ends(job))
        return status;
    pawl__job_cut(job, &cut);
    status = plan_known(job, &cut, ret_batch, ret_finished, started_ms, err);
    g_free(cut.lines);
    return status;
}
