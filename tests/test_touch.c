// test_touch.c - drones and bodies that touch the ground, obstacles and each other, in a world.
#include "event_words.h"
#include "flight.h"
#include "scenario_text.h"
#include "record/log.h"
#include "volery/world.h"
#include <stdlib.h>
#include <unistd.h>

/// A world whose drones collide.
static vy_world_def solid_world(void)
{
    vy_world_def def = vy_default_world_def();
    def.contacts.on = 1;
    return def;
}

static vy_world *create(const vy_world_def *def)
{
    vy_world *world = NULL;
    vy_error err = {0};
    if (vy_world_create(def, &world, &err) != VY_OK) fail_msg("%s", err.text);
    return world;
}

static void add(vy_world *world, const vy_drone_def *def)
{
    vy_error err = {0};
    if (vy_world_add_drone(world, def, NULL, &err) != VY_OK) fail_msg("%s", err.text);
}

static void put(vy_world *world, const vy_obstacle_def *def)
{
    vy_error err = {0};
    if (vy_world_add_obstacle(world, def, &err) != VY_OK) fail_msg("%s", err.text);
}

static vy_obstacle_def box(vy_vec3 size, vy_vec3 position, vy_quat attitude)
{
    vy_obstacle_def def = vy_default_obstacle_def();
    def.solid.kind = VY_COLLIDER_BOX;
    def.solid.size = size;
    def.position = position;
    def.attitude = attitude;
    return def;
}

/// A brick of 1 kg and 20 by 15 by 10 cm without air around it.
static vy_drone_def brick(vy_vec3 position)
{
    vy_drone_def def = passive_body();
    def.vehicle.inertia = (vy_mat3){{{0.02, 0, 0}, {0, 0.03, 0}, {0, 0, 0.04}}};
    def.vehicle.cd = def.vehicle.cl = def.vehicle.volume = 0.0;
    def.vehicle.damping_area = def.vehicle.damping = (vy_vec3){0, 0, 0};
    def.position = position;
    def.solid.kind = VY_COLLIDER_BOX;
    def.solid.size = (vy_vec3){0.2, 0.15, 0.1};
    return def;
}

static double spun(vy_quat q, vy_vec3 half)
{
    // How far a box of that attitude reaches below its centre.
    const vy_mat3 r = quat_matrix(q);
    return fabs(r.m[2][0]) * half.x + fabs(r.m[2][1]) * half.y + fabs(r.m[2][2]) * half.z;
}

// Until the first impulse, a run with contacts equals one without, bit for bit; and it does touch later.
static void free_flight_keeps_its_bits(void **unused)
{
    (void)unused;
    for (int flying = 0; flying < 2; ++flying) {
        vy_drone_def drone = flying ? vy_default_drone_def() : brick((vy_vec3){0.1, -0.2, 0.6});
        drone.position.z = 0.6;
        drone.attitude = turn(0.7, 0.6, 0.0, 0.8);
        drone.rate = (vy_vec3){3, -2, 5};
        drone.velocity = (vy_vec3){0.4, 0.2, 1.0};
        if (flying) drone.controller.kind = VY_CONTROLLER_NONE;
        if (flying) drone.rotor_speed *= 0.9;
        const vy_world_def solid = solid_world();
        vy_world *with = create(&solid), *without = fly(&drone);
        const vy_obstacle_def ground = vy_default_obstacle_def();
        add(with, &drone);
        put(with, &ground);
        int steps = 0;
        while (steps < 3000 && (vy_world_step(with) & VY_EVENT_CONTACT) == 0) {
            ++steps;
            assert_int_equal(vy_world_step(without) & VY_EVENT_FAILED, 0);
            const vy_drone_state a = state_of(with, 0), b = state_of(without, 0);
            assert_memory_equal(&a.position, &b.position, sizeof a.position);
            assert_memory_equal(&a.velocity, &b.velocity, sizeof a.velocity);
            assert_memory_equal(&a.attitude, &b.attitude, sizeof a.attitude);
            assert_memory_equal(&a.rate, &b.rate, sizeof a.rate);
            assert_int_equal(a.contacts, 0);
        }
        assert_in_range(steps, 200, 2000);
        assert_int_equal(state_of(with, 0).contacts, 1);
        vy_world_destroy(with);
        vy_world_destroy(without);
    }
}

// A brick on a slope: it stays below the angle of friction, and above it slides with g (sin - mu cos).
static void slopes_hold_or_not(void **unused)
{
    (void)unused;
    const double mu = 0.5, g = 9.80665;
    for (int steep = 0; steep < 2; ++steep) {
        const double angle = steep ? 0.6 : 0.4; // atan(0.5) = 0.4636
        vy_obstacle_def slope = vy_default_obstacle_def();
        slope.attitude = turn(angle, 0, 1, 0); // down towards +x
        slope.position = (vy_vec3){0.3, 0.2, 0.1};
        const vy_vec3 up = quat_rotate(slope.attitude, vec3_make(0, 0, 1));
        vy_drone_def def = brick(vec3_add_scaled(slope.position, 0.05, up));
        def.attitude = slope.attitude;
        const vy_world_def solid = solid_world();
        vy_world *world = create(&solid);
        add(world, &def);
        put(world, &slope);
        (void)vy_world_advance(world, 500);
        const vy_drone_state a = state_of(world, 0);
        (void)vy_world_advance(world, 500);
        const vy_drone_state b = state_of(world, 0);
        if (steep) {
            const double gained = vec3_length(b.velocity) - vec3_length(a.velocity);
            assert_near(gained / 0.5, g * (sin(angle) - mu * cos(angle)), 0.01);
        } else {
            assert_vec_near(a.position, b.position, 1e-6);
        }
        // What the contact gives carries the weight across the slope, step by step.
        assert_near(vec3_dot(b.contact_impulse, up), def.vehicle.mass * g * cos(angle) * 1e-3, 1e-5);
        vy_world_destroy(world);
    }
}

