// test_wind.c - the mean wind: each part against its closed form, their sum, and the bound under a hard
// search.
#include "check.h"
#include "declared_wind.h"

static wind_params shear(int kind, double speed, double height, double power, double roughness)
{
    wind_params p = {.shear = kind, .shear_x = 0.6, .shear_y = 0.8};
    p.shear_speed = speed;
    p.shear_height = height;
    p.shear_exponent = power;
    p.shear_roughness = roughness;
    wind_prepare(&p);
    return p;
}

static vec3 wind_here(const wind_params *p, double x, double y, double z, double time)
{
    return wind_at(p, vec3_make(x, y, z), time);
}

static void wind_none_and_constant(void **unused)
{
    (void)unused;
    random_source r = {1};
    wind_params none = {0}, constant = {.x = 3.0, .y = -4.0, .z = 0.5};
    wind_prepare(&none);
    wind_prepare(&constant);
    for (int trial = 0; trial < 100; ++trial) {
        const vec3 place = random_vec(&r, 1e4);
        const double time = random_in(&r, 0.0, 1e4);
        assert_vec_near(wind_at(&none, place, time), vec3_zero(), 0.0);
        assert_vec_near(wind_at(&constant, place, time), vec3_make(3.0, -4.0, 0.5), 0.0);
    }
}

// Along the given direction, level, and the same at any place and time at one height.
static void assert_sheared(const wind_params *p, random_source *r, double z, double speed)
{
    const double tolerance = 1e-14 * fabs(speed) + 1e-15;
    const double first = random_in(r, 0.0, 1e4), second = random_in(r, -1e4, 1e4),
                 third = random_in(r, -1e4, 1e4);
    const vec3 w = wind_here(p, third, second, z, first);
    assert_vec_near(w, vec3_make(0.6 * speed, 0.8 * speed, 0.0), tolerance);
}

static void wind_shear_is_its_closed_form(void **unused)
{
    (void)unused;
    random_source r = {2};
    for (int trial = 0; trial < 20000; ++trial) {
        const double z =
            random_bits(&r) % 5 ? pow(10.0, random_in(&r, -3.0, 4.0)) : random_in(&r, -100.0, 0.0);
        const double speed = random_in(&r, 0.1, 40.0), height = random_in(&r, 1.0, 100.0);
        const double power = random_in(&r, 0.0, 0.6), roughness = pow(10.0, random_in(&r, -4.0, -0.1));
        const wind_params line = shear(WIND_SHEAR_LINEAR, speed, height, 0.0, 0.0);
        const wind_params law = shear(WIND_SHEAR_POWER, speed, height, power, 0.0);
        const wind_params log_law = shear(WIND_SHEAR_LOGARITHMIC, speed, height, 0.0, roughness);
        assert_sheared(&line, &r, z, z > 0.0 ? speed * z / height : 0.0);
        assert_sheared(&law, &r, z, z > 0.0 ? speed * pow(z / height, power) : 0.0);
        // Near the roughness length or the reference height the logarithms' own rounding counts.
        const double want = z > roughness ? speed * log(z / roughness) / log(height / roughness) : 0.0;
        assert_vec_near(wind_here(&log_law, 0, 0, z, 0), vec3_make(0.6 * want, 0.8 * want, 0.0),
                        1e-14 * (want + speed / log(height / roughness)));
    }
}

