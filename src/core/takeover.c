/*
 * takeover.c - becoming the owner of partitions
 *
 *     load  ->  resolve starts  ->  acquire  ->  ask the sink  ->  start to read
 */
#include "core/job.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

/* How often an epoch may have changed between load and acquire before somebody is taken to fight for it. */
#define ACQUIRE_ATTEMPTS 5

/* How often takeover = idle looks at the owner's entry while it waits. */
#define OWNER_LOOK_MS 500

/* The partitions that are taken over together. */
struct takeover {
    pawl_job *job;
    const pawl_partition *partitions;
    size_t count;
    pawl_entry *entries;      /* as loaded */
    pawl_position *initial;   /* for those with nothing stored */
    pawl_acquire_line *lines; /* as acquired */
};

/* Where nothing is stored, that was told when it was decided where to start. */
static void
log_entry(pawl_job *job, const pawl_entry *entry)
{
    char place[512];

    if (!entry->offset.known || !pawl__log_takes(&job->log, PAWL_LOG_INFO))
        return;
    pawl__log(&job->log, PAWL_LOG_INFO, "job", "read  %s [%" PRId32 "]: %" PRId64 ", epoch %" PRId64 ", in %s",
              entry->partition.topic, entry->partition.number, entry->offset.offset, entry->epoch,
              pawl_store_place(job->store, job->settings.group, entry->partition, place, sizeof place));
}

/* ------------------------------------------------------------------------------------------------------- loading -- */

pawl_status
pawl__job_check_cluster(pawl_job *job, const char *stored, pawl_error *err)
{
    if (stored[0] == '\0' || job->cluster[0] == '\0' || strcmp(stored, job->cluster) == 0)
        return PAWL_OK;
    if (!job->settings.accept_cluster)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "the offsets of group '%s' belong to the Kafka cluster %s, and this is %s; "
                              "accept_cluster = true uses them all the same",
                              job->settings.group, stored, job->cluster);
    pawl__log(&job->log, PAWL_LOG_WARN, "job", "group '%s' moves from the Kafka cluster %s to %s (accept_cluster)",
              job->settings.group, stored, job->cluster);
    return PAWL_OK;
}

static pawl_status
load(struct takeover *takeover, pawl_error *err)
{
    pawl_job *job = takeover->job;
    pawl_group_info group;
    pawl_status status = pawl_store_load(job->store, job->settings.group, takeover->partitions, takeover->count,
                                         takeover->entries, &group, err);

    if (status != PAWL_OK)
        return status;
    return pawl__job_check_cluster(job, group.cluster, err);
}

/* --------------------------------------------------------------------------------------------------- other owners -- */

/* The entry whose owner was active last, or NULL when nobody owns any of them. */
static const pawl_entry *
freshest_owner(const struct takeover *takeover)
{
    const pawl_entry *freshest = NULL;

    for (size_t i = 0; i < takeover->count; i++) {
        const pawl_entry *entry = &takeover->entries[i];

        if (entry->owner.host[0] != '\0' && (freshest == NULL || entry->owner.renewed_ms > freshest->owner.renewed_ms))
            freshest = entry;
    }
    return freshest;
}

/* How long the owner has been silent. Its clock may be ahead of ours. */
static int64_t
silence_ms(const pawl_entry *owned)
{
    return MAX(pawl__clock_wall_ms() - owned->owner.renewed_ms, 0);
}

static pawl_status
refuse_takeover(const pawl_entry *entry, pawl_error *err)
{
    char silence[PAWL__DURATION_TEXT_SIZE];

    return pawl_error_set(err, PAWL_FENCED, 0, 0,
                          "%s [%" PRId32 "] belongs to %s (process %" PRId64 " on %s), which was active %s ago: "
                          "let it work, or end it there; takeover = now is for an owner that is surely gone",
                          entry->partition.topic, entry->partition.number, entry->owner.client_id, entry->owner.pid,
                          entry->owner.host, pawl__text_about_duration(silence_ms(entry), silence));
}

static void
log_waiting(pawl_job *job, const pawl_entry *owned, int64_t wait_ms)
{
    char idle[PAWL__DURATION_TEXT_SIZE], until[PAWL__TIME_TEXT_SIZE];

    pawl__log(&job->log, PAWL_LOG_INFO, "job",
              "waiting until %s (process %" PRId64 " on %s) has been idle for %s, which is at %s",
              owned->owner.client_id, owned->owner.pid, owned->owner.host,
              pawl__text_from_duration(job->settings.takeover_idle_ms, idle),
              pawl__text_from_time(pawl__clock_wall_ms() + wait_ms, until));
}

