// support_avx2.c - support functions, MPR and EPA for AVX2; empty elsewhere.
#include "geometry/support.h"
#include <stddef.h>

#if defined(__AVX2__)
#include "geometry/support_scan256.h"

static inline int extreme(const double *x, const double *y, const double *z, int padded_count, vec3 d)
{
    return extreme256(x, y, z, padded_count, d);
}

static inline int argmin(const double *values, int count) { return argmin256(values, count); }

#include "geometry/support_kernel.h"

#include "geometry/epa_kernel.h"
#include "geometry/mpr_kernel.h"

static const vy_support_table table = {"avx2", minkowski_support, extreme, argmin, mpr_find, epa_expand};
const vy_support_table *const vy_support_avx2 = &table;
#else
const vy_support_table *const vy_support_avx2 = NULL;
#endif
