/*
 * ask.c - questions to the brokers: how they are asked, and those about topics
 *
 * librdkafka's blocking calls cannot be broken off, so each is made of short ones: a cancelled job leaves within a second.
 * A connection that takes longer to set up goes on being set up meanwhile.
 *
 * Questions have a client of their own. On the one that fetches each would wait until the fetch before it is answered,
 * which at the end of a log takes fetch.wait.max.ms, and a batch begins with two questions.
 */
#include "source/kafka/kafka.h"

#include <string.h>

#include "util/clock.h"
#include "util/pattern.h"

/* The longest that one call may take. */
#define SLICE_MS 800

/* ---------------------------------------------------------------------------------------------------------- time -- */

int
pawl__kafka_slice_ms(kafka_source *source, int64_t deadline_ms)
{
    int64_t left = deadline_ms - pawl__clock_ms();

    if (atomic_load(&source->cancelled) || left <= 0)
        return 0;
    return (int) MIN(left, SLICE_MS);
}

bool
pawl__kafka_is_worth_another_try(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR__TIMED_OUT || code == RD_KAFKA_RESP_ERR__TRANSPORT ||
           code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || code == RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT ||
           code == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE || code == RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION ||
           code == RD_KAFKA_RESP_ERR__WAIT_COORD || code == RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE ||
           code == RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION;
}

void
pawl__kafka_breathe(kafka_source *source, int64_t asked_ms)
{
    const int64_t pause_ms = 20;

    if (pawl__clock_ms() - asked_ms < pause_ms)
        pawl__kafka_pause(source, pawl__clock_ms() + pause_ms);
}

/* ------------------------------------------------------------------------------------------------------ metadata -- */

pawl_status
pawl__kafka_cluster(void *self, int64_t deadline_ms, char *ret_id, size_t size, pawl_error *err)
{
    kafka_source *source = self;
    char *id = NULL;
    int slice;

    while (id == NULL && (slice = pawl__kafka_slice_ms(source, deadline_ms)) > 0)
        id = rd_kafka_clusterid(source->asker, slice);
    if (id == NULL)
        return pawl__kafka_unreachable(source, RD_KAFKA_RESP_ERR__TIMED_OUT, "which cluster they are", err);
    source->answered = true;
    g_strlcpy(ret_id, id, size);
    rd_kafka_mem_free(source->asker, id);
    return PAWL_OK;
}

static pawl_status
ask_metadata(kafka_source *source, int64_t deadline_ms, const rd_kafka_metadata_t **ret_metadata, pawl_error *err)
{
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__TIMED_OUT;
    int slice;

    /* Named topics are those that the client knows (pawl__kafka_name_topics); a pattern has to look at all. */
    while ((slice = pawl__kafka_slice_ms(source, deadline_ms)) > 0) {
        int64_t asked_ms = pawl__clock_ms();

        code = rd_kafka_metadata(source->asker, source->pattern != NULL, NULL, ret_metadata, slice);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
            source->answered = true;
            return PAWL_OK;
        }
        if (!pawl__kafka_is_worth_another_try(code))
            break;
        pawl__kafka_breathe(source, asked_ms);
    }
    return pawl__kafka_unreachable(source, code, "which topics there are", err);
}

static const rd_kafka_metadata_topic_t *
find_topic(const rd_kafka_metadata_t *metadata, const char *name)
{
    for (int i = 0; i < metadata->topic_cnt; i++)
        if (strcmp(metadata->topics[i].topic, name) == 0)
            return &metadata->topics[i];
    return NULL;
}

static bool
exists(const rd_kafka_metadata_topic_t *topic)
{
    return topic != NULL && topic->partition_cnt > 0;
}

static bool
is_selected(const kafka_source *source, const char *topic, int32_t partition)
{
    for (guint i = 0; i < source->explicit->len; i++) {
        const pawl_partition *wanted = &g_array_index(source->explicit, pawl_partition, i);

        if (wanted->number == partition && strcmp(wanted->topic, topic) == 0)
            return true;
    }
    return source->explicit->len == 0;
}

