// test_contacts.c - bodies that touch: free flight until they do, closed forms of sliding, rolling and
// bouncing, what impulses keep, walls that hold, stacks that stand, and what is told of it.
#include "contact_sets.h"
#include "volery/joint.h"
#include <stdlib.h>
#include <string.h>

// ---- until they touch

// Balls, boxes and capsules thrown about over a floor, with contacts and without: the same bits until the
// first impulse.
static void ruling_09_free_until_the_first_impulse(void **unused)
{
    (void)unused;
    uint64_t x = 5;
    int touched = 0;
    for (int round = 0; round < 30; ++round) {
        vy_bodies *with = new_set(1.0 / 240.0, G, 8), *without = NULL;
        vy_bodies_def def = vy_default_bodies_def();
        def.dt = 1.0 / 240.0;
        assert_int_equal(vy_bodies_create(&def, &without, NULL), VY_OK);
        const vy_shape shapes[3] = {ball(0.2), box(0.1, 0.2, 0.3), box(0.3, 0.3, 0.02)},
                       floor = plane(vec3_make(0, 0, 1));
        vy_body_id ids[2][6];
        for (int i = 0; i < 6; ++i) {
            vy_body_def d = vy_default_body_def();
            d.shape = &shapes[i % 3];
            const double up = unit(&x), aside = unit(&x);
            const vy_vec3 v = unit_vec(&x);
            d.state.position = vec3_make(1.0 * i, aside - 0.5, 1.0 + 2.0 * up);
            d.state.velocity = vec3_make(2.0 * v.x - 1.0, 2.0 * v.y - 1.0, 4.0 * v.z);
            d.state.rate = vec3_scale(6.0, unit_vec(&x));
            assert_int_equal(vy_bodies_add(with, &d, &ids[0][i], NULL), VY_OK);
            assert_int_equal(vy_bodies_add(without, &d, &ids[1][i], NULL), VY_OK);
        }
        add(with, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), vy_default_material());
        for (int k = 0; k < 480 && vy_bodies_contact_count(with) == 0; ++k) {
            vy_bodies_step(with);
            vy_bodies_step(without);
            if (vy_bodies_contact_count(with) != 0) {
                ++touched;
                break;
            }
            for (int i = 0; i < 6; ++i) {
                const vy_body_state p = read(with, ids[0][i]), q = read(without, ids[1][i]);
                assert_memory_equal(&p, &q, sizeof p);
            }
        }
        vy_bodies_destroy(with);
        vy_bodies_destroy(without);
    }
    assert_true(touched >= 25);
}

// ---- closed forms

// A box on a slope: it stays above the angle of friction, and slides by g (sin - mu cos) below it.
static void slopes_hold_and_slide(void **unused)
{
    (void)unused;
    static const double tilts[] = {0.1, 0.3, 0.6};
    for (int k = 0; k < 12; ++k) {
        const double tilt = tilts[k % 3], dt = k < 6 ? 1e-3 : 1.0 / 120.0,
                     mu = (k % 6 < 3 ? 0.6 : 1.3) * tan(tilt);
        const vy_vec3 n = vec3_make(-sin(tilt), 0.0, cos(tilt)),
                      down = vec3_make(-cos(tilt), 0.0, -sin(tilt));
        vy_bodies *b = new_set(dt, G, 2);
        const vy_shape cube = box(0.2, 0.3, 0.1), slope = plane(n);
        vy_body_def d = vy_default_body_def();
        d.shape = &cube;
        d.mass = 2.0;
        d.material = surface(mu, 0.0);
        d.state.position = vec3_scale(0.1, n);
        d.state.attitude = quat_make(cos(tilt / 2.0), 0.0, -sin(tilt / 2.0), 0.0);
        vy_body_id id;
        assert_int_equal(vy_bodies_add(b, &d, &id, NULL), VY_OK);
        add(b, VY_BODY_STATIC, &slope, 1.0, vec3_zero(), vec3_zero(), surface(mu, 0.0));
        step(b, (int)(0.2 / dt + 0.5));
        const vy_body_state early = read(b, id);
        step(b, (int)(0.8 / dt + 0.5));
        const vy_body_state late = read(b, id);
        const double gained = vec3_dot(vec3_sub(late.velocity, early.velocity), down);
        if (mu > tan(tilt)) {
            assert_true(vec3_length(vec3_sub(late.position, early.position)) < 1e-6);
        } else {
            assert_near(gained / 0.8, G * (sin(tilt) - mu * cos(tilt)), 1e-3);
        }
        assert_near(vec3_dot(late.velocity, n), 0.0, 1e-6);
        vy_bodies_destroy(b);
    }
}

