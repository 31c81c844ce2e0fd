// loop_bound.h - how far apart two flights of one closed loop can be when loads are left out of one of them:
// the linear loop by its peak gains, the rest by the small gain theorem.
//
// x is the flown motion, y the strict one. Their difference follows the linear loop of loop_gain.h, in world
// axes, driven by what is left out and by a remainder: the difference between the loop and its
// linearisation. The remainder is no larger than N(s), where s has the largest magnitudes of the differences
// so far and N the extremes of the flown motion (its envelope). When G (d + N(s)) <= s for some s, with gains
// G and what is left out d, the differences cannot pass s: they begin at zero, and where they are below s
// they are at most G (d + N(s)).
#pragma once
#include "control/loop_gain.h"
#include "control/ladder.h"
#include "equations/rotor.h"
#include "world/loop_state.h"

/// Extremes of a flown motion, from the start on. All are magnitudes, at most, in world axes.
enum {
    ENVELOPE_TILT,            // sine of the body's tilt
    ENVELOPE_THRUST,          // [m/s^2] specific thrust
    ENVELOPE_THRUST_ERROR,    // [m/s^2] its vertical part less gravity
    ENVELOPE_RATE_LATERAL,    // [rad/s]
    ENVELOPE_RATE_YAW,        // [rad/s]
    ENVELOPE_DESIRED_TILT,    // sine of the desired tilt
    ENVELOPE_INVERSE_ERROR,   // [s^2/m] vertical part of the desired direction over its size, less 1/g
    ENVELOPE_DESIRED_MAX,     // [m/s^2] the desired acceleration and gravity
    ENVELOPE_DESIRED_INVERSE, // [s^2/m] its inverse
    ENVELOPE_ERROR_LATERAL,   // [rad] desired against estimated attitude
    ENVELOPE_ERROR_YAW,       // [rad]
    ENVELOPE_SPEED_RATIO,     // [1] of the slopes of thrust over speed, commanded and present, less 1
    ENVELOPE_THRUST_FRACTION, // [1] of a rotor's limit, commanded
    ENVELOPE_THRUST_MARGIN,   // [1] 1 less the least commanded share of a rotor's limit
    ENVELOPE_INTEGRAL,        // [m/s^2] each part
    ENVELOPE_ESTIMATE_ERROR,  // [rad] of attitude
    ENVELOPE_SENSED_LATERAL,  // [m/s^2] specific force by the accelerometer, less the thrust
    ENVELOPE_SENSED_VERTICAL,
    ENVELOPE_INNOVATION,       // [m] of position
    ENVELOPE_ANGLE_INNOVATION, // [rad] of attitude
    ENVELOPE_SPEED,            // [m/s]
    ENVELOPE_RATE_ESTIMATE,    // [rad/s]
    ENVELOPE_TORQUE,           // [N m] of the rotors
    // Of a law at once: what it makes of the derivatives of the desired acceleration.
    ENVELOPE_JERK,                 // [m/s^3] first
    ENVELOPE_SNAP,                 // [m/s^4] second
    ENVELOPE_NET_THRUST,           // [m/s^2] thrust along the estimated body z, less gravity
    ENVELOPE_HEADING_RATE,         // [rad/s] of the reference
    ENVELOPE_HEADING_ACCELERATION, // [rad/s^2]
    // Of the velocity rung. A switch of the autopilot is as far as the least margin that it has been decided
    // by.
    ENVELOPE_SWITCH_DISTANCE_INVERSE, // [1/m] the inverse of that of a place
    ENVELOPE_SWITCH_ANGLE_INVERSE,    // [1/rad] of a heading
    ENVELOPE_COUNT,
    // In the place of what laws at once have.
    ENVELOPE_STICK_SPEED = ENVELOPE_JERK,      // [m/s] across, of the sticks
    ENVELOPE_DISTANCE_INVERSE = ENVELOPE_SNAP, // [1/m] of the autopilot's distance to its target
    ENVELOPE_JERK_VERTICAL = ENVELOPE_SWITCH_DISTANCE_INVERSE, // [m/s^3] and the other way round
    ENVELOPE_SNAP_VERTICAL = ENVELOPE_SWITCH_ANGLE_INVERSE,    // [m/s^4]
    ENVELOPE_TURN_RATE = ENVELOPE_HEADING_RATE                 // [rad/s] about the vertical, desired
};
_Static_assert((int)ENVELOPE_COUNT <= (int)LOOP_ENVELOPE_CAP, "a loop_block holds an envelope");

