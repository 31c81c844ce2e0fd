// task.h - a scenario as a task to learn: actions of [-1, 1] in, observations and rewards out, many worlds at
// once.
//
// A task flies a batch. Per call it turns every action into an intent of its rung, holds it for some steps,
// and writes what the policy sees and what it is paid. World i has the bits that it has alone, whatever the
// number of worlds and threads. World axes are east, north, up; body axes forward, left, up; SI units.
#pragma once
#include "volery/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vy_task vy_task; ///< opaque; one owner; tasks are independent

/// Terms of a reward. A world's reward is the sum of weight * term, each term the mean over its drones.
#define VY_REWARD_LIST(X)                                                                                \
    X(VY_REWARD_ALIVE, "alive", "1 in every step")                                                       \
    X(VY_REWARD_DISTANCE, "distance", "distance to the target, in scales [m]")                           \
    X(VY_REWARD_PROXIMITY, "proximity", "1 / (1 + (distance / scale)^2), scale [m]")                     \
    X(VY_REWARD_PROGRESS, "progress", "by how much the distance to the target shrank, in scales [m]")    \
    X(VY_REWARD_ARRIVAL, "arrival", "1 in the step that reaches a goal")                                 \
    X(VY_REWARD_SPEED, "speed", "square of the velocity relative to the target's, in scales [m/s]")      \
    X(VY_REWARD_RATE, "rate", "square of the body rate, in scales [rad/s]")                              \
    X(VY_REWARD_TILT, "tilt", "1 - cos(tilt)")                                                           \
    X(VY_REWARD_YAW, "yaw", "square of the yaw relative to the target's, wrapped, in scales [rad]")      \
    X(VY_REWARD_ACTION, "action", "sum of the squares of the action, but for its collective thrust")     \
    X(VY_REWARD_ACTION_CHANGE, "action_change", "sum of the squares of the change from the last action") \
    X(VY_REWARD_CLEARANCE, "clearance",                                                                  \
      "max(0, 1 - distance to the nearest other drone / scale), scale [m]")                              \
    X(VY_REWARD_FAILURE, "failure", "1 in the step that ends the episode by a limit, a crash or a failure")

typedef enum vy_reward_kind {
#define X(name, word, text) name,
    VY_REWARD_LIST(X)
#undef X
        VY_REWARD_COUNT
} vy_reward_kind;

typedef struct vy_reward_term {
    vy_reward_kind kind;
    double weight; ///< finite; below 0 for what is a cost
    double scale;  ///< > 0: what counts as 1
} vy_reward_term;

/// What an observation may have beside fields of the state: name, values, what.
#define VY_OBSERVED_LIST(X)                                                                              \
    X(VY_OBSERVED_TARGET, "target", 3, "from the drone to its target [m], world axes")                   \
    X(VY_OBSERVED_TARGET_VELOCITY, "target_velocity", 3, "of the target [m/s], world axes")              \
    X(VY_OBSERVED_NEXT_TARGET, "next_target", 3, "from the drone to the goal after the present one [m]") \
    X(VY_OBSERVED_GATE, "gate", 3, "unit vector through the present goal, world axes")                   \
    X(VY_OBSERVED_GOALS_LEFT, "goals_left", 1, "of all goals, 0 to 1")                                   \
    X(VY_OBSERVED_ROTATION, "rotation", 9, "rotation matrix from body to world, row by row")             \
    X(VY_OBSERVED_ACTION, "action", 0, "the last action; as many values as it has")                      \
    X(VY_OBSERVED_OTHERS, "others", 0, "from the drone to each of the others [m], world axes")           \
    X(VY_OBSERVED_TIME, "time", 1, "of the episode, 0 to 1; seconds where it has no end")

/// What a drone is to fly to.
typedef enum vy_target_kind {
    VY_TARGET_REFERENCE, ///< the scenario's setpoints or path at the time; without either, where it starts
    VY_TARGET_GOALS,     ///< goals in order; one is reached within goal_radius
    VY_TARGET_GATES,     ///< likewise, reached by crossing its disc of goal_radius from behind
} vy_target_kind;

