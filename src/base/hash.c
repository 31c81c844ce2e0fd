// hash.c - the state hash, with the widest vectors that the processor has.
#include "base/hash.h"
#include "base/assert.h"
#include "base/cpu.h"
#define HASH_NAME vy_hash64_baseline
#include "base/hash.inl"

uint64_t vy_hash64(const void *data, size_t size)
{
    VY_ASSERT(data != NULL || size == 0);
    // Wider vectors than these gain nothing: the state was just written, and they would wait for it.
    return vy_cpu() == VY_CPU_BASELINE ? vy_hash64_baseline(data, size) : vy_hash64_avx2(data, size);
}

uint64_t vy_hash_chain(uint64_t previous_hash, const void *data, size_t size)
{
    const uint64_t words[2] = {previous_hash, vy_hash64(data, size)};
    return vy_hash64(words, sizeof words);
}
