/*
 * kafka_fixture.h - a real broker for tests: topics, records of any kind, and a plain reading to compare with
 *
 * Everything here blocks until it is done, up to a deadline of a minute, and fails the test when it goes wrong.
 */
#ifndef PAWL_TESTS_KAFKA_FIXTURE_H
#define PAWL_TESTS_KAFKA_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <glib.h>
#include <librdkafka/rdkafka.h>

/* The broker that PAWL_TEST_BROKERS names, or NULL. */
const char *kafka_fixture_brokers(void);

/* The seed of this run: PAWL_TEST_SEED. */
unsigned kafka_fixture_seed(void);

/* Whether everything is to be run (PAWL_TEST_FULL=1), not just a slice. */
bool kafka_fixture_full(void);

/* From here on all that follows is about this broker; at first it is kafka_fixture_brokers(). Copied. */
void kafka_fixture_use(const char *brokers);

/* Its address. Borrowed. */
const char *kafka_fixture_address(void);

/* Frees what is kept for the broker in use. */
void kafka_fixture_done(void);

/* A client of it with these properties (NAME, VALUE ..., NULL; NULL: none), on top of conf, which is taken. */
rd_kafka_t *kafka_fixture_client(rd_kafka_type_t type, rd_kafka_conf_t *conf, const char *const *properties);

/* rd_kafka_conf_set() that fails the test. */
void kafka_fixture_set(rd_kafka_conf_t *conf, const char *name, const char *value);

/* ------------------------------------------------------------------------------------------------- brokers of own -- */

typedef struct kafka_fixture_broker {
    char *folder;
    char *address;
    GPid pid;
} kafka_fixture_broker;

/* Starts a broker of the test's own, with these properties ("NAME=VALUE", ended by NULL; NULL: none). */
kafka_fixture_broker *kafka_fixture_broker_new(const char *const *properties);

/* services/kafka/VERB on it: "stop", "kill", or "start" to bring it back. */
void kafka_fixture_broker_do(kafka_fixture_broker *broker, const char *verb);

/* Waits until so many connections hold a request that the broker, which is frozen, has not read. */
void kafka_fixture_broker_await_unread(const kafka_fixture_broker *broker, int connections);

/* Stops it and removes its folder. */
void kafka_fixture_broker_free(kafka_fixture_broker *broker);

/* --------------------------------------------------------------------------------------------------------- topics -- */

/* A name that no other test uses; the caller frees it. */
char *kafka_fixture_name(const char *what);

/* Makes a topic of that name; config is NAME, VALUE ..., NULL, or NULL. Returns when its partitions have leaders. */
void kafka_fixture_make_named(const char *topic, int partitions, const char *const *config);

/* Makes a topic with a new name, which the caller frees. */
char *kafka_fixture_make(const char *what, int partitions, const char *const *config);

void kafka_fixture_delete(const char *topic);
void kafka_fixture_add_partitions(const char *topic, int total);

/* Whether the broker has a topic of that name. */
bool kafka_fixture_has(const char *topic);

/* Moves the start of the log to `before`. */
void kafka_fixture_delete_records(const char *topic, int32_t partition, int64_t before);

/* The bounds of the log; the end is the last stable offset where `committed`. */
void kafka_fixture_bounds(const char *topic, int32_t partition, bool committed, int64_t *ret_low, int64_t *ret_high);

/* Waits until a reading of the partition gives no more than `most` records: until it was compacted. */
void kafka_fixture_await_compaction(const char *topic, int32_t partition, guint most);

/* Lets a user of a secured broker do something with a topic or a group, and returns when the broker knows. */
void kafka_fixture_allow(const char *user, rd_kafka_ResourceType_t kind, const char *name,
                         rd_kafka_AclOperation_t operation);

/* ------------------------------------------------------------------------------------------------------- producing -- */

/* A producer with these properties (NAME, VALUE ..., NULL; NULL: none). Freed by rd_kafka_destroy(). */
rd_kafka_t *kafka_fixture_producer(const char *const *properties);

/* A producer of transactions, ready for its first one. */
rd_kafka_t *kafka_fixture_transactional(const char *compression);

/* Sends one record; a NULL key or value is null. Headers are taken, NULL: none. A timestamp of 0: now. */
void kafka_fixture_send(rd_kafka_t *producer, const char *topic, int32_t partition, const void *key, size_t key_size,
                        const void *value, size_t value_size, rd_kafka_headers_t *headers, int64_t timestamp_ms);

/* Sends `count` small records with values that tell them apart. A NULL key: null. */
void kafka_fixture_send_many(rd_kafka_t *producer, const char *topic, int32_t partition, const char *key, int count);

/* Waits until everything that was sent is there. */
void kafka_fixture_flush(rd_kafka_t *producer);

/* Small records, by a producer of its own, there when it returns. */
void kafka_fixture_fill(const char *topic, int32_t partition, int count);

void kafka_fixture_begin(rd_kafka_t *producer);
void kafka_fixture_commit(rd_kafka_t *producer);
void kafka_fixture_abort(rd_kafka_t *producer);

/* --------------------------------------------------------------------------------------------------------- reading -- */

/* A record as a test remembers it. */
typedef struct kafka_fixture_seen {
    int64_t offset;
    uint64_t digest; /* of key, value, headers and timestamp */
} kafka_fixture_seen;

/* Mixes bytes into a digest; NULL and empty differ. */
uint64_t kafka_fixture_digest(uint64_t digest, const void *bytes, size_t size);

/* All records of a partition with from <= offset < until, by a plain consumer: an array of kafka_fixture_seen. */
GArray *kafka_fixture_read(const char *topic, int32_t partition, int64_t from, int64_t until, bool committed);

#endif
