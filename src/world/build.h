// build.h - from declared definitions to the constants that a step reads.
#pragma once
#include "world/model.h"

/// Constants of a checked drone.
vy_status vy_drone_build(const vy_model *world, const vy_drone_def *def, drone_model *model,
                         drone_params *params, vy_error *err);

/// Constants of the equations of a checked vehicle, but for what its rotors do in the air.
void vy_plant_build(const vy_vehicle_def *vehicle, double dt, multirotor_params *out);

/// Is it a legal start position? `owner` is for the error.
vy_status vy_check_position(const vy_model *m, const char *owner, vy_vec3 position, vy_error *err);

/// Constants of a drone, built before, after its mass, inertia or centre of mass changed to those of `v`.
/// Controller and sensors stay the same.
void vy_drone_update_mass(const vy_model *world, const vy_vehicle_def *v, drone_model *model,
                          drone_params *params);

/// A body as a vehicle without rotors and thrusters.
vy_vehicle_def vy_body_vehicle(const vy_world_body_def *def);
/// Constants of a checked body.
void vy_body_build(const vy_model *world, const vy_world_body_def *def, body_model *out);

/// State of drone `index`, which has been built, at tick 0, its first samples included.
void vy_drone_start(const vy_model *world, const vy_drone_def *def, uint32_t index, drone_block *out);

/// Constants of a checked disturbance, but for its slot of noise.
void vy_disturbance_build(const vy_model *world, const vy_disturbance_def *def, disturbance_model *out);

/// Constants of a checked fault, but for its drones and its line.
void vy_fault_build(const vy_model *world, const vy_fault_def *def, fault_model *out);

/// Check that some drone of the fault has what it breaks, and set up its delay line: without one `delay`
/// stays 0.
vy_status vy_fault_resolve(const vy_model *world, fault_model *f, vy_error *err);

/// The tick nearest to `time`, never past what a 64-bit count of steps holds.
uint64_t vy_tick_at(double time, double dt);
