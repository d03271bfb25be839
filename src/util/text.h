/*
 * text.h - values as people write them
 *
 * Each parser takes the whole text or fails with PAWL_INVALID and a message that says what was expected; blanks around
 * the value are not accepted.
 */
#ifndef PAWL_UTIL_TEXT_H
#define PAWL_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pawl/error.h>

/* A decimal number without sign, blanks or leading zeros: what a stored offset looks like. False for anything else. */
bool pawl__text_offset(const char *text, size_t size, int64_t *ret_offset);

/* Any 64-bit decimal integer. */
pawl_status pawl__text_integer(const char *text, int64_t *ret_value, pawl_error *err);

/* "250ms", "10s", "5m", "2h", "1d", or ISO 8601 "PT10S"; a bare number is refused but for 0. In milliseconds. */
pawl_status pawl__text_duration(const char *text, int64_t *ret_ms, pawl_error *err);

/* "64MiB", "1GiB", "512KiB", "1000B", also "MB" and "kB" (decimal); a bare number is bytes. */
pawl_status pawl__text_size(const char *text, int64_t *ret_bytes, pawl_error *err);

/* "true", "yes", "on", "1" and their opposites. */
pawl_status pawl__text_flag(const char *text, bool *ret_flag, pawl_error *err);

/* ISO 8601 with Z or an offset, or epoch milliseconds. A local time without a zone is refused. */
pawl_status pawl__text_time(const char *text, int64_t *ret_ms, pawl_error *err);

/* Milliseconds since 1970 as "2013-01-01T10:00:00.000Z". text has room for PAWL__TIME_TEXT_SIZE. Returns text. */
#define PAWL__TIME_TEXT_SIZE 32
const char *pawl__text_from_time(int64_t ms, char text[PAWL__TIME_TEXT_SIZE]);

/* Shows bytes in a message: printable ones as they are, others as \xNN, at most a few dozen, then "...". Returns text. */
#define PAWL__BYTES_TEXT_SIZE 160
const char *pawl__text_from_bytes(const void *bytes, size_t size, char text[PAWL__BYTES_TEXT_SIZE]);

#endif
