// test_joint_solver.c - the solver of joints: dense against blocks, redundant and conflicting rows, loops,
// bad input, constraints of the user, snapshots.
#include "joint_sets.h"
#include <stdlib.h>

static vy_joint_solution solved(vy_bodies *b, vy_joint_solver solver, double *lambda)
{
    vy_joint_solution s;
    assert_int_equal(vy_bodies_solve_joints(b, solver, lambda, &s), VY_OK);
    return s;
}

static void solver_empty_set(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(G);
    add_box(b, 1.0, (vy_vec3){0.1, 0.1, 0.1}, standing(0, 0, 0));
    for (int n = VY_JOINT_SOLVER_AUTO; n <= VY_JOINT_SOLVER_TREE; ++n) {
        const vy_joint_solution s = solved(b, (vy_joint_solver)n, NULL);
        assert_int_equal(s.converged, 1);
        assert_int_equal(s.rows, 0);
        assert_true(s.condition == 1.0 && s.residual == 0.0);
    }
    vy_bodies_destroy(b);
}

// A door on two hinges has five rows too many: dense fails as it must, and auto finds the forces all the
// same.
static void auto_leaves_out_redundant_rows(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(G);
    const vy_body_id door = add_box(b, 20.0, (vy_vec3){0.45, 0.02, 1.0}, standing(0.45, 0, 1.0));
    join(b, VY_JOINT_HINGE, VY_NULL_BODY, door, (vy_vec3){0, 0, 0.2}, (vy_vec3){0, 0, 1});
    join(b, VY_JOINT_HINGE, VY_NULL_BODY, door, (vy_vec3){0, 0, 1.8}, (vy_vec3){0, 0, 1});
    assert_int_equal(solved(b, VY_JOINT_SOLVER_DENSE, NULL).converged, 0);
    for (int n = 0; n < 2; ++n) {
        const vy_joint_solution s = solved(b, n == 0 ? VY_JOINT_SOLVER_TREE : VY_JOINT_SOLVER_AUTO, NULL);
        assert_int_equal(s.converged, 1);
        assert_int_equal(s.redundant, 5);
        assert_true(s.residual < 1e-12);
    }
    vy_bodies_destroy(b);
}

// A universal joint is placed with its axes square to each other, so that it holds from the start.
static void universal_joints_are_placed_closed(void **unused)
{
    (void)unused;
    random_source r = {5};
    for (int round = 0; round < 50; ++round) {
        vy_bodies *b = set_of(G);
        const vy_body_state at = {.position = random_vec(&r, 1.0), .attitude = random_attitude(&r)};
        const vy_body_id a = add_box(b, 1.0, (vy_vec3){0.1, 0.2, 0.3}, standing(0, 0, 0)),
                         c = add_box(b, 1.0, (vy_vec3){0.1, 0.2, 0.3}, at);
        vy_joint_def def = vy_default_joint_def();
        vy_joint_id id;
        vy_joint_state state;
        def.kind = VY_JOINT_UNIVERSAL;
        const vec3 first = random_vec(&r, 1.0), second = random_vec(&r, 1.0);
        assert_int_equal(vy_joint_set_frames(b, a, c, second, first, &def), VY_OK);
        assert_int_equal(vy_bodies_add_joint(b, &def, &id, NULL), VY_OK);
        assert_int_equal(vy_joint_read(b, id, &state), VY_OK);
        for (int k = 0; k < VY_CONSTRAINT_ROWS; ++k) assert_near(state.value[k], 0.0, 1e-14);
        vy_bodies_destroy(b);
    }
}

