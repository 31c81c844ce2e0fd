// gpu_layout.h - the layout of a batch's cells, for the GPU.
#pragma once
#include "batch/lanes.h"
#include "batch/basic_drones.h"
#include "volery/batch.h"

#define GPU_OBSERVED_MAX 1024

typedef struct gpu_layout {
    const lanes_config *config;
    uint32_t worlds;           // how many
    uint32_t noise_count;      // noise blocks of a world
    uint32_t action_size;      // values of a world's action
    uint32_t observation_size; // values observed of a world
    int rung;                  // of the actions
    uint64_t episode;          // [steps] after which a world is halted; 0: never
    uint32_t world_cells, drone_offset, noise_offset, nap_account_offset, params_offset, episode_offset,
        block_cells;                                   // [cells]
    int is_basic;                                      // a batch of basic drones
    uint16_t randomised_cells[BASIC_RANDOMISED_COUNT]; // cells of BASIC_RANDOMISED
    const double *actions;                             // of the batch's view, and likewise:
    double *observations;
    const uint8_t *terminated, *truncated;
} gpu_layout;

/// `observed_cells`: the cell of a drone's block for each observed value; the top bit says a whole number.
/// @return VY_BAD_VALUE: not a batch for the GPU
vy_status vy_batch_gpu_layout(const vy_batch *batch, uint32_t noise_max, gpu_layout *out,
                              uint32_t observed_cells[GPU_OBSERVED_MAX], vy_error *err);

/// Is every fact of basic drones so, and does nothing else differ from world to world than may?
/// `randomised_cells` is set.
int vy_batch_gpu_is_basic(const vy_batch *batch, gpu_layout *layout);

/// First cell of a drone's field within a world's, and how many values it has.
/// @return VY_NOT_FOUND
vy_status vy_batch_gpu_field(const vy_batch *batch, const char *name, uint32_t *first, uint32_t *count,
                             vy_error *err);

/// Copy the cells of all worlds into blocks `width` wide, or back: state and what has ended come back.
void vy_batch_gpu_copy(vy_batch *batch, uint32_t width, uint64_t *cells, int to_batch);
