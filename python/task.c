// task.c - tasks to learn as flat functions for Python's ctypes.
#include "binding.h"
#include "volery/task.h"
#include <string.h>

const char *task_reward_name(int kind) { return vy_reward_name(kind); }
const char *task_observed_name(int index) { return vy_observed_name(index); }

// `numbers`: worlds, seed, threads, rung, steps, episode, target, goals of each drone, goals_repeat,
// goals_end. `real_numbers`: observation_max, goal_radius, separation_min. `rewards`: kind, weight, scale for
// each term. `range`: action_min, then action_max, VY_ROTOR_CAP values each; NULL: those of the vehicle.
vy_task *task_create(const vy_scenario *scenario, const uint64_t *numbers, const double *real_numbers,
                     const double *randomisation, int randomisation_count, const char *const *observe,
                     int observe_count, const double *rewards, int reward_count, const double *range,
                     const double *goals)
{
    vy_error err = {0};
    vy_task *task = NULL;
    vy_task_def def = vy_default_task_def();
    def.scenario = scenario;
    def.world_count = numbers[0] < UINT32_MAX ? (uint32_t)numbers[0] : UINT32_MAX; // too many anyhow
    def.seed = numbers[1];
    def.threads = (uint32_t)numbers[2];
    def.rung = (vy_rung)numbers[3];
    def.steps = (uint32_t)numbers[4];
    def.episode = numbers[5];
    def.target = (vy_target_kind)numbers[6];
    def.goal_count = (uint32_t)numbers[7];
    def.goals_repeat = (int)numbers[8];
    def.goals_end = (int)numbers[9];
    def.observation_max = real_numbers[0];
    def.goal_radius = real_numbers[1];
    def.separation_min = real_numbers[2];
    def.goals = goals;
    def.randomisation_count = randomisation_count;
    for (int i = 0; i < randomisation_count && i < VY_RANDOMISATION_CAP; ++i) {
        const double *row = randomisation + 5 * i;
        def.randomisation[i] =
            (vy_randomisation){(vy_variable)row[0], (vy_distribution)row[1], row[2], row[3], (int)row[4]};
    }
    def.observe_count = observe_count;
    for (int i = 0; i < observe_count && i < VY_OBSERVE_CAP; ++i) def.observe[i] = observe[i];
    def.reward_count = reward_count;
    for (int i = 0; i < reward_count && i < VY_REWARD_COUNT; ++i)
        def.reward[i] =
            (vy_reward_term){(vy_reward_kind)rewards[3 * i], rewards[3 * i + 1], rewards[3 * i + 2]};
    if (range != NULL) {
        memcpy(def.action_min, range, sizeof def.action_min);
        memcpy(def.action_max, range + VY_ROTOR_CAP, sizeof def.action_max);
    }
    if (vy_task_create(&def, &task, &err) != VY_OK) return binding_fail(&err);
    return task;
}

void task_destroy(vy_task *task) { vy_task_destroy(task); }
vy_batch *task_batch(const vy_task *task) { return vy_task_batch(task); }

// worlds, drones, action_size, observation_size; then the addresses of the arrays.
void task_view(const vy_task *task, uint64_t out[13])
{
    const vy_task_view view = vy_task_get_view(task);
    const void *arrays[] = {view.actions, view.observations,  view.rewards, view.terminated, view.truncated,
                            view.seeds,   view.episode_steps, view.goals,   view.goal_index};
    out[0] = view.worlds;
    out[1] = view.drones;
    out[2] = view.action_size;
    out[3] = view.observation_size;
    for (int i = 0; i < 9; ++i) out[4 + i] = (uint64_t)(uintptr_t)arrays[i];
}

int task_step(vy_task *task)
{
    vy_error err;
    if (vy_task_step(task, &err) == VY_OK) return 0;
    (void)binding_fail(&err);
    return -1;
}

void task_reset(vy_task *task, const uint8_t *selected, const uint64_t *seeds)
{
    vy_task_reset(task, selected, seeds);
}

void task_observe(vy_task *task) { vy_task_observe(task); }
