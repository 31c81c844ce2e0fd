// lone.h - worlds of a batch that have what lanes cannot do, joints or faults: each is a world of its own,
// with its state among the batch's cells.
#pragma once
#include "volery/scenario.h"

/// Where a drone's action is.
typedef struct lone_seat {
    const double *action;
    uint32_t size;
    vy_rung rung;
} lone_seat;

/// Have every drone of `scenario` that is asked for intents answered by its action: rows of `size` values.
void vy_lone_seat(vy_scenario *scenario, vy_rung rung, const double *actions, uint32_t size,
                  lone_seat *seats);

/// Build the world in place of `*world` (which may be NULL), with its state at `cells`. On failure `*world`
/// stays.
vy_status vy_lone_start(const vy_scenario *scenario, void *cells, vy_world **world, vy_error *err);
