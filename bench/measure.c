/*
 * measure.c - what both loops print about themselves, in the same way
 */
#include "measure.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static double start_s, first_s;

static double
now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static double
cpu_s(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

void
measure_start(void)
{
    start_s = now_s();
}

void
measure_first(void)
{
    first_s = now_s();
}

void
measure_end(int64_t records, int64_t bytes)
{
    printf("%" PRId64 " %" PRId64 " %.6f %.6f %.6f\n", records, bytes, now_s() - start_s, cpu_s(), first_s);
    fflush(stdout);
}
