// substep_joints.c - the joints of an island that touches, in its sub-steps: rows, impulses, and stops
// (cables and limits) that engage or release.
//
// With C, J and J'v at the start of a sub-step of length h, the joints' velocity constraint is
//   J v = -(C/h + h/2 J'v),
// so that C = 0 at its end up to terms of order h^3. Newton's method removes those, by impulses that act at
// the bodies' old positions, so that angular momentum is kept (SHAKE: Ryckaert, Ciccotti and Berendsen 1977).
// Then, at the new positions, J v = 0 (RATTLE: Andersen 1983): velocities follow curves without loss of
// energy.
#include "dynamics/substep_joints.h"
#include "base/assert.h"
#include "dynamics/contact_body.h"

enum { MAX_STOP_CHANGES = 8 };

#define STOP_TOLERANCE 1e-9 // of the island's extent: a stop that is violated

// By block: right-hand sides; sums of impulses of the sub-step; and what of these is in the impulses of
// joints that can break.
static vec3 *residual_of(const joint_system *s) { return s->rhs + s->block_count; }
static vec3 *total_impulse_of(const joint_system *s) { return s->rhs + (size_t)2 * s->block_count; }
static vec3 *recorded_impulse_of(const joint_system *s) { return s->rhs + (size_t)3 * s->block_count; }
static const island *island_at(const substep_joints *t, uint32_t n)
{
    VY_ASSERT(n < t->count && t->islands[n] < t->b->joints->island_count);
    return &t->b->joints->islands[t->islands[n]];
}

// ---- bodies

static body_state kinematic_state_at(const vy_bodies *b, uint32_t i, double elapsed)
{
    const body_state *start = &b->contacts->start_state[i];
    return b->slots[i].kind == VY_BODY_KINEMATIC ? body_step_kinematic(start, elapsed) : *start;
}

static void copy_pose(const contact_body *from, body_state *to)
{
    to->position = vec3_add(from->start_position, vec3_of(from->delta_position));
    to->attitude = from->attitude;
}

static void load_velocities(const substep_joints *t, const island *is)
{
    joint_system *s = t->b->joints;
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        const uint32_t i = s->members[n];
        const contact_motion *m = &t->b->contacts->motion[i];
        s->stage[i].velocity = vec3_of(m->velocity);
        s->stage_bodies[i].rate = vec3_of(m->rate);
    }
}

static void load_island(const substep_joints *t, const island *is, double elapsed)
{
    vy_bodies *b = t->b;
    joint_system *s = b->joints;
    load_velocities(t, is);
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        const uint32_t i = s->members[n];
        const contact_body *source = &b->contacts->body[i];
        stage_body *body = &s->stage_bodies[i];
        // A state that overflowed is found at the step's end; until then it may pass here.
        VY_ASSERT(source->moves);
        VY_ASSERT(!real_is_finite(quat_dot(source->attitude, source->attitude)) ||
                  quat_is_unit(source->attitude));
        copy_pose(source, &s->stage[i]);
        s->stage[i].rate = mat3_tmul_vec(source->rotation, body->rate);
        body->rotation = source->rotation;
        body->inverse_mass = source->inverse_mass;
        body->inverse_inertia = inverse_inertia_of(source);
    }
    for (uint32_t n = is->dynamic_last; n < is->body_last; ++n) {
        const uint32_t i = s->members[n];
        stage_body *body = &s->stage_bodies[i];
        s->stage[i] = kinematic_state_at(b, i, elapsed);
        *body = (stage_body){.rotation = quat_matrix(s->stage[i].attitude)};
        body->rate = mat3_mul_vec(body->rotation, s->stage[i].rate);
    }
}

static void factorise(const substep_joints *t, const island *is, double time)
{
    vy_island_rows(t->b, is, time);
    vy_island_matrix(t->b->joints, is);
    (void)vy_island_factor(t->b->joints, is);
}

void vy_jointed_prepare(substep_joints *t, double time_offset)
{
    for (uint32_t n = 0; n < t->count; ++n) {
        load_island(t, island_at(t, n), t->elapsed + time_offset);
        factorise(t, island_at(t, n), t->time + time_offset);
    }
}

// ---- impulses

static void zero_corrections(joint_system *s, const island *is)
{
    for (uint32_t n = is->body_first; n < is->body_last; ++n)
        s->stage_bodies[s->members[n]].linear = s->stage_bodies[s->members[n]].angular = vec3_zero();
}

