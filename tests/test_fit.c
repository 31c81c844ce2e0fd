// test_fit.c - a vehicle from a flight: intervals that hold the truth, sums that repeat to the bit, sentences
// for bad input. `test_fit coverage COUNT [FIRST]` flies that many random vehicles and counts how often each
// interval holds.
#include "fit/filter.h"
#include "fit/linear.h"
#include "fit/parameter.h"
#include "fit/solve.h"
#include "fit_flights.h"

enum { N = FIT_PARAMETER_COUNT };
#define COVERAGE_FLIGHT 40.0 // [s]

typedef struct count {
    int found, held;
    double error; // sum of squares, in units of half an interval
} count;

// The truth of a parameter, given what the fit kept of the base.
static double truth_of(int id, const vy_vehicle_def *truth, const vy_fit_result *r)
{
    const fit_point p = {.vehicle = *truth, .accel_delay = 0.5e-3}; // of a mean over a millisecond
    const double value = vy_fit_value(id, &p);
    // Only the ratio to the moment about z shows; the interval is for the one in the file.
    const double over = r->vehicle.inertia.m[2][2] / truth->inertia.m[2][2];
    return r->parameters[id].is_relative_to_izz ? value * over : value;
}

static vy_status fly_and_fit(uint64_t seed, double duration, vy_vehicle_def *truth, vy_fit_result *out)
{
    random_source r = {seed};
    vy_vehicle_def base;
    static text_buffer text;
    vy_error err;
    assert_int_equal(vy_vehicle_preset("reference-quad", &base, NULL), VY_OK);
    *truth = random_vehicle(&r, &base);
    flight_scenario(&r, seed, duration, &text);
    vy_flight *flight = record_flight(&r, truth, text.text, text.size, FLIGHT_JITTER);
    vy_fit_def def = vy_default_fit_def();
    def.mass = truth->mass;
    def.to = duration - 5.0;
    const vy_status status = vy_fit_solve(flight, &base, "reference-quad", &def, out, &err);
    if (status != VY_OK) print_error("seed %llu: %s\n", (unsigned long long)seed, err.text);
    vy_flight_free(flight);
    return status;
}

static void count_one(uint64_t seed, double duration, count *counts, int loud)
{
    static vy_fit_result r;
    vy_vehicle_def truth;
    assert_int_equal(fly_and_fit(seed, duration, &truth, &r), VY_OK);
    for (int id = 0; id < N; ++id) {
        const vy_fit_parameter *p = &r.parameters[id];
        if (p->status != VY_FIT_FOUND || (id >= FIT_ACCEL_X && id <= FIT_GYRO_Z)) continue;
        const double wanted = truth_of(id, &truth, &r);
        const double off = (p->value - wanted) / fmax(0.5 * (p->high - p->low), 1e-300);
        counts[id].found += 1;
        counts[id].held += wanted >= p->low && wanted <= p->high;
        counts[id].error += off * off;
        if (loud)
            printf("%6llu %-20s truth %11.4g found %11.4g (%11.4g to %-11.4g) %+.2f\n",
                   (unsigned long long)seed, p->name, wanted, p->value, p->low, p->high, off);
    }
    if (loud) {
        for (int i = 0; i < r.combination_count; ++i) printf("       %s\n", r.combinations[i]);
        fflush(stdout);
    }
}

// One line for each parameter, which sums over several processes can be made of.
static void print_counts(const count *counts)
{
    printf("%-20s %6s %6s %8s %24s\n", "parameter", "held", "found", "share", "rms error / half width");
    for (int id = 0; id < N; ++id) {
        if (counts[id].found == 0) continue;
        printf("%-20s %6d %6d %7.1f%% %24.2f\n", vy_fit_parameters[id].name, counts[id].held,
               counts[id].found, 100.0 * counts[id].held / counts[id].found,
               sqrt(counts[id].error / counts[id].found));
    }
    fflush(stdout);
}

