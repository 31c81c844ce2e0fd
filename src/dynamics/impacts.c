// impacts.c - continuous collision: no body passes through another within a step.
//
// Contacts know the surfaces as they faced each other at the start of the step. A body that moves or rotates
// by more than a fraction of its own thickness may leave them behind, so its path through the step is
// followed by conservative advancement (geometry/sweep.h), against every body it may hit. Where it penetrates
// another by more than a small fraction of the thinner one, the bodies that take part go back to the start of
// the step and are stepped from impact to impact: up to the first touch, then with the manifolds of that
// moment to the next one. So every accepted state is reached along a collision-free path.
#include "dynamics/impacts.h"
#include "base/assert.h"
#include "geometry/broadphase.h"

#define FAST_FRACTION  0.5 // of its own thickness: a body that moves less in a step cannot tunnel
#define CRUSH_FRACTION 0.2 // of it: a body pressed deeper than this by a kinematic body is crushed
#define SHORT_INTERVAL \
    1e-3 // of the step: after a shorter interval the pair that hit has its closest points as contact
#define ZERO_INTERVAL 1e-9 // of the step: counts as no progress
enum { MAX_INTERVALS = 1000, MAX_ZERO_INTERVALS = 12, MAX_RETRIES = 6, MAX_REGROUPS = IMPACT_BODIES };

enum { MIN_PARALLEL_BODIES = 512 }; // below this, not worth waking threads

// ---- fast bodies

static int has_shape(const vy_bodies *b, uint32_t i) { return b->slots[i].shape.kind != VY_SHAPE_NONE; }

int vy_impacts_is_fast(const vy_bodies *b, uint32_t i, double h)
{
    const contact_system *s = b->contacts;
    if (s->proxy_of[i] < 0 || (!b->awake[i] && !body_is_kinematic(b, i))) return 0;
    const body_state *start = &s->start_state[i], *end = &b->state[i];
    const double rate2 = real_max(vec3_dot(start->rate, start->rate), vec3_dot(end->rate, end->rate)),
                 radius = vy_impact_rotation_radius(b, i, b->slots[i].centroid),
                 limit = FAST_FRACTION * s->thickness[i];
    const vec3 displacement =
        body_is_kinematic(b, i) ? vec3_scale(h, start->velocity) : vec3_sub(end->position, start->position);
    double distance2 = vec3_dot(displacement, displacement);
    if (b->joints->first_joint[i] != 0 && !body_is_kinematic(b, i)) // it may be back where it was
        distance2 = real_max(distance2, h * h *
                                            real_max(vec3_dot(start->velocity, start->velocity),
                                                     vec3_dot(end->velocity, end->velocity)));
    const double angle2 = h * h * rate2 * radius * radius;
    if (2.01 * (distance2 + angle2) < limit * limit) return 0; // (x + y)^2 is no more than 2 (x^2 + y^2)
    return distance2 + angle2 + 2.0 * real_sqrt(distance2 * angle2) > limit * limit;
}

int vy_impacts_collide(const vy_bodies *b, uint32_t i, uint32_t j, double h)
{
    const vy_sweep_path pi = vy_impact_path(b, i, h), pj = vy_impact_path(b, j, h);
    vy_separation hit;
    return vy_impact_time(b, i, j, &pi, &pj, 0, &hit);
}

static void mark_fast(vy_bodies *b, void *self, size_t first, size_t last)
{
    for (size_t i = first; i < last; ++i)
        b->contacts->marked[i] = (unsigned char)vy_impacts_is_fast(b, (uint32_t)i, *(const double *)self);
}

