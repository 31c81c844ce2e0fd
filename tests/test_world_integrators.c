// test_world_integrators.c - the integrators of a world: their order, what they keep, and changing them in
// flight.
#include "check.h"
#include "scenes/scenes.h"
#include "volery/batch.h"
#include "volery/record.h"
#include "volery/scenario.h"
#include "world/state.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const vy_integrator all[] = {VY_INTEGRATOR_EULER, VY_INTEGRATOR_SEMI_IMPLICIT, VY_INTEGRATOR_RK4,
                                    VY_INTEGRATOR_LIE_MIDPOINT};
enum { ALL = sizeof all / sizeof all[0] };

static vy_world *new_world(const vy_world_def *def)
{
    vy_world *world = NULL;
    vy_error err = {0};
    if (vy_world_create(def, &world, &err) != VY_OK) fail_msg("%s", err.text);
    return world;
}

static vy_drone_id add(vy_world *world, const vy_drone_def *def)
{
    vy_drone_id id = {0};
    vy_error err = {0};
    if (vy_world_add_drone(world, def, &id, &err) != VY_OK) fail_msg("%s", err.text);
    return id;
}

static vy_drone_state read_first(const vy_world *world)
{
    vy_drone_state s;
    assert_int_equal(vy_world_read_drone(world, vy_world_drone(world, 0), &s), VY_OK);
    return s;
}

static vy_world_def strict_def(double dt, vy_integrator integrator)
{
    vy_world_def def = vy_default_world_def();
    def.dt = dt;
    def.environment.nap.strict = 1; // no decision of the policy between the steps compared
    def.environment.physics.integrator = integrator;
    return def;
}

/// A drone thrown askew and spinning: rotors that run up and run down, both kinds of drag, air that turns it,
/// gyroscopic rotors, a full inertia tensor.
static vy_drone_def thrown(void)
{
    vy_drone_def d = vy_default_drone_def();
    d.vehicle.inertia = (vy_mat3){{{1.5e-5, 2e-6, -1e-6}, {2e-6, 1.4e-5, 1.5e-6}, {-1e-6, 1.5e-6, 2.2e-5}}};
    d.vehicle.area = 0.01;
    d.vehicle.cd = 0.8;
    d.vehicle.cl = 0.1;
    d.vehicle.pressure_centre = (vy_vec3){1e-4, -2e-4, 3e-4};
    d.vehicle.damping = (vy_vec3){2e-6, 1e-6, 3e-6};
    d.vehicle.rotor_air.radius = 0.023;
    d.vehicle.rotor_air.inertia = 2e-8;
    d.vehicle.motor_lag = 0.05;
    d.imu.period = d.mocap.period = 0.0;
    d.controller.kind = VY_CONTROLLER_NONE;
    d.controller.start = (vy_intent){.rung = VY_RUNG_MOTORS, .motors = {0.7, 0.4, 0.65, 0.5}};
    d.velocity = (vy_vec3){3.0, -2.0, 4.0};
    d.attitude = (vy_quat){0.7, 0.3, -0.5, 0.4};
    d.rate = (vy_vec3){4.0, -6.0, 3.0};
    return d;
}

static vy_drone_state flown(double dt, vy_integrator integrator)
{
    vy_world_def def = strict_def(dt, integrator);
    def.environment.wind.constant = (vy_vec3){2.0, 1.0, -0.5};
    vy_world *world = new_world(&def);
    const vy_drone_def d = thrown();
    add(world, &d);
    vy_world_advance(world, (uint64_t)(0.25 / dt + 0.5));
    const vy_drone_state s = read_first(world);
    vy_world_destroy(world);
    return s;
}

// Each converges with its own order, in translation and in rotation alike.
static void orders_in_free_flight(void **unused)
{
    (void)unused;
    const vy_drone_state exact = flown(1.0 / 16384, VY_INTEGRATOR_RK4);
    for (int n = 0; n < ALL; ++n) {
        const double dt = all[n] == VY_INTEGRATOR_RK4 ? 1.0 / 256 : 1.0 / 2048;
        const vy_drone_state a = flown(dt, all[n]), b = flown(dt / 2, all[n]);
        const double errors[2][4] = {
            {check_distance(a.position, exact.position), check_distance(a.velocity, exact.velocity),
             check_angle(a.attitude, exact.attitude), check_distance(a.rate, exact.rate)},
            {check_distance(b.position, exact.position), check_distance(b.velocity, exact.velocity),
             check_angle(b.attitude, exact.attitude), check_distance(b.rate, exact.rate)}};
        print_message("%s: ", vy_integrator_name(all[n]));
        for (int k = 0; k < 4; ++k) {
            const double order = log2(errors[0][k] / errors[1][k]);
            print_message(" error %.1e, order %.2f;", errors[1][k], order);
            assert_near(order, vy_integrator_order(all[n]), 0.2);
        }
        print_message("\n");
    }
}

