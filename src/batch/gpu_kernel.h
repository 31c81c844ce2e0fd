// gpu_kernel.h - what the host's side of the GPU and its kernels share: plain types, one layout for each
// precision.
#pragma once
#include "batch/gpu_layout.h"

struct vy_gpu;

#define GPU_WARP      32
#define GPU_NOISE_MAX 8

/// Device memory, but for `layout`.
typedef struct gpu_job {
    gpu_layout layout;
    const void *model;
    uint64_t *cells;                // blocks of GPU_WARP worlds, as in lanes.h with cells that wide
    const double *actions;          // [worlds][action_size]
    double *observations;           // [worlds][observation_size]
    uint8_t *ended;                 // terminated, then truncated, of each world
    const uint32_t *observed_cells; // [observation_size] as from vy_batch_gpu_layout()
    const uint8_t *is_integer;      // of single precision: which cells are whole numbers
    uint64_t steps;                 // of one launch
} gpu_job;

/// One precision.
typedef struct gpu_kernel {
    size_t model_size; // [bytes]
    /// The model of a batch, whose drones and disturbances are already there.
    void (*prepare)(const lanes_config *config, void *model);
    /// Launch `steps` steps of every world.
    void (*advance)(const gpu_job *job, void *stream);
} gpu_kernel;

extern const gpu_kernel vy_gpu_double, vy_gpu_single;

/// The same for batches of basic drones alone (basic_drones.h).
typedef struct gpu_basic_kernel {
    size_t constants_size; // [bytes]
    /// From the batch, and the cells of its first world's drone_params.
    void (*prepare)(const lanes_config *config, const void *first_params, void *constants);
    /// Before the first launch.
    void (*configure)(void); // sets how much shared memory a block may have
    void (*advance)(const gpu_job *job, const void *constants, void *stream);
} gpu_basic_kernel;

extern const gpu_basic_kernel vy_gpu_basic_double, vy_gpu_basic_single;

/// Step with the general kernel from now on, also batches of basic drones: for comparisons.
void vy_gpu_use_general_kernel(struct vy_gpu *gpu);
