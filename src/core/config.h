/*
 * config.h - what a job takes out of a pawl_config
 */
#ifndef PAWL_CORE_CONFIG_H
#define PAWL_CORE_CONFIG_H

#include <glib.h>

#include <pawl/config.h>

#include "core/settings.h"

/*
 * Parses all texts and defaults into *ret_settings and checks them against each other, as pawl_config_check() does, but
 * does not ask for kafka.bootstrap.servers: a job on a source that is not Kafka has none. The caller calls
 * pawl__settings_done(); after a failure *ret_settings is untouched.
 */
pawl_status pawl__config_settings(const pawl_config *config, pawl__settings *ret_settings, pawl_error *err);

/* The librdkafka properties, name to text. Borrowed until the next pawl_config_set(). */
GHashTable *pawl__config_kafka(const pawl_config *config);

const pawl_log *pawl__config_log(const pawl_config *config);

/* A copy, for a job. */
pawl_config *pawl__config_copy(const pawl_config *config);

#endif
