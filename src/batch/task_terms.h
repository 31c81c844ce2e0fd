// task_terms.h - the terms of a reward, and what is observed beside the state, over `real`: pure functions of
// one drone.
#pragma once
#include "base/math.h"
#include "base/vec.h"
#include "control/ladder.h"
#include "volery/task.h"

/// A drone before and after an action, and where it should be.
typedef struct task_drone {
    vec3 position, velocity, rate;
    quat attitude;
    vec3 target, target_velocity; // of the goal that was in force while it flew
    real target_yaw;
    real distance_before; // to that goal, when the action began
    real arrived;         // 1: it has reached the goal
    real nearest;         // distance to the nearest other drone
    real failed;          // 1: the world has failed
    real action_squares, change_squares;
} task_drone;

VY_FN real square_of(vec3 v) { return vec3_dot(v, v); }

/// Cosine of the angle between body +z and world +z.
VY_FN real cos_tilt_of(quat q) { return 1.0 - 2.0 * (q.x * q.x + q.y * q.y); }

/// One term of one drone.
VY_FN real task_term(vy_reward_kind kind, real scale, const task_drone *d)
{
    const real distance = vec3_length(vec3_sub(d->target, d->position)), over = 1.0 / scale;
    switch (kind) {
    case VY_REWARD_ALIVE: return real_set(1.0);
    case VY_REWARD_DISTANCE: return distance * over;
    case VY_REWARD_PROXIMITY: return 1.0 / (1.0 + (distance * over) * (distance * over));
    case VY_REWARD_PROGRESS: return (d->distance_before - distance) * over;
    case VY_REWARD_ARRIVAL: return d->arrived;
    case VY_REWARD_SPEED: return square_of(vec3_sub(d->velocity, d->target_velocity)) * (over * over);
    case VY_REWARD_RATE: return square_of(d->rate) * (over * over);
    case VY_REWARD_TILT: return 1.0 - cos_tilt_of(d->attitude);
    case VY_REWARD_YAW: {
        const real error = angle_wrapped(yaw_of(d->attitude) - d->target_yaw) * over;
        return error * error;
    }
    case VY_REWARD_ACTION: return d->action_squares;
    case VY_REWARD_ACTION_CHANGE: return d->change_squares;
    case VY_REWARD_CLEARANCE: return real_max(real_set(0.0), 1.0 - d->nearest * over);
    case VY_REWARD_FAILURE: return d->failed;
    default: return real_set(0.0);
    }
}

/// Has the way from `before` to `now` crossed the disc of `radius` about `gate`, along `normal`?
VY_FN int task_crossed(vec3 before, vec3 now, vec3 gate, vec3 normal, real radius)
{
    const real from = vec3_dot(vec3_sub(before, gate), normal), to = vec3_dot(vec3_sub(now, gate), normal);
    if (!(from < 0.0 && to >= 0.0)) return 0;
    const vec3 at = vec3_add_scaled(before, from / (from - to), vec3_sub(now, before));
    return vec3_length(vec3_sub(at, gate)) < radius;
}
