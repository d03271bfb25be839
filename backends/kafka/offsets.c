/*
 * offsets.c - the calls of the store's contract
 *
 * Kafka keeps an offset and a text for each partition of a group, and who the members are. It keeps no epochs, and does not
 * compare: membership is what fences. So acquire writes nothing but offsets where there are none, and the epoch of whoever
 * has a partition is 1.
 */
#include "backends/kafka/kafka_store.h"

#include <inttypes.h>
#include <string.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/partition.h"

#define EPOCH 1

/* How long one try at reading may take: on a cluster that has never had a group, librdkafka may wait for ever for the
 * coordinator that it asked for first. The wrapper tries again. */
#define TRY_MS 3000

/* ------------------------------------------------------------------------------------------------ remembered batches -- */

static void
free_partition(gpointer data)
{
    pawl_partition *partition = data;

    g_free((char *) partition->topic);
    g_free(partition);
}

void
pawl__kafka_store_offsets_init(pawl__kafka_store *store)
{
    store->batches = g_hash_table_new_full(pawl__partition_hash, pawl__partition_equal, free_partition, g_free);
}

void
pawl__kafka_store_offsets_done(pawl__kafka_store *store)
{
    g_clear_pointer(&store->batches, g_hash_table_unref);
}

/* A commit replaces the whole text, and one without a batch shall leave the number that is there. */
static void
remember_batch(pawl__kafka_store *store, pawl_partition partition, int64_t batch)
{
    int64_t *known = g_hash_table_lookup(store->batches, &partition);
    pawl_partition *key;

    if (known != NULL) {
        *known = batch;
        return;
    }
    key = g_new0(pawl_partition, 1);
    *key = (pawl_partition){g_strdup(partition.topic), partition.number};
    known = g_new(int64_t, 1);
    *known = batch;
    g_hash_table_insert(store->batches, key, known);
}

static int64_t
remembered_batch(const pawl__kafka_store *store, pawl_partition partition)
{
    const int64_t *known = g_hash_table_lookup(store->batches, &partition);

    return known != NULL ? *known : 0;
}

/* ------------------------------------------------------------------------------------------------------- loading -- */

void
pawl__kafka_store_place(void *self, const char *group, pawl_partition partition, char *text, size_t text_size)
{
    (void) self;
    g_snprintf(text, text_size, "offset of %s-%" PRId32 " in consumer group '%s'", partition.topic, partition.number,
               group);
}

struct fetch {
    const char *group;
    const rd_kafka_topic_partition_list_t *partitions; /* NULL: all */
};

static void
begin_fetch(rd_kafka_t *client, rd_kafka_queue_t *queue, int timeout_ms, void *user)
{
    const struct fetch *fetch = user;
    rd_kafka_ListConsumerGroupOffsets_t *request =
        rd_kafka_ListConsumerGroupOffsets_new(fetch->group, fetch->partitions);
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS);

    rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, NULL, 0);
    /* An offset that a transaction is about to commit is neither absent nor the one before: it is waited for. */
    rd_kafka_error_destroy(rd_kafka_AdminOptions_set_require_stable_offsets(options, 1));
    rd_kafka_ListConsumerGroupOffsets(client, &request, 1, options, queue);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_ListConsumerGroupOffsets_destroy(request);
}

