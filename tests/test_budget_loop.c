// test_budget_loop.c - a budget in closed loop: the bound is true, it holds in most flights that no limit
// touches, it is close to what happens, and it says so where there is none.
//
// By default a slice of the flights; `test_budget_loop 500` flies 500, `test_budget_loop 500 lee` all by one
// law, `test_budget_loop 500 all 7` others.
#include "nap_flights.h"
#include "world/budget_loop.h"

static int flights = 60, only = 7; // law: LAWS for all
static uint64_t seed = 1901;

enum { SECONDS = 10 };

#define HURRY_TRUTH    1.0
#define HURRY_ESTIMATE 0.3

static vy_vec3 box(random_source *r, double across, double along)
{
    const double x = random_in(r, -across, across), y = random_in(r, -across, across);
    return (vy_vec3){x, y, random_in(r, -along, along)};
}

// [m/s^2] The largest planned acceleration: with the estimator its noise takes its part of what the bound
// allows for.
static double random_hurry(random_source *r, const vy_drone_def *d)
{
    return d->truth ? random_in(r, 0.05, HURRY_TRUTH) : random_in(r, 0.02, HURRY_ESTIMATE);
}

// A flight from place to place.
static void random_places(random_source *r, vy_drone_def *d)
{
    vy_controller_def *c = &d->controller;
    vec3 at = d->position;
    double time = random_in(r, 0.2, 1.0), yaw = 0.0;
    c->setpoint_count = 0;
    while (c->setpoint_count < 6 && time < SECONDS) {
        c->setpoints[c->setpoint_count++] = (vy_setpoint){time, at, yaw};
        const vec3 next = vec3_add(at, box(r, 2.0, 0.5));
        const double way = vec3_length(vec3_sub(next, at)), turn = random_in(r, -0.5, 0.5);
        // A way d in a time T takes 5.8 d / T^2, a turn 1.9 / T of its angle.
        const double first = random_hurry(r, d), second = random_in(r, 0.0, 1.0);
        time += real_max(sqrt(5.8 * way / first), 4.0 * fabs(turn)) + second;
        at = next;
        yaw += turn;
    }
}

// A line, circle, figure eight or helix, or waypoints at the least snap.
static void random_path(random_source *r, vy_drone_def *d)
{
    vy_path_def *p = &d->controller.path;
    const double hurry = random_hurry(r, d);
    p->kind = (vy_path_kind)(VY_PATH_LINE + random_bits(r) % 5);
    p->start = random_in(r, 0.2, 1.0);
    p->centre = d->position;
    p->to = vec3_add(d->position, box(r, 3.0, 0.5));
    p->radius = random_in(r, 0.5, 3.0);
    p->climb = random_in(r, -0.5, 0.5);
    p->laps = 5.0;
    p->speed = sqrt(0.7 * hurry * p->radius);
    p->ramp = 2.2 * p->speed / (0.7 * hurry); // at most 2.2 times the mean
    p->acceleration = hurry;
    if (p->kind == VY_PATH_CIRCLE || p->kind == VY_PATH_HELIX) d->position.x += p->radius;
    p->waypoint_count = 2 + (int)(random_bits(r) % 3);
    p->waypoints[0] = (vy_waypoint){d->position, 0.0};
    for (int i = 1; i < p->waypoint_count; ++i) {
        const vec3 next = vec3_add(p->waypoints[i - 1].position, box(r, 2.0, 0.5));
        p->waypoints[i] = (vy_waypoint){next, p->waypoints[i - 1].yaw + random_in(r, -0.3, 0.3)};
    }
}

// Laws that follow a plan, a velocity, sticks, and the autopilot.
enum { LAW_NDI, LAW_INDI, LAW_LEE, LAW_MELLINGER, LAW_VELOCITY, LAW_STICKS, LAW_AUTOPILOT, LAWS };
static const char *const law_names[LAWS] = {"ndi",      "indi",   "lee",      "mellinger",
                                            "velocity", "sticks", "autopilot"};

// A velocity that is kept from the start on.
static void random_velocity(random_source *r, vy_drone_def *d)
{
    vy_controller_def *c = &d->controller;
    c->kind = VY_CONTROLLER_INTENT;
    c->start.rung = VY_RUNG_VELOCITY;
    c->start.velocity = ball(r, random_hurry(r, d) / c->gains.velocity);
    c->start.yaw_rate = random_in(r, -0.1, 0.1);
    if (!chance(r, 0.5)) return;
    const vec3 moves = ball(r, 2.0);
    d->velocity = moves;
    c->start.velocity = vec3_add(c->start.velocity, moves);
}

