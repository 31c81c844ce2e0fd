// test_single.c - single precision beside double: elementary functions, random numbers, packed cells, and how
// far flights drift apart.
#include "base/rng.h"
#include "batch/lanes.h"
#include "batch/pack.h"
#include "check.h"
#include "single_base.h"
#include "volery/batch.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

// Distance in units of the last place of the float nearest to the truth.
static double ulps(float value, double truth)
{
    const float near = (float)truth;
    if (isinf(near) || near == 0.0f) return value == near ? 0.0 : 1e30;
    int exponent;
    (void)frexp((double)near, &exponent);
    return fabs((double)value - truth) / ldexp(1.0, (exponent < -125 ? -125 : exponent) - 24);
}

static void functions_are_near_the_truth(void **state)
{
    (void)state;
    random_source r = {1};
    double worst[7] = {0};
    for (int i = 0; i < 200000; ++i) {
        const float angle = (float)random_in(&r, -2000.0, 2000.0),
                    far = (float)ldexp(random_in(&r, -1.0, 1.0), 100);
        const float x = (float)random_in(&r, -5.0, 5.0), y = (float)random_in(&r, -5.0, 5.0);
        const uint64_t first = random_bits(&r);
        const double second = random_in(&r, 0.5, 1.0);
        const float size = (float)ldexp(second, (int)(first % 250) - 125);
        const float power = (float)random_in(&r, -100.0, 88.0);
        const double seen[7] = {
            fmax(ulps(single_math(SINGLE_SIN, angle, 0.0f), sin((double)angle)),
                 ulps(single_math(SINGLE_SIN, far, 0.0f), sin((double)far))),
            fmax(ulps(single_math(SINGLE_COS, angle, 0.0f), cos((double)angle)),
                 ulps(single_math(SINGLE_COS, far, 0.0f), cos((double)far))),
            ulps(single_math(SINGLE_ATAN2, x, y), atan2((double)x, (double)y)),
            ulps(single_math(SINGLE_ACOS, x / 5.0f, 0.0f), acos((double)(x / 5.0f))),
            ulps(single_math(SINGLE_EXP, power, 0.0f), exp((double)power)),
            ulps(single_math(SINGLE_LOG, size, 0.0f), log((double)size)),
            ulps(single_math(SINGLE_POW, fabsf(x) + 0.1f, y), pow((double)(fabsf(x) + 0.1f), (double)y)) /
                (1.0 + fabs((double)y * log((double)(fabsf(x) + 0.1f)))),
        };
        for (int k = 0; k < 7; ++k) worst[k] = fmax(worst[k], seen[k]);
    }
    static const char *const names[7] = {"sin", "cos", "atan2", "acos", "exp", "log", "pow"};
    for (int k = 0; k < 7; ++k) print_message("%s: %.2f ulp\n", names[k], worst[k]);
    for (int k = 0; k < 7; ++k) assert_true(worst[k] <= 2.5);
}

static void functions_know_the_ends(void **state)
{
    (void)state;
    const float infinite = (float)INFINITE;
    assert_true(single_math(SINGLE_EXP, -infinite, 0.0f) == 0.0f);
    assert_true(single_math(SINGLE_EXP, infinite, 0.0f) == infinite);
    assert_true(single_math(SINGLE_EXP, 0.0f, 0.0f) == 1.0f);
    assert_true(single_math(SINGLE_LOG, 0.0f, 0.0f) == -infinite);
    assert_true(single_math(SINGLE_LOG, infinite, 0.0f) == infinite);
    assert_true(isnan(single_math(SINGLE_LOG, -1.0f, 0.0f)));
    assert_true(single_math(SINGLE_LOG, 1.0f, 0.0f) == 0.0f);
    assert_near((double)single_math(SINGLE_LOG, 1e-44f, 0.0f), log((double)1e-44f), 1e-5);
    assert_true(single_math(SINGLE_POW, 0.0f, 2.0f) == 0.0f);
    assert_true(single_math(SINGLE_POW, 0.0f, 0.0f) == 1.0f);
    assert_true(isnan(single_math(SINGLE_SIN, infinite, 0.0f)));
    assert_true(isnan(single_math(SINGLE_ACOS, 1.5f, 0.0f)));
    assert_near((double)single_math(SINGLE_ACOS, -1.0f, 0.0f), PI, 2e-7);
    const float ends[] = {0.0f, -0.0f, 1.0f, -1.0f, infinite, -infinite};
    for (int i = 0; i < 6; ++i) {
        for (int k = 0; k < 6; ++k) {
            const float angle = single_math(SINGLE_ATAN2, ends[i], ends[k]);
            assert_near((double)angle, atan2((double)ends[i], (double)ends[k]), 2e-7);
            assert_int_equal(signbit(angle) != 0, signbit(ends[i]) != 0);
        }
    }
}

