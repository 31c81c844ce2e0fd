// test_integrators.c - potentials and integrators of bodies, against closed forms and their own order.
#include "check.h"
#include "volery/bodies.h"

static vy_bodies *set_of(double dt, vy_integrator integrator)
{
    vy_bodies_def def = vy_default_bodies_def();
    def.dt = dt;
    def.integrator = integrator;
    def.gravity = (vy_vec3){0, 0, 0};
    vy_bodies *b = NULL;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    return b;
}

static vy_body_id add(vy_bodies *b, double mass, vy_vec3 moments, vy_body_state state)
{
    vy_body_def def = vy_default_body_def();
    def.mass = mass;
    def.inertia = mat3_diag(moments.x, moments.y, moments.z);
    def.state = state;
    vy_body_id id;
    assert_int_equal(vy_bodies_add(b, &def, &id, NULL), VY_OK);
    return id;
}

static vy_body_state state_of(const vy_bodies *b, vy_body_id id)
{
    vy_body_state s;
    assert_int_equal(vy_body_read(b, id, &s), VY_OK);
    return s;
}

static const vy_quat UPRIGHT = {1, 0, 0, 0};

// ---- potentials

// Ruling 6: V = -m g.r, so that 10 kg at 100 m has +9810 J and the force is m g.
static void ruling_06_gravity_has_positive_energy_above(void **unused)
{
    (void)unused;
    vy_potential p;
    assert_int_equal(vy_potential_uniform((vy_vec3){0, 0, -9.81}, &p, NULL), VY_OK);
    const vy_potential_body b = {.state = {.position = {3, 4, 100}, .attitude = UPRIGHT}, .mass = 10.0};
    assert_near(vy_potential_energy(&p, &b), 9810.0, 1e-9);
    assert_vec_near(vy_potential_force(&p, &b), ((vy_vec3){0, 0, -98.1}), 1e-12);
    assert_vec_near(vy_potential_torque(&p, &b), ((vy_vec3){0, 0, 0}), 0.0);
}

static double energy_at(const vy_potential *p, vy_potential_body b, vy_vec3 shift, vy_vec3 turned)
{
    b.state.position = vec3_add(b.state.position, shift);
    const double angle = vec3_length(turned);
    if (angle > 0.0) {
        b.state.attitude =
            quat_mul(turn(angle, turned.x / angle, turned.y / angle, turned.z / angle), b.state.attitude);
    }
    return vy_potential_energy(p, &b);
}

static double custom_energy(const void *self, const vy_potential_body *b)
{
    const double k = *(const double *)self;
    return k * b->state.position.x * b->state.position.y;
}

static void custom_loads(const void *self, const vy_potential_body *b, vy_vec3 *force, vy_vec3 *torque)
{
    const double k = *(const double *)self;
    *force = (vy_vec3){-k * b->state.position.y, -k * b->state.position.x, 0};
    *torque = (vy_vec3){0, 0, 0};
}

