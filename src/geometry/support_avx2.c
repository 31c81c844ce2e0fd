// support_avx2.c - support functions, portal and EPA for AVX2; empty elsewhere.
#include "geometry/support.h"
#include <stddef.h>

#if defined(__AVX2__)
#include "geometry/support_scan256.h"

static inline int extreme(const double *x, const double *y, const double *z, int padded, vec3 d)
{
    return extreme256(x, y, z, padded, d);
}

static inline int least(const double *values, int count) { return least256(values, count); }

#include "geometry/support_kernel.h"

#include "geometry/epa_kernel.h"
#include "geometry/portal_kernel.h"

static const vy_support_table table = {"avx2", minkowski, extreme, least, portal_find, epa_expand};
const vy_support_table *const vy_support_avx2 = &table;
#else
const vy_support_table *const vy_support_avx2 = NULL;
#endif
