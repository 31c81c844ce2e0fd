// test_setters.c - bodies and joints that get other constants between two steps, and snapshots of others.
#include "contact_sets.h"
#include "volery/mass.h"
#include <string.h>

enum { BODIES = 24 };

static vy_bodies *sleepy_set(int contacts)
{
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b = NULL;
    def.dt = 1.0 / 120.0;
    def.contacts.on = contacts;
    def.contacts.time_to_sleep = contacts ? 0.5 : 0.0;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    return b;
}

/// Defs with shapes of their own.
typedef struct random_body {
    vy_shape shape;
    vy_body_def def;
} random_body;

static void draw_body(random_source *r, int i, random_body *out)
{
    const double x = random_in(r, 0.1, 0.3), y = random_in(r, 0.1, 0.3), z = random_in(r, 0.1, 0.3);
    out->def = vy_default_body_def();
    out->shape = (vy_shape){0};
    switch (random_bits(r) % 4) {
    case 0: out->shape = ball(x); break;
    case 1: out->shape = box(x, y, z); break;
    case 2: assert_int_equal(vy_shape_capsule(x, y, &out->shape, NULL), VY_OK); break;
    default: assert_int_equal(vy_shape_cylinder(x, y, &out->shape, NULL), VY_OK); break;
    }
    const uint64_t kind = random_bits(r) % 8;
    out->def.kind = kind == 0 ? VY_BODY_STATIC : kind == 1 ? VY_BODY_KINEMATIC : VY_BODY_DYNAMIC;
    out->def.shape = random_bits(r) % 10 == 0 ? NULL : &out->shape;
    out->def.mass = random_in(r, 0.2, 5.0);
    if (out->def.shape == NULL || random_bits(r) % 3 == 0) {
        const double a = random_in(r, 0.1, 0.2);
        out->def.inertia = mat3_diag(a, 1.2 * a, 1.1 * a);
    }
    out->def.material = surface(random_in(r, 0.1, 0.9), random_in(r, 0.0, 0.5));
    out->def.state.position = vec3_make(0.5 * (i % 3), 0.5 * (i / 3 % 3), 0.5 + 0.5 * (i / 9));
    out->def.state.attitude = random_attitude(r);
    out->def.state.velocity = out->def.kind == VY_BODY_STATIC ? vec3_zero() : random_vec(r, 1.0);
    out->def.state.rate = out->def.kind == VY_BODY_STATIC ? vec3_zero() : random_vec(r, 2.0);
}

static void set_all(vy_bodies *b, vy_body_id id, const vy_body_def *def)
{
    const int given = def->inertia.m[0][0] != 0.0;
    // Each is checked with what the others are at the time, so in this order they all pass.
    const vy_mat3 some = mat3_diag(1.0, 1.0, 1.0);
    assert_int_equal(vy_body_set_mass(b, id, def->mass, &some, NULL), VY_OK);
    assert_int_equal(vy_body_set_shape(b, id, def->shape, NULL), VY_OK);
    assert_int_equal(vy_body_set_mass(b, id, def->mass, given ? &def->inertia : NULL, NULL), VY_OK);
    assert_int_equal(vy_body_set_kind(b, id, def->kind, NULL), VY_OK);
    assert_int_equal(vy_body_set_material(b, id, &def->material, NULL), VY_OK);
    assert_int_equal(vy_body_set_state(b, id, &def->state), VY_OK);
}

static vy_joint_def hinge_between(const vy_bodies *b, vy_body_id a, vy_body_id c)
{
    vy_joint_def def = vy_default_joint_def();
    def.kind = VY_JOINT_HINGE;
    assert_int_equal(vy_joint_set_frames(b, a, c, vec3_make(0.2, 0.1, 3.0), vec3_make(0, 1, 0.5), &def),
                     VY_OK);
    return def;
}

