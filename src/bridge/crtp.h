// crtp.h - the Crazyflie Real Time Protocol as a Crazyflie speaks it: packets in, packets out, and what the
// client wants flown. No sockets, no clock of its own. Protocol version 12: docs/autopilots.md.
#pragma once
#include "bridge/crtp_plan.h"
#include <stddef.h>
#include <stdint.h>

enum {
    CRTP_DATA_CAP = 30,
    CRTP_BLOCK_CAP = 16,
    CRTP_VARIABLE_CAP = 26, // of a block: one byte each at least
    CRTP_TRAJECTORY_CAP = 8,
    CRTP_MEMORY_SIZE = 4096,
    CRTP_NULL = 0xff, // header of a packet that says nothing
};

typedef enum crtp_port {
    CRTP_PARAM = 2,
    CRTP_SETPOINT = 3,
    CRTP_MEMORY = 4,
    CRTP_LOG = 5,
    CRTP_LOCALIZATION = 6,
    CRTP_GENERIC_SETPOINT = 7,
    CRTP_HIGH_LEVEL = 8,
    CRTP_SUPERVISOR = 9,
    CRTP_PLATFORM = 13,
    CRTP_LINK = 15,
} crtp_port;

typedef struct crtp_packet {
    uint8_t header; // port, two bits that are set, channel
    uint8_t size;   // of the data
    uint8_t data[CRTP_DATA_CAP];
} crtp_packet;

/// Types as the tables of logs number them.
typedef enum crtp_type {
    CRTP_UINT8 = 1,
    CRTP_UINT16 = 2,
    CRTP_UINT32 = 3,
    CRTP_INT8 = 4,
    CRTP_INT16 = 5,
    CRTP_INT32 = 6,
    CRTP_FLOAT = 7,
    CRTP_FP16 = 8,
} crtp_type;

/// What a client can log: group, name, type. Degrees, g and the inverted pitch are the Crazyflie's.
#define CRTP_LOG_LIST(X)           \
    X(stateEstimate, x, FLOAT)     \
    X(stateEstimate, y, FLOAT)     \
    X(stateEstimate, z, FLOAT)     \
    X(stateEstimate, vx, FLOAT)    \
    X(stateEstimate, vy, FLOAT)    \
    X(stateEstimate, vz, FLOAT)    \
    X(stateEstimate, roll, FLOAT)  \
    X(stateEstimate, pitch, FLOAT) \
    X(stateEstimate, yaw, FLOAT)   \
    X(stateEstimate, qx, FLOAT)    \
    X(stateEstimate, qy, FLOAT)    \
    X(stateEstimate, qz, FLOAT)    \
    X(stateEstimate, qw, FLOAT)    \
    X(stabilizer, roll, FLOAT)     \
    X(stabilizer, pitch, FLOAT)    \
    X(stabilizer, yaw, FLOAT)      \
    X(ctrltarget, x, FLOAT)        \
    X(ctrltarget, y, FLOAT)        \
    X(ctrltarget, z, FLOAT)        \
    X(ctrltarget, yaw, FLOAT)      \
    X(gyro, x, FLOAT)              \
    X(gyro, y, FLOAT)              \
    X(gyro, z, FLOAT)              \
    X(acc, x, FLOAT)               \
    X(acc, y, FLOAT)               \
    X(acc, z, FLOAT)               \
    X(baro, asl, FLOAT)            \
    X(baro, pressure, FLOAT)       \
    X(range, zrange, UINT16)       \
    X(pm, vbat, FLOAT)             \
    X(kalman, varPX, FLOAT)        \
    X(kalman, varPY, FLOAT)        \
    X(kalman, varPZ, FLOAT)        \
    X(supervisor, info, UINT16)    \
    X(sys, isFlying, UINT8)

#define CRTP_LOG_ID(group, name, type) CRTP_LOG_##group##_##name,
enum { CRTP_LOG_LIST(CRTP_LOG_ID) CRTP_LOG_COUNT };

/// Parameters: group, name, type, may it be written, value. None of them changes how the drone flies.
#define CRTP_PARAM_LIST(X)                  \
    X(stabilizer, estimator, UINT8, 1, 2)   \
    X(stabilizer, controller, UINT8, 1, 1)  \
    X(commander, enHighLevel, UINT8, 1, 1)  \
    X(kalman, resetEstimation, UINT8, 1, 0) \
    X(hlCommander, vtoff, FLOAT, 1, 0.5)    \
    X(hlCommander, vland, FLOAT, 1, 0.5)    \
    X(ring, effect, UINT8, 1, 0)            \
    X(deck, bcFlow2, UINT8, 0, 0)           \
    X(deck, bcZRanger2, UINT8, 0, 0)        \
    X(deck, bcLighthouse4, UINT8, 0, 0)     \
    X(system, selftestPassed, INT8, 0, 1)   \
    X(firmware, revision0, UINT32, 0, 0)    \
    X(firmware, modified, UINT8, 0, 1)

