// test_physics.c - the physics service: every sentence of its specification, and worlds that fly on it.
#include "flight.h"
#include "volery/physics.h"
#include <string.h>

static vy_physics *service(double boundary)
{
    vy_physics_def def = vy_default_physics_def();
    def.boundary = boundary;
    vy_physics *p = NULL;
    assert_int_equal(vy_physics_create(&def, &p, NULL), VY_OK);
    return p;
}

static vy_physics_id add(vy_physics *p, const vy_physics_body_def *def)
{
    vy_physics_id id = {0};
    assert_int_equal(vy_physics_add_dynamic(p, def, &id, NULL), VY_OK);
    return id;
}

static void push(vy_physics *p, vy_physics_id id, vy_vec3 force, vy_vec3 torque)
{
    const vy_move_intent intent = {.kind = VY_MOVE_DYNAMIC, .force = force, .torque = torque};
    assert_int_equal(vy_physics_submit(p, id, &intent), VY_OK);
}

// Ruling 10: v += F/m dt with the sum of all forces, then p += v dt with the new v; there is no gravity
// unless submitted; mass is 1 by default; forces are gone after the step.
static void ruling_10_forces_add_up_and_are_cleared(void **unused)
{
    (void)unused;
    random_source r = {91};
    for (int n = 0; n < 100; ++n) {
        vy_physics *p = service(1e6);
        vy_physics_body_def def = vy_default_physics_body_def();
        if (n % 2) def.mass = random_in(&r, 0.1, 10.0);
        def.start.position = (vy_vec3){1, 2, 500};
        def.start.velocity = random_vec(&r, 5.0);
        def.start.attitude = random_attitude(&r); // forces are in world axes, whatever the attitude
        const vy_physics_id id = add(p, &def);
        vec3 v = def.start.velocity, at = def.start.position;
        for (int i = 0; i < 50; ++i) {
            const double dt = random_in(&r, 0.001, 0.1);
            const int pushes = (int)(random_bits(&r) % 4);
            vec3 sum = vec3_zero();
            for (int k = 0; k < pushes; ++k) {
                const vec3 f = random_vec(&r, 10.0);
                push(p, id, f, (vy_vec3){0, 0, 0});
                sum = vec3_add(sum, f);
            }
            assert_int_equal(vy_physics_step(p, dt), VY_OK);
            v = vec3_add_scaled(v, dt, (vec3){sum.x / def.mass, sum.y / def.mass, sum.z / def.mass});
            at = vec3_add_scaled(at, dt, v);
            const vy_body_state s = vy_physics_read(p, id);
            assert_vec_near(s.velocity, v, 0.0);
            assert_vec_near(s.position, at, 0.0);
        }
        vy_physics_destroy(p);
    }
}

// Ruling 10: w += I^-1 t dt and q += q w dt / 2, normalised: against the closed form of a turn about one axis
// for small steps; the identity is the default inertia.
static void ruling_10_torques_turn_bodies(void **unused)
{
    (void)unused;
    vy_physics *p = service(1e6);
    vy_physics_body_def def = vy_default_physics_body_def();
    def.start.position.z = 1.0;
    def.start.attitude = turn(0.7, 0.6, 0.0, 0.8);
    const vy_physics_id plain = add(p, &def);
    def.inertia = (vy_mat3){{{2, 0, 0}, {0, 4, 0}, {0, 0, 5}}};
    const vy_physics_id heavy = add(p, &def);
    for (int i = 0; i < 10000; ++i) {
        push(p, plain, (vy_vec3){0, 0, 0}, (vy_vec3){0, 0.5, 0});
        push(p, heavy, (vy_vec3){0, 0, 0}, (vy_vec3){0, 0.5, 0});
        assert_int_equal(vy_physics_step(p, 1e-4), VY_OK);
    }
    // After 1 s: rate a t and angle a t^2 / 2, about body +y.
    const vy_body_state a = vy_physics_read(p, plain), b = vy_physics_read(p, heavy);
    assert_vec_near(a.rate, ((vec3){0, 0.5, 0}), 1e-12);
    assert_vec_near(b.rate, ((vec3){0, 0.125, 0}), 1e-12);
    assert_near(check_angle(a.attitude, quat_mul(def.start.attitude, turn(0.25, 0, 1, 0))), 0.0, 1e-4);
    assert_near(check_angle(b.attitude, quat_mul(def.start.attitude, turn(0.0625, 0, 1, 0))), 0.0, 1e-4);
    vy_physics_destroy(p);
}

