/*
 * saving.c - flush, and the one act that ends a batch
 *
 *     begin the transaction, where the store has them -> flush -> save until of each range, all or nothing
 */
#include "core/job.h"

#include <glib.h>
#include <inttypes.h>

#include "util/backoff.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

#define RETRY_CAP_MS 60000

/* The lines of one save, and the ranges that they come from. */
struct saving {
    pawl_job *job;
    pawl_batch *batch;
    pawl_save_line *lines;
    pawl_range **ranges; /* of the lines */
    size_t count;
    int64_t flush_ms, save_ms;
};

static bool
is_transactional(const pawl_job *job)
{
    return (pawl_store_capabilities(job->store) & PAWL_STORE_TRANSACTION) != 0;
}

/* -------------------------------------------------------------------------------------------------------- saving -- */

static bool
is_to_be_saved(const pawl_range *range)
{
    return (range->state == PAWL__RANGE_DONE || range->state == PAWL__RANGE_SKIPPED) && !range->held;
}

/* A line for each range that is safe; before flush: for each that may be. */
static void
gather_lines(struct saving *saving)
{
    saving->count = 0;
    for (size_t i = 0; i < saving->batch->count; i++) {
        pawl_range *range = &saving->batch->ranges[i];

        if (!is_to_be_saved(range))
            continue;
        saving->ranges[saving->count] = range;
        saving->lines[saving->count++] = (pawl_save_line){
            .partition = range->holding->partition,
            .epoch = range->holding->epoch,
            .expected = range->holding->stored,
            .until = range->saved_to,
            .batch = saving->batch->number,
        };
    }
}

static pawl_status
save_lines(struct saving *saving, pawl_error *err)
{
    pawl_job *job = saving->job;
    int64_t started_ms = pawl__clock_ms();
    pawl_status status = PAWL_OK;

    gather_lines(saving);
    if (saving->count > 0)
        status = pawl_store_save(job->store, job->settings.group, saving->lines, saving->count, err);
    else
        pawl_store_rollback(job->store);
    saving->save_ms = pawl__clock_ms() - started_ms;
    return status;
}

/* --------------------------------------------------------------------------------------------------------- flush -- */

static pawl_status
begin(struct saving *saving, pawl_error *err)
{
    pawl_job *job = saving->job;
    pawl_status status;

    gather_lines(saving);
    if (!is_transactional(job) || saving->count == 0)
        return PAWL_OK;
    status =
        pawl_store_begin(job->store, job->settings.group, saving->lines, saving->count, &saving->batch->handle, err);
    if (status == PAWL_OK)
        saving->batch->scheme = pawl_store_scheme(job->store);
    return status;
}

/* Whether flush said of any range that not all of it is safe. */
static bool
holds_back(const pawl_batch *batch)
{
    for (size_t i = 0; i < batch->flushed_count; i++)
        if (batch->flushed[i]->held || batch->flushed[i]->saved_to < batch->flushed[i]->until)
            return true;
    return false;
}

static void
enter_phase(pawl_batch *batch, pawl_phase phase)
{
    for (size_t i = 0; i < batch->count; i++)
        pawl__range_enter(&batch->ranges[i], phase);
}