// A ball on a slope with grip enough rolls: 5/7 of g sin.
static void balls_roll_down(void **unused)
{
    (void)unused;
    const double tilt = 0.2, r = 0.15;
    const vy_vec3 n = vec3_make(0.0, sin(tilt), cos(tilt)), down = vec3_make(0.0, cos(tilt), -sin(tilt));
    vy_bodies *b = new_set(1e-3, G, 2);
    const vy_shape round = ball(r), slope = plane(n);
    const vy_body_id id =
        add(b, VY_BODY_DYNAMIC, &round, 0.7, vec3_scale(r, n), vec3_zero(), surface(0.8, 0.0));
    add(b, VY_BODY_STATIC, &slope, 1.0, vec3_zero(), vec3_zero(), surface(0.8, 0.0));
    step(b, 200);
    const double early = vec3_dot(read(b, id).velocity, down);
    step(b, 800);
    const vy_body_state late = read(b, id);
    const double speed = vec3_dot(late.velocity, down);
    assert_near((speed - early) / 0.8, 5.0 / 7.0 * G * sin(tilt), 2e-3);
    assert_near(vec3_length(late.rate) * r, speed, 2e-3);
    vy_bodies_destroy(b);
}

// Rolling resistance c slows a rolling ball by 5/7 c g / r, spinning resistance s a spinning one by s N / I.
static void resistance_slows(void **unused)
{
    (void)unused;
    const double r = 0.1, mass = 0.5;
    vy_bodies *b = new_set(1e-3, G, 3);
    const vy_shape round = ball(r), floor = plane(vec3_make(0, 0, 1));
    const vy_material m = {.friction = 0.9, .rolling = 2e-3, .spinning = 1e-3};
    vy_body_def d = vy_default_body_def();
    vy_body_id roller, spinner;
    d.shape = &round;
    d.mass = mass;
    d.material = m;
    d.state.position = vec3_make(0.0, 0.0, r);
    d.state.velocity = vec3_make(2.0, 0.0, 0.0);
    d.state.rate = vec3_make(0.0, 2.0 / r, 0.0);
    assert_int_equal(vy_bodies_add(b, &d, &roller, NULL), VY_OK);
    d.state.position = vec3_make(0.0, 5.0, r);
    d.state.velocity = vec3_zero();
    d.state.rate = vec3_make(0.0, 0.0, 30.0);
    assert_int_equal(vy_bodies_add(b, &d, &spinner, NULL), VY_OK);
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), m);
    step(b, 100);
    const vy_body_state roll = read(b, roller), spin = read(b, spinner);
    step(b, 1000);
    assert_near(roll.velocity.x - read(b, roller).velocity.x, 5.0 / 7.0 * 2e-3 * G / r, 2e-3);
    assert_near(spin.rate.z - read(b, spinner).rate.z, 1e-3 * mass * G / (0.4 * mass * r * r), 2e-2);
    vy_bodies_destroy(b);
}

// Each bounce rises to e^2 of the last, to the distance that a step moves.
static void bounces_rise_by_the_square(void **unused)
{
    (void)unused;
    static const double es[] = {0.9, 0.7, 0.5};
    for (int k = 0; k < 3; ++k) {
        const double e = es[k], r = 0.05;
        vy_bodies *b = new_set(1e-3, G, 2);
        const vy_shape round = ball(r), floor = plane(vec3_make(0, 0, 1));
        const vy_body_id id =
            add(b, VY_BODY_DYNAMIC, &round, 1.0, vec3_make(0, 0, 1.0 + r), vec3_zero(), surface(0.5, e));
        add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.5, e));
        double top = 1.0, height = 0.0;
        int rising = 0, bounces = 0;
        for (int i = 0; i < 4000 && bounces < 4; ++i) {
            step(b, 1);
            const vy_body_state s = read(b, id);
            if (s.velocity.z > 0.0) {
                rising = 1;
                height = fmax(height, s.position.z - r);
            } else if (rising) {
                const double v =
                    sqrt(2.0 * G * top); // at impact; a step may be off by v dt, and by g dt in speed
                assert_near(height, e * e * top, 4.0 * v * 1e-3);
                top = height;
                height = 0.0;
                rising = 0;
                ++bounces;
            }
        }
        assert_int_equal(bounces, 4);
        vy_bodies_destroy(b);
    }
}

