// test_joint_breaks.c - joints that break by force or torque.
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

static vy_body_id add_box_at(vy_bodies *b, double mass, double half, vy_vec3 at)
{
    const vy_shape shape = box(half, half, half);
    return add(b, VY_BODY_DYNAMIC, &shape, mass, at, vec3_zero(), surface(0.0, 0.0));
}

static vy_joint_id join_at(vy_bodies *b, vy_joint_kind kind, vy_body_id x, vy_body_id y, vy_vec3 point,
                           double force, double torque)
{
    vy_joint_def def = vy_default_joint_def();
    vy_joint_id id;
    def.kind = kind;
    assert_int_equal(vy_joint_set_frames(b, x, y, point, vec3_make(0, 1, 0), &def), VY_OK);
    def.break_force = force;
    def.break_torque = torque;
    assert_int_equal(vy_bodies_add_joint(b, &def, &id, NULL), VY_OK);
    return id;
}

static vy_joint_state state_of(const vy_bodies *b, vy_joint_id id)
{
    vy_joint_state s;
    assert_int_equal(vy_joint_read(b, id, &s), VY_OK);
    return s;
}

// A stone on a rod from level: its tension is 3 m g sin(angle). It breaks in the step in which that passes
// the limit, and the stone goes on as thrown.
static void a_pendulum_breaks_where_its_tension_passes(void **unused)
{
    (void)unused;
    const double mass = 0.7, limit = 2.0 * mass * G;
    vy_bodies *b = flying_set(G);
    const vy_body_id stone = add_box_at(b, mass, 0.05, vec3_make(1, 0, 0));
    vy_joint_def def = vy_default_joint_def();
    vy_joint_id rod;
    def.kind = VY_JOINT_DISTANCE;
    def.body_b = stone;
    def.length = 1.0;
    def.break_force = limit;
    assert_int_equal(vy_bodies_add_joint(b, &def, &rod, NULL), VY_OK);
    double before = 0.0, after = 0.0;
    uint32_t events = 0;
    for (int k = 0; k < 2000 && events == 0; ++k) {
        before = after;
        events = vy_bodies_step(b);
        const vy_joint_state s = state_of(b, rod);
        after = -3.0 * mass * G * read(b, stone).position.z;
        assert_near(s.mean_force, 0.75 * before + 0.25 * after, 1e-4); // of the starts of two sub-steps
        assert_int_equal(s.broken, events != 0);
        assert_int_equal(s.active, events == 0);
    }
    assert_int_equal(events, VY_BODIES_JOINT_BROKEN);
    assert_true(0.75 * before + 0.25 * after > limit && before - 0.75 * (after - before) <= limit);
    vy_joint_id broken[2];
    assert_int_equal(vy_bodies_broken_joints(b, broken, 2), 1);
    assert_true(broken[0].bits == rod.bits);
    const vy_joint_state at_break = state_of(b, rod);
    assert_true(at_break.mean_force > limit);
    const vy_body_state s = read(b, stone);
    const double t = 0.5;
    for (int k = 0; k < 500; ++k) assert_int_equal(vy_bodies_step(b), 0);
    assert_int_equal(vy_bodies_broken_joints(b, NULL, 0), 0);
    const vy_vec3 fallen =
        vec3_add(vec3_add_scaled(s.position, t, s.velocity), vec3_make(0, 0, -0.5 * G * t * t));
    assert_vec_near(read(b, stone).position, fallen, 1e-10);
    assert_near(state_of(b, rod).mean_force, at_break.mean_force, 0.0); // it keeps the value
    assert_near(state_of(b, rod).tension, 0.0, 0.0);
    vy_bodies_destroy(b);
}

// A beam out of a wall carries m g in force and m g l in torque, and breaks by the one that is exceeded.
static void a_cantilever_breaks_by_its_torque(void **unused)
{
    (void)unused;
    const double mass = 2.0, arm = 0.4, force = mass * G, torque = mass * G * arm;
    for (int which = 0; which < 4; ++which) {
        const double factor = which % 2 == 0 ? 1.0 + 1e-9 : 1.0 - 1e-9;
        vy_bodies *b = flying_set(G);
        const vy_body_id beam = add_box_at(b, mass, 0.1, vec3_make(arm, 0, 0));
        const vy_joint_id root = join_at(b, VY_JOINT_FIXED, VY_NULL_BODY, beam, vec3_zero(),
                                         which < 2 ? factor * force : 0.0, which < 2 ? 0.0 : factor * torque);
        const uint32_t events = vy_bodies_step(b);
        assert_int_equal(events, which % 2 == 0 ? 0 : VY_BODIES_JOINT_BROKEN);
        assert_near(state_of(b, root).mean_force, force, 1e-10);
        assert_near(state_of(b, root).mean_torque, torque, 1e-10);
        for (int k = 0; k < 200; ++k) assert_int_equal(vy_bodies_step(b), 0);
        assert_true((read(b, beam).position.z < -0.1) == (which % 2 == 1));
        vy_bodies_destroy(b);
    }
}

