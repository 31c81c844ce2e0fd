// test_lanes.c - drones side by side in vector registers give the scalar's bits: plant, sensors, estimator,
// ladder.
#include "check.h"
#define LANES_FLY lanes_fly_1
#include "lanes_multirotor.inl"

enum { STEPS = 6, BATCHES = 200, WIDEST = 8 };

static void set_diagonal(random_source *r, mat3 *inertia, mat3 *inverse)
{
    const mat3 turned = quat_matrix(random_attitude(r));
    const double size = pow(10.0, random_in(r, -5.0, -1.0));
    const mat3 moments = mat3_diag(size * random_in(r, 0.7, 1.3), size * random_in(r, 0.7, 1.3), size);
    *inertia = mat3_mul(mat3_mul(turned, moments), mat3_transpose(turned));
    *inverse = mat3_inverse(*inertia);
}

// Zero in some lanes, so that a block has lanes with and without an effect.
static double sometimes(random_source *r, double most)
{
    return random_bits(r) % 3 ? random_in(r, -most, most) : 0.0;
}

static vec3 sometimes_vec(random_source *r, double most)
{
    return random_bits(r) % 3 ? vec3_make(sometimes(r, most), sometimes(r, most), sometimes(r, most))
                              : vec3_zero();
}

static void random_parameters(random_source *r, struct flight *f)
{
    const double mass = pow(10.0, random_in(r, -2.0, 1.0)), thrust_coef = pow(10.0, random_in(r, -9.0, -6.0));
    f->plant.body.inverse_mass = 1.0 / mass;
    set_diagonal(r, &f->plant.body.inertia, &f->plant.body.inverse_inertia);
    f->speed_max = random_in(r, 500.0, 3000.0);
    const double half = random_bits(r) % 4 ? exp(-random_in(r, 0.0, 2.0)) : 0.0;
    f->plant.rotor = (rotor_params){thrust_coef, 0.02 * thrust_coef, half, half * half};
    f->plant.drag.linear = sometimes_vec(r, 0.5);
    f->plant.drag.quadratic = fabs(sometimes(r, 0.1));
    f->held = (body_loads){sometimes_vec(r, 1), sometimes_vec(r, 1), sometimes_vec(r, 0.01),
                           sometimes_vec(r, 0.01)};
    f->gravity = random_bits(r) % 4 ? vec3_make(0.0, 0.0, -9.80665) : sometimes_vec(r, 10.0);
    f->dt = pow(10.0, random_in(r, -4.0, -2.0));
    f->imu_params =
        (imu_params){1.0 / f->dt, random_in(r, 0, 1), random_in(r, 0, 0.1), sometimes(r, 0.01), 0.001};
    f->mocap_params = (mocap_params){fabs(sometimes(r, 0.01)), fabs(sometimes(r, 0.1))};
    f->estimator_params.period = f->dt;
    f->estimator_params.gravity = f->gravity;
    estimator_set_gains(f->dt, random_in(r, 0.1, 0.9), random_in(r, 0.1, 0.9), &f->estimator_params);
    static const double most[7] = {20, 10, 5, 0.02, 2, 5, 60};
    for (int k = 0; k < 7; ++k) f->gains[k] = random_in(r, 0.0, most[k]);
    f->attitude_gain = vec3_make(random_in(r, 0, 20), random_in(r, 0, 20), random_in(r, 0, 20));
    f->thrust_max = thrust_coef * f->speed_max * f->speed_max;
    f->inverse_thrust_max = 1.0 / f->thrust_max;
}

static void random_state(random_source *r, struct flight *f)
{
    f->body = (body_state){random_vec(r, 10), sometimes_vec(r, 20), random_attitude(r), sometimes_vec(r, 30)};
    for (int k = 0; k < LANES_ROTORS; ++k) {
        f->speed[k] = random_in(r, 0.0, f->speed_max);
        f->motors[k] = random_in(r, 0.0, 1.0);
    }
    f->imu.velocity = vec3_add(f->body.velocity, sometimes_vec(r, 0.1));
    f->imu.attitude = f->body.attitude;
    f->imu.accel_bias = sometimes_vec(r, 0.1);
    f->estimate.position = vec3_add(f->body.position, sometimes_vec(r, 0.1));
    f->estimate.velocity = f->body.velocity;
    f->estimate.attitude = random_bits(r) % 4 ? f->body.attitude : random_attitude(r);
    f->reference.position = random_vec(r, 10);
    f->reference.velocity = sometimes_vec(r, 1);
    f->reference.heading = turn(random_in(r, -4, 4), 0, 0, 1);
}