// Sticks that move the drone no quicker than it may hurry.
static void random_sticks(random_source *r, vy_drone_def *d)
{
    vy_pilot_def *p = &d->controller.pilot;
    const double hurry = random_hurry(r, d);
    p->response = random_in(r, 0.3, 1.5);
    p->speed = p->strafe = hurry / p->response;
    p->climb = 0.5 * p->speed;
    p->yaw_rate = random_in(r, 0.05, 0.3);
    if (!d->truth) p->yaw_rate *= 0.3;
}

static void random_intent(random_source *r, vy_drone_def *d)
{
    vy_controller_def *c = &d->controller;
    random_sticks(r, d);
    c->kind = VY_CONTROLLER_INTENT;
    c->start.rung = VY_RUNG_PILOT;
    c->start.throttle = (int)(random_bits(r) % 11);
    c->start.strafe = random_in(r, -1.0, 1.0);
    c->start.vertical = random_in(r, -1.0, 1.0);
    c->start.yaw = random_in(r, -1.0, 1.0);
}

// A target ahead, above or below; or one aside, towards which it turns. Then it flies along the edge of its
// tolerance, where every correction is decided by a hair.
static void random_target(random_source *r, vy_drone_def *d)
{
    vy_controller_def *c = &d->controller;
    random_sticks(r, d);
    c->kind = VY_CONTROLLER_AUTOPILOT;
    const double way = random_in(r, 1.0, 5.0);
    c->autopilot.def.radius = random_in(r, 0.3, 0.8);
    c->autopilot.def.yaw_tolerance = random_in(r, 0.1, 0.3);
    const double ahead = 0.5 * c->autopilot.def.yaw_tolerance * c->autopilot.def.radius / way;
    const double side = random_in(r, -1.0, 1.0) * (chance(r, 0.25) ? 0.8 : ahead);
    c->autopilot.target =
        vec3_add(d->position, (vec3){way * cos(side), way * sin(side), random_in(r, -2.0, 2.0)});
    c->autopilot.has_target = 1;
    c->autopilot.def.altitude = c->autopilot.target.z;
    c->autopilot.def.throttle = 5 + (int)(random_bits(r) % 6);
}

static int random_law(random_source *r, vy_drone_def *d)
{
    vy_controller_def *c = &d->controller;
    const int drawn = (int)(random_bits(r) % LAWS), law = only < LAWS ? only : drawn;
    if (law == LAW_INDI || (law >= LAW_VELOCITY && chance(r, 0.3))) c->rate_law = VY_RATE_LAW_INDI;
    if (law == LAW_LEE) c->kind = VY_CONTROLLER_LEE;
    if (law == LAW_MELLINGER) c->kind = VY_CONTROLLER_MELLINGER;
    if ((law == LAW_LEE || law == LAW_MELLINGER) && chance(r, 0.5)) c->period = 0.002;
    if (law == LAW_VELOCITY) random_velocity(r, d);
    if (law == LAW_STICKS) random_intent(r, d);
    if (law == LAW_AUTOPILOT) random_target(r, d);
    return law;
}

