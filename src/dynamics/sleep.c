// sleep.c - which bodies sleep, and what wakes them.
#include "dynamics/sleep.h"
#include <stdlib.h>

#define REPORT_MARGIN 0.04 // [m] pairs that sleep touch; the solver leaves them gaps far smaller than this

size_t vy_sleep_state_size(const vy_bodies_def *def)
{
    if (def->contacts.cap == 0 || def->contacts.sleep == 0.0) return 0;
    return def->body_cap * sizeof(body_rest) + sizeof(contact_count) +
           def->contacts.cap * sizeof(contact_memory);
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
    s->due = calloc(n, sizeof *s->due);
    s->woken = calloc(n, sizeof *s->woken);
    s->flight = calloc(n, sizeof *s->flight);
    s->reports = calloc(cap, sizeof *s->reports);
    return s->spare && s->parent && s->due && s->woken && s->flight && s->reports ? VY_OK : VY_NO_MEMORY;
}

void vy_sleep_destroy(vy_bodies *b)
{
    sleep_system *s = b->sleep;
    if (s == NULL) return;
    free(s->spare);
    free(s->parent);
    free(s->due);
    free(s->woken);
    free(s->flight);
    free(s->reports);
    free(s);
}

static int sleeps(const vy_bodies *b, uint32_t i) { return body_is_dynamic(b, i) && !b->moves[i]; }

// Where a body lies: for pairs and for those who fly by.
static void lie_down(vy_bodies *b, uint32_t i)
{
    b->moves[i] = 0;
    b->contacts->start[i] = b->state[i];
    if (b->contacts->proxy_of[i] >= 0) vy_contacts_sweep(b, i, b->def.dt);
}

void vy_sleep_sync(vy_bodies *b)
{
    sleep_system *s = b->sleep;
    if (s == NULL) return;
    s->asleep = 0;
    s->told = 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (!body_is_dynamic(b, i)) continue;
        b->moves[i] = s->rest[i].island == 0;
        if (b->moves[i]) continue;
        s->asleep += 1;
        lie_down(b, i);
    }
    b->contacts->report_count = 0;
    b->contacts->stale = 1;
}

// ---- waking

/// Pairs, sorted.
typedef struct pair_list {
    contact_count *count;
    contact_memory *pairs;
} pair_list;

// Pairs of `from` that are awake, or that are not, over to `to`.
static void hand_over(vy_bodies *b, pair_list from, pair_list to, int awake)
{
    const contact_memory *old = b->sleep->spare;
    const uint64_t count = from.count->count, had = to.count->count, cap = b->def.contacts.cap;
    uint64_t kept = 0, next = 0, n = 0;
    memcpy(b->sleep->spare, to.pairs, had * sizeof *old);
    for (uint64_t k = 0; k < count; ++k) {
        const contact_memory m = from.pairs[k];
        if ((b->moves[m.a] || b->moves[m.b]) != awake) {
            from.pairs[kept++] = m;
            continue;
        }
        const uint64_t key = contact_key(m.a, m.b);
        while (next < had && n < cap && contact_key(old[next].a, old[next].b) < key)
            to.pairs[n++] = old[next++];
        if (n < cap) to.pairs[n++] = m; // else the step will say that contacts are full
    }
    while (next < had && n < cap) to.pairs[n++] = old[next++];
    for (uint64_t k = kept; k < count; ++k) from.pairs[k] = (contact_memory){0};
    from.count->count = kept;
    to.count->count = n;
    b->sleep->told = 0;
    b->contacts->stale = 1;
}

static pair_list awake_pairs(const vy_bodies *b) { return (pair_list){b->contact_count, b->memory}; }
static pair_list sleeping_pairs(const vy_bodies *b) { return (pair_list){b->sleep->count, b->sleep->memory}; }

// Wake the island of a body. Its pairs still sleep.
static void rouse(vy_bodies *b, uint32_t i)
{
    sleep_system *s = b->sleep;
    const uint64_t together = s->rest[i].island;
    for (uint32_t k = 0; k < b->limit; ++k) {
        if (!sleeps(b, k) || s->rest[k].island != together) continue;
        s->rest[k] = (body_rest){.ticks = 0};
        b->moves[k] = s->woken[k] = 1;
        s->asleep -= 1;
    }
}

static void wake_pairs(vy_bodies *b) { hand_over(b, sleeping_pairs(b), awake_pairs(b), 1); }

