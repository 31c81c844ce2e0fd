// hash_avx2.c - XXH3 for AVX2.
#define HASH_NAME vy_hash64_avx2
#include "base/hash.inl"
