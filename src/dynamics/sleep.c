// sleep.c - bodies that fall asleep, and what wakes them up.
#include "dynamics/sleep.h"
#include "dynamics/triggers.h"
#include "base/assert.h"
#include "geometry/broadphase.h"
#include <stdlib.h>

vy_status vy_sleep_create(vy_bodies *b)
{
    VY_ASSERT(b->contacts != NULL);
    if (b->def.contacts.time_to_sleep == 0.0) return VY_OK;
    b->sleep = calloc(1, sizeof *b->sleep); // arrays come with those of contacts
    if (b->sleep == NULL) return VY_NO_MEMORY;
    b->sleep->count = &b->own_contact_counts[1];
    return VY_OK;
}

static int is_asleep(const vy_bodies *b, uint32_t i) { return body_is_dynamic(b, i) && !b->awake[i]; }

// The pose and bounds of a body that sleeps, for the broad phase.
static void fall_asleep(vy_bodies *b, uint32_t i)
{
    VY_ASSERT(body_is_dynamic(b, i) && b->sleep->bodies[i].island != 0);
    b->awake[i] = 0;
    b->contacts->start_state[i] = b->state[i];
    if (b->contacts->proxy_of[i] >= 0) vy_contacts_sweep_bounds(b, i, b->def.dt);
}

void vy_sleep_sync(vy_bodies *b)
{
    sleep_system *s = b->sleep;
    if (s == NULL) return;
    s->sleeping_count = 0;
    s->reports_valid = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (!body_is_dynamic(b, i)) continue;
        b->awake[i] = s->bodies[i].island == 0;
        if (b->awake[i]) continue;
        s->sleeping_count += 1;
        fall_asleep(b, i);
    }
    b->contacts->report_count = 0;
    b->contacts->pairs_stale = 1;
}

// ---- waking up

/// A cache of pairs, sorted.
typedef struct pair_list {
    contact_count *count;
    contact_cache *pairs;
} pair_list;

// Move the pairs that are awake (or that are asleep) from `from` to `to`.
static void move_pairs(vy_bodies *b, pair_list from, pair_list to, int is_awake)
{
    const contact_cache *old_pairs = b->sleep->old_pairs;
    const uint64_t count = from.count->count, old_count = to.count->count;
    VY_ASSERT(count + old_count <= b->contacts->capacity.contacts && from.pairs != to.pairs);
    uint64_t kept_count = 0, old_index = 0, merged_count = 0;
    memcpy(b->sleep->old_pairs, to.pairs, old_count * sizeof *old_pairs);
    for (uint64_t k = 0; k < count; ++k) {
        const contact_cache pair = from.pairs[k];
        if ((b->awake[pair.a] || b->awake[pair.b]) != is_awake) {
            from.pairs[kept_count++] = pair;
            continue;
        }
        const uint64_t key = contact_key(pair.a, pair.b);
        VY_ASSERT(merged_count == 0 ||
                  contact_key(to.pairs[merged_count - 1].a, to.pairs[merged_count - 1].b) <= key);
        while (old_index < old_count && contact_key(old_pairs[old_index].a, old_pairs[old_index].b) < key)
            to.pairs[merged_count++] = old_pairs[old_index++];
        to.pairs[merged_count++] = pair;
    }
    while (old_index < old_count) to.pairs[merged_count++] = old_pairs[old_index++];
    from.count->count = kept_count;
    to.count->count = merged_count;
    b->sleep->reports_valid = 0;
    b->contacts->pairs_stale = 1;
}

static pair_list awake_pairs(const vy_bodies *b) { return (pair_list){b->contact_count, b->contact_cache}; }
static pair_list sleeping_pairs(const vy_bodies *b)
{
    return (pair_list){b->sleep->count, b->sleep->contact_cache};
}

