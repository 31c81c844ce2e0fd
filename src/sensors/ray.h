// ray.h - distances along rays, and the flow of the ground through a camera, over `real`.
#pragma once
#include "equations/rigid_body.h"
#include "sensors/reading.h"

/// What a ray sees of the world: nothing, or how far it is.
#define RAY_NOTHING 0.0

typedef struct ray_params {
    real noise, noise_share; // [m], [1]
    real least, most;        // [m]
    digits_params digits;
} ray_params;

/// Distance from `origin` along the unit vector `along` to the ground, the plane z = 0; RAY_NOTHING when
/// the ray misses it. From below the ground nothing is seen.
VY_FN real ray_to_ground(vec3 origin, vec3 along)
{
    const mask meets = (along.z < 0.0) & (origin.z > 0.0);
    const real slope = real_select(meets, along.z, real_set(-1.0));
    return real_select(meets, -origin.z / slope, real_set(RAY_NOTHING));
}

/// A distance as it is read; `n` is a normal deviate. What is out of sight is RAY_NOTHING.
VY_FN real ray_reading(const ray_params *p, real distance, real n)
{
    const mask seen = (distance >= p->least) & (distance <= p->most) & (distance > 0.0);
    const real read = digits_of(p->digits, distance + (p->noise + p->noise_share * distance) * n);
    return real_select(seen, real_clamp(read, p->least, p->most), real_set(RAY_NOTHING));
}

/// How fast what a camera looking along body -z sees in its middle, `distance` away, moves in its image
/// [rad/s]: along body +x and +y. `velocity` is the camera's, body axes.
VY_FN void flow_truth(vec3 velocity, vec3 rate, real distance, real *x, real *y)
{
    *x = rate.y - velocity.x / distance;
    *y = -rate.x - velocity.y / distance;
}
