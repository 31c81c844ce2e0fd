// messages.c - where the fields of each message are, and the checksums of their definitions (mavlink.io,
// common.xml).
#include "bridge/messages.h"
#include <string.h>

#define FIELD(struct_, member_, count_)                                                               \
    {                                                                                                 \
#member_, offsetof(struct_, member_), (int)sizeof(((struct_ *)0)->member_) / (count_), count_ \
    }
#define TYPE(name_, id_, crc_, fields_)                                                                \
    const mavlink_type vy_mavlink_##name_ = {.name = #name_,                                           \
                                             .id = id_,                                                \
                                             .crc_extra = crc_,                                        \
                                             .field_count = (int)(sizeof fields_ / sizeof fields_[0]), \
                                             .fields = fields_}

static const mavlink_field heartbeat[] = {
    FIELD(mavlink_heartbeat, custom_mode, 1),   FIELD(mavlink_heartbeat, type, 1),
    FIELD(mavlink_heartbeat, autopilot, 1),     FIELD(mavlink_heartbeat, base_mode, 1),
    FIELD(mavlink_heartbeat, system_status, 1), FIELD(mavlink_heartbeat, mavlink_version, 1),
};
TYPE(heartbeat, 0, 50, heartbeat);

static const mavlink_field ping[] = {
    FIELD(mavlink_ping, time_usec, 1),
    FIELD(mavlink_ping, seq, 1),
    FIELD(mavlink_ping, target_system, 1),
    FIELD(mavlink_ping, target_component, 1),
};
TYPE(ping, 4, 237, ping);

static const mavlink_field param_request_read[] = {
    FIELD(mavlink_param_request_read, param_index, 1),
    FIELD(mavlink_param_request_read, target_system, 1),
    FIELD(mavlink_param_request_read, target_component, 1),
    FIELD(mavlink_param_request_read, param_id, 16),
};
TYPE(param_request_read, 20, 214, param_request_read);

static const mavlink_field param_value[] = {
    FIELD(mavlink_param_value, param_value, 1), FIELD(mavlink_param_value, param_count, 1),
    FIELD(mavlink_param_value, param_index, 1), FIELD(mavlink_param_value, param_id, 16),
    FIELD(mavlink_param_value, param_type, 1),
};
TYPE(param_value, 22, 220, param_value);

static const mavlink_field param_set[] = {
    FIELD(mavlink_param_set, param_value, 1),      FIELD(mavlink_param_set, target_system, 1),
    FIELD(mavlink_param_set, target_component, 1), FIELD(mavlink_param_set, param_id, 16),
    FIELD(mavlink_param_set, param_type, 1),
};
TYPE(param_set, 23, 168, param_set);

static const mavlink_field mission_request[] = {
    FIELD(mavlink_mission_request, seq, 1),
    FIELD(mavlink_mission_request, target_system, 1),
    FIELD(mavlink_mission_request, target_component, 1),
    FIELD(mavlink_mission_request, mission_type, 1),
};
TYPE(mission_request, 40, 230, mission_request);

static const mavlink_field mission_count[] = {
    FIELD(mavlink_mission_count, count, 1),
    FIELD(mavlink_mission_count, target_system, 1),
    FIELD(mavlink_mission_count, target_component, 1),
    FIELD(mavlink_mission_count, mission_type, 1),
};
TYPE(mission_count, 44, 221, mission_count);

static const mavlink_field mission_ack[] = {
    FIELD(mavlink_mission_ack, target_system, 1),
    FIELD(mavlink_mission_ack, target_component, 1),
    FIELD(mavlink_mission_ack, type, 1),
    FIELD(mavlink_mission_ack, mission_type, 1),
};
TYPE(mission_ack, 47, 153, mission_ack);

TYPE(mission_request_int, 51, 196, mission_request);

static const mavlink_field rc_channels[] = {
    FIELD(mavlink_rc_channels, time_boot_ms, 1),
    FIELD(mavlink_rc_channels, chan, 18),
    FIELD(mavlink_rc_channels, chancount, 1),
    FIELD(mavlink_rc_channels, rssi, 1),
};
TYPE(rc_channels, 65, 118, rc_channels);

static const mavlink_field mission_item_int[] = {
    FIELD(mavlink_mission_item_int, param, 4),
    FIELD(mavlink_mission_item_int, x, 1),
    FIELD(mavlink_mission_item_int, y, 1),
    FIELD(mavlink_mission_item_int, z, 1),
    FIELD(mavlink_mission_item_int, seq, 1),
    FIELD(mavlink_mission_item_int, command, 1),
    FIELD(mavlink_mission_item_int, target_system, 1),
    FIELD(mavlink_mission_item_int, target_component, 1),
    FIELD(mavlink_mission_item_int, frame, 1),
    FIELD(mavlink_mission_item_int, current, 1),
    FIELD(mavlink_mission_item_int, autocontinue, 1),
    FIELD(mavlink_mission_item_int, mission_type, 1),
};
TYPE(mission_item_int, 73, 38, mission_item_int);

