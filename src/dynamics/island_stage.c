// island_stage.c - the integrators for jointed bodies: every stage solves for the forces of all joints.
#include "base/assert.h"
#include "dynamics/free_step.h"
#include "dynamics/joint.h"

void vy_island_accelerate(vy_bodies *b, const island *is, double time)
{
    joint_system *s = b->joints;
    vy_island_assemble(b, is, time);
    s->redundant_count = vy_island_factor(s, is);
    vy_island_solve(s, is);
    vy_island_apply_multipliers(s, is);
}

/// The derivatives of the island at s->stage into k; `weight` is that of the stage in the step.
static void evaluate_derivative(vy_bodies *b, const island *is, double time, double weight,
                                body_derivatives *k)
{
    joint_system *s = b->joints;
    vy_island_accelerate(b, is, time);
    if (time < s->closing_end) vy_closing_add_power(s, is, time, weight);
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        const uint32_t i = s->members[n];
        k[i].velocity = s->stage[i].velocity;
        k[i].acceleration = s->stage_bodies[i].linear;
        k[i].attitude_rate = attitude_derivative(s->stage[i].attitude, s->stage[i].rate);
        k[i].rate_dot = mat3_tmul_vec(s->stage_bodies[i].rotation, s->stage_bodies[i].angular);
    }
}

/// Keep the multipliers of the stage just solved, for readers.
static void store_lambda(joint_system *s, const island *is)
{
    for (uint32_t n = is->joint_first; n < is->joint_last; ++n) {
        joint_slot *j = &s->slots[s->joint_order[n]];
        VY_ASSERT(j->used && j->block_count <= JOINT_BLOCKS);
        for (int k = 0; k < j->block_count; ++k) j->lambda[k] = s->rhs[j->first_block + (uint32_t)k];
    }
}

/// Static and kinematic bodies, at h after the start.
static void advance_kinematic(vy_bodies *b, const island *is, double h)
{
    joint_system *s = b->joints;
    for (uint32_t n = is->dynamic_last; n < is->body_last; ++n) {
        const uint32_t i = s->members[n];
        s->stage[i] =
            b->slots[i].kind == VY_BODY_KINEMATIC ? body_step_kinematic(&s->start[i], h) : s->start[i];
    }
}

static void advance_stage(vy_bodies *b, const island *is, double h, const body_derivatives *k)
{
    joint_system *s = b->joints;
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        const uint32_t i = s->members[n];
        s->stage[i] = body_advance(&s->start[i], h, &k[i]);
    }
    advance_kinematic(b, is, h);
}

static void normalise_attitudes(joint_system *s, const island *is)
{
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        body_state *state = &s->stage[s->members[n]];
        state->attitude = quat_normalize(state->attitude);
    }
}

static void step_semi_implicit(vy_bodies *b, const island *is, double h)
{
    joint_system *s = b->joints;
    advance_stage(b, is, h, s->k[0]);
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        const uint32_t i = s->members[n];
        body_state *state = &s->stage[i];
        const quat turn = attitude_derivative(s->start[i].attitude, state->rate);
        state->position = vec3_add_scaled(s->start[i].position, h, state->velocity);
        state->attitude = quat_add_scaled(s->start[i].attitude, h, turn);
    }
    normalise_attitudes(s, is);
}

static void step_rk4(vy_bodies *b, const island *is, double time, double h)
{
    joint_system *s = b->joints;
    body_derivatives *const *k = s->k;
    advance_stage(b, is, 0.5 * h, k[0]);
    evaluate_derivative(b, is, time + 0.5 * h, 1.0 / 3.0, k[1]);
    advance_stage(b, is, 0.5 * h, k[1]);
    evaluate_derivative(b, is, time + 0.5 * h, 1.0 / 3.0, k[2]);
    advance_stage(b, is, h, k[2]);
    evaluate_derivative(b, is, time + h, 1.0 / 6.0, k[3]);
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        const uint32_t i = s->members[n];
        s->stage[i] = body_rk4_finish(&s->start[i], h, &k[0][i], &k[1][i], &k[2][i], &k[3][i]);
    }
}

