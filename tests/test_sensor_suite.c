// test_sensor_suite.c - sensors of a suite against closed forms, at attitudes that turn and with
// levers; their noise by Allan variance; how samples travel.
#include "flight.h"
#include "sensors/baro.h"
#include "world/sensor_suite.h"
#include <stdlib.h>
#include <string.h>

static const vy_vec3 field = {3e-6, 20e-6, -45e-6};

// A ball that spins at a constant rate in free fall, high up, with quiet sensors.
static vy_drone_def spinning_ball(random_source *r)
{
    vy_drone_def def = passive_body();
    def.vehicle.inertia = (vy_mat3){{{0.02, 0, 0}, {0, 0.02, 0}, {0, 0, 0.02}}};
    def.attitude = random_attitude(r);
    def.rate = random_vec(r, 6.0);
    def.velocity = random_vec(r, 5.0);
    def.position = (vy_vec3){1.0, -2.0, 40.0};
    return def;
}

static vy_world_def magnetic_world(void)
{
    vy_world_def def = vy_default_world_def();
    def.environment.magnetic_field = field;
    return def;
}

// omega x (omega x r) is all that a free-falling accelerometer off the centre feels.
static void an_imu_off_the_centre_feels_the_spin(void **unused)
{
    (void)unused;
    random_source r = {11};
    for (int n = 0; n < 20; ++n) {
        vy_drone_def def = spinning_ball(&r);
        def.imu.position = random_vec(&r, 0.2);
        vy_world *world = fly(&def);
        (void)vy_world_advance(world, 50);
        const vy_drone_state s = state_of(world, 0);
        const vec3 wanted = vec3_cross(def.rate, vec3_cross(def.rate, def.imu.position));
        assert_vec_near(s.samples.imu.accel, wanted, 1e-9);
        assert_vec_near(s.samples.imu.gyro, def.rate, 1e-12);
        assert_int_equal(s.samples.imu.tick, 50);
        vy_world_destroy(world);
    }
}

// A torque along a fixed axis from rest: alpha x r, and the spin it has reached by the middle of the sample.
static void an_imu_off_the_centre_feels_the_spin_up(void **unused)
{
    (void)unused;
    random_source r = {12};
    for (int n = 0; n < 20; ++n) {
        vy_drone_def def = spinning_ball(&r);
        def.rate = (vy_vec3){0.0, 0.0, 0.0};
        def.imu.position = random_vec(&r, 0.2);
        vy_disturbance_def push = vy_default_disturbance_def();
        push.frame = VY_FRAME_BODY;
        push.torque = random_vec(&r, 0.05);
        vy_world *world = fly(&def);
        assert_int_equal(vy_world_add_disturbance(world, &push, NULL), VY_OK);
        (void)vy_world_advance(world, 100);
        const vec3 alpha = vec3_scale(1.0 / 0.02, push.torque);
        const vec3 before = vec3_scale(0.099, alpha), after = vec3_scale(0.1, alpha), at = def.imu.position;
        const vec3 inward =
            vec3_add(vec3_cross(before, vec3_cross(before, at)), vec3_cross(after, vec3_cross(after, at)));
        const vec3 wanted = vec3_add_scaled(vec3_cross(alpha, at), 0.5, inward);
        assert_vec_near(state_of(world, 0).samples.imu.accel, wanted, 1e-9);
        vy_world_destroy(world);
    }
}

// The full IMU with nothing declared reads what the plain one does, to the last bit but for the mount.
static void a_full_imu_without_figures_is_a_plain_one(void **unused)
{
    (void)unused;
    vy_drone_def def = vy_default_drone_def();
    vy_world *plain = fly(&def);
    def.imu.accel_range = 1e6; // never reached
    vy_world *full = fly(&def);
    for (int i = 0; i < 500; ++i) {
        (void)vy_world_step(plain);
        (void)vy_world_step(full);
        const vy_drone_state a = state_of(plain, 0), b = state_of(full, 0);
        assert_memory_equal(&a.samples.imu, &b.samples.imu, sizeof a.samples.imu);
        assert_memory_equal(&a.position, &b.position, sizeof a.position);
    }
    vy_world_destroy(plain);
    vy_world_destroy(full);
}

// --- Allan variance

enum { SAMPLES = 1 << 20, AXES = 6 };
#define PERIOD 0.01

// Readings of an IMU at rest without gravity, axis by axis: accelerometer, gyroscope.
static double *resting_readings(const vy_imu_def *imu)
{
    const vy_world_def wd = vy_default_world_def();
    vy_drone_def def = passive_body();
    def.imu = *imu;
    vy_world *world = fly_in(&wd, &def);
    const sensor_suite_model *sensor_suite = &world->model.sensor_suites[0];
    double *out = malloc(AXES * (size_t)SAMPLES * sizeof *out);
    assert_non_null(out);
    vy_sensor_suite_start(world);
    imu_state s = world->drones[0].imu;
    imu_full_block f = *vy_sensor_suite_blocks(world, sensor_suite).imu_full;
    s.accel_bias = s.gyro_bias = vec3_zero();
    const body_state body = {.attitude = {0.5, -0.5, 0.5, 0.5}};
    s.attitude = body.attitude;
    s.velocity = vec3_zero();
    f.accel_smooth = vec3_zero();
    for (int i = 0; i < SAMPLES; ++i) {
        const imu_reading r =
            imu_full_sample(&sensor_suite->imu, &body, vec3_zero(), 7, 0, (uint64_t)i + 1, &s, &f);
        const double values[AXES] = {r.accel.x, r.accel.y, r.accel.z, r.gyro.x, r.gyro.y, r.gyro.z};
        for (int a = 0; a < AXES; ++a) out[(size_t)a * SAMPLES + (size_t)i] = values[a];
    }
    vy_world_destroy(world);
    return out;
}

