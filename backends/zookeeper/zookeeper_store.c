/*
 * zookeeper_store.c - offsets in ZooKeeper: the table; options, opening, closing, cancelling
 */
#include "backends/zookeeper/zookeeper_store.h"

#include <string.h>

#include "util/text.h"

#define DEFAULT_PORT "2181"

/* The shortest that a partition can take in a save, beside the root: names of one letter, numbers of one digit. */
#define LEAST_PARTITION_SIZE (sizeof "/consumers/g/offsets/t/0" + 9 + 4 + 4 + 1 + 4 + sizeof "0 held 0 -")

/* A module's one symbol. Where the store is built in, the build gives it another name. */
extern PAWL_API const pawl_store_backend pawl_store_module;

static const pawl_store_option options[] = {
    {"create", "yes", "Whether the node of the URL's path is made when it is missing: yes or no."},
    {"acl", "open",
     "Who may use the nodes that are made. open: everybody. owner: only the user of the URL. read: everybody may read, "
     "only that user may write."},
    {"session_timeout", "10s", "How long the servers wait for a sign of life; they may choose another time."},
    {"packet_limit", "1048575",
     "The largest request that the servers take, in bytes: their jute.maxbuffer, which a client cannot ask for."},
    {NULL, NULL, NULL},
};

/* ------------------------------------------------------------------------------------------------------- options -- */

static pawl_status
read_acl(pawl__zk_store *store, const pawl_store_setup *setup, pawl_error *err)
{
    const char *acl = setup->option(setup, "acl");

    store->acl_lines[0] = ZOO_CREATOR_ALL_ACL.data[0];
    store->acl_lines[1] = ZOO_READ_ACL_UNSAFE.data[0];
    if (strcmp(acl, "open") == 0)
        store->acl = ZOO_OPEN_ACL_UNSAFE;
    else if (strcmp(acl, "owner") == 0)
        store->acl = ZOO_CREATOR_ALL_ACL;
    else if (strcmp(acl, "read") == 0)
        store->acl = (struct ACL_vector){2, store->acl_lines};
    else
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s: option 'acl' is open, owner or read, not '%s'", setup->url,
                              acl);
    if (strcmp(acl, "open") != 0 && setup->user == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "%s: with acl=%s the URL has to name a user: zookeeper://USER:PASSWORD@HOST/PATH",
                              setup->url, acl);
    return PAWL_OK;
}

static pawl_status
read_options(pawl__zk_store *store, const pawl_store_setup *setup, pawl_error *err)
{
    int64_t session_ms, packet_limit;

    if (pawl__text_flag(setup->option(setup, "create"), &store->create_root, err) != PAWL_OK) {
        pawl_error_prefix(err, "%s: option 'create'", setup->url);
        return PAWL_INVALID;
    }
    if (pawl__text_duration(setup->option(setup, "session_timeout"), &session_ms, err) != PAWL_OK) {
        pawl_error_prefix(err, "%s: option 'session_timeout'", setup->url);
        return PAWL_INVALID;
    }
    if (pawl__text_size(setup->option(setup, "packet_limit"), &packet_limit, err) != PAWL_OK) {
        pawl_error_prefix(err, "%s: option 'packet_limit'", setup->url);
        return PAWL_INVALID;
    }
    if (session_ms < 1 || session_ms > INT32_MAX)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s: option 'session_timeout' is 1ms to 24d", setup->url);
    if (packet_limit < 4096 || packet_limit > INT32_MAX)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s: option 'packet_limit' is 4KiB to 2GiB", setup->url);
    store->session_timeout_ms = (int) session_ms;
    store->packet_limit = (size_t) packet_limit;
    return read_acl(store, setup, err);
}

static pawl_status
read_user(pawl__zk_store *store, const pawl_store_setup *setup, pawl_error *err)
{
    if (setup->user == NULL)
        return PAWL_OK;
    if (setup->password == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "%s names a user and no password: write zookeeper://USER:PASSWORD@HOST/PATH", setup->url);
    store->user = g_strdup(setup->user);
    store->credentials = g_strconcat(setup->user, ":", setup->password, NULL);
    return PAWL_OK;
}