/// A tree of bodies with all kinds of joints, moving as the joints allow.
static vy_bodies *tangle(random_source *r, int closed)
{
    vy_bodies *b = set_of(G);
    vy_body_id ids[7];
    const vy_joint_kind kinds[] = {VY_JOINT_BALL,     VY_JOINT_HINGE, VY_JOINT_UNIVERSAL, VY_JOINT_SLIDER,
                                   VY_JOINT_DISTANCE, VY_JOINT_FIXED, VY_JOINT_BALL};
    for (int k = 0; k < 7; ++k) {
        vy_body_state s = {.position = random_vec(r, 1.0), .attitude = random_attitude(r)};
        s.velocity = random_vec(r, 1.0);
        s.rate = random_vec(r, 3.0);
        ids[k] = add_box(b, random_in(r, 0.2, 2.0), (vy_vec3){0.1, 0.2, 0.3}, s);
        const vy_body_id other = k == 0   ? VY_NULL_BODY
                                 : closed ? ids[k - 1]
                                          : ids[random_bits(r) % (uint64_t)k];
        vy_joint_def def = vy_default_joint_def();
        def.kind = kinds[k];
        const vy_vec3 axis = random_vec(r, 1.0);
        assert_int_equal(vy_joint_set_frames(b, other, ids[k], random_vec(r, 1.0), axis, &def), VY_OK);
        if (def.kind == VY_JOINT_UNIVERSAL) {
            const vy_vec3 square = vec3_cross(axis, random_vec(r, 1.0));
            def.axis_b = quat_unrotate(s.attitude, square);
        }
        if (def.kind == VY_JOINT_DISTANCE) {
            def.anchor_b = vec3_add(def.anchor_b, (vy_vec3){0.3, 0.4, 0});
            def.length = 0.5;
        }
        assert_int_equal(vy_bodies_add_joint(b, &def, NULL, NULL), VY_OK);
    }
    if (closed) join(b, VY_JOINT_BALL, ids[3], ids[6], random_vec(r, 1.0), (vy_vec3){0, 0, 1});
    return b;
}

// Both factorisations find the same multipliers, for trees and for loops, and these hold every row.
static void solver_dense_agrees_with_blocks(void **unused)
{
    (void)unused;
    random_source r = {71};
    for (int trial = 0; trial < 40; ++trial) {
        vy_bodies *b = tangle(&r, trial % 2);
        double dense[6 * 64] = {0}, tree[6 * 64] = {0};
        const vy_joint_solution x = solved(b, VY_JOINT_SOLVER_DENSE, dense),
                                y = solved(b, VY_JOINT_SOLVER_TREE, tree);
        assert_int_equal(x.converged, 1);
        assert_int_equal(y.converged, 1);
        assert_int_equal(x.rows, 3 + 5 + 4 + 5 + 1 + 6 + 3 + (trial % 2 ? 3 : 0));
        assert_int_equal(y.redundant, 0);
        double size = 0.0;
        for (int k = 0; k < 6 * 8; ++k) size = fmax(size, fabs(dense[k]));
        for (int k = 0; k < 6 * 8; ++k) assert_near(tree[k], dense[k], 1e-13 * x.condition * (1.0 + size));
        assert_near(x.residual, 0.0, 1e-12 * x.condition);
        assert_near(y.residual, 0.0, 1e-12 * x.condition);
        assert_true(x.condition == y.condition && x.condition > 1.0);
        vy_bodies_destroy(b);
    }
}

// Bodies pinned at their centres: the matrix is diagonal with 1/m, so its condition number is a ratio of
// masses.
static void solver_condition_number(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(G);
    const double masses[3] = {0.5, 2.0, 16.0};
    for (int k = 0; k < 3; ++k) {
        const vy_body_id id = add_box(b, masses[k], (vy_vec3){0.1, 0.2, 0.3}, standing(k, 0, 0));
        join(b, VY_JOINT_BALL, VY_NULL_BODY, id, (vy_vec3){k, 0, 0}, (vy_vec3){0, 0, 1});
        if (k == 0) assert_near(solved(b, VY_JOINT_SOLVER_AUTO, NULL).condition, 1.0, 1e-12);
    }
    double lambda[6 * 64];
    assert_near(solved(b, VY_JOINT_SOLVER_AUTO, lambda).condition, 32.0, 1e-9);
    for (int k = 0; k < 3; ++k)
        assert_near(lambda[6 * k + 2], masses[k] * G, 1e-12); // each carries its weight
    vy_bodies_destroy(b);
}

