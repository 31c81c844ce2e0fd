// control.h - one drone's controller and drive abstraction layer: what is held between calls, and the calls.
#pragma once
#include "control/autopilot.h"
#include "base/assert.h"
#include "control/ladder.h"
#include "control/limits.h"
#include "volery/controller.h"

#define CONTROL_MOTORS (VY_BASIC_ONLY ? 4 : LADDER_ROTORS)

/// The last intent, rung by rung as it was lowered, and the state of the loops.
typedef struct control_state {
    vec3 stick;    // [m/s] velocity that the sticks ask for: forward, left, up
    vec3 speed;    // [m/s] likewise: follows `stick` with a first-order lag
    vec3 velocity; // [m/s] desired, world
    real yaw_rate; // [rad/s] desired, about world +z
    real heading;  // [rad] desired by the velocity loop
    vec3 integral; // [m/s^2] of the position or velocity loop
#if !VY_BASIC_ONLY
    indi_state indi; // of the rate loop, where it works by increments
#endif
    quat attitude;               // desired q_WB
    vec3 rates;                  // [rad/s] desired
    vec3 torque;                 // [N m] desired
    real thrust;                 // [N] desired
    real motors[CONTROL_MOTORS]; // 0 to 1: motor commands
} control_state;

#if VY_BASIC_ONLY
VY_FN indi_state *control_indi(control_state *) { return NULL; } // never asked for
#else
VY_FN indi_state *control_indi(control_state *c) { return &c->indi; }
#endif

/// A controller's reply. Only the fields of its rung are read; others may hold anything.
typedef struct control_reply {
    bits rung;                  // a vy_rung
    real motors[LADDER_ROTORS]; // 0 to 1
    real thrust;                // [N]
    vec3 torque, rates;         // [N m] [rad/s] body
    quat attitude;              // q_WB
    vec3 velocity;              // [m/s] world
    real yaw_rate;              // [rad/s] about world +z
    real sticks[4];             // throttle, strafe, vertical, yaw
} control_reply;

VY_FN mask rung_is(bits rung, vy_rung value) { return rung == bits_set((uint64_t)value); }
VY_FN mask rung_at_least(bits rung, vy_rung lowest) { return rung >= bits_set((uint64_t)lowest); }

/// Sticks and velocity -> attitude and thrust, in the lanes of `active`. `limits` may be NULL.
VY_FN void control_lower_velocity(const ladder_params *p, const drive_limits *limits, bits *limit_counts,
                                  bits rung, mask active, const estimator_state *e, control_state *c)
{
    const mask has_sticks = active & rung_at_least(rung, VY_RUNG_PILOT);
    if (mask_any(has_sticks)) {
        vec3 speed = c->speed;
        const vec3 velocity = lower_pilot(p, c->stick, e->attitude, &speed);
        c->speed = vec3_select(has_sticks, speed, c->speed);
        c->velocity = vec3_select(has_sticks, velocity, c->velocity);
    }
    if (limits != NULL) c->velocity = limit_velocity(limits, active, c->velocity, limit_counts);
    real heading = c->heading;
    vec3 integral = c->integral;
    quat attitude;
    const real thrust = lower_velocity(p, c->velocity, c->yaw_rate, e, &heading, &integral, &attitude);
    c->heading = real_select(active, heading, c->heading);
    c->integral = vec3_select(active, integral, c->integral);
    c->attitude = quat_select(active, attitude, c->attitude);
    c->thrust = real_select(active, thrust, c->thrust);
}

/// Rates -> torque by the declared law, in the lanes of `active`.
VY_FN void control_lower_rates(const ladder_params *p, mask active, const estimator_state *e,
                               control_state *c)
{
    if (!VY_BASIC_OR(0, bits_uniform(p->uses_indi))) {
        c->torque = vec3_select(active, lower_rates(p, c->rates, e->rate), c->torque);
        return;
    }
    indi_state s = *control_indi(c);
    c->torque = vec3_select(active, lower_rates_indi(p, c->rates, e->rate, c->motors, &s), c->torque);
    *control_indi(c) = indi_select(active, s, *control_indi(c));
}

