// test_joints.c - joined bodies against closed forms of mechanics.
#include "joint_sets.h"

/// Time at which x(t) crosses zero downwards, within a step by a straight line.
static double crossing(double t, double dt, double before, double now)
{
    return t + dt * before / (before - now);
}

// A physical pendulum from a hull's inertia, swinging +-2 rad: T = 4 K(sin(a/2)) sqrt(I / (m g l)). By hinge
// and by ball joint.
static void joints_pendulum_period(void **unused)
{
    (void)unused;
    const double half = 0.3, amplitude = 2.0, mass = 1.3;
    for (int kind = VY_JOINT_BALL; kind <= VY_JOINT_HINGE; ++kind) {
        vy_bodies *b = set_of(G);
        const vy_quat q = turn(amplitude, 0, 1, 0); // from hanging along -z
        const vy_vec3 down = quat_rotate(q, (vy_vec3){0, 0, -half});
        vy_body_state s = {.position = down, .attitude = q};
        const vy_body_id id = add_box(b, mass, (vy_vec3){0.05, 0.08, half}, s);
        join(b, (vy_joint_kind)kind, VY_NULL_BODY, id, (vy_vec3){0, 0, 0}, (vy_vec3){0, 1, 0});
        double m;
        vy_mat3 inertia;
        assert_int_equal(vy_body_read_mass(b, id, &m, &inertia), VY_OK);
        const double about = inertia.m[1][1] + m * half * half; // Steiner
        const double want = 4.0 * elliptic_k(sin(0.5 * amplitude)) * sqrt(about / (m * G * half));
        double before = down.x, first = -1.0, last = 0.0;
        for (int k = 0; k < 8000; ++k) {
            assert_int_equal(vy_bodies_step(b), 0);
            const double x = state_of(b, id).position.x;
            if (before > 0.0 && x <= 0.0) {
                last = crossing(k * 1e-3, 1e-3, before, x);
                if (first < 0.0) first = last;
            }
            before = x;
        }
        const double periods = floor((last - first) / want + 0.5);
        assert_true(periods >= 2.0);
        assert_near((last - first) / periods, want, 1e-6);
        vy_bodies_destroy(b);
    }
}

// Order of convergence with joints: the pendulum once more, each integrator with its own.
static vy_vec3 swung(double dt, vy_integrator integrator)
{
    vy_bodies_def def = vy_default_bodies_def();
    def.dt = def.joint_step = dt;
    def.integrator = integrator;
    vy_bodies *b = NULL;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    vy_body_id ids[2];
    add_chain(b, 2, ids);
    for (int k = 0; k < 2; ++k) { // a spin about the link moves no joint
        vy_body_state s = state_of(b, ids[k]);
        s.rate.x = 40.0 - 70.0 * k;
        assert_int_equal(vy_body_set_state(b, ids[k], &s), VY_OK);
    }
    run(b, (int)(0.5 / dt + 0.5));
    const vy_vec3 p = state_of(b, ids[1]).position;
    vy_bodies_destroy(b);
    return p;
}

static void joints_keep_the_order(void **unused)
{
    (void)unused;
    const vy_vec3 exact = swung(1.0 / 16384, VY_INTEGRATOR_RK4);
    const vy_integrator all[] = {VY_INTEGRATOR_EULER, VY_INTEGRATOR_SEMI_IMPLICIT, VY_INTEGRATOR_RK4,
                                 VY_INTEGRATOR_LIE_MIDPOINT};
    for (int n = 0; n < 4; ++n) {
        const double dt = all[n] == VY_INTEGRATOR_RK4 ? 1.0 / 512 : 1.0 / 2048;
        const double coarse = check_distance(swung(dt, all[n]), exact),
                     fine = check_distance(swung(dt / 2, all[n]), exact);
        const double order = log2(coarse / fine);
        print_message("%s with joints: error %.1e, order %.2f\n", vy_integrator_name(all[n]), fine, order);
        assert_true(order > vy_integrator_order(all[n]) - 0.2);
    }
}

