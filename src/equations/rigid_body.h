// rigid_body.h - Newton's and Euler's equations of one rigid body, and the pieces of its RK4 step.
//
//   p' = v                                   world
//   v' = (R(q) F_body + F_world) / m + g     world
//   q' = 1/2 q (0, w)                        q turns body into world
//   w' = I^-1 (t_body - w x I w)             body
//
// A stage quaternion of RK4 is not quite of unit length. The right-hand side is smooth off the unit sphere
// and keeps the sphere invariant, so fourth order holds; the step ends with a renormalisation.
#pragma once
#include "base/vec.h"

#if VY_LANES == 1 && !VY_SINGLE
typedef vy_body_state body_state;
#else
typedef struct body_state {
    vec3 position; // [m] world
    vec3 velocity; // [m/s] world
    quat attitude; // q_WB
    vec3 rate;     // [rad/s] body
} body_state;
#endif

typedef struct body_params {
    real inverse_mass; // [1/kg]
    mat3 inertia;      // [kg m^2] body axes, about the centre of mass, symmetric
    mat3 inverse_inertia;
} body_params;

/// Forces and torques in the frame in which each is constant. Accumulators: start at loads_zero(), only add.
typedef struct body_loads {
    vec3 force_world;  // [N]
    vec3 force_body;   // [N]
    vec3 torque_world; // [N m]
    vec3 torque_body;  // [N m]
} body_loads;

/// Time derivative of a body_state, member by member.
typedef struct body_derivatives {
    vec3 velocity;
    vec3 acceleration;
    quat attitude_rate;
    vec3 rate_dot;
} body_derivatives;

VY_FN body_loads loads_zero(void)
{
    body_loads l = {vec3_zero(), vec3_zero(), vec3_zero(), vec3_zero()};
    return l;
}

/// What was added to `before`.
VY_FN body_loads loads_added(const body_loads *before, const body_loads *after)
{
    body_loads l = {vec3_sub(after->force_world, before->force_world),
                    vec3_sub(after->force_body, before->force_body),
                    vec3_sub(after->torque_world, before->torque_world),
                    vec3_sub(after->torque_body, before->torque_body)};
    return l;
}

VY_FN mask vec3_any_nonzero(vec3 v) { return (v.x != 0.0) | (v.y != 0.0) | (v.z != 0.0); }

/// q' = 1/2 q (0, w)
VY_FN quat attitude_derivative(quat q, vec3 w)
{
    return quat_make(-0.5 * ((q.x * w.x + q.y * w.y) + q.z * w.z),
                     0.5 * ((q.w * w.x - q.z * w.y) + q.y * w.z), 0.5 * ((q.w * w.y - q.x * w.z) + q.z * w.x),
                     0.5 * ((q.w * w.z - q.y * w.x) + q.x * w.y));
}

/// `rotation` is quat_matrix(s->attitude), which the caller has at hand.
VY_FN body_derivatives body_derivative(const body_params *p, const body_state *s, mat3 rotation,
                                       const body_loads *loads, vec3 gravity)
{
    vec3 torque = loads->torque_body;
    if (mask_any(vec3_any_nonzero(loads->torque_world))) {
        torque = vec3_add(torque, mat3_tmul_vec(rotation, loads->torque_world));
    }
    const vec3 force = vec3_add(mat3_mul_vec(rotation, loads->force_body), loads->force_world);
    const vec3 momentum = mat3_mul_vec(p->inertia, s->rate);
    const vec3 torque_net = vec3_sub(torque, vec3_cross(s->rate, momentum));

    body_derivatives d;
    d.velocity = s->velocity;
    d.acceleration = vec3_add_scaled(gravity, p->inverse_mass, force);
    d.attitude_rate = attitude_derivative(s->attitude, s->rate);
    d.rate_dot = mat3_mul_vec(p->inverse_inertia, torque_net);
    return d;
}

/// s + h d: the state of an RK4 stage.
VY_FN body_state body_advance(const body_state *s, real h, const body_derivatives *d)
{
    body_state n;
    n.position = vec3_add_scaled(s->position, h, d->velocity);
    n.velocity = vec3_add_scaled(s->velocity, h, d->acceleration);
    n.attitude = quat_add_scaled(s->attitude, h, d->attitude_rate);
    n.rate = vec3_add_scaled(s->rate, h, d->rate_dot);
    return n;
}

VY_FN vec3 rk4_sum(vec3 a, vec3 b, vec3 c, vec3 d)
{
    return vec3_add(vec3_add(a, d), vec3_scale(real_set(2.0), vec3_add(b, c)));
}

/// The new state from the four stages: s + h/6 (k1 + 2 k2 + 2 k3 + k4), attitude renormalised.
VY_FN body_state body_rk4_finish(const body_state *s, real h, const body_derivatives *k1,
                                 const body_derivatives *k2, const body_derivatives *k3,
                                 const body_derivatives *k4)
{
    const real w = h * (1.0 / 6.0);
    const quat q = quat_add(quat_add(k1->attitude_rate, k4->attitude_rate),
                            quat_scale(real_set(2.0), quat_add(k2->attitude_rate, k3->attitude_rate)));
    body_derivatives sum;
    sum.velocity = rk4_sum(k1->velocity, k2->velocity, k3->velocity, k4->velocity);
    sum.acceleration = rk4_sum(k1->acceleration, k2->acceleration, k3->acceleration, k4->acceleration);
    sum.attitude_rate = q;
    sum.rate_dot = rk4_sum(k1->rate_dot, k2->rate_dot, k3->rate_dot, k4->rate_dot);
    body_state n = body_advance(s, w, &sum);
    n.attitude = quat_normalize(n.attitude);
    return n;
}

/// Neither NaN nor beyond REAL_MAX: a NaN survives every addition.
VY_FN mask body_is_finite(const body_state *b)
{
    const real position_size = (real_abs(b->position.x) + real_abs(b->position.y)) + real_abs(b->position.z);
    const real velocity_size = (real_abs(b->velocity.x) + real_abs(b->velocity.y)) + real_abs(b->velocity.z);
    const real rate_size = (real_abs(b->rate.x) + real_abs(b->rate.y)) + real_abs(b->rate.z);
    const real attitude_sum = (b->attitude.w + b->attitude.x) + (b->attitude.y + b->attitude.z);
    return (position_size + velocity_size) + (rate_size + real_abs(attitude_sum)) <= REAL_MAX;
}
