// energy_guard.c - a guard: bodies on joints that touch, and have more energy after a step than before it,
// lose what is too much. Joints of thin bodies turn them by radians in a sub-step, where their equations say
// little. Each time is counted (vy_impact_totals.limited).
#include "base/assert.h"
#include "dynamics/contacts.h"
#include "dynamics/island_motion.h"

#define ENERGY_TOLERANCE 1e-5 // of the kinetic energy before
#define WEIGHT_TOLERANCE 1e-5 // of that which gravity gives in a step

static double kinetic_energy(const vy_bodies *b, uint32_t i, const body_state *s)
{
    return 0.5 * (b->slots[i].mass * vec3_dot(s->velocity, s->velocity) +
                  vec3_dot(s->rate, mat3_mul_vec(b->params[i].inertia, s->rate)));
}

static uint32_t root_of(const vy_bodies *b, uint32_t i) { return island_root(b->contacts->parent, i); }

static int is_awake(const vy_bodies *b, uint32_t i) { return i < b->slot_count && b->awake[i]; }

// Mark the roots of islands that a contact pushes, and that nothing drives. Returns whether there are any.
static int mark_pushed_islands(vy_bodies *b)
{
    contact_system *s = b->contacts;
    int any_pushed = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) s->marked[i] = 0;
    for (uint32_t k = 0; k < s->count; ++k) {
        const contact_header *c = &s->headers[k];
        if (c->impulse_points == 0) continue;
        const uint32_t root = root_of(b, b->awake[c->a] ? c->a : c->b);
        s->marked[root] = 1;
        any_pushed = 1;
    }
    for (uint32_t k = 0; k < s->count && any_pushed; ++k) {
        const contact_header *c = &s->headers[k];
        if (b->slots[c->a].kind == VY_BODY_KINEMATIC || b->slots[c->b].kind == VY_BODY_KINEMATIC)
            s->marked[root_of(b, b->awake[c->a] ? c->a : c->b)] = 0;
    }
    for (uint32_t i = 0; i < b->slot_count && any_pushed; ++i) {
        if (b->awake[i] && b->has_loads[i]) s->marked[root_of(b, i)] = 0;
    }
    return any_pushed;
}

static body_state state_before(const vy_bodies *b, uint32_t i)
{
    return i < b->slot_count ? b->contacts->start_state[i] : b->joints->stage[i];
}

static body_state state_now(const vy_bodies *b, uint32_t i)
{
    return i < b->slot_count ? b->state[i] : b->joints->stage[i];
}

// Springs give back what they have taken up: that adds to the limit. Islands with motors and driven bodies,
// which do work, are not marked any more.
static void add_joint_energies(vy_bodies *b)
{
    contact_system *s = b->contacts;
    for (uint32_t k = 0; k < b->joints->slot_count; ++k) {
        const joint_slot *j = &b->joints->slots[k];
        if (!j->used || (!is_awake(b, j->body[0]) && !is_awake(b, j->body[1]))) continue;
        const uint32_t root = root_of(b, is_awake(b, j->body[0]) ? j->body[0] : j->body[1]);
        int is_driven = b->joint_state[k].max_motor_torque != 0.0 || j->def.kind == VY_JOINT_CUSTOM;
        for (int side = 0; side < 2; ++side)
            is_driven |= j->body[side] < b->slot_count && b->slots[j->body[side]].kind == VY_BODY_KINEMATIC;
        if (is_driven) s->marked[root] = 0;
        const body_state before[2] = {state_before(b, j->body[0]), state_before(b, j->body[1])},
                         now[2] = {state_now(b, j->body[0]), state_now(b, j->body[1])};
        s->island_sum[root].limit += vy_joint_energy(j, &b->joint_state[k], &before[0], &before[1]) -
                                     vy_joint_energy(j, &b->joint_state[k], &now[0], &now[1]);
    }
}

// The kinetic energy of each island, and its limit: that before, and the work of gravity and closing joints.
static void add_body_energies(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    // [J/kg] let pass beside it, in proportion to what a body gains by falling for the step
    const double fall_allowance = WEIGHT_TOLERANCE * h * h * vec3_dot(b->def.gravity, b->def.gravity);
    for (uint32_t i = 0; i < b->slot_count; ++i) s->island_sum[i] = (energy_sum){0.0, 0.0};
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (!b->awake[i]) continue;
        energy_sum *sum = &s->island_sum[root_of(b, i)];
        const vec3 displacement = vec3_sub(b->state[i].position, s->start_state[i].position);
        const double before = kinetic_energy(b, i, &s->start_state[i]);
        sum->kinetic += kinetic_energy(b, i, &b->state[i]);
        sum->limit += before + b->slots[i].mass * vec3_dot(b->def.gravity, displacement) +
                      b->joints->step_work[i] +
                      (ENERGY_TOLERANCE * before + b->slots[i].mass * fall_allowance);
    }
}

static void limit_island(vy_bodies *b, uint32_t root)
{
    contact_system *s = b->contacts;
    const double limit = s->island_sum[root].limit;
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (b->awake[i] && root_of(b, i) == root) s->fast_bodies[count++] = i;
    }
    if (s->marked[root]) {
        vy_limit_kinetic_energy(b, s->fast_bodies, count, limit);
    } else {
        const rigid_motion m = vy_rigid_motion(b, s->fast_bodies, count, NULL);
        vy_limit_relative_motion(b, s->fast_bodies, count, m.angular_momentum, limit);
    }
    ++s->impact_totals.limited;
}

void vy_contacts_mark_held(const vy_bodies *b, uint32_t *parent, unsigned char *held)
{
    const contact_system *s = b->contacts;
    memset(held, 0, b->slot_count);
    for (uint32_t k = 0; k < s->count; ++k) {
        const contact_header *c = &s->headers[k];
        if (c->impulse_points == 0 && (c->flags & IS_DEEP) == 0) continue;
        if (!b->awake[c->a]) held[island_root(parent, c->b)] = 1;
        if (!b->awake[c->b]) held[island_root(parent, c->a)] = 1;
    }
    for (uint32_t k = 0; k < b->joints->slot_count; ++k) {
        const joint_slot *j = &b->joints->slots[k];
        if (!j->used || joint_is_broken(&b->joint_state[k])) continue;
        if (is_awake(b, j->body[0]) == is_awake(b, j->body[1])) continue;
        held[island_root(parent, is_awake(b, j->body[0]) ? j->body[0] : j->body[1])] = 1;
    }
}

void vy_energy_guard(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    if (s->guards_off || b->joints->island_count == 0 || b->external_integration || b->potential_count != 0)
        return;
    if (!mark_pushed_islands(b)) return;
    add_body_energies(b, h);
    add_joint_energies(b);
    for (uint32_t i = 0; i < b->slot_count; ++i) { // only islands with joints
        if (b->awake[i] && b->joints->first_joint[i] != 0 && s->marked[root_of(b, i)] == 1)
            s->marked[root_of(b, i)] = 2;
    }
    memset(s->island_retry, 0, b->slot_count);
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        const energy_sum *sum = &s->island_sum[i];
        if (s->marked[i] == 2 && sum->kinetic > sum->limit) s->island_retry[i] = 1;
    }
    vy_contacts_mark_held(b, s->parent, s->marked);
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (s->island_retry[i]) limit_island(b, i);
    }
}