// Equal balls that meet elastically exchange their velocities; unequal ones part as two bodies must.
static void elastic_balls_exchange(void **unused)
{
    (void)unused;
    for (int k = 0; k < 4; ++k) {
        const double ma = 1.0, mb = k % 2 == 0 ? 1.0 : 3.0, va = 2.0, vb = k < 2 ? 0.0 : -1.0;
        vy_bodies *b = new_set(1e-3, 0.0, 2);
        const vy_shape round = ball(0.1);
        const vy_body_id x = add(b, VY_BODY_DYNAMIC, &round, ma, vec3_zero(), vec3_make(va, 0, 0),
                                 surface(0.5, 1.0)),
                         y = add(b, VY_BODY_DYNAMIC, &round, mb, vec3_make(0.5, 0, 0), vec3_make(vb, 0, 0),
                                 surface(0.5, 1.0));
        step(b, 500);
        assert_near(read(b, x).velocity.x, ((ma - mb) * va + 2.0 * mb * vb) / (ma + mb), 1e-12);
        assert_near(read(b, y).velocity.x, ((mb - ma) * vb + 2.0 * ma * va) / (ma + mb), 1e-12);
        vy_bodies_destroy(b);
    }
}

// A sliding ball that hits a wall obliquely: within the cone the friction is mu times the push, and spins it.
static void oblique_impact_with_friction(void **unused)
{
    (void)unused;
    const double mu = 0.1, r = 0.1, e = 0.6;
    vy_bodies *b = new_set(1e-3, 0.0, 2);
    const vy_shape round = ball(r), floor = plane(vec3_make(0, 0, 1));
    const vy_body_id id =
        add(b, VY_BODY_DYNAMIC, &round, 1.0, vec3_make(0, 0, 0.5), vec3_make(3.0, 0, -2.0), surface(mu, e));
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(mu, e));
    step(b, 500);
    const vy_body_state s = read(b, id);
    assert_near(s.velocity.z, e * 2.0, 1e-9);
    assert_near(3.0 - s.velocity.x, mu * (1.0 + e) * 2.0, 1e-9);
    assert_near(s.rate.y, (3.0 - s.velocity.x) * r / (0.4 * r * r), 1e-9);
    vy_bodies_destroy(b);
}

// ---- what collisions keep

// A swarm of odd bodies without gravity: impulses change neither momentum nor angular momentum, and no energy
// comes.
static void momentum_is_kept(void **unused)
{
    (void)unused;
    uint64_t x = 77;
    int pushes = 0;
    for (int round = 0; round < 6; ++round) {
        vy_bodies *b = new_set(round % 2 == 0 ? 1e-3 : 1.0 / 60.0, 0.0, 27);
        const vy_shape shapes[3] = {ball(0.2), box(0.1, 0.2, 0.3), box(0.25, 0.25, 0.05)};
        for (int i = 0; i < 27; ++i) {
            vy_body_def d = vy_default_body_def();
            d.shape = &shapes[i % 3];
            d.mass = 0.5 + unit(&x);
            const double restitution = unit(&x), friction = unit(&x);
            d.material = surface(friction, restitution);
            d.state.position = vec3_make(0.9 * (i % 3 - 1), 0.9 * (i / 3 % 3 - 1), 0.9 * (i / 9 - 1));
            const vy_vec3 inward = vec3_scale(-2.0, d.state.position);
            d.state.velocity = vec3_add(inward, vec3_sub(unit_vec(&x), vec3_make(0.5, 0.5, 0.5)));
            d.state.rate = vec3_scale(4.0, unit_vec(&x));
            assert_int_equal(vy_bodies_add(b, &d, NULL, NULL), VY_OK);
        }
        vy_vec3 p0, l0, p, l;
        vy_bodies_read_momentum(b, &p0, &l0);
        const double before = vy_bodies_read_energy(b).kinetic;
        const int steps = round % 2 == 0 ? 1500 : 90;
        for (int k = 0; k < steps; ++k) {
            step(b, 1);
            pushes += (int)vy_bodies_contact_count(b);
            vy_bodies_read_momentum(b, &p, &l);
            assert_vec_near(p, p0, 1e-12 * 27);
            // Free flights are RK4's, which keeps angular momentum to its own order.
            assert_vec_near(l, l0, round % 2 == 0 ? 1e-9 : 1e-2);
        }
        assert_true(vy_bodies_read_energy(b).kinetic < before);
        vy_bodies_destroy(b);
    }
    assert_true(pushes > 500);
}

