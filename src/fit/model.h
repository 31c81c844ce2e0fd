// model.h - predictions of a recorded flight by the library's own equations: rotor speeds from the commands
// over the whole flight, motion from measured states over short horizons.
#pragma once
#include "equations/multirotor.h"
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
    double step;        // [s] the usual one
    double *commands;   // rows x rotors: 0 to 1, or speeds [rad/s] where speeds were recorded instead
    int has_commands, has_attitude, has_velocity, has_position;
    vec3 *rate;     // [rad/s]
    quat *attitude; // identity where it was not recorded
    vec3 *velocity; // [m/s] world; 0 where nothing tells
    int present[CHANNEL_COUNT];
} fit_data;

/// Is it known how the vehicle moved through the air, as far as that stood still?
static inline int vy_fit_has_air(const fit_data *d)
{
    return d->has_attitude && (d->has_velocity || d->has_position);
}

/// @return VY_BAD_VALUE: no rates or commands, too few commands for the vehicle
vy_status vy_fit_data_make(const vy_flight *flight, const vy_vehicle_def *vehicle, fit_data *out,
                           vy_error *err);
void vy_fit_data_free(fit_data *d);

/// Speeds of the rotors [rad/s]: at each row and half-way to the next, and the mean from each row to the
/// next.
typedef struct fit_rotors {
    double *speed; // 2 rows x rotors
    double *mean;  // rows x rotors
} fit_rotors;

int vy_fit_rotors_make(const fit_data *d, fit_rotors *out); ///< 0: no memory
void vy_fit_rotors_free(fit_rotors *r);
void vy_fit_rotors_run(const fit_data *d, const fit_point *p, fit_rotors *out);

/// The equations of a point, ready to be evaluated.
typedef struct fit_plant {
    rotor_layout layout;
    multirotor_params params;
    environment_model env;
    rotor_air_state memory;
    multirotor_inputs inputs;
} fit_plant;
void vy_fit_plant_make(const fit_point *p, fit_plant *out);

/// The measured state of a row, seen through the point's delays and offsets.
body_state vy_fit_state(const fit_data *d, const fit_point *p, size_t row);

/// Specific force [m/s^2] in body axes, as an ideal accelerometer has it, in the state of `row`.
vec3 vy_fit_specific_force(const fit_data *d, const fit_plant *plant, const fit_rotors *rotors, size_t row,
                           const body_state *s);

/// One row on.
void vy_fit_step(const fit_data *d, const fit_plant *plant, const fit_rotors *rotors, size_t row,
                 body_state *s);

/// What the instruments say in a row less what they should say in state `s`, of all channels that are
/// present; NaN: not recorded in this row.
void vy_fit_errors_at(const fit_data *d, const fit_point *p, const fit_plant *plant, const fit_rotors *rotors,
                      size_t row, const body_state *s, double out[CHANNEL_COUNT]);

/// Errors of predictions from row first[k] over the horizon, in bins: out[(k * CHANNEL_COUNT + channel) *
/// FIT_BINS + bin]; 0 where a bin has no row.
void vy_fit_predict(const fit_data *d, const fit_point *p, fit_rotors *rotors, const size_t *first, int count,
                    double horizon, double *out);

/// Errors over the horizons of vy_fit_horizons on [from, to] of the flight.
vy_status vy_fit_score(const fit_data *d, const fit_point *p, double from, double to, vy_fit_errors *model,
                       vy_fit_errors *hold, vy_fit_errors *constant_rate, vy_error *err);
