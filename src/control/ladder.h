// ladder.h - the lowerings, over `real`: pilot -> velocity + yaw rate -> attitude + thrust -> rates + thrust
// -> wrench -> motors; and position -> attitude + thrust.
//
// Each rung is one pure function; a user's controller may replace any of those above it. Gains are in units
// of time only: mass, inertia and allocation come from the vehicle.
#pragma once
#include "base/math.h"
#include "base/assert.h"
#include "control/allocate.h"
#include "estimators/estimate.h"
#include "control/indi.h"
#include "equations/motor.h"

#define LADDER_ROTORS ALLOCATE_ROTORS

/// [rad] The desired heading of the velocity rung leads the estimated one by no more.
#define LADDER_LEAD_MAX 0.5

typedef struct ladder_params {
    real mass;                                        // [kg]
    mat3 inertia;                                     // [kg m^2]
    vec3 gravity;                                     // [m/s^2] world
    real position_gain, velocity_gain, integral_gain; // [1/s^2] [1/s] [1/s^3]
    real period;                                      // [s] of the position loop
    real rate_period;                                 // [s] of everything below it
    real tan_tilt;                                    // tangent of the largest tilt
    real integral_max;                                // [m/s^2]
    vec3 attitude_gain;                               // [1/s]
    real rate_gain;                                   // [1/s]
    real has_drag;     // 1: the vehicle declares drag of its body or rotors; 0: none
    vec3 drag;         // [1/s] force over mass and velocity along each body axis, at hover
    mat3 drag_torque;  // [N s] torque that the air takes over velocity, body axes
    mat3 drag_damping; // [N m s] the same over rate
    real pseudo_inverse[LADDER_ROTORS][4]; // rotor thrust per thrust, roll, pitch, yaw
    real thrust_max;                       // [N] of one rotor
    real inverse_thrust_max;               // [1/N]
    motor_params motor;        // how a thrust becomes a command where thrust is not top * command^2
    real scale[LADDER_ROTORS]; // of each rotor's thrust over the vehicle's
    real rotor_thrust_max[LADDER_ROTORS]; // [N] of each rotor: less than its maximum where a share of it is
                                          // lost
    real thrust_min[LADDER_ROTORS];       // [N] of each thruster that is on
    allocate_params allocate;
    indi_params indi;
    real stick_decay; // what is left of the difference between stick and speed after rate_period
    real stick[4];    // full stick: forward per step, left, up [m/s], yaw rate [rad/s]
    // The same in every lane.
    bits rotor_count;        // those that make a wrench: rotors, or thrusters where there are no rotors
    bits command_count;      // rotors and thrusters
    bits uses_thrusters;     // thrusters make the wrench: "rotor" means one of them throughout
    bits has_full_authority; // they can make thrust, roll, pitch and yaw independently
    bits has_thrust_scale;   // some scale is not 1
    bits uses_indi;          // rates are lowered by indi.h
    bits kinematic;          // no rotors fly the drone: it takes the sticks only
} ladder_params;

typedef struct reference {
    vec3 position;     // [m] world
    vec3 velocity;     // [m/s]
    vec3 acceleration; // [m/s^2]
    quat heading;      // a turn about world +z
} reference;

/// The shortest rotation that takes world +z to the unit vector `z`, which is not straight down.
VY_FN quat tilt_to(vec3 z) { return quat_normalize(quat_make(1.0 + z.z, -z.y, z.x, real_set(0.0))); }

/// A desired acceleration (without gravity's) that rotors can give: no thrust downwards, nor zero thrust
/// where there is no gravity, and no tilt above the largest. `*is_limited`: the tilt was.
VY_FN vec3 acceleration_limited(const ladder_params *p, vec3 a, mask *is_limited)
{
    const real min_thrust = 0.2 * vec3_length(p->gravity);
    a.z = real_max(a.z, min_thrust + 1e-3);
    const real horizontal = real_sqrt(a.x * a.x + a.y * a.y);
    const real max_horizontal = p->tan_tilt * a.z;
    const real scale = real_select(horizontal > max_horizontal,
                                   max_horizontal / real_max(horizontal, real_set(1e-9)), real_set(1.0));
    *is_limited = horizontal > max_horizontal;
    return vec3_make(a.x * scale, a.y * scale, a.z);
}

/// Acceleration -> attitude and thrust: what the lowerings of position and velocity share. The thrust is the
/// desired force seen along the present body z, so that a tilt not reached yet does not throw the drone up.
/// Heading is turned first, then tilt.
VY_FN real lower_acceleration(const ladder_params *p, vec3 desired, quat heading, quat present,
                              quat *attitude, mask *is_limited)
{
    const vec3 a = acceleration_limited(p, desired, is_limited);
    const vec3 z = vec3_scale(1.0 / vec3_length(a), a);
    *attitude = quat_mul(tilt_to(z), heading);
    const vec3 body_z = quat_rotate(present, vec3_make(real_set(0.0), real_set(0.0), real_set(1.0)));
    return real_max(p->mass * vec3_dot(a, body_z), real_set(0.0));
}

