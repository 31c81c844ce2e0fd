// test_body.c - bodies that are no drones: closed forms, the same bits as a drone without rotors, their size,
// snapshots, logs.
#include "base/math.h"
#include "flight.h"
#include "motion.h"
#include "volery/payload.h"
#include "volery/record.h"
#include "volery/scenario.h"
#include "world/world_impl.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define G 9.80665

static vy_world *world_with(vy_world_def def)
{
    vy_world *world = NULL;
    vy_error err = {0};
    if (vy_world_create(&def, &world, &err) != VY_OK) fail_msg("%s", err.text);
    return world;
}

static vy_body_id add_body(vy_world *world, const vy_world_body_def *def)
{
    vy_body_id id;
    vy_error err = {0};
    if (vy_world_add_body(world, def, &id, &err) != VY_OK) fail_msg("%s", err.text);
    return id;
}

static vy_world_body_state body_of(const vy_world *world, vy_body_id id)
{
    vy_world_body_state s;
    assert_int_equal(vy_world_read_body(world, id, &s), VY_OK);
    return s;
}

// A box that lies askew, with air resistance of every kind.
static vy_world_body_def crate(void)
{
    vy_world_body_def def = vy_default_world_body_def();
    def.mass = 0.3;
    def.inertia = (vy_mat3){{{2e-3, 1e-4, 0}, {1e-4, 3e-3, -2e-4}, {0, -2e-4, 4e-3}}};
    def.position = (vy_vec3){0.02, -0.01, 0.6};
    def.velocity = (vy_vec3){0.5, 0.2, -0.1};
    def.attitude = (vy_quat){0.8, 0.3, -0.4, 0.2};
    def.rate = (vy_vec3){1.0, -2.0, 3.0};
    def.drag_linear = (vy_vec3){0.01, 0.02, 0.03};
    def.area = 0.02;
    def.cd = 1.1;
    def.cl = 0.2;
    def.pressure_centre = (vy_vec3){0.01, 0.0, 0.02};
    def.volume = 1e-3;
    def.damping_area = (vy_vec3){1e-5, 2e-5, 3e-5};
    def.damping = (vy_vec3){1e-5, 1e-5, 2e-5};
    def.dipole = (vy_vec3){0.0, 0.1, 0.05};
    def.light_area = 0.03;
    def.solid.kind = VY_COLLIDER_BOX;
    def.solid.size = (vy_vec3){0.1, 0.15, 0.2};
    return def;
}

// The same as a drone that has no rotors, sensors or controller.
static vy_drone_def crate_as_drone(const vy_world_body_def *b)
{
    vy_drone_def def = passive_body();
    def.imu.period = def.mocap.period = 0.0;
    def.rotor_speed = 0.0;
    def.position = b->position;
    def.velocity = b->velocity;
    def.attitude = b->attitude;
    def.rate = b->rate;
    def.solid = b->solid;
    vy_vehicle_def *v = &def.vehicle;
    v->mass = b->mass;
    v->inertia = b->inertia;
    v->drag_linear = b->drag_linear;
    v->area = b->area;
    v->cd = b->cd;
    v->cl = b->cl;
    v->pressure_centre = b->pressure_centre;
    v->centre_of_mass = (vy_vec3){0, 0, 0};
    v->volume = b->volume;
    v->damping_area = b->damping_area;
    v->damping = b->damping;
    v->dipole = b->dipole;
    v->light_area = b->light_area;
    v->torque_ref = b->torque_ref;
    return def;
}

