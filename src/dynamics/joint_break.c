// joint_break.c - joints that break: their loads in a step, and who was loaded too much.
//
// The load of a joint in a step is its impulse on body b over the length of the step: the forces with which
// sub-steps begin, and impulses where stops engage, contacts hit or a state was disturbed. So an impact
// counts whatever the sub-steps are.
#include "base/assert.h"
#include "dynamics/sleep.h"

static joint_load load_add(joint_load x, double factor, joint_load y)
{
    return (joint_load){vec3_add_scaled(x.force, factor, y.force),
                        vec3_add_scaled(x.torque, factor, y.torque)};
}

// A wrench on b about its centre of mass, about its anchor.
static joint_load about_anchor(const joint_slot *j, const mat3 *rotation_b, vec3 force, vec3 torque)
{
    const vec3 lever = mat3_mul_vec(*rotation_b, j->def.anchor_b);
    return (joint_load){force, vec3_sub(torque, vec3_cross(lever, force))};
}

// J_b^T lambda of the rows of a joint.
static joint_load load_of_rows(const joint_slot *j, const row_block *rows, const vec3 *lambda,
                               const mat3 *rotation_b)
{
    vec3 force = vec3_zero(), torque = vec3_zero();
    for (int k = 0; k < j->block_count; ++k) {
        const row_block *r = &rows[k];
        force = vec3_add(force, r->is_point ? lambda[k] : mat3_tmul_vec(r->linear[1], lambda[k]));
        torque = vec3_add(torque, mat3_tmul_vec(r->angular[1], lambda[k]));
    }
    return about_anchor(j, rotation_b, force, torque);
}

// Of its spring and its motor: with unit masses, their accelerations are their forces.
static joint_load load_of_forces(const joint_slot *j, const joint_state *state, const joint_targets *targets,
                                 const body_state *a, const body_state *b, const stage_body *stage_a,
                                 const stage_body *stage_b)
{
    stage_body unit_a = {.rotation = stage_a->rotation, .rate = stage_a->rate},
               unit_b = {.rotation = stage_b->rotation, .rate = stage_b->rate};
    unit_a.inverse_mass = unit_b.inverse_mass = 1.0;
    unit_a.inverse_inertia = unit_b.inverse_inertia = mat3_diag(1.0, 1.0, 1.0);
    vy_joint_apply_forces(j, state, targets, a, b, &unit_a, &unit_b);
    return about_anchor(j, &unit_b.rotation, unit_b.linear, unit_b.angular);
}

joint_load vy_joint_load(const joint_slot *j, const joint_state *state, const joint_targets *targets,
                         const body_state *a, const body_state *b, double time)
{
    row_block rows[JOINT_BLOCKS];
    memset(rows, 0, sizeof rows);
    stage_body stage_a = {.rotation = quat_matrix(a->attitude)},
               stage_b = {.rotation = quat_matrix(b->attitude)};
    stage_a.rate = mat3_mul_vec(stage_a.rotation, a->rate);
    stage_b.rate = mat3_mul_vec(stage_b.rotation, b->rate);
    if (j->block_count > 0)
        vy_joint_rows(j, a, b, &stage_a, &stage_b, time, ALL_ROWS | (state->active & JOINT_BROKEN), rows);
    return load_add(load_of_rows(j, rows, j->lambda, &stage_b.rotation), 1.0,
                    load_of_forces(j, state, targets, a, b, &stage_a, &stage_b));
}

// ---- in a step

// A joint of an island that can break and has not; NULL: it is none.
static joint_slot *unbroken_joint(vy_bodies *b, uint32_t slot)
{
    joint_slot *j = &b->joints->slots[slot];
    return joint_can_break(j) && !joint_is_broken(&b->joint_state[slot]) ? j : NULL;
}

