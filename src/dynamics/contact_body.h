// contact_body.h - a body while contacts are solved: from the start of a step, through sub-steps, and back.
#pragma once
#include "dynamics/contacts.h"
#include "dynamics/free_step.h"

VY_FN void set_inverse(contact_body *s, mat3 m)
{
    const double parts[6] = {m.m[0][0], m.m[0][1], m.m[0][2], m.m[1][1], m.m[1][2], m.m[2][2]};
    memcpy(s->inverse, parts, sizeof parts);
}

VY_FN mat3 inverse_of(const contact_body *s)
{
    const double *i = s->inverse;
    return (mat3){{{i[0], i[1], i[2]}, {i[1], i[3], i[4]}, {i[2], i[4], i[5]}}};
}

VY_FN mat3 turned(mat3 r, mat3 m) { return mat3_mul(mat3_mul(r, m), mat3_transpose(r)); }

VY_FN int is_round(const mat3 *m)
{
    return m->m[0][0] == m->m[1][1] && m->m[1][1] == m->m[2][2] && m->m[0][1] == 0.0 && m->m[0][2] == 0.0 &&
           m->m[1][2] == 0.0;
}

VY_FN void put(double to[3], vec3 v)
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

VY_FN void contact_load(const vy_bodies *b, uint32_t i, double h)
{
    const body_state *s = &b->contacts->start[i];
    contact_body *out = &b->contacts->body[i];
    contact_motion *motion = &b->contacts->motion[i];
    *motion = (contact_motion){.spare = {0.0}};
    *out = (contact_body){.spun = {1.0}, .position = s->position, .attitude = s->attitude};
    out->first = s->attitude;
    out->rotation = quat_matrix(s->attitude);
    out->ball = b->slots[i].shape.kind == VY_SHAPE_SPHERE;
    if (b->slots[i].kind == VY_BODY_STATIC) return;
    put(motion->velocity, s->velocity);
    put(motion->rate, mat3_mul_vec(out->rotation, s->rate));
    if (!b->moves[i]) return;
    // What joints do to a body shows in its flight, and all that pushes those whom somebody else flies.
    const body_push p = b->flown || b->joints->joined[i] ? push_of_flight(b, i, h) : push_at(b, i, s);
    out->moves = 1;
    out->inverse_mass = b->params[i].inverse_mass;
    out->round = is_round(&b->params[i].inertia);
    set_inverse(out, out->round ? b->params[i].inverse_inertia
                                : turned(out->rotation, b->params[i].inverse_inertia));
    out->acceleration = p.acceleration;
    out->torque = p.torque;
}

// Forces, and the contacts' impulses of the last sub-step once more.
VY_FN void contact_accelerate(const contact_body *s, contact_motion *m, double h)
{
    const vec3 v = vec3_add_scaled(vec3_of(m->velocity), h, s->acceleration);
    const vec3 twist = vec3_add_scaled(vec3_of(m->twist), h, mat3_mul_vec(s->rotation, s->torque));
    put(m->velocity, vec3_add_scaled(v, s->inverse_mass, vec3_of(m->push)));
    put(m->rate, vec3_add(vec3_of(m->rate), mat3_mul_vec(inverse_of(s), twist)));
    put(m->push, vec3_zero());
    put(m->twist, vec3_zero());
}

VY_FN quat turned_by(quat q, mat3 rotation, vec3 rate, double h)
{
    return quat_normalize(quat_add_scaled(q, h, attitude_derivative(q, mat3_tmul_vec(rotation, rate))));
}

// The midpoint rule for a free turn: the angular momentum stays, and the rate is what it asks for.
VY_FN void turn_free(contact_body *s, contact_motion *m, const body_params *params, double h)
{
    const mat3 r = s->rotation;
    const vec3 momentum = mat3_mul_vec(r, mat3_mul_vec(params->inertia, mat3_tmul_vec(r, vec3_of(m->rate))));
    const mat3 half = quat_matrix(turned_by(s->attitude, r, vec3_of(m->rate), 0.5 * h));
    const vec3 rate =
        mat3_mul_vec(half, mat3_mul_vec(params->inverse_inertia, mat3_tmul_vec(half, momentum)));
    const quat q = s->attitude;
    const vec3 body_rate = mat3_tmul_vec(half, rate);
    s->attitude = quat_normalize(quat_add_scaled(
        q, h,
        attitude_derivative(quat_normalize(quat_add_scaled(q, 0.5 * h, attitude_derivative(q, body_rate))),
                            body_rate)));
    s->rotation = quat_matrix(s->attitude);
    const mat3 inverse = turned(s->rotation, params->inverse_inertia);
    set_inverse(s, inverse);
    put(m->rate, mat3_mul_vec(inverse_of(s), momentum));
}

VY_FN void contact_move(contact_body *s, contact_motion *m, const body_params *params, double h)
{
    for (int k = 0; k < 3; ++k) s->moved[k] += h * m->velocity[k];
    if (s->round || !s->moves) {
        s->attitude = turned_by(s->attitude, s->rotation, vec3_of(m->rate), h);
        s->rotation = quat_matrix(s->attitude);
    } else {
        turn_free(s, m, params, h);
    }
    if (s->ball) return;
    const quat spun = quat_mul(s->attitude, quat_conj(s->first));
    s->spun[0] = spun.w;
    s->spun[1] = spun.x;
    s->spun[2] = spun.y;
    s->spun[3] = spun.z;
}

VY_FN void contact_store(vy_bodies *b, uint32_t i)
{
    contact_system *s = b->contacts;
    const contact_body *from = &s->body[i];
    const contact_motion *m = &s->motion[i];
    const body_state n = {vec3_add(from->position, vec3_of(from->moved)), vec3_of(m->velocity),
                          from->attitude, mat3_tmul_vec(from->rotation, vec3_of(m->rate))};
    if (body_is_finite(&n)) {
        b->state[i] = n;
        b->touched[i] |= (uint64_t)b->joints->joined[i]; // its joints share the kick
    } else {
        b->state[i] = s->start[i];
        atomic_store_explicit(&s->lost, 1, memory_order_relaxed);
    }
}