static double energy_of(const vy_vehicle_def *v, const vy_drone_state *s)
{
    return 0.5 * (v->mass * vec3_dot(s->velocity, s->velocity) +
                  vec3_dot(s->rate, mat3_mul_vec(v->inertia, s->rate)));
}

// 30 m/s against 2 mm, from both sides, spinning, at many phases: it stays on its side.
static void thin_walls_hold(void **unused)
{
    (void)unused;
    random_source random = {7};
    for (int n = 0; n < 40; ++n) {
        const double side = n % 2 == 0 ? 1.0 : -1.0;
        vy_drone_def def = quiet_drone();
        def.position = (vy_vec3){-side * random_in(&random, 0.3, 0.4), 0.0, 2.0};
        def.velocity = (vy_vec3){30.0 * side, random_in(&random, -3, 3), random_in(&random, -3, 3)};
        def.attitude = random_attitude(&random);
        def.rate = random_vec(&random, 40.0);
        const vy_world_def solid = solid_world();
        vy_world *world = create(&solid);
        add(world, &def);
        const vy_obstacle_def wall = box((vy_vec3){0.002, 4, 4}, (vy_vec3){0, 0, 2}, (vy_quat){1, 0, 0, 0});
        put(world, &wall);
        vy_drone_state s = state_of(world, 0);
        const double before = energy_of(&def.vehicle, &s);
        (void)vy_world_advance(world, 100);
        s = state_of(world, 0);
        assert_true(s.position.x * side < 0.0);
        assert_true(s.contacts > 0);
        assert_true(s.contact_speed > 24.0); // 30 m/s, more or less a corner's spin
        assert_true(energy_of(&def.vehicle, &s) < before);
        vy_world_destroy(world);
    }
}

static vy_vec3 momentum_of(const vy_drone_state *s, const vy_mat3 *inertia)
{
    return quat_rotate(s->attitude, mat3_mul_vec(*inertia, s->rate));
}

// 500 rad/s at 1/60 s for a minute, beside one that hardly turns: energy and angular momentum stay.
static void fast_spin_is_kept(void **unused)
{
    (void)unused;
    for (int k = 0; k < 2; ++k) {
        vy_world_def world_def = vy_default_world_def();
        world_def.dt = 1.0 / 60.0;
        vy_world *world = create(&world_def);
        vy_drone_def def = brick((vy_vec3){0.0, 0.0, 1e5});
        def.rate = (vy_vec3){300.0, -250.0, 310.0};
        add(world, &def);
        def.position.x = 10.0;
        def.rate = (vy_vec3){0.01, 0.02, 0.03};
        add(world, &def);
        if (k == 1) assert_int_equal(vy_world_set_integrator(world, VY_INTEGRATOR_LIE_MIDPOINT, NULL), VY_OK);
        vy_drone_state s = state_of(world, 0);
        const vy_vec3 before = momentum_of(&s, &def.vehicle.inertia);
        const double energy = vec3_dot(s.rate, mat3_mul_vec(def.vehicle.inertia, s.rate));
        assert_int_equal(vy_world_advance(world, 3600) & VY_EVENT_FAILED, 0);
        s = state_of(world, 0);
        const vy_vec3 after = momentum_of(&s, &def.vehicle.inertia);
        assert_near(vec3_dot(s.rate, mat3_mul_vec(def.vehicle.inertia, s.rate)), energy, 1e-6 * energy);
        assert_true(vec3_length(vec3_sub(after, before)) < 1e-6 * vec3_length(before));
        vy_world_destroy(world);
    }
}

// A flown drone that is let go of in the air lands, and is at rest within 0.3 s and stays within 1 um.
static void landing_ends(void **unused)
{
    (void)unused;
    for (int tilted = 0; tilted < 2; ++tilted) {
        vy_drone_def def = quiet_drone();
        def.rotor_speed = 0.0;
        def.controller.start = (vy_intent){.rung = VY_RUNG_MOTORS};
        def.velocity.z = -0.5;
        vy_obstacle_def pad = vy_default_obstacle_def();
        if (tilted) pad.attitude = turn(0.2, 0.6, 0.8, 0.0);
        def.attitude = pad.attitude;
        const vy_world_def solid = solid_world();
        vy_world *world = create(&solid);
        def.position = vec3_scale(0.02, quat_rotate(pad.attitude, vec3_make(0, 0, 1)));
        add(world, &def);
        put(world, &pad);
        double touched = 0.0;
        for (int n = 0; n < 200 && touched == 0.0; ++n) {
            (void)vy_world_step(world);
            if (state_of(world, 0).contacts > 0) touched = vy_world_time(world);
        }
        assert_true(touched > 0.0);
        (void)vy_world_advance(world, 300);
        const vy_drone_state a = state_of(world, 0);
        assert_true(vec3_length(a.velocity) < 1e-5);
        double moved = 0.0;
        for (int n = 0; n < 60000; ++n) {
            (void)vy_world_step(world);
            if (n % 100 == 0) moved = fmax(moved, check_distance(state_of(world, 0).position, a.position));
        }
        assert_true(moved < 1e-6);
        assert_int_equal(state_of(world, 0).contacts, 1); // it never let go
        vy_world_destroy(world);
    }
}

