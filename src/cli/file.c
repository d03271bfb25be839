/*
 * file.c - a whole file as a text
 */
#include "cli/file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <glib.h>
#include <glib/gstdio.h>

#define CHUNK_SIZE (64 * 1024)

/* -------------------------------------------------------------------------------------------------------- reading -- */

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

/* -------------------------------------------------------------------------------------------------------- writing -- */

/* A device or a pipe, which nothing can replace. */
static bool
write_in_place(const char *path, const char *text, size_t size)
{
    FILE *file = g_fopen(path, "we");
    bool written = file != NULL && fwrite(text, 1, size, file) == size;
    int code = errno;

    if (file != NULL && fclose(file) != 0 && written)
        return false;
    errno = code;
    return written;
}

/*
 * Where a path leads to, if what is there may be replaced: a plain file, or nothing yet. Else NULL: a device, a pipe, a link
 * to nowhere. The caller frees it.
 */
static char *
find_replaceable(const char *path, mode_t *ret_mode)
{
    struct stat found;
    char *target;

    *ret_mode = 0666;
    if (lstat(path, &found) != 0)
        return strdup(path);
    target = realpath(path, NULL); /* a link stays one */
    if (target == NULL || stat(target, &found) != 0 || !S_ISREG(found.st_mode)) {
        free(target);
        return NULL;
    }
    *ret_mode = found.st_mode & 0777;
    return target;
}

static pawl_status
replace(const char *path, mode_t mode, const char *text, size_t size, pawl_error *err)
{
    GFileSetContentsFlags flags = G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE;
    GError *failure = NULL;
    char *reason;

    if (g_file_set_contents_full(path, text, (gssize) size, flags, (int) mode, &failure))
        return PAWL_OK;
    reason = strrchr(failure->message, ':'); /* what stands before names the file in between, which nobody knows */
    pawl_error_set(err, PAWL_FAILED, 0, 0, "%s", reason != NULL ? g_strchug(reason + 1) : failure->message);
    g_error_free(failure);
    return PAWL_FAILED;
}

pawl_status
pawl__file_write(const char *path, const char *text, size_t size, pawl_error *err)
{
    mode_t mode;
    char *target = find_replaceable(path, &mode);
    pawl_status status = PAWL_OK;

    if (target != NULL)
        status = replace(target, mode, text, size, err);
    else if (!write_in_place(path, text, size))
        status = pawl_error_set(err, PAWL_FAILED, 0, errno, "%s", g_strerror(errno));
    free(target);
    return status;
}
