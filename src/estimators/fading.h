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

VY_FN void fading_predict(const fading_params *p, vec3 accel, vec3 gyro, estimator_state *s)
{
    s->rate = vec3_sub(gyro, s->gyro_bias);
    s->attitude = quat_apply_small_rotation(s->attitude, vec3_scale(p->period, s->rate));
    const vec3 force = quat_rotate(s->attitude, vec3_sub(accel, s->accel_bias));
    const vec3 acceleration = vec3_add(force, p->gravity);
    s->position = vec3_add_scaled(vec3_add_scaled(s->position, p->period, s->velocity),
                                  0.5 * p->period * p->period, acceleration);
    s->velocity = vec3_add_scaled(s->velocity, p->period, acceleration);
}

VY_FN void fading_correct(const fading_params *p, vec3 position, quat attitude, estimator_state *s)
{
    const vec3 error = vec3_sub(position, s->position);
    const vec3 error_body = quat_unrotate(s->attitude, error);
    s->position = vec3_add_scaled(s->position, p->position_gain, error);
    s->velocity = vec3_add_scaled(s->velocity, p->velocity_gain, error);
    s->accel_bias = vec3_sub(s->accel_bias, vec3_scale(p->accel_gain, error_body));

    const quat attitude_error = quat_mul(quat_conj(s->attitude), attitude);
    const real twice = real_copysign(real_set(2.0), attitude_error.w); // the shorter way round
    const vec3 rotation =
        vec3_make(twice * attitude_error.x, twice * attitude_error.y, twice * attitude_error.z);
    s->attitude = quat_apply_small_rotation(s->attitude, vec3_scale(p->attitude_gain, rotation));
    s->gyro_bias = vec3_sub(s->gyro_bias, vec3_scale(p->gyro_gain, rotation));
}
