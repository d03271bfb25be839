/*
 * bare_zookeeper.c - one multi of sets: a node for each offset, and one for all that goes with them; the address is a list
 * of hosts
 */
#define THREADED /* the client's own: the calls that wait */

#include <string.h>

#include <glib.h>
#include <zookeeper/zookeeper.h>

#include "bare.h"

enum { SESSION_TIMEOUT_MS = 30000 };

struct bare {
    zhandle_t *handle;
    char *root;
    char **paths;
    int partitions;
};

static void
check(int rc)
{
    if (rc != ZOK)
        give_up("zookeeper", zerror(rc));
}

static void
make(const bare *client, const char *path)
{
    check(zoo_create(client->handle, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0));
}

bare *
bare_open(const char *address, int partitions)
{
    bare *client = g_new0(bare, 1);

    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    client->handle = zookeeper_init(address, NULL, SESSION_TIMEOUT_MS, NULL, NULL, 0);
    if (client->handle == NULL)
        give_up("zookeeper", address);
    client->partitions = partitions;
    client->root = g_strdup_printf("/bare-%" PRId64, g_get_real_time());
    make(client, client->root);
    client->paths = g_new0(char *, partitions + 1);
    for (int i = 0; i < partitions; i++) {
        client->paths[i] = g_strdup_printf("%s/%d", client->root, i);
        make(client, client->paths[i]);
    }
    return client;
}

void
bare_save(bare *client, int64_t offset, int64_t batch, const char *print, int64_t now_ms)
{
    int count = client->partitions + 1;
    zoo_op_t *ops = g_new(zoo_op_t, count);
    zoo_op_result_t *results = g_new(zoo_op_result_t, count);
    GString *notes = g_string_new(NULL);
    char number[24];
    int size = g_snprintf(number, sizeof number, "%" PRId64, offset);

    g_string_printf(notes, "client bench\nhost localhost\npid 1\nrenewed %" PRId64 "\ntopic " BARE_TOPIC "\n", now_ms);
    for (int i = 0; i < client->partitions; i++) {
        zoo_set_op_init(&ops[i], client->paths[i], number, size, -1, NULL);
        g_string_append_printf(notes, "%d held %" PRId64 " - %s\n", i, batch, print);
    }
    zoo_set_op_init(&ops[client->partitions], client->root, notes->str, (int) notes->len, -1, NULL);
    check(zoo_multi(client->handle, count, ops, results));
    g_string_free(notes, TRUE);
    g_free(results);
    g_free(ops);
}

void
bare_close(bare *client)
{
    zookeeper_close(client->handle);
    g_strfreev(client->paths);
    g_free(client->root);
    g_free(client);
}
