// rng_normals_avx512.c - normal deviates for AVX-512.
#define NORMALS_NAME vy_rng_normals_avx512
#include "base/rng_normals.inl"