// List fast bodies, and how far the others move at most.
static uint32_t list_fast(vy_bodies *b, double h, double *max_slow_displacement)
{
    contact_system *s = b->contacts;
    uint32_t count = 0;
    vy_bodies_parallel_for(b, b->slot_count, MIN_PARALLEL_BODIES, mark_fast, &h);
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (s->marked[i]) s->fast_bodies[count++] = i;
    }
    *max_slow_displacement = 0.0;
    if (count == 0) return 0;
    for (uint32_t i = 0, n = 0; i < b->slot_count; ++i) {
        if (n < count && s->fast_bodies[n] == i) {
            ++n;
            continue;
        }
        if (b->awake[i] && s->proxy_of[i] >= 0)
            *max_slow_displacement = real_max(*max_slow_displacement, FAST_FRACTION * s->thickness[i]);
    }
    return count;
}

// The same of those that a fast body may collide with: others change nothing for it.
static double slow_displacement_around(const vy_bodies *b, uint32_t i, double max_slow_displacement)
{
    const contact_system *s = b->contacts;
    double max_displacement = 0.0;
    if (b->filter_count == 0) return max_slow_displacement;
    for (uint32_t j = 0; j < b->slot_count; ++j) {
        if (b->awake[j] && s->proxy_of[j] >= 0 && !s->is_fast[j] && filters_collide(b, i, j))
            max_displacement = real_max(max_displacement, FAST_FRACTION * s->thickness[j]);
    }
    return max_displacement;
}

static void list_ground_bodies(vy_bodies *b)
{
    contact_system *s = b->contacts;
    s->ground_count = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (has_shape(b, i) && s->proxy_of[i] < 0 && !vy_shape_is_convex(&b->slots[i].shape))
            s->ground_bodies[s->ground_count++] = i;
    }
}

// Two bodies of which one penetrates the other are stepped again, together where both move.
static void join_impact(vy_bodies *b, uint32_t i, uint32_t j)
{
    uint32_t *const parent = b->contacts->impact_parent;
    if (b->awake[i] && b->awake[j]) islands_join(parent, i, j);
    if (b->awake[i]) b->contacts->has_impact[i] = 1;
    if (b->awake[j]) b->contacts->has_impact[j] = 1;
}

// Check a fast body against those it may hit. Returns how many it penetrates.
static uint32_t check_fast_body(vy_bodies *b, uint32_t i, double h, double max_slow_displacement)
{
    contact_system *s = b->contacts;
    const vy_sweep_path path = vy_impact_path(b, i, h);
    const double deviation = vy_impact_path_deviation(b, i, &path, h);
    const double slow_displacement = slow_displacement_around(b, i, max_slow_displacement);
    const vy_bounds box = vy_impact_bounds(b, i, &path, slow_displacement + deviation);
    uint32_t impact_count = 0;
    nearby_bodies nearby;
    vy_impact_list_near(b, i, &box, &nearby);
    for (uint32_t n = 0; n < nearby.count; ++n) {
        const uint32_t j = nearby.slots[n];
        vy_separation hit;
        if ((j < i && s->is_fast[j]) || !vy_contacts_may_collide(b, i, j)) continue;
        const vy_sweep_path other_path = vy_impact_path(b, j, h);
        const double deviation_sum = deviation + vy_impact_path_deviation(b, j, &other_path, h);
        if (s->proxy_of[j] >= 0) {
            const vy_bounds other_box = vy_impact_bounds(b, j, &other_path, deviation_sum - deviation);
            if (!bounds_overlap(&box, &other_box)) continue;
        }
        // Where paths say too little, they are followed in parts.
        if (deviation_sum <= vy_impact_pair_deviation_limit(b, i, j) &&
            !vy_impact_time(b, i, j, &path, &other_path, 1, &hit))
            continue;
        join_impact(b, i, j);
        ++impact_count;
    }
    return impact_count;
}