/// The drive abstraction layer: lower the held intent to motor commands in the lanes of `active`. Returns how
/// many commands were clamped. (Motor commands of the lowest rung were set, and clamped, when the intent
/// arrived.) `limits` are the vehicle's, `limit_counts` how often each did; both may be NULL.
VY_FN real control_lower_within(const ladder_params *p, const drive_limits *limits, bits *limit_counts,
                                bits rung, mask active, const estimator_state *e, control_state *c)
{
    const mask has_wrench = active & rung_at_least(rung, VY_RUNG_WRENCH);
    if (!mask_any(has_wrench)) return real_set(0.0);
    VY_ASSERT((limits == NULL) == (limit_counts == NULL));
    const mask has_velocity = has_wrench & rung_at_least(rung, VY_RUNG_VELOCITY);
    if (mask_any(has_velocity)) control_lower_velocity(p, limits, limit_counts, rung, has_velocity, e, c);
    const mask has_attitude = has_wrench & rung_at_least(rung, VY_RUNG_ATTITUDE);
    if (limits != NULL) c->attitude = limit_attitude(limits, has_attitude, c->attitude, limit_counts);
    if (mask_any(has_attitude))
        c->rates = vec3_select(has_attitude, lower_attitude(p, c->attitude, e->attitude), c->rates);
    if (mask_any(has_velocity)) {
        c->rates = vec3_select(has_velocity, rates_with_yaw(c->rates, c->yaw_rate, e->attitude), c->rates);
    }
    const mask has_rates = has_wrench & rung_at_least(rung, VY_RUNG_RATES);
    if (limits != NULL) c->rates = limit_rates(limits, has_rates, c->rates, limit_counts);
    if (mask_any(has_rates)) control_lower_rates(p, has_rates, e, c);
    real motors[LADDER_ROTORS];
    const real clamped = lower_wrench(p, c->thrust, c->torque, motors);
    for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(p->rotor_count)); ++i) {
        c->motors[i] = real_select(has_wrench, motors[i], c->motors[i]);
    }
    return real_select(has_wrench, clamped, real_set(0.0));
}

/// The same for a vehicle that declares no limits.
VY_FN real control_lower(const ladder_params *p, bits rung, mask active, const estimator_state *e,
                         control_state *c)
{
    return control_lower_within(p, NULL, NULL, rung, active, e, c);
}

/// Sticks -> velocity and heading of a drone that has both at once, in the lanes of `active`.
VY_FN void control_lower_kinematic(const ladder_params *p, bits rung, mask active, control_state *c)
{
    const mask has_sticks = active & rung_is(rung, VY_RUNG_PILOT);
    if (!mask_any(has_sticks)) return;
    const real heading = angle_wrapped(c->heading + p->rate_period * c->yaw_rate);
    const quat attitude = heading_of(heading);
    vec3 speed = c->speed;
    const vec3 velocity = lower_pilot(p, c->stick, attitude, &speed);
    c->heading = real_select(has_sticks, heading, c->heading);
    c->attitude = quat_select(has_sticks, attitude, c->attitude);
    c->speed = vec3_select(has_sticks, speed, c->speed);
    c->velocity = vec3_select(has_sticks, velocity, c->velocity);
}

