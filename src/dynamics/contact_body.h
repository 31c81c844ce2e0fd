// contact_body.h - a body while contacts are solved: load it, integrate its sub-steps, store it.
#pragma once
#include "base/assert.h"
#include "dynamics/contacts.h"
#include "dynamics/free_step.h"

// Its six different elements: xx xy xz yy yz zz.
VY_FN void set_inverse_inertia(contact_body *s, mat3 m)
{
    const double elements[6] = {m.m[0][0], m.m[0][1], m.m[0][2], m.m[1][1], m.m[1][2], m.m[2][2]};
    memcpy(s->inverse_inertia, elements, sizeof elements);
}

VY_FN mat3 inverse_inertia_of(const contact_body *s)
{
    const double *elements = s->inverse_inertia;
    return (mat3){{{elements[0], elements[1], elements[2]},
                   {elements[1], elements[3], elements[4]},
                   {elements[2], elements[4], elements[5]}}};
}

// r m r^T
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

// Whether it may be integrated with others side by side: contact_bodies.inl.
VY_FN int body_is_vectorised(const contact_body *s)
{
    return s->moves && s->is_isotropic && !s->is_axisymmetric && vec3_dot(s->torque, s->torque) == 0.0;
}

// A body at the start of the step, for the solver.
VY_FN void contact_body_load(const vy_bodies *b, uint32_t i, double h)
{
    VY_ASSERT(i < b->slot_count && h > 0.0);
    const body_state *s = &b->contacts->start_state[i];
    contact_body *out = &b->contacts->body[i];
    contact_motion *motion = &b->contacts->motion[i];
    *motion = (contact_motion){.padding = {0.0}};
    *out = (contact_body){.delta_rotation = {1.0}, .start_position = s->position, .attitude = s->attitude};
    VY_ASSERT(quat_is_unit(s->attitude));
    out->start_attitude = s->attitude;
    out->rotation = quat_matrix(s->attitude);
    const vy_shape_kind shape = b->slots[i].shape.kind;
    out->is_not_sphere = shape == VY_SHAPE_SPHERE ? 0.0 : 1.0;
    out->is_axisymmetric = shape == VY_SHAPE_CAPSULE || shape == VY_SHAPE_CYLINDER;
    if (b->slots[i].kind == VY_BODY_STATIC) return;
    vec3_store(motion->velocity, s->velocity);
    vec3_store(motion->rate, mat3_mul_vec(out->rotation, s->rate));
    if (!b->awake[i]) return;
    // The free flight of a jointed body contains the forces of its joints; that of bodies integrated by the
    // world's plant, all forces.
    const body_wrench wrench =
        b->external_integration || b->joints->first_joint[i] ? mean_wrench(b, i, h) : wrench_at(b, i, s);
    VY_ASSERT(b->slots[i].kind == VY_BODY_DYNAMIC && b->params[i].inverse_mass > 0.0);
    out->moves = 1;
    out->inverse_mass = b->params[i].inverse_mass;
    out->is_isotropic = is_isotropic(&b->params[i].inertia);
    set_inverse_inertia(out, out->is_isotropic ? b->params[i].inverse_inertia
                                               : rotate_inertia(out->rotation, b->params[i].inverse_inertia));
    out->acceleration = wrench.acceleration;
    out->torque = wrench.torque;
    out->is_vectorised = body_is_vectorised(out);
}

// Forces over h. The warm start, the contacts' impulses of the last sub-step, becomes the change of
// velocities that it makes. Returns what it would do after the forces.
VY_FN velocity_change_work integrate_forces(const contact_body *s, contact_motion *m, double h)
{
    VY_ASSERT(s->moves && s->inverse_mass > 0.0 && h > 0.0);
    const vec3 p = vec3_of(m->impulse), l = vec3_of(m->angular_impulse);
    const mat3 inverse_inertia = inverse_inertia_of(s);
    const vec3 v = vec3_add_scaled(vec3_of(m->velocity), h, s->acceleration),
               dv = vec3_scale(s->inverse_mass, p), dw = mat3_mul_vec(inverse_inertia, l);
    vec3 w = vec3_of(m->rate);
    if (vec3_dot(s->torque, s->torque) > 0.0) {
        w = vec3_add(w, mat3_mul_vec(inverse_inertia, vec3_scale(h, mat3_mul_vec(s->rotation, s->torque))));
        vec3_store(m->rate, w);
    }
    vec3_store(m->velocity, v);
    vec3_store(m->impulse, dv);
    vec3_store(m->angular_impulse, dw);
    const velocity_change_work work = {vec3_dot(p, v) + vec3_dot(l, w), vec3_dot(p, dv) + vec3_dot(l, dw)};
    return work;
}

