// test_impacts_joined.c - continuous collision of bodies on joints, and of
// VY_CONTACT_SOLVER_IMPULSE: nothing passes through anything, however fast it swings.
//
// VOLERY_SWINGS=1000 makes as many of each kind instead of the slice that the
// suite takes.
#include "contact_sets.h"
#include "dynamics/impacts.h"
#include <stdlib.h>

enum { SLICE = 24 };

static int swings(void)
{
    const char *n = getenv("VOLERY_SWINGS");
    return n != NULL ? atoi(n) : SLICE;
}

static const double steps[2] = {1.0 / 60.0, 1e-3};
static const double walls[2] = {0.002, 0.005};

static vy_bodies *set_for(double dt, vy_contact_solver solver)
{
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b = NULL;
    def.dt = dt;
    def.gravity = vec3_zero();
    def.contacts =
        solver == VY_CONTACT_SOLVER_IMPULSE ? vy_impulse_contacts_def() : vy_default_contacts_def();
    def.contacts.on = 1;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    return b;
}

// A body that turns about the world's z axis through the origin, its middle
// `arm` away along x.
static vy_body_id swing(vy_bodies *b, const vy_shape *shape, vy_joint_kind kind, double arm, double rate,
                        double mass)
{
    vy_body_def def = vy_default_body_def();
    vy_body_id id;
    def.shape = shape;
    def.mass = mass;
    def.state.position = vec3_make(arm, 0.0, 0.0);
    def.state.rate = vec3_make(0.0, 0.0, rate);
    def.state.velocity = vec3_make(0.0, arm * rate, 0.0);
    assert_int_equal(vy_bodies_add(b, &def, &id, NULL), VY_OK);
    vy_joint_def joint = vy_default_joint_def();
    joint.kind = kind;
    joint.length = arm;
    assert_int_equal(vy_joint_set_frames(b, VY_NULL_BODY, id, vec3_zero(), vec3_make(0.0, 0.0, 1.0), &joint),
                     VY_OK);
    if (vy_joint_has(kind, VY_JOINT_HAS_LENGTH)) joint.anchor_b = vec3_zero();
    assert_int_equal(vy_bodies_add_joint(b, &joint, NULL, NULL), VY_OK);
    return id;
}

// [rad] Of a place about the z axis.
static double angle_of(vy_vec3 p) { return atan2(p.y, p.x); }

// A bob or a blade that swings into a thin wall across its way stays on its
// side, with all times shortened by a factor.
static void swing_into_wall(random_source *r, int n, vy_contact_solver solver, double quicker, int *passed,
                            int *ended, double *more)
{
    static const vy_joint_kind kinds[] = {VY_JOINT_BALL, VY_JOINT_HINGE, VY_JOINT_DISTANCE, VY_JOINT_CABLE};
    const vy_joint_kind kind = kinds[n % 4];
    const double dt = steps[n / 4 % 2] / quicker, wall = walls[n / 8 % 2];
    const double rate = quicker * exp(random_in(r, log(5.0), log(200.0))), arm = random_in(r, 0.2, 1.0),
                 at = random_in(r, 0.5, 3.0);
    vy_bodies *b = set_for(dt, solver);
    const int blade = n % 3 == 0 && kind != VY_JOINT_DISTANCE && kind != VY_JOINT_CABLE;
    const vy_shape shape = blade ? box(0.9 * arm, 0.01, 0.03) : ball(0.03);
    const vy_body_id id = swing(b, &shape, kind, arm, rate, 0.5);
    const vy_shape sheet = box(0.1, 0.5 * wall, 0.3); // across the way, its middle at the arm's end
    vy_body_def def = vy_default_body_def();
    def.kind = VY_BODY_STATIC;
    def.shape = &sheet;
    def.state.attitude = (vy_quat){cos(0.5 * at), 0.0, 0.0, sin(0.5 * at)};
    def.state.position = vec3_make(arm * cos(at), arm * sin(at), 0.0);
    assert_int_equal(vy_bodies_add(b, &def, NULL, NULL), VY_OK);
    const double start = vy_bodies_read_energy(b).kinetic;
    double last = 0.0, turned = 0.0;
    int through = 0;
    for (int k = 0; k < (int)(0.3 / (quicker * dt)) && !through; ++k) {
        const uint32_t events = vy_bodies_step(b);
        if (events & VY_BODIES_NOT_FINITE) {
            *ended += 1;
            break;
        }
        *more = fmax(*more, vy_bodies_read_energy(b).kinetic / start);
        const vy_vec3 p = read(b, id).position;
        turned += remainder(angle_of(p) - last, 2.0 * PI);
        last = angle_of(p);
        // What comes back from the other side is stopped there: it has turned by
        // less than a circle.
        through = turned > at || turned < at - 2.0 * PI;
    }
    if (through)
        print_message("kind %d blade %d dt %g wall %g rate %g arm %g at %g: %g\n", (int)kind, blade, dt, wall,
                      rate, arm, at, turned);
    *passed += through;
    vy_bodies_destroy(b);
}

