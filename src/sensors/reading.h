// reading.h - what instruments have in common: slow wander, scale and alignment, saturation, digits.
#pragma once
#include "base/rng.h"
#include "base/vec.h"

/// A first-order Gauss-Markov process: x = keep x + fresh n with n of unit variance.
typedef struct wander_params {
    real keep;  // e^(-period / correlation time)
    real fresh; // deviation sqrt(1 - keep^2), so that x keeps its deviation
} wander_params;

VY_FN real wander_next(wander_params p, real x, real n) { return p.keep * x + p.fresh * n; }

VY_FN vec3 wander_next3(wander_params p, vec3 x, const real *n)
{
    return vec3_make(wander_next(p, x.x, n[0]), wander_next(p, x.y, n[1]), wander_next(p, x.z, n[2]));
}

/// How a reading is cut off and rounded; 0 is not at all.
typedef struct digits_params {
    real range; // largest reading, either sign
    real step;  // from one reading to the next
} digits_params;

/// `x` as it is read. Steps are at least 1e-12 of what they divide, so that their number fits.
VY_FN real digits_of(digits_params p, real x)
{
    const real cut = real_select(p.range > 0.0, real_clamp(x, -p.range, p.range), x);
    const mask whole = p.step > 0.0;
    const real unit = real_select(whole, p.step, real_set(1.0));
    return real_select(whole, real_round(cut / unit) * unit, cut);
}

VY_FN vec3 digits_of3(digits_params p, vec3 v)
{
    return vec3_make(digits_of(p, v.x), digits_of(p, v.y), digits_of(p, v.z));
}

/// Scale errors on the diagonal, what one axis picks up of another beside it: reading = distortion truth.
/// `n` are nine normal deviates.
VY_FN mat3 distortion_draw(real scale, real misalignment, const real *n)
{
    mat3 d;
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            d.m[i][k] = i == k ? 1.0 + scale * n[4 * i] : misalignment * n[3 * i + k];
        }
    }
    return d;
}

/// Velocity of a point fixed to a body, less that of its centre of mass, in body axes.
VY_FN vec3 lever_velocity(vec3 rate, vec3 position) { return vec3_cross(rate, position); }
