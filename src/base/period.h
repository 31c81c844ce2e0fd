// period.h - times as whole numbers of steps, and what a lag leaves over a time. Over `real`.
#pragma once
#include "base/real.h"
#include "volery/status.h"

/// A period [s] as a whole number of steps; `name` is for the error.
vy_status vy_period_ticks(const char *name, double period, double dt, uint64_t *out, vy_error *err);

/// What is left of an error after `time`, of a first-order lag; 0: it follows at once.
double vy_lag_decay(double time, double lag);

/// A step of u' = (g - u) / lag with a target g that moves: what its changes count for, beside the decays of
/// u. Exact for a constant target, whatever the lag.
typedef struct lag_weights {
    real middle, last; // weights of g half-way (twice) and at the end: ETDRK4 (Cox, Matthews, 2002)
    real last_linear;  // weight of g at the end, in a step of order 2
} lag_weights;

/// Weights of a lag over a step of `time`; a lag of 0 is none.
lag_weights vy_lag_weights(double time, double lag);

/// Is a period of `period` steps due at `tick`?
VY_FN mask due(bits tick, uint64_t period)
{
    if (period <= 1) return mask_set(period == 1);
#if VY_LANES == 1
    if ((tick | period) >> 32 == 0)
        return (uint32_t)tick % (uint32_t)period == 0; // a short division is quicker
    return tick % period == 0;
#else
    // The nearest multiple is the right one where there is one, for ticks below 2^50.
    const real t = real_from_uint(tick);
    return t - real_round(t * (1.0 / (double)period)) * (double)period == 0.0;
#endif
}