// A heavy top on its tip. Steady precession at W needs I3 w3 W - I1 W^2 cos a = m g l; it then keeps its tilt
// and circles at W. (I1 about the tip, w3 the whole spin about the axis.)
static void joints_top_precession(void **unused)
{
    (void)unused;
    const double m = 0.5, l = 0.1, i3 = 2e-3, i1 = 3e-3 + m * l * l, tilt = 0.6, w = 2.0;
    const double spin = (m * G * l + i1 * w * w * cos(tilt)) / (i3 * w);
    vy_bodies *b = set_of(G);
    vy_body_def def = vy_default_body_def();
    def.mass = m;
    def.inertia = mat3_diag(3e-3, 3e-3, i3);
    def.state.attitude = turn(tilt, 0, 1, 0); // the axis leans towards +x
    def.state.position = quat_rotate(def.state.attitude, (vy_vec3){0, 0, l});
    // Angular velocity: W about world z, and the rest of the spin about the axis.
    const vy_vec3 up = quat_unrotate(def.state.attitude, (vy_vec3){0, 0, w});
    def.state.rate = (vy_vec3){up.x, up.y, spin};
    const vy_vec3 world = quat_rotate(def.state.attitude, def.state.rate);
    def.state.velocity = vec3_cross(world, def.state.position);
    vy_body_id id;
    assert_int_equal(vy_bodies_add(b, &def, &id, NULL), VY_OK);
    join(b, VY_JOINT_BALL, VY_NULL_BODY, id, (vy_vec3){0, 0, 0}, (vy_vec3){0, 0, 1});
    for (int k = 1; k <= 4000; ++k) {
        assert_int_equal(vy_bodies_step(b), 0);
        if (k % 100 != 0) continue;
        const double angle = w * k * 1e-3;
        const vy_vec3 want = {l * sin(tilt) * cos(angle), l * sin(tilt) * sin(angle), l * cos(tilt)};
        assert_vec_near(state_of(b, id).position, want, 5e-6 * l);
    }
    vy_bodies_destroy(b);
}

// Nutation: let go with its axis at rest, a top falls to the tilt where 2 I1 m g l (1 - u^2) = L3^2 (u0 - u)
// and comes back to where it began.
static void joints_top_nutation(void **unused)
{
    (void)unused;
    const double m = 0.5, l = 0.1, i3 = 2e-3, i1 = 3e-3 + m * l * l, tilt = 0.8, spin = 60.0;
    vy_bodies *b = set_of(G);
    vy_body_def def = vy_default_body_def();
    def.mass = m;
    def.inertia = mat3_diag(3e-3, 3e-3, i3);
    def.state.attitude = turn(tilt, 0, 1, 0);
    def.state.position = quat_rotate(def.state.attitude, (vy_vec3){0, 0, l});
    def.state.rate = (vy_vec3){0, 0, spin};
    vy_body_id id;
    assert_int_equal(vy_bodies_add(b, &def, &id, NULL), VY_OK);
    join(b, VY_JOINT_BALL, VY_NULL_BODY, id, (vy_vec3){0, 0, 0}, (vy_vec3){0, 0, 1});
    double low = 1.0, high = -1.0;
    for (int k = 0; k < 3000; ++k) {
        vy_bodies_step(b);
        const double u = state_of(b, id).position.z / l;
        low = fmin(low, u);
        high = fmax(high, u);
    }
    const double p = (i3 * spin) * (i3 * spin) / (2.0 * i1 * m * G * l), u0 = cos(tilt);
    const double want = 0.5 * (p - sqrt(p * p - 4.0 * p * u0 + 4.0)); // of u^2 - p u + p u0 - 1 = 0
    assert_near(low, want, 1e-5);                                     // of the steps beside the turning point
    assert_near(high, u0, 1e-5);
    vy_bodies_destroy(b);
}

// A double pendulum swings wildly and keeps its energy; so does a closed loop of four bars.
static void joints_double_pendulum_energy(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(G);
    const vy_body_id one = add_box(b, 1.0, (vy_vec3){0.25, 0.02, 0.02}, standing(0.25, 0, 0));
    const vy_body_id two = add_box(b, 0.7, (vy_vec3){0.25, 0.02, 0.02}, standing(0.75, 0, 0));
    join(b, VY_JOINT_HINGE, VY_NULL_BODY, one, (vy_vec3){0, 0, 0}, (vy_vec3){0, 1, 0});
    join(b, VY_JOINT_HINGE, one, two, (vy_vec3){0.5, 0, 0}, (vy_vec3){0, 1, 0});
    const double range = G * (1.0 * 0.25 + 0.7 * 0.75);
    double worst = 0.0;
    const double start = total_energy(b);
    for (int k = 0; k < 10000; ++k) {
        assert_int_equal(vy_bodies_step(b), 0);
        worst = fmax(worst, fabs(total_energy(b) - start) / range);
    }
    print_message("double pendulum, 10 s: energy error %.1e of its range\n", worst);
    assert_near(worst, 0.0, 1e-8);
    assert_near(state_of(b, two).position.y, 0.0, 1e-12); // hinges keep the plane
    vy_bodies_destroy(b);
}

