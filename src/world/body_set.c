// body_set.c - the set of bodies that joints and contacts are solved in: drones, bodies and obstacles with
// their shapes. A world makes it when the first joint or obstacle is added, or at once where things collide;
// all of that before the first step.
#include "base/assert.h"
#include "base/fail.h"
#include "dynamics/contacts.h"
#include "world/world_impl.h"
#include <math.h>

// [m] The largest distance of a shape's points from the origin of its frame.
static double max_extent_of(const vy_shape *shape)
{
    static const vy_pose origin = {.rotation = {1.0, 0.0, 0.0, 0.0}};
    if (shape->kind == VY_SHAPE_NONE) return -1.0;
    if (!vy_shape_is_convex(shape)) return HUGE_VAL;
    const vy_bounds b = vy_shape_bounds(shape, &origin);
    const vec3 extent =
        vec3_make(real_max(-b.low.x, b.high.x), real_max(-b.low.y, b.high.y), real_max(-b.low.z, b.high.z));
    return vec3_length(extent) * (1.0 + 1e-12);
}

// Add a body whose centre of mass is at `centre` of its shape's frame, whatever the shape's own is.
static vy_status add_solid(vy_world *world, const vy_body_def *def, const vy_collider_def *solid,
                           const vy_vehicle_def *vehicle, vec3 centre, vy_error *err)
{
    const uint32_t slot = vy_bodies_slot_count(world->bodies);
    VY_ASSERT(slot < world->model.drone_cap + world->model.passive_cap + world->model.obstacle_cap);
    vy_shape shape;
    vy_status status = vy_solid_build(solid, vehicle, &shape, &world->solid_memories[slot], err);
    if (status != VY_OK) return status;
    vy_body_def body = *def;
    body.material = solid->material;
    body.shape = shape.kind != VY_SHAPE_NONE ? &shape : NULL;
    status = vy_bodies_add(world->bodies, &body, NULL, err);
    if (status != VY_OK) {
        vy_solid_free(&world->solid_memories[slot]);
        return status;
    }
    world->bodies->slots[slot].centroid = centre;
    world->max_extent[slot] = max_extent_of(&shape);
    return VY_OK;
}

static vy_status add_drone(vy_world *world, const vy_vehicle_def *v, const vy_collider_def *solid,
                           const body_state *state, vy_error *err)
{
    const int has_actuators = v->rotor_count + v->thruster_count > 0;
    vy_body_def def = vy_default_body_def();
    def.no_sleep = has_actuators;
    def.mass = v->mass;
    def.inertia = v->inertia;
    def.state = *state;
    return add_solid(world, &def, solid, v, has_actuators ? v->centre_of_mass : vec3_zero(), err);
}

static vy_status add_passive(vy_world *world, double mass, mat3 inertia, const vy_collider_def *solid,
                             const body_state *state, vy_error *err)
{
    vy_body_def def = vy_default_body_def();
    def.mass = mass;
    def.inertia = inertia;
    def.state = *state;
    return add_solid(world, &def, solid, NULL, vec3_zero(), err);
}

// --- the set

static vy_status create_set(const vy_world *world, vy_bodies **out, vy_error *err)
{
    const vy_model *m = &world->model;
    vy_bodies_def def = vy_default_bodies_def();
    def.dt = m->dt;
    def.integrator = m->physics.integrator;
    def.contacts = world->contacts_def;
    def.closing_speed = world->closing_speed;
    def.open_limit = world->open_limit;
    if (def.contacts.on) { // what impacts must exceed to bounce
        def.gravity = gravity_at(&m->env.gravity, vec3_zero());
        if (!vec3_is_finite(def.gravity)) def.gravity = vec3_zero(); // at the centre of the attracting body
    }
    const vy_status status = vy_bodies_create(&def, out, err);
    if (status == VY_OK) (*out)->external_integration = 1;
    return status;
}

// The first set: every body added so far goes into it.
static vy_status fill_set(vy_world *world, vy_error *err)
{
    const vy_model *m = &world->model;
    vy_status status = VY_OK;
    for (uint32_t i = 0; i < body_count(m) && status == VY_OK; ++i) {
        const multirotor_params *p = body_plant(m, i);
        status = i < m->drone_count
                     ? add_drone(world, &world->vehicles[i], &world->solid_defs[i], body_at(world, i), err)
                     : add_passive(world, p->effects.mass, p->body.inertia, &world->solid_defs[i],
                                   body_at(world, i), err);
    }
    if (status == VY_OK && m->payload_count > 0) vy_payload_sync(world);
    return status;
}

