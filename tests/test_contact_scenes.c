// test_contact_scenes.c - scenes of several contacts against closed forms: a cradle, a ladder, a domino; a
// pile.
#include "contact_sets.h"

// Newton's cradle with gaps: equal elastic balls in a row hand the speed on, and all but the last stay.
static void cradles_hand_on(void **unused)
{
    (void)unused;
    for (int k = 0; k < 3; ++k) {
        const double gap = 0.004 * (k + 1), r = 0.05, v = 2.0;
        vy_bodies *b = new_set(1e-3, 0.0, 5);
        const vy_shape round = ball(r);
        vy_body_id ids[5];
        for (int i = 0; i < 5; ++i)
            ids[i] = add(b, VY_BODY_DYNAMIC, &round, 0.3, vec3_make((2.0 * r + gap) * i, 0, 0),
                         vec3_make(i == 0 ? v : 0.0, 0, 0), surface(0.3, 1.0));
        step(b, 200);
        for (int i = 0; i < 5; ++i)
            assert_vec_near(read(b, ids[i]).velocity, vec3_make(i == 4 ? v : 0.0, 0, 0), 1e-9);
        vy_bodies_destroy(b);
    }
}

// A thin ladder of length L that slides down a smooth wall on a smooth floor: w^2 = 3 g (sin a0 - sin a) / L
// while it leans, which is until sin a = 2/3 sin a0.
static void ladders_slide(void **unused)
{
    (void)unused;
    const double length = 2.0, half = 0.004, start = 1.2;
    vy_bodies *b = new_set(1e-3, G, 3);
    const vy_shape ladder = box(0.5 * length, 0.1, half), floor = plane(vec3_make(0, 0, 1)),
                   wall = plane(vec3_make(1, 0, 0));
    vy_body_def d = vy_default_body_def();
    vy_body_id id;
    d.shape = &ladder;
    d.mass = 3.0;
    d.material = surface(0.0, 0.0);
    // Its long axis points from the foot, out on the floor, up to the wall.
    const double turn = 3.141592653589793 - start;
    d.state.attitude = quat_make(cos(turn / 2.0), 0.0, -sin(turn / 2.0), 0.0);
    d.state.position = vec3_make(0.5 * length * cos(start) + half * sin(start), 0.0,
                                 0.5 * length * sin(start) + half * cos(start));
    assert_int_equal(vy_bodies_add(b, &d, &id, NULL), VY_OK);
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.0, 0.0));
    add(b, VY_BODY_STATIC, &wall, 1.0, vec3_zero(), vec3_zero(), surface(0.0, 0.0));
    int looked = 0;
    for (int i = 0; i < 3000; ++i) {
        step(b, 1);
        const vy_body_state s = read(b, id);
        const vy_vec3 along = quat_rotate(s.attitude, vec3_make(1, 0, 0));
        const double part = along.z / sin(start);
        if (part < 0.70) break;
        if (part > 0.90) continue;
        const double want = sqrt(3.0 * G * (sin(start) - along.z) / length);
        assert_near(fabs(s.rate.y), want, 0.02 * want);
        ++looked;
    }
    assert_true(looked > 50);
    vy_bodies_destroy(b);
}

