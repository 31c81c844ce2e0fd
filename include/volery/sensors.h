// sensors.h - what a drone can measure, and the samples it gets.
//
// Every sensor has its own random stream keyed by seed, drone and tick: adding one moves no other's noise.
#pragma once
#include "volery/status.h"
#include "volery/types.h"
#include "volery/vehicle.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How samples get from a sensor to the controller and estimator.
typedef struct vy_link_def {
    double dropout; ///< share of the samples that never arrive, 0 to 1
    double delay;   ///< [s] from measuring to arriving, to the nearest sample, >= 0
} vy_link_def;

/// What was done about a drone's sensors before the flight.
typedef enum vy_calibration {
    VY_CALIBRATION_NONE,   ///< nothing: errors are as declared
    VY_CALIBRATION_GROUND, ///< on the ground: what is larger is left at 3 mg of accelerometer bias, 0.02
                           ///< deg/s of gyroscope bias, 0.5 uT of hard iron, 0.5 % of scale and alignment
} vy_calibration;

/// Accelerometer and gyroscope. Turn-on biases, scale and alignment are drawn once per run; drift is a random
/// walk of the bias, instability a wander around it. What is 0 is left out.
typedef struct vy_imu_def {
    double period;             ///< [s] a whole multiple of the world's dt; 0 is no IMU
    double accel_noise;        ///< [m/s^2 / sqrt(Hz)] white noise density, >= 0
    double gyro_noise;         ///< [rad/s / sqrt(Hz)] white noise density, >= 0
    double accel_bias;         ///< [m/s^2] standard deviation of the turn-on bias, >= 0
    double gyro_bias;          ///< [rad/s] standard deviation of the turn-on bias, >= 0
    double accel_drift;        ///< [m/s^3 / sqrt(Hz)] random walk of the bias, >= 0
    double gyro_drift;         ///< [rad/s^2 / sqrt(Hz)] random walk of the bias, >= 0
    double accel_instability;  ///< [m/s^2] the flat floor of the Allan deviation, >= 0
    double gyro_instability;   ///< [rad/s] the same, >= 0
    double instability_time;   ///< [s] correlation time of that wander, > 0
    double accel_scale;        ///< standard deviation of the scale's error per axis, >= 0
    double gyro_scale;         ///< the same, >= 0
    double accel_misalignment; ///< [rad] standard deviation of each axis towards each other, >= 0
    double gyro_misalignment;  ///< [rad] the same, >= 0
    double accel_bandwidth;    ///< [Hz] of a first-order low-pass, >= 0
    double gyro_bandwidth;     ///< [Hz] the same, >= 0
    double accel_range;        ///< [m/s^2] where a reading saturates, >= 0
    double gyro_range;         ///< [rad/s] the same, >= 0
    double accel_step;         ///< [m/s^2] resolution of a reading, >= 0
    double gyro_step;          ///< [rad/s] the same, >= 0
    vy_vec3 position;          ///< [m] from the centre of mass, body axes
    vy_link_def link;
} vy_imu_def;

/// Position and attitude from cameras around the room.
typedef struct vy_mocap_def {
    double period;         ///< [s] a whole multiple of the world's dt; 0 is no motion capture
    double position_noise; ///< [m] standard deviation per axis, >= 0
    double attitude_noise; ///< [rad] standard deviation per axis, >= 0
    vy_link_def link;
} vy_mocap_def;

/// Pressure of the air.
typedef struct vy_baro_def {
    double period;      ///< [s] a whole multiple of the world's dt; 0 is no barometer
    double noise;       ///< [Pa] standard deviation of a sample, >= 0
    double bias;        ///< [Pa] standard deviation of the turn-on bias, >= 0
    double wander;      ///< [Pa] standard deviation of a slow wander, >= 0
    double wander_time; ///< [s] its correlation time, > 0
    double step;        ///< [Pa] resolution of a reading, >= 0
    vy_link_def link;
} vy_baro_def;

/// The world's magnetic field (vy_environment_def.magnetic_field) in body axes.
typedef struct vy_mag_def {
    double period;       ///< [s] a whole multiple of the world's dt; 0 is no magnetometer
    double noise;        ///< [T] standard deviation of a sample per axis, >= 0
    double bias;         ///< [T] standard deviation of the turn-on bias (hard iron), >= 0
    double scale;        ///< standard deviation of the scale's error per axis (soft iron), >= 0
    double misalignment; ///< [rad] standard deviation of each axis towards each other, >= 0
    double range;        ///< [T] where a reading saturates, >= 0
    double step;         ///< [T] resolution of a reading, >= 0
    vy_link_def link;
} vy_mag_def;