// Springs and motors count: a spring breaks at stiffness times stretch, and its energy is gone.
static void a_spring_breaks_at_its_stretch(void **unused)
{
    (void)unused;
    vy_bodies *b = flying_set(0.0);
    const vy_body_id stone = add_box_at(b, 1.0, 0.05, vec3_make(1, 0, 0));
    vy_joint_def def = vy_default_joint_def();
    vy_joint_id spring;
    def.kind = VY_JOINT_SPRING;
    def.body_b = stone;
    def.length = 1.0;
    def.stiffness = 50.0;
    def.break_force = 10.0;
    assert_int_equal(vy_bodies_add_joint(b, &def, &spring, NULL), VY_OK);
    vy_body_apply_impulse(b, stone, vec3_make(2.0, 0, 0), VY_FRAME_WORLD); // to 0.28 m of stretch: 14 N
    double stretch = 0.0;
    uint32_t events = 0;
    for (int k = 0; k < 1000 && events == 0; ++k) {
        stretch = read(b, stone).position.x - 1.0;
        events = vy_bodies_step(b);
    }
    assert_int_equal(events, VY_BODIES_JOINT_BROKEN);
    assert_true(50.0 * stretch <= 10.0 && 50.0 * (read(b, stone).position.x - 1.0) > 10.0);
    const vy_bodies_energy e = vy_bodies_read_energy(b);
    assert_near(e.potential, 0.0, 0.0);
    assert_near(e.kinetic, 2.0 - 0.5 * 50.0 * 0.04, 2e-2);
    vy_bodies_destroy(b);
}

// A cable that catches a stone takes m v in one step, whatever its sub-steps are: m v / dt.
static void a_catch_counts_over_the_step(void **unused)
{
    (void)unused;
    for (int strong = 0; strong < 2; ++strong) {
        vy_bodies *b = flying_set(0.0);
        const double speed = 3.0, mass = 0.5, load = mass * speed / 1e-3;
        const vy_body_id stone = add_box_at(b, mass, 0.05, vec3_make(0.5, 0, 0));
        vy_joint_def def = vy_default_joint_def();
        vy_joint_id cable;
        def.kind = VY_JOINT_CABLE;
        def.body_b = stone;
        def.length = 1.0;
        def.break_force = load * (strong ? 1.0 + 1e-6 : 1.0 - 1e-6);
        assert_int_equal(vy_bodies_add_joint(b, &def, &cable, NULL), VY_OK);
        vy_body_apply_impulse(b, stone, vec3_make(mass * speed, 0, 0), VY_FRAME_WORLD);
        uint32_t events = 0;
        double most = 0.0;
        for (int k = 0; k < 300; ++k) {
            events |= vy_bodies_step(b);
            most = fmax(most, state_of(b, cable).mean_force);
        }
        assert_near(most, load, 1e-6);
        assert_int_equal(events, strong ? 0 : VY_BODIES_JOINT_BROKEN);
        vy_bodies_destroy(b);
    }
}

// Two boxes on slippery ground, one drawn by a force: their joint carries half of it, between contacts too.
static void among_contacts_the_load_is_the_same(void **unused)
{
    (void)unused;
    const vy_shape floor = plane(vec3_make(0, 0, 1));
    for (int which = 0; which < 2; ++which) {
        vy_bodies *b = new_set(1.0 / 120.0, G, 0);
        (void)add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.0, 0.0));
        const vy_body_id x = add_box_at(b, 1.0, 0.1, vec3_make(0, 0, 0.1)),
                         y = add_box_at(b, 1.0, 0.1, vec3_make(0.5, 0, 0.1));
        const vy_joint_id rod =
            join_at(b, VY_JOINT_FIXED, x, y, vec3_make(0.25, 0, 0.1), which == 0 ? 5.01 : 4.99, 0.0);
        uint32_t events = 0;
        for (int k = 0; k < 60; ++k) events |= vy_bodies_step(b);
        assert_int_equal(events, 0);
        for (int k = 0; k < 30; ++k) {
            vy_body_apply_force(b, y, vec3_make(10.0, 0, 0), VY_FRAME_WORLD);
            const uint32_t found = vy_bodies_step(b);
            if (found) assert_int_equal(k, 0);
            events |= found;
            if (which == 0 || k == 0) assert_near(state_of(b, rod).mean_force, 5.0, 1e-3);
        }
        assert_int_equal(events, which == 0 ? 0 : VY_BODIES_JOINT_BROKEN);
        vy_bodies_destroy(b);
    }
}

