// test_turbulence.c - Dryden turbulence: the filters against integrals, variances, correlations and spectra
// against the formulas of MIL-F-8785C, the bound under a hard search.
//
// Every draw is a function of fixed keys, so a statistic that passes once passes for ever. Limits are about
// four standard deviations of the statistic.
#include "check.h"
#include "base/rng.h"
#include "equations/turbulence.h"

#define FOOT 0.3048

// Moderate turbulence: 30 knots at 20 ft; 5 ft/s above.
static turbulence_params moderate(double period)
{
    return (turbulence_params){30.0 * 1852.0 / 3600.0, 5.0 * FOOT, period, 0.5};
}

// Scales

static void turbulence_scales_are_the_standards(void **unused)
{
    (void)unused;
    const turbulence_params p = moderate(0.01);
    for (double feet = 10.0; feet <= 1000.0; feet += 1.0) {
        const turbulence_scales s = turbulence_scales_at(&p, feet * FOOT);
        const double k = 0.177 + 0.000823 * feet;
        assert_near(s.length_up / FOOT, feet, 1e-12 * feet);
        assert_near(s.length / FOOT, feet / pow(k, 1.2), 1e-11 * feet);
        assert_near(s.sigma_up, 0.1 * p.wind20, 1e-15);
        assert_near(s.sigma / s.sigma_up, 1.0 / pow(k, 0.4), 1e-13);
    }
    for (double feet = 2000.0; feet < 50000.0; feet += 500.0) {
        const turbulence_scales s = turbulence_scales_at(&p, feet * FOOT);
        assert_near(s.length / FOOT, 1750.0, 1e-10);
        assert_near(s.length_up / FOOT, 1750.0, 1e-10);
        assert_near(s.sigma, p.sigma_high, 1e-15);
        assert_near(s.sigma_up, p.sigma_high, 1e-15);
    }
    const turbulence_scales half = turbulence_scales_at(&p, 1500.0 * FOOT);
    assert_near(half.length / FOOT, 1375.0, 1e-10);
    assert_near(half.sigma_up, 0.5 * (0.1 * p.wind20 + p.sigma_high), 1e-14);
}

// No steps, the lowest values below 10 ft, lengths that never shrink with the altitude: the bound rests on
// that.
static void turbulence_scales_are_continuous(void **unused)
{
    (void)unused;
    const turbulence_params p = moderate(0.01);
    turbulence_scales before = turbulence_scales_at(&p, -100.0);
    const turbulence_scales lowest = turbulence_scales_at(&p, 10.0 * FOOT);
    assert_true(before.length == lowest.length && before.sigma == lowest.sigma && lowest.length_up > 0.0);
    for (double z = 0.0; z < 800.0; z += 0.01) {
        const turbulence_scales s = turbulence_scales_at(&p, z);
        assert_true(s.length >= before.length - 1e-12 && s.length - before.length < 0.1);
        assert_true(s.length_up >= before.length_up - 1e-12 && s.length_up - before.length_up < 0.1);
        assert_near(s.sigma, before.sigma, 2e-3);
        assert_near(s.sigma_up, before.sigma_up, 1e-4);
        before = s;
    }
}

// Filters

// Twice the integral of s^n e^(-2s) from 0 to d, by Gauss-Legendre of three points on many pieces.
static double moment(int n, double d)
{
    static const long double at[3] = {-0.774596669241483377036L, 0.0L, 0.774596669241483377036L};
    static const long double weight[3] = {5.0L / 9.0L, 8.0L / 9.0L, 5.0L / 9.0L};
    enum { PIECES = 4000 };
    const long double end = (long double)(d < 40.0 ? d : 40.0), half = 0.5L * end / PIECES;
    long double sum = 0.0L;
    for (int i = 0; i < PIECES; ++i) {
        for (int k = 0; k < 3; ++k) {
            const long double s = half * (2 * i + 1 + at[k]);
            sum += weight[k] * half * 2.0L * (n == 0 ? 1.0L : n == 1 ? s : s * s) * expl(-2.0L * s);
        }
    }
    return (double)sum;
}

