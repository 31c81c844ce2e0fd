// test_gravity.c - gravity against its potential, the inverse square, and published values for the Earth.
#include "check.h"
#include "equations/gravity.h"

// WGS 84 (NIMA TR8350.2).
#define EARTH_RADIUS  6378137.0
#define EARTH_POLAR   6356752.3142
#define EARTH_GM      3.986004418e14
#define EARTH_J2      1.08262982e-3
#define EARTH_RATE    7.292115e-5
#define EARTH_E2      6.69437999014e-3
#define EARTH_EQUATOR 9.7803253359 // [m/s^2] published normal gravity, with the centrifugal part
#define EARTH_POLE    9.8321849378

static gravity_params earth(double j2)
{
    return (gravity_params){.body_count = 1, .bodies = {{EARTH_GM, 0.0, 0.0, 0.0, j2, EARTH_RADIUS}}};
}

// -grad V by central differences of order four.
static vec3 downhill(const gravity_params *p, vec3 r, double h)
{
    double g[3];
    for (int k = 0; k < 3; ++k) {
        double v[5];
        for (int i = -2; i <= 2; ++i) {
            const vec3 at = vec3_make(r.x + (k == 0) * i * h, r.y + (k == 1) * i * h, r.z + (k == 2) * i * h);
            v[i + 2] = gravity_potential(p, at);
        }
        g[k] = -(8.0 * (v[3] - v[1]) - (v[4] - v[0])) / (12.0 * h);
    }
    return vec3_make(g[0], g[1], g[2]);
}

// A place at 0.3 to 20 radii in a random direction.
static vec3 random_place(random_source *r, double radius)
{
    const double distance = radius * pow(10.0, random_in(r, -0.5, 1.3));
    const vec3 d = quat_rotate(random_attitude(r), vec3_make(distance, 0.0, 0.0));
    return d;
}

static void gravity_is_the_slope_of_its_potential(void **unused)
{
    (void)unused;
    random_source r = {1};
    double worst = 0.0;
    for (int trial = 0; trial < 20000; ++trial) {
        gravity_params p = {.uniform = random_bits(&r) % 2 ? random_vec(&r, 12.0) : vec3_zero()};
        p.body_count = (int)(random_bits(&r) % (GRAVITY_BODY_CAP + 1));
        for (int i = 0; i < p.body_count; ++i) {
            const vec3 o = random_vec(&r, 3.0);
            const double j2 = random_bits(&r) % 2 ? random_in(&r, -0.05, 0.05) : 0.0;
            p.bodies[i] =
                (gravity_body){random_in(&r, 1.0, 100.0), o.x, o.y, o.z, j2, random_in(&r, 0.5, 2.0)};
        }
        const vec3 place = vec3_add(random_place(&r, 5.0), vec3_make(6.0, 6.0, 6.0));
        double near = 1e9, size = vec3_length(p.uniform);
        for (int i = 0; i < p.body_count; ++i) {
            const gravity_body *b = &p.bodies[i];
            const double d = check_distance(place, vec3_make(b->x, b->y, b->z));
            near = fmin(near, d);
            size += b->gm / (d * d);
        }
        if (near < 1.0) continue;
        const double error = check_distance(gravity_at(&p, place), downhill(&p, place, 2e-3)) / (size + 0.01);
        worst = fmax(worst, error);
    }
    print_message("gravity: worst difference from -grad V: %.1e of its size\n", worst);
    assert_true(worst < 2e-9);
}

// The same where it is used: around the Earth, with J2.
static void gravity_of_the_earth_is_the_slope_of_its_potential(void **unused)
{
    (void)unused;
    const gravity_params p = earth(EARTH_J2);
    random_source r = {2};
    for (int trial = 0; trial < 2000; ++trial) {
        const vec3 first = random_place(&r, 1.0);
        const double second = random_in(&r, 0.0, 6.0);
        const vec3 place = vec3_scale(1.0 + second, first);
        const vec3 at = vec3_scale(EARTH_RADIUS / fmin(1.0, vec3_length(place)), place);
        const vec3 g = gravity_at(&p, at);
        assert_vec_near(g, downhill(&p, at, 5e3), 3e-10 * vec3_length(g) + 1e-9);
    }
}

static void gravity_uniform_is_everywhere_the_same(void **unused)
{
    (void)unused;
    const gravity_params p = {.uniform = {0.1, -0.2, -9.80665}};
    random_source r = {3};
    for (int trial = 0; trial < 100; ++trial) {
        assert_vec_near(gravity_at(&p, random_vec(&r, 1e6)), p.uniform, 0.0);
    }
    // 10 kg at 100 m with g = 9.81 hold +9810 J.
    const gravity_params down = {.uniform = {0.0, 0.0, -9.81}};
    assert_near(10.0 * gravity_potential(&down, vec3_make(3.0, 4.0, 100.0)), 9810.0, 1e-9);
}

