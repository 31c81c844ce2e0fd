// estimator.h - what turns samples into what a controller believes.
#pragma once
#include "volery/sensors.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vy_estimator_kind {
    VY_ESTIMATOR_FADING,        ///< IMU and motion capture, constant gains of a fading memory
    VY_ESTIMATOR_EKF,           ///< error-state Kalman filter on whatever the drone carries
    VY_ESTIMATOR_COMPLEMENTARY, ///< gyroscope, gravity and magnetic field; GPS or motion capture, barometer
} vy_estimator_kind;

/// Sensors are told to the filter as they are declared.
typedef struct vy_estimator_def {
    vy_estimator_kind kind;
    double start_position; ///< [m] standard deviation of the first estimate's error per axis, >= 0; not of
                           ///< `fading`
    double start_velocity; ///< [m/s] the same, >= 0
    double start_attitude; ///< [rad] the same, >= 0
    double attitude_time;  ///< [s] of `complementary`: how long the gyroscope is trusted, > 0
    double position_time;  ///< [s] of `complementary`: how long dead reckoning is trusted, > 0
} vy_estimator_def;

/// VY_ESTIMATOR_FADING; starts 0.1 m, 0.1 m/s and 0.02 rad off; 2 s and 1 s.
vy_estimator_def vy_default_estimator_def(void);

#ifdef __cplusplus
}
#endif
