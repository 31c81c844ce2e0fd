// contact_points.c - where the bodies of a pair touch, or are about to, and what they remember of the last
// step.
#include "dynamics/contacts.h"

#define FAR 1e300

enum { FEW_PAIRS = 64, FEW_CONTACTS = 256 }; // not worth waking threads for

static double mean(double a, double b) { return real_sqrt(a * b); }

// A unit vector across n.
static vec3 across(vec3 n)
{
    const vec3 k = real_abs(n.x) < 0.6 ? vec3_make(1.0, 0.0, 0.0) : vec3_make(0.0, 1.0, 0.0);
    const vec3 t = vec3_cross(n, k);
    return vec3_scale(1.0 / vec3_length(t), t);
}

// The points, the deepest first: an order that a mirror does not change.
static void fill_points(const vy_bodies *b, const vy_manifold *m, contact *c)
{
    const body_state *sa = &b->contacts->start[c->a], *sb = &b->contacts->start[c->b];
    c->apart = vec3_sub(sb->position, sa->position);
    for (int i = 0; i < m->count; ++i) {
        const vec3 from = vec3_sub(m->points[i].point_a, sa->position);
        const contact_point p = {
            .on_a = quat_unrotate(sa->attitude, from), .from_a = from, .gap = -m->points[i].depth};
        int at = i;
        for (; at > 0 && c->p[at - 1].gap > p.gap; --at) c->p[at] = c->p[at - 1];
        c->p[at] = p;
    }
    for (int i = m->count; i < VY_MANIFOLD_POINTS; ++i) c->p[i] = (contact_point){.gap = 0.0};
    for (int i = 0; i < VY_MANIFOLD_POINTS; ++i) c->total[i] = c->speed[i] = 0.0;
}

// The remembered point nearest to p that has not been taken yet, or -1 when none is near against the arms.
// Names of points would be exact, but two faces that lie on each other take turns at naming them.
static int nearest(const contact_memory *m, const contact *c, const contact_point *p, unsigned taken)
{
    const vec3 from_b = vec3_sub(p->from_a, c->apart);
    double least = 0.01 * real_min(vec3_dot(p->on_a, p->on_a), vec3_dot(from_b, from_b));
    int best = -1;
    for (int k = 0; k < (int)m->count; ++k) {
        const vec3 d = vec3_sub(m->at[k], p->on_a);
        if ((taken >> k & 1u) != 0 || !(vec3_dot(d, d) < least)) continue;
        least = vec3_dot(d, d);
        best = k;
    }
    return best;
}

// What the pair remembers, onto the points that are where it was; what is left over is shared by the new
// ones, so that a body that stands does not fall when a corner slides over an edge.
static void recall(const contact_memory *m, contact *c)
{
    unsigned taken = 0, fresh = 0;
    double rest = 0.0;
    int count = 0;
    for (int i = 0; i < c->count; ++i) {
        const int k = nearest(m, c, &c->p[i], taken);
        if (k < 0) {
            fresh |= 1u << i;
            ++count;
            continue;
        }
        taken |= 1u << k;
        c->p[i].push = m->push[k];
    }
    for (uint32_t k = 0; k < m->count; ++k) {
        if ((taken >> k & 1u) == 0) rest += m->push[k];
    }
    for (int i = 0; i < c->count; ++i) {
        if ((fresh >> i & 1u) != 0) c->p[i].push = rest / count;
    }
    const vec3 t2 = vec3_cross(c->n, c->t1);
    c->load = m->load;
    c->drag_1 = vec3_dot(m->friction, c->t1);
    c->drag_2 = vec3_dot(m->friction, t2);
    if (c->rolling > 0.0) { // else the twist is about the normal, and across it there is rounding alone
        c->roll_1 = vec3_dot(m->twist, c->t1);
        c->roll_2 = vec3_dot(m->twist, t2);
    }
    c->spin = vec3_dot(m->twist, c->n);
    c->was = 1;
}

static void material_of(const vy_bodies *b, contact *c)
{
    const vy_material *x = &b->slots[c->a].material, *y = &b->slots[c->b].material;
    c->friction = mean(x->friction, y->friction);
    c->restitution = mean(x->restitution, y->restitution);
    c->rolling = mean(x->rolling, y->rolling);
    c->spinning = mean(x->spinning, y->spinning);
}

// The manifold of a pair, for shapes up to the distance that they can close in the step.
static int manifold_of(const vy_bodies *b, uint32_t i, uint32_t j, double h, vy_manifold *m)
{
    const contact_system *s = b->contacts;
    const double way = vec3_length(vec3_sub(contact_way(b, j, h), contact_way(b, i, h)));
    const double margin = way + (s->turn[i] + s->turn[j]) + 2.0 * b->def.contacts.slop;
    return vy_collide_near(&b->slots[i].shape, &s->pose[i], &b->slots[j].shape, &s->pose[j], margin, m) ==
               VY_OK &&
           m->count > 0;
}