// Force and torque are minus the slope of the energy, for every kind: differences of the energy alone.
static void potential_loads_are_slopes(void **unused)
{
    (void)unused;
    random_source r = {21};
    double k = 3.0;
    for (int trial = 0; trial < 60; ++trial) {
        vy_potential p[5];
        assert_int_equal(vy_potential_uniform(random_vec(&r, 9), &p[0], NULL), VY_OK);
        assert_int_equal(vy_potential_central(40.0, random_vec(&r, 1), &p[1], NULL), VY_OK);
        const vec3 b_end = random_vec(&r, 1), a_end = random_vec(&r, 1);
        assert_int_equal(vy_potential_spring(7.0, 0.5, a_end, b_end, &p[2], NULL), VY_OK);
        const vec3 field = random_vec(&r, 2), dipole = random_vec(&r, 2);
        assert_int_equal(vy_potential_magnetic(dipole, field, &p[3], NULL), VY_OK);
        p[4] = (vy_potential){.kind = VY_POTENTIAL_CUSTOM, .custom = {&k, custom_loads, custom_energy}};
        vy_potential_body b = {.mass = 1.5,
                               .inertia = {{{0.5, 0.05, -0.1}, {0.05, 0.4, 0.02}, {-0.1, 0.02, 0.3}}}};
        b.state.position = vec3_add(random_vec(&r, 1), (vy_vec3){4, 0, 0});
        b.state.attitude = random_attitude(&r);
        for (int n = 0; n < 5; ++n) {
            assert_int_equal(vy_potential_check(&p[n], NULL), VY_OK);
            const double h = 1e-4;
            double f[3], t[3];
            for (int c = 0; c < 3; ++c) {
                const vy_vec3 e = {h * (c == 0), h * (c == 1), h * (c == 2)}, z = {0, 0, 0};
                f[c] = -(energy_at(&p[n], b, e, z) - energy_at(&p[n], b, vec3_neg(e), z)) / (2 * h);
                t[c] = -(energy_at(&p[n], b, z, e) - energy_at(&p[n], b, z, vec3_neg(e))) / (2 * h);
            }
            assert_vec_near(vy_potential_force(&p[n], &b), ((vy_vec3){f[0], f[1], f[2]}), 2e-6);
            assert_vec_near(vy_potential_torque(&p[n], &b), ((vy_vec3){t[0], t[1], t[2]}), 2e-6);
        }
    }
}

static void potential_refuses_bad_numbers(void **unused)
{
    (void)unused;
    vy_potential p = {.kind = VY_POTENTIAL_NONE};
    assert_int_equal(vy_potential_uniform((vy_vec3){0, NOT_A_NUMBER, 0}, &p, NULL), VY_BAD_VALUE);
    assert_int_equal(vy_potential_central(0.0, (vy_vec3){0, 0, 0}, &p, NULL), VY_BAD_VALUE);
    assert_int_equal(vy_potential_spring(-1.0, 0, (vy_vec3){0, 0, 0}, (vy_vec3){0, 0, 0}, &p, NULL),
                     VY_BAD_VALUE);
    assert_int_equal(vy_potential_spring(1.0, -1, (vy_vec3){0, 0, 0}, (vy_vec3){0, 0, 0}, &p, NULL),
                     VY_BAD_VALUE);
    assert_int_equal(vy_potential_magnetic((vy_vec3){INFINITE, 0, 0}, (vy_vec3){0, 0, 0}, &p, NULL),
                     VY_BAD_VALUE);
    assert_int_equal(p.kind, VY_POTENTIAL_NONE);
    vy_bodies *b = set_of(1e-3, VY_INTEGRATOR_RK4);
    assert_int_equal(vy_bodies_add_potential(b, &p, VY_NULL_BODY, NULL), VY_BAD_VALUE);
    assert_int_equal(vy_potential_uniform((vy_vec3){0, 0, 1}, &p, NULL), VY_OK);
    assert_int_equal(vy_bodies_add_potential(b, &p, (vy_body_id){5}, NULL), VY_NOT_FOUND);
    for (int k = 0; k < 1 << 16; ++k)
        assert_int_equal(vy_bodies_add_potential(b, &p, VY_NULL_BODY, NULL), VY_OK);
    assert_int_equal(vy_bodies_add_potential(b, &p, VY_NULL_BODY, NULL), VY_FULL);
    vy_bodies_destroy(b);
}

