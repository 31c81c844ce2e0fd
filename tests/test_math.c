// test_math.c - the functions of math.h against MPFR, the exact cases of C99 Annex F, and lanes against
// scalar.
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lanes_math.h"
#include <float.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 4096, PRECISION = 140 };

static const char *const names[MATH_COUNT] = {"sin", "cos", "tan", "asin",   "acos",  "atan2",
                                              "exp", "log", "pow", "sincos", "sincos"};

static uint64_t random_state;

// SplitMix64: the tests draw from another generator than the one they may be used with.
static uint64_t random_bits(void)
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double random_in(double low, double high)
{
    return low + (high - low) * ((double)(random_bits() >> 11) * 0x1p-53);
}

static double of_bits(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

static uint64_t bits_of_double(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

/// A few steps of the last place away from x.
static double near(double x)
{
    const uint64_t reach = (uint64_t)1 << (random_bits() % 52);
    return of_bits(bits_of_double(x) + random_bits() % (2 * reach + 1) - reach);
}

/// Any finite double, all exponents alike.
static double random_any(void)
{
    double x = of_bits(random_bits());
    while (!isfinite(x)) x = of_bits(random_bits());
    return x;
}

static double one(enum math_function f, double x, double y)
{
    double out;
    lanes_math_1(f, &x, &y, &out, 1);
    return out;
}

// True values

typedef struct truth {
    mpfr_t x, y, value, error;
    double worst, worst_x, worst_y;
} truth;

static void truth_open(truth *t)
{
    mpfr_inits2(PRECISION, t->x, t->y, t->value, t->error, (mpfr_ptr)0);
    t->worst = t->worst_x = t->worst_y = 0.0;
}

static void truth_close(truth *t) { mpfr_clears(t->x, t->y, t->value, t->error, (mpfr_ptr)0); }

static void truth_evaluate(truth *t, enum math_function f, double x, double y)
{
    mpfr_set_d(t->x, x, MPFR_RNDN);
    mpfr_set_d(t->y, y, MPFR_RNDN);
    switch (f) {
    case MATH_SINCOS_SIN:
    case MATH_SIN: mpfr_sin(t->value, t->x, MPFR_RNDN); break;
    case MATH_SINCOS_COS:
    case MATH_COS: mpfr_cos(t->value, t->x, MPFR_RNDN); break;
    case MATH_TAN: mpfr_tan(t->value, t->x, MPFR_RNDN); break;
    case MATH_ASIN: mpfr_asin(t->value, t->x, MPFR_RNDN); break;
    case MATH_ACOS: mpfr_acos(t->value, t->x, MPFR_RNDN); break;
    case MATH_ATAN2: mpfr_atan2(t->value, t->x, t->y, MPFR_RNDN); break;
    case MATH_EXP: mpfr_exp(t->value, t->x, MPFR_RNDN); break;
    case MATH_LOG: mpfr_log(t->value, t->x, MPFR_RNDN); break;
    case MATH_POW: mpfr_pow(t->value, t->x, t->y, MPFR_RNDN); break;
    case MATH_COUNT: break;
    }
}

/// Error of `got` in units of the last place of the true value; HUGE_VAL where nothing but the exact NaN,
/// zero or infinity will do. An infinity where the truth is still in range counts as 2^1024.
static double truth_error(truth *t, double got)
{
    if (mpfr_nan_p(t->value)) return isnan(got) ? 0.0 : HUGE_VAL;
    if (isnan(got)) return HUGE_VAL;
    if (mpfr_zero_p(t->value)) return got == 0.0 ? 0.0 : HUGE_VAL;
    const int negative = mpfr_sgn(t->value) < 0;
    if (mpfr_inf_p(t->value) || mpfr_get_exp(t->value) > 1024) {
        return isinf(got) && (got < 0.0) == negative ? 0.0 : HUGE_VAL;
    }
    const long place = mpfr_get_exp(t->value) < -1021 ? -1074 : (long)mpfr_get_exp(t->value) - 53;
    if (isinf(got)) {
        mpfr_set_si_2exp(t->error, got > 0.0 ? 1 : -1, 1024, MPFR_RNDN);
    } else {
        mpfr_set_d(t->error, got, MPFR_RNDN);
    }
    mpfr_sub(t->error, t->error, t->value, MPFR_RNDN);
    mpfr_mul_2si(t->error, t->error, -place, MPFR_RNDN);
    return fabs(mpfr_get_d(t->error, MPFR_RNDN));
}

static void compare(truth *t, enum math_function f, const double *x, const double *y, int count)
{
    double got[CHUNK];
    lanes_math_1(f, x, y, got, count);
    for (int i = 0; i < count; ++i) {
        truth_evaluate(t, f, x[i], y[i]);
        const double error = truth_error(t, got[i]);
        if (!(error <= t->worst)) {
            t->worst = error;
            t->worst_x = x[i];
            t->worst_y = y[i];
        }
    }
}

typedef double (*draw)(int which);

static double zero(int which)
{
    (void)which;
    return 0.0;
}

/// `chunks` times CHUNK arguments; draws get a running number to alternate between kinds of arguments.
static void check_errors(enum math_function f, draw draw_x, draw draw_y, int chunks, double limit)
{
    static double x[CHUNK], y[CHUNK];
    truth t;
    truth_open(&t);
    random_state = 1000u + (uint64_t)f;
    for (int c = 0; c < chunks; ++c) {
        for (int i = 0; i < CHUNK; ++i) {
            x[i] = draw_x(i);
            y[i] = draw_y(i);
        }
        compare(&t, f, x, y, CHUNK);
    }
    print_message("%-6s worst %.4f ulp at %a, %a\n", names[f], t.worst, t.worst_x, t.worst_y);
    const double worst = t.worst;
    truth_close(&t);
    mpfr_free_cache();
    assert_true(worst <= limit);
}

// Arguments

static double draw_angle(int which)
{
    // The double closest of all to a multiple of pi/2, those below 2^20 that are closest for their size, and
    // numbers that people try.
    static const double hard[] = {0x1.6ac5b262ca1ffp+849,
                                  0x1.39c6fd67805a7p+18,
                                  0x1.39c6fd67805a7p+19,
                                  0x1.a9adcc7f96cf0p+19,
                                  0x1.93c05c9ed3cbcp+18,
                                  1e22,
                                  0x1.921fb54442d18p+0,
                                  0x1.921fb54442d18p+1,
                                  0x1.2d97c7f3321d2p+1,
                                  0x1.fffffffffffffp+1023,
                                  0x1p120,
                                  1e300,
                                  355.0,
                                  0x1p20};
    enum { HARD = sizeof hard / sizeof hard[0] };
    if (which < HARD) return hard[which];
    if (which < 20 * HARD) return near(hard[which % HARD]);
    switch (which % 5) {
    case 0: return random_any();
    case 1: return random_in(-1.0, 1.0);
    case 2: return random_in(-10.0, 10.0);
    case 3: return near((double)(random_bits() % 1000000) * 0x1.921fb54442d18p+0);
    default: return random_in(-2e6, 2e6);
    }
}

// Between `low` and 1, times a power of 2. (As arguments of one call the compiler would order the draws.)
static double random_scaled(double low, int power) { return ldexp(random_in(low, 1.0), power); }

static double draw_unit(int which)
{
    switch (which % 6) {
    case 0: return random_in(-1.0, 1.0);
    case 1: return 1.0 - random_scaled(0.0, -(int)(random_bits() % 53));
    case 2: return -1.0 + random_scaled(0.0, -(int)(random_bits() % 53));
    case 3: return random_scaled(-1.0, -(int)(random_bits() % 1074));
    case 4: return fmin(1.0, near(0x1.6a09e667f3bcdp-1));
    default: return fmax(-1.0, fmin(1.0, near((double)(random_bits() % 17) / 8.0 - 1.0)));
    }
}

static double draw_leg(int which)
{
    switch (which % 3) {
    case 0: return random_any();
    case 1: return random_in(-1.0, 1.0);
    default: return random_scaled(-1.0, (int)(random_bits() % 40) - 20 - (which & 8 ? 1040 : 0));
    }
}

static double draw_exponent(int which)
{
    static const double hard[] = {0x1.62e42fefa39efp+9, -0x1.6232bdd7abcd2p+9, -0x1.74910d52d3051p+9, 1.0,
                                  -1.0};
    if (which < 100) return near(hard[which % 5]);
    switch (which % 5) {
    case 0: return random_any();
    case 1: return random_in(-1.0, 1.0);
    case 2: return random_in(-708.0, 710.0);
    case 3: return near((double)((int64_t)(random_bits() % 2000) - 1000) * 0x1.62e42fefa39efp-2);
    default: return random_in(-746.0, -700.0);
    }
}

static double draw_positive(int which)
{
    switch (which % 4) {
    case 0: return fabs(random_any());
    case 1: return fabs(near(1.0));
    case 2: return random_in(0.5, 2.0);
    default: return ldexp(random_in(0.0, 1.0), -1022);
    }
}

static double last_base;

static double draw_base(int which)
{
    switch (which % 4) {
    case 0: last_base = fabs(random_any()); break;
    case 1: last_base = fabs(near(1.0)); break;
    case 2: last_base = random_in(0.0, 10.0); break;
    default: last_base = ldexp(random_in(0.0, 1.0), -1022); break;
    }
    return last_base;
}

/// An exponent that takes the base to anywhere in range, to its edges and beyond.
static double draw_power(int which)
{
    const double size = log(last_base);
    switch ((which / 4) % 5) {
    case 0: return random_in(-745.2, 710.0) / size;
    case 1: return random_in(708.0, 710.0) / size;
    case 2: return random_in(-746.0, -707.0) / size;
    case 3: return random_in(-20.0, 20.0);
    default: return random_any();
    }
}

static void math_errors_trigonometric(void **unused)
{
    (void)unused;
    check_errors(MATH_SIN, draw_angle, zero, 60, 0.8);
    check_errors(MATH_COS, draw_angle, zero, 60, 0.8);
    check_errors(MATH_TAN, draw_angle, zero, 60, 0.8);
}

// The doubles nearest to multiples of pi/2, where the reduction has to cancel nearly everything.
static double draw_turning_point(int which)
{
    static int ready;
    static mpfr_t half_turns, unit;
    if (!ready) {
        mpfr_inits2(1300, half_turns, unit, (mpfr_ptr)0);
        mpfr_const_pi(unit, MPFR_RNDN);
        mpfr_div_ui(unit, unit, 2, MPFR_RNDN);
        ready = 1;
    }
    const unsigned long k = 1 + (unsigned long)(random_bits() >> (44 + which % 20)); // up to 2^20
    mpfr_mul_ui(half_turns, unit, k, MPFR_RNDN);
    if (which % 8 == 0) mpfr_mul_2ui(half_turns, half_turns, random_bits() % 1000, MPFR_RNDN);
    return mpfr_get_d(half_turns, MPFR_RNDN);
}

static void math_errors_near_turning_points(void **unused)
{
    (void)unused;
    check_errors(MATH_SIN, draw_turning_point, zero, 10, 0.8);
    check_errors(MATH_COS, draw_turning_point, zero, 10, 0.8);
    check_errors(MATH_TAN, draw_turning_point, zero, 10, 0.8);
}

static void math_errors_inverse(void **unused)
{
    (void)unused;
    check_errors(MATH_ASIN, draw_unit, zero, 60, 0.8);
    check_errors(MATH_ACOS, draw_unit, zero, 60, 0.8);
    check_errors(MATH_ATAN2, draw_leg, draw_leg, 60, 0.8);
}

static void math_errors_exponential(void **unused)
{
    (void)unused;
    check_errors(MATH_EXP, draw_exponent, zero, 60, 0.8);
    check_errors(MATH_LOG, draw_positive, zero, 60, 0.8);
    check_errors(MATH_POW, draw_base, draw_power, 60, 0.8);
}

// Exact cases

static int same(double a, double b)
{
    return (isnan(a) && isnan(b)) || bits_of_double(a) == bits_of_double(b);
}

typedef struct exact {
    enum math_function f;
    double x, y, want;
} exact;

static void check_exact(const exact *cases, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const double got = one(cases[i].f, cases[i].x, cases[i].y);
        if (!same(got, cases[i].want)) {
            fail_msg("%s(%g, %g) = %a, not %a", names[cases[i].f], cases[i].x, cases[i].y, got,
                     cases[i].want);
        }
    }
}

static const double inf = HUGE_VAL, not_a_number = (double)NAN;
static const double pi = 0x1.921fb54442d18p+1, half_pi = 0x1.921fb54442d18p+0,
                    quarter_pi = 0x1.921fb54442d18p-1;

static void math_exact_one_argument(void **unused)
{
    (void)unused;
    const exact cases[] = {
        {MATH_SIN, 0.0, 0, 0.0},
        {MATH_SIN, -0.0, 0, -0.0},
        {MATH_SIN, 0x1p-1074, 0, 0x1p-1074},
        {MATH_COS, 0.0, 0, 1.0},
        {MATH_COS, -0.0, 0, 1.0},
        {MATH_SIN, half_pi, 0, 1.0},
        {MATH_COS, pi, 0, -1.0},
        {MATH_TAN, 0.0, 0, 0.0},
        {MATH_TAN, -0.0, 0, -0.0},
        {MATH_SIN, inf, 0, not_a_number},
        {MATH_COS, -inf, 0, not_a_number},
        {MATH_TAN, inf, 0, not_a_number},
        {MATH_ASIN, 0.0, 0, 0.0},
        {MATH_ASIN, -0.0, 0, -0.0},
        {MATH_ASIN, 1.0, 0, half_pi},
        {MATH_ASIN, -1.0, 0, -half_pi},
        {MATH_ASIN, 1.0 + DBL_EPSILON, 0, not_a_number},
        {MATH_ACOS, 1.0, 0, 0.0},
        {MATH_ACOS, -1.0, 0, pi},
        {MATH_ACOS, 0.0, 0, half_pi},
        {MATH_ACOS, -0.0, 0, half_pi},
        {MATH_ACOS, -inf, 0, not_a_number},
        {MATH_EXP, 0.0, 0, 1.0},
        {MATH_EXP, -0.0, 0, 1.0},
        {MATH_EXP, inf, 0, inf},
        {MATH_EXP, -inf, 0, 0.0},
        {MATH_EXP, 1.0, 0, 0x1.5bf0a8b145769p+1},
        {MATH_EXP, 710.0, 0, inf},
        {MATH_EXP, -746.0, 0, 0.0},
        {MATH_LOG, 1.0, 0, 0.0},
        {MATH_LOG, 0.0, 0, -inf},
        {MATH_LOG, -0.0, 0, -inf},
        {MATH_LOG, inf, 0, inf},
        {MATH_LOG, -1.0, 0, not_a_number},
        {MATH_LOG, -inf, 0, not_a_number},
    };
    check_exact(cases, sizeof cases / sizeof cases[0]);
}

// C99 Annex F, F.9.1.4: the first argument is y.
static void math_exact_atan2(void **unused)
{
    (void)unused;
    const exact cases[] = {
        {MATH_ATAN2, 0.0, -0.0, pi},
        {MATH_ATAN2, -0.0, -0.0, -pi},
        {MATH_ATAN2, 0.0, 0.0, 0.0},
        {MATH_ATAN2, -0.0, 0.0, -0.0},
        {MATH_ATAN2, 0.0, -3.0, pi},
        {MATH_ATAN2, -0.0, -3.0, -pi},
        {MATH_ATAN2, 0.0, 3.0, 0.0},
        {MATH_ATAN2, -0.0, 3.0, -0.0},
        {MATH_ATAN2, -3.0, 0.0, -half_pi},
        {MATH_ATAN2, -3.0, -0.0, -half_pi},
        {MATH_ATAN2, 3.0, 0.0, half_pi},
        {MATH_ATAN2, 3.0, -0.0, half_pi},
        {MATH_ATAN2, 3.0, -inf, pi},
        {MATH_ATAN2, -3.0, -inf, -pi},
        {MATH_ATAN2, 3.0, inf, 0.0},
        {MATH_ATAN2, -3.0, inf, -0.0},
        {MATH_ATAN2, inf, 3.0, half_pi},
        {MATH_ATAN2, -inf, -3.0, -half_pi},
        {MATH_ATAN2, inf, -inf, 0x1.2d97c7f3321d2p+1},
        {MATH_ATAN2, -inf, -inf, -0x1.2d97c7f3321d2p+1},
        {MATH_ATAN2, inf, inf, quarter_pi},
        {MATH_ATAN2, -inf, inf, -quarter_pi},
        {MATH_ATAN2, 0x1p-1074, 0x1p-1074, quarter_pi},
        {MATH_ATAN2, DBL_MAX, -DBL_MAX, 0x1.2d97c7f3321d2p+1},
        {MATH_ATAN2, 0x1p-1074, DBL_MAX, 0.0},
        {MATH_ATAN2, DBL_MAX, 0x1p-1074, half_pi},
    };
    check_exact(cases, sizeof cases / sizeof cases[0]);
}

// C99 Annex F, F.9.4.4.
static void math_exact_pow(void **unused)
{
    (void)unused;
    const exact cases[] = {
        {MATH_POW, 0.0, -3.0, inf},
        {MATH_POW, -0.0, -3.0, -inf},
        {MATH_POW, 0.0, -2.5, inf},
        {MATH_POW, -0.0, -2.5, inf},
        {MATH_POW, -0.0, -2.0, inf},
        {MATH_POW, 0.0, 3.0, 0.0},
        {MATH_POW, -0.0, 3.0, -0.0},
        {MATH_POW, -0.0, 2.0, 0.0},
        {MATH_POW, -0.0, 0.5, 0.0},
        {MATH_POW, -1.0, inf, 1.0},
        {MATH_POW, -1.0, -inf, 1.0},
        {MATH_POW, 1.0, not_a_number, 1.0},
        {MATH_POW, 1.0, inf, 1.0},
        {MATH_POW, not_a_number, 0.0, 1.0},
        {MATH_POW, not_a_number, -0.0, 1.0},
        {MATH_POW, inf, 0.0, 1.0},
        {MATH_POW, 0.0, 0.0, 1.0},
        {MATH_POW, -2.0, 0.5, not_a_number},
        {MATH_POW, 0.5, -inf, inf},
        {MATH_POW, -2.0, -inf, 0.0},
        {MATH_POW, -0.5, inf, 0.0},
        {MATH_POW, 2.0, inf, inf},
        {MATH_POW, 0.0, -inf, inf},
        {MATH_POW, 0.0, inf, 0.0},
        {MATH_POW, -inf, -3.0, -0.0},
        {MATH_POW, -inf, -2.0, 0.0},
        {MATH_POW, -inf, -0.5, 0.0},
        {MATH_POW, -inf, 3.0, -inf},
        {MATH_POW, -inf, 2.0, inf},
        {MATH_POW, -inf, 2.5, inf},
        {MATH_POW, inf, -1.0, 0.0},
        {MATH_POW, inf, 1.0, inf},
        {MATH_POW, inf, inf, inf},
        {MATH_POW, -2.0, 3.0, -8.0},
        {MATH_POW, -2.0, 4.0, 16.0},
        {MATH_POW, -1.0, 0x1p53, 1.0},
        {MATH_POW, -1.0, 0x1p53 - 1.0, -1.0},
        {MATH_POW, -1.0, 0x1p52 + 1.0, -1.0},
        {MATH_POW, -1.0, 1e300, 1.0},
        {MATH_POW, -1.0, 0x1p51 + 0.5, not_a_number},
        {MATH_POW, 2.0, 1024.0, inf},
        {MATH_POW, 2.0, -1075.0, 0.0},
        {MATH_POW, -2.0, 1025.0, -inf},
        {MATH_POW, -2.0, -1077.0, -0.0},
        {MATH_POW, 1.0 + DBL_EPSILON, 1e300, inf},
        {MATH_POW, 1.0 - DBL_EPSILON, 1e300, 0.0},
        {MATH_POW, 1e300, 1e-300, 1.0},
    };
    check_exact(cases, sizeof cases / sizeof cases[0]);
}

static void math_nan_goes_through(void **unused)
{
    (void)unused;
    for (int f = 0; f < MATH_COUNT; ++f) {
        // Payloads that would be wild table indices if they were used as such.
        assert_true(isnan(one((enum math_function)f, not_a_number, 2.0)));
        assert_true(isnan(one((enum math_function)f, of_bits(0x7fffffffffffffffu), 2.0)));
        assert_true(isnan(one((enum math_function)f, of_bits(0xfff8000012345678u), 2.0)));
    }
    assert_true(isnan(one(MATH_ATAN2, 2.0, not_a_number)));
    assert_true(isnan(one(MATH_ATAN2, inf, not_a_number)));
    assert_true(isnan(one(MATH_POW, 2.0, of_bits(0x7fffffffffffffffu))));
    assert_true(isnan(one(MATH_POW, -inf, not_a_number)));
}

static void math_pow_is_exact_where_it_can_be(void **unused)
{
    (void)unused;
    for (int n = -1074; n <= 1023; ++n) {
        assert_true(same(one(MATH_POW, 2.0, n), ldexp(1.0, n)));
        assert_true(same(one(MATH_POW, 0.5, -n), ldexp(1.0, n)));
    }
    double ten = 1.0, three = 1.0;
    for (int n = 0; n <= 22; ++n, ten *= 10.0) assert_true(same(one(MATH_POW, 10.0, n), ten));
    for (int n = 0; n <= 33; ++n, three *= 3.0) assert_true(same(one(MATH_POW, 3.0, n), three));
    random_state = 7;
    for (int i = 0; i < 200000; ++i) {
        const double x = random_any(), whole = (double)(random_bits() >> 38);
        assert_true(same(one(MATH_POW, x, 1.0), x));
        assert_true(same(one(MATH_POW, x, 0.0), 1.0));
        assert_true(same(one(MATH_POW, whole, 2.0), whole * whole));
    }
}

// Properties

// f(-x) is f(x) or -f(x) to the bit, and sincos is sin and cos.
static void math_symmetries_are_exact(void **unused)
{
    (void)unused;
    static const enum math_function odd[] = {MATH_SIN, MATH_TAN, MATH_ASIN};
    random_state = 8;
    for (int i = 0; i < 100000; ++i) {
        const double x = i % 2 ? random_any() : random_in(-4.0, 4.0),
                     y = i % 3 ? random_any() : random_in(-4.0, 4.0);
        for (int f = 0; f < 3; ++f) assert_true(same(one(odd[f], -x, 0), -one(odd[f], x, 0)));
        assert_true(same(one(MATH_COS, -x, 0), one(MATH_COS, x, 0)));
        assert_true(same(one(MATH_ATAN2, -x, y), -one(MATH_ATAN2, x, y)));
        assert_true(same(one(MATH_SINCOS_SIN, x, 0), one(MATH_SIN, x, 0)));
        assert_true(same(one(MATH_SINCOS_COS, x, 0), one(MATH_COS, x, 0)));
    }
}

typedef void (*lanes_math)(enum math_function f, const double *x, const double *y, double *out, int count);

/// A mixture in which neighbours differ in kind, so that fast and slow lanes meet in one register.
static double draw_mixed(int which)
{
    switch (random_bits() % 8) {
    case 0: return of_bits(random_bits()); // NaN and infinity too
    case 1: return random_in(-1.0, 1.0);
    case 2: return random_in(0.0, 1000.0);
    case 3: return draw_angle(which);
    case 4: return draw_unit(which);
    case 5: return draw_exponent(which);
    case 6: return (double)((int64_t)(random_bits() % 64) - 32);
    default: return random_any();
    }
}

static void math_lanes_equal_scalar(void **unused)
{
    (void)unused;
    static const lanes_math lanes[] = {lanes_math_2, lanes_math_4, lanes_math_8};
    static double x[CHUNK], y[CHUNK], want[CHUNK], got[CHUNK];
    random_state = 9;
    for (int f = 0; f < MATH_COUNT; ++f) {
        for (int chunk = 0; chunk < 40; ++chunk) {
            for (int i = 0; i < CHUNK; ++i) {
                x[i] = draw_mixed(i);
                y[i] = draw_mixed(i);
            }
            lanes_math_1((enum math_function)f, x, y, want, CHUNK);
            for (int n = 0; n < 3; ++n) {
                lanes[n]((enum math_function)f, x, y, got, CHUNK);
                for (int i = 0; i < CHUNK; ++i) {
                    if (!same(got[i], want[i])) {
                        fail_msg("%s(%a, %a): %a in %d lanes, %a alone", names[f], x[i], y[i], got[i], 2 << n,
                                 want[i]);
                    }
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(math_errors_trigonometric),
        cmocka_unit_test(math_errors_near_turning_points),
        cmocka_unit_test(math_errors_inverse),
        cmocka_unit_test(math_errors_exponential),
        cmocka_unit_test(math_exact_one_argument),
        cmocka_unit_test(math_exact_atan2),
        cmocka_unit_test(math_exact_pow),
        cmocka_unit_test(math_nan_goes_through),
        cmocka_unit_test(math_pow_is_exact_where_it_can_be),
        cmocka_unit_test(math_symmetries_are_exact),
        cmocka_unit_test(math_lanes_equal_scalar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
