// controller.h - control of a drone: the rungs of the ladder, the built-in controllers, your own.
#pragma once
#include "volery/autopilot.h"
#include "volery/firmware.h"
#include "volery/sensors.h"
#include "volery/vehicle.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The level of an intent. The drive abstraction layer lowers any rung to motor commands and applies limits.
typedef enum vy_rung {
    VY_RUNG_NONE,     ///< motors off
    VY_RUNG_MOTORS,   ///< motors[i]: 0 to 1 each; thrusters follow the rotors
    VY_RUNG_WRENCH,   ///< thrust [N] and torque [N m] in body axes
    VY_RUNG_RATES,    ///< thrust [N] and rates [rad/s] in body axes, yaw counter-clockwise positive
    VY_RUNG_ATTITUDE, ///< thrust [N] and attitude q_WB
    VY_RUNG_VELOCITY, ///< velocity [m/s] in world axes and yaw rate [rad/s], counter-clockwise positive
    VY_RUNG_PILOT,    ///< throttle step, strafe, vertical, yaw: the sticks of a person
} vy_rung;

/// The verdict on a call of a controller that is not built in: a reply, or why there is none. Numbers are
/// stable.
#define VY_VERDICT_LIST(X)                                   \
    X(VY_VERDICT_REPLIED, "replied")                         \
    X(VY_VERDICT_CRASHED, "crashed")                         \
    X(VY_VERDICT_LATE, "did not reply within its deadline")  \
    X(VY_VERDICT_ENDED, "ended before the run did")          \
    X(VY_VERDICT_FLOODED, "sent more than it was asked for") \
    X(VY_VERDICT_SIZE, "sent a reply of the wrong size")     \
    X(VY_VERDICT_GARBAGE, "sent something that is no reply") \
    X(VY_VERDICT_ABSENT, "is not there to reply")            \
    X(VY_VERDICT_NOT_READY, "was not ready in time")         \
    X(VY_VERDICT_REFUSED, "refused a line of its script")    \
    X(VY_VERDICT_UNANSWERED, "left packets unanswered")

typedef enum vy_verdict {
#define X(name, text) name,
    VY_VERDICT_LIST(X)
#undef X
} vy_verdict;

/// The words of the list: `crashed`. Never NULL, static storage.
const char *vy_verdict_text(vy_verdict verdict);

/// The verdict as the end of a sentence that begins with the controller: what happened, and the key or the
/// habit to change: `crashed: signal 11, segmentation fault`.
/// @param detail as in vy_intent
/// @param limit [s] that was exceeded: the deadline, or the time to boot
/// @param printed the text it wrote in the place of a reply, or NULL: the first letters are in the detail
void vy_verdict_print(vy_verdict verdict, int32_t detail, double limit, const char *printed, char *out,
                      size_t size);

/// What a reply says of the controller itself. Numbers are stable.
typedef enum vy_reply_status {
    VY_REPLY_STATUS_ARMED,     ///< its commands act; what a reply says that leaves the status at 0
    VY_REPLY_STATUS_DISARMED,  ///< motors and thrusters are off, whatever the rung
    VY_REPLY_STATUS_NOT_READY, ///< it boots: ask again, with the same samples. Time stands still, until
                               ///< vy_controller_def.boot of wall clock are over. Not of callbacks
    VY_REPLY_STATUS_STALE,     ///< it has no new commands: those of its last reply continue, as if it had not
                               ///< been asked
} vy_reply_status;

#define VY_DROP_CAP  32
#define VY_DEBUG_CAP 8

