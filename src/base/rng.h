// rng.h - random numbers as a pure function of (seed, stream, index, step): there is no generator state.
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3; SC 2011) turns a
// 64-bit key and a 128-bit counter into four 32-bit words. Here the key is the seed and the counter is
// (step low, step high, index, stream and block), so a sensor's noise depends on nothing but its own name
// and the time: adding another sensor, drone or world moves nothing.
#pragma once
#include "base/assert.h"
#include "base/real.h"

/// The streams. Numbers are part of the determinism contract: never changed, never given again. Those of
/// sensors stand in sensors/sensors.h: 0, 1, 5 to 8, 13 to 16, and from 32 on.
enum rng_stream {
    RNG_STREAM_IMU = 0,
    RNG_STREAM_MOCAP = 1,
    RNG_STREAM_DISTURBANCE_FORCE = 2,
    RNG_STREAM_DISTURBANCE_TORQUE = 3,
    RNG_STREAM_START = 4,
    RNG_STREAM_WIND = 9,
    RNG_STREAM_FAULT = 10,
    RNG_STREAM_PARAMETER = 11,
    RNG_STREAM_IMU_WANDER = 12,
    RNG_STREAM_LINK = 17,
    RNG_STREAM_ESTIMATE = 18,
    RNG_STREAM_CAMPAIGN = 24
};

/// One round of Philox. The words are the low halves of the lanes; the high halves hold garbage, which the
/// multiplication does not see.
VY_FN void rng_philox_round(bits counter[4], bits key[2])
{
    const bits a = bits_mul32(counter[0], bits_set(0xd2511f53u));
    const bits b = bits_mul32(counter[2], bits_set(0xcd9e8d57u));
    counter[0] = (b >> 32) ^ counter[1] ^ key[0];
    counter[2] = (a >> 32) ^ counter[3] ^ key[1];
    counter[1] = b;
    counter[3] = a;
    key[0] = key[0] + 0x9e3779b9u;
    key[1] = key[1] + 0xbb67ae85u;
}

/// Philox4x32-10. `counter` becomes the output, four 32-bit words.
VY_FN void rng_philox(bits counter[4], bits key0, bits key1)
{
    bits key[2];
    key[0] = key0;
    key[1] = key1;
    rng_philox_round(counter, key);
    rng_philox_round(counter, key);
    rng_philox_round(counter, key);
    rng_philox_round(counter, key);
    rng_philox_round(counter, key);
    rng_philox_round(counter, key);
    rng_philox_round(counter, key);
    rng_philox_round(counter, key);
    rng_philox_round(counter, key);
    rng_philox_round(counter, key);
    counter[0] = counter[0] & 0xffffffffu;
    counter[1] = counter[1] & 0xffffffffu;
    counter[2] = counter[2] & 0xffffffffu;
    counter[3] = counter[3] & 0xffffffffu;
}

/// Four 32-bit words. `stream` < 2^24 and `block` < 256 are the same for all lanes; `seed` (64 bits),
/// `index` (32 bits: which drone, which sensor) and `step` (64 bits) may differ from lane to lane.
VY_FN void rng_words(bits seed, uint32_t stream, bits index, bits step, uint32_t block, bits out[4])
{
    VY_ASSERT(stream < 1u << 24);
    out[0] = step;
    out[1] = step >> 32;
    out[2] = index;
    out[3] = bits_set((stream << 8) | (block & 0xffu));
    rng_philox(out, seed, seed >> 32);
}

#if VY_SINGLE
#include "base/rng_single.inl"
#else
/// A number of the open interval (0, 1) from two words: the middle of one of 2^52 equal cells.
VY_FN real rng_uniform(bits high, bits low)
{
    return (real_from_uint((high << 20) | (low >> 12)) + 0.5) * 0x1p-52;
}

/// Where n, the lower 31 bits of a word with a 1 behind them, lies in the table of normal deviates. The
/// segment is its exponent and the top three bits of its fraction; the rest of the fraction, made a number of
/// [1, 1.125), is the place in it.
VY_FN bits rng_segment(bits word, real *segment_position)
{
    const bits d = bits_of(real_from_uint(((word & 0x7fffffffu) << 1) | 1u));
    *segment_position = real_of((d & 0x0001ffffffffffffu) | 0x3ff0000000000000u);
    return (d >> 49) - (0x3ffu << 3);
}

/// x, negative where the top bit of the word says so.
VY_FN real rng_apply_sign(real x, bits word)
{
    return real_of(bits_of(x) ^ ((word << 32) & 0x8000000000000000u));
}
#endif

/// `count` numbers uniform in (0, 1); at most 512, two to a block.
VY_FN void rng_uniforms(bits seed, uint32_t stream, bits index, bits step, real *out, int count)
{
    VY_ASSERT(count >= 0 && count <= 512);
    for (int i = 0; i < count; i += 2) {
        bits words[4];
        rng_words(seed, stream, index, step, (uint32_t)(i / 2), words);
        out[i] = rng_uniform(words[0], words[1]);
        if (i + 1 < count) out[i + 1] = rng_uniform(words[2], words[3]);
    }
}

