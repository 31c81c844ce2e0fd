// test_disturbance.c - forces and torques from outside: momentum, closed forms, statistics, refusals.
#include "flight.h"
#include "world/disturbance.h"
#include <string.h>

static vy_world_def weightless(void)
{
    vy_world_def def = vy_default_world_def();
    def.environment.gravity.uniform = (vy_vec3){0, 0, 0};
    def.environment.nap.strict = 1; // the smallest disturbance counts
    return def;
}

static vy_world *disturbed(const vy_world_def *wd, const vy_drone_def *drone, const vy_disturbance_def *what)
{
    vy_world *world = fly_in(wd, drone);
    vy_error err = {0};
    if (vy_world_add_disturbance(world, what, &err) != VY_OK) fail_msg("%s", err.text);
    return world;
}

static vec3 momentum_of(const vy_world *world)
{
    const vy_drone_state s = state_of(world, 0);
    return quat_rotate(s.attitude, vec3_mul((vec3){0.02, 0.03, 0.04}, s.rate));
}

// A constant force acts from its start for its duration, no step more or less, and gives force times
// duration.
static void constant_force_gives_its_momentum(void **unused)
{
    (void)unused;
    random_source r = {51};
    for (int n = 0; n < 20; ++n) {
        const vy_world_def wd = weightless();
        vy_drone_def def = passive_body();
        def.attitude = random_attitude(&r);
        vy_disturbance_def d = vy_default_disturbance_def();
        d.frame = (vy_frame)(n % 2);
        d.force = random_vec(&r, 2.0);
        d.start = 0.25;
        d.duration = 0.5;
        vy_world *world = disturbed(&wd, &def, &d);
        (void)vy_world_advance(world, 250);
        assert_vec_near(state_of(world, 0).velocity, vec3_zero(), 0.0);
        (void)vy_world_step(world);
        const vec3 push = n % 2 ? quat_rotate(def.attitude, d.force) : d.force;
        assert_vec_near(state_of(world, 0).velocity, vec3_scale(0.001, push), 1e-15);
        (void)vy_world_advance(world, 499);
        assert_vec_near(state_of(world, 0).velocity, vec3_scale(0.5, push), 1e-13);
        assert_vec_near(state_of(world, 0).position, vec3_add_scaled(def.position, 0.125, push), 1e-13);
        const vec3 end = state_of(world, 0).velocity;
        (void)vy_world_advance(world, 100);
        assert_vec_near(state_of(world, 0).velocity, end, 0.0);
        vy_world_destroy(world);
    }
}

// A constant torque in world axes gives torque times time of angular momentum, in world axes, to a spinning
// body.
static void constant_torque_gives_its_momentum(void **unused)
{
    (void)unused;
    random_source r = {52};
    const vy_world_def wd = weightless();
    vy_drone_def def = passive_body();
    def.attitude = random_attitude(&r);
    def.rate = random_vec(&r, 3.0);
    vy_disturbance_def d = vy_default_disturbance_def();
    d.torque = (vy_vec3){0.02, -0.03, 0.01};
    vy_world *world = disturbed(&wd, &def, &d);
    const vec3 before = momentum_of(world);
    (void)vy_world_advance(world, 2000);
    assert_vec_near(momentum_of(world), vec3_add_scaled(before, 2.0, d.torque), 1e-11);
    vy_world_destroy(world);
}

// An impulse gives its momentum exactly, over one step as over many, linear and angular.
static void impulse_gives_its_momentum(void **unused)
{
    (void)unused;
    static const double durations[] = {1e-9, 0.001, 0.007, 0.1, 1.0};
    for (size_t k = 0; k < sizeof durations / sizeof durations[0]; ++k) {
        const vy_world_def wd = weightless();
        vy_drone_def def = passive_body();
        def.rate = (vy_vec3){0.1, 0.5, -0.3};
        vy_disturbance_def d = vy_default_disturbance_def();
        d.kind = VY_DISTURBANCE_IMPULSE;
        d.force = (vy_vec3){0.3, -0.2, 0.1};
        d.torque = (vy_vec3){0.01, 0.02, -0.03};
        d.start = 0.1;
        d.duration = durations[k];
        vy_world *world = disturbed(&wd, &def, &d);
        const vec3 before = momentum_of(world);
        (void)vy_world_advance(world, 1200);
        assert_vec_near(state_of(world, 0).velocity, d.force, 2e-14);
        assert_vec_near(momentum_of(world), vec3_add(before, d.torque), 1e-9); // a hard turn within one step
        vy_world_destroy(world);
    }
}

