/*
 * pattern.h - topics by regular expression
 */
#ifndef PAWL_UTIL_PATTERN_H
#define PAWL_UTIL_PATTERN_H

#include <stdbool.h>

#include <glib.h>

#include <pawl/error.h>

/*
 * Compiles a Perl-compatible regular expression that has to match a topic's whole name, as Kafka's own consumers do it
 * and librdkafka does not. PAWL_INVALID says what is wrong and where. The caller gives it back by g_regex_unref().
 */
pawl_status pawl__pattern_new(const char *text, GRegex **ret_pattern, pawl_error *err);

/* Whether the pattern takes this topic. Kafka's internal topics are never taken: who wants them lists them. Any thread. */
bool pawl__pattern_matches(const GRegex *pattern, const char *topic);

#endif
