/*
 * bare_kafka.c - one commit of a consumer group's offsets; the address is a list of brokers
 *
 * The topic has to be there, with all its partitions.
 */
#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <librdkafka/rdkafka.h>

#include "bare.h"

struct bare {
    rd_kafka_t *consumer;
    rd_kafka_topic_partition_list_t *offsets;
};

static void
set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char text[512];

    if (rd_kafka_conf_set(conf, name, value, text, sizeof text) != RD_KAFKA_CONF_OK)
        give_up("kafka", text);
}

bare *
bare_open(const char *address, int partitions)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char *group = g_strdup_printf("bare-%" PRId64, g_get_real_time());
    bare *client = g_new0(bare, 1);
    char text[512];

    set(conf, "bootstrap.servers", address);
    set(conf, "group.id", group);
    set(conf, "enable.auto.commit", "false");
    client->consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
    if (client->consumer == NULL)
        give_up("kafka", text);
    client->offsets = rd_kafka_topic_partition_list_new(partitions);
    for (int i = 0; i < partitions; i++)
        rd_kafka_topic_partition_list_add(client->offsets, BARE_TOPIC, i);
    g_free(group);
    return client;
}

static void
note(rd_kafka_topic_partition_t *line, int64_t batch, const char *print)
{
    rd_kafka_mem_free(NULL, line->metadata);
    line->metadata = g_strdup_printf("{\"pawl\":1,\"batch\":%" PRId64 ",\"print\":\"%s\"}", batch, print);
    line->metadata_size = strlen(line->metadata);
}

void
bare_save(bare *client, int64_t offset, int64_t batch, const char *print, int64_t now_ms)
{
    rd_kafka_resp_err_t code;

    (void) now_ms; /* Kafka notes it */
    for (int i = 0; i < client->offsets->cnt; i++) {
        client->offsets->elems[i].offset = offset;
        note(&client->offsets->elems[i], batch, print);
    }
    code = rd_kafka_commit(client->consumer, client->offsets, 0);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        give_up("kafka", rd_kafka_err2str(code));
}

void
bare_close(bare *client)
{
    rd_kafka_topic_partition_list_destroy(client->offsets);
    rd_kafka_destroy(client->consumer);
    g_free(client);
}