static int coverage(int vehicles, int first)
{
    count counts[N] = {{0}};
    int bad = 0;
    for (int i = 0; i < vehicles; ++i) count_one((uint64_t)(first + i), COVERAGE_FLIGHT, counts, 1);
    print_counts(counts);
    for (int id = 0; id < N; ++id) {
        const double share = (double)counts[id].held / counts[id].found;
        bad += counts[id].found > 0 && (share < 0.9 || share > 0.99);
    }
    return bad;
}

static void small_matrices_are_solved(void **unused)
{
    (void)unused;
    random_source r = {5};
    for (int trial = 0; trial < 200; ++trial) {
        enum { CAP = 12 };
        const int n = 1 + (int)(random_bits(&r) % CAP);
        double root[CAP * CAP], a[CAP * CAP], copy[CAP * CAP], x[CAP], b[CAP], values[CAP],
            vectors[CAP * CAP];
        for (int i = 0; i < n * n; ++i) root[i] = random_in(&r, -1.0, 1.0);
        for (int i = 0; i < n; ++i) {
            x[i] = random_in(&r, -1.0, 1.0);
            for (int k = 0; k < n; ++k) {
                a[i * n + k] = i == k ? 0.1 : 0.0;
                for (int c = 0; c < n; ++c) a[i * n + k] += root[i * n + c] * root[k * n + c];
            }
        }
        for (int i = 0; i < n; ++i) {
            b[i] = 0.0;
            for (int k = 0; k < n; ++k) b[i] += a[i * n + k] * x[k];
        }
        memcpy(copy, a, sizeof copy);
        assert_true(vy_linear_cholesky(copy, n));
        vy_linear_solve(copy, n, b);
        for (int i = 0; i < n; ++i) assert_near(b[i], x[i], 1e-9);
        memcpy(copy, a, sizeof copy);
        vy_linear_eigen(copy, n, values, vectors);
        for (int e = 0; e < n; ++e) { // a v = value v, of length 1, ascending
            double length = 0.0;
            for (int i = 0; i < n; ++i) {
                double sum = 0.0;
                for (int k = 0; k < n; ++k) sum += a[i * n + k] * vectors[e * n + k];
                assert_near(sum, values[e] * vectors[e * n + i], 1e-10);
                length += vectors[e * n + i] * vectors[e * n + i];
            }
            assert_near(length, 1.0, 1e-12);
            if (e > 0) assert_true(values[e] >= values[e - 1]);
        }
        a[0] = -1.0;
        assert_false(vy_linear_cholesky(a, n));
    }
}

// Each number moves its own parameter, by its scale, and no other; at 0 all are the base's.
static void numbers_move_their_parameters(void **unused)
{
    (void)unused;
    vy_vehicle_def base;
    assert_int_equal(vy_vehicle_preset("x500", &base, NULL), VY_OK);
    const fit_point start = vy_fit_start(&base, 2.2);
    assert_true(start.vehicle.mass == 2.2);
    for (int id = 0; id < N; ++id) {
        double x[N] = {0};
        const fit_point same = vy_fit_at(&start, x);
        assert_near(vy_fit_value(id, &same), vy_fit_value(id, &start),
                    1e-12 * fabs(vy_fit_value(id, &start)));
        x[id] = 0.5;
        const fit_point moved = vy_fit_at(&start, x);
        const double was = vy_fit_value(id, &start), now = vy_fit_value(id, &moved),
                     scale = vy_fit_scale(id, &start);
        if (vy_fit_parameters[id].is_ratio)
            assert_near(log(now / was), 0.5 * scale, 1e-9);
        else
            assert_near(now - was, 0.5 * scale, 1e-9 * scale);
        for (int other = 0; other < N; ++other) {
            const double value = vy_fit_value(other, &start);
            const int follows =
                other == FIT_INERTIA_Z && (id == FIT_INERTIA_X || id == FIT_INERTIA_Y); // its share stays
            if (other != id && !follows) assert_near(vy_fit_value(other, &moved), value, 1e-12 * fabs(value));
        }
    }
}

