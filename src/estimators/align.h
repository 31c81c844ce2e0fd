// align.h - how a filter finds its start on the ground: gyroscope bias, tilt, heading and position from what
// it measures while it stands still. All filters share it.
#pragma once
#include "estimators/estimator.h"

/// What counts as standing still, and what the world is known to be like there.
typedef struct align_params {
    double time;            // [s] of stillness; 0: the drone starts in the air
    double period;          // [s] of the IMU
    double gyro_tolerance;  // [rad/s] how far the gyroscope may be from its mean
    double accel_tolerance; // [m/s^2] likewise the accelerometer
    vec3 gravity;           // [m/s^2] world
    vec3 field;             // [T] world
    int needs_fix;          // it has a sensor of position, and waits for it
    int needs_field;        // it has a magnetometer, and waits for it
} align_params;

/// From a drone's sensors.
align_params vy_align_build(const estimator_setup *in);

/// Take this step's samples on the ground. Returns 1 at the step at which the drone has stood still for long
/// enough: `estimate` is what it found then. Before that `estimate` is what it has so far.
int vy_align_step(const align_params *p, const estimator_samples *in, estimator_state *estimate,
                  filter_block *filter);
