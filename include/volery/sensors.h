// sensors.h - what a drone can measure, and the samples it gets.
//
// Every sensor has its own random stream keyed by seed, drone and tick: adding one moves no other's noise.
#pragma once
#include "volery/types.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Accelerometer and gyroscope at the centre of mass. Turn-on biases are drawn once per run; drift is a
/// random walk on top of them.
typedef struct vy_imu_def {
    double period;      ///< [s] a whole multiple of the world's dt; 0 is no IMU
    double accel_noise; ///< [m/s^2 / sqrt(Hz)] white noise density, >= 0
    double gyro_noise;  ///< [rad/s / sqrt(Hz)] white noise density, >= 0
    double accel_bias;  ///< [m/s^2] standard deviation of the turn-on bias, >= 0
    double gyro_bias;   ///< [rad/s] standard deviation of the turn-on bias, >= 0
    double accel_drift; ///< [m/s^3 / sqrt(Hz)] random walk of the bias, >= 0
    double gyro_drift;  ///< [rad/s^2 / sqrt(Hz)] random walk of the bias, >= 0
} vy_imu_def;

/// Position and attitude from cameras around the room.
typedef struct vy_mocap_def {
    double period;         ///< [s] a whole multiple of the world's dt; 0 is no motion capture
    double position_noise; ///< [m] standard deviation per axis, >= 0
    double attitude_noise; ///< [rad] standard deviation per axis, >= 0
} vy_mocap_def;

/// Figures of the BMI088 of a Crazyflie 2.1 at 1 kHz.
vy_imu_def vy_default_imu_def(void);

/// 100 Hz, 1 mm, 0.5 degrees.
vy_mocap_def vy_default_mocap_def(void);

typedef struct vy_imu_sample {
    uint64_t tick; ///< when it was taken
    vy_vec3 accel; ///< [m/s^2] specific force in body axes, the mean over the sample interval
    vy_vec3 gyro;  ///< [rad/s] body axes
} vy_imu_sample;

typedef struct vy_mocap_sample {
    uint64_t tick;
    vy_vec3 position; ///< [m] world
    vy_quat attitude; ///< q_WB
} vy_mocap_sample;

/// What the estimator believes.
typedef struct vy_estimate {
    vy_vec3 position;   ///< [m] world
    vy_vec3 velocity;   ///< [m/s] world
    vy_quat attitude;   ///< q_WB
    vy_vec3 rate;       ///< [rad/s] body, bias removed
    vy_vec3 gyro_bias;  ///< [rad/s]
    vy_vec3 accel_bias; ///< [m/s^2]
} vy_estimate;

/// A sensor of touch: exact, and of every step.
typedef struct vy_touch_sample {
    uint64_t contacts; ///< that push the drone now
    vy_vec3 impulse;   ///< [N s] of all of them over the last step, body axes
} vy_touch_sample;

/// Everything a controller may know. Samples are held between their ticks.
typedef struct vy_samples {
    uint64_t tick; ///< now
    double time;   ///< [s] tick * dt
    double dt;     ///< [s] the world's step
    vy_imu_sample imu;
    vy_mocap_sample mocap;
    vy_estimate estimate;
    vy_touch_sample touch; ///< zero in a world where nothing collides
} vy_samples;

#ifdef __cplusplus
}
#endif
