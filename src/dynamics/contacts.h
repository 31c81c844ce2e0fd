// contacts.h - the arrays behind the contacts of a vy_bodies, for the files of this folder.
//
// A step first integrates every body without contacts: its free flight. Then it collides the pairs of the
// broad phase, in the order of their slots, and joins them to islands. The bodies of an island that touches
// go back to the start of the step and are stepped again with contacts, in sub-steps. All other bodies keep
// the bits of their free flight.
#pragma once
#include "base/assert.h"
#include "dynamics/contact_def.h"
#include "dynamics/contact_kernel.h"
#include "dynamics/free_step.h"
#include "dynamics/joint.h"
#include "dynamics/parallel.h"
#include <stdatomic.h>

/// What is kept of a contact of two bodies from step to step, for warm starting: state.
struct contact_cache {
    uint32_t a, b;           // slots, a < b
    uint32_t point_count;    // with an impulse
    uint32_t manifold_index; // which contact of the pair, from 0: with a height field there may be several
    vec3 local_anchor_a[VY_MANIFOLD_POINTS];   // [m] on a, from its centre of mass, body axes
    double normal_impulse[VY_MANIFOLD_POINTS]; // [N s] of the last sub-step
    double mean_normal_impulse;                // [N s] of all points, mean over the last quarter of a second
    vec3 friction_impulse;                     // [N s] on b, in the tangent plane
    vec3 angular_impulse;                      // [N m s] on b: rolling resistance and torsional friction
    vec3 normal;                               // unit, from a to b, world
};

/// How the contacts of an island start a step.
typedef enum contact_solve_mode {
    SOLVE_NONE = 0,    // nothing touches: not solved
    SOLVE_WARM = 1,    // from the impulses of the last step, or by an impact
    SOLVE_COLD = 2,    // bodies at rest, just put together, without impulses to start from: more iterations
    SOLVE_JOINTED = 4, // some of its bodies have joints: contact_jointed.c
    SOLVE_FAILED = 8,  // and its motion was not finite over the whole step: impacts.c takes shorter parts
} contact_solve_mode;

/// A contact that had an impulse, and the index of the report of its pair.
typedef struct contact_record {
    uint32_t contact, report;
    uint32_t manifold_index; // which contact of the pair
    uint32_t persists;       // 1: the pair had an impulse in the last step, too
} contact_record;

enum { GROUP_CONTACTS = 512 }; // contacts solved at a time on one thread, unless one island has more

/// Islands that are solved at the same time.
typedef struct contact_group {
    uint32_t first, last;               // contacts, of `group_contacts`
    uint32_t member_first, member_last; // bodies, of `members`
    contact_solve_mode solve_mode;
    int all_threads;     // 1: solved by all threads
    uint32_t intervals;  // of the step, each with manifolds of its own
    uint32_t iterations; // of the solver, in each half of a sub-step
    int is_stiff;        // contacts as stiff as the sub-steps can follow, which hold the mean impulse
} contact_group;

/// The sum of the contacts' impulses on a body in a step.
typedef struct body_impulses {
    vec3 impulse;         // [N s] world
    vec3 angular_impulse; // [N m s] about the centre of mass, body axes at the end of the step
} body_impulses;

/// Linked lists of the bodies, contacts and joint islands of each island; then arrays of those of one:
/// contact_jointed.c.
typedef struct jointed_lists {
    uint32_t *first_body, *first_contact, *first_joint_island; // [body_cap] by root, + 1
    uint32_t *next_body, *next_contact, *next_joint_island;    // [body_cap], [contacts], [body_cap], + 1
    uint32_t *bodies;             // [body_cap] that move; then kinematic ones that they touch
    uint32_t *contacts;           // [contacts]
    uint32_t *joint_islands;      // [body_cap]
    uint32_t *loaded_for;         // [body_cap] root + 1 of the last island that was loaded with it
    contact_body *saved_body;     // [body_cap]
    contact_motion *saved_motion; // [body_cap]
} jointed_lists;

/// How many there is memory for.
typedef struct contact_capacity {
    size_t bodies;
    size_t pairs;    // of the broad phase
    size_t contacts; // in a step; at least as many as are cached, sleeping ones included
    size_t solved;   // contacts that may be solved at a time: those of a step, or of a group of impacts.c
} contact_capacity;

