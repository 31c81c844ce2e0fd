// test_filter.c - the estimators that a scenario asks for by name: is the Kalman filter as good as it
// believes, do drones fly on them.
#include "flight.h"
#include "estimators/estimators.h"
#include "volery/fault.h"
#include "world/sensor_suite.h"
#include <string.h>

enum { SEEDS = 40 / LAW_SLICE, PARTS = EKF_MAG_BIAS }; // the first five parts

static vy_world_def seeded_world(uint64_t seed)
{
    vy_world_def def = vy_default_world_def();
    def.seed = seed;
    def.environment.magnetic_field = (vy_vec3){1e-6, 20e-6, -45e-6};
    return def;
}

// A drone that flies about on white noise alone, so that what the filter is told of its sensors is all there
// is.
static vy_drone_def flying_drone(void)
{
    vy_drone_def def = vy_default_drone_def();
    def.position = (vy_vec3){0.0, 0.0, 2.0};
    def.mocap.period = 0.0;
    def.estimator.kind = VY_ESTIMATOR_EKF;
    def.imu.position = (vy_vec3){0.02, -0.01, 0.01};
    def.sensor_suite.mag.period = 0.02;
    def.sensor_suite.baro.period = 0.02;
    def.sensor_suite.baro.noise = 4.0;
    def.sensor_suite.gps.period = 0.1;
    def.sensor_suite.gps.position = (vy_vec3){0.0, 0.03, 0.05};
    def.controller.setpoint_count = 3;
    def.controller.setpoints[0] = (vy_setpoint){0.0, {0.0, 0.0, 2.0}, 0.0};
    def.controller.setpoints[1] = (vy_setpoint){2.0, {2.0, -1.0, 2.5}, 1.0};
    def.controller.setpoints[2] = (vy_setpoint){4.0, {0.0, 1.0, 2.0}, -1.0};
    return def;
}

// What the estimate is off by, in the filter's order.
static void error_of(const vy_world *world, double out[EKF_STATES])
{
    const drone_block *d = &world->drones[0];
    const estimator_state *e = &d->estimate;
    const quat q = quat_mul(quat_conj(e->attitude), d->body.attitude);
    const double two = q.w < 0.0 ? -2.0 : 2.0;
    ekf_set_vec3(vec3_sub(d->body.position, e->position), out, EKF_POSITION);
    ekf_set_vec3(vec3_sub(d->body.velocity, e->velocity), out, EKF_VELOCITY);
    ekf_set_vec3(vec3_make(two * q.x, two * q.y, two * q.z), out, EKF_ATTITUDE);
    ekf_set_vec3(vec3_sub(d->imu.gyro_bias, e->gyro_bias), out, EKF_GYRO_BIAS);
    ekf_set_vec3(vec3_sub(d->imu.accel_bias, e->accel_bias), out, EKF_ACCEL_BIAS);
}

// e^T P^-1 e of the parts [first, last), by Cholesky.
static double consistency(const vy_world *world, int first, int last)
{
    const double *cells = world->kalman[0].covariance;
    double e[EKF_STATES], l[EKF_STATES][EKF_STATES], sum = 0.0;
    error_of(world, e);
    for (int i = first; i < last; ++i) {
        for (int k = first; k <= i; ++k) {
            double s = cells[ekf_covariance_index(i, k)];
            for (int n = first; n < k; ++n) s -= l[i][n] * l[k][n];
            if (i == k) assert_true(s > 0.0); // a covariance stays one
            l[i][k] = i == k ? sqrt(s) : s / l[k][k];
        }
    }
    for (int i = first; i < last; ++i) {
        for (int k = first; k < i; ++k) e[i] -= l[i][k] * e[k];
        e[i] /= l[i][i];
        sum += e[i] * e[i];
    }
    return sum;
}