// m v' = m g - k v^2: v = u tanh(g t / u), and the way is u^2 / g log cosh(g t / u), with u = sqrt(m g / k).
static void falls_to_its_terminal_speed(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.environment.nap.strict = 1;
    wd.environment.atmosphere.mode = VY_ATMOSPHERE_STANDARD;
    vy_world *world = world_with(wd);
    vy_world_body_def def = vy_default_world_body_def();
    def.mass = 0.5;
    def.area = 0.1;
    def.cd = 1.2;
    def.position.z = 1000.0;
    def.attitude = (vy_quat){0.5, -0.3, 0.7, 0.2};
    const vy_body_id id = add_body(world, &def);
    const double k = 0.5 * air_at(&world->model.env.air, 0.0).density * def.cd * def.area,
                 u = sqrt(def.mass * G / k);
    for (int i = 1; i <= 20; ++i) {
        (void)vy_world_advance(world, 250);
        const double t = 0.25 * i;
        const vy_world_body_state s = body_of(world, id);
        assert_near(-s.velocity.z, u * tanh(G * t / u), 1e-9);
        assert_near(1000.0 - s.position.z, u * u / G * log(cosh(G * t / u)), 1e-9);
    }
    assert_near(-body_of(world, id).velocity.z, u, 1e-3); // it has got there
    vy_energy e;
    assert_int_equal(vy_world_read_energy(world, id, &e), VY_OK);
    assert_near(e.kinetic, 0.5 * def.mass * u * u, 1e-2);
    vy_world_destroy(world);
}

// Without forces, kinetic energy and angular momentum stay, about any axis and from any attitude.
static void tumbles_with_constant_energy(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.environment.gravity.uniform.z = 0.0;
    vy_world *world = world_with(wd);
    vy_world_body_def def = vy_default_world_body_def();
    def.inertia = (vy_mat3){{{0.02, 0.001, 0}, {0.001, 0.03, 0}, {0, 0, 0.04}}};
    def.attitude = quat_normalize((vy_quat){0.3, 0.5, -0.6, 0.4});
    def.rate = (vy_vec3){0.3, 6.0, 0.2};
    const vy_body_id id = add_body(world, &def);
    vy_world_track_energy(world);
    vy_energy first, e;
    assert_int_equal(vy_world_read_energy(world, id, &first), VY_OK);
    const vec3 momentum = quat_rotate(def.attitude, mat3_mul_vec(def.inertia, def.rate));
    for (int i = 0; i < 10; ++i) {
        (void)vy_world_advance(world, 1000);
        assert_int_equal(vy_world_read_energy(world, id, &e), VY_OK);
        assert_near(e.kinetic, first.kinetic, 1e-9 * first.kinetic);
        const vy_world_body_state s = body_of(world, id);
        const vec3 now = quat_rotate(s.attitude, mat3_mul_vec(def.inertia, s.rate));
        assert_vec_near(now, momentum, 1e-9);
    }
    vy_world_destroy(world);
}

// Surroundings of the next test, each with something that only some have.
enum { QUIET, STORM, WAKES, TOUCHING, SLEEPING, HELD, CARRIED, SIMPLE, LIE, EULER, PLANET, CASES };

static vy_world_def surroundings_of(int kind)
{
    vy_world_def wd = vy_default_world_def();
    vy_environment_def *env = &wd.environment;
    env->atmosphere.mode = VY_ATMOSPHERE_LAYERED;
    env->magnetic_field = (vy_vec3){2e-5, 0.0, -4e-5};
    env->sunlight = (vy_vec3){1e-6, 0.0, -4e-6};
    env->wind.constant = (vy_vec3){1.0, 0.3, 0.0};
    if (kind == STORM) env->wind.turbulence.wind20 = 8.0;
    if (kind == WAKES) env->wakes.on = 1;
    if (kind == TOUCHING || kind == SLEEPING) {
        wd.contacts.on = 1;
        wd.contacts.time_to_sleep = kind == SLEEPING ? 0.1 : 0.0;
    }
    if (kind == SIMPLE) env->physics.engine = VY_ENGINE_SIMPLE;
    if (kind == LIE) env->physics.integrator = VY_INTEGRATOR_LIE_MIDPOINT;
    if (kind == EULER) env->physics.integrator = VY_INTEGRATOR_EULER;
    if (kind == PLANET) env->planet = (vy_planet_def){.radius = 1000.0, .rate = 1e-3};
    return wd;
}

