// test_thrusters.c - jets and thrusters: force and torque at any attitude, range, lags, pulses, allocation.
#include "control/control.h"
#include "flight.h"
#include "vehicle/allocation.h"
#include "world/world_impl.h"
#include <stdlib.h>

static vy_world_def empty_space(void)
{
    vy_world_def def = vy_default_world_def();
    def.environment.gravity.uniform = (vy_vec3){0.0, 0.0, 0.0};
    return def;
}

/// A plain body with `count` thrusters that are told `motors` for ever.
static vy_drone_def pushed_body(int count, const vy_thruster_def *thrusters, const double *motors)
{
    vy_drone_def def = passive_body();
    def.vehicle.thruster_count = count;
    memcpy(def.vehicle.thrusters, thrusters, (size_t)count * sizeof *thrusters);
    def.controller.start.rung = VY_RUNG_MOTORS;
    memcpy(def.controller.start.motors, motors, (size_t)count * sizeof *motors);
    return def;
}

// One thruster through the centre of mass, with a lag or without, at random attitudes:
//   v = T / m (t - tau (1 - e^(-t / tau)))  along R a.
static void thrust_follows_its_lag(void **unused)
{
    (void)unused;
    random_source r = {11};
    for (int n = 0; n < 20; ++n) {
        const double lag = n % 4 == 0 ? 0.0 : random_in(&r, 0.02, 0.5), thrust_max = random_in(&r, 1.0, 20.0);
        const vy_vec3 axis = {random_in(&r, -1, 1), random_in(&r, -1, 1), random_in(&r, 0.1, 1)};
        const vy_thruster_def t = {.position = axis, .axis = axis, .thrust_max = thrust_max, .lag = lag};
        vy_drone_def def = pushed_body(1, &t, (double[]){1.0});
        def.controller.start.rung = VY_RUNG_NONE; // it starts shut and is opened by a reply
        vy_intent open = {.rung = VY_RUNG_MOTORS, .motors = {1.0}};
        def.controller.kind = VY_CONTROLLER_CALLBACK;
        def.controller.call = always_answer;
        def.controller.self = &open;
        def.controller.period = def.controller.rate_period = 0.001;
        const double first = random_in(&r, -1, 1), second = random_in(&r, -1, 1),
                     third = random_in(&r, -1, 1), fourth = random_in(&r, -1, 1);
        def.attitude = quat_normalize(quat_make(fourth, third, second, first));
        const vy_world_def space = empty_space();
        vy_world *world = fly_in(&space, &def);
        vy_world_advance(world, 501); // the first reply acts from the second step on
        const vy_drone_state s = state_of(world, 0);
        const double time = 0.5, rest = exp(-time / lag);
        assert_near(s.thruster_thrust[0], thrust_max * (1.0 - rest), 1e-12 * thrust_max);
        const vec3 along = quat_rotate(def.attitude, vec3_scale(1.0 / vec3_length(axis), axis));
        assert_vec_near(s.velocity, vec3_scale(thrust_max * (time - lag * (1.0 - rest)), along),
                        1e-9 * thrust_max);
        assert_vec_near(s.rate, vec3_zero(), 1e-12);
        vy_world_destroy(world);
    }
}

