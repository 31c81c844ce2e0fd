// start.h - the start message: all that a controller is told before its first step, as JSON.
// docs/controllers.md, "The wire", describes it.
#pragma once
#include "scenario/text.h"
#include "volery/host.h"

enum { START_CAP = 1 << 22 }; // [bytes] of it

/// What a drone's def and its world say of the start. The pointers are into `drone`.
/// @param planet the world's, or NULL
/// @return VY_BAD_VALUE for a vehicle that is none
vy_status vy_start_fill(const vy_drone_def *drone, const char *name, double dt, const vy_planet_def *planet,
                        vy_plugin_start *out, vy_error *err);

/// The message as text; out->failed when memory is out. Numbers read back as the same doubles.
void vy_start_print(const vy_plugin_start *start, const vy_drone_def *drone, vy_text *out);

/// A message that was received. Release with vy_start_release().
typedef struct start_message {
    vy_plugin_start start;
    vy_drone_def drone;
    char name[VY_NAME_CAP];
    char *json;
} start_message;

/// Read a message of `size` bytes. Takes ownership of `text`.
vy_status vy_start_read(char *text, size_t size, start_message **out, vy_error *err);
void vy_start_release(start_message *message);
