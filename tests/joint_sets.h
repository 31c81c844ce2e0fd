// joint_sets.h - sets of joined bodies that the tests of joints share.
#pragma once
#include "check.h"
#include "volery/joint.h"

#define G 9.80665

static inline vy_bodies *set_with(double dt, double gravity, vy_integrator integrator)
{
    vy_bodies_def def = vy_default_bodies_def();
    def.dt = dt;
    def.gravity = (vy_vec3){0, 0, -gravity};
    def.integrator = integrator;
    vy_bodies *b = NULL;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    return b;
}

static inline vy_bodies *set_of(double gravity) { return set_with(1e-3, gravity, VY_INTEGRATOR_RK4); }

/// A box of the given half sides.
static inline vy_body_id add_box(vy_bodies *b, double mass, vy_vec3 half, vy_body_state state)
{
    vy_shape shape;
    assert_int_equal(vy_shape_box(half, &shape, NULL), VY_OK);
    vy_body_def def = vy_default_body_def();
    def.shape = &shape;
    def.mass = mass;
    def.state = state;
    vy_body_id id;
    assert_int_equal(vy_bodies_add(b, &def, &id, NULL), VY_OK);
    return id;
}

static inline vy_body_state standing(double x, double y, double z)
{
    return (vy_body_state){.position = {x, y, z}, .attitude = {1, 0, 0, 0}};
}

static inline vy_body_state state_of(const vy_bodies *b, vy_body_id id)
{
    vy_body_state s;
    assert_int_equal(vy_body_read(b, id, &s), VY_OK);
    return s;
}

static inline vy_joint_id join(vy_bodies *b, vy_joint_kind kind, vy_body_id x, vy_body_id y, vy_vec3 point,
                               vy_vec3 axis)
{
    vy_joint_def def = vy_default_joint_def();
    def.kind = kind;
    assert_int_equal(vy_joint_set_frames(b, x, y, point, axis, &def), VY_OK);
    vy_joint_id id;
    assert_int_equal(vy_bodies_add_joint(b, &def, &id, NULL), VY_OK);
    return id;
}

static inline vy_joint_state joint_of(const vy_bodies *b, vy_joint_id id)
{
    vy_joint_state s;
    assert_int_equal(vy_joint_read(b, id, &s), VY_OK);
    return s;
}

static inline double total_energy(const vy_bodies *b)
{
    const vy_bodies_energy e = vy_bodies_read_energy(b);
    return e.kinetic + e.potential;
}

static inline void run(vy_bodies *b, int steps)
{
    for (int k = 0; k < steps; ++k) assert_int_equal(vy_bodies_step(b), 0);
}

/// The complete elliptic integral K of modulus k, by the arithmetic-geometric mean.
static inline double elliptic_k(double k)
{
    double a = 1.0, g = sqrt(1.0 - k * k);
    for (int n = 0; n < 10; ++n) {
        const double mean = 0.5 * (a + g);
        g = sqrt(a * g);
        a = mean;
    }
    return PI / (2.0 * a);
}

/// A level chain of `links` links of 0.2 m from the origin along x, the first joined to the world.
static inline void add_chain(vy_bodies *b, int links, vy_body_id *ids)
{
    vy_body_id last = VY_NULL_BODY;
    for (int k = 0; k < links; ++k) {
        ids[k] = add_box(b, 0.1, (vy_vec3){0.1, 0.02, 0.02}, standing((k + 0.5) * 0.2, 0, 0));
        join(b, VY_JOINT_BALL, last, ids[k], (vy_vec3){k * 0.2, 0, 0}, (vy_vec3){0, 0, 1});
        last = ids[k];
    }
}
