// forces.c - forces and impulses on bodies; their energy and momentum; whether they are at rest.
#include "base/assert.h"
#include "base/fpu_result.h"
#include "dynamics/sleep.h"
#include "base/real.h"

/// The lever of a point in the axes of `frame`, from the centre of mass.
static vec3 lever_of(const body_state *s, vec3 point, vy_frame point_frame, vy_frame frame)
{
    vec3 lever = point;
    if (point_frame == VY_FRAME_WORLD) {
        lever = vec3_sub(point, s->position);
        return frame == VY_FRAME_WORLD ? lever : quat_unrotate(s->attitude, lever);
    }
    return frame == VY_FRAME_WORLD ? quat_rotate(s->attitude, lever) : lever;
}

static void add_load(vy_bodies *b, int64_t i, vec3 force, vec3 torque, vy_frame frame)
{
    VY_ASSERT(i >= 0 && i < (int64_t)b->slot_count && b->slots[i].used);
    body_loads *l = &b->loads[i];
    vec3 *f = frame == VY_FRAME_WORLD ? &l->force_world : &l->force_body;
    vec3 *t = frame == VY_FRAME_WORLD ? &l->torque_world : &l->torque_body;
    *f = vec3_add(*f, force);
    *t = vec3_add(*t, torque);
    b->has_loads[i] = 1;
    if (body_is_dynamic(b, (uint32_t)i) && (vec3_dot(force, force) > 0.0 || vec3_dot(torque, torque) > 0.0))
        vy_sleep_wake(b, (uint32_t)i);
}

vy_status vy_body_apply_force_at(vy_bodies *b, vy_body_id id, vy_vec3 force, vy_frame force_frame,
                                 vy_vec3 point, vy_frame point_frame)
{
    FPU_SCOPE;
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    const vec3 lever = lever_of(&b->state[i], point, point_frame, force_frame);
    add_load(b, i, force, vec3_cross(lever, force), force_frame);
    return VY_OK;
}

vy_status vy_body_apply_force(vy_bodies *b, vy_body_id id, vy_vec3 force, vy_frame frame)
{
    FPU_SCOPE;
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    add_load(b, i, force, vec3_zero(), frame);
    return VY_OK;
}

vy_status vy_body_apply_torque(vy_bodies *b, vy_body_id id, vy_vec3 torque, vy_frame frame)
{
    FPU_SCOPE;
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    add_load(b, i, vec3_zero(), torque, frame);
    return VY_OK;
}

vy_status vy_body_clear_forces(vy_bodies *b, vy_body_id id)
{
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    b->loads[i] = loads_zero();
    b->has_loads[i] = 0;
    return VY_OK;
}

/// Impulse and angular impulse, both in `frame`, on velocity (world) and rate (body). VY_BAD_VALUE, with
/// nothing changed, when they would not be finite.
static vy_status apply_impulse(vy_bodies *b, int64_t i, vec3 impulse, vec3 angular_impulse, vy_frame frame)
{
    VY_ASSERT(i >= 0 && i < (int64_t)b->slot_count && b->slots[i].used);
    body_state s = b->state[i];
    if (frame == VY_FRAME_BODY) {
        impulse = quat_rotate(s.attitude, impulse);
    } else {
        angular_impulse = quat_unrotate(s.attitude, angular_impulse);
    }
    s.velocity = vec3_add_scaled(s.velocity, b->params[i].inverse_mass, impulse);
    s.rate = vec3_add(s.rate, mat3_mul_vec(b->params[i].inverse_inertia, angular_impulse));
    if (!body_is_finite(&s)) return VY_BAD_VALUE;
    if (body_is_dynamic(b, (uint32_t)i)) vy_sleep_wake(b, (uint32_t)i);
    b->state[i].velocity = s.velocity;
    b->state[i].rate = s.rate;
    b->disturbed[i] = 1;
    return VY_OK;
}

