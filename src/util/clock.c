/*
 * clock.c - the two clocks
 *
 * CLOCK_MONOTONIC does not count the time a machine sleeps. That is what deadlines want: a laptop that wakes up should
 * go on with its batch, not find every deadline passed.
 */
#include "util/clock.h"

#include <time.h>

static int64_t
read_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now); /* cannot fail: both clocks exist and &now is valid */
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t
pawl__clock_ms(void)
{
    return read_ns(CLOCK_MONOTONIC) / 1000000;
}

int64_t
pawl__clock_wall_ms(void)
{
    return read_ns(CLOCK_REALTIME) / 1000000;
}
