// test_bodies.c - sets of rigid bodies: what they are made of, ids, forces, impulses, energy, snapshots.
#include "check.h"
#include "volery/joint.h"
#include "volery/mass.h"
#include "dynamics/joint.h"
#include <stdlib.h>

static vy_bodies *new_set(void)
{
    vy_bodies_def def = vy_default_bodies_def();
    def.gravity = (vy_vec3){0, 0, 0};
    vy_bodies *b = NULL;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    return b;
}

/// A brick of 2 kg and sides 0.2, 0.4, 0.6 m.
static vy_body_def brick(void)
{
    static vy_shape shape;
    assert_int_equal(vy_shape_box((vy_vec3){0.1, 0.2, 0.3}, &shape, NULL), VY_OK);
    vy_body_def def = vy_default_body_def();
    def.shape = &shape;
    def.mass = 2.0;
    return def;
}

static vy_body_id add(vy_bodies *b, const vy_body_def *def)
{
    vy_body_id id;
    assert_int_equal(vy_bodies_add(b, def, &id, NULL), VY_OK);
    return id;
}

static vy_body_state state_of(const vy_bodies *b, vy_body_id id)
{
    vy_body_state s;
    assert_int_equal(vy_body_read(b, id, &s), VY_OK);
    return s;
}

static void bodies_hull_gives_inertia(void **unused)
{
    (void)unused;
    // A tetrahedron away from its origin: the same inertia as vy_hull_mass, and its centroid is the body.
    const vy_vec3 points[] = {{1, 1, 1}, {2, 1, 1}, {1, 3, 1}, {1, 1, 4}};
    vy_hull *hull = NULL;
    assert_int_equal(vy_hull_create(points, 4, VY_HULL_TOLERANCE, &hull, NULL), VY_OK);
    vy_shape shape;
    assert_int_equal(vy_shape_hull(hull, &shape, NULL), VY_OK);
    vy_mass_properties want;
    assert_int_equal(vy_hull_mass(hull, 3.0, &want, NULL), VY_OK);

    vy_bodies *b = new_set();
    vy_body_def def = vy_default_body_def();
    def.shape = &shape;
    def.mass = 3.0;
    def.state.position = (vy_vec3){5, 6, 7};
    def.state.attitude = turn(1.0, 0.6, 0.0, 0.8);
    const vy_body_id id = add(b, &def);
    double mass;
    vy_mat3 inertia;
    assert_int_equal(vy_body_read_mass(b, id, &mass, &inertia), VY_OK);
    assert_true(mass == 3.0);
    assert_memory_equal(&inertia, &want.inertia, sizeof inertia);
    // The frame of the shape stands so that its centroid is at the body's position.
    const vy_shape *got;
    vy_pose pose;
    assert_int_equal(vy_body_read_shape(b, id, &got, &pose), VY_OK);
    assert_ptr_equal(got->hull, hull);
    const vy_vec3 centre = vec3_add(pose.position, quat_rotate(pose.rotation, hull->centroid));
    assert_vec_near(centre, def.state.position, 1e-14);
    vy_bodies_destroy(b);
    vy_hull_destroy(hull);
}

