/*
 * node_text.c - what is written in pawl's own nodes: lines, each a word and its value
 *
 * The group's node:        An owner's node:
 *
 *     layout 1                 client etl
 *     cluster abc              host db7.example
 *                              pid 4711
 *                              renewed 1385899200000
 *                              topic flights
 *                              0 held 12 -              partition, held or left, batch, pending or -, and the print if
 *                              1 held 12 500 9f3a       there is one
 *
 * Names are written as in names.c, so that none of them holds the end of a line.
 */
#include "backends/zookeeper/zookeeper_store.h"

#include <string.h>

#include "util/text.h"

/* ------------------------------------------------------------------------------------------------------- writing -- */

static void
append_line(GString *text, const char *word, const char *value)
{
    char *node = pawl__zk_name_to_node(value);

    g_string_append_printf(text, "%s %s\n", word, node);
    g_free(node);
}

char *
pawl__zk_group_text(const char *cluster)
{
    GString *text = g_string_new(NULL);

    g_string_append_printf(text, "layout %d\n", PAWL__ZK_LAYOUT);
    if (cluster[0] != '\0')
        append_line(text, "cluster", cluster);
    return g_string_free(text, FALSE);
}

static void
append_part(GString *text, const pawl__zk_part *part)
{
    g_string_append_printf(text, "%d %s %" G_GINT64_FORMAT " ", (int) part->partition.number,
                           part->held ? "held" : "left", part->batch);
    if (part->pending.known)
        g_string_append_printf(text, "%" G_GINT64_FORMAT, part->pending.offset);
    else
        g_string_append_c(text, '-');
    if (part->print[0] != '\0') {
        char *print = pawl__zk_name_to_node(part->print);

        g_string_append_printf(text, " %s", print);
        g_free(print);
    }
    g_string_append_c(text, '\n');
}

char *
pawl__zk_owner_text(const pawl__zk_owner *owner)
{
    GString *text = g_string_new(NULL);
    const char *topic = NULL; /* the view has each text once */

    append_line(text, "client", owner->owner.client_id);
    append_line(text, "host", owner->owner.host);
    g_string_append_printf(text, "pid %" G_GINT64_FORMAT "\nrenewed %" G_GINT64_FORMAT "\n", owner->owner.pid,
                           owner->owner.renewed_ms);
    for (guint i = 0; i < owner->parts->len; i++) {
        const pawl__zk_part *part = g_ptr_array_index(owner->parts, i);

        if (part->owner != owner)
            continue;
        if (part->partition.topic != topic)
            append_line(text, "topic", part->partition.topic);
        topic = part->partition.topic;
        append_part(text, part);
    }
    return g_string_free(text, FALSE);
}

/* ------------------------------------------------------------------------------------------------------- reading -- */

static bool
read_number(const char *text, int64_t max, int64_t *ret_number)
{
    return pawl__text_offset(text, strlen(text), ret_number) && *ret_number <= max;
}

static bool
read_text(const char *node, char *ret_text, size_t size)
{
    char *text = pawl__zk_name_from_node(node);
    bool fits = g_strlcpy(ret_text, text, size) < size;

    g_free(text);
    return fits;
}

/* The lines of a node; NULL when it holds no text. */
static char **
split_lines(GBytes *data)
{
    gsize size = 0;
    const char *bytes = data != NULL ? g_bytes_get_data(data, &size) : NULL;
    char *text, **lines;

    if (size == 0 || bytes[size - 1] != '\n' || !g_utf8_validate(bytes, (gssize) size, NULL))
        return NULL;
    text = g_strndup(bytes, size - 1);
    lines = g_strsplit(text, "\n", -1);
    g_free(text);
    return lines;
}

bool
pawl__zk_group_parse(pawl__zk_view *view, GBytes *data, int64_t *ret_layout)
{
    char **lines = split_lines(data);
    bool right = lines != NULL && g_str_has_prefix(lines[0], "layout ") &&
                 read_number(lines[0] + strlen("layout "), INT64_MAX, ret_layout);

    for (size_t i = 1; right && lines[i] != NULL; i++)
        if (g_str_has_prefix(lines[i], "cluster "))
            right = read_text(lines[i] + strlen("cluster "), view->cluster, sizeof view->cluster);
    g_strfreev(lines);
    return right;
}

static bool
read_part(pawl__zk_view *view, pawl__zk_owner *owner, const char *topic, const char *line)
{
    char **words = g_strsplit(line, " ", 5);
    guint count = g_strv_length(words);
    int64_t number, batch;
    pawl_position pending = pawl_position_absent();
    bool held = count >= 4 && strcmp(words[1], "held") == 0;
    bool right = topic != NULL && count >= 4 && (held || strcmp(words[1], "left") == 0) &&
                 read_number(words[0], INT32_MAX, &number) && read_number(words[2], INT64_MAX, &batch);

    if (right && strcmp(words[3], "-") != 0) {
        right = read_number(words[3], INT64_MAX, &pending.offset);
        pending.known = right;
    }
    if (right) {
        pawl__zk_part *part = pawl__zk_view_part(view, (pawl_partition){topic, (int32_t) number});

        pawl__zk_part_move(part, owner);
        part->held = held;
        part->batch = batch;
        part->pending = pending;
        right = read_text(count == 5 ? words[4] : "", part->print, sizeof part->print);
    }
    g_strfreev(words);
    return right;
}

/* One line; *topic is that of the partitions that follow. */
static bool
read_owner_line(pawl__zk_view *view, pawl__zk_owner *owner, const char *line, char **topic)
{
    if (g_ascii_isdigit(line[0]))
        return read_part(view, owner, *topic, line);
    if (g_str_has_prefix(line, "topic ")) {
        g_free(*topic);
        *topic = pawl__zk_name_from_node(line + strlen("topic "));
    } else if (g_str_has_prefix(line, "client ")) {
        return read_text(line + strlen("client "), owner->owner.client_id, sizeof owner->owner.client_id);
    } else if (g_str_has_prefix(line, "host ")) {
        return read_text(line + strlen("host "), owner->owner.host, sizeof owner->owner.host);
    } else if (g_str_has_prefix(line, "pid ")) {
        return read_number(line + strlen("pid "), INT64_MAX, &owner->owner.pid);
    } else if (g_str_has_prefix(line, "renewed ")) {
        return read_number(line + strlen("renewed "), INT64_MAX, &owner->owner.renewed_ms);
    } else {
        return false;
    }
    return true;
}

bool
pawl__zk_owner_parse(pawl__zk_view *view, pawl__zk_owner *owner, GBytes *data)
{
    char **lines = split_lines(data), *topic = NULL;
    bool right = lines != NULL;

    for (size_t i = 0; right && lines[i] != NULL; i++)
        right = read_owner_line(view, owner, lines[i], &topic);
    g_free(topic);
    g_strfreev(lines);
    owner->changed = false;
    return right;
}
