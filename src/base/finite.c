// finite.c - the check of a whole state, two values at a time.
#define VY_LANES 2
#include "base/finite.h"
#include "base/real.h"

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
    // add up to infinity; then each is looked at.
    real a = real_set(0.0), b = a, c = a, d = a; // four sums hide each other's latency
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        a += real_load(values + i);
        b += real_load(values + i + 2);
        c += real_load(values + i + 4);
        d += real_load(values + i + 6);
    }
    const real sum = (a + b) + (c + d);
    double rest = real_lane(sum, 0) + real_lane(sum, 1);
    for (; i < count; ++i) rest += values[i];
    return rest - rest == 0.0 || each_finite(values, count);
}