static void random_numbers_are_the_doubles_rounded(void **state)
{
    (void)state;
    random_source r = {2};
    double worst = 0.0;
    for (int i = 0; i < 300000; ++i) {
        uint32_t word = (uint32_t)random_bits(&r);
        if (i < 64) word = (uint32_t)1 << (i % 32) >> (i / 32); // the tails
        worst = fmax(worst, fabs((double)single_normal(word) - rng_normal_of_word(word)));
        const double unit = (double)single_unit(word);
        assert_true(unit > 0.0 && unit < 1.0);
        assert_near(unit, rng_uniform(word, 0), 0x1p-23);
    }
    print_message("normal deviates differ by %.2g\n", worst);
    assert_true(worst < 8e-7);
    assert_true(single_round(2.5f) == 2.0f && single_round(-3.6f) == -4.0f);
}

// The kernel's structures have no holes, and no whole number is missing from the list: else sizes would
// differ.
static void packed_cells_have_no_holes(void **state)
{
    (void)state;
    for (uint32_t drones = 1; drones < 4; ++drones) {
        for (uint32_t noises = 0; noises < 3; ++noises) {
            block_counts counts = {
                .of = {[BLOCK_drone] = drones, [BLOCK_noise] = noises, [BLOCK_nap_account] = drones}};
            vy_count_head(&counts);
            const size_t cells =
                (block_offset(&counts, BLOCK_KINDS) + drones * sizeof(drone_params) + sizeof(episode_block)) /
                8;
            uint8_t *whole = calloc(cells, 1);
            double *values = calloc(cells, sizeof *values), *back = calloc(cells, sizeof *back);
            unsigned char *packed = calloc(cells, 8);
            assert_non_null(whole);
            vy_pack_mark_integers(&counts, whole);
            size_t size = 0;
            for (size_t i = 0; i < cells; ++i) size += whole[i] ? 8 : 4;
            assert_int_equal(size, vy_pack_size(&counts));
            for (size_t i = 0; i < cells; ++i) values[i] = (double)(1.0f / (float)(i + 3));
            vy_pack(whole, cells, values, 8, packed);
            vy_unpack(whole, cells, packed, back, 8);
            assert_memory_equal(values, back, cells * 8);
            free(whole);
            free(values);
            free(back);
            free(packed);
        }
    }
}

// ---- flights

enum { WORLDS = 128 };

static void randomisation(vy_batch_def *def, vy_variable what, vy_distribution distribution, double a,
                          double b)
{
    def->randomisation[def->randomisation_count++] =
        (vy_randomisation){what, distribution, a, b, VY_EVERY_DRONE};
}

