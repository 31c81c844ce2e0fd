// impact_joints.c - what stepping from impact to impact takes where bodies are on joints, or
// VY_CONTACT_SOLVER_IMPULSE solves their contacts.
#include "dynamics/impacts.h"
#include "base/assert.h"
#include <float.h>

#define DEVIATION_FRACTION \
    0.02 // of the thinner one's thickness: so far jointed bodies may get from their paths

enum { IMPULSE_ROUNDS = 16 }; // of one impulse for each contact

// ---- joints

// Continue with the forces at the start of the step: the plant is not asked again.
static body_derivatives held_force_derivative(const void *self, uint32_t i, const body_state *s, double time)
{
    (void)time;
    const vy_bodies *b = self;
    const body_wrench *w = &b->joints->driver_wrench[i];
    return (body_derivatives){.acceleration = w->acceleration,
                              .rate_dot = angular_acceleration(&b->params[i], s->rate, w->torque)};
}

void vy_impact_step_jointed_free(vy_bodies *b, double h)
{
    b->driver = (body_driver){b, held_force_derivative};
    (void)vy_islands_step(b, h);
    b->driver = (body_driver){NULL, NULL};
}

void vy_impact_restore_joints(impact_group *g, const uint64_t *active)
{
    vy_bodies *b = g->b;
    for (uint32_t n = 0; n < g->count && g->has_joints; ++n) {
        for (uint32_t k = b->joints->first_joint[g->bodies[n]]; k != 0;) {
            const joint_slot *joint = &b->joints->slots[k - 1];
            b->joint_state[k - 1].active = active[k - 1];
            k = joint->next_joint[joint->body[1] == g->bodies[n]];
        }
    }
}

// Accept `part` of the impulses that joints which can break have given since this was called last; the rest
// is dropped. With a part of 0 gears go back, else they keep what they have counted.
static void accept_break_impulses(const impact_group *g, double part)
{
    joint_system *s = g->b->joints;
    for (uint32_t n = 0; n < g->count && g->has_joints && s->breakable_count + s->geared_count > 0; ++n) {
        for (uint32_t k = s->first_joint[g->bodies[n]]; k != 0;) {
            joint_slot *joint = &s->slots[k - 1];
            *(part > 0.0 ? &joint->saved_gear : &joint->gear) = part > 0.0 ? joint->gear : joint->saved_gear;
            joint_load *accepted = &joint->saved_impulse;
            accepted->force =
                vec3_add_scaled(accepted->force, part, vec3_sub(joint->impulse.force, accepted->force));
            accepted->torque =
                vec3_add_scaled(accepted->torque, part, vec3_sub(joint->impulse.torque, accepted->torque));
            joint->impulse = *accepted;
            k = joint->next_joint[joint->body[1] == g->bodies[n]];
        }
    }
}

