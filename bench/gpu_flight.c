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
    bench_result r = {(double)DRONES * STEPS, 1e300, 0};
    double first[GPU_BARE_CELLS];
    if (vy_bench_gpu_fly(DRONES, steps, launches, &r.best_s, first, NULL) == VY_OK)
        r.hash = vy_hash64(first, sizeof(body_state));
    return r;
}

static bench_result fly_single(uint32_t steps, uint32_t launches)
{
    bench_result r = {(double)DRONES * STEPS, 1e300, 1};
    double first[GPU_BARE_CELLS], speed[ROTOR_CAP], max_error = 0.0;
    body_state s;
    kernel_start(&s, speed);
    kernel_fly(STEPS, EFFECT_BIT(gravity) | EFFECT_BIT(drag), 1, &s, speed);
    if (vy_bench_gpu_fly_single(DRONES, steps, launches, &r.best_s, first, NULL) != VY_OK) return r;
    const double truth[] = {s.position.x, s.position.y, s.position.z, s.velocity.x, s.velocity.y,
                            s.velocity.z, s.attitude.w, s.attitude.x, s.attitude.y, s.attitude.z,
                            s.rate.x,     s.rate.y,     s.rate.z};
    for (size_t k = 0; k < sizeof truth / sizeof truth[0]; ++k)
        max_error = real_max(max_error, real_abs(first[k] - truth[k]));
    if (max_error < 1e-3) r.hash = 0;
    return r;
}

bench_result vy_bench_gpu_double(void) { return fly_double(STEPS, 1); }
bench_result vy_bench_gpu_double_step(void) { return fly_double(1, STEPS); }
bench_result vy_bench_gpu_float32(void) { return fly_single(STEPS, 1); }
bench_result vy_bench_gpu_float32_step(void) { return fly_single(1, STEPS); }
