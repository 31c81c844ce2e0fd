// schema_sensors.c - the rows of sensors.
#include "scenario/schema_rows.h"
#include <string.h>

#define PERIOD_ROW(type_, flags_, what_)                                                                    \
    ROW("period", NUMBER, type_, period, .unit = "s", .range = AT_LEAST_0, .flags = flags_, .word = "none", \
        .help = "between samples; `none` is no " what_)
#define USUAL_PERIOD(type_, what_) PERIOD_ROW(type_, VY_ROW_PERIOD, what_)
// There is no usual period of a sensor that not every drone has: without one it would be declared in vain.
#define PERIOD(type_, what_) PERIOD_ROW(type_, VY_ROW_PERIOD | VY_ROW_REQUIRED, what_)
#define LINK(type_)                                                               \
    ROW("dropout", NUMBER, type_, link.dropout, .range = WITHIN(0.0, 1.0),        \
        .help = "share of the samples that never arrive"),                        \
        ROW("delay", NUMBER, type_, link.delay, .unit = "s", .range = AT_LEAST_0, \
            .help = "from measuring to arriving, to the nearest sample")
#define FIGURE(type_, key_, unit_, help_) \
    ROW(#key_, NUMBER, type_, key_, .unit = unit_, .range = AT_LEAST_0, .help = help_)
#define LIMIT(type_, key_, unit_, help_) \
    ROW(#key_, NUMBER, type_, key_, .unit = unit_, .range = AT_LEAST_0, .word = "none", .help = help_)
#define MOUNT(type_)                                                               \
    ROW("position", VECTOR, type_, position, .size = 3, .unit = "m", .range = ANY, \
        .help = "from the centre of mass, body axes")
// A table of one sensor, by name or in figures: its defaults are those of `default_`.
#define SENSOR(name_, type_, default_, title_, help_)                              \
    static void init_##name_(void *object, int index)                              \
    {                                                                              \
        (void)index;                                                               \
        *(type_ *)object = default_;                                               \
    }                                                                              \
    static vy_status preset_##name_(const char *name, void *object, vy_error *err) \
    {                                                                              \
        return vy_##name_##_preset(name, object, err);                             \
    }                                                                              \
    static const vy_table name_##_table = {.title = title_,                        \
                                           .help = help_,                          \
                                           .size = sizeof(type_),                  \
                                           .init = init_##name_,                   \
                                           .preset = preset_##name_,               \
                                           ROWS(name_##_rows)}

#define BY_NAME " The name of a part (docs/sensors.md lists them), a mapping, or a mapping with `base: NAME`."

static const vy_row imu_rows[] = {
    USUAL_PERIOD(vy_imu_def, "IMU"),
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
    FIGURE(vy_imu_def, accel_instability, "m/s^2", "floor of the Allan deviation"),
    FIGURE(vy_imu_def, gyro_instability, "rad/s", "floor of the Allan deviation"),
    ROW("instability_time", NUMBER, vy_imu_def, instability_time, .unit = "s", .range = POSITIVE,
        .help = "correlation time of that wander"),
    FIGURE(vy_imu_def, accel_scale, NULL, "standard deviation of the scale's error per axis"),
    FIGURE(vy_imu_def, gyro_scale, NULL, "standard deviation of the scale's error per axis"),
    FIGURE(vy_imu_def, accel_misalignment, "rad", "standard deviation of each axis towards each other"),
    FIGURE(vy_imu_def, gyro_misalignment, "rad", "standard deviation of each axis towards each other"),
    LIMIT(vy_imu_def, accel_bandwidth, "Hz", "of a first-order low-pass"),
    LIMIT(vy_imu_def, gyro_bandwidth, "Hz", "of a first-order low-pass"),
    LIMIT(vy_imu_def, accel_range, "m/s^2", "where readings saturate"),
    LIMIT(vy_imu_def, gyro_range, "rad/s", "where readings saturate"),
    FIGURE(vy_imu_def, accel_step, "m/s^2", "of a reading's last digit"),
    FIGURE(vy_imu_def, gyro_step, "rad/s", "of a reading's last digit"),
    MOUNT(vy_imu_def),
    LINK(vy_imu_def),
};
SENSOR(imu, vy_imu_def, vy_default_imu_def(), "IMU", "Accelerometer and gyroscope." BY_NAME);

static const vy_row mocap_rows[] = {
    USUAL_PERIOD(vy_mocap_def, "motion capture"),
    FIGURE(vy_mocap_def, position_noise, "m", "standard deviation per axis"),
    FIGURE(vy_mocap_def, attitude_noise, "rad", "standard deviation per axis"),
    LINK(vy_mocap_def),
};
static const vy_table mocap_table = {.title = "Motion capture",
                                     .help = "Position and attitude from cameras around the room.",
                                     .size = sizeof(vy_mocap_def),
                                     ROWS(mocap_rows)};

static const vy_row baro_rows[] = {
    PERIOD(vy_baro_def, "barometer"),
    FIGURE(vy_baro_def, noise, "Pa", "standard deviation of a sample"),
    FIGURE(vy_baro_def, bias, "Pa", "standard deviation of the turn-on bias"),
    FIGURE(vy_baro_def, wander, "Pa", "standard deviation of a slow wander"),
    ROW("wander_time", NUMBER, vy_baro_def, wander_time, .unit = "s", .range = POSITIVE,
        .help = "its correlation time"),
    FIGURE(vy_baro_def, step, "Pa", "of a reading's last digit"),
    LINK(vy_baro_def),
};
SENSOR(baro, vy_baro_def, vy_default_kit_def().baro, "Barometer", "Pressure of the air." BY_NAME);

static const vy_row mag_rows[] = {
    PERIOD(vy_mag_def, "magnetometer"),
    FIGURE(vy_mag_def, noise, "T", "standard deviation of a sample per axis"),
    FIGURE(vy_mag_def, bias, "T", "standard deviation of the turn-on bias, hard iron"),
    FIGURE(vy_mag_def, scale, NULL, "standard deviation of the scale's error per axis"),
    FIGURE(vy_mag_def, misalignment, "rad", "standard deviation of each axis towards each other"),
    LIMIT(vy_mag_def, range, "T", "where readings saturate"),
    FIGURE(vy_mag_def, step, "T", "of a reading's last digit"),
    LINK(vy_mag_def),
};
SENSOR(mag, vy_mag_def, vy_default_kit_def().mag, "Magnetometer",
       "The field of `world.magnetic_field` in body axes." BY_NAME);

static const vy_row gps_rows[] = {
    PERIOD(vy_gps_def, "receiver"),
    FIGURE(vy_gps_def, position_noise, "m", "standard deviation of a sample, x and y"),
    FIGURE(vy_gps_def, height_noise, "m", "the same of z"),
    FIGURE(vy_gps_def, velocity_noise, "m/s", "standard deviation of a sample per axis"),
    FIGURE(vy_gps_def, position_wander, "m", "standard deviation of a slow wander, x and y"),
    FIGURE(vy_gps_def, height_wander, "m", "the same of z"),
    ROW("wander_time", NUMBER, vy_gps_def, wander_time, .unit = "s", .range = POSITIVE,
        .help = "its correlation time"),
    MOUNT(vy_gps_def),
    LINK(vy_gps_def),
};
SENSOR(gps, vy_gps_def, vy_default_kit_def().gps, "GPS",
       "Position and velocity of an antenna, world axes." BY_NAME);

#define SIGHT(type_)                                                     \
    FIGURE(type_, least, "m", "nearest distance it can see"),            \
        ROW("most", NUMBER, type_, most, .unit = "m", .range = POSITIVE, \
            .help = "farthest distance it can see")
static const vy_row range_rows[] = {
    PERIOD(vy_range_def, "range finder"),
    FIGURE(vy_range_def, noise, "m", "standard deviation of a sample"),
    FIGURE(vy_range_def, noise_share, NULL, "standard deviation over distance, on top of it"),
    SIGHT(vy_range_def),
    FIGURE(vy_range_def, step, "m", "of a reading's last digit"),
    MOUNT(vy_range_def),
    ROW("direction", VECTOR, vy_range_def, direction, .size = 3, .range = ANY,
        .help = "where it looks, body axes, any length above 0"),
    LINK(vy_range_def),
};
SENSOR(range, vy_range_def, vy_default_kit_def().range, "Range finder",
       "Distance to the ground along one ray." BY_NAME);

static const vy_row flow_rows[] = {
    PERIOD(vy_flow_def, "optical flow"),
    FIGURE(vy_flow_def, noise, "rad/s", "standard deviation of a sample per axis"),
    SIGHT(vy_flow_def),
    LIMIT(vy_flow_def, range, "rad/s", "above which it loses track"),
    MOUNT(vy_flow_def),
    LINK(vy_flow_def),
};
SENSOR(flow, vy_flow_def, vy_default_kit_def().flow, "Optical flow",
       "How fast the ground passes a camera that looks along body -z." BY_NAME);

static const vy_row power_rows[] = {
    PERIOD(vy_power_def, "monitor"),
    FIGURE(vy_power_def, voltage_noise, "V", "standard deviation of a sample"),
    FIGURE(vy_power_def, current_noise, "A", "standard deviation of a sample"),
    FIGURE(vy_power_def, voltage_step, "V", "of a reading's last digit"),
    FIGURE(vy_power_def, current_step, "A", "of a reading's last digit"),
    LINK(vy_power_def),
};
SENSOR(power, vy_power_def, vy_default_kit_def().power, "Battery monitor",
       "Voltage and current of the vehicle's battery." BY_NAME);

static const vy_row esc_rows[] = {
    PERIOD(vy_esc_def, "telemetry"),
    FIGURE(vy_esc_def, noise, "rad/s", "standard deviation of a sample"),
    FIGURE(vy_esc_def, step, "rad/s", "of a reading's last digit"),
    LINK(vy_esc_def),
};
SENSOR(esc, vy_esc_def, vy_default_kit_def().esc, "ESC telemetry",
       "Rotor speeds as the motors' electronics tell them." BY_NAME);

static const vy_row lidar_rows[] = {
    PERIOD(vy_lidar_def, "fan"),
    ROW("columns", COUNT, vy_lidar_def, columns, .range = WITHIN(1.0, VY_RAY_CAP),
        .help = "of rays, from the left to the right"),
    ROW("rows", COUNT, vy_lidar_def, rows, .range = WITHIN(1.0, VY_RAY_CAP),
        .help = "of rays, from the top down; 64 rays at most"),
    ROW("width", NUMBER, vy_lidar_def, width, .unit = "rad", .range = WITHIN(0.0, 6.28318530718),
        .help = "between the outermost columns"),
    ROW("height", NUMBER, vy_lidar_def, height, .unit = "rad", .range = WITHIN(0.0, 3.14159265359),
        .help = "between the outermost rows"),
    FIGURE(vy_lidar_def, noise, "m", "standard deviation of a sample"),
    FIGURE(vy_lidar_def, noise_share, NULL, "standard deviation over distance, on top of it"),
    SIGHT(vy_lidar_def),
    FIGURE(vy_lidar_def, step, "m", "of a reading's last digit"),
    MOUNT(vy_lidar_def),
    ROW("attitude", ROTATION, vy_lidar_def, attitude, .unit = "rad", .range = ANY,
        .help = "of the fan in body axes; unturned its middle looks along +x"),
    LINK(vy_lidar_def),
};
SENSOR(lidar, vy_lidar_def, vy_default_kit_def().lidar, "Lidar",
       "Distances along a fan of rays: a scanner, or the zones of a depth camera." BY_NAME);

#define PART(key_, field_, help_)                                                                   \
    ROW(#key_, OBJECT, vy_scenario_drone, def.field_, .table = &key_##_table, .flags = VY_ROW_FILE, \
        .help = help_)
static const vy_row sensor_rows[] = {
    PART(imu, imu, "accelerometer and gyroscope"),
    ROW("truth", CHOICE, vy_scenario_drone, def.truth, SWITCH,
        .help = "whether the estimate is the truth at every step: no sensor is that good"),
    ROW("mocap", OBJECT, vy_scenario_drone, def.mocap, .table = &mocap_table, .help = "motion capture"),
    PART(baro, kit.baro, "barometer"),
    PART(mag, kit.mag, "magnetometer"),
    PART(gps, kit.gps, "satellite receiver"),
    PART(range, kit.range, "range finder"),
    PART(flow, kit.flow, "optical flow"),
    PART(power, kit.power, "battery monitor"),
    PART(esc, kit.esc, "rotor speeds"),
    PART(lidar, kit.lidar, "fan of rays"),
};
const vy_table vy_sensor_table = {.title = "Sensors", .help = "What a drone measures.", ROWS(sensor_rows)};

// --- estimators

_Static_assert(sizeof(vy_estimator_kind) == sizeof(int), "choices are read and written as int");

static const vy_choice estimators[] = {
    CHOICE("fading", VY_ESTIMATOR_FADING, "IMU and motion capture, constant gains of a fading memory"),
    CHOICE("ekf", VY_ESTIMATOR_EKF, "error-state Kalman filter on whatever the drone carries"),
    CHOICE("complementary", VY_ESTIMATOR_COMPLEMENTARY,
           "gyroscope, gravity and magnetic field; GPS or motion capture, barometer"),
};
#define FILTERS (1u << VY_ESTIMATOR_EKF | 1u << VY_ESTIMATOR_COMPLEMENTARY)
#define START(key_, unit_, help_)                                                                   \
    ROW(#key_, NUMBER, vy_estimator_def, key_, .unit = unit_, .range = AT_LEAST_0, .when = FILTERS, \
        .help = help_)
static const vy_row estimator_rows[] = {
    ROW("kind", CHOICE, vy_estimator_def, kind, CHOICES(estimators), .help = "how"),
    START(start_position, "m", "standard deviation of the first estimate's error per axis"),
    START(start_velocity, "m/s", "standard deviation of the first estimate's error per axis"),
    START(start_attitude, "rad", "standard deviation of the first estimate's error per axis"),
    ROW("attitude_time", NUMBER, vy_estimator_def, attitude_time, .unit = "s", .range = POSITIVE,
        .when = 1u << VY_ESTIMATOR_COMPLEMENTARY, .help = "how long the gyroscope is trusted"),
    ROW("position_time", NUMBER, vy_estimator_def, position_time, .unit = "s", .range = POSITIVE,
        .when = 1u << VY_ESTIMATOR_COMPLEMENTARY, .help = "how long dead reckoning is trusted"),
    ROW("gate", NUMBER, vy_estimator_def, gate, .range = WITHIN(1.0, 1e6), .word = "none", .word_value = 0.0,
        .when = 1u << VY_ESTIMATOR_EKF,
        .help =
            "a sample is rejected when one of its numbers is more than this many standard deviations from "
            "what was expected"),
    ROW("gate_time", NUMBER, vy_estimator_def, gate_time, .unit = "s", .range = POSITIVE,
        .when = 1u << VY_ESTIMATOR_EKF,
        .help = "from this long of rejection on, a sensor makes the filter less sure of what it measures"),
};
const vy_table vy_estimator_table = {.title = "Estimator",
                                     .help = "From samples to what controllers believe.",
                                     .size = sizeof(vy_estimator_def),
                                     ROWS(estimator_rows)};