// The mean over many seeds of n squares is n; within 3.5 deviations of a chi-square of that many runs, and
// that at every moment looked at. Returns the worst distance from n in such deviations.
static double check_consistency(const vy_drone_def *def, double slack)
{
    static const int moments[] = {1, 500, 1500, 2500, 4000, 6000};
    enum { MOMENTS = sizeof moments / sizeof moments[0] };
    double whole[MOMENTS] = {0}, parts[MOMENTS][5] = {{0}};
    for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
        const vy_world_def wd = seeded_world(seed);
        vy_world *world = fly_in(&wd, def);
        for (int k = 0, tick = 0; k < MOMENTS; tick = moments[k++]) {
            assert_int_equal(vy_world_advance(world, (uint64_t)(moments[k] - tick)) & VY_EVENT_FAILED, 0);
            whole[k] += consistency(world, 0, PARTS) / SEEDS;
            for (int p = 0; p < 5; ++p) parts[k][p] += consistency(world, 3 * p, 3 * p + 3) / SEEDS;
        }
        vy_world_destroy(world);
    }
    double worst = 0.0;
    for (int k = 0; k < MOMENTS; ++k) {
        const double off = (whole[k] - 15.0) / sqrt(2.0 * 15.0 / SEEDS);
        worst = fmax(worst, fabs(off));
        if (!(fabs(off) < 3.5 + slack)) print_error("at step %d: %g squares of 15\n", moments[k], whole[k]);
        for (int p = 0; p < 5; ++p) {
            const double part = (parts[k][p] - 3.0) / sqrt(2.0 * 3.0 / SEEDS);
            worst = fmax(worst, fabs(part));
            if (!(fabs(part) < 3.5 + slack))
                print_error("at step %d: %g squares of 3 in part %d\n", moments[k], parts[k][p], p);
        }
    }
    return worst;
}

static void the_ekf_is_as_good_as_it_believes_on_gps(void **unused)
{
    (void)unused;
    const vy_drone_def def = flying_drone();
    assert_true(check_consistency(&def, 0.0) < 3.5);
}

static void the_ekf_is_as_good_as_it_believes_on_motion_capture(void **unused)
{
    (void)unused;
    vy_drone_def def = flying_drone();
    def.mocap = vy_default_mocap_def();
    def.sensor_suite = vy_default_sensor_suite_def();
    assert_true(check_consistency(&def, 0.0) < 3.5);
}

static void the_ekf_is_as_good_as_it_believes_on_flow(void **unused)
{
    (void)unused;
    vy_drone_def def = flying_drone();
    def.sensor_suite.gps.period = 0.0;
    def.sensor_suite.flow.period = 0.02;
    def.sensor_suite.flow.position = (vy_vec3){0.01, 0.0, -0.01};
    def.sensor_suite.range.period = 0.02;
    def.sensor_suite.range.position = (vy_vec3){0.0, 0.02, -0.01};
    assert_true(check_consistency(&def, 0.0) < 3.5);
}

// One that is told half the noise there is believes too much, and that shows: the check can fail.
static void an_ekf_that_is_told_too_little_is_found_out(void **unused)
{
    (void)unused;
    const vy_drone_def def = flying_drone();
    double squares = 0.0;
    for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
        const vy_world_def wd = seeded_world(seed);
        vy_world *world = fly_in(&wd, &def);
        ekf_params *p = &world->model.sensor_suites[0].ekf;
        p->gps_position_variance = vec3_scale(0.25, p->gps_position_variance);
        p->gps_velocity_variance *= 0.25;
        p->mag_variance *= 0.25;
        p->baro_variance *= 0.25;
        (void)vy_world_advance(world, 4000);
        squares += consistency(world, 0, PARTS) / SEEDS;
        vy_world_destroy(world);
    }
    assert_true(squares > 15.0 + 3.5 * sqrt(30.0 / SEEDS));
}

