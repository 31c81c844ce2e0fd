// test_rotors.c - rotors of any axis, strength, curve and time constant; motors with dead zones and curves.
#include "check.h"
#include "control/control.h"
#include "vehicle/allocation.h"
#include "volery/world.h"

// A vehicle of `count` rotors at random places, tilted by up to a radian, each with its own coefficients.
static vy_vehicle_def random_vehicle(random_source *r, int count)
{
    vy_vehicle_def v = vy_default_vehicle_def();
    v.allocation = VY_ALLOCATION_PHYSICAL;
    v.rotor_count = count;
    v.centre_of_mass = random_vec(r, 0.02);
    for (int i = 0; i < count; ++i) {
        const vec3 position = random_vec(r, 0.1);
        const double y = random_in(r, -0.5, 0.5), x = random_in(r, -0.5, 0.5);
        v.rotors[i] = (vy_rotor_def){
            .position = position,
            .axis = vec3_scale(random_in(r, 0.1, 10.0), vec3_make(x, y, 1.0)),
            .thrust_coef = i % 2 ? random_in(r, 1e-8, 5e-8) : 0.0,
            .torque_coef = i % 3 ? random_in(r, 1e-10, 9e-10) : 0.0,
            .spin = i % 2 ? 1 : -1,
        };
    }
    return v;
}

static body_loads loads_of(const vy_vehicle_def *v, const double *speed)
{
    const rotor_layout layout = vy_layout_build(v);
    const rotor_params p = {v->thrust_coef, v->torque_coef, 0.0, 0.0};
    const rotor_curve shape = {.linear = v->thrust_linear,
                               .cubic = v->thrust_cubic,
                               .torque_ratio = v->torque_coef / v->thrust_coef};
    body_loads l = loads_zero();
    assert_true(layout.general);
    rotor_add_general(&layout, &p, &shape, speed, layout.count, &l);
    return l;
}

// Force and torque are those of r x F and of the reaction along each axis, about the centre of mass, for 1 to
// 8 rotors of any place, axis, spin and coefficients.
static void tilted_rotors_push_along_their_axes(void **unused)
{
    (void)unused;
    random_source r = {501};
    for (int n = 0; n < 400; ++n) {
        const vy_vehicle_def v = random_vehicle(&r, 1 + n % VY_ROTOR_CAP);
        assert_int_equal(vy_check_vehicle_def(&v, NULL), VY_OK);
        double speed[ROTOR_CAP] = {0};
        vec3 force = vec3_zero(), torque = vec3_zero();
        for (int i = 0; i < v.rotor_count; ++i) {
            const vy_rotor_def *rotor = &v.rotors[i];
            speed[i] = random_in(&r, 0.0, 2500.0);
            const double square = speed[i] * speed[i];
            const double kf = rotor->thrust_coef > 0.0 ? rotor->thrust_coef : v.thrust_coef;
            const double km =
                rotor->torque_coef > 0.0 ? rotor->torque_coef : kf * v.torque_coef / v.thrust_coef;
            const double length = sqrt(vec3_dot(rotor->axis, rotor->axis));
            const vec3 f = vec3_scale(kf * square / length, rotor->axis);
            force = vec3_add(force, f);
            torque = vec3_add(torque, vec3_cross(vec3_sub(rotor->position, v.centre_of_mass), f));
            torque = vec3_add(torque, vec3_scale(-rotor->spin * km * square / length, rotor->axis));
        }
        if (v.rotor_count == 1 && vy_rotor_axis(&v.rotors[0]).z == 1.0) continue;
        const body_loads l = loads_of(&v, speed);
        assert_vec_near(l.force_body, force, 1e-12);
        assert_vec_near(l.torque_body, torque, 1e-13);
    }
}

// A vehicle without anything special gives the same wrench by the general way, to rounding.
static void the_general_way_agrees_with_the_plain_one(void **unused)
{
    (void)unused;
    random_source r = {502};
    for (int n = 0; n < 200; ++n) {
        vy_vehicle_def v = vy_default_vehicle_def();
        v.allocation = n % 2 ? VY_ALLOCATION_PHYSICAL : VY_ALLOCATION_DOCUMENTED;
        const rotor_layout plain = vy_layout_build(&v);
        assert_true(!plain.general);
        v.motor_lag_down = 0.02; // makes it general, and nothing else of the wrench
        const rotor_params p = {v.thrust_coef, v.torque_coef, 0.0, 0.0};
        double speed[ROTOR_CAP];
        for (int i = 0; i < ROTOR_CAP; ++i) speed[i] = random_in(&r, 0.0, 2500.0);
        body_loads a = loads_zero();
        rotor_add(&plain, &p, speed, 4, &a);
        const body_loads b = loads_of(&v, speed);
        assert_vec_near(a.force_body, b.force_body, 1e-15);
        assert_vec_near(a.torque_body, b.torque_body, 1e-17);
    }
}

