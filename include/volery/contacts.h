// contacts.h - how bodies of a set touch: what they are made of, how contacts are solved, and what happened.
//
// A set has contacts when its def asks for room for them (vy_bodies_def.contacts.cap > 0); then bodies with
// shapes collide with one another, except two that are not dynamic. A body that touches nothing in a step
// keeps the bits of its free flight.
#pragma once
#include "volery/types.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A surface. Two that meet combine by the geometric mean of each number.
typedef struct vy_material {
    double friction;    ///< Coulomb's coefficient, >= 0
    double restitution; ///< speed after over speed before, 0 ... 1
    double rolling;     ///< [m] torque against rolling over normal force, >= 0
    double spinning;    ///< [m] torque against spinning about the normal over normal force, >= 0
} vy_material;

/// Friction 0.5, and nothing else.
vy_material vy_default_material(void);

typedef enum vy_contact_solver {
    /// Sub-steps of soft contacts with warm starting and relaxation; friction by Coulomb's cone
    VY_SOLVER_SOFT,
    /// One impulse per contact after the free step, then a part of the overlap is moved away: the
    /// requirements'
    /// formulas, without friction
    VY_SOLVER_IMPULSE,
} vy_contact_solver;

typedef struct vy_contacts_def {
    uint32_t cap; ///< most pairs of bodies that touch or are about to; 0: bodies pass through each other
    vy_contact_solver solver;
    double substep;    ///< [s] VY_SOLVER_SOFT: sub-steps are at most this long, > 0
    double slop;       ///< [m] overlap that is left alone, >= 0
    double push_speed; ///< [m/s] VY_SOLVER_SOFT: overlaps end at most this fast, > 0
    double correction; ///< VY_SOLVER_IMPULSE: part of the overlap beyond the slop that a step moves away, 0
                       ///< ... 1
    double restitution_speed; ///< [m/s] slower impacts do not bounce; what gravity adds in two steps is added
                              ///< to it
    uint32_t threads; ///< that share a step where it is long enough, the caller's included; 0: one per core.
                      ///< The bits are the same for any number
    double sleep; ///< [s] bodies that touch or are joined, all of which have been slower than sleep_speed for
                  ///< so long, sleep; 0: never. Who accelerates by less than sleep_speed / sleep counts as
                  ///< at rest, also in the air: not below 10 ms or so. See "Sleep" in bodies.h
    double sleep_speed; ///< [m/s] of the centre of mass plus what turning adds at the surface, > 0
} vy_contacts_def;

/// No contacts (cap 0); soft, sub-steps of 1/240 s, slop 0.1 mm, 3 m/s; 0.8; 0.01 m/s; one thread; no sleep,
/// below 0.01 m/s if asked for.
vy_contacts_def vy_default_contacts_def(void);
/// The same as the requirements' response: VY_SOLVER_IMPULSE with a slop of 0.01 m.
vy_contacts_def vy_impulse_contacts_def(void);

/// What became of a contact in the last step.
typedef enum vy_contact_phase {
    VY_CONTACT_BEGIN,   ///< no impulse the step before
    VY_CONTACT_PERSIST, ///< impulse in this step and the one before
    VY_CONTACT_END,     ///< impulse the step before, none now
} vy_contact_phase;

/// One pair of bodies that pushed each other in the last step or the one before.
typedef struct vy_contact_report {
    uint64_t a, b; ///< bits of the bodies' ids, slot of a below that of b
    vy_contact_phase phase;
    int points;      ///< that carried impulse
    vy_vec3 normal;  ///< unit, from a to b
    vy_vec3 point;   ///< [m] world: where the impulses act, weighted by them
    vy_vec3 impulse; ///< [N s] on b, over the step
    double speed;    ///< [m/s] >= 0: at which the deepest point closed before the step
} vy_contact_report;

#ifdef __cplusplus
}
#endif
