// test_joint_drives.c - servos: drives to a position with a torque limit.
#include "contact_sets.h"
#include <string.h>

static vy_bodies *flying_set(double g)
{
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b = NULL;
    def.gravity = vec3_make(0.0, 0.0, -g);
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    return b;
}

#define MASS   1.5
#define LENGTH 0.4
#define HALF   0.05
#define ABOUT  (MASS * (LENGTH * LENGTH + 2.0 / 3.0 * HALF * HALF)) // inertia about the hinge

typedef struct arm {
    vy_bodies *b;
    vy_body_id id;
    vy_joint_id hinge;
} arm;

static vy_joint_def servo_def(vy_joint_kind kind, double stiffness, double gain, double target, double most)
{
    vy_joint_def def = vy_default_joint_def();
    def.kind = kind;
    def.motor_stiffness = stiffness;
    def.motor_gain = gain;
    def.motor_target = target;
    def.max_motor_torque = most;
    return def;
}

// An arm that hangs from the origin, `angle` away from the vertical, about an axis of none of the world's;
// its servo counts from there.
static arm hang(double g, double angle, double stiffness, double gain, double target, double most)
{
    arm a = {.b = flying_set(g)};
    const vy_shape shape = box(HALF, HALF, HALF);
    const vy_vec3 axis = vec3_make(0.6, 0.8, 0.0), side = vec3_make(-0.8, 0.6, 0.0);
    vy_body_def body = vy_default_body_def();
    body.shape = &shape;
    body.mass = MASS;
    body.state.position = vec3_add_scaled(vec3_make(0, 0, -LENGTH * cos(angle)), LENGTH * sin(angle), side);
    assert_int_equal(vy_bodies_add(a.b, &body, &a.id, NULL), VY_OK);
    vy_joint_def def = servo_def(VY_JOINT_HINGE, stiffness, gain, target, most);
    assert_int_equal(vy_joint_set_frames(a.b, VY_NULL_BODY, a.id, vec3_zero(), axis, &def), VY_OK);
    vy_error err = {0};
    if (vy_bodies_add_joint(a.b, &def, &a.hinge, &err) != VY_OK) fail_msg("%s", err.text);
    return a;
}

static vy_joint_state state_of(const vy_bodies *b, vy_joint_id id)
{
    vy_joint_state s;
    assert_int_equal(vy_joint_read(b, id, &s), VY_OK);
    return s;
}

static void run(vy_bodies *b, int steps)
{
    for (int k = 0; k < steps; ++k) assert_int_equal(vy_bodies_step(b), 0);
}

// What holds an arm at an angle is m g l sin(angle): with a limit of that it stays, with less it falls, and
// at first as fast as what is missing says.
static void a_servo_holds_up_to_its_limit(void **unused)
{
    (void)unused;
    for (int k = 1; k < 12; ++k) {
        const double angle = 0.25 * k, load = MASS * G * LENGTH * sin(angle), stiffness = 200.0;
        const double target = load / stiffness; // outwards is positive
        arm strong = hang(G, angle, stiffness, 5.0, target, load * (1.0 + 1e-9));
        if (fabs(state_of(strong.b, strong.hinge).angle) > 0.0) fail_msg("starts at 0");
        run(strong.b, 2000);
        assert_near(state_of(strong.b, strong.hinge).angle, 0.0, 1e-9);
        assert_near(state_of(strong.b, strong.hinge).rate, 0.0, 1e-9);
        vy_bodies_destroy(strong.b);
        const double missing = 1e-4;
        arm weak = hang(G, angle, stiffness, 5.0, target, load * (1.0 - missing));
        run(weak.b, 100);
        const double fallen = 0.5 * missing * load / ABOUT * 0.01;
        assert_near(state_of(weak.b, weak.hinge).angle, -fallen, 2e-2 * fallen);
        vy_bodies_destroy(weak.b);
        arm broken = hang(G, angle, stiffness, 5.0, target, 0.2 * load);
        run(broken.b, 200);
        assert_true(-state_of(broken.b, broken.hinge).angle > 0.05);
        vy_bodies_destroy(broken.b);
    }
}

// Below its limit it is a spring and a damper: the step response of a damped oscillator.
static void below_its_limit_it_is_an_oscillator(void **unused)
{
    (void)unused;
    const double stiffness = 60.0, gain = 1.2, target = 0.7;
    arm a = hang(0.0, 0.3, stiffness, gain, target, 1e3);
    const double decay = 0.5 * gain / ABOUT, w = sqrt(stiffness / ABOUT - decay * decay);
    for (int k = 1; k <= 1000; ++k) {
        run(a.b, 1);
        const double t = k * 1e-3, left = target * exp(-decay * t) * (cos(w * t) + decay / w * sin(w * t));
        assert_near(state_of(a.b, a.hinge).angle, target - left, 1e-9);
    }
    vy_bodies_destroy(a.b);
}

