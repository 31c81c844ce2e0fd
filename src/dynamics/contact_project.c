// contact_project.c - bodies that lie too deep in each other after a step are moved apart: nonlinear
// Gauss-Seidel on positions.
//
// Soft contacts take a quarter of a second to bring out what is deep. That is what a stack needs to come to
// rest, and too long for thin bodies. Moving them does work against their forces, and their motion pays for
// it: what went too deep has that much too much of it.
#include "base/assert.h"
#include "dynamics/contacts.h"
#include "dynamics/island_motion.h"
#include "geometry/boxes.h"

#define TARGET_FRACTION         0.8 // of what is allowed: how deep it lies after that
#define MAX_CORRECTION_FRACTION 0.3 // of the thinner one's thickness, at a time
// Iterations by the bodies' masses, which move no centre of mass; then more as if all had the same, which
// converge where a light body lies between heavy ones.
enum { MASS_ITERATIONS = 8, ITERATIONS = 40, PAIR_ITERATIONS = 4 };
// Where joints take part, in turn with them.
enum { JOINT_ROUNDS = 100, ROUND_ITERATIONS = 8 };

/// What a body is moved by.
typedef struct mobility {
    double inverse_mass;
    double inertia_scale; // times its inverse inertia
} mobility;

/// Where two bodies are deepest in each other.
typedef struct deepest_point {
    vec3 normal, point; // from a to b; between the surfaces
    double depth;       // [m]
} deepest_point;

// Memory of other stages of the step, by what it holds here: how often a body has been moved; how often the
// bodies of a pair had been when it was checked.
static uint32_t *move_counts(const contact_system *s) { return s->bucket; }
static uint32_t *moves_at_last_check(const contact_system *s) { return s->colour_order; }

static double min_thickness(const contact_system *s, const contact_header *c)
{
    return real_min(s->thickness[c->a], s->thickness[c->b]);
}

static double allowed_depth(const vy_bodies *b, const contact_header *c)
{
    const double thickness = min_thickness(b->contacts, c);
    return ALLOWED_DEPTH_FRACTION * thickness + contact_slop(b, c->a, c->b);
}

static int has_kinematic_body(const vy_bodies *b, const contact_header *c)
{
    return b->slots[c->a].kind == VY_BODY_KINEMATIC || b->slots[c->b].kind == VY_BODY_KINEMATIC;
}

// Its depth is 0 where they are certainly not deeper than `allowed`.
static deepest_point find_deepest_point(const vy_bodies *b, const contact_header *c, double allowed)
{
    const vy_shape *shape_a = &b->slots[c->a].shape, *shape_b = &b->slots[c->b].shape;
    const vy_pose pose_a = body_shape_pose(b, c->a, &b->state[c->a]),
                  pose_b = body_shape_pose(b, c->b, &b->state[c->b]);
    deepest_point deepest = {.depth = 0.0};
    if (shape_a->kind == VY_SHAPE_BOX &&
        shape_b->kind == VY_SHAPE_BOX && // most are not, and that is found sooner
        !vy_boxes_may_overlap_by(shape_a, &pose_a, shape_b, &pose_b, allowed))
        return deepest;
    if (vy_shape_is_convex(shape_a) && vy_shape_is_convex(shape_b)) {
        vy_contact penetration;
        int hit = 0;
        if (vy_penetration(shape_a, &pose_a, shape_b, &pose_b, NULL, &hit, &penetration, NULL) != VY_OK ||
            !hit)
            return deepest;
        return (deepest_point){penetration.normal,
                               vec3_scale(0.5, vec3_add(penetration.point_a, penetration.point_b)),
                               penetration.depth};
    }
    vy_manifold manifolds[VY_COLLIDE_MANIFOLDS];
    int count = 0;
    if (vy_collide_all(shape_a, &pose_a, shape_b, &pose_b, 0.0, manifolds, &count) != VY_OK) return deepest;
    for (int n = 0; n < count; ++n) {
        for (int i = 0; i < manifolds[n].count; ++i) {
            const vy_manifold_point *p = &manifolds[n].points[i];
            if (p->depth <= deepest.depth) continue;
            deepest = (deepest_point){manifolds[n].normal, vec3_scale(0.5, vec3_add(p->point_a, p->point_b)),
                                      p->depth};
        }
    }
    return deepest;
}

int vy_contact_is_too_deep(const vy_bodies *b, const contact_header *c)
{
    const double allowed = allowed_depth(b, c);
    return !has_kinematic_body(b, c) && find_deepest_point(b, c, allowed).depth > allowed;
}