// Allan variance of one axis over clusters of `m` samples, not overlapping (IEEE Std 952, annex C).
static double allan_variance(const double *x, int m)
{
    double sum = 0.0, last = 0.0;
    const int clusters = SAMPLES / m;
    for (int k = 0; k < clusters; ++k) {
        double mean = 0.0;
        for (int i = 0; i < m; ++i) mean += x[k * m + i];
        mean /= m;
        if (k > 0) sum += (mean - last) * (mean - last);
        last = mean;
    }
    return sum / (2.0 * (clusters - 1));
}

// The mean over the three axes of an instrument, as a deviation.
static double allan_deviation(const double *readings, int first, int m)
{
    double sum = 0.0;
    for (int a = first; a < first + 3; ++a) sum += allan_variance(readings + (size_t)a * SAMPLES, m);
    return sqrt(sum / 3.0);
}

// White noise of density N has N / sqrt(tau), a Gauss-Markov bias its floor at 1.89 of its correlation times,
// a random walk K sqrt(tau / 3): each is read off where it alone matters.
static void allan_variance_recovers_the_figures(void **unused)
{
    (void)unused;
    const vy_imu_def white = {.period = PERIOD, .accel_noise = 2e-3, .gyro_noise = 3e-4, .accel_range = 1e3};
    const vy_imu_def wander = {
        .period = PERIOD, .accel_instability = 4e-4, .gyro_instability = 5e-5, .instability_time = 2.0};
    const vy_imu_def walk = {.period = PERIOD, .accel_drift = 1e-4, .gyro_drift = 2e-5, .accel_range = 1e3};
    double *x = resting_readings(&white);
    for (int m = 1; m <= 256; m *= 4) {
        const double tau = m * PERIOD, tolerance = 3.0 * sqrt(m / (3.0 * SAMPLES));
        assert_near(allan_deviation(x, 0, m) * sqrt(tau) / white.accel_noise, 1.0, tolerance);
        assert_near(allan_deviation(x, 3, m) * sqrt(tau) / white.gyro_noise, 1.0, tolerance);
    }
    free(x);
    x = resting_readings(&wander);
    assert_near(allan_deviation(x, 0, 378) / wander.accel_instability, 1.0, 0.06);
    assert_near(allan_deviation(x, 3, 378) / wander.gyro_instability, 1.0, 0.06);
    assert_true(allan_deviation(x, 0, 40) <
                0.7 * wander.accel_instability); // it is a floor between two slopes
    assert_true(allan_deviation(x, 0, 8192) < 0.7 * wander.accel_instability);
    free(x);
    x = resting_readings(&walk);
    for (int m = 256; m <= 4096; m *= 4) {
        const double tau = m * PERIOD;
        assert_near(allan_deviation(x, 0, m) / (walk.accel_drift * sqrt(tau / 3.0)), 1.0, 0.15);
        assert_near(allan_deviation(x, 3, m) / (walk.gyro_drift * sqrt(tau / 3.0)), 1.0, 0.15);
    }
    free(x);
}

// All three at once: the variances add up.
static void allan_variance_of_all_noise_adds_up(void **unused)
{
    (void)unused;
    const vy_imu_def d = {.period = PERIOD,
                          .gyro_noise = 3e-4,
                          .gyro_drift = 2e-5,
                          .gyro_instability = 2e-4,
                          .instability_time = 2.0};
    double *x = resting_readings(&d);
    for (int m = 1; m <= 4096; m *= 4) {
        const double tau = m * PERIOD, t = tau / d.instability_time, q = d.gyro_instability / 0.6175;
        const double markov = 2.0 * q * q / t * (1.0 - (3.0 - 4.0 * exp(-t) + exp(-2.0 * t)) / (2.0 * t));
        const double wanted =
            d.gyro_noise * d.gyro_noise / tau + markov + d.gyro_drift * d.gyro_drift * tau / 3.0;
        assert_near(allan_deviation(x, 3, m) / sqrt(wanted), 1.0, 0.01 + 2.5 * sqrt(m / (3.0 * SAMPLES)));
    }
    free(x);
}

// --- scale, alignment, digits, bandwidth