static void turbulence_filter_is_exact(void **unused)
{
    (void)unused;
    double worst = 0.0;
    for (double d = 1e-9; d < 1e3; d *= 1.7) {
        const turbulence_filter f = turbulence_filter_over(d);
        const double q[3] = {moment(0, d), moment(1, d), moment(2, d)};
        worst = fmax(worst, fabs(f.noise_11 * f.noise_11 / q[0] - 1.0));
        worst = fmax(worst, fabs(f.noise_11 * f.noise_21 / q[1] - 1.0));
        worst = fmax(worst, fabs((f.noise_21 * f.noise_21 + f.noise_22 * f.noise_22) / q[2] - 1.0));
        assert_near(f.decay, exp(-d), 1e-15);
        assert_near(f.coupling, d * exp(-d), 1e-15);
        assert_true(f.noise_22 > 0.0);
    }
    print_message("turbulence: noise covariance within %.1e of its integrals\n", worst);
    assert_true(worst < 1e-12);
}

// One period after another keeps the covariance 1, 1/2; 1/2, 1/2: the output's variance is 1 at any period.
// Two half periods are one whole.
static void turbulence_filter_is_stationary(void **unused)
{
    (void)unused;
    for (double d = 1e-9; d < 1e3; d *= 1.37) {
        const turbulence_filter f = turbulence_filter_over(d), h = turbulence_filter_over(0.5 * d);
        const double aa = f.decay * f.decay + f.noise_11 * f.noise_11;
        const double ab = f.decay * (f.coupling + 0.5 * f.decay) + f.noise_11 * f.noise_21;
        const double bb = f.coupling * (f.coupling + f.decay) + 0.5 * f.decay * f.decay +
                          f.noise_21 * f.noise_21 + f.noise_22 * f.noise_22;
        assert_near(aa, 1.0, 5e-16);
        assert_near(ab, 0.5, 5e-16);
        assert_near(bb, 0.5, 5e-16);
        const double a = sqrt(1.5), b = (1.0 - sqrt(3.0)) / sqrt(2.0);
        assert_near(a * a * aa + 2.0 * a * b * ab + b * b * bb, 1.0, 2e-15);
        assert_near(f.decay, h.decay * h.decay, 2e-16);
        assert_near(f.coupling, 2.0 * h.coupling * h.decay, 3e-16);
        assert_near(f.noise_11 * f.noise_11, h.noise_11 * h.noise_11 * (1.0 + h.decay * h.decay), 5e-16);
    }
    const double unit[2] = {1.0, 0.0}, other[2] = {0.0, 1.0};
    assert_near(turbulence_pair_output(unit), sqrt(1.5), 1e-15);
    assert_near(turbulence_pair_output(other), (1.0 - sqrt(3.0)) / sqrt(2.0), 1e-15);
}

// Statistics

typedef struct setting {
    double feet, speed; // altitude [ft], airspeed [m/s]
} setting;

static const setting low = {100.0, 15.0}, medium = {5000.0, 50.0};

// What the standard says for this setting, in the order along, across, up.
static void standard_of(const turbulence_params *p, setting at, double sigma[3], double length[3])
{
    const int near_ground = at.feet < 1000.0;
    const double k = 0.177 + 0.000823 * at.feet;
    for (int axis = 0; axis < 3; ++axis) {
        sigma[axis] = near_ground ? 0.1 * p->wind20 / (axis < 2 ? pow(k, 0.4) : 1.0) : p->sigma_high;
        length[axis] = FOOT * (near_ground ? (axis < 2 ? at.feet / pow(k, 1.2) : at.feet) : 1750.0);
    }
}

static void advance(const turbulence_params *p, setting at, uint64_t body, uint64_t step, turbulence_state *s)
{
    real n[TURBULENCE_NORMALS];
    rng_normals(77, RNG_STREAM_WIND, body, step, n, TURBULENCE_NORMALS);
    turbulence_advance(p, at.feet * FOOT, at.speed, n, s);
}

static turbulence_state start(uint64_t body)
{
    real n[TURBULENCE_NORMALS];
    rng_normals(76, RNG_STREAM_WIND, body, 0, n, TURBULENCE_NORMALS);
    return turbulence_start(n);
}

static vec3 velocity(const turbulence_params *p, setting at, const turbulence_state *s)
{
    return turbulence_velocity(p, at.feet * FOOT, 1.0, 0.0, s);
}