// The velocity is the integral of a sinusoid, phase and time counted from its own start.
static void sinusoid_follows_its_closed_form(void **unused)
{
    (void)unused;
    const vy_world_def wd = weightless();
    const vy_drone_def def = passive_body();
    vy_disturbance_def d = vy_default_disturbance_def();
    d.kind = VY_DISTURBANCE_SINUSOID;
    d.force = (vy_vec3){0.5, 0.0, -0.25};
    d.frequency = 3.7;
    d.phase = 0.4;
    d.start = 0.123;
    vy_world *world = disturbed(&wd, &def, &d);
    (void)vy_world_advance(world, 123);
    assert_vec_near(state_of(world, 0).velocity, vec3_zero(), 0.0);
    const double omega = 2.0 * PI * 3.7;
    for (int n = 1; n <= 2000; ++n) {
        (void)vy_world_step(world);
        const double integral = (cos(0.4) - cos(omega * 0.001 * n + 0.4)) / omega;
        assert_vec_near(state_of(world, 0).velocity, vec3_scale(integral, d.force), 1e-11);
    }
    vy_world_destroy(world);
}

enum { STEPS = 200000 };
static double row[3][STEPS];

// Band-limited noise has the declared deviation on each axis, and its correlation falls as e^(-2 pi f t).
static void noise_has_its_deviation_and_corner(void **unused)
{
    (void)unused;
    const vy_world_def wd = weightless();
    const vy_drone_def def = passive_body();
    const double f = 20.0, deviation[3] = {0.5, 0.1, 2.0};
    vy_disturbance_def d = vy_default_disturbance_def();
    d.kind = VY_DISTURBANCE_NOISE;
    d.force = (vy_vec3){deviation[0], deviation[1], deviation[2]};
    d.frequency = f;
    vy_world *world = disturbed(&wd, &def, &d);
    vy_vec3 before = {0, 0, 0};
    for (int i = 0; i < STEPS; ++i) {
        (void)vy_world_step(world);
        const vy_vec3 v = state_of(world, 0).velocity;
        row[0][i] = (v.x - before.x) / 0.001;
        row[1][i] = (v.y - before.y) / 0.001;
        row[2][i] = (v.z - before.z) / 0.001;
        before = v;
    }
    vy_world_destroy(world);
    for (int k = 0; k < 3; ++k) {
        for (int lag = 0; lag <= 24; lag += 8) {
            double product = 0.0;
            for (int i = lag; i < STEPS; ++i) product += row[k][i] * row[k][i - lag];
            product /= (STEPS - lag) * deviation[k] * deviation[k];
            // About 12,500 independent stretches of 2 / (2 pi f): four times 0.013 is generous, and seeded.
            assert_near(product, exp(-2.0 * PI * f * 0.001 * lag), 0.05);
        }
    }
    double cross = 0.0;
    for (int i = 0; i < STEPS; ++i) cross += row[0][i] * row[1][i];
    assert_near(cross / STEPS / (deviation[0] * deviation[1]), 0.0, 0.05);
}

