// contact_kernel.h - what the contact solver and its kernels share: plain types alone, one layout for every
// lane width.
//
// Contacts of one colour have no moving body in common, so they may be solved side by side: a pack is as many
// of them as a register has lanes. What a lane does depends on its own two bodies alone, so every width gives
// the same bits.
#pragma once
#include "volery/collision.h"
#include <stdint.h>

/// One point of a contact at the start of a step: a row of lanes.
typedef struct contact_point {
    vy_vec3 from_a; // [m] from a's centre of mass to its surface, world
    double gap;     // [m]
    double push;    // [N s] of the last sub-step
    vy_vec3 on_a;   // [m] from a's centre of mass to its surface, a's axes
} contact_point;

/// Two bodies that touch or are about to. Rows of eight numbers, as lanes load them; points that it does not
/// have are zeros.
typedef struct contact {
    vy_vec3 n, t1; // from a to b, and across: n x t1 is the other direction there
    double friction, restitution;

    vy_vec3 apart; // [m] from a's centre of mass to b's
    double load; // [N s] mean push of the last quarter of a second, of all points: at rest the springs carry
                 // it without giving way
    double rolling, spinning;
    double drag_1, drag_2; // [N s] friction of the last sub-step

    double roll_1, roll_2, spin; // [N m s] of the last sub-step
    vy_vec3 impulse;             // [N s] on b, of all sub-steps
    uint32_t a, b;
    int count;
    int was; // 1: pushed in the last step

    contact_point p[VY_MANIFOLD_POINTS];

    double total[VY_MANIFOLD_POINTS]; // [N s] of all sub-steps
    double speed[VY_MANIFOLD_POINTS]; // [m/s] of separation before the step
} contact;

/// What is true of a contact at the start of a step.
typedef enum contact_fact {
    MOVES_A = 1,  // a is dynamic and awake
    MOVES_B = 2,  // b is
    PUSHES = 4,   // it pushed in the last step, and some point does not leave
    FRESH = 8,    // it touches and never pushed, and the bodies have not fallen on each other
    BOUNCES = 16, // it has restitution
} contact_fact;

/// What islands, colours and books ask of a contact: they look at all of them again and again, and a contact
/// is large.
typedef struct contact_link {
    uint32_t a, b;
    uint8_t facts;  // contact_fact bits
    uint8_t count;  // points
    uint8_t active; // how it is solved in this step: a contact_start, 0 for not at all
    uint8_t colour; // contacts of one colour share no body that moves
    uint32_t kept;  // points that pushed in this step
} contact_link;

/// How a body moves while contacts are solved, world axes: what every contact reads and writes. Eight numbers
/// are a row of lanes.
typedef struct contact_motion {
    double velocity[3], rate[3], spare[2];
    double push[3];  // [N s] sum of the contacts' impulses, to be given again in the next sub-step
    double twist[3]; // [N m s]
    double unused[2];
} contact_motion;

/// Where a body is while contacts are solved, world axes.
typedef struct contact_body {
    double moved[3]; // [m] since the start of the step
    double spun[4];  // w, x, y, z of the rotation since then; of a ball none: its surface stays
    double unused;
    double inverse[6]; // inverse inertia: xx xy xz yy yz zz
    double inverse_mass, spare;
    int moves; // 1: dynamic
    int round; // 1: the same moment about every axis
    int ball;
    vy_vec3 position;             // [m] at the start
    vy_quat attitude, first;      // now, and at the start
    vy_mat3 rotation;             // now
    vy_vec3 acceleration, torque; // [m/s^2] world, [N m] body: at the start of the step
} contact_body;

/// A spring and damper as the solver wants them.
typedef struct contact_spring {
    double bias;    // [1/s] speed asked for over overlap
    double mass;    // part of the effective mass
    double impulse; // part of the push so far that is given back
} contact_spring;

/// What a kernel works on.
typedef struct contact_job {
    contact *list;
    contact_link *links;
    contact_motion *motion;
    const contact_body *body;
    double per_h;             // [1/s] of a sub-step
    double slop, push_speed;  // [m], [m/s]
    double settle;            // part of the load that a sub-step renews
    double threshold;         // [m/s] slower impacts do not bounce
    contact_spring spring[2]; // between bodies that move, and against one that does not
} contact_job;

/// The solver over one lane width. Packs [first, last) of `packs`, of one colour where bodies are written.
typedef struct contact_kernel {
    const char *name;
    uint32_t width;
    size_t pack_size;
    /// One pack of `count` contacts, by their numbers.
    void (*fill)(const contact_job *job, const uint32_t *contacts, uint32_t count, void *pack);
    /// Add the pushes of the last step to what the bodies are given again.
    void (*warm)(const contact_job *job, void *packs, uint32_t first, uint32_t last);
    /// Take away the speed at which points close, with springs under what overlaps.
    void (*solve)(const contact_job *job, void *packs, uint32_t first, uint32_t last);
    /// After the bodies have moved: where the points are now, and take away what the springs have added. Once
    /// in a sub-step, for it adds up; `settle` does the same without, as often as it is called before.
    void (*settle)(const contact_job *job, void *packs, uint32_t first, uint32_t last);
    void (*relax)(const contact_job *job, void *packs, uint32_t first, uint32_t last);
    void (*bounce)(const contact_job *job, void *packs, uint32_t first, uint32_t last);
    /// Friction of what bounced.
    void (*scrape)(const contact_job *job, void *packs, uint32_t first, uint32_t last);
    /// Results, back to the contacts.
    void (*empty)(const contact_job *job, const void *packs, uint32_t first, uint32_t last);
} contact_kernel;

/// NULL where the compiler has no such instructions.
extern const contact_kernel *const vy_contact_kernel_1,
    *const vy_contact_kernel_2, *const vy_contact_kernel_4_avx2, *const vy_contact_kernel_8_avx512;
