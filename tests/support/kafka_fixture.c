/*
 * kafka_fixture.c - topics and what is done to them, on a real broker
 */
#include "tests/support/kafka_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define WAIT_MS 60000

static char *address;
static rd_kafka_t *admin;

const char *
kafka_fixture_brokers(void)
{
    const char *brokers = g_getenv("PAWL_TEST_BROKERS");

    return brokers != NULL && brokers[0] != '\0' ? brokers : NULL;
}

unsigned
kafka_fixture_seed(void)
{
    const char *seed = g_getenv("PAWL_TEST_SEED");

    return seed != NULL ? (unsigned) strtoul(seed, NULL, 10) : 1;
}

bool
kafka_fixture_full(void)
{
    return g_strcmp0(g_getenv("PAWL_TEST_FULL"), "1") == 0;
}

void
kafka_fixture_done(void)
{
    if (admin != NULL)
        rd_kafka_destroy(admin);
    admin = NULL;
    g_free(address);
    address = NULL;
}

void
kafka_fixture_use(const char *brokers)
{
    char *copy = g_strdup(brokers);

    kafka_fixture_done();
    address = copy;
}

const char *
kafka_fixture_address(void)
{
    return address != NULL ? address : kafka_fixture_brokers();
}

/* ------------------------------------------------------------------------------------------------------- clients -- */

void
kafka_fixture_set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char why[512];

    if (rd_kafka_conf_set(conf, name, value, why, sizeof why) != RD_KAFKA_CONF_OK)
        fail_msg("%s = %s: %s", name, value, why);
}

/* What a secured broker asks of every client: NAME=VALUE a line, in the file that PAWL_TEST_KAFKA_CONFIG names. */
static void
set_from_file(rd_kafka_conf_t *conf, const char *path)
{
    char *text;
    char **lines;

    if (!g_file_get_contents(path, &text, NULL, NULL))
        fail_msg("no %s", path);
    lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line != NULL; line++) {
        char **pair = g_strsplit(*line, "=", 2);

        if (g_strv_length(pair) == 2)
            kafka_fixture_set(conf, pair[0], pair[1]);
        g_strfreev(pair);
    }
    g_strfreev(lines);
    g_free(text);
}

rd_kafka_t *
kafka_fixture_client(rd_kafka_type_t type, rd_kafka_conf_t *conf, const char *const *properties)
{
    rd_kafka_t *made;
    char why[512];

    kafka_fixture_set(conf, "bootstrap.servers", kafka_fixture_address());
    kafka_fixture_set(conf, "topic.metadata.propagation.max.ms", "10000");
    kafka_fixture_set(conf, "log_level", "2");
    if (g_getenv("PAWL_TEST_KAFKA_CONFIG") != NULL)
        set_from_file(conf, g_getenv("PAWL_TEST_KAFKA_CONFIG"));
    for (size_t i = 0; properties != NULL && properties[i] != NULL; i += 2)
        kafka_fixture_set(conf, properties[i], properties[i + 1]);
    made = rd_kafka_new(type, conf, why, sizeof why);
    if (made == NULL)
        fail_msg("no client: %s", why);
    return made;
}

static rd_kafka_t *
admin_client(void)
{
    if (admin == NULL)
        admin = kafka_fixture_client(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), NULL);
    return admin;
}

/* -------------------------------------------------------------------------------------------------------- admin -- */

/* Waits for the one answer of an admin call. Gives the event, for rd_kafka_event_destroy(). */
static rd_kafka_event_t *
await_answer(rd_kafka_queue_t *queue, const char *what)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, WAIT_MS);

    if (event == NULL)
        fail_msg("%s: no answer", what);
    if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR)
        fail_msg("%s: %s", what, rd_kafka_event_error_string(event));
    rd_kafka_queue_destroy(queue);
    return event;
}

static void
check_topics(const rd_kafka_topic_result_t **results, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (rd_kafka_topic_result_error(results[i]) != RD_KAFKA_RESP_ERR_NO_ERROR)
            fail_msg("%s '%s': %s", what, rd_kafka_topic_result_name(results[i]),
                     rd_kafka_topic_result_error_string(results[i]));
}