static void bodies_refuse_bad_defs(void **unused)
{
    (void)unused;
    vy_bodies *b = new_set();
    vy_body_id id = {77};
    vy_error err;
    vy_body_def def = brick();
    def.mass = 0.0;
    assert_int_equal(vy_bodies_add(b, &def, &id, &err), VY_BAD_MASS);
    def.mass = -1.0;
    assert_int_equal(vy_bodies_add(b, &def, &id, &err), VY_BAD_MASS);
    def.mass = NOT_A_NUMBER;
    assert_int_equal(vy_bodies_add(b, &def, &id, &err), VY_BAD_MASS);
    def.inertia = mat3_diag(1, 1, 1);
    def.shape = NULL;
    def.mass = 5e-324; // one over it is infinite
    assert_int_equal(vy_bodies_add(b, &def, &id, &err), VY_BAD_MASS);
    def.mass = 1.0;
    def.inertia = mat3_diag(1e-110, 1e-110, 1e-110);
    assert_int_equal(vy_bodies_add(b, &def, &id, &err), VY_BAD_VALUE);
    def.inertia = mat3_diag(1e110, 1e110, 1e110);
    assert_int_equal(vy_bodies_add(b, &def, &id, &err), VY_BAD_VALUE);

    def = brick();
    vy_shape bad = {.kind = VY_SHAPE_HULL, .hull = NULL};
    def.shape = &bad;
    assert_int_equal(vy_bodies_add(b, &def, &id, &err), VY_BAD_HULL);
    def.shape = NULL;
    assert_int_equal(vy_bodies_add(b, &def, &id, &err), VY_BAD_VALUE); // neither inertia nor volume
    def.inertia = mat3_diag(1, 1, 3);                                  // no solid: 1 + 1 < 3
    assert_int_equal(vy_bodies_add(b, &def, &id, &err), VY_BAD_VALUE);
    def.inertia = mat3_diag(1, 1, -1);
    assert_int_equal(vy_bodies_add(b, &def, &id, &err), VY_BAD_VALUE);
    def = brick();
    def.state.velocity.y = INFINITE;
    assert_int_equal(vy_bodies_add(b, &def, &id, &err), VY_BAD_VALUE);
    def = brick();
    def.state.attitude = (vy_quat){0, 0, 0, 0};
    assert_int_equal(vy_bodies_add(b, &def, &id, &err), VY_BAD_VALUE);
    def = brick();
    def.kind = (vy_body_kind)9;
    assert_int_equal(vy_bodies_add(b, &def, &id, &err), VY_BAD_VALUE);
    def = brick();
    def.cookie = 0;
    assert_int_equal(vy_bodies_add(b, &def, &id, &err), VY_BAD_VALUE);
    assert_true(id.bits == 77);
    assert_int_equal(vy_bodies_count(b), 0);

    vy_bodies_destroy(b);

    vy_bodies_def set = vy_default_bodies_def();
    vy_bodies *none = (vy_bodies *)&set;
    set.dt = 0.0;
    assert_int_equal(vy_bodies_create(&set, &none, &err), VY_BAD_VALUE);
    assert_null(none);
    set = vy_default_bodies_def();
    set.integrator = (vy_integrator)17;
    assert_int_equal(vy_bodies_create(&set, &none, &err), VY_BAD_VALUE);
}

static void bodies_ids_go_stale(void **unused)
{
    (void)unused;
    vy_bodies *b = new_set();
    const vy_body_def def = brick();
    const vy_body_id first = add(b, &def), second = add(b, &def);
    assert_true(vy_bodies_has(b, first) && !vy_bodies_has(b, VY_NULL_BODY));
    assert_int_equal(vy_bodies_remove(b, first), VY_OK);
    assert_int_equal(vy_bodies_remove(b, first), VY_NOT_FOUND);
    const vy_body_id third = add(b, &def); // takes the slot of the first, with another id
    assert_true((third.bits & 0xffffffffu) == (first.bits & 0xffffffffu) && third.bits != first.bits);
    vy_body_state s = {.position = {1, 2, 3}};
    assert_int_equal(vy_body_read(b, first, &s), VY_NOT_FOUND);
    assert_true(s.position.x == 1.0); // untouched
    assert_int_equal(vy_body_apply_force(b, first, (vy_vec3){1, 0, 0}, VY_FRAME_WORLD), VY_NOT_FOUND);
    assert_int_equal(vy_body_apply_impulse(b, first, (vy_vec3){1, 0, 0}, VY_FRAME_WORLD), VY_NOT_FOUND);
    assert_int_equal(vy_body_set_state(b, first, &s), VY_NOT_FOUND);
    assert_int_equal(vy_body_stop(b, first), VY_NOT_FOUND);
    assert_int_equal(vy_bodies_count(b), 2);
    assert_true(vy_bodies_at(b, 1).bits == second.bits && vy_bodies_at(b, 2).bits == 0);
    vy_bodies_destroy(b);
}

