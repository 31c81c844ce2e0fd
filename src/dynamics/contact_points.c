// contact_points.c - the contact of a pair: its manifold, its materials, and the impulses cached in the last
// step.
#include "base/assert.h"
#include "dynamics/contacts.h"

#define INFINITE_SEPARATION 1e300

enum { FEW_PAIRS = 64, FEW_CONTACTS = 256 }; // below these, not worth waking threads

static double mix(double a, double b) { return real_sqrt(a * b); }

// A unit vector perpendicular to n.
static vec3 perpendicular(vec3 n)
{
    VY_ASSERT(vec3_is_unit(n));
    const vec3 k = real_abs(n.x) < 0.6 ? vec3_make(1.0, 0.0, 0.0) : vec3_make(0.0, 1.0, 0.0);
    const vec3 t = vec3_cross(n, k);
    return vec3_scale(1.0 / vec3_length(t), t);
}

// The points, deepest first: an order that mirroring does not change.
static void fill_points(const vy_bodies *b, const vy_manifold *m, contact *c)
{
    VY_ASSERT(m->count >= 1 && m->count <= VY_MANIFOLD_POINTS);
    const body_state *sa = &b->contacts->start_state[c->a], *sb = &b->contacts->start_state[c->b];
    c->a_to_b = vec3_sub(sb->position, sa->position);
    for (int i = 0; i < m->count; ++i) {
        const vec3 anchor_a = vec3_sub(m->points[i].point_a, sa->position);
        const contact_point p = {.local_anchor_a = quat_unrotate(sa->attitude, anchor_a),
                                 .anchor_a = anchor_a,
                                 .separation = -m->points[i].depth};
        int at = i;
        for (; at > 0 && c->points[at - 1].separation > p.separation; --at) c->points[at] = c->points[at - 1];
        c->points[at] = p;
    }
    for (int i = m->count; i < VY_MANIFOLD_POINTS; ++i) c->points[i] = (contact_point){.separation = 0.0};
    for (int i = 0; i < VY_MANIFOLD_POINTS; ++i) c->total_normal_impulse[i] = c->relative_velocity[i] = 0.0;
}

// The cached point nearest to p that is not taken yet, or -1 when none is near compared to the anchors'
// lengths. Feature ids would be exact, but of two faces that lie on each other now one and now the other is
// the reference face.
static int nearest(const contact_cache *m, const contact *c, const contact_point *p, unsigned taken)
{
    VY_ASSERT(m->point_count <= VY_MANIFOLD_POINTS);
    const vec3 anchor_b = vec3_sub(p->anchor_a, c->a_to_b);
    double min_distance2 =
        0.01 * real_min(vec3_dot(p->local_anchor_a, p->local_anchor_a), vec3_dot(anchor_b, anchor_b));
    int best = -1;
    for (int k = 0; k < (int)m->point_count; ++k) {
        const vec3 d = vec3_sub(m->local_anchor_a[k], p->local_anchor_a);
        if ((taken >> k & 1u) != 0 || !(vec3_dot(d, d) < min_distance2)) continue;
        min_distance2 = vec3_dot(d, d);
        best = k;
    }
    return best;
}

// Match the cached points to those of the manifold and take over their impulses. Unmatched points share what
// is left over, so that a standing body does not drop when a corner slides over an edge.
static void match_cache(const contact_cache *m, contact *c)
{
    VY_ASSERT(m->a == c->a && m->b == c->b);
    unsigned taken = 0, unmatched = 0;
    double left_over = 0.0;
    int count = 0;
    for (int i = 0; i < c->point_count; ++i) {
        const int k = nearest(m, c, &c->points[i], taken);
        if (k < 0) {
            unmatched |= 1u << i;
            ++count;
            continue;
        }
        taken |= 1u << k;
        c->points[i].normal_impulse = m->normal_impulse[k];
    }
    VY_ASSERT((unmatched == 0) == (count == 0));
    for (uint32_t k = 0; k < m->point_count; ++k) {
        if ((taken >> k & 1u) == 0) left_over += m->normal_impulse[k];
    }
    for (int i = 0; i < c->point_count; ++i) {
        if ((unmatched >> i & 1u) != 0) c->points[i].normal_impulse = left_over / count;
    }
    const vec3 tangent_2 = vec3_cross(c->normal, c->tangent_1);
    c->mean_normal_impulse = m->mean_normal_impulse;
    c->tangent_impulse_1 = vec3_dot(m->friction_impulse, c->tangent_1);
    c->tangent_impulse_2 = vec3_dot(m->friction_impulse, tangent_2);
    if (c->rolling_resistance > 0.0) { // else only the part about the normal is more than rounding
        c->rolling_impulse_1 = vec3_dot(m->angular_impulse, c->tangent_1);
        c->rolling_impulse_2 = vec3_dot(m->angular_impulse, tangent_2);
    }
    c->twist_impulse = vec3_dot(m->angular_impulse, c->normal);
    c->persists = 1;
}