/// A controller's reply. Only the fields of its rung are read, and those behind `detail`; others may hold
/// anything.
///
/// A command of `motors` is what the vehicle's motor curve makes of it, from 0 to 1. With
/// vy_vehicle_def.command_curve at 1, as of most presets, rotor speed is proportional to the command u and
/// thrust to its square: u = sqrt(T / T_max). At 0 the thrust itself is proportional: u = T / T_max.
typedef struct vy_intent {
    vy_rung rung;
    double motors[VY_ROTOR_CAP];
    double thrust;      ///< [N] along body +z, >= 0
    vy_vec3 torque;     ///< [N m] body axes
    vy_vec3 rates;      ///< [rad/s] body axes
    vy_quat attitude;   ///< q_WB, any length above zero
    vy_vec3 velocity;   ///< [m/s] world axes
    double yaw_rate;    ///< [rad/s] about world +z, counter-clockwise positive
    double throttle;    ///< step 0 to 10: forward speed
    double strafe;      ///< -1 to 1: positive to the right
    double vertical;    ///< -1 to 1: positive upwards
    double yaw;         ///< -1 to 1: positive turns right, clockwise from above
    vy_verdict verdict; ///< leave it at 0: any other value ends the controller
    int32_t detail; ///< of the verdict: the signal of a crash, the exit status of an end, the bytes of a size
    uint64_t drop; ///< bit k: release payload k of this drone, of the first VY_DROP_CAP in order of creation;
                   ///< it must have vy_payload_def.release. No effect while it is not carried
    double debug[VY_DEBUG_CAP]; ///< numbers of your own for debugging: logged, plotted and exported as they
                                ///< are, finite or not; nothing in the world reads them
    uint64_t status;            ///< vy_reply_status
} vy_intent;

/// The type of a field of a reply.
typedef enum vy_reply_type {
    VY_REPLY_CHOICE,   ///< one of an enumeration, or another int32_t
    VY_REPLY_COMMANDS, ///< doubles, as many as the vehicle has rotors and thrusters
    VY_REPLY_NUMBER,   ///< one double
    VY_REPLY_VEC3,
    VY_REPLY_QUAT,
    VY_REPLY_LIST,  ///< doubles
    VY_REPLY_FLAGS, ///< uint64_t, of 32 bits
    VY_REPLY_UINT,  ///< uint64_t, a number below 2^32
} vy_reply_type;

#define VY_REPLY_ANY 0xffffffffu ///< of every rung

/// One field of a vy_intent: what the wire, the log and Python know of it.
typedef struct vy_reply_field {
    const char *name;
    vy_reply_type type;
    size_t offset;           ///< in a vy_intent
    int count;               ///< of values
    uint32_t rungs;          ///< bit r: it belongs to rung r; 0: to none; VY_REPLY_ANY: it may go with each
    const char *unit, *text; ///< SI, empty for none; what it is, one sentence
} vy_reply_field;

/// Is it a whole number of 64 bits in a vy_intent?
static inline int vy_reply_is_whole(vy_reply_type type)
{
    return type == VY_REPLY_FLAGS || type == VY_REPLY_UINT;
}

/// All fields, those of VY_REPLY_ANY last. Static storage.
const vy_reply_field *vy_reply_fields(int *count);

/// Your controller: fill `intent` from `samples`. Called once per controller period, always from the stepping
/// thread. A non-finite reply ends the run with a reason.
typedef void vy_controller_fn(void *self, const vy_samples *samples, vy_intent *intent);

/// A position at a time. Between two setpoints the reference moves along a straight line with zero velocity
/// and acceleration at both ends (minimum jerk); before the first and after the last it stays.
typedef struct vy_setpoint {
    double time;      ///< [s] strictly increasing
    vy_vec3 position; ///< [m] world
    double yaw;       ///< [rad] counter-clockwise about world +z
} vy_setpoint;

