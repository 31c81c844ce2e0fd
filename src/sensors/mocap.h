// mocap.h - motion capture over `real`: position and attitude with white noise.
#pragma once
#include "base/rng.h"
#include "equations/rigid_body.h"

typedef struct mocap_params {
    real position_noise; // [m]
    real attitude_noise; // [rad]
} mocap_params;

#define SAMPLE_mocap(F, block)                             \
    F(block, tick, TICK, 1, "", "when it arrived")         \
    F(block, position, VEC3, 3, "m", "last sample, world") \
    F(block, attitude, QUAT, 4, "", "last sample, q_WB")
#define CHANNELS_mocap(C, s)                                            \
    C(s, POSITION, "position", "m", 0, 3, 0, 3, 3, "of motion capture") \
    C(s, ATTITUDE, "attitude", "rad", 3, 4, 4, 3, 3, "of motion capture, as small turns about body axes")

typedef struct mocap_state {
    vec3 position; // [m] world, the last sample
    quat attitude; // q_WB
} mocap_state;

VY_FN void mocap_sample(const mocap_params *p, const body_state *body, bits seed, bits index, bits tick,
                        mocap_state *s)
{
    real n[6];
    rng_normals(seed, RNG_STREAM_MOCAP, index, tick, n, 6);
    const vec3 turn = vec3_scale(0.5 * p->attitude_noise, vec3_make(n[3], n[4], n[5]));
    s->position = vec3_add_scaled(body->position, p->position_noise, vec3_make(n[0], n[1], n[2]));
    s->attitude = quat_normalize(quat_mul(body->attitude, quat_make(real_set(1.0), turn.x, turn.y, turn.z)));
}
