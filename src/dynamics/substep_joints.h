// substep_joints.h - the joints of an island that touches, in its sub-steps.
//
// Poses and velocities of the bodies are those of contact_system.body and .motion, as for contacts. Impulses
// of joints are solved for directly, by the factorisation of free flight (island_factor.c), so they need no
// warm start.
#pragma once
#include "dynamics/contacts.h"

/// The joints of an island that touches, in a sub-step.
typedef struct substep_joints {
    vy_bodies *b;
    const uint32_t *islands; // of the joint system
    uint32_t count;
    double h;               // [s] of a sub-step
    double time;            // [s] at its start
    double elapsed;         // [s] of the step, then
    double mass;            // [kg] of the jointed bodies
    int has_position_error; // 1: a position error stayed
} substep_joints;

/// Rows and their factorisation at the bodies' poses, `time_offset` after the sub-step's start; no impulses
/// yet.
void vy_jointed_prepare(substep_joints *t, double time_offset);
/// Springs, dampers and motors at the start of the sub-step, over its length.
void vy_jointed_apply_forces(substep_joints *t);
/// Apply the impulses that fulfil the velocity constraints: with `use_bias` so that the position error
/// vanishes at the end of the sub-step, else J v = 0 now. Returns the change of velocity, the mean weighted
/// by mass [m/s].
double vy_jointed_solve_velocity(substep_joints *t, int use_bias);
/// [1] The largest position error of a joint, over the extent of the island.
double vy_jointed_position_error(const substep_joints *t);
/// Apply the impulses that remove, over the sub-step, the position errors found last.
void vy_jointed_correct_position(substep_joints *t);
/// Before forces act in a sub-step, and at its end: enter the work of joints that close.
void vy_jointed_begin_work(substep_joints *t);
void vy_jointed_add_closing_work(substep_joints *t);
/// Enter the impulses of joints that can break, those since it was last called in the sub-step.
void vy_jointed_add_break_impulses(substep_joints *t);
/// At its end: gears count on.
void vy_jointed_end_gears(substep_joints *t);
/// The impulses of the sub-step as forces, for queries.
void vy_jointed_store_forces(substep_joints *t);
