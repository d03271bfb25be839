/*
 * read.c - load and list
 */
#include "backends/redis/redis_store.h"

#include <string.h>

#include "util/error.h"
#include "util/text.h"

/* ---------------------------------------------------------------------------------------------------------- load -- */

static bool
is_list(const redisReply *reply, size_t size)
{
    return reply->type == REDIS_REPLY_ARRAY && reply->elements == size;
}

static bool
is_list_of_texts(const redisReply *reply)
{
    bool is = reply->type == REDIS_REPLY_ARRAY;

    for (size_t i = 0; is && i < reply->elements; i++)
        is = reply->element[i]->type == REDIS_REPLY_STRING;
    return is;
}

static pawl_status
read_cluster(pawl__redis_store *store, const char *group, const redisReply *reply, pawl_group_info *ret_group,
             pawl_error *err)
{
    if (reply->type == REDIS_REPLY_NIL)
        return PAWL_OK;
    if (reply->type != REDIS_REPLY_STRING || reply->len >= sizeof ret_group->cluster ||
        strlen(reply->str) != reply->len)
        return pawl_error_set(err, PAWL_UNREADABLE, 0, 0,
                              "what field 'cluster' of hash 'pawl:{%s}:state' in %s holds is no cluster's id", group,
                              store->url);
    g_strlcpy(ret_group->cluster, reply->str, sizeof ret_group->cluster);
    return PAWL_OK;
}

