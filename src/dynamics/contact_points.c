// contact_points.c - the contact of a pair: its manifold, its materials, and the impulses cached in the last
// step.
#include "base/assert.h"
#include "dynamics/contacts.h"
#include "geometry/collide.h"

#define INFINITE_SPEED 1e300
// From this ratio of two masses that touch on, a solver takes as many iterations as it is.
#define UNEQUAL_MASSES 10.0
enum { MAX_ITERATIONS = 1024 };

enum { MIN_PARALLEL_PAIRS = 64, MIN_PARALLEL_CONTACTS = 256 }; // below these, not worth waking threads

// The geometric mean. Most surfaces are of one material, and the root of a square is exact: it need not be
// taken where the square neither overflows nor underflows.
static double geometric_mean(double a, double b)
{
    if (a == b && (a == 0.0 || (a > 1e-100 && a < 1e100))) return a + 0.0; // no -0
    return real_sqrt(a * b);
}

// A unit vector perpendicular to n.
static vec3 perpendicular(vec3 n)
{
    VY_ASSERT(vec3_is_unit(n));
    const vec3 k = real_abs(n.x) < 0.6 ? vec3_make(1.0, 0.0, 0.0) : vec3_make(0.0, 1.0, 0.0);
    const vec3 t = vec3_cross(n, k);
    return vec3_scale(1.0 / vec3_length(t), t);
}

// The points, deepest first: an order that mirroring does not change.
static void fill_points(const vy_manifold *manifold, const body_state *sa, const body_state *sb, contact *c)
{
    VY_ASSERT(manifold->count >= 1 && manifold->count <= VY_MANIFOLD_POINTS);
    c->a_to_b = vec3_sub(sb->position, sa->position);
    for (int i = 0; i < manifold->count; ++i) {
        const vec3 anchor_a = vec3_sub(manifold->points[i].point_a, sa->position);
        const contact_point point = {.local_anchor_a = quat_unrotate(sa->attitude, anchor_a),
                                     .anchor_a = anchor_a,
                                     .separation = -manifold->points[i].depth};
        int place = i;
        for (; place > 0 && c->points[place - 1].separation > point.separation; --place)
            c->points[place] = c->points[place - 1];
        c->points[place] = point;
    }
    for (int i = manifold->count; i < VY_MANIFOLD_POINTS; ++i)
        c->points[i] = (contact_point){.separation = 0.0};
    for (int i = 0; i < VY_MANIFOLD_POINTS; ++i) c->total_normal_impulse[i] = c->relative_velocity[i] = 0.0;
}

// The cached point nearest to p that is not taken yet, or -1 when none is near compared to the anchors'
// lengths. Feature ids would be exact, but of two faces that lie on each other now one and now the other is
// the reference face.
static int nearest_cached_point(const contact_cache *cached, const contact *c, const contact_point *p,
                                unsigned matched)
{
    VY_ASSERT(cached->point_count <= VY_MANIFOLD_POINTS);
    const vec3 anchor_b = vec3_sub(p->anchor_a, c->a_to_b);
    double min_distance2 =
        0.01 * real_min(vec3_dot(p->local_anchor_a, p->local_anchor_a), vec3_dot(anchor_b, anchor_b));
    int best = -1;
    for (int k = 0; k < (int)cached->point_count; ++k) {
        const vec3 d = vec3_sub(cached->local_anchor_a[k], p->local_anchor_a);
        if ((matched >> k & 1u) != 0 || !(vec3_dot(d, d) < min_distance2)) continue;
        min_distance2 = vec3_dot(d, d);
        best = k;
    }
    return best;
}

