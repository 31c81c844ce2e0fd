// limits.h - limits of a vehicle's drive on an intent, rung by rung. Over `real`.
#pragma once
#include "control/ladder.h"

/// Limits of the rungs; 0: none. The order of the counts is that of vy_drive_limit.
typedef struct drive_limits {
    real speed, climb;       // [m/s] of a desired velocity, across and along the vertical
    real cos_tilt, sin_tilt; // of the largest tilt of a desired attitude
    real rate;               // [rad/s] of each desired body rate
} drive_limits;

enum { LIMIT_ON_SPEED, LIMIT_ON_CLIMB, LIMIT_ON_TILT, LIMIT_ON_RATE };

VY_FN void count_lanes(mask active, bits *count)
{
    *count = *count + bits_select(active, bits_set(1), bits_set(0));
}

/// A desired velocity: its direction over the ground is kept.
VY_FN vec3 limit_velocity(const drive_limits *limits, mask active, vec3 v, bits *limit_counts)
{
    const mask over_climb = active & (limits->climb > 0.0) & (real_abs(v.z) > limits->climb);
    v.z = real_select(over_climb, real_clamp(v.z, -limits->climb, limits->climb), v.z);
    const real horizontal = real_sqrt(v.x * v.x + v.y * v.y);
    const mask over_speed = active & (limits->speed > 0.0) & (horizontal > limits->speed);
    const real scale =
        real_select(over_speed, limits->speed / real_max(horizontal, real_set(1e-9)), real_set(1.0));
    count_lanes(over_climb, &limit_counts[LIMIT_ON_CLIMB]);
    count_lanes(over_speed, &limit_counts[LIMIT_ON_SPEED]);
    return vec3_make(v.x * scale, v.y * scale, v.z);
}

/// A desired attitude: heading and direction of the tilt are kept.
VY_FN quat limit_attitude(const drive_limits *limits, mask active, quat q, bits *limit_counts)
{
    const vec3 z = quat_rotate(q, vec3_make(real_set(0.0), real_set(0.0), real_set(1.0)));
    const mask is_steep = active & (limits->sin_tilt > 0.0) & (z.z < limits->cos_tilt);
    count_lanes(is_steep, &limit_counts[LIMIT_ON_TILT]);
    const real tilt_scale = limits->sin_tilt / real_max(real_sqrt(z.x * z.x + z.y * z.y), real_set(1e-9));
    const quat tilt = tilt_to(vec3_make(tilt_scale * z.x, tilt_scale * z.y, limits->cos_tilt));
    // The turn about the vertical that is left when the tilt is taken out; upside down it may be none.
    const real tiny = real_set(1e-12), w = real_select(real_abs(q.w) > tiny, q.w, tiny);
    const quat heading = quat_normalize(quat_make(w, real_set(0.0), real_set(0.0), q.z));
    return quat_select(is_steep, quat_mul(tilt, heading), q);
}

VY_FN vec3 limit_rates(const drive_limits *limits, mask active, vec3 w, bits *limit_counts)
{
    const vec3 clamped =
        vec3_make(real_clamp(w.x, -limits->rate, limits->rate), real_clamp(w.y, -limits->rate, limits->rate),
                  real_clamp(w.z, -limits->rate, limits->rate));
    const mask is_fast =
        active & (limits->rate > 0.0) & ((clamped.x != w.x) | (clamped.y != w.y) | (clamped.z != w.z));
    count_lanes(is_fast, &limit_counts[LIMIT_ON_RATE]);
    return vec3_select(is_fast, clamped, w);
}
