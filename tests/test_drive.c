// test_drive.c - the declared drive: limits between intent and motors, and the failsafe behind every failure.
#include "check.h"
#include "control/limits.h"
#include "volery/fault.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- worlds

// A controller that holds a height by the velocity rung until `fail_tick`, then does as `reply` says.
typedef struct test_pilot {
    uint64_t fail_tick;
    vy_intent good, bad;
    int calls, late_calls;
} test_pilot;

static void fly_pilot(void *self, const vy_samples *samples, vy_intent *intent)
{
    test_pilot *p = self;
    const int fails = p->fail_tick > 0 && samples->tick >= p->fail_tick;
    p->calls += 1;
    p->late_calls += fails;
    *intent = fails ? p->bad : p->good;
}

static test_pilot pilot_of(uint64_t fail_tick)
{
    test_pilot p = {.fail_tick = fail_tick};
    p.good.rung = VY_RUNG_VELOCITY;
    p.bad = p.good;
    return p;
}

static vy_drone_def drone_of(test_pilot *pilot, const char *vehicle)
{
    vy_drone_def def = vy_default_drone_def();
    assert_int_equal(vy_vehicle_preset(vehicle, &def.vehicle, NULL), VY_OK);
    def.rotor_speed = vy_vehicle_hover_speed(&def.vehicle, 9.80665);
    def.position.z = 5.0;
    def.truth = 1;
    def.controller.kind = VY_CONTROLLER_CALLBACK;
    def.controller.call = fly_pilot;
    def.controller.self = pilot;
    return def;
}

static vy_world *world_of(const vy_drone_def *drone, const vy_fault_def *fault)
{
    vy_world_def def = vy_default_world_def();
    vy_world *world = NULL;
    vy_error err = {0};
    assert_int_equal(vy_world_create(&def, &world, NULL), VY_OK);
    if (vy_world_add_drone(world, drone, NULL, &err) != VY_OK) fail_msg("%s", err.text);
    if (fault != NULL && vy_world_add_fault(world, fault, &err) != VY_OK) fail_msg("%s", err.text);
    return world;
}

static vy_drone_state look(const vy_world *world)
{
    vy_drone_state s;
    assert_int_equal(vy_world_read_drone(world, vy_world_drone(world, 0), &s), VY_OK);
    return s;
}

static vy_drive_state drive_of(const vy_world *world)
{
    vy_drive_state s;
    assert_int_equal(vy_world_read_drive(world, vy_world_drone(world, 0), &s), VY_OK);
    return s;
}

static double tilt_of(vy_quat q) { return acos(1.0 - 2.0 * (q.x * q.x + q.y * q.y)); }

// --- failsafe

static void ruling_11_every_failure_hands_over_or_ends_the_run(void **unused)
{
    (void)unused;
    for (int verdict = VY_VERDICT_REPLIED; verdict <= VY_VERDICT_ABSENT; ++verdict) {
        for (int declared = 0; declared < 2; ++declared) {
            test_pilot pilot = pilot_of(1000);
            pilot.good.velocity.x = 2.0;
            pilot.bad.verdict = (vy_verdict)verdict;
            pilot.bad.detail = -7;
            pilot.bad.velocity.y = NOT_A_NUMBER; // the failure of a reply that replied
            vy_drone_def def = drone_of(&pilot, "crazyflie2x");
            if (declared) def.vehicle.drive.failsafe = VY_FAILSAFE_HOLD;
            vy_world *world = world_of(&def, NULL);
            vy_world_advance(world, 999);
            const vy_vec3 place = look(world).position;
            vy_world_advance(world, 6000);
            const vy_failure f = vy_world_failure(world);
            const vy_drive_state d = drive_of(world);
            assert_int_equal(pilot.late_calls, 1); // a controller that failed is not asked again
            if (declared) {
                assert_int_equal(f.reason, VY_FAILURE_NONE);
                assert_int_equal(d.handovers, 1);
                assert_int_equal(d.failsafe, VY_FAILSAFE_HOLD);
                assert_int_equal(d.cause, verdict == VY_VERDICT_REPLIED ? VY_HANDOVER_COMMAND
                                                                        : VY_HANDOVER_CONTROLLER);
                assert_int_equal(d.verdict, verdict);
                assert_int_equal(d.detail, -7);
                assert_near(d.since, 1.0, 1e-9);
                const vy_vec3 p = look(world).position; // back where it was told of
                assert_near(p.x, place.x, 0.05);        // the integral fades slowly
                assert_near(p.y, place.y, 0.05);
                assert_near(p.z, place.z, 0.05);
            } else {
                assert_int_equal(f.reason,
                                 verdict == VY_VERDICT_REPLIED ? VY_FAILURE_COMMAND : VY_FAILURE_CONTROLLER);
                assert_int_equal(f.tick, 1000);
                assert_int_equal(d.handovers, 0);
            }
            vy_world_destroy(world);
        }
    }
}

