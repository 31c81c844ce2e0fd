// test_open_joints.c - joints that are added open close at the speed that was declared, and no faster.
//
// VOLERY_OPEN_JOINTS=10000 makes as many scenes instead of the slice that the suite takes.
#include "contact_sets.h"
#include "dynamics/joint.h"
#include <stdlib.h>
#include <string.h>

enum { SLICE = 54, KINDS = 9 };
#define SPEED 1.0 // [m/s] the default

static int scenes(void)
{
    const char *n = getenv("VOLERY_OPEN_JOINTS");
    return n != NULL ? atoi(n) : SLICE;
}

static double log_in(random_source *r, double low, double high)
{
    return exp(random_in(r, log(low), log(high)));
}

// ---- a constraint of the user: the middle of b stays in line with that of a, so much higher

static void level_value(const vy_constraint *c, const vy_body_state *a, const vy_body_state *b, double time,
                        double *value)
{
    (void)time;
    value[0] = b->position.z - a->position.z - *(const double *)c->self;
    value[1] = b->position.x - a->position.x;
}

static void level_jacobian(const vy_constraint *c, const vy_body_state *a, const vy_body_state *b,
                           double time, vy_jacobian ja, vy_jacobian jb)
{
    (void)c;
    (void)a;
    (void)b;
    (void)time;
    ja[0][2] = ja[1][0] = -1.0;
    jb[0][2] = jb[1][0] = 1.0;
}

static vy_constraint level(const double *higher)
{
    vy_constraint c = vy_default_constraint();
    c.name = "level";
    c.dimension = 2;
    c.self = higher;
    c.evaluate = level_value;
    c.jacobian = level_jacobian;
    return c;
}

// ---- random scenes

typedef struct open_scene {
    vy_bodies *b;
    vy_body_id id[2];
    vy_joint_id joint;
    vy_joint_def def;
    double mass[2];   // [kg] 0: the world
    double radius[2]; // [m]
    double dt;
} open_scene;

static vy_body_id add_random(vy_bodies *b, random_source *r, vy_vec3 place, int heavy, double *mass,
                             double *radius)
{
    vy_body_def def = vy_default_body_def();
    const double x = log_in(r, 0.05, 0.3), y = log_in(r, 0.05, 0.3), z = log_in(r, 0.05, 0.3);
    const vy_shape shape = box(x, y, z);
    vy_body_id id;
    *radius = sqrt(x * x + y * y + z * z);
    *mass = def.mass = heavy ? log_in(r, 1.0, 3.0) : log_in(r, 0.1, 10.0);
    def.shape = &shape;
    def.state.position = place;
    def.state.attitude = random_attitude(r);
    assert_int_equal(vy_bodies_add(b, &def, &id, NULL), VY_OK);
    return id;
}

// A joint of a random kind, whose anchors, axes and stops are anywhere.
static void join_random(open_scene *t, random_source *r, int kind, int touches)
{
    static const vy_joint_kind kinds[KINDS] = {VY_JOINT_DISTANCE, VY_JOINT_BALL,        VY_JOINT_HINGE,
                                               VY_JOINT_SLIDER,   VY_JOINT_FIXED,       VY_JOINT_UNIVERSAL,
                                               VY_JOINT_CABLE,    VY_JOINT_CYLINDRICAL, VY_JOINT_CUSTOM};
    vy_joint_def *def = &t->def;
    *def = vy_default_joint_def();
    def->kind = kinds[kind];
    def->body_a = t->id[0];
    def->body_b = t->id[1];
    def->anchor_a = random_vec(r, 0.3);
    def->anchor_b = random_vec(r, 0.3);
    if (touches) { // and no body is to be pulled into another, or into the ground
        if (t->mass[0] == 0.0) def->anchor_a.z += 1.0;
        if (t->mass[1] == 0.0) def->anchor_b.z += 1.0;
    }
    def->axis_a = random_vec(r, 1.0);
    def->axis_b = random_vec(r, 1.0);
    def->length = touches ? t->radius[0] + t->radius[1] + 0.3 : log_in(r, 0.1, 1.0);
    static const double heights[] = {0.0, 1.0,
                                     -1.0}; // a world that touches is not to pull it into the ground
    static vy_constraint at[3];
    const int higher = !touches ? 0 : t->mass[0] == 0.0 ? 1 : t->mass[1] == 0.0 ? 2 : 0;
    at[higher] = level(&heights[higher]);
    def->custom = &at[higher];
    def->far_open = 1;
    const double low = random_in(r, -1.0, 1.0);
    if (random_in(r, 0.0, 1.0) < 0.5 && vy_joint_has(def->kind, VY_JOINT_TURNS | VY_JOINT_SLIDES)) {
        def->limited = 1;
        def->low = low;
        def->high = low + 0.5;
    }
    assert_int_equal(vy_bodies_add_joint(t->b, def, &t->joint, NULL), VY_OK);
}

