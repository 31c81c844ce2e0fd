// test_contact_joints.c - bodies on joints that touch: friction of chains, arms that fold, pendulums
// against walls, and joints that hold meanwhile.
#include "contact_sets.h"
#include "dynamics/bodies.h"
#include "volery/joint.h"

enum { LINKS = 8 };
#define LINK 0.2 // [m] from joint to joint

/// A row of flat links on a slope that rises along x, joined in turn by hinges and balls.
typedef struct chain {
    vy_bodies *set;
    vy_body_id ids[LINKS];
    vy_vec3 up, along;
} chain;

static vy_bodies *new_joined_set(double dt)
{
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b = NULL;
    def.dt = dt;
    def.gravity = vec3_make(0.0, 0.0, -G);
    def.contacts.on = 1;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    return b;
}

static vy_joint_id join(vy_bodies *b, vy_joint_kind kind, vy_body_id x, vy_body_id y, vy_vec3 at)
{
    vy_joint_def def = vy_default_joint_def();
    vy_joint_id id;
    def.kind = kind;
    assert_int_equal(vy_joint_set_frames(b, x, y, at, vec3_make(0, 1, 0), &def), VY_OK);
    assert_int_equal(vy_bodies_add_joint(b, &def, &id, NULL), VY_OK);
    return id;
}

// [m/s] How fast the fastest of these gets away, over a second.
static double creep_of(vy_bodies *b, const vy_body_id *ids, int count, int steps)
{
    vy_body_state first[8];
    double max = 0.0;
    for (int i = 0; i < count; ++i) first[i] = read(b, ids[i]);
    step(b, steps);
    for (int i = 0; i < count; ++i)
        max = fmax(max, vec3_length(vec3_sub(read(b, ids[i]).position, first[i].position)));
    return max;
}

static chain new_chain(double tilt, double mu, double dt, double lift)
{
    chain c = {.set = new_joined_set(dt),
               .up = vec3_make(-sin(tilt), 0.0, cos(tilt)),
               .along = vec3_make(cos(tilt), 0.0, sin(tilt))};
    const vy_shape link = box(0.09, 0.03, 0.02), slope = plane(c.up);
    for (int i = 0; i < LINKS; ++i) {
        vy_body_def d = vy_default_body_def();
        d.shape = &link;
        d.mass = 0.1;
        d.material = surface(mu, 0.0);
        d.state.position = vec3_add_scaled(vec3_scale(LINK * i, c.along), 0.02 + lift, c.up);
        d.state.attitude = quat_make(cos(tilt / 2.0), 0.0, -sin(tilt / 2.0), 0.0);
        assert_int_equal(vy_bodies_add(c.set, &d, &c.ids[i], NULL), VY_OK);
    }
    add(c.set, VY_BODY_STATIC, &slope, 1.0, vec3_zero(), vec3_zero(), surface(mu, 0.0));
    for (int i = 0; i + 1 < LINKS; ++i)
        join(c.set, i % 2 == 0 ? VY_JOINT_HINGE : VY_JOINT_BALL, c.ids[i], c.ids[i + 1],
             vec3_add_scaled(vec3_scale(LINK * (i + 0.5), c.along), 0.02 + lift, c.up));
    return c;
}

// [m] How far the ends of neighbours are from each other, at most.
static double gap_of(const chain *c)
{
    double max = 0.0;
    for (int i = 0; i + 1 < LINKS; ++i) {
        const vy_body_state x = read(c->set, c->ids[i]), y = read(c->set, c->ids[i + 1]);
        const vy_vec3 end = quat_rotate(x.attitude, vec3_make(0.5 * LINK, 0, 0)),
                      start = quat_rotate(y.attitude, vec3_make(-0.5 * LINK, 0, 0));
        max = fmax(max, vec3_length(vec3_sub(vec3_add(x.position, end), vec3_add(y.position, start))));
    }
    return max;
}

