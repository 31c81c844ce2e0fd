// gpu_none.c - a program built without CUDA says so.
#include "base/fail.h"
#include "bench/gpu.h"

static vy_status no_gpu(vy_error *err)
{
    return vy_fail(err, VY_NOT_FOUND, "GPU: this program was built without CUDA (cmake -DVOLERY_CUDA=ON)");
}

vy_status vy_bench_gpu_fly(uint32_t drones, uint32_t steps, uint32_t launches, double *seconds,
                           double first[GPU_BARE_CELLS], vy_error *err)
{
    (void)drones;
    (void)steps;
    (void)launches;
    (void)seconds;
    (void)first;
    return no_gpu(err);
}

vy_status vy_bench_gpu_fly_single(uint32_t drones, uint32_t steps, uint32_t launches, double *seconds,
                                  double first[GPU_BARE_CELLS], vy_error *err)
{
    return vy_bench_gpu_fly(drones, steps, launches, seconds, first, err);
}