static const mavlink_field command_long[] = {
    FIELD(mavlink_command_long, param, 7),         FIELD(mavlink_command_long, command, 1),
    FIELD(mavlink_command_long, target_system, 1), FIELD(mavlink_command_long, target_component, 1),
    FIELD(mavlink_command_long, confirmation, 1),
};
TYPE(command_long, 76, 152, command_long);

static const mavlink_field command_ack[] = {
    FIELD(mavlink_command_ack, command, 1),       FIELD(mavlink_command_ack, result, 1),
    FIELD(mavlink_command_ack, progress, 1),      FIELD(mavlink_command_ack, result_param2, 1),
    FIELD(mavlink_command_ack, target_system, 1), FIELD(mavlink_command_ack, target_component, 1),
};
TYPE(command_ack, 77, 143, command_ack);

static const mavlink_field hil_actuator_controls[] = {
    FIELD(mavlink_hil_actuator_controls, time_usec, 1),
    FIELD(mavlink_hil_actuator_controls, flags, 1),
    FIELD(mavlink_hil_actuator_controls, controls, 16),
    FIELD(mavlink_hil_actuator_controls, mode, 1),
};
TYPE(hil_actuator_controls, 93, 47, hil_actuator_controls);

static const mavlink_field vision_position_estimate[] = {
    FIELD(mavlink_vision_position_estimate, usec, 1),
    FIELD(mavlink_vision_position_estimate, x, 1),
    FIELD(mavlink_vision_position_estimate, y, 1),
    FIELD(mavlink_vision_position_estimate, z, 1),
    FIELD(mavlink_vision_position_estimate, roll, 1),
    FIELD(mavlink_vision_position_estimate, pitch, 1),
    FIELD(mavlink_vision_position_estimate, yaw, 1),
    FIELD(mavlink_vision_position_estimate, covariance, 21),
    FIELD(mavlink_vision_position_estimate, reset_counter, 1),
};
TYPE(vision_position_estimate, 102, 158, vision_position_estimate);

static const mavlink_field hil_sensor[] = {
    FIELD(mavlink_hil_sensor, time_usec, 1),      FIELD(mavlink_hil_sensor, acc, 3),
    FIELD(mavlink_hil_sensor, gyro, 3),           FIELD(mavlink_hil_sensor, mag, 3),
    FIELD(mavlink_hil_sensor, abs_pressure, 1),   FIELD(mavlink_hil_sensor, diff_pressure, 1),
    FIELD(mavlink_hil_sensor, pressure_alt, 1),   FIELD(mavlink_hil_sensor, temperature, 1),
    FIELD(mavlink_hil_sensor, fields_updated, 1), FIELD(mavlink_hil_sensor, id, 1),
};
TYPE(hil_sensor, 107, 108, hil_sensor);

static const mavlink_field hil_gps[] = {
    FIELD(mavlink_hil_gps, time_usec, 1),
    FIELD(mavlink_hil_gps, lat, 1),
    FIELD(mavlink_hil_gps, lon, 1),
    FIELD(mavlink_hil_gps, alt, 1),
    FIELD(mavlink_hil_gps, eph, 1),
    FIELD(mavlink_hil_gps, epv, 1),
    FIELD(mavlink_hil_gps, vel, 1),
    FIELD(mavlink_hil_gps, vn, 1),
    FIELD(mavlink_hil_gps, ve, 1),
    FIELD(mavlink_hil_gps, vd, 1),
    FIELD(mavlink_hil_gps, cog, 1),
    FIELD(mavlink_hil_gps, fix_type, 1),
    FIELD(mavlink_hil_gps, satellites_visible, 1),
    FIELD(mavlink_hil_gps, id, 1),
    FIELD(mavlink_hil_gps, yaw, 1),
};
TYPE(hil_gps, 113, 124, hil_gps);

