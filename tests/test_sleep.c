// test_sleep.c - bodies at rest sleep, and wake when something happens to them.
#include "contact_sets.h"
#include "dynamics/sleep.h"
#include "volery/joint.h"
#include <stdlib.h>

#define DT      (1.0 / 120.0)
#define SECONDS 0.5
#define SPEED   0.01
enum { LATER = 600 }; // steps in which everything comes to rest here

static vy_bodies *sleepy_set(uint32_t reserve, uint32_t threads, vy_contact_solver solver)
{
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b = NULL;
    def.dt = DT;
    def.contacts = solver == VY_CONTACT_SOLVER_SOFT ? vy_default_contacts_def() : vy_impulse_contacts_def();
    def.contacts.on = 1;
    def.contacts.reserve = reserve;
    def.contacts.threads = threads;
    def.contacts.time_to_sleep = SECONDS;
    def.contacts.sleep_speed = SPEED;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    return b;
}

static void until_asleep(vy_bodies *b, uint32_t count)
{
    for (int i = 0; i < LATER && vy_bodies_asleep(b) < count; ++i) step(b, 1);
    assert_int_equal(vy_bodies_asleep(b), count);
}

static vy_body_id add_floor(vy_bodies *b)
{
    const vy_shape floor = plane(vec3_make(0, 0, 1));
    return add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(),
               (vy_material){.friction = 0.6, .rolling = 0.02, .spinning = 0.02});
}

// `count` boxes of 0.2 m on one another, the lowest first.
static void add_stack(vy_bodies *b, double x, double y, vy_body_id *out, int count)
{
    const vy_shape shape = box(0.1, 0.1, 0.1);
    for (int i = 0; i < count; ++i)
        out[i] = add(b, VY_BODY_DYNAMIC, &shape, 1.0, vec3_make(x, y, 0.1 + 0.2 * i), vec3_zero(),
                     surface(0.6, 0.0));
}

// Odd bodies that fall in a heap.
static void add_heap(vy_bodies *b, uint64_t *x, int count)
{
    vy_shape shapes[3] = {ball(0.12), box(0.08, 0.14, 0.11), {0}};
    assert_int_equal(vy_shape_capsule(0.07, 0.1, &shapes[2], NULL), VY_OK);
    for (int i = 0; i < count; ++i) {
        vy_body_def d = vy_default_body_def();
        d.shape = &shapes[(int)(3 * unit(x))];
        d.mass = 0.3 + 2.0 * unit(x);
        d.material = (vy_material){.friction = 0.4 + 0.4 * unit(x), .rolling = 0.02, .spinning = 0.02};
        const double u = unit(x), v = unit(x);
        d.state.position =
            vec3_make(0.7 * (i % 3) + 0.1 * u, 0.7 * (i / 3 % 3) + 0.1 * v, 0.3 + 0.4 * (i / 9));
        const double p = unit(x), q = unit(x), r = unit(x);
        d.state.velocity = vec3_make(p - 0.5, q - 0.5, -r);
        d.state.attitude = quat_normalize(quat_make(1.0, p - 0.5, q - 0.5, r - 0.5));
        d.state.rate = vec3_make(3.0 * (q - 0.5), 3.0 * (r - 0.5), 0.0);
        assert_int_equal(vy_bodies_add(b, &d, NULL, NULL), VY_OK);
    }
}

static int same(const vy_body_state *a, const vy_body_state *b) { return memcmp(a, b, sizeof *a) == 0; }

static double energy_of(const vy_bodies *b)
{
    const vy_bodies_energy e = vy_bodies_read_energy(b);
    return e.kinetic + e.potential;
}

// ---- falling asleep

