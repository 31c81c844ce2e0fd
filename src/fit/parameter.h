// parameter.h - what a fit may change: figures of a vehicle and of its sensors, each as one number that is 0
// at the base and about 1 where it would be quite another.
#pragma once
#include "volery/fit.h"

typedef enum fit_parameter_id {
    FIT_THRUST_COEF,
    FIT_THRUST_LINEAR,
    FIT_INERTIA_X,
    FIT_INERTIA_Y,
    FIT_INERTIA_Z, // as a share of the two others
    FIT_TORQUE,    // over thrust
    FIT_ROTOR_INERTIA,
    FIT_LAG_UP,
    FIT_LAG_DOWN,
    FIT_DRAG_X,
    FIT_DRAG_Y,
    FIT_DRAG_Z,
    FIT_ROTOR_DRAG,
    FIT_CENTRE_X,
    FIT_CENTRE_Y,
    FIT_CENTRE_Z,
    FIT_CANT,
    FIT_IMU_DELAY,
    FIT_POSE_DELAY,
    FIT_ACCEL_DELAY,
    FIT_ACCEL_X,
    FIT_ACCEL_Y,
    FIT_ACCEL_Z,
    FIT_GYRO_X,
    FIT_GYRO_Y,
    FIT_GYRO_Z,
    FIT_PARAMETER_COUNT
} fit_parameter_id;

/// A vehicle and its instruments.
typedef struct fit_point {
    vy_vehicle_def vehicle;
    double imu_delay, pose_delay; // [s]
    double accel_delay;           // [s] of the accelerometer behind the gyroscope
    vy_vec3 accel_offset;         // [m/s^2] body, added to what is true
    vy_vec3 gyro_offset;          // [rad/s]
    double cant;                  // [rad] of every rotor's axis around its arm
} fit_point;

typedef struct fit_parameter {
    const char *name, *unit;
    int is_ratio;        // the number is the logarithm of value over base, in units of its scale
    double fix_priority; // which of several that cannot be told apart is kept at its base: the heaviest
} fit_parameter;
extern const fit_parameter vy_fit_parameters[FIT_PARAMETER_COUNT];

/// Where a fit begins: the base with the mass as flown. Lags of 0, which have no logarithm, get a start.
fit_point vy_fit_start(const vy_vehicle_def *base, double mass);

/// The size of one unit of the number [the parameter's unit; of ratios that of their logarithm].
double vy_fit_scale(int id, const fit_point *base);

/// What is known of a number before the flight: the inverse of its variance. Offsets of instruments are
/// small, as their data sheets say; of a vehicle nothing is known.
double vy_fit_prior(int id);

/// The value of a parameter in its unit.
double vy_fit_value(int id, const fit_point *p);

/// `base` with the parameters moved by `x`, of FIT_PARAMETER_COUNT. On the way drag and a rotor's inertia may
/// become negative, which no vehicle has.
fit_point vy_fit_at(const fit_point *base, const double *x);