// The same joint twice: Cholesky fails as it must, the blocks leave the second out, and the motion is the
// same.
static void solver_redundant_rows(void **unused)
{
    (void)unused;
    vy_bodies *one = set_of(G), *two = set_of(G);
    vy_body_id last_one = VY_NULL_BODY, last_two = VY_NULL_BODY;
    for (int k = 0; k < 3; ++k) {
        const vy_vec3 half = {0.1, 0.02, 0.02}, at = {0.2 * k, 0, 0}, up = {0, 0, 1};
        const vy_body_id x = add_box(one, 0.1, half, standing(0.2 * k + 0.1, 0, 0));
        const vy_body_id y = add_box(two, 0.1, half, standing(0.2 * k + 0.1, 0, 0));
        join(one, VY_JOINT_BALL, last_one, x, at, up);
        join(two, VY_JOINT_BALL, last_two, y, at, up);
        if (k == 1) join(two, VY_JOINT_BALL, last_two, y, at, up);
        last_one = x;
        last_two = y;
    }
    const vy_joint_solution dense = solved(two, VY_JOINT_SOLVER_DENSE, NULL),
                            tree = solved(two, VY_JOINT_SOLVER_TREE, NULL);
    assert_int_equal(dense.converged, 0);
    assert_int_equal(tree.converged, 1);
    assert_int_equal(tree.redundant, 3);
    assert_int_equal(tree.conflicting, 0);
    for (int k = 0; k < 1000; ++k) {
        assert_int_equal(vy_bodies_step(one), 0);
        assert_int_equal(vy_bodies_step(two), VY_BODIES_REDUNDANT);
    }
    assert_vec_near(state_of(two, last_two).position, state_of(one, last_one).position, 1e-9);
    vy_bodies_destroy(one);
    vy_bodies_destroy(two);
}

// Joints that cannot both hold are reported, and nothing explodes.
static void solver_conflicting_rows(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(G);
    const vy_body_id id = add_box(b, 1.0, (vy_vec3){0.1, 0.1, 0.1}, standing(0, 0, 0));
    vy_joint_def def = vy_default_joint_def();
    def.kind = VY_JOINT_BALL;
    def.body_b = id;
    assert_int_equal(vy_bodies_add_joint(b, &def, NULL, NULL), VY_OK);
    def.anchor_a = (vy_vec3){0.05, 0, 0}; // the same point of the body at another place
    assert_int_equal(vy_bodies_add_joint(b, &def, NULL, NULL), VY_OK);
    for (int k = 0; k < 200; ++k) assert_true((vy_bodies_step(b) & VY_BODIES_CONFLICT) != 0);
    assert_true(vec3_length(state_of(b, id).position) < 0.1);
    assert_true(vec3_length(state_of(b, id).velocity) < 1.0);
    vy_bodies_destroy(b);
}