// With and without: the same bits until the first one sleeps, also one step before. Asleep nothing drifts,
// and energy has only gone. The floor goes on carrying the weight of everything.
static void heaps_fall_asleep(void **unused)
{
    (void)unused;
    uint64_t x = 11;
    for (int round = 0; round < 12; ++round) {
        uint64_t twice = x;
        const uint32_t count = 4u + (uint32_t)round;
        vy_bodies *b = sleepy_set(20, 1, VY_CONTACT_SOLVER_SOFT), *other = new_set(DT, G, 20);
        add_heap(b, &x, (int)count);
        add_heap(other, &twice, (int)count);
        const vy_body_id floor = add_floor(b);
        (void)add_floor(other);
        int steps = 0;
        for (; vy_bodies_asleep(b) == 0; ++steps) {
            for (uint32_t i = 0; i < count; ++i) {
                const vy_body_state p = read(b, vy_bodies_at(b, i)), q = read(other, vy_bodies_at(other, i));
                assert_true(same(&p, &q));
            }
            assert_true(steps < LATER);
            step(b, 1);
            step(other, 1);
        }
        assert_true(steps * DT >= SECONDS);
        assert_true(energy_of(b) <=
                    energy_of(other)); // but for the motion that sleep has taken they are twins
        until_asleep(b, count);
        vy_body_state before[20];
        double weight = 0.0, carried = 0.0;
        for (uint32_t i = 0; i < count; ++i) {
            double mass;
            vy_mat3 inertia;
            before[i] = read(b, vy_bodies_at(b, i));
            assert_true(vec3_length(before[i].velocity) == 0.0 && vec3_length(before[i].rate) == 0.0);
            assert_int_equal(vy_body_read_mass(b, vy_bodies_at(b, i), &mass, &inertia), VY_OK);
            weight += mass * G;
        }
        for (int k = 0; k < 300; ++k) {
            step(b, 1);
            for (uint32_t i = 0; i < count; ++i) {
                const vy_body_state now = read(b, vy_bodies_at(b, i));
                assert_true(same(&now, &before[i]));
            }
        }
        for (uint32_t k = 0; k < vy_bodies_contact_count(b); ++k) {
            vy_contact_report r;
            assert_int_equal(vy_bodies_contact(b, k, &r), VY_OK);
            assert_int_equal(r.phase, VY_CONTACT_PERSIST);
            assert_true(r.points > 0 && fabs(vec3_length(r.normal) - 1.0) < 1e-12 && r.speed == 0.0);
            if (r.b == floor.bits) carried -= r.impulse.z / DT;
        }
        assert_true(fabs(carried - weight) < 0.02 * weight);
        vy_bodies_destroy(b);
        vy_bodies_destroy(other);
    }
}

// ---- waking

// A ball that is thrown at the middle one of three stacks: that one wakes, the others keep their bits. The
// step of the impact is the one of a stack that never slept: all bits of one woken by hand just before.
static void balls_wake_what_they_hit(void **unused)
{
    (void)unused;
    for (int solver = VY_CONTACT_SOLVER_SOFT; solver <= VY_CONTACT_SOLVER_IMPULSE; ++solver) {
        vy_bodies *b = sleepy_set(16, 1, (vy_contact_solver)solver);
        const vy_shape shape = ball(0.05);
        // The simple response lets nothing come to rest that lies on what moves.
        const int high = solver == VY_CONTACT_SOLVER_SOFT ? 3 : 1, all = 3 * high;
        vy_body_id stack[3][3], every[10];
        for (int i = 0; i < 3; ++i) add_stack(b, 0.0, 0.21 * i, stack[i], high); // a centimetre apart
        (void)add_floor(b);
        until_asleep(b, (uint32_t)all);
        vy_body_state before[10], after[10];
        for (int i = 0; i < all; ++i) every[i] = stack[i / high][i % high];
        for (int i = 0; i < all; ++i) before[i] = read(b, every[i]);
        every[all] = add(b, VY_BODY_DYNAMIC, &shape, 0.3, vec3_make(-1.0, 0.21, 0.2 * high - 0.1),
                         vec3_make(6.0, 0.0, 1.0), surface(0.5, 0.3));
        void *last = NULL;
        size_t size = 0;
        int steps = 0;
        do {
            assert_true(++steps < 60);
            free(last);
            last = snapshot_of(b, &size);
            step(b, 1);
        } while (vy_bodies_asleep(b) == (uint32_t)all);
        assert_int_equal(vy_bodies_asleep(b), all - high);
        for (int i = 0; i < all; ++i) assert_int_equal(vy_body_is_asleep(b, every[i]), i / high != 1);
        assert_true(read(b, stack[1][high - 1]).velocity.x > 0.0 && read(b, every[all]).velocity.x < 5.0);
        for (int i = 0; i <= all; ++i) after[i] = read(b, every[i]);

        assert_int_equal(vy_bodies_restore(b, last, size, NULL), VY_OK);
        assert_int_equal(vy_bodies_asleep(b), all);
        assert_int_equal(vy_body_wake(b, stack[1][0]), VY_OK);
        step(b, 1);
        for (int i = 0; i <= all; ++i) {
            const vy_body_state now = read(b, every[i]);
            assert_true(same(&now, &after[i]));
            if (i < all && i / high != 1) assert_true(same(&now, &before[i]));
        }
        free(last);
        vy_bodies_destroy(b);
    }
}