pawl_status
pawl__redis_load_found(pawl__redis_store *store, const pawl_store_call *call, const pawl_partition *partitions,
                       size_t count, pawl__redis_found *ret_found, pawl_group_info *ret_group, pawl_error *err)
{
    pawl__redis_args fields;
    redisReply *reply = NULL;
    pawl_status status;

    pawl__redis_args_init(&fields);
    for (size_t i = 0; i < count; i++)
        pawl__redis_args_add_field(&fields, partitions[i]);
    status = pawl__redis_run(store, call, PAWL__REDIS_LOAD, &fields, &reply, err);
    pawl__redis_args_done(&fields);
    if (status != PAWL_OK)
        return status;

    if (reply->elements != 4 || !is_list(reply->element[2], count) || !is_list(reply->element[3], count))
        status = pawl__redis_strange(store, err);
    else
        status = read_cluster(store, call->group, reply->element[1], ret_group, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = pawl__redis_read_entry(store, call->group, partitions[i], reply->element[2]->element[i],
                                        reply->element[3]->element[i], &ret_found[i], err);
    freeReplyObject(reply);
    return status;
}

pawl_status
pawl__redis_load(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
                 pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err)
{
    pawl__redis_found *found = g_new0(pawl__redis_found, count);
    pawl_status status = pawl__redis_load_found(self, call, partitions, count, found, ret_group, err);

    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        ret_entries[i] = found[i].entry;
    g_free(found);
    return status;
}

/* With replicas to wait for, what is read is not enough: it has to be with them, too. And what the server has lost has to
 * be there again: the write that is in question builds on it. */
pawl_status
pawl__redis_read_back(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
                      pawl_entry *ret_entries, pawl_error *err)
{
    pawl__redis_store *store = self;
    pawl_group_info group = {0};
    redisReply *reply = NULL;
    pawl_status status = PAWL_OK;

    if (store->replicas > 0) {
        status = pawl__redis_run(store, call, PAWL__REDIS_SETTLE, NULL, &reply, err);
        if (status == PAWL_OK) {
            freeReplyObject(reply);
            status = pawl__redis_wait_replicas(store, call->deadline_ms, err);
        }
    }
    if (status == PAWL_OK)
        status = pawl__redis_restore(store, call, partitions, sizeof *partitions, count, err);
    if (status == PAWL_OK)
        status = pawl__redis_load(store, call, partitions, count, ret_entries, &group, err);
    if (status == PAWL_OUTCOME_UNKNOWN) /* reading once more tells */
        status = pawl__error_turn_into(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE);
    if (status == PAWL_OK)
        pawl__redis_remember_read(store, call->group, ret_entries, count);
    return status;
}

/* --------------------------------------------------------------------------------------- partitions of one group -- */

typedef struct listing {
    pawl_list_fn fn;
    void *user;
    bool more;
} listing;

static pawl_status
unreadable_field(const pawl__redis_store *store, const char *group, const redisReply *field, pawl_error *err)
{
    char shown[PAWL__BYTES_TEXT_SIZE];

    return pawl_error_set(err, PAWL_UNREADABLE, 0, 0, "field '%s' of a hash of group '%s' in %s is not pawl's",
                          pawl__text_from_bytes(field->str != NULL ? field->str : "", field->len, shown), group,
                          store->url);
}

/* Tells of the partition of a field: with a state (else NULL), only if that names an owner. */
static pawl_status
tell_field(pawl__redis_store *store, const char *group, const redisReply *field, const redisReply *state, listing *to,
           pawl_error *err)
{
    static const redisReply nothing = {.type = REDIS_REPLY_NIL};
    pawl__redis_found found;
    pawl_partition partition;
    pawl_status status = PAWL_OK;
    char *topic;

    if (!pawl__redis_read_field(field->str, &topic, &partition.number))
        return unreadable_field(store, group, field, err);
    partition.topic = topic;
    if (state != NULL)
        status = pawl__redis_read_entry(store, group, partition, &nothing, state, &found, err);
    if (status == PAWL_OK && (state == NULL || found.entry.owner.host[0] != '\0'))
        to->more = to->fn(to->user, group, &partition);
    g_free(topic);
    return status;
}

/* What has no colon is the group's own. */
static bool
is_of_partition(const redisReply *field)
{
    return strchr(field->str, ':') != NULL;
}

/* Offsets is a list of fields, states one of fields and their values. */
static pawl_status
tell_group(pawl__redis_store *store, const char *group, const redisReply *offsets, const redisReply *states,
           listing *to, pawl_error *err)
{
    GHashTable *told = g_hash_table_new(g_str_hash, g_str_equal);
    pawl_status status = PAWL_OK;

    for (size_t i = 0; i < offsets->elements && status == PAWL_OK && to->more; i++) {
        status = tell_field(store, group, offsets->element[i], NULL, to, err);
        g_hash_table_add(told, offsets->element[i]->str);
    }
    for (size_t i = 0; i + 1 < states->elements && status == PAWL_OK && to->more; i += 2)
        if (is_of_partition(states->element[i]) && !g_hash_table_contains(told, states->element[i]->str))
            status = tell_field(store, group, states->element[i], states->element[i + 1], to, err);
    g_hash_table_destroy(told);
    return status;
}

static pawl_status
list_partitions(pawl__redis_store *store, const pawl_store_call *call, listing *to, pawl_error *err)
{
    redisReply *reply = NULL;
    pawl_status status = pawl__redis_run(store, call, PAWL__REDIS_LIST, NULL, &reply, err);

    if (status != PAWL_OK)
        return status;
    if (reply->elements == 3 && is_list_of_texts(reply->element[1]) && is_list_of_texts(reply->element[2]))
        status = tell_group(store, call->group, reply->element[1], reply->element[2], to, err);
    else
        status = pawl__redis_strange(store, err);
    freeReplyObject(reply);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- all groups -- */

/* Adds the groups of some keys: name to whether it has offsets. A key that is not ours is somebody else's business. */
static void
collect_groups(GHashTable *groups, const redisReply *keys)
{
    for (size_t i = 0; i < keys->elements; i++) {
        bool has_offsets;
        const redisReply *key = keys->element[i];
        char *group = key->type == REDIS_REPLY_STRING && strlen(key->str) == key->len
                          ? pawl__redis_group_of_key(key->str, &has_offsets)
                          : NULL;

        if (group == NULL)
            continue;
        if (!has_offsets && g_hash_table_contains(groups, group))
            g_free(group);
        else
            g_hash_table_replace(groups, group, GINT_TO_POINTER(has_offsets));
    }
}

/* One step through all keys; *cursor is "0" when it was the last. */
static pawl_status
scan(pawl__redis_store *store, int64_t deadline_ms, GHashTable *groups, char **cursor, pawl_error *err)
{
    const char *argv[] = {"SCAN", *cursor, "MATCH", "pawl:{*", "COUNT", "1000"};
    redisReply *reply = NULL;
    pawl_status status = pawl__redis_ask(store, 6, argv, deadline_ms, &reply, err);

    if (status != PAWL_OK)
        return status;
    if (reply->type == REDIS_REPLY_ERROR)
        status = pawl__redis_fail(store, reply, err);
    else if (!is_list(reply, 2) || reply->element[0]->type != REDIS_REPLY_STRING ||
             reply->element[1]->type != REDIS_REPLY_ARRAY)
        status = pawl__redis_strange(store, err);
    else {
        collect_groups(groups, reply->element[1]);
        g_free(*cursor);
        *cursor = g_strdup(reply->element[0]->str);
    }
    freeReplyObject(reply);
    return status;
}

static bool
note_any(void *user, const char *group, const pawl_partition *partition)
{
    (void) group, (void) partition;
    *(bool *) user = true;
    return false;
}

/* A group without offsets is told of where somebody owns a part of it. */
static pawl_status
tell_groups(pawl__redis_store *store, const pawl_store_call *call, GHashTable *groups, listing *to, pawl_error *err)
{
    GHashTableIter iter;
    gpointer name, has_offsets;
    pawl_status status = PAWL_OK;

    g_hash_table_iter_init(&iter, groups);
    while (status == PAWL_OK && to->more && g_hash_table_iter_next(&iter, &name, &has_offsets)) {
        pawl_store_call one = {.group = name, .deadline_ms = call->deadline_ms};
        bool any = GPOINTER_TO_INT(has_offsets);

        if (!any)
            status = list_partitions(store, &one, &(listing){note_any, &any, true}, err);
        if (status == PAWL_OK && any)
            to->more = to->fn(to->user, name, NULL);
    }
    return status;
}

static pawl_status
list_groups(pawl__redis_store *store, const pawl_store_call *call, listing *to, pawl_error *err)
{
    GHashTable *groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    char *cursor = g_strdup("0");
    pawl_status status = pawl__redis_session(store, call->deadline_ms, err);

    if (status == PAWL_OK && store->cluster)
        status = pawl_error_set(err, PAWL_UNSUPPORTED, 0, 0,
                                "%s: the groups of a Redis cluster are spread over its nodes, and are not listed; one "
                                "group's partitions are",
                                store->url);
    if (status == PAWL_OK) {
        do
            status = scan(store, call->deadline_ms, groups, &cursor, err);
        while (status == PAWL_OK && strcmp(cursor, "0") != 0);
    }
    if (status == PAWL_OK)
        status = tell_groups(store, call, groups, to, err);
    g_free(cursor);
    g_hash_table_destroy(groups);
    return status;
}

pawl_status
pawl__redis_list(void *self, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err)
{
    listing to = {fn, user, true};

    return call->group == NULL ? list_groups(self, call, &to, err) : list_partitions(self, call, &to, err);
}