// ---- walls, stacks, landings

// A drone-sized plate at 30 m/s, spinning, does not pass a wall of 2 mm, from either side, at any place in
// the step.
static void thin_walls_hold(void **unused)
{
    (void)unused;
    uint64_t x = 3;
    for (int round = 0; round < 60; ++round) {
        const double side = round % 2 == 0 ? 1.0 : -1.0, dt = round % 3 == 0 ? 1.0 / 240.0 : 1e-3;
        vy_bodies *b = new_set(dt, 0.0, 2);
        const vy_shape wall = box(0.001, 2.0, 2.0), plate = box(0.06, 0.06, 0.015);
        vy_body_def d = vy_default_body_def();
        vy_body_id id;
        add(b, VY_BODY_STATIC, &wall, 1.0, vec3_zero(), vec3_zero(), surface(0.3, 0.2));
        d.shape = &plate;
        d.mass = 0.03;
        d.material = surface(0.3, 0.2);
        d.state.position = vec3_make(-side * (0.3 + 0.1 * unit(&x)), 0.0, 0.0);
        d.state.velocity = vec3_make(side * 30.0, 2.0 * unit(&x), 0.0);
        d.state.attitude = unit_turn(&x);
        d.state.rate = vec3_sub(vec3_scale(60.0, unit_vec(&x)), vec3_make(30.0, 30.0, 30.0));
        assert_int_equal(vy_bodies_add(b, &d, &id, NULL), VY_OK);
        for (int k = 0; k < (int)(0.1 / dt); ++k) {
            step(b, 1);
            assert_true(side * read(b, id).position.x < 0.0);
        }
        vy_bodies_destroy(b);
    }
}

// A wall that is driven at a plate stays on its side of it, too: it takes the plate along.
static void driven_walls_push(void **unused)
{
    (void)unused;
    uint64_t x = 5;
    for (int round = 0; round < 60; ++round) {
        const double side = round % 2 == 0 ? 1.0 : -1.0, dt = round % 3 == 0 ? 1.0 / 240.0 : 1e-3;
        vy_bodies *b = new_set(dt, 0.0, 2);
        const vy_shape wall = box(0.001, 2.0, 2.0), plate = box(0.06, 0.06, 0.015);
        vy_body_def d = vy_default_body_def();
        vy_body_id id;
        const vy_body_id driven =
            add(b, VY_BODY_KINEMATIC, &wall, 1.0, vec3_make(-side * (0.3 + 0.1 * unit(&x)), 0, 0),
                vec3_make(30.0 * side, 0, 0), surface(0.3, 0.2));
        d.shape = &plate;
        d.mass = 0.03;
        d.material = surface(0.3, 0.2);
        d.state.attitude = unit_turn(&x);
        d.state.rate = vec3_sub(vec3_scale(60.0, unit_vec(&x)), vec3_make(30.0, 30.0, 30.0));
        assert_int_equal(vy_bodies_add(b, &d, &id, NULL), VY_OK);
        for (int k = 0; k < (int)(0.1 / dt); ++k) {
            step(b, 1);
            assert_true(side * (read(b, id).position.x - read(b, driven).position.x) > 0.0);
        }
        assert_true(side * read(b, id).velocity.x > 25.0);
        vy_bodies_destroy(b);
    }
}

// Ten boxes on one another, for ten seconds: they stand, and sink by the slop alone.
static void stacks_stand(void **unused)
{
    (void)unused;
    vy_bodies *b = new_set(1.0 / 60.0, G, 11);
    const vy_shape cube = box(0.25, 0.25, 0.25), floor = plane(vec3_make(0, 0, 1));
    vy_body_id top = VY_NULL_BODY;
    for (int i = 0; i < 10; ++i)
        top = add(b, VY_BODY_DYNAMIC, &cube, 1.0, vec3_make(0, 0, 0.25 + 0.5 * i), vec3_zero(),
                  vy_default_material());
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), vy_default_material());
    step(b, 600);
    const vy_body_state s = read(b, top);
    assert_near(s.position.z, 4.75, 2e-3);
    assert_true(sqrt(s.position.x * s.position.x + s.position.y * s.position.y) < 1e-4);
    assert_true(vec3_length(s.velocity) < 1e-6);
    vy_bodies_destroy(b);
}

