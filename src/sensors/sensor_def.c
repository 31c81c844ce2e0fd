// sensor_def.c - default figures of the sensors.
#include "volery/sensors.h"

vy_imu_def vy_default_imu_def(void)
{
    return (vy_imu_def){
        .period = 0.001,
        .accel_noise = 1.72e-3, // BMI088 data sheet: 175 ug / sqrt(Hz)
        .gyro_noise = 2.44e-4,  // BMI088 data sheet: 0.014 deg/s / sqrt(Hz)
        .accel_bias = 0.05,
        .gyro_bias = 0.005,
        .accel_drift = 1e-4,
        .gyro_drift = 1e-5,
    };
}

vy_mocap_def vy_default_mocap_def(void)
{
    return (vy_mocap_def){.period = 0.01, .position_noise = 0.001, .attitude_noise = 0.0087};
}
