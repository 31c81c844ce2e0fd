// imu.c - IMUs: figures, scenario keys, constants.
#include "sensors/sensor_rows.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/math.h"

#define G       9.80665             // [m/s^2]
#define DEG     0.01745329251994330 // [rad]
#define BITS_16 32768.0             // steps from 0 to full scale
#define PERCENT 0.01

static const vy_imu_def defaults = {
    .period = 0.001,
    .accel_noise = 1.72e-3, // BMI088 data sheet: 175 ug / sqrt(Hz)
    .gyro_noise = 2.44e-4,  // BMI088 data sheet: 0.014 deg/s / sqrt(Hz)
    .accel_bias = 0.05,
    .gyro_bias = 0.005,
    .accel_drift = 1e-4,
    .gyro_drift = 1e-5,
    .instability_time = 100.0,
};

vy_imu_def vy_default_imu_def(void) { return defaults; }

static const struct {
    const char *name;
    vy_imu_def def;
} parts[] = {
    // Bosch BMI088, BST-BMI088-DS001: 175 ug/sqrt(Hz) (mean of x, y 160 and z 190), 0.014 deg/s/sqrt(Hz),
    // zero
    // offset 20 mg and 1 deg/s, bias instability of the gyroscope below 2 deg/h, sensitivity error of the
    // gyroscope 1 %, cross-axis 0.5 % and 1 %, 24 g and 2000 deg/s over 16 bits, 3 dB at 280 Hz
    // (accelerometer) and 523 Hz (gyroscope). Assumed: scale of the accelerometer 0.5 %, its instability 20
    // ug, both drifts.
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
    // sensitivity error 1 %, cross-axis 2 %, 16 g and 2000 deg/s over 16 bits, filters set to 218 and 250 Hz.
    // Assumed: instabilities 15 ug and 4 deg/h, drifts.
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
    // deg/s, sensitivity error 3 %, cross-axis 2 %, 16 g and 2000 deg/s over 16 bits, filters set to 184 Hz.
    // Assumed: instabilities 60 ug and 10 deg/h, drifts.
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

static const vy_schema_row rows[] = {
    DEFAULT_PERIOD(vy_imu_def, "IMU"),
    ROW("accel_noise", NUMBER, vy_imu_def, accel_noise, .unit = "m/s^2/sqrt(Hz)", .range = AT_LEAST_0,
        .help = "white noise density of the accelerometer"),
    ROW("gyro_noise", NUMBER, vy_imu_def, gyro_noise, .unit = "rad/s/sqrt(Hz)", .range = AT_LEAST_0,
        .help = "white noise density of the gyroscope"),
    ROW("accel_bias", NUMBER, vy_imu_def, accel_bias, .unit = "m/s^2", .range = AT_LEAST_0,
        .help = "standard deviation of the turn-on bias"),
    ROW("gyro_bias", NUMBER, vy_imu_def, gyro_bias, .unit = "rad/s", .range = AT_LEAST_0,
        .help = "standard deviation of the turn-on bias"),
    ROW("accel_drift", NUMBER, vy_imu_def, accel_drift, .unit = "m/s^3/sqrt(Hz)", .range = AT_LEAST_0,
        .help = "random walk of the bias"),
    ROW("gyro_drift", NUMBER, vy_imu_def, gyro_drift, .unit = "rad/s^2/sqrt(Hz)", .range = AT_LEAST_0,
        .help = "random walk of the bias"),
    NONNEGATIVE(vy_imu_def, accel_instability, "m/s^2", "floor of the Allan deviation"),
    NONNEGATIVE(vy_imu_def, gyro_instability, "rad/s", "floor of the Allan deviation"),
    ROW("instability_time", NUMBER, vy_imu_def, instability_time, .unit = "s", .range = POSITIVE,
        .keyword = "none", .help = "correlation time of that wander"),
    NONNEGATIVE(vy_imu_def, accel_scale, NULL, "standard deviation of the scale's error per axis"),
    NONNEGATIVE(vy_imu_def, gyro_scale, NULL, "standard deviation of the scale's error per axis"),
    NONNEGATIVE(vy_imu_def, accel_misalignment, "rad", "standard deviation of each axis towards each other"),
    NONNEGATIVE(vy_imu_def, gyro_misalignment, "rad", "standard deviation of each axis towards each other"),
    LIMIT(vy_imu_def, accel_bandwidth, "Hz", "of a first-order low-pass"),
    LIMIT(vy_imu_def, gyro_bandwidth, "Hz", "of a first-order low-pass"),
    LIMIT(vy_imu_def, accel_range, "m/s^2", "where readings saturate"),
    LIMIT(vy_imu_def, gyro_range, "rad/s", "where readings saturate"),
    RESOLUTION(vy_imu_def, accel_step, "m/s^2"),
    RESOLUTION(vy_imu_def, gyro_step, "rad/s"),
    MOUNT(vy_imu_def),
    LINK(vy_imu_def),
};
SENSOR_TABLE(imu, "IMU", "Accelerometer and gyroscope.");

static vy_status check(const void *object, const vy_vehicle_def *vehicle, vy_error *err)
{
    const vy_imu_def *def = object;
    (void)vehicle;
    if ((def->accel_instability > 0.0 || def->gyro_instability > 0.0) && def->instability_time == 0.0)
        return vy_fail(err, VY_BAD_VALUE, "drone.imu.instability_time must be above 0 s where there is one");
    return VY_OK;
}

static void calibrate(void *object)
{
    vy_imu_def *def = object;
    CALIBRATED(def->accel_bias, 0.003 * G);
    CALIBRATED(def->gyro_bias, 0.02 * DEG);
    CALIBRATED(def->accel_scale, CALIBRATED_SHARE);
    CALIBRATED(def->gyro_scale, CALIBRATED_SHARE);
    CALIBRATED(def->accel_misalignment, CALIBRATED_SHARE);
    CALIBRATED(def->gyro_misalignment, CALIBRATED_SHARE);
}

imu_params vy_imu_basic(const vy_imu_def *imu)
{
    VY_ASSERT(imu->period > 0.0);
    const double rate = 1.0 / imu->period;
    return (imu_params){rate, imu->accel_noise * real_sqrt(rate), imu->gyro_noise * real_sqrt(rate),
                        imu->accel_drift * real_sqrt(imu->period), imu->gyro_drift * real_sqrt(imu->period)};
}

int vy_imu_is_full(const vy_imu_def *d)
{
    return d->accel_instability != 0.0 || d->gyro_instability != 0.0 || d->accel_scale != 0.0 ||
           d->gyro_scale != 0.0 || d->accel_misalignment != 0.0 || d->gyro_misalignment != 0.0 ||
           d->accel_bandwidth != 0.0 || d->gyro_bandwidth != 0.0 || d->accel_range != 0.0 ||
           d->gyro_range != 0.0 || d->accel_step != 0.0 || d->gyro_step != 0.0 || d->position.x != 0.0 ||
           d->position.y != 0.0 || d->position.z != 0.0;
}

// Share of a change that a low-pass shows after one period.
static double lowpass_alpha(double bandwidth, double period)
{
    return bandwidth > 0.0 ? 1.0 - math_exp(-6.283185307179586 * bandwidth * period) : 1.0;
}

static void build(const void *object, const sensor_key *run_key, void *params)
{
    const vy_imu_def *def = object;
    double n[18];
    sensor_normals(run_key, n, 18);
    const double period = def->period, correlation_time = def->instability_time;
    const double accel_wander = def->accel_instability / VY_ALLAN_FLOOR,
                 gyro_wander = def->gyro_instability / VY_ALLAN_FLOOR;
    *(imu_full_params *)params = (imu_full_params){
        .basic = vy_imu_basic(def),
        .accel_wander_deviation = accel_wander,
        .gyro_wander_deviation = gyro_wander,
        .accel_wander = gauss_markov_of(accel_wander, period, correlation_time),
        .gyro_wander = gauss_markov_of(gyro_wander, period, correlation_time),
        .accel_distortion = distortion_draw(def->accel_scale, def->accel_misalignment, n),
        .gyro_distortion = distortion_draw(def->gyro_scale, def->gyro_misalignment, n + 9),
        .accel_alpha = lowpass_alpha(def->accel_bandwidth, period),
        .gyro_alpha = lowpass_alpha(def->gyro_bandwidth, period),
        .accel_quantizer = {def->accel_range, def->accel_step},
        .gyro_quantizer = {def->gyro_range, def->gyro_step},
        .position = def->position,
    };
}

const sensor_type vy_sensor_imu = {
    .name = "imu",
    .display_name = "IMU",
    .table = &vy_table_imu,
    .defaults = &defaults,
    .link_offset = offsetof(vy_imu_def, link),
    PARTS(parts),
    .check = check,
    .calibrate = calibrate,
    .build = build,
};
