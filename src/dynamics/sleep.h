// sleep.h - bodies that have come to rest and are left alone until something happens to them.
//
// A sleeping body is as good as one that stands: nothing flies it, and two that do not move are no pair.
// Those that sleep together, held by contacts and joints, are an island and wake together. What pairs of
// sleeping bodies remember lies beside what the others do, so that a step does not even see it.
#pragma once
#include "dynamics/contacts.h"

/// Of one body: state.
typedef struct body_rest {
    uint64_t ticks;            // awake: steps at rest; asleep: 1 once the push below is known
    uint64_t island;           // 0: awake; else lowest slot + 1 of those that sleep together
    vec3 acceleration, torque; // [m/s^2] world, [N m] body: what pushed it in its first step asleep
} body_rest;

typedef struct sleep_system {
    // State.
    body_rest *rest;        // [body_cap], or as many as may move
    contact_count *count;   // of pairs that sleep, sorted by slots
    contact_memory *memory; // [contacts.cap]
    // Scratch.
    contact_memory *spare;      // [contacts.cap]
    uint32_t *parent;           // [body_cap] of the islands' forest
    unsigned char *due;         // [body_cap] by root: all its bodies have rested long enough
    unsigned char *woken;       // [body_cap] 1: woke in this step
    body_state *flight;         // [body_cap] after the free flight; of a sleeping body where it lies
    vy_contact_report *reports; // [contacts.cap] of the pairs that sleep
    int told;                   // 1: these are up to date
    uint32_t asleep;            // bodies
} sleep_system;

/// Memory, when the set's def asks for it; bytes of state.
vy_status vy_sleep_create(vy_bodies *b);
void vy_sleep_destroy(vy_bodies *b);
size_t vy_sleep_state_size(const vy_bodies_def *def);
/// After the state has become another one: who moves, and where those lie that do not.
void vy_sleep_sync(vy_bodies *b);

/// Wake a body with its island; of one that is not dynamic those that lie on it or hang from it.
void vy_sleep_wake(vy_bodies *b, uint32_t i);
/// Wake the bodies of a joint.
void vy_sleep_wake_joint(vy_bodies *b, uint32_t joint);
/// Wake those of slots [first, last).
void vy_sleep_wake_range(vy_bodies *b, uint32_t first, uint32_t last);

/// Before the free flight: wake what runs into those that others drive, and whose potential has changed.
void vy_sleep_begin(vy_bodies *b, double h);
/// After it: wake those whose push has changed, in sets that somebody else flies; keep the flights.
void vy_sleep_flown(vy_bodies *b, double h);
/// After contacts: when one of them pushed a sleeping body, wake it and go back to the end of the free
/// flight. Returns 1 then: contacts are to be solved once more. Adds to the VY_BODIES_ bits of the step.
int vy_sleep_disturbed(vy_bodies *b, double h, uint32_t *events);
/// At the end of the step: add the pairs that sleep to the reports; then put to sleep what has rested long
/// enough.
void vy_sleep_report(vy_bodies *b, double h);
void vy_sleep_settle(vy_bodies *b);

/// Whether nothing at all moves: the step is done.
int vy_sleep_all(const vy_bodies *b);
