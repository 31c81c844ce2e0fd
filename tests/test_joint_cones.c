// test_joint_cones.c - limits of the swing and of the twist of ball joints.
#include "joint_sets.h"
#include "base/real.h"
#include <stdlib.h>
#include <string.h>

static const double rod_half = 0.2, rod_mass = 0.6;

/// A rod that points from the origin along `way` on a ball joint whose cone is about `axis`.
static vy_body_id add_rod(vy_bodies *b, vy_vec3 way, vy_vec3 axis, vy_joint_def *def, vy_joint_id *joint)
{
    const vy_vec3 z = {0, 0, 1}, n = vec3_cross(z, way);
    const double sine = vec3_length(n), angle = atan2(sine, vec3_dot(z, way));
    const vy_vec3 about = sine > 0.0 ? vec3_scale(sin(0.5 * angle) / sine, n) : (vy_vec3){0, 0, 0};
    vy_body_state s = standing(0, 0, 0);
    s.position = vec3_scale(rod_half, way);
    s.attitude = (vy_quat){cos(0.5 * angle), about.x, about.y, about.z};
    const vy_body_id id = add_box(b, rod_mass, (vy_vec3){0.02, 0.02, rod_half}, s);
    def->kind = VY_JOINT_BALL;
    def->body_b = id;
    def->anchor_b = (vy_vec3){0, 0, -rod_half};
    def->axis_a = axis;
    def->axis_b = z;
    vy_error err = {0};
    if (vy_bodies_add_joint(b, def, joint, &err) != VY_OK) fail_msg("%s", err.text);
    return id;
}

// A pendulum that falls onto its cone stops there, without rebound, and what it loses is the speed out of it;
// it goes on round the cone.
static void a_pendulum_swings_round_its_cone(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(G);
    vy_joint_def def = vy_default_joint_def();
    vy_joint_id joint;
    def.cone = 0.8;
    const vy_vec3 axis = {0.48, 0.6, 0.64};
    const vy_body_id id = add_rod(b, axis, axis, &def, &joint);
    vy_body_apply_angular_impulse(b, id, (vy_vec3){0.01, -0.004, 0.0}, VY_FRAME_BODY);
    double energy = total_energy(b);
    int reached = 0;
    for (int k = 0; k < 8000; ++k) {
        run(b, 1);
        const vy_joint_state s = joint_of(b, joint);
        assert_true(s.swing <= def.cone + 1e-8);
        if (s.active) assert_near(s.swing, def.cone, 1e-8);
        assert_true(s.gap < 1e-12);
        const double now = total_energy(b);
        assert_true(now <= energy + 1e-8);
        energy = now;
        if (s.active && !reached) reached = k;
    }
    assert_true(reached > 50);
    vy_bodies_destroy(b);
}

// On a cone about a level axis a body is a pendulum: with the rod's inertia I about the tip, the azimuth f
// obeys I sin^2 f'' = -m g l sin cos... as the closed form of a plane pendulum of length l / sin has it, for
// a rod that does not twist. Small swings about the lowest place: w^2 = m g l sin(cone) / (I sin^2(cone)).
static void its_period_on_the_cone(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(G);
    vy_joint_def def = vy_default_joint_def();
    vy_joint_id joint;
    def.cone = 0.6;
    const double turn = 0.02; // from the lowest place
    const vy_vec3 way = {cos(def.cone), sin(def.cone) * sin(turn), -sin(def.cone) * cos(turn)};
    const vy_body_id id = add_rod(b, way, (vy_vec3){1, 0, 0}, &def, &joint);
    const double square = 0.02 * 0.02, about_axis = rod_mass * 2.0 / 3.0 * square,
                 across = rod_mass * (rod_half * rod_half * 4.0 / 3.0 + square / 3.0);
    // It rolls on the cone without twist: about the cone's axis by f', about itself by -f' cos: so it turns
    // by f' sin across alone.
    (void)about_axis;
    const double w = sqrt(rod_mass * G * rod_half * sin(def.cone) / (across * sin(def.cone) * sin(def.cone)));
    double before = 1.0, first = 0.0;
    int crossings = 0;
    for (int k = 0; k < 6000; ++k) {
        run(b, 1);
        const vy_vec3 p = state_of(b, id).position;
        assert_int_equal(joint_of(b, joint).active, 1);
        if (p.y <= 0.0 && before > 0.0) {
            const double t = vy_bodies_time(b) - 1e-3 * p.y / (p.y - before);
            if (crossings == 0) first = t;
            if (crossings == 3)
                assert_near((t - first) / 3.0, 2.0 * PI / w * (1.0 + turn * turn / 16.0), 2e-4);
            ++crossings;
        }
        before = p.y;
    }
    assert_true(crossings >= 4);
    vy_bodies_destroy(b);
}