/// What a contact did over the intervals of a step, for its report.
typedef struct contact_sum {
    vec3 impulse;          // [N s] on b
    vec3 weighted_point;   // [N s m] points times normal impulses
    vec3 normal;           // of the last interval with an impulse
    double normal_impulse; // [N s]
    double min_velocity;   // [m/s] least velocity along the normal; closing: < 0
    int points;            // with an impulse in that interval
} contact_sum;

/// A body before a sub-step.
typedef struct substep_start {
    vec3 velocity;       // [m/s]
    vec3 rate;           // [rad/s] body axes; of isotropic bodies world
    vec3 delta_position; // [m]
    double energy;       // [J] kinetic
} substep_start;

/// Energies of an island, for what its contacts may leave it.
typedef struct energy_sum {
    double kinetic; // [J]
    double limit;   // [J] the energy before, and the work of forces
} energy_sum;

/// The free flight of a body, as every pair that it is in needs it.
typedef struct body_sweep {
    vec3 displacement;     // [m] of its centre of mass
    vec3 rate;             // [rad/s] at the start of the step, world axes
    double rotation_reach; // [m] how far rotation moves the surface at most, beyond the displacement
    double padding;        // a cache line
} body_sweep;

typedef struct contact_system {
    void *memory; // of all arrays
    contact_capacity capacity;
    uint32_t thread_count;
    vy_tree *tree;
    int *proxy_of;           // [body_cap] of a slot, -1: none
    uint32_t *slot_of;       // [body_cap] of a proxy
    uint32_t *parent;        // [body_cap] of the islands' forest
    int *island_solve_mode;  // [body_cap] by root: contact_solve_mode of the island
    int *cold_votes;         // [body_cap] by root: contacts that are NEW_AT_REST less all others
    int *solve_mode_mask;    // [body_cap] contact_solve_mode bits of the islands it takes part in
    body_state *start_state; // [body_cap] at the start of the step
    contact_body *body;      // [body_cap]
    contact_motion *motion;  // [body_cap]
    uint32_t *root_of;       // [body_cap] the root of the island of a body that is solved
    uint64_t *colours;       // [body_cap] a bit for every colour that a contact of the body has
    vy_bounds *bounds;       // [body_cap] swept over the step
    vy_pose *pose;           // [body_cap] of the shape, at the start of the step
    body_sweep *sweep;       // [body_cap]
    double *radius;          // [m] [body_cap] the farthest point of a body from its centre of mass, at most
    double *half_thickness;  // [m] [body_cap] that of a box with the same moments
    double
        *squared_intervals_per_radian; // [body_cap] the square of the intervals that it needs for each radian
    vy_tree_pair *pairs;               // [pairs]
    unsigned char *pair_passes;        // [pairs] 1: its bounds overlap; then: it has a manifold
    uint64_t *keys, *sorted;           // [pairs] contact_key() of pairs that may touch; scratch to sort them
    uint64_t *tree_keys;            // [pairs] pairs of the tree, sorted; they stay valid while no box moves
    size_t tree_key_count;          // of tree_keys
    atomic_size_t found_pair_count; // how many pairs the threads have found so far
    int *box_moved;                 // [body_cap] 1: its box in the tree is a new one
    int pairs_stale;      // 1: bodies were added, removed, woke up or fell asleep since tree_keys were listed
    uint32_t moved_count; // boxes moved since the tree was built
    uint32_t *bucket;     // [body_cap + 1] of sort_pairs(): where the keys of each first slot begin
    contact *contacts;    // [contacts], sorted by slots
    contact_header *headers;      // [contacts] of them
    uint32_t count;               // of contacts and headers
    const contact_kernel *kernel; // the widest this machine has
    contact_group *groups;        // [body_cap]
    uint32_t group_count;
    uint32_t *group_of;                  // [body_cap] of an island, by root
    uint32_t *island_solved_contacts;    // [body_cap] by root: contacts that are solved
    uint32_t *island_pairs;              // [body_cap] by root: pairs of bodies that these are between
    uint32_t *island_contacts;           // [body_cap] by root: contacts of an island that touches
    uint32_t *island_intervals;          // [body_cap] by root: into which the step is divided
    uint32_t *island_iterations;         // [body_cap] by root: of the solver, in each half of a sub-step
    unsigned char *island_retry;         // [body_cap] by root: 1 when it is solved again, in more intervals;
                                         // after that scratch: 1 when its energy is limited
    contact_sum *sums;                   // [contacts] of contacts whose step has more than one interval
    unsigned char *island_has_kinematic; // [body_cap] by root: 1 when it touches a kinematic body
    uint32_t *members;                   // [2 body_cap] bodies of the groups
    velocity_change_work *velocity_change_work; // [body_cap] of a body
    velocity_change_work *island_change_work;   // [body_cap] of an island, by root
    double *island_energy;         // [body_cap] by root: [J] kinetic energy that restitution may bring back,
                                   // or what velocities are scaled by
    double *island_restitution;    // [body_cap] by root: of all its contacts, where they have no friction and
                                   // the same one; below zero: of others
    energy_sum *island_sum;        // [body_cap] by root: what contacts leave it, and may leave it
    substep_start *substep_start;  // [body_cap]
    contact_motion *motion_before; // [body_cap] velocities before restitution
    contact_motion *interval_start; // [body_cap] velocities before the interval
    body_state *state_before;       // [body_cap] before what is deep is moved apart
    body_state *island_state;       // [body_cap] those of one island
    unsigned char *marked;          // [body_cap] scratch: flags of bodies or roots, of whoever sets them
    int guards_off;                 // 1: contacts and joints may add energy, for tests
    atomic_ullong scaled;           // vy_impact_totals.scaled, which several threads count
    uint32_t *group_contacts;       // [solved] contacts of the groups
    uint32_t *colour_order;         // [2 solved] the same by colour; then those without a colour
    struct solver_part *parts;      // [threads] of the solver
    void *packs;                    // contacts in lanes, for the wide kernel, then for the narrow one
    vy_manifold *manifolds;         // [block] of some pairs
    uint32_t *pairs_with_points;    // [block] indices of those with points
    uint32_t block_size;            // pairs that are collided at a time
    atomic_int not_finite;          // 1: a body's motion was not finite
    int may_need_intervals;         // 1: some body may need more intervals than there are sub-steps
    uint64_t *previous_keys;        // [contacts] keys of the cache before the step
    contact_record *records;        // [contacts] contacts of this step that had an impulse
    vy_contact_report *reports;     // [3 contacts] begun, persisting, ended, or asleep
    uint32_t report_count;
    // Of impacts.c
    double *thickness;       // [m] [body_cap] of the shape
    double *rotation_radius; // [m] [body_cap] distance from the shape's origin of points that rotation moves
    uint32_t *fast_bodies;   // [body_cap] fast bodies
    vy_bounds *fast_bounds;  // [body_cap] of their paths
    unsigned char *is_fast;  // [body_cap]
    unsigned char *has_impact;   // [body_cap] 1: it goes into another on its path
    uint32_t *impact_parent;     // [body_cap] of the forest of groups
    uint32_t *ground_bodies;     // [body_cap] bodies without bounds
    uint32_t *kinematic_bodies;  // [body_cap] kinematic bodies
    body_state *kinematic_start; // [body_cap] at the start of the step
    body_state *flight_state; // [body_cap] at the end of the free flight, of sets that the plant integrates
    unsigned char *impact_awake; // [body_cap] 1: of the group that is stepped
    unsigned char *was_awake;    // [body_cap] awake in the step
    uint32_t *saved_parent;      // [body_cap]
    int *saved_solve_mode_mask;  // [body_cap]
    uint32_t *near_bodies;    // [body_cap] bodies near a path, that are moved apart, or that the tree misses
    double *kinematic_depth;  // [m] [body_cap] how deep a kinematic body is in this one
    uint32_t *kinematic_body; // [body_cap] which one, + 1; 0: none
    uint32_t ground_count, kinematic_list_count;       // of ground_bodies, and of kinematic_bodies
    uint32_t kinematic_count;                          // kinematic bodies of the set, listed or not
    contact *interval_contacts, *impact_contacts;      // [IMPACT_CONTACTS] of an interval, of the step
    contact_header *interval_headers, *impact_headers; // [IMPACT_CONTACTS] of these
    uint32_t impact_count;                             // of impact_contacts
    vy_impact_totals impact_totals;
    jointed_lists jointed;
    body_impulses *body_impulses; // [body_cap] of bodies that are SOLVE_JOINTED in solve_mode_mask
} contact_system;