// A chain on a slope is like a box there: it stays above the angle of friction, and slides by g (sin - mu
// cos) below it, with every link on the ground and every joint closed.
static void chains_hold_and_slide(void **unused)
{
    (void)unused;
    for (int k = 0; k < 8; ++k) {
        const double tilt = k % 2 == 0 ? 0.2 : 0.4, dt = k < 4 ? 1e-3 : 1.0 / 120.0,
                     mu = (k % 4 < 2 ? 0.6 : 1.3) * tan(tilt);
        chain c = new_chain(tilt, mu, dt, 0.0);
        step(c.set, (int)(0.2 / dt + 0.5));
        const vy_body_state early = read(c.set, c.ids[3]);
        step(c.set, (int)(0.6 / dt + 0.5));
        for (int i = 0; i < LINKS; ++i) {
            const vy_body_state late = read(c.set, c.ids[i]);
            const double gained = -vec3_dot(vec3_sub(late.velocity, early.velocity), c.along);
            assert_near(gained / 0.6, fmax(0.0, G * (sin(tilt) - mu * cos(tilt))), 1e-3);
            assert_near(vec3_dot(late.position, c.up), 0.02, 1e-4);
        }
        assert_true(gap_of(&c) < 1e-9);
        vy_bodies_destroy(c.set);
    }
}

// A chain thrown up by an end comes down with its joints closed, and lies still.
static void chains_come_down(void **unused)
{
    (void)unused;
    for (int k = 0; k < 2; ++k) {
        const double dt = k == 0 ? 1e-3 : 1.0 / 60.0;
        chain c = new_chain(0.0, 0.5, dt, 0.3);
        vy_body_state first = read(c.set, c.ids[0]);
        first.velocity = vec3_make(0.0, 0.0, 2.0);
        assert_int_equal(vy_body_set_state(c.set, c.ids[0], &first), VY_OK);
        for (int n = 0; n < (int)(3.0 / dt); ++n) {
            step(c.set, 1);
            assert_true(gap_of(&c) < 1e-11);
        }
        // At 60 Hz links that lie on each other still settle.
        assert_true(creep_of(c.set, c.ids, LINKS, (int)(1.0 / dt)) < (k == 0 ? 1e-6 : 1e-4));
        for (int i = 0; i < LINKS; ++i) { // none below the floor, none higher than one that stands on another
            const double height = read(c.set, c.ids[i]).position.z;
            assert_true(height > 0.0195 && height < 0.15);
        }
        vy_bodies_destroy(c.set);
    }
}

// A drone with an arm of two links that hangs from it comes down at 0.5 m/s: the arm folds, the drone lies on
// it, and the arm is still on.
static void arms_fold_under_drones(void **unused)
{
    (void)unused;
    vy_bodies *b = new_joined_set(1e-3);
    const vy_shape drone = box(0.15, 0.15, 0.04), link = box(0.015, 0.015, 0.07),
                   floor = plane(vec3_make(0, 0, 1));
    const vy_material m = surface(0.5, 0.0);
    const vy_vec3 down = vec3_make(0.05, 0.0, -0.5);
    const vy_body_id ids[3] = {add(b, VY_BODY_DYNAMIC, &drone, 1.0, vec3_make(0, 0, 0.5), down, m),
                               add(b, VY_BODY_DYNAMIC, &link, 0.1, vec3_make(0.05, 0, 0.38), down, m),
                               add(b, VY_BODY_DYNAMIC, &link, 0.1, vec3_make(0.05, 0, 0.22), down, m)};
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), m);
    join(b, VY_JOINT_HINGE, ids[0], ids[1], vec3_make(0.05, 0.0, 0.455));
    join(b, VY_JOINT_HINGE, ids[1], ids[2], vec3_make(0.05, 0.0, 0.3));
    step(b, 5000);
    assert_true(creep_of(b, ids, 3, 1000) < 1e-6);
    const vy_body_state x = read(b, ids[1]), y = read(b, ids[2]);
    const vy_vec3 elbow = vec3_add(x.position, quat_rotate(x.attitude, vec3_make(0, 0, -0.08))),
                  same = vec3_add(y.position, quat_rotate(y.attitude, vec3_make(0, 0, 0.08)));
    assert_vec_near(elbow, same, 1e-11);
    vy_bodies_destroy(b);
}

