// bodies.h - the arrays behind a vy_bodies, for the files of this folder.
//
// Slot i of every array is one body. Slots are taken in order and used again, so the order of a loop over
// slots is the order of every sum: it depends on the calls that were made and on nothing else.
//
// Short names are the same in all files: b is the set, i and j are slots of bodies, k of a joint or the index
// of a contact, s is b->contacts, b->joints, b->sleep or a state, h the length [s] of a step or sub-step.
#pragma once
#include "equations/rigid_body.h"
#include "volery/bodies.h"

/// Constants of a body.
typedef struct body_slot {
    uint32_t generation;
    uint32_t next; // the next free slot + 1 while it is free
    vy_body_kind kind;
    int used;
    int no_contacts; // 1: it does not collide
    int no_sleep;    // 1: it never sleeps
    double mass;     // [kg] 0 unless dynamic
    vec3 centroid;   // [m] the centre of mass in the shape's frame
    vy_shape shape;  // VY_SHAPE_NONE without one
    vy_material material;
    uint64_t user_data; // the caller's
    uint64_t checksum;  // of all of this but user_data, and of the inertia: see checksum.h
} body_slot;

/// Which bodies a body collides with: state, once some body has another filter than the default one.
typedef struct body_filter {
    uint64_t category, mask;
    int32_t group;
    uint32_t is_trigger; // 1: with none, but it reports who overlaps it
} body_filter;

/// Mass and inertia as they were declared: what a body has when it is made dynamic, or gets another shape.
typedef struct body_declared {
    double mass;  // [kg]
    mat3 inertia; // [kg m^2] all zero: of the shape
} body_declared;

/// What all bodies share and a step changes.
typedef struct bodies_head {
    uint64_t tick;
    uint64_t failed;     // the VY_BODIES_ bit of why it has ended; 0: it has not
    uint64_t revision;   // changes with every body and joint that is added or removed
    uint64_t integrator; // as in the def, which a restored state changes
} bodies_head;

/// Velocities at the start of the last step.
typedef struct body_previous {
    vec3 velocity, rate;
} body_previous;

/// A potential, and the bodies that it acts on.
typedef struct body_potential {
    vy_potential potential;
    uint32_t first, last; // slots [first, last)
} body_potential;

/// The header of the block of memory that holds the arrays of a set.
typedef struct body_memory {
    struct body_memory *older; // the block that it replaced, which somebody may still read; NULL: freed
} body_memory;

struct joint_system;
struct joint_state;
struct joint_targets;
struct joint_gear;
typedef struct contact_cache contact_cache;

/// How many entries a list of the state has: a cache of contacts, or the pairs of triggers.
typedef struct contact_count {
    uint64_t count;
} contact_count;

struct contact_system;
struct trigger_system;
typedef struct trigger_pair trigger_pair;
struct sleep_system;
struct body_sleep;
struct query_tree;

/// A source of the rates of unconstrained bodies, in place of applied forces and potentials: the world's
/// plant.
typedef struct body_driver {
    const void *self;
    body_derivatives (*derivative)(const void *self, uint32_t slot, const body_state *state, double time);
} body_driver;

