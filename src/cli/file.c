/*
 * file.c - a whole file as a text
 */
#include "cli/file.h"

#include <errno.h>
#include <stdio.h>

#include <glib.h>

#define CHUNK_SIZE (64 * 1024)

/* Adds what follows in the file, and stops soon after max_size: /dev/zero has no end. */
static void
read_all(FILE *file, size_t max_size, GString *text)
{
    size_t got = 1;

    while (got > 0 && text->len <= max_size) {
        gsize before = text->len;

        g_string_set_size(text, before + CHUNK_SIZE);
        got = fread(text->str + before, 1, CHUNK_SIZE, file);
        g_string_set_size(text, before + got);
    }
}

pawl_status
pawl__file_read(const char *path, size_t max_mib, char **ret_text, size_t *ret_size, pawl_error *err)
{
    size_t max_size = max_mib * 1024 * 1024;
    FILE *file = fopen(path, "re");
    GString *text;
    pawl_status status = PAWL_OK;

    if (file == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, errno, "%s", g_strerror(errno));
    text = g_string_new(NULL);
    read_all(file, max_size, text);
    if (ferror(file))
        status = pawl_error_set(err, PAWL_INVALID, 0, errno, "%s", g_strerror(errno));
    else if (text->len > max_size)
        status = pawl_error_set(err, PAWL_INVALID, 0, 0, "it has more than %zu MiB", max_mib);
    fclose(file);
    if (status == PAWL_OK) {
        *ret_size = text->len;
        *ret_text = g_string_free(text, FALSE);
    } else {
        g_string_free(text, TRUE);
    }
    return status;
}
