/*
 * test_config.c - configurations: a table of wrong ones with what each is told, and what is kept of right ones
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "core/config.h"

/* --------------------------------------------------------------------------------------------------- one by one -- */

/* The whole message, or its beginning where it goes on in somebody else's words. */
static void
wrong_settings(void **state)
{
    static const struct {
        const char *name, *value, *message;
    } cases[] = {
        /* names */
        {"topic", "x", "there is no setting \"topic\"; did you mean topics?"},
        {"gruop", "x", "there is no setting \"gruop\"; did you mean group?"},
        {"max-offsets-per-batch", "1",
         "there is no setting \"max-offsets-per-batch\"; did you mean max_offsets_per_batch?"},
        {"", "x", "there is no setting \"\"; see pawl-settings(5)"},
        {"colour", "x", "there is no setting \"colour\"; see pawl-settings(5)"},
        {"a\nb", "x", "there is no setting \"a\\x0ab\"; see pawl-settings(5)"},
        {"sasl.password", "s3cret",
         "there is no setting \"sasl.password\"; librdkafka's properties are written kafka.NAME"},
        {"group.id", "x", "group.id cannot be set: set group instead"},
        {"user.", "x", "user. is followed by a name of the program's own"},
        {"kafka.", "x", "kafka. is followed by the name of a librdkafka property, as in kafka.bootstrap.servers"},

        /* names from elsewhere */
        {"bootstrap.servers", "x", "bootstrap.servers is Kafka's name: write kafka.bootstrap.servers"},
        {"auto.offset.reset", "x", "auto.offset.reset cannot be set: set start for partitions with nothing stored"},
        {"enable.auto.commit", "x", "enable.auto.commit cannot be set: pawl saves offsets itself"},
        {"max.poll.records", "1", "max.poll.records cannot be set: it is a setting of Java clients; set max_offsets"},
        {"kafka.max.poll.records", "1", "kafka.max.poll.records cannot be set: it is a setting of Java clients"},
        {"subscribe", "t", "subscribe is Spark's name: write topics = TOPIC, TOPIC ..."},
        {"subscribePattern", "t", "subscribePattern is Spark's name: write topics_pattern = REGEX"},
        {"assign", "{}", "assign is Spark's name: write partitions = TOPIC:0,1 ..."},
        {"startingOffsets", "earliest",
         "startingOffsets is Spark's name: write start = earliest, or latest, or TOPIC:"},
        {"startingoffsets", "earliest", "startingoffsets is Spark's name: write start = earliest"},
        {"endingOffsets", "latest", "endingOffsets is Spark's name: write trigger = available-now, which ends"},
        {"maxOffsetsPerTrigger", "1", "maxOffsetsPerTrigger is Spark's name: write max_offsets_per_batch"},
        {"minOffsetsPerTrigger", "1", "minOffsetsPerTrigger is Spark's name: write min_offsets_per_batch"},
        {"availableNow", "true", "availableNow is Spark's name: write trigger = available-now"},
        {"processingTime", "10s", "processingTime is Spark's name: write trigger = DURATION"},
        {"checkpointLocation", "/x", "checkpointLocation is Spark's name: write store = URL"},
        {"failOnDataLoss", "false",
         "failOnDataLoss is Spark's name: write on_data_loss = fail, or earliest, or latest"},
        {"minPartitions", "9",
         "minPartitions is Spark's name: write parallelism, for as many threads; a "
         "partition is never split"},
        {"kafkaConsumer.pollTimeoutMs", "9", "kafkaConsumer.pollTimeoutMs is Spark's name: write stall_timeout"},
        {"spark.streaming.kafka.maxRatePerPartition", "9",
         "spark.streaming.kafka.maxRatePerPartition is Spark's name: write max_offsets_per_partition, a number for"},
        {"spark.streaming.backpressure.enabled", "true",
         "spark.streaming.backpressure.enabled is Spark's name: write max_offsets_per_batch; no more is read than"},
        {"topics.regex", "x", "topics.regex is Kafka Connect's name: write topics_pattern = REGEX"},
        {"tasks.max", "2",
         "tasks.max is Kafka Connect's name: write parallelism in one process, members = group over "
         "several"},
        {"errors.tolerance", "all",
         "errors.tolerance is Kafka Connect's name: write on_error = skip for whole ranges; a "
         "single record is the command's to set aside"},

        /* librdkafka properties that pawl owns */
        {"kafka.group.id", "x", "kafka.group.id cannot be set: set group instead"},
        {"kafka.client.id", "x", "kafka.client.id cannot be set: set client_id instead"},
        {"kafka.enable.auto.commit", "true",
         "kafka.enable.auto.commit cannot be set: pawl saves offsets itself, in its store, once a batch is done"},
        {"kafka.enable.auto.offset.store", "true",
         "kafka.enable.auto.offset.store cannot be set: pawl saves offsets itself"},
        {"kafka.auto.commit.interval.ms", "1",
         "kafka.auto.commit.interval.ms cannot be set: pawl saves offsets itself"},
        {"kafka.auto.offset.reset", "earliest",
         "kafka.auto.offset.reset cannot be set: set start for partitions with nothing stored, and on_data_loss for "
         "offsets that are gone"},
        {"kafka.isolation.level", "x", "kafka.isolation.level cannot be set: set isolation instead"},
        {"kafka.transactional.id", "x",
         "kafka.transactional.id cannot be set: pawl only reads from Kafka, and has no use for it"},
        {"kafka.enable.partition.eof", "false",
         "kafka.enable.partition.eof cannot be set: pawl needs it to see the end of a range, and sets it"},
        {"kafka.queued.min.messages", "1",
         "kafka.queued.min.messages cannot be set: set fetch.memory instead, from which it is derived"},
        {"kafka.queued.max.messages.kbytes", "1",
         "kafka.queued.max.messages.kbytes cannot be set: set fetch.memory instead"},
        {"kafka.fetch.max.bytes", "1", "kafka.fetch.max.bytes cannot be set: set fetch.memory instead"},
        {"kafka.max.partition.fetch.bytes", "1",
         "kafka.max.partition.fetch.bytes cannot be set: set fetch.memory instead"},

        /* texts */
        {"group", "", "group: has 0 bytes, not 1 to 32767"},
        {"group", "\xff", "group: is not UTF-8"},
        {"client_id", "", "client_id: has 0 bytes, not 1 to 255"},

        /* topics */
        {"topics", "a,,b",
         "topics: \"\" is not a topic's name: 1 to 249 letters, digits, dots, underscores and dashes"},
        {"topics", "a,", "topics: \"\" is not a topic's name"},
        {"topics", "a b", "topics: \"a b\" is not a topic's name"},
        {"topics", "a/b", "topics: \"a/b\" is not a topic's name"},
        {"topics", ".", "topics: \".\" is not a topic's name"},
        {"topics", "a, ..", "topics: \"..\" is not a topic's name"},
        {"topics", "fl\xc3\xbcge", "topics: \"fl\\xc3\\xbcge\" is not a topic's name"},
        {"topics", "a, b, a", "topics: a comes twice"},
        {"topics_pattern", "\xff", "topics_pattern: a pattern is a regular expression in UTF-8"},
        {"topics_pattern", "flights(", "topics_pattern: \"flights(\" is no regular expression: "},
        {"topics_pattern", "a)(b", "topics_pattern: \"a)(b\" is no regular expression: "},
        {"topics_pattern", "*", "topics_pattern: \"*\" is no regular expression: "},
        {"partitions", "  ", "partitions: \"  \" is not TOPIC:0,1,2 TOPIC:3 ..."},
        {"partitions", "flights", "partitions: \"flights\" is not TOPIC:0,1,2"},
        {"partitions", "flights:", "partitions: \"\" is not the number of a partition"},
        {"partitions", "flights:1,", "partitions: \"\" is not the number of a partition"},
        {"partitions", "flights:-1", "partitions: \"-1\" is not the number of a partition"},
        {"partitions", "flights:2147483648", "partitions: \"2147483648\" is not the number of a partition"},
        {"partitions", "flights:0-3", "partitions: \"0-3\" is not the number of a partition"},
        {"partitions", "flights:0,1,0", "partitions: flights:0 comes twice"},
        {"partitions", "flights:0 flights:0", "partitions: flights:0 comes twice"},
        {"partitions", ":0", "partitions: \"\" is not a topic's name"},
        {"members", "many", "members: \"many\" is not one of: alone, group"},

        /* store */
        {"store", "", "store: a URL starts with a scheme, as in sqlite:offsets.db"},
        {"store", "offsets.db", "store: a URL starts with a scheme, as in sqlite:offsets.db"},
        {"store", "redis://u:s3cret@host:x", "store: redis URL: the hosts are not HOST, HOST:PORT or several of them "},
        {"store", "redis://u:s3c/ret@host", "store: redis URL: an @ after the hosts is written %40; in a user or"},
        {"takeover", "", "takeover: \"\" is not now, refuse, or idle:DURATION such as idle:30s"},
        {"takeover", "idle", "takeover: \"idle\" is not now, refuse, or idle:DURATION such as idle:30s"},
        {"takeover", "idle:30", "takeover: \"idle:30\" is not now, refuse, or idle:DURATION such as idle:30s"},
        {"takeover", "idle:0", "takeover: 0 is not between 100ms and 1d"},
        {"takeover", "idle:2d", "takeover: 2d is not between 100ms and 1d"},
        {"replay", "twice", "replay: \"twice\" is not one of: free, exact"},
        {"accept_cluster", "maybe", "accept_cluster: \"maybe\" is not true or false"},
        {"refresh.interval", "99ms", "refresh.interval: 99ms is not between 100ms and 1h"},

        /* start */
        {"start", "", "start: \"\" is not earliest, latest, none, a time, or TOPIC:PARTITION=OFFSET ..."},
        {"start", "Earliest", "start: \"Earliest\" is not earliest, latest, none, a time"},
        {"start", "-1", "start: \"-1\" is not earliest, latest, none, a time"},
        {"start", "2013-01-01T10:00:00",
         "start: \"2013-01-01T10:00:00\" is not a time that is the same everywhere: add Z or an offset such as +01:00"},
        {"start", "2013-01-01",
         "start: \"2013-01-01\" is not a time such as 2013-01-01T10:00:00Z, or milliseconds since 1970"},
        {"start", "1969-07-20T20:17:40Z", "start: \"1969-07-20T20:17:40Z\" is not a time after 1970-01-01T00:00:00Z"},
        {"start", "=", "start: \"=\" is not TOPIC:PARTITION=OFFSET"},
        {"start", "flights=1", "start: \"flights=1\" is not TOPIC:PARTITION=OFFSET"},
        {"start", "a=b:1", "start: \"a=b:1\" is not TOPIC:PARTITION=OFFSET"},
        {"start", "flights:0=", "start: \"\" is not an offset"},
        {"start", "flights:0=-2", "start: \"-2\" is not an offset"},
        {"start", "flights:0=9223372036854775808", "start: \"9223372036854775808\" is not an offset"},
        {"start", "flights:x=1", "start: \"x\" is not the number of a partition"},
        {"start", "flights:0=1 flights:0=2", "start: flights:0 comes twice"},
        {"start", "fl ights:0=1", "start: \"fl\" is not TOPIC:PARTITION=OFFSET"},
        {"on_data_loss", "ignore", "on_data_loss: \"ignore\" is not one of: fail, earliest, latest"},
        {"isolation", "committed", "isolation: \"committed\" is not one of: read_committed, read_uncommitted"},

        /* batches */
        {"trigger", "", "trigger: \"\" is not continuous, once, available-now, or a duration such as 10s"},
        {"trigger", "availableNow", "trigger: \"availableNow\" is not continuous, once, available-now, or a duration"},
        {"trigger", "10", "trigger: \"10\" is not continuous, once, available-now, or a duration such as 10s"},
        {"trigger", "0s", "trigger: 0 is no interval; continuous starts a batch as soon as it can"},
        {"trigger", "367d", "trigger: 367d is not between 1ms and 366d"},
        {"max_offsets_per_batch", "-1", "max_offsets_per_batch: -1 is not between 0 and 9223372036854775807"},
        {"max_offsets_per_batch", "1e6", "max_offsets_per_batch: \"1e6\" is not a whole number"},
        {"max_offsets_per_batch", "9223372036854775808",
         "max_offsets_per_batch: \"9223372036854775808\" is not a whole number"},
        {"max_offsets_per_partition", "all", "max_offsets_per_partition: \"all\" is not a whole number"},
        {"min_offsets_per_batch", "", "min_offsets_per_batch: \"\" is not a whole number"},
        {"max_trigger_delay", "0", "max_trigger_delay: 0 is not between 1ms and 366d"},
        {"max_held_batches", "0", "max_held_batches: 0 is not between 1 and 1000000"},

        /* threads, memory, time */
        {"parallelism", "0", "parallelism: 0 is not between 1 and 1024"},
        {"parallelism", "1025", "parallelism: 1025 is not between 1 and 1024"},
        {"open_ranges", "-1", "open_ranges: -1 is not between 0 and 1000000"},
        {"fetch.memory", "1000000", "fetch.memory: 1000000B is not between 1MiB and 1TiB"},
        {"fetch.memory", "2TiB", "fetch.memory: 2TiB is not between 1MiB and 1TiB"},
        {"fetch.memory", "lots", "fetch.memory: \"lots\" is not a size such as 64MiB"},
        {"fetch.memory", "64M",
         "fetch.memory: \"64M\" is not a size such as 64MiB (KiB, MiB, GiB, TiB; kB, MB, GB, TB; B)"},
        {"discovery.interval", "0", "discovery.interval: 0 is not between 100ms and 1d"},
        {"max_retries", "1001", "max_retries: 1001 is not between 0 and 1000"},
        {"retry_backoff", "1000", "retry_backoff: \"1000\" is not a duration such as 250ms, 10s, 5m, 2h, 1d or PT10S"},
        {"retry_backoff", "61m", "retry_backoff: 61m is not between 0 and 1h"},
        {"on_error", "retry", "on_error: \"retry\" is not one of: stop, skip"},
        {"stall_timeout", "10ms", "stall_timeout: 10ms is not between 100ms and 1d"},
        {"topic_timeout", "25h", "topic_timeout: 25h is not between 0 and 1d"},
        {"store_timeout", "0", "store_timeout: 0 is not between 100ms and 1h"},
        {"source_timeout", "0", "source_timeout: 0 is not between 100ms and 1h"},
        {"shutdown_timeout", " 30s", "shutdown_timeout: \" 30s\" is not a duration such as 250ms"},
    };

    (void) state;
    assert_true(G_N_ELEMENTS(cases) >= 60);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        pawl_config *config = pawl_config_new();
        pawl_error err = {0};
        char *before = g_strdup(pawl_config_get(config, cases[i].name));

        if (pawl_config_set(config, cases[i].name, cases[i].value, &err) != PAWL_INVALID ||
            !g_str_has_prefix(err.message, cases[i].message))
            fail_msg("%s = %s: %s", cases[i].name, cases[i].value, err.message);
        assert_null(strstr(err.message, "s3c"));
        if (g_strcmp0(pawl_config_get(config, cases[i].name), before) != 0)
            fail_msg("%s was changed", cases[i].name);
        assert_int_equal(g_hash_table_size(pawl__config_kafka(config)), 0);
        g_free(before);
        pawl_config_free(config);
    }
}

