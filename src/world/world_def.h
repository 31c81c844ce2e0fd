// world_def.h - the checks of what a user declares.
#pragma once
#include "volery/fault.h"

#define VY_DRONE_CAP_MAX       100000u
#define VY_DISTURBANCE_CAP_MAX 4096u
#define VY_FAULT_CAP_MAX       1024u
#define VY_PAYLOAD_CAP_MAX     10000u
#define VY_LINE_CAP_MAX        10000000u
#define VY_OBSTACLE_CAP_MAX    100000u
#define VY_DELAY_CAP_MAX       100000000u

vy_status vy_check_world_def(const vy_world_def *def, vy_error *err);
vy_status vy_check_drone_def(const vy_drone_def *def, vy_error *err);
vy_status vy_check_disturbance_def(const vy_disturbance_def *def, vy_error *err);
vy_status vy_check_fault_def(const vy_fault_def *def, vy_error *err);
vy_status vy_check_fence_def(const vy_fence_def *def, vy_error *err);

/// A period that is the default's and no whole multiple of the step goes to the nearest one.
void vy_settle_periods(vy_drone_def *def, double dt);

/// A period [s] as a whole number of steps; `name` is for the error.
vy_status vy_period_ticks(const char *name, double period, double dt, uint64_t *out, vy_error *err);
