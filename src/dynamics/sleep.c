// sleep.c - bodies that fall asleep, and what wakes them up.
#include "dynamics/sleep.h"
#include "base/assert.h"
#include "geometry/broadphase.h"
#include <stdlib.h>

#define REPORT_MARGIN 0.04 // [m] sleeping pairs touch; the solver leaves separations far smaller than this

size_t vy_sleep_state_size(const vy_bodies_def *def)
{
    if (def->contacts.cap == 0 || def->contacts.sleep == 0.0) return 0;
    return def->body_cap * sizeof(body_sleep) + sizeof(contact_count) +
           def->contacts.cap * sizeof(contact_cache);
}

vy_status vy_sleep_create(vy_bodies *b)
{
    const size_t n = b->def.body_cap, cap = b->def.contacts.cap;
    if (vy_sleep_state_size(&b->def) == 0) return VY_OK;
    sleep_system *s = calloc(1, sizeof *s);
    b->sleep = s;
    if (s == NULL) return VY_NO_MEMORY;
    s->spare = calloc(cap, sizeof *s->spare);
    s->parent = calloc(n, sizeof *s->parent);
    s->may_sleep = calloc(n, sizeof *s->may_sleep);
    s->woken = calloc(n, sizeof *s->woken);
    s->free_state = calloc(n, sizeof *s->free_state);
    s->reports = calloc(cap, sizeof *s->reports);
    return s->spare && s->parent && s->may_sleep && s->woken && s->free_state && s->reports ? VY_OK
                                                                                            : VY_NO_MEMORY;
}

void vy_sleep_destroy(vy_bodies *b)
{
    sleep_system *s = b->sleep;
    if (s == NULL) return;
    free(s->spare);
    free(s->parent);
    free(s->may_sleep);
    free(s->woken);
    free(s->free_state);
    free(s->reports);
    free(s);
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
    s->asleep = 0;
    s->reports_valid = 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (!body_is_dynamic(b, i)) continue;
        b->awake[i] = s->bodies[i].island == 0;
        if (b->awake[i]) continue;
        s->asleep += 1;
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
static void move_pairs(vy_bodies *b, pair_list from, pair_list to, int awake)
{
    const contact_cache *old = b->sleep->spare;
    const uint64_t count = from.count->count, had = to.count->count, cap = b->def.contacts.cap;
    VY_ASSERT(count <= cap && had <= cap && from.pairs != to.pairs);
    uint64_t kept = 0, next = 0, n = 0;
    memcpy(b->sleep->spare, to.pairs, had * sizeof *old);
    for (uint64_t k = 0; k < count; ++k) {
        const contact_cache m = from.pairs[k];
        if ((b->awake[m.a] || b->awake[m.b]) != awake) {
            from.pairs[kept++] = m;
            continue;
        }
        const uint64_t key = contact_key(m.a, m.b);
        VY_ASSERT(n == 0 || contact_key(to.pairs[n - 1].a, to.pairs[n - 1].b) < key);
        while (next < had && n < cap && contact_key(old[next].a, old[next].b) < key)
            to.pairs[n++] = old[next++];
        if (n < cap) to.pairs[n++] = m; // else the step reports that contacts are full
    }
    while (next < had && n < cap) to.pairs[n++] = old[next++];
    for (uint64_t k = kept; k < count; ++k) from.pairs[k] = (contact_cache){0};
    from.count->count = kept;
    to.count->count = n;
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
    const uint64_t sleeping = s->bodies[i].island;
    VY_ASSERT(sleeping != 0 && is_asleep(b, i));
    for (uint32_t k = 0; k < b->limit; ++k) {
        if (!is_asleep(b, k) || s->bodies[k].island != sleeping) continue;
        s->bodies[k] = (body_sleep){.ticks = 0};
        b->awake[k] = s->woken[k] = 1;
        VY_ASSERT(s->asleep > 0);
        s->asleep -= 1;
    }
}

static void wake_pairs(vy_bodies *b) { move_pairs(b, sleeping_pairs(b), awake_pairs(b), 1); }

// Wake up the bodies that touch a body that is not dynamic, or are joined to it.
static void wake_neighbours(vy_bodies *b, uint32_t i)
{
    const joint_system *j = b->joints;
    for (uint64_t k = 0; k < b->sleep->count->count; ++k) {
        const contact_cache *m = &b->sleep->contact_cache[k];
        if (m->a == i && is_asleep(b, m->b)) wake_island(b, m->b);
        if (m->b == i && is_asleep(b, m->a)) wake_island(b, m->a);
    }
    for (uint32_t k = 0; k < j->limit; ++k) {
        const uint32_t *body = j->slots[k].body;
        if (!j->slots[k].used || (body[0] != i && body[1] != i)) continue;
        const uint32_t other = body[0] == i ? body[1] : body[0];
        if (other < b->def.body_cap && is_asleep(b, other)) wake_island(b, other);
    }
}

void vy_sleep_wake(vy_bodies *b, uint32_t i)
{
    if (b->sleep == NULL || i >= b->def.body_cap) return;
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
        if (i < b->def.body_cap && body_is_dynamic(b, i)) vy_sleep_wake(b, i);
    }
}