// Ruling 10: kinematic intents set velocity and attitude and forces of the same step are ignored, whichever
// came first; the next step has no trace of them.
static void ruling_10_kinematic_intents_lead(void **unused)
{
    (void)unused;
    random_source r = {92};
    for (int first = 0; first < 2; ++first) {
        vy_physics *p = service(1e6);
        vy_physics_body_def def = vy_default_physics_body_def();
        def.start.position.z = 10.0;
        vy_physics_id id = {0};
        assert_int_equal(vy_physics_add_kinematic(p, &def, &id, NULL), VY_OK);
        const vy_move_intent lead = {
            .kind = VY_MOVE_KINEMATIC, .velocity = {1, 2, 3}, .attitude = random_attitude(&r)};
        if (first) push(p, id, (vy_vec3){9, 9, 9}, (vy_vec3){9, 9, 9});
        assert_int_equal(vy_physics_submit(p, id, &lead), VY_OK);
        if (!first) push(p, id, (vy_vec3){9, 9, 9}, (vy_vec3){9, 9, 9});
        (void)vy_physics_step(p, 0.5);
        vy_body_state s = vy_physics_read(p, id);
        assert_vec_near(s.velocity, lead.velocity, 0.0);
        assert_vec_near(s.position, ((vec3){0.5, 1.0, 11.5}), 1e-15);
        assert_near(check_angle(s.attitude, lead.attitude), 0.0, 1e-15);
        (void)vy_physics_step(p, 0.5);
        s = vy_physics_read(p, id);
        assert_vec_near(s.velocity, lead.velocity, 0.0); // and it goes on
        assert_vec_near(s.rate, vec3_zero(), 0.0);
        vy_physics_destroy(p);
    }
}

// Ruling 10: the position is clamped to the ground and to the boundary, the velocity stays: bodies stick.
static void ruling_10_bodies_stick_to_the_bounds(void **unused)
{
    (void)unused;
    static const vy_vec3 ways[] = {{50, 0, 0}, {-50, 0, 0}, {0, 50, 0}, {0, -50, 0}, {0, 0, -50}, {0, 0, 50}};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; ++i) {
        vy_physics *p = service(10.0);
        vy_physics_body_def def = vy_default_physics_body_def();
        def.start.position.z = 5.0;
        def.start.velocity = ways[i];
        const vy_physics_id id = add(p, &def);
        for (int k = 0; k < 3; ++k) (void)vy_physics_step(p, 1.0);
        const vy_body_state s = vy_physics_read(p, id);
        const vec3 free = vec3_add_scaled(def.start.position, 3.0, ways[i]);
        assert_vec_near(s.position,
                        ((vec3){fmax(-10, fmin(10, free.x)), fmax(-10, fmin(10, free.y)), fmax(0, free.z)}),
                        0.0);
        assert_vec_near(s.velocity, ways[i], 0.0);
        vy_physics_destroy(p);
    }
}

static void count_event(void *self, const vy_collision_event *event)
{
    (void)event;
    *(int *)self += 1;
}

