// drive.h - a vehicle's drive: limits between intent and motors, a deadline, a failsafe. What acts on it is
// the world's supervisor (world/supervisor.h).
#pragma once
#include "volery/vehicle.h"

/// A vehicle's drive in steps.
typedef struct flight_limits_model {
    vy_drive_def def;
    double cos_tilt, sin_tilt;     // of the largest tilt; 0: none
    double slew;                   // of a command, per lowering; 0: no limit
    uint64_t deadline, rotor_loss; // steps; 0: never
    uint64_t landed_ticks;         // steps without sinking after which a landing drone has landed
} flight_limits_model;

/// Whether a vehicle declares a drive.
int vy_drive_is_declared(const vy_drive_def *def);

/// Constants of a checked def, over steps of `dt`; commands are lowered every `rate_period`.
flight_limits_model vy_drive_build(const vy_drive_def *def, double dt, double rate_period);
