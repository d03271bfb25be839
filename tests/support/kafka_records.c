/*
 * kafka_records.c - producing records of any kind, and a plain reading of them
 */
#include "tests/support/kafka_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WAIT_MS 60000

/* ------------------------------------------------------------------------------------------------------ producing -- */

static void
on_delivery(rd_kafka_t *producer, const rd_kafka_message_t *message, void *user)
{
    (void) producer, (void) user;
    /* What is sent inside of a transaction that is aborted may be given up. */
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR && message->err != RD_KAFKA_RESP_ERR__PURGE_QUEUE &&
        message->err != RD_KAFKA_RESP_ERR__PURGE_INFLIGHT)
        g_printerr("a record was not taken: %s\n", rd_kafka_message_errstr(message));
}

rd_kafka_t *
kafka_fixture_producer(const char *const *properties)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    kafka_fixture_set(conf, "enable.idempotence", "true");
    kafka_fixture_set(conf, "linger.ms", "2");
    kafka_fixture_set(conf, "message.max.bytes", "115343360");
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    return kafka_fixture_client(RD_KAFKA_PRODUCER, conf, properties);
}

/* Takes the answer to a call about transactions. */
static void
expect_none(rd_kafka_error_t *error, const char *what)
{
    if (error != NULL)
        fail_msg("%s: %s", what, rd_kafka_error_string(error));
}

rd_kafka_t *
kafka_fixture_transactional(const char *compression)
{
    char *id = kafka_fixture_name("transactional");
    const char *const properties[] = {
        "transactional.id", id, "compression.codec", compression, "retry.backoff.ms", "5", NULL};
    rd_kafka_t *producer = kafka_fixture_producer(properties);

    expect_none(rd_kafka_init_transactions(producer, WAIT_MS), "preparing transactions");
    g_free(id);
    return producer;
}

void
kafka_fixture_send(rd_kafka_t *producer, const char *topic, int32_t partition, const void *key, size_t key_size,
                   const void *value, size_t value_size, rd_kafka_headers_t *headers, int64_t timestamp_ms)
{
    rd_kafka_resp_err_t code;

    for (;;) {
        rd_kafka_headers_t *copy = headers != NULL ? rd_kafka_headers_copy(headers) : rd_kafka_headers_new(0);

        code = rd_kafka_producev(producer, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition),
                                 RD_KAFKA_V_KEY(key, key_size), RD_KAFKA_V_VALUE((void *) value, value_size),
                                 RD_KAFKA_V_HEADERS(copy), RD_KAFKA_V_TIMESTAMP(timestamp_ms),
                                 RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
            rd_kafka_headers_destroy(copy);
        if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL)
            break;
        rd_kafka_poll(producer, 10);
    }
    if (headers != NULL)
        rd_kafka_headers_destroy(headers);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        fail_msg("sending to %s: %s", topic, rd_kafka_err2str(code));
}

void
kafka_fixture_send_many(rd_kafka_t *producer, const char *topic, int32_t partition, const char *key, int count)
{
    char value[300]; /* a topic has up to 249 characters */

    for (int i = 0; i < count; i++) {
        int size = g_snprintf(value, sizeof value, "%s %d", topic, i);

        kafka_fixture_send(producer, topic, partition, key, key != NULL ? strlen(key) : 0, value, (size_t) size, NULL,
                           0);
    }
}

void
kafka_fixture_flush(rd_kafka_t *producer)
{
    rd_kafka_resp_err_t code = rd_kafka_flush(producer, WAIT_MS);

    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        fail_msg("flushing: %s", rd_kafka_err2str(code));
}

void
kafka_fixture_fill(const char *topic, int32_t partition, int count)
{
    rd_kafka_t *producer = kafka_fixture_producer(NULL);

    kafka_fixture_send_many(producer, topic, partition, NULL, count);
    kafka_fixture_flush(producer);
    rd_kafka_destroy(producer);
}

void
kafka_fixture_begin(rd_kafka_t *producer)
{
    expect_none(rd_kafka_begin_transaction(producer), "beginning a transaction");
}

