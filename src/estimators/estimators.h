// estimators.h - the list of estimators. A new one is a pair of files, a row here, and its kind and figures
// in volery/estimator.h.
#pragma once
#include "estimators/complementary.h"
#include "estimators/ekf.h"
#include "estimators/fading.h"

// E(kind, name, text): `kind` is its number in scenarios and never changes: VY_ESTIMATOR_kind.
#define ESTIMATORS(E)                                                      \
    E(EKF, ekf, "error-state Kalman filter on whatever the drone carries") \
    E(COMPLEMENTARY, complementary, "gyroscope, gravity and magnetic field; GPS or motion capture, barometer")

// The default estimator: it runs in lanes, and its state is in the drone's block.
#define DRONE_ESTIMATORS(E) E(FADING, fading, "IMU and motion capture, constant gains of a fading memory")

#define DECLARE(kind, name, text)                                                                         \
    extern const estimator_type vy_estimator_##name;                                                      \
    void vy_##name##_step(const name##_params *p, const estimator_samples *in, estimator_state *estimate, \
                          const filter_blocks *memory);
ESTIMATORS(DECLARE)
#undef DECLARE

void vy_fading_build(const estimator_setup *in, fading_params *out);

/// Of vy_estimator_def.
extern const vy_schema_table vy_table_estimator;

/// By VY_ESTIMATOR_; NULL: the one of every drone.
extern const estimator_type *const vy_estimators[];

/// Check a def against its rows and against the drone's sensors.
vy_status vy_check_estimator_def(const vy_estimator_def *def, const vy_imu_def *imu, vy_error *err);

/// Whether a sensor of the drone measures its position.
int vy_estimator_has_position(const vy_estimator_def *def, const vy_mocap_def *mocap,
                              const vy_sensor_suite_def *sensor_suite);
