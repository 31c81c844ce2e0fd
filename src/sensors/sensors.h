// sensors.h - the list of sensors. A new one is a pair of files, a row here, and its def and sample in
// volery/sensors.h.
#pragma once
#include "sensors/airspeed.h"
#include "sensors/baro.h"
#include "sensors/esc.h"
#include "sensors/flow.h"
#include "sensors/gps.h"
#include "sensors/imu_full.h"
#include "sensors/lidar.h"
#include "sensors/mag.h"
#include "sensors/mocap.h"
#include "sensors/power.h"
#include "sensors/range.h"

// S(id, stream, name, needs, text). `id` keys its block of state, what is drawn once per run and what gets
// lost on the way; `stream` keys its noise (base/rng.h). Neither changes, neither is given again: an id is
// below 32. `needs` is what its NAME_sample() gets beside body and key: NOTHING, STILL_AIR, MOVING_AIR,
// FIELD, GRAVITY, RAYS, BATTERY, ROTORS. The order is that of vy_samples.
#define SENSORS(S)                              \
    S(0, 5, baro, STILL_AIR, "barometer")       \
    S(1, 7, mag, FIELD, "magnetometer")         \
    S(2, 6, gps, NOTHING, "satellite receiver") \
    S(3, 8, range, RAYS, "range finder")        \
    S(4, 13, flow, RAYS, "optical flow")        \
    S(5, 14, power, BATTERY, "battery monitor") \
    S(6, 15, esc, ROTORS, "rotor speeds")       \
    S(7, 16, lidar, RAYS, "fan of rays")        \
    S(10, 32, airspeed, MOVING_AIR, "pitot tube")

// The two that every drone may have: their basic forms run in lanes, their samples are in the drone's block.
#define DRONE_SENSORS(S)                                 \
    S(8, 0, imu, GRAVITY, "accelerometer and gyroscope") \
    S(9, 1, mocap, NOTHING, "motion capture")

enum sensor_kind {
#define KIND(id, stream, name, needs, text) SENSOR_##name,
    SENSORS(KIND) SENSOR_SUITE_KINDS,
    SENSOR_BEFORE_DRONES = SENSOR_SUITE_KINDS - 1,
    DRONE_SENSORS(KIND) SENSOR_KINDS
#undef KIND
};

/// How many numbers a sample has: all of its fields but the tick.
enum sensor_width {
#define WIDTH_OF(block, member, type, count, unit, text) +(count)
#define WIDTH(id, stream, name, needs, text)             name##_WIDTH = 0 SAMPLE_##name(WIDTH_OF, name) - 1,
    SENSORS(WIDTH) DRONE_SENSORS(WIDTH)
#undef WIDTH
};

/// Blocks of state, as rows of world/blocks.inl.
#define SENSOR_BLOCK(id, stream, name, needs, text) \
    BLOCK(64 + id, name, name, name, m->sensor_counts[SENSOR_##name], "per drone that has this sensor: " text)

#define DECLARE(id, stream, name, needs, text) \
    extern const sensor_type vy_sensor_##name; \
    extern const vy_schema_table vy_table_##name;
SENSORS(DECLARE)
DRONE_SENSORS(DECLARE)
#undef DECLARE

/// The state of the sensors that a drone carries; NULL: it has no such sensor.
typedef struct sensor_suite_blocks {
    imu_full_block *imu_full;
#define BLOCK_OF(id, stream, name, needs, text) name##_block *name;
    SENSORS(BLOCK_OF)
#undef BLOCK_OF
} sensor_suite_blocks;

/// Room for the constants of any of SENSORS.
typedef union sensor_params {
#define PARAMS(id, stream, name, needs, text) name##_params name;
    SENSORS(PARAMS)
#undef PARAMS
} sensor_params;

/// One row of the list.
typedef struct sensor_row {
    const sensor_type *type;
    uint32_t id, stream;  // of the list above
    int width;            // how many numbers a sample has
    size_t def_offset;    // in vy_sensor_suite_def; of no use for DRONE_SENSORS
    size_t sample_offset; // in vy_samples
} sensor_row;

extern const sensor_row vy_sensors[SENSOR_KINDS];

/// One channel of a sensor, by vy_channel.
typedef struct channel_row {
    sensor_channel channel;
    enum sensor_kind sensor;
} channel_row;

extern const channel_row vy_channels[VY_CHANNEL_COUNT];
