// test_ladder.c - the upper rungs: sticks to velocity, velocity to attitude, and flights that speak there.
#include "flight.h"
#include "control/control.h"
#include <string.h>

static const vy_vec3 gravity = {0.0, 0.0, -9.80665};

static ladder_params ladder_of(const vy_controller_def *c)
{
    const vy_vehicle_def v = vy_default_vehicle_def();
    ladder_params p;
    assert_int_equal(vy_ladder_build(c, &v, gravity, &p, NULL), VY_OK);
    return p;
}

static estimator_state random_estimate(random_source *r)
{
    estimator_state e;
    memset(&e, 0, sizeof e);
    e.attitude = random_attitude(r);
    e.velocity = random_vec(r, 2.0);
    return e;
}

// The difference between stick and speed decays as e^(-5 t) whatever the period, and the velocity lies along
// the nose, whatever the roll and pitch.
static void sticks_are_followed_along_the_nose(void **unused)
{
    (void)unused;
    random_source r = {81};
    for (int n = 0; n < 100; ++n) {
        vy_controller_def c = vy_default_controller_def();
        c.rate_period = 0.001 * (double)(1 + random_bits(&r) % 20);
        const ladder_params p = ladder_of(&c);
        const vec3 wanted = random_vec(&r, 20.0), start = random_vec(&r, 5.0);
        const quat q = random_attitude(&r);
        vec3 speed = start, velocity = vec3_zero();
        const int steps = 1 + (int)(random_bits(&r) % 50);
        for (int i = 0; i < steps; ++i) velocity = lower_pilot(&p, wanted, q, &speed);
        const double left = exp(-5.0 * steps * c.rate_period);
        assert_vec_near(speed, vec3_add_scaled(wanted, left, vec3_sub(start, wanted)), 1e-11);
        const vec3 nose = quat_rotate(q, (vec3){1, 0, 0});
        const double k = 1.0 / sqrt(nose.x * nose.x + nose.y * nose.y);
        const vec3 ahead = {k * nose.x, k * nose.y, 0.0}, left_of = {-ahead.y, ahead.x, 0.0};
        assert_near(vec3_dot(velocity, ahead), speed.x, 1e-12);
        assert_near(vec3_dot(velocity, left_of), speed.y, 1e-12);
        assert_near(velocity.z, speed.z, 0.0);
    }
}

// Straight up or down there is no nose over the ground: still a number.
static void a_vertical_nose_gives_numbers(void **unused)
{
    (void)unused;
    const vy_controller_def c = vy_default_controller_def();
    const ladder_params p = ladder_of(&c);
    for (int n = -1; n <= 1; n += 2) {
        estimator_state e;
        memset(&e, 0, sizeof e);
        e.attitude = (quat){sqrt(0.5), 0.0, n * sqrt(0.5), 0.0};
        vec3 speed = {1, 2, 3}, integral = vec3_zero();
        double heading = 1.0;
        quat wanted;
        const vec3 v = lower_pilot(&p, (vec3){4, 5, 6}, e.attitude, &speed);
        const double thrust = lower_velocity(&p, v, 1.0, &e, &heading, &integral, &wanted);
        assert_true(isfinite(v.x) && isfinite(v.y) && isfinite(heading) && isfinite(thrust));
        assert_near(quat_dot(wanted, wanted), 1.0, 1e-12);
    }
}

// At any attitude and velocity: the thrust along the asked attitude is the mass times what proportional and
// integral part ask for, within the tilt limit; the nose of the asked attitude turns at the yaw rate.
static void velocity_asks_for_the_right_force(void **unused)
{
    (void)unused;
    random_source r = {82};
    vy_controller_def c = vy_default_controller_def();
    c.gains.tilt_max = 1.4;
    const ladder_params p = ladder_of(&c);
    for (int n = 0; n < 500; ++n) {
        estimator_state e = random_estimate(&r);
        const vec3 wanted = vec3_add(e.velocity, random_vec(&r, 0.4));
        const double rate = random_in(&r, -2.0, 2.0), yaw = yaw_of(e.attitude),
                     lead = random_in(&r, -0.4, 0.4);
        double heading = yaw + lead;
        vec3 integral = random_vec(&r, 1.0);
        const vec3 error = vec3_sub(wanted, e.velocity);
        const vec3 i = vec3_add_scaled(integral, 6.0 * 0.002, error);
        quat attitude;
        (void)lower_velocity(&p, wanted, rate, &e, &heading, &integral, &attitude);
        assert_vec_near(integral, i, 1e-15);
        assert_near(cos(heading), cos(yaw + lead + 0.002 * rate), 1e-12);
        assert_near(sin(heading), sin(yaw + lead + 0.002 * rate), 1e-12);

        e.attitude = attitude; // once it is flown, the thrust is all of the force
        vec3 a = vec3_sub(vec3_add_scaled(i, 4.0, error), gravity);
        double again = heading;
        vec3 kept = vec3_sub(i, vec3_scale(6.0 * 0.002, error));
        const double thrust = lower_velocity(&p, wanted, 0.0, &e, &again, &kept, &attitude);
        assert_vec_near(quat_rotate(attitude, (vec3){0, 0, thrust}), vec3_scale(0.028, a), 1e-14);
    }
}

