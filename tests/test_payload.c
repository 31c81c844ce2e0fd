// test_payload.c - what drones carry: one rigid body, momentum kept when it is dropped and taken up.
#include "flight.h"
#include "volery/fault.h"
#include "volery/payload.h"
#include "world/world_impl.h"
#include <math.h>
#include <stdlib.h>

static vy_world *space_for(double gravity)
{
    vy_world_def def = vy_default_world_def();
    def.environment.gravity.uniform = (vy_vec3){0.0, 0.0, -gravity};
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&def, &world, NULL), VY_OK);
    return world;
}

static vy_quat some_attitude(random_source *r)
{
    const double first = random_in(r, -1, 1), second = random_in(r, -1, 1), third = random_in(r, -1, 1),
                 fourth = random_in(r, -1, 1);
    return quat_normalize(quat_make(fourth, third, second, first));
}

static vy_vec3 some_vector(random_source *r, double size)
{
    return (vy_vec3){random_in(r, -size, size), random_in(r, -size, size), random_in(r, -size, size)};
}

// Twelve points of mass: mass, centre and inertia about it by plain sums.
enum { POINTS = 12 };
typedef struct cloud {
    double mass[POINTS];
    vec3 at[POINTS];
} cloud;

static cloud some_cloud(random_source *r)
{
    cloud c;
    for (int i = 0; i < POINTS; ++i) {
        c.mass[i] = random_in(r, 0.01, 0.1);
        c.at[i] = some_vector(r, 0.3);
    }
    return c;
}

static void sum_up(const cloud *c, int clouds, double *mass, vec3 *centre, mat3 *inertia)
{
    *mass = 0.0;
    *centre = vec3_zero();
    for (int i = 0; i < clouds * POINTS; ++i) {
        const cloud *k = &c[i / POINTS];
        *mass += k->mass[i % POINTS];
        *centre = vec3_add_scaled(*centre, k->mass[i % POINTS], k->at[i % POINTS]);
    }
    *centre = vec3_scale(1.0 / *mass, *centre);
    memset(inertia, 0, sizeof *inertia);
    for (int i = 0; i < clouds * POINTS; ++i) {
        const cloud *k = &c[i / POINTS];
        const vec3 d = vec3_sub(k->at[i % POINTS], *centre);
        const double v[3] = {d.x, d.y, d.z};
        for (int n = 0; n < 9; ++n)
            inertia->m[n / 3][n % 3] +=
                k->mass[i % POINTS] * ((n / 3 == n % 3 ? vec3_dot(d, d) : 0.0) - v[n / 3] * v[n % 3]);
    }
}

static vy_body_id add_load(vy_world *world, const vy_drone_def *def)
{
    vy_drone_id id;
    assert_int_equal(vy_world_add_drone(world, def, &id, NULL), VY_OK);
    return vy_world_drone_body(world, id);
}

// Carrier and load are clouds of points, the load turned and displaced: together they are the larger cloud.
static void the_whole_is_the_sum_of_its_points(void **unused)
{
    (void)unused;
    random_source r = {21};
    for (int n = 0; n < 100; ++n) {
        cloud both[2] = {some_cloud(&r), some_cloud(&r)}, load = both[1];
        const quat turn = some_attitude(&r);
        const vec3 place = some_vector(&r, 0.5);
        vy_drone_def carrier = passive_body(), body = passive_body();
        vec3 centre, own;
        sum_up(&both[0], 1, &carrier.vehicle.mass, &carrier.vehicle.centre_of_mass, &carrier.vehicle.inertia);
        sum_up(&load, 1, &body.vehicle.mass, &own, &body.vehicle.inertia);
        for (int i = 0; i < POINTS; ++i) // the load's centre is put at `place` of the carrier's frame
            both[1].at[i] = vec3_add(place, quat_rotate(turn, vec3_sub(load.at[i], own)));
        double mass;
        mat3 inertia;
        sum_up(both, 2, &mass, &centre, &inertia);

        vy_world *world = space_for(0.0);
        vy_payload_def def = vy_default_payload_def();
        assert_int_equal(vy_world_add_drone(world, &carrier, &def.carrier, NULL), VY_OK);
        def.load = add_load(world, &body);
        def.position = place;
        def.attitude = turn;
        assert_int_equal(vy_world_add_payload(world, &def, NULL), VY_OK);
        vy_payload_state s;
        assert_int_equal(vy_world_read_payload(world, 0, &s), VY_OK);
        assert_true(s.carried && !s.missed);
        assert_near(s.mass, mass, 1e-14);
        assert_vec_near(s.centre, centre, 1e-14);
        for (int k = 0; k < 9; ++k) assert_near(s.inertia.m[k / 3][k % 3], inertia.m[k / 3][k % 3], 1e-14);
        vy_world_destroy(world);
    }
}