static void random_vehicle(random_source *r, int count, lanes_vehicle *v)
{
    memset(v, 0, sizeof *v);
    v->count = count;
    for (int i = 0; i < count; ++i) {
        v->roll[i] = random_in(r, -0.2, 0.2);
        v->pitch[i] = random_in(r, -0.2, 0.2);
        v->yaw[i] = i % 2 ? 1.0 : -1.0;
        for (int j = 0; j < 4; ++j) v->inverse[i][j] = random_in(r, -5.0, 5.0);
        v->inverse[i][0] = 0.25;
    }
}

// Fly random drones by scalar and by lanes; every number of every drone must have the same bits.
static void compare(int lanes, lanes_fn *fly)
{
    random_source r = {77};
    static double scalar[WIDEST][LANES_VALUES], wide[WIDEST][LANES_VALUES];
    int moved = 0;
    for (int batch = 0; batch < BATCHES * (LANES_ROTORS + 1); ++batch) {
        lanes_vehicle v;
        random_vehicle(&r, batch % (LANES_ROTORS + 1), &v);
        lanes_key keys[WIDEST];
        for (int i = 0; i < lanes; ++i) {
            struct flight f;
            memset(&f, 0, sizeof f);
            random_parameters(&r, &f);
            random_state(&r, &f);
            memcpy(wide[i], &f, sizeof f);
            memcpy(scalar[i], &f, sizeof f);
            keys[i] = (lanes_key){random_bits(&r), random_bits(&r) >> 32,
                                  random_bits(&r) >> (random_bits(&r) % 64)};
            lanes_fly_1(&v, &keys[i], STEPS, scalar[i]);
            moved += memcmp(wide[i], scalar[i], sizeof f) != 0;
        }
        fly(&v, keys, STEPS, wide[0]);
        for (int i = 0; i < lanes; ++i) {
            for (int k = 0; k < LANES_VALUES; ++k) {
                if (memcmp(&scalar[i][k], &wide[i][k], sizeof(double)) == 0) continue;
                fail_msg("batch %d, %d rotors, lane %d of %d, value %d: %.17g, but scalar %.17g", batch,
                         v.count, i, lanes, k, wide[i][k], scalar[i][k]);
            }
        }
    }
    assert_int_equal(moved, lanes * BATCHES * (LANES_ROTORS + 1)); // nobody stood still
}

// Two, four and eight lanes without any instruction set beyond the plainest.
static void lanes_2_give_the_scalars_bits(void **unused)
{
    (void)unused;
    compare(2, lanes_fly_2);
}

static void lanes_4_give_the_scalars_bits(void **unused)
{
    (void)unused;
    compare(4, lanes_fly_4);
}

static void lanes_8_give_the_scalars_bits(void **unused)
{
    (void)unused;
    compare(8, lanes_fly_8);
}

#if defined(__x86_64__)
#define CPU_HAS(set) __builtin_cpu_supports(set)
#else
#define CPU_HAS(set) 0
#endif

// The same where the CPU has the instructions; elsewhere the test says that it did not run.
static void avx2_gives_the_scalars_bits(void **unused)
{
    (void)unused;
    if (!CPU_HAS("avx2")) {
        print_message("this CPU has no AVX2: not compared\n");
        skip();
    }
    compare(4, lanes_fly_4_avx2);
}

static void avx512_gives_the_scalars_bits(void **unused)
{
    (void)unused;
    if (!(CPU_HAS("avx512f") && CPU_HAS("avx512dq") && CPU_HAS("avx512vl"))) {
        print_message("this CPU has no AVX-512: not compared\n");
        skip();
    }
    compare(8, lanes_fly_8_avx512);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_2_give_the_scalars_bits), cmocka_unit_test(lanes_4_give_the_scalars_bits),
        cmocka_unit_test(lanes_8_give_the_scalars_bits), cmocka_unit_test(avx2_gives_the_scalars_bits),
        cmocka_unit_test(avx512_gives_the_scalars_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
