// rng_blocks.inl - normal deviates of a row of blocks, VY_LANES side by side, as ROW_NAME.
#include "base/rng.h"

static inline void put(double *out, size_t stride, real x)
{
    for (int lane = 0; lane < VY_LANES; ++lane) out[(size_t)lane * stride] = real_lane(x, lane);
}

_Static_assert(RNG_BLOCK_COUNT % VY_LANES == 0, "a row is whole vectors");
_Static_assert(RNG_CACHE_MAX % 4 == 0, "draws are written four at a time");

void ROW_NAME(const rng_blocks *row, double *out, size_t stride)
{
    static const uint64_t numbers[RNG_BLOCK_COUNT] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int first = 0; first < RNG_BLOCK_COUNT; first += VY_LANES) {
        bits lane;
        memcpy(&lane, numbers + first, sizeof lane);
        bits word[4];
        word[0] = bits_set(row->step) + lane * row->step_stride;
        word[1] = word[0] >> 32;
        word[2] = bits_set(row->index);
        word[3] = bits_set(row->block) + lane * (uint64_t)row->block_stride;
        rng_philox(word, bits_set(row->seed), bits_set(row->seed >> 32));
        double *at = out + (size_t)first * stride;
        put(at, stride, rng_normal_of_word(word[0])); // one by one: a loop would go through memory
        put(at + 1, stride, rng_normal_of_word(word[1]));
        put(at + 2, stride, rng_normal_of_word(word[2]));
        put(at + 3, stride, rng_normal_of_word(word[3]));
    }
}
