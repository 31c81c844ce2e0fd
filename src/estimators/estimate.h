// estimate.h - what an estimator makes of samples. Over `real`.
#pragma once
#include "base/vec.h"

/// What a controller believes.
typedef struct estimator_state {
    vec3 position;   // [m] world
    vec3 velocity;   // [m/s] world
    quat attitude;   // q_WB
    vec3 rate;       // [rad/s] body, bias removed
    vec3 gyro_bias;  // [rad/s]
    vec3 accel_bias; // [m/s^2] body
} estimator_state;
