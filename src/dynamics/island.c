// island.c - one step of jointed bodies: sub-steps, projection, and stops (cables and limits) that engage or
// release.
//
// A sub-step ends on the constraints: first positions are projected by one or two Newton steps, weighted by
// mass, then velocities, both with the factorisation of the last stage, which is accurate enough.
//
// A stop (unilateral row: cable, limit) is active or not, and that is state. It is released at the start of a
// sub-step when its multiplier would have the wrong sign. It engages when a sub-step would violate it: the
// sub-step is split at the moment it is reached, and the velocity along it is removed without rebound.
#include "base/assert.h"
#include "dynamics/contacts.h"
#include "dynamics/free_step.h"
#include <math.h>

enum {
    MAX_STOP_EVENTS = 8,           // that divide a sub-step
    NEWTON_ITERATIONS = 10,        // of a projection
    ROOT_ITERATIONS = 60,          // for the time at which a stop is reached
    MAX_ENGAGED_STOPS = 64,        // in a round of project_disturbed()
    STOP_ROUNDS = 4,               // of project_disturbed()
    MAX_SUBDIVISION_PARTS = 512,   // of a sub-step that changes the energy
    MAX_SUBDIVISIONS_PER_STEP = 32 // so many sub-steps are divided
};

#define CONVERGED_ERROR 1e-13 // of 1 m + the island's extent: error of a constraint that holds
#define FAILED_ERROR    1e-9  // and of one that does not
#define STOP_TOLERANCE  1e-9  // a stop that is reached
#define ENERGY_ERROR    0.01  // of its kinetic energy: what a sub-step of fast bodies may change it by

double vy_island_length_scale(const joint_system *s, const island *is)
{
    VY_ASSERT(is->body_first < is->dynamic_last && is->dynamic_last <= is->body_last);
    double max_value = 0.0;
    for (uint32_t n = is->body_first; n < is->body_last; ++n) {
        const vec3 p = s->stage[s->members[n]].position;
        max_value = real_max(max_value, real_max(real_max(real_abs(p.x), real_abs(p.y)), real_abs(p.z)));
    }
    return 1.0 + max_value;
}

static double max_component(vec3 v)
{
    return real_max(real_max(real_abs(v.x), real_abs(v.y)), real_abs(v.z));
}

static double body_kinetic_energy(const vy_bodies *b, uint32_t i, const body_state *s)
{
    return 0.5 * (b->slots[i].mass * vec3_dot(s->velocity, s->velocity) +
                  vec3_dot(s->rate, mat3_mul_vec(b->params[i].inertia, s->rate)));
}

static double kinetic_energy(const vy_bodies *b, const island *is)
{
    const joint_system *s = b->joints;
    double energy = 0.0;
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n)
        energy += body_kinetic_energy(b, s->members[n], &s->stage[s->members[n]]);
    return energy;
}

// ---- joints that close

// Whether the work of joints that close has to be entered at `time`.
static int any_joint_closing(const joint_system *s, double time) { return time < s->closing_end; }

// The work of the impulses in rhs[], to be entered when the sub-step is accepted.
static void save_impulse_work(joint_system *s, const island *is)
{
    for (uint32_t n = is->joint_first; n < is->joint_last; ++n) {
        joint_slot *j = &s->slots[s->joint_order[n]];
        if (j->initial_error.end > 0.0) j->impulse_work = vy_closing_impulse_work(s, j);
    }
}

// Enter what joints that close or can break did in a sub-step of h seconds from `time` on.
static void accept_substep(vy_bodies *b, const island *is, double time, double h)
{
    joint_system *s = b->joints;
    if (s->breakable_count > 0) vy_break_add_loads(s, is, h);
    if (s->geared_count > 0) vy_gear_end_substep(s, is);
    if (!any_joint_closing(s, time)) return;
    for (uint32_t n = is->joint_first; n < is->joint_last; ++n) {
        joint_slot *j = &s->slots[s->joint_order[n]];
        if (!joint_is_closing(j, time)) continue;
        vy_closing_add_work(b, j, h * j->power + j->impulse_work);
        j->impulse_work = 0.0;
    }
}

// ---- projection

static void zero_corrections(joint_system *s, const island *is)
{
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        s->stage_bodies[s->members[n]].linear = s->stage_bodies[s->members[n]].angular = vec3_zero();
    }
}

