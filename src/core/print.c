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

void
pawl__print_take(const pawl_record *record, char ret_print[PAWL__PRINT_ROOM])
{
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);

    add_number(sum, record->timestamp_ms);
    add_bytes(sum, record->key, record->key_size);
    add_bytes(sum, record->value, record->value_size);
    g_snprintf(ret_print, PAWL__PRINT_ROOM, "%" PRId64 "-%.*s", record->offset, DIGITS, g_checksum_get_string(sum));
    g_checksum_free(sum);
}

void
pawl__print_copy(char ret_print[PAWL__PRINT_ROOM], const char *stored, int64_t offset)
{
    char *start = g_strdup_printf("%" PRId64 "-", offset - 1);
    bool fits = g_str_has_prefix(stored, start) && strlen(stored) == strlen(start) + DIGITS;

    g_strlcpy(ret_print, fits ? stored : "", PAWL__PRINT_ROOM);
    g_free(start);
}

bool
pawl__print_is_of(const char *print, const pawl_record *record)
{
    char own[PAWL__PRINT_ROOM];

    pawl__print_take(record, own);
    return strcmp(print, own) == 0;
}
