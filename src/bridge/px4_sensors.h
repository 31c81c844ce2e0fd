// px4_sensors.h - samples as the messages that PX4's simulator interface takes.
//
// Body axes are forward-right-down and the ground's north-east-down there; ours are forward-left-up and
// east-north-up. Only what has arrived since the last call is sent.
#pragma once
#include "bridge/bridge.h"
#include "bridge/messages.h"

/// Which samples have been sent, by the tick of their arrival.
typedef struct px4_sensors {
    const vy_planet_def *planet;
    vy_gps_def gps;
    vy_range_def range;
    double flow_period; // [s]
    int sends_truth;    // send it, too
    uint64_t imu_tick, mag_tick, baro_tick, airspeed_tick, gps_tick, range_tick, flow_tick, mocap_tick;
    double rc_time; // [s] when the channels are to be sent next
    mavlink_sender from;
} px4_sensors;

enum { PX4_FIELD_ACCEL = 0x7, PX4_FIELD_GYRO = 0x38, PX4_FIELD_MAG = 0x1c0 };
enum { PX4_FIELD_BARO = 0x1a00, PX4_FIELD_DIFF_PRESSURE = 0x400 };
enum { PX4_PACKET_CAP = 8 * MAVLINK_FRAME_CAP };

void vy_px4_sensors_begin(const bridge_request *request, px4_sensors *out);

/// The messages of this moment. `is_resent`: what was sent is sent again, for a firmware that boots.
/// @param time [us] of the firmware's clock
/// @param fields of HIL_SENSOR that are new
/// @return bytes in `out`
size_t vy_px4_sensors_pack(px4_sensors *s, const vy_samples *samples, uint64_t time, int is_resent,
                           uint8_t out[PX4_PACKET_CAP], uint32_t *fields);
