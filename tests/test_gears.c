// test_gears.c - gears: turns in a ratio, with their reaction on the frame.
#include "joint_sets.h"
#include <stdlib.h>
#include <string.h>

/// A flat box that turns about `axis` through `at`, on a hinge to `frame`.
static vy_body_id add_wheel(vy_bodies *b, vy_body_id frame, double mass, double half, vy_vec3 at,
                            vy_vec3 axis)
{
    const vy_body_id id = add_box(b, mass, (vy_vec3){half, half, half}, standing(at.x, at.y, at.z));
    join(b, VY_JOINT_HINGE, frame, id, at, axis);
    return id;
}

static double moment_of(double mass, double half) { return mass * 2.0 / 3.0 * half * half; }

static vy_joint_id mesh(vy_bodies *b, vy_body_id x, vy_body_id y, vy_vec3 at_x, vy_vec3 at_y, vy_vec3 axis_x,
                        vy_vec3 axis_y, double ratio)
{
    vy_joint_def def = vy_default_joint_def(), other = vy_default_joint_def();
    vy_joint_id id;
    def.kind = other.kind = VY_JOINT_GEAR;
    assert_int_equal(vy_joint_set_frames(b, x, y, at_x, axis_x, &def), VY_OK);
    assert_int_equal(vy_joint_set_frames(b, x, y, at_y, axis_y, &other), VY_OK);
    def.anchor_b = other.anchor_b;
    def.axis_b = other.axis_b;
    def.ratio = ratio;
    vy_error err = {0};
    if (vy_bodies_add_joint(b, &def, &id, &err) != VY_OK) fail_msg("%s", err.text);
    return id;
}

typedef struct train {
    vy_bodies *b;
    vy_body_id x, y;
    vy_joint_id gear;
} train;

static const vy_vec3 tilted = {0.36, 0.48, 0.8}, across = {0.8, -0.6, 0.0}; // square to each other

// Two wheels on the world about a tilted axis.
static train train_of(double dt, double ratio)
{
    train t = {.b = set_with(dt, 0.0, VY_INTEGRATOR_RK4)};
    const vy_vec3 far = vec3_scale(0.5, across);
    t.x = add_wheel(t.b, VY_NULL_BODY, 0.4, 0.05, vec3_zero(), tilted);
    t.y = add_wheel(t.b, VY_NULL_BODY, 2.0, 0.12, far, tilted);
    t.gear = mesh(t.b, t.x, t.y, vec3_zero(), far, tilted, tilted, ratio);
    return t;
}

static void drive(const train *t, double torque)
{
    assert_int_equal(vy_body_apply_torque(t->b, t->x, vec3_scale(torque, tilted), VY_FRAME_WORLD), VY_OK);
}

// A torque on the small wheel drives both: its inertia is I_a + I_b / ratio^2. The ratio holds over 100
// turns, of external teeth and of a belt.
static void a_ratio_holds_over_100_turns(void **unused)
{
    (void)unused;
    static const double ratios[] = {3.0, -2.5, 1.0, 0.31830988618379067};
    for (int k = 0; k < 4; ++k) {
        const double ratio = ratios[k],
                     inertia = moment_of(0.4, 0.05) + moment_of(2.0, 0.12) / (ratio * ratio), push = 40.0,
                     torque = push * inertia;
        train t = train_of(1e-3, ratio);
        int n = 0;
        for (; joint_of(t.b, t.gear).turned[0] < 200.0 * PI && n < 30000; ++n) {
            if (n < 1000) drive(&t, torque);
            run(t.b, 1);
            const vy_joint_state s = joint_of(t.b, t.gear);
            assert_near(s.turned[0] + ratio * s.turned[1], 0.0, 1e-10 * (1.0 + fabs(ratio)));
            const double time = (n + 1) * 1e-3,
                         angle = n < 1000 ? 0.5 * push * time * time : push * (time - 0.5);
            assert_near(s.turned[0], angle, 1e-8 * (1.0 + angle));
        }
        assert_true(n < 30000);
        vy_bodies_destroy(t.b);
    }
}