// Every profile has the declared speed at the declared height, and none at the ground.
static void wind_shear_meets_its_reference(void **unused)
{
    (void)unused;
    for (int kind = WIND_SHEAR_LINEAR; kind <= WIND_SHEAR_LOGARITHMIC; ++kind) {
        const wind_params p = shear(kind, 8.0, 10.0, 1.0 / 7.0, 0.03);
        assert_near(wind_shear_speed(&p, 10.0), 8.0, 1e-14);
        assert_true(wind_shear_speed(&p, 0.0) == 0.0 && wind_shear_speed(&p, -5.0) == 0.0);
        double before = 0.0;
        for (double z = 0.001; z < 1e4; z *= 1.01) {
            const double speed = wind_shear_speed(&p, z);
            assert_true(speed >= before);
            before = speed;
        }
    }
    const wind_params p = shear(WIND_SHEAR_LOGARITHMIC, 8.0, 10.0, 0.0, 0.03);
    assert_true(wind_shear_speed(&p, 0.03) == 0.0 && wind_shear_speed(&p, 0.02) == 0.0);
    // Between 10 m and 80 m the power law of exponent 1/7 gains 8^(1/7) = 1.3459.
    const wind_params law = shear(WIND_SHEAR_POWER, 5.0, 10.0, 1.0 / 7.0, 0.0);
    assert_near(wind_shear_speed(&law, 80.0) / 5.0, 1.3459, 5e-5);
}

static wind_params one_gust(void)
{
    wind_params p = {.gust_count = 1};
    p.gusts[0] = (wind_gust){2.0, -3.0, 6.0, 10.0, 4.0, 3.0, 5.0}; // |amplitude| is 7; 10, 14, 19, 22 s
    wind_prepare(&p);
    return p;
}

static void wind_gust_has_the_standard_shape(void **unused)
{
    (void)unused;
    const wind_params p = one_gust();
    for (double t = 0.0; t < 30.0; t += 0.0137) {
        double share = 0.0;
        if (t > 10.0 && t < 14.0) share = 0.5 * (1.0 - cos(PI * (t - 10.0) / 4.0));
        if (t >= 14.0 && t <= 19.0) share = 1.0;
        if (t > 19.0 && t < 22.0) share = 0.5 * (1.0 + cos(PI * (t - 19.0) / 3.0));
        const vec3 w = wind_here(&p, 5.0, 6.0, 7.0, t);
        assert_vec_near(w, vec3_make(2.0 * share, -3.0 * share, 6.0 * share), 1e-14);
        if (t <= 10.0 || t >= 22.0) assert_true(w.x == 0.0 && w.y == 0.0 && w.z == 0.0);
    }
    assert_near(vec3_length(wind_here(&p, 0, 0, 0, 16.0)), 7.0, 1e-14);
    assert_near(vec3_length(wind_here(&p, 0, 0, 0, 12.0)), 3.5, 1e-14);
}

// The gust and its slope have no step: the slope is at most pi/2 of the amplitude over the shortest ramp, and
// the second difference at most pi^2/2.
static void wind_gust_is_smooth(void **unused)
{
    (void)unused;
    const wind_params p = one_gust();
    const double h = 1e-3;
    double slope = 0.0, bend = 0.0;
    for (double t = 9.0; t < 23.0; t += 0.25 * h) {
        const double a = wind_here(&p, 0, 0, 0, t - h).z, b = wind_here(&p, 0, 0, 0, t).z;
        const double c = wind_here(&p, 0, 0, 0, t + h).z;
        slope = fmax(slope, fabs(c - b) / h);
        bend = fmax(bend, fabs((c - b) - (b - a)) / (h * h));
    }
    assert_near(slope, 6.0 * PI / 2.0 / 3.0, 1e-4);
    assert_near(bend, 6.0 * PI * PI / 2.0 / 9.0, 1e-3);
}

// Grids

enum { NX = 4, NY = 3, NZ = 5, NT = 3, NODES = NX * NY * NZ * NT };

static wind_grid grid_over(const double *velocity)
{
    wind_grid g = {velocity, NX, NY, NZ, NT, -30.0, 5.0, 0.0, 2.0, 10.0, 20.0, 2.5, 0.5, 0.0};
    for (int i = 0; i < NODES; ++i) {
        g.speed_max = fmax(g.speed_max,
                           vec3_length(vec3_make(velocity[3 * i], velocity[3 * i + 1], velocity[3 * i + 2])));
    }
    return g;
}