// A pendulum let go at the side meets a wall at the bottom of its swing: it stays on its side and on its
// joint, and rises to e^2 of the height.
static void pendulums_meet_walls(void **unused)
{
    (void)unused;
    static const double each[3] = {1e-3, 1.0 / 240.0, 1.0 / 60.0}, bounce[3] = {0.5, 0.9, 0.5};
    for (int n = 0; n < 3; ++n) {
        vy_bodies *b = new_joined_set(each[n]);
        const double e = bounce[n];
        const vy_shape bob = ball(0.1), wall = box(0.05, 1.0, 1.0);
        const vy_body_id id =
            add(b, VY_BODY_DYNAMIC, &bob, 1.0, vec3_make(-1.0, 0.0, 0.0), vec3_zero(), surface(0.0, e));
        add(b, VY_BODY_STATIC, &wall, 1.0, vec3_make(0.15, 0.0, -1.0), vec3_zero(), surface(0.0, e));
        join(b, VY_JOINT_BALL, VY_NULL_BODY, id, vec3_zero());
        int hits = 0;
        double top = -1.0;
        for (int k = 0; k < (int)(2.0 / each[n]) && hits < 2; ++k) {
            step(b, 1);
            const vy_body_state s = read(b, id);
            assert_true(s.position.x < 1e-4); // its surface no more than that in the wall's
            assert_near(vec3_length(s.position), 1.0, 1e-11);
            for (uint32_t i = 0; i < vy_bodies_contact_count(b); ++i) {
                vy_contact_report r;
                assert_int_equal(vy_bodies_contact(b, i, &r), VY_OK);
                hits += r.phase == VY_CONTACT_BEGIN;
            }
            if (hits == 1) top = fmax(top, s.position.z);
        }
        assert_int_equal(hits, 2);
        assert_near((top + 1.0) / (e * e), 1.0, n < 2 ? 5e-4 : 5e-3);
        vy_bodies_destroy(b);
    }
}

// Two boards that lean on each other, hinged where they meet, stand by the friction of their feet; where
// there is too little of it they slide. Each foot is pushed out by m g times its arm over the hinge's height.
static void boards_lean(void **unused)
{
    (void)unused;
    const double tilt = 0.4, height = 0.3 * cos(tilt) + 0.02 * sin(tilt),
                 need = (0.3 * sin(tilt) - 0.02 * cos(tilt)) / (height + 0.3 * cos(tilt));
    const vy_shape board = box(0.02, 0.1, 0.3), floor = plane(vec3_make(0, 0, 1));
    for (int n = 0; n < 4; ++n) {
        const double dt = n < 2 ? 1e-3 : 1.0 / 60.0, mu = (n % 2 == 0 ? 1.1 : 0.9) * need;
        vy_bodies *b = new_joined_set(dt);
        vy_body_id ids[2];
        for (int k = 0; k < 2; ++k) {
            const double side = k == 0 ? 1.0 : -1.0;
            vy_body_def d = vy_default_body_def();
            d.shape = &board;
            d.material = surface(mu, 0.0);
            d.state.position = vec3_make(-side * 0.3 * sin(tilt), 0.0, height);
            d.state.attitude = quat_make(cos(tilt / 2.0), 0.0, side * sin(tilt / 2.0), 0.0);
            assert_int_equal(vy_bodies_add(b, &d, &ids[k], NULL), VY_OK);
        }
        add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(mu, 0.0));
        join(b, VY_JOINT_HINGE, ids[0], ids[1], vec3_make(0.0, 0.0, height + 0.3 * cos(tilt)));
        step(b, (int)(0.5 / dt));
        const double fell = height - read(b, ids[0]).position.z;
        if (n % 2 == 0) {
            assert_true(fell < 2e-4 && creep_of(b, ids, 2, (int)(1.0 / dt)) < 1e-9);
        } else {
            assert_true(fell > 1e-2);
        }
        vy_bodies_destroy(b);
    }
}