// Bodies that were made something else by setters are those that were added so, to the bit, contacts, sleep
// and joints included.
static void changed_bodies_are_those_added_so(void **unused)
{
    (void)unused;
    random_source r = {41};
    for (int round = 0; round < 24 / LAW_SLICE; ++round) {
        vy_bodies *changed = sleepy_set(round % 3 != 0), *fresh = sleepy_set(round % 3 != 0);
        const vy_shape floor = plane(vec3_make(0, 0, 1));
        (void)add(changed, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.5, 0.2));
        (void)add(fresh, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.5, 0.2));
        for (int i = 0; i < BODIES; ++i) {
            random_body before, after;
            vy_body_id id;
            draw_body(&r, i, &before);
            draw_body(&r, i, &after);
            assert_int_equal(vy_bodies_add(changed, &before.def, &id, NULL), VY_OK);
            set_all(changed, id, &after.def);
            assert_int_equal(vy_bodies_add(fresh, &after.def, NULL, NULL), VY_OK);
        }
        random_body link; // a chain of three on the world
        draw_body(&r, 30, &link);
        link.def.kind = VY_BODY_DYNAMIC;
        vy_body_id last[2] = {VY_NULL_BODY, VY_NULL_BODY}, id[2];
        for (int k = 0; k < 3; ++k) {
            link.def.state.position = vec3_make(0.3 * k, 0.0, 4.0);
            assert_int_equal(vy_bodies_add(changed, &link.def, &id[0], NULL), VY_OK);
            assert_int_equal(vy_bodies_add(fresh, &link.def, &id[1], NULL), VY_OK);
            vy_joint_def def = hinge_between(changed, last[0], id[0]);
            vy_joint_id joint;
            assert_int_equal(vy_bodies_add_joint(changed, &def, &joint, NULL), VY_OK);
            assert_int_equal(vy_joint_set_limits(changed, joint, 1, -0.4, 0.6, NULL), VY_OK);
            assert_int_equal(vy_joint_set_spring(changed, joint, 2.0, 0.1, 0.3, NULL), VY_OK);
            def = hinge_between(fresh, last[1], id[1]);
            def.limited = 1;
            def.low = -0.4;
            def.high = 0.6;
            def.stiffness = 2.0;
            def.damping = 0.1;
            def.rest = 0.3;
            assert_int_equal(vy_bodies_add_joint(fresh, &def, NULL, NULL), VY_OK);
            last[0] = id[0];
            last[1] = id[1];
        }
        size_t size;
        void *block = snapshot_of(changed, &size); // by its checksum, too
        vy_error err;
        if (vy_bodies_restore(fresh, block, size, &err) != VY_OK) fail_msg("%s", err.text);
        free(block);
        for (int k = 0; k < 200; ++k) {
            assert_true(vy_bodies_hash(changed) == vy_bodies_hash(fresh));
            assert_int_equal(vy_bodies_step(changed), vy_bodies_step(fresh));
        }
        vy_bodies_destroy(changed);
        vy_bodies_destroy(fresh);
    }
}

// In flight nothing of the past is left: from the change on it moves as a new one that starts there.
static void a_change_in_flight_leaves_no_trace(void **unused)
{
    (void)unused;
    random_source r = {42};
    for (int round = 0; round < 40; ++round) {
        vy_bodies *b = sleepy_set(0), *fresh = sleepy_set(0);
        random_body before, after;
        vy_body_id id, other;
        draw_body(&r, 0, &before);
        draw_body(&r, 0, &after);
        assert_int_equal(vy_bodies_add(b, &before.def, &id, NULL), VY_OK);
        for (int k = 0; k < 50; ++k) step(b, 1);
        vy_body_state s = read(b, id);
        set_all(b, id, &after.def);
        if (after.def.kind == VY_BODY_STATIC) s.velocity = s.rate = vec3_zero();
        assert_int_equal(vy_body_set_state(b, id, &s), VY_OK);
        after.def.state = s;
        assert_int_equal(vy_bodies_add(fresh, &after.def, &other, NULL), VY_OK);
        for (int k = 0; k < 50; ++k) {
            const vy_body_state x = read(b, id), y = read(fresh, other);
            assert_memory_equal(&x, &y, sizeof x);
            step(b, 1);
            step(fresh, 1);
        }
        vy_bodies_destroy(b);
        vy_bodies_destroy(fresh);
    }
}

