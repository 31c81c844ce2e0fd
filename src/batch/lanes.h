// lanes.h - what the batch and its kernels share: plain types alone, one layout for every lane width.
//
// A block is the worlds that lie side by side, as cells of one 8-byte value per lane:
//   the state, as in a world (blocks.inl), then [drone_params x drones][episode_block], which stay for an
//   episode
#pragma once
#include "world/model.h"

/// Beyond state and parameters: one cell each.
typedef struct episode_block {
    bits seed;          // of the episode
    vec3 constant_wind; // [m/s]
    bits halted;        // not 0: the episode was cut off, or there is no such world
} episode_block;

/// What every block shares.
typedef struct lanes_config {
    double dt; // [s] length of a step
    const vy_environment_def *environment;
    int has_wind; // some world has wind
    turbulence_params turbulence;
    uint64_t turbulence_period, nap_period; // [steps]; 0: never
    block_counts counts;                    // of a world's state
    uint32_t drone_count, disturbance_count;
    drone_model *drones;
    disturbance_model *disturbances;
    int has_sinusoid;     // some disturbance moves within a step
    uint64_t episode;     // [steps] after which a world is halted; 0: never
    int chain;            // 1: each step is hashed
    int rung;             // of the actions
    uint32_t action_size; // values of a drone's action
    size_t state_cells, hashed_cells, params_offset, episode_offset,
        block_cells;           // [cells] from the start of a block
    const uint8_t *is_integer; // [block_cells] of a batch in single precision: see pack.h
} lanes_config;

/// One kernel. `model` and `scratch` are memory of one thread, model_size and block_size bytes, aligned
/// to 64.
typedef struct lanes_kernel {
    const char *name;
    int width;         // worlds that lie side by side in a block
    size_t model_size; // [bytes]
    /// Write the constants to `model`.
    void (*prepare)(const lanes_config *config, void *model);
    /// Advance the worlds of `block` that run. `actions` is that of its first world; `world_count` worlds are
    /// there.
    void (*advance)(const lanes_config *config, void *model, void *scratch, uint64_t steps,
                    const double *actions, int world_count, void *block);
} lanes_kernel;

/// NULL where the compiler has no such instructions.
extern const lanes_kernel *const vy_lanes_1, *const vy_lanes_2, *const vy_lanes_4_avx2,
                                                                    *const vy_lanes_8_avx512;
/// In single precision; NULL where the library was built without a C++ compiler.
extern const lanes_kernel *const vy_lanes_single;