/* Calls the user's flush; PAWL_RETRY comes back as a retriable failure. */
static pawl_status
flush(struct saving *saving, pawl_error *err)
{
    const pawl_hooks *hooks = &saving->job->hooks;
    pawl_batch *batch = saving->batch;
    int64_t started_ms = pawl__clock_ms();
    pawl_error answer = {0};
    pawl_verdict verdict = PAWL_DONE;
    char *why;

    enter_phase(batch, PAWL_PHASE_FLUSHING);
    batch->in_flush = true;
    if (hooks->flush != NULL && batch->flushed_count > 0) {
        pawl__call_begin(&saving->job->call, "flush");
        verdict = hooks->flush(hooks->user, batch, &answer);
        pawl__call_end(&saving->job->call);
    }
    batch->in_flush = false;
    saving->flush_ms = pawl__clock_ms() - started_ms;
    if (verdict == PAWL_DONE && saving->job->settings.replay == PAWL__REPLAY_EXACT && holds_back(batch))
        return pawl_error_set(err, PAWL_UNSUPPORTED, 0, 0,
                              "batch %" PRId64
                              ": flush held records back, which replay = exact does not allow: what is "
                              "held would come again in other ranges",
                              batch->number);
    if (verdict == PAWL_DONE && batch->must_flush && holds_back(batch))
        return pawl_error_set(err, PAWL_FAILED, 0, 0,
                              "batch %" PRId64
                              ": flush held records back although pawl_batch_must_flush() said that it "
                              "may not",
                              batch->number);
    if (verdict == PAWL_DONE)
        return PAWL_OK;
    why = pawl__refusal_text("flush", verdict, &answer);
    pawl_error_set(err, answer.status != PAWL_OK ? answer.status : PAWL_FAILED,
                   verdict == PAWL_RETRY ? PAWL_ERROR_RETRIABLE : 0, answer.native_code, "batch %" PRId64 ": %s",
                   batch->number, why);
    g_free(why);
    return err->status;
}

/* One try at ending the batch. *ret_again: the whole of it, flush included, may be tried again. */
static pawl_status
flush_and_save(struct saving *saving, bool *ret_again, pawl_error *err)
{
    pawl_status status;

    *ret_again = false;
    if (pawl__stop_state_now(saving->job->stop) == PAWL__STOP_LEAVE)
        return pawl_error_set(err, PAWL_CANCELLED, 0, 0, "the batch was left unsaved");
    pawl__batch_unflush(saving->batch);
    status = begin(saving, err);
    if (status == PAWL_OK) {
        status = flush(saving, err);
        *ret_again = status != PAWL_OK && (err->flags & PAWL_ERROR_RETRIABLE) != 0;
    }
    if (status == PAWL_OK) {
        enter_phase(saving->batch, PAWL_PHASE_SAVING);
        status = save_lines(saving, err);
        *ret_again = status != PAWL_OK && is_transactional(saving->job) && (err->flags & PAWL_ERROR_RETRIABLE) != 0;
    }
    if (status != PAWL_OK)
        pawl_store_rollback(saving->job->store);
    saving->batch->scheme = NULL;
    saving->batch->handle = NULL;
    return status;
}

/* ---------------------------------------------------------------------------------------------------- afterwards -- */

static void
log_saved(pawl_job *job, const pawl_save_line *line)
{
    char place[512], expected[PAWL_POSITION_TEXT_SIZE];

    if (!pawl__log_takes(&job->log, PAWL_LOG_INFO))
        return;
    pawl__log(&job->log, PAWL_LOG_INFO, "job", "saved %s [%" PRId32 "]: %s -> %" PRId64 " in %s", line->partition.topic,
              line->partition.number, pawl_position_text(line->expected, expected), line->until,
              pawl_store_place(job->store, job->settings.group, line->partition, place, sizeof place));
}

/* The batch is over: every position moves on, and what was saved is what the store holds now. */
static void
move_on(struct saving *saving)
{
    pawl_job *job = saving->job;

    for (size_t i = 0; i < saving->count; i++) {
        saving->ranges[i]->holding->stored = pawl_position_at(saving->lines[i].until);
        log_saved(job, &saving->lines[i]);
    }
    for (size_t i = 0; i < saving->batch->count; i++) {
        pawl_range *range = &saving->batch->ranges[i];
        pawl__holding *holding = range->holding;

        holding->fetch_lost = range->state == PAWL__RANGE_LOST;
        holding->planned = false;
        if (holding->fetch_lost)
            continue;
        holding->out_of_range = 0;
        holding->position = range->until;
        holding->pending = pawl_position_absent();
    }
    job->held_batches = holds_back(saving->batch) ? job->held_batches + 1 : 0;
    if (!pawl__batch_is_lost(saving->batch))
        job->batch_number = saving->batch->number;
    if (saving->count > 0)
        job->saved_ms = pawl__clock_ms();
    pawl__wait_lock(&job->stats_wait);
    job->stats.lag = pawl__job_lag(job);
    job->stats.flush_ms = saving->flush_ms;
    job->stats.save_ms = saving->save_ms;
    pawl__wait_unlock(&job->stats_wait);
}

