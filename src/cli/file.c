/*
 * file.c - a whole file as a text
 */
#include "cli/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

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

/* Writes all of it and closes the descriptor; with `safely`, not before the disk has it. False, with errno: it failed. */
static bool
write_and_close(int fd, const char *text, size_t size, bool safely)
{
    bool written = fd >= 0;
    int code;

    while (written && size > 0) {
        ssize_t count = write(fd, text, size);

        written = count >= 0 || errno == EINTR;
        text += MAX(count, 0);
        size -= (size_t) MAX(count, 0);
    }
    written = written && (!safely || fsync(fd) == 0);
    code = errno;
    if (fd >= 0 && close(fd) != 0 && written)
        return false;
    errno = code;
    return written;
}

/* Writes a file beside the one that is to be, which then takes its place. */
static bool
replace(const char *path, mode_t mode, const char *text, size_t size)
{
    char *temporary = g_strconcat(path, ".XXXXXX", NULL);
    int fd = g_mkstemp_full(temporary, O_WRONLY | O_CLOEXEC, (int) mode);
    bool replaced = write_and_close(fd, text, size, true) && rename(temporary, path) == 0;
    int code = errno;

    if (fd >= 0 && !replaced)
        unlink(temporary);
    g_free(temporary);
    errno = code;
    return replaced;
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

pawl_status
pawl__file_write(const char *path, const char *text, size_t size, pawl_error *err)
{
    mode_t mode;
    char *target = find_replaceable(path, &mode);
    bool written;

    if (target != NULL)
        written = replace(target, mode, text, size);
    else
        written = write_and_close(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode), text, size, false);
    if (!written)
        pawl_error_set(err, PAWL_FAILED, 0, errno, "%s", g_strerror(errno));
    free(target);
    return written ? PAWL_OK : PAWL_FAILED;
}