// Four bars on hinges make a loop with three redundant rows (hinges out of the plane). It swings, keeps its
// energy, and stays closed.
static void solver_closed_loop(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(G);
    const vy_vec3 corner[4] = {{0, 0, 0}, {0, 0, -0.5}, {0.7, 0, -0.5}, {0.7, 0, 0}}, axis = {0, 1, 0};
    vy_body_id ids[3];
    for (int k = 0; k < 3; ++k) {
        const vy_vec3 middle = vec3_scale(0.5, vec3_add(corner[k], corner[k + 1]));
        const vy_vec3 half = k == 1 ? (vy_vec3){0.35, 0.02, 0.02} : (vy_vec3){0.02, 0.02, 0.25};
        vy_body_state s = standing(middle.x, middle.y, middle.z);
        ids[k] = add_box(b, 0.5, half, s);
    }
    vy_joint_id joints[4];
    joints[0] = join(b, VY_JOINT_HINGE, VY_NULL_BODY, ids[0], corner[0], axis);
    joints[1] = join(b, VY_JOINT_HINGE, ids[0], ids[1], corner[1], axis);
    joints[2] = join(b, VY_JOINT_HINGE, ids[1], ids[2], corner[2], axis);
    joints[3] = join(b, VY_JOINT_HINGE, ids[2], VY_NULL_BODY, corner[3], axis);
    vy_body_apply_impulse(b, ids[1], (vy_vec3){0.6, 0, 0}, VY_FRAME_WORLD);
    assert_int_equal(vy_bodies_step(b), VY_BODIES_REDUNDANT);
    const double energy = total_energy(b);
    for (int k = 0; k < 3000; ++k) {
        assert_int_equal(vy_bodies_step(b), VY_BODIES_REDUNDANT);
        for (int n = 0; n < 4; ++n) assert_near(joint_of(b, joints[n]).gap, 0.0, 1e-11);
    }
    assert_near(total_energy(b), energy, 1e-8);
    assert_true(fabs(joint_of(b, joints[0]).rate) > 0.01); // it moves
    vy_bodies_destroy(b);
}

static void solver_refuses_bad_defs(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(G);
    const vy_body_id id = add_box(b, 1.0, (vy_vec3){0.1, 0.1, 0.1}, standing(0, 0, 0));
    vy_joint_id joint = {5};
    vy_error err;
    vy_joint_def def = vy_default_joint_def();
    def.body_b = id;
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, &err), VY_BAD_VALUE); // no kind
    def.kind = VY_JOINT_DISTANCE;
    def.length = -1.0;
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, &err), VY_BAD_DISTANCE);
    def.length = NOT_A_NUMBER;
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, &err), VY_BAD_DISTANCE);
    def.kind = VY_JOINT_CABLE;
    def.length = 0.0;
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, &err), VY_BAD_DISTANCE);
    def.kind = VY_JOINT_BALL;
    def.body_a = id;
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, &err), VY_BAD_VALUE); // to itself
    def.body_a = (vy_body_id){99};
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, &err), VY_NOT_FOUND);
    def.body_a = def.body_b = VY_NULL_BODY;
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, &err), VY_BAD_VALUE); // the world to itself
    def.body_b = id;
    def.anchor_a.x = INFINITE;
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, &err), VY_BAD_VALUE);
    def = vy_default_joint_def();
    def.kind = VY_JOINT_HINGE;
    def.body_b = id;
    def.axis_a = (vy_vec3){0, 0, 0};
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, &err), VY_BAD_VALUE);
    def.axis_a = def.axis_b;
    def.limited = 1;
    def.low = 1.0;
    def.high = 0.5;
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, &err), VY_BAD_VALUE);
    def.low = -4.0;
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, &err), VY_BAD_VALUE);
    def.kind = VY_JOINT_BALL;
    def.low = 0.0;
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, &err), VY_BAD_VALUE); // a ball has no limits
    def.limited = 0;
    def.stiffness = -1.0;
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, &err), VY_BAD_VALUE);
    def.stiffness = 0.0;
    def.kind = VY_JOINT_CUSTOM;
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, &err), VY_BAD_VALUE);
    assert_true(joint.bits == 5);
    assert_int_equal(vy_bodies_joint_count(b), 0);
    vy_bodies_destroy(b);
}

