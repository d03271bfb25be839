/*
 * nudge.c - waking a broker thread that sleeps although there is room
 *
 * A broker thread of librdkafka that finds all its queues full sleeps until something happens on its connection, for up to
 * a second; that a queue has been emptied does not wake it (confluentinc/librdkafka#2879; from 2.2.0 on the property
 * fetch.queue.backoff.ms shortens the sleep). A request does. So a lane that sees its queue run low after it was full has
 * the leader asked for an offset, which costs both sides next to nothing.
 *
 * Threads: one of its own, since the question blocks. What is asked for is guarded by `wait`.
 */
#include "source/kafka/kafka.h"

#include "util/clock.h"

/* The question's answer is not needed: it only has to be sent. */
#define NUDGE_TIMEOUT_MS 500

struct kafka_nudger {
    rd_kafka_t *client;
    pthread_t thread;
    pawl__wait wait;
    char *topic; /* whose leader to nudge next; NULL: nobody's */
    int32_t partition;
    bool quit;
};

static void
ask(rd_kafka_t *client, const char *topic, int32_t partition)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);

    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = RD_KAFKA_OFFSET_END;
    rd_kafka_offsets_for_times(client, list, NUDGE_TIMEOUT_MS);
    rd_kafka_topic_partition_list_destroy(list);
}

static void *
nudge(void *data)
{
    kafka_nudger *nudger = data;

    pawl__wait_lock(&nudger->wait);
    while (!nudger->quit) {
        char *topic = g_steal_pointer(&nudger->topic);
        int32_t partition = nudger->partition;

        if (topic == NULL) {
            pawl__wait_until(&nudger->wait, PAWL__NEVER);
            continue;
        }
        pawl__wait_unlock(&nudger->wait);
        ask(nudger->client, topic, partition);
        g_free(topic);
        pawl__wait_lock(&nudger->wait);
    }
    pawl__wait_unlock(&nudger->wait);
    return NULL;
}

pawl_status
pawl__kafka_nudger_new(rd_kafka_t *client, kafka_nudger **ret_nudger, pawl_error *err)
{
    kafka_nudger *nudger = g_new0(kafka_nudger, 1);
    int code;

    nudger->client = client;
    pawl__wait_init(&nudger->wait);
    code = pthread_create(&nudger->thread, NULL, nudge, nudger);
    if (code != 0) {
        pawl__wait_done(&nudger->wait);
        g_free(nudger);
        return pawl_error_set(err, PAWL_FAILED, 0, code, "cannot start a thread: %s", g_strerror(code));
    }
    *ret_nudger = nudger;
    return PAWL_OK;
}

void
pawl__kafka_nudger_free(kafka_nudger *nudger)
{
    if (nudger == NULL)
        return;
    pawl__wait_lock(&nudger->wait);
    nudger->quit = true;
    pawl__wait_wake(&nudger->wait);
    pawl__wait_unlock(&nudger->wait);
    pthread_join(nudger->thread, NULL);
    pawl__wait_done(&nudger->wait);
    g_free(nudger->topic);
    g_free(nudger);
}

void
pawl__kafka_nudge(kafka_nudger *nudger, const char *topic, int32_t partition)
{
    pawl__wait_lock(&nudger->wait);
    if (nudger->topic == NULL) {
        nudger->topic = g_strdup(topic);
        nudger->partition = partition;
        pawl__wait_wake(&nudger->wait);
    }
    pawl__wait_unlock(&nudger->wait);
}
