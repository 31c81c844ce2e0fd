// support_sse2.c - support functions, MPR and EPA for SSE2, which every x86-64 processor has.
#include "base/assert.h"
#include "geometry/support.h"
#include <stddef.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#include <float.h>

enum { FEW_POINTS = 32 }; // points that are scanned together

static inline __m128d heights(const double *x, const double *y, const double *z, __m128d dx, __m128d dy,
                              __m128d dz)
{
    const __m128d hx = _mm_mul_pd(_mm_loadu_pd(x), dx), hy = _mm_mul_pd(_mm_loadu_pd(y), dy);
    return _mm_add_pd(_mm_add_pd(hx, hy), _mm_mul_pd(_mm_loadu_pd(z), dz));
}

// All heights of up to FEW_POINTS points, their maximum, and then its index: the scan does not depend on an
// index.
static inline int extreme_few(const double *x, const double *y, const double *z, int padded_count, vec3 d,
                              double *top)
{
    VY_ASSERT(padded_count > 0 && padded_count <= FEW_POINTS && padded_count % 4 == 0);
    const __m128d dx = _mm_set1_pd(d.x), dy = _mm_set1_pd(d.y), dz = _mm_set1_pd(d.z);
    __m128d h[FEW_POINTS / 2], max0 = _mm_set1_pd(-DBL_MAX), max1 = max0;
    for (int i = 0; i < padded_count; i += 4) {
        h[i / 2] = heights(x + i, y + i, z + i, dx, dy, dz);
        h[i / 2 + 1] = heights(x + i + 2, y + i + 2, z + i + 2, dx, dy, dz);
        max0 = _mm_max_pd(max0, h[i / 2]);
        max1 = _mm_max_pd(max1, h[i / 2 + 1]);
    }
    const __m128d lane_max = _mm_max_pd(max0, max1),
                  max = _mm_max_pd(lane_max, _mm_shuffle_pd(lane_max, lane_max, 1));
    *top = _mm_cvtsd_f64(max);
    uint32_t at_max = 0;
    for (int i = 0; i < padded_count; i += 4) {
        const int e0 = _mm_movemask_pd(_mm_cmpeq_pd(h[i / 2], max));
        const int e1 = _mm_movemask_pd(_mm_cmpeq_pd(h[i / 2 + 1], max));
        at_max |= (uint32_t)(e0 | e1 << 2) << i;
    }
    return at_max != 0 ? __builtin_ctz(at_max) : 0; // none: there was a NaN
}

static inline int extreme(const double *x, const double *y, const double *z, int padded_count, vec3 d)
{
    double top, block_top;
    if (padded_count == 8) return extreme_few(x, y, z, 8, d, &top);
    int best = extreme_few(x, y, z, padded_count < FEW_POINTS ? padded_count : FEW_POINTS, d, &top);
    for (int i = FEW_POINTS; i < padded_count; i += FEW_POINTS) {
        const int index =
            extreme_few(x + i, y + i, z + i, padded_count - i < FEW_POINTS ? padded_count - i : FEW_POINTS, d,
                        &block_top);
        best = block_top > top ? i + index : best;
        top = block_top > top ? block_top : top;
    }
    return best;
}

static inline int argmin(const double *values, int count)
{
    VY_ASSERT(count >= 4 && count % 4 == 0);
    __m128d min0 = _mm_loadu_pd(values), min1 = _mm_loadu_pd(values + 2);
    for (int i = 4; i < count; i += 4) {
        min0 = _mm_min_pd(min0, _mm_loadu_pd(values + i));
        min1 = _mm_min_pd(min1, _mm_loadu_pd(values + i + 2));
    }
    __m128d min = _mm_min_pd(min0, min1);
    min = _mm_min_pd(min, _mm_shuffle_pd(min, min, 1));
    for (int i = 0; i < count; i += 2) {
        const int m = _mm_movemask_pd(_mm_cmpeq_pd(_mm_loadu_pd(values + i), min));
        if (m != 0) return i + ((m & 1) != 0 ? 0 : 1);
    }
    return 0;
}

#include "geometry/support_kernel.h"
#include "geometry/epa_kernel.h"
#include "geometry/mpr_kernel.h"

static const vy_support_table table = {"sse2", minkowski_support, extreme, argmin, mpr_find, epa_expand};
const vy_support_table *const vy_support_sse2 = &table;
#else
const vy_support_table *const vy_support_sse2 = NULL;
#endif
