// test_sensors.c - what the IMU and motion capture read, their noise, and that no sensor moves another's
// noise.
#include "flight.h"
#include <string.h>

// A body held up against gravity by an outside force: at rest, at any attitude.
static vy_world *resting_world(const vy_world_def *def, const vy_drone_def *drone)
{
    vy_world *world = fly_in(def, drone);
    vy_disturbance_def hold = vy_default_disturbance_def();
    hold.force = (vy_vec3){0.0, 0.0, 9.80665 * drone->vehicle.mass};
    assert_int_equal(vy_world_add_disturbance(world, &hold, NULL), VY_OK);
    return world;
}

// An accelerometer at rest reads +g along world up, at any attitude; the gyroscope reads nothing.
static void imu_at_rest_reads_g_upwards(void **unused)
{
    (void)unused;
    random_source r = {41};
    for (int n = 0; n < 50; ++n) {
        const vy_world_def wd = vy_default_world_def();
        vy_drone_def def = passive_body();
        def.attitude = random_attitude(&r);
        vy_world *world = resting_world(&wd, &def);
        const vy_vec3 wanted = quat_unrotate(def.attitude, (vy_vec3){0, 0, 9.80665});
        assert_vec_near(state_of(world, 0).samples.imu.accel, wanted, 5e-14); // before the first step too
        (void)vy_world_advance(world, 10);
        const vy_samples s = state_of(world, 0).samples;
        assert_vec_near(s.imu.accel, wanted, 1e-11);
        assert_vec_near(s.imu.gyro, ((vy_vec3){0, 0, 0}), 0.0);
        vy_world_destroy(world);
    }
}

// In free fall it reads nothing, tumbling or not.
static void imu_in_free_fall_reads_nothing(void **unused)
{
    (void)unused;
    random_source r = {42};
    for (int n = 0; n < 20; ++n) {
        vy_drone_def def = passive_body();
        def.attitude = random_attitude(&r);
        def.rate = random_vec(&r, 10.0);
        def.velocity = random_vec(&r, 10.0);
        vy_world *world = fly(&def);
        (void)vy_world_advance(world, 100);
        const vy_drone_state s = state_of(world, 0);
        assert_vec_near(s.samples.imu.accel, ((vy_vec3){0, 0, 0}), 1e-10);
        assert_vec_near(s.samples.imu.gyro, s.rate, 0.0);
        vy_world_destroy(world);
    }
}

// A constant push in body axes on a ball that spins: the mean over a sample, seen from halfway, is the push
// along the spin, and across it the push times sin(x) / x with x half the angle turned.
static void imu_reads_the_force_of_a_spinning_body(void **unused)
{
    (void)unused;
    random_source r = {43};
    for (int n = 0; n < 20; ++n) {
        vy_drone_def def = passive_body();
        def.vehicle.inertia = (vy_mat3){{{0.02, 0, 0}, {0, 0.02, 0}, {0, 0, 0.02}}};
        def.imu.period = 0.01;
        def.attitude = random_attitude(&r);
        def.rate = random_vec(&r, 8.0);
        vy_world *world = fly(&def);
        vy_disturbance_def push = vy_default_disturbance_def();
        push.frame = VY_FRAME_BODY;
        push.force = random_vec(&r, 5.0);
        assert_int_equal(vy_world_add_disturbance(world, &push, NULL), VY_OK);
        (void)vy_world_advance(world, 200);
        const double spin = vec3_length(def.rate), x = 0.5 * spin * 0.01;
        const vec3 axis = vec3_scale(1.0 / spin, def.rate);
        const vec3 along = vec3_scale(vec3_dot(push.force, axis), axis), across = vec3_sub(push.force, along);
        assert_vec_near(state_of(world, 0).samples.imu.accel, vec3_add_scaled(along, sin(x) / x, across),
                        1e-9);
        assert_vec_near(state_of(world, 0).samples.imu.gyro, def.rate, 1e-12);
        vy_world_destroy(world);
    }
}

// A hovering drone's accelerometer reads thrust over mass along body +z: +g.
static void imu_of_a_hovering_drone(void **unused)
{
    (void)unused;
    const vy_drone_def def = quiet_drone();
    vy_world *world = fly(&def);
    (void)vy_world_advance(world, 100);
    assert_vec_near(state_of(world, 0).samples.imu.accel, ((vy_vec3){0, 0, 9.80665}), 1e-10);
    vy_world_destroy(world);
}

// The correlation of two rows of numbers whose mean is zero.
static double correlation_of(const double *x, const double *y, int count)
{
    double xx = 0.0, yy = 0.0, xy = 0.0;
    for (int i = 0; i < count; ++i) {
        xx += x[i] * x[i];
        yy += y[i] * y[i];
        xy += x[i] * y[i];
    }
    return xy / sqrt(xx * yy);
}