// Any number of thrusters anywhere: the loads are the sums of F and r x F, from the centre of mass, turned
// into the world.
static void loads_are_those_of_statics(void **unused)
{
    (void)unused;
    random_source r = {12};
    for (int n = 0; n < 50; ++n) {
        vy_thruster_def t[VY_ROTOR_CAP];
        double motors[VY_ROTOR_CAP];
        const int count = 1 + n % VY_ROTOR_CAP;
        vec3 force = vec3_zero(), torque = vec3_zero();
        const vy_vec3 centre = {0.05, -0.02, 0.1};
        for (int i = 0; i < count; ++i) {
            const vec3 axis = {random_in(&r, -1, 1), random_in(&r, -1, 1), random_in(&r, 0.1, 1)};
            t[i] = (vy_thruster_def){
                .position = {random_in(&r, -1, 1), random_in(&r, -1, 1), random_in(&r, -1, 1)},
                .axis = axis,
                .thrust_max = random_in(&r, 2.0, 5.0),
                .thrust_min = random_in(&r, 0.0, 1.0),
            };
            motors[i] = random_in(&r, 0.0, 1.0);
            const double size = t[i].thrust_min + (t[i].thrust_max - t[i].thrust_min) * motors[i];
            const vec3 f = vec3_scale(size / vec3_length(axis), axis);
            force = vec3_add(force, f);
            torque = vec3_add(torque, vec3_cross(vec3_sub(t[i].position, centre), f));
        }
        vy_drone_def def = pushed_body(count, t, motors);
        def.vehicle.centre_of_mass = centre;
        const double first = random_in(&r, -1, 1), second = random_in(&r, -1, 1);
        def.attitude = quat_normalize(quat_make(0.3, second, first, 0.5));
        const vy_world_def space = empty_space();
        vy_world *world = fly_in(&space, &def);
        const vy_quat q = state_of(world, 0).attitude; // loads are those at the start of the step
        assert_int_equal(vy_world_keep_loads(world, 1, NULL), VY_OK);
        vy_world_step(world);
        vy_loads loads;
        assert_int_equal(vy_world_read_loads(world, vy_world_body(world, 0), &loads), VY_OK);
        assert_vec_near(loads.thruster_force, quat_rotate(q, force), 1e-13);
        assert_vec_near(loads.thruster_torque, torque, 1e-13);
        assert_vec_near(loads.rotor_force, vec3_zero(), 0.0);
        // And so it moves: the first step is h a and h I^-1 t, up to order h^2.
        const vec3 spin = mat3_mul_vec(mat3_inverse(def.vehicle.inertia), torque);
        assert_vec_near(state_of(world, 0).rate, vec3_scale(0.001, spin), 1e-3);
        vy_world_destroy(world);
    }
}

// Command 0 is off, the least above it is the least thrust, 1 the most.
static void range_has_a_gap_below(void **unused)
{
    (void)unused;
    const thruster_layout l = {.count = 1, .thrust_max = {10.0}, .thrust_min = {2.0}};
    assert_true(thruster_throttled(&l, 0, 0.0) == 0.0);
    assert_true(thruster_throttled(&l, 0, 1e-300) == 2.0);
    assert_true(thruster_throttled(&l, 0, 0.5) == 6.0);
    assert_true(thruster_throttled(&l, 0, 1.0) == 10.0);
}

// Whatever is asked for: a valve that opens stays open for the shortest pulse at least, opens only at a
// period's start, and all in all is open as long as it was told, but for what one period can still owe.
static void pulses_give_the_mean_asked_for(void **unused)
{
    (void)unused;
    random_source r = {13};
    for (int n = 0; n < 200; ++n) {
        const uint64_t period = 5 + (uint64_t)random_in(&r, 0.0, 100.0);
        const uint64_t pulse_min = 1 + (uint64_t)random_in(&r, 0.0, (double)period * 0.4);
        const double dt = 0.001;
        thruster_layout l = {.count = 1, .thrust_max = {3.0}, .step = dt, .period = {period}};
        l.pulse_min[0] = (double)pulse_min * dt;
        thruster_state s;
        memset(&s, 0, sizeof s);
        const double scale = n % 3 == 0 ? 0.02 : 1.0;
        double asked = 0.0, command = 0.0;
        uint64_t open = 0, run = 0;
        for (uint64_t tick = 0; tick < 400 * period; ++tick) {
            const int due = tick % period == 0;
            if (due) {
                command = scale * random_in(&r, 0.0, 1.0);
                if (n % 5 == 0) command = n % 2 == 0 ? 1.0 : 0.0;
                asked += command * (double)period;
            }
            const double told = thruster_pulsed(&l, 0, due, tick, command, &s);
            assert_true(told == 0.0 || told == 3.0);
            if (told > 0.0 && run == 0) assert_true(due);
            if (told == 0.0 && run > 0) assert_true(run >= pulse_min);
            run = told > 0.0 ? run + 1 : 0;
            open += told > 0.0;
        }
        assert_true((double)open <= asked + 1e-6 * asked);
        assert_true((double)open >= asked - (double)pulse_min - 1.0 - 1e-6 * asked);
    }
}

