// physics_rigid.c - the rigid engine of the physics service: a set of bodies with contacts, a floor at z = 0
// and walls at the boundary, behind the same intents.
#include "base/fail.h"
#include "base/assert.h"
#include "base/math.h"
#include "world/physics_impl.h"
#include <stdlib.h>

enum { BOUNDS = 5 }; // the floor and four walls

struct rigid_engine {
    vy_bodies *set;
    uint32_t capacity;    // bodies of the set that there is memory for
    solid_memory *solids; // [capacity] what shapes stand on
    uint32_t *handles;    // [capacity] of a slot: number plus one, 0: none
    uint32_t *slots;      // [capacity] of a number
};

// Room for another body of the set.
static vy_status reserve(rigid_engine *e, uint32_t bodies, vy_error *err)
{
    if (bodies <= e->capacity) return VY_OK;
    const size_t old_capacity = e->capacity, cap = grown_capacity(old_capacity, bodies);
    solid_memory *solids = realloc(e->solids, cap * sizeof *solids);
    if (solids != NULL) e->solids = solids;
    uint32_t *handles = realloc(e->handles, cap * sizeof *handles);
    if (handles != NULL) e->handles = handles;
    uint32_t *slots = realloc(e->slots, cap * sizeof *slots);
    if (slots != NULL) e->slots = slots;
    if (solids == NULL || handles == NULL || slots == NULL)
        return vy_fail(err, VY_NO_MEMORY, "physics: no memory for %zu bodies", cap);
    memset(solids + old_capacity, 0, (cap - old_capacity) * sizeof *solids);
    memset(handles + old_capacity, 0, (cap - old_capacity) * sizeof *handles);
    e->capacity = (uint32_t)cap;
    return VY_OK;
}

// Half spaces that face inwards.
static vy_status add_bounds(rigid_engine *e, double boundary, vy_error *err)
{
    static const vec3 normals[BOUNDS] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    vy_status status = VY_OK;
    for (int i = 0; i < BOUNDS && status == VY_OK; ++i) {
        vy_shape plane;
        status = vy_shape_plane(normals[i], i == 0 ? 0.0 : -boundary, &plane, err);
        vy_body_def def = vy_default_body_def();
        def.kind = VY_BODY_STATIC;
        def.shape = &plane;
        if (status == VY_OK) status = vy_bodies_add(e->set, &def, NULL, err);
    }
    return status;
}

vy_status vy_rigid_create(const vy_physics_def *def, rigid_engine **out, vy_error *err)
{
    vy_bodies_def set = vy_default_bodies_def();
    set.gravity = vec3_zero(); // there is none unless it is submitted
    set.contacts = def->contacts;
    set.contacts.on = 1;
    *out = NULL;
    rigid_engine *e = calloc(1, sizeof *e);
    if (e == NULL) return vy_fail(err, VY_NO_MEMORY, "physics: no memory");
    vy_status status = vy_bodies_create(&set, &e->set, err);
    if (status == VY_OK) status = reserve(e, BOUNDS, err);
    if (status == VY_OK) status = add_bounds(e, def->boundary, err);
    if (status != VY_OK) {
        vy_rigid_destroy(e);
        return status;
    }
    *out = e;
    return VY_OK;
}

void vy_rigid_destroy(rigid_engine *e)
{
    if (e == NULL) return;
    for (uint32_t i = 0; i < e->capacity; ++i) vy_solid_free(&e->solids[i]);
    vy_bodies_destroy(e->set);
    free(e->solids);
    free(e->handles);
    free(e->slots);
    free(e);
}

vy_status vy_rigid_add(rigid_engine *e, const vy_physics_body_def *def, vy_body_kind kind, uint32_t handle,
                       vy_error *err)
{
    const uint32_t slot = vy_bodies_slot_count(e->set);
    vy_shape shape;
    vy_status status = reserve(e, slot + 1, err);
    if (status != VY_OK) return status;
    status = vy_solid_build(&def->solid, NULL, &shape, &e->solids[slot], err);
    if (status != VY_OK) return status;
    vy_body_def body = vy_default_body_def();
    body.kind = kind;
    body.shape = shape.kind != VY_SHAPE_NONE ? &shape : NULL;
    body.mass = def->mass;
    body.inertia = def->inertia;
    body.state = def->start;
    body.material = def->solid.material;
    status = vy_bodies_add(e->set, &body, NULL, err);
    if (status != VY_OK) {
        vy_solid_free(&e->solids[slot]);
        return status;
    }
    e->set->slots[slot].centroid = vec3_zero(); // the position is that of the shape's frame
    e->handles[slot] = handle;
    VY_ASSERT(vy_bodies_slot_count(e->set) == slot + 1 && handle <= slot + 1);
    if (handle > 0) e->slots[handle - 1] = slot;
    return VY_OK;
}

// Apply the intent of a body. A kinematic one has the velocity and the attitude it was given, and keeps them.
static void apply_intents(rigid_engine *e, uint32_t slot, physics_body *b)
{
    const vy_body_id id = vy_bodies_at(e->set, slot);
    if (b->is_kinematic) {
        b->state.rate = vec3_zero();
        (void)vy_body_set_state(e->set, id, &b->state);
    } else if (b->has_force) {
        (void)vy_body_apply_force(e->set, id, b->force, VY_FRAME_WORLD);
        (void)vy_body_apply_torque(e->set, id, b->torque, VY_FRAME_BODY);
    }
    b->force = b->torque = vec3_zero();
    b->has_force = b->is_kinematic = 0;
}

vy_status vy_rigid_step(rigid_engine *e, double dt, uint32_t count, physics_body *bodies)
{
    VY_ASSERT(count <= vy_bodies_slot_count(e->set));
    for (uint32_t i = 0; i < count; ++i) apply_intents(e, e->slots[i], &bodies[i]);
    e->set->def.dt = dt;
    const uint32_t events = dt > 0.0 ? vy_bodies_step(e->set) : 0;
    for (uint32_t i = 0; i < count; ++i) bodies[i].state = e->set->state[e->slots[i]];
    if (events & VY_BODIES_NO_MEMORY) return VY_NO_MEMORY;
    return events & VY_BODIES_NOT_FINITE ? VY_BAD_STATE : VY_OK;
}

static vy_physics_id id_of(const rigid_engine *e, uint64_t body)
{
    VY_ASSERT((body & 0xffffffffu) > 0 && (body & 0xffffffffu) <= e->capacity);
    const uint32_t handle = e->handles[(body & 0xffffffffu) - 1u];
    return (vy_physics_id){handle > 0 ? (uint64_t)1 << 32 | handle : 0};
}

int vy_rigid_next_event(const rigid_engine *e, uint32_t *from, vy_collision_event *out)
{
    vy_contact_report r;
    while (vy_bodies_contact(e->set, *from, &r) == VY_OK) {
        *from += 1;
        if (r.phase != VY_CONTACT_BEGIN) continue;
        const vy_physics_id a = id_of(e, r.a), b = id_of(e, r.b);
        const int swaps = a.bits == 0; // bodies with a handle come first
        *out = (vy_collision_event){.a = swaps ? b : a,
                                    .b = swaps ? a : b,
                                    .point = r.point,
                                    .normal = swaps ? vec3_scale(-1.0, r.normal) : r.normal,
                                    .impulse = real_abs(vec3_dot(r.impulse, r.normal))};
        return 1;
    }
    return 0;
}
