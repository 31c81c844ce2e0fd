// test_control.c - every lowering of the ladder, the estimator, the flight plan, and controllers at every
// rung.
#include "flight.h"
#include "control/control.h"
#include "control/reference.h"
#include "equations/multirotor.h"
#include "estimators/fading.h"
#include "vehicle/allocation.h"
#include <string.h>

static const vy_vec3 gravity = {0.0, 0.0, -9.80665};

static vy_vehicle_def vehicle_of(vy_allocation allocation)
{
    vy_vehicle_def v = vy_default_vehicle_def();
    v.allocation = allocation;
    return v;
}

static ladder_params ladder_of(const vy_vehicle_def *v)
{
    const vy_controller_def c = vy_default_controller_def();
    ladder_params p;
    assert_int_equal(vy_ladder_build(&c, v, gravity, &p, NULL), VY_OK);
    return p;
}

// Motor commands for a wrench make that wrench in the rotor equations, with either allocation.
static void wrench_comes_back_from_the_rotors(void **unused)
{
    (void)unused;
    random_source r = {31};
    for (int allocation = 0; allocation < 2; ++allocation) {
        const vy_vehicle_def v = vehicle_of((vy_allocation)allocation);
        const rotor_layout layout = vy_layout_build(&v);
        const ladder_params p = ladder_of(&v);
        const rotor_params rotor = {v.thrust_coef, v.torque_coef, 0.0, 0.0};
        for (int n = 0; n < 500; ++n) {
            const double thrust = random_in(&r, 0.25, 0.45);
            const vec3 torque = vec3_mul(random_vec(&r, 1.0), (vec3){1.5e-3, 1.5e-3, 3e-4});
            double motors[ROTOR_CAP] = {0};
            if (lower_wrench(&p, thrust, torque, motors) != 0.0)
                fail_msg("the wrench was meant to be in reach");
            for (int i = 0; i < 4; ++i) motors[i] *= v.speed_max;
            body_loads l = loads_zero();
            rotor_add(&layout, &rotor, motors, 4, &l);
            assert_near(l.force_body.z, thrust, 1e-14);
            assert_vec_near(l.torque_body, torque, 1e-16);
        }
    }
}

// The torque for wanted rates gives the angular acceleration gain * (wanted - rate), at any spin and inertia.
static void rates_are_closed_at_the_gain(void **unused)
{
    (void)unused;
    random_source r = {32};
    for (int n = 0; n < 500; ++n) {
        vy_vehicle_def v = vehicle_of(VY_ALLOCATION_PHYSICAL);
        v.inertia.m[0][1] = v.inertia.m[1][0] = random_in(&r, -2e-6, 2e-6);
        v.inertia.m[1][2] = v.inertia.m[2][1] = random_in(&r, -2e-6, 2e-6);
        const ladder_params p = ladder_of(&v);
        const body_params body = {1.0 / v.mass, v.inertia, mat3_inverse(v.inertia)};
        body_state s = {{0, 0, 0}, {0, 0, 0}, random_attitude(&r), random_vec(&r, 20.0)};
        const vec3 wanted = random_vec(&r, 10.0);
        body_loads l = loads_zero();
        l.torque_body = lower_rates(&p, wanted, s.rate);
        const body_derivatives d = body_derivative(&body, &s, quat_matrix(s.attitude), &l, gravity);
        assert_vec_near(d.rate_dot, vec3_scale(p.rate_gain, vec3_sub(wanted, s.rate)), 1e-10);
    }
}

