/*
 * text.c - values as people write them
 */
#include "util/text.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A unit and what it is worth. A table of them ends with one without a name. */
typedef struct unit {
    const char *name;
    int64_t worth;
} unit;

/* From the largest unit down to 1, which is where from_units() stops. */
static const unit duration_units[] = {
    {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}, {NULL, 0},
};

static const unit size_units[] = {
    {"TiB", (int64_t) 1 << 40}, {"GiB", 1 << 30},   {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1},
    {"TB", 1000000000000},      {"GB", 1000000000}, {"MB", 1000000},  {"kB", 1000},     {NULL, 0},
};

static pawl_status
refuse(const char *text, const char *expected, pawl_error *err)
{
    char shown[PAWL__BYTES_TEXT_SIZE];

    return pawl_error_set(err, PAWL_INVALID, 0, 0, "\"%s\" is not %s", pawl__text_from_bytes(text, strlen(text), shown),
                          expected);
}

/* Reads the digits at *text and steps over them. False when there is none, or when they do not fit. */
static bool
take_digits(const char **text, int64_t *ret_value)
{
    const char *at = *text;
    int64_t value = 0;

    if (!g_ascii_isdigit(*at))
        return false;
    for (; g_ascii_isdigit(*at); at++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *at - '0', &value))
            return false;
    *text = at;
    *ret_value = value;
    return true;
}

/* Adds count units to *total. False when that does not fit. */
static bool
add_units(int64_t *total, int64_t count, int64_t worth)
{
    int64_t product;

    return !__builtin_mul_overflow(count, worth, &product) && !__builtin_add_overflow(*total, product, total);
}

static int64_t
unit_worth(const unit *units, const char *name)
{
    for (; units->name != NULL; units++)
        if (strcmp(units->name, name) == 0)
            return units->worth;
    return 0;
}

static void
from_units(const unit *units, int64_t value, char *text, size_t text_size)
{
    while (units->worth > 1 && value % units->worth != 0)
        units++;
    snprintf(text, text_size, "%" G_GINT64_FORMAT "%s", value / units->worth, value == 0 ? "" : units->name);
}

/* The largest unit of which there is at least one. */
static const unit *
largest_within(const unit *units, int64_t value)
{
    while (units->worth > 1 && value < units->worth)
        units++;
    return units;
}

/* "42s", "1.5s": one digit after the point, unless it is 0. */
static void
about_one_unit(const unit *of, int64_t value, char *text, size_t text_size)
{
    int64_t whole = value / of->worth;
    int tenths = (int) (value % of->worth * 10 / of->worth);

    if (tenths == 0)
        snprintf(text, text_size, "%" G_GINT64_FORMAT "%s", whole, of->name);
    else
        snprintf(text, text_size, "%" G_GINT64_FORMAT ".%d%s", whole, tenths, of->name);
}

/* ------------------------------------------------------------------------------------------------------- numbers -- */

bool
pawl__text_offset(const char *text, size_t size, int64_t *ret_offset)
{
    int64_t value = 0;

    if (size == 0 || (text[0] == '0' && size > 1))
        return false;
    for (size_t i = 0; i < size; i++)
        if (!g_ascii_isdigit(text[i]) || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text[i] - '0', &value))
            return false;
    *ret_offset = value;
    return true;
}

pawl_status
pawl__text_integer(const char *text, int64_t *ret_value, pawl_error *err)
{
    gint64 value;

    if (text[0] == '+' || !g_ascii_string_to_signed(text, 10, G_MININT64, G_MAXINT64, &value, NULL))
        return refuse(text, "a whole number", err);
    *ret_value = value;
    return PAWL_OK;
}