// A twist is the angle of a hinge where nothing swings, and stops at its limits as a hinge does.
static void a_twist_stops_at_its_limits(void **unused)
{
    (void)unused;
    const vy_vec3 axis = {0, 0.6, 0.8};
    double end[2][2];
    for (int hinge = 1; hinge >= 0; --hinge) {
        vy_bodies *b = set_of(0.0);
        vy_joint_def def = vy_default_joint_def();
        vy_joint_id joint;
        def.cone = hinge ? 0.0 : 1.0;
        def.limited = 1;
        def.low = -0.3;
        def.high = 0.5;
        vy_body_id id;
        if (hinge) {
            vy_joint_def ball = vy_default_joint_def();
            ball.cone = 1.0;
            id = add_rod(b, axis, axis, &ball, &joint);
            assert_int_equal(vy_bodies_remove_joint(b, joint), VY_OK);
            ball.kind = VY_JOINT_HINGE;
            ball.cone = 0.0;
            ball.limited = 1;
            ball.low = -0.3;
            ball.high = 0.5;
            assert_int_equal(vy_bodies_add_joint(b, &ball, &joint, NULL), VY_OK);
        } else {
            id = add_rod(b, axis, axis, &def, &joint);
        }
        const double spin = 2e-4 / (rod_mass * 2.0 / 3.0 * 4e-4);
        vy_body_apply_angular_impulse(b, id, (vy_vec3){0, 0, 2e-4}, VY_FRAME_BODY);
        for (int k = 0; k < 600; ++k) {
            run(b, 1);
            const double t = (k + 1) * 1e-3;
            assert_near(joint_of(b, joint).angle, fmin(spin * t, 0.5), 1e-8);
        }
        vy_body_apply_angular_impulse(b, id, (vy_vec3){0, 0, -1e-4}, VY_FRAME_BODY);
        run(b, 900);
        end[hinge][0] = joint_of(b, joint).angle;
        assert_near(end[hinge][0], 0.5 - 0.5 * spin * 0.9 < -0.3 ? -0.3 : 0.5 - 0.5 * spin * 0.9, 1e-8);
        vy_bodies_destroy(b);
    }
    assert_near(end[0][0], end[1][0], 1e-9);
}

// The rate that is read is the slope of the twist, at any swing; and so is the row's.
static void the_rate_is_the_slope_of_the_twist(void **unused)
{
    (void)unused;
    random_source r = {77};
    for (int n = 0; n < 40; ++n) {
        vy_joint_def def = vy_default_joint_def();
        vy_joint_id joint;
        def.cone = 2.8;
        const vy_vec3 axis = random_vec(&r, 1.0);
        vy_vec3 way = random_vec(&r, 1.0);
        way = vec3_scale(1.0 / vec3_length(way), way);
        if (vec3_dot(way, axis) < -0.9 * vec3_length(axis)) continue;
        vy_bodies *b = set_of(0.0);
        const vy_body_id id = add_rod(b, way, axis, &def, &joint);
        assert_near(joint_of(b, joint).angle, 0.0, 1e-12); // it counts from here
        vy_body_apply_angular_impulse(b, id, random_vec(&r, 0.004), VY_FRAME_BODY);
        run(b, 20);
        for (int k = 0; k < 30; ++k) {
            const vy_joint_state s0 = joint_of(b, joint);
            run(b, 1);
            const vy_joint_state s1 = joint_of(b, joint);
            const double change =
                s1.angle - s0.angle - 2.0 * PI * floor((s1.angle - s0.angle) / (2.0 * PI) + 0.5);
            if (s0.active || s1.active) continue; // it stops within the step
            assert_near(change / 1e-3, 0.5 * (s0.rate + s1.rate), 1e-3 * (1.0 + fabs(s0.rate)));
        }
        vy_bodies_destroy(b);
    }
}