// Check fast bodies against each other: contacts may have moved them out of their boxes in the tree.
static uint32_t check_fast_pairs(vy_bodies *b, uint32_t count, double h)
{
    contact_system *s = b->contacts;
    uint32_t impact_count = 0;
    for (uint32_t n = 0; n < count; ++n) {
        const vy_sweep_path p = vy_impact_path(b, s->fast_bodies[n], h);
        s->fast_bounds[n] =
            vy_impact_bounds(b, s->fast_bodies[n], &p, vy_impact_path_deviation(b, s->fast_bodies[n], &p, h));
    }
    for (uint32_t n = 0; n < count; ++n) {
        for (uint32_t m = n + 1; m < count; ++m) {
            const uint32_t i = s->fast_bodies[n], j = s->fast_bodies[m];
            vy_separation hit;
            if (!bounds_overlap(&s->fast_bounds[n], &s->fast_bounds[m]) || !vy_contacts_may_collide(b, i, j))
                continue;
            const vy_sweep_path pi = vy_impact_path(b, i, h), pj = vy_impact_path(b, j, h);
            const double deviation =
                vy_impact_path_deviation(b, i, &pi, h) + vy_impact_path_deviation(b, j, &pj, h);
            if (deviation <= vy_impact_pair_deviation_limit(b, i, j) &&
                !vy_impact_time(b, i, j, &pi, &pj, 1, &hit))
                continue;
            join_impact(b, i, j);
            ++impact_count;
        }
    }
    return impact_count;
}

// ---- an interval of a group: free step, collide, solve, sweep

static void step_group_free(impact_group *g, double h)
{
    vy_bodies *b = g->b;
    contact_system *s = b->contacts;
    for (uint32_t n = 0; n < g->count; ++n) b->state[g->bodies[n]] = s->start_state[g->bodies[n]];
    vy_impact_restore_work(g);
    b->joints->elapsed = g->t;
    if (!b->external_integration) {
        (void)vy_bodies_step_free(b, h); // only the group's bodies are awake
        return;
    }
    if (g->has_joints) vy_impact_step_jointed_free(b, h);
    for (uint32_t n = 0; n < g->count; ++n) {
        const uint32_t i = g->bodies[n];
        if (b->joints->first_joint[i] != 0) continue;
        const body_state kicked = body_kicked(&b->params[i], &b->state[i], 0.5 * h, &g->wrench[n]);
        const body_state drifted = body_drifted(&b->params[i], &kicked, h);
        b->state[i] = body_kicked(&b->params[i], &drifted, 0.5 * h, &g->wrench[n]);
    }
}

// Kinematic bodies as they are at the time of the group.
static void move_kinematic(impact_group *g)
{
    vy_bodies *b = g->b;
    contact_system *s = b->contacts;
    for (uint32_t n = 0; n < s->kinematic_list_count; ++n) {
        const uint32_t i = s->kinematic_bodies[n];
        s->start_state[i] = b->state[i] = body_step_kinematic(&s->kinematic_start[n], g->t);
    }
}

// Solve the contacts of the group over `h` seconds. All of its bodies are one island.
static void solve_group(impact_group *g, double h)
{
    vy_bodies *b = g->b;
    contact_system *s = b->contacts;
    if (b->def.contacts.solver == VY_CONTACT_SOLVER_IMPULSE) {
        vy_impact_apply_impulses(g);
        step_group_free(g, h);
        return;
    }
    step_group_free(g, h);
    if (g->has_joints && !vy_impact_touches(g, h)) s->count = g->key_count = 0;
    if (s->count == 0) return;
    const contact_solve_mode solve_mode = g->has_joints   ? SOLVE_JOINTED
                                          : s->count == 1 ? SOLVE_WARM // one is solved at once
                                                          : SOLVE_COLD;
    memset(s->solve_mode_mask, 0, b->slot_count * sizeof *s->solve_mode_mask);
    for (uint32_t i = 0; i < b->slot_count; ++i) s->parent[i] = i;
    for (uint32_t n = 0; n < g->count; ++n) s->parent[g->bodies[n]] = g->bodies[0];
    s->island_solve_mode[g->bodies[0]] = (int)solve_mode;
    for (uint32_t k = 0; k < s->count; ++k) {
        contact_header *c = &s->headers[k];
        c->solve_mode = (uint8_t)solve_mode;
        c->island = find_island(s, c);
        c->impulse_points = 0;
        s->solve_mode_mask[c->a] |= (int)solve_mode;
        s->solve_mode_mask[c->b] |= (int)solve_mode;
    }
    if (g->has_joints) {
        vy_jointed_solve(b, h);
    } else {
        vy_contacts_solve(b, h, 0); // from impact to impact every interval has manifolds of its own
    }
}

