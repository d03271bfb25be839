/*
 * ini.c - sections, keys and values out of a text
 */
#include "cli/ini.h"

#include <glib.h>
#include <string.h>

#include "util/text.h"

/* The text as it is read. */
struct reader {
    const char *name;
    unsigned line;
    char *section;        /* NULL before the first */
    GHashTable *sections; /* name to the line of it */
    GHashTable *keys;     /* of this section, likewise */
    pawl_ini_fn fn;
    void *user;
};

/* ------------------------------------------------------------------------------------------------------- one line -- */

static pawl_status
take_section(struct reader *reader, char *line, pawl_error *err)
{
    char *end = strchr(line, ']');
    gpointer before;

    if (end == NULL || end[1] != '\0')
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "a section is a name between [ and ], alone on its line");
    *end = '\0';
    g_free(reader->section);
    reader->section = g_strstrip(g_strdup(line + 1));
    before = g_hash_table_lookup(reader->sections, reader->section);
    if (before != NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "section [%s] is there twice, first in line %u", reader->section,
                              GPOINTER_TO_UINT(before));
    g_hash_table_insert(reader->sections, g_strdup(reader->section), GUINT_TO_POINTER(reader->line));
    g_hash_table_remove_all(reader->keys);
    return PAWL_OK;
}

static pawl_status
take_key(struct reader *reader, char *line, char *equals, pawl_error *err)
{
    char shown[PAWL__BYTES_TEXT_SIZE];
    pawl_ini_entry entry = {.section = reader->section, .line = reader->line};
    gpointer before;

    *equals = '\0';
    entry.key = g_strchomp(line);
    entry.value = g_strchug(equals + 1);
    if (entry.key[0] == '\0')
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "there is no key before the =");
    pawl__text_from_bytes(entry.key, strlen(entry.key), shown);
    if (reader->section == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s stands before any section: is [job] missing?", shown);
    before = g_hash_table_lookup(reader->keys, entry.key);
    if (before != NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s is set twice, first in line %u", shown,
                              GPOINTER_TO_UINT(before));
    g_hash_table_insert(reader->keys, g_strdup(entry.key), GUINT_TO_POINTER(reader->line));
    return reader->fn(reader->user, &entry, err);
}

/* A line without its end. It may be a password that was broken in two: it is not shown. */
static pawl_status
take_line(struct reader *reader, char *line, size_t size, pawl_error *err)
{
    char *equals;

    if (strlen(line) != size)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "there is a NUL in this line");
    if (!g_utf8_validate(line, -1, NULL))
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "this line is not UTF-8");
    g_strstrip(line);
    if (line[0] == '\0' || line[0] == '#' || line[0] == ';')
        return PAWL_OK;
    if (line[0] == '[')
        return take_section(reader, line, err);
    equals = strchr(line, '=');
    if (equals == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "this line is no \"key = value\", no [section] and no comment");
    return take_key(reader, line, equals, err);
}

/* ------------------------------------------------------------------------------------------------------ all lines -- */

static void
skip_mark(const char **text, size_t *size)
{
    if (*size >= 3 && memcmp(*text, "\xef\xbb\xbf", 3) == 0) {
        *text += 3;
        *size -= 3;
    }
}

static pawl_status
take_lines(struct reader *reader, const char *text, size_t size, pawl_error *err)
{
    pawl_status status = PAWL_OK;

    while (size > 0 && status == PAWL_OK) {
        const char *end = memchr(text, '\n', size);
        size_t length = end != NULL ? (size_t) (end - text) : size;
        char *line = g_malloc(length + 1);

        memcpy(line, text, length);
        line[length] = '\0';
        reader->line++;
        status = take_line(reader, line, length, err);
        if (status != PAWL_OK)
            pawl_error_prefix(err, "%s:%u", reader->name, reader->line);
        g_free(line);
        length += end != NULL ? 1 : 0;
        text += length;
        size -= length;
    }
    return status;
}

pawl_status
pawl__ini_parse(const char *name, const char *text, size_t size, pawl_ini_fn fn, void *user, pawl_error *err)
{
    struct reader reader = {
        .name = name,
        .sections = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .fn = fn,
        .user = user,
    };
    pawl_status status;

    skip_mark(&text, &size);
    status = take_lines(&reader, text, size, err);
    g_hash_table_unref(reader.sections);
    g_hash_table_unref(reader.keys);
    g_free(reader.section);
    return status;
}