// The frame floats: what the wheels turn with it takes up. Momentum, angular momentum and energy stay over
// 100 turns.
static void the_frame_takes_the_reaction(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(0.0);
    const vy_body_id frame = add_box(b, 3.0, (vy_vec3){0.3, 0.1, 0.2}, standing(0.1, 0.05, -0.2));
    const vy_vec3 far = vec3_scale(0.5, across);
    const vy_body_id x = add_wheel(b, frame, 0.4, 0.05, vec3_zero(), tilted),
                     y = add_wheel(b, frame, 2.0, 0.12, far, tilted);
    const vy_joint_id gear = mesh(b, x, y, vec3_zero(), far, tilted, tilted, 2.0);
    vy_body_apply_angular_impulse(b, x, vec3_scale(0.25, tilted), VY_FRAME_WORLD);
    vy_body_apply_impulse(b, frame, (vy_vec3){0.3, -0.2, 0.1}, VY_FRAME_WORLD);
    run(b, 1);
    vy_vec3 p0, l0, p1, l1;
    vy_bodies_read_momentum(b, &p0, &l0);
    assert_vec_near(
        l0,
        vec3_add(vec3_scale(0.25, tilted), vec3_cross((vy_vec3){0.1, 0.05, -0.2}, (vy_vec3){0.3, -0.2, 0.1})),
        1e-12);
    const double energy = total_energy(b);
    int n = 0;
    for (; fabs(joint_of(b, gear).turned[0]) < 200.0 * PI && n < 60000; ++n) run(b, 1);
    assert_true(n < 60000);
    vy_bodies_read_momentum(b, &p1, &l1);
    assert_vec_near(p1, p0, 1e-11);
    assert_vec_near(l1, l0, 1e-7);
    assert_near(total_energy(b), energy, 1e-7 * energy);
    assert_near(joint_of(b, gear).turned[0] + 2.0 * joint_of(b, gear).turned[1], 0.0, 1e-10);
    vy_bodies_destroy(b);
}

// A planet rolls round a sun that is fixed to the world: it turns by 1 + z_sun / z_planet a turn of its
// carrier (Willis).
static void a_planet_obeys_willis(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(0.0);
    const double ratio = 0.4; // teeth of the planet over those of the sun
    const vy_vec3 far = vec3_scale(0.7, across);
    const vy_body_id carrier = add_wheel(b, VY_NULL_BODY, 1.0, 0.2, vec3_zero(), tilted),
                     planet = add_wheel(b, carrier, 0.3, 0.06, far, tilted);
    (void)mesh(b, VY_NULL_BODY, planet, vec3_zero(), far, tilted, tilted, ratio);
    vy_body_apply_angular_impulse(b, carrier, vec3_scale(1.0, tilted), VY_FRAME_WORLD);
    for (int k = 0; k < 4000; ++k) {
        run(b, 1);
        const vy_body_state c = state_of(b, carrier), p = state_of(b, planet);
        const double wc = vec3_dot(quat_rotate(c.attitude, c.rate), tilted),
                     wp = vec3_dot(quat_rotate(p.attitude, p.rate), tilted);
        assert_near(wp, wc * (1.0 + 1.0 / ratio), 1e-9 * (1.0 + fabs(wp)));
    }
    vy_bodies_destroy(b);
}

// Bevel gears, whose axes are square to each other.
static void bevel_gears_turn_a_corner(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(0.0);
    const vy_vec3 axis_x = {1, 0, 0}, axis_y = {0, 1, 0}, at_x = {0.3, 0, 0}, at_y = {0, 0.3, 0};
    const vy_body_id x = add_wheel(b, VY_NULL_BODY, 1.0, 0.1, at_x, axis_x),
                     y = add_wheel(b, VY_NULL_BODY, 1.0, 0.1, at_y, axis_y);
    const vy_joint_id gear = mesh(b, x, y, at_x, at_y, axis_x, axis_y, 1.5);
    vy_body_apply_angular_impulse(b, x, (vy_vec3){0.1, 0, 0}, VY_FRAME_WORLD);
    run(b, 2000);
    const vy_body_state s = state_of(b, x), t = state_of(b, y);
    assert_near(s.rate.x + 1.5 * t.rate.y, 0.0, 1e-10);
    assert_near(s.rate.x, 0.1 / (moment_of(1.0, 0.1) * (1.0 + 1.0 / 2.25)), 1e-9);
    assert_near(joint_of(b, gear).turned[0], s.rate.x * 2.0, 1e-8);
    vy_bodies_destroy(b);
}

// Turns are counted where a step has several of them: 500 rad/s at 60 Hz.
static void fast_gears_lose_no_turn(void **unused)
{
    (void)unused;
    train t = train_of(1.0 / 60.0, 2.0);
    vy_body_apply_angular_impulse(
        t.b, t.x, vec3_scale(500.0 * (moment_of(0.4, 0.05) + moment_of(2.0, 0.12) / 4.0), tilted),
        VY_FRAME_WORLD);
    run(t.b, 600);
    assert_near(joint_of(t.b, t.gear).turned[0], 5000.0, 1e-2);
    assert_near(joint_of(t.b, t.gear).turned[0] + 2.0 * joint_of(t.b, t.gear).turned[1], 0.0, 1e-8);
    vy_bodies_destroy(t.b);
}