vy_status vy_world_reserve_set(vy_world *world, uint32_t body_capacity, uint32_t joint_capacity,
                               vy_error *err)
{
    vy_status status = VY_OK;
    if (world->bodies == NULL) {
        status = create_set(world, &world->bodies, err);
        if (status == VY_OK) status = fill_set(world, err);
        if (status != VY_OK) {
            vy_world_destroy_set(world);
            return status;
        }
    }
    status = vy_bodies_reserve(world->bodies, body_capacity, joint_capacity, err);
    if (status == VY_OK && vy_bodies_prepare(world->bodies) != VY_OK)
        status = vy_fail(err, VY_NO_MEMORY, "world: no memory for the order of %u joints", joint_capacity);
    return status;
}

void vy_world_destroy_set(vy_world *world)
{
    const uint32_t count = world->bodies != NULL ? vy_bodies_slot_count(world->bodies) : 0;
    vy_bodies_destroy(world->bodies);
    world->bodies = NULL;
    for (uint32_t i = 0; i < count; ++i) vy_solid_free(&world->solid_memories[i]);
}

// --- adding bodies

// Drones and bodies come before obstacles, and their number has a limit.
static vy_status check_body_order(const vy_world *world, const char *name, vy_collider_kind kind,
                                  vy_error *err)
{
    if (world->model.obstacle_count > 0)
        return vy_fail(err, VY_BAD_STATE, "drones and bodies are added before obstacles");
    if (kind == VY_COLLIDER_PLANE || kind == VY_COLLIDER_HEIGHT_FIELD)
        return vy_fail(err, VY_BAD_VALUE, "%s.solid must have bounds: the ground is an obstacle", name);
    return VY_OK;
}

vy_status vy_contact_add_body(vy_world *world, const vy_world_body_def *body, vy_error *err)
{
    const body_state state = {body->position, body->velocity, body->attitude, body->rate};
    vy_status status = check_body_order(world, "body", body->solid.kind, err);
    if (status == VY_OK) status = vy_world_store_solid(world, body_count(&world->model), &body->solid, err);
    if (status != VY_OK || world->bodies == NULL) return status;
    status = vy_world_reserve_set(world, vy_bodies_slot_count(world->bodies) + 1, 0, err);
    if (status != VY_OK) return status;
    return add_passive(world, body->mass, body->inertia, &body->solid, &state, err);
}

vy_status vy_contact_add_drone(vy_world *world, const vy_drone_def *drone, vy_error *err)
{
    const body_state state = {drone->position, drone->velocity, drone->attitude, drone->rate};
    vy_status status = check_body_order(world, "drone", drone->solid.kind, err);
    if (status == VY_OK) status = vy_world_store_solid(world, world->model.drone_count, &drone->solid, err);
    if (status != VY_OK || world->bodies == NULL) return status;
    status = vy_world_reserve_set(world, vy_bodies_slot_count(world->bodies) + 1, 0, err);
    if (status != VY_OK) return status;
    return add_drone(world, &drone->vehicle, &drone->solid, &state, err);
}

// On a planet a level plane is a surface of one height.
static int is_globe(const vy_world *world, const vy_obstacle_def *def)
{
    return world->model.env.gravity.frame.on && def->solid.kind == VY_COLLIDER_PLANE &&
           def->attitude.x == 0.0 && def->attitude.y == 0.0;
}

vy_status vy_contact_add_obstacle(vy_world *world, const vy_obstacle_def *def, vy_error *err)
{
    vy_body_def body = vy_default_body_def();
    body.kind = VY_BODY_STATIC;
    body.is_trigger = def->is_trigger != 0;
    body.state = (vy_body_state){.position = def->position, .attitude = def->attitude};
    const int creates_set = world->bodies == NULL, on_globe = is_globe(world, def);
    if (on_globe) {
        world->globe = (vy_globe){world->model.env.gravity.frame, world->model.env.planet};
        body.state.attitude = quat_identity();
    }
    vy_status status =
        vy_world_reserve_set(world, body_count(&world->model) + world->model.obstacle_count + 1, 0, err);
    const uint32_t slot = body_count(&world->model) + world->model.obstacle_count;
    if (status == VY_OK) status = add_solid(world, &body, &def->solid, NULL, vec3_zero(), err);
    if (status == VY_OK && on_globe) world->bodies->slots[slot].shape.plane.globe = &world->globe;
    if (status != VY_OK && creates_set) vy_world_destroy_set(world);
    return status;
}
