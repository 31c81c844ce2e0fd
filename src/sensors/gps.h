// gps.h - a satellite receiver over `real`: position and velocity of its antenna, world axes.
#pragma once
#include "sensors/sensor.h"

typedef struct gps_params {
    vec3 position_noise;                      // [m] per axis
    real velocity_noise;                      // [m/s]
    vec3 wander_deviation;                    // [m] of the wander, per axis
    gauss_markov_params horizontal, vertical; // of the wander
    vec3 position;                            // [m] of the antenna, body
} gps_params;

typedef struct gps_block {
    bits tick;               // when the last sample arrived
    vec3 position, velocity; // [m], [m/s] world, the last sample
    vec3 wander;             // [m]
} gps_block;

#define SAMPLE_gps(F, block)                               \
    F(block, tick, TICK, 1, "", "when it arrived")         \
    F(block, position, VEC3, 3, "m", "last sample, world") \
    F(block, velocity, VEC3, 3, "m/s", "last sample, world")
#define FIELDS_gps(F, block) \
    SAMPLE_gps(F, block) F(block, wander, VEC3, 3, "m", "slow error of the position, world")
#define CHANNELS_gps(C, s)                                                        \
    C(s, GPS_POSITION, "gps_position", "m", 0, 3, 0, 3, 3, "of the GPS receiver") \
    C(s, GPS_VELOCITY, "gps_velocity", "m/s", 3, 3, 3, 3, 3, "of the GPS receiver")

VY_FN void gps_sample(const gps_params *p, const body_state *body, const sensor_key *key, gps_block *b,
                      real *out)
{
    real n[9];
    sensor_normals(key, n, 9);
    b->wander = vec3_make(gauss_markov_next(p->horizontal, b->wander.x, n[6]),
                          gauss_markov_next(p->horizontal, b->wander.y, n[7]),
                          gauss_markov_next(p->vertical, b->wander.z, n[8]));
    const body_point antenna = body_point_at(body, p->position);
    const vec3 white = vec3_mul(p->position_noise, vec3_make(n[0], n[1], n[2]));
    const vec3 position = vec3_add(antenna.position, vec3_add(b->wander, white));
    const vec3 velocity = vec3_add_scaled(antenna.velocity, p->velocity_noise, vec3_make(n[3], n[4], n[5]));
    vec3_store(position, out);
    vec3_store(velocity, out + 3);
}