/// After a step: bodies on joints have no more energy than before.
void vy_energy_guard(vy_bodies *b, double h);

/// Mark the roots, by `parent`, of bodies that something holds: contacts that push, and joints, with bodies
/// that do not move. Others are 0.
void vy_contacts_mark_held(const vy_bodies *b, uint32_t *parent, unsigned char *held);
/// Switch guards off, for tests: what the methods do by themselves.
void vy_contacts_enable_guards(vy_bodies *b, int on);
/// After a step of h seconds: move apart what lies too deep, and close the joints of what was moved.
void vy_contacts_project(vy_bodies *b, double h);
/// Whether two bodies lie deeper in each other now than that leaves them.
int vy_contact_is_too_deep(const vy_bodies *b, const contact_header *c);
vy_status vy_contacts_create(vy_bodies *b);
void vy_contacts_destroy(vy_bodies *b);
/// Have memory for so many pairs of the broad phase, and for so many contacts beside those that sleep.
/// Whatever lies in the arrays may move. VY_NO_MEMORY: nothing has changed.
vy_status vy_contacts_reserve(vy_bodies *b, size_t pairs, size_t contacts);
/// Likewise for so many bodies.
vy_status vy_contacts_reserve_bodies(vy_bodies *b, size_t bodies);
/// Whether a cache of `count` pairs is one that a set of so many bodies can have. It need not be aligned.
int vy_contacts_cache_is_valid(const void *pairs, uint64_t count, uint64_t bodies);
void vy_contacts_add_body(vy_bodies *b, uint32_t i);
void vy_contacts_remove_body(vy_bodies *b, uint32_t i);