/// A body in empty space that nothing pushes.
static vy_drone_def brick(void)
{
    vy_drone_def d = vy_default_drone_def();
    d.vehicle.rotor_count = 0;
    d.vehicle.mass = 48.0;
    d.vehicle.inertia = (vy_mat3){{{2.08, 0.1, 0.0}, {0.1, 1.6, -0.05}, {0.0, -0.05, 0.8}}};
    d.vehicle.drag_linear = (vy_vec3){0.0, 0.0, 0.0};
    d.vehicle.torque_ref = 1.0;
    d.rotor_speed = 0.0;
    d.imu.period = d.mocap.period = 0.0;
    d.controller.kind = VY_CONTROLLER_NONE;
    d.attitude = (vy_quat){0.6, -0.2, 0.7, 0.3};
    d.rate = (vy_vec3){0.3, 6.0, 0.2};
    return d;
}

static vy_vec3 momentum_of(const vy_drone_def *d, const vy_drone_state *s)
{
    return quat_rotate(s->attitude, mat3_mul_vec(d->vehicle.inertia, s->rate));
}

// The requirements' six steps, once, by hand; and forward Euler's.
static void ruling_09_first_step_in_a_world(void **unused)
{
    (void)unused;
    const double h = 0.01, g = 9.80665;
    const vy_drone_def d = brick();
    const vy_quat q = quat_normalize(d.attitude);
    const vy_vec3 m = mat3_mul_vec(d.vehicle.inertia, d.rate);
    const vy_vec3 spun = mat3_mul_vec(mat3_inverse(d.vehicle.inertia), vec3_cross(m, d.rate));
    const vy_vec3 rate = vec3_add_scaled(d.rate, h, spun);
    for (int n = 0; n < 2; ++n) {
        const vy_world_def def = strict_def(h, all[n]);
        vy_world *world = new_world(&def);
        vy_drone_def moving = d;
        moving.vehicle.volume = moving.vehicle.cd = 0.0;
        moving.velocity = (vy_vec3){1.0, -2.0, 3.0};
        add(world, &moving);
        vy_world_step(world);
        const vy_drone_state s = read_first(world);
        const vy_vec3 v = {1.0, -2.0, 3.0 - h * g};
        assert_vec_near(s.velocity, v, 1e-15);
        assert_vec_near(s.position, vec3_add_scaled(d.position, h, n == 0 ? moving.velocity : v), 1e-15);
        assert_vec_near(s.rate, rate, 1e-14);
        const vy_vec3 w = n == 0 ? d.rate : rate;
        const vy_quat turn = quat_mul(q, quat_make(0.0, w.x, w.y, w.z));
        assert_near(check_angle(s.attitude, quat_normalize(quat_add_scaled(q, 0.5 * h, turn))), 0.0, 1e-14);
        vy_world_destroy(world);
    }
}

// A long free spin, 33 minutes at 10 ms: the Lie midpoint keeps energy and momentum to rounding, RK4 does
// not.
static void a_long_spin_keeps_energy_and_momentum(void **unused)
{
    (void)unused;
    const vy_drone_def d = brick();
    double drift[2][2];
    for (int n = 0; n < 2; ++n) {
        vy_world_def def = strict_def(0.01, n == 0 ? VY_INTEGRATOR_LIE_MIDPOINT : VY_INTEGRATOR_RK4);
        def.environment.gravity.uniform = (vy_vec3){0.0, 0.0, 0.0};
        def.environment.nap.strict = 0;
        vy_world *world = new_world(&def);
        add(world, &d);
        const vy_drone_state first = read_first(world);
        const vy_vec3 m = momentum_of(&d, &first);
        const double e = vec3_dot(first.rate, mat3_mul_vec(d.vehicle.inertia, first.rate));
        drift[n][0] = drift[n][1] = 0.0;
        for (int k = 0; k < 400; ++k) {
            vy_world_advance(world, 500);
            const vy_drone_state s = read_first(world);
            const double now = vec3_dot(s.rate, mat3_mul_vec(d.vehicle.inertia, s.rate));
            drift[n][0] = fmax(drift[n][0], fabs(now / e - 1.0));
            drift[n][1] = fmax(drift[n][1], check_distance(momentum_of(&d, &s), m) / vec3_length(m));
        }
        vy_world_destroy(world);
        print_message("%s: energy %.1e, momentum %.1e\n", n == 0 ? "lie-midpoint" : "rk4", drift[n][0],
                      drift[n][1]);
    }
    assert_true(drift[0][0] < 1e-12 && drift[0][1] < 1e-12);
    assert_true(drift[1][0] > 1e-9);
}