static void land_sinks_at_its_speed_and_cut_lets_go(void **unused)
{
    (void)unused;
    for (int failsafe = VY_FAILSAFE_LAND; failsafe <= VY_FAILSAFE_CUT; ++failsafe) {
        test_pilot pilot = pilot_of(500);
        pilot.bad.verdict = VY_VERDICT_CRASHED;
        vy_drone_def def = drone_of(&pilot, "crazyflie2x");
        def.vehicle.drive.failsafe = (vy_failsafe)failsafe;
        def.vehicle.drive.land_speed = 0.8;
        vy_world *world = world_of(&def, NULL);
        vy_world_advance(world, 2500);
        const vy_drone_state s = look(world);
        assert_int_equal(drive_of(world).failsafe, failsafe);
        if (failsafe == VY_FAILSAFE_LAND) {
            assert_near(s.velocity.z, -0.8, 0.05);
            assert_near(s.position.z, 5.0 - 0.8 * 2.0, 0.1);
        } else {
            assert_true(s.motor_command[0] == 0.0 && s.motor_command[3] == 0.0);
            assert_true(s.rotor_speed[2] < 1e-6);
            assert_true(s.velocity.z < -9.0);
        }
        vy_world_destroy(world);
    }
}

// A cable from above stands for ground: it holds the drone half a metre below its start.
static void landing_ends_where_something_holds_the_drone(void **unused)
{
    (void)unused;
    test_pilot pilot = pilot_of(500);
    pilot.bad.verdict = VY_VERDICT_LATE;
    vy_drone_def def = drone_of(&pilot, "crazyflie2x");
    def.vehicle.drive.failsafe = VY_FAILSAFE_LAND;
    vy_world *world = world_of(&def, NULL);
    vy_joint_def cable = vy_default_joint_def();
    cable.kind = VY_JOINT_CABLE;
    cable.body_a = VY_NULL_BODY;
    cable.body_b = vy_world_body(world, 0);
    cable.anchor_a = (vy_vec3){0.0, 0.0, 6.0};
    cable.length = 1.5;
    vy_error err = {0};
    if (vy_world_add_joint(world, &cable, NULL, &err) != VY_OK) fail_msg("%s", err.text);
    vy_world_advance(world, 1400); // sinks half a metre in a second, and is not there yet
    assert_int_equal(drive_of(world).failsafe, VY_FAILSAFE_LAND);
    vy_world_advance(world, 3000);
    assert_int_equal(drive_of(world).failsafe, VY_FAILSAFE_CUT);
    assert_true(look(world).motor_command[0] == 0.0);
    assert_int_equal(drive_of(world).handovers, 1);
    vy_world_destroy(world);
}

static void a_deadline_hands_over_and_back(void **unused)
{
    (void)unused;
    for (int built_in = 0; built_in < 2; ++built_in) {
        test_pilot pilot = pilot_of(0);
        vy_drone_def def = drone_of(&pilot, "crazyflie2x");
        if (built_in) def.controller.kind = VY_CONTROLLER_HOLD;
        def.vehicle.drive.failsafe = VY_FAILSAFE_HOLD;
        def.vehicle.drive.deadline = 0.1;
        vy_fault_def loss = vy_default_fault_def();
        loss.kind = VY_FAULT_COMMAND_LOSS;
        loss.size = 1.0;
        loss.start = 1.0;
        loss.duration = 1.0;
        vy_world *world = world_of(&def, &loss);
        for (uint64_t tick = 1; tick <= 3000; ++tick) {
            vy_world_step(world);
            // The last intent arrives at tick 990, the first one again at 2000.
            const int acts = tick > 990 + 100 && tick < 2000;
            const vy_drive_state d = drive_of(world);
            assert_int_equal(d.failsafe, acts ? VY_FAILSAFE_HOLD : VY_FAILSAFE_NONE);
            assert_int_equal(d.handovers, tick > 1090);
        }
        assert_near(look(world).position.z, 5.0, 0.05);
        vy_world_destroy(world);
    }
}

