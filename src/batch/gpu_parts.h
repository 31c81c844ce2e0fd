// gpu_parts.h - what the GPU must know of a batch.
#pragma once
#include "batch/lanes.h"
#include "volery/batch.h"

#define GPU_OBSERVED_MOST 1024

typedef struct gpu_parts {
    const lanes_family *family;
    uint32_t worlds, noise_count, action_size, observation_size;
    int rung;
    uint64_t episode;
    uint32_t world_cells, drone_at, noise_at, nap_account_at, params_at, extra_at, block_cells; // [cells]
    const double *actions;
    double *observations;
    const uint8_t *terminated, *truncated;
} gpu_parts;

/// `observed`: the cell of a drone's block for each observed value; the top bit says a whole number.
/// @return VY_BAD_VALUE: not a batch for the GPU
vy_status vy_batch_gpu_parts(const vy_batch *batch, uint32_t noise_most, gpu_parts *out,
                             uint32_t observed[GPU_OBSERVED_MOST], vy_error *err);

/// First cell of a drone's field within a world's, and how many values it has.
/// @return VY_NOT_FOUND
vy_status vy_batch_gpu_field(const vy_batch *batch, const char *name, uint32_t *first, uint32_t *count,
                             vy_error *err);

/// Copy the cells of all worlds into blocks `width` wide, or back: state and what has ended come back.
void vy_batch_gpu_copy(vy_batch *batch, uint32_t width, uint64_t *cells, int back);
