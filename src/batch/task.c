// task.c - a task over a batch: actions to intents, states to observations and rewards.
#include "volery/task.h"
#include "base/assert.h"
#include "base/fail.h"
#include "batch/batch_cells.h"
#include "batch/task_terms.h"
#include "vehicle/allocation.h"
#include <stdlib.h>

#define TASK_COOKIE 0x7461736bu

// The state that every term starts from stands first in a row of the batch's observations.
enum { BASE_FIELDS = 4, AT_POSITION = 0, AT_VELOCITY = 3, AT_ATTITUDE = 6, AT_RATE = 10, BASE_SIZE = 13 };

typedef enum observed_kind {
#define X(name, word, size, text) name,
    VY_OBSERVED_LIST(X)
#undef X
        OBSERVED_FIELD, // of the state
    OBSERVED_COUNT = OBSERVED_FIELD
} observed_kind;

typedef struct observation_part {
    observed_kind kind;
    uint32_t size;   // values
    uint32_t column; // of a field: where it is in a row of the batch
} observation_part;

struct vy_task {
    vy_task_def def;
    vy_batch *batch;
    vy_task_view view;
    observation_part parts[VY_OBSERVE_CAP];
    double *goals;             // [drones][goal_count][3] of the def
    double *previous_position; // [worlds][drones][3] position when the action began
    double *previous_action;   // [worlds][drones][action_size], clipped
    double *clipped_action;    // likewise, of the step in flight
};

static const char *const reward_names[] = {
#define X(name, word, text) word,
    VY_REWARD_LIST(X)
#undef X
};

static const struct {
    const char *name;
    uint32_t size;
} observed_names[] = {
#define X(name, word, size, text) {word, size},
    VY_OBSERVED_LIST(X)
#undef X
};

const char *vy_reward_name(int kind)
{
    return kind >= 0 && kind < VY_REWARD_COUNT ? reward_names[kind] : NULL;
}

const char *vy_observed_name(int index)
{
    return index >= 0 && index < OBSERVED_COUNT ? observed_names[index].name : NULL;
}

vy_task_def vy_default_task_def(void)
{
    return (vy_task_def){
        .cookie = TASK_COOKIE,
        .world_count = 1,
        .seed = 1,
        .rung = VY_RUNG_RATES,
        .steps = 10,
        .episode = 1000,
        .observe_count = 4,
        .observe = {"target", "body.velocity", "rotation", "body.rate"},
        .observation_max = 20.0,
        .reward_count = 3,
        .reward = {{VY_REWARD_PROXIMITY, 1.0, 0.5},
                   {VY_REWARD_RATE, -0.05, 10.0},
                   {VY_REWARD_ACTION, -0.02, 1.0}},
        .goal_radius = 0.2,
    };
}

// ---- actions

static double full_thrust(const vy_vehicle_def *v)
{
    double sum = 0.0;
    for (int i = 0; i < v->rotor_count; ++i) {
        const double rotor_coef = v->rotors[i].thrust_coef;
        sum += vy_rotor_thrust(v, v->speed_max) * (rotor_coef > 0.0 ? rotor_coef / v->thrust_coef : 1.0);
    }
    for (int i = 0; i < v->thruster_count; ++i) sum += v->thrusters[i].thrust_max;
    return sum;
}

// Half of the torque that the rotors can make about an axis: those of one sign at full thrust.
static double half_torque(const vy_vehicle_def *v, int axis)
{
    const double rotor_thrust = v->rotor_count > 0 ? full_thrust(v) / v->rotor_count : 0.0;
    double sum = 0.0;
    for (int i = 0; i < v->rotor_count; ++i) {
        const vy_vec3 r = v->rotors[i].position;
        const double lever = axis == 0 ? r.y : axis == 1 ? r.x : v->torque_coef / v->thrust_coef;
        sum += 0.5 * rotor_thrust * (lever < 0.0 ? -lever : lever);
    }
    return 0.5 * sum;
}