/// The satellite of scenarios/satellite.yaml.
static vy_drone_def satellite(void)
{
    vy_drone_def def = passive_body();
    def.vehicle.thruster_count = 8;
    for (int i = 0; i < 8; ++i) {
        static const double x[] = {0.3, -0.3, -0.3, 0.3}, y[] = {0.3, 0.3, -0.3, -0.3};
        const int corner = i / 2;
        const double way = i % 2 == 0 ? 1.0 : -1.0, up = corner % 2 == 0 ? 1.0 : -1.0;
        def.vehicle.thrusters[i] = (vy_thruster_def){
            .position = {x[corner], y[corner], 0.0},
            .axis = {way * -y[corner] / 0.3, way * x[corner] / 0.3, way * up},
            .thrust_max = 1.0,
            .lag = 0.01,
        };
    }
    def.controller.kind = VY_CONTROLLER_INTENT;
    def.controller.start = (vy_intent){.rung = VY_RUNG_ATTITUDE, .attitude = {1.0, 0.0, 0.0, 0.0}};
    def.truth = 1;
    return def;
}

// Thrusters that can only push make any small wrench, exactly: the lowering finds non-negative thrusts.
static void allocation_makes_the_wrench(void **unused)
{
    (void)unused;
    const vy_drone_def def = satellite();
    ladder_params p;
    assert_int_equal(vy_ladder_build(&def.controller, &def.vehicle, vec3_zero(), &p, NULL), VY_OK);
    assert_true(p.has_full_authority && p.uses_thrusters && p.rotor_count == 8);
    random_source r = {14};
    const rotor_layout layout = vy_layout_build(&def.vehicle);
    for (int n = 0; n < 1000; ++n) {
        const double thrust = random_in(&r, -0.2, 0.2);
        const vec3 torque = {random_in(&r, -0.1, 0.1), random_in(&r, -0.1, 0.1), random_in(&r, -0.1, 0.1)};
        double motors[VY_ROTOR_CAP];
        const double clamped = lower_wrench(&p, thrust, torque, motors);
        body_loads loads = loads_zero();
        for (int i = 0; i < 8; ++i) assert_true(motors[i] >= 0.0 && motors[i] <= 1.0);
        thrusters_add(&layout.thrusters, motors, &loads); // thrust_max is 1 N
        assert_true(clamped == 0.0);
        assert_near(loads.force_body.z, thrust, 1e-3);
        assert_near(loads.torque_body.x, torque.x, 1e-4);
        assert_near(loads.torque_body.y, torque.y, 1e-4);
        assert_near(loads.torque_body.z, torque.z, 1e-3);
        const vec3 back = torque_of_motors(&p, motors);
        assert_vec_near(back, loads.torque_body, 1e-12);
    }
}

// From any attitude and spin the satellite comes to rest where it is told, throttled and in pulses.
static void satellite_turns_from_anywhere(void **unused)
{
    (void)unused;
    random_source r = {15};
    for (int n = 0; n < 12; ++n) {
        vy_drone_def def = satellite();
        for (int i = 0; i < 8; ++i) {
            def.vehicle.thrusters[i].thrust_max = 0.05;
            if (n % 2 == 0) continue;
            def.vehicle.thrusters[i].pulse_period = 0.05;
            def.vehicle.thrusters[i].pulse_min = 0.005;
        }
        def.controller.gains.attitude = def.controller.gains.yaw = 0.5;
        def.controller.gains.rate = 2.0;
        const double first = random_in(&r, -1, 1), second = random_in(&r, -1, 1),
                     third = random_in(&r, -1, 1), fourth = random_in(&r, -1, 1);
        def.attitude = quat_make(fourth, third, second, first);
        def.rate = (vy_vec3){random_in(&r, -1, 1), random_in(&r, -1, 1), random_in(&r, -1, 1)};
        const vy_world_def space = empty_space();
        vy_world *world = fly_in(&space, &def);
        vy_world_advance(world, 40000);
        const vy_drone_state s = state_of(world, 0);
        assert_true(check_angle(s.attitude, (vy_quat){1.0, 0.0, 0.0, 0.0}) < 0.02);
        assert_true(vec3_length(s.rate) < 0.05);
        vy_world_destroy(world);
    }
}