// Where it is saturated its torque is constant: a parabola; then it comes to rest at the target.
static void at_its_limit_its_torque_is_constant(void **unused)
{
    (void)unused;
    const double most = 0.5;
    arm a = hang(0.0, 0.3, 5.0, 5.0, 1.5, most);
    run(a.b, 300);
    assert_near(state_of(a.b, a.hinge).angle, 0.5 * most / ABOUT * 0.09, 1e-9);
    assert_near(vec3_length(state_of(a.b, a.hinge).torque), most, 1e-9);
    run(a.b, 20000);
    assert_near(state_of(a.b, a.hinge).angle, 1.5, 1e-6);
    vy_bodies_destroy(a.b);
}

// A lift on a slider carries m g and no more.
static void a_slider_lifts_what_its_force_allows(void **unused)
{
    (void)unused;
    for (int strong = 0; strong < 2; ++strong) {
        vy_bodies *b = flying_set(G);
        const vy_shape shape = box(0.1, 0.1, 0.1);
        const vy_body_id load = add(b, VY_BODY_DYNAMIC, &shape, 2.0, vec3_zero(), vec3_zero(), surface(0, 0));
        vy_joint_def def = servo_def(VY_JOINT_SLIDER, 400.0, 80.0, 0.5, 2.0 * G + (strong ? 1.0 : -1.0));
        vy_joint_id joint;
        assert_int_equal(vy_joint_set_frames(b, VY_NULL_BODY, load, vec3_zero(), vec3_make(0, 0, 1), &def),
                         VY_OK);
        assert_int_equal(vy_bodies_add_joint(b, &def, &joint, NULL), VY_OK);
        run(b, 400);
        assert_near(read(b, load).position.z, (strong ? 0.5 : -0.5) * 0.5 * 0.16, 1e-9);
        run(b, 8000);
        if (strong) assert_near(read(b, load).position.z, 0.5 - 2.0 * G / 400.0, 1e-6);
        vy_bodies_destroy(b);
    }
}

// Of a joint that turns on and on the target is where the shorter way leads.
static void it_goes_the_shorter_way_round(void **unused)
{
    (void)unused;
    arm a = hang(0.0, 0.3, 60.0, 8.0, 3.0, 1e3);
    run(a.b, 4000);
    assert_near(state_of(a.b, a.hinge).angle, 3.0, 1e-6);
    assert_int_equal(vy_joint_set_target(a.b, a.hinge, -3.0), VY_OK);
    double least = 3.2;
    for (int k = 0; k < 4000; ++k) {
        run(a.b, 1);
        least = fmin(least, fabs(state_of(a.b, a.hinge).angle));
    }
    assert_true(least > 2.9);
    assert_near(state_of(a.b, a.hinge).angle, -3.0, 1e-6);
    assert_int_equal(vy_joint_set_target(a.b, a.hinge, -3.0 + 40.0 * PI), VY_OK);
    run(a.b, 500);
    assert_near(state_of(a.b, a.hinge).angle, -3.0, 1e-6);
    vy_bodies_destroy(a.b);
}

// Among contacts: an arm that is pressed onto the ground pushes with its weight and torque over length.
static void it_presses_on_the_ground(void **unused)
{
    (void)unused;
    vy_bodies *b = new_set(1.0 / 240.0, G, 0);
    const vy_shape floor = plane(vec3_make(0, 0, 1)), tip = ball(0.1);
    (void)add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.0, 0.0));
    const vy_body_id id =
        add(b, VY_BODY_DYNAMIC, &tip, 1.0, vec3_make(0.5, 0, 0.1), vec3_zero(), surface(0, 0));
    const double most = 3.0, h = 1.0 / 240.0;
    vy_joint_def def = servo_def(VY_JOINT_HINGE, 400.0, 1.0, 1.0, most); // about y: x turns down
    vy_joint_id joint;
    assert_int_equal(vy_joint_set_frames(b, VY_NULL_BODY, id, vec3_make(0, 0, 0.1), vec3_make(0, 1, 0), &def),
                     VY_OK);
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, NULL), VY_OK);
    for (int k = 0; k < 240; ++k) (void)vy_bodies_step(b);
    vy_contact_report r;
    assert_int_equal(vy_bodies_contact_count(b), 1);
    assert_int_equal(vy_bodies_contact(b, 0, &r), VY_OK);
    assert_near(vec3_length(r.impulse) / h, G + most / 0.5, 1e-2);
    assert_int_equal(vy_joint_set_target(b, joint, -0.5), VY_OK); // and lifts off: 3 N m are less than m g l
    for (int k = 0; k < 60; ++k) (void)vy_bodies_step(b);
    assert_int_equal(vy_bodies_contact(b, 0, &r), VY_OK);
    assert_near(vec3_length(r.impulse) / h, G - most / 0.5, 1e-2);
    vy_bodies_destroy(b);
}

