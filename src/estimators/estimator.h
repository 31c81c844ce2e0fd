// estimator.h - what every estimator is made of; estimators.h lists them. Over `real`.
//
// An estimator NAME is one pair of files.
// NAME.h, over `real`: NAME_params (constants), its equations, and beside them ROWS_NAME and DEFAULTS_NAME:
// what of vy_estimator_def is its own. NAME.c: vy_estimator_NAME, its tables, and vy_NAME_step(), which gets
// samples and nothing else.
#pragma once
#include "estimators/estimate.h"
#include "sensors/sensors.h"
#include "volery/estimator.h"

/// State of every filter: whether it has started, and what it has found on the ground until then.
typedef struct filter_block {
    bits started;                   // tick of its start; 0: it has not, and stands on the ground
    bits still_samples;             // of the IMU since it stood still
    vec3 still_accel, still_gyro;   // [m/s^2], [rad/s] their means, body
    bits still_fields, still_fixes; // samples of the magnetometer and positions since then
    vec3 still_field, still_fix;    // [T] body, [m] world: their means
} filter_block;

#define FIELDS_filter(F, block)                                                      \
    F(block, started, TICK, 1, "", "when it started; 0: it stands on the ground")    \
    F(block, still_samples, INTEGER, 1, "", "of the IMU since it stood still")       \
    F(block, still_accel, VEC3, 3, "m/s^2", "mean since then, body")                 \
    F(block, still_gyro, VEC3, 3, "rad/s", "mean since then, body")                  \
    F(block, still_fields, INTEGER, 1, "", "samples of the magnetometer since then") \
    F(block, still_fixes, INTEGER, 1, "", "positions since then")                    \
    F(block, still_field, VEC3, 3, "T", "mean since then, body")                     \
    F(block, still_fix, VEC3, 3, "m", "mean since then, world")

enum { KALMAN_STATES = 49, KALMAN_CELLS = KALMAN_STATES * (KALMAN_STATES + 1) / 2 };

/// Of a Kalman filter: what its sensors are off by, the upper triangle of its covariance, row by row, and how
/// good its samples were.
typedef struct kalman_block {
    vec3 mag_bias;                         // hard iron over the world's field, body
    vec3 gps_wander;                       // [m] world
    real baro_offset;                      // [m] what the barometer is too high by
    real gyro_distortion[9];               // scale and alignment: what is seen is (I + D) of what is
    real accel_distortion[9];              // likewise
    real mag_distortion[9];                // likewise
    vec3 acceleration, jerk;               // [m/s^2] world, mean over the delay of fixes; [m/s^3] its change
    real innovations[VY_AID_SOURCE_COUNT]; // sums of the normalised innovations squared, by vy_aid_source
    bits innovation_count[VY_AID_SOURCE_COUNT]; // numbers in them
    real covariance[KALMAN_CELLS];
} kalman_block;

#define FIELDS_kalman(F, block)                                                                       \
    F(block, mag_bias, VEC3, 3, "", "hard iron over the strength of the field, body")                 \
    F(block, gps_wander, VEC3, 3, "m", "slow error of the fixes, world")                              \
    F(block, baro_offset, NUMBER, 1, "m", "what the barometer is too high by")                        \
    F(block, gyro_distortion, LIST, 9, "", "scale and alignment of the gyroscope, row by row")        \
    F(block, accel_distortion, LIST, 9, "", "scale and alignment of the accelerometer, row by row")   \
    F(block, mag_distortion, LIST, 9, "", "scale and alignment of the magnetometer, row by row")      \
    F(block, acceleration, VEC3, 3, "m/s^2", "mean over the delay of fixes, world")                   \
    F(block, jerk, VEC3, 3, "m/s^3", "its change")                                                    \
    F(block, innovations, LIST, 6, "",                                                                \
      "sums of the normalised innovations squared of mocap, gps, baro, mag, range and flow")          \
    F(block, innovation_count, INTEGER, 6, "", "numbers in them")                                     \
    F(block, covariance, LIST, KALMAN_CELLS, "",                                                      \
      "of position, velocity, attitude, gyroscope and accelerometer bias, hard iron, barometer, GPS " \
      "wander, scale and alignment of gyroscope, accelerometer and magnetometer")