// Beside rotors: the lowest rung tells both; above it the rotors make the wrench and the thrusters rest.
static void thrusters_stand_behind_rotors(void **unused)
{
    (void)unused;
    vy_intent intent = {.rung = VY_RUNG_MOTORS, .motors = {0.6, 0.6, 0.6, 0.6, 0.25, 2.0}};
    vy_drone_def def = answering_drone(&intent, VY_ALLOCATION_PHYSICAL);
    def.vehicle.thruster_count = 2;
    def.vehicle.thrusters[0] = (vy_thruster_def){.axis = {1.0, 0.0, 0.0}, .thrust_max = 0.1};
    def.vehicle.thrusters[1] = (vy_thruster_def){.axis = {0.0, 1.0, 0.0}, .thrust_max = 0.2};
    vy_world *world = fly(&def);
    vy_world_advance(world, 100);
    vy_drone_state s = state_of(world, 0);
    assert_true(s.thruster_thrust[0] == 0.025 && s.thruster_thrust[1] == 0.2 && s.clamps > 0);
    assert_true(s.velocity.x > 0.0 && s.velocity.y > s.velocity.x);
    const double speed = s.rotor_speed[0];
    intent.rung = VY_RUNG_WRENCH;
    intent.thrust = 0.2;
    vy_world_advance(world, 100);
    s = state_of(world, 0);
    assert_true(s.thruster_thrust[0] == 0.0 && s.thruster_thrust[1] == 0.0 && s.motor_command[4] == 0.0);
    assert_true(s.rotor_speed[0] < speed);
    vy_world_destroy(world);
}

// Two bodies held together and pushed off-centre move as one, and the account of energy closes.
static void a_joined_thruster_pushes_both(void **unused)
{
    (void)unused;
    vy_world_def space = empty_space();
    const vy_thruster_def t = {.axis = {0.0, 0.0, 1.0}, .thrust_max = 3.0, .lag = 0.1};
    vy_drone_def a = pushed_body(1, &t, (double[]){1.0}), b = passive_body();
    a.position = b.position = (vy_vec3){0.0, 0.0, 0.0};
    b.position.z = 1.0;
    vy_world *world = fly_in(&space, &a);
    assert_int_equal(vy_world_add_drone(world, &b, NULL, NULL), VY_OK);
    vy_joint_def joint = vy_default_joint_def();
    joint.kind = VY_JOINT_FIXED;
    joint.body_a = vy_world_body(world, 0);
    joint.body_b = vy_world_body(world, 1);
    joint.anchor_b.z = -1.0;
    assert_int_equal(vy_world_add_joint(world, &joint, NULL, NULL), VY_OK);
    vy_world_advance(world, 1000);
    assert_near(state_of(world, 0).velocity.z, 1.5, 1e-9);
    assert_near(state_of(world, 1).velocity.z, 1.5, 1e-9);
    vy_world_destroy(world);

    vy_drone_def alone = satellite();
    alone.rate = (vy_vec3){0.5, -0.4, 0.3};
    world = fly_in(&space, &alone);
    vy_world_track_energy(world);
    vy_world_advance(world, 3000);
    vy_energy e;
    assert_int_equal(vy_world_read_energy(world, vy_world_body(world, 0), &e), VY_OK);
    assert_true(e.exchanged > 1e-3);
    assert_near(e.residual, 0.0, 1e-9 * e.exchanged);
    vy_world_destroy(world);
}