// Without noise, wind and jitter the vehicle that flew is found.
static void a_clean_flight_gives_its_vehicle(void **unused)
{
    (void)unused;
    random_source r = {77};
    vy_vehicle_def base;
    static text_buffer text;
    static vy_fit_result out, again;
    vy_error err;
    assert_int_equal(vy_vehicle_preset("reference-quad", &base, NULL), VY_OK);
    const vy_vehicle_def truth = random_vehicle(&r, &base);
    flight_scenario(&r, 1, 16.0, &text);
    char *wind = strstr(text.text, "world: "), *line = strchr(wind, '\n');
    memmove(wind, line + 1, strlen(line)); // no turbulence
    char quiet[9000];
    snprintf(quiet, sizeof quiet,
             "%s    sensors:\n      imu: {accel_noise: 0, gyro_noise: 0, accel_bias: 0, gyro_bias: 0, "
             "accel_drift: 0, gyro_drift: 0}\n      mocap: {position_noise: 0, attitude_noise: 0}\n",
             text.text);
    vy_flight *flight = record_flight(&r, &truth, quiet, strlen(quiet), 0.0);
    vy_fit_def def = vy_default_fit_def();
    def.mass = truth.mass;
    def.to = 14.0;
    assert_int_equal(vy_fit_solve(flight, &base, "reference-quad", &def, &out, &err), VY_OK);
    assert_int_equal(vy_fit_solve(flight, &base, "reference-quad", &def, &again, &err), VY_OK);
    assert_memory_equal(&out, &again, sizeof out); // to the bit
    static const int sure[] = {FIT_THRUST_COEF, FIT_INERTIA_X, FIT_INERTIA_Y, FIT_TORQUE, FIT_ROTOR_INERTIA,
                               FIT_LAG_UP,      FIT_LAG_DOWN,  FIT_DRAG_X,    FIT_DRAG_Y, FIT_DRAG_Z};
    for (size_t i = 0; i < sizeof sure / sizeof sure[0]; ++i) {
        const double wanted = truth_of(sure[i], &truth, &out), got = out.parameters[sure[i]].value;
        if (fabs(got / wanted - 1.0) > 0.03)
            print_error("%s: %g, not %g\n", out.parameters[sure[i]].name, got, wanted);
        assert_int_equal(out.parameters[sure[i]].status, VY_FIT_FOUND);
        assert_true(fabs(got / wanted - 1.0) < 0.03);
    }
    assert_near(out.vehicle.centre_of_mass.x, truth.centre_of_mass.x, 1e-4);
    assert_near(out.vehicle.centre_of_mass.y, truth.centre_of_mass.y, 1e-4);
    assert_near(out.imu_delay, 0.0, 1e-3);

    // The file is a vehicle: with it as its base a scenario has the same figures.
    FILE *file = tmpfile();
    assert_non_null(file);
    vy_fit_print(&out, file);
    char body[8000], whole[10000];
    rewind(file);
    const size_t size = fread(body, 1, sizeof body - 1, file);
    body[size] = '\0';
    fclose(file);
    size_t used = (size_t)snprintf(whole, sizeof whole, "volery: 1\ndrones:\n  - name: a\n    vehicle:\n");
    for (char *at = strtok(body, "\n"); at != NULL; at = strtok(NULL, "\n"))
        used += (size_t)snprintf(whole + used, sizeof whole - used, "      %s\n", at);
    vy_scenario *scenario = NULL;
    vy_diagnostics found;
    if (vy_scenario_parse(whole, used, "fitted", NULL, &scenario, &found) != VY_OK)
        print_error("%s\n", vy_diagnostics_print(&found));
    assert_non_null(scenario);
    const vy_vehicle_def *v = &scenario->drones[0].def.vehicle;
    assert_near(v->thrust_coef, out.vehicle.thrust_coef, 1e-8 * v->thrust_coef);
    assert_near(v->torque_coef, out.vehicle.torque_coef, 1e-8 * v->torque_coef);
    assert_near(v->inertia.m[1][1], out.vehicle.inertia.m[1][1], 1e-8 * v->inertia.m[1][1]);
    assert_near(v->motor_lag_down, out.vehicle.motor_lag_down, 1e-8);
    assert_near(v->drag_linear.y, out.vehicle.drag_linear.y, 1e-8);
    assert_near(v->rotor_air.inertia, out.vehicle.rotor_air.inertia, 1e-8 * v->rotor_air.inertia);
    vy_scenario_destroy(scenario);
    vy_diagnostics_destroy(&found);
    vy_flight_free(flight);

    // On the part that was held out it predicts better than its base, and than those that know no vehicle.
    assert_true(out.has_held_out);
    for (int h = 0; h < VY_FIT_HORIZON_COUNT; ++h) {
        assert_true(out.fitted.rate[h] < 0.5 * out.unfitted.rate[h] &&
                    out.fitted.rate[h] < 0.5 * out.hold.rate[h]);
        assert_true(out.fitted.position[h] < 0.7 * out.constant_rate.position[h]);
    }
}