// A figure of boxes thrown against a wall ends on the floor, and lies still.
static void figures_come_to_rest(void **unused)
{
    (void)unused;
    vy_bodies *b = new_joined_set(1e-3);
    const vy_material m = surface(0.6, 0.0);
    const vy_vec3 v = vec3_make(-1.08, 0.0, 0.0);
    const vy_shape torso = box(0.15, 0.1, 0.25), limb = box(0.05, 0.05, 0.2), head = box(0.08, 0.08, 0.1),
                   floor = plane(vec3_make(0, 0, 1)), wall = box(0.05, 2.0, 2.0);
    vy_body_id ids[6];
    vy_joint_id joints[5];
    ids[0] = add(b, VY_BODY_DYNAMIC, &torso, 10.0, vec3_make(0.4, 0, 0.9), v, m);
    ids[1] = add(b, VY_BODY_DYNAMIC, &head, 3.0, vec3_make(0.4, 0, 1.26), v, m);
    joints[0] = join(b, VY_JOINT_BALL, ids[0], ids[1], vec3_make(0.4, 0, 1.155));
    for (int k = 0; k < 2; ++k) {
        const double side = k == 0 ? 1.0 : -1.0;
        ids[2 + k] = add(b, VY_BODY_DYNAMIC, &limb, 2.0, vec3_make(0.4, side * 0.06, 0.44), v, m);
        joints[1 + k] = join(b, VY_JOINT_HINGE, ids[0], ids[2 + k], vec3_make(0.4, side * 0.06, 0.65));
        ids[4 + k] = add(b, VY_BODY_DYNAMIC, &limb, 1.0, vec3_make(0.4, side * 0.17, 0.9), v, m);
        joints[3 + k] = join(b, VY_JOINT_BALL, ids[0], ids[4 + k], vec3_make(0.4, side * 0.13, 1.1));
    }
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), m);
    add(b, VY_BODY_STATIC, &wall, 1.0, vec3_make(-0.05, 0, 1), vec3_zero(), m);
    for (int n = 0; n < 4000; ++n) {
        step(b, 1);
        for (int k = 0; k < 5; ++k) {
            vy_joint_state s;
            assert_int_equal(vy_joint_read(b, joints[k], &s), VY_OK);
            assert_true(s.gap < 1e-11);
        }
    }
    assert_true(creep_of(b, ids, 6, 1000) < 1e-6);
    vy_bodies_destroy(b);
}

// ---- laws

// Two strings of three, and a ball between them, collide without gravity: momentum and angular momentum stay.
static void assemblies_keep_momentum(void **unused)
{
    (void)unused;
    enum { PARTS = 7 };
    vy_bodies_def def = vy_default_bodies_def();
    def.gravity = vec3_zero();
    def.contacts.on = 1;
    vy_bodies *b = NULL;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    const vy_shape link = box(0.1, 0.04, 0.03), round = ball(0.1);
    const vy_material m = surface(0.5, 0.5);
    vy_body_id ids[PARTS];
    for (int i = 0; i < 6; ++i)
        ids[i] = i < 3 ? add(b, VY_BODY_DYNAMIC, &link, 0.5 + 0.3 * i, vec3_make(0.25 * i, 0, 0),
                             vec3_make(0, 0, 1), m)
                       : add(b, VY_BODY_DYNAMIC, &link, 0.4, vec3_make(0.25 * (i - 3), 0.02, 0.5),
                             vec3_make(0.2, 0.1, -1), m);
    ids[6] = add(b, VY_BODY_DYNAMIC, &round, 1.0, vec3_make(0.3, 0.3, 0.25), vec3_make(0, -1, 0), m);
    join(b, VY_JOINT_HINGE, ids[0], ids[1], vec3_make(0.125, 0, 0));
    join(b, VY_JOINT_BALL, ids[1], ids[2], vec3_make(0.375, 0, 0));
    join(b, VY_JOINT_BALL, ids[3], ids[4], vec3_make(0.125, 0.02, 0.5));
    join(b, VY_JOINT_FIXED, ids[4], ids[5], vec3_make(0.375, 0.02, 0.5));
    vy_vec3 linear[2], angular[2];
    double energy[2];
    uint32_t pushes = 0;
    for (int k = 0; k < 2; ++k) {
        linear[k] = angular[k] = vec3_zero();
        for (int i = 0; i < PARTS; ++i) {
            double mass;
            vy_mat3 inertia;
            const vy_body_state s = read(b, ids[i]);
            assert_int_equal(vy_body_read_mass(b, ids[i], &mass, &inertia), VY_OK);
            const vy_vec3 p = vec3_scale(mass, s.velocity);
            linear[k] = vec3_add(linear[k], p);
            angular[k] = vec3_add(vec3_add(angular[k], vec3_cross(s.position, p)),
                                  quat_rotate(s.attitude, mat3_mul_vec(inertia, s.rate)));
        }
        energy[k] = vy_bodies_read_energy(b).kinetic;
        for (int n = 0; n < 2000 && k == 0; ++n) {
            step(b, 1);
            pushes += vy_bodies_contact_count(b);
        }
    }
    assert_true(pushes > 10 && energy[1] < 0.8 * energy[0]);
    assert_vec_near(linear[1], linear[0], 1e-13);
    assert_vec_near(angular[1], angular[0], 1e-11);
    vy_bodies_destroy(b);
}

