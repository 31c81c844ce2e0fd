// math.h - elementary functions over `real` in plain IEEE arithmetic, the same bits on every machine.
//
// Every function is within 1 ulp of the true value over its whole domain (tests/test_math.c measures this
// against MPFR; the worst seen is 0.79) and follows C99 Annex F for zeros, infinities and NaN; a NaN result
// has no particular bits. Where one double cannot carry enough, values are pairs high + low (Dekker 1971).
// Polynomials are minimax fits whose last error is far below the rounding of the result.
#pragma once
#include "base/assert.h"
#include "base/real.h"

// Trigonometric functions

VY_FN uint64_t math_mul_high(uint64_t a, uint64_t b)
{
    const uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
    const uint64_t middle = a1 * b0 + ((a0 * b0) >> 32);
    const uint64_t other = a0 * b1 + (middle & 0xffffffffu);
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

/// The fraction 0.p (192 bits, below 1/2) of a quarter turn as an angle high + low [rad].
VY_FN void math_quarter_angle(uint64_t p[3], double *high, double *low)
{
    double unit = 0x1p-53;
    for (int i = 0; i < 127 && !(p[0] >> 63); ++i) { // no double is closer than 2^-62 to a multiple of pi/2
        p[0] = (p[0] << 1) | (p[1] >> 63);
        p[1] = (p[1] << 1) | (p[2] >> 63);
        p[2] = p[2] << 1;
        unit *= 0.5;
    }
    VY_ASSERT(p[0] >> 63);
    // h + l is the fraction to 106 bits, h = h1 + h2 and pi/2 = a + c + 2^-80 with 26 bits in h1 and a.
    const double h = (double)(p[0] >> 11) * unit;
    const double l = (double)(((p[0] & 0x7ffu) << 42) | (p[1] >> 22)) * (unit * 0x1p-53);
    const double h1 = (double)((p[0] >> 38) << 27) * unit, h2 = h - h1;
    const double a = 0x1.921fb5p+0, c = 0x1.110b4611a6263p-26;
    const double main_product = h1 * a, small_products = h2 * a + h * c;
    *high = main_product + small_products;
    *low = ((main_product - *high) + small_products) + l * (a + c);
}

/// x modulo pi/2 for |x| >= 1/2 of any size (Payne and Hanek 1983): high + low in [-pi/4, pi/4], and the
/// quadrant 0 ... 4 as the result. 192 bits of 2/pi are taken from where they begin to matter modulo 4.
VY_COLD_FN double math_reduce_payne_hanek(double x, double *high, double *low)
{
    // A word of zeros, then the bits of 2/pi.
    static const uint64_t two_over_pi[20] = {
        0x0000000000000000u, 0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u,
        0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u, 0x06492eea09d1921cu, 0xfe1deb1cb129a73eu,
        0xe88235f52ebb4484u, 0xe99c7026b45f7e41u, 0x3991d639835339f4u, 0x9c845f8bbdf9283bu,
        0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du,
        0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu};
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    const int exponent = (int)((b >> 52) & 0x7ffu);
    if (exponent == 0x7ff) {
        *high = *low = x - x; // NaN
        return 0.0;
    }
    const uint64_t significand =
        (b & 0xfffffffffffffu) | 0x10000000000000u; // |x| = significand 2^(exponent - 1075)
    const int start = exponent - 1075 + 62, word = start >> 6, shift = start & 63;
    VY_ASSERT(word >= 0 && word + 3 < (int)(sizeof two_over_pi / sizeof two_over_pi[0]));
    uint64_t f[3], p[3];
    for (int i = 0; i < 3; ++i) {
        f[i] = (two_over_pi[word + i] << shift) | ((two_over_pi[word + i + 1] >> 1) >> (63 - shift));
    }
    p[2] = significand * f[2];
    p[1] = significand * f[1] + math_mul_high(significand, f[2]);
    p[0] = significand * f[0] + math_mul_high(significand, f[1]) + (p[1] < significand * f[1]);
    // The top two bits are the quadrant, the rest is the fraction to go; past the middle, to come back.
    double quadrant = (double)(p[0] >> 62), sign = b >> 63 ? -1.0 : 1.0;
    p[0] = (p[0] << 2) | (p[1] >> 62);
    p[1] = (p[1] << 2) | (p[2] >> 62);
    p[2] = p[2] << 2;
    if (p[0] >> 63) {
        quadrant += 1.0;
        p[2] = ~p[2] + 1;
        p[1] = ~p[1] + (p[2] == 0);
        p[0] = ~p[0] + (p[2] == 0 && p[1] == 0);
        sign = -sign;
    }
    math_quarter_angle(p, high, low);
    *high *= sign;
    *low *= sign;
    return b >> 63 ? 4.0 - quadrant : quadrant;
}

#if VY_SINGLE
#include "base/math_single.inl"
#else

VY_FN real math_nan(void) { return real_of(bits_set(0x7ff8000000000000u)); }

/// The top 26 bits of x: products of two such numbers are exact.
VY_FN real math_high_half(real x) { return real_of(bits_of(x) & 0xfffffffff8000000u); }

/// 2^n for the whole number n in the low 32 bits, -1022 <= n <= 1023.
VY_FN real math_exp2_int(bits n) { return real_of(((n + 1023u) & 0x7ffu) << 52); }

/// a * b - p for the rounded product p = a * b.
VY_FN real math_product_error(real a, real b, real p)
{
    const real ah = math_high_half(a), al = a - ah;
    const real bh = math_high_half(b), bl = b - bh;
    return ((ah * bh - p) + (ah * bl + al * bh)) + al * bl;
}

/// x modulo pi/2: high + low in [-pi/4, pi/4] with some slack; the quadrant is in the low bits of the result.
VY_FN bits math_reduce(real x, real *high, real *low)
{
    // pi/2 in three parts, the first two short enough for exact products with n < 2^20.
    real n = real_round(x * 0x1.45f306dc9c883p-1);
    const real a = x - n * 0x1.921fb544p+0, b = n * 0x1.0b4611a6p-34;
    const real s = a - b, back = s - a;
    const real t = ((a - (s - back)) - (b + back)) - n * 0x1.3198a2e037073p-69;
    real h = s + t;
    real l = (s - h) + t;
    // Beyond 2^20 the products round, and close to a multiple of pi/2 three parts are not enough.
    const mask far = mask_not(real_abs(x) < 0x1p20) | (real_abs(h) < real_abs(n) * 0x1p-58);
    if (mask_any(far)) {
        const bits is_far = bits_select(far, bits_set(1), bits_set(0));
        for (int i = 0; i < VY_LANES; ++i) {
            if (bits_lane(is_far, i)) {
                double hi, lo;
                n = real_with_lane(n, i, math_reduce_payne_hanek(real_lane(x, i), &hi, &lo));
                h = real_with_lane(h, i, hi);
                l = real_with_lane(l, i, lo);
            }
        }
    }
    *high = h;
    *low = l;
    return real_round_bits(n);
}

/// Sine and cosine of x + y as pairs, for |x| <= pi/4 and y a rounding error of x.
VY_FN void math_sincos_pairs(real x, real y, real *sin_high, real *sin_low, real *cos_high, real *cos_low)
{
    const real z = x * x, zz = z * z;
    const real s = z * 0x1.111111110f76p-7 + zz * ((-0x1.a01a019bf2b7dp-13 + z * 0x1.71de355fa4c72p-19) +
                                                   zz * (-0x1.ae5e550039429p-26 + z * 0x1.5d8e624f8bd9fp-33));
    const real c = 0x1.555555555554cp-5 + (z * -0x1.6c16c16c15223p-10 +
                                           zz * ((0x1.a01a019cbff9p-16 + z * -0x1.27e4f81336569p-22) +
                                                 zz * (0x1.1ee9f1b06dc6cp-29 + z * -0x1.8fb16360d8b6p-37)));
    // x^2 = square + square_rest, the first exact, and for the sine shortened so that top * z_top is exact
    // too.
    const real top = math_high_half(x), rest = x - top, square = top * top, square_rest = rest * (x + top);
    const real z_top = math_high_half(square), z_rest = (square - z_top) + square_rest;
    const double sixth = -0x1.5555555555548p-3;
    const real s_rest =
        (top * z_top) * sixth + (((top * z_rest + rest * z) * sixth + (x * z) * s) + y * (1.0 - 0.5 * z));
    *sin_high = x + s_rest;
    *sin_low = (x - *sin_high) + s_rest;
    const real half = 0.5 * square, w = 1.0 - half;
    const real c_rest = ((1.0 - w) - half) + (zz * c - (0.5 * square_rest + x * y));
    *cos_high = w + c_rest;
    *cos_low = (w - *cos_high) + c_rest;
}

/// Sine and cosine of x [rad], any size.
VY_FN void math_sincos(real x, real *sine, real *cosine)
{
    real h, l, s, c, s_low, c_low;
    const bits q = math_reduce(x, &h, &l);
    math_sincos_pairs(h, l, &s, &s_low, &c, &c_low);
    const mask is_odd = (q & 1u) != 0u;
    const real a = real_of(bits_of(real_select(is_odd, c, s)) ^ ((q & 2u) << 62));
    *cosine = real_of(bits_of(real_select(is_odd, s, c)) ^ (((q + 1u) & 2u) << 62));
    *sine = real_select(real_abs(x) < 0x1p-27, x, a); // keeps -0
}

VY_FN real math_sin(real x)
{
    real s, c;
    math_sincos(x, &s, &c);
    return s;
}

VY_FN real math_cos(real x)
{
    real s, c;
    math_sincos(x, &s, &c);
    return c;
}

/// (ah + al) / (bh + bl), with the rounding error of the quotient in `low`.
VY_FN real math_quotient(real ah, real al, real bh, real bl, real *low)
{
    const real q = ah / bh, p = q * bh;
    *low = (((ah - p) - math_product_error(q, bh, p)) + (al - q * bl)) / bh;
    return q;
}

VY_FN real math_tan(real x)
{
    real h, l, sh, sl, ch, cl, rest;
    const bits q = math_reduce(x, &h, &l);
    math_sincos_pairs(h, l, &sh, &sl, &ch, &cl);
    const mask is_odd = (q & 1u) != 0u; // then -cos / sin
    const real t = math_quotient(real_select(is_odd, -ch, sh), real_select(is_odd, -cl, sl),
                                 real_select(is_odd, sh, ch), real_select(is_odd, sl, cl), &rest);
    return real_select(real_abs(x) < 0x1p-27, x, t + rest); // keeps -0
}

// Inverse trigonometric functions

/// The angle in [0, pi] of the point (x, y) or, where `x_negative` is 1 and not 0, (-x, y). Both are pairs,
/// finite, >= 0 and not both 0.
/// The smaller over the larger is near c = 0, 1/8 ... 1; the angle of c is in a table and the rest is the
/// arc tangent of (small - c large) / (large + c small), which is below 1/16.
VY_FN real math_angle(real y, real y_low, real x, real x_low, bits x_negative)
{
    // For each c the angle, pi/2 - angle, pi - angle, pi/2 + angle; high and low.
    // clang-format off
    static const double table[72] = {
        0x0.0p+0, 0x0.0p+0, 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
        0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53, 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
        0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59, 0x1.7249faa996a21p+0, 0x1.a8cc1e7480c68p-54,
        0x1.8234d7f6ecb9dp+1, -0x1.3cd17e5a39792p-54, 0x1.b1f56fdeef00fp+0, 0x1.17f14fdc1574cp-55,
        0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57, 0x1.5368c951e9cfdp+0, -0x1.96f47948a99f1p-54,
        0x1.72c43f4b1650ap+1, 0x1.c1b6f4f44e10bp-53, 0x1.d0d6a1369bd34p+0, -0x1.a23602a65700cp-57,
        0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56, 0x1.3647503caf55cp+0, 0x1.17e21d9a42c9ap-55,
        0x1.643382c07913ap+1, 0x1.a65371fe67254p-54, 0x1.edf81a4bd64d4p+0, 0x1.a8d3b7956a1c1p-54,
        0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56, 0x1.1b6e192ebbe44p+0, 0x1.b1b466a88828ep-54,
        0x1.56c6e7397f5aep+1, 0x1.660b64ece6f4bp-53, 0x1.0468a8ace4df6p+1, 0x1.0620bf7406affp-55,
        0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58, 0x1.031f57e54adbep+0, 0x1.338b4259c0270p-54,
        0x1.4a9f8694c6d6bp+1, 0x1.26f6d2c582f3bp-53, 0x1.109009519d639p+1, 0x1.01398408cb59ep-54,
        0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56, 0x1.dac670561bb4fp-1, 0x1.a2b7f222f65e2p-55,
        0x1.3fc176b7a8560p+1, -0x1.441a3bd3f1083p-58, 0x1.1b6e192ebbe44p+1, 0x1.b1b466a88828ep-53,
        0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56, 0x1.b434ee31013fdp-1, -0x1.0520d0701d877p-55,
        0x1.361d162e61b8bp+1, 0x1.4be8fd7c9b7e6p-53, 0x1.251279b802819p+1, 0x1.6eaa5d3534893p-55,
        0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55, 0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55,
        0x1.2d97c7f3321d2p+1, 0x1.a79394c9e8a0ap-54, 0x1.2d97c7f3321d2p+1, 0x1.a79394c9e8a0ap-54};
    // clang-format on
    const mask is_steep = y > x;
    const real a = real_select(is_steep, x, y), a_low = real_select(is_steep, x_low, y_low);
    const real b = real_select(is_steep, y, x), b_low = real_select(is_steep, y_low, x_low);
    const real ratio = a / b, eighths = real_round(ratio * 8.0), c = 0.125 * eighths;

    const real b_top = math_high_half(b), d = a - c * b_top, e = c * (b - b_top);
    const real n = d - e, back = n - d;
    const real n_low = ((d - (n - back)) - (e + back)) + (a_low - c * b_low);
    const real p = c * a, m = b + p;
    const real m_low = ((b - m) + p) + (b_low + c * a_low);
    real q_low;
    const real q = math_quotient(n, n_low, m, m_low, &q_low), z = q * q;
    const real poly =
        -0x1.5555555555553p-2 +
        z * (0x1.999999998a66cp-3 +
             z * (-0x1.249248aa3cedbp-3 + z * (0x1.c719c3abe2244p-4 + z * -0x1.714c598954701p-4)));
    const real correction = q_low + (q * z) * poly;

    const bits column = (x_negative << 1) | bits_select(is_steep, bits_set(1), bits_set(0));
    const bits sign = ((column ^ (column << 1)) << 62) & 0x8000000000000000u; // minus in columns 1 and 2
    const bits table_index = (real_round_bits(eighths) << 3) + (column << 1);
    const real base = real_gather(table, table_index), base_low = real_gather(table + 1, table_index);
    const real r = real_of(bits_of(q) ^ sign), s = base + r;
    const real angle = s + ((r - (s - base)) + (base_low + real_of(bits_of(correction) ^ sign)));
    return real_select((ratio < 0x1p-30) & (column == 0u), ratio, angle);
}

/// The angle of the point (x, y) in [-pi, pi] [rad].
VY_FN real math_atan2(real y, real x)
{
    // Zeros and infinities become points in the same direction; the rest moves to where nothing overflows.
    real a = real_abs(y), b = real_abs(x);
    const mask is_infinite = (a > DBL_MAX) | (b > DBL_MAX);
    a = real_select(is_infinite, real_select(a > DBL_MAX, real_set(1.0), real_set(0.0)), a);
    b = real_select(is_infinite, real_select(b > DBL_MAX, real_set(1.0), real_set(0.0)), b);
    b = real_select((a == 0.0) & (b == 0.0), real_set(1.0), b);
    const mask is_nan = (x != x) | (y != y);
    a = real_select(is_nan, real_set(1.0), a);
    b = real_select(is_nan, real_set(1.0), b);
    const real size = real_max(a, b);
    const real scale = real_select(size > 0x1p500, real_set(0x1p-600),
                                   real_select(size < 0x1p-400, real_set(0x1p600), real_set(1.0)));
    const bits negative = bits_of(x) >> 63;
    const real zero = real_set(0.0);
    const real angle = math_angle(a * scale, zero, b * scale, zero, negative);
    // A tiny angle is the quotient itself, which scaling could have hurt.
    const real ratio = a / b;
    const real r = real_select((ratio < 0x1p-30) & (negative == 0u), ratio, angle);
    return real_select(is_nan, x + y, real_copysign(r, y));
}

/// sqrt(1 - x^2) as a pair, for |x| <= 1.
VY_FN real math_sqrt_1_minus_square(real x, real *low)
{
    const real p = x * x, s = 1.0 - p;
    const real rest = ((1.0 - s) - p) - math_product_error(x, x, p);
    const real h = s + rest, h_low = (s - h) + rest;
    const real r = real_sqrt(h), rr = r * r;
    const real l = ((h - rr) - math_product_error(r, r, rr) + h_low) / (2.0 * r);
    *low = real_select(h > 0.0, l, real_set(0.0));
    return r;
}

VY_FN real math_asin(real x)
{
    const mask in_domain = real_abs(x) <= 1.0;
    const real a = real_select(in_domain, real_abs(x), real_set(0.0));
    real low;
    const real b = math_sqrt_1_minus_square(a, &low);
    const real angle = math_angle(a, real_set(0.0), b, low, bits_set(0));
    return real_select(in_domain, real_copysign(angle, x), math_nan());
}

VY_FN real math_acos(real x)
{
    const mask in_domain = real_abs(x) <= 1.0;
    const real a = real_select(in_domain, real_abs(x), real_set(0.0));
    real low;
    const real b = math_sqrt_1_minus_square(a, &low);
    return real_select(in_domain, math_angle(b, low, a, real_set(0.0), bits_of(x) >> 63), math_nan());
}

// Exponential and logarithm

/// exp(high + low) for |high| <= 800.
VY_FN real math_exp_pair(real high, real low)
{
    const real shifted = high * 0x1.71547652b82fep+0 + 6755399441055744.0;
    const real n = shifted - 6755399441055744.0;
    const real a = high - n * 0x1.62e42fefa38p-1, b = low - n * 0x1.ef35793c7673p-45;
    const real r = a + b, r_low = (a - r) + b;
    const real rr = r * r, r4 = rr * rr;
    const real p = ((0x1.555555555554dp-3 + r * 0x1.555555555316cp-5) +
                    rr * (0x1.1111111111f67p-7 + r * 0x1.6c16c17cf37ddp-10)) +
                   r4 * (((0x1.a01a01a3c3555p-13 + r * 0x1.a019aa987ed6ap-16) +
                          rr * (0x1.71de10b2b062p-19 + r * 0x1.28a01b38172aap-22)) +
                         r4 * 0x1.af3b7ddc7c4f5p-26);
    const real w = 1.0 + r;
    const real y = w + ((r - (w - 1.0)) + (0.5 * rr + ((r * rr) * p + r_low)));
    // 2^n in two factors, so that neither overflows and only the last product rounds.
    const bits m = bits_of(shifted) + 2048u, half = ((m & 0xfffu) >> 1) - 1024u;
    return (y * math_exp2_int(half)) * math_exp2_int(m - 2048u - half);
}

VY_FN real math_exp(real x)
{
    const real y = math_exp_pair(real_clamp(x, real_set(-746.0), real_set(710.0)), real_set(0.0));
    return real_select(x != x, x, y);
}

/// log(x) as a pair, for finite x > 0. x = 2^k m with m near 1; m r = 1 + f for an r of the table, exactly.
VY_FN real math_log_pair(real x, real *low)
{
    static const double table[91 * 3] = {
#include "base/log_table.inl"
    };
    const mask is_tiny = x < DBL_MIN;
    const bits b = bits_of(real_select(is_tiny, x * 0x1p54, x));
    const bits moved = b + (0x3ff0000000000000u - 0x3fe6a09e00000000u); // m from sqrt(1/2) to sqrt(2)
    const real k =
        real_from_uint((moved >> 52) & 0x7ffu) - real_select(is_tiny, real_set(1077.0), real_set(1023.0));
    const real m = real_of(b - (moved & 0xfff0000000000000u) + 0x3ff0000000000000u);
    const bits i = real_round_bits(m * 128.0) - 91u, table_index = (i << 1) + i;
    const real r = real_gather(table, table_index);
    const real log_high = real_gather(table + 1, table_index), log_low = real_gather(table + 2, table_index);

    const real m_top = math_high_half(m), f1 = m_top * r - 1.0, f2 = (m - m_top) * r;
    const real f = f1 + f2, f_low = f2 - (f - f1);
    const real base = k * 0x1.62e42fefa38p-1 + log_high; // exact
    const real s1 = base + f, e1 = f - (s1 - base);
    // f - f^2 / 2 + f^3 (1/3 - f/4 ...), with the square of the top of f exact
    const real f_top = math_high_half(f), half = 0.5 * (f_top * f_top);
    const real half_low = 0.5 * ((f - f_top) * (f + f_top)), ff = f * f;
    const real s2 = s1 - half, e2 = (s1 - s2) - half;
    const real p = (0x1.5555555555555p-2 - f * 0.25) +
                   ff * ((0x1.999999999999ap-3 - f * 0x1.5555555555555p-3) +
                         ff * ((0x1.2492492492492p-3 - f * 0.125) + ff * 0x1.c71c71c71c71cp-4));
    const real l =
        ((e1 + e2) + (k * 0x1.ef35793c7673p-45 + log_low)) + ((f_low - f * f_low) - half_low) + (f * ff) * p;
    const real h = s2 + l;
    *low = (s2 - h) + l;
    return h;
}

VY_FN real math_log(real x)
{
    real low;
    const real y = math_log_pair(x, &low);
    const real special =
        real_select(x == 0.0, real_of(bits_set(0xfff0000000000000u)), real_select(x < 0.0, math_nan(), x));
    return real_select((x > 0.0) & (x <= DBL_MAX), y, special);
}

/// |x|^y for any x other than 0 and infinity and any finite y; the sign and the special cases are math_pow's.
VY_FN real math_pow_finite(real x, real y)
{
    real low;
    const real high = math_log_pair(real_abs(x), &low);
    const real c = real_clamp(y, real_set(-0x1p80), real_set(0x1p80)); // over- or underflows just the same
    const real p = c * high, rest = math_product_error(c, high, p) + c * low;
    const mask in_range = real_abs(p) < 800.0;
    const real clamped_exponent = real_copysign(real_set(800.0), p);
    return math_exp_pair(real_select(in_range, p, clamped_exponent),
                         real_select(in_range, rest, real_set(0.0)));
}

/// Lanes where |x| is a whole number.
VY_FN mask math_is_whole(real x)
{
    const real a = real_abs(x);
    return (a >= 0x1p52) | ((a + 0x1p52) - 0x1p52 == a);
}

/// x^y where x <= 0 or x or y is infinite or NaN; `finite` is |x|^y where neither is at an end.
VY_FN real math_pow_special(real x, real y, real finite)
{
    const real infinity = real_of(bits_set(0x7ff0000000000000u)), a = real_abs(x);
    const mask is_whole = math_is_whole(y), is_odd = is_whole & mask_not(math_is_whole(0.5 * y));
    const mask at_limit = (a == 0.0) | (a > DBL_MAX) | (real_abs(y) > DBL_MAX);
    const mask grows = ((a > 1.0) & (y > 0.0)) | ((a < 1.0) & (y < 0.0));
    const real limit = real_select(a == 1.0, real_set(1.0), real_select(grows, infinity, real_set(0.0)));
    real r = real_select(at_limit, limit, finite);
    r = real_of(bits_of(r) | bits_select(is_odd, bits_of(x) & 0x8000000000000000u, bits_set(0)));
    r = real_select((x < 0.0) & (a <= DBL_MAX) & mask_not(is_whole), math_nan(), r);
    r = real_select((x != x) | (y != y), x + y, r);
    return real_select((x == 1.0) | (y == 0.0), real_set(1.0), r);
}

/// x^y.
VY_FN real math_pow(real x, real y)
{
    const real r = math_pow_finite(x, y);
    const mask is_regular = (x > 0.0) & (x <= DBL_MAX) & (real_abs(y) <= DBL_MAX);
    if (mask_all(is_regular)) return r;
    return real_select(is_regular, r, math_pow_special(x, y, r));
}

#endif
