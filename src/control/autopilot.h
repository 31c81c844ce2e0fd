// autopilot.h - turn towards the target, then fly straight on: sticks from position and attitude, over
// `real`.
#pragma once
#include "base/math.h"
#include "base/vec.h"

typedef struct autopilot_params {
    vec3 target;     // [m] world, at the flight altitude
    real step;       // of the throttle, 0 to 10
    real radius;     // [m] of arrival
    real tolerance;  // [rad] of facing the target
    bits has_target; // the same in every lane
} autopilot_params;

/// [m] No climbing or sinking this close to the flight altitude.
#define AUTOPILOT_DEAD_ZONE 1.0

/// `sticks`: throttle, strafe, vertical, yaw. All zero within the radius of the target. Forward only when the
/// nose points at the target; exactly away from it, turn right; with the nose straight up or down all sticks
/// are zero.
VY_FN void autopilot_sticks(const autopilot_params *p, vec3 position, quat attitude, real *sticks)
{
    const real zero = real_set(0.0), one = real_set(1.0);
    const vec3 to_target = vec3_sub(p->target, position);
    const real distance2 = to_target.x * to_target.x + to_target.y * to_target.y;
    const mask is_away = mask_not(distance2 < p->radius * p->radius) & mask_set(bits_uniform(p->has_target));

    const vec3 nose = quat_rotate(attitude, vec3_make(one, zero, zero));
    const real nose_horizontal2 = nose.x * nose.x + nose.y * nose.y;
    const mask has_heading = nose_horizontal2 > 1e-24;
    const real scale = real_sqrt(real_select(has_heading, nose_horizontal2, one) *
                                 real_select(distance2 > 0.0, distance2, one));
    const real cosine = (nose.x * to_target.x + nose.y * to_target.y) / scale;
    const real angle = math_acos(real_clamp(cosine, -one, one));
    const mask is_turning = is_away & has_heading & (angle > p->tolerance);
    // Sign of the cross product on the ground: a target on the left is turned to by a negative stick.
    const real cross_product = nose.x * to_target.y - nose.y * to_target.x;

    sticks[0] = real_select(is_away & has_heading & mask_not(angle > p->tolerance), p->step, zero);
    sticks[1] = zero;
    sticks[2] = real_select(is_away & (to_target.z > AUTOPILOT_DEAD_ZONE), one,
                            real_select(is_away & (to_target.z < -AUTOPILOT_DEAD_ZONE), -one, zero));
    sticks[3] = real_select(is_turning, real_select(cross_product > 0.0, -one, one), zero);
}