// Ruling 10: a static body does nothing, bodies fly through each other, no event is ever told, and handles
// that are not of this service are harmless: what they read is zero.
static void ruling_10_nothing_collides_and_unknown_handles_are_harmless(void **unused)
{
    (void)unused;
    int events = 0;
    vy_physics *p = service(100.0);
    vy_physics_on_collision(p, count_event, &events);
    vy_physics_body_def def = vy_default_physics_body_def();
    assert_int_equal(vy_physics_add_static(p, &def, NULL), VY_OK);
    def.start.position = (vy_vec3){-1, 0, 1};
    def.start.velocity = (vy_vec3){1, 0, 0};
    const vy_physics_id a = add(p, &def);
    def.start.position = (vy_vec3){1, 0, 1};
    def.start.velocity = (vy_vec3){-1, 0, 0};
    const vy_physics_id b = add(p, &def);
    for (int i = 0; i < 200; ++i) (void)vy_physics_step(p, 0.01);
    assert_vec_near(vy_physics_read(p, a).position, ((vec3){1, 0, 1}), 1e-12);
    assert_vec_near(vy_physics_read(p, b).position, ((vec3){-1, 0, 1}), 1e-12);
    assert_int_equal(events, 0);

    const uint64_t odd[] = {0, 1, b.bits + 1, b.bits ^ ((uint64_t)1 << 40), UINT64_MAX};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; ++i) {
        const vy_move_intent intent = {.kind = VY_MOVE_DYNAMIC, .force = {1, 1, 1}};
        assert_int_equal(vy_physics_submit(p, (vy_physics_id){odd[i]}, &intent), VY_OK);
        const vy_body_state s = vy_physics_read(p, (vy_physics_id){odd[i]}), zero = {0};
        assert_memory_equal(&s, &zero, sizeof s);
    }
    (void)vy_physics_step(p, 0.01);
    assert_vec_near(vy_physics_read(p, a).velocity, ((vec3){1, 0, 0}), 0.0);
    vy_physics_destroy(p);
    vy_physics_destroy(NULL);
}

// What is not finite is refused and changes nothing.
static void bad_values_are_refused(void **unused)
{
    (void)unused;
    vy_error err = {0};
    vy_physics *p = NULL;
    vy_physics_def bad = vy_default_physics_def();
    bad.boundary = NOT_A_NUMBER;
    assert_int_equal(vy_physics_create(&bad, &p, &err), VY_BAD_VALUE);
    assert_null(p);
    bad = vy_default_physics_def();
    bad.engine = (vy_physics_engine)2;
    assert_int_equal(vy_physics_create(&bad, &p, &err), VY_BAD_VALUE);
    bad = (vy_physics_def){.boundary = 1.0};
    assert_int_equal(vy_physics_create(&bad, &p, &err), VY_BAD_VALUE);

    bad = vy_default_physics_def();
    assert_int_equal(vy_physics_create(&bad, &p, &err), VY_OK);
    vy_physics_id id = {0};
    vy_physics_body_def body = vy_default_physics_body_def();
    body.mass = 0.0;
    assert_int_equal(vy_physics_add_dynamic(p, &body, &id, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "mass"));
    body = vy_default_physics_body_def();
    body.inertia.m[1][1] = -1.0;
    assert_int_equal(vy_physics_add_dynamic(p, &body, &id, &err), VY_BAD_VALUE);
    body = vy_default_physics_body_def();
    body.start.attitude = (vy_quat){0, 0, 0, 0};
    assert_int_equal(vy_physics_add_dynamic(p, &body, &id, &err), VY_BAD_VALUE);
    body = vy_default_physics_body_def();
    assert_int_equal(vy_physics_add_dynamic(p, &body, &id, &err), VY_OK);
    const vy_body_state before = vy_physics_read(p, id);
    const vy_move_intent wrong[] = {{.kind = VY_MOVE_DYNAMIC, .force = {NOT_A_NUMBER, 0, 0}},
                                    {.kind = VY_MOVE_KINEMATIC, .velocity = {1, 0, 0}},
                                    {.kind = (vy_move_kind)2}};
    for (int i = 0; i < 3; ++i) assert_int_equal(vy_physics_submit(p, id, &wrong[i]), VY_BAD_VALUE);
    assert_int_equal(vy_physics_step(p, NOT_A_NUMBER), VY_BAD_VALUE);
    assert_int_equal(vy_physics_step(p, -0.1), VY_BAD_VALUE);
    assert_int_equal(vy_physics_step(p, 0.1), VY_OK);
    const vy_body_state after = vy_physics_read(p, id);
    assert_memory_equal(&before, &after, sizeof before);
    vy_physics_destroy(p);
}