typedef enum vy_controller_kind {
    VY_CONTROLLER_NONE,       ///< motors stay as the intent of the start has set them
    VY_CONTROLLER_HOLD,       ///< follow the setpoints: position -> attitude -> rates -> motors
    VY_CONTROLLER_CALLBACK,   ///< your function
    VY_CONTROLLER_PLUGIN,     ///< a shared library over volery/plugin.h; volery/host.h opens it
    VY_CONTROLLER_PROCESS,    ///< a program of its own, in lock-step; volery/host.h starts it
    VY_CONTROLLER_LEE,        ///< follow the setpoints or path: geometric tracking on SE(3), Lee 2010
    VY_CONTROLLER_MELLINGER,  ///< the same by Mellinger's law, 2011
    VY_CONTROLLER_AUTOPILOT,  ///< turn towards the target, then fly straight on (volery/autopilot.h)
    VY_CONTROLLER_INTENT,     ///< keeps the intent of the start and lowers it every period: closed loop
    VY_CONTROLLER_PILOT,      ///< a person at a keyboard or joystick; volery/host.h opens it
    VY_CONTROLLER_PX4,        ///< PX4's firmware over MAVLink, in lock-step; volery/host.h starts it
    VY_CONTROLLER_ARDUPILOT,  ///< ArduPilot's firmware over its JSON interface, likewise
    VY_CONTROLLER_CRAZYFLIE,  ///< a client that flies it as a Crazyflie, such as cflib; volery/host.h listens
    VY_CONTROLLER_BETAFLIGHT, ///< Betaflight's firmware over its SITL packets, likewise
    VY_CONTROLLER_RECORDED,   ///< plays the motor commands or rotor speeds of a recorded flight
} vy_controller_kind;

/// What a recorded flight gives back.
typedef enum vy_record_kind {
    VY_RECORD_MOTORS, ///< motor commands, 0 to 1: each row holds until the next, the last one to the end
    VY_RECORD_SPEEDS, ///< [rad/s] rotor speeds: rotors turn as recorded, between rows in proportion
} vy_record_kind;

/// Gains of the built-in lowerings, in units that do not depend on the vehicle.
typedef struct vy_gains {
    double position; ///< [1/s^2]
    double velocity; ///< [1/s]
    double integral; ///< [1/s^3]
    double attitude; ///< [1/s]
    double yaw;      ///< [1/s]
    double rate;     ///< [1/s]
    double tilt_max; ///< [rad] largest tilt the position loop asks for, in (0, 1.5]
} vy_gains;

/// What the sticks of the pilot rung mean.
typedef struct vy_pilot_def {
    double speed;    ///< [m/s] forward at throttle step 10, >= 0
    double strafe;   ///< [m/s] sideways at full stick, >= 0
    double climb;    ///< [m/s] up and down at full stick, >= 0
    double yaw_rate; ///< [rad/s] at full stick, >= 0
    double response; ///< [1/s] a change of speed is down to 1/e of itself after 1/response, > 0
} vy_pilot_def;

#define VY_THROTTLE_STEPS 10

/// How the sticks of the pilot rung move the drone.
typedef enum vy_flight_model {
    VY_FLIGHT_DYNAMIC,   ///< velocity -> attitude -> rates -> motors: rotors fly the drone
    VY_FLIGHT_KINEMATIC, ///< the drone has the desired velocity and heading at once; needs the simple engine
} vy_flight_model;

/// How desired rates become torque.
typedef enum vy_rate_law {
    VY_RATE_LAW_NDI,  ///< nonlinear dynamic inversion: the inertia times the desired acceleration, and the
                      ///< gyroscopic term
    VY_RATE_LAW_INDI, ///< incremental: the missing acceleration times the inertia, added to the present
                      ///< torque
} vy_rate_law;

#define VY_SETPOINT_CAP 32
#define VY_WAYPOINT_CAP 16

/// What a drone follows.
typedef enum vy_path_kind {
    VY_PATH_SETPOINTS,    ///< the setpoints; without any it holds the start
    VY_PATH_LINE,         ///< from `centre` to `to`
    VY_PATH_CIRCLE,       ///< counter-clockwise about `centre`, from its +x side
    VY_PATH_FIGURE_EIGHT, ///< two lobes of `radius` along x, from the crossing at `centre` (lemniscate of
                          ///< Gerono)
    VY_PATH_HELIX,        ///< a circle that climbs `climb` per lap
    VY_PATH_MINIMUM_SNAP, ///< through the waypoints with the least snap, as fast as the limits allow
} vy_path_kind;