static vy_drone_def random_flyer(random_source *r, int *law)
{
    static const char *const vehicles[] = {"crazyflie2x", "crazyflie2x-physical", "reference-quad"};
    vy_drone_def d = vy_default_drone_def();
    assert_int_equal(vy_vehicle_preset(vehicles[random_bits(r) % 3], &d.vehicle, NULL), VY_OK);
    d.rotor_speed = vy_vehicle_hover_speed(&d.vehicle, 9.80665);
    d.vehicle.rotor_air.inertia = 0.0; // a loop with it has no bound
    d.truth = (int)(random_bits(r) % 2);
    d.position = (vy_vec3){0, 0, 50};
    const double noise = scattered(r, 0.05, 1.0); // of sensors as good as the default ones, or better
    d.imu.accel_noise *= noise;
    d.imu.gyro_noise *= noise;
    d.imu.accel_bias *= noise;
    d.imu.gyro_bias *= noise;
    d.mocap.position_noise *= noise;
    d.mocap.attitude_noise *= noise;
    const double weight = 9.80665 * d.vehicle.mass, size = cbrt(d.vehicle.mass);
    vy_vehicle_def *v = &d.vehicle;
    v->drag_linear = vec3_scale(weight, scattered_vec(r, 1e-6, 3e-3));
    v->area = size * size * scattered(r, 1e-4, 1e-2);
    v->cd = random_in(r, 0.0, 2.0);
    v->cl = chance(r, 0.3) ? random_in(r, -0.5, 0.5) : 0.0;
    v->volume = v->mass * scattered(r, 1e-6, 1e-3);
    v->pressure_centre = ball(r, chance(r, 0.3) ? 0.02 * size : 0.0);
    v->damping = vec3_scale(v->inertia.m[0][0], scattered_vec(r, 1e-5, 1e-1));
    v->dipole = ball(r, 1e-2 * v->mass);
    v->density_scaling = chance(r, 0.2);
    if (chance(r, 0.5)) {
        random_places(r, &d);
    } else {
        random_path(r, &d);
    }
    *law = random_law(r, &d);
    return d;
}

static void random_air(random_source *r, vy_environment_def *e)
{
    e->atmosphere.mode = (vy_atmosphere_mode)(1 + random_bits(r) % 2);
    if (chance(r, 0.5)) e->wind.constant = ball(r, 3.0);
    if (chance(r, 0.5)) e->magnetic_field = ball(r, 5e-5);
    e->nap.budget.duration = SECONDS;
    e->nap.budget.position = scattered(r, 1e-3, 1e-1);
    e->nap.budget.attitude = chance(r, 0.7) ? scattered(r, 1e-3, 5e-2) : VY_BUDGET_ANY;
    e->nap.period = 1e-3 * (double)(10 + 10 * (random_bits(r) % 5));
}

static vy_disturbance_def random_push(random_source *r, const vy_vehicle_def *v)
{
    vy_disturbance_def d = vy_default_disturbance_def();
    d.force = ball(r, v->mass * scattered(r, 1e-4, 1e-1));
    d.torque = ball(r, v->inertia.m[0][0] * scattered(r, 1e-4, 1e-1));
    d.kind = chance(r, 0.5) ? VY_DISTURBANCE_CONSTANT : VY_DISTURBANCE_SINUSOID;
    d.frequency = scattered(r, 0.1, 5.0);
    d.start = random_in(r, 0.0, 2.0);
    return d;
}

typedef struct outcome {
    double real[4], stated[4]; // largest of the flight, stated at its end
    double bounded;            // share of the time
    int law, truth, saturated, some, broken;
} outcome;