static vy_world_def simple_world(void)
{
    vy_world_def wd = vy_default_world_def();
    wd.environment.physics.engine = VY_ENGINE_SIMPLE;
    return wd;
}

// A drone on the simple engine falls as the service's body under the same forces falls, to the bit, and
// sticks to the ground; with its controller it flies.
static void a_world_flies_on_the_simple_engine(void **unused)
{
    (void)unused;
    const vy_world_def wd = simple_world();
    vy_drone_def def = passive_body();
    def.position.z = 3.0;
    vy_world *world = fly_in(&wd, &def);
    vy_physics *p = service(1000.0);
    vy_physics_body_def body = vy_default_physics_body_def();
    body.start.position.z = 3.0;
    const vy_physics_id id = add(p, &body);
    for (int i = 0; i < 2000; ++i) {
        (void)vy_world_step(world);
        push(p, id, (vy_vec3){0, 0, -9.80665}, (vy_vec3){0, 0, 0});
        (void)vy_physics_step(p, 0.001);
        assert_vec_near(state_of(world, 0).position, vy_physics_read(p, id).position, 0.0);
    }
    assert_true(state_of(world, 0).position.z == 0.0);
    assert_true(state_of(world, 0).velocity.z < -19.0); // clamping leaves the velocity alone
    vy_physics_destroy(p);
    vy_world_destroy(world);

    def = vy_default_drone_def();
    world = fly_in(&wd, &def);
    (void)vy_world_advance(world, 10000);
    assert_vec_near(state_of(world, 0).position, def.position, 0.05);
    vy_world_destroy(world);
}

// A kinematic drone has the speeds of the sticks after their lag and nothing else; it needs the simple
// engine, no rotors, and takes no other rung.
static void a_kinematic_drone_follows_the_sticks(void **unused)
{
    (void)unused;
    const vy_world_def wd = simple_world();
    vy_drone_def def = passive_body();
    def.position.z = 50.0;
    def.attitude = turn(1.0, 0, 0, 1);
    def.controller.kind = VY_CONTROLLER_INTENT;
    def.controller.flight = VY_FLIGHT_KINEMATIC;
    def.controller.start =
        (vy_intent){.rung = VY_RUNG_PILOT, .throttle = 10, .strafe = 0.5, .vertical = -1.0};
    vy_world *world = fly_in(&wd, &def);
    (void)vy_world_advance(world, 200); // one time constant of the sticks
    const double share = 1.0 - exp(-5.0 * 0.2);
    const vec3 v = quat_unrotate(def.attitude, state_of(world, 0).velocity);
    assert_vec_near(v, ((vec3){20.0 * share, -5.0 * share, -5.0 * share}), 0.1);
    (void)vy_world_advance(world, 3800);
    assert_vec_near(quat_unrotate(def.attitude, state_of(world, 0).velocity), ((vec3){20, -5, -5}), 1e-6);
    assert_near(check_angle(state_of(world, 0).attitude, def.attitude), 0.0, 1e-9);
    vy_world_destroy(world);

    def.controller.start = (vy_intent){.rung = VY_RUNG_PILOT, .yaw = -1.0};
    world = fly_in(&wd, &def);
    (void)vy_world_advance(world, 1000);
    assert_near(check_angle(state_of(world, 0).attitude, turn(1.0 + 0.5 * PI, 0, 0, 1)), 0.0, 0.01);
    vy_world_destroy(world);

    assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
    def.controller.start = (vy_intent){.rung = VY_RUNG_VELOCITY};
    assert_int_equal(vy_world_add_drone(world, &def, NULL, NULL), VY_BAD_VALUE);
    vy_world_destroy(world);
    const vy_world_def strict = vy_default_world_def();
    assert_int_equal(vy_world_create(&strict, &world, NULL), VY_OK);
    def.controller.start = (vy_intent){.rung = VY_RUNG_PILOT};
    vy_error err = {0};
    assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "simple"));
    vy_world_destroy(world);
}

// --- the rigid engine

typedef struct heard {
    int count;
    vy_collision_event first, last;
} heard;