/// Before the free flight.
void vy_contacts_begin(vy_bodies *b);
/// After it: step the islands that touch again, with contacts. Returns VY_BODIES_ bits.
uint32_t vy_contacts_step(vy_bodies *b, double h);

/// Put the pairs whose swept bounds overlap into contact_system.keys, sorted, as often as they may have
/// contacts. VY_OK or VY_NO_MEMORY.
vy_status vy_contacts_find_pairs(vy_bodies *b, double h, size_t *count);
/// Whether a pair may collide: one of them moves, and neither filters nor joints exclude it.
int vy_contacts_may_collide(const vy_bodies *b, uint32_t i, uint32_t j);
/// Whether a joint between two bodies says that they do not collide.
int vy_contacts_joint_excludes(const vy_bodies *b, uint32_t i, uint32_t j);
/// Sort keys that all differ; `scratch` holds as many.
void vy_contacts_sort_keys(uint64_t *keys, uint64_t *scratch, size_t count);
/// VY_CONTACT_SOLVER_IMPULSE: the impulse of a contact at a point, by the velocities of the states. Returns
/// its size.
double vy_contact_apply_impulse(vy_bodies *b, contact *c, vec3 point, vec3 n);
/// Fill the contact of a pair, i < j, that is made within a step, from its manifold at the start_state: it
/// has no impulses of the last step. `threshold` [m/s]: slower ones are at rest.
contact_header vy_contact_make(const vy_bodies *b, uint32_t i, uint32_t j, const vy_manifold *manifold,
                               double threshold, contact *c);
/// The pose of a body's shape at the start of the step, and its bounds swept to the end, widened by what
/// rotation may add.
void vy_contacts_sweep_bounds(vy_bodies *b, uint32_t i, double h);
/// Whether two bodies collide in their free flights: at the end of the step, or on the way there; slow ones
/// without rotation.
int vy_paths_collide(const vy_bodies *b, uint32_t i, uint32_t j, double h);
/// Find all contacts: pairs that may touch within the step, with their manifolds. VY_OK or VY_NO_MEMORY.
vy_status vy_contacts_find(vy_bodies *b, double h);
/// The widest kernel that this machine has.
const contact_kernel *vy_contacts_kernel(void);
/// Bytes that the packs of so many contacts take at most, on any machine.
size_t vy_contacts_pack_memory(uint32_t contacts, uint32_t threads);
/// Bytes that the parts of so many threads take.
size_t vy_contacts_part_memory(uint32_t threads);
/// Solve the active contacts, from where the bodies were at the start. `may_divide`: the step of islands
/// whose bodies turn fast is divided into intervals with manifolds of their own.
void vy_contacts_solve(vy_bodies *b, double h, int may_divide);
/// It moves through the sub-steps at its own velocity, and may do work. A sleeping body stands and does none.
VY_FN int has_prescribed_motion(const vy_bodies *b, uint32_t i)
{
    return b->slots[i].kind == VY_BODY_KINEMATIC;
}
/// Put the islands to solve into groups, without those that have joints; with `retry` only those that are
/// solved again.
void vy_contacts_group(vy_bodies *b, int retry);

