// test_pulleys.c - cables over two wheels.
#include "joint_sets.h"
#include <stdlib.h>
#include <string.h>

typedef struct machine {
    vy_bodies *b;
    vy_body_id x, y;
    vy_joint_id rope;
} machine;

// Two masses that hang on wheels 2 m apart, `x` and `y` below them.
static machine machine_of(double mass_x, double mass_y, double x, double y, double ratio)
{
    machine m = {.b = set_of(G)};
    m.x = add_box(m.b, mass_x, (vy_vec3){0.05, 0.05, 0.05}, standing(-1, 0, 3.0 - x));
    m.y = add_box(m.b, mass_y, (vy_vec3){0.05, 0.05, 0.05}, standing(1, 0, 3.0 - y));
    vy_joint_def def = vy_default_joint_def();
    def.kind = VY_JOINT_PULLEY;
    def.body_a = m.x;
    def.body_b = m.y;
    def.wheel_a = (vy_vec3){-1, 0, 3};
    def.wheel_b = (vy_vec3){1, 0, 3};
    def.ratio = ratio;
    def.length = x + ratio * y;
    vy_error err = {0};
    if (vy_bodies_add_joint(m.b, &def, &m.rope, &err) != VY_OK) fail_msg("%s", err.text);
    return m;
}

// Atwood: (m1 - m2) g / (m1 + m2), a tension of 2 m1 m2 g / (m1 + m2), and a cable that keeps its length.
static void atwood(void **unused)
{
    (void)unused;
    static const double masses[][2] = {{3.0, 2.0}, {1.0, 1.0}, {0.1, 7.0}, {5.0, 0.01}};
    for (int k = 0; k < 4; ++k) {
        const double p = masses[k][0], q = masses[k][1], a = (p - q) * G / (p + q);
        machine m = machine_of(p, q, 10.0, 10.0, 1.0);
        for (int n = 1; n <= 800; ++n) {
            run(m.b, 1);
            const double t = n * 1e-3;
            assert_near(state_of(m.b, m.x).position.z, -7.0 - 0.5 * a * t * t, 1e-9);
            assert_near(state_of(m.b, m.y).position.z, -7.0 + 0.5 * a * t * t, 1e-9);
            const vy_joint_state s = joint_of(m.b, m.rope);
            assert_near(s.length, 20.0, 1e-9);
            assert_near(s.tension, 2.0 * p * q * G / (p + q), 1e-8);
            assert_near(s.force.z, s.tension, 1e-8);
            assert_int_equal(s.active, 1);
        }
        vy_bodies_destroy(m.b);
    }
}

// With a ratio of r b hangs on r falls: T = g (1 + r) / (1/m1 + r^2/m2).
static void a_tackle_multiplies(void **unused)
{
    (void)unused;
    const double p = 1.0, q = 3.0, r = 2.0, tension = G * (1.0 + r) / (1.0 / p + r * r / q);
    machine m = machine_of(p, q, 2.0, 2.0, r);
    run(m.b, 500);
    assert_near(state_of(m.b, m.x).position.z, 1.0 - 0.5 * (G - tension / p) * 0.25, 1e-9);
    assert_near(state_of(m.b, m.y).position.z, 1.0 - 0.5 * (G - r * tension / q) * 0.25, 1e-9);
    assert_near(joint_of(m.b, m.rope).tension, tension, 1e-8);
    vy_bodies_destroy(m.b);
    machine still = machine_of(1.0, 2.0, 2.0, 2.0, 2.0); // in balance
    run(still.b, 1000);
    assert_near(state_of(still.b, still.x).position.z, 1.0, 1e-9);
    vy_bodies_destroy(still.b);
}

// A swinging Atwood's machine: energy and length stay.
static void a_swinging_machine_keeps_energy(void **unused)
{
    (void)unused;
    machine m = machine_of(2.0, 1.0, 1.0, 1.0, 1.0);
    vy_body_apply_impulse(m.b, m.y, (vy_vec3){1.5, 0.7, 0}, VY_FRAME_WORLD);
    run(m.b, 1);
    const double energy = total_energy(m.b);
    for (int k = 0; k < 1500; ++k) {
        run(m.b, 1);
        if (state_of(m.b, m.x).position.z > 2.9 || state_of(m.b, m.y).position.z > 2.9) break;
        assert_near(total_energy(m.b), energy, 1e-6);
        if (joint_of(m.b, m.rope).active) assert_near(joint_of(m.b, m.rope).length, 2.0, 1e-9);
    }
    vy_bodies_destroy(m.b);
}

