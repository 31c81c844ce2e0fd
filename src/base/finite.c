// finite.c - the check of a whole state.
#include "base/finite.h"

// The exact answer, one value at a time.
static int each_finite(const double *values, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (!(values[i] - values[i] == 0.0)) return 0;
    }
    return 1;
}

int vy_all_finite(const double *values, size_t count)
{
    // An infinity or a NaN survives every addition, so a finite sum answers at once. Finite values can also
    // add up to infinity; then each is looked at. Eight sums hide each other's latency; single values, not
    // vectors, because they were just written as such and a wider load would have to wait for them.
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0, e = 0.0, f = 0.0, g = 0.0, h = 0.0;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        a += values[i];
        b += values[i + 1];
        c += values[i + 2];
        d += values[i + 3];
        e += values[i + 4];
        f += values[i + 5];
        g += values[i + 6];
        h += values[i + 7];
    }
    for (; i < count; ++i) a += values[i];
    const double sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
    return sum - sum == 0.0 || each_finite(values, count);
}
