// lanes_rng.h - the draws of rng.h over arrays, once per number of lanes; for the tests.
#pragma once
#include <stdint.h>

enum { LANES_RNG_WORDS = 4, LANES_RNG_NORMALS = 13, LANES_RNG_UNIFORMS = 5 };

/// Draws of `count` keys, a multiple of the lanes; draw j of key i goes to place j * count + i.
typedef struct lanes_rng_draws {
    const uint64_t *seed, *index, *step;
    uint64_t *words;
    double *normals, *uniforms;
    int count;
} lanes_rng_draws;

void lanes_rng_1(const lanes_rng_draws *d);
void lanes_rng_2(const lanes_rng_draws *d);
void lanes_rng_4(const lanes_rng_draws *d);
void lanes_rng_8(const lanes_rng_draws *d);
