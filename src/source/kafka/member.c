/*
 * member.c - membership in a consumer group
 *
 * A third client is the member: it subscribes, and its queue carries nothing but events, which a thread of its own takes at
 * once. So a batch may last as long as it likes without breaking max.poll.interval.ms. What the group assigns is read by
 * the client that fetches, so the member assigns nothing to itself: it only says that it has understood. Kafka keeps the
 * group's assignment apart from that of the client (tried with cooperative-sticky and range).
 *
 * An assignment is answered here. A revocation is answered by the loop, when it has let go of the partitions; until then the
 * group gives them to nobody, unless the broker has lost patience with this member, and then a commit of it is refused.
 *
 * librdkafka would look for new partitions by itself, and join again at once when there are some: even while a revocation
 * waits for its answer, so that the group gave away what had not been let go of, or gave it back (tried with 2.0.2). So it
 * is kept from that. The loop finds new partitions anyway, and to subscribe once more is to join again, but in its turn.
 */
#include "source/kafka/member.h"

#include "util/clock.h"
#include "util/log.h"
#include "util/partition.h"

/* How long leaving the group may take, and when the job was told to leave at once. A broker that does not hear of it finds
 * out by the session's timeout. */
#define LEAVE_MS      2000
#define LEAVE_SOON_MS 100

/* How long to wait for metadata, and how long librdkafka may be left with the same: it remembers them for a day. */
#define LOOK_MS       1000
#define LOOK_AGAIN_MS (12 * 3600 * 1000)

/* Kafka's numbers for the requests. */
#define JOIN_GROUP 11
#define HEARTBEAT  12

/* How long the member may be about to ask to join when it has been stirred: what it takes two threads to wake. And how often
 * librdkafka asks at most, when a heartbeat or a subscription tells it to. */
#define STIRRED_MS       10
#define JOIN_INTERVAL_MS 1000

/* ---------------------------------------------------------------------------------------------- joining, leaving -- */

static void
free_topic(gpointer topic)
{
    rd_kafka_topic_destroy(topic);
}

/* Has the client look at these topics: it asks for all of which there are handles. */
static pawl_status
look_at(kafka_member *member, const char *const *topics, pawl_error *err)
{
    GPtrArray *handles = g_ptr_array_new_with_free_func(free_topic);
    const rd_kafka_metadata_t *metadata = NULL;
    rd_kafka_resp_err_t code;

    for (; *topics != NULL; topics++)
        g_ptr_array_add(handles, rd_kafka_topic_new(member->client, *topics, NULL));
    code = rd_kafka_metadata(member->client, 0, NULL, &metadata, LOOK_MS);
    g_ptr_array_unref(handles);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return pawl__kafka_unreachable(member->source, code, "which partitions there are", err);
    rd_kafka_metadata_destroy(metadata);
    return PAWL_OK;
}

void
pawl__kafka_member_stir(kafka_member *member, int64_t when_ms)
{
    member->stirred_until_ms = MAX(member->stirred_until_ms, when_ms + STIRRED_MS);
}

/* librdkafka asks when a second has passed since it last did. */
static void
stir_by_interval(kafka_member *member)
{
    pawl__wait_lock(&member->wait);
    pawl__kafka_member_stir(member, MAX(pawl__clock_ms(), member->asked_ms + JOIN_INTERVAL_MS));
    pawl__wait_unlock(&member->wait);
}

static pawl_status
subscribe(kafka_member *member, pawl_error *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_resp_err_t code;

    for (char **topic = member->topics; *topic != NULL; topic++)
        rd_kafka_topic_partition_list_add(list, *topic, RD_KAFKA_PARTITION_UA);
    code = rd_kafka_subscribe(member->client, list);
    stir_by_interval(member);
    rd_kafka_topic_partition_list_destroy(list);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        return PAWL_OK;
    return pawl_error_set(err, PAWL_FAILED, 0, code, "group '%s': cannot subscribe: %s", member->setup.group,
                          rd_kafka_err2str(code));
}

