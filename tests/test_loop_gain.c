// test_loop_gain.c - peak gains of the closed loop: closed forms, and what a world does.
#include "control/loop_gain.h"
#include "flight.h"
#include "world/budget_loop.h"
#include <math.h>

// A step so short, and no lags: the loops are those of continuous time.
static loop_params plain_loop(void)
{
    return (loop_params){.dt = 1e-3,
                         .gravity = 9.8,
                         .control = 1,
                         .rate = 1,
                         .truth = 1,
                         .position = 4.0,
                         .velocity = 4.0,
                         .attitude = 8.0,
                         .yaw = 4.0,
                         .rates = 25.0};
}

// The gain is never below, and at most a tenth above: the end of a response is covered, not computed.
static void assert_covers(double gain, double exact)
{
    if (!(gain >= 0.995 * exact && gain <= 1.1 * exact)) fail_msg("%.9g for %.9g", gain, exact);
}

// Poles at -5 and -20, or both at -2: the response never changes its sign, so its sum is the gain of a
// constant. With poles w (-z +- i sqrt(1 - z^2)) the sum of its waves is a geometric series:
// coth(pi z / 2 sqrt(1 - z^2)) / w^2.
static void gains_have_their_closed_forms(void **unused)
{
    (void)unused;
    loop_params p = plain_loop();
    loop_gains g;
    assert_true(vy_loop_gains(&p, &g));
    assert_covers(g.gain[LOOP_YAW][LOOP_ANGLE][INPUT_TORQUE], 1.0 / 100.0);
    assert_covers(g.gain[LOOP_VERTICAL][LOOP_POSITION][INPUT_FORCE], 1.0 / 4.0);
    for (double z = 0.3; z < 0.9; z += 0.2) {
        const double w = 3.0;
        p.position = w * w;
        p.velocity = 2.0 * z * w;
        assert_true(vy_loop_gains(&p, &g));
        const double series = 1.0 / tanh(0.5 * PI * z / sqrt(1.0 - z * z));
        assert_covers(g.gain[LOOP_VERTICAL][LOOP_POSITION][INPUT_FORCE], series / (w * w));
    }
}

// What holds a velocity by its error and the error's integral answers a push as what holds a position does,
// but for the half step by which a sum over samples is off a motion. A desired velocity that is off goes on
// moving it, for as long as is asked.
static void a_held_velocity_drifts(void **unused)
{
    (void)unused;
    loop_params p = plain_loop();
    loop_gains g;
    p.law = LOOP_VELOCITY_RUNG;
    p.horizon = 10000; // 10 s
    assert_true(vy_loop_gains(&p, &g));
    const double late = 0.5 * p.dt * 10.0; // of a push, for 10 s
    assert_covers(g.gain[LOOP_VERTICAL][LOOP_POSITION][INPUT_FORCE], 1.0 / 4.0 + late);
    assert_covers(g.gain[LOOP_VERTICAL][LOOP_INTEGRAL][INPUT_FORCE], 1.0);
    assert_covers(g.gain[LOOP_YAW][LOOP_ANGLE][INPUT_TORQUE], 1.0 / 100.0);
    const double ten = g.gain[LOOP_LATERAL][LOOP_POSITION][INPUT_VELOCITY];
    p.horizon = 30000;
    assert_true(vy_loop_gains(&p, &g));
    const double thirty = g.gain[LOOP_LATERAL][LOOP_POSITION][INPUT_VELOCITY];
    assert_true(ten > 9.0 && thirty > 29.0);
    assert_covers(thirty - ten, 20.0);
    p.law = LOOP_CASCADE;
    assert_true(vy_loop_gains(&p, &g));
    assert_true(g.gain[LOOP_LATERAL][LOOP_POSITION][INPUT_VELOCITY] == 0.0);
}

// Rotors that follow a quick loop too late: it swings up.
static void loops_that_do_not_settle_have_no_gain(void **unused)
{
    (void)unused;
    loop_params p = plain_loop();
    loop_gains g;
    p.lag = 0.2;
    assert_int_equal(vy_loop_gains(&p, &g), 0);
    p = plain_loop();
    p.control = 7;
    p.rate = 13;
    p.truth = 0;
    p.imu = 3;
    p.mocap = 10; // together after 2,730 steps
    assert_int_equal(vy_loop_gains(&p, &g), 0);
}