/* The one group of an answer of the administrator's kind, or why there is none. */
static pawl_status
take_group(const pawl__kafka_store *store, rd_kafka_event_t *answer, const rd_kafka_group_result_t **groups,
           size_t count, const char *what, bool is_write, const rd_kafka_topic_partition_list_t **ret_list,
           pawl_error *err)
{
    const rd_kafka_error_t *error = count == 1 ? rd_kafka_group_result_error(groups[0]) : NULL;

    if (rd_kafka_event_error(answer) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return pawl__kafka_store_failed(store, rd_kafka_event_error(answer), rd_kafka_event_error_string(answer), what,
                                        is_write, err);
    if (error != NULL)
        return pawl__kafka_store_failed(store, rd_kafka_error_code(error), rd_kafka_error_string(error), what, is_write,
                                        err);
    *ret_list = count == 1 ? rd_kafka_group_result_partitions(groups[0]) : NULL;
    return PAWL_OK;
}

/* Fetches committed offsets; *ret_answer, which the caller destroys, owns *ret_list. */
static pawl_status
fetch(pawl__kafka_store *store, const pawl_store_call *call, const rd_kafka_topic_partition_list_t *partitions,
      rd_kafka_event_t **ret_answer, const rd_kafka_topic_partition_list_t **ret_list, pawl_error *err)
{
    struct fetch request = {call->group, partitions};
    const rd_kafka_group_result_t **groups;
    size_t count = 0;
    pawl_status status =
        pawl__kafka_store_request(store, store->client, MIN(call->deadline_ms, pawl__clock_ms() + TRY_MS), begin_fetch,
                                  &request, ret_answer, err);

    if (status != PAWL_OK)
        return status;
    groups = rd_kafka_ListConsumerGroupOffsets_result_groups(
        rd_kafka_event_ListConsumerGroupOffsets_result(*ret_answer), &count);
    return take_group(store, *ret_answer, groups, count, "load", false, ret_list, err);
}

/* Fills in one entry from an answer. */
static pawl_status
read_entry(pawl__kafka_store *store, const pawl_store_call *call, const rd_kafka_topic_partition_t *found,
           pawl_entry *entry, pawl_error *err)
{
    pawl__kafka_metadata metadata;
    char place[512];
    pawl_status status;

    pawl__kafka_store_place(store, call->group, entry->partition, place, sizeof place);
    if (found == NULL || found->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        return pawl__kafka_store_failed(store, found != NULL ? found->err : RD_KAFKA_RESP_ERR__PARTIAL, NULL, place,
                                        false, err);
    if (found->offset < 0) /* RD_KAFKA_OFFSET_INVALID: nothing is committed */
        return PAWL_OK;
    status = pawl__kafka_store_metadata_read(found->metadata, found->metadata_size, place, &metadata, err);
    if (status != PAWL_OK)
        return status;
    entry->offset = pawl_position_at(found->offset);
    entry->batch = metadata.batch;
    entry->pending = metadata.pending;
    g_strlcpy(entry->print, metadata.print, sizeof entry->print);
    remember_batch(store, entry->partition, metadata.batch);
    return PAWL_OK;
}

pawl_status
pawl__kafka_store_load(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
                       pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err)
{
    pawl__kafka_store *store = self;
    rd_kafka_topic_partition_list_t *asked;
    const rd_kafka_topic_partition_list_t *list = NULL;
    rd_kafka_event_t *answer = NULL;
    pawl_status status;

    (void) ret_group; /* the offsets are of the cluster that keeps them */
    if (count == 0)
        return PAWL_OK;
    asked = rd_kafka_topic_partition_list_new((int) count);
    for (size_t i = 0; i < count; i++)
        rd_kafka_topic_partition_list_add(asked, partitions[i].topic, partitions[i].number);
    status = fetch(store, call, asked, &answer, &list, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        status = read_entry(store, call,
                            rd_kafka_topic_partition_list_find((rd_kafka_topic_partition_list_t *) list,
                                                               partitions[i].topic, partitions[i].number),
                            &ret_entries[i], err);
    rd_kafka_topic_partition_list_destroy(asked);
    rd_kafka_event_destroy(answer);
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

struct commit {
    const char *group;
    const rd_kafka_topic_partition_list_t *offsets;
};

static void
begin_member_commit(rd_kafka_t *member, rd_kafka_queue_t *queue, int timeout_ms, void *user)
{
    const struct commit *commit = user;

    (void) timeout_ms; /* the client's own: what comes later is nobody's */
    rd_kafka_commit_queue(member, commit->offsets, queue, NULL, NULL);
}

static void
begin_admin_commit(rd_kafka_t *client, rd_kafka_queue_t *queue, int timeout_ms, void *user)
{
    const struct commit *commit = user;
    rd_kafka_AlterConsumerGroupOffsets_t *request =
        rd_kafka_AlterConsumerGroupOffsets_new(commit->group, commit->offsets);
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_ALTERCONSUMERGROUPOFFSETS);

    rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, NULL, 0);
    rd_kafka_AlterConsumerGroupOffsets(client, &request, 1, options, queue);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_AlterConsumerGroupOffsets_destroy(request);
}

/* A commit says of each partition how it went. */
static pawl_status
check_partitions(const pawl__kafka_store *store, const struct commit *commit,
                 const rd_kafka_topic_partition_list_t *list, pawl_error *err)
{
    char place[512];

    for (int i = 0; list != NULL && i < list->cnt; i++) {
        const rd_kafka_topic_partition_t *line = &list->elems[i];

        if (line->err == RD_KAFKA_RESP_ERR_NO_ERROR)
            continue;
        pawl__kafka_store_place((void *) store, commit->group, (pawl_partition){line->topic, line->partition}, place,
                                sizeof place);
        return pawl__kafka_store_failed(store, line->err, NULL, place, true, err);
    }
    return PAWL_OK;
}

static pawl_status
take_commit(pawl__kafka_store *store, const struct commit *commit, rd_kafka_event_t *answer, pawl_error *err)
{
    const rd_kafka_topic_partition_list_t *list = NULL;
    const rd_kafka_group_result_t **groups;
    size_t count = 0;
    pawl_status status;

    if (store->member != NULL) {
        if (rd_kafka_event_error(answer) != RD_KAFKA_RESP_ERR_NO_ERROR)
            return pawl__kafka_store_failed(store, rd_kafka_event_error(answer), NULL, "save", true, err);
        return check_partitions(store, commit, rd_kafka_event_topic_partition_list(answer), err);
    }
    groups = rd_kafka_AlterConsumerGroupOffsets_result_groups(rd_kafka_event_AlterConsumerGroupOffsets_result(answer),
                                                              &count);
    status = take_group(store, answer, groups, count, "save", true, &list, err);
    return status == PAWL_OK ? check_partitions(store, commit, list, err) : status;
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

/* Commits all these offsets in one request. */
static pawl_status
commit(pawl__kafka_store *store, const pawl_store_call *call, const rd_kafka_topic_partition_list_t *offsets,
       pawl_error *err)
{
    struct commit commit = {call->group, offsets};
    rd_kafka_event_t *answer = NULL;
    pawl_status status;

    if (store->member != NULL) {
        status = pawl__kafka_store_await_generation(store, call->deadline_ms, err);
        if (status != PAWL_OK)
            return status;
        status = pawl__kafka_store_request(store, store->member->client(store->member), call->deadline_ms,
                                           begin_member_commit, &commit, &answer, err);
    } else {
        status = pawl__kafka_store_request(store, store->client, call->deadline_ms, begin_admin_commit, &commit,
                                           &answer, err);
    }
    if (status == PAWL_OK)
        status = take_commit(store, &commit, answer, err);
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
    char text[PAWL__KAFKA_METADATA_SIZE];

    line->offset = offset;
    line->metadata = g_strdup(pawl__kafka_store_metadata_text(metadata, text));
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
        pawl__kafka_metadata metadata = {.batch = remembered_batch(store, lines[i].partition),
                                         .pending = lines[i].pending};

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

pawl_status
pawl__kafka_store_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count,
                       pawl_error *err)
{
    pawl__kafka_store *store = self;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int) count);
    pawl_status status;

    for (size_t i = 0; i < count; i++) {
        pawl__kafka_metadata metadata = {.batch = lines[i].batch != 0 ? lines[i].batch
                                                                      : remembered_batch(store, lines[i].partition)};

        g_strlcpy(metadata.print, lines[i].print != NULL ? lines[i].print : "", sizeof metadata.print);
        add_offset(list, lines[i].partition, lines[i].until, &metadata);
    }
    status = commit(store, call, list, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        if (lines[i].batch != 0)
            remember_batch(store, lines[i].partition, lines[i].batch);
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

/* ------------------------------------------------------------------------------------------------------- listing -- */

static void
begin_list_groups(rd_kafka_t *client, rd_kafka_queue_t *queue, int timeout_ms, void *user)
{
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPS);

    (void) user;
    rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, NULL, 0);
    rd_kafka_ListConsumerGroups(client, options, queue);
    rd_kafka_AdminOptions_destroy(options);
}

static pawl_status
list_groups(pawl__kafka_store *store, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err)
{
    rd_kafka_event_t *answer = NULL;
    const rd_kafka_ConsumerGroupListing_t **groups;
    const rd_kafka_error_t **errors;
    size_t count = 0;
    pawl_status status =
        pawl__kafka_store_request(store, store->client, call->deadline_ms, begin_list_groups, NULL, &answer, err);

    if (status != PAWL_OK)
        return status;
    errors = rd_kafka_ListConsumerGroups_result_errors(rd_kafka_event_ListConsumerGroups_result(answer), &count);
    if (rd_kafka_event_error(answer) != RD_KAFKA_RESP_ERR_NO_ERROR)
        status = pawl__kafka_store_failed(store, rd_kafka_event_error(answer), rd_kafka_event_error_string(answer),
                                          "list the groups", false, err);
    else if (count > 0) /* one broker did not answer: its groups are missing */
        status = pawl__kafka_store_failed(store, rd_kafka_error_code(errors[0]), rd_kafka_error_string(errors[0]),
                                          "list the groups", false, err);
    groups = rd_kafka_ListConsumerGroups_result_valid(rd_kafka_event_ListConsumerGroups_result(answer), &count);
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        if (!fn(user, rd_kafka_ConsumerGroupListing_group_id(groups[i]), NULL))
            break;
    rd_kafka_event_destroy(answer);
    return status;
}

static pawl_status
list_partitions(pawl__kafka_store *store, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err)
{
    const rd_kafka_topic_partition_list_t *list = NULL;
    rd_kafka_event_t *answer = NULL;
    pawl_status status = fetch(store, call, NULL, &answer, &list, err);

    for (int i = 0; status == PAWL_OK && list != NULL && i < list->cnt; i++) {
        pawl_partition partition = {list->elems[i].topic, list->elems[i].partition};

        if (list->elems[i].offset >= 0 && !fn(user, call->group, &partition))
            break;
    }
    rd_kafka_event_destroy(answer);
    return status;
}

pawl_status
pawl__kafka_store_list(void *self, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err)
{
    if (call->group == NULL)
        return list_groups(self, call, fn, user, err);
    return list_partitions(self, call, fn, user, err);
}

/* ------------------------------------------------------------------------------------------------------ removing -- */

static void
begin_remove(rd_kafka_t *client, rd_kafka_queue_t *queue, int timeout_ms, void *user)
{
    const struct commit *removal = user;
    rd_kafka_DeleteConsumerGroupOffsets_t *request =
        rd_kafka_DeleteConsumerGroupOffsets_new(removal->group, removal->offsets);
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_DELETECONSUMERGROUPOFFSETS);

    rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, NULL, 0);
    rd_kafka_DeleteConsumerGroupOffsets(client, &request, 1, options, queue);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_DeleteConsumerGroupOffsets_destroy(request);
}

