// kernel_lanes.inl - the bare loop for the VY_LANES and KERNEL_LANES of the including file.
#include "base/hash.h"
#include "bench/kernel_lanes.h"
#include "bench/kernel_loop.h"

static uint64_t fly(int steps)
{
    volatile uint64_t effects = EFFECT_BIT(gravity) | EFFECT_BIT(drag); // known at run time only, as in a world
    body_state state;
    real speed[ROTOR_CAP];
    kernel_start(&state, speed);
    kernel_fly(steps, effects, 1, &state, speed);
    uint64_t hash = 0;
    for (int lane = 0; lane < VY_LANES; ++lane) {
        double values[sizeof state / sizeof(real)];
        for (size_t k = 0; k < sizeof state / sizeof(real); ++k) {
            real value;
            memcpy(&value, (const unsigned char *)&state + k * sizeof value, sizeof value);
            values[k] = real_lane(value, lane);
        }
        const uint64_t lane_hash = vy_hash64(values, sizeof values);
        if (lane > 0 && lane_hash != hash) return 0;
        hash = lane_hash;
    }
    return hash;
}

kernel_lanes_fn *const KERNEL_LANES = fly;
