// body_step.h - the pieces of a rigid body's step by each integrator but RK4. Over `real`.
#pragma once
#include "equations/rigid_body.h"

/// The forces on a body at one moment.
typedef struct body_wrench {
    vec3 acceleration; // [m/s^2] world: gravity, and force over mass
    vec3 torque;       // [N m] body, without the gyroscopic term
} body_wrench;

/// w' = I^-1 (torque - w x I w)
VY_FN vec3 angular_acceleration(const body_params *p, vec3 w, vec3 torque)
{
    return mat3_mul_vec(p->inverse_inertia, vec3_sub(torque, vec3_cross(w, mat3_mul_vec(p->inertia, w))));
}

/// Forward Euler: everything with the rates at the start.
VY_FN body_state body_euler(const body_params *p, const body_state *s, real h, const body_wrench *wrench)
{
    body_derivatives d;
    d.velocity = s->velocity;
    d.acceleration = wrench->acceleration;
    d.attitude_rate = attitude_derivative(s->attitude, s->rate);
    d.rate_dot = angular_acceleration(p, s->rate, wrench->torque);
    body_state n = body_advance(s, h, &d);
    n.attitude = quat_normalize(n.attitude);
    return n;
}

/// In the order of the requirements: velocity, position, rate, quaternion rate, quaternion, unit length.
VY_FN body_state body_semi_implicit(const body_params *p, const body_state *s, real h,
                                    const body_wrench *wrench)
{
    body_state n;
    n.velocity = vec3_add_scaled(s->velocity, h, wrench->acceleration);
    n.position = vec3_add_scaled(s->position, h, n.velocity);
    n.rate = vec3_add_scaled(s->rate, h, angular_acceleration(p, s->rate, wrench->torque));
    const quat turn = attitude_derivative(s->attitude, n.rate);
    n.attitude = quat_normalize(quat_add_scaled(s->attitude, h, turn));
    return n;
}

/// The velocities after a wrench over h; the pose stays.
VY_FN body_state body_kicked(const body_params *p, const body_state *s, real h, const body_wrench *wrench)
{
    body_state n = *s;
    n.velocity = vec3_add_scaled(s->velocity, h, wrench->acceleration);
    n.rate = vec3_add_scaled(s->rate, h, mat3_mul_vec(p->inverse_inertia, wrench->torque));
    return n;
}

/// One free turn of length h by the midpoint rule (Austin, Krishnaprasad and Wang 1993). With the mean rate
/// W:
///   I (w' - w) = -h W x I W,  w + w' = 2 W   keeps |I w| and w.Iw, for the product is square to IW and W;
///   q' = q (1, h W / 2) / length             the same rotation, so the momentum in world axes stays too.
/// W is found by Newton's method, which needs two steps or so. Only differences of rates go through the
/// inertia, so that its rounding does not add up over a million steps.
VY_FN void spin_midpoint(const body_params *p, real h, body_state *s)
{
    const real half = 0.5 * h;
    const vec3 momentum = mat3_mul_vec(p->inertia, s->rate);
    vec3 w = vec3_add_scaled(s->rate, -half, mat3_mul_vec(p->inverse_inertia, vec3_cross(s->rate, momentum)));
    for (int step = 0; step < 8; ++step) {
        const vec3 iw = mat3_mul_vec(p->inertia, w);
        const vec3 change = mat3_mul_vec(p->inertia, vec3_sub(w, s->rate));
        const vec3 error = vec3_add_scaled(change, half, vec3_cross(w, iw));
        const mask unconverged = vec3_dot(error, error) > 1e-34 * vec3_dot(momentum, momentum);
        if (!mask_any(unconverged)) break; // a lane that is done stays as it is while others continue
        // Derivative of the error: I + h/2 ([w] I - [iw]), [a] b = a x b.
        const mat3 wx = mat3_cross(w), ix = mat3_cross(iw), wi = mat3_mul(wx, p->inertia);
        mat3 d = p->inertia;
        for (int r = 0; r < 3; ++r) {
            for (int c = 0; c < 3; ++c) d.m[r][c] = d.m[r][c] + half * (wi.m[r][c] - ix.m[r][c]);
        }
        w = vec3_select(unconverged, vec3_sub(w, mat3_mul_vec(mat3_inverse(d), error)), w);
    }
    const vec3 turn = vec3_scale(half, w);
    s->attitude = quat_normalize(quat_mul(s->attitude, quat_make(real_set(1.0), turn.x, turn.y, turn.z)));
    s->rate = vec3_sub(vec3_scale(real_set(2.0), w), s->rate);
}

/// [rad] Longest turn of one step of the midpoint rule, and of RK4 where a world's plant takes it.
#define MAX_STEP_ROTATION 0.25

VY_FN mask rotates_too_far(const body_state *s, real h)
{
    return vec3_dot(s->rate, s->rate) * (h * h) > MAX_STEP_ROTATION * MAX_STEP_ROTATION;
}

/// A free turn of any length: sub-steps of at most half a radian, each five steps of the midpoint rule by
/// Suzuki's composition of fourth order (M. Suzuki, Phys. Lett. A 146, 1990). A lane's number of sub-steps
/// depends on its own rate alone.
VY_COLD_FN void spin_in_substeps(const body_params *p, real h, body_state *s)
{
    const double outer = 0.41449077179437571, inner = 1.0 - 4.0 * outer; // 1 / (4 - 4^(1/3))
    const double parts[5] = {outer, outer, inner, outer, outer};
    const real substeps_needed = real_min(2.0 * h * vec3_length(s->rate), real_set(4095.0));
    real count = real_set(1.0);
    while (mask_any(count < substeps_needed))
        count = count + real_select(count < substeps_needed, real_set(1.0), real_set(0.0));
    for (int n = 0; mask_any(count > (double)n); ++n) {
        body_state turned = *s;
        for (int k = 0; k < 5; ++k) spin_midpoint(p, parts[k] * h / count, &turned);
        const mask active = count > (double)n;
        s->attitude = quat_select(active, turned.attitude, s->attitude);
        s->rate = vec3_select(active, turned.rate, s->rate);
    }
}

/// Between two kicks: straight on, and one free turn.
VY_FN body_state body_drifted(const body_params *p, const body_state *s, real h)
{
    body_state n = *s;
    n.position = vec3_add_scaled(s->position, h, s->velocity);
    const mask is_fast = rotates_too_far(s, h);
    if (mask_any(is_fast)) {
        body_state turned = n;
        spin_in_substeps(p, h, &turned);
        spin_midpoint(p, h, &n);
        n.attitude = quat_select(is_fast, turned.attitude, n.attitude);
        n.rate = vec3_select(is_fast, turned.rate, n.rate);
        return n;
    }
    spin_midpoint(p, h, &n);
    return n;
}
