// mag.h - a magnetometer over `real`: the world's field in body axes.
#pragma once
#include "sensors/sensor.h"

typedef struct mag_params {
    real noise;      // [T]
    vec3 bias;       // [T] hard iron, body
    mat3 distortion; // scale and alignment
    quantizer_params quantizer;
} mag_params;

typedef struct mag_block {
    bits tick;  // when the last sample arrived
    vec3 field; // [T]
} mag_block;

#define SAMPLE_mag(F, block)                       \
    F(block, tick, TICK, 1, "", "when it arrived") \
    F(block, field, VEC3, 3, "T", "last sample, body")
#define FIELDS_mag(F, block) SAMPLE_mag(F, block)
#define CHANNELS_mag(C, s)   C(s, MAG, "mag", "T", 0, 3, 0, 3, 3, "of the magnetometer")

/// `field` is the world's, in its axes.
VY_FN void mag_sample(const mag_params *p, const body_state *body, const sensor_key *key, vec3 field,
                      mag_block *b, real *out)
{
    real n[3];
    (void)b;
    sensor_normals(key, n, 3);
    const vec3 seen = mat3_mul_vec(p->distortion, quat_unrotate(body->attitude, field));
    vec3_store(quantize3(p->quantizer,
                         vec3_add_scaled(vec3_add(seen, p->bias), p->noise, vec3_make(n[0], n[1], n[2]))),
               out);
}
