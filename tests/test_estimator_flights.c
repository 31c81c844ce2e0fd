// test_estimator_flights.c - flights on parts as sold and the Kalman filter, through faults of sensors: is
// nobody lost, and is the filter as good as it says?
//
// A pairwise array over vehicle, air, fault, gate, calibration, start and motion. By itself one seed of each
// row; VOLERY_ESTIMATOR_SEEDS=100 flies them all, VOLERY_ESTIMATOR_FIRST=n begins at another seed,
// VOLERY_ESTIMATOR_ROW=n flies one row.
#include "check.h"
#include "volery/scenario.h"
#include "world/sensor_suite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE     0.01745329251994330
#define FAULT_AT   22.0 // [s]
#define RECOVERY   10.0 // [s] after a fault
#define AFTERWARDS 12.0 // [s] of flight after that

typedef enum fault_choice { NO_FAULT, GPS_1, GPS_5, GPS_20, MAGNET, BARO_JUMP, SPOOFED } fault_choice;

typedef struct fault_row {
    const char *name, *text;
    double duration; // [s]
} fault_row;

#define FROM "start: 22 s, duration: "
static const fault_row fault_rows[] = {
    [NO_FAULT] = {"none", "", 0.0},
    [GPS_1] = {"GPS lost 1 s", "{kind: sensor_dropout, channel: gps_position, share: 1, " FROM "1 s}", 1.0},
    [GPS_5] = {"GPS lost 5 s", "{kind: sensor_dropout, channel: gps_position, share: 1, " FROM "5 s}", 5.0},
    [GPS_20] = {"GPS lost 20 s", "{kind: sensor_dropout, channel: gps_position, share: 1, " FROM "20 s}",
                20.0},
    [MAGNET] = {"50 uT for 5 s", "{kind: sensor_bias, channel: mag, bias: [40e-6, -30e-6, 0], " FROM "5 s}",
                5.0},
    [BARO_JUMP] = {"baro jump 20 m", "{kind: sensor_bias, channel: baro, bias: 240 Pa, " FROM "10 s}", 10.0},
    // Fixes that move away at about 0.8 m/s, to 10 m.
    [SPOOFED] =
        {"spoofed drift",
         "{kind: sensor_vibration, channel: gps_position, amplitude: [10, 6, 0], frequency: 0.0125 Hz, " FROM
         "18 s}",
         18.0},
};

typedef struct flight_row {
    const char *vehicle;
    fault_choice fault;
    int gusts, gate, calibrated, on_ground, eight;
    int complementary; // in place of the Kalman filter
} flight_row;

// Every two choices of different columns are in one of the rows, as far as 24 rows go.
static const flight_row flight_rows[] = {
    {"x500", NO_FAULT, 0, 0, 1, 0, 0, 0},
    {"x500", NO_FAULT, 1, 1, 0, 0, 1, 0},
    {"x500", GPS_1, 1, 0, 1, 1, 0, 0},
    {"x500", GPS_5, 0, 1, 0, 0, 0, 0},
    {"x500", GPS_20, 1, 0, 1, 0, 1, 0},
    {"x500", MAGNET, 0, 1, 1, 0, 0, 0},
    {"x500", BARO_JUMP, 1, 0, 0, 1, 0, 0},
    {"x500", SPOOFED, 0, 1, 1, 0, 1, 0},
    {"hexa", NO_FAULT, 1, 1, 1, 1, 1, 0},
    {"hexa", GPS_1, 0, 1, 0, 0, 1, 0},
    {"hexa", GPS_20, 0, 1, 0, 0, 0, 0},
    {"hexa", MAGNET, 1, 0, 0, 0, 1, 0},
    {"hexa", BARO_JUMP, 0, 1, 1, 0, 1, 0},
    {"crazyflie2x-physical", NO_FAULT, 0, 0, 0, 0, 0, 0},
    {"crazyflie2x-physical", GPS_5, 0, 0, 1, 1, 1, 0},
    {"crazyflie2x-physical", GPS_20, 0, 1, 1, 1, 0, 0},
    {"crazyflie2x-physical", MAGNET, 0, 0, 1, 0, 0, 0},
    {"crazyflie2x-physical", SPOOFED, 0, 0, 0, 0, 0, 0},
    {"reference-quad", NO_FAULT, 0, 0, 0, 0, 1, 0},
    {"reference-quad", GPS_5, 1, 1, 1, 0, 0, 0},
    {"reference-quad", MAGNET, 1, 1, 0, 1, 0, 0},
    {"reference-quad", BARO_JUMP, 0, 0, 0, 0, 0, 0},
    {"reference-quad", SPOOFED, 1, 0, 1, 1, 0, 0},
    {"hexa", SPOOFED, 1, 0, 0, 0, 0, 0},
};
enum { ROWS = sizeof flight_rows / sizeof flight_rows[0], KINEMATIC = 9 };

