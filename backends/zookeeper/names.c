/*
 * names.c - names as nodes, and back
 *
 * Written as %XX: what a node's name must not hold (a slash, control characters, what is outside of Unicode's first plane
 * or in its private area), a whole name "." or "..", and a '%' that would read as such an escape. All else stands as it
 * is, so that the names of Kafka's old consumers do.
 */
#include "backends/zookeeper/zookeeper_store.h"

#include <string.h>

static bool
is_escape(const char *text)
{
    return text[0] == '%' && g_ascii_isxdigit(text[1]) && g_ascii_isxdigit(text[2]);
}

/* What the server refuses in a path: see PathUtils.validatePath() there, which counts in UTF-16. */
static bool
is_refused(gunichar c)
{
    return c <= 0x1f || (c >= 0x7f && c <= 0x9f) || (c >= 0xd800 && c <= 0xf8ff) || c >= 0xfff0;
}

char *
pawl__zk_name_to_node(const char *name)
{
    GString *node = g_string_new(NULL);
    bool dots = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;

    while (*name != '\0') {
        const char *next = g_utf8_next_char(name);

        if (dots || *name == '/' || is_escape(name) || is_refused(g_utf8_get_char(name))) {
            for (; name < next; name++)
                g_string_append_printf(node, "%%%02X", (unsigned char) *name);
        } else {
            g_string_append_len(node, name, next - name);
        }
        name = next;
    }
    return g_string_free(node, FALSE);
}

static char *
unescape(const char *node)
{
    GString *name = g_string_new(NULL);

    while (*node != '\0') {
        if (is_escape(node)) {
            g_string_append_c(name, (char) (g_ascii_xdigit_value(node[1]) * 16 + g_ascii_xdigit_value(node[2])));
            node += 3;
        } else {
            g_string_append_c(name, *node++);
        }
    }
    return g_string_free(name, FALSE);
}

/* A node that somebody else named, and that only looks like one of ours, is called what it is called. */
char *
pawl__zk_name_from_node(const char *node)
{
    char *name = unescape(node), *again = g_utf8_validate(name, -1, NULL) ? pawl__zk_name_to_node(name) : NULL;
    bool ours = again != NULL && strcmp(again, node) == 0;

    g_free(again);
    if (ours)
        return name;
    g_free(name);
    return g_utf8_make_valid(node, -1);
}

/* --------------------------------------------------------------------------------------------------------- paths -- */

char *
pawl__zk_group_path(const pawl__zk_store *store, const char *group, const char *below)
{
    char *node = pawl__zk_name_to_node(group);
    char *path = g_strconcat(store->root, "/consumers/", node, below, NULL);

    g_free(node);
    return path;
}

char *
pawl__zk_topic_path(const pawl__zk_store *store, const char *group, const char *topic)
{
    char *node = pawl__zk_name_to_node(topic), *offsets = pawl__zk_group_path(store, group, "/offsets/");
    char *path = g_strconcat(offsets, node, NULL);

    g_free(node);
    g_free(offsets);
    return path;
}

char *
pawl__zk_offset_path(const pawl__zk_store *store, const char *group, pawl_partition partition)
{
    char *topic = pawl__zk_topic_path(store, group, partition.topic);
    char *path = g_strdup_printf("%s/%d", topic, (int) partition.number);

    g_free(topic);
    return path;
}

void
pawl__zk_place(void *self, const char *group, pawl_partition partition, char *text, size_t text_size)
{
    pawl__zk_store *store = self;
    char *path = pawl__zk_offset_path(store, group, partition);

    g_snprintf(text, (gulong) text_size, "node %s in ZooKeeper at %s", path, store->hosts);
    g_free(path);
}