// A ball that falls, hangs in the air, glides and falls again.
static void kinds_at_run_time(void **unused)
{
    (void)unused;
    vy_bodies *b = sleepy_set(1);
    const vy_shape shape = ball(0.1);
    const vy_body_id id =
        add(b, VY_BODY_DYNAMIC, &shape, 2.0, vec3_make(0, 0, 10), vec3_make(1, 0, 0), surface(0.5, 0.0));
    double mass;
    vy_mat3 inertia;
    step(b, 12);
    assert_near(read(b, id).velocity.z, -0.1 * G, 1e-12);
    assert_int_equal(vy_body_set_kind(b, id, VY_BODY_KINEMATIC, NULL), VY_OK);
    const vy_body_state glides = read(b, id);
    assert_int_equal(vy_body_read_mass(b, id, &mass, &inertia), VY_OK);
    assert_true(mass == 0.0);
    step(b, 12);
    assert_vec_near(read(b, id).velocity, glides.velocity, 0.0);
    assert_vec_near(read(b, id).position, vec3_add_scaled(glides.position, 0.1, glides.velocity), 1e-12);
    assert_int_equal(vy_body_set_kind(b, id, VY_BODY_STATIC, NULL), VY_OK);
    const vy_body_state stands = read(b, id);
    assert_true(vec3_length(stands.velocity) == 0.0);
    const vy_body_id falls =
        add(b, VY_BODY_DYNAMIC, &shape, 1.0, vec3_add(stands.position, vec3_make(0, 0, 0.3)), vec3_zero(),
            surface(0.5, 0.0));
    step(b, 60);
    assert_vec_near(read(b, id).position, stands.position, 0.0);
    assert_true(read(b, falls).position.z > stands.position.z + 0.19); // it lies on the other
    assert_int_equal(vy_body_set_kind(b, id, VY_BODY_DYNAMIC, NULL), VY_OK);
    assert_int_equal(vy_body_read_mass(b, id, &mass, &inertia), VY_OK);
    assert_true(mass == 2.0);
    assert_near(inertia.m[0][0], 0.4 * 2.0 * 0.01, 1e-15);
    step(b, 12);
    assert_near(read(b, id).velocity.z, -0.1 * G, 1e-6); // and both fall
    assert_near(read(b, falls).velocity.z, -0.1 * G, 1e-6);
    vy_bodies_destroy(b);
}

// A push gives what the mass says, from the step of the change on; momentum is that of the mass.
static void masses_at_run_time(void **unused)
{
    (void)unused;
    vy_bodies *b = sleepy_set(0);
    const vy_shape shape = box(0.1, 0.2, 0.3);
    const vy_body_id id =
        add(b, VY_BODY_DYNAMIC, &shape, 1.0, vec3_zero(), vec3_zero(), vy_default_material());
    for (int k = 1; k <= 4; ++k) {
        const double mass = 0.5 * k;
        const vy_vec3 v = read(b, id).velocity;
        double have;
        vy_mat3 inertia;
        assert_int_equal(vy_body_set_mass(b, id, mass, NULL, NULL), VY_OK);
        assert_vec_near(read(b, id).velocity, v, 0.0);
        assert_int_equal(vy_body_read_mass(b, id, &have, &inertia), VY_OK);
        assert_true(have == mass);
        assert_near(inertia.m[0][0], mass * (0.04 + 0.09) / 3.0, 1e-14);
        assert_int_equal(vy_body_apply_force(b, id, vec3_make(6.0, 0, 0), VY_FRAME_WORLD), VY_OK);
        step(b, 1);
        assert_near(read(b, id).velocity.x - v.x, 6.0 / mass / 120.0, 1e-14);
    }
    const vy_mat3 given = mat3_diag(3.0, 3.0, 3.0);
    const vy_shape ball_shape = ball(0.5);
    vy_mat3 inertia;
    double mass;
    assert_int_equal(vy_body_set_mass(b, id, 2.0, &given, NULL), VY_OK);
    assert_int_equal(vy_body_set_shape(b, id, &ball_shape, NULL), VY_OK); // what was given stays
    assert_int_equal(vy_body_read_mass(b, id, &mass, &inertia), VY_OK);
    assert_true(inertia.m[1][1] == 3.0);
    assert_int_equal(vy_body_set_mass(b, id, 2.0, NULL, NULL), VY_OK);
    assert_int_equal(vy_body_read_mass(b, id, &mass, &inertia), VY_OK);
    assert_near(inertia.m[1][1], 0.4 * 2.0 * 0.25, 1e-15);
    vy_bodies_destroy(b);
}

// What lies on the ground grows, gets other corners, or becomes heavier or lighter: it is moved out of the
// ground, and not thrown. Nothing gets faster than by falling as far as it was lifted.
static void changes_under_contact_throw_nothing(void **unused)
{
    (void)unused;
    random_source r = {43};
    for (int round = 0; round < 120 / LAW_SLICE; ++round) {
        vy_bodies *b = sleepy_set(1);
        const vy_shape floor = plane(vec3_make(0, 0, 1)), first = box(0.2, 0.2, 0.2);
        (void)add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.6, 0.0));
        vy_body_id id[3];
        const int high = 1 + round % 3;
        for (int i = 0; i < high; ++i)
            id[i] = add(b, VY_BODY_DYNAMIC, &first, 2.0, vec3_make(0, 0, 0.2 + 0.4 * i), vec3_zero(),
                        surface(0.6, 0.0));
        step(b, 60 + round); // some sleep
        const vy_body_id one = id[round % high];
        const double factor = random_in(&r, 0.5, 1.5), height = 0.2 * factor;
        double mass = 2.0;
        vy_shape shape = box(0.2 * random_in(&r, 0.5, 1.5), 0.2 * random_in(&r, 0.5, 1.5), height);
        if (round % 4 == 0) shape = ball(height);
        if (round % 4 == 1) {
            mass = 2.0 * exp(random_in(&r, -5.0, 5.0));
            assert_int_equal(vy_body_set_mass(b, one, mass, NULL, NULL), VY_OK);
        } else {
            assert_int_equal(vy_body_set_shape(b, one, &shape, NULL), VY_OK);
        }
        assert_int_equal(vy_body_is_asleep(b, one), 0);
        const double before = vy_bodies_read_energy(b).potential, weight = (mass + 2.0 * (high - 1)) * G;
        double max = before;
        for (int k = 0; k < 240; ++k) {
            step(b, 1);
            const vy_bodies_energy e = vy_bodies_read_energy(b);
            max = fmax(max, e.kinetic + e.potential);
        }
        const double lift = 0.4 * fmax(factor - 1.0, 0.0);
        assert_true(max - before <= weight * (lift + 1e-4));
        vy_bodies_destroy(b);
    }
}

