/*
 * test_kafka_offsets.c - what is special about the kafka: store: others that commit, members, transactions
 *
 * What it has in common with other stores is tested by the conformance suite, jobs that are members by
 * tests/cli/test_group.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include <pawl/store.h>
#include <pawl/sys/registry.h>

#include "tests/support/kafka_fixture.h"
#include "util/clock.h"

#define TIMEOUT_MS 20000

extern const pawl_store_backend pawl__store_kafka;

static char *topic;
static int groups; /* made so far */

typedef struct offsets_test {
    pawl_store *store;
    char *group; /* that nobody has used */
} offsets_test;

static pawl_store *
open_store(int64_t timeout_ms)
{
    char *url = g_strdup_printf("kafka://%s", kafka_fixture_address());
    pawl_store_options options = {.size = sizeof options, .timeout_ms = timeout_ms};
    pawl_store *store = NULL;
    pawl_error err = {0};

    if (pawl_store_open(url, &options, &store, &err) != PAWL_OK)
        fail_msg("%s", err.message);
    g_free(url);
    return store;
}

static int
setup(void **state)
{
    offsets_test *test = g_new0(offsets_test, 1);

    test->store = open_store(TIMEOUT_MS);
    test->group = g_strdup_printf("offsets-%d-%" G_GINT64_FORMAT, groups++, g_get_real_time());
    *state = test;
    return 0;
}

static int
teardown(void **state)
{
    offsets_test *test = *state;

    pawl_store_close(test->store);
    g_free(test->group);
    g_free(test);
    return 0;
}

static void
expect(pawl_status status, pawl_status wanted, const pawl_error *err)
{
    if (status != wanted)
        fail_msg("%s, not %s: %s", pawl_status_name(status), pawl_status_name(wanted), err->message);
}

static pawl_entry
load(offsets_test *test, const char *group, int32_t number)
{
    pawl_partition partition = {topic, number};
    pawl_entry entry;
    pawl_error err = {0};

    expect(pawl_store_load(test->store, group, &partition, 1, &entry, NULL, &err), PAWL_OK, &err);
    return entry;
}

static int64_t
acquire(offsets_test *test, const char *group, int32_t number, pawl_position initial)
{
    pawl_owner owner = {.host = "here", .pid = 1, .client_id = "test"};
    pawl_acquire_line line = {.partition = {topic, number}, .initial = initial};
    pawl_error err = {0};

    expect(pawl_store_acquire(test->store, group, &owner, NULL, &line, 1, &err), PAWL_OK, &err);
    return line.ret_epoch;
}

static pawl_status
save(offsets_test *test, const char *group, int32_t number, pawl_position expected, int64_t until, int64_t batch,
     const char *print, pawl_error *err)
{
    pawl_save_line line = {
        .partition = {topic, number}, .epoch = 1, .expected = expected, .until = until, .batch = batch, .print = print};

    return pawl_store_save(test->store, group, &line, 1, err);
}

/* ---------------------------------------------------------------------------------------------------------- tests -- */

/* A commit replaces the whole text, so the number has to be written again. */
static void
another_handle_keeps_the_batch(void **state)
{
    offsets_test *test = *state;
    pawl_error err = {0};

    acquire(test, test->group, 2, pawl_position_at(0));
    expect(save(test, test->group, 2, pawl_position_at(0), 9, 7, "9f86", &err), PAWL_OK, &err);
    pawl_store_close(test->store);
    test->store = open_store(TIMEOUT_MS);
    load(test, test->group, 2);
    expect(save(test, test->group, 2, pawl_position_at(9), 5, 0, NULL, &err), PAWL_OK, &err);
    assert_int_equal(load(test, test->group, 2).offset.offset, 5);
    assert_int_equal(load(test, test->group, 2).batch, 7);
}

static void
a_plan_needs_an_offset(void **state)
{
    offsets_test *test = *state;
    pawl_plan_line plan = {.partition = {topic, 0}, .epoch = 1, .pending = pawl_position_at(40)};
    pawl_error err = {0};

    expect(pawl_store_plan(test->store, test->group, &plan, 1, &err), PAWL_UNSUPPORTED, &err);
    assert_non_null(strstr(err.message, "beside an offset"));
}