// [m] How far two bodies may be moved at a time: where the way out of each other changes on it, not far.
static double max_correction(const vy_bodies *b, const contact_header *c)
{
    const int are_convex =
        vy_shape_is_convex(&b->slots[c->a].shape) && vy_shape_is_convex(&b->slots[c->b].shape);
    return are_convex ? MAX_CORRECTION_FRACTION * min_thickness(b->contacts, c) : REAL_MAX;
}

static mobility body_mobility(const vy_bodies *b, uint32_t i, int by_mass)
{
    if (!b->awake[i]) return (mobility){0.0, 0.0};
    return by_mass ? (mobility){b->params[i].inverse_mass, 1.0} : (mobility){1.0, b->slots[i].mass};
}

// What an impulse of 1 N s along n at a point turns a body by, world axes; 0 where it does not move.
static vec3 rotation_by_impulse(const vy_bodies *b, uint32_t i, double inertia_scale, vec3 point, vec3 n)
{
    if (!b->awake[i]) return vec3_zero();
    const body_state *s = &b->state[i];
    const vec3 torque = quat_unrotate(s->attitude, vec3_cross(vec3_sub(point, s->position), n));
    return quat_rotate(s->attitude,
                       mat3_mul_vec(b->params[i].inverse_inertia, vec3_scale(inertia_scale, torque)));
}

static void move_body(vy_bodies *b, uint32_t i, vec3 displacement, vec3 rotation)
{
    if (!b->awake[i]) return;
    body_state *s = &b->state[i];
    move_counts(b->contacts)[i] += 1;
    s->position = vec3_add(s->position, displacement);
    const quat half = quat_make(1.0, 0.5 * rotation.x, 0.5 * rotation.y, 0.5 * rotation.z);
    s->attitude = quat_normalize(quat_mul(half, s->attitude));
    if (b->joints->first_joint[i] != 0) b->disturbed[i] = 1; // its joints close after it
}

// Move two bodies apart by `distance`, each as an impulse would.
static void apply_position_impulse(vy_bodies *b, const contact_header *c, const deepest_point *deepest,
                                   double distance, int by_mass)
{
    const mobility mobility_a = body_mobility(b, c->a, by_mass), mobility_b = body_mobility(b, c->b, by_mass);
    const double ia = mobility_a.inverse_mass, ib = mobility_b.inverse_mass;
    const vec3 ta = rotation_by_impulse(b, c->a, mobility_a.inertia_scale, deepest->point, deepest->normal),
               tb = rotation_by_impulse(b, c->b, mobility_b.inertia_scale, deepest->point, deepest->normal);
    const vec3 ra = vec3_sub(deepest->point, b->state[c->a].position),
               rb = vec3_sub(deepest->point, b->state[c->b].position);
    const double k = (ia + ib) + (vec3_dot(vec3_cross(ta, ra), deepest->normal) +
                                  vec3_dot(vec3_cross(tb, rb), deepest->normal));
    VY_ASSERT(k > 0.0);
    const double impulse = distance / k;
    move_body(b, c->a, vec3_scale(-ia * impulse, deepest->normal), vec3_scale(-impulse, ta));
    move_body(b, c->b, vec3_scale(ib * impulse, deepest->normal), vec3_scale(impulse, tb));
}

// Move a pair apart until it is as deep as is allowed: what one end of a body gains the other may lose.
// Returns whether it was deeper.
static int separate_pair(vy_bodies *b, const contact_header *c, int by_mass)
{
    const double allowed = allowed_depth(b, c), max_distance = max_correction(b, c);
    for (int n = 0; n < PAIR_ITERATIONS; ++n) {
        const deepest_point d = find_deepest_point(b, c, allowed);
        if (!(d.depth > allowed)) return n > 0;
        apply_position_impulse(b, c, &d, real_min(d.depth - TARGET_FRACTION * allowed, max_distance),
                               by_mass);
    }
    return 1;
}

// Moves of its two bodies, with which a pair was found to be as deep as is allowed: as long as they are the
// same, so is the pair. Others have NOT_CHECKED.
#define NOT_CHECKED UINT32_MAX

static uint32_t count_moves(const contact_system *s, const contact_header *c)
{
    return move_counts(s)[c->a] + move_counts(s)[c->b];
}