static void swings_stop_at_walls(void **unused)
{
    (void)unused;
    random_source r = {21};
    int passed = 0, ended = 0;
    double more = 0.0;
    for (int n = 0; n < 2 * swings(); ++n)
        swing_into_wall(&r, n, VY_CONTACT_SOLVER_SOFT, 1.0, &passed, &ended, &more);
    print_message("%d swings: %d passed, %d ended, energy at most %.3f of that at the start\n", 2 * swings(),
                  passed, ended, more);
    assert_int_equal(passed, 0);
    assert_int_equal(ended, 0);
    assert_true(more < 1.05);
}

// What takes a thousandth of the time goes the same way in steps a thousandth as long.
static void quick_swings_stop_at_walls(void **unused)
{
    (void)unused;
    random_source r = {21};
    int passed = 0, ended = 0;
    double more = 0.0;
    for (int n = 0; n < 2 * swings(); ++n)
        swing_into_wall(&r, n, VY_CONTACT_SOLVER_SOFT, 1e3, &passed, &ended, &more);
    print_message("%d quick swings: %d passed, %d ended, energy at most %.3f of that at the start\n",
                  2 * swings(), passed, ended, more);
    assert_int_equal(passed, 0);
    assert_int_equal(ended, 0);
    assert_true(more < 1.05);
}

static void swings_stop_at_walls_by_impulses(void **unused)
{
    (void)unused;
    random_source r = {22};
    int passed = 0, ended = 0;
    double more = 0.0;
    for (int n = 0; n < 2 * swings(); ++n)
        swing_into_wall(&r, n, VY_CONTACT_SOLVER_IMPULSE, 1.0, &passed, &ended, &more);
    print_message("%d swings: %d passed, %d ended, energy at most %.3f of that at the start\n", 2 * swings(),
                  passed, ended, more);
    assert_int_equal(passed, 0);
    assert_int_equal(ended, 0);
    assert_true(more < 1.05);
}

// A blade on a hinge, free or turned by a motor, hits a ball that lies in its
// way.
static void blade_meets_ball(random_source *r, int n, vy_contact_solver solver, int *missed)
{
    const double dt = steps[n % 2], rate = exp(random_in(r, log(10.0), log(200.0))),
                 at = random_in(r, 0.5, 5.5), out = random_in(r, 0.1, 0.7);
    vy_bodies *b = set_for(dt, solver);
    const vy_shape blade = box(0.4, 0.005, 0.02), small = ball(0.02);
    const vy_body_id id = swing(b, &blade, VY_JOINT_HINGE, 0.4, rate, 2.0);
    (void)id;
    vy_material even = vy_default_material();
    const vy_body_id target = add(b, VY_BODY_DYNAMIC, &small, 0.05,
                                  vec3_make(out * cos(at), out * sin(at), 0.0), vec3_zero(), even);
    double fastest = 0.0;
    for (int k = 0; k < (int)(8.0 / rate / dt) + 2; ++k) {
        assert_int_equal(vy_bodies_step(b) & VY_BODIES_NOT_FINITE, 0);
        fastest = fmax(fastest, vec3_length(read(b, target).velocity));
    }
    if (fastest == 0.0) print_message("dt %g rate %g at %g out %g: missed\n", dt, rate, at, out);
    *missed += fastest == 0.0;
    vy_bodies_destroy(b);
}

