// fit.h - a vehicle from a recorded flight: what its data can tell of thrust, torque, inertia, lags, drag,
// centre of mass and sensors, and how surely.
//
// From measured states the library's own equations predict the next quarter of a second, again and again; the
// parameters make the weighted sum of the squared errors least, and from there on the whole flight most
// likely. docs/fit.md has the method. Results are the same to the bit on every machine.
#pragma once
#include "volery/record.h"
#include "volery/status.h"
#include "volery/vehicle.h"
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vy_flight vy_flight; ///< a recorded flight; one owner

/// Read a flight from a file: CSV, PX4's ULog (*.ulg) or a log of Volery (*.mcap), by what the file begins
/// with.
/// @param mapping which columns of a CSV are what (docs/fit.md): the mapping itself; NULL: columns have the
/// names of quantities. Refused for a log
/// @param drone which one of a log of Volery; NULL: the only one. Refused for another file
/// @param out to be released with vy_flight_free(); NULL on failure
vy_status vy_fit_read(const char *path, const char *mapping, const char *drone, vy_flight **out,
                      vy_error *err);
void vy_flight_free(vy_flight *flight); ///< NULL is a no-op

#define VY_FIT_PARAMETER_CAP   32
#define VY_FIT_COMBINATION_CAP 16
#define VY_FIT_HORIZON_COUNT   4
#define VY_FIT_CHANNEL_COUNT   12
#define VY_FIT_TEXT_CAP        240
#define VY_FIT_UNIT_CAP        12

/// What a fit is for.
typedef enum vy_fit_aim {
    /// The vehicle's own figures: each sample is predicted from all before it, so that what the flight's
    /// controller answers biases nothing.
    VY_FIT_FOR_PARAMETERS,
    /// The least errors of predictions on flights like this one. Disturbances and the motors' answers to them
    /// are
    /// a part of such flights: moments of inertia come out larger than they are.
    VY_FIT_FOR_PREDICTION,
} vy_fit_aim;

/// How a flight is fitted. Start from vy_default_fit_def().
typedef struct vy_fit_def {
    double mass;    ///< [kg] of the vehicle as flown, > 0, at most 300 times or a 300th of the base's
    double from;    ///< [s] of the flight, where the part begins that is fitted
    double to;      ///< [s] where it ends; what follows is held out. 0: half of the flight
    double horizon; ///< [s] of a prediction, 0.05 to 2; 0: 0.25 for parameters, 0.07 for prediction
    vy_fit_aim aim;
} vy_fit_def;

vy_fit_def vy_default_fit_def(void);

/// What became of a parameter.
typedef enum vy_fit_status {
    VY_FIT_FOUND,   ///< the data tell it
    VY_FIT_KEPT,    ///< they do not, or only together with others: it has the base's value
    VY_FIT_NO_DATA, ///< nothing was recorded that could tell it
} vy_fit_status;

typedef struct vy_fit_parameter {
    char name[VY_NAME_CAP];     ///< as in a vehicle file, or of a sensor: "imu delay"
    char unit[VY_FIT_UNIT_CAP]; ///< SI; "" for none
    vy_fit_status status;
    double value, low, high; ///< and the 95 % interval, of what was found
    double base;             ///< the base's value
    int is_relative_to_izz; ///< 1: only its ratio to the moment of inertia about z shows; the interval is for
                            ///< this moment
} vy_fit_parameter;

/// Root mean square errors of predictions over the horizons of vy_fit_horizons, from measured states on.
typedef struct vy_fit_errors {
    int count;                             ///< of predictions; 0: none
    double rate[VY_FIT_HORIZON_COUNT];     ///< [rad/s]
    double attitude[VY_FIT_HORIZON_COUNT]; ///< [rad]
    double accel[VY_FIT_HORIZON_COUNT];    ///< [m/s^2] of the axes that were recorded; NaN: none was
    double velocity[VY_FIT_HORIZON_COUNT]; ///< [m/s]; NaN: not recorded
    double position[VY_FIT_HORIZON_COUNT]; ///< [m]; NaN: not recorded
} vy_fit_errors;