int vy_task_action_range(const vy_scenario *scenario, vy_rung rung, double *min, double *max)
{
    FPU_SCOPE;
    static const double largest[][4] = {
        [VY_RUNG_RATES] = {0.0, 8.0, 8.0, 4.0},
        [VY_RUNG_ATTITUDE] = {0.0, 0.6, 0.6, 3.141592653589793},
        [VY_RUNG_VELOCITY] = {3.0, 3.0, 2.0, 2.0},
        [VY_RUNG_PILOT] = {0.0, 1.0, 1.0, 1.0},
    };
    const vy_vehicle_def *v = &scenario->drones[0].def.vehicle;
    const int count = rung == VY_RUNG_MOTORS ? v->rotor_count + v->thruster_count : 4;
    for (int k = 0; k < VY_ROTOR_CAP; ++k) min[k] = max[k] = 0.0;
    for (int k = 0; k < count; ++k) {
        max[k] = 1.0;
        if (rung == VY_RUNG_MOTORS) continue;
        if (rung == VY_RUNG_WRENCH) max[k] = k > 0 ? half_torque(v, k - 1) : 0.0;
        if (rung > VY_RUNG_WRENCH) max[k] = largest[rung][k];
        min[k] = -max[k];
    }
    if (rung == VY_RUNG_PILOT) max[0] = 10.0;
    if (rung >= VY_RUNG_WRENCH && rung <= VY_RUNG_ATTITUDE) max[0] = full_thrust(v);
    return count;
}

static quat quat_of_angles(double roll, double pitch, double yaw)
{
    double s[3], c[3];
    math_sincos(0.5 * roll, &s[0], &c[0]);
    math_sincos(0.5 * pitch, &s[1], &c[1]);
    math_sincos(0.5 * yaw, &s[2], &c[2]);
    const quat about_x = quat_make(c[0], s[0], 0.0, 0.0), about_y = quat_make(c[1], 0.0, s[1], 0.0),
               about_z = quat_make(c[2], 0.0, 0.0, s[2]);
    return quat_mul(about_z, quat_mul(about_y, about_x));
}

// One drone's action as the values of the rung; the clipped action goes to `clipped`.
static void lower_action(const vy_task *task, const double *action, double *clipped, double *out)
{
    const vy_task_def *def = &task->def;
    double value[VY_ROTOR_CAP] = {0.0};
    VY_ASSERT(task->view.action_size <= VY_ROTOR_CAP);
    for (uint32_t k = 0; k < task->view.action_size; ++k) {
        clipped[k] = real_clamp(action[k], -1.0, 1.0);
        value[k] = def->action_min[k] + 0.5 * (clipped[k] + 1.0) * (def->action_max[k] - def->action_min[k]);
    }
    if (def->rung == VY_RUNG_PILOT) value[0] = real_round(value[0]); // a step from 0 to 10
    memcpy(out, value, task->view.action_size * sizeof *out);
    if (def->rung != VY_RUNG_ATTITUDE) return;
    const quat q = quat_of_angles(value[1], value[2], value[3]);
    out[1] = q.w;
    out[2] = q.x;
    out[3] = q.y;
    out[4] = q.z;
}

// ---- targets

static vec3 vec3_at(const double *v) { return vec3_make(v[0], v[1], v[2]); }

typedef struct target {
    vec3 position, velocity; // [m] [m/s] world
    double yaw;              // [rad]
} target;

static const double *goal_at(const vy_task *task, size_t drone_row, uint32_t goal_index)
{
    const uint32_t count = task->def.goal_count;
    VY_ASSERT(count > 0);
    uint32_t k = goal_index < count ? goal_index : count - 1;
    if (task->def.goals_repeat && count > 0) k = goal_index % count;
    return task->view.goals + (drone_row * count + k) * 3;
}

static target target_of(const vy_task *task, uint32_t world, uint32_t drone)
{
    const size_t row = (size_t)world * task->view.drones + drone;
    target t = {.velocity = vec3_zero(), .yaw = 0.0};
    if (task->def.target != VY_TARGET_REFERENCE) {
        t.position = vec3_at(goal_at(task, row, task->view.goal_index[row]));
        return t;
    }
    const vy_model *m = &task->batch->template_world->model;
    const vy_controller_def *c = &m->drones[drone].controller;
    if (c->path.kind == VY_PATH_SETPOINTS && c->setpoint_count == 0) {
        t.position = task->batch->scenario->drones[drone].def.position;
        t.yaw = yaw_of(task->batch->scenario->drones[drone].def.attitude);
        return t;
    }
    const reference r = drone_reference(m, drone, (double)task->batch->view.ticks[world] * m->dt, &t.yaw);
    t.position = r.position;
    t.velocity = r.velocity;
    return t;
}