// A wall of ten rows that narrows to one box, each on two, put together at once: nobody knows the pushes yet,
// and in ten seconds the top does not move aside by more than a seventh of a millimetre.
static void pyramids_stand(void **unused)
{
    (void)unused;
    vy_bodies *b = new_set(1.0 / 60.0, G, 56);
    const vy_shape cube = box(0.25, 0.25, 0.25), floor = plane(vec3_make(0, 0, 1));
    vy_body_id top = VY_NULL_BODY;
    for (int row = 0; row < 10; ++row) {
        for (int i = 0; i < 10 - row; ++i)
            top = add(b, VY_BODY_DYNAMIC, &cube, 1.0,
                      vec3_make(0.52 * (i - 0.5 * (9 - row)), 0.0, 0.25 + 0.5 * row), vec3_zero(),
                      vy_default_material());
    }
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), vy_default_material());
    step(b, 600);
    const vy_body_state s = read(b, top);
    assert_true(sqrt(s.position.x * s.position.x + s.position.y * s.position.y) < 1.5e-4);
    assert_near(s.position.z, 4.75, 5e-4);
    assert_true(vec3_length(s.velocity) < 1e-4);
    vy_bodies_destroy(b);
}

// A small drone set down at 0.5 m/s is at rest after 0.3 s, and then moves by less than a micrometre.
static void landings_end(void **unused)
{
    (void)unused;
    vy_bodies *b = new_set(1e-3, G, 2);
    const vy_shape drone = box(0.046, 0.046, 0.0145), floor = plane(vec3_make(0, 0, 1));
    vy_body_def d = vy_default_body_def();
    vy_body_id id;
    d.shape = &drone;
    d.mass = 0.027;
    d.state.position = vec3_make(0.0, 0.0, 0.0145 + 0.05);
    d.state.velocity = vec3_make(0.02, 0.0, -0.5);
    d.state.attitude = quat_normalize(quat_make(1.0, 0.02, 0.01, 0.0));
    assert_int_equal(vy_bodies_add(b, &d, &id, NULL), VY_OK);
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), vy_default_material());
    for (int k = 0; k < 1000 && vy_bodies_contact_count(b) == 0; ++k) step(b, 1);
    step(b, 300);
    const vy_body_state rest = read(b, id);
    for (int k = 0; k < 60000; ++k) {
        step(b, 1);
        const vy_body_state s = read(b, id);
        assert_true(vec3_length(vec3_sub(s.position, rest.position)) < 1e-6);
    }
    vy_bodies_destroy(b);
}

// ---- books

// Begin, persist, end; the impulse stops the ball, at the point that touches.
static void contacts_are_told(void **unused)
{
    (void)unused;
    vy_bodies *b = new_set(1e-3, 0.0, 2);
    const vy_shape round = ball(0.1), floor = plane(vec3_make(0, 0, 1));
    const vy_body_id id = add(b, VY_BODY_DYNAMIC, &round, 2.0, vec3_make(0.5, 0.25, 0.2),
                              vec3_make(0, 0, -1.0), surface(0.5, 0.5)),
                     ground =
                         add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.5, 0.5));
    vy_contact_report r;
    int begun = 0, ended = 0;
    for (int k = 0; k < 300; ++k) {
        step(b, 1);
        for (uint32_t i = 0; i < vy_bodies_contact_count(b); ++i) {
            assert_int_equal(vy_bodies_contact(b, i, &r), VY_OK);
            assert_true(r.a == id.bits && r.b == ground.bits);
            begun += r.phase == VY_CONTACT_BEGIN;
            ended += r.phase == VY_CONTACT_END;
            if (r.phase != VY_CONTACT_BEGIN) continue;
            assert_near(r.speed, 1.0, 1e-12);
            assert_vec_near(r.impulse, vec3_make(0.0, 0.0, -2.0 * 1.5), 1e-9); // on the ground
            assert_vec_near(r.point, vec3_make(0.5, 0.25, 0.0), 2e-3);
            assert_vec_near(r.normal, vec3_make(0.0, 0.0, -1.0), 1e-12);
            assert_int_equal(r.points, 1);
        }
    }
    assert_int_equal(begun, 1);
    assert_int_equal(ended, 1);
    assert_int_equal(vy_bodies_contact(b, 0, &r), VY_NOT_FOUND);
    vy_bodies_destroy(b);
}

