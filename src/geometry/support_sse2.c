// support_sse2.c - support functions two vertices at a time; what every x86-64 processor has.
#include "geometry/support.h"
#include <stddef.h>

#if defined(__SSE2__)
#include <emmintrin.h>

typedef struct scan {
    __m128d top;   // per lane, the largest height so far
    __m128i index; // and where it was first seen
} scan;

static inline __m128d heights(const double *x, const double *y, const double *z, __m128d dx, __m128d dy,
                              __m128d dz)
{
    const __m128d hx = _mm_mul_pd(_mm_loadu_pd(x), dx), hy = _mm_mul_pd(_mm_loadu_pd(y), dy);
    return _mm_add_pd(_mm_add_pd(hx, hy), _mm_mul_pd(_mm_loadu_pd(z), dz));
}

static inline scan scan_next(scan s, __m128d h, __m128i index)
{
    const __m128i higher = _mm_castpd_si128(_mm_cmpgt_pd(h, s.top));
    s.top = _mm_max_pd(h, s.top);
    s.index = _mm_or_si128(_mm_and_si128(higher, index), _mm_andnot_si128(higher, s.index));
    return s;
}

// Of two scans the higher lane by lane, of equals the smaller index.
static inline scan scan_join(scan a, scan b)
{
    double ha[2], hb[2];
    long long ia[2], ib[2];
    _mm_storeu_pd(ha, a.top);
    _mm_storeu_pd(hb, b.top);
    _mm_storeu_si128((__m128i *)(void *)ia, a.index);
    _mm_storeu_si128((__m128i *)(void *)ib, b.index);
    for (int i = 0; i < 2; ++i) {
        if (hb[i] > ha[i] || (hb[i] == ha[i] && ib[i] < ia[i])) {
            ha[i] = hb[i];
            ia[i] = ib[i];
        }
    }
    const scan s = {_mm_loadu_pd(ha), _mm_loadu_si128((const __m128i *)(const void *)ia)};
    return s;
}

static inline int extreme(const double *x, const double *y, const double *z, int padded, vec3 d)
{
    const __m128d dx = _mm_set1_pd(d.x), dy = _mm_set1_pd(d.y), dz = _mm_set1_pd(d.z);
    const __m128i four = _mm_set1_epi64x(4);
    __m128i at0 = _mm_set_epi64x(1, 0), at1 = _mm_set_epi64x(3, 2);
    scan s0 = {heights(x, y, z, dx, dy, dz), at0};
    scan s1 = {heights(x + 2, y + 2, z + 2, dx, dy, dz), at1};
    for (int i = 4; i < padded; i += 4) {
        at0 = _mm_add_epi64(at0, four);
        at1 = _mm_add_epi64(at1, four);
        s0 = scan_next(s0, heights(x + i, y + i, z + i, dx, dy, dz), at0);
        s1 = scan_next(s1, heights(x + i + 2, y + i + 2, z + i + 2, dx, dy, dz), at1);
    }
    const scan s = scan_join(s0, s1);
    double h[2];
    long long index[2];
    _mm_storeu_pd(h, s.top);
    _mm_storeu_si128((__m128i *)(void *)index, s.index);
    return (int)(h[1] > h[0] || (h[1] == h[0] && index[1] < index[0]) ? index[1] : index[0]);
}

static int least(const double *values, int count)
{
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
#include "geometry/portal_kernel.h"

static const vy_support_table table = {"sse2", minkowski, extreme, least, portal_find, epa_expand};
const vy_support_table *const vy_support_sse2 = &table;
#else
const vy_support_table *const vy_support_sse2 = NULL;
#endif
