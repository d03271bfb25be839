/*
 * settings_names.c - names that are no settings: mistyped ones, those of others, and librdkafka properties that pawl owns
 */
#include "core/settings.h"

#include <string.h>

#include <glib.h>

#include "util/nearest.h"

#define USE_STORE  "pawl saves offsets itself, in its store, once a batch is done"
#define USE_MEMORY "set fetch.memory instead, from which it is derived"

/* A name that ends with a dot stands for all that begin with it. */
static const struct {
    const char *name;
    const char *instead;
} owned[] = {
    {"group.id", "set group instead"},
    {"client.id", "set client_id instead"},
    {"group.instance.id", "set instance_id instead"},
    {"enable.auto.", USE_STORE},
    {"auto.commit.", USE_STORE},
    {"offset.store.", USE_STORE},
    {"auto.offset.reset", "set start for partitions with nothing stored, and on_data_loss for offsets that are gone"},
    {"isolation.level", "set isolation instead"},
    {"transactional.id", "pawl only reads from Kafka, and has no use for it"},
    {"enable.partition.eof", "pawl needs it to see the end of a range, and sets it"},
    {"queued.", USE_MEMORY},
    {"fetch.max.bytes", USE_MEMORY},
    {"fetch.message.max.bytes", USE_MEMORY},
    {"max.partition.fetch.bytes", USE_MEMORY},
    {"max.poll.records", "it is a setting of Java clients; set max_offsets_per_batch to limit a batch"},
};

const char *
pawl__setting_instead_of(const char *kafka_property)
{
    for (size_t i = 0; i < G_N_ELEMENTS(owned); i++) {
        const char *name = owned[i].name;
        bool is_prefix = g_str_has_suffix(name, ".");

        if (is_prefix ? g_str_has_prefix(kafka_property, name) : strcmp(kafka_property, name) == 0)
            return owned[i].instead;
    }
    return NULL;
}

#define SPARK   "Spark's"
#define CONNECT "Kafka Connect's"
#define KAFKA   "Kafka's"

/* What people know from elsewhere. */
static const struct {
    const char *name;
    const char *whose;
    const char *ours;
} foreign[] = {
    {"subscribe", SPARK, "topics = TOPIC, TOPIC ..."},
    {"subscribePattern", SPARK, "topics_pattern = REGEX"},
    {"assign", SPARK, "partitions = TOPIC:0,1 ..."},
    {"startingOffsets", SPARK, "start = earliest, or latest, or TOPIC:PARTITION=OFFSET ..."},
    {"startingTimestamp", SPARK, "start = TIME"},
    {"startingOffsetsByTimestamp", SPARK, "start = TIME"},
    {"endingOffsets", SPARK, "trigger = available-now, which ends where the logs end"},
    {"maxOffsetsPerTrigger", SPARK, "max_offsets_per_batch"},
    {"minOffsetsPerTrigger", SPARK, "min_offsets_per_batch"},
    {"maxTriggerDelay", SPARK, "max_trigger_delay"},
    {"availableNow", SPARK, "trigger = available-now"},
    {"processingTime", SPARK, "trigger = DURATION"},
    {"checkpointLocation", SPARK, "store = URL"},
    {"failOnDataLoss", SPARK, "on_data_loss = fail, or earliest, or latest"},
    {"groupIdPrefix", SPARK, "group"},
    {"minPartitions", SPARK, "parallelism, for as many threads; a partition is never split"},
    {"kafkaConsumer.pollTimeoutMs", SPARK, "stall_timeout"},
    {"fetchOffset.numRetries", SPARK, "source_timeout"},
    {"spark.streaming.kafka.maxRatePerPartition", SPARK, "max_offsets_per_partition, a number for each batch"},
    {"spark.streaming.backpressure.enabled", SPARK, "max_offsets_per_batch; no more is read than is processed"},
    {"topics.regex", CONNECT, "topics_pattern = REGEX"},
    {"tasks.max", CONNECT, "parallelism in one process, members = group over several"},
    {"errors.tolerance", CONNECT, "on_error = skip for whole ranges; a single record is the command's to set aside"},
    {"errors.retry.timeout", CONNECT, "max_retries and retry_backoff"},
    {"offset.flush.interval.ms", CONNECT, "trigger = DURATION; offsets are saved with each batch"},
    {"bootstrap.servers", KAFKA, "kafka.bootstrap.servers"},
};

const char *
pawl__setting_for_foreign(const char *name, const char **ret_whose)
{
    for (size_t i = 0; i < G_N_ELEMENTS(foreign); i++)
        if (g_ascii_strcasecmp(foreign[i].name, name) == 0) {
            *ret_whose = foreign[i].whose;
            return foreign[i].ours;
        }
    return NULL;
}

const char *
pawl__setting_nearest(const char *name)
{
    size_t count;
    const pawl__setting *table = pawl__setting_table(&count);
    pawl__nearest nearest = pawl__nearest_to(name);

    for (size_t i = 0; i < count; i++)
        pawl__nearest_try(&nearest, table[i].name);
    return nearest.found;
}