typedef struct vy_waypoint {
    vy_vec3 position; ///< [m] world
    double yaw;       ///< [rad]
} vy_waypoint;

/// A trajectory. At rest before `start` and after its end; between, at `speed` but for the ramps at both
/// ends.
typedef struct vy_path_def {
    vy_path_kind kind;
    double start;        ///< [s] when it begins
    double speed;        ///< [m/s] along the path, > 0; of VY_PATH_MINIMUM_SNAP the limit
    double ramp;         ///< [s] from rest to speed, and back, > 0
    vy_vec3 centre;      ///< [m] world; of a line where it begins
    vy_vec3 to;          ///< [m] world: where a line ends
    double radius;       ///< [m] > 0
    double climb;        ///< [m] per lap of a helix
    double laps;         ///< > 0
    double yaw;          ///< [rad] of the nose all the way
    double acceleration; ///< [m/s^2] limit of VY_PATH_MINIMUM_SNAP, > 0
    int waypoint_count;  ///< 2 to VY_WAYPOINT_CAP for VY_PATH_MINIMUM_SNAP
    vy_waypoint waypoints[VY_WAYPOINT_CAP];
} vy_path_def;

/// Setpoints; of the shapes: one lap of 1 m at 1 m/s.
vy_path_def vy_default_path_def(void);

#define VY_PARAMETER_CAP 32

typedef enum vy_parameter_type {
    VY_PARAMETER_NUMBER,  ///< `value`
    VY_PARAMETER_BOOLEAN, ///< `value`, 0 or 1
    VY_PARAMETER_TEXT,    ///< `text`
    VY_PARAMETER_FILE,    ///< `text`: the path of a file, for a controller an absolute one
    VY_PARAMETER_JSON,    ///< `text`: a list or a mapping
} vy_parameter_type;

/// Something for your own controller, by name.
typedef struct vy_parameter {
    char name[VY_NAME_CAP];
    double value; ///< of a number or boolean
    vy_parameter_type type;
    const char *text; ///< UTF-8; NULL of numbers and booleans. Must last until vy_host_open()
    uint64_t digest;  ///< of a file: XXH3 of its bytes, which vy_host_open() compares; 0: not known
} vy_parameter;

/// What a pilot's transmitter sends from a time on.
typedef struct vy_rc_point {
    double time;                ///< [s] strictly increasing
    double channels[VY_RC_CAP]; ///< [us] up to 2200; 0: this channel and those behind it are not sent
} vy_rc_point;

#define VY_RC_POINT_CAP 1000

/// What a confined program may reach.
typedef enum vy_network {
    VY_NETWORK_NONE,     ///< sockets of this computer's file system only
    VY_NETWORK_LOOPBACK, ///< and of IPv4 and IPv6. The kernel has no filter of addresses: others can be
                         ///< reached
    VY_NETWORK_ANY,
} vy_network;

