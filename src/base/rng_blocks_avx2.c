// rng_blocks_avx2.c - rows of normal deviates for AVX2.
#define VY_LANES 4
#define ROW_NAME vy_rng_normal_blocks_avx2
#include "base/rng_blocks.inl"