// Following the wanted rates from any attitude reaches any other, the angle never grows, and q and -q are
// one.
static void attitude_is_reached_the_short_way(void **unused)
{
    (void)unused;
    random_source r = {33};
    const vy_vehicle_def v = vehicle_of(VY_ALLOCATION_DOCUMENTED);
    const ladder_params p = ladder_of(&v);
    for (int n = 0; n < 100; ++n) {
        quat q = random_attitude(&r);
        const quat wanted = random_attitude(&r), minus = quat_scale(-1.0, wanted);
        double angle = check_angle(q, wanted);
        for (int i = 0; i < 3000; ++i) {
            const vec3 rates = lower_attitude(&p, wanted, q);
            assert_vec_near(rates, lower_attitude(&p, minus, q), 0.0);
            q = quat_normalize(quat_add_scaled(q, 0.001, attitude_derivative(q, rates)));
            const double now = check_angle(q, wanted);
            assert_true(now <= angle + 1e-12);
            angle = now;
        }
        assert_true(angle < 1e-4);
    }
}

static estimator_state estimate_at(vec3 position, vec3 velocity, quat attitude)
{
    return (estimator_state){position, velocity, attitude, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
}

// At the reference the position loop asks for the heading and the weight; elsewhere thrust along the asked
// attitude is the mass times the asked acceleration.
static void position_asks_for_the_right_force(void **unused)
{
    (void)unused;
    random_source r = {34};
    const vy_vehicle_def v = vehicle_of(VY_ALLOCATION_PHYSICAL);
    ladder_params p = ladder_of(&v);
    p.integral_gain = 0.0;
    for (int n = 0; n < 500; ++n) {
        const double yaw = random_in(&r, -3.0, 3.0);
        reference ref = {random_vec(&r, 5.0), random_vec(&r, 1.0), {0, 0, 0}, turn(yaw, 0, 0, 1)};
        vec3 integral = {0, 0, 0};
        quat wanted;
        estimator_state e = estimate_at(ref.position, ref.velocity, ref.heading);
        const double weight = lower_position(&p, &ref, &e, &integral, &wanted);
        assert_near(weight, v.mass * 9.80665, 1e-15);
        assert_near(check_angle(wanted, ref.heading), 0.0, 1e-7);

        ref.acceleration = random_vec(&r, 1.0);
        e.position = vec3_add(ref.position, random_vec(&r, 0.3));
        e.velocity = vec3_add(ref.velocity, random_vec(&r, 0.3));
        (void)lower_position(&p, &ref, &e, &integral, &wanted);
        e.attitude = wanted;
        const double thrust = lower_position(&p, &ref, &e, &integral, &wanted);
        vec3 a = vec3_sub(ref.acceleration, gravity);
        a = vec3_add_scaled(a, 6.0, vec3_sub(ref.position, e.position));
        a = vec3_add_scaled(a, 4.0, vec3_sub(ref.velocity, e.velocity));
        assert_vec_near(quat_rotate(wanted, (vec3){0, 0, thrust}), vec3_scale(v.mass, a), 1e-14);

        // The turn from the heading to the attitude is the shortest that tilts: it has no part about +z.
        assert_near(quat_mul(wanted, quat_conj(ref.heading)).z, 0.0, 1e-15);
    }
}

// However far away the drone is, the asked tilt stays within its limit, the integral within half of gravity,
// and the thrust is never negative.
static void position_stays_within_its_limits(void **unused)
{
    (void)unused;
    random_source r = {35};
    const vy_vehicle_def v = vehicle_of(VY_ALLOCATION_PHYSICAL);
    const ladder_params p = ladder_of(&v);
    const reference ref = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {1, 0, 0, 0}};
    double steepest = 0.0;
    for (int n = 0; n < 2000; ++n) {
        vec3 integral = random_vec(&r, 4.0);
        quat wanted;
        const quat first = random_attitude(&r);
        const vec3 second = random_vec(&r, 100.0), third = random_vec(&r, 1e3);
        const estimator_state e = estimate_at(third, second, first);
        const double thrust = lower_position(&p, &ref, &e, &integral, &wanted);
        const vec3 z = quat_rotate(wanted, (vec3){0, 0, 1});
        steepest = fmax(steepest, atan2(sqrt(z.x * z.x + z.y * z.y), z.z));
        assert_true(thrust >= 0.0);
        assert_true(fabs(integral.x) <= 0.5 * 9.80665 && fabs(integral.z) <= 0.5 * 9.80665);
    }
    assert_near(steepest, 0.6, 1e-12);
}

