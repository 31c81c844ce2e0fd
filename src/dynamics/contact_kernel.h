// contact_kernel.h - what the contact solver and its kernels share: plain types alone, one layout for every
// lane width.
//
// Contacts of one colour have no moving body in common, so they may be solved side by side: a pack is as many
// of them as a register has lanes. What a lane does depends on its own two bodies alone, so every width gives
// the same bits.
#pragma once
#include "volery/collision.h"
#include <stddef.h>
#include <stdint.h>

#define SLOP_FRACTION 0.02 // of the thinner one's thickness: the slop of thin bodies is less

/// One point of a contact at the start of a step: a row of lanes.
typedef struct contact_point {
    vy_vec3 anchor_a;       // [m] on a's surface, from its centre of mass, world axes
    double separation;      // [m] below zero: overlap
    double normal_impulse;  // [N s] of the last sub-step
    vy_vec3 local_anchor_a; // [m] anchor_a in a's axes
} contact_point;

/// Two bodies that touch or are about to. Rows of eight numbers, as lanes load them; unused points are zero.
typedef struct contact {
    vy_vec3 normal, tangent_1; // from a to b, and across; tangent_2 = normal x tangent_1
    double friction, restitution;

    vy_vec3 a_to_b;             // [m] between the centres of mass
    double mean_normal_impulse; // [N s] of all points, mean of the last quarter of a second: at rest the soft
                                // constraint carries it without giving way
    double rolling_resistance, torsional_friction; // [m]
    double tangent_impulse_1, tangent_impulse_2;   // [N s] friction of the last sub-step

    double rolling_impulse_1, rolling_impulse_2, twist_impulse; // [N m s] of the last sub-step
    vy_vec3 total_impulse;                                      // [N s] on b, of all sub-steps
    uint32_t a, b;
    int point_count;
    int persists; // 1: it had an impulse in the last step

    contact_point points[VY_MANIFOLD_POINTS];

    double total_normal_impulse[VY_MANIFOLD_POINTS]; // [N s] of all sub-steps
    double relative_velocity[VY_MANIFOLD_POINTS];    // [m/s] of b against a, along the normal before the
                                                     // step; closing: < 0
} contact;

_Static_assert(sizeof(contact) % 64 == 0, "rows of contacts are whole cache lines");

/// What is known of a contact at the start of a step.
typedef enum contact_flag {
    MOVES_A = 1,          // a is dynamic and awake
    MOVES_B = 2,          // b is
    KEEPS_TOUCHING = 4,   // it had an impulse in the last step, and some point does not separate
    NEW_AT_REST = 8,      // it touches, had no impulse in the last step, and its bodies close slowly
    HAS_RESTITUTION = 16, // restitution above zero
    HAS_INTERVALS = 32,   // its step was divided: its report is in the sums
    IS_DEEP = 64,         // deeper than a step may leave it: contact_project.c
} contact_flag;

/// The few fields of a contact that islands, colouring and reports read: they go over all contacts several
/// times, and a contact is large.
typedef struct contact_header {
    uint32_t a, b;
    uint8_t flags; // contact_flag bits
    uint8_t point_count;
    uint8_t solve_mode;      // how it is solved in this step: a contact_solve_mode, 0 for not at all
    uint8_t colour;          // contacts of one colour share no body that moves
    uint32_t impulse_points; // points that had an impulse in this step
    uint32_t island;         // its root
    uint16_t iterations;     // of the solver, by the ratio of its bodies' masses
    uint16_t is_prescribed;  // 1: one of its bodies moves, and not by contacts
} contact_header;

/// The velocities of a body while contacts are solved, world axes: what every contact reads and writes. Eight
/// numbers are a row of lanes.
typedef struct contact_motion {
    double velocity[3], rate[3], padding[2];
    double impulse[3];         // [N s] sum of the contacts' impulses, for the warm start of the next sub-step
    double angular_impulse[3]; // [N m s]
    double fraction; // of the warm start that is used in this sub-step; after its last relaxation, of
                     // restitution
    double padding_2;
} contact_motion;

/// The pose and mass of a body while contacts are solved, world axes.
typedef struct contact_body {
    double delta_position[3];  // [m] since the start of the step
    double delta_rotation[4];  // w, x, y, z since then, of the surface: without what leaves it the same
    double is_not_sphere;      // 1: it is no sphere
    double inverse_inertia[6]; // xx xy xz yy yz zz
    double inverse_mass, padding;
    int moves;                        // 1: contacts change its velocity: it is dynamic and awake
    int is_isotropic;                 // 1: the same moment of inertia about every axis
    int is_vectorised;                // 1: it moves, is isotropic, and no torque acts on it
    int is_axisymmetric;              // 1: the same when turned about its own z axis
    vy_vec3 start_position;           // [m] at the start of the step
    vy_quat attitude, start_attitude; // now, and at the start of the step
    vy_vec3 acceleration, torque;     // [m/s^2] world, [N m] body: at the start of the step
    vy_mat3 rotation; // of the attitude now; of a vectorised body, at the start of the step or at its end
} contact_body;

/// What a warm start does to the kinetic energy of a body, or of an island: applied by a part s of it,
/// s linear + s^2 quadratic / 2.
typedef struct velocity_change_work {
    double linear, quadratic; // [J]
} velocity_change_work;

/// A soft constraint (spring and damper) as the solver uses it: Catto's soft step.
typedef struct contact_softness {
    double bias_rate;     // [1/s] velocity bias over overlap
    double mass_scale;    // scales the effective mass
    double impulse_scale; // part of the accumulated impulse that is taken back
} contact_softness;

