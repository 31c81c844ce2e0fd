// task_terms.h - the terms of a reward, and what is observed beside the state, over `real`: pure functions of
// one drone.
#pragma once
#include "base/math.h"
#include "base/vec.h"
#include "control/ladder.h"
#include "volery/task.h"

/// A drone before and after an action, and where it should be.
typedef struct task_drone {
    vec3 position, velocity, rate; // after it
    quat attitude;
    vec3 target, target_velocity; // of the goal that was in force while it flew
    real target_yaw;
    real distance_before;  // to that goal, when the action began
    real has_arrived;      // 1: it has reached the goal
    real nearest_distance; // distance to the nearest other drone
    real has_failed;       // 1: the world has failed
    real action_squares;   // sum of squares of the action, but for thrust
    real change_squares;   // likewise of its change
} task_drone;

VY_FN real square_of(vec3 v) { return vec3_dot(v, v); }

/// Cosine of the angle between body +z and world +z.
VY_FN real cos_tilt_of(quat q) { return 1.0 - 2.0 * (q.x * q.x + q.y * q.y); }

/// One term of one drone.
VY_FN real task_term(vy_reward_kind kind, real scale, const task_drone *d)
{
    const real distance = vec3_length(vec3_sub(d->target, d->position)), inverse_scale = 1.0 / scale;
    switch (kind) {
    case VY_REWARD_ALIVE: return real_set(1.0);
    case VY_REWARD_DISTANCE: return distance * inverse_scale;
    case VY_REWARD_PROXIMITY: return 1.0 / (1.0 + (distance * inverse_scale) * (distance * inverse_scale));
    case VY_REWARD_PROGRESS: return (d->distance_before - distance) * inverse_scale;
    case VY_REWARD_ARRIVAL: return d->has_arrived;
    case VY_REWARD_SPEED:
        return square_of(vec3_sub(d->velocity, d->target_velocity)) * (inverse_scale * inverse_scale);
    case VY_REWARD_RATE: return square_of(d->rate) * (inverse_scale * inverse_scale);
    case VY_REWARD_TILT: return 1.0 - cos_tilt_of(d->attitude);
    case VY_REWARD_YAW: {
        const real error = angle_wrapped(yaw_of(d->attitude) - d->target_yaw) * inverse_scale;
        return error * error;
    }
    case VY_REWARD_ACTION: return d->action_squares;
    case VY_REWARD_ACTION_CHANGE: return d->change_squares;
    case VY_REWARD_CLEARANCE: return real_max(real_set(0.0), 1.0 - d->nearest_distance * inverse_scale);
    case VY_REWARD_FAILURE: return d->has_failed;
    default: return real_set(0.0);
    }
}

/// Has the way from `position_before` to `position_now` crossed the disc of `radius` about `gate`, along
/// `normal`?
VY_FN int task_crossed(vec3 position_before, vec3 position_now, vec3 gate, vec3 normal, real radius)
{
    const real distance_before = vec3_dot(vec3_sub(position_before, gate), normal),
               distance_after = vec3_dot(vec3_sub(position_now, gate), normal);
    if (!(distance_before < 0.0 && distance_after >= 0.0)) return 0;
    const vec3 crossing =
        vec3_add_scaled(position_before, distance_before / (distance_before - distance_after),
                        vec3_sub(position_now, position_before));
    return vec3_length(vec3_sub(crossing, gate)) < radius;
}