// A mass that is thrown up lets the cable go slack, falls freely, and is caught: plastic along the cable.
static void it_is_slack_where_it_would_push(void **unused)
{
    (void)unused;
    machine m = machine_of(1.0, 1.0, 5.0, 5.0, 1.0);
    vy_body_apply_impulse(m.b, m.x, (vy_vec3){0, 0, 2.0}, VY_FRAME_WORLD);
    run(m.b, 1);
    assert_int_equal(joint_of(m.b, m.rope).active, 0);
    run(m.b, 150);
    const double t = 0.151;
    assert_near(state_of(m.b, m.x).position.z, -2.0 + 2.0 * t - 0.5 * G * t * t, 1e-9);
    assert_near(state_of(m.b, m.y).position.z, -2.0 - 0.5 * G * t * t, 1e-9);
    double most = 0.0;
    for (int k = 0; k < 400; ++k) {
        run(m.b, 1);
        most = fmax(most, joint_of(m.b, m.rope).length);
    }
    assert_true(most <= 10.0 + 1e-8);
    vy_bodies_destroy(m.b);
}

// Among contacts: what is heavier comes to rest on the ground, and the other is held by friction of nothing
// but the slack.
static void the_heavier_lands(void **unused)
{
    (void)unused;
    vy_bodies_def set = vy_default_bodies_def();
    vy_bodies *b = NULL;
    vy_shape floor;
    vy_body_def ground = vy_default_body_def();
    set.dt = 1.0 / 240.0;
    set.contacts.on = 1;
    set.contacts.time_to_sleep = 0.5;
    assert_int_equal(vy_bodies_create(&set, &b, NULL), VY_OK);
    assert_int_equal(vy_shape_plane((vy_vec3){0, 0, 1}, 0.0, &floor, NULL), VY_OK);
    ground.kind = VY_BODY_STATIC;
    ground.shape = &floor;
    assert_int_equal(vy_bodies_add(b, &ground, NULL, NULL), VY_OK);
    const vy_body_id x = add_box(b, 2.0, (vy_vec3){0.1, 0.1, 0.1}, standing(-1, 0, 0.3)),
                     y = add_box(b, 1.0, (vy_vec3){0.1, 0.1, 0.1}, standing(1, 0, 0.1));
    vy_joint_def def = vy_default_joint_def();
    vy_joint_id rope;
    def.kind = VY_JOINT_PULLEY;
    def.body_a = x;
    def.body_b = y;
    def.wheel_a = (vy_vec3){-1, 0, 3};
    def.wheel_b = (vy_vec3){1, 0, 3};
    def.length = 2.7 + 2.9;
    assert_int_equal(vy_bodies_add_joint(b, &def, &rope, NULL), VY_OK);
    for (int k = 0; k < 1200; ++k) {
        (void)vy_bodies_step(b);
        assert_true(joint_of(b, rope).length < 5.6 + 1e-6);
    }
    assert_near(state_of(b, x).position.z, 0.1, 2e-3);
    assert_near(state_of(b, y).position.z, 0.3, 4e-3);
    assert_int_equal(vy_bodies_asleep(b), 2);
    vy_bodies_destroy(b);
}

// Random machines that nothing drives gain nothing.
static void random_machines_gain_nothing(void **unused)
{
    (void)unused;
    random_source r = {9};
    for (int n = 0; n < 30; ++n) {
        machine m = machine_of(random_in(&r, 0.2, 4.0), random_in(&r, 0.2, 4.0), random_in(&r, 2.0, 5.0),
                               random_in(&r, 2.0, 5.0), random_in(&r, 0.5, 3.0));
        const double length = joint_of(m.b, m.rope).length;
        vy_body_apply_impulse(m.b, m.x, random_vec(&r, 1.0), VY_FRAME_WORLD);
        vy_body_apply_impulse(m.b, m.y, random_vec(&r, 1.0), VY_FRAME_WORLD);
        vy_body_apply_angular_impulse(m.b, m.y, random_vec(&r, 0.002), VY_FRAME_WORLD);
        run(m.b, 1);
        double energy = total_energy(m.b);
        const double scale = vy_bodies_read_energy(m.b).kinetic + 10.0;
        for (int k = 0; k < 1000; ++k) {
            run(m.b, 1);
            if (state_of(m.b, m.x).position.z > 2.5 || state_of(m.b, m.y).position.z > 2.5)
                break; // at a wheel
            assert_true(total_energy(m.b) <= energy + 1e-7 * scale);
            energy = fmin(energy, total_energy(m.b));
            assert_true(joint_of(m.b, m.rope).length <= length + 1e-8);
        }
        vy_bodies_destroy(m.b);
    }
}