// A ball that flies past, and one that lands beside, wake nobody.
static void what_passes_wakes_nobody(void **unused)
{
    (void)unused;
    vy_bodies *b = sleepy_set(16, 1, VY_CONTACT_SOLVER_SOFT);
    const vy_shape shape = ball(0.05);
    vy_body_id stack[3];
    add_stack(b, 0.0, 0.0, stack, 3);
    (void)add_floor(b);
    until_asleep(b, 3);
    (void)add(b, VY_BODY_DYNAMIC, &shape, 0.3, vec3_make(-1.0, 0.1501, 0.5), vec3_make(6.0, 0.0, 1.0),
              surface(0.5, 0.0));
    (void)add(b, VY_BODY_DYNAMIC, &shape, 0.3, vec3_make(-0.1501, 0.0, 0.4), vec3_zero(), surface(0.5, 0.0));
    for (int i = 0; i < 60; ++i) {
        step(b, 1);
        assert_int_equal(vy_bodies_asleep(b), 3);
    }
    vy_bodies_destroy(b);
}

/// Two stacks, a, and b far away, and what they stand on.
typedef struct two_stacks {
    vy_bodies *b;
    vy_body_id a[3], far[3], table, other_table;
} two_stacks;

static void kick(two_stacks *s)
{
    (void)vy_body_apply_impulse(s->b, s->a[1], vec3_make(0.1, 0, 0), VY_FRAME_WORLD);
}
static void spin(two_stacks *s)
{
    (void)vy_body_apply_angular_impulse(s->b, s->a[2], vec3_make(0, 0, 0.01), VY_FRAME_WORLD);
}
static void push(two_stacks *s)
{
    (void)vy_body_apply_force(s->b, s->a[2], vec3_make(1, 0, 0), VY_FRAME_BODY);
}
static void twist(two_stacks *s)
{
    (void)vy_body_apply_torque(s->b, s->a[0], vec3_make(0, 0, 1), VY_FRAME_WORLD);
}
static void wake(two_stacks *s) { (void)vy_body_wake(s->b, s->a[1]); }
static void wake_table(two_stacks *s) { (void)vy_body_wake(s->b, s->table); }
static void remove_lowest(two_stacks *s) { (void)vy_bodies_remove(s->b, s->a[0]); }
static void remove_table(two_stacks *s) { (void)vy_bodies_remove(s->b, s->table); }
static void lift(two_stacks *s)
{
    vy_body_state at = read(s->b, s->a[2]);
    at.position.z += 0.5;
    (void)vy_body_set_state(s->b, s->a[2], &at);
}
static void lower_table(two_stacks *s)
{
    vy_body_state at = read(s->b, s->table);
    at.position.z -= 0.5;
    (void)vy_body_set_state(s->b, s->table, &at);
}
static void move_table(two_stacks *s)
{
    vy_body_state at = read(s->b, s->table);
    at.velocity.z = -1.0;
    (void)vy_body_set_state(s->b, s->table, &at);
}
static void pull_one(two_stacks *s)
{
    vy_potential p;
    assert_int_equal(vy_potential_uniform(vec3_make(0, 0, 20), &p, NULL), VY_OK);
    assert_int_equal(vy_bodies_add_potential(s->b, &p, s->a[2], NULL), VY_OK);
}
static void hang(two_stacks *s)
{
    vy_joint_def d = vy_default_joint_def();
    d.kind = VY_JOINT_SPRING;
    d.stiffness = 100.0;
    assert_int_equal(
        vy_joint_set_frames(s->b, s->a[2], VY_NULL_BODY, vec3_make(0, 0, 2), vec3_make(0, 0, 1), &d), VY_OK);
    d.anchor_a = vec3_zero();
    assert_int_equal(vy_bodies_add_joint(s->b, &d, NULL, NULL), VY_OK);
}
static void stab(two_stacks *s) // something that does not move appears within a body
{
    const vy_shape shape = box(0.02, 0.02, 0.02);
    (void)add(s->b, VY_BODY_STATIC, &shape, 1.0, vec3_make(0.11, 0.0, 0.3), vec3_zero(), surface(0.5, 0.0));
}

