// range.h - a range finder over `real`: the distance along one ray.
#pragma once
#include "sensors/ray.h"

typedef struct range_params {
    ray_params reading;
    vec3 position;  // [m] body
    vec3 direction; // body, unit
} range_params;

typedef struct range_block {
    bits tick;     // when the last sample arrived
    real distance; // [m]
} range_block;

#define SAMPLE_range(F, block)                     \
    F(block, tick, TICK, 1, "", "when it arrived") \
    F(block, distance, NUMBER, 1, "m", "last sample; 0: nothing within sight")
#define FIELDS_range(F, block) SAMPLE_range(F, block)
#define CHANNELS_range(C, s)   C(s, RANGE, "range", "m", 0, 1, 0, 1, 1, "of the range finder, one number")

VY_FN void range_sample(const range_params *p, const body_state *body, const sensor_key *key,
                        const ray_caster *caster, range_block *b, real *out)
{
    real n[1];
    (void)b;
    sensor_normals(key, n, 1);
    out[0] =
        ray_reading(&p->reading, ray_distance(caster, body, p->position, p->direction, p->reading.max), n[0]);
}