// One iteration over the pairs. Returns whether one was deeper than allowed.
static int separate_pairs(vy_bodies *b, uint32_t pair_count, int by_mass)
{
    contact_system *s = b->contacts;
    int has_deeper = 0;
    for (uint32_t n = 0; n < pair_count; ++n) {
        const contact_header *c = &s->headers[s->group_contacts[n]];
        const uint32_t move_count = count_moves(s, c);
        if (moves_at_last_check(s)[n] == move_count) continue;
        const int was_deeper = separate_pair(b, c, by_mass);
        moves_at_last_check(s)[n] = was_deeper ? NOT_CHECKED : move_count;
        has_deeper |= was_deeper;
    }
    return has_deeper;
}

// Pairs of bodies that lie too deep in another, those that do not yet included: what is moved out of one may
// be moved into the next. Returns how many.
static uint32_t list_pairs(vy_bodies *b)
{
    contact_system *s = b->contacts;
    uint32_t count = 0;
    int any_deep = 0;
    for (uint32_t k = 0; k < s->count && !any_deep; ++k) any_deep = (s->headers[k].flags & IS_DEEP) != 0;
    if (!any_deep) return 0;
    memset(s->marked, 0, b->slot_count);
    for (uint32_t k = 0; k < s->count; ++k) {
        const contact_header *c = &s->headers[k];
        if ((c->flags & IS_DEEP) != 0) s->marked[c->a] = s->marked[c->b] = 1;
    }
    for (uint32_t k = 0; k < s->count; ++k) {
        const contact_header *c = &s->headers[k];
        const contact_header *last_listed = count > 0 ? &s->headers[s->group_contacts[count - 1]] : NULL;
        if ((last_listed != NULL && last_listed->a == c->a && last_listed->b == c->b) ||
            has_kinematic_body(b, c))
            continue;
        if ((b->awake[c->a] && s->marked[c->a]) || (b->awake[c->b] && s->marked[c->b]))
            s->group_contacts[count++] = k;
    }
    return count;
}

// ---- what it costs

// [J] The work that moving a body has done against the forces on it; only of those that contacts were solved
// for, whose forces are known.
static double work_against_forces(const vy_bodies *b, uint32_t i, const body_state *from)
{
    const contact_system *s = b->contacts;
    if (s->solve_mode_mask[i] == 0 || !s->body[i].moves) return 0.0;
    const vec3 displacement = vec3_sub(b->state[i].position, from->position);
    return -b->slots[i].mass * vec3_dot(s->body[i].acceleration, displacement);
}

// List the bodies of the pairs, and those on joints, which come along.
static uint32_t list_bodies(vy_bodies *b, uint32_t pair_count)
{
    contact_system *s = b->contacts;
    uint32_t count = 0;
    memset(s->marked, 0, b->slot_count);
    for (uint32_t n = 0; n < pair_count; ++n) {
        const contact_header *c = &s->headers[s->group_contacts[n]];
        s->marked[c->a] = s->marked[c->b] = 1;
    }
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (b->awake[i] && (s->marked[i] || b->joints->first_joint[i] != 0)) s->near_bodies[count++] = i;
    }
    return count;
}

// Bodies that are moved apart, and those on joints with them, share what it costs.
static void join_bodies(vy_bodies *b, uint32_t pair_count, uint32_t body_count)
{
    contact_system *s = b->contacts;
    uint32_t *const parent = s->saved_parent;
    for (uint32_t n = 0; n < body_count; ++n) parent[s->near_bodies[n]] = s->near_bodies[n];
    for (uint32_t n = 0; n < pair_count; ++n) {
        const contact_header *c = &s->headers[s->group_contacts[n]];
        if (b->awake[c->a] && b->awake[c->b]) islands_join(parent, c->a, c->b);
    }
    for (uint32_t n = 0; n < b->joints->island_count; ++n) {
        const island *is = &b->joints->islands[n];
        for (uint32_t m = is->body_first + 1; m < is->dynamic_last && b->awake[b->joints->members[m]]; ++m)
            islands_join(parent, b->joints->members[is->body_first], b->joints->members[m]);
    }
}

// List the bodies of an island in s->fast_bodies, and their states before in s->island_state. Returns how
// many.
static uint32_t list_island(const vy_bodies *b, uint32_t root, uint32_t body_count)
{
    contact_system *s = b->contacts;
    uint32_t count = 0;
    for (uint32_t n = 0; n < body_count; ++n) {
        if (island_root(s->saved_parent, s->near_bodies[n]) != root) continue;
        s->island_state[count] = s->state_before[n];
        s->fast_bodies[count++] = s->near_bodies[n];
    }
    return count;
}