// Biases that no sensor measures are found.
static void the_ekf_finds_the_biases(void **unused)
{
    (void)unused;
    vy_drone_def def = flying_drone();
    def.imu.gyro_drift = def.imu.accel_drift = 0.0;
    const vy_world_def wd = seeded_world(3);
    vy_world *world = fly_in(&wd, &def);
    (void)vy_world_advance(world, 15000);
    const drone_block *d = &world->drones[0];
    assert_true(vec3_length(d->imu.gyro_bias) > 0.003);
    assert_vec_near(d->estimate.gyro_bias, d->imu.gyro_bias, 0.0015);
    assert_vec_near(d->estimate.accel_bias, d->imu.accel_bias, 0.03);
    vy_world_destroy(world);
}

// A receiver whose fixes are late: the filter counts with it.
static void late_fixes_are_counted_as_late(void **unused)
{
    (void)unused;
    vy_drone_def def = flying_drone();
    def.controller.kind = VY_CONTROLLER_NONE;
    def.vehicle.rotor_count = 0;
    def.vehicle.drag_linear = (vy_vec3){0.0, 0.0, 0.0};
    def.velocity = (vy_vec3){20.0, 0.0, 0.0};
    def.sensor_suite.gps.link.delay = 0.2;
    def.sensor_suite.gps.position_noise = 0.05;
    vy_world_def wd = seeded_world(5);
    wd.environment.gravity.uniform = (vy_vec3){0.0, 0.0, 0.0};
    vy_world *world = fly_in(&wd, &def);
    (void)vy_world_advance(world, 5000);
    const vy_drone_state s = state_of(world, 0);
    assert_near(s.samples.estimate.position.x, s.position.x, 0.2); // 4 m behind without
    vy_world_destroy(world);
}

// Gyroscope, gravity, field, fixes and pressure hold a hover and follow a slow plan.
static void a_drone_flies_on_the_complementary_filter(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        vy_drone_def def = flying_drone();
        def.estimator.kind = VY_ESTIMATOR_COMPLEMENTARY;
        def.estimator.start_attitude = 0.1;
        def.imu.accel_bias = 0.02;
        def.imu.position = (vy_vec3){0, 0, 0};
        def.controller.setpoints[1].time = 5.0;
        def.controller.setpoints[2].time = 12.0;
        const vy_world_def wd = seeded_world(seed);
        vy_world *world = fly_in(&wd, &def);
        double angle = 0.0, away = 0.0;
        for (int i = 0; i < 20000; ++i) {
            assert_int_equal(vy_world_step(world) & VY_EVENT_FAILED, 0);
            double e[EKF_STATES];
            error_of(world, e);
            if (i > 8000) angle = fmax(angle, sqrt(e[6] * e[6] + e[7] * e[7] + e[8] * e[8]));
            if (i > 8000) away = fmax(away, sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]));
        }
        assert_true(angle < 0.12); // it takes every push for gravity
        assert_true(away < 0.8);
        const vy_drone_state s = state_of(world, 0);
        assert_near(vec3_length(vec3_sub(s.position, s.target.position)), 0.0, 0.8);
        vy_world_destroy(world);
    }
}

// Without fixes the accelerometer says what is up: on the ground an attitude that is off is found again.
static void the_ground_levels_the_complementary_filter(void **unused)
{
    (void)unused;
    vy_drone_def def = flying_drone();
    def.estimator.kind = VY_ESTIMATOR_COMPLEMENTARY;
    def.estimator.start_attitude = 0.2;
    def.sensor_suite.gps.period = 0.0;
    def.imu.accel_bias = 0.01;
    def.controller.kind = VY_CONTROLLER_NONE;
    def.controller.start = (vy_intent){.rung = VY_RUNG_MOTORS};
    def.rotor_speed = 0.0;
    def.position.z = 0.05;
    vy_world_def wd = seeded_world(4);
    wd.contacts.on = 1;
    vy_world *world = fly_in(&wd, &def);
    const vy_obstacle_def ground = vy_default_obstacle_def();
    assert_int_equal(vy_world_add_obstacle(world, &ground, NULL), VY_OK);
    double e[EKF_STATES];
    (void)vy_world_advance(world, 1);
    error_of(world, e);
    const double before = sqrt(e[6] * e[6] + e[7] * e[7]);
    (void)vy_world_advance(world, 30000);
    error_of(world, e);
    assert_true(before > 0.05);
    assert_true(sqrt(e[6] * e[6] + e[7] * e[7]) < 0.02);
    vy_world_destroy(world);
}