// Random chains with cones and twists, thrown: energy does not grow, momentum stays.
static void random_chains_gain_nothing(void **unused)
{
    (void)unused;
    random_source r = {5};
    for (int n = 0; n < 30; ++n) {
        vy_bodies *b =
            set_with(1.0 / 240.0, n % 2 ? G : 0.0, n % 3 ? VY_INTEGRATOR_RK4 : VY_INTEGRATOR_LIE_MIDPOINT);
        vy_body_id ids[5];
        vy_joint_id joints[4];
        for (int k = 0; k < 5; ++k)
            ids[k] = add_box(b, random_in(&r, 0.1, 1.0), (vy_vec3){0.1, 0.04, 0.06}, standing(0.3 * k, 0, 0));
        for (int k = 0; k < 4; ++k) {
            vy_joint_def def = vy_default_joint_def();
            def.kind = VY_JOINT_BALL;
            def.cone = random_in(&r, 0.1, 2.5);
            def.limited = (int)(random_bits(&r) % 2);
            def.low = random_in(&r, -1.0, -0.05);
            def.high = random_in(&r, 0.05, 1.0);
            assert_int_equal(vy_joint_set_frames(b, ids[k], ids[k + 1], (vy_vec3){0.3 * k + 0.15, 0, 0},
                                                 random_vec(&r, 1.0), &def),
                             VY_OK);
            assert_int_equal(vy_bodies_add_joint(b, &def, &joints[k], NULL), VY_OK);
        }
        for (int k = 0; k < 5; ++k) {
            vy_body_state s = state_of(b, ids[k]);
            s.rate = random_vec(&r, 6.0);
            assert_int_equal(vy_body_set_state(b, ids[k], &s), VY_OK);
        }
        run(b, 1); // joints share the throw
        vy_vec3 p0, l0, p1, l1;
        vy_bodies_read_momentum(b, &p0, &l0);
        double energy = total_energy(b), mass = 0.0;
        const double scale = 1.0 + fabs(energy);
        for (int k = 0; k < 5; ++k) {
            double m;
            vy_mat3 inertia;
            assert_int_equal(vy_body_read_mass(b, ids[k], &m, &inertia), VY_OK);
            mass += m;
        }
        int acted = 0;
        for (int k = 0; k < 480; ++k) {
            run(b, 1);
            const double now = total_energy(b);
            assert_true(now <= energy + 2e-4 * scale);
            energy = fmin(energy, now);
            for (int j = 0; j < 4; ++j) {
                const vy_joint_state s = joint_of(b, joints[j]);
                acted += s.active;
                assert_true(s.value[3] > -0.02 &&
                            s.value[4] > -0.02); // one of several that are reached in a sub-step
            }
        }
        assert_true(acted > 0);
        vy_bodies_read_momentum(b, &p1, &l1);
        p0.z -= n % 2 ? mass * G * 2.0 : 0.0;
        assert_vec_near(p1, p0, 1e-10 * (1.0 + mass * G));
        if (n % 2 == 0) assert_vec_near(l1, l0, 1e-5);
        vy_bodies_destroy(b);
    }
}

