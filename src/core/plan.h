/*
 * plan.h - cutting ranges: (positions, log bounds, limits) -> ranges
 *
 * Pure: no I/O, no clock, no allocation that fails quietly. All arithmetic is exact for offsets up to 2^63-1.
 */
#ifndef PAWL_CORE_PLAN_H
#define PAWL_CORE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pawl/offsets.h>

typedef enum pawl__plan_finding {
    PAWL__PLAN_NOTHING, /* nothing to read now */
    PAWL__PLAN_RANGE,   /* [from, until) */
    PAWL__PLAN_BELOW,   /* the position is below the start of the log: records from..low are gone */
    PAWL__PLAN_ABOVE,   /* the position is above the end of the log */
} pawl__plan_finding;

/* One partition: what is known, then what was found. */
typedef struct pawl__plan_line {
    int64_t position;      /* the next offset to read */
    int64_t low, high;     /* of the log: first offset, and one past the last that may be read */
    pawl_position pin;     /* available-now: not beyond this offset */
    pawl_position pending; /* replay = exact: a range that was written down and not saved; it is cut as it was */

    pawl__plan_finding ret_finding;
    int64_t ret_from, ret_until; /* of a range */
} pawl__plan_line;

typedef struct pawl__plan_limits {
    int64_t per_batch;     /* 0: none */
    int64_t per_partition; /* 0: none */
    int64_t at_least;      /* below this many offsets in all there is no batch yet; 0: none */
    bool due;              /* max_trigger_delay has passed: at_least does not count */
    uint64_t turn;         /* grows with each batch: who comes first when there is less than one offset a partition */
} pawl__plan_limits;

/*
 * Fills in what is to be read of each partition and returns how many ranges there are. The batch's limit is shared in
 * proportion to what each partition has to offer: the shares never exceed it, none is rounded down to nothing, and with
 * fewer offsets than partitions they take turns. Findings BELOW and ABOVE take no share. A pending range is cut as it
 * was, whatever the limits, provided that the log still holds it.
 */
size_t pawl__plan(pawl__plan_line *lines, size_t count, const pawl__plan_limits *limits);

#endif
