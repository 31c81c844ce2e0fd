// build.c - from a resolved scenario to a world.
#include "scenario/build.h"
#include "base/real.h"
#include "world/kit.h"

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
        const vy_status status = vy_world_add_drone(world, &s->bodies[i].def, NULL, err);
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
        def.body_a = vy_world_body(world, vy_world_drone(world, (uint32_t)joint->a));
        def.body_b = vy_world_body(world, vy_world_drone(world, (uint32_t)joint->b));
        *culprit = &joint->def.kind;
        const vy_status status = vy_world_add_joint(world, &def, NULL, err);
        if (status != VY_OK) return status;
    }
    for (int i = 0; i < s->payload_count; ++i) {
        vy_payload_def def = s->payloads[i].def;
        def.carrier = vy_world_drone(world, (uint32_t)s->payloads[i].carrier);
        def.load = vy_world_drone(world, (uint32_t)s->payloads[i].load);
        *culprit = &s->payloads[i].carrier;
        const vy_status status = vy_world_add_payload(world, &def, err);
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

// Places for everything that can be on its way at once; a period is one step at least.
static uint32_t line_places(const vy_scenario *s)
{
    double places = 0.0;
    for (int i = 0; i < s->fault_count; ++i) {
        const vy_scenario_fault *f = &s->faults[i];
        if (f->def.kind != VY_FAULT_SENSOR_DELAY && f->def.kind != VY_FAULT_COMMAND_DELAY) continue;
        places += (f->def.size / s->step + 2.0) * (f->drone == VY_EVERY_DRONE ? s->drone_count : 1);
    }
    return places < 4e9 ? (uint32_t)places : UINT32_MAX; // too many are refused
}

// Room for contacts, 0 when nothing collides.
static uint32_t contact_room(const vy_scenario *s)
{
    int solids = s->obstacle_count + (s->terrain.solid.kind != VY_SOLID_NONE);
    solids += s->environment.physics.engine == VY_ENGINE_RIGID;
    for (int i = 0; i < s->drone_count; ++i) solids += s->drones[i].def.solid.kind > VY_SOLID_NONE;
    for (int i = 0; i < s->body_count; ++i) solids += s->bodies[i].def.solid.kind > VY_SOLID_NONE;
    if (s->contacts.mode == VY_CONTACTS_OFF || (s->contacts.mode == VY_CONTACTS_AUTO && solids == 0))
        return 0;
    if (s->contacts.def.cap > 0) return s->contacts.def.cap;
    return 16u + 4u * (uint32_t)(s->drone_count + s->body_count);
}

// Room for sensors that are more than plain, and for their samples on the way.
static void count_kits(const vy_scenario *s, vy_world_def *def)
{
    double cells = 0.0;
    def->kit_cap = 0;
    for (int i = 0; i < s->drone_count; ++i) {
        const vy_drone_def *drone = &s->drones[i].def;
        if (!vy_drone_has_kit(drone)) continue;
        def->kit_cap += 1;
        cells += vy_kit_delays(drone);
    }
    def->delay_cap = cells < 4e9 ? (uint32_t)cells : UINT32_MAX; // too many are refused
}

vy_status vy_scenario_build_checked(const vy_scenario *scenario, vy_world **out, const void **culprit,
                                    vy_error *err)
{
    vy_world_def def = vy_default_world_def();
    def.dt = scenario->step;
    def.seed = scenario->seed;
    def.environment = scenario->environment;
    def.drone_cap = (uint32_t)(scenario->drone_count + scenario->body_count);
    def.joint_cap = (uint32_t)scenario->joint_count;
    def.payload_cap = (uint32_t)scenario->payload_count;
    def.disturbance_cap = (uint32_t)scenario->disturbance_count;
    def.fault_cap = (uint32_t)scenario->fault_count;
    def.line_cap = line_places(scenario);
    def.obstacle_cap = (uint32_t)scenario->obstacle_count + (scenario->terrain.solid.kind != VY_SOLID_NONE);
    if (scenario->environment.physics.engine == VY_ENGINE_RIGID) def.obstacle_cap += BOUNDS;
    def.contacts = scenario->contacts.def;
    def.contacts.cap = contact_room(scenario);
    count_kits(scenario, &def);
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