// A pile goes on from a snapshot as if nothing had been, and from bodies that were removed as if they never
// were.
static void snapshots_hold_contacts(void **unused)
{
    (void)unused;
    vy_bodies *b = new_set(1.0 / 120.0, G, 12);
    const vy_shape cube = box(0.2, 0.2, 0.2), floor = plane(vec3_make(0, 0, 1));
    vy_body_id ids[10];
    for (int i = 0; i < 10; ++i)
        ids[i] = add(b, VY_BODY_DYNAMIC, &cube, 1.0, vec3_make(0.05 * i, 0.02 * (i % 3), 0.25 + 0.41 * i),
                     vec3_zero(), vy_default_material());
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), vy_default_material());
    step(b, 60);
    const size_t size = vy_bodies_state_size(b);
    void *block = malloc(size);
    assert_non_null(block);
    vy_bodies_save(b, block);
    step(b, 100);
    const uint64_t hash = vy_bodies_hash(b);
    assert_int_equal(vy_bodies_restore(b, block, size, NULL), VY_OK);
    step(b, 100);
    assert_int_equal(vy_bodies_hash(b), hash);
    assert_int_equal(vy_bodies_remove(b, ids[0]), VY_OK);
    step(b, 100);
    free(block);
    vy_bodies_destroy(b);
}

static void bad_numbers_are_refused(void **unused)
{
    (void)unused;
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b = NULL;
    vy_error err;
    def.contacts.on = 1;
    def.contacts.substep = def.dt / 1025.0;
    assert_int_equal(vy_bodies_create(&def, &b, &err), VY_BAD_VALUE);
    def.contacts.substep = 0.0;
    assert_int_equal(vy_bodies_create(&def, &b, &err), VY_BAD_VALUE);
    assert_null(b);
    def.contacts = vy_default_contacts_def();
    def.contacts.on = 1;
    def.contacts.reserve = (1u << 24) + 1u;
    assert_int_equal(vy_bodies_create(&def, &b, &err), VY_BAD_VALUE);
    def.contacts.reserve = 0;
    assert_int_equal(vy_bodies_create(&def, &b, &err), VY_OK);
    const vy_shape round = ball(1.0);
    vy_body_def d = vy_default_body_def();
    d.shape = &round;
    d.material.restitution = 1.5;
    assert_int_equal(vy_bodies_add(b, &d, NULL, &err), VY_BAD_VALUE);
    d.material = surface(-1.0, 0.0);
    assert_int_equal(vy_bodies_add(b, &d, NULL, &err), VY_BAD_VALUE);
    d.material = vy_default_material();
    assert_int_equal(vy_bodies_add(b, &d, NULL, &err), VY_OK);
    vy_bodies_destroy(b);
}

// ---- the simple response

// Ruling 13: j = -(1 + e) v.n / d with e the geometric mean, on both bodies with their angular parts; and
// beyond the slop four fifths of the overlap are moved away, by inverse mass.
static void ruling_13_impulse(void **unused)
{
    (void)unused;
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b = NULL;
    def.contacts = vy_impulse_contacts_def();
    def.contacts.on = 1;
    def.gravity = vec3_zero();
    def.dt = 1e-6;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    const vy_shape cube = box(0.5, 0.5, 0.5), round = ball(0.25);
    const double depth = 0.05, off = 0.3;
    const vy_body_id x = add(b, VY_BODY_DYNAMIC, &cube, 2.0, vec3_zero(), vec3_make(0, 0, 1.0),
                             surface(0.5, 0.9)),
                     y = add(b, VY_BODY_DYNAMIC, &round, 1.0, vec3_make(off, 0.0, 0.75 - depth), vec3_zero(),
                             surface(0.5, 0.4));
    vy_vec3 p0, l0, p, l;
    vy_bodies_read_momentum(b, &p0, &l0);
    step(b, 1);
    const double e = sqrt(0.9 * 0.4), inertia = 2.0 * (1.0 + 1.0) / 12.0, d = 0.5 + 1.0 + off * off / inertia;
    const double j = (1.0 + e) * 1.0 / d;
    const vy_body_state a = read(b, x), c = read(b, y);
    assert_near(a.velocity.z, 1.0 - j / 2.0, 1e-9);
    assert_near(c.velocity.z, j, 1e-9);
    assert_near(a.rate.y, j * off / inertia, 1e-9);
    const double moved = 0.8 * (depth - 0.01);
    assert_near(a.position.z, -moved / 3.0, 3e-6);
    assert_near(c.position.z, 0.75 - depth + moved * 2.0 / 3.0, 3e-6);
    vy_bodies_read_momentum(b, &p, &l);
    assert_vec_near(p, p0, 1e-12);
    vy_contact_report r;
    assert_int_equal(vy_bodies_contact(b, 0, &r), VY_OK);
    assert_near(r.impulse.z, j, 1e-9);
    step(b, 1); // they leave each other: no impulse
    assert_near(read(b, y).velocity.z, j, 1e-9);
    vy_bodies_destroy(b);
}

