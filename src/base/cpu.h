// cpu.h - which instructions this processor has. Code for instructions beyond the baseline is in NAME_avx2.c
// or NAME_avx512.c, gives the same bits as the baseline, and is called at its level only.
#pragma once

typedef enum vy_cpu_level {
    VY_CPU_BASELINE, ///< what every machine of this kind has
    VY_CPU_AVX2,     ///< AVX2, BMI and PCLMUL
    VY_CPU_AVX512,   ///< AVX-512 F, DQ and VL as well
} vy_cpu_level;

/// The level in use: the best this processor has, or the one vy_cpu_choose() named.
vy_cpu_level vy_cpu(void);

/// For tests and measurements: use `level` from now on. Returns 0, and changes nothing, when the processor
/// does not have it. Not to be called while anything runs.
int vy_cpu_choose(vy_cpu_level level);

/// The best level this processor has.
vy_cpu_level vy_cpu_best(void);

/// Spin-wait hint: this thread waits for a write of another one.
static inline void vy_cpu_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}
