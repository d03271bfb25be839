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
    bool sent; /* to the store, which alone knows what became of them */
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

/* The print beside saved_to: known where the range ends, and where nothing of it is safe yet. */
static const char *
saved_print(const pawl_range *range)
{
    if (range->saved_to == range->until)
        return range->until_print.text;
    if (pawl_position_equal(range->holding->stored, pawl_position_at(range->saved_to)))
        return range->holding->stored_print.text;
    return NULL;
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
            .print = saved_print(range),
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
    saving->sent = saving->count > 0;
    if (saving->sent)
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

/* What is another's, as a renewal has found meanwhile, would be refused, and all the rest with it. */
static void
drop_gone(pawl_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->ranges[i].holding->tenure == PAWL__TENURE_GONE)
            batch->ranges[i].state = PAWL__RANGE_DROPPED;
    pawl__batch_gather(batch);
}

/* The owner's entry is renewed meanwhile, unless the store is in the middle of a transaction. */
static pawl_status
call_flush(struct saving *saving, pawl_verdict *ret_verdict, pawl_error *answer, pawl_error *err)
{
    pawl_job *job = saving->job;
    pawl_batch *batch = saving->batch;
    pawl_status status;

    *ret_verdict = PAWL_DONE;
    if (job->hooks.flush == NULL || batch->flushed_count == 0)
        return PAWL_OK;
    if (batch->scheme == NULL)
        pawl__keeper_lend(job->keeper);
    pawl__call_begin(&job->call, "flush");
    *ret_verdict = job->hooks.flush(job->hooks.user, batch, answer);
    pawl__call_end(&job->call);
    if (batch->scheme != NULL)
        return PAWL_OK;
    status = pawl__keeper_take_back(job->keeper, err);
    drop_gone(batch);
    return status;
}

/* Calls the user's flush; PAWL_RETRY comes back as a retriable failure. */
static pawl_status
flush(struct saving *saving, pawl_error *err)
{
    pawl_batch *batch = saving->batch;
    int64_t started_ms = pawl__clock_ms();
    pawl_error answer = {0};
    pawl_verdict verdict;
    pawl_status kept;
    char *why;

    enter_phase(batch, PAWL_PHASE_FLUSHING);
    batch->in_flush = true;
    kept = call_flush(saving, &verdict, &answer, err);
    batch->in_flush = false;
    saving->flush_ms = pawl__clock_ms() - started_ms;
    if (kept != PAWL_OK)
        return kept;
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

    *ret_again = saving->sent = false;
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

/* The batch is over: every position moves on, and what was saved is what the store holds now. */
static void
move_on(struct saving *saving)
{
    pawl_job *job = saving->job;

    pawl__mirror_give(job->mirror, saving->lines, saving->count);
    for (size_t i = 0; i < saving->count; i++) {
        pawl__holding_note_saved(saving->ranges[i]->holding, &saving->lines[i]);
        pawl__job_tell_saved(job, &saving->lines[i]);
    }
    for (size_t i = 0; i < saving->batch->count; i++) {
        pawl_range *range = &saving->batch->ranges[i];
        pawl__holding *holding = range->holding;

        holding->planned = pawl_position_absent();
        if (holding->fetch_lost || range->state == PAWL__RANGE_DROPPED)
            continue;
        holding->out_of_range = 0;
        holding->position = range->until;
        holding->position_print = range->until_print;
        holding->pending = pawl_position_absent();
    }
    job->held_batches = holds_back(saving->batch) ? job->held_batches + 1 : 0;
    if (!pawl__batch_is_void(saving->batch))
        job->batch_number = saving->batch->number;
    pawl__wait_lock(&job->stats_wait);
    job->stats.lag = pawl__job_lag(job);
    job->stats.flush_ms = saving->flush_ms;
    job->stats.save_ms = saving->save_ms;
    pawl__wait_unlock(&job->stats_wait);
}

/* Waits before the next try, unless there shall be none. PAWL_OK: now; else the status with which the save ends. */
static pawl_status
wait_for_retry(pawl_job *job, const pawl_batch *batch, int attempt, pawl_error *err)
{
    int64_t delay = pawl__backoff_ms(job->settings.retry_backoff_ms, RETRY_CAP_MS, attempt, g_random_int());
    char wait[PAWL__DURATION_TEXT_SIZE];

    if (attempt > job->settings.max_retries || pawl__stop_state_now(job->stop) == PAWL__STOP_LEAVE)
        return err->status;
    pawl__log(&job->log, PAWL_LOG_WARN, "job", "batch %" PRId64 ": attempt %d failed, next in %s: %s", batch->number,
              attempt, pawl__text_about_duration(delay, wait), err->message);
    atomic_fetch_add(&job->counts.retries, 1);
    pawl__keeper_lend(job->keeper);
    pawl__stop_wait_to_leave(job->stop, MIN(pawl__clock_ms() + delay, pawl__job_group_deadline(job)));
    return pawl__keeper_take_back(job->keeper, err);
}

/*
 * A range that was lost is no part of the batch. But where a sink holds back what was read before it, the sink has to be
 * asked about that, as about partitions that have no range: what it holds takes the lost range's place.
 */
static void
note_losses(pawl_job *job, pawl_batch *batch)
{
    pawl__wait_lock(&job->stats_wait); /* a report may look at the ranges */
    for (size_t i = 0; i < batch->count; i++) {
        pawl_range *range = &batch->ranges[i];
        pawl__holding *holding = range->holding;

        if (range->state != PAWL__RANGE_LOST)
            continue;
        holding->fetch_lost = true;
        holding->remade = range->remade;
        if (!pawl__holding_is_held(holding))
            continue;
        range->from = holding->stored.offset;
        range->until = range->saved_to = holding->position;
        range->until_print = holding->position_print;
        range->stands_in = true;
        range->state = PAWL__RANGE_DONE;
    }
    pawl__wait_unlock(&job->stats_wait);
}

/* Leaves out what became another's while it was processed. What is only revoked is still ours to save, for a while. */
static pawl_status
drop_given_up(struct saving *saving, pawl_error *err)
{
    pawl_batch *batch = saving->batch;
    pawl_status status = pawl__job_await_generation(saving->job, err);

    for (size_t i = 0; i < batch->count; i++)
        if (pawl__job_is_given_up(saving->job, batch->ranges[i].holding))
            batch->ranges[i].state = PAWL__RANGE_DROPPED;
    pawl__batch_gather(batch);
    return status;
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

    note_losses(job, batch);
    batch->must_flush = batch->must_flush || job->held_batches >= job->settings.max_held_batches;
    do {
        attempt++;
        again = false;
        status = drop_given_up(&saving, err);
        if (status == PAWL_OK)
            status = flush_and_save(&saving, &again, err);
        if (status == PAWL_FENCED && pawl__job_mark_fenced(job))
            status = PAWL_OK;
        else if (status == PAWL_OK || !again)
            break;
        else
            status = wait_for_retry(job, batch, attempt, err);
    } while (status == PAWL_OK);
    if (status == PAWL_OK)
        move_on(&saving);
    else if (!saving.sent)
        status = pawl__job_left_unsaved(job, status, err);
    else if (status == PAWL_CANCELLED)
        pawl_error_prefix(err, "batch %" PRId64 " was being saved", batch->number);
    g_free(saving.lines);
    g_free(saving.ranges);
    return status;
}
