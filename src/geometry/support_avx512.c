// support_avx512.c - support functions, MPR and EPA for AVX-512; empty elsewhere.
#include "base/assert.h"
#include "geometry/support.h"
#include <stddef.h>

#if defined(__AVX512F__)
#include "geometry/support_scan256.h"

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

static inline scan scan_next(scan s, __m512d h, __m512i index)
{
    const __mmask8 higher = _mm512_cmp_pd_mask(h, s.top, _CMP_GT_OQ);
    s.top = _mm512_mask_mov_pd(s.top, higher, h);
    s.index = _mm512_mask_mov_epi64(s.index, higher, index);
    return s;
}

// Lane by lane the higher, of equals the smaller index.
static inline scan scan_merge(scan s, scan t)
{
    const __mmask8 higher = _mm512_cmp_pd_mask(t.top, s.top, _CMP_GT_OQ);
    const __mmask8 equal = _mm512_cmp_pd_mask(t.top, s.top, _CMP_EQ_OQ);
    const __mmask8 replace = higher | (equal & _mm512_cmp_epi64_mask(t.index, s.index, _MM_CMPINT_LT));
    s.top = _mm512_mask_mov_pd(s.top, replace, t.top);
    s.index = _mm512_mask_mov_epi64(s.index, replace, t.index);
    return s;
}

// The largest of eight, in every lane.
static inline __m512d broadcast_max(__m512d v)
{
    v = _mm512_max_pd(v, _mm512_shuffle_f64x2(v, v, 0x4e));
    v = _mm512_max_pd(v, _mm512_permutex_pd(v, 0x4e));
    return _mm512_max_pd(v, _mm512_permute_pd(v, 0x55));
}

// Below this many points the longer reduction of a wide vector costs more than its width gains.
enum { MIN_WIDE_POINTS = 256 };

static inline int extreme(const double *x, const double *y, const double *z, int padded_count, vec3 d)
{
    if (padded_count < MIN_WIDE_POINTS) return extreme256(x, y, z, padded_count, d);
    VY_ASSERT(padded_count % 8 == 0);
    const __m512d dx = _mm512_set1_pd(d.x), dy = _mm512_set1_pd(d.y), dz = _mm512_set1_pd(d.z);
    const __m512i eight = _mm512_set1_epi64(8);
    __m512i index = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    scan s = {heights(x, y, z, dx, dy, dz), index}, t = s;
    int i = 8;
    for (; i + 8 < padded_count; i += 16) { // two scans side by side: each waits for itself only
        index = _mm512_add_epi64(index, eight);
        s = scan_next(s, heights(x + i, y + i, z + i, dx, dy, dz), index);
        index = _mm512_add_epi64(index, eight);
        t = scan_next(t, heights(x + i + 8, y + i + 8, z + i + 8, dx, dy, dz), index);
    }
    if (i < padded_count)
        s = scan_next(s, heights(x + i, y + i, z + i, dx, dy, dz), _mm512_add_epi64(index, eight));
    s = scan_merge(s, t);
    const __mmask8 at_max = _mm512_cmp_pd_mask(s.top, broadcast_max(s.top), _CMP_EQ_OQ);
    return at_max != 0 ? (int)_mm512_mask_reduce_min_epi64(at_max, s.index) : 0; // none: there was a NaN
}

static inline int argmin(const double *values, int count) { return argmin256(values, count); }

#include "geometry/support_kernel.h"
#include "geometry/epa_kernel.h"
#include "geometry/mpr_kernel.h"

static const vy_support_table table = {"avx512", minkowski_support, extreme, argmin, mpr_find, epa_expand};
const vy_support_table *const vy_support_avx512 = &table;
#else
const vy_support_table *const vy_support_avx512 = NULL;
#endif
