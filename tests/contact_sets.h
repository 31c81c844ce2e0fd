// contact_sets.h - sets of bodies that touch, for the tests of contacts.
#pragma once
#include "check.h"
#include "volery/bodies.h"
#include "volery/collision.h"
#include "volery/joint.h"
#include <stdlib.h>

#define G 9.80665

/// What vy_bodies_save() writes, and how much it is. The caller frees it.
static inline void *snapshot_of(const vy_bodies *b, size_t *size)
{
    *size = vy_bodies_state_size(b);
    void *block = malloc(*size);
    assert_non_null(block);
    vy_bodies_save(b, block);
    return block;
}

static inline vy_bodies *new_set(double dt, double g, uint32_t reserve)
{
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b = NULL;
    def.dt = dt;
    def.gravity = vec3_make(0.0, 0.0, -g);
    def.contacts.reserve = reserve;
    def.contacts.on = 1;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    return b;
}

static inline vy_body_id add(vy_bodies *b, vy_body_kind kind, const vy_shape *shape, double mass,
                             vy_vec3 position, vy_vec3 velocity, vy_material material)
{
    vy_body_def def = vy_default_body_def();
    vy_body_id id;
    def.kind = kind;
    def.shape = shape;
    def.mass = mass;
    def.state.position = position;
    def.state.velocity = velocity;
    def.material = material;
    assert_int_equal(vy_bodies_add(b, &def, &id, NULL), VY_OK);
    return id;
}

static inline vy_body_state read(const vy_bodies *b, vy_body_id id)
{
    vy_body_state s;
    assert_int_equal(vy_body_read(b, id, &s), VY_OK);
    return s;
}

static inline vy_shape ball(double radius)
{
    vy_shape s = {0};
    assert_int_equal(vy_shape_sphere(radius, &s, NULL), VY_OK);
    return s;
}

static inline vy_shape box(double x, double y, double z)
{
    vy_shape s = {0};
    assert_int_equal(vy_shape_box(vec3_make(x, y, z), &s, NULL), VY_OK);
    return s;
}

static inline vy_shape plane(vy_vec3 normal)
{
    vy_shape s = {0};
    assert_int_equal(vy_shape_plane(normal, 0.0, &s, NULL), VY_OK);
    return s;
}

static inline vy_material surface(double friction, double restitution)
{
    return (vy_material){.friction = friction, .restitution = restitution};
}

/// Slots [first, last), two and two by a ball between their centres.
static inline void join_pairs(vy_bodies *b, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i + 1 < last; i += 2) {
        const vy_body_id x = vy_bodies_at(b, i), y = vy_bodies_at(b, i + 1);
        const vy_vec3 middle = vec3_scale(0.5, vec3_add(read(b, x).position, read(b, y).position));
        vy_joint_def def = vy_default_joint_def();
        def.kind = VY_JOINT_BALL;
        assert_int_equal(vy_joint_set_frames(b, x, y, middle, vec3_make(0, 0, 1), &def), VY_OK);
        assert_int_equal(vy_bodies_add_joint(b, &def, NULL, NULL), VY_OK);
    }
}

static inline void step(vy_bodies *b, int n)
{
    // In a crowd of fast bodies some may stand still for a part of a step: see test_impacts.c.
    for (int i = 0; i < n; ++i) assert_int_equal(vy_bodies_step(b) & ~(uint32_t)VY_BODIES_TIME_DROPPED, 0);
}

static inline double unit(uint64_t *x)
{
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return (double)(*x >> 11) * 0x1p-53;
}

/// Three of them, drawn one after the other: as arguments of one call their order would be the compiler's.
static inline vy_vec3 unit_vec(uint64_t *x)
{
    const double c = unit(x), b = unit(x), a = unit(x);
    return vec3_make(a, b, c);
}

/// An attitude, turned about some axis of positive components.
static inline vy_quat unit_turn(uint64_t *x)
{
    const vy_vec3 v = unit_vec(x);
    return quat_normalize(quat_make(1.0, v.x, v.y, v.z));
}