// Lanes load and store rows of eight numbers from the first one on, across members.
#define ROW_HAS(type, first, member, index)                                                    \
    _Static_assert(offsetof(type, member) - offsetof(type, first) == (index) * sizeof(double), \
                   #member " is number " #index " of the row from " #first)
#define ROW_IS_WITHIN(type, first) \
    _Static_assert(offsetof(type, first) + 8 * sizeof(double) <= sizeof(type), "a row from " #first)
ROW_HAS(contact_motion, velocity, rate, 3);
ROW_HAS(contact_motion, velocity, impulse, 8); // what is stored with velocities ends before it
ROW_HAS(contact_motion, impulse, angular_impulse, 3);
ROW_HAS(contact_motion, impulse, fraction, 6);
ROW_IS_WITHIN(contact_motion, impulse);
ROW_HAS(contact_body, delta_position, delta_rotation, 3);
ROW_HAS(contact_body, delta_position, is_not_sphere, 7);
ROW_HAS(contact_body, attitude, start_attitude, 4);
ROW_IS_WITHIN(contact_body, acceleration);
ROW_HAS(contact_body, inverse_inertia, inverse_mass, 6);
ROW_IS_WITHIN(contact_body, inverse_inertia);
ROW_HAS(contact, normal, tangent_1, 3);
ROW_HAS(contact, normal, friction, 6);
ROW_HAS(contact, normal, restitution, 7);
ROW_HAS(contact, a_to_b, mean_normal_impulse, 3);
ROW_HAS(contact, a_to_b, rolling_resistance, 4);
ROW_HAS(contact, a_to_b, torsional_friction, 5);
ROW_HAS(contact, a_to_b, tangent_impulse_1, 6);
ROW_HAS(contact, a_to_b, tangent_impulse_2, 7);
ROW_HAS(contact, rolling_impulse_1, rolling_impulse_2, 1);
ROW_HAS(contact, rolling_impulse_1, twist_impulse, 2);
ROW_IS_WITHIN(contact, rolling_impulse_1);
ROW_HAS(contact_point, anchor_a, separation, 3);
ROW_HAS(contact_point, anchor_a, normal_impulse, 4);
ROW_IS_WITHIN(contact_point, anchor_a);
#undef ROW_HAS
#undef ROW_IS_WITHIN

/// What a kernel works on.
typedef struct contact_context {
    contact *contacts;
    contact_header *headers;
    contact_motion *motion;
    contact_body *body;
    double inverse_h;             // [1/s] 1 / the length of a sub-step
    const double *thickness;      // [m] of the bodies
    double slop, push_speed;      // [m], [m/s]
    double mean_weight;           // weight of a sub-step in mean_normal_impulse
    double restitution_threshold; // [m/s] slower impacts do not bounce
    int hold_mean_impulse;        // soft rows at rest keep the mean impulse: heavy bodies on light ones
    contact_softness softness[2]; // between two bodies that move, and against one that does not
} contact_context;

/// The solver over one lane width. Packs [first, last) of `packs`, of one colour where bodies are written.
typedef struct contact_kernel {
    const char *name;
    uint32_t width;   // lanes of a pack
    size_t pack_size; // [bytes]
    /// Fill one pack with `count` contacts, given by their indices, and compute its effective masses.
    void (*prepare)(const contact_context *context, const uint32_t *contacts, uint32_t count, void *pack);
    /// Add the impulses of the last step to the bodies' warm start.
    void (*warm_start)(const contact_context *context, void *packs, uint32_t first, uint32_t last);
    /// Scale the impulses by the part of the bodies: what they start from in this sub-step.
    void (*scale_impulses)(const contact_context *context, void *packs, uint32_t first, uint32_t last);
    /// Solve the velocities with bias: soft constraints push overlaps apart.
    void (*solve)(const contact_context *context, void *packs, uint32_t first, uint32_t last);
    /// After the bodies have moved: update the separations and solve without bias, which removes the velocity
    /// that the soft constraints added. May be repeated.
    void (*relax)(const contact_context *context, void *packs, uint32_t first, uint32_t last);
    /// The last relaxation of a sub-step, once: it also adds the impulses to the sums of the step and to the
    /// warm start of the next sub-step.
    void (*relax_last)(const contact_context *context, void *packs, uint32_t first, uint32_t last);
    void (*apply_restitution)(const contact_context *context, void *packs, uint32_t first, uint32_t last);
    /// Friction of the impulses that restitution added.
    void (*restitution_friction)(const contact_context *context, void *packs, uint32_t first, uint32_t last);
    /// Scale what restitution and its friction gave by the part of the bodies.
    void (*scale_restitution)(const contact_context *context, void *packs, uint32_t first, uint32_t last);
    /// Scale the impulses of the sub-step just done by the part of the bodies, in the sums of the step, too.
    void (*limit_impulses)(const contact_context *context, void *packs, uint32_t first, uint32_t last);
    /// Forces and warm start of `width` such bodies: see contact_bodies.inl.
    int (*integrate_velocities)(const contact_context *context, const uint32_t bodies[], double h,
                                velocity_change_work work[]);
    void (*integrate_positions)(const contact_context *context, const uint32_t bodies[], double h);
    /// Write the impulses back to the contacts.
    void (*store_impulses)(const contact_context *context, const void *packs, uint32_t first, uint32_t last);
} contact_kernel;

/// NULL where the compiler has no such instructions.
extern const contact_kernel *const vy_contact_kernel_1,
    *const vy_contact_kernel_2, *const vy_contact_kernel_4_avx2, *const vy_contact_kernel_8_avx512;