static open_scene open_random(random_source *r, int n, double gravity, uint32_t contacts)
{
    static const double steps[] = {1.0 / 60.0, 1.0 / 240.0, 1e-3};
    open_scene t = {.dt = steps[n % 3]};
    vy_bodies_def def = vy_default_bodies_def();
    def.dt = t.dt;
    def.gravity = vec3_make(0.0, 0.0, -gravity);
    def.integrator = n % 2 ? VY_INTEGRATOR_RK4 : VY_INTEGRATOR_LIE_MIDPOINT;
    def.contacts.on = contacts > 0;
    if (n % 5 == 0) def.contacts.time_to_sleep = 0.2;
    assert_int_equal(vy_bodies_create(&def, &t.b, NULL), VY_OK);
    t.id[0] = add_random(t.b, r, vec3_make(0.0, 0.0, 0.6), contacts > 0, &t.mass[0], &t.radius[0]);
    t.id[1] = add_random(t.b, r, vec3_add(vec3_make(0.0, 0.0, 1.6), random_vec(r, 0.4)), contacts > 0,
                         &t.mass[1], &t.radius[1]);
    const double side = random_in(r, 0.0, 1.0);
    for (int k = 0; k < 2; ++k) { // one of them may be the world
        if (!(side < 0.2 && k == 0) && !(side > 0.8 && k == 1)) continue;
        assert_int_equal(vy_bodies_remove(t.b, t.id[k]), VY_OK);
        t.id[k] = VY_NULL_BODY;
        t.mass[k] = t.radius[k] = 0.0;
    }
    return t;
}

static vy_body_state place_of(const open_scene *t, int k)
{
    vy_body_state s = {.attitude = {1.0, 0.0, 0.0, 0.0}};
    if (t->mass[k] > 0.0) s = read(t->b, t->id[k]);
    return s;
}

static vy_joint_state joint_at(const open_scene *t)
{
    vy_joint_state s;
    assert_int_equal(vy_joint_read(t->b, t->joint, &s), VY_OK);
    return s;
}

// The largest |C|; of stops only what is below zero.
static double error_of(const open_scene *t)
{
    const vy_joint_state s = joint_at(t);
    const int stop_row = !t->def.limited ? -1 : vy_joint_has(t->def.kind, VY_JOINT_SLIDES) ? 2 : 5;
    double error = 0.0;
    for (int r = 0; r < VY_CONSTRAINT_ROWS; ++r) {
        const int one_sided = r == stop_row || (t->def.kind == VY_JOINT_CABLE && r == 0);
        error = fmax(error, one_sided ? fmax(-s.value[r], 0.0) : fabs(s.value[r]));
    }
    return error;
}

static double energy_of(const vy_bodies *b)
{
    const vy_bodies_energy e = vy_bodies_read_energy(b);
    return e.kinetic + e.potential;
}

// ---- in free space, from rest