// A field of the kind sum over subsets of (x, y, z, t) of c times their product: the most that is linear
// along each axis by itself.
static double multilinear(const double c[16], double x, double y, double z, double t)
{
    double sum = 0.0;
    for (int k = 0; k < 16; ++k) {
        sum += c[k] * (k & 1 ? x : 1.0) * (k & 2 ? y : 1.0) * (k & 4 ? z : 1.0) * (k & 8 ? t : 1.0);
    }
    return sum;
}

static double clamped(double x, double low, double high) { return fmin(fmax(x, low), high); }

static void wind_grid_is_exact_on_linear_fields(void **unused)
{
    (void)unused;
    random_source r = {3};
    static double velocity[3 * NODES];
    for (int field = 0; field < 50; ++field) {
        double c[3][16];
        for (int k = 0; k < 48; ++k) c[k / 16][k % 16] = random_in(&r, -1.0, 1.0);
        for (int i = 0; i < 3 * NODES; ++i) {
            const int node = i / 3;
            const double x = -30.0 + 10.0 * (node % NX), y = 5.0 + 20.0 * (node / NX % NY);
            const double z = 2.5 * (node / (NX * NY) % NZ), t = 2.0 + 0.5 * (node / (NX * NY * NZ));
            velocity[i] = multilinear(c[i % 3], x, y, z, t);
        }
        wind_params p = {.grid = grid_over(velocity)};
        wind_prepare(&p);
        for (int trial = 0; trial < 500; ++trial) { // inside and beyond every border
            const double x = random_in(&r, -50.0, 20.0), y = random_in(&r, -20.0, 70.0);
            const double z = random_in(&r, -5.0, 15.0), t = random_in(&r, 1.0, 4.0);
            const double xc = clamped(x, -30.0, 0.0), yc = clamped(y, 5.0, 45.0);
            const double zc = clamped(z, 0.0, 10.0), tc = clamped(t, 2.0, 3.0);
            const vec3 want = vec3_make(multilinear(c[0], xc, yc, zc, tc), multilinear(c[1], xc, yc, zc, tc),
                                        multilinear(c[2], xc, yc, zc, tc));
            assert_vec_near(wind_here(&p, x, y, z, t), want, 1e-14 * p.grid.speed_max);
        }
    }
}

static void wind_grid_meets_its_nodes(void **unused)
{
    (void)unused;
    random_source r = {4};
    static double memory[3 * 3 * NODES]; // NaN on both sides: a sample taken from there would show
    double *velocity = memory + 3 * NODES;
    for (int i = 0; i < 3 * 3 * NODES; ++i) memory[i] = (double)NAN;
    for (int i = 0; i < 3 * NODES; ++i) velocity[i] = random_in(&r, -10.0, 10.0);
    wind_params p = {.grid = grid_over(velocity)};
    wind_prepare(&p);
    for (int node = 0; node < NODES; ++node) {
        const vec3 w = wind_here(&p, -30.0 + 10.0 * (node % NX), 5.0 + 20.0 * (node / NX % NY),
                                 2.5 * (node / (NX * NY) % NZ), 2.0 + 0.5 * (node / (NX * NY * NZ)));
        const double *v = velocity + 3 * node;
        assert_vec_near(w, vec3_make(v[0], v[1], v[2]), 1e-14);
    }
    // Far away, and at no place at all, it reads no other memory than its own.
    const double odd[] = {1e300, -1e300, (double)INFINITY, -(double)INFINITY, (double)NAN};
    for (int k = 0; k < 5; ++k) {
        const vec3 w = wind_here(&p, odd[k], odd[(k + 1) % 5], odd[(k + 2) % 5], odd[(k + 3) % 5]);
        assert_true(vec3_length(w) <= p.grid.speed_max * (1.0 + 1e-12));
    }
}

