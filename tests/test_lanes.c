// test_lanes.c - drones side by side in vector registers give the scalar's bits: negligibility policy, plant
// with every effect, sensors, estimator, ladder.
#include "check.h"
#define LANES_FLY lanes_fly_1
#include "lanes_multirotor.inl"

enum { STEPS = 6, BATCHES = 100, WIDEST = 8 };

// Returns the size of the moments: 0.7 to 1.3 times it.
static double set_diagonal(random_source *r, double mass, mat3 *inertia, mat3 *inverse)
{
    const mat3 turned = quat_matrix(random_attitude(r));
    const double size = mass * pow(10.0, random_in(r, -3.0, -1.0));
    const double first = random_in(r, 0.7, 1.3), second = random_in(r, 0.7, 1.3);
    const mat3 moments = mat3_diag(size * second, size * first, size);
    *inertia = mat3_mul(mat3_mul(turned, moments), mat3_transpose(turned));
    *inverse = mat3_inverse(*inertia);
    return size;
}

// Zero in some lanes, so that a block has lanes with and without an effect.
static double sometimes(random_source *r, double max)
{
    return random_bits(r) % 3 ? random_in(r, -max, max) : 0.0;
}

static vec3 sometimes_vec(random_source *r, double max)
{
    if (random_bits(r) % 3 == 0) return vec3_zero();
    const double z = sometimes(r, max), y = sometimes(r, max), x = sometimes(r, max);
    return vec3_make(x, y, z);
}

static vec3 sometimes_positive(random_source *r, double max)
{
    const vec3 v = sometimes_vec(r, max);
    return vec3_make(fabs(v.x), fabs(v.y), fabs(v.z));
}

// No stiffer than a step of 10 ms can follow.
static void random_effects(random_source *r, double mass, double size, effect_params *p)
{
    p->mass = mass;
    p->linear_drag = sometimes_positive(r, 10.0 * mass);
    p->drag_area = fabs(sometimes(r, 0.05 * mass));
    p->lift_area = sometimes(r, 0.05 * mass);
    p->volume = fabs(sometimes(r, mass));
    p->pressure_centre = sometimes_vec(r, 0.1 * size / mass);
    p->rate_damping_area = sometimes_positive(r, 0.1 * size);
    p->spin_damping = sometimes_positive(r, size);
    p->density_ratio = random_bits(r) % 2 ? 1.0 : 0.0;
    p->dipole = sometimes_vec(r, 100.0 * size);
    p->light_area = fabs(sometimes(r, 2.0));
}

static lag_weights random_weights(random_source *r)
{
    lag_weights w;
    w.middle = random_in(r, 0.0, 0.3);
    w.last = random_in(r, 0.0, 0.3);
    w.last_linear = random_in(r, 0.0, 0.5);
    return w;
}

// A battery in most lanes, nearly empty in some.
static void random_battery(random_source *r, double power, struct flight *f)
{
    battery_params *b = &f->battery;
    b->capacity = random_bits(r) % 4 ? 900.0 : 0.0;
    b->nominal = 3.7;
    b->resistance = fabs(sometimes(r, 2.0 / power));
    for (int k = 0; k < BATTERY_POINTS; ++k) b->open_circuit[k] = 3.0 + 0.3 * k;
    b->efficiency = random_in(r, 0.3, 1.0);
    b->power = random_in(r, 0.0, 1.0);
    f->charge = random_bits(r) % 4 ? random_in(r, 0.0, 900.0) : random_in(r, 0.0, 0.1);
}

