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
        .instability_time = 100.0,
    };
}

vy_mocap_def vy_default_mocap_def(void)
{
    return (vy_mocap_def){.period = 0.01, .position_noise = 0.001, .attitude_noise = 0.0087};
}

// Rounded figures of the parts in preset.c; what differs from part to part is left out.
vy_kit_def vy_default_kit_def(void)
{
    return (vy_kit_def){
        .baro = {.noise = 2.0, .wander_time = 300.0},
        .mag = {.noise = 5e-7},
        .gps = {.position_noise = 0.5, .height_noise = 1.0, .velocity_noise = 0.05, .wander_time = 60.0},
        .range = {.noise = 0.01, .least = 0.05, .most = 4.0, .direction = {0.0, 0.0, -1.0}},
        .flow = {.noise = 0.05, .least = 0.08, .most = 30.0},
        .power = {.voltage_noise = 0.005, .current_noise = 0.05},
        .esc = {.noise = 1.0},
        .lidar = {.columns = 8,
                  .rows = 8,
                  .width = 0.7853981633974483,
                  .height = 0.7853981633974483,
                  .noise = 0.015,
                  .least = 0.02,
                  .most = 4.0,
                  .attitude = {1.0, 0.0, 0.0, 0.0}},
    };
}
