// turbulence.h - Dryden turbulence by MIL-F-8785C (section 3.7.2), as a filter of white noise per body.
//
// Spectra over the spatial frequency W [rad/m], one-sided (their integral from 0 is sigma^2):
//
//   along           sigma^2 (2 L / pi) / (1 + (L W)^2)
//   across, up      sigma^2 (L / pi) (1 + 3 (L W)^2) / (1 + (L W)^2)^2
//
// A body flying at airspeed V sees W = w / V, so with T = L / V the shaping filters are 1 / (1 + T s) and
// (1 + sqrt(3) T s) / (1 + T s)^2. They are advanced by the exact solution of their linear stochastic
// equation over a period, not by a difference scheme: variance and correlation are right at every period.
//
// The filters' states have no unit: sigma scales the output and T only sets how far a period goes. So
// the variance stays sigma^2 also while altitude and airspeed change.
//
// Gust axes: `along` the given horizontal direction (that of the mean wind), `across` to the left of it, up.
#pragma once
#include "base/math.h"
#include "base/vec.h"

#define METRES_PER_FOOT    0.3048 // [m]
#define TURBULENCE_NORMALS 5      // deviates per advance
#define NORMAL_DEVIATE_MAX 6.34   // no normal deviate of rng.h is larger

/// The same for every drone of a batch.
typedef struct turbulence_params {
    double wind20;      // [m/s] mean wind 20 ft above the ground, >= 0: sets sigma up to 1000 ft
    double sigma_high;  // [m/s] sigma from 2000 ft on, >= 0
    double period;      // [s] between advances, > 0
    double speed_floor; // [m/s] > 0: slower bodies count as this fast, else their gusts would stand still
} turbulence_params;

/// One body's filters.
typedef struct turbulence_state {
    real along;     // variance 1
    real across[2]; // covariance 1, 1/2; 1/2, 1/2
    real up[2];     // the same
} turbulence_state;

/// Standard deviations [m/s] and lengths [m]: horizontal (along and across) and vertical.
typedef struct turbulence_scales {
    real sigma, sigma_up, length, length_up;
} turbulence_scales;

/// Scales at an altitude [m] above the ground. Lengths grow with the altitude.
VY_FN turbulence_scales turbulence_scales_at(const turbulence_params *p, real altitude)
{
    const real feet = altitude * (1.0 / METRES_PER_FOOT);
    const real low = real_clamp(feet, real_set(10.0), real_set(1000.0));
    const real k = math_pow(0.177 + 0.000823 * low, real_set(0.4)); // 1 at 1000 ft
    const double sigma_low = 0.1 * p->wind20;
    // 1000 to 2000 ft: a straight line from one model to the other.
    const real share = real_clamp((feet - 1000.0) * 0.001, real_set(0.0), real_set(1.0));
    turbulence_scales s;
    s.sigma_up = sigma_low + share * (p->sigma_high - sigma_low);
    s.sigma = sigma_low / k + share * (p->sigma_high - sigma_low);
    s.length_up = METRES_PER_FOOT * (low + share * 750.0);
    s.length = METRES_PER_FOOT * (low / ((k * k) * k) + share * 750.0);
    return s;
}

/// What a filter does over d correlation times. With x = (x0, x1), x0' = -x0 + white, x1' = x0 - x1:
///   x0 <- decay x0 + noise_11 n0
///   x1 <- coupling x0 + decay x1 + noise_21 n0 + noise_22 n1
typedef struct turbulence_filter {
    real decay, coupling, noise_11, noise_21, noise_22;
} turbulence_filter;

/// The covariance that white noise builds up over d > 0 correlation times, twice the integral of s^(i+j)
/// e^(-2s): q00 = 1 - e^(-u), q01 = (1 - e^(-u) (1 + u)) / 2, q11 = (1 - e^(-u) (1 + u + u^2/2)) / 2 with u =
/// 2 d; for short periods as series of positive terms, because there the differences lose every digit.
VY_FN void turbulence_noise(real d, real *q00, real *q01, real *q11)
{
    const real u = 2.0 * d, decay = math_exp(-u), square = 0.5 * (u * u);
    const mask is_brief = u < 1.0;
    const real v = real_min(u, real_set(1.0)), v_square = 0.5 * (v * v);
    real sum = real_set(1.0);
    for (int k = 18; k > 3; --k) sum = 1.0 + (v * (1.0 / (double)k)) * sum;
    const real cubic = (v * v_square) * (1.0 / 3.0) * sum; // e^v - 1 - v - v^2/2
    *q00 = real_select(is_brief, decay * (v + (v_square + cubic)), 1.0 - decay);
    *q01 = 0.5 * real_select(is_brief, decay * (v_square + cubic), 1.0 - decay * (1.0 + u));
    *q11 = 0.5 * real_select(is_brief, decay * cubic, 1.0 - decay * ((1.0 + u) + square));
}

VY_FN turbulence_filter turbulence_filter_over(real correlation_times)
{
    const real d = real_min(correlation_times, real_set(300.0)); // nothing is left by then
    real q00, q01, q11;
    turbulence_noise(d, &q00, &q01, &q11);
    turbulence_filter f;
    f.decay = math_exp(-d);
    f.coupling = d * f.decay;
    f.noise_11 = real_sqrt(q00); // Cholesky's factor of q
    f.noise_21 = q01 / f.noise_11;
    f.noise_22 = real_sqrt(real_max(q11 - f.noise_21 * f.noise_21, real_set(0.0)));
    return f;
}

VY_FN void turbulence_filter_pair(const turbulence_filter *f, const real normals[2], real x[2])
{
    const real x0 = x[0];
    x[0] = f->decay * x0 + f->noise_11 * normals[0];
    x[1] = (f->coupling * x0 + f->decay * x[1]) + (f->noise_21 * normals[0] + f->noise_22 * normals[1]);
}

