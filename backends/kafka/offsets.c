/*
 * offsets.c - load, acquire, plan, save, release
 *
 * Kafka keeps an offset and a text for each partition of a group, and who the members are. It keeps no epochs, and does not
 * compare: membership is what fences. So acquire writes nothing but offsets where there are none, and the epoch of whoever
 * has a partition is 1.
 */
#include "backends/kafka/kafka_store.h"

#include <inttypes.h>
#include <string.h>

#include "util/log.h"
#include "util/partition.h"

#define EPOCH 1

/* -------------------------------------------------------------------------------------------- what is remembered -- */

static void
free_partition(gpointer data)
{
    pawl_partition *partition = data;

    g_free((char *) partition->topic);
    g_free(partition);
}

void
pawl__kafka_store_remembered_init(pawl__kafka_store *store)
{
    store->remembered = g_hash_table_new_full(pawl__partition_hash, pawl__partition_equal, free_partition, g_free);
}

void
pawl__kafka_store_remembered_done(pawl__kafka_store *store)
{
    g_clear_pointer(&store->remembered, g_hash_table_unref);
}

/* A commit replaces the whole text: what it is not about shall stay as it is. */
static void
remember(pawl__kafka_store *store, pawl_partition partition, const pawl__kafka_metadata *metadata)
{
    pawl__kafka_metadata *known = g_hash_table_lookup(store->remembered, &partition);
    pawl_partition *key;

    if (known != NULL) {
        *known = *metadata;
        return;
    }
    key = g_new0(pawl_partition, 1);
    *key = (pawl_partition){g_strdup(partition.topic), partition.number};
    g_hash_table_insert(store->remembered, key, g_memdup2(metadata, sizeof *metadata));
}

static pawl__kafka_metadata
remembered(const pawl__kafka_store *store, pawl_partition partition)
{
    const pawl__kafka_metadata *known = g_hash_table_lookup(store->remembered, &partition);

    return known != NULL ? *known : (pawl__kafka_metadata){0};
}

/* ------------------------------------------------------------------------------------------------------- loading -- */

