// gps.h - a satellite receiver over `real`: position and velocity of its antenna, world axes.
#pragma once
#include "equations/rigid_body.h"
#include "sensors/reading.h"

typedef struct gps_params {
    vec3 position_noise; // [m] per axis
    real velocity_noise; // [m/s]
    wander_params across, upwards;
    vec3 position; // [m] of the antenna, body
} gps_params;

typedef struct gps_reading {
    vec3 position, velocity;
} gps_reading;

/// Where a point fixed to the body is, and how it moves: world.
VY_FN gps_reading gps_truth(const body_state *body, vec3 position)
{
    gps_reading r;
    r.position = vec3_add(body->position, quat_rotate(body->attitude, position));
    r.velocity = vec3_add(body->velocity, quat_rotate(body->attitude, lever_velocity(body->rate, position)));
    return r;
}

VY_FN gps_reading gps_sample(const gps_params *p, const body_state *body, bits seed, bits index, bits tick,
                             vec3 *wander)
{
    real n[9];
    rng_normals(seed, RNG_STREAM_GPS, index, tick, n, 9);
    *wander = vec3_make(wander_next(p->across, wander->x, n[6]), wander_next(p->across, wander->y, n[7]),
                        wander_next(p->upwards, wander->z, n[8]));
    gps_reading r = gps_truth(body, p->position);
    const vec3 white = vec3_mul(p->position_noise, vec3_make(n[0], n[1], n[2]));
    r.position = vec3_add(r.position, vec3_add(*wander, white));
    r.velocity = vec3_add_scaled(r.velocity, p->velocity_noise, vec3_make(n[3], n[4], n[5]));
    return r;
}
