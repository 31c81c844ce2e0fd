// bridge.h - what a bridge is: samples in, a firmware's protocol over sockets, replies out. Starting and
// ending the firmware is the host's.
#pragma once
#include "volery/environment.h"
#include "volery/plugin.h"

/// What a bridge is opened for.
typedef struct bridge_request {
    const vy_controller_def *def;
    const vy_plugin_start *start;
    const vy_planet_def *planet; ///< or NULL
} bridge_request;

typedef struct vy_bridge vy_bridge; ///< one owner

/// Of vy_intent.debug: what a branch has to know of the run, beside the samples.
enum {
    BRIDGE_DEBUG_CLOCK, ///< [s] by which the firmware's clock is ahead of the world's, from booting; 0: no
                        ///< record
    BRIDGE_DEBUG_SENT,  ///< line of the script that was sent with these samples, from 1 on; below zero: its
                        ///< mission
    BRIDGE_DEBUG_ACCEPTED, ///< lines that have been accepted
};

/// The bridge of one kind of firmware.
typedef struct bridge_kind {
    /// Take the ports. Nobody is waited for.
    vy_status (*open)(const bridge_request *request, vy_bridge **out, vy_error *err);
    /// One call of the controller: send the samples, wait for the reply. A firmware that has not connected,
    /// or boots, is VY_REPLY_STATUS_NOT_READY: ask again with the same samples.
    /// `detail` is the verdict's; of an end -1.
    vy_verdict (*step)(vy_bridge *bridge, const vy_samples *samples, vy_intent *intent, int32_t *detail);
    /// Of a branch, before a step: the logged reply to the samples that come. NULL: it is not told.
    void (*set_logged_reply)(vy_bridge *bridge, const vy_intent *logged_reply);
    /// NULL is a no-op.
    void (*close)(vy_bridge *bridge);
    /// The socket that the firmware's program inherits, which is closed once it has; or -1. NULL: none.
    int (*inherited_socket)(vy_bridge *bridge);
} bridge_kind;

extern const bridge_kind vy_px4_bridge, vy_ardupilot_bridge, vy_betaflight_bridge, vy_crazyflie_bridge;

/// Which of the firmware's outputs is which rotor.
typedef struct bridge_motors {
    int count;
    int order[VY_ROTOR_CAP]; ///< by motor: the rotor
} bridge_motors;

/// By the def's airframe. VY_BAD_VALUE: the vehicle has no such rotors.
vy_status vy_bridge_motors(const bridge_request *request, bridge_motors *out, vy_error *err);

/// Set the command of the firmware's motor `motor`, cut to 0 to 1.
void vy_bridge_set_motor(const bridge_motors *motors, int motor, double command, vy_intent *intent);

/// q_WB as the rotation from forward-right-down to north-east-down.
vy_quat vy_bridge_attitude_ned(vy_quat attitude);

/// The port that a firmware or client connects to, by the number of its drone; 0 of betaflight, which we
/// connect to.
int vy_bridge_port(const vy_controller_def *def);

/// The UDP port that the firmware's MAVLink sends to; 0: nothing is told over MAVLink.
int vy_bridge_script_port(const vy_controller_def *def);

/// What to do about a port that is taken.
#define BRIDGE_PORT_REMEDY        "`port` of the controller sets another"
#define BRIDGE_SCRIPT_PORT_REMEDY "`script_port` of the controller sets another"

/// [s] of wall clock, from an unknown beginning.
double vy_bridge_now(void);
