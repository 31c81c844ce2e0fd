// reference.h - where a flight plan wants the drone to be at a given time.
#pragma once
#include "control/ladder.h"
#include "volery/controller.h"

/// Between setpoints: a straight line at minimum jerk (position 10 s^3 - 15 s^4 + 6 s^5). `yaw` may be NULL.
reference vy_reference_at(const vy_setpoint *setpoints, int count, double time, double *yaw);
