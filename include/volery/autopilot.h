// autopilot.h - the simplest pilot: turn towards the target, then fly straight on at one speed.
//
// Its replies are of the rung `pilot`. In a world: vy_controller_def with VY_CONTROLLER_AUTOPILOT; alone: the
// calls below. Axes are those of volery/types.h; its plane is xy and the nose is body +x.
#pragma once
#include "volery/status.h"
#include "volery/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vy_autopilot_def {
    double altitude;      ///< [m] at which it flies
    int throttle;         ///< step 0 to 10 when flying on
    double radius;        ///< [m] horizontal: closer than this to the target it has arrived, > 0
    double yaw_tolerance; ///< [rad] within which it faces the target, in (0, pi)
} vy_autopilot_def;

/// 20 m, step 4, 5 m, 0.1 rad.
vy_autopilot_def vy_default_autopilot_def(void);
vy_status vy_check_autopilot_def(const vy_autopilot_def *def, vy_error *err);

/// One autopilot, of one drone. Filled by vy_autopilot_init().
typedef struct vy_autopilot {
    vy_autopilot_def def;
    int has_target;
    vy_vec3 target; ///< [m] world; its height is the flight altitude
} vy_autopilot;

/// The sticks it sets.
typedef struct vy_sticks {
    double throttle; ///< step 0 to 10
    double strafe;   ///< -1 to 1, positive to the right
    double vertical; ///< -1 to 1, positive upwards
    double yaw;      ///< -1 to 1, positive turns right
} vy_sticks;

/// Without a target. On a def that does not pass its check `*out` is untouched.
vy_status vy_autopilot_init(const vy_autopilot_def *def, vy_autopilot *out, vy_error *err);

/// Fly to this place, at the flight altitude whatever its height.
void vy_autopilot_set_target(vy_autopilot *autopilot, vy_vec3 target);

/// The sticks at this position [m] and attitude q_WB. All zero without a target and within its radius.
vy_sticks vy_autopilot_update(const vy_autopilot *autopilot, vy_vec3 position, vy_quat attitude);

#ifdef __cplusplus
}
#endif
