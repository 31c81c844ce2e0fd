// real.h - the dialect in which every equation is written; it and real_single.inl alone have compiler
// extensions.
//
// An equation is a static inline function over `real`. A translation unit chooses what a real is by VY_LANES
// before its first include: 1 (the default) is a double, 2, 4 or 8 are that many drones side by side in one
// vector register. Every choice does the same IEEE operations in the same order, so every choice gives the
// same bits. VY_SINGLE 1 makes it a float (real_single.inl): other bits, tier 1. Rules for code over `real`:
//   - only + - * / and the functions below; no libm, no branch on a lane's value (real_select instead);
//   - `if (mask_any(m))` may skip work that would add +0.0 in every lane, nothing else;
//   - constants are plain doubles in an expression (2.0 * x), real_set(2.0) where a real is stored;
//   - the subset that C17, C++17 and CUDA share: no compound literals, no designated initialisers.
#pragma once
#include "volery/types.h"
#include <float.h>
#include <stdint.h>
#include <string.h>

#if defined(__FAST_MATH__)
#error "Volery needs IEEE 754 arithmetic: build without -ffast-math"
#endif
#if !defined(__CUDACC__) && FLT_EVAL_METHOD != 0
#error "Volery needs double evaluated as double: build without x87 (use -msse2 -mfpmath=sse)"
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Volery hashes and logs little-endian memory: big-endian machines are not supported"
#endif

#ifndef VY_LANES
#define VY_LANES 1
#endif
#ifndef VY_SINGLE
#define VY_SINGLE 0
#endif
// 1: a state without what a basic drone has no use for (rotors beyond four, INDI, turbulence), so that it
// fits where memory is fast and small. Such a unit must be given basic drones alone.
#ifndef VY_BASIC_ONLY
#define VY_BASIC_ONLY 0
#endif
// What is so of every basic drone is `value` in such a unit, and known when it is compiled; elsewhere it is
// looked up.
#define VY_BASIC_OR(value, looked_up) (VY_BASIC_ONLY ? (value) : (looked_up))

// Every function over `real` is compiled into its caller: lanes must never be passed between translation
// units built for different instruction sets. At -O0 it costs ten times the compiler's time; builds with few
// lanes do without.
#if defined(__CUDACC__)
#define VY_FN static __forceinline__ __host__ __device__
#elif VY_LANES <= 2 && (!defined(__OPTIMIZE__) || defined(__OPTIMIZE_SIZE__))
#define VY_FN static inline __attribute__((unused))
#else
#define VY_FN static inline __attribute__((always_inline, unused))
#endif

// A large function of which a translation unit wants one copy, whatever calls it.
#if defined(__CUDACC__)
#define VY_NOINLINE_FN static __noinline__ __host__ __device__
#else
#define VY_NOINLINE_FN static __attribute__((noinline, unused))
#endif

// A rare path, kept out of its callers.
#if defined(__CUDACC__)
#define VY_COLD_FN static __noinline__ __host__ __device__
#else
#define VY_COLD_FN static __attribute__((noinline, cold, unused))
#endif

#if defined(__cplusplus)
#define VY_ALIGNED(bytes) alignas(bytes)
#else
#define VY_ALIGNED(bytes) _Alignas(bytes)
#endif

