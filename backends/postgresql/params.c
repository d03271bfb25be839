/*
 * params.c - the parameters of a statement: columns of all lines as arrays
 *
 * Arrays go in the binary format (array_recv() in PostgreSQL): no text has to be quoted. A header {dimensions, has NULLs,
 * type, elements, lower bound}, then each element as {size, bytes}, -1 being the size of NULL; all numbers big-endian.
 */
#include "backends/postgresql/postgresql_store.h"

#include <string.h>

#include <glib.h>

/* The object ids of PostgreSQL's types, which never change. */
enum {
    INT8_OID = 20,
    INT4_OID = 23,
    TEXT_OID = 25,
    INT4_ARRAY_OID = 1007,
    TEXT_ARRAY_OID = 1009,
    INT8_ARRAY_OID = 1016
};

/* -------------------------------------------------------------------------------------------------- single values -- */

static void
add(pawl__pg_params *params, Oid type, const char *value, size_t length, int format, void *owned)
{
    int i = params->count++;

    g_return_if_fail(i < PAWL__PG_PARAMS);
    params->types[i] = type;
    params->values[i] = value;
    params->lengths[i] = (int) length;
    params->formats[i] = format;
    params->owned[i] = owned;
}

void
pawl__pg_add_text(pawl__pg_params *params, const char *text)
{
    add(params, TEXT_OID, text, 0, 0, NULL);
}

void
pawl__pg_add_number(pawl__pg_params *params, int64_t number)
{
    char *text = g_strdup_printf("%" G_GINT64_FORMAT, number);

    add(params, INT8_OID, text, 0, 0, text);
}

/* -------------------------------------------------------------------------------------------------------- arrays -- */

static void
append_int32(GString *array, int32_t number)
{
    guint32 bytes = GUINT32_TO_BE((guint32) number);

    g_string_append_len(array, (const char *) &bytes, sizeof bytes);
}

static void
append_int64(GString *array, int64_t number)
{
    guint64 bytes = GUINT64_TO_BE((guint64) number);

    append_int32(array, sizeof bytes);
    g_string_append_len(array, (const char *) &bytes, sizeof bytes);
}

static void
append_null(GString *array)
{
    append_int32(array, -1);
}

static GString *
array_new(Oid element, size_t count)
{
    GString *array = g_string_sized_new(20 + count * 16);

    append_int32(array, 1);
    append_int32(array, 1);
    append_int32(array, (int32_t) element);
    append_int32(array, (int32_t) count);
    append_int32(array, 1);
    return array;
}

static void
add_array(pawl__pg_params *params, Oid type, GString *array)
{
    size_t length = array->len;
    char *bytes = g_string_free(array, FALSE);

    add(params, type, bytes, length, 1, bytes);
}

/* What lies `i` lines after the first one. */
static const void *
at(const void *first, size_t stride, size_t i)
{
    return (const char *) first + i * stride;
}

void
pawl__pg_add_texts(pawl__pg_params *params, const char *const *first, size_t stride, size_t count)
{
    GString *array = array_new(TEXT_OID, count);

    for (size_t i = 0; i < count; i++) {
        const char *text = *(const char *const *) at(first, stride, i);

        if (text == NULL) {
            append_null(array);
            continue;
        }
        append_int32(array, (int32_t) strlen(text));
        g_string_append(array, text);
    }
    add_array(params, TEXT_ARRAY_OID, array);
}

void
pawl__pg_add_numbers(pawl__pg_params *params, const int64_t *first, size_t stride, size_t count)
{
    GString *array = array_new(INT8_OID, count);

    for (size_t i = 0; i < count; i++)
        append_int64(array, *(const int64_t *) at(first, stride, i));
    add_array(params, INT8_ARRAY_OID, array);
}

void
pawl__pg_add_positions(pawl__pg_params *params, const pawl_position *first, size_t stride, size_t count)
{
    GString *array = array_new(INT8_OID, count);

    for (size_t i = 0; i < count; i++) {
        const pawl_position *position = at(first, stride, i);

        if (position->known)
            append_int64(array, position->offset);
        else
            append_null(array);
    }
    add_array(params, INT8_ARRAY_OID, array);
}

void
pawl__pg_add_partitions(pawl__pg_params *params, const void *lines, size_t stride, size_t count)
{
    const pawl_partition *first = lines;
    GString *numbers = array_new(INT4_OID, count);

    pawl__pg_add_texts(params, &first->topic, stride, count);
    for (size_t i = 0; i < count; i++) {
        append_int32(numbers, sizeof(int32_t));
        append_int32(numbers, ((const pawl_partition *) at(lines, stride, i))->number);
    }
    add_array(params, INT4_ARRAY_OID, numbers);
}

void
pawl__pg_params_done(pawl__pg_params *params)
{
    for (int i = 0; i < params->count; i++)
        g_free(params->owned[i]);
    params->count = 0;
}