static void a_failsafe_flies_on_from_a_snapshot(void **unused)
{
    (void)unused;
    test_pilot pilot = pilot_of(300);
    pilot.bad.verdict = VY_VERDICT_CRASHED;
    vy_drone_def def = drone_of(&pilot, "crazyflie2x");
    def.vehicle.drive.failsafe = VY_FAILSAFE_LAND;
    def.vehicle.drive.slew = 5.0;
    def.controller.rate_law = VY_RATE_LAW_INDI;
    vy_world *a = world_of(&def, NULL), *b = world_of(&def, NULL);
    vy_world_advance(a, 777);
    void *block = malloc(vy_world_state_size(a));
    vy_world_save(a, block);
    assert_int_equal(vy_world_restore(b, block, vy_world_state_size(b), NULL), VY_OK);
    vy_world_advance(a, 777);
    vy_world_advance(b, 777);
    assert_int_equal(vy_world_hash(a), vy_world_hash(b));
    // A world without a drive has another state.
    def.vehicle.drive = (vy_drive_def){.land_speed = 0.5};
    vy_world *plain = world_of(&def, NULL);
    assert_int_equal(vy_world_restore(plain, block, vy_world_state_size(a), NULL), VY_BAD_VALUE);
    free(block);
    vy_world_destroy(plain);
    vy_world_destroy(b);
    vy_world_destroy(a);
}

// --- limits

// Limits that do not act change nothing: the same flight to the bit, on every rung.
static void limits_that_do_not_act_change_no_bit(void **unused)
{
    (void)unused;
    for (int rung = VY_RUNG_MOTORS; rung <= VY_RUNG_PILOT; ++rung) {
        vy_world *worlds[2];
        test_pilot pilots[2];
        for (int k = 0; k < 2; ++k) {
            pilots[k] = pilot_of(0);
            vy_drone_def def = drone_of(&pilots[k], "x500");
            vy_intent *i = &pilots[k].good;
            i->rung = (vy_rung)rung;
            const double hover = def.rotor_speed / def.vehicle.speed_max;
            for (int r = 0; r < 4; ++r) i->motors[r] = hover + 1e-3 * r;
            i->thrust = def.vehicle.mass * 9.9;
            i->torque = (vy_vec3){1e-3, -1e-3, 1e-4};
            i->rates = (vy_vec3){0.1, -0.05, 0.02};
            i->attitude = (vy_quat){1.0, 0.05, -0.02, 0.3};
            i->velocity = (vy_vec3){1.0, -0.5, 0.2};
            i->throttle = 2.0;
            i->yaw = 0.2;
            if (k == 1)
                def.vehicle.drive = (vy_drive_def){.speed_max = 50.0,
                                                   .climb_max = 20.0,
                                                   .tilt_max = 1.2,
                                                   .rate_max = 30.0,
                                                   .command_max = 1.0,
                                                   .slew = 1e6,
                                                   .deadline = 10.0,
                                                   .rotor_loss = 0.5,
                                                   .land_speed = 0.5,
                                                   .failsafe = VY_FAILSAFE_HOLD};
            worlds[k] = world_of(&def, NULL);
            vy_world_advance(worlds[k], 1000);
        }
        const vy_drone_state a = look(worlds[0]), b = look(worlds[1]);
        assert_memory_equal(&a, &b, sizeof a);
        const vy_drive_state d = drive_of(worlds[1]);
        for (int k = 0; k < VY_DRIVE_LIMIT_COUNT; ++k) assert_int_equal(d.acted[k], 0);
        assert_int_equal(d.handovers + d.lost, 0);
        vy_world_destroy(worlds[1]);
        vy_world_destroy(worlds[0]);
    }
}

static vy_world *fly_limited(const vy_intent *intent, const vy_drive_def *drive, test_pilot *pilot,
                             uint64_t steps)
{
    *pilot = pilot_of(0);
    pilot->good = *intent;
    vy_drone_def def = drone_of(pilot, "x500");
    def.vehicle.drive = *drive;
    vy_world *world = world_of(&def, NULL);
    vy_world_advance(world, steps);
    return world;
}