// A flight beside the strict one. What is stated is true at any moment.
static outcome fly_both(int number, random_source *r)
{
    outcome o = {0};
    vy_world_def wd = vy_default_world_def();
    wd.seed = (uint64_t)number;
    random_air(r, &wd.environment);
    const vy_drone_def drone = random_flyer(r, &o.law);
    const vy_disturbance_def push = random_push(r, &drone.vehicle);
    vy_world *world[2];
    for (int strict = 0; strict < 2; ++strict) {
        wd.environment.nap.strict = strict;
        world[strict] = fly_in(&wd, &drone);
        assert_int_equal(vy_world_add_disturbance(world[strict], &push, NULL), VY_OK);
    }
    int looks = 0, known = 0;
    vy_certificate c = {0};
    for (uint64_t tick = 1; tick <= 1000 * SECONDS; ++tick) {
        assert_int_equal(vy_world_advance(world[0], 1) & VY_EVENT_FAILED, 0);
        (void)vy_world_advance(world[1], 1);
        const vy_drone_state x = state_of(world[0], 0), y = state_of(world[1], 0);
        const double now[4] = {check_distance(x.rate, y.rate), check_angle(x.attitude, y.attitude),
                               check_distance(x.velocity, y.velocity),
                               check_distance(x.position, y.position)};
        for (int i = 0; i < 4; ++i) o.real[i] = real_max(o.real[i], now[i]);
        if (tick % 17 != 0 && tick < 1000 * SECONDS) continue;
        c = certificate_of(world[0]);
        const double s[4] = {c.rate, c.angle, c.velocity, c.position};
        memcpy(o.stated, s, sizeof s);
        for (int i = 0; i < 4; ++i) {
            if (o.real[i] <= s[i] + 1e-10) continue;
            fail_msg("flight %d, %g s: %d is %g apart, stated %g", number, 1e-3 * (double)tick, i, o.real[i],
                     s[i]);
        }
        ++looks;
        known += c.bounded && c.budget.standing != VY_BUDGET_NO_BOUND;
    }
    o.truth = drone.truth;
    o.saturated = state_of(world[1], 0).clamps > 0;
    o.bounded = (double)known / looks;
    o.some = c.total_impulse + c.total_angular_impulse > 0.0;
    o.broken = c.budget.standing == VY_BUDGET_EXCEEDED;
    vy_world_destroy(world[0]);
    vy_world_destroy(world[1]);
    return o;
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void closed_loops_keep_their_budget(void **unused)
{
    (void)unused;
    static const char *const names[] = {"rate", "angle", "velocity", "position"};
    random_source r = {seed};
    int calm = 0, bounded = 0, some = 0, broken = 0, count = 0, of_law[LAWS][2] = {{0}},
        held[LAWS][2] = {{0}};
    double *ratios[4];
    for (int i = 0; i < 4; ++i) ratios[i] = calloc((size_t)flights, sizeof(double));
    for (int n = 0; n < flights; ++n) {
        const outcome o = fly_both(n, &r);
        if (o.saturated) continue;
        ++calm;
        bounded += o.bounded >= 0.9;
        ++of_law[o.law][o.truth];
        held[o.law][o.truth] += o.bounded >= 0.9;
        some += o.some;
        broken += o.broken;
        if (!o.some || !(o.real[3] > 1e-9) || o.stated[3] >= NAP_UNBOUNDED) continue;
        for (int i = 0; i < 4; ++i) ratios[i][count] = o.stated[i] / o.real[i];
        ++count;
    }
    print_message(
        "%d flights, %d without saturation, %d bounded 90 %% of the time, %d left something out, %d "
        "broke their budget\n",
        flights, calm, bounded, some, broken);
    for (int i = 0; i < LAWS; ++i)
        print_message("%-9s with the truth %d of %d, with the estimator %d of %d\n", law_names[i], held[i][1],
                      of_law[i][1], held[i][0], of_law[i][0]);
    for (int i = 0; i < 4; ++i) {
        qsort(ratios[i], (size_t)count, sizeof(double), compare_numbers);
        print_message("%-8s %d seen; stated over measured: least %.2f, median %.1f, at 90 %% %.1f\n",
                      names[i], count, ratios[i][0], ratios[i][count / 2], ratios[i][count * 9 / 10]);
        assert_true(ratios[i][count / 2] <= 100.0);
        free(ratios[i]);
    }
    assert_true(only < LAWS || bounded * 10 >= calm * 8);
    assert_true(some * 10 >= calm * 7);
}

// A drone that hovers in a light breeze, of which it may leave out the drag.
static vy_drone_def hovering(vy_world_def *wd, int truth)
{
    vy_drone_def d = vy_default_drone_def();
    d.truth = truth;
    d.position.z = 50.0;
    d.vehicle.drag_linear = (vy_vec3){1e-5, 1e-5, 1e-5};
    wd->environment.wind.constant = (vy_vec3){1.0, 0, 0};
    wd->environment.nap.budget = (vy_budget_def){10.0, 0.01, 1e-2};
    return d;
}

// A jump of the setpoint saturates tilt and rotors: something was left out by then, so the budget breaks, and
// nothing is left out from there on.
static void saturation_ends_the_bound(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    vy_drone_def d = hovering(&wd, 1);
    d.controller.setpoint_count = 3;
    d.controller.setpoints[0] = (vy_setpoint){0.0, d.position, 0.0};
    d.controller.setpoints[1] = (vy_setpoint){5.0, d.position, 0.0};
    d.controller.setpoints[2] = (vy_setpoint){6.0, {30, 0, 50}, 0.0};
    // The plan alone says so ahead; a push that no plan has does not.
    for (int planned = 0; planned < 2; ++planned) {
        if (!planned) d.controller.setpoint_count = 1;
        if (planned) d.controller.setpoint_count = 3;
        vy_world *world = fly_in(&wd, &d);
        vy_disturbance_def push = vy_default_disturbance_def();
        push.start = 5.0;
        push.duration = 0.5;
        push.force = (vy_vec3){planned ? 0.0 : 8.0 * d.vehicle.mass, 0, 0};
        assert_int_equal(vy_world_add_disturbance(world, &push, NULL), VY_OK);
        (void)vy_world_advance(world, 4900);
        const vy_certificate before = certificate_of(world);
        assert_int_equal(before.budget.standing, planned ? VY_BUDGET_NO_BOUND : VY_BUDGET_WITHIN);
        assert_int_equal(before.total_impulse > 0.0, !planned);
        (void)vy_world_advance(world, 1500);
        const vy_certificate c = certificate_of(world);
        assert_int_equal(c.budget.standing, planned ? VY_BUDGET_NO_BOUND : VY_BUDGET_EXCEEDED);
        assert_true((c.effects & EFFECT_BIT(linear_drag)) != 0);
        if (!planned) assert_true(c.budget.exceeded_time > 4.9 && c.budget.exceeded_time < 6.0 && !c.bounded);
        vy_world_destroy(world);
    }
}

// The same flight with the budget and strictly, for `seconds`; returns how far the places come to be apart.
static double fly_apart(vy_world_def *wd, const vy_drone_def *d, const vy_disturbance_def *push, int seconds,
                        vy_certificate *c)
{
    vy_world *world[2];
    double apart = 0.0;
    for (int strict = 0; strict < 2; ++strict) {
        wd->environment.nap.strict = strict;
        world[strict] = fly_in(wd, d);
        if (push != NULL) assert_int_equal(vy_world_add_disturbance(world[strict], push, NULL), VY_OK);
    }
    for (int n = 0; n < 100 * seconds; ++n) {
        (void)vy_world_advance(world[0], 10);
        (void)vy_world_advance(world[1], 10);
        apart =
            real_max(apart, check_distance(state_of(world[0], 0).position, state_of(world[1], 0).position));
    }
    *c = certificate_of(world[0]);
    vy_world_destroy(world[0]);
    vy_world_destroy(world[1]);
    return apart;
}

// Sticks that go ahead, and a torque left out that turns the nose: the drone goes on in another direction,
// and the bound is for that alone. A torque t about the vertical turns it by t / (I k_yaw k_rate).
static void a_heading_that_is_off_leads_elsewhere(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.environment.atmosphere.mode = VY_ATMOSPHERE_NONE;
    wd.environment.nap.budget = (vy_budget_def){10.0, 0.05, 1e-2};
    vy_drone_def d = vy_default_drone_def();
    d.truth = 1;
    d.position.z = 50.0;
    d.velocity.x = 3.0;
    vy_vehicle_def *v = &d.vehicle;
    v->drag_linear = (vy_vec3){0, 0, 0};
    v->area = v->volume = 0.0;
    vy_controller_def *c = &d.controller;
    c->kind = VY_CONTROLLER_INTENT;
    c->start.rung = VY_RUNG_PILOT;
    c->start.throttle = 10;
    c->pilot.speed = 3.0;
    const double turn = 1e-4, inertia = v->inertia.m[2][2];
    vy_disturbance_def push = vy_default_disturbance_def();
    push.frame = VY_FRAME_BODY;
    push.torque = (vy_vec3){0, 0, turn * inertia * c->gains.yaw * c->gains.rate};
    push.start = 1.0;
    vy_certificate told;
    const double apart = fly_apart(&wd, &d, &push, 10, &told), expected = turn * 3.0 * 9.0;
    assert_int_equal(told.budget.standing, VY_BUDGET_WITHIN);
    assert_true(apart > 0.8 * expected && apart < 1.1 * expected);
    assert_true(told.position >= apart && told.position < 10.0 * apart);
}

// An autopilot that arrives: where it stops is decided every 10 ms, 4 mm apart. Over radii that cover that
// way there is one at which the strict flight decides otherwise; then the budget is broken, and else the
// bound true.
static void a_switch_within_reach_ends_the_bound(void **unused)
{
    (void)unused;
    int kept = 0, broken = 0;
    for (int n = 0; n < 40; ++n) {
        vy_world_def wd = vy_default_world_def();
        vy_drone_def d = hovering(&wd, 1);
        vy_controller_def *c = &d.controller;
        c->kind = VY_CONTROLLER_AUTOPILOT;
        c->pilot.speed = 0.4;
        c->pilot.response = 1.0;
        c->pilot.yaw_rate = 0.2;
        c->pilot.climb = 0.1;
        d.vehicle.drag_linear = (vy_vec3){2e-6, 2e-6, 2e-6};
        c->autopilot.target = (vy_vec3){1.5, 0, 50};
        c->autopilot.def.altitude = 50.0;
        c->autopilot.def.throttle = 10;
        c->autopilot.def.radius = 0.5 + 1e-4 * n;
        vy_certificate told;
        const double apart = fly_apart(&wd, &d, NULL, 6, &told);
        assert_true(told.total_impulse > 0.0);
        kept += told.budget.standing == VY_BUDGET_WITHIN;
        broken += told.budget.standing == VY_BUDGET_EXCEEDED;
        if (told.budget.standing == VY_BUDGET_WITHIN) assert_true(apart > 0.0 && apart <= told.position);
    }
    print_message("autopilot: %d kept, %d broken at a switch\n", kept, broken);
    assert_true(kept >= 20 && broken >= 1);
}

// What has no bound neglects nothing: other controllers and estimators, motors, turbulence.
static void other_loops_have_no_bound(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 5; ++kind) {
        vy_world_def wd = vy_default_world_def();
        vy_drone_def d = hovering(&wd, 1);
        if (kind == 0) d.controller.kind = VY_CONTROLLER_INTENT, d.controller.start.rung = VY_RUNG_ATTITUDE;
        if (kind == 1) d.truth = 0, d.estimator.kind = VY_ESTIMATOR_EKF;
        if (kind == 2) d.vehicle.motor_lag_down = 0.03;
        if (kind == 4) d.truth = 0, d.estimator.kind = VY_ESTIMATOR_COMPLEMENTARY;
        if (kind == 3) wd.environment.wind.turbulence.intensity = 0.1;
        vy_world *world = fly_in(&wd, &d);
        (void)vy_world_advance(world, 1000);
        const vy_certificate c = certificate_of(world);
        assert_int_equal(c.budget.standing, VY_BUDGET_NO_BOUND);
        assert_true(c.total_impulse == 0.0 && c.total_angular_impulse == 0.0);
        vy_world_destroy(world);
    }
}

