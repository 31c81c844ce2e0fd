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

/// A controller's reply. Only the fields of its rung are read; others may hold anything.
typedef struct control_reply {
    bits rung;
    real motors[LADDER_ROTORS];
    real thrust;
    vec3 torque, rates;
    quat attitude;
} control_reply;

/// The drive abstraction layer: lower the held intent to motor commands in the lanes of `who`. Returns how
/// many commands were clamped. (Motor commands of the lowest rung were set, and clamped, when the intent
/// came.)
VY_FN real control_lower(const ladder_params *p, bits rung, mask who, const estimator_state *e,
                         control_state *c)
{
    const mask wrench = who & (rung >= bits_set(VY_RUNG_WRENCH));
    if (!mask_any(wrench)) return real_set(0.0);
    const mask turns = wrench & (rung >= bits_set(VY_RUNG_ATTITUDE));
    if (mask_any(turns)) c->rates = vec3_select(turns, lower_attitude(p, c->attitude, e->attitude), c->rates);
    const mask spins = wrench & (rung >= bits_set(VY_RUNG_RATES));
    if (mask_any(spins)) c->torque = vec3_select(spins, lower_rates(p, c->rates, e->rate), c->torque);
    real motors[LADDER_ROTORS];
    const real clamped = lower_wrench(p, c->thrust, c->torque, motors);
    for (int i = 0; i < bits_uniform(p->rotor_count); ++i) {
        c->motors[i] = real_select(wrench, motors[i], c->motors[i]);
    }
    return real_select(wrench, clamped, real_set(0.0));
}

/// The lanes whose reply can be taken: finite, and of a rung that the vehicle has.
VY_FN mask control_sound(const ladder_params *p, const control_reply *in)
{
    const mask motors = in->rung == bits_set(VY_RUNG_MOTORS), torque = in->rung == bits_set(VY_RUNG_WRENCH);
    const mask rates = in->rung == bits_set(VY_RUNG_RATES), turn = in->rung == bits_set(VY_RUNG_ATTITUDE);
    const mask wrench = torque | rates | turn;
    const vec3 asked = vec3_select(torque, in->torque, in->rates);
    const real square = quat_dot(in->attitude, in->attitude);
    mask sound = motors | wrench | (in->rung == bits_set(VY_RUNG_NONE));
    if (!bits_uniform(p->makes_wrench)) sound = sound & mask_not(wrench); // it takes motor commands only
    for (int i = 0; i < bits_uniform(p->rotor_count); ++i) {
        sound = sound & (mask_not(motors) | real_is_finite(in->motors[i]));
    }
    sound = sound & (mask_not(wrench) | real_is_finite(in->thrust));
    sound = sound & (mask_not(turn) | ((square > 0.0) & real_is_finite(square)));
    return sound & (mask_not(torque | rates) |
                    (real_is_finite(asked.x) & real_is_finite(asked.y) & real_is_finite(asked.z)));
}

/// Take a reply into the held state, in the lanes of `who`, all of which are sound. Adds the clamped motor
/// commands to `*clamps`.
VY_FN void control_take(const ladder_params *p, const control_reply *in, mask who, control_state *c,
                        bits *clamps)
{
    const real zero = real_set(0.0), one = real_set(1.0);
    const mask wrench = who & (in->rung >= bits_set(VY_RUNG_WRENCH)), direct = who & mask_not(wrench);
    c->thrust = real_select(wrench, real_max(in->thrust, zero), c->thrust);
    c->torque = vec3_select(who & (in->rung == bits_set(VY_RUNG_WRENCH)), in->torque, c->torque);
    c->rates = vec3_select(who & (in->rung == bits_set(VY_RUNG_RATES)), in->rates, c->rates);
    const mask turn = who & (in->rung == bits_set(VY_RUNG_ATTITUDE));
    if (mask_any(turn)) c->attitude = quat_select(turn, quat_normalize(in->attitude), c->attitude);
    if (!mask_any(direct)) return;
    const mask motors = in->rung == bits_set(VY_RUNG_MOTORS);
    for (int i = 0; i < bits_uniform(p->rotor_count); ++i) {
        const real asked = real_select(motors, in->motors[i], zero), told = real_clamp(asked, zero, one);
        *clamps = *clamps + bits_select(direct & (told != asked), bits_set(1), bits_set(0));
        c->motors[i] = real_select(direct, told, c->motors[i]);
    }
}

/// Check a controller's def against the vehicle it steers.
vy_status vy_check_controller_def(const vy_controller_def *def, const vy_vehicle_def *vehicle, vy_error *err);

/// Constants of the lowerings. `gravity` in world axes.
vy_status vy_ladder_build(const vy_controller_def *def, const vy_vehicle_def *vehicle, vy_vec3 gravity,
                          ladder_params *out, vy_error *err);

/// A reply as the lowerings take it.
control_reply vy_control_reply(const vy_intent *reply);

/// Take a reply into the held state. Returns the rung that now acts; on a reply that is not finite or has no
/// known rung, -1, and `c` is untouched. Adds the clamped motor commands to `*clamps`.
int vy_control_accept(const ladder_params *p, const vy_intent *intent, control_state *c, uint64_t *clamps);
