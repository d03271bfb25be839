/*
 * measure.h - the memory of this process
 */
#ifndef PAWL_TESTS_MEASURE_H
#define PAWL_TESTS_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

/* Gives free memory back, forgets the peak so far, and gives what is resident now, in bytes. */
int64_t measure_reset_peak(void);

/* The most that was resident since the last reset, in bytes. */
int64_t measure_peak(void);

/* Whether a sanitizer makes these numbers useless. */
bool measure_is_blurred(void);

#endif