// One that is too short draws its ends in at the closing speed.
static void one_that_is_too_short_closes(void **unused)
{
    (void)unused;
    machine m = machine_of(1.0, 1.0, 2.0, 2.0, 1.0);
    assert_int_equal(vy_bodies_remove_joint(m.b, m.rope), VY_OK);
    vy_joint_def def = vy_default_joint_def();
    def.kind = VY_JOINT_PULLEY;
    def.body_a = m.x;
    def.body_b = m.y;
    def.wheel_a = (vy_vec3){-1, 0, 3};
    def.wheel_b = (vy_vec3){1, 0, 3};
    def.length = 3.6;
    assert_int_equal(vy_bodies_add_joint(m.b, &def, &m.rope, NULL), VY_OK);
    const double whole = joint_of(m.b, m.rope).closing_time;
    assert_near(whole, 2.5 * 0.4, 1e-9);
    for (int k = 1; k <= 1000; ++k) {
        run(m.b, 1);
        assert_near(joint_of(m.b, m.rope).length, 4.0 - 0.4 * k * 1e-3 / whole, 1e-9);
    }
    assert_near(vy_bodies_read_energy(m.b).closing, 0.4 * G, 0.2); // lifted by 0.2 m each
    run(m.b, 100);
    assert_near(joint_of(m.b, m.rope).length, 3.6, 1e-8);
    vy_bodies_destroy(m.b);
}

static void a_snapshot_goes_on(void **unused)
{
    (void)unused;
    machine m = machine_of(1.0, 1.3, 3.0, 3.0, 1.5);
    vy_body_apply_impulse(m.b, m.x, (vy_vec3){0.4, 0, 1.0}, VY_FRAME_WORLD);
    run(m.b, 60);
    const size_t size = vy_bodies_state_size(m.b);
    void *block = malloc(size);
    vy_bodies_save(m.b, block);
    run(m.b, 300);
    const uint64_t hash = vy_bodies_hash(m.b);
    assert_int_equal(vy_bodies_restore(m.b, block, size, NULL), VY_OK);
    run(m.b, 300);
    assert_true(vy_bodies_hash(m.b) == hash);
    machine other = machine_of(1.0, 1.3, 3.0, 3.0, 1.4);
    assert_int_equal(vy_bodies_restore(other.b, block, size, NULL), VY_BAD_VALUE);
    free(block);
    vy_bodies_destroy(m.b);
    vy_bodies_destroy(other.b);
}

static void mistakes_are_refused(void **unused)
{
    (void)unused;
    machine m = machine_of(1.0, 1.0, 2.0, 2.0, 1.0);
    vy_joint_def good = vy_default_joint_def();
    good.kind = VY_JOINT_PULLEY;
    good.body_a = m.x;
    good.body_b = m.y;
    good.wheel_a = (vy_vec3){-1, 0, 3};
    good.wheel_b = (vy_vec3){1, 0, 3};
    good.length = 4.0;
    for (int k = 0; k < 6; ++k) {
        static const char *const says[] = {"ratio of a pulley",
                                           "ratio of a pulley",
                                           "wheels must be finite",
                                           "at its wheel",
                                           "length must be finite and above zero",
                                           "has no limits"};
        vy_joint_def def = good;
        vy_error err;
        if (k == 0) def.ratio = 0.0;
        if (k == 1) def.ratio = NOT_A_NUMBER;
        if (k == 2) def.wheel_b.x = INFINITE;
        if (k == 3) def.wheel_a.z = 1.0;
        if (k == 4) def.length = 0.0;
        if (k == 5) {
            def.limited = 1;
            def.high = 1.0;
        }
        assert_true(vy_bodies_add_joint(m.b, &def, NULL, &err) != VY_OK);
        if (strstr(err.text, says[k]) == NULL) fail_msg("%s", err.text);
    }
    vy_bodies_destroy(m.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(atwood),
        cmocka_unit_test(a_tackle_multiplies),
        cmocka_unit_test(a_swinging_machine_keeps_energy),
        cmocka_unit_test(it_is_slack_where_it_would_push),
        cmocka_unit_test(the_heavier_lands),
        cmocka_unit_test(random_machines_gain_nothing),
        cmocka_unit_test(one_that_is_too_short_closes),
        cmocka_unit_test(a_snapshot_goes_on),
        cmocka_unit_test(mistakes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
