// local_frame.h - the turning east-north-up frame at a place of a planet, as the frame of a world.
//
// World axes are east (x), north (y) and up (z) at the origin, and turn with the planet. Seen from there
//
//   v' = F/m + g(r) - w x (w x r) - 2 w x v        r from the planet's centre, w its rotation
//   I (W' + ...) = t                                W the rate relative to the frame: local_torque()
//
// The ground is the surface of the origin's height above the ellipsoid. Everything is written in differences
// from the origin, so that it keeps the digits of a flat world: nothing has the size of the planet's radius.
// In between stands the meridian frame, from the planet's centre: outwards under the origin, east, along the
// axis.
#pragma once
#include "base/assert.h"
#include "equations/planet.h"

/// The same for every drone of a batch.
typedef struct local_frame {
    int on;                   // 1: the world's frame is one; 0: it is not, and the rest is not read
    double sin_lat, cos_lat;  // of the origin's geodetic latitude
    double axis_distance;     // [m] of the origin from the planet's axis
    double equator_height;    // [m] of the origin above the equator's plane
    double height;            // [m] of the origin above the ellipsoid
    double rate;              // [rad/s] of the planet's rotation
    double radius_squared[2]; // [m^2] of the equatorial and the polar radius
    double support;           // [m] distance of the centre from the plane that touches the ellipsoid below
} local_frame;

/// Where a place is, seen from the ground below it.
typedef struct local_position {
    real height; // [m] above the surface of the origin's height
    vec3 up;     // normal of the ellipsoid there, world axes
} local_position;

/// A place of the world in the meridian frame.
VY_FN vec3 local_to_meridian(const local_frame *f, vec3 r)
{
    return vec3_make(f->axis_distance + (f->cos_lat * r.z - f->sin_lat * r.y), r.x,
                     f->equator_height + (f->cos_lat * r.y + f->sin_lat * r.z));
}

/// A direction of the meridian frame in world axes.
VY_FN vec3 local_from_meridian(const local_frame *f, vec3 v)
{
    return vec3_make(v.y, f->cos_lat * v.z - f->sin_lat * v.x, f->cos_lat * v.x + f->sin_lat * v.z);
}

/// Height and normal by the support function of the ellipsoid, S(n) = sqrt(n.A n): h = r.n - S(n), of which n
/// is a stationary point. Less the same at the origin, with d = n - n0,
///
///   h - h0 = x.n - h0 d.d / 2 + ((S - S0)^2 - d.A d) / (2 S0)
VY_FN local_position local_locate(const local_frame *f, const planet_params *p, vec3 r)
{
    const vec3 n = planet_locate(p, local_to_meridian(f, r)).up;
    const vec3 d = vec3_make(n.x - f->cos_lat, n.y, n.z - f->sin_lat);
    const vec3 sum = vec3_make(n.x + f->cos_lat, n.y, n.z + f->sin_lat);
    const double a = f->radius_squared[0], b = f->radius_squared[1];
    const real support = real_sqrt(a * (n.x * n.x + n.y * n.y) + b * (n.z * n.z));
    const real change =
        (a * (d.x * sum.x + d.y * sum.y) + b * (d.z * sum.z)) / (support + f->support); // S - S0
    const real quadratic = a * (d.x * d.x + d.y * d.y) + b * (d.z * d.z);
    const vec3 tilt = local_from_meridian(f, d);
    local_position out;
    out.up = vec3_make(tilt.x, tilt.y, 1.0 + tilt.z);
    out.height = ((r.z + vec3_dot(r, tilt)) - (0.5 * f->height) * vec3_dot(d, d)) +
                 (change * change - quadratic) * (0.5 / f->support);
    return out;
}

/// Rotation of the planet, world axes [rad/s].
VY_FN vec3 local_rotation(const local_frame *f)
{
    return vec3_make(real_set(0.0), real_set(f->rate * f->cos_lat), real_set(f->rate * f->sin_lat));
}

/// From the planet's axis to a place, world axes [m].
VY_FN vec3 local_from_axis(const local_frame *f, vec3 r)
{
    const vec3 m = local_to_meridian(f, r);
    return local_from_meridian(f, vec3_make(m.x, m.y, real_set(0.0)));
}

/// -w x (w x r) [m/s^2].
VY_FN vec3 local_centrifugal(const local_frame *f, vec3 r)
{
    return vec3_scale(real_set(f->rate * f->rate), local_from_axis(f, r));
}

/// -2 w x v [m/s^2].
VY_FN vec3 local_coriolis(const local_frame *f, vec3 velocity)
{
    return vec3_scale(real_set(-2.0), vec3_cross(local_rotation(f), velocity));
}

/// The rate of a body relative to inertial space less that relative to the frame, body axes [rad/s].
VY_FN vec3 local_rate(const local_frame *f, mat3 rotation)
{
    return mat3_tmul_vec(rotation, local_rotation(f));
}

/// The torque [N m] by which Euler's equation of the rate w relative to the frame is that of w + u relative
/// to inertial space, where u' = -w x u: I (w x u) - (w x I u + u x I (w + u)).
VY_FN vec3 local_torque(const local_frame *f, mat3 inertia, mat3 rotation, vec3 w)
{
    const vec3 u = local_rate(f, rotation);
    const vec3 spin = mat3_mul_vec(inertia, vec3_cross(w, u));
    const vec3 a = vec3_cross(w, mat3_mul_vec(inertia, u));
    const vec3 b = vec3_cross(u, mat3_mul_vec(inertia, vec3_add(w, u)));
    return vec3_sub(spin, vec3_add(a, b));
}