/// The rung `rung_after` comes to act after the rung `rung_before`, in the lanes of `active`: loops that
/// become active start from the drone's present motion.
VY_FN void control_enter_rung(const ladder_params *p, bits rung_before, bits rung_after, mask active,
                              const estimator_state *e, control_state *c)
{
    const mask enters_velocity = active & rung_at_least(rung_after, VY_RUNG_VELOCITY) &
                                 mask_not(rung_at_least(rung_before, VY_RUNG_VELOCITY));
    if (mask_any(enters_velocity)) {
        const real yaw = yaw_of(e->attitude);
        real sine, cosine;
        math_sincos(yaw, &sine, &cosine);
        const vec3 velocity = e->velocity;
        const vec3 speed = vec3_make(cosine * velocity.x + sine * velocity.y,
                                     cosine * velocity.y - sine * velocity.x, velocity.z);
        c->heading = real_select(enters_velocity, yaw, c->heading);
        c->integral = vec3_select(enters_velocity, vec3_zero(), c->integral);
        c->speed = vec3_select(enters_velocity, speed, c->speed);
    }
    if (!VY_BASIC_OR(0, bits_uniform(p->uses_indi))) return;
    const mask enters_rates = active & rung_at_least(rung_after, VY_RUNG_RATES) &
                              mask_not(rung_at_least(rung_before, VY_RUNG_RATES));
    if (mask_any(enters_rates)) {
        indi_state *sine = control_indi(c);
        *sine = indi_select(enters_rates, indi_start(e->rate, torque_of_motors(p, c->motors)), *sine);
    }
}

/// The lanes whose reply can be taken: finite, and of a rung that the vehicle has.
VY_FN mask control_valid(const ladder_params *p, const control_reply *reply)
{
    const mask has_motors = rung_is(reply->rung, VY_RUNG_MOTORS),
               has_torque = rung_is(reply->rung, VY_RUNG_WRENCH);
    const mask has_rates = rung_is(reply->rung, VY_RUNG_RATES),
               has_attitude = rung_is(reply->rung, VY_RUNG_ATTITUDE);
    const mask has_velocity = rung_is(reply->rung, VY_RUNG_VELOCITY),
               has_sticks = rung_is(reply->rung, VY_RUNG_PILOT);
    const mask has_thrust = has_torque | has_rates | has_attitude;
    const mask has_wrench = has_thrust | has_velocity | has_sticks;
    const real attitude_norm2 = quat_dot(reply->attitude, reply->attitude);
    mask is_valid = has_motors | has_wrench | rung_is(reply->rung, VY_RUNG_NONE);
    if (!bits_uniform(p->has_full_authority))
        is_valid = is_valid & mask_not(has_wrench); // it takes motor commands only
    if (VY_BASIC_OR(0, bits_uniform(p->kinematic)))
        is_valid = has_sticks | rung_is(reply->rung, VY_RUNG_NONE);
    for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(p->command_count)); ++i) {
        is_valid = is_valid & (mask_not(has_motors) | real_is_finite(reply->motors[i]));
    }
    for (int i = 0; i < 4; ++i)
        is_valid = is_valid & (mask_not(has_sticks) | real_is_finite(reply->sticks[i]));
    is_valid = is_valid & (mask_not(has_thrust) | real_is_finite(reply->thrust));
    is_valid =
        is_valid & (mask_not(has_attitude) | ((attitude_norm2 > 0.0) & real_is_finite(attitude_norm2)));
    is_valid = is_valid &
               (mask_not(has_velocity) | (vec3_is_finite(reply->velocity) & real_is_finite(reply->yaw_rate)));
    return is_valid & (mask_not(has_torque | has_rates) |
                       vec3_is_finite(vec3_select(has_torque, reply->torque, reply->rates)));
}

/// `x` within its limits, in the lanes of `active`; elsewhere `otherwise`. Counts the lanes that were
/// clamped.
VY_FN real control_clamp(mask active, real x, real low, real high, real otherwise, bits *clamps)
{
    const real clamped = real_clamp(x, low, high);
    *clamps = *clamps + bits_select(active & (clamped != x), bits_set(1), bits_set(0));
    return real_select(active, clamped, otherwise);
}

VY_FN void control_accept_sticks(const ladder_params *p, const real *sticks, mask active, control_state *c,
                                 bits *clamps)
{
    const real zero = real_set(0.0), one = real_set(1.0);
    const real throttle = control_clamp(active, sticks[0], zero, real_set(VY_THROTTLE_STEPS), zero, clamps);
    const real strafe = control_clamp(active, sticks[1], -one, one, zero, clamps);
    const real vertical = control_clamp(active, sticks[2], -one, one, zero, clamps);
    const real yaw = control_clamp(active, sticks[3], -one, one, zero, clamps);
    const vec3 stick = vec3_make(p->stick[0] * throttle, p->stick[1] * strafe, p->stick[2] * vertical);
    c->stick = vec3_select(active, stick, c->stick);
    c->yaw_rate = real_select(active, p->stick[3] * yaw, c->yaw_rate);
}

