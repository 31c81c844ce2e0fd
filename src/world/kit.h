// kit.h - sensors beside the plain IMU and plain motion capture: constants, and the stage that samples them.
//
// A drone gets a kit when it declares such a sensor, or a figure that the plain ones do not have. Kits fly in
// worlds, one drone at a time.
#pragma once
#include "control/complementary.h"
#include "control/ekf.h"
#include "sensors/baro.h"
#include "sensors/mag.h"
#include "sensors/ray.h"
#include "world/world_impl.h"

/// How the samples of one sensor travel. Times are whole numbers.
typedef struct kit_link {
    uint64_t period; // steps; 0: the drone has no such sensor
    uint64_t delay;  // samples
    double dropout;
    uint32_t line;  // its first cell in the state's delays
    uint32_t cells; // per place
} kit_link;

typedef struct kit_ray {
    ray_params reading;
    vec3 position; // [m] body
} kit_ray;

/// Constants of one drone's kit.
typedef struct kit_model {
    uint32_t drone;
    uint64_t identity;
    kit_link links[KIT_SENSORS];
    imu_full_params imu;
    double accel_deviation, gyro_deviation; // of the wanders
    mocap_params mocap;
    baro_params baro;
    double baro_deviation;
    mag_params mag;
    gps_params gps;
    vec3 gps_deviation;
    kit_ray range;
    vec3 range_direction; // body, unit
    struct {
        double noise, least, most, range;
        vec3 position;
    } flow;
    struct {
        double voltage_noise, current_noise;
        digits_params voltage, current;
    } power;
    struct {
        double noise;
        digits_params digits;
    } esc;
    kit_ray lidar;
    int ray_count;
    vec3 rays[VY_RAY_CAP];       // body, unit
    vy_estimator_kind estimator; // VY_ESTIMATOR_FADING: none of its own
    uint32_t filter, gate;       // their places in the state
    double gate_square;          // of a number's deviation, from where on it is not believed; 0: no gate
    double gate_share[VY_GATED_COUNT]; // by which each rejected sample widens, once that has lasted
    uint64_t gate_ticks;               // so long
    int baro_zeroed;                   // the barometer is set to the believed height at its first sample
    ekf_params ekf;
    complementary_params complementary;
} kit_model;

/// The directions of a fan's rays, in the order of its sample: unit vectors in body axes. Returns how many.
int vy_lidar_rays(const vy_lidar_def *def, vec3 rays[VY_RAY_CAP]);

/// Does the drone need a kit?
int vy_drone_has_kit(const vy_drone_def *def);

/// How many numbers its delayed samples take; they may be fewer.
double vy_kit_delays(const vy_drone_def *def);

/// Is everything that a kit is made of sound?
vy_status vy_check_kit_def(const vy_drone_def *def, vy_error *err);

/// Constants of the kit of drone `index`, which has been checked. Lines begin at cell 0; `*cells` is how many
/// they take.
vy_status vy_kit_build(const vy_model *world, const vy_drone_def *def, uint32_t index, kit_model *out,
                       uint32_t *cells, vy_error *err);

vy_status vy_check_estimator_def(const vy_drone_def *def, vy_error *err);

/// Constants of the drone's filter, if it asks for one.
vy_status vy_filter_build(const vy_model *world, const vy_drone_def *def, kit_model *kit, vy_error *err);

/// Does its filter reject samples?
int vy_kit_gated(const kit_model *kit);

/// What a filter believes before the first sample: the truth, and an error as large as declared.
void vy_filter_first(const vy_model *world, const vy_drone_def *def, uint32_t index, const body_state *body,
                     estimator_state *out);

/// How many numbers a sample of `sensor` has.
int vy_kit_width(int sensor);

/// Steps between two samples of `sensor` of drone `drone`, whether a kit takes them or not; 0: it has none.
uint64_t vy_sensor_period(const vy_model *world, uint32_t drone, int sensor);