// The thrust polynomial of the brushless Crazyflie in its published form, over revolutions per minute.
static void thrust_follows_the_polynomial(void **unused)
{
    (void)unused;
    vy_vehicle_def v;
    assert_int_equal(vy_vehicle_preset("crazyflie21-brushless", &v, NULL), VY_OK);
    for (double rpm = 0.0; rpm < 21000.0; rpm += 500.0) {
        const double w = rpm * PI / 30.0, wanted = fmax(4.4074e-10 * rpm * rpm - 3.133e-7 * rpm, 0.0);
        assert_near(vy_rotor_thrust(&v, w), wanted, 1e-6);
        const double speed[ROTOR_CAP] = {w, w, w, w};
        const body_loads l = loads_of(&v, speed);
        assert_near(l.force_body.z, 4.0 * wanted, 4e-6);
        const double first[ROTOR_CAP] = {w, 0.0, 0.0, 0.0};
        assert_near(loads_of(&v, first).torque_body.z, 0.00594 * wanted, 1e-8); // spins clockwise
    }
    const double hover = vy_vehicle_hover_speed(&v, 9.80665);
    assert_near(4.0 * vy_rotor_thrust(&v, hover), v.mass * 9.80665, 1e-12);
}

static vy_world *world_in(const vy_world_def *wd, const vy_drone_def *def)
{
    vy_world *world;
    vy_error err = {0};
    if (vy_world_create(wd, &world, &err) != VY_OK || vy_world_add_drone(world, def, NULL, &err) != VY_OK)
        fail_msg("%s", err.text);
    return world;
}

static vy_world *world_of(const vy_drone_def *def)
{
    const vy_world_def wd = vy_default_world_def();
    return world_in(&wd, def);
}

static vy_drone_state state_of(const vy_world *world)
{
    vy_drone_state s;
    assert_int_equal(vy_world_read_drone(world, vy_world_drone(world, 0), &s), VY_OK);
    return s;
}

// A speed that rises and one that falls each follow e^(-t / lag) with their own time constant, exactly.
static void speeds_rise_and_fall_with_their_own_lag(void **unused)
{
    (void)unused;
    vy_drone_def def = vy_default_drone_def();
    def.vehicle.motor_lag = 0.02;
    def.vehicle.motor_lag_down = 0.06;
    def.controller.kind = VY_CONTROLLER_NONE;
    def.controller.start = (vy_intent){.rung = VY_RUNG_MOTORS, .motors = {0.2, 0.8, 0.5, 0.2}};
    def.rotor_speed = 1250.0;
    vy_world *world = world_of(&def);
    for (int i = 1; i <= 100; ++i) {
        (void)vy_world_step(world);
        const vy_drone_state s = state_of(world);
        const double t = 0.001 * i;
        assert_near(s.rotor_speed[0], 500.0 + 750.0 * exp(-t / 0.06), 1e-9);
        assert_near(s.rotor_speed[1], 2000.0 - 750.0 * exp(-t / 0.02), 1e-9);
        assert_near(s.rotor_speed[2], 1250.0, 1e-12);
    }
    vy_world_destroy(world);
}

// Rotors without a lag have their speed from the start of the first step on, whatever they had before:
// v = (T / m - g) t by every integrator and engine, for rotors that rise and rotors that fall.
static void ideal_rotors_act_at_once(void **unused)
{
    (void)unused;
    static const vy_integrator integrators[] = {VY_INTEGRATOR_RK4, VY_INTEGRATOR_LIE_MIDPOINT,
                                                VY_INTEGRATOR_SEMI_IMPLICIT, VY_INTEGRATOR_EULER};
    for (int n = 0; n < 8; ++n) {
        vy_world_def wd = vy_default_world_def();
        wd.environment.physics.integrator = integrators[n / 2];
        vy_drone_def def = vy_default_drone_def();
        def.vehicle.motor_lag = 0.0;
        def.vehicle.drag_linear = (vy_vec3){0.0, 0.0, 0.0};
        def.controller.kind = VY_CONTROLLER_NONE;
        const double u = n % 2 ? 0.3 : 0.9;
        def.controller.start = (vy_intent){.rung = VY_RUNG_MOTORS, .motors = {u, u, u, u}};
        vy_world *world = world_in(&wd, &def);
        const double w = u * def.vehicle.speed_max;
        const double a = 4.0 * vy_rotor_thrust(&def.vehicle, w) / def.vehicle.mass - 9.80665;
        for (int i = 1; i <= 20; ++i) {
            (void)vy_world_step(world);
            assert_near(state_of(world).velocity.z, a * (0.001 * i), 1e-12);
            assert_true(state_of(world).rotor_speed[0] == w);
        }
        vy_world_destroy(world);
    }
}