static double flight_end(const flight_row *row)
{
    return FAULT_AT + fault_rows[row->fault].duration + RECOVERY + AFTERWARDS;
}

static vy_world *row_world(const flight_row *row, uint64_t seed)
{
    char text[4000];
    const char *eight = "\n      path: {kind: figure_eight, centre: [0, 0, 20], radius: 8 m, speed: 5 m/s, "
                        "ramp: 3 s, laps: 20, "
                        "start: 6 s}";
    const char *climb =
        "\n      setpoints: [{time: 2.5 s, position: [0, 0, 0]}, {time: 8 s, position: [0, 0, 20]}]";
    snprintf(text, sizeof text,
             "volery: 1\nname: row\nduration: 90 s\n"
             "world:\n  magnetic_field: [0, 20 uT, -45 uT]\n%s%s"
             "drones:\n  - name: alpha\n    vehicle: %s\n    start: {position: [0, 0, %s]}\n"
             "    safety: {distance_max: 80 m, tilt_max: 85 deg%s}\n"
             "    sensors: {imu: bmi088, mocap: {period: none}, baro: bmp388, mag: hmc5883l, gps: neo-m9n, "
             "calibration: %s}\n"
             "    estimator: {kind: %s%s, start: %s}\n"
             "    controller:\n      kind: hold%s\n%s%s\n",
             row->gusts ? "  wind: {constant: [2, 1, 0], turbulence: {wind20: 5 m/s}}\n" : "",
             row->on_ground ? "terrain: {kind: plane}\n" : "", row->vehicle, row->on_ground ? "0.1" : "20",
             row->on_ground ? "" : ", height_min: 1 m", row->calibrated ? "ground" : "none",
             row->complementary ? "complementary" : "ekf", row->gate ? ", gate: 5" : "",
             row->on_ground ? "ground" : "air",
             row->eight       ? eight
             : row->on_ground ? climb
                              : "",
             row->fault != NO_FAULT ? "faults:\n  - " : "", fault_rows[row->fault].text);
    vy_scenario *scenario = NULL;
    vy_diagnostics found = {0};
    vy_error err = {0};
    if (vy_scenario_parse(text, strlen(text), "row", NULL, &scenario, &found) != VY_OK)
        fail_msg("%s in\n%s", found.items[0].text, text);
    scenario->seed = seed;
    vy_world *world = NULL;
    if (vy_scenario_build(scenario, &world, &err) != VY_OK) fail_msg("%s", err.text);
    vy_scenario_destroy(scenario);
    vy_diagnostics_destroy(&found);
    return world;
}

// What the filter is off by: position and velocity in world axes, attitude in body axes.
static void errors_of(const vy_world *world, double out[KINEMATIC])
{
    const drone_block *d = &world->drones[0];
    const quat q = quat_mul(quat_conj(d->estimate.attitude), d->body.attitude);
    const double two = q.w < 0.0 ? -2.0 : 2.0;
    ekf_set_vec3(vec3_sub(d->body.position, d->estimate.position), out, EKF_POSITION);
    ekf_set_vec3(vec3_sub(d->body.velocity, d->estimate.velocity), out, EKF_VELOCITY);
    ekf_set_vec3(vec3_make(two * q.x, two * q.y, two * q.z), out, EKF_ATTITUDE);
}

// e^T P^-1 e, by Cholesky.
static double squares_of(const double *cells, const double error[KINEMATIC])
{
    double l[KINEMATIC][KINEMATIC], e[KINEMATIC], sum = 0.0;
    for (int i = 0; i < KINEMATIC; ++i) {
        e[i] = error[i];
        for (int k = 0; k <= i; ++k) {
            double s = cells[ekf_cell(i, k)];
            for (int n = 0; n < k; ++n) s -= l[i][n] * l[k][n];
            if (i == k) assert_true(s > 0.0); // a covariance stays one
            l[i][k] = i == k ? sqrt(s) : s / l[k][k];
            if (k < i) e[i] -= l[i][k] * e[k];
        }
        e[i] /= l[i][i];
        sum += e[i] * e[i];
    }
    return sum;
}

// Variance of the attitude error about a unit vector in body axes.
static double variance_about(const double *cells, vec3 axis)
{
    const double a[3] = {axis.x, axis.y, axis.z};
    double sum = 0.0;
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) sum += a[i] * a[k] * cells[ekf_cell(EKF_ATTITUDE + i, EKF_ATTITUDE + k)];
    }
    return sum;
}