static void hear(void *self, const vy_collision_event *event)
{
    heard *h = self;
    if (h->count++ == 0) h->first = *event;
    h->last = *event;
}

static vy_physics *rigid(double boundary, heard *h)
{
    vy_physics_def def = vy_default_physics_def();
    def.engine = VY_PHYSICS_RIGID;
    def.boundary = boundary;
    vy_physics *p = NULL;
    assert_int_equal(vy_physics_create(&def, &p, NULL), VY_OK);
    *h = (heard){0};
    vy_physics_on_collision(p, hear, h);
    return p;
}

// Ruling 10: the rigid engine behind the same calls, with events. A ball falls by submitted gravity: the fall
// is exact, it is told of once, and it lies on the ground then.
static void ruling_10_rigid_bodies_land(void **unused)
{
    (void)unused;
    heard h;
    vy_physics *p = rigid(100.0, &h);
    vy_physics_body_def def = vy_default_physics_body_def();
    def.mass = 2.0;
    def.start.position.z = 1.1; // 1 m to fall
    const vy_physics_id id = add(p, &def);
    double fallen = 0.0;
    for (int n = 1; n <= 2000; ++n) {
        push(p, id, (vy_vec3){0, 0, -2.0 * 9.81}, (vy_vec3){0, 0, 0});
        assert_int_equal(vy_physics_step(p, 1e-3), VY_OK);
        const double t = 1e-3 * n;
        if (h.count == 0) assert_near(vy_physics_read(p, id).position.z, 1.1 - 0.5 * 9.81 * t * t, 1e-12);
        if (h.count == 1 && fallen == 0.0) fallen = t;
    }
    const double speed = sqrt(2.0 * 9.81);
    assert_near(fallen, speed / 9.81, 1.5e-3);
    assert_int_equal(h.count, 1);
    assert_true(h.first.a.bits == id.bits && h.first.b.bits == 0);
    assert_vec_near(h.first.normal, ((vy_vec3){0, 0, -1}), 1e-12);
    assert_near(h.first.impulse, 2.0 * speed, 0.1);
    assert_near(h.first.point.z, 0.0, 0.02);
    assert_near(vy_physics_read(p, id).position.z, 0.1, 1e-3);
    assert_near(vy_physics_read(p, id).velocity.z, 0.0, 1e-6);
    vy_physics_destroy(p);
}

// Two equal balls without loss exchange their speeds; `simple` lets the same two pass.
static void ruling_10_rigid_bodies_meet(void **unused)
{
    (void)unused;
    for (int engine = 0; engine < 2; ++engine) {
        heard h = {0};
        vy_physics *p = engine == 0 ? service(100.0) : rigid(100.0, &h);
        vy_physics_body_def def = vy_default_physics_body_def();
        def.solid.material = (vy_material){.restitution = 1.0};
        def.start.position = (vy_vec3){-1, 2, 5};
        def.start.velocity = (vy_vec3){3, 0, 0};
        const vy_physics_id a = add(p, &def);
        def.start.position = (vy_vec3){1, 2, 5};
        def.start.velocity = (vy_vec3){-1, 0, 0};
        const vy_physics_id b = add(p, &def);
        for (int n = 0; n < 1000; ++n) assert_int_equal(vy_physics_step(p, 1e-3), VY_OK);
        const double va = vy_physics_read(p, a).velocity.x, vb = vy_physics_read(p, b).velocity.x;
        assert_near(va, engine == 0 ? 3.0 : -1.0, 1e-9);
        assert_near(vb, engine == 0 ? -1.0 : 3.0, 1e-9);
        assert_int_equal(h.count, engine);
        if (engine == 1) {
            assert_true(h.first.a.bits == a.bits && h.first.b.bits == b.bits);
            assert_vec_near(h.first.normal, ((vy_vec3){1, 0, 0}), 1e-9);
            assert_near(h.first.impulse, 4.0, 1e-9);
        }
        vy_physics_destroy(p);
    }
}