// Many bodies, each seen once at the start and once some periods later: variances at both times, the
// correlation between them, and none between the axes. Dryden: e^(-r) along, e^(-r) (1 - r/2) across, with r
// = V t / L.
static void check_ensemble(setting at, double period, int steps)
{
    enum { BODIES = 40000 };
    const turbulence_params p = moderate(period);
    double sigma[3], length[3], first[3] = {0}, last[3] = {0}, both[3] = {0}, cross[3] = {0};
    standard_of(&p, at, sigma, length);
    for (uint64_t body = 0; body < BODIES; ++body) {
        turbulence_state s = start(body);
        const vec3 v0 = velocity(&p, at, &s);
        for (int i = 0; i < steps; ++i) advance(&p, at, body, (uint64_t)i, &s);
        const vec3 v1 = velocity(&p, at, &s);
        const double a[3] = {v0.x / sigma[0], v0.y / sigma[1], v0.z / sigma[2]};
        const double b[3] = {v1.x / sigma[0], v1.y / sigma[1], v1.z / sigma[2]};
        for (int k = 0; k < 3; ++k) {
            first[k] += a[k] * a[k] / BODIES;
            last[k] += b[k] * b[k] / BODIES;
            both[k] += a[k] * b[k] / BODIES;
            cross[k] += b[k] * b[(k + 1) % 3] / BODIES;
        }
    }
    const double variance = 4.0 * sqrt(2.0 / BODIES), covariance = 4.0 * sqrt(1.0 / BODIES);
    for (int k = 0; k < 3; ++k) {
        const double r = at.speed * period * steps / length[k],
                     rho = exp(-r) * (k == 0 ? 1.0 : 1.0 - 0.5 * r);
        assert_near(first[k], 1.0, variance);
        assert_near(last[k], 1.0, variance);
        assert_near(both[k], rho, covariance * sqrt(1.0 + rho * rho));
        assert_near(cross[k], 0.0, covariance);
    }
}

static void turbulence_variance_and_correlation(void **unused)
{
    (void)unused;
    const double periods[] = {0.001, 0.01, 0.1, 1.0, 10.0};
    for (size_t i = 0; i < sizeof periods / sizeof periods[0]; ++i) {
        check_ensemble(low, periods[i], i < 2 ? 30 : 6);
        check_ensemble(medium, periods[i], i < 2 ? 30 : 6);
    }
}

// A long flight that climbs, sinks and changes speed all the while: the variance follows sigma(h).
static void turbulence_variance_holds_while_climbing(void **unused)
{
    (void)unused;
    enum { BODIES = 20000, STEPS = 40 };
    const turbulence_params p = moderate(0.5);
    double sum[3] = {0};
    for (uint64_t body = 0; body < BODIES; ++body) {
        turbulence_state s = start(body);
        setting at = {0.0, 0.0};
        for (int i = 0; i < STEPS; ++i) {
            at = (setting){20.0 + 60.0 * i, 3.0 + (double)(i % 7) * 8.0};
            advance(&p, at, body, (uint64_t)i, &s);
        }
        const vec3 v = velocity(&p, at, &s);
        const turbulence_scales now = turbulence_scales_at(&p, at.feet * FOOT);
        sum[0] += v.x * v.x / (now.sigma * now.sigma) / BODIES;
        sum[1] += v.y * v.y / (now.sigma * now.sigma) / BODIES;
        sum[2] += v.z * v.z / (now.sigma_up * now.sigma_up) / BODIES;
    }
    for (int k = 0; k < 3; ++k) assert_near(sum[k], 1.0, 4.0 * sqrt(2.0 / BODIES));
}

// Spectra

enum { SEGMENT = 1024, SEGMENTS = 2500, GROUPS = 5, BINS = 4 };
static const int bins[GROUPS][BINS] = {
    {4, 6, 8, 10}, {12, 14, 16, 18}, {24, 28, 32, 36}, {48, 56, 64, 72}, {96, 104, 112, 120}};