/* Waits before the next try; false when there shall be none. */
static bool
wait_for_retry(pawl_job *job, const pawl_batch *batch, int attempt, const pawl_error *why)
{
    int64_t delay = pawl__backoff_ms(job->settings.retry_backoff_ms, RETRY_CAP_MS, attempt, g_random_int());
    char wait[PAWL__DURATION_TEXT_SIZE];

    if (attempt > job->settings.max_retries || pawl__stop_state_now(job->stop) == PAWL__STOP_LEAVE)
        return false;
    pawl__log(&job->log, PAWL_LOG_WARN, "job", "batch %" PRId64 ": attempt %d failed, next in %s: %s", batch->number,
              attempt, pawl__text_about_duration(delay, wait), why->message);
    atomic_fetch_add(&job->counts.retries, 1);
    pawl__stop_wait_to_leave(job->stop, pawl__clock_ms() + delay);
    return true;
}

pawl_status
pawl__job_save(pawl_job *job, pawl_batch *batch, pawl_error *err)
{
    struct saving saving = {
        .job = job,
        .batch = batch,
        .lines = g_new0(pawl_save_line, batch->count),
        .ranges = g_new0(pawl_range *, batch->count),
    };
    pawl_status status;
    int attempt = 0;
    bool again;

    pawl__batch_gather(batch);
    batch->must_flush = batch->must_flush || job->held_batches >= job->settings.max_held_batches;
    do {
        attempt++;
        status = flush_and_save(&saving, &again, err);
    } while (status != PAWL_OK && again && wait_for_retry(job, batch, attempt, err));
    if (status == PAWL_OK)
        move_on(&saving);
    g_free(saving.lines);
    g_free(saving.ranges);
    return status;
}

/* ------------------------------------------------------------------------------------------------ position saves -- */

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
            .until = positions[i],
        };
    status = pawl_store_save(job->store, job->settings.group, lines, count, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        if (!pawl_position_equal(lines[i].expected, pawl_position_at(positions[i])))
            log_saved(job, &lines[i]);
        holdings[i]->stored = pawl_position_at(positions[i]);
        holdings[i]->pending = pawl_position_absent();
    }
    if (status == PAWL_OK)
        job->saved_ms = pawl__clock_ms();
    g_free(lines);
    return status;
}

pawl_status
pawl__job_refresh(pawl_job *job, pawl_error *err)
{
    size_t count = pawl__holdings_count(job->holdings), known = 0;
    pawl__holding **holdings;
    int64_t *positions;
    pawl_status status = PAWL_OK;

    if (pawl__clock_ms() - job->saved_ms < job->settings.refresh_interval_ms)
        return PAWL_OK;
    holdings = g_new0(pawl__holding *, count);
    positions = g_new0(int64_t, count);
    for (size_t i = 0; i < count; i++) {
        pawl__holding *holding = pawl__holdings_at(job->holdings, i);

        if (!holding->stored.known || holding->pending.known || holding->planned)
            continue;
        positions[known] = holding->stored.offset;
        holdings[known++] = holding;
    }
    job->saved_ms = pawl__clock_ms();
    if (known > 0)
        status = pawl__job_save_positions(job, holdings, positions, known, err);
    job->saved_ms = pawl__clock_ms(); /* also when there was nothing to renew: it is not due again at once */
    g_free(holdings);
    g_free(positions);
    return status;
}
