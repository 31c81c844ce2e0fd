// filter.h - how likely a whole flight is: an extended Kalman filter predicts every sample from all before
// it, with gusts and torques from outside as unknowns that change at random.
//
// What a flight's controller does depends on all that was measured before, never on what comes. The error of
// a prediction from all that came before is therefore no more correlated with the commands than chance has
// it, in closed loop too, and its likelihood has no bias by feedback (L. Ljung, System Identification, 2nd
// ed., 13.4). How strong gusts and noise are is found from the flight as well.
#pragma once
#include "fit/model.h"

enum { FIT_BLOCKS = 12 }; // parts of the flight, each of which is left out once for an interval

/// Strengths of noise and disturbances, as logarithms.
enum {
    NOISE_RATE,      // [rad/s] standard deviation of a sample, x and y
    NOISE_RATE_Z,    //
    NOISE_ACCEL,     // [m/s^2]
    NOISE_ACCEL_Z,   //
    NOISE_ATTITUDE,  // [rad]
    NOISE_VELOCITY,  // [m/s]
    NOISE_POSITION,  // [m]
    NOISE_GUST,      // [m/s^2] what gusts accelerate, horizontally
    NOISE_GUST_Z,    //
    NOISE_GUST_TIME, // [s] over which they last
    NOISE_GUST_TIME_Z,
    NOISE_TORQUE,      // [rad/s^2] what torques from outside accelerate, about x and y
    NOISE_TORQUE_Z,    //
    NOISE_TORQUE_TIME, // [s]
    NOISE_COUNT
};

typedef struct fit_filter {
    const fit_data *data;
    fit_point base;
    size_t first_row,
        last_row; // rows: it starts in the measured state of `first_row` and ends with `last_row`
    double noise[NOISE_COUNT], noise_prior[NOISE_COUNT]; // logarithms: as estimated, and the first guess
    int is_noise_active[NOISE_COUNT];
    int differences_below; // at an IMU delay of 0, where the likelihood has an edge: slopes of its other side
    fit_rotors rotors[4];  // of a point, and with each of what changes the rotors' speeds moved
    struct filter_bank *bank; // what goes through the flight side by side
} fit_filter;

/// The likelihood around a point: what Gauss and Newton's step and an interval need.
typedef struct fit_normal_equations {
    double cost;                     // twice the negative logarithm of the likelihood
    int n, ids[FIT_PARAMETER_COUNT]; // the active parameters, in the order of rows below
    double normal[FIT_PARAMETER_COUNT * FIT_PARAMETER_COUNT], gradient[FIT_PARAMETER_COUNT];
    // Of each part of the flight by itself.
    double scores[FIT_BLOCKS][FIT_PARAMETER_COUNT];
    double block_normals[FIT_BLOCKS][FIT_PARAMETER_COUNT * FIT_PARAMETER_COUNT];
} fit_normal_equations;

/// A filter over [from, to] of the flight, with a first guess of noise and disturbances. Release with
/// vy_filter_free().
vy_status vy_filter_make(const fit_data *d, const fit_point *base, double from, double to, fit_filter *out,
                         vy_error *err);
void vy_filter_free(fit_filter *f);

/// Use another width than the widest. Results are the same.
/// @return 0: no memory
int vy_filter_set_lanes(fit_filter *f, const fit_kernel *kernel);

/// Twice the negative logarithm of the likelihood at x, with `noise`.
double vy_filter_cost(fit_filter *f, const double *x, const double *noise);

/// The same, and its slopes over the active parameters.
void vy_filter_linearise(fit_filter *f, const double *x, const int *active, fit_normal_equations *out);

/// Noise and disturbances that make the flight most likely at x, from those of `f` on: `steps` of Fisher's
/// scoring.
/// @return 0: nothing finite came out
int vy_filter_estimate_noise(fit_filter *f, const double *x, int steps);
