// checksum.c - checksums of the constants of bodies and joints.
#include "dynamics/checksum.h"
#include "base/assert.h"
#include "base/hash.h"
#include "dynamics/joint.h"
#include <string.h>

enum { MAX_CELLS = 72 };

/// Values that are hashed together.
typedef struct cell_list {
    uint64_t cells[MAX_CELLS];
    size_t count;
} cell_list;

static void append_cell(cell_list *c, uint64_t value)
{
    VY_ASSERT(c->count < MAX_CELLS);
    c->cells[c->count++] = value;
}

static void append_number(cell_list *c, double value)
{
    uint64_t cell;
    memcpy(&cell, &value, sizeof cell);
    append_cell(c, cell);
}

static void append_vector(cell_list *c, vec3 v)
{
    append_number(c, v.x);
    append_number(c, v.y);
    append_number(c, v.z);
}

static uint64_t hash_cells(const cell_list *c) { return vy_hash64(c->cells, c->count * sizeof c->cells[0]); }

static void append_shape(cell_list *c, const vy_shape *shape)
{
    append_cell(c, (uint64_t)shape->kind);
    switch (shape->kind) {
    case VY_SHAPE_SPHERE: append_number(c, shape->sphere.radius); break;
    case VY_SHAPE_CAPSULE:
        append_number(c, shape->capsule.half_length);
        append_number(c, shape->capsule.radius);
        break;
    case VY_SHAPE_BOX: append_vector(c, shape->box.half); break;
    case VY_SHAPE_CYLINDER:
        append_number(c, shape->cylinder.half_height);
        append_number(c, shape->cylinder.radius);
        break;
    case VY_SHAPE_HULL: {
        const vy_hull *hull = shape->hull;
        append_cell(c, (uint64_t)hull->face_count);
        append_cell(c, vy_hash64(hull->vertices, (size_t)hull->vertex_count * sizeof *hull->vertices));
        break;
    }
    case VY_SHAPE_PLANE:
        append_vector(c, shape->plane.normal);
        append_number(c, shape->plane.offset);
        break;
    case VY_SHAPE_HEIGHT_FIELD: {
        const vy_height_field *f = &shape->field;
        append_cell(c, (uint64_t)f->nx << 32 | (uint64_t)f->ny);
        append_number(c, f->spacing);
        append_cell(c, vy_hash64(f->heights, (size_t)f->nx * (size_t)f->ny * sizeof *f->heights));
        break;
    }
    case VY_SHAPE_NONE: break;
    }
}

uint64_t vy_body_checksum(const vy_bodies *b, uint32_t slot)
{
    VY_ASSERT(slot < b->slot_count && b->slots[slot].used);
    const body_slot *s = &b->slots[slot];
    cell_list c = {.count = 0};
    append_cell(&c, (uint64_t)s->generation << 32 | slot);
    append_cell(&c, (uint64_t)s->kind << 32 | (uint64_t)s->no_sleep);
    append_number(&c, s->mass);
    append_vector(&c, s->centroid);
    for (int i = 0; i < 9; ++i) append_number(&c, b->params[slot].inertia.m[i / 3][i % 3]);
    append_number(&c, s->material.friction);
    append_number(&c, s->material.restitution);
    append_number(&c, s->material.rolling);
    append_number(&c, s->material.spinning);
    append_shape(&c, &s->shape);
    return hash_cells(&c);
}

// How a joint that was added open closes is a constant, too.
static void append_initial_error(cell_list *c, const joint_initial_error *e)
{
    append_number(c, e->start);
    append_number(c, e->end);
    append_vector(c, e->shift);
    append_cell(c, (uint64_t)e->side);
    append_vector(c, e->axis);
    append_number(c, e->angle);
    append_number(c, e->length);
    append_number(c, e->low);
    append_number(c, e->high);
    if (e->cone > 0.0) append_number(c, e->cone);
    for (int i = 0; i < VY_CONSTRAINT_ROWS; ++i) append_number(c, e->value[i]);
}

static uint64_t joint_checksum(const vy_bodies *b, uint32_t slot)
{
    const joint_slot *j = &b->joints->slots[slot];
    const vy_joint_def *d = &j->def;
    cell_list c = {.count = 0};
    append_cell(&c, (uint64_t)j->generation << 32 | slot);
    append_cell(&c,
                (uint64_t)d->kind << 32 | (uint64_t)d->collide_connected << 1 | (uint64_t)(d->limited != 0));
    for (int side = 0; side < 2; ++side)
        append_cell(&c, j->body[side] == b->body_cap ? UINT64_MAX : (uint64_t)j->body[side]);
    append_vector(&c, d->anchor_a);
    append_vector(&c, d->anchor_b);
    for (int k = 0; k < 3; ++k) {
        append_vector(&c, j->axes_a[k]);
        append_vector(&c, j->axes_b[k]);
    }
    append_number(&c, d->length);
    append_number(&c, d->stiffness);
    append_number(&c, d->damping);
    append_number(&c, d->rest);
    append_number(&c, d->limited ? d->low : 0.0);
    append_number(&c, d->limited ? d->high : 0.0);
    if (d->kind == VY_JOINT_CUSTOM) {
        append_cell(&c, (uint64_t)d->custom->dimension << 32 | (uint64_t)(d->custom->unilateral != 0));
        append_number(&c, d->custom->alpha);
        append_number(&c, d->custom->beta);
    }
    if (d->cone > 0.0) append_number(&c, d->cone);
    if (joint_is_geared(j)) {
        append_number(&c, d->ratio);
        append_number(&c, j->gear_start[0]);
        append_number(&c, j->gear_start[1]);
    }
    if (vy_joint_has(d->kind, VY_JOINT_HAS_WHEELS)) {
        append_vector(&c, d->wheel_a);
        append_vector(&c, d->wheel_b);
        append_number(&c, d->ratio);
    }
    if (joint_has_targets(d)) append_number(&c, d->motor_stiffness);
    if (joint_can_break(j)) {
        append_number(&c, d->break_force);
        append_number(&c, d->break_torque);
    }
    append_initial_error(&c, &j->initial_error);
    return hash_cells(&c);
}

// Each knows its slot, so a sum will do.
set_checksums vy_set_checksums(const vy_bodies *b)
{
    set_checksums sums = {b->slot_count, b->joints->slot_count};
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (b->slots[i].used) sums.bodies += b->slots[i].checksum;
    }
    for (uint32_t i = 0; i < b->joints->slot_count; ++i) {
        if (b->joints->slots[i].used) sums.joints += joint_checksum(b, i);
    }
    return sums;
}
