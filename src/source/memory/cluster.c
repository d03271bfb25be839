/*
 * cluster.c - the logs of a cluster in memory, and what a test does to them
 */
#include "source/memory/cluster.h"

#include <string.h>

#include "util/partition.h"

#define FIRST_CHUNK 3

static pthread_mutex_t clusters_lock = PTHREAD_MUTEX_INITIALIZER;
static GPtrArray *clusters; /* borrowed */

/* ---------------------------------------------------------------------------------------------------- life cycle -- */

static void
free_log(gpointer data)
{
    memory_log *log = data;

    g_array_unref(log->records);
    g_free(log);
}

static void
free_topic(gpointer data)
{
    memory_topic *topic = data;

    g_ptr_array_unref(topic->logs);
    g_free(topic->name);
    g_free(topic);
}

pawl__memory_cluster *
pawl__memory_cluster_new(const char *name, const char *id)
{
    pawl__memory_cluster *cluster = g_new0(pawl__memory_cluster, 1);

    cluster->name = g_strdup(name);
    cluster->id = g_strdup(id);
    cluster->topics = g_ptr_array_new_with_free_func(free_topic);
    cluster->texts = g_string_chunk_new(4096);
    cluster->chunk = FIRST_CHUNK;
    cluster->assigned = pawl__partitions_new();
    cluster->revoked = pawl__partitions_new();
    pawl__wait_init(&cluster->wait);
    pthread_mutex_lock(&clusters_lock);
    if (clusters == NULL)
        clusters = g_ptr_array_new();
    g_ptr_array_add(clusters, cluster);
    pthread_mutex_unlock(&clusters_lock);
    return cluster;
}

void
pawl__memory_cluster_free(pawl__memory_cluster *cluster)
{
    if (cluster == NULL)
        return;
    pthread_mutex_lock(&clusters_lock);
    g_ptr_array_remove_fast(clusters, cluster);
    if (clusters->len == 0)
        g_clear_pointer(&clusters, g_ptr_array_unref);
    pthread_mutex_unlock(&clusters_lock);
    g_ptr_array_unref(cluster->topics);
    g_string_chunk_free(cluster->texts);
    g_array_unref(cluster->assigned);
    g_array_unref(cluster->revoked);
    pawl__wait_done(&cluster->wait);
    g_free(cluster->name);
    g_free(cluster->id);
    g_free(cluster);
}

pawl__memory_cluster *
pawl__memory_cluster_find(const char *name)
{
    pawl__memory_cluster *found = NULL;

    pthread_mutex_lock(&clusters_lock);
    for (guint i = 0; clusters != NULL && i < clusters->len; i++) {
        pawl__memory_cluster *cluster = g_ptr_array_index(clusters, i);

        if (strcmp(cluster->name, name) == 0)
            found = cluster;
    }
    pthread_mutex_unlock(&clusters_lock);
    return found;
}

/* ------------------------------------------------------------------------------------------------------- finding -- */

memory_topic *
pawl__memory_find_topic(pawl__memory_cluster *cluster, const char *name)
{
    for (guint i = 0; i < cluster->topics->len; i++) {
        memory_topic *topic = g_ptr_array_index(cluster->topics, i);

        if (strcmp(topic->name, name) == 0)
            return topic;
    }
    return NULL;
}

memory_log *
pawl__memory_find_log(pawl__memory_cluster *cluster, pawl_partition partition)
{
    memory_topic *topic = pawl__memory_find_topic(cluster, partition.topic);

    if (topic == NULL || partition.number < 0 || (guint) partition.number >= topic->logs->len)
        return NULL;
    return g_ptr_array_index(topic->logs, partition.number);
}

guint
pawl__memory_first_at(const memory_log *log, int64_t offset)
{
    guint first = 0, after = log->records->len;

    while (first < after) {
        guint middle = first + (after - first) / 2;

        if (g_array_index(log->records, memory_record, middle).offset < offset)
            first = middle + 1;
        else
            after = middle;
    }
    return first;
}