/// Position and velocity of an antenna, world axes.
typedef struct vy_gps_def {
    double period;          ///< [s] a whole multiple of the world's dt; 0 is no receiver
    double position_noise;  ///< [m] standard deviation of a sample, x and y, >= 0
    double height_noise;    ///< [m] the same of z, >= 0
    double velocity_noise;  ///< [m/s] standard deviation of a sample per axis, >= 0
    double position_wander; ///< [m] standard deviation of a slow wander, x and y, >= 0
    double height_wander;   ///< [m] the same of z, >= 0
    double wander_time;     ///< [s] its correlation time, > 0
    vy_vec3 position;       ///< [m] of the antenna from the centre of mass, body axes
    vy_link_def link;
} vy_gps_def;

/// Distance to the ground along one ray.
typedef struct vy_range_def {
    double period;      ///< [s] a whole multiple of the world's dt; 0 is no range finder
    double noise;       ///< [m] standard deviation of a sample, >= 0
    double noise_share; ///< standard deviation over distance, on top of it, >= 0
    double min, max;    ///< [m] its range: 0 <= min < max
    double step;        ///< [m] resolution of a reading, >= 0
    vy_vec3 position;   ///< [m] from the centre of mass, body axes
    vy_vec3 direction;  ///< body axes, any length above 0
    vy_link_def link;
} vy_range_def;

/// How fast the ground passes a camera that looks along body -z.
typedef struct vy_flow_def {
    double period;    ///< [s] a whole multiple of the world's dt; 0 is no such camera
    double noise;     ///< [rad/s] standard deviation of a sample per axis, >= 0
    double min, max;  ///< [m] distance of the ground at which it works: 0 <= min < max
    double range;     ///< [rad/s] above which it loses track; 0: never
    vy_vec3 position; ///< [m] from the centre of mass, body axes
    vy_link_def link;
} vy_flow_def;

/// Voltage and current of a battery, which the vehicle must have.
typedef struct vy_power_def {
    double period;        ///< [s] a whole multiple of the world's dt; 0 is no monitor
    double voltage_noise; ///< [V] standard deviation of a sample, >= 0
    double current_noise; ///< [A] the same, >= 0
    double voltage_step;  ///< [V] resolution of a reading, >= 0
    double current_step;  ///< [A] the same, >= 0
    vy_link_def link;
} vy_power_def;

/// Rotor speeds reported by the motors' electronics.
typedef struct vy_esc_def {
    double period; ///< [s] a whole multiple of the world's dt; 0 is no telemetry
    double noise;  ///< [rad/s] standard deviation of a sample, >= 0
    double step;   ///< [rad/s] resolution of a reading, >= 0
    vy_link_def link;
} vy_esc_def;

#define VY_RAY_CAP 64

/// Distances along a fan of rays: a scanner, or the zones of a depth camera. Row by row from the top, each
/// from the left to the right.
typedef struct vy_lidar_def {
    double period;        ///< [s] a whole multiple of the world's dt; 0 is no fan
    int columns, rows;    ///< of rays, 1 to VY_RAY_CAP together
    double width, height; ///< [rad] between the outermost rays, across and upwards: 0 to 2 pi and 0 to pi
    double noise;         ///< [m] standard deviation of a sample, >= 0
    double noise_share;   ///< standard deviation over distance, on top of it, >= 0
    double min, max;      ///< [m] its range: 0 <= min < max
    double step;          ///< [m] resolution of a reading, >= 0
    vy_vec3 position;     ///< [m] from the centre of mass, body axes
    vy_quat attitude;     ///< of the fan in body axes, any length above 0; identity: its middle is along +x
    vy_link_def link;
} vy_lidar_def;

/// A pitot tube: the dynamic pressure of the air along its axis.
typedef struct vy_airspeed_def {
    double period;    ///< [s] a whole multiple of the world's dt; 0 is no tube
    double noise;     ///< [Pa] standard deviation of a sample, >= 0
    double bias;      ///< [Pa] standard deviation of the turn-on bias, >= 0
    double blockage;  ///< share of the dynamic pressure that a clogged tube keeps out, 0 to 1
    double range;     ///< [Pa] where a reading saturates, either sign; 0: never
    double step;      ///< [Pa] resolution of a reading, >= 0
    vy_vec3 position; ///< [m] from the centre of mass, body axes
    vy_vec3 axis;     ///< where it points, body axes, any length above 0
    vy_link_def link;
} vy_airspeed_def;