// Those that hang from a body that is not dynamic, or lie on it.
static void rouse_neighbours(vy_bodies *b, uint32_t i)
{
    const joint_system *j = b->joints;
    for (uint64_t k = 0; k < b->sleep->count->count; ++k) {
        const contact_memory *m = &b->sleep->memory[k];
        if (m->a == i && sleeps(b, m->b)) rouse(b, m->b);
        if (m->b == i && sleeps(b, m->a)) rouse(b, m->a);
    }
    for (uint32_t k = 0; k < j->limit; ++k) {
        const uint32_t *body = j->slots[k].body;
        if (!j->slots[k].used || (body[0] != i && body[1] != i)) continue;
        const uint32_t other = body[0] == i ? body[1] : body[0];
        if (other < b->def.body_cap && sleeps(b, other)) rouse(b, other);
    }
}

void vy_sleep_wake(vy_bodies *b, uint32_t i)
{
    if (b->sleep == NULL || i >= b->def.body_cap) return;
    if (!body_is_dynamic(b, i)) {
        rouse_neighbours(b, i);
    } else if (sleeps(b, i)) {
        rouse(b, i);
    } else {
        b->sleep->rest[i].ticks = 0;
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

// ---- what runs into those that sleep

static int stands_still(const body_state *s)
{
    return vec3_dot(s->velocity, s->velocity) == 0.0 && vec3_dot(s->rate, s->rate) == 0.0;
}

// Not dynamic, and on its way or put somewhere else.
static int is_driven(const vy_bodies *b, uint32_t i)
{
    if (body_is_dynamic(b, i) || b->slots[i].shape.kind == VY_SHAPE_NONE) return 0;
    return b->touched[i] || (b->slots[i].kind == VY_BODY_KINEMATIC && !stands_still(&b->state[i]));
}

static int overlap(const vy_bounds *a, const vy_bounds *b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
           a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static int rouse_in_way(vy_bodies *b, uint32_t i, double h)
{
    const contact_system *c = b->contacts;
    int woke = 0;
    if (c->proxy_of[i] >= 0) vy_contacts_sweep(b, i, h);
    for (uint32_t j = 0; j < b->limit; ++j) {
        if (!sleeps(b, j) || c->proxy_of[j] < 0) continue;
        if (c->proxy_of[i] >= 0 && !overlap(&c->bounds[i], &c->bounds[j])) continue;
        if (!vy_flights_meet(b, i, j, h)) continue;
        rouse(b, j);
        woke = 1;
    }
    return woke;
}

// ---- what pushes those that sleep

// [m] About the distance of the surface from the centre of mass: the radius of gyration about a point.
static double size_of(const vy_bodies *b, uint32_t i)
{
    const mat3 *m = &b->params[i].inertia;
    return real_sqrt((m->m[0][0] + m->m[1][1] + m->m[2][2]) * b->params[i].inverse_mass);
}

// Whether what pushes a sleeping body has changed, by so much that it might get up to speed.
static int is_pushed_anew(vy_bodies *b, uint32_t i, body_push now)
{
    body_rest *r = &b->sleep->rest[i];
    if (r->ticks == 0) {
        *r = (body_rest){1, r->island, now.acceleration, now.torque};
        return 0;
    }
    const vec3 turn = mat3_mul_vec(b->params[i].inverse_inertia, vec3_sub(now.torque, r->torque));
    const double change =
        vec3_length(vec3_sub(now.acceleration, r->acceleration)) + size_of(b, i) * vec3_length(turn);
    return !(change * b->def.contacts.sleep <= b->def.contacts.sleep_speed);
}

static int has_custom_fields(const vy_bodies *b)
{
    for (uint32_t k = 0; k < b->field_count; ++k) {
        if (b->fields[k].potential.kind == VY_POTENTIAL_CUSTOM) return 1;
    }
    return 0;
}

void vy_sleep_begin(vy_bodies *b, double h)
{
    sleep_system *s = b->sleep;
    if (s == NULL || s->asleep == 0) return;
    if (b->flown) memcpy(s->flight, b->state, b->limit * sizeof *b->state);
    const int custom = !b->flown && has_custom_fields(b);
    int woke = 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (is_driven(b, i)) woke |= rouse_in_way(b, i, h);
        if (!custom || !sleeps(b, i) || !is_pushed_anew(b, i, push_at(b, i, &b->state[i]))) continue;
        rouse(b, i);
        woke = 1;
    }
    if (woke) wake_pairs(b);
}

// Somebody else has flown them all: those that sleep are put back, unless something pushes them now.
static void look_at_flights(vy_bodies *b, double h)
{
    sleep_system *s = b->sleep;
    int woke = 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (!sleeps(b, i) || !is_pushed_anew(b, i, push_of_flight(b, i, h))) continue;
        rouse(b, i);
        woke = 1;
    }
    if (woke) wake_pairs(b);
    for (uint32_t i = 0; i < b->limit; ++i) {
        const body_state lies = s->flight[i]; // joints may have moved its start
        s->flight[i] = b->state[i];
        if (sleeps(b, i)) b->state[i] = b->contacts->start[i] = lies;
    }
}

void vy_sleep_flown(vy_bodies *b, double h)
{
    sleep_system *s = b->sleep;
    if (s == NULL || s->asleep == 0) return;
    if (b->flown) {
        look_at_flights(b, h);
        return;
    }
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (b->moves[i]) s->flight[i] = b->state[i];
    }
}