// [J]
VY_FN double kinetic_energy_of(const contact_body *s, const contact_motion *m, const body_params *params)
{
    const vec3 v = vec3_of(m->velocity), w = mat3_tmul_vec(s->rotation, vec3_of(m->rate));
    return 0.5 * (vec3_dot(v, v) / s->inverse_mass + vec3_dot(w, mat3_mul_vec(params->inertia, w)));
}

// [J] What contacts have taken from a body over h, by its velocities before, and now.
VY_FN double energy_lost_to_contacts(const contact_body *s, const contact_motion *before,
                                     double energy_before, const contact_motion *now,
                                     const body_params *params, double h)
{
    const vec3 rate_sum = vec3_add(vec3_of(before->rate), vec3_of(now->rate));
    const double work = vec3_dot(s->acceleration, vec3_of(s->delta_position)) / s->inverse_mass +
                        0.5 * h * vec3_dot(mat3_mul_vec(s->rotation, s->torque), rate_sum);
    return (energy_before + work) - kinetic_energy_of(s, now, params);
}

// What the change of velocities since `before` does, as that of a warm start.
VY_FN velocity_change_work work_of_change(const contact_body *s, const contact_motion *before,
                                          const contact_motion *now, const body_params *params)
{
    const vec3 dv = vec3_sub(vec3_of(now->velocity), vec3_of(before->velocity)),
               dw = mat3_tmul_vec(s->rotation, vec3_sub(vec3_of(now->rate), vec3_of(before->rate))),
               w = mat3_tmul_vec(s->rotation, vec3_of(before->rate));
    const vec3 angular_momentum_change = mat3_mul_vec(params->inertia, dw);
    const velocity_change_work work = {
        vec3_dot(dv, vec3_of(before->velocity)) / s->inverse_mass + vec3_dot(angular_momentum_change, w),
        vec3_dot(dv, dv) / s->inverse_mass + vec3_dot(angular_momentum_change, dw)};
    return work;
}

/// Most that restitution is scaled up by: points that do not bounce take energy, too, and do not get it back.
#define MAX_RESTITUTION_SCALE 10.0

// The part of restitution that brings back no more energy than the impact has taken: of Newton's rule, which
// adds energy where several points or friction take part, as much as is energetically consistent.
VY_FN double restitution_fraction(velocity_change_work work, double loss)
{
    const double max_work = real_max(loss, 0.0);
    if (work.linear + 0.5 * work.quadratic <= max_work) return 1.0;
    const double root = real_sqrt(work.linear * work.linear + 2.0 * work.quadratic * max_work);
    return real_min(1.0, real_max(0.0, (root - work.linear) / work.quadratic));
}

// What Newton's rule is scaled by where an impact gives back a part of the energy it took: without friction
// that is the work of normal impulses, and the square of the restitution is what comes back of it (Stronge
// 1990). A point of a body that turns does not separate as fast as the rule says by the time it is applied.
VY_FN double energetic_restitution_scale(velocity_change_work work, double loss, double restitution)
{
    const double energy_restored = restitution * restitution * real_max(loss, 0.0);
    if (!(work.quadratic > 0.0 && work.quadratic <= REAL_MAX)) return 1.0;
    const double root = real_sqrt(work.linear * work.linear + 2.0 * work.quadratic * energy_restored);
    return real_min(MAX_RESTITUTION_SCALE, real_max(0.0, (root - work.linear) / work.quadratic));
}

// Leave the given fraction of the change of velocities since `before`.
VY_FN void scale_velocity_change(const contact_motion *before, contact_motion *m, double fraction)
{
    for (int k = 0; k < 3; ++k) {
        m->velocity[k] = before->velocity[k] + fraction * (m->velocity[k] - before->velocity[k]);
        m->rate[k] = before->rate[k] + fraction * (m->rate[k] - before->rate[k]);
    }
}

VY_FN substep_start substep_start_of(const contact_body *s, const contact_motion *m,
                                     const body_params *params)
{
    const vec3 rate = vec3_of(m->rate);
    return (substep_start){.velocity = vec3_of(m->velocity),
                           .rate = s->is_isotropic ? rate : quat_unrotate(s->attitude, rate),
                           .delta_position = vec3_of(s->delta_position),
                           .energy = kinetic_energy_of(s, m, params)};
}

