/*
 * log.h - how the library's own code logs
 */
#ifndef PAWL_UTIL_LOG_H
#define PAWL_UTIL_LOG_H

#include <stdbool.h>

#include <pawl/log.h>

/* Longer messages are cut where a character ends. */
#define PAWL__LOG_MESSAGE_SIZE 2048

/* Whether a line of this level would be taken: for callers whose arguments cost something. */
bool pawl__log_takes(const pawl_log *log, pawl_log_level level);

/*
 * Hands one line to the log, stamped with the wall clock. A log that is NULL, has no function or does not take the level
 * costs nothing: no text is made. Any thread.
 */
void pawl__log(const pawl_log *log, pawl_log_level level, const char *scope, const char *format, ...) PAWL_PRINTF(4, 5);

#endif