// Two bricks that meet: momentum of both together is kept, and both feel the same.
static void bricks_exchange_momentum(void **unused)
{
    (void)unused;
    vy_world_def solid = solid_world();
    solid.environment.gravity.uniform = (vy_vec3){0, 0, 0};
    vy_world *world = create(&solid);
    vy_drone_def a = brick((vy_vec3){-0.5, 0.02, 5}), b = brick((vy_vec3){0.5, -0.03, 5.02});
    a.velocity = (vy_vec3){2, 0.1, 0};
    b.velocity = (vy_vec3){-1, 0, 0.2};
    b.vehicle.mass = 3.0;
    a.attitude = turn(0.5, 0.6, 0.8, 0);
    a.rate = (vy_vec3){1, 2, 3};
    add(world, &a);
    add(world, &b);
    uint32_t events = 0;
    vy_contact_event first = {.body = -1};
    for (int n = 0; n < 1000; ++n) {
        const uint32_t now = vy_world_step(world);
        if (first.body < 0 && (now & VY_EVENT_CONTACT)) {
            assert_int_equal(vy_world_contact_count(world), 1);
            assert_int_equal(vy_world_contact(world, 0, &first), VY_OK);
        }
        events |= now;
    }
    assert_true(events & VY_EVENT_CONTACT);
    const vy_drone_state s = state_of(world, 0), t = state_of(world, 1);
    const vy_vec3 before = {2.0 - 3.0, 0.1, 0.6};
    const vy_vec3 after = vec3_add_scaled(s.velocity, 3.0, t.velocity);
    assert_vec_near(after, before, 1e-14);
    assert_int_equal(first.phase, VY_CONTACT_BEGIN);
    assert_int_equal(first.body, 0);
    assert_int_equal(first.other, 1);
    assert_int_equal(first.obstacle, -1);
    assert_true(first.normal.x < -0.5 && first.impulse.x < 0.0 && first.speed > 2.0);
    assert_int_equal(s.contacts, t.contacts);
    assert_int_equal(vy_world_contact(world, 99, &first), VY_NOT_FOUND);
    vy_world_destroy(world);
}

// A crash is counted, and ends the run where it is declared to, with the reason, the drone and the values.
static void crashes_are_told(void **unused)
{
    (void)unused;
    for (int by_push = 0; by_push < 2; ++by_push) {
        for (int ends = 0; ends < 2; ++ends) {
            vy_drone_def def = brick((vy_vec3){0, 0, 0.5});
            def.crash =
                (vy_crash_def){.speed = by_push ? 0.0 : 2.0, .impulse = by_push ? 1.0 : 0.0, .ends = ends};
            const vy_world_def solid = solid_world();
            vy_world *world = create(&solid);
            const vy_obstacle_def ground = vy_default_obstacle_def();
            add(world, &def);
            put(world, &ground);
            const uint32_t events = vy_world_advance(world, 1000);
            assert_true(events & VY_EVENT_CRASH);
            assert_int_equal(state_of(world, 0).crashes, 1);
            const vy_failure f = vy_world_failure(world);
            assert_int_equal(f.reason, ends ? VY_FAILURE_CRASH : VY_FAILURE_NONE);
            // It falls 45 cm: sqrt(2 g h) = 2.97 m/s, and 1 kg stops within a step or two.
            if (ends) {
                assert_int_equal(f.body, 0);
                assert_string_equal(f.what, by_push ? "impulse" : "closing speed");
                assert_near(f.value, 2.97, 0.2);
                assert_near(f.limit, by_push ? 1.0 : 2.0, 0.0);
            } else {
                assert_int_equal(vy_world_tick(world), 1000);
            }
            vy_world_destroy(world);
        }
    }
}

// A snapshot in the middle of a heap gives the same bits again: what contacts remember is state.
static void snapshots_hold_contacts(void **unused)
{
    (void)unused;
    const vy_world_def solid = solid_world();
    vy_world *world = create(&solid);
    for (int i = 0; i < 4; ++i) {
        vy_drone_def def = brick((vy_vec3){0.02 * i, 0.01 * i * i, 0.06 + 0.11 * i});
        def.attitude = turn(0.1 * i, 0, 0, 1);
        add(world, &def);
    }
    const vy_obstacle_def ground = vy_default_obstacle_def();
    put(world, &ground);
    (void)vy_world_advance(world, 300);
    const size_t size = vy_world_state_size(world);
    void *kept = malloc(size);
    assert_non_null(kept);
    vy_world_save(world, kept);
    (void)vy_world_advance(world, 200);
    const uint64_t hash = vy_world_hash(world);
    (void)vy_world_advance(world, 50);
    assert_int_equal(vy_world_restore(world, kept, size, NULL), VY_OK);
    (void)vy_world_advance(world, 200);
    assert_true(vy_world_hash(world) == hash);
    assert_int_equal(vy_world_restore(world, kept, size - 8, NULL), VY_BAD_VALUE);
    // Contacts that cannot be are refused: too many, of nobody, with too many points.
    const size_t at = world->state_size;
    const size_t count = (size_t)((unsigned char *)vy_entry_count(world->state, BLOCK_contact) -
                                  (unsigned char *)world->state);
    const size_t places[4] = {count, at, at + 4, at + 8};
    for (int i = 0; i < 4; ++i) {
        unsigned char *byte = (unsigned char *)kept + places[i];
        *byte ^= 0x40;
        assert_int_equal(vy_world_restore(world, kept, size, NULL), VY_BAD_VALUE);
        *byte ^= 0x40;
    }
    assert_int_equal(vy_world_restore(world, kept, size, NULL), VY_OK);
    free(kept);
    vy_world_destroy(world);
}

