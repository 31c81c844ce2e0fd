// sample.c - keyed draws, keyed permutations, Sobol points, quantiles.
#include "campaign/sample.h"
#include "base/assert.h"
#include "base/math.h"
#include "base/rng.h"

enum { PERMUTE_ROUNDS = 6 };

double vy_sample_uniform(uint64_t seed, uint32_t index, uint64_t draw_index)
{
    double x;
    rng_uniforms(seed, RNG_STREAM_CAMPAIGN, index, draw_index, &x, 1);
    return x;
}

uint64_t vy_sample_permute(uint64_t seed, uint32_t index, uint64_t count, uint64_t element)
{
    VY_ASSERT(element < count && count <= UINT64_C(1) << 32);
    int half_bits = 1; // of one half of the network
    while (UINT64_C(1) << 2 * half_bits < count) ++half_bits;
    const uint64_t low_mask = (UINT64_C(1) << half_bits) - 1;
    do {
        uint64_t left = element >> half_bits, right = element & low_mask;
        for (int round = 0; round < PERMUTE_ROUNDS; ++round) {
            uint64_t words[4];
            rng_words(seed, RNG_STREAM_CAMPAIGN, index, (uint64_t)(round + 1) << 32 | right, 1, words);
            const uint64_t next = left ^ (words[0] & low_mask);
            left = right;
            right = next;
        }
        element = left << half_bits | right;
    } while (element >= count); // a permutation of more: whoever comes from within gets back within
    return element;
}

// Of a dimension from the second on: the degree of its primitive polynomial, the inner coefficients, and the
// first direction numbers. The first rows of new-joe-kuo-6.21201 (S. Joe and F. Y. Kuo, Constructing Sobol
// sequences with better two-dimensional projections, SIAM J. Sci. Comput. 30, 2008).
typedef struct sobol_row {
    unsigned char degree, inner; // of the polynomial: its degree, and a bit for each inner coefficient
    unsigned short first[9];     // direction numbers
} sobol_row;
static const sobol_row sobol_rows[VY_SOBOL_DIMENSIONS - 1] = {
#include "campaign/sobol_table.inl"
};

void vy_sobol_directions(int dimension, uint32_t out[32])
{
    VY_ASSERT(dimension >= 0 && dimension < VY_SOBOL_DIMENSIONS);
    if (dimension == 0) {
        for (int i = 0; i < 32; ++i) out[i] = 1u << (31 - i);
        return;
    }
    const sobol_row *r = &sobol_rows[dimension - 1];
    const int s = r->degree;
    for (int i = 0; i < 32; ++i) {
        if (i < s) {
            out[i] = (uint32_t)r->first[i] << (31 - i);
            continue;
        }
        out[i] = out[i - s] ^ (out[i - s] >> s);
        for (int k = 1; k < s; ++k)
            if (r->inner >> (s - 1 - k) & 1) out[i] ^= out[i - k];
    }
}

void vy_sobol_scramble(uint64_t seed, uint32_t index, uint32_t directions[32])
{
    uint32_t matrix_rows[32]; // row i of the matrix: what bit 31 - i of the result is the parity of
    for (uint32_t i = 0; i < 32; ++i) {
        uint64_t words[4];
        rng_words(seed, RNG_STREAM_CAMPAIGN, index, i, 2, words);
        const uint32_t diagonal = 1u << (31 - i), above_diagonal = ~((diagonal << 1) - 1);
        matrix_rows[i] = ((uint32_t)words[0] & above_diagonal) | diagonal;
    }
    for (int k = 0; k < 32; ++k) {
        uint32_t result = 0;
        for (int i = 0; i < 32; ++i) {
            uint32_t x = matrix_rows[i] & directions[k];
            x ^= x >> 16;
            x ^= x >> 8;
            x ^= x >> 4;
            result |= (0x6996u >> (x & 15u) & 1u) << (31 - i);
        }
        directions[k] = result;
    }
}

uint32_t vy_sobol_point(const uint32_t directions[32], uint32_t point_index)
{
    uint32_t x = 0;
    for (int k = 0; point_index != 0; ++k, point_index >>= 1)
        if (point_index & 1u) x ^= directions[k];
    return x;
}

static double rational(const double *p, const double *q, double x)
{
    double numerator = p[7], denominator = q[7];
    for (int i = 6; i >= 0; --i) {
        numerator = numerator * x + p[i];
        denominator = denominator * x + q[i];
    }
    return numerator / denominator;
}

double vy_normal_quantile(double p)
{
    static const double a[8] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                3.3430575583588128105e4, 2.5090809287301226727e3};
    static const double b[8] = {1.0,
                                4.2313330701600911252e1,
                                6.8718700749205790830e2,
                                5.3941960214247511077e3,
                                2.1213794301586595867e4,
                                3.9307895800092710610e4,
                                2.8729085735721942674e4,
                                5.2264952788528545610e3};
    static const double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                5.76949722146069140550e0,  3.64784832476320460504e0,
                                1.27045825245236838258e0,  2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[8] = {1.0,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
    static const double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                1.78482653991729133580e0,  2.96560571828504891230e-1,
                                2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[8] = {1.0,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
    const double q = p - 0.5;
    VY_ASSERT(p > 0.0 && p < 1.0);
    if (q >= -0.425 && q <= 0.425) return q * rational(a, b, 0.180625 - q * q);
    const double tail = q < 0.0 ? p : 1.0 - p;
    const double r = real_sqrt(-math_log(tail));
    const double x = r <= 5.0 ? rational(c, d, r - 1.6) : rational(e, f, r - 5.0);
    return q < 0.0 ? -x : x;
}

// Series of Marsaglia (2004) near the middle, the continued fraction of Laplace in the tails.
double vy_normal_cdf(double x)
{
    const double density = math_exp(-0.5 * x * x) * 0.3989422804014327;
    const double magnitude = x < 0.0 ? -x : x;
    if (magnitude < 3.0) {
        double term = x, sum = x, previous = 0.0;
        for (int k = 3; sum != previous; k += 2) {
            previous = sum;
            term *= x * x / k;
            sum += term;
        }
        return 0.5 + sum * density;
    }
    if (magnitude > 38.0) return x < 0.0 ? 0.0 : 1.0;
    double fraction = 0.0;
    for (int k = 60; k > 0; --k) fraction = k / (magnitude + fraction);
    const double tail = density / (magnitude + fraction);
    return x < 0.0 ? tail : 1.0 - tail;
}
