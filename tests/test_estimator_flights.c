// test_estimator_flights.c - flights on parts as sold and the Kalman filter, through faults of sensors: is
// nobody lost, and is the filter as good as it says?
//
// By itself one seed of each row of the array; VOLERY_ESTIMATOR_SEEDS=100 flies them all (`make estimators`),
// VOLERY_ESTIMATOR_JOBS=n in n processes, VOLERY_ESTIMATOR_FIRST=n begins at another seed,
// VOLERY_ESTIMATOR_ROW=n flies one row.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS
#include "estimator_array.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEGREE 0.01745329251994330
#define LOOKS  100 // [steps] between two looks at a flight
#define MANY   20  // seeds, from which on rows are judged by themselves

// What an estimate consists of, with how many numbers each.
enum { PLACE, HEIGHT, SPEED, TILT, YAW, GYRO, ACCEL, IRON, PARTS, KINEMATIC = 9 };
static const char *const part_names[PARTS] = {"place", "height", "speed", "tilt",
                                              "yaw",   "gyro",   "accel", "iron"};

// What a drone is off by: position and velocity in world axes, attitude in body axes.
static void errors_of(const vy_world *world, double out[KINEMATIC])
{
    const drone_block *d = &world->drones[0];
    const quat q = quat_mul(quat_conj(d->estimate.attitude), d->body.attitude);
    const double two = q.w < 0.0 ? -2.0 : 2.0;
    ekf_set_vec3(vec3_sub(d->body.position, d->estimate.position), out, EKF_POSITION);
    ekf_set_vec3(vec3_sub(d->body.velocity, d->estimate.velocity), out, EKF_VELOCITY);
    ekf_set_vec3(vec3_make(two * q.x, two * q.y, two * q.z), out, EKF_ATTITUDE);
}

// e^T P^-1 e of `count` parts from `first` on, by Cholesky.
static double squares_of(const double *cells, int first, int count, const double *error)
{
    double l[KINEMATIC][KINEMATIC], e[KINEMATIC], sum = 0.0;
    for (int i = 0; i < count; ++i) {
        e[i] = error[first + i];
        for (int k = 0; k <= i; ++k) {
            double s = cells[ekf_covariance_index(first + i, first + k)];
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
        for (int k = 0; k < 3; ++k)
            sum += a[i] * a[k] * cells[ekf_covariance_index(EKF_ATTITUDE + i, EKF_ATTITUDE + k)];
    }
    return sum;
}

static double trace_of(const double *cells, int first, int count)
{
    double sum = 0.0;
    for (int i = first; i < first + count; ++i) sum += cells[ekf_covariance_index(i, i)];
    return sum;
}

static double square_of(vec3 v) { return vec3_dot(v, v); }

// Sums over the moments of a flight, and over flights.
typedef struct tally {
    double count;
    double real[PARTS], said[PARTS]; // squares of errors, and the variances that the filter states
    double squares;                  // NEES
    double innovations[VY_AID_SOURCE_COUNT], numbers[VY_AID_SOURCE_COUNT];
    int lost, done;
    double worst; // [m] over 3 deviations, 10 s after a fault
} tally;

static void look_at_biases(const vy_world *world, tally *t)
{
    const drone_block *d = &world->drones[0];
    const sensor_suite_model *model = &world->model.sensor_suites[0];
    const sensor_suite_blocks sensors = vy_sensor_suite_blocks(world, model);
    const kalman_block *f = &world->kalman[0];
    const double *cells = f->covariance;
    const vec3 gyro = vec3_add(d->imu.gyro_bias, sensors.imu_full->gyro_wander);
    const vec3 accel = vec3_add(d->imu.accel_bias, sensors.imu_full->accel_wander);
    const vec3 iron = vec3_scale(model->ekf.field_unit, model->mag.bias);
    t->real[GYRO] += square_of(vec3_sub(gyro, d->estimate.gyro_bias));
    t->said[GYRO] += trace_of(cells, EKF_GYRO_BIAS, 3);
    t->real[ACCEL] += square_of(vec3_sub(accel, d->estimate.accel_bias));
    t->said[ACCEL] += trace_of(cells, EKF_ACCEL_BIAS, 3);
    t->real[IRON] += square_of(vec3_sub(iron, f->mag_bias));
    t->said[IRON] += trace_of(cells, EKF_MAG_BIAS, 3);
}

static void look(const vy_world *world, tally *t)
{
    double e[KINEMATIC];
    const double *cells = world->kalman[0].covariance;
    const quat q = world->drones[0].body.attitude;
    errors_of(world, e);
    const vec3 turn = vec3_make(e[6], e[7], e[8]);
    const vec3 x = quat_unrotate(q, vec3_make(1, 0, 0)), y = quat_unrotate(q, vec3_make(0, 1, 0)),
               z = quat_unrotate(q, vec3_make(0, 0, 1));
    t->count += 1.0;
    t->real[TILT] += vec3_dot(turn, x) * vec3_dot(turn, x) + vec3_dot(turn, y) * vec3_dot(turn, y);
    t->said[TILT] += variance_about(cells, x) + variance_about(cells, y);
    t->real[YAW] += vec3_dot(turn, z) * vec3_dot(turn, z);
    t->said[YAW] += variance_about(cells, z);
    t->real[PLACE] += e[0] * e[0] + e[1] * e[1];
    t->said[PLACE] += trace_of(cells, EKF_POSITION, 2);
    t->real[HEIGHT] += e[2] * e[2];
    t->said[HEIGHT] += trace_of(cells, EKF_POSITION + 2, 1);
    t->real[SPEED] += e[3] * e[3] + e[4] * e[4] + e[5] * e[5];
    t->said[SPEED] += trace_of(cells, EKF_VELOCITY, 3);
    look_at_biases(world, t);
    t->squares += squares_of(cells, EKF_POSITION, KINEMATIC, e);
}

// How far the position is beyond 3 deviations [m].
static double beyond(const vy_world *world)
{
    double e[KINEMATIC];
    errors_of(world, e);
    return sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) -
           3.0 * sqrt(trace_of(world->kalman[0].covariance, EKF_POSITION, 3));
}