static void figures_of_the_reading(void **unused)
{
    (void)unused;
    const quantizer_params d = {.range = 2.0, .step = 0.25};
    assert_near(quantize(d, 1.13), 1.25, 0.0);
    assert_near(quantize(d, -1.12), -1.0, 0.0);
    assert_near(quantize(d, 99.0), 2.0, 0.0);
    assert_near(quantize(d, -99.0), -2.0, 0.0);
    assert_near(quantize((quantizer_params){0.0, 0.0}, 1.13), 1.13, 0.0);

    // Scale on the diagonal, everything else beside it; over many runs they have the declared deviations.
    double scale = 0.0, beside = 0.0;
    enum { RUNS = 2000 };
    for (uint64_t seed = 0; seed < RUNS; ++seed) {
        double n[9];
        rng_normals(seed, RNG_STREAM_START, 0, 1, n, 9);
        const mat3 m = distortion_draw(0.02, 0.01, n);
        for (int i = 0; i < 9; ++i) {
            const double e = m.m[i / 3][i % 3] - (i % 4 == 0 ? 1.0 : 0.0);
            *(i % 4 == 0 ? &scale : &beside) += e * e;
        }
    }
    assert_near(sqrt(scale / (3 * RUNS)), 0.02, 0.001);
    assert_near(sqrt(beside / (6 * RUNS)), 0.01, 0.0005);
}

// A gyroscope behind a low-pass: after a kick the error decays by e^(-2 pi f t).
static void bandwidth_is_a_first_order_lag(void **unused)
{
    (void)unused;
    random_source r = {13};
    vy_drone_def def = spinning_ball(&r);
    def.rate = (vy_vec3){0.0, 0.0, 0.0};
    def.imu.gyro_bandwidth = 20.0;
    vy_world *world = fly(&def);
    vy_disturbance_def kick = vy_default_disturbance_def();
    kick.kind = VY_DISTURBANCE_IMPULSE;
    kick.frame = VY_FRAME_BODY;
    kick.torque = (vy_vec3){0.02 * 3.0, 0.0, 0.0};
    kick.duration = 0.001;
    assert_int_equal(vy_world_add_disturbance(world, &kick, NULL), VY_OK);
    for (int i = 1; i <= 40; ++i) {
        (void)vy_world_step(world);
        const double wanted = 3.0 * (1.0 - exp(-2.0 * PI * 20.0 * 0.001 * i));
        assert_near(state_of(world, 0).samples.imu.gyro.x, wanted, 1e-9);
    }
    vy_world_destroy(world);
}

// --- fields and places

// Pressures of the 1976 standard (NOAA-S/T 76-1562, table I), and back.
static void a_barometer_reads_the_standard_atmosphere(void **unused)
{
    (void)unused;
    static const double table[][2] = {
        {0.0, 101325.0}, {1000.0, 89876.0}, {5000.0, 54048.0}, {15000.0, 12111.0}};
    const atmosphere_params none = {.mode = ATMOSPHERE_NONE};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i)
        assert_near(baro_pressure(&none, table[i][0]) / table[i][1], 1.0, 1e-4); // five digits
    const atmosphere_params plain = {ATMOSPHERE_STANDARD, 95000.0, 280.0, 1.18};
    for (double z = -300.0; z < 19000.0; z += 97.3) {
        assert_near(baro_altitude(&none, baro_pressure(&none, z)), z, 1e-7);
        assert_near(baro_altitude(&plain, baro_pressure(&plain, z)), z, 1e-7);
    }
    assert_near(baro_pressure(&plain, 0.0), 95000.0, 0.0);

    random_source r = {14};
    vy_drone_def def = spinning_ball(&r);
    def.sensor_suite.baro = (vy_baro_def){.period = 0.01, .wander_time = 1.0};
    vy_world *world = fly(&def);
    (void)vy_world_advance(world, 105);
    const vy_drone_state s = state_of(world, 0);
    assert_int_equal(s.samples.baro.tick, 100);
    const double before = s.position.z - 0.005 * s.velocity.z - 0.5 * 9.80665 * 0.005 * 0.005;
    assert_near(s.samples.baro.altitude, before, 1e-6);
    vy_world_destroy(world);
}

static void a_magnetometer_reads_the_field_in_body_axes(void **unused)
{
    (void)unused;
    random_source r = {15};
    const vy_world_def wd = magnetic_world();
    for (int n = 0; n < 20; ++n) {
        vy_drone_def def = spinning_ball(&r);
        def.sensor_suite.mag = (vy_mag_def){.period = 0.01};
        vy_world *world = fly_in(&wd, &def);
        (void)vy_world_advance(world, 100);
        const vy_drone_state s = state_of(world, 0);
        const mat3 rotation = quat_matrix(s.attitude);
        assert_vec_near(s.samples.mag.field, mat3_tmul_vec(rotation, field), 1e-19);
        vy_world_destroy(world);
    }
}

