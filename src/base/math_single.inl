// math_single.inl - the elementary functions of math.h over a real that is a float: those that equations call.
//
// Within 2.5 ulp of the true value (tests/test_single.c measures this), math_pow within 2.5 (1 + |y log x|); zeros,
// infinities and NaN as in math.h, but for math_pow, whose x is at least 0 and whose y is finite. Polynomials
// are minimax fits with a relative error below 3e-8.

VY_FN real math_nan(void) { return single_of(0x7fc00000u); }

/// 2^n for -126 <= n <= 127.
VY_FN real math_exp2_int(int32_t n) { return single_of(static_cast<uint32_t>(n + 127) << 23); }

/// x modulo pi/2 in [-pi/4, pi/4] with some slack; the quadrant is in the low bits of the result.
VY_FN bits math_reduce(real x, real *rest)
{
    // pi/2 in three parts, the first two short enough for exact products with n < 2^11.
    const real n = real_round(x * 0x1.45f306p-1);
    *rest = ((x - n * 0x1.92p+0) - n * 0x1.fb4p-12) - n * 0x1.4442d2p-24;
    // Beyond that the products round, and close to a multiple of pi/2 three parts are not enough.
    if ((real_abs(x) < 0x1p11) & (real_abs(*rest) >= real_abs(n) * 0x1p-22)) return real_round_bits(n);
    double high, low;
    const double quadrant = math_reduce_payne_hanek(static_cast<double>(x.value), &high, &low);
    *rest = high;
    return real_round_bits(quadrant);
}

/// Sine and cosine of x [rad], any size.
VY_FN void math_sincos(real x, real *sine, real *cosine)
{
    real r;
    const bits q = math_reduce(x, &r);
    const real z = r * r;
    const real s = r + r * (z * (-0x1.555544p-3 + z * (0x1.1106fcp-7 + z * -0x1.992c32p-13)));
    const real c = (1.0 - 0.5 * z) + (z * z) * (0x1.55554ap-5 + z * (-0x1.6c0c22p-10 + z * 0x1.99e362p-16));
    const mask is_odd = (q & 1u) != 0u;
    const real a = real_select(is_odd, c, s), b = real_select(is_odd, s, c);
    *sine = real_select((q & 2u) != 0u, -a, a);
    *cosine = real_select(((q + 1u) & 2u) != 0u, -b, b);
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

/// The angle of the point (x, y) in [-pi, pi] [rad].
VY_FN real math_atan2(real y, real x)
{
    // Infinities become points in the same direction.
    real a = real_abs(y), b = real_abs(x);
    const mask is_infinite = (a > FLT_MAX) | (b > FLT_MAX);
    a = real_select(is_infinite, real_select(a > FLT_MAX, 1.0, 0.0), a);
    b = real_select(is_infinite, real_select(b > FLT_MAX, 1.0, 0.0), b);
    const mask swap = a > b;
    const real small = real_select(swap, b, a), large = real_select(swap, a, b);
    // Above tan(pi/8) the angle is pi/4 and what is missing to it.
    const mask is_steep = small > large * 0x1.a8279ap-2;
    const real numerator = real_select(is_steep, small - large, small);
    const real denominator = real_select(is_steep, small + large, real_select(large > 0.0, large, 1.0));
    const real t = numerator / denominator, z = t * t;
    const real p = -0x1.55544ep-2 + z * (0x1.9922bep-3 + z * (-0x1.1c1db2p-3 + z * 0x1.4927fcp-4));
    real r = t + t * (z * p), eighths = real_select(is_steep, 1.0, 0.0); // of a turn
    r = real_select(swap, -r, r);
    eighths = real_select(swap, 2.0 - eighths, eighths);
    const mask is_x_negative = (single_bits(x) >> 31) != 0u;
    r = real_select(is_x_negative, -r, r);
    eighths = real_select(is_x_negative, 4.0 - eighths, eighths);
    const real angle = eighths * 0x1.921fp-1 + (eighths * 0x1.6a8886p-18 + r);
    return real_select((x != x) | (y != y), x + y, real_copysign(angle, y));
}

VY_FN real math_acos(real x) { return math_atan2(real_sqrt((1.0 - x) * (1.0 + x)), x); }

VY_FN real math_exp(real x)
{
    const real c = real_clamp(x, -104.0, 89.0);
    const real shifted = c * 0x1.715476p+0 + 0x1.8p23, n = shifted - 0x1.8p23;
    const real r = (c - n * 0x1.62e4p-1) - n * 0x1.7f7d1cp-20;
    const real p = 0.5 + r * (0x1.555486p-3 + r * (0x1.555454p-5 + r * (0x1.124148p-7 + r * 0x1.6dbc64p-10)));
    // 2^n in two factors, so that neither overflows and only the last product rounds.
    const int32_t whole = static_cast<int32_t>(single_bits(shifted) - 0x4b400000u), half = whole >> 1;
    const real y = ((1.0 + (r + (r * r) * p)) * math_exp2_int(half)) * math_exp2_int(whole - half);
    return real_select(x != x, x, y);
}

VY_FN real math_log(real x)
{
    const mask is_tiny = x < FLT_MIN;
    const uint32_t b = single_bits(real_select(is_tiny, x * 0x1p24, x));
    const uint32_t moved = b + (0x3f800000u - 0x3f3504f3u); // m from sqrt(1/2) to sqrt(2)
    const real k = static_cast<int32_t>(moved >> 23) - (is_tiny ? 151 : 127);
    const real f = single_of(b - (moved & 0xff800000u) + 0x3f800000u) - 1.0;
    // log(1 + f) = 2 artanh(s) and 2 s = f - s f
    const real s = f / (2.0 + f), z = s * s;
    const real p = z * (0x1.555554p-1 + z * (0x1.999a82p-2 + z * (0x1.2436fep-2 + z * 0x1.e340c0p-3)));
    const real y = k * 0x1.62e4p-1 + (f - (s * (f - p) - k * 0x1.7f7d1cp-20));
    const real special = real_select(x == 0.0, single_of(0xff800000u), real_select(x < 0.0, math_nan(), x));
    return real_select((x > 0.0) & (x <= FLT_MAX), y, special);
}

/// x^y for x >= 0.
VY_FN real math_pow(real x, real y) { return real_select(y == 0.0, 1.0, math_exp(y * math_log(x))); }
