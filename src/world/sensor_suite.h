// sensor_suite.h - the sensors that a drone carries: constants, and the stage that samples them.
//
// A drone gets a sensor suite when it declares a sensor beside the basic IMU and basic motion capture, or a
// figure that these do not have. Sensor suites are sampled in worlds, one drone at a time, not in lanes.
#pragma once
#include "estimators/estimators.h"
#include "world/world_impl.h"

/// How the samples of one sensor travel. Times are whole numbers.
typedef struct sensor_link {
    uint64_t period; // steps; 0: the sensor suite has no such sensor
    uint64_t delay;  // samples
    double dropout;  // share of samples that are lost
    uint32_t line;   // the first number of its delay line in the state
} sensor_link;

/// Constants of one drone's sensor suite.
typedef struct sensor_suite_model {
    uint32_t drone;    // that carries it
    uint64_t identity; // of drone and sensors: sensor_suite_block
    sensor_link links[SENSOR_KINDS];
    uint32_t blocks[SENSOR_KINDS]; // which of its kind in the state is its own
    imu_full_params imu;
    mocap_params mocap;
#define PARAMS(id, stream, name, needs, text) name##_params name;
    SENSORS(PARAMS)
#undef PARAMS
    vy_estimator_kind estimator;       // VY_ESTIMATOR_FADING: none of its own
    int has_gate;                      // it rejects samples
    int starts_in_air;                 // it need not find its start on the ground
    uint32_t filter, type_block, gate; // their places in the state: of its kind's own block in the middle
#define PARAMS(kind, name, text) name##_params name;
    ESTIMATORS(PARAMS)
#undef PARAMS
} sensor_suite_model;

sensor_suite_blocks vy_sensor_suite_blocks(const vy_world *world, const sensor_suite_model *sensor_suite);

/// Does the drone need a sensor suite?
int vy_drone_has_sensor_suite(const vy_drone_def *def);

/// The def of one of a drone's sensors: its period is its first number.
const void *vy_sensor_def(const vy_drone_def *def, int sensor);

/// Apply the declared calibration to the sensors of a def.
void vy_calibrate_sensors(vy_drone_def *def);

/// Check the sensors and the estimator of a drone.
vy_status vy_check_sensor_suite_def(const vy_drone_def *def, vy_error *err);

/// Constants of the sensor suite of drone `index`, which has been checked. Lines begin at cell 0; `*cells` is
/// how many they take.
vy_status vy_sensor_suite_build(const vy_model *world, const vy_drone_def *def, uint32_t index,
                                sensor_suite_model *out, uint32_t *cells, vy_error *err);

/// What an estimator of this drone is built from.
estimator_setup vy_estimator_setup(const vy_model *world, const vy_drone_def *def);

/// Constants of the drone's filter, if it declares one.
vy_status vy_filter_build(const vy_model *world, const vy_drone_def *def, sensor_suite_model *sensor_suite,
                          vy_error *err);

/// Whether the estimator of a sensor suite is a Kalman filter.
int vy_filter_is_kalman(const sensor_suite_model *sensor_suite);

/// The filter of a sensor suite at tick 0, if it has one.
void vy_filter_start(const vy_world *world, const sensor_suite_model *sensor_suite);

/// Whether the drone's estimator has found its start: all have that start in the air.
int vy_filter_is_started(const vy_world *world, uint32_t drone);

/// The initial estimate of a filter: the truth plus an error as large as declared; on the ground nothing.
void vy_filter_initial_estimate(const vy_model *world, const vy_drone_def *def, uint32_t index,
                                const body_state *body, estimator_state *out);

/// Steps between two samples of `sensor` of drone `drone`, whether a sensor suite takes them or not; 0: it
/// has none.
uint64_t vy_sensor_period(const vy_model *world, uint32_t drone, int sensor);

/// The last sample of a drone that has this sensor, as numbers in a row; `*tick` points to the tick of its
/// arrival. `drones` and `sensors` are the world's, or copies of both.
double *vy_sensor_sample(const vy_world *world, drone_block *drones, void *sensors, uint32_t drone,
                         int sensor, uint64_t **tick);

/// The block of one of the SENSORS that the drone has. It begins with the tick.
const uint64_t *vy_sensor_block(const vy_world *world, uint32_t drone, int sensor);

/// Constants of that sensor.
const void *vy_sensor_suite_params(const sensor_suite_model *sensor_suite, int sensor);

/// Bytes of the sensors' blocks of a sensor suite that has every sensor.
#define SENSOR_SUITE_BLOCK_SIZE(id, stream, name, needs, text) +sizeof(name##_block)
enum { SENSOR_SUITE_BLOCKS_SIZE = 0 SENSORS(SENSOR_SUITE_BLOCK_SIZE) };
