/*
 * specs.h - partitions, offsets and ranges as they are written on a command line
 *
 * Each takes the whole text or fails with PAWL_INVALID and a message that shows it. Topics live for ever.
 */
#ifndef PAWL_CLI_SPECS_H
#define PAWL_CLI_SPECS_H

#include <glib.h>

#include <pawl/error.h>
#include <pawl/offsets.h>

/* Stands for all partitions of a topic. */
#define PAWL__ALL_PARTITIONS (-1)

/* "TOPIC" or "TOPIC:0,1,2": adds to `partitions`, of pawl_partition. */
pawl_status pawl__spec_topic(const char *text, GArray *partitions, pawl_error *err);

/* "TOPIC:PARTITION=OFFSET". */
pawl_status pawl__spec_offset(const char *text, pawl_partition *ret_partition, int64_t *ret_offset, pawl_error *err);

/* "TOPIC:PARTITION:FROM-UNTIL". */
pawl_status pawl__spec_range(const char *text, pawl_partition *ret_partition, int64_t *ret_from, int64_t *ret_until,
                             pawl_error *err);

/* Whether Kafka takes it for a topic's name: 1 to 249 letters, digits, '.', '_' and '-', but not "." and "..". */
bool pawl__topic_is_legal(const char *topic);

#endif