static double work_of_moves(const vy_bodies *b, uint32_t count)
{
    const contact_system *s = b->contacts;
    double work = 0.0;
    for (uint32_t n = 0; n < count; ++n)
        work += work_against_forces(b, s->fast_bodies[n], &s->island_state[n]);
    return work;
}

// Nothing holds the island: moving its bodies apart moves neither its centre of mass nor changes its angular
// momentum.
static void conserve_momentum(vy_bodies *b, uint32_t count)
{
    contact_system *s = b->contacts;
    const rigid_motion before = vy_rigid_motion(b, s->fast_bodies, count, s->island_state);
    const vec3 centre_shift = vec3_sub(before.center, vy_rigid_motion(b, s->fast_bodies, count, NULL).center);
    for (uint32_t n = 0; n < count; ++n)
        b->state[s->fast_bodies[n]].position = vec3_add(b->state[s->fast_bodies[n]].position, centre_shift);
    const double work = work_of_moves(b, count), energy = vy_kinetic_energy(b, s->fast_bodies, count);
    vy_limit_relative_motion(b, s->fast_bodies, count, before.angular_momentum, energy - real_max(work, 0.0));
}

static int has_moved(const body_state *from, const body_state *to)
{
    return from->position.x != to->position.x || from->position.y != to->position.y ||
           from->position.z != to->position.z || from->attitude.w != to->attitude.w ||
           from->attitude.x != to->attitude.x || from->attitude.y != to->attitude.y ||
           from->attitude.z != to->attitude.z;
}

// What was lifted is paid for by the motion of the bodies that were moved together, as far as it goes.
static void conserve_energy(vy_bodies *b, uint32_t pair_count, uint32_t body_count)
{
    contact_system *s = b->contacts;
    join_bodies(b, pair_count, body_count);
    vy_contacts_mark_held(b, s->saved_parent, s->marked);
    for (uint32_t n = 0; n < body_count; ++n) s->island_retry[s->near_bodies[n]] = 0;
    for (uint32_t n = 0; n < body_count; ++n) {
        const uint32_t i = s->near_bodies[n];
        if (has_moved(&s->state_before[n], &b->state[i]))
            s->island_retry[island_root(s->saved_parent, i)] = 1;
    }
    for (uint32_t n = 0; n < body_count; ++n) {
        const uint32_t root = s->near_bodies[n];
        if (island_root(s->saved_parent, root) != root || !s->island_retry[root]) continue;
        const uint32_t count = list_island(b, root, body_count);
        if (s->marked[root]) {
            const double work = work_of_moves(b, count);
            if (work > 0.0)
                vy_limit_kinetic_energy(b, s->fast_bodies, count,
                                        vy_kinetic_energy(b, s->fast_bodies, count) - work);
        } else {
            conserve_momentum(b, count);
        }
    }
}

// What was moved apart joints may bring back: pairs and joints in turn, until both hold.
static void separate_jointed(vy_bodies *b, uint32_t pair_count, double h)
{
    for (int round = 0; round < JOINT_ROUNDS; ++round) {
        for (uint32_t n = 0; n < pair_count; ++n) moves_at_last_check(b->contacts)[n] = NOT_CHECKED;
        int has_deeper = 1;
        for (int iteration = 0; iteration < ROUND_ITERATIONS && has_deeper; ++iteration) {
            has_deeper = separate_pairs(b, pair_count, round % 2);
            if (!has_deeper && iteration == 0) return;
        }
        vy_islands_project(b, h);
    }
}

void vy_contacts_project(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    const uint32_t pair_count = list_pairs(b);
    int any_deep = pair_count > 0;
    if (!any_deep) return;
    const uint32_t body_count = list_bodies(b, pair_count);
    for (uint32_t n = 0; n < body_count; ++n) s->state_before[n] = b->state[s->near_bodies[n]];
    memset(move_counts(s), 0, b->slot_count * sizeof *move_counts(s));
    for (uint32_t n = 0; n < pair_count; ++n) moves_at_last_check(s)[n] = NOT_CHECKED;
    for (int iteration = 0; iteration < ITERATIONS && any_deep; ++iteration)
        any_deep = separate_pairs(b, pair_count, iteration < MASS_ITERATIONS);
    vy_islands_project(b, h);
    if (b->joints->island_count > 0) separate_jointed(b, pair_count, h);
    conserve_energy(b, pair_count, body_count);
}