static void solver_joint_ids_go_stale(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(G);
    const vy_body_id x = add_box(b, 1.0, (vy_vec3){0.1, 0.1, 0.1}, standing(0, 0, 0));
    const vy_body_id y = add_box(b, 1.0, (vy_vec3){0.1, 0.1, 0.1}, standing(1, 0, 0));
    const vy_joint_id first = join(b, VY_JOINT_BALL, VY_NULL_BODY, x, (vy_vec3){0, 0, 0}, (vy_vec3){0, 0, 1});
    const vy_joint_id second = join(b, VY_JOINT_BALL, x, y, (vy_vec3){0.5, 0, 0}, (vy_vec3){0, 0, 1});
    run(b, 10);
    assert_int_equal(vy_bodies_remove_joint(b, first), VY_OK);
    assert_int_equal(vy_bodies_remove_joint(b, first), VY_NOT_FOUND);
    run(b, 10);
    vy_joint_state s;
    assert_int_equal(vy_joint_read(b, first, &s), VY_NOT_FOUND);
    assert_int_equal(vy_bodies_remove(b, y), VY_OK); // takes its joint along
    assert_int_equal(vy_joint_read(b, second, &s), VY_NOT_FOUND);
    assert_int_equal(vy_bodies_joint_count(b), 0);
    const vy_vec3 v = state_of(b, x).velocity;
    run(b, 100);
    assert_near(state_of(b, x).velocity.z, v.z - 0.1 * G, 1e-12); // free again
    vy_bodies_destroy(b);
}

// ---- constraints of the user

/// The ball joint once more, by hand, without a bias.
static void pin_value(const vy_constraint *c, const vy_body_state *a, const vy_body_state *b, double time,
                      double *value)
{
    (void)a;
    (void)time;
    const vy_vec3 lever = quat_rotate(b->attitude, *(const vy_vec3 *)c->self);
    const vy_vec3 p = vec3_add(b->position, lever);
    value[0] = p.x;
    value[1] = p.y;
    value[2] = p.z;
}

static void pin_jacobian(const vy_constraint *c, const vy_body_state *a, const vy_body_state *b, double time,
                         vy_jacobian ja, vy_jacobian jb)
{
    (void)a;
    (void)time;
    (void)ja;
    const vy_vec3 r = quat_rotate(b->attitude, *(const vy_vec3 *)c->self);
    const double rows[3][6] = {{1, 0, 0, 0, r.z, -r.y}, {0, 1, 0, -r.z, 0, r.x}, {0, 0, 1, r.y, -r.x, 0}};
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 6; ++k) jb[i][k] = rows[i][k];
    }
}

static void solver_custom_equals_built_in(void **unused)
{
    (void)unused;
    vy_body_state s = {.position = {0.3, 0.1, 0}, .attitude = turn(0.4, 0.6, 0, 0.8), .rate = {1, 2, 3}};
    const vy_vec3 lever = quat_unrotate(s.attitude, vec3_neg(s.position));
    s.velocity = vec3_cross(quat_rotate(s.attitude, s.rate), s.position);
    vy_constraint pin = vy_default_constraint();
    assert_true(pin.alpha == 10.0 && pin.beta == 10.0);
    pin.dimension = 3;
    pin.self = &lever;
    pin.evaluate = pin_value;
    pin.jacobian = pin_jacobian;
    vy_body_state end[2];
    for (int n = 0; n < 2; ++n) {
        vy_bodies *b = set_of(G);
        vy_joint_def def = vy_default_joint_def();
        def.body_b = add_box(b, 1.0, (vy_vec3){0.1, 0.2, 0.3}, s);
        def.kind = n == 0 ? VY_JOINT_BALL : VY_JOINT_CUSTOM;
        def.anchor_b = lever;
        def.custom = &pin;
        assert_int_equal(vy_bodies_add_joint(b, &def, NULL, NULL), VY_OK);
        run(b, 1000);
        end[n] = state_of(b, def.body_b);
        vy_bodies_destroy(b);
    }
    assert_vec_near(end[1].position, end[0].position, 1e-7); // the bias is by differences
}