// A force at a point is a force and its torque, in whichever frames it is given.
static void bodies_force_at_points(void **unused)
{
    (void)unused;
    random_source r = {11};
    for (int trial = 0; trial < 50; ++trial) {
        vy_bodies *b = new_set();
        vy_body_def def = brick();
        def.state.attitude = random_attitude(&r);
        def.state.position = random_vec(&r, 5);
        vy_body_id id[4];
        for (int k = 0; k < 4; ++k) id[k] = add(b, &def);
        const vy_vec3 force = random_vec(&r, 3), local = random_vec(&r, 1);
        const vy_vec3 lever = quat_rotate(def.state.attitude, local);
        const vy_vec3 world = vec3_add(def.state.position, lever);
        const vy_vec3 body_force = quat_unrotate(def.state.attitude, force);
        vy_body_apply_force_at(b, id[0], force, VY_FRAME_WORLD, world, VY_FRAME_WORLD);
        vy_body_apply_force_at(b, id[1], force, VY_FRAME_WORLD, local, VY_FRAME_BODY);
        vy_body_apply_force(b, id[2], force, VY_FRAME_WORLD);
        vy_body_apply_torque(b, id[2], vec3_cross(lever, force), VY_FRAME_WORLD);
        vy_body_apply_force_at(b, id[3], body_force, VY_FRAME_BODY, world, VY_FRAME_WORLD);
        vy_bodies_set_integrator(b, VY_INTEGRATOR_EULER); // one evaluation: a = F/m, w' = I^-1 t exactly
        assert_int_equal(vy_bodies_step(b), 0);
        const vy_vec3 t = quat_unrotate(def.state.attitude, vec3_cross(lever, force));
        const vy_vec3 moments = {2.0 / 3 * (0.04 + 0.09), 2.0 / 3 * (0.01 + 0.09), 2.0 / 3 * (0.01 + 0.04)};
        const vy_vec3 want = {t.x / moments.x, t.y / moments.y, t.z / moments.z};
        for (int k = 0; k < 4; ++k) {
            vy_vec3 linear, angular;
            assert_int_equal(vy_body_read_acceleration(b, id[k], &linear, &angular), VY_OK);
            assert_vec_near(linear, vec3_scale(0.5, force), 1e-12);
            assert_vec_near(angular, want, 1e-11);
        }
        // Forces act once.
        const vy_body_state after = state_of(b, id[0]);
        vy_bodies_step(b);
        assert_vec_near(state_of(b, id[0]).velocity, after.velocity, 0.0);
        // And not at all when they are cleared first.
        vy_body_apply_force(b, id[0], force, VY_FRAME_WORLD);
        vy_body_clear_forces(b, id[0]);
        vy_bodies_step(b);
        assert_vec_near(state_of(b, id[0]).velocity, after.velocity, 0.0);
        vy_bodies_destroy(b);
    }
}

static void bodies_impulses(void **unused)
{
    (void)unused;
    random_source r = {12};
    vy_bodies *b = new_set();
    vy_body_def def = brick();
    def.state.attitude = random_attitude(&r);
    def.state.position = random_vec(&r, 5);
    const vy_body_id id = add(b, &def);
    // 100 N s on 2 kg: 50 m/s. Momentum about the origin grows by r x J, wherever J acts.
    const vy_vec3 impulse = {0, 100, 0}, point = random_vec(&r, 6);
    vy_body_apply_impulse_at(b, id, impulse, VY_FRAME_WORLD, point, VY_FRAME_WORLD);
    vy_vec3 p, l;
    vy_bodies_read_momentum(b, &p, &l);
    assert_vec_near(p, impulse, 1e-12);
    assert_vec_near(l, vec3_cross(point, impulse), 1e-11);
    vy_body_apply_angular_impulse(b, id, (vy_vec3){1, 2, 3}, VY_FRAME_WORLD);
    vy_vec3 l2;
    vy_bodies_read_momentum(b, &p, &l2);
    assert_vec_near(vec3_sub(l2, l), ((vy_vec3){1, 2, 3}), 1e-11);
    assert_vec_near(state_of(b, id).velocity, ((vy_vec3){0, 50, 0}), 1e-12);
    assert_near(vy_body_linear_energy(b, id), 0.5 * 2.0 * 2500.0, 1e-9);
    const vy_vec3 w = state_of(b, id).rate;
    const double m = 2.0 / 3;
    assert_near(vy_body_rotational_energy(b, id),
                0.5 * m * (0.13 * w.x * w.x + 0.10 * w.y * w.y + 0.05 * w.z * w.z),
                1e-9 * vy_body_rotational_energy(b, id));
    vy_bodies_destroy(b);
}

