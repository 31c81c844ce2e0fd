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
//
// A vehicle's drag is fed forward along the reference: A gains R_r D R_r^T v_ref, with the attitude R_r that
// a drone with this drag has on the trajectory, the torque what the air turns it by (M. Faessler, A. Franchi,
// D. Scaramuzza, Differential flatness of quadrotor dynamics subject to rotor drag for accurate tracking of
// high-speed trajectories, IEEE RA-L 3(2), 2018).
#pragma once
#include "control/path.h"

/// A unit vector and its first two derivatives.
typedef struct direction {
    vec3 u;      // the unit vector
    vec3 d1, d2; // its derivatives [1/s] [1/s^2]
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
    mat3 r;                  // R_d: its columns are b1, b2, b3, in world axes
    vec3 rate, acceleration; // [rad/s] [rad/s^2]
} desired_frame;

/// Where the nose points over the ground.
VY_FN direction nose_of(const trajectory_point *r)
{
    real s, c;
    const real zero = real_set(0.0), rate = r->yaw_rate, acceleration = r->yaw_acceleration;
    math_sincos(r->yaw, &s, &c);
    direction nose;
    nose.u = vec3_make(c, s, zero);
    nose.d1 = vec3_make(-s * rate, c * rate, zero);
    nose.d2 = vec3_make(-s * acceleration - c * (rate * rate), c * acceleration - s * (rate * rate), zero);
    return nose;
}

VY_FN desired_frame frame_of(const direction *b1, const direction *b2, const direction *b3)
{
    desired_frame f;
    const vec3 columns[3] = {b1->u, b2->u, b3->u};
    for (int k = 0; k < 3; ++k) {
        f.r.m[0][k] = columns[k].x;
        f.r.m[1][k] = columns[k].y;
        f.r.m[2][k] = columns[k].z;
    }
    f.rate = vec3_make(vec3_dot(b3->u, b2->d1), vec3_dot(b1->u, b3->d1), vec3_dot(b2->u, b1->d1));
    f.acceleration = vec3_make(0.5 * (vec3_dot(b3->u, b2->d2) - vec3_dot(b2->u, b3->d2)),
                               0.5 * (vec3_dot(b1->u, b3->d2) - vec3_dot(b3->u, b1->d2)),
                               0.5 * (vec3_dot(b2->u, b1->d2) - vec3_dot(b1->u, b2->d2)));
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
    const direction b3 = direction_of(a[0], a[1], a[2]), nose = nose_of(r);
    const direction b2 = direction_cross(&b3, &nose), b1 = direction_cross(&b2, &b3);
    return frame_of(&b1, &b2, &b3);
}

/// What drag asks for along the reference.
typedef struct drag_feedforward {
    mask is_active; // in lanes whose vehicle has drag
    vec3 force[3];  // [m/s^2] R_r D R_r^T v_ref, world, and its first two derivatives
    vec3 torque;    // [N m] against what the air turns the drone by, axes of R_r
} drag_feedforward;

/// R_r: its x is across a - g + d_x v, its y across a - g + d_y v and the nose (Faessler 2018, whose x is
/// across the heading's y).
VY_FN desired_frame frame_with_drag(const ladder_params *p, const trajectory_point *r)
{
    mask is_limited;
    vec3 x[3], y[3];
    x[0] = vec3_add_scaled(vec3_sub(r->d[2], p->gravity), p->drag.x, r->d[1]);
    x[0] = acceleration_limited(p, x[0], &is_limited);
    for (int k = 1; k < 3; ++k) x[k] = vec3_add_scaled(r->d[k + 2], p->drag.x, r->d[k + 1]);
    for (int k = 0; k < 3; ++k) y[k] = vec3_add_scaled(x[k], p->drag.y - p->drag.x, r->d[k + 1]);
    const direction alpha = direction_of(x[0], x[1], x[2]), beta = direction_of(y[0], y[1], y[2]);
    const direction nose = nose_of(r), b2 = direction_cross(&beta, &nose), b1 = direction_cross(&b2, &alpha),
                    b3 = direction_cross(&b1, &b2);
    return frame_of(&b1, &b2, &b3);
}

/// In still air, by what the vehicle declares of its drag.
VY_FN drag_feedforward drag_feedforward_at(const ladder_params *p, const trajectory_point *r)
{
    drag_feedforward out;
    memset(&out, 0, sizeof out);
    out.is_active = p->has_drag > 0.0;
    if (!mask_any(out.is_active)) return out;
    const desired_frame f = frame_with_drag(p, r);
    const vec3 w = f.rate;
    // In the axes of the frame: velocity and its derivatives there, drag, and its derivatives in the world.
    const vec3 a = mat3_tmul_vec(f.r, r->d[2]), a1 = vec3_sub(mat3_tmul_vec(f.r, r->d[3]), vec3_cross(w, a));
    const vec3 v = mat3_tmul_vec(f.r, r->d[1]), v1 = vec3_sub(a, vec3_cross(w, v));
    const vec3 v2 = vec3_sub(vec3_sub(a1, vec3_cross(f.acceleration, v)), vec3_cross(w, v1));
    const vec3 d = vec3_mul(p->drag, v), d1 = vec3_mul(p->drag, v1), d2 = vec3_mul(p->drag, v2);
    const vec3 derivative_1 = vec3_add(d1, vec3_cross(w, d));
    const vec3 derivative_2 =
        vec3_add(vec3_add(d2, vec3_cross(f.acceleration, d)), vec3_cross(w, vec3_add(d1, derivative_1)));
    out.force[0] = mat3_mul_vec(f.r, d);
    out.force[1] = mat3_mul_vec(f.r, derivative_1);
    out.force[2] = mat3_mul_vec(f.r, derivative_2);
    out.torque = vec3_add(mat3_mul_vec(p->drag_torque, v), mat3_mul_vec(p->drag_damping, w));
    return out;
}