// ---- every kind

static vy_joint_state joint_of(const vy_bodies *b, vy_joint_id id)
{
    vy_joint_state s;
    assert_int_equal(vy_joint_read(b, id, &s), VY_OK);
    return s;
}

// [N] By which the only contact pushed in the last step.
static double push_of(const vy_bodies *b, double dt)
{
    vy_contact_report r;
    assert_int_equal(vy_bodies_contact_count(b), 1);
    assert_int_equal(vy_bodies_contact(b, 0, &r), VY_OK);
    return vec3_length(r.impulse) / dt;
}

static vy_joint_id tie(vy_bodies *b, vy_joint_def def, vy_body_id x, vy_body_id y, vy_vec3 anchor)
{
    vy_joint_id id;
    def.body_a = x;
    def.body_b = y;
    def.anchor_a = anchor;
    assert_int_equal(vy_bodies_add_joint(b, &def, &id, NULL), VY_OK);
    return id;
}

// A ball slides without friction, straight on until its tether is taut; what it had along the tether is lost,
// and with the rest, 0.5 m/s, it goes round: the tether pulls by m v^2 / L.
static void tethers_catch(void **unused)
{
    (void)unused;
    vy_bodies *b = new_joined_set(1e-3);
    const vy_shape round = ball(0.1), floor = plane(vec3_make(0, 0, 1));
    const vy_body_id id =
        add(b, VY_BODY_DYNAMIC, &round, 2.0, vec3_make(0.5, 0, 0.1), vec3_make(1, 1, 0), surface(0, 0));
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0, 0));
    vy_joint_def def = vy_default_joint_def();
    def.kind = VY_JOINT_CABLE;
    def.length = 1.0;
    const vy_joint_id tether = tie(b, def, VY_NULL_BODY, id, vec3_make(0, 0, 0.1));
    step(b, 400);
    assert_int_equal(vy_joint_is_active(b, tether), 0);
    assert_vec_near(read(b, id).velocity, vec3_make(1, 1, 0), 1e-9);
    for (int k = 0; k < 2000; ++k) {
        step(b, 1);
        assert_int_equal(vy_bodies_contact_count(b), 1);
        const vy_joint_state s = joint_of(b, tether);
        assert_true(s.gap < 1.0 + 1e-9);
        if (k < 20) continue;
        assert_int_equal(s.active, 1);
        assert_near(vec3_length(read(b, id).velocity), 0.5, 1e-3);
        assert_near(s.tension, 2.0 * 0.25, 2e-3);
    }
    vy_bodies_destroy(b);
}

// A ball lies on the floor below a tether with a micrometre of slack. Without the floor it would fall by five
// in a step, and the tether would catch it; as it is the floor carries it alone.
static void slack_tethers_carry_nothing(void **unused)
{
    (void)unused;
    vy_bodies *b = new_joined_set(1e-3);
    const vy_shape round = ball(0.1), floor = plane(vec3_make(0, 0, 1));
    const vy_body_id id =
        add(b, VY_BODY_DYNAMIC, &round, 2.0, vec3_make(0, 0, 0.1), vec3_zero(), surface(0.5, 0));
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.5, 0));
    vy_joint_def def = vy_default_joint_def();
    def.kind = VY_JOINT_CABLE;
    def.length = 1.0 + 1e-6;
    const vy_joint_id tether = tie(b, def, VY_NULL_BODY, id, vec3_make(0, 0, 1.1));
    for (int k = 0; k < 200; ++k) {
        step(b, 1);
        assert_int_equal(vy_joint_is_active(b, tether), 0);
    }
    assert_near(push_of(b, 1e-3), 2.0 * G, 1e-6);
    vy_bodies_destroy(b);
}

