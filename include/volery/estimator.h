// estimator.h - estimators: from samples to the estimate that a controller gets.
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

/// Where a filter starts.
typedef enum vy_estimator_start {
    VY_START_AIR, ///< with an error as large as `start_position`, `start_velocity` and `start_attitude` say
    VY_START_GROUND, ///< on the ground: it finds attitude, gyroscope bias and position while it stands still
                     ///< for VY_ALIGNMENT_TIME; the built-in controllers wait for it
} vy_estimator_start;

#define VY_ALIGNMENT_TIME 2.0 ///< [s]

/// The filter knows the sensors' figures as declared.
typedef struct vy_estimator_def {
    vy_estimator_kind kind;
    double start_position; ///< [m] standard deviation of the first estimate's error per axis, >= 0; not of
                           ///< `fading`
    double start_velocity; ///< [m/s] the same, >= 0
    double start_attitude; ///< [rad] the same, >= 0
    double attitude_time;  ///< [s] of `complementary`: how long the gyroscope is trusted, > 0
    double position_time;  ///< [s] of `complementary`: how long dead reckoning is trusted, > 0
    double gate; ///< of `ekf`: a sample is rejected when one of its numbers is more than this many standard
                 ///< deviations from what was expected, >= 1; 0: every sample is accepted
    double gate_time; ///< [s] of `ekf`: after this long of rejection the filter inflates its covariance along
                      ///< that sensor's measurement, > 0
    vy_estimator_start start; ///< not of `fading`
} vy_estimator_def;

/// Sensors whose samples a Kalman filter may reject.
typedef enum vy_aid_source {
    VY_AID_SOURCE_MOCAP,
    VY_AID_SOURCE_GPS,
    VY_AID_SOURCE_BARO,
    VY_AID_SOURCE_MAG,
    VY_AID_SOURCE_RANGE,
    VY_AID_SOURCE_FLOW,
    VY_AID_SOURCE_COUNT
} vy_aid_source;

/// State of a filter's gate.
typedef struct vy_gate_state {
    uint64_t rejected[VY_AID_SOURCE_COUNT]; ///< samples so far
    uint64_t since[VY_AID_SOURCE_COUNT]; ///< tick from which on every sample has been rejected; 0: the last
                                         ///< was accepted
} vy_gate_state;

/// How good a Kalman filter is now, measured by the truth, which it does not see.
typedef struct vy_filter_state {
    int started;        ///< 0: it still stands on the ground and looks for its start; the rest is 0
    double error;       ///< [m] distance of the estimated from the true position
    double deviation;   ///< [m] what the filter expects that to be: root of the sum of its three variances
    vy_vec3 variance;   ///< [m^2] of the position it estimates, along x, y and z
    vy_vec3 covariance; ///< [m^2] of x with y, x with z and y with z
    double tilt, yaw;   ///< [rad] errors of the attitude, across and about world z
    double nees; ///< e^T P^-1 e of position, velocity and attitude: 9 on average for a filter that is as
                 ///< good as it says; 0 where P is singular
    double mean_nis[VY_AID_SOURCE_COUNT]; ///< mean of the normalised innovations squared so far, of the
                                          ///< samples that were accepted: 1 on average; 0 without samples
} vy_filter_state;

/// The sensor's key in a scenario, as baro. Never NULL.
const char *vy_aid_source_name(vy_aid_source sensor);

/// VY_ESTIMATOR_FADING; starts in the air, 0.1 m, 0.1 m/s and 0.02 rad off; 2 s and 1 s; no gate, of 5 s.
vy_estimator_def vy_default_estimator_def(void);

#ifdef __cplusplus
}
#endif
