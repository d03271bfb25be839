/*
 * kafka_store.c - offsets as a consumer group's own: the table; opening, closing, cancelling
 */
#include "backends/kafka/kafka_store.h"

#include <string.h>

/* A module's one symbol. Where the store is built in, the build gives it another name. */
extern PAWL_API const pawl_store_backend pawl_store_module;

static pawl_status
kafka_open(void *self, const pawl_store_setup *setup, pawl_error *err)
{
    pawl__kafka_store *store = self;

    pawl__wait_init(&store->wait);
    pawl__kafka_store_remembered_init(store);
    store->log = setup->log;
    store->url = g_strdup(setup->url);
    store->member = setup->member;
    if (setup->path[0] != '\0' && strcmp(setup->path, "/") != 0)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s: a path has no meaning here: write kafka://HOST:PORT",
                              setup->url);
    if (setup->user != NULL || setup->password != NULL)
        return pawl_error_set(
            err, PAWL_INVALID, 0, 0,
            "%s: a user and a password are settings here: kafka.sasl.username and kafka.sasl.password", setup->url);
    return pawl__kafka_store_configure(store, setup, err);
}

static void
kafka_close(void *self)
{
    pawl__kafka_store *store = self;

    pawl__kafka_store_drop_client(store);
    if (store->properties != NULL)
        rd_kafka_conf_destroy(store->properties);
    pawl__kafka_store_remembered_done(store);
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