/// Of a filter with constant gains.
typedef struct gain_filter_block {
    vec3 acceleration;      // [m/s^2] world, smoothed over the delay of fixes
    real baro_offset;       // [m] what the barometer is too high by
    bits baro_offset_known; // 1: that is known
} gain_filter_block;

#define FIELDS_gain_filter(F, block)                                                    \
    F(block, acceleration, VEC3, 3, "m/s^2", "smoothed over the delay of fixes, world") \
    F(block, baro_offset, NUMBER, 1, "m", "what the barometer is too high by")          \
    F(block, baro_offset_known, INTEGER, 1, "", "1: that is known")

/// Of an estimator with a gate: rejected samples.
typedef struct gate_block {
    bits rejected[VY_AID_SOURCE_COUNT]; // how many so far, by vy_aid_source
    bits since[VY_AID_SOURCE_COUNT];    // tick of the first of consecutive rejections; 0: none
} gate_block;

#define FIELDS_gate(F, block)                                                    \
    F(block, rejected, INTEGER, 6, "",                                           \
      "samples of mocap, gps, baro, mag, range and flow that were not believed") \
    F(block, since, TICK, 6, "", "from when on none of theirs was; 0: the last one was")

/// A planet's ground where a drone believes to be.
typedef struct estimator_ground {
    vec3 gravity;        // [m/s^2] with the Coriolis acceleration, world
    real curvature_drop; // [m] its height over the ground less its z: how far the planet has curved away
    real altitude;       // [m] of the world's origin
} estimator_ground;

/// What an estimator gets in a step: the latest sample of each sensor, and when it came.
typedef struct estimator_samples {
    bits tick;                      // now
    bits imu_tick, mocap_tick;      // of the latest sample
    vec3 accel, gyro;               // [m/s^2], [rad/s] of the IMU, body; the planet's rotation is taken out
    const estimator_ground *ground; // NULL: it is z = 0, and gravity as at the start
    const mocap_state *mocap;
    const sensor_suite_blocks *sensors;
} estimator_samples;

/// What an estimator is built from: the sensors as they are declared, and what is known of the start.
typedef struct estimator_setup {
    const vy_estimator_def *def;
    const vy_imu_def *imu;
    const vy_mocap_def *mocap;
    const vy_sensor_suite_def *sensor_suite;
    const atmosphere_params *air;
    vec3 gravity;    // [m/s^2] world
    vec3 field;      // [T] magnetic, world
    double altitude; // [m]
    double dt;       // [s] of the world
} estimator_setup;

/// What a filter remembers: what it has no use for is NULL.
typedef struct filter_blocks {
    filter_block *filter;
    kalman_block *kalman;
    gain_filter_block *gains;
    gate_block *gate;
} filter_blocks;

/// Tables of one estimator.
typedef struct estimator_type {
    const char *name; // in scenarios
    int is_kalman;    // it has a kalman_block, and a gate where vy_estimator_def.gate asks for one; else a
                      // gain_filter_block
    /// How good it is, given what it is off by in position, velocity (world) and attitude (body); NULL: it
    /// has no covariance.
    void (*evaluate)(const filter_blocks *memory, const double error[9], vy_filter_state *out);
    /// Constants, from a def that has been checked.
    void (*build)(const estimator_setup *in, void *params);
    /// What it remembers at the start, in blocks of zeros; NULL: nothing.
    void (*start)(const void *params, const filter_blocks *memory);
} estimator_type;

/// Height over the ground less z: 0 over a flat one.
VY_FN real samples_curvature_drop(const estimator_samples *in)
{
    return in->ground != NULL ? in->ground->curvature_drop : real_set(0.0);
}

/// The z of a barometer's altitude.
VY_FN real samples_baro_z(const estimator_samples *in, real altitude)
{
    return in->ground != NULL ? (altitude - in->ground->altitude) - in->ground->curvature_drop : altitude;
}
