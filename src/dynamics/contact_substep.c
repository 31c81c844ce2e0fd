// contact_substep.c - a sub-step of a group: forces and the warm start, contacts with bias, positions,
// contacts without it; then no island has gained energy.
#include "dynamics/contact_plan.h"
#include "base/assert.h"

// Iterations of the solver in each half of a sub-step: with warm starting, and without. An iteration carries
// an impulse one body further, so a stack of ten needs about this many without.
enum { ITERATIONS = 1, COLD_ITERATIONS = 64 };

// A kinematic body may do work, so what it touches uses all of the warm start.
static double island_warm_start_fraction(const contact_system *s, uint32_t root)
{
    return s->island_has_kinematic[root] ? 1.0 : warm_start_fraction(s->island_change_work[root]);
}

// The work of each island's warm start, and whether one of them is not used whole: most are.
static void sum_warm_start_work(const pack_plan *plan)
{
    contact_system *s = plan->b->contacts;
    const contact_group *g = plan->group;
    int needs_scaling = 0, adds_energy = 0;
    for (uint32_t t = 0; t < plan->part_count; ++t) adds_energy |= plan->parts[t].warm_start_adds_energy;
    plan->parts[0].scales_impulses = 0;
    if (!adds_energy) return;
    for (uint32_t n = g->member_first; n < g->member_last; ++n) {
        const uint32_t i = s->members[n], root = s->root_of[i];
        VY_ASSERT(root <= i);
        velocity_change_work *sum = &s->island_change_work[root];
        if (root == i) *sum = (velocity_change_work){0.0, 0.0}; // it comes before the others of its island
        sum->linear += s->velocity_change_work[i].linear;
        sum->quadratic += s->velocity_change_work[i].quadratic;
    }
    for (uint32_t n = g->member_first; n < g->member_last; ++n) {
        const uint32_t i = s->members[n];
        if (s->root_of[i] == i) needs_scaling |= island_warm_start_fraction(s, i) != 1.0;
    }
    plan->parts[0].scales_impulses = needs_scaling;
}

/// Vectorised bodies that are collected until there are as many as lanes.
typedef struct body_lanes {
    uint32_t count;
    uint32_t bodies[8];
} body_lanes;

static int integrate_velocity(const pack_plan *plan, uint32_t i)
{
    contact_system *s = plan->b->contacts;
    const velocity_change_work work = integrate_forces(&s->body[i], &s->motion[i], plan->substep_h);
    apply_warm_start_fraction(&s->motion[i], 1.0);
    s->velocity_change_work[i] = work;
    return work.linear + 0.5 * work.quadratic > 0.0;
}

// Forces and the warm start, for the bodies of a part. Returns whether the warm start of one adds energy.
static int integrate_part_velocities(const pack_plan *plan, const struct solver_part *part)
{
    contact_system *s = plan->b->contacts;
    const double h = plan->substep_h;
    body_lanes lanes = {.count = 0};
    int adds_energy = 0;
    for (uint32_t n = part->member_first; n < part->member_last; ++n) {
        const uint32_t i = s->members[n];
        if (s->body[i].is_vectorised) {
            lanes.bodies[lanes.count++] = i;
            if (lanes.count < s->kernel->width) continue;
            adds_energy |=
                s->kernel->integrate_velocities(&plan->context, lanes.bodies, h, s->velocity_change_work);
            lanes.count = 0;
        } else if (s->body[i].moves) {
            adds_energy |= integrate_velocity(plan, i);
        }
    }
    for (uint32_t k = 0; k < lanes.count; ++k)
        adds_energy |=
            plan->narrow->integrate_velocities(&plan->context, &lanes.bodies[k], h, s->velocity_change_work);
    return adds_energy;
}

// Forces, then of the warm start what adds no energy.
static void integrate_velocities(const pack_plan *plan, const worker *t)
{
    contact_system *s = plan->b->contacts;
    struct solver_part *part = &plan->parts[t->part];
    part->warm_start_adds_energy = integrate_part_velocities(plan, part); // to some body: else to no island
    barrier(t);
    if (t->part == 0) sum_warm_start_work(plan);
    barrier(t);
    if (!plan->parts[0].scales_impulses) return;
    for (uint32_t n = part->member_first; n < part->member_last; ++n) {
        const uint32_t i = s->members[n];
        s->motion[i].fraction = island_warm_start_fraction(s, s->root_of[i]);
        if (s->body[i].moves) apply_warm_start_fraction(&s->motion[i], s->motion[i].fraction - 1.0);
    }
    barrier(t);
    vy_run_packs(plan, t, SCALE_IMPULSES);
}

static void integrate_positions(const pack_plan *plan, const struct solver_part *part)
{
    vy_bodies *b = plan->b;
    contact_system *s = b->contacts;
    const double h = plan->substep_h;
    body_lanes lanes = {.count = 0};
    for (uint32_t n = part->member_first; n < part->member_last; ++n) {
        const uint32_t i = s->members[n];
        if (s->body[i].is_vectorised) {
            lanes.bodies[lanes.count++] = i;
            if (lanes.count < s->kernel->width) continue;
            s->kernel->integrate_positions(&plan->context, lanes.bodies, h);
            lanes.count = 0;
        } else {
            integrate_position(&s->body[i], &s->motion[i], &b->params[i], h);
            clear_warm_start(&s->motion[i]);
        }
    }
    for (uint32_t k = 0; k < lanes.count; ++k)
        plan->narrow->integrate_positions(&plan->context, &lanes.bodies[k], h);
}