void vy_break_begin_step(vy_bodies *b)
{
    joint_system *s = b->joints;
    for (uint32_t k = 0; k < s->slot_count && s->breakable_count > 0; ++k) {
        s->slots[k].impulse = s->slots[k].saved_impulse = (joint_load){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        s->slots[k].broke_in_step = 0;
    }
}

void vy_break_store_loads(vy_bodies *b, const island *is, double time)
{
    joint_system *s = b->joints;
    for (uint32_t n = is->joint_first; n < is->joint_last; ++n) {
        const uint32_t k = s->joint_order[n];
        joint_slot *j = unbroken_joint(b, k);
        if (j != NULL)
            j->load = vy_joint_load(j, &b->joint_state[k], &b->joint_targets[k], &s->stage[j->body[0]],
                                    &s->stage[j->body[1]], time);
    }
}

void vy_break_add_loads(joint_system *s, const island *is, double h)
{
    for (uint32_t n = is->joint_first; n < is->joint_last; ++n) {
        joint_slot *j = &s->slots[s->joint_order[n]];
        if (joint_can_break(j)) j->impulse = load_add(j->impulse, h, j->load);
    }
}

void vy_break_add_impulses(joint_system *s, const island *is, const vec3 *lambda)
{
    for (uint32_t n = is->joint_first; n < is->joint_last; ++n) {
        joint_slot *j = &s->slots[s->joint_order[n]];
        if (!joint_can_break(j)) continue;
        const joint_load load = load_of_rows(j, &s->rows[j->first_block], &lambda[j->first_block],
                                             &s->stage_bodies[j->body[1]].rotation);
        j->impulse = load_add(j->impulse, 1.0, load);
    }
}

void vy_break_add_forces(vy_bodies *b, const island *is, double h)
{
    joint_system *s = b->joints;
    for (uint32_t n = is->joint_first; n < is->joint_last; ++n) {
        const uint32_t k = s->joint_order[n];
        joint_slot *j = unbroken_joint(b, k);
        if (j == NULL) continue;
        const uint32_t slot_a = j->body[0], slot_b = j->body[1];
        j->impulse =
            load_add(j->impulse, h,
                     load_of_forces(j, &b->joint_state[k], &b->joint_targets[k], &s->stage[slot_a],
                                    &s->stage[slot_b], &s->stage_bodies[slot_a], &s->stage_bodies[slot_b]));
    }
}

// ---- at its end

static int is_exceeded(double limit, double value) { return limit > 0.0 && value > limit; }

// Whether a body of the joint is awake.
static int is_awake(const vy_bodies *b, const joint_slot *j)
{
    for (int side = 0; side < 2; ++side) {
        if (j->body[side] != b->body_cap && b->awake[j->body[side]]) return 1;
    }
    return 0;
}

uint32_t vy_break_end_step(vy_bodies *b)
{
    joint_system *s = b->joints;
    const double inverse_dt = 1.0 / b->def.dt;
    uint32_t events = 0;
    VY_ASSERT(b->def.dt > 0.0);
    for (uint32_t k = 0; k < s->slot_count && s->breakable_count > 0 && !b->head->failed; ++k) {
        joint_slot *j = unbroken_joint(b, k);
        if (j == NULL || !is_awake(b, j)) continue;
        j->mean_force = inverse_dt * vec3_length(j->impulse.force);
        j->mean_torque = inverse_dt * vec3_length(j->impulse.torque);
        if (!is_exceeded(j->def.break_force, j->mean_force) &&
            !is_exceeded(j->def.break_torque, j->mean_torque))
            continue;
        b->joint_state[k].active = JOINT_BROKEN;
        j->lambda[0] = j->lambda[1] = vec3_zero();
        j->broke_in_step = 1;
        vy_sleep_wake_joint(b, k);
        events |= VY_BODIES_JOINT_BROKEN;
    }
    return events;
}

uint32_t vy_bodies_broken_joints(const vy_bodies *b, vy_joint_id *out, uint32_t capacity)
{
    const joint_system *s = b->joints;
    uint32_t count = 0;
    for (uint32_t k = 0; k < s->slot_count && s->breakable_count > 0; ++k) {
        if (!s->slots[k].broke_in_step) continue;
        if (count < capacity) out[count] = vy_joints_at(b, k);
        ++count;
    }
    return count;
}