/* Waits until the owner has been silent for long enough, and gives up as soon as it stirs, or another takes its place. */
static pawl_status
await_silence(struct takeover *takeover, const pawl_entry *owned, pawl_error *err)
{
    pawl_job *job = takeover->job;
    const pawl_entry *first = owned; /* entries keep their places */
    int64_t renewed_ms = owned->owner.renewed_ms, epoch = owned->epoch;
    int64_t idle_at_ms = pawl__clock_ms() + job->settings.takeover_idle_ms - silence_ms(owned);

    if (idle_at_ms > pawl__clock_ms())
        log_waiting(job, owned, idle_at_ms - pawl__clock_ms());
    while (owned != NULL && idle_at_ms > pawl__clock_ms()) {
        pawl_status status;

        if (!pawl__job_wait(job, MIN(idle_at_ms, pawl__clock_ms() + OWNER_LOOK_MS)))
            return pawl__job_broken_off(job, err);
        status = load(takeover, err);
        if (status != PAWL_OK)
            return status;
        owned = freshest_owner(takeover);
        if (owned != NULL && (owned->owner.renewed_ms > renewed_ms || (owned == first && owned->epoch != epoch)))
            return refuse_takeover(owned, err);
    }
    return PAWL_OK;
}

/* Whether the owner that is there may be fenced off. */
static pawl_status
respect_owner(struct takeover *takeover, pawl_error *err)
{
    const pawl_entry *owned = freshest_owner(takeover);

    if (owned == NULL || takeover->job->settings.takeover == PAWL__TAKEOVER_NOW)
        return PAWL_OK;
    if (takeover->job->settings.takeover == PAWL__TAKEOVER_REFUSE)
        return refuse_takeover(owned, err);
    return await_silence(takeover, owned, err);
}

/* ----------------------------------------------------------------------------------------------------- acquiring -- */

/*
 * Reads again what the owner before us has saved until it was fenced off: its saves do not change the epoch. Where acquire
 * wrote where we start, nothing is stored still.
 */
static pawl_status
load_as_owner(struct takeover *takeover, pawl_error *err)
{
    pawl_status status = load(takeover, err);

    for (size_t i = 0; status == PAWL_OK && i < takeover->count; i++)
        if (takeover->initial[i].known && pawl_position_equal(takeover->initial[i], takeover->entries[i].offset))
            takeover->entries[i].offset = pawl_position_absent();
    return status;
}

static pawl_status
acquire_once(struct takeover *takeover, pawl_error *err)
{
    pawl_job *job = takeover->job;
    pawl_status status = load(takeover, err);

    if (status == PAWL_OK)
        status = respect_owner(takeover, err);
    if (status == PAWL_OK)
        status = pawl__job_resolve_starts(job, takeover->entries, takeover->count, takeover->initial, err);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < takeover->count; i++)
        takeover->lines[i] = (pawl_acquire_line){
            .partition = takeover->partitions[i],
            .epoch_seen = takeover->entries[i].epoch,
            .initial = takeover->initial[i],
        };
    status = pawl_store_acquire(job->store, job->settings.group, &job->owner, job->cluster, takeover->lines,
                                takeover->count, err);
    return status == PAWL_OK ? load_as_owner(takeover, err) : status;
}

