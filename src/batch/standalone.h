// standalone.h - worlds of a batch with stages that lanes lack, such as joints or faults: each is a world of
// its own, with its state among the batch's cells.
#pragma once
#include "volery/scenario.h"

/// Where a drone's action is.
typedef struct standalone_action {
    const double *action; // its values
    uint32_t size;        // how many
    vy_rung rung;         // what they command
} standalone_action;

/// Let actions answer for every drone of `scenario` that is controlled by intents: rows of `size` values.
void vy_standalone_bind(vy_scenario *scenario, vy_rung rung, const double *actions, uint32_t size,
                        standalone_action *standalone_actions);

/// Build the world in place of `*world` (which may be NULL), with its state at `cells`. On failure `*world`
/// stays.
vy_status vy_standalone_create(const vy_scenario *scenario, void *cells, vy_world **world, vy_error *err);