// A body on a throttled jet that lags: the engine `rigid` steps it as `strict` does, by every integrator.
static void jets_push_on_both_engines(void **unused)
{
    (void)unused;
    for (int n = 0; n < ALL; ++n) {
        vy_drone_state end[2];
        for (int k = 0; k < 2; ++k) {
            vy_world_def def = strict_def(1e-3, all[n]);
            def.environment.physics.engine = k == 0 ? VY_ENGINE_STRICT : VY_ENGINE_RIGID;
            vy_world *world = new_world(&def);
            vy_drone_def d = brick();
            d.vehicle.thruster_count = 1;
            d.vehicle.thrusters[0] = (vy_thruster_def){
                .position = {0.1, 0.2, 0.0}, .axis = {0.0, 0.0, 1.0}, .thrust_max = 900.0, .lag = 0.05};
            d.controller.start = (vy_intent){.rung = VY_RUNG_MOTORS, .motors = {0.8}};
            add(world, &d);
            vy_world_advance(world, 300);
            end[k] = read_first(world);
            vy_world_destroy(world);
        }
        assert_true(end[0].thruster_thrust[0] > 700.0);
        assert_memory_equal(&end[0].position, &end[1].position, sizeof end[0].position);
        assert_memory_equal(&end[0].rate, &end[1].rate, sizeof end[0].rate);
        assert_true(end[1].thruster_thrust[0] > 700.0);
    }
}

// ---- bodies on joints

/// A pendulum in a breeze with a damper, short and so quick, on its own axis spinning.
static vy_vec3 swung(double dt, vy_integrator integrator)
{
    vy_world_def def = strict_def(dt, integrator);
    def.environment.wind.constant = (vy_vec3){5.0, 2.0, 0.0};
    vy_world *world = new_world(&def);
    vy_drone_def d = brick();
    d.vehicle.mass = 0.01;
    d.vehicle.inertia = mat3_diag(2e-7, 3e-7, 4e-7);
    d.vehicle.cd = 1.0;
    d.vehicle.area = 4e-3;
    d.vehicle.drag_linear = (vy_vec3){0.02, 0.02, 0.02};
    d.position = (vy_vec3){0.02, 0.0, 1.0};
    d.attitude = quat_identity();
    d.rate = (vy_vec3){20.0, 0.0, 0.0};
    const vy_drone_id id = add(world, &d);
    vy_joint_def joint = vy_default_joint_def();
    joint.kind = VY_JOINT_BALL;
    joint.body_b = vy_world_drone_body(world, id);
    joint.anchor_a = (vy_vec3){0.0, 0.0, 1.0};
    joint.anchor_b = (vy_vec3){-0.02, 0.0, 0.0};
    vy_error err = {0};
    if (vy_world_add_joint(world, &joint, NULL, &err) != VY_OK) fail_msg("%s", err.text);
    vy_world_advance(world, (uint64_t)(0.125 / dt + 0.5));
    const vy_vec3 p = read_first(world).position;
    vy_world_destroy(world);
    return p;
}

static void orders_on_joints(void **unused)
{
    (void)unused;
    const vy_vec3 exact = swung(1.0 / 32768, VY_INTEGRATOR_RK4);
    for (int n = 0; n < ALL; ++n) { // in substeps of at most 0.5 ms, so that order shows below that alone
        const double dt = all[n] == VY_INTEGRATOR_RK4 ? 1.0 / 2048 : 1.0 / 4096;
        const double coarse = check_distance(swung(dt, all[n]), exact),
                     fine = check_distance(swung(dt / 2, all[n]), exact), order = log2(coarse / fine);
        print_message("%s on a joint: error %.1e, order %.2f\n", vy_integrator_name(all[n]), fine, order);
        assert_true(order > vy_integrator_order(all[n]) - 0.2);
    }
}

