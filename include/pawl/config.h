/*
 * config.h - the settings of a job
 *
 * A setting has a name and a text. Names without a prefix are pawl's own (pawl-settings(5) lists them: it is made from
 * the same table that checks them); "kafka.NAME" passes NAME through to librdkafka; "user.NAME" is the program's own.
 */
#ifndef PAWL_CONFIG_H
#define PAWL_CONFIG_H

#include <pawl/error.h>
#include <pawl/log.h>
#include <pawl/visibility.h>

PAWL_BEGIN_DECLS

/* One thread at a time. */
typedef struct pawl_config pawl_config;

/* Makes an empty configuration: every setting has its default. The caller frees it; memory that runs out aborts. */
PAWL_API pawl_config *pawl_config_new(void);

/* Frees it. NULL is fine. Jobs made from it are not touched: they keep a copy. */
PAWL_API void pawl_config_free(pawl_config *config);

/*
 * Sets `name` to `value`; both are copied. A later call for the same name replaces the earlier one. An empty value for
 * topics, topics_pattern or partitions unsets it, so that a user can select otherwise than the program does.
 *
 * PAWL_INVALID: there is no such setting (the message names the nearest one), the value has the wrong form, unit or
 * range, or it is a librdkafka property that pawl owns (the message names pawl's setting for it). Nothing is changed.
 */
PAWL_API pawl_status pawl_config_set(pawl_config *config, const char *name, const char *value, pawl_error *err);

/* The text of a setting as it was set, or its default, or NULL where there is none. Borrowed until the next set. */
PAWL_API const char *pawl_config_get(const pawl_config *config, const char *name);

/* Gives the log to which jobs made from this configuration write. Copied; the default is silence. */
PAWL_API void pawl_config_set_log(pawl_config *config, const pawl_log *log);

/*
 * Checks what one setting alone cannot tell: that what is required is there and that settings agree with each other.
 * pawl_job_new() does this itself. PAWL_INVALID with the first thing that is wrong.
 */
PAWL_API pawl_status pawl_config_check(const pawl_config *config, pawl_error *err);

PAWL_END_DECLS

#endif
