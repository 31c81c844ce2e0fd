// world_def.h - the checks of what a user declares.
#pragma once
#include "base/period.h"
#include "base/schema.h"
#include "equations/rigid_body.h"
#include "volery/fault.h"

#define VY_DRONE_CAP_MAX       100000u
#define VY_DISTURBANCE_CAP_MAX 4096u
#define VY_FAULT_CAP_MAX       1024u
#define VY_PAYLOAD_CAP_MAX     10000u
#define VY_OBSTACLE_CAP_MAX    100000u
#define VY_JOINT_CAP_MAX       100000u
#define VY_DELAY_CAP_MAX       100000000u

vy_status vy_check_world_def(const vy_world_def *def, vy_error *err);
/// Numbers to start with, within the bounds of their units; `owner` is for the error.
vy_status vy_check_start(const char *owner, const body_state *start, vy_error *err);
vy_status vy_check_drone_def(const vy_drone_def *def, vy_error *err);
vy_status vy_check_world_body_def(const vy_world_body_def *def, vy_error *err);
vy_status vy_check_disturbance_def(const vy_disturbance_def *def, vy_error *err);
vy_status vy_check_fault_def(const vy_fault_def *def, vy_error *err);
vy_status vy_check_fence_def(const vy_fence_def *def, vy_error *err);

/// No limit at all.
vy_safety_def vy_default_safety_def(void);
vy_status vy_check_safety_def(const vy_safety_def *def, vy_error *err);

/// Of vy_safety_def and what it has inside, and of vy_crash_def.
extern const vy_schema_table vy_table_safety, vy_table_fence, vy_table_crash;

/// A period that is the default's and no whole multiple of the step goes to the nearest one.
void vy_round_periods(vy_drone_def *def, double dt);
/// The def that a drone is built from: periods rounded, sensors calibrated as declared.
void vy_resolve_drone_def(vy_drone_def *def, double dt);
