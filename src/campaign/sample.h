// sample.h - places in the unit cube, and numbers by the quantiles of distributions. The same bits
// everywhere.
#pragma once
#include <stdint.h>

/// Variables for which there are Sobol points: rows of Joe and Kuo's table.
#define VY_SOBOL_DIMENSIONS 48

/// A number of (0, 1): that of `draw_index` in stream `index` of the seed.
double vy_sample_uniform(uint64_t seed, uint32_t index, uint64_t draw_index);

/// Where a permutation of 0 ... count - 1 takes `element`, which is below `count` (at most 2^32): a Feistel
/// network of six rounds, walked until it is within. Nothing is stored, so any element of any permutation is
/// found at once.
uint64_t vy_sample_permute(uint64_t seed, uint32_t index, uint64_t count, uint64_t element);

/// The 32 direction numbers of a dimension (Joe and Kuo 2008).
void vy_sobol_directions(int dimension, uint32_t out[32]);

/// The same scrambled by a random lower triangular matrix (Matousek 1998), of the seed and `index`.
void vy_sobol_scramble(uint64_t seed, uint32_t index, uint32_t directions[32]);

/// Point `point_index`, in binary order.
uint32_t vy_sobol_point(const uint32_t directions[32], uint32_t point_index);

/// The quantile of the standard normal distribution, p in (0, 1): algorithm AS 241 (Wichura 1988), 1e-15.
double vy_normal_quantile(double p);

/// Its distribution function.
double vy_normal_cdf(double x);
