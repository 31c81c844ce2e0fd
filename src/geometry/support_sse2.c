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
static inline int extreme_few(const double *x, const double *y, const double *z, int padded, vec3 d,
                              double *top)
{
    VY_ASSERT(padded > 0 && padded <= FEW_POINTS && padded % 4 == 0);
    const __m128d dx = _mm_set1_pd(d.x), dy = _mm_set1_pd(d.y), dz = _mm_set1_pd(d.z);
    __m128d h[FEW_POINTS / 2], m0 = _mm_set1_pd(-DBL_MAX), m1 = m0;
    for (int i = 0; i < padded; i += 4) {
        h[i / 2] = heights(x + i, y + i, z + i, dx, dy, dz);
        h[i / 2 + 1] = heights(x + i + 2, y + i + 2, z + i + 2, dx, dy, dz);
        m0 = _mm_max_pd(m0, h[i / 2]);
        m1 = _mm_max_pd(m1, h[i / 2 + 1]);
    }
    const __m128d m = _mm_max_pd(m0, m1), all = _mm_max_pd(m, _mm_shuffle_pd(m, m, 1));
    *top = _mm_cvtsd_f64(all);
    uint32_t set = 0;
    for (int i = 0; i < padded; i += 4) {
        const int e0 = _mm_movemask_pd(_mm_cmpeq_pd(h[i / 2], all));
        const int e1 = _mm_movemask_pd(_mm_cmpeq_pd(h[i / 2 + 1], all));
        set |= (uint32_t)(e0 | e1 << 2) << i;
    }
    return set != 0 ? __builtin_ctz(set) : 0; // none: there was a NaN
}

static inline int extreme(const double *x, const double *y, const double *z, int padded, vec3 d)
{
    double top, next;
    if (padded == 8) return extreme_few(x, y, z, 8, d, &top);
    int best = extreme_few(x, y, z, padded < FEW_POINTS ? padded : FEW_POINTS, d, &top);
    for (int i = FEW_POINTS; i < padded; i += FEW_POINTS) {
        const int at =
            extreme_few(x + i, y + i, z + i, padded - i < FEW_POINTS ? padded - i : FEW_POINTS, d, &next);
        best = next > top ? i + at : best;
        top = next > top ? next : top;
    }
    return best;
}

static inline int argmin(const double *values, int count)
{
    VY_ASSERT(count >= 4 && count % 4 == 0);
    __m128d l0 = _mm_loadu_pd(values), l1 = _mm_loadu_pd(values + 2);
    for (int i = 4; i < count; i += 4) {
        l0 = _mm_min_pd(l0, _mm_loadu_pd(values + i));
        l1 = _mm_min_pd(l1, _mm_loadu_pd(values + i + 2));
    }
    __m128d all = _mm_min_pd(l0, l1);
    all = _mm_min_pd(all, _mm_shuffle_pd(all, all, 1));
    for (int i = 0; i < count; i += 2) {
        const int m = _mm_movemask_pd(_mm_cmpeq_pd(_mm_loadu_pd(values + i), all));
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