extern const double vy_fit_horizons[VY_FIT_HORIZON_COUNT]; ///< [s] 0.1, 0.25, 0.5, 1

/// How well the fitted model tells what one instrument saw, on the held-out part.
typedef struct vy_fit_channel {
    char name[VY_NAME_CAP]; ///< "rate x"
    char unit[VY_FIT_UNIT_CAP];
    int present;     ///< 1: it was recorded
    double rms;      ///< of the prediction errors over the horizon of the fit
    double signal;   ///< of what there was to predict: changes of a rate, a specific force less its mean
    double slope[3]; ///< what the error grows by with airspeed along body x, y and z [unit per m/s]; 0 if not
                     ///< recorded
    double drift;    ///< [unit/s] of the errors over the flight, as of a battery that empties
} vy_fit_channel;

typedef struct vy_fit_result {
    vy_vehicle_def vehicle;       ///< the fitted vehicle
    char base[VY_ERROR_FILE_CAP]; ///< what it started from, for people and files
    vy_fit_def def;
    double duration; ///< [s] of the flight
    int parameter_count;
    vy_fit_parameter parameters[VY_FIT_PARAMETER_CAP];
    int combination_count; ///< what the data cannot tell apart
    char combinations[VY_FIT_COMBINATION_CAP][VY_FIT_TEXT_CAP];
    double imu_delay;                  ///< [s] of IMU behind motor commands
    double pose_delay;                 ///< [s] of pose and velocity behind the IMU
    double accel_delay;                ///< [s] of the accelerometer behind the gyroscope
    vy_vec3 accel_offset, gyro_offset; ///< [m/s^2], [rad/s] body: added by the instruments
    vy_fit_channel channels[VY_FIT_CHANNEL_COUNT];
    vy_fit_errors fitted, unfitted, hold,
        constant_rate;             ///< of the held-out part: fit, base with the mass, the two baselines
    int has_held_out;              ///< 0: nothing was left of the flight to hold out
    char missing[VY_FIT_TEXT_CAP]; ///< a sentence: what the model lacks by what is left of the errors
    int iterations;
} vy_fit_result;

/// Fit `base` to a flight.
/// @param name what files call the base
/// @return VY_BAD_VALUE with a sentence: a value of `def`, a flight too short or without what is needed, or
/// one that tells nothing; VY_NO_MEMORY
vy_status vy_fit_solve(const vy_flight *flight, const vy_vehicle_def *base, const char *name,
                       const vy_fit_def *def, vy_fit_result *out, vy_error *err);

/// Errors of a vehicle as it is (with the flight's delays and offsets where given) on [from, to] of a flight,
/// and of the baselines. `delays` may be NULL: none.
vy_status vy_fit_evaluate(const vy_flight *flight, const vy_vehicle_def *vehicle, const vy_fit_result *delays,
                          double from, double to, vy_fit_errors *out, vy_fit_errors *hold,
                          vy_fit_errors *constant_rate, vy_error *err);

/// What an instrument said on [from, to] of a flight, and what the fitted vehicle predicts, from measured
/// states over horizon after horizon.
/// @param channel 0 to 2: rates about x, y and z; 3 to 5: specific force along them
/// @param time, measured, predicted [cap] of each row: [s], and both in the channel's unit
/// @param count how many of the `cap` places of each list were filled; 0: it was not recorded
vy_status vy_fit_series(const vy_flight *flight, const vy_fit_result *fit, int channel, double from,
                        double to, double *time, double *measured, double *predicted, size_t cap,
                        size_t *count, vy_error *err);

/// The fitted vehicle as a vehicle file, intervals and held-out errors as remarks.
void vy_fit_print(const vy_fit_result *result, FILE *out);

#ifdef __cplusplus
}
#endif