/// What a drone may carry beside an IMU and motion capture; a period of 0 leaves a sensor out.
typedef struct vy_sensor_suite_def {
    vy_baro_def baro;
    vy_mag_def mag;
    vy_gps_def gps;
    vy_range_def range;
    vy_flow_def flow;
    vy_power_def power;
    vy_esc_def esc;
    vy_lidar_def lidar;
    vy_airspeed_def airspeed;
} vy_sensor_suite_def;

/// Figures of the BMI088 of a Crazyflie 2.1 at 1 kHz.
vy_imu_def vy_default_imu_def(void);

/// 100 Hz, 1 mm, 0.5 degrees.
vy_mocap_def vy_default_mocap_def(void);

/// None of them; figures of common parts for those that get a period.
vy_sensor_suite_def vy_default_sensor_suite_def(void);

/// A sensor as sold, by name: `bmi088`. The sensor's file in src/sensors has each
/// figure with its source, docs/sensors.md the list.
/// @return VY_NOT_FOUND with the known names; `*out` is untouched then
vy_status vy_imu_preset(const char *name, vy_imu_def *out, vy_error *err);
vy_status vy_baro_preset(const char *name, vy_baro_def *out, vy_error *err);
vy_status vy_mag_preset(const char *name, vy_mag_def *out, vy_error *err);
vy_status vy_gps_preset(const char *name, vy_gps_def *out, vy_error *err);
vy_status vy_range_preset(const char *name, vy_range_def *out, vy_error *err);
vy_status vy_flow_preset(const char *name, vy_flow_def *out, vy_error *err);
vy_status vy_power_preset(const char *name, vy_power_def *out, vy_error *err);
vy_status vy_esc_preset(const char *name, vy_esc_def *out, vy_error *err);
vy_status vy_lidar_preset(const char *name, vy_lidar_def *out, vy_error *err);
vy_status vy_airspeed_preset(const char *name, vy_airspeed_def *out, vy_error *err);

/// Of every sample: `tick` is when it arrived, 0 before the first. With a delay it was taken that much
/// earlier.
typedef struct vy_imu_sample {
    uint64_t tick;
    vy_vec3 accel; ///< [m/s^2] specific force in body axes, the mean over the sample interval
    vy_vec3 gyro;  ///< [rad/s] body axes
} vy_imu_sample;

typedef struct vy_mocap_sample {
    uint64_t tick;
    vy_vec3 position; ///< [m] world
    vy_quat attitude; ///< q_WB
} vy_mocap_sample;

typedef struct vy_baro_sample {
    uint64_t tick;
    double pressure; ///< [Pa]
    double altitude; ///< [m] where undisturbed air of this world has that pressure; 0 is the height z = 0
} vy_baro_sample;

typedef struct vy_mag_sample {
    uint64_t tick;
    vy_vec3 field; ///< [T] body axes
} vy_mag_sample;

typedef struct vy_gps_sample {
    uint64_t tick;
    vy_vec3 position; ///< [m] of the antenna, world
    vy_vec3 velocity; ///< [m/s] of the antenna, world
} vy_gps_sample;

typedef struct vy_range_sample {
    uint64_t tick;
    double distance; ///< [m] 0: no return
} vy_range_sample;

typedef struct vy_flow_sample {
    uint64_t tick;
    double x, y;    ///< [rad/s] optical flow in the middle of the image along body +x and +y
    double quality; ///< 1: tracked; 0: lost, x and y are 0
} vy_flow_sample;

typedef struct vy_power_sample {
    uint64_t tick;
    double voltage; ///< [V]
    double current; ///< [A]
} vy_power_sample;

typedef struct vy_esc_sample {
    uint64_t tick;
    double speed[VY_ROTOR_CAP]; ///< [rad/s] of each rotor
} vy_esc_sample;

typedef struct vy_lidar_sample {
    uint64_t tick;
    double distance[VY_RAY_CAP]; ///< [m] along each ray; 0: no return
} vy_lidar_sample;