// The wanted heading never runs away from a drone that cannot turn, and the integral does not wind up while
// the tilt is limited.
static void velocity_waits_for_the_drone(void **unused)
{
    (void)unused;
    random_source r = {83};
    const vy_controller_def c = vy_default_controller_def();
    const ladder_params p = ladder_of(&c);
    for (int n = 0; n < 50; ++n) {
        estimator_state e = random_estimate(&r);
        double heading = yaw_of(e.attitude);
        vec3 integral = vec3_zero();
        quat attitude;
        for (int i = 0; i < 2000; ++i) {
            (void)lower_velocity(&p, (vec3){e.velocity.x + 20.0, e.velocity.y, e.velocity.z}, 1.5, &e,
                                 &heading, &integral, &attitude);
        }
        assert_near(angle_wrapped(heading - yaw_of(e.attitude)), LADDER_LEAD_MAX, 1e-9);
        assert_vec_near(integral, vec3_zero(), 0.0);
    }
}

// A drone that starts at any heading flies the velocity it is told and turns at the rate it is told, and a
// controller of the program gives the same flight as the intent in its def.
static void a_flight_by_velocity(void **unused)
{
    (void)unused;
    random_source r = {84};
    for (int n = 0; n < 6; ++n) {
        vy_intent intent = {.rung = VY_RUNG_VELOCITY, .velocity = random_vec(&r, 2.0), .yaw_rate = 0.5};
        vy_drone_def def = answering_drone(&intent, (vy_allocation)(n % 2));
        def.attitude = turn(random_in(&r, -3.0, 3.0), 0, 0, 1);
        vy_world *world = fly(&def);
        (void)vy_world_advance(world, 5000);
        vy_drone_state s = state_of(world, 0);
        assert_vec_near(s.velocity, intent.velocity, 0.05);
        const double before = yaw_of(s.attitude);
        (void)vy_world_advance(world, 1000);
        assert_near(angle_wrapped(yaw_of(state_of(world, 0).attitude) - before), 0.5, 0.01);
        vy_world_destroy(world);

        def.controller.kind = VY_CONTROLLER_INTENT;
        def.controller.start = intent;
        world = fly(&def);
        (void)vy_world_advance(world, 5000);
        assert_vec_near(state_of(world, 0).velocity, s.velocity, 0.01);
        vy_world_destroy(world);
    }
}

// Ruling 1: throttle is forward along the nose, strafe > 0 to the right, yaw > 0 clockwise from above, at the
// declared speeds: 20 m/s at step 10, 10 m/s, 5 m/s, 90 degrees per second.
static void ruling_01_sticks_have_their_signs(void **unused)
{
    (void)unused;
    for (int allocation = 0; allocation < 2; ++allocation) {
        vy_intent intent = {.rung = VY_RUNG_PILOT, .throttle = 1, .strafe = 0.1, .vertical = -0.2};
        vy_drone_def def = answering_drone(&intent, (vy_allocation)allocation);
        def.attitude = turn(0.5 * PI, 0, 0, 1); // the nose along world +y, the right side along +x
        vy_world *world = fly(&def);
        (void)vy_world_advance(world, 5000);
        assert_vec_near(state_of(world, 0).velocity, ((vec3){1.0, 2.0, -1.0}), 0.05);
        vy_world_destroy(world);

        intent = (vy_intent){.rung = VY_RUNG_PILOT, .yaw = 1.0};
        world = fly(&def);
        (void)vy_world_advance(world, 2000);
        const double before = yaw_of(state_of(world, 0).attitude);
        (void)vy_world_advance(world, 1000);
        assert_near(angle_wrapped(yaw_of(state_of(world, 0).attitude) - before), -0.5 * PI, 0.03);
        vy_world_destroy(world);
    }
}

