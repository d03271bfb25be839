/*
 * rebalance.c - what the group tells its member, and what it is answered
 */
#include "source/kafka/member.h"

#include <string.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/partition.h"

/* How long a member to which nothing is assigned may still be on its way: a cooperative group gives a newcomer its partitions
 * only in the next round, when others have let go of them. */
#define NEWCOMER_MS 10000

/* ---------------------------------------------------------------------------------------------------- partitions -- */

static void
add_partitions(GArray *array, const rd_kafka_topic_partition_list_t *list)
{
    for (int i = 0; i < list->cnt; i++) {
        pawl_partition partition = {list->elems[i].topic, list->elems[i].partition};
        guint index;

        if (!pawl__partitions_find(array, partition, &index))
            pawl__partitions_add(array, partition);
    }
}

static void
remove_partitions(GArray *array, const rd_kafka_topic_partition_list_t *list)
{
    for (int i = 0; i < list->cnt; i++) {
        pawl_partition partition = {list->elems[i].topic, list->elems[i].partition};
        guint index;

        if (pawl__partitions_find(array, partition, &index))
            g_array_remove_index(array, index);
    }
}

/* ------------------------------------------------------------------------------------------------------- answers -- */

void
pawl__kafka_member_answer(kafka_member *member, bool assigned)
{
    rd_kafka_topic_partition_list_t *none = rd_kafka_topic_partition_list_new(1);
    rd_kafka_error_t *error = NULL;

    if (strcmp(rd_kafka_rebalance_protocol(member->client), "COOPERATIVE") != 0)
        rd_kafka_assign(member->client, assigned ? none : NULL);
    else if (assigned)
        error = rd_kafka_incremental_assign(member->client, none);
    else
        error = rd_kafka_incremental_unassign(member->client, none);
    if (error != NULL)
        pawl__log(member->source->log, PAWL_LOG_DEBUG, "client", "member: %s", rd_kafka_error_string(error));
    g_clear_pointer(&error, rd_kafka_error_destroy);
    rd_kafka_topic_partition_list_destroy(none);
    pawl__wait_lock(&member->wait);
    pawl__kafka_member_stir(member, pawl__clock_ms()); /* having let go of something, it joins again */
    pawl__wait_unlock(&member->wait);
}

void
pawl__kafka_member_drop_revoked(kafka_member *member)
{
    g_array_set_size(member->revoked, 0);
    member->revocation = KAFKA_NOT_REVOKED;
}

/* -------------------------------------------------------------------------------------------------------- events -- */

/* A group that shares out otherwise than expected can be understood only from what it said to each member. */
static void
tell_event(kafka_member *member, const char *what, const rd_kafka_topic_partition_list_t *list)
{
    GString *text;

    if (!pawl__log_takes(member->source->log, PAWL_LOG_DEBUG))
        return;
    text = g_string_new(what);
    for (int i = 0; i < list->cnt; i++)
        g_string_append_printf(text, " %s:%d", list->elems[i].topic, (int) list->elems[i].partition);
    pawl__log(member->source->log, PAWL_LOG_DEBUG, "client", "member: %s", text->str);
    g_string_free(text, TRUE);
}

/* Nothing cures a client that its session has made useless. */
static void
note_session(kafka_member *member, bool lost)
{
    if (member->session != KAFKA_SESSION_OUTLIVED)
        member->session = lost ? KAFKA_SESSION_LOST : KAFKA_SESSION_ALIVE;
}

static void
on_assigned(kafka_member *member, const rd_kafka_topic_partition_list_t *list)
{
    tell_event(member, "assigned", list);
    pawl__wait_lock(&member->wait);
    member->settled_ms = member->was_assigned || list->cnt > 0 ? 0 : pawl__clock_ms() + NEWCOMER_MS;
    member->was_assigned = true;
    member->joining = false;
    pawl__kafka_member_stir(member, pawl__clock_ms()); /* as the answer does that is about to be given */
    note_session(member, false);
    add_partitions(member->assigned, list);
    pawl__wait_wake(&member->wait);
    pawl__wait_unlock(&member->wait);
    pawl__kafka_member_answer(member, true);
}