/// `a` with `b` added in the lanes that have drag; the others keep their bits.
VY_FN vec3 add_drag(const drag_feedforward *drag, vec3 a, vec3 b)
{
    return vec3_select(drag->is_active, vec3_add(a, b), a);
}

/// The desired acceleration (without gravity's) and its derivatives, `a`, in the attitude `present`. Returns
/// the thrust over the mass.
VY_FN real trajectory_acceleration(const ladder_params *p, const trajectory_point *r,
                                   const drag_feedforward *drag, const estimator_state *e,
                                   const mat3 *attitude, int is_lee, const vec3 *integral, vec3 *a)
{
    const mat3 present = *attitude;
    const vec3 z = vec3_make(present.m[0][2], present.m[1][2], present.m[2][2]);
    const vec3 error = vec3_sub(r->d[0], e->position), velocity_error = vec3_sub(r->d[1], e->velocity);
    a[0] = add_drag(drag, vec3_sub(vec3_add(r->d[2], *integral), p->gravity), drag->force[0]);
    a[0] = vec3_add_scaled(vec3_add_scaled(a[0], p->position_gain, error), p->velocity_gain, velocity_error);
    mask is_limited;
    a[0] = acceleration_limited(p, a[0], &is_limited);
    const real specific_thrust = real_max(vec3_dot(a[0], z), real_set(0.0)); // thrust over mass
    a[1] = add_drag(drag, r->d[3], drag->force[1]);
    a[2] = add_drag(drag, r->d[4], drag->force[2]);
    if (is_lee) { // the errors change too: acceleration and jerk as thrust, attitude and drag make them now
        const vec3 desired = add_drag(drag, vec3_sub(r->d[2], p->gravity), drag->force[0]);
        const vec3 acceleration_error = vec3_sub(desired, vec3_scale(specific_thrust, z));
        const vec3 thrust_rate =
            mat3_mul_vec(present, vec3_make(specific_thrust * e->rate.y, -specific_thrust * e->rate.x,
                                            real_set(0.0))); // specific_thrust (w x z)
        const vec3 jerk_error = vec3_sub(add_drag(drag, r->d[3], drag->force[1]), thrust_rate);
        a[1] = vec3_add_scaled(vec3_add_scaled(a[1], p->position_gain, velocity_error), p->velocity_gain,
                               acceleration_error);
        a[2] = vec3_add_scaled(vec3_add_scaled(a[2], p->position_gain, acceleration_error), p->velocity_gain,
                               jerk_error);
    }
    return specific_thrust;
}

/// Trajectory -> thrust (returned) and torque. `is_lee` 0: Mellinger's law.
VY_FN real lower_trajectory(const ladder_params *p, const trajectory_point *r, const estimator_state *e,
                            int is_lee, vec3 *integral, vec3 *torque)
{
    const mat3 present = quat_matrix(e->attitude);
    const vec3 error = vec3_sub(r->d[0], e->position);
    const vec3 new_integral =
        integral_clamped(p, vec3_add_scaled(*integral, p->integral_gain * p->period, error));
    *integral = new_integral;
    vec3 a[3];
    const drag_feedforward drag = drag_feedforward_at(p, r);
    const real specific_thrust = trajectory_acceleration(p, r, &drag, e, &present, is_lee, &new_integral, a);
    const desired_frame frame = geometric_frame(a, r);
    const vec3 rotation_error = attitude_error(frame.r, present);
    const mat3 relative_rotation = mat3_mul(mat3_transpose(present), frame.r);
    const vec3 rate = mat3_mul_vec(relative_rotation, frame.rate);
    vec3 angular_acceleration = vec3_scale(p->rate_gain, vec3_sub(rate, e->rate));
    angular_acceleration =
        vec3_sub(angular_acceleration, vec3_scale(p->rate_gain, vec3_mul(p->attitude_gain, rotation_error)));
    if (is_lee) {
        const vec3 feedforward = mat3_mul_vec(relative_rotation, frame.acceleration);
        angular_acceleration =
            vec3_add(angular_acceleration, vec3_sub(feedforward, vec3_cross(e->rate, rate)));
    }
    vec3 torque_sum = mat3_mul_vec(p->inertia, angular_acceleration);
    if (is_lee) torque_sum = vec3_add(torque_sum, vec3_cross(e->rate, mat3_mul_vec(p->inertia, e->rate)));
    *torque = add_drag(&drag, torque_sum, drag.torque);
    return p->mass * specific_thrust;
}
