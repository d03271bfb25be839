/*
 * source.c - the memory source's table, opening and closing, and the questions of the loop's thread
 */
#include "source/memory/cluster.h"

#include <string.h>

#include "util/clock.h"
#include "util/partition.h"
#include "util/pattern.h"

/* ------------------------------------------------------------------------------------------------- open and close -- */

static void
free_tap(gpointer tap)
{
    g_free(tap);
}

static void
free_lane(gpointer lane)
{
    pawl__memory_lane_free(lane);
}

/* The cluster's name comes as the address of the brokers does. */
static void
take_property(void *user, const char *name, const char *value)
{
    memory_source *source = user;

    if (strcmp(name, "bootstrap.servers") == 0)
        source->cluster = pawl__memory_cluster_find(value);
}

static pawl_status
memory_open(void *self, const pawl_source_setup *setup, pawl_error *err)
{
    memory_source *source = self;

    source->topics = g_ptr_array_new_with_free_func(g_free);
    source->partitions = pawl__partitions_new();
    source->taps = g_ptr_array_new_with_free_func(free_tap);
    source->lanes = g_ptr_array_new_with_free_func(free_lane);
    source->read_committed = setup->read_committed;
    source->stall_timeout_ms = setup->stall_timeout_ms;
    for (const char *const *topic = setup->topics; topic != NULL && *topic != NULL; topic++)
        g_ptr_array_add(source->topics, g_strdup(*topic));
    for (size_t i = 0; i < setup->partition_count; i++)
        pawl__partitions_add(source->partitions, setup->partitions[i]);
    if (setup->group_member != NULL) {
        source->changed = setup->group_member->changed;
        source->changed_user = setup->group_member->user;
    }
    for (int i = 0; i < setup->lanes; i++)
        g_ptr_array_add(source->lanes, pawl__memory_lane_new(source));
    setup->properties(setup, take_property, source);
    if (source->cluster == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "kafka.bootstrap.servers names no cluster in memory");
    return setup->topics_pattern != NULL ? pawl__pattern_new(setup->topics_pattern, &source->pattern, err) : PAWL_OK;
}

static void
memory_close(void *self)
{
    memory_source *source = self;

    g_clear_pointer(&source->lanes, g_ptr_array_unref);
    g_clear_pointer(&source->taps, g_ptr_array_unref);
    g_clear_pointer(&source->partitions, g_array_unref);
    g_clear_pointer(&source->topics, g_ptr_array_unref);
    g_clear_pointer(&source->pattern, g_regex_unref);
}

/* ----------------------------------------------------------------------------------------------------- questions -- */

/* Whether it is this call's turn to fail. With the lock held. */
static bool
has_to_fail(pawl__memory_cluster *cluster, pawl__memory_call call)
{
    if (cluster->failing[call] == 0)
        return false;
    if (cluster->spared[call] > 0) {
        cluster->spared[call]--;
        return false;
    }
    if (cluster->failing[call] > 0)
        cluster->failing[call]--;
    return true;
}

/* Locks the cluster and begins a call, which may have to wait or to fail. */
static pawl_status
begin(memory_source *source, pawl__memory_call call, int64_t deadline_ms, pawl_error *err)
{
    pawl__memory_cluster *cluster = source->cluster;

    pawl__wait_lock(&cluster->wait);
    cluster->called[call]++;
    pawl__wait_wake(&cluster->wait);
    while (cluster->hanging[call] && !source->cancelled)
        if (!pawl__wait_until(&cluster->wait, deadline_ms))
            return pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, 0, "the cluster in memory hangs");
    if (source->cancelled)
        return pawl_error_set(err, PAWL_CANCELLED, 0, 0, "the source was cancelled");
    if (!has_to_fail(cluster, call))
        return PAWL_OK;
    return pawl_error_set(err, cluster->failure[call], PAWL_ERROR_RETRIABLE, 0, "the cluster in memory fails");
}

static pawl_status
end(memory_source *source, pawl_status status)
{
    pawl__wait_unlock(&source->cluster->wait);
    return status;
}

