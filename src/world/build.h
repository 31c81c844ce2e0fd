// build.h - from declared definitions to the constants that a step reads.
#pragma once
#include "world/model.h"

/// Constants of a checked drone.
vy_status vy_drone_build(const vy_model *world, const vy_drone_def *def, drone_model *model,
                         drone_params *params, vy_error *err);

/// State of drone `index`, which has been built, at tick 0, its first samples included.
void vy_drone_start(const vy_model *world, const vy_drone_def *def, uint32_t index, drone_block *out);

/// Constants of a checked disturbance, but for its slot of noise.
void vy_disturbance_build(const vy_model *world, const vy_disturbance_def *def, disturbance_model *out);