// Sticks beyond their ends are clamped and counted; a stick that is no number ends the run.
static void sticks_have_limits(void **unused)
{
    (void)unused;
    vy_intent intent = {.rung = VY_RUNG_PILOT, .throttle = 11, .strafe = -1.5, .vertical = 0.5, .yaw = 7.0};
    vy_drone_def def = answering_drone(&intent, VY_ALLOCATION_PHYSICAL);
    vy_world *world = fly(&def);
    assert_int_equal(vy_world_advance(world, 10) & VY_EVENT_CLAMPED, VY_EVENT_CLAMPED);
    assert_true(state_of(world, 0).clamps >= 3);
    vy_world_destroy(world);
    double *const wrong[] = {&intent.throttle, &intent.strafe, &intent.vertical, &intent.yaw};
    for (int i = 0; i < 4; ++i) {
        intent = (vy_intent){.rung = VY_RUNG_PILOT};
        *wrong[i] = NOT_A_NUMBER;
        world = fly(&def);
        (void)vy_world_advance(world, 100);
        assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_COMMAND);
        vy_world_destroy(world);
    }
    intent = (vy_intent){.rung = VY_RUNG_VELOCITY, .yaw_rate = INFINITE};
    world = fly(&def);
    (void)vy_world_advance(world, 100);
    assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_COMMAND);
    vy_world_destroy(world);
}

// A drone that has lost one of its rotors from the start, upright, keeps its height and its tilt within
// bounds while it turns: a hexacopter stays in its place.
static void a_hexacopter_flies_without_a_rotor(void **unused)
{
    (void)unused;
    for (int gone = 0; gone < 6; ++gone) {
        vy_drone_def def = vy_default_drone_def();
        assert_int_equal(vy_vehicle_preset("hexa", &def.vehicle, NULL), VY_OK);
        def.rotor_speed = vy_vehicle_hover_speed(&def.vehicle, 9.80665);
        def.position.z = 20.0;
        def.controller.thrust_loss[gone] = 1.0;
        vy_world *world = fly(&def);
        (void)vy_world_advance(world, 15000);
        const vy_drone_state s = state_of(world, 0);
        assert_true(s.motor_command[gone] == 0.0);
        assert_true(check_distance(s.position, def.position) < 0.3);
        vy_world_destroy(world);
    }
}

// The filter is the Butterworth filter of its cut-off: against a fine integration of its equation, for a slow
// and a fast period.
static void indi_filters_as_it_says(void **unused)
{
    (void)unused;
    random_source r = {85};
    for (int n = 0; n < 20; ++n) {
        vy_controller_def c = vy_default_controller_def();
        c.rate_law = VY_RATE_LAW_INDI;
        c.rate_period = n % 2 ? 0.001 : 0.02;
        c.indi_cutoff = random_in(&r, 50.0, 300.0);
        const ladder_params p = ladder_of(&c);
        indi_filter f = {random_vec(&r, 1.0), random_vec(&r, 10.0)};
        const vec3 input = random_vec(&r, 1.0);
        double value = f.value.y, slope = f.derivative.y;
        const int fine = 20000;
        const double h = c.rate_period / fine, w = c.indi_cutoff;
        for (int i = 0; i < fine; ++i) { // midpoint rule
            const double a = w * w * (input.y - value) - sqrt(2.0) * w * slope;
            const double v2 = value + 0.5 * h * slope, s2 = slope + 0.5 * h * a;
            value += h * s2;
            slope += h * (w * w * (input.y - v2) - sqrt(2.0) * w * s2);
        }
        indi_filter_step(&p.indi, input, &f);
        assert_near(f.value.y, value, 1e-7);
        assert_near(f.derivative.y, slope, 1e-5);
    }
}