// A ball on a spring and a smooth floor swings as it would in the air.
static void springs_swing(void **unused)
{
    (void)unused;
    for (int n = 0; n < 2; ++n) {
        const double dt = n == 0 ? 1e-3 : 1.0 / 60.0;
        vy_bodies *b = new_joined_set(dt);
        const vy_shape round = ball(0.1), floor = plane(vec3_make(0, 0, 1));
        const vy_body_id id =
            add(b, VY_BODY_DYNAMIC, &round, 1.0, vec3_make(0.7, 0, 0.1), vec3_zero(), surface(0, 0));
        add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0, 0));
        vy_joint_def def = vy_default_joint_def();
        def.kind = VY_JOINT_SPRING;
        def.length = 0.5;
        def.stiffness = 40.0;
        tie(b, def, VY_NULL_BODY, id, vec3_make(0, 0, 0.1));
        for (int k = 1; k <= (int)(2.0 / dt); ++k) {
            step(b, 1);
            assert_near(read(b, id).position.x, 0.5 + 0.2 * cos(sqrt(40.0) * k * dt), 2e-3);
        }
        vy_bodies_destroy(b);
    }
}

// A motor of 2 N m presses the end of a lever of 0.3 m onto the floor, 9.80665 N of weight and 2 / 0.3 N.
static void motors_press(void **unused)
{
    (void)unused;
    for (int n = 0; n < 2; ++n) {
        const double dt = n == 0 ? 1e-3 : 1.0 / 60.0;
        vy_bodies *b = new_joined_set(dt);
        const vy_shape round = ball(0.05), floor = plane(vec3_make(0, 0, 1));
        const vy_body_id id =
            add(b, VY_BODY_DYNAMIC, &round, 1.0, vec3_make(0.3, 0, 0.05), vec3_zero(), surface(0, 0));
        add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0, 0));
        vy_joint_def def = vy_default_joint_def();
        def.kind = VY_JOINT_HINGE;
        def.motor_speed = 100.0;
        def.motor_gain = 10.0;
        def.max_motor_torque = 2.0;
        assert_int_equal(
            vy_joint_set_frames(b, VY_NULL_BODY, id, vec3_make(0, 0, 0.05), vec3_make(0, 1, 0), &def), VY_OK);
        assert_int_equal(vy_bodies_add_joint(b, &def, NULL, NULL), VY_OK);
        step(b, (int)(1.0 / dt));
        assert_near(push_of(b, dt), G + 2.0 / 0.3, 1e-6);
        assert_near(read(b, id).position.z, 0.05, 1e-3);
        vy_bodies_destroy(b);
    }
}

// A shelf that turns to its limit of 0.2 rad, with a box on it that friction holds.
static void limits_carry(void **unused)
{
    (void)unused;
    vy_bodies *b = new_joined_set(1e-3);
    const vy_shape shelf = box(0.3, 0.2, 0.01), load = box(0.05, 0.05, 0.05);
    const vy_body_id ids[2] = {
        add(b, VY_BODY_DYNAMIC, &shelf, 1.0, vec3_make(0.3, 0, 0), vec3_zero(), surface(0.5, 0)),
        add(b, VY_BODY_DYNAMIC, &load, 2.0, vec3_make(0.3, 0, 0.06), vec3_zero(), surface(0.5, 0))};
    vy_joint_def def = vy_default_joint_def();
    def.kind = VY_JOINT_HINGE;
    def.limited = 1;
    def.low = -0.2;
    def.high = 0.2;
    vy_joint_id id;
    assert_int_equal(vy_joint_set_frames(b, VY_NULL_BODY, ids[0], vec3_zero(), vec3_make(0, 1, 0), &def),
                     VY_OK);
    assert_int_equal(vy_bodies_add_joint(b, &def, &id, NULL), VY_OK);
    for (int k = 0; k < 2000; ++k) {
        step(b, 1);
        assert_true(fabs(joint_of(b, id).angle) < 0.2 + 1e-8);
    }
    assert_near(joint_of(b, id).angle, 0.2, 1e-8);
    assert_int_equal(joint_of(b, id).active, 1);
    assert_true(creep_of(b, ids, 2, 1000) < 1e-6);
    assert_near(push_of(b, 1e-3), 2.0 * G, 1e-3); // along the normal and across it
    // The limit carries both: their weights times their arms.
    const vy_body_state x = read(b, ids[0]), y = read(b, ids[1]);
    assert_near(fabs(joint_of(b, id).torque.y), G * (x.position.x + 2.0 * y.position.x), 1e-2);
    vy_bodies_destroy(b);
}

