// free_step.h - one step of one body that nothing holds, by each integrator.
//
// The equations are those of equations/rigid_body.h. Forces are what was applied, held over the step in the
// axes they were given in, and potentials, which are evaluated at every stage.
#pragma once
#include "base/math.h"
#include "dynamics/bodies.h"

/// What pushes a body, at one moment.
typedef struct body_push {
    vec3 acceleration; // [m/s^2] world: force over mass
    vec3 torque;       // [N m] body, without the gyroscopic term
} body_push;

VY_FN body_push push_at(const vy_bodies *b, uint32_t i, const body_state *s)
{
    body_push p = {b->def.gravity, vec3_zero()};
    if (b->loaded[i]) {
        const body_loads *l = &b->loads[i];
        const mat3 r = quat_matrix(s->attitude);
        const vec3 force = vec3_add(mat3_mul_vec(r, l->force_body), l->force_world);
        p.acceleration = vec3_add_scaled(p.acceleration, b->params[i].inverse_mass, force);
        p.torque = vec3_add(l->torque_body, mat3_tmul_vec(r, l->torque_world));
    }
    if (b->field_count != 0) {
        const vy_potential_body body = body_for_potential(b, i, s);
        vec3 force = vec3_zero(), torque = vec3_zero();
        for (uint32_t k = 0; k < b->field_count; ++k) {
            if (i < b->fields[k].first || i >= b->fields[k].last) continue;
            vy_potential_add(&b->fields[k].potential, &body, &force, &torque);
        }
        p.acceleration = vec3_add_scaled(p.acceleration, b->params[i].inverse_mass, force);
        p.torque = vec3_add(p.torque, quat_unrotate(s->attitude, torque));
    }
    return p;
}

/// w' = I^-1 (torque - w x I w)
VY_FN vec3 spin_rate(const body_params *p, vec3 w, vec3 torque)
{
    return mat3_mul_vec(p->inverse_inertia, vec3_sub(torque, vec3_cross(w, mat3_mul_vec(p->inertia, w))));
}

VY_FN body_rates rates_at(const vy_bodies *b, uint32_t i, const body_state *s)
{
    const body_push p = push_at(b, i, s);
    body_rates d;
    d.velocity = s->velocity;
    d.acceleration = p.acceleration;
    d.attitude_rate = attitude_derivative(s->attitude, s->rate);
    d.rate_dot = spin_rate(&b->params[i], s->rate, p.torque);
    return d;
}

VY_FN body_state free_euler(const vy_bodies *b, uint32_t i, double h)
{
    const body_rates d = rates_at(b, i, &b->state[i]);
    body_state n = body_advance(&b->state[i], h, &d);
    n.attitude = quat_normalize(n.attitude);
    return n;
}

/// In the order of the requirements: velocity, position, rate, quaternion rate, quaternion, unit length.
VY_FN body_state free_semi_implicit(const vy_bodies *b, uint32_t i, double h)
{
    const body_state *s = &b->state[i];
    const body_push p = push_at(b, i, s);
    body_state n;
    n.velocity = vec3_add_scaled(s->velocity, h, p.acceleration);
    n.position = vec3_add_scaled(s->position, h, n.velocity);
    n.rate = vec3_add_scaled(s->rate, h, spin_rate(&b->params[i], s->rate, p.torque));
    const quat turn = attitude_derivative(s->attitude, n.rate);
    n.attitude = quat_normalize(quat_add_scaled(s->attitude, h, turn));
    return n;
}

VY_FN body_state free_rk4(const vy_bodies *b, uint32_t i, double h)
{
    const body_state *s = &b->state[i];
    const body_rates k1 = rates_at(b, i, s);
    const body_state s2 = body_advance(s, 0.5 * h, &k1);
    const body_rates k2 = rates_at(b, i, &s2);
    const body_state s3 = body_advance(s, 0.5 * h, &k2);
    const body_rates k3 = rates_at(b, i, &s3);
    const body_state s4 = body_advance(s, h, &k3);
    const body_rates k4 = rates_at(b, i, &s4);
    return body_rk4_finish(s, h, &k1, &k2, &k3, &k4);
}

/// One free turn of length h by the midpoint rule (Austin, Krishnaprasad and Wang 1993). With the mean rate
/// W:
///   I (w' - w) = -h W x I W,  w + w' = 2 W   keeps |I w| and w.Iw, for the product is square to IW and W;
///   q' = q (1, h W / 2) / length             the same rotation, so the momentum in world axes stays too.
/// W is found by Newton's method, which needs two steps or so. Only differences of rates go through the
/// inertia, so that its rounding does not add up over a million steps.
VY_FN void spin_midpoint(const body_params *p, double h, body_state *s)
{
    const double half = 0.5 * h;
    const vec3 m = mat3_mul_vec(p->inertia, s->rate);
    vec3 w = vec3_add_scaled(s->rate, -half, mat3_mul_vec(p->inverse_inertia, vec3_cross(s->rate, m)));
    for (int step = 0; step < 8; ++step) {
        const vec3 iw = mat3_mul_vec(p->inertia, w);
        const vec3 change = mat3_mul_vec(p->inertia, vec3_sub(w, s->rate));
        const vec3 error = vec3_add_scaled(change, half, vec3_cross(w, iw));
        if (vec3_dot(error, error) <= 1e-34 * vec3_dot(m, m)) break;
        // Derivative of the error: I + h/2 ([w] I - [iw]), [a] b = a x b.
        const mat3 wx = mat3_cross(w), ix = mat3_cross(iw), wi = mat3_mul(wx, p->inertia);
        mat3 d = p->inertia;
        for (int r = 0; r < 3; ++r) {
            for (int c = 0; c < 3; ++c) d.m[r][c] += half * (wi.m[r][c] - ix.m[r][c]);
        }
        w = vec3_sub(w, mat3_mul_vec(mat3_inverse(d), error));
    }
    const vec3 turn = vec3_scale(half, w);
    s->attitude = quat_normalize(quat_mul(s->attitude, quat_make(1.0, turn.x, turn.y, turn.z)));
    s->rate = vec3_sub(vec3_scale(2.0, w), s->rate);
}

VY_FN void kick_half(const vy_bodies *b, uint32_t i, double h, body_state *s)
{
    const body_push p = push_at(b, i, s);
    s->velocity = vec3_add_scaled(s->velocity, 0.5 * h, p.acceleration);
    s->rate = vec3_add_scaled(s->rate, 0.5 * h, mat3_mul_vec(b->params[i].inverse_inertia, p.torque));
}

VY_FN body_state free_lie_midpoint(const vy_bodies *b, uint32_t i, double h)
{
    body_state s = b->state[i];
    kick_half(b, i, h, &s);
    s.position = vec3_add_scaled(s.position, h, s.velocity);
    spin_midpoint(&b->params[i], h, &s);
    kick_half(b, i, h, &s);
    return s;
}

/// A body that is driven: straight on, and turning at a constant rate.
VY_FN body_state body_coast(const body_state *s, double h)
{
    body_state n = *s;
    n.position = vec3_add_scaled(s->position, h, s->velocity);
    const double rate = vec3_length(s->rate);
    if (rate == 0.0) return n;
    double sine, cosine;
    math_sincos(0.5 * h * rate, &sine, &cosine);
    const vec3 u = vec3_scale(sine / rate, s->rate);
    n.attitude = quat_normalize(quat_mul(s->attitude, quat_make(cosine, u.x, u.y, u.z)));
    return n;
}
