/*
 * members.c - sharing partitions with the other members of a consumer group
 *
 * The group assigns partitions and takes them back, and the loop follows between batches:
 *
 *     what is revoked is flushed, saved, released  ->  let go  ->  what is assigned is taken over
 *
 * While a batch runs, what is revoked goes on for up to revoke_timeout, and what is lost is dropped at once. Both happen on
 * the loop's thread, as saving does: so no save ever covers a partition that was given up before it.
 */
#include "core/job.h"

#include <glib.h>
#include <inttypes.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/partition.h"
#include "util/text.h"

/* When to try again to take over what could not be, and how long the group may be silent before that is told. */
#define FOLLOW_AGAIN_MS 500
#define SILENCE_MS      10000

/* How long a rebalance may take: what Kafka allows others by default (max.poll.interval.ms); and how often to look meanwhile
 * whether the job has to leave. */
#define REBALANCE_MS       300000
#define REBALANCE_SLICE_MS 200

bool
pawl__job_is_member(const pawl_job *job)
{
    return job->settings.members == PAWL__MEMBERS_GROUP;
}

bool
pawl__job_is_fenced_by_group(const pawl_job *job)
{
    return pawl__job_is_member(job) && (pawl_store_capabilities(job->store) & PAWL_STORE_CAS_EPOCH) == 0;
}

static pawl__holding *
holding_at(pawl_job *job, size_t index)
{
    return pawl__holdings_at(job->holdings, index);
}

/* ------------------------------------------------------------------------------------------------------- joining -- */

void
pawl__job_group_changed(void *user)
{
    pawl_job *job = user;

    atomic_store(&job->membership.changed, true);
    pawl__stop_nudge(job->stop);
    pawl__crew_nudge(job->crew);
}

/* Metadata that tell less than before are no news: what was selected once stays so. */
static void
remember_selected(pawl_job *job, const pawl_partition *selected, size_t count)
{
    GArray *known = job->membership.selected;
    guint index;

    for (size_t i = 0; i < count; i++)
        if (!pawl__partitions_find(known, selected[i], &index))
            pawl__partitions_add(known, selected[i]);
    g_array_sort(known, pawl__partition_compare);
}

/*
 * Whether a topic was read, or offsets of it were given, before now: another member that is just starting may have stored
 * where it will start in its own partitions, but has saved no batch yet. A store that knows no owners cannot tell that from
 * offsets that were given.
 */
static bool
is_from_before(const pawl_job *job, const pawl_entry *entry)
{
    bool knows_owners = (pawl_store_capabilities(job->store) & PAWL_STORE_CAS_EPOCH) != 0;

    return entry->offset.known && (entry->batch > 0 || (knows_owners && entry->owner.host[0] == '\0'));
}

void
pawl__job_note_start(pawl_job *job, const pawl_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pawl__partitions_add(job->membership.at_start, entries[i].partition);
        if (is_from_before(job, &entries[i]))
            g_hash_table_add(job->membership.topics_at_start, g_strdup(entries[i].partition.topic));
    }
}

static pawl_status
look_around(pawl_job *job, pawl_error *err)
{
    const GArray *all = job->membership.selected;
    pawl_entry *entries = g_new0(pawl_entry, all->len);
    pawl_status status = pawl_store_load(job->store, job->settings.group, (const pawl_partition *) all->data, all->len,
                                         entries, NULL, err);

    if (status == PAWL_OK)
        pawl__job_note_start(job, entries, all->len);
    g_free(entries);
    return status;
}

bool
pawl__job_is_new(const pawl_job *job, pawl_partition partition)
{
    guint index;

    return !pawl__partitions_find(job->membership.at_start, partition, &index) ||
           g_hash_table_contains(job->membership.topics_at_start, partition.topic);
}

