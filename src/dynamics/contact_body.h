// contact_body.h - a body while contacts are solved: load it, integrate its sub-steps, store it.
#pragma once
#include "base/assert.h"
#include "dynamics/contacts.h"
#include "dynamics/free_step.h"

VY_FN void set_inverse_inertia(contact_body *s, mat3 m)
{
    const double parts[6] = {m.m[0][0], m.m[0][1], m.m[0][2], m.m[1][1], m.m[1][2], m.m[2][2]};
    memcpy(s->inverse_inertia, parts, sizeof parts);
}

VY_FN mat3 inverse_inertia_of(const contact_body *s)
{
    const double *i = s->inverse_inertia;
    return (mat3){{{i[0], i[1], i[2]}, {i[1], i[3], i[4]}, {i[2], i[4], i[5]}}};
}

VY_FN mat3 rotate_inertia(mat3 r, mat3 m) { return mat3_mul(mat3_mul(r, m), mat3_transpose(r)); }

VY_FN int is_isotropic(const mat3 *m)
{
    return m->m[0][0] == m->m[1][1] && m->m[1][1] == m->m[2][2] && m->m[0][1] == 0.0 && m->m[0][2] == 0.0 &&
           m->m[1][2] == 0.0;
}

VY_FN void vec3_store(double to[3], vec3 v)
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

VY_FN void contact_body_load(const vy_bodies *b, uint32_t i, double h)
{
    VY_ASSERT(i < b->limit && h > 0.0);
    const body_state *s = &b->contacts->start_state[i];
    contact_body *out = &b->contacts->body[i];
    contact_motion *motion = &b->contacts->motion[i];
    *motion = (contact_motion){.spare = {0.0}};
    *out = (contact_body){.delta_rotation = {1.0}, .start_position = s->position, .attitude = s->attitude};
    VY_ASSERT(quat_is_unit(s->attitude));
    out->start_attitude = s->attitude;
    out->rotation = quat_matrix(s->attitude);
    out->is_sphere = b->slots[i].shape.kind == VY_SHAPE_SPHERE;
    if (b->slots[i].kind == VY_BODY_STATIC) return;
    vec3_store(motion->velocity, s->velocity);
    vec3_store(motion->rate, mat3_mul_vec(out->rotation, s->rate));
    if (!b->awake[i]) return;
    // The flight of a jointed body contains the forces of its joints; of bodies flown by the world's plant,
    // all forces.
    const body_wrench p =
        b->external_flight || b->joints->joined[i] ? mean_wrench(b, i, h) : wrench_at(b, i, s);
    VY_ASSERT(b->slots[i].kind == VY_BODY_DYNAMIC && b->params[i].inverse_mass > 0.0);
    out->moves = 1;
    out->inverse_mass = b->params[i].inverse_mass;
    out->isotropic = is_isotropic(&b->params[i].inertia);
    set_inverse_inertia(out, out->isotropic ? b->params[i].inverse_inertia
                                            : rotate_inertia(out->rotation, b->params[i].inverse_inertia));
    out->acceleration = p.acceleration;
    out->torque = p.torque;
}

// Forces, and the warm start: the contacts' impulses of the last sub-step.
VY_FN void integrate_velocity(const contact_body *s, contact_motion *m, double h)
{
    VY_ASSERT(s->moves && s->inverse_mass > 0.0 && h > 0.0);
    const vec3 v = vec3_add_scaled(vec3_of(m->velocity), h, s->acceleration);
    const vec3 angular_impulse =
        vec3_add_scaled(vec3_of(m->angular_impulse), h, mat3_mul_vec(s->rotation, s->torque));
    vec3_store(m->velocity, vec3_add_scaled(v, s->inverse_mass, vec3_of(m->impulse)));
    vec3_store(m->rate, vec3_add(vec3_of(m->rate), mat3_mul_vec(inverse_inertia_of(s), angular_impulse)));
    vec3_store(m->impulse, vec3_zero());
    vec3_store(m->angular_impulse, vec3_zero());
}

VY_FN quat integrate_attitude(quat q, mat3 rotation, vec3 rate, double h)
{
    return quat_normalize(quat_add_scaled(q, h, attitude_derivative(q, mat3_tmul_vec(rotation, rate))));
}

// The midpoint rule for free rotation: angular momentum is kept, and the rate follows from it.
VY_FN void integrate_rotation(contact_body *s, contact_motion *m, const body_params *params, double h)
{
    const mat3 r = s->rotation;
    const vec3 momentum = mat3_mul_vec(r, mat3_mul_vec(params->inertia, mat3_tmul_vec(r, vec3_of(m->rate))));
    const mat3 half = quat_matrix(integrate_attitude(s->attitude, r, vec3_of(m->rate), 0.5 * h));
    const vec3 rate =
        mat3_mul_vec(half, mat3_mul_vec(params->inverse_inertia, mat3_tmul_vec(half, momentum)));
    const quat q = s->attitude;
    const vec3 body_rate = mat3_tmul_vec(half, rate);
    s->attitude = quat_normalize(quat_add_scaled(
        q, h,
        attitude_derivative(quat_normalize(quat_add_scaled(q, 0.5 * h, attitude_derivative(q, body_rate))),
                            body_rate)));
    s->rotation = quat_matrix(s->attitude);
    const mat3 inverse = rotate_inertia(s->rotation, params->inverse_inertia);
    set_inverse_inertia(s, inverse);
    vec3_store(m->rate, mat3_mul_vec(inverse_inertia_of(s), momentum));
}

VY_FN void integrate_position(contact_body *s, contact_motion *m, const body_params *params, double h)
{
    VY_ASSERT(h > 0.0);
    for (int k = 0; k < 3; ++k) s->delta_position[k] += h * m->velocity[k];
    if (s->isotropic || !s->moves) {
        s->attitude = integrate_attitude(s->attitude, s->rotation, vec3_of(m->rate), h);
        s->rotation = quat_matrix(s->attitude);
    } else {
        integrate_rotation(s, m, params, h);
    }
    if (s->is_sphere) return;
    const quat delta = quat_mul(s->attitude, quat_conj(s->start_attitude));
    s->delta_rotation[0] = delta.w;
    s->delta_rotation[1] = delta.x;
    s->delta_rotation[2] = delta.y;
    s->delta_rotation[3] = delta.z;
}

VY_FN void contact_body_store(vy_bodies *b, uint32_t i)
{
    contact_system *s = b->contacts;
    const contact_body *from = &s->body[i];
    VY_ASSERT(i < b->limit && from->moves && b->awake[i]);
    const contact_motion *m = &s->motion[i];
    const body_state n = {vec3_add(from->start_position, vec3_of(from->delta_position)), vec3_of(m->velocity),
                          from->attitude, mat3_tmul_vec(from->rotation, vec3_of(m->rate))};
    if (body_is_finite(&n)) {
        b->state[i] = n;
        b->disturbed[i] |= (uint64_t)b->joints->joined[i]; // its joints have to share the change of velocity
    } else {
        b->state[i] = s->start_state[i];
        atomic_store_explicit(&s->not_finite, 1, memory_order_relaxed);
    }
}
