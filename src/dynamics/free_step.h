// free_step.h - one step of one body without joints and contacts, by each integrator.
//
// The equations are those of equations/rigid_body.h. Applied forces are held over the step in the axes they
// were given in; potentials are evaluated at every stage.
#pragma once
#include "base/assert.h"
#include "base/math.h"
#include "dynamics/bodies.h"
#include "equations/body_step.h"

VY_FN body_wrench wrench_at(const vy_bodies *b, uint32_t i, const body_state *s)
{
    VY_ASSERT(i < b->slot_count && body_is_dynamic(b, i));
    body_wrench wrench = {b->def.gravity, vec3_zero()};
    if (b->has_loads[i]) {
        const body_loads *l = &b->loads[i];
        const mat3 r = quat_matrix(s->attitude);
        const vec3 force = vec3_add(mat3_mul_vec(r, l->force_body), l->force_world);
        wrench.acceleration = vec3_add_scaled(wrench.acceleration, b->params[i].inverse_mass, force);
        wrench.torque = vec3_add(l->torque_body, mat3_tmul_vec(r, l->torque_world));
    }
    if (b->potential_count != 0) {
        const vy_potential_body body = body_for_potential(b, i, s);
        vec3 force = vec3_zero(), torque = vec3_zero();
        for (uint32_t k = 0; k < b->potential_count; ++k) {
            if (i < b->potentials[k].first || i >= b->potentials[k].last) continue;
            vy_potential_add_loads(&b->potentials[k].potential, &body, &force, &torque);
        }
        wrench.acceleration = vec3_add_scaled(wrench.acceleration, b->params[i].inverse_mass, force);
        wrench.torque = vec3_add(wrench.torque, quat_unrotate(s->attitude, torque));
    }
    return wrench;
}

VY_FN body_derivatives derivative_at(const vy_bodies *b, uint32_t i, const body_state *s)
{
    const body_wrench wrench = wrench_at(b, i, s);
    body_derivatives d;
    d.velocity = s->velocity;
    d.acceleration = wrench.acceleration;
    d.attitude_rate = attitude_derivative(s->attitude, s->rate);
    d.rate_dot = angular_acceleration(&b->params[i], s->rate, wrench.torque);
    return d;
}

// Half a kick, a drift with one free turn, half a kick.
VY_FN body_state lie_midpoint_from(const vy_bodies *b, uint32_t i, const body_state *s, double h)
{
    const body_params *params = &b->params[i];
    body_wrench wrench = wrench_at(b, i, s);
    const body_state kicked = body_kicked(params, s, 0.5 * h, &wrench);
    const body_state drifted = body_drifted(params, &kicked, h);
    wrench = wrench_at(b, i, &drifted);
    return body_kicked(params, &drifted, 0.5 * h, &wrench);
}

/// [rad] A body that turns by more in a step takes the step below instead of its integrator's.
#define FAST_STEP_ROTATION 0.1
/// [rad] The same for the Euler steps, which are to continue, no more; of a whole step, for the parts from
/// impact to impact add up.
#define MAX_EULER_ROTATION 0.5

VY_FN int rotates_more_than(const vy_bodies *b, uint32_t i, double h, double angle)
{
    const vec3 w = b->state[i].rate;
    return vec3_dot(w, w) * (h * h) > angle * angle;
}

VY_FN int rotates_fast(const vy_bodies *b, uint32_t i, double h)
{
    return rotates_more_than(b, i, h, FAST_STEP_ROTATION);
}

/// The step of a body that turns fast: sub-steps of at most half a radian, each five steps of the Lie
/// midpoint rule by Suzuki's composition of fourth order (M. Suzuki, Phys. Lett. A 146, 1990). Each of them
/// keeps the energy and the angular momentum of free rotation; RK4 loses energy there, and ends from about
/// two radians a step on.
static inline body_state free_fast_rotation(const vy_bodies *b, uint32_t i, double h)
{
    enum { MAX_PARTS = 4096 };
    const double outer_weight = 0.41449077179437571,
                 inner_weight = 1.0 - 4.0 * outer_weight; // 1 / (4 - 4^(1/3))
    body_state s = b->state[i];
    const double parts = real_min(2.0 * h * vec3_length(s.rate), (double)MAX_PARTS);
    const int count = (int)parts + 1;
    const double part_h = h / (double)count;
    for (int n = 0; n < count; ++n) {
        s = lie_midpoint_from(b, i, &s, outer_weight * part_h);
        s = lie_midpoint_from(b, i, &s, outer_weight * part_h);
        s = lie_midpoint_from(b, i, &s, inner_weight * part_h);
        s = lie_midpoint_from(b, i, &s, outer_weight * part_h);
        s = lie_midpoint_from(b, i, &s, outer_weight * part_h);
    }
    return s;
}

VY_FN body_state free_euler(const vy_bodies *b, uint32_t i, double h)
{
    if (rotates_more_than(b, i, b->def.dt, MAX_EULER_ROTATION)) return free_fast_rotation(b, i, h);
    const body_wrench wrench = wrench_at(b, i, &b->state[i]);
    return body_euler(&b->params[i], &b->state[i], h, &wrench);
}

VY_FN body_state free_semi_implicit(const vy_bodies *b, uint32_t i, double h)
{
    if (rotates_more_than(b, i, b->def.dt, MAX_EULER_ROTATION)) return free_fast_rotation(b, i, h);
    const body_wrench wrench = wrench_at(b, i, &b->state[i]);
    return body_semi_implicit(&b->params[i], &b->state[i], h, &wrench);
}

VY_FN body_state free_rk4(const vy_bodies *b, uint32_t i, double h)
{
    if (rotates_fast(b, i, h)) return free_fast_rotation(b, i, h);
    const body_state *s = &b->state[i];
    const body_derivatives k1 = derivative_at(b, i, s);
    const body_state s2 = body_advance(s, 0.5 * h, &k1);
    const body_derivatives k2 = derivative_at(b, i, &s2);
    const body_state s3 = body_advance(s, 0.5 * h, &k2);
    const body_derivatives k3 = derivative_at(b, i, &s3);
    const body_state s4 = body_advance(s, h, &k3);
    const body_derivatives k4 = derivative_at(b, i, &s4);
    return body_rk4_finish(s, h, &k1, &k2, &k3, &k4);
}

VY_FN body_state free_lie_midpoint(const vy_bodies *b, uint32_t i, double h)
{
    if (rotates_fast(b, i, h)) return free_fast_rotation(b, i, h);
    return lie_midpoint_from(b, i, &b->state[i], h);
}

/// A kinematic body: constant velocity and constant rate.
VY_FN body_state body_step_kinematic(const body_state *s, double h)
{
    body_state next = *s;
    next.position = vec3_add_scaled(s->position, h, s->velocity);
    const double rate = vec3_length(s->rate);
    if (rate == 0.0) return next;
    double sine, cosine;
    math_sincos(0.5 * h * rate, &sine, &cosine);
    const vec3 u = vec3_scale(sine / rate, s->rate);
    next.attitude = quat_normalize(quat_mul(s->attitude, quat_make(cosine, u.x, u.y, u.z)));
    return next;
}