// Whatever a fall gains, the ground takes: the account says so, and nothing is left over.
static void energy_is_accounted_for(void **unused)
{
    (void)unused;
    const vy_world_def solid = solid_world();
    vy_world *world = create(&solid);
    vy_drone_def def = brick((vy_vec3){0, 0, 0.5}); // 45 cm to fall
    def.solid.material.restitution = 0.5;
    vy_obstacle_def ground = vy_default_obstacle_def();
    ground.solid.material.restitution = 0.5;
    add(world, &def);
    put(world, &ground);
    vy_world_track_energy(world);
    assert_int_equal(vy_world_keep_loads(world, 1, NULL), VY_OK);
    (void)vy_world_advance(world, 3000);
    vy_energy e;
    assert_int_equal(vy_world_read_energy(world, vy_world_body(world, 0), &e), VY_OK);
    const double fallen = def.vehicle.mass * 9.80665 * 0.45;
    // And what gravity does in each step that it lies there: a fall of a step's length, m g^2 h^2 / 2.
    assert_near(e.contacts, -fallen - 2000 * 0.5 * 9.80665 * 9.80665 * 1e-6, 0.02 * fallen);
    assert_near(e.residual, 0.0, 1e-9 * e.exchanged);
    vy_loads loads; // at rest the ground carries the weight
    assert_int_equal(vy_world_read_loads(world, vy_world_body(world, 0), &loads), VY_OK);
    assert_vec_near(loads.contact_force, vec3_make(0, 0, 9.80665), 1e-6);
    vy_world_destroy(world);
}

static vy_joint_id join(vy_world *world, vy_joint_kind kind, uint32_t a, uint32_t b, vy_vec3 on_a,
                        vy_vec3 on_b)
{
    vy_joint_def def = vy_default_joint_def();
    vy_joint_id id;
    vy_error err = {0};
    def.kind = kind;
    def.body_a = vy_world_body(world, a);
    def.body_b = vy_world_body(world, b);
    def.anchor_a = on_a;
    def.anchor_b = on_b;
    def.axis_a = def.axis_b = vec3_make(0, 1, 0);
    if (vy_world_add_joint(world, &def, &id, &err) != VY_OK) fail_msg("%s", err.text);
    return id;
}

// A tower of two that a joint holds upright falls 5 cm and stands: contacts carry both through the lower one
// alone, the joint carries the upper one, and nothing opens or moves.
static void joints_carry_in_contact(void **unused)
{
    (void)unused;
    vy_world_def def = solid_world();
    vy_world *world = create(&def);
    const vy_drone_def low = brick((vy_vec3){0, 0, 0.1}), high = brick((vy_vec3){0, 0, 0.4});
    const vy_obstacle_def ground = vy_default_obstacle_def();
    add(world, &low);
    add(world, &high);
    put(world, &ground);
    const vy_joint_id id = join(world, VY_JOINT_FIXED, 0, 1, vec3_make(0, 0, 0.15), vec3_make(0, 0, -0.15));
    vy_world_track_energy(world);
    assert_int_equal(vy_world_keep_loads(world, 1, NULL), VY_OK);
    for (int k = 0; k < 1000; ++k) {
        vy_joint_state s;
        (void)vy_world_advance(world, 1);
        assert_int_equal(vy_world_read_joint(world, id, &s), VY_OK);
        assert_true(s.gap < 1e-11);
    }
    const vy_drone_state first = state_of(world, 1);
    (void)vy_world_advance(world, 1000);
    const vy_drone_state last = state_of(world, 1);
    assert_true(vec3_length(vec3_sub(last.position, first.position)) < 1e-9);
    vy_loads loads[2];
    vy_joint_state s;
    vy_energy e;
    for (uint32_t i = 0; i < 2; ++i)
        assert_int_equal(vy_world_read_loads(world, vy_world_body(world, i), &loads[i]), VY_OK);
    assert_vec_near(loads[0].contact_force, vec3_make(0, 0, 2.0 * 9.80665), 1e-6);
    assert_vec_near(loads[0].contact_torque, vec3_zero(), 1e-6);
    assert_vec_near(loads[1].contact_force, vec3_zero(), 1e-12);
    assert_int_equal(vy_world_read_joint(world, id, &s), VY_OK);
    assert_vec_near(s.force, vec3_make(0, 0, 9.80665), 1e-6);
    // The ground stopped the fall of the lower one, and through the joint that of the upper one.
    assert_int_equal(vy_world_read_energy(world, vy_world_body(world, 0), &e), VY_OK);
    assert_near(e.contacts, -2.0 * 9.80665 * 0.05, 0.02);
    assert_int_equal(vy_world_read_energy(world, vy_world_body(world, 1), &e), VY_OK);
    assert_true(e.contacts == 0.0);
    vy_world_destroy(world);
}

