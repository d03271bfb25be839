/*
 * settings.h - the settings of a job as values
 *
 * settings.c holds the one table of settings: names, kinds, bounds, defaults and the sentences of the manual.
 * settings_parse.c turns a text into a value here, settings_check.c asks whether the values agree, config.c keeps the
 * texts. pawl-settings(5) is made from the same table by tools/.
 */
#ifndef PAWL_CORE_SETTINGS_H
#define PAWL_CORE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pawl/error.h>

typedef enum pawl__trigger_kind {
    PAWL__TRIGGER_CONTINUOUS,
    PAWL__TRIGGER_INTERVAL,
    PAWL__TRIGGER_ONCE,
    PAWL__TRIGGER_AVAILABLE_NOW,
} pawl__trigger_kind;

typedef enum pawl__start_kind {
    PAWL__START_EARLIEST,
    PAWL__START_LATEST,
    PAWL__START_NONE, /* nothing stored is an error */
    PAWL__START_TIME,
    PAWL__START_OFFSETS,
} pawl__start_kind;

typedef enum pawl__loss_policy { PAWL__LOSS_FAIL, PAWL__LOSS_EARLIEST, PAWL__LOSS_LATEST } pawl__loss_policy;
typedef enum pawl__isolation { PAWL__READ_COMMITTED, PAWL__READ_UNCOMMITTED } pawl__isolation;
typedef enum pawl__on_error { PAWL__ON_ERROR_STOP, PAWL__ON_ERROR_SKIP } pawl__on_error;
typedef enum pawl__takeover_kind { PAWL__TAKEOVER_NOW, PAWL__TAKEOVER_REFUSE, PAWL__TAKEOVER_IDLE } pawl__takeover_kind;
typedef enum pawl__members { PAWL__MEMBERS_ALONE, PAWL__MEMBERS_GROUP } pawl__members;
typedef enum pawl__mirroring { PAWL__MIRROR_NONE, PAWL__MIRROR_KAFKA } pawl__mirroring;
typedef enum pawl__replay { PAWL__REPLAY_FREE, PAWL__REPLAY_EXACT } pawl__replay;

/* "topic:partition=offset" of start = ..., and "topic:partition" of partitions = ... (offset 0 there). */
typedef struct pawl__settings_place {
    char *topic;
    int32_t partition;
    int64_t offset;
} pawl__settings_place;

/* Parsed, and checked one by one. Durations are milliseconds, sizes are bytes. 0 for a limit means: no limit. */
typedef struct pawl__settings {
    char *group;
    char *client_id;
    char **topics; /* NULL-terminated list; NULL when not set */
    char *topics_pattern;
    pawl__settings_place *partitions;
    size_t partition_count;
    char *store;
    pawl__members members;
    char *instance_id; /* NULL: a dynamic member */
    int64_t revoke_timeout_ms;

    pawl__start_kind start;
    int64_t start_time_ms; /* milliseconds since 1970, UTC */
    pawl__settings_place *start_offsets;
    size_t start_offset_count;

    pawl__trigger_kind trigger;
    int64_t trigger_interval_ms;
    int64_t max_offsets_per_batch;
    int64_t max_offsets_per_partition;
    int64_t min_offsets_per_batch;
    int64_t max_trigger_delay_ms;

    pawl__loss_policy on_data_loss;
    pawl__isolation isolation;
    int64_t max_retries;
    int64_t retry_backoff_ms;
    pawl__on_error on_error;
    int64_t max_held_batches;

    int64_t shutdown_timeout_ms;
    int64_t stall_timeout_ms;
    int64_t batch_timeout_ms; /* 0: no limit */
    int64_t topic_timeout_ms;
    int64_t store_timeout_ms;
    int64_t source_timeout_ms; /* one question to the brokers */
    int64_t discovery_interval_ms;
    int64_t refresh_interval_ms; /* the owner's entry is renewed at least this often */
    int64_t fetch_memory_bytes;
    int64_t parallelism;
    int64_t open_ranges;

    pawl__takeover_kind takeover;
    int64_t takeover_idle_ms;
    pawl__replay replay;
    bool accept_cluster;
    pawl__mirroring mirror;
} pawl__settings;

typedef enum pawl__setting_kind {
    PAWL__SETTING_TEXT,
    PAWL__SETTING_INTEGER,
    PAWL__SETTING_DURATION,
    PAWL__SETTING_SIZE,
    PAWL__SETTING_FLAG,
    PAWL__SETTING_CHOICE,
    PAWL__SETTING_SPECIAL, /* has a parser of its own: topics, partitions, store, start, trigger, takeover ... */
} pawl__setting_kind;

/* One row of the table. */
typedef struct pawl__setting {
    const char *name;
    pawl__setting_kind kind;
    const char *fallback; /* the default as text; NULL: none, the setting may be absent */
    const char *form;     /* what a value looks like, for messages and the manual */
    const char *summary;  /* for the manual: what it does, in whole sentences */
    int64_t min, max;     /* of an INTEGER; of a DURATION in ms; of a SIZE in bytes; of a TEXT's length in bytes */
    size_t field;         /* offset in pawl__settings; of no meaning for SPECIAL */
    const char *const *choices; /* of a CHOICE, NULL-terminated; in the order of its enum */
    bool empty_unsets;          /* an empty text takes back what was set before */
    pawl_status (*parse)(pawl__settings *settings, const char *text, pawl_error *err); /* of a SPECIAL */
} pawl__setting;

/* The table, and its length. Its order is that of the manual. */
const pawl__setting *pawl__setting_table(size_t *ret_count);

/* The row of that name, or NULL. */
const pawl__setting *pawl__setting_find(const char *name);

/* The name in the table that is nearest to a mistyped one, or NULL when none is near. */
const char *pawl__setting_nearest(const char *name);

/* What to do instead of setting a librdkafka property that pawl owns, as the end of a sentence ("group.id" gives
 * "set group instead"), or NULL when the property passes through. */
const char *pawl__setting_instead_of(const char *kafka_property);

/* What is written instead of a setting of Spark, of Kafka Connect or of Kafka's Java clients, "start = earliest" for
 * instance; *ret_whose is "Spark's" or the like. NULL when the name is none of theirs. Case does not matter: Spark does not
 * mind it either. */
const char *pawl__setting_for_foreign(const char *name, const char **ret_whose);

/* Parses a text into its field, replacing what is there. PAWL_INVALID, and nothing is changed: "NAME: ...". `fields` is
 * the struct that the table's offsets are for: a pawl__settings, or that of another table, without SPECIAL rows. */
pawl_status pawl__setting_parse(const pawl__setting *setting, void *fields, const char *text, pawl_error *err);

/* Checks what one setting alone cannot tell. PAWL_INVALID with the first thing that is wrong. */
pawl_status pawl__settings_check(const pawl__settings *settings, pawl_error *err);

/* Frees what the fields own, and zeroes them. */
void pawl__settings_done(pawl__settings *settings);

#endif
