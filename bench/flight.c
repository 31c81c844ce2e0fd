// flight.c - one drone on one core: the bare equations, and a whole world around them.
#include "bench/flight.h"
#include "base/cpu.h"
#include "base/hash.h"
#include "bench/clock.h"
#include "bench/kernel_lanes.h"
#include "bench/kernel_loop.h"
#include "scenes/scenes.h"

enum { RUNS = 9, STEPS = 400000 };

static uint64_t kernel_loop(int steps, int steady)
{
    volatile uint64_t chosen =
        EFFECT_BIT(gravity) | EFFECT_BIT(drag); // known at run time only, as in a world
    volatile int way = steady;
    body_state s;
    double speed[ROTOR_CAP];
    kernel_start(&s, speed);
    kernel_fly(steps, chosen, way, &s, speed);
    return vy_hash64(&s, sizeof s);
}

static bench_result kernel(int steady)
{
    bench_result r = {STEPS, 1e300, 0};
    for (int run = 0; run < RUNS; ++run) {
        const double start = clock_seconds();
        r.hash = kernel_loop(STEPS, steady);
        const double seconds = clock_seconds() - start;
        if (seconds < r.best_s) r.best_s = seconds;
    }
    return r;
}

bench_result vy_bench_kernel(void) { return kernel(0); }
bench_result vy_bench_lanes_1(void) { return kernel(1); }

// Drones side by side: as the kernel, where this CPU has the instructions; the scalar loop elsewhere.
static bench_result lanes(kernel_lanes_fn *fly_lanes, int width, int usable)
{
    if (fly_lanes == NULL || !usable) return kernel(1);
    bench_result r = {(double)STEPS * width, 1e300, 0};
    for (int run = 0; run < RUNS; ++run) {
        const double start = clock_seconds();
        r.hash = fly_lanes(STEPS);
        const double seconds = clock_seconds() - start;
        if (seconds < r.best_s) r.best_s = seconds;
    }
    return r;
}

bench_result vy_bench_lanes_2(void) { return lanes(vy_kernel_lanes_2, 2, 1); }
bench_result vy_bench_lanes_4(void) { return lanes(vy_kernel_lanes_4_avx2, 4, vy_cpu() >= VY_CPU_AVX2); }
bench_result vy_bench_lanes_8(void) { return lanes(vy_kernel_lanes_8_avx512, 8, vy_cpu() >= VY_CPU_AVX512); }

// `flights` runs of `steps` each, repeated; the best repetition counts.
static bench_result fly(const char *name, int flights, int steps)
{
    bench_result r = {(double)flights * steps, 1e300, 0};
    for (int run = 0; run < RUNS; ++run) {
        double seconds = 0.0;
        for (int k = 0; k < flights; ++k) {
            vy_world *world = NULL;
            if (vy_scene_find(name)->build((uint64_t)k + 1, &world, NULL) != VY_OK) return r;
            const double start = clock_seconds();
            vy_world_advance(world, (uint64_t)steps);
            seconds += clock_seconds() - start;
            r.hash = vy_world_hash(world);
            vy_world_destroy(world);
        }
        if (seconds < r.best_s) r.best_s = seconds;
    }
    return r;
}

bench_result vy_bench_hover(void) { return fly("hover", 1, STEPS); }
bench_result vy_bench_world_baseline(void) { return fly("baseline", 100, 5000); }
bench_result vy_bench_world_air(void) { return fly("air", 100, 5000); }
bench_result vy_bench_world_full(void) { return fly("full", 100, 5000); }
bench_result vy_bench_world_neglected(void) { return fly("neglected", 100, 5000); }
