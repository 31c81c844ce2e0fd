// control.h - one drone's controller and drive abstraction layer: what is held between calls, and the calls.
#pragma once
#include "control/ladder.h"
#include "volery/controller.h"

/// The last intent, rung by rung as it was lowered, and what the loops remember.
typedef struct control_state {
    vec3 integral;              // [m/s^2] of the position loop
    quat attitude;              // wanted q_WB
    vec3 rates;                 // [rad/s] wanted
    vec3 torque;                // [N m] wanted
    real thrust;                // [N] wanted
    real motors[LADDER_ROTORS]; // 0 to 1: what the motors are told
} control_state;

/// The drive abstraction layer: lower the held intent of `rung` to motor commands. Returns how many commands
/// were clamped.
VY_FN real control_lower(const ladder_params *p, int rung, const estimator_state *e, control_state *c)
{
    if (rung < VY_RUNG_WRENCH) return real_set(0.0); // motors were set, and clamped, when the intent came
    if (rung >= VY_RUNG_ATTITUDE) c->rates = lower_attitude(p, c->attitude, e->attitude);
    if (rung >= VY_RUNG_RATES) c->torque = lower_rates(p, c->rates, e->rate);
    return lower_wrench(p, c->thrust, c->torque, c->motors);
}

/// Check a controller's def against the vehicle it steers.
vy_status vy_check_controller_def(const vy_controller_def *def, const vy_vehicle_def *vehicle, vy_error *err);

/// Constants of the lowerings. `gravity` in world axes.
vy_status vy_ladder_build(const vy_controller_def *def, const vy_vehicle_def *vehicle, vy_vec3 gravity,
                          ladder_params *out, vy_error *err);

/// Take a reply into the held state. Returns the rung that now acts; on a reply that is not finite or has no
/// known rung, -1, and `c` is untouched. Adds the clamped motor commands to `*clamps`.
int vy_control_accept(const ladder_params *p, const vy_intent *intent, control_state *c, uint64_t *clamps);