// A flight plan is continuous to the acceleration, its derivatives are those of its position, it is at rest
// at every setpoint, and it stays before the first and after the last.
static void reference_is_smooth(void **unused)
{
    (void)unused;
    const vy_setpoint plan[3] = {{1.0, {0, 0, 1}, 0.0}, {3.0, {2, -1, 1.5}, 1.0}, {4.0, {2, 0, 1}, -1.0}};
    const double h = 1e-4;
    for (double t = 0.0; t < 5.0; t += 0.0101) {
        const reference a = reference_at(plan, 3, t - h, NULL), b = reference_at(plan, 3, t, NULL),
                        c = reference_at(plan, 3, t + h, NULL);
        const vec3 slope = vec3_scale(0.5 / h, vec3_sub(c.position, a.position));
        const vec3 bend = vec3_scale(0.5 / h, vec3_sub(c.velocity, a.velocity));
        assert_vec_near(b.velocity, slope, 2e-6);
        assert_vec_near(b.acceleration, bend, 1e-2);
        assert_vec_near(b.acceleration, c.acceleration, 2e-2); // no jump, also across a setpoint
    }
    for (int i = 0; i < 3; ++i) {
        double yaw;
        const reference r = reference_at(plan, 3, plan[i].time, &yaw);
        assert_vec_near(r.position, plan[i].position, 0.0);
        assert_vec_near(r.velocity, vec3_zero(), 0.0);
        assert_vec_near(r.acceleration, vec3_zero(), 0.0);
        assert_true(yaw == plan[i].yaw);
        assert_near(check_angle(r.heading, turn(yaw, 0, 0, 1)), 0.0, 1e-15);
    }
    assert_vec_near(reference_at(plan, 3, 0.0, NULL).position, plan[0].position, 0.0);
    assert_vec_near(reference_at(plan, 3, 99.0, NULL).position, plan[2].position, 0.0);
}

// A drone at rest at any attitude with constant sensor biases: the estimator finds attitude, place and both
// biases.
static void estimator_finds_biases_at_rest(void **unused)
{
    (void)unused;
    random_source r = {36};
    for (int n = 0; n < 20; ++n) {
        const quat q = random_attitude(&r);
        const vec3 place = random_vec(&r, 5.0), ba = random_vec(&r, 0.3), bg = random_vec(&r, 0.05);
        const vec3 accel = vec3_sub(ba, quat_unrotate(q, gravity));
        fading_params p = {.period = 0.001, .gravity = gravity};
        fading_set_gains(0.01, exp(-0.01 / 0.1), exp(-0.01 / 0.2), &p);
        const vec3 first = random_vec(&r, 0.1), second = random_vec(&r, 0.1);
        estimator_state s = estimate_at(vec3_add(place, second), first, quat_mul(q, turn(0.2, 0, 0.6, 0.8)));
        for (int i = 1; i <= 6000; ++i) {
            fading_predict(&p, accel, bg, &s);
            if (i % 10 == 0) fading_correct(&p, place, q, &s);
        }
        assert_near(check_angle(s.attitude, q), 0.0, 1e-6);
        assert_vec_near(s.position, place, 1e-6);
        assert_vec_near(s.velocity, vec3_zero(), 1e-5);
        assert_vec_near(s.gyro_bias, bg, 1e-6);
        assert_vec_near(s.accel_bias, ba, 1e-4);
        assert_vec_near(s.rate, vec3_zero(), 1e-6);
    }
}

