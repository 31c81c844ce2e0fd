// event_writer.h - events of a run in plain text: faults, contacts, limits, payloads.
#pragma once
#include "record/display.h"
#include "record/log_output.h"
#include "world/world_impl.h"

typedef struct event_writer event_writer; ///< one owner

/// Add the channel of events. What is already active is not reported. `output` must outlive it.
vy_status vy_event_writer_open(log_output *output, const vy_world *world, event_writer **out, vy_error *err);
void vy_event_writer_close(event_writer *e); ///< NULL is a no-op

/// Show events as lines of a log for people, too. `d` must outlive its last event; NULL: no more.
void vy_event_writer_set_display(event_writer *e, display *d);

/// Something was injected: the last injection.
void vy_event_writer_injection(event_writer *e, const vy_world *world);

/// All changes of this step, besides contacts and the failure.
void vy_event_writer_step(event_writer *e, const vy_world *world);

/// A contact with `other_name` that begins or ends, and a crash.
void vy_event_writer_contact(event_writer *e, uint64_t tick, const vy_contact_event *contact,
                             const char *other_name);
/// Who enters an obstacle that is a trigger, `name`, or leaves it.
void vy_event_writer_trigger(event_writer *e, uint64_t tick, const vy_trigger_event *trigger,
                             const char *name);

/// What ended the run; reported once.
void vy_event_writer_failure(event_writer *e, const vy_world *world);

/// One event of the program around the run: a replay does not have it.
void vy_event_writer_note(event_writer *e, uint64_t tick, const char *kind, const char *text);

/// A joint that has broken in the step to `tick`.
void vy_event_writer_joint_break(event_writer *e, uint64_t tick, const vy_joint_state *joint,
                                 const char *name);

/// One event. `drone` is empty where it is of the whole world.
void vy_event_writer_write(event_writer *e, uint64_t tick, const char *kind, const char *drone,
                           const char *text);