static void
null_is_no_text(void **state)
{
    pawl_config *config = pawl_config_new();

    (void) state;
    assert_int_equal(pawl_config_set(config, NULL, "x", NULL), PAWL_INVALID);
    assert_int_equal(pawl_config_set(config, "group", NULL, NULL), PAWL_INVALID);
    pawl_config_free(config);
    pawl_config_free(NULL);
}

/* -------------------------------------------------------------------------------------------------------- together -- */

#define PAIRS_MAX 10

/* Names and values in turns, ended by NULL. */
static pawl_config *
config_of(const char *const *pairs)
{
    pawl_config *config = pawl_config_new();
    pawl_error err = {0};

    for (; pairs[0] != NULL; pairs += 2)
        if (pawl_config_set(config, pairs[0], pairs[1], &err) != PAWL_OK)
            fail_msg("%s = %s: %s", pairs[0], pairs[1], err.message);
    return config;
}

static void
an_empty_selection_is_none(void **state)
{
    static const char *const selections[][2] = {{"topics", "a"}, {"topics_pattern", "a.*"}, {"partitions", "a:0"}};
    pawl_config *config = pawl_config_new();
    pawl_error err = {0};

    (void) state;
    assert_int_equal(pawl_config_set(config, "group", "g", &err), PAWL_OK);
    assert_int_equal(pawl_config_set(config, "store", "sqlite:x", &err), PAWL_OK);
    assert_int_equal(pawl_config_set(config, "kafka.bootstrap.servers", "h:1", &err), PAWL_OK);
    for (size_t i = 0; i < G_N_ELEMENTS(selections); i++) {
        assert_int_equal(pawl_config_set(config, selections[i][0], selections[i][1], &err), PAWL_OK);
        assert_int_equal(pawl_config_check(config, &err), PAWL_OK); /* the one before is gone */
        assert_int_equal(pawl_config_set(config, selections[i][0], "", &err), PAWL_OK);
        assert_null(pawl_config_get(config, selections[i][0]));
        assert_int_equal(pawl_config_check(config, &err), PAWL_INVALID);
    }
    pawl_config_free(config);
}

