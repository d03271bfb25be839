/*
 * error.h - what manuals say about statuses
 */
#ifndef PAWL_UTIL_ERROR_H
#define PAWL_UTIL_ERROR_H

#include <stddef.h>

#include <pawl/error.h>

/* How many statuses there are: they are the numbers below. */
size_t pawl__status_count(void);

/* What has happened, and what to do about it, in whole sentences; a static string, never NULL. */
const char *pawl__status_meaning(pawl_status status);

/* The failure is what its message says, and counts as another one: returns the status. err may be NULL. */
pawl_status pawl__error_turn_into(pawl_error *err, pawl_status status, unsigned flags);

#endif