// Links that meet in a joint overlap there and do not touch, whichever joint of a link it is; with the joint
// gone they do. Two on a cable touch like anybody else.
static void links_overlap_in_their_joints(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 2; ++kind) {
        vy_bodies *b = new_set(1e-3, 0.0, 4);
        const vy_shape link = ball(0.1);
        vy_body_id ids[4];
        vy_joint_id joints[3];
        for (int k = 0; k < 4; ++k) {
            ids[k] = add(b, VY_BODY_DYNAMIC, &link, 1.0, vec3_make(0.15 * k, 0.0, 0.0), vec3_zero(),
                         surface(0.5, 0.5));
        }
        for (int k = 2; k >= 0; --k) {
            vy_joint_def def = vy_default_joint_def();
            def.kind = kind == 0 ? VY_JOINT_BALL : VY_JOINT_CABLE;
            def.length = 1.0;
            assert_int_equal(vy_joint_set_frames(b, ids[k + 1], ids[k], vec3_make(0.15 * k + 0.075, 0.0, 0.0),
                                                 vec3_make(0, 0, 1), &def),
                             VY_OK);
            assert_int_equal(vy_bodies_add_joint(b, &def, &joints[k], NULL), VY_OK);
        }
        for (int n = 0; n < 2; ++n) { // the outer ones move in, and once more without the joint in the middle
            for (int k = 0; k < 4; ++k) {
                vy_body_state now = read(b, ids[k]);
                now.velocity = vec3_make(k < 2 ? 0.1 : -0.1, 0.0, 0.0);
                assert_int_equal(vy_body_set_state(b, ids[k], &now), VY_OK);
            }
            step(b, 1);
            const uint32_t touching = vy_bodies_contact_count(b);
            assert_true(kind == 0 ? touching == (uint32_t)n : touching > 0);
            if (n == 0) assert_int_equal(vy_bodies_remove_joint(b, joints[1]), VY_OK);
        }
        vy_bodies_destroy(b);
    }
}

// Shapes about to touch: the gap of the nearest point is their distance, and the points are where they say.
static void near_contacts_are_honest(void **unused)
{
    (void)unused;
    uint64_t x = 21;
    int found = 0;
    const vy_shape shapes[3] = {ball(0.3), box(0.2, 0.3, 0.4), box(0.5, 0.5, 0.05)};
    for (int round = 0; round < 3000; ++round) {
        const vy_shape *a = &shapes[round % 3], *b = &shapes[round / 3 % 3];
        const vy_pose pa = {{0, 0, 0}, unit_turn(&x)};
        const double east = unit(&x), north = unit(&x), up = unit(&x);
        const vy_vec3 turn = unit_vec(&x);
        const vy_pose pb = {{1.4 * east, 0.5 * north, 0.5 * up},
                            quat_normalize(quat_make(turn.x, 1.0, turn.y, turn.z))};
        vy_manifold m;
        vy_distance d;
        assert_int_equal(vy_collide_near(a, &pa, b, &pb, 0.2, &m), VY_OK);
        assert_int_equal(vy_shape_distance(a, &pa, b, &pb, NULL, NULL, &d, NULL), VY_OK);
        if (d.distance > 0.2 || m.count == 0) {
            assert_int_equal(m.count, 0);
            assert_true(d.distance > 0.2 - 1e-9);
            continue;
        }
        if (d.distance > 0.0) assert_near(m.points[0].depth, -d.distance, 2e-3);
        found += d.distance > 0.0;
        for (int i = 0; i < m.count; ++i) {
            const vy_vec3 gap = vec3_sub(m.points[i].point_a, m.points[i].point_b);
            assert_vec_near(gap, vec3_scale(m.points[i].depth, m.normal), 1e-9);
        }
    }
    assert_true(found > 300);
}