// In a flight around a square, without noise but with biases, the estimate stays with the truth.
static void estimator_follows_a_flight(void **unused)
{
    (void)unused;
    vy_drone_def def = vy_default_drone_def();
    def.imu = (vy_imu_def){.period = 0.001, .accel_bias = 0.2, .gyro_bias = 0.02};
    def.mocap = (vy_mocap_def){.period = 0.01};
    def.controller.setpoint_count = 5;
    for (int i = 0; i < 5; ++i) {
        def.controller.setpoints[i] =
            (vy_setpoint){5.0 + 2.0 * i, {i == 1 || i == 2, i == 2 || i == 3, 1}, 0.5 * i};
    }
    vy_world *world = fly(&def);
    for (int i = 0; i < 16000; ++i) {
        (void)vy_world_step(world);
        if (i < 5000) continue;
        const vy_drone_state s = state_of(world, 0);
        assert_vec_near(s.samples.estimate.position, s.position, 1e-3);
        assert_vec_near(s.samples.estimate.velocity, s.velocity, 1e-2);
        assert_near(check_angle(s.samples.estimate.attitude, s.attitude), 0.0, 2e-3);
        assert_vec_near(s.position, s.target.position, 0.1);
    }
    assert_vec_near(state_of(world, 0).position, ((vy_vec3){0, 0, 1}), 0.01);
    vy_world_destroy(world);
}

// From any attitude, spin and speed, with either allocation, noise and biases on, the built-in controller
// brings the drone back to its place and holds it there.
static void hold_recovers_from_anything(void **unused)
{
    (void)unused;
    random_source r = {37};
    for (int n = 0; n < 30; ++n) {
        vy_world_def world_def = vy_default_world_def();
        world_def.seed = (uint64_t)n;
        vy_drone_def def = vy_default_drone_def();
        def.vehicle.allocation = (vy_allocation)(n % 2);
        def.position = (vy_vec3){0, 0, 20};
        def.velocity = random_vec(&r, 2.0);
        def.attitude = random_attitude(&r);
        def.rate = random_vec(&r, 3.0);
        vy_world *world = fly_in(&world_def, &def);
        (void)vy_world_advance(world, 10000);
        double worst = 0.0;
        for (int i = 0; i < 3000; ++i) {
            (void)vy_world_step(world);
            worst = fmax(worst, check_distance(state_of(world, 0).position, def.position));
        }
        const vy_quat q = state_of(world, 0).attitude; // upright, and at the heading it was thrown with
        assert_true(worst < 0.03);
        assert_true(fabs(q.x) < 0.02 && fabs(q.y) < 0.02);
        vy_world_destroy(world);
    }
}

// What no rung reads: fields of other rungs may hold anything.
static vy_intent anything(vy_rung rung)
{
    vy_intent intent = {.rung = rung,
                        .thrust = NOT_A_NUMBER,
                        .torque = {NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER},
                        .rates = {NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER}};
    for (int i = 0; i < VY_ROTOR_CAP; ++i) intent.motors[i] = NOT_A_NUMBER;
    intent.attitude = (vy_quat){NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER};
    return intent;
}

