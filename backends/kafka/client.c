/*
 * client.c - the client that speaks for a group
 */
#include "backends/kafka/kafka_store.h"

#include <string.h>

#include "util/log.h"

#define COMMIT_WAIT_MS "1000"

static pawl_log_level
level_of(int syslog_level)
{
    return syslog_level <= 4 ? PAWL_LOG_WARN : PAWL_LOG_DEBUG;
}

/* On any of librdkafka's threads. */
static void
take_log(const rd_kafka_t *client, int level, const char *facility, const char *text)
{
    const pawl__kafka_store *store = client != NULL ? rd_kafka_opaque(client) : NULL;

    if (store != NULL)
        pawl__log(store->log, level_of(level), "store", "%s: %s", facility, text);
}

/* ---------------------------------------------------------------------------------------------------- properties -- */

static pawl_status
set(pawl__kafka_store *store, const char *name, const char *value, pawl_error *err)
{
    char why[256];

    if (rd_kafka_conf_set(store->properties, name, value, why, sizeof why) == RD_KAFKA_CONF_OK)
        return PAWL_OK;
    return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s: librdkafka does not accept the value of %s", store->url, name);
}

/* The brokers of the URL, or else those of the job. */
static pawl_status
set_given(pawl__kafka_store *store, const pawl_store_setup *setup, pawl_error *err)
{
    bool has_brokers = setup->hosts != NULL && setup->hosts[0] != '\0';
    pawl_status status = has_brokers ? set(store, "bootstrap.servers", setup->hosts, err) : PAWL_OK;

    for (const char *const *next = setup->kafka; status == PAWL_OK && next != NULL && *next != NULL; next += 2) {
        bool names_brokers = strcmp(next[0], "bootstrap.servers") == 0 || strcmp(next[0], "metadata.broker.list") == 0;

        if (!names_brokers || !has_brokers)
            status = set(store, next[0], next[1], err);
        has_brokers = has_brokers || names_brokers;
    }
    if (status == PAWL_OK && !has_brokers)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s names no broker: write kafka://HOST:PORT", store->url);
    return status;
}

pawl_status
pawl__kafka_store_configure(pawl__kafka_store *store, const pawl_store_setup *setup, pawl_error *err)
{
    pawl_status status;

    store->properties = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(store->properties, take_log);
    rd_kafka_conf_set_opaque(store->properties, store);
    status = set_given(store, setup, err);
    if (status == PAWL_OK)
        status = set(store, "enable.auto.commit", "false", err);
    /* An offset that a transaction is about to commit is neither absent nor the one before: it is waited for. */
    if (status == PAWL_OK)
        status = set(store, "isolation.level", "read_committed", err);
    /* Where there is no membership, this is how long a commit waits for somebody to send it to. */
    if (status == PAWL_OK)
        status = set(store, "session.timeout.ms", COMMIT_WAIT_MS, err);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- clients -- */

static pawl_status
make_client(pawl__kafka_store *store, const char *group, pawl_error *err)
{
    rd_kafka_conf_t *properties;
    char why[256] = "";

    if (group != NULL && g_ascii_isspace(group[0])) /* librdkafka would leave that out */
        return pawl_error_set(err, PAWL_UNSUPPORTED, 0, 0,
                              "%s: group '%s': librdkafka has no group that begins with a blank", store->url, group);
    properties = rd_kafka_conf_dup(store->properties);
    if (group == NULL || rd_kafka_conf_set(properties, "group.id", group, why, sizeof why) == RD_KAFKA_CONF_OK)
        store->client = rd_kafka_new(RD_KAFKA_CONSUMER, properties, why, sizeof why);
    if (store->client == NULL) {
        rd_kafka_conf_destroy(properties);
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s: librdkafka refuses the settings: %s", store->url, why);
    }
    store->group = g_strdup(group);
    return PAWL_OK;
}

pawl_status
pawl__kafka_store_client(pawl__kafka_store *store, const char *group, rd_kafka_t **ret_client, pawl_error *err)
{
    pawl_status status = PAWL_OK;

    if (store->member != NULL) {
        *ret_client = store->member->client(store->member);
        return PAWL_OK;
    }
    if (group != NULL && g_strcmp0(store->group, group) != 0)
        pawl__kafka_store_drop_client(store);
    if (store->client == NULL)
        status = make_client(store, group, err);
    if (status == PAWL_OK)
        *ret_client = store->client;
    return status;
}

/* librdkafka does not destroy a client before each commit of it has an answer, or has timed out after a minute. Such a client
 * is left alone. */
void
pawl__kafka_store_drop_client(pawl__kafka_store *store)
{
    if (store->client != NULL && store->unanswered)
        rd_kafka_set_log_level(store->client, 0); /* nobody is there to take it */
    else if (store->client != NULL)
        rd_kafka_destroy_flags(store->client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    store->client = NULL;
    store->unanswered = false;
    g_clear_pointer(&store->group, g_free);
}