// The floating-point environment: round to nearest, denormals kept, nothing trapped. A host program or a
// plug-in may have changed it, and that changes bits; so every public step sets it and restores the caller's.
#if defined(__x86_64__)
VY_FN uint64_t fpu_mode(void) { return __builtin_ia32_stmxcsr(); }
VY_FN void fpu_set_mode(uint64_t mode) { __builtin_ia32_ldmxcsr((uint32_t)mode); }
#define FPU_MODE_BITS   0xffc0u // of MXCSR: all but the sticky flags
#define FPU_MODE_WANTED 0x1f80u
#elif defined(__aarch64__)
VY_FN uint64_t fpu_mode(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}
VY_FN void fpu_set_mode(uint64_t mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
#define FPU_MODE_BITS   0xffffffffu
#define FPU_MODE_WANTED 0u
#else // one environment, the right one
VY_FN uint64_t fpu_mode(void) { return 0; }
VY_FN void fpu_set_mode(uint64_t mode) { (void)mode; }
#define FPU_MODE_BITS   0u
#define FPU_MODE_WANTED 0u
#endif

/// Set the environment and return the previous one.
VY_FN uint64_t fpu_enter(void)
{
    const uint64_t previous = fpu_mode();
    if ((previous & FPU_MODE_BITS) != FPU_MODE_WANTED) fpu_set_mode(FPU_MODE_WANTED);
    return previous;
}

VY_FN void fpu_leave(uint64_t previous)
{
    if ((previous & FPU_MODE_BITS) != FPU_MODE_WANTED) fpu_set_mode(previous);
}

// Beside it, on x86-64, the C library rounds decimal numbers in the x87 unit's rounding mode.
#if defined(__x86_64__) && !defined(__CUDACC__)
VY_FN uint64_t fpu_x87_mode(void)
{
    uint16_t mode;
    __asm__ volatile("fnstcw %0" : "=m"(mode));
    return mode;
}
VY_FN void fpu_set_x87_mode(uint64_t mode)
{
    const uint16_t word = (uint16_t)mode;
    __asm__ volatile("fldcw %0" : : "m"(word));
}
#define FPU_X87_MODE_WANTED 0x037fu
#else
VY_FN uint64_t fpu_x87_mode(void) { return 0; }
VY_FN void fpu_set_x87_mode(uint64_t mode) { (void)mode; }
#define FPU_X87_MODE_WANTED 0u
#endif

/// The floating-point environment of a caller, to be restored.
typedef struct fpu_saved {
    uint64_t mode, x87_mode; // as from fpu_mode() and fpu_x87_mode()
} fpu_saved;

VY_FN fpu_saved fpu_enter_scope(void)
{
    fpu_saved previous;
    previous.mode = fpu_enter();
    previous.x87_mode = fpu_x87_mode();
    if (previous.x87_mode != FPU_X87_MODE_WANTED) fpu_set_x87_mode(FPU_X87_MODE_WANTED);
    return previous;
}

VY_FN void fpu_leave_scope(const fpu_saved *previous)
{
    if (previous->x87_mode != FPU_X87_MODE_WANTED) fpu_set_x87_mode(previous->x87_mode);
    fpu_leave(previous->mode);
}

/// First line of a public function that computes, reads or writes numbers: the environment is ours until the
/// function returns, and then the caller's again.
#define FPU_SCOPE \
    __attribute__((cleanup(fpu_leave_scope), unused)) const fpu_saved fpu_caller = fpu_enter_scope()

// The compiler checks the arguments of printf-like functions.
#define VY_PRINTF(text, first) __attribute__((format(printf, text, first)))

#if !VY_SINGLE
typedef double real_constant; // in tables
#endif

#if VY_LANES == 1

#if VY_SINGLE
#include "base/real_single.inl"
#else
typedef double real;
typedef int mask;      // of a comparison: 0 or 1
typedef uint64_t bits; // the bits of a real, or an unsigned integer per lane

VY_FN real real_load(const double *p) { return *p; }
VY_FN void real_store(double *p, real x) { *p = x; }
VY_FN double real_lane(real x, int lane)
{
    (void)lane;
    return x;
}
VY_FN real real_gather(const double *table, bits index) { return table[index]; }

VY_FN bits bits_of(real x)
{
    bits b;
    memcpy(&b, &x, sizeof b);
    return b;
}

VY_FN real real_of(bits b)
{
    real x;
    memcpy(&x, &b, sizeof x);
    return x;
}

VY_FN real real_sqrt(real x)
{
#if defined(__CUDA_ARCH__)
    return __dsqrt_rn(x);
#else
    return __builtin_sqrt(x); // correctly rounded by IEEE 754; one instruction with -fno-math-errno
#endif
}
#endif

VY_FN real real_set(double x) { return x; }
VY_FN real real_with_lane(real x, int lane, double value)
{
    (void)x;
    (void)lane;
    return value;
}
VY_FN real real_select(mask m, real a, real b) { return m ? a : b; }
VY_FN int mask_any(mask m) { return m != 0; }
VY_FN int mask_all(mask m) { return m != 0; }
VY_FN mask mask_not(mask m) { return !m; }
VY_FN mask mask_set(int value) { return value != 0; }
VY_FN bits bits_set(uint64_t x) { return x; }
VY_FN uint64_t bits_lane(bits x, int lane)
{
    (void)lane;
    return x;
}
VY_FN bits bits_select(mask m, bits a, bits b) { return m ? a : b; }
VY_FN bits bits_gather(const uint64_t *table, bits index) { return table[index]; }
/// Low 32 bits times low 32 bits, all 64 bits of the product.
VY_FN bits bits_mul32(bits a, bits b) { return (a & 0xffffffffu) * (b & 0xffffffffu); }
/// Eight numbers side by side behind each lane's pointer: number k of all lanes is out[k].
VY_FN void real_load_rows(const real_constant *const from[VY_LANES], real out[8])
{
    for (int k = 0; k < 8; ++k) out[k] = from[0][k];
}
/// The inverse.
VY_FN void real_store_rows(double *const to[VY_LANES], const real x[8])
{
    for (int k = 0; k < 8; ++k) real_store(to[0] + k, x[k]);
}

#else // VY_LANES 2, 4 or 8: gcc and clang vector types

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
#pragma GCC diagnostic ignored "-Wpsabi" // lanes never cross from unit to unit, so no ABI can differ

typedef double real __attribute__((vector_size(8 * VY_LANES)));
typedef int64_t mask __attribute__((vector_size(8 * VY_LANES))); // 0 or -1 per lane
typedef uint64_t bits __attribute__((vector_size(8 * VY_LANES)));

VY_FN real real_set(double x) { return x - (real){0}; } // x - (+0.0) is x, and broadcasts
VY_FN double real_lane(real x, int lane) { return x[lane]; }
VY_FN uint64_t bits_lane(bits x, int lane) { return x[lane]; }
VY_FN bits bits_of(real x) { return (bits)x; }
VY_FN real real_of(bits b) { return (real)b; }
VY_FN mask mask_not(mask m) { return ~m; }
VY_FN bits bits_set(uint64_t x) { return x | (bits){0}; }
VY_FN mask mask_set(int value) { return (mask)bits_set(value ? ~(uint64_t)0 : 0); }

VY_FN bits bits_select(mask m, bits a, bits b) { return ((bits)m & a) | (~(bits)m & b); }
VY_FN real real_select(mask m, real a, real b) { return (real)bits_select(m, (bits)a, (bits)b); }

VY_FN real real_with_lane(real x, int lane, double value)
{
    x[lane] = value;
    return x;
}

VY_FN real real_load(const double *p)
{
    real x;
    memcpy(&x, p, sizeof x);
    return x;
}

VY_FN void real_store(double *p, real x) { memcpy(p, &x, sizeof x); }

VY_FN int mask_any(mask m)
{
#if defined(__AVX512F__) && VY_LANES == 8
    return _mm512_test_epi64_mask((__m512i)m, (__m512i)m) != 0;
#elif defined(__AVX__) && VY_LANES == 4
    return _mm256_movemask_pd((__m256d)m) != 0;
#elif defined(__SSE2__) && VY_LANES == 2
    return _mm_movemask_pd((__m128d)m) != 0;
#else
    int64_t combined = 0;
    for (int i = 0; i < VY_LANES; ++i) combined |= m[i];
    return combined != 0;
#endif
}

VY_FN int mask_all(mask m) { return !mask_any(~m); }

VY_FN bits bits_gather(const uint64_t *table, bits index)
{
    bits x = {0};
    for (int i = 0; i < VY_LANES; ++i) x[i] = table[index[i]];
    return x;
}

VY_FN real real_gather(const double *table, bits index)
{
    real x = {0};
    for (int i = 0; i < VY_LANES; ++i) x[i] = table[index[i]];
    return x;
}

// Rows to columns and columns to rows, by shuffles where lanes are in one register.
#if defined(__AVX512F__) && VY_LANES == 8
VY_FN void real_transpose(real x[8])
{
    __m512d a[8], b[8];
    for (int k = 0; k < 8; k += 2) { // pairs of neighbours
        a[k] = _mm512_unpacklo_pd((__m512d)x[k], (__m512d)x[k + 1]);
        a[k + 1] = _mm512_unpackhi_pd((__m512d)x[k], (__m512d)x[k + 1]);
    }
    for (int k = 0; k < 2; ++k) { // quarters of two pairs
        b[k] = _mm512_shuffle_f64x2(a[k], a[2 + k], 0x88);
        b[2 + k] = _mm512_shuffle_f64x2(a[k], a[2 + k], 0xdd);
        b[4 + k] = _mm512_shuffle_f64x2(a[4 + k], a[6 + k], 0x88);
        b[6 + k] = _mm512_shuffle_f64x2(a[4 + k], a[6 + k], 0xdd);
    }
    for (int k = 0; k < 2; ++k) {
        x[k] = (real)_mm512_shuffle_f64x2(b[k], b[4 + k], 0x88);
        x[4 + k] = (real)_mm512_shuffle_f64x2(b[k], b[4 + k], 0xdd);
        x[2 + k] = (real)_mm512_shuffle_f64x2(b[2 + k], b[6 + k], 0x88);
        x[6 + k] = (real)_mm512_shuffle_f64x2(b[2 + k], b[6 + k], 0xdd);
    }
}
#elif defined(__AVX__) && VY_LANES == 4
VY_FN void real_transpose(real x[4])
{
    const __m256d a = _mm256_unpacklo_pd((__m256d)x[0], (__m256d)x[1]),
                  b = _mm256_unpackhi_pd((__m256d)x[0], (__m256d)x[1]),
                  c = _mm256_unpacklo_pd((__m256d)x[2], (__m256d)x[3]),
                  d = _mm256_unpackhi_pd((__m256d)x[2], (__m256d)x[3]);
    x[0] = (real)_mm256_permute2f128_pd(a, c, 0x20);
    x[1] = (real)_mm256_permute2f128_pd(b, d, 0x20);
    x[2] = (real)_mm256_permute2f128_pd(a, c, 0x31);
    x[3] = (real)_mm256_permute2f128_pd(b, d, 0x31);
}
#else
VY_FN void real_transpose(real x[VY_LANES])
{
    for (int i = 0; i < VY_LANES; ++i) {
        for (int k = i + 1; k < VY_LANES; ++k) {
            const double t = x[i][k];
            x[i][k] = x[k][i];
            x[k][i] = t;
        }
    }
}
#endif

VY_FN void real_load_rows(const double *const from[VY_LANES], real out[8])
{
    for (int k = 0; k < 8; k += VY_LANES) {
        for (int i = 0; i < VY_LANES; ++i) out[k + i] = real_load(from[i] + k);
        real_transpose(out + k);
    }
}

VY_FN void real_store_rows(double *const to[VY_LANES], const real x[8])
{
    for (int k = 0; k < 8; k += VY_LANES) {
        real rows[VY_LANES];
        for (int i = 0; i < VY_LANES; ++i) rows[i] = x[k + i];
        real_transpose(rows);
        for (int i = 0; i < VY_LANES; ++i) real_store(to[i] + k, rows[i]);
    }
}

VY_FN bits bits_mul32(bits a, bits b)
{
#if defined(__AVX512F__) && VY_LANES == 8
    return (bits)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__) && VY_LANES == 4
    return (bits)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__) && VY_LANES == 2
    return (bits)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
    return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

