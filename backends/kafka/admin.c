/*
 * admin.c - list, remove: what only an administrator's requests can do
 *
 * librdkafka before 2.2 may wait for ever, or crash, when such a request is the one that has to find out where a group is
 * kept. So the client does that first, as it does for its own group, and reliably.
 */
#include "backends/kafka/kafka_store.h"

struct request {
    const char *group;
    const rd_kafka_topic_partition_list_t *partitions; /* NULL: all */
};

/* Sends a request about a group; *ret_answer is the caller's. */
static pawl_status
ask(pawl__kafka_store *store, const pawl_store_call *call, pawl__kafka_store_begin_fn begin,
    const rd_kafka_topic_partition_list_t *partitions, rd_kafka_event_t **ret_answer, pawl_error *err)
{
    struct request request = {call->group, partitions};
    rd_kafka_t *client;
    pawl_status status = pawl__kafka_store_client(store, call->group, &client, err);

    if (status == PAWL_OK && call->group != NULL)
        status = pawl__kafka_store_await_coordinator(store, client, call->deadline_ms, err);
    if (status == PAWL_OK)
        status = pawl__kafka_store_request(store, client, call->deadline_ms, begin, &request, ret_answer, err);
    return status;
}

/* The one group of an answer, or why there is none. */
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
    pawl_status status = ask(store, call, begin_list_groups, NULL, &answer, err);

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

static void
begin_list_partitions(rd_kafka_t *client, rd_kafka_queue_t *queue, int timeout_ms, void *user)
{
    const struct request *listing = user;
    rd_kafka_ListConsumerGroupOffsets_t *request =
        rd_kafka_ListConsumerGroupOffsets_new(listing->group, listing->partitions);
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS);

    rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, NULL, 0);
    rd_kafka_error_destroy(rd_kafka_AdminOptions_set_require_stable_offsets(options, 1));
    rd_kafka_ListConsumerGroupOffsets(client, &request, 1, options, queue);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_ListConsumerGroupOffsets_destroy(request);
}

static pawl_status
list_partitions(pawl__kafka_store *store, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err)
{
    const rd_kafka_topic_partition_list_t *list = NULL;
    const rd_kafka_group_result_t **groups;
    rd_kafka_event_t *answer = NULL;
    size_t count = 0;
    pawl_status status = ask(store, call, begin_list_partitions, NULL, &answer, err);

    if (status != PAWL_OK)
        return status;
    groups =
        rd_kafka_ListConsumerGroupOffsets_result_groups(rd_kafka_event_ListConsumerGroupOffsets_result(answer), &count);
    status = take_group(store, answer, groups, count, "list", false, &list, err);
    if (status == PAWL_OK)
        status = pawl__kafka_store_check(store, call->group, list, false, err);
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
    const struct request *removal = user;
    rd_kafka_DeleteConsumerGroupOffsets_t *request =
        rd_kafka_DeleteConsumerGroupOffsets_new(removal->group, removal->partitions);
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_DELETECONSUMERGROUPOFFSETS);

    rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, NULL, 0);
    rd_kafka_DeleteConsumerGroupOffsets(client, &request, 1, options, queue);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_DeleteConsumerGroupOffsets_destroy(request);
}

static pawl_status
remove_offsets(pawl__kafka_store *store, const pawl_store_call *call, const rd_kafka_topic_partition_list_t *partitions,
               pawl_error *err)
{
    const rd_kafka_topic_partition_list_t *list = NULL;
    const rd_kafka_group_result_t **groups;
    rd_kafka_event_t *answer = NULL;
    size_t count = 0;
    pawl_status status = ask(store, call, begin_remove, partitions, &answer, err);

    if (status == PAWL_TIMEOUT || status == PAWL_CANCELLED)
        return pawl_error_set(err, PAWL_OUTCOME_UNKNOWN, 0, 0, "%s: remove: no answer came", store->url);
    if (status != PAWL_OK)
        return status;
    groups = rd_kafka_DeleteConsumerGroupOffsets_result_groups(rd_kafka_event_DeleteConsumerGroupOffsets_result(answer),
                                                               &count);
    status = take_group(store, answer, groups, count, "remove", true, &list, err);
    if (status == PAWL_OK)
        status = pawl__kafka_store_check(store, call->group, list, true, err);
    rd_kafka_event_destroy(answer);
    return status;
}

pawl_status
pawl__kafka_store_remove(void *self, const pawl_store_call *call, const pawl_remove_line *lines, size_t count,
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
    rd_kafka_topic_partition_list_destroy(list);
    return status;
}