// A rod behind a carriage drags a box over the floor: it pulls by the friction.
static void rods_drag(void **unused)
{
    (void)unused;
    vy_bodies *b = new_joined_set(1e-3);
    const vy_shape load = box(0.1, 0.1, 0.1), floor = plane(vec3_make(0, 0, 1));
    const vy_vec3 v = vec3_make(0.5, 0, 0);
    const vy_body_id id = add(b, VY_BODY_DYNAMIC, &load, 2.0, vec3_make(-1, 0, 0.1), v, surface(0.2, 0)),
                     carriage = add(b, VY_BODY_KINEMATIC, NULL, 1.0, vec3_make(0, 0, 0.1), v, surface(0, 0));
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.2, 0));
    vy_joint_def def = vy_default_joint_def();
    def.kind = VY_JOINT_DISTANCE;
    def.length = 1.0;
    const vy_joint_id rod = tie(b, def, carriage, id, vec3_zero());
    step(b, 500);
    for (int k = 0; k < 500; ++k) {
        step(b, 1);
        assert_near(joint_of(b, rod).tension, 0.2 * 2.0 * G, 1e-3);
        assert_near(joint_of(b, rod).gap, 1.0, 1e-11);
    }
    assert_near(read(b, id).position.x, -0.5, 1e-3);
    vy_bodies_destroy(b);
}

static void wire_value(const vy_constraint *c, const vy_body_state *a, const vy_body_state *b, double time,
                       double *value)
{
    (void)c, (void)a, (void)time;
    value[0] = b->position.x;
    value[1] = b->position.y;
}

static void wire_jacobian(const vy_constraint *c, const vy_body_state *a, const vy_body_state *b, double time,
                          vy_jacobian ja, vy_jacobian jb)
{
    (void)c, (void)a, (void)b, (void)time, (void)ja;
    jb[0][0] = jb[1][1] = 1.0;
}

// A bead on an upright wire rests on a smooth slope, which carries m g / cos(tilt): the wire does the rest.
static void wires_hold_beads(void **unused)
{
    (void)unused;
    const double tilt = 0.6;
    vy_bodies *b = new_joined_set(1e-3);
    const vy_shape bead = ball(0.1), slope = plane(vec3_make(-sin(tilt), 0.0, cos(tilt)));
    const vy_body_id id = add(b, VY_BODY_DYNAMIC, &bead, 1.0, vec3_make(0, 0, 0.1 / cos(tilt) + 0.05),
                              vec3_zero(), surface(0, 0));
    add(b, VY_BODY_STATIC, &slope, 1.0, vec3_zero(), vec3_zero(), surface(0, 0));
    vy_constraint wire = vy_default_constraint();
    wire.dimension = 2;
    wire.evaluate = wire_value;
    wire.jacobian = wire_jacobian;
    vy_joint_def def = vy_default_joint_def();
    def.kind = VY_JOINT_CUSTOM;
    def.custom = &wire;
    const vy_joint_id joint = tie(b, def, VY_NULL_BODY, id, vec3_zero());
    step(b, 1000);
    assert_near(push_of(b, 1e-3), G / cos(tilt), 1e-6);
    assert_near(fabs(joint_of(b, joint).force.x), G * tan(tilt), 1e-6);
    assert_true(creep_of(b, &id, 1, 1000) < 1e-9);
    vy_bodies_destroy(b);
}

