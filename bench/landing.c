// landing.c - a world with contacts: Crazyflies that have lost their motors, two above each other, fall onto
// tilted pads and onto the ground, bump, slide and come to rest, with every sensor and estimator running.
#define _POSIX_C_SOURCE 200809L
#include "bench/landing.h"
#include "bench/clock.h"
#include "volery/world.h"

enum { RUNS = 5, DRONES = 100, PADS = 25, STEPS = 1000 };

static int add_drones(vy_world *world)
{
    for (uint32_t i = 0; i < DRONES; ++i) {
        const uint32_t column = i / 2 % 10, row = i / 20, upper = i % 2;
        vy_drone_def drone = vy_default_drone_def();
        drone.controller.kind = VY_CONTROLLER_NONE;
        drone.controller.start = (vy_intent){.rung = VY_RUNG_MOTORS};
        drone.rotor_speed = 0.0;
        drone.position = (vy_vec3){0.2 * column + 0.02 * upper, 0.2 * row, 0.2 + 0.1 * upper};
        drone.rate = (vy_vec3){0.1 * column, 0.1 * row, 0.5};
        if (vy_world_add_drone(world, &drone, NULL, NULL) != VY_OK) return 0;
    }
    return 1;
}

static int add_obstacles(vy_world *world)
{
    const vy_obstacle_def ground = vy_default_obstacle_def();
    if (vy_world_add_obstacle(world, &ground, NULL) != VY_OK) return 0;
    for (uint32_t i = 0; i < PADS; ++i) { // below every other column
        const uint32_t column = i % 5, row = i / 5;
        vy_obstacle_def pad = vy_default_obstacle_def();
        pad.solid.kind = VY_COLLIDER_BOX;
        pad.solid.size = (vy_vec3){0.12, 0.12, 0.06};
        pad.position = (vy_vec3){0.4 * column, 0.2 * row, 0.03};
        pad.attitude = (vy_quat){1.0, 0.02 * column, 0.02 * row, 0.1};
        if (vy_world_add_obstacle(world, &pad, NULL) != VY_OK) return 0;
    }
    return 1;
}

static vy_world *build(void)
{
    vy_world_def def = vy_default_world_def();
    def.contacts.on = 1;
    vy_world *world = NULL;
    if (vy_world_create(&def, &world, NULL) != VY_OK) return NULL;
    if (!add_drones(world) || !add_obstacles(world)) {
        vy_world_destroy(world);
        return NULL;
    }
    return world;
}

bench_result vy_bench_landing(void)
{
    bench_result result = {(double)DRONES * STEPS, 1e300, 0};
    const int runs = vy_bench_runs(RUNS);
    for (int run = 0; run < runs; ++run) {
        vy_world *world = build();
        if (world == NULL) return result;
        const double start = clock_seconds();
        vy_world_advance(world, STEPS);
        const double seconds = clock_seconds() - start;
        if (seconds < result.best_s) result.best_s = seconds;
        result.hash = vy_world_hash(world);
        vy_world_destroy(world);
    }
    return result;
}