// Rotors in the air: each part in some lanes and not in others.
static void random_rotors(random_source *r, double mass, double speed, rotor_air_params *p)
{
    p->radius = random_in(r, 0.01, 0.2);
    p->drag_across = fabs(sometimes(r, 0.1 * mass / speed));
    p->drag_along = fabs(sometimes(r, 0.1 * mass / speed));
    p->flap = fabs(sometimes(r, 1e-4 * mass / speed));
    p->lift = fabs(sometimes(r, 1e-3 * mass));
    p->inflow = fabs(sometimes(r, 0.1 * mass / speed));
    p->vortex_ring_loss = fabs(sometimes(r, 0.5));
    p->momentum_factor = random_in(r, 0.1, 2.0) * mass;
    p->inflow_half = random_bits(r) % 4 ? random_in(r, 0.0, 1.0) : 0.0;
    p->inflow_decay = p->inflow_half * p->inflow_half;
    p->inflow_weights = random_weights(r);
    p->ground = random_bits(r) % 2 ? 1.0 : 0.0;
    p->inertia = fabs(sometimes(r, 1e-6 * mass));
    p->battery = 1.0;
    blade_params *b = &p->blade;
    b->on = random_bits(r) % 3 ? 0.0 : 1.0;
    b->radius = p->radius;
    b->half_rho_chord = random_in(r, 1e-7, 1e-6) * mass / (p->radius * p->radius);
    b->slope = 5.5;
    b->lift_max = 1.2;
    b->drag_0 = 0.05;
    b->drag_2 = 1.0;
    for (int k = 0; k < BLADE_RADII; ++k) {
        b->pitch_sin[k] = sin(0.3 - 0.05 * k);
        b->pitch_cos[k] = cos(0.3 - 0.05 * k);
    }
}

static void random_parameters(random_source *r, struct flight *f)
{
    const double mass = pow(10.0, random_in(r, -2.0, 1.0));
    f->plant.body.inverse_mass = 1.0 / mass;
    const double size = set_diagonal(r, mass, &f->plant.body.inertia, &f->plant.body.inverse_inertia);
    f->speed_max = random_in(r, 500.0, 3000.0);
    const double thrust_coef = mass * random_in(r, 1.0, 50.0) / (f->speed_max * f->speed_max);
    const double half = random_bits(r) % 4 ? exp(-random_in(r, 0.0, 2.0)) : 0.0;
    f->plant.rotor = (rotor_params){thrust_coef, 0.001 * thrust_coef, half, half * half};
    f->plant.curve.linear = sometimes(r, 0.1 * thrust_coef * f->speed_max);
    f->plant.curve.cubic = sometimes(r, 0.1 * thrust_coef / f->speed_max);
    f->plant.curve.torque_ratio = 0.001;
    f->plant.curve.fall_half = random_bits(r) % 4 ? exp(-random_in(r, 0.0, 2.0)) : 0.0;
    f->plant.curve.fall_full = f->plant.curve.fall_half * f->plant.curve.fall_half;
    f->plant.curve.rise = f->plant.curve.fall = 20.0;
    f->plant.curve.rise_weights = random_weights(r);
    f->plant.curve.fall_weights = random_weights(r);
    random_battery(r, 4e-3 * thrust_coef * f->speed_max * f->speed_max * f->speed_max, f);
    for (int k = 0; k < 2; ++k) {
        f->later[k].force_world = sometimes_vec(r, mass);
        f->later[k].torque_body = sometimes_vec(r, size);
    }
    random_effects(r, mass, size, &f->plant.effects);
    f->plant.effects.inertia = f->plant.body.inertia;
    f->plant.effects.inertia_spread = 0.62 * size;
    random_rotors(r, mass, f->speed_max, &f->plant.effects.rotors);
    f->downwash = fabs(sometimes(r, 5.0));
    f->memory.downwash = vec3_scale(f->downwash, vec3_make(0.6, 0.0, -0.8));
    f->held.disturbance = (body_loads){sometimes_vec(r, mass), sometimes_vec(r, mass), sometimes_vec(r, size),
                                       sometimes_vec(r, size)};
    f->held.turbulence = sometimes_vec(r, 3.0);
    f->held.time = random_in(r, 0.0, 4.0);
    f->disturbance = 4.0 * mass;
    f->disturbance_torque = 4.0 * size;
    f->turbulence = 6.0;
    f->force_off = pow(10.0, random_in(r, -7.0, 1.0));
    f->torque_threshold = pow(10.0, random_in(r, -10.0, -1.0));
    f->hysteresis = random_in(r, 1.1, 4.0);
    f->inertia_min = 0.69 * size;
    f->inertia_max = 1.31 * size;
    f->horizon = random_in(r, 0.0, 5.0);
    f->gravity = random_bits(r) % 4 ? vec3_make(0.0, 0.0, -9.80665) : sometimes_vec(r, 10.0);
    f->dt = pow(10.0, random_in(r, -4.0, -2.0));
    f->imu_params =
        (imu_params){1.0 / f->dt, random_in(r, 0, 1), random_in(r, 0, 0.1), sometimes(r, 0.01), 0.001};
    f->mocap_params = (mocap_params){fabs(sometimes(r, 0.01)), fabs(sometimes(r, 0.1))};
    f->fading_params.period = f->dt;
    f->fading_params.gravity = f->gravity;
    const double velocity = random_in(r, 0.1, 0.9), position = random_in(r, 0.1, 0.9);
    fading_set_gains(f->dt, position, velocity, &f->fading_params);
    static const double max[7] = {20, 10, 5, 0.02, 2, 5, 60};
    for (int k = 0; k < 7; ++k) f->gains[k] = random_in(r, 0.0, max[k]);
    const double first = random_in(r, 0, 20), second = random_in(r, 0, 20), third = random_in(r, 0, 20);
    f->attitude_gain = vec3_make(third, second, first);
    f->thrust_max = thrust_coef * f->speed_max * f->speed_max;
    f->inverse_thrust_max = 1.0 / f->thrust_max;
    f->keep = random_in(r, 0.0, 1.0);
    f->indi_params =
        (indi_params){{{random_in(r, 0, 1), random_in(r, 0, 0.01)}, {-10.0, random_in(r, 0, 1)}}, 0.9};
    for (int k = 0; k < LANES_ROTORS; ++k) {
        f->limit[k] = random_bits(r) % 4 ? f->thrust_max : random_in(r, 0.0, 1.0) * f->thrust_max;
        if (random_bits(r) % 8 == 0) f->limit[k] = 0.0;
    }
}