// Along the way from the goal before to the one after.
static vec3 gate_normal(const vy_task *task, size_t row, uint32_t goal_index)
{
    const uint32_t previous_index = goal_index > 0           ? goal_index - 1
                                    : task->def.goals_repeat ? task->def.goal_count - 1
                                                             : 0;
    const vec3 goal_displacement =
        vec3_sub(vec3_at(goal_at(task, row, goal_index + 1)), vec3_at(goal_at(task, row, previous_index)));
    const double length = vec3_length(goal_displacement);
    return length > 0.0 ? vec3_scale(1.0 / length, goal_displacement) : vec3_make(1.0, 0.0, 0.0);
}

static int is_done(const vy_task *task, size_t row)
{
    return !task->def.goals_repeat && task->view.goal_index[row] >= task->def.goal_count;
}

static int has_arrived(const vy_task *task, size_t row, vec3 position_before, vec3 position_now)
{
    const uint32_t goal_index = task->view.goal_index[row];
    if (task->def.target == VY_TARGET_REFERENCE || is_done(task, row)) return 0;
    const vec3 goal = vec3_at(goal_at(task, row, goal_index));
    if (task->def.target == VY_TARGET_GOALS)
        return vec3_length(vec3_sub(goal, position_now)) < task->def.goal_radius;
    return task_crossed(position_before, position_now, goal, gate_normal(task, row, goal_index),
                        task->def.goal_radius);
}

// ---- outputs

static const double *state_row(const vy_task *task, uint32_t world, uint32_t drone)
{
    const vy_batch_view *v = &task->batch->view;
    return v->observations + ((size_t)world * v->drones + drone) * v->observation_size;
}

static double nearest_distance(const vy_task *task, uint32_t world, uint32_t drone)
{
    const vec3 own_position = vec3_at(state_row(task, world, drone));
    double min = 1e300;
    for (uint32_t k = 0; k < task->view.drones; ++k) {
        if (k == drone) continue;
        const double distance = vec3_length(vec3_sub(vec3_at(state_row(task, world, k)), own_position));
        if (distance < min) min = distance;
    }
    return min;
}

static float *write_vec3(vec3 v, float *out)
{
    out[0] = (float)v.x;
    out[1] = (float)v.y;
    out[2] = (float)v.z;
    return out + 3;
}

static double time_of_episode(const vy_task *task, uint32_t world)
{
    const double episode_steps = (double)task->view.episode_steps[world];
    if (task->def.episode > 0) return episode_steps / (double)task->def.episode;
    return episode_steps * (double)task->def.steps * task->batch->config.dt;
}

// What stands in an observation beside fields of the state.
static void observe_derived(const vy_task *task, const observation_part *o, uint32_t world, uint32_t drone,
                            float *out)
{
    const size_t row = (size_t)world * task->view.drones + drone;
    const double *state = state_row(task, world, drone);
    const vec3 position = vec3_at(state);
    const uint32_t goal_index = task->def.goal_count > 0 ? task->view.goal_index[row] : 0;
    switch (o->kind) {
    case VY_OBSERVED_TARGET:
        (void)write_vec3(vec3_sub(target_of(task, world, drone).position, position), out);
        break;
    case VY_OBSERVED_TARGET_VELOCITY: (void)write_vec3(target_of(task, world, drone).velocity, out); break;
    case VY_OBSERVED_NEXT_TARGET:
        (void)write_vec3(vec3_sub(vec3_at(goal_at(task, row, goal_index + 1)), position), out);
        break;
    case VY_OBSERVED_GATE: (void)write_vec3(gate_normal(task, row, goal_index), out); break;
    case VY_OBSERVED_GOALS_LEFT:
        out[0] = task->def.goals_repeat || goal_index >= task->def.goal_count
                     ? (float)(task->def.goals_repeat != 0)
                     : (float)(task->def.goal_count - goal_index) / (float)task->def.goal_count;
        break;
    case VY_OBSERVED_ROTATION: {
        const double *a = state + AT_ATTITUDE;
        const mat3 r = quat_matrix(quat_make(a[0], a[1], a[2], a[3]));
        for (int k = 0; k < 9; ++k) out[k] = (float)r.m[k / 3][k % 3];
        break;
    }
    case VY_OBSERVED_ACTION:
        for (uint32_t k = 0; k < o->size; ++k) out[k] = (float)task->previous_action[row * o->size + k];
        break;
    case VY_OBSERVED_OTHERS:
        for (uint32_t k = 0; k < task->view.drones; ++k)
            if (k != drone) out = write_vec3(vec3_sub(vec3_at(state_row(task, world, k)), position), out);
        break;
    case VY_OBSERVED_TIME: out[0] = (float)time_of_episode(task, world); break;
    default: break;
    }
}

