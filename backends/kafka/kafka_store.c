/*
 * kafka_store.c - offsets as a consumer group's own: the table; opening, closing, cancelling
 */
#include "backends/kafka/kafka_store.h"

#include <string.h>

#include "util/log.h"

/* A module's one symbol. Where the store is built in, the build gives it another name. */
extern PAWL_API const pawl_store_backend pawl_store_module;

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

static pawl_status
set(rd_kafka_conf_t *conf, const pawl_store_setup *setup, const char *name, const char *value, pawl_error *err)
{
    char why[256];

    if (rd_kafka_conf_set(conf, name, value, why, sizeof why) == RD_KAFKA_CONF_OK)
        return PAWL_OK;
    return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s: librdkafka does not accept the value of %s", setup->url, name);
}

/* The brokers of the URL, or else those of the job. */
static pawl_status
set_properties(rd_kafka_conf_t *conf, const pawl_store_setup *setup, pawl_error *err)
{
    bool has_brokers = setup->hosts != NULL && setup->hosts[0] != '\0';
    pawl_status status = has_brokers ? set(conf, setup, "bootstrap.servers", setup->hosts, err) : PAWL_OK;

    for (const char *const *next = setup->kafka; status == PAWL_OK && next != NULL && *next != NULL; next += 2) {
        bool names_brokers = strcmp(next[0], "bootstrap.servers") == 0 || strcmp(next[0], "metadata.broker.list") == 0;

        if (!names_brokers || !has_brokers)
            status = set(conf, setup, next[0], next[1], err);
        has_brokers = has_brokers || names_brokers;
    }
    if (status == PAWL_OK && !has_brokers)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s names no broker: write kafka://HOST:PORT", setup->url);
    return status;
}

static pawl_status
connect_client(pawl__kafka_store *store, const pawl_store_setup *setup, pawl_error *err)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char why[256];
    pawl_status status = set_properties(conf, setup, err);

    if (status == PAWL_OK) {
        rd_kafka_conf_set_log_cb(conf, take_log);
        rd_kafka_conf_set_opaque(conf, store);
        store->client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
        if (store->client != NULL)
            return PAWL_OK; /* and conf is the client's now */
        status = pawl_error_set(err, PAWL_INVALID, 0, 0, "%s: librdkafka refuses the settings: %s", setup->url, why);
    }
    rd_kafka_conf_destroy(conf);
    return status;
}

static pawl_status
kafka_open(void *self, const pawl_store_setup *setup, pawl_error *err)
{
    pawl__kafka_store *store = self;

    pawl__wait_init(&store->wait);
    pawl__kafka_store_offsets_init(store);
    store->log = setup->log;
    store->url = g_strdup(setup->url);
    store->member = setup->member;
    if (setup->path[0] != '\0' && strcmp(setup->path, "/") != 0)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s: a path has no meaning here: write kafka://HOST:PORT",
                              setup->url);
    return connect_client(store, setup, err);
}

static void
kafka_close(void *self)
{
    pawl__kafka_store *store = self;

    if (store->client != NULL)
        rd_kafka_destroy_flags(store->client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    pawl__kafka_store_offsets_done(store);
    pawl__wait_done(&store->wait);
    g_free(store->url);
}

static void
kafka_cancel(void *self)
{
    pawl__kafka_store *store = self;

    pawl__wait_lock(&store->wait);
    store->cancelled = true;
    if (store->queue != NULL)
        rd_kafka_queue_yield(store->queue);
    pawl__wait_unlock(&store->wait);
}

/* ----------------------------------------------------------------------------------------------------- the table -- */

const pawl_store_backend pawl_store_module = {
    .abi = PAWL_STORE_ABI,
    .scheme = "kafka",
    .summary = "the consumer group's own committed offsets; fenced by membership (members = group)",
    .capabilities = PAWL_STORE_ATOMIC | PAWL_STORE_PLAN | PAWL_STORE_LIST,
    .instance_size = sizeof(pawl__kafka_store),
    .open = kafka_open,
    .close = kafka_close,
    .cancel = kafka_cancel,
    .place = pawl__kafka_store_place,
    .load = pawl__kafka_store_load,
    .read_back = pawl__kafka_store_read_back,
    .acquire = pawl__kafka_store_acquire,
    .plan = pawl__kafka_store_plan,
    .save = pawl__kafka_store_save,
    .release = pawl__kafka_store_release,
    .list = pawl__kafka_store_list,
    .remove = pawl__kafka_store_remove,
};