// A drone above, and the crate below it: as a drone without rotors, or as what it is.
static uint64_t fly_crate(int kind, int as_body)
{
    vy_world *world = world_with(surroundings_of(kind));
    vy_drone_def drone = vy_default_drone_def();
    vy_world_body_def box = crate();
    if (kind == WAKES) drone.vehicle.rotor_air.radius = 0.03;
    if (kind == SLEEPING) {
        box.velocity = box.rate = (vy_vec3){0, 0, 0};
        box.attitude = (vy_quat){1, 0, 0, 0};
        box.position.z = 0.1;
    }
    const double up = kind == PLANET ? 1010.0 : 0.0;
    drone.position.z += up;
    box.position.z += up;
    vy_error err = {0};
    assert_int_equal(vy_world_add_drone(world, &drone, NULL, &err), VY_OK);
    if (as_body) {
        (void)add_body(world, &box);
    } else {
        const vy_drone_def def = crate_as_drone(&box);
        assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_OK);
    }
    const vy_obstacle_def ground = vy_default_obstacle_def();
    if (kind == TOUCHING || kind == SLEEPING)
        assert_int_equal(vy_world_add_obstacle(world, &ground, &err), VY_OK);
    vy_disturbance_def d = vy_default_disturbance_def();
    d.kind = VY_DISTURBANCE_NOISE;
    d.force = (vy_vec3){1e-3, 2e-3, 1e-3};
    d.torque = (vy_vec3){1e-5, 1e-5, 2e-5};
    if (kind != SLEEPING) assert_int_equal(vy_world_add_disturbance(world, &d, &err), VY_OK);
    vy_joint_def cable = vy_default_joint_def();
    cable.kind = VY_JOINT_CABLE;
    cable.length = 0.45;
    cable.body_a = vy_world_body(world, 0);
    cable.body_b = vy_world_body(world, 1);
    if (kind == HELD && vy_world_add_joint(world, &cable, NULL, &err) != VY_OK) fail_msg("%s", err.text);
    vy_payload_def payload = vy_default_payload_def();
    payload.carrier = vy_world_drone(world, 0);
    payload.load = vy_world_body(world, 1);
    payload.position.z = -0.4;
    payload.attach = 0.1;
    payload.drop = 0.5;
    payload.reach = 1.0;
    if (kind == CARRIED && vy_world_add_payload(world, &payload, &err) != VY_OK) fail_msg("%s", err.text);
    const uint64_t motion = motion_hash(world, 1200);
    vy_certificate c;
    assert_int_equal(vy_world_certificate(world, vy_world_body(world, 1), &c), VY_OK);
    assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_NONE);
    if (kind == SLEEPING) assert_true(body_of(world, vy_world_body(world, 1)).asleep);
    if (kind == TOUCHING) assert_true(body_of(world, vy_world_body(world, 1)).contacts > 0);
    vy_world_destroy(world);
    return motion;
}

// A body flies, touches, sleeps, hangs and is carried with the bits of a drone without rotors: its noise,
// gusts and contacts are those of its number.
static void moves_as_a_drone_without_rotors(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < CASES; ++kind) {
        if (fly_crate(kind, 0) != fly_crate(kind, 1)) fail_msg("surroundings %d", kind);
    }
    assert_true(fly_crate(QUIET, 1) != fly_crate(STORM, 1) && fly_crate(WAKES, 1) != fly_crate(QUIET, 1));
}

// What one more body adds to the state of a world with contacts and turbulence.
static size_t state_of_a_body(double time_to_sleep)
{
    size_t sizes[2];
    for (uint32_t n = 1; n <= 2; ++n) {
        vy_world_def wd = vy_default_world_def();
        wd.contacts.on = 1;
        wd.contacts.time_to_sleep = time_to_sleep;
        wd.environment.wind.turbulence.wind20 = 5.0;
        vy_world *world = world_with(wd);
        const vy_world_body_def def = crate();
        for (uint32_t i = 0; i < n; ++i) (void)add_body(world, &def);
        sizes[n - 1] = vy_world_state_size(world);
        vy_world_destroy(world);
    }
    return sizes[1] - sizes[0];
}

// Gravity, drag, wind, the policy's account and contacts take 360 bytes of at most 400; a body that may sleep
// has 64 more.
static void its_state_is_small(void **unused)
{
    (void)unused;
    assert_int_equal(state_of_a_body(0.0), 360);
    assert_int_equal(state_of_a_body(0.5), 360 + 64);
    assert_true(sizeof(body_model) < 1000);
}

