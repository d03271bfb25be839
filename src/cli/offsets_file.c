/*
 * offsets_file.c - offsets in a file: what export writes and import reads
 */
#include "cli/offsets_file.h"

#include <inttypes.h>
#include <string.h>
#include <yajl/yajl_tree.h>

#include "cli/specs.h"
#include "cli/table.h"
#include "util/text.h"

/* ------------------------------------------------------------------------------------------------------- writing -- */

/* RFC 4180: quotes where they are needed. Legal topics never need them; a store may hold others. */
static void
write_field(FILE *file, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, file);
        return;
    }
    putc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            putc('"', file);
        putc(*text, file);
    }
    putc('"', file);
}

void
pawl__offsets_write_csv(FILE *file, const GArray *moves)
{
    for (size_t i = 0; i < moves->len; i++) {
        const pawl_move *move = pawl__moves_at(moves, i);

        if (!move->entry.offset.known)
            continue;
        write_field(file, move->partition.topic);
        fprintf(file, ",%d,%" PRId64 "\n", (int) move->partition.number, move->entry.offset.offset);
    }
}

void
pawl__offsets_write_json(FILE *file, const char *group, const char *cluster, const GArray *moves)
{
    yajl_gen json = pawl__json_begin(file);

    yajl_gen_map_open(json);
    pawl__json_text(json, "group", group);
    pawl__json_text(json, "cluster", cluster[0] != '\0' ? cluster : NULL);
    pawl__json_key(json, "partitions");
    yajl_gen_array_open(json);
    for (size_t i = 0; i < moves->len; i++) {
        const pawl_move *move = pawl__moves_at(moves, i);

        if (!move->entry.offset.known)
            continue;
        yajl_gen_map_open(json);
        pawl__json_text(json, "topic", move->partition.topic);
        pawl__json_number(json, "partition", move->partition.number);
        pawl__json_number(json, "offset", move->entry.offset.offset);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
    yajl_gen_map_close(json);
    pawl__json_end(json);
}

/* -------------------------------------------------------------------------------------------------------- reading -- */

/* Adds one line; what is wrong with it, or NULL. */
static const char *
add_line(GArray *moves, const char *topic, const char *partition, const char *offset)
{
    int64_t number, position;

    if (!pawl__topic_is_legal(topic))
        return "the topic's name is not legal";
    if (partition == NULL || !pawl__text_offset(partition, strlen(partition), &number) || number > G_MAXINT32)
        return "the partition is not a number from 0 to 2^31-1";
    if (offset == NULL || !pawl__text_offset(offset, strlen(offset), &position))
        return "the offset is not a number from 0 to 2^63-1";
    pawl__moves_add(moves, (pawl_partition){g_intern_string(topic), (int32_t) number}, pawl_position_at(position));
    return NULL;
}

/* Takes quotes away. */
static void
unquote(char *field)
{
    size_t size = strlen(field);

    if (size < 2 || field[0] != '"' || field[size - 1] != '"')
        return;
    memmove(field, field + 1, size - 2);
    field[size - 2] = '\0';
}

/* One line of CSV. Legal topics hold no comma and no quote, so a comma always ends a field. */
static const char *
read_csv_line(char *line, GArray *moves)
{
    char **fields = g_strsplit(g_strchomp(line), ",", -1);
    const char *wrong = "it is not topic,partition,offset";

    if (g_strv_length(fields) == 3) {
        unquote(fields[0]);
        wrong = add_line(moves, fields[0], fields[1], fields[2]);
    }
    g_strfreev(fields);
    return wrong;
}

static pawl_status
read_csv(const char *name, const char *text, GArray *moves, pawl_error *err)
{
    char **lines = g_strsplit(text, "\n", -1);
    const char *wrong = NULL;
    size_t i;

    for (i = 0; lines[i] != NULL && wrong == NULL; i++) {
        bool is_heading = i == 0 && g_str_has_prefix(lines[i], "topic,partition,offset");

        if (lines[i][strspn(lines[i], " \t\r")] != '\0' && !is_heading)
            wrong = read_csv_line(lines[i], moves);
    }
    g_strfreev(lines);
    if (wrong != NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s, line %zu: %s", name, i, wrong);
    return PAWL_OK;
}

/* The text of a member, which is a number or a string: as it stands there, so that no digit is lost. NULL: neither. */
static const char *
member_text(yajl_val object, const char *key, bool number)
{
    const char *path[] = {key, NULL};
    yajl_val value = yajl_tree_get(object, path, yajl_t_any);

    if (value == NULL)
        return NULL;
    if (number && YAJL_IS_NUMBER(value))
        return YAJL_GET_NUMBER(value);
    return !number && YAJL_IS_STRING(value) ? YAJL_GET_STRING(value) : NULL;
}

static pawl_status
read_json_partitions(const char *name, yajl_val list, GArray *moves, pawl_error *err)
{
    for (size_t i = 0; i < list->u.array.len; i++) {
        yajl_val item = list->u.array.values[i];
        const char *wrong = "it is no object";

        if (YAJL_IS_OBJECT(item)) {
            const char *topic = member_text(item, "topic", false);

            wrong = add_line(moves, topic != NULL ? topic : "", member_text(item, "partition", true),
                             member_text(item, "offset", true));
        }
        if (wrong != NULL)
            return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s, item %zu of partitions: %s", name, i + 1, wrong);
    }
    return PAWL_OK;
}

static pawl_status
read_json(const char *name, const char *text, GArray *moves, const char **ret_cluster, pawl_error *err)
{
    static const char *const path[] = {"partitions", NULL};
    char message[300] = "";
    yajl_val root = yajl_tree_parse(text, message, sizeof message);
    yajl_val list = root != NULL ? yajl_tree_get(root, (const char **) path, yajl_t_array) : NULL;
    pawl_status status = PAWL_INVALID;

    message[strcspn(message, "\n")] = '\0';
    if (root == NULL)
        pawl_error_set(err, PAWL_INVALID, 0, 0, "%s is no JSON: %s", name, message);
    else if (list == NULL)
        pawl_error_set(err, PAWL_INVALID, 0, 0, "%s has no member \"partitions\" with a list", name);
    else
        status = read_json_partitions(name, list, moves, err);
    if (status == PAWL_OK) {
        const char *cluster = member_text(root, "cluster", false);

        *ret_cluster = cluster != NULL ? g_intern_string(cluster) : NULL;
    }
    yajl_tree_free(root);
    return status;
}

pawl_status
pawl__offsets_read(const char *name, const char *text, size_t size, GArray *moves, const char **ret_cluster,
                   pawl_error *err)
{
    const char *cluster = NULL;
    pawl_status status;

    if (strlen(text) != size || strstr(text, "\\u0000") != NULL) /* texts out of JSON end at a NUL */
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s is no text: it holds a NUL", name);
    if (text[strspn(text, " \t\r\n")] == '{')
        status = read_json(name, text, moves, &cluster, err);
    else
        status = read_csv(name, text, moves, err);
    if (status == PAWL_OK && moves->len == 0)
        status = pawl_error_set(err, PAWL_INVALID, 0, 0, "%s holds no offset", name);
    if (status == PAWL_OK)
        *ret_cluster = cluster;
    return status;
}
