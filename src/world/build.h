// build.h - from declared definitions to the constants that a step reads.
#pragma once
#include "world/model.h"

/// Constants of a checked drone.
vy_status vy_drone_build(const vy_model *world, const vy_drone_def *def, drone_model *model,
                         drone_params *params, vy_error *err);

/// Constants of a plain IMU with a period.
imu_params vy_imu_build(const vy_imu_def *imu);

/// Constants of a drone, built before, whose mass, inertia or centre of mass is another now: those of `v`.
/// How it is steered and what it measures stays.
void vy_drone_refit(const vy_model *world, const vy_vehicle_def *v, drone_model *model, drone_params *params);

/// State of drone `index`, which has been built, at tick 0, its first samples included.
void vy_drone_start(const vy_model *world, const vy_drone_def *def, uint32_t index, drone_block *out);

/// Constants of a checked disturbance, but for its slot of noise.
void vy_disturbance_build(const vy_model *world, const vy_disturbance_def *def, disturbance_model *out);

/// Constants of a checked fault, but for its drones and its line.
void vy_fault_build(const vy_model *world, const vy_fault_def *def, fault_model *out);

/// Has one of the drones of a fault, known by now, what it is about? Lays its delay line: without one
/// `places` stays 0.
vy_status vy_fault_fit(const vy_model *world, fault_model *f, vy_error *err);

/// The tick nearest to `time`, never past what a 64-bit count of steps holds.
uint64_t vy_tick_at(double time, double dt);
