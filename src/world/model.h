// model.h - everything of a world that stays: what step.h reads and never writes. Over `real`.
#pragma once
#include "control/geometric.h"
#include "base/assert.h"
#include "control/reference.h"
#include "equations/motor.h"
#include "equations/multirotor.h"
#include "equations/rotor_wake.h"
#include "volery/fault.h"
#include "volery/obstacle.h"
#include "world/state.h"

/// Constants of one drone that may differ from world to world of a batch. Cells alone, as in state.h.
typedef struct drone_params {
    multirotor_params plant;
    motor_params motor;
    imu_params imu;
    mocap_params mocap;
    estimator_params estimator;
    ladder_params ladder;
    autopilot_params autopilot;
    nap_params nap;
    battery_params battery;
    real battery_start; // [A s]
    vec3 home;          // [m] held when no setpoint is declared
    real home_yaw;
} drone_params;

/// A vehicle's drive in steps.
typedef struct drive_model {
    vy_drive_def def;
    double cos_tilt, sin_tilt;     // of the largest tilt; 0: none
    double slew;                   // of a command, per lowering; 0: no limit
    uint64_t deadline, rotor_loss; // steps; 0: never
    uint64_t held;                 // steps after which a landing drone that is held has landed
} drive_model;

enum { BELIEF_FADING, BELIEF_TRUTH, BELIEF_FILTER };

/// Constants of one drone that are the same in every world of a batch; one layout for every lane width.
/// Periods are whole numbers of steps; 0 is never.
typedef struct drone_model {
    rotor_layout layout;
    uint64_t imu_period, mocap_period, control_period, rate_period;
    int belief; // who makes the estimate
    vy_controller_def controller;
    path_model path;
    int driven; // its vehicle declares a drive
    drive_model drive;
    vy_safety_def safety;
    uint64_t sustain; // steps a limit may be exceeded
    double cos_tilt_max;
    int foot_count; // points that could touch the ground, from the centre of mass [m]
    vy_vec3 feet[VY_ROTOR_CAP + VY_COLLISION_POINT_CAP];
    int held;          // by what: it is stepped with that
    double wake_width; // [m] diameter of a disc as large as all rotors together; 0: it has no wake
    double wake_exit;  // [m/s] 2 v_h at full thrust
    int geared;        // needs a gear_block: rotors in the air or a battery
    vy_crash_def crash;
    int guarded;  // needs a guard_block: a drive, or limits that few have
    uint32_t kit; // which of the kits it has, from 1; 0: none
} drone_model;

enum { HELD_BY_NOTHING, HELD_BY_JOINT, HELD_BY_CARRIER };

/// A load and who carries it: drones.
typedef struct payload_model {
    uint32_t carrier, load;
    uint64_t attach, drop; // ticks
    vec3 place;            // [m] from the carrier's own centre of mass, where it is to be taken up
    double reach;          // [m]
    int release;           // the carrier's controller may let it go
    int bit;               // by which bit of its wish: its number among the carrier's
} payload_model;

/// One layout for every lane width.
typedef struct disturbance_model {
    vy_disturbance_def def;
    uint32_t first, last; // drones [first, last)
    uint64_t start, end;  // ticks [start, end)
    double scale;         // of an impulse: 1 / duration
    double keep, fresh;   // of the noise filter: x = keep x + fresh n
    uint32_t noise;       // slot of its first drone's filter in the state
    uint32_t index;       // in order of creation: keys its random stream
} disturbance_model;

typedef struct fault_model {
    vy_fault_def def;
    uint32_t first, last;          // drones [first, last)
    uint32_t index;                // in order of creation: keys its random stream
    uint64_t start, length;        // ticks
    uint64_t spread, every;        // ticks; 0: none
    uint64_t delay, period;        // of a delay: calls; ticks from one to the next
    uint32_t line;                 // its first place in the state's lines
    uint32_t places;               // per drone
    double decay_half, decay_full; // of a motor's lag
    double speed_share;            // of a motor's speed
} fault_model;

/// A drone in the search for wakes: scratch.
typedef struct wake_entry {
    int64_t column, row; // of the grid
    uint32_t drone;
    wake_source source;
} wake_entry;

