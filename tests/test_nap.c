// test_nap.c - the negligibility policy: its decisions are as declared, and its certificate holds and is of
// use.
#include "environment/environment.h"
#include "environment/nap.h"
#include "flight.h"
#include "world/world_impl.h"
#include <stdlib.h>
#include <string.h>

// Part one: the decisions.

static nap_bounds alone(int effect, double force, double torque)
{
    nap_bounds b;
    memset(&b, 0, sizeof b);
    b.of[effect] = (effect_bound){force, torque};
    return b;
}

// Ruling 19: off below the lower thresholds of force and torque both, on again above the higher one of
// either, and between them as it was.
static void ruling_19_decisions_have_hysteresis(void **unused)
{
    (void)unused;
    const nap_params n = {
        .force_off = 1.0, .torque_off = 0.1, .force_on = 2.0, .torque_on = 0.2, .rotors = 1};
    static const struct {
        double force, torque;
        int from_on, from_off;
    } list[] = {
        {0.99, 0.09, 0, 0}, {1.0, 0.09, 1, 0},  {0.99, 0.1, 1, 0}, {1.5, 0.15, 1, 0}, {2.0, 0.2, 1, 0},
        {2.01, 0.0, 1, 1},  {0.0, 0.201, 1, 1}, {5.0, 5.0, 1, 1},  {0.0, 0.0, 0, 0},
    };
    for (int effect = 0; effect < EFFECT_COUNT; ++effect) {
        const uint64_t bit = (uint64_t)1 << effect;
        for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
            const nap_bounds b = alone(effect, list[i].force, list[i].torque);
            assert_int_equal((nap_decide(&n, &b, EFFECTS_ALL) & bit) != 0, list[i].from_on);
            assert_int_equal((nap_decide(&n, &b, 0) & bit) != 0, list[i].from_off);
        }
    }
}

// Strict: whatever is not exactly zero is computed, from any decision before.
static void strict_computes_everything(void **unused)
{
    (void)unused;
    const nap_params n = {
        .force_off = 1e9, .torque_off = 1e9, .force_on = 2e9, .torque_on = 2e9, .strict = 1, .rotors = 1};
    for (int effect = 0; effect < EFFECT_COUNT; ++effect) {
        const nap_bounds tiny = alone(effect, 1e-300, 0.0), twist = alone(effect, 0.0, 1e-300);
        assert_true((nap_decide(&n, &tiny, 0) >> effect & 1) != 0);
        assert_true((nap_decide(&n, &twist, 0) >> effect & 1) != 0);
    }
}

static vy_certificate certificate_of(const vy_world *world)
{
    vy_certificate c;
    assert_int_equal(vy_world_certificate(world, vy_world_drone(world, 0), &c), VY_OK);
    return c;
}

static int computes(const vy_world *world, int effect)
{
    return (int)(certificate_of(world).effects >> effect & 1);
}

static vy_world *pushed(const vy_world_def *wd, const vy_drone_def *def, vy_vec3 force, vy_vec3 torque)
{
    vy_world *world = fly_in(wd, def);
    vy_disturbance_def d = vy_default_disturbance_def();
    d.force = force;
    d.torque = torque;
    assert_int_equal(vy_world_add_disturbance(world, &d, NULL), VY_OK);
    assert_int_equal(certificate_of(world).effects, EFFECTS_OF_BODIES); // all effects start computed
    assert_int_equal(certificate_of(world).changes, 0);
    (void)vy_world_step(world);
    return world;
}