/// A state drawn from the filters' stationary distribution.
VY_FN turbulence_state turbulence_start(const real normals[TURBULENCE_NORMALS])
{
    turbulence_state s;
    s.along = normals[0];
    s.across[0] = normals[1];
    s.across[1] = 0.5 * (normals[1] + normals[2]);
    s.up[0] = normals[3];
    s.up[1] = 0.5 * (normals[3] + normals[4]);
    return s;
}

/// Continue by one period at `altitude` [m] above the ground and `airspeed` [m/s].
VY_FN void turbulence_advance(const turbulence_params *p, real altitude, real airspeed,
                              const real normals[TURBULENCE_NORMALS], turbulence_state *s)
{
    const turbulence_scales scales = turbulence_scales_at(p, altitude);
    const real distance = p->period * real_max(airspeed, real_set(p->speed_floor));
    const turbulence_filter horizontal = turbulence_filter_over(distance / scales.length);
    const turbulence_filter vertical = turbulence_filter_over(distance / scales.length_up);
    s->along = horizontal.decay * s->along + horizontal.noise_11 * normals[0];
    turbulence_filter_pair(&horizontal, normals + 1, s->across);
    turbulence_filter_pair(&vertical, normals + 3, s->up);
}

/// (1 + sqrt(3) T s) / (1 + T s)^2 in the states, of variance 1.
VY_FN real turbulence_pair_output(const real x[2])
{
    const double a = 1.2247448713915890, b = -0.51763809020504152; // sqrt(3/2), (1 - sqrt(3)) / sqrt(2)
    return a * x[0] + b * x[1];
}

/// Velocity [m/s] of the gusts in world axes. (along_x, along_y) is the unit vector of the mean wind.
VY_FN vec3 turbulence_velocity(const turbulence_params *p, real altitude, real along_x, real along_y,
                               const turbulence_state *s)
{
    const turbulence_scales scales = turbulence_scales_at(p, altitude);
    const real u = scales.sigma * s->along;
    const real v = scales.sigma * turbulence_pair_output(s->across);
    const real w = scales.sigma_up * turbulence_pair_output(s->up);
    return vec3_make(u * along_x - v * along_y, u * along_y + v * along_x, w);
}

/// A filter that is at least as strong, entry for entry, as that of any d between `low` and `high`.
VY_FN turbulence_filter turbulence_filter_bound(real low, real high)
{
    const real min_d = real_min(low, real_set(300.0)), max_d = real_min(high, real_set(300.0));
    const real peak = real_clamp(real_set(1.0), min_d, max_d); // d e^(-d) is largest at 1
    real q00, q01, q11;
    turbulence_noise(max_d, &q00, &q01, &q11); // each grows with d
    turbulence_filter f;
    f.decay = math_exp(-min_d);
    f.coupling = peak * math_exp(-peak);
    f.noise_11 = real_sqrt(q00);
    f.noise_21 = real_sqrt(0.5 * q11); // mixed + second <= sqrt(2 (mixed^2 + second^2)) = sqrt(2 q11)
    f.noise_22 = f.noise_21;
    return f;
}

/// The largest size a pair's output can have now or after any of the next `advances`.
VY_FN real turbulence_pair_bound(const turbulence_filter *f, int advances, const real x[2])
{
    const double a = 1.2247448713915890, b = 0.51763809020504152;
    real x0 = real_abs(x[0]), x1 = real_abs(x[1]);
    real bound = real_abs(turbulence_pair_output(x));
    for (int i = 0; i < advances; ++i) {
        x1 = (f->coupling * x0 + f->decay * x1) + (f->noise_21 + f->noise_22) * NORMAL_DEVIATE_MAX;
        x0 = f->decay * x0 + f->noise_11 * NORMAL_DEVIATE_MAX;
        bound = real_max(bound, a * x0 + b * x1);
    }
    return bound;
}

/// What a body may do until the next evaluation of a bound. Lows are not above highs.
typedef struct turbulence_range {
    real altitude_low, altitude_high; // [m] above the ground
    real speed_low, speed_high;       // [m/s] airspeed
} turbulence_range;

/// No gust now or after any of the next `advances` is faster than this [m/s], as long as the body stays
/// within the range and no deviate is larger than NORMAL_DEVIATE_MAX.
VY_FN real turbulence_bound(const turbulence_params *p, const turbulence_range *range, int advances,
                            const turbulence_state *s)
{
    const turbulence_scales low = turbulence_scales_at(p, range->altitude_low);
    const turbulence_scales high = turbulence_scales_at(p, range->altitude_high);
    const real distance_low = p->period * real_max(range->speed_low, real_set(p->speed_floor));
    const real distance_high = p->period * real_max(range->speed_high, real_set(p->speed_floor));
    const turbulence_filter horizontal =
        turbulence_filter_bound(distance_low / high.length, distance_high / low.length);
    const turbulence_filter vertical =
        turbulence_filter_bound(distance_low / high.length_up, distance_high / low.length_up);
    real x = real_abs(s->along), along = x;
    for (int i = 0; i < advances; ++i) {
        x = horizontal.decay * x + horizontal.noise_11 * NORMAL_DEVIATE_MAX;
        along = real_max(along, x);
    }
    // Over the altitude each sigma falls and then rises, or falls, or rises: it is largest at an end.
    const real sigma = real_max(low.sigma, high.sigma);
    const vec3 maximum =
        vec3_make(sigma * along, sigma * turbulence_pair_bound(&horizontal, advances, s->across),
                  real_max(low.sigma_up, high.sigma_up) * turbulence_pair_bound(&vertical, advances, s->up));
    return vec3_length(maximum) * (1.0 + 0x1p-40);
}