// ---- joints

/// A rod of 1 m that hangs from a hinge along y, at rest; its moment of inertia about the hinge.
static vy_bodies *pendulum(double g, vy_joint_id *joint, vy_body_id *id, double *inertia)
{
    vy_bodies_def set = vy_default_bodies_def();
    vy_bodies *b = NULL;
    set.gravity = vec3_make(0, 0, -g);
    assert_int_equal(vy_bodies_create(&set, &b, NULL), VY_OK);
    vy_body_def def = vy_default_body_def();
    def.inertia = mat3_diag(0.1, 0.1, 0.01);
    def.state.position = vec3_make(0, 0, -1.0);
    assert_int_equal(vy_bodies_add(b, &def, id, NULL), VY_OK);
    vy_joint_def hinge = vy_default_joint_def();
    hinge.kind = VY_JOINT_HINGE;
    assert_int_equal(vy_joint_set_frames(b, VY_NULL_BODY, *id, vec3_zero(), vec3_make(0, 1, 0), &hinge),
                     VY_OK);
    assert_int_equal(vy_bodies_add_joint(b, &hinge, joint, NULL), VY_OK);
    *inertia = 0.1 + 1.0;
    return b;
}

static vy_joint_state state_of(const vy_bodies *b, vy_joint_id id)
{
    vy_joint_state s;
    assert_int_equal(vy_joint_read(b, id, &s), VY_OK);
    return s;
}

// A spring that is put in at run time: its period, its rest angle with a damper, and nothing once it is gone.
static void springs_at_run_time(void **unused)
{
    (void)unused;
    vy_joint_id joint;
    vy_body_id id;
    double inertia;
    vy_bodies *b = pendulum(0.0, &joint, &id, &inertia);
    step(b, 100);
    const double k = 5.0, rest = 0.5, quarter = 0.25 * 2.0 * PI * sqrt(inertia / k);
    assert_int_equal(vy_joint_set_spring(b, joint, k, 0.0, rest, NULL), VY_OK);
    assert_near(vy_bodies_read_energy(b).potential, 0.5 * k * rest * rest, 1e-14);
    const int steps = (int)(quarter / 1e-3);
    step(b, steps);
    assert_near(state_of(b, joint).angle, rest * (1.0 - cos(sqrt(k / inertia) * steps * 1e-3)), 1e-9);
    assert_near(vy_bodies_read_energy(b).kinetic + vy_bodies_read_energy(b).potential, 0.5 * k * rest * rest,
                1e-9);
    assert_int_equal(vy_joint_set_spring(b, joint, k, 4.0, -0.2, NULL), VY_OK);
    step(b, 20000);
    assert_near(state_of(b, joint).angle, -0.2, 1e-9);
    assert_int_equal(vy_joint_set_spring(b, joint, 0.0, 0.0, 0.0, NULL), VY_OK);
    step(b, 1000);
    assert_near(state_of(b, joint).angle, -0.2, 1e-8);
    vy_bodies_destroy(b);
}