typedef struct momentum {
    vec3 linear, angular; // about the origin
} momentum;

static void add_momentum(const body_state *s, double mass, mat3 inertia, momentum *m)
{
    const vec3 p = vec3_scale(mass, s->velocity);
    m->linear = vec3_add(m->linear, p);
    m->angular = vec3_add(m->angular, quat_rotate(s->attitude, mat3_mul_vec(inertia, s->rate)));
    m->angular = vec3_add(m->angular, vec3_cross(s->position, p));
}

// Of everything that moves by itself.
static momentum momentum_of(const vy_world *world)
{
    momentum m = {{0, 0, 0}, {0, 0, 0}};
    for (uint32_t i = 0; i < world->model.drone_count; ++i) {
        if (world->model.drones[i].holder == HELD_BY_CARRIER) continue;
        const multirotor_params *p = &world->model.params[i].plant;
        add_momentum(&world->drones[i].body, p->effects.mass, p->body.inertia, &m);
    }
    return m;
}

// A tumbling carrier with two loads; `attach` and `drop` are of the first.
static vy_world *tumbling(random_source *r, double attach, double drop)
{
    vy_world *world = space_for(0.0);
    vy_drone_def carrier = passive_body(), load = passive_body();
    carrier.attitude = some_attitude(r);
    carrier.velocity = some_vector(r, 3.0);
    carrier.rate = some_vector(r, 2.0);
    carrier.vehicle.centre_of_mass = some_vector(r, 0.05);
    load.vehicle.mass = random_in(r, 0.1, 2.0);
    vy_payload_def def = vy_default_payload_def(), other;
    def.position = some_vector(r, 0.5);
    def.attitude = some_attitude(r);
    def.attach = attach;
    def.drop = drop;
    load.velocity = some_vector(r, 3.0);
    load.rate = some_vector(r, 2.0);
    load.attitude = some_attitude(r);
    load.position = vec3_add(carrier.position, some_vector(r, 0.05));
    def.reach = 2.0;
    assert_int_equal(vy_world_add_drone(world, &carrier, &def.carrier, NULL), VY_OK);
    def.load = add_load(world, &load);
    other = vy_default_payload_def();
    other.carrier = def.carrier;
    other.position = some_vector(r, 0.5);
    load.vehicle.mass = 0.3;
    other.load = add_load(world, &load);
    vy_error err = {0};
    if (vy_world_add_payload(world, &def, &err) != VY_OK) fail_msg("%s", err.text);
    assert_int_equal(vy_world_add_payload(world, &other, NULL), VY_OK);
    return world;
}

static void assert_kept(momentum a, momentum b, double tolerance)
{
    const double size = 1.0 + vec3_length(a.linear) + vec3_length(a.angular);
    assert_vec_near(b.linear, a.linear, tolerance * size);
    assert_vec_near(b.angular, a.angular, tolerance * size);
}

// Dropping and taking up, at random attitudes, places and spins: momentum stays to round-off, and over the
// flight around it to what RK4 can do.
static void momentum_stays(void **unused)
{
    (void)unused;
    random_source r = {22};
    for (int n = 0; n < 60; ++n) {
        const int taken = n % 2;
        vy_world *world = taken ? tumbling(&r, 0.05, 9.0) : tumbling(&r, 0.0, 0.05);
        const momentum start = momentum_of(world);
        vy_world_advance(world, 50);
        const momentum before = momentum_of(world);
        const uint64_t carried = world->payloads[0].carried;
        world->state->tick += 1; // the event alone, without the step around it
        vy_payload_stage(world);
        world->state->tick -= 1;
        assert_true(world->payloads[0].carried != carried && world->payloads[0].missed == 0);
        assert_kept(before, momentum_of(world), 4e-15);
        vy_world_advance(world, 50);
        assert_kept(start, momentum_of(world), 1e-9);
        vy_world_destroy(world);
    }
}