/*
 * From the request to join until the assignment the generation is about to change. What is committed with the old one may
 * be read by the broker when the new one is there already: it is refused then, and librdkafka takes all that the member has
 * for lost. Nothing tells that the member is about to ask: each thing that may make it ask counts as if it did.
 */
static int64_t
unsettled_until_ms(const kafka_member *member)
{
    if (member->failure.status != PAWL_OK) /* it will not join again: what it saves is refused at once */
        return 0;
    if (member->joining)
        return PAWL__NEVER;
    return member->revocation == KAFKA_NOT_REVOKED ? member->stirred_until_ms : 0; /* it has to be answered first */
}

static bool
await_generation(const pawl_source_member *facade, int64_t deadline_ms)
{
    kafka_member *member = (kafka_member *) facade;
    int64_t until_ms, now_ms;

    pawl__wait_lock(&member->wait);
    while ((until_ms = unsettled_until_ms(member)) > (now_ms = pawl__clock_ms()) && now_ms < deadline_ms)
        pawl__wait_until(&member->wait, MIN(until_ms, deadline_ms));
    pawl__wait_unlock(&member->wait);
    return until_ms <= now_ms;
}

/* On one of librdkafka's threads, like the next. */
static rd_kafka_resp_err_t
on_request_sent(rd_kafka_t *client, int fd, const char *broker, int32_t broker_id, int16_t key, int16_t version,
                int32_t correlation, size_t size, void *opaque)
{
    kafka_member *member = opaque;

    (void) client, (void) fd, (void) broker, (void) broker_id, (void) version, (void) correlation, (void) size;
    if (key != JOIN_GROUP)
        return RD_KAFKA_RESP_ERR_NO_ERROR;
    pawl__wait_lock(&member->wait);
    member->joining = true;
    member->asked_ms = pawl__clock_ms();
    pawl__wait_unlock(&member->wait);
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* Called before the member itself hears of the answer. */
static rd_kafka_resp_err_t
on_response_received(rd_kafka_t *client, int fd, const char *broker, int32_t broker_id, int16_t key, int16_t version,
                     int32_t correlation, size_t size, int64_t round_trip_us, rd_kafka_resp_err_t code, void *opaque)
{
    kafka_member *member = opaque;

    (void) client, (void) fd, (void) broker, (void) broker_id, (void) version, (void) correlation, (void) size;
    (void) round_trip_us, (void) code;
    if (key == HEARTBEAT)
        stir_by_interval(member);
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t
on_new(rd_kafka_t *client, const rd_kafka_conf_t *conf, void *opaque, char *why, size_t why_size)
{
    rd_kafka_resp_err_t code = rd_kafka_interceptor_add_on_request_sent(client, "pawl", on_request_sent, opaque);

    (void) conf, (void) why, (void) why_size;
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return code;
    return rd_kafka_interceptor_add_on_response_received(client, "pawl", on_response_received, opaque);
}

static void *
native_client(const pawl_source_member *facade)
{
    kafka_member *member = (kafka_member *) facade;
    rd_kafka_t *client;

    pawl__wait_lock(&member->wait);
    client = member->client;
    pawl__wait_unlock(&member->wait);
    return client;
}

static void
take_client(kafka_member *member, rd_kafka_t *client)
{
    rd_kafka_poll_set_consumer(client);
    pawl__wait_lock(&member->wait);
    if (member->client != NULL)
        g_ptr_array_add(member->outlived_clients, member->client);
    member->client = client;
    member->session = KAFKA_SESSION_ALIVE;
    member->joining = member->was_assigned = false;
    pawl__wait_unlock(&member->wait);
    member->queue = rd_kafka_queue_get_consumer(client);
}

static void
free_client(void *client)
{
    pawl__kafka_client_free(client);
}

pawl_status
pawl__kafka_member_new(kafka_source *source, const pawl_source_group *group, kafka_member **ret_member, pawl_error *err)
{
    kafka_member *member = g_new0(kafka_member, 1);
    rd_kafka_t *client;
    pawl_status status;

    member->source = source;
    member->setup = source->client_setup;
    member->setup.instance_id = g_strdup(group->instance_id);
    member->setup.is_told_of_topics = true;
    member->setup.events = RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_ERROR;
    /* It reads no records, but the offsets of the store kafka: with those that a transaction is about to commit. */
    member->setup.read_committed = true;
    member->setup.on_new = on_new;
    member->setup.on_new_opaque = member;
    member->settled_ms = PAWL__NEVER;
    member->changed = group->changed;
    member->user = group->user;
    member->assigned = pawl__partitions_new();
    member->revoked = pawl__partitions_new();
    member->outlived_clients = g_ptr_array_new_with_free_func(free_client);
    member->facade = (pawl_source_member){.client = native_client, .await_generation = await_generation};
    pawl__wait_init(&member->wait);
    status = pawl__kafka_client_new(&member->setup, &source->budget, &client, err);
    if (status != PAWL_OK) {
        pawl__kafka_member_free(member);
        return status;
    }
    take_client(member, client);
    *ret_member = member;
    return PAWL_OK;
}

/*
 * Before 2.3 librdkafka aborts when the client of a sticky assignor is destroyed after it has joined a group and before it
 * is assigned anything (librdkafka's issue 4312). And a client that is closing is destroyed only when the coordinator has
 * answered, or has not for 5 s. Such clients are left alone, with all that they may still use.
 */
static bool
may_be_destroyed(const kafka_member *member)
{
    return member->stage != KAFKA_CLOSING &&
           (rd_kafka_version() >= 0x02030000 || member->partitions == 0 || member->was_assigned);
}

void
pawl__kafka_member_free(kafka_member *member)
{
    if (member == NULL)
        return;
    if (!may_be_destroyed(member)) {
        rd_kafka_set_log_level(member->client, 0); /* nobody is there to take it */
        return;
    }
    g_clear_pointer(&member->queue, rd_kafka_queue_destroy);
    pawl__kafka_client_free(member->client);
    g_ptr_array_unref(member->outlived_clients);
    g_free(member->setup.instance_id);
    g_strfreev(member->topics);
    g_array_unref(member->assigned);
    g_array_unref(member->revoked);
    pawl__wait_done(&member->wait);
    g_free(member);
}

static void
enter(kafka_member *member, kafka_stage stage)
{
    pawl__wait_lock(&member->wait);
    member->stage = stage;
    pawl__wait_unlock(&member->wait);
}

static pawl_status
start_thread(kafka_member *member, pawl_error *err)
{
    int code;

    enter(member, KAFKA_SUBSCRIBED);
    code = pthread_create(&member->thread, NULL, pawl__kafka_member_take_events, member);
    if (code == 0)
        return PAWL_OK;
    enter(member, KAFKA_APART);
    return pawl_error_set(err, PAWL_FAILED, 0, code, "cannot start a thread: %s", g_strerror(code));
}

static void
end_thread(kafka_member *member)
{
    enter(member, KAFKA_LEAVING);
    rd_kafka_queue_yield(member->queue);
    pthread_join(member->thread, NULL);
}

pawl_status
pawl__kafka_subscribe(void *self, const char *const *topics, size_t partitions, pawl_error *err)
{
    kafka_member *member = ((kafka_source *) self)->member;
    pawl_status status = member->stage == KAFKA_SUBSCRIBED ? PAWL_OK : start_thread(member, err);
    bool more = partitions != member->partitions;

    if (status != PAWL_OK || (!more && pawl__clock_ms() < member->look_again_ms))
        return status;
    status = look_at(member, topics, err);
    if (status != PAWL_OK)
        return status;
    member->look_again_ms = pawl__clock_ms() + LOOK_AGAIN_MS;
    if (!more)
        return PAWL_OK;
    member->partitions = partitions;
    g_strfreev(member->topics);
    member->topics = g_strdupv((char **) topics);
    return subscribe(member, err);
}

static int64_t
leave_ms(kafka_source *source)
{
    return atomic_load(&source->cancelled) ? LEAVE_SOON_MS : LEAVE_MS;
}

/*
 * Leaves in good order, so that the others need not wait for the session's timeout. A subscription that librdkafka puts off
 * is taken back first: it would be made in the middle of closing, and 2.0.2 aborts. Returns what it is then.
 */
static kafka_stage
say_goodbye(kafka_member *member)
{
    int64_t deadline_ms = pawl__clock_ms() + leave_ms(member->source);
    rd_kafka_error_t *error;

    rd_kafka_unsubscribe(member->client);
    error = rd_kafka_consumer_close_queue(member->client, member->queue);
    if (error != NULL) {
        rd_kafka_error_destroy(error);
        return KAFKA_APART;
    }
    while (!rd_kafka_consumer_closed(member->client) && pawl__clock_ms() < deadline_ms) {
        rd_kafka_event_t *event = rd_kafka_queue_poll(member->queue, 50);

        if (event == NULL)
            continue;
        if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE)
            pawl__kafka_member_answer(member, rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS);
        rd_kafka_event_destroy(event);
    }
    return rd_kafka_consumer_closed(member->client) ? KAFKA_APART : KAFKA_CLOSING;
}

void
pawl__kafka_unsubscribe(void *self)
{
    kafka_source *source = self;
    kafka_member *member = source->member;
    int64_t deadline_ms = pawl__clock_ms() + leave_ms(source);

    if (member == NULL || member->stage != KAFKA_SUBSCRIBED)
        return;
    pawl__wait_lock(&member->wait);
    while (!may_be_destroyed(member) && pawl__wait_until(&member->wait, deadline_ms))
        continue;
    pawl__wait_unlock(&member->wait);
    end_thread(member);
    if (member->revocation != KAFKA_NOT_REVOKED)
        pawl__kafka_member_answer(member, false);
    enter(member, say_goodbye(member));
}

/* ------------------------------------------------------------------------------------------------------ answering -- */

/* A useless client gives its place to a new one. */
static pawl_status
replace_client(kafka_member *member, pawl_error *err)
{
    rd_kafka_t *client;
    pawl_status status = pawl__kafka_client_new(&member->setup, &member->source->budget, &client, err);

    if (status != PAWL_OK)
        return status;
    rd_kafka_set_log_level(member->client, 0); /* it has said enough */
    rd_kafka_queue_destroy(member->queue);
    take_client(member, client);
    look_at(member, (const char *const *) member->topics, NULL); /* without an answer it asks once more itself */
    return subscribe(member, err);
}

static void
join_anew(kafka_member *member)
{
    pawl__log(member->source->log, PAWL_LOG_WARN, "client", "the session in group '%s' has ended: joining it anew",
              member->setup.group);
    end_thread(member);
    replace_client(member, &member->failure);
    start_thread(member, &member->failure);
}

void
pawl__kafka_let_go(void *self)
{
    kafka_member *member = ((kafka_source *) self)->member;
    bool told, outlived;

    pawl__wait_lock(&member->wait);
    told = member->revocation == KAFKA_REVOKED_TOLD;
    outlived = member->session == KAFKA_SESSION_OUTLIVED;
    if (told)
        pawl__kafka_member_drop_revoked(member);
    if (told && member->assigned->len == 0) /* all was taken or lost: the member joins again */
        member->settled_ms = PAWL__NEVER;
    pawl__wait_unlock(&member->wait);
    if (outlived)
        join_anew(member);
    else if (told)
        pawl__kafka_member_answer(member, false);
}

const pawl_source_member *
pawl__kafka_member(void *self)
{
    kafka_member *member = ((kafka_source *) self)->member;

    return member != NULL ? &member->facade : NULL;
}
