// delay_line.c - delay lines: put and take.
#include "world/delay_line.h"
#include "base/assert.h"
#include <string.h>

_Static_assert(sizeof(delay_line_block) == sizeof(double), "numbers in a row");

static uint64_t slot_at(const delay_line *line, uint64_t tick)
{
    VY_ASSERT(line->width > 0 && line->width <= DELAY_LINE_WIDTH);
    VY_ASSERT(tick % line->period == 0); // a line has a period and a delay, or there is none
    return line->first + tick / line->period % line->delay * (1u + line->width);
}

int vy_delay_line_take(const delay_line *line, const delay_line_block *line_cells, uint64_t tick,
                       uint64_t oldest_tick, double *values)
{
    const delay_line_block *entry = &line_cells[slot_at(line, tick)];
    const uint64_t delay_ticks = line->delay * line->period;
    if (tick <= delay_ticks || tick - delay_ticks < oldest_tick) return 0;
    if (entry->value != (double)(tick - delay_ticks)) return 0; // none was put there then
    memcpy(values, entry + 1, line->width * sizeof *values);
    return 1;
}

void vy_delay_line_put(const delay_line *line, delay_line_block *line_cells, uint64_t tick,
                       const double *values)
{
    delay_line_block *entry = &line_cells[slot_at(line, tick)];
    entry->value = (double)tick;
    memcpy(entry + 1, values, line->width * sizeof *values);
}
