/*
 * test_store_redis.c - the redis: store passes the conformance suite
 */
#include "tests/conformance/conformance.h"
#include "tests/conformance/redis_raw.h"

#include <glib.h>
#include <stdlib.h>

static bool
spoil(const char *url, const char *group, pawl_partition partition, const char *text)
{
    char *key = g_strdup_printf("pawl:{%s}", group);
    char *field = g_strdup_printf("%s:%d", partition.topic, (int) partition.number);

    raw_do(url, "HSET %s %s %s", key, field, text);
    g_free(field);
    g_free(key);
    return true;
}

static void
change_layout(const char *url, const char *group, int step)
{
    char *key = g_strdup_printf("pawl:{%s}:state", group), *by = g_strdup_printf("%d", step);

    raw_do(url, "HINCRBY %s layout %s", key, by);
    g_free(by);
    g_free(key);
}

/* Scripts wait from now on. */
static void
hang(const char *url, bool hung)
{
    raw_do(url, hung ? "CLIENT PAUSE 600000 WRITE" : "CLIENT UNPAUSE");
}

int
main(void)
{
    conformance redis = {
        .name = "redis",
        .survives_kill = true,
        .spoil = spoil,
        .change_layout = change_layout,
        .hang = hang,
    };
    service *server;
    char *url;
    int failed;

    if (!raw_init())
        return EXIT_FAILURE;
    server = raw_server(NULL);
    redis.url = url = raw_url(server, "");
    failed = conformance_run(&redis);
    service_free(server);
    g_free(url);
    return failed;
}