// Wake up the island of a body; its pairs are still in the sleeping cache.
static void wake_island(vy_bodies *b, uint32_t i)
{
    sleep_system *s = b->sleep;
    const uint64_t island_id = s->bodies[i].island;
    VY_ASSERT(island_id != 0 && is_asleep(b, i));
    for (uint32_t k = 0; k < b->slot_count; ++k) {
        if (!is_asleep(b, k) || s->bodies[k].island != island_id) continue;
        s->bodies[k] = (body_sleep){.ticks = 0};
        b->awake[k] = s->woken[k] = 1;
        VY_ASSERT(s->sleeping_count > 0);
        s->sleeping_count -= 1;
    }
}

static void wake_pairs(vy_bodies *b) { move_pairs(b, sleeping_pairs(b), awake_pairs(b), 1); }

// Wake up the bodies that touch a body that is not dynamic, or are jointed to it.
static void wake_neighbours(vy_bodies *b, uint32_t i)
{
    const joint_system *joints = b->joints;
    for (uint64_t k = 0; k < b->sleep->count->count; ++k) {
        const contact_cache *pair = &b->sleep->contact_cache[k];
        if (pair->a == i && is_asleep(b, pair->b)) wake_island(b, pair->b);
        if (pair->b == i && is_asleep(b, pair->a)) wake_island(b, pair->a);
    }
    for (uint32_t k = 0; k < joints->slot_count; ++k) {
        const uint32_t *body = joints->slots[k].body;
        if (!joints->slots[k].used || joint_is_broken(&b->joint_state[k]) || (body[0] != i && body[1] != i))
            continue;
        const uint32_t other = body[0] == i ? body[1] : body[0];
        if (other < b->body_cap && is_asleep(b, other)) wake_island(b, other);
    }
}

void vy_sleep_wake(vy_bodies *b, uint32_t i)
{
    if (b->sleep == NULL || i >= b->body_cap) return;
    if (!body_is_dynamic(b, i)) {
        wake_neighbours(b, i);
    } else if (is_asleep(b, i)) {
        wake_island(b, i);
    } else {
        b->sleep->bodies[i].ticks = 0;
        return;
    }
    wake_pairs(b);
}

void vy_sleep_wake_joint(vy_bodies *b, uint32_t joint)
{
    for (int side = 0; side < 2; ++side) {
        const uint32_t i = b->joints->slots[joint].body[side];
        if (i < b->body_cap && body_is_dynamic(b, i)) vy_sleep_wake(b, i);
    }
}

void vy_sleep_wake_range(vy_bodies *b, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; b->sleep != NULL && i < last && i < b->slot_count; ++i) {
        if (body_is_dynamic(b, i)) vy_sleep_wake(b, i);
    }
}

void vy_sleep_wake_overlapping(vy_bodies *b, uint32_t i)
{
    if (b->sleep == NULL || b->sleep->sleeping_count == 0 || body_is_dynamic(b, i)) return;
    const vy_shape *shape = &b->slots[i].shape;
    const vy_pose pose = body_shape_pose(b, i, &b->state[i]);
    const int is_bounded = vy_shape_is_convex(shape);
    const vy_bounds box = is_bounded ? vy_shape_bounds(shape, &pose) : (vy_bounds){0};
    int any_woken = 0;
    if (shape->kind == VY_SHAPE_NONE) return;
    for (uint32_t j = 0; j < b->slot_count; ++j) {
        if (!is_asleep(b, j) || b->slots[j].shape.kind == VY_SHAPE_NONE || !filters_collide(b, i, j))
            continue;
        const vy_pose other_pose = body_shape_pose(b, j, &b->state[j]);
        if (is_bounded && !bounds_overlap(&box, &b->contacts->bounds[j])) continue;
        if (!vy_overlap(shape, &pose, &b->slots[j].shape, &other_pose)) continue;
        wake_island(b, j);
        any_woken = 1;
    }
    if (any_woken) wake_pairs(b);
}

// ---- bodies that are not dynamic and run into sleeping ones

static int is_still(const body_state *s)
{
    return vec3_dot(s->velocity, s->velocity) == 0.0 && vec3_dot(s->rate, s->rate) == 0.0;
}

