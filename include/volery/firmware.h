// firmware.h - an autopilot's firmware as a controller: how it is connected, and what it is told to do.
#pragma once
#include "volery/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The order and spin of a firmware's motors, as its documents name them.
typedef enum vy_airframe {
    VY_AIRFRAME_QUAD_X,
    VY_AIRFRAME_QUAD_PLUS,
    VY_AIRFRAME_HEXA_X,
    VY_AIRFRAME_HEXA_PLUS,
    VY_AIRFRAME_OCTO_X,
    VY_AIRFRAME_OCTO_PLUS,
    VY_AIRFRAME_OWN, ///< motors are the vehicle's rotors, and the firmware is told where they are
} vy_airframe;

/// What a line of a script asks for.
typedef enum vy_script_action {
    VY_SCRIPT_ARM,
    VY_SCRIPT_DISARM,
    VY_SCRIPT_TAKEOFF,   ///< climb to `altitude` above the start, and hold there
    VY_SCRIPT_LAND,      ///< where it is
    VY_SCRIPT_RETURN,    ///< to where it was armed
    VY_SCRIPT_HOLD,      ///< stay
    VY_SCRIPT_MISSION,   ///< fly the drone's setpoints, one after the other
    VY_SCRIPT_MODE,      ///< the flight mode `mode`
    VY_SCRIPT_PARAMETER, ///< set the firmware's parameter `parameter` to `value`
    VY_SCRIPT_COMMAND,   ///< the MAVLink command `command` with `values`
} vy_script_action;

/// Flight modes for `VY_SCRIPT_MODE`; the sticks of `rc` fly most of them.
typedef enum vy_flight_mode {
    VY_MODE_MANUAL,
    VY_MODE_ALTITUDE,
    VY_MODE_POSITION,
    VY_MODE_ACRO,
    VY_MODE_STABILIZED,
    VY_MODE_OFFBOARD,
} vy_flight_mode;

/// By which clock a firmware without lock-step runs.
typedef enum vy_firmware_clock {
    VY_CLOCK_SIMULATED, ///< its program runs under `volery sitl`: every packet is answered, by simulated time
    VY_CLOCK_WALL,      ///< its program runs by the wall's clock, and so does the world
} vy_firmware_clock;

#define VY_SCRIPT_CAP         256
#define VY_COMMAND_VALUES     7
#define VY_PARAMETER_NAME_CAP 17
#define VY_ADDRESS_CAP        40

/// A line of the script. It is sent when its time has come and the lines before it have been accepted, and
/// again until the firmware accepts it.
typedef struct vy_script_line {
    vy_script_action action;
    double time;     ///< [s] not before that of the line before
    double altitude; ///< [m] above the start
    vy_flight_mode mode;
    char parameter[VY_PARAMETER_NAME_CAP];
    double value;                     ///< of the parameter
    int command;                      ///< number of a MAV_CMD
    double values[VY_COMMAND_VALUES]; ///< its parameters 1 to 7
} vy_script_line;

/// How the firmware is reached, and what it flies.
typedef struct vy_firmware_def {
    vy_airframe airframe;
    char address[VY_ADDRESS_CAP]; ///< IPv4: where Volery listens; 127.0.0.1 is this computer alone
    int port;                     ///< of the sensors: the drone's instance is added; 0: the usual one
    int script_port; ///< of the firmware's own MAVLink, for script and parameters; the instance is added
    int lock_step;   ///< 1: a Crazyflie's client acknowledges each packet of its logs before the next step
    vy_firmware_clock clock; ///< of VY_CONTROLLER_BETAFLIGHT
    double unanswered;       ///< of its packets, the share of the last second that may have no answer, 0 to 1
    double patience;  ///< [s] of simulated time within which a line of the script must be accepted, > 0
    int script_count; ///< 0 to VY_SCRIPT_CAP
    const vy_script_line *script; ///< must last until vy_host_open()
} vy_firmware_def;

#ifdef __cplusplus
}
#endif