/* How many partitions of a topic have a leader. */
static int
count_led(const char *topic)
{
    rd_kafka_topic_t *handle = rd_kafka_topic_new(admin_client(), topic, NULL);
    const rd_kafka_metadata_t *metadata;
    int led = 0;

    if (rd_kafka_metadata(admin_client(), 0, handle, &metadata, WAIT_MS) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        for (int i = 0; metadata->topic_cnt == 1 && i < metadata->topics[0].partition_cnt; i++)
            led += metadata->topics[0].partitions[i].leader >= 0;
        rd_kafka_metadata_destroy(metadata);
    }
    rd_kafka_topic_destroy(handle);
    return led;
}

/* Looks until so many partitions have a leader. The broker has no event for that: it is asked again, soon. */
static void
await_led(const char *topic, int partitions)
{
    gint64 deadline = g_get_monotonic_time() + WAIT_MS * G_TIME_SPAN_MILLISECOND;

    while (count_led(topic) != partitions) {
        if (g_get_monotonic_time() > deadline)
            fail_msg("topic '%s' does not come to %d partitions", topic, partitions);
        g_usleep(5000);
    }
}

char *
kafka_fixture_name(const char *what)
{
    static int number;

    return g_strdup_printf("%s-%d-%x-%d", what, (int) getpid(), (unsigned) g_get_real_time() & 0xffff, ++number);
}

void
kafka_fixture_make_named(const char *topic, int partitions, const char *const *config)
{
    rd_kafka_queue_t *queue = rd_kafka_queue_new(admin_client());
    char why[256];
    rd_kafka_NewTopic_t *asked = rd_kafka_NewTopic_new(topic, partitions, 1, why, sizeof why);
    const rd_kafka_topic_result_t **results;
    rd_kafka_event_t *answer;
    size_t count;

    for (size_t i = 0; config != NULL && config[i] != NULL; i += 2)
        rd_kafka_NewTopic_set_config(asked, config[i], config[i + 1]);
    rd_kafka_CreateTopics(admin_client(), &asked, 1, NULL, queue);
    answer = await_answer(queue, "making a topic");
    results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(answer), &count);
    check_topics(results, count, "making topic");
    rd_kafka_event_destroy(answer);
    rd_kafka_NewTopic_destroy(asked);
    await_led(topic, partitions);
}

char *
kafka_fixture_make(const char *what, int partitions, const char *const *config)
{
    char *topic = kafka_fixture_name(what);

    kafka_fixture_make_named(topic, partitions, config);
    return topic;
}

void
kafka_fixture_delete(const char *topic)
{
    rd_kafka_queue_t *queue = rd_kafka_queue_new(admin_client());
    rd_kafka_DeleteTopic_t *asked = rd_kafka_DeleteTopic_new(topic);
    const rd_kafka_topic_result_t **results;
    rd_kafka_event_t *answer;
    size_t count;

    rd_kafka_DeleteTopics(admin_client(), &asked, 1, NULL, queue);
    answer = await_answer(queue, "deleting a topic");
    results = rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(answer), &count);
    check_topics(results, count, "deleting topic");
    rd_kafka_event_destroy(answer);
    rd_kafka_DeleteTopic_destroy(asked);
    await_led(topic, 0);
}

void
kafka_fixture_add_partitions(const char *topic, int total)
{
    rd_kafka_queue_t *queue = rd_kafka_queue_new(admin_client());
    char why[256];
    rd_kafka_NewPartitions_t *asked = rd_kafka_NewPartitions_new(topic, (size_t) total, why, sizeof why);
    const rd_kafka_topic_result_t **results;
    rd_kafka_event_t *answer;
    size_t count;

    rd_kafka_CreatePartitions(admin_client(), &asked, 1, NULL, queue);
    answer = await_answer(queue, "adding partitions");
    results = rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(answer), &count);
    check_topics(results, count, "adding partitions to");
    rd_kafka_event_destroy(answer);
    rd_kafka_NewPartitions_destroy(asked);
    await_led(topic, total);
}