// Each rung, with either allocation, does what it says.
static void every_rung_acts(void **unused)
{
    (void)unused;
    const double weight = 0.028 * 9.80665;
    for (int allocation = 0; allocation < 2; ++allocation) {
        vy_intent intent = anything(VY_RUNG_NONE);
        const vy_drone_def def = answering_drone(&intent, (vy_allocation)allocation);

        vy_world *world = fly(&def); // motors off: the rotors run down
        (void)vy_world_advance(world, 500);
        assert_true(state_of(world, 0).motor_command[0] == 0.0 && state_of(world, 0).rotor_speed[3] < 1e-6);
        vy_world_destroy(world);

        intent = anything(VY_RUNG_MOTORS);
        for (int i = 0; i < 4; ++i) intent.motors[i] = 0.1 * (i + 1);
        world = fly(&def);
        (void)vy_world_advance(world, 500);
        assert_near(state_of(world, 0).rotor_speed[2], 750.0, 1e-3);
        vy_world_destroy(world);

        intent = anything(
            VY_RUNG_WRENCH); // weight and a torque about +x: it turns about +x and about no other axis
        intent.thrust = weight;
        intent.torque = (vy_vec3){1e-5, 0, 0};
        world = fly(&def);
        (void)vy_world_advance(world, 300);
        assert_near(state_of(world, 0).rate.x, 1e-5 / 1.4e-5 * 0.275, 0.01);
        assert_vec_near(state_of(world, 0).rate, ((vy_vec3){state_of(world, 0).rate.x, 0, 0}), 1e-9);
        vy_world_destroy(world);

        intent = anything(VY_RUNG_RATES);
        intent.thrust = weight;
        intent.rates = (vy_vec3){0.5, -0.3, 1.0};
        world = fly(&def);
        (void)vy_world_advance(world, 1500);
        assert_vec_near(state_of(world, 0).rate, intent.rates, 0.02);
        vy_world_destroy(world);

        intent = anything(VY_RUNG_ATTITUDE); // of any length
        intent.thrust = weight;
        intent.attitude = quat_scale(-7.0, turn(1.2, 0.6, 0.0, 0.8));
        world = fly(&def);
        (void)vy_world_advance(world, 3000);
        assert_near(check_angle(state_of(world, 0).attitude, intent.attitude), 0.0, 1e-3);
        assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_NONE);
        vy_world_destroy(world);
    }
}

// Yaw rate is counter-clockwise positive: the nose of a level drone turns from +x to +y.
static void ruling_01_yaw_rate_is_counter_clockwise(void **unused)
{
    (void)unused;
    vy_intent intent = {.rung = VY_RUNG_RATES, .thrust = 0.028 * 9.80665, .rates = {0, 0, 1.0}};
    const vy_drone_def def = answering_drone(&intent, VY_ALLOCATION_PHYSICAL);
    vy_world *world = fly(&def);
    (void)vy_world_advance(world, 1000);
    assert_true(quat_rotate(state_of(world, 0).attitude, (vec3){1, 0, 0}).y > 0.5);
    vy_world_destroy(world);
}

// A reply with a value that is not finite in a field of its rung, or with no known rung, ends the run at that
// tick; the motors keep what they had.
static void bad_replies_end_the_run(void **unused)
{
    (void)unused;
    for (int k = 0; k < 10; ++k) {
        vy_intent intent = {.rung = (vy_rung)(k < 5 ? k : k - 5), .thrust = 0.2, .attitude = {1, 0, 0, 0}};
        switch (k) {
        case 0: intent.rung = (vy_rung)17; break;
        case 1: intent.motors[3] = NOT_A_NUMBER; break;
        case 2: intent.torque.z = INFINITE; break;
        case 3: intent.rates.y = NOT_A_NUMBER; break;
        case 4: intent.attitude.x = NOT_A_NUMBER; break;
        case 5: intent.rung = (vy_rung)-1; break;
        case 6: intent.motors[0] = -INFINITE; break;
        case 7: intent.thrust = NOT_A_NUMBER; break;
        case 8: intent.thrust = INFINITE; break;
        default: intent.attitude = (vy_quat){0, 0, 0, 0}; break;
        }
        const vy_drone_def def = answering_drone(&intent, VY_ALLOCATION_PHYSICAL);
        vy_world *world = fly(&def);
        const uint32_t events = vy_world_advance(world, 100);
        const vy_failure f = vy_world_failure(world);
        if (f.reason != VY_FAILURE_COMMAND) fail_msg("bad reply %d was taken", k);
        assert_true((events & VY_EVENT_FAILED) != 0);
        assert_int_equal(f.tick, 10);
        assert_near(f.time, 0.01, 1e-15);
        assert_int_equal(vy_world_tick(world), 10);
        assert_string_equal(f.what, "the controller's reply");
        assert_near(state_of(world, 0).motor_command[0], 0.6176, 1e-4);
        vy_world_destroy(world);
    }
}