static pawl_status
memory_cluster_id(void *self, int64_t deadline_ms, char *ret_id, size_t size, pawl_error *err)
{
    memory_source *source = self;
    pawl_status status = begin(source, PAWL__MEMORY_CLUSTER, deadline_ms, err);

    if (status == PAWL_OK)
        g_strlcpy(ret_id, source->cluster->id, size);
    return end(source, status);
}

/* ----------------------------------------------------------------------------------------------------- discovery -- */

static bool
is_among(const memory_source *source, pawl_partition partition)
{
    for (guint i = 0; i < source->partitions->len; i++) {
        const pawl_partition *one = &g_array_index(source->partitions, pawl_partition, i);

        if (one->number == partition.number && strcmp(one->topic, partition.topic) == 0)
            return true;
    }
    return false;
}

static bool
is_selected(const memory_source *source, pawl_partition partition)
{
    if (source->pattern != NULL)
        return pawl__pattern_matches(source->pattern, partition.topic);
    if (source->partitions->len > 0)
        return is_among(source, partition);
    return g_ptr_array_find_with_equal_func(source->topics, partition.topic, g_str_equal, NULL);
}

/* How many partitions metadata tell; 0: the topic is not there. */
static int
shown(const memory_topic *topic)
{
    if (topic == NULL)
        return 0;
    return topic->shown < 0 ? (int) topic->logs->len : MIN(topic->shown, (int) topic->logs->len);
}

static pawl_status
memory_discover(void *self, int64_t deadline_ms, void (*found)(void *user, pawl_partition partition),
                void (*missing)(void *user, const char *topic), void *user, pawl_error *err)
{
    memory_source *source = self;
    GPtrArray *topics;
    pawl_status status = begin(source, PAWL__MEMORY_DISCOVER, deadline_ms, err);

    if (status != PAWL_OK)
        return end(source, status);
    topics = source->cluster->topics;
    for (guint t = 0; t < topics->len; t++) {
        const memory_topic *topic = g_ptr_array_index(topics, t);

        for (int p = 0; p < shown(topic); p++)
            if (is_selected(source, (pawl_partition){topic->name, p}))
                found(user, (pawl_partition){topic->name, p});
    }
    for (guint t = 0; t < source->topics->len; t++) {
        const char *name = g_ptr_array_index(source->topics, t);

        if (shown(pawl__memory_find_topic(source->cluster, name)) == 0)
            missing(user, name);
    }
    for (guint i = 0; i < source->partitions->len; i++) {
        const pawl_partition *one = &g_array_index(source->partitions, pawl_partition, i);

        if (one->number >= shown(pawl__memory_find_topic(source->cluster, one->topic)))
            missing(user, one->topic);
    }
    return end(source, PAWL_OK);
}

/* -------------------------------------------------------------------------------------------------------- bounds -- */

int64_t
pawl__memory_end(const memory_source *source, const memory_log *log)
{
    return source->read_committed && log->stable >= 0 ? MIN(log->stable, log->high) : log->high;
}

static void
answer_bounds(const memory_source *source, pawl_bounds_line *line, bool whole)
{
    memory_log *log = pawl__memory_find_log(source->cluster, line->partition);

    line->ret_status = log == NULL ? PAWL_FAILED : log->refused;
    line->ret_why = line->ret_status == PAWL_FAILED ? "the partition does not exist" : "there is no leader";
    if (line->ret_status != PAWL_OK)
        return;
    line->ret_low = log->low;
    line->ret_high = whole ? log->high : pawl__memory_end(source, log);
    if (log->lies > 0) {
        log->lies--;
        line->ret_low = log->lie_low;
        line->ret_high = log->lie_high;
    }
}

static pawl_status
tell_bounds(memory_source *source, pawl__memory_call call, int64_t deadline_ms, pawl_bounds_line *lines, size_t count,
            pawl_error *err)
{
    pawl_status status = begin(source, call, deadline_ms, err);

    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        answer_bounds(source, &lines[i], call == PAWL__MEMORY_LOG_END);
    return end(source, status);
}