static void observe_world(const vy_task *task, uint32_t world)
{
    const float limit = (float)task->def.observation_max;
    for (uint32_t d = 0; d < task->view.drones; ++d) {
        const double *state = state_row(task, world, d);
        float *const row_start = task->view.observations +
                                 ((size_t)world * task->view.drones + d) * task->view.observation_size,
                     *out = row_start;
        for (int k = 0; k < task->def.observe_count; ++k) {
            const observation_part *o = &task->parts[k];
            if (o->kind != OBSERVED_FIELD) observe_derived(task, o, world, d, out);
            for (uint32_t i = 0; o->kind == OBSERVED_FIELD && i < o->size; ++i)
                out[i] = (float)state[o->column + i];
            out += o->size;
        }
        for (float *value = row_start; limit > 0.0f && value < out; ++value)
            *value = *value > limit ? limit : *value < -limit ? -limit : *value;
    }
}

// Sums of squares of a drone's action and of its change, and the action becomes the previous one.
static void update_action_squares(const vy_task *task, size_t row, task_drone *d)
{
    const uint32_t size = task->view.action_size;
    const int has_thrust = task->def.rung >= VY_RUNG_WRENCH && task->def.rung <= VY_RUNG_ATTITUDE;
    d->action_squares = d->change_squares = 0.0;
    for (uint32_t k = 0; k < size; ++k) {
        const double action = task->clipped_action[row * size + k],
                     change = action - task->previous_action[row * size + k];
        if (!(has_thrust && k == 0)) d->action_squares += action * action;
        d->change_squares += change * change;
        task->previous_action[row * size + k] = action;
    }
}

// Reward and end of one world, from its state after an action.
static void reward_world(vy_task *task, uint32_t world)
{
    const vy_task_view *v = &task->view;
    const vy_batch_view *b = &task->batch->view;
    int all_done = task->def.goals_end && task->def.goal_count > 0, is_too_close = 0;
    double reward = 0.0;
    for (uint32_t i = 0; i < v->drones; ++i) {
        const size_t row = (size_t)world * v->drones + i;
        const double *state = state_row(task, world, i), *attitude = state + AT_ATTITUDE;
        const vec3 before = vec3_at(task->previous_position + 3 * row);
        const target t = target_of(task, world, i);
        task_drone d = {
            .position = vec3_at(state + AT_POSITION),
            .velocity = vec3_at(state + AT_VELOCITY),
            .rate = vec3_at(state + AT_RATE),
            .attitude = quat_make(attitude[0], attitude[1], attitude[2], attitude[3]),
            .target = t.position,
            .target_velocity = t.velocity,
            .target_yaw = t.yaw,
            .distance_before = vec3_length(vec3_sub(t.position, before)),
            .nearest_distance = nearest_distance(task, world, i),
            .has_failed = b->terminated[world],
        };
        d.has_arrived = has_arrived(task, row, before, d.position);
        update_action_squares(task, row, &d);
        for (int k = 0; k < task->def.reward_count; ++k) {
            const vy_reward_term *term = &task->def.reward[k];
            reward += term->weight * task_term(term->kind, term->scale, &d);
        }
        if (d.has_arrived > 0.0) v->goal_index[row] += 1;
        all_done = all_done && is_done(task, row);
        is_too_close = is_too_close || d.nearest_distance < task->def.separation_min;
        memcpy(task->previous_position + 3 * row, state, 3 * sizeof *state);
    }
    v->rewards[world] = reward / v->drones;
    v->episode_steps[world] += 1;
    v->terminated[world] = b->terminated[world] || all_done || is_too_close;
    v->truncated[world] = b->truncated[world] && !v->terminated[world];
}