// A thousand bodies take what they need and no vehicle's worth.
static void a_thousand_take_little_memory(void **unused)
{
    (void)unused;
    enum { MANY = 1000 };
    vy_world_def wd = vy_default_world_def();
    wd.contacts.on = 1;
    vy_world *none = world_with(wd), *many = world_with(wd);
    vy_world_body_def def = crate();
    for (int i = 0; i < MANY; ++i) {
        def.position = (vy_vec3){i % 10, i / 10 % 10, 1 + i / 100};
        (void)add_body(many, &def);
    }
    assert_true((vy_world_memory(many) - vy_world_memory(none)) / MANY < 2200);
    (void)vy_world_advance(many, 5);
    assert_int_equal(vy_world_body_count(many), MANY);
    vy_world_destroy(many);
    vy_world_destroy(none);
}

// A snapshot brings bodies back to the bit, and none is taken that a body cannot have.
static void snapshots_hold_bodies(void **unused)
{
    (void)unused;
    vy_world_def wd = surroundings_of(TOUCHING);
    wd.environment.wind.turbulence.wind20 = 5.0;
    vy_world *worlds[2];
    for (int k = 0; k < 2; ++k) {
        worlds[k] = world_with(wd);
        const vy_drone_def drone = vy_default_drone_def();
        const vy_obstacle_def ground = vy_default_obstacle_def();
        vy_world_body_def def = crate();
        assert_int_equal(vy_world_add_drone(worlds[k], &drone, NULL, NULL), VY_OK);
        (void)add_body(worlds[k], &def);
        def.position.z += 0.4;
        (void)add_body(worlds[k], &def);
        assert_int_equal(vy_world_add_obstacle(worlds[k], &ground, NULL), VY_OK);
    }
    (void)vy_world_advance(worlds[0], 700);
    const size_t size = vy_world_state_size(worlds[0]);
    unsigned char *block = malloc(size);
    assert_non_null(block);
    vy_world_save(worlds[0], block);
    assert_int_equal(vy_world_restore(worlds[1], block, size, NULL), VY_OK);
    (void)vy_world_advance(worlds[0], 500);
    (void)vy_world_advance(worlds[1], 500);
    assert_true(vy_world_hash(worlds[0]) == vy_world_hash(worlds[1]));
    assert_true(vy_world_state_hash(worlds[0]) == vy_world_state_hash(worlds[1]));

    const size_t at = (size_t)((const char *)&worlds[1]->passive[1] - (const char *)worlds[1]->state);
    vy_error err;
    uint64_t value = (uint64_t)1 << 63;
    memcpy(block + at + offsetof(body_block, effects), &value, sizeof value);
    assert_int_equal(vy_world_restore(worlds[1], block, size, &err), VY_BAD_VALUE);
    assert_string_equal(err.text, "snapshot: body 1: invalid effects");
    const size_t later = vy_world_state_size(worlds[0]);
    block = realloc(block, later);
    assert_non_null(block);
    vy_world_save(worlds[0], block);
    const double nan = (double)NAN;
    memcpy(block + at + offsetof(body_block, gust), &nan, sizeof nan);
    assert_int_equal(vy_world_restore(worlds[1], block, later, &err), VY_BAD_VALUE);
    assert_string_equal(err.text, "snapshot: body 1: invalid value");
    free(block);
    for (int k = 0; k < 2; ++k) vy_world_destroy(worlds[k]);
}

// What is not finite ends the run and is named.
static void failures_name_the_body(void **unused)
{
    (void)unused;
    vy_world *world = world_with(vy_default_world_def());
    const vy_drone_def drone = vy_default_drone_def();
    const vy_world_body_def def = crate();
    assert_int_equal(vy_world_add_drone(world, &drone, NULL, NULL), VY_OK);
    (void)add_body(world, &def);
    (void)add_body(world, &def);
    (void)vy_world_advance(world, 10);
    world->passive[1].body.velocity.y = 1e120;
    assert_true(vy_world_step(world) & VY_EVENT_FAILED);
    const vy_failure f = vy_world_failure(world);
    assert_int_equal(f.reason, VY_FAILURE_NOT_FINITE);
    assert_int_equal(f.body, 2);
    assert_string_equal(f.what, "body.position");
    char text[200];
    vy_failure_print(&f, "crate", text, sizeof text);
    assert_non_null(strstr(text, "crate"));
    vy_world_destroy(world);
}

