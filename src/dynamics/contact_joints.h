// contact_joints.h - the joints of an island that touches, in its sub-steps.
//
// Where the bodies are and how they move is in contact_system.body and .motion, as for contacts. Impulses of
// joints are found exactly, by the factor that flies free islands (factor.c), so they need no warm start.
#pragma once
#include "dynamics/contacts.h"

/// Joined bodies of an island that touches, in a sub-step.
typedef struct tied_joints {
    vy_bodies *b;
    const uint32_t *islands; // of the joint system
    uint32_t count;
    double h;       // [s] of a sub-step
    double time;    // [s] at its start
    double elapsed; // [s] of the step, then
    double mass;    // [kg] of the joined bodies
    int open;       // 1: a joint could not be closed
} tied_joints;

/// Rows and their factor where the bodies are `after` the sub-step's start; no impulses yet.
void vy_tied_prepare(tied_joints *t, double after);
/// Springs, dampers and motors at the start of the sub-step, over its length.
void vy_tied_push(tied_joints *t);
/// Give the impulses after which joints keep together: until the end of the sub-step (`closing`), from where
/// the bodies are now, or at this moment. Returns how fast bodies moved otherwise, in the mean by mass
/// [m/s].
double vy_tied_hold(tied_joints *t, int closing);
/// [1] The largest gap of a joint where the bodies are, over the size of the island.
double vy_tied_gap(const tied_joints *t);
/// Give the impulses that close, over the sub-step, the gaps found last.
void vy_tied_close(tied_joints *t);
/// The impulses of the sub-step as forces, for readers.
void vy_tied_keep(tied_joints *t);