static void
wrong_together(void **state)
{
    static const struct {
        const char *pairs[PAIRS_MAX + 1];
        const char *message;
    } cases[] = {
        {{NULL}, "group is required: the name under which offsets are kept"},
        {{"group", "g"}, "store is required: where offsets are kept, sqlite:offsets.db for instance"},
        {{"group", "g", "store", "sqlite:x"}, "one of topics, topics_pattern and partitions is required"},
        {{"group", "g", "store", "sqlite:x", "topics", "a", "topics_pattern", "a"},
         "only one of topics, topics_pattern and partitions can be set; an empty one is not set"},
        {{"group", "g", "store", "sqlite:x", "topics", "a", "partitions", "a:0"},
         "only one of topics, topics_pattern and partitions can be set; an empty one is not set"},
        {{"group", "g", "store", "sqlite:x", "topics", "a"},
         "kafka.bootstrap.servers is required: HOST:PORT of a broker, or of several with commas"},
        {{"group", "g", "store", "sqlite:x", "topics", "a", "max_offsets_per_batch", "10", "min_offsets_per_batch",
          "11"},
         "min_offsets_per_batch: 11 is more than max_offsets_per_batch, which is 10"},
        {{"group", "g", "store", "sqlite:x", "topics", "a", "takeover", "idle:10s"},
         "takeover: idle:10s has to be longer than refresh.interval, which is 10s"},
        {{"group", "g", "store", "sqlite:x", "topics", "a", "instance_id", "i"},
         "instance_id is for members = group, and this job is alone"},
        {{"group", " g", "store", "sqlite:x", "topics", "a", "members", "group"},
         "group ' g': with members = group it must not begin with a blank, which librdkafka cuts off"},
        {{"group", "g", "store", "sqlite:x", "partitions", "a:0", "members", "group"},
         "members = group shares whole topics: set topics or topics_pattern, not partitions"},
        {{"group", "g", "store", "sqlite:x", "topics", "a", "members", "group", "takeover", "refuse"},
         "members = group leaves it to the group who owns a partition: takeover has to be now"},
        {{"group", "g", "store", "kafka:", "topics", "a", "mirror", "kafka"},
         "mirror = kafka is for other stores: with a kafka: store offsets are in the group already"},
        {{"group", "g", "store", "sqlite:x", "topics", "a,b", "start", "b:0=1 c:0=1"},
         "start: c:0 is not among what is read"},
        {{"group", "g", "store", "sqlite:x", "topics_pattern", "a|ab", "start", "ab:7=1 abc:0=1"},
         "start: abc:0 is not among what is read"},
        {{"group", "g", "store", "sqlite:x", "partitions", "a:0,1", "start", "a:1=1 a:2=1"},
         "start: a:2 is not among what is read"},
        {{"group", "g", "store", "sqlite:x", "partitions", "a:0,1", "start", "b:1=1"},
         "start: b:1 is not among what is read"},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        pawl_config *config = config_of(cases[i].pairs);
        pawl_error err = {0};

        if (pawl_config_check(config, &err) != PAWL_INVALID || strcmp(err.message, cases[i].message) != 0)
            fail_msg("not \"%s\" but \"%s\"", cases[i].message, err.message);
        pawl_config_free(config);
    }
}