// Ruling 19: the absolute or the relative threshold is enough to neglect an effect; without weight there is
// no relative one; torque is relative to the rotors' largest, or to what a body declares.
static void ruling_19_thresholds_are_absolute_or_relative(void **unused)
{
    (void)unused;
    const vy_vec3 none = {0, 0, 0}, force = {1e-3, 0, 0}, torque = {0, 1e-6, 0};
    static const struct {
        double force_abs, force_rel, g;
        int on;
    } forces[] = {
        {0.0, 0.0, 10.0, 1},  {2e-3, 0.0, 10.0, 0}, {0.0, 2e-4, 10.0, 0},
        {0.0, 2e-5, 10.0, 1}, {0.0, 1e6, 0.0, 1},   {2e-3, 0.0, 0.0, 0},
    };
    for (size_t i = 0; i < sizeof forces / sizeof forces[0]; ++i) {
        vy_world_def wd = vy_default_world_def();
        wd.environment.gravity.uniform.z = -forces[i].g;
        wd.environment.nap.force_abs = forces[i].force_abs;
        wd.environment.nap.force_rel = forces[i].force_rel;
        const vy_drone_def def = plain_body(); // 1 kg
        vy_world *world = pushed(&wd, &def, force, none);
        assert_int_equal(computes(world, EFFECT_disturbance), forces[i].on);
        vy_world_destroy(world);
    }
    static const struct {
        double torque_abs, torque_rel, reference;
        int rotors, on;
    } torques[] = {
        {0.0, 0.0, 0.0, 0, 1},   {2e-6, 0.0, 0.0, 0, 0}, {0.0, 1e6, 0.0, 0, 1},  {0.0, 1e-3, 2e-3, 0, 0},
        {0.0, 1e-3, 2e-4, 0, 1}, {0.0, 2e-4, 0.0, 4, 0}, {0.0, 5e-5, 0.0, 4, 1},
    };
    for (size_t i = 0; i < sizeof torques / sizeof torques[0]; ++i) {
        vy_world_def wd = vy_default_world_def();
        wd.environment.nap.torque_abs = torques[i].torque_abs;
        wd.environment.nap.torque_rel = torques[i].torque_rel;
        vy_drone_def def = torques[i].rotors ? quiet_drone() : plain_body(); // 8.3e-3 N m of one rotor
        def.vehicle.torque_ref = torques[i].reference;
        vy_world *world = pushed(&wd, &def, none, torque);
        assert_int_equal(computes(world, EFFECT_twist), torques[i].on);
        vy_world_destroy(world);
    }
}

// A body that falls from rest in air: drag is left out while it cannot matter, comes on, and every change is
// counted.
static vy_world *falling_body(void)
{
    vy_world_def wd = vy_default_world_def();
    wd.environment.wind.gust_count = 1;
    wd.environment.wind.gusts[0] = (vy_gust_def){{0.3, 0, 0}, 0.2, 0.2, 0.1};
    vy_drone_def def = plain_body();
    def.vehicle.area = 0.01;
    def.vehicle.cd = 1.0;
    return fly_in(&wd, &def);
}

static void changes_are_counted(void **unused)
{
    (void)unused;
    vy_world *world = falling_body();
    uint64_t before = certificate_of(world).effects, changes = 0, drag_off = 0, drag_on = 0;
    for (int i = 0; i < 1000; ++i) {
        (void)vy_world_step(world);
        const vy_certificate c = certificate_of(world);
        if (i % 10 != 0) assert_true(c.effects == before); // decided every 10 ms
        for (int k = 0; k < EFFECT_COUNT; ++k) changes += (c.effects ^ before) >> k & 1;
        drag_off += (before & ~c.effects & EFFECT_BIT(drag)) != 0;
        drag_on += (~before & c.effects & EFFECT_BIT(drag)) != 0;
        before = c.effects;
        assert_int_equal(c.changes, changes);
    }
    assert_int_equal(drag_off, 1);
    assert_int_equal(drag_on, 1);
    assert_true(changes > 10);
    vy_world_destroy(world);
}

// The default world declares air and wind, and with a hovering drone the policy leaves both out.
static void the_baseline_neglects_air_and_wind(void **unused)
{
    (void)unused;
    vy_drone_def def = vy_default_drone_def();
    def.vehicle.drag_linear = (vy_vec3){0.0, 0.0, 0.0};
    vy_world *world = fly(&def);
    (void)vy_world_advance(world, 1000);
    const uint64_t on = certificate_of(world).effects;
    assert_true((on & EFFECT_BIT(gravity)) != 0);
    assert_true((on & (EFFECTS_OF_AIR | EFFECT_BIT(wind))) == 0);
    vy_world_destroy(world);
}

// The same input gives the same decisions, and a decision is part of the state: with another one, even of an
// effect that adds nothing, the hash is another.
static void decisions_are_state(void **unused)
{
    (void)unused;
    static unsigned char block[1 << 14];
    vy_world *a = falling_body(), *b = falling_body();
    for (int i = 0; i < 505; ++i) {
        (void)vy_world_step(a);
        (void)vy_world_step(b);
        assert_true(certificate_of(a).effects == certificate_of(b).effects);
        assert_true(vy_world_hash(a) == vy_world_hash(b));
    }
    assert_true(vy_world_state_size(a) <= sizeof block);
    vy_world_save(a, block);
    uint64_t effects;
    unsigned char *place = block + block_offset(&a->counts, BLOCK_drone) + offsetof(drone_block, effects);
    memcpy(&effects, place, sizeof effects);
    assert_true((effects & EFFECT_BIT(radiation)) == 0);
    effects |= EFFECT_BIT(radiation); // there is no light
    memcpy(place, &effects, sizeof effects);
    assert_int_equal(vy_world_restore(b, block, vy_world_state_size(a), NULL), VY_OK);
    (void)vy_world_step(a);
    (void)vy_world_step(b);
    assert_vec_near(state_of(a, 0).position, state_of(b, 0).position, 0.0);
    assert_true(vy_world_hash(a) != vy_world_hash(b));
    vy_world_destroy(a);
    vy_world_destroy(b);
}