// A leg on a cone stands on the ground: the same limits among contacts.
static void a_cone_holds_among_contacts(void **unused)
{
    (void)unused;
    vy_bodies_def set = vy_default_bodies_def();
    vy_bodies *b = NULL;
    set.dt = 1.0 / 120.0;
    set.contacts.on = 1;
    set.contacts.time_to_sleep = 0.5;
    assert_int_equal(vy_bodies_create(&set, &b, NULL), VY_OK);
    vy_shape floor;
    vy_body_def ground = vy_default_body_def();
    assert_int_equal(vy_shape_plane((vy_vec3){0, 0, 1}, 0.0, &floor, NULL), VY_OK);
    ground.kind = VY_BODY_STATIC;
    ground.shape = &floor;
    assert_int_equal(vy_bodies_add(b, &ground, NULL, NULL), VY_OK);
    const vy_body_id base = add_box(b, 5.0, (vy_vec3){0.3, 0.3, 0.1}, standing(0, 0, 0.1)),
                     mast = add_box(b, 0.5, (vy_vec3){0.03, 0.03, 0.3}, standing(0, 0, 0.5));
    vy_joint_def def = vy_default_joint_def();
    vy_joint_id joint;
    def.kind = VY_JOINT_BALL;
    def.cone = 0.4;
    def.limited = 1;
    def.low = -0.2;
    def.high = 0.2;
    assert_int_equal(vy_joint_set_frames(b, base, mast, (vy_vec3){0, 0, 0.2}, (vy_vec3){0, 0, 1}, &def),
                     VY_OK);
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, NULL), VY_OK);
    vy_body_state s = state_of(b, mast);
    s.rate = (vy_vec3){0.5, 0.2, 3.0};
    assert_int_equal(vy_body_set_state(b, mast, &s), VY_OK);
    for (int k = 0; k < 600; ++k) {
        (void)vy_bodies_step(b);
        const vy_joint_state at = joint_of(b, joint);
        assert_true(at.swing < 0.4 + 1e-5 && fabs(at.angle) < 0.2 + 1e-5);
    }
    assert_near(joint_of(b, joint).swing, 0.4, 1e-5); // it leans on the cone
    assert_near(state_of(b, base).position.z, 0.1, 2e-3);
    vy_bodies_destroy(b);
}

// An axis out of its cone, or a twist beyond its limits, is drawn in at the closing speed.
static void a_cone_that_is_exceeded_closes(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(0.0);
    vy_joint_def def = vy_default_joint_def();
    vy_joint_id joint;
    def.cone = 0.5;
    const vy_vec3 way = {sin(1.2), 0, cos(1.2)};
    (void)add_rod(b, way, (vy_vec3){0, 0, 1}, &def, &joint);
    const double whole = joint_of(b, joint).closing_time;
    assert_true(whole > 0.1);
    double swing = joint_of(b, joint).swing, most = 0.0;
    for (int k = 0; k < 4000 && joint_of(b, joint).closing_time > 0.0; ++k) {
        run(b, 1);
        const vy_joint_state s = joint_of(b, joint);
        assert_true(s.swing <= swing + 1e-9);
        assert_true(s.swing <= 0.5 + 0.7 * fmax(s.closing_time, 0.0) / whole + 1e-8);
        swing = s.swing;
        most = fmax(most, vy_bodies_read_energy(b).kinetic);
    }
    assert_true(most < 0.5 * rod_mass);
    run(b, 200);
    assert_true(joint_of(b, joint).swing <= 0.5 + 1e-8);
    assert_int_equal(vy_joint_set_cone(b, joint, 0.3, NULL), VY_OK);
    run(b, 1500);
    assert_true(joint_of(b, joint).swing <= 0.3 + 1e-8);
    assert_int_equal(vy_joint_set_cone(b, joint, 1.0, NULL), VY_OK);
    assert_int_equal(vy_joint_set_limits(b, joint, 1, 0.1, 0.4, NULL), VY_OK); // it twists by 0
    run(b, 1500);
    assert_true(joint_of(b, joint).angle >= 0.1 - 1e-8 && joint_of(b, joint).angle < 0.4 + 1e-8);
    assert_int_equal(vy_joint_set_limits(b, joint, 0, 0.0, 0.0, NULL), VY_OK);
    assert_int_equal(vy_joint_set_cone(b, joint, 0.0, NULL), VY_OK);
    run(b, 10);
    vy_bodies_destroy(b);
}