// Ruling 14: rows over twists, and the unit quaternion over seven columns for those who ask.
static void ruling_14_unit_quaternion_row(void **unused)
{
    (void)unused;
    const vy_quat q = {0.9, 0.3, -0.2, 0.4};
    double row[7];
    vy_unit_quaternion_jacobian(q, row);
    assert_near(vy_unit_quaternion_value(q), 0.81 + 0.09 + 0.04 + 0.16 - 1.0, 1e-15);
    const double want[7] = {0, 0, 0, 1.8, 0.6, -0.4, 0.8};
    for (int k = 0; k < 7; ++k) assert_near(row[k], want[k], 1e-15);
}

// Ruling 17: normalise, project the rate, Baumgarte: within 1e-10 over 10,000 steps of explicit Euler.
static void ruling_17_enforce(void **unused)
{
    (void)unused;
    vy_quat q = {1, 0, 0, 0};
    double worst = 0.0, speed = 0.0;
    for (int k = 0; k < 10000; ++k) {
        vy_quat rate = quat_scale(0.5, quat_mul(q, (vy_quat){0, 10, -20, 30}));
        q = quat_add_scaled(q, 0.016, rate);
        vy_unit_quaternion_enforce(10.0, 10.0, &q, &rate);
        worst = fmax(worst, fabs(vy_unit_quaternion_value(q)));
        speed = fmax(speed, fabs(quat_dot(q, rate)));
    }
    assert_near(worst, 0.0, 1e-10);
    assert_near(speed, 0.0, 1e-10);
}

// Without projection Baumgarte's gains hold a joint: not to rounding, but it stays.
static void solver_baumgarte(void **unused)
{
    (void)unused;
    vy_bodies_def def = vy_default_bodies_def();
    def.baumgarte = 1;
    vy_bodies *b = NULL;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    const vy_body_id id = add_box(b, 1.0, (vy_vec3){0.2, 0.05, 0.05}, standing(0.201, 0, 0)); // 1 mm off
    vy_joint_def joint = vy_default_joint_def();
    joint.kind = VY_JOINT_BALL;
    joint.body_b = id;
    joint.anchor_b = (vy_vec3){-0.2, 0, 0};
    vy_joint_id ball;
    assert_int_equal(vy_bodies_add_joint(b, &joint, &ball, NULL), VY_OK);
    run(b, 100);
    assert_true(joint_of(b, ball).gap > 1e-4); // it comes back slowly: C'' = -10 C - 10 C'
    run(b, 9900);
    assert_near(joint_of(b, ball).gap, 0.0, 1e-5);
    vy_bodies_destroy(b);
}

// ---- determinism

// Two sets stepped in turn, one set among strangers, and a set put back: all the same bits.
static void solver_same_bits(void **unused)
{
    (void)unused;
    vy_bodies *x = set_of(G), *y = set_of(G);
    vy_body_id ids[8];
    add_chain(x, 8, ids);
    add_chain(y, 8, ids);
    vy_body_id stranger = add_box(y, 1.0, (vy_vec3){0.1, 0.1, 0.1}, standing(9, 9, 9));
    vy_joint_def def = vy_default_joint_def();
    def.kind = VY_JOINT_CABLE;
    def.anchor_a = (vy_vec3){9, 9, 9.5};
    def.body_b = stranger;
    def.length = 0.6; // catches at some moment of the run
    assert_int_equal(vy_bodies_add_joint(y, &def, NULL, NULL), VY_OK);
    const size_t size = vy_bodies_state_size(x);
    void *block = malloc(size);
    for (int k = 0; k < 300; ++k) {
        if (k == 100) vy_bodies_save(x, block);
        vy_bodies_step(x);
        vy_bodies_step(y);
        for (uint32_t n = 0; n < 8; ++n) {
            const vy_body_state a = state_of(x, vy_bodies_at(x, n)), b = state_of(y, vy_bodies_at(y, n));
            assert_memory_equal(&a, &b, sizeof a);
        }
    }
    const uint64_t hash = vy_bodies_hash(x);
    assert_int_equal(vy_bodies_restore(x, block, size, NULL), VY_OK);
    for (int k = 100; k < 300; ++k) vy_bodies_step(x);
    assert_true(vy_bodies_hash(x) == hash);
    free(block);
    vy_bodies_destroy(x);
    vy_bodies_destroy(y);
}