bool
kafka_fixture_has(const char *topic)
{
    const rd_kafka_metadata_t *metadata;
    bool has = false;

    assert_int_equal(rd_kafka_metadata(admin_client(), 1, NULL, &metadata, WAIT_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
    for (int i = 0; i < metadata->topic_cnt; i++)
        has = has || strcmp(metadata->topics[i].topic, topic) == 0;
    rd_kafka_metadata_destroy(metadata);
    return has;
}

void
kafka_fixture_delete_records(const char *topic, int32_t partition, int64_t before)
{
    rd_kafka_queue_t *queue = rd_kafka_queue_new(admin_client());
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_DeleteRecords_t *asked;
    const rd_kafka_topic_partition_list_t *done;
    rd_kafka_event_t *answer;

    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = before;
    asked = rd_kafka_DeleteRecords_new(list);
    rd_kafka_DeleteRecords(admin_client(), &asked, 1, NULL, queue);
    answer = await_answer(queue, "deleting records");
    done = rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(answer));
    assert_int_equal(done->cnt, 1);
    if (done->elems[0].err != RD_KAFKA_RESP_ERR_NO_ERROR)
        fail_msg("deleting records of %s: %s", topic, rd_kafka_err2str(done->elems[0].err));
    rd_kafka_event_destroy(answer);
    rd_kafka_DeleteRecords_destroy(asked);
    rd_kafka_topic_partition_list_destroy(list);
}

void
kafka_fixture_bounds(const char *topic, int32_t partition, bool committed, int64_t *ret_low, int64_t *ret_high)
{
    const char *const properties[] = {"isolation.level", committed ? "read_committed" : "read_uncommitted", NULL};
    rd_kafka_t *asking = kafka_fixture_client(RD_KAFKA_CONSUMER, rd_kafka_conf_new(), properties);
    gint64 deadline = g_get_monotonic_time() + WAIT_MS * G_TIME_SPAN_MILLISECOND;
    rd_kafka_resp_err_t code;

    do {
        code = rd_kafka_query_watermark_offsets(asking, topic, partition, ret_low, ret_high, WAIT_MS);
    } while (code != RD_KAFKA_RESP_ERR_NO_ERROR && g_get_monotonic_time() < deadline);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        fail_msg("no bounds of %s [%d]: %s", topic, (int) partition, rd_kafka_err2str(code));
    rd_kafka_destroy(asking);
}

/* -------------------------------------------------------------------------------------------------------- rights -- */

/* Whether the broker that answers lets the user do it already; what is granted reaches it a little later. */
static bool
is_allowed(rd_kafka_AclBinding_t *right)
{
    rd_kafka_queue_t *queue = rd_kafka_queue_new(admin_client());
    rd_kafka_event_t *answer;
    size_t count;

    rd_kafka_DescribeAcls(admin_client(), right, NULL, queue);
    answer = await_answer(queue, "asking for rights");
    rd_kafka_DescribeAcls_result_acls(rd_kafka_event_DescribeAcls_result(answer), &count);
    rd_kafka_event_destroy(answer);
    return count > 0;
}

void
kafka_fixture_allow(const char *user, rd_kafka_ResourceType_t kind, const char *name, rd_kafka_AclOperation_t operation)
{
    rd_kafka_queue_t *queue = rd_kafka_queue_new(admin_client());
    gint64 deadline = g_get_monotonic_time() + WAIT_MS * G_TIME_SPAN_MILLISECOND;
    char *principal = g_strconcat("User:", user, NULL);
    char why[256];
    rd_kafka_AclBinding_t *right =
        rd_kafka_AclBinding_new(kind, name, RD_KAFKA_RESOURCE_PATTERN_LITERAL, principal, "*", operation,
                                RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, why, sizeof why);

    if (right == NULL)
        fail_msg("%s", why);
    rd_kafka_CreateAcls(admin_client(), &right, 1, NULL, queue);
    rd_kafka_event_destroy(await_answer(queue, "granting a right"));
    while (!is_allowed(right)) {
        if (g_get_monotonic_time() > deadline)
            fail_msg("%s is not given its right", user);
        g_usleep(5000);
    }
    rd_kafka_AclBinding_destroy(right);
    g_free(principal);
}