// q = 1/2 rho u^2 of the flow along the tube, in wind, at any attitude, off the centre of a spinning body;
// what comes from behind does not press.
static void a_pitot_tube_reads_the_flow_along_its_axis(void **unused)
{
    (void)unused;
    random_source r = {19};
    int backwards = 0;
    for (int n = 0; n < 40; ++n) {
        vy_world_def wd = vy_default_world_def();
        wd.environment.atmosphere.mode = VY_ATMOSPHERE_STANDARD;
        wd.environment.wind.constant = random_vec(&r, 12.0);
        vy_drone_def def = spinning_ball(&r);
        def.velocity = random_vec(&r, 20.0);
        def.sensor_suite.airspeed = (vy_airspeed_def){.period = 0.01,
                                                      .blockage = n % 2 * 0.3,
                                                      .position = random_vec(&r, 0.3),
                                                      .axis = random_vec(&r, 1.0)};
        vy_world *world = fly_in(&wd, &def);
        (void)vy_world_advance(world, 100);
        const vy_drone_state s = state_of(world, 0);
        const vec3 through =
            mat3_tmul_vec(quat_matrix(s.attitude), vec3_sub(s.velocity, wd.environment.wind.constant));
        const vec3 flow = vec3_add(through, vec3_cross(s.rate, def.sensor_suite.airspeed.position));
        const double u =
            vec3_dot(flow, def.sensor_suite.airspeed.axis) / vec3_length(def.sensor_suite.airspeed.axis);
        const double density = air_at(&world->model.env.air, 0.0).density;
        const double q = u > 0.0 ? 0.5 * density * u * u * (1.0 - def.sensor_suite.airspeed.blockage) : 0.0;
        backwards += u < 0.0;
        assert_true(density > 1.0);
        assert_near(s.samples.airspeed.pressure, q, 1e-9);
        assert_near(s.samples.airspeed.speed, sqrt(2.0 * q / 1.225), 1e-7);
        vy_world_destroy(world);
    }
    assert_true(backwards > 5 && backwards < 35);
}

// The antenna's velocity is the derivative of its position.
static void an_antenna_moves_with_the_body(void **unused)
{
    (void)unused;
    random_source r = {16};
    for (int n = 0; n < 20; ++n) {
        vy_drone_def def = spinning_ball(&r);
        def.sensor_suite.gps =
            (vy_gps_def){.period = 0.001, .wander_time = 1.0, .position = random_vec(&r, 0.3)};
        vy_world *world = fly(&def);
        vy_vec3 place[3], speed = {0.0, 0.0, 0.0};
        for (int i = 0; i < 52; ++i) {
            (void)vy_world_step(world);
            const vy_gps_sample g = state_of(world, 0).samples.gps;
            if (i >= 49) place[i - 49] = g.position;
            if (i == 50) speed = g.velocity;
        }
        const vec3 slope = vec3_scale(1.0 / 0.002, vec3_sub(place[2], place[0]));
        assert_vec_near(speed, slope, 1e-4); // of the difference: omega^3 r dt^2 / 6
        const vy_drone_state s = state_of(world, 0);
        assert_near(vec3_length(vec3_sub(s.samples.gps.position, s.position)),
                    vec3_length(def.sensor_suite.gps.position), 1e-12);
        vy_world_destroy(world);
    }
}

static void a_range_finder_sees_the_ground_at_a_slant(void **unused)
{
    (void)unused;
    random_source r = {17};
    int seen = 0, blind = 0;
    for (int n = 0; n < 60; ++n) {
        vy_drone_def def = spinning_ball(&r);
        def.sensor_suite.range = (vy_range_def){.period = 0.001,
                                                .min = 0.1,
                                                .max = 100.0,
                                                .position = random_vec(&r, 0.3),
                                                .direction = random_vec(&r, 2.0)};
        vy_world *world = fly(&def);
        (void)vy_world_advance(world, 10);
        const vy_drone_state s = state_of(world, 0);
        const double distance = s.samples.range.distance;
        const vec3 from = vec3_add(s.position, quat_rotate(s.attitude, def.sensor_suite.range.position));
        const vec3 along =
            quat_rotate(s.attitude, vec3_scale(1.0 / vec3_length(def.sensor_suite.range.direction),
                                               def.sensor_suite.range.direction));
        if (distance > 0.0) { // where the ray ends is ground
            assert_near(vec3_add_scaled(from, distance, along).z, 0.0, 1e-10);
            seen += 1;
        } else { // it looks up, or farther than it can see
            assert_true(along.z >= 0.0 || vec3_add_scaled(from, 100.0, along).z > 0.0);
            blind += 1;
        }
        vy_world_destroy(world);
    }
    assert_true(seen > 10 && blind > 10);
}

// A point of the ground in the middle of the image, followed from one step to the next.
static void flow_is_how_the_ground_moves_in_the_image(void **unused)
{
    (void)unused;
    random_source r = {18};
    for (int n = 0; n < 20; ++n) {
        vy_drone_def def = spinning_ball(&r);
        def.attitude = quat_normalize(
            (vy_quat){1.0, random_in(&r, -0.2, 0.2), random_in(&r, -0.2, 0.2), random_in(&r, -1.0, 1.0)});
        def.rate = random_vec(&r, 1.0);
        def.sensor_suite.flow =
            (vy_flow_def){.period = 0.001, .min = 0.1, .max = 1000.0, .position = random_vec(&r, 0.2)};
        vy_world *world = fly(&def);
        vec3 point[3], eye[3];
        vy_quat attitude[3];
        vy_flow_sample flow = {0};
        for (int i = 0; i < 3; ++i) {
            (void)vy_world_step(world);
            const vy_drone_state s = state_of(world, 0);
            attitude[i] = s.attitude;
            eye[i] = vec3_add(s.position, quat_rotate(s.attitude, def.sensor_suite.flow.position));
            const vec3 down = quat_rotate(s.attitude, vec3_make(0.0, 0.0, -1.0));
            point[i] = vec3_add_scaled(eye[i], -eye[i].z / down.z, down);
            if (i == 1) flow = s.samples.flow;
        }
        double image[2][2]; // of the point that is in the middle at i = 1
        for (int k = 0; k < 2; ++k) {
            const vec3 seen = quat_unrotate(attitude[2 * k], vec3_sub(point[1], eye[2 * k]));
            image[k][0] = seen.x / -seen.z;
            image[k][1] = seen.y / -seen.z;
        }
        assert_near(flow.x, (image[1][0] - image[0][0]) / 0.002, 2e-5);
        assert_near(flow.y, (image[1][1] - image[0][1]) / 0.002, 2e-5);
        assert_near(flow.quality, 1.0, 0.0);
        vy_world_destroy(world);
    }
}