static void blades_on_hinges_do_not_miss(void **unused)
{
    (void)unused;
    random_source r = {23};
    int missed = 0;
    for (int n = 0; n < swings(); ++n) blade_meets_ball(&r, n, VY_CONTACT_SOLVER_SOFT, &missed);
    for (int n = 0; n < swings(); ++n) blade_meets_ball(&r, n, VY_CONTACT_SOLVER_IMPULSE, &missed);
    assert_int_equal(missed, 0);
}

// Throws without joints, solved by impulses.
static void throws_by_impulses_do_not_pass(void **unused)
{
    (void)unused;
    random_source r = {24};
    int passed = 0;
    for (int n = 0; n < 4 * swings(); ++n) {
        const double dt = steps[n % 2], wall = walls[n / 2 % 2],
                     speed = exp(random_in(&r, log(1.0), log(200.0)));
        vy_bodies *b = set_for(dt, VY_CONTACT_SOLVER_IMPULSE);
        const vy_shape sheet = box(0.5 * wall, 2.0, 2.0);
        vy_shape shape;
        if (n % 3 == 0) shape = ball(0.03);
        if (n % 3 == 1) shape = box(0.05, 0.02, 0.01);
        if (n % 3 == 2) assert_int_equal(vy_shape_capsule(0.03, 0.01, &shape, NULL), VY_OK);
        add(b, VY_BODY_STATIC, &sheet, 1.0, vec3_zero(), vec3_zero(), vy_default_material());
        vy_body_def def = vy_default_body_def();
        vy_body_id id;
        def.shape = &shape;
        def.mass = 0.3;
        def.material.restitution = random_in(&r, 0.0, 1.0);
        def.state.position = vec3_make(-0.3, 0.0, 0.0);
        def.state.velocity = vec3_make(speed, 0.0, 0.0);
        def.state.attitude = random_attitude(&r);
        def.state.rate = random_vec(&r, 50.0);
        assert_int_equal(vy_bodies_add(b, &def, &id, NULL), VY_OK);
        int through = 0;
        for (int k = 0; k < (int)(1.0 / speed / dt) + 3 && !through; ++k) {
            vy_bodies_step(b);
            through = read(b, id).position.x > 0.5 * wall;
        }
        if (through) print_message("shape %d dt %g wall %g speed %g\n", n % 3, dt, wall, speed);
        passed += through;
        vy_bodies_destroy(b);
    }
    assert_int_equal(passed, 0);
}

