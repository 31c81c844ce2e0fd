// ladder.h - the lowerings: position -> attitude + thrust -> rates + thrust -> wrench -> motors, over `real`.
//
// Each rung is one pure function; a user's controller may replace any of those above it. Gains are in units
// of time only: mass, inertia and allocation come from the vehicle.
#pragma once
#include "control/estimator.h"
#include "equations/motor.h"

#define LADDER_ROTORS 8

typedef struct ladder_params {
    real mass;                         // [kg]
    mat3 inertia;                      // [kg m^2]
    vec3 gravity;                      // [m/s^2] world
    real position, velocity, integral; // [1/s^2] [1/s] [1/s^3]
    real period;                       // [s] of the position loop
    real tan_tilt;                     // tangent of the largest tilt
    real integral_max;                 // [m/s^2]
    vec3 attitude;                     // [1/s]
    real rate;                         // [1/s]
    real inverse[LADDER_ROTORS][4];    // rotor thrust per thrust, roll, pitch, yaw
    real thrust_max;                   // [N] of one rotor
    real inverse_thrust_max;           // [1/N]
    motor_params motor;                // how a thrust becomes a command where thrust is not top * command^2
    real scale[LADDER_ROTORS];         // of each rotor's thrust over the vehicle's
    // The same in every lane.
    bits rotor_count;
    bits makes_wrench; // the rotors can make thrust, roll, pitch and yaw apart
    bits uneven;       // some scale is not 1
} ladder_params;

typedef struct reference {
    vec3 position;     // [m] world
    vec3 velocity;     // [m/s]
    vec3 acceleration; // [m/s^2]
    quat heading;      // a turn about world +z
} reference;

/// The shortest turn that takes world +z to the unit vector `z`, which is not straight down.
VY_FN quat tilt_to(vec3 z) { return quat_normalize(quat_make(1.0 + z.z, -z.y, z.x, real_set(0.0))); }

/// Position -> attitude and thrust. The thrust is the wanted force seen along the present body z, so that a
/// tilt still to be flown does not throw the drone up. Returns the thrust; heading is turned first, then
/// tilt.
VY_FN real lower_position(const ladder_params *p, const reference *r, const estimator_state *e,
                          vec3 *integral, quat *attitude)
{
    const vec3 error = vec3_sub(r->position, e->position);
    const vec3 velocity_error = vec3_sub(r->velocity, e->velocity);
    const real low = -p->integral_max;
    vec3 i = vec3_add_scaled(*integral, p->integral * p->period, error);
    i.x = real_clamp(i.x, low, p->integral_max);
    i.y = real_clamp(i.y, low, p->integral_max);
    i.z = real_clamp(i.z, low, p->integral_max);
    *integral = i;

    vec3 a = vec3_sub(vec3_add(r->acceleration, i), p->gravity);
    a = vec3_add_scaled(a, p->position, error);
    a = vec3_add_scaled(a, p->velocity, velocity_error);
    const real least = 0.2 * vec3_length(p->gravity);
    a.z =
        real_max(a.z, least + 1e-3); // never ask for a push downwards, nor for none where there is no gravity

    const real across = real_sqrt(a.x * a.x + a.y * a.y);
    const real most = p->tan_tilt * a.z;
    const real shrink = real_select(across > most, most / real_max(across, real_set(1e-9)), real_set(1.0));
    a.x = a.x * shrink;
    a.y = a.y * shrink;

    const vec3 z = vec3_scale(1.0 / vec3_length(a), a);
    *attitude = quat_mul(tilt_to(z), r->heading);
    const vec3 body_z = quat_rotate(e->attitude, vec3_make(real_set(0.0), real_set(0.0), real_set(1.0)));
    return real_max(p->mass * vec3_dot(a, body_z), real_set(0.0));
}

/// Attitude -> rates: proportional to the remaining turn, the shorter way round.
VY_FN vec3 lower_attitude(const ladder_params *p, quat wanted, quat attitude)
{
    const quat d = quat_mul(quat_conj(attitude), wanted);
    const real two = real_copysign(real_set(2.0), d.w);
    return vec3_mul(p->attitude, vec3_make(two * d.x, two * d.y, two * d.z));
}

/// Rates -> torque: the angular acceleration that closes the error, and the gyroscopic term.
VY_FN vec3 lower_rates(const ladder_params *p, vec3 wanted, vec3 rate)
{
    const vec3 acceleration = vec3_scale(p->rate, vec3_sub(wanted, rate));
    const vec3 gyroscopic = vec3_cross(rate, mat3_mul_vec(p->inertia, rate));
    return vec3_add(mat3_mul_vec(p->inertia, acceleration), gyroscopic);
}

/// Thrust of rotor `i`, within its limits -> command.
VY_FN real command_of(const ladder_params *p, int i, real thrust)
{
    const real own =
        bits_uniform(p->uneven) ? thrust / p->scale[i] : thrust; // as a rotor of the vehicle's coefficients
    if (!bits_uniform(p->motor.plain)) return motor_command_for(&p->motor, own);
    return real_sqrt(own * p->inverse_thrust_max);
}

/// Wrench -> motors: least-norm thrusts, each clamped to what a rotor can do; command = speed / maximum
/// speed. Returns how many were clamped.
VY_FN real lower_wrench(const ladder_params *p, real thrust, vec3 torque, real *motors)
{
    real clamped = real_set(0.0);
    for (int i = 0; i < bits_uniform(p->rotor_count); ++i) {
        const real *row = p->inverse[i];
        const real wanted = (row[0] * thrust + row[1] * torque.x) + (row[2] * torque.y + row[3] * torque.z);
        const real most = bits_uniform(p->uneven) ? p->scale[i] * p->thrust_max : p->thrust_max;
        const real t = real_clamp(wanted, real_set(0.0), most);
        clamped = clamped + real_select(t == wanted, real_set(0.0), real_set(1.0));
        motors[i] = command_of(p, i, t);
    }
    return clamped;
}