static void
right_together(void **state)
{
    static const char *const cases[][PAIRS_MAX + 1] = {
        {"topics", "a"},
        {"topics_pattern", "a.*", "start", "abc:0=1"},
        {"partitions", "a:0,1", "start", "a:1=1 a:0=9"},
        {"topics", "a", "max_offsets_per_batch", "10", "min_offsets_per_batch", "10"},
        {"topics", "a", "min_offsets_per_batch", "10"},
        {"topics", "a", "takeover", "idle:10001ms"},
        {"topics", "a", "takeover", "idle:1s", "refresh.interval", "500ms"},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        pawl_config *config = config_of(cases[i]);
        pawl_error err = {0};

        pawl_config_set(config, "group", "g", NULL);
        pawl_config_set(config, "store", "sqlite:x", NULL);
        pawl_config_set(config, i % 2 == 0 ? "kafka.bootstrap.servers" : "kafka.metadata.broker.list", "h:9092", NULL);
        if (pawl_config_check(config, &err) != PAWL_OK)
            fail_msg("%s: %s", cases[i][0], err.message);
        pawl_config_free(config);
    }
}

/* ------------------------------------------------------------------------------------------------------------ kept -- */

static void
values_come_back_as_they_were_set(void **state)
{
    static const char *const pairs[] = {
        "group", "a=b#c+d e;\"f\\",     "user.note",         " # = + ",     "user.empty",
        "",      "kafka.sasl.password", "a#b=c+d ${env:X} ", "kafka.debug", "",
        NULL,
    };
    pawl_config *config = config_of(pairs);

    (void) state;
    for (size_t i = 0; pairs[i] != NULL; i += 2)
        assert_string_equal(pawl_config_get(config, pairs[i]), pairs[i + 1]);
    assert_string_equal(g_hash_table_lookup(pawl__config_kafka(config), "sasl.password"), "a#b=c+d ${env:X} ");
    assert_int_equal(g_hash_table_size(pawl__config_kafka(config)), 2);
    assert_int_equal(pawl_config_set(config, "group", "other", NULL), PAWL_OK);
    assert_string_equal(pawl_config_get(config, "group"), "other");
    pawl_config_free(config);
}

