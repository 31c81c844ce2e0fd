// ray.h - distances along rays, over `real`.
#pragma once
#include "base/assert.h"
#include "base/fail.h"
#include "equations/local_frame.h"
#include "sensors/sensor.h"

/// The reading of a ray: no return, or a distance.
#define RAY_NO_RETURN 0.0

typedef struct ray_params {
    real noise, noise_share; // [m], [1]
    real min, max;           // [m]
    quantizer_params quantizer;
} ray_params;

/// Distance from `origin` along the unit vector `along` to the ground, the plane z = 0; RAY_NO_RETURN when
/// the ray misses it. From below the ground there is no return.
VY_FN real ray_to_ground(vec3 origin, vec3 along)
{
    const mask hits = (along.z < 0.0) & (origin.z > 0.0);
    const real slope = real_select(hits, along.z, real_set(-1.0));
    return real_select(hits, -origin.z / slope, real_set(RAY_NO_RETURN));
}

/// The same to the ground of a planet at whose place the world is: Newton's method from the plane below,
/// which a ray that meets the ground never passes.
VY_FN real ray_to_planet(const local_frame *f, const planet_params *p, vec3 origin, vec3 along)
{
    real distance = real_set(0.0);
    mask hits = local_locate(f, p, origin).height > 0.0;
    for (int round = 0; round < 5; ++round) {
        const local_position place = local_locate(f, p, vec3_add_scaled(origin, distance, along));
        const real slope = vec3_dot(along, place.up);
        hits = hits & (slope < 0.0);
        distance =
            real_select(hits, distance - place.height / real_select(hits, slope, real_set(-1.0)), distance);
    }
    return real_select(hits, distance, real_set(RAY_NO_RETURN));
}

/// A distance as it is read; `n` is a normal deviate. Out of range it is RAY_NO_RETURN.
VY_FN real ray_reading(const ray_params *p, real distance, real n)
{
    VY_ASSERT(mask_all((p->min >= 0.0) & (p->min < p->max)));
    const mask is_in_range = (distance >= p->min) & (distance <= p->max) & (distance > 0.0);
    const real reading = quantize(p->quantizer, distance + (p->noise + p->noise_share * distance) * n);
    return real_select(is_in_range, real_clamp(reading, p->min, p->max), real_set(RAY_NO_RETURN));
}

/// Distance from a point of the body along a unit vector, both in body axes.
VY_FN real ray_distance(const ray_caster *caster, const body_state *body, vec3 position, vec3 along,
                        real reach)
{
    return caster->cast(caster->self, body_point_at(body, position).position,
                        quat_rotate(body->attitude, along), reach);
}

/// Adds to distances: none is below 0, and no return stays no return.
static inline void add_distances(int count, const double *amount, double *distances)
{
    for (int i = 0; i < count; ++i) {
        if (distances[i] != RAY_NO_RETURN)
            distances[i] = distances[i] + amount[i] > 0.0 ? distances[i] + amount[i] : 0.0;
    }
}

static inline vy_status check_distance_range(const char *name, double min, double max, vy_error *err)
{
    return min < max ? VY_OK
                     : vy_fail(err, VY_BAD_VALUE, "drone.%s: min must be below max, got %g and %g m", name,
                               min, max);
}