// Stops around where it is, beyond it, and none again. What closing adds is in the account.
static void limits_at_run_time(void **unused)
{
    (void)unused;
    vy_joint_id joint;
    vy_body_id id;
    double inertia;
    vy_bodies *b = pendulum(G, &joint, &id, &inertia);
    step(b, 10);
    assert_int_equal(vy_joint_set_limits(b, joint, 1, 0.4, 0.9, NULL), VY_OK); // it hangs at 0
    vy_joint_state s = state_of(b, joint);
    assert_true(s.closing_time > 0.1 && s.closing_time < 5.0);
    const double before = vy_bodies_read_energy(b).kinetic + vy_bodies_read_energy(b).potential;
    double last = 0.0;
    for (int k = 0; k < 5000; ++k) {
        step(b, 1);
        const vy_bodies_energy e = vy_bodies_read_energy(b);
        assert_true(e.kinetic + e.potential - e.closing <= before + 1e-6);
        assert_true(state_of(b, joint).angle >= last - 0.05); // it is led there
        last = state_of(b, joint).angle;
    }
    assert_near(last, 0.4, 1e-6);
    s = state_of(b, joint);
    assert_true(s.closing_time == 0.0 && s.active);
    assert_int_equal(vy_joint_set_limits(b, joint, 1, -0.3, 0.9, NULL), VY_OK); // let down to the next stop
    double min = 1.0;
    for (int k = 0; k < 3000; ++k) {
        step(b, 1);
        min = fmin(min, state_of(b, joint).angle);
    }
    assert_near(min, -0.3, 1e-6);
    assert_int_equal(vy_joint_set_limits(b, joint, 0, NOT_A_NUMBER, NOT_A_NUMBER, NULL), VY_OK);
    vy_body_state high = read(b, id);
    const double angle = 1.0;
    high.position = vec3_make(-sin(angle), 0.0, -cos(angle));
    high.attitude = turn(angle, 0, 1, 0);
    high.velocity = high.rate = vec3_zero();
    assert_int_equal(vy_body_set_state(b, id, &high), VY_OK);
    assert_near(state_of(b, joint).angle, angle, 1e-12);
    for (int k = 0; k < 2000; ++k) {
        step(b, 1);
        min = fmin(min, state_of(b, joint).angle);
    }
    assert_near(min, -angle, 1e-5); // it swings freely
    vy_bodies_destroy(b);
}

// ---- sleep

// A box that sleeps on a floor, joined to another one. Any setter of any of them wakes both.
static void setters_wake(void **unused)
{
    (void)unused;
    enum { SETTERS = 9 };
    for (int k = 0; k < SETTERS; ++k) {
        vy_bodies *b = sleepy_set(1);
        const vy_shape floor = box(2.0, 2.0, 0.5), shape = box(0.2, 0.2, 0.2);
        const vy_material rough = surface(0.7, 0.0);
        const vy_body_id ground =
            add(b, VY_BODY_STATIC, &floor, 1.0, vec3_make(0, 0, -0.5), vec3_zero(), rough);
        vy_body_id id[2];
        for (int i = 0; i < 2; ++i)
            id[i] = add(b, VY_BODY_DYNAMIC, &shape, 1.0, vec3_make(0.5 * i, 0, 0.2), vec3_zero(), rough);
        vy_joint_def def = hinge_between(b, id[0], id[1]);
        assert_int_equal(
            vy_joint_set_frames(b, id[0], id[1], vec3_make(0.25, 0, 0.2), vec3_make(0, 1, 0), &def), VY_OK);
        vy_joint_id joint;
        assert_int_equal(vy_bodies_add_joint(b, &def, &joint, NULL), VY_OK);
        for (int i = 0; i < 600 && vy_bodies_asleep(b) < 2; ++i) step(b, 1);
        assert_int_equal(vy_bodies_asleep(b), 2);
        vy_status status = VY_NOT_FOUND;
        switch (k) {
        case 0: status = vy_body_set_kind(b, id[0], VY_BODY_KINEMATIC, NULL); break;
        case 1: status = vy_body_set_mass(b, id[0], 3.0, NULL, NULL); break;
        case 2: status = vy_body_set_material(b, id[1], &rough, NULL); break;
        case 3: status = vy_body_set_shape(b, id[1], NULL, NULL); break;
        case 4: status = vy_body_set_shape(b, ground, NULL, NULL); break;
        case 5: status = vy_body_set_material(b, ground, &rough, NULL); break;
        case 6: status = vy_body_set_kind(b, ground, VY_BODY_KINEMATIC, NULL); break;
        case 7: status = vy_joint_set_limits(b, joint, 1, -0.5, 0.5, NULL); break;
        default: status = vy_joint_set_spring(b, joint, 1.0, 0.0, 0.1, NULL); break;
        }
        if (k == 3) { // a box without a shape has no inertia of its own
            assert_int_equal(status, VY_BAD_VALUE);
            assert_int_equal(vy_bodies_asleep(b), 2);
        } else {
            assert_int_equal(status, VY_OK);
            assert_int_equal(vy_bodies_asleep(b), 0);
        }
        step(b, 60);
        if (k == 4) assert_true(read(b, id[0]).position.z < -0.5); // nothing holds them
        if (k == 5 || k == 6) assert_near(read(b, id[0]).position.z, 0.2, 1e-3);
        vy_bodies_destroy(b);
    }
}

