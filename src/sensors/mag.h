// mag.h - a magnetometer over `real`: the world's field in body axes.
#pragma once
#include "sensors/reading.h"

typedef struct mag_params {
    real noise; // [T]
    vec3 bias;  // [T] hard iron, body
    mat3 distortion;
    digits_params digits;
} mag_params;

VY_FN vec3 mag_sample(const mag_params *p, vec3 field, quat attitude, bits seed, bits index, bits tick)
{
    real n[3];
    rng_normals(seed, RNG_STREAM_MAGNETOMETER, index, tick, n, 3);
    const vec3 seen = mat3_mul_vec(p->distortion, quat_unrotate(attitude, field));
    return digits_of3(p->digits,
                      vec3_add_scaled(vec3_add(seen, p->bias), p->noise, vec3_make(n[0], n[1], n[2])));
}