// A domino that tips over its lower edge is a pendulum upside down: w^2 = w0^2 + 2 m g (h0 - h) / I.
static void dominoes_fall(void **unused)
{
    (void)unused;
    const double hx = 0.05, hz = 0.25, mass = 0.4, first = 1.4;
    vy_bodies *b = new_set(1e-3, G, 2);
    const vy_shape domino = box(hx, 0.1, hz), floor = plane(vec3_make(0, 0, 1));
    const double reach2 = hx * hx + hz * hz, inertia = mass * reach2 / 3.0 + mass * reach2;
    vy_body_def d = vy_default_body_def();
    vy_body_id id;
    d.shape = &domino;
    d.mass = mass;
    d.material = surface(2.0, 0.0);
    d.state.position = vec3_make(-hx, 0.0, hz); // its edge is at the origin
    d.state.rate = vec3_make(0.0, first, 0.0);
    d.state.velocity = vec3_make(first * hz, 0.0, first * hx);
    assert_int_equal(vy_bodies_add(b, &d, &id, NULL), VY_OK);
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(2.0, 0.0));
    int looked = 0;
    for (int i = 0; i < 2000; ++i) {
        step(b, 1);
        const vy_body_state s = read(b, id);
        const double up = quat_rotate(s.attitude, vec3_make(0, 0, 1)).z, across = sqrt(1.0 - up * up);
        if (up < 0.6) break;
        if (up > 0.99) continue;
        const double height = hz * up + hx * across;
        const double want = sqrt(first * first + 2.0 * mass * G * (hz - height) / inertia);
        assert_near(s.rate.y, want, 0.03 * want);
        ++looked;
    }
    assert_true(looked > 50);
    vy_bodies_destroy(b);
}

// [m] How deep a body of a set lies in the floor, its slot 0, or in another.
static double deepest_overlap(const vy_bodies *b, const vy_shape *cube, const vy_shape *floor)
{
    const vy_pose ground = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    double deepest = 0.0;
    for (uint32_t i = 1; i < vy_bodies_slot_count(b); ++i) {
        const vy_body_state s = read(b, vy_bodies_at(b, i));
        const vy_pose at = {s.position, s.attitude};
        vy_manifold m;
        assert_int_equal(vy_collide(cube, &at, floor, &ground, &m), VY_OK);
        for (int k = 0; k < m.count; ++k) deepest = fmax(deepest, m.points[k].depth);
        for (uint32_t j = i + 1; j < vy_bodies_slot_count(b); ++j) {
            const vy_body_state t = read(b, vy_bodies_at(b, j));
            const vy_pose other = {t.position, t.attitude};
            int hit = 0;
            vy_contact c;
            if (vec3_length(vec3_sub(s.position, t.position)) > 0.87) continue; // their diagonal
            assert_int_equal(vy_penetration(cube, &at, cube, &other, NULL, &hit, &c, NULL), VY_OK);
            if (hit) deepest = fmax(deepest, c.depth);
        }
    }
    return deepest;
}

// A thousand boxes of 0.5 m and 1 kg that were dropped lie in one another by 1 % at most, at 60 Hz.
static void piles_press_little(void **unused)
{
    (void)unused;
    const int count = 1000 / LAW_SLICE;
    uint64_t x = 2024;
    vy_bodies *b = new_set(1.0 / 60.0, G, 4096);
    const vy_shape cube = box(0.25, 0.25, 0.25), floor = plane(vec3_make(0, 0, 1));
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.5, 0.0));
    for (int i = 0; i < count; ++i) {
        vy_body_def d = vy_default_body_def();
        const double u = 0.02 * unit(&x), v = 0.02 * unit(&x), q0 = unit(&x), q1 = unit(&x), q2 = unit(&x),
                     q3 = unit(&x);
        d.shape = &cube;
        d.material = surface(0.5, 0.0);
        d.state.position = vec3_make(0.9 * (i % 10) + u, 0.9 * (i / 10 % 10) + v, 1.0 + 0.9 * (i / 100));
        d.state.attitude =
            quat_normalize(quat_make(2.0 * q0 - 1.0, 2.0 * q1 - 1.0, 2.0 * q2 - 1.0, 2.0 * q3 - 1.0));
        assert_int_equal(vy_bodies_add(b, &d, NULL, NULL), VY_OK);
    }
    double deepest = 0.0;
    step(b, 400);
    for (int k = 0; k < 10; ++k) {
        step(b, 20);
        deepest = fmax(deepest, deepest_overlap(b, &cube, &floor));
    }
    printf("boxes of a pile lie %.2f mm deep in one another\n", 1e3 * deepest);
    assert_true(deepest < 0.005);
    vy_bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cradles_hand_on),
        cmocka_unit_test(ladders_slide),
        cmocka_unit_test(dominoes_fall),
        cmocka_unit_test(piles_press_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