// Not dynamic, and moving or set to another state.
static int is_moved_kinematic(const vy_bodies *b, uint32_t i)
{
    if (body_is_dynamic(b, i) || b->slots[i].shape.kind == VY_SHAPE_NONE) return 0;
    return b->disturbed[i] || (b->slots[i].kind == VY_BODY_KINEMATIC && !is_still(&b->state[i]));
}

static int wake_in_path(vy_bodies *b, uint32_t i, double h)
{
    VY_ASSERT(!body_is_dynamic(b, i));
    const contact_system *c = b->contacts;
    int any_woken = 0;
    if (c->proxy_of[i] >= 0) vy_contacts_sweep_bounds(b, i, h);
    for (uint32_t j = 0; j < b->slot_count; ++j) {
        if (!is_asleep(b, j) || c->proxy_of[j] < 0 || !filters_collide(b, i, j)) continue;
        if (c->proxy_of[i] >= 0 && !bounds_overlap(&c->bounds[i], &c->bounds[j])) continue;
        if (!vy_paths_collide(b, i, j, h)) continue;
        wake_island(b, j);
        any_woken = 1;
    }
    return any_woken;
}

// ---- changed forces on sleeping bodies

// Whether the force on a sleeping body has changed by so much that it could reach sleep_speed within the time
// to sleep.
static int has_wrench_changed(vy_bodies *b, uint32_t i, body_wrench wrench)
{
    VY_ASSERT(is_asleep(b, i));
    body_sleep *sleep = &b->sleep->bodies[i];
    if (sleep->ticks == 0) {
        *sleep = (body_sleep){1, sleep->island, wrench.acceleration, wrench.torque};
        return 0;
    }
    const vec3 angular_change =
        mat3_mul_vec(b->params[i].inverse_inertia, vec3_sub(wrench.torque, sleep->torque));
    const double acceleration_change = vec3_length(vec3_sub(wrench.acceleration, sleep->acceleration)) +
                                       vy_gyration_radius(b, i) * vec3_length(angular_change);
    return !(acceleration_change * b->def.contacts.time_to_sleep <= b->def.contacts.sleep_speed);
}

static int has_custom_potentials(const vy_bodies *b)
{
    for (uint32_t k = 0; k < b->potential_count; ++k) {
        if (b->potentials[k].potential.kind == VY_POTENTIAL_CUSTOM) return 1;
    }
    return 0;
}

void vy_sleep_begin(vy_bodies *b, double h)
{
    sleep_system *s = b->sleep;
    if (s == NULL || s->sleeping_count == 0) return;
    if (b->external_integration) memcpy(s->free_state, b->state, b->slot_count * sizeof *b->state);
    const int has_custom = !b->external_integration && has_custom_potentials(b);
    int any_woken = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (is_moved_kinematic(b, i)) any_woken |= wake_in_path(b, i, h);
        if (!has_custom || !is_asleep(b, i) || !has_wrench_changed(b, i, wrench_at(b, i, &b->state[i])))
            continue;
        wake_island(b, i);
        any_woken = 1;
    }
    if (any_woken) wake_pairs(b);
}

// The world's plant has integrated all bodies: put sleeping ones back, unless the force on them has changed.
static void restore_sleeping_states(vy_bodies *b, double h)
{
    sleep_system *s = b->sleep;
    int any_woken = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (!is_asleep(b, i) || !has_wrench_changed(b, i, mean_wrench(b, i, h))) continue;
        wake_island(b, i);
        any_woken = 1;
    }
    if (any_woken) wake_pairs(b);
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        const body_state start = s->free_state[i]; // joints may have moved its start_state
        s->free_state[i] = b->state[i];
        if (is_asleep(b, i)) b->state[i] = b->contacts->start_state[i] = start;
    }
}

void vy_sleep_after_flight(vy_bodies *b, double h)
{
    sleep_system *s = b->sleep;
    if (s == NULL || s->sleeping_count == 0) return;
    if (b->external_integration) {
        restore_sleeping_states(b, h);
        return;
    }
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (b->awake[i]) s->free_state[i] = b->state[i];
    }
}