// The path of a body of no group, over a part of the step.
static vy_sweep_path outside_body_path(const impact_group *g, uint32_t j, double h)
{
    vy_sweep_path path = vy_impact_path(g->b, j, g->h);
    const double start_fraction = g->t / g->h, fraction = h / g->h;
    const vy_pose pose = vy_sweep_pose(&path, start_fraction);
    path.center = vec3_add_scaled(path.center, start_fraction, path.displacement);
    path.attitude = pose.rotation;
    path.displacement = vec3_scale(fraction, path.displacement);
    path.rotation_vector = vec3_scale(fraction, path.rotation_vector);
    return path;
}

// Sweep the group over the interval. Returns the fraction of it until the first impact: 1 when there is none.
static double sweep_group(impact_group *g, double h, double max_slow_displacement)
{
    vy_bodies *b = g->b;
    contact_system *s = b->contacts;
    double first_hit = 1.0;
    for (uint32_t n = 0; n < g->count; ++n) {
        const uint32_t i = g->bodies[n];
        vy_sweep_path path = vy_impact_path(b, i, h);
        const vy_bounds box = vy_impact_bounds(b, i, &path, max_slow_displacement);
        nearby_bodies nearby;
        vy_impact_list_near(b, i, &box, &nearby);
        for (uint32_t m = 0; m < nearby.count + g->count; ++m) {
            const uint32_t j = m < nearby.count ? nearby.slots[m] : g->bodies[m - nearby.count];
            if (j == i || (m < nearby.count && vy_impact_is_member(g, j)) || (m >= nearby.count && j < i) ||
                !vy_contacts_may_collide(b, i, j))
                continue;
            const int is_outside = body_is_dynamic(b, j) && s->was_awake[j] && !vy_impact_is_member(g, j);
            const vy_sweep_path other_path =
                is_outside ? outside_body_path(g, j, h) : vy_impact_path(b, j, h);
            if (s->proxy_of[j] >= 0) {
                const vy_bounds other_box = vy_impact_bounds(b, j, &other_path, 0.0);
                if (!bounds_overlap(&box, &other_box)) continue;
            }
            const uint64_t key = contact_key(i, j);
            vy_separation hit;
            const int is_solved = vy_impact_is_solved(g, key) || is_outside;
            if (!vy_impact_time(b, i < j ? i : j, i < j ? j : i, i < j ? &path : &other_path,
                                i < j ? &other_path : &path, is_solved, &hit) ||
                hit.t >= first_hit)
                continue;
            first_hit = hit.t;
            g->closest_points_key = key;
            g->outside_body = is_outside ? j + 1u : 0;
            g->hit_kinematic = body_is_kinematic(b, j);
        }
    }
    return first_hit;
}

// The rate of a free body part of the way from one state to another, with the attitude it has there: that of
// its angular momentum, for a body that tumbles keeps that and not its rate; less where that would take more
// energy.
static vec3 rate_between(const body_params *params, const body_state *from, const body_state *to,
                         double fraction, quat attitude)
{
    const vec3 momentum_before = mat3_mul_vec(params->inertia, from->rate),
               momentum_after = mat3_mul_vec(params->inertia, to->rate);
    const vec3 momentum =
        vec3_add_scaled(vec3_scale(1.0 - fraction, quat_rotate(from->attitude, momentum_before)), fraction,
                        quat_rotate(to->attitude, momentum_after));
    const vec3 local_momentum = quat_unrotate(attitude, momentum),
               rate = mat3_mul_vec(params->inverse_inertia, local_momentum);
    const double limit = real_max(vec3_dot(momentum_before, from->rate), vec3_dot(momentum_after, to->rate)),
                 energy = vec3_dot(local_momentum, rate);
    return energy > limit ? vec3_scale(real_sqrt(limit / energy), rate) : rate;
}

