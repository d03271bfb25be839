/*
 * file.h - a whole file as a text
 */
#ifndef PAWL_CLI_FILE_H
#define PAWL_CLI_FILE_H

#include <stddef.h>

#include <pawl/error.h>

/*
 * Reads a file, a pipe too, to its end. A NUL is added to *ret_text, which the caller frees and which may hold others.
 * PAWL_INVALID: it cannot be read, or has more than max_mib MiB; the message does not name it.
 */
pawl_status pawl__file_read(const char *path, size_t max_mib, char **ret_text, size_t *ret_size, pawl_error *err);

/*
 * Writes a file, as a whole or not at all: what was there stays when this fails. A pipe or a device is written to as it is.
 * PAWL_FAILED; the message does not name it.
 */
pawl_status pawl__file_write(const char *path, const char *text, size_t size, pawl_error *err);

#endif
