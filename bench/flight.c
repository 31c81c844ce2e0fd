// flight.c - one drone on one core: the bare equations, and a whole world around them.
#include "bench/flight.h"
#include "base/hash.h"
#include "bench/clock.h"
#include "equations/multirotor.h"
#include "scenes/scenes.h"

enum { RUNS = 9, STEPS = 400000 };

// The bare loop: RK4 of the flight equations under a proportional controller, and nothing else. Which effects
// are computed is known at run time only, as in a world.
static uint64_t kernel_loop(int steps)
{
    volatile uint64_t chosen = EFFECT_BIT(gravity) | EFFECT_BIT(drag);
    const uint64_t effects = chosen;
    const double lever = 0.046 * 0.70710678118654752440;
    const rotor_layout layout = {.count = 4,
                                 .roll = {lever, -lever, -lever, lever},
                                 .pitch = {-lever, -lever, lever, lever},
                                 .yaw = {1.0, -1.0, 1.0, -1.0}};
    const mat3 inertia = mat3_diag(1.4e-5, 1.4e-5, 2.17e-5);
    const multirotor_params params = {
        .body = {1.0 / 0.028, inertia, mat3_inverse(inertia)},
        .rotor = {2.88e-8, 7.24e-10, 0.96721610048200536, 0.93550698503161778}, // lag 15 ms, step 1 ms
        .effects = {.mass = 0.028, .drag_area = 2e-3 / 1.225},
    };
    const surroundings env = {.gravity = {.uniform = {0.0, 0.0, -9.80665}},
                              .air = {ATMOSPHERE_STANDARD, 101325.0, 288.15, 1.225}};
    const multirotor_inputs in = {
        .layout = &layout,
        .params = &params,
        .env = &env,
        .held = {loads_zero(), {0.0, 0.0, 0.0}, 0.0},
        .flags = effects,
    };
    body_state s = {{0.0, 0.0, 1.0}, {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}, {0.1, -0.1, 0.05}};
    double speed[ROTOR_CAP] = {1540.0, 1540.0, 1540.0, 1540.0};
    for (int i = 0; i < steps; ++i) {
        const double u = 1543.88 - 77.0 * (s.position.z - 1.0) - 77.0 * s.velocity.z;
        const double x = 20.0 * s.rate.x, y = 20.0 * s.rate.y, z = 20.0 * s.rate.z;
        const double command[4] = {u - x + y - z, u + x + y + z, u + x - y - z, u - x - y + z};
        multirotor_step(&in, 1e-3, command, &s, speed);
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