// The ten-link chain, level start: gap and energy as the worst of starts perturbed by 1e-9 rad/s.
static void joints_chain_energy(void **unused)
{
    (void)unused;
    double worst = 0.0, gap = 0.0, range = 0.0;
    for (int k = 0; k < 10; ++k) range += 0.1 * G * (k + 0.5) * 0.2;
    for (int start = 0; start < 3; ++start) {
        vy_bodies *b = set_of(G);
        vy_body_id ids[10];
        add_chain(b, 10, ids);
        vy_body_state s = state_of(b, ids[0]);
        s.rate.y = 1e-9 * start;
        assert_int_equal(vy_body_set_state(b, ids[0], &s), VY_OK);
        const double energy = total_energy(b);
        for (int k = 0; k < 5000; ++k) {
            assert_int_equal(vy_bodies_step(b), 0);
            worst = fmax(worst, fabs(total_energy(b) - energy) / range);
            const vy_body_state x = state_of(b, ids[8]), y = state_of(b, ids[9]);
            const vy_vec3 tip = vec3_add(x.position, quat_rotate(x.attitude, (vy_vec3){0.1, 0, 0}));
            const vy_vec3 tail = vec3_sub(y.position, quat_rotate(y.attitude, (vy_vec3){0.1, 0, 0}));
            gap = fmax(gap, check_distance(tip, tail));
        }
        vy_bodies_destroy(b);
    }
    print_message("chain of 10, 5 s: gap %.1e m, energy error %.1e of its range\n", gap, worst);
    assert_near(gap, 0.0, 1e-11);
    assert_near(worst, 0.0, 1e-4);
}

// Joints inside are no force from outside: momentum stays to rounding, angular momentum to the order.
static void joints_keep_momentum(void **unused)
{
    (void)unused;
    random_source r = {31};
    vy_bodies *b = set_of(0.0);
    vy_body_id ids[6];
    for (int k = 0; k < 6; ++k) {
        ids[k] = add_box(b, 0.1 + 0.1 * k, (vy_vec3){0.1, 0.03, 0.02}, standing(0.2 * k, 0, 0));
    }
    const vy_joint_kind kinds[] = {VY_JOINT_BALL, VY_JOINT_HINGE, VY_JOINT_UNIVERSAL, VY_JOINT_SLIDER,
                                   VY_JOINT_FIXED};
    for (int k = 0; k < 5; ++k) {
        vy_joint_def def = vy_default_joint_def();
        def.kind = kinds[k];
        assert_int_equal(vy_joint_set_frames(b, ids[k], ids[k + 1], (vy_vec3){0.2 * k + 0.1, 0, 0},
                                             (vy_vec3){0, 1, 0}, &def),
                         VY_OK);
        if (kinds[k] == VY_JOINT_UNIVERSAL) def.axis_b = (vy_vec3){0, 0, 1};
        if (kinds[k] == VY_JOINT_SLIDER) def.stiffness = 20.0;
        assert_int_equal(vy_bodies_add_joint(b, &def, NULL, NULL), VY_OK);
    }
    for (int k = 0; k < 6; ++k) vy_body_apply_impulse(b, ids[k], random_vec(&r, 0.2), VY_FRAME_WORLD);
    vy_vec3 p0, l0, p1, l1;
    run(b, 1); // the first step takes away what the joints do not allow
    vy_bodies_read_momentum(b, &p0, &l0);
    const double energy = total_energy(b);
    run(b, 5000);
    vy_bodies_read_momentum(b, &p1, &l1);
    print_message("six bodies, 5 s: momentum %.1e, angular %.1e, energy %.1e\n", check_distance(p1, p0),
                  check_distance(l1, l0), total_energy(b) / energy - 1.0);
    assert_vec_near(p1, p0, 1e-13);
    assert_vec_near(l1, l0, 1e-8);
    assert_near(total_energy(b), energy, 1e-6 * energy);
    vy_bodies_destroy(b);
}

