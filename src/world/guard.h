// guard.h - a declared drive: limits, deadline and failsafe between intent and motors; and geofences. Called
// in a world in which some drone declares one.
#pragma once
#include "world/world_impl.h"

/// Does a vehicle declare anything of its drive?
int vy_drive_is_declared(const vy_drive_def *def);

/// Constants of a checked drone's drive; its rate period is known.
void vy_drive_build(const vy_model *world, const vy_drone_def *def, drone_model *out);

/// What the drones of a guarded world have at tick 0.
void vy_guard_start(const vy_model *world, const drone_block *drones, guard_block *out);

/// The drive abstraction layer of all drones, then the limits that few have. Returns the events.
uint32_t vy_guard_stage(const vy_world *world, world_block *w, drone_block *drones);

/// The controller of drone `index` has failed: hand over to its failsafe. Returns 0 when it declares none.
int vy_guard_take_over(const vy_world *world, uint32_t index, vy_handover cause, const vy_intent *reply);

/// Is the drone's controller still asked? Not after it has failed.
int vy_guard_listens(const vy_world *world, uint32_t index);

/// An intent for drone `index` has arrived in this step, or has not.
void vy_guard_mark(const vy_world *world, uint32_t index, int fresh);

/// Fall, ground and geofence of drone `index`.
void vy_fence_check(const vy_world *world, uint32_t index, const drone_block *d, guard_block *g,
                    world_block *w);