// ---- contacts with sleeping bodies

// The free flight of bodies that woke up, as if they had never slept.
static uint32_t step_woken_bodies(vy_bodies *b, double h)
{
    VY_ASSERT(h > 0.0);
    sleep_system *s = b->sleep;
    uint32_t events = 0;
    if (!b->external_integration) {
        unsigned char *const all_awake = b->awake;
        b->awake = s->woken;
        events = vy_bodies_step_free(b, h);
        b->awake = all_awake;
    }
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (!s->woken[i]) continue;
        if (b->external_integration) {
            b->state[i] = s->free_state[i];
        } else {
            s->free_state[i] = b->state[i];
        }
    }
    return events;
}

// Whether a body that was still has moved.
static int has_moved(const body_state *now, const body_state *start)
{
    const vec3 displacement = vec3_sub(now->position, start->position);
    return vec3_dot(displacement, displacement) > 0.0 || !is_still(now);
}

int vy_sleep_wake_touched(vy_bodies *b, double h, uint32_t *events)
{
    sleep_system *s = b->sleep;
    const contact_system *c = b->contacts;
    if (s == NULL || s->sleeping_count == 0 || b->head->failed) return 0;
    int any_woken = 0;
    memset(s->woken, 0, b->slot_count);
    for (uint32_t k = 0; k < c->count; ++k) {
        const contact_header *header = &c->headers[k];
        if (b->awake[header->a] && b->awake[header->b]) continue;
        const uint32_t i = b->awake[header->a] ? header->b : header->a;
        VY_ASSERT(b->awake[header->a] || b->awake[header->b]);
        // VY_CONTACT_SOLVER_IMPULSE also moves bodies that overlap without an impulse.
        if (!is_asleep(b, i) || (!header->impulse_points && !has_moved(&b->state[i], &c->start_state[i])))
            continue;
        wake_island(b, i);
        any_woken = 1;
    }
    if (!any_woken) return 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (b->awake[i]) b->state[i] = s->woken[i] ? c->start_state[i] : s->free_state[i];
    }
    *events |= step_woken_bodies(b, h);
    wake_pairs(b);
    return 1;
}

// ---- reports of sleeping pairs: they follow from the state, so a restored set reports the same

// Of all contacts of a pair, `m` being the first of the cache.
static vy_contact_report report_of(const vy_bodies *b, const contact_cache *first, const contact_cache *end,
                                   double substeps)
{
    VY_ASSERT(first->a < first->b && first->manifold_index == 0);
    const body_state *sa = &b->state[first->a];
    vy_contact_report report = {.a = vy_bodies_at(b, first->a).bits,
                                .b = vy_bodies_at(b, first->b).bits,
                                .phase = VY_CONTACT_PERSIST,
                                .normal = first->normal};
    double impulse_sum = 0.0;
    vec3 normal_sum = vec3_zero();
    for (const contact_cache *cached = first; cached < end && (cached == first || cached->manifold_index > 0);
         ++cached) {
        double contact_impulse = 0.0;
        for (uint32_t k = 0; k < cached->point_count; ++k) {
            const vec3 point = vec3_add(sa->position, quat_rotate(sa->attitude, cached->local_anchor_a[k]));
            report.point = vec3_add_scaled(report.point, cached->normal_impulse[k], point);
            contact_impulse += cached->normal_impulse[k];
        }
        impulse_sum += contact_impulse;
        normal_sum = vec3_add_scaled(normal_sum, contact_impulse, cached->normal);
        report.impulse =
            vec3_add_scaled(report.impulse, substeps,
                            vec3_add_scaled(cached->friction_impulse, contact_impulse, cached->normal));
        report.points += (int)cached->point_count;
        if (cached > first)
            report.normal = vec3_scale(1.0 / real_max(vec3_length(normal_sum), 1e-300), normal_sum);
    }
    if (impulse_sum > 0.0) report.point = vec3_scale(1.0 / impulse_sum, report.point);
    return report;
}

