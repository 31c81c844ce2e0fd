// model.h - the constants of a world: what a step reads and never writes. Over `real`.
#pragma once
#include "control/geometric.h"
#include "estimators/fading.h"
#include "base/assert.h"
#include "control/reference.h"
#include "equations/motor.h"
#include "equations/multirotor.h"
#include "equations/rotor_wake.h"
#include "volery/fault.h"
#include "vehicle/drive.h"
#include "volery/obstacle.h"
#include "world/state.h"

/// Constants of one drone that may differ from world to world of a batch. Cells alone, as in state.h.
typedef struct drone_params {
    multirotor_params plant;
    motor_params motor;
    imu_params imu;
    mocap_params mocap;
    fading_params fading;
    ladder_params ladder;
    autopilot_params autopilot;
    nap_params nap;
    battery_params battery;
    real battery_start; // [A s]
    vec3 home;          // [m] held when no setpoint is declared
    real home_yaw;      // [rad] likewise
} drone_params;

/// Where a drone's estimate comes from: the filter of constant gains in every lane, the truth, or the filter
/// of its sensor suite.
enum { ESTIMATE_FADING, ESTIMATE_TRUTH, ESTIMATE_FILTER };

/// Constants of one drone that are the same in every world of a batch; one layout for every lane width.
/// Periods are whole numbers of steps; 0 is never.
typedef struct drone_model {
    rotor_layout layout;
    uint64_t imu_period, mocap_period, control_period, rate_period;
    int estimate_source; // source of the estimate
    vy_controller_def controller;
    path_model path;
    int has_drive; // its vehicle declares a drive
    flight_limits_model drive;
    vy_safety_def safety;
    uint64_t sustain;       // steps a limit may be exceeded
    double cos_tilt_max;    // of the largest tilt that `safety` allows
    int ground_point_count; // points that could touch the ground, from the centre of mass [m]
    vy_vec3 ground_points[VY_ROTOR_CAP + VY_COLLISION_POINT_CAP];
    int holder;        // what holds it; it is stepped together with that
    double wake_width; // [m] diameter of a disc as large as all rotors together; 0: it has no wake
    double wake_exit;  // [m/s] 2 v_h at full thrust
    vy_crash_def crash;
    int was_open_loop; // its motors' commands do not depend on the motion, but for a fault that was injected
#define DRONE_BLOCK(id, name, list, member, text) int has_##name; // it needs such a block
#include "world/blocks.inl"
    uint32_t sensor_suite; // which of the sensor suites it has, from 1; 0: none
} drone_model;

/// What holds a drone or body.
enum { HELD_BY_NOTHING, HELD_BY_JOINT, HELD_BY_CARRIER };

/// Constants of a body that is no drone. It has no rotors: those of `plant` are zero.
typedef struct body_model {
    multirotor_params plant;
    nap_params nap;
    vy_crash_def crash;
    int holder; // what holds it; it is stepped together with that
} body_model;

/// One layout for every lane width.
typedef struct disturbance_model {
    vy_disturbance_def def;
    uint32_t first, last;     // drones and bodies [first, last)
    uint64_t start, end;      // ticks [start, end)
    double scale;             // of an impulse: 1 / duration
    double decay, noise_gain; // of the noise filter: x = decay x + noise_gain n
    uint32_t noise;           // slot of its first drone's filter in the state
    uint32_t index;           // in order of creation: keys its random stream
} disturbance_model;

typedef struct fault_model {
    vy_fault_def def;
    uint32_t first, last;          // drones [first, last)
    uint32_t index;                // in order of creation: keys its random stream
    uint64_t start, length;        // ticks
    uint64_t spread, every;        // ticks; 0: none
    uint64_t delay, period;        // of a delay: calls; ticks from one to the next
    uint32_t line;                 // the first number of its delay lines in the state, one line per drone
    uint32_t width;                // values of what it delays
    double decay_half, decay_full; // of a motor's lag
    double speed_scale;            // of a motor's speed
} fault_model;

/// How many of the model's lists are from injections, each behind the declared ones, and what the air was
/// without.
typedef struct injected_model {
    uint32_t disturbance_count, fault_count, gust_count;
    int had_wind, was_steady; // has_wind and steady of the environment
} injected_model;

/// A drone in the search for wakes: scratch.
typedef struct wake_entry {
    int64_t column, row; // of the grid
    uint32_t drone;
    wake_source source;
} wake_entry;