// Its range has both its ends.
static void flow_is_there_from_its_least_to_its_largest_distance(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.environment.gravity.uniform = (vy_vec3){0, 0, 0};
    static const double limits[4][2] = {{2.0, 9.0}, {0.1, 2.0}, {2.0 + 1e-9, 9.0}, {0.1, 2.0 - 1e-9}};
    for (int n = 0; n < 4; ++n) {
        vy_drone_def def = passive_body();
        def.position = (vy_vec3){0.0, 0.0, 2.0};
        def.sensor_suite.flow = (vy_flow_def){.period = 0.001, .min = limits[n][0], .max = limits[n][1]};
        vy_world *world = fly_in(&wd, &def);
        (void)vy_world_step(world);
        assert_near(state_of(world, 0).position.z, 2.0, 0.0);
        assert_near(state_of(world, 0).samples.flow.quality, n < 2 ? 1.0 : 0.0, 0.0);
        vy_world_destroy(world);
    }
}

static void a_fan_of_rays_covers_the_ground(void **unused)
{
    (void)unused;
    vy_drone_def def = passive_body();
    def.position = (vy_vec3){0.0, 0.0, 2.0};
    def.sensor_suite.lidar = (vy_lidar_def){.period = 0.001,
                                            .columns = 5,
                                            .rows = 3,
                                            .width = 0.8,
                                            .height = 0.4,
                                            .min = 0.01,
                                            .max = 50.0,
                                            .attitude = {sqrt(0.5), 0.0, sqrt(0.5), 0.0}}; // nose down
    vy_world *world = fly(&def);
    (void)vy_world_step(world);
    const vy_drone_state s = state_of(world, 0);
    for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 5; ++column) {
            const double across = 0.4 - 0.2 * column, up = 0.2 - 0.2 * row;
            assert_near(s.samples.lidar.distance[5 * row + column], s.position.z / (cos(across) * cos(up)),
                        1e-12);
        }
    }
    for (int i = 15; i < VY_RAY_CAP; ++i) assert_near(s.samples.lidar.distance[i], 0.0, 0.0);
    vy_world_destroy(world);
}

// A wall ahead, the ground below and another drone to the left: the nearest counts, and the own shape does
// not.
static void rays_see_the_shapes_of_the_world(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.contacts.on = 1;
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
    vy_drone_def def = passive_body();
    def.position.z = 5.0;
    def.sensor_suite.lidar = (vy_lidar_def){.period = 0.001,
                                            .columns = 4,
                                            .rows = 1,
                                            .width = 2.0 * PI,
                                            .min = 0.01,
                                            .max = 50.0,
                                            .attitude = {1.0, 0.0, 0.0, 0.0}};
    def.sensor_suite.range =
        (vy_range_def){.period = 0.001, .min = 0.1, .max = 50.0, .direction = {0.0, 0.0, -1.0}};
    def.solid.kind = VY_COLLIDER_SPHERE;
    def.solid.radius = 0.3;
    assert_int_equal(vy_world_add_drone(world, &def, NULL, NULL), VY_OK);
    vy_drone_def other = passive_body();
    other.position = (vy_vec3){0.0, 4.0, 5.0};
    other.solid = def.solid;
    assert_int_equal(vy_world_add_drone(world, &other, NULL, NULL), VY_OK);
    vy_obstacle_def wall = vy_default_obstacle_def();
    wall.solid.kind = VY_COLLIDER_BOX;
    wall.solid.size = (vy_vec3){1.0, 10.0, 20.0};
    wall.position = (vy_vec3){7.0, 0.0, 0.0};
    assert_int_equal(vy_world_add_obstacle(world, &wall, NULL), VY_OK);
    vy_obstacle_def floor = vy_default_obstacle_def(); // a plane: there is no ground at z = 0 beside
    floor.position.z = -2.0;
    assert_int_equal(vy_world_add_obstacle(world, &floor, NULL), VY_OK);
    (void)vy_world_step(world);
    const vy_drone_state s = state_of(world, 0);
    const double *seen = s.samples.lidar.distance; // back, left, forward, right
    assert_near(seen[0], 0.0, 0.0);
    assert_near(seen[1], 4.0 - 0.3, 1e-9);
    assert_near(seen[2], 6.5, 1e-9);
    assert_near(seen[3], 0.0, 0.0);
    assert_near(s.samples.range.distance, s.position.z + 2.0, 1e-9);
    vy_world_destroy(world);
}

