/*
 * scan.c - rows out of the gateway's JSON
 *
 * {"Row": [{"key": K, "Cell": [{"column": C, "timestamp": 1, "$": V}, ...]}, ...]}, with K, C and V in base64. A scan tells
 * a row that is not there from one that could not be read: a plain GET answers 404 to both.
 */
#include "backends/hbase/hbase_store.h"

#include <string.h>

#include <yajl/yajl_parse.h>

/* Where in the JSON a text stands, by the number of objects around it. */
enum { IN_ANSWER = 1, IN_ROW = 2, IN_CELL = 3 };

typedef struct reader {
    int depth;
    char member; /* the first letter of the name before the value: of key, column, $ */
    pawl__hbase_cells row;
    pawl__hbase_cell cell;
    pawl__hbase_row_fn fn;
    void *user;
} reader;

/* ------------------------------------------------------------------------------------------------------- the JSON -- */

static void
clear_cell(void *user)
{
    pawl__hbase_cell *cell = user;

    g_free(cell->column);
    g_free(cell->value);
    memset(cell, 0, sizeof *cell);
}

/* A copy with a NUL behind it. */
static char *
decode(const unsigned char *text, size_t size, gsize *ret_size)
{
    char *decoded = g_malloc(size + 1);

    memcpy(decoded, text, size);
    decoded[size] = '\0';
    if (size > 0)
        g_base64_decode_inplace(decoded, ret_size);
    else
        *ret_size = 0;
    decoded[*ret_size] = '\0';
    return decoded;
}

static int
on_start(void *user)
{
    ((reader *) user)->depth++;
    return 1;
}

static int
on_name(void *user, const unsigned char *name, size_t size)
{
    ((reader *) user)->member = size > 0 ? (char) name[0] : '\0';
    return 1;
}

static int
on_text(void *user, const unsigned char *text, size_t size)
{
    reader *rd = user;
    gsize decoded_size;
    char *decoded;

    if (rd->depth < IN_ROW)
        return 1;
    decoded = decode(text, size, &decoded_size);
    if (rd->depth == IN_ROW && rd->member == 'k') {
        g_string_truncate(rd->row.key, 0);
        g_string_append_len(rd->row.key, decoded, (gssize) decoded_size);
    } else if (rd->depth == IN_CELL && rd->member == 'c') {
        g_free(rd->cell.column);
        rd->cell.column = g_steal_pointer(&decoded);
    } else if (rd->depth == IN_CELL && rd->member == '$') {
        g_free(rd->cell.value);
        rd->cell.value = g_steal_pointer(&decoded);
        rd->cell.size = decoded_size;
    }
    g_free(decoded);
    return 1;
}

static int
on_end(void *user)
{
    reader *rd = user;

    if (rd->depth == IN_CELL) {
        if (rd->cell.value == NULL)
            rd->cell.value = g_strdup("");
        if (rd->cell.column != NULL) {
            g_array_append_val(rd->row.cells, rd->cell);
            memset(&rd->cell, 0, sizeof rd->cell);
        }
        clear_cell(&rd->cell);
    } else if (rd->depth == IN_ROW) {
        rd->fn(rd->user, &rd->row);
        g_array_set_size(rd->row.cells, 0);
    }
    rd->depth--;
    return 1;
}

static pawl_status
read_rows(const GString *body, pawl__hbase_row_fn fn, void *user, pawl_error *err)
{
    static const yajl_callbacks callbacks = {
        .yajl_string = on_text, .yajl_start_map = on_start, .yajl_map_key = on_name, .yajl_end_map = on_end};
    reader rd = {.fn = fn, .user = user};
    yajl_handle json = yajl_alloc(&callbacks, NULL, &rd);
    yajl_status code;

    rd.row.key = g_string_new(NULL);
    rd.row.cells = g_array_new(FALSE, FALSE, sizeof(pawl__hbase_cell));
    g_array_set_clear_func(rd.row.cells, clear_cell);
    code = yajl_parse(json, (const unsigned char *) body->str, body->len);
    if (code == yajl_status_ok)
        code = yajl_complete_parse(json);
    yajl_free(json);
    clear_cell(&rd.cell);
    g_array_free(rd.row.cells, TRUE);
    g_string_free(rd.row.key, TRUE);
    if (code != yajl_status_ok)
        return pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, 0,
                              "what HBase's gateway answered is no JSON, or the end of it is missing");
    return PAWL_OK;
}

/* ------------------------------------------------------------------------------------------------------- the scan -- */

static void
append_key(GString *path, const GString *key)
{
    for (gsize i = 0; i < key->len; i++) {
        if (g_ascii_isalnum(key->str[i]))
            g_string_append_c(path, key->str[i]);
        else
            g_string_append_printf(path, "%%%02X", (unsigned char) key->str[i]);
    }
}

pawl_status
pawl__hbase_scan(pawl__hbase_store *store, int64_t deadline_ms, const GString *from, const GString *end, int limit,
                 pawl__hbase_row_fn fn, void *user, pawl_error *err)
{
    GString *path = g_string_new(NULL);
    pawl__hbase_answer answer;
    pawl_status status;

    g_string_printf(path, "%s/*?column=%s&limit=%d&startrow=", store->table, store->family, limit);
    append_key(path, from);
    if (end != NULL) {
        g_string_append(path, "&endrow=");
        append_key(path, end);
    }
    status = pawl__hbase_ask(store, deadline_ms, path->str, NULL, &answer, err);
    g_string_free(path, TRUE);
    if (status != PAWL_OK)
        return status;
    if (answer.code == 200)
        status = read_rows(answer.body, fn, user, err);
    else if (answer.code == 404)
        status = pawl__hbase_table_missing(store, err);
    else
        status = pawl__hbase_unexpected(store, &answer, err);
    g_string_free(answer.body, TRUE);
    return status;
}