// A snapshot in the middle of a pulse goes on to the same bits.
static void snapshots_hold_the_valves(void **unused)
{
    (void)unused;
    vy_drone_def def = satellite();
    for (int i = 0; i < 8; ++i) {
        def.vehicle.thrusters[i].pulse_period = 0.04;
        def.vehicle.thrusters[i].pulse_min = 0.007;
    }
    def.rate = (vy_vec3){0.3, -0.2, 0.1};
    vy_world *world = fly(&def);
    vy_world_advance(world, 1013);
    void *block = malloc(vy_world_state_size(world));
    vy_world_save(world, block);
    vy_world_advance(world, 500);
    const uint64_t hash = vy_world_hash(world);
    assert_int_equal(vy_world_restore(world, block, vy_world_state_size(world), NULL), VY_OK);
    vy_world_advance(world, 500);
    assert_true(vy_world_hash(world) == hash);
    world->thrusters[0].owed[3] += 1e-9; // it is part of what is hashed
    vy_world_step(world);
    const uint64_t other = vy_world_hash(world);
    assert_int_equal(vy_world_restore(world, block, vy_world_state_size(world), NULL), VY_OK);
    vy_world_advance(world, 501);
    assert_true(vy_world_hash(world) != other);
    free(block);
    vy_world_destroy(world);
}

static void bad_thrusters_are_refused(void **unused)
{
    (void)unused;
    const vy_thruster_def good = {.thrust_max = 1.0};
    const struct {
        vy_thruster_def t;
        const char *text;
    } cases[] = {
        {{.thrust_max = 0.0}, "thrust_max"},
        {{.thrust_max = INFINITE}, "thrust_max"},
        {{.thrust_max = 1.0, .thrust_min = 1.0}, "thrust_min"},
        {{.thrust_max = 1.0, .lag = -1.0}, "lag"},
        {{.thrust_max = 1.0, .position = {NOT_A_NUMBER, 0, 0}}, "position"},
        {{.thrust_max = 1.0, .pulse_period = 0.01, .pulse_min = 0.02}, "pulse_min"},
        {{.thrust_max = 1.0, .thrust_min = 0.5, .pulse_period = 0.01}, "thrust_min"},
        {{.thrust_max = 1.0, .pulse_period = 0.0105}, "pulse_period"},
    };
    const vy_world_def space = empty_space();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        vy_drone_def def = pushed_body(1, &good, (double[]){0.0});
        def.vehicle.thrusters[0] = cases[i].t;
        vy_world *world = NULL;
        vy_error err = {0};
        assert_int_equal(vy_world_create(&space, &world, NULL), VY_OK);
        assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_BAD_VALUE);
        assert_non_null(strstr(err.text, "thrusters[0]"));
        assert_non_null(strstr(err.text, cases[i].text));
        vy_world_destroy(world);
    }
    vy_drone_def def = vy_default_drone_def(); // four rotors and five thrusters
    def.vehicle.thruster_count = 5;
    for (int i = 0; i < 5; ++i) def.vehicle.thrusters[i] = good;
    vy_error err = {0};
    assert_int_equal(vy_check_vehicle_def(&def.vehicle, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "at most 8"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thrust_follows_its_lag),        cmocka_unit_test(loads_are_those_of_statics),
        cmocka_unit_test(range_has_a_gap_below),         cmocka_unit_test(pulses_give_the_mean_asked_for),
        cmocka_unit_test(allocation_makes_the_wrench),   cmocka_unit_test(satellite_turns_from_anywhere),
        cmocka_unit_test(thrusters_stand_behind_rotors), cmocka_unit_test(a_joined_thruster_pushes_both),
        cmocka_unit_test(snapshots_hold_the_valves),     cmocka_unit_test(bad_thrusters_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