static void ruling_11_each_rung_is_held_within_its_limit(void **unused)
{
    (void)unused;
    test_pilot pilot;
    vy_intent i = {.rung = VY_RUNG_VELOCITY, .velocity = {3.0, 4.0, -3.0}};
    vy_world *world = fly_limited(&i, &(vy_drive_def){.speed_max = 1.0, .climb_max = 0.5}, &pilot, 6000);
    vy_drone_state s = look(world);
    assert_near(s.velocity.x, 0.6, 0.01); // the direction is kept
    assert_near(s.velocity.y, 0.8, 0.01);
    assert_near(s.velocity.z, -0.5, 0.01);
    assert_true(drive_of(world).acted[VY_DRIVE_SPEED] > 0 && drive_of(world).acted[VY_DRIVE_CLIMB] > 0);
    vy_world_destroy(world);

    // Half a radian asked about an axis across, at a heading of 1 rad: a fifth is given.
    i = (vy_intent){.rung = VY_RUNG_ATTITUDE, .thrust = 20.0};
    const double c = cos(0.25), n = sin(0.25), h = cos(0.5), k = sin(0.5);
    i.attitude = (vy_quat){c * h, n * h, -n * k, c * k}; // tilt about world x after the heading
    world = fly_limited(&i, &(vy_drive_def){.tilt_max = 0.2}, &pilot, 3000);
    s = look(world);
    assert_near(tilt_of(s.attitude), 0.2, 0.02); // drag turns it a little
    assert_near(2.0 * atan2(s.attitude.z, s.attitude.w), 1.0, 0.02);
    assert_true(drive_of(world).acted[VY_DRIVE_TILT] > 0);
    vy_world_destroy(world);

    i = (vy_intent){.rung = VY_RUNG_RATES, .thrust = 20.0, .rates = {0.0, 0.0, 3.0}};
    world = fly_limited(&i, &(vy_drive_def){.rate_max = 0.5}, &pilot, 2000);
    assert_near(look(world).rate.z, 0.5, 0.01);
    vy_world_destroy(world);

    i = (vy_intent){.rung = VY_RUNG_MOTORS, .motors = {0.9, 0.9, 0.05, 0.5}};
    world = fly_limited(&i, &(vy_drive_def){.command_min = 0.1, .command_max = 0.7}, &pilot, 50);
    s = look(world);
    assert_true(s.motor_command[0] == 0.7 && s.motor_command[2] == 0.1 && s.motor_command[3] == 0.5);
    vy_world_destroy(world);
}

static void commands_change_no_faster_than_the_slew(void **unused)
{
    (void)unused;
    test_pilot pilot;
    const vy_intent i = {.rung = VY_RUNG_MOTORS, .motors = {1.0, 0.0, 1.0, 0.0}};
    vy_world *world = fly_limited(&i, &(vy_drive_def){.slew = 2.0}, &pilot, 0);
    vy_drone_state before = look(world);
    for (int tick = 1; tick <= 600; ++tick) {
        vy_world_step(world);
        const vy_drone_state s = look(world);
        for (int k = 0; k < 4; ++k) {
            const double change = fabs(s.motor_command[k] - before.motor_command[k]);
            assert_true(change <= 2.0 * 0.002 + 1e-15); // per lowering, every other step
            assert_true(tick % 2 == 0 || change == 0.0);
        }
        before = s;
    }
    assert_true(before.motor_command[0] == 1.0 && before.motor_command[1] == 0.0); // and gets there
    assert_true(drive_of(world).acted[VY_DRIVE_SLEW] > 100);
    vy_world_destroy(world);
}

// Tilt within the limit, direction of tilt and heading kept, and idempotent, whatever the attitude.
static void the_limit_of_tilt_is_a_projection(void **unused)
{
    (void)unused;
    random_source random = {7};
    for (int n = 0; n < 20000; ++n) {
        const quat q = random_attitude(&random);
        const double max_tilt = random_in(&random, 0.05, 1.55);
        const drive_limits l = {.cos_tilt = cos(max_tilt), .sin_tilt = sin(max_tilt)};
        uint64_t acted[4] = {0};
        const quat p = limit_attitude(&l, 1, q, acted);
        const vec3 up = {0.0, 0.0, 1.0}, zq = quat_rotate(q, up), zp = quat_rotate(p, up);
        assert_near(quat_dot(p, p), 1.0, 1e-12);
        if (acos(zq.z) <= max_tilt) {
            assert_memory_equal(&p, &q, sizeof p);
            continue;
        }
        assert_int_equal(acted[LIMIT_ON_TILT], 1);
        assert_near(acos(zp.z), max_tilt, 1e-7);
        assert_near(zq.x * zp.y - zq.y * zp.x, 0.0, 1e-12);
        assert_true(zq.x * zp.x + zq.y * zp.y > 0.0);
        const double turn = atan2(p.z, p.w) - atan2(q.z, q.w);
        assert_near(sin(turn), 0.0, 1e-9); // half angles: the same up to the sign of the quaternion
    }
}