// A drone that a joint, a fault or a contact may move is not the loop that the bound knows.
static void what_may_be_moved_has_no_bound(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 4; ++kind) {
        vy_world_def wd = vy_default_world_def();
        const vy_drone_def d = hovering(&wd, 1);
        wd.contacts.on = kind == 1;
        vy_world *world = fly_in(&wd, &d);
        if (kind == 2) {
            vy_joint_def tether = vy_default_joint_def();
            tether.kind = VY_JOINT_CABLE;
            tether.body_b = vy_world_body(world, 0);
            tether.length = 100.0;
            assert_int_equal(vy_world_add_joint(world, &tether, NULL, NULL), VY_OK);
        }
        if (kind == 3) {
            vy_fault_def fault = vy_default_fault_def();
            fault.kind = VY_FAULT_MOTOR_WEAK;
            fault.start = 9.0;
            fault.size = 0.9;
            assert_int_equal(vy_world_add_fault(world, &fault, NULL), VY_OK);
        }
        (void)vy_world_advance(world, 1000);
        assert_int_equal(vy_loop_is_isolated(world, 0), kind == 0);
        const vy_certificate c = certificate_of(world);
        assert_true((c.budget.standing == VY_BUDGET_WITHIN && c.total_impulse > 0.0) == (kind == 0));
        vy_world_destroy(world);
    }
}

