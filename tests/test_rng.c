// test_rng.c - Philox against its published answers, keys, distributions, the inversion, lanes against
// scalar.
//
// Every draw is a function of fixed keys, so a statistic that passes once passes for ever. Limits are about
// four standard deviations of the statistic under the hypothesis that the numbers are what they claim to be.
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "lanes_rng.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t random_state;

// SplitMix64, for keys.
static uint64_t random_bits(void)
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Known answers

typedef struct answer {
    uint64_t counter[4], key[2], want[4];
} answer;

// The vectors that the authors of Philox publish with their library (Random123, kat_vectors).
static const answer answers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

static void rng_known_answers(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; ++i) {
        const answer *a = &answers[i];
        bits c[4] = {a->counter[0], a->counter[1], a->counter[2], a->counter[3]};
        rng_philox(c, a->key[0], a->key[1]);
        for (int j = 0; j < 4; ++j) assert_true(c[j] == a->want[j]);

        // The same through the keying: seed is the key, then step low, step high, index, stream and block.
        bits out[4];
        rng_words(a->key[0] | (a->key[1] << 32), (uint32_t)(a->counter[3] >> 8), a->counter[2],
                  a->counter[0] | (a->counter[1] << 32), (uint32_t)(a->counter[3] & 0xff), out);
        for (int j = 0; j < 4; ++j) assert_true(out[j] == a->want[j]);
    }
}

// Keys

static int distance(const bits a[4], const bits b[4])
{
    int count = 0;
    for (int j = 0; j < 4; ++j) {
        for (bits x = a[j] ^ b[j]; x != 0; x &= x - 1) ++count;
    }
    return count;
}

// Any bit of the key changes about half of the 128 bits of the result: 64 with a deviation of 5.7.
static void rng_every_key_bit_counts(void **unused)
{
    (void)unused;
    random_state = 1;
    double sum = 0.0;
    int count = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const uint64_t seed = random_bits(), index = random_bits() >> 32, step = random_bits();
        const uint32_t stream = (uint32_t)(random_bits() >> 40), block = (uint32_t)(random_bits() >> 56);
        bits a[4], b[4];
        rng_words(seed, stream, index, step, block, a);
        for (int bit = 0; bit < 64 + 64 + 32 + 24 + 8; ++bit) {
            const uint64_t one = 1;
            const uint64_t d_seed = bit < 64 ? one << bit : 0;
            const uint64_t d_step = bit >= 64 && bit < 128 ? one << (bit - 64) : 0;
            const uint64_t d_index = bit >= 128 && bit < 160 ? one << (bit - 128) : 0;
            const uint32_t d_stream = bit >= 160 && bit < 184 ? 1u << (bit - 160) : 0;
            const uint32_t d_block = bit >= 184 ? 1u << (bit - 184) : 0;
            rng_words(seed ^ d_seed, stream ^ d_stream, index ^ d_index, step ^ d_step, block ^ d_block, b);
            const int changed = distance(a, b);
            assert_in_range(changed, 30, 98);
            sum += changed;
            ++count;
        }
    }
    assert_true(fabs(sum / count - 64.0) < 4.0 * sqrt(32.0 / count));
}

