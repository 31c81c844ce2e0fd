// build.c - from a resolved scenario to a world.
#include "scenario/build.h"
#include "base/real.h"
#include "base/vec.h"
#include "world/sensor_suite.h"
#include <stdlib.h>

enum { BOUND_COUNT = 5 };

// The rigid engine has a floor and walls where the simple one clamps.
static vy_status add_bounds(const vy_scenario *s, vy_world *world, vy_error *err)
{
    const double half_sqrt2 = 0.70710678118654752, boundary = s->environment.physics.boundary;
    // Turns of +z to up, east, west, north, south: planes face inwards.
    const vy_quat attitudes[BOUND_COUNT] = {{1, 0, 0, 0},
                                            {half_sqrt2, 0, half_sqrt2, 0},
                                            {half_sqrt2, 0, -half_sqrt2, 0},
                                            {half_sqrt2, -half_sqrt2, 0, 0},
                                            {half_sqrt2, half_sqrt2, 0, 0}};
    const vy_vec3 positions[BOUND_COUNT] = {
        {0, 0, 0}, {-boundary, 0, 0}, {boundary, 0, 0}, {0, -boundary, 0}, {0, boundary, 0}};
    vy_status status = VY_OK;
    for (int i = 0; i < BOUND_COUNT && status == VY_OK; ++i) {
        vy_obstacle_def wall = vy_default_obstacle_def();
        wall.position = positions[i];
        wall.attitude = attitudes[i];
        status = vy_world_add_obstacle(world, &wall, err);
    }
    return status;
}

// What a world is made of, in the order in which it is added.
typedef enum world_part {
    DRONE,
    BODY,
    OBSTACLE,
    TERRAIN,
    BOUNDARY,
    JOINT,
    PAYLOAD,
    DISTURBANCE,
    FAULT,
    PART_COUNT
} world_part;

static int count_parts(const vy_scenario *s, world_part p)
{
    switch (p) {
    case DRONE: return s->drone_count;
    case BODY: return s->body_count;
    case OBSTACLE: return s->obstacle_count;
    case TERRAIN: return s->terrain.solid.kind != VY_COLLIDER_NONE;
    case BOUNDARY: return s->environment.physics.engine == VY_ENGINE_RIGID;
    case JOINT: return s->joint_count;
    case PAYLOAD: return s->payload_count;
    case DISTURBANCE: return s->disturbance_count;
    case FAULT: return s->fault_count;
    case PART_COUNT: break;
    }
    return 0;
}

// Its bytes in the scenario, and where it is refused.
typedef struct byte_range {
    const void *begin;
    size_t size;
    const void *culprit;
} byte_range;

#define BYTE_RANGE(thing, member) ((byte_range){&(thing), sizeof(thing), &(thing).member})

static byte_range byte_range_of(const vy_scenario *s, world_part p, int i)
{
    switch (p) {
    case DRONE: return BYTE_RANGE(s->drones[i], def);
    case BODY: return BYTE_RANGE(s->bodies[i], def);
    case OBSTACLE: return BYTE_RANGE(s->obstacles[i], def.solid.kind);
    case TERRAIN: return BYTE_RANGE(s->terrain, solid.kind);
    case JOINT: return BYTE_RANGE(s->joints[i], def.kind);
    case PAYLOAD: return BYTE_RANGE(s->payloads[i], carrier);
    case DISTURBANCE: return BYTE_RANGE(s->disturbances[i], def);
    case FAULT: return BYTE_RANGE(s->faults[i], def);
    case BOUNDARY:
    case PART_COUNT: break;
    }
    return BYTE_RANGE(s->environment.physics, engine);
}

static vy_status add_part(const vy_scenario *s, vy_world *world, world_part p, int i, vy_error *err)
{
    switch (p) {
    case DRONE: return vy_world_add_drone(world, &s->drones[i].def, NULL, err);
    case BODY: return vy_world_add_body(world, &s->bodies[i].def, NULL, err);
    case OBSTACLE: return vy_world_add_obstacle(world, &s->obstacles[i].def, err);
    case TERRAIN: return vy_world_add_obstacle(world, &s->terrain, err);
    case BOUNDARY: return add_bounds(s, world, err);
    case JOINT: {
        vy_joint_def def = s->joints[i].def;
        def.body_a = vy_world_body(world, (uint32_t)s->joints[i].a);
        def.body_b = vy_world_body(world, (uint32_t)s->joints[i].b);
        return vy_world_add_joint(world, &def, NULL, err);
    }
    case PAYLOAD: {
        vy_payload_def def = s->payloads[i].def;
        def.carrier = vy_world_drone(world, (uint32_t)s->payloads[i].carrier);
        def.load = vy_world_body(world, (uint32_t)s->payloads[i].load);
        return vy_world_add_payload(world, &def, err);
    }
    case DISTURBANCE: {
        vy_disturbance_def def = s->disturbances[i].def;
        const int drone = s->disturbances[i].drone;
        def.body = drone == VY_EVERY_DRONE ? VY_ALL_BODIES : vy_world_body(world, (uint32_t)drone);
        return vy_world_add_disturbance(world, &def, err);
    }
    case FAULT: {
        vy_fault_def def = s->faults[i].def;
        const int drone = s->faults[i].drone;
        def.drone = drone == VY_EVERY_DRONE ? VY_ALL_DRONES : vy_world_drone(world, (uint32_t)drone);
        return vy_world_add_fault(world, &def, err);
    }
    case PART_COUNT: break;
    }
    return VY_OK;
}

static vy_status add_all(const vy_scenario *s, vy_world *world, vy_error *err)
{
    for (world_part p = DRONE; p < PART_COUNT; ++p) {
        for (int i = 0; i < count_parts(s, p); ++i) {
            const vy_status status = add_part(s, world, p, i, err);
            if (status != VY_OK) return status;
        }
    }
    return VY_OK;
}

