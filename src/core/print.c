/*
 * print.c - the fingerprint of a record: the first half of a SHA-256, in hexadecimal digits
 */
#include "core/print.h"

#include <glib.h>
#include <string.h>

/* So much of a key and of a value is looked at. */
#define BEGINNING 4096

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
    g_strlcpy(ret_print, g_checksum_get_string(sum), PAWL__PRINT_ROOM);
    g_checksum_free(sum);
}

void
pawl__print_copy(char ret_print[PAWL__PRINT_ROOM], const char *stored)
{
    bool ours = strlen(stored) == PAWL__PRINT_ROOM - 1;

    g_strlcpy(ret_print, ours ? stored : "", PAWL__PRINT_ROOM);
}

bool
pawl__print_is_of(const char *print, const pawl_record *record)
{
    char own[PAWL__PRINT_ROOM];

    pawl__print_take(record, own);
    return strcmp(print, own) == 0;
}