static pawl_status
remove_offsets(pawl__kafka_store *store, const pawl_store_call *call, const rd_kafka_topic_partition_list_t *offsets,
               pawl_error *err)
{
    struct commit removal = {call->group, offsets};
    const rd_kafka_topic_partition_list_t *list = NULL;
    const rd_kafka_group_result_t **groups;
    rd_kafka_event_t *answer = NULL;
    size_t count = 0;
    pawl_status status =
        pawl__kafka_store_request(store, store->client, call->deadline_ms, begin_remove, &removal, &answer, err);

    if (status == PAWL_TIMEOUT || status == PAWL_CANCELLED)
        return pawl_error_set(err, PAWL_OUTCOME_UNKNOWN, 0, 0, "%s: remove: no answer came", store->url);
    if (status != PAWL_OK)
        return status;
    groups = rd_kafka_DeleteConsumerGroupOffsets_result_groups(rd_kafka_event_DeleteConsumerGroupOffsets_result(answer),
                                                               &count);
    status = take_group(store, answer, groups, count, "remove", true, &list, err);
    if (status == PAWL_OK)
        status = check_partitions(store, &removal, list, err);
    rd_kafka_event_destroy(answer);
    return status;
}

pawl_status
pawl__kafka_store_remove(void *self, const pawl_store_call *call, pawl_remove_line *lines, size_t count,
                         pawl_error *err)
{
    pawl__kafka_store *store = self;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int) count);
    pawl_status status = PAWL_OK;

    for (size_t i = 0; i < count; i++)
        if (lines[i].expected.known)
            rd_kafka_topic_partition_list_add(list, lines[i].partition.topic, lines[i].partition.number);
    if (list->cnt > 0)
        status = remove_offsets(store, call, list, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        lines[i].ret_removed = lines[i].expected.known;
    rd_kafka_topic_partition_list_destroy(list);
    return status;
}