static void closing_is_slow_and_keeps_momentum(void **state)
{
    (void)state;
    random_source r = {11};
    double max = 0.0, drift = 0.0;
    int opened = 0;
    for (int n = 0; n < scenes(); ++n) {
        open_scene t = open_random(&r, n, 0.0, 0);
        join_random(&t, &r, n % KINDS, 0);
        const double time = joint_at(&t).closing_time;
        const double m = t.mass[0] > 0.0 && t.mass[1] > 0.0 ? fmin(t.mass[0], t.mass[1])
                                                            : fmax(t.mass[0], t.mass[1]),
                     whole = 0.5 * m * SPEED * SPEED;
        opened += time > 0.0;
        for (int k = 0; k < (int)(time / t.dt) + 3; ++k) {
            const vy_body_state from[2] = {place_of(&t, 0), place_of(&t, 1)};
            assert_int_equal(vy_bodies_step(t.b) & VY_BODIES_NOT_FINITE, 0);
            const vy_bodies_energy e = vy_bodies_read_energy(t.b);
            // What a cable or a rod draws nearer may swing the faster for it.
            if (!vy_joint_has(t.def.kind, VY_JOINT_HAS_LENGTH)) max = fmax(max, e.kinetic / whole);
            assert_true(e.kinetic <= e.closing + 1e-2 * whole);
            for (int i = 0; i < 2; ++i) {
                const vy_body_state to = place_of(&t, i);
                if (!vy_joint_has(t.def.kind, VY_JOINT_HAS_LENGTH))
                    assert_true(check_distance(to.position, from[i].position) <= 1.05 * SPEED * t.dt);
            }
            if (t.mass[0] == 0.0 || t.mass[1] == 0.0 || t.def.kind == VY_JOINT_CUSTOM) continue;
            vy_vec3 p, l;
            vy_bodies_read_momentum(t.b, &p, &l);
            drift = fmax(drift, (vec3_length(p) + vec3_length(l)) / (m * SPEED));
        }
        assert_near(joint_at(&t).closing_time, 0.0, 0.0);
        assert_near(error_of(&t), 0.0, 1e-8);
        vy_bodies_destroy(t.b);
    }
    print_message("%d joints, %d of them open: at most %.3f of m v^2 / 2; momentum %.1e of m v\n", scenes(),
                  opened, max, drift);
    assert_true(opened > scenes() / 2);
    assert_true(max < 1.0);
    assert_true(drift < 1e-3);
}

// ---- where gravity, the ground and other bodies are

// The energy less what closing has put in never grows.
static void check_energy(const open_scene *t, double *floor, double slack)
{
    const vy_bodies_energy e = vy_bodies_read_energy(t->b);
    const double left = e.kinetic + e.potential - e.closing;
    if (left > *floor + slack)
        print_error("kind %s, dt %g: %g J of %g J\n", vy_joint_kind_name(t->def.kind), t->dt, left, *floor);
    assert_true(left <= *floor + slack);
    *floor = fmin(*floor, left);
}

static void closing_work_is_reported(void **state)
{
    (void)state;
    random_source r = {12};
    int touched = 0;
    for (int n = 0; n < scenes(); ++n) {
        open_scene t = open_random(&r, n, G, n % 4 == 0 ? 0 : 64);
        const vy_shape ground = plane(vec3_make(0.0, 0.0, 1.0));
        const vy_material rough = {.friction = random_in(&r, 0.0, 1.0)};
        add(t.b, VY_BODY_STATIC, &ground, 1.0, vec3_zero(), vec3_zero(), rough);
        const int later = (int)random_in(&r, 0.0, 0.5 / t.dt); // they may lie on the ground by then
        for (int k = 0; k < later; ++k) assert_int_equal(vy_bodies_step(t.b), 0);
        const double weight = G * (t.mass[0] + t.mass[1]), before = energy_of(t.b);
        join_random(&t, &r, n % KINDS, 1);
        double floor = before;
        const double time = joint_at(&t).closing_time;
        for (int k = 0; k < (int)((time + 0.5) / t.dt); ++k) {
            assert_int_equal(vy_bodies_step(t.b) & VY_BODIES_NOT_FINITE, 0);
            touched += vy_bodies_contact_count(t.b) > 0;
            check_energy(&t, &floor, 0.01 * weight);
        }
        vy_bodies_destroy(t.b);
    }
    print_message("%d steps in contact\n", touched);
    assert_true(touched > 10 * scenes());
}

static vy_bodies *set_on_ground(double dt, vy_contact_solver solver)
{
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b = NULL;
    def.dt = dt;
    def.contacts =
        solver == VY_CONTACT_SOLVER_IMPULSE ? vy_impulse_contacts_def() : vy_default_contacts_def();
    def.contacts.on = 1;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    const vy_shape ground = plane(vec3_make(0.0, 0.0, 1.0));
    add(b, VY_BODY_STATIC, &ground, 1.0, vec3_zero(), vec3_zero(), vy_default_material());
    return b;
}