// Move the bodies to a fraction of their paths.
static void truncate_group(impact_group *g, double h, double fraction)
{
    vy_bodies *b = g->b;
    for (uint32_t n = 0; n < g->count; ++n) {
        const uint32_t i = g->bodies[n];
        const body_state *start = &b->contacts->start_state[i];
        body_state *end = &b->state[i];
        const vy_sweep_path path = vy_impact_path(b, i, h);
        end->position = vec3_add_scaled(path.center, fraction, path.displacement);
        const quat attitude = vy_sweep_pose(&path, fraction).rotation;
        if (b->joints->first_joint[i] != 0) {
            const vec3 lever = vec3_sub(path.local_center, b->slots[i].centroid);
            end->position = vec3_sub(end->position, quat_rotate(attitude, lever));
            end->rate = vec3_add_scaled(vec3_scale(1.0 - fraction, start->rate), fraction, end->rate);
            b->disturbed[i] = 1; // it is nearly where its joints have it
        } else {
            end->rate = rate_between(&b->params[i], start, end, fraction, attitude);
        }
        end->attitude = attitude;
        end->velocity = vec3_add_scaled(vec3_scale(1.0 - fraction, start->velocity), fraction, end->velocity);
    }
}

// Solve an interval of at most `h` seconds that paths describe. Returns its length.
static double solve_path_interval(impact_group *g, double h)
{
    for (;;) {
        solve_group(g, h);
        if (h <= ZERO_INTERVAL * g->h) return h;
        const double fraction = vy_impact_straight_fraction(g, h);
        if (fraction >= 1.0) return h;
        h *= fraction;
        vy_impact_restore_joints(g, g->b->joints->active_before_flight);
    }
}

// One interval of at most `remaining` seconds. Returns its length.
static double step_interval(impact_group *g, double remaining, double max_slow_displacement)
{
    contact_system *s = g->b->contacts;
    double h = real_min(remaining, g->max_interval), fraction = 1.0;
    move_kinematic(g);
    vy_impact_collide_group(g, h);
    for (int n = 0; n < MAX_RETRIES; ++n) {
        h = solve_path_interval(g, h);
        fraction = sweep_group(g, h, max_slow_displacement);
        if (fraction >= 1.0 || g->outside_body != 0) break;
        if (h * fraction < ZERO_INTERVAL * g->h || n + 1 == MAX_RETRIES) break;
        h *= fraction;
        fraction = 1.0;
        vy_impact_restore_joints(g, g->b->joints->active_before_flight);
    }
    if (g->outside_body != 0) return 0.0;
    if (fraction < 1.0) truncate_group(g, h, fraction);
    if (g->has_joints) vy_impact_save_work(g, fraction);
    g->use_closest_points = h * fraction < SHORT_INTERVAL * g->h;
    g->max_interval = 4.0 * real_max(h * fraction, SHORT_INTERVAL * g->h);
    vy_impact_add_contacts(g, h);
    for (uint32_t n = 0; n < g->count; ++n) s->start_state[g->bodies[n]] = g->b->state[g->bodies[n]];
    return h * fraction;
}

// ---- a group

