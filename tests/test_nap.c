// test_nap.c - the negligibility policy: its decisions are as declared, and its certificate holds and is of
// use.
#include "nap_flights.h"

// Part one: the decisions.

static nap_bounds alone(int effect, double force, double torque)
{
    nap_bounds b;
    memset(&b, 0, sizeof b);
    b.effect[effect] = (effect_bound){force, torque};
    return b;
}

// Ruling 19: off below the lower thresholds of force and torque both, on again above the higher one of
// either, and between them as it was.
static void ruling_19_decisions_have_hysteresis(void **unused)
{
    (void)unused;
    const nap_params n = {.force_abs = 1.0, .torque_threshold = 0.1, .hysteresis = 2.0, .rotors = 1};
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
            assert_int_equal((nap_decide(&n, &b, 0.0, EFFECTS_ALL) & bit) != 0, list[i].from_on);
            assert_int_equal((nap_decide(&n, &b, 0.0, 0) & bit) != 0, list[i].from_off);
        }
    }
}

// Strict: whatever is not exactly zero is computed, from any decision before.
static void strict_computes_everything(void **unused)
{
    (void)unused;
    const nap_params n = {
        .force_abs = 1e9, .torque_threshold = 1e9, .hysteresis = 2.0, .strict = 1, .rotors = 1};
    for (int effect = 0; effect < EFFECT_COUNT; ++effect) {
        const nap_bounds tiny = alone(effect, 1e-300, 0.0), twist = alone(effect, 0.0, 1e-300);
        assert_true((nap_decide(&n, &tiny, 0.0, 0) >> effect & 1) != 0);
        assert_true((nap_decide(&n, &twist, 0.0, 0) >> effect & 1) != 0);
    }
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
        const vy_drone_def def = passive_body(); // 1 kg
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
        vy_drone_def def = torques[i].rotors ? quiet_drone() : passive_body(); // 8.3e-3 N m of one rotor
        def.vehicle.torque_ref = torques[i].reference;
        vy_world *world = pushed(&wd, &def, none, torque);
        assert_int_equal(computes(world, EFFECT_disturbance_torque), torques[i].on);
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
    vy_drone_def def = passive_body();
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
        vy_drone_def def = passive_body();
        def.vehicle.inertia = (vy_mat3){{{0.02, 0, 0}, {0, 0.02, 0}, {0, 0, 0.02}}};
        vy_disturbance_def d = vy_default_disturbance_def();
        double min[4] = {0};
        if (n == 0) { // 20 m above a centre: 10 m/s^2, and 1 m/s^2 less per metre
            e->gravity.mode = VY_GRAVITY_CENTRAL;
            e->gravity.body_count = 1;
            e->gravity.bodies[0] = (vy_gravity_body){4000.0, {0, 0, -19.0}, 0.0, 0.0};
            d.force = (vy_vec3){0, 0, 5e-5};
            min[DEVIATION_POSITION] = 5e-5 * 0.54; // (cosh t - 1) where it would be t^2 / 2
        } else if (n == 1) {
            e->magnetic_field = (vy_vec3){-1.0, 0, 0};
            def.vehicle.dipole = (vy_vec3){0.2, 0, 0};
            d.torque = (vy_vec3){0, 0, 5e-7};
            min[DEVIATION_ANGLE] = 5e-7 / 0.2 * 10.0; // cosh(3.16 t) - 1
        } else {
            def.velocity = (vy_vec3){0, 0, 20.0};
            def.vehicle.area = 0.1;
            def.vehicle.cl = -0.1;
            d.force = (vy_vec3){5e-5, 0, 0};
            min[DEVIATION_VELOCITY] = 1.0; // 2.4 N of lift
        }
        double measured[4];
        const vy_certificate c = compare(&wd, &def, &d, measured);
        const double bounds[4] = {c.rate, c.angle, c.velocity, c.position};
        assert_true(c.impulse[EFFECT_disturbance] > 0.0 ||
                    c.angular_impulse[EFFECT_disturbance_torque] > 0.0);
        assert_true(c.bounded);
        for (int k = 0; k < 4; ++k) {
            assert_true(measured[k] <= bounds[k] + 1e-10);
            assert_true(measured[k] >= min[k]);
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
        cmocka_unit_test(the_certificate_covers_what_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
