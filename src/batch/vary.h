// vary.h - what is drawn for a world's episode.
#pragma once
#include "volery/batch.h"

/// The seed of episode `episode` of a world whose first has seed `base`.
uint64_t vy_episode_seed(uint64_t base, uint64_t episode);

/// Check one row against the scenario it varies.
vy_status vy_check_vary(const vy_vary *vary, const vy_scenario *scenario, vy_error *err);

/// Apply what the rows draw under `seed` to drone `drone`.
void vy_vary_drone(const vy_vary *rows, int count, uint64_t seed, uint32_t drone, vy_drone_def *def);

/// The constant wind under `seed` [m/s].
vy_vec3 vy_vary_wind(const vy_vary *rows, int count, uint64_t seed, vy_vec3 wind);