// Sums over moments, and over seeds.
typedef struct tally {
    double count, tilt, yaw, place, height;              // squares of errors [rad^2, m^2]
    double tilt_said, yaw_said, place_said, height_said; // variances
    double squares;
    double innovations[VY_GATED_COUNT], numbers[VY_GATED_COUNT];
    int lost;
    double worst; // [m] over 3 deviations, 10 s after a fault
} tally;

static void look(const vy_world *world, tally *t)
{
    double e[KINEMATIC];
    const double *cells = world->filters[0].covariance;
    const quat q = world->drones[0].body.attitude;
    errors_of(world, e);
    const vec3 turn = vec3_make(e[6], e[7], e[8]);
    const vec3 x = quat_unrotate(q, vec3_make(1, 0, 0)), y = quat_unrotate(q, vec3_make(0, 1, 0)),
               z = quat_unrotate(q, vec3_make(0, 0, 1));
    t->count += 1.0;
    t->tilt += vec3_dot(turn, x) * vec3_dot(turn, x) + vec3_dot(turn, y) * vec3_dot(turn, y);
    t->tilt_said += variance_about(cells, x) + variance_about(cells, y);
    t->yaw += vec3_dot(turn, z) * vec3_dot(turn, z);
    t->yaw_said += variance_about(cells, z);
    t->place += e[0] * e[0] + e[1] * e[1];
    t->place_said += cells[ekf_cell(0, 0)] + cells[ekf_cell(1, 1)];
    t->height += e[2] * e[2];
    t->height_said += cells[ekf_cell(2, 2)];
    t->squares += squares_of(cells, e);
}

// How far the position is beyond 3 deviations [m].
static double beyond(const vy_world *world)
{
    double e[KINEMATIC], variance = 0.0, square = 0.0;
    errors_of(world, e);
    for (int i = 0; i < 3; ++i) {
        variance += world->filters[0].covariance[ekf_cell(i, i)];
        square += e[i] * e[i];
    }
    return sqrt(square) - 3.0 * sqrt(variance);
}

static void fly_row(const flight_row *row, uint64_t seed, tally *t)
{
    vy_world *world = row_world(row, seed);
    const double over = FAULT_AT + fault_rows[row->fault].duration + RECOVERY, end = flight_end(row);
    const double dt = world->model.dt;
    double worst = -1e9;
    int failed = 0;
    while ((double)vy_world_tick(world) * dt < end && !failed) {
        failed = (vy_world_advance(world, 100) & VY_EVENT_FAILED) != 0;
        const double time = (double)vy_world_tick(world) * dt;
        if (time < over && time > FAULT_AT) continue;
        if (time >= 20.0) look(world, t);
        if (time >= over) worst = fmax(worst, beyond(world));
    }
    t->lost += failed || worst > 1.0;
    t->worst = fmax(t->worst, worst);
    const filter_block *f = &world->filters[0];
    for (int i = 0; i < VY_GATED_COUNT; ++i) {
        t->innovations[i] += f->innovations[i];
        t->numbers[i] += (double)f->innovation_count[i];
    }
    vy_world_destroy(world);
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

// What a row came to, in degrees, metres and one.
static void print_row(int number, const flight_row *r, const tally *t)
{
    printf("%2d %-20s %-5s %-14s %-4s %-6s %-6s %-5s|%3d|%6.3f %6.3f|%6.3f %6.3f|%5.2f %5.2f|%5.2f "
           "%5.2f|%5.2f|%5.2f %5.2f %5.2f\n",
           number, r->vehicle, r->gusts ? "gusts" : "calm", fault_rows[r->fault].name, r->gate ? "5" : "none",
           r->calibrated ? "ground" : "none", r->on_ground ? "ground" : "air", r->eight ? "eight" : "hover",
           t->lost, sqrt(t->tilt / t->count) / DEGREE, sqrt(t->tilt_said / t->count) / DEGREE,
           sqrt(t->yaw / t->count) / DEGREE, sqrt(t->yaw_said / t->count) / DEGREE, sqrt(t->place / t->count),
           sqrt(t->place_said / t->count), sqrt(t->height / t->count), sqrt(t->height_said / t->count),
           t->squares / t->count / KINEMATIC, t->innovations[VY_GATED_GPS] / t->numbers[VY_GATED_GPS],
           t->innovations[VY_GATED_BARO] / t->numbers[VY_GATED_BARO],
           t->innovations[VY_GATED_MAG] / t->numbers[VY_GATED_MAG]);
    fflush(stdout);
}

static void nobody_is_lost(void **unused)
{
    (void)unused;
    const uint64_t seeds = number_of("VOLERY_ESTIMATOR_SEEDS", 1);
    const uint64_t first = number_of("VOLERY_ESTIMATOR_FIRST", 1),
                   only = number_of("VOLERY_ESTIMATOR_ROW", ROWS);
    int lost = 0;
    printf("root mean squares: real, then said by the filter; NEES over 9; innovations of gps, baro, mag\n"
           " # vehicle              air   fault          gate calib. start  moves |lost|    tilt      |     "
           "yaw      |   "
           "place   |  height   |NEES | innovations\n");
    for (uint64_t i = 0; i < ROWS; i += SANITIZED_SLICE) {
        const flight_row *r = &flight_rows[i];
        tally t = {.lost = 0};
        if (only < ROWS && i != only) continue;
        for (uint64_t seed = first; seed < first + seeds; ++seed) fly_row(r, seed, &t);
        print_row((int)i, r, &t);
        lost += t.lost;
        // A heading that hard iron puts 15 degrees off on the ground is too far for a linear filter.
        if (r->calibrated || !r->on_ground) assert_true(t.squares / t.count < 4.0 * KINEMATIC);
        // What the users fly by, of every seed together: a hover on calibrated parts, an eight on
        // any.
        if (r->calibrated || r->eight)
            assert_true(sqrt(t.tilt / t.count) < 0.5 * DEGREE * (seeds < 5 ? 2.0 : 1.0));
        if (r->calibrated || r->eight) assert_true(sqrt(t.yaw / t.count) < (r->eight ? 1.0 : 3.0) * DEGREE);
    }
    assert_int_equal(lost, 0);
}

// Until it has stood still for two seconds the filter has not started and the motors stand still; then its
// attitude is as good as it says. What it is told of its start is nothing.
static void a_filter_finds_its_start_on_the_ground(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        const flight_row row = {"x500", NO_FAULT, 0, 1, seed % 2 == 0, 1, 0, 0};
        vy_world *world = row_world(&row, seed);
        vy_filter_state s;
        (void)vy_world_advance(world, 1900);
        assert_int_equal(vy_world_read_filter(world, vy_world_drone(world, 0), &s), VY_OK);
        assert_false(s.started);
        for (int i = 0; i < 4; ++i) assert_true(world->drones[0].control.motors[i] == 0.0);
        (void)vy_world_advance(world, 700);
        assert_int_equal(vy_world_read_filter(world, vy_world_drone(world, 0), &s), VY_OK);
        assert_true(s.started);
        // Of 9; beyond it once in a million. A heading 15 degrees off is too far for a linear filter.
        assert_true(s.nees > 0.0 && (s.nees < 45.0 || !row.calibrated));
        assert_true(s.error < 3.5 * s.deviation);
        assert_true(s.tilt < (row.calibrated ? 2.0 : 6.0) * DEGREE);
        vy_world_destroy(world);
    }
}