// A slice of the study: `make fit-coverage` has all of it.
static void intervals_hold_the_truth(void **unused)
{
    (void)unused;
    if (LAW_SLICE > 1) skip(); // a fit takes minutes there, and the others look at the same code
    count counts[N] = {{0}};
    int found = 0, held = 0;
    count_one(1, 24.0, counts, 0);
    for (int id = 0; id < N; ++id) {
        found += counts[id].found;
        held += counts[id].held;
        if (counts[id].found > 0) assert_true(counts[id].error / counts[id].found < 9.0); // none is far off
    }
    print_message("%d of %d intervals hold the truth\n", held, found);
    assert_true(found >= 17 && held >= found * 8 / 10);
}

// In closed loop, in gusts, the likelihood finds the noise that the instruments had, and at the true vehicle
// its slopes are what chance makes of them: their square over Fisher's information is chi-squared.
static void at_the_truth_only_chance_is_left(void **unused)
{
    (void)unused;
    enum { SEED = 3, MOVED = 15 };
    static const int moved[MOVED] = {FIT_THRUST_COEF, FIT_INERTIA_X, FIT_INERTIA_Y, FIT_INERTIA_Z,
                                     FIT_TORQUE,      FIT_LAG_UP,    FIT_LAG_DOWN,  FIT_ROTOR_INERTIA,
                                     FIT_DRAG_X,      FIT_DRAG_Y,    FIT_DRAG_Z,    FIT_CENTRE_X,
                                     FIT_CENTRE_Y,    FIT_IMU_DELAY, FIT_POSE_DELAY};
    random_source r = {SEED};
    vy_vehicle_def base;
    static text_buffer text;
    vy_error err;
    fit_data d;
    fit_filter filter;
    fit_normal_equations sums;
    assert_int_equal(vy_vehicle_preset("reference-quad", &base, NULL), VY_OK);
    const vy_vehicle_def truth = random_vehicle(&r, &base);
    flight_scenario(&r, SEED, 24.0, &text);
    text_add(&text, "    sensors: {imu: {accel_bias: 0, gyro_bias: 0}}\n");
    vy_flight *flight = record_flight(&r, &truth, text.text, text.size, 0.0);
    assert_int_equal(vy_fit_data_make(flight, &truth, &d, &err), VY_OK);
    fit_point at = vy_fit_start(&truth, truth.mass);
    at.accel_delay = 0.5e-3; // a mean over a millisecond
    assert_int_equal(vy_filter_make(&d, &at, 0.0, 24.0, &filter, &err), VY_OK);
    const double x[N] = {0};
    assert_true(vy_filter_estimate_noise(&filter, x, 8));
    static const struct {
        int id;
        double is;
    } stock[] = {{NOISE_RATE, 2.44e-4 * 31.6228},  {NOISE_RATE_Z, 2.44e-4 * 31.6228},
                 {NOISE_ACCEL, 1.72e-3 * 31.6228}, {NOISE_ACCEL_Z, 1.72e-3 * 31.6228},
                 {NOISE_ATTITUDE, 0.0087},         {NOISE_POSITION, 1e-3}};
    for (size_t i = 0; i < sizeof stock / sizeof stock[0]; ++i)
        assert_near(exp(filter.noise[stock[i].id]), stock[i].is, 0.04 * stock[i].is);

    int active[N] = {0};
    for (int i = 0; i < MOVED; ++i) active[moved[i]] = 1;
    vy_filter_linearise(&filter, x, active, &sums);
    assert_int_equal(sums.n, MOVED);
    // Its slopes are those of the likelihood itself.
    for (int i = 0; i < 3; ++i) {
        double step[2][N] = {{0}};
        step[0][sums.ids[i]] = 1e-4;
        step[1][sums.ids[i]] = -1e-4;
        const double slope = (vy_filter_cost(&filter, step[0], filter.noise) -
                              vy_filter_cost(&filter, step[1], filter.noise)) /
                             4e-4;
        const double scale = sqrt(sums.normal[i * MOVED + i]);
        assert_near(slope / scale, sums.gradient[i] / scale, 0.1);
    }
    double factor[N * N], step[N], square = 0.0;
    memcpy(factor, sums.normal, sizeof factor);
    assert_true(vy_linear_cholesky(factor, MOVED));
    memcpy(step, sums.gradient, sizeof step);
    vy_linear_solve(factor, MOVED, step);
    for (int i = 0; i < MOVED; ++i) square += sums.gradient[i] * step[i];
    print_message("chi-squared of %d slopes at the truth: %.1f\n", MOVED, square);
    assert_true(square < 30.6); // 99 %

    // A vehicle 1 % heavier to turn is told from it.
    double wrong[N] = {0};
    wrong[FIT_INERTIA_X] = 0.01;
    assert_true(vy_filter_cost(&filter, wrong, filter.noise) >
                vy_filter_cost(&filter, x, filter.noise) + 10.0);
    vy_filter_free(&filter);
    vy_fit_data_free(&d);
    vy_flight_free(flight);
}