/// Take a reply into the held state, in the lanes of `active`, all of which are valid. Adds the clamped motor
/// commands and sticks to `*clamps`.
VY_FN void control_accept(const ladder_params *p, const control_reply *reply, mask active, control_state *c,
                          bits *clamps)
{
    const real zero = real_set(0.0);
    const mask sets_motors = active & mask_not(rung_at_least(reply->rung, VY_RUNG_WRENCH));
    VY_ASSERT(mask_all(mask_not(active) | control_valid(p, reply)));
    VY_ASSERT(bits_uniform(p->command_count) <= LADDER_ROTORS);
    const mask has_velocity = active & rung_is(reply->rung, VY_RUNG_VELOCITY),
               has_sticks = active & rung_is(reply->rung, VY_RUNG_PILOT);
    const mask has_thrust = active & mask_not(sets_motors | has_velocity | has_sticks);
    c->thrust = real_select(has_thrust, real_max(reply->thrust, zero), c->thrust);
    c->torque = vec3_select(active & rung_is(reply->rung, VY_RUNG_WRENCH), reply->torque, c->torque);
    c->rates = vec3_select(active & rung_is(reply->rung, VY_RUNG_RATES), reply->rates, c->rates);
    const mask has_attitude = active & rung_is(reply->rung, VY_RUNG_ATTITUDE);
    if (mask_any(has_attitude))
        c->attitude = quat_select(has_attitude, quat_normalize(reply->attitude), c->attitude);
    c->velocity = vec3_select(has_velocity, reply->velocity, c->velocity);
    c->yaw_rate = real_select(has_velocity, reply->yaw_rate, c->yaw_rate);
    if (mask_any(has_sticks)) control_accept_sticks(p, reply->sticks, has_sticks, c, clamps);
    // Where rotors make the wrench, thrusters rest.
    for (int i = VY_BASIC_OR(4, bits_uniform(p->rotor_count));
         i < VY_BASIC_OR(4, bits_uniform(p->command_count)); ++i)
        c->motors[i] = real_select(active & mask_not(sets_motors), zero, c->motors[i]);
    if (!mask_any(sets_motors)) return;
    const mask has_motors = rung_is(reply->rung, VY_RUNG_MOTORS);
    for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(p->command_count)); ++i) {
        const real command = real_select(has_motors, reply->motors[i], zero);
        c->motors[i] = control_clamp(sets_motors, command, zero, real_set(1.0), c->motors[i], clamps);
    }
}

/// Check a controller's def against its vehicle.
vy_status vy_check_controller_def(const vy_controller_def *def, const vy_vehicle_def *vehicle, vy_error *err);

/// Check what a controller of VY_CONTROLLER_RECORDED plays; any other is well.
vy_status vy_check_record(const vy_controller_def *def, const vy_vehicle_def *vehicle, vy_error *err);

/// Constants of the lowerings. `gravity` in world axes.
vy_status vy_ladder_build(const vy_controller_def *def, const vy_vehicle_def *vehicle, vy_vec3 gravity,
                          ladder_params *out, vy_error *err);

/// Constants of the autopilot.
autopilot_params vy_autopilot_build(const vy_autopilot *autopilot);

/// A reply as the lowerings take it.
control_reply vy_control_reply(const vy_intent *reply);

/// Take the first reply into the held state. Returns the rung that now acts; on a reply that is not finite or
/// has no known rung, -1, and `c` is untouched. Adds what was clamped to `*clamps`.
int vy_control_accept(const ladder_params *p, const vy_intent *reply, const estimator_state *e,
                      control_state *c, uint64_t *clamps);
