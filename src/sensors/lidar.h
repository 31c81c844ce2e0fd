// lidar.h - distances along a fan of rays, over `real`.
#pragma once
#include "sensors/ray.h"

typedef struct lidar_params {
    ray_params reading;
    vec3 position;          // [m] body
    int count;              // of rays
    vec3 along[VY_RAY_CAP]; // body, unit
} lidar_params;

typedef struct lidar_block {
    bits tick;                 // when the last sample arrived
    real distance[VY_RAY_CAP]; // [m]
} lidar_block;

#define SAMPLE_lidar(F, block)                     \
    F(block, tick, TICK, 1, "", "when it arrived") \
    F(block, distance, RAYS, VY_RAY_CAP, "m", "last sample, ray by ray; 0: nothing within sight")
#define FIELDS_lidar(F, block) SAMPLE_lidar(F, block)
#define CHANNELS_lidar(C, s) \
    C(s, LIDAR, "lidar", "m", 0, VY_RAY_CAP, 0, VY_RAY_CAP, 1, "of the ray fan, one number for every ray")

VY_FN void lidar_sample(const lidar_params *p, const body_state *body, const sensor_key *key,
                        const ray_caster *caster, lidar_block *b, real *out)
{
    real n[VY_RAY_CAP];
    (void)b;
    VY_ASSERT(p->count >= 0 && p->count <= VY_RAY_CAP);
    sensor_normals(key, n, VY_RAY_CAP);
    for (int i = 0; i < VY_RAY_CAP; ++i) {
        out[i] = real_set(RAY_NO_RETURN);
        if (i < p->count)
            out[i] = ray_reading(&p->reading,
                                 ray_distance(caster, body, p->position, p->along[i], p->reading.max), n[i]);
    }
}
