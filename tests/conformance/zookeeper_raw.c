/*
 * zookeeper_raw.c - a ZooKeeper server and its nodes behind the store's back, for the tests of the zookeeper: store
 */
#define THREADED /* the client's waiting calls */
#include "tests/conformance/zookeeper_raw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include <pawl/sys/registry.h>

#include "backends/zookeeper/zookeeper_store.h"
#include "core/store.h"

/* The client forgets to free an answer that comes while it is being closed. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);

const char *
__lsan_default_suppressions(void)
{
    return "leak:libzookeeper_mt";
}

const char *
__lsan_default_options(void)
{
    return "print_suppressions=0";
}

service *raw_server;
char *raw_hosts;

bool
raw_init(const char *const *properties)
{
    raw_server = service_new("zookeeper", properties);
    raw_hosts = service_value(raw_server, "ZOOKEEPER_HOSTS");
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    return pawl_registry_add_store(&pawl__store_zookeeper, NULL) == PAWL_OK;
}

void
raw_done(void)
{
    service_free(raw_server);
    g_free(raw_hosts);
}

char *
raw_url(const char *path_and_query)
{
    return g_strconcat("zookeeper://", raw_hosts, path_and_query, NULL);
}

pawl_status
raw_try_store(const char *url, int64_t timeout_ms, pawl_store **ret_store, pawl_error *err)
{
    pawl_store_options options = {.size = sizeof options, .timeout_ms = timeout_ms};

    return pawl_store_open(url, &options, ret_store, err);
}

/* ------------------------------------------------------------------------------------------------ a client a call -- */

static zhandle_t *
client_open(void)
{
    zhandle_t *client = zookeeper_init(raw_hosts, NULL, 10000, NULL, NULL, 0);

    assert_non_null(client);
    return client;
}

static void
assert_code(int code, const char *what)
{
    if (code != ZOK)
        fail_msg("%s: %s", what, zerror(code));
}

char *
raw_get(const char *path)
{
    zhandle_t *client = client_open();
    char *text = g_malloc(1 << 20);
    int size = (1 << 20) - 1, code = zoo_get(client, path, 0, text, &size, NULL);

    zookeeper_close(client);
    if (code == ZNONODE) {
        g_free(text);
        return NULL;
    }
    assert_code(code, path);
    text[MAX(size, 0)] = '\0';
    return text;
}

static void
make(zhandle_t *client, const char *path)
{
    char *copy = g_strdup(path);

    for (char *slash = strchr(copy + 1, '/');; slash = strchr(slash + 1, '/')) {
        int code;

        if (slash != NULL)
            *slash = '\0';
        code = zoo_create(client, copy, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
        if (code != ZNODEEXISTS)
            assert_code(code, copy);
        if (slash == NULL)
            break;
        *slash = '/';
    }
    g_free(copy);
}

void
raw_set(const char *path, const char *text)
{
    zhandle_t *client = client_open();

    if (zoo_exists(client, path, 0, NULL) == ZNONODE)
        make(client, path);
    assert_code(zoo_set(client, path, text, (int) strlen(text), -1), path);
    zookeeper_close(client);
}

void
raw_delete(const char *path)
{
    zhandle_t *client = client_open();

    assert_code(zoo_delete(client, path, -1), path);
    zookeeper_close(client);
}

static void
delete_tree(zhandle_t *client, const char *path)
{
    struct String_vector names = {0, NULL};

    assert_code(zoo_get_children(client, path, 0, &names), path);
    for (int i = 0; i < names.count; i++) {
        char *child = g_strconcat(path, "/", names.data[i], NULL);

        delete_tree(client, child);
        g_free(child);
    }
    deallocate_String_vector(&names);
    assert_code(zoo_delete(client, path, -1), path);
}

void
raw_delete_tree(const char *path)
{
    zhandle_t *client = client_open();

    delete_tree(client, path);
    zookeeper_close(client);
}

int
raw_children(const char *path)
{
    zhandle_t *client = client_open();
    struct String_vector names = {0, NULL};
    int code = zoo_get_children(client, path, 0, &names), count = names.count;

    zookeeper_close(client);
    if (code == ZNONODE)
        return 0;
    assert_code(code, path);
    deallocate_String_vector(&names);
    return count;
}

/* This process is frozen, as one that swaps or is debugged, until the server says that it waits no longer. */
void
raw_expire(pawl_store *store)
{
    static const char script[] =
        "kill -STOP $0; until grep -q \"Expiring session $1,\" $2/zookeeper.log; do sleep 0.05; "
        "done; kill -CONT $0";
    const pawl__zk_store *self = store->self;
    char *pid = g_strdup_printf("%d", (int) getpid()),
         *session = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", zoo_client_id(self->client)->client_id);
    const char *const command[] = {"sh", "-c", script, pid, session, raw_server->folder, NULL};

    assert_true(g_spawn_sync(NULL, (char **) command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
    g_free(session);
    g_free(pid);
}
