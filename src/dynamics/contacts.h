// contacts.h - the arrays behind the contacts of a vy_bodies, for the files of this folder.
//
// A step first integrates every body without contacts: its free flight. Then it collides the pairs of the
// broad phase, in the order of their slots, and joins them to islands. The bodies of an island that touches
// go back to the start of the step and are stepped again with contacts, in sub-steps. All other bodies keep
// the bits of their free flight.
#pragma once
#include "base/assert.h"
#include "dynamics/contact_kernel.h"
#include "dynamics/free_step.h"
#include "dynamics/joint.h"
#include "dynamics/parallel.h"
#include <stdatomic.h>

/// What is kept of a pair of bodies from step to step, for warm starting: state.
struct contact_cache {
    uint32_t a, b; // slots, a < b
    uint32_t point_count, spare;
    vec3 local_anchor_a[VY_MANIFOLD_POINTS];   // [m] on a, from its centre of mass, body axes
    double normal_impulse[VY_MANIFOLD_POINTS]; // [N s] of the last sub-step
    double mean_normal_impulse;                // [N s] of all points, mean over the last quarter of a second
    vec3 friction_impulse;                     // [N s] on b, in the tangent plane
    vec3 angular_impulse;                      // [N m s] on b: rolling resistance and torsional friction
};

/// The number of entries in the cache, in front of them.
struct contact_count {
    uint64_t count;
};

/// How the contacts of an island start a step.
typedef enum contact_start {
    START_APART = 0,   // nothing touches: not solved
    START_WARM = 1,    // from the impulses of the last step, or by an impact
    START_COLD = 2,    // bodies at rest, just put together, without impulses to start from: more iterations
    START_JOINTED = 4, // some of its bodies have joints: contact_jointed.c
} contact_start;

/// A contact that had an impulse, and the index of its report.
typedef struct contact_record {
    uint32_t contact, report;
} contact_record;

enum { GROUP_CONTACTS = 512 }; // contacts solved at a time on one thread, unless one island has more

/// Islands that are solved at the same time.
typedef struct contact_group {
    uint32_t first, last;               // contacts, of `grouped`
    uint32_t member_first, member_last; // bodies, of `members`
    contact_start start;
    int all_threads; // 1: solved by all threads
} contact_group;

/// The sum of the contacts' impulses on a body in a step.
typedef struct body_impulses {
    vec3 impulse;         // [N s] world
    vec3 angular_impulse; // [N m s] about the centre of mass, body axes at the end of the step
} body_impulses;

typedef struct contact_system {
    void *memory; // of all arrays but those of joints
    vy_tree *tree;
    int *proxy_of;           // [body_cap] of a slot, -1: none
    uint32_t *slot_of;       // [body_cap] of a proxy
    uint32_t *parent;        // [body_cap] of the islands' forest
    int *island_start;       // [body_cap] by root: contact_start of the island
    int *cold_votes;         // [body_cap] by root: contacts that are NEW_AT_REST less all others
    int *solved_as;          // [body_cap] contact_start bits of the islands it takes part in
    body_state *start_state; // [body_cap] at the start of the step
    contact_body *body;      // [body_cap]
    contact_motion *motion;  // [body_cap]
    uint64_t *colours;       // [body_cap] a bit for every colour that a contact of the body has
    vy_bounds *bounds;       // [body_cap] swept over the step
    vy_pose *pose;           // [body_cap] of the shape, at the start of the step
    double *rotation_reach;  // [m] [body_cap] how far rotation moves the surface at most, beyond the
                             // displacement of the centre
    vy_tree_pair *pairs;     // [pair_cap]
    uint64_t *keys, *sorted; // [pair_cap]
    uint32_t pair_cap;
    uint64_t *tree_keys; // [pair_cap] pairs of the tree, sorted; they stay valid while no box moves
    size_t tree_count;
    atomic_size_t found_pairs; // so far
    int *moved;                // [body_cap] 1: its box in the tree is a new one
    int pairs_stale;           // 1: bodies were added, removed, woke up or fell asleep since
    uint32_t moved_count;      // boxes moved since the tree was built
    uint32_t *bucket;          // [body_cap + 1]
    contact *contacts;         // [cap], sorted by slots
    contact_header *headers;   // [cap] of them
    uint32_t count;
    const contact_kernel *kernel; // the widest this machine has
    contact_group *groups;        // [body_cap]
    uint32_t group_count;
    uint32_t *group_of;           // [body_cap] of an island, by root
    uint32_t *island_size;        // [body_cap] by root: contacts that are solved
    unsigned char *island_driven; // [body_cap] by root: 1 when it touches a kinematic body
    uint32_t *members;            // [2 body_cap] bodies of the groups
    uint32_t *grouped;            // [cap] contacts of the groups
    uint32_t *order;              // [2 cap] the same by colour; then those without one
    struct contact_part *parts;   // [threads] of the solver
    void *packs;                  // of the wide kernel, then of the narrow one
    vy_manifold *manifolds;       // [block] of some pairs
    uint32_t *with_points;        // [block] indices of those with points
    uint32_t block_size;          // pairs that are collided at a time
    atomic_int not_finite;        // 1: a body's motion was not finite
    uint64_t *previous_keys;      // [cap] keys of the cache before the step
    contact_record *records;      // [cap] contacts of this step that had an impulse
    vy_contact_report *reports;   // [3 cap] begun, persisting, ended, or asleep
    uint32_t report_count;
    struct jointed_lists *jointed; // NULL in a set that can have no joints
    body_impulses *body_impulses;  // [body_cap] of bodies that are START_JOINTED in solved_as; NULL likewise
} contact_system;

