// progress.c - percent, simulated time, times real time, time left.
#include "progress.h"
#include "message.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double first_update_delay = 0.4; // [s]
static const double update_period = 0.1;      // [s]

double vy_wall_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

progress vy_progress_begin(int is_wanted, uint64_t first, uint64_t last, double dt)
{
    const char *term = getenv("TERM");
    const int is_terminal = isatty(fileno(stderr)) && term != NULL && strcmp(term, "dumb") != 0;
    const double now = vy_wall_clock();
    return (progress){.is_on = is_wanted && is_terminal,
                      .dt = dt,
                      .start = now,
                      .next_update = now + first_update_delay,
                      .first = first,
                      .last = last};
}

// How far it has come and how fast: what a line is made of.
typedef struct pace {
    double done, rate, remaining; // since the beginning, a second, [s]
} pace;

// 0: no line is due.
static int measure_pace(progress *p, uint64_t done, pace *out)
{
    const double now = vy_wall_clock();
    if (!p->is_on || now < p->next_update) return 0;
    p->next_update = now + update_period;
    p->has_line = 1;
    out->done = (double)(done - p->first);
    out->rate = out->done / (now - p->start);
    out->remaining = out->rate > 0.0 ? (double)(p->last - done) / out->rate : 0.0;
    return 1;
}

void vy_progress_update(progress *p, uint64_t tick)
{
    pace current;
    if (!measure_pace(p, tick, &current)) return;
    const double total = (double)(p->last - p->first);
    fprintf(stderr, "\r\033[K%3.0f %%  %.1f s of %.1f s  %.0f times real time  %.0f s left",
            total > 0.0 ? 100.0 * current.done / total : 100.0, (double)tick * p->dt, (double)p->last * p->dt,
            current.rate * p->dt, current.remaining);
    fflush(stderr);
}

void vy_progress_count(progress *p, uint64_t done, const char *unit)
{
    pace current;
    if (!measure_pace(p, done, &current)) return;
    fprintf(stderr, "\r\033[K%3.0f %%  %" PRIu64 " of %" PRIu64 " %s  %.*f a second  %.0f s left",
            100.0 * (double)done / (double)p->last, done, p->last, unit, current.rate < 10.0 ? 1 : 0,
            current.rate, current.remaining);
    fflush(stderr);
}

void vy_progress_end(progress *p)
{
    if (p->has_line) fputs("\r\033[K", stderr);
    p->has_line = 0;
}