// ---- changing it

// Changed in flight it is state: the hash tells, a snapshot carries it, and a restored world goes on to the
// same bits. With and without joints.
static void a_change_is_state(void **unused)
{
    (void)unused;
    static const char *const scenes[] = {"full", "joined"};
    for (int n = 0; n < 2; ++n) {
        vy_world *a = NULL, *b = NULL;
        assert_int_equal(vy_scene_find(scenes[n])->build(3, &a, NULL), VY_OK);
        assert_int_equal(vy_scene_find(scenes[n])->build(3, &b, NULL), VY_OK);
        assert_int_equal(vy_world_integrator(a), VY_INTEGRATOR_RK4);
        vy_world_advance(a, 100);
        vy_world_advance(b, 100);
        assert_true(vy_world_state_hash(a) == vy_world_state_hash(b));
        assert_int_equal(vy_world_set_integrator(a, VY_INTEGRATOR_LIE_MIDPOINT, NULL), VY_OK);
        assert_int_equal(vy_world_integrator(a), VY_INTEGRATOR_LIE_MIDPOINT);
        assert_true(vy_world_state_hash(a) != vy_world_state_hash(b));
        const size_t size = vy_world_state_size(a);
        void *block = malloc(size);
        assert_non_null(block);
        vy_world_save(a, block);
        vy_world_advance(b, 50);
        assert_int_equal(vy_world_restore(b, block, size, NULL), VY_OK);
        assert_int_equal(vy_world_integrator(b), VY_INTEGRATOR_LIE_MIDPOINT);
        for (int k = 0; k < 3; ++k) {
            vy_world_advance(a, 100);
            vy_world_advance(b, 100);
            assert_true(vy_world_hash(a) == vy_world_hash(b));
            assert_int_equal(vy_world_set_integrator(a, all[k], NULL), VY_OK);
            assert_int_equal(vy_world_set_integrator(b, all[k], NULL), VY_OK);
        }
        vy_world_destroy(a);
        vy_world_destroy(b);
        free(block);
    }
}

// A log of a flight in which it changed, at the start, twice on the way, twice at one moment and after the
// last step: it replays to the bit, and can be entered anywhere.
static void a_change_replays(void **unused)
{
    (void)unused;
    static const char *const names[] = {"alpha"};
    char path[64];
    snprintf(path, sizeof path, "/tmp/volery-test-integrators-%ld.mcap", (long)getpid());
    vy_world *world = NULL;
    assert_int_equal(vy_scene_find("full")->build(5, &world, NULL), VY_OK);
    vy_recorder_def def = vy_default_recorder_def();
    def.path = path;
    def.scenario = "volery: 1\n";
    def.names = names;
    def.snapshot = 200;
    vy_recorder *recorder = NULL;
    assert_int_equal(vy_recorder_open(&def, world, &recorder, NULL), VY_OK);
    vy_world_set_sink(world, vy_recorder_sink(recorder));
    uint64_t hashes[701];
    for (int k = 0; k <= 700; ++k) {
        hashes[k] = vy_world_hash(world);
        if (k == 0)
            assert_int_equal(vy_world_set_integrator(world, VY_INTEGRATOR_SEMI_IMPLICIT, NULL), VY_OK);
        if (k == 137) assert_int_equal(vy_world_set_integrator(world, VY_INTEGRATOR_RK4, NULL), VY_OK);
        if (k == 400) assert_int_equal(vy_world_set_integrator(world, VY_INTEGRATOR_EULER, NULL), VY_OK);
        if (k == 400)
            assert_int_equal(vy_world_set_integrator(world, VY_INTEGRATOR_LIE_MIDPOINT, NULL), VY_OK);
        if (k == 700) assert_int_equal(vy_world_set_integrator(world, VY_INTEGRATOR_RK4, NULL), VY_OK);
        if (k < 700) assert_int_equal(vy_world_step(world) & VY_EVENT_SINK, 0);
    }
    assert_int_equal(vy_recorder_close(recorder, world, "completed", NULL), VY_OK);
    vy_world_destroy(world);

    vy_log *log = NULL;
    vy_difference d;
    assert_int_equal(vy_log_open(path, &log, NULL), VY_OK);
    assert_int_equal(vy_scene_find("full")->build(5, &world, NULL), VY_OK);
    assert_int_equal(vy_log_replay(log, world, NULL, NULL, &d, NULL), VY_OK);
    assert_false(d.found);
    assert_int_equal(d.last_tick, 700);
    assert_true(vy_world_hash(world) == hashes[700]);
    static const struct {
        uint64_t tick;
        vy_integrator integrator;
    } moments[] = {{600, VY_INTEGRATOR_LIE_MIDPOINT},  {0, VY_INTEGRATOR_SEMI_IMPLICIT},
                   {136, VY_INTEGRATOR_SEMI_IMPLICIT}, {137, VY_INTEGRATOR_RK4},
                   {399, VY_INTEGRATOR_RK4},           {400, VY_INTEGRATOR_LIE_MIDPOINT},
                   {699, VY_INTEGRATOR_LIE_MIDPOINT}};
    for (size_t n = 0; n < sizeof moments / sizeof moments[0]; ++n) {
        vy_error err = {0};
        if (vy_log_seek(log, world, moments[n].tick, &err) != VY_OK) fail_msg("%s", err.text);
        assert_int_equal(vy_world_integrator(world), moments[n].integrator);
        assert_true(vy_world_hash(world) == hashes[moments[n].tick]);
    }
    vy_world_destroy(world);
    vy_log_close(log);
    remove(path);
}