// Rotors turn as far in long rows, in which commands act late or early, as in many short ones, and so the
// vehicle turns as much.
static void long_rows_are_as_many_short_ones(void **unused)
{
    (void)unused;
    enum { ROWS = 40, PARTS = 50 };
    random_source r = {11};
    vy_vehicle_def vehicle;
    vy_error err;
    assert_int_equal(vy_vehicle_preset("reference-quad", &vehicle, NULL), VY_OK);
    fit_point at = vy_fit_start(&vehicle, vehicle.mass);
    at.vehicle.motor_lag = 0.03;
    at.vehicle.motor_lag_down = 0.05;
    const unsigned long long has = 1ull << VY_FLIGHT_TIME | 7ull << VY_FLIGHT_RATE | 15ull << VY_FLIGHT_MOTOR;
    vy_flight *flights[2] = {vy_flight_create(ROWS, has), vy_flight_create(ROWS * PARTS, has)};
    fit_data d[2];
    fit_rotors rotors[2];
    for (size_t i = 0; i < ROWS * PARTS; ++i) {
        const size_t row = i / PARTS;
        flights[1]->values[VY_FLIGHT_TIME][i] = 0.005 * (double)i / PARTS;
        flights[0]->values[VY_FLIGHT_TIME][row] = 0.005 * (double)row;
        for (int k = 0; k < 4; ++k) {
            if (i % PARTS == 0) flights[0]->values[VY_FLIGHT_MOTOR + k][row] = random_in(&r, 0.2, 0.9);
            flights[1]->values[VY_FLIGHT_MOTOR + k][i] = flights[0]->values[VY_FLIGHT_MOTOR + k][row];
        }
    }
    for (int f = 0; f < 2; ++f) {
        assert_int_equal(vy_fit_data_make(flights[f], &vehicle, &d[f], &err), VY_OK);
        assert_true(vy_fit_rotors_make(&d[f], &rotors[f]));
    }
    for (at.imu_delay = -0.0042; at.imu_delay < 0.005; at.imu_delay += 0.0021) {
        for (int f = 0; f < 2; ++f) vy_fit_rotors_run(&d[f], &at, &rotors[f]);
        for (size_t row = 2; row + 2 < ROWS; ++row) {
            for (size_t k = 0; k < 4; ++k) {
                double mean = 0.0;
                for (size_t i = 0; i < PARTS; ++i)
                    mean += rotors[1].speed[(2 * (row * PARTS + i) + 1) * 4 + k] / PARTS;
                assert_near(rotors[0].mean[row * 4 + k], mean, 0.01);
                assert_near(rotors[0].speed[2 * row * 4 + k], rotors[1].speed[2 * row * PARTS * 4 + k], 1e-9);
            }
        }
        body_state s[2] = {vy_fit_state(&d[0], &at, 2), vy_fit_state(&d[0], &at, 2)};
        fit_plant plant;
        vy_fit_plant_make(&at, &plant);
        for (size_t row = 2; row + 2 < ROWS; ++row) {
            vy_fit_step(&d[0], &plant, &rotors[0], row, &s[0]);
            for (size_t i = 0; i < PARTS; ++i) vy_fit_step(&d[1], &plant, &rotors[1], row * PARTS + i, &s[1]);
            assert_vec_near(s[0].rate, s[1].rate, 3e-4);
        }
    }
    for (int f = 0; f < 2; ++f) {
        vy_fit_rotors_free(&rotors[f]);
        vy_fit_data_free(&d[f]);
        vy_flight_free(flights[f]);
    }
}