// Add `factor` times the changes in stage_bodies to the velocities.
static void apply_corrections(const substep_joints *t, const island *is, double factor)
{
    const joint_system *s = t->b->joints;
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        const uint32_t i = s->members[n];
        contact_motion *m = &t->b->contacts->motion[i];
        vec3_store(m->velocity, vec3_add_scaled(vec3_of(m->velocity), factor, s->stage_bodies[i].linear));
        vec3_store(m->rate, vec3_add_scaled(vec3_of(m->rate), factor, s->stage_bodies[i].angular));
    }
}

// Apply the impulses in rhs[] to the bodies and add them to the sums of the sub-step.
static void apply_impulses(const substep_joints *t, const island *is)
{
    joint_system *s = t->b->joints;
    vec3 *const total = total_impulse_of(s);
    for (uint32_t k = is->block_first; k < is->block_last; ++k) total[k] = vec3_add(total[k], s->rhs[k]);
    zero_corrections(s, is);
    vy_island_apply_multipliers(s, is);
    apply_corrections(t, is, 1.0);
}

// Returns twice the kinetic energy of the changes of velocity.
static double solve_velocity(const substep_joints *t, const island *is, int use_bias)
{
    VY_ASSERT(t->h > 0.0);
    joint_system *s = t->b->joints;
    vec3 *const residual = residual_of(s);
    double energy = 0.0;
    load_velocities(t, is);
    for (uint32_t k = is->block_first; k < is->block_last; ++k) {
        const row_block *r = &s->rows[k];
        vec3 v = vy_block_velocity(s, k);
        if (use_bias) v = vec3_add_scaled(vec3_add_scaled(v, 1.0 / t->h, r->value), 0.5 * t->h, r->bias);
        s->rhs[k] = residual[k] = vec3_neg(v);
    }
    vy_island_solve(s, is);
    for (uint32_t k = is->block_first; k < is->block_last; ++k) energy += vec3_dot(residual[k], s->rhs[k]);
    apply_impulses(t, is);
    return energy;
}

void vy_jointed_apply_forces(substep_joints *t)
{
    vy_bodies *b = t->b;
    joint_system *s = b->joints;
    vec3 *const total = total_impulse_of(s);
    for (uint32_t n = 0; n < t->count; ++n) {
        const island *is = island_at(t, n);
        for (uint32_t k = is->block_first; k < is->block_last; ++k)
            total[k] = recorded_impulse_of(s)[k] = vec3_zero();
        if (s->breakable_count > 0) vy_break_add_forces(b, is, t->h);
        zero_corrections(s, is);
        for (uint32_t m = is->joint_first; m < is->joint_last; ++m) {
            const uint32_t j = s->joint_order[m], slot_a = s->slots[j].body[0], slot_b = s->slots[j].body[1];
            vy_joint_apply_forces(&s->slots[j], &b->joint_state[j], &b->joint_targets[j], &s->stage[slot_a],
                                  &s->stage[slot_b], &s->stage_bodies[slot_a], &s->stage_bodies[slot_b]);
        }
        apply_corrections(t, is, t->h);
    }
}

// ---- stops: cables and limits

// Remove the impulse of a stop, which has the wrong sign, and release it.
static void release_stop(const substep_joints *t, const island *is, const stop *x)
{
    VY_ASSERT(stop_is_active(t->b, x));
    joint_system *s = t->b->joints;
    const double impulse = stop_component(s, x, total_impulse_of(s));
    const int r = x->row % BLOCK_ROWS;
    for (uint32_t k = is->block_first; k < is->block_last; ++k) s->rhs[k] = vec3_zero();
    s->rhs[stop_block(s, x)] =
        vec3_make(r == 0 ? -impulse : 0.0, r == 1 ? -impulse : 0.0, r == 2 ? -impulse : 0.0);
    apply_impulses(t, is);
    stop_set_active(t->b, x, 0);
}

static const stop *most_negative_stop(const substep_joints *t, const island *is)
{
    const joint_system *s = t->b->joints;
    const stop *worst = NULL;
    double min_impulse = 0.0;
    for (uint32_t n = is->stop_first; n < is->stop_last; ++n) {
        const stop *x = &s->stops[n];
        const double impulse = stop_is_active(t->b, x) ? stop_component(s, x, total_impulse_of(s)) : 0.0;
        if (!(impulse < min_impulse)) continue; // not finite: the step ends the run, and nothing lets go
        min_impulse = impulse;
        worst = x;
    }
    return worst;
}

