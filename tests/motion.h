// motion.h - the motion hash of a world: where its bodies are and how they move, and nothing else of its
// state. A change of what a state holds moves the state hash and must leave this one alone.
#pragma once
#include "base/hash.h"
#include "volery/world.h"

/// Advance by `ticks`. @return a hash that chains position, velocity, attitude and rate of every body after
/// every step
static inline uint64_t motion_hash(vy_world *world, uint64_t ticks)
{
    uint64_t chain = 0;
    for (uint64_t tick = 0; tick < ticks; ++tick) {
        (void)vy_world_step(world);
        for (uint32_t i = 0; i < vy_world_body_count(world); ++i) {
            vy_world_body_state s;
            if (vy_world_read_body(world, vy_world_body(world, i), &s) != VY_OK) return 0;
            const struct {
                uint64_t chain;
                vy_vec3 position, velocity;
                vy_quat attitude;
                vy_vec3 rate;
            } motion = {chain, s.position, s.velocity, s.attitude, s.rate};
            _Static_assert(sizeof motion == 14 * sizeof(double), "no padding is hashed");
            chain = vy_hash64(&motion, sizeof motion);
        }
    }
    return chain;
}
