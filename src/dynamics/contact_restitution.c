// contact_restitution.c - after the sub-steps: points that closed fast separate again, with no more energy
// than the impact took.
#include "dynamics/contact_plan.h"

enum { RESTITUTION_ITERATIONS = 8 };

void vy_save_interval_start(const pack_plan *plan, const worker *t)
{
    const contact_system *s = plan->b->contacts;
    const struct solver_part *part = &plan->parts[t->part];
    for (uint32_t n = part->member_first; n < part->member_last; ++n) {
        const uint32_t i = s->members[n];
        if (!s->body[i].moves) continue;
        s->interval_start[i] = s->motion[i];
        s->interval_start[i].fraction = kinetic_energy_of(&s->body[i], &s->motion[i], &plan->b->params[i]);
    }
}

// Of each island: the restitution of its contacts, where all have the same and no friction.
static void find_common_restitution(const pack_plan *plan)
{
    contact_system *s = plan->b->contacts;
    const contact_group *g = plan->group;
    enum { UNKNOWN = 2 }; // restitution is 1 at most
    for (uint32_t n = g->member_first; n < g->member_last; ++n)
        s->island_restitution[s->root_of[s->members[n]]] = UNKNOWN;
    for (uint32_t n = g->first; n < g->last; ++n) {
        const contact *c = &s->contacts[s->group_contacts[n]];
        double *common = &s->island_restitution[s->headers[s->group_contacts[n]].island];
        if (*common == UNKNOWN) *common = c->restitution;
        const int has_friction =
            c->friction > 0.0 || c->rolling_resistance > 0.0 || c->torsional_friction > 0.0;
        if (has_friction || c->restitution != *common) *common = -1.0;
    }
}

static double restitution_scale(const contact_system *s, uint32_t root)
{
    const velocity_change_work work = s->island_change_work[root];
    const double loss = s->island_energy[root], common = s->island_restitution[root];
    if (s->island_has_kinematic[root]) return 1.0;
    return common >= 0.0 ? energetic_restitution_scale(work, loss, common) : restitution_fraction(work, loss);
}

// How much of each island's restitution is used.
static void find_restitution_fractions(const pack_plan *plan)
{
    contact_system *s = plan->b->contacts;
    const contact_group *g = plan->group;
    const double interval_h = plan->substep_h * (double)plan->substeps;
    int needs_scaling = 0;
    find_common_restitution(plan);
    for (uint32_t n = g->member_first; n < g->member_last; ++n) {
        const uint32_t root = s->root_of[s->members[n]];
        if (!s->body[s->members[n]].moves) continue;
        s->island_change_work[root] = (velocity_change_work){0.0, 0.0};
        s->island_energy[root] = 0.0;
    }
    for (uint32_t n = g->member_first; n < g->member_last; ++n) {
        const uint32_t i = s->members[n];
        if (!s->body[i].moves) continue;
        const body_params *params = &plan->b->params[i];
        const velocity_change_work work =
            work_of_change(&s->body[i], &s->motion_before[i], &s->motion[i], params);
        velocity_change_work *sum = &s->island_change_work[s->root_of[i]];
        sum->linear += work.linear;
        sum->quadratic += work.quadratic;
        s->island_energy[s->root_of[i]] +=
            energy_lost_to_contacts(&s->body[i], &s->interval_start[i], s->interval_start[i].fraction,
                                    &s->motion_before[i], params, interval_h);
    }
    for (uint32_t n = g->member_first; n < g->member_last; ++n) {
        const uint32_t i = s->members[n], root = s->root_of[i];
        if (!s->body[i].moves) continue;
        const double fraction = restitution_scale(s, root);
        s->motion[i].fraction = fraction;
        needs_scaling |= fraction != 1.0;
    }
    plan->parts[0].scales_impulses = needs_scaling;
}

void vy_solve_restitution(const pack_plan *plan, const worker *t)
{
    const contact_system *s = plan->b->contacts;
    const struct solver_part *part = &plan->parts[t->part];
    for (uint32_t n = part->member_first; n < part->member_last; ++n)
        s->motion_before[s->members[n]] = s->motion[s->members[n]];
    barrier(t);
    for (int n = 0; n < RESTITUTION_ITERATIONS; ++n) vy_run_packs(plan, t, APPLY_RESTITUTION);
    vy_run_packs(plan, t, RESTITUTION_FRICTION);
    if (t->part == 0) find_restitution_fractions(plan);
    barrier(t);
    if (!plan->parts[0].scales_impulses) return;
    for (uint32_t n = part->member_first; n < part->member_last; ++n) {
        const uint32_t i = s->members[n];
        if (s->body[i].moves)
            scale_velocity_change(&s->motion_before[i], &s->motion[i], s->motion[i].fraction);
    }
    vy_run_packs(plan, t, SCALE_RESTITUTION);
}