// While carried, the load keeps its place and moves as a point of the carrier does.
static void loads_keep_their_place(void **unused)
{
    (void)unused;
    random_source r = {23};
    vy_world *world = tumbling(&r, 0.0, 9.0);
    const vec3 wanted = vec3_sub(world->drones[1].body.position, world->drones[2].body.position);
    const double apart = vec3_length(wanted);
    for (int n = 0; n < 200; ++n) {
        const vec3 before = world->drones[1].body.position;
        vy_world_step(world);
        const body_state *a = &world->drones[1].body, *b = &world->drones[2].body;
        assert_near(vec3_length(vec3_sub(a->position, b->position)), apart, 1e-13);
        // The mean of the velocities at both ends, up to h^2.
        assert_vec_near(vec3_sub(a->position, before), vec3_scale(0.001, a->velocity), 1e-5);
    }
    vy_world_destroy(world);
}

// In hover on fixed motors, letting go of a load straight below lifts by (m1 + m2) / m1 - 1 of g, and the
// load falls.
static void a_drop_lifts_the_drone(void **unused)
{
    (void)unused;
    vy_world *world = space_for(9.80665);
    vy_drone_def drone = quiet_drone(), load = passive_body();
    load.vehicle.mass = 0.01;
    load.vehicle.inertia = (vy_mat3){{{1e-6, 0, 0}, {0, 1e-6, 0}, {0, 0, 1e-6}}};
    drone.vehicle.drag_linear = (vy_vec3){0, 0, 0};
    const double whole = drone.vehicle.mass + load.vehicle.mass;
    drone.rotor_speed *= sqrt(whole / drone.vehicle.mass);
    vy_payload_def def = vy_default_payload_def();
    def.position = (vy_vec3){0, 0, -0.04};
    def.drop = 0.5;
    assert_int_equal(vy_world_add_drone(world, &drone, &def.carrier, NULL), VY_OK);
    def.load = add_load(world, &load);
    assert_int_equal(vy_world_add_payload(world, &def, NULL), VY_OK);
    vy_world_advance(world, 500);
    assert_near(state_of(world, 0).velocity.z, 0.0, 1e-12);
    assert_near(state_of(world, 0).position.z - state_of(world, 1).position.z,
                0.04 * drone.vehicle.mass / whole, 1e-12);
    vy_world_advance(world, 100);
    assert_near(state_of(world, 0).velocity.z, 0.1 * 9.80665 * (whole / drone.vehicle.mass - 1.0), 1e-12);
    assert_near(state_of(world, 1).velocity.z, -0.1 * 9.80665, 1e-12);
    vy_world_destroy(world);
}

// A snapshot knows what is carried: from before a drop to after it and back again.
static void snapshots_know_the_load(void **unused)
{
    (void)unused;
    random_source r = {24};
    vy_world *world = tumbling(&r, 0.0, 0.1);
    const size_t size = vy_world_state_size(world);
    void *before = malloc(size), *after = malloc(size);
    vy_world_advance(world, 60);
    vy_world_save(world, before);
    vy_world_advance(world, 60);
    vy_world_save(world, after);
    vy_world_advance(world, 60);
    const uint64_t hash = vy_world_hash(world);
    assert_int_equal(vy_world_restore(world, before, size, NULL), VY_OK);
    vy_world_advance(world, 120);
    assert_true(vy_world_hash(world) == hash);
    assert_int_equal(vy_world_restore(world, before, size, NULL), VY_OK);
    assert_int_equal(vy_world_restore(world, after, size, NULL), VY_OK);
    vy_world_advance(world, 60);
    assert_true(vy_world_hash(world) == hash);
    free(before);
    free(after);
    vy_world_destroy(world);
}

// What is not within reach stays where it is, and that is known.
static void what_is_far_is_missed(void **unused)
{
    (void)unused;
    vy_world *world = space_for(9.80665);
    vy_drone_def drone = quiet_drone(), load = passive_body();
    load.position = (vy_vec3){1.0, 0.0, 1.0};
    vy_payload_def def = vy_default_payload_def();
    def.attach = 0.1;
    assert_int_equal(vy_world_add_drone(world, &drone, &def.carrier, NULL), VY_OK);
    def.load = add_load(world, &load);
    assert_int_equal(vy_world_add_payload(world, &def, NULL), VY_OK);
    vy_world_advance(world, 200);
    vy_payload_state s;
    assert_int_equal(vy_world_read_payload(world, 0, &s), VY_OK);
    assert_true(!s.carried && s.missed && s.mass == drone.vehicle.mass);
    assert_near(state_of(world, 1).velocity.z, -0.2 * 9.80665, 1e-12);
    assert_int_equal(vy_world_read_payload(world, 1, &s), VY_NOT_FOUND);
    assert_int_equal(vy_world_payload_count(world), 1);
    vy_world_destroy(world);
}