vy_status vy_contacts_create(vy_bodies *b);
void vy_contacts_destroy(vy_bodies *b);
/// Bytes of state that contacts take.
size_t vy_contacts_state_size(const vy_bodies_def *def);
vy_status vy_contacts_check(const vy_contacts_def *def, vy_error *err);
vy_status vy_material_check(const vy_material *m, vy_error *err);
void vy_contacts_add_body(vy_bodies *b, uint32_t i);
void vy_contacts_remove_body(vy_bodies *b, uint32_t i);

/// Before the free flight.
void vy_contacts_begin(vy_bodies *b);
/// After it: step the islands that touch again, with contacts. Returns VY_BODIES_ bits.
uint32_t vy_contacts_step(vy_bodies *b, double h);

/// Pairs whose swept bounds overlap, sorted, into the keys. Returns 0 when there was no room for all.
int vy_contacts_pairs(vy_bodies *b, double h, size_t *count);
/// The pose of a body's shape at the start of the step, and its bounds swept to the end, widened by what
/// rotation may add.
void vy_contacts_sweep_bounds(vy_bodies *b, uint32_t i, double h);
/// Whether two bodies collide in their free flights: at the end of the step, or on the way there without
/// rotation.
int vy_paths_collide(const vy_bodies *b, uint32_t i, uint32_t j, double h);
/// All pairs that may touch within the step, with their manifolds. Returns 0 when there was no room for all.
int vy_contacts_find(vy_bodies *b, double h);
/// The widest kernel that this machine has.
const contact_kernel *vy_contacts_kernel(void);
/// Bytes that the packs of so many contacts take at most, on any machine.
size_t vy_contacts_pack_memory(uint32_t cap, uint32_t threads);
/// Bytes that the parts of so many threads take.
size_t vy_contacts_part_memory(uint32_t threads);
/// Solve the active contacts, from where the bodies were at the start.
void vy_contacts_solve(vy_bodies *b, double h);
/// Put the islands to solve into groups, without those that have joints.
void vy_contacts_group(vy_bodies *b);
/// The parameters of the kernels in a step of length h with sub-steps of length `substep_h`.
contact_job vy_contacts_job(const vy_bodies *b, double h, double substep_h);

vy_status vy_jointed_create(vy_bodies *b);
void vy_jointed_destroy(contact_system *s);
/// Join the islands of jointed bodies.
void vy_jointed_join(vy_bodies *b);
/// Islands that touch and have joints become START_JOINTED.
void vy_jointed_mark(vy_bodies *b);
/// Solve those, contacts and joints coupled.
void vy_jointed_solve(vy_bodies *b, double h);

/// The mean forces on a body over its free flight: for sets whose bodies are flown by the world's plant.
VY_FN body_wrench mean_wrench(const vy_bodies *b, uint32_t i, double h)
{
    VY_ASSERT(i < b->limit && h > 0.0);
    const body_state *s = &b->contacts->start_state[i], *e = &b->state[i];
    const mat3 inertia = b->params[i].inertia;
    const vec3 gyro = vec3_cross(s->rate, mat3_mul_vec(inertia, s->rate));
    const body_wrench p = {
        vec3_scale(1.0 / h, vec3_sub(e->velocity, s->velocity)),
        vec3_add(mat3_mul_vec(inertia, vec3_scale(1.0 / h, vec3_sub(e->rate, s->rate))), gyro)};
    return p;
}

/// [m/s] What gravity alone adds in two steps, and a little more: slower impacts do not bounce.
VY_FN double restitution_threshold(const vy_bodies *b, double h)
{
    return b->def.contacts.restitution_speed + 2.0 * h * vec3_length(b->def.gravity);
}

/// The number of sub-steps, each at most `max` long, in a step of length h.
VY_FN int contacts_substeps(double h, double max)
{
    VY_ASSERT(h > 0.0 && max > 0.0 && h / max < 1e9);
    const double ratio = h / max * (1.0 - 1e-12);
    return (int)ratio + ((double)(int)ratio < ratio);
}

VY_FN uint32_t island_of(contact_system *s, const contact_header *c)
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

/// The key of a pair of slots: pairs are sorted by it.
VY_FN uint64_t contact_key(uint32_t i, uint32_t j)
{
    VY_ASSERT(i != j);
    return i < j ? (uint64_t)i << 32 | j : (uint64_t)j << 32 | i;
}

VY_FN vy_pose body_shape_pose(const vy_bodies *b, uint32_t i, const body_state *s)
{
    const vy_pose pose = {vec3_sub(s->position, quat_rotate(s->attitude, b->slots[i].centroid)), s->attitude};
    return pose;
}
