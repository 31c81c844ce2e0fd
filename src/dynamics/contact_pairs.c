// contact_pairs.c - which bodies may touch within a step, and where: the tree, then the exact bounds of the
// motion, then the shapes. What comes of it depends on the bodies' states alone, not on how the tree came to
// be.
#include "dynamics/contacts.h"

// The bounds of a body from the start of the step to its end, and all that turning may add.
static void sweep(vy_bodies *b, uint32_t i, double h)
{
    contact_system *s = b->contacts;
    const body_state *start = &s->start[i];
    const vy_pose pose = body_shape_pose(b, i, start);
    vy_bounds box = vy_shape_bounds(&b->slots[i].shape, &pose);
    const vec3 way = b->slots[i].kind == VY_BODY_DYNAMIC ? vec3_sub(b->state[i].position, start->position)
                                                         : vec3_scale(h, start->velocity);
    const double radius = 0.5 * vec3_length(vec3_sub(box.high, box.low)) + vec3_length(b->slots[i].centroid);
    s->turn[i] = h * vec3_length(start->rate) * radius;
    const double more = s->turn[i] + b->def.contacts.slop;
    box.low.x += real_min(way.x, 0.0) - more;
    box.low.y += real_min(way.y, 0.0) - more;
    box.low.z += real_min(way.z, 0.0) - more;
    box.high.x += real_max(way.x, 0.0) + more;
    box.high.y += real_max(way.y, 0.0) + more;
    box.high.z += real_max(way.z, 0.0) + more;
    s->bounds[i] = box;
}

static int overlap(const vy_bounds *a, const vy_bounds *b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
           a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static uint64_t key_of(uint32_t i, uint32_t j)
{
    return i < j ? (uint64_t)i << 32 | j : (uint64_t)j << 32 | i;
}

// Merge sort: the keys differ, so any order of equal ones is the same.
static void sort(uint64_t *keys, uint64_t *spare, size_t count)
{
    int ordered = 1;
    for (size_t i = 1; i < count && ordered; ++i) ordered = keys[i - 1] < keys[i];
    if (ordered) return;
    uint64_t *from = keys, *to = spare;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t low = 0; low < count; low += 2 * width) {
            const size_t mid = low + width < count ? low + width : count;
            const size_t high = low + 2 * width < count ? low + 2 * width : count;
            size_t i = low, j = mid;
            for (size_t k = low; k < high; ++k)
                to[k] = i < mid && (j >= high || from[i] < from[j]) ? from[i++] : from[j++];
        }
        uint64_t *const t = from;
        from = to;
        to = t;
    }
    if (from != keys) memcpy(keys, from, count * sizeof *keys);
}

// Whether a joint holds two bodies at one place, where their shapes may well overlap.
static int meet_in_joint(const vy_bodies *b, uint32_t i, uint32_t j)
{
    const joint_system *s = b->joints;
    if (!s->joined[i] || !s->joined[j]) return 0;
    for (uint32_t k = 0; k < s->limit; ++k) {
        const joint_slot *t = &s->slots[k];
        const vy_joint_kind kind = t->def.kind;
        const int apart = kind == VY_JOINT_DISTANCE || kind == VY_JOINT_CABLE || kind == VY_JOINT_SPRING;
        if (t->used && !apart &&
            ((t->body[0] == i && t->body[1] == j) || (t->body[0] == j && t->body[1] == i)))
            return 1;
    }
    return 0;
}

static int may_meet(const vy_bodies *b, uint32_t i, uint32_t j)
{
    return (body_is_dynamic(b, i) || body_is_dynamic(b, j)) && !meet_in_joint(b, i, j);
}