// The target is state, in the hash and in snapshots, where there is one; it wakes.
static void the_target_is_state(void **unused)
{
    (void)unused;
    arm a = hang(G, 0.5, 100.0, 5.0, 0.1, 20.0), plain = hang(G, 0.5, 0.0, 5.0, 0.0, 20.0);
    size_t size, plain_size;
    free(snapshot_of(plain.b, &plain_size));
    run(a.b, 100);
    void *block = snapshot_of(a.b, &size);
    assert_int_equal(size, plain_size + sizeof(double)); // and nothing where there is none
    const uint64_t before = vy_bodies_hash(a.b);
    assert_int_equal(vy_joint_set_target(a.b, a.hinge, 0.3), VY_OK);
    assert_true(vy_bodies_hash(a.b) != before);
    run(a.b, 100);
    const uint64_t after = vy_bodies_hash(a.b);
    assert_int_equal(vy_bodies_restore(a.b, block, size, NULL), VY_OK);
    assert_true(vy_bodies_hash(a.b) == before);
    run(a.b, 100);
    assert_true(vy_bodies_hash(a.b) != after);
    assert_int_equal(vy_bodies_restore(a.b, block, size, NULL), VY_OK);
    assert_int_equal(vy_joint_set_target(a.b, a.hinge, 0.3), VY_OK);
    run(a.b, 100);
    assert_true(vy_bodies_hash(a.b) == after);
    free(block);
    assert_int_equal(vy_bodies_remove_joint(a.b, a.hinge), VY_OK);
    free(snapshot_of(a.b, &plain_size));
    assert_true(plain_size < size);
    vy_bodies_destroy(a.b);
    vy_bodies_destroy(plain.b);
}

static void mistakes_are_refused(void **unused)
{
    (void)unused;
    arm a = hang(G, 0.5, 100.0, 5.0, 0.1, 20.0), plain = hang(G, 0.5, 0.0, 5.0, 0.0, 20.0);
    assert_int_equal(vy_joint_set_target(a.b, a.hinge, NOT_A_NUMBER), VY_BAD_VALUE);
    assert_int_equal(vy_joint_set_target(a.b, VY_NULL_JOINT, 0.0), VY_NOT_FOUND);
    assert_int_equal(vy_joint_set_target(plain.b, plain.hinge, 0.0), VY_BAD_VALUE);
    static const struct {
        vy_joint_kind kind;
        double stiffness, target;
        const char *says;
    } bad[] = {{VY_JOINT_HINGE, -1.0, 0.0, "a servo's stiffness and target must be finite"},
               {VY_JOINT_HINGE, NOT_A_NUMBER, 0.0, "a servo's stiffness and target must be finite"},
               {VY_JOINT_SLIDER, 1.0, INFINITE, "a servo's stiffness and target must be finite"},
               {VY_JOINT_BALL, 1.0, 0.0, "a ball joint has no motor"}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k) {
        vy_joint_def def = servo_def(bad[k].kind, bad[k].stiffness, 1.0, bad[k].target, 1.0);
        vy_error err;
        def.body_b = a.id;
        assert_int_equal(vy_bodies_add_joint(a.b, &def, NULL, &err), VY_BAD_VALUE);
        if (strstr(err.text, bad[k].says) == NULL) fail_msg("%s", err.text);
    }
    vy_bodies_destroy(a.b);
    vy_bodies_destroy(plain.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_servo_holds_up_to_its_limit),
        cmocka_unit_test(below_its_limit_it_is_an_oscillator),
        cmocka_unit_test(at_its_limit_its_torque_is_constant),
        cmocka_unit_test(a_slider_lifts_what_its_force_allows),
        cmocka_unit_test(it_goes_the_shorter_way_round),
        cmocka_unit_test(it_presses_on_the_ground),
        cmocka_unit_test(the_target_is_state),
        cmocka_unit_test(mistakes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