/// Solve for rhs[] and add M^-1 J^T of it to the positions (is_position = 1) or velocities (0) of s->stage.
static void apply_correction(joint_system *s, const island *is, int is_position)
{
    VY_ASSERT(is_position == 0 || is_position == 1);
    vy_island_solve(s, is);
    zero_corrections(s, is);
    vy_island_apply_multipliers(s, is);
    if (!is_position && any_joint_closing(s, s->step_time)) save_impulse_work(s, is);
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        const uint32_t i = s->members[n];
        body_state *state = &s->stage[i];
        const vec3 rotation = mat3_tmul_vec(s->stage_bodies[i].rotation, s->stage_bodies[i].angular);
        if (is_position) {
            state->position = vec3_add(state->position, s->stage_bodies[i].linear);
            state->attitude =
                quat_normalize(quat_add(state->attitude, attitude_derivative(state->attitude, rotation)));
        } else {
            state->velocity = vec3_add(state->velocity, s->stage_bodies[i].linear);
            state->rate = vec3_add(state->rate, rotation);
        }
    }
}

/// The rows at s->stage; returns the largest |C| of active ones.
static double evaluate_rows(vy_bodies *b, const island *is, double time)
{
    joint_system *s = b->joints;
    vy_island_update_frames(b, is);
    vy_island_rows(b, is, time);
    double max_value = 0.0;
    for (uint32_t k = is->block_first; k < is->block_last; ++k)
        max_value = real_max(max_value, max_component(s->rows[k].value));
    return max_value;
}

static void project_velocity(joint_system *s, const island *is)
{
    for (uint32_t k = is->block_first; k < is->block_last; ++k) s->rhs[k] = vec3_neg(vy_block_velocity(s, k));
    apply_correction(s, is, 0);
}

/// Project s->stage onto the constraints. `factor_is_near`: the last factorisation is that of a nearby state.
static void project(vy_bodies *b, const island *is, double time, int factor_is_near)
{
    joint_system *s = b->joints;
    const double length_scale = vy_island_length_scale(s, is);
    double error = 0.0;
    for (int n = 0; n < NEWTON_ITERATIONS; ++n) {
        if (!factor_is_near || n > 1) {
            vy_island_assemble(b, is, time);
            s->redundant_count = vy_island_factor(s, is);
        }
        error = evaluate_rows(b, is, time);
        if (error <= CONVERGED_ERROR * length_scale) break;
        for (uint32_t k = is->block_first; k < is->block_last; ++k) s->rhs[k] = vec3_neg(s->rows[k].value);
        apply_correction(s, is, 1);
    }
    project_velocity(s, is);
    s->projection_error = real_max(s->projection_error, error / length_scale);
}

// ---- stops

/// C of a stop at s->stage, or infinity where it may not be active.
static double stop_distance_at_stage(const vy_bodies *b, const stop *t, double time)
{
    VY_ASSERT((b->joints->slots[t->joint].unilateral_rows >> t->row & 1u) != 0);
    const joint_slot *j = &b->joints->slots[t->joint];
    if (joint_is_broken(&b->joint_state[t->joint])) return DBL_MAX;
    return vy_stop_distance(j, t->row, &b->joints->stage[j->body[0]], &b->joints->stage[j->body[1]], time);
}

/// Assemble, and solve for the multipliers of accelerations (by_impulse = 0) or velocities (1). Stops whose
/// multiplier has the wrong sign are released, the worst first, until there is none.
static void release_stops(vy_bodies *b, const island *is, double time, int by_impulse)
{
    joint_system *s = b->joints;
    for (;;) {
        vy_island_assemble(b, is, time);
        s->redundant_count = vy_island_factor(s, is);
        if (by_impulse) {
            for (uint32_t k = is->block_first; k < is->block_last; ++k)
                s->rhs[k] = vec3_neg(vy_block_velocity(s, k));
        }
        vy_island_solve(s, is);
        const stop *worst = NULL;
        double min_value = 0.0;
        for (uint32_t n = is->stop_first; n < is->stop_last; ++n) {
            const stop *t = &s->stops[n];
            const double multiplier = stop_is_active(b, t) ? stop_component(s, t, s->rhs) : 0.0;
            if (!(multiplier < min_value))
                continue; // not finite: the run ends with this step and no stop is released
            min_value = multiplier;
            worst = t;
        }
        if (worst == NULL) return;
        VY_ASSERT(stop_is_active(b, worst));
        stop_set_active(b, worst, 0);
    }
}

