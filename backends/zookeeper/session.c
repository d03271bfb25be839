/*
 * session.c - the client's handle
 *
 * The client connects and reconnects by itself, on a thread of its own, and tells its state to `on_event`. It gives up in
 * one case only: when the servers have declared its session over. Nothing of ours hangs on a session, so that a new handle
 * takes the old one's place.
 */
#include "backends/zookeeper/zookeeper_store.h"

#include <errno.h>
#include <string.h>

/* Names of hosts are looked up again, but not with every packet. */
#define RESOLUTION_DELAY_MS 10000

static void
on_event(zhandle_t *client, int type, int state, const char *path, void *user)
{
    pawl__zk_store *store = user;

    (void) client, (void) path;
    if (type != ZOO_SESSION_EVENT)
        return;
    pawl__wait_lock(&store->wait);
    store->state = state;
    pawl__wait_wake(&store->wait);
    pawl__wait_unlock(&store->wait);
}

/* The outcome comes as ZOO_AUTH_FAILED_STATE, if it is bad. */
static void
on_auth(int code, const void *user)
{
    (void) code, (void) user;
}

static pawl_status
start_client(pawl__zk_store *store, pawl_error *err)
{
    store->state = ZOO_CONNECTING_STATE;
    store->client = zookeeper_init2(store->hosts, on_event, store->session_timeout_ms, NULL, store,
                                    ZOO_NO_LOG_CLIENTENV, pawl__zk_log_take);
    if (store->client == NULL)
        return pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, errno,
                              "ZooKeeper at %s: a host's name has no address, or the port is none (%s)", store->hosts,
                              strerror(errno));
    zoo_set_servers_resolution_delay(store->client, RESOLUTION_DELAY_MS);
    if (store->credentials != NULL)
        zoo_add_auth(store->client, "digest", store->credentials, (int) strlen(store->credentials), on_auth, NULL);
    return PAWL_OK;
}

void
pawl__zk_disconnect(pawl__zk_store *store)
{
    if (store->client != NULL)
        zookeeper_close(store->client);
    store->client = NULL;
    pawl__zk_rounds_done(store);
}

/* Waits for a state in which there is something to do, and returns it. */
static int
await_state(pawl__zk_store *store, int64_t deadline_ms, bool *ret_cancelled)
{
    int state;

    pawl__wait_lock(&store->wait);
    while (!store->cancelled && store->state != ZOO_CONNECTED_STATE && store->state != ZOO_EXPIRED_SESSION_STATE &&
           store->state != ZOO_AUTH_FAILED_STATE && pawl__wait_until(&store->wait, deadline_ms))
        ;
    state = store->state;
    *ret_cancelled = store->cancelled;
    pawl__wait_unlock(&store->wait);
    return state;
}

pawl_status
pawl__zk_connect(pawl__zk_store *store, int64_t deadline_ms, pawl_error *err)
{
    for (;;) {
        bool cancelled;
        pawl_status status = store->client == NULL ? start_client(store, err) : PAWL_OK;
        int state;

        if (status != PAWL_OK)
            return status;
        state = await_state(store, deadline_ms, &cancelled);
        if (cancelled)
            return pawl__zk_cancelled(store, err);
        if (state == ZOO_CONNECTED_STATE)
            return PAWL_OK;
        if (state == ZOO_AUTH_FAILED_STATE)
            return pawl_error_set(err, PAWL_FAILED, 0, ZAUTHFAILED,
                                  "ZooKeeper at %s does not take the user and password of the URL", store->hosts);
        if (state != ZOO_EXPIRED_SESSION_STATE)
            return pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, ZCONNECTIONLOSS,
                                  "no ZooKeeper server answers at %s: is one running there?", store->hosts);
        pawl__zk_disconnect(store);
    }
}
