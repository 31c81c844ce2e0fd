// hash.h - the state hash: XXH3 over memory that holds nothing but 8-byte values.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// XXH3, 64 bits. The caller's memory has no padding: static assertions beside each state struct prove it.
uint64_t vy_hash64(const void *data, size_t size);

/// A hash of data that follows others of hash `previous_hash`.
uint64_t vy_hash_chain(uint64_t previous_hash, const void *data, size_t size);

/// vy_hash64() for every machine and for VY_CPU_AVX2 and above.
uint64_t vy_hash64_baseline(const void *data, size_t size);
uint64_t vy_hash64_avx2(const void *data, size_t size);