// Everything that happens to one stack wakes it, all of it, and not the other one. What is out of reach wakes
// none.
static void changes_wake(void **unused)
{
    (void)unused;
    void (*const changes[])(two_stacks *) = {kick,       spin,          push,         twist, wake,
                                             wake_table, remove_lowest, remove_table, lift,  lower_table,
                                             move_table, pull_one,      hang,         stab};
    for (size_t k = 0; k < sizeof changes / sizeof changes[0]; ++k) {
        two_stacks s = {.b = sleepy_set(16, 1, VY_CONTACT_SOLVER_SOFT)};
        const vy_shape top = box(0.5, 0.5, 0.1);
        add_stack(s.b, 0.0, 0.0, s.a, 3);
        add_stack(s.b, 5.0, 0.0, s.far, 3);
        s.table =
            add(s.b, VY_BODY_KINEMATIC, &top, 1.0, vec3_make(0, 0, -0.1), vec3_zero(), surface(0.6, 0.0));
        s.other_table =
            add(s.b, VY_BODY_STATIC, &top, 1.0, vec3_make(5, 0, -0.1), vec3_zero(), surface(0.6, 0.0));
        until_asleep(s.b, 6);
        (void)add(s.b, VY_BODY_STATIC, &top, 1.0, vec3_make(0, 9, 0), vec3_zero(), surface(0.6, 0.0));
        step(s.b, 3);
        assert_int_equal(vy_bodies_asleep(s.b), 6);
        const vy_body_state was = read(s.b, s.a[2]);
        changes[k](&s);
        step(s.b, 1);
        assert_int_equal(vy_bodies_asleep(s.b), 3);
        for (int i = 0; i < 3; ++i) {
            assert_int_equal(vy_body_is_asleep(s.b, s.a[i]), 0);
            assert_int_equal(vy_body_is_asleep(s.b, s.far[i]), 1);
        }
        step(s.b, 30);
        const double fell = was.position.z - read(s.b, s.a[2]).position.z;
        const int drops = changes[k] == remove_lowest || changes[k] == remove_table ||
                          changes[k] == lower_table || changes[k] == move_table;
        if (drops) assert_true(fell > 0.15);
        if (changes[k] == wake || changes[k] == wake_table) assert_true(fabs(fell) < 1e-3);
        vy_bodies_destroy(s.b);
    }
}

// A driven body wakes what it runs into, when it does; who stands on it does not sleep while it moves.
static void driven_bodies_wake(void **unused)
{
    (void)unused;
    vy_bodies *b = sleepy_set(16, 1, VY_CONTACT_SOLVER_SOFT);
    const vy_shape plate = box(0.05, 0.5, 0.5), disc = box(0.5, 0.5, 0.1);
    vy_body_id stack[3], rider[1];
    add_stack(b, 0.0, 0.0, stack, 3);
    add_stack(b, 9.0, 0.0, rider, 1);
    (void)add_floor(b);
    vy_body_state on = read(b, rider[0]);
    on.position.z += 0.4;
    assert_int_equal(vy_body_set_state(b, rider[0], &on), VY_OK);
    const vy_body_id table =
        add(b, VY_BODY_KINEMATIC, &disc, 1.0, vec3_make(9.0, 0.0, 0.3), vec3_zero(), surface(0.6, 0.0));
    vy_body_state turning = read(b, table);
    turning.rate.z = 1e-3; // slower than what counts as rest
    assert_int_equal(vy_body_set_state(b, table, &turning), VY_OK);
    until_asleep(b, 3);
    const vy_body_id pusher = add(b, VY_BODY_KINEMATIC, &plate, 1.0, vec3_make(-0.65, 0.0, 0.6),
                                  vec3_make(0.5, 0, 0), surface(0.6, 0.0));
    while (read(b, pusher).position.x < -0.16) { // its face is a centimetre from the stack
        step(b, 1);
        assert_int_equal(vy_bodies_asleep(b), 3);
    }
    step(b, 5);
    assert_int_equal(vy_bodies_asleep(b), 0);
    assert_true(read(b, stack[2]).velocity.x > 0.1);
    turning.rate.z = 0.0;
    turning.attitude = read(b, table).attitude;
    assert_int_equal(vy_body_set_state(b, table, &turning), VY_OK);
    step(b, (int)(SECONDS / DT) + 2);
    assert_int_equal(vy_body_is_asleep(b, rider[0]), 1);
    vy_bodies_destroy(b);
}