// --- the gate

static vy_gate_state gate_of(const vy_world *world)
{
    vy_gate_state g;
    assert_int_equal(vy_world_read_gate(world, vy_world_drone(world, 0), &g), VY_OK);
    return g;
}

// Sensors that say what they are declared to say pass, and then a gate changes no bit of what is believed.
static void honest_sensors_pass_the_gate(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        vy_drone_def def = flying_drone();
        def.mocap = vy_default_mocap_def();
        def.sensor_suite.range.period = def.sensor_suite.flow.period = 0.02;
        const vy_world_def wd = seeded_world(seed);
        vy_world *open = fly_in(&wd, &def);
        def.estimator.gate = 6.0;
        vy_world *gated = fly_in(&wd, &def);
        (void)vy_world_advance(open, 3000);
        (void)vy_world_advance(gated, 3000);
        const vy_gate_state g = gate_of(gated);
        for (int i = 0; i < VY_AID_SOURCE_COUNT; ++i) assert_true(g.rejected[i] == 0 && g.since[i] == 0);
        assert_memory_equal(&open->drones[0].estimate, &gated->drones[0].estimate, sizeof(estimator_state));
        vy_world_destroy(open);
        vy_world_destroy(gated);
    }
}

// A gate of 2.5 deviations rejects as many numbers as a normal deviate is beyond them: 1.24 %, of one, two,
// three and six numbers to a sample. Deviations are those of what was expected: were they too small or too
// large by a tenth, it would be 2.4 % or 0.6 %.
static void a_gate_rejects_as_many_as_are_beyond_it(void **unused)
{
    (void)unused;
    double rejected[VY_AID_SOURCE_COUNT] = {0.0}, samples[VY_AID_SOURCE_COUNT] = {0.0};
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        vy_drone_def def = flying_drone();
        def.estimator.gate = 2.5;
        def.sensor_suite.range.period = def.sensor_suite.flow.period = 0.02;
        const vy_world_def wd = seeded_world(seed);
        vy_world *world = fly_in(&wd, &def);
        (void)vy_world_advance(world, 8000);
        const vy_gate_state g = gate_of(world);
        for (int i = 0; i < VY_AID_SOURCE_COUNT; ++i) {
            rejected[i] += (double)g.rejected[i];
            samples[i] += i == VY_AID_SOURCE_GPS ? 80.0 : 400.0;
        }
        vy_world_destroy(world);
    }
    const double beyond = erfc(2.5 / sqrt(2.0));
    const int numbers[VY_AID_SOURCE_COUNT] = {0, 6, 1, 3, 1, 2};
    for (int i = VY_AID_SOURCE_GPS; i < VY_AID_SOURCE_COUNT; ++i) {
        const double share = 1.0 - pow(1.0 - beyond, numbers[i]);
        assert_near(rejected[i] / samples[i], share, 4.0 * sqrt(share * (1.0 - share) / samples[i]));
    }
}

static void the_ekf_is_as_good_as_it_believes_behind_a_gate(void **unused)
{
    (void)unused;
    vy_drone_def def = flying_drone();
    def.estimator.gate = 5.0;
    assert_true(check_consistency(&def, 0.0) < 3.5);
}

// How far the estimate is at most from the truth from step `from` to step `to`.
static double farthest(vy_world *world, uint64_t from, uint64_t to)
{
    double worst = 0.0;
    (void)vy_world_advance(world, from - vy_world_tick(world));
    while (vy_world_tick(world) < to) {
        (void)vy_world_step(world);
        const drone_block *d = &world->drones[0];
        worst = fmax(worst, vec3_length(vec3_sub(d->estimate.position, d->body.position)));
    }
    return worst;
}