// Noise is as strong in its first step as later, however low its corner: over many seeds.
static void noise_begins_as_it_goes_on(void **unused)
{
    (void)unused;
    enum { SEEDS = 1000 };
    double first = 0.0, later = 0.0;
    for (int n = 0; n < SEEDS; ++n) {
        vy_world_def wd = weightless();
        wd.seed = (uint64_t)n;
        const vy_drone_def def = passive_body();
        vy_disturbance_def d = vy_default_disturbance_def();
        d.kind = VY_DISTURBANCE_NOISE;
        d.force = (vy_vec3){1.0, 1.0, 1.0};
        d.frequency = 0.1;
        d.start = 0.002;
        vy_world *world = disturbed(&wd, &def, &d);
        (void)vy_world_advance(world, 3);
        const vy_vec3 a = state_of(world, 0).velocity;
        first += vec3_dot(a, a) * 1e6 / (3.0 * SEEDS);
        (void)vy_world_advance(world, 100);
        const vy_vec3 b = state_of(world, 0).velocity;
        (void)vy_world_step(world);
        const vy_vec3 c = vec3_sub(state_of(world, 0).velocity, b);
        later += vec3_dot(c, c) * 1e6 / (3.0 * SEEDS);
        vy_world_destroy(world);
    }
    assert_near(first, 1.0, 4.0 * sqrt(2.0 / (3.0 * SEEDS)));
    assert_near(later, 1.0, 4.0 * sqrt(2.0 / (3.0 * SEEDS)));
}

// Noise for all drones gives each its own; noise for one leaves the others alone; force and torque differ.
static void noise_is_of_each_drone(void **unused)
{
    (void)unused;
    vy_world_def wd = weightless();
    const vy_drone_def def = passive_body();
    for (int all = 0; all < 2; ++all) {
        vy_world *world = fly_in(&wd, &def);
        vy_drone_id second;
        assert_int_equal(vy_world_add_drone(world, &def, &second, NULL), VY_OK);
        vy_disturbance_def d = vy_default_disturbance_def();
        d.kind = VY_DISTURBANCE_NOISE;
        d.body = all ? VY_ALL_BODIES : vy_world_drone_body(world, second);
        d.force = d.torque = (vy_vec3){1, 1, 1};
        assert_int_equal(vy_world_add_disturbance(world, &d, NULL), VY_OK);
        assert_int_equal(vy_world_add_drone(world, &def, NULL, NULL), VY_OK); // "all" means those to come too
        (void)vy_world_step(world);
        const vy_vec3 a = state_of(world, 0).velocity, b = state_of(world, 1).velocity,
                      c = state_of(world, 2).velocity;
        assert_true(vec3_length(b) > 0.0);
        assert_true((vec3_length(a) > 0.0) == (all == 1) && (vec3_length(c) > 0.0) == (all == 1));
        assert_true(a.x != b.x && b.x != c.x);
        assert_true(fabs(b.x - 0.02 * state_of(world, 1).rate.x) > 1e-9);
        vy_world_destroy(world);
    }
}

// Disturbances add up.
static void disturbances_add_up(void **unused)
{
    (void)unused;
    const vy_world_def wd = weightless();
    const vy_drone_def def = passive_body();
    vy_disturbance_def d = vy_default_disturbance_def();
    d.force = (vy_vec3){1, 2, 3};
    vy_world *world = disturbed(&wd, &def, &d);
    d.frame = VY_FRAME_BODY;
    d.force = (vy_vec3){-1, 0.5, 0};
    assert_int_equal(vy_world_add_disturbance(world, &d, NULL), VY_OK);
    (void)vy_world_advance(world, 1000);
    assert_vec_near(state_of(world, 0).velocity, ((vy_vec3){0, 2.5, 3}), 1e-12);
    vy_world_destroy(world);
}