// A chain at rest between two points hangs in a catenary: sag a (cosh(x/2a) - 1) with 2 a sinh(x/2a) =
// length.
static void joints_catenary(void **unused)
{
    (void)unused;
    enum { LINKS = 30 };
    const double link = 0.05, length = LINKS * link, span = 1.1;
    vy_bodies *b = set_with(2e-3, G, VY_INTEGRATOR_RK4);
    // Start as a V of straight halves, which fits the ends.
    const double drop = sqrt(0.25 * length * length - 0.25 * span * span), angle = atan2(drop, 0.5 * span);
    vy_body_id ids[LINKS];
    vy_body_id last = VY_NULL_BODY;
    vy_vec3 at = {0, 0, 0};
    for (int k = 0; k < LINKS; ++k) {
        const double way = k < LINKS / 2 ? angle : -angle; // a turn about +y points +x downwards
        const vy_vec3 along = {link * cos(way), 0, -link * sin(way)};
        vy_body_state s = {.position = vec3_add_scaled(at, 0.5, along), .attitude = turn(way, 0, 1, 0)};
        ids[k] = add_box(b, 0.01, (vy_vec3){0.5 * link, 0.005, 0.005}, s);
        join(b, VY_JOINT_BALL, last, ids[k], at, (vy_vec3){0, 0, 1});
        last = ids[k];
        at = vec3_add(at, along);
    }
    join(b, VY_JOINT_BALL, last, VY_NULL_BODY, (vy_vec3){span, 0, 0}, (vy_vec3){0, 0, 1});
    for (int k = 0; k < 4000; ++k) { // through syrup, until it rests
        for (int n = 0; n < LINKS; ++n) {
            vy_body_apply_force(b, ids[n], vec3_scale(-0.08, state_of(b, ids[n]).velocity), VY_FRAME_WORLD);
        }
        assert_int_equal(vy_bodies_step(b), 0);
    }
    assert_true(vec3_length(state_of(b, ids[LINKS / 2]).velocity) < 1e-4);
    double low = 0.1, high = 10.0; // bisection on 2 a sinh(span / 2 a) = length, which falls with a
    for (int n = 0; n < 60; ++n) {
        const double a = 0.5 * (low + high);
        *(2 * a * sinh(span / (2 * a)) > length ? &low : &high) = a;
    }
    const double a = low;
    const vy_body_state middle = state_of(b, ids[LINKS / 2]);
    const vy_vec3 lowest =
        vec3_sub(middle.position, quat_rotate(middle.attitude, (vy_vec3){0.5 * link, 0, 0}));
    assert_near(lowest.x, 0.5 * span, 1e-3);
    assert_near(-lowest.z, a * (cosh(span / (2 * a)) - 1.0), 1e-3); // thirty straight links, not a curve
    vy_bodies_destroy(b);
}

// Two masses between walls on three equal springs: modes at sqrt(k/m) and sqrt(3k/m).
static void joints_coupled_oscillators(void **unused)
{
    (void)unused;
    const double k = 50.0, m = 0.4;
    for (int mode = 0; mode < 2; ++mode) {
        vy_bodies *b = set_of(0.0);
        const double shift = 0.01, w = sqrt((mode == 0 ? 1.0 : 3.0) * k / m);
        const vy_body_id x = add_box(b, m, (vy_vec3){0.05, 0.05, 0.05}, standing(1.0 + shift, 0, 0));
        const vy_body_id y =
            add_box(b, m, (vy_vec3){0.05, 0.05, 0.05}, standing(2.0 + (mode == 0 ? shift : -shift), 0, 0));
        const vy_body_id ends[3][2] = {{VY_NULL_BODY, x}, {x, y}, {y, VY_NULL_BODY}};
        for (int n = 0; n < 3; ++n) {
            vy_joint_def def = vy_default_joint_def();
            def.kind = VY_JOINT_SPRING;
            def.body_a = ends[n][0];
            def.body_b = ends[n][1];
            if (n == 2) def.anchor_b = (vy_vec3){3, 0, 0};
            def.length = 1.0;
            def.stiffness = k;
            assert_int_equal(vy_bodies_add_joint(b, &def, NULL, NULL), VY_OK);
        }
        for (int n = 1; n <= 2000; ++n) {
            run(b, 1);
            assert_near(state_of(b, x).position.x, 1.0 + shift * cos(w * n * 1e-3), 1e-9);
        }
        vy_bodies_destroy(b);
    }
}

// A damped hinge: angle' decays by exp(-pi d / sqrt(1 - d^2)) each half turn, at w sqrt(1 - d^2).
static void joints_hinge_spring(void **unused)
{
    (void)unused;
    const double k = 3.0, damping = 0.02;
    vy_bodies *b = set_of(0.0);
    const vy_body_id id = add_box(b, 1.0, (vy_vec3){0.2, 0.05, 0.03}, standing(0.2, 0, 0));
    vy_joint_def def = vy_default_joint_def();
    def.kind = VY_JOINT_HINGE;
    assert_int_equal(vy_joint_set_frames(b, VY_NULL_BODY, id, (vy_vec3){0, 0, 0}, (vy_vec3){0, 0, 1}, &def),
                     VY_OK);
    def.stiffness = k;
    def.damping = damping;
    def.rest = -0.3; // starts 0.3 rad away from ease
    vy_joint_id joint;
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, NULL), VY_OK);
    double m;
    vy_mat3 inertia;
    vy_body_read_mass(b, id, &m, &inertia);
    const double about = inertia.m[2][2] + 0.04, w = sqrt(k / about), d = damping / (2 * about * w);
    const double wd = w * sqrt(1 - d * d);
    for (int n = 1; n <= 3000; ++n) {
        run(b, 1);
        const double t = n * 1e-3;
        const double want = -0.3 + 0.3 * exp(-d * w * t) * (cos(wd * t) + d * w / wd * sin(wd * t));
        assert_near(joint_of(b, joint).angle, want, 1e-9);
    }
    vy_bodies_destroy(b);
}

