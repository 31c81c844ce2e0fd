// cpu.c - detects the processor's features once.
#include "base/cpu.h"
#include "base/assert.h"
#include <stdatomic.h>

// One more than the level in use; 0 until the first query. Every thread would store the same value.
static atomic_int level_in_use;

vy_cpu_level vy_cpu_best(void)
{
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("pclmul"))
        return VY_CPU_BASELINE;
    const int has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                           __builtin_cpu_supports("avx512vl");
    return has_avx512 ? VY_CPU_AVX512 : VY_CPU_AVX2;
#else
    return VY_CPU_BASELINE;
#endif
}

vy_cpu_level vy_cpu(void)
{
    int level_plus_1 = atomic_load_explicit(&level_in_use, memory_order_relaxed);
    if (level_plus_1 == 0) {
        level_plus_1 = (int)vy_cpu_best() + 1;
        atomic_store_explicit(&level_in_use, level_plus_1, memory_order_relaxed);
    }
    VY_ASSERT(level_plus_1 >= 1 && level_plus_1 <= (int)vy_cpu_best() + 1);
    return (vy_cpu_level)(level_plus_1 - 1);
}

int vy_cpu_choose(vy_cpu_level level)
{
    VY_ASSERT(level <= VY_CPU_AVX512);
    if (level > vy_cpu_best()) return 0;
    atomic_store_explicit(&level_in_use, (int)level + 1, memory_order_relaxed);
    return 1;
}
