// planet.h - a round or flattened planet about the world's origin, turning about +z or not.
//
// The world frame is inertial; its +z is the planet's axis. At time 0 longitude 0 lies on +x. Because the
// planet is symmetric about its axis, altitude and the local frame follow from the inertial position alone;
// only the longitude needs the time. Ellipsoid: NIMA TR8350.2 (WGS 84).
#pragma once
#include "base/math.h"
#include "base/vec.h"

/// The same for every drone of a batch.
typedef struct planet_params {
    int on;        // 0: a flat world, z is the altitude
    double radius; // [m] equatorial
    double polar;  // [m] polar radius, radius (1 - f)
    double e2;     // first eccentricity squared, f (2 - f)
    double rate;   // [rad/s] of its rotation
} planet_params;

/// Where a place is, seen from the ground below it.
typedef struct planet_frame {
    real altitude;         // [m] above the ellipsoid
    vec3 east, north, up;  // unit vectors, world
    real sin_lat, cos_lat; // of the geodetic latitude
} planet_frame;

/// Geodetic latitude by Bowring's iteration on the reduced latitude (B. Bowring, Survey Review 23, 1976),
/// written with sines and cosines instead of tangents so that it holds at the poles. Three rounds leave less
/// than 1e-9 m from the deepest mine to the Moon. Undefined at the centre of the planet.
VY_FN planet_frame planet_locate(const planet_params *p, vec3 r)
{
    planet_frame place;
    const real across = real_sqrt(r.x * r.x + r.y * r.y);
    const mask is_on_axis = across == 0.0;
    const real inverse = 1.0 / real_select(is_on_axis, real_set(1.0), across);
    const real x = real_select(is_on_axis, real_set(1.0), r.x * inverse),
               y = real_select(is_on_axis, real_set(0.0), r.y * inverse);
    const double axis_ratio = p->polar / p->radius;
    const double evolute_a = p->e2 * p->radius;                           // e^2 a
    const double evolute_b = p->radius * p->radius / p->polar - p->polar; // e'^2 b
    real s = r.z, c = across * axis_ratio; // of the reduced latitude, not normalised
    real lat_s = r.z, lat_c = across;
    for (int i = 0; i < 3; ++i) {
        const real n = 1.0 / real_sqrt(s * s + c * c);
        const real us = s * n, uc = c * n;
        lat_s = r.z + evolute_b * (us * us * us);
        lat_c = across - evolute_a * (uc * uc * uc);
        s = axis_ratio * lat_s;
        c = lat_c;
    }
    const real n = 1.0 / real_sqrt(lat_s * lat_s + lat_c * lat_c);
    place.sin_lat = lat_s * n;
    place.cos_lat = lat_c * n;
    place.altitude = (across * place.cos_lat + r.z * place.sin_lat) -
                     p->radius * real_sqrt(1.0 - p->e2 * (place.sin_lat * place.sin_lat));
    place.east = vec3_make(-y, x, real_set(0.0));
    place.north = vec3_make(-place.sin_lat * x, -place.sin_lat * y, place.cos_lat);
    place.up = vec3_make(place.cos_lat * x, place.cos_lat * y, place.sin_lat);
    return place;
}

/// Velocity [m/s] of the ground, and of air at rest over it, at `r`.
VY_FN vec3 planet_ground_velocity(const planet_params *p, vec3 r)
{
    return vec3_make(-p->rate * r.y, p->rate * r.x, real_set(0.0));
}

/// Its rotation [rad/s], and the centrifugal acceleration [m/s^2] of what turns with it at `r`.
VY_FN vec3 planet_rotation(const planet_params *p)
{
    return vec3_make(real_set(0.0), real_set(0.0), real_set(p->rate));
}

VY_FN vec3 planet_centrifugal(const planet_params *p, vec3 r)
{
    const double k = p->rate * p->rate;
    return vec3_make(k * r.x, k * r.y, real_set(0.0));
}

/// Position of a geodetic place at `time` [s]: angles in rad, altitude in m.
VY_FN vec3 planet_position(const planet_params *p, real latitude, real longitude, real altitude, real time)
{
    real sin_lat, cos_lat, sin_lon, cos_lon, sin_turn, cos_turn;
    math_sincos(latitude, &sin_lat, &cos_lat);
    math_sincos(longitude, &sin_lon, &cos_lon);
    math_sincos(p->rate * time, &sin_turn,
                &cos_turn); // apart from the longitude, which would lose digits in a sum
    const real n =
        p->radius / real_sqrt(1.0 - p->e2 * (sin_lat * sin_lat)); // radius of curvature in the prime vertical
    const real across = (n + altitude) * cos_lat;
    const real x = across * cos_lon, y = across * sin_lon;
    return vec3_make(x * cos_turn - y * sin_turn, x * sin_turn + y * cos_turn,
                     (n * (1.0 - p->e2) + altitude) * sin_lat);
}

/// Longitude [rad] of `r` at `time` [s], within -pi to pi.
VY_FN real planet_longitude(const planet_params *p, vec3 r, real time)
{
    real sin_turn, cos_turn;
    math_sincos(p->rate * time, &sin_turn, &cos_turn);
    return math_atan2(r.y * cos_turn - r.x * sin_turn, r.x * cos_turn + r.y * sin_turn);
}

VY_FN real planet_latitude(const planet_frame *a) { return math_atan2(a->sin_lat, a->cos_lat); }
