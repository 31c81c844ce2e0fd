// physics_rigid.c - the rigid engine of the physics service: a set of bodies with contacts, a floor at z = 0
// and walls at the boundary, behind the same intents.
#include "base/fail.h"
#include "base/assert.h"
#include "base/math.h"
#include "world/physics_impl.h"
#include <stdlib.h>

enum { BOUND_COUNT = 5 }; // the floor and four walls

struct rigid_engine {
    vy_bodies *set;       // the bodies, with floor and walls
    uint32_t capacity;    // bodies of the set that there is memory for
    solid_memory *solids; // [capacity] what shapes stand on
    uint32_t *handles;    // [capacity] of a slot: number plus one, 0: none
    uint32_t *slots;      // [capacity] of a number
};

// Room for another body of the set.
static vy_status reserve_bodies(rigid_engine *engine, uint32_t needed, vy_error *err)
{
    if (needed <= engine->capacity) return VY_OK;
    const size_t old_capacity = engine->capacity, new_capacity = grown_capacity(old_capacity, needed);
    solid_memory *solids = realloc(engine->solids, new_capacity * sizeof *solids);
    if (solids != NULL) engine->solids = solids;
    uint32_t *handles = realloc(engine->handles, new_capacity * sizeof *handles);
    if (handles != NULL) engine->handles = handles;
    uint32_t *slots = realloc(engine->slots, new_capacity * sizeof *slots);
    if (slots != NULL) engine->slots = slots;
    if (solids == NULL || handles == NULL || slots == NULL)
        return vy_fail(err, VY_NO_MEMORY, "physics: no memory for %zu bodies", new_capacity);
    memset(solids + old_capacity, 0, (new_capacity - old_capacity) * sizeof *solids);
    memset(handles + old_capacity, 0, (new_capacity - old_capacity) * sizeof *handles);
    engine->capacity = (uint32_t)new_capacity;
    return VY_OK;
}

// Half spaces that face inwards.
static vy_status add_bounds(rigid_engine *engine, double boundary, vy_error *err)
{
    static const vec3 normals[BOUND_COUNT] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    vy_status status = VY_OK;
    for (int i = 0; i < BOUND_COUNT && status == VY_OK; ++i) {
        vy_shape plane;
        status = vy_shape_plane(normals[i], i == 0 ? 0.0 : -boundary, &plane, err);
        vy_body_def def = vy_default_body_def();
        def.kind = VY_BODY_STATIC;
        def.shape = &plane;
        if (status == VY_OK) status = vy_bodies_add(engine->set, &def, NULL, err);
    }
    return status;
}

vy_status vy_rigid_create(const vy_physics_def *def, rigid_engine **out, vy_error *err)
{
    vy_bodies_def set_def = vy_default_bodies_def();
    set_def.gravity = vec3_zero(); // there is none unless it is submitted
    set_def.contacts = def->contacts;
    set_def.contacts.on = 1;
    *out = NULL;
    rigid_engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) return vy_fail(err, VY_NO_MEMORY, "physics: no memory");
    vy_status status = vy_bodies_create(&set_def, &engine->set, err);
    if (status == VY_OK) status = reserve_bodies(engine, BOUND_COUNT, err);
    if (status == VY_OK) status = add_bounds(engine, def->boundary, err);
    if (status != VY_OK) {
        vy_rigid_destroy(engine);
        return status;
    }
    *out = engine;
    return VY_OK;
}

void vy_rigid_destroy(rigid_engine *engine)
{
    if (engine == NULL) return;
    for (uint32_t i = 0; i < engine->capacity; ++i) vy_solid_free(&engine->solids[i]);
    vy_bodies_destroy(engine->set);
    free(engine->solids);
    free(engine->handles);
    free(engine->slots);
    free(engine);
}