static void fill_contact(const vy_bodies *b, uint32_t i, uint32_t j, const vy_manifold *m, contact *c)
{
    c->a = i;
    c->b = j;
    c->count = m->count;
    c->was = 0;
    c->n = m->normal;
    c->t1 = across(c->n);
    c->load = c->drag_1 = c->drag_2 = c->roll_1 = c->roll_2 = c->spin = 0.0;
    c->impulse = vec3_zero();
    fill_points(b, m, c);
    material_of(b, c);
}

// ---- what is true of it

// [m/s] How fast the points that are no further apart than `gap` close at the start of the step, the fastest
// of them; below any speed without such points.
static double closing(const vy_bodies *b, const contact *c, double gap)
{
    const body_state *sa = &b->contacts->start[c->a], *sb = &b->contacts->start[c->b];
    const vec3 wa = quat_rotate(sa->attitude, sa->rate), wb = quat_rotate(sb->attitude, sb->rate);
    const vec3 apart = vec3_sub(sb->velocity, sa->velocity);
    double most = -FAR;
    for (int i = 0; i < c->count; ++i) {
        if (c->p[i].gap > gap) continue;
        const vec3 from_a = c->p[i].from_a, from_b = vec3_sub(from_a, c->apart);
        const vec3 v = vec3_add(apart, vec3_sub(vec3_cross(wb, from_b), vec3_cross(wa, from_a)));
        most = real_max(most, -vec3_dot(v, c->n));
    }
    return most;
}

// Points that touch and never pushed, of bodies that have not fallen on each other.
static int is_fresh(const vy_bodies *b, const contact *c, double slow)
{
    const double speed = closing(b, c, b->def.contacts.slop);
    return speed > -slow && speed < slow;
}

static contact_link link_of(const vy_bodies *b, const contact *c, double slow)
{
    unsigned facts = (b->moves[c->a] ? MOVES_A : 0) | (b->moves[c->b] ? MOVES_B : 0);
    if (c->restitution > 0.0) facts |= BOUNCES;
    if (c->was) {
        if (closing(b, c, FAR) >= 0.0) facts |= PUSHES;
    } else if (is_fresh(b, c, slow)) {
        facts |= FRESH;
    }
    return (contact_link){.a = c->a, .b = c->b, .facts = (uint8_t)facts, .count = (uint8_t)c->count};
}

// ---- pairs side by side

/// Pairs [first, ...) whose manifolds are at hand, and the contacts they become.
typedef struct pair_block {
    size_t first;
    uint32_t to;
    double slow; // [m/s]
    double h;    // [s]
} pair_block;

static void find_manifolds(vy_bodies *b, void *self, size_t first, size_t last)
{
    contact_system *s = b->contacts;
    const pair_block *block = self;
    const uint64_t *keys = s->keys + block->first;
    for (size_t k = first; k < last; ++k) {
        if (!manifold_of(b, (uint32_t)(keys[k] >> 32), (uint32_t)keys[k], block->h, &s->found[k]))
            s->found[k].count = 0;
    }
}

// The first pair that is remembered and not before `key`.
static const contact_memory *remembered(const vy_bodies *b, uint64_t key)
{
    uint64_t low = 0, high = b->contact_count->count;
    while (low < high) {
        const uint64_t mid = (low + high) / 2;
        if (contact_key(b->memory[mid].a, b->memory[mid].b) < key) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return b->memory + low;
}

static void fill_contacts(vy_bodies *b, void *self, size_t first, size_t last)
{
    const contact_system *s = b->contacts;
    const pair_block *block = self;
    const uint64_t *keys = s->keys + block->first;
    const contact_memory *const end = b->memory + b->contact_count->count;
    const contact_memory *known = first < last ? remembered(b, keys[s->kept[first]]) : end;
    for (size_t n = first; n < last; ++n) {
        const uint64_t key = keys[s->kept[n]];
        contact *c = &s->list[block->to + n];
        fill_contact(b, (uint32_t)(key >> 32), (uint32_t)key, &s->found[s->kept[n]], c);
        while (known < end && contact_key(known->a, known->b) < key) ++known;
        if (known < end && contact_key(known->a, known->b) == key) recall(known, c);
        s->links[block->to + n] = link_of(b, c, block->slow);
    }
}

int vy_contacts_find(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    size_t pairs = 0;
    s->count = 0;
    if (!vy_contacts_pairs(b, h, &pairs)) return 0;
    for (size_t at = 0; at < pairs; at += s->block) {
        const size_t left = pairs - at, count = left < s->block ? left : s->block;
        pair_block block = {at, s->count, contacts_slow(b, h), h};
        vy_bodies_share(b, count, FEW_PAIRS, find_manifolds, &block);
        uint32_t kept = 0;
        for (uint32_t k = 0; k < count; ++k) {
            if (s->found[k].count > 0) s->kept[kept++] = k;
        }
        const uint32_t room = b->def.contacts.cap - s->count, taken = kept < room ? kept : room;
        vy_bodies_share(b, taken, FEW_CONTACTS, fill_contacts, &block);
        s->count += taken;
        if (taken < kept) return 0;
    }
    return 1;
}