/* Locks the cluster and finds a log, which has to be there. */
static memory_log *
enter(pawl__memory_cluster *cluster, const char *topic, int partition)
{
    memory_log *log;

    pawl__wait_lock(&cluster->wait);
    log = pawl__memory_find_log(cluster, (pawl_partition){topic, partition});
    g_assert(log != NULL);
    return log;
}

static void
leave(pawl__memory_cluster *cluster)
{
    pawl__wait_wake(&cluster->wait);
    pawl__wait_unlock(&cluster->wait);
}

/* -------------------------------------------------------------------------------------------------------- topics -- */

static memory_topic *
get_topic(pawl__memory_cluster *cluster, const char *name)
{
    memory_topic *topic = pawl__memory_find_topic(cluster, name);

    if (topic == NULL) {
        topic = g_new0(memory_topic, 1);
        topic->name = g_strdup(name);
        topic->logs = g_ptr_array_new_with_free_func(free_log);
        topic->shown = -1;
        g_ptr_array_add(cluster->topics, topic);
    }
    return topic;
}

void
pawl__memory_make_topic(pawl__memory_cluster *cluster, const char *topic, int partitions)
{
    memory_topic *made;

    pawl__wait_lock(&cluster->wait);
    made = get_topic(cluster, topic);
    while (made->logs->len < (guint) partitions) {
        memory_log *log = g_new0(memory_log, 1);

        log->partition = (pawl_partition){made->name, (int32_t) made->logs->len};
        log->records = g_array_new(FALSE, FALSE, sizeof(memory_record));
        log->stable = -1;
        g_ptr_array_add(made->logs, log);
    }
    leave(cluster);
}

void
pawl__memory_hide_partitions(pawl__memory_cluster *cluster, const char *topic, int partitions)
{
    pawl__wait_lock(&cluster->wait);
    get_topic(cluster, topic)->shown = partitions;
    leave(cluster);
}

/* ---------------------------------------------------------------------------------------------------------- logs -- */

static void
add_record(memory_log *log, const char *key, const char *value, int64_t timestamp_ms)
{
    memory_record record = {.offset = log->high++, .timestamp_ms = timestamp_ms, .key = key, .value = value};

    g_array_append_val(log->records, record);
}

void
pawl__memory_append(pawl__memory_cluster *cluster, const char *topic, int partition, int count)
{
    memory_log *log = enter(cluster, topic, partition);

    for (int i = 0; i < count; i++)
        add_record(log, NULL, NULL, 0);
    leave(cluster);
}

void
pawl__memory_append_record(pawl__memory_cluster *cluster, const char *topic, int partition, const char *key,
                           const char *value, int64_t timestamp_ms)
{
    memory_log *log = enter(cluster, topic, partition);

    add_record(log, key != NULL ? g_string_chunk_insert(cluster->texts, key) : NULL,
               value != NULL ? g_string_chunk_insert(cluster->texts, value) : NULL, timestamp_ms);
    leave(cluster);
}

void
pawl__memory_append_gap(pawl__memory_cluster *cluster, const char *topic, int partition, int64_t count)
{
    enter(cluster, topic, partition)->high += count;
    leave(cluster);
}

void
pawl__memory_cut_start(pawl__memory_cluster *cluster, const char *topic, int partition, int64_t low)
{
    memory_log *log = enter(cluster, topic, partition);

    g_array_remove_range(log->records, 0, pawl__memory_first_at(log, low));
    log->low = low;
    log->high = MAX(log->high, low);
    leave(cluster);
}

void
pawl__memory_cut_end(pawl__memory_cluster *cluster, const char *topic, int partition, int64_t high)
{
    memory_log *log = enter(cluster, topic, partition);

    g_array_set_size(log->records, pawl__memory_first_at(log, high));
    log->high = high;
    log->low = MIN(log->low, high);
    leave(cluster);
}

void
pawl__memory_open_transaction(pawl__memory_cluster *cluster, const char *topic, int partition, int64_t offset)
{
    enter(cluster, topic, partition)->stable = offset;
    leave(cluster);
}

