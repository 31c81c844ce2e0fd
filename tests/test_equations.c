// test_equations.c - the equations of motion against closed forms, conserved quantities and a second
// integrator.
#include "check.h"
#include "equations/multirotor.h"
#include "vehicle/allocation.h"

static const vec3 no_gravity = {0.0, 0.0, 0.0};
static const double air_density = 1.25; // [kg/m^3] of every flight here

static body_params rigid(double mass, mat3 inertia)
{
    return (body_params){1.0 / mass, inertia, mat3_inverse(inertia)};
}

static body_state at_rest(void) { return (body_state){{0, 0, 0}, {0, 0, 0}, {1, 0, 0, 0}, {0, 0, 0}}; }

// Constants of a vehicle for one step size.
static multirotor_params constants_of(const vy_vehicle_def *v, double dt)
{
    return (multirotor_params){
        .body = rigid(v->mass, v->inertia),
        .rotor = {v->thrust_coef, v->torque_coef, exp(-0.5 * dt / v->motor_lag), exp(-dt / v->motor_lag)},
        .effects = {.mass = v->mass, .linear_drag = v->drag_linear, .drag_area = v->cd * v->area},
    };
}

// One copy of the step for all tests: still air, uniform gravity, every effect computed.
static void step(const rotor_layout *layout, const multirotor_params *p, double dt, vec3 gravity,
                 const body_loads *held, const double *command, body_state *s, double *speed)
{
    const environment_model env = {.gravity = {.uniform = gravity},
                                   .air = {.mode = ATMOSPHERE_STANDARD, .density = air_density}};
    const multirotor_inputs in = {.layout = layout,
                                  .params = p,
                                  .env = &env,
                                  .held = {*held, {0, 0, 0}, 0.0, 0.0},
                                  .flags = EFFECTS_OF_BODIES};
    multirotor_step(&in, dt, command, s, speed);
}

// A body without rotors: `steps` steps of `dt` under constant loads.
static void fly_body(const multirotor_params *p, double dt, int steps, vec3 gravity, const body_loads *held,
                     body_state *s)
{
    const rotor_layout none = {0};
    double nothing[ROTOR_CAP] = {0};
    for (int i = 0; i < steps; ++i) step(&none, p, dt, gravity, held, nothing, s, nothing);
}

static vec3 momentum_of(const body_params *p, const body_state *s)
{
    return quat_rotate(s->attitude, mat3_mul_vec(p->inertia, s->rate));
}

// The largest difference between two states, attitudes as angles.
static double state_distance(const body_state *a, const body_state *b)
{
    const double linear =
        fmax(check_distance(a->position, b->position), check_distance(a->velocity, b->velocity));
    return fmax(fmax(linear, check_distance(a->rate, b->rate)), check_angle(a->attitude, b->attitude));
}

// A flight with everything in it: uneven motors that spin up, both kinds of drag, a tensor that is not
// diagonal, loads held in both frames.
static body_state rough_flight(double dt, int steps)
{
    vy_vehicle_def v = vy_default_vehicle_def();
    v.inertia.m[0][1] = v.inertia.m[1][0] = 1e-6;
    v.inertia.m[0][2] = v.inertia.m[2][0] = -2e-6;
    v.drag_linear = (vy_vec3){0.02, 0.04, 0.03};
    v.area = 0.01;
    v.cd = 1.6;
    const rotor_layout layout = vy_layout_build(&v);
    const multirotor_params p = constants_of(&v, dt);
    const body_loads held = {
        {0.02, -0.01, 0.03}, {0.01, 0.02, -0.01}, {2e-5, 1e-5, -1e-5}, {-1e-5, 2e-5, 3e-5}};
    const double command[ROTOR_CAP] = {1600.0, 1580.0, 1590.0, 1615.0};
    double speed[ROTOR_CAP] = {800.0, 900.0, 1000.0, 1100.0};
    body_state s = {{0, 0, 1}, {2, -1, 0.5}, {0.8, 0.36, 0.0, 0.48}, {1.0, -2.0, 3.0}};
    for (int i = 0; i < steps; ++i) {
        step(&layout, &p, dt, (vec3){0, 0, -9.80665}, &held, command, &s, speed);
    }
    return s;
}

