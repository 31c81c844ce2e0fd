// rng_blocks_avx512.c - rows of normal deviates for AVX-512.
#define VY_LANES 8
#define ROW_NAME vy_rng_normal_blocks_avx512
#include "base/rng_blocks.inl"
