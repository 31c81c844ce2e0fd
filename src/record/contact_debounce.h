// contact_debounce.h - when a contact of a log has ended: not in the first step without a push.
//
// A box that tips over its edge turns by a finite angle in a step, which lifts the edge by some micrometres:
// it is pushed in every second or third step, and by the world's reports its contact ends as often. In a log
// a contact has ended once nothing was pushed for CONTACT_DEBOUNCE_TIME. A hop as long rises 0.12 mm at 9.81
// m/s^2, about as much as contacts give way.
#pragma once
#include "dynamics/contact_def.h"
#include "volery/world.h"

typedef struct contact_debounce contact_debounce; ///< one owner

contact_debounce *vy_contact_debounce_create(double dt);      ///< NULL: no memory
void vy_contact_debounce_destroy(contact_debounce *debounce); ///< NULL is a no-op

/// A report of the step `tick`, as the log tells it: what begins again after a pause continues. 0: not at
/// all, it may only pause.
int vy_contact_debounce_update(contact_debounce *debounce, uint64_t tick, vy_contact_event *event);

/// The next contact that has ended by `tick`; call it until it returns 0, after all reports of the step.
int vy_contact_debounce_next_end(contact_debounce *debounce, uint64_t tick, vy_contact_event *event);
