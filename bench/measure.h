/*
 * measure.h - what both loops print about themselves, in the same way
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdint.h>

/* The loop starts: nothing has been opened yet. */
void measure_start(void);

/* The first record was handed over. */
void measure_first(void);

/* The last offsets are saved. Prints one line for bench/run:
 * records, bytes, seconds since the start, CPU-seconds since exec, time of the first record on CLOCK_MONOTONIC. */
void measure_end(int64_t records, int64_t bytes);

#endif