// A ball that hits a held box gives the joint its impulse in one step; the box is free after it.
static void a_hit_breaks(void **unused)
{
    (void)unused;
    for (int which = 0; which < 2; ++which) {
        vy_bodies *b = new_set(1.0 / 240.0, 0.0, 0);
        const vy_shape bullet = ball(0.05);
        const vy_body_id held = add_box_at(b, 1.0, 0.1, vec3_zero());
        (void)add(b, VY_BODY_DYNAMIC, &bullet, 0.2, vec3_make(-1, 0, 0), vec3_make(10.0, 0, 0),
                  surface(0.0, 0.0));
        const double most = 0.2 * 10.0 * 240.0; // it stops
        const vy_joint_id joint = join_at(b, VY_JOINT_FIXED, VY_NULL_BODY, held, vec3_zero(),
                                          most * (which == 0 ? 1.01 : 0.5), 0.0);
        uint32_t events = 0;
        double load = 0.0;
        for (int k = 0; k < 120; ++k) {
            events |= vy_bodies_step(b);
            load += state_of(b, joint).mean_force / 240.0;
        }
        if (which == 0) assert_near(load, 2.0, 0.02);
        assert_int_equal(events, which == 0 ? 0 : VY_BODIES_JOINT_BROKEN);
        assert_int_equal(state_of(b, joint).broken, which);
        vy_bodies_destroy(b);
    }
}

// Bodies that their joint let overlap no longer do: what was held above falls onto what is below.
static void broken_bodies_collide_again(void **unused)
{
    (void)unused;
    const vy_shape floor = plane(vec3_make(0, 0, 1));
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b = NULL;
    def.dt = 1.0 / 120.0;
    def.contacts.on = 1;
    def.contacts.time_to_sleep = 0.5;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    (void)add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.5, 0.0));
    const vy_body_id below = add_box_at(b, 1.0, 0.2, vec3_make(0, 0, 0.2)),
                     above = add_box_at(b, 1.0, 0.2, vec3_make(0, 0, 0.9));
    const vy_joint_id joint = join_at(b, VY_JOINT_FIXED, below, above, vec3_make(0, 0, 0.55), 0.0, 0.0);
    for (int k = 0; k < 240; ++k) assert_int_equal(vy_bodies_step(b), 0);
    assert_int_equal(vy_bodies_asleep(b), 2);
    assert_int_equal(vy_joint_set_break(b, joint, 9.0, 0.0, NULL), VY_OK);
    assert_int_equal(vy_bodies_asleep(b), 0);
    assert_int_equal(vy_bodies_step(b), VY_BODIES_JOINT_BROKEN);
    assert_near(state_of(b, joint).mean_force, G, 1e-2);
    for (int k = 0; k < 360; ++k) assert_int_equal(vy_bodies_step(b), 0);
    assert_near(read(b, above).position.z, 0.6, 5e-3);
    assert_int_equal(vy_bodies_asleep(b), 2);
    assert_int_equal(vy_bodies_remove_joint(b, joint), VY_OK);
    assert_int_equal(vy_bodies_joint_count(b), 0);
    vy_bodies_destroy(b);
}