void
kafka_fixture_commit(rd_kafka_t *producer)
{
    expect_none(rd_kafka_commit_transaction(producer, WAIT_MS), "committing a transaction");
}

void
kafka_fixture_abort(rd_kafka_t *producer)
{
    expect_none(rd_kafka_abort_transaction(producer, WAIT_MS), "aborting a transaction");
}

/* -------------------------------------------------------------------------------------------------------- reading -- */

uint64_t
kafka_fixture_digest(uint64_t digest, const void *bytes, size_t size)
{
    const uint64_t prime = UINT64_C(0x100000001b3);
    const unsigned char *byte = bytes;

    digest = (digest ^ (bytes == NULL ? 0xffff : size)) * prime;
    for (size_t i = 0; bytes != NULL && i < size; i++)
        digest = (digest ^ byte[i]) * prime;
    return digest;
}

static uint64_t
digest_of(const rd_kafka_message_t *message)
{
    rd_kafka_timestamp_type_t type;
    int64_t timestamp = rd_kafka_message_timestamp(message, &type);
    uint64_t digest = kafka_fixture_digest(0, message->key, message->key_len);
    rd_kafka_headers_t *headers;
    const char *name;
    const void *value;
    size_t size;

    digest = kafka_fixture_digest(digest, message->payload, message->len);
    digest = kafka_fixture_digest(digest, &timestamp, sizeof timestamp);
    digest = kafka_fixture_digest(digest, NULL, (size_t) type);
    if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return digest;
    for (size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; i++) {
        digest = kafka_fixture_digest(digest, name, strlen(name));
        digest = kafka_fixture_digest(digest, value, size);
    }
    return digest;
}

GArray *
kafka_fixture_read(const char *topic, int32_t partition, int64_t from, int64_t until, bool committed)
{
    const char *const properties[] = {"isolation.level",
                                      committed ? "read_committed" : "read_uncommitted",
                                      "enable.partition.eof",
                                      "true",
                                      "group.id",
                                      "plain",
                                      "enable.auto.commit",
                                      "false",
                                      "auto.offset.reset",
                                      "error",
                                      "receive.message.max.bytes",
                                      "2147483647",
                                      "fetch.wait.max.ms",
                                      "10",
                                      NULL};
    rd_kafka_t *consumer = kafka_fixture_client(RD_KAFKA_CONSUMER, rd_kafka_conf_new(), properties);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    GArray *read = g_array_new(FALSE, FALSE, sizeof(kafka_fixture_seen));
    bool over = from >= until;

    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = from;
    assert_int_equal(rd_kafka_assign(consumer, list), RD_KAFKA_RESP_ERR_NO_ERROR);
    while (!over) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, WAIT_MS);

        if (message == NULL)
            fail_msg("the plain reading of %s [%d] stopped", topic, (int) partition);
        over = message->offset >= until;
        if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            over = true;
        } else if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            fail_msg("the plain reading of %s [%d]: %s", topic, (int) partition, rd_kafka_message_errstr(message));
        } else if (!over) {
            kafka_fixture_seen seen = {message->offset, digest_of(message)};

            g_array_append_val(read, seen);
        }
        rd_kafka_message_destroy(message);
    }
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(consumer);
    return read;
}

void
kafka_fixture_await_compaction(const char *topic, int32_t partition, guint most)
{
    gint64 deadline = g_get_monotonic_time() + WAIT_MS * G_TIME_SPAN_MILLISECOND;

    for (;;) {
        int64_t low, high;
        GArray *read;
        guint left;

        kafka_fixture_bounds(topic, partition, true, &low, &high);
        read = kafka_fixture_read(topic, partition, low, high, true);
        left = read->len;
        g_array_unref(read);
        if (left <= most)
            return;
        if (g_get_monotonic_time() > deadline)
            fail_msg("%s [%d] has %u records and not %u: it is not compacted", topic, (int) partition, left, most);
    }
}
