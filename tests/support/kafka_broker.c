/*
 * kafka_broker.c - brokers that belong to one test, which may kill them
 */
#include "tests/support/kafka_fixture.h"

#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define UNREAD_WAIT_S 20

/* Runs services/kafka/VERB FOLDER [PROPERTY ...]. */
static void
run_service(const char *verb, const char *folder, const char *const *properties)
{
    const char *source = g_getenv("PAWL_SOURCE_DIR");
    char *script = g_build_filename(source != NULL ? source : ".", "services/kafka", verb, NULL);
    GPtrArray *words = g_ptr_array_new();
    GError *error = NULL;
    int wait_status;

    g_ptr_array_add(words, script);
    g_ptr_array_add(words, (gpointer) folder);
    for (size_t i = 0; properties != NULL && properties[i] != NULL; i++)
        g_ptr_array_add(words, (gpointer) properties[i]);
    g_ptr_array_add(words, NULL);
    if (!g_spawn_sync(NULL, (char **) words->pdata, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, NULL,
                      &wait_status, &error) ||
        !g_spawn_check_wait_status(wait_status, &error))
        fail_msg("%s: %s", script, error->message);
    g_ptr_array_unref(words);
    g_free(script);
}

/* Reads the env file that services/kafka/start writes. */
static void
learn(kafka_fixture_broker *broker)
{
    char *path = g_build_filename(broker->folder, "env", NULL), *text;
    char **lines;

    if (!g_file_get_contents(path, &text, NULL, NULL))
        fail_msg("no %s", path);
    lines = g_strsplit(text, "\n", -1);
    g_free(broker->address);
    for (size_t i = 0; lines[i] != NULL; i++) {
        if (g_str_has_prefix(lines[i], "KAFKA_BROKERS="))
            broker->address = g_strdup(strchr(lines[i], '=') + 1);
        if (g_str_has_prefix(lines[i], "KAFKA_PID="))
            broker->pid = atoi(strchr(lines[i], '=') + 1);
    }
    g_strfreev(lines);
    g_free(text);
    g_free(path);
}

kafka_fixture_broker *
kafka_fixture_broker_new(const char *const *properties)
{
    kafka_fixture_broker *broker = g_new0(kafka_fixture_broker, 1);

    broker->folder = g_build_filename(g_get_tmp_dir(), "pawl-broker-XXXXXX", NULL);
    assert_non_null(g_mkdtemp(broker->folder));
    run_service("start", broker->folder, properties);
    learn(broker);
    return broker;
}

void
kafka_fixture_broker_do(kafka_fixture_broker *broker, const char *verb)
{
    run_service(verb, broker->folder, NULL);
    if (strcmp(verb, "start") == 0)
        learn(broker);
}

/* How many connections to a local port have bytes that wait to be read, as a table of the kernel's tells. */
static int
count_unread(const char *table, unsigned port)
{
    char *text = NULL, **lines;
    int count = 0;

    if (!g_file_get_contents(table, &text, NULL, NULL))
        return 0;
    lines = g_strsplit(text, "\n", -1);
    for (size_t i = 0; lines[i] != NULL; i++) {
        unsigned local, state, unread;

        /* number: local address:port  remote address:port  state  bytes to send:bytes to read */
        if (sscanf(lines[i], " %*d: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x %*x:%x", &local, &state, &unread) == 3 &&
            local == port && state == TCP_ESTABLISHED && unread > 0)
            count++;
    }
    g_strfreev(lines);
    g_free(text);
    return count;
}

/* The kernel has no event for that: it is asked again, soon. */
void
kafka_fixture_broker_await_unread(const kafka_fixture_broker *broker, int connections)
{
    unsigned port = (unsigned) atoi(strrchr(broker->address, ':') + 1);
    gint64 deadline = g_get_monotonic_time() + UNREAD_WAIT_S * G_TIME_SPAN_SECOND;

    while (count_unread("/proc/net/tcp", port) + count_unread("/proc/net/tcp6", port) < connections) {
        if (g_get_monotonic_time() > deadline)
            fail_msg("nobody asks the frozen broker at %s", broker->address);
        g_usleep(5000);
    }
}

void
kafka_fixture_broker_free(kafka_fixture_broker *broker)
{
    const char *const command[] = {"rm", "-rf", broker->folder, NULL};

    run_service("stop", broker->folder, NULL);
    g_spawn_sync(NULL, (char **) command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
    g_free(broker->folder);
    g_free(broker->address);
    g_free(broker);
}
