// complementary.h - a filter of constant gains over `real`: gyroscope for what is quick, gravity and the
// magnetic field for what is slow; position and velocity by dead reckoning, corrected by measurements.
// With a receiver that measures velocity the tilt follows from its errors: rotors push along body z, so that
// an accelerometer in flight hardly sees gravity.
//
// Attitude after R. Mahony, T. Hamel and J.-M. Pflimlin, Nonlinear complementary filters on the special
// orthogonal group, IEEE Trans. Automatic Control 53, 2008. The accelerometer is used as gravity only while
// its norm is about that of gravity.
#pragma once
#include "estimators/align.h"

#define TIME_ROW(key_, help_)                                                  \
    ROW(#key_, NUMBER, vy_estimator_def, key_, .unit = "s", .range = POSITIVE, \
        .when = 1u << VY_ESTIMATOR_COMPLEMENTARY, .help = help_)
#define ROWS_complementary                                        \
    TIME_ROW(attitude_time, "how long the gyroscope is trusted"), \
        TIME_ROW(position_time, "how long dead reckoning is trusted"),
#define DEFAULTS_complementary .attitude_time = 2.0, .position_time = 1.0,

typedef struct complementary_params {
    real period;                       // [s] of the IMU
    vec3 gravity;                      // [m/s^2] world
    real gravity_norm;                 // [m/s^2] its size
    real attitude_gain;                // [1/s]
    real bias_gain;                    // [1/s^2] gain of the gyroscope's bias
    vec3 field;                        // magnetic, world, of unit length
    real position_gain, velocity_gain; // gains of a position sample: [1], [1/s]
    real velocity_sample_gain;         // gain of a velocity sample [1]
    real tilt_gain, gyro_bias_gain;    // its gains of tilt and gyroscope bias: [rad s/m], [rad/m]
    bits is_aided;                     // velocity is measured
    real delay;                        // [s] how old fixes are
    real smoothing;                    // share of an acceleration that counts after one IMU sample
    real height_gain, climb_gain;      // gains of a height sample: [1], [1/s]
    bits baro_has_offset;              // the barometer is set to the believed height at its first sample
    align_params align;
} complementary_params;

/// The heading error by the magnetic field, about world up, as a small angle.
VY_FN real complementary_heading(const complementary_params *p, vec3 field, quat attitude)
{
    const vec3 measured = quat_rotate(attitude, field);
    const real horizontal_square = (measured.x * measured.x + measured.y * measured.y) *
                                   (p->field.x * p->field.x + p->field.y * p->field.y);
    const mask has_heading = horizontal_square > 0.0;
    const real norm = real_sqrt(real_select(has_heading, horizontal_square, real_set(1.0)));
    return real_select(has_heading, (measured.x * p->field.y - measured.y * p->field.x) / norm,
                       real_set(0.0));
}

/// Update by an IMU sample; `field` is the latest of the magnetometer, zero for none.
VY_FN void complementary_predict(const complementary_params *p, vec3 accel, vec3 gyro, vec3 field,
                                 estimator_state *estimate, gain_filter_block *gains)
{
    const real norm = vec3_length(accel);
    const mask is_static =
        (p->is_aided == bits_set(0)) & (norm > 0.8 * p->gravity_norm) & (norm < 1.2 * p->gravity_norm);
    const vec3 up = quat_unrotate(estimate->attitude, vec3_scale(-1.0 / p->gravity_norm, p->gravity));
    const vec3 measured_up = vec3_scale(1.0 / real_select(is_static, norm, real_set(1.0)), accel);
    const vec3 tilt_error = vec3_select(is_static, vec3_cross(measured_up, up), vec3_zero());
    const vec3 error = vec3_add_scaled(tilt_error, complementary_heading(p, field, estimate->attitude), up);
    estimate->gyro_bias = vec3_sub(estimate->gyro_bias, vec3_scale(p->period * p->bias_gain, error));
    estimate->rate = vec3_sub(gyro, estimate->gyro_bias);
    const vec3 corrected_rate = vec3_add_scaled(estimate->rate, p->attitude_gain, error);
    estimate->attitude = quat_apply_small_rotation(estimate->attitude, vec3_scale(p->period, corrected_rate));
    const vec3 acceleration = vec3_add(quat_rotate(estimate->attitude, accel), p->gravity);
    estimate->position = vec3_add_scaled(vec3_add_scaled(estimate->position, p->period, estimate->velocity),
                                         0.5 * p->period * p->period, acceleration);
    estimate->velocity = vec3_add_scaled(estimate->velocity, p->period, acceleration);
    gains->acceleration =
        vec3_add_scaled(gains->acceleration, p->smoothing, vec3_sub(acceleration, gains->acceleration));
}

VY_FN void complementary_position(const complementary_params *p, vec3 position, estimator_state *estimate)
{
    const vec3 residual = vec3_sub(position, estimate->position);
    estimate->position = vec3_add_scaled(estimate->position, p->position_gain, residual);
    estimate->velocity = vec3_add_scaled(estimate->velocity, p->velocity_gain, residual);
}

/// A velocity that is too small by r after a time t was accelerated too little, by a tilt that is off by
/// up x r / (g t). Three poles at the same place: of velocity, tilt and gyroscope bias.
/// A heading that is off shows in what the drone's acceleration comes to across it.
VY_FN void complementary_velocity(const complementary_params *p, vec3 velocity, vec3 acceleration,
                                  estimator_state *estimate)
{
    const vec3 residual = vec3_sub(velocity, estimate->velocity);
    const vec3 up = vec3_scale(-1.0 / p->gravity_norm, p->gravity);
    const vec3 horizontal_acceleration = vec3_add_scaled(acceleration, -vec3_dot(acceleration, up), up);
    const real heading_error = vec3_dot(up, vec3_cross(horizontal_acceleration, residual)) /
                               (vec3_dot(horizontal_acceleration, horizontal_acceleration) + 1.0);
    const vec3 error = quat_unrotate(
        estimate->attitude, vec3_add_scaled(vec3_cross(up, residual), p->gravity_norm * heading_error, up));
    estimate->velocity = vec3_add_scaled(estimate->velocity, p->velocity_sample_gain, residual);
    estimate->attitude = quat_apply_small_rotation(estimate->attitude, vec3_scale(p->tilt_gain, error));
    estimate->gyro_bias = vec3_sub(estimate->gyro_bias, vec3_scale(p->gyro_bias_gain, error));
}

VY_FN void complementary_height(const complementary_params *p, real height, estimator_state *estimate)
{
    const real residual = height - estimate->position.z;
    estimate->position.z = estimate->position.z + p->height_gain * residual;
    estimate->velocity.z = estimate->velocity.z + p->climb_gain * residual;
}

/// The height by a barometer. One with an unknown offset (`has_offset`) is set to the estimated height at its
/// first sample.
VY_FN real complementary_baro(real altitude, bits has_offset, const estimator_state *estimate,
                              gain_filter_block *gains)
{
    const bits zero = bits_set(0);
    const mask is_unset = gains->baro_offset_known == zero;
    const mask sets_offset = mask_not(has_offset == zero) & is_unset;
    gains->baro_offset = real_select(sets_offset, altitude - estimate->position.z, gains->baro_offset);
    gains->baro_offset_known = bits_select(sets_offset, bits_set(1), gains->baro_offset_known);
    return altitude - gains->baro_offset;
}