#define CRTP_PARAM_ID(group, name, type, writable, value) CRTP_PARAM_##group##_##name,
enum { CRTP_PARAM_LIST(CRTP_PARAM_ID) CRTP_PARAM_COUNT };

/// Variables that are sent together.
typedef struct crtp_log_block {
    int is_used, is_started;
    uint8_t id;
    double period, next_time; // [s]
    int count;
    uint8_t types[CRTP_VARIABLE_CAP]; // as which they are sent
    uint16_t variables[CRTP_VARIABLE_CAP];
} crtp_log_block;

/// Pieces in the memory, of 132 bytes each.
typedef struct crtp_trajectory {
    int is_defined;
    uint32_t offset; // [bytes]
    int count;
} crtp_trajectory;

/// What the client wants of the drone.
typedef enum crtp_control_mode {
    CRTP_OFF,      ///< motors off
    CRTP_PLAN,     ///< follow the plan, and stay at its end
    CRTP_LANDING,  ///< follow the plan; motors off at its end
    CRTP_VELOCITY, ///< a velocity and yaw rate; where `holds_height` is set a height
    CRTP_POSITION, ///< a place
} crtp_control_mode;

/// A Crazyflie as its client sees it.
typedef struct crtp_device {
    double time;                   ///< [s] of the world; the owner keeps it and `values`
    double values[CRTP_LOG_COUNT]; ///< of all that can be logged, by CRTP_LOG_group_name
    double parameters[CRTP_PARAM_COUNT];
    crtp_log_block blocks[CRTP_BLOCK_CAP]; ///< of the log
    uint8_t memory[CRTP_MEMORY_SIZE];      ///< pieces of trajectories that the client has uploaded
    crtp_trajectory trajectories[CRTP_TRAJECTORY_CAP];
    int is_armed;
    int is_locked;      ///< by an emergency stop, for good
    int has_started;    ///< it was armed, flown or logged: the world may begin
    uint8_t group_mask; ///< groups of drones that it is in: commands to others are not for it
    crtp_control_mode control_mode;
    crtp_plan plan;
    vy_vec3 setpoint;     ///< [m/s] world, of CRTP_VELOCITY; of CRTP_POSITION the place [m]
    double yaw, yaw_rate; ///< [rad], [rad/s] of these two modes
    int holds_height;
    double height;        ///< [m]
    double setpoint_time; ///< [s] when the low-level setpoint came
} crtp_device;

/// Armed, at rest, nothing asked for yet.
void vy_crtp_begin(crtp_device *out);

/// A packet of the client's. Returns 1 with an answer. Whatever the bytes are, it is one packet, or none.
int vy_crtp_handle(crtp_device *d, const uint8_t *bytes, size_t size, crtp_packet *answer);

/// The next packet of logged values that is due now; 0: none.
int vy_crtp_log_next(crtp_device *d, crtp_packet *out);

/// What to fly now: *are_motors_on is 0 when motors are off.
plan_point vy_crtp_goal(crtp_device *d, int *are_motors_on);

/// The bits of the supervisor, as cflib reads them.
uint16_t vy_crtp_supervisor(const crtp_device *d);

/// The parts of vy_crtp_handle() that have files of their own; the same conventions.
int vy_crtp_handle_log(crtp_device *d, int channel, const uint8_t *data, size_t size, crtp_packet *answer);
int vy_crtp_handle_param(crtp_device *d, int channel, const uint8_t *data, size_t size, crtp_packet *answer);
int vy_crtp_handle_high_level(crtp_device *d, const uint8_t *data, size_t size); // 0 or an error of errno.h
void vy_crtp_handle_setpoint(crtp_device *d, int port, int channel, const uint8_t *data, size_t size);

/// One item of a table, behind `offset` of the answer's data: type, group, name.
int vy_crtp_put_item(crtp_packet *answer, size_t offset, uint8_t type, const char *group, const char *name);

/// Numbers of `size` bytes, little-endian.
void vy_crtp_put(uint8_t *out, uint64_t value, size_t size);
uint32_t vy_crtp_get(const uint8_t *data, size_t size);
double vy_crtp_get_float(const uint8_t *data);
uint32_t vy_crtp_float_bits(double value);

/// CRC-32 over one item of a table, as it is sent.
uint32_t vy_crtp_crc(uint32_t crc, uint8_t type, const char *group, const char *name);