void vy_sleep_wake_range(vy_bodies *b, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; b->sleep != NULL && i < last && i < b->limit; ++i) {
        if (body_is_dynamic(b, i)) vy_sleep_wake(b, i);
    }
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
    int woke = 0;
    if (c->proxy_of[i] >= 0) vy_contacts_sweep_bounds(b, i, h);
    for (uint32_t j = 0; j < b->limit; ++j) {
        if (!is_asleep(b, j) || c->proxy_of[j] < 0) continue;
        if (c->proxy_of[i] >= 0 && !bounds_overlap(&c->bounds[i], &c->bounds[j])) continue;
        if (!vy_paths_collide(b, i, j, h)) continue;
        wake_island(b, j);
        woke = 1;
    }
    return woke;
}

// ---- changed forces on sleeping bodies

// [m] A measure of the distance of the surface from the centre of mass: the radius of gyration about a point.
static double size_of(const vy_bodies *b, uint32_t i)
{
    VY_ASSERT(b->params[i].inverse_mass > 0.0);
    const mat3 *m = &b->params[i].inertia;
    return real_sqrt((m->m[0][0] + m->m[1][1] + m->m[2][2]) * b->params[i].inverse_mass);
}

// Whether the force on a sleeping body has changed by so much that it could reach sleep_speed within the time
// to sleep.
static int wrench_changed(vy_bodies *b, uint32_t i, body_wrench now)
{
    VY_ASSERT(is_asleep(b, i));
    body_sleep *r = &b->sleep->bodies[i];
    if (r->ticks == 0) {
        *r = (body_sleep){1, r->island, now.acceleration, now.torque};
        return 0;
    }
    const vec3 turn = mat3_mul_vec(b->params[i].inverse_inertia, vec3_sub(now.torque, r->torque));
    const double change =
        vec3_length(vec3_sub(now.acceleration, r->acceleration)) + size_of(b, i) * vec3_length(turn);
    return !(change * b->def.contacts.sleep <= b->def.contacts.sleep_speed);
}

static int has_custom_fields(const vy_bodies *b)
{
    for (uint32_t k = 0; k < b->potential_count; ++k) {
        if (b->potentials[k].potential.kind == VY_POTENTIAL_CUSTOM) return 1;
    }
    return 0;
}

void vy_sleep_begin(vy_bodies *b, double h)
{
    sleep_system *s = b->sleep;
    if (s == NULL || s->asleep == 0) return;
    if (b->external_flight) memcpy(s->free_state, b->state, b->limit * sizeof *b->state);
    const int custom = !b->external_flight && has_custom_fields(b);
    int woke = 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (is_moved_kinematic(b, i)) woke |= wake_in_path(b, i, h);
        if (!custom || !is_asleep(b, i) || !wrench_changed(b, i, wrench_at(b, i, &b->state[i]))) continue;
        wake_island(b, i);
        woke = 1;
    }
    if (woke) wake_pairs(b);
}

// The world's plant has flown all bodies: put sleeping ones back, unless the force on them has changed.
static void check_free_flights(vy_bodies *b, double h)
{
    sleep_system *s = b->sleep;
    int woke = 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (!is_asleep(b, i) || !wrench_changed(b, i, mean_wrench(b, i, h))) continue;
        wake_island(b, i);
        woke = 1;
    }
    if (woke) wake_pairs(b);
    for (uint32_t i = 0; i < b->limit; ++i) {
        const body_state start = s->free_state[i]; // joints may have moved its start_state
        s->free_state[i] = b->state[i];
        if (is_asleep(b, i)) b->state[i] = b->contacts->start_state[i] = start;
    }
}

void vy_sleep_after_flight(vy_bodies *b, double h)
{
    sleep_system *s = b->sleep;
    if (s == NULL || s->asleep == 0) return;
    if (b->external_flight) {
        check_free_flights(b, h);
        return;
    }
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (b->awake[i]) s->free_state[i] = b->state[i];
    }
}