static pawl_status
read_entry(pawl__kafka_store *store, const pawl_store_call *call, const rd_kafka_topic_partition_t *found,
           pawl_entry *entry, pawl_error *err)
{
    pawl__kafka_metadata metadata;
    char place[512];
    pawl_status status;

    pawl__kafka_store_place(store, call->group, entry->partition, place, sizeof place);
    if (found->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        return pawl__kafka_store_failed(store, found->err, NULL, place, false, err);
    if (found->offset < 0) /* RD_KAFKA_OFFSET_INVALID: nothing is committed */
        return PAWL_OK;
    status = pawl__kafka_store_metadata_read(found->metadata, found->metadata_size, place, &metadata, err);
    if (status != PAWL_OK)
        return status;
    entry->offset = pawl_position_at(found->offset);
    entry->batch = metadata.batch;
    entry->pending = metadata.pending;
    g_strlcpy(entry->print, metadata.print, sizeof entry->print);
    remember(store, entry->partition, &metadata);
    return PAWL_OK;
}

pawl_status
pawl__kafka_store_load(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
                       pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err)
{
    pawl__kafka_store *store = self;
    rd_kafka_topic_partition_list_t *list;
    rd_kafka_t *client;
    pawl_status status = pawl__kafka_store_client(store, call->group, &client, err);

    (void) ret_group; /* the offsets are of the cluster that keeps them */
    if (status != PAWL_OK || count == 0)
        return status;
    list = rd_kafka_topic_partition_list_new((int) count);
    for (size_t i = 0; i < count; i++)
        rd_kafka_topic_partition_list_add(list, partitions[i].topic, partitions[i].number);
    status = pawl__kafka_store_committed(store, client, list, call->deadline_ms, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        status = read_entry(store, call, &list->elems[i], &ret_entries[i], err);
    rd_kafka_topic_partition_list_destroy(list);
    return status;
}

/* Whoever asks is the owner, as far as Kafka goes: a commit of somebody else would have been refused. */
pawl_status
pawl__kafka_store_read_back(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
                            pawl_entry *ret_entries, pawl_error *err)
{
    pawl_status status = pawl__kafka_store_load(self, call, partitions, count, ret_entries, NULL, err);

    for (size_t i = 0; i < count; i++)
        ret_entries[i].epoch = EPOCH;
    return status;
}

/* ------------------------------------------------------------------------------------------------------- writing -- */

static void
begin_commit(rd_kafka_t *client, rd_kafka_queue_t *queue, int timeout_ms, void *user)
{
    const rd_kafka_topic_partition_list_t *offsets = user;

    (void) timeout_ms; /* the client's own: what comes later is nobody's */
    rd_kafka_commit_queue(client, offsets, queue, NULL, NULL);
}

static void
warn_unfenced(pawl__kafka_store *store, const char *group)
{
    if (store->member == NULL && !store->warned)
        pawl__log(store->log, PAWL_LOG_WARN, "store",
                  "group '%s' is kept by Kafka, and this job is no member of it: nothing fences off a second copy; "
                  "members = group does",
                  group);
    store->warned = true;
}

static pawl_status
take_commit(const pawl__kafka_store *store, const pawl_store_call *call, rd_kafka_event_t *answer, pawl_error *err)
{
    rd_kafka_resp_err_t code = rd_kafka_event_error(answer);
    pawl_status status =
        pawl__kafka_store_check(store, call->group, rd_kafka_event_topic_partition_list(answer), true, err);

    if (status == PAWL_OK && code != RD_KAFKA_RESP_ERR_NO_ERROR)
        status = pawl__kafka_store_failed(store, code, NULL, "save", true, err);
    return status;
}

/* Commits all these offsets in one request. */
static pawl_status
commit(pawl__kafka_store *store, const pawl_store_call *call, rd_kafka_topic_partition_list_t *offsets, pawl_error *err)
{
    rd_kafka_event_t *answer = NULL;
    rd_kafka_t *client;
    pawl_status status = pawl__kafka_store_client(store, call->group, &client, err);

    if (status == PAWL_OK)
        status = pawl__kafka_store_await_generation(store, call->deadline_ms, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__kafka_store_request(store, client, call->deadline_ms, begin_commit, offsets, &answer, err);
    store->unanswered = status != PAWL_OK;
    if (status == PAWL_OK)
        status = take_commit(store, call, answer, err);
    else if (status == PAWL_TIMEOUT || status == PAWL_CANCELLED)
        status = pawl_error_set(err, PAWL_OUTCOME_UNKNOWN, 0, 0, "%s: save: no answer came", store->url);
    rd_kafka_event_destroy(answer);
    return status;
}

/* Adds an offset with its text. */
static void
add_offset(rd_kafka_topic_partition_list_t *list, pawl_partition partition, int64_t offset,
           const pawl__kafka_metadata *metadata)
{
    rd_kafka_topic_partition_t *line = rd_kafka_topic_partition_list_add(list, partition.topic, partition.number);

    line->offset = offset;
    line->metadata = pawl__kafka_store_metadata_text(metadata);
    line->metadata_size = strlen(line->metadata);
}

/* Commits `initial` where nothing is. */
pawl_status
pawl__kafka_store_acquire(void *self, const pawl_store_call *call, const pawl_owner *owner, const char *cluster,
                          pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    pawl__kafka_store *store = self;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int) count);
    pawl_partition *partitions = g_new0(pawl_partition, count);
    pawl_entry *entries = g_new0(pawl_entry, count);
    pawl__kafka_metadata metadata = {0};
    pawl_status status;

    (void) owner; /* Kafka knows the members */
    (void) cluster;
    warn_unfenced(store, call->group);
    for (size_t i = 0; i < count; i++)
        entries[i].partition = partitions[i] = lines[i].partition;
    status = pawl__kafka_store_load(store, call, partitions, count, entries, NULL, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        if (!entries[i].offset.known && lines[i].initial.known)
            add_offset(list, lines[i].partition, lines[i].initial.offset, &metadata);
    if (status == PAWL_OK && list->cnt > 0)
        status = commit(store, call, list, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        lines[i].ret_epoch = EPOCH;
    rd_kafka_topic_partition_list_destroy(list);
    g_free(partitions);
    g_free(entries);
    return status;
}

pawl_status
pawl__kafka_store_plan(void *self, const pawl_store_call *call, const pawl_plan_line *lines, size_t count,
                       pawl_error *err)
{
    pawl__kafka_store *store = self;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int) count);
    pawl_status status = PAWL_OK;

    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        pawl__kafka_metadata metadata = remembered(store, lines[i].partition);

        metadata.pending = lines[i].pending;
        if (lines[i].expected.known)
            add_offset(list, lines[i].partition, lines[i].expected.offset, &metadata);
        else
            status = pawl_error_set(err, PAWL_UNSUPPORTED, 0, 0,
                                    "%s [%" PRId32 "]: Kafka keeps a planned range beside an offset, and there is none",
                                    lines[i].partition.topic, lines[i].partition.number);
    }
    if (status == PAWL_OK)
        status = commit(store, call, list, err);
    rd_kafka_topic_partition_list_destroy(list);
    return status;
}

/* A save that is no batch leaves the number of the last one. */
static pawl__kafka_metadata
saved_metadata(const pawl__kafka_store *store, const pawl_save_line *line)
{
    pawl__kafka_metadata metadata = {.batch =
                                         line->batch != 0 ? line->batch : remembered(store, line->partition).batch};

    g_strlcpy(metadata.print, line->print != NULL ? line->print : "", sizeof metadata.print);
    return metadata;
}

pawl_status
pawl__kafka_store_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count,
                       pawl_error *err)
{
    pawl__kafka_store *store = self;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int) count);
    pawl_status status;

    for (size_t i = 0; i < count; i++) {
        pawl__kafka_metadata metadata = saved_metadata(store, &lines[i]);

        add_offset(list, lines[i].partition, lines[i].until, &metadata);
    }
    status = commit(store, call, list, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        pawl__kafka_metadata metadata = saved_metadata(store, &lines[i]);

        remember(store, lines[i].partition, &metadata);
    }
    rd_kafka_topic_partition_list_destroy(list);
    return status;
}

/* Kafka knows who the members are, and nothing else says who owns a partition. */
pawl_status
pawl__kafka_store_release(void *self, const pawl_store_call *call, const pawl_acquire_line *lines, size_t count,
                          pawl_error *err)
{
    (void) self;
    (void) call;
    (void) lines;
    (void) count;
    (void) err;
    return PAWL_OK;
}