/* Commits as another program does. */
static void
commit_text(const char *group, int32_t number, int64_t offset, const char *metadata)
{
    const char *const properties[] = {"group.id", group, NULL};
    rd_kafka_t *client = kafka_fixture_client(RD_KAFKA_CONSUMER, rd_kafka_conf_new(), properties);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *line = rd_kafka_topic_partition_list_add(list, topic, number);

    line->offset = offset;
    line->metadata = strdup(metadata);
    line->metadata_size = strlen(metadata);
    assert_int_equal(rd_kafka_commit(client, list, 0), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

static void
what_others_commit_is_an_offset(void **state)
{
    static const char *const texts[] = {"", "host-1", "{\"spark\":1}", "{"};
    offsets_test *test = *state;

    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        pawl_entry entry;

        commit_text(test->group, 0, 10 + (int64_t) i, texts[i]);
        entry = load(test, test->group, 0);
        assert_int_equal(entry.offset.offset, 10 + i);
        assert_int_equal(entry.batch, 0);
    }
}

static void
what_looks_like_ours_and_is_not_is_unreadable(void **state)
{
    static const struct {
        const char *text;
        pawl_status status;
        const char *says;
    } cases[] = {
        {"{\"pawl\":2,\"batch\":1}", PAWL_UNSUPPORTED, "layout 2"},
        {"{\"pawl\":1}", PAWL_UNREADABLE, "not what pawl writes"},
        {"{\"pawl\":1,\"batch\":-1}", PAWL_UNREADABLE, "not what pawl writes"},
        {"{\"pawl\":1,\"batch\":1,\"pending\":\"x\"}", PAWL_UNREADABLE, "not what pawl writes"},
        {"{\"pawl\":1,\"batch\":", PAWL_UNREADABLE, "not what pawl writes"},
    };
    offsets_test *test = *state;
    pawl_partition partition = {topic, 0};

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        pawl_entry entry;
        pawl_error err = {0};

        commit_text(test->group, 0, 10, cases[i].text);
        expect(pawl_store_load(test->store, test->group, &partition, 1, &entry, NULL, &err), cases[i].status, &err);
        assert_non_null(strstr(err.message, cases[i].says));
        assert_non_null(strstr(err.message, test->group));
    }
}

/* An administrator's commit is refused while the group has a member, and nothing is written. */
static void
a_group_with_members_is_left_alone(void **state)
{
    offsets_test *test = *state;
    const char *const properties[] = {"group.id", test->group, NULL};
    rd_kafka_t *member;
    rd_kafka_topic_partition_list_t *list;
    int64_t deadline_ms = pawl__clock_ms() + 30000;
    pawl_error err = {0};
    int count = 0;

    acquire(test, test->group, 0, pawl_position_at(3));
    member = kafka_fixture_client(RD_KAFKA_CONSUMER, rd_kafka_conf_new(), properties);
    rd_kafka_poll_set_consumer(member);
    list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, RD_KAFKA_PARTITION_UA);
    assert_int_equal(rd_kafka_subscribe(member, list), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_topic_partition_list_destroy(list);
    while (count == 0 && pawl__clock_ms() < deadline_ms) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(member, 100);

        if (message != NULL)
            rd_kafka_message_destroy(message);
        assert_int_equal(rd_kafka_assignment(member, &list), RD_KAFKA_RESP_ERR_NO_ERROR);
        count = list->cnt;
        rd_kafka_topic_partition_list_destroy(list);
    }
    assert_true(count > 0);
    expect(save(test, test->group, 0, pawl_position_at(3), 9, 1, NULL, &err), PAWL_FENCED, &err);
    assert_non_null(strstr(err.message, "the group has members"));
    assert_int_equal(load(test, test->group, 0).offset.offset, 3);
    rd_kafka_consumer_close(member);
    rd_kafka_destroy(member);
    expect(save(test, test->group, 0, pawl_position_at(3), 9, 1, NULL, &err), PAWL_OK, &err);
}

