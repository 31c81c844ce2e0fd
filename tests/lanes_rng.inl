// lanes_rng.inl - the draws of rng.h over arrays, for the number of lanes of the including file.
#include "base/rng.h"
#include "lanes_rng.h"

void LANES_RNG_NAME(const lanes_rng_draws *d)
{
    for (int i = 0; i < d->count; i += VY_LANES) {
        bits seed, index, step, words[LANES_RNG_WORDS];
        real normals[LANES_RNG_NORMALS], uniforms[LANES_RNG_UNIFORMS];
        memcpy(&seed, d->seed + i, sizeof seed);
        memcpy(&index, d->index + i, sizeof index);
        memcpy(&step, d->step + i, sizeof step);
        rng_words(seed, RNG_STREAM_MOCAP, index, step, 3, words);
        rng_normals(seed, RNG_STREAM_IMU, index, step, normals, LANES_RNG_NORMALS);
        rng_uniforms(seed, RNG_STREAM_START, index, step, uniforms, LANES_RNG_UNIFORMS);
        for (int j = 0; j < LANES_RNG_WORDS; ++j) {
            for (int lane = 0; lane < VY_LANES; ++lane) {
                d->words[j * d->count + i + lane] = bits_lane(words[j], lane);
            }
        }
        for (int j = 0; j < LANES_RNG_NORMALS; ++j) real_store(d->normals + j * d->count + i, normals[j]);
        for (int j = 0; j < LANES_RNG_UNIFORMS; ++j) real_store(d->uniforms + j * d->count + i, uniforms[j]);
    }
}
