/*
 * test_kafka_member.c - when a member of a group may save
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>

#include "source/kafka/kafka.h"
#include "tests/support/kafka_fixture.h"
#include "util/clock.h"
#include "util/wait.h"

#define DEADLINE_MS 20000

static void
note_change(void *listener)
{
    pawl__wait_lock(listener);
    pawl__wait_wake(listener);
    pawl__wait_unlock(listener);
}

static void
give_properties(const pawl_source_setup *setup, void (*fn)(void *user, const char *name, const char *value), void *user)
{
    (void) setup;
    fn(user, "bootstrap.servers", kafka_fixture_address());
    fn(user, "heartbeat.interval.ms", "100");
}

static void
count_partition(void *user, pawl_partition partition)
{
    (void) partition;
    ++*(int *) user;
}

static int
count_assigned(kafka_source *source)
{
    int assigned = 0;

    pawl__kafka_source.assigned(source, count_partition, &assigned);
    return assigned;
}

/* Joins the group, and returns when it has assigned the one partition that there is. */
static void
join(kafka_source *source, pawl__wait *listener, const char *topic)
{
    const char *const topics[] = {topic, NULL};
    int64_t deadline_ms = pawl__clock_ms() + DEADLINE_MS;

    assert_int_equal(pawl__kafka_source.subscribe(source, topics, 1, NULL), PAWL_OK);
    pawl__wait_lock(listener);
    while (count_assigned(source) == 0)
        assert_true(pawl__wait_until(listener, deadline_ms));
    pawl__wait_unlock(listener);
}

/* Whether the answer makes the member ask to join is known only when it has. */
static void
the_answer_to_a_heartbeat_unsettles(void **state)
{
    static const pawl_log log = {.level = PAWL_LOG_ERROR};
    pawl__wait listener;
    char *topic = kafka_fixture_make("pulse", 1, NULL);
    const char *const topics[] = {topic, NULL};
    const pawl_source_group group = {.changed = note_change, .user = &listener};
    pawl_source_setup setup = {.group = topic,
                               .client_id = "member",
                               .topics = topics,
                               .memory_bytes = 64 << 20,
                               .stall_timeout_ms = DEADLINE_MS,
                               .lanes = 1,
                               .log = &log,
                               .properties = give_properties,
                               .group_member = &group};
    kafka_source source = {NULL};
    const pawl_source_member *member;
    int64_t deadline_ms = pawl__clock_ms() + 2 * DEADLINE_MS;

    (void) state;
    pawl__wait_init(&listener);
    assert_int_equal(pawl__kafka_source.open(&source, &setup, NULL), PAWL_OK);
    join(&source, &listener, topic);
    member = pawl__kafka_source.member(&source);
    for (int beat = 0; beat < 3; beat++) {
        assert_true(member->await_generation(member, deadline_ms));
        while (member->await_generation(member, pawl__clock_ms()))
            assert_true(pawl__clock_ms() < deadline_ms);
    }
    assert_true(member->await_generation(member, deadline_ms));
    assert_int_equal(count_assigned(&source), 1); /* and the group has taken nothing back */
    pawl__kafka_source.unsubscribe(&source);
    pawl__kafka_source.close(&source);
    pawl__wait_done(&listener);
    g_free(topic);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_answer_to_a_heartbeat_unsettles),
    };
    int failed;

    if (kafka_fixture_brokers() == NULL)
        return 77;
    failed = cmocka_run_group_tests_name("kafka member", tests, NULL, NULL);
    kafka_fixture_done();
    return failed;
}
