/*
 * redis_raw.c - Redis servers behind the store's back, for the tests of the redis: store
 */
#include "tests/conformance/redis_raw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#include <pawl/sys/registry.h>

#include "util/clock.h"

extern const pawl_store_backend pawl__store_redis;

bool
raw_init(void)
{
    return pawl_registry_add_store(&pawl__store_redis, NULL) == PAWL_OK;
}

service *
raw_server(const char *const *properties)
{
    return service_new("redis", properties);
}

char *
raw_url(const service *server, const char *rest)
{
    char *port = service_value(server, "REDIS_PORT"), *url = g_strdup_printf("redis://127.0.0.1:%s%s", port, rest);

    g_free(port);
    return url;
}

char *
raw_url_of_both(const service *first, const service *second, const char *rest)
{
    char *port = service_value(second, "REDIS_PORT"), *url = raw_url(first, "");
    char *both = g_strdup_printf("%s,127.0.0.1:%s%s", url, port, rest);

    g_free(port);
    g_free(url);
    return both;
}

pawl_status
raw_try_store(const char *url, int64_t timeout_ms, pawl_store **ret_store, pawl_error *err)
{
    pawl_store_options options = {.size = sizeof options, .timeout_ms = timeout_ms};

    return pawl_store_open(url, &options, ret_store, err);
}

static char *
ask(const char *url, const char *format, va_list words)
{
    const char *colon = strrchr(url, ':');
    redisContext *context = redisConnect("127.0.0.1", atoi(colon + 1));
    redisReply *reply;
    char *text;

    if (context == NULL || context->err != 0)
        fail_msg("%s: %s", url, context != NULL ? context->errstr : "no memory");
    reply = redisvCommand(context, format, words);
    if (reply == NULL)
        fail_msg("%s: %s: %s", url, format, context->errstr);
    if (reply->type == REDIS_REPLY_ERROR)
        fail_msg("%s: %s: %s", url, format, reply->str);
    text = reply->type == REDIS_REPLY_INTEGER ? g_strdup_printf("%lld", reply->integer)
                                              : g_strdup(reply->str != NULL ? reply->str : "");
    freeReplyObject(reply);
    redisFree(context);
    return text;
}

char *
raw_ask(const char *url, const char *format, ...)
{
    va_list words;
    char *text;

    va_start(words, format);
    text = ask(url, format, words);
    va_end(words);
    return text;
}

static void
await_cluster(const char *url)
{
    int64_t deadline_ms = pawl__clock_ms() + 20000;
    bool ok;

    do {
        char *info = raw_ask(url, "CLUSTER INFO");

        ok = strstr(info, "cluster_state:ok") != NULL;
        g_free(info);
        assert_true(pawl__clock_ms() < deadline_ms);
    } while (!ok);
}

service *
raw_node(void)
{
    return raw_server((const char *const[]){"cluster-enabled=yes", "cluster-node-timeout=2000", NULL});
}

void
raw_join_nodes(const service *low, const service *high)
{
    char *low_url = raw_url(low, ""), *high_url = raw_url(high, "");
    char *bus_port = service_value(low, "REDIS_BUS_PORT");

    raw_do(low_url, "CLUSTER ADDSLOTSRANGE 0 8191");
    raw_do(high_url, "CLUSTER ADDSLOTSRANGE 8192 16383");
    raw_do(high_url, "CLUSTER MEET 127.0.0.1 %s %s", strrchr(low_url, ':') + 1, bus_port);
    await_cluster(low_url);
    await_cluster(high_url);
    g_free(bus_port);
    g_free(high_url);
    g_free(low_url);
}

void
raw_do(const char *url, const char *format, ...)
{
    va_list words;

    va_start(words, format);
    g_free(ask(url, format, words));
    va_end(words);
}