// A motor brings a hinge to its speed and holds it there; at the limit it pushes and stands.
static void joints_motor_and_limit(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(0.0);
    const vy_body_id id = add_box(b, 1.0, (vy_vec3){0.2, 0.05, 0.03}, standing(0.2, 0, 0));
    vy_joint_def def = vy_default_joint_def();
    def.kind = VY_JOINT_HINGE;
    vy_joint_set_frames(b, VY_NULL_BODY, id, (vy_vec3){0, 0, 0}, (vy_vec3){0, 0, 1}, &def);
    def.motor_speed = 2.0;
    def.motor_gain = 1.0;
    def.max_motor_torque = 0.2;
    def.limited = 1;
    def.low = -0.5;
    def.high = 1.5;
    vy_joint_id joint;
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, NULL), VY_OK);
    run(b, 100); // far below its speed it pushes with all it has
    const double about = (0.04 + 0.0025) / 3 + 0.04;
    assert_near(joint_of(b, joint).rate, 0.2 / about * 0.1, 1e-9);
    assert_int_equal(joint_of(b, joint).active, 0);
    run(b, 700);
    assert_near(joint_of(b, joint).rate, 2.0, 0.05);
    run(b, 1200);
    const vy_joint_state s = joint_of(b, joint);
    assert_int_equal(s.active, 1);
    assert_near(s.angle, 1.5, 1e-8);
    assert_near(s.rate, 0.0, 1e-12);
    assert_near(s.torque.z, 0.0, 1e-9); // the motor's 0.2 N m and the stop's -0.2 N m
    assert_int_equal(vy_joint_set_motor(b, joint, -2.0, 1.0, 0.2), VY_OK);
    run(b, 50);
    assert_int_equal(joint_of(b, joint).active, 0); // and it comes off the stop
    assert_true(joint_of(b, joint).rate < 0.0);
    vy_bodies_destroy(b);
}

// Ruling 16: unilateral constraints are solved. A stone on a slack cable falls freely, is caught when the
// cable is taut (the speed along it is lost and nothing else) and swings on it.
static void ruling_16_cable_slack_and_taut(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(G);
    const vy_body_id id = add_box(b, 2.0, (vy_vec3){0.01, 0.01, 0.01}, standing(1.0, 0, 0));
    vy_joint_def def = vy_default_joint_def();
    def.kind = VY_JOINT_CABLE;
    def.body_b = id;
    def.length = 1.25; // taut 0.75 m below: a 3-4-5 triangle
    vy_joint_id cable;
    assert_int_equal(vy_bodies_add_joint(b, &def, &cable, NULL), VY_OK);
    const double fall = sqrt(2.0 * 0.75 / G), speed = G * fall, energy = total_energy(b);
    int k = 0;
    for (; (k + 1) * 1e-3 < fall; ++k) {
        run(b, 1);
        const double t = (k + 1) * 1e-3;
        assert_int_equal(vy_joint_is_active(b, cable), 0);
        assert_near(state_of(b, id).position.z, -0.5 * G * t * t, 1e-12); // the bits of a free fall
    }
    run(b, 1);
    assert_int_equal(vy_joint_is_active(b, cable), 1);
    assert_near(joint_of(b, cable).gap, 1.25, 1e-8);
    assert_near(total_energy(b), energy - 0.5 * 2.0 * 0.36 * speed * speed, 1e-6); // radial share 0.6
    // It swings as a pendulum: energy stays, the cable pulls towards its anchor.
    const double kept = total_energy(b);
    for (int n = 0; n < 500; ++n) {
        run(b, 1);
        const vy_joint_state s = joint_of(b, cable);
        assert_int_equal(s.active, 1);
        assert_true(s.gap <= 1.25 + 1e-9);
        assert_true(vec3_dot(s.force, state_of(b, id).position) < 0.0); // of the anchor on the stone: inwards
    }
    assert_near(total_energy(b), kept, 1e-7);
    // Thrown inwards it lets go.
    vy_body_apply_impulse(b, id, vec3_scale(-3.0, state_of(b, id).position), VY_FRAME_WORLD);
    run(b, 50);
    assert_int_equal(vy_joint_is_active(b, cable), 0);
    assert_true(joint_of(b, cable).gap < 1.25);
    vy_bodies_destroy(b);
}