/* The client wants a port behind each host. */
static pawl_status
read_hosts(pawl__zk_store *store, const pawl_store_setup *setup, pawl_error *err)
{
    char **list;

    if (setup->hosts == NULL || setup->hosts[0] == '\0')
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s names no host: write zookeeper://HOST:PORT,HOST:PORT/PATH",
                              setup->url);
    list = g_strsplit(setup->hosts, ",", -1);
    for (char **host = list; *host != NULL; host++) {
        const char *name_end = strrchr(*host, ']');

        if (strchr(name_end != NULL ? name_end : *host, ':') == NULL) {
            char *with_port = g_strconcat(*host, ":" DEFAULT_PORT, NULL);

            g_free(*host);
            *host = with_port;
        }
    }
    store->hosts = g_strjoinv(",", list);
    g_strfreev(list);
    return PAWL_OK;
}

/* "/a/b/" is "/a/b", and "/" is "". */
static pawl_status
read_root(pawl__zk_store *store, const pawl_store_setup *setup, pawl_error *err)
{
    char **names;
    bool right = g_utf8_validate(setup->path, -1, NULL);

    store->root = g_strdup(setup->path);
    if (g_str_has_suffix(store->root, "/"))
        store->root[strlen(store->root) - 1] = '\0';
    names = g_strsplit(store->root, "/", -1);
    for (size_t i = 1; right && names[0] != NULL && names[i] != NULL; i++) {
        char *node = pawl__zk_name_to_node(names[i]);

        right = names[i][0] != '\0' && (strcmp(node, names[i]) == 0 || strchr(names[i], '%') != NULL);
        g_free(node);
    }
    g_strfreev(names);
    if (right)
        return PAWL_OK;
    return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s: its path is no path of a node", setup->url);
}

/* ------------------------------------------------------------------------------------------------ open and close -- */

static pawl_status
zookeeper_open(void *self, const pawl_store_setup *setup, pawl_error *err)
{
    pawl__zk_store *store = self;
    pawl_status status;

    pawl__wait_init(&store->wait);
    store->unheard = g_ptr_array_new();
    store->log = setup->log;
    pawl__zk_log_add(store->log);
    status = read_options(store, setup, err);
    if (status == PAWL_OK)
        status = read_user(store, setup, err);
    if (status == PAWL_OK)
        status = read_hosts(store, setup, err);
    if (status == PAWL_OK)
        status = read_root(store, setup, err);
    if (status == PAWL_OK)
        status = pawl__zk_connect(store, setup->deadline_ms, err);
    if (status == PAWL_OK)
        status = pawl__zk_make_root(store, setup->deadline_ms, setup->read_only, err);
    return status;
}

static void
zookeeper_close_store(void *self)
{
    pawl__zk_store *store = self;

    pawl__zk_disconnect(store);
    pawl__zk_log_remove(store->log);
    pawl__zk_view_free(store->view);
    pawl__wait_done(&store->wait);
    g_ptr_array_free(store->unheard, TRUE);
    g_free(store->hosts);
    g_free(store->root);
    g_free(store->user);
    g_free(store->credentials);
}

static void
zookeeper_cancel(void *self)
{
    pawl__zk_store *store = self;

    pawl__wait_lock(&store->wait);
    store->cancelled = true;
    pawl__wait_wake(&store->wait);
    pawl__wait_unlock(&store->wait);
}

/* More do not fit, whatever their names. How many do is known, and checked, when they are acquired. */
static size_t
zookeeper_max_partitions(const void *self)
{
    const pawl__zk_store *store = self;

    return store->packet_limit / (LEAST_PARTITION_SIZE + strlen(store->root));
}

/* ----------------------------------------------------------------------------------------------------- the table -- */

/* No read_back: load syncs first, so that it does not overtake anything. */
const pawl_store_backend pawl_store_module = {
    .abi = PAWL_STORE_ABI,
    .scheme = "zookeeper",
    .summary = "ZooKeeper, where Kafka's old consumers kept their offsets",
    .capabilities =
        PAWL_STORE_ATOMIC | PAWL_STORE_CAS_EPOCH | PAWL_STORE_CAS_OFFSET | PAWL_STORE_PLAN | PAWL_STORE_LIST,
    .instance_size = sizeof(pawl__zk_store),
    .options = options,
    .open = zookeeper_open,
    .close = zookeeper_close_store,
    .cancel = zookeeper_cancel,
    .max_partitions = zookeeper_max_partitions,
    .place = pawl__zk_place,
    .load = pawl__zk_load,
    .acquire = pawl__zk_acquire,
    .plan = pawl__zk_plan,
    .save = pawl__zk_save,
    .release = pawl__zk_release,
    .list = pawl__zk_list,
    .remove = pawl__zk_remove,
};