// Walls at the boundary, a static box, and a lift that is led and carries a ball, whatever pushes it.
static void ruling_10_rigid_bounds_statics_and_lifts(void **unused)
{
    (void)unused;
    heard h;
    vy_physics *p = rigid(10.0, &h);
    vy_physics_body_def ball = vy_default_physics_body_def(), box = ball, lift = ball;
    ball.start.position = (vy_vec3){0, 0, 2};
    ball.start.velocity = (vy_vec3){0, -25, 0};
    const vy_physics_id to_wall = add(p, &ball);
    ball.start.velocity = (vy_vec3){25, 0, 0};
    const vy_physics_id to_box = add(p, &ball);
    box.solid.kind = VY_COLLIDER_BOX;
    box.solid.size = (vy_vec3){1, 4, 4};
    box.start.position = (vy_vec3){5, 0, 2};
    assert_int_equal(vy_physics_add_static(p, &box, NULL), VY_OK);
    lift.solid.kind = VY_COLLIDER_CYLINDER;
    lift.solid.radius = 1.0;
    lift.solid.length = 0.2;
    lift.start.position = (vy_vec3){-5, -5, 1};
    vy_physics_id platform = {0};
    assert_int_equal(vy_physics_add_kinematic(p, &lift, &platform, NULL), VY_OK);
    ball.start.position = (vy_vec3){-5, -5, 1.2};
    ball.start.velocity = (vy_vec3){0, 0, 0};
    const vy_physics_id load = add(p, &ball);
    const vy_move_intent up = {.kind = VY_MOVE_KINEMATIC, .velocity = {0, 0, 1}, .attitude = {1, 0, 0, 0}};
    for (int n = 0; n < 2000; ++n) {
        assert_int_equal(vy_physics_submit(p, platform, &up), VY_OK);
        push(p, platform, (vy_vec3){9, 9, 9}, (vy_vec3){0, 0, 0});
        push(p, load, (vy_vec3){0, 0, -9.81}, (vy_vec3){0, 0, 0});
        assert_int_equal(vy_physics_step(p, 1e-3), VY_OK);
        assert_true(vy_physics_read(p, to_wall).position.y > -9.91);
        assert_true(vy_physics_read(p, to_box).position.x < 4.41);
    }
    assert_near(vy_physics_read(p, platform).position.z, 3.0, 1e-9);
    assert_near(vy_physics_read(p, load).position.z, 3.2, 2e-3);
    assert_near(vy_physics_read(p, load).velocity.z, 1.0, 1e-3);
    assert_int_equal(h.count, 3);
    // The rest of the contract: strange handles, forces that are gone, steps of no length, mistakes.
    const vy_move_intent lost = {.kind = VY_MOVE_DYNAMIC};
    assert_int_equal(vy_physics_submit(p, (vy_physics_id){77}, &lost), VY_OK);
    assert_int_equal(vy_physics_step(p, 0.0), VY_OK);
    assert_int_equal(vy_physics_step(p, -1.0), VY_BAD_VALUE);
    const vy_physics_id none = {0};
    assert_vec_near(vy_physics_read(p, none).position, vec3_zero(), 0.0);
    ball.solid.radius = -1.0;
    vy_physics_id out = {5};
    assert_int_equal(vy_physics_add_dynamic(p, &ball, &out, NULL), VY_BAD_VALUE);
    assert_true(out.bits == 5);
    vy_physics_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ruling_10_forces_add_up_and_are_cleared),
        cmocka_unit_test(ruling_10_torques_turn_bodies),
        cmocka_unit_test(ruling_10_kinematic_intents_lead),
        cmocka_unit_test(ruling_10_bodies_stick_to_the_bounds),
        cmocka_unit_test(ruling_10_nothing_collides_and_unknown_handles_are_harmless),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(a_world_flies_on_the_simple_engine),
        cmocka_unit_test(a_kinematic_drone_follows_the_sticks),
        cmocka_unit_test(ruling_10_rigid_bodies_land),
        cmocka_unit_test(ruling_10_rigid_bodies_meet),
        cmocka_unit_test(ruling_10_rigid_bounds_statics_and_lifts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
