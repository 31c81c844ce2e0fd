// gpu.inl - the bare flight equations on a GPU, many drones: the loop of `volery bench kernel` in every thread. For the
// real of the including file, which also defines GPU_FLY (symbol) and GPU_BLOCKS.
#include "base/real.h"
// Everything is compiled into the loop, so that all of a drone stays in registers.
#undef VY_NOINLINE_FN
#define VY_NOINLINE_FN static __forceinline__ __host__ __device__
#include "bench/kernel_loop.h"
extern "C" {
#include "base/fail.h"
#include "bench/gpu.h"
}
#include <cuda_runtime.h>

#define THREADS 128

static vy_status cuda_status(cudaError_t error, vy_error *err)
{
    if (error == cudaSuccess) return VY_OK;
    return vy_fail(err, VY_IO, "GPU: %s", cudaGetErrorString(error));
}

struct bare_state {
    body_state body;
    real speed[4];
};

__global__ static void __launch_bounds__(THREADS) start_bare(uint32_t drones, real *cells)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= drones) return;
    bare_state s;
    kernel_start(&s.body, s.speed);
    for (int k = 0; k < GPU_BARE_CELLS; ++k) cells[(size_t)k * drones + i] = ((const real *)&s)[k];
}

__global__ static void __launch_bounds__(THREADS, GPU_BLOCKS)
    fly_bare(uint32_t drones, uint32_t steps, real *cells)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= drones) return;
    bare_state s;
    for (int k = 0; k < GPU_BARE_CELLS; ++k) ((real *)&s)[k] = cells[(size_t)k * drones + i];
    kernel_fly((int)steps, EFFECT_BIT(gravity) | EFFECT_BIT(drag), 1, &s.body, s.speed);
    for (int k = 0; k < GPU_BARE_CELLS; ++k) cells[(size_t)k * drones + i] = ((const real *)&s)[k];
}

vy_status GPU_FLY(uint32_t drones, uint32_t steps, uint32_t launches, double *seconds,
                  double first[GPU_BARE_CELLS], vy_error *err)
{
    void *memory = NULL;
    vy_status status = cuda_status(cudaMalloc(&memory, (size_t)drones * sizeof(bare_state)), err);
    if (status != VY_OK) return status;
    real *cells = (real *)memory;
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    *seconds = 1e300;
    const uint32_t block_count = (drones + THREADS - 1) / THREADS;
    for (int run = 0; run < 5 && status == VY_OK; ++run) {
        start_bare<<<block_count, THREADS>>>(drones, cells);
        cudaEventRecord(begin);
        for (uint32_t k = 0; k < launches; ++k) fly_bare<<<block_count, THREADS>>>(drones, steps, cells);
        cudaEventRecord(end);
        status = cuda_status(cudaEventSynchronize(end), err);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (1e-3 * (double)ms < *seconds) *seconds = 1e-3 * (double)ms;
    }
    for (int k = 0; k < GPU_BARE_CELLS && status == VY_OK; ++k) {
        real value;
        status = cuda_status(cudaMemcpy(&value, cells + (size_t)k * drones, sizeof value, cudaMemcpyDeviceToHost), err);
        first[k] = real_lane(value, 0);
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaFree(memory);
    return status;
}