static void a_short_cable_lifts_what_lies(void **state)
{
    (void)state;
    static const double steps[] = {1.0 / 60.0, 1.0 / 240.0, 1e-3};
    for (int n = 0; n < 6; ++n) {
        const double dt = steps[n % 3];
        vy_bodies *b = set_on_ground(dt, n < 3 ? VY_CONTACT_SOLVER_SOFT : VY_CONTACT_SOLVER_IMPULSE);
        const vy_shape cube = box(0.1, 0.1, 0.1);
        const vy_body_id id =
            add(b, VY_BODY_DYNAMIC, &cube, 1.0, vec3_make(0.0, 0.0, 0.1), vec3_zero(), vy_default_material());
        for (int k = 0; k < (int)(0.5 / dt); ++k) vy_bodies_step(b);
        vy_joint_def def = vy_default_joint_def();
        def.kind = VY_JOINT_CABLE;
        def.body_b = id;
        def.anchor_a = vec3_make(0.3, 0.0, 2.0);
        def.length = check_distance(def.anchor_a, read(b, id).position) - 0.8;
        vy_joint_id joint;
        assert_int_equal(vy_bodies_add_joint(b, &def, &joint, NULL), VY_OK);
        const double before = energy_of(b);
        double max = 0.0;
        for (int k = 0; k < (int)(2.6 / dt); ++k) {
            assert_int_equal(vy_bodies_step(b), 0);
            max = fmax(max, energy_of(b) - before);
        }
        const double closing = vy_bodies_read_energy(b).closing;
        // 0.8 m at 1 m/s: half a joule, and the weight of 1 kg over as much
        assert_true(max <= 0.5 + G * 0.8 + 0.05);
        assert_true(max <= closing + 0.05 && closing <= 0.5 + G * 0.8 + 0.1);
        vy_bodies_destroy(b);
    }
}

// ---- far open

static void far_open_is_refused(void **state)
{
    (void)state;
    vy_bodies *b = new_set(1e-3, G, 4);
    const vy_shape cube = box(0.1, 0.1, 0.1);
    const vy_body_id id =
        add(b, VY_BODY_DYNAMIC, &cube, 1.0, vec3_make(5.0, 0.0, 0.0), vec3_zero(), vy_default_material());
    vy_joint_def def = vy_default_joint_def();
    vy_error err = {0};
    vy_joint_id joint;
    def.kind = VY_JOINT_BALL;
    def.body_b = id;
    const uint64_t hash = vy_bodies_hash(b);
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, &err), VY_BAD_VALUE);
    assert_string_equal(err.text, "a ball joint is 5 m open, more than 10 times the size of what it joins, "
                                  "0.141 m; put the bodies closer or set far_open");
    assert_int_equal(vy_bodies_joint_count(b), 0);
    assert_true(vy_bodies_hash(b) == hash);
    def.far_open = 1;
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, &err), VY_OK);
    vy_body_state last = read(b, id);
    for (int k = 0; k < 12600; ++k) {
        assert_int_equal(vy_bodies_step(b), 0);
        const vy_body_state now = read(b, id);
        assert_true(check_distance(now.position, last.position) < 1.01e-3);
        last = now;
    }
    assert_near(vec3_length(last.position), 0.0, 1e-9);
    vy_bodies_destroy(b);
}

static void anchors_at_one_place_have_no_distance(void **state)
{
    (void)state;
    vy_bodies *b = new_set(1e-3, G, 4);
    const vy_shape cube = box(0.1, 0.1, 0.1);
    vy_joint_def def = vy_default_joint_def();
    vy_error err = {0};
    def.kind = VY_JOINT_DISTANCE;
    def.length = 0.5;
    def.body_b = add(b, VY_BODY_DYNAMIC, &cube, 1.0, vec3_zero(), vec3_zero(), vy_default_material());
    assert_int_equal(vy_bodies_add_joint(b, &def, NULL, &err), VY_BAD_VALUE);
    assert_string_equal(err.text,
                        "the anchors of a distance joint of 0.5 m are at one place: it has no direction");
    vy_bodies_destroy(b);
}