static void random_state(random_source *r, struct flight *f)
{
    f->body = (body_state){random_vec(r, 10), sometimes_vec(r, 20), random_attitude(r), sometimes_vec(r, 30)};
    f->flags = real_of(random_bits(r) % 3 ? EFFECTS_ALL : random_bits(r) & EFFECTS_ALL);
    for (int k = 0; k < LANES_ROTORS; ++k) {
        f->speed[k] = random_in(r, 0.0, f->speed_max);
        f->motors[k] = random_in(r, 0.0, 1.0);
        f->memory.inflow[k] = random_in(r, 0.0, 5.0);
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
    f->stick = sometimes_vec(r, 20);
    f->stick_speed = sometimes_vec(r, 20);
    f->velocity_integral = sometimes_vec(r, 2);
    f->heading = random_in(r, -3, 3);
    f->yaw_rate = sometimes(r, 2);
}

// What is declared for the whole batch: each part is there in some batches and not in others.
static void random_world(random_source *r, lanes_vehicle *v)
{
    v->air = (atmosphere_params){(int)(random_bits(r) % 3), 101325.0, 288.15, random_in(r, 0.5, 1.5)};
    v->planet =
        (planet_params){random_bits(r) % 2 != 0, 6378137.0, 6356752.314245, 6.69437999014e-3, 7.292115e-5};
    v->body_count = (int)(random_bits(r) % 3);
    v->gradient = (int)(random_bits(r) % 2);
    for (int i = 0; i < v->body_count; ++i) { // about the planet's centre, or far below a flat world
        const double below = v->planet.on ? 0.0 : -6.378e6;
        v->bodies[i] =
            (gravity_body){3.986e14, 2.0, 3.0, below - 1e9 * i, i ? 0.0 : sometimes(r, 1e-3), 6.378e6};
    }
    wind_params *w = &v->wind;
    w->x = sometimes(r, 5.0);
    w->y = sometimes(r, 5.0);
    w->z = sometimes(r, 1.0);
    w->shear = (int)(random_bits(r) % 4);
    w->shear_x = 0.6;
    w->shear_y = -0.8;
    w->shear_speed = random_in(r, -5.0, 10.0);
    w->shear_height = 300.0;
    w->shear_exponent = random_in(r, 0.0, 1.2);
    w->shear_roughness = 0.03;
    w->gust_count = (int)(random_bits(r) % 3);
    for (int i = 0; i < w->gust_count; ++i) {
        w->gusts[i] =
            (wind_gust){sometimes(r, 5.0), 1.0, sometimes(r, 2.0), random_in(r, 0.0, 3.0), 0.5, 0.7, 0.2};
    }
    wind_prepare(w);
    for (int i = 0; i < 3; ++i) {
        v->magnetic[i] = sometimes(r, 1e-3);
        v->light[i] = sometimes(r, 1e-3);
    }
    v->strict = random_bits(r) % 8 == 0;
    v->open_loop = random_bits(r) % 2 != 0;
    v->period = 1 + (int)(random_bits(r) % 3);
}

// Near the planet's ground, or the flat world's.
static void settle(random_source *r, const lanes_vehicle *v, struct flight *f)
{
    if (!v->planet.on) return;
    const double up = 6378137.0 + random_in(r, -22000.0, 2000.0);
    const vec3 z = quat_rotate(random_attitude(r), vec3_make(0.0, 0.0, up));
    const vec3 shift = vec3_sub(z, f->body.position);
    f->body.position = z;
    f->body.velocity = vec3_add(f->body.velocity, planet_ground_velocity(&v->planet, z)); // with the air
    f->estimate.position = vec3_add(f->estimate.position, shift);
    f->reference.position = vec3_add(f->reference.position, shift);
}

static void random_vehicle(random_source *r, int count, lanes_vehicle *v)
{
    memset(v, 0, sizeof *v);
    v->count = v->layout.count = count;
    v->layout.general = random_bits(r) % 2 != 0;
    v->curved = random_bits(r) % 2 != 0;
    v->rotors = random_bits(r) % 2 != 0;
    for (int i = 0; i < count; ++i) {
        rotor_layout *l = &v->layout;
        l->roll[i] = random_in(r, -0.01, 0.01);
        l->pitch[i] = random_in(r, -0.01, 0.01);
        l->yaw[i] = l->spin[i] = i % 2 ? 1.0 : -1.0;
        for (int j = 0; j < 3; ++j) {
            l->hub[i][j] = random_in(r, -0.01, 0.01);
            l->axis[i][j] = random_in(r, -0.5, 0.5);
            l->side[i][j] = random_in(r, -0.5, 0.5);
            l->lever[i][j] = random_in(r, -0.01, 0.01);
            l->reaction[i][j] = random_in(r, -0.5, 0.5);
        }
        l->thrust_scale[i] = random_in(r, 0.8, 1.2);
        l->torque_scale[i] = random_in(r, 0.8, 1.2);
        for (int j = 0; j < 4; ++j) v->inverse[i][j] = random_in(r, -5.0, 5.0);
        v->inverse[i][0] = 0.25;
        v->rows[0][i] = 10.0;
        v->rows[1][i] = 1e4 * v->layout.roll[i];
        v->rows[2][i] = 1e4 * v->layout.pitch[i];
        v->rows[3][i] = v->layout.yaw[i];
    }
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < count; ++k) {
            v->hessian[i][k] = i == k ? 1e-6 : 0.0;
            for (int j = 0; j < 4; ++j) v->hessian[i][k] += v->rows[j][i] * v->rows[j][k];
        }
    }
}