// A strict run neglects nothing; a closed loop has impulses but no bound of the deviation.
static void certificates_know_their_limits(void **unused)
{
    (void)unused;
    for (int strict = 0; strict < 2; ++strict) {
        for (int closed = 0; closed < 2; ++closed) {
            vy_world_def wd = vy_default_world_def();
            wd.environment.nap.strict = strict;
            wd.environment.nap.force_abs = 1.0;
            vy_drone_def def = vy_default_drone_def();
            def.velocity = (vy_vec3){0.1, 0, 0};
            if (!closed) def.controller.kind = VY_CONTROLLER_NONE;
            vy_world *world = fly_in(&wd, &def);
            (void)vy_world_advance(world, 1000);
            const vy_certificate c = certificate_of(world);
            assert_int_equal(c.bounded, strict || !closed);
            assert_true((c.total_impulse > 0.0) == !strict);
            assert_true(c.impulse[EFFECT_linear_drag] > 0.0 || strict);
            if (strict)
                assert_true(c.rate == 0.0 && c.angle == 0.0 && c.velocity == 0.0 && c.position == 0.0);
            vy_world_destroy(world);
        }
    }
}

// Part two: the certificate.

enum { SCENARIOS = 1000 };

static double scattered(random_source *r, double low, double high)
{
    return low * pow(high / low, random_in(r, 0.0, 1.0));
}

static vy_vec3 ball(random_source *r, double most)
{
    const double size = random_in(r, 0.0, most);
    return vec3_scale(size, quat_rotate(random_attitude(r), (vec3){1, 0, 0}));
}

static vy_vec3 scattered_vec(random_source *r, double low, double high)
{
    const double x = scattered(r, low, high), y = scattered(r, low, high), z = scattered(r, low, high);
    return (vy_vec3){x, y, z};
}

static int chance(random_source *r, double share) { return random_in(r, 0.0, 1.0) < share; }

static void random_environment(random_source *r, vy_environment_def *e)
{
    e->atmosphere.mode = (vy_atmosphere_mode)(random_bits(r) % 3);
    if (chance(r, 0.5)) e->wind.constant = ball(r, 8.0);
    if (chance(r, 0.25)) {
        e->wind.shear = (vy_shear)(1 + random_bits(r) % 3);
        e->wind.shear_speed = random_in(r, 0.0, 8.0);
        e->wind.shear_direction = random_in(r, -3.0, 3.0);
    }
    if (chance(r, 0.25)) {
        vy_gust_def *g = &e->wind.gusts[e->wind.gust_count++];
        g->velocity = ball(r, 5.0);
        g->start = random_in(r, 0.0, 0.5);
        g->rise = random_in(r, 0.1, 0.4);
        g->hold = random_in(r, 0.0, 0.3);
    }
    if (chance(r, 0.25)) e->magnetic_field = ball(r, 1e-4);
    if (chance(r, 0.1)) {
        e->planet = (vy_planet_def){6378137.0, 1.0 / 298.257223563, 7.292115e-5};
        e->gravity.mode = VY_GRAVITY_CENTRAL;
        e->gravity.body_count = 1;
        e->gravity.bodies[0] = (vy_gravity_body){3.986004418e14, {0, 0, 0}, 1.08262668e-3, 6378137.0};
    }
    static const int periods[] = {1, 5, 10, 20, 50};
    e->nap.force_abs = scattered(r, 1e-7, 1e-1);
    e->nap.force_rel = scattered(r, 1e-6, 1e-1);
    e->nap.torque_abs = scattered(r, 1e-10, 1e-4);
    e->nap.torque_rel = scattered(r, 1e-6, 1e-1);
    e->nap.hysteresis = random_in(r, 1.1, 4.0);
    e->nap.period = 1e-3 * periods[random_bits(r) % 5];
}