// Fixes that jump by 30 m for four seconds: believed without a gate, rejected with one, believed again after.
static void a_jump_of_the_fixes_is_rejected(void **unused)
{
    (void)unused;
    for (int gate = 0; gate < 2; ++gate) {
        vy_drone_def def = flying_drone();
        def.estimator.gate = gate ? 5.0 : 0.0;
        vy_fault_def f = vy_default_fault_def();
        f.kind = VY_FAULT_SENSOR_BIAS;
        f.channel = VY_CHANNEL_GPS_POSITION;
        f.vector = (vy_vec3){30.0, -10.0, 0.0};
        f.start = 3.0;
        f.duration = 4.0;
        vy_world_def wd = seeded_world(2);
        vy_world *world = fly_in(&wd, &def);
        assert_int_equal(vy_world_add_fault(world, &f, NULL), VY_OK);
        const double worst = farthest(world, 2500, 7500);
        const vy_gate_state g = gate_of(world);
        if (gate)
            assert_true(worst < 1.5 && g.rejected[VY_AID_SOURCE_GPS] == 40 &&
                        g.since[VY_AID_SOURCE_GPS] == 0);
        if (!gate) assert_true(worst > 5.0 && g.rejected[VY_AID_SOURCE_GPS] == 0);
        vy_world_destroy(world);
    }
}

// A filter that is wrong and sure of itself rejects everything; then it gives in.
static void a_filter_that_is_wrong_comes_back(void **unused)
{
    (void)unused;
    vy_drone_def def = flying_drone();
    def.estimator.gate = 5.0;
    def.estimator.gate_time = 1.0;
    def.controller.kind = VY_CONTROLLER_NONE;
    def.vehicle.rotor_count = 0; // it does not steer by what it believes
    vy_world_def wd = seeded_world(4);
    wd.environment.gravity.uniform = (vy_vec3){0.0, 0.0, 0.0};
    vy_world *world = fly_in(&wd, &def);
    (void)vy_world_advance(world, 2000);
    world->drones[0].estimate.position.x += 60.0;
    (void)vy_world_advance(world, 900);
    vy_gate_state g = gate_of(world);
    assert_int_equal(g.rejected[VY_AID_SOURCE_GPS], 9);
    assert_int_equal(g.since[VY_AID_SOURCE_GPS], 2100);
    assert_true(farthest(world, 2900, 2950) > 55.0);    // not yet
    assert_near(farthest(world, 4500, 6000), 0.0, 3.0); // twice the time, and what it takes to settle
    g = gate_of(world);
    assert_int_equal(g.since[VY_AID_SOURCE_GPS], 0);
    assert_in_range(g.rejected[VY_AID_SOURCE_GPS], 10, 25);
    vy_world_destroy(world);
}

// One sensor against the others: a barometer that is 20 m off for good is not believed while fixes and a
// range finder say otherwise, however long it goes on.
static void one_liar_does_not_win_over_the_others(void **unused)
{
    (void)unused;
    vy_drone_def def = flying_drone();
    def.estimator.gate = 5.0;
    def.estimator.gate_time = 1.0;
    def.sensor_suite.range.period = 0.02;
    vy_fault_def f = vy_default_fault_def();
    f.kind = VY_FAULT_SENSOR_BIAS;
    f.channel = VY_CHANNEL_BARO;
    f.vector.x = 240.0;
    f.start = 2.0;
    vy_world_def wd = seeded_world(6);
    vy_world *world = fly_in(&wd, &def);
    assert_int_equal(vy_world_add_fault(world, &f, NULL), VY_OK);
    assert_true(farthest(world, 1500, 15000) < 1.5);
    const vy_gate_state g = gate_of(world);
    assert_int_equal(g.rejected[VY_AID_SOURCE_BARO], 651); // every one
    assert_int_equal(g.rejected[VY_AID_SOURCE_RANGE], 0);
    vy_world_destroy(world);
}