struct vy_bodies {
    vy_bodies_def def;
    uint32_t body_cap, joint_cap, potential_cap; // how many there is memory for
    body_memory *memory;                         // of the arrays whose length is body_cap or joint_cap
    int has_state_view; // 1: vy_bodies_states() was asked for, so that memory is kept as long as the set
    uint32_t count, slot_count; // bodies; slots in use are below slot_count
    uint32_t first_free;        // the first free slot below slot_count, + 1; 0: none
    body_slot *slots;           // [body_cap]
    body_params *params;        // [body_cap] mass and inertia as the equations take them
    body_declared *declared;    // [body_cap] mass and inertia as declared
    body_potential *potentials; // [potential_cap] potentials beside gravity
    uint32_t potential_count;
    int *has_loads;       // [body_cap] 1: `loads` may be other than zero
    unsigned char *awake; // [body_cap] 1: dynamic and awake
    // State. Snapshots and hashes have what is in use of it.
    bodies_head *head; // &own_head
    bodies_head own_head;
    body_state *state;                    // [body_cap]
    body_loads *loads;                    // [body_cap] applied in the next step
    body_previous *previous;              // [body_cap] velocities at the start of the last step
    body_filter *filters;                 // [body_cap]
    uint32_t filter_count;                // bodies whose filter is not the default one
    uint32_t trigger_count;               // of those, triggers
    contact_count own_trigger_pair_count; // pairs of a trigger and a body that overlap it
    uint64_t *disturbed; // [body_cap] 1: its state was set, or an impulse was applied, since the last step
    struct joint_state *joint_state;     // [joint_cap]
    struct joint_targets *joint_targets; // [joint_cap]
    struct joint_gear *joint_gears;      // [joint_cap]
    contact_count own_contact_counts[2]; // of contacts and of sleeping ones
    contact_count *contact_count;        // NULL without contacts; the first of them, or the world's
    contact_cache *contact_cache;        // as many as contact_count says are in use, sorted by slots
    body_driver driver;                  // `derivative` NULL: none
    int external_integration; // 1: the world's plant integrates the bodies; their forces follow from that
                              // motion
    struct joint_system *joints;
    struct contact_system *contacts; // NULL without contacts
    struct trigger_system *triggers; // NULL without contacts
    struct sleep_system *sleep;      // NULL: bodies never sleep
    struct body_sleep *own_sleep;    // [body_cap] sleep->bodies, unless these are the world's
    struct vy_pool *pool;            // threads of a step; NULL: the caller's alone
    uint64_t pose_revision;     // changes whenever a body may have moved, come or gone, or has a new shape
    struct query_tree *queries; // boxes for queries; NULL: vy_bodies_prepare_queries() was not called
};

/// Have memory for so many bodies and joints. Whatever lies in the arrays may move. VY_FULL, VY_NO_MEMORY:
/// nothing has changed.
vy_status vy_bodies_reserve(vy_bodies *b, uint64_t count, uint64_t joints, vy_error *err);

/// The capacity of an array after it has grown to what is needed: so large that adding one by one stays
/// cheap.
VY_FN size_t grown_capacity(size_t capacity, size_t needed)
{
    return needed <= capacity ? capacity : needed > 2 * capacity ? needed : 2 * capacity;
}

/// Replace the filter of a slot.
void vy_filters_set(vy_bodies *b, uint32_t i, body_filter filter);
/// As vy_default_filter().
body_filter vy_filters_default(void);
/// Whether `count` filters of a snapshot can be those of a set. They need not be aligned.
int vy_filters_are_valid(const vy_bodies *b, const void *filters, uint64_t count);
/// After the filters were replaced: count those that are not the default one.
void vy_filters_sync(vy_bodies *b);

/// The constants of a body by its def, into a slot and params that are zero there.
/// @return as vy_bodies_add()
vy_status vy_body_constants(const vy_body_def *def, body_slot *slot, body_params *params, vy_error *err);

/// The slot of an id, or -1 when it is stale.
int64_t vy_bodies_find(const vy_bodies *b, vy_body_id id);

/// Force and torque of a potential, both added to.
void vy_potential_add_loads(const vy_potential *p, const vy_potential_body *b, vec3 *force, vec3 *torque);

VY_FN int body_is_dynamic(const vy_bodies *b, uint32_t i)
{
    return b->slots[i].kind == VY_BODY_DYNAMIC; // a free slot is static
}

/// Whether the filters of two bodies let them meet, triggers or not.
VY_FN int filters_meet(const vy_bodies *b, uint32_t i, uint32_t j)
{
    if (b->filter_count == 0) return 1;
    const body_filter *x = &b->filters[i], *y = &b->filters[j];
    const vy_filter p = {x->category, x->mask, x->group}, q = {y->category, y->mask, y->group};
    return vy_filters_collide(&p, &q);
}

/// Whether they let them collide.
VY_FN int filters_collide(const vy_bodies *b, uint32_t i, uint32_t j)
{
    return b->filter_count == 0 ||
           (!b->filters[i].is_trigger && !b->filters[j].is_trigger && filters_meet(b, i, j));
}

VY_FN vy_potential_body body_for_potential(const vy_bodies *b, uint32_t i, const body_state *s)
{
    const vy_potential_body body = {*s, b->slots[i].mass, b->params[i].inertia};
    return body;
}
