// model.h - predictions of a recorded flight by the library's own equations: rotor speeds from the commands
// over the whole flight, motion from measured states over short horizons.
#pragma once
#include "fit/motion.h"

enum { FIT_POINTS_MAX = FIT_PARAMETER_COUNT + 1 };

/// @return VY_BAD_VALUE: no rates or commands, too few commands for the vehicle
vy_status vy_fit_data_make(const vy_flight *flight, const vy_vehicle_def *vehicle, fit_data *out,
                           vy_error *err);
void vy_fit_data_free(fit_data *d);

int vy_fit_rotors_make(const fit_data *d, fit_rotors *out); ///< 0: no memory
void vy_fit_rotors_free(fit_rotors *r);
void vy_fit_rotors_run(const fit_data *d, const fit_point *p, fit_rotors *out);

void vy_fit_plant_make(const fit_point *p, fit_plant *out);

fit_instruments vy_fit_instruments(const fit_point *p);

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

/// Points that fly side by side, in packs of as many as there are lanes.
typedef struct fit_packs {
    const fit_kernel *widest, *kernel; // for many points, and of those that are loaded
    fit_plant *plants;
    void *memory;
    int count;
    int sizes[FIT_POINTS_MAX], points[FIT_POINTS_MAX][FIT_LANES_MAX]; // which points are in each pack
} fit_packs;

int vy_fit_packs_make(const fit_kernel *widest, fit_packs *out); ///< 0: no memory
void vy_fit_packs_free(fit_packs *packs);

/// Load `count` points, each with the speeds of its rotors.
void vy_fit_packs_load(const fit_data *d, const fit_point *const *points, const fit_rotors *const *rotors,
                       int count, fit_packs *out);

/// The memory of pack `index`, for its kernel.
void *vy_fit_pack(const fit_packs *packs, int index);

/// Errors of predictions of all points from row first_rows[k] over the horizon, in bins: out[point][(k *
/// CHANNEL_COUNT + channel) * FIT_BINS + bin]; 0 where a bin has no row.
void vy_fit_packs_predict(const fit_data *d, const fit_packs *packs, const size_t *first_rows, int count,
                          double horizon, double *const *out);

/// The same of one point, of which the speeds of the rotors are computed.
void vy_fit_predict(const fit_data *d, const fit_point *p, fit_packs *packs, fit_rotors *rotors,
                    const size_t *first_rows, int count, double horizon, double *out);

/// Errors over the horizons of vy_fit_horizons on [from, to] of the flight.
vy_status vy_fit_score(const fit_data *d, const fit_point *p, double from, double to, vy_fit_errors *model,
                       vy_fit_errors *hold, vy_fit_errors *constant_rate, vy_error *err);