VY_FN real real_sqrt(real x)
{
#if defined(__AVX512F__) && VY_LANES == 8
    return (real)_mm512_sqrt_pd((__m512d)x);
#elif defined(__AVX__) && VY_LANES == 4
    return (real)_mm256_sqrt_pd((__m256d)x);
#elif defined(__SSE2__) && VY_LANES == 2
    return (real)_mm_sqrt_pd((__m128d)x);
#elif defined(__aarch64__) && VY_LANES == 2
    return (real)vsqrtq_f64((float64x2_t)x);
#else
    for (int i = 0; i < VY_LANES; ++i) x[i] = __builtin_sqrt(x[i]);
    return x;
#endif
}

#endif

// The rest is the same for every choice.

/// A whole number that every lane holds.
VY_FN int bits_uniform(bits x) { return (int)bits_lane(x, 0); }

VY_FN real real_min(real a, real b) { return real_select(a < b, a, b); }
VY_FN real real_max(real a, real b) { return real_select(a > b, a, b); }
VY_FN real real_clamp(real x, real low, real high) { return real_min(real_max(x, low), high); }

#if !VY_SINGLE

VY_FN real real_abs(real x) { return real_of(bits_of(x) & 0x7fffffffffffffffu); }

/// `x` with the sign of `s`.
VY_FN real real_copysign(real x, real s)
{
    return real_of((bits_of(x) & 0x7fffffffffffffffu) | (bits_of(s) & 0x8000000000000000u));
}

/// Nearest whole number, ties to even, for |x| < 2^51.
VY_FN real real_round(real x) { return (x + 6755399441055744.0) - 6755399441055744.0; }

/// The low 32 bits of `round(x)` in two's complement, for |x| < 2^31.
VY_FN bits real_round_bits(real x) { return bits_of(x + 6755399441055744.0) & 0xffffffffu; }

/// A whole number 0 <= n < 2^52 as a real, exactly.
VY_FN real real_from_uint(bits n) { return real_of(n | 0x4330000000000000u) - 4503599627370496.0; }

/// Lanes where x is neither infinite nor NaN.
VY_FN mask real_is_finite(real x) { return real_abs(x) <= DBL_MAX; }

/// Beyond this a state counts as infinite: lengths and energies are made of its square.
#define REAL_MAX 1e100
VY_FN mask real_is_bounded(real x) { return real_abs(x) <= REAL_MAX; }

#endif
