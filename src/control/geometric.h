// geometric.h - tracking on SE(3): a trajectory to thrust and torque in one law, over `real`.
//
// T. Lee, M. Leok, N. McClamroch, Geometric tracking control of a quadrotor UAV on SE(3), CDC 2010; and D.
// Mellinger, V. Kumar, Minimum snap trajectory generation and control for quadrotors, ICRA 2011. Gains are
// those of the cascade, so that one set serves every law: k_x / m is `position`, k_v / m `velocity`, k_R / I
// `attitude` times `rate`, k_w / I `rate`.
//
//   A  = a_ref + k_x e_x + k_v e_v + integral - g,  f = m A . z_body,  b3 = A / |A|
//   b2 = b3 x (cos yaw, sin yaw, 0) / |...|,  b1 = b2 x b3,  R_d = (b1 b2 b3)
//   e_R = 1/2 (R_d^T R - R^T R_d)^v,  e_w = w - R^T R_d w_d
//   Lee:       t = I (-k_R e_R - k_w e_w) + w x I w - I (w x R^T R_d w_d - R^T R_d w_d')
//   Mellinger: t = I (-k_R e_R - k_w e_w)
//
// w_d and w_d' come from the derivatives of A: of the whole A for Lee (the errors' derivatives by the model),
// of the reference alone for Mellinger.
#pragma once
#include "control/path.h"

/// A unit vector and its first two derivatives.
typedef struct direction {
    vec3 u, d1, d2;
} direction;

/// Of a / |a| from a and its derivatives.
VY_FN direction direction_of(vec3 a, vec3 a1, vec3 a2)
{
    direction q;
    const real k = 1.0 / real_max(vec3_length(a), real_set(1e-9));
    q.u = vec3_scale(k, a);
    const real n1 = vec3_dot(q.u, a1);
    q.d1 = vec3_scale(k, vec3_add_scaled(a1, -n1, q.u));
    const real n2 = vec3_dot(q.u, a2) + vec3_dot(q.d1, a1);
    q.d2 = vec3_scale(k, vec3_add_scaled(vec3_add_scaled(a2, -2.0 * n1, q.d1), -n2, q.u));
    return q;
}

/// The direction of a x b.
VY_FN direction direction_cross(const direction *a, const direction *b)
{
    const vec3 c = vec3_cross(a->u, b->u);
    const vec3 c1 = vec3_add(vec3_cross(a->d1, b->u), vec3_cross(a->u, b->d1));
    const vec3 c2 = vec3_add(vec3_add(vec3_cross(a->d2, b->u), vec3_cross(a->u, b->d2)),
                             vec3_scale(real_set(2.0), vec3_cross(a->d1, b->d1)));
    return direction_of(c, c1, c2);
}

/// The desired frame, its angular velocity and acceleration in its own axes.
typedef struct desired_frame {
    mat3 r;
    vec3 rate, acceleration;
} desired_frame;

VY_FN desired_frame frame_of(const direction *b3, real yaw, real yaw_rate, real yaw_acceleration)
{
    real s, c;
    const real zero = real_set(0.0);
    math_sincos(yaw, &s, &c);
    direction nose;
    nose.u = vec3_make(c, s, zero);
    nose.d1 = vec3_make(-s * yaw_rate, c * yaw_rate, zero);
    nose.d2 = vec3_make(-s * yaw_acceleration - c * (yaw_rate * yaw_rate),
                        c * yaw_acceleration - s * (yaw_rate * yaw_rate), zero);
    const direction b2 = direction_cross(b3, &nose), b1 = direction_cross(&b2, b3);
    desired_frame f;
    const vec3 columns[3] = {b1.u, b2.u, b3->u};
    for (int k = 0; k < 3; ++k) {
        f.r.m[0][k] = columns[k].x;
        f.r.m[1][k] = columns[k].y;
        f.r.m[2][k] = columns[k].z;
    }
    f.rate = vec3_make(vec3_dot(b3->u, b2.d1), vec3_dot(b1.u, b3->d1), vec3_dot(b2.u, b1.d1));
    f.acceleration = vec3_make(0.5 * (vec3_dot(b3->u, b2.d2) - vec3_dot(b2.u, b3->d2)),
                               0.5 * (vec3_dot(b1.u, b3->d2) - vec3_dot(b3->u, b1.d2)),
                               0.5 * (vec3_dot(b2.u, b1.d2) - vec3_dot(b1.u, b2.d2)));
    return f;
}

