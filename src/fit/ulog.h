// ulog.h - a recorded flight from a ULog file, the log format of PX4 (docs.px4.io, ULog File Format).
//
// Read are sensor_combined (rates, specific force), actuator_motors or actuator_outputs (commands),
// vehicle_attitude, vehicle_local_position and battery_status, of instance 0. PX4's axes are
// forward-right-down and north-east-down; here they are forward-left-up and east-north-up.
#pragma once
#include "scenario/flight_csv.h"

/// Whether the bytes begin as a ULog file does.
int vy_ulog_is(const void *data, size_t size);

/// Read a log that lies in memory. Any bytes are safe. There is a row per sample of the IMU.
/// @param name what errors call it; may be NULL
/// @return VY_DAMAGED (a record does not fit), VY_NOT_FOUND (no samples of an IMU, or no commands), what
/// vy_flight_check() says, VY_FULL, VY_NO_MEMORY
vy_status vy_ulog_parse(const void *data, size_t size, const char *name, vy_flight **out, vy_error *err);
