// rng_blocks.c - normal deviates of many blocks, side by side where the processor can.
#define ROW_NAME vy_rng_normal_blocks_baseline
#include "base/assert.h"
#include "base/rng_blocks.inl"
#include "base/cpu.h"

void vy_rng_normal_blocks(const rng_blocks *row, double *out, size_t stride)
{
    VY_ASSERT(stride >= 4);
    switch (vy_cpu()) {
    case VY_CPU_AVX512: vy_rng_normal_blocks_avx512(row, out, stride); return;
    case VY_CPU_AVX2: vy_rng_normal_blocks_avx2(row, out, stride); return;
    default: vy_rng_normal_blocks_baseline(row, out, stride); return;
    }
}

void vy_rng_cache_fill(rng_cache *cache, uint32_t stream, uint64_t index, int count)
{
    VY_ASSERT(count > 0 && count <= RNG_CACHE_MAX);
    for (int i = 0; i < count; i += 4) {
        const rng_blocks row = {
            cache->seed, index, cache->step, cache->period, (stream << 8) + (uint32_t)i / 4, 0};
        vy_rng_normal_blocks(&row, cache->draws[0] + i, RNG_CACHE_MAX);
    }
}