typedef struct vy_model {
    double dt; // [s] length of a step
    bits seed;
    environment_model env;
    turbulence_params turbulence;
    vy_nap_def nap;
    vy_planet_def planet;
    vy_engine_def physics; // its integrator is the present one
    int strict_rk4;        // plant_is_strict_rk4() and no loads are kept: true of nearly every world
    uint64_t turbulence_period, nap_period; // steps; 0: never
    vy_wakes_def wakes;
    uint64_t wake_period;                                         // steps
    double wake_max;                                              // [m/s] no wake is faster
#define DRONE_BLOCK(id, name, list, member, text) int has_##name; // the drones have such blocks
#include "world/blocks.inl"
    int has_sinusoid; // some disturbance moves within a step
    int has_loop;     // a budget is kept in some drone's closed loop
    int has_recorded; // some drone's controller is a recorded flight
    int has_prestep;  // something runs before the plant: contacts, an energy account, loads
    // How many there are, and how many there is room for (_cap).
    uint32_t drone_count, drone_cap;
    uint32_t passive_count, passive_cap; // bodies that are no drones: none in lanes
    uint32_t disturbance_count, disturbance_cap;
    uint32_t noise_count; // filters in the state
    uint32_t fault_count, fault_cap;
    uint32_t injection_count, injection_cap;
    injected_model injected;
    uint32_t joint_count, joint_cap;
    int has_gears; // some joint is a gear
    uint32_t payload_count, payload_cap;
    uint32_t obstacle_count, obstacle_cap;
    uint32_t trigger_count, trigger_cap; // of those, triggers
    int collides;                        // 0: no collision
    int sleep_enabled;                   // 1: bodies at rest sleep
    uint32_t sensor_suite_count, sensor_suite_cap;
    uint32_t sensor_counts[SENSOR_KINDS];     // of the sensor suites, those with that sensor
    uint32_t filter_count;                    // of the sensor suites, those with a filter
    uint32_t kalman_count, gate_count;        // of those, the ones with a covariance, and with a gate
    uint32_t delay_count, delay_cap;          // numbers of delay lines in the state
    struct sensor_suite_model *sensor_suites; // world/sensor_suite.h
    drone_model *drones;
    drone_params *params; // of each drone
    body_model *passive;
    disturbance_model *disturbances;
    fault_model *faults;
    payload_model *payloads;
    const double *ground_heights; // [m] height of the ground below each drone; NULL: z = 0
    load_parts *loads_at_start;   // of the last step, of each drone and body; NULL: not kept
} vy_model;

/// Update the wakes that act on each drone, when due. One world at a time: drones are searched on a grid.
void vy_rotor_wake_stage(const vy_model *m, uint64_t tick, const drone_block *drones, wake_entry *entries,
                         powertrain_block *powertrain);

/// The same for bodies, which have no rotors, from the entries of that search.
void vy_rotor_wake_bodies(const vy_model *m, uint64_t tick, const wake_entry *entries,
                          const body_block *passive, body_wake_block *wakes);

/// Drones and bodies are numbered together, drones first: by order of creation, and so are random streams
/// and contacts.
VY_FN uint32_t body_count(const vy_model *m)
{
    return VY_BASIC_OR(1u, m->drone_count) + VY_BASIC_OR(0u, m->passive_count);
}

VY_FN int plant_is_strict_rk4(const vy_engine_def *physics)
{
    return physics->engine == VY_ENGINE_STRICT && physics->integrator == VY_INTEGRATOR_RK4;
}

/// Time of `tick` [s].
VY_FN real time_of(const vy_model *m, bits tick) { return real_from_uint(tick) * m->dt; }

/// The ladder of drone `index`: on a planet with the gravity of where it believes to be, in `buffer`.
VY_FN const ladder_params *drone_ladder(const vy_model *m, uint32_t index, const estimator_state *e,
                                        ladder_params *buffer)
{
    const ladder_params *p = &m->params[index].ladder;
    if (!VY_BASIC_OR(0, m->env.gravity.frame.on)) return p;
    *buffer = *p;
    buffer->gravity = gravity_at(&m->env.gravity, e->position);
    return buffer;
}

/// The setpoint of drone `index` at `time`. `yaw` may be NULL.
VY_FN reference drone_reference(const vy_model *m, uint32_t index, real time, real *yaw)
{
    const vy_controller_def *c = &m->drones[index].controller;
    VY_ASSERT(index < m->drone_count && c->setpoint_count >= 0 && c->setpoint_count <= VY_SETPOINT_CAP);
    if (VY_BASIC_OR(0, c->path.kind != VY_PATH_SETPOINTS)) {
        trajectory_point p;
        path_at(&m->drones[index].path, &time, &p);
        reference r = reference_rest(p.d[0], p.yaw);
        r.velocity = p.d[1];
        r.acceleration = p.d[2];
        if (yaw != NULL) *yaw = p.yaw;
        return r;
    }
    if (VY_BASIC_OR(0, c->setpoint_count > 0))
        return reference_at(c->setpoints, c->setpoint_count, time, yaw);
    const drone_params *p = &m->params[index];
    if (yaw != NULL) *yaw = p->home_yaw;
    return reference_rest(p->home, p->home_yaw);
}

/// The same with all derivatives; between setpoints those above the acceleration count as zero.
VY_FN trajectory_point drone_trajectory(const vy_model *m, uint32_t index, real time)
{
    trajectory_point p;
    if (m->drones[index].controller.path.kind != VY_PATH_SETPOINTS) {
        path_at(&m->drones[index].path, &time, &p);
        return p;
    }
    const reference r = drone_reference(m, index, time, &p.yaw);
    p.d[0] = r.position;
    p.d[1] = r.velocity;
    p.d[2] = r.acceleration;
    p.d[3] = p.d[4] = vec3_zero();
    p.yaw_rate = p.yaw_acceleration = real_set(0.0);
    return p;
}

/// End the run in the lanes of `active`, unless it has ended already: over drone or body `body`.
VY_FN void world_fail(mask active, vy_failure_reason reason, uint32_t body, real value, real limit, int field,
                      world_block *w)
{
    const mask is_ending =
        active & (w->failure_reason == bits_set(VY_FAILURE_NONE)); // only the first is reported
    VY_ASSERT(reason > VY_FAILURE_NONE && reason <= VY_FAILURE_NO_MEMORY && field >= 0);
    w->failure_reason = bits_select(is_ending, bits_set((uint64_t)reason), w->failure_reason);
    w->failure_tick = bits_select(is_ending, w->tick, w->failure_tick);
    w->failure_body = bits_select(is_ending, bits_set(body), w->failure_body);
    w->failure_field = bits_select(is_ending, bits_set((uint64_t)field), w->failure_field);
    w->failure_value = real_select(is_ending, value, w->failure_value);
    w->failure_limit = real_select(is_ending, limit, w->failure_limit);
}