// ---- contacts with sleeping bodies

// The free flight of bodies that woke up, as if they had never slept.
static uint32_t step_woken(vy_bodies *b, double h)
{
    VY_ASSERT(h > 0.0);
    sleep_system *s = b->sleep;
    uint32_t events = 0;
    if (!b->external_flight) {
        unsigned char *const all = b->awake;
        b->awake = s->woken;
        events = vy_bodies_fly(b, h);
        b->awake = all;
    }
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (!s->woken[i]) continue;
        if (b->external_flight) {
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
    if (s == NULL || s->asleep == 0 || b->head->failed) return 0;
    int woke = 0;
    memset(s->woken, 0, b->limit);
    for (uint32_t k = 0; k < c->count; ++k) {
        const contact_header *l = &c->headers[k];
        if (b->awake[l->a] && b->awake[l->b]) continue;
        const uint32_t i = b->awake[l->a] ? l->b : l->a;
        VY_ASSERT(b->awake[l->a] || b->awake[l->b]);
        // VY_SOLVER_IMPULSE also moves bodies that overlap without an impulse.
        if (!is_asleep(b, i) || (!l->impulse_points && !has_moved(&b->state[i], &c->start_state[i])))
            continue;
        wake_island(b, i);
        woke = 1;
    }
    if (!woke) return 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (b->awake[i]) b->state[i] = s->woken[i] ? c->start_state[i] : s->free_state[i];
    }
    *events |= step_woken(b, h);
    wake_pairs(b);
    return 1;
}

// ---- reports of sleeping pairs: they follow from the state, so a restored set reports the same

static vy_contact_report report_of(const vy_bodies *b, const contact_cache *m, double steps)
{
    VY_ASSERT(m->a < m->b && m->point_count <= VY_MANIFOLD_POINTS);
    const body_state *sa = &b->state[m->a];
    const vy_pose pa = body_shape_pose(b, m->a, sa), pb = body_shape_pose(b, m->b, &b->state[m->b]);
    vy_contact_report r = {.a = vy_bodies_at(b, m->a).bits,
                           .b = vy_bodies_at(b, m->b).bits,
                           .phase = VY_CONTACT_PERSIST,
                           .points = (int)m->point_count};
    vy_manifold found;
    if (vy_collide_near(&b->slots[m->a].shape, &pa, &b->slots[m->b].shape, &pb, REPORT_MARGIN, &found) ==
            VY_OK &&
        found.count > 0)
        r.normal = found.normal;
    double sum = 0.0;
    for (uint32_t k = 0; k < m->point_count; ++k) {
        const vec3 at = vec3_add(sa->position, quat_rotate(sa->attitude, m->local_anchor_a[k]));
        r.point = vec3_add_scaled(r.point, m->normal_impulse[k], at);
        sum += m->normal_impulse[k];
    }
    if (sum > 0.0) r.point = vec3_scale(1.0 / sum, r.point);
    r.impulse = vec3_scale(steps, vec3_add_scaled(m->friction_impulse, sum, r.normal));
    return r;
}

void vy_sleep_report(vy_bodies *b, double h)
{
    sleep_system *s = b->sleep;
    contact_system *c = b->contacts;
    if (s == NULL) return;
    const uint32_t count = (uint32_t)s->count->count;
    VY_ASSERT(count <= b->def.contacts.cap && c->report_count + count <= 3 * b->def.contacts.cap);
    const double steps =
        b->def.contacts.solver == VY_SOLVER_SOFT ? contacts_substeps(h, b->def.contacts.substep) : 1.0;
    for (uint32_t k = 0; k < count && !s->reports_valid; ++k)
        s->reports[k] = report_of(b, &s->contact_cache[k], steps);
    s->reports_valid = 1;
    uint32_t x = c->report_count, y = count; // merged from the back, in place
    c->report_count += count;
    while (y > 0) {
        const vy_contact_report *p = x > 0 ? &c->reports[x - 1] : NULL, *q = &s->reports[y - 1];
        const int first = p == NULL || contact_key((uint32_t)p->a, (uint32_t)p->b) <
                                           contact_key((uint32_t)q->a, (uint32_t)q->b);
        c->reports[x + y - 1] = first ? *q : *p;
        y -= (uint32_t)first;
        x -= (uint32_t)!first;
    }
}

// ---- falling asleep

