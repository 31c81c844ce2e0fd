// rng_normals_avx2.c - normal deviates for AVX2.
#define NORMALS_NAME vy_rng_normals_avx2
#include "base/rng_normals.inl"
