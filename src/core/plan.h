/*
 * plan.h - cutting ranges: (positions, log bounds, limits) -> ranges
 *
 * Pure: no I/O, no clock, no allocation. All arithmetic is exact for offsets up to 2^63-1, also where lags add up to
 * more than that.
 */
#ifndef PAWL_CORE_PLAN_H
#define PAWL_CORE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pawl/offsets.h>

/*
 * What was found of a partition. Losses are told before anything else, also of a partition that is pinned below them.
 *
 * BELOW and ABOVE have position and bounds to tell of: BELOW when position < low, ABOVE when position > high. REMADE is
 * known to the caller: the position lies inside of the log, but of another one than it was stored for.
 *
 * PENDING_ABOVE is a range that was written down and ends above the end of the log, while the position does not. What
 * was to be read again is not there: the log was cut off and made anew, or the job reads committed records now and did
 * not before. In the second case the rest comes when its transactions end, in the first it may never come. So nothing of
 * this partition is cut, since it would not be the range that was promised, and the caller goes on asking: for so long
 * as it waits for a range that makes no progress.
 *
 * Bounds that are unknown are NOTHING, and so are bounds or positions that cannot be (negative, or low > high).
 */
typedef enum pawl__plan_finding {
    PAWL__PLAN_NOTHING,       /* nothing to read now */
    PAWL__PLAN_RANGE,         /* [from, until) */
    PAWL__PLAN_BELOW,         /* the position is below the start of the log: records from..low are gone */
    PAWL__PLAN_ABOVE,         /* the position is above the end of the log */
    PAWL__PLAN_REMADE,        /* the log is another one */
    PAWL__PLAN_PENDING_ABOVE, /* a pending range cannot be read as it was */
} pawl__plan_finding;

/* One partition: what is known, then what was found. */
typedef struct pawl__plan_line {
    int64_t position;      /* the next offset to read */
    int64_t low, high;     /* of the log: first offset, and one past the last that may be read */
    bool unknown;          /* nobody tells these at the moment */
    pawl_position pin;     /* available-now: not beyond this offset */
    pawl_position pending; /* replay = exact: a range that was written down and not saved; it is cut as it was. One that
                            * ends at or below the position is over, and means nothing */
    bool remade;           /* the log is known to be another than the one that the position was stored for */

    pawl__plan_finding ret_finding;
    int64_t ret_from, ret_until; /* of a range; both are the position for other findings */
} pawl__plan_line;

typedef struct pawl__plan_limits {
    int64_t per_batch;     /* 0: none */
    int64_t per_partition; /* 0: none */
    int64_t at_least;      /* below this many offsets in all there is no batch yet; 0: none */
    bool due;              /* max_trigger_delay has passed: at_least does not count */
    uint64_t turn;         /* grows by one with each batch: who comes first when there is not enough for all */
} pawl__plan_limits;

/*
 * Fills in what is to be read of each partition and returns how many ranges there are.
 *
 * A pending range is cut as it was, [position, pending), whatever the limits, the pin and at_least say, provided that the
 * log still holds it. What it takes of the batch's limit is not there for others.
 *
 * What is left of the limit is shared among the partitions that have something to read, up to per_partition offsets each:
 * if all of it fits, all is read; else exactly the limit is used. Each gets at least one offset, and the rest in
 * proportion to what else it has to offer. With fewer offsets than partitions these take turns: as long as the same n
 * partitions have something to read, each of them gets some in any ceil(n / limit) batches in a row.
 *
 * at_least counts everything that could be read if there were no limits.
 */
size_t pawl__plan(pawl__plan_line *lines, size_t count, const pawl__plan_limits *limits);

/* Whether a finding is a loss. */
bool pawl__plan_is_loss(pawl__plan_finding finding);

#endif