/// Find the active set of stops at s->stage. Stops that are reached engage: the velocity along them is
/// removed.
static void update_stops(vy_bodies *b, const island *is, double time)
{
    joint_system *s = b->joints;
    const double tolerance = STOP_TOLERANCE * vy_island_length_scale(s, is);
    int any_engaged = 0;
    for (uint32_t n = is->stop_first; n < is->stop_last; ++n) {
        const stop *t = &s->stops[n];
        if (stop_is_active(b, t) || !(stop_distance_at_stage(b, t, time) <= tolerance)) continue;
        stop_set_active(b, t, 1);
        vy_island_update_frames(b, is);
        vy_island_rows(b, is, time);
        s->rhs[s->slots[t->joint].first_block + (uint32_t)(t->row / BLOCK_ROWS)] =
            vy_block_velocity(s, s->slots[t->joint].first_block + (uint32_t)(t->row / BLOCK_ROWS));
        const double speed = stop_component(s, t, s->rhs);
        if (speed > 0.0) stop_set_active(b, t, 0); // it separates
        if (speed < 0.0) any_engaged = 1;
    }
    if (any_engaged) {
        const double energy_before = kinetic_energy(b, is);
        release_stops(b, is, time, 1);
        zero_corrections(s, is);
        vy_island_apply_multipliers(s, is);
        if (any_joint_closing(s, time)) save_impulse_work(s, is);
        if (s->breakable_count > 0) vy_break_add_impulses(s, is, s->rhs);
        accept_substep(b, is, time, 0.0);
        for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
            const uint32_t i = s->members[n];
            body_state *state = &s->stage[i];
            state->velocity = vec3_add(state->velocity, s->stage_bodies[i].linear);
            state->rate =
                vec3_add(state->rate, mat3_tmul_vec(s->stage_bodies[i].rotation, s->stage_bodies[i].angular));
        }
        s->impact_loss += energy_before - kinetic_energy(b, is);
    }
    release_stops(b, is, time, 0);
}

/// Engage stops that are violated at s->stage, and list them. Returns how many.
static uint32_t engage_violated(vy_bodies *b, const island *is, double time, uint32_t *engaged)
{
    const double tolerance = STOP_TOLERANCE * vy_island_length_scale(b->joints, is);
    uint32_t count = 0;
    for (uint32_t n = is->stop_first; n < is->stop_last && count < MAX_ENGAGED_STOPS; ++n) {
        const stop *t = &b->joints->stops[n];
        if (stop_is_active(b, t) || !(stop_distance_at_stage(b, t, time) < -tolerance)) continue;
        stop_set_active(b, t, 1);
        engaged[count++] = n;
    }
    return count;
}

/// Project bodies that were moved, onto stops as well: one that is left violated would push with all its
/// error over a sub-step, however short that is. Velocities are those of joints and stops that were active.
static void project_disturbed(vy_bodies *b, const island *is, double time)
{
    joint_system *s = b->joints;
    project(b, is, time, 0);
    for (int n = 0; n < STOP_ROUNDS; ++n) {
        uint32_t engaged[MAX_ENGAGED_STOPS];
        const uint32_t count = engage_violated(b, is, time, engaged);
        if (count == 0) return;
        for (uint32_t m = is->body_first; m < is->dynamic_last; ++m)
            s->substep_restart[s->members[m]] = s->stage[s->members[m]];
        project(b, is, time, 0);
        for (uint32_t k = 0; k < count; ++k) stop_set_active(b, &s->stops[engaged[k]], 0);
        for (uint32_t m = is->body_first; m < is->dynamic_last; ++m) {
            const uint32_t i = s->members[m];
            s->stage[i].velocity = s->substep_restart[i].velocity;
            s->stage[i].rate = s->substep_restart[i].rate;
        }
        project(b, is, time, 0);
    }
}

/// The smallest C of inactive stops.
static double nearest_stop_distance(const vy_bodies *b, const island *is, double time)
{
    const joint_system *s = b->joints;
    double min_value = DBL_MAX;
    for (uint32_t n = is->stop_first; n < is->stop_last; ++n) {
        if (!stop_is_active(b, &s->stops[n]))
            min_value = real_min(min_value, stop_distance_at_stage(b, &s->stops[n], time));
    }
    return min_value;
}

// ---- steps

static void save_start(joint_system *s, const island *is)
{
    for (uint32_t n = is->body_first; n < is->body_last; ++n)
        s->start[s->members[n]] = s->stage[s->members[n]];
}