// Match the cached points to those of the manifold and take over their impulses. Unmatched points share what
// is left over, so that a standing body does not drop when a corner slides over an edge.
void vy_contact_match(const contact_cache *cached, contact *c)
{
    VY_ASSERT(cached->a == c->a && cached->b == c->b);
    unsigned matched = 0, unmatched = 0;
    double unmatched_impulse = 0.0;
    int count = 0;
    for (int i = 0; i < c->point_count; ++i) {
        const int k = nearest_cached_point(cached, c, &c->points[i], matched);
        if (k < 0) {
            unmatched |= 1u << i;
            ++count;
            continue;
        }
        matched |= 1u << k;
        c->points[i].normal_impulse = cached->normal_impulse[k];
    }
    VY_ASSERT((unmatched == 0) == (count == 0));
    for (uint32_t k = 0; k < cached->point_count; ++k) {
        if ((matched >> k & 1u) == 0) unmatched_impulse += cached->normal_impulse[k];
    }
    for (int i = 0; i < c->point_count; ++i) {
        if ((unmatched >> i & 1u) != 0) c->points[i].normal_impulse = unmatched_impulse / count;
    }
    const vec3 tangent_2 = vec3_cross(c->normal, c->tangent_1);
    c->mean_normal_impulse = cached->mean_normal_impulse;
    c->tangent_impulse_1 = vec3_dot(cached->friction_impulse, c->tangent_1);
    c->tangent_impulse_2 = vec3_dot(cached->friction_impulse, tangent_2);
    if (c->rolling_resistance > 0.0) { // else only the part about the normal is more than rounding
        c->rolling_impulse_1 = vec3_dot(cached->angular_impulse, c->tangent_1);
        c->rolling_impulse_2 = vec3_dot(cached->angular_impulse, tangent_2);
    }
    c->twist_impulse = vec3_dot(cached->angular_impulse, c->normal);
    c->persists = 1;
}

static void mix_materials(const vy_bodies *b, contact *c)
{
    const vy_material *x = &b->slots[c->a].material, *y = &b->slots[c->b].material;
    c->friction = geometric_mean(x->friction, y->friction);
    c->restitution = geometric_mean(x->restitution, y->restitution);
    c->rolling_resistance = geometric_mean(x->rolling, y->rolling);
    VY_ASSERT(c->friction >= 0.0 && c->restitution >= 0.0 && c->restitution <= 1.0);
    c->torsional_friction = geometric_mean(x->spinning, y->spinning);
}

// All manifolds of two bodies at the start of the step that move against each other by `displacement`, with
// points up to the distance that they can close. Returns how many there are: several where one of them is a
// height field.
static int manifolds_of(const vy_bodies *b, uint32_t i, uint32_t j, vec3 displacement, vy_manifold *out)
{
    const contact_system *s = b->contacts;
    const double margin = vec3_length(displacement) +
                          (s->sweep[i].rotation_reach + s->sweep[j].rotation_reach) +
                          2.0 * b->def.contacts.slop;
    VY_ASSERT(margin >= 0.0);
    int count = 0;
    const vy_status status = vy_collide_in_scope(&b->slots[i].shape, &s->pose[i], &b->slots[j].shape,
                                                 &s->pose[j], margin, out, &count);
    return status == VY_OK ? count : 0;
}