// ---- potentials and forces

static void lift_by(const void *self, const vy_potential_body *body, vy_vec3 *force, vy_vec3 *torque)
{
    (void)body;
    *force = vec3_make(*(const double *)self, 0.0, 0.0);
    *torque = vec3_zero();
}

static double no_energy(const void *self, const vy_potential_body *body)
{
    (void)self;
    (void)body;
    return 0.0;
}

// A custom potential may change at any time: what it does to a sleeping body is compared with how it fell
// asleep, and little by little does not help.
static void potentials_may_change(void **unused)
{
    (void)unused;
    double force = 1.0; // [N] held by friction
    const vy_potential p = {.kind = VY_POTENTIAL_CUSTOM, .custom = {&force, lift_by, no_energy}};
    vy_bodies *b = sleepy_set(4, 1, VY_CONTACT_SOLVER_SOFT);
    vy_body_id one[1];
    add_stack(b, 0.0, 0.0, one, 1);
    (void)add_floor(b);
    assert_int_equal(vy_bodies_add_potential(b, &p, VY_NULL_BODY, NULL), VY_OK);
    until_asleep(b, 1);
    const double limit = SPEED / SECONDS; // [m/s^2] of 1 kg
    step(b, 1);
    for (int i = 1; i <= 9; ++i) {
        force = 1.0 + 0.1 * i * limit;
        step(b, 1);
        assert_int_equal(vy_bodies_asleep(b), 1);
    }
    force = 1.0 + 1.1 * limit;
    step(b, 1);
    assert_int_equal(vy_bodies_asleep(b), 0);
    until_asleep(b, 1);
    step(b, 1);
    force = 7.0; // friction holds 5.88
    step(b, 60);
    assert_int_equal(vy_bodies_asleep(b), 0);
    assert_true(read(b, one[0]).velocity.x > 0.3);
    vy_bodies_destroy(b);
}

// A force that is applied in every step keeps a body awake, also when friction holds it; so does no_sleep.
static void pushed_bodies_stay_awake(void **unused)
{
    (void)unused;
    vy_bodies *b = sleepy_set(8, 1, VY_CONTACT_SOLVER_SOFT);
    vy_body_id one[1];
    const vy_shape shape = box(0.1, 0.1, 0.1);
    vy_body_def d = vy_default_body_def();
    d.no_sleep = 1;
    d.shape = &shape;
    d.state.position = vec3_make(3.0, 0.0, 0.1);
    add_stack(b, 0.0, 0.0, one, 1);
    assert_int_equal(vy_bodies_add(b, &d, NULL, NULL), VY_OK);
    add_stack(b, 3.0, 0.2, (vy_body_id[1]){{0}}, 1); // touches it, and so does not sleep either
    (void)add_floor(b);
    for (int i = 0; i < 200; ++i) {
        assert_int_equal(vy_body_apply_force(b, one[0], vec3_make(1.0, 0.0, 0.0), VY_FRAME_WORLD), VY_OK);
        step(b, 1);
        assert_int_equal(vy_bodies_asleep(b) > 1, 0);
        assert_int_equal(vy_body_is_asleep(b, one[0]), 0);
    }
    assert_int_equal(vy_body_apply_force(b, one[0], vec3_zero(), VY_FRAME_WORLD), VY_OK); // none at all
    step(b, 200);
    assert_int_equal(vy_body_is_asleep(b, one[0]), 1);
    assert_int_equal(vy_body_is_asleep(b, vy_bodies_at(b, 1)), 0);
    vy_bodies_destroy(b);
}

// ---- joints

