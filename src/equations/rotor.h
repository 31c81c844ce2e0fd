// rotor.h - rotor speed over time, and the wrench of all rotors of a vehicle.
#pragma once
#include "base/period.h"
#include "equations/thruster.h"
#include "base/assert.h"

#define ROTOR_CAP 8

// Where rotors are is the same for every drone of a batch, and so is known to all lanes as one number. A unit
// whose drones differ in it sets VY_LAYOUT_LANES 1 before its first include.
#ifndef VY_LAYOUT_LANES
#define VY_LAYOUT_LANES 0
#endif
#if VY_LAYOUT_LANES
typedef real layout_number;
VY_FN vec3 layout_vec3(const layout_number v[3]) { return vec3_make(v[0], v[1], v[2]); }
#else
typedef double layout_number;
VY_FN vec3 layout_vec3(const layout_number v[3]) { return vec3_of(v); }
#endif

/// Where the rotors are. Torques per newton of thrust [m] and per newton
/// metre of rotor drag [1]: derived from position and spin, or documented rows (vehicle/allocation.h).
/// Positions are from the centre of mass.
typedef struct rotor_layout {
    int count;   // 0 (a rigid body) to ROTOR_CAP
    int general; // rotors that are tilted or differ, a thrust polynomial, two time constants, or thrusters
    layout_number roll[ROTOR_CAP];         // [m] torque per newton of thrust
    layout_number pitch[ROTOR_CAP];        // [m] likewise
    layout_number yaw[ROTOR_CAP];          // [1] torque per newton metre of drag
    layout_number hub[ROTOR_CAP][3];       // [m] hub, body
    layout_number axis[ROTOR_CAP][3];      // unit vector of its thrust, body
    layout_number side[ROTOR_CAP][3];      // a unit vector across the axis, body
    layout_number spin[ROTOR_CAP];         // +1 counter-clockwise about the axis, -1 clockwise
    layout_number lever[ROTOR_CAP][3];     // [m] torque per newton of thrust
    layout_number reaction[ROTOR_CAP][3];  // [1] torque per newton metre of rotor drag
    layout_number thrust_scale[ROTOR_CAP]; // [1] of this rotor's thrust over the vehicle's
    layout_number torque_scale[ROTOR_CAP]; // [1] of its drag over thrust, likewise
    thruster_layout thrusters;
} rotor_layout;

typedef struct rotor_params {
    real thrust_coef; // [N s^2]   T = thrust_coef w^2, along body +z
    real torque_coef; // [N m s^2] Q = torque_coef w^2
    real decay_half;  // e^(-dt / 2 lag): what is left of a speed error after half a step
    real decay_full;  // e^(-dt / lag)
} rotor_params;

/// What a general rotor has beside rotor_params.
typedef struct rotor_curve {
    real linear, cubic;                     // [N s], [N s^3] of the thrust polynomial
    real torque_ratio;                      // [m] drag torque over thrust
    real fall_half, fall_full;              // decays of a speed that falls
    real rise, fall;                        // [1/s] inverse time constants; 0 of an ideal motor
    lag_weights rise_weights, fall_weights; // on a battery, whose voltage changes the target of a rotor
} rotor_curve;

/// Exact solution of w' = (command - w) / lag after the time whose decay is given. RK4 would be unstable
/// as lag -> 0; this is exact for every step, and decay 0 is an ideal motor.
VY_FN real rotor_speed_after(real speed, real command, real decay)
{
    return command + (speed - command) * decay;
}

/// A rotor that runs down is still below this speed [rad/s]: without a floor its decay would end in denormal
/// numbers, which are slow.
#define ROTOR_SPEED_FLOOR 1e-9

VY_FN real rotor_speed_flushed(real speed)
{
    return real_select(real_abs(speed) < ROTOR_SPEED_FLOOR, real_set(0.0), speed);
}

/// One fixed summation tree per count: pairs first, so that mirrored rotors cancel exactly.
VY_FN real rotor_sum(const real *x, int count)
{
    switch (count) {
    case 1: return x[0];
    case 2: return x[0] + x[1];
    case 3: return (x[0] + x[1]) + x[2];
    case 4: return (x[0] + x[1]) + (x[3] + x[2]);
    case 5: return ((x[0] + x[1]) + (x[3] + x[2])) + x[4];
    case 6: return ((x[0] + x[1]) + (x[2] + x[3])) + (x[4] + x[5]);
    case 7: return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + x[6]);
    case 8: return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
    default: return real_set(0.0);
    }
}

/// Adds the thrust and torques of `count` rotors (a compile-time constant at the call).
VY_FN void rotor_add(const rotor_layout *layout, const rotor_params *p, const real *speed, int count,
                     body_loads *loads)
{
    real thrust[ROTOR_CAP], roll[ROTOR_CAP], pitch[ROTOR_CAP], yaw[ROTOR_CAP];
    for (int i = 0; i < count; ++i) {
        const real square = speed[i] * speed[i];
        thrust[i] = p->thrust_coef * square;
        roll[i] = layout->roll[i] * thrust[i];
        pitch[i] = layout->pitch[i] * thrust[i];
        yaw[i] = layout->yaw[i] * (p->torque_coef * square);
    }
    loads->force_body.z = loads->force_body.z + rotor_sum(thrust, count);
    loads->torque_body =
        vec3_add(loads->torque_body,
                 vec3_make(rotor_sum(roll, count), rotor_sum(pitch, count), rotor_sum(yaw, count)));
}

/// Thrust [N] of general rotor `i`: a polynomial without a constant term, so that a rotor at rest makes none,
/// and never below 0.
VY_FN real rotor_thrust(const rotor_layout *layout, const rotor_params *p, const rotor_curve *curve, int i,
                        real speed)
{
    VY_ASSERT(i >= 0 && i < layout->count);
    const real square = speed * speed;
    const real thrust = p->thrust_coef * square + (curve->linear * speed + curve->cubic * (square * speed));
    return layout->thrust_scale[i] * real_max(thrust, real_set(0.0));
}

/// The same as rotor_add for rotors of any axis, each with its own strength. The drag torque follows the
/// thrust.
VY_FN void rotor_add_general(const rotor_layout *layout, const rotor_params *p, const rotor_curve *curve,
                             const real *speed, int count, body_loads *loads)
{
    real force[3][ROTOR_CAP], torque[3][ROTOR_CAP];
    for (int i = 0; i < count; ++i) {
        const real thrust = rotor_thrust(layout, p, curve, i, speed[i]);
        const real drag = layout->torque_scale[i] * (curve->torque_ratio * thrust);
        for (int k = 0; k < 3; ++k) {
            force[k][i] = layout->axis[i][k] * thrust;
            torque[k][i] = layout->lever[i][k] * thrust + layout->reaction[i][k] * drag;
        }
    }
    loads->force_body =
        vec3_add(loads->force_body, vec3_make(rotor_sum(force[0], count), rotor_sum(force[1], count),
                                              rotor_sum(force[2], count)));
    loads->torque_body =
        vec3_add(loads->torque_body, vec3_make(rotor_sum(torque[0], count), rotor_sum(torque[1], count),
                                               rotor_sum(torque[2], count)));
}
