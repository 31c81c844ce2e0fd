// progress.h - one line on a terminal that says how far long work has come.
#pragma once
#include <stdint.h>

typedef struct progress {
    int is_on;            ///< stderr is a terminal and the line is wanted
    int has_line;         ///< there is a line to wipe
    double dt;            ///< [s] of one step
    double start;         ///< [s] wall clock
    double next_update;   ///< [s] wall clock of the next update
    uint64_t first, last; ///< [steps] or what else is counted
} progress;

/// [s] of a clock that only moves forward.
double vy_wall_clock(void);

/// Begin, from step `first` to `last`. Nothing is shown in the first moments: short work stays silent.
progress vy_progress_begin(int is_wanted, uint64_t first, uint64_t last, double dt);

/// Step `tick` is reached: renew the line when it is time.
void vy_progress_update(progress *p, uint64_t tick);

/// So many of the last count of `unit` are done: how many a second, and how long it takes.
void vy_progress_count(progress *p, uint64_t done, const char *unit);

/// Wipe the line.
void vy_progress_end(progress *p);