// --- lost rotors

static void a_lost_rotor_is_found_and_flown_without(void **unused)
{
    (void)unused;
    double tilt[2];
    for (int detects = 0; detects < 2; ++detects) {
        test_pilot pilot = pilot_of(0);
        vy_drone_def def = drone_of(&pilot, "hexa");
        if (detects) def.vehicle.drive.rotor_loss = 0.05;
        vy_fault_def loss = vy_default_fault_def();
        loss.rotor = 1;
        loss.start = 1.0;
        vy_world *world = world_of(&def, &loss);
        vy_world_advance(world, 1000);
        assert_int_equal(drive_of(world).lost, 0);
        tilt[detects] = 0.0;
        for (int k = 0; k < 4000; ++k) {
            vy_world_step(world);
            if (k > 1000) tilt[detects] = fmax(tilt[detects], tilt_of(look(world).attitude));
        }
        assert_int_equal(drive_of(world).lost, detects ? 2 : 0);
        vy_world_destroy(world);
    }
    assert_true(tilt[1] < 0.1);
    assert_true(tilt[1] < 0.5 * tilt[0]);
}

// --- what is refused

static void a_drive_that_makes_no_sense_is_refused(void **unused)
{
    (void)unused;
    static const struct {
        vy_drive_def drive;
        const char *text;
    } cases[] = {
        {{.speed_max = -1.0}, "vehicle.drive.speed_max must be between 0 and 1e+08 m/s, got -1"},
        {{.tilt_max = 2.0}, "vehicle.drive.tilt_max must be between 0 and 1.57 rad, got 2"},
        {{.command_min = 0.5, .command_max = 0.4}, "vehicle.drive.command_min must be below command_max"},
        {{.deadline = 0.1}, "vehicle.drive.deadline needs a failsafe: hold, land or cut"},
        {{.failsafe = VY_FAILSAFE_LAND}, "vehicle.drive.land_speed must be above 0 m/s"},
        {{.failsafe = (vy_failsafe)9}, "vehicle.drive.failsafe must be none, hold, land or cut, got 9"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        vy_vehicle_def def = vy_default_vehicle_def();
        def.drive = cases[k].drive;
        vy_error err = {0};
        assert_int_equal(vy_check_vehicle_def(&def, &err), VY_BAD_VALUE);
        assert_string_equal(err.text, cases[k].text);
    }
    test_pilot pilot = pilot_of(0);
    vy_drone_def def = drone_of(&pilot, "crazyflie2x");
    def.vehicle.drive.failsafe = VY_FAILSAFE_HOLD;
    def.truth = 0;
    def.mocap.period = 0.0;
    vy_world_def w = vy_default_world_def();
    vy_world *world = NULL;
    vy_error err = {0};
    assert_int_equal(vy_world_create(&w, &world, NULL), VY_OK);
    assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "vehicle.drive.failsafe: hold and land need"));
    vy_world_destroy(world);
    def.estimator.kind = VY_ESTIMATOR_EKF; // satellites will do
    def.sensor_suite.gps.period = 0.1;
    assert_int_equal(vy_world_create(&w, &world, NULL), VY_OK);
    assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_OK);
    vy_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ruling_11_every_failure_hands_over_or_ends_the_run),
        cmocka_unit_test(land_sinks_at_its_speed_and_cut_lets_go),
        cmocka_unit_test(landing_ends_where_something_holds_the_drone),
        cmocka_unit_test(a_deadline_hands_over_and_back),
        cmocka_unit_test(a_failsafe_flies_on_from_a_snapshot),
        cmocka_unit_test(limits_that_do_not_act_change_no_bit),
        cmocka_unit_test(ruling_11_each_rung_is_held_within_its_limit),
        cmocka_unit_test(commands_change_no_faster_than_the_slew),
        cmocka_unit_test(the_limit_of_tilt_is_a_projection),
        cmocka_unit_test(a_lost_rotor_is_found_and_flown_without),
        cmocka_unit_test(a_drive_that_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
