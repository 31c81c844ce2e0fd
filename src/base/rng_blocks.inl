// rng_blocks.inl - normal deviates of a row of blocks, VY_LANES side by side, as ROW_NAME.
#include "base/rng.h"

static inline void store_lanes(double *out, size_t stride, real x)
{
    for (int lane = 0; lane < VY_LANES; ++lane) out[(size_t)lane * stride] = real_lane(x, lane);
}

_Static_assert(RNG_BLOCK_COUNT % VY_LANES == 0, "a row is whole vectors");
_Static_assert(RNG_CACHE_MAX % 4 == 0, "draws are written four at a time");

void ROW_NAME(const rng_blocks *row, double *out, size_t stride)
{
    static const uint64_t block_numbers[RNG_BLOCK_COUNT] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int first = 0; first < RNG_BLOCK_COUNT; first += VY_LANES) {
        bits block_number;
        memcpy(&block_number, block_numbers + first, sizeof block_number);
        bits words[4];
        words[0] = bits_set(row->step) + block_number * row->step_stride;
        words[1] = words[0] >> 32;
        words[2] = bits_set(row->index);
        words[3] = bits_set(row->block) + block_number * (uint64_t)row->block_stride;
        rng_philox(words, bits_set(row->seed), bits_set(row->seed >> 32));
        double *block_out = out + (size_t)first * stride;
        store_lanes(block_out, stride,
                    rng_normal_of_word(words[0])); // one by one: a loop would go through memory
        store_lanes(block_out + 1, stride, rng_normal_of_word(words[1]));
        store_lanes(block_out + 2, stride, rng_normal_of_word(words[2]));
        store_lanes(block_out + 3, stride, rng_normal_of_word(words[3]));
    }
}