// One node is a constant; one node along an axis makes the field the same along it.
static void wind_grid_of_single_nodes(void **unused)
{
    (void)unused;
    const double one[3] = {1.0, 2.0, 3.0}, two[6] = {0.0, 0.0, 0.0, 4.0, -4.0, 8.0};
    const wind_params point = {.grid = {one, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 4.0}};
    const wind_params line = {.grid = {two, 1, 1, 2, 1, 0, 0, 0, 0, 1, 1, 10.0, 1, 10.0}};
    random_source r = {5};
    for (int trial = 0; trial < 100; ++trial) {
        const vec3 place = random_vec(&r, 20.0);
        const double time = random_in(&r, -10.0, 10.0), share = clamped(place.z / 10.0, 0.0, 1.0);
        assert_vec_near(wind_at(&point, place, time), vec3_make(1.0, 2.0, 3.0), 0.0);
        assert_vec_near(wind_at(&line, place, time), vec3_make(4.0 * share, -4.0 * share, 8.0 * share),
                        1e-15);
    }
}

// Sum and bound

// Everything at once, each part there or not.
static wind_params random_wind(random_source *r, double *velocity)
{
    const double angle = random_in(r, -PI, PI);
    const double first = random_in(r, -3.0, 0.2), second = random_in(r, 0.0, 0.5),
                 third = random_in(r, 2.0, 50.0), fourth = random_in(r, 0.0, 20.0);
    const uint64_t fifth = random_bits(r);
    wind_params p = shear((int)(fifth % 4), fourth, third, second, pow(10.0, first));
    p.shear_x = cos(angle);
    p.shear_y = sin(angle);
    if (random_bits(r) % 2) {
        const vec3 c = random_vec(r, 15.0);
        p.x = c.x;
        p.y = c.y;
        p.z = c.z;
    }
    p.gust_count = random_bits(r) % 2 ? (int)(random_bits(r) % (WIND_GUST_CAP + 1)) : 0;
    for (int i = 0; i < p.gust_count; ++i) {
        const vec3 a = random_vec(r, 8.0);
        p.gusts[i] = (wind_gust){a.x,
                                 a.y,
                                 a.z,
                                 random_in(r, -5.0, 20.0),
                                 random_in(r, 0.1, 5.0),
                                 random_in(r, 0.1, 5.0),
                                 random_bits(r) % 2 ? random_in(r, 0.0, 5.0) : 0.0};
    }
    if (random_bits(r) % 2) {
        for (int i = 0; i < 3 * NODES; ++i) velocity[i] = random_in(r, -6.0, 6.0);
        p.grid = grid_over(velocity);
    }
    return p;
}

static void wind_is_the_sum_of_its_parts(void **unused)
{
    (void)unused;
    random_source r = {6};
    static double velocity[3 * NODES];
    for (int trial = 0; trial < 5000; ++trial) {
        const wind_params all = random_wind(&r, velocity);
        const vec3 place = vec3_add(random_vec(&r, 40.0), vec3_make(0.0, 0.0, 20.0));
        const double time = random_in(&r, -1.0, 30.0);
        const wind_params constant = {.x = all.x, .y = all.y, .z = all.z};
        wind_params profile = all;
        profile.x = profile.y = profile.z = 0.0;
        profile.gust_count = 0;
        profile.grid.velocity = NULL;
        vec3 sum = vec3_add(wind_at(&constant, place, time), wind_at(&profile, place, time));
        for (int i = 0; i < all.gust_count; ++i) {
            wind_params gust = {.gust_count = 1};
            gust.gusts[0] = all.gusts[i];
            sum = vec3_add(sum, wind_at(&gust, place, time));
        }
        const wind_params samples = {.grid = all.grid};
        sum = vec3_add(sum, wind_at(&samples, place, time));
        assert_vec_near(wind_at(&all, place, time), sum, 1e-12);
    }
}

