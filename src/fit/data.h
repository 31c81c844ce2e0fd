// data.h - a recorded flight made ready for a fit, and the rotors' speeds that follow from it: plain types
// alone, one layout for every lane width.
#pragma once
#include "fit/parameter.h"
#include "scenario/flight_csv.h"

/// What is predicted: body rate, specific force, turn since the start, velocity.
enum {
    CHANNEL_RATE = 0,
    CHANNEL_ACCEL = 3,
    CHANNEL_ATTITUDE = 6,
    CHANNEL_VELOCITY = 9,
    CHANNEL_COUNT = 12,
    FIT_BINS = 12, // of a horizon: errors are averaged over each
};

/// A flight made ready: what is missing of pose and velocity filled in, so that a prediction can start in
/// every row.
typedef struct fit_data {
    const vy_flight *flight;
    size_t rows;
    int rotors;
    const double *time; // [s]
    double mean_step;   // [s] from row to row
    double *commands;   // rows x rotors: 0 to 1, or speeds [rad/s] where speeds were recorded instead
    int has_commands, has_attitude, has_velocity, has_position;
    vy_vec3 *rate;                 // [rad/s]
    vy_quat *attitude;             // identity where it was not recorded
    vy_vec3 *velocity;             // [m/s] world; 0 where nothing tells
    int is_present[CHANNEL_COUNT]; // the channel was recorded
} fit_data;

/// Is it known how the vehicle moved through the air, as far as that stood still?
static inline int vy_fit_has_air(const fit_data *d)
{
    return d->has_attitude && (d->has_velocity || d->has_position);
}

enum { FIT_ROTOR_INPUTS = 8 }; ///< parameters that the speeds of the rotors depend on

/// Speeds of the rotors [rad/s]: at each row and half-way to the next, and the mean from each row to the
/// next.
typedef struct fit_rotors {
    double *speed;                   // 2 rows x rotors
    double *mean;                    // rows x rotors
    double inputs[FIT_ROTOR_INPUTS]; // lags, delay and motor curve they were computed with; all 0: none yet
} fit_rotors;