static pawl_status
memory_bounds(void *self, int64_t deadline_ms, pawl_bounds_line *lines, size_t count, pawl_error *err)
{
    return tell_bounds(self, PAWL__MEMORY_BOUNDS, deadline_ms, lines, count, err);
}

static pawl_status
memory_log_end(void *self, int64_t deadline_ms, pawl_bounds_line *lines, size_t count, pawl_error *err)
{
    return tell_bounds(self, PAWL__MEMORY_LOG_END, deadline_ms, lines, count, err);
}

/* Timestamps go up and down: what is asked for is the first record that is not older. */
static void
answer_time(const memory_source *source, int64_t time_ms, pawl_time_line *line)
{
    const memory_log *log = pawl__memory_find_log(source->cluster, line->partition);

    g_assert(log != NULL);
    line->ret_offset = pawl__memory_end(source, log);
    line->ret_none_after = true;
    for (guint i = log->records->len; i > 0; i--) {
        const memory_record *record = &g_array_index(log->records, memory_record, i - 1);

        if (record->timestamp_ms < time_ms)
            continue;
        line->ret_offset = record->offset;
        line->ret_none_after = false;
    }
}

static pawl_status
memory_at_time(void *self, int64_t deadline_ms, int64_t time_ms, pawl_time_line *lines, size_t count, pawl_error *err)
{
    memory_source *source = self;
    pawl_status status = begin(source, PAWL__MEMORY_AT_TIME, deadline_ms, err);

    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        answer_time(source, time_ms, &lines[i]);
    return end(source, status);
}

/* ---------------------------------------------------------------------------------------------------------- taps -- */

static pawl_status
memory_hold(void *self, pawl_hold_line *lines, size_t count, pawl_error *err)
{
    memory_source *source = self;
    pawl_status status = begin(source, PAWL__MEMORY_HOLD, PAWL__NEVER, err);

    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        pawl_source_tap *tap = g_new0(pawl_source_tap, 1);

        tap->log = pawl__memory_find_log(source->cluster, lines[i].partition);
        tap->position = lines[i].position;
        g_assert(tap->log != NULL);
        g_ptr_array_add(source->taps, tap);
        lines[i].ret_tap = tap;
    }
    return end(source, status);
}

static void
memory_unhold(void *self, pawl_source_tap *const *taps, size_t count)
{
    memory_source *source = self;

    pawl__wait_lock(&source->cluster->wait);
    source->cluster->called[PAWL__MEMORY_UNHOLD]++;
    for (size_t i = 0; i < count; i++) {
        g_assert(taps[i]->lane == NULL);
        g_ptr_array_remove_fast(source->taps, taps[i]);
    }
    pawl__wait_unlock(&source->cluster->wait);
}

static void
memory_cancel(void *self)
{
    memory_source *source = self;

    pawl__wait_lock(&source->cluster->wait);
    source->cancelled = true;
    pawl__wait_wake(&source->cluster->wait);
    pawl__wait_unlock(&source->cluster->wait);
}

const pawl_source_backend pawl__memory_source = {
    .abi = PAWL_SOURCE_ABI,
    .name = "memory",
    .instance_size = sizeof(memory_source),
    .open = memory_open,
    .close = memory_close,
    .cluster = memory_cluster_id,
    .discover = memory_discover,
    .bounds = memory_bounds,
    .log_end = memory_log_end,
    .at_time = memory_at_time,
    .hold = memory_hold,
    .unhold = memory_unhold,
    .lane = pawl__memory_lane,
    .subscribe = pawl__memory_subscribe,
    .assigned = pawl__memory_assigned,
    .revoked = pawl__memory_revoked,
    .let_go = pawl__memory_let_go,
    .unsubscribe = pawl__memory_unsubscribe,
    .member = pawl__memory_member,
    .wake = pawl__memory_wake,
    .cancel = memory_cancel,
    .range_open = pawl__memory_range_open,
    .range_shut = pawl__memory_range_shut,
    .rewind = pawl__memory_rewind,
    .next = pawl__memory_next,
    .settle = pawl__memory_settle,
};
