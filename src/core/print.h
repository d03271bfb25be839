/*
 * print.h - the fingerprint of a record
 *
 * Kept beside an offset, it tells whether the record before that offset is still the one that was processed: the offsets
 * of a topic that was deleted and made anew look like those of the old one.
 */
#ifndef PAWL_CORE_PRINT_H
#define PAWL_CORE_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include <pawl/batch.h>

/* Room for a print and its final zero. */
#define PAWL__PRINT_ROOM (sizeof "9223372036854775807-0123456789abcdef0123456789abcdef")

/* The print of a record: its offset, and a hash of its timestamp and of the sizes and beginnings of key and value. */
void pawl__print_take(const pawl_record *record, char ret_print[PAWL__PRINT_ROOM]);

/*
 * Takes over a print that was stored beside an offset. It becomes "", which says nothing, if it is not that of the record
 * before the offset (somebody has moved that with tools of their own), or none of ours.
 */
void pawl__print_copy(char ret_print[PAWL__PRINT_ROOM], const char *stored, int64_t offset);

/* Whether a print, not "", is that of this record. */
bool pawl__print_is_of(const char *print, const pawl_record *record);

#endif
