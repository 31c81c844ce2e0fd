// test_environment_lanes.c - gravity, air, wind, turbulence and planet of drones side by side have the
// scalar's bits.
#include "check.h"
#define LANES_ENVIRONMENT lanes_environment_1
#include "lanes_environment.inl"

enum { BATCHES = 4000, NODES = 2 * 3 * 4 * 2 };

static double samples[3 * NODES];

// Places across the layers of the air, the profiles of the wind and its grid; times before, in and after the
// gusts.
static void random_drone(random_source *r, double *in)
{
    static const double heights[] = {-6e3, 0.0, 0.02, 10.0, 300.0, 500.0, 11019.0, 50e3, 86e3};
    const double z = heights[random_bits(r) % 9] + (random_bits(r) % 4 ? random_in(r, -20.0, 20.0) : 0.0);
    const double size = pow(10.0, random_in(r, -1.0, 3.0));
    const double start[5] = {
        random_in(r, -size, size), random_in(r, -size, size), z, random_in(r, -2.0, 12.0),
        random_bits(r) % 8 ? random_in(r, -PI, PI) * pow(10.0, random_in(r, -3.0, 0.0)) : 0.0};
    for (int k = 0; k < LANES_IN; ++k) in[k * LANES_WIDEST] = k < 5 ? start[k] : random_in(r, -6.0, 6.0);
}

static struct lanes_world random_world(random_source *r)
{
    struct lanes_world w = {.uniform = {0.0, 0.1, -9.8}, .body_count = (int)(random_bits(r) % 3)};
    for (int i = 0; i < w.body_count; ++i) {
        w.bodies[i] = (gravity_body){3.986e14, 1.0, 2.0, -6.4e6, random_bits(r) % 2 ? 1e-3 : 0.0, 6.378e6};
    }
    w.air = (atmosphere_params){(int)(random_bits(r) % 3), 1e5, 290.0, 1.2};
    const double flat = random_bits(r) % 2 ? 1.0 / 298.257223563 : 0.0;
    w.planet = (planet_params){1, 6378137.0, 6378137.0 * (1.0 - flat), flat * (2.0 - flat), 7.292115e-5};
    w.wind = (wind_params){.x = 1.0, .y = random_in(r, -3.0, 3.0), .shear = (int)(random_bits(r) % 4)};
    w.wind.shear_x = 0.6;
    w.wind.shear_y = -0.8;
    w.wind.shear_speed = random_in(r, 0.0, 10.0);
    w.wind.shear_height = 10.0;
    w.wind.shear_exponent = random_in(r, 0.0, 0.4);
    w.wind.shear_roughness = 0.03;
    w.wind.gust_count = (int)(random_bits(r) % 4);
    for (int i = 0; i < w.wind.gust_count; ++i) {
        w.wind.gusts[i] = (wind_gust){1.0,
                                      -2.0,
                                      0.5,
                                      random_in(r, 0.0, 9.0),
                                      random_in(r, 0.1, 2.0),
                                      1.0,
                                      random_bits(r) % 2 ? 1.0 : 0.0};
    }
    if (random_bits(r) % 2) {
        for (int i = 0; i < 3 * NODES; ++i) samples[i] = random_in(r, -5.0, 5.0);
        w.wind.grid = (wind_grid){samples, 2, 3, 4, 2, -10.0, 0.0, 0.0, 1.0, 7.0, 3.0, 100.0, 2.0, 9.0};
    }
    wind_prepare(&w.wind);
    w.turbulence = (turbulence_params){random_in(r, 0.0, 20.0), 2.0, pow(10.0, random_in(r, -3.0, 1.0)), 0.3};
    return w;
}

static void compare(int lanes, lanes_fn *machine)
{
    random_source r = {(uint64_t)lanes};
    double in[LANES_IN * LANES_WIDEST], one[LANES_OUT * LANES_WIDEST], many[LANES_OUT * LANES_WIDEST];
    for (int batch = 0; batch < BATCHES; ++batch) {
        const struct lanes_world w = random_world(&r);
        for (int i = 0; i < lanes; ++i) {
            random_drone(&r, in + i);
            lanes_environment_1(&w, in + i, one + i);
        }
        machine(&w, in, many);
        for (int k = 0; k < LANES_OUT; ++k) {
            for (int i = 0; i < lanes; ++i) {
                const double a = one[k * LANES_WIDEST + i], b = many[k * LANES_WIDEST + i];
                if (memcmp(&a, &b, sizeof a) != 0) {
                    print_error("batch %d, lane %d, number %d: %a is %a\n", batch, i, k, a, b);
                    fail();
                }
            }
        }
    }
}

// Two, four and eight lanes without any instruction set beyond the plainest.
static void environment_lanes_2(void **unused)
{
    (void)unused;
    compare(2, lanes_environment_2);
}

static void environment_lanes_4(void **unused)
{
    (void)unused;
    compare(4, lanes_environment_4);
}

static void environment_lanes_8(void **unused)
{
    (void)unused;
    compare(8, lanes_environment_8);
}

#if defined(__x86_64__)
#define CPU_HAS(set) __builtin_cpu_supports(set)
#else
#define CPU_HAS(set) 0
#endif

// The same where the CPU has the instructions; elsewhere the test says that it did not run.
static void environment_avx2(void **unused)
{
    (void)unused;
    if (!CPU_HAS("avx2")) {
        print_message("this CPU has no AVX2: not compared\n");
        skip();
    }
    compare(4, lanes_environment_4_avx2);
}

static void environment_avx512(void **unused)
{
    (void)unused;
    if (!(CPU_HAS("avx512f") && CPU_HAS("avx512dq") && CPU_HAS("avx512vl"))) {
        print_message("this CPU has no AVX-512: not compared\n");
        skip();
    }
    compare(8, lanes_environment_8_avx512);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environment_lanes_2), cmocka_unit_test(environment_lanes_4),
        cmocka_unit_test(environment_lanes_8), cmocka_unit_test(environment_avx2),
        cmocka_unit_test(environment_avx512),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