static void step_once(vy_bodies *b, const island *is, double time, double h)
{
    vy_island_integrate(b, is, time, h);
    if (!b->def.baumgarte) project(b, is, time + h, b->joints->integrator == VY_INTEGRATOR_RK4);
}

/// How much of the energy at s->start, that of springs included, is neither at s->stage nor gravity's work in
/// between; dampers may take some.
static double energy_error(vy_bodies *b, const island *is)
{
    const joint_system *s = b->joints;
    double before = 0.0, after = 0.0, work = 0.0;
    int is_damped = 0;
    for (uint32_t m = is->joint_first; m < is->joint_last; ++m) {
        const joint_slot *j = &s->slots[s->joint_order[m]];
        const uint32_t slot_a = j->body[0], slot_b = j->body[1]; // the world has no start
        const joint_state *state = &b->joint_state[s->joint_order[m]];
        before += vy_joint_energy(j, state, slot_a == b->body_cap ? &s->stage[slot_a] : &s->start[slot_a],
                                  slot_b == b->body_cap ? &s->stage[slot_b] : &s->start[slot_b]);
        after += vy_joint_energy(j, state, &s->stage[slot_a], &s->stage[slot_b]);
        is_damped |= j->def.damping != 0.0;
    }
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        const uint32_t i = s->members[n];
        before += body_kinetic_energy(b, i, &s->start[i]);
        after += body_kinetic_energy(b, i, &s->stage[i]);
        work +=
            b->slots[i].mass * vec3_dot(b->def.gravity, vec3_sub(s->stage[i].position, s->start[i].position));
    }
    const double change = after - before - work, error = is_damped ? real_max(change, 0.0) : real_abs(change);
    return error <= REAL_MAX ? error / (before + real_abs(work)) : REAL_MAX;
}

/// From s->start by h, then project. Where constraints accelerate a thin body within a sub-step, near a
/// singular position, the energy shows it: the sub-step is taken in parts.
static void integrate_and_project(vy_bodies *b, const island *is, double time, double h)
{
    joint_system *s = b->joints;
    step_once(b, is, time, h);
    if (!s->checks_energy || s->subdivisions_left == 0 || energy_error(b, is) <= ENERGY_ERROR) return;
    --s->subdivisions_left;
    for (uint32_t n = is->body_first; n < is->body_last; ++n)
        s->substep_restart[s->members[n]] = s->start[s->members[n]];
    int is_accurate = 0;
    for (int parts = 8; parts <= MAX_SUBDIVISION_PARTS && !is_accurate; parts *= 8) {
        is_accurate = 1;
        for (uint32_t n = is->body_first; n < is->body_last; ++n)
            s->stage[s->members[n]] = s->substep_restart[s->members[n]];
        for (int k = 0; k < parts && (is_accurate || parts == MAX_SUBDIVISION_PARTS); ++k) {
            save_start(s, is);
            step_once(b, is, time + k * (h / parts), h / parts);
            is_accurate &= energy_error(b, is) <= ENERGY_ERROR;
        }
    }
    for (uint32_t n = is->body_first; n < is->body_last; ++n)
        s->start[s->members[n]] = s->substep_restart[s->members[n]];
}

/// The time within h at which the first stop is reached: `distance_0` and `distance_1` are the distances to
/// it at 0 and at h. The Illinois variant of regula falsi.
static double time_of_engagement(vy_bodies *b, const island *is, double time, double h, double distance_0,
                                 double distance_1)
{
    VY_ASSERT(is->stop_first < is->stop_last);
    const double tolerance = 0.5 * STOP_TOLERANCE * vy_island_length_scale(b->joints, is);
    double t0 = 0.0, t1 = h, t = 0.0;
    int side = 0;
    for (int n = 0; n < ROOT_ITERATIONS; ++n) {
        t = (t0 * distance_1 - t1 * distance_0) / (distance_1 - distance_0);
        integrate_and_project(b, is, time, t);
        const double distance = nearest_stop_distance(b, is, time + t);
        if (real_abs(distance) <= tolerance) break;
        if (distance < 0.0) {
            t1 = t;
            distance_1 = distance;
            if (side < 0) distance_0 *= 0.5;
            side = -1;
        } else {
            t0 = t;
            distance_0 = distance;
            if (side > 0) distance_1 *= 0.5;
            side = 1;
        }
    }
    return t;
}

/// What is left for a step of an island: whatever a state asks for, a step ends.
typedef struct step_budget {
    int parts;  // into which sub-steps are divided
    int events; // stops whose time of engagement is searched for
} step_budget;