// A static body that grows into sleeping ones beside it wakes them.
static void what_grows_wakes_what_it_meets(void **unused)
{
    (void)unused;
    vy_bodies *b = sleepy_set(1);
    const vy_shape floor = plane(vec3_make(0, 0, 1)), shape = box(0.2, 0.2, 0.2), post = box(0.1, 0.1, 1.0),
                   wall = box(0.5, 0.5, 1.0);
    const vy_material rough = surface(0.5, 0.0);
    (void)add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), rough);
    const vy_body_id grows = add(b, VY_BODY_STATIC, &post, 1.0, vec3_zero(), vec3_zero(), rough);
    const vy_body_id near = add(b, VY_BODY_DYNAMIC, &shape, 1.0, vec3_make(0.6, 0, 0.2), vec3_zero(), rough),
                     far = add(b, VY_BODY_DYNAMIC, &shape, 1.0, vec3_make(3.0, 0, 0.2), vec3_zero(), rough);
    for (int i = 0; i < 600 && vy_bodies_asleep(b) < 2; ++i) step(b, 1);
    assert_int_equal(vy_bodies_asleep(b), 2);
    assert_int_equal(vy_body_set_shape(b, grows, &wall, NULL), VY_OK);
    step(b, 240);
    assert_int_equal(vy_body_is_asleep(b, far), 1);
    assert_true(read(b, near).position.x > 0.69);
    vy_bodies_destroy(b);
}

// ---- snapshots

static void check_refused(vy_bodies *b, const void *block, size_t size, const char *what)
{
    vy_error err = {.status = VY_OK};
    const uint64_t hash = vy_bodies_hash(b);
    assert_int_equal(vy_bodies_restore(b, block, size, &err), VY_BAD_VALUE);
    assert_int_equal(err.status, VY_BAD_VALUE);
    assert_non_null(strstr(err.text, what));
    assert_true(vy_bodies_hash(b) == hash);
}

/// A hinge between two balls, on a field.
typedef struct small_set {
    vy_bodies *b;
    vy_body_id id[2];
    vy_joint_id joint;
    double heights[4];
} small_set;

static void make_small_set(small_set *s, double height)
{
    vy_shape field = {0};
    const vy_shape shape = ball(0.2);
    s->b = sleepy_set(1);
    for (int i = 0; i < 4; ++i) s->heights[i] = i == 3 ? height : 0.0;
    assert_int_equal(vy_shape_height_field(2, 2, 4.0, s->heights, &field, NULL), VY_OK);
    (void)add(s->b, VY_BODY_STATIC, &field, 1.0, vec3_zero(), vec3_zero(), surface(0.5, 0.0));
    for (int i = 0; i < 2; ++i)
        s->id[i] = add(s->b, VY_BODY_DYNAMIC, &shape, 1.0, vec3_make(1.0 + 0.5 * i, 1.0, 0.3), vec3_zero(),
                       surface(0.5, 0.0));
    const vy_joint_def def = hinge_between(s->b, s->id[0], s->id[1]);
    assert_int_equal(vy_bodies_add_joint(s->b, &def, &s->joint, NULL), VY_OK);
}