/// The standard normal deviate of a 32-bit word, by inversion of the distribution. The top bit is the sign;
/// k, the other 31, gives the tail probability (k + 1/2) / 2^32. Sizes go from 0 to 6.34, each within 4e-9.
VY_FN real rng_normal_of_word(bits word)
{
    // Rows of a cache line: quartics, filled up with zeros.
    VY_ALIGNED(64)
    static const real_constant table[256][8] = {
#include "base/normal_table.inl"
    };
    real u;
    const bits segment = rng_segment(word, &u);
    const real_constant *row[VY_LANES];
    for (int lane = 0; lane < VY_LANES; ++lane) row[lane] = table[bits_lane(segment, lane)];
    for (int lane = 0; lane < VY_LANES; ++lane) VY_ASSERT(bits_lane(segment, lane) < 256);
    real c[8];
    real_load_rows(row, c);
    return rng_apply_sign((c[0] + u * c[1]) + (u * u) * (c[2] + u * (c[3] + u * c[4])), word);
}

/// The four normal deviates of a block, one word each: block `block` & 0xff of stream `block` >> 8.
VY_FN void rng_normals_of_block(bits seed, uint32_t block, bits index, bits step, real out[4])
{
    bits words[4];
    rng_words(seed, block >> 8, index, step, block, words);
    for (int i = 0; i < 4; ++i) out[i] = rng_normal_of_word(words[i]);
}

enum { RNG_BLOCK_COUNT = 8 };

/// A row of RNG_BLOCK_COUNT blocks, each one step of the stride further: in blocks or in steps.
typedef struct rng_blocks {
    uint64_t seed, index;
    uint64_t step, step_stride;   // of the first block; from block to block
    uint32_t block, block_stride; // likewise: stream and block as in rng_normals_of_block()
} rng_blocks;

// The deviates of a row for a scalar caller, those of block k at out + k * stride: in the lanes of vectors
// where the processor has such, and what does that for each level of vy_cpu().
void vy_rng_normal_blocks(const rng_blocks *row, double *out, size_t stride);
void vy_rng_normal_blocks_baseline(const rng_blocks *row, double *out, size_t stride);
void vy_rng_normal_blocks_avx2(const rng_blocks *row, double *out, size_t stride);
void vy_rng_normal_blocks_avx512(const rng_blocks *row, double *out, size_t stride);

// Scalar double on a CPU: callers that may draw many at a time.
#if VY_LANES == 1 && !VY_SINGLE && !defined(__CUDACC__)
#define RNG_SCALAR 1
#else
#define RNG_SCALAR 0
#endif

/// `count` independent standard normal deviates; at most 1024, and fastest when `count` is a constant.
VY_FN void rng_normals(bits seed, uint32_t stream, bits index, bits step, real *out, int count)
{
    VY_ASSERT(count >= 0 && count <= 1024);
    int start = 0;
#if RNG_SCALAR
    for (; count - start > 4; start += 4 * RNG_BLOCK_COUNT) {
        const rng_blocks row = {seed, index, step, 0, (stream << 8) + (uint32_t)start / 4, 1};
        const int draw_count = count - start < 4 * RNG_BLOCK_COUNT ? count - start : 4 * RNG_BLOCK_COUNT;
        double deviates[4 * RNG_BLOCK_COUNT];
        vy_rng_normal_blocks(&row, deviates, 4);
        for (int i = 0; i < draw_count; ++i) out[start + i] = deviates[i];
    }
#endif
    for (; start < count; start += 4) {
        real deviates[4];
        rng_normals_of_block(seed, (stream << 8) + (uint32_t)start / 4, index, step, deviates);
        for (int i = 0; i < 4 && start + i < count; ++i) out[start + i] = deviates[i];
    }
}

enum { RNG_CACHE_MAX = 12 };

/// Deviates drawn ahead for one stream and index that a scalar caller needs every so many steps:
/// RNG_BLOCK_COUNT draws side by side cost little more than one. A cache, not state: zeros are an empty one,
/// and the numbers are always those of rng_normals.
typedef struct rng_cache {
    uint64_t seed, step;                          // of the first draw that is left
    uint64_t period;                              // steps to the next
    uint64_t remaining;                           // draws that are left
    double draws[RNG_BLOCK_COUNT][RNG_CACHE_MAX]; // the deviates of each draw; the last `remaining` are left
} rng_cache;

/// Fill it from its seed and step on, with its period.
void vy_rng_cache_fill(rng_cache *cache, uint32_t stream, uint64_t index, int count);

/// The same as rng_normals with `count` <= RNG_CACHE_MAX, for a caller that draws again `period` steps later.
/// Returns `out`, or what `cache` holds, which may be NULL and is not used by lanes.
VY_FN const real *rng_normals_cached(rng_cache *cache, bits seed, uint32_t stream, bits index, bits step,
                                     uint64_t period, real *out, int count)
{
    VY_ASSERT(count > 0 && count <= RNG_CACHE_MAX);
#if RNG_SCALAR
    if (cache != NULL) {
        if (cache->remaining == 0 || cache->step != step || cache->seed != seed || cache->period != period) {
            cache->seed = seed;
            cache->step = step;
            cache->period = period;
            cache->remaining = RNG_BLOCK_COUNT;
            vy_rng_cache_fill(cache, stream, index, count);
        }
        VY_ASSERT(cache->remaining >= 1 && cache->remaining <= RNG_BLOCK_COUNT);
        cache->step += period;
        cache->remaining -= 1;
        return cache->draws[RNG_BLOCK_COUNT - 1 - cache->remaining];
    }
#else
    (void)cache;
    (void)period;
#endif
    rng_normals(seed, stream, index, step, out, count);
    return out;
}