// A hanging stone: the cable carries m g, and its state is steady to the bit after it has come to rest.
static void joints_cable_at_rest(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(G);
    const vy_body_id id = add_box(b, 2.0, (vy_vec3){0.01, 0.01, 0.01}, standing(0, 0, -1.0));
    vy_joint_def def = vy_default_joint_def();
    def.kind = VY_JOINT_CABLE;
    def.body_b = id;
    def.length = 1.0;
    vy_joint_id cable;
    assert_int_equal(vy_bodies_add_joint(b, &def, &cable, NULL), VY_OK);
    run(b, 1000);
    const vy_joint_state s = joint_of(b, cable);
    assert_int_equal(s.active, 1);
    assert_vec_near(s.force, ((vy_vec3){0, 0, 2.0 * G}), 1e-9);
    assert_true(vy_body_at_rest(b, id, VY_REST_SPEED, VY_REST_RATE));
    vy_bodies_destroy(b);
}

// The distance joint as the requirements write it: C = |x|^2 - d^2 about the origin; a spherical pendulum.
static void joints_distance_spherical_pendulum(void **unused)
{
    (void)unused;
    const double length = 0.8, tilt = 0.5, w = sqrt(G / (length * cos(tilt)));
    vy_bodies *b = set_of(G);
    vy_body_state s = standing(length * sin(tilt), 0, -length * cos(tilt));
    s.velocity.y = w * length * sin(tilt); // a conical pendulum: circles at w
    const vy_body_id id = add_box(b, 0.3, (vy_vec3){0.01, 0.01, 0.01}, s);
    vy_joint_def def = vy_default_joint_def();
    def.kind = VY_JOINT_DISTANCE;
    def.body_b = id;
    def.length = length;
    vy_joint_id joint;
    assert_int_equal(vy_bodies_add_joint(b, &def, &joint, NULL), VY_OK);
    run(b, 3000);
    const vy_vec3 want = {length * sin(tilt) * cos(3 * w), length * sin(tilt) * sin(3 * w),
                          -length * cos(tilt)};
    assert_vec_near(state_of(b, id).position, want, 1e-9);
    double value, row[7];
    assert_int_equal(vy_distance_value(state_of(b, id).position, length, &value, row), VY_OK);
    assert_near(value, 0.0, 1e-12);
    assert_near(value, joint_of(b, joint).value[0], 1e-15);
    assert_true(row[0] == 2.0 * state_of(b, id).position.x && row[3] == 0.0);
    assert_int_equal(vy_distance_value(want, -1.0, &value, row), VY_BAD_DISTANCE);
    vy_bodies_destroy(b);
}

// A driven body carries what is joined to it: a stone on a turntable, held by a fixed joint.
static void joints_on_a_turntable(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(0.0);
    vy_body_def def = vy_default_body_def();
    def.kind = VY_BODY_KINEMATIC;
    def.state.rate = (vy_vec3){0, 0, 1.5};
    vy_body_id table;
    assert_int_equal(vy_bodies_add(b, &def, &table, NULL), VY_OK);
    vy_body_state s = standing(0.5, 0, 0);
    s.velocity = (vy_vec3){0, 0.75, 0};
    s.rate = (vy_vec3){0, 0, 1.5};
    const vy_body_id stone = add_box(b, 1.0, (vy_vec3){0.05, 0.1, 0.1}, s);
    join(b, VY_JOINT_FIXED, table, stone, (vy_vec3){0.2, 0, 0}, (vy_vec3){0, 0, 1});
    run(b, 2000);
    assert_vec_near(state_of(b, stone).position, ((vy_vec3){0.5 * cos(3.0), 0.5 * sin(3.0), 0}), 1e-10);
    assert_near(check_angle(state_of(b, stone).attitude, turn(3.0, 0, 0, 1)), 0.0, 1e-10);
    vy_bodies_destroy(b);
}

// A direction of the world, not along any axis, and an attitude whose body z is along it.
static vy_vec3 slant(vy_quat *attitude)
{
    *attitude = quat_normalize((vy_quat){0.8, 0.3, -0.5, 0.2});
    return quat_rotate(*attitude, (vy_vec3){0, 0, 1});
}