static void snapshots_are_of_the_same_bodies(void **unused)
{
    (void)unused;
    small_set s, twin, other;
    make_small_set(&s, 0.5);
    make_small_set(&twin, 0.5);
    make_small_set(&other, 0.6);
    step(s.b, 30);
    size_t size;
    void *block = snapshot_of(s.b, &size);
    step(s.b, 30);
    const uint64_t later = vy_bodies_hash(s.b);
    assert_int_equal(vy_bodies_restore(twin.b, block, size, NULL), VY_OK); // built by the same calls
    step(twin.b, 30);
    assert_true(vy_bodies_hash(twin.b) == later);
    check_refused(other.b, block, size, "other bodies"); // other ground
    check_refused(s.b, block, size - 8, "damaged");
    check_refused(s.b, block, 8, "damaged");

    const vy_shape larger = ball(0.21), same = ball(0.2);
    const vy_material was = surface(0.5, 0.0), slippery = surface(0.1, 0.0);
    assert_int_equal(vy_body_set_mass(s.b, s.id[0], 1.5, NULL, NULL), VY_OK);
    check_refused(s.b, block, size, "other bodies");
    assert_int_equal(vy_body_set_mass(s.b, s.id[0], 1.0, NULL, NULL), VY_OK);
    assert_int_equal(vy_body_set_material(s.b, s.id[0], &slippery, NULL), VY_OK);
    check_refused(s.b, block, size, "other bodies");
    assert_int_equal(vy_body_set_material(s.b, s.id[0], &was, NULL), VY_OK);
    assert_int_equal(vy_body_set_shape(s.b, s.id[1], &larger, NULL), VY_OK);
    check_refused(s.b, block, size, "other bodies");
    assert_int_equal(vy_body_set_shape(s.b, s.id[1], &same, NULL), VY_OK);
    assert_int_equal(vy_body_set_kind(s.b, s.id[1], VY_BODY_STATIC, NULL), VY_OK);
    check_refused(s.b, block, size, "other bodies");
    assert_int_equal(vy_body_set_kind(s.b, s.id[1], VY_BODY_DYNAMIC, NULL), VY_OK);
    assert_int_equal(vy_joint_set_limits(s.b, s.joint, 1, -3.0, 3.0, NULL), VY_OK);
    check_refused(s.b, block, size, "other joints");
    assert_int_equal(vy_joint_set_limits(s.b, s.joint, 0, 0.0, 0.0, NULL), VY_OK);
    assert_int_equal(vy_joint_set_spring(s.b, s.joint, 1.0, 0.0, 0.0, NULL), VY_OK);
    check_refused(s.b, block, size, "other joints");
    assert_int_equal(vy_joint_set_spring(s.b, s.joint, 0.0, 0.0, 0.0, NULL), VY_OK);
    assert_int_equal(vy_joint_set_motor(s.b, s.joint, 1.0, 1.0, 1.0), VY_OK); // state
    assert_int_equal(vy_bodies_restore(s.b, block, size, NULL), VY_OK);       // all is as it was
    step(s.b, 30);
    assert_true(vy_bodies_hash(s.b) == later);

    assert_int_equal(vy_bodies_remove_joint(s.b, s.joint), VY_OK);
    check_refused(s.b, block, size, "other joints");
    assert_int_equal(vy_bodies_remove(twin.b, twin.id[1]), VY_OK);
    check_refused(twin.b, block, size, "other bodies");
    (void)add(twin.b, VY_BODY_DYNAMIC, &same, 1.0, vec3_make(1.5, 1.0, 0.3), vec3_zero(), was);
    check_refused(twin.b, block, size, "other bodies"); // its id is another one
    free(block);
    vy_bodies_destroy(s.b);
    vy_bodies_destroy(twin.b);
    vy_bodies_destroy(other.b);
}

// ---- mistakes

#define REFUSED(call, wanted)                                               \
    do {                                                                    \
        vy_error err = {.text = ""};                                        \
        assert_int_equal((call), (wanted));                                 \
        assert_true(err.text[0] != '\0' && err.status == (wanted));         \
        assert_int_equal(vy_bodies_restore(s.b, block, size, NULL), VY_OK); \
        assert_true(vy_bodies_hash(s.b) == hash);                           \
    } while (0)

