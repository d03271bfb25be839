/*
 * bare_loop.c - the least that reads a topic with librdkafka and saves offsets: what pawl is measured against
 *
 *     bare_loop BROKERS TOPIC PARTITIONS RECORDS FILE ARRAY_SIZE [NAME=VALUE ...]
 *
 * One queue, one array, nothing kept, no ranges: each time 1,000,000 more records have been counted, one SQLite
 * transaction (WAL, synchronous=FULL) writes the offsets of all partitions. NAME=VALUE are librdkafka's properties.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librdkafka/rdkafka.h>
#include <sqlite3.h>

#include "measure.h"

enum { BATCH = 1000000, MAX_PARTITIONS = 1000 };

static int64_t next_offset[MAX_PARTITIONS];

static void
die(const char *what, const char *why)
{
    fprintf(stderr, "bare_loop: %s: %s\n", what, why);
    exit(1);
}

static void
set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char text[512];

    if (rd_kafka_conf_set(conf, name, value, text, sizeof(text)) != RD_KAFKA_CONF_OK)
        die(name, text);
}

static rd_kafka_t *
open_consumer(char **argv, int argc)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char text[512];

    set(conf, "bootstrap.servers", argv[1]);
    set(conf, "group.id", "bare");
    set(conf, "enable.auto.commit", "false");
    set(conf, "enable.auto.offset.store", "false");
    for (int i = 7; i < argc; i++) {
        char *equals = strchr(argv[i], '=');

        *equals = '\0';
        set(conf, argv[i], equals + 1);
    }
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
    if (client == NULL)
        die("consumer", text);
    rd_kafka_poll_set_consumer(client);
    return client;
}

static void
assign(rd_kafka_t *client, const char *topic, int partitions)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);

    for (int i = 0; i < partitions; i++)
        rd_kafka_topic_partition_list_add(list, topic, i)->offset = 0;
    rd_kafka_assign(client, list);
    rd_kafka_topic_partition_list_destroy(list);
}

static sqlite3 *
open_file(const char *path)
{
    sqlite3 *db;

    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(
            db,
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
            "CREATE TABLE offsets (topic TEXT, partition INTEGER, offset INTEGER, PRIMARY KEY (topic, partition))",
            NULL, NULL, NULL) != SQLITE_OK)
        die(path, sqlite3_errmsg(db));
    return db;
}

static void
save(sqlite3 *db, sqlite3_stmt *upsert, const char *topic, int partitions)
{
    int rc = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);

    for (int i = 0; rc == SQLITE_OK && i < partitions; i++) {
        sqlite3_bind_text(upsert, 1, topic, -1, SQLITE_STATIC);
        sqlite3_bind_int(upsert, 2, i);
        sqlite3_bind_int64(upsert, 3, next_offset[i]);
        sqlite3_step(upsert);
        rc = sqlite3_reset(upsert);
    }
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        die("save", sqlite3_errmsg(db));
}

/* Counts `wanted` records; saves after each 1,000,000 of them. */
static int64_t
count_all(rd_kafka_queue_t *queue, sqlite3 *db, const char *topic, int partitions, int64_t wanted, size_t array_size)
{
    rd_kafka_message_t **messages = calloc(array_size, sizeof(*messages));
    int64_t records = 0, bytes = 0, next_save = BATCH;
    sqlite3_stmt *upsert = NULL;

    sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO offsets VALUES (?, ?, ?)", -1, &upsert, NULL);
    while (records < wanted) {
        ssize_t got = rd_kafka_consume_batch_queue(queue, 1000, messages, array_size);

        for (ssize_t i = 0; i < got; i++) {
            rd_kafka_message_t *message = messages[i];

            if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
                if (records++ == 0)
                    measure_first();
                bytes += (int64_t) (message->len + message->key_len);
                next_offset[message->partition] = message->offset + 1;
            }
            rd_kafka_message_destroy(message);
        }
        if (records >= next_save || records >= wanted) {
            save(db, upsert, topic, partitions);
            next_save += BATCH;
        }
    }
    sqlite3_finalize(upsert);
    free(messages);
    measure_end(records, bytes);
    return records;
}

int
main(int argc, char **argv)
{
    if (argc < 7) {
        fprintf(stderr, "usage: %s BROKERS TOPIC PARTITIONS RECORDS FILE ARRAY_SIZE [NAME=VALUE ...]\n", argv[0]);
        return 2;
    }
    int partitions = atoi(argv[3]);
    if (partitions < 1 || partitions > MAX_PARTITIONS)
        die("partitions", argv[3]);

    measure_start();
    sqlite3 *db = open_file(argv[5]);
    rd_kafka_t *client = open_consumer(argv, argc);
    rd_kafka_queue_t *queue = rd_kafka_queue_get_consumer(client);
    assign(client, argv[2], partitions);
    count_all(queue, db, argv[2], partitions, atoll(argv[4]), (size_t) atoll(argv[6]));
    rd_kafka_queue_destroy(queue);
    rd_kafka_consumer_close(client);
    rd_kafka_destroy(client);
    sqlite3_close(db);
    return 0;
}
