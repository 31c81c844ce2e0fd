// contacts.h - the arrays behind the contacts of a vy_bodies, for the files of this folder.
//
// A step first flies every body freely. Then pairs that are near one another are looked at, sorted by slots;
// pairs make islands, and the bodies of an island that touches are put back to where they were and stepped
// with contacts. All other bodies keep the bits of their free flight.
#pragma once
#include "dynamics/joint.h"
#include "volery/collision.h"

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

/// One point of a contact in a step.
typedef struct contact_point {
    vec3 on_a, on_b;     // [m] from the centres of mass to the surfaces, body axes
    vec3 from_a, from_b; // [m] the same at the start of the step, world
    vec3 arm_a, arm_b;   // [m] from the centres of mass to the point between, world
    vec3 turn_a, turn_b; // [m] arms x normal
    double mass;         // [kg] effective, along the normal
    double push;         // [N s] so far
    double most;         // [N s] largest push of all sub-steps
    double total;        // [N s] of all sub-steps
    double gap;          // [m] now
    double speed;        // [m/s] of separation before the step
} contact_point;

/// Two bodies that touch or are about to.
typedef struct contact {
    uint32_t a, b;
    int count;
    int was;              // 1: pushed in the last step
    int active;           // 1: solved in this step
    int simple;           // 1: a body is held by joints, and gets the simple response
    int rigid;            // 1: one of the two does not move: twice as stiff
    int round_a, round_b; // 1: a ball, whose surface does not move when it turns
    vec3 n, t1, t2;
    double gap; // [m] of the nearest point
    double friction, restitution, rolling, spinning;
    // Friction acts at one point, where the pushes have their mean.
    vec3 arm_a, arm_b;           // [m] to it from the centres of mass, world
    double load;                 // [N s] mean push of the last quarter of a second, of all points: at rest
                                 // the springs carry it without giving way
    double radius;               // [m] mean distance of the pushes from it
    double mass_1, mass_2;       // [kg] effective, across the normal
    double roll_mass, spin_mass; // [kg m^2] effective
    double drag_1, drag_2;       // [N s] friction so far
    double roll_1, roll_2, spin; // [N m s] so far
    vec3 impulse;                // [N s] on b, of all sub-steps
    // [1/kg] Speed of separation at one point by a push at another.
    double together; // [kg] effective, for a push shared evenly by all points
    double couple[VY_MANIFOLD_POINTS][VY_MANIFOLD_POINTS];
    contact_point p[VY_MANIFOLD_POINTS];
} contact;

/// A body while contacts are solved, world axes.
typedef struct contact_body {
    vec3 position, velocity, rate;
    quat attitude;
    mat3 rotation, inverse_inertia;
    double inverse_mass;
    vec3 acceleration, torque; // [m/s^2], [N m] at the start of the step
    int moves;                 // 1: dynamic
    int round;                 // 1: the same moment about every axis
} contact_body;

typedef struct contact_system {
    vy_tree *tree;
    int *proxy_of;           // [body_cap] of a slot, -1: none
    uint32_t *slot_of;       // [body_cap] of a proxy
    uint32_t *parent;        // [body_cap] of the islands' forest
    int *touching;           // [body_cap] by root: 1 when its island is solved
    int *solved;             // [body_cap] 1: takes part in it
    body_state *start;       // [body_cap] before the step
    contact_body *body;      // [body_cap]
    vy_bounds *bounds;       // [body_cap] of the way through the step
    double *turn;            // [m] [body_cap] how far the surface gets by turning, beyond the centre's way
    vy_tree_pair *pairs;     // [pair_cap]
    uint64_t *keys, *sorted; // [pair_cap]
    uint32_t pair_cap;
    contact *list; // [cap], sorted by slots
    uint32_t count;
    contact_memory *old; // [cap] of the step before
    uint64_t old_count;
    vy_contact_report *reports; // [2 cap]
    uint32_t report_count;
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

/// Every pair that may touch within the step, with its points. Returns 0 when there was no room for all.
int vy_contacts_find(vy_bodies *b, double h);
/// Solve the active contacts, from where the bodies were at the start.
void vy_contacts_solve(vy_bodies *b, double h);

VY_FN vy_pose body_shape_pose(const vy_bodies *b, uint32_t i, const body_state *s)
{
    const vy_pose pose = {vec3_sub(s->position, quat_rotate(s->attitude, b->slots[i].centroid)), s->attitude};
    return pose;
}
