/*
 * table.c - rows for people and the same rows as JSON
 */
#include "cli/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct pawl_table {
    const pawl_column *columns;
    size_t width;
    GPtrArray *rows; /* of GPtrArray of char * */
};

static void
free_row(gpointer row)
{
    g_ptr_array_unref(row);
}

pawl_table *
pawl__table_new(const pawl_column *columns)
{
    pawl_table *table = g_new0(pawl_table, 1);

    table->columns = columns;
    while (columns[table->width].heading != NULL || columns[table->width].name != NULL)
        table->width++;
    table->rows = g_ptr_array_new_with_free_func(free_row);
    return table;
}

void
pawl__table_free(pawl_table *table)
{
    if (table == NULL)
        return;
    g_ptr_array_unref(table->rows);
    g_free(table);
}

void
pawl__table_row(pawl_table *table)
{
    g_ptr_array_add(table->rows, g_ptr_array_new_with_free_func(g_free));
}

void
pawl__table_text(pawl_table *table, const char *text)
{
    g_ptr_array_add(g_ptr_array_index(table->rows, table->rows->len - 1), g_strdup(text));
}

void
pawl__table_number(pawl_table *table, int64_t number)
{
    char text[24];

    g_snprintf(text, sizeof text, "%" PRId64, number);
    pawl__table_text(table, text);
}

void
pawl__table_position(pawl_table *table, pawl_position position)
{
    if (position.known)
        pawl__table_number(table, position.offset);
    else
        pawl__table_text(table, NULL);
}

void
pawl__table_bool(pawl_table *table, bool value)
{
    pawl__table_text(table, value ? "true" : "false");
}

/* NULL: not known. */
static const char *
cell_at(const pawl_table *table, size_t row, size_t column)
{
    const GPtrArray *cells = g_ptr_array_index(table->rows, row);

    return column < cells->len ? g_ptr_array_index(cells, column) : NULL;
}

/* ----------------------------------------------------------------------------------------------------- for people -- */

/* What a cell looks like. A name out of a store may hold anything, and must not reach the terminal as a command to it. */
static char *
shown(const pawl_table *table, size_t row, size_t column)
{
    const char *cell = cell_at(table, row, column);
    GString *text;

    if (cell == NULL)
        return g_strdup("-");
    if (table->columns[column].kind == PAWL_COLUMN_BOOL)
        return g_strdup(strcmp(cell, "true") == 0 ? "yes" : "no");
    text = g_string_new(NULL);
    for (const char *c = cell; *c != '\0'; c++) {
        if (g_ascii_iscntrl(*c))
            g_string_append_printf(text, "\\x%02x", (unsigned char) *c);
        else
            g_string_append_c(text, *c);
    }
    return g_string_free(text, FALSE);
}

static size_t
characters(const char *text)
{
    return g_utf8_validate(text, -1, NULL) ? (size_t) g_utf8_strlen(text, -1) : strlen(text);
}

static size_t *
measure(const pawl_table *table)
{
    size_t *widths = g_new0(size_t, table->width);

    for (size_t c = 0; c < table->width; c++) {
        widths[c] = table->columns[c].heading != NULL ? strlen(table->columns[c].heading) : 0;
        for (size_t r = 0; r < table->rows->len; r++) {
            char *text = shown(table, r, c);

            widths[c] = MAX(widths[c], characters(text));
            g_free(text);
        }
    }
    return widths;
}

static void
add_cell(GString *line, const char *text, pawl_column_kind kind, size_t width)
{
    int padding = (int) (width - MIN(characters(text), width));

    if (kind == PAWL_COLUMN_NUMBER)
        g_string_append_printf(line, "%*s%s  ", padding, "", text);
    else
        g_string_append_printf(line, "%s%*s  ", text, padding, "");
}

static void
print_line(GString *line)
{
    while (line->len > 0 && line->str[line->len - 1] == ' ')
        g_string_truncate(line, line->len - 1);
    puts(line->str);
    g_string_truncate(line, 0);
}

void
pawl__table_print(const pawl_table *table)
{
    GString *line = g_string_new(NULL);
    size_t *widths = measure(table);

    for (size_t c = 0; c < table->width; c++)
        if (table->columns[c].heading != NULL)
            add_cell(line, table->columns[c].heading, table->columns[c].kind, widths[c]);
    print_line(line);
    for (size_t r = 0; r < table->rows->len; r++) {
        for (size_t c = 0; c < table->width; c++) {
            char *text = shown(table, r, c);

            if (table->columns[c].heading != NULL)
                add_cell(line, text, table->columns[c].kind, widths[c]);
            g_free(text);
        }
        print_line(line);
    }
    g_string_free(line, TRUE);
    g_free(widths);
}

/* ---------------------------------------------------------------------------------------------------------- JSON -- */

static void
print_json(void *user, const char *text, size_t size)
{
    fwrite(text, 1, size, user);
}

yajl_gen
pawl__json_begin(FILE *file)
{
    yajl_gen json = yajl_gen_alloc(NULL);

    yajl_gen_config(json, yajl_gen_beautify, 1);
    yajl_gen_config(json, yajl_gen_indent_string, "  ");
    yajl_gen_config(json, yajl_gen_print_callback, print_json, file);
    return json;
}

void
pawl__json_end(yajl_gen json)
{
    yajl_gen_free(json);
}

static void
put_text(yajl_gen json, const char *text)
{
    /* JSON is UTF-8; bytes that are not come out as U+FFFD. */
    char *valid = g_utf8_make_valid(text, -1);

    yajl_gen_string(json, (const unsigned char *) valid, strlen(valid));
    g_free(valid);
}

void
pawl__json_key(yajl_gen json, const char *name)
{
    put_text(json, name);
}

void
pawl__json_text(yajl_gen json, const char *name, const char *text)
{
    pawl__json_key(json, name);
    if (text != NULL)
        put_text(json, text);
    else
        yajl_gen_null(json);
}

void
pawl__json_number(yajl_gen json, const char *name, int64_t number)
{
    pawl__json_key(json, name);
    yajl_gen_integer(json, number);
}

void
pawl__json_bool(yajl_gen json, const char *name, bool value)
{
    pawl__json_key(json, name);
    yajl_gen_bool(json, value);
}

static void
put_cell(yajl_gen json, const pawl_column *column, const char *cell)
{
    if (cell == NULL)
        yajl_gen_null(json);
    else if (column->kind == PAWL_COLUMN_NUMBER)
        yajl_gen_number(json, cell, strlen(cell));
    else if (column->kind == PAWL_COLUMN_BOOL)
        yajl_gen_bool(json, strcmp(cell, "true") == 0);
    else
        put_text(json, cell);
}

void
pawl__table_to_json(const pawl_table *table, yajl_gen json)
{
    yajl_gen_array_open(json);
    for (size_t r = 0; r < table->rows->len; r++) {
        yajl_gen_map_open(json);
        for (size_t c = 0; c < table->width; c++) {
            if (table->columns[c].name == NULL)
                continue;
            pawl__json_key(json, table->columns[c].name);
            put_cell(json, &table->columns[c], cell_at(table, r, c));
        }
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
}
