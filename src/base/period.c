// period.c - periods in steps, and lags over a step.
#include "base/real.h"
#include "base/period.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/math.h"

vy_status vy_period_ticks(const char *name, double period, double dt, uint64_t *out, vy_error *err)
{
    VY_ASSERT(dt > 0.0);
    const double ratio = period / dt;
    const double ticks = ratio < 1e9 ? real_round(ratio) : 0.0;
    if (!(ticks >= 1.0) || real_abs(ratio - ticks) > 1e-6 * ticks) {
        return vy_fail(err, VY_BAD_VALUE, "%s must be a whole multiple of the step (%g s), got %g s", name,
                       dt, period);
    }
    *out = (uint64_t)ticks;
    return VY_OK;
}

double vy_lag_decay(double time, double lag)
{
    VY_ASSERT(time >= 0.0);
    return lag > 0.0 ? math_exp(-time / lag) : 0.0;
}

lag_weights vy_lag_weights(double time, double lag)
{
    if (!(lag > 0.0)) return (lag_weights){0.0, 1.0, 1.0};
    const double x = time / lag, e = math_exp(-x);
    if (x >= 1.0) {
        return (lag_weights){2.0 * (x - 2.0 + e * (2.0 + x)) / (x * x),
                             (4.0 - 3.0 * x + x * x - e * (4.0 + x)) / (x * x), 1.0 - (1.0 - e) / x};
    }
    // Their series, for these forms lose digits: terms (-1)^n x^n / (n + 2)!.
    lag_weights w = {0.0, 0.0, 0.0};
    double term = 0.5;
    for (int n = 1; n < 24; ++n) {
        term *= -x / (n + 2.0);
        w.middle -= 2.0 * n * term;
        w.last += (n - 2.0) * term;
        w.last_linear -= (n + 2.0) * term;
    }
    return w;
}
