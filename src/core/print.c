/*
 * print.c - the fingerprint of a record
 *
 *     41-0123456789abcdef0123456789abcdef     its offset, and the first half of a SHA-256
 */
#include "core/print.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

/* So much of a key and of a value is looked at. */
#define BEGINNING 4096

#define DIGITS    32

static void
add_number(GChecksum *sum, int64_t number)
{
    int64_t bytes = GINT64_TO_LE(number);

    g_checksum_update(sum, (const guchar *) &bytes, sizeof bytes);
}

/* Null and empty differ. */
static void
add_bytes(GChecksum *sum, const void *bytes, size_t size)
{
    add_number(sum, bytes != NULL ? (int64_t) size : -1);
    if (bytes != NULL)
        g_checksum_update(sum, bytes, (gssize) MIN(size, BEGINNING));
}

pawl__print
pawl__print_of(const pawl_record *record)
{
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    pawl__print print;

    add_number(sum, record->timestamp_ms);
    add_bytes(sum, record->key, record->key_size);
    add_bytes(sum, record->value, record->value_size);
    g_snprintf(print.text, sizeof print.text, "%" PRId64 "-%.*s", record->offset, DIGITS, g_checksum_get_string(sum));
    g_checksum_free(sum);
    return print;
}

pawl__print
pawl__print_stored(const char *text, int64_t offset)
{
    char *start = g_strdup_printf("%" PRId64 "-", offset - 1);
    pawl__print print = pawl__print_none();

    if (text != NULL && offset > 0 && g_str_has_prefix(text, start) && strlen(text) == strlen(start) + DIGITS)
        g_strlcpy(print.text, text, sizeof print.text);
    g_free(start);
    return print;
}

bool
pawl__print_is_of(const pawl__print *print, const pawl_record *record)
{
    pawl__print own = pawl__print_of(record);

    return strcmp(print->text, own.text) == 0;
}
