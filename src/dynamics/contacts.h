// contacts.h - the arrays behind the contacts of a vy_bodies, for the files of this folder.
//
// A step first flies every body freely. Then pairs that are near one another are looked at, sorted by slots;
// pairs make islands, and the bodies of an island that touches are put back to where they were and stepped
// with contacts. All other bodies keep the bits of their free flight.
#pragma once
#include "dynamics/contact_kernel.h"
#include "dynamics/free_step.h"
#include "dynamics/joint.h"
#include "dynamics/share.h"
#include <stdatomic.h>

/// What a pair of bodies remembers from step to step: state.
struct contact_memory {
    uint32_t a, b; // slots, a < b
    uint32_t count, spare;
    vec3 at[VY_MANIFOLD_POINTS];     // [m] on a, from its centre of mass, body axes
    double push[VY_MANIFOLD_POINTS]; // [N s] along the normal, of the last sub-step
    double load;                     // [N s] mean push of all points over the last quarter of a second
    vec3 friction;                   // [N s] on b, across the normal
    vec3 twist;                      // [N m s] on b: against rolling and spinning
};

/// How many there are, at the front of them.
struct contact_count {
    uint64_t count;
};

/// How the contacts of an island start a step.
typedef enum contact_start {
    START_APART = 0, // nothing touches
    START_WARM = 1,  // from the pushes of the last step, or by an impact
    START_COLD = 2,  // bodies at rest that have just been put together: no pushes are known
    START_TIED = 4,  // some of its bodies are on joints: contact_joints.c
} contact_start;

/// A contact that pushed, and where what is told of it goes.
typedef struct book_entry {
    uint32_t contact, report;
} book_entry;

enum { GROUP_CONTACTS = 512 }; // what is solved at a time on one thread, unless one island has more

/// Islands that are solved at a time.
typedef struct contact_group {
    uint32_t first, last;               // contacts, of `grouped`
    uint32_t member_first, member_last; // bodies, of `members`
    contact_start start;
    int together; // 1: by all threads
} contact_group;

/// What contacts gave a body in a step.
typedef struct contact_given {
    vec3 impulse; // [N s] world
    vec3 angular; // [N m s] about the centre of mass, body axes at the end of the step
} contact_given;

typedef struct contact_system {
    vy_tree *tree;
    int *proxy_of;           // [body_cap] of a slot, -1: none
    uint32_t *slot_of;       // [body_cap] of a proxy
    uint32_t *parent;        // [body_cap] of the islands' forest
    int *touching;           // [body_cap] by root: contact_start of its island
    int *fresh;              // [body_cap] by root: its new contacts at rest less all others
    int *solved;             // [body_cap] contact_start bits: what it takes part in
    body_state *start;       // [body_cap] before the step
    contact_body *body;      // [body_cap]
    contact_motion *motion;  // [body_cap]
    uint64_t *colours;       // [body_cap] a bit for every colour that a contact of the body has
    vy_bounds *bounds;       // [body_cap] of the way through the step
    vy_pose *pose;           // [body_cap] of the shape, at the start of the step
    double *turn;            // [m] [body_cap] how far the surface gets by turning, beyond the centre's way
    vy_tree_pair *pairs;     // [pair_cap]
    uint64_t *keys, *sorted; // [pair_cap]
    uint32_t pair_cap;
    uint64_t *tree_keys; // [pair_cap] the tree's pairs, sorted: as long as no box of it moves they stay
    size_t tree_count;
    atomic_size_t found_pairs; // so far
    int *moved;                // [body_cap] 1: its box in the tree is a new one
    int stale;                 // 1: bodies came, went, woke or fell asleep since
    uint32_t moves;            // of boxes since the tree was built
    uint32_t *bucket;          // [body_cap + 1]
    contact *list;             // [cap], sorted by slots
    contact_link *links;       // [cap] of them
    uint32_t count;
    const contact_kernel *kernel; // the widest this machine has
    contact_group *groups;        // [body_cap]
    uint32_t group_count;
    uint32_t *group_of;         // [body_cap] of an island, by root
    uint32_t *size;             // [body_cap] contacts that are solved, by root
    unsigned char *driven;      // [body_cap] by root: 1 when it touches what others move
    uint32_t *members;          // [2 body_cap] bodies of the groups
    uint32_t *grouped;          // [cap] contacts of the groups
    uint32_t *order;            // [2 cap] the same by colour; then those without one
    struct contact_part *parts; // [threads] of the solver
    void *packs;                // of the wide kernel, then of the narrow one
    vy_manifold *found;         // [block] of some pairs
    uint32_t *kept;             // [block] which of them are contacts
    uint32_t block;             // pairs whose manifolds are known at a time
    atomic_int lost;            // 1: a body's motion became infinite
    uint64_t *before;           // [cap] keys of what was remembered of the step before
    book_entry *book;           // [cap] what is remembered of this one
    vy_contact_report *reports; // [3 cap] that push, pushed, or sleep
    uint32_t report_count;
    struct tied_room *tied; // NULL in a set that can have no joints
    contact_given *given;   // [body_cap] of bodies that are START_TIED in `solved`; NULL likewise
} contact_system;