// --- by a controller

typedef struct dropper {
    uint64_t at, drop; // from this tick on, these bits
} dropper;

static void let_go(void *self, const vy_samples *samples, vy_intent *intent)
{
    const dropper *d = self;
    intent->rung = VY_RUNG_MOTORS;
    for (int i = 0; i < 4; ++i) intent->motors[i] = 0.6;
    if (samples->tick >= d->at) intent->drop = d->drop;
}

enum { LOADS = 3, WHEN = 250 };

// A drone with three loads, the last two of which it may let go; the second goes at `drop` by the clock. A
// fault of commands may stand in the way.
static vy_world *courier(dropper *how, double drop, const vy_fault_def *fault)
{
    vy_world_def wd = vy_default_world_def();
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
    vy_drone_def drone = quiet_drone(), load = passive_body();
    drone.controller.kind = VY_CONTROLLER_CALLBACK;
    drone.controller.period = 0.002;
    drone.controller.call = let_go;
    drone.controller.self = how;
    load.vehicle.mass = 0.005;
    load.vehicle.inertia = (vy_mat3){{{1e-6, 0, 0}, {0, 1e-6, 0}, {0, 0, 1e-6}}};
    vy_payload_def defs[LOADS];
    vy_drone_id carrier;
    assert_int_equal(vy_world_add_drone(world, &drone, &carrier, NULL), VY_OK);
    for (int k = 0; k < LOADS; ++k) {
        defs[k] = vy_default_payload_def();
        defs[k].load = add_load(world, &load);
        defs[k].carrier = carrier;
        defs[k].position = (vy_vec3){0.02 * k, 0.0, -0.03};
        defs[k].release = k > 0;
        if (k == 1) defs[k].drop = drop;
    }
    if (fault != NULL) assert_int_equal(vy_world_add_fault(world, fault, NULL), VY_OK);
    for (int k = 0; k < LOADS; ++k) assert_int_equal(vy_world_add_payload(world, &defs[k], NULL), VY_OK);
    return world;
}

static int carried(const vy_world *world, uint32_t k)
{
    vy_payload_state s;
    assert_int_equal(vy_world_read_payload(world, k, &s), VY_OK);
    return s.carried;
}

// What a controller lets go is let go as by the clock at the end of its step, to the bit; a snapshot of the
// moment between its reply and the drop knows of it.
static void a_controllers_drop_is_the_clocks(void **unused)
{
    (void)unused;
    dropper never = {0, 0}, once = {WHEN, 2};
    vy_world *clock = courier(&never, 1e-3 * WHEN, NULL), *world = courier(&once, (double)INFINITY, NULL);
    const size_t size = vy_world_state_size(world);
    void *between = malloc(size);
    vy_world_advance(clock, WHEN);
    vy_world_advance(world, WHEN);
    assert_true(carried(world, 1) && carried(clock, 1));
    vy_world_save(world, between);
    vy_world_step(clock);
    vy_world_step(world);
    assert_true(!carried(world, 1) && carried(world, 0) && carried(world, 2) && !carried(clock, 1));
    vy_world_advance(clock, 200);
    vy_world_advance(world, 200);
    for (uint32_t i = 0; i <= LOADS; ++i)
        assert_memory_equal(&world->drones[i].body, &clock->drones[i].body, sizeof(body_state));
    const uint64_t hash = vy_world_hash(world);
    assert_int_equal(vy_world_restore(world, between, size, NULL), VY_OK);
    vy_world_advance(world, 201);
    assert_true(vy_world_hash(world) == hash);
    free(between);
    vy_world_destroy(clock);
    vy_world_destroy(world);
}