// What gravity alone adds in two steps does not bounce; what is a little faster does.
static void slow_impacts_do_not_bounce(void **unused)
{
    (void)unused;
    const vy_shape round = ball(0.1), floor = plane(vec3_make(0, 0, 1));
    const double h = 1e-3, at_rest = vy_default_bodies_def().contacts.restitution_speed;
    for (int fast = 0; fast < 2; ++fast) {
        const double speed = at_rest + (fast ? 2.02 : 1.98) * h * G;
        vy_bodies *b = new_set(h, G, 0);
        const vy_body_id id = add(b, VY_BODY_DYNAMIC, &round, 1.0, vec3_make(0, 0, 0.1 + 1e-9),
                                  vec3_make(0, 0, -speed), surface(0, 0.5));
        add(b, VY_BODY_STATIC, &floor, 0.0, vec3_zero(), vec3_zero(), surface(0, 0.5));
        step(b, 1);
        assert_near(read(b, id).velocity.z, fast ? 0.5 * speed : 0.0, 1e-6);
        vy_bodies_destroy(b);
    }
}

// The broad phase leaves out no body that overlaps a height field, however both are turned.
static void tilted_fields_miss_nothing(void **unused)
{
    (void)unused;
    enum { SIDE = 5 };
    double heights[SIDE * SIDE];
    random_source r = {77};
    int overlapping = 0;
    for (int n = 0; n < 400; ++n) {
        for (int i = 0; i < SIDE * SIDE; ++i) heights[i] = random_in(&r, 0.0, 0.3);
        vy_shape field;
        assert_int_equal(vy_shape_height_field(SIDE, SIDE, 1.0, heights, &field, NULL), VY_OK);
        const vy_shape plank = box(n % 3 == 0 ? 1.2 : 0.05, n % 3 == 1 ? 1.2 : 0.05, n % 3 == 2 ? 1.2 : 0.05);
        vy_bodies *b = new_set(1e-3, 0.0, 0);
        const vy_pose ground = {vec3_zero(), random_attitude(&r)};
        const vy_vec3 middle = vec3_add(vec3_make(2.0, 2.0, 0.6), random_vec(&r, 0.8));
        const vy_pose pose = {quat_rotate(ground.rotation, middle), {1.0, 0.0, 0.0, 0.0}};
        const vy_body_id below =
            add(b, VY_BODY_STATIC, &field, 0.0, vec3_zero(), vec3_zero(), surface(0.5, 0));
        const vy_body_state turned = {.attitude = ground.rotation};
        assert_int_equal(vy_body_set_state(b, below, &turned), VY_OK);
        const vy_body_id above =
            add(b, VY_BODY_DYNAMIC, &plank, 1.0, pose.position, vec3_zero(), surface(0.5, 0));
        vy_manifold m;
        assert_int_equal(vy_collide(&field, &ground, &plank, &pose, &m), VY_OK);
        const int is_deep = m.count > 0 && m.points[0].depth > 0.01;
        overlapping += is_deep;
        step(b, 1);
        const vy_vec3 moved = vec3_sub(read(b, above).position, pose.position); // what is too deep moves out
        if (is_deep) assert_true(vy_bodies_contact_count(b) > 0 || vec3_length(moved) > 0.0);
        vy_bodies_destroy(b);
    }
    assert_true(overlapping > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ruling_09_free_until_the_first_impulse),
        cmocka_unit_test(slopes_hold_and_slide),
        cmocka_unit_test(balls_roll_down),
        cmocka_unit_test(resistance_slows),
        cmocka_unit_test(bounces_rise_by_the_square),
        cmocka_unit_test(elastic_balls_exchange),
        cmocka_unit_test(oblique_impact_with_friction),
        cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(thin_walls_hold),
        cmocka_unit_test(driven_walls_push),
        cmocka_unit_test(stacks_stand),
        cmocka_unit_test(pyramids_stand),
        cmocka_unit_test(landings_end),
        cmocka_unit_test(contacts_are_told),
        cmocka_unit_test(snapshots_hold_contacts),
        cmocka_unit_test(bad_numbers_are_refused),
        cmocka_unit_test(ruling_13_impulse),
        cmocka_unit_test(links_overlap_in_their_joints),
        cmocka_unit_test(slow_impacts_do_not_bounce),
        cmocka_unit_test(tilted_fields_miss_nothing),
        cmocka_unit_test(near_contacts_are_honest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