// Motor commands of a reply outside 0 to 1 are clamped, counted and reported by the step that got them.
static void clamped_replies_are_reported(void **unused)
{
    (void)unused;
    vy_intent intent = {.rung = VY_RUNG_MOTORS, .motors = {1.25, 0.5, -0.25, 1.0}};
    const vy_drone_def def = answering_drone(&intent, VY_ALLOCATION_PHYSICAL);
    vy_world *world = fly(&def);
    for (int i = 1; i <= 30; ++i) {
        const uint32_t events = vy_world_step(world);
        assert_int_equal(events, i % 10 == 0 ? VY_EVENT_CLAMPED : 0);
        assert_int_equal(state_of(world, 0).clamps, 2 * (i / 10));
    }
    assert_true(state_of(world, 0).motor_command[0] == 1.0 && state_of(world, 0).motor_command[2] == 0.0);
    vy_world_destroy(world);

    intent = (vy_intent){.rung = VY_RUNG_WRENCH, .thrust = 100.0};
    world = fly(&def);
    assert_int_equal(vy_world_advance(world, 10), VY_EVENT_CLAMPED);
    assert_int_equal(state_of(world, 0).clamps, 4);
    vy_world_destroy(world);
}

typedef struct diary {
    int calls;
    vy_samples last;
} diary;

static void keep_diary(void *self, const vy_samples *samples, vy_intent *intent)
{
    diary *d = self;
    assert_int_equal(samples->tick, 20 * (uint64_t)(d->calls + 1));
    d->calls += 1;
    d->last = *samples;
    intent->rung = VY_RUNG_MOTORS;
}

// A controller is called once per period with the samples of that tick, and what it commands acts from the
// next step on.
static void a_controller_is_called_in_time(void **unused)
{
    (void)unused;
    diary d = {0};
    vy_drone_def def = quiet_drone();
    def.imu.period = 0.003;
    def.controller.kind = VY_CONTROLLER_CALLBACK;
    def.controller.call = keep_diary;
    def.controller.self = &d;
    def.controller.period = 0.02;
    vy_world *world = fly(&def);
    (void)vy_world_advance(world, 20);
    const double before = state_of(world, 0).rotor_speed[0];
    assert_near(before, 1543.88, 0.01); // the reply came after this step's plant
    (void)vy_world_step(world);
    assert_near(state_of(world, 0).rotor_speed[0], before * exp(-0.001 / 0.015), 1e-9);
    (void)vy_world_advance(world, 79);
    assert_int_equal(d.calls, 5);
    assert_near(d.last.time, 0.1, 1e-15);
    assert_true(d.last.dt == 0.001);
    assert_int_equal(d.last.imu.tick, 99);
    assert_int_equal(d.last.mocap.tick, 100);
    vy_world_destroy(world);
}

// The start acts until the first reply, at any rung; a start that is not finite is refused.
static void start_acts_until_the_first_reply(void **unused)
{
    (void)unused;
    vy_drone_def def = quiet_drone();
    def.controller.start = (vy_intent){.rung = VY_RUNG_WRENCH, .thrust = 0.36};
    vy_world *world = fly(&def);
    assert_near(state_of(world, 0).motor_command[1], sqrt(0.5), 1e-15);
    (void)vy_world_advance(world, 100);
    assert_near(state_of(world, 0).motor_command[1], sqrt(0.5), 1e-15);
    vy_world_destroy(world);

    const vy_world_def wd = vy_default_world_def();
    assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
    def.controller.start.thrust = NOT_A_NUMBER;
    vy_error err;
    assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "controller.start"));
    vy_world_destroy(world);
}