/// Fill the points and the materials of a contact from a manifold, for bodies that stand like this.
void vy_contact_fill(const vy_bodies *b, contact *c, const vy_manifold *manifold, const body_state *sa,
                     const body_state *sb);
/// Take over the impulses of the cached points that match.
void vy_contact_match(const contact_cache *cached, contact *c);
/// Which of the `count` entries of a pair's cache is that of manifold `index` of `manifolds`: of those with
/// the most similar normal, if that is so the other way round, too. NULL: none.
const contact_cache *vy_contact_find_cached(const contact_cache *cached, uint32_t count,
                                            const vy_manifold *manifolds, uint32_t manifold_count,
                                            uint32_t index);
/// Write what is kept of a contact to its entry of the cache.
void vy_contact_write_cache(const contact *c, uint32_t manifold_index, contact_cache *cached);
/// Make a contact what it was at the start of the step.
void vy_contact_reset_to_start(vy_bodies *b, uint32_t k, double h);

/// Least cosine between the normals of a contact before and after a step: others are of two.
#define SIMILAR_NORMAL 0.9

/// The most that contacts times intervals of an island may be: a large one is not divided for the sake of
/// one body.
enum { INTERVAL_BUDGET = 65536 };

/// The square of the intervals that a body needs for each radian it turns.
double vy_contacts_squared_intervals_per_radian(const vy_bodies *b, uint32_t i);
/// Into how many intervals a step of length h is divided for a body that turns with this rate, body axes.
uint32_t vy_contacts_intervals(const vy_bodies *b, uint32_t i, vec3 rate, double h);
/// Whether a body that turns with this rate, in any axes, may need more intervals than there are sub-steps.
VY_FN int vy_contacts_needs_intervals(const vy_bodies *b, uint32_t i, vec3 rate, double h, int substeps)
{
    const double angle2 = h * h * vec3_dot(rate, rate);
    return angle2 * b->contacts->squared_intervals_per_radian[i] >= (double)substeps * (double)substeps;
}
/// The start that displacements count from becomes the present pose.
void vy_contact_body_rebase(contact_body *s);
/// A contact of bodies that are not near each other, with the normal it has.
void vy_contact_set_separated(const vy_bodies *b, contact *c, const body_state *sa, const body_state *sb);
/// A manifold of bodies that are not near each other: one point, far apart.
vy_manifold vy_contact_separated_manifold(vec3 normal, vec3 point);
/// The manifolds of a pair, of which contact k is the first, for its bodies as they stand now, with points up
/// to the distance that they close within h. Nothing is done for other contacts of a pair.
void vy_contact_refresh(vy_bodies *b, uint32_t k, double h);
/// Add the impulses of a contact's points to its sums; where its body a is. Returns how many had one.
VY_FN int contact_sum_points(const contact *c, vec3 position, quat attitude, contact_sum *sum)
{
    int point_count = 0;
    for (int i = 0; i < c->point_count; ++i) {
        if (!(c->total_normal_impulse[i] > 0.0)) continue; // rounding may leave less than nothing
        const vec3 point = vec3_add(position, quat_rotate(attitude, c->points[i].local_anchor_a));
        sum->weighted_point = vec3_add_scaled(sum->weighted_point, c->total_normal_impulse[i], point);
        sum->normal_impulse += c->total_normal_impulse[i];
        sum->min_velocity = real_min(sum->min_velocity, c->relative_velocity[i]);
        ++point_count;
    }
    return point_count;
}
/// Scale impulses from one length of a sub-step to another.
void vy_contact_scale_impulses(contact *c, double factor);
/// Add what a contact did in an interval to its sums.
void vy_contact_add_interval(vy_bodies *b, uint32_t k);
/// The parameters of the kernels in a step of length h with sub-steps of length `substep_h`.
/// `stiff_h`: 0, or as stiff as sub-steps of this length can follow, and holding the mean impulse.
contact_context vy_contacts_context(const vy_bodies *b, double h, double substep_h, double stiff_h);

/// Join the islands of jointed bodies.
void vy_jointed_join_islands(vy_bodies *b);
/// Islands that touch and have joints become SOLVE_JOINTED.
void vy_jointed_mark_islands(vy_bodies *b);
/// Solve those, contacts and joints coupled.
void vy_jointed_solve(vy_bodies *b, double h);

