// swarm.c - Crazyflies in one world with wakes, every sensor, estimator and controller running.
//
// They hold places on a grid of 0.5 m in two layers 0.6 m apart, the upper one shifted a little: each drone
// of the lower layer flies in the wake of the one above it. The density is the same for any number of them.
#define _POSIX_C_SOURCE 200809L
#include "bench/swarm.h"
#include "bench/clock.h"
#include "volery/world.h"

enum { RUNS = 5 };

static vy_world *build(uint32_t count)
{
    vy_world_def def = vy_default_world_def();
    def.environment.wakes.on = 1;
    vy_world *world = NULL;
    if (vy_world_create(&def, &world, NULL) != VY_OK) return NULL;
    uint32_t columns = 1;
    while (columns * columns * 2 < count) ++columns;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t column = i / 2 % columns, row = i / 2 / columns, upper = i % 2;
        vy_drone_def drone = vy_default_drone_def();
        drone.position = (vy_vec3){0.5 * column + 0.02 * upper, 0.5 * row - 0.01 * upper, 1.0 + 0.6 * upper};
        if (vy_world_add_drone(world, &drone, NULL, NULL) != VY_OK) {
            vy_world_destroy(world);
            return NULL;
        }
    }
    return world;
}

static bench_result time_swarm(uint32_t count, uint64_t steps)
{
    bench_result result = {(double)count * (double)steps, 1e300, 0};
    const int runs = vy_bench_runs(RUNS);
    for (int run = 0; run < runs; ++run) {
        vy_world *world = build(count);
        if (world == NULL) return result;
        const double start = clock_seconds();
        vy_world_advance(world, steps);
        const double seconds = clock_seconds() - start;
        if (seconds < result.best_s) result.best_s = seconds;
        result.hash = vy_world_hash(world);
        vy_world_destroy(world);
    }
    return result;
}

bench_result vy_bench_swarm_10(void) { return time_swarm(10, 20000); }
bench_result vy_bench_swarm_100(void) { return time_swarm(100, 2000); }
bench_result vy_bench_swarm_1000(void) { return time_swarm(1000, 200); }