// At most 15 m/s and 5 rad/s; motors a little uneven.
static vy_drone_def random_drone(random_source *r, const vy_environment_def *e)
{
    vy_drone_def d = quiet_drone();
    d.imu.period = d.mocap.period = 0.0;
    d.position = random_vec(r, 5.0);
    d.position.z = random_in(r, 20.0, 100.0);
    d.velocity = ball(r, 15.0);
    if (e->planet.radius > 0.0) {
        surroundings env;
        vy_surroundings_build(e, &env);
        const double latitude = random_in(r, -1.5, 1.5), longitude = random_in(r, -PI, PI);
        d.position = planet_position(&env.planet, latitude, longitude, d.position.z, 0.0);
        d.velocity = vec3_add(d.velocity, vec3_cross((vec3){0, 0, e->planet.rate}, d.position));
    }
    d.rate = ball(r, 5.0);
    d.attitude = random_attitude(r);
    d.controller.start.rung = VY_RUNG_MOTORS;
    const double level = random_in(r, 0.5, 0.7);
    for (int k = 0; k < 4; ++k) d.controller.start.motors[k] = level * random_in(r, 0.999, 1.001);
    vy_vehicle_def *v = &d.vehicle;
    v->drag_linear = scattered_vec(r, 1e-5, 1e-2);
    v->area = scattered(r, 1e-5, 1e-2);
    v->cd = random_in(r, 0.0, 2.0);
    v->cl = chance(r, 0.5) ? random_in(r, -1.0, 1.0) : 0.0;
    v->volume = scattered(r, 1e-7, 1e-3);
    v->pressure_centre = ball(r, chance(r, 0.5) ? 0.02 : 0.0);
    v->damping_area = scattered_vec(r, 1e-10, 1e-6);
    v->damping = scattered_vec(r, 1e-10, 1e-6);
    v->density_scaling = chance(r, 0.5);
    v->dipole = ball(r, 1e-3);
    return d;
}