static void escs_and_monitors_tell_what_turns_and_flows(void **unused)
{
    (void)unused;
    vy_drone_def def = vy_default_drone_def();
    def.vehicle.battery = (vy_battery_def){.capacity = 900.0,
                                           .charge = 0.9,
                                           .resistance = 0.1,
                                           .nominal = 3.7,
                                           .voltage = {3.2, 3.6, 3.7, 3.9, 4.2},
                                           .efficiency = 0.5,
                                           .power = 1.0};
    def.sensor_suite.esc = (vy_esc_def){.period = 0.001, .step = 0.5};
    def.sensor_suite.power = (vy_power_def){.period = 0.001};
    vy_world *world = fly(&def);
    (void)vy_world_advance(world, 300);
    const vy_drone_state s = state_of(world, 0);
    for (int i = 0; i < 4; ++i) {
        assert_near(s.samples.esc.speed[i], s.rotor_speed[i], 0.25);
        assert_near(fmod(s.samples.esc.speed[i], 0.5), 0.0, 0.0);
    }
    assert_near(s.samples.esc.speed[4], 0.0, 0.0);
    assert_near(s.samples.power.voltage, s.battery_voltage, 0.0);
    assert_near(s.samples.power.current, world->powertrain[0].battery.current, 0.0);
    vy_world_destroy(world);
    def.vehicle.battery.capacity = 0.0;
    vy_error err;
    const vy_world_def wd = vy_default_world_def();
    assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
    assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "no battery"));
    vy_world_destroy(world);
}

// --- noise and travel

// White noise and wander of the samples, over many of them.
static void noise_has_the_declared_size(void **unused)
{
    (void)unused;
    vy_drone_def def = passive_body();
    def.vehicle.mass = 1.0;
    def.position.z = 3.0;
    def.sensor_suite.baro = (vy_baro_def){.period = 0.001, .noise = 2.0, .wander = 5.0, .wander_time = 0.05};
    def.sensor_suite.gps = (vy_gps_def){.period = 0.001,
                                        .position_noise = 0.3,
                                        .height_noise = 0.6,
                                        .velocity_noise = 0.05,
                                        .position_wander = 1.0,
                                        .height_wander = 2.0,
                                        .wander_time = 0.05};
    def.sensor_suite.range =
        (vy_range_def){.period = 0.001, .noise = 0.02, .min = 0.1, .max = 50.0, .direction = {0, 0, -1}};
    vy_world *world = fly(&def);
    vy_disturbance_def hold = vy_default_disturbance_def();
    hold.force.z = 9.80665;
    assert_int_equal(vy_world_add_disturbance(world, &hold, NULL), VY_OK);
    enum { STEPS = 40000 };
    double baro = 0.0, x = 0.0, z = 0.0, v = 0.0, range = 0.0;
    const double still = baro_pressure(&world->model.env.air, 3.0);
    for (int i = 0; i < STEPS; ++i) {
        (void)vy_world_step(world);
        const sensor_suite_blocks k = vy_sensor_suite_blocks(world, &world->model.sensor_suites[0]);
        baro += (k.baro->pressure - still) * (k.baro->pressure - still);
        x += k.gps->position.x * k.gps->position.x;
        z += (k.gps->position.z - 3.0) * (k.gps->position.z - 3.0);
        v += k.gps->velocity.y * k.gps->velocity.y;
        range += (k.range->distance - 3.0) * (k.range->distance - 3.0);
    }
    assert_near(sqrt(baro / STEPS), sqrt(29.0), 0.35); // 400 independent stretches of wander
    assert_near(sqrt(x / STEPS), sqrt(1.09), 0.08);
    assert_near(sqrt(z / STEPS), sqrt(4.36), 0.16);
    assert_near(sqrt(v / STEPS), 0.05, 0.001);
    assert_near(sqrt(range / STEPS), 0.02, 0.0004);
    vy_world_destroy(world);
}

static vy_drone_def loaded_drone(void)
{
    vy_drone_def def = vy_default_drone_def();
    def.imu.accel_instability = 1e-3;
    def.imu.instability_time = 1.0;
    def.sensor_suite.baro.period = 0.02;
    def.sensor_suite.mag.period = 0.01;
    def.sensor_suite.gps.period = 0.1;
    def.sensor_suite.gps.position_wander = 0.5;
    def.sensor_suite.range.period = 0.02;
    def.sensor_suite.flow.period = 0.01;
    def.sensor_suite.esc.period = 0.004;
    def.sensor_suite.lidar.period = 0.05;
    return def;
}