// The velocities that a body would have after h without contacts, with the attitude that it has now: free
// rotation keeps the energy.
VY_FN contact_motion motion_without_contacts(const contact_body *s, const substep_start *start, double h)
{
    contact_motion m = {.padding = {0.0}};
    const vec3 rate = s->is_isotropic ? start->rate : quat_rotate(s->attitude, start->rate),
               rate_dot = mat3_mul_vec(inverse_inertia_of(s), mat3_mul_vec(s->rotation, s->torque));
    vec3_store(m.velocity, vec3_add_scaled(start->velocity, h, s->acceleration));
    vec3_store(m.rate, vec3_add_scaled(rate, h, rate_dot));
    return m;
}

// [J] The work of forces on a body in a sub-step.
VY_FN double work_of_forces(const contact_body *s, const substep_start *start, const contact_motion *now,
                            double h)
{
    const vec3 displacement = vec3_sub(vec3_of(s->delta_position), start->delta_position);
    return vec3_dot(s->acceleration, displacement) / s->inverse_mass +
           h * vec3_dot(mat3_mul_vec(s->rotation, s->torque), vec3_of(now->rate));
}

// The largest part of a change of velocities that leaves a kinetic energy of at most `limit`, where all of it
// leaves `kinetic`; if none does, the part that leaves least.
VY_FN double energy_fraction(velocity_change_work work, double kinetic, double limit)
{
    if (kinetic <= limit || work.quadratic == 0.0) return 1.0;
    if (!(work.quadratic <= REAL_MAX)) return 0.0; // a motion that overflowed
    const double before = kinetic - work.linear - 0.5 * work.quadratic,
                 discriminant = work.linear * work.linear + 2.0 * work.quadratic * (limit - before);
    const double fraction =
        ((discriminant > 0.0 ? real_sqrt(discriminant) : 0.0) - work.linear) / work.quadratic;
    return fraction >= 0.0 ? real_min(fraction, 1.0) : 0.0;
}

// What all velocities are scaled by where that fraction is not little enough: the work that contacts do
// against forces by moving bodies is taken from their kinetic energy.
VY_FN double energy_scale(velocity_change_work work, double kinetic, double limit, double fraction)
{
    if (kinetic <= limit || !(work.quadratic > 0.0 && work.quadratic <= REAL_MAX)) return 1.0;
    const double remaining =
        kinetic - (1.0 - fraction) * (work.linear + 0.5 * (1.0 + fraction) * work.quadratic);
    return remaining > limit * (1.0 + 1e-9) ? real_sqrt(limit / remaining) : 1.0;
}

// Of a body of an island whose contacts add energy: its part of what they changed, and of the warm start.
VY_FN void apply_energy_limit(const contact_motion *before, contact_motion *m, double scale)
{
    const double fraction = m->fraction;
    if (fraction == 1.0 && scale == 1.0) return;
    for (int k = 0; k < 3; ++k) {
        m->velocity[k] = fraction > 0.0
                             ? before->velocity[k] + fraction * (m->velocity[k] - before->velocity[k])
                             : before->velocity[k];
        m->rate[k] =
            fraction > 0.0 ? before->rate[k] + fraction * (m->rate[k] - before->rate[k]) : before->rate[k];
        m->velocity[k] *= scale;
        m->rate[k] *= scale;
        m->impulse[k] = fraction > 0.0 ? fraction * m->impulse[k] : 0.0;
        m->angular_impulse[k] = fraction > 0.0 ? fraction * m->angular_impulse[k] : 0.0;
    }
}

// The part of a warm start that is used: all of it, unless it would add energy; then what takes most of it.
// Impulses of an impact, or of bodies that have turned since, are no guess of the next ones; neither are
// those of a restored state whose work overflows.
VY_FN double warm_start_fraction(velocity_change_work work)
{
    if (work.linear + 0.5 * work.quadratic <= 0.0) return 1.0;
    const double fraction = -work.linear / work.quadratic;
    return fraction > 0.0 && fraction <= 1.0 ? fraction : 0.0;
}

// After integrate_forces().
VY_FN void apply_warm_start_fraction(contact_motion *m, double fraction)
{
    VY_ASSERT(fraction >= -1.0 && fraction <= 1.0);
    vec3_store(m->velocity, vec3_add_scaled(vec3_of(m->velocity), fraction, vec3_of(m->impulse)));
    vec3_store(m->rate, vec3_add_scaled(vec3_of(m->rate), fraction, vec3_of(m->angular_impulse)));
}