/// `integral` with each part kept within the largest integral.
VY_FN vec3 integral_clamped(const ladder_params *p, vec3 integral)
{
    const real low = -p->integral_max;
    return vec3_make(real_clamp(integral.x, low, p->integral_max),
                     real_clamp(integral.y, low, p->integral_max),
                     real_clamp(integral.z, low, p->integral_max));
}

/// Position -> attitude and thrust. Returns the thrust.
VY_FN real lower_position(const ladder_params *p, const reference *r, const estimator_state *e,
                          vec3 *integral, quat *attitude)
{
    const vec3 error = vec3_sub(r->position, e->position);
    const vec3 velocity_error = vec3_sub(r->velocity, e->velocity);
    const vec3 new_integral =
        integral_clamped(p, vec3_add_scaled(*integral, p->integral_gain * p->period, error));
    *integral = new_integral;

    vec3 a = vec3_sub(vec3_add(r->acceleration, new_integral), p->gravity);
    a = vec3_add_scaled(a, p->position_gain, error);
    a = vec3_add_scaled(a, p->velocity_gain, velocity_error);
    mask is_limited;
    return lower_acceleration(p, a, r->heading, e->attitude, attitude, &is_limited);
}

/// A rotation about world +z.
VY_FN quat heading_of(real yaw)
{
    real s, c;
    math_sincos(0.5 * yaw, &s, &c);
    return quat_make(c, real_set(0.0), real_set(0.0), s);
}

/// Where the nose points over the ground; 0 when it points straight up or down.
VY_FN real yaw_of(quat q)
{
    return math_atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z));
}

/// The same angle within half a turn of zero.
VY_FN real angle_wrapped(real angle)
{
    return angle - 6.283185307179586 * real_round(angle * (1.0 / 6.283185307179586));
}

/// Sticks -> velocity: `*speed` (forward, left, up) follows `desired` with a first-order lag, exact for any
/// period, and is turned to where the nose points.
VY_FN vec3 lower_pilot(const ladder_params *p, vec3 desired, quat attitude, vec3 *speed)
{
    const vec3 v = vec3_add_scaled(desired, p->stick_decay, vec3_sub(*speed, desired));
    real s, c;
    math_sincos(yaw_of(attitude), &s, &c);
    *speed = v;
    return vec3_make(c * v.x - s * v.y, s * v.x + c * v.y, v.z);
}

/// Velocity and yaw rate -> attitude and thrust: proportional and integral in the velocity error (the gains
/// of the position loop, one integration earlier). The desired heading moves at the yaw rate and waits for a
/// drone that cannot follow; the integral waits while the tilt is limited. Returns the thrust.
VY_FN real lower_velocity(const ladder_params *p, vec3 desired, real yaw_rate, const estimator_state *e,
                          real *heading, vec3 *integral, quat *attitude)
{
    const real yaw = yaw_of(e->attitude);
    const real lead = angle_wrapped((*heading + p->rate_period * yaw_rate) - yaw);
    *heading = angle_wrapped(yaw + real_clamp(lead, real_set(-LADDER_LEAD_MAX), real_set(LADDER_LEAD_MAX)));

    const vec3 error = vec3_sub(desired, e->velocity);
    const vec3 new_integral =
        integral_clamped(p, vec3_add_scaled(*integral, p->position_gain * p->rate_period, error));
    const vec3 a = vec3_add_scaled(vec3_sub(new_integral, p->gravity), p->velocity_gain, error);
    mask is_limited;
    const real thrust = lower_acceleration(p, a, heading_of(*heading), e->attitude, attitude, &is_limited);
    *integral = vec3_select(is_limited, *integral, new_integral);
    return thrust;
}

/// Attitude -> rates: proportional to the remaining rotation, the shorter way round.
VY_FN vec3 lower_attitude(const ladder_params *p, quat desired, quat attitude)
{
    const quat d = quat_mul(quat_conj(attitude), desired);
    const real two = real_copysign(real_set(2.0), d.w);
    return vec3_mul(p->attitude_gain, vec3_make(two * d.x, two * d.y, two * d.z));
}

/// Body rates plus a rate about world +z.
VY_FN vec3 rates_with_yaw(vec3 rates, real yaw_rate, quat attitude)
{
    return vec3_add(rates, quat_unrotate(attitude, vec3_make(real_set(0.0), real_set(0.0), yaw_rate)));
}

/// Rates -> torque: the angular acceleration that closes the error, and the gyroscopic term.
VY_FN vec3 lower_rates(const ladder_params *p, vec3 desired, vec3 rate)
{
    const vec3 acceleration = vec3_scale(p->rate_gain, vec3_sub(desired, rate));
    const vec3 gyroscopic = vec3_cross(rate, mat3_mul_vec(p->inertia, rate));
    return vec3_add(mat3_mul_vec(p->inertia, acceleration), gyroscopic);
}

