// contacts.h - contacts between bodies of a set: materials, solver, reports.
//
// A set has contacts when its def enables them (vy_bodies_def.contacts.on); then bodies with shapes collide
// with one another, except two that are not dynamic, two whose filters exclude each other
// (vy_body_def.filter) and two that a joint holds together (vy_joint_def.collide_connected). A body that
// touches nothing in a step keeps the bits of its free flight.
//
// Memory for contacts grows as the broad phase finds more pairs; a step that finds no more of them than any
// step before allocates nothing. How much there is changes no result and is in no hash.
#pragma once
#include "volery/types.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A surface. Two surfaces in contact combine by the geometric mean of each number.
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
    VY_CONTACT_SOLVER_SOFT,
    /// One impulse per contact after the free step, then a part of the overlap is moved away: the
    /// requirements'
    /// formulas, without friction
    VY_CONTACT_SOLVER_IMPULSE,
} vy_contact_solver;

typedef struct vy_contacts_def {
    int on;           ///< 1: bodies collide; 0: they pass through each other
    uint32_t reserve; ///< pairs that memory is taken for at once, so that no step allocates while there are
                      ///< no more; 0 will do, at most 2^24
    vy_contact_solver solver;
    double substep; ///< [s] VY_CONTACT_SOLVER_SOFT: sub-steps are at most this long, > 0; at least dt / 1024
    double slop;    ///< [m] overlap that is left alone, >= 0
    double push_speed; ///< [m/s] VY_CONTACT_SOLVER_SOFT: overlaps end at most this fast, > 0
    double correction; ///< VY_CONTACT_SOLVER_IMPULSE: part of the overlap beyond the slop that a step moves
                       ///< away, 0
                       ///< ... 1
    double restitution_speed; ///< [m/s] slower impacts do not bounce; what gravity adds in two steps is added
                              ///< to it
    uint32_t threads; ///< that share a step where it is long enough, the caller's included; 0: one per core.
                      ///< The bits are the same for any number
    double time_to_sleep; ///< [s] bodies that touch or are jointed, all of which have been slower than
                          ///< sleep_speed for this long, sleep; 0: never. A body that accelerates by less
                          ///< than sleep_speed / time_to_sleep counts as at rest, also in the air: use no
                          ///< less than 10 ms. See "Sleep" in bodies.h
    double sleep_speed;   ///< [m/s] of the centre of mass plus that of the surface by rotation, > 0
} vy_contacts_def;

/// No contacts (off); soft, sub-steps of 1/240 s, slop 0.1 mm, 3 m/s; 0.8; 0.01 m/s; one thread; no sleep,
/// below 0.05 m/s if asked for.
vy_contacts_def vy_default_contacts_def(void);
/// The same as the requirements' response: VY_CONTACT_SOLVER_IMPULSE with a slop of 0.01 m.
vy_contacts_def vy_impulse_contacts_def(void);

/// Whether a contact began, persisted or ended in the last step.
typedef enum vy_contact_phase {
    VY_CONTACT_BEGIN,   ///< no impulse the step before
    VY_CONTACT_PERSIST, ///< impulse in this step and the one before
    VY_CONTACT_END,     ///< impulse the step before, none now
} vy_contact_phase;

/// One pair of bodies with an impulse between them in the last step or the one before.
typedef struct vy_contact_report {
    uint64_t a, b; ///< bits of the bodies' ids, slot of a below that of b
    vy_contact_phase phase;
    int points;      ///< that carried impulse
    vy_vec3 normal;  ///< unit, from a to b
    vy_vec3 point;   ///< [m] world: where the impulses act, weighted by them
    vy_vec3 impulse; ///< [N s] on b, over the step
    double speed;    ///< [m/s] >= 0: at which the deepest point closed before the step
} vy_contact_report;

/// A body that overlaps a trigger at the end of the last step, or did so before. Who passes through one
/// within the step has two reports, VY_CONTACT_BEGIN and then VY_CONTACT_END.
typedef struct vy_trigger_report {
    uint64_t trigger, body; ///< bits of their ids; at an end those of bodies that may have been removed
    vy_contact_phase phase;
} vy_trigger_report;

#ifdef __cplusplus
}
#endif
