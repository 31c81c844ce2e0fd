// wind.h - the mean wind at a place and a time, as a sum of declared parts. A pure function: no state.
//
//   constant      one vector
//   shear         horizontal speed over the height z above the ground, zero at and below it:
//                 linear       s z / z_ref
//                 power law    s (z / z_ref)^alpha
//                 logarithmic  s ln(z / z0) / ln(z_ref / z0), zero up to the roughness length z0
//   gusts         the 1 - cos shape of MIL-F-8785C (section 3.7.3) over time: rise, hold, fall
//   grid          samples over space and time, linear in between, the border's value beyond the border
//
// Axes: x east, y north, z up. On a planet the caller gives the altitude as z and turns the result by the
// local axes. A wind vector points to where the air goes. Turbulence is in turbulence.h: it has a state.
#pragma once
#include "base/math.h"
#include "base/assert.h"
#include "base/vec.h"

#define WIND_GUST_CAP 8

typedef enum wind_shear {
    WIND_SHEAR_NONE,
    WIND_SHEAR_LINEAR,
    WIND_SHEAR_POWER,
    WIND_SHEAR_LOGARITHMIC
} wind_shear;

/// Grows from 0 to the amplitude within `rise`, stays for `hold`, goes back to 0 within `fall`.
typedef struct wind_gust {
    double x, y, z;    // [m/s] amplitude
    double start;      // [s]
    double rise, fall; // [s] > 0
    double hold;       // [s] >= 0
} wind_gust;

/// Samples at equal distances: node (i, j, k, l) lies at x0 + i dx, y0 + j dy, z0 + k dz, t0 + l dt.
typedef struct wind_grid {
    const double *velocity; // [nt][nz][ny][nx][3] [m/s]; NULL: no grid
    int nx, ny, nz, nt;     // >= 1 each, fewer than 2^31 numbers in all
    double x0, y0, z0;      // [m]
    double t0;              // [s]
    double dx, dy, dz;      // [m] > 0
    double dt;              // [s] > 0
    double speed_max;       // [m/s] no sample is faster
} wind_grid;

/// The same for every drone of a batch. Call wind_prepare() when filled in.
typedef struct wind_params {
    double x, y, z;          // [m/s] the constant part
    int shear;               // wind_shear
    double shear_x, shear_y; // unit vector
    double shear_speed;      // [m/s] at the reference height
    double shear_height;     // [m] reference height, > 0; of the logarithmic profile > roughness
    double shear_exponent;   // alpha >= 0
    double shear_roughness;  // [m] z0 > 0
    double shear_scale;      // set by wind_prepare(): the factor s of the profile, over what z is divided by
    int gust_count;
    wind_gust gusts[WIND_GUST_CAP];
    wind_grid grid;
} wind_params;

/// Sets what follows from the declared values.
VY_FN void wind_prepare(wind_params *p)
{
    p->shear_scale = p->shear_speed;
    if (p->shear == WIND_SHEAR_LINEAR) p->shear_scale = p->shear_speed / p->shear_height;
    if (p->shear == WIND_SHEAR_LOGARITHMIC) {
        const real log_ratio = math_log(real_set(p->shear_height / p->shear_roughness));
        p->shear_scale = p->shear_speed / real_lane(log_ratio, 0);
    }
}

/// Speed [m/s] of the sheared part at height `z` [m]. Never falls with the height when the speed is positive.
VY_FN real wind_shear_speed(const wind_params *p, real z)
{
    const real zero = real_set(0.0);
    if (p->shear == WIND_SHEAR_NONE) return zero;
    if (p->shear == WIND_SHEAR_LINEAR) return real_select(z > 0.0, p->shear_scale * z, zero);
    // Where the profile is zero the functions get 1, which is in their domain.
    if (p->shear == WIND_SHEAR_POWER) {
        const mask is_above = z > 0.0;
        const real ratio = real_select(is_above, z / p->shear_height, real_set(1.0));
        return real_select(is_above, p->shear_scale * math_pow(ratio, real_set(p->shear_exponent)), zero);
    }
    const mask is_above = z > p->shear_roughness;
    return p->shear_scale * math_log(real_select(is_above, z / p->shear_roughness, real_set(1.0)));
}

