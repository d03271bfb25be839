/*
 * source.c - the Kafka source's table, opening and closing
 */
#include "source/kafka/kafka.h"

#include <errno.h>
#include <string.h>

#include "util/clock.h"
#include "util/partition.h"
#include "util/pattern.h"

/* Partitions that the first client has room for; one that finds more is made anew before it reads anything. */
#define FIRST_ROOM 8

/* From this version on librdkafka wakes up by itself: see nudge.c. */
#define WAKES_BY_ITSELF 0x02020000

/* ---------------------------------------------------------------------------------------------------------- taps -- */

static void
free_tap(gpointer tap)
{
    pawl__kafka_tap_free(tap);
}

static void
free_lane(gpointer lane)
{
    pawl__kafka_lane_free(lane);
}

static void
free_topic(gpointer topic)
{
    rd_kafka_topic_destroy(topic);
}

/* -------------------------------------------------------------------------------------------------------- client -- */

static void
disconnect(kafka_source *source)
{
    pawl__kafka_nudger_free(source->nudger);
    source->nudger = NULL;
    if (source->client != NULL)
        rd_kafka_assign(source->client, NULL); /* nothing comes into the queues any more */
    for (guint i = 0; i < source->lanes->len; i++)
        pawl__kafka_lane_disconnect(g_ptr_array_index(source->lanes, i));
    for (guint i = 0; i < source->taps->len; i++)
        pawl__kafka_tap_disconnect(g_ptr_array_index(source->taps, i));
    g_ptr_array_set_size(source->client_topics, 0);
    pawl__kafka_client_free(source->client);
    source->client = NULL;
}

static pawl_status
connect_client(kafka_source *source, int partitions, pawl_error *err)
{
    pawl_status status;

    source->budget = pawl__kafka_budget(source->memory_bytes, partitions, source->lane_count);
    status = pawl__kafka_client_new(&source->client_setup, &source->budget, &source->client, err);
    if (status == PAWL_OK)
        status = pawl__kafka_name_topics(source, source->client, source->client_topics, err);
    if (status == PAWL_OK && rd_kafka_version() < WAKES_BY_ITSELF)
        status = pawl__kafka_nudger_new(source->client, &source->nudger, err);
    for (guint i = 0; status == PAWL_OK && i < source->lanes->len; i++)
        pawl__kafka_lane_connect(g_ptr_array_index(source->lanes, i), source->client);
    if (status == PAWL_OK && source->taps->len > 0)
        status =
            pawl__kafka_taps_connect(source, (pawl_source_tap *const *) source->taps->pdata, source->taps->len, err);
    return status;
}

static pawl_status
connect_asker(kafka_source *source, pawl_error *err)
{
    pawl_status status = pawl__kafka_client_new(&source->asker_setup, &source->budget, &source->asker, err);

    if (status == PAWL_OK)
        status = pawl__kafka_name_topics(source, source->asker, source->asker_topics, err);
    return status;
}

static void
disconnect_asker(kafka_source *source)
{
    g_ptr_array_set_size(source->asker_topics, 0);
    pawl__kafka_client_free(source->asker);
}

/* librdkafka's limits are for one partition each, and cannot be changed: more partitions need another client. */
pawl_status
pawl__kafka_make_room(kafka_source *source, int partitions, pawl_error *err)
{
    int room = source->budget.partitions;

    if (partitions <= room)
        return PAWL_OK;
    while (room < partitions)
        room *= 2;
    disconnect(source);
    return connect_client(source, room, err);
}

/* ------------------------------------------------------------------------------------------------- open and close -- */

static void
add_property(void *user, const char *name, const char *value)
{
    GPtrArray *properties = user;

    g_ptr_array_add(properties, g_strdup(name));
    g_ptr_array_add(properties, g_strdup(value));
}

static void
add_topic(kafka_source *source, const char *topic)
{
    for (guint i = 0; i < source->topics->len; i++)
        if (strcmp(g_ptr_array_index(source->topics, i), topic) == 0)
            return;
    g_ptr_array_add(source->topics, g_strdup(topic));
}

static pawl_status
take_selection(kafka_source *source, const pawl_source_setup *setup, pawl_error *err)
{
    for (const char *const *topic = setup->topics; topic != NULL && *topic != NULL; topic++)
        add_topic(source, *topic);
    for (size_t i = 0; i < setup->partition_count; i++) {
        pawl__partitions_add(source->explicit, setup->partitions[i]);
        add_topic(source, setup->partitions[i].topic);
    }
    if (setup->topics_pattern == NULL)
        return PAWL_OK;
    return pawl__pattern_new(setup->topics_pattern, &source->pattern, err);
}