// The state of a body at the end of the sub-step, as its velocity is now.
static body_state predicted_state(const substep_joints *t, uint32_t i)
{
    const vy_bodies *b = t->b;
    const joint_system *s = b->joints;
    if (i == b->body_cap) return s->stage[i];
    if (!body_is_dynamic(b, i)) return kinematic_state_at(b, i, t->elapsed + t->h);
    const contact_motion *m = &b->contacts->motion[i];
    body_state end = s->stage[i];
    end.position = vec3_add_scaled(end.position, t->h, vec3_of(m->velocity));
    end.attitude = integrate_attitude(end.attitude, s->stage_bodies[i].rotation, vec3_of(m->rate), t->h);
    return end;
}

// Engage inactive stops that would be violated within the sub-step. Returns whether there is one.
static int engage_stops(const substep_joints *t, const island *is)
{
    const joint_system *s = t->b->joints;
    const double tolerance = STOP_TOLERANCE * vy_island_length_scale(s, is);
    int any_engaged = 0;
    for (uint32_t n = is->stop_first; n < is->stop_last; ++n) {
        const stop *x = &s->stops[n];
        const joint_slot *j = &s->slots[x->joint];
        if (stop_is_active(t->b, x) || joint_is_broken(&t->b->joint_state[x->joint])) continue;
        const body_state a = predicted_state(t, j->body[0]), b = predicted_state(t, j->body[1]);
        if (!(vy_stop_distance(j, x->row, &a, &b, t->time + t->h) < -tolerance)) continue;
        stop_set_active(t->b, x, 1);
        any_engaged = 1;
    }
    return any_engaged;
}

// Release or engage stops. Returns whether the active set has changed.
static int update_stops(const substep_joints *t, const island *is, int use_bias)
{
    const stop *worst = most_negative_stop(t, is);
    if (worst != NULL) {
        release_stop(t, is, worst);
    } else if (!use_bias || !engage_stops(t, is)) {
        return 0;
    }
    factorise(t, is, use_bias ? t->time : t->time + t->h);
    return 1;
}

double vy_jointed_solve_velocity(substep_joints *t, int use_bias)
{
    VY_ASSERT(t->mass > 0.0 && t->count > 0);
    double energy = 0.0;
    for (uint32_t n = 0; n < t->count; ++n) {
        const island *is = island_at(t, n);
        energy += solve_velocity(t, is, use_bias);
        if (is->stop_first == is->stop_last) continue;
        for (int k = 0; k < MAX_STOP_CHANGES && update_stops(t, is, use_bias); ++k)
            (void)solve_velocity(t, is, use_bias);
    }
    return real_sqrt(real_max(energy, 0.0) / t->mass);
}

// ---- position errors

static double value_if_active(double x, int row_mask, int row) { return (row_mask >> row) & 1 ? x : 0.0; }

double vy_jointed_position_error(const substep_joints *t)
{
    VY_ASSERT(t->h > 0.0);
    const vy_bodies *b = t->b;
    joint_system *s = b->joints;
    double max_error = 0.0;
    for (uint32_t n = 0; n < t->count; ++n) {
        const island *is = island_at(t, n);
        const double inverse_extent = 1.0 / vy_island_length_scale(s, is);
        for (uint32_t m = is->body_first; m < is->dynamic_last; ++m)
            copy_pose(&b->contacts->body[s->members[m]], &s->start[s->members[m]]);
        for (uint32_t m = is->dynamic_last; m < is->body_last; ++m)
            s->start[s->members[m]] = kinematic_state_at(b, s->members[m], t->elapsed + t->h);
        for (uint32_t m = is->joint_first; m < is->joint_last; ++m) {
            const joint_slot *j = &s->slots[s->joint_order[m]];
            const uint32_t slot_a = j->body[0], slot_b = j->body[1];
            double values[VY_CONSTRAINT_ROWS];
            if (j->block_count == 0) continue;
            vy_joint_values(j, slot_a == b->body_cap ? &s->stage[slot_a] : &s->start[slot_a],
                            slot_b == b->body_cap ? &s->stage[slot_b] : &s->start[slot_b], t->time + t->h,
                            values);
            for (int k = 0; k < j->block_count; ++k) {
                const int row_mask = s->rows[j->first_block + (uint32_t)k].row_mask;
                const vec3 error = vec3_make(value_if_active(values[3 * k], row_mask, 0),
                                             value_if_active(values[3 * k + 1], row_mask, 1),
                                             value_if_active(values[3 * k + 2], row_mask, 2));
                residual_of(s)[j->first_block + (uint32_t)k] = error;
                max_error = real_max(max_error,
                                     inverse_extent * real_max(real_max(real_abs(error.x), real_abs(error.y)),
                                                               real_abs(error.z)));
            }
        }
    }
    return max_error;
}

