/*
 * print.h - the fingerprint of a record
 *
 * Kept beside an offset, it tells whether the record before that offset is still the one that was processed: the offsets
 * of a topic that was deleted and made anew look like those of the old one.
 *
 * What is called X_print is of the record before the offset X. The way of one: a worker takes `until_print` of the last
 * record of its range; the save writes it beside `until`, and the holding keeps it beside `stored`, so that a renewal writes
 * it again, and beside `position`. The next owner loads it with the offset and has the source begin one record earlier;
 * its first range gets it as `from_print`, and the worker compares it with the record that comes first.
 */
#ifndef PAWL_CORE_PRINT_H
#define PAWL_CORE_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include <pawl/batch.h>

/* All zeros: none, which says nothing. */
typedef struct pawl__print {
    char text[sizeof "9223372036854775807-0123456789abcdef0123456789abcdef"];
} pawl__print;

static inline pawl__print
pawl__print_none(void)
{
    return (pawl__print){""};
}

static inline bool
pawl__print_is_known(const pawl__print *print)
{
    return print->text[0] != '\0';
}

/* The print of a record: its offset, and a hash of its timestamp and of the sizes and beginnings of key and value. */
pawl__print pawl__print_of(const pawl_record *record);

/*
 * The print with this text, which was stored beside an offset. None, if it is NULL, not one of ours, or not of the record
 * before that offset (which somebody has moved with tools of their own).
 */
pawl__print pawl__print_stored(const char *text, int64_t offset);

/* Whether a print is that of this record. */
bool pawl__print_is_of(const pawl__print *print, const pawl_record *record);

#endif