static void substep(vy_bodies *b, const island *is, double time, double h, step_budget *budget)
{
    VY_ASSERT(!(h < 0.0));
    joint_system *s = b->joints;
    for (int event = 0; is->stop_first != is->stop_last && event < MAX_STOP_EVENTS; ++event) {
        update_stops(b, is, time);
        save_start(s, is);
        const double start_distance = nearest_stop_distance(b, is, time),
                     tolerance = STOP_TOLERANCE * vy_island_length_scale(s, is);
        integrate_and_project(b, is, time, h);
        const double end_distance = nearest_stop_distance(b, is, time + h);
        if (end_distance >= -tolerance || start_distance <= tolerance || budget->events == 0) {
            accept_substep(b, is, time, h);
            return; // none is violated, or one that the next sub-step handles
        }
        --budget->events;
        const double t = time_of_engagement(b, is, time, h, start_distance, end_distance);
        integrate_and_project(b, is, time, t);
        accept_substep(b, is, time, t);
        time += t;
        h -= t;
    }
    save_start(s, is);
    integrate_and_project(b, is, time, h);
    accept_substep(b, is, time, h);
}

/// [rad] Sub-steps in which a body would turn further are made shorter.
#define MAX_ROTATION 0.25
#define MAX_SUBSTEPS 4000.0
/// Of MAX_ROTATION: the energy of islands that turn less in a sub-step is not checked.
#define FAST_ROTATION 0.1
static const step_budget max_step_budget = {.parts = 4000, .events = 64};

// How often MAX_ROTATION is in the turn of the fastest body over dt.
static double rotation_ratio(const vy_bodies *b, const island *is, double dt)
{
    const joint_system *s = b->joints;
    double max_rate2 = 0.0;
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        const vec3 rate = s->stage[s->members[n]].rate;
        max_rate2 = real_max(max_rate2, vec3_dot(rate, rate));
    }
    return real_min(dt * real_sqrt(max_rate2) / MAX_ROTATION, MAX_SUBSTEPS);
}

// Sub-steps of a step of length dt: by the set's joint_step, and by how fast the bodies turn.
static double substep_count(const vy_bodies *b, const island *is, double dt)
{
    return real_max(real_max(1.0, -floor(1e-9 - dt / b->def.joint_step)), -floor(-rotation_ratio(b, is, dt)));
}

// Where bodies turn fast, the Euler integrators gain energy without end, and the midpoint rule, which keeps
// that of a free spin, drifts by the cube of the turn once there are joints: RK4 takes such steps. Fast by
// the whole step: from impact to impact the short ones add up.
static vy_integrator island_integrator(const vy_bodies *b, const island *is)
{
    const int is_fast = rotation_ratio(b, is, b->def.dt) > MAX_EULER_ROTATION / MAX_ROTATION;
    return is_fast ? VY_INTEGRATOR_RK4 : b->def.integrator;
}

// Whether gravity and springs alone do work on the island.
static int conserves_energy(const vy_bodies *b, const island *is)
{
    const joint_system *s = b->joints;
    if (b->driver.derivative != NULL || b->potential_count != 0 || b->def.baumgarte ||
        vy_integrator_order(s->integrator) == 1 || s->step_time < s->closing_end)
        return 0;
    for (uint32_t n = is->dynamic_last; n < is->body_last; ++n) {
        if (b->slots[s->members[n]].kind == VY_BODY_KINEMATIC) return 0;
    }
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        if (b->has_loads[s->members[n]]) return 0;
    }
    for (uint32_t m = is->joint_first; m < is->joint_last; ++m) {
        const joint_slot *j = &s->slots[s->joint_order[m]];
        if (j->def.kind == VY_JOINT_CUSTOM || b->joint_state[s->joint_order[m]].max_motor_torque != 0.0)
            return 0;
    }
    return 1;
}

// A sub-step; in parts where bodies turn faster by now than the step's start had it, as long as there are any
// left for the step.
static void substep_in_parts(vy_bodies *b, const island *is, double time, double h, step_budget *budget)
{
    const double ratio = rotation_ratio(b, is, h);
    b->joints->checks_energy = ratio > FAST_ROTATION && conserves_energy(b, is);
    int parts = ratio > 2.0 ? (int)ratio + 1 : 1;
    parts = parts < budget->parts ? parts : budget->parts > 1 ? budget->parts : 1;
    budget->parts -= parts - 1;
    if (parts > 1) b->joints->integrator = island_integrator(b, is);
    for (int k = 0; k < parts; ++k)
        substep(b, is, time + (double)k * (h / (double)parts), h / (double)parts, budget);
}