static void settings_have_ranges(void **state)
{
    (void)state;
    const double bad[] = {0.0, -1.0, INFINITE, NOT_A_NUMBER};
    vy_bodies *b = NULL;
    for (int n = 0; n < 4; ++n) {
        vy_bodies_def def = vy_default_bodies_def();
        def.closing_speed = bad[n];
        assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_BAD_VALUE);
        def = vy_default_bodies_def();
        def.open_limit = bad[n];
        assert_int_equal(vy_bodies_create(&def, &b, NULL), n == 0 ? VY_OK : VY_BAD_VALUE);
        vy_bodies_destroy(b);
    }
}

// ---- snapshots and sleep

static void a_snapshot_closes_to_the_same_bits(void **state)
{
    (void)state;
    random_source r = {13};
    for (int n = 0; n < 3 * KINDS; ++n) {
        open_scene t = open_random(&r, n, G, 64);
        join_random(&t, &r, n % KINDS, 1);
        for (int k = 0; k < 10; ++k) vy_bodies_step(t.b);
        void *block = malloc(vy_bodies_state_size(t.b));
        vy_bodies_save(t.b, block);
        for (int k = 0; k < 50; ++k) vy_bodies_step(t.b);
        const uint64_t hash = vy_bodies_hash(t.b);
        assert_int_equal(vy_bodies_restore(t.b, block, vy_bodies_state_size(t.b), NULL), VY_OK);
        for (int k = 0; k < 50; ++k) vy_bodies_step(t.b);
        assert_true(vy_bodies_hash(t.b) == hash);
        free(block);
        vy_bodies_destroy(t.b);
    }
}

// Closing slower than a body may move that falls asleep.
static void nobody_sleeps_while_a_joint_closes(void **state)
{
    (void)state;
    vy_bodies_def set = vy_default_bodies_def();
    vy_bodies *b = NULL;
    set.dt = 1.0 / 60.0;
    set.closing_speed = 0.01;
    set.contacts.on = 1;
    set.contacts.time_to_sleep = 0.2;
    assert_int_equal(vy_bodies_create(&set, &b, NULL), VY_OK);
    const vy_shape cube = box(0.1, 0.1, 0.1), ground = plane(vec3_make(0.0, 0.0, 1.0));
    add(b, VY_BODY_STATIC, &ground, 1.0, vec3_zero(), vec3_zero(), vy_default_material());
    const vy_body_id id =
        add(b, VY_BODY_DYNAMIC, &cube, 1.0, vec3_make(0.0, 0.0, 0.1), vec3_zero(), vy_default_material());
    for (int k = 0; k < 120; ++k) vy_bodies_step(b);
    assert_true(vy_body_is_asleep(b, id));
    vy_joint_def def = vy_default_joint_def();
    vy_joint_id joint;
    vy_joint_state s;
    def.kind = VY_JOINT_BALL;
    def.body_b = id;
    def.anchor_a = vec3_add(read(b, id).position, vec3_make(0.0, 0.0, 0.03));
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, NULL), VY_OK);
    assert_false(vy_body_is_asleep(b, id));
    for (int k = 0; k < 600; ++k) {
        assert_int_equal(vy_joint_read(b, joint, &s), VY_OK);
        assert_true(s.closing_time == 0.0 || !vy_body_is_asleep(b, id));
        assert_int_equal(vy_bodies_step(b), 0);
    }
    assert_near(check_distance(read(b, id).position, def.anchor_a), 0.0, 1e-9);
    assert_true(vy_body_is_asleep(b, id));
    vy_bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closing_is_slow_and_keeps_momentum),
        cmocka_unit_test(closing_work_is_reported),
        cmocka_unit_test(a_short_cable_lifts_what_lies),
        cmocka_unit_test(far_open_is_refused),
        cmocka_unit_test(anchors_at_one_place_have_no_distance),
        cmocka_unit_test(settings_have_ranges),
        cmocka_unit_test(a_snapshot_closes_to_the_same_bits),
        cmocka_unit_test(nobody_sleeps_while_a_joint_closes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
