// batch.h - many worlds of one scenario at once: drones side by side in vector registers, blocks of them on
// threads. Every world has the bits that vy_world_step gives it alone. Worlds with joints, faults or other
// stages that lanes lack are stepped one by one on the threads, behind the same calls.
#pragma once
#include "volery/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vy_batch vy_batch; ///< opaque; one owner; batches are independent

/// What may differ from world to world. `scale`: the drawn number multiplies the scenario's value; the others
/// are added to it.
#define VY_VARIABLE_LIST(X)                                             \
    X(VY_VARIABLE_MASS, "mass", 1)                                      \
    X(VY_VARIABLE_INERTIA, "inertia", 1)                                \
    X(VY_VARIABLE_THRUST, "thrust_coef", 1)                             \
    X(VY_VARIABLE_TORQUE, "torque_coef", 1)                             \
    X(VY_VARIABLE_LAG, "motor_lag", 1)                                  \
    X(VY_VARIABLE_DRAG, "drag", 1)           /* linear and quadratic */ \
    X(VY_VARIABLE_IMU_NOISE, "imu_noise", 1) /* noise, bias, drift */   \
    X(VY_VARIABLE_MOCAP_NOISE, "mocap_noise", 1)                        \
    X(VY_VARIABLE_WIND_X, "wind_x", 0) /* [m/s] */                      \
    X(VY_VARIABLE_WIND_Y, "wind_y", 0) /* [m/s] */                      \
    X(VY_VARIABLE_WIND_Z, "wind_z", 0) /* [m/s] */                      \
    X(VY_VARIABLE_X, "x", 0)           /* [m] start */                  \
    X(VY_VARIABLE_Y, "y", 0)           /* [m] */                        \
    X(VY_VARIABLE_Z, "z", 0)           /* [m] */                        \
    X(VY_VARIABLE_VELOCITY_X, "vx", 0) /* [m/s] start */                \
    X(VY_VARIABLE_VELOCITY_Y, "vy", 0) /* [m/s] */                      \
    X(VY_VARIABLE_VELOCITY_Z, "vz", 0) /* [m/s] */                      \
    X(VY_VARIABLE_ROLL, "roll", 0)     /* [rad] start, about body */    \
    X(VY_VARIABLE_PITCH, "pitch", 0)   /* [rad] */                      \
    X(VY_VARIABLE_YAW, "yaw", 0)       /* [rad] */                      \
    X(VY_VARIABLE_RATE_X, "rate_x", 0) /* [rad/s] start */              \
    X(VY_VARIABLE_RATE_Y, "rate_y", 0) /* [rad/s] */                    \
    X(VY_VARIABLE_RATE_Z, "rate_z", 0) /* [rad/s] */

typedef enum vy_variable {
#define X(name, text, scale) name,
    VY_VARIABLE_LIST(X)
#undef X
        VY_VARIABLE_COUNT
} vy_variable;

typedef enum vy_distribution {
    VY_DISTRIBUTION_UNIFORM,     ///< from a to b
    VY_DISTRIBUTION_NORMAL,      ///< mean a, standard deviation b; never farther than 6.34 b from the mean
    VY_DISTRIBUTION_LOG_UNIFORM, ///< uniform in the logarithm from a to b, both above 0
} vy_distribution;

/// One thing drawn again for every episode of every world, from the world's own random stream.
typedef struct vy_randomisation {
    vy_variable variable;
    vy_distribution distribution;
    double a, b; ///< of the distribution: see its kinds
    int drone;   ///< index into the drones, or VY_EVERY_DRONE: each draws for itself; wind is the world's
} vy_randomisation;

#define VY_RANDOMISATION_CAP 64
#define VY_OBSERVE_CAP       32

/// What happens to a world that has ended.
typedef enum vy_autoreset {
    VY_AUTORESET_OFF,  ///< it stays as it is until vy_batch_reset
    VY_AUTORESET_NEXT, ///< the next call of vy_batch_step starts its next episode, and does not step it
    VY_AUTORESET_SAME, ///< its next episode starts in the step that ended it; see vy_batch_view.finals
} vy_autoreset;

typedef enum vy_precision {
    VY_PRECISION_DOUBLE, ///< tier 0: the bits of vy_world_step
    VY_PRECISION_SINGLE, ///< tier 1: the same equations in floats, within tolerances (docs/performance.md)
} vy_precision;