static void bad_bodies_are_refused(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    vy_world *world = world_with(wd);
    const vy_drone_def drone = vy_default_drone_def();
    const struct {
        const char *text;
        vy_world_body_def def;
    } bad[] = {
        {"body: start from vy_default_world_body_def()", {0}},
        {"body.mass must be", {.mass = -1.0}},
        {"body.inertia must be", {.inertia = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 3}}}}},
        {"body.cd must be", {.cd = -1.0}},
        {"body.position must be", {.position = {(double)NAN, 0, 0}}},
        {"body.rate must be", {.rate = {0, (double)INFINITY, 0}}},
        {"body.attitude must", {.attitude = {0, 0, 0, 0}}},
        {"body.crash", {.crash = {.speed = -1.0}}},
        {"body.solid must have bounds", {.solid = {.kind = VY_COLLIDER_PLANE}}},
    };
    const uint64_t hash = vy_world_state_hash(world);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        vy_world_body_def def = vy_default_world_body_def();
        vy_error err = {0};
        if (i == 0) def.cookie = 0;
        if (i == 1) def.mass = bad[i].def.mass;
        if (i == 2) def.inertia = bad[i].def.inertia;
        if (i == 3) def.cd = bad[i].def.cd;
        if (i == 4) def.position = bad[i].def.position;
        if (i == 5) def.rate = bad[i].def.rate;
        if (i == 6) def.attitude = bad[i].def.attitude;
        if (i == 7) def.crash = bad[i].def.crash;
        if (i == 8) def.solid.kind = bad[i].def.solid.kind;
        vy_body_id id = {77};
        assert_int_equal(vy_world_add_body(world, &def, &id, &err), VY_BAD_VALUE);
        if (strncmp(err.text, bad[i].text, strlen(bad[i].text)) != 0) fail_msg("%s", err.text);
        assert_true(id.bits == 77 && vy_world_state_hash(world) == hash);
    }
    // Drones first, then bodies, then obstacles, then steps.
    const vy_world_body_def good = crate();
    const vy_obstacle_def ground = vy_default_obstacle_def();
    (void)add_body(world, &good);
    assert_int_equal(vy_world_add_drone(world, &drone, NULL, NULL), VY_BAD_STATE);
    assert_int_equal(vy_world_add_obstacle(world, &ground, NULL), VY_OK);
    assert_int_equal(vy_world_add_body(world, &good, NULL, NULL), VY_BAD_STATE);
    (void)vy_world_step(world);
    assert_int_equal(vy_world_add_body(world, &good, NULL, NULL), VY_BAD_STATE);
    vy_world_body_state s = {.asleep = 7};
    assert_int_equal(vy_world_read_body(world, VY_NULL_BODY, &s), VY_NOT_FOUND);
    assert_int_equal(vy_world_read_body(world, (vy_body_id){2}, &s), VY_NOT_FOUND);
    assert_true(s.asleep == 7 && vy_world_body(world, 1).bits == 0);
    vy_world_destroy(world);
}

static const char text[] =
    "volery: 1\n"
    "duration: 0.5 s\n"
    "drones: [{name: alpha, vehicle: crazyflie2x}]\n"
    "terrain: {kind: plane}\n"
    "bodies:\n"
    "  - {name: crate, density: 200, shape: {kind: box, size: [0.2, 0.3, 0.4]}, "
    "position: [2, 0, 0.3], attitude: {roll: 20 deg}, crash: {speed: 1}}\n"
    "  - {name: ball, mass: 0.1, shape: {kind: sphere, radius: 0.1}, position: [3, 0, 1]}\n"
    "expect:\n"
    "  - {quantity: contacts, drone: crate, min: 1, at: end}\n"
    "  - {quantity: height, drone: ball, min: -0.01, at: end}\n";