static void
init(kafka_source *source, const pawl_source_setup *setup)
{
    source->log = setup->log;
    source->memory_bytes = setup->memory_bytes;
    source->stall_timeout_ms = setup->stall_timeout_ms;
    source->lane_count = setup->lanes;
    pthread_mutex_init(&source->complaint.mutex, NULL);
    pawl__wait_init(&source->cancel_wait);
    source->client_setup = (kafka_client_setup){
        .log = setup->log,
        .group = g_strdup(setup->group),
        .client_id = g_strdup(setup->client_id),
        .read_committed = setup->read_committed,
        .properties = g_ptr_array_new_with_free_func(g_free),
        .complaint = &source->complaint,
    };
    setup->properties(setup, add_property, source->client_setup.properties);
    source->asker_setup = source->client_setup;
    source->asker_setup.group = NULL;
    source->topics = g_ptr_array_new_with_free_func(g_free);
    source->explicit = pawl__partitions_new();
    source->client_topics = g_ptr_array_new_with_free_func(free_topic);
    source->asker_topics = g_ptr_array_new_with_free_func(free_topic);
    source->taps = g_ptr_array_new_with_free_func(free_tap);
    source->lanes = g_ptr_array_new_with_free_func(free_lane);
    for (int i = 0; i < setup->lanes; i++)
        g_ptr_array_add(source->lanes, pawl__kafka_lane_new(source));
}

static pawl_status
source_open(void *self, const pawl_source_setup *setup, pawl_error *err)
{
    kafka_source *source = self;
    pawl_status status;

    init(source, setup);
    status = take_selection(source, setup, err);
    if (status == PAWL_OK)
        status = connect_client(source, MAX(FIRST_ROOM, (int) setup->partition_count), err);
    if (status == PAWL_OK)
        status = connect_asker(source, err);
    if (status == PAWL_OK && setup->group_member != NULL)
        status = pawl__kafka_member_new(source, setup->group_member, &source->member, err);
    return status;
}

static void
source_close(void *self)
{
    kafka_source *source = self;

    pawl__kafka_unsubscribe(source);
    pawl__kafka_member_free(source->member);
    disconnect(source);
    disconnect_asker(source);
    g_ptr_array_unref(source->lanes);
    g_ptr_array_unref(source->taps);
    g_ptr_array_unref(source->asker_topics);
    g_ptr_array_unref(source->client_topics);
    g_array_unref(source->explicit);
    g_ptr_array_unref(source->topics);
    if (source->pattern != NULL)
        g_regex_unref(source->pattern);
    g_ptr_array_unref(source->client_setup.properties);
    g_free(source->client_setup.client_id);
    g_free(source->client_setup.group);
    pawl__wait_done(&source->cancel_wait);
    pthread_mutex_destroy(&source->complaint.mutex);
}

/* ------------------------------------------------------------------------------------------------------- cancel -- */

static void
source_cancel(void *self)
{
    kafka_source *source = self;

    pawl__wait_lock(&source->cancel_wait);
    atomic_store(&source->cancelled, true);
    pawl__wait_wake(&source->cancel_wait);
    pawl__wait_unlock(&source->cancel_wait);
}

void
pawl__kafka_pause(kafka_source *source, int64_t deadline_ms)
{
    pawl__wait_lock(&source->cancel_wait);
    while (!atomic_load(&source->cancelled) && pawl__wait_until(&source->cancel_wait, deadline_ms))
        continue;
    pawl__wait_unlock(&source->cancel_wait);
}

const pawl_source_backend pawl__kafka_source = {
    .abi = PAWL_SOURCE_ABI,
    .name = "kafka",
    .instance_size = sizeof(kafka_source),
    .open = source_open,
    .close = source_close,
    .cluster = pawl__kafka_cluster,
    .discover = pawl__kafka_discover,
    .bounds = pawl__kafka_bounds,
    .log_end = pawl__kafka_log_end,
    .at_time = pawl__kafka_at_time,
    .hold = pawl__kafka_hold,
    .unhold = pawl__kafka_unhold,
    .lane = pawl__kafka_lane,
    .subscribe = pawl__kafka_subscribe,
    .assigned = pawl__kafka_assigned,
    .revoked = pawl__kafka_revoked,
    .let_go = pawl__kafka_let_go,
    .unsubscribe = pawl__kafka_unsubscribe,
    .member = pawl__kafka_member,
    .wake = pawl__kafka_wake,
    .cancel = source_cancel,
    .range_open = pawl__kafka_range_open,
    .range_shut = pawl__kafka_range_shut,
    .rewind = pawl__kafka_rewind,
    .next = pawl__kafka_next,
    .settle = pawl__kafka_settle,
};
