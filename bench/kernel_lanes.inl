// kernel_lanes.inl - the bare loop for the VY_LANES and KERNEL_LANES of the including file.
#include "base/hash.h"
#include "bench/kernel_lanes.h"
#include "bench/kernel_loop.h"

static uint64_t fly(int steps)
{
    volatile uint64_t chosen = EFFECT_BIT(gravity) | EFFECT_BIT(drag); // known at run time only, as in a world
    body_state s;
    real speed[ROTOR_CAP];
    kernel_start(&s, speed);
    kernel_fly(steps, chosen, 1, &s, speed);
    uint64_t hash = 0;
    for (int lane = 0; lane < VY_LANES; ++lane) {
        double flat[sizeof s / sizeof(real)];
        for (size_t k = 0; k < sizeof s / sizeof(real); ++k) {
            real cell;
            memcpy(&cell, (const unsigned char *)&s + k * sizeof cell, sizeof cell);
            flat[k] = real_lane(cell, lane);
        }
        const uint64_t own = vy_hash64(flat, sizeof flat);
        if (lane > 0 && own != hash) return 0;
        hash = own;
    }
    return hash;
}

kernel_lanes_fn *const KERNEL_LANES = fly;
