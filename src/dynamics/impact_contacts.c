// impact_contacts.c - the contacts of bodies that are stepped from impact to impact: the pairs that are near
// each other, their manifolds at that moment, and what they add up to over the step.
#include "base/assert.h"
#include "dynamics/impacts.h"
#include "geometry/broadphase.h"
#include <math.h>

static void add_nearby_body(void *self, int proxy)
{
    nearby_bodies *l = self;
    const uint32_t j = l->b->contacts->slot_of[proxy];
    if (j != l->body) l->slots[l->count++] = j;
}

void vy_impact_list_near(const vy_bodies *b, uint32_t i, const vy_bounds *box, nearby_bodies *out)
{
    contact_system *s = b->contacts;
    out->b = b;
    out->body = i;
    out->count = 0;
    out->slots = s->near_bodies;
    vy_tree_query_box(s->tree, box, add_nearby_body, out);
    for (uint32_t n = 0; n < s->ground_count; ++n) out->slots[out->count++] = s->ground_bodies[n];
    for (uint32_t n = 1; n < out->count; ++n) {
        const uint32_t j = out->slots[n];
        uint32_t at = n;
        for (; at > 0 && out->slots[at - 1] > j; --at) out->slots[at] = out->slots[at - 1];
        out->slots[at] = j;
    }
}

int vy_impact_is_solved(const impact_group *g, uint64_t key)
{
    for (uint32_t n = 0; n < g->key_count; ++n) {
        if (g->keys[n] == key) return 1;
    }
    return 0;
}

static void add_key(impact_group *g, uint64_t key)
{
    if (g->key_count == IMPACT_CONTACTS || vy_impact_is_solved(g, key)) return;
    uint32_t at = g->key_count++;
    for (; at > 0 && g->keys[at - 1] > key; --at) g->keys[at] = g->keys[at - 1];
    g->keys[at] = key;
}

// Far apart where a state has overflowed: the step's end finds it and ends the run with its reason.
static vy_separation separation_of(const vy_bodies *b, uint32_t i, uint32_t j)
{
    const body_state *si = &b->contacts->start_state[i], *sj = &b->contacts->start_state[j];
    const vy_sweep_path pi = {si->position, b->slots[i].centroid, vec3_zero(), si->attitude, vec3_zero()},
                        pj = {sj->position, b->slots[j].centroid, vec3_zero(), sj->attitude, vec3_zero()};
    if (!vy_impact_path_is_bounded(&pi) || !vy_impact_path_is_bounded(&pj))
        return (vy_separation){.value = (double)INFINITY};
    return vy_sweep_separation(&b->slots[i].shape, &pi, &b->slots[j].shape, &pj, 0.0);
}

static int has_field(const vy_bodies *b, uint32_t i, uint32_t j)
{
    return b->slots[i].shape.kind == VY_SHAPE_HEIGHT_FIELD || b->slots[j].shape.kind == VY_SHAPE_HEIGHT_FIELD;
}

// The contacts of a pair, where it is near enough: its manifolds, or the nearest points where there is none.
static int manifolds_of_pair(const impact_group *g, uint64_t key, vy_manifold *m)
{
    const vy_bodies *b = g->b;
    const uint32_t i = (uint32_t)(key >> 32), j = (uint32_t)key;
    const pair_limits limits = vy_impact_limits(b, i, j);
    const int impulses = b->def.contacts.solver == VY_CONTACT_SOLVER_IMPULSE,
              closest_points = g->use_closest_points && g->closest_points_key == key;
    const double margin = impulses ? 2.0 * limits.target : limits.margin;
    const vy_pose pose_a = body_shape_pose(b, i, &b->contacts->start_state[i]),
                  pose_b = body_shape_pose(b, j, &b->contacts->start_state[j]);
    int count = 0;
    if (has_field(b, i, j)) {
        if (vy_collide_all(&b->slots[i].shape, &pose_a, &b->slots[j].shape, &pose_b, margin, m, &count) !=
            VY_OK)
            return 0;
        return closest_points && count > 1 ? 1 : count;
    }
    const vy_separation at = separation_of(b, i, j);
    if (at.value > margin) return 0;
    if (!closest_points &&
        vy_collide_all(&b->slots[i].shape, &pose_a, &b->slots[j].shape, &pose_b, limits.margin, m, &count) ==
            VY_OK &&
        count > 0 && vec3_dot(m->normal, at.normal) > 0.9)
        return 1;
    m->normal = at.normal;
    m->count = 1;
    m->points[0] = (vy_manifold_point){at.witness[0], at.witness[1], -at.value, 0};
    return 1;
}