static int is_slow(const vy_bodies *b, uint32_t i)
{
    const body_state *s = &b->state[i];
    const double speed = vec3_length(s->velocity) + size_of(b, i) * vec3_length(s->rate);
    return speed < b->def.contacts.sleep_speed && !b->slots[i].wakeful;
}

// Count the steps below sleep_speed. Returns whether some body has been slow for long enough.
static int count_slow_steps(vy_bodies *b, uint64_t sleep_ticks)
{
    sleep_system *s = b->sleep;
    int any = 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (!body_is_dynamic(b, i)) b->disturbed[i] = 0; // joints and vy_sleep_begin() have used it
        if (!b->awake[i]) continue;
        s->bodies[i].ticks = is_slow(b, i) ? s->bodies[i].ticks + 1u : 0u;
        any |= s->bodies[i].ticks >= sleep_ticks;
    }
    return any;
}

// Bodies that touch or are joined sleep together; one that touches a moving kinematic body stays awake.
static void link_bodies(vy_bodies *b, uint32_t i, uint32_t j)
{
    VY_ASSERT(i != j && i < b->limit && j < b->limit);
    sleep_system *s = b->sleep;
    if (b->awake[i] && b->awake[j]) {
        islands_join(s->parent, i, j);
        return;
    }
    if (!b->awake[i] && !b->awake[j]) return;
    const uint32_t mover = b->awake[i] ? i : j, other = b->awake[i] ? j : i;
    if (b->slots[other].kind == VY_BODY_KINEMATIC && !is_still(&b->state[other])) s->bodies[mover].ticks = 0;
}

static void link_joints(vy_bodies *b)
{
    const joint_system *j = b->joints;
    for (uint32_t k = 0; k < j->limit; ++k) {
        const joint_slot *t = &j->slots[k];
        if (!t->used) continue;
        if (t->body[0] < b->def.body_cap && t->body[1] < b->def.body_cap)
            link_bodies(b, t->body[0], t->body[1]);
        for (int side = 0; side < 2 && t->def.kind == VY_JOINT_CUSTOM; ++side) { // it may depend on time
            if (t->body[side] < b->def.body_cap && body_is_dynamic(b, t->body[side]))
                b->sleep->bodies[t->body[side]].ticks = 0;
        }
    }
}

void vy_sleep_update(vy_bodies *b)
{
    sleep_system *s = b->sleep;
    if (s == NULL) return;
    const double count = real_min(b->def.contacts.sleep / b->def.dt, 1e15) * (1.0 - 1e-12);
    const uint64_t sleep_ticks = (uint64_t)count + 1u;
    if (!count_slow_steps(b, sleep_ticks) || b->head->failed) return;
    for (uint32_t i = 0; i < b->limit; ++i) {
        s->parent[i] = i;
        s->may_sleep[i] = 1;
    }
    for (uint64_t k = 0; k < b->contact_count->count; ++k)
        link_bodies(b, b->contact_cache[k].a, b->contact_cache[k].b);
    link_joints(b);
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (b->awake[i] && s->bodies[i].ticks < sleep_ticks) s->may_sleep[island_root(s->parent, i)] = 0;
    }
    int any = 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        const uint32_t root = island_root(s->parent, i);
        if (!body_is_dynamic(b, i) || s->bodies[i].island != 0 || !s->may_sleep[root]) continue;
        VY_ASSERT(b->awake[i] && root <= i);
        s->bodies[i] = (body_sleep){.island = root + 1u};
        b->state[i].velocity = b->state[i].rate = vec3_zero();
        b->previous[i] = (body_previous){vec3_zero(), vec3_zero()};
        VY_ASSERT(s->asleep < b->count);
        s->asleep += 1;
        fall_asleep(b, i);
        any = 1;
    }
    if (any) move_pairs(b, awake_pairs(b), sleeping_pairs(b), 0);
}

int vy_sleep_all(const vy_bodies *b)
{
    const sleep_system *s = b->sleep;
    // The reports must already be those of the sleeping pairs.
    if (s == NULL || s->asleep == 0 || !s->reports_valid || b->contacts->report_count != s->count->count)
        return 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        const int moving = b->slots[i].kind == VY_BODY_KINEMATIC && !is_still(&b->state[i]);
        if (b->awake[i] || moving || is_moved_kinematic(b, i) || b->has_loads[i]) return 0;
    }
    return !has_custom_fields(b);
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

uint32_t vy_bodies_asleep(const vy_bodies *b) { return b->sleep == NULL ? 0 : b->sleep->asleep; }
