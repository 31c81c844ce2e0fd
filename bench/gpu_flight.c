// gpu_flight.c - the bare equations of a million drones on a GPU.
#include "bench/gpu_flight.h"
#include "base/hash.h"
#include "bench/gpu.h"
#include "bench/kernel_loop.h"

enum { DRONES = 1 << 20, STEPS = 500 };

vy_status vy_bench_gpu_ready(vy_error *err)
{
    double seconds, first[GPU_BARE_CELLS];
    return vy_bench_gpu_fly(1, 1, 1, &seconds, first, err);
}

static bench_result fly_double(uint32_t steps, uint32_t launches)
{
    bench_result result = {(double)DRONES * STEPS, 1e300, 0};
    double first[GPU_BARE_CELLS];
    if (vy_bench_gpu_fly(DRONES, steps, launches, &result.best_s, first, NULL) == VY_OK)
        result.hash = vy_hash64(first, sizeof(body_state));
    return result;
}

static bench_result fly_single(uint32_t steps, uint32_t launches)
{
    bench_result result = {(double)DRONES * STEPS, 1e300, 1};
    double first[GPU_BARE_CELLS], speed[ROTOR_CAP], max_error = 0.0;
    body_state state;
    kernel_start(&state, speed);
    kernel_fly(STEPS, EFFECT_BIT(gravity) | EFFECT_BIT(drag), 1, &state, speed);
    if (vy_bench_gpu_fly_single(DRONES, steps, launches, &result.best_s, first, NULL) != VY_OK) return result;
    const double expected[] = {state.position.x, state.position.y, state.position.z, state.velocity.x,
                               state.velocity.y, state.velocity.z, state.attitude.w, state.attitude.x,
                               state.attitude.y, state.attitude.z, state.rate.x,     state.rate.y,
                               state.rate.z};
    for (size_t k = 0; k < sizeof expected / sizeof expected[0]; ++k)
        max_error = real_max(max_error, real_abs(first[k] - expected[k]));
    if (max_error < 1e-3) result.hash = 0;
    return result;
}

bench_result vy_bench_gpu_double(void) { return fly_double(STEPS, 1); }
bench_result vy_bench_gpu_double_step(void) { return fly_double(1, STEPS); }
bench_result vy_bench_gpu_float32(void) { return fly_single(STEPS, 1); }
bench_result vy_bench_gpu_float32_step(void) { return fly_single(1, STEPS); }