// What arrives late is what arrived at once without the delay, and nothing else changes.
static void delay_moves_samples_in_time_alone(void **unused)
{
    (void)unused;
    const vy_world_def wd = magnetic_world();
    vy_drone_def def = loaded_drone();
    def.truth = 1; // the flight does not depend on the samples
    vy_world *prompt = fly_in(&wd, &def);
    def.sensor_suite.mag.link.delay = 0.03;
    def.sensor_suite.gps.link.delay = 0.2;
    def.imu.link.delay = 0.005;
    def.mocap.link.delay = 0.01;
    vy_world *late = fly_in(&wd, &def);
    enum { STEPS = 700 };
    static vy_samples history[STEPS + 1];
    for (int i = 1; i <= STEPS; ++i) {
        (void)vy_world_step(prompt);
        (void)vy_world_step(late);
        history[i] = state_of(prompt, 0).samples;
        const vy_samples s = state_of(late, 0).samples;
        if (i > 5) assert_memory_equal(&s.imu.accel, &history[i - 5].imu.accel, sizeof s.imu.accel);
        if (i > 40) assert_memory_equal(&s.mag.field, &history[i - 30].mag.field, sizeof s.mag.field);
        if (i > 310)
            assert_memory_equal(&s.gps.position, &history[i - 200].gps.position, sizeof s.gps.position);
        if (i > 20)
            assert_memory_equal(&s.mocap.position, &history[i - 10].mocap.position, sizeof s.mocap.position);
        assert_int_equal(s.gps.tick, i < 300 ? 0 : i / 100 * 100);
        assert_memory_equal(&s.baro, &history[i].baro, sizeof s.baro);
    }
    vy_world_destroy(prompt);
    vy_world_destroy(late);
}

static void dropout_loses_the_declared_share(void **unused)
{
    (void)unused;
    vy_drone_def def = loaded_drone();
    def.sensor_suite.baro.period = 0.001;
    def.sensor_suite.baro.link.dropout = 0.3;
    def.sensor_suite.mag.period = 0.001;
    def.sensor_suite.mag.link = (vy_link_def){.dropout = 0.3, .delay = 0.004};
    vy_world *world = fly(&def);
    int baro = 0, mag = 0;
    for (int i = 1; i <= 5000; ++i) {
        (void)vy_world_step(world);
        baro += vy_sensor_suite_blocks(world, &world->model.sensor_suites[0]).baro->tick == (uint64_t)i;
        mag += vy_sensor_suite_blocks(world, &world->model.sensor_suites[0]).mag->tick == (uint64_t)i;
    }
    assert_near(baro / 5000.0, 0.7, 0.025);
    assert_near(mag / 5000.0, 0.7, 0.025);
    assert_int_not_equal(baro, mag); // each sensor loses its own
    vy_world_destroy(world);
}

// Each sensor has a stream of its own: adding all others moves none of its readings.
static void no_sensor_moves_another(void **unused)
{
    (void)unused;
    vy_drone_def full = loaded_drone(), lean = vy_default_drone_def();
    full.truth = lean.truth = 1;
    full.imu = lean.imu;
    lean.sensor_suite.baro.period = full.sensor_suite.baro.period;
    lean.sensor_suite.flow.period = full.sensor_suite.flow.period;
    vy_world *a = fly(&full), *b = fly(&lean);
    for (int i = 0; i < 300; ++i) {
        (void)vy_world_step(a);
        (void)vy_world_step(b);
        const vy_samples x = state_of(a, 0).samples, y = state_of(b, 0).samples;
        assert_memory_equal(&x.baro, &y.baro, sizeof x.baro);
        assert_memory_equal(&x.flow, &y.flow, sizeof x.flow);
        assert_memory_equal(&x.imu, &y.imu, sizeof x.imu);
        assert_memory_equal(&x.mocap, &y.mocap, sizeof x.mocap);
    }
    vy_world_destroy(a);
    vy_world_destroy(b);
}

static void snapshots_hold_the_sensor_suite(void **unused)
{
    (void)unused;
    vy_drone_def def = loaded_drone();
    def.sensor_suite.gps.link.delay = 0.2;
    vy_world *world = fly(&def), *other = fly(&def);
    (void)vy_world_advance(world, 333);
    void *block = malloc(vy_world_state_size(world));
    assert_non_null(block);
    vy_world_save(world, block);
    assert_int_equal(vy_world_restore(other, block, vy_world_state_size(world), NULL), VY_OK);
    (void)vy_world_advance(world, 500);
    (void)vy_world_advance(other, 500);
    assert_int_equal(vy_world_hash(world), vy_world_hash(other));
    vy_world_destroy(other);
    def.sensor_suite.flow.period = 0.0;
    other = fly(&def);
    vy_error err;
    assert_int_equal(vy_world_restore(other, block, vy_world_state_size(other), &err), VY_BAD_VALUE);
    assert_string_equal(err.text, "snapshot: not of a world with the same drones, sensors and noise");
    free(block);
    vy_world_destroy(other);
    vy_world_destroy(world);
}

// --- declarations

static void refuse(const vy_drone_def *def, const char *text)
{
    const vy_world_def wd = vy_default_world_def();
    vy_world *world = NULL;
    vy_error err = {0};
    assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
    assert_int_not_equal(vy_world_add_drone(world, def, NULL, &err), VY_OK);
    if (strstr(err.text, text) == NULL) fail_msg("\"%s\" is not in \"%s\"", text, err.text);
    vy_world_destroy(world);
}

