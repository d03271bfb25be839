/*
 * settings_special.h - settings whose values have a grammar of their own
 *
 * The parsers that the table in settings.c names. Each replaces its fields, or fails with PAWL_INVALID and touches none.
 */
#ifndef PAWL_CORE_SETTINGS_SPECIAL_H
#define PAWL_CORE_SETTINGS_SPECIAL_H

#include "core/settings.h"

pawl_status pawl__settings_parse_topics(pawl__settings *settings, const char *text, pawl_error *err);
pawl_status pawl__settings_parse_topics_pattern(pawl__settings *settings, const char *text, pawl_error *err);
pawl_status pawl__settings_parse_partitions(pawl__settings *settings, const char *text, pawl_error *err);
pawl_status pawl__settings_parse_store(pawl__settings *settings, const char *text, pawl_error *err);
pawl_status pawl__settings_parse_start(pawl__settings *settings, const char *text, pawl_error *err);
pawl_status pawl__settings_parse_trigger(pawl__settings *settings, const char *text, pawl_error *err);
pawl_status pawl__settings_parse_takeover(pawl__settings *settings, const char *text, pawl_error *err);

void pawl__settings_free_places(pawl__settings_place *places, size_t count);

/* PAWL_INVALID when a duration is not within bounds; the message shows all three as durations. */
pawl_status pawl__settings_check_duration(int64_t ms, int64_t min_ms, int64_t max_ms, pawl_error *err);

#endif