/* Tells the group what is selected; brokers that do not answer are told again soon. */
static pawl_status
subscribe(pawl_job *job, pawl_error *err)
{
    GPtrArray *topics = g_ptr_array_new();
    const GArray *selected = job->membership.selected;
    const pawl_partition *all = (const pawl_partition *) selected->data;
    pawl_status status;

    for (guint i = 0; i < selected->len; i++)
        if (i == 0 || !g_str_equal(all[i].topic, all[i - 1].topic)) /* sorted */
            g_ptr_array_add(topics, (char *) all[i].topic);
    g_ptr_array_add(topics, NULL);
    status = job->source.api->subscribe(job->source.self, (const char *const *) topics->pdata, selected->len, err);
    g_ptr_array_unref(topics);
    if (status != PAWL_UNREACHABLE)
        return status;
    job->membership.follow_due_ms = pawl__clock_ms() + FOLLOW_AGAIN_MS;
    return PAWL_OK;
}

pawl_status
pawl__job_subscribe(pawl_job *job, const pawl_partition *selected, size_t count, pawl_error *err)
{
    pawl_status status = PAWL_OK;

    remember_selected(job, selected, count);
    if (job->membership.at_start->len == 0)
        status = look_around(job, err);
    return status == PAWL_OK ? subscribe(job, err) : status;
}

/* ------------------------------------------------------------------------------------------------------- marking -- */

static void
mark_revoked(void *user, pawl_partition partition, bool lost)
{
    pawl_job *job = user;
    pawl__holding *holding = pawl__holdings_find(job->holdings, partition);

    if (holding == NULL)
        return;
    if (holding->tenure == PAWL__TENURE_HELD && !lost)
        job->membership.leave_by_ms = pawl__clock_ms() + job->settings.revoke_timeout_ms;
    holding->tenure = MAX(holding->tenure, lost ? PAWL__TENURE_GONE : PAWL__TENURE_LEAVING);
}

pawl_status
pawl__job_note_revoked(pawl_job *job, pawl_error *err)
{
    if (!pawl__job_is_member(job))
        return PAWL_OK;
    return job->source.api->revoked(job->source.self, mark_revoked, job, err);
}

static size_t
count_tenure(pawl_job *job, pawl__tenure tenure)
{
    size_t count = 0;

    for (size_t i = 0; i < pawl__holdings_count(job->holdings); i++)
        count += holding_at(job, i)->tenure == tenure;
    return count;
}

/* Alone, there is nobody who could go on with the rest. */
bool
pawl__job_mark_fenced(pawl_job *job)
{
    size_t count = pawl__holdings_count(job->holdings), gone = count_tenure(job, PAWL__TENURE_GONE);
    bool by_epoch = (pawl_store_capabilities(job->store) & PAWL_STORE_CAS_EPOCH) != 0;
    pawl_partition *partitions = g_new0(pawl_partition, count);
    pawl_entry *entries = g_new0(pawl_entry, count);
    bool known = pawl__job_is_member(job);

    for (size_t i = 0; i < count; i++)
        partitions[i] = holding_at(job, i)->partition;
    if (known && by_epoch)
        known = pawl_store_load(job->store, job->settings.group, partitions, count, entries, NULL, NULL) == PAWL_OK;
    for (size_t i = 0; known && i < count; i++) {
        pawl__holding *holding = holding_at(job, i);

        if (holding->tenure == PAWL__TENURE_GONE || (by_epoch && entries[i].epoch <= holding->epoch))
            continue;
        holding->tenure = PAWL__TENURE_GONE;
        pawl__log(&job->log, PAWL_LOG_WARN, "job", "%s [%" PRId32 "] was taken over: what is in hand of it is dropped",
                  holding->partition.topic, holding->partition.number);
    }
    if (known)
        atomic_store(&job->membership.changed, true);
    g_free(partitions);
    g_free(entries);
    return count_tenure(job, PAWL__TENURE_GONE) > gone;
}

/* ------------------------------------------------------------------------------------------------ while a batch runs -- */

bool
pawl__job_is_given_up(const pawl_job *job, const pawl__holding *holding)
{
    bool overdue = job->membership.leave_by_ms != 0 && pawl__clock_ms() >= job->membership.leave_by_ms;

    return holding->tenure == PAWL__TENURE_GONE || (holding->tenure == PAWL__TENURE_LEAVING && overdue);
}