// A chain on the floor and a damped pendulum that hangs: each sleeps as one, and wakes when a joint goes or a
// motor turns.
static void joined_bodies_sleep_together(void **unused)
{
    (void)unused;
    enum { LINKS = 4 };
    vy_bodies *b = sleepy_set(16, 1, VY_CONTACT_SOLVER_SOFT);
    const vy_shape link = box(0.1, 0.05, 0.05);
    vy_body_id chain[LINKS];
    vy_joint_id joints[LINKS], hinge;
    for (int i = 0; i < LINKS; ++i) {
        chain[i] = add(b, VY_BODY_DYNAMIC, &link, 1.0, vec3_make(0.3 * i, 0.0, 0.05), vec3_zero(),
                       surface(0.6, 0.0));
        vy_joint_def d = vy_default_joint_def();
        d.kind = VY_JOINT_BALL;
        if (i == 0) continue;
        assert_int_equal(vy_joint_set_frames(b, chain[i - 1], chain[i], vec3_make(0.3 * i - 0.15, 0, 0.05),
                                             vec3_make(0, 1, 0), &d),
                         VY_OK);
        assert_int_equal(vy_bodies_add_joint(b, &d, &joints[i], NULL), VY_OK);
    }
    const vy_body_id bob =
        add(b, VY_BODY_DYNAMIC, &link, 1.0, vec3_make(5.0, 0.0, 2.0), vec3_zero(), surface(0.6, 0.0));
    vy_joint_def d = vy_default_joint_def();
    d.kind = VY_JOINT_HINGE;
    d.damping = 1.0;
    assert_int_equal(
        vy_joint_set_frames(b, VY_NULL_BODY, bob, vec3_make(5.1, 0, 2.3), vec3_make(0, 1, 0), &d), VY_OK);
    assert_int_equal(vy_bodies_add_joint(b, &d, &hinge, NULL), VY_OK);
    (void)add_floor(b);
    until_asleep(b, LINKS + 1);
    const vy_body_state before = read(b, chain[0]), hung = read(b, bob);
    step(b, 100);
    const vy_body_state now = read(b, chain[0]), hangs = read(b, bob);
    assert_true(same(&now, &before) && same(&hangs, &hung));
    assert_int_equal(vy_body_apply_impulse(b, chain[3], vec3_make(0, 0, 0.01), VY_FRAME_WORLD), VY_OK);
    for (int i = 0; i < LINKS; ++i) assert_int_equal(vy_body_is_asleep(b, chain[i]), 0);
    assert_int_equal(vy_body_is_asleep(b, bob), 1);
    until_asleep(b, LINKS + 1);
    assert_int_equal(vy_bodies_remove_joint(b, joints[2]), VY_OK);
    assert_int_equal(vy_bodies_asleep(b), 1);
    until_asleep(b, LINKS + 1); // two islands now
    assert_int_equal(vy_body_wake(b, chain[0]), VY_OK);
    assert_int_equal(vy_bodies_asleep(b), LINKS - 1);
    assert_int_equal(vy_joint_set_motor(b, hinge, 1.0, 10.0, 50.0), VY_OK);
    assert_int_equal(vy_body_is_asleep(b, bob), 0);
    step(b, 20);
    assert_true(fabs(read(b, bob).rate.y) > 0.1);
    vy_bodies_destroy(b);
}

static void always_there(const vy_constraint *c, const vy_body_state *a, const vy_body_state *b, double time,
                         double *value)
{
    (void)c;
    (void)b;
    value[0] = a->position.z - (time > 3.0 ? 1.0 + 0.5 * (time - 3.0) : 1.0);
}

static void lifts(const vy_constraint *c, const vy_body_state *a, const vy_body_state *b, double time,
                  double (*ja)[6], double (*jb)[6])
{
    (void)c;
    (void)a;
    (void)b;
    (void)time;
    (void)jb;
    ja[0][2] = 1.0;
}

static void by_time(const vy_constraint *c, const vy_body_state *a, const vy_body_state *b, double time,
                    double *rate)
{
    (void)c;
    (void)a;
    (void)b;
    rate[0] = time > 3.0 ? -0.5 : 0.0;
}

