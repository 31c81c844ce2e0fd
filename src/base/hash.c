// hash.c - the state hash, with the widest vectors that the processor has.
#include "base/hash.h"
#include "base/assert.h"
#include "base/cpu.h"
#define HASH_NAME vy_hash64_plain
#include "base/hash.inl"

uint64_t vy_hash64(const void *data, size_t size)
{
    VY_ASSERT(data != NULL || size == 0);
    // Wider vectors than these gain nothing: the state was just written, and they would wait for it.
    return vy_cpu() == VY_CPU_PLAIN ? vy_hash64_plain(data, size) : vy_hash64_avx2(data, size);
}
