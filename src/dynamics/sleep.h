// sleep.h - bodies at rest that are not stepped until something wakes them up.
//
// A sleeping body is treated as static: it is not integrated, and two bodies that do not move are no pair.
// Bodies that fall asleep together, connected by contacts and joints, are an island and wake up together. The
// contact cache of sleeping pairs is separate, so that a step does not touch it.
#pragma once
#include "dynamics/contacts.h"

/// Sleep of one body: state.
typedef struct body_sleep {
    uint64_t ticks;            // awake: steps below sleep_speed; asleep: 1 once the force below is known
    uint64_t island;           // 0: awake; else lowest slot + 1 of the sleeping island
    vec3 acceleration, torque; // [m/s^2] world, [N m] body: of the forces in its first step asleep
} body_sleep;

typedef struct sleep_system {
    // State.
    body_sleep *bodies;           // [body_cap], or as many as may move
    contact_count *count;         // of entries in use of `contact_cache`
    contact_cache *contact_cache; // [contacts] sleeping pairs, sorted by slots
    // Scratch.
    contact_cache *old_pairs;   // [contacts] of move_pairs()
    uint32_t *parent;           // [body_cap] of the islands' forest
    unsigned char *may_sleep;   // [body_cap] by root: all its bodies have been slow for long enough
    unsigned char *woken;       // [body_cap] 1: woke up in this step
    body_state *free_state;     // [body_cap] after the free flight; of a sleeping body its pose
    vy_contact_report *reports; // [contacts] of the sleeping pairs
    uint32_t report_count;      // of them
    int reports_valid;          // 1: they are up to date
    uint32_t sleeping_count;    // how many bodies sleep
} sleep_system;

/// Before the arrays of contacts are made: if the set's def enables sleep.
vy_status vy_sleep_create(vy_bodies *b);
/// After the state was replaced: which bodies are awake, and the bounds of those that are not.
void vy_sleep_sync(vy_bodies *b);

/// Wake up a body with its island; for one that is not dynamic, the bodies that touch it or are jointed to
/// it.
void vy_sleep_wake(vy_bodies *b, uint32_t i);
/// Wake up the bodies of a joint.
void vy_sleep_wake_joint(vy_bodies *b, uint32_t joint);
/// Wake up the sleeping bodies that overlap one that is not dynamic, and may collide with it.
void vy_sleep_wake_overlapping(vy_bodies *b, uint32_t i);
/// Wake up the bodies of slots [first, last).
void vy_sleep_wake_range(vy_bodies *b, uint32_t first, uint32_t last);

/// Before the free flight: wake up bodies in the path of moving kinematic ones, and those whose custom
/// potential has changed.
void vy_sleep_begin(vy_bodies *b, double h);
/// After it: wake up bodies whose force has changed, in sets that the world's plant integrates; save the free
/// flights.
void vy_sleep_after_flight(vy_bodies *b, double h);
/// After contacts: when one has an impulse on a sleeping body, wake it up and go back to the end of the free
/// flight. Returns 1 then: contacts must be solved again. Adds to the VY_BODIES_ bits of the step.
int vy_sleep_wake_touched(vy_bodies *b, double h, uint32_t *events);
/// At the end of the step: add the sleeping pairs to the reports; then let islands fall asleep that have been
/// slow for long enough.
void vy_sleep_report(vy_bodies *b, double h);
void vy_sleep_update(vy_bodies *b);

/// Whether no body moves: the step is done.
int vy_sleep_all_asleep(const vy_bodies *b);