pawl_status
pawl__job_await_generation(pawl_job *job, pawl_error *err)
{
    const pawl_source_member *member =
        pawl__job_is_fenced_by_group(job) ? job->source.api->member(job->source.self) : NULL;
    int64_t deadline_ms = pawl__clock_ms() + REBALANCE_MS;
    pawl_status status = pawl__job_note_revoked(job, err);

    while (status == PAWL_OK && member != NULL && pawl__clock_ms() < deadline_ms &&
           !member->await_generation(member, pawl__clock_ms() + REBALANCE_SLICE_MS)) {
        if (pawl__stop_state_now(job->stop) == PAWL__STOP_LEAVE)
            return pawl_error_set(err, PAWL_CANCELLED, 0, 0, "told to leave while the group rebalanced");
        status = pawl__job_note_revoked(job, err);
    }
    return status;
}

pawl_status
pawl__job_mind_group(pawl_job *job, pawl_batch *batch, pawl_error *err)
{
    pawl_status status = pawl__job_note_revoked(job, err);
    bool dropped = false;

    for (size_t i = 0; i < batch->count; i++) {
        pawl_range *range = &batch->ranges[i];
        pawl__tenure tenure = range->holding->tenure;

        if (!pawl__job_is_given_up(job, range->holding) || range->dropped ||
            atomic_load(&range->phase) == PAWL_PHASE_PROCESSED)
            continue;
        range->dropped = dropped = true;
        pawl__log(&job->log, PAWL_LOG_WARN, "job", "%s [%" PRId32 "] %" PRId64 "..%" PRId64 ": dropped unsaved, %s",
                  pawl_range_topic(range), pawl_range_partition(range), range->from, range->until,
                  tenure == PAWL__TENURE_GONE ? "it is another member's now" : "revoke_timeout has passed");
    }
    if (dropped)
        pawl__crew_drop_ranges(job->crew);
    return status;
}

int64_t
pawl__job_group_deadline(const pawl_job *job)
{
    int64_t leave_by_ms = job->membership.leave_by_ms;

    return leave_by_ms != 0 && leave_by_ms > pawl__clock_ms() ? leave_by_ms : PAWL__NEVER;
}

/* ------------------------------------------------------------------------------------------------------ giving up -- */

static void
give_up(pawl_job *job, pawl__tenure tenure)
{
    GPtrArray *holdings = g_ptr_array_new();

    for (size_t i = 0; i < pawl__holdings_count(job->holdings); i++)
        if (holding_at(job, i)->tenure == tenure)
            g_ptr_array_add(holdings, holding_at(job, i));
    if (holdings->len > 0) {
        pawl__log(&job->log, PAWL_LOG_INFO, "job", "%u partitions %s", holdings->len,
                  tenure == PAWL__TENURE_GONE ? "were lost" : "go back to the group");
        pawl__job_give_up(job, (pawl__holding **) holdings->pdata, holdings->len, tenure == PAWL__TENURE_LEAVING);
    }
    g_ptr_array_unref(holdings);
}

static pawl_status
give_up_revoked(pawl_job *job, pawl_error *err)
{
    pawl_status status = pawl__job_note_revoked(job, err);

    give_up(job, PAWL__TENURE_GONE);
    if (status == PAWL_OK && count_tenure(job, PAWL__TENURE_LEAVING) > 0)
        status = pawl__job_flush_held(job, err);
    if (status != PAWL_OK)
        return status;
    give_up(job, PAWL__TENURE_GONE); /* flush may have found some */
    give_up(job, PAWL__TENURE_LEAVING);
    job->membership.leave_by_ms = 0;
    job->source.api->let_go(job->source.self);
    return PAWL_OK;
}

/* ----------------------------------------------------------------------------------------------------- taking over -- */

struct assigned {
    pawl_job *job;
    GArray *partitions; /* pawl_partition, not held yet; topics are owned */
};

static void
found_assigned(void *user, pawl_partition partition)
{
    struct assigned *assigned = user;

    if (pawl__holdings_find(assigned->job->holdings, partition) == NULL)
        pawl__partitions_add(assigned->partitions, partition);
}

