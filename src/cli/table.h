/*
 * table.h - rows for people and the same rows as JSON
 *
 * A cell is a text, or NULL for what is not known: "-" for people, null in JSON. A number is kept as its decimal text, so
 * that all 64 bits of it come through.
 */
#ifndef PAWL_CLI_TABLE_H
#define PAWL_CLI_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <glib.h>
#include <yajl/yajl_gen.h>

#include <pawl/offsets.h>

typedef enum pawl_column_kind { PAWL_COLUMN_TEXT, PAWL_COLUMN_NUMBER, PAWL_COLUMN_BOOL } pawl_column_kind;

typedef struct pawl_column {
    const char *heading; /* for people; NULL: only in JSON */
    const char *name;    /* in JSON; NULL: only for people */
    pawl_column_kind kind;
} pawl_column;

typedef struct pawl_table pawl_table;

/* The columns are borrowed, and end with one that has neither heading nor name. */
pawl_table *pawl__table_new(const pawl_column *columns);
void pawl__table_free(pawl_table *table);

/* Starts a row: its cells come one by one, in the order of the columns. What is missing at its end is not known. */
void pawl__table_row(pawl_table *table);

/* Adds a cell. Copied; NULL: not known. A bool is "true" or "false". */
void pawl__table_text(pawl_table *table, const char *text);
void pawl__table_number(pawl_table *table, int64_t number);
void pawl__table_position(pawl_table *table, pawl_position position);
void pawl__table_bool(pawl_table *table, bool value);

/* Prints it to standard output, aligned. Control characters are shown as escapes. */
void pawl__table_print(const pawl_table *table);

/* Writes the rows as an array of objects. */
void pawl__table_to_json(const pawl_table *table, yajl_gen json);

/* ---------------------------------------------------------------------------------------------------------- JSON -- */

/* A writer of JSON to a file, borrowed. The caller ends it with pawl__json_end(), which adds a newline. */
yajl_gen pawl__json_begin(FILE *file);
void pawl__json_end(yajl_gen json);

/* A member of the object that is open. */
void pawl__json_key(yajl_gen json, const char *name);
void pawl__json_text(yajl_gen json, const char *name, const char *text); /* NULL: null */
void pawl__json_number(yajl_gen json, const char *name, int64_t number);
void pawl__json_bool(yajl_gen json, const char *name, bool value);

#endif
