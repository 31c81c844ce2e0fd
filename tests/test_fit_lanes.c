// test_fit_lanes.c - points and columns of a fit side by side: every width of the lanes gives the scalar's
// bits.
#include "fit/filter.h"
#include "fit_flights.h"

enum { N = FIT_PARAMETER_COUNT, ROWS = 300, STARTS = 5, WIDTHS = 4 };

static int kernels(const fit_kernel *out[WIDTHS])
{
    const fit_kernel *const all[WIDTHS] = {vy_fit_lanes_1, vy_fit_lanes_2, vy_fit_lanes_4_avx2,
                                           vy_fit_lanes_8_avx512};
    int count = 0;
    for (int i = 0; i < WIDTHS; ++i) {
        if (all[i] != NULL && all[i]->width <= vy_fit_lanes()->width) out[count++] = all[i];
    }
    assert_true(count >= 2);
    return count;
}

// Rows of no vehicle in particular: a pose only in every third.
static vy_flight *random_flight(random_source *r, const vy_vehicle_def *v, int has_pose)
{
    const unsigned long long pose =
        7ull << VY_FLIGHT_POSITION | 7ull << VY_FLIGHT_VELOCITY | 15ull << VY_FLIGHT_ATTITUDE;
    const unsigned long long motors = (1ull << v->rotor_count) - 1;
    vy_flight *f =
        vy_flight_create(ROWS, 1ull << VY_FLIGHT_TIME | 7ull << VY_FLIGHT_RATE | 7ull << VY_FLIGHT_ACCEL |
                                   motors << VY_FLIGHT_MOTOR | (has_pose ? pose : 0));
    assert_non_null(f);
    for (size_t i = 0; i < ROWS; ++i) {
        f->values[VY_FLIGHT_TIME][i] = 0.005 * (double)i + (i > 0 ? random_in(r, 0.0, 1e-3) : 0.0);
        for (int q = 1; q < VY_FLIGHT_QUANTITY_COUNT; ++q) {
            if (f->values[q] == NULL) continue;
            f->values[q][i] = q >= VY_FLIGHT_MOTOR ? random_in(r, 0.3, 0.7) : random_in(r, -0.2, 0.2);
            if (q == VY_FLIGHT_ATTITUDE) f->values[q][i] = 1.0;
            if (q < VY_FLIGHT_RATE && i % 3 != 0) f->values[q][i] = (double)NAN;
        }
    }
    return f;
}

// Predictions of points that differ in everything, by every width.
static void predictions_have_the_same_bits(void **unused)
{
    (void)unused;
    const fit_kernel *all[WIDTHS];
    const int widths = kernels(all);
    const char *const presets[] = {"reference-quad", "crazyflie2x-physical", "hexa"};
    enum { SIZE = N * STARTS * CHANNEL_COUNT * FIT_BINS };
    static double errors[WIDTHS][SIZE];
    static fit_point points[N];
    for (int flight = 0; flight < 6; ++flight) {
        random_source r = {(uint64_t)(40 + flight)};
        vy_vehicle_def v;
        fit_data d;
        fit_rotors rotors[2];
        vy_error err;
        assert_int_equal(vy_vehicle_preset(presets[flight / 2], &v, NULL), VY_OK);
        vy_flight *f = random_flight(&r, &v, flight % 2);
        assert_int_equal(vy_fit_data_make(f, &v, &d, &err), VY_OK);
        const fit_point base = vy_fit_start(&v, v.mass);
        const fit_point *at[N];
        const fit_rotors *speeds[N];
        double *out[N];
        for (int i = 0; i < N; ++i) {
            double x[N];
            for (int k = 0; k < N; ++k) x[k] = random_in(&r, -0.3, 0.3);
            if (i % 4 == 0) x[FIT_ACCEL_DELAY] = 0.0;
            points[i] = vy_fit_at(&base, x);
            if (i % 5 == 0) points[i].vehicle.rotor_air.inertia = 0.0; // an effect that not all lanes have
            at[i] = &points[i];
            speeds[i] = &rotors[i % 7 == 2];
        }
        for (int i = 0; i < 2; ++i) {
            assert_true(vy_fit_rotors_make(&d, &rotors[i]));
            vy_fit_rotors_run(&d, &points[i], &rotors[i]);
        }
        const size_t first[STARTS] = {0, 1, 60, 150, ROWS - 20};
        for (int k = 0; k < widths; ++k) {
            fit_packs packs;
            assert_true(vy_fit_packs_make(all[k], &packs));
            for (int i = 0; i < N; ++i) out[i] = errors[k] + i * (SIZE / N);
            const int count = flight == 0 ? 11 : N; // the last pack has room
            vy_fit_packs_load(&d, at, speeds, count, &packs);
            vy_fit_packs_predict(&d, &packs, first, STARTS, 0.25, out);
            vy_fit_packs_free(&packs);
            assert_memory_equal(errors[k], errors[0], (size_t)count * (SIZE / N) * sizeof(double));
        }
        assert_true(errors[0][0] != 0.0 && errors[0][0] != errors[0][SIZE / N]);
        for (int i = 0; i < 2; ++i) vy_fit_rotors_free(&rotors[i]);
        vy_fit_data_free(&d);
        vy_flight_free(f);
    }
}

// Noise that is found, and the likelihood with its slopes.
static void filters_have_the_same_bits(void **unused)
{
    (void)unused;
    const fit_kernel *all[WIDTHS];
    const int widths = kernels(all);
    random_source r = {9};
    vy_vehicle_def v;
    fit_data d;
    fit_filter filter;
    vy_error err;
    static text_buffer text;
    static fit_normal_equations sums[2];
    assert_int_equal(vy_vehicle_preset("reference-quad", &v, NULL), VY_OK);
    v = random_vehicle(&r, &v);
    flight_scenario(&r, 9, 4.0, &text);
    vy_flight *f = record_flight(&r, &v, text.text, text.size, FLIGHT_JITTER);
    assert_int_equal(vy_fit_data_make(f, &v, &d, &err), VY_OK);
    const fit_point at = vy_fit_start(&v, v.mass);
    double x[N], noise[2][NOISE_COUNT];
    int active[N];
    for (int i = 0; i < N; ++i) {
        x[i] = random_in(&r, -0.05, 0.05);
        active[i] = i != FIT_ROTOR_DRAG;
    }
    for (int k = 0; k < widths; ++k) {
        assert_int_equal(vy_filter_make(&d, &at, 0.0, 4.0, &filter, &err), VY_OK);
        assert_true(vy_filter_set_lanes(&filter, all[k]));
        assert_true(vy_filter_estimate_noise(&filter, x, 2));
        memcpy(noise[k > 0], filter.noise, sizeof noise[0]);
        vy_filter_linearise(&filter, x, active, &sums[k > 0]);
        vy_filter_free(&filter);
        assert_memory_equal(noise[k > 0], noise[0], sizeof noise[0]);
        assert_memory_equal(&sums[k > 0], &sums[0], sizeof sums[0]);
    }
    assert_true(sums[0].n == N - 1 && sums[0].cost != 0.0);
    vy_fit_data_free(&d);
    vy_flight_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_have_the_same_bits),
        cmocka_unit_test(filters_have_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