// A fit ends where no step of Newton's is left, also on the edge that the likelihood has at an IMU delay of
// 0, behind which a command would act on the very sample that it answers.
static void a_fit_ends_at_the_optimum(void **unused)
{
    (void)unused;
    if (LAW_SLICE > 1) skip();
    enum { SEED = 1007 };
    random_source r = {SEED};
    vy_vehicle_def base;
    static text_buffer text;
    static fit_problem p;
    vy_error err;
    fit_data d;
    fit_normal_equations sums;
    assert_int_equal(vy_vehicle_preset("reference-quad", &base, NULL), VY_OK);
    const vy_vehicle_def truth = random_vehicle(&r, &base);
    flight_scenario(&r, SEED, 14.0, &text);
    vy_flight *flight = record_flight(&r, &truth, text.text, text.size, FLIGHT_JITTER);
    assert_int_equal(vy_fit_data_make(flight, &base, &d, &err), VY_OK);
    const fit_point at = vy_fit_start(&base, truth.mass);
    assert_int_equal(vy_fit_problem_make(&d, &at, 0.0, 14.0, 0.25, VY_FIT_FOR_PARAMETERS, &p, &err), VY_OK);
    assert_int_equal(vy_fit_problem_solve(&p, &err), VY_OK);
    assert_int_equal(vy_fit_problem_refine(&p, &err), VY_OK);
    assert_true(p.x[FIT_IMU_DELAY] == 0.0); // of such flights about half end there
    vy_filter_linearise(p.filter, p.x, p.active, &sums);
    double matrix[N * N], step[N];
    memcpy(matrix, sums.normal, sizeof matrix);
    for (int i = 0; i < sums.n; ++i) {
        const double prior = vy_fit_prior(sums.ids[i]);
        matrix[i * sums.n + i] += prior;
        step[i] = -sums.gradient[i] - prior * p.x[sums.ids[i]];
        if (sums.ids[i] != FIT_IMU_DELAY) continue;
        assert_true(sums.gradient[i] >= 0.0); // more delay is less likely
        matrix[i * sums.n + i] *= 1e9;        // it stays there
    }
    assert_true(vy_linear_cholesky(matrix, sums.n));
    vy_linear_solve(matrix, sums.n, step);
    double square = 0.0;
    for (int i = 0; i < sums.n; ++i) {
        for (int k = 0; k < sums.n; ++k) {
            if (sums.ids[i] != FIT_IMU_DELAY && sums.ids[k] != FIT_IMU_DELAY)
                square += step[i] * sums.normal[i * sums.n + k] * step[k];
        }
    }
    print_message("a step of %.2g standard deviations is left\n", sqrt(square));
    assert_true(square < 0.02);
    p.filter->differences_below = 1;
    vy_filter_linearise(p.filter, p.x, p.active, &sums);
    for (int i = 0; i < sums.n; ++i) {
        if (sums.ids[i] == FIT_IMU_DELAY) assert_true(sums.gradient[i] <= 0.0); // and so is less
    }
    vy_fit_problem_free(&p);
    vy_fit_data_free(&d);
    vy_flight_free(flight);
}