// --- building to find what is refused

// Those whose place another one has taken.
typedef struct missing_bodies {
    unsigned char *is_missing; // [drone or body]
    int has_missing;
} missing_bodies;

static int is_built(const missing_bodies *missing, int number)
{
    return number < 0 ? 1 : !missing->is_missing[number];
}

// Whether all that it is about was added.
static int has_its_bodies(const vy_scenario *s, const missing_bodies *missing, world_part p, int i)
{
    switch (p) {
    case JOINT: return is_built(missing, s->joints[i].a) && is_built(missing, s->joints[i].b);
    case PAYLOAD: return is_built(missing, s->payloads[i].carrier) && is_built(missing, s->payloads[i].load);
    case DISTURBANCE: return is_built(missing, s->disturbances[i].drone);
    case FAULT: return s->faults[i].drone < 0 ? !missing->has_missing : is_built(missing, s->faults[i].drone);
    default: return 1;
    }
}

// In place of a drone or body that is refused, so that those after it keep their numbers.
static vy_status add_placeholder(const vy_scenario *s, vy_world *world, world_part p, int i,
                                 missing_bodies *missing, vy_error *err)
{
    missing->has_missing = missing->is_missing[p == DRONE ? i : s->drone_count + i] = 1;
    if (p == DRONE) {
        const vy_drone_def drone = vy_default_drone_def();
        return vy_world_add_drone(world, &drone, NULL, err);
    }
    vy_world_body_def body = vy_default_world_body_def();
    body.mass = 1.0;
    body.inertia = mat3_diag(1.0, 1.0, 1.0);
    return vy_world_add_body(world, &body, NULL, err);
}

static vy_status check_all(const vy_scenario *s, const build_check *check, vy_world *world,
                           missing_bodies *missing, vy_error *err)
{
    for (world_part p = DRONE; p < PART_COUNT; ++p) {
        for (int i = 0; i < count_parts(s, p); ++i) {
            const byte_range range = byte_range_of(s, p, i);
            const int is_added =
                check->is_valid(check->self, range.begin, range.size) && has_its_bodies(s, missing, p, i);
            vy_status status = is_added ? add_part(s, world, p, i, err) : VY_BAD_VALUE;
            if (is_added && status != VY_OK && status != VY_NO_MEMORY)
                check->refuse(check->self, range.culprit, err);
            if (status != VY_OK && status != VY_NO_MEMORY)
                status = p == DRONE || p == BODY ? add_placeholder(s, world, p, i, missing, err) : VY_OK;
            if (status != VY_OK) return status;
        }
    }
    return VY_OK;
}

static int collides(const vy_scenario *s)
{
    int solid_count = s->obstacle_count + (s->terrain.solid.kind != VY_COLLIDER_NONE);
    solid_count += s->environment.physics.engine == VY_ENGINE_RIGID;
    for (int i = 0; i < s->drone_count; ++i) solid_count += s->drones[i].def.solid.kind > VY_COLLIDER_NONE;
    for (int i = 0; i < s->body_count; ++i) solid_count += s->bodies[i].def.solid.kind > VY_COLLIDER_NONE;
    return s->contacts.mode == VY_CONTACTS_ON || (s->contacts.mode == VY_CONTACTS_AUTO && solid_count > 0);
}

vy_status vy_scenario_build_checked(const vy_scenario *scenario, const build_check *check, vy_world **out,
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
    *out = NULL;
    vy_world *world = NULL;
    vy_status status = vy_world_create(&def, &world, err);
    if (status == VY_OK && check == NULL) status = add_all(scenario, world, err);
    if (status == VY_OK && check != NULL) {
        missing_bodies missing = {calloc((size_t)(scenario->drone_count + scenario->body_count) + 1, 1), 0};
        status = missing.is_missing == NULL ? VY_NO_MEMORY : check_all(scenario, check, world, &missing, err);
        free(missing.is_missing);
    } else if (status != VY_OK && status != VY_NO_MEMORY && check != NULL) {
        check->refuse(check->self, scenario, err);
    }
    if (status != VY_OK) {
        vy_world_destroy(world);
        return status;
    }
    if (scenario->log.energy) vy_world_track_energy(world);
    *out = world;
    return VY_OK;
}

vy_status vy_scenario_build(const vy_scenario *scenario, vy_world **out, vy_error *err)
{
    FPU_SCOPE;
    return vy_scenario_build_checked(scenario, NULL, out, err);
}

const char *vy_scenario_name_of(const vy_scenario *scenario, int number)
{
    const int index = number - scenario->drone_count;
    if (number < 0 || index >= scenario->body_count) return NULL;
    return index < 0 ? scenario->drones[number].name : scenario->bodies[index].name;
}

const char *vy_scenario_obstacle_name(const vy_scenario *scenario, uint32_t index)
{
    static const char *const bounds[BOUND_COUNT] = {"floor", "west", "east", "south", "north"};
    if (index < (uint32_t)scenario->obstacle_count) return scenario->obstacles[index].name;
    index -= (uint32_t)scenario->obstacle_count;
    if (scenario->terrain.solid.kind != VY_COLLIDER_NONE && index-- == 0) return "terrain";
    return scenario->environment.physics.engine == VY_ENGINE_RIGID && index < BOUND_COUNT ? bounds[index]
                                                                                          : NULL;
}

uint64_t vy_scenario_steps(const vy_scenario *scenario)
{
    FPU_SCOPE;
    const double steps = scenario->duration / scenario->step;
    return steps < 0x1p51 ? (uint64_t)real_round(steps) : (uint64_t)1 << 51;
}
