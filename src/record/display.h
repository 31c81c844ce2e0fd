// display.h - data for viewers: loads by effect, the reference, and messages that other tools display by
// themselves. Written at a cadence of its own, slower than the streams'. `time` is log time [ns].
#pragma once
#include "record/log_output.h"
#include "world/world_impl.h"
#include <stdio.h>

typedef struct display display; ///< one owner

/// A message with a vector per effect, named after it.
typedef struct loads_message {
    vy_pb_field fields[EFFECT_COUNT + 4];
    vy_pb_message message;
} loads_message;

/// The messages of /drones/NAME/reference, forces and torques: `stream` is 0, 1, 2. `loads` is where they are
/// made.
const vy_pb_message *vy_display_message(int stream, loads_message *loads);

/// Add its channels. `output` must outlive it.
vy_status vy_display_open(log_output *output, const vy_world *world, display **out, vy_error *err);

/// The shapes of all drones and obstacles, once, before anything else.
void vy_display_shapes(display *d, const vy_world *world, uint64_t time);

/// Write everything of this step.
void vy_display_write(display *d, const vy_world *world, uint64_t time);

/// An event as a line of a log: a crash and what ended a run are errors, faults, failsafes and contacts
/// warnings, the rest is information.
void vy_display_event(display *d, uint64_t time, const char *kind, const char *drone, const char *text);

void vy_display_destroy(display *d); ///< NULL is a no-op

/// Its channels for the reference page.
void vy_display_print_reference(FILE *out);