// Two links, the outer one whirling: neither path is an arc about a point that
// stands.
static void chains_stop_at_walls(void **unused)
{
    (void)unused;
    random_source r = {25};
    double more = 0.0;
    int passed = 0, missed = 0;
    for (int n = 0; n < swings(); ++n) {
        const double dt = steps[n % 2], wall = walls[n / 2 % 2],
                     rate = exp(random_in(&r, log(5.0), log(200.0)));
        vy_bodies *b = set_for(dt, VY_CONTACT_SOLVER_SOFT);
        const vy_shape bob = ball(0.03), sheet = box(2.0, 0.5 * wall, 2.0);
        const vy_body_id first = swing(b, &bob, VY_JOINT_BALL, 0.4, rate, 1.0);
        vy_body_def def = vy_default_body_def();
        vy_body_id second;
        def.shape = &bob;
        def.mass = 1.0;
        def.state.position = vec3_make(0.8, 0.0, 0.0);
        def.state.velocity = vec3_make(0.0, 0.8 * rate, 0.0);
        def.state.rate = vec3_make(0.0, 0.0, rate);
        assert_int_equal(vy_bodies_add(b, &def, &second, NULL), VY_OK);
        vy_joint_def joint = vy_default_joint_def();
        joint.kind = VY_JOINT_BALL;
        assert_int_equal(
            vy_joint_set_frames(b, first, second, vec3_make(0.4, 0.0, 0.0), vec3_make(0.0, 0.0, 1.0), &joint),
            VY_OK);
        assert_int_equal(vy_bodies_add_joint(b, &joint, NULL, NULL), VY_OK);
        const double y = random_in(&r, 0.1, 0.7); // an endless sheet across both ways
        add(b, VY_BODY_STATIC, &sheet, 1.0, vec3_make(0.0, y, 0.0), vec3_zero(), vy_default_material());
        const double start = vy_bodies_read_energy(b).kinetic;
        int through = 0, touched = 0;
        for (int k = 0; k < (int)(0.3 / dt) + 20 && !through; ++k) {
            assert_int_equal(vy_bodies_step(b) & VY_BODIES_NOT_FINITE, 0);
            touched |= vy_bodies_contact_count(b) > 0;
            more = fmax(more, vy_bodies_read_energy(b).kinetic / start);
            through = read(b, first).position.y > y || read(b, second).position.y > y;
        }
        if (through) print_message("n %d dt %g wall %g rate %g y %g\n", n, dt, wall, rate, y);
        passed += through;
        missed += !touched;
        vy_bodies_destroy(b);
    }
    print_message("%d passed, %d missed, energy at most %.3f of that at the start\n", passed, missed, more);
    assert_int_equal(passed, 0);
    assert_int_equal(missed, 0);
    assert_true(more < 1.05);
}

// A body that a joint leads along an arc is off the chord, which its path is taken for, by no more than is
// said of it: on a circle of 1 m by 1 - cos(angle / 2), of up to nearly a whole turn in a step.
static void arcs_deviate_as_is_said(void **unused)
{
    (void)unused;
    const double h = 1e-3;
    vy_bodies *b = set_for(h, VY_CONTACT_SOLVER_SOFT);
    const vy_shape round = ball(0.1);
    vy_joint_def rod = vy_default_joint_def();
    rod.kind = VY_JOINT_DISTANCE;
    rod.length = 1.0;
    rod.body_b = add(b, VY_BODY_DYNAMIC, &round, 1.0, vec3_make(1, 0, 0), vec3_zero(), surface(0, 0));
    assert_int_equal(vy_bodies_add_joint(b, &rod, NULL, NULL), VY_OK);
    step(b, 1);
    for (double angle = 0.05; angle < 6.2; angle += 0.05) {
        const double c = cos(angle), s = sin(angle), speed = angle / h;
        b->contacts->start_state[0] = (vy_body_state){
            .position = vec3_make(1, 0, 0), .velocity = vec3_make(0, speed, 0), .attitude = {1, 0, 0, 0}};
        b->state[0] = (vy_body_state){.position = vec3_make(c, s, 0),
                                      .velocity = vec3_make(-s * speed, c * speed, 0),
                                      .attitude = {1, 0, 0, 0}};
        const vy_sweep_path p = vy_impact_path(b, 0, h);
        const double said = vy_impact_path_deviation(b, 0, &p, h);
        assert_near(vec3_length(p.displacement), 2.0 * sin(0.5 * angle), 1e-12);
        assert_true(said >= 1.0 - cos(0.5 * angle) && said < 0.5 * angle * angle + angle);
    }
    vy_bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swings_stop_at_walls),         cmocka_unit_test(swings_stop_at_walls_by_impulses),
        cmocka_unit_test(blades_on_hinges_do_not_miss), cmocka_unit_test(throws_by_impulses_do_not_pass),
        cmocka_unit_test(quick_swings_stop_at_walls),   cmocka_unit_test(chains_stop_at_walls),
        cmocka_unit_test(arcs_deviate_as_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
