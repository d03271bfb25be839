/*
 * places.h - the options that many commands share: where the store is, and the brokers
 */
#ifndef PAWL_CLI_PLACES_H
#define PAWL_CLI_PLACES_H

#include <pawl/log.h>
#include <pawl/store.h>

#include "cli/command.h"

/* Their values. It is the first member of the struct of values of each command that has one of these options. */
typedef struct pawl_places {
    const char *store;
    const char *group;
    const char *brokers;
    GPtrArray *kafka;
    const char *isolation;
    const char *timeout;
    bool json;
    bool execute;
    bool force;
    GPtrArray *topics;
    bool all_topics;
} pawl_places;

extern const pawl_option pawl__option_store;
extern const pawl_option pawl__option_group;
extern const pawl_option pawl__option_any_group; /* not required */
extern const pawl_option pawl__option_brokers;
extern const pawl_option pawl__option_any_brokers; /* not required */
extern const pawl_option pawl__option_kafka;
extern const pawl_option pawl__option_isolation;
extern const pawl_option pawl__option_timeout;
extern const pawl_option pawl__option_json;
extern const pawl_option pawl__option_execute;
extern const pawl_option pawl__option_force;
extern const pawl_option pawl__option_topic;
extern const pawl_option pawl__option_all_topics;

/* Warnings and errors, on standard error. */
extern const pawl_log pawl__cli_log;

/* The value of --timeout. */
pawl_status pawl__places_timeout(const pawl_places *places, int64_t *ret_ms, pawl_error *err);

/* --brokers and --kafka: names and values in turn, ended by NULL. The caller unrefs it, also after a failure. */
pawl_status pawl__places_properties(const pawl_places *places, GPtrArray **ret_properties, pawl_error *err);

/* Opens the store of --store. One that is only read is not made when it is missing. The caller closes it. */
pawl_status pawl__places_open_store(const pawl_places *places, bool read_only, pawl_store **ret_store, pawl_error *err);

#endif