// Places and times where a part is largest are tried on purpose: the ends of the span, plateaus of gusts,
// nodes.
static void wind_never_exceeds_its_bound(void **unused)
{
    (void)unused;
    random_source r = {7};
    static double velocity[3 * NODES];
    double tightest = 0.0;
    for (int trial = 0; trial < 20000; ++trial) {
        const wind_params p = random_wind(&r, velocity);
        const double low = random_in(&r, -10.0, 60.0), high = low + pow(10.0, random_in(&r, -6.0, 2.5));
        const double from = random_in(&r, -2.0, 30.0), to = from + pow(10.0, random_in(&r, -6.0, 1.5));
        const double bound = wind_speed_bound(&p, low, high, from, to);
        double fastest = 0.0;
        for (int k = 0; k < 100; ++k) {
            const double z = k % 4 ? random_in(&r, low, high) : k % 8 ? low : high;
            double t = random_in(&r, from, to);
            if (k % 3 == 0 && p.gust_count > 0) {
                const wind_gust *g = &p.gusts[k % p.gust_count];
                t = clamped(g->start + g->rise + 0.5 * g->hold, from, to);
            }
            const uint64_t first = random_bits(&r), second = random_bits(&r);
            const vec3 place =
                vec3_make(-30.0 + 10.0 * (double)(second % NX), 5.0 + 20.0 * (double)(first % NY), z);
            fastest = fmax(fastest, vec3_length(wind_at(&p, place, t)));
        }
        if (!(fastest <= bound)) print_error("trial %d: %.17g over the bound %.17g\n", trial, fastest, bound);
        assert_true(fastest <= bound);
        if (bound > 0.0) tightest = fmax(tightest, fastest / bound);
    }
    assert_true(tightest > 1.0 - 1e-12);
}

// Without gusts and grid the bound is reached, at any size of the span.
static void wind_bound_is_tight(void **unused)
{
    (void)unused;
    random_source r = {8};
    static double velocity[3 * NODES];
    for (int trial = 0; trial < 5000; ++trial) {
        wind_params p = random_wind(&r, velocity);
        p.gust_count = 0;
        p.grid.velocity = NULL;
        const double low = random_in(&r, 0.0, 60.0), high = low + random_in(&r, 0.0, 100.0);
        const double bound = wind_speed_bound(&p, low, high, 0.0, 1.0);
        const double reached =
            fmax(vec3_length(wind_here(&p, 0, 0, low, 0)), vec3_length(wind_here(&p, 0, 0, high, 0)));
        assert_near(bound, reached, 1e-12 * (1.0 + reached + fabs(p.shear_speed)));
    }
    // A gust counts only while it blows, and only as much as it then can.
    const wind_params gust = one_gust();
    assert_near(wind_speed_bound(&gust, 0.0, 9.0, 0.0, 9.9), 0.0, 1e-12);
    assert_near(wind_speed_bound(&gust, 0.0, 9.0, 0.0, 12.0), 3.5, 1e-12);
    assert_near(wind_speed_bound(&gust, 0.0, 9.0, 13.0, 14.5), 7.0, 1e-12);
    assert_near(wind_speed_bound(&gust, 0.0, 9.0, 20.5, 99.0), 3.5, 1e-12);
    assert_near(wind_speed_bound(&gust, 0.0, 9.0, 22.0, 99.0), 0.0, 1e-12);
    assert_near(wind_speed_bound(&gust, 0.0, 9.0, -DBL_MAX, DBL_MAX), 7.0, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wind_none_and_constant),
        cmocka_unit_test(wind_shear_is_its_closed_form),
        cmocka_unit_test(wind_shear_meets_its_reference),
        cmocka_unit_test(wind_gust_has_the_standard_shape),
        cmocka_unit_test(wind_gust_is_smooth),
        cmocka_unit_test(wind_grid_is_exact_on_linear_fields),
        cmocka_unit_test(wind_grid_meets_its_nodes),
        cmocka_unit_test(wind_grid_of_single_nodes),
        cmocka_unit_test(wind_is_the_sum_of_its_parts),
        cmocka_unit_test(wind_never_exceeds_its_bound),
        cmocka_unit_test(wind_bound_is_tight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