/* What a transaction is about to commit is not there yet, and what was there before is no longer right. */
static void
an_offset_in_a_transaction_is_waited_for(void **state)
{
    offsets_test *test = *state;
    pawl_partition partition = {topic, 1};
    rd_kafka_consumer_group_metadata_t *group = rd_kafka_consumer_group_metadata_new(test->group);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_t *producer = kafka_fixture_transactional("none");
    pawl_store *hasty = open_store(1500);
    pawl_entry entry;
    pawl_error err = {0};

    acquire(test, test->group, 1, pawl_position_at(3));
    rd_kafka_topic_partition_list_add(list, topic, 1)->offset = 8;
    kafka_fixture_begin(producer);
    assert_null(rd_kafka_send_offsets_to_transaction(producer, list, group, 30000));
    expect(pawl_store_load(hasty, test->group, &partition, 1, &entry, NULL, &err), PAWL_TIMEOUT, &err);
    assert_non_null(strstr(err.message, "transaction"));
    kafka_fixture_commit(producer);
    assert_int_equal(load(test, test->group, 1).offset.offset, 8);
    pawl_store_close(hasty);
    rd_kafka_destroy(producer);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_consumer_group_metadata_destroy(group);
}

/* It would become another one. */
static void
a_group_that_begins_with_a_blank_is_refused(void **state)
{
    offsets_test *test = *state;
    pawl_partition partition = {topic, 0};
    pawl_entry entry;
    pawl_error err = {0};

    expect(pawl_store_load(test->store, " g", &partition, 1, &entry, NULL, &err), PAWL_UNSUPPORTED, &err);
    assert_non_null(strstr(err.message, "group ' g'"));
}

static void
a_topic_that_is_not_there_is_named(void **state)
{
    offsets_test *test = *state;
    pawl_save_line line = {.partition = {"no-such-topic", 0}, .epoch = 1, .until = 1, .batch = 1};
    pawl_error err = {0};

    expect(pawl_store_save(test->store, test->group, &line, 1, &err), PAWL_FAILED, &err);
    assert_non_null(strstr(err.message, "no-such-topic-0"));
}

static void
nobody_there_is_told_in_time(void **state)
{
    pawl_store_options options = {.size = sizeof options, .timeout_ms = 1000};
    pawl_partition partition = {topic, 0};
    pawl_store *store = NULL;
    pawl_entry entry;
    pawl_error err = {0};
    int64_t before_ms = pawl__clock_ms();

    (void) state;
    expect(pawl_store_open("kafka://127.0.0.1:1", &options, &store, &err), PAWL_OK, &err);
    assert_int_not_equal(pawl_store_load(store, "g", &partition, 1, &entry, NULL, &err), PAWL_OK);
    assert_int_equal(pawl_status_exit_code(err.status), 5);
    assert_in_range(pawl__clock_ms() - before_ms, 0, 5000);
    pawl_store_close(store);
    expect(pawl_store_open("kafka:", &options, &store, &err), PAWL_INVALID, &err);
    assert_non_null(strstr(err.message, "names no broker"));
}

#define offsets_test_of(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        offsets_test_of(another_handle_keeps_the_batch),
        offsets_test_of(a_plan_needs_an_offset),
        offsets_test_of(what_others_commit_is_an_offset),
        offsets_test_of(what_looks_like_ours_and_is_not_is_unreadable),
        offsets_test_of(a_group_with_members_is_left_alone),
        offsets_test_of(an_offset_in_a_transaction_is_waited_for),
        offsets_test_of(a_group_that_begins_with_a_blank_is_refused),
        offsets_test_of(a_topic_that_is_not_there_is_named),
        offsets_test_of(nobody_there_is_told_in_time),
    };
    pawl_error err = {0};
    int failed;

    if (kafka_fixture_brokers() == NULL)
        return 77;
    if (pawl_registry_add_store(&pawl__store_kafka, &err) != PAWL_OK)
        return 1;
    topic = kafka_fixture_make("offsets", 3, NULL);
    failed = cmocka_run_group_tests_name("kafka_offsets", tests, NULL, NULL);
    g_free(topic);
    kafka_fixture_done();
    return failed;
}