// That it has broken is state; before it the same steps break it again, at the same value.
static void breaking_is_state(void **unused)
{
    (void)unused;
    vy_bodies *b = flying_set(G);
    vy_body_id last = VY_NULL_BODY;
    vy_joint_id joints[6];
    for (int k = 0; k < 6; ++k) {
        const vy_body_id link = add_box_at(b, 0.2, 0.05, vec3_make(0.2 * k + 0.1, 0, 0));
        joints[k] =
            join_at(b, VY_JOINT_HINGE, last, link, vec3_make(0.2 * k, 0, 0), k == 2 ? 18.0 : 0.0, 0.0);
        last = link;
    }
    size_t size;
    for (int k = 0; k < 100; ++k) assert_int_equal(vy_bodies_step(b), 0);
    void *early = snapshot_of(b, &size);
    uint32_t events = 0;
    int steps = 0;
    while (events == 0 && steps < 3000) {
        events = vy_bodies_step(b);
        ++steps;
    }
    assert_int_equal(events, VY_BODIES_JOINT_BROKEN);
    const double value = state_of(b, joints[2]).mean_force;
    void *late = snapshot_of(b, &size);
    for (int k = 0; k < 200; ++k) assert_int_equal(vy_bodies_step(b), 0);
    const uint64_t end = vy_bodies_hash(b);
    assert_int_equal(vy_bodies_restore(b, early, size, NULL), VY_OK);
    assert_int_equal(state_of(b, joints[2]).broken, 0);
    for (int k = 1; k < steps; ++k) assert_int_equal(vy_bodies_step(b), 0);
    assert_int_equal(vy_bodies_step(b), VY_BODIES_JOINT_BROKEN);
    assert_near(state_of(b, joints[2]).mean_force, value, 0.0);
    for (int k = 0; k < 200; ++k) assert_int_equal(vy_bodies_step(b), 0);
    assert_true(vy_bodies_hash(b) == end);
    assert_int_equal(vy_bodies_restore(b, late, size, NULL), VY_OK);
    assert_int_equal(state_of(b, joints[2]).broken, 1);
    for (int k = 0; k < 200; ++k) assert_int_equal(vy_bodies_step(b), 0);
    assert_true(vy_bodies_hash(b) == end);
    assert_int_equal(vy_joint_set_break(b, joints[2], 0.0, 0.0, NULL), VY_OK);
    vy_error err;
    assert_int_equal(vy_bodies_restore(b, late, size, &err), VY_BAD_VALUE); // of joints that break elsewhere
    assert_non_null(strstr(err.text, "joints"));
    free(early);
    free(late);
    vy_bodies_destroy(b);
}

// A joint that never gets to its limits moves to the same bits as one without any.
static void limits_that_are_not_reached_change_nothing(void **unused)
{
    (void)unused;
    uint64_t hash[2];
    for (int which = 0; which < 2; ++which) {
        vy_bodies *b = new_set(1.0 / 120.0, G, 0);
        const vy_shape floor = plane(vec3_make(0, 0, 1));
        (void)add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.5, 0.2));
        vy_body_id last = VY_NULL_BODY;
        for (int k = 0; k < 5; ++k) {
            const vy_body_id link = add_box_at(b, 0.5, 0.08, vec3_make(0.3 * k + 0.15, 0, 0.9));
            (void)join_at(b, k % 2 ? VY_JOINT_BALL : VY_JOINT_HINGE, last, link, vec3_make(0.3 * k, 0, 0.9),
                          which * 1e9, which * 1e9);
            last = link;
        }
        for (int k = 0; k < 300; ++k) (void)vy_bodies_step(b);
        hash[which] = vy_bodies_hash(b);
        vy_bodies_destroy(b);
    }
    assert_true(hash[0] == hash[1]);
}

static void mistakes_are_refused(void **unused)
{
    (void)unused;
    static const double bad[] = {-1.0, NOT_A_NUMBER, INFINITE};
    vy_bodies *b = flying_set(G);
    const vy_body_id stone = add_box_at(b, 1.0, 0.05, vec3_make(1, 0, 0));
    const vy_joint_id joint = join_at(b, VY_JOINT_BALL, VY_NULL_BODY, stone, vec3_zero(), 1.0, 0.0);
    for (int k = 0; k < 3; ++k) {
        vy_error err;
        assert_int_equal(vy_joint_set_break(b, joint, bad[k], 0.0, &err), VY_BAD_VALUE);
        assert_non_null(strstr(err.text, "break_force and break_torque must be finite"));
        assert_int_equal(vy_joint_set_break(b, joint, 0.0, bad[k], NULL), VY_BAD_VALUE);
        vy_joint_def def = vy_default_joint_def();
        def.kind = VY_JOINT_BALL;
        def.body_b = stone;
        def.break_torque = bad[k];
        assert_int_equal(vy_bodies_add_joint(b, &def, NULL, NULL), VY_BAD_VALUE);
    }
    assert_int_equal(vy_joint_set_break(b, VY_NULL_JOINT, 1.0, 1.0, NULL), VY_NOT_FOUND);
    assert_int_equal(vy_bodies_joint_count(b), 1);
    vy_bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pendulum_breaks_where_its_tension_passes),
        cmocka_unit_test(a_cantilever_breaks_by_its_torque),
        cmocka_unit_test(a_spring_breaks_at_its_stretch),
        cmocka_unit_test(a_catch_counts_over_the_step),
        cmocka_unit_test(among_contacts_the_load_is_the_same),
        cmocka_unit_test(a_hit_breaks),
        cmocka_unit_test(broken_bodies_collide_again),
        cmocka_unit_test(breaking_is_state),
        cmocka_unit_test(limits_that_are_not_reached_change_nothing),
        cmocka_unit_test(mistakes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
