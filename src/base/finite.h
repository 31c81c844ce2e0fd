// finite.h - whether all numbers of an array are finite, and their squares too.
#pragma once
#include "base/assert.h"
#include "base/real.h"
#include <stddef.h>

/// Lanes in which none of `count` values is NaN or beyond REAL_MAX.
VY_FN mask reals_bounded(const real *values, size_t count)
{
    VY_ASSERT(values != NULL || count == 0);
    // An infinity or a NaN survives every addition, and so does a value beyond the bound unless another one
    // cancels it, which does not last; so a small sum decides at once. Else each value is tested. Eight sums
    // hide each other's latency; single values, not wider vectors, because they were just written as such and
    // a wider load would have to wait for them.
    real a = real_set(0.0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        a = a + values[i];
        b = b + values[i + 1];
        c = c + values[i + 2];
        d = d + values[i + 3];
        e = e + values[i + 4];
        f = f + values[i + 5];
        g = g + values[i + 6];
        h = h + values[i + 7];
    }
    for (; i < count; ++i) a = a + values[i];
    const real sum = ((real_abs(a) + real_abs(b)) + (real_abs(c) + real_abs(d))) +
                     ((real_abs(e) + real_abs(f)) + (real_abs(g) + real_abs(h)));
    mask is_bounded = sum <= REAL_MAX;
    if (mask_all(is_bounded)) return is_bounded;
    is_bounded = mask_set(1);
    for (i = 0; i < count; ++i) is_bounded = is_bounded & real_is_bounded(values[i]);
    return is_bounded;
}

/// 1 when no value is infinite, beyond REAL_MAX, or NaN; else 0.
int vy_all_bounded(const double *values, size_t count);
