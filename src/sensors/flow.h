// flow.h - the flow of the ground through a camera that looks along body -z, over `real`.
#pragma once
#include "sensors/ray.h"

typedef struct flow_params {
    real noise;    // [rad/s]
    real min, max; // [m] distance at which it works
    real range;    // [rad/s] above which it loses track; 0: never
    vec3 position; // [m] body
} flow_params;

typedef struct flow_block {
    bits tick;          // when the last sample arrived
    real x, y, quality; // [rad/s], [1]
} flow_block;

#define SAMPLE_flow(F, block)                                     \
    F(block, tick, TICK, 1, "", "when it arrived")                \
    F(block, x, NUMBER, 1, "rad/s", "last sample, along body +x") \
    F(block, y, NUMBER, 1, "rad/s", "last sample, along body +y") \
    F(block, quality, NUMBER, 1, "", "1: tracked, 0: lost")
#define FIELDS_flow(F, block) SAMPLE_flow(F, block)
#define CHANNELS_flow(C, s)   C(s, FLOW, "flow", "rad/s", 0, 3, 0, 2, 2, "of the flow camera, two numbers")

/// Optical flow [rad/s] along body +x and +y, in the middle of the image of a camera that looks along body
/// -z, of a surface `distance` away. `velocity` is the camera's, body axes.
VY_FN void flow_truth(vec3 velocity, vec3 rate, real distance, real *x, real *y)
{
    *x = rate.y - velocity.x / distance;
    *y = -rate.x - velocity.y / distance;
}

VY_FN void flow_sample(const flow_params *p, const body_state *body, const sensor_key *key,
                       const ray_caster *caster, flow_block *b, real *out)
{
    real n[2], x, y;
    (void)b;
    sensor_normals(key, n, 2);
    const real distance = ray_distance(caster, body, p->position,
                                       vec3_make(real_set(0.0), real_set(0.0), real_set(-1.0)), p->max);
    const mask is_in_range = (distance > 0.0) & (distance >= p->min) & (distance <= p->max);
    const vec3 velocity =
        vec3_add(quat_unrotate(body->attitude, body->velocity), lever_velocity(body->rate, p->position));
    flow_truth(velocity, body->rate, real_select(is_in_range, distance, real_set(1.0)), &x, &y);
    const real fastest = real_max(real_abs(x), real_abs(y));
    const mask can_track = (p->range == 0.0) | (fastest <= p->range);
    const real zero = real_set(0.0);
    out[0] = real_select(is_in_range & can_track, x + p->noise * n[0], zero);
    out[1] = real_select(is_in_range & can_track, y + p->noise * n[1], zero);
    out[2] = real_select(is_in_range & can_track, real_set(1.0), zero);
}
