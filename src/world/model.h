// model.h - everything of a world that stays: what step.c reads and never writes.
#pragma once
#include "equations/motor.h"
#include "equations/multirotor.h"
#include "volery/world.h"
#include "world/state.h"

/// Periods are whole numbers of steps; 0 is never.
typedef struct drone_model {
    rotor_layout layout;
    multirotor_params plant;
    motor_params motor;
    imu_params imu;
    mocap_params mocap;
    estimator_params estimator;
    ladder_params ladder;
    uint64_t imu_period, mocap_period, control_period, rate_period;
    vy_controller_def controller;
    vy_safety_def safety;
    uint64_t sustain; // steps a limit may be exceeded
    double cos_tilt_max;
    nap_params nap;
} drone_model;

typedef struct disturbance_model {
    vy_disturbance_def def;
    uint32_t first, last; // drones [first, last)
    uint64_t start, end;  // ticks [start, end)
    double scale;         // of an impulse: 1 / duration
    double keep, fresh;   // of the noise filter: x = keep x + fresh n
    uint32_t noise;       // slot of its first drone's filter in the state
    uint32_t index;       // in order of creation: keys its random stream
} disturbance_model;

typedef struct vy_model {
    double dt;
    uint64_t seed;
    surroundings env;
    turbulence_params turbulence;
    vy_nap_def nap;
    vy_planet_def planet;
    uint64_t turbulence_period, nap_period; // steps; 0: never
    uint32_t drone_count, drone_cap;
    uint32_t disturbance_count, disturbance_cap;
    uint32_t noise_count; // filters in the state
    drone_model *drones;
    disturbance_model *disturbances;
} vy_model;

/// The stages of a step, in order. Each reads the model and writes what comes last. (The controllers' stage,
/// which calls out, is in world_impl.h.)
void vy_disturbance_stage(const vy_model *m, uint64_t tick, noise_block *noise, body_loads *loads);
void vy_turbulence_stage(const vy_model *m, uint64_t tick, drone_block *drones);
void vy_nap_stage(const vy_model *m, uint64_t tick, const noise_block *noise, drone_block *drones,
                  ledger_block *ledger);
void vy_actuator_stage(const vy_model *m, const drone_block *drones, double (*speeds)[VY_ROTOR_CAP]);
void vy_plant_stage(const vy_model *m, const body_loads *loads, double (*speeds)[VY_ROTOR_CAP],
                    world_block *w, drone_block *drones);
void vy_sensor_stage(const vy_model *m, uint64_t tick, drone_block *drones);
void vy_estimator_stage(const vy_model *m, uint64_t tick, drone_block *drones);
uint32_t vy_dal_stage(const vy_model *m, uint64_t tick, drone_block *drones);
void vy_safety_stage(const vy_model *m, world_block *w, drone_block *drones);

/// No declared disturbance on drone `drone` exceeds this at ticks [tick, tick + count): force [N], torque [N
/// m].
void vy_disturbance_bound(const vy_model *m, uint64_t tick, uint64_t count, const noise_block *noise,
                          uint32_t drone, double *force, double *torque);

/// End the run unless it has ended already.
void vy_world_fail(world_block *w, vy_failure_reason reason, uint32_t drone, double value, double limit,
                   int field);

/// Are `count` values of a drone's state, from value `first` on, finite? If not the run ends, naming the
/// field.
int vy_check_finite(uint32_t drone, size_t first, size_t count, world_block *w, const drone_block *d);

/// What a controller of drone `d` may know.
vy_samples vy_drone_samples(const vy_model *m, uint64_t tick, const drone_block *d);

/// Is a period of `period` steps due at `tick`?
static inline int due(uint64_t tick, uint64_t period)
{
    if (period <= 1) return period == 1;
    if ((tick | period) >> 32 == 0)
        return (uint32_t)tick % (uint32_t)period == 0; // a short division is quicker
    return tick % period == 0;
}
