// loop_gain.h - peak gains of the closed loop near hover: how large each quantity can become, at most, when a
// bounded disturbance enters somewhere.
//
// Near hover the loop of a drone, a built-in law and a source of estimates of constant gains falls apart into
// three kinds of linear loops: across (two, alike), along and about the vertical. Their impulse responses are
// summed tick by tick through all periods of sensors and controller: the sum of magnitudes is the gain from
// the largest disturbance to the largest response (M. Dahleh, J. Pearson, l1-optimal feedback controllers for
// MIMO discrete-time systems, IEEE Trans. Automatic Control 32, 1987).
#pragma once
#include <stdint.h>

/// The linear loops.
enum { LOOP_LATERAL, LOOP_VERTICAL, LOOP_YAW, LOOP_AXES };

/// Differences of two motions, in world axes. Angles across are those of a tilt.
enum {
    LOOP_POSITION,
    LOOP_VELOCITY,
    LOOP_ACCELERATION, // mean of a step
    LOOP_ANGLE,
    LOOP_RATE,
    LOOP_ACTUATION,            // by the rotors: angular acceleration; along, specific thrust
    LOOP_COMMAND,              // the commanded actuation
    LOOP_LAG_ERROR,            // command less drive: what the rotors have yet to follow
    LOOP_DESIRED_ACCELERATION, // [m/s^2] desired acceleration
    LOOP_INTEGRAL,             // [m/s^2]
    LOOP_ANGLE_ESTIMATE,
    LOOP_RATE_ESTIMATE,
    LOOP_GYRO_BIAS, // estimated
    LOOP_ACCEL_BIAS,
    LOOP_ANGLE_ERROR,       // wanted less estimated angle
    LOOP_THRUST_TILT_ERROR, // [m/s^2] wanted acceleration across as thrust follows it, less what the tilt
                            // makes
    LOOP_ANGLE_INNOVATION,  // true less estimated angle
    LOOP_INNOVATION,        // true less estimated position
    LOOP_VELOCITY_ESTIMATE,
    LOOP_JERK, // [m/s^3] of lee: the desired acceleration's derivative, by the estimate
    LOOP_SNAP, // [m/s^4] the second one
    LOOP_SIGNALS
};

/// Where a disturbance enters.
enum {
    INPUT_FORCE,               // [m/s^2] of the velocity's derivative
    INPUT_ANGLE_RATE,          // [rad/s] of the angle's
    INPUT_TORQUE,              // [rad/s^2] of the rate's
    INPUT_ACTUATION,           // added to what the rotors follow
    INPUT_COMMAND,             // the command itself, when it is made
    INPUT_FORCE_ESTIMATE,      // [m/s^2] at every sample of the IMU
    INPUT_ANGLE_RATE_ESTIMATE, // [rad/s] likewise
    INPUT_GYRO_DRIFT,          // [rad/s^2] likewise, of the estimated bias
    INPUT_ACCEL_DRIFT,         // [m/s^3]
    INPUT_ANGLE_CORRECTION,    // [rad] at every sample of motion capture
    INPUT_GYRO_CORRECTION,     // [rad/s]
    INPUT_ACCEL_CORRECTION,    // [m/s^2]
    INPUT_VELOCITY,            // [m/s] of the desired velocity, when the law acts
    LOOP_INPUTS
};

/// How a desired acceleration becomes a torque: by rungs at two periods, or at once. The last one holds a
/// velocity instead of a position, by rungs at one period: the position drifts.
enum { LOOP_CASCADE, LOOP_LEE, LOOP_MELLINGER, LOOP_VELOCITY_RUNG };

/// Constants of the loop. Periods are in steps.
typedef struct loop_params {
    double dt;                           // [s]
    double gravity;                      // [m/s^2]
    double lag;                          // [s] of the rotors; 0: none
    double drag[2];                      // [1/s] per velocity: across, along
    uint64_t imu, mocap;                 // periods of the sensors
    uint64_t control, rate;              // periods of the position loop and of the rate loop
    uint64_t truth;                      // 1: the estimate is the truth
    uint64_t law;                        // LOOP_CASCADE, ...
    uint64_t horizon;                    // where the position drifts: the gains are those of so many steps
    uint64_t incremental;                // 1: the rate loop of the cascade works by increments, indi.h
    double position, velocity, integral; // gains of the law [1/s^2] [1/s] [1/s^3]
    double attitude, yaw, rates;         // likewise [1/s]
    double position_gain, velocity_gain, accel_gain; // of the estimator, as in fading_params
    double attitude_gain, gyro_gain;
    double indi_transition[2][2], indi_lag_decay; // as in indi_params
} loop_params;                                    // every byte counts: compared as a whole

/// Whether the law makes a torque at once, without rungs.
static inline int loop_is_geometric(const loop_params *p)
{
    return p->law == LOOP_LEE || p->law == LOOP_MELLINGER;
}

/// The peak gain from each input to each signal of each loop.
typedef struct loop_gains {
    double gain[LOOP_AXES][LOOP_SIGNALS][LOOP_INPUTS];
} loop_gains;

/// Returns 1, or 0 where the loop has no gain: it does not settle, its periods do not come together within a
/// hundred steps, or the rotors follow too quickly for the step.
int vy_loop_gains(const loop_params *p, loop_gains *out);

/// Rates by increments remember rates and commands in body axes, which turn meanwhile: how late its answers
/// are, as the sum of magnitudes times age of its impulse responses.
typedef struct loop_delays {
    double rate_delay;    // [1] of a rate [rad/s], which is an estimate of up to a period of the IMU
    double command_delay; // [s] of a command [rad/s^2]
} loop_delays;

loop_delays vy_loop_delays(const loop_params *p);