// What an autopilot may be off by is a share of the way and of the turn between two of its decisions, or what
// is allowed where that is less.
static void an_autopilot_has_less_to_spend(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    vy_drone_def d = hovering(&wd, 1);
    d.controller.kind = VY_CONTROLLER_AUTOPILOT;
    d.controller.autopilot.target = (vy_vec3){1.5, 0, 50};
    d.controller.autopilot.def.altitude = 50.0;
    d.controller.autopilot.def.throttle = 10;
    vy_world *world = fly_in(&wd, &d);
    (void)vy_world_advance(world, 10);
    vy_budget_def wide = {10.0, 1e6, 1e6}, narrow = {10.0, 1e-9, 1e-9};
    vy_loop_limit_budget(world, 0, &wide);
    vy_loop_limit_budget(world, 0, &narrow);
    assert_true(wide.position > 0.0 && wide.position < 1.0 && wide.attitude > 0.0 && wide.attitude < 1.0);
    assert_near(narrow.position, 1e-9, 0.0);
    assert_near(narrow.attitude, 1e-9, 0.0);
    vy_world_destroy(world);
}

// The envelope and the bound are state: a flight goes on from a snapshot with the same bits.
static void bounds_are_state(void **unused)
{
    (void)unused;
    for (int truth = 0; truth < 2; ++truth) {
        vy_world_def wd = vy_default_world_def();
        const vy_drone_def d = hovering(&wd, truth);
        vy_world *a = fly_in(&wd, &d), *b = fly_in(&wd, &d);
        (void)vy_world_advance(a, 1234);
        assert_true(certificate_of(a).total_impulse > 0.0);
        void *block = malloc(vy_world_state_size(a));
        vy_world_save(a, block);
        assert_int_equal(vy_world_restore(b, block, vy_world_state_size(a), NULL), VY_OK);
        (void)vy_world_advance(a, 1000);
        (void)vy_world_advance(b, 1000);
        assert_true(vy_world_hash(a) == vy_world_hash(b));
        assert_true(certificate_of(a).position == certificate_of(b).position);
        free(block);
        vy_world_destroy(a);
        vy_world_destroy(b);
    }
}

