// randomisation.h - domain randomisation: the values drawn for a world's episode.
#pragma once
#include "volery/batch.h"

/// The seed of episode `episode` of a world whose first has seed `base`.
uint64_t vy_episode_seed(uint64_t base, uint64_t episode);

/// Check one row against the scenario it varies.
vy_status vy_check_randomisation(const vy_randomisation *row, const vy_scenario *scenario, vy_error *err);

/// Apply the values drawn under `seed` to drone `drone`.
void vy_randomise_drone(const vy_randomisation *rows, int count, uint64_t seed, uint32_t drone,
                        vy_drone_def *def);

/// The constant wind under `seed` [m/s].
vy_vec3 vy_randomise_wind(const vy_randomisation *rows, int count, uint64_t seed, vy_vec3 wind);