static void bad_sensor_suites_are_refused_by_name(void **unused)
{
    (void)unused;
    vy_drone_def def = loaded_drone();
    def.sensor_suite.baro.noise = -1.0;
    refuse(&def, "drone.baro.noise must be between 0 and");
    def = loaded_drone();
    def.sensor_suite.gps.period = 0.0007;
    refuse(&def, "drone.gps.period must be a whole multiple");
    def = loaded_drone();
    def.sensor_suite.mag.link.dropout = 1.5;
    refuse(&def, "drone.mag.dropout must be between 0 and 1");
    def = loaded_drone();
    def.sensor_suite.range.max = 0.0;
    refuse(&def, "drone.range.max must be between");
    def = loaded_drone();
    def.sensor_suite.range.direction = (vy_vec3){0, 0, 0};
    refuse(&def, "drone.range.direction");
    def = loaded_drone();
    def.sensor_suite.lidar.columns = 65;
    refuse(&def, "drone.lidar.columns must be between 1 and 64");
    def = loaded_drone();
    def.imu.instability_time = 0.0;
    refuse(&def, "drone.imu.instability_time");
    def = loaded_drone();
    def.imu.accel_step = 1e-20;
    refuse(&def, "drone.imu.accel_step must be 0 or between");
    def = loaded_drone();
    def.imu.link.delay = 1e6;
    refuse(&def, "drone.imu.delay must be at most 4096 of its periods");
    def = loaded_drone();
    def.sensor_suite.esc.noise = NOT_A_NUMBER;
    refuse(&def, "drone.esc.noise");
}

static void parts_as_sold_are_sound(void **unused)
{
    (void)unused;
    static const char *const imus[] = {"bmi088", "icm20602", "mpu9250"};
    vy_error err;
    for (int i = 0; i < 3; ++i) {
        vy_drone_def def = vy_default_drone_def();
        assert_int_equal(vy_imu_preset(imus[i], &def.imu, NULL), VY_OK);
        assert_int_equal(vy_baro_preset(i == 0 ? "ms5611" : "bmp388", &def.sensor_suite.baro, NULL), VY_OK);
        assert_int_equal(vy_mag_preset(i == 0 ? "bmm150" : "hmc5883l", &def.sensor_suite.mag, NULL), VY_OK);
        assert_int_equal(vy_gps_preset(i == 0 ? "neo-m9n" : "neo-m8n", &def.sensor_suite.gps, NULL), VY_OK);
        assert_int_equal(vy_range_preset(i == 0 ? "tf-luna" : "vl53l1x", &def.sensor_suite.range, NULL),
                         VY_OK);
        assert_int_equal(vy_flow_preset("pmw3901", &def.sensor_suite.flow, NULL), VY_OK);
        assert_int_equal(vy_esc_preset("kiss", &def.sensor_suite.esc, NULL), VY_OK);
        assert_int_equal(vy_lidar_preset(i == 0 ? "multiranger" : "vl53l5cx", &def.sensor_suite.lidar, NULL),
                         VY_OK);
        assert_int_equal(vy_airspeed_preset(i == 0 ? "ms4525do" : "sdp33", &def.sensor_suite.airspeed, NULL),
                         VY_OK);
        vy_power_def power;
        assert_int_equal(vy_power_preset("ina226", &power, NULL), VY_OK);
        vy_world *world = fly(&def);
        assert_int_equal(vy_world_advance(world, 2000) & VY_EVENT_FAILED, 0);
        assert_near(state_of(world, 0).position.z, 1.0, 0.1); // the built-in controller flies on any of them
        vy_world_destroy(world);
    }
    vy_imu_def imu = {.period = 4.0};
    assert_int_equal(vy_imu_preset("bmi-088", &imu, &err), VY_NOT_FOUND);
    assert_string_equal(err.text, "no IMU is called bmi-088: there are bmi088, icm20602, mpu9250");
    assert_near(imu.period, 4.0, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_imu_off_the_centre_feels_the_spin),
        cmocka_unit_test(an_imu_off_the_centre_feels_the_spin_up),
        cmocka_unit_test(a_full_imu_without_figures_is_a_plain_one),
        cmocka_unit_test(allan_variance_recovers_the_figures),
        cmocka_unit_test(allan_variance_of_all_noise_adds_up),
        cmocka_unit_test(figures_of_the_reading),
        cmocka_unit_test(bandwidth_is_a_first_order_lag),
        cmocka_unit_test(a_barometer_reads_the_standard_atmosphere),
        cmocka_unit_test(a_magnetometer_reads_the_field_in_body_axes),
        cmocka_unit_test(a_pitot_tube_reads_the_flow_along_its_axis),
        cmocka_unit_test(an_antenna_moves_with_the_body),
        cmocka_unit_test(a_range_finder_sees_the_ground_at_a_slant),
        cmocka_unit_test(flow_is_how_the_ground_moves_in_the_image),
        cmocka_unit_test(flow_is_there_from_its_least_to_its_largest_distance),
        cmocka_unit_test(a_fan_of_rays_covers_the_ground),
        cmocka_unit_test(rays_see_the_shapes_of_the_world),
        cmocka_unit_test(escs_and_monitors_tell_what_turns_and_flows),
        cmocka_unit_test(noise_has_the_declared_size),
        cmocka_unit_test(delay_moves_samples_in_time_alone),
        cmocka_unit_test(dropout_loses_the_declared_share),
        cmocka_unit_test(no_sensor_moves_another),
        cmocka_unit_test(snapshots_hold_the_sensor_suite),
        cmocka_unit_test(bad_sensor_suites_are_refused_by_name),
        cmocka_unit_test(parts_as_sold_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