void vy_jointed_correct_position(substep_joints *t)
{
    joint_system *s = t->b->joints;
    for (uint32_t n = 0; n < t->count; ++n) {
        const island *is = island_at(t, n);
        for (uint32_t k = is->block_first; k < is->block_last; ++k)
            s->rhs[k] = vec3_scale(-1.0 / t->h, residual_of(s)[k]);
        vy_island_solve(s, is);
        apply_impulses(t, is);
    }
}

// ---- joints that close

// J v of a block that closes, by the velocities that were loaded last.
static vec3 speed_of_bodies(const joint_system *s, uint32_t k)
{
    return vec3_sub(vy_block_velocity(s, k), s->rows[k].time_rate);
}

void vy_jointed_begin_work(substep_joints *t)
{
    joint_system *s = t->b->joints;
    if (!(t->time < s->closing_end)) return;
    for (uint32_t n = 0; n < t->count; ++n) {
        const island *is = island_at(t, n);
        load_velocities(t, is);
        for (uint32_t m = is->joint_first; m < is->joint_last; ++m) {
            joint_slot *j = &s->slots[s->joint_order[m]];
            for (int k = 0; k < j->block_count; ++k)
                j->speed[k] = speed_of_bodies(s, j->first_block + (uint32_t)k);
        }
    }
}

// Impulses of a sub-step times the mean of the speeds before and after: what gravity takes in between is made
// good for, and no work.
void vy_jointed_add_closing_work(substep_joints *t)
{
    joint_system *s = t->b->joints;
    if (!(t->time < s->closing_end)) return;
    for (uint32_t n = 0; n < t->count; ++n) {
        const island *is = island_at(t, n);
        load_velocities(t, is);
        for (uint32_t m = is->joint_first; m < is->joint_last; ++m) {
            const joint_slot *j = &s->slots[s->joint_order[m]];
            double work = 0.0;
            if (!joint_is_closing(j, t->time)) continue;
            for (int k = 0; k < j->block_count; ++k) {
                const uint32_t block = j->first_block + (uint32_t)k;
                work += 0.5 * vec3_dot(total_impulse_of(s)[block],
                                       vec3_add(j->speed[k], speed_of_bodies(s, block)));
            }
            vy_closing_add_work(t->b, j, work);
        }
    }
}

void vy_jointed_add_break_impulses(substep_joints *t)
{
    joint_system *s = t->b->joints;
    for (uint32_t n = 0; n < t->count && s->breakable_count > 0; ++n) {
        const island *is = island_at(t, n);
        vec3 *const recorded = recorded_impulse_of(s), *const total = total_impulse_of(s);
        for (uint32_t k = is->block_first; k < is->block_last; ++k)
            recorded[k] = vec3_sub(total[k], recorded[k]);
        vy_break_add_impulses(s, is, recorded);
        for (uint32_t k = is->block_first; k < is->block_last; ++k) recorded[k] = total[k];
    }
}

void vy_jointed_end_gears(substep_joints *t)
{
    for (uint32_t n = 0; n < t->count; ++n) vy_gear_end_substep(t->b->joints, island_at(t, n));
}

void vy_jointed_store_forces(substep_joints *t)
{
    joint_system *s = t->b->joints;
    for (uint32_t n = 0; n < t->count; ++n) {
        const island *is = island_at(t, n);
        for (uint32_t m = is->joint_first; m < is->joint_last; ++m) {
            joint_slot *j = &s->slots[s->joint_order[m]];
            for (int k = 0; k < j->block_count; ++k)
                j->lambda[k] = vec3_scale(1.0 / t->h, total_impulse_of(s)[j->first_block + (uint32_t)k]);
        }
    }
}