/// Thrust of thruster `i`, within its limits -> command: off or on where it is below thrust_min.
VY_FN real thruster_command(const ladder_params *p, int i, real thrust)
{
    const real range = p->scale[i] * p->thrust_max - p->thrust_min[i];
    const real command = real_clamp((thrust - p->thrust_min[i]) / range, real_set(1e-9), real_set(1.0));
    return real_select((thrust > 0.0) & (thrust >= 0.5 * p->thrust_min[i]), command, real_set(0.0));
}

/// Thrust of rotor `i`, within its limits -> command.
VY_FN real command_of(const ladder_params *p, int i, real thrust)
{
    const real nominal_thrust = VY_BASIC_OR(0, bits_uniform(p->has_thrust_scale))
                                    ? thrust / p->scale[i]
                                    : thrust; // as a rotor of the vehicle's coefficients
    if (!VY_BASIC_OR(1, bits_uniform(p->motor.is_linear))) {
        return VY_BASIC_OR(0, bits_uniform(p->uses_thrusters)) ? thruster_command(p, i, thrust)
                                                               : motor_command_for(&p->motor, nominal_thrust);
    }
    return real_sqrt(nominal_thrust * p->inverse_thrust_max);
}

/// The thrust of rotor `i` for a command, in units of the largest.
VY_FN real thrust_of(const ladder_params *p, int i, real command)
{
    if (VY_BASIC_OR(1, bits_uniform(p->motor.is_linear))) return p->scale[i] * (command * command);
    if (VY_BASIC_OR(0, bits_uniform(p->uses_thrusters))) {
        const real min_thrust = p->thrust_min[i] * p->inverse_thrust_max;
        return real_select(command > 0.0, min_thrust + (p->scale[i] - min_thrust) * command, real_set(0.0));
    }
    return p->scale[i] * (motor_thrust(&p->motor, motor_speed(&p->motor, command)) * p->inverse_thrust_max);
}

/// The torque [N m] that motor commands make once the rotors have followed them.
VY_FN vec3 torque_of_motors(const ladder_params *p, const real *motors)
{
    real sum[4];
    for (int j = 1; j < 4; ++j) {
        sum[j] = real_set(0.0);
        for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(p->rotor_count)); ++i)
            sum[j] = sum[j] + p->allocate.rows[j][i] * thrust_of(p, i, motors[i]);
    }
    return vec3_make(sum[1] / p->allocate.scale[1], sum[2] / p->allocate.scale[2],
                     sum[3] / p->allocate.scale[3]);
}

/// Rates -> torque by increments.
VY_FN vec3 lower_rates_indi(const ladder_params *p, vec3 desired, vec3 rate, const real *motors,
                            indi_state *s)
{
    const vec3 acceleration = vec3_scale(p->rate_gain, vec3_sub(desired, rate));
    return indi_torque(&p->indi, p->inertia, acceleration, rate, torque_of_motors(p, motors), s);
}

/// How many thrusters would saturate. (A thruster pushes one way only: less than 0 is normal.)
VY_FN real thrusters_saturated(const ladder_params *p, const real *desired)
{
    real count = real_set(0.0);
    for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(p->rotor_count)); ++i)
        count = count + real_select(desired[i] > p->rotor_thrust_max[i], real_set(1.0), real_set(0.0));
    return count;
}

/// Wrench -> motors: least-norm thrusts where every rotor can do its part; otherwise the nearest wrench in
/// reach, tilt and thrust before yaw (allocate.h). Command = speed / maximum speed. Returns how many rotors
/// the least-norm thrusts would saturate.
VY_FN real lower_wrench(const ladder_params *p, real thrust, vec3 torque, real *motors)
{
    real desired_thrusts[LADDER_ROTORS], thrusts[LADDER_ROTORS];
    VY_ASSERT(bits_uniform(p->rotor_count) <= LADDER_ROTORS);
    real clamped = real_set(0.0);
    for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(p->rotor_count)); ++i) {
        const real *row = p->pseudo_inverse[i];
        desired_thrusts[i] = (row[0] * thrust + row[1] * torque.x) + (row[2] * torque.y + row[3] * torque.z);
        thrusts[i] = real_clamp(desired_thrusts[i], real_set(0.0), p->rotor_thrust_max[i]);
        clamped = clamped + real_select(thrusts[i] == desired_thrusts[i], real_set(0.0), real_set(1.0));
    }
    if (mask_any(clamped > 0.0)) {
        const real requested[4] = {thrust, torque.x, torque.y, torque.z};
        real best_thrusts[LADDER_ROTORS];
        for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(p->rotor_count)); ++i) best_thrusts[i] = thrusts[i];
        allocate(&p->allocate, requested, p->rotor_thrust_max, best_thrusts);
        for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(p->rotor_count)); ++i)
            thrusts[i] = real_select(clamped > 0.0, best_thrusts[i], thrusts[i]);
        if (VY_BASIC_OR(0, bits_uniform(p->uses_thrusters)))
            clamped = thrusters_saturated(p, desired_thrusts);
    }
    for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(p->rotor_count)); ++i)
        motors[i] = command_of(p, i, thrusts[i]);
    return clamped;
}
