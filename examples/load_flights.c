/*
 * load_flights.c - puts CSV rows of nycflights13 into a topic, keyed by carrier
 *
 *     load_flights BROKERS TOPIC [PARTITIONS] < flights.csv
 *
 * With PARTITIONS the topic is made first, by the admin API. The key decides the partition, so the flights of a carrier
 * stay in order. Ends with 0 when the brokers have acknowledged every row, and prints how many there were.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librdkafka/rdkafka.h>

enum { CARRIER_COLUMN = 9, TIMEOUT_MS = 60000 };

static int64_t acknowledged;

static void
on_delivery(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque)
{
    (void) client, (void) opaque;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
        acknowledged++;
    else
        fprintf(stderr, "not delivered: %s\n", rd_kafka_err2str(message->err));
}

/* An idempotent producer: a request that is sent twice is written once, in order. */
static rd_kafka_t *
open_producer(const char *brokers)
{
    static const char *const settings[][2] = {
        {"enable.idempotence", "true"}, {"linger.ms", "20"}, {"message.timeout.ms", "60000"}, {"log_level", "3"}};
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char text[512] = "";
    bool ok = rd_kafka_conf_set(conf, "bootstrap.servers", brokers, text, sizeof(text)) == RD_KAFKA_CONF_OK;

    for (size_t i = 0; ok && i < sizeof(settings) / sizeof(settings[0]); i++)
        ok = rd_kafka_conf_set(conf, settings[i][0], settings[i][1], text, sizeof(text)) == RD_KAFKA_CONF_OK;
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_t *client = ok ? rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text)) : NULL;
    if (client == NULL) {
        fprintf(stderr, "producer: %s\n", text);
        rd_kafka_conf_destroy(conf);
    }
    return client;
}

/* Makes the topic and waits until that is done. */
static bool
create_topic(rd_kafka_t *client, const char *name, int partitions)
{
    char text[512] = "";
    rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(name, partitions, 1, text, sizeof(text));
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_event_t *event = NULL;
    bool ok = false;

    if (topic != NULL) {
        size_t count;

        rd_kafka_CreateTopics(client, &topic, 1, NULL, queue);
        event = rd_kafka_queue_poll(queue, TIMEOUT_MS);
        const rd_kafka_CreateTopics_result_t *result = rd_kafka_event_CreateTopics_result(event);
        const rd_kafka_topic_result_t **topics =
            result != NULL ? rd_kafka_CreateTopics_result_topics(result, &count) : NULL;
        ok = topics != NULL && rd_kafka_topic_result_error(topics[0]) == RD_KAFKA_RESP_ERR_NO_ERROR;
        if (!ok)
            snprintf(text, sizeof(text), "%s",
                     topics != NULL  ? rd_kafka_err2str(rd_kafka_topic_result_error(topics[0]))
                     : event != NULL ? rd_kafka_event_error_string(event)
                                     : "no answer");
        rd_kafka_NewTopic_destroy(topic);
    }
    if (!ok)
        fprintf(stderr, "cannot create topic %s: %s\n", name, text);
    if (event != NULL)
        rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    return ok;
}

/* Finds the carrier in a row. False when the row has too few columns. */
static bool
find_carrier(const char *row, const char **ret_carrier, size_t *ret_size)
{
    for (int i = 0; i < CARRIER_COLUMN; i++) {
        row = strchr(row, ',');
        if (row == NULL)
            return false;
        row++;
    }
    *ret_carrier = row;
    *ret_size = strcspn(row, ",");
    return true;
}

/* Hands one row to the client; a full queue is waited for. */
static bool
send_row(rd_kafka_t *client, const char *topic, char *row, size_t row_size)
{
    const char *carrier;
    size_t carrier_size;
    rd_kafka_resp_err_t rc;

    if (!find_carrier(row, &carrier, &carrier_size)) {
        fprintf(stderr, "not a row of nycflights13: %s\n", row);
        return false;
    }
    while ((rc = rd_kafka_producev(client, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_KEY(carrier, carrier_size),
                                   RD_KAFKA_V_VALUE(row, row_size), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                   RD_KAFKA_V_END)) == RD_KAFKA_RESP_ERR__QUEUE_FULL)
        rd_kafka_poll(client, 100);
    if (rc != RD_KAFKA_RESP_ERR_NO_ERROR)
        fprintf(stderr, "cannot send: %s\n", rd_kafka_err2str(rc));
    return rc == RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* Sends all rows but the heading, and waits for their acknowledgement. Returns whether all were acknowledged. */
static bool
send_rows(rd_kafka_t *client, const char *topic, FILE *input)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    int64_t sent = 0;
    bool ok = true;

    while (ok && (size = getline(&line, &room, input)) != -1) {
        if (size > 0 && line[size - 1] == '\n')
            line[--size] = '\0';
        if (strncmp(line, "year,", 5) == 0)
            continue;
        ok = send_row(client, topic, line, (size_t) size);
        sent += ok;
        rd_kafka_poll(client, 0);
    }
    free(line);
    rd_kafka_flush(client, TIMEOUT_MS);
    printf("%" PRId64 " rows sent to topic %s, %" PRId64 " acknowledged\n", sent, topic, acknowledged);
    return ok && sent == acknowledged;
}

int
main(int argc, char **argv)
{
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: %s BROKERS TOPIC [PARTITIONS] < flights.csv\n", argv[0]);
        return 2;
    }
    rd_kafka_t *client = open_producer(argv[1]);
    if (client == NULL)
        return 1;
    bool ok = (argc == 3 || create_topic(client, argv[2], atoi(argv[3]))) && send_rows(client, argv[2], stdin);
    rd_kafka_destroy(client);
    return ok ? 0 : 1;
}
