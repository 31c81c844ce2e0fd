// island_assemble.c - the equations of an island at one moment: accelerations, rows, J M^-1 J^T and the
// right-hand side.
#include "base/assert.h"
#include "dynamics/free_step.h"
#include "dynamics/joint.h"

/// a b^T, added to m.
VY_FN void add_product(mat3 *m, const mat3 *a, const mat3 *b)
{
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            m->m[i][j] += (a->m[i][0] * b->m[j][0] + a->m[i][1] * b->m[j][1]) + a->m[i][2] * b->m[j][2];
        }
    }
}

/// R D R^T of a symmetric D: the inverse inertia in world axes.
VY_FN mat3 rotate_inertia(const mat3 *r, const mat3 *d)
{
    const mat3 rd = mat3_mul(*r, *d);
    mat3 m;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j <= i; ++j) {
            m.m[i][j] = (rd.m[i][0] * r->m[j][0] + rd.m[i][1] * r->m[j][1]) + rd.m[i][2] * r->m[j][2];
            m.m[j][i] = m.m[i][j];
        }
    }
    return m;
}

/// Rotation and angular velocity of every member at b->joints->stage: what rows need.
void vy_island_update_frames(vy_bodies *b, const island *is)
{
    joint_system *s = b->joints;
    for (uint32_t n = is->body_first; n < is->body_last; ++n) {
        const uint32_t i = s->members[n];
        stage_body *body = &s->stage_bodies[i];
        body->rotation = quat_matrix(s->stage[i].attitude);
        body->rate = mat3_mul_vec(body->rotation, s->stage[i].rate);
    }
}

void vy_island_rows(vy_bodies *b, const island *is, double time)
{
    joint_system *s = b->joints;
    for (uint32_t n = is->joint_first; n < is->joint_last; ++n) {
        const uint32_t slot = s->joint_order[n];
        const joint_slot *j = &s->slots[slot];
        if (j->block_count == 0) continue;
        const uint32_t slot_a = j->body[0], slot_b = j->body[1];
        VY_ASSERT(slot_a != slot_b && slot_a <= b->body_cap && slot_b <= b->body_cap);
        VY_ASSERT(j->first_block >= is->block_first &&
                  j->first_block + (uint32_t)j->block_count <= is->block_last);
        vy_joint_rows(j, &s->stage[slot_a], &s->stage[slot_b], &s->stage_bodies[slot_a],
                      &s->stage_bodies[slot_b], time, b->joint_state[slot].active, &s->rows[j->first_block]);
    }
}

/// The wrench that gives a driver's rates.
static body_wrench wrench_of_derivative(const vy_bodies *b, uint32_t i, const body_state *s,
                                        const body_derivatives *d)
{
    const mat3 inertia = b->params[i].inertia;
    const vec3 gyroscopic = vec3_cross(s->rate, mat3_mul_vec(inertia, s->rate));
    const body_wrench wrench = {d->acceleration, vec3_add(mat3_mul_vec(inertia, d->rate_dot), gyroscopic)};
    return wrench;
}