// Which limits act is state.
static void limits_are_state(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(G);
    vy_joint_def def = vy_default_joint_def();
    vy_joint_id joint;
    def.cone = 0.3;
    def.limited = 1;
    def.low = -0.1;
    def.high = 0.1;
    const vy_body_id id = add_rod(b, (vy_vec3){1, 0, 0}, (vy_vec3){1, 0, 0}, &def, &joint);
    vy_body_apply_angular_impulse(b, id, (vy_vec3){0.001, 0.001, 0.0005}, VY_FRAME_BODY);
    run(b, 300);
    const size_t size = vy_bodies_state_size(b);
    void *block = malloc(size);
    vy_bodies_save(b, block);
    run(b, 300);
    const uint64_t hash = vy_bodies_hash(b);
    assert_int_equal(vy_bodies_restore(b, block, size, NULL), VY_OK);
    run(b, 300);
    assert_true(vy_bodies_hash(b) == hash);
    free(block);
    vy_bodies_destroy(b);
}

static void mistakes_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        vy_joint_kind kind;
        double cone;
        int limited;
        double low, high;
        const char *says;
    } bad[] = {{VY_JOINT_BALL, -0.1, 0, 0, 0, "a cone is 0"},
               {VY_JOINT_BALL, 3.11, 0, 0, 0, "a cone is 0"},
               {VY_JOINT_BALL, NOT_A_NUMBER, 0, 0, 0, "a cone is 0"},
               {VY_JOINT_HINGE, 0.5, 0, 0, 0, "a hinge joint has no cone"},
               {VY_JOINT_BALL, 0.0, 1, -1, 1, "need a cone"},
               {VY_JOINT_BALL, 0.5, 1, 1, -1, "low below high"},
               {VY_JOINT_BALL, 0.5, 1, -4, 1, "within -pi ... pi"}};
    vy_bodies *b = set_of(G);
    vy_joint_def good = vy_default_joint_def();
    vy_joint_id joint;
    vy_error err;
    good.cone = 0.5;
    const vy_body_id id = add_rod(b, (vy_vec3){1, 0, 0}, (vy_vec3){1, 0, 0}, &good, &joint);
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k) {
        vy_joint_def def = vy_default_joint_def();
        def.kind = bad[k].kind;
        def.body_b = id;
        def.cone = bad[k].cone;
        def.limited = bad[k].limited;
        def.low = bad[k].low;
        def.high = bad[k].high;
        assert_int_equal(vy_bodies_add_joint(b, &def, NULL, &err), VY_BAD_VALUE);
        if (strstr(err.text, bad[k].says) == NULL) fail_msg("%s", err.text);
    }
    assert_int_equal(vy_joint_set_cone(b, joint, 4.0, &err), VY_BAD_VALUE);
    assert_int_equal(vy_joint_set_limits(b, joint, 1, -1.0, 1.0, &err), VY_OK);
    assert_int_equal(vy_joint_set_cone(b, joint, 0.0, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "need a cone"));
    assert_int_equal(vy_joint_set_cone(b, VY_NULL_JOINT, 0.5, &err), VY_NOT_FOUND);
    vy_bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pendulum_swings_round_its_cone),
        cmocka_unit_test(its_period_on_the_cone),
        cmocka_unit_test(a_twist_stops_at_its_limits),
        cmocka_unit_test(the_rate_is_the_slope_of_the_twist),
        cmocka_unit_test(random_chains_gain_nothing),
        cmocka_unit_test(a_cone_holds_among_contacts),
        cmocka_unit_test(a_cone_that_is_exceeded_closes),
        cmocka_unit_test(limits_are_state),
        cmocka_unit_test(mistakes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