// How far the strict run is from the one with the policy after 1 s: rate, angle, velocity, position.
static vy_certificate compare(const vy_world_def *def, const vy_drone_def *drone, const vy_disturbance_def *d,
                              double out[4])
{
    vy_drone_state s[2];
    vy_certificate c = {0};
    for (int strict = 0; strict < 2; ++strict) {
        vy_world_def wd = *def;
        wd.environment.nap.strict = strict;
        vy_world *world = fly_in(&wd, drone);
        assert_int_equal(vy_world_add_disturbance(world, d, NULL), VY_OK);
        assert_int_equal(vy_world_advance(world, 1000), 0);
        s[strict] = state_of(world, 0);
        if (!strict) c = certificate_of(world);
        vy_world_destroy(world);
    }
    out[DEVIATION_RATE] = check_distance(s[0].rate, s[1].rate);
    out[DEVIATION_ANGLE] = check_angle(s[0].attitude, s[1].attitude);
    out[DEVIATION_VELOCITY] = check_distance(s[0].velocity, s[1].velocity);
    out[DEVIATION_POSITION] = check_distance(s[0].position, s[1].position);
    return c;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// A thousand random open-loop flights of 1 s, each flown with the policy and strictly. The certificate is
// never below the measured deviation, up to what rounding alone can do; and where something was zeroed and it
// shows, it is within a factor of 1000 in the median: an unbounded certificate counts as infinite.
static void the_certificate_holds_and_is_of_use(void **unused)
{
    (void)unused;
    static const char *const names[4] = {"rate", "angle", "velocity", "position"};
    static double ratios[4][SCENARIOS];
    int counts[4] = {0}, unbounded = 0, zeroed = 0;
    random_source r = {503};
    for (int n = 0; n < SCENARIOS; ++n) {
        vy_world_def wd = vy_default_world_def();
        random_environment(&r, &wd.environment);
        const vy_drone_def drone = random_drone(&r, &wd.environment);
        vy_disturbance_def d = vy_default_disturbance_def();
        d.kind = (vy_disturbance_kind)(random_bits(&r) % 4);
        d.force = ball(&r, scattered(&r, 1e-7, 1e-2));
        d.torque = ball(&r, scattered(&r, 1e-10, 1e-5));
        d.frame = (vy_frame)(random_bits(&r) % 2);
        d.duration = random_in(&r, 0.1, 1.0);
        d.frequency = random_in(&r, 0.5, 5.0);
        double measured[4];
        const vy_certificate c = compare(&wd, &drone, &d, measured);
        // Positions on a planet have 1e-9 m to spare, and velocities follow.
        const double ground = wd.environment.planet.radius > 0.0 ? 1e-8 : 0.0;
        const double floors[4] = {1e-10, 1e-11, 1e-11 + ground, 1e-11 + ground};
        const double bounds[4] = {c.rate, c.angle, c.velocity, c.position};
        const int some = c.total_impulse > 0.0 || c.total_angular_impulse > 0.0;
        unbounded += !c.bounded;
        zeroed += some;
        for (int k = 0; k < 4; ++k) {
            if (c.bounded && !(measured[k] <= bounds[k] + floors[k])) {
                fail_msg("scenario %d: %s differs by %g, certified %g", n, names[k], measured[k], bounds[k]);
            }
            if (some && measured[k] > floors[k])
                ratios[k][counts[k]++] = c.bounded ? bounds[k] / measured[k] : INFINITE;
        }
    }
    print_message("of %d scenarios %d zeroed something, %d without a bound\n", SCENARIOS, zeroed, unbounded);
    for (int k = 0; k < 4; ++k) {
        qsort(ratios[k], (size_t)counts[k], sizeof ratios[k][0], by_size);
        const double median = ratios[k][counts[k] / 2];
        print_message("%-8s %d seen; certificate over deviation: least %.2f, median %.1f\n", names[k],
                      counts[k], ratios[k][0], median);
        assert_true(counts[k] >= SCENARIOS / 2);
        assert_true(median < 1000.0);
    }
}

// What makes a small neglect grow is in the certificate: gravity that changes with the place, a needle
// against its field, lift whose direction hangs on a thread. In each case the growth is of the neglected load
// alone, and much larger than without it.
static void the_certificate_covers_what_grows(void **unused)
{
    (void)unused;
    for (int n = 0; n < 3; ++n) {
        vy_world_def wd = vy_default_world_def();
        vy_environment_def *e = &wd.environment;
        e->nap.force_abs = 1e-4;
        e->nap.torque_abs = 1e-6;
        e->gravity.uniform = (vy_vec3){0, 0, 0};
        vy_drone_def def = plain_body();
        def.vehicle.inertia = (vy_mat3){{{0.02, 0, 0}, {0, 0.02, 0}, {0, 0, 0.02}}};
        vy_disturbance_def d = vy_default_disturbance_def();
        double least[4] = {0};
        if (n == 0) { // 20 m above a centre: 10 m/s^2, and 1 m/s^2 less per metre
            e->gravity.mode = VY_GRAVITY_CENTRAL;
            e->gravity.body_count = 1;
            e->gravity.bodies[0] = (vy_gravity_body){4000.0, {0, 0, -19.0}, 0.0, 0.0};
            d.force = (vy_vec3){0, 0, 5e-5};
            least[DEVIATION_POSITION] = 5e-5 * 0.54; // (cosh t - 1) where it would be t^2 / 2
        } else if (n == 1) {
            e->magnetic_field = (vy_vec3){-1.0, 0, 0};
            def.vehicle.dipole = (vy_vec3){0.2, 0, 0};
            d.torque = (vy_vec3){0, 0, 5e-7};
            least[DEVIATION_ANGLE] = 5e-7 / 0.2 * 10.0; // cosh(3.16 t) - 1
        } else {
            def.velocity = (vy_vec3){0, 0, 20.0};
            def.vehicle.area = 0.1;
            def.vehicle.cl = -0.1;
            d.force = (vy_vec3){5e-5, 0, 0};
            least[DEVIATION_VELOCITY] = 1.0; // 2.4 N of lift
        }
        double measured[4];
        const vy_certificate c = compare(&wd, &def, &d, measured);
        const double bounds[4] = {c.rate, c.angle, c.velocity, c.position};
        assert_true(c.impulse[EFFECT_disturbance] > 0.0 || c.angular_impulse[EFFECT_twist] > 0.0);
        assert_true(c.bounded);
        for (int k = 0; k < 4; ++k) {
            assert_true(measured[k] <= bounds[k] + 1e-10);
            assert_true(measured[k] >= least[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ruling_19_decisions_have_hysteresis),
        cmocka_unit_test(strict_computes_everything),
        cmocka_unit_test(ruling_19_thresholds_are_absolute_or_relative),
        cmocka_unit_test(changes_are_counted),
        cmocka_unit_test(the_baseline_neglects_air_and_wind),
        cmocka_unit_test(decisions_are_state),
        cmocka_unit_test(certificates_know_their_limits),
        cmocka_unit_test(the_certificate_holds_and_is_of_use),
        cmocka_unit_test(the_certificate_covers_what_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