// ---- the account of energy

// Kicks are accounted for as they are made: for the Lie midpoint nothing is left but rounding, in spin and
// drag alike. RK4 keeps what is promised of it.
static void every_joule_has_a_cause(void **unused)
{
    (void)unused;
    for (int n = 0; n < ALL; ++n) {
        const vy_world_def def = strict_def(1e-3, all[n]);
        for (int spins = 0; spins < 2; ++spins) {
            vy_world *world = new_world(&def);
            vy_drone_def d = thrown();
            if (!spins) {
                d.rate = d.vehicle.pressure_centre = (vy_vec3){0.0, 0.0, 0.0};
                d.controller.start = (vy_intent){.rung = VY_RUNG_NONE};
            }
            add(world, &d);
            vy_world_track_energy(world);
            vy_world_advance(world, 500);
            vy_energy e;
            assert_int_equal(vy_world_read_energy(world, vy_world_body(world, 0), &e), VY_OK);
            const double share = fabs(e.residual) / e.exchanged;
            const int euler = all[n] == VY_INTEGRATOR_EULER || all[n] == VY_INTEGRATOR_SEMI_IMPLICIT;
            print_message("%s, %s: %.1e of %.2g J\n", vy_integrator_name(all[n]),
                          spins ? "spinning" : "steady", share, e.exchanged);
            if (all[n] == VY_INTEGRATOR_RK4) assert_true(share < 1e-9);
            if (all[n] == VY_INTEGRATOR_LIE_MIDPOINT) assert_true(share < 1e-13);
            if (euler) assert_true(spins ? share > 1e-9 && share < 1e-3 : share < 1e-13);
            vy_world_destroy(world);
        }
    }
}

// ---- what is refused

static void bad_integrators_are_refused(void **unused)
{
    (void)unused;
    vy_error err = {0};
    vy_world *world = NULL;
    vy_world_def def = vy_default_world_def();
    def.environment.physics.integrator = (vy_integrator)17;
    assert_int_equal(vy_world_create(&def, &world, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "no integrator 17"));
    def.environment.physics.engine = VY_ENGINE_SIMPLE;
    def.environment.physics.integrator = VY_INTEGRATOR_EULER;
    assert_int_equal(vy_world_create(&def, &world, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "simple engine"));
    def.environment.physics.integrator = VY_INTEGRATOR_RK4;
    world = new_world(&def);
    assert_int_equal(vy_world_set_integrator(world, VY_INTEGRATOR_EULER, &err), VY_BAD_STATE);
    world_block head;
    vy_world_save(world, &head);
    head.integrator = VY_INTEGRATOR_EULER;
    assert_int_equal(vy_world_restore(world, &head, sizeof head, &err), VY_BAD_VALUE);
    vy_world_destroy(world);

    def.environment.physics.engine = VY_ENGINE_STRICT;
    world = new_world(&def);
    assert_int_equal(vy_world_set_integrator(world, (vy_integrator)4, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "no integrator 4"));
    assert_int_equal(vy_world_integrator(world), VY_INTEGRATOR_RK4);
    head.integrator = 4;
    assert_int_equal(vy_world_restore(world, &head, sizeof head, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "integrator"));
    vy_world_destroy(world);
}