// On a joint, too: a drone that is told to fly is lifted from the first step on, and the ball on its rod with
// it.
static void ideal_rotors_act_at_once_on_a_joint(void **unused)
{
    (void)unused;
    const vy_world_def wd = vy_default_world_def();
    vy_drone_def def = vy_default_drone_def();
    def.vehicle.motor_lag = 0.0;
    def.vehicle.drag_linear = (vy_vec3){0.0, 0.0, 0.0};
    def.controller.kind = VY_CONTROLLER_NONE;
    def.controller.start = (vy_intent){.rung = VY_RUNG_MOTORS, .motors = {0.9, 0.9, 0.9, 0.9}};
    vy_world *world = world_in(&wd, &def);
    vy_error err = {0};
    vy_world_body_def ball = vy_default_world_body_def();
    ball.mass = 0.01;
    ball.inertia = (vy_mat3){{{1e-6, 0, 0}, {0, 1e-6, 0}, {0, 0, 1e-6}}};
    ball.position = (vy_vec3){def.position.x, def.position.y, def.position.z - 0.5};
    vy_joint_def rod = vy_default_joint_def();
    if (vy_world_add_body(world, &ball, &rod.body_b, &err) != VY_OK) fail_msg("%s", err.text);
    rod.kind = VY_JOINT_DISTANCE;
    rod.body_a = vy_world_body(world, 0);
    rod.length = 0.5;
    if (vy_world_add_joint(world, &rod, NULL, &err) != VY_OK) fail_msg("%s", err.text);
    const double thrust = 4.0 * vy_rotor_thrust(&def.vehicle, 0.9 * def.vehicle.speed_max);
    const double a = thrust / (def.vehicle.mass + 0.01) - 9.80665;
    for (int i = 1; i <= 20; ++i) {
        (void)vy_world_step(world);
        assert_near(state_of(world).velocity.z, a * (0.001 * i), 1e-10);
    }
    vy_world_destroy(world);
}

// The command of every speed asks for that speed again, whatever dead zone, idle speed and curve; a command
// in the dead zone stops the rotor; thrust is proportional to the command where the curve says so.
static void motor_curves_and_their_inverse(void **unused)
{
    (void)unused;
    random_source r = {503};
    for (int n = 0; n < 2000; ++n) {
        motor_params m = {.speed_max = random_in(&r, 500.0, 3000.0),
                          .dead_zone = random_in(&r, 0.0, 0.5),
                          .quadratic = 1e-7};
        m.speed_idle = random_in(&r, 0.0, 0.3) * m.speed_max;
        m.thrust_model_factor = n % 3 == 0 ? 1.0 : n % 3 == 1 ? 0.0 : random_in(&r, 0.0, 1.0);
        m.linear = random_in(&r, -0.1, 0.3) * m.quadratic * m.speed_max;
        m.cubic = n % 2 ? random_in(&r, -0.1, 0.3) * m.quadratic / m.speed_max : 0.0;
        const double w = random_in(&r, m.speed_idle * 1.001 + 1.0, m.speed_max);
        assert_near(motor_speed(&m, motor_command(&m, w)), w, 1e-6 * m.speed_max);
        assert_true(motor_speed(&m, 0.0) == 0.0 && motor_speed(&m, m.dead_zone) == 0.0);
        assert_near(motor_speed(&m, 1.0), m.speed_max, 1e-9);
        assert_true(motor_command(&m, 0.0) == 0.0);
        const double thrust = m.quadratic * w * w + m.linear * w + m.cubic * w * w * w;
        if (thrust > 0.0) assert_near(motor_speed_for(&m, thrust), w, 1e-7 * m.speed_max);
    }
    const motor_params thrust = {.speed_max = 1000.0, .thrust_model_factor = 0.0, .quadratic = 6e-6};
    for (double u = 0.1; u <= 1.0; u += 0.1) {
        const double w = motor_speed(&thrust, u);
        assert_near(6e-6 * w * w, 6.0 * u, 1e-12);
    }
}