static void
what_is_not_set_has_its_default(void **state)
{
    pawl_config *config = pawl_config_new();

    (void) state;
    assert_string_equal(pawl_config_get(config, "client_id"), "pawl");
    assert_string_equal(pawl_config_get(config, "members"), "alone");
    assert_string_equal(pawl_config_get(config, "max_trigger_delay"), "15m");
    assert_null(pawl_config_get(config, "group"));
    assert_null(pawl_config_get(config, "kafka.bootstrap.servers"));
    assert_null(pawl_config_get(config, "user.x"));
    assert_null(pawl_config_get(config, "no_such_setting"));
    pawl_config_free(config);
}

static void
defaults_become_values(void **state)
{
    static const char *const pairs[] = {"group", "g", "store", "sqlite:x", "topics", "a", NULL};
    pawl_config *config = config_of(pairs);
    pawl__settings settings;

    (void) state;
    assert_int_equal(pawl__config_settings(config, &settings, NULL), PAWL_OK); /* without brokers */
    assert_string_equal(settings.group, "g");
    assert_string_equal(settings.client_id, "pawl");
    assert_int_equal(settings.start, PAWL__START_EARLIEST);
    assert_int_equal(settings.trigger, PAWL__TRIGGER_CONTINUOUS);
    assert_int_equal(settings.max_offsets_per_batch, 0);
    assert_int_equal(settings.max_trigger_delay_ms, 900000);
    assert_int_equal(settings.on_data_loss, PAWL__LOSS_FAIL);
    assert_int_equal(settings.isolation, PAWL__READ_COMMITTED);
    assert_int_equal(settings.max_retries, 3);
    assert_int_equal(settings.retry_backoff_ms, 1000);
    assert_int_equal(settings.on_error, PAWL__ON_ERROR_STOP);
    assert_int_equal(settings.max_held_batches, 100);
    assert_int_equal(settings.shutdown_timeout_ms, 30000);
    assert_int_equal(settings.stall_timeout_ms, 60000);
    assert_int_equal(settings.topic_timeout_ms, 30000);
    assert_int_equal(settings.store_timeout_ms, 60000);
    assert_int_equal(settings.source_timeout_ms, 30000);
    assert_int_equal(settings.discovery_interval_ms, 30000);
    assert_int_equal(settings.refresh_interval_ms, 10000);
    assert_int_equal(settings.fetch_memory_bytes, 268435456);
    assert_int_equal(settings.parallelism, 1);
    assert_int_equal(settings.open_ranges, 0);
    assert_int_equal(settings.takeover, PAWL__TAKEOVER_NOW);
    assert_int_equal(settings.replay, PAWL__REPLAY_FREE);
    assert_false(settings.accept_cluster);
    pawl__settings_done(&settings);
    pawl_config_free(config);
}