/// Unconstrained accelerations: everything but the constraint forces.
static void free_accelerations(vy_bodies *b, const island *is, double time)
{
    joint_system *s = b->joints;
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        const uint32_t i = s->members[n];
        stage_body *body = &s->stage_bodies[i];
        body->inverse_mass = b->params[i].inverse_mass;
        body->inverse_inertia = rotate_inertia(&body->rotation, &b->params[i].inverse_inertia);
        if (b->driver.derivative != NULL) {
            const body_derivatives d = b->driver.derivative(b->driver.self, i, &s->stage[i], time);
            body->linear = d.acceleration;
            body->angular = mat3_mul_vec(body->rotation, d.rate_dot);
            if (b->contacts != NULL && time == s->step_time)
                s->driver_wrench[i] = wrench_of_derivative(b, i, &s->stage[i], &d);
            continue;
        }
        const body_wrench wrench = wrench_at(b, i, &s->stage[i]);
        body->linear = wrench.acceleration;
        body->angular = mat3_mul_vec(body->rotation,
                                     angular_acceleration(&b->params[i], s->stage[i].rate, wrench.torque));
    }
    for (uint32_t n = is->dynamic_last; n < is->body_last; ++n) {
        stage_body *body = &s->stage_bodies[s->members[n]];
        body->inverse_mass = 0.0;
        body->inverse_inertia = mat3_diag(0.0, 0.0, 0.0);
        body->linear = body->angular = vec3_zero();
    }
    for (uint32_t n = is->joint_first; n < is->joint_last; ++n) {
        const joint_slot *j = &s->slots[s->joint_order[n]];
        const uint32_t slot_a = j->body[0], slot_b = j->body[1];
        vy_joint_apply_forces(j, &b->joint_state[s->joint_order[n]], &b->joint_targets[s->joint_order[n]],
                              &s->stage[slot_a], &s->stage[slot_b], &s->stage_bodies[slot_a],
                              &s->stage_bodies[slot_b]);
    }
}

/// The linear part of a block on one side.
VY_FN mat3 linear_part(const row_block *r, uint32_t side)
{
    VY_ASSERT(side < 2);
    const double sign = side == 0 ? -1.0 : 1.0;
    return r->is_point ? mat3_diag(sign, sign, sign) : r->linear[side];
}

/// J_p M^-1 J_q^T by one body, added to m.
VY_FN void add_coupling(mat3 *m, const row_block *p, uint32_t side_p, const row_block *q, uint32_t side_q,
                        double inverse_mass)
{
    if (p->is_point && q->is_point) {
        const double x = side_p == side_q ? inverse_mass : -inverse_mass;
        for (int i = 0; i < 3; ++i) m->m[i][i] += x;
    } else {
        mat3 a = linear_part(p, side_p);
        const mat3 c = linear_part(q, side_q);
        for (int i = 0; i < 9; ++i) a.m[i / 3][i % 3] *= inverse_mass;
        add_product(m, &a, &c);
    }
    add_product(m, &p->angular_inverse_inertia[side_p], &q->angular[side_q]);
}

void vy_island_matrix(joint_system *s, const island *is)
{
    for (uint32_t k = is->block_first; k < is->block_last; ++k) {
        row_block *r = &s->rows[k];
        VY_ASSERT(r->row_mask >= 0 && r->row_mask <= 7);
        mat3 *d = &s->diagonal[k];
        *d = mat3_diag(0.0, 0.0, 0.0);
        for (uint32_t side = 0; side < 2; ++side) {
            const stage_body *body = &s->stage_bodies[r->body[side]];
            r->angular_inverse_inertia[side] = mat3_mul(r->angular[side], body->inverse_inertia);
            if (body->inverse_mass != 0.0) add_coupling(d, r, side, r, side, body->inverse_mass);
        }
        for (int i = 0; i < 3; ++i) {
            if (((r->row_mask >> i) & 1) == 0) d->m[i][i] = 1.0;
            s->scale[k][i] = d->m[i][i];
        }
    }
    for (uint32_t e = s->column[is->block_first]; e < s->column[is->block_last]; ++e) {
        s->lower[e] = mat3_diag(0.0, 0.0, 0.0);
    }
    for (uint32_t n = is->pair_first; n < is->pair_last; ++n) {
        const block_pair *pair = &s->pairs[n];
        VY_ASSERT(pair->p > pair->q && pair->target < s->entry_count);
        const row_block *row_p = &s->rows[pair->p], *row_q = &s->rows[pair->q];
        VY_ASSERT(row_p->body[pair->side_p] == row_q->body[pair->side_q]);
        add_coupling(&s->lower[pair->target], row_p, pair->side_p, row_q, pair->side_q,
                     s->stage_bodies[row_p->body[pair->side_p]].inverse_mass);
    }
}