static void conserve_energy(vy_bodies *b, uint32_t i, vec3 displacement)
{
    body_state *s = &b->contacts->start_state[i];
    const double potential_gain = -b->slots[i].mass * vec3_dot(b->def.gravity, displacement),
                 energy = 0.5 * (b->slots[i].mass * vec3_dot(s->velocity, s->velocity) +
                                 vec3_dot(s->rate, mat3_mul_vec(b->params[i].inertia, s->rate)));
    if (!(potential_gain > 0.0 && energy > 0.0)) return;
    const double scale = real_sqrt(real_max(1.0 - potential_gain / energy, 0.0));
    s->velocity = vec3_scale(scale, s->velocity);
    s->rate = vec3_scale(scale, s->rate);
}

// A body that has reached the accepted depth in an immovable one is moved out by half of that depth: soft
// contacts are too slow for surfaces that rotate into each other a thousand times a second.
// Its motion pays for what lifts it.
static void depenetrate(impact_group *g)
{
    vy_bodies *b = g->b;
    for (uint32_t n = 0; n < g->key_count; ++n) {
        const uint32_t i = (uint32_t)(g->keys[n] >> 32), j = (uint32_t)g->keys[n];
        if (vy_impact_is_member(g, i) && vy_impact_is_member(g, j)) continue;
        const pair_limits limits = vy_impact_limits(b, i, j);
        const vy_separation at = separation_of(b, i, j);
        if (at.value > -limits.depth || at.value < -limits.max_depth) continue;
        const double distance = -at.value - 0.5 * limits.depth;
        const uint32_t moved_body = vy_impact_is_member(g, i) ? i : j;
        body_state *s = &b->contacts->start_state[moved_body];
        const vec3 displacement = vec3_scale(moved_body == i ? -distance : distance, at.normal);
        s->position = vec3_add(s->position, displacement);
        conserve_energy(b, moved_body, displacement);
        if (b->joints->first_joint[moved_body] != 0) b->disturbed[moved_body] = 1; // its joints come along
    }
}

static void list_pairs(impact_group *g)
{
    vy_bodies *b = g->b;
    contact_system *s = b->contacts;
    g->key_count = 0;
    for (uint32_t n = 0; n < g->count; ++n) {
        const uint32_t i = g->bodies[n];
        const vy_sweep_path still = {s->start_state[i].position, b->slots[i].centroid, vec3_zero(),
                                     s->start_state[i].attitude, vec3_zero()};
        const vy_bounds box = vy_impact_bounds(b, i, &still, MARGIN_FRACTION * s->thickness[i]);
        nearby_bodies nearby;
        vy_impact_list_near(b, i, &box, &nearby);
        for (uint32_t m = 0; m < nearby.count; ++m) {
            const uint32_t j = nearby.slots[m];
            const int is_outside = body_is_dynamic(b, j) && s->was_awake[j] && !vy_impact_is_member(g, j);
            if (!is_outside && vy_contacts_may_collide(b, i, j)) add_key(g, contact_key(i, j));
        }
        for (uint32_t m = n + 1; m < g->count; ++m) { // their boxes in the tree may be elsewhere
            if (vy_contacts_may_collide(b, i, g->bodies[m])) add_key(g, contact_key(i, g->bodies[m]));
        }
    }
}

void vy_impact_collide_group(impact_group *g, double h)
{
    vy_bodies *b = g->b;
    contact_system *s = b->contacts;
    list_pairs(g);
    depenetrate(g);
    uint32_t kept = 0;
    s->count = 0;
    for (uint32_t n = 0; n < g->key_count; ++n) {
        vy_manifold m[VY_COLLIDE_MANIFOLDS];
        const int count = manifolds_of_pair(g, g->keys[n], m);
        const uint32_t i = (uint32_t)(g->keys[n] >> 32), j = (uint32_t)g->keys[n];
        for (int k = 0; k < count && s->count < IMPACT_CONTACTS; ++k) {
            s->headers[s->count] =
                vy_contact_make(b, i, j, &m[k], restitution_threshold(b, h), &s->contacts[s->count]);
            if (g->has_joints) vy_impact_clear_impulses(&s->contacts[s->count]);
            s->count += 1;
        }
        if (count > 0) g->keys[kept++] = g->keys[n];
    }
    g->key_count = kept;
}