static vy_scenario *parsed(const char *physics, vy_diagnostics *d)
{
    char text[300];
    vy_scenario *s = NULL;
    snprintf(text, sizeof text,
             "volery: 1\nname: t\nduration: 1\nworld:\n  physics: %s\ndrones:\n  - {name: a, vehicle: "
             "crazyflie2x}\n",
             physics);
    (void)vy_scenario_parse(text, strlen(text), "t.yaml", NULL, &s, d);
    return s;
}

// A scenario names it; a name that is none, or one where it has no meaning, is an error with its place.
static void scenarios_choose_it(void **unused)
{
    (void)unused;
    for (int n = 0; n < ALL; ++n) {
        char physics[60];
        vy_diagnostics d;
        vy_world *world = NULL;
        snprintf(physics, sizeof physics, "{integrator: %s}", vy_integrator_name(all[n]));
        vy_scenario *s = parsed(physics, &d);
        vy_diagnostics_destroy(&d);
        assert_non_null(s);
        assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
        assert_int_equal(vy_world_integrator(world), all[n]);
        vy_world_destroy(world);
        vy_scenario_destroy(s);
    }
    static const char *const bad[] = {"{integrator: verlet}", "{engine: simple, integrator: euler}"};
    for (int n = 0; n < 2; ++n) {
        vy_diagnostics d;
        assert_null(parsed(bad[n], &d));
        char *text = vy_diagnostics_print(&d);
        assert_non_null(text);
        assert_non_null(strstr(text, "t.yaml:5:"));
        assert_non_null(strstr(text, "integrator"));
        free(text);
        vy_diagnostics_destroy(&d);
    }
}

// Worlds of a batch that lie side by side share their integrator: the state of another is refused, and the
// batch goes on as if it had not been offered.
static void a_batch_keeps_its_integrator(void **unused)
{
    (void)unused;
    vy_diagnostics d;
    vy_error err = {0};
    vy_scenario *s = parsed("{integrator: semi-implicit}", &d);
    vy_diagnostics_destroy(&d);
    assert_non_null(s);
    vy_batch_def def = vy_default_batch_def();
    def.scenario = s;
    def.world_count = 3;
    def.threads = 1;
    vy_batch *batch = NULL;
    if (vy_batch_create(&def, &batch, &err) != VY_OK) fail_msg("%s", err.text);
    const size_t size = vy_batch_state_size(batch, 0);
    unsigned char *block = malloc(size);
    assert_non_null(block);
    vy_batch_step(batch, 20);
    vy_batch_save(batch, 1, block);
    const uint64_t before = vy_batch_state_hash(batch, 1);
    world_block head;
    memcpy(&head, block, sizeof head);
    assert_int_equal(head.integrator, VY_INTEGRATOR_SEMI_IMPLICIT);
    head.integrator = VY_INTEGRATOR_LIE_MIDPOINT;
    memcpy(block, &head, sizeof head);
    assert_int_equal(vy_batch_restore(batch, 1, block, size, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "semi-implicit"));
    assert_true(vy_batch_state_hash(batch, 1) == before);
    vy_batch_save(batch, 1, block);
    vy_batch_step(batch, 20);
    const uint64_t after = vy_batch_state_hash(batch, 1);
    assert_int_equal(vy_batch_restore(batch, 1, block, size, &err), VY_OK);
    vy_batch_step(batch, 20);
    assert_true(vy_batch_state_hash(batch, 1) == after);
    vy_batch_destroy(batch);
    vy_scenario_destroy(s);
    free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_in_free_flight),
        cmocka_unit_test(ruling_09_first_step_in_a_world),
        cmocka_unit_test(a_long_spin_keeps_energy_and_momentum),
        cmocka_unit_test(jets_push_on_both_engines),
        cmocka_unit_test(orders_on_joints),
        cmocka_unit_test(a_change_is_state),
        cmocka_unit_test(a_change_replays),
        cmocka_unit_test(every_joule_has_a_cause),
        cmocka_unit_test(bad_integrators_are_refused),
        cmocka_unit_test(scenarios_choose_it),
        cmocka_unit_test(a_batch_keeps_its_integrator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
