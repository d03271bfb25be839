/*
 * clock.h - the two clocks
 */
#ifndef PAWL_UTIL_CLOCK_H
#define PAWL_UTIL_CLOCK_H

#include <stdint.h>

/* Milliseconds on a clock that never jumps: for deadlines and durations. */
int64_t pawl__clock_ms(void);

/* Milliseconds since 1970, UTC: for people and stores. */
int64_t pawl__clock_wall_ms(void);

#endif