vy_status vy_contacts_create(vy_bodies *b);
void vy_contacts_destroy(vy_bodies *b);
/// Bytes of state that contacts take.
size_t vy_contacts_state_size(const vy_bodies_def *def);
vy_status vy_contacts_check(const vy_contacts_def *def, vy_error *err);
vy_status vy_material_check(const vy_material *m, vy_error *err);
void vy_contacts_add_body(vy_bodies *b, uint32_t i);
void vy_contacts_drop_body(vy_bodies *b, uint32_t i);

/// Before the free flight.
void vy_contacts_begin(vy_bodies *b);
/// After it: put back and step what touches. Returns VY_BODIES_ bits.
uint32_t vy_contacts_step(vy_bodies *b, double h);

/// Pairs whose bounds meet within the step, sorted, into the keys. Returns 0 when there was no room for all.
int vy_contacts_pairs(vy_bodies *b, double h, size_t *count);
/// Where a body's shape is at the start of the step, and its bounds from there to the end with all that
/// turning may add.
void vy_contacts_sweep(vy_bodies *b, uint32_t i, double h);
/// Whether the free flights of two bodies meet: at their end, or on the way there without turning.
int vy_flights_meet(const vy_bodies *b, uint32_t i, uint32_t j, double h);
/// Every pair that may touch within the step, with its points. Returns 0 when there was no room for all.
int vy_contacts_find(vy_bodies *b, double h);
/// The widest kernel that this machine has.
const contact_kernel *vy_contacts_kernel(void);
/// Bytes that the packs of so many contacts take at most, on any machine.
size_t vy_contacts_pack_memory(uint32_t cap, uint32_t threads);
/// Bytes that the parts of so many threads take.
size_t vy_contacts_part_memory(uint32_t threads);
/// Solve the active contacts, from where the bodies were at the start.
void vy_contacts_solve(vy_bodies *b, double h);
/// Put the islands that are solved into groups, without those on joints.
void vy_contacts_group(vy_bodies *b);
/// What the kernels are told in a step of length h with sub-steps of length `each`.
contact_job vy_contacts_job(const vy_bodies *b, double h, double each);

vy_status vy_tied_create(vy_bodies *b);
void vy_tied_destroy(contact_system *s);
/// Bodies that joints hold together belong to one island.
void vy_tied_join(vy_bodies *b);
/// Of the islands that touch, those with joints are START_TIED.
void vy_tied_mark(vy_bodies *b);
/// Solve these, contacts and joints together.
void vy_tied_solve(vy_bodies *b, double h);

/// What pushed a body in its free flight, on average over the step: for sets that somebody else flies.
VY_FN body_push push_of_flight(const vy_bodies *b, uint32_t i, double h)
{
    const body_state *s = &b->contacts->start[i], *e = &b->state[i];
    const mat3 inertia = b->params[i].inertia;
    const vec3 turn = vec3_cross(s->rate, mat3_mul_vec(inertia, s->rate));
    const body_push p = {
        vec3_scale(1.0 / h, vec3_sub(e->velocity, s->velocity)),
        vec3_add(mat3_mul_vec(inertia, vec3_scale(1.0 / h, vec3_sub(e->rate, s->rate))), turn)};
    return p;
}

/// [m/s] What gravity alone adds in two steps, and a little more: slower impacts do not bounce.
VY_FN double contacts_slow(const vy_bodies *b, double h)
{
    return b->def.contacts.restitution_speed + 2.0 * h * vec3_length(b->def.gravity);
}

/// Sub-steps of at most `most` in a step of length h.
VY_FN int contacts_substeps(double h, double most)
{
    const double ratio = h / most * (1.0 - 1e-12);
    return (int)ratio + ((double)(int)ratio < ratio);
}

VY_FN uint32_t island_of(contact_system *s, const contact_link *c)
{
    return island_root(s->parent, c->facts & MOVES_A ? c->a : c->b);
}

/// [m] How far a body's centre of mass goes in the step, by itself or driven.
VY_FN vec3 contact_way(const vy_bodies *b, uint32_t i, double h)
{
    const body_state *start = &b->contacts->start[i];
    return b->slots[i].kind == VY_BODY_DYNAMIC ? vec3_sub(b->state[i].position, start->position)
                                               : vec3_scale(h, start->velocity);
}

/// Orders pairs of slots.
VY_FN uint64_t contact_key(uint32_t i, uint32_t j)
{
    return i < j ? (uint64_t)i << 32 | j : (uint64_t)j << 32 | i;
}

VY_FN vy_pose body_shape_pose(const vy_bodies *b, uint32_t i, const body_state *s)
{
    const vy_pose pose = {vec3_sub(s->position, quat_rotate(s->attitude, b->slots[i].centroid)), s->attitude};
    return pose;
}