/// 1/2 (R_d^T R - R^T R_d)^v
VY_FN vec3 attitude_error(mat3 desired, mat3 present)
{
    const mat3 e = mat3_mul(mat3_transpose(desired), present);
    return vec3_make(0.5 * (e.m[2][1] - e.m[1][2]), 0.5 * (e.m[0][2] - e.m[2][0]),
                     0.5 * (e.m[1][0] - e.m[0][1]));
}

/// The desired attitude for the desired acceleration A (without gravity's) with derivatives.
VY_FN desired_frame geometric_frame(const vec3 *a, const trajectory_point *r)
{
    const direction b3 = direction_of(a[0], a[1], a[2]);
    return frame_of(&b3, r->yaw, r->yaw_rate, r->yaw_acceleration);
}

/// The desired acceleration (without gravity's) and its derivatives, `a`, in the attitude `present`. Returns
/// the thrust over the mass.
VY_FN real trajectory_acceleration(const ladder_params *p, const trajectory_point *r,
                                   const estimator_state *e, const mat3 *attitude, int lee,
                                   const vec3 *integral, vec3 *a)
{
    const mat3 present = *attitude;
    const vec3 z = vec3_make(present.m[0][2], present.m[1][2], present.m[2][2]);
    const vec3 error = vec3_sub(r->d[0], e->position), velocity_error = vec3_sub(r->d[1], e->velocity);
    a[0] = vec3_sub(vec3_add(r->d[2], *integral), p->gravity);
    a[0] = vec3_add_scaled(vec3_add_scaled(a[0], p->position_gain, error), p->velocity_gain, velocity_error);
    mask limited;
    a[0] = acceleration_limited(p, a[0], &limited);
    const real specific_thrust = real_max(vec3_dot(a[0], z), real_set(0.0)); // thrust over mass
    a[1] = r->d[3];
    a[2] = r->d[4];
    if (lee) { // the errors change too: acceleration and jerk as thrust and attitude make them now
        const vec3 acceleration_error =
            vec3_sub(vec3_sub(r->d[2], p->gravity), vec3_scale(specific_thrust, z));
        const vec3 swing =
            mat3_mul_vec(present, vec3_make(specific_thrust * e->rate.y, -specific_thrust * e->rate.x,
                                            real_set(0.0))); // specific_thrust (w x z)
        const vec3 jerk_error = vec3_sub(r->d[3], swing);
        a[1] = vec3_add_scaled(vec3_add_scaled(a[1], p->position_gain, velocity_error), p->velocity_gain,
                               acceleration_error);
        a[2] = vec3_add_scaled(vec3_add_scaled(a[2], p->position_gain, acceleration_error), p->velocity_gain,
                               jerk_error);
    }
    return specific_thrust;
}

/// Trajectory -> thrust (returned) and torque. `lee` 0: Mellinger's law.
VY_FN real lower_trajectory(const ladder_params *p, const trajectory_point *r, const estimator_state *e,
                            int lee, vec3 *integral, vec3 *torque)
{
    const mat3 present = quat_matrix(e->attitude);
    const vec3 error = vec3_sub(r->d[0], e->position);
    const vec3 i = integral_clamped(p, vec3_add_scaled(*integral, p->integral_gain * p->period, error));
    *integral = i;
    vec3 a[3];
    const real specific_thrust = trajectory_acceleration(p, r, e, &present, lee, &i, a);
    const desired_frame f = geometric_frame(a, r);
    const vec3 tilt = attitude_error(f.r, present);
    const mat3 between = mat3_mul(mat3_transpose(present), f.r);
    const vec3 rate = mat3_mul_vec(between, f.rate);
    vec3 spin = vec3_scale(p->rate_gain, vec3_sub(rate, e->rate));
    spin = vec3_sub(spin, vec3_scale(p->rate_gain, vec3_mul(p->attitude_gain, tilt)));
    if (lee) {
        const vec3 ahead = mat3_mul_vec(between, f.acceleration);
        spin = vec3_add(spin, vec3_sub(ahead, vec3_cross(e->rate, rate)));
    }
    vec3 t = mat3_mul_vec(p->inertia, spin);
    if (lee) t = vec3_add(t, vec3_cross(e->rate, mat3_mul_vec(p->inertia, e->rate)));
    *torque = t;
    return p->mass * specific_thrust;
}
