// build.c - from a resolved scenario to a world.
#include "scenario/build.h"
#include "base/real.h"
#include "world/sensor_suite.h"

enum { BOUNDS = 5 };

// The rigid engine has a floor and walls where the simple one clamps.
static vy_status add_bounds(const vy_scenario *s, vy_world *world, vy_error *err)
{
    const double r = 0.70710678118654752, far = s->environment.physics.boundary;
    // Turns of +z to up, east, west, north, south: planes face inwards.
    const vy_quat turns[BOUNDS] = {{1, 0, 0, 0}, {r, 0, r, 0}, {r, 0, -r, 0}, {r, -r, 0, 0}, {r, r, 0, 0}};
    const vy_vec3 places[BOUNDS] = {{0, 0, 0}, {-far, 0, 0}, {far, 0, 0}, {0, -far, 0}, {0, far, 0}};
    vy_status status = VY_OK;
    for (int i = 0; i < BOUNDS && status == VY_OK; ++i) {
        vy_obstacle_def wall = vy_default_obstacle_def();
        wall.position = places[i];
        wall.attitude = turns[i];
        status = vy_world_add_obstacle(world, &wall, err);
    }
    return status;
}

static vy_status add_all(const vy_scenario *s, vy_world *world, const void **culprit, vy_error *err)
{
    for (int i = 0; i < s->drone_count; ++i) {
        *culprit = &s->drones[i].def;
        const vy_status status = vy_world_add_drone(world, &s->drones[i].def, NULL, err);
        if (status != VY_OK) return status;
    }
    for (int i = 0; i < s->body_count; ++i) {
        *culprit = &s->bodies[i].def;
        const vy_status status = vy_world_add_body(world, &s->bodies[i].def, NULL, err);
        if (status != VY_OK) return status;
    }
    for (int i = 0; i < s->obstacle_count; ++i) {
        *culprit = &s->obstacles[i].def.solid.kind;
        const vy_status status = vy_world_add_obstacle(world, &s->obstacles[i].def, err);
        if (status != VY_OK) return status;
    }
    if (s->terrain.solid.kind != VY_SOLID_NONE) {
        *culprit = &s->terrain.solid.kind;
        const vy_status status = vy_world_add_obstacle(world, &s->terrain, err);
        if (status != VY_OK) return status;
    }
    if (s->environment.physics.engine == VY_ENGINE_RIGID) {
        *culprit = &s->environment.physics;
        const vy_status status = add_bounds(s, world, err);
        if (status != VY_OK) return status;
    }
    for (int i = 0; i < s->joint_count; ++i) {
        const vy_scenario_joint *joint = &s->joints[i];
        vy_joint_def def = joint->def;
        def.body_a = vy_world_body(world, (uint32_t)joint->a);
        def.body_b = vy_world_body(world, (uint32_t)joint->b);
        *culprit = &joint->def.kind;
        const vy_status status = vy_world_add_joint(world, &def, NULL, err);
        if (status != VY_OK) return status;
    }
    for (int i = 0; i < s->payload_count; ++i) {
        vy_payload_def def = s->payloads[i].def;
        def.carrier = vy_world_drone(world, (uint32_t)s->payloads[i].carrier);
        def.load = vy_world_body(world, (uint32_t)s->payloads[i].load);
        *culprit = &s->payloads[i].carrier;
        const vy_status status = vy_world_add_payload(world, &def, err);
        if (status != VY_OK) return status;
    }
    for (int i = 0; i < s->disturbance_count; ++i) {
        vy_disturbance_def def = s->disturbances[i].def;
        const int drone = s->disturbances[i].drone;
        def.body = drone == VY_EVERY_DRONE ? VY_ALL_BODIES : vy_world_body(world, (uint32_t)drone);
        *culprit = &s->disturbances[i].def;
        const vy_status status = vy_world_add_disturbance(world, &def, err);
        if (status != VY_OK) return status;
    }
    for (int i = 0; i < s->fault_count; ++i) {
        vy_fault_def def = s->faults[i].def;
        const int drone = s->faults[i].drone;
        def.drone = drone == VY_EVERY_DRONE ? VY_ALL_DRONES : vy_world_drone(world, (uint32_t)drone);
        *culprit = &s->faults[i].def;
        const vy_status status = vy_world_add_fault(world, &def, err);
        if (status != VY_OK) return status;
    }
    return VY_OK;
}

static int collides(const vy_scenario *s)
{
    int solids = s->obstacle_count + (s->terrain.solid.kind != VY_SOLID_NONE);
    solids += s->environment.physics.engine == VY_ENGINE_RIGID;
    for (int i = 0; i < s->drone_count; ++i) solids += s->drones[i].def.solid.kind > VY_SOLID_NONE;
    for (int i = 0; i < s->body_count; ++i) solids += s->bodies[i].def.solid.kind > VY_SOLID_NONE;
    return s->contacts.mode == VY_CONTACTS_ON || (s->contacts.mode == VY_CONTACTS_AUTO && solids > 0);
}

vy_status vy_scenario_build_checked(const vy_scenario *scenario, vy_world **out, const void **culprit,
                                    vy_error *err)
{
    vy_world_def def = vy_default_world_def();
    def.dt = scenario->step;
    def.seed = scenario->seed;
    def.environment = scenario->environment;
    def.contacts = scenario->contacts.def;
    def.contacts.on = collides(scenario);
    def.closing_speed = scenario->closing.speed;
    def.open_limit = scenario->closing.limit;
    *culprit = scenario;
    *out = NULL;
    vy_world *world = NULL;
    vy_status status = vy_world_create(&def, &world, err);
    if (status == VY_OK) status = add_all(scenario, world, culprit, err);
    if (status != VY_OK) {
        vy_world_destroy(world);
        return status;
    }
    if (scenario->log.energy) vy_world_open_account(world);
    *out = world;
    return VY_OK;
}

vy_status vy_scenario_build(const vy_scenario *scenario, vy_world **out, vy_error *err)
{
    FPU_SCOPE;
    const void *culprit;
    return vy_scenario_build_checked(scenario, out, &culprit, err);
}

const char *vy_scenario_name_of(const vy_scenario *scenario, int number)
{
    const int index = number - scenario->drone_count;
    if (number < 0 || index >= scenario->body_count) return NULL;
    return index < 0 ? scenario->drones[number].name : scenario->bodies[index].name;
}

const char *vy_scenario_obstacle_name(const vy_scenario *scenario, uint32_t index)
{
    static const char *const bounds[BOUNDS] = {"floor", "west", "east", "south", "north"};
    if (index < (uint32_t)scenario->obstacle_count) return scenario->obstacles[index].name;
    index -= (uint32_t)scenario->obstacle_count;
    if (scenario->terrain.solid.kind != VY_SOLID_NONE && index-- == 0) return "terrain";
    return scenario->environment.physics.engine == VY_ENGINE_RIGID && index < BOUNDS ? bounds[index] : NULL;
}

uint64_t vy_scenario_steps(const vy_scenario *scenario)
{
    FPU_SCOPE;
    const double steps = scenario->duration / scenario->step;
    return steps < 0x1p51 ? (uint64_t)real_round(steps) : (uint64_t)1 << 51;
}
