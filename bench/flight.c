// flight.c - one drone on one core: the bare equations, and a whole world around them.
#include "bench/flight.h"
#include "base/hash.h"
#include "bench/clock.h"
#include "equations/multirotor.h"
#include "scenes/scenes.h"

enum { RUNS = 9, STEPS = 400000, WARMUP = 1000 };

// The bare loop: RK4 of the flight equations under a proportional controller, and nothing else.
static uint64_t kernel_loop(int steps)
{
    const double lever = 0.046 * 0.70710678118654752440;
    const rotor_layout layout = {
        4, {lever, -lever, -lever, lever}, {-lever, -lever, lever, lever}, {1.0, -1.0, 1.0, -1.0}};
    const mat3 inertia = mat3_diag(1.4e-5, 1.4e-5, 2.17e-5);
    const multirotor_params params = {
        .body = {1.0 / 0.028, inertia, mat3_inverse(inertia)},
        .rotor = {2.88e-8, 7.24e-10, 0.96721610048200536, 0.93550698503161778}, // lag 15 ms, step 1 ms
        .drag = {{0.0, 0.0, 0.0}, 1e-3},
    };
    const vec3 gravity = vec3_make(0.0, 0.0, -9.80665);
    const body_loads held = loads_zero();
    body_state s = {{0.0, 0.0, 1.0}, {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}, {0.1, -0.1, 0.05}};
    double speed[ROTOR_CAP] = {1540.0, 1540.0, 1540.0, 1540.0};
    for (int i = 0; i < steps; ++i) {
        const double u = 1543.88 - 77.0 * (s.position.z - 1.0) - 77.0 * s.velocity.z;
        const double x = 20.0 * s.rate.x, y = 20.0 * s.rate.y, z = 20.0 * s.rate.z;
        const double command[4] = {u - x + y - z, u + x + y + z, u + x - y - z, u - x - y + z};
        multirotor_step(&layout, &params, 1e-3, gravity, &held, command, &s, speed);
    }
    return vy_hash64(&s, sizeof s);
}

bench_result vy_bench_kernel(void)
{
    bench_result r = {STEPS, 1e300, 0};
    for (int run = 0; run < RUNS; ++run) {
        const double start = clock_seconds();
        r.hash = kernel_loop(STEPS);
        const double seconds = clock_seconds() - start;
        if (seconds < r.best_s) r.best_s = seconds;
    }
    return r;
}

bench_result vy_bench_scene(const char *name)
{
    bench_result r = {STEPS, 1e300, 0};
    for (int run = 0; run < RUNS; ++run) {
        vy_world *world = NULL;
        if (vy_scene_find(name)->build(1, &world, NULL) != VY_OK) return r;
        vy_world_advance(world, WARMUP);
        const double start = clock_seconds();
        vy_world_advance(world, STEPS);
        const double seconds = clock_seconds() - start;
        if (seconds < r.best_s) r.best_s = seconds;
        r.hash = vy_world_hash(world);
        vy_world_destroy(world);
    }
    return r;
}

bench_result vy_bench_baseline(void) { return vy_bench_scene("baseline"); }
bench_result vy_bench_hover(void) { return vy_bench_scene("hover"); }
