// progress.c - percent, simulated time, times real time, time left.
#include "progress.h"
#include "message.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double first_after = 0.4; // [s]
static const double period = 0.1;      // [s]

double vy_wall_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

progress vy_progress_begin(int wanted, uint64_t first, uint64_t last, double dt)
{
    const char *term = getenv("TERM");
    const int able = isatty(fileno(stderr)) && term != NULL && strcmp(term, "dumb") != 0;
    const double now = vy_wall_clock();
    return (progress){.on = wanted && able,
                      .dt = dt,
                      .start = now,
                      .next = now + first_after,
                      .first = first,
                      .last = last};
}

void vy_progress_update(progress *p, uint64_t tick)
{
    if (!p->on) return;
    const double now = vy_wall_clock();
    if (now < p->next) return;
    p->next = now + period;
    const double done = (double)(tick - p->first), all = (double)(p->last - p->first);
    const double wall = now - p->start, sim = done * p->dt;
    const double left = done > 0.0 ? wall * (all - done) / done : 0.0;
    fprintf(stderr, "\r\033[K%3.0f %%  %.1f s of %.1f s  %.0f times real time  %.0f s left",
            all > 0.0 ? 100.0 * done / all : 100.0, (double)tick * p->dt, (double)p->last * p->dt, sim / wall,
            left);
    fflush(stderr);
    p->shown = 1;
}

void vy_progress_end(progress *p)
{
    if (p->shown) fputs("\r\033[K", stderr);
    p->shown = 0;
}