/// [rad] The heading of the velocity rung may lead so far; beyond, there is no bound.
#define LOOP_LEAD_MAX 0.45

/// How loads that are computed differ between the motions: per difference of velocity, angle, position, rate.
/// Forces are over the mass, torques over the moment of inertia.
typedef struct loop_slopes {
    double force_velocity, force_angle, force_position;                 // [1/s] [m/s^2] [1/s^2]
    double torque_velocity, torque_angle, torque_position, torque_rate; // [1/(m s)] [1/s^2] [1/(m s^2)] [1/s]
    double rotor_wrench_change; // [1] of the rotors' wrench by the air's density, relative
    double force;               // [m/s^2] all forces but the rotors' and gravity, at most
} loop_slopes;

enum { LOOP_SLOPES = sizeof(loop_slopes) / sizeof(double) };
_Static_assert((int)LOOP_SLOPES <= (int)LOOP_SLOPES_CAP, "a loop_block holds slopes");

/// What enters from outside: accelerations left out, at most.
typedef struct loop_neglect {
    double force, torque; // [m/s^2], [rad/s^2]
} loop_neglect;

/// The bound of every difference.
typedef struct loop_bound {
    double bound[LOOP_AXES][LOOP_SIGNALS];
} loop_bound;

/// Constants of a drone's closed loop.
typedef struct loop_model {
    int is_bounded; // 0: no bound is known of such a loop
    loop_params params;
    loop_gains gains;
    loop_delays delays;
    double gyro_across, gyro_about; // [1] differences of two moments over the third
    double tilt_limit;              // sine of the largest desired tilt
    double thrust_min;              // [m/s^2] least vertical part of a desired acceleration
    double integral_max;            // [m/s^2] of the law, each part
    // Thrusts as shares of the rotors' limit, accelerations in body axes: along, across and about body z.
    double fraction_per_acceleration[LOOP_AXES]; // [s^2/m], [s^2] the largest share of one rotor per
                                                 // acceleration
    double norm_per_acceleration[LOOP_AXES];     // the root of the sum of squares of all, likewise
    double planned_envelope[ENVELOPE_COUNT];     // what the flight plan alone makes of the envelope, roughly
    double acceleration_per_norm[LOOP_AXES]; // [m/s^2], [rad/s^2] back: acceleration per root of the sum of
                                             // squares
} loop_model;

/// Of a drone that is flown by a built-in law, with upright rotors all alike, and the truth or the estimator
/// of constant gains; of any other `out->is_bounded` becomes 0.
/// The gains of `similar` (or NULL) are taken over where it is alike: they take up to a tenth of a second.
void vy_loop_build(const loop_params *p, const ladder_params *ladder, const rotor_layout *layout,
                   const loop_model *similar, loop_model *out);

/// The least bound that holds for what is left out within an envelope. Returns 0 where there is none, or a
/// limit could act.
int vy_loop_solve(const loop_model *m, const double *envelope, const loop_slopes *slopes,
                  const loop_neglect *neglect, loop_bound *out);
/// Bounds per unit of what is left out, with the remainder as it is within the bound `within`.
int vy_loop_sensitivity(const loop_model *m, const double *envelope, const loop_slopes *slopes,
                        const loop_bound *within, const loop_neglect *unit, loop_bound *out);