/// Subtract the gyroscopic term at s->stage from k: the midpoint rule integrates it.
static void remove_gyroscopic_term(vy_bodies *b, const island *is, body_derivatives *k)
{
    const joint_system *s = b->joints;
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        const uint32_t i = s->members[n];
        const vec3 gyro = angular_acceleration(&b->params[i], s->stage[i].rate, vec3_zero());
        k[i].rate_dot = vec3_sub(k[i].rate_dot, gyro);
    }
}

/// A kick of velocity Verlet.
static void kick(joint_system *s, const island *is, double h, const body_derivatives *k)
{
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        const uint32_t i = s->members[n];
        body_state *state = &s->stage[i];
        state->velocity = vec3_add_scaled(state->velocity, h, k[i].acceleration);
        state->rate = vec3_add_scaled(state->rate, h, k[i].rate_dot);
    }
}

/// The second kick is predicted first, and repeated with the forces at the predicted velocities, so that drag
/// and dampers are of order 2 as well.
static void step_lie_midpoint(vy_bodies *b, const island *is, double time, double h)
{
    joint_system *s = b->joints;
    body_derivatives *k = s->k[0], *drifted = s->k[1]; // of `drifted` velocity and rate after the drift
    remove_gyroscopic_term(b, is, k);
    kick(s, is, 0.5 * h, k);
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        const uint32_t i = s->members[n];
        s->stage[i] = body_drifted(&b->params[i], &s->stage[i], h);
        drifted[i].acceleration = s->stage[i].velocity;
        drifted[i].rate_dot = s->stage[i].rate;
    }
    advance_kinematic(b, is, h);
    evaluate_derivative(b, is, time + h, 0.0, k);
    remove_gyroscopic_term(b, is, k);
    kick(s, is, 0.5 * h, k);
    evaluate_derivative(b, is, time + h, 0.5, k);
    remove_gyroscopic_term(b, is, k);
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        const uint32_t i = s->members[n];
        s->stage[i].velocity = drifted[i].acceleration;
        s->stage[i].rate = drifted[i].rate_dot;
    }
    kick(s, is, 0.5 * h, k);
}

void vy_island_integrate(vy_bodies *b, const island *is, double time, double h)
{
    VY_ASSERT(is->body_first < is->dynamic_last && is->dynamic_last <= is->body_last);
    joint_system *s = b->joints;
    for (uint32_t n = is->body_first; n < is->body_last; ++n)
        s->stage[s->members[n]] = s->start[s->members[n]];
    s->substep = h > 0.0 ? h : b->def.dt;
    static const double first_weight[] = {[VY_INTEGRATOR_EULER] = 1.0,
                                          [VY_INTEGRATOR_SEMI_IMPLICIT] = 1.0,
                                          [VY_INTEGRATOR_RK4] = 1.0 / 6.0,
                                          [VY_INTEGRATOR_LIE_MIDPOINT] = 0.5};
    if (time < s->closing_end) vy_closing_clear_power(s, is);
    evaluate_derivative(b, is, time, first_weight[s->integrator], s->k[0]);
    store_lambda(s, is);
    if (s->breakable_count > 0) vy_break_store_loads(b, is, time);
    switch (s->integrator) {
    case VY_INTEGRATOR_EULER:
        advance_stage(b, is, h, s->k[0]);
        normalise_attitudes(s, is);
        break;
    case VY_INTEGRATOR_SEMI_IMPLICIT: step_semi_implicit(b, is, h); break;
    case VY_INTEGRATOR_RK4: step_rk4(b, is, time, h); break;
    case VY_INTEGRATOR_LIE_MIDPOINT: step_lie_midpoint(b, is, time, h); break;
    }
}
