/*
 * job.c - the batch loop
 *
 *     recover  ->  plan ranges  ->  process them  ->  flush and save  ->  plan ...
 */
#include "core/job.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/config.h"
#include "core/store.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/partition.h"
#include "util/text.h"

/* How long to wait before the ends are asked again when there was nothing to read: short at first, then longer. */
#define IDLE_MIN_MS 5
#define IDLE_MAX_MS 100

/* How long the end of a job waits for its mirror; and for its store, when that may be why it ends. */
#define MIRROR_LAST_MS 2000
#define GIVE_BACK_MS   2000

/* ---------------------------------------------------------------------------------------------------- life cycle -- */

static void
name_owner(pawl_job *job)
{
    g_strlcpy(job->owner.host, g_get_host_name(), sizeof job->owner.host);
    g_strlcpy(job->owner.client_id, job->settings.client_id, sizeof job->owner.client_id);
    job->owner.pid = getpid();
}

/* Takes as many hooks as the program knows of. */
static void
copy_hooks(pawl_job *job, const pawl_hooks *hooks)
{
    memcpy(&job->hooks, hooks, MIN(hooks->size, sizeof job->hooks));
    job->hooks.size = sizeof job->hooks;
}

pawl_status
pawl__job_new_with_source(const pawl_config *config, const pawl_hooks *hooks, const pawl_source_backend *source,
                          pawl_job **ret_job, pawl_error *err)
{
    pawl_job *job;
    pawl_status status;

    if (hooks->size == 0)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "the hooks' size is 0: set it to sizeof(pawl_hooks)");
    job = g_new0(pawl_job, 1);
    pawl__wait_init(&job->stats_wait);
    job->holdings = pawl__holdings_new();
    job->membership.selected = pawl__partitions_new();
    job->membership.at_start = pawl__partitions_new();
    job->membership.topics_at_start = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    job->membership.follow_due_ms = PAWL__NEVER;
    job->config = pawl__config_copy(config);
    job->log = *pawl__config_log(config);
    job->source.api = source;
    copy_hooks(job, hooks);
    status = pawl__config_settings(config, &job->settings, err);
    if (status == PAWL_OK)
        status = pawl__stop_new(job->settings.shutdown_timeout_ms, &job->stop, err);
    if (status != PAWL_OK) {
        pawl_job_free(job);
        return status;
    }
    name_owner(job);
    *ret_job = job;
    return PAWL_OK;
}

pawl_status
pawl_job_new(const pawl_config *config, const pawl_hooks *hooks, pawl_job **ret_job, pawl_error *err)
{
    pawl_status status = pawl_config_check(config, err);

    if (status != PAWL_OK)
        return status;
    return pawl__job_new_with_source(config, hooks, pawl__default_source, ret_job, err);
}

void
pawl_job_free(pawl_job *job)
{
    if (job == NULL)
        return;
    pawl__stop_free(job->stop);
    pawl__holdings_free(job->holdings);
    g_array_unref(job->membership.selected);
    g_array_unref(job->membership.at_start);
    g_hash_table_unref(job->membership.topics_at_start);
    pawl__settings_done(&job->settings);
    pawl_config_free(job->config);
    pawl__wait_done(&job->stats_wait);
    g_free(job);
}

void
pawl_job_stop(pawl_job *job)
{
    pawl__stop_request(job->stop);
}

void
pawl_job_stats(pawl_job *job, pawl_stats *ret_stats)
{
    size_t size = MIN(ret_stats->size, sizeof job->stats);

    pawl__wait_lock(&job->stats_wait);
    job->stats.retries = atomic_load(&job->counts.retries);
    memcpy((char *) ret_stats + sizeof ret_stats->size, (const char *) &job->stats + sizeof ret_stats->size,
           size - sizeof ret_stats->size);
    pawl__wait_unlock(&job->stats_wait);
}

/* -------------------------------------------------------------------------------------------------------- ending -- */

bool
pawl__job_wait(pawl_job *job, int64_t deadline_ms)
{
    return pawl__stop_wait(job->stop, deadline_ms) == PAWL__STOP_RUN;
}

pawl_status
pawl__job_broken_off(pawl_job *job, pawl_error *err)
{
    job->broken_off = true;
    return pawl_error_set(err, PAWL_CANCELLED, 0, 0, "no batch was in hand");
}