vy_status vy_rigid_add(rigid_engine *engine, const vy_physics_body_def *def, vy_body_kind kind,
                       uint32_t handle, vy_error *err)
{
    const uint32_t slot = vy_bodies_slot_count(engine->set);
    vy_shape shape;
    vy_status status = reserve_bodies(engine, slot + 1, err);
    if (status != VY_OK) return status;
    status = vy_solid_build(&def->solid, NULL, &shape, &engine->solids[slot], err);
    if (status != VY_OK) return status;
    vy_body_def body = vy_default_body_def();
    body.kind = kind;
    body.shape = shape.kind != VY_SHAPE_NONE ? &shape : NULL;
    body.mass = def->mass;
    body.inertia = def->inertia;
    body.state = def->start;
    body.material = def->solid.material;
    status = vy_bodies_add(engine->set, &body, NULL, err);
    if (status != VY_OK) {
        vy_solid_free(&engine->solids[slot]);
        return status;
    }
    engine->set->slots[slot].centroid = vec3_zero(); // the position is that of the shape's frame
    engine->handles[slot] = handle;
    VY_ASSERT(vy_bodies_slot_count(engine->set) == slot + 1 && handle <= slot + 1);
    if (handle > 0) engine->slots[handle - 1] = slot;
    return VY_OK;
}

// Apply the intent of a body. A kinematic one has the velocity and the attitude it was given, and keeps them.
static void apply_intents(rigid_engine *engine, uint32_t slot, physics_body *b)
{
    const vy_body_id id = vy_bodies_at(engine->set, slot);
    if (b->is_kinematic) {
        b->state.rate = vec3_zero();
        (void)vy_body_set_state(engine->set, id, &b->state);
    } else if (b->has_force) {
        (void)vy_body_apply_force(engine->set, id, b->force, VY_FRAME_WORLD);
        (void)vy_body_apply_torque(engine->set, id, b->torque, VY_FRAME_BODY);
    }
    b->force = b->torque = vec3_zero();
    b->has_force = b->is_kinematic = 0;
}

vy_status vy_rigid_step(rigid_engine *engine, double dt, uint32_t count, physics_body *bodies)
{
    VY_ASSERT(count <= vy_bodies_slot_count(engine->set));
    for (uint32_t i = 0; i < count; ++i) apply_intents(engine, engine->slots[i], &bodies[i]);
    engine->set->def.dt = dt;
    const uint32_t events = dt > 0.0 ? vy_bodies_step(engine->set) : 0;
    for (uint32_t i = 0; i < count; ++i) bodies[i].state = engine->set->state[engine->slots[i]];
    if (events & VY_BODIES_NO_MEMORY) return VY_NO_MEMORY;
    return events & VY_BODIES_NOT_FINITE ? VY_BAD_STATE : VY_OK;
}

static vy_physics_id id_of(const rigid_engine *engine, uint64_t body)
{
    VY_ASSERT((body & 0xffffffffu) > 0 && (body & 0xffffffffu) <= engine->capacity);
    const uint32_t handle = engine->handles[(body & 0xffffffffu) - 1u];
    return (vy_physics_id){handle > 0 ? (uint64_t)1 << 32 | handle : 0};
}

int vy_rigid_next_event(const rigid_engine *engine, uint32_t *next, vy_collision_event *out)
{
    vy_contact_report r;
    while (vy_bodies_contact(engine->set, *next, &r) == VY_OK) {
        *next += 1;
        if (r.phase != VY_CONTACT_BEGIN) continue;
        const vy_physics_id a = id_of(engine, r.a), b = id_of(engine, r.b);
        const int is_swapped = a.bits == 0; // bodies with a handle come first
        *out = (vy_collision_event){.a = is_swapped ? b : a,
                                    .b = is_swapped ? a : b,
                                    .point = r.point,
                                    .normal = is_swapped ? vec3_scale(-1.0, r.normal) : r.normal,
                                    .impulse = real_abs(vec3_dot(r.impulse, r.normal))};
        return 1;
    }
    return 0;
}