static void begin_group(impact_group *g)
{
    vy_bodies *b = g->b;
    contact_system *s = b->contacts;
    memset(s->impact_awake, 0, b->slot_count);
    for (uint32_t n = 0; n < g->count; ++n) {
        const uint32_t i = g->bodies[n];
        s->impact_awake[i] = 1;
        if (b->joints->first_joint[i] != 0) b->disturbed[i] = 1;
        g->step_start[n] = s->start_state[i];
        g->previous[n] = b->previous[i];
        if (b->external_integration && b->joints->first_joint[i] == 0) {
            const body_state solved_state = b->state[i];
            b->state[i] = s->flight_state[i];
            g->wrench[n] = mean_wrench(b, i, g->h);
            b->state[i] = solved_state;
        }
    }
    vy_impact_restore_joints(g, b->joints->active_at_step_start);
    vy_impact_clear_work(g);
    b->joints->between_impacts = 1;
    g->t = 0.0;
    g->max_interval = g->h;
    g->use_closest_points = 0;
    g->outside_body = 0;
    s->impact_count = 0;
}

static void end_group(impact_group *g)
{
    vy_bodies *b = g->b;
    contact_system *s = b->contacts;
    for (uint32_t n = 0; n < g->count; ++n) {
        s->start_state[g->bodies[n]] = g->step_start[n];
        b->previous[g->bodies[n]] = g->previous[n];
    }
    b->joints->between_impacts = 0;
    b->joints->elapsed = 0.0;
    g->t = 0.0;
    move_kinematic(g);
}

/// Arrays of the solver while a group has them.
typedef struct saved_arrays {
    unsigned char *awake;
    contact *contacts;
    contact_header *headers;
    uint32_t count;
} saved_arrays;

static saved_arrays swap_arrays(vy_bodies *b)
{
    contact_system *s = b->contacts;
    const saved_arrays saved = {b->awake, s->contacts, s->headers, s->count};
    memcpy(s->was_awake, b->awake, b->slot_count);
    memcpy(s->saved_parent, s->parent, b->slot_count * sizeof *s->parent);
    memcpy(s->saved_solve_mode_mask, s->solve_mode_mask, b->slot_count * sizeof *s->solve_mode_mask);
    b->awake = s->impact_awake;
    s->contacts = s->interval_contacts;
    s->headers = s->interval_headers;
    return saved;
}

static void restore_arrays(vy_bodies *b, saved_arrays saved)
{
    contact_system *s = b->contacts;
    b->awake = saved.awake;
    s->contacts = saved.contacts;
    s->headers = saved.headers;
    s->count = saved.count;
    memcpy(s->parent, s->saved_parent, b->slot_count * sizeof *s->parent);
    memcpy(s->solve_mode_mask, s->saved_solve_mode_mask, b->slot_count * sizeof *s->solve_mode_mask);
}

// Step a group from impact to impact. Returns 0 when a free body outside of it was hit: it has to join.
static int step_group(impact_group *g, double max_slow_displacement, uint32_t *events)
{
    vy_bodies *b = g->b;
    contact_system *s = b->contacts;
    int zero_intervals = 0;
    const saved_arrays saved = swap_arrays(b);
    begin_group(g);
    for (int n = 0;
         n < MAX_INTERVALS && zero_intervals < MAX_ZERO_INTERVALS && g->t < g->h && !b->head->failed; ++n) {
        const double remaining = g->h - g->t;
        double elapsed = step_interval(g, remaining, max_slow_displacement);
        if (g->outside_body != 0) break;
        if (!(elapsed >= 0.0))
            elapsed = remaining; // a state that overflowed has no path: the step's end finds it
        s->impact_totals.impacts += elapsed < remaining;
        zero_intervals = elapsed < ZERO_INTERVAL * g->h ? zero_intervals + 1 : 0;
        g->t = elapsed < remaining ? g->t + elapsed : g->h;
    }
    const double remaining = g->h - g->t;
    end_group(g);
    restore_arrays(b, saved);
    if (g->outside_body != 0) return 0;
    if (remaining > 0.0) {
        s->impact_totals.dropped += 1;
        s->impact_totals.dropped_time += remaining;
        *events |= VY_BODIES_TIME_DROPPED;
        if (g->hit_kinematic) *events |= VY_BODIES_CRUSHED;
    }
    if (!vy_impact_merge_contacts(g)) b->head->failed = VY_BODIES_NO_MEMORY;
    // Who stands still may lie deep, and who was pushed out while joints took him back.
    for (uint32_t k = 0; k < s->count && (remaining > 0.0 || g->has_joints); ++k) {
        const contact_header *c = &s->headers[k];
        if (vy_impact_is_member(g, c->a) || vy_impact_is_member(g, c->b)) s->headers[k].flags |= IS_DEEP;
    }
    return 1;
}

