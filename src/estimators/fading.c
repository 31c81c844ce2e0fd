// fading.c - the gains of the fading-memory filter.
#include "base/assert.h"
#include "base/math.h"
#include "estimators/estimators.h"

// Time constants of its memories [s]: shorter follows motion capture, longer trusts the IMU.
#define POSITION_MEMORY 0.1
#define ATTITUDE_MEMORY 0.2

void vy_fading_build(const estimator_setup *in, fading_params *out)
{
    const double period = in->mocap->period;
    VY_ASSERT(in->imu->period >= 0.0 && period >= 0.0);
    out->period = in->imu->period;
    out->gravity = in->gravity;
    if (period > 0.0)
        fading_set_gains(period, math_exp(-period / POSITION_MEMORY), math_exp(-period / ATTITUDE_MEMORY),
                         out);
}
