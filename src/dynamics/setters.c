// setters.c - bodies of a set that get other constants between two steps.
#include "base/assert.h"
#include "base/fail.h"
#include "dynamics/checksum.h"
#include "dynamics/contact_def.h"
#include "dynamics/sleep.h"
#include "dynamics/triggers.h"

static int64_t find_body(const vy_bodies *b, vy_body_id id, vy_error *err)
{
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) (void)vy_fail(err, VY_NOT_FOUND, "no such body in this set");
    return i;
}

/// The def of a body as it is now.
static vy_body_def current_def(const vy_bodies *b, uint32_t i)
{
    vy_body_def def = vy_default_body_def();
    const body_slot *s = &b->slots[i];
    def.kind = s->kind;
    def.shape = s->shape.kind != VY_SHAPE_NONE ? &s->shape : NULL;
    def.mass = b->declared[i].mass;
    def.inertia = b->declared[i].inertia;
    def.material = s->material;
    def.no_sleep = s->no_sleep;
    return def;
}

// Every joint has a dynamic body, also when this one is of another kind.
static vy_status check_joints(const vy_bodies *b, uint32_t i, vy_body_kind kind, vy_error *err)
{
    const joint_system *s = b->joints;
    for (uint32_t k = 0; k < s->slot_count && kind != VY_BODY_DYNAMIC; ++k) {
        const joint_slot *j = &s->slots[k];
        if (!j->used || (j->body[0] != i && j->body[1] != i)) continue;
        const uint32_t other = j->body[j->body[0] == i];
        if (other == b->body_cap || !body_is_dynamic(b, other))
            return vy_fail(err, VY_BAD_VALUE,
                           "a joint would be left without a dynamic body: remove the joint first");
    }
    return VY_OK;
}

// What `def` says of a body, in place of what it is; its contacts begin anew.
static vy_status change_body(vy_bodies *b, uint32_t i, const vy_body_def *def, vy_error *err)
{
    body_slot slot = b->slots[i];
    body_params params = {0};
    slot.shape = (vy_shape){.kind = VY_SHAPE_NONE};
    slot.mass = 0.0;
    slot.centroid = vec3_zero();
    vy_status status = vy_body_constants(def, &slot, &params, err);
    if (status == VY_OK) status = check_joints(b, i, def->kind, err);
    if (status != VY_OK) return status;
    if (def->shape == NULL && b->filters[i].is_trigger)
        return vy_fail(err, VY_BAD_VALUE, "a trigger needs a shape");
    vy_sleep_wake(b, i);
    vy_contacts_remove_body(b, i);
    if (slot.kind != b->slots[i].kind) b->joints->dirty = 1; // dynamic ones come first in an island
    b->slots[i] = slot;
    b->params[i] = params;
    b->declared[i] = (body_declared){def->mass, def->inertia};
    b->slots[i].checksum = vy_body_checksum(b, i);
    b->awake[i] = slot.kind == VY_BODY_DYNAMIC;
    if (b->sleep != NULL) b->sleep->bodies[i] = (body_sleep){.ticks = 0};
    if (slot.kind == VY_BODY_STATIC) b->state[i].velocity = b->state[i].rate = vec3_zero();
    b->previous[i] = (body_previous){b->state[i].velocity, b->state[i].rate};
    b->disturbed[i] = 1;
    b->pose_revision += 1;
    vy_triggers_invalidate(b);
    vy_contacts_add_body(b, i);
    return VY_OK;
}

vy_status vy_body_set_kind(vy_bodies *b, vy_body_id id, vy_body_kind kind, vy_error *err)
{
    FPU_SCOPE;
    const int64_t i = find_body(b, id, err);
    if (i < 0) return VY_NOT_FOUND;
    vy_body_def def = current_def(b, (uint32_t)i);
    def.kind = kind;
    return change_body(b, (uint32_t)i, &def, err);
}

vy_status vy_body_set_mass(vy_bodies *b, vy_body_id id, double mass, const vy_mat3 *inertia, vy_error *err)
{
    FPU_SCOPE;
    const int64_t i = find_body(b, id, err);
    if (i < 0) return VY_NOT_FOUND;
    vy_body_def def = current_def(b, (uint32_t)i);
    const vy_body_kind kind = def.kind;
    def.mass = mass;
    def.inertia = inertia != NULL ? *inertia : (vy_mat3){{{0.0}}};
    if (kind == VY_BODY_DYNAMIC) return change_body(b, (uint32_t)i, &def, err);
    body_slot slot = {.used = 1}; // what it will be when it is made dynamic
    body_params params = {0};
    def.kind = VY_BODY_DYNAMIC;
    const vy_status status = vy_body_constants(&def, &slot, &params, err);
    if (status == VY_OK) b->declared[i] = (body_declared){def.mass, def.inertia};
    return status;
}

vy_status vy_body_set_material(vy_bodies *b, vy_body_id id, const vy_material *material, vy_error *err)
{
    FPU_SCOPE;
    const int64_t i = find_body(b, id, err);
    if (i < 0) return VY_NOT_FOUND;
    const vy_status status = vy_material_check(material, err);
    if (status != VY_OK) return status;
    vy_sleep_wake(b, (uint32_t)i);
    b->slots[i].material = *material;
    b->slots[i].checksum = vy_body_checksum(b, (uint32_t)i);
    return VY_OK;
}

vy_status vy_body_set_shape(vy_bodies *b, vy_body_id id, const vy_shape *shape, vy_error *err)
{
    FPU_SCOPE;
    const int64_t i = find_body(b, id, err);
    if (i < 0) return VY_NOT_FOUND;
    vy_body_def def = current_def(b, (uint32_t)i);
    def.shape = shape;
    return change_body(b, (uint32_t)i, &def, err);
}