/// Whether a gust is active at `time`.
VY_FN mask wind_gust_is_active(const wind_gust *g, real time)
{
    return (time > g->start) & (time < g->start + g->rise + g->hold + g->fall);
}

/// How much of a gust's amplitude there is at `time`: 0 to 1, and 0 exactly outside.
VY_FN real wind_gust_factor(const wind_gust *g, real time)
{
    const double pi = 3.14159265358979323846;
    const real zero = real_set(0.0), one = real_set(1.0);
    const real rise_fraction = real_clamp((time - g->start) / g->rise, zero, one);
    const real fall_fraction = real_clamp((time - (g->start + g->rise + g->hold)) / g->fall, zero, one);
    return real_select(wind_gust_is_active(g, time),
                       0.5 * (math_cos(pi * fall_fraction) - math_cos(pi * rise_fraction)), zero);
}

/// Where a coordinate lies among `count` nodes: the node at or below it and the share of the way to the next.
VY_FN real wind_grid_cell(real x, double first, double spacing, int count, bits *node)
{
    const real coordinate_max = real_set((double)(count - 1));
    VY_ASSERT(count >= 1 && spacing > 0.0);
    const real coordinate = real_clamp((x - first) / spacing, real_set(0.0), coordinate_max); // NaN gives 0
    const real nearest = real_round(coordinate);
    const real node_below = real_select(nearest > coordinate, nearest - 1.0, nearest);
    const real last_start = real_set(count > 1 ? (double)(count - 2) : 0.0);
    const real start = real_min(node_below, last_start);
    *node = real_round_bits(start);
    return coordinate - start;
}

VY_FN vec3 wind_grid_lerp(vec3 a, vec3 b, real share) { return vec3_add_scaled(a, share, vec3_sub(b, a)); }

VY_FN vec3 wind_grid_node(const double *velocity, bits index)
{
    return vec3_make(real_gather(velocity, index), real_gather(velocity + 1, index),
                     real_gather(velocity + 2, index));
}

/// The grid's wind [m/s]: linear along each of x, y, z and t in turn.
VY_FN vec3 wind_grid_at(const wind_grid *grid, vec3 place, real time)
{
    bits i, j, k, l;
    const real share_x = wind_grid_cell(place.x, grid->x0, grid->dx, grid->nx, &i);
    const real share_y = wind_grid_cell(place.y, grid->y0, grid->dy, grid->ny, &j);
    const real share_z = wind_grid_cell(place.z, grid->z0, grid->dz, grid->nz, &k);
    const real share_t = wind_grid_cell(time, grid->t0, grid->dt, grid->nt, &l);
    const bits row = bits_mul32(l, bits_set((uint64_t)grid->nz)) + k;
    const bits line = bits_mul32(row, bits_set((uint64_t)grid->ny)) + j;
    const bits cell = bits_mul32(line, bits_set((uint64_t)grid->nx)) + i;
    const bits index = bits_mul32(cell, bits_set(3));
    // To the next node along each axis; an axis of one node has no next one, and its share is 0.
    const uint64_t nx = (uint64_t)grid->nx, ny = (uint64_t)grid->ny, nz = (uint64_t)grid->nz;
    const uint64_t stride_x = nx > 1 ? 3u : 0u, stride_y = ny > 1 ? 3u * nx : 0u;
    const uint64_t stride_z = nz > 1 ? 3u * nx * ny : 0u, stride_t = grid->nt > 1 ? 3u * nx * ny * nz : 0u;
    vec3 slice[2];
    for (uint64_t t = 0; t < 2; ++t) {
        vec3 layer[2];
        for (uint64_t z = 0; z < 2; ++z) {
            const bits corner = index + (t * stride_t + z * stride_z);
            const vec3 south = wind_grid_lerp(wind_grid_node(grid->velocity, corner),
                                              wind_grid_node(grid->velocity, corner + stride_x), share_x);
            const vec3 north =
                wind_grid_lerp(wind_grid_node(grid->velocity, corner + stride_y),
                               wind_grid_node(grid->velocity, corner + (stride_y + stride_x)), share_x);
            layer[z] = wind_grid_lerp(south, north, share_y);
        }
        slice[t] = wind_grid_lerp(layer[0], layer[1], share_z);
    }
    return wind_grid_lerp(slice[0], slice[1], share_t);
}

