// reference.h - where a flight plan wants the drone to be at a given time, over `real`.
#pragma once
#include "control/ladder.h"
#include "base/assert.h"
#include "volery/controller.h"

/// At rest at a place. `yaw` [rad] counter-clockwise.
VY_FN reference reference_rest(vec3 position, real yaw)
{
    reference r;
    r.position = position;
    r.velocity = vec3_zero();
    r.acceleration = vec3_zero();
    r.heading = heading_of(yaw);
    return r;
}

VY_FN vec3 setpoint_position(const vy_setpoint *p)
{
    return vec3_make(real_set(p->position.x), real_set(p->position.y), real_set(p->position.z));
}

/// Between setpoints: a straight line at minimum jerk (position 10 s^3 - 15 s^4 + 6 s^5). The setpoints are
/// the same for every drone of a batch, at least one; the times are not. `yaw_out` may be NULL.
VY_FN reference reference_at(const vy_setpoint *setpoints, int count, real time, real *yaw_out)
{
    VY_ASSERT(count > 0);
    const vy_setpoint *from = &setpoints[0], *to;
    vec3 start = setpoint_position(from), displacement = vec3_zero();
    real start_time = real_set(from->time), span = real_set(1.0), yaw = real_set(from->yaw),
         yaw_change = real_set(0.0);
    mask moving = mask_set(0);
    for (int k = 0; k < count; ++k) { // the last setpoint that is not after `time`, and the one after it
        const mask is_past = setpoints[k].time <= time;
        if (!mask_any(is_past)) break;
        from = &setpoints[k];
        to = &setpoints[k + 1 < count ? k + 1 : k];
        start = vec3_select(is_past, setpoint_position(from), start);
        displacement =
            vec3_select(is_past, vec3_sub(setpoint_position(to), setpoint_position(from)), displacement);
        start_time = real_select(is_past, real_set(from->time), start_time);
        span = real_select(is_past, real_set(to->time - from->time), span);
        yaw = real_select(is_past, real_set(from->yaw), yaw);
        yaw_change = real_select(is_past, real_set(to->yaw - from->yaw), yaw_change);
        moving = (moving & mask_not(is_past)) | (is_past & mask_set(from != to));
    }
    const vec3 zero = vec3_zero();
    vec3 position = start, velocity = zero, acceleration = zero;
    if (mask_any(moving)) {
        const real fraction = (time - start_time) / span;
        const real progress = fraction * fraction * fraction * (10.0 + fraction * (6.0 * fraction - 15.0));
        const real progress_rate = 30.0 * fraction * fraction * ((fraction - 1.0) * (fraction - 1.0)) / span;
        const real progress_acceleration =
            60.0 * fraction * (1.0 + fraction * (2.0 * fraction - 3.0)) / (span * span);
        position = vec3_select(moving, vec3_add_scaled(start, progress, displacement), start);
        velocity = vec3_select(moving, vec3_scale(progress_rate, displacement), zero);
        acceleration = vec3_select(moving, vec3_scale(progress_acceleration, displacement), zero);
        yaw = real_select(moving, yaw + progress * yaw_change, yaw);
    }
    reference r = reference_rest(position, yaw);
    r.velocity = velocity;
    r.acceleration = acceleration;
    if (yaw_out != NULL) *yaw_out = yaw;
    return r;
}

/// Rate of the yaw of reference_at() [rad/s].
VY_FN real setpoint_yaw_rate(const vy_setpoint *setpoints, int count, real time)
{
    real rate = real_set(0.0);
    for (int k = 0; k + 1 < count; ++k) {
        const vy_setpoint *from = &setpoints[k], *to = &setpoints[k + 1];
        const real fraction = (time - from->time) / (to->time - from->time);
        const real progress_rate =
            30.0 * fraction * fraction * ((fraction - 1.0) * (fraction - 1.0)) / (to->time - from->time);
        const mask is_active = (fraction >= 0.0) & (fraction < 1.0);
        rate = real_select(is_active, progress_rate * (to->yaw - from->yaw), rate);
    }
    return rate;
}