static void filters_are_state(void **unused)
{
    (void)unused;
    vy_drone_def def = flying_drone();
    def.estimator.gate = 3.0; // some are rejected
    const vy_world_def wd = seeded_world(9);
    vy_world *a = fly_in(&wd, &def), *b = fly_in(&wd, &def);
    (void)vy_world_advance(a, 777);
    static unsigned char block[1 << 16];
    assert_true(vy_world_state_size(a) <= sizeof block);
    vy_world_save(a, block);
    assert_int_equal(vy_world_restore(b, block, vy_world_state_size(b), NULL), VY_OK);
    (void)vy_world_advance(a, 1000);
    (void)vy_world_advance(b, 1000);
    assert_int_equal(vy_world_hash(a), vy_world_hash(b));
    vy_world_destroy(a);
    vy_world_destroy(b);
}

static void filters_ask_for_what_they_need(void **unused)
{
    (void)unused;
    vy_error err;
    vy_world *world = NULL;
    const vy_world_def wd = seeded_world(1);
    assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
    vy_drone_def def = flying_drone();
    def.sensor_suite.gps.period = 0.0;
    assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_BAD_VALUE);
    assert_string_equal(err.text,
                        "drone: the controller needs an IMU and motion capture, GPS or flow, or the truth");
    def = flying_drone();
    def.imu.period = 0.0;
    assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_BAD_VALUE);
    assert_string_equal(err.text, "drone.estimator: a filter needs an IMU");
    def = flying_drone();
    def.estimator.start_attitude = -1.0;
    assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_BAD_VALUE);
    def = flying_drone();
    def.estimator.gate = 0.5;
    assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "gate"));
    def.estimator.gate = 5.0;
    def.estimator.gate_time = 0.0;
    assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_BAD_VALUE);
    def = flying_drone();
    def.estimator.kind = (vy_estimator_kind)7;
    assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_BAD_VALUE);
    def = flying_drone();
    def.estimator.start = (vy_estimator_start)7;
    assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_BAD_VALUE);
    def = flying_drone();
    def.calibration = (vy_calibration)7;
    assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_BAD_VALUE);
    assert_string_equal(err.text, "drone.calibration is no known one: 7");
    def = vy_default_drone_def(); // without a Kalman filter there is nothing to read
    vy_filter_state state;
    assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_OK);
    assert_int_equal(vy_world_read_filter(world, vy_world_drone(world, 0), &state), VY_NOT_FOUND);
    vy_world_destroy(world);
}

// What it says of its position is a covariance, and the deviation is the root of its trace.
static void the_filter_tells_its_covariance(void **unused)
{
    (void)unused;
    vy_world *world = NULL;
    const vy_world_def world_def = vy_default_world_def();
    const vy_drone_def def = flying_drone();
    assert_int_equal(vy_world_create(&world_def, &world, NULL), VY_OK);
    assert_int_equal(vy_world_add_drone(world, &def, NULL, NULL), VY_OK);
    vy_filter_state s;
    for (int i = 0; i < 2000; ++i) {
        assert_int_equal(vy_world_step(world), VY_OK);
        assert_int_equal(vy_world_read_filter(world, vy_world_drone(world, 0), &s), VY_OK);
        const vy_vec3 v = s.variance, c = s.covariance;
        assert_near(s.deviation, sqrt(v.x + v.y + v.z), 1e-15);
        const double det =
            v.x * (v.y * v.z - c.z * c.z) - c.x * (c.x * v.z - c.z * c.y) + c.y * (c.x * c.z - v.y * c.y);
        assert_true(v.x > 0.0 && v.x * v.y > c.x * c.x && det > 0.0);
    }
    assert_true(s.covariance.x != 0.0 || s.covariance.y != 0.0);
    vy_world_destroy(world);
}