static void bodies_rest_and_reset(void **unused)
{
    (void)unused;
    vy_bodies *b = new_set();
    vy_body_def def = brick();
    def.state.velocity = (vy_vec3){0, 0.6e-6, 0.6e-6};
    const vy_body_id id = add(b, &def);
    assert_true(vy_body_at_rest(b, id, VY_REST_SPEED, VY_REST_RATE));
    vy_body_apply_impulse(b, id, (vy_vec3){1e-6, 0, 0}, VY_FRAME_WORLD); // 0.5e-6 more: |v| 0.98e-6
    assert_true(vy_body_at_rest(b, id, VY_REST_SPEED, VY_REST_RATE));
    vy_body_apply_impulse(b, id, (vy_vec3){1e-6, 0, 0}, VY_FRAME_WORLD);
    assert_false(vy_body_at_rest(b, id, VY_REST_SPEED, VY_REST_RATE));
    assert_true(vy_body_at_rest(b, id, 1e-5, VY_REST_RATE));
    vy_body_apply_angular_impulse(b, id, (vy_vec3){0, 0, 1}, VY_FRAME_BODY);
    assert_false(vy_body_at_rest(b, id, 1e-5, VY_REST_RATE));
    vy_body_apply_force(b, id, (vy_vec3){1, 0, 0}, VY_FRAME_WORLD);
    assert_int_equal(vy_body_stop(b, id), VY_OK);
    vy_bodies_step(b);
    const vy_body_state s = state_of(b, id);
    assert_true(s.velocity.x == 0.0 && s.rate.z == 0.0 && s.position.x == 0.0);
    assert_false(vy_body_at_rest(b, VY_NULL_BODY, 1.0, 1.0));
    vy_bodies_destroy(b);
}

static void bodies_static_and_kinematic(void **unused)
{
    (void)unused;
    vy_bodies_def set = vy_default_bodies_def();
    vy_bodies *b = NULL;
    assert_int_equal(vy_bodies_create(&set, &b, NULL), VY_OK);
    vy_body_def def = brick();
    def.kind = VY_BODY_STATIC;
    def.mass = 0.0; // needs none
    def.state.velocity = (vy_vec3){1, 0, 0};
    const vy_body_id wall = add(b, &def);
    def.kind = VY_BODY_KINEMATIC;
    def.state.rate = (vy_vec3){0, 0, PI};
    const vy_body_id lift = add(b, &def);
    for (int k = 0; k < 1000; ++k) {
        vy_body_apply_force(b, wall, (vy_vec3){9, 9, 9}, VY_FRAME_WORLD);
        vy_body_apply_impulse(b, lift, (vy_vec3){9, 9, 9}, VY_FRAME_WORLD);
        vy_bodies_step(b);
    }
    assert_vec_near(state_of(b, wall).position, ((vy_vec3){0, 0, 0}), 0.0);
    assert_vec_near(state_of(b, lift).position, ((vy_vec3){1, 0, 0}), 1e-12);
    assert_near(check_angle(state_of(b, lift).attitude, turn(PI, 0, 0, 1)), 0.0, 1e-12);
    vy_bodies_destroy(b);
}

// Stepping on from a snapshot gives the same bits, with forces that wait included.
static void bodies_snapshot(void **unused)
{
    (void)unused;
    random_source r = {5};
    vy_bodies *b = new_set();
    vy_body_id id = {0};
    for (int k = 0; k < 5; ++k) {
        vy_body_def def = brick();
        def.state.attitude = random_attitude(&r);
        def.state.rate = random_vec(&r, 6);
        def.state.velocity = random_vec(&r, 1);
        id = add(b, &def);
    }
    for (int k = 0; k < 10; ++k) vy_bodies_step(b);
    vy_body_apply_force(b, id, (vy_vec3){1, 2, 3}, VY_FRAME_BODY);
    const size_t size = vy_bodies_state_size(b);
    void *block = malloc(size);
    assert_non_null(block);
    vy_bodies_save(b, block);
    for (int k = 0; k < 10; ++k) vy_bodies_step(b);
    const uint64_t want = vy_bodies_hash(b);
    assert_int_equal(vy_bodies_restore(b, block, size, NULL), VY_OK);
    assert_int_equal(vy_bodies_tick(b), 10);
    assert_true(vy_bodies_hash(b) != want);
    for (int k = 0; k < 10; ++k) vy_bodies_step(b);
    assert_true(vy_bodies_hash(b) == want);
    assert_int_equal(vy_bodies_restore(b, block, size - 8, NULL), VY_BAD_VALUE);
    vy_bodies_remove(b, id);
    assert_int_equal(vy_bodies_restore(b, block, size, NULL), VY_BAD_VALUE);
    free(block);
    vy_bodies_destroy(b);
}