static void
take_nothing(void *user, const pawl_log_line *line)
{
    (void) user;
    (void) line;
}

static void
a_copy_is_on_its_own(void **state)
{
    static const char *const pairs[] = {"group", "g", "user.x", "y", "kafka.debug", "all", NULL};
    pawl_log log = {PAWL_LOG_WARN, take_nothing, NULL};
    pawl_config *config = config_of(pairs), *copy;

    (void) state;
    pawl_config_set_log(config, &log);
    copy = pawl__config_copy(config);
    pawl_config_set(config, "group", "other", NULL);
    pawl_config_free(config);
    for (size_t i = 0; pairs[i] != NULL; i += 2)
        assert_string_equal(pawl_config_get(copy, pairs[i]), pairs[i + 1]);
    assert_true(pawl__config_log(copy)->fn == take_nothing);
    assert_int_equal(pawl__config_log(copy)->level, PAWL_LOG_WARN);
    pawl_config_free(copy);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_settings),
        cmocka_unit_test(null_is_no_text),
        cmocka_unit_test(an_empty_selection_is_none),
        cmocka_unit_test(wrong_together),
        cmocka_unit_test(right_together),
        cmocka_unit_test(values_come_back_as_they_were_set),
        cmocka_unit_test(what_is_not_set_has_its_default),
        cmocka_unit_test(defaults_become_values),
        cmocka_unit_test(a_copy_is_on_its_own),
    };

    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