// A pair on a hinge that turns in free space, beside two balls that lie too deep in each other or do not.
static void spin_beside(double depth, vy_body_state out[2])
{
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b = NULL;
    def.gravity = vec3_zero();
    def.contacts.on = 1;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    const vy_shape round = ball(0.1), arm = box(0.2, 0.03, 0.02);
    const vy_material plain = surface(0.5, 0.0);
    const vy_body_id x = add(b, VY_BODY_DYNAMIC, &arm, 0.7, vec3_make(7.3, 0.1, 0.2),
                             vec3_make(0.3, -0.4, 0.2), plain),
                     y = add(b, VY_BODY_DYNAMIC, &arm, 1.1, vec3_make(7.7, 0.1, 0.2),
                             vec3_make(0.3, 0.5, -0.1), plain),
                     low = add(b, VY_BODY_DYNAMIC, &round, 1.0, vec3_zero(), vec3_zero(), plain);
    add(b, VY_BODY_DYNAMIC, &round, 1.0, vec3_make(0.0, 0.0, 0.2 - depth), vec3_zero(), plain);
    join(b, VY_JOINT_HINGE, x, y, vec3_make(7.5, 0.1, 0.2));
    step(b, 20);
    if (depth > 0.0) assert_true(read(b, low).position.z < -0.2 * depth); // they were moved apart
    out[0] = read(b, x);
    out[1] = read(b, y);
    vy_bodies_destroy(b);
}

// Moving some bodies apart changes no bit of others that are in the same set.
static void others_are_left_alone(void **unused)
{
    (void)unused;
    vy_body_state beside_deep[2], beside_apart[2];
    spin_beside(0.12, beside_deep);
    spin_beside(-0.5, beside_apart);
    assert_memory_equal(beside_deep, beside_apart, sizeof beside_deep);
}

// Links that lie on each other and on the floor: their joint closes in every step, and none of them is asked
// to be projected again.
static void closed_joints_are_not_projected_again(void **unused)
{
    (void)unused;
    vy_bodies *b = new_joined_set(1e-3);
    const vy_shape link = box(0.1, 0.05, 0.02), floor = plane(vec3_make(0, 0, 1));
    const vy_material rough = surface(0.5, 0.0);
    vy_body_id ids[3];
    for (int i = 0; i < 2; ++i)
        ids[i] = add(b, VY_BODY_DYNAMIC, &link, 0.5, vec3_make(0.2 * i, 0, 0.02), vec3_zero(), rough);
    ids[2] = add(b, VY_BODY_DYNAMIC, &link, 0.5, vec3_make(0.0, 0, 0.06), vec3_zero(), rough);
    add(b, VY_BODY_STATIC, &floor, 0.0, vec3_zero(), vec3_zero(), rough);
    const vy_joint_id joint = join(b, VY_JOINT_HINGE, ids[0], ids[1], vec3_make(0.1, 0, 0.02));
    step(b, 200);
    for (int k = 0; k < 100; ++k) {
        step(b, 1);
        for (uint32_t i = 0; i < 3; ++i) assert_int_equal(b->disturbed[i], 0);
        assert_true(joint_of(b, joint).gap < 1e-12);
    }
    assert_int_equal(vy_bodies_contact_count(b), 3);
    vy_bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_hold_and_slide),
        cmocka_unit_test(chains_come_down),
        cmocka_unit_test(arms_fold_under_drones),
        cmocka_unit_test(pendulums_meet_walls),
        cmocka_unit_test(boards_lean),
        cmocka_unit_test(figures_come_to_rest),
        cmocka_unit_test(assemblies_keep_momentum),
        cmocka_unit_test(tethers_catch),
        cmocka_unit_test(slack_tethers_carry_nothing),
        cmocka_unit_test(springs_swing),
        cmocka_unit_test(motors_press),
        cmocka_unit_test(limits_carry),
        cmocka_unit_test(rods_drag),
        cmocka_unit_test(wires_hold_beads),
        cmocka_unit_test(others_are_left_alone),
        cmocka_unit_test(closed_joints_are_not_projected_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