// Halving the step of a full flight divides the error by 16.
static void rk4_is_of_fourth_order_in_flight(void **unused)
{
    (void)unused;
    const body_state exact = rough_flight(0.25 / 8000, 8000);
    double before = 0.0;
    for (int steps = 125; steps <= 500; steps *= 2) {
        const body_state s = rough_flight(0.25 / steps, steps);
        const double error = state_distance(&s, &exact);
        print_message("flight: step %g s, error %.2e\n", 0.25 / steps, error);
        if (before > 0.0) assert_near(log2(before / error), 4.0, 0.15);
        before = error;
    }
}

// The brick of the tumble tests: 0.2 x 0.4 x 0.6 m, 1 kg.
static mat3 brick(void) { return mat3_diag(0.52 / 12.0, 0.40 / 12.0, 0.20 / 12.0); }
static const vec3 brick_rate = {0.3, 6.0, 0.2};

static body_state tumble(double dt, int steps)
{
    const multirotor_params p = {.body = rigid(1.0, brick())};
    const body_loads none = loads_zero();
    body_state s = at_rest();
    s.rate = brick_rate;
    fly_body(&p, dt, steps, no_gravity, &none, &s);
    return s;
}

// The same brick by a Taylor series of order 24 in long double: w' and q' are products, so the coefficients
// of their series follow from each other term by term. Shares nothing with the code under test.
enum { ORDER = 24 };

static long double cauchy(const long double *a, const long double *b, int n)
{
    long double sum = 0.0L;
    for (int i = 0; i <= n; ++i) sum += a[i] * b[n - i];
    return sum;
}

static void taylor_step(long double q[4], long double w[3], const long double inertia[3], long double h)
{
    long double cw[3][ORDER + 1], cq[4][ORDER + 1];
    for (int i = 0; i < 3; ++i) cw[i][0] = w[i];
    for (int i = 0; i < 4; ++i) cq[i][0] = q[i];
    for (int n = 0; n < ORDER; ++n) {
        const long double next = (long double)(n + 1);
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            cw[i][n + 1] = (inertia[j] - inertia[k]) / inertia[i] * cauchy(cw[j], cw[k], n) / next;
        }
        const long double *a = cw[0], *b = cw[1], *c = cw[2];
        cq[0][n + 1] = -0.5L * (cauchy(cq[1], a, n) + cauchy(cq[2], b, n) + cauchy(cq[3], c, n)) / next;
        cq[1][n + 1] = 0.5L * (cauchy(cq[0], a, n) + cauchy(cq[2], c, n) - cauchy(cq[3], b, n)) / next;
        cq[2][n + 1] = 0.5L * (cauchy(cq[0], b, n) + cauchy(cq[3], a, n) - cauchy(cq[1], c, n)) / next;
        cq[3][n + 1] = 0.5L * (cauchy(cq[0], c, n) + cauchy(cq[1], b, n) - cauchy(cq[2], a, n)) / next;
    }
    for (int i = 0; i < 3; ++i) {
        w[i] = 0.0L;
        for (int n = ORDER; n >= 0; --n) w[i] = w[i] * h + cw[i][n];
    }
    for (int i = 0; i < 4; ++i) {
        q[i] = 0.0L;
        for (int n = ORDER; n >= 0; --n) q[i] = q[i] * h + cq[i][n];
    }
}