// With P = A A^T and an error A u, e^T P^-1 e is u^T u; a covariance that is singular has none.
static void nees_is_that_of_the_covariance(void **unused)
{
    (void)unused;
    enum { N = EKF_NAVIGATION_STATES };
    random_source r = {23};
    for (int trial = 0; trial < 20; ++trial) {
        static kalman_block kalman;
        double a[N][N] = {{0.0}}, error[N] = {0.0}, expected = 0.0;
        for (int i = 0; i < N; ++i) {
            const double u = random_in(&r, -2.0, 2.0);
            expected += u * u;
            for (int k = i; k < N; ++k) {
                a[k][i] = random_in(&r, -0.5, 0.5) + (k == i ? 2.0 : 0.0);
                error[k] += a[k][i] * u;
            }
        }
        for (int i = 0; i < N; ++i) {
            for (int k = 0; k <= i; ++k) {
                double sum = 0.0;
                for (int n = 0; n <= k; ++n) sum += a[i][n] * a[k][n];
                kalman.covariance[ekf_covariance_index(i, k)] = sum;
            }
        }
        const filter_blocks memory = {.kalman = &kalman};
        vy_filter_state out = {.nees = -1.0};
        vy_estimator_ekf.evaluate(&memory, error, &out);
        assert_near(out.nees, expected, 1e-9 * expected);
        kalman.covariance[ekf_covariance_index(0, 0)] = 0.0;
        vy_estimator_ekf.evaluate(&memory, error, &out);
        assert_true(out.nees == 0.0);
    }
}

// A start on the ground without a magnetometer: tilted as the accelerometer says, by the shortest rotation.
static void without_a_field_the_start_has_no_heading(void **unused)
{
    (void)unused;
    static sensor_suite_blocks none;
    const align_params p = {.time = 0.1,
                            .period = 0.01,
                            .gyro_tolerance = 0.1,
                            .accel_tolerance = 1.0,
                            .gravity = {0.0, 0.0, -9.81},
                            .field = {0.0, 20e-6, -45e-6}};
    estimator_samples in = {.accel = {0.981, -1.962, 9.564}, .sensors = &none};
    estimator_state e = {.attitude = {1.0, 0.0, 0.0, 0.0}};
    filter_block f = {.still_samples = 0};
    for (int k = 1; k <= 10; ++k) {
        in.tick = in.imu_tick = (bits)k;
        assert_int_equal(vy_align_step(&p, &in, &e, &f), k == 10);
        const vec3 up = quat_rotate(e.attitude, vec3_scale(1.0 / vec3_length(in.accel), in.accel));
        assert_vec_near(up, vec3_make(0.0, 0.0, 1.0), 1e-12);
        assert_near(e.attitude.z, 0.0, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_filter_tells_its_covariance),
        cmocka_unit_test(nees_is_that_of_the_covariance),
        cmocka_unit_test(without_a_field_the_start_has_no_heading),
        cmocka_unit_test(the_ekf_is_as_good_as_it_believes_on_gps),
        cmocka_unit_test(the_ekf_is_as_good_as_it_believes_on_motion_capture),
        cmocka_unit_test(the_ekf_is_as_good_as_it_believes_on_flow),
        cmocka_unit_test(an_ekf_that_is_told_too_little_is_found_out),
        cmocka_unit_test(the_ekf_finds_the_biases),
        cmocka_unit_test(late_fixes_are_counted_as_late),
        cmocka_unit_test(a_drone_flies_on_the_complementary_filter),
        cmocka_unit_test(the_ground_levels_the_complementary_filter),
        cmocka_unit_test(honest_sensors_pass_the_gate),
        cmocka_unit_test(a_gate_rejects_as_many_as_are_beyond_it),
        cmocka_unit_test(the_ekf_is_as_good_as_it_believes_behind_a_gate),
        cmocka_unit_test(a_jump_of_the_fixes_is_rejected),
        cmocka_unit_test(a_filter_that_is_wrong_comes_back),
        cmocka_unit_test(one_liar_does_not_win_over_the_others),
        cmocka_unit_test(filters_are_state),
        cmocka_unit_test(filters_ask_for_what_they_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