// The bodies of a group. Returns 0 when they are too many.
static int list_group(vy_bodies *b, uint32_t root, impact_group *g)
{
    contact_system *s = b->contacts;
    g->count = 0;
    g->has_joints = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (!b->awake[i] || island_root(s->impact_parent, i) != root) continue;
        if (g->count == IMPACT_JOINTED_BODIES) return 0;
        g->has_joints |= b->joints->first_joint[i] != 0;
        g->bodies[g->count++] = i;
    }
    if (g->has_joints) g->max_deviation = vy_impact_group_deviation_limit(g);
    return g->count > 0 && (g->has_joints || g->count <= IMPACT_BODIES);
}

// A body whose group is too large to be stepped again stops at its time of impact for the rest of the step.
static uint32_t truncate_body(vy_bodies *b, uint32_t i, double h, double max_slow_displacement)
{
    contact_system *s = b->contacts;
    const vy_sweep_path path = vy_impact_path(b, i, h);
    const vy_bounds box = vy_impact_bounds(b, i, &path, max_slow_displacement);
    nearby_bodies nearby;
    double first_hit = 1.0;
    vy_impact_list_near(b, i, &box, &nearby);
    for (uint32_t n = 0; n < nearby.count; ++n) {
        const uint32_t j = nearby.slots[n];
        vy_separation hit;
        if (!vy_contacts_may_collide(b, i, j)) continue;
        const vy_sweep_path other_path = vy_impact_path(b, j, h);
        if (vy_impact_time(b, i, j, &path, &other_path, 1, &hit) && hit.t < first_hit) first_hit = hit.t;
    }
    if (first_hit >= 1.0) return 0;
    b->state[i].position = vec3_add_scaled(path.center, first_hit, path.displacement);
    b->state[i].attitude = vy_sweep_pose(&path, first_hit).rotation;
    s->impact_totals.impacts += 1;
    s->impact_totals.dropped += 1;
    s->impact_totals.dropped_time += (1.0 - first_hit) * h;
    return VY_BODIES_TIME_DROPPED;
}

static uint32_t resolve_group(vy_bodies *b, uint32_t root, double h, double max_slow_displacement)
{
    contact_system *s = b->contacts;
    uint32_t events = 0;
    for (int n = 0; n < MAX_REGROUPS; ++n) {
        impact_group g = {.b = b, .h = h};
        root = island_root(s->impact_parent, root);
        if (!list_group(b, root, &g)) break;
        if (step_group(&g, max_slow_displacement, &events)) return events;
        islands_join(s->impact_parent, root, g.outside_body - 1u);
    }
    root = island_root(s->impact_parent, root);
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (!b->awake[i] || !s->has_impact[i] || island_root(s->impact_parent, i) != root) continue;
        if ((s->solve_mode_mask[i] & SOLVE_FAILED) != 0) b->head->failed = VY_BODIES_NOT_FINITE;
        if (!b->joints->first_joint[i]) events |= truncate_body(b, i, h, max_slow_displacement);
    }
    return events;
}

void vy_impacts_begin(vy_bodies *b)
{
    if (b->external_integration)
        memcpy(b->contacts->flight_state, b->state, b->slot_count * sizeof *b->state);
}

// The body of a contact that moves, and the other one. Returns 0 when both move.
static int moving_body_of(const vy_bodies *b, const contact_header *c, uint32_t *body, uint32_t *other)
{
    *body = b->awake[c->a] ? c->a : c->b;
    *other = b->awake[c->a] ? c->b : c->a;
    return !b->awake[*other];
}

