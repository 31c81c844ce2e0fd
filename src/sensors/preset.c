// preset.c - sensors as sold. Figures are those of the makers' data sheets, by document; what a sheet does
// not say and is taken for likely is marked `assumed`. A tolerance given as a bound (+-) is read as one
// standard deviation: parts are usually better than their bound, flights are planned for worse.
#include "base/fail.h"
#include "base/real.h"
#include "volery/sensors.h"
#include <stdio.h>
#include <string.h>

#define G           9.80665             // [m/s^2]
#define DEG         0.01745329251994330 // [rad]
#define CEP_TO_AXIS 0.8493  // a circle of half of all fixes to one axis' deviation: 1 / sqrt(2 ln 2)
#define BITS_16     32768.0 // steps from 0 to full scale
#define PERCENT     0.01
#define MICROTESLA  1e-6

// The object of that name in a table of {name, def}; else an error that lists the names.
#define FIND(what_, table_)                                                                      \
    char names[150] = "";                                                                        \
    for (size_t i = 0; i < sizeof table_ / sizeof table_[0]; ++i) {                              \
        if (strcmp(name, table_[i].name) == 0) {                                                 \
            *out = table_[i].def;                                                                \
            return VY_OK;                                                                        \
        }                                                                                        \
        const size_t used = strlen(names);                                                       \
        snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ", table_[i].name); \
    }                                                                                            \
    return vy_fail(err, VY_NOT_FOUND, "no " what_ " is called %.40s: there are %s", name, names)

vy_status vy_imu_preset(const char *name, vy_imu_def *out, vy_error *err)
{
    FPU_SCOPE;
    static const struct {
        const char *name;
        vy_imu_def def;
    } parts[] = {
        // Bosch BMI088, BST-BMI088-DS001: 175 ug/sqrt(Hz) (mean of x, y 160 and z 190), 0.014 deg/s/sqrt(Hz),
        // zero
        // offset 20 mg and 1 deg/s, bias instability of the gyroscope below 2 deg/h, sensitivity error of the
        // gyroscope 1 %, cross-axis 0.5 % and 1 %, 24 g and 2000 deg/s over 16 bits, 3 dB at 280 Hz
        // (accelerometer) and
        // 523 Hz (gyroscope). Assumed: scale of the accelerometer 0.5 %, its instability 20 ug, both drifts.
        {"bmi088",
         {.period = 0.001,
          .accel_noise = 175e-6 * G,
          .gyro_noise = 0.014 * DEG,
          .accel_bias = 0.020 * G,
          .gyro_bias = 1.0 * DEG,
          .accel_drift = 1e-4,
          .gyro_drift = 1e-5,
          .accel_instability = 20e-6 * G,
          .gyro_instability = 2.0 / 3600.0 * DEG,
          .instability_time = 100.0,
          .accel_scale = 0.5 * PERCENT,
          .gyro_scale = 1.0 * PERCENT,
          .accel_misalignment = 0.005,
          .gyro_misalignment = 0.01,
          .accel_bandwidth = 280.0,
          .gyro_bandwidth = 523.0,
          .accel_range = 24.0 * G,
          .gyro_range = 2000.0 * DEG,
          .accel_step = 24.0 * G / BITS_16,
          .gyro_step = 2000.0 * DEG / BITS_16}},
        // TDK ICM-20602, DS-000176: 100 ug/sqrt(Hz), 0.004 deg/s/sqrt(Hz), zero offset 25 mg and 1 deg/s,
        // sensitivity
        // error 1 %, cross-axis 2 %, 16 g and 2000 deg/s over 16 bits, filters set to 218 and 250 Hz.
        // Assumed:
        // instabilities 15 ug and 4 deg/h, drifts.
        {"icm20602",
         {.period = 0.001,
          .accel_noise = 100e-6 * G,
          .gyro_noise = 0.004 * DEG,
          .accel_bias = 0.025 * G,
          .gyro_bias = 1.0 * DEG,
          .accel_drift = 1e-4,
          .gyro_drift = 1e-5,
          .accel_instability = 15e-6 * G,
          .gyro_instability = 4.0 / 3600.0 * DEG,
          .instability_time = 100.0,
          .accel_scale = 1.0 * PERCENT,
          .gyro_scale = 1.0 * PERCENT,
          .accel_misalignment = 0.02,
          .gyro_misalignment = 0.02,
          .accel_bandwidth = 218.0,
          .gyro_bandwidth = 250.0,
          .accel_range = 16.0 * G,
          .gyro_range = 2000.0 * DEG,
          .accel_step = 16.0 * G / BITS_16,
          .gyro_step = 2000.0 * DEG / BITS_16}},
        // InvenSense MPU-9250, PS-MPU-9250A-01: 300 ug/sqrt(Hz), 0.01 deg/s/sqrt(Hz), zero offset 60 mg and 5
        // deg/s,
        // sensitivity error 3 %, cross-axis 2 %, 16 g and 2000 deg/s over 16 bits, filters set to 184 Hz.
        // Assumed:
        // instabilities 60 ug and 10 deg/h, drifts.
        {"mpu9250",
         {.period = 0.001,
          .accel_noise = 300e-6 * G,
          .gyro_noise = 0.01 * DEG,
          .accel_bias = 0.060 * G,
          .gyro_bias = 5.0 * DEG,
          .accel_drift = 2e-4,
          .gyro_drift = 2e-5,
          .accel_instability = 60e-6 * G,
          .gyro_instability = 10.0 / 3600.0 * DEG,
          .instability_time = 100.0,
          .accel_scale = 3.0 * PERCENT,
          .gyro_scale = 3.0 * PERCENT,
          .accel_misalignment = 0.02,
          .gyro_misalignment = 0.02,
          .accel_bandwidth = 184.0,
          .gyro_bandwidth = 184.0,
          .accel_range = 16.0 * G,
          .gyro_range = 2000.0 * DEG,
          .accel_step = 16.0 * G / BITS_16,
          .gyro_step = 2000.0 * DEG / BITS_16}},
    };
    FIND("IMU", parts);
}

vy_status vy_baro_preset(const char *name, vy_baro_def *out, vy_error *err)
{
    FPU_SCOPE;
    static const struct {
        const char *name;
        vy_baro_def def;
    } parts[] = {
        // Bosch BMP388, BST-BMP388-DS001: relative accuracy 8 Pa (0.66 m), absolute accuracy 50 Pa, 50 Hz
        // with the settings
        // advised for drones. Assumed: 1.2 Pa of noise at those, a correlation time of 5 min.
        {"bmp388",
         {.period = 0.02, .noise = 1.2, .bias = 50.0, .wander = 8.0, .wander_time = 300.0, .step = 0.016}},
        // TE MS5611-01BA03: 0.012 mbar resolution at an oversampling of 4096, absolute accuracy 1.5 mbar, 9
        // ms for a
        // conversion. Assumed: 50 Hz, a wander of 10 Pa in 5 min.
        {"ms5611",
         {.period = 0.02, .noise = 1.2, .bias = 150.0, .wander = 10.0, .wander_time = 300.0, .step = 1.2}},
    };
    FIND("barometer", parts);
}

vy_status vy_mag_preset(const char *name, vy_mag_def *out, vy_error *err)
{
    FPU_SCOPE;
    static const struct {
        const char *name;
        vy_mag_def def;
    } parts[] = {
        // Honeywell HMC5883L, 900405: 0.2 uT (2 milli-gauss) of noise, a step of 0.092 uT at the default
        // gain, which
        // reaches 130 uT; 75 Hz; cross-axis 0.2 %. Assumed: 5 uT of hard iron, 2 % of scale.
        {"hmc5883l",
         {.period = 0.014,
          .noise = 0.2 * MICROTESLA,
          .bias = 5.0 * MICROTESLA,
          .scale = 2.0 * PERCENT,
          .misalignment = 0.002,
          .range = 130.0 * MICROTESLA,
          .step = 0.092 * MICROTESLA}},
        // Bosch BMM150, BST-BMM150-DS001: 0.6 uT of noise with the regular preset, a resolution of 0.3 uT,
        // 1300 uT in x and
        // y; 10 Hz with that preset. Assumed: 5 uT of hard iron, 2 % of scale, 0.5 % between axes.
        {"bmm150",
         {.period = 0.1,
          .noise = 0.6 * MICROTESLA,
          .bias = 5.0 * MICROTESLA,
          .scale = 2.0 * PERCENT,
          .misalignment = 0.005,
          .range = 1300.0 * MICROTESLA,
          .step = 0.3 * MICROTESLA}},
    };
    FIND("magnetometer", parts);
}

vy_status vy_gps_preset(const char *name, vy_gps_def *out, vy_error *err)
{
    FPU_SCOPE;
    // Sheets give half of all fixes over a day within a circle (CEP) and a velocity within 0.05 m/s for half
    // of the time. Assumed: that error is nearly all wander of a minute, white noise is a tenth of it,
    // heights are worse by 1.5, and a fix is 0.1 s old.
    static const struct {
        const char *name;
        vy_gps_def def;
    } parts[] = {
        // u-blox NEO-M8N, UBX-15031086: 2.5 m CEP, 0.05 m/s, 10 Hz.
        {"neo-m8n",
         {.period = 0.1,
          .position_noise = 0.25 * CEP_TO_AXIS,
          .height_noise = 0.375 * CEP_TO_AXIS,
          .velocity_noise = 0.05,
          .position_wander = 2.5 * CEP_TO_AXIS,
          .height_wander = 3.75 * CEP_TO_AXIS,
          .wander_time = 60.0,
          .link = {.delay = 0.1}}},
        // u-blox NEO-M9N, UBX-19014285: 2.0 m CEP, 0.05 m/s, 25 Hz.
        {"neo-m9n",
         {.period = 0.04,
          .position_noise = 0.2 * CEP_TO_AXIS,
          .height_noise = 0.3 * CEP_TO_AXIS,
          .velocity_noise = 0.05,
          .position_wander = 2.0 * CEP_TO_AXIS,
          .height_wander = 3.0 * CEP_TO_AXIS,
          .wander_time = 60.0,
          .link = {.delay = 0.08}}},
    };
    FIND("GPS receiver", parts);
}

vy_status vy_range_preset(const char *name, vy_range_def *out, vy_error *err)
{
    FPU_SCOPE;
    static const struct {
        const char *name;
        vy_range_def def;
    } parts[] = {
        // ST VL53L1X, DocID031281: 4 cm to 4 m, 50 Hz, ranging error 20 mm, 1 mm steps. Assumed:
        // repeatability 0.15 %.
        {"vl53l1x",
         {.period = 0.02,
          .noise = 0.02,
          .noise_share = 0.0015,
          .least = 0.04,
          .most = 4.0,
          .step = 0.001,
          .direction = {0.0, 0.0, -1.0}}},
        // Benewake TF-Luna, SJ-PM-TF-Luna A03: 0.2 to 8 m, 100 Hz, 1 cm steps, a standard deviation of 0.5 cm
        // at
        // 2 m to 2 cm at 8 m on a bright surface. Its accuracy of 6 cm is an offset, and left out.
        {"tf-luna",
         {.period = 0.01,
          .noise_share = 0.0025,
          .least = 0.2,
          .most = 8.0,
          .step = 0.01,
          .direction = {0.0, 0.0, -1.0}}},
    };
    FIND("range finder", parts);
}

vy_status vy_flow_preset(const char *name, vy_flow_def *out, vy_error *err)
{
    FPU_SCOPE;
    static const struct {
        const char *name;
        vy_flow_def def;
    } parts[] = {
        // PixArt PMW3901MB: from 80 mm on, 7.4 rad/s, 121 frames a second. Assumed: read every 10 ms, 0.1
        // rad/s of noise,
        // texture up to 30 m.
        {"pmw3901", {.period = 0.01, .noise = 0.1, .least = 0.08, .most = 30.0, .range = 7.4}},
    };
    FIND("optical flow sensor", parts);
}

vy_status vy_power_preset(const char *name, vy_power_def *out, vy_error *err)
{
    FPU_SCOPE;
    static const struct {
        const char *name;
        vy_power_def def;
    } parts[] = {
        // TI INA226, SBOS547: 1.25 mV and 2.5 uV steps. Assumed: a shunt of 0.5 mohm, so 5 mA; noise of one
        // step; 100 Hz.
        {"ina226",
         {.period = 0.01,
          .voltage_noise = 0.00125,
          .current_noise = 0.005,
          .voltage_step = 0.00125,
          .current_step = 0.005}},
    };
    FIND("battery monitor", parts);
}

vy_status vy_esc_preset(const char *name, vy_esc_def *out, vy_error *err)
{
    FPU_SCOPE;
    static const struct {
        const char *name;
        vy_esc_def def;
    } parts[] = {
        // KISS serial telemetry (BLHeli_32 speaks it too): steps of 100 electrical rpm. Assumed: 14 poles,
        // so 1.496 rad/s;
        // every 20 ms per motor; no noise beyond.
        {"kiss", {.period = 0.02, .step = 1.4959965}},
    };
    FIND("telemetry", parts);
}

vy_status vy_lidar_preset(const char *name, vy_lidar_def *out, vy_error *err)
{
    FPU_SCOPE;
    static const struct {
        const char *name;
        vy_lidar_def def;
    } parts[] = {
        // ST VL53L5CX, DS13754: 8 x 8 zones over 45 deg, 15 Hz, 2 cm to 4 m, 15 mm below 0.2 m and 5 % above,
        // 1 mm steps.
        // The rays are the middles of the zones. Every 66 ms, so that whole steps fit.
        {"vl53l5cx",
         {.period = 0.066,
          .columns = 8,
          .rows = 8,
          .width = 45.0 * DEG * 7.0 / 8.0,
          .height = 45.0 * DEG * 7.0 / 8.0,
          .noise = 0.015,
          .noise_share = 0.05,
          .least = 0.02,
          .most = 4.0,
          .step = 0.001,
          .attitude = {1.0, 0.0, 0.0, 0.0}}},
        // Bitcraze Multi-ranger deck without its upward sensor: four VL53L1X, forward, left, back, right by a
        // full turn.
        {"multiranger",
         {.period = 0.02,
          .columns = 4,
          .rows = 1,
          .width = 6.283185307179586,
          .noise = 0.02,
          .noise_share = 0.0015,
          .least = 0.04,
          .most = 4.0,
          .step = 0.001,
          .attitude = {1.0, 0.0, 0.0, 0.0}}},
    };
    FIND("lidar", parts);
}