// What is observed of a flight is rounded up: a root is no less than what it is the root of.
static void what_is_observed_covers_the_flight(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    vy_drone_def d = hovering(&wd, 1);
    d.velocity = vec3_make(0.31, -0.17, 0.05);
    vy_world *world = fly_in(&wd, &d);
    int looked = 0, widest = 0;
    for (int k = 0; k < 3000; ++k) {
        const vec3 v = world->drones[0].body.velocity;
        (void)vy_world_advance(world, 1);
        const double speed = world->loop_states[0].observed[ENVELOPE_SPEED], square = vec3_dot(v, v);
        if (speed == 0.0) continue; // begun anew
        assert_true(speed * speed >= square);
        ++looked;
        widest += speed * speed <= square * (1.0 + 1e-14);
    }
    assert_true(looked > 2000 && widest > 10);
    vy_world_destroy(world);
}

// Bodies beside a drone: each has its budget, and the state has room for all of them.
static void bodies_have_budgets_too(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    const vy_drone_def d = hovering(&wd, 1);
    vy_world *world = fly_in(&wd, &d);
    for (int i = 0; i < 100; ++i) {
        vy_world_body_def body = vy_default_world_body_def();
        body.position = (vy_vec3){10.0 * i + 10.0, 0, 500};
        body.area = 1e-8;
        body.cd = 1.0;
        assert_int_equal(vy_world_add_body(world, &body, NULL, NULL), VY_OK);
    }
    (void)vy_world_advance(world, 700);
    vy_certificate c;
    for (uint32_t i = 0; i < vy_world_body_count(world); ++i) {
        assert_int_equal(vy_world_certificate(world, vy_world_body(world, i), &c), VY_OK);
        assert_int_equal(c.budget.standing, VY_BUDGET_WITHIN);
        assert_true(c.total_impulse > 0.0);
    }
    vy_world_destroy(world);
}

int main(int argc, char **argv)
{
    if (argc > 1) flights = atoi(argv[1]);
    if (argc > 3) seed = strtoull(argv[3], NULL, 10);
    for (int i = 0; argc > 2 && i < LAWS; ++i)
        if (strcmp(argv[2], law_names[i]) == 0) only = i;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_loops_keep_their_budget),
        cmocka_unit_test(saturation_ends_the_bound),
        cmocka_unit_test(a_heading_that_is_off_leads_elsewhere),
        cmocka_unit_test(a_switch_within_reach_ends_the_bound),
        cmocka_unit_test(other_loops_have_no_bound),
        cmocka_unit_test(what_may_be_moved_has_no_bound),
        cmocka_unit_test(an_autopilot_has_less_to_spend),
        cmocka_unit_test(bounds_are_state),
        cmocka_unit_test(what_is_observed_covers_the_flight),
        cmocka_unit_test(bodies_have_budgets_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
