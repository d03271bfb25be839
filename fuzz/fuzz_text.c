/*
 * fuzz_text.c - any text as a number, a duration, a size, a time or a flag
 *
 * What was understood is written down and read again: that gives the same value.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "fuzz/target.h"
#include "util/text.h"

/* The end of the year 9999: ISO 8601 has no later times. */
#define LAST_TIME_MS INT64_C(253402300799999)

typedef pawl_status (*parse_fn)(const char *text, int64_t *ret_value, pawl_error *err);

/* False: it was refused, with a message. */
static bool
try(parse_fn parse, const char *text, int64_t *ret_value)
{
    pawl_error err = {0};

    *ret_value = INT64_MIN;
    if (parse(text, ret_value, &err) == PAWL_OK)
        return true;
    if (err.status != PAWL_INVALID || err.message[0] == '\0')
        abort();
    return false;
}

static void
must_read(parse_fn parse, const char *text, int64_t value)
{
    int64_t again;

    if (!try(parse, text, &again) || again != value)
        abort();
}

static void
try_numbers(const char *text, size_t size)
{
    int64_t value, offset;
    char written[32];

    if (pawl__text_offset(text, size, &offset)) {
        g_snprintf(written, sizeof written, "%" PRId64, offset);
        if (strcmp(written, text) != 0)
            abort();
        must_read(pawl__text_integer, text, offset);
        must_read(pawl__text_time, text, offset);
    }
    if (try(pawl__text_integer, text, &value)) {
        g_snprintf(written, sizeof written, "%" PRId64, value);
        must_read(pawl__text_integer, written, value);
    }
}

static void
try_quantities(const char *text)
{
    char duration[PAWL__DURATION_TEXT_SIZE], bytes[PAWL__SIZE_TEXT_SIZE];
    int64_t value;

    if (try(pawl__text_duration, text, &value)) {
        if (value < 0)
            abort();
        must_read(pawl__text_duration, pawl__text_from_duration(value, duration), value);
    }
    if (try(pawl__text_size, text, &value)) {
        if (value < 0)
            abort();
        must_read(pawl__text_size, pawl__text_from_size(value, bytes), value);
    }
}

static void
try_time(const char *text)
{
    char written[PAWL__TIME_TEXT_SIZE];
    int64_t value;

    if (!try(pawl__text_time, text, &value))
        return;
    if (value < 0)
        abort();
    pawl__text_from_time(value, written);
    if (value <= LAST_TIME_MS)
        must_read(pawl__text_time, written, value);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = g_strndup((const char *) data, size);
    pawl_error err = {0};
    bool flag;

    try_numbers(text, strlen(text));
    try_quantities(text);
    try_time(text);
    if (pawl__text_flag(text, &flag, &err) != PAWL_OK && err.message[0] == '\0')
        abort();
    g_free(text);
    return 0;
}
