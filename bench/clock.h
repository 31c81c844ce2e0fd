// clock.h - time for benchmarks.
#pragma once
#include <time.h>

static inline double clock_read(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/// CPU time of the calling thread [s], which other work on the machine disturbs little.
static inline double clock_seconds(void) { return clock_read(CLOCK_THREAD_CPUTIME_ID); }

/// Wall-clock time [s].
static inline double clock_wall_seconds(void) { return clock_read(CLOCK_MONOTONIC); }
