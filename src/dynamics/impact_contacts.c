// impact_contacts.c - the contacts of bodies that are stepped from impact to impact: the pairs that are near
// each other, their manifolds at that moment, and what they add up to over the step.
#include "base/assert.h"
#include "dynamics/impacts.h"
#include "geometry/broadphase.h"
#include <math.h>

static void add_nearby_body(void *self, int proxy)
{
    nearby_bodies *nearby = self;
    const uint32_t j = nearby->b->contacts->slot_of[proxy];
    if (j != nearby->body) nearby->slots[nearby->count++] = j;
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
        uint32_t place = n;
        for (; place > 0 && out->slots[place - 1] > j; --place) out->slots[place] = out->slots[place - 1];
        out->slots[place] = j;
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
    uint32_t place = g->key_count++;
    for (; place > 0 && g->keys[place - 1] > key; --place) g->keys[place] = g->keys[place - 1];
    g->keys[place] = key;
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
static int manifolds_of_pair(const impact_group *g, uint64_t key, vy_manifold *manifolds)
{
    const vy_bodies *b = g->b;
    const uint32_t i = (uint32_t)(key >> 32), j = (uint32_t)key;
    const pair_limits limits = vy_impact_limits(b, i, j);
    const int uses_impulses = b->def.contacts.solver == VY_CONTACT_SOLVER_IMPULSE,
              uses_closest_points = g->use_closest_points && g->closest_points_key == key;
    const double margin = uses_impulses ? 2.0 * limits.target : limits.margin;
    const vy_pose pose_a = body_shape_pose(b, i, &b->contacts->start_state[i]),
                  pose_b = body_shape_pose(b, j, &b->contacts->start_state[j]);
    int count = 0;
    if (has_field(b, i, j)) {
        if (vy_collide_all(&b->slots[i].shape, &pose_a, &b->slots[j].shape, &pose_b, margin, manifolds,
                           &count) != VY_OK)
            return 0;
        return uses_closest_points && count > 1 ? 1 : count;
    }
    const vy_separation nearest = separation_of(b, i, j);
    if (nearest.value > margin) return 0;
    if (!uses_closest_points &&
        vy_collide_all(&b->slots[i].shape, &pose_a, &b->slots[j].shape, &pose_b, limits.margin, manifolds,
                       &count) == VY_OK &&
        count > 0 && vec3_dot(manifolds->normal, nearest.normal) > 0.9)
        return 1;
    manifolds->normal = nearest.normal;
    manifolds->count = 1;
    manifolds->points[0] = (vy_manifold_point){nearest.witness[0], nearest.witness[1], -nearest.value, 0};
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
        const vy_separation nearest = separation_of(b, i, j);
        if (nearest.value > -limits.depth || nearest.value < -limits.max_depth) continue;
        const double distance = -nearest.value - 0.5 * limits.depth;
        const uint32_t moved_body = vy_impact_is_member(g, i) ? i : j;
        body_state *s = &b->contacts->start_state[moved_body];
        const vec3 displacement = vec3_scale(moved_body == i ? -distance : distance, nearest.normal);
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
        const vy_sweep_path path_at_rest = {s->start_state[i].position, b->slots[i].centroid, vec3_zero(),
                                            s->start_state[i].attitude, vec3_zero()};
        const vy_bounds box = vy_impact_bounds(b, i, &path_at_rest, MARGIN_FRACTION * s->thickness[i]);
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
    uint32_t kept_count = 0;
    s->count = 0;
    for (uint32_t n = 0; n < g->key_count; ++n) {
        vy_manifold manifolds[VY_COLLIDE_MANIFOLDS];
        const int count = manifolds_of_pair(g, g->keys[n], manifolds);
        const uint32_t i = (uint32_t)(g->keys[n] >> 32), j = (uint32_t)g->keys[n];
        for (int k = 0; k < count && s->count < IMPACT_CONTACTS; ++k) {
            s->headers[s->count] =
                vy_contact_make(b, i, j, &manifolds[k], restitution_threshold(b, h), &s->contacts[s->count]);
            if (g->has_joints) vy_impact_clear_impulses(&s->contacts[s->count]);
            s->count += 1;
        }
        if (count > 0) g->keys[kept_count++] = g->keys[n];
    }
    g->key_count = kept_count;
}

// The contact of the step so far that a contact of an interval continues with, or where it would be put in:
// by slots, of one pair the one with the most similar normal.
static uint32_t find_step_contact(const contact_system *s, const contact *c, int *is_found)
{
    const uint64_t key = contact_key(c->a, c->b);
    uint32_t n = 0;
    double max_cosine = SIMILAR_NORMAL;
    *is_found = 0;
    while (n < s->impact_count && contact_key(s->impact_contacts[n].a, s->impact_contacts[n].b) < key) ++n;
    uint32_t best = n;
    for (; n < s->impact_count && contact_key(s->impact_contacts[n].a, s->impact_contacts[n].b) == key; ++n) {
        const double cosine = vec3_dot(s->impact_contacts[n].normal, c->normal);
        if (cosine > max_cosine) {
            max_cosine = cosine;
            best = n;
            *is_found = 1;
        }
    }
    if (!*is_found && n - best == VY_COLLIDE_MANIFOLDS) *is_found = 1; // the first of too many
    return *is_found ? best : n;
}

void vy_impact_add_contacts(impact_group *g, double h)
{
    contact_system *s = g->b->contacts;
    const int substeps = contacts_substeps(h, g->b->def.contacts.substep),
              step_substeps = contacts_substeps(g->h, g->b->def.contacts.substep);
    const double substep_ratio = (g->h / step_substeps) / (h / substeps); // of the lengths of sub-steps
    for (uint32_t n = 0; n < s->impact_count; ++n) { // ended contacts have no warm start in the next step
        for (int k = 0; k < VY_MANIFOLD_POINTS; ++k) s->impact_contacts[n].points[k].normal_impulse = 0.0;
        s->impact_contacts[n].tangent_impulse_1 = s->impact_contacts[n].tangent_impulse_2 = 0.0;
        s->impact_contacts[n].twist_impulse = 0.0;
    }
    for (uint32_t k = 0; k < s->count; ++k) {
        if (s->headers[k].impulse_points == 0) continue;
        int is_found;
        const uint32_t n = find_step_contact(s, &s->contacts[k], &is_found);
        if (!is_found && s->impact_count == IMPACT_CONTACTS) continue;
        contact c = s->contacts[k];
        for (int p = 0; p < c.point_count; ++p) c.points[p].normal_impulse *= substep_ratio;
        c.tangent_impulse_1 *= substep_ratio;
        c.tangent_impulse_2 *= substep_ratio;
        c.twist_impulse *= substep_ratio;
        if (is_found) {
            c.total_impulse = vec3_add(c.total_impulse, s->impact_contacts[n].total_impulse);
            const contact *previous = &s->impact_contacts[n];
            double min_velocity = 0.0; // the fastest impact of the step is the one that is reported
            for (int p = 0; p < previous->point_count; ++p) {
                if (previous->total_normal_impulse[p] != 0.0)
                    min_velocity = real_min(min_velocity, previous->relative_velocity[p]);
            }
            for (int p = 0; p < c.point_count; ++p)
                c.relative_velocity[p] = real_min(c.relative_velocity[p], min_velocity);
        } else {
            const size_t tail_count = s->impact_count - n;
            memmove(s->impact_contacts + n + 1, s->impact_contacts + n,
                    tail_count * sizeof *s->impact_contacts);
            memmove(s->impact_headers + n + 1, s->impact_headers + n, tail_count * sizeof *s->impact_headers);
            s->impact_count += 1;
        }
        s->impact_contacts[n] = c;
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
    uint64_t last_key = 0;
    uint32_t manifold_index = 0;
    for (uint32_t n = 0; n < s->impact_count; ++n) {
        const contact c = s->impact_contacts[n]; // a copy: arrays move when there is more memory
        const uint64_t key = contact_key(c.a, c.b);
        uint32_t place = 0;
        manifold_index = n > 0 && key == last_key ? manifold_index + 1 : 0;
        last_key = key;
        while (place < s->count && contact_key(s->headers[place].a, s->headers[place].b) < key) ++place;
        for (uint32_t k = 0; k < manifold_index; ++k) ++place; // after those of the pair that are in already
        if (place == s->count || contact_key(s->headers[place].a, s->headers[place].b) != key) {
            if (vy_contacts_reserve(b, 0, (size_t)s->count + 1) != VY_OK) return 0;
            memmove(s->contacts + place + 1, s->contacts + place, (s->count - place) * sizeof *s->contacts);
            memmove(s->headers + place + 1, s->headers + place, (s->count - place) * sizeof *s->headers);
            memmove(s->sums + place + 1, s->sums + place, (s->count - place) * sizeof *s->sums);
            s->count += 1;
        }
        s->contacts[place] = c;
        s->headers[place] = s->impact_headers[n];
        s->solve_mode_mask[c.a] |= SOLVE_WARM;
        s->solve_mode_mask[c.b] |= SOLVE_WARM;
    }
    return 1;
}