static void clear_break_impulses(const impact_group *g)
{
    joint_system *s = g->b->joints;
    for (uint32_t n = 0; n < g->count && g->has_joints && s->breakable_count + s->geared_count > 0; ++n) {
        for (uint32_t k = s->first_joint[g->bodies[n]]; k != 0;) {
            joint_slot *joint = &s->slots[k - 1];
            joint->gear = joint->saved_gear = g->b->joint_gears[k - 1];
            joint->impulse = joint->saved_impulse = (joint_load){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
            k = joint->next_joint[joint->body[1] == g->bodies[n]];
        }
    }
}

void vy_impact_clear_work(const impact_group *g)
{
    joint_system *s = g->b->joints;
    clear_break_impulses(g);
    for (uint32_t n = 0; n < g->count; ++n) s->step_work[g->bodies[n]] = s->saved_work[g->bodies[n]] = 0.0;
}

void vy_impact_save_work(const impact_group *g, double part)
{
    joint_system *s = g->b->joints;
    accept_break_impulses(g, part);
    for (uint32_t n = 0; n < g->count; ++n) {
        double *accepted = &s->saved_work[g->bodies[n]];
        *accepted += part * (s->step_work[g->bodies[n]] - *accepted);
        s->step_work[g->bodies[n]] = *accepted;
    }
}

void vy_impact_restore_work(const impact_group *g)
{
    joint_system *s = g->b->joints;
    accept_break_impulses(g, 0.0);
    for (uint32_t n = 0; n < g->count; ++n) s->step_work[g->bodies[n]] = s->saved_work[g->bodies[n]];
}

double vy_impact_straight_fraction(const impact_group *g, double h)
{
    double deviation = 0.0;
    if (g->has_joints && g->b->head->failed == VY_BODIES_NOT_FINITE) { // too long for so fast a turn
        contact_system *s = g->b->contacts;
        g->b->head->failed = 0;
        for (uint32_t k = 0; k < s->count; ++k) vy_impact_clear_impulses(&s->contacts[k]);
        return 0.1;
    }
    for (uint32_t n = 0; n < g->count && g->has_joints; ++n) {
        const vy_sweep_path path = vy_impact_path(g->b, g->bodies[n], h);
        deviation = real_max(deviation, vy_impact_path_deviation(g->b, g->bodies[n], &path, h));
    }
    return deviation > g->max_deviation ? real_max(0.9 * real_sqrt(g->max_deviation / deviation), 0.1) : 1.0;
}

int vy_impact_touches(const impact_group *g, double h)
{
    const contact_system *s = g->b->contacts;
    for (uint32_t k = 0; k < s->count; ++k) {
        const contact *c = &s->contacts[k];
        double min_separation = DBL_MAX;
        for (int p = 0; p < c->point_count; ++p)
            min_separation = real_min(min_separation, c->points[p].separation);
        if (min_separation <= 2.0 * vy_impact_limits(g->b, c->a, c->b).target ||
            vy_paths_collide(g->b, c->a, c->b, h))
            return 1;
    }
    return 0;
}

void vy_impact_clear_impulses(contact *c)
{
    for (int k = 0; k < VY_MANIFOLD_POINTS; ++k) c->points[k].normal_impulse = 0.0;
    c->tangent_impulse_1 = c->tangent_impulse_2 = 0.0;
    c->rolling_impulse_1 = c->rolling_impulse_2 = c->twist_impulse = 0.0;
}

uint32_t vy_impact_list_unsolved(const vy_bodies *b)
{
    contact_system *s = b->contacts;
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->slot_count && b->joints->island_count > 0; ++i) {
        if ((s->solve_mode_mask[i] & SOLVE_FAILED) == 0) continue;
        s->has_impact[i] = 1;
        ++count;
    }
    return count;
}

// Whether a body is one of a group, or its filter lets it collide with one.
static int may_meet_group(const vy_bodies *b, uint32_t i, const impact_group *g)
{
    if (b->filter_count == 0) return 1;
    for (uint32_t n = 0; n < g->count; ++n) {
        const uint32_t member = g->bodies[n];
        if (member == i || (b->slots[member].shape.kind != VY_SHAPE_NONE && filters_collide(b, member, i)))
            return 1;
    }
    return 0;
}

double vy_impact_group_deviation_limit(const impact_group *g)
{
    const vy_bodies *b = g->b;
    double min_thickness = DBL_MAX;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (b->slots[i].shape.kind != VY_SHAPE_NONE && may_meet_group(b, i, g))
            min_thickness = real_min(min_thickness, b->contacts->thickness[i]);
    }
    return DEVIATION_FRACTION * min_thickness;
}

double vy_impact_pair_deviation_limit(const vy_bodies *b, uint32_t i, uint32_t j)
{
    const contact_system *s = b->contacts;
    return DEVIATION_FRACTION * real_min(s->thickness[i], s->thickness[j]);
}

// ---- VY_CONTACT_SOLVER_IMPULSE

void vy_impact_apply_impulses(impact_group *g)
{
    vy_bodies *b = g->b;
    contact_system *s = b->contacts;
    for (uint32_t n = 0; n < g->count; ++n) b->state[g->bodies[n]] = s->start_state[g->bodies[n]];
    int any_applied = 1;
    for (int round = 0; round < IMPULSE_ROUNDS && any_applied; ++round) {
        any_applied = 0;
        for (uint32_t k = 0; k < s->count; ++k) {
            contact *c = &s->contacts[k];
            vec3 point = vec3_zero();
            for (int p = 0; p < c->point_count; ++p)
                point = vec3_add_scaled(point, 1.0 / c->point_count,
                                        quat_rotate(b->state[c->a].attitude, c->points[p].local_anchor_a));
            const vec3 previous_total = c->total_impulse;
            const double impulse =
                vy_contact_apply_impulse(b, c, vec3_add(b->state[c->a].position, point), c->normal);
            if (!(impulse > 0.0)) continue;
            c->total_impulse = vec3_add(c->total_impulse, previous_total);
            c->total_normal_impulse[0] += impulse;
            s->headers[k].impulse_points = 1;
            any_applied = 1;
        }
    }
    for (uint32_t n = 0; n < g->count; ++n) {
        const uint32_t i = g->bodies[n];
        s->start_state[i].velocity = b->state[i].velocity;
        s->start_state[i].rate = b->state[i].rate;
        if (b->joints->first_joint[i] != 0) b->disturbed[i] = 1; // joints share the impulse
    }
}