static const mavlink_field hil_optical_flow[] = {
    FIELD(mavlink_hil_optical_flow, time_usec, 1),
    FIELD(mavlink_hil_optical_flow, integration_time_us, 1),
    FIELD(mavlink_hil_optical_flow, integrated_x, 1),
    FIELD(mavlink_hil_optical_flow, integrated_y, 1),
    FIELD(mavlink_hil_optical_flow, integrated_xgyro, 1),
    FIELD(mavlink_hil_optical_flow, integrated_ygyro, 1),
    FIELD(mavlink_hil_optical_flow, integrated_zgyro, 1),
    FIELD(mavlink_hil_optical_flow, time_delta_distance_us, 1),
    FIELD(mavlink_hil_optical_flow, distance, 1),
    FIELD(mavlink_hil_optical_flow, temperature, 1),
    FIELD(mavlink_hil_optical_flow, sensor_id, 1),
    FIELD(mavlink_hil_optical_flow, quality, 1),
};
TYPE(hil_optical_flow, 114, 237, hil_optical_flow);

static const mavlink_field hil_state_quaternion[] = {
    FIELD(mavlink_hil_state_quaternion, time_usec, 1),
    FIELD(mavlink_hil_state_quaternion, attitude_quaternion, 4),
    FIELD(mavlink_hil_state_quaternion, rollspeed, 1),
    FIELD(mavlink_hil_state_quaternion, pitchspeed, 1),
    FIELD(mavlink_hil_state_quaternion, yawspeed, 1),
    FIELD(mavlink_hil_state_quaternion, lat, 1),
    FIELD(mavlink_hil_state_quaternion, lon, 1),
    FIELD(mavlink_hil_state_quaternion, alt, 1),
    FIELD(mavlink_hil_state_quaternion, vx, 1),
    FIELD(mavlink_hil_state_quaternion, vy, 1),
    FIELD(mavlink_hil_state_quaternion, vz, 1),
    FIELD(mavlink_hil_state_quaternion, ind_airspeed, 1),
    FIELD(mavlink_hil_state_quaternion, true_airspeed, 1),
    FIELD(mavlink_hil_state_quaternion, xacc, 1),
    FIELD(mavlink_hil_state_quaternion, yacc, 1),
    FIELD(mavlink_hil_state_quaternion, zacc, 1),
};
TYPE(hil_state_quaternion, 115, 4, hil_state_quaternion);

static const mavlink_field distance_sensor[] = {
    FIELD(mavlink_distance_sensor, time_boot_ms, 1),   FIELD(mavlink_distance_sensor, min_distance, 1),
    FIELD(mavlink_distance_sensor, max_distance, 1),   FIELD(mavlink_distance_sensor, current_distance, 1),
    FIELD(mavlink_distance_sensor, type, 1),           FIELD(mavlink_distance_sensor, id, 1),
    FIELD(mavlink_distance_sensor, orientation, 1),    FIELD(mavlink_distance_sensor, covariance, 1),
    FIELD(mavlink_distance_sensor, horizontal_fov, 1), FIELD(mavlink_distance_sensor, vertical_fov, 1),
    FIELD(mavlink_distance_sensor, quaternion, 4),     FIELD(mavlink_distance_sensor, signal_quality, 1),
};
TYPE(distance_sensor, 132, 85, distance_sensor);

static const mavlink_field statustext[] = {
    FIELD(mavlink_statustext, severity, 1),
    FIELD(mavlink_statustext, text, 50),
    FIELD(mavlink_statustext, id, 1),
    FIELD(mavlink_statustext, chunk_seq, 1),
};
TYPE(statustext, 253, 83, statustext);

static const mavlink_type *const types[] = {
    &vy_mavlink_heartbeat,
    &vy_mavlink_ping,
    &vy_mavlink_param_request_read,
    &vy_mavlink_param_value,
    &vy_mavlink_param_set,
    &vy_mavlink_mission_request,
    &vy_mavlink_mission_count,
    &vy_mavlink_mission_ack,
    &vy_mavlink_mission_request_int,
    &vy_mavlink_rc_channels,
    &vy_mavlink_mission_item_int,
    &vy_mavlink_command_long,
    &vy_mavlink_command_ack,
    &vy_mavlink_hil_actuator_controls,
    &vy_mavlink_vision_position_estimate,
    &vy_mavlink_hil_sensor,
    &vy_mavlink_hil_gps,
    &vy_mavlink_hil_optical_flow,
    &vy_mavlink_hil_state_quaternion,
    &vy_mavlink_distance_sensor,
    &vy_mavlink_statustext,
};

const mavlink_type *const *vy_mavlink_types(int *count)
{
    *count = (int)(sizeof types / sizeof types[0]);
    return types;
}

const mavlink_type *vy_mavlink_find(uint32_t id)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
        if (types[i]->id == id) return types[i];
    }
    return NULL;
}

const mavlink_type *vy_mavlink_find_name(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
        if (strcmp(types[i]->name, name) == 0) return types[i];
    }
    return NULL;
}