// All pairs worth a look, sorted. Returns 0 when there are too many.
static int list_pairs(vy_bodies *b, double h, size_t *count)
{
    contact_system *s = b->contacts;
    size_t found = 0, n = 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (s->proxy_of[i] < 0) continue;
        sweep(b, i, h);
        (void)vy_tree_move(s->tree, s->proxy_of[i], &s->bounds[i], vec3_scale(h, b->state[i].velocity), NULL);
    }
    if (vy_tree_pairs(s->tree, s->pairs, s->pair_cap, &found) != VY_OK) return 0;
    for (size_t k = 0; k < found; ++k) {
        const uint32_t i = s->slot_of[s->pairs[k].a], j = s->slot_of[s->pairs[k].b];
        if (may_meet(b, i, j)) s->keys[n++] = key_of(i, j);
    }
    for (uint32_t i = 0; i < b->limit; ++i) { // planes and height fields meet everyone
        const vy_shape *shape = &b->slots[i].shape;
        if (shape->kind == VY_SHAPE_NONE || s->proxy_of[i] >= 0 || vy_shape_is_convex(shape)) continue;
        for (uint32_t j = 0; j < b->limit; ++j) {
            if (s->proxy_of[j] < 0 || !may_meet(b, i, j)) continue;
            if (n == s->pair_cap) return 0;
            s->keys[n++] = key_of(i, j);
        }
    }
    sort(s->keys, s->sorted, n);
    *count = n;
    return 1;
}

static double mean(double a, double b) { return real_sqrt(a * b); }

// Two unit vectors across n.
static void across(vec3 n, vec3 *t1, vec3 *t2)
{
    const vec3 k = real_abs(n.x) < 0.6 ? vec3_make(1.0, 0.0, 0.0) : vec3_make(0.0, 1.0, 0.0);
    const vec3 t = vec3_cross(n, k);
    *t1 = vec3_scale(1.0 / vec3_length(t), t);
    *t2 = vec3_cross(n, *t1);
}

static void fill_points(const vy_bodies *b, const vy_manifold *m, contact *c)
{
    const body_state *sa = &b->contacts->start[c->a], *sb = &b->contacts->start[c->b];
    c->apart = vec3_sub(sb->position, sa->position);
    for (int i = 0; i < m->count; ++i) {
        const vec3 from = vec3_sub(m->points[i].point_a, sa->position);
        c->p[i] = (contact_point){
            .on_a = quat_unrotate(sa->attitude, from), .from_a = from, .gap = -m->points[i].depth};
    }
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
    c->load = m->load;
    c->drag_1 = vec3_dot(m->friction, c->t1);
    c->drag_2 = vec3_dot(m->friction, c->t2);
    if (c->rolling > 0.0) { // else the twist is about the normal, and across it there is rounding alone
        c->roll_1 = vec3_dot(m->twist, c->t1);
        c->roll_2 = vec3_dot(m->twist, c->t2);
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

int vy_contacts_find(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    size_t pairs = 0;
    uint64_t known = 0;
    s->count = 0;
    if (!list_pairs(b, h, &pairs)) return 0;
    for (size_t k = 0; k < pairs; ++k) {
        const uint32_t i = (uint32_t)(s->keys[k] >> 32), j = (uint32_t)s->keys[k];
        const int bounded = s->proxy_of[i] >= 0 && s->proxy_of[j] >= 0;
        if (bounded && !overlap(&s->bounds[i], &s->bounds[j])) continue;
        const vy_pose pi = body_shape_pose(b, i, &s->start[i]), pj = body_shape_pose(b, j, &s->start[j]);
        const vec3 wi = vec3_sub(b->state[i].position, s->start[i].position),
                   wj = vec3_sub(b->state[j].position, s->start[j].position);
        const double margin =
            vec3_length(vec3_sub(wj, wi)) + (s->turn[i] + s->turn[j]) + 2.0 * b->def.contacts.slop;
        vy_manifold m;
        if (vy_collide_near(&b->slots[i].shape, &pi, &b->slots[j].shape, &pj, margin, &m) != VY_OK ||
            m.count == 0)
            continue;
        if (s->count == b->def.contacts.cap) return 0;
        contact *c = &s->list[s->count++];
        *c = (contact){.a = i, .b = j, .n = m.normal, .count = m.count};
        c->simple =
            b->joints->joined[i] || b->joints->joined[j] || b->def.contacts.solver == VY_SOLVER_IMPULSE;
        c->rigid = !body_is_dynamic(b, i) || !body_is_dynamic(b, j);
        across(c->n, &c->t1, &c->t2);
        fill_points(b, &m, c);
        material_of(b, c);
        while (known < b->contact_count->count && key_of(b->memory[known].a, b->memory[known].b) < s->keys[k])
            ++known;
        if (known < b->contact_count->count && key_of(b->memory[known].a, b->memory[known].b) == s->keys[k])
            recall(&b->memory[known], c);
    }
    return 1;
}