// A pendulum below a heavy body that lies on a shelf swings as it would from the world: that its other end
// touches costs it no energy.
static void pendulums_hang_from_what_lies(void **unused)
{
    (void)unused;
    vy_world_def def = solid_world();
    vy_world *world = create(&def);
    const double tilt = 0.5, length = 0.5, g = 9.80665;
    vy_drone_def heavy = brick((vy_vec3){0, 0, 2.05}),
                 bob = brick((vy_vec3){length * sin(tilt), 0, 2.0 - length * cos(tilt)});
    heavy.vehicle.mass = 100.0;
    bob.vehicle.mass = 0.1;
    bob.solid.kind = VY_COLLIDER_NONE;
    const vy_obstacle_def shelf = box(vec3_make(1, 1, 0.1), vec3_make(0, 0, 1.95), quat_identity());
    add(world, &heavy);
    add(world, &bob);
    put(world, &shelf);
    vy_joint_def rod = vy_default_joint_def();
    rod.kind = VY_JOINT_DISTANCE;
    rod.body_a = vy_world_body(world, 0);
    rod.body_b = vy_world_body(world, 1);
    rod.anchor_a = vec3_make(0, 0, -0.05);
    rod.length = length;
    assert_int_equal(vy_world_add_joint(world, &rod, NULL, NULL), VY_OK);
    const double whole = g * length * (1.0 - cos(tilt));
    double low = 1.0, high = -1.0;
    for (int k = 0; k < 4000; ++k) {
        (void)vy_world_advance(world, 1);
        const vy_drone_state s = state_of(world, 1);
        const double e = 0.5 * vec3_dot(s.velocity, s.velocity) + g * (s.position.z - (2.0 - length));
        assert_near(e / whole, 1.0, 5e-3);
        low = fmin(low, s.position.x);
        high = k < 2000 ? high : fmax(high, s.position.x);
    }
    assert_near(low, -length * sin(tilt), 1e-3);
    assert_near(high, length * sin(tilt), 1e-3);
    assert_true(vec3_length(vec3_sub(state_of(world, 0).position, heavy.position)) < 2e-4);
    vy_world_destroy(world);
}

// The same for shapes and points, by the queries on two shapes; the drone that asks is left out.
static void shapes_and_points_meet_shapes(void **unused)
{
    (void)unused;
    vy_world_def solid = solid_world();
    solid.contacts.on = 0;
    vy_world *world = create(&solid);
    const vy_drone_def a = brick((vy_vec3){0, 0, 1}), b = brick((vy_vec3){2, 0, 1});
    add(world, &a);
    add(world, &b);
    const vy_pose at = {a.position, {1, 0, 0, 0}};
    vy_shape ball = {0}, none = {0};
    vy_ray_target t = {.distance = -7.0};
    assert_int_equal(vy_shape_sphere(0.25, &ball, NULL), VY_OK);
    const vy_body_id self = vy_world_body(world, 0), other = vy_world_body(world, 1);
    assert_int_equal(vy_world_closest_to_point(world, a.position, INFINITE, self, &t), 0); // no set yet
    const vy_obstacle_def ground = vy_default_obstacle_def(),
                          wall = box((vy_vec3){0.1, 2, 2}, (vy_vec3){3, 0, 1}, turn(PI / 4, 0, 0, 1));
    put(world, &ground);
    put(world, &wall);
    (void)vy_world_step(world);
    const vy_shape *shape;
    vy_pose now;
    assert_int_equal(vy_world_shape(world, vy_world_body(world, 1), &shape, &now),
                     VY_OK); // it has begun to fall
    assert_true(now.position.z < 1.0);
    assert_int_equal(vy_world_cast_shape(world, &ball, &at, vec3_make(3, 0, 0), self, &t), 1);
    assert_int_equal(t.body, 1);
    assert_int_equal(t.obstacle, -1);
    assert_near(t.distance, now.position.x - 0.1 - 0.25, 1e-9);
    assert_int_equal(vy_world_cast_shape(world, &ball, &at, vec3_make(0, 0, -3), self, &t), 1);
    assert_int_equal(t.obstacle, 0);
    assert_near(t.distance, 0.75, 1e-9);
    assert_vec_near(t.normal, vec3_make(0, 0, 1), 1e-12);
    assert_int_equal(vy_world_cast_shape(world, &ball, &at, vec3_make(0, 0, 3), self, &t), 0);
    assert_int_equal(vy_world_closest_to_point(world, a.position, INFINITE, self, &t), 1);
    assert_int_equal(t.obstacle, 0);
    assert_near(t.distance, 1.0, 1e-12);
    assert_int_equal(vy_world_closest_to_point(world, a.position, 0.9, self, &t), 0);
    assert_int_equal(vy_world_closest_to_point(world, vec3_make(2.0, 0, 1.5), 5.0, self, &t), 1);
    assert_int_equal(t.body, 1);
    assert_int_equal(vy_world_closest_to_point(world, vec3_make(2.0, 0, 1.5), 5.0, other, &t), 1);
    assert_int_equal(t.obstacle, 1);
    assert_int_equal(vy_world_closest_to_point(world, vec3_make(2.0, 0, 1.5), 5.0, VY_ALL_BODIES, &t), 1);
    assert_int_equal(t.obstacle, 1);
    const vy_pose low = {{0, 0, 0.1}, {1, 0, 0, 0}}, lost = {{NOT_A_NUMBER, 0, 0}, {1, 0, 0, 0}};
    assert_int_equal(vy_world_overlap_shape(world, &ball, &low, self, &t), 1);
    assert_int_equal(t.obstacle, 0);
    assert_near(t.distance, -0.15, 1e-12);
    assert_int_equal(vy_world_overlap_shape(world, &ball, &at, self, &t), 0);
    assert_int_equal(vy_world_overlap_shape(world, &ball, &at, other, &t), 1);
    assert_int_equal(t.body, 0);
    assert_int_equal(vy_world_overlap_shape(world, &ball, &lost, other, &t), 0);
    assert_int_equal(vy_world_overlap_shape(world, &none, &at, other, &t), 0);
    assert_int_equal(vy_world_cast_shape(world, &ball, &at, lost.position, other, &t), 0);
    assert_int_equal(vy_world_closest_to_point(world, at.position, -1.0, other, &t), 0);
    vy_world_destroy(world);
}