VY_FN void clear_warm_start(contact_motion *m)
{
    vec3_store(m->impulse, vec3_zero());
    vec3_store(m->angular_impulse, vec3_zero());
}

VY_FN void apply_warm_start(contact_motion *m, double fraction)
{
    apply_warm_start_fraction(m, fraction);
    clear_warm_start(m);
}

VY_FN quat integrate_attitude(quat q, mat3 rotation, vec3 rate, double h)
{
    return quat_normalize(quat_add_scaled(q, h, attitude_derivative(q, mat3_tmul_vec(rotation, rate))));
}

/// [rad] Longest turn of one step of the midpoint rule.
#define MAX_MIDPOINT_ROTATION 0.25

// Free rotation by the midpoint rule, which keeps the angular momentum and the energy, in as many steps as
// the turn asks for.
VY_FN void integrate_rotation(contact_body *s, contact_motion *m, const body_params *params, double h)
{
    enum { MAX_PARTS = 4096 };
    body_state rotated = {.attitude = s->attitude, .rate = mat3_tmul_vec(s->rotation, vec3_of(m->rate))};
    const double ratio = real_min(h * vec3_length(rotated.rate) / MAX_MIDPOINT_ROTATION, (double)MAX_PARTS);
    const int count = (int)ratio + 1;
    for (int n = 0; n < count; ++n) spin_midpoint(params, h / (double)count, &rotated);
    s->attitude = rotated.attitude;
    s->rotation = quat_matrix(s->attitude);
    set_inverse_inertia(s, rotate_inertia(s->rotation, params->inverse_inertia));
    vec3_store(m->rate, mat3_mul_vec(s->rotation, rotated.rate));
}

// The rotation since the start of the step without the turn about the body's own axis, which leaves a surface
// that is round about it the same: the shortest one that takes the axis there.
VY_FN quat swing_of(const contact_body *s)
{
    const vec3 own_axis = vec3_make(0.0, 0.0, 1.0), from = quat_rotate(s->start_attitude, own_axis),
               to = mat3_mul_vec(s->rotation, own_axis), axis = vec3_cross(from, to);
    const double w = 1.0 + vec3_dot(from, to);
    if (w < 1e-3)
        return quat_mul(s->attitude, quat_conj(s->start_attitude)); // about half a turn: of any axis
    return quat_normalize(quat_make(w, axis.x, axis.y, axis.z));
}

VY_FN void integrate_position(contact_body *s, contact_motion *m, const body_params *params, double h)
{
    VY_ASSERT(h > 0.0);
    for (int k = 0; k < 3; ++k) s->delta_position[k] += h * m->velocity[k];
    if (s->is_isotropic || !s->moves) {
        s->attitude = integrate_attitude(s->attitude, s->rotation, vec3_of(m->rate), h);
        s->rotation = quat_matrix(s->attitude);
    } else {
        integrate_rotation(s, m, params, h);
    }
    if (s->is_not_sphere == 0.0) return;
    const quat delta = s->is_axisymmetric ? swing_of(s) : quat_mul(s->attitude, quat_conj(s->start_attitude));
    s->delta_rotation[0] = delta.w;
    s->delta_rotation[1] = delta.x;
    s->delta_rotation[2] = delta.y;
    s->delta_rotation[3] = delta.z;
}

// What the solver has made of a body becomes its state, where that is finite.
VY_FN void contact_body_store(vy_bodies *b, uint32_t i)
{
    contact_system *s = b->contacts;
    const contact_body *body = &s->body[i];
    VY_ASSERT(i < b->slot_count && body->moves && b->awake[i]);
    const contact_motion *m = &s->motion[i];
    const body_state next = {vec3_add(body->start_position, vec3_of(body->delta_position)),
                             vec3_of(m->velocity), body->attitude,
                             mat3_tmul_vec(body->rotation, vec3_of(m->rate))};
    if (body_is_finite(&next)) {
        b->state[i] = next;
        b->disturbed[i] |=
            (uint64_t)b->joints->first_joint[i]; // its joints have to share the change of velocity
    } else {
        b->state[i] = s->start_state[i];
        atomic_store_explicit(&s->not_finite, 1, memory_order_relaxed);
    }
}