/// J x for the changes in `linear` and `angular` of both bodies.
VY_FN vec3 row_product(const row_block *r, vec3 linear_a, vec3 angular_a, vec3 linear_b, vec3 angular_b)
{
    const vec3 angular =
        vec3_add(mat3_mul_vec(r->angular[0], angular_a), mat3_mul_vec(r->angular[1], angular_b));
    if (r->is_point) return vec3_add(vec3_sub(linear_b, linear_a), angular);
    return vec3_add(vec3_add(mat3_mul_vec(r->linear[0], linear_a), mat3_mul_vec(r->linear[1], linear_b)),
                    angular);
}

vec3 vy_block_acceleration(const joint_system *s, uint32_t k)
{
    const row_block *r = &s->rows[k];
    const stage_body *a = &s->stage_bodies[r->body[0]], *b = &s->stage_bodies[r->body[1]];
    return vec3_add(row_product(r, a->linear, a->angular, b->linear, b->angular), r->bias);
}

vec3 vy_block_velocity(const joint_system *s, uint32_t k)
{
    const row_block *r = &s->rows[k];
    const uint32_t a = r->body[0], b = r->body[1];
    return vec3_add(row_product(r, s->stage[a].velocity, s->stage_bodies[a].rate, s->stage[b].velocity,
                                s->stage_bodies[b].rate),
                    r->time_rate);
}

/// -(J a + bias), and with Baumgarte's gains -(alpha C + beta C'). An integrator of the first order cannot
/// turn the velocity along a curve; it gets the forces that end a step of length h with J v = 0 instead.
static void fill_rhs(vy_bodies *b, const island *is)
{
    VY_ASSERT(b->joints->substep > 0.0);
    joint_system *s = b->joints;
    const double inverse_h = vy_integrator_order(s->integrator) == 1 ? 1.0 / s->substep : 0.0;
    for (uint32_t k = is->block_first; k < is->block_last; ++k) {
        const vec3 acceleration = vy_block_acceleration(s, k);
        s->rhs[k] = vec3_neg(acceleration);
        if (inverse_h == 0.0) continue;
        s->rhs[k] = vec3_neg(
            vec3_add_scaled(vec3_sub(acceleration, s->rows[k].bias), inverse_h, vy_block_velocity(s, k)));
    }
    if (!b->def.baumgarte) return;
    for (uint32_t n = is->joint_first; n < is->joint_last; ++n) {
        const joint_slot *j = &s->slots[s->joint_order[n]];
        const int is_custom = j->def.kind == VY_JOINT_CUSTOM;
        const double alpha = is_custom ? j->def.custom->alpha : 10.0,
                     beta = is_custom ? j->def.custom->beta : 10.0;
        for (uint32_t k = j->first_block; k < j->first_block + (uint32_t)j->block_count; ++k) {
            s->rhs[k] = vec3_add_scaled(s->rhs[k], -alpha, s->rows[k].value);
            s->rhs[k] = vec3_add_scaled(s->rhs[k], -beta, vy_block_velocity(s, k));
        }
    }
}

void vy_island_assemble(vy_bodies *b, const island *is, double time)
{
    vy_island_update_frames(b, is);
    free_accelerations(b, is, time);
    vy_island_rows(b, is, time);
    vy_island_matrix(b->joints, is);
    fill_rhs(b, is);
}

void vy_island_apply_multipliers(joint_system *s, const island *is)
{
    for (uint32_t k = is->block_first; k < is->block_last; ++k) {
        const row_block *r = &s->rows[k];
        const vec3 x = s->rhs[k];
        for (int side = 0; side < 2; ++side) {
            stage_body *body = &s->stage_bodies[r->body[side]];
            const vec3 f = r->is_point ? (side == 0 ? vec3_neg(x) : x) : mat3_tmul_vec(r->linear[side], x);
            body->linear = vec3_add_scaled(body->linear, body->inverse_mass, f);
            body->angular = vec3_add(body->angular, mat3_tmul_vec(r->angular_inverse_inertia[side], x));
        }
    }
}