// A dumbbell on a circular orbit swings about the radius with sqrt(3 (Iy - Iz)/Ix) of the orbit's rate
// (Beletsky): the tidal torque, with its force on the orbit.
static void potential_tidal_libration(void **unused)
{
    (void)unused;
    const double mu = 1000.0, radius = 10.0, n = sqrt(mu / (radius * radius * radius));
    const vy_vec3 moments = {1e-6, 9e-6, 9.5e-6}; // long along x, spins about z; tiny beside the orbit
    vy_bodies *b = set_of(1e-3, VY_INTEGRATOR_RK4);
    const double angle = 0.01;
    const vy_body_id id = add(b, 1.0, moments,
                              (vy_body_state){.position = {radius, 0, 0},
                                              .velocity = {0, n * radius, 0},
                                              .attitude = turn(angle, 0, 0, 1),
                                              .rate = {0, 0, n}});
    vy_potential p;
    assert_int_equal(vy_potential_central(mu, (vy_vec3){0, 0, 0}, &p, NULL), VY_OK);
    assert_int_equal(vy_bodies_add_potential(b, &p, id, NULL), VY_OK);
    // In-plane libration: theta'' = -3 n^2 (Iy - Ix) / Iz theta.
    const double w = n * sqrt(3.0 * (moments.y - moments.x) / moments.z);
    const int quarter = (int)(0.5 * PI / w / 1e-3 + 0.5);
    for (int k = 1; k <= 4 * quarter; ++k) {
        vy_bodies_step(b);
        if (k % quarter != 0) continue;
        const vy_body_state s = state_of(b, id);
        const vy_vec3 axis = quat_rotate(s.attitude, (vy_vec3){1, 0, 0});
        const double off = atan2(s.position.x * axis.y - s.position.y * axis.x,
                                 s.position.x * axis.x + s.position.y * axis.y);
        assert_near(off, angle * cos(w * k * 1e-3), 2e-5);
    }
    vy_bodies_destroy(b);
}

// ---- integrators

/// Far enough from symmetric that nothing cancels: a spinning body on a spring at a corner, with a magnet.
static vy_body_state flown(double dt, double time, vy_integrator integrator)
{
    vy_bodies *b = set_of(dt, integrator);
    const vy_body_id id = add(b, 0.5, (vy_vec3){0.02, 0.03, 0.04},
                              (vy_body_state){.position = {0.3, -0.2, 0.1},
                                              .velocity = {0.4, 0.5, -0.6},
                                              .attitude = turn(0.7, 0.36, 0.48, 0.8),
                                              .rate = {1.0, -2.0, 1.5}});
    vy_potential spring, magnet;
    assert_int_equal(
        vy_potential_spring(6.0, 0.3, (vy_vec3){0, 0, 0.8}, (vy_vec3){0.1, 0.05, 0}, &spring, NULL), VY_OK);
    assert_int_equal(vy_potential_magnetic((vy_vec3){0.3, 0, 0.1}, (vy_vec3){0.2, 0.5, 0}, &magnet, NULL),
                     VY_OK);
    vy_bodies_add_potential(b, &spring, id, NULL);
    vy_bodies_add_potential(b, &magnet, VY_NULL_BODY, NULL);
    const int steps = (int)(time / dt + 0.5);
    for (int k = 0; k < steps; ++k) {
        vy_body_apply_force_at(b, id, (vy_vec3){0, 0.2, 0.3}, VY_FRAME_BODY, (vy_vec3){0.1, 0, 0},
                               VY_FRAME_BODY);
        assert_int_equal(vy_bodies_step(b), 0);
    }
    const vy_body_state s = state_of(b, id);
    vy_bodies_destroy(b);
    return s;
}

static double difference(const vy_body_state *a, const vy_body_state *b)
{
    return check_distance(a->position, b->position) + check_distance(a->velocity, b->velocity) +
           check_distance(a->rate, b->rate) + check_angle(a->attitude, b->attitude);
}

// Halving the step divides the error by 2 to the order.
static void integrator_orders(void **unused)
{
    (void)unused;
    const vy_body_state exact = flown(1.0 / 4096, 1.0, VY_INTEGRATOR_RK4);
    const vy_integrator all[] = {VY_INTEGRATOR_EULER, VY_INTEGRATOR_SEMI_IMPLICIT, VY_INTEGRATOR_RK4,
                                 VY_INTEGRATOR_LIE_MIDPOINT};
    for (int n = 0; n < 4; ++n) {
        const double dt = all[n] == VY_INTEGRATOR_RK4 ? 1.0 / 64 : 1.0 / 512;
        const vy_body_state coarse = flown(dt, 1.0, all[n]), fine = flown(dt / 2, 1.0, all[n]);
        const double order = log2(difference(&coarse, &exact) / difference(&fine, &exact));
        print_message("%s: error %.2e, order %.3f\n", vy_integrator_name(all[n]), difference(&fine, &exact),
                      order);
        assert_near(order, vy_integrator_order(all[n]), 0.1);
    }
}