/* What was taken half is given up again. */
static void
undo_take_over(pawl_job *job, const struct assigned *assigned)
{
    GPtrArray *holdings = g_ptr_array_new();

    for (guint i = 0; i < assigned->partitions->len; i++) {
        pawl__holding *holding =
            pawl__holdings_find(job->holdings, g_array_index(assigned->partitions, pawl_partition, i));

        if (holding != NULL)
            g_ptr_array_add(holdings, holding);
    }
    if (holdings->len > 0)
        pawl__job_give_up(job, (pawl__holding **) holdings->pdata, holdings->len, true);
    g_ptr_array_unref(holdings);
}

/* A group that rebalances, or a server that is away, may keep partitions from being taken over now. */
static bool
may_pass(pawl_status status, const pawl_error *err)
{
    return status == PAWL_UNREACHABLE || status == PAWL_STALE || status == PAWL_TIMEOUT || status == PAWL_FENCED ||
           (err->flags & PAWL_ERROR_RETRIABLE) != 0;
}

/* What could not be taken over now is tried again soon. */
static pawl_status
leave_for_later(pawl_job *job, const struct assigned *assigned, pawl_status status, const pawl_error *err)
{
    if (!may_pass(status, err))
        return status;
    undo_take_over(job, assigned);
    pawl__log(&job->log, PAWL_LOG_WARN, "job", "%u assigned partitions have to wait: %s", assigned->partitions->len,
              err->message);
    job->membership.follow_due_ms = pawl__clock_ms() + FOLLOW_AGAIN_MS;
    return PAWL_OK;
}

static void
count_standby(pawl_job *job)
{
    pawl__wait_lock(&job->stats_wait);
    job->stats.standby = job->membership.assigned && pawl__holdings_count(job->holdings) == 0;
    pawl__wait_unlock(&job->stats_wait);
}

static pawl_status
take_assigned(pawl_job *job, pawl_error *err)
{
    struct assigned assigned = {.job = job, .partitions = pawl__partitions_new()};
    pawl_status status = PAWL_OK;

    job->membership.assigned = job->source.api->assigned(job->source.self, found_assigned, &assigned);
    g_array_sort(assigned.partitions, pawl__partition_compare);
    if (assigned.partitions->len > 0) {
        const pawl_partition *partitions = &g_array_index(assigned.partitions, pawl_partition, 0);

        pawl__log(&job->log, PAWL_LOG_INFO, "job", "the group assigns %u more partitions", assigned.partitions->len);
        status = pawl__job_take_over(job, partitions, assigned.partitions->len, err);
        if (status != PAWL_OK)
            status = leave_for_later(job, &assigned, status, err);
    }
    count_standby(job);
    g_array_unref(assigned.partitions);
    return status;
}

/* Says now and then that the group has not decided on anything yet, or again. */
static void
tell_silence(pawl_job *job)
{
    pawl__membership *membership = &job->membership;
    char since[PAWL__DURATION_TEXT_SIZE];
    int64_t now = pawl__clock_ms();

    if (membership->assigned)
        membership->silence_told_ms = 0;
    else if (membership->silence_told_ms == 0)
        membership->silence_told_ms = now;
    else if (now >= membership->silence_told_ms + SILENCE_MS) {
        pawl__log(&job->log, PAWL_LOG_WARN, "job", "group '%s' has assigned nothing for %s more", job->settings.group,
                  pawl__text_from_duration(SILENCE_MS, since));
        membership->silence_told_ms = now;
    }
}

pawl_status
pawl__job_follow_group(pawl_job *job, pawl_error *err)
{
    pawl__membership *membership = &job->membership;
    pawl_status status;

    if (!pawl__job_is_member(job))
        return PAWL_OK;
    tell_silence(job);
    if (!atomic_exchange(&membership->changed, false) && membership->assigned &&
        pawl__clock_ms() < membership->follow_due_ms)
        return PAWL_OK;
    membership->follow_due_ms = PAWL__NEVER;
    status = subscribe(job, err);
    if (status == PAWL_OK)
        status = give_up_revoked(job, err);
    if (status == PAWL_OK)
        status = take_assigned(job, err);
    if (!membership->assigned) /* the group may leave it at that without a word */
        membership->follow_due_ms = MIN(membership->follow_due_ms, pawl__clock_ms() + FOLLOW_AGAIN_MS);
    return status;
}
