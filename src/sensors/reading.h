// reading.h - what instruments have in common: slow wander, scale and alignment, saturation, quantisation.
#pragma once
#include "base/assert.h"
#include "base/math.h"
#include "base/rng.h"
#include "base/vec.h"

/// A first-order Gauss-Markov process: x = decay x + noise_gain n with n of unit variance.
typedef struct gauss_markov_params {
    real decay;      // e^(-period / correlation time)
    real noise_gain; // deviation sqrt(1 - decay^2), so that x keeps its deviation
} gauss_markov_params;

/// Of a process that keeps `deviation`, with a sample per `period` and a correlation time of `time` [s].
VY_FN gauss_markov_params gauss_markov_of(real deviation, real period, real time)
{
    VY_ASSERT(mask_all((deviation >= 0.0) & (period >= 0.0)));
    const real decay = real_select(
        time > 0.0, math_exp(-period / real_select(time > 0.0, time, real_set(1.0))), real_set(0.0));
    gauss_markov_params p;
    p.decay = decay;
    p.noise_gain = deviation * real_sqrt(1.0 - decay * decay);
    return p;
}

VY_FN real gauss_markov_next(gauss_markov_params p, real x, real n) { return p.decay * x + p.noise_gain * n; }

VY_FN vec3 gauss_markov_next3(gauss_markov_params p, vec3 x, const real *n)
{
    return vec3_make(gauss_markov_next(p, x.x, n[0]), gauss_markov_next(p, x.y, n[1]),
                     gauss_markov_next(p, x.z, n[2]));
}

/// How a reading is cut off and rounded; 0 is not at all.
typedef struct quantizer_params {
    real range; // largest reading, either sign
    real step;  // from one reading to the next
} quantizer_params;

/// `x` as it is read. Steps are at least 1e-12 of what they divide, so that their number fits.
VY_FN real quantize(quantizer_params p, real x)
{
    VY_ASSERT(mask_all((p.range >= 0.0) & (p.step >= 0.0)));
    const real clamped = real_select(p.range > 0.0, real_clamp(x, -p.range, p.range), x);
    const mask has_step = p.step > 0.0;
    const real unit = real_select(has_step, p.step, real_set(1.0));
    return real_select(has_step, real_round(clamped / unit) * unit, clamped);
}

VY_FN vec3 quantize3(quantizer_params p, vec3 v)
{
    return vec3_make(quantize(p, v.x), quantize(p, v.y), quantize(p, v.z));
}

/// Scale errors on the diagonal, cross-axis sensitivity beside it: reading = distortion truth.
/// `n` are nine normal deviates.
VY_FN mat3 distortion_draw(real scale, real misalignment, const real *n)
{
    mat3 d;
    VY_ASSERT(mask_all((scale >= 0.0) & (misalignment >= 0.0)));
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            d.m[i][k] = i == k ? 1.0 + scale * n[4 * i] : misalignment * n[3 * i + k];
        }
    }
    return d;
}

/// Velocity of a point fixed to a body, less that of its centre of mass, in body axes.
VY_FN vec3 lever_velocity(vec3 rate, vec3 position) { return vec3_cross(rate, position); }
