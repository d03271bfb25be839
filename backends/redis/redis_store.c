/*
 * redis_store.c - offsets in Redis: the table; opening, closing, cancelling
 */
#include "backends/redis/redis_store.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A module's one symbol. Where the store is built in, the build gives it another name. */
extern PAWL_API const pawl_store_backend pawl_store_module;

static const pawl_store_option options[] = {
    {"db", "", "The number of the database, as an alternative to /NUMBER behind the hosts."},
    {"user", "", "The user, for a socket: redis:/run/redis.sock?user=NAME."},
    {"password", "", "The password, for a socket; for hosts it stands before them: redis://USER:PASSWORD@HOST."},
    {"replicas", "0", "How many replicas have to confirm each write (WAIT)."},
    {"durability", "full",
     "full: a server that may evict offsets, or keeps nothing on its disk, is refused. none: any server will do."},
    {"on_rollback", "fail",
     "When the server lost the last saves of this very owner in a crash or a failover. fail: the job ends, and reads "
     "again when it is started. reassert: they are written again."},
    {"connect_timeout", "3s", "The longest that one server may take to accept a connection, before the next is tried."},
    {NULL, NULL, NULL},
};

static pawl_status
redis_open(void *self, const pawl_store_setup *setup, pawl_error *err)
{
    pawl__redis_store *store = self;
    pawl_status status;

    store->cancel_fd = eventfd(0, EFD_CLOEXEC);
    pawl__redis_link_init(&store->link, store->cancel_fd);
    store->log = setup->log;
    if (store->cancel_fd < 0)
        return pawl_error_set(err, PAWL_FAILED, 0, errno, "%s: no eventfd: %s", setup->url, strerror(errno));
    status = pawl__redis_options(store, setup, err);
    return status == PAWL_OK ? pawl__redis_session(store, setup->deadline_ms, err) : status;
}

static void
redis_close(void *self)
{
    pawl__redis_store *store = self;

    pawl__redis_session_done(store);
    pawl__redis_forget(store);
    pawl__redis_scripts_done(store);
    g_free(store->owner);
    pawl__redis_options_done(store);
    if (store->cancel_fd >= 0)
        close(store->cancel_fd);
}

/* Nobody reads it: once cancelled, a handle stays so. */
static void
redis_cancel(void *self)
{
    pawl__redis_store *store = self;

    eventfd_write(store->cancel_fd, 1);
}

const pawl_store_backend pawl_store_module = {
    .abi = PAWL_STORE_ABI,
    .scheme = "redis",
    .summary = "a Redis server, or a group of them with one master",
    .capabilities =
        PAWL_STORE_ATOMIC | PAWL_STORE_CAS_EPOCH | PAWL_STORE_CAS_OFFSET | PAWL_STORE_PLAN | PAWL_STORE_LIST,
    .instance_size = sizeof(pawl__redis_store),
    .options = options,
    .open = redis_open,
    .close = redis_close,
    .cancel = redis_cancel,
    .place = pawl__redis_place,
    .load = pawl__redis_load,
    .read_back = pawl__redis_read_back,
    .acquire = pawl__redis_acquire,
    .plan = pawl__redis_plan,
    .save = pawl__redis_save,
    .release = pawl__redis_release,
    .list = pawl__redis_list,
    .remove = pawl__redis_remove,
};