// A hexarotor with tilted rotors that differ, a dead zone, an idle speed, a curve, a polynomial, and its
// centre of mass off the origin hovers under the built-in controller, which knows all that from the vehicle.
static void a_strange_vehicle_hovers(void **unused)
{
    (void)unused;
    vy_drone_def def = vy_default_drone_def();
    assert_int_equal(vy_vehicle_preset("hexa", &def.vehicle, NULL), VY_OK);
    vy_vehicle_def *v = &def.vehicle;
    v->centre_of_mass = (vy_vec3){0.01, -0.02, 0.01};
    v->command_dead = 0.05;
    v->command_curve = 0.3;
    v->speed_idle = 80.0;
    v->thrust_linear = 2e-4;
    for (int i = 0; i < 6; ++i) v->rotors[i].axis = (vy_vec3){i % 2 ? 0.1 : -0.1, 0.0, 1.0};
    v->rotors[2].thrust_coef = 1.1 * v->thrust_coef;
    def.rotor_speed = vy_vehicle_hover_speed(v, 9.80665);
    vy_world *world = world_of(&def);
    assert_int_equal(vy_world_advance(world, 8000) & VY_EVENT_FAILED, 0);
    const vy_drone_state s = state_of(world);
    assert_true(check_distance(s.position, def.position) < 0.05);
    assert_true(check_angle(s.attitude, (vy_quat){1, 0, 0, 0}) < 0.05);
    vy_world_destroy(world);
}

static void tilted_documented(vy_vehicle_def *v) { v->rotors[1].axis = (vy_vec3){0.1, 0.0, 1.0}; }
static void endless_axis(vy_vehicle_def *v) { v->rotors[1].axis.x = INFINITE; }
static void minus_rotor(vy_vehicle_def *v) { v->rotors[3].thrust_coef = -1e-8; }
static void no_thrust_at_top(vy_vehicle_def *v) { v->thrust_linear = -1.0; }
static void idle_at_top(vy_vehicle_def *v) { v->speed_idle = 2500.0; }
static void all_dead(vy_vehicle_def *v) { v->command_dead = 1.0; }
static void bent_curve(vy_vehicle_def *v) { v->command_curve = 1.5; }
static void minus_lag(vy_vehicle_def *v) { v->motor_lag_down = -1.0; }
static void many_points(vy_vehicle_def *v) { v->collision_point_count = VY_COLLISION_POINT_CAP + 1; }
static void nan_point(vy_vehicle_def *v)
{
    v->collision_point_count = 1;
    v->collision_points[0].position.z = NOT_A_NUMBER;
}
static void nan_centre(vy_vehicle_def *v) { v->centre_of_mass.y = NOT_A_NUMBER; }

static void bad_rotors_are_refused_by_name(void **unused)
{
    (void)unused;
    const struct {
        void (*spoil)(vy_vehicle_def *v);
        const char *word;
    } cases[] = {
        {tilted_documented, "rotors[1]"},  {endless_axis, "rotors[1].axis"},
        {minus_rotor, "rotors[3]"},        {no_thrust_at_top, "polynomial"},
        {idle_at_top, "speed_idle"},       {all_dead, "command_dead"},
        {bent_curve, "command_curve"},     {minus_lag, "motor_lag_down"},
        {many_points, "collision_points"}, {nan_point, "collision_points[0]"},
        {nan_centre, "centre_of_mass"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        vy_vehicle_def v = vy_default_vehicle_def();
        vy_error err = {0};
        cases[i].spoil(&v);
        assert_int_equal(vy_check_vehicle_def(&v, &err), VY_BAD_VALUE);
        if (strstr(err.text, cases[i].word) == NULL) fail_msg("%s: %s", cases[i].word, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tilted_rotors_push_along_their_axes),
        cmocka_unit_test(the_general_way_agrees_with_the_plain_one),
        cmocka_unit_test(thrust_follows_the_polynomial),
        cmocka_unit_test(speeds_rise_and_fall_with_their_own_lag),
        cmocka_unit_test(ideal_rotors_act_at_once),
        cmocka_unit_test(ideal_rotors_act_at_once_on_a_joint),
        cmocka_unit_test(motor_curves_and_their_inverse),
        cmocka_unit_test(a_strange_vehicle_hovers),
        cmocka_unit_test(bad_rotors_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