typedef struct vy_task_def {
    uint32_t cookie;             ///< set by the default function
    const vy_scenario *scenario; ///< what every world is; copied
    uint32_t world_count;        ///< 1 to 2^24
    uint64_t seed;               ///< world i is a world of seed + i
    uint32_t threads;            ///< 0: one per core
    vy_rung rung;                ///< what actions speak; not VY_RUNG_NONE
    uint32_t steps;              ///< [steps] of the world that an action is held for, >= 1
    uint64_t episode;            ///< [actions] after which an episode is cut off; 0: never
    double action_min[VY_ROTOR_CAP], action_max[VY_ROTOR_CAP]; ///< of the rung's values at -1 and 1; all 0:
                                                               ///< see vy_task_action_range()
    int randomisation_count;
    vy_randomisation randomisation[VY_RANDOMISATION_CAP];
    int observe_count; ///< parts of an observation, in this order
    const char
        *observe[VY_OBSERVE_CAP]; ///< names of VY_OBSERVED_LIST, or of fields of the state as of vy_batch_def
    double observation_max;       ///< observations are clipped to it; 0: not
    int reward_count;
    vy_reward_term reward[VY_REWARD_COUNT];
    vy_target_kind target; ///< what each drone is to fly to
    uint32_t goal_count;   ///< of each drone; 0 with VY_TARGET_REFERENCE
    const double
        *goals; ///< [drones][goal_count][3] [m] of every world's episodes; NULL: all 0, for the caller to set
    double goal_radius;    ///< [m] > 0 with goals
    int goals_repeat;      ///< 1: after the last goal comes the first; 0: the last one stays
    int goals_end;         ///< 1: the episode ends when every drone has reached all its goals
    double separation_min; ///< [m] two drones nearer than this end the episode; 0: none
} vy_task_def;

/// One world, the rates rung, actions of 10 steps, episodes of 1,000 actions, target, velocity, rotation and
/// rate observed and clipped to 20, a reward for proximity (scale 0.5 m) less 0.05 (rate / 10)^2 and 0.02
/// action^2.
vy_task_def vy_default_task_def(void);

/// Create a task; its worlds are at the start of their first episode.
/// @return VY_BAD_VALUE, VY_NOT_FOUND (a name of `observe`), VY_NO_MEMORY; `*out` is NULL then
vy_status vy_task_create(const vy_task_def *def, vy_task **out, vy_error *err);
void vy_task_destroy(vy_task *task); ///< NULL is a no-op

/// The task's own arrays, read and written in place between calls. Rows are worlds.
typedef struct vy_task_view {
    uint32_t worlds, drones;
    uint32_t action_size;      ///< values per drone; on the attitude rung thrust, roll, pitch, yaw
    uint32_t observation_size; ///< values per drone
    double *actions;           ///< [worlds][drones][action_size]; clipped to [-1, 1]
    float *observations;       ///< [worlds][drones][observation_size]: as after the last step or reset
    double *rewards;           ///< [worlds] of the last step
    uint8_t *terminated;       ///< [worlds] 1: ended by a limit, a failure, or because the task is done
    uint8_t *truncated;        ///< [worlds] 1: cut off at its length, and not terminated
    uint64_t *seeds;           ///< [worlds] of the episode
    uint64_t *episode_steps;   ///< [worlds] actions done in the episode
    double *goals;             ///< [worlds][drones][goal_count][3]; may be set after a reset
    uint32_t *goal_index;      ///< [worlds][drones] goals reached in the episode
} vy_task_view;

/// Where the arrays are. They stay there as long as the task.
vy_task_view vy_task_get_view(const vy_task *task);

/// Take one action in every world that has not ended by a failure or its length.
/// @return VY_BAD_VALUE if an action is not finite: then nothing has moved
vy_status vy_task_step(vy_task *task, vy_error *err);

/// Start the next episode of the worlds with selected[i] not 0 (NULL: all); with seeds, those of fresh
/// worlds, as vy_batch_reset(). Goals are the def's again.
void vy_task_reset(vy_task *task, const uint8_t *selected, const uint64_t *seeds);

/// Rewrite observations, after the caller has changed goals.
void vy_task_observe(vy_task *task);

/// The worlds themselves, to read, save and record. Belongs to the task: step and reset it through the task
/// alone.
vy_batch *vy_task_batch(const vy_task *task);

/// What actions of -1 and 1 mean on a rung for the first drone of a scenario, where the def does not say it:
/// motors 0 to 1; thrust none to full; torques half of what the rotors can; rates 8, 8, 4 rad/s; roll and
/// pitch 0.6 rad, yaw pi; velocities 3, 3, 2 m/s and 2 rad/s; sticks their whole way. `min` and `max` have
/// VY_ROTOR_CAP values.
/// @return how many values an action has
int vy_task_action_range(const vy_scenario *scenario, vy_rung rung, double *min, double *max);

/// Name of a term of a reward, and of what can be observed; NULL beyond the last.
const char *vy_reward_name(int kind);
const char *vy_observed_name(int index);

#ifdef __cplusplus
}
#endif