// ---- energy

#define ENERGY_TOLERANCE 1e-6 // of the kinetic energy
#define WEIGHT_TOLERANCE 1e-5 // of that which forces give to a body at rest in a sub-step

static void save_substep_start(const pack_plan *plan, const struct solver_part *part)
{
    contact_system *s = plan->b->contacts;
    for (uint32_t n = part->member_first; n < part->member_last; ++n) {
        const uint32_t i = s->members[n];
        if (s->body[i].moves)
            s->substep_start[i] = substep_start_of(&s->body[i], &s->motion[i], &plan->b->params[i]);
    }
}

// What each island has, and what contacts may leave it: no more than it had, and the work of forces.
static void sum_energies(const pack_plan *plan)
{
    contact_system *s = plan->b->contacts;
    const contact_group *g = plan->group;
    const double h = plan->substep_h;
    for (uint32_t n = g->member_first; n < g->member_last; ++n) {
        const uint32_t i = s->members[n], root = s->root_of[i];
        if (!s->body[i].moves) continue;
        s->island_change_work[root] = (velocity_change_work){0.0, 0.0};
        s->island_sum[root] = (energy_sum){0.0, 0.0};
    }
    for (uint32_t n = g->member_first; n < g->member_last; ++n) {
        const uint32_t i = s->members[n];
        const contact_body *body = &s->body[i];
        if (!body->moves) continue;
        const substep_start *start = &s->substep_start[i];
        const body_params *params = &plan->b->params[i];
        s->motion_before[i] = motion_without_contacts(body, start, h);
        const velocity_change_work work = work_of_change(body, &s->motion_before[i], &s->motion[i], params);
        const double fall_energy =
            h * h * vec3_dot(body->acceleration, body->acceleration) / body->inverse_mass;
        const uint32_t root = s->root_of[i];
        s->island_change_work[root].linear += work.linear;
        s->island_change_work[root].quadratic += work.quadratic;
        s->island_sum[root].kinetic += kinetic_energy_of(body, &s->motion[i], params);
        s->island_sum[root].limit += (1.0 + ENERGY_TOLERANCE) * start->energy +
                                     WEIGHT_TOLERANCE * fall_energy +
                                     work_of_forces(body, start, &s->motion[i], h);
    }
}

// Contacts do no work on an island: where they would, the change of velocities that they made is scaled to
// what does none.
static void find_energy_fractions(const pack_plan *plan)
{
    contact_system *s = plan->b->contacts;
    const contact_group *g = plan->group;
    int needs_scaling = 0;
    sum_energies(plan);
    for (uint32_t n = g->member_first; n < g->member_last; ++n) {
        const uint32_t i = s->members[n], root = s->root_of[i];
        if (!s->body[i].moves) continue;
        const double limit = real_max(s->island_sum[root].limit, 0.0), kinetic = s->island_sum[root].kinetic;
        const velocity_change_work work = s->island_change_work[root];
        const int is_driven = s->island_has_kinematic[root];
        const double fraction = is_driven ? 1.0 : energy_fraction(work, kinetic, limit);
        s->island_energy[root] = is_driven ? 1.0 : energy_scale(work, kinetic, limit, fraction);
        s->motion[i].fraction = fraction;
        needs_scaling |= fraction != 1.0 || s->island_energy[root] != 1.0;
    }
    plan->parts[0].scales_impulses = needs_scaling;
    if (needs_scaling) atomic_fetch_add_explicit(&s->scaled, 1, memory_order_relaxed);
}

static void limit_energy(const pack_plan *plan, const worker *t)
{
    const contact_system *s = plan->b->contacts;
    const struct solver_part *part = &plan->parts[t->part];
    if (t->part == 0) find_energy_fractions(plan);
    barrier(t);
    if (!plan->parts[0].scales_impulses) return;
    for (uint32_t n = part->member_first; n < part->member_last; ++n) {
        const uint32_t i = s->members[n];
        if (s->body[i].moves)
            apply_energy_limit(&s->motion_before[i], &s->motion[i], s->island_energy[s->root_of[i]]);
    }
    barrier(t);
    vy_run_packs(plan, t, LIMIT_IMPULSES);
}

void vy_contact_substep(const pack_plan *plan, const worker *t)
{
    const int min_iterations = plan->group->solve_mode == SOLVE_COLD ? COLD_ITERATIONS : ITERATIONS,
              group_iterations = (int)plan->group->iterations,
              iterations = group_iterations > min_iterations ? group_iterations : min_iterations;
    const struct solver_part *part = &plan->parts[t->part];
    const int limits_energy = any_unvectorised(plan) && !plan->b->contacts->guards_off;
    if (limits_energy) save_substep_start(plan, part);
    integrate_velocities(plan, t);
    for (int n = 0; n < iterations; ++n) vy_run_packs(plan, t, SOLVE);
    integrate_positions(plan, part);
    barrier(t);
    for (int n = 1; n < iterations; ++n) vy_run_packs(plan, t, RELAX);
    vy_run_packs(plan, t, RELAX_LAST);
    if (limits_energy) limit_energy(plan, t);
}