// Nothing pushes: what slides and turns along a slanted axis goes on so, a screw of any pitch.
static void joints_cylindrical_is_a_screw(void **unused)
{
    (void)unused;
    vy_bodies *b = set_of(0.0);
    vy_quat q;
    const vy_vec3 axis = slant(&q), start = {1.0, -2.0, 0.5};
    vy_body_state s = {.position = start, .attitude = q, .rate = {0, 0, 2.5}};
    s.velocity = vec3_scale(-0.7, axis);
    const vy_body_id id = add_box(b, 2.0, (vy_vec3){0.1, 0.25, 0.15}, s); // no two moments alike
    const vy_joint_id joint = join(b, VY_JOINT_CYLINDRICAL, VY_NULL_BODY, id, start, axis);
    run(b, 1000);
    const vy_joint_state at = joint_of(b, joint);
    assert_near(at.length, -0.7, 1e-12);
    assert_near(at.angle, 2.5, 1e-12);
    assert_near(at.rate, 2.5, 1e-12);
    assert_vec_near(state_of(b, id).position, vec3_add_scaled(start, -0.7, axis), 1e-12);
    run(b, 9000);
    const vy_joint_state later = joint_of(b, joint);
    assert_near(later.length, -7.0, 1e-10);
    assert_near(later.angle, 25.0 - 8.0 * PI, 1e-10);
    for (int r = 0; r < VY_CONSTRAINT_ROWS; ++r) assert_near(later.value[r], 0.0, 1e-12);
    vy_bodies_destroy(b);
}

// A rod on an axis that leans at an angle c from a vertical about which it turns: along it
// s'' = w^2 sin^2(c) s - g cos(c), so s = p + (s0 - p) cosh(w sin(c) t) with p where both are in balance.
// About its axis nothing turns a square rod: it keeps the spin it has beyond the axis's own.
static void joints_cylindrical_on_a_turning_axis(void **unused)
{
    (void)unused;
    const double w = 3.0, c = 0.6, spin = 1.25, s0 = 0.8;
    vy_bodies *b = set_of(G);
    vy_body_def table_def = vy_default_body_def();
    table_def.kind = VY_BODY_KINEMATIC;
    table_def.state.rate = (vy_vec3){0, 0, w};
    vy_body_id table;
    assert_int_equal(vy_bodies_add(b, &table_def, &table, NULL), VY_OK);
    const vy_quat q = turn(c, 0, 1, 0);
    const vy_vec3 axis = quat_rotate(q, (vy_vec3){0, 0, 1});
    vy_body_state s = {.position = vec3_scale(s0, axis), .attitude = q};
    s.velocity = vec3_cross((vy_vec3){0, 0, w}, s.position);
    s.rate = vec3_add(quat_unrotate(q, (vy_vec3){0, 0, w}), (vy_vec3){0, 0, spin});
    const vy_body_id rod = add_box(b, 0.7, (vy_vec3){0.05, 0.05, 0.4}, s);
    const vy_joint_id joint = join(b, VY_JOINT_CYLINDRICAL, table, rod, s.position, axis);
    const double balance = G * cos(c) / (w * w * sin(c) * sin(c));
    for (int k = 1; k <= 10; ++k) {
        run(b, 50);
        const double t = 0.05 * k, gone = balance + (s0 - balance) * cosh(w * sin(c) * t) - s0;
        const vy_joint_state at = joint_of(b, joint);
        assert_near(at.length, gone, 1e-9);
        assert_near(at.angle, spin * t, 1e-9);
        for (int r = 0; r < VY_CONSTRAINT_ROWS; ++r) assert_near(at.value[r], 0.0, 1e-12);
    }
    assert_true(fabs(joint_of(b, joint).length) > 0.3); // it has moved
    vy_bodies_destroy(b);
}