static vy_quat converged_attitude(double time, int steps)
{
    const long double inertia[3] = {0.52L / 12.0L, 0.40L / 12.0L, 0.20L / 12.0L};
    long double q[4] = {1.0L, 0.0L, 0.0L, 0.0L};
    long double w[3] = {(long double)brick_rate.x, (long double)brick_rate.y, (long double)brick_rate.z};
    for (int i = 0; i < steps; ++i) taylor_step(q, w, inertia, (long double)time / steps);
    return (vy_quat){(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
}

// 60 s of the unstable tumble at 1 ms: energy and the length of L to 1e-12, its direction to 1e-10 rad, the
// attitude to 1e-8 rad of the converged one. The worst over the whole minute, not just at its end.
static void tumble_keeps_energy_momentum_and_attitude(void **unused)
{
    (void)unused;
    const multirotor_params p = {.body = rigid(1.0, brick())};
    const body_loads none = loads_zero();
    body_state s = at_rest();
    s.rate = brick_rate;
    const vec3 l0 = momentum_of(&p.body, &s);
    const double e0 = vec3_dot(s.rate, l0);
    double energy = 0.0, length = 0.0, direction = 0.0;
    for (int i = 0; i < 60000; ++i) {
        fly_body(&p, 0.001, 1, no_gravity, &none, &s);
        const vec3 l = momentum_of(&p.body, &s);
        energy = fmax(energy, fabs(vec3_dot(s.rate, mat3_mul_vec(p.body.inertia, s.rate)) / e0 - 1.0));
        length = fmax(length, fabs(vec3_length(l) / vec3_length(l0) - 1.0));
        direction = fmax(direction, atan2(vec3_length(vec3_cross(l, l0)), vec3_dot(l, l0)));
    }
    const vy_quat exact = converged_attitude(60.0, 6000);
    const double angle = check_angle(s.attitude, exact);
    print_message("tumble: energy %.2e, |L| %.2e, direction %.2e rad, attitude %.2e rad\n", energy, length,
                  direction, angle);
    assert_near(check_angle(converged_attitude(60.0, 12000), exact), 0.0, 1e-14);
    assert_near(energy, 0.0, 1e-12);
    assert_near(length, 0.0, 1e-12);
    assert_near(direction, 0.0, 1e-10);
    assert_near(angle, 0.0, 1e-8);
}

// Halving the step of the torque-free brick divides the error by 16.
static void rk4_is_of_fourth_order_in_a_tumble(void **unused)
{
    (void)unused;
    const vy_quat exact = converged_attitude(10.0, 1000);
    double before = 0.0;
    for (int steps = 500; steps <= 4000; steps *= 2) {
        const double error = check_angle(tumble(10.0 / steps, steps).attitude, exact);
        if (before > 0.0) assert_near(log2(before / error), 4.0, 0.15);
        before = error;
    }
}

// Ruling 7: without drag and with rotors at rest a drone has fallen to -0.981 m/s after 0.1 s under 9.81, in
// one step or in a hundred; RK4 integrates a parabola without error but rounding.
static void ruling_07_free_fall_is_a_parabola(void **unused)
{
    (void)unused;
    vy_vehicle_def v = vy_default_vehicle_def();
    v.drag_linear = (vy_vec3){0.0, 0.0, 0.0};
    const rotor_layout layout = vy_layout_build(&v);
    const body_loads none = loads_zero();
    const double off[ROTOR_CAP] = {0};
    for (int steps = 1; steps <= 100; steps *= 10) {
        const multirotor_params p = constants_of(&v, 0.1 / steps);
        double speed[ROTOR_CAP] = {0};
        body_state s = at_rest();
        for (int i = 0; i < steps; ++i) {
            step(&layout, &p, 0.1 / steps, (vec3){0, 0, -9.81}, &none, off, &s, speed);
        }
        assert_near(s.velocity.z, -0.981, 1e-14);
        assert_near(s.position.z, -0.04905, 1e-15);
        assert_true(s.velocity.x == 0.0 && s.velocity.y == 0.0 && s.rate.x == 0.0 && s.attitude.w == 1.0);
    }
}

// A fall with drag k v^2, k = rho Cd A / 2, follows v = vt tanh(g t / vt) and ends at vt = sqrt(m g / k).
static void quadratic_drag_ends_at_terminal_velocity(void **unused)
{
    (void)unused;
    const double mass = 0.5, g = 9.80665, k = 0.02, vt = sqrt(mass * g / k);
    const multirotor_params p = {.body = rigid(mass, mat3_diag(1, 1, 1)),
                                 .effects = {.drag_area = 2.0 * k / air_density}};
    const body_loads none = loads_zero();
    body_state s = at_rest();
    for (int i = 1; i <= 20; ++i) {
        fly_body(&p, 0.001, 1000, (vec3){0, 0, -g}, &none, &s);
        assert_near(s.velocity.z, -vt * tanh(g * i / vt), 1e-11);
        assert_near(s.position.z, -vt * vt / g * log(cosh(g * i / vt)), 1e-10);
    }
    assert_near(s.velocity.z, -vt, 1e-9);
}

// Linear drag alone stops a body exponentially.
static void linear_drag_is_exponential(void **unused)
{
    (void)unused;
    const multirotor_params p = {.body = rigid(0.5, mat3_diag(1, 1, 1)),
                                 .effects = {.linear_drag = {0.1, 0.1, 0.1}}};
    const body_loads none = loads_zero();
    body_state s = at_rest();
    s.velocity = (vec3){3.0, -2.0, 1.0};
    const vec3 v0 = s.velocity;
    fly_body(&p, 0.001, 4000, no_gravity, &none, &s);
    assert_vec_near(s.velocity, vec3_scale(exp(-0.2 * 4.0), v0), 1e-13);
    assert_vec_near(s.position, vec3_scale((1.0 - exp(-0.2 * 4.0)) / 0.2, v0), 1e-12);
}

// Linear drag acts along body axes: nose to the left (yaw 90 degrees), a drone that moves along world +x is
// slowed by its sideways coefficient, along +y by its forward one.
static void linear_drag_turns_with_the_body(void **unused)
{
    (void)unused;
    const multirotor_params p = {.body = rigid(1.0, mat3_diag(1, 1, 1)),
                                 .effects = {.linear_drag = {0.1, 0.5, 0.9}}};
    const body_loads none = loads_zero();
    body_state s = at_rest();
    s.attitude = turn(0.5 * PI, 0, 0, 1);
    s.velocity = (vec3){1.0, 1.0, 1.0};
    fly_body(&p, 0.001, 1000, no_gravity, &none, &s);
    assert_vec_near(s.velocity, ((vec3){exp(-0.5), exp(-0.1), exp(-0.9)}), 1e-13);
}

// Torque about +x on a body spinning about +z: the spin axis moves towards +x, not with the torque's turn, by
// torque / (moment * spin) radians a second.
static void gyroscope_precesses_towards_the_torque(void **unused)
{
    (void)unused;
    const double moment = 0.02, spin = 400.0, torque = 0.4;
    const multirotor_params p = {.body = rigid(1.0, mat3_diag(0.01, 0.01, moment))};
    body_loads held = loads_zero();
    held.torque_world.x = torque;
    body_state s = at_rest();
    s.rate.z = spin;
    fly_body(&p, 0.0001, 10000, no_gravity, &held, &s);
    const vec3 axis = quat_rotate(s.attitude, (vec3){0, 0, 1});
    assert_near(atan2(axis.x, axis.z), atan(torque / (moment * spin)), 1e-4);
    assert_near(axis.y, 0.0, 2e-4); // the wobble on top: torque / spin^2 over the moments
}

// A torque given in world axes changes the angular momentum in world axes by torque times time, for any body
// at any attitude and spin; one given in body axes is the same torque when turned into the world.
static void torques_act_in_their_frame(void **unused)
{
    (void)unused;
    random_source r = {11};
    for (int n = 0; n < 50; ++n) {
        const mat3 turned = quat_matrix(random_attitude(&r));
        const mat3 inertia = mat3_mul(mat3_mul(turned, mat3_diag(0.02, 0.03, 0.04)), mat3_transpose(turned));
        const multirotor_params p = {.body = rigid(1.0, inertia)};
        body_state s = {random_vec(&r, 1.0), random_vec(&r, 1.0), random_attitude(&r), random_vec(&r, 3.0)};

        const vec3 torque = random_vec(&r, 0.1), force = random_vec(&r, 1.0);
        body_loads world = loads_zero(), body = loads_zero();
        world.torque_world = torque;
        world.force_world = force;
        const mat3 rotation = quat_matrix(s.attitude);
        body.torque_body = mat3_tmul_vec(rotation, torque);
        body.force_body = mat3_tmul_vec(rotation, force);
        const body_derivatives a = body_derivative(&p.body, &s, rotation, &world, no_gravity);
        const body_derivatives b = body_derivative(&p.body, &s, rotation, &body, no_gravity);
        assert_vec_near(a.rate_dot, b.rate_dot, 1e-13 * (1.0 + vec3_length(a.rate_dot)));
        assert_vec_near(a.acceleration, force, 1e-15);
        assert_vec_near(b.acceleration, force, 1e-14);

        const vec3 wanted = vec3_add_scaled(momentum_of(&p.body, &s), 1.0, torque);
        fly_body(&p, 0.001, 1000, no_gravity, &world, &s);
        assert_vec_near(momentum_of(&p.body, &s), wanted, 1e-11);
    }
}

// A symmetric top without torque: the body rate turns about its axis, the axis about L; both in closed form.
static void symmetric_top_follows_its_closed_form(void **unused)
{
    (void)unused;
    random_source r = {12};
    for (int n = 0; n < 20; ++n) {
        const double i1 = 0.03, i3 = random_in(&r, 0.005, 0.06), time = 2.0;
        const multirotor_params p = {.body = rigid(1.0, mat3_diag(i1, i1, i3))};
        const body_loads none = loads_zero();
        body_state s = at_rest();
        s.attitude = random_attitude(&r);
        s.rate = random_vec(&r, 4.0);
        const quat q0 = s.attitude;
        const vec3 w0 = s.rate, l = momentum_of(&p.body, &s);
        fly_body(&p, 0.001, 2000, no_gravity, &none, &s);

        const double a = (i3 - i1) / i1 * w0.z * time, length = vec3_length(l);
        const vec3 w = {w0.x * cos(a) - w0.y * sin(a), w0.x * sin(a) + w0.y * cos(a), w0.z};
        const quat precession = turn(length / i1 * time, l.x / length, l.y / length, l.z / length);
        assert_vec_near(s.rate, w, 1e-9);
        assert_near(check_angle(s.attitude, quat_mul(quat_mul(precession, q0), turn(-a, 0, 0, 1))), 0.0,
                    1e-9);
    }
}

// After one lag a rotor has gone 63.2 % of the way, and after two 86.5 %, whatever the step; lag 0 is at
// once.
static void rotor_speed_is_exact_for_every_step(void **unused)
{
    (void)unused;
    const vy_vehicle_def v = vy_default_vehicle_def();
    const rotor_layout layout = vy_layout_build(&v);
    const body_loads none = loads_zero();
    const double command[ROTOR_CAP] = {2000.0, 1000.0, 0.0, 500.0};
    const double start[4] = {0.0, 0.0, 1500.0, 500.0};
    static const int counts[] = {1, 3, 15, 150, 1000};
    for (size_t c = 0; c < 5; ++c) {
        const double dt = v.motor_lag / counts[c];
        const multirotor_params p = constants_of(&v, dt);
        body_state s = at_rest();
        double speed[ROTOR_CAP] = {start[0], start[1], start[2], start[3]};
        for (int lags = 1; lags <= 2; ++lags) {
            for (int i = 0; i < counts[c]; ++i) {
                step(&layout, &p, dt, no_gravity, &none, command, &s, speed);
            }
            for (int k = 0; k < 4; ++k) {
                assert_near(speed[k], command[k] + (start[k] - command[k]) * exp(-lags), 1e-9);
            }
        }
    }
    assert_near(1.0 - exp(-1.0), 0.632, 2e-4);
    assert_true(rotor_speed_after(300.0, 2000.0, 0.0) == 2000.0);
}

// A rotor that runs down comes to rest exactly, and never passes through denormal numbers.
static void rotor_runs_down_to_rest(void **unused)
{
    (void)unused;
    const vy_vehicle_def v = vy_default_vehicle_def();
    const rotor_layout layout = vy_layout_build(&v);
    const multirotor_params p = constants_of(&v, 0.001);
    const body_loads none = loads_zero();
    const double off[ROTOR_CAP] = {0};
    double speed[ROTOR_CAP] = {2500.0, 1.0, 1e-3, 1e-300};
    body_state s = at_rest();
    for (int i = 0; i < 1000; ++i) {
        step(&layout, &p, 0.001, no_gravity, &none, off, &s, speed);
        for (int k = 0; k < 4; ++k) assert_true(speed[k] == 0.0 || speed[k] >= DBL_MIN);
    }
    for (int k = 0; k < 4; ++k) assert_true(speed[k] == 0.0);
}

static rotor_layout layout_of(vy_allocation allocation)
{
    vy_vehicle_def v = vy_default_vehicle_def();
    v.allocation = allocation;
    return vy_layout_build(&v);
}

// Four equal rotors cancel every torque exactly, not approximately: a hovering drone never begins to turn.
static void hover_has_exactly_no_torque(void **unused)
{
    (void)unused;
    const vy_vehicle_def v = vy_default_vehicle_def();
    const multirotor_params p = constants_of(&v, 0.001);
    const body_loads none = loads_zero();
    for (int allocation = 0; allocation < 2; ++allocation) {
        const rotor_layout layout = layout_of((vy_allocation)allocation);
        const double w = vy_vehicle_hover_speed(&v, 9.80665);
        double speed[ROTOR_CAP] = {w, w, w, w};
        body_loads l = loads_zero();
        rotor_add(&layout, &p.rotor, speed, 4, &l);
        assert_true(l.torque_body.x == 0.0 && l.torque_body.y == 0.0 && l.torque_body.z == 0.0);
        assert_true(l.force_body.z == 4.0 * (v.thrust_coef * (w * w)));
        assert_near(l.force_body.z, v.mass * 9.80665, 1e-15);

        const double command[ROTOR_CAP] = {1700, 1700, 1700, 1700};
        body_state s = at_rest();
        for (int i = 0; i < 1000; ++i) {
            step(&layout, &p, 0.001, (vec3){0, 0, -9.80665}, &none, command, &s, speed);
        }
        assert_true(s.rate.x == 0.0 && s.rate.y == 0.0 && s.rate.z == 0.0);
        assert_true(s.attitude.w == 1.0 && s.position.x == 0.0 && s.position.y == 0.0 && s.position.z > 0.0);
    }
}

static int same_vec(vec3 a, vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

// Mirrored drones stay mirrored to the last bit: left for right (y -> -y) and front for back (x -> -x), over
// a thousand steps of changing commands.
static void mirrored_flights_are_mirrored_exactly(void **unused)
{
    (void)unused;
    static const int partner[2][4] = {{1, 0, 3, 2}, {3, 2, 1, 0}};
    random_source r = {13};
    vy_vehicle_def v = vy_default_vehicle_def();
    v.area = 0.003;
    v.cd = 1.6;
    const multirotor_params p = constants_of(&v, 0.001);
    for (int run = 0; run < 4; ++run) {
        const rotor_layout layout = layout_of((vy_allocation)(run / 2));
        const int *swap = partner[run % 2];
        const double mx = run % 2 ? -1.0 : 1.0, my = -mx; // the sign of each axis in the mirror
        body_state a = {random_vec(&r, 1), random_vec(&r, 5), random_attitude(&r), random_vec(&r, 5)};
        double sa[ROTOR_CAP] = {0}, sb[ROTOR_CAP] = {0};
        body_state b = {{mx * a.position.x, my * a.position.y, a.position.z},
                        {mx * a.velocity.x, my * a.velocity.y, a.velocity.z},
                        {a.attitude.w, my * a.attitude.x, mx * a.attitude.y, -a.attitude.z},
                        {my * a.rate.x, mx * a.rate.y, -a.rate.z}};
        for (int i = 0; i < 1000; ++i) {
            double ca[ROTOR_CAP] = {0}, cb[ROTOR_CAP] = {0};
            for (int k = 0; k < 4; ++k) ca[k] = random_in(&r, 0.0, 2500.0);
            for (int k = 0; k < 4; ++k) cb[k] = ca[swap[k]];
            body_loads ha = loads_zero(), hb = loads_zero();
            ha.force_world = random_vec(&r, 0.1);
            hb.force_world = (vec3){mx * ha.force_world.x, my * ha.force_world.y, ha.force_world.z};
            step(&layout, &p, 0.001, (vec3){0, 0, -9.80665}, &ha, ca, &a, sa);
            step(&layout, &p, 0.001, (vec3){0, 0, -9.80665}, &hb, cb, &b, sb);
        }
        assert_true(same_vec(b.position, (vec3){mx * a.position.x, my * a.position.y, a.position.z}));
        assert_true(same_vec(b.velocity, (vec3){mx * a.velocity.x, my * a.velocity.y, a.velocity.z}));
        assert_true(same_vec(b.rate, (vec3){my * a.rate.x, mx * a.rate.y, -a.rate.z}));
        assert_true(b.attitude.w == a.attitude.w && b.attitude.x == my * a.attitude.x &&
                    b.attitude.y == mx * a.attitude.y && b.attitude.z == -a.attitude.z);
    }
}

// For every number of rotors the wrench is the plain sum over rotors.
static void wrench_is_the_sum_for_every_count(void **unused)
{
    (void)unused;
    random_source r = {14};
    for (int count = 0; count <= ROTOR_CAP; ++count) {
        rotor_layout layout = {.count = count};
        const rotor_params p = {2e-8, 5e-10, 0.5, 0.5};
        double speed[ROTOR_CAP] = {0}, force = 0.0;
        vec3 torque = {0, 0, 0};
        for (int i = 0; i < count; ++i) {
            layout.roll[i] = random_in(&r, -0.1, 0.1);
            layout.pitch[i] = random_in(&r, -0.1, 0.1);
            layout.yaw[i] = i % 2 ? 1.0 : -1.0;
            speed[i] = random_in(&r, 0.0, 2500.0);
            const double t = p.thrust_coef * speed[i] * speed[i];
            force += t;
            torque.x += layout.roll[i] * t;
            torque.y += layout.pitch[i] * t;
            torque.z += layout.yaw[i] * p.torque_coef * speed[i] * speed[i];
        }
        body_loads l = loads_zero();
        rotor_add(&layout, &p, speed, count, &l);
        assert_near(l.force_body.z, force, 1e-15);
        assert_vec_near(l.torque_body, torque, 1e-16);

        // and the step takes the same count: thrust alone lifts a body at rest
        const multirotor_params m = {.body = rigid(1.0, mat3_diag(1, 1, 1)), .rotor = p};
        body_state s = at_rest();
        double held_speed[ROTOR_CAP];
        memcpy(held_speed, speed, sizeof speed);
        const body_loads none = loads_zero();
        step(&layout, &m, 1e-3, no_gravity, &none, speed, &s, held_speed);
        assert_near(s.velocity.z, 1e-3 * force, 1e-12);
        assert_vec_near(s.rate, vec3_scale(1e-3, torque), 1e-12);
    }
}

// q' is half the product of q and the body rate, and the step leaves q at unit length.
static void attitude_derivative_is_half_the_product(void **unused)
{
    (void)unused;
    random_source r = {15};
    for (int n = 0; n < 500; ++n) {
        const quat q = random_attitude(&r);
        const vec3 w = random_vec(&r, 10.0);
        const quat d = attitude_derivative(q, w),
                   wanted = quat_scale(0.5, quat_mul(q, quat_make(0, w.x, w.y, w.z)));
        const quat e = quat_add_scaled(d, -1.0, wanted);
        assert_near(quat_dot(e, e), 0.0, 1e-29);
        const body_state s = tumble(random_in(&r, 1e-4, 1e-2), 3);
        assert_near(quat_dot(s.attitude, s.attitude), 1.0, 1e-15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rk4_is_of_fourth_order_in_flight),
        cmocka_unit_test(rk4_is_of_fourth_order_in_a_tumble),
        cmocka_unit_test(tumble_keeps_energy_momentum_and_attitude),
        cmocka_unit_test(ruling_07_free_fall_is_a_parabola),
        cmocka_unit_test(quadratic_drag_ends_at_terminal_velocity),
        cmocka_unit_test(linear_drag_is_exponential),
        cmocka_unit_test(linear_drag_turns_with_the_body),
        cmocka_unit_test(gyroscope_precesses_towards_the_torque),
        cmocka_unit_test(torques_act_in_their_frame),
        cmocka_unit_test(symmetric_top_follows_its_closed_form),
        cmocka_unit_test(rotor_speed_is_exact_for_every_step),
        cmocka_unit_test(rotor_runs_down_to_rest),
        cmocka_unit_test(hover_has_exactly_no_torque),
        cmocka_unit_test(mirrored_flights_are_mirrored_exactly),
        cmocka_unit_test(wrench_is_the_sum_for_every_count),
        cmocka_unit_test(attitude_derivative_is_half_the_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
