// delay_line.h - delay lines of samples and replies: sensors with a delay, and faults.
#pragma once
#include <stdint.h>

enum { DELAY_LINE_WIDTH = 64 }; ///< largest number of values of a sample or reply

/// A number of the state's delay lines. An entry of a line is the tick of a sample (0: none), then its
/// values.
typedef struct delay_line_block {
    double value;
} delay_line_block;

#define FIELDS_delay_line(F, block) \
    F(block, value, NUMBER, 1, "", "of a delayed sample or reply: its tick, then its values")

/// One line. It has as many entries as its delay: a sample that arrives is replaced by the one that is sent.
typedef struct delay_line {
    uint64_t first;  // its first number in the state
    uint64_t period; // [ticks] from one sample to the next
    uint64_t delay;  // [samples]
    uint32_t width;  // values of a sample
} delay_line;

/// How many numbers a line takes.
static inline uint64_t delay_line_size(uint64_t delay, uint32_t width) { return delay * (1u + width); }

/// Take what was put on the line `delay` samples ago; before vy_delay_line_put of the same tick. `line_cells`
/// are those of all lines in the state. Returns 0, and leaves `values` unchanged, when there was no sample or
/// it is from before `oldest_tick`.
int vy_delay_line_take(const delay_line *line, const delay_line_block *line_cells, uint64_t tick,
                       uint64_t oldest_tick, double *values);

/// Put a sample of this tick on the line.
void vy_delay_line_put(const delay_line *line, delay_line_block *line_cells, uint64_t tick,
                       const double *values);