// The contact of the step so far that a contact of an interval continues with, or where it would be put in:
// by slots, of one pair the one with the most similar normal.
static uint32_t find_total(const contact_system *s, const contact *c, int *found)
{
    const uint64_t key = contact_key(c->a, c->b);
    uint32_t n = 0;
    double max_cosine = SIMILAR_NORMAL;
    *found = 0;
    while (n < s->impact_count && contact_key(s->impact_total[n].a, s->impact_total[n].b) < key) ++n;
    uint32_t best = n;
    for (; n < s->impact_count && contact_key(s->impact_total[n].a, s->impact_total[n].b) == key; ++n) {
        const double cosine = vec3_dot(s->impact_total[n].normal, c->normal);
        if (cosine > max_cosine) {
            max_cosine = cosine;
            best = n;
            *found = 1;
        }
    }
    if (!*found && n - best == VY_COLLIDE_MANIFOLDS) *found = 1; // the first of too many
    return *found ? best : n;
}

void vy_impact_add_contacts(impact_group *g, double h)
{
    contact_system *s = g->b->contacts;
    const int substeps = contacts_substeps(h, g->b->def.contacts.substep),
              step_substeps = contacts_substeps(g->h, g->b->def.contacts.substep);
    const double ratio = (g->h / step_substeps) / (h / substeps); // of the lengths of sub-steps
    for (uint32_t n = 0; n < s->impact_count; ++n) { // ended contacts have no warm start in the next step
        for (int k = 0; k < VY_MANIFOLD_POINTS; ++k) s->impact_total[n].points[k].normal_impulse = 0.0;
        s->impact_total[n].tangent_impulse_1 = s->impact_total[n].tangent_impulse_2 = 0.0;
        s->impact_total[n].twist_impulse = 0.0;
    }
    for (uint32_t k = 0; k < s->count; ++k) {
        if (s->headers[k].impulse_points == 0) continue;
        int found;
        const uint32_t n = find_total(s, &s->contacts[k], &found);
        if (!found && s->impact_count == IMPACT_CONTACTS) continue;
        contact c = s->contacts[k];
        for (int p = 0; p < c.point_count; ++p) c.points[p].normal_impulse *= ratio;
        c.tangent_impulse_1 *= ratio;
        c.tangent_impulse_2 *= ratio;
        c.twist_impulse *= ratio;
        if (found) {
            c.total_impulse = vec3_add(c.total_impulse, s->impact_total[n].total_impulse);
            const contact *before = &s->impact_total[n];
            double min_velocity = 0.0; // the fastest impact of the step is the one that is reported
            for (int p = 0; p < before->point_count; ++p) {
                if (before->total_normal_impulse[p] != 0.0)
                    min_velocity = real_min(min_velocity, before->relative_velocity[p]);
            }
            for (int p = 0; p < c.point_count; ++p)
                c.relative_velocity[p] = real_min(c.relative_velocity[p], min_velocity);
        } else {
            const size_t tail_count = s->impact_count - n;
            memmove(s->impact_total + n + 1, s->impact_total + n, tail_count * sizeof *s->impact_total);
            memmove(s->impact_headers + n + 1, s->impact_headers + n, tail_count * sizeof *s->impact_headers);
            s->impact_count += 1;
        }
        s->impact_total[n] = c;
        s->impact_headers[n] = s->headers[k];
    }
}

int vy_impact_merge_contacts(impact_group *g)
{
    vy_bodies *b = g->b;
    contact_system *s = b->contacts;
    for (uint32_t k = 0; k < s->count; ++k) {
        const contact_header *c = &s->headers[k];
        if (vy_impact_is_member(g, c->a) || vy_impact_is_member(g, c->b)) s->headers[k].impulse_points = 0;
    }
    uint64_t last = 0;
    uint32_t manifold_index = 0;
    for (uint32_t n = 0; n < s->impact_count; ++n) {
        const contact c = s->impact_total[n]; // a copy: arrays move when there is more memory
        const uint64_t key = contact_key(c.a, c.b);
        uint32_t at = 0;
        manifold_index = n > 0 && key == last ? manifold_index + 1 : 0;
        last = key;
        while (at < s->count && contact_key(s->headers[at].a, s->headers[at].b) < key) ++at;
        for (uint32_t k = 0; k < manifold_index; ++k) ++at; // after those of the pair that are in already
        if (at == s->count || contact_key(s->headers[at].a, s->headers[at].b) != key) {
            if (vy_contacts_reserve(b, 0, (size_t)s->count + 1) != VY_OK) return 0;
            memmove(s->contacts + at + 1, s->contacts + at, (s->count - at) * sizeof *s->contacts);
            memmove(s->headers + at + 1, s->headers + at, (s->count - at) * sizeof *s->headers);
            memmove(s->sums + at + 1, s->sums + at, (s->count - at) * sizeof *s->sums);
            s->count += 1;
        }
        s->contacts[at] = c;
        s->headers[at] = s->impact_headers[n];
        s->solve_mode_mask[c.a] |= SOLVE_WARM;
        s->solve_mode_mask[c.b] |= SOLVE_WARM;
    }
    return 1;
}