typedef struct vy_batch_def {
    uint32_t cookie;             ///< set by the default function
    const vy_scenario *scenario; ///< what every world is; copied
    uint32_t world_count;        ///< 1 to 2^24
    uint64_t seed;               ///< world i is a world of seed + i
    uint32_t threads;            ///< that share the work, the caller's included; 0: one per core
    uint32_t lanes;         ///< worlds side by side: 1, 2, 4, 8; 0: the widest this CPU has. Same bits all
    vy_precision precision; ///< single: no chain, planet, rotor effects, batteries, thrusters; for GPUs
    int chain;              ///< 1: keep each world's chain of hashes (vy_batch_hash); costs about a half
    vy_rung rung;           ///< VY_RUNG_NONE: the scenario's controllers act; else actions of this rung do
    uint64_t episode_steps_max; ///< [steps] after which an episode is cut off; 0: never
    vy_autoreset autoreset;
    int randomisation_count;
    vy_randomisation randomisation[VY_RANDOMISATION_CAP]; ///< what is drawn for every episode
    int observe_count;                                    ///< fields of an observation, in this order
    const char *observe[VY_OBSERVE_CAP]; ///< names of drone fields (docs/log.md), as "body.position", or of a
                                         ///< sensor that every drone carries, as "baro.pressure"
} vy_batch_def;

/// No scenario, one world, seed 1, all cores, widest lanes, no chain, the scenario's controllers, no
/// autoreset, observations of position, velocity, attitude and rate.
vy_batch_def vy_default_batch_def(void);

/// Create a batch; its worlds are at tick 0. A controller that is not built in needs VY_RUNG_NONE replaced by
/// a rung: actions then act in place of its replies, taken at the end of every step as a callback's reply
/// would be.
/// @return VY_BAD_VALUE, VY_NOT_FOUND (a field; single precision in a library without it), VY_NO_MEMORY;
/// `*out` is NULL then
vy_status vy_batch_create(const vy_batch_def *def, vy_batch **out, vy_error *err);
void vy_batch_destroy(vy_batch *batch); ///< NULL is a no-op

/// The batch's own arrays, to be read and written in place between calls. Rows are worlds.
typedef struct vy_batch_view {
    uint32_t worlds, drones;
    uint32_t action_size;      ///< values per drone; 0 when the scenario's controllers act
    uint32_t observation_size; ///< values per drone
    double *actions;           ///< [worlds][drones][action_size]: the values of the rung, thrust first; those
                               ///< of drones without a controller are not read
    double *observations;      ///< [worlds][drones][observation_size]: as after the last step or reset
    double *final_observations; ///< the same of an episode's last moment, where one ended in the last step
    uint8_t *terminated;        ///< [worlds] 1: a limit or a failure ended the episode in the last step
    uint8_t *truncated;         ///< [worlds] 1: the episode was cut off at its length
    uint64_t *ticks;            ///< [worlds] steps done in the episode
    uint64_t *seeds;            ///< [worlds] of the episode
} vy_batch_view;

/// Where the arrays are. They stay there as long as the batch.
vy_batch_view vy_batch_get_view(const vy_batch *batch);

/// Advance every world that has not ended by `steps` steps under the actions as they now are.
void vy_batch_step(vy_batch *batch, uint64_t steps);

/// Start the next episode of the worlds with selected[i] not 0 (NULL: all). With seeds the episode of world i
/// is that of a fresh world of seed seeds[i]. A standalone world for which there is no memory stays
/// truncated.
void vy_batch_reset(vy_batch *batch, const uint8_t *selected, const uint64_t *seeds);

/// One field of the state of drone `drone` in place: value k of world w is at
/// first[(w / lanes) * block + k * lanes + w % lanes].
typedef struct vy_cells {
    double *first;
    uint32_t count; ///< values of the field
    uint32_t lanes;
    size_t block; ///< values from one block of worlds to the next
} vy_cells;

/// @return VY_NOT_FOUND for a name that is no field of a drone or a drone that is not there
vy_status vy_batch_cells(const vy_batch *batch, uint32_t drone, const char *field, vy_cells *out,
                         vy_error *err);

/// Hash of the last step of a world, chained to those before it: vy_world_hash. 0 unless the def enables it.
uint64_t vy_batch_hash(const vy_batch *batch, uint32_t world);
/// Hash of a world's state alone: vy_world_state_hash.
uint64_t vy_batch_state_hash(const vy_batch *batch, uint32_t world);

/// Snapshots of one world, interchangeable with those of vy_world_save: a world of vy_batch_scenario() goes
/// on from there, and back. The size depends on the contacts of the world at the moment.
size_t vy_batch_state_size(const vy_batch *batch, uint32_t world);
void vy_batch_save(const vy_batch *batch, uint32_t world, void *block);
vy_status vy_batch_restore(vy_batch *batch, uint32_t world, const void *block, size_t size, vy_error *err);

/// The scenario of one world's present episode, with its seed and everything that was drawn for it: print it,
/// build it, record it. Release with vy_scenario_destroy().
vy_status vy_batch_scenario(const vy_batch *batch, uint32_t world, vy_scenario **out, vy_error *err);

/// The kernel that runs it: "avx512", "avx2", "lanes2", "scalar", "single"; "worlds" for standalone worlds;
/// and on how many threads.
const char *vy_batch_kernel(const vy_batch *batch);
uint32_t vy_batch_threads(const vy_batch *batch);
/// Bytes taken at creation.
size_t vy_batch_memory(const vy_batch *batch);

/// Name of a variable, as in the list above; NULL beyond the last.
const char *vy_variable_name(int variable);

#ifdef __cplusplus
}
#endif