// A state that would become infinite is not taken, and the set says so from then on.
static void bodies_not_finite(void **unused)
{
    (void)unused;
    vy_bodies *b = new_set();
    vy_body_def def = brick();
    const vy_body_id id = add(b, &def), other = add(b, &def);
    vy_body_apply_force(b, id, (vy_vec3){1.7e308, 0, 0}, VY_FRAME_WORLD);
    vy_body_apply_force(b, id, (vy_vec3){1.7e308, 0, 0}, VY_FRAME_WORLD);
    assert_int_equal(vy_bodies_step(b), VY_BODIES_NOT_FINITE);
    assert_true(state_of(b, id).velocity.x == 0.0 && state_of(b, other).velocity.x == 0.0);
    assert_int_equal(vy_bodies_step(b), VY_BODIES_NOT_FINITE);
    assert_int_equal(vy_bodies_tick(b), 1);
    vy_bodies_destroy(b);
}

// Nor is an impulse that would make it so.
static void bodies_refuse_endless_impulses(void **unused)
{
    (void)unused;
    vy_bodies *b = new_set();
    const vy_body_def def = brick();
    const vy_body_id id = add(b, &def);
    const uint64_t before = vy_bodies_hash(b);
    const vy_vec3 huge = {1e300, 0, 0}, endless = {0, INFINITE, 0}, none = {0, NOT_A_NUMBER, 0},
                  far = {0, 1e300, 0};
    assert_int_equal(vy_body_apply_impulse(b, id, huge, VY_FRAME_WORLD), VY_BAD_VALUE);
    assert_int_equal(vy_body_apply_impulse(b, id, endless, VY_FRAME_BODY), VY_BAD_VALUE);
    assert_int_equal(vy_body_apply_angular_impulse(b, id, none, VY_FRAME_BODY), VY_BAD_VALUE);
    assert_int_equal(vy_body_apply_impulse_at(b, id, (vy_vec3){1, 0, 0}, VY_FRAME_WORLD, far, VY_FRAME_BODY),
                     VY_BAD_VALUE);
    assert_true(vy_bodies_hash(b) == before);
    vy_bodies_destroy(b);
}

// Sets of bodies on a floor, some on joints to each other and to the world. `reserve`: memory for all of them
// is taken at once; else the set grows as they come, also between steps.
static uint64_t hash_of_growth(int reserve, double sleep, double *lowest)
{
    enum { BODIES = 90 };
    vy_bodies_def def = vy_default_bodies_def();
    def.dt = 1.0 / 240.0;
    def.contacts.on = 1;
    def.contacts.time_to_sleep = sleep;
    vy_bodies *b = NULL;
    vy_body_id ids[BODIES];
    vy_shape cube, floor;
    vy_potential pull;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    if (reserve) assert_int_equal(vy_bodies_reserve(b, 3 * BODIES, BODIES, NULL), VY_OK);
    assert_int_equal(vy_shape_box((vy_vec3){0.1, 0.1, 0.1}, &cube, NULL), VY_OK);
    assert_int_equal(vy_shape_plane((vy_vec3){0, 0, 1}, 0.0, &floor, NULL), VY_OK);
    assert_int_equal(vy_potential_uniform((vy_vec3){0.1, 0, 0}, &pull, NULL), VY_OK);
    assert_int_equal(vy_bodies_add_potential(b, &pull, VY_NULL_BODY, NULL), VY_OK); // on those to come, too
    vy_body_def ground = vy_default_body_def();
    ground.kind = VY_BODY_STATIC;
    ground.shape = &floor;
    (void)add(b, &ground);
    uint64_t hash = 0;
    for (int i = 0; i < BODIES; ++i) {
        vy_body_def body = vy_default_body_def();
        body.shape = &cube;
        body.state.position = (vy_vec3){0.5 * (i % 10), 0.5 * (i / 10), 0.15 + 0.05 * (i % 3)};
        ids[i] = add(b, &body);
        if (i % 7 == 3) { // a ball at the world, or a hinge to the one before
            vy_joint_def joint = vy_default_joint_def();
            const vy_vec3 p = body.state.position;
            joint.kind = VY_JOINT_BALL;
            joint.body_a = ids[i];
            joint.anchor_a = (vy_vec3){0, 0, 0.2};
            joint.anchor_b = (vy_vec3){p.x, p.y, p.z + 0.2};
            if (i % 2 == 0 && i % 10 != 0) {
                joint.kind = VY_JOINT_HINGE;
                joint.body_b = ids[i - 1];
                joint.anchor_b = (vy_vec3){0.5, 0, 0.2 + 0.05 * (i % 3) - 0.05 * ((i - 1) % 3)};
            }
            assert_int_equal(vy_bodies_add_joint(b, &joint, NULL, NULL), VY_OK);
        }
        if (i == 40) assert_int_equal(vy_bodies_remove(b, ids[10]), VY_OK);
        if (i % 9 == 8) {
            for (int n = 0; n < 20; ++n) (void)vy_bodies_step(b);
            hash = 31 * hash + vy_bodies_hash(b);
        }
    }
    for (int n = 0; n < 240; ++n) (void)vy_bodies_step(b);
    *lowest = 1.0;
    for (int i = 0; i < BODIES; ++i) {
        vy_body_state s;
        if (vy_body_read(b, ids[i], &s) == VY_OK && s.position.z < *lowest) *lowest = s.position.z;
    }
    hash = 31 * hash + vy_bodies_hash(b);
    vy_bodies_destroy(b);
    return hash;
}