// A constant torque from outside leaves the plain law with the error t / (I k); the incremental law has none.
static void indi_needs_no_model_of_the_torque(void **unused)
{
    (void)unused;
    for (int law = 0; law < 2; ++law) {
        vy_intent intent = {.rung = VY_RUNG_RATES, .thrust = 0.028 * 9.80665, .rates = {0.5, -0.3, 0.4}};
        vy_drone_def def = answering_drone(&intent, VY_ALLOCATION_PHYSICAL);
        def.controller.rate_law = (vy_rate_law)law;
        vy_disturbance_def push = vy_default_disturbance_def();
        push.frame = VY_FRAME_BODY;
        push.torque = (vy_vec3){7e-5, 0, 0};
        vy_world_def wd = vy_default_world_def();
        vy_world *world = fly_in(&wd, &def);
        assert_int_equal(vy_world_add_disturbance(world, &push, NULL), VY_OK);
        (void)vy_world_advance(world, 2000);
        const double error = law == VY_RATE_LAW_NDI ? 7e-5 / (1.4e-5 * 25.0) : 0.0;
        assert_near(state_of(world, 0).rate.x, 0.5 + error, 0.005);
        assert_near(state_of(world, 0).rate.y, -0.3, 0.005);
        vy_world_destroy(world);
    }
}

// From any attitude and spin the drone comes back with the incremental law as with the plain one.
static void indi_recovers_from_anything(void **unused)
{
    (void)unused;
    random_source r = {86};
    for (int n = 0; n < 10; ++n) {
        vy_drone_def def = vy_default_drone_def();
        def.vehicle.allocation = (vy_allocation)(n % 2);
        def.position = (vy_vec3){0, 0, 20};
        def.velocity = random_vec(&r, 2.0);
        def.attitude = random_attitude(&r);
        def.rate = random_vec(&r, 3.0);
        def.controller.rate_law = VY_RATE_LAW_INDI;
        vy_world *world = fly(&def);
        (void)vy_world_advance(world, 12000);
        assert_true(check_distance(state_of(world, 0).position, def.position) < 0.03);
        vy_world_destroy(world);
    }
}

static void minus_speed(vy_controller_def *c) { c->pilot.speed = -1.0; }
static void nan_strafe(vy_controller_def *c) { c->pilot.strafe = NOT_A_NUMBER; }
static void no_response(vy_controller_def *c) { c->pilot.response = 0.0; }
static void lost_twice(vy_controller_def *c) { c->thrust_loss[1] = 2.0; }
static void lost_elsewhere(vy_controller_def *c) { c->thrust_loss[4] = 1.0; }
static void no_cutoff(vy_controller_def *c) { c->indi_cutoff = 0.0; }
static void no_law(vy_controller_def *c) { c->rate_law = (vy_rate_law)2; }
static void unknown_start(vy_controller_def *c)
{
    c->kind = VY_CONTROLLER_INTENT;
    c->start = (vy_intent){.rung = (vy_rung)7};
}

static void bad_pilots_are_refused_by_name(void **unused)
{
    (void)unused;
    static const struct {
        void (*spoil)(vy_controller_def *);
        const char *says;
    } list[] = {{minus_speed, "pilot.speed"},     {nan_strafe, "pilot.strafe"},
                {no_response, "pilot.response"},  {lost_twice, "controller.lost[1]"},
                {lost_elsewhere, "has 4 rotors"}, {unknown_start, "controller.start"},
                {no_cutoff, "indi_cutoff"},       {no_law, "rate_law"}};
    const vy_world_def wd = vy_default_world_def();
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        vy_drone_def def = vy_default_drone_def();
        list[i].spoil(&def.controller);
        vy_error err = {0};
        if (vy_world_add_drone(world, &def, NULL, &err) != VY_BAD_VALUE ||
            strstr(err.text, list[i].says) == NULL)
            fail_msg("bad controller %zu (%s) got: %s", i, list[i].says, err.text);
    }
    vy_drone_def blind = vy_default_drone_def();
    blind.controller.kind = VY_CONTROLLER_INTENT;
    blind.controller.start = (vy_intent){.rung = VY_RUNG_VELOCITY};
    blind.mocap.period = 0.0;
    assert_int_equal(vy_world_add_drone(world, &blind, NULL, NULL), VY_BAD_VALUE);
    vy_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sticks_are_followed_along_the_nose),
        cmocka_unit_test(a_vertical_nose_gives_numbers),
        cmocka_unit_test(velocity_asks_for_the_right_force),
        cmocka_unit_test(velocity_waits_for_the_drone),
        cmocka_unit_test(a_flight_by_velocity),
        cmocka_unit_test(ruling_01_sticks_have_their_signs),
        cmocka_unit_test(sticks_have_limits),
        cmocka_unit_test(a_hexacopter_flies_without_a_rotor),
        cmocka_unit_test(indi_filters_as_it_says),
        cmocka_unit_test(indi_needs_no_model_of_the_torque),
        cmocka_unit_test(indi_recovers_from_anything),
        cmocka_unit_test(bad_pilots_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