// The same draws, less of each error.
static void a_calibration_leaves_what_it_says(void **unused)
{
    (void)unused;
    const flight_row plain = {"x500", NO_FAULT, 0, 0, 0, 0, 0, 0},
                     done = {"x500", NO_FAULT, 0, 0, 1, 0, 0, 0};
    vy_world *a = row_world(&plain, 5), *b = row_world(&done, 5);
    const sensor_suite_model *p = &a->model.sensor_suites[0], *q = &b->model.sensor_suites[0];
    assert_vec_near(q->mag.bias, vec3_scale(0.1, p->mag.bias), 1e-18); // 5 uT to 0.5
    assert_near(q->mag.distortion.m[0][0] - 1.0, 0.25 * (p->mag.distortion.m[0][0] - 1.0),
                1e-12); // 2 % to 0.5
    assert_vec_near(b->drones[0].imu.accel_bias, vec3_scale(0.15, a->drones[0].imu.accel_bias), 1e-12);
    assert_vec_near(b->drones[0].imu.gyro_bias, vec3_scale(0.02, a->drones[0].imu.gyro_bias), 1e-12);
    vy_world_destroy(a);
    vy_world_destroy(b);
}

// On parts as sold, without a covariance to go by.
static void nobody_is_lost_on_the_complementary_filter(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 8; ++seed) {
        const flight_row row = {"x500", NO_FAULT, seed % 2 == 0, 0, 0, 0, 0, 1};
        vy_world *world = row_world(&row, seed);
        double worst = 0.0;
        for (int i = 0; i < 400; ++i) {
            assert_int_equal(vy_world_advance(world, 100) & VY_EVENT_FAILED, 0);
            const drone_block *d = &world->drones[0];
            worst = fmax(worst, vec3_length(vec3_sub(d->body.position, d->estimate.position)));
        }
        assert_true(worst < 12.0); // fixes wander by metres
        vy_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_filter_finds_its_start_on_the_ground),
                                       cmocka_unit_test(a_calibration_leaves_what_it_says),
                                       cmocka_unit_test(nobody_is_lost_on_the_complementary_filter),
                                       cmocka_unit_test(nobody_is_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