// Rays: what is met first, and how far; the drone they come from is passed through.
static void rays_meet_shapes(void **unused)
{
    (void)unused;
    vy_world_def solid = solid_world();
    solid.contacts.on = 0; // rays need no contacts
    vy_world *world = create(&solid);
    const vy_drone_def a = brick((vy_vec3){0, 0, 1}), b = brick((vy_vec3){2, 0, 1});
    add(world, &a);
    add(world, &b);
    const vy_obstacle_def ground = vy_default_obstacle_def(),
                          wall = box((vy_vec3){0.1, 2, 2}, (vy_vec3){3, 0, 1}, turn(PI / 4, 0, 0, 1));
    put(world, &ground);
    put(world, &wall);
    const vy_body_id self = vy_world_body(world, 0);
    vy_ray_target t;
    assert_int_equal(vy_world_cast_ray(world, a.position, vec3_make(0, 0, -5), 10, self, &t), 1);
    assert_near(t.distance, 1.0, 1e-12);
    assert_int_equal(t.obstacle, 0);
    assert_vec_near(t.normal, vec3_make(0, 0, 1), 1e-12);
    assert_int_equal(vy_world_cast_ray(world, a.position, vec3_make(1, 0, 0), 10, self, &t), 1);
    assert_int_equal(t.body, 1);
    assert_near(t.distance, 1.9, 1e-12);
    assert_int_equal(vy_world_cast_ray(world, a.position, vec3_make(1, 0, 0), 10, VY_ALL_BODIES, &t), 1);
    assert_int_equal(t.obstacle, 1);
    assert_near(t.distance, 3.0 - 0.05 * sqrt(2.0), 1e-12);
    assert_int_equal(vy_world_cast_ray(world, a.position, vec3_make(1, 0, 0), 1.8, self, &t), 0);
    assert_int_equal(vy_world_cast_ray(world, a.position, vec3_make(0, 0, 1), 1e6, self, &t), 0);
    const vy_shape *shape;
    vy_pose pose;
    assert_int_equal(vy_world_obstacle(world, 1, &shape, &pose), VY_OK);
    assert_int_equal(shape->kind, VY_SHAPE_BOX);
    assert_vec_near(pose.position, wall.position, 0.0);
    assert_int_equal(vy_world_obstacle(world, 2, &shape, &pose), VY_NOT_FOUND);
    assert_int_equal(vy_world_shape(world, self, &shape, &pose), VY_OK);
    assert_non_null(shape);
    vy_world_destroy(world);
}

// The shape of a drone: the hull of its points, else a box about its rotors, from its centre of mass.
static void drones_have_shapes(void **unused)
{
    (void)unused;
    for (int pointed = 0; pointed < 2; ++pointed) {
        vy_drone_def def = quiet_drone();
        def.vehicle.centre_of_mass = (vy_vec3){0.01, -0.005, 0.002};
        def.attitude = turn(1.0, 0.6, 0, 0.8);
        def.vehicle.collision_point_count = pointed ? 4 : 0;
        const vy_vec3 points[4] = {{0.1, 0, 0}, {-0.1, 0.1, 0}, {-0.1, -0.1, 0}, {0, 0, -0.07}};
        for (int i = 0; i < 4; ++i) def.vehicle.collision_points[i].position = points[i];
        const vy_world_def solid = solid_world();
        vy_world *world = create(&solid);
        add(world, &def);
        const vy_shape *shape;
        vy_pose pose;
        assert_int_equal(vy_world_shape(world, vy_world_body(world, 0), &shape, &pose), VY_OK);
        assert_int_equal(shape->kind, VY_SHAPE_HULL);
        const vy_bounds b = shape->hull->bounds;
        const double half = 0.032526911934581189 + def.vehicle.rotor_air.radius;
        assert_near(b.high.x, pointed ? 0.1 : half, 1e-15);
        assert_near(b.low.z, pointed ? -0.07 : -0.25 * half, 1e-15);
        const vy_vec3 origin = vec3_sub(def.position, quat_rotate(def.attitude, def.vehicle.centre_of_mass));
        assert_vec_near(pose.position, origin, 1e-15);
        vy_world_destroy(world);
    }
}

// A corner of a brick that spins in the air reaches the ground when geometry says so.
static void spinning_bricks_touch_on_time(void **unused)
{
    (void)unused;
    vy_drone_def def = brick((vy_vec3){0, 0, 0.5});
    def.rate = (vy_vec3){0, 7, 0};
    vy_world_def solid = solid_world();
    vy_world *world = create(&solid), *alone = fly(&def);
    const vy_obstacle_def ground = vy_default_obstacle_def();
    add(world, &def);
    put(world, &ground);
    for (int n = 0; n < 1000 && (vy_world_step(world) & VY_EVENT_CONTACT) == 0; ++n)
        (void)vy_world_step(alone);
    (void)vy_world_step(alone);
    const vy_drone_state s = state_of(alone, 0); // where it would be without the ground
    const double low = s.position.z - spun(s.attitude, (vy_vec3){0.1, 0.075, 0.05});
    assert_in_range((int)(1e6 - 1e6 * low), 1000000 - 1, 1000000 + 4000); // within a step's way below it
    vy_world_destroy(world);
    vy_world_destroy(alone);
}