static vy_batch *batch_of(const vy_scenario *s, vy_precision precision)
{
    vy_batch_def def = vy_default_batch_def();
    vy_batch *batch = NULL;
    vy_error err = {0};
    def.scenario = s;
    def.world_count = WORLDS;
    def.precision = precision;
    def.threads = 1;
    randomisation(&def, VY_VARIABLE_MASS, VY_DISTRIBUTION_UNIFORM, 0.8, 1.2);
    randomisation(&def, VY_VARIABLE_INERTIA, VY_DISTRIBUTION_LOG_UNIFORM, 0.8, 1.25);
    randomisation(&def, VY_VARIABLE_IMU_NOISE, VY_DISTRIBUTION_LOG_UNIFORM, 0.1, 10.0);
    randomisation(&def, VY_VARIABLE_WIND_X, VY_DISTRIBUTION_NORMAL, 0.0, 1.0);
    randomisation(&def, VY_VARIABLE_X, VY_DISTRIBUTION_UNIFORM, -5.0, 5.0);
    randomisation(&def, VY_VARIABLE_Z, VY_DISTRIBUTION_UNIFORM, 1.0, 10.0);
    randomisation(&def, VY_VARIABLE_ROLL, VY_DISTRIBUTION_UNIFORM, -0.6, 0.6);
    randomisation(&def, VY_VARIABLE_YAW, VY_DISTRIBUTION_UNIFORM, -3.0, 3.0);
    randomisation(&def, VY_VARIABLE_RATE_X, VY_DISTRIBUTION_NORMAL, 0.0, 2.0);
    if (vy_batch_create(&def, &batch, &err) != VY_OK) fail_msg("%s", err.text);
    return batch;
}

typedef struct drift {
    double position, velocity, attitude, rate; // [m], [m/s], [rad], [rad/s]: largest of all worlds
} drift;

static drift drift_of(const vy_batch_view *a, const vy_batch_view *b)
{
    drift d = {0.0, 0.0, 0.0, 0.0};
    for (uint32_t i = 0; i < a->worlds; ++i) {
        vy_body_state x, y;
        memcpy(&x, a->observations + (size_t)i * 13, sizeof x);
        memcpy(&y, b->observations + (size_t)i * 13, sizeof y);
        d.position = fmax(d.position, check_distance(x.position, y.position));
        d.velocity = fmax(d.velocity, check_distance(x.velocity, y.velocity));
        d.attitude = fmax(d.attitude, check_angle(x.attitude, y.attitude));
        d.rate = fmax(d.rate, check_distance(x.rate, y.rate));
    }
    return d;
}

// Flies the scenario in both for five seconds; largest differences at every half second.
static drift fly_both(const char *name, const vy_scenario *s)
{
    vy_batch *a = batch_of(s, VY_PRECISION_DOUBLE), *b = batch_of(s, VY_PRECISION_SINGLE);
    const vy_batch_view x = vy_batch_get_view(a), y = vy_batch_get_view(b);
    drift max = {0.0, 0.0, 0.0, 0.0};
    assert_string_equal(vy_batch_kernel(b), "single");
    for (int k = 0; k < 10; ++k) {
        vy_batch_step(a, 500);
        vy_batch_step(b, 500);
        const drift d = drift_of(&x, &y);
        max.position = fmax(max.position, d.position);
        max.velocity = fmax(max.velocity, d.velocity);
        max.attitude = fmax(max.attitude, d.attitude);
        max.rate = fmax(max.rate, d.rate);
    }
    print_message("%s: %.2g m, %.2g m/s, %.2g rad, %.2g rad/s\n", name, max.position, max.velocity,
                  max.attitude, max.rate);
    for (uint32_t i = 0; i < WORLDS; ++i) {
        assert_int_equal(x.terminated[i], y.terminated[i]);
        assert_int_equal(x.ticks[i], y.ticks[i]);
    }
    vy_batch_destroy(a);
    vy_batch_destroy(b);
    return max;
}

static vy_scenario *plain(void)
{
    static const char text[] = "volery: 1\nduration: 1 s\ndrones:\n  - name: a\n    vehicle: crazyflie2x\n";
    vy_scenario *s = NULL;
    assert_int_equal(vy_scenario_parse(text, sizeof text - 1, "test", NULL, &s, NULL), VY_OK);
    return s;
}

static void closed_loop_flights_stay_together(void **state)
{
    (void)state;
    vy_scenario *s = plain();
    const drift d = fly_both("hold", s);
    vy_scenario_destroy(s);
    assert_true(d.position < 1e-3 && d.velocity < 1e-3 && d.attitude < 1e-3 && d.rate < 5e-3);
    assert_true(d.position > 0.0); // they are not the same flights
}