static void mix_materials(const vy_bodies *b, contact *c)
{
    const vy_material *x = &b->slots[c->a].material, *y = &b->slots[c->b].material;
    c->friction = mix(x->friction, y->friction);
    c->restitution = mix(x->restitution, y->restitution);
    c->rolling_resistance = mix(x->rolling, y->rolling);
    VY_ASSERT(c->friction >= 0.0 && c->restitution >= 0.0 && c->restitution <= 1.0);
    c->torsional_friction = mix(x->spinning, y->spinning);
}

// The manifold of a pair, with points up to the distance that the bodies can close in the step.
static int manifold_of(const vy_bodies *b, uint32_t i, uint32_t j, double h, vy_manifold *m)
{
    const contact_system *s = b->contacts;
    const double displacement =
        vec3_length(vec3_sub(displacement_in_step(b, j, h), displacement_in_step(b, i, h)));
    const double margin =
        displacement + (s->rotation_reach[i] + s->rotation_reach[j]) + 2.0 * b->def.contacts.slop;
    VY_ASSERT(margin >= 0.0);
    return vy_collide_near(&b->slots[i].shape, &s->pose[i], &b->slots[j].shape, &s->pose[j], margin, m) ==
               VY_OK &&
           m->count > 0;
}

static void fill_contact(const vy_bodies *b, uint32_t i, uint32_t j, const vy_manifold *m, contact *c)
{
    VY_ASSERT(i < j && j < b->limit);
    c->a = i;
    c->b = j;
    c->point_count = m->count;
    c->persists = 0;
    c->normal = m->normal;
    c->tangent_1 = perpendicular(c->normal);
    c->mean_normal_impulse = c->tangent_impulse_1 = c->tangent_impulse_2 = c->rolling_impulse_1 =
        c->rolling_impulse_2 = c->twist_impulse = 0.0;
    c->total_impulse = vec3_zero();
    fill_points(b, m, c);
    mix_materials(b, c);
}

// ---- flags

// [m/s] The largest speed at which points no further apart than `max_separation` close at the start of the
// step; without such points, less than any speed.
static double closing_speed(const vy_bodies *b, const contact *c, double max_separation)
{
    const body_state *sa = &b->contacts->start_state[c->a], *sb = &b->contacts->start_state[c->b];
    const vec3 wa = quat_rotate(sa->attitude, sa->rate), wb = quat_rotate(sb->attitude, sb->rate);
    const vec3 velocity = vec3_sub(sb->velocity, sa->velocity);
    double max_speed = -INFINITE_SEPARATION;
    for (int i = 0; i < c->point_count; ++i) {
        if (c->points[i].separation > max_separation) continue;
        const vec3 anchor_a = c->points[i].anchor_a, anchor_b = vec3_sub(anchor_a, c->a_to_b);
        const vec3 v = vec3_add(velocity, vec3_sub(vec3_cross(wb, anchor_b), vec3_cross(wa, anchor_a)));
        max_speed = real_max(max_speed, -vec3_dot(v, c->normal));
    }
    return max_speed;
}

// Whether it touches and neither closes nor separates fast: a contact without cached impulses at rest.
static int is_new_at_rest(const vy_bodies *b, const contact *c, double threshold)
{
    const double speed = closing_speed(b, c, b->def.contacts.slop);
    return speed > -threshold && speed < threshold;
}