// Mean, deviation, and the correlation of neighbours, of a row of numbers.
typedef struct statistics {
    double mean, deviation, correlation;
} statistics;

static statistics statistics_of(const double *x, int count)
{
    statistics s = {0};
    for (int i = 0; i < count; ++i) s.mean += x[i] / count;
    double square = 0.0, next = 0.0;
    for (int i = 0; i < count; ++i) {
        square += (x[i] - s.mean) * (x[i] - s.mean);
        if (i > 0) next += (x[i] - s.mean) * (x[i - 1] - s.mean);
    }
    s.deviation = sqrt(square / count);
    s.correlation = square > 0.0 ? next / square : 0.0;
    return s;
}

enum { SAMPLES = 40000 };
static double rows[6][SAMPLES];

// IMU readings of a body at rest with the given IMU, one row per axis of accelerometer and gyroscope.
static void record_imu(const vy_imu_def *imu)
{
    vy_world_def wd = vy_default_world_def();
    wd.environment.gravity.uniform = (vy_vec3){0, 0, 0};
    vy_drone_def def = passive_body();
    def.imu = *imu;
    vy_world *world = fly_in(&wd, &def);
    const uint64_t ticks = (uint64_t)(imu->period / wd.dt + 0.5);
    for (int i = 0; i < SAMPLES; ++i) {
        (void)vy_world_advance(world, ticks);
        const vy_imu_sample s = state_of(world, 0).samples.imu;
        assert_int_equal(s.tick, ticks * (uint64_t)(i + 1));
        const double values[6] = {s.accel.x, s.accel.y, s.accel.z, s.gyro.x, s.gyro.y, s.gyro.z};
        for (int k = 0; k < 6; ++k) rows[k][i] = values[k];
    }
    vy_world_destroy(world);
}

// White noise of the declared density: its deviation is density / sqrt(period) at any period, neighbours and
// axes are independent, the mean is zero.
static void imu_noise_has_its_density(void **unused)
{
    (void)unused;
    for (int k = 0; k < 2; ++k) {
        const double period = k ? 0.004 : 0.001;
        const vy_imu_def imu = {.period = period, .accel_noise = 2e-3, .gyro_noise = 3e-4};
        record_imu(&imu);
        for (int axis = 0; axis < 6; ++axis) {
            const double sigma = (axis < 3 ? 2e-3 : 3e-4) / sqrt(period);
            const statistics s = statistics_of(rows[axis], SAMPLES);
            assert_near(s.deviation / sigma, 1.0, 4.0 / sqrt(2.0 * SAMPLES));
            assert_near(s.mean / sigma, 0.0, 4.0 / sqrt(SAMPLES));
            assert_near(s.correlation, 0.0, 4.0 / sqrt(SAMPLES));
            for (int other = 0; other < axis; ++other) {
                assert_near(correlation_of(rows[axis], rows[other], SAMPLES), 0.0, 4.5 / sqrt(SAMPLES));
            }
        }
    }
}

// Drift is a random walk: steps of deviation drift * sqrt(period), independent of each other.
static void imu_drift_is_a_random_walk(void **unused)
{
    (void)unused;
    for (int k = 0; k < 2; ++k) {
        const double period = k ? 0.004 : 0.001;
        const vy_imu_def imu = {.period = period, .accel_drift = 0.01, .gyro_drift = 0.002};
        record_imu(&imu);
        for (int axis = 0; axis < 6; ++axis) {
            for (int i = SAMPLES - 1; i > 0; --i) rows[axis][i] -= rows[axis][i - 1];
            const double sigma = (axis < 3 ? 0.01 : 0.002) * sqrt(period);
            const statistics s = statistics_of(rows[axis], SAMPLES);
            assert_near(s.deviation / sigma, 1.0, 4.0 / sqrt(2.0 * SAMPLES));
            assert_near(s.correlation, 0.0, 4.0 / sqrt(SAMPLES));
            for (int other = 0; other < axis; ++other) {
                assert_near(correlation_of(rows[axis], rows[other], SAMPLES), 0.0, 4.5 / sqrt(SAMPLES));
            }
        }
    }
}