/// What a sensor fault acts on. Dropout and delay are of the whole sensor that a channel is part of.
typedef enum vy_channel {
    VY_CHANNEL_ACCEL,        ///< [m/s^2] of the IMU
    VY_CHANNEL_GYRO,         ///< [rad/s] of the IMU
    VY_CHANNEL_POSITION,     ///< [m] of motion capture
    VY_CHANNEL_ATTITUDE,     ///< [rad] of motion capture, as small turns about body axes
    VY_CHANNEL_BARO,         ///< [Pa] of the barometer; its altitude follows
    VY_CHANNEL_MAG,          ///< [T] of the magnetometer
    VY_CHANNEL_GPS_POSITION, ///< [m] of the GPS receiver
    VY_CHANNEL_GPS_VELOCITY, ///< [m/s] of the GPS receiver
    VY_CHANNEL_RANGE,        ///< [m] of the range finder; never below 0, and no return stays no return
    VY_CHANNEL_FLOW,         ///< [rad/s] of the flow camera, x and y; stuck with its quality, lost stays lost
    VY_CHANNEL_VOLTAGE,      ///< [V] of the battery monitor
    VY_CHANNEL_CURRENT,      ///< [A] of the battery monitor
    VY_CHANNEL_ESC,          ///< [rad/s] of the motors' telemetry, every rotor; never below 0
    VY_CHANNEL_LIDAR,        ///< [m] of the ray fan, every ray, each as the range finder's
    VY_CHANNEL_AIRSPEED,     ///< [Pa] of the pitot tube; its speed follows
    VY_CHANNEL_COUNT,
} vy_channel;

typedef struct vy_airspeed_sample {
    uint64_t tick;
    double pressure; ///< [Pa] dynamic, 1/2 density u^2 of the flow u along the axis; none from behind
    double speed;    ///< [m/s] indicated airspeed, sqrt(2 pressure / 1.225 kg/m^3), with the pressure's sign
} vy_airspeed_sample;

/// The estimate.
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
    uint64_t contacts; ///< with an impulse on the drone now
    vy_vec3 impulse;   ///< [N s] of all of them over the last step, body axes
} vy_touch_sample;

/// What the flight plan asks for now: setpoints, mission or path. Without any of them it is the start, at
/// rest.
typedef struct vy_reference {
    vy_vec3 position;     ///< [m] world
    vy_vec3 velocity;     ///< [m/s] world
    vy_vec3 acceleration; ///< [m/s^2] world
    double yaw;           ///< [rad] of the nose, counter-clockwise about world +z; may go beyond a turn
    double yaw_rate;      ///< [rad/s]
} vy_reference;

#define VY_RC_CAP 16

/// What a radio-control receiver gives: pulse widths, 1000 to 2000 us from end to end, 1500 in the middle.
typedef struct vy_rc_sample {
    uint64_t count;             ///< of channels; 0: there is no transmitter
    double channels[VY_RC_CAP]; ///< [us] those beyond `count` are 0
} vy_rc_sample;

/// The truth, for controllers that ask for it (vy_controller_def.truth): firmware that simulates its sensors.
typedef struct vy_truth_sample {
    vy_vec3 position; ///< [m] world
    vy_vec3 velocity; ///< [m/s] world
    vy_quat attitude; ///< q_WB
    vy_vec3 rate;     ///< [rad/s] body
    vy_vec3 wind;     ///< [m/s] velocity of the air around, world: mean wind and gusts, without wakes
} vy_truth_sample;

/// Everything a controller may know. Samples are held between their ticks. The battery is what `power`
/// measures, the airspeed what `airspeed` does.
typedef struct vy_samples {
    uint64_t tick; ///< now
    double time;   ///< [s] tick * dt
    double dt;     ///< [s] the world's step
    vy_imu_sample imu;
    vy_mocap_sample mocap;
    vy_estimate estimate;
    vy_touch_sample touch; ///< zero in a world where nothing collides
    vy_baro_sample baro;
    vy_mag_sample mag;
    vy_gps_sample gps;
    vy_range_sample range;
    vy_flow_sample flow;
    vy_power_sample power;
    vy_esc_sample esc;
    vy_lidar_sample lidar;
    vy_airspeed_sample airspeed;
    vy_reference reference;
    vy_rc_sample rc;        ///< from the scenario's `rc`; of a callback without channels
    uint64_t armed;         ///< 1: the intent that acts has the motors on; 0: rung none, or disarmed
    double air_temperature; ///< [K] of the air around; 0 of a drone whose sensors are IMU and motion capture
    vy_truth_sample truth;  ///< zero unless it was asked for
} vy_samples;

#ifdef __cplusplus
}
#endif
