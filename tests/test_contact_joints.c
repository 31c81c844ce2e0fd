// test_contact_joints.c - bodies on joints that touch: friction of chains, arms that fold, pendulums
// against walls, and joints that hold meanwhile.
#include "contact_sets.h"
#include "volery/joint.h"

enum { LINKS = 8 };
#define LINK 0.2 // [m] from joint to joint

/// A row of flat links on a slope that rises along x, joined in turn by hinges and balls.
typedef struct chain {
    vy_bodies *set;
    vy_body_id ids[LINKS];
    vy_vec3 up, along;
} chain;

static vy_bodies *new_joined_set(double dt, uint32_t bodies, uint32_t joints)
{
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b = NULL;
    def.dt = dt;
    def.gravity = vec3_make(0.0, 0.0, -G);
    def.body_cap = bodies;
    def.joint_cap = joints;
    def.contacts.cap = 16 * bodies;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    return b;
}

static void join(vy_bodies *b, vy_joint_kind kind, vy_body_id x, vy_body_id y, vy_vec3 at)
{
    vy_joint_def def = vy_default_joint_def();
    def.kind = kind;
    assert_int_equal(vy_joint_place(b, x, y, at, vec3_make(0, 1, 0), &def), VY_OK);
    assert_int_equal(vy_bodies_add_joint(b, &def, NULL, NULL), VY_OK);
}

static chain new_chain(double tilt, double mu, double dt, double lift)
{
    chain c = {.set = new_joined_set(dt, LINKS + 1, LINKS - 1),
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
    double most = 0.0;
    for (int i = 0; i + 1 < LINKS; ++i) {
        const vy_body_state x = read(c->set, c->ids[i]), y = read(c->set, c->ids[i + 1]);
        const vy_vec3 end = quat_rotate(x.attitude, vec3_make(0.5 * LINK, 0, 0)),
                      start = quat_rotate(y.attitude, vec3_make(-0.5 * LINK, 0, 0));
        most = fmax(most, vec3_length(vec3_sub(vec3_add(x.position, end), vec3_add(y.position, start))));
    }
    return most;
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

// A chain thrown up by an end comes down; its joints are open by what a step moves at most while it strikes
// the floor, and by less than half a millimetre when links lean on one another.
static void chains_come_down(void **unused)
{
    (void)unused;
    chain c = new_chain(0.0, 0.5, 1e-3, 0.3);
    vy_body_state first = read(c.set, c.ids[0]);
    first.velocity = vec3_make(0.0, 0.0, 2.0);
    assert_int_equal(vy_body_set_state(c.set, c.ids[0], &first), VY_OK);
    for (int k = 0; k < 3000; ++k) {
        step(c.set, 1);
        assert_true(gap_of(&c) < 3e-3);
    }
    assert_true(gap_of(&c) < 5e-4);
    for (int i = 0; i < LINKS; ++i) { // none below the floor, none higher than a link that stands on another
        const double height = read(c.set, c.ids[i]).position.z;
        assert_true(height > 0.01 && height < 0.15);
    }
    vy_bodies_destroy(c.set);
}

// A drone with an arm of two links that hangs from it comes down at 0.5 m/s: the arm folds, the drone lies on
// it, and the arm is still on. What leans creeps, for friction knows nothing of where a body stood: by less
// than a millimetre in a second.
static void arms_fold_under_drones(void **unused)
{
    (void)unused;
    vy_bodies *b = new_joined_set(1e-3, 4, 2);
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
    const vy_body_state rest[3] = {read(b, ids[0]), read(b, ids[1]), read(b, ids[2])};
    step(b, 1000);
    for (int i = 0; i < 3; ++i)
        assert_true(vec3_length(vec3_sub(read(b, ids[i]).position, rest[i].position)) < 1e-3);
    const vy_body_state x = read(b, ids[1]), y = read(b, ids[2]);
    const vy_vec3 elbow = vec3_add(x.position, quat_rotate(x.attitude, vec3_make(0, 0, -0.08))),
                  same = vec3_add(y.position, quat_rotate(y.attitude, vec3_make(0, 0, 0.08)));
    assert_vec_near(elbow, same, 1e-3);
    vy_bodies_destroy(b);
}

// A pendulum let go at the side meets a wall at the bottom of its swing: it stays on its side and on its
// joint, and rises to e^2 of the height.
static void pendulums_meet_walls(void **unused)
{
    (void)unused;
    vy_bodies *b = new_joined_set(1e-3, 3, 1);
    const double e = 0.5;
    const vy_shape bob = ball(0.1), wall = box(0.05, 1.0, 1.0);
    const vy_body_id id =
        add(b, VY_BODY_DYNAMIC, &bob, 1.0, vec3_make(-1.0, 0.0, 0.0), vec3_zero(), surface(0.0, e));
    add(b, VY_BODY_STATIC, &wall, 1.0, vec3_make(0.15, 0.0, -1.0), vec3_zero(), surface(0.0, e));
    join(b, VY_JOINT_BALL, VY_NULL_BODY, id, vec3_zero());
    int hits = 0;
    double top = -1.0;
    for (int k = 0; k < 2000 && hits < 2; ++k) {
        step(b, 1);
        const vy_body_state s = read(b, id);
        assert_true(s.position.x < 2e-3); // its surface no more than 2 mm in the wall's
        assert_near(vec3_length(s.position), 1.0, 1e-4);
        for (uint32_t i = 0; i < vy_bodies_contact_count(b); ++i) {
            vy_contact_report r;
            assert_int_equal(vy_bodies_contact(b, i, &r), VY_OK);
            hits += r.phase == VY_CONTACT_BEGIN;
        }
        if (hits == 1) top = fmax(top, s.position.z);
    }
    assert_int_equal(hits, 2);
    assert_near(top + 1.0, e * e, 0.01);
    vy_bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_hold_and_slide),
        cmocka_unit_test(chains_come_down),
        cmocka_unit_test(arms_fold_under_drones),
        cmocka_unit_test(pendulums_meet_walls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