pawl_status
pawl__job_left_unsaved(const pawl_job *job, pawl_status status, pawl_error *err)
{
    if (status != PAWL_CANCELLED || pawl__stop_state_now(job->stop) != PAWL__STOP_LEAVE)
        return status;
    return pawl_error_set(err, PAWL_CANCELLED, 0, 0, "the last batch was left unsaved");
}

int64_t
pawl__job_source_deadline(const pawl_job *job)
{
    return pawl__clock_ms() + job->settings.source_timeout_ms;
}

/* The job has to leave: ends whatever its thread and its workers wait for. On the stop's thread. */
static void
leave(void *user)
{
    pawl_job *job = user;

    pawl__crew_abandon(job->crew);
    pawl_store_cancel(job->store);
    pawl__mirror_cancel(job->mirror);
    job->source.api->cancel(job->source.self);
}

/* ------------------------------------------------------------------------------------------------------- triggers -- */

/*
 * When to look for work next. An overrun looks at once, and ticks that were missed do not add up. When min_offsets_per_batch
 * ceases to hold records back, it is time too.
 */
static int64_t
next_look_ms(const pawl_job *job)
{
    int64_t tick_ms = job->looked_ms + job->settings.trigger_interval_ms;
    int64_t due_ms = job->batch_ended_ms + job->settings.max_trigger_delay_ms;

    if (job->settings.trigger != PAWL__TRIGGER_INTERVAL || job->looked_ms == 0)
        return 0;
    return job->settings.min_offsets_per_batch > 0 && job->looked_ms < due_ms ? MIN(tick_ms, due_ms) : tick_ms;
}

