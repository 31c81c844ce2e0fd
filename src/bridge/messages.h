// messages.h - the messages of MAVLink that bridges send and read. Members are in the order of the wire.
#pragma once
#include "bridge/mavlink.h"

typedef struct mavlink_heartbeat {
    uint32_t custom_mode;
    uint8_t type, autopilot, base_mode, system_status, mavlink_version;
} mavlink_heartbeat;

typedef struct mavlink_ping {
    uint64_t time_usec;
    uint32_t seq;
    uint8_t target_system, target_component; // 0: whoever reads it answers, with the sender's
} mavlink_ping;

typedef struct mavlink_param_request_read {
    int16_t param_index; // -1: by name
    uint8_t target_system, target_component;
    char param_id[16];
} mavlink_param_request_read;

typedef struct mavlink_param_value {
    float param_value; // of integers the bits are the number
    uint16_t param_count, param_index;
    char param_id[16];
    uint8_t param_type;
} mavlink_param_value;

typedef struct mavlink_param_set {
    float param_value;
    uint8_t target_system, target_component;
    char param_id[16];
    uint8_t param_type;
} mavlink_param_set;

typedef struct mavlink_mission_count {
    uint16_t count;
    uint8_t target_system, target_component, mission_type;
} mavlink_mission_count;

typedef struct mavlink_mission_request {
    uint16_t seq;
    uint8_t target_system, target_component, mission_type;
} mavlink_mission_request;

typedef struct mavlink_mission_item_int {
    float param[4];
    int32_t x, y; // [1e-7 deg] latitude, longitude
    float z;      // [m]
    uint16_t seq, command;
    uint8_t target_system, target_component, frame, current, autocontinue, mission_type;
} mavlink_mission_item_int;

typedef struct mavlink_mission_ack {
    uint8_t target_system, target_component, type, mission_type;
} mavlink_mission_ack;

typedef struct mavlink_command_long {
    float param[7];
    uint16_t command;
    uint8_t target_system, target_component, confirmation;
} mavlink_command_long;

typedef struct mavlink_command_ack {
    uint16_t command;
    uint8_t result, progress;
    int32_t result_param2;
    uint8_t target_system, target_component;
} mavlink_command_ack;

typedef struct mavlink_rc_channels {
    uint32_t time_boot_ms;
    uint16_t chan[18]; // [us]
    uint8_t chancount, rssi;
} mavlink_rc_channels;

typedef struct mavlink_hil_actuator_controls {
    uint64_t time_usec, flags;
    float controls[16];
    uint8_t mode;
} mavlink_hil_actuator_controls;

typedef struct mavlink_hil_sensor {
    uint64_t time_usec;
    float acc[3], gyro[3];             // [m/s^2], [rad/s] forward, right, down
    float mag[3];                      // [gauss]
    float abs_pressure, diff_pressure; // [hPa]
    float pressure_alt, temperature;   // [m], [deg C]
    uint32_t fields_updated;
    uint8_t id;
} mavlink_hil_sensor;

typedef struct mavlink_hil_gps {
    uint64_t time_usec;
    int32_t lat, lon, alt;  // [1e-7 deg], [mm]
    uint16_t eph, epv, vel; // [cm], [cm/s]
    int16_t vn, ve, vd;     // [cm/s]
    uint16_t cog;           // [0.01 deg]
    uint8_t fix_type, satellites_visible, id;
    uint16_t yaw;
} mavlink_hil_gps;

typedef struct mavlink_hil_state_quaternion {
    uint64_t time_usec;
    float attitude_quaternion[4], rollspeed, pitchspeed, yawspeed;
    int32_t lat, lon, alt;                // [1e-7 deg], [mm]
    int16_t vx, vy, vz;                   // [cm/s] north, east, down
    uint16_t ind_airspeed, true_airspeed; // [cm/s]
    int16_t xacc, yacc, zacc;             // [mg]
} mavlink_hil_state_quaternion;

typedef struct mavlink_hil_optical_flow {
    uint64_t time_usec;
    uint32_t integration_time_us;
    float integrated_x, integrated_y;                           // [rad]
    float integrated_xgyro, integrated_ygyro, integrated_zgyro; // [rad]
    uint32_t time_delta_distance_us;
    float distance;      // [m]
    int16_t temperature; // [0.01 deg C]
    uint8_t sensor_id, quality;
} mavlink_hil_optical_flow;

typedef struct mavlink_distance_sensor {
    uint32_t time_boot_ms;
    uint16_t min_distance, max_distance, current_distance; // [cm]
    uint8_t type, id, orientation, covariance;
    float horizontal_fov, vertical_fov, quaternion[4];
    uint8_t signal_quality;
} mavlink_distance_sensor;

typedef struct mavlink_vision_position_estimate {
    uint64_t usec;
    float x, y, z, roll, pitch, yaw; // [m] north, east, down; [rad]
    float covariance[21];
    uint8_t reset_counter;
} mavlink_vision_position_estimate;

typedef struct mavlink_statustext {
    uint8_t severity;
    char text[50];
    uint16_t id;
    uint8_t chunk_seq;
} mavlink_statustext;

extern const mavlink_type vy_mavlink_heartbeat, vy_mavlink_ping, vy_mavlink_param_request_read,
    vy_mavlink_param_value, vy_mavlink_param_set, vy_mavlink_mission_request, vy_mavlink_mission_count,
    vy_mavlink_mission_ack, vy_mavlink_mission_request_int, vy_mavlink_rc_channels,
    vy_mavlink_mission_item_int, vy_mavlink_command_long, vy_mavlink_command_ack,
    vy_mavlink_hil_actuator_controls, vy_mavlink_vision_position_estimate, vy_mavlink_hil_sensor,
    vy_mavlink_hil_gps, vy_mavlink_hil_optical_flow, vy_mavlink_hil_state_quaternion,
    vy_mavlink_distance_sensor, vy_mavlink_statustext;

/// All of them, for tests.
const mavlink_type *const *vy_mavlink_types(int *count);