static pawl_status
acquire(struct takeover *takeover, pawl_error *err)
{
    pawl_status status = PAWL_STALE;

    for (int attempt = 0; status == PAWL_STALE && attempt < ACQUIRE_ATTEMPTS; attempt++)
        status = acquire_once(takeover, err);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- opening -- */

/* Asks the user where to start; the answer goes into the holdings' positions. */
static pawl_status
ask_sink(struct takeover *takeover, pawl__holding **holdings, pawl_error *err)
{
    const pawl_hooks *hooks = &takeover->job->hooks;
    pawl_opening *openings = g_new0(pawl_opening, takeover->count);
    pawl_error answer = {0};
    pawl_verdict verdict = PAWL_DONE;
    char *why;

    for (size_t i = 0; i < takeover->count; i++) {
        openings[i].partition = holdings[i]->partition;
        openings[i].stored = takeover->entries[i].offset;
        openings[i].position = pawl_position_at(holdings[i]->position);
    }
    if (hooks->on_open != NULL) {
        pawl__call_begin(&takeover->job->call, "on_open");
        verdict = hooks->on_open(hooks->user, openings, takeover->count, &answer);
        pawl__call_end(&takeover->job->call);
    }
    for (size_t i = 0; i < takeover->count; i++) {
        holdings[i]->opened = verdict == PAWL_DONE;
        if (openings[i].position.known)
            holdings[i]->position = openings[i].position.offset;
    }
    g_free(openings);
    if (verdict == PAWL_DONE)
        return PAWL_OK;
    why = pawl__refusal_text("on_open", verdict, &answer);
    pawl_error_set(err, answer.status != PAWL_OK ? answer.status : PAWL_FAILED, answer.flags, answer.native_code, "%s",
                   why);
    g_free(why);
    return err->status;
}

/* Makes the store follow a sink that answered with offsets of its own. */
static pawl_status
follow_sink(struct takeover *takeover, pawl__holding **holdings, pawl_error *err)
{
    int64_t *positions = g_new0(int64_t, takeover->count);
    pawl__holding **moved = g_new0(pawl__holding *, takeover->count);
    size_t count = 0;
    pawl_status status = PAWL_OK;

    for (size_t i = 0; i < takeover->count; i++) {
        pawl__holding *holding = holdings[i];

        if (pawl_position_equal(holding->stored, pawl_position_at(holding->position)))
            continue;
        holding->pending = pawl_position_absent();
        moved[count] = holding;
        positions[count++] = holding->position;
    }
    if (count > 0)
        status = pawl__job_save_positions(takeover->job, moved, positions, count, err);
    g_free(moved);
    g_free(positions);
    return status;
}

/* What others have saved may not be in the mirror. */
static void
mirror_stored(struct takeover *takeover, pawl__holding *const *holdings)
{
    pawl_save_line *lines = g_new0(pawl_save_line, takeover->count);

    for (size_t i = 0; i < takeover->count; i++)
        lines[i] = (pawl_save_line){
            .partition = holdings[i]->partition,
            .epoch = holdings[i]->epoch,
            .until = holdings[i]->stored.offset,
            .batch = takeover->entries[i].batch,
        };
    pawl__mirror_give(takeover->job->mirror, lines, takeover->count);
    g_free(lines);
}

/*
 * What was stored for another log than this one can be told by the record before: the source is to begin with it. Where the
 * sink has said where to start, nothing is known of that place.
 */
static pawl_status
start_reading(struct takeover *takeover, pawl__holding **holdings, pawl_error *err)
{
    const pawl__source *source = &takeover->job->source;
    pawl_hold_line *lines = g_new0(pawl_hold_line, takeover->count);
    pawl_status status;

    for (size_t i = 0; i < takeover->count; i++) {
        pawl__holding *holding = holdings[i];

        holding->position_print = holding->stored_print;
        holding->looks_back = pawl__print_is_known(&holding->position_print);
        lines[i].partition = holding->partition;
        lines[i].position = holding->position - holding->looks_back;
    }
    status = source->api->hold(source->self, lines, takeover->count, err);
    for (size_t i = 0; status == PAWL_OK && i < takeover->count; i++)
        holdings[i]->tap = lines[i].ret_tap;
    g_free(lines);
    return status;
}

static void
add_holdings(struct takeover *takeover, pawl__holding **ret_holdings)
{
    pawl_job *job = takeover->job;

    for (size_t i = 0; i < takeover->count; i++) {
        const pawl_entry *entry = &takeover->entries[i];
        pawl__holding *holding = pawl__holdings_add(job->holdings, takeover->partitions[i]);

        log_entry(job, entry);
        holding->epoch = takeover->lines[i].ret_epoch;
        holding->stored = entry->offset.known ? entry->offset : takeover->initial[i];
        holding->stored_print = pawl__print_stored(entry->print, holding->stored.offset);
        holding->position = holding->stored.offset;
        holding->pending = entry->pending;
        holding->saved_ms = pawl__clock_ms();
        job->batch_number = MAX(job->batch_number, entry->batch);
        ret_holdings[i] = holding;
    }
}

static pawl_status
open_partitions(struct takeover *takeover, pawl_error *err)
{
    pawl__holding **holdings = g_new0(pawl__holding *, takeover->count);
    pawl_status status;

    add_holdings(takeover, holdings);
    status = ask_sink(takeover, holdings, err);
    if (status == PAWL_OK)
        status = follow_sink(takeover, holdings, err);
    if (status == PAWL_OK)
        mirror_stored(takeover, holdings);
    if (status == PAWL_OK)
        status = start_reading(takeover, holdings, err);
    g_free(holdings);
    return status;
}

static pawl_status
check_room(pawl_job *job, size_t count, pawl_error *err)
{
    size_t limit = pawl_store_max_partitions(job->store);

    count += pawl__holdings_count(job->holdings);
    if (limit == 0 || count <= limit)
        return PAWL_OK;
    return pawl_error_set(err, PAWL_INVALID, 0, 0,
                          "%zu partitions are more than the %zu that this store can save at once", count, limit);
}

pawl_status
pawl__job_take_over(pawl_job *job, const pawl_partition *partitions, size_t count, pawl_error *err)
{
    struct takeover takeover = {
        .job = job,
        .partitions = partitions,
        .count = count,
        .entries = g_new0(pawl_entry, count),
        .initial = g_new0(pawl_position, count),
        .lines = g_new0(pawl_acquire_line, count),
    };
    pawl_status status = check_room(job, count, err);

    if (status == PAWL_OK)
        status = acquire(&takeover, err);
    if (status == PAWL_OK)
        status = open_partitions(&takeover, err);
    g_free(takeover.entries);
    g_free(takeover.initial);
    g_free(takeover.lines);
    return status;
}