// Spectral density [m^2/s^2 per rad/s], two-sided, of the standard's formulas at the frequency w [rad/s].
static double dryden(int axis, double sigma, double length, double speed, double w)
{
    const double x = length * w / speed, square = 1.0 + x * x;
    const double shape = axis == 0 ? 2.0 / square : (1.0 + 3.0 * x * x) / (square * square);
    return 0.5 * sigma * sigma * length / (PI * speed) * shape;
}

// Sampling folds all frequencies w + 2 pi k / period into one.
static double folded(int axis, double sigma, double length, double speed, double w, double period)
{
    double sum = 0.0;
    for (int k = -400; k <= 400; ++k) {
        sum += dryden(axis, sigma, length, speed, fabs(w + 2.0 * PI * k / period));
    }
    return sum;
}

// |sum of signal * e^(-i w n)|^2 at a bin, or in between.
static double power_at(const double *signal, double bin)
{
    const double angle = 2.0 * PI * bin / SEGMENT, c = cos(angle), s = -sin(angle);
    double re = 0.0, im = 0.0, x = 1.0, y = 0.0;
    for (int n = 0; n < SEGMENT; ++n) {
        re += signal[n] * x;
        im += signal[n] * y;
        const double next = x * c - y * s;
        y = x * s + y * c;
        x = next;
    }
    return re * re + im * im;
}

// What an endless average of the windowed signal's power would be at a bin: the spectrum seen through the
// window, which takes in a little of the neighbours.
static double expected_at(const double *window, int axis, double sigma, double length, double speed,
                          double period, int bin)
{
    enum { REACH = 48, PARTS = 8 };
    double sum = 0.0, all = 0.0;
    for (int k = -REACH; k <= REACH; ++k) {
        const double off = (double)k / PARTS, share = power_at(window, off);
        const double w = 2.0 * PI * (bin + off) / (SEGMENT * period);
        sum += share * folded(axis, sigma, length, speed, w, period);
        all += share;
    }
    return sum / all;
}

static void check_spectrum(setting at, uint64_t body, const char *name)
{
    const turbulence_params p = moderate(0.2);
    static double signal[3][SEGMENT];
    static double power[3][GROUPS][BINS];
    double sigma[3], length[3], window[SEGMENT], window_power = 0.0;
    memset(power, 0, sizeof power);
    standard_of(&p, at, sigma, length);
    for (int n = 0; n < SEGMENT; ++n) { // Hann
        window[n] = 0.5 * (1.0 - cos(2.0 * PI * (n + 0.5) / SEGMENT));
        window_power += window[n] * window[n];
    }
    turbulence_state s = start(body);
    for (int segment = 0; segment < SEGMENTS; ++segment) {
        for (int n = 0; n < SEGMENT; ++n) {
            advance(&p, at, body, (uint64_t)segment * SEGMENT + (uint64_t)n, &s);
            const vec3 v = velocity(&p, at, &s);
            signal[0][n] = window[n] * v.x;
            signal[1][n] = window[n] * v.y;
            signal[2][n] = window[n] * v.z;
        }
        for (int i = 0; i < 3 * GROUPS * BINS; ++i) {
            const int axis = i / (GROUPS * BINS), g = i / BINS % GROUPS, b = i % BINS;
            power[axis][g][b] += power_at(signal[axis], bins[g][b]);
        }
    }
    for (int axis = 0; axis < 3; ++axis) {
        print_message("turbulence: %s, spectrum %s over the standard's:", name,
                      axis == 0   ? "along"
                      : axis == 1 ? "across"
                                  : "up");
        for (int g = 0; g < GROUPS; ++g) {
            double ratio = 0.0;
            for (int b = 0; b < BINS; ++b) {
                const double want =
                    expected_at(window, axis, sigma[axis], length[axis], at.speed, p.period, bins[g][b]);
                const double got = power[axis][g][b] * p.period / (2.0 * PI * window_power * SEGMENTS);
                ratio += got / want / BINS;
            }
            print_message(" %.3f", ratio);
            assert_near(ratio, 1.0, 4.0 / sqrt((double)SEGMENTS * BINS));
        }
        print_message("\n");
    }
}

static void turbulence_spectrum_low(void **unused)
{
    (void)unused;
    check_spectrum(low, 1, "100 ft");
}

static void turbulence_spectrum_medium(void **unused)
{
    (void)unused;
    check_spectrum(medium, 2, "5000 ft");
}

