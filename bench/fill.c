/*
 * fill.c - fills a topic for the benchmarks
 *
 *     fill BROKERS TOPIC PARTITIONS RECORDS VALUE_BYTES
 *
 * The topic is made first. Records go to the partitions in turn, so that all of these hold the same number.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librdkafka/rdkafka.h>

enum { TIMEOUT_MS = 120000 };

static int64_t failed;

static void
on_delivery(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque)
{
    (void) client, (void) opaque;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        failed++;
}

static rd_kafka_t *
open_producer(const char *brokers)
{
    static const char *const settings[][2] = {{"linger.ms", "50"},
                                              {"batch.num.messages", "10000"},
                                              {"queue.buffering.max.messages", "1000000"},
                                              {"log_level", "3"}};
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char text[512];

    rd_kafka_conf_set(conf, "bootstrap.servers", brokers, text, sizeof(text));
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        rd_kafka_conf_set(conf, settings[i][0], settings[i][1], text, sizeof(text));
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
    if (client == NULL) {
        fprintf(stderr, "fill: %s\n", text);
        exit(1);
    }
    return client;
}

static bool
create_topic(rd_kafka_t *client, const char *name, int partitions)
{
    rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(name, partitions, 1, NULL, 0);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    size_t count = 0;

    rd_kafka_CreateTopics(client, &topic, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, TIMEOUT_MS);
    const rd_kafka_CreateTopics_result_t *result = rd_kafka_event_CreateTopics_result(event);
    const rd_kafka_topic_result_t **topics =
        result != NULL ? rd_kafka_CreateTopics_result_topics(result, &count) : NULL;
    bool ok = count == 1 && rd_kafka_topic_result_error(topics[0]) == RD_KAFKA_RESP_ERR_NO_ERROR;
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy(topic);
    return ok;
}

static void
send_all(rd_kafka_t *client, rd_kafka_topic_t *topic, int partitions, int64_t count, size_t size)
{
    char *value = malloc(size + 1);

    for (int64_t i = 0; i < count; i++) {
        char key[32];
        int key_size = snprintf(key, sizeof(key), "k%" PRId64, i % 1000);

        memset(value, 'a' + (int) (i % 26), size);
        while (rd_kafka_produce(topic, (int32_t) (i % partitions), RD_KAFKA_MSG_F_COPY, value, size, key,
                                (size_t) key_size, NULL) == -1) {
            if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
                fprintf(stderr, "fill: %s\n", rd_kafka_err2str(rd_kafka_last_error()));
                exit(1);
            }
            rd_kafka_poll(client, 10);
        }
        if (i % 1000 == 0)
            rd_kafka_poll(client, 0);
    }
    free(value);
}

int
main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: %s BROKERS TOPIC PARTITIONS RECORDS VALUE_BYTES\n", argv[0]);
        return 2;
    }
    rd_kafka_t *client = open_producer(argv[1]);
    bool ok = create_topic(client, argv[2], atoi(argv[3]));
    if (ok) {
        rd_kafka_topic_t *topic = rd_kafka_topic_new(client, argv[2], NULL);

        send_all(client, topic, atoi(argv[3]), atoll(argv[4]), (size_t) atoll(argv[5]));
        ok = rd_kafka_flush(client, TIMEOUT_MS) == RD_KAFKA_RESP_ERR_NO_ERROR && failed == 0;
        rd_kafka_topic_destroy(topic);
    }
    if (!ok)
        fprintf(stderr, "fill: not everything was written to %s\n", argv[2]);
    rd_kafka_destroy(client);
    return ok ? 0 : 1;
}
