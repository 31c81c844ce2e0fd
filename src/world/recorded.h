// recorded.h - a controller that plays the motor commands or rotor speeds of a recorded flight.
#pragma once
#include "world/model.h"

/// Play what drone `index` has recorded for `tick`, if it is that far: motor commands, and where speeds were
/// recorded these too.
void vy_recorded_play(const vy_model *m, uint32_t index, uint64_t tick, drone_block *d);

/// The drones whose controllers are recorded, when they are due.
void vy_recorded_stage(const vy_model *m, const world_block *w, drone_block *drones);
