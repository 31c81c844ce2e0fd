// gravity.h - gravity as a field: acceleration and potential at a place.
//
//   uniform   g                                                    V = -g . r
//   a body    -GM d / |d|^3, d = r - origin                        V = -GM / |d|
//   with J2   oblateness about world +z (Vallado, Fundamentals of Astrodynamics, 4th ed., eq. 8-30)
//
// In the turning frame at a place of a planet (local_frame.h) bodies stand in that frame's axes, J2 is about
// the planet's axis, and the centrifugal acceleration is part of the field.
//
// The same functions serve the plant, the accelerometer and the account of energy: g = -grad V.
#pragma once
#include "base/vec.h"
#include "base/assert.h"
#include "equations/local_frame.h"

#define GRAVITY_BODY_CAP 8

/// One attracting body. Doubles: the same for every drone of a batch.
typedef struct gravity_body {
    double gm;         // [m^3/s^2]
    double x, y, z;    // [m] origin, world
    double j2, radius; // [1], [m] reference radius of j2
} gravity_body;

typedef struct gravity_params {
    vec3 uniform;   // [m/s^2] world
    int body_count; // 0: uniform alone; in a frame that turns 1, the planet
    int gradient;   // 1: the torque by gravity's gradient acts on bodies
    gravity_body bodies[GRAVITY_BODY_CAP];
    local_frame frame; // of the world
} gravity_params;

/// The same of a world's frame that turns: `z` is the distance along the planet's axis.
VY_FN vec3 gravity_of_planet(const gravity_body *b, const local_frame *f, vec3 r)
{
    const vec3 d = vec3_make(r.x - b->x, r.y - b->y, r.z - b->z);
    const real z = f->equator_height + (f->cos_lat * r.y + f->sin_lat * r.z);
    const real inverse = 1.0 / vec3_length(d);
    const real k = -b->gm * ((inverse * inverse) * inverse);
    const real ratio = b->radius * inverse;
    const real c = (1.5 * b->j2) * (ratio * ratio);
    const real s = (z * inverse) * (z * inverse);
    const real across = k * (1.0 + c * (1.0 - 5.0 * s)), axial = (2.0 * (k * c)) * z;
    return vec3_make(across * d.x, across * d.y + axial * f->cos_lat, across * d.z + axial * f->sin_lat);
}

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
    if (VY_BASIC_OR(0, p->frame.on))
        return vec3_add(gravity_of_planet(&p->bodies[0], &p->frame, r), local_centrifugal(&p->frame, r));
    VY_ASSERT(p->body_count >= 0 && p->body_count <= GRAVITY_BODY_CAP);
    for (int i = 0; i < VY_BASIC_OR(0, p->body_count); ++i)
        g = vec3_add(g, gravity_of_body(&p->bodies[i], r));
    return g;
}

/// The same in the turning frame, less that of the origin, without losing its digits.
VY_FN real gravity_potential_local(const gravity_params *p, vec3 r)
{
    const local_frame *f = &p->frame;
    const gravity_body *b = &p->bodies[0];
    const vec3 centre = vec3_make(real_set(b->x), real_set(b->y), real_set(b->z)), d = vec3_sub(r, centre);
    const real z = f->equator_height + (f->cos_lat * r.y + f->sin_lat * r.z);
    const real radius = vec3_length(d), origin_radius = vec3_length(centre);
    const real distance_change = vec3_dot(r, vec3_sub(d, centre)) / (radius + origin_radius);
    const real s = (z / radius) * (z / radius),
               s0 = (f->equator_height / origin_radius) * (f->equator_height / origin_radius);
    const double k = (0.5 * b->gm * b->j2) * (b->radius * b->radius);
    const real oblate = k * ((3.0 * s - 1.0) / (radius * radius * radius) -
                             (3.0 * s0 - 1.0) / (origin_radius * origin_radius * origin_radius));
    const vec3 origin_velocity = vec3_cross(local_rotation(f), vec3_neg(centre)),
               relative_velocity = vec3_cross(local_rotation(f), r);
    return (b->gm * distance_change / (radius * origin_radius) + oblate) -
           (vec3_dot(origin_velocity, relative_velocity) +
            0.5 * vec3_dot(relative_velocity, relative_velocity));
}

/// Potential energy per kilogram at `r` [J/kg].
VY_FN real gravity_potential(const gravity_params *p, vec3 r)
{
    if (VY_BASIC_OR(0, p->frame.on)) return gravity_potential_local(p, r);
    real v = -vec3_dot(p->uniform, r);
    for (int i = 0; i < VY_BASIC_OR(0, p->body_count); ++i) {
        const gravity_body *b = &p->bodies[i];
        const vec3 d = vec3_make(r.x - b->x, r.y - b->y, r.z - b->z);
        const real inverse = 1.0 / vec3_length(d);
        const real ratio = b->radius * inverse;
        const real s = (d.z * inverse) * (d.z * inverse);
        v = v - (b->gm * inverse) * (1.0 - (0.5 * b->j2) * (ratio * ratio) * (3.0 * s - 1.0));
    }
    return v;
}

/// What an accelerometer at rest in the world's frame lacks: gravity, and the Coriolis acceleration.
VY_FN vec3 gravity_apparent(const gravity_params *p, vec3 r, vec3 velocity)
{
    const vec3 g = gravity_at(p, r);
    return VY_BASIC_OR(0, p->frame.on) ? vec3_add(g, local_coriolis(&p->frame, velocity)) : g;
}