static void
tell_partitions(const kafka_source *source, const rd_kafka_metadata_topic_t *topic,
                void (*found)(void *user, pawl_partition partition), void *user)
{
    for (int i = 0; i < topic->partition_cnt; i++)
        if (is_selected(source, topic->topic, topic->partitions[i].id))
            found(user, (pawl_partition){topic->topic, topic->partitions[i].id});
}

static bool
has_partition(const rd_kafka_metadata_topic_t *topic, int32_t partition)
{
    for (int i = 0; topic != NULL && i < topic->partition_cnt; i++)
        if (topic->partitions[i].id == partition)
            return true;
    return false;
}

/* A partition that was asked for and is not there makes its topic incomplete, which counts as missing. */
static bool
is_complete(const kafka_source *source, const rd_kafka_metadata_topic_t *topic, const char *name)
{
    for (guint i = 0; i < source->explicit->len; i++) {
        const pawl_partition *wanted = &g_array_index(source->explicit, pawl_partition, i);

        if (strcmp(wanted->topic, name) == 0 && !has_partition(topic, wanted->number))
            return false;
    }
    return exists(topic);
}

static void
tell_named(const kafka_source *source, const rd_kafka_metadata_t *metadata,
           void (*found)(void *user, pawl_partition partition), void (*missing)(void *user, const char *topic),
           void *user)
{
    for (guint i = 0; i < source->topics->len; i++) {
        const char *name = g_ptr_array_index(source->topics, i);
        const rd_kafka_metadata_topic_t *topic = find_topic(metadata, name);

        if (exists(topic))
            tell_partitions(source, topic, found, user);
        if (!is_complete(source, topic, name))
            missing(user, name);
    }
}

static void
tell_matching(const kafka_source *source, const rd_kafka_metadata_t *metadata,
              void (*found)(void *user, pawl_partition partition), void *user)
{
    for (int i = 0; i < metadata->topic_cnt; i++)
        if (exists(&metadata->topics[i]) && pawl__pattern_matches(source->pattern, metadata->topics[i].topic))
            tell_partitions(source, &metadata->topics[i], found, user);
}

/* A topic that the user may not see is no missing one: waiting for it does not help. */
static pawl_status
check_rights(const kafka_source *source, const rd_kafka_metadata_t *metadata, pawl_error *err)
{
    for (guint i = 0; i < source->topics->len; i++) {
        const char *name = g_ptr_array_index(source->topics, i);
        const rd_kafka_metadata_topic_t *topic = find_topic(metadata, name);

        if (topic != NULL && topic->err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
            return pawl_error_set(err, PAWL_FAILED, 0, topic->err,
                                  "topic '%s': this user lacks the right to describe it: %s", name,
                                  rd_kafka_err2str(topic->err));
    }
    return PAWL_OK;
}

pawl_status
pawl__kafka_discover(void *self, int64_t deadline_ms, void (*found)(void *user, pawl_partition partition),
                     void (*missing)(void *user, const char *topic), void *user, pawl_error *err)
{
    kafka_source *source = self;
    const rd_kafka_metadata_t *metadata = NULL;
    pawl_status status = ask_metadata(source, deadline_ms, &metadata, err);

    if (metadata == NULL) /* the status says why */
        return status;
    status = check_rights(source, metadata, err);
    if (status == PAWL_OK && source->pattern != NULL)
        tell_matching(source, metadata, found, user);
    else if (status == PAWL_OK)
        tell_named(source, metadata, found, missing, user);
    rd_kafka_metadata_destroy(metadata);
    return status;
}

pawl_status
pawl__kafka_name_topics(const kafka_source *source, rd_kafka_t *client, GPtrArray *handles, pawl_error *err)
{
    for (guint i = 0; i < source->topics->len; i++) {
        const char *name = g_ptr_array_index(source->topics, i);
        rd_kafka_topic_t *handle = rd_kafka_topic_new(client, name, NULL);

        if (handle == NULL)
            return pawl_error_set(err, PAWL_INVALID, 0, rd_kafka_last_error(), "topic '%s': %s", name,
                                  rd_kafka_err2str(rd_kafka_last_error()));
        g_ptr_array_add(handles, handle);
    }
    return PAWL_OK;
}