static void no_setpoint(vy_controller_def *c) { c->setpoint_count = -1; }
static void many_setpoints(vy_controller_def *c) { c->setpoint_count = VY_SETPOINT_CAP + 1; }
static void nan_gain(vy_controller_def *c) { c->gains.velocity = NOT_A_NUMBER; }
static void minus_gain(vy_controller_def *c) { c->gains.yaw = -1.0; }
static void steep(vy_controller_def *c) { c->gains.tilt_max = 1.6; }
static void unknown_kind(vy_controller_def *c) { c->kind = (vy_controller_kind)99; }
static void odd_period(vy_controller_def *c) { c->period = 0.0015; }
static void odd_rate(vy_controller_def *c) { c->rate_period = 0.0; }

static void backwards(vy_controller_def *c)
{
    c->setpoint_count = 2;
    c->setpoints[0].time = c->setpoints[1].time = 1.0;
}

static void nan_setpoint(vy_controller_def *c)
{
    c->setpoint_count = 2;
    c->setpoints[1] = (vy_setpoint){1.0, {0, NOT_A_NUMBER, 0}, 0};
}

// Every wrong field of a controller is refused with a sentence that names it.
static void bad_controllers_are_refused_by_name(void **unused)
{
    (void)unused;
    static const struct {
        void (*spoil)(vy_controller_def *);
        const char *says;
    } list[] = {
        {no_setpoint, "setpoint_count"},   {many_setpoints, "setpoint_count"},
        {nan_gain, "gains.velocity"},      {minus_gain, "gains.yaw"},
        {steep, "gains.tilt_max"},         {unknown_kind, "controller.kind"},
        {odd_period, "controller.period"}, {odd_rate, "controller.rate_period"},
        {backwards, "setpoints[1].time"},  {nan_setpoint, "setpoints[1]"},
    };
    const vy_world_def wd = vy_default_world_def();
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        vy_drone_def def = vy_default_drone_def();
        list[i].spoil(&def.controller);
        vy_error err = {0};
        if (vy_world_add_drone(world, &def, NULL, &err) != VY_BAD_VALUE ||
            strstr(err.text, list[i].says) == NULL) {
            fail_msg("bad controller %zu (%s) got: %s", i, list[i].says, err.text);
        }
    }
    vy_drone_def full = vy_default_drone_def(); // as many setpoints as there is room for
    full.controller.setpoint_count = VY_SETPOINT_CAP;
    for (int i = 0; i < VY_SETPOINT_CAP; ++i) full.controller.setpoints[i].time = i;
    assert_int_equal(vy_world_add_drone(world, &full, NULL, NULL), VY_OK);
    vy_drone_def three = vy_default_drone_def(); // no vehicle to hold a place with
    three.vehicle.rotor_count = 3;
    assert_int_equal(vy_world_add_drone(world, &three, NULL, NULL), VY_BAD_VALUE);
    three.controller.kind = VY_CONTROLLER_CALLBACK; // but its motors may be commanded
    three.controller.call = always_answer;
    vy_error err = {0};
    assert_int_equal(vy_world_add_drone(world, &three, NULL, &err), VY_OK);
    assert_int_equal(err.status, VY_OK); // and the error is left alone
    vy_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrench_comes_back_from_the_rotors),
        cmocka_unit_test(rates_are_closed_at_the_gain),
        cmocka_unit_test(attitude_is_reached_the_short_way),
        cmocka_unit_test(position_asks_for_the_right_force),
        cmocka_unit_test(position_stays_within_its_limits),
        cmocka_unit_test(reference_is_smooth),
        cmocka_unit_test(estimator_finds_biases_at_rest),
        cmocka_unit_test(estimator_follows_a_flight),
        cmocka_unit_test(hold_recovers_from_anything),
        cmocka_unit_test(every_rung_acts),
        cmocka_unit_test(ruling_01_yaw_rate_is_counter_clockwise),
        cmocka_unit_test(bad_replies_end_the_run),
        cmocka_unit_test(clamped_replies_are_reported),
        cmocka_unit_test(a_controller_is_called_in_time),
        cmocka_unit_test(start_acts_until_the_first_reply),
        cmocka_unit_test(bad_controllers_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