// A scenario keeps its bodies as bodies: printed, read again, logged, replayed and exported under their
// names.
static void scenarios_and_logs_have_bodies(void **unused)
{
    (void)unused;
    vy_scenario *s = NULL, *again = NULL;
    assert_int_equal(vy_scenario_parse(text, strlen(text), "test", NULL, &s, NULL), VY_OK);
    assert_int_equal(s->drone_count, 1);
    assert_int_equal(s->body_count, 2);
    assert_string_equal(vy_scenario_name_of(s, 2), "ball");
    assert_null(vy_scenario_name_of(s, 3));
    char *printed = vy_scenario_print(s);
    assert_non_null(printed);
    assert_int_equal(vy_scenario_parse(printed, strlen(printed), "printed", NULL, &again, NULL), VY_OK);
    assert_true(vy_scenario_hash(s) == vy_scenario_hash(again) && again->body_count == 2);

    char path[] = "/tmp/test_body_XXXXXX";
    assert_true(close(mkstemp(path)) == 0);
    vy_world *world = NULL;
    vy_recorder *recorder = NULL;
    vy_expect_result results[2];
    assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
    assert_int_equal(vy_scenario_record(s, world, path, NULL, &recorder, NULL), VY_OK);
    vy_world_set_sink(world, vy_recorder_sink(recorder));
    vy_expect_begin(s, results);
    (void)vy_world_advance(world, vy_scenario_steps(s));
    vy_expect_feed(s, world, results);
    assert_true(results[0].met && results[1].met);
    char *told = vy_expect_print(s, 0, &results[0]);
    assert_non_null(strstr(told, "contacts of crate"));
    free(told);
    assert_true(body_of(world, vy_world_body(world, 1)).crashes > 0);
    assert_int_equal(vy_recorder_close(recorder, world, "completed", NULL), VY_OK);
    vy_world_set_sink(world, (vy_sink){.write = NULL});

    vy_log *log = NULL;
    assert_int_equal(vy_log_open(path, &log, NULL), VY_OK);
    const vy_log_info info = vy_log_get_info(log);
    assert_int_equal(info.drone_count, 1);
    assert_int_equal(info.body_count, 3);
    assert_string_equal(vy_log_name(log, 0), "alpha");
    assert_string_equal(vy_log_name(log, 1), "crate");
    assert_null(vy_log_name(log, 3));
    vy_world *fresh = NULL;
    vy_difference d;
    assert_int_equal(vy_scenario_build(again, &fresh, NULL), VY_OK);
    assert_int_equal(vy_log_replay(log, fresh, NULL, NULL, &d, NULL), VY_OK);
    assert_false(d.found);
    vy_export_def export = vy_default_export_def();
    export.body = 2;
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_int_equal(vy_log_export(log, &export, out, NULL), VY_OK);
    char line[4000] = "";
    rewind(out);
    assert_non_null(fgets(line, sizeof line, out));
    assert_non_null(strstr(line, "body.position.z"));
    assert_null(strstr(line, "imu"));
    fclose(out);
    vy_log_close(log);
    (void)unlink(path);
    vy_world_destroy(fresh);
    vy_world_destroy(world);
    free(printed);
    vy_scenario_destroy(again);
    vy_scenario_destroy(s);
}

// What only a drone has or does is not asked of a body.
static void scenarios_know_what_a_body_is(void **unused)
{
    (void)unused;
    static const struct {
        const char *more, *says;
    } bad[] = {
        {"faults: [{kind: motor_loss, drone: crate, start: 1}]\n",
         "crate is a body: it has nothing that breaks"},
        {"payloads: [{carrier: crate, load: ball}]\n", "crate is a body: it carries nothing"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        char whole[2000];
        snprintf(whole, sizeof whole, "%s%s", text, bad[i].more);
        vy_scenario *s = NULL;
        vy_diagnostics d;
        assert_int_not_equal(vy_scenario_parse(whole, strlen(whole), "test", NULL, &s, &d), VY_OK);
        assert_true(d.count > 0);
        int found = 0;
        for (int k = 0; k < d.count; ++k) found |= strcmp(d.items[k].text, bad[i].says) == 0;
        if (!found) fail_msg("%s", d.items[0].text);
        vy_diagnostics_destroy(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(falls_to_its_terminal_speed),     cmocka_unit_test(tumbles_with_constant_energy),
        cmocka_unit_test(moves_as_a_drone_without_rotors), cmocka_unit_test(its_state_is_small),
        cmocka_unit_test(a_thousand_take_little_memory),   cmocka_unit_test(snapshots_hold_bodies),
        cmocka_unit_test(failures_name_the_body),          cmocka_unit_test(bad_bodies_are_refused),
        cmocka_unit_test(scenarios_and_logs_have_bodies),  cmocka_unit_test(scenarios_know_what_a_body_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