static void what_cannot_be_fitted_is_told(void **unused)
{
    (void)unused;
    vy_vehicle_def base;
    static vy_fit_result out;
    vy_error err;
    assert_int_equal(vy_vehicle_preset("reference-quad", &base, NULL), VY_OK);
    static const struct {
        const char *has, *part;
        int rows;
        double mass;
    } cases[] = {
        {"rate.x,rate.y,rate.z,motor.0,motor.1,motor.2,motor.3", "too short to tell", 300, 1.0},
        {"rate.x,rate.y,rate.z,motor.0,motor.1,motor.2", "commands of 3 motors", 300, 1.0},
        {"rate.x,rate.z,motor.0,motor.1,motor.2,motor.3", "no body rates", 300, 1.0},
        {"rate.x,rate.y,rate.z,motor.0,motor.1,motor.2,motor.3", "mass", 300, -1.0},
        {"rate.x,rate.y,rate.z,motor.0,motor.1,motor.2,motor.3", "tells nothing", 4000, 1.0},
        {"rate.x,rate.y,rate.z,rotor.0,rotor.1,rotor.2,rotor.3", "is it in rpm", 4000, 1.0},
        {"rate.x,rate.y,rate.z,motor.0,motor.1,motor.2,motor.3", "is it in g", 300, 1000.0},
        {"rate.x,rate.y,rate.z,motor.0,motor.1,motor.2,motor.3", "is it in g", 300, 0.001},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char *text = malloc(1 << 20);
        assert_non_null(text);
        size_t at = (size_t)sprintf(text, "time,%s\n", cases[i].has);
        int columns = 1;
        for (const char *c = cases[i].has; *c != '\0'; ++c) columns += *c == ',';
        const int speeds = strstr(cases[i].has, "rotor.") != NULL;
        for (int row = 0; row < cases[i].rows; ++row) {
            at += (size_t)sprintf(text + at, "%g", 0.004 * row);
            for (int c = 0; c < columns; ++c)
                at += (size_t)sprintf(text + at, ",%g", c < 3 ? 0.0 : speeds ? 5000.0 : 0.0);
            at += (size_t)sprintf(text + at, "\n");
        }
        vy_flight *f = NULL;
        vy_fit_def def = vy_default_fit_def();
        def.mass = cases[i].mass;
        assert_int_equal(vy_flight_parse(text, at, NULL, "a.csv", &f, &err), VY_OK);
        const vy_status status = vy_fit_solve(f, &base, "reference-quad", &def, &out, &err);
        if (status == VY_OK || strstr(err.text, cases[i].part) == NULL)
            print_error("case %zu: %s\n", i, status == VY_OK ? "fitted" : err.text);
        assert_int_not_equal(status, VY_OK);
        assert_non_null(strstr(err.text, cases[i].part));
        vy_flight_free(f);
        free(text);
    }
}

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "coverage") == 0)
        return coverage(atoi(argv[2]), argc > 3 ? atoi(argv[3]) : 1) > 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_matrices_are_solved),        cmocka_unit_test(numbers_move_their_parameters),
        cmocka_unit_test(a_clean_flight_gives_its_vehicle), cmocka_unit_test(intervals_hold_the_truth),
        cmocka_unit_test(at_the_truth_only_chance_is_left), cmocka_unit_test(what_cannot_be_fitted_is_told),
        cmocka_unit_test(long_rows_are_as_many_short_ones), cmocka_unit_test(a_fit_ends_at_the_optimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