void vy_sleep_report(vy_bodies *b, double h)
{
    sleep_system *s = b->sleep;
    contact_system *c = b->contacts;
    if (s == NULL) return;
    const double substeps = b->def.contacts.solver == VY_CONTACT_SOLVER_SOFT
                                ? contacts_substeps(h, b->def.contacts.substep)
                                : 1.0;
    const contact_cache *const end = s->contact_cache + s->count->count;
    if (!s->reports_valid) s->report_count = 0;
    for (const contact_cache *cached = s->contact_cache; cached < end && !s->reports_valid; ++cached) {
        if (cached->manifold_index == 0) s->reports[s->report_count++] = report_of(b, cached, end, substeps);
    }
    const uint32_t count = s->report_count;
    VY_ASSERT(c->report_count + count <= 3 * c->capacity.contacts);
    s->reports_valid = 1;
    uint32_t awake_remaining = c->report_count, sleeping_remaining = count; // merged from the back, in place
    c->report_count += count;
    while (sleeping_remaining > 0) {
        const vy_contact_report *awake_report = awake_remaining > 0 ? &c->reports[awake_remaining - 1] : NULL,
                                *sleeping_report = &s->reports[sleeping_remaining - 1];
        const int is_sleeping_last =
            awake_report == NULL ||
            contact_key((uint32_t)awake_report->a, (uint32_t)awake_report->b) <
                contact_key((uint32_t)sleeping_report->a, (uint32_t)sleeping_report->b);
        c->reports[awake_remaining + sleeping_remaining - 1] =
            is_sleeping_last ? *sleeping_report : *awake_report;
        sleeping_remaining -= (uint32_t)is_sleeping_last;
        awake_remaining -= (uint32_t)!is_sleeping_last;
    }
}

// ---- falling asleep

static int is_slow(const vy_bodies *b, uint32_t i)
{
    const body_state *s = &b->state[i];
    const double speed = vec3_length(s->velocity) + vy_gyration_radius(b, i) * vec3_length(s->rate);
    return speed < b->def.contacts.sleep_speed && !b->slots[i].no_sleep;
}

// Count the steps below sleep_speed. Returns whether some body has been slow for long enough.
static int count_slow_steps(vy_bodies *b, uint64_t sleep_ticks)
{
    sleep_system *s = b->sleep;
    int any_slow = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (!body_is_dynamic(b, i)) b->disturbed[i] = 0; // joints and vy_sleep_begin() have used it
        if (!b->awake[i]) continue;
        s->bodies[i].ticks = is_slow(b, i) ? s->bodies[i].ticks + 1u : 0u;
        any_slow |= s->bodies[i].ticks >= sleep_ticks;
    }
    return any_slow;
}

// Bodies that touch or are jointed sleep together; one that touches a moving kinematic body stays awake.
static void link_bodies(vy_bodies *b, uint32_t i, uint32_t j)
{
    VY_ASSERT(i != j && i < b->slot_count && j < b->slot_count);
    sleep_system *s = b->sleep;
    if (b->awake[i] && b->awake[j]) {
        islands_join(s->parent, i, j);
        return;
    }
    if (!b->awake[i] && !b->awake[j]) return;
    const uint32_t awake_body = b->awake[i] ? i : j, other = b->awake[i] ? j : i;
    if (b->slots[other].kind == VY_BODY_KINEMATIC && !is_still(&b->state[other]))
        s->bodies[awake_body].ticks = 0;
}

