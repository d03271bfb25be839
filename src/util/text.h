/*
 * text.h - values as people write them
 *
 * Each parser takes the whole text or fails with PAWL_INVALID and a message that shows the text and says what was
 * expected; blanks around the value are not accepted.
 */
#ifndef PAWL_UTIL_TEXT_H
#define PAWL_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pawl/error.h>

/* A decimal number without sign, blanks or leading zeros, up to 2^63-1: what a stored offset looks like. False, and
 * *ret_offset untouched, for anything else. */
bool pawl__text_offset(const char *text, size_t size, int64_t *ret_offset);

/* Any 64-bit decimal integer, with "-" before it or not. */
pawl_status pawl__text_integer(const char *text, int64_t *ret_value, pawl_error *err);

/* "250ms", "10s", "5m", "2h", "1d", or ISO 8601 "PT10S", "P1DT2H"; a bare number is refused but for 0. In
 * milliseconds, never negative. */
pawl_status pawl__text_duration(const char *text, int64_t *ret_ms, pawl_error *err);

/* "64MiB", "1GiB", "512KiB", "1000B", also "GB", "MB" and "kB" (decimal); a bare number is bytes. Never negative. */
pawl_status pawl__text_size(const char *text, int64_t *ret_bytes, pawl_error *err);

/* "true", "yes", "on", "1" and their opposites. */
pawl_status pawl__text_flag(const char *text, bool *ret_flag, pawl_error *err);

/* ISO 8601 with Z or an offset, or epoch milliseconds. A local time without a zone is refused, and so is one before 1970:
 * Kafka takes negative timestamps for questions of another kind. */
pawl_status pawl__text_time(const char *text, int64_t *ret_ms, pawl_error *err);

/* Milliseconds since 1970 as "2013-01-01T10:00:00.000Z". text has room for PAWL__TIME_TEXT_SIZE. Returns text. */
#define PAWL__TIME_TEXT_SIZE 40
const char *pawl__text_from_time(int64_t ms, char text[PAWL__TIME_TEXT_SIZE]);

/* Milliseconds as the shortest text that pawl__text_duration() reads back: "90s", "2h", "0". Returns text. */
#define PAWL__DURATION_TEXT_SIZE 40
const char *pawl__text_from_duration(int64_t ms, char text[PAWL__DURATION_TEXT_SIZE]);

/* Milliseconds that were measured, cut to what a person wants to know of them: "200ms", "1.5s", "42s", "3m 20s", "2d 4h".
 * Returns text. */
const char *pawl__text_about_duration(int64_t ms, char text[PAWL__DURATION_TEXT_SIZE]);

/* Bytes as the shortest text that pawl__text_size() reads back: "64MiB", "1000B". Returns text. */
#define PAWL__SIZE_TEXT_SIZE 40
const char *pawl__text_from_size(int64_t bytes, char text[PAWL__SIZE_TEXT_SIZE]);

/* Bytes that were counted, likewise: "512B", "1.5KiB", "64MiB". Returns text. */
const char *pawl__text_about_size(int64_t bytes, char text[PAWL__SIZE_TEXT_SIZE]);

/* Shows bytes in a message: printable ones as they are, others and the backslash as \xNN, at most a few dozen, then
 * "...". Returns text. */
#define PAWL__BYTES_TEXT_SIZE 160
const char *pawl__text_from_bytes(const void *bytes, size_t size, char text[PAWL__BYTES_TEXT_SIZE]);

/* The size to which a UTF-8 text is cut so that it has at most `room` bytes and no half character at its end. */
size_t pawl__text_cut(const char *text, size_t size, size_t room);

/* Whether what goes by this name (a librdkafka property, a URL's query parameter) is better not shown. */
bool pawl__text_is_secret_name(const char *name);

#endif