static int count_of(vy_log *log, const char *topic, const char *part)
{
    vy_mcap_cursor *cursor = NULL;
    vy_mcap_message message;
    int count = 0;
    assert_int_equal(vy_log_cursor_open(log, topic, &cursor, NULL), VY_OK);
    while (vy_mcap_cursor_next(cursor, &message)) {
        char text[EVENT_WORDS_CAP];
        if (part != NULL) event_words(message.data, message.size, text);
        count += part == NULL || strstr(text, part) != NULL;
    }
    vy_mcap_cursor_close(cursor);
    return count;
}

// A log has contacts as events and as a stream, replays to the same bits, and a replay points into them.
static void logs_tell_of_contacts(void **unused)
{
    (void)unused;
    static const char *const names[] = {"brick", "other"}, *const places[] = {"floor"};
    char path[64];
    snprintf(path, sizeof path, "/tmp/volery-test-touch-%ld.mcap", (long)getpid());
    for (int run = 0; run < 2; ++run) { // the second is a replay
        vy_world_def solid = solid_world();
        solid.contacts.reserve = run == 0 ? 0 : 200; // how much memory there is is no part of the flight
        vy_world *world = create(&solid);
        vy_drone_def def = brick((vy_vec3){0, 0, 0.3}), above = brick((vy_vec3){0.03, 0, 0.6});
        def.crash.speed = 2.0;
        add(world, &def);
        add(world, &above);
        const vy_obstacle_def ground = vy_default_obstacle_def();
        put(world, &ground);
        vy_error err = {0};
        if (run == 0) {
            vy_recorder_def record = vy_default_recorder_def();
            record.path = path;
            record.scenario = "volery: 1\n";
            record.names = names;
            record.obstacle_names = places;
            vy_recorder *recorder = NULL;
            if (vy_recorder_open(&record, world, &recorder, &err) != VY_OK) fail_msg("%s", err.text);
            vy_world_set_sink(world, vy_recorder_sink(recorder));
            (void)vy_world_advance(world, 1000);
            if (vy_recorder_close(recorder, world, "completed", &err) != VY_OK) fail_msg("%s", err.text);
            vy_world_destroy(world);
            continue;
        }
        vy_log *log = NULL;
        if (vy_log_open(path, &log, &err) != VY_OK) fail_msg("%s", err.text);
        assert_int_equal(count_of(log, "/events", "with floor begins at 2.2"), 1); // sqrt(2 g 0.25 m)
        assert_int_equal(count_of(log, "/events", "crash brick: against floor"), 1);
        assert_true(count_of(log, "/events", "with other begins") >= 1);
        assert_true(count_of(log, "/contacts", NULL) > 100);
        assert_int_equal(count_of(log, "/drones/brick/touch", NULL), 101);
        vy_difference d;
        assert_int_equal(vy_log_replay(log, world, NULL, NULL, &d, NULL), VY_OK);
        assert_false(d.found);
        // A push that is another one shows by name.
        const size_t size = vy_world_state_size(world);
        unsigned char *a = malloc(size), *b = malloc(size);
        vy_world_save(world, a);
        vy_world_save(world, b);
        b[world->state_size + 2 * 8 + 3] ^= 1; // the first contact is behind all other blocks
        assert_int_equal(vy_state_compare(a, size, b, size, &d), 1);
        assert_string_equal(d.field, "contacts[0].values[0]");
        free(a);
        free(b);
        vy_log_close(log);
        vy_world_destroy(world);
    }
    remove(path);
}

/// A controller that sinks until it feels the ground, and then switches off.
static void sink_and_stop(void *self, const vy_samples *samples, vy_intent *intent)
{
    uint64_t *felt = self;
    if (samples->touch.contacts > 0 && *felt == 0) {
        *felt = samples->tick;
        assert_true(samples->touch.impulse.z > 0.0); // body axes: the drone is level
        assert_near(samples->touch.impulse.x, 0.0, 1e-6);
    }
    intent->rung = VY_RUNG_MOTORS;
    for (int i = 0; i < 4; ++i) intent->motors[i] = *felt ? 0.0 : 0.6;
}

static void controllers_feel_contacts(void **unused)
{
    (void)unused;
    uint64_t felt = 0;
    vy_drone_def def = quiet_drone();
    def.position.z = 0.1;
    def.controller.kind = VY_CONTROLLER_CALLBACK;
    def.controller.call = sink_and_stop;
    def.controller.self = &felt;
    def.controller.period = 0.001;
    const vy_world_def solid = solid_world();
    vy_world *world = create(&solid);
    const vy_obstacle_def ground = vy_default_obstacle_def();
    add(world, &def);
    put(world, &ground);
    while (felt == 0 && vy_world_tick(world) < 2000) (void)vy_world_step(world);
    assert_in_range(felt, 100, 1000);
    assert_near(state_of(world, 0).contact_speed, 0.5, 0.3);
    (void)vy_world_advance(world, 300);
    const vy_vec3 rest = state_of(world, 0).position;
    double moved = 0.0;
    for (int n = 0; n < 60000; ++n) { // rotors run down meanwhile; it does not move
        (void)vy_world_step(world);
        if (n % 50 == 0) moved = fmax(moved, check_distance(state_of(world, 0).position, rest));
    }
    assert_true(moved < 1e-6);
    const vy_drone_state s = state_of(world, 0);
    assert_int_equal(s.samples.touch.contacts, 1);
    assert_true(vec3_length(s.velocity) < 1e-6);
    assert_near(s.rotor_speed[0], 0.0, 1e-3);
    vy_world_destroy(world);
}