static void link_joints(vy_bodies *b)
{
    const joint_system *joints = b->joints;
    const double time = vy_bodies_time(b);
    for (uint32_t k = 0; k < joints->slot_count; ++k) {
        const joint_slot *joint = &joints->slots[k];
        if (!joint->used || joint_is_broken(&b->joint_state[k])) continue;
        if (joint->body[0] < b->body_cap && joint->body[1] < b->body_cap)
            link_bodies(b, joint->body[0], joint->body[1]);
        const int changes_by_time = joint->def.kind == VY_JOINT_CUSTOM || joint_is_closing(joint, time);
        for (int side = 0; side < 2 && changes_by_time; ++side) {
            if (joint->body[side] < b->body_cap && body_is_dynamic(b, joint->body[side]))
                b->sleep->bodies[joint->body[side]].ticks = 0;
        }
    }
}

// What lies too deep is moved apart in the next step (contact_project.c), which nothing does with bodies that
// sleep: their islands stay awake.
static void keep_deep_islands_awake(vy_bodies *b)
{
    const contact_system *c = b->contacts;
    if (b->def.contacts.solver == VY_CONTACT_SOLVER_IMPULSE)
        return; // moves nothing apart but by its impulses
    for (uint32_t k = 0; k < c->count; ++k) {
        const contact_header *header = &c->headers[k];
        const uint32_t root = island_root(b->sleep->parent, b->awake[header->a] ? header->a : header->b);
        if (b->sleep->may_sleep[root] && vy_contact_is_too_deep(b, header)) b->sleep->may_sleep[root] = 0;
    }
}

void vy_sleep_update(vy_bodies *b)
{
    sleep_system *s = b->sleep;
    if (s == NULL) return;
    const double steps = real_min(b->def.contacts.time_to_sleep / b->def.dt, 1e15) * (1.0 - 1e-12);
    const uint64_t sleep_ticks = (uint64_t)steps + 1u;
    if (!count_slow_steps(b, sleep_ticks) || b->head->failed) return;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        s->parent[i] = i;
        s->may_sleep[i] = 1;
    }
    for (uint64_t k = 0; k < b->contact_count->count; ++k)
        link_bodies(b, b->contact_cache[k].a, b->contact_cache[k].b);
    link_joints(b);
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (b->awake[i] && s->bodies[i].ticks < sleep_ticks) s->may_sleep[island_root(s->parent, i)] = 0;
    }
    keep_deep_islands_awake(b);
    int any_fell_asleep = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        const uint32_t root = island_root(s->parent, i);
        if (!body_is_dynamic(b, i) || s->bodies[i].island != 0 || !s->may_sleep[root]) continue;
        VY_ASSERT(b->awake[i] && root <= i);
        s->bodies[i] = (body_sleep){.island = root + 1u};
        b->state[i].velocity = b->state[i].rate = vec3_zero();
        b->previous[i] = (body_previous){vec3_zero(), vec3_zero()};
        VY_ASSERT(s->sleeping_count < b->count);
        s->sleeping_count += 1;
        fall_asleep(b, i);
        any_fell_asleep = 1;
    }
    if (any_fell_asleep) move_pairs(b, awake_pairs(b), sleeping_pairs(b), 0);
}

int vy_sleep_all_asleep(const vy_bodies *b)
{
    const sleep_system *s = b->sleep;
    // The reports must already be those of the sleeping pairs.
    if (s == NULL || s->sleeping_count == 0 || !s->reports_valid ||
        b->contacts->report_count != s->report_count || !vy_triggers_are_settled(b))
        return 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        const int is_moving = b->slots[i].kind == VY_BODY_KINEMATIC && !is_still(&b->state[i]);
        if (b->awake[i] || is_moving || is_moved_kinematic(b, i) || b->has_loads[i]) return 0;
    }
    return !has_custom_potentials(b);
}

// ---- for the caller

int vy_body_is_asleep(const vy_bodies *b, vy_body_id id)
{
    const int64_t i = vy_bodies_find(b, id);
    return i >= 0 && is_asleep(b, (uint32_t)i);
}

vy_status vy_body_wake(vy_bodies *b, vy_body_id id)
{
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    vy_sleep_wake(b, (uint32_t)i);
    return VY_OK;
}

uint32_t vy_bodies_asleep(const vy_bodies *b) { return b->sleep == NULL ? 0 : b->sleep->sleeping_count; }
