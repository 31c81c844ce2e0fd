// support_scan256.h - scans with 256-bit vectors, for support_avx2.c and, where few points make wider ones no
// faster, support_avx512.c.
#pragma once
#include "base/assert.h"
#include "geometry/support.h"
#include <immintrin.h>

typedef struct scan256 {
    __m256d top;   // per lane, the largest height so far
    __m256i index; // and where it was first seen
} scan256;

static inline __m256d heights256(const double *x, const double *y, const double *z, __m256d dx, __m256d dy,
                                 __m256d dz)
{
    const __m256d hx = _mm256_mul_pd(_mm256_loadu_pd(x), dx), hy = _mm256_mul_pd(_mm256_loadu_pd(y), dy);
    return _mm256_add_pd(_mm256_add_pd(hx, hy), _mm256_mul_pd(_mm256_loadu_pd(z), dz));
}

// The largest of four, in every lane.
static inline __m256d broadcast_max256(__m256d v)
{
    v = _mm256_max_pd(v, _mm256_permute2f128_pd(v, v, 1));
    return _mm256_max_pd(v, _mm256_permute_pd(v, 5));
}

static inline scan256 scan_next256(scan256 s, __m256d h, __m256i index)
{
    const __m256d higher = _mm256_cmp_pd(h, s.top, _CMP_GT_OQ);
    s.top = _mm256_blendv_pd(s.top, h, higher);
    s.index = _mm256_blendv_epi8(s.index, index, _mm256_castpd_si256(higher));
    return s;
}

static inline int extreme256(const double *x, const double *y, const double *z, int padded_count, vec3 d)
{
    VY_ASSERT(padded_count >= 8 && padded_count % 8 == 0);
    const __m256d dx = _mm256_set1_pd(d.x), dy = _mm256_set1_pd(d.y), dz = _mm256_set1_pd(d.z);
    const __m256i lanes = _mm256_set_epi64x(3, 2, 1, 0), eight = _mm256_set1_epi64x(8);
    __m256i index0 = lanes, index1 = _mm256_add_epi64(lanes, _mm256_set1_epi64x(4));
    scan256 s0 = {heights256(x, y, z, dx, dy, dz), index0};
    scan256 s1 = {heights256(x + 4, y + 4, z + 4, dx, dy, dz), index1};
    for (int i = 8; i < padded_count; i += 8) { // two scans side by side: each waits for itself only
        index0 = _mm256_add_epi64(index0, eight);
        index1 = _mm256_add_epi64(index1, eight);
        s0 = scan_next256(s0, heights256(x + i, y + i, z + i, dx, dy, dz), index0);
        s1 = scan_next256(s1, heights256(x + i + 4, y + i + 4, z + i + 4, dx, dy, dz), index1);
    }
    const __m256d max = broadcast_max256(_mm256_max_pd(s0.top, s1.top));
    const int m0 = _mm256_movemask_pd(_mm256_cmp_pd(s0.top, max, _CMP_EQ_OQ));
    const int m1 = _mm256_movemask_pd(_mm256_cmp_pd(s1.top, max, _CMP_EQ_OQ));
    if (padded_count == 8)
        return __builtin_ctz((unsigned)(m0 | m1 << 4) | 0x80u); // the bit ends a search among NaNs
    if ((m0 | m1) == 0) return 0;
    long long index[8], best = padded_count;
    _mm256_storeu_si256((__m256i *)(void *)index, s0.index);
    _mm256_storeu_si256((__m256i *)(void *)(index + 4), s1.index);
    for (int m = m0 | m1 << 4; m != 0; m &= m - 1) {
        const long long i = index[__builtin_ctz((unsigned)m)];
        best = i < best ? i : best;
    }
    return (int)best;
}

static inline int argmin256(const double *values, int count)
{
    VY_ASSERT(count >= 8 && count % 8 == 0);
    __m256d min0 = _mm256_loadu_pd(values), min1 = _mm256_loadu_pd(values + 4);
    for (int i = 8; i < count; i += 8) {
        min0 = _mm256_min_pd(min0, _mm256_loadu_pd(values + i));
        min1 = _mm256_min_pd(min1, _mm256_loadu_pd(values + i + 4));
    }
    __m256d min = _mm256_min_pd(min0, min1);
    min = _mm256_min_pd(min, _mm256_permute2f128_pd(min, min, 1));
    min = _mm256_min_pd(min, _mm256_permute_pd(min, 5));
    for (int i = 0; i < count; i += 8) {
        const int m0 = _mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(values + i), min, _CMP_EQ_OQ));
        const int m1 = _mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(values + i + 4), min, _CMP_EQ_OQ));
        if ((m0 | m1) != 0) return i + __builtin_ctz((unsigned)(m0 | m1 << 4));
    }
    return 0;
}