VY_FN vec3 wind_constant(const wind_params *p)
{
    return vec3_make(real_set(p->x), real_set(p->y), real_set(p->z));
}

/// The mean wind [m/s] at `place` [m] and `time` [s], with a constant part that may differ from drone to
/// drone in the place of the declared one.
VY_FN vec3 mean_wind_at(const wind_params *p, vec3 constant, vec3 place, real time)
{
    vec3 wind = vec3_add(vec3_zero(), constant);
    VY_ASSERT(p->gust_count >= 0 && p->gust_count <= WIND_GUST_CAP);
    if (p->shear != WIND_SHEAR_NONE) {
        const real speed = wind_shear_speed(p, place.z);
        wind.x = wind.x + speed * p->shear_x;
        wind.y = wind.y + speed * p->shear_y;
    }
    for (int i = 0; i < VY_BASIC_OR(0, p->gust_count); ++i) {
        const wind_gust *g = &p->gusts[i];
        if (mask_any(wind_gust_is_active(g, time))) {
            const real share = wind_gust_factor(g, time);
            wind = vec3_add_scaled(wind, share, vec3_make(real_set(g->x), real_set(g->y), real_set(g->z)));
        }
    }
    if (VY_BASIC_OR(0, p->grid.velocity != NULL)) wind = vec3_add(wind, wind_grid_at(&p->grid, place, time));
    return wind;
}

/// The most of a gust's amplitude within a span of time.
VY_FN real wind_gust_factor_bound(const wind_gust *g, real time_low, real time_high)
{
    const double full = g->start + g->rise, fall_start = full + g->hold;
    const real early = wind_gust_factor(g, time_high), late = wind_gust_factor(g, time_low);
    return real_select(time_high < full, early, real_select(time_low > fall_start, late, real_set(1.0)));
}

/// No wind anywhere at heights z_low to z_high [m] and times time_low to time_high [s] is faster than this
/// [m/s]. Constant and sheared parts together: the largest value there is, since their sum is a straight line
/// over the sheared speed. Gusts and grid: the sum of their largest sizes.
VY_FN real mean_wind_speed_bound(const wind_params *p, vec3 constant, real z_low, real z_high, real time_low,
                                 real time_high)
{
    const vec3 shear_direction = vec3_make(real_set(p->shear_x), real_set(p->shear_y), real_set(0.0));
    const real low = wind_shear_speed(p, z_low), high = wind_shear_speed(p, z_high);
    real bound = real_max(vec3_length(vec3_add_scaled(constant, low, shear_direction)),
                          vec3_length(vec3_add_scaled(constant, high, shear_direction)));
    // The rounding error is a fraction of the terms, not of the sum.
    real magnitude_sum = vec3_length(constant) + (real_abs(low) + real_abs(high));
    for (int i = 0; i < VY_BASIC_OR(0, p->gust_count); ++i) {
        const wind_gust *g = &p->gusts[i];
        const vec3 amplitude = vec3_make(real_set(g->x), real_set(g->y), real_set(g->z));
        const real size = vec3_length(amplitude);
        bound = bound + size * wind_gust_factor_bound(g, time_low, time_high);
        magnitude_sum = magnitude_sum + size;
    }
    if (VY_BASIC_OR(0, p->grid.velocity != NULL)) {
        bound = bound + p->grid.speed_max;
        magnitude_sum = magnitude_sum + p->grid.speed_max;
    }
    return bound + 0x1p-46 * magnitude_sum;
}