pawl_status
pawl__text_size(const char *text, int64_t *ret_bytes, pawl_error *err)
{
    const char *at = text;
    int64_t count, worth, bytes = 0;

    if (!take_digits(&at, &count))
        return refuse(text, "a size such as 64MiB", err);
    worth = *at == '\0' ? 1 : unit_worth(size_units, at);
    if (worth == 0 || !add_units(&bytes, count, worth))
        return refuse(text, "a size such as 64MiB (KiB, MiB, GiB, TiB; kB, MB, GB, TB; B)", err);
    *ret_bytes = bytes;
    return PAWL_OK;
}

const char *
pawl__text_from_size(int64_t bytes, char text[PAWL__SIZE_TEXT_SIZE])
{
    from_units(size_units, bytes, text, PAWL__SIZE_TEXT_SIZE);
    return text;
}

const char *
pawl__text_about_size(int64_t bytes, char text[PAWL__SIZE_TEXT_SIZE])
{
    about_one_unit(largest_within(size_units, bytes), bytes, text, PAWL__SIZE_TEXT_SIZE);
    return text;
}

pawl_status
pawl__text_flag(const char *text, bool *ret_flag, pawl_error *err)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};

    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (strcmp(text, words[i]) == 0) {
            *ret_flag = i % 2 == 1;
            return PAWL_OK;
        }
    return refuse(text, "true or false", err);
}

/* ------------------------------------------------------------------------------------------------------ durations -- */

/*
 * ISO 8601: P, days, T, hours, minutes, seconds, whole ones, each at most once and in this order. Weeks, months and
 * years are left out: the latter two have no fixed length, and nobody waits for weeks.
 */
static bool
parse_iso_duration(const char *text, int64_t *ret_ms)
{
    static const struct {
        char letter;
        bool in_time;
        int64_t worth;
    } parts[] = {{'D', false, 86400000}, {'H', true, 3600000}, {'M', true, 60000}, {'S', true, 1000}};
    const char *at = text + 1; /* after the P */
    size_t part = 0;
    bool in_time = false;
    int64_t count, total = 0;

    do {
        if (*at == 'T' && !in_time) {
            in_time = true;
            at++;
        }
        if (!take_digits(&at, &count))
            return false;
        while (part < G_N_ELEMENTS(parts) && *at != parts[part].letter)
            part++;
        if (part == G_N_ELEMENTS(parts) || parts[part].in_time != in_time)
            return false;
        if (!add_units(&total, count, parts[part].worth))
            return false;
        part++;
        at++;
    } while (*at != '\0');
    *ret_ms = total;
    return true;
}

static bool
parse_short_duration(const char *text, int64_t *ret_ms)
{
    int64_t count, worth, total = 0;

    if (!take_digits(&text, &count))
        return false;
    worth = *text == '\0' && count == 0 ? 1 : unit_worth(duration_units, text);
    if (worth == 0 || !add_units(&total, count, worth))
        return false;
    *ret_ms = total;
    return true;
}

pawl_status
pawl__text_duration(const char *text, int64_t *ret_ms, pawl_error *err)
{
    if (text[0] == 'P' ? parse_iso_duration(text, ret_ms) : parse_short_duration(text, ret_ms))
        return PAWL_OK;
    return refuse(text, "a duration such as 250ms, 10s, 5m, 2h, 1d or PT10S", err);
}

const char *
pawl__text_from_duration(int64_t ms, char text[PAWL__DURATION_TEXT_SIZE])
{
    from_units(duration_units, ms, text, PAWL__DURATION_TEXT_SIZE);
    return text;
}

const char *
pawl__text_about_duration(int64_t ms, char text[PAWL__DURATION_TEXT_SIZE])
{
    const unit *large = largest_within(duration_units, ms), *small = large + 1;
    int64_t rest = ms % large->worth;

    if (large->worth <= 1000)
        about_one_unit(large, ms < 10000 ? ms : ms - rest, text, PAWL__DURATION_TEXT_SIZE);
    else if (rest < small->worth)
        snprintf(text, PAWL__DURATION_TEXT_SIZE, "%" G_GINT64_FORMAT "%s", ms / large->worth, large->name);
    else
        snprintf(text, PAWL__DURATION_TEXT_SIZE, "%" G_GINT64_FORMAT "%s %d%s", ms / large->worth, large->name,
                 (int) (rest / small->worth), small->name);
    return text;
}