// Turns are state: a snapshot of the 37th turn goes on to the same bits, in another set as well, and knows
// how often it has turned.
static void turns_are_state(void **unused)
{
    (void)unused;
    train t = train_of(1e-3, 3.0), twin = train_of(1e-3, 3.0);
    for (int n = 0; n < 1500; ++n) {
        drive(&t, 0.2);
        run(t.b, 1);
    }
    const double turned = joint_of(t.b, t.gear).turned[0];
    assert_true(turned > 2.0 * PI * 5.0);
    const size_t size = vy_bodies_state_size(t.b);
    void *block = malloc(size);
    vy_bodies_save(t.b, block);
    const uint64_t now = vy_bodies_hash(t.b);
    run(t.b, 700);
    const uint64_t later = vy_bodies_hash(t.b);
    assert_int_equal(vy_bodies_restore(twin.b, block, size, NULL), VY_OK);
    assert_true(vy_bodies_hash(twin.b) == now);
    assert_near(joint_of(twin.b, twin.gear).turned[0], turned, 0.0);
    run(twin.b, 700);
    assert_true(vy_bodies_hash(twin.b) == later);
    free(block);
    // A body that is set back by a little does not lose a turn.
    vy_body_state s = state_of(t.b, t.x);
    s.attitude = quat_normalize(quat_mul(
        (vy_quat){cos(0.05), sin(0.05) * tilted.x, sin(0.05) * tilted.y, sin(0.05) * tilted.z}, s.attitude));
    const double before = joint_of(t.b, t.gear).turned[0];
    assert_int_equal(vy_body_set_state(t.b, t.x, &s), VY_OK);
    assert_near(joint_of(t.b, t.gear).turned[0], before + 0.1, 1e-9);
    vy_bodies_destroy(t.b);
    vy_bodies_destroy(twin.b);
}

// Random trains between random axes that nothing drives: energy stays, the ratio holds.
static void random_trains_gain_nothing(void **unused)
{
    (void)unused;
    random_source r = {3};
    for (int n = 0; n < 20; ++n) {
        vy_bodies *b =
            set_with(1.0 / 240.0, n % 2 ? G : 0.0, n % 3 ? VY_INTEGRATOR_RK4 : VY_INTEGRATOR_LIE_MIDPOINT);
        const vy_body_id frame = add_box(b, 2.0, (vy_vec3){0.2, 0.3, 0.1}, standing(0, 0, 0));
        vy_body_id wheels[3];
        vy_joint_id gears[2];
        vy_vec3 at[3], axis[3];
        double ratio[2];
        for (int k = 0; k < 3; ++k) {
            at[k] = (vy_vec3){0.4 * k, random_in(&r, -0.1, 0.1), random_in(&r, -0.1, 0.1)};
            axis[k] = (vy_vec3){random_in(&r, -0.5, 0.5), random_in(&r, -1, 1), 1.0};
            wheels[k] =
                add_wheel(b, frame, random_in(&r, 0.2, 1.0), random_in(&r, 0.04, 0.1), at[k], axis[k]);
        }
        for (int k = 0; k < 2; ++k) {
            ratio[k] = random_in(&r, 0.4, 2.5) * (random_bits(&r) % 2 ? 1.0 : -1.0);
            gears[k] = mesh(b, wheels[k], wheels[k + 1], at[k], at[k + 1], axis[k], axis[k + 1], ratio[k]);
        }
        vy_body_apply_angular_impulse(b, wheels[0], random_vec(&r, 0.02), VY_FRAME_WORLD);
        vy_body_apply_angular_impulse(b, frame, random_vec(&r, 0.05), VY_FRAME_WORLD);
        run(b, 1);
        const double energy = total_energy(b);
        vy_vec3 p0, l0, p1, l1;
        vy_bodies_read_momentum(b, &p0, &l0);
        for (int k = 0; k < 480; ++k) run(b, 1);
        assert_near(total_energy(b), energy, 2e-5 * (1.0 + fabs(energy)));
        vy_bodies_read_momentum(b, &p1, &l1);
        if (n % 2 == 0) assert_vec_near(p1, p0, 1e-12);
        if (n % 2 == 0) assert_vec_near(l1, l0, 1e-7);
        for (int k = 0; k < 2; ++k)
            assert_near(joint_of(b, gears[k]).turned[0] + ratio[k] * joint_of(b, gears[k]).turned[1], 0.0,
                        1e-9);
        vy_bodies_destroy(b);
    }
}