static void
on_revoked(kafka_member *member, const rd_kafka_topic_partition_list_t *list)
{
    bool lost = rd_kafka_assignment_lost(member->client) != 0, leaving;

    tell_event(member, lost ? "lost" : "revoked", list);
    pawl__wait_lock(&member->wait);
    note_session(member, lost);
    remove_partitions(member->assigned, list);
    add_partitions(member->revoked, list);
    member->revocation = KAFKA_REVOKED;
    member->joining = false;
    pawl__wait_wake(&member->wait);
    leaving = member->stage == KAFKA_LEAVING;
    if (leaving)
        pawl__kafka_member_drop_revoked(member);
    pawl__wait_unlock(&member->wait);
    if (leaving)
        pawl__kafka_member_answer(member, false);
}

/* Errors that end the membership for good. */
static pawl_status
status_of(rd_kafka_resp_err_t code)
{
    switch (code) {
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
        return PAWL_FENCED;
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_INVALID_GROUP_ID:
    case RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT:
        return PAWL_FAILED;
    default:
        return PAWL_OK;
    }
}

/*
 * A static member whose session has ended has no member id any more, and until its revocation is answered librdkafka's
 * heartbeats and commits go without one. Where the broker still knows the old id (it was away itself), it takes them for
 * those of a double, which is fatal to the client, although there is none.
 */
static void
on_error(kafka_member *member, rd_kafka_event_t *event)
{
    rd_kafka_resp_err_t code = rd_kafka_event_error(event);
    const char *text = rd_kafka_event_error_string(event);
    pawl_status status;

    if (code == RD_KAFKA_RESP_ERR__FATAL)
        code = rd_kafka_fatal_error(member->client, NULL, 0);
    status = status_of(code);
    if (status == PAWL_OK) {
        pawl__kafka_complain(&member->source->complaint, text);
        return;
    }
    pawl__wait_lock(&member->wait);
    if (code == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID && member->session != KAFKA_SESSION_ALIVE)
        member->session = KAFKA_SESSION_OUTLIVED;
    else
        pawl_error_set(&member->failure, status, 0, code, "group '%s': %s", member->setup.group, text);
    pawl__wait_unlock(&member->wait);
}

static void
serve(kafka_member *member, rd_kafka_event_t *event)
{
    switch (rd_kafka_event_type(event)) {
    case RD_KAFKA_EVENT_REBALANCE:
        if (rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
            on_assigned(member, rd_kafka_event_topic_partition_list(event));
        else
            on_revoked(member, rd_kafka_event_topic_partition_list(event));
        break;
    case RD_KAFKA_EVENT_ERROR:
        on_error(member, event);
        break;
    default:
        return;
    }
    member->changed(member->user);
}

static bool
is_leaving(kafka_member *member)
{
    bool leaving;

    pawl__wait_lock(&member->wait);
    leaving = member->stage == KAFKA_LEAVING;
    pawl__wait_unlock(&member->wait);
    return leaving;
}

void *
pawl__kafka_member_take_events(void *data)
{
    kafka_member *member = data;

    while (!is_leaving(member)) {
        rd_kafka_event_t *event = rd_kafka_queue_poll(member->queue, -1);

        if (event == NULL)
            continue;
        serve(member, event);
        rd_kafka_event_destroy(event);
    }
    return NULL;
}

/* --------------------------------------------------------------------------------------------- for the loop's thread -- */

bool
pawl__kafka_assigned(void *self, void (*found)(void *user, pawl_partition partition), void *user)
{
    kafka_member *member = ((kafka_source *) self)->member;
    bool settled;
    guint index;

    pawl__wait_lock(&member->wait);
    for (guint i = 0; i < member->assigned->len; i++) {
        pawl_partition partition = g_array_index(member->assigned, pawl_partition, i);

        if (!pawl__partitions_find(member->revoked, partition, &index))
            found(user, partition);
    }
    settled = pawl__clock_ms() >= member->settled_ms;
    pawl__wait_unlock(&member->wait);
    return settled;
}

pawl_status
pawl__kafka_revoked(void *self, void (*found)(void *user, pawl_partition partition, bool lost), void *user,
                    pawl_error *err)
{
    kafka_member *member = ((kafka_source *) self)->member;
    bool lost = rd_kafka_assignment_lost(member->client) != 0; /* also while a revocation waits for its answer */
    pawl_status status;

    pawl__wait_lock(&member->wait);
    for (guint i = 0; i < member->revoked->len; i++)
        found(user, g_array_index(member->revoked, pawl_partition, i), lost);
    if (member->revocation == KAFKA_REVOKED)
        member->revocation = KAFKA_REVOKED_TOLD;
    status = member->failure.status;
    if (status != PAWL_OK && err != NULL)
        *err = member->failure;
    pawl__wait_unlock(&member->wait);
    return status;
}