typedef struct vy_controller_def {
    vy_controller_kind kind;
    double period;      ///< [s] of the controller, a whole multiple of the world's dt
    double rate_period; ///< [s] of the attitude and rate loops below it, a whole multiple of dt
    vy_gains gains;
    vy_rate_law rate_law; ///< of the rungs rates and above
    double indi_cutoff;   ///< [rad/s] of the filter of VY_RATE_LAW_INDI, > 0
    vy_pilot_def pilot;
    vy_flight_model flight; ///< of the pilot rung
    vy_autopilot autopilot; ///< of VY_CONTROLLER_AUTOPILOT; its target's height becomes the flight altitude
    double thrust_loss[VY_ROTOR_CAP]; ///< share of each rotor's thrust that the allocation must do without, 0
                                      ///< to 1
    vy_intent start;                  ///< acts until the controller's first reply
    int setpoint_count;               ///< 0 to VY_SETPOINT_CAP; 0 holds the start position
    vy_setpoint setpoints[VY_SETPOINT_CAP];
    vy_path_def path;       ///< in place of the setpoints
    vy_controller_fn *call; ///< of a controller that is not built in; NULL: a log replays its replies
    void *self;             ///< handed to `call`
    int truth;              ///< 1: vy_samples.truth is filled in
    // For volery/host.h; a world does not read what follows.
    char program[VY_PATH_CAP]; ///< the plug-in's library, the command line of a process or firmware (empty:
                               ///< one that connects by itself), or the pilot's device: empty is the
                               ///< keyboard, /dev/input/js0 a joystick, a pipe or a file gives keys
    char folder[VY_PATH_CAP];  ///< where the program is looked for and runs; empty: the current one
    double deadline;           ///< [s] of wall clock for one reply, > 0
    int any_core;              ///< 1: a process may run on any core; 0: on the core of the stepping thread
    int parameter_count;       ///< 0 to VY_PARAMETER_CAP
    vy_parameter parameters[VY_PARAMETER_CAP];
    double boot;  ///< [s] of wall clock to be ready, at the start and whenever it says that it is not, >= 0
    int rc_count; ///< points of `rc`, 0 to VY_RC_POINT_CAP
    const vy_rc_point *rc;    ///< script of the transmitter; must last until vy_host_open()
    vy_firmware_def firmware; ///< of VY_CONTROLLER_PX4, _ARDUPILOT, _CRAZYFLIE and _BETAFLIGHT
    int instance; ///< number of the drone among those of its run, from 0 on: for ports and names of your own
    int from_log; ///< 1: a log names the program, and vy_host_open() refuses it until
                  ///< vy_scenario_allow_programs()
    int confine;  ///< 1: the program may write only to a fresh folder and `writable`, has no network but
                  ///< `network`, no privileges to gain, and an environment of few names
    vy_network network;         ///< of one that is confined; a firmware has at least the loopback
    char writable[VY_PATH_CAP]; ///< files and folders, separated by colons, seen from `folder`; empty: none
    // Of VY_CONTROLLER_RECORDED.
    vy_record_kind record_kind; ///< what it plays
    vy_numbers record; ///< rows of a time [s], which rises, and a value for each rotor (of commands: and each
                       ///< thruster); a row acts from the step nearest to its time. A world copies it
    char record_file[VY_PATH_CAP];       ///< a scenario's: where it comes from; empty once it is read
    char record_columns[VY_COLUMNS_CAP]; ///< a scenario's: which column is which quantity; empty likewise
    double record_from;                  ///< [s] a scenario's: the file's time at which the world begins
} vy_controller_def;

/// Does a controller of this kind follow the setpoints or the path?
static inline int vy_controller_follows(vy_controller_kind kind)
{
    return kind == VY_CONTROLLER_HOLD || kind == VY_CONTROLLER_LEE || kind == VY_CONTROLLER_MELLINGER;
}

/// Is it the firmware of an autopilot, or a client of one, with threads and a clock of its own?
static inline int vy_controller_is_firmware(vy_controller_kind kind)
{
    return kind == VY_CONTROLLER_PX4 || kind == VY_CONTROLLER_ARDUPILOT || kind == VY_CONTROLLER_CRAZYFLIE ||
           kind == VY_CONTROLLER_BETAFLIGHT;
}

/// Is a controller of this kind called for its replies, rather than built in?
static inline int vy_controller_is_external(vy_controller_kind kind)
{
    return kind == VY_CONTROLLER_CALLBACK || kind == VY_CONTROLLER_PLUGIN || kind == VY_CONTROLLER_PROCESS ||
           kind == VY_CONTROLLER_PILOT || vy_controller_is_firmware(kind);
}

/// Is it a program that is started: a plug-in, a process, or a firmware that does not connect by itself?
static inline int vy_controller_is_program(const vy_controller_def *def)
{
    return def->kind == VY_CONTROLLER_PLUGIN || def->kind == VY_CONTROLLER_PROCESS ||
           (vy_controller_is_firmware(def->kind) && def->program[0] != '\0');
}

/// Hold, position at 100 Hz over rates at 500 Hz.
vy_controller_def vy_default_controller_def(void);

#ifdef __cplusplus
}
#endif