// Axes, bounds, determinism

static void turbulence_axes_follow_the_wind(void **unused)
{
    (void)unused;
    const turbulence_params p = moderate(0.1);
    const turbulence_state along = {.along = 1.0}, across = {.across = {1.0, 0.0}}, up = {.up = {1.0, 0.0}};
    const double z = 30.0, sigma = turbulence_scales_at(&p, z).sigma,
                 sigma_up = turbulence_scales_at(&p, z).sigma_up;
    for (double angle = -3.0; angle < 3.2; angle += 0.3) {
        const double c = cos(angle), s = sin(angle), k = sqrt(1.5);
        assert_vec_near(turbulence_velocity(&p, z, c, s, &along), vec3_make(sigma * c, sigma * s, 0.0),
                        1e-15);
        assert_vec_near(turbulence_velocity(&p, z, c, s, &across),
                        vec3_make(-k * sigma * s, k * sigma * c, 0.0), 1e-15);
        assert_vec_near(turbulence_velocity(&p, z, c, s, &up), vec3_make(0.0, 0.0, k * sigma_up), 1e-15);
    }
}

// A body at rest in still air gets the gusts of one at the floor's speed; none at all would stand still or be
// NaN.
static void turbulence_has_a_slowest_airspeed(void **unused)
{
    (void)unused;
    const turbulence_params p = moderate(0.1);
    turbulence_state a = start(3), b = a, c = a;
    advance(&p, (setting){100.0, 0.0}, 3, 0, &a);
    advance(&p, (setting){100.0, p.speed_floor}, 3, 0, &b);
    advance(&p, (setting){100.0, 2.0 * p.speed_floor}, 3, 0, &c);
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(a.along != c.along);
    const turbulence_params calm = {0.0, 0.0, 0.1, 0.5};
    assert_vec_near(velocity(&calm, low, &a), vec3_zero(), 0.0);
}

// The same draws give the same bits, here and with any compiler.
static void turbulence_is_deterministic(void **unused)
{
    (void)unused;
    const turbulence_params p = moderate(0.01);
    turbulence_state s = start(9);
    for (uint64_t i = 0; i < 5000; ++i) {
        advance(&p, (setting){10.0 + (double)i * 0.6, 1.0 + (double)(i % 100)}, 9, i, &s);
    }
    const double want[5] = {0x1.71eacb0e8a847p-2, -0x1.dfd0336c1f69ap-2, -0x1.0c56d8d1ce165p-1,
                            -0x1.ed712c618bf62p-1, -0x1.28db5c8cc0efdp+0};
    const double got[5] = {s.along, s.across[0], s.across[1], s.up[0], s.up[1]};
    for (int k = 0; k < 5; ++k) {
        if (got[k] != want[k]) print_error("state %d is %a\n", k, got[k]);
    }
    assert_memory_equal(got, want, sizeof got);
}

// Bound

static void turbulence_deviates_are_bounded(void **unused)
{
    (void)unused;
    assert_true(rng_normal_of_word(0u) < NORMAL_DEVIATE_MAX && rng_normal_of_word(0u) > 6.33);
    assert_true(-rng_normal_of_word(0x80000000u) < NORMAL_DEVIATE_MAX);
}

// What the bound is built from is at least as strong as any filter in the range, entry for entry.
static void turbulence_filter_bound_covers_its_range(void **unused)
{
    (void)unused;
    random_source r = {10};
    for (int trial = 0; trial < 200000; ++trial) {
        const double from = pow(10.0, random_in(&r, -8.0, 2.0)),
                     to = from * pow(10.0, random_in(&r, 0.0, 3.0));
        const double d = random_bits(&r) % 4 ? random_in(&r, from, to) : random_bits(&r) % 2 ? from : to;
        const turbulence_filter bound = turbulence_filter_bound(from, to), f = turbulence_filter_over(d);
        const double slack = 1.0 + 1e-14;
        assert_true(f.decay <= bound.decay * slack && f.coupling <= bound.coupling * slack &&
                    f.noise_11 <= bound.noise_11 * slack);
        assert_true(f.noise_21 + f.noise_22 <= (bound.noise_21 + bound.noise_22) * slack);
    }
}