static contact_header header_of(const vy_bodies *b, const contact *c, double threshold)
{
    unsigned flags = (b->awake[c->a] ? MOVES_A : 0) | (b->awake[c->b] ? MOVES_B : 0);
    if (c->restitution > 0.0) flags |= HAS_RESTITUTION;
    if (c->persists) {
        if (closing_speed(b, c, INFINITE_SEPARATION) >= 0.0) flags |= KEEPS_TOUCHING;
    } else if (is_new_at_rest(b, c, threshold)) {
        flags |= NEW_AT_REST;
    }
    VY_ASSERT((flags & (MOVES_A | MOVES_B)) != 0);
    return (contact_header){
        .a = c->a, .b = c->b, .flags = (uint8_t)flags, .point_count = (uint8_t)c->point_count};
}

// ---- pairs in blocks, on all threads

/// Pairs [first, ...) that are collided at a time, and the first contact they become.
typedef struct pair_block {
    size_t first;
    uint32_t first_contact;
    double threshold; // [m/s]
    double h;         // [s]
} pair_block;

static void find_manifolds(vy_bodies *b, void *self, size_t first, size_t last)
{
    contact_system *s = b->contacts;
    const pair_block *block = self;
    const uint64_t *keys = s->keys + block->first;
    for (size_t k = first; k < last; ++k) {
        if (!manifold_of(b, (uint32_t)(keys[k] >> 32), (uint32_t)keys[k], block->h, &s->manifolds[k]))
            s->manifolds[k].count = 0;
    }
}

// The first entry of the cache that is not before `key`.
static const contact_cache *cache_lower_bound(const vy_bodies *b, uint64_t key)
{
    uint64_t low = 0, high = b->contact_count->count;
    while (low < high) {
        const uint64_t mid = (low + high) / 2;
        if (contact_key(b->contact_cache[mid].a, b->contact_cache[mid].b) < key) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return b->contact_cache + low;
}

static void fill_contacts(vy_bodies *b, void *self, size_t first, size_t last)
{
    const contact_system *s = b->contacts;
    const pair_block *block = self;
    const uint64_t *keys = s->keys + block->first;
    const contact_cache *const end = b->contact_cache + b->contact_count->count;
    const contact_cache *cached = first < last ? cache_lower_bound(b, keys[s->with_points[first]]) : end;
    for (size_t n = first; n < last; ++n) {
        VY_ASSERT(block->first_contact + n < b->def.contacts.cap);
        const uint64_t key = keys[s->with_points[n]];
        contact *c = &s->contacts[block->first_contact + n];
        fill_contact(b, (uint32_t)(key >> 32), (uint32_t)key, &s->manifolds[s->with_points[n]], c);
        while (cached < end && contact_key(cached->a, cached->b) < key) ++cached;
        VY_ASSERT(cached >= end - 1 ||
                  contact_key(cached->a, cached->b) < contact_key(cached[1].a, cached[1].b));
        if (cached < end && contact_key(cached->a, cached->b) == key) match_cache(cached, c);
        s->headers[block->first_contact + n] = header_of(b, c, block->threshold);
    }
}

int vy_contacts_find(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    size_t pairs = 0;
    s->count = 0;
    if (!vy_contacts_pairs(b, h, &pairs)) return 0;
    for (size_t at = 0; at < pairs; at += s->block_size) {
        const size_t left = pairs - at, count = left < s->block_size ? left : s->block_size;
        pair_block block = {at, s->count, restitution_threshold(b, h), h};
        vy_bodies_parallel_for(b, count, FEW_PAIRS, find_manifolds, &block);
        uint32_t count_with_points = 0;
        for (uint32_t k = 0; k < count; ++k) {
            if (s->manifolds[k].count > 0) s->with_points[count_with_points++] = k;
        }
        const uint32_t room = b->def.contacts.cap - s->count,
                       taken = count_with_points < room ? count_with_points : room;
        vy_bodies_parallel_for(b, taken, FEW_CONTACTS, fill_contacts, &block);
        VY_ASSERT(s->count + taken <= b->def.contacts.cap);
        s->count += taken;
        if (taken < count_with_points) return 0;
    }
    return 1;
}