// A custom joint may move by time alone: what it holds stays awake.
static void custom_joints_stay_awake(void **unused)
{
    (void)unused;
    vy_constraint crane = vy_default_constraint();
    crane.evaluate = always_there;
    crane.jacobian = lifts;
    crane.time_derivative = by_time;
    vy_bodies *b = sleepy_set(4, 1, VY_CONTACT_SOLVER_SOFT);
    const vy_shape shape = ball(0.1);
    const vy_body_id load =
        add(b, VY_BODY_DYNAMIC, &shape, 1.0, vec3_make(0, 0, 1), vec3_zero(), surface(0.5, 0.0));
    vy_joint_def d = vy_default_joint_def();
    d.kind = VY_JOINT_CUSTOM;
    d.custom = &crane;
    d.body_a = load;
    assert_int_equal(vy_bodies_add_joint(b, &d, NULL, NULL), VY_OK);
    step(b, (int)(4.0 / DT));
    assert_true(read(b, load).position.z > 1.4);
    vy_bodies_destroy(b);
}

// ---- determinism

// A heap that falls asleep while a ball is on its way to it, and is hit. `moments`: when to look.
static void make_story(vy_bodies *b)
{
    uint64_t x = 72;
    const vy_shape shape = ball(0.1);
    add_heap(b, &x, 150);
    (void)add_floor(b);
    (void)add(b, VY_BODY_DYNAMIC, &shape, 20.0, vec3_make(0.8, 0.8, 75.0), vec3_zero(), surface(0.5, 0.0));
}

// The story on one thread; then on others some steps from three of its moments: most have just fallen asleep,
// all lies, and it is hit.
static void threads_give_the_same_bits(void **unused)
{
    (void)unused;
    enum { MOMENTS = 3, STEPS = 8 };
    static const uint32_t counts[] = {1, 2, 3, 8};
    void *blocks[MOMENTS];
    size_t sizes[MOMENTS];
    uint64_t hashes[MOMENTS][STEPS];
    vy_bodies *b = sleepy_set(160, 1, VY_CONTACT_SOLVER_SOFT);
    make_story(b);
    uint32_t asleep = 0, last = 0;
    for (int found = 0, steps = 0; found < MOMENTS; ++steps) {
        assert_true(steps < LATER);
        blocks[found] = snapshot_of(b, &sizes[found]);
        step(b, 1);
        asleep = vy_bodies_asleep(b);
        const int now = found == 0   ? asleep > 75
                        : found == 1 ? asleep > 140
                                     : last - asleep > 20 && asleep < last;
        if (now) {
            ++found;
        } else {
            free(blocks[found]);
        }
        last = asleep;
    }
    vy_bodies_destroy(b);
    for (int n = 0; n < 4; ++n) {
        b = sleepy_set(160, counts[n], VY_CONTACT_SOLVER_SOFT);
        make_story(b);
        for (int m = 0; m < MOMENTS; ++m) {
            assert_int_equal(vy_bodies_restore(b, blocks[m], sizes[m], NULL), VY_OK);
            for (int i = 0; i < STEPS; ++i) {
                step(b, 1);
                if (n == 0) hashes[m][i] = vy_bodies_hash(b);
                assert_true(hashes[m][i] == vy_bodies_hash(b));
            }
        }
        vy_bodies_destroy(b);
    }
    for (int m = 0; m < MOMENTS; ++m) free(blocks[m]);
}