static void step_island(vy_bodies *b, const island *is, double dt)
{
    joint_system *s = b->joints;
    const double time = (double)b->head->tick * b->def.dt + s->elapsed;
    uint64_t disturbed = 0;
    s->step_time = time;
    s->integrator = b->def.integrator;
    for (uint32_t n = is->body_first; n < is->body_last; ++n) {
        const uint32_t i = s->members[n];
        s->stage[i] = b->state[i];
        disturbed |= b->disturbed[i];
        b->disturbed[i] = 0;
        if (n < is->dynamic_last) b->previous[i] = (body_previous){b->state[i].velocity, b->state[i].rate};
    }
    if (disturbed && !b->def.baumgarte) { // joints share an impulse at once, and stops may be released by it
        release_stops(b, is, time, 1);
        project_disturbed(b, is, time);
        if (s->breakable_count > 0) vy_break_add_impulses(s, is, s->rhs);
        accept_substep(b, is, time, 0.0);
        // Contacts start from here, too; the change of velocity counts as a force over the step.
        for (uint32_t n = is->body_first; n < is->dynamic_last && b->contacts != NULL; ++n) {
            const uint32_t i = s->members[n];
            if (!body_is_finite(&s->stage[i])) continue; // nor is what follows from it: the set ends
            b->contacts->start_state[i].position = s->stage[i].position;
            b->contacts->start_state[i].attitude = s->stage[i].attitude;
        }
    }
    const double count = substep_count(b, is, dt), h = dt / count;
    VY_ASSERT(count >= 1.0 && h > 0.0 && h <= dt);
    step_budget budget_left = max_step_budget;
    s->subdivisions_left = MAX_SUBDIVISIONS_PER_STEP;
    s->integrator = island_integrator(b, is);
    for (uint64_t k = 0; (double)k < count; ++k)
        substep_in_parts(b, is, time + (double)k * h, h, &budget_left);
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n) {
        if (!body_is_finite(&s->stage[s->members[n]])) b->head->failed = VY_BODIES_NOT_FINITE;
    }
    if (b->head->failed) return; // the island keeps its last state
    for (uint32_t n = is->body_first; n < is->dynamic_last; ++n)
        b->state[s->members[n]] = s->stage[s->members[n]];
}

void vy_islands_project(vy_bodies *b, double h)
{
    joint_system *s = b->joints;
    for (uint32_t n = 0; n < s->island_count; ++n) {
        const island *is = &s->islands[n];
        uint64_t disturbed = 0;
        for (uint32_t m = is->body_first; m < is->body_last; ++m) {
            const uint32_t i = s->members[m];
            s->stage[i] = b->state[i];
            disturbed |= b->disturbed[i] & (uint64_t)b->awake[i];
        }
        if (!disturbed || b->def.baumgarte) continue;
        project_disturbed(b, is, s->step_time + h);
        accept_substep(b, is, s->step_time, 0.0);
        for (uint32_t m = is->body_first; m < is->dynamic_last; ++m) {
            const uint32_t i = s->members[m];
            if (body_is_finite(&s->stage[i])) b->state[i] = s->stage[i];
        }
    }
}

uint32_t vy_islands_step(vy_bodies *b, double dt)
{
    VY_ASSERT(dt > 0.0 && !b->joints->dirty);
    joint_system *s = b->joints;
    uint32_t events = 0;
    for (uint32_t n = 0; n < s->island_count; ++n) {
        const island *is = &s->islands[n];
        // It sleeps, or is not stepped again.
        if ((!b->external_integration || s->between_impacts) && !b->awake[s->members[is->body_first]])
            continue;
        for (uint32_t m = is->joint_first; m < is->joint_last; ++m) {
            const uint32_t k = s->joint_order[m];
            s->active_before_flight[k] = b->joint_state[k].active;
            if (!s->between_impacts) s->active_at_step_start[k] = b->joint_state[k].active;
        }
        s->projection_error = 0.0;
        s->redundant_count = 0;
        step_island(b, is, dt);
        if (s->redundant_count > 0) events |= VY_BODIES_REDUNDANT;
        if (s->projection_error > FAILED_ERROR) events |= VY_BODIES_CONFLICT;
    }
    return events;
}