void vy_contact_fill(const vy_bodies *b, contact *c, const vy_manifold *manifold, const body_state *sa,
                     const body_state *sb)
{
    VY_ASSERT(c->a < c->b && c->b < b->slot_count);
    c->point_count = manifold->count;
    c->persists = 0;
    c->normal = manifold->normal;
    c->tangent_1 = perpendicular(c->normal);
    c->mean_normal_impulse = c->tangent_impulse_1 = c->tangent_impulse_2 = c->rolling_impulse_1 =
        c->rolling_impulse_2 = c->twist_impulse = 0.0;
    c->total_impulse = vec3_zero();
    fill_points(manifold, sa, sb, c);
    mix_materials(b, c);
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

// ---- flags

// The velocities of two bodies at the start of the step, world axes.
typedef struct pair_velocity {
    vec3 velocity, rate_a, rate_b; // of b against a; of each
} pair_velocity;

static pair_velocity swept_velocity(const vy_bodies *b, const contact *c)
{
    const body_state *sa = &b->contacts->start_state[c->a], *sb = &b->contacts->start_state[c->b];
    const pair_velocity v = {vec3_sub(sb->velocity, sa->velocity), b->contacts->sweep[c->a].rate,
                             b->contacts->sweep[c->b].rate};
    return v;
}

// The same of states that were not swept.
static pair_velocity unswept_velocity(const vy_bodies *b, const contact *c)
{
    const body_state *sa = &b->contacts->start_state[c->a], *sb = &b->contacts->start_state[c->b];
    const pair_velocity v = {vec3_sub(sb->velocity, sa->velocity), quat_rotate(sa->attitude, sa->rate),
                             quat_rotate(sb->attitude, sb->rate)};
    return v;
}

static double closing_speed_at(const pair_velocity *v, const contact *c, int i)
{
    const vec3 anchor_a = c->points[i].anchor_a, anchor_b = vec3_sub(anchor_a, c->a_to_b);
    const vec3 relative_velocity =
        vec3_add(v->velocity, vec3_sub(vec3_cross(v->rate_b, anchor_b), vec3_cross(v->rate_a, anchor_a)));
    return -vec3_dot(relative_velocity, c->normal);
}

// [m/s] The largest speed at which points no further apart than `max_separation` close at the start of the
// step; without such points, less than any speed.
static double closing_speed(const pair_velocity *v, const contact *c, double max_separation)
{
    double max_speed = -INFINITE_SPEED;
    for (int i = 0; i < c->point_count; ++i) {
        if (c->points[i].separation <= max_separation)
            max_speed = real_max(max_speed, closing_speed_at(v, c, i));
    }
    return max_speed;
}

static int some_point_closes(const pair_velocity *v, const contact *c)
{
    for (int i = 0; i < c->point_count; ++i) {
        if (closing_speed_at(v, c, i) >= 0.0) return 1;
    }
    return 0;
}

// Whether it touches and neither closes nor separates fast: a contact without cached impulses at rest.
static int is_new_at_rest(const pair_velocity *v, const contact *c, double slop, double threshold)
{
    const double speed = closing_speed(v, c, slop);
    return speed > -threshold && speed < threshold;
}

// Whether it is deeper than a step may leave it. Where a kinematic body presses, nothing helps.
static int is_deep(const vy_bodies *b, const contact *c)
{
    const contact_system *s = b->contacts;
    const double separation = c->points[0].separation; // the deepest point is the first
    if (separation >= 0.0) return 0;
    const double allowed_depth = ALLOWED_DEPTH_FRACTION * real_min(s->thickness[c->a], s->thickness[c->b]) +
                                 contact_slop(b, c->a, c->b);
    return separation < -allowed_depth && b->slots[c->a].kind != VY_BODY_KINEMATIC &&
           b->slots[c->b].kind != VY_BODY_KINEMATIC;
}

// A heavy body on a light one: an iteration moves as much of its weight on as the light one's part of the
// mass.
static uint16_t iterations_for(const vy_bodies *b, const contact *c)
{
    const double inverse_mass_a = b->params[c->a].inverse_mass, inverse_mass_b = b->params[c->b].inverse_mass;
    if (inverse_mass_a == inverse_mass_b || !b->awake[c->a] || !b->awake[c->b]) return 1;
    const double ratio = real_max(inverse_mass_a, inverse_mass_b) / real_min(inverse_mass_a, inverse_mass_b);
    return (uint16_t)(ratio < UNEQUAL_MASSES ? 1.0 : real_min(ratio, (double)MAX_ITERATIONS));
}

static contact_header header_of(const vy_bodies *b, const contact *c, const pair_velocity *v,
                                double threshold)
{
    unsigned flags = (b->awake[c->a] ? MOVES_A : 0) | (b->awake[c->b] ? MOVES_B : 0);
    if (c->restitution > 0.0) flags |= HAS_RESTITUTION;
    if (is_deep(b, c)) flags |= IS_DEEP;
    if (c->persists) {
        if (some_point_closes(v, c)) flags |= KEEPS_TOUCHING;
    } else if (is_new_at_rest(v, c, b->def.contacts.slop, threshold)) {
        flags |= NEW_AT_REST;
    }
    VY_ASSERT((flags & (MOVES_A | MOVES_B)) != 0);
    return (contact_header){.a = c->a,
                            .b = c->b,
                            .flags = (uint8_t)flags,
                            .point_count = (uint8_t)c->point_count,
                            .iterations = iterations_for(b, c),
                            .is_prescribed =
                                has_prescribed_motion(b, c->a) || has_prescribed_motion(b, c->b)};
}

// ---- the cache of a pair

// How many entries of the cache from `cached` on are of one pair.
static uint32_t cached_count(const vy_bodies *b, const contact_cache *cached, uint64_t key)
{
    const contact_cache *const end = b->contact_cache + b->contact_count->count;
    uint32_t count = 0;
    while (cached + count < end && contact_key(cached[count].a, cached[count].b) == key) ++count;
    return count;
}

const contact_cache *vy_contact_find_cached(const contact_cache *cached, uint32_t count,
                                            const vy_manifold *manifolds, uint32_t manifold_count,
                                            uint32_t index)
{
    VY_ASSERT(index < manifold_count);
    if (count == 1 && manifold_count == 1) return cached;
    uint32_t entry = 0, best_manifold = 0;
    for (uint32_t e = 1; e < count; ++e) {
        if (vec3_dot(cached[e].normal, manifolds[index].normal) >
            vec3_dot(cached[entry].normal, manifolds[index].normal))
            entry = e;
    }
    for (uint32_t m = 1; m < manifold_count; ++m) {
        if (vec3_dot(cached[entry].normal, manifolds[m].normal) >
            vec3_dot(cached[entry].normal, manifolds[best_manifold].normal))
            best_manifold = m;
    }
    const int is_similar = vec3_dot(cached[entry].normal, manifolds[index].normal) > SIMILAR_NORMAL;
    return best_manifold == index && is_similar ? &cached[entry] : NULL;
}

contact_header vy_contact_make(const vy_bodies *b, uint32_t i, uint32_t j, const vy_manifold *manifold,
                               double threshold, contact *c)
{
    c->a = i;
    c->b = j;
    vy_contact_fill(b, c, manifold, &b->contacts->start_state[i], &b->contacts->start_state[j]);
    const pair_velocity v = unswept_velocity(b, c);
    return header_of(b, c, &v, threshold);
}

// ---- pairs in blocks, on all threads

/// Pairs [first, ...) that are collided at a time, and the first contact they become.
typedef struct pair_block {
    size_t first, count;
    uint32_t first_contact;
    double threshold; // [m/s]
    double h;         // [s]
} pair_block;

// Whether the step of a body's island may be divided into intervals.
static int may_need_intervals(const vy_bodies *b, uint32_t i, double h)
{
    return b->awake[i] && vy_contacts_needs_intervals(b, i, b->contacts->start_state[i].rate, h,
                                                      contacts_substeps(h, b->def.contacts.substep));
}

static void find_manifolds(vy_bodies *b, void *self, size_t first, size_t last)
{
    contact_system *s = b->contacts;
    const pair_block *block = self;
    const uint64_t *keys = s->keys + block->first;
    for (size_t k = first; k < last; ++k) {
        if (k > 0 && keys[k - 1] == keys[k]) continue; // all contacts of a pair at its first key
        const uint32_t i = (uint32_t)(keys[k] >> 32), j = (uint32_t)keys[k];
        const vec3 displacement = vec3_sub(s->sweep[j].displacement, s->sweep[i].displacement);
        const int count = manifolds_of(b, i, j, displacement, &s->manifolds[k]);
        const size_t next = k + (size_t)count;
        for (size_t n = k; n < next; ++n) s->pair_passes[block->first + n] = 1;
        if (count > 0 && (next >= block->count || keys[next] != keys[k])) continue; // as many as have a key
        const int needs_intervals =
            count > 0 && (may_need_intervals(b, i, block->h) || may_need_intervals(b, j, block->h));
        for (size_t n = (size_t)count; k + n < block->count && keys[k + n] == keys[k]; ++n) {
            s->manifolds[k + n].count = 0;
            s->pair_passes[block->first + k + n] = (unsigned char)needs_intervals;
            if (needs_intervals) // others may come in the course of the step
                s->manifolds[k + n] =
                    vy_contact_separated_manifold(s->manifolds[k].normal, s->start_state[i].position);
        }
    }
}

/// The manifolds of a pair, and one of them.
typedef struct pair_manifolds {
    const vy_manifold *first;
    uint32_t count, index;
} pair_manifolds;

static pair_manifolds manifolds_at(const contact_system *s, const pair_block *block, uint32_t k)
{
    const uint64_t *keys = s->keys + block->first;
    pair_manifolds m = {&s->manifolds[k], 1, 0};
    for (; k > m.index && keys[k - m.index - 1] == keys[k]; ++m.index) --m.first;
    m.count += m.index;
    while (k + (m.count - m.index) < block->count && keys[k + (m.count - m.index)] == keys[k] &&
           m.first[m.count].count > 0)
        ++m.count;
    return m;
}

// Take over the impulses of the pair's cache, of which `cached` is the first entry.
static void match_cached(const vy_bodies *b, const contact_cache *cached, pair_manifolds m, contact *c)
{
    const uint32_t count = cached_count(b, cached, contact_key(c->a, c->b));
    cached = vy_contact_find_cached(cached, count, m.first, m.count, m.index);
    if (cached != NULL) vy_contact_match(cached, c);
}

static void fill_contacts(vy_bodies *b, void *self, size_t first, size_t last)
{
    const contact_system *s = b->contacts;
    const pair_block *block = self;
    const uint64_t *keys = s->keys + block->first;
    const contact_cache *const end = b->contact_cache + b->contact_count->count;
    const contact_cache *cached =
        first < last ? cache_lower_bound(b, keys[s->pairs_with_points[first]]) : end;
    for (size_t n = first; n < last; ++n) {
        VY_ASSERT(block->first_contact + n < s->capacity.contacts);
        const uint32_t k = s->pairs_with_points[n];
        const uint64_t key = keys[k];
        contact *c = &s->contacts[block->first_contact + n];
        c->a = (uint32_t)(key >> 32);
        c->b = (uint32_t)key;
        vy_contact_fill(b, c, &s->manifolds[k], &s->start_state[c->a], &s->start_state[c->b]);
        while (cached < end && contact_key(cached->a, cached->b) < key) ++cached;
        if (cached < end && contact_key(cached->a, cached->b) == key)
            match_cached(b, cached, manifolds_at(s, block, k), c);
        const pair_velocity v = swept_velocity(b, c);
        s->headers[block->first_contact + n] = header_of(b, c, &v, block->threshold);
    }
}

void vy_contact_reset_to_start(vy_bodies *b, uint32_t k, double h)
{
    contact_system *s = b->contacts;
    contact *c = &s->contacts[k];
    const uint64_t key = contact_key(c->a, c->b);
    vy_manifold manifolds[VY_COLLIDE_MANIFOLDS];
    const vec3 displacement = vec3_sub(displacement_in_step(b, c->b, h), displacement_in_step(b, c->a, h));
    const uint32_t count = (uint32_t)manifolds_of(b, c->a, c->b, displacement, manifolds),
                   manifold_index = contact_manifold_index(s, k);
    const contact_cache *cached = cache_lower_bound(b, key);
    if (manifold_index < count) {
        vy_contact_fill(b, c, &manifolds[manifold_index], &s->start_state[c->a], &s->start_state[c->b]);
        if (cached_count(b, cached, key) > 0)
            match_cached(b, cached, (pair_manifolds){manifolds, count, manifold_index}, c);
    } else {
        vy_contact_set_separated(b, c, &s->start_state[c->a], &s->start_state[c->b]);
    }
    s->headers[k].point_count = (uint8_t)c->point_count;
}

vy_status vy_contacts_find(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    size_t pair_count = 0;
    s->count = 0;
    vy_status status = vy_contacts_find_pairs(b, h, &pair_count);
    if (status == VY_OK) status = vy_contacts_reserve(b, 0, pair_count); // each may touch
    if (status != VY_OK) return status;
    for (size_t first = 0; first < pair_count;) {
        size_t count = pair_count - first < s->block_size ? pair_count - first : s->block_size;
        while (first + count < pair_count && s->keys[first + count - 1] == s->keys[first + count])
            --count; // whole pairs
        pair_block block = {first, count, s->count, restitution_threshold(b, h), h};
        vy_bodies_parallel_for(b, count, MIN_PARALLEL_PAIRS, find_manifolds, &block);
        uint32_t count_with_points = 0;
        for (uint32_t k = 0; k < count; ++k) {
            VY_ASSERT(s->pair_passes[first + k] == (s->manifolds[k].count > 0));
            if (s->pair_passes[first + k]) s->pairs_with_points[count_with_points++] = k;
        }
        vy_bodies_parallel_for(b, count_with_points, MIN_PARALLEL_CONTACTS, fill_contacts, &block);
        s->count += count_with_points;
        first += count;
        VY_ASSERT(s->count <= s->capacity.contacts);
    }
    return VY_OK;
}