// From a snapshot of any moment the same bits and the same reports follow, in a set that has gone another
// way.
static void snapshots_keep_sleep(void **unused)
{
    (void)unused;
    enum { AFTER = 40 };
    vy_bodies *b = sleepy_set(160, 1, VY_CONTACT_SOLVER_SOFT);
    make_story(b);
    int asleep = 0, waking = 0;
    for (int round = 0; round < 26; ++round) {
        uint64_t hashes[AFTER];
        size_t size;
        void *block = snapshot_of(b, &size);
        const uint32_t before = vy_bodies_asleep(b);
        asleep += before > 0;
        for (int i = 0; i < AFTER; ++i) {
            step(b, 1);
            hashes[i] = vy_bodies_hash(b);
        }
        waking += vy_bodies_asleep(b) < before;
        const uint32_t count = vy_bodies_contact_count(b);
        vy_contact_report *reports = calloc(count + 1, sizeof *reports);
        for (uint32_t k = 0; k < count; ++k) assert_int_equal(vy_bodies_contact(b, k, &reports[k]), VY_OK);
        step(b, round % 3);
        assert_int_equal(vy_bodies_restore(b, block, size, NULL), VY_OK);
        assert_int_equal(vy_bodies_asleep(b), before);
        for (int i = 0; i < AFTER; ++i) {
            step(b, 1);
            assert_true(hashes[i] == vy_bodies_hash(b));
        }
        assert_int_equal(vy_bodies_contact_count(b), count);
        for (uint32_t k = 0; k < count; ++k) {
            vy_contact_report r;
            assert_int_equal(vy_bodies_contact(b, k, &r), VY_OK);
            assert_memory_equal(&r, &reports[k], sizeof r);
        }
        free(reports);
        assert_int_equal(vy_bodies_restore(b, block, size, NULL), VY_OK);
        step(b, AFTER / 2);
        free(block);
    }
    assert_true(asleep > 5 && waking > 0);
    vy_bodies_destroy(b);
}

// ---- energy

// Thrown about, asleep, hit and asleep again: energy never grows by more than scenes without sleep allow
// (test_contact_laws.c), and not at all in a step in which somebody falls asleep and nobody pushes anew.
static void energy_does_not_grow(void **unused)
{
    (void)unused;
    uint64_t x = 5;
    for (int round = 0; round < 10; ++round) {
        vy_bodies *b = sleepy_set(20, 1, VY_CONTACT_SOLVER_SOFT);
        add_heap(b, &x, 8);
        (void)add_floor(b);
        const double first = energy_of(b);
        double min = first;
        for (int i = 0; i < 700; ++i) {
            if (i == 350) { // something falls on it
                const vy_shape shape = ball(0.1);
                const double north = unit(&x), east = unit(&x);
                (void)add(b, VY_BODY_DYNAMIC, &shape, 1.0, vec3_make(0.7 * east, 0.7 * north, 1.0),
                          vec3_zero(), surface(0.5, 0.0));
                min = energy_of(b);
            }
            const uint32_t asleep = vy_bodies_asleep(b);
            const double before = energy_of(b);
            step(b, 1);
            assert_true(energy_of(b) <= min + 0.05 * first);
            if (vy_bodies_asleep(b) > asleep &&
                asleep + (vy_bodies_asleep(b) - asleep) == vy_bodies_count(b) - 1)
                assert_true(energy_of(b) <= before + 1e-5);
            min = fmin(min, energy_of(b));
        }
        vy_bodies_destroy(b);
    }
}

static void numbers_are_checked(void **unused)
{
    (void)unused;
    vy_bodies *b = NULL;
    vy_error err;
    vy_bodies_def def = vy_default_bodies_def();
    def.contacts.on = 1;
    assert_true(def.contacts.time_to_sleep == 0.0);
    def.contacts.time_to_sleep = -1.0;
    assert_int_equal(vy_bodies_create(&def, &b, &err), VY_BAD_VALUE);
    def.contacts.time_to_sleep = 1.0;
    def.contacts.sleep_speed = 0.0;
    assert_int_equal(vy_bodies_create(&def, &b, &err), VY_BAD_VALUE);
    def.contacts.time_to_sleep = 0.0;
    assert_int_equal(vy_bodies_create(&def, &b, &err), VY_OK);
    assert_int_equal(vy_body_is_asleep(b, VY_NULL_BODY), 0);
    assert_int_equal(vy_body_wake(b, VY_NULL_BODY), VY_NOT_FOUND);
    assert_int_equal(vy_bodies_asleep(b), 0);
    vy_bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heaps_fall_asleep),        cmocka_unit_test(balls_wake_what_they_hit),
        cmocka_unit_test(what_passes_wakes_nobody), cmocka_unit_test(changes_wake),
        cmocka_unit_test(driven_bodies_wake),       cmocka_unit_test(potentials_may_change),
        cmocka_unit_test(pushed_bodies_stay_awake), cmocka_unit_test(joined_bodies_sleep_together),
        cmocka_unit_test(custom_joints_stay_awake), cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(snapshots_keep_sleep),     cmocka_unit_test(energy_does_not_grow),
        cmocka_unit_test(numbers_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