/// The mean force and torque on a body over its free flight, as a wrench: for sets whose bodies the world's
/// plant integrates.
VY_FN body_wrench mean_wrench(const vy_bodies *b, uint32_t i, double h)
{
    VY_ASSERT(i < b->slot_count && h > 0.0);
    const body_state *start = &b->contacts->start_state[i], *end = &b->state[i];
    const mat3 inertia = b->params[i].inertia;
    body_wrench wrench = {.acceleration = vec3_scale(1.0 / h, vec3_sub(end->velocity, start->velocity))};
    if (rotates_too_far(start, h)) { // what is left of the change of rate beside the free turn's
        const body_state turned = body_drifted(&b->params[i], start, h);
        wrench.torque = mat3_mul_vec(inertia, vec3_scale(1.0 / h, vec3_sub(end->rate, turned.rate)));
        return wrench;
    }
    const vec3 gyro = vec3_cross(start->rate, mat3_mul_vec(inertia, start->rate));
    wrench.torque =
        vec3_add(mat3_mul_vec(inertia, vec3_scale(1.0 / h, vec3_sub(end->rate, start->rate))), gyro);
    return wrench;
}

#define ALLOWED_DEPTH_FRACTION \
    0.03 // of the thinner one's thickness: what lies deeper after a step, beyond the slop, is moved apart

// [m] The overlap of two bodies that is left alone.
VY_FN double contact_slop(const vy_bodies *b, uint32_t i, uint32_t j)
{
    const double thickness = real_min(b->contacts->thickness[i], b->contacts->thickness[j]);
    return real_min(b->def.contacts.slop, SLOP_FRACTION * thickness);
}

/// [m/s] What gravity alone adds in two steps, and a little more: slower impacts do not bounce.
VY_FN double restitution_threshold(const vy_bodies *b, double h)
{
    return b->def.contacts.restitution_speed + 2.0 * h * vec3_length(b->def.gravity);
}

/// The number of sub-steps, each at most `max_length` long, in a step of length h.
VY_FN int contacts_substeps(double h, double max_length)
{
    VY_ASSERT(h > 0.0 && max_length > 0.0 && h / max_length < 1e9);
    const double ratio = h / max_length * (1.0 - 1e-12);
    return (int)ratio + ((double)(int)ratio < ratio);
}

/// The root of the island of a contact, once islands are joined.
VY_FN uint32_t find_island(contact_system *s, const contact_header *c)
{
    VY_ASSERT((c->flags & (MOVES_A | MOVES_B)) != 0);
    return island_root(s->parent, c->flags & MOVES_A ? c->a : c->b);
}

/// [m] The displacement of a body's centre of mass in the step, dynamic or kinematic.
VY_FN vec3 displacement_in_step(const vy_bodies *b, uint32_t i, double h)
{
    const body_state *start = &b->contacts->start_state[i];
    return b->slots[i].kind == VY_BODY_DYNAMIC ? vec3_sub(b->state[i].position, start->position)
                                               : vec3_scale(h, start->velocity);
}

/// Where a body is at the end of the step: a kinematic one moves last.
VY_FN body_state state_at_end(const vy_bodies *b, uint32_t i, double h)
{
    return b->slots[i].kind == VY_BODY_KINEMATIC ? body_step_kinematic(&b->state[i], h) : b->state[i];
}

/// The key of a pair of slots: pairs are sorted by it.
VY_FN uint64_t contact_key(uint32_t i, uint32_t j)
{
    VY_ASSERT(i != j);
    return i < j ? (uint64_t)i << 32 | j : (uint64_t)j << 32 | i;
}

/// Whether contacts k and k - 1 are of one pair.
VY_FN int contact_is_of_previous_pair(const contact_system *s, uint32_t k)
{
    return k > 0 && s->headers[k - 1].a == s->headers[k].a && s->headers[k - 1].b == s->headers[k].b;
}

/// Which contact of its pair this one is, from 0.
VY_FN uint32_t contact_manifold_index(const contact_system *s, uint32_t k)
{
    uint32_t manifold_index = 0;
    for (; contact_is_of_previous_pair(s, k); --k) ++manifold_index;
    return manifold_index;
}

VY_FN vy_pose body_shape_pose(const vy_bodies *b, uint32_t i, const body_state *s)
{
    const vy_pose pose = {vec3_sub(s->position, quat_rotate(s->attitude, b->slots[i].centroid)), s->attitude};
    return pose;
}