static void mistakes_change_nothing(void **unused)
{
    (void)unused;
    small_set s;
    make_small_set(&s, 0.5);
    step(s.b, 20);
    size_t size;
    void *block = snapshot_of(s.b, &size); // whose checksum says that nothing has changed
    const uint64_t hash = vy_bodies_hash(s.b);
    const vy_mat3 flat = mat3_diag(1.0, 1.0, 3.0), nan = mat3_diag(1.0, NOT_A_NUMBER, 1.0);
    const vy_shape wrong = {.kind = VY_SHAPE_SPHERE, .sphere = {-1.0}}, hull = {.kind = VY_SHAPE_HULL},
                   ground = plane(vec3_make(0, 0, 1));
    const vy_material sticky = surface(-0.1, 0.0);
    const vy_body_id a = s.id[0], c = s.id[1], floor = vy_bodies_at(s.b, 0);
    REFUSED(vy_body_set_kind(s.b, VY_NULL_BODY, VY_BODY_STATIC, &err), VY_NOT_FOUND);
    REFUSED(vy_body_set_kind(s.b, a, (vy_body_kind)7, &err), VY_BAD_VALUE);
    REFUSED(vy_body_set_kind(s.b, floor, VY_BODY_DYNAMIC, &err), VY_BAD_VALUE); // a field has no inertia
    REFUSED(vy_body_set_mass(s.b, VY_NULL_BODY, 1.0, NULL, &err), VY_NOT_FOUND);
    REFUSED(vy_body_set_mass(s.b, a, 0.0, NULL, &err), VY_BAD_MASS);
    REFUSED(vy_body_set_mass(s.b, a, NOT_A_NUMBER, NULL, &err), VY_BAD_MASS);
    REFUSED(vy_body_set_mass(s.b, a, 1.0, &flat, &err), VY_BAD_VALUE);
    REFUSED(vy_body_set_mass(s.b, a, 1.0, &nan, &err), VY_BAD_VALUE);
    REFUSED(vy_body_set_mass(s.b, floor, 1.0, NULL, &err), VY_BAD_VALUE);
    REFUSED(vy_body_set_mass(s.b, floor, -1.0, &nan, &err), VY_BAD_MASS);
    REFUSED(vy_body_set_material(s.b, VY_NULL_BODY, &sticky, &err), VY_NOT_FOUND);
    REFUSED(vy_body_set_material(s.b, a, &sticky, &err), VY_BAD_VALUE);
    REFUSED(vy_body_set_shape(s.b, VY_NULL_BODY, NULL, &err), VY_NOT_FOUND);
    REFUSED(vy_body_set_shape(s.b, a, &wrong, &err), VY_BAD_VALUE);
    REFUSED(vy_body_set_shape(s.b, a, &hull, &err), VY_BAD_HULL);
    REFUSED(vy_body_set_shape(s.b, a, &ground, &err), VY_BAD_VALUE); // no inertia, and none given
    REFUSED(vy_body_set_shape(s.b, a, NULL, &err), VY_BAD_VALUE);
    REFUSED(vy_joint_set_limits(s.b, VY_NULL_JOINT, 0, 0.0, 0.0, &err), VY_NOT_FOUND);
    REFUSED(vy_joint_set_limits(s.b, s.joint, 1, 0.5, 0.5, &err), VY_BAD_VALUE);
    REFUSED(vy_joint_set_limits(s.b, s.joint, 1, NOT_A_NUMBER, 0.5, &err), VY_BAD_VALUE);
    REFUSED(vy_joint_set_limits(s.b, s.joint, 1, -4.0, 0.5, &err), VY_BAD_VALUE);
    REFUSED(vy_joint_set_spring(s.b, VY_NULL_JOINT, 1.0, 0.0, 0.0, &err), VY_NOT_FOUND);
    REFUSED(vy_joint_set_spring(s.b, s.joint, -1.0, 0.0, 0.0, &err), VY_BAD_VALUE);
    REFUSED(vy_joint_set_spring(s.b, s.joint, 1.0, INFINITE, 0.0, &err), VY_BAD_VALUE);
    REFUSED(vy_joint_set_spring(s.b, s.joint, 1.0, 0.0, NOT_A_NUMBER, &err), VY_BAD_VALUE);
    free(block);
    // Joints that have none of it, and one that would lose its last dynamic body.
    vy_joint_def def = vy_default_joint_def();
    vy_joint_id joint;
    vy_error err;
    def.kind = VY_JOINT_BALL;
    def.body_b = c;
    def.anchor_a = read(s.b, c).position;
    assert_int_equal(vy_bodies_add_joint(s.b, &def, &joint, NULL), VY_OK);
    assert_int_equal(vy_joint_set_limits(s.b, joint, 0, 0.0, 0.0, &err), VY_BAD_VALUE);
    assert_int_equal(vy_joint_set_limits(s.b, joint, 1, -1.0, 1.0, &err), VY_BAD_VALUE);
    assert_int_equal(vy_joint_set_spring(s.b, joint, 1.0, 0.0, 0.0, &err), VY_BAD_VALUE);
    assert_int_equal(vy_body_set_kind(s.b, c, VY_BODY_STATIC, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "joint"));
    assert_int_equal(vy_body_set_kind(s.b, a, VY_BODY_KINEMATIC, NULL), VY_OK); // the other one moves
    assert_int_equal(vy_body_set_trigger(s.b, a, 1), VY_OK);
    assert_int_equal(vy_body_set_shape(s.b, a, NULL, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "trigger"));
    assert_int_equal(vy_bodies_remove_joint(s.b, joint), VY_OK); // which would contradict its motion
    step(s.b, 10);
    vy_bodies_destroy(s.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changed_bodies_are_those_added_so),
        cmocka_unit_test(a_change_in_flight_leaves_no_trace),
        cmocka_unit_test(kinds_at_run_time),
        cmocka_unit_test(masses_at_run_time),
        cmocka_unit_test(changes_under_contact_throw_nothing),
        cmocka_unit_test(springs_at_run_time),
        cmocka_unit_test(limits_at_run_time),
        cmocka_unit_test(setters_wake),
        cmocka_unit_test(what_grows_wakes_what_it_meets),
        cmocka_unit_test(snapshots_are_of_the_same_bodies),
        cmocka_unit_test(mistakes_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