// What the negligibility policy is told: no less than acts, and no more but for rounding; and which part of
// it turns with the body, or does not.
static void bounds_are_what_acts(void **unused)
{
    (void)unused;
    random_source r = {57};
    for (int n = 0; n < 40; ++n) {
        disturbance_model d = {.end = 100, .last = 1};
        const vy_model m = {.disturbance_count = 1, .disturbances = &d};
        d.def = vy_default_disturbance_def();
        d.def.kind = VY_DISTURBANCE_CONSTANT;
        d.def.frame = n % 2 == 0 ? VY_FRAME_WORLD : VY_FRAME_BODY;
        d.def.force = random_vec(&r, 2.0);
        d.def.torque = random_vec(&r, 0.3);
        nap_inputs out = {.disturbance = -1.0};
        disturbance_bound(&m, 5, 10, NULL, 0, &out);
        const double force = vec3_length(d.def.force), torque = vec3_length(d.def.torque);
        assert_true(out.disturbance > force && out.disturbance < force * (1.0 + 1e-9));
        assert_true(out.disturbance_torque > torque && out.disturbance_torque < torque * (1.0 + 1e-9));
        assert_true(out.force_body == (n % 2 == 0 ? 0.0 : out.disturbance));
        assert_true(out.torque_world == (n % 2 == 0 ? out.disturbance_torque : 0.0));
    }
}

static void no_cookie(vy_disturbance_def *d) { d->cookie = 0; }
static void no_kind(vy_disturbance_def *d) { d->kind = (vy_disturbance_kind)4; }
static void no_frame(vy_disturbance_def *d) { d->frame = (vy_frame)2; }
static void nan_force(vy_disturbance_def *d) { d->force.y = NOT_A_NUMBER; }
static void inf_torque(vy_disturbance_def *d) { d->torque.z = INFINITE; }
static void early(vy_disturbance_def *d) { d->start = -1.0; }
static void nan_start(vy_disturbance_def *d) { d->start = NOT_A_NUMBER; }
static void short_one(vy_disturbance_def *d) { d->duration = 0.0; }
static void endless_impulse(vy_disturbance_def *d) { d->kind = VY_DISTURBANCE_IMPULSE; }

static void no_frequency(vy_disturbance_def *d)
{
    d->kind = VY_DISTURBANCE_NOISE;
    d->frequency = 0.0;
}

static void inf_frequency(vy_disturbance_def *d)
{
    d->kind = VY_DISTURBANCE_SINUSOID;
    d->frequency = INFINITE;
}

// Every wrong field is refused with a sentence about it; an impulse that nobody gave a duration is wrong too.
static void bad_disturbances_are_refused_by_name(void **unused)
{
    (void)unused;
    static const struct {
        void (*spoil)(vy_disturbance_def *);
        const char *says;
    } list[] = {{no_cookie, "vy_default_disturbance_def"},
                {no_kind, "kind"},
                {no_frame, "frame"},
                {nan_force, "force"},
                {inf_torque, "torque"},
                {early, "start"},
                {nan_start, "start"},
                {short_one, "duration"},
                {endless_impulse, "duration"},
                {no_frequency, "frequency"},
                {inf_frequency, "frequency"}};
    const vy_drone_def drone = passive_body();
    vy_world *world = fly(&drone);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        vy_disturbance_def d = vy_default_disturbance_def();
        list[i].spoil(&d);
        vy_error err = {0};
        const vy_status status = vy_world_add_disturbance(world, &d, &err);
        if (status != VY_BAD_VALUE || strstr(err.text, list[i].says) == NULL) {
            fail_msg("bad disturbance %zu (%s) got: %s", i, list[i].says, err.text);
        }
    }
    vy_disturbance_def stranger = vy_default_disturbance_def();
    stranger.body.bits = 12345;
    assert_int_equal(vy_world_add_disturbance(world, &stranger, NULL), VY_NOT_FOUND);
    vy_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_force_gives_its_momentum),
        cmocka_unit_test(constant_torque_gives_its_momentum),
        cmocka_unit_test(impulse_gives_its_momentum),
        cmocka_unit_test(sinusoid_follows_its_closed_form),
        cmocka_unit_test(noise_has_its_deviation_and_corner),
        cmocka_unit_test(noise_begins_as_it_goes_on),
        cmocka_unit_test(noise_is_of_each_drone),
        cmocka_unit_test(disturbances_add_up),
        cmocka_unit_test(bounds_are_what_acts),
        cmocka_unit_test(bad_disturbances_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
