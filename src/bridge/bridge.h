// bridge.h - what a bridge is: samples in, a firmware's protocol over sockets, replies out. Starting and
// ending the firmware is the host's.
#pragma once
#include "volery/environment.h"
#include "volery/plugin.h"

/// What a bridge is for.
typedef struct bridge_job {
    const vy_controller_def *def;
    const vy_plugin_start *start;
    const vy_planet_def *planet; ///< or NULL
} bridge_job;

typedef struct vy_px4 vy_px4; ///< one owner

/// Take the ports. Nobody is waited for.
vy_status vy_px4_open(const bridge_job *job, vy_px4 **out, vy_error *err);

/// One call of the controller: send the samples, wait for the reply. A firmware that has not connected, or
/// boots, is VY_STATUS_NOT_READY: ask again with the same samples.
/// @param detail of the verdict; of an end -1
vy_verdict vy_px4_step(vy_px4 *p, const vy_samples *samples, vy_intent *intent, int32_t *detail);

/// NULL is a no-op.
void vy_px4_close(vy_px4 *p);

typedef struct vy_ardupilot vy_ardupilot; ///< one owner

/// The same for ArduPilot.
vy_status vy_ardupilot_open(const bridge_job *job, vy_ardupilot **out, vy_error *err);
vy_verdict vy_ardupilot_step(vy_ardupilot *a, const vy_samples *samples, vy_intent *intent, int32_t *detail);
void vy_ardupilot_close(vy_ardupilot *a);

typedef struct vy_crazyflie vy_crazyflie; ///< one owner

/// The same for a client of a Crazyflie, such as cflib. Until it arms, logs or flies it is not ready.
vy_status vy_crazyflie_open(const bridge_job *job, vy_crazyflie **out, vy_error *err);
vy_verdict vy_crazyflie_step(vy_crazyflie *c, const vy_samples *samples, vy_intent *intent, int32_t *detail);
void vy_crazyflie_close(vy_crazyflie *c);