/* ---------------------------------------------------------------------------------------------------------- harm -- */

void
pawl__memory_fail_calls(pawl__memory_cluster *cluster, pawl__memory_call call, int times, pawl_status status)
{
    pawl__wait_lock(&cluster->wait);
    cluster->failing[call] = times;
    cluster->failure[call] = status;
    leave(cluster);
}

void
pawl__memory_spare_calls(pawl__memory_cluster *cluster, pawl__memory_call call, int count)
{
    pawl__wait_lock(&cluster->wait);
    cluster->spared[call] = count;
    leave(cluster);
}

void
pawl__memory_hang_calls(pawl__memory_cluster *cluster, pawl__memory_call call, bool hang)
{
    pawl__wait_lock(&cluster->wait);
    cluster->hanging[call] = hang;
    leave(cluster);
}

void
pawl__memory_refuse_bounds(pawl__memory_cluster *cluster, const char *topic, int partition, pawl_status status)
{
    enter(cluster, topic, partition)->refused = status;
    leave(cluster);
}

void
pawl__memory_lie(pawl__memory_cluster *cluster, const char *topic, int partition, int times, int64_t low, int64_t high)
{
    memory_log *log = enter(cluster, topic, partition);

    log->lies = times;
    log->lie_low = low;
    log->lie_high = high;
    leave(cluster);
}

static void
fail_ranges(pawl__memory_cluster *cluster, const char *topic, int partition, bool at_once, int times,
            pawl_status status, unsigned flags)
{
    memory_log *log = enter(cluster, topic, partition);

    log->failures = times;
    log->at_once = at_once;
    log->failure = status;
    log->failure_flags = flags;
    leave(cluster);
}

void
pawl__memory_fail_ranges(pawl__memory_cluster *cluster, const char *topic, int partition, int times, pawl_status status,
                         unsigned flags)
{
    fail_ranges(cluster, topic, partition, false, times, status, flags);
}

void
pawl__memory_fail_ranges_at_once(pawl__memory_cluster *cluster, const char *topic, int partition, int times,
                                 pawl_status status, unsigned flags)
{
    fail_ranges(cluster, topic, partition, true, times, status, flags);
}

void
pawl__memory_stall(pawl__memory_cluster *cluster, const char *topic, int partition, bool stall)
{
    enter(cluster, topic, partition)->stalled = stall;
    leave(cluster);
}

void
pawl__memory_set_chunk(pawl__memory_cluster *cluster, int records)
{
    pawl__wait_lock(&cluster->wait);
    cluster->chunk = records;
    leave(cluster);
}

/* ------------------------------------------------------------------------------------------------------ watching -- */

int
pawl__memory_calls(pawl__memory_cluster *cluster, pawl__memory_call call)
{
    int calls;

    pawl__wait_lock(&cluster->wait);
    calls = cluster->called[call];
    pawl__wait_unlock(&cluster->wait);
    return calls;
}

bool
pawl__memory_await_calls(pawl__memory_cluster *cluster, pawl__memory_call call, int count, int64_t deadline_ms)
{
    bool come;

    pawl__wait_lock(&cluster->wait);
    while (cluster->called[call] < count && pawl__wait_until(&cluster->wait, deadline_ms))
        continue;
    come = cluster->called[call] >= count;
    pawl__wait_unlock(&cluster->wait);
    return come;
}

bool
pawl__memory_await_open(pawl__memory_cluster *cluster, const char *topic, int partition, int64_t deadline_ms)
{
    memory_log *log = enter(cluster, topic, partition);
    bool open;

    while (!log->awaited && pawl__wait_until(&cluster->wait, deadline_ms))
        continue;
    open = log->awaited;
    pawl__wait_unlock(&cluster->wait);
    return open;
}

int
pawl__memory_most_open(pawl__memory_cluster *cluster)
{
    int most;

    pawl__wait_lock(&cluster->wait);
    most = cluster->most_open;
    pawl__wait_unlock(&cluster->wait);
    return most;
}