// Whatever changes a later step is state: a motor's settings, the integrator, and that a body was just
// kicked.
static void solver_settings_are_state(void **unused)
{
    (void)unused;
    vy_bodies *b[2];
    vy_joint_id joint[2];
    vy_body_id link[2];
    for (int k = 0; k < 2; ++k) {
        b[k] = set_of(G);
        link[k] = add_box(b[k], 1.0, (vy_vec3){0.2, 0.05, 0.03}, standing(0.2, 0, 0));
        vy_joint_def def = vy_default_joint_def();
        def.kind = VY_JOINT_HINGE;
        vy_joint_set_frames(b[k], VY_NULL_BODY, link[k], (vy_vec3){0, 0, 0}, (vy_vec3){0, 0, 1}, &def);
        assert_int_equal(vy_bodies_add_joint(b[k], &def, &joint[k], NULL), VY_OK);
        for (int n = 0; n < 10; ++n) vy_bodies_step(b[k]);
    }
    const size_t size = vy_bodies_state_size(b[0]);
    void *block = malloc(size);
    const uint64_t hash = vy_bodies_hash(b[0]);
    assert_true(vy_bodies_hash(b[1]) == hash);
    assert_int_equal(vy_joint_set_motor(b[0], joint[0], 2.0, 1.0, 0.3), VY_OK);
    assert_true(vy_bodies_hash(b[0]) != hash);
    const uint64_t driven = vy_bodies_hash(b[0]);
    assert_int_equal(vy_bodies_set_integrator(b[0], VY_INTEGRATOR_LIE_MIDPOINT), VY_OK);
    assert_true(vy_bodies_hash(b[0]) != driven);
    vy_body_apply_impulse(b[0], link[0], (vy_vec3){0.1, 0.2, 0.3}, VY_FRAME_WORLD);
    vy_bodies_save(b[0], block);
    assert_int_equal(vy_bodies_restore(b[1], block, size, NULL), VY_OK);
    assert_int_equal(vy_bodies_integrator(b[1]), VY_INTEGRATOR_LIE_MIDPOINT);
    for (int n = 0; n < 50; ++n) {
        vy_bodies_step(b[0]);
        vy_bodies_step(b[1]);
        assert_true(vy_bodies_hash(b[0]) == vy_bodies_hash(b[1]));
    }
    assert_true(joint_of(b[1], joint[1]).rate > 0.05);
    vy_joint_def ball = vy_default_joint_def(); // which has no motor
    ball.kind = VY_JOINT_BALL;
    ball.body_b = link[0];
    assert_int_equal(vy_bodies_add_joint(b[0], &ball, &joint[0], NULL), VY_OK);
    assert_int_equal(vy_joint_set_motor(b[0], joint[0], 1.0, 1.0, 1.0), VY_BAD_VALUE);
    free(block);
    vy_bodies_destroy(b[0]);
    vy_bodies_destroy(b[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solver_empty_set),
        cmocka_unit_test(auto_leaves_out_redundant_rows),
        cmocka_unit_test(universal_joints_are_placed_closed),
        cmocka_unit_test(solver_dense_agrees_with_blocks),
        cmocka_unit_test(solver_condition_number),
        cmocka_unit_test(solver_redundant_rows),
        cmocka_unit_test(solver_conflicting_rows),
        cmocka_unit_test(solver_closed_loop),
        cmocka_unit_test(solver_refuses_bad_defs),
        cmocka_unit_test(solver_joint_ids_go_stale),
        cmocka_unit_test(solver_custom_equals_built_in),
        cmocka_unit_test(ruling_14_unit_quaternion_row),
        cmocka_unit_test(ruling_17_enforce),
        cmocka_unit_test(solver_baumgarte),
        cmocka_unit_test(solver_same_bits),
        cmocka_unit_test(solver_settings_are_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