typedef struct vy_model {
    double dt;
    bits seed;
    surroundings env;
    turbulence_params turbulence;
    vy_nap_def nap;
    vy_planet_def planet;
    vy_engine_def physics;                  // its integrator is the present one
    int usual;                              // plant_is_usual(): what nearly every world has
    uint64_t turbulence_period, nap_period; // steps; 0: never
    vy_wakes_def wakes;
    uint64_t wake_period;
    double wake_most; // [m/s] no wake is faster
    int geared;       // the drones have gear_blocks
    int guarded;      // the drones have guard_blocks
    int thrusting;    // the drones have thruster_blocks
    uint32_t drone_count, drone_cap;
    uint32_t disturbance_count, disturbance_cap;
    uint32_t noise_count; // filters in the state
    uint32_t fault_count, fault_cap;
    uint32_t line_count, line_cap; // places of delay lines in the state
    uint32_t joint_count;
    uint32_t payload_count, payload_cap;
    uint32_t obstacle_count, obstacle_cap;
    uint32_t contact_cap; // 0: drones pass through everything
    int sleeps;           // 1: bodies at rest do
    uint32_t kit_count, kit_cap;
    uint32_t filter_count;           // of the kits, those with a Kalman filter
    uint32_t gate_count;             // of those, the ones with a gate
    uint32_t delay_count, delay_cap; // numbers on their way in the state
    struct kit_model *kits;          // world/kit.h
    drone_model *drones;
    drone_params *params; // of each drone
    disturbance_model *disturbances;
    fault_model *faults;
    payload_model *payloads;
    const double *grounds; // [m] height of what is below each drone; NULL: z = 0
} vy_model;

/// Look at who is in whose wake, when it is due. One world at a time: drones are searched on a grid.
void vy_rotor_wake_stage(const vy_model *m, uint64_t tick, const drone_block *drones, wake_entry *entries,
                         gear_block *gear);

/// Is a period of `period` steps due at `tick`?
VY_FN mask due(bits tick, uint64_t period)
{
    if (period <= 1) return mask_set(period == 1);
#if VY_LANES == 1
    if ((tick | period) >> 32 == 0)
        return (uint32_t)tick % (uint32_t)period == 0; // a short division is quicker
    return tick % period == 0;
#else
    // The nearest multiple is the right one where there is one, for ticks below 2^50.
    const real t = real_of_whole(tick);
    return t - real_round(t * (1.0 / (double)period)) * (double)period == 0.0;
#endif
}

VY_FN int plant_is_usual(const vy_engine_def *physics)
{
    return physics->engine == VY_ENGINE_STRICT && physics->integrator == VY_INTEGRATOR_RK4;
}

/// Time of `tick` [s].
VY_FN real time_of(const vy_model *m, bits tick) { return real_of_whole(tick) * m->dt; }

/// Where drone `index` is wanted at `time`. `yaw` may be NULL.
VY_FN reference drone_reference(const vy_model *m, uint32_t index, real time, real *yaw)
{
    const vy_controller_def *c = &m->drones[index].controller;
    VY_ASSERT(index < m->drone_count && c->setpoint_count >= 0 && c->setpoint_count <= VY_SETPOINT_CAP);
    if (c->path.kind != VY_PATH_SETPOINTS) {
        trajectory_point p;
        path_at(&m->drones[index].path, &time, &p);
        reference r = reference_rest(p.d[0], p.yaw);
        r.velocity = p.d[1];
        r.acceleration = p.d[2];
        if (yaw != NULL) *yaw = p.yaw;
        return r;
    }
    if (c->setpoint_count > 0) return reference_at(c->setpoints, c->setpoint_count, time, yaw);
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

/// End the run in the lanes of `who`, unless it has ended already.
VY_FN void world_fail(mask who, vy_failure_reason reason, uint32_t drone, real value, real limit, int field,
                      world_block *w)
{
    const mask now = who & (w->failure_reason == bits_set(VY_FAILURE_NONE)); // the first one is reported
    VY_ASSERT(reason > VY_FAILURE_NONE && reason <= VY_FAILURE_FENCE && field >= 0);
    w->failure_reason = bits_select(now, bits_set((uint64_t)reason), w->failure_reason);
    w->failure_tick = bits_select(now, w->tick, w->failure_tick);
    w->failure_drone = bits_select(now, bits_set(drone), w->failure_drone);
    w->failure_field = bits_select(now, bits_set((uint64_t)field), w->failure_field);
    w->failure_value = real_select(now, value, w->failure_value);
    w->failure_limit = real_select(now, limit, w->failure_limit);
}
