// build.c - from a resolved scenario to a world.
#include "scenario/build.h"
#include "base/real.h"

static vy_status add_all(const vy_scenario *s, vy_world *world, const void **culprit, vy_error *err)
{
    for (int i = 0; i < s->drone_count; ++i) {
        *culprit = &s->drones[i].def;
        const vy_status status = vy_world_add_drone(world, &s->drones[i].def, NULL, err);
        if (status != VY_OK) return status;
    }
    for (int i = 0; i < s->disturbance_count; ++i) {
        vy_disturbance_def def = s->disturbances[i].def;
        const int drone = s->disturbances[i].drone;
        def.drone = drone == VY_EVERY_DRONE ? VY_ALL_DRONES : vy_world_drone(world, (uint32_t)drone);
        *culprit = &s->disturbances[i].def;
        const vy_status status = vy_world_add_disturbance(world, &def, err);
        if (status != VY_OK) return status;
    }
    return VY_OK;
}

vy_status vy_scenario_build_checked(const vy_scenario *scenario, vy_world **out, const void **culprit,
                                    vy_error *err)
{
    vy_world_def def = vy_default_world_def();
    def.dt = scenario->step;
    def.seed = scenario->seed;
    def.environment = scenario->environment;
    def.drone_cap = (uint32_t)scenario->drone_count;
    def.disturbance_cap = (uint32_t)scenario->disturbance_count;
    *culprit = scenario;
    *out = NULL;
    vy_world *world = NULL;
    vy_status status = vy_world_create(&def, &world, err);
    if (status == VY_OK) status = add_all(scenario, world, culprit, err);
    if (status != VY_OK) {
        vy_world_destroy(world);
        return status;
    }
    *out = world;
    return VY_OK;
}

vy_status vy_scenario_build(const vy_scenario *scenario, vy_world **out, vy_error *err)
{
    const void *culprit;
    return vy_scenario_build_checked(scenario, out, &culprit, err);
}

uint64_t vy_scenario_steps(const vy_scenario *scenario)
{
    const double steps = scenario->duration / scenario->step;
    return steps < 0x1p51 ? (uint64_t)real_round(steps) : (uint64_t)1 << 51;
}
