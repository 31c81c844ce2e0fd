// rng_normals.c - sixteen normal deviates at a time, side by side where the processor can.
#include "base/cpu.h"
#include "base/rng.h"

void vy_rng_normals(uint64_t seed, uint32_t block, uint64_t index, uint64_t step, double out[16])
{
    switch (vy_cpu()) {
    case VY_CPU_AVX512: vy_rng_normals_avx512(seed, block, index, step, out); return;
    case VY_CPU_AVX2: vy_rng_normals_avx2(seed, block, index, step, out); return;
    default: rng_normals_of_blocks(seed, block, index, step, out, 16); return;
    }
}