// ---- contacts with those that sleep

// The free flight of those that woke, as if they had never slept.
static uint32_t fly_woken(vy_bodies *b, double h)
{
    sleep_system *s = b->sleep;
    uint32_t events = 0;
    if (!b->flown) {
        unsigned char *const all = b->moves;
        b->moves = s->woken;
        events = vy_bodies_fly(b, h);
        b->moves = all;
    }
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (!s->woken[i]) continue;
        if (b->flown) {
            b->state[i] = s->flight[i];
        } else {
            s->flight[i] = b->state[i];
        }
    }
    return events;
}

// Whether a body that lay still does not any more.
static int has_moved(const body_state *now, const body_state *lay)
{
    const vec3 way = vec3_sub(now->position, lay->position);
    return vec3_dot(way, way) > 0.0 || !stands_still(now);
}

int vy_sleep_disturbed(vy_bodies *b, double h, uint32_t *events)
{
    sleep_system *s = b->sleep;
    const contact_system *c = b->contacts;
    if (s == NULL || s->asleep == 0 || b->head->failed) return 0;
    int woke = 0;
    memset(s->woken, 0, b->limit);
    for (uint32_t k = 0; k < c->count; ++k) {
        const contact_link *l = &c->links[k];
        if (b->moves[l->a] && b->moves[l->b]) continue;
        const uint32_t i = b->moves[l->a] ? l->b : l->a;
        // The simple response moves bodies that overlap without a push, too.
        if (!sleeps(b, i) || (!l->kept && !has_moved(&b->state[i], &c->start[i]))) continue;
        rouse(b, i);
        woke = 1;
    }
    if (!woke) return 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (b->moves[i]) b->state[i] = s->woken[i] ? c->start[i] : s->flight[i];
    }
    *events |= fly_woken(b, h);
    wake_pairs(b);
    return 1;
}

// ---- what is told of pairs that sleep: it follows from the state, so a restored set tells the same

static vy_contact_report report_of(const vy_bodies *b, const contact_memory *m, double steps)
{
    const body_state *sa = &b->state[m->a];
    const vy_pose pa = body_shape_pose(b, m->a, sa), pb = body_shape_pose(b, m->b, &b->state[m->b]);
    vy_contact_report r = {.a = vy_bodies_at(b, m->a).bits,
                           .b = vy_bodies_at(b, m->b).bits,
                           .phase = VY_CONTACT_PERSIST,
                           .points = (int)m->count};
    vy_manifold found;
    if (vy_collide_near(&b->slots[m->a].shape, &pa, &b->slots[m->b].shape, &pb, REPORT_MARGIN, &found) ==
            VY_OK &&
        found.count > 0)
        r.normal = found.normal;
    double sum = 0.0;
    for (uint32_t k = 0; k < m->count; ++k) {
        const vec3 at = vec3_add(sa->position, quat_rotate(sa->attitude, m->at[k]));
        r.point = vec3_add_scaled(r.point, m->push[k], at);
        sum += m->push[k];
    }
    if (sum > 0.0) r.point = vec3_scale(1.0 / sum, r.point);
    r.impulse = vec3_scale(steps, vec3_add_scaled(m->friction, sum, r.normal));
    return r;
}