/* ---------------------------------------------------------------------------------------------------------- times -- */

/* GLib reads a local time only when it is told a zone for it. */
static bool
lacks_zone(const char *text)
{
    GTimeZone *utc = g_time_zone_new_utc();
    GDateTime *time = g_date_time_new_from_iso8601(text, utc);
    bool lacks = time != NULL;

    g_clear_pointer(&time, g_date_time_unref);
    g_time_zone_unref(utc);
    return lacks;
}

pawl_status
pawl__text_time(const char *text, int64_t *ret_ms, pawl_error *err)
{
    GDateTime *time;
    int64_t ms;

    /* Digits alone are epoch milliseconds, never a date without dashes. */
    if (pawl__text_offset(text, strlen(text), ret_ms))
        return PAWL_OK;
    time = g_date_time_new_from_iso8601(text, NULL);
    if (time == NULL && lacks_zone(text))
        return refuse(text, "a time that is the same everywhere: add Z or an offset such as +01:00", err);
    if (time == NULL)
        return refuse(text, "a time such as 2013-01-01T10:00:00Z, or milliseconds since 1970", err);
    ms = g_date_time_to_unix(time) * 1000 + g_date_time_get_microsecond(time) / 1000;
    g_date_time_unref(time);
    if (ms < 0)
        return refuse(text, "a time after 1970-01-01T00:00:00Z", err);
    *ret_ms = ms;
    return PAWL_OK;
}

const char *
pawl__text_from_time(int64_t ms, char text[PAWL__TIME_TEXT_SIZE])
{
    bool borrows = ms % 1000 < 0; /* before 1970, too, time goes forward */
    int second_ms = (int) (ms % 1000) + (borrows ? 1000 : 0);
    time_t second = (time_t) (ms / 1000 - (borrows ? 1 : 0));
    struct tm utc;
    size_t size;

    /* GDateTime ends with the year 9999; a record's timestamp may be any 64-bit number, and all of them fit here. */
    gmtime_r(&second, &utc);
    size = strftime(text, PAWL__TIME_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + size, PAWL__TIME_TEXT_SIZE - size, ".%03dZ", second_ms);
    return text;
}

/* ---------------------------------------------------------------------------------------------------------- bytes -- */

const char *
pawl__text_from_bytes(const void *bytes, size_t size, char text[PAWL__BYTES_TEXT_SIZE])
{
    enum { ESCAPE_SIZE = 4, ROOM = PAWL__BYTES_TEXT_SIZE - (int) sizeof "..." };
    const unsigned char *from = bytes;
    size_t used = 0, i;

    for (i = 0; i < size && used + ESCAPE_SIZE <= ROOM; i++) {
        if (g_ascii_isprint(from[i]) && from[i] != '\\')
            text[used++] = (char) from[i];
        else
            used += (size_t) snprintf(text + used, ESCAPE_SIZE + 1, "\\x%02x", from[i]);
    }
    strcpy(text + used, i < size ? "..." : "");
    return text;
}

size_t
pawl__text_cut(const char *text, size_t size, size_t room)
{
    if (size <= room)
        return size;
    while (room > 0 && ((unsigned char) text[room] & 0xc0) == 0x80) /* the first byte left out continues a character */
        room--;
    return room;
}

bool
pawl__text_is_secret_name(const char *name)
{
    static const char *const marks[] = {"password",   "passwd", "secret",  "token",
                                        "credential", "jaas",   "key.pem", "oauthbearer.config"};
    char *lower = g_ascii_strdown(name, -1);
    bool found = false;

    for (size_t i = 0; i < G_N_ELEMENTS(marks) && !found; i++)
        found = strstr(lower, marks[i]) != NULL;
    g_free(lower);
    return found;
}