vy_status vy_body_apply_impulse_at(vy_bodies *b, vy_body_id id, vy_vec3 impulse, vy_frame impulse_frame,
                                   vy_vec3 point, vy_frame point_frame)
{
    FPU_SCOPE;
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    const vec3 lever = lever_of(&b->state[i], point, point_frame, impulse_frame);
    return apply_impulse(b, i, impulse, vec3_cross(lever, impulse), impulse_frame);
}

vy_status vy_body_apply_impulse(vy_bodies *b, vy_body_id id, vy_vec3 impulse, vy_frame frame)
{
    FPU_SCOPE;
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    return apply_impulse(b, i, impulse, vec3_zero(), frame);
}

vy_status vy_body_apply_angular_impulse(vy_bodies *b, vy_body_id id, vy_vec3 impulse, vy_frame frame)
{
    FPU_SCOPE;
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    return apply_impulse(b, i, vec3_zero(), impulse, frame);
}

int vy_body_at_rest(const vy_bodies *b, vy_body_id id, double speed, double rate)
{
    FPU_SCOPE;
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return 0;
    return vec3_length(b->state[i].velocity) < speed && vec3_length(b->state[i].rate) < rate;
}

vy_status vy_body_stop(vy_bodies *b, vy_body_id id)
{
    FPU_SCOPE;
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    b->state[i].velocity = b->state[i].rate = vec3_zero();
    b->previous[i] = (body_previous){vec3_zero(), vec3_zero()};
    b->disturbed[i] = 1;
    return vy_body_clear_forces(b, id);
}

static double linear_energy(const vy_bodies *b, uint32_t i)
{
    return 0.5 * b->slots[i].mass * vec3_dot(b->state[i].velocity, b->state[i].velocity);
}

static double rotational_energy(const vy_bodies *b, uint32_t i)
{
    return 0.5 * vec3_dot(b->state[i].rate, mat3_mul_vec(b->params[i].inertia, b->state[i].rate));
}

double vy_body_linear_energy(const vy_bodies *b, vy_body_id id)
{
    FPU_SCOPE;
    const int64_t i = vy_bodies_find(b, id);
    return fpu_result(i < 0 ? 0.0 : linear_energy(b, (uint32_t)i));
}

double vy_body_rotational_energy(const vy_bodies *b, vy_body_id id)
{
    FPU_SCOPE;
    const int64_t i = vy_bodies_find(b, id);
    return fpu_result(i < 0 ? 0.0 : rotational_energy(b, (uint32_t)i));
}

vy_bodies_energy vy_bodies_read_energy(const vy_bodies *b)
{
    FPU_SCOPE;
    vy_bodies_energy energy = {0};
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (!body_is_dynamic(b, i)) continue;
        energy.kinetic += linear_energy(b, i) + rotational_energy(b, i);
        energy.potential -= b->slots[i].mass * vec3_dot(b->def.gravity, b->state[i].position);
        const vy_potential_body body = body_for_potential(b, i, &b->state[i]);
        for (uint32_t k = 0; k < b->potential_count; ++k) {
            VY_ASSERT(b->potentials[k].first < b->potentials[k].last);
            if (i < b->potentials[k].first || i >= b->potentials[k].last) continue;
            energy.potential += vy_potential_energy(&b->potentials[k].potential, &body);
        }
    }
    return vy_joints_add_energy(b, energy);
}

void vy_bodies_read_momentum(const vy_bodies *b, vy_vec3 *linear, vy_vec3 *angular)
{
    FPU_SCOPE;
    vec3 p = vec3_zero(), l = vec3_zero();
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (!body_is_dynamic(b, i)) continue;
        const body_state *s = &b->state[i];
        const vec3 mv = vec3_scale(b->slots[i].mass, s->velocity);
        const vec3 spin = quat_rotate(s->attitude, mat3_mul_vec(b->params[i].inertia, s->rate));
        p = vec3_add(p, mv);
        l = vec3_add(l, vec3_add(spin, vec3_cross(s->position, mv)));
    }
    *linear = p;
    *angular = l;
}