// Innovations since `before`.
static void count_innovations(const kalman_block *before, const kalman_block *now, tally *t)
{
    for (int i = 0; i < VY_AID_SOURCE_COUNT; ++i) {
        t->innovations[i] += now->innovations[i] - before->innovations[i];
        t->numbers[i] += (double)(now->innovation_count[i] - before->innovation_count[i]);
    }
}

static void fly_row(const flight_row *row, uint64_t seed, tally *t)
{
    vy_world *world = row_world(row, seed);
    const double over = flight_recovered(row), end = flight_end(row), dt = world->model.dt;
    int failed = 0;
    t->worst = -1e9;
    while ((double)vy_world_tick(world) * dt < end && !failed) {
        const kalman_block before = world->kalman[0];
        failed = (vy_world_advance(world, LOOKS) & VY_EVENT_FAILED) != 0;
        const double time = (double)vy_world_tick(world) * dt;
        if (time < 20.0 || (time < over && time > FAULT_AT)) continue;
        look(world, t);
        count_innovations(&before, &world->kalman[0], t);
        if (time >= over) t->worst = fmax(t->worst, beyond(world));
    }
    t->lost = failed || t->worst > 1.0;
    t->done = 1;
    vy_world_destroy(world);
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

// Which flights are flown.
typedef struct flight_plan {
    uint64_t seeds, first, only, jobs;
} flight_plan;

static flight_plan planned(void)
{
    return (flight_plan){.seeds = number_of("VOLERY_ESTIMATOR_SEEDS", 1),
                         .first = number_of("VOLERY_ESTIMATOR_FIRST", 1),
                         .only = number_of("VOLERY_ESTIMATOR_ROW", FLIGHT_ROWS),
                         .jobs = number_of("VOLERY_ESTIMATOR_JOBS", 1)};
}

static int is_planned(const flight_plan *plan, uint64_t row)
{
    return plan->only < FLIGHT_ROWS ? row == plan->only : row % LAW_SLICE == 0;
}

// Every flight of one in `jobs`.
static void fly_share(const flight_plan *plan, uint64_t job, tally *flights)
{
    uint64_t number = 0;
    for (uint64_t row = 0; row < FLIGHT_ROWS; ++row) {
        for (uint64_t i = 0; i < plan->seeds && is_planned(plan, row); ++i, ++number) {
            if (number % plan->jobs == job)
                fly_row(&flight_rows[row], plan->first + i, &flights[row * plan->seeds + i]);
        }
    }
}

// Of each row its seeds, flown by processes into memory that they share. A flight that a process did not
// finish is lost.
static tally *fly_all(const flight_plan *plan)
{
    const size_t size = FLIGHT_ROWS * plan->seeds * sizeof(tally);
    tally *flights = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(flights, MAP_FAILED);
    fflush(stdout);
    for (uint64_t job = 1; job < plan->jobs; ++job) {
        if (fork() != 0) continue;
        fly_share(plan, job, flights);
        _exit(0);
    }
    fly_share(plan, 0, flights);
    for (uint64_t job = 1; job < plan->jobs; ++job) (void)wait(NULL);
    return flights;
}

static tally add_up(const tally *flights, uint64_t count)
{
    tally sum = {.worst = -1e9};
    for (uint64_t n = 0; n < count; ++n) {
        const tally *t = &flights[n];
        sum.count += t->count;
        sum.squares += t->squares;
        sum.lost += t->lost || !t->done;
        sum.worst = fmax(sum.worst, t->worst);
        for (int i = 0; i < PARTS; ++i) {
            sum.real[i] += t->real[i];
            sum.said[i] += t->said[i];
        }
        for (int i = 0; i < VY_AID_SOURCE_COUNT; ++i) {
            sum.innovations[i] += t->innovations[i];
            sum.numbers[i] += t->numbers[i];
        }
    }
    return sum;
}

static double rms(const tally *t, int part) { return sqrt(t->real[part] / t->count); }

// Deviation that the filter states over the real one.
static double ratio(const tally *t, int part) { return sqrt(t->said[part] / t->real[part]); }

static double innovation(const tally *t, vy_aid_source sensor)
{
    return t->numbers[sensor] > 0.0 ? t->innovations[sensor] / t->numbers[sensor] : 1.0;
}

// What a row came to, in degrees, metres and one.
static void print_row(uint64_t number, const flight_row *r, const tally *t)
{
    printf("%2d %-20s %-5s %-14s %-4s %-6s %-6s %-5s|%3d|%6.3f %6.3f %5.2f|%5.2f", (int)number, r->vehicle,
           r->gusts ? "gusts" : "calm", fault_rows[r->fault].name, r->gate ? "5" : "none",
           r->calibrated ? "ground" : "none", r->on_ground ? "ground" : "air",
           r->figure_eight ? "eight" : "hover", t->lost, rms(t, TILT) / DEGREE, rms(t, YAW) / DEGREE,
           hypot(rms(t, PLACE), rms(t, HEIGHT)), t->squares / t->count / KINEMATIC);
    printf("|%5.2f %5.2f %5.2f|", innovation(t, VY_AID_SOURCE_GPS), innovation(t, VY_AID_SOURCE_BARO),
           innovation(t, VY_AID_SOURCE_MAG));
    for (int i = 0; i < PARTS; ++i) printf(" %6.2f", ratio(t, i));
}

static void print_head(void)
{
    printf("root mean squares of tilt and yaw [deg] and place [m]; NEES over 9; innovations squared of gps, "
           "baro, "
           "mag; stated over real deviation\n"
           " # vehicle              air   fault          gate calib. start  moves |lost|  tilt    yaw "
           "place|NEES "
           "|  gps  baro   mag|");
    for (int i = 0; i < PARTS; ++i) printf(" %6s", part_names[i]);
    printf("\n");
}

// Whether the mean of `numbers` squares of unit variance over as many flights is within its bounds: those
// that 24 good rows together keep in 95 of 100 cases, 3.08 deviations each; in a slice 4, since so few are no
// normal distribution. Moments of a flight are not independent, so a flight counts as one.
static int is_chi_square(double mean, double numbers, uint64_t flights)
{
    return fabs(mean - 1.0) <= (flights < MANY ? 4.0 : 3.08) * sqrt(2.0 / (numbers * (double)flights));
}

// What is wrong with a row; "": nothing.
static const char *verdict(const flight_row *r, const tally *t, uint64_t seeds)
{
    const int is_calm = r->calibrated || r->figure_eight;
    if (t->lost > 0) return "lost";
    if (!is_chi_square(t->squares / t->count / KINEMATIC, KINEMATIC, seeds)) return "NEES";
    if (!is_chi_square(innovation(t, VY_AID_SOURCE_GPS), 6.0, seeds)) return "fixes";
    if (!is_chi_square(innovation(t, VY_AID_SOURCE_BARO), 1.0, seeds)) return "baro";
    if (!is_chi_square(innovation(t, VY_AID_SOURCE_MAG), 3.0, seeds)) return "field";
    for (int i = 0; i < PARTS && seeds >= MANY; ++i) {
        if (ratio(t, i) < 0.7 || ratio(t, i) > 1.5) return part_names[i];
    }
    // What one flies by: a hover on calibrated parts, an eight on any.
    if (is_calm && rms(t, TILT) > 0.5 * DEGREE * (seeds < MANY ? 2.0 : 1.0)) return "tilt";
    if (is_calm && rms(t, YAW) > (r->figure_eight ? 1.0 : 3.0) * DEGREE) return "yaw";
    return "";
}

static void nobody_is_lost_and_the_filter_is_as_good_as_it_says(void **unused)
{
    (void)unused;
    const flight_plan plan = planned();
    int lost = 0, wrong = 0;
    tally *flights = fly_all(&plan);
    print_head();
    for (uint64_t i = 0; i < FLIGHT_ROWS; ++i) {
        if (!is_planned(&plan, i)) continue;
        const tally t = add_up(&flights[i * plan.seeds], plan.seeds);
        const char *what = verdict(&flight_rows[i], &t, plan.seeds);
        print_row(i, &flight_rows[i], &t);
        printf("%s%s\n", what[0] != '\0' ? "  beyond its bound: " : "", what);
        lost += t.lost;
        wrong += what[0] != '\0';
    }
    printf("%d lost, %d rows beyond a bound\n", lost, wrong);
    assert_int_equal(munmap(flights, FLIGHT_ROWS * plan.seeds * sizeof(tally)), 0);
    assert_int_equal(lost, 0);
    assert_int_equal(wrong, 0);
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
        assert_true(s.nees > 0.0 && s.nees < 45.0); // of 9; beyond it once in a million
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

// On parts as sold, without a covariance to go by: on any vehicle, in any air, calibrated or not.
static void nobody_is_lost_on_the_complementary_filter(void **unused)
{
    (void)unused;
    static const char *const vehicles[] = {"x500", "hexa", "crazyflie2x-physical", "reference-quad"};
    const uint64_t planned_seeds = planned().seeds, seeds = planned_seeds > 8 ? planned_seeds : 8;
    double worst = 0.0;
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
        const flight_row row = {
            vehicles[seed % 4], NO_FAULT, seed / 4 % 2 == 0, 0, seed / 8 % 2 == 1, 0, 0, 1};
        vy_world *world = row_world(&row, seed);
        for (int i = 0; i < 400; ++i) {
            assert_int_equal(vy_world_advance(world, 100) & VY_EVENT_FAILED, 0);
            const drone_block *d = &world->drones[0];
            worst = fmax(worst, vec3_length(vec3_sub(d->body.position, d->estimate.position)));
        }
        vy_world_destroy(world);
    }
    printf("complementary: %d flights, at most %.1f m off\n", (int)seeds, worst);
    assert_true(worst < 12.0); // fixes wander by metres
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_filter_finds_its_start_on_the_ground),
                                       cmocka_unit_test(a_calibration_leaves_what_it_says),
                                       cmocka_unit_test(nobody_is_lost_on_the_complementary_filter),
                                       cmocka_unit_test(nobody_is_lost_and_the_filter_is_as_good_as_it_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
