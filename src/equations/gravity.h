// gravity.h - gravity as a field: acceleration and potential at a place.
//
//   uniform   g                                                    V = -g . r
//   a body    -GM d / |d|^3, d = r - origin                        V = -GM / |d|
//   with J2   oblateness about world +z (Vallado, Fundamentals of Astrodynamics, 4th ed., eq. 8-30)
//
// The same functions serve the plant, the accelerometer and the account of energy: g = -grad V.
#pragma once
#include "base/vec.h"
#include "base/assert.h"

#define GRAVITY_BODY_CAP 8

/// One attracting body. Doubles: the same for every drone of a batch.
typedef struct gravity_body {
    double gm;         // [m^3/s^2]
    double x, y, z;    // [m] origin, world
    double j2, radius; // [1], [m] reference radius of j2
} gravity_body;

typedef struct gravity_params {
    vec3 uniform;   // [m/s^2] world
    int body_count; // 0: uniform alone
    int gradient;   // its torque acts on bodies
    gravity_body bodies[GRAVITY_BODY_CAP];
} gravity_params;

VY_FN vec3 gravity_of_body(const gravity_body *b, vec3 r)
{
    const vec3 d = vec3_make(r.x - b->x, r.y - b->y, r.z - b->z);
    const real square = vec3_dot(d, d);
    const real inverse = 1.0 / real_sqrt(square);
    const real k = -b->gm * ((inverse * inverse) * inverse);
    if (b->j2 == 0.0) return vec3_scale(k, d);
    const real ratio = b->radius * inverse;
    const real c = (1.5 * b->j2) * (ratio * ratio);
    const real s = (d.z * inverse) * (d.z * inverse); // sine of latitude, squared
    const real across = k * (1.0 + c * (1.0 - 5.0 * s));
    const real along = k * (1.0 + c * (3.0 - 5.0 * s));
    return vec3_make(across * d.x, across * d.y, along * d.z);
}

/// Acceleration of free fall at `r` [m/s^2], world.
VY_FN vec3 gravity_at(const gravity_params *p, vec3 r)
{
    vec3 g = p->uniform;
    VY_ASSERT(p->body_count >= 0 && p->body_count <= GRAVITY_BODY_CAP);
    for (int i = 0; i < p->body_count; ++i) g = vec3_add(g, gravity_of_body(&p->bodies[i], r));
    return g;
}

/// Potential energy per kilogram at `r` [J/kg].
VY_FN real gravity_potential(const gravity_params *p, vec3 r)
{
    real v = -vec3_dot(p->uniform, r);
    for (int i = 0; i < p->body_count; ++i) {
        const gravity_body *b = &p->bodies[i];
        const vec3 d = vec3_make(r.x - b->x, r.y - b->y, r.z - b->z);
        const real inverse = 1.0 / vec3_length(d);
        const real ratio = b->radius * inverse;
        const real s = (d.z * inverse) * (d.z * inverse);
        v = v - (b->gm * inverse) * (1.0 - (0.5 * b->j2) * (ratio * ratio) * (3.0 * s - 1.0));
    }
    return v;
}