static void finish_worlds(void *self, uint32_t thread, size_t first, size_t last)
{
    vy_task *task = self;
    const uint64_t fpu_state = fpu_enter();
    (void)thread;
    for (size_t i = first; i < last; ++i) {
        reward_world(task, (uint32_t)i);
        observe_world(task, (uint32_t)i);
    }
    fpu_leave(fpu_state);
}

vy_status vy_task_step(vy_task *task, vy_error *err)
{
    FPU_SCOPE;
    const vy_task_view *v = &task->view;
    const size_t row_count = (size_t)v->worlds * v->drones, batch_action_size = task->batch->view.action_size;
    for (size_t i = 0; i < row_count * v->action_size; ++i) {
        if (real_is_finite(v->actions[i])) continue;
        return vy_fail(err, VY_BAD_VALUE, "action %zu of drone %zu in world %zu is not finite",
                       i % v->action_size, i / v->action_size % v->drones, i / v->action_size / v->drones);
    }
    for (size_t row = 0; row < row_count; ++row)
        lower_action(task, v->actions + row * v->action_size, task->clipped_action + row * v->action_size,
                     task->batch->view.actions + row * batch_action_size);
    vy_batch_step(task->batch, task->def.steps);
    vy_pool_run(task->batch->pool, v->worlds, finish_worlds, task);
    return VY_OK;
}

void vy_task_observe(vy_task *task)
{
    FPU_SCOPE;
    for (uint32_t i = 0; i < task->view.worlds; ++i) observe_world(task, i);
}

static void begin_world(vy_task *task, uint32_t world)
{
    const vy_task_view *v = &task->view;
    const size_t row = (size_t)world * v->drones, goal_values = (size_t)v->drones * task->def.goal_count * 3;
    v->terminated[world] = 0;
    v->truncated[world] = task->batch->view.truncated[world]; // what was drawn for it cannot fly
    v->rewards[world] = 0.0;
    v->episode_steps[world] = 0;
    memset(v->goal_index + row, 0, v->drones * sizeof *v->goal_index);
    memset(task->previous_action + row * v->action_size, 0,
           (size_t)v->drones * v->action_size * sizeof(double));
    if (goal_values > 0) memcpy(v->goals + world * goal_values, task->goals, goal_values * sizeof *v->goals);
    for (uint32_t i = 0; i < v->drones; ++i)
        memcpy(task->previous_position + 3 * (row + i), state_row(task, world, i), 3 * sizeof(double));
    observe_world(task, world);
}

void vy_task_reset(vy_task *task, const uint8_t *selected, const uint64_t *seeds)
{
    FPU_SCOPE;
    vy_batch_reset(task->batch, selected, seeds);
    for (uint32_t i = 0; i < task->view.worlds; ++i)
        if (selected == NULL || selected[i]) begin_world(task, i);
}

vy_task_view vy_task_get_view(const vy_task *task) { return task->view; }
vy_batch *vy_task_batch(const vy_task *task) { return task->batch; }

// ---- creation