static void bodies_grow_without_a_trace(void **unused)
{
    (void)unused;
    for (int sleeps = 0; sleeps < 2; ++sleeps) {
        double lowest[2];
        const uint64_t one = hash_of_growth(0, 0.3 * sleeps, &lowest[0]),
                       all = hash_of_growth(1, 0.3 * sleeps, &lowest[1]);
        assert_true(one == all);
        assert_true(lowest[0] > 0.08 && lowest[0] < 0.2); // they lie on the floor
    }
}

// The array of states is the bodies' own: it follows them; and where it was before it grew is still readable.
static void bodies_states_in_place(void **unused)
{
    (void)unused;
    enum { BODIES = 300 };
    vy_bodies *b = new_set();
    vy_body_def def = brick();
    def.state.velocity = (vy_vec3){1, 2, 3};
    const vy_body_id first = add(b, &def);
    const vy_body_state *before = vy_bodies_states(b);
    (void)vy_bodies_step(b);
    const vy_body_state s = state_of(b, first);
    assert_memory_equal(&before[0], &s, sizeof s);
    for (int i = 1; i < BODIES; ++i) (void)add(b, &def);
    vy_joint_def joint = vy_default_joint_def();
    joint.kind = VY_JOINT_BALL;
    joint.body_b = first;
    for (int i = 0; i < BODIES; ++i) assert_int_equal(vy_bodies_add_joint(b, &joint, NULL, NULL), VY_OK);
    const vy_body_state *after = vy_bodies_states(b);
    assert_true(after != before);
    assert_memory_equal(&before[0], &s, sizeof s);
    (void)vy_bodies_remove(b, vy_bodies_at(b, 1));
    (void)vy_bodies_step(b);
    for (uint32_t i = 0; i < vy_bodies_slot_count(b); ++i) {
        const vy_body_state want = i == 1 ? (vy_body_state){0} : state_of(b, vy_bodies_at(b, i));
        assert_memory_equal(&after[i], &want, sizeof want);
    }
    vy_bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_hull_gives_inertia),
        cmocka_unit_test(bodies_refuse_bad_defs),
        cmocka_unit_test(bodies_grow_without_a_trace),
        cmocka_unit_test(bodies_states_in_place),
        cmocka_unit_test(bodies_ids_go_stale),
        cmocka_unit_test(bodies_force_at_points),
        cmocka_unit_test(bodies_impulses),
        cmocka_unit_test(bodies_rest_and_reset),
        cmocka_unit_test(bodies_static_and_kinematic),
        cmocka_unit_test(bodies_snapshot),
        cmocka_unit_test(bodies_not_finite),
        cmocka_unit_test(bodies_refuse_endless_impulses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
