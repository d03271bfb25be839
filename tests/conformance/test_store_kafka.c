/*
 * test_store_kafka.c - the kafka: store passes the conformance suite, on a broker that has never had a group
 */
#include "tests/conformance/conformance.h"

#include <glib.h>
#include <signal.h>
#include <stdlib.h>

#include <pawl/sys/registry.h>

#include "tests/support/kafka_fixture.h"
#include "tests/support/service.h"

#define PARTITIONS 12

/* Of those that the suite has a thousand partitions of. */
#define MANY 500

extern const pawl_store_backend pawl__store_kafka;

static service *broker;

static void
make_topics(void)
{
    static const char *const topics[] = {"A", "a", "b", "c", "other", "t", "x-y", "x.y"};
    char *longest = g_strnfill(249, 'x');

    for (size_t i = 0; i < G_N_ELEMENTS(topics); i++)
        kafka_fixture_make_named(topics[i], PARTITIONS, NULL);
    kafka_fixture_make_named(longest, PARTITIONS, NULL);
    kafka_fixture_make_named("even", MANY, NULL);
    kafka_fixture_make_named("odd", MANY, NULL);
    g_free(longest);
}

static void
hang(const char *url, bool hung)
{
    (void) url;
    service_signal(broker, "KAFKA_PID", hung ? SIGSTOP : SIGCONT);
}

int
main(void)
{
    conformance kafka = {.name = "kafka", .survives_kill = true, .partitions = PARTITIONS, .hang = hang};
    char *address, *url;
    int failed;

    if (kafka_fixture_brokers() == NULL)
        return 77;
    if (pawl_registry_add_store(&pawl__store_kafka, NULL) != PAWL_OK)
        return EXIT_FAILURE;
    broker = service_new("kafka", NULL);
    address = service_value(broker, "KAFKA_BROKERS");
    kafka_fixture_use(address);
    make_topics();
    kafka_fixture_done();
    kafka.url = url = g_strconcat("kafka://", address, NULL);
    failed = conformance_run(&kafka);
    service_free(broker);
    g_free(address);
    g_free(url);
    return failed;
}