// The same scenario on `strict` and on `rigid`: the same bits in flight. What `simple` clamps, `rigid` stops.
static void engines_fly_alike(void **unused)
{
    (void)unused;
    static const char text[] = "volery: 1\nduration: 2\nworld: {physics: {engine: %s}}\n"
                               "drones: [{start: {velocity: [1, 0.5, 0]}, controller: {setpoints: "
                               "[{time: 0, position: [0, 0, 1]}, {time: 1, position: [1, 0, 1.5]}]}}]\n";
    static const char *const engines[2] = {"strict", "rigid"};
    vy_drone_state end[2];
    for (int i = 0; i < 2; ++i) {
        char full[500];
        snprintf(full, sizeof full, text, engines[i]);
        vy_scenario *s = read_good(full);
        vy_world *world = NULL;
        assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
        assert_int_equal(vy_world_obstacle_count(world), i == 0 ? 0 : 5);
        assert_true(i == 0 || strcmp(vy_scenario_obstacle_name(s, 4), "north") == 0);
        assert_null(vy_scenario_obstacle_name(s, i == 0 ? 0 : 5));
        (void)vy_world_advance(world, 2000);
        end[i] = state_of(world, 0);
        vy_world_destroy(world);
        vy_scenario_destroy(s);
    }
    assert_memory_equal(&end[0].position, &end[1].position, sizeof end[0].position);
    assert_memory_equal(&end[0].attitude, &end[1].attitude, sizeof end[0].attitude);
    // Thrown at the ground and the wall: `simple` lets it stick with its velocity, `rigid` stops it.
    for (int i = 0; i < 2; ++i) {
        char full[500];
        snprintf(full, sizeof full,
                 "volery: 1\nworld: {physics: {engine: %s, boundary: 3}}\n"
                 "drones: [{controller: {kind: none}, start: {velocity: [6, 0, 0], rotor_speed: 0}}]\n",
                 i == 0 ? "simple" : "rigid");
        vy_scenario *s = read_good(full);
        vy_world *world = NULL;
        assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
        (void)vy_world_advance(world, 5000);
        const vy_drone_state d = state_of(world, 0);
        assert_true(d.position.x <= 3.0 && d.position.z >= 0.0);
        assert_true(i == 0 ? d.velocity.z < -1.0 : vec3_length(d.velocity) < 1e-3);
        assert_true(i == 0 ? d.contacts == 0 : d.contacts > 0);
        vy_world_destroy(world);
        vy_scenario_destroy(s);
    }
}

// What may be declared, and in which order.
static void mistakes_are_told(void **unused)
{
    (void)unused;
    vy_error err = {0};
    vy_world_def def = solid_world();
    vy_world *world = create(&def);
    const vy_drone_def drone = quiet_drone();
    vy_drone_def odd = drone;
    odd.solid.kind = VY_COLLIDER_PLANE;
    add(world, &drone);
    assert_int_equal(vy_world_add_drone(world, &odd, NULL, &err), VY_BAD_VALUE);
    odd.solid.kind = VY_COLLIDER_HULL;
    assert_int_equal(vy_world_add_drone(world, &odd, NULL, &err), VY_BAD_VALUE);
    odd = drone;
    odd.crash.speed = -1.0;
    assert_int_equal(vy_world_add_drone(world, &odd, NULL, &err), VY_BAD_VALUE);
    assert_string_equal(err.text, "drone.crash.speed must be between 0 and 1e+08 m/s, got -1");
    vy_obstacle_def wall = box((vy_vec3){0, 1, 1}, (vy_vec3){0, 0, 0}, (vy_quat){1, 0, 0, 0});
    assert_int_equal(vy_world_add_obstacle(world, &wall, &err), VY_BAD_VALUE);
    wall.solid.size.x = 1.0;
    wall.solid.material.restitution = 2.0;
    assert_int_equal(vy_world_add_obstacle(world, &wall, &err), VY_BAD_VALUE);
    wall.solid.material.restitution = 0.0;
    wall.attitude = (vy_quat){0, 0, 0, 0};
    assert_int_equal(vy_world_add_obstacle(world, &wall, &err), VY_BAD_VALUE);
    wall.attitude.w = 1.0;
    wall.solid.kind = VY_COLLIDER_NONE;
    assert_int_equal(vy_world_add_obstacle(world, &wall, &err), VY_BAD_VALUE);
    wall.solid.kind = VY_COLLIDER_BOX;
    put(world, &wall);
    put(world, &wall);
    assert_int_equal(vy_world_add_drone(world, &drone, NULL, &err), VY_BAD_STATE);
    vy_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_flight_keeps_its_bits),
        cmocka_unit_test(slopes_hold_or_not),
        cmocka_unit_test(thin_walls_hold),
        cmocka_unit_test(fast_spin_is_kept),
        cmocka_unit_test(landing_ends),
        cmocka_unit_test(bricks_exchange_momentum),
        cmocka_unit_test(crashes_are_told),
        cmocka_unit_test(snapshots_hold_contacts),
        cmocka_unit_test(energy_is_accounted_for),
        cmocka_unit_test(joints_carry_in_contact),
        cmocka_unit_test(pendulums_hang_from_what_lies),
        cmocka_unit_test(rays_meet_shapes),
        cmocka_unit_test(shapes_and_points_meet_shapes),
        cmocka_unit_test(drones_have_shapes),
        cmocka_unit_test(spinning_bricks_touch_on_time),
        cmocka_unit_test(controllers_feel_contacts),
        cmocka_unit_test(engines_fly_alike),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(logs_tell_of_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