// Turn-on biases differ from run to run with the declared deviation, and stay as they are during a run.
static void imu_bias_is_drawn_once_per_run(void **unused)
{
    (void)unused;
    enum { RUNS = 2000 };
    vy_world_def wd = vy_default_world_def();
    wd.environment.gravity.uniform = (vy_vec3){0, 0, 0};
    vy_drone_def def = passive_body();
    def.imu.accel_bias = 0.05;
    def.imu.gyro_bias = 0.02;
    for (int n = 0; n < RUNS; ++n) {
        wd.seed = (uint64_t)n;
        vy_world *world = fly_in(&wd, &def);
        (void)vy_world_step(world);
        const vy_imu_sample a = state_of(world, 0).samples.imu;
        (void)vy_world_advance(world, 20);
        const vy_imu_sample b = state_of(world, 0).samples.imu;
        assert_vec_near(a.accel, b.accel, 0.0);
        assert_vec_near(a.gyro, b.gyro, 0.0);
        const double values[6] = {a.accel.x, a.accel.y, a.accel.z, a.gyro.x, a.gyro.y, a.gyro.z};
        for (int k = 0; k < 6; ++k) rows[k][n] = values[k];
        vy_world_destroy(world);
    }
    for (int k = 0; k < 6; ++k) {
        const statistics s = statistics_of(rows[k], RUNS);
        assert_near(s.deviation / (k < 3 ? 0.05 : 0.02), 1.0, 4.0 / sqrt(2.0 * RUNS));
        assert_near(s.mean / s.deviation, 0.0, 4.0 / sqrt(RUNS));
        assert_near(s.correlation, 0.0, 4.0 / sqrt(RUNS));
    }
}

// Motion capture reads position and attitude with noise of the declared deviation on every axis, white, at
// its own period, and holds its sample in between.
static void mocap_noise_has_its_deviation(void **unused)
{
    (void)unused;
    random_source r = {44};
    const vy_world_def wd = vy_default_world_def();
    vy_drone_def def = passive_body();
    def.attitude = random_attitude(&r);
    def.mocap = (vy_mocap_def){.period = 0.002, .position_noise = 0.003, .attitude_noise = 0.01};
    vy_world *world = resting_world(&wd, &def);
    for (int i = 0; i < SAMPLES; ++i) {
        (void)vy_world_step(world);
        (void)vy_world_step(world);
        const vy_mocap_sample s = state_of(world, 0).samples.mocap;
        assert_int_equal(s.tick, 2 * (i + 1));
        const quat d = quat_mul(quat_conj(def.attitude), s.attitude);
        assert_near(quat_dot(s.attitude, s.attitude), 1.0, 1e-15);
        const double values[6] = {s.position.x, s.position.y, s.position.z - 1.0, 2 * d.x, 2 * d.y, 2 * d.z};
        for (int k = 0; k < 6; ++k) rows[k][i] = values[k];
    }
    (void)vy_world_step(world);
    assert_int_equal(state_of(world, 0).samples.mocap.tick, 2 * SAMPLES);
    vy_world_destroy(world);
    for (int k = 0; k < 6; ++k) {
        const statistics s = statistics_of(rows[k], SAMPLES);
        assert_near(s.deviation / (k < 3 ? 0.003 : 0.01), 1.0, 4.0 / sqrt(2.0 * SAMPLES));
        assert_near(s.mean / s.deviation, 0.0, 4.0 / sqrt(SAMPLES));
        assert_near(s.correlation, 0.0, 4.0 / sqrt(SAMPLES));
    }
}

// Without noise motion capture reads the truth to the bit of its normalisation.
static void mocap_without_noise_is_the_truth(void **unused)
{
    (void)unused;
    vy_drone_def def = passive_body();
    def.rate = (vy_vec3){1, 2, 3};
    def.velocity = (vy_vec3){1, 1, 9};
    vy_world *world = fly(&def);
    (void)vy_world_advance(world, 250);
    const vy_drone_state s = state_of(world, 0);
    assert_vec_near(s.samples.mocap.position, s.position, 0.0);
    assert_near(check_angle(s.samples.mocap.attitude, s.attitude), 0.0, 1e-15);
    vy_world_destroy(world);
}

// Noise of the IMU, drift included, and of motion capture at the same ticks have nothing in common.
static void imu_and_mocap_noise_are_independent(void **unused)
{
    (void)unused;
    static double imu[6][SAMPLES];
    vy_world_def wd = vy_default_world_def();
    wd.environment.gravity.uniform = (vy_vec3){0, 0, 0};
    vy_drone_def def = passive_body();
    def.position.z = 0.0;
    def.imu = (vy_imu_def){.period = 0.001, .accel_noise = 1e-3, .gyro_noise = 1e-3};
    def.mocap = (vy_mocap_def){.period = 0.001, .position_noise = 1e-3, .attitude_noise = 1e-3};
    vy_world *world = fly_in(&wd, &def);
    for (int i = 0; i < SAMPLES; ++i) {
        (void)vy_world_step(world);
        const vy_samples s = state_of(world, 0).samples;
        const vy_vec3 a = s.imu.accel, g = s.imu.gyro, p = s.mocap.position;
        const double left[6] = {a.x, a.y, a.z, g.x, g.y, g.z};
        const double right[6] = {p.x, p.y, p.z, s.mocap.attitude.x, s.mocap.attitude.y, s.mocap.attitude.z};
        for (int k = 0; k < 6; ++k) {
            imu[k][i] = left[k];
            rows[k][i] = right[k];
        }
    }
    vy_world_destroy(world);
    for (int k = 0; k < 36; ++k) {
        assert_near(correlation_of(imu[k / 6], rows[k % 6], SAMPLES), 0.0, 4.5 / sqrt(SAMPLES));
    }
}