// Ruling 9: forward Euler moves with the old velocity, semi-implicit with the new one.
static void ruling_09_first_step_of_each_euler(void **unused)
{
    (void)unused;
    const double h = 0.125; // a power of two: the products are exact
    for (int n = 0; n < 2; ++n) {
        vy_bodies *b = set_of(h, n == 0 ? VY_INTEGRATOR_EULER : VY_INTEGRATOR_SEMI_IMPLICIT);
        const vy_body_id id =
            add(b, 2.0, (vy_vec3){1, 1, 1}, (vy_body_state){.velocity = {1, 0, 0}, .attitude = UPRIGHT});
        vy_body_apply_force(b, id, (vy_vec3){0, 4, 0}, VY_FRAME_WORLD);
        vy_body_apply_torque(b, id, (vy_vec3){0, 0, 1}, VY_FRAME_WORLD);
        vy_bodies_step(b);
        const vy_body_state s = state_of(b, id);
        assert_true(s.velocity.y == 0.25 && s.position.x == 0.125);
        assert_true(s.position.y == (n == 0 ? 0.0 : 0.03125));
        assert_true(s.rate.z == 0.125);
        // The turn of the quaternion: none with the old rate, z = h w / 2 over the length with the new one.
        assert_near(s.attitude.z, n == 0 ? 0.0 : 0.5 * h * 0.125 / sqrt(1 + 0.25 * h * h * 0.015625), 1e-17);
        vy_bodies_destroy(b);
    }
}

// Ruling 9: the gyroscopic term. A brick spun about its middle axis turns over and over; energy and momentum
// stay. The Lie midpoint rule keeps both to rounding at any step; RK4 to its order.
static void ruling_09_tennis_racket(void **unused)
{
    (void)unused;
    const vy_vec3 moments = {0.13 / 3, 0.1 / 3, 0.05 / 3};
    const struct {
        vy_integrator integrator;
        double dt, energy, momentum;
    } runs[] = {{VY_INTEGRATOR_RK4, 1e-3, 1e-12, 1e-10},
                {VY_INTEGRATOR_LIE_MIDPOINT, 1e-3, 1e-13, 1e-13},
                {VY_INTEGRATOR_LIE_MIDPOINT, 2e-2, 1e-13, 1e-13}};
    for (int n = 0; n < 3; ++n) {
        vy_bodies *b = set_of(runs[n].dt, runs[n].integrator);
        const vy_body_id id = add(
            b, 1.0, moments, (vy_body_state){.attitude = turn(1.0, 0, 0.6, 0.8), .rate = {1e-3, 6, 1e-3}});
        vy_vec3 p, before, now;
        vy_bodies_read_momentum(b, &p, &before);
        const double energy = vy_body_rotational_energy(b, id);
        int flips = 0, side = 1;
        double worst = 0.0, drift = 0.0;
        for (int k = 0; k < (int)(60.0 / runs[n].dt); ++k) {
            vy_bodies_step(b);
            const double w = state_of(b, id).rate.y;
            if (w * side < -3.0) {
                flips += 1;
                side = -side;
            }
            worst = fmax(worst, fabs(vy_body_rotational_energy(b, id) / energy - 1.0));
            vy_bodies_read_momentum(b, &p, &now);
            drift = fmax(drift, check_distance(now, before) / vec3_length(before));
        }
        print_message("%s %g s: energy %.1e, momentum %.1e, %d flips\n",
                      vy_integrator_name(runs[n].integrator), runs[n].dt, worst, drift, flips);
        assert_true(flips >= 7);
        assert_near(worst, 0.0, runs[n].energy);
        assert_near(drift, 0.0, runs[n].momentum);
        vy_bodies_destroy(b);
    }
}