static vy_status check_def(const vy_task_def *def, vy_error *err)
{
    if (def->cookie != TASK_COOKIE || def->scenario == NULL)
        return vy_fail(err, VY_BAD_VALUE, "task: start from vy_default_task_def() and give a scenario");
    if (def->rung <= VY_RUNG_NONE || def->rung > VY_RUNG_PILOT)
        return vy_fail(err, VY_BAD_VALUE, "task: the rung of the actions must be one from motors to pilot");
    if (def->steps < 1) return vy_fail(err, VY_BAD_VALUE, "task: an action is held for at least 1 step");
    if (def->observe_count < 1 || def->observe_count > VY_OBSERVE_CAP - BASE_FIELDS)
        return vy_fail(err, VY_BAD_VALUE, "task: 1 to %d names to observe", VY_OBSERVE_CAP - BASE_FIELDS);
    if (def->reward_count < 0 || def->reward_count > VY_REWARD_COUNT)
        return vy_fail(err, VY_BAD_VALUE, "task: at most %d terms of a reward", VY_REWARD_COUNT);
    for (int k = 0; k < def->reward_count; ++k) {
        const vy_reward_term *t = &def->reward[k];
        if ((unsigned)t->kind >= VY_REWARD_COUNT)
            return vy_fail(err, VY_BAD_VALUE, "task: no such term of a reward");
        if (!real_is_finite(t->weight) || !(t->scale > 0.0) || !real_is_finite(t->scale))
            return vy_fail(err, VY_BAD_VALUE, "task: reward %s must have a finite weight and a scale above 0",
                           reward_names[t->kind]);
    }
    if (!(def->observation_max >= 0.0) || !(def->separation_min >= 0.0))
        return vy_fail(err, VY_BAD_VALUE, "task: observation_max and separation_min must be at least 0");
    if ((unsigned)def->target > VY_TARGET_GATES ||
        (def->target == VY_TARGET_REFERENCE) != (def->goal_count == 0))
        return vy_fail(err, VY_BAD_VALUE,
                       "task: goals and gates need at least one goal, a reference has none");
    if (def->goal_count > 0 && !(def->goal_radius > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "task: goal_radius must be above 0 m");
    for (int k = 0; k < VY_ROTOR_CAP; ++k)
        if (!real_is_finite(def->action_min[k]) || !real_is_finite(def->action_max[k]) ||
            def->action_min[k] > def->action_max[k])
            return vy_fail(err, VY_BAD_VALUE, "task: action_min must be finite and not above action_max");
    return VY_OK;
}

static int find_observed(const char *name)
{
    int k = 0;
    while (k < OBSERVED_COUNT && strcmp(observed_names[k].name, name) != 0) ++k;
    return k;
}

// The batch that the task flies: the base fields, then the fields that are observed.
static vy_status create_batch(vy_task *task, vy_error *err)
{
    static const char *const base_fields[BASE_FIELDS] = {"body.position", "body.velocity", "body.attitude",
                                                         "body.rate"};
    const vy_task_def *def = &task->def;
    vy_batch_def batch_def = vy_default_batch_def();
    batch_def.scenario = def->scenario;
    batch_def.world_count = def->world_count;
    batch_def.seed = def->seed;
    batch_def.threads = def->threads;
    batch_def.rung = def->rung;
    batch_def.episode_steps_max = def->episode * def->steps;
    batch_def.randomisation_count = def->randomisation_count;
    memcpy(batch_def.randomisation, def->randomisation, sizeof batch_def.randomisation);
    batch_def.observe_count = BASE_FIELDS;
    for (int k = 0; k < BASE_FIELDS; ++k) batch_def.observe[k] = base_fields[k];
    for (int k = 0; k < def->observe_count; ++k)
        if (find_observed(def->observe[k]) == OBSERVED_COUNT)
            batch_def.observe[batch_def.observe_count++] = def->observe[k];
    return vy_batch_create(&batch_def, &task->batch, err);
}

static vy_status set_observed(vy_task *task, vy_error *err)
{
    uint32_t column = BASE_SIZE;
    int batch_field = BASE_FIELDS;
    for (int k = 0; k < task->def.observe_count; ++k) {
        observation_part *o = &task->parts[k];
        const char *name = task->def.observe[k];
        o->kind = (observed_kind)find_observed(name);
        if (o->kind == OBSERVED_FIELD) {
            o->size = (uint32_t)task->batch->observed_fields[batch_field++].count;
            o->column = column;
            column += o->size;
        } else {
            o->size = observed_names[o->kind].size;
            if (o->kind == VY_OBSERVED_ACTION) o->size = task->view.action_size;
            if (o->kind == VY_OBSERVED_OTHERS) o->size = 3 * (task->view.drones - 1);
            const int needs_goals = o->kind == VY_OBSERVED_NEXT_TARGET || o->kind == VY_OBSERVED_GATE ||
                                    o->kind == VY_OBSERVED_GOALS_LEFT;
            if (needs_goals && task->def.goal_count == 0)
                return vy_fail(err, VY_BAD_VALUE, "task: %s can be observed only of a task with goals", name);
        }
        task->view.observation_size += o->size;
    }
    VY_ASSERT(column == task->batch->view.observation_size);
    return VY_OK;
}

static vy_status allocate_all(vy_task *task, vy_error *err)
{
    vy_task_view *v = &task->view;
    const size_t row_count = (size_t)v->worlds * v->drones, action_values = row_count * v->action_size,
                 goal_values = (size_t)v->drones * task->def.goal_count * 3;
    v->actions = calloc(action_values, sizeof(double));
    v->observations = calloc(row_count * v->observation_size + 1, sizeof(float));
    v->rewards = calloc(v->worlds, sizeof(double));
    v->terminated = calloc(v->worlds, 1);
    v->truncated = calloc(v->worlds, 1);
    v->episode_steps = calloc(v->worlds, sizeof(uint64_t));
    v->goals = calloc(v->worlds * goal_values + 1, sizeof(double));
    v->goal_index = calloc(row_count, sizeof(uint32_t));
    task->goals = calloc(goal_values + 1, sizeof(double));
    task->previous_position = calloc(3 * row_count, sizeof(double));
    task->previous_action = calloc(action_values, sizeof(double));
    task->clipped_action = calloc(action_values, sizeof(double));
    if (v->actions == NULL || v->observations == NULL || v->rewards == NULL || v->terminated == NULL ||
        v->truncated == NULL || v->episode_steps == NULL || v->goals == NULL || v->goal_index == NULL ||
        task->goals == NULL || task->previous_position == NULL || task->previous_action == NULL ||
        task->clipped_action == NULL)
        return vy_fail(err, VY_NO_MEMORY, "task: no memory for %u worlds", v->worlds);
    if (task->def.goals != NULL) memcpy(task->goals, task->def.goals, goal_values * sizeof *task->goals);
    return VY_OK;
}

static vy_status build_task(vy_task *task, vy_error *err)
{
    vy_task_def *def = &task->def;
    vy_status status = create_batch(task, err);
    if (status != VY_OK) return status;
    const vy_batch_view *b = &task->batch->view;
    double min[VY_ROTOR_CAP], max[VY_ROTOR_CAP];
    (void)vy_task_action_range(def->scenario, def->rung, min, max);
    int has_range = 0;
    for (int k = 0; k < VY_ROTOR_CAP; ++k)
        has_range |= def->action_min[k] != 0.0 || def->action_max[k] != 0.0;
    if (!has_range) {
        memcpy(def->action_min, min, sizeof min);
        memcpy(def->action_max, max, sizeof max);
    }
    task->view = (vy_task_view){.worlds = b->worlds, .drones = b->drones, .seeds = b->seeds};
    task->view.action_size = def->rung == VY_RUNG_ATTITUDE ? 4 : b->action_size;
    status = set_observed(task, err);
    if (status == VY_OK) status = allocate_all(task, err);
    for (uint32_t i = 0; status == VY_OK && i < task->view.worlds; ++i) begin_world(task, i);
    return status;
}

vy_status vy_task_create(const vy_task_def *def, vy_task **out, vy_error *err)
{
    FPU_SCOPE;
    *out = NULL;
    vy_status status = check_def(def, err);
    if (status != VY_OK) return status;
    vy_task *task = calloc(1, sizeof *task);
    if (task == NULL) return vy_fail(err, VY_NO_MEMORY, "task: no memory");
    task->def = *def;
    status = build_task(task, err);
    if (status != VY_OK) {
        vy_task_destroy(task);
        return status;
    }
    task->def.goals = NULL; // the caller's
    *out = task;
    return VY_OK;
}

void vy_task_destroy(vy_task *task)
{
    if (task == NULL) return;
    const vy_task_view *v = &task->view;
    void *const blocks[] = {v->actions,
                            v->observations,
                            v->rewards,
                            v->terminated,
                            v->truncated,
                            v->episode_steps,
                            v->goals,
                            v->goal_index,
                            task->goals,
                            task->previous_position,
                            task->previous_action,
                            task->clipped_action};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; ++i) free(blocks[i]);
    vy_batch_destroy(task->batch);
    free(task);
}