static int compare_words(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// All blocks of all streams of a few neighbouring drones and steps are different.
static void rng_streams_do_not_overlap(void **unused)
{
    (void)unused;
    enum { STREAMS = 16, BLOCKS = 256, INDICES = 8, STEPS = 8, COUNT = STREAMS * BLOCKS * INDICES * STEPS };
    uint64_t *all = malloc(COUNT * sizeof *all);
    assert_non_null(all);
    size_t n = 0;
    for (uint32_t stream = 0; stream < STREAMS; ++stream) {
        for (uint32_t block = 0; block < BLOCKS; ++block) {
            for (uint64_t i = 0; i < INDICES * STEPS; ++i) {
                bits out[4];
                rng_words(2, stream, i % INDICES, i / INDICES, block, out);
                all[n++] = out[0] | (out[1] << 32);
            }
        }
    }
    qsort(all, n, sizeof *all, compare_words);
    size_t equal = 0;
    for (size_t i = 1; i < n; ++i) equal += all[i] == all[i - 1];
    free(all);
    assert_int_equal(equal, 0); // 262,144 numbers of 64 bits: one pair in 5e8 runs by chance
}

// A shorter draw is the beginning of a longer one, and each block follows the one before.
static void rng_draws_are_prefixes(void **unused)
{
    (void)unused;
    real longest[16], shorter[16], uniforms[7], fewer[3];
    rng_normals(5, RNG_STREAM_IMU, 1, 9, longest, 16);
    for (int count = 0; count <= 16; ++count) {
        rng_normals(5, RNG_STREAM_IMU, 1, 9, shorter, count);
        for (int i = 0; i < count; ++i) assert_true(shorter[i] == longest[i]);
    }
    for (int i = 0; i < 16; ++i) {
        bits out[4];
        rng_words(5, RNG_STREAM_IMU, 1, 9, (uint32_t)(i / 4), out);
        assert_true(rng_normal_of_word(out[i % 4]) == longest[i]);
    }
    rng_uniforms(5, RNG_STREAM_IMU, 1, 9, uniforms, 7);
    rng_uniforms(5, RNG_STREAM_IMU, 1, 9, fewer, 3);
    for (int i = 0; i < 3; ++i) assert_true(uniforms[i] == fewer[i]);
}

// Distributions

/// Sum of (observed - expected)^2 / expected, as its distance from the mean in standard deviations.
static double chi_square(const int *observed, int bins, double expected)
{
    double sum = 0.0;
    for (int i = 0; i < bins; ++i) sum += (observed[i] - expected) * (observed[i] - expected) / expected;
    return (sum - (bins - 1)) / sqrt(2.0 * (bins - 1));
}

static void rng_uniform_is_uniform(void **unused)
{
    (void)unused;
    enum { BINS = 1024, CALLS = 500000, PER_CALL = 6, COUNT = CALLS * PER_CALL };
    static int bins[BINS], fine[BINS]; // by the top ten bits, and by the ten after them
    double sum = 0.0, squares = 0.0;
    for (uint64_t step = 0; step < CALLS; ++step) {
        real u[PER_CALL];
        rng_uniforms(11, RNG_STREAM_START, 3, step, u, PER_CALL);
        for (int i = 0; i < PER_CALL; ++i) {
            assert_true(u[i] > 0.0 && u[i] < 1.0);
            ++bins[(int)(u[i] * BINS)];
            ++fine[(int)(u[i] * BINS * BINS) % BINS];
            sum += u[i] - 0.5;
            squares += (u[i] - 0.5) * (u[i] - 0.5);
        }
    }
    assert_true(fabs(chi_square(bins, BINS, (double)COUNT / BINS)) < 4.0);
    assert_true(fabs(chi_square(fine, BINS, (double)COUNT / BINS)) < 4.0);
    assert_true(fabs(sum / COUNT) < 4.0 * sqrt(1.0 / 12.0 / COUNT));
    assert_true(fabs(squares / COUNT - 1.0 / 12.0) < 4.0 * sqrt(1.0 / 180.0 / COUNT));
    assert_true(rng_uniform(0, 0) == 0x1p-53);
    assert_true(rng_uniform(0xffffffff, 0xffffffff) == 1.0 - 0x1p-53);
}

/// P(X < x) for a standard normal X.
static double normal_below(double x) { return 0.5 * erfc(-x * 0x1.6a09e667f3bcdp-1); }

static void rng_normals_are_normal(void **unused)
{
    (void)unused;
    enum { BINS = 1000, CALLS = 1000000, PER_CALL = 12, COUNT = CALLS * PER_CALL };
    static int bins[BINS];
    double m1 = 0.0, m2 = 0.0, m3 = 0.0, m4 = 0.0;
    int above4 = 0, above5 = 0, below4 = 0;
    for (uint64_t step = 0; step < CALLS; ++step) {
        real x[PER_CALL];
        rng_normals(12, RNG_STREAM_IMU, 0, step, x, PER_CALL);
        for (int i = 0; i < PER_CALL; ++i) {
            const double xx = x[i] * x[i];
            m1 += x[i];
            m2 += xx;
            m3 += xx * x[i];
            m4 += xx * xx;
            ++bins[(int)(normal_below(x[i]) * BINS)];
            above4 += x[i] > 4.0;
            below4 += x[i] < -4.0;
            above5 += xx > 25.0;
        }
    }
    const double n = COUNT;
    print_message("mean %.2e, variance - 1 %.2e, skewness %.2e, kurtosis - 3 %.2e, chi-square %.2f sigma\n",
                  m1 / n, m2 / n - 1.0, m3 / n, m4 / n - 3.0, chi_square(bins, BINS, n / BINS));
    print_message("above 4: %d, below -4: %d, beyond 5: %d of %.0f\n", above4, below4, above5, n);
    // The k-th power's own variance: E x^2k - (E x^k)^2 = 1, 2, 15, 96.
    assert_true(fabs(m1 / n) < 4.0 * sqrt(1.0 / n));
    assert_true(fabs(m2 / n - 1.0) < 4.0 * sqrt(2.0 / n));
    assert_true(fabs(m3 / n) < 4.0 * sqrt(15.0 / n));
    assert_true(fabs(m4 / n - 3.0) < 4.0 * sqrt(96.0 / n));
    assert_true(fabs(chi_square(bins, BINS, n / BINS)) < 4.0);
    const double tail4 = n * normal_below(-4.0), tail5 = 2.0 * n * normal_below(-5.0);
    assert_true(fabs(above4 - tail4) < 4.0 * sqrt(tail4));
    assert_true(fabs(below4 - tail4) < 4.0 * sqrt(tail4));
    assert_true(fabs(above5 - tail5) < 4.0 * sqrt(tail5));
}

// Neighbours in time, of drones, of streams, of seeds and within a draw do not know of each other.
static void rng_neighbours_are_uncorrelated(void **unused)
{
    (void)unused;
    enum { CALLS = 300000, N = 5 };
    double within = 0.0, sums[5] = {0.0}, squares = 0.0;
    for (uint64_t step = 0; step < CALLS; ++step) {
        real x[N], other[5][N];
        rng_normals(13, RNG_STREAM_IMU, 4, step, x, N);
        rng_normals(13, RNG_STREAM_IMU, 4, step + 1, other[0], N);
        rng_normals(13, RNG_STREAM_IMU, 4, step + 7, other[1], N);
        rng_normals(13, RNG_STREAM_IMU, 5, step, other[2], N);
        rng_normals(13, RNG_STREAM_MOCAP, 4, step, other[3], N);
        rng_normals(14, RNG_STREAM_IMU, 4, step, other[4], N);
        for (int i = 0; i < N; ++i) {
            for (int k = 0; k < 5; ++k) sums[k] += x[i] * other[k][i];
            if (i > 0) within += x[i] * x[i - 1];
            squares += (x[i] * x[i] - 1.0) * (other[0][i] * other[0][i] - 1.0) / 2.0;
        }
    }
    const double limit = 4.0 * sqrt((double)CALLS * N);
    for (int k = 0; k < 5; ++k) assert_true(fabs(sums[k]) < limit);
    assert_true(fabs(within) < limit);
    assert_true(fabs(squares) < limit); // nor do their sizes
}

// The inversion

/// Error of the deviate of a word in x, from the error in probability: dP = -dx exp(-x^2 / 2) / sqrt(2 pi).
static double inversion_error(uint64_t word)
{
    const double x = rng_normal_of_word(word & 0x7fffffffu);
    const double p = ((double)(word & 0x7fffffffu) + 0.5) * 0x1p-32;
    return (normal_below(-x) - p) * sqrt(2.0 * 0x1.921fb54442d18p+1) * exp(0.5 * x * x);
}

static void rng_inversion_is_exact_to_4e_9(void **unused)
{
    (void)unused;
    double worst = 0.0;
    for (uint64_t k = 0; k < 100000; ++k) worst = fmax(worst, fabs(inversion_error(k)));
    random_state = 3;
    for (int i = 0; i < 1000000; ++i)
        worst = fmax(worst, fabs(inversion_error(random_bits() >> (32 + i % 24))));
    // Both sides of each border: 2k + 1 = 8 ... 15 eighths of a power of two.
    for (int octave = 4; octave < 32; ++octave) {
        for (uint64_t eighth = 8; eighth < 16; ++eighth) {
            const uint64_t k = (eighth << octave >> 3) / 2;
            worst = fmax(worst, fmax(fabs(inversion_error(k)), fabs(inversion_error(k - 1))));
        }
    }
    print_message("worst error of a deviate %.2e, largest deviate %.4f\n", worst, rng_normal_of_word(0));
    assert_true(worst < 4e-9);
}

static void rng_normal_is_symmetric(void **unused)
{
    (void)unused;
    random_state = 4;
    for (int i = 0; i < 100000; ++i) {
        const uint64_t word = random_bits() >> 33;
        assert_true(rng_normal_of_word(word | 0x80000000u) == -rng_normal_of_word(word));
    }
    assert_true(fabs(rng_normal_of_word(0x7fffffff)) < 5e-9);          // p = 1/2 - 2^-33
    assert_true(fabs(rng_normal_of_word(0) - 6.3379577545537) < 4e-9); // p = 2^-33
}

// Lanes

static void rng_lanes_equal_scalar(void **unused)
{
    (void)unused;
    enum { COUNT = 20000 };
    static uint64_t seed[COUNT], index[COUNT], step[COUNT], words[2][COUNT * LANES_RNG_WORDS];
    static double normals[2][COUNT * LANES_RNG_NORMALS], uniforms[2][COUNT * LANES_RNG_UNIFORMS];
    static void (*const lanes[])(const lanes_rng_draws *) = {lanes_rng_2, lanes_rng_4, lanes_rng_8};
    random_state = 6;
    for (int i = 0; i < COUNT; ++i) {
        seed[i] = random_bits();
        index[i] = random_bits() >> 32;
        step[i] = random_bits() >> (i % 64);
    }
    lanes_rng_draws want = {seed, index, step, words[0], normals[0], uniforms[0], COUNT};
    lanes_rng_draws got = {seed, index, step, words[1], normals[1], uniforms[1], COUNT};
    lanes_rng_1(&want);
    for (size_t n = 0; n < sizeof lanes / sizeof lanes[0]; ++n) {
        memset(words[1], 0, sizeof words[1]);
        memset(normals[1], 0, sizeof normals[1]);
        memset(uniforms[1], 0, sizeof uniforms[1]);
        lanes[n](&got);
        assert_memory_equal(words[0], words[1], sizeof words[0]);
        assert_memory_equal(normals[0], normals[1], sizeof normals[0]);
        assert_memory_equal(uniforms[0], uniforms[1], sizeof uniforms[0]);
    }
}

// A row of blocks is the same numbers as one by one, at every level the processor has.
static void rng_rows_side_by_side(void **unused)
{
    (void)unused;
    random_state = 11;
    for (int i = 0; i < 20000; ++i) {
        const uint64_t seed = random_bits(), index = random_bits() >> 32, step = random_bits();
        const uint32_t stream = (uint32_t)(random_bits() & 0xffffff), first = (uint32_t)(random_bits() % 240);
        const int along = random_bits() % 2 == 0; // in steps, else in blocks
        const rng_blocks row = {seed,  index, step, along ? random_bits() % 1000 : 0, (stream << 8) + first,
                                !along};
        double each[RNG_BLOCK_COUNT][4], wide[RNG_BLOCK_COUNT][5];
        memset(wide, 0, sizeof wide);
        for (uint32_t k = 0; k < RNG_BLOCK_COUNT; ++k)
            rng_normals_of_block(seed, row.block + k * row.block_stride, index, step + k * row.step_stride,
                                 each[k]);
        for (int level = VY_CPU_BASELINE; level <= (int)vy_cpu_best() + 1; ++level) {
            switch (level) {
            case VY_CPU_BASELINE: vy_rng_normal_blocks_baseline(&row, wide[0], 5); break;
            case VY_CPU_AVX2: vy_rng_normal_blocks_avx2(&row, wide[0], 5); break;
            case VY_CPU_AVX512: vy_rng_normal_blocks_avx512(&row, wide[0], 5); break;
            default: break;
            }
            if (level > (int)vy_cpu_best()) vy_rng_normal_blocks(&row, wide[0], 5);
            for (int k = 0; k < RNG_BLOCK_COUNT; ++k) {
                assert_memory_equal(each[k], wide[k], sizeof each[k]);
                assert_true(wide[k][4] == 0.0);
            }
        }
    }
    double many[40], few[40];
    rng_normals(5, RNG_STREAM_WIND, 3, 9, many, 40);
    for (int count = 1; count <= 40; ++count) {
        rng_normals(5, RNG_STREAM_WIND, 3, 9, few, count);
        assert_memory_equal(few, many, (size_t)count * sizeof few[0]);
    }
}

// Whoever draws ahead gets what is asked for: in order, after a jump, with another seed or period.
static void rng_ahead_is_a_cache(void **unused)
{
    (void)unused;
    random_state = 12;
    rng_cache ahead;
    memset(&ahead, 0, sizeof ahead);
    uint64_t seed = 0, step = 0, period = 1;
    for (int i = 0; i < 50000; ++i) {
        const uint64_t event = random_bits() % 40;
        if (event == 0) seed = random_bits() % 3;
        if (event == 1) step = random_bits() % 100;
        if (event == 2) step = ~(uint64_t)0 - random_bits() % 100;
        if (event == 3) period = 1 + random_bits() % 20;
        double space[12], plain[12];
        const double *drawn = rng_normals_cached(&ahead, seed, RNG_STREAM_IMU, 7, step, period, space, 12);
        rng_normals(seed, RNG_STREAM_IMU, 7, step, plain, 12);
        assert_memory_equal(drawn, plain, sizeof plain);
        if (event != 4) step += period; // else once more
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rng_known_answers),
        cmocka_unit_test(rng_every_key_bit_counts),
        cmocka_unit_test(rng_streams_do_not_overlap),
        cmocka_unit_test(rng_draws_are_prefixes),
        cmocka_unit_test(rng_uniform_is_uniform),
        cmocka_unit_test(rng_normals_are_normal),
        cmocka_unit_test(rng_neighbours_are_uncorrelated),
        cmocka_unit_test(rng_inversion_is_exact_to_4e_9),
        cmocka_unit_test(rng_normal_is_symmetric),
        cmocka_unit_test(rng_lanes_equal_scalar),
        cmocka_unit_test(rng_rows_side_by_side),
        cmocka_unit_test(rng_ahead_is_a_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
