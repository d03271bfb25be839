/*
 * print.h - the fingerprint of a record
 *
 * Kept beside an offset, it tells whether the record before that offset is still the one that was processed: the offsets
 * of a topic that was deleted and made anew look like those of the old one.
 */
#ifndef PAWL_CORE_PRINT_H
#define PAWL_CORE_PRINT_H

#include <stdbool.h>

#include <pawl/batch.h>

/* Room for a print and its final zero. */
#define PAWL__PRINT_ROOM 33

/* The print of a record: of its timestamp, and of the sizes and beginnings of key and value. */
void pawl__print_take(const pawl_record *record, char ret_print[PAWL__PRINT_ROOM]);

/* Takes over a print that was stored. One that is not ours, or "", becomes "", which says nothing. */
void pawl__print_copy(char ret_print[PAWL__PRINT_ROOM], const char *stored);

/* Whether a print, not "", is that of this record. */
bool pawl__print_is_of(const char *print, const pawl_record *record);

#endif