// Its spring, stop and motor act along the axis, and leave its spin alone. Two bodies keep their momentum.
static void joints_cylindrical_drives_along_its_axis(void **unused)
{
    (void)unused;
    vy_quat q;
    const vy_vec3 axis = slant(&q);
    vy_joint_def def = vy_default_joint_def();
    def.kind = VY_JOINT_CYLINDRICAL;
    for (int k = 0; k < 3; ++k) {
        vy_bodies *b = set_of(0.0);
        vy_body_state s = {.position = {0.3, 0.2, 0.1}, .attitude = q, .rate = {0, 0, 4.0}};
        const vy_body_id id = add_box(b, 0.5, (vy_vec3){0.1, 0.1, 0.2}, s);
        assert_int_equal(vy_joint_set_frames(b, VY_NULL_BODY, id, s.position, axis, &def), VY_OK);
        def.stiffness = k == 0 ? 50.0 : 0.0;
        def.rest = k == 0 ? 0.2 : 0.0;
        def.motor_gain = k == 1 ? 2.0 : 0.0;
        def.motor_speed = k == 1 ? 0.3 : 0.0;
        def.max_motor_torque = k == 0 ? 0.0 : 10.0;
        def.limited = k == 2;
        def.low = -1.0;
        def.high = 0.25;
        if (k == 2) def.motor_gain = def.motor_speed = 5.0;
        vy_joint_id joint;
        assert_int_equal(vy_bodies_add_joint(b, &def, &joint, NULL), VY_OK);
        const double before = total_energy(b);
        run(b, 700);
        const vy_joint_state at = joint_of(b, joint);
        assert_near(at.rate, 4.0, 1e-9);
        if (k == 0) {
            assert_near(at.length, 0.2 - 0.2 * cos(sqrt(50.0 / 0.5) * 0.7), 1e-8);
            assert_near(total_energy(b), before, 1e-8);
        } else if (k == 1) { // m v' = gain (speed - v)
            assert_near(vec3_dot(state_of(b, id).velocity, axis), 0.3 * (1.0 - exp(-2.0 / 0.5 * 0.7)), 1e-9);
        } else {
            assert_near(at.length, 0.25, 1e-9);
            assert_int_equal(at.active, 1);
        }
        vy_bodies_destroy(b);
    }
    vy_bodies *b = set_of(0.0);
    vy_body_state x = {.attitude = q, .rate = {0.5, -1.0, 3.0}, .velocity = {0.1, 0.2, -0.3}};
    vy_body_state y = x;
    y.position = vec3_scale(0.6, axis);
    y.rate.z = -2.0;
    y.velocity =
        vec3_add_scaled(vec3_add(x.velocity, vec3_cross(quat_rotate(q, x.rate), y.position)), 0.4, axis);
    const vy_body_id ids[2] = {add_box(b, 1.0, (vy_vec3){0.1, 0.2, 0.3}, x),
                               add_box(b, 0.4, (vy_vec3){0.2, 0.05, 0.1}, y)};
    const vy_joint_id joint = join(b, VY_JOINT_CYLINDRICAL, ids[0], ids[1], y.position, axis);
    vy_vec3 p0, l0, p1, l1;
    vy_bodies_read_momentum(b, &p0, &l0);
    const double energy = total_energy(b);
    run(b, 3000);
    vy_bodies_read_momentum(b, &p1, &l1);
    assert_vec_near(p1, p0, 1e-12);
    assert_vec_near(l1, l0, 1e-9);
    assert_near(total_energy(b), energy, 1e-6);
    assert_true(fabs(joint_of(b, joint).length) > 0.5);
    for (int r = 0; r < VY_CONSTRAINT_ROWS; ++r) assert_near(joint_of(b, joint).value[r], 0.0, 1e-12);
    vy_bodies_destroy(b);
}

// A level chain of a thousand links is let go: what its fixed end does dies away along it, down to nothing
// and not to subnormal numbers, which are slow.
static void joints_traces_end_in_zero(void **unused)
{
    (void)unused;
    enum { LINKS = 1000 };
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b = NULL;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    vy_body_id before = VY_NULL_BODY;
    for (int i = 0; i < LINKS; ++i) {
        const vy_body_id id = add_box(b, 0.1, (vy_vec3){0.1, 0.02, 0.02}, standing(0.2 * i + 0.1, 0, 0));
        join(b, VY_JOINT_BALL, before, id, (vy_vec3){0.2 * i, 0, 0}, (vy_vec3){0, 1, 0});
        before = id;
    }
    run(b, 20);
    int still = 0;
    for (uint32_t i = 0; i < LINKS; ++i) {
        const vy_body_state s = state_of(b, vy_bodies_at(b, i));
        const double values[] = {s.velocity.x, s.velocity.y, s.rate.x, s.rate.y, s.rate.z, s.attitude.y};
        for (size_t k = 0; k < sizeof values / sizeof values[0]; ++k)
            assert_true(values[k] == 0.0 || fabs(values[k]) > 1e-300);
        still += s.rate.y == 0.0;
    }
    assert_true(still > 100 && still < LINKS - 100); // some have heard of it, some have not
    vy_bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joints_pendulum_period),
        cmocka_unit_test(joints_keep_the_order),
        cmocka_unit_test(joints_top_precession),
        cmocka_unit_test(joints_top_nutation),
        cmocka_unit_test(joints_double_pendulum_energy),
        cmocka_unit_test(joints_chain_energy),
        cmocka_unit_test(joints_keep_momentum),
        cmocka_unit_test(joints_catenary),
        cmocka_unit_test(joints_coupled_oscillators),
        cmocka_unit_test(joints_hinge_spring),
        cmocka_unit_test(joints_motor_and_limit),
        cmocka_unit_test(ruling_16_cable_slack_and_taut),
        cmocka_unit_test(joints_cable_at_rest),
        cmocka_unit_test(joints_distance_spherical_pendulum),
        cmocka_unit_test(joints_cylindrical_is_a_screw),
        cmocka_unit_test(joints_cylindrical_on_a_turning_axis),
        cmocka_unit_test(joints_cylindrical_drives_along_its_axis),
        cmocka_unit_test(joints_on_a_turntable),
        cmocka_unit_test(joints_traces_end_in_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
