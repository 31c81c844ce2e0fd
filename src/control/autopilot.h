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
    const vec3 way = vec3_sub(p->target, position);
    const real square = way.x * way.x + way.y * way.y;
    const mask going = mask_not(square < p->radius * p->radius) & mask_set(bits_uniform(p->has_target));

    const vec3 nose = quat_rotate(attitude, vec3_make(one, zero, zero));
    const real across = nose.x * nose.x + nose.y * nose.y;
    const mask level = across > 1e-24;
    const real scale = real_sqrt(real_select(level, across, one) * real_select(square > 0.0, square, one));
    const real cosine = (nose.x * way.x + nose.y * way.y) / scale;
    const real angle = math_acos(real_clamp(cosine, -one, one));
    const mask turning = going & level & (angle > p->tolerance);
    // Sign of the cross product on the ground: a target on the left is turned to by a negative stick.
    const real left = nose.x * way.y - nose.y * way.x;

    sticks[0] = real_select(going & level & mask_not(angle > p->tolerance), p->step, zero);
    sticks[1] = zero;
    sticks[2] = real_select(going & (way.z > AUTOPILOT_DEAD_ZONE), one,
                            real_select(going & (way.z < -AUTOPILOT_DEAD_ZONE), -one, zero));
    sticks[3] = real_select(turning, real_select(left > 0.0, -one, one), zero);
}