// A symmetric top free in space: the body's axis circles the momentum at L / I1, whatever the step's frame.
static void integrator_free_precession(void **unused)
{
    (void)unused;
    const double i1 = 0.02, i3 = 0.03, spin = 8.0, across = 2.0;
    vy_bodies *b = set_of(1e-3, VY_INTEGRATOR_RK4);
    const vy_quat start = turn(0.9, 0.48, 0.6, 0.64);
    const vy_body_id id =
        add(b, 1.0, (vy_vec3){i1, i1, i3}, (vy_body_state){.attitude = start, .rate = {across, 0, spin}});
    const vy_vec3 l = quat_rotate(start, (vy_vec3){i1 * across, 0, i3 * spin});
    const vy_vec3 axis = quat_rotate(start, (vy_vec3){0, 0, 1});
    const double rate = vec3_length(l) / i1;
    for (int k = 0; k < 2000; ++k) vy_bodies_step(b);
    const vy_vec3 u = vec3_scale(1.0 / vec3_length(l), l);
    const vy_vec3 want = quat_rotate(turn(rate * 2.0, u.x, u.y, u.z), axis);
    assert_vec_near(quat_rotate(state_of(b, id).attitude, (vy_vec3){0, 0, 1}), want, 1e-9);
    vy_bodies_destroy(b);
}

// A projectile: RK4 and Verlet are exact on a parabola; and the integrator may change in flight.
static void integrator_parabola_and_change(void **unused)
{
    (void)unused;
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b = NULL;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    const vy_body_id id =
        add(b, 1.0, (vy_vec3){1, 1, 1}, (vy_body_state){.velocity = {3, 0, 10}, .attitude = UPRIGHT});
    const vy_bodies_energy e0 = vy_bodies_read_energy(b);
    for (int k = 0; k < 1000; ++k) {
        if (k == 500) assert_int_equal(vy_bodies_set_integrator(b, VY_INTEGRATOR_LIE_MIDPOINT), VY_OK);
        vy_bodies_step(b);
    }
    assert_int_equal(vy_bodies_integrator(b), VY_INTEGRATOR_LIE_MIDPOINT);
    assert_int_equal(vy_bodies_set_integrator(b, (vy_integrator)9), VY_BAD_VALUE);
    assert_near(vy_bodies_time(b), 1.0, 1e-15);
    assert_vec_near(state_of(b, id).position, ((vy_vec3){3, 0, 10 - 0.5 * 9.80665}), 1e-11);
    const vy_bodies_energy e1 = vy_bodies_read_energy(b);
    assert_near(e1.kinetic + e1.potential, e0.kinetic + e0.potential, 1e-10);
    vy_bodies_destroy(b);
}

// Ruling 17: the attitude keeps unit length to 1e-10 over 10,000 steps of a fast spin, with every integrator.
static void ruling_17_unit_attitude(void **unused)
{
    (void)unused;
    for (int n = VY_INTEGRATOR_EULER; n <= VY_INTEGRATOR_LIE_MIDPOINT; ++n) {
        vy_bodies *b = set_of(1e-3, (vy_integrator)n);
        const vy_body_id id =
            add(b, 1.0, (vy_vec3){1, 1, 1}, (vy_body_state){.attitude = UPRIGHT, .rate = {10, -20, 30}});
        double worst = 0.0;
        for (int k = 0; k < 10000; ++k) {
            vy_bodies_step(b);
            const vy_quat q = state_of(b, id).attitude;
            worst = fmax(worst, fabs(quat_dot(q, q) - 1.0));
        }
        assert_near(worst, 0.0, 1e-15);
        vy_bodies_destroy(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ruling_06_gravity_has_positive_energy_above),
        cmocka_unit_test(potential_loads_are_slopes),
        cmocka_unit_test(potential_refuses_bad_numbers),
        cmocka_unit_test(potential_tidal_libration),
        cmocka_unit_test(integrator_orders),
        cmocka_unit_test(ruling_09_first_step_of_each_euler),
        cmocka_unit_test(ruling_09_tennis_racket),
        cmocka_unit_test(integrator_free_precession),
        cmocka_unit_test(integrator_parabola_and_change),
        cmocka_unit_test(ruling_17_unit_attitude),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
