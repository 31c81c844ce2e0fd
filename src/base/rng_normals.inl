// rng_normals.inl - sixteen normal deviates from four blocks side by side, one to a lane, as NORMALS_NAME.
#define VY_LANES 4
#include "base/rng.h"

static inline void put(double *out, real x)
{
    for (int lane = 0; lane < 4; ++lane) out[4 * lane] = real_lane(x, lane);
}

void NORMALS_NAME(uint64_t seed, uint32_t block, uint64_t index, uint64_t step, double out[16])
{
    static const uint64_t lanes[4] = {0, 1, 2, 3};
    bits word[4] = {bits_set(step), bits_set(step >> 32), bits_set(index), bits_set(0)};
    memcpy(&word[3], lanes, sizeof word[3]);
    word[3] = word[3] + (uint64_t)block;
    rng_philox(word, bits_set(seed), bits_set(seed >> 32));
    put(out, rng_normal_of_word(word[0])); // one by one: a loop would go through memory
    put(out + 1, rng_normal_of_word(word[1]));
    put(out + 2, rng_normal_of_word(word[2]));
    put(out + 3, rng_normal_of_word(word[3]));
}