// The largest differences between two strict flights, one of them pushed from 1 s on: position and angle.
static void pushed(const vy_drone_def *drone, vy_vec3 force, vy_vec3 torque, double out[2])
{
    vy_world *world[2];
    out[0] = out[1] = 0.0;
    for (int k = 0; k < 2; ++k) {
        vy_world_def wd = vy_default_world_def();
        wd.environment.nap.strict = 1;
        world[k] = fly_in(&wd, drone);
        vy_disturbance_def d = vy_default_disturbance_def();
        d.force = force;
        d.torque = torque;
        d.start = 1.0;
        if (k == 1) assert_int_equal(vy_world_add_disturbance(world[k], &d, NULL), VY_OK);
    }
    for (int n = 0; n < 6000; ++n) {
        (void)vy_world_advance(world[0], 1);
        (void)vy_world_advance(world[1], 1);
        const vy_drone_state x = state_of(world[0], 0), y = state_of(world[1], 0);
        out[0] = fmax(out[0], check_distance(x.position, y.position));
        out[1] = fmax(out[1], check_angle(x.attitude, y.attitude));
    }
    vy_world_destroy(world[0]);
    vy_world_destroy(world[1]);
}

// Which law flies the drone.
static const char *const laws[] = {"ndi", "indi", "lee", "mellinger", "velocity"};

static void set_law(int law, vy_controller_def *c)
{
    if (law == 1) c->rate_law = VY_RATE_LAW_INDI;
    if (law == 2) c->kind = VY_CONTROLLER_LEE;
    if (law == 3) c->kind = VY_CONTROLLER_MELLINGER;
    if (law == 4) c->kind = VY_CONTROLLER_INTENT, c->start.rung = VY_RUNG_VELOCITY;
    if (law > 1) c->period = 0.002;
}

// A constant push is one of all disturbances: a world answers with less than the gain, and with a good part
// of it.
static void worlds_answer_within_the_gains(void **unused)
{
    (void)unused;
    for (int n = 0; n < 10; ++n) {
        const int truth = n % 2, law = n / 2;
        vy_drone_def drone = vy_default_drone_def();
        drone.truth = truth;
        set_law(law, &drone.controller);
        drone.position.z = 10.0;
        vy_world_def wd = vy_default_world_def();
        wd.environment.nap.budget = (vy_budget_def){6.0, 0.1, 0.1};
        vy_world *world = fly_in(&wd, &drone);
        const loop_gains *g = &world->loops[0].gains;
        assert_true(world->loops[0].is_bounded);
        const double mass = drone.vehicle.mass, inertia = drone.vehicle.inertia.m[0][0], size = 1e-3;
        const struct {
            vy_vec3 force, torque;
            int axis, entry;
        } cases[] = {
            {{size * mass, 0, 0}, {0, 0, 0}, LOOP_LATERAL, INPUT_FORCE},
            {{0, 0, size * mass}, {0, 0, 0}, LOOP_VERTICAL, INPUT_FORCE},
            {{0, 0, 0}, {0, size * inertia, 0}, LOOP_LATERAL, INPUT_TORQUE},
        };
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
            double seen[2];
            pushed(&drone, cases[i].force, cases[i].torque, seen);
            const double far = size * g->gain[cases[i].axis][LOOP_POSITION][cases[i].entry],
                         turn = size * g->gain[cases[i].axis][LOOP_ANGLE][cases[i].entry];
            print_message("%s, %s, case %zu: %.2f of the gain of position, %.2f of angle\n", laws[law],
                          truth ? "truth" : "fading", i, seen[0] / far, turn > 0.0 ? seen[1] / turn : 0.0);
            assert_true(seen[0] <= 1.01 * far && seen[0] >= 0.25 * far);
            assert_true(cases[i].axis == LOOP_VERTICAL || (seen[1] <= 1.01 * turn && seen[1] >= 0.25 * turn));
        }
        vy_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gains_have_their_closed_forms),
        cmocka_unit_test(a_held_velocity_drifts),
        cmocka_unit_test(loops_that_do_not_settle_have_no_gain),
        cmocka_unit_test(worlds_answer_within_the_gains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