// Flights made to be bad: deviates at their limit with signs that push one way, now and then the other way;
// altitude and airspeed anywhere in their range or at its ends.
static void turbulence_never_exceeds_its_bound(void **unused)
{
    (void)unused;
    random_source r = {11};
    double tightest = 0.0, narrow = 0.0;
    for (int trial = 0; trial < 30000; ++trial) {
        const turbulence_params p = {random_in(&r, 0.0, 25.0), random_in(&r, 0.0, 5.0),
                                     pow(10.0, random_in(&r, -3.5, 0.5)),
                                     pow(10.0, random_in(&r, -2.0, 1.0))};
        const int still = trial % 3 == 0;
        const double z = random_in(&r, -5.0, 900.0), v = random_in(&r, 0.0, 60.0);
        const turbulence_range range = {z, still ? z : z + pow(10.0, random_in(&r, -3.0, 2.7)), v,
                                        still ? v : v + pow(10.0, random_in(&r, -3.0, 1.5))};
        real n[TURBULENCE_NORMALS];
        for (int k = 0; k < TURBULENCE_NORMALS; ++k) {
            const double size = random_in(&r, -4.0, 4.0);
            n[k] = size * (double)(random_bits(&r) % 2);
        }
        turbulence_state s = turbulence_start(n);
        const int advances = (int)(random_bits(&r) % 25);
        const double bound = turbulence_bound(&p, &range, advances, &s);
        double sign[TURBULENCE_NORMALS], fastest = 0.0;
        for (int k = 0; k < TURBULENCE_NORMALS; ++k) sign[k] = random_bits(&r) % 2 ? 1.0 : -1.0;
        for (int i = 0; i <= advances; ++i) {
            const double share =
                random_bits(&r) % 3 ? (double)(random_bits(&r) % 2) : random_in(&r, 0.0, 1.0);
            const double at = range.altitude_low + share * (range.altitude_high - range.altitude_low);
            const double speed = random_bits(&r) % 2 ? range.speed_low : range.speed_high;
            if (i > 0) {
                for (int k = 0; k < TURBULENCE_NORMALS; ++k) {
                    const int away = trial % 2 && random_bits(&r) % 8 == 0;
                    n[k] = (away ? -1.0 : 1.0) * sign[k] * NORMAL_DEVIATE_MAX;
                }
                turbulence_advance(&p, at, speed, n, &s);
            }
            const double angle = random_in(&r, -PI, PI);
            for (int end = 0; end < 3; ++end) {
                const double seen = end == 0 ? at : end == 1 ? range.altitude_low : range.altitude_high;
                fastest =
                    fmax(fastest, vec3_length(turbulence_velocity(&p, seen, cos(angle), sin(angle), &s)));
            }
        }
        if (!(fastest <= bound)) print_error("trial %d: %.17g over the bound %.17g\n", trial, fastest, bound);
        assert_true(fastest <= bound);
        if (bound > 0.0) tightest = fmax(tightest, fastest / bound);
        if (bound > 0.0 && still && advances > 0) narrow = fmax(narrow, fastest / bound);
    }
    print_message(
        "turbulence: the worst flights reach %.3f of the bound, %.3f at one altitude and airspeed\n",
        tightest, narrow);
    assert_true(tightest <= 1.0 && narrow > 0.9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turbulence_scales_are_the_standards),
        cmocka_unit_test(turbulence_scales_are_continuous),
        cmocka_unit_test(turbulence_filter_is_exact),
        cmocka_unit_test(turbulence_filter_is_stationary),
        cmocka_unit_test(turbulence_variance_and_correlation),
        cmocka_unit_test(turbulence_variance_holds_while_climbing),
        cmocka_unit_test(turbulence_spectrum_low),
        cmocka_unit_test(turbulence_spectrum_medium),
        cmocka_unit_test(turbulence_axes_follow_the_wind),
        cmocka_unit_test(turbulence_has_a_slowest_airspeed),
        cmocka_unit_test(turbulence_is_deterministic),
        cmocka_unit_test(turbulence_deviates_are_bounded),
        cmocka_unit_test(turbulence_filter_bound_covers_its_range),
        cmocka_unit_test(turbulence_never_exceeds_its_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
