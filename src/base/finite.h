// finite.h - is every number of an array finite?
#pragma once
#include "base/real.h"
#include <stddef.h>

/// Lanes in which none of `count` values is infinite or NaN.
VY_FN mask reals_finite(const real *values, size_t count)
{
    // An infinity or a NaN survives every addition, so a finite sum answers at once. Finite values can also
    // add up to infinity; then each is looked at. Eight sums hide each other's latency; single values, not
    // wider vectors, because they were just written as such and a wider load would have to wait for them.
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
    const real sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
    mask finite = sum - sum == 0.0;
    if (mask_all(finite)) return finite;
    finite = mask_set(1);
    for (i = 0; i < count; ++i) finite = finite & (values[i] - values[i] == 0.0);
    return finite;
}

/// 1 when no value is infinite or NaN, else 0.
int vy_all_finite(const double *values, size_t count);