static void flights_with_all_effects_stay_together(void **state)
{
    (void)state;
    vy_scenario *s = plain();
    vy_drone_def *drone = &s->drones[0].def;
    drone->vehicle.area = 0.005;
    drone->vehicle.cd = 1.0;
    drone->vehicle.cl = 0.2;
    drone->vehicle.volume = 3e-5;
    drone->vehicle.density_scaling = 1;
    drone->vehicle.damping = (vy_vec3){1e-8, 1e-8, 1e-8};
    s->environment.nap.strict = 1;
    s->environment.wind.turbulence = (vy_turbulence_def){3.0, 1.0, 0.0};
    s->environment.wind.shear = VY_SHEAR_LOG;
    s->environment.wind.shear_speed = 2.0;
    s->environment.atmosphere.mode = VY_ATMOSPHERE_LAYERED;
    s->disturbances = calloc(2, sizeof *s->disturbances);
    assert_non_null(s->disturbances);
    s->disturbance_count = 2;
    for (int i = 0; i < 2; ++i) {
        vy_disturbance_def *d = &s->disturbances[i].def;
        s->disturbances[i].drone = VY_EVERY_DRONE;
        *d = vy_default_disturbance_def();
        d->kind = i == 0 ? VY_DISTURBANCE_NOISE : VY_DISTURBANCE_SINUSOID;
        d->force = (vy_vec3){2e-3, 2e-3, 1e-3};
        d->torque = (vy_vec3){1e-6, 1e-6, 1e-6};
        d->frequency = 2.0;
    }
    const drift d = fly_both("all effects", s);
    vy_scenario_destroy(s);
    assert_true(d.position < 1e-3 && d.velocity < 1e-3 && d.attitude < 1e-3 && d.rate < 5e-3);
}

// What a call leaves, the next one finds: many steps a call or one, many threads or one.
static void calls_and_threads_change_nothing(void **state)
{
    (void)state;
    vy_scenario *s = plain();
    vy_batch *a = batch_of(s, VY_PRECISION_SINGLE), *b = batch_of(s, VY_PRECISION_SINGLE);
    vy_batch_step(a, 300);
    for (int i = 0; i < 300; ++i) vy_batch_step(b, 1);
    for (uint32_t i = 0; i < WORLDS; ++i) assert_true(vy_batch_state_hash(a, i) == vy_batch_state_hash(b, i));
    vy_batch_destroy(a);
    vy_batch_destroy(b);
    vy_scenario_destroy(s);
}

static void what_it_cannot_do_is_refused(void **state)
{
    (void)state;
    vy_scenario *s = plain();
    vy_batch_def def = vy_default_batch_def();
    vy_batch *batch = NULL;
    vy_error err = {0};
    def.scenario = s;
    def.precision = VY_PRECISION_SINGLE;
    def.chain = 1;
    assert_int_equal(vy_batch_create(&def, &batch, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "chain"));
    def.chain = 0;
    def.lanes = 8;
    assert_int_equal(vy_batch_create(&def, &batch, &err), VY_BAD_VALUE);
    def.lanes = 0;
    def.precision = (vy_precision)7;
    assert_int_equal(vy_batch_create(&def, &batch, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "precision"));
    def.precision = VY_PRECISION_SINGLE;
    s->environment.planet.radius = 6.4e6;
    assert_int_equal(vy_batch_create(&def, &batch, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "planet"));
    assert_null(batch);
    vy_scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_near_the_truth),
        cmocka_unit_test(functions_know_the_ends),
        cmocka_unit_test(random_numbers_are_the_doubles_rounded),
        cmocka_unit_test(packed_cells_have_no_holes),
        cmocka_unit_test(closed_loop_flights_stay_together),
        cmocka_unit_test(flights_with_all_effects_stay_together),
        cmocka_unit_test(calls_and_threads_change_nothing),
        cmocka_unit_test(what_it_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