// Among contacts: a wheel rolls on the ground and drives another one on the same carriage.
static void they_turn_among_contacts(void **unused)
{
    (void)unused;
    vy_bodies_def set = vy_default_bodies_def();
    vy_bodies *b = NULL;
    vy_shape floor, tyre;
    vy_body_def ground = vy_default_body_def(), wheel = vy_default_body_def();
    set.dt = 1.0 / 240.0;
    set.contacts.on = 1;
    assert_int_equal(vy_bodies_create(&set, &b, NULL), VY_OK);
    assert_int_equal(vy_shape_plane((vy_vec3){0, 0, 1}, 0.0, &floor, NULL), VY_OK);
    assert_int_equal(vy_shape_sphere(0.1, &tyre, NULL), VY_OK);
    ground.material.friction = wheel.material.friction = 0.8;
    ground.kind = VY_BODY_STATIC;
    ground.shape = &floor;
    assert_int_equal(vy_bodies_add(b, &ground, NULL, NULL), VY_OK);
    const vy_vec3 axis = {0, 1, 0}, low = {0, 0, 0.1}, high = {0, 0, 0.6};
    vy_body_id rolling, driven;
    wheel.shape = &tyre;
    wheel.mass = 1.0;
    wheel.state = standing(low.x, low.y, low.z);
    assert_int_equal(vy_bodies_add(b, &wheel, &rolling, NULL), VY_OK);
    driven = add_box(b, 0.5, (vy_vec3){0.05, 0.05, 0.05}, standing(high.x, high.y, high.z));
    const vy_body_id rail = add_box(b, 1.0, (vy_vec3){0.02, 0.02, 0.02}, standing(0, 0.5, 0.35));
    const vy_body_id mast =
        add_box(b, 1.0, (vy_vec3){0.02, 0.02, 0.02}, standing(0, 0.8, 0.35)); // all weight is on the wheel
    join(b, VY_JOINT_SLIDER, VY_NULL_BODY, mast, (vy_vec3){0, 0.8, 0.35}, (vy_vec3){0, 0, 1});
    join(b, VY_JOINT_SLIDER, mast, rail, (vy_vec3){0, 0.5, 0.35}, (vy_vec3){1, 0, 0});
    join(b, VY_JOINT_HINGE, rail, rolling, low, axis);
    join(b, VY_JOINT_HINGE, rail, driven, high, axis);
    const vy_joint_id gear = mesh(b, rolling, driven, low, high, axis, axis, 0.5);
    vy_body_apply_impulse(b, rail, (vy_vec3){2.0, 0, 0}, VY_FRAME_WORLD);
    for (int k = 0; k < 480; ++k) (void)vy_bodies_step(b);
    const vy_body_state s = state_of(b, rolling);
    assert_true(s.velocity.x > 0.2);
    assert_near(s.rate.y * 0.1, s.velocity.x, 2e-3); // it rolls
    assert_near(state_of(b, driven).rate.y, -2.0 * s.rate.y, 1e-6 * (1.0 + fabs(s.rate.y)));
    assert_near(joint_of(b, gear).turned[0] + 0.5 * joint_of(b, gear).turned[1], 0.0, 1e-8);
    vy_bodies_destroy(b);
}

static void mistakes_are_refused(void **unused)
{
    (void)unused;
    train t = train_of(1e-3, 3.0);
    static const double ratios[] = {0.0, NOT_A_NUMBER, INFINITE, 1e-310};
    vy_joint_def def = vy_default_joint_def();
    vy_error err;
    def.kind = VY_JOINT_GEAR;
    def.body_a = t.x;
    def.body_b = t.y;
    for (int k = 0; k < 4; ++k) {
        def.ratio = ratios[k];
        assert_int_equal(vy_bodies_add_joint(t.b, &def, NULL, &err), VY_BAD_VALUE);
        assert_non_null(strstr(err.text, "ratio of a gear"));
    }
    def.ratio = 1.0;
    def.axis_a = across; // along the line of centres
    assert_int_equal(vy_bodies_add_joint(t.b, &def, NULL, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "must be apart, and none on the axis"));
    def.axis_a = tilted;
    def.anchor_b = vec3_scale(-0.5, across);
    assert_int_equal(vy_bodies_add_joint(t.b, &def, NULL, &err), VY_BAD_VALUE);
    vy_bodies_destroy(t.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ratio_holds_over_100_turns), cmocka_unit_test(the_frame_takes_the_reaction),
        cmocka_unit_test(a_planet_obeys_willis),        cmocka_unit_test(bevel_gears_turn_a_corner),
        cmocka_unit_test(fast_gears_lose_no_turn),      cmocka_unit_test(turns_are_state),
        cmocka_unit_test(random_trains_gain_nothing),   cmocka_unit_test(they_turn_among_contacts),
        cmocka_unit_test(mistakes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
