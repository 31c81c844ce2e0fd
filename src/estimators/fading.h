// fading.h - from IMU and motion capture to position, velocity, attitude and biases, over `real`.
//
// Dead reckoning on the IMU, corrected at every motion-capture sample with the constant gains of a
// fading-memory filter (N. Morrison, Introduction to Sequential Smoothing and Prediction, 1969): position,
// velocity and accelerometer bias by the third-order filter, attitude and gyroscope bias by the second-order
// one.
#pragma once
#include "base/assert.h"
#include "estimators/estimate.h"

typedef struct fading_params {
    real period;        // [s] of the IMU
    vec3 gravity;       // [m/s^2] world
    real position_gain; // [1]
    real velocity_gain; // [1/s]
    real accel_gain;    // [1/s^2]
    real attitude_gain; // [1]
    real gyro_gain;     // [1/s]
} fading_params;

/// Gains from the correction's period and the fading memories e^(-period / time constant): `b` of position,
/// `c` of attitude.
VY_FN void fading_set_gains(real period, real b, real c, fading_params *p)
{
    VY_ASSERT(mask_all((period > 0.0) & (b >= 0.0) & (b < 1.0) & (c >= 0.0) & (c < 1.0)));
    p->position_gain = 1.0 - b * b * b;
    p->velocity_gain = 1.5 * (1.0 - b) * (1.0 - b) * (1.0 + b) / period;
    p->accel_gain = (1.0 - b) * (1.0 - b) * (1.0 - b) / (period * period);
    p->attitude_gain = 1.0 - c * c;
    p->gyro_gain = (1.0 - c) * (1.0 - c) / period;
}

VY_FN void fading_predict(const fading_params *p, vec3 accel, vec3 gyro, estimator_state *estimate)
{
    estimate->rate = vec3_sub(gyro, estimate->gyro_bias);
    estimate->attitude = quat_apply_small_rotation(estimate->attitude, vec3_scale(p->period, estimate->rate));
    const vec3 force = quat_rotate(estimate->attitude, vec3_sub(accel, estimate->accel_bias));
    const vec3 acceleration = vec3_add(force, p->gravity);
    estimate->position = vec3_add_scaled(vec3_add_scaled(estimate->position, p->period, estimate->velocity),
                                         0.5 * p->period * p->period, acceleration);
    estimate->velocity = vec3_add_scaled(estimate->velocity, p->period, acceleration);
}

VY_FN void fading_correct(const fading_params *p, vec3 position, quat attitude, estimator_state *estimate)
{
    const vec3 error = vec3_sub(position, estimate->position);
    const vec3 error_body = quat_unrotate(estimate->attitude, error);
    estimate->position = vec3_add_scaled(estimate->position, p->position_gain, error);
    estimate->velocity = vec3_add_scaled(estimate->velocity, p->velocity_gain, error);
    estimate->accel_bias = vec3_sub(estimate->accel_bias, vec3_scale(p->accel_gain, error_body));

    const quat attitude_error = quat_mul(quat_conj(estimate->attitude), attitude);
    const real twice = real_copysign(real_set(2.0), attitude_error.w); // the shorter way round
    const vec3 rotation =
        vec3_make(twice * attitude_error.x, twice * attitude_error.y, twice * attitude_error.z);
    estimate->attitude =
        quat_apply_small_rotation(estimate->attitude, vec3_scale(p->attitude_gain, rotation));
    estimate->gyro_bias = vec3_sub(estimate->gyro_bias, vec3_scale(p->gyro_gain, rotation));
}