static void record(vy_world *world, uint32_t drone, vy_imu_sample *out)
{
    for (int i = 0; i < 100; ++i) {
        (void)vy_world_step(world);
        out[i] = state_of(world, drone).samples.imu;
    }
    vy_world_destroy(world);
}

// The IMU's noise depends on nothing but seed, drone and tick: not on motion capture, nor on disturbances,
// nor on other drones; and it does depend on those three.
static void sensors_have_streams_of_their_own(void **unused)
{
    (void)unused;
    static vy_imu_sample plain[100], other[100];
    vy_drone_def def = vy_default_drone_def();
    def.controller.kind = VY_CONTROLLER_NONE;
    record(fly(&def), 0, plain);
    assert_true(memcmp(&plain[0].accel, &plain[1].accel, sizeof plain[0].accel) != 0);

    vy_drone_def changed = def;
    changed.mocap = (vy_mocap_def){0};
    record(fly(&changed), 0, other);
    assert_memory_equal(plain, other, sizeof plain);
    changed.mocap = (vy_mocap_def){.period = 0.001, .position_noise = 1.0, .attitude_noise = 1.0};
    record(fly(&changed), 0, other);
    assert_memory_equal(plain, other, sizeof plain);

    vy_world *world = fly(&def);
    vy_disturbance_def nothing = vy_default_disturbance_def();
    nothing.kind = VY_DISTURBANCE_NOISE;
    assert_int_equal(vy_world_add_disturbance(world, &nothing, NULL), VY_OK);
    record(world, 0, other);
    assert_memory_equal(plain, other, sizeof plain);

    vy_world_def wd = vy_default_world_def();
    world = fly_in(&wd, &def);
    assert_int_equal(vy_world_add_drone(world, &def, NULL, NULL), VY_OK);
    record(world, 0, other);
    assert_memory_equal(plain, other, sizeof plain);

    world = fly_in(&wd, &def);
    assert_int_equal(vy_world_add_drone(world, &def, NULL, NULL), VY_OK);
    record(world, 1, other);
    assert_memory_not_equal(plain, other, sizeof plain);
    wd.seed = 2;
    record(fly_in(&wd, &def), 0, other);
    assert_memory_not_equal(plain, other, sizeof plain);
}

static void odd_imu(vy_drone_def *d) { d->imu.period = 0.0004; }
static void odd_mocap(vy_drone_def *d) { d->mocap.period = 0.0105; }
static void minus_period(vy_drone_def *d) { d->imu.period = -0.001; }
static void nan_noise(vy_drone_def *d) { d->imu.gyro_noise = NOT_A_NUMBER; }
static void minus_noise(vy_drone_def *d) { d->mocap.position_noise = -1.0; }
static void inf_drift(vy_drone_def *d) { d->imu.accel_drift = INFINITE; }

// Sensors out of range are refused with a sentence that names the field.
static void bad_sensors_are_refused_by_name(void **unused)
{
    (void)unused;
    static const struct {
        void (*spoil)(vy_drone_def *);
        const char *says;
    } list[] = {{odd_imu, "imu.period"},         {odd_mocap, "mocap.period"},
                {minus_period, "imu.period"},    {nan_noise, "imu.gyro_noise"},
                {minus_noise, "position_noise"}, {inf_drift, "imu.accel_drift"}};
    const vy_world_def wd = vy_default_world_def();
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        vy_drone_def def = vy_default_drone_def();
        list[i].spoil(&def);
        vy_error err = {0};
        if (vy_world_add_drone(world, &def, NULL, &err) != VY_BAD_VALUE ||
            strstr(err.text, list[i].says) == NULL) {
            fail_msg("bad sensor %zu (%s) got: %s", i, list[i].says, err.text);
        }
    }
    vy_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imu_at_rest_reads_g_upwards),
        cmocka_unit_test(imu_in_free_fall_reads_nothing),
        cmocka_unit_test(imu_reads_the_force_of_a_spinning_body),
        cmocka_unit_test(imu_of_a_hovering_drone),
        cmocka_unit_test(imu_noise_has_its_density),
        cmocka_unit_test(imu_drift_is_a_random_walk),
        cmocka_unit_test(imu_bias_is_drawn_once_per_run),
        cmocka_unit_test(mocap_noise_has_its_deviation),
        cmocka_unit_test(mocap_without_noise_is_the_truth),
        cmocka_unit_test(imu_and_mocap_noise_are_independent),
        cmocka_unit_test(sensors_have_streams_of_their_own),
        cmocka_unit_test(bad_sensors_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