static void gravity_of_a_body_falls_with_the_square(void **unused)
{
    (void)unused;
    random_source r = {4};
    for (int trial = 0; trial < 1000; ++trial) {
        const vec3 o = random_vec(&r, 1e7), d = random_place(&r, 1e7);
        const gravity_params p = {.body_count = 1, .bodies = {{EARTH_GM, o.x, o.y, o.z, 0.0, 0.0}}};
        const vec3 one = gravity_at(&p, vec3_add(o, d)),
                   three = gravity_at(&p, vec3_add(o, vec3_scale(3.0, d)));
        const double distance = vec3_length(d);
        assert_near(vec3_length(one) * distance * distance / EARTH_GM, 1.0, 1e-12);
        assert_near(vec3_length(one) / vec3_length(three), 9.0, 1e-11);
        assert_vec_near(vec3_scale(1.0 / vec3_length(one), one), vec3_scale(-1.0 / distance, d), 1e-12);
    }
}

static void gravity_of_bodies_adds_up(void **unused)
{
    (void)unused;
    random_source r = {5};
    for (int trial = 0; trial < 1000; ++trial) {
        gravity_params all = {.uniform = random_vec(&r, 10.0), .body_count = GRAVITY_BODY_CAP};
        const vec3 place = random_place(&r, 10.0);
        vec3 sum = all.uniform;
        double potential = -vec3_dot(all.uniform, place);
        for (int i = 0; i < GRAVITY_BODY_CAP; ++i) {
            const vec3 o = random_vec(&r, 2.0);
            gravity_params one = {.body_count = 1};
            one.bodies[0] = all.bodies[i] =
                (gravity_body){random_in(&r, 1.0, 9.0), o.x, o.y, o.z, random_in(&r, 0.0, 0.01), 1.0};
            sum = vec3_add(sum, gravity_at(&one, place));
            potential += gravity_potential(&one, place);
        }
        assert_vec_near(gravity_at(&all, place), sum, 1e-13 * (1.0 + vec3_length(sum)));
        assert_near(gravity_potential(&all, place), potential, 1e-12 * (1.0 + fabs(potential)));
    }
}

// Zonal coefficient J4 or J6 of the field of a level ellipsoid (Heiskanen, Moritz, Physical Geodesy, eq.
// 2-92).
static double zonal(int n)
{
    return (n % 2 ? 3.0 : -3.0) * pow(EARTH_E2, n) / ((2.0 * n + 1.0) * (2.0 * n + 3.0)) *
           (1.0 - n + 5.0 * n * EARTH_J2 / EARTH_E2);
}

// With what J2 leaves out added by hand, the published values at equator and pole come out to the last
// digits.
static void gravity_on_the_ellipsoid_is_the_published_one(void **unused)
{
    (void)unused;
    const gravity_params p = earth(EARTH_J2);
    const vec3 e = gravity_at(&p, vec3_make(0.0, EARTH_RADIUS, 0.0));
    const vec3 n = gravity_at(&p, vec3_make(0.0, 0.0, EARTH_POLAR));
    const double equator = -e.y - EARTH_RATE * EARTH_RATE * EARTH_RADIUS, pole = -n.z;
    assert_true(e.x == 0.0 && e.z == 0.0 && n.x == 0.0 && n.y == 0.0);
    print_message("gravity: equator %.7f, pole %.7f m/s^2 with J2 alone\n", equator, pole);
    assert_near(equator, EARTH_EQUATOR, 5e-5);
    assert_near(pole, EARTH_POLE, 1.3e-4);
    // -(2n + 1) J P(sin latitude), with P4 = 3/8 and P6 = -5/16 at the equator, 1 at the pole
    const double out = EARTH_RADIUS / EARTH_POLAR, at_a = EARTH_GM / (EARTH_RADIUS * EARTH_RADIUS);
    const double e_rest = -5.0 * zonal(2) * 3.0 / 8.0 + 7.0 * zonal(3) * 5.0 / 16.0;
    const double n_rest = -5.0 * zonal(2) * pow(out, 4) - 7.0 * zonal(3) * pow(out, 6);
    assert_near(equator + at_a * e_rest, EARTH_EQUATOR, 1e-8);
    assert_near(pole + at_a * out * out * n_rest, EARTH_POLE, 1e-8);
}

// J2 of zero takes a short cut; it must not show.
static void gravity_without_j2_is_the_limit(void **unused)
{
    (void)unused;
    const gravity_params round = earth(0.0), nearly = earth(1e-300);
    random_source r = {6};
    for (int trial = 0; trial < 1000; ++trial) {
        const vec3 place = random_place(&r, EARTH_RADIUS);
        assert_vec_near(gravity_at(&round, place), gravity_at(&nearly, place), 0.0);
        assert_true(gravity_potential(&round, place) == gravity_potential(&nearly, place));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gravity_is_the_slope_of_its_potential),
        cmocka_unit_test(gravity_of_the_earth_is_the_slope_of_its_potential),
        cmocka_unit_test(gravity_uniform_is_everywhere_the_same),
        cmocka_unit_test(gravity_of_a_body_falls_with_the_square),
        cmocka_unit_test(gravity_of_bodies_adds_up),
        cmocka_unit_test(gravity_on_the_ellipsoid_is_the_published_one),
        cmocka_unit_test(gravity_without_j2_is_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