void vy_sleep_report(vy_bodies *b, double h)
{
    sleep_system *s = b->sleep;
    contact_system *c = b->contacts;
    if (s == NULL) return;
    const uint32_t count = (uint32_t)s->count->count;
    const double steps =
        b->def.contacts.solver == VY_SOLVER_SOFT ? contacts_substeps(h, b->def.contacts.substep) : 1.0;
    for (uint32_t k = 0; k < count && !s->told; ++k) s->reports[k] = report_of(b, &s->memory[k], steps);
    s->told = 1;
    uint32_t x = c->report_count, y = count; // from the back: into the place that they have in the end
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

static int rests(const vy_bodies *b, uint32_t i)
{
    const body_state *s = &b->state[i];
    const double speed = vec3_length(s->velocity) + size_of(b, i) * vec3_length(s->rate);
    return speed < b->def.contacts.sleep_speed && !b->slots[i].wakeful;
}

// Count the steps at rest. Returns whether somebody has rested long enough.
static int count_rest(vy_bodies *b, uint64_t long_enough)
{
    sleep_system *s = b->sleep;
    int some = 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (!body_is_dynamic(b, i)) b->touched[i] = 0; // joints and vy_sleep_begin have looked at it
        if (!b->moves[i]) continue;
        s->rest[i].ticks = rests(b, i) ? s->rest[i].ticks + 1u : 0u;
        some |= s->rest[i].ticks >= long_enough;
    }
    return some;
}

// Two that touch or are joined sleep together; who is held by what moves by itself does not.
static void tie(vy_bodies *b, uint32_t i, uint32_t j)
{
    sleep_system *s = b->sleep;
    if (b->moves[i] && b->moves[j]) {
        islands_join(s->parent, i, j);
        return;
    }
    if (!b->moves[i] && !b->moves[j]) return;
    const uint32_t mover = b->moves[i] ? i : j, other = b->moves[i] ? j : i;
    if (b->slots[other].kind == VY_BODY_KINEMATIC && !stands_still(&b->state[other]))
        s->rest[mover].ticks = 0;
}

static void tie_joints(vy_bodies *b)
{
    const joint_system *j = b->joints;
    for (uint32_t k = 0; k < j->limit; ++k) {
        const joint_slot *t = &j->slots[k];
        if (!t->used) continue;
        if (t->body[0] < b->def.body_cap && t->body[1] < b->def.body_cap) tie(b, t->body[0], t->body[1]);
        for (int side = 0; side < 2 && t->def.kind == VY_JOINT_CUSTOM; ++side) { // it may move by time alone
            if (t->body[side] < b->def.body_cap && body_is_dynamic(b, t->body[side]))
                b->sleep->rest[t->body[side]].ticks = 0;
        }
    }
}

void vy_sleep_settle(vy_bodies *b)
{
    sleep_system *s = b->sleep;
    if (s == NULL) return;
    const double count = real_min(b->def.contacts.sleep / b->def.dt, 1e15) * (1.0 - 1e-12);
    const uint64_t long_enough = (uint64_t)count + 1u;
    if (!count_rest(b, long_enough) || b->head->failed) return;
    for (uint32_t i = 0; i < b->limit; ++i) {
        s->parent[i] = i;
        s->due[i] = 1;
    }
    for (uint64_t k = 0; k < b->contact_count->count; ++k) tie(b, b->memory[k].a, b->memory[k].b);
    tie_joints(b);
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (b->moves[i] && s->rest[i].ticks < long_enough) s->due[island_root(s->parent, i)] = 0;
    }
    int some = 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        const uint32_t root = island_root(s->parent, i);
        if (!body_is_dynamic(b, i) || s->rest[i].island != 0 || !s->due[root]) continue;
        s->rest[i] = (body_rest){.island = root + 1u};
        b->state[i].velocity = b->state[i].rate = vec3_zero();
        b->before[i] = (body_before){vec3_zero(), vec3_zero()};
        s->asleep += 1;
        lie_down(b, i);
        some = 1;
    }
    if (some) hand_over(b, awake_pairs(b), sleeping_pairs(b), 0);
}

int vy_sleep_all(const vy_bodies *b)
{
    const sleep_system *s = b->sleep;
    // Reports must be those of the pairs that sleep already.
    if (s == NULL || s->asleep == 0 || !s->told || b->contacts->report_count != s->count->count) return 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        const int coasts = b->slots[i].kind == VY_BODY_KINEMATIC && !stands_still(&b->state[i]);
        if (b->moves[i] || coasts || is_driven(b, i) || b->loaded[i]) return 0;
    }
    return !has_custom_fields(b);
}

// ---- for the caller

int vy_body_is_asleep(const vy_bodies *b, vy_body_id id)
{
    const int64_t i = vy_bodies_find(b, id);
    return i >= 0 && sleeps(b, (uint32_t)i);
}

vy_status vy_body_wake(vy_bodies *b, vy_body_id id)
{
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    vy_sleep_wake(b, (uint32_t)i);
    return VY_OK;
}

uint32_t vy_bodies_asleep(const vy_bodies *b) { return b->sleep == NULL ? 0 : b->sleep->asleep; }
