// support_avx512.c - support functions eight vertices at a time; built with -mavx512f, empty elsewhere.
#include "geometry/support.h"
#include <stddef.h>

#if defined(__AVX512F__)
#include <immintrin.h>

typedef struct scan {
    __m512d top;   // per lane, the largest height so far
    __m512i index; // and where it was first seen
} scan;

static inline __m512d heights(const double *x, const double *y, const double *z, __m512d dx, __m512d dy,
                              __m512d dz)
{
    const __m512d hx = _mm512_mul_pd(_mm512_loadu_pd(x), dx), hy = _mm512_mul_pd(_mm512_loadu_pd(y), dy);
    return _mm512_add_pd(_mm512_add_pd(hx, hy), _mm512_mul_pd(_mm512_loadu_pd(z), dz));
}

static inline scan scan_next(scan s, __m512d h, __m512i at)
{
    const __mmask8 higher = _mm512_cmp_pd_mask(h, s.top, _CMP_GT_OQ);
    s.top = _mm512_mask_mov_pd(s.top, higher, h);
    s.index = _mm512_mask_mov_epi64(s.index, higher, at);
    return s;
}

// Lane by lane the higher, of equals the smaller index.
static inline scan scan_join(scan s, scan t)
{
    const __mmask8 higher = _mm512_cmp_pd_mask(t.top, s.top, _CMP_GT_OQ);
    const __mmask8 equal = _mm512_cmp_pd_mask(t.top, s.top, _CMP_EQ_OQ);
    const __mmask8 take = higher | (equal & _mm512_cmp_epi64_mask(t.index, s.index, _MM_CMPINT_LT));
    s.top = _mm512_mask_mov_pd(s.top, take, t.top);
    s.index = _mm512_mask_mov_epi64(s.index, take, t.index);
    return s;
}

// The largest of eight, in every lane.
static inline __m512d spread_max(__m512d v)
{
    v = _mm512_max_pd(v, _mm512_shuffle_f64x2(v, v, 0x4e));
    v = _mm512_max_pd(v, _mm512_permutex_pd(v, 0x4e));
    return _mm512_max_pd(v, _mm512_permute_pd(v, 0x55));
}

static inline int extreme(const double *x, const double *y, const double *z, int padded, vec3 d)
{
    const __m512d dx = _mm512_set1_pd(d.x), dy = _mm512_set1_pd(d.y), dz = _mm512_set1_pd(d.z);
    __m512i at = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    scan s = {heights(x, y, z, dx, dy, dz), at}, t = s;
    int i = 8;
    for (; i + 8 < padded; i += 16) { // two scans side by side: each waits for itself only
        at = _mm512_add_epi64(at, _mm512_set1_epi64(8));
        s = scan_next(s, heights(x + i, y + i, z + i, dx, dy, dz), at);
        at = _mm512_add_epi64(at, _mm512_set1_epi64(8));
        t = scan_next(t, heights(x + i + 8, y + i + 8, z + i + 8, dx, dy, dz), at);
    }
    if (i < padded) {
        at = _mm512_add_epi64(at, _mm512_set1_epi64(8));
        s = scan_next(s, heights(x + i, y + i, z + i, dx, dy, dz), at);
    }
    if (padded > 16) s = scan_join(s, t);
    const __mmask8 m = _mm512_cmp_pd_mask(s.top, spread_max(s.top), _CMP_EQ_OQ);
    if (padded == 8) return __builtin_ctz(m | 0x80u); // the bit stops a search among NaNs
    if ((m & (m - 1)) == 0) {                         // one lane has it: no search among equals
        return (int)_mm_cvtsi128_si64(_mm512_castsi512_si128(_mm512_maskz_compress_epi64(m, s.index)));
    }
    return (int)_mm512_mask_reduce_min_epi64(m, s.index);
}

static int least(const double *values, int count)
{
    __m512d all = _mm512_loadu_pd(values);
    for (int i = 8; i < count; i += 8) all = _mm512_min_pd(all, _mm512_loadu_pd(values + i));
    all = _mm512_min_pd(all, _mm512_shuffle_f64x2(all, all, 0x4e));
    all = _mm512_min_pd(all, _mm512_permutex_pd(all, 0x4e));
    all = _mm512_min_pd(all, _mm512_permute_pd(all, 0x55));
    for (int i = 0; i < count; i += 8) {
        const __mmask8 m = _mm512_cmp_pd_mask(_mm512_loadu_pd(values + i), all, _CMP_EQ_OQ);
        if (m != 0) return i + __builtin_ctz((unsigned)m);
    }
    return 0;
}

#include "geometry/support_kernel.h"
#include "geometry/epa_kernel.h"
#include "geometry/portal_kernel.h"

static const vy_support_table table = {"avx512", minkowski, extreme, least, portal_find, epa_expand};
const vy_support_table *const vy_support_avx512 = &table;
#else
const vy_support_table *const vy_support_avx512 = NULL;
#endif