/* Waits until it is time to look for work, renewing meanwhile what has to be renewed. */
static pawl_status
await_look(pawl_job *job, int64_t look_ms, bool *ret_ending, pawl_error *err)
{
    pawl_status status = PAWL_OK;

    do {
        int64_t wake_ms = MIN(pawl__job_refresh_due(job), job->membership.follow_due_ms);

        *ret_ending = pawl__stop_wait_for_news(job->stop, MIN(look_ms, wake_ms)) != PAWL__STOP_RUN;
        if (!*ret_ending)
            status = pawl__job_follow_group(job, err);
        if (!*ret_ending && status == PAWL_OK)
            status = pawl__job_refresh(job, err);
    } while (status == PAWL_OK && !*ret_ending && pawl__clock_ms() < look_ms);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- the loop -- */

static void
count_batch(pawl_job *job, const pawl_batch *batch, int64_t process_ms)
{
    pawl__wait_lock(&job->stats_wait);
    job->stats.batches++;
    job->stats.process_ms = process_ms;
    for (size_t i = 0; i < batch->count; i++) {
        const pawl_range *range = &batch->ranges[i];

        if (range->state == PAWL__RANGE_SKIPPED)
            job->stats.skipped += range->until - range->from;
        if (range->state != PAWL__RANGE_DONE || range->stands_in)
            continue;
        job->stats.ranges++;
        job->stats.records += range->records;
        job->stats.bytes += range->bytes;
        job->stats.rejected += range->rejected;
    }
    pawl__wait_unlock(&job->stats_wait);
}

static void
tell_saved(pawl_job *job, const pawl_batch *batch)
{
    if (job->hooks.on_saved == NULL)
        return;
    pawl__call_begin(&job->call, "on_saved");
    job->hooks.on_saved(job->hooks.user, batch);
    pawl__call_end(&job->call);
}

static pawl_status
check_time(const pawl_job *job, const pawl_batch *batch, int64_t batch_deadline_ms, pawl_error *err)
{
    char timeout[PAWL__DURATION_TEXT_SIZE];

    if (pawl__clock_ms() < batch_deadline_ms)
        return PAWL_OK;
    return pawl_error_set(err, PAWL_STALLED, PAWL_ERROR_RETRIABLE, 0,
                          "batch %" PRId64 " has taken longer than batch_timeout = %s", batch->number,
                          pawl__text_from_duration(job->settings.batch_timeout_ms, timeout));
}

/* What has to be done beside a batch: renewing, and following the group. */
static pawl_status
attend(pawl_job *job, pawl_batch *batch, int64_t batch_deadline_ms, pawl_error *err)
{
    pawl_status status = check_time(job, batch, batch_deadline_ms, err);

    if (status == PAWL_OK)
        status = pawl__job_mind_group(job, batch, err);
    if (status == PAWL_OK)
        status = pawl__job_refresh(job, err);
    return status;
}

/* Has the crew process the batch. An owner that was fenced off drops it. */
static pawl_status
process(pawl_job *job, pawl_batch *batch, pawl_error *err)
{
    int64_t timeout_ms = job->settings.batch_timeout_ms;
    int64_t batch_deadline_ms = timeout_ms > 0 ? pawl__clock_ms() + timeout_ms : PAWL__NEVER;
    pawl_status status = PAWL_OK;

    pawl__crew_start(job->crew, batch);
    while (status == PAWL_OK && !pawl__crew_wait(job->crew, MIN(MIN(pawl__job_refresh_due(job), batch_deadline_ms),
                                                                pawl__job_group_deadline(job))))
        status = attend(job, batch, batch_deadline_ms, err);
    if (status == PAWL_OK)
        return pawl__crew_result(job->crew, err);
    pawl__crew_drop(job->crew);
    while (!pawl__crew_wait(job->crew, PAWL__NEVER))
        continue;
    return status;
}

static pawl_status
run_batch(pawl_job *job, pawl_batch *batch, pawl_error *err)
{
    int64_t started_ms = pawl__clock_ms(), processed_ms;
    pawl_status status;

    pawl__job_take_in_hand(job, batch);
    status = pawl__job_left_unsaved(job, process(job, batch, err), err);
    processed_ms = pawl__clock_ms();
    if (status == PAWL_OK)
        status = pawl__job_save(job, batch, err);
    pawl__job_take_in_hand(job, NULL);
    if (status == PAWL_OK && !pawl__batch_is_void(batch)) {
        count_batch(job, batch, processed_ms - started_ms);
        pawl__job_tell_batch(job, batch);
        tell_saved(job, batch);
    }
    return status;
}

/* Looks for work once, and does it. */
static pawl_status
look(pawl_job *job, bool *ret_worked, bool *ret_finished, pawl_error *err)
{
    pawl_batch *batch = NULL;
    int64_t now = pawl__clock_ms();
    pawl_status status = pawl__job_discover(job, err);

    if (status == PAWL_OK)
        status = pawl__job_plan(job, &batch, ret_finished, err);
    if (status == PAWL_OK && job->answered)
        job->looked_ms = now;
    if (status == PAWL_OK && batch != NULL) {
        status = run_batch(job, batch, err);
        job->batch_ended_ms = pawl__clock_ms();
        if (job->settings.trigger == PAWL__TRIGGER_ONCE)
            *ret_finished = !pawl__job_pin_left(job);
    }
    *ret_worked = batch != NULL;
    pawl__batch_free(batch);
    /* Before a batch ran. One that did has read ahead what nobody would read again. */
    if (status == PAWL_FENCED && !*ret_worked && pawl__job_mark_fenced(job))
        return PAWL_OK;
    return status;
}

static pawl_status
run_batches(pawl_job *job, pawl_error *err)
{
    bool finished = false, ending = false, worked;
    int64_t look_ms = 0, pause_ms = 0;
    pawl_status status = await_look(job, look_ms, &ending, err);

    while (status == PAWL_OK && !finished && !ending) {
        status = look(job, &worked, &finished, err);
        pause_ms = worked ? 0 : CLAMP(pause_ms * 2, IDLE_MIN_MS, IDLE_MAX_MS);
        look_ms = MAX(next_look_ms(job), pawl__clock_ms() + pause_ms);
        if (status == PAWL_OK && !finished)
            status = await_look(job, look_ms, &ending, err);
    }
    return status;
}

pawl_status
pawl__job_flush_held(pawl_job *job, pawl_error *err)
{
    pawl_batch *batch = pawl__job_plan_held(job);
    pawl_status status;

    if (batch == NULL)
        return PAWL_OK;
    status = pawl__job_save(job, batch, err);
    if (status == PAWL_OK) {
        count_batch(job, batch, 0);
        pawl__job_tell_batch(job, batch);
        tell_saved(job, batch);
    }
    pawl__batch_free(batch);
    return status;
}

/* What was cancelled, was so because the job has to leave. Who fails for another reason meanwhile keeps that. */
static pawl_status
as_seen_by_the_caller(pawl_job *job, pawl_status status, pawl_error *err)
{
    if (status == PAWL_OK)
        pawl_error_clear(err);
    else if (status == PAWL_CANCELLED && pawl__stop_state_now(job->stop) == PAWL__STOP_LEAVE)
        pawl_error_prefix(err, "told to stop at once");
    return status;
}

/* It has been waited for already. */
static bool
may_be_the_stores_fault(pawl_status status)
{
    return status == PAWL_UNREACHABLE || status == PAWL_TIMEOUT || status == PAWL_OUTCOME_UNKNOWN;
}

/* Ends everything, in the reverse order. */
static void
shut_down(pawl_job *job, pawl_status status)
{
    if (job->store != NULL && may_be_the_stores_fault(status))
        pawl__store_hurry(job->store, GIVE_BACK_MS);
    if (job->store != NULL)
        pawl__job_release(job, status != PAWL_CANCELLED);
    if (status == PAWL_FENCED) /* another's offsets are newer */
        pawl__mirror_cancel(job->mirror);
    pawl__mirror_finish(job->mirror, pawl__clock_ms() + MIRROR_LAST_MS);
    if (job->source.self != NULL && pawl__job_is_member(job))
        job->source.api->unsubscribe(job->source.self);
    pawl__stop_unwatch(job->stop);
    pawl__mirror_free(job->mirror);
    job->mirror = NULL;
    pawl__keeper_free(job->keeper);
    job->keeper = NULL;
    pawl__crew_free(job->crew);
    job->crew = NULL;
    if (job->source.self != NULL)
        job->source.api->close(job->source.self);
    g_free(job->source.self);
    job->source.self = NULL;
    pawl_store_close(job->store);
    job->store = NULL;
}

pawl_status
pawl_job_run(pawl_job *job, pawl_error *err)
{
    pawl_error local;
    pawl_error *failure = err != NULL ? err : &local;
    int64_t started_ms = pawl__clock_ms();
    pawl_status status;

    pawl_error_clear(failure);
    if (job->has_run)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "a job runs once: make a new one");
    job->has_run = true;
    pawl__job_tell_start(job);
    status = pawl__job_wait(job, 0) ? pawl__job_open(job, false, failure) : pawl__job_broken_off(job, failure);
    if (status == PAWL_OK)
        status =
            pawl__crew_new(&job->source, &job->hooks, &job->settings, &job->log, &job->counts, &job->crew, failure);
    if (status == PAWL_OK)
        status = pawl__stop_watch(job->stop, leave, pawl__job_warn_of_hung, job, failure);
    if (status == PAWL_OK)
        status = pawl__keeper_new(job, &job->keeper, failure);
    if (status == PAWL_OK)
        status = pawl__job_recover(job, failure);
    if (status == PAWL_OK)
        status = run_batches(job, failure);
    if (job->broken_off && pawl__stop_state_now(job->stop) == PAWL__STOP_FINISH)
        status = PAWL_OK; /* a stop that was obeyed */
    if (status == PAWL_OK)
        status = pawl__job_flush_held(job, failure);
    status = as_seen_by_the_caller(job, status, failure);
    if (status != PAWL_OK)
        pawl__log(&job->log, PAWL_LOG_ERROR, "job", "%s: %s", pawl_status_name(status), failure->message);
    shut_down(job, status);
    pawl__job_tell_end(job, status, started_ms);
    return status;
}

pawl_status
pawl_job_preview(pawl_job *job, pawl_preview_fn fn, void *user, pawl_error *err)
{
    pawl_error local;
    pawl_error *failure = err != NULL ? err : &local;
    pawl_status status;

    pawl_error_clear(failure);
    if (job->has_run)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "a job runs once: make a new one");
    job->has_run = true;
    status = pawl__job_open(job, true, failure);
    if (status == PAWL_OK)
        status = pawl__job_preview(job, fn, user, failure);
    shut_down(job, PAWL_CANCELLED); /* nothing was taken, so there is nothing to give back */
    return status;
}