// Two at once; one that it may not let go, or that is not there, is no command and ends the run.
static void a_controller_drops_what_it_may(void **unused)
{
    (void)unused;
    dropper both = {WHEN, 6};
    vy_world *world = courier(&both, (double)INFINITY, NULL);
    vy_world_advance(world, WHEN + 100);
    assert_true(carried(world, 0) && !carried(world, 1) && !carried(world, 2));
    assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_NONE);
    vy_world_destroy(world);
    const uint64_t wrong[] = {1, 8, (uint64_t)1 << 63};
    for (int n = 0; n < 3; ++n) {
        dropper bad = {WHEN, wrong[n]};
        world = courier(&bad, (double)INFINITY, NULL);
        vy_world_advance(world, WHEN + 100);
        assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_COMMAND);
        assert_int_equal(vy_world_failure(world).tick, WHEN);
        for (uint32_t k = 0; k < LOADS; ++k) assert_true(carried(world, k));
        vy_world_destroy(world);
    }
}

// Lost commands drop nothing; late ones drop late.
static void faults_of_commands_are_faults_of_drops(void **unused)
{
    (void)unused;
    dropper once = {WHEN, 4};
    vy_fault_def fault = vy_default_fault_def();
    fault.kind = VY_FAULT_COMMAND_LOSS;
    fault.size = 1.0;
    fault.duration = 0.3;
    vy_world *world = courier(&once, (double)INFINITY, &fault);
    vy_world_advance(world, 300);
    assert_true(carried(world, 2));
    vy_world_advance(world, 2);
    assert_false(carried(world, 2)); // the first reply that arrives says so still
    vy_world_destroy(world);
    fault.kind = VY_FAULT_COMMAND_DELAY;
    fault.size = 0.02;
    fault.duration = (double)INFINITY;
    world = courier(&once, (double)INFINITY, &fault);
    vy_world_advance(world, WHEN + 20);
    assert_true(carried(world, 2));
    vy_world_step(world);
    assert_false(carried(world, 2));
    vy_world_destroy(world);
}

static void bad_payloads_are_refused(void **unused)
{
    (void)unused;
    vy_world *world = space_for(9.80665);
    const vy_drone_def drone = quiet_drone(), load = passive_body();
    vy_payload_def good = vy_default_payload_def();
    vy_drone_id second;
    assert_int_equal(vy_world_add_drone(world, &drone, &good.carrier, NULL), VY_OK);
    good.load = add_load(world, &load);
    assert_int_equal(vy_world_add_drone(world, &drone, &second, NULL), VY_OK);
    vy_payload_def bad[] = {good, good, good, good, good, good, good, good, good};
    bad[0].load = vy_world_drone_body(world, good.carrier);
    bad[1].load = vy_world_drone_body(world, second); // it has rotors
    bad[2].drop = 0.0;
    bad[3].position.x = NOT_A_NUMBER;
    bad[4].reach = -1.0;
    bad[5].cookie = 0;
    bad[6].attitude = (vy_quat){0, 0, 0, 0};
    bad[7].position = (vy_vec3){1e6, -1e6, 1e6}; // the inertia of both has no room for the drone's own
    bad[8].attach = 1.0;
    bad[8].reach = 1e9; // so could the one that is taken up
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i)
        assert_int_equal(vy_world_add_payload(world, &bad[i], NULL), VY_BAD_VALUE);
    vy_payload_def stranger = good;
    stranger.load = VY_NULL_BODY;
    assert_int_equal(vy_world_add_payload(world, &stranger, NULL), VY_NOT_FOUND);
    assert_int_equal(vy_world_add_payload(world, &good, NULL), VY_OK);
    assert_int_equal(vy_world_add_payload(world, &good, NULL), VY_BAD_VALUE); // it is a load already
    assert_int_equal(vy_world_add_drone(world, &drone, NULL, NULL), VY_BAD_STATE);
    vy_world_step(world);
    assert_int_equal(vy_world_add_payload(world, &good, NULL), VY_BAD_STATE);
    vy_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_is_the_sum_of_its_points),
        cmocka_unit_test(momentum_stays),
        cmocka_unit_test(loads_keep_their_place),
        cmocka_unit_test(a_drop_lifts_the_drone),
        cmocka_unit_test(snapshots_know_the_load),
        cmocka_unit_test(what_is_far_is_missed),
        cmocka_unit_test(a_controllers_drop_is_the_clocks),
        cmocka_unit_test(a_controller_drops_what_it_may),
        cmocka_unit_test(faults_of_commands_are_faults_of_drops),
        cmocka_unit_test(bad_payloads_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