// Whether a kinematic body presses a moving body against another kinematic one, or a static one.
static int is_crushing(vy_bodies *b)
{
    contact_system *s = b->contacts;
    uint32_t i, j;
    int is_crushed = 0;
    memset(s->kinematic_body, 0, b->slot_count * sizeof *s->kinematic_body);
    for (uint32_t k = 0; k < s->count; ++k) {
        if (s->headers[k].impulse_points == 0 || !moving_body_of(b, &s->headers[k], &i, &j) ||
            !body_is_kinematic(b, j))
            continue;
        s->kinematic_body[i] = j + 1u;
        s->kinematic_depth[i] = real_max(-s->contacts[k].points[0].separation, 0.0);
    }
    for (uint32_t k = 0; k < s->count; ++k) {
        if (s->headers[k].impulse_points == 0 || !moving_body_of(b, &s->headers[k], &i, &j)) continue;
        if (s->kinematic_body[i] == 0 || s->kinematic_body[i] == j + 1u) continue;
        const double min_thickness = real_min(s->thickness[i], s->thickness[j]);
        is_crushed |=
            s->kinematic_depth[i] - s->contacts[k].points[0].separation > CRUSH_FRACTION * min_thickness;
    }
    return is_crushed;
}

// Lists and flags of a step with `count` fast bodies, before these are checked.
static void begin_step(vy_bodies *b, uint32_t count)
{
    contact_system *s = b->contacts;
    list_ground_bodies(b);
    memset(s->is_fast, 0, b->slot_count);
    memset(s->has_impact, 0, b->slot_count);
    for (uint32_t n = 0; n < count; ++n) s->is_fast[s->fast_bodies[n]] = 1;
    s->kinematic_list_count = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        s->impact_parent[i] = i;
        if (!body_is_kinematic(b, i)) continue;
        s->kinematic_start[s->kinematic_list_count] = s->start_state[i];
        s->kinematic_bodies[s->kinematic_list_count++] = i;
    }
}

uint32_t vy_impacts_resolve(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    double max_slow_displacement;
    uint32_t impact_count = 0, events = s->kinematic_count > 0 && is_crushing(b) ? VY_BODIES_CRUSHED : 0;
    const uint32_t count = list_fast(b, h, &max_slow_displacement);
    if (b->head->failed || (count == 0 && vy_impact_list_unsolved(b) == 0)) return events;
    begin_step(b, count);
    impact_count += vy_impact_list_unsolved(b);
    for (uint32_t n = 0; n < count; ++n)
        impact_count += check_fast_body(b, s->fast_bodies[n], h, max_slow_displacement);
    impact_count += check_fast_pairs(b, count, h);
    if (impact_count == 0) return events;
    for (uint32_t k = 0; k < s->count; ++k) { // bodies in contact with those take part
        const contact_header *c = &s->headers[k];
        if (c->solve_mode != 0 && b->awake[c->a] && b->awake[c->b])
            islands_join(s->impact_parent, c->a, c->b);
    }
    for (uint32_t n = 0; n < b->joints->island_count; ++n) { // and bodies that are joined to them
        const island *is = &b->joints->islands[n];
        const uint32_t first = b->joints->members[is->body_first];
        for (uint32_t m = is->body_first + 1; m < is->dynamic_last && b->awake[first]; ++m)
            islands_join(s->impact_parent, first, b->joints->members[m]);
    }
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        const uint32_t root = island_root(s->impact_parent, i);
        if (!s->has_impact[i]) continue;
        events |= resolve_group(b, root, h, max_slow_displacement);
        const uint32_t group_root = island_root(s->impact_parent, root);
        for (uint32_t j = 0; j < b->slot_count; ++j) {
            if (s->has_impact[j] && island_root(s->impact_parent, j) == group_root) s->has_impact[j] = 0;
        }
    }
    return events;
}