// Fly random drones by scalar and by lanes; every number of every drone must have the same bits.
static void compare(int lanes, lanes_fn *fly)
{
    random_source r = {77};
    static double scalar[WIDEST][LANES_VALUES], wide[WIDEST][LANES_VALUES];
    int moved = 0, zeroed = 0;
    for (int batch = 0; batch < BATCHES * (LANES_ROTORS + 1); ++batch) {
        lanes_vehicle v;
        random_vehicle(&r, batch % (LANES_ROTORS + 1), &v);
        random_world(&r, &v);
        lanes_key keys[WIDEST];
        for (int i = 0; i < lanes; ++i) {
            struct flight f;
            memset(&f, 0, sizeof f);
            random_parameters(&r, &f);
            random_state(&r, &f);
            settle(&r, &v, &f);
            if (!v.rotors) f.flags = real_of(bits_of(f.flags) & EFFECTS_OF_BODIES);
            memcpy(wide[i], &f, sizeof f);
            memcpy(scalar[i], &f, sizeof f);
            const uint64_t first = random_bits(&r), second = random_bits(&r), third = random_bits(&r);
            keys[i] = (lanes_key){first, second >> 32, third >> (random_bits(&r) % 64)};
            lanes_fly_1(&v, &keys[i], STEPS, scalar[i]);
            moved += memcmp(wide[i], scalar[i], sizeof f) != 0;
            memcpy(&f, scalar[i], sizeof f);
            zeroed += (bits_of(f.flags) & EFFECTS_OF_BODIES) != EFFECTS_OF_BODIES;
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
    assert_true(zeroed > moved / 4 && zeroed < moved);             // with all effects and without some
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
