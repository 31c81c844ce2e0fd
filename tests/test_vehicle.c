// test_vehicle.c - the Crazyflie's published checks, allocation and its inverse, and what a vehicle may not
// be.
#include "check.h"
#include "control/control.h"
#include "vehicle/allocation.h"
#include "volery/world.h"
#include <string.h>

static vy_vehicle_def preset(const char *name)
{
    vy_vehicle_def def;
    assert_int_equal(vy_vehicle_preset(name, &def, NULL), VY_OK);
    return def;
}

// Thrust and torques of motor commands, once the rotors have reached their speeds.
static body_loads wrench_of(const vy_vehicle_def *v, const double command[4])
{
    const rotor_layout layout = vy_layout_build(v);
    const rotor_params p = {v->thrust_coef, v->torque_coef, 0.0, 0.0};
    double speed[ROTOR_CAP] = {0};
    for (int i = 0; i < 4; ++i) speed[i] = v->speed_max * command[i];
    body_loads l = loads_zero();
    rotor_add(&layout, &p, speed, layout.count, &l);
    return l;
}

// The constants are those of the requirements, to the digit.
static void crazyflie_has_the_published_constants(void **unused)
{
    (void)unused;
    const vy_vehicle_def v = preset("crazyflie2x");
    assert_true(v.mass == 0.028 && v.thrust_coef == 2.88e-8 && v.torque_coef == 7.24e-10);
    assert_true(v.speed_max == 2500.0 && v.motor_lag == 0.015 && v.rotor_count == 4);
    assert_true(v.inertia.m[0][0] == 1.4e-5 && v.inertia.m[1][1] == 1.4e-5 && v.inertia.m[2][2] == 2.17e-5);
    assert_true(v.inertia.m[0][1] == 0.0 && v.inertia.m[0][2] == 0.0 && v.inertia.m[1][2] == 0.0);
    const vy_vehicle_def d = vy_default_vehicle_def();
    assert_string_equal(d.name, "crazyflie2x");
    assert_int_equal(vy_check_vehicle_def(&v, NULL), VY_OK);
}

// Ruling 1: the body frame is forward-left-up and right-handed. A roll right (positive about +x) lowers the
// right side, a pitch down (positive about +y) lowers the nose, a positive yaw turns the nose to the left.
static void ruling_01_body_is_forward_left_up(void **unused)
{
    (void)unused;
    const vec3 forward = {1, 0, 0}, left = {0, 1, 0};
    assert_true(quat_rotate(turn(0.1, 1, 0, 0), left).z > 0.09);     // left side up
    assert_true(quat_rotate(turn(0.1, 0, 1, 0), forward).z < -0.09); // nose down
    assert_true(quat_rotate(turn(0.1, 0, 0, 1), forward).y > 0.09);  // nose to the left
    const vy_vec3 g = vy_default_world_def().environment.gravity.uniform;
    assert_true(g.x == 0.0 && g.y == 0.0 && g.z < 0.0); // +z is up
}

// Ruling 2: the documented allocation has the published signs: motor 0 alone gives roll > 0 and yaw < 0, both
// front motors give pitch > 0, and the rows equal the published equations for any speeds.
static void ruling_02_documented_torque_signs(void **unused)
{
    (void)unused;
    const vy_vehicle_def v = preset("crazyflie2x");
    assert_int_equal(v.allocation, VY_ALLOCATION_DOCUMENTED);
    const body_loads one = wrench_of(&v, (double[4]){0.6, 0.5, 0.5, 0.5});
    assert_true(one.torque_body.x > 0.0 && one.torque_body.z < 0.0);
    const body_loads front = wrench_of(&v, (double[4]){0.6, 0.6, 0.5, 0.5});
    assert_true(front.torque_body.y > 0.0);
    assert_true(front.torque_body.x == 0.0 && front.torque_body.z == 0.0);

    random_source r = {21};
    const double arm = 0.046 / sqrt(2.0), kf = 2.88e-8, km = 7.24e-10;
    for (int n = 0; n < 100; ++n) {
        double u[4], s[4];
        for (int i = 0; i < 4; ++i) {
            u[i] = random_in(&r, 0.0, 1.0);
            s[i] = (2500.0 * u[i]) * (2500.0 * u[i]);
        }
        const body_loads l = wrench_of(&v, u);
        assert_near(l.torque_body.x, arm * kf * ((s[0] + s[3]) - (s[1] + s[2])), 1e-16);
        assert_near(l.torque_body.y, arm * kf * ((s[0] + s[1]) - (s[2] + s[3])), 1e-16);
        assert_near(l.torque_body.z, km * (-s[0] + s[1] - s[2] + s[3]), 1e-16);
        assert_near(l.force_body.z, kf * (s[0] + s[1] + s[2] + s[3]), 1e-15);
    }
}

// Ruling 2: the physical allocation is r x F and the reaction to the spin, rotor by rotor.
static void ruling_02_physical_torques_are_r_cross_f(void **unused)
{
    (void)unused;
    const vy_vehicle_def v = preset("crazyflie2x-physical");
    assert_int_equal(v.allocation, VY_ALLOCATION_PHYSICAL);
    for (int i = 0; i < 4; ++i) {
        double u[4] = {0};
        u[i] = 1.0;
        const body_loads l = wrench_of(&v, u);
        const double thrust = 2.88e-8 * 2500.0 * 2500.0;
        vec3 torque = vec3_cross(v.rotors[i].position, (vec3){0.0, 0.0, thrust});
        torque.z -= v.rotors[i].spin * 7.24e-10 * 2500.0 * 2500.0; // the air turns the body against the rotor
        assert_vec_near(l.torque_body, torque, 1e-17);
    }
    // More thrust in front raises the nose, which is a negative turn about +y; clockwise rotors turn the body
    // counter-clockwise.
    assert_true(wrench_of(&v, (double[4]){0.6, 0.6, 0.5, 0.5}).torque_body.y < 0.0);
    assert_true(wrench_of(&v, (double[4]){0.6, 0.5, 0.6, 0.5}).torque_body.z > 0.0);
}

// Ruling 3: 0 front left, 1 front right, 2 back right, 3 back left, each at L / sqrt 2; 0 and 2 clockwise.
static void ruling_03_rotor_positions(void **unused)
{
    (void)unused;
    const vy_vehicle_def v = preset("crazyflie2x");
    const double a = 0.046 / sqrt(2.0);
    static const double sign[4][2] = {{1, 1}, {1, -1}, {-1, -1}, {-1, 1}};
    for (int i = 0; i < 4; ++i) {
        assert_near(v.rotors[i].position.x, sign[i][0] * a, 1e-17);
        assert_near(v.rotors[i].position.y, sign[i][1] * a, 1e-17);
        assert_near(vec3_length(v.rotors[i].position), 0.046, 1e-16);
        assert_int_equal(v.rotors[i].spin, i % 2 ? 1 : -1);
    }
}

// Ruling 4: hover is sqrt(m g / (4 kF)): 1543.88 rad/s at 9.80665, 1544.14 at 9.81, and not the published
// 1633.
static void ruling_04_hover_speed(void **unused)
{
    (void)unused;
    const vy_vehicle_def v = preset("crazyflie2x");
    assert_near(vy_vehicle_hover_speed(&v, 9.80665), 1543.88, 0.005);
    assert_near(vy_vehicle_hover_speed(&v, 9.81), 1544.14, 0.005);
    vy_vehicle_def none = v;
    none.rotor_count = 0;
    assert_true(vy_vehicle_hover_speed(&none, 9.81) == 0.0);
}

// Ruling 5: standard gravity is the default.
static void ruling_05_default_gravity(void **unused)
{
    (void)unused;
    assert_true(vy_default_world_def().environment.gravity.uniform.z == -9.80665);
}

// Each rotor's thrust is between 0 and kF wmax^2, whatever is asked of it.
static void thrust_stays_within_its_limits(void **unused)
{
    (void)unused;
    const vy_vehicle_def v = preset("crazyflie2x");
    const vy_controller_def c = vy_default_controller_def();
    ladder_params p;
    assert_int_equal(vy_ladder_build(&c, &v, (vy_vec3){0, 0, -9.80665}, &p, NULL), VY_OK);
    assert_near(p.thrust_max, 0.18, 1e-15);
    random_source r = {22};
    int clamped = 0;
    for (int n = 0; n < 1000; ++n) {
        double motors[8];
        const vec3 first = random_vec(&r, 0.02);
        const double second = random_in(&r, -1.0, 2.0);
        clamped += (int)lower_wrench(&p, second, first, motors);
        for (int i = 0; i < 4; ++i) assert_true(motors[i] >= 0.0 && motors[i] <= 1.0);
    }
    assert_true(clamped > 1000 && clamped < 4000);
    double motors[8];
    assert_true(lower_wrench(&p, 3.999 * p.thrust_max, vec3_zero(), motors) == 0.0);
    for (int i = 0; i < 4; ++i) assert_near(motors[i], sqrt(0.99975), 1e-15);
}

// Ruling 8: w_cmd = u wmax; the preset hovers at u = 0.6176; a command outside 0 to 1 is clamped and counted.
static void ruling_08_motor_command(void **unused)
{
    (void)unused;
    const vy_vehicle_def v = preset("crazyflie2x");
    assert_near(vy_vehicle_hover_speed(&v, 9.80665) / v.speed_max, 0.6176, 5e-5);

    const vy_world_def wd = vy_default_world_def();
    vy_drone_def def = vy_default_drone_def();
    def.controller.kind = VY_CONTROLLER_NONE;
    def.controller.start = (vy_intent){.rung = VY_RUNG_MOTORS, .motors = {0.25, 1.5, -0.5, 1.0}};
    vy_world *world = NULL;
    vy_drone_id id;
    assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
    assert_int_equal(vy_world_add_drone(world, &def, &id, NULL), VY_OK);
    (void)vy_world_advance(world, 600); // forty lags
    vy_drone_state s;
    assert_int_equal(vy_world_read_drone(world, id, &s), VY_OK);
    static const double wanted[4] = {0.25, 1.0, 0.0, 1.0};
    for (int i = 0; i < 4; ++i) {
        assert_true(s.motor_command[i] == wanted[i]);
        assert_near(s.rotor_speed[i], 2500.0 * wanted[i], 1e-9);
    }
    assert_int_equal(s.clamps, 2);
    vy_world_destroy(world);
}

static void check_inverse(const vy_vehicle_def *v, random_source *r)
{
    const rotor_layout layout = vy_layout_build(v);
    double inverse[VY_ROTOR_CAP][4];
    assert_int_equal(vy_layout_pseudo_inverse(v, &layout, inverse, NULL), VY_OK);
    for (int n = 0; n < 200; ++n) {
        const vec3 t = random_vec(r, 0.01);
        const double wanted[4] = {random_in(r, 0.0, 1.0), t.x, t.y, t.z};
        double thrust = 0.0, roll = 0.0, pitch = 0.0, yaw = 0.0;
        for (int i = 0; i < layout.count; ++i) {
            double f = 0.0;
            for (int j = 0; j < 4; ++j) f += inverse[i][j] * wanted[j];
            thrust += f;
            roll += layout.roll[i] * f;
            pitch += layout.pitch[i] * f;
            yaw += layout.yaw[i] * f * v->torque_coef / v->thrust_coef;
        }
        assert_near(thrust, wanted[0], 1e-14);
        assert_near(roll, wanted[1], 1e-15);
        assert_near(pitch, wanted[2], 1e-15);
        assert_near(yaw, wanted[3], 1e-15);
    }
}

// Thrusts for a wrench make that wrench, with either allocation, for four rotors and for uneven six and
// eight.
static void allocation_inverse_gives_the_wrench_back(void **unused)
{
    (void)unused;
    random_source r = {23};
    for (int count = 4; count <= 8; count += 2) {
        for (int allocation = 0; allocation < 2; ++allocation) {
            vy_vehicle_def v = preset("crazyflie2x");
            v.allocation = (vy_allocation)allocation;
            if (count > 4) {
                v.rotor_count = count;
                for (int i = 0; i < count; ++i) {
                    const double a = 2.0 * PI * i / count + random_in(&r, -0.1, 0.1),
                                 l = random_in(&r, 0.08, 0.12);
                    v.rotors[i] =
                        (vy_rotor_def){.position = {l * cos(a), l * sin(a), 0.01}, .spin = i % 2 ? 1 : -1};
                }
            }
            check_inverse(&v, &r);
        }
    }
}

// Among all thrusts that make a wrench the inverse picks the smallest in the least-squares sense: for six
// even rotors and pure thrust, a sixth each.
static void allocation_inverse_is_of_least_norm(void **unused)
{
    (void)unused;
    vy_vehicle_def v = preset("crazyflie2x-physical");
    v.rotor_count = 6;
    for (int i = 0; i < 6; ++i) {
        v.rotors[i] = (vy_rotor_def){.position = {0.1 * cos(PI * i / 3.0), 0.1 * sin(PI * i / 3.0), 0.0},
                                     .spin = i % 2 ? 1 : -1};
    }
    const rotor_layout layout = vy_layout_build(&v);
    double inverse[VY_ROTOR_CAP][4];
    assert_int_equal(vy_layout_pseudo_inverse(&v, &layout, inverse, NULL), VY_OK);
    for (int i = 0; i < 6; ++i) assert_near(inverse[i][0], 1.0 / 6.0, 1e-15);
}

// Rotors that cannot make every wrench are refused by the inverse: three, in a line, all on one hub, all of
// one spin, or without drag torque.
static void allocation_inverse_refuses_what_cannot_be(void **unused)
{
    (void)unused;
    for (int k = 0; k < 5; ++k) {
        vy_vehicle_def v = preset("crazyflie2x-physical");
        if (k == 0) v.rotor_count = 3;
        for (int i = 0; i < 4; ++i) {
            if (k == 1) v.rotors[i].position.x = 0.0;
            if (k == 2) v.rotors[i].position = (vy_vec3){0.0, 0.0, 0.1};
            if (k == 3) v.rotors[i].spin = 1;
        }
        if (k == 4) v.torque_coef = 0.0;
        assert_int_equal(vy_check_vehicle_def(&v, NULL), VY_OK);
        const rotor_layout layout = vy_layout_build(&v);
        double inverse[VY_ROTOR_CAP][4];
        vy_error err;
        assert_int_equal(vy_layout_pseudo_inverse(&v, &layout, inverse, &err), VY_BAD_VALUE);
        assert_non_null(strstr(err.text, "cannot make thrust, roll, pitch and yaw"));
    }
}

// An unknown name lists the known ones and leaves the output alone.
static void preset_of_unknown_name(void **unused)
{
    (void)unused;
    vy_vehicle_def v;
    memset(&v, 0x5a, sizeof v);
    vy_error err;
    assert_int_equal(vy_vehicle_preset("cracyflie", &v, &err), VY_NOT_FOUND);
    assert_non_null(strstr(err.text, "cracyflie"));
    assert_non_null(strstr(err.text, "crazyflie2x-physical"));
    assert_int_equal(((unsigned char *)&v)[0], 0x5a);
}

// One bad vehicle: what was done to it and what the sentence must name.
typedef struct bad {
    void (*spoil)(vy_vehicle_def *);
    const char *says;
} bad;

static void no_cookie(vy_vehicle_def *v) { v->cookie = 0; }
static void no_mass(vy_vehicle_def *v) { v->mass = 0.0; }
static void nan_mass(vy_vehicle_def *v) { v->mass = NOT_A_NUMBER; }
static void inf_mass(vy_vehicle_def *v) { v->mass = INFINITE; }
static void long_name(vy_vehicle_def *v) { memset(v->name, 'x', sizeof v->name); }
static void negative_moment(vy_vehicle_def *v) { v->inertia.m[1][1] = -1e-5; }
static void huge_moment(vy_vehicle_def *v)
{
    v->inertia.m[2][2] = 2.95e-5;
} // 5.4 % above the sum of the others
static void skew(vy_vehicle_def *v) { v->inertia.m[0][1] = 1e-6; }
static void huge_product(vy_vehicle_def *v) { v->inertia.m[0][1] = v->inertia.m[1][0] = 1.5e-5; }
static void flat_product(vy_vehicle_def *v) { v->inertia.m[0][1] = v->inertia.m[1][0] = 1.2e-5; }
static void nan_moment(vy_vehicle_def *v) { v->inertia.m[2][0] = v->inertia.m[0][2] = NOT_A_NUMBER; }
static void nine_rotors(vy_vehicle_def *v) { v->rotor_count = 9; }
static void minus_rotors(vy_vehicle_def *v) { v->rotor_count = -1; }
static void no_spin(vy_vehicle_def *v) { v->rotors[2].spin = 0; }
static void nan_rotor(vy_vehicle_def *v) { v->rotors[3].position.y = NOT_A_NUMBER; }
static void no_thrust(vy_vehicle_def *v) { v->thrust_coef = 0.0; }
static void minus_torque(vy_vehicle_def *v) { v->torque_coef = -1e-10; }
static void no_speed(vy_vehicle_def *v) { v->speed_max = 0.0; }
static void minus_lag(vy_vehicle_def *v) { v->motor_lag = -0.01; }
static void nan_lag(vy_vehicle_def *v) { v->motor_lag = NOT_A_NUMBER; }
static void minus_drag(vy_vehicle_def *v) { v->drag_linear.y = -1.0; }
static void inf_drag(vy_vehicle_def *v) { v->drag_linear.z = INFINITE; }
static void minus_area(vy_vehicle_def *v) { v->area = -1.0; }
static void nan_cd(vy_vehicle_def *v) { v->cd = NOT_A_NUMBER; }
static void minus_cd(vy_vehicle_def *v) { v->cd = -0.1; }
static void inf_cl(vy_vehicle_def *v) { v->cl = INFINITE; }
static void minus_volume(vy_vehicle_def *v) { v->volume = -1.0; }
static void nan_centre(vy_vehicle_def *v) { v->pressure_centre.y = NOT_A_NUMBER; }
static void minus_spin_area(vy_vehicle_def *v) { v->damping_area.x = -1.0; }
static void minus_damping(vy_vehicle_def *v) { v->damping.z = -1.0; }
static void inf_dipole(vy_vehicle_def *v) { v->dipole.x = INFINITE; }
static void minus_light(vy_vehicle_def *v) { v->light_area = -1.0; }
static void minus_reference(vy_vehicle_def *v) { v->torque_ref = -1.0; }
static void no_allocation(vy_vehicle_def *v) { v->allocation = (vy_allocation)7; }

// Every field out of range is refused with a sentence that names it.
static void bad_vehicles_are_refused_by_name(void **unused)
{
    (void)unused;
    static const bad list[] = {
        {no_cookie, "vy_default_vehicle_def"},
        {no_mass, "vehicle.mass"},
        {nan_mass, "vehicle.mass"},
        {inf_mass, "vehicle.mass"},
        {long_name, "vehicle.name"},
        {negative_moment, "vehicle.inertia"},
        {huge_moment, "vehicle.inertia"},
        {skew, "vehicle.inertia"},
        {huge_product, "vehicle.inertia"},
        {flat_product, "vehicle.inertia"},
        {nan_moment, "vehicle.inertia"},
        {nine_rotors, "vehicle.rotor_count"},
        {minus_rotors, "vehicle.rotor_count"},
        {no_spin, "rotors[2].spin"},
        {nan_rotor, "rotors[3].position"},
        {no_thrust, "vehicle.thrust_coef"},
        {minus_torque, "torque_coef"},
        {no_speed, "vehicle.speed_max"},
        {minus_lag, "vehicle.motor_lag"},
        {nan_lag, "vehicle.motor_lag"},
        {minus_drag, "vehicle.drag_linear"},
        {inf_drag, "vehicle.drag_linear"},
        {minus_area, "vehicle.area"},
        {nan_cd, "vehicle.cd"},
        {minus_cd, "vehicle.cd"},
        {inf_cl, "cl"},
        {minus_volume, "vehicle.volume"},
        {nan_centre, "pressure_centre"},
        {minus_spin_area, "vehicle.damping_area"},
        {minus_damping, "vehicle.damping"},
        {inf_dipole, "dipole"},
        {minus_light, "vehicle.light_area"},
        {minus_reference, "vehicle.torque_ref"},
        {no_allocation, "vehicle.allocation"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        vy_vehicle_def v = vy_default_vehicle_def();
        list[i].spoil(&v);
        vy_error err = {0};
        if (vy_check_vehicle_def(&v, &err) != VY_BAD_VALUE || strstr(err.text, list[i].says) == NULL) {
            fail_msg("bad vehicle %zu (%s) got: %s", i, list[i].says, err.text);
        }
    }
    vy_vehicle_def zero;
    memset(&zero, 0, sizeof zero);
    assert_int_equal(vy_check_vehicle_def(&zero, NULL), VY_BAD_VALUE);
}

// Inertia of real bodies at any attitude is accepted: boxes from cubes to thin plates and rods.
static void real_inertia_is_accepted(void **unused)
{
    (void)unused;
    random_source r = {24};
    for (int n = 0; n < 1000; ++n) {
        const double x = pow(10.0, random_in(&r, -3, 0)), y = pow(10.0, random_in(&r, -3, 0));
        const double z = n % 3 ? pow(10.0, random_in(&r, -3, 0)) : 0.0; // every third a plate
        const mat3 moments = mat3_diag(y * y + z * z, x * x + z * z, x * x + y * y);
        const mat3 turned = quat_matrix(random_attitude(&r));
        mat3 inertia = mat3_mul(mat3_mul(turned, moments), mat3_transpose(turned));
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < i; ++j) inertia.m[i][j] = inertia.m[j][i];
        }
        vy_vehicle_def v = vy_default_vehicle_def();
        v.inertia = inertia;
        assert_int_equal(vy_check_vehicle_def(&v, NULL), VY_OK);
    }
}

// A moment may be up to 5 % above the sum of the others, whatever the axes.
static void inertia_has_a_limit_in_any_axes(void **unused)
{
    (void)unused;
    random_source r = {25};
    for (int n = 0; n < 1000; ++n) {
        const double a = random_in(&r, 0.1, 1.0), b = random_in(&r, 0.1, 1.0),
                     excess = random_in(&r, 0.0, 0.1);
        if (fabs(excess - 0.05) < 1e-6) continue;
        const mat3 turned = quat_matrix(random_attitude(&r));
        mat3 inertia =
            mat3_mul(mat3_mul(turned, mat3_diag(a, b, (a + b) * (1.0 + excess))), mat3_transpose(turned));
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < i; ++j) inertia.m[i][j] = inertia.m[j][i];
        }
        vy_vehicle_def v = vy_default_vehicle_def();
        v.inertia = inertia;
        assert_int_equal(vy_check_vehicle_def(&v, NULL) == VY_OK, excess < 0.05);
    }
}

// Every built-in vehicle can hover with thrust to spare, and its built-in controller brings it back from a
// shove: after three seconds within 5 cm of where it started.
static void every_preset_hovers(void **unused)
{
    (void)unused;
    static const char *const names[] = {"crazyflie2x",    "crazyflie2x-physical",
                                        "crazyflie21",    "crazyflie21-brushless",
                                        "reference-quad", "x500",
                                        "hexa",           "octo"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; ++n) {
        vy_drone_def def = vy_default_drone_def();
        def.vehicle = preset(names[n]);
        assert_int_equal(vy_check_vehicle_def(&def.vehicle, NULL), VY_OK);
        def.rotor_speed = vy_vehicle_hover_speed(&def.vehicle, 9.80665);
        assert_true(def.rotor_speed < 0.8 * def.vehicle.speed_max);
        def.velocity = (vy_vec3){0.5, -0.3, 0.2};
        const vy_world_def wd = vy_default_world_def();
        vy_world *world;
        assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
        assert_int_equal(vy_world_add_drone(world, &def, NULL, NULL), VY_OK);
        assert_int_equal(vy_world_advance(world, 3000) & VY_EVENT_FAILED, 0);
        vy_drone_state s;
        assert_int_equal(vy_world_read_drone(world, vy_world_drone(world, 0), &s), VY_OK);
        assert_true(check_distance(s.position, def.position) < 0.05);
        vy_world_destroy(world);
    }
}

// The measured Crazyflie: torque by thrust as in its firmware, rotors with an inertia as regressions on
// flights find it, motors that rise quicker than they fall.
static void crazyflie21_is_the_measured_one(void **unused)
{
    (void)unused;
    const vy_vehicle_def v = preset("crazyflie21");
    assert_near(v.torque_coef / v.thrust_coef, 0.0070, 1e-5);
    assert_true(v.rotor_air.inertia > 3e-8 && v.rotor_air.inertia < 5e-8);
    assert_true(v.motor_lag < v.motor_lag_down);
    // Published over revolutions per minute and over the motor's voltage.
    const double n = 2828.66 + 6686.55 * 3.7;
    assert_near(v.speed_max, n * 2.0 * PI / 60.0, 0.5);
    assert_near(vy_rotor_thrust(&v, v.speed_max), 2.4583e-10 * n * n - 5.382e-7 * n, 1e-4);
}

// Every vehicle but the document's own has rotors with an inertia: a share of the body's as real ones have
// (2e-4 to 2e-3 about z). Motors fall no quicker than they rise.
static void presets_have_rotors_with_inertia(void **unused)
{
    (void)unused;
    for (int i = 0; vy_vehicle_preset_name(i) != NULL; ++i) {
        const vy_vehicle_def v = preset(vy_vehicle_preset_name(i));
        const double share = v.rotor_air.inertia / v.inertia.m[2][2];
        if (strcmp(v.name, "crazyflie2x") == 0)
            assert_true(v.rotor_air.inertia == 0.0);
        else
            assert_true(share > 1e-4 && share < 2e-3);
        assert_true(v.motor_lag > 0.0 && (v.motor_lag_down == 0.0 || v.motor_lag_down >= v.motor_lag));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_have_rotors_with_inertia),
        cmocka_unit_test(crazyflie21_is_the_measured_one),
        cmocka_unit_test(crazyflie_has_the_published_constants),
        cmocka_unit_test(ruling_01_body_is_forward_left_up),
        cmocka_unit_test(ruling_02_documented_torque_signs),
        cmocka_unit_test(ruling_02_physical_torques_are_r_cross_f),
        cmocka_unit_test(ruling_03_rotor_positions),
        cmocka_unit_test(ruling_04_hover_speed),
        cmocka_unit_test(ruling_05_default_gravity),
        cmocka_unit_test(thrust_stays_within_its_limits),
        cmocka_unit_test(ruling_08_motor_command),
        cmocka_unit_test(allocation_inverse_gives_the_wrench_back),
        cmocka_unit_test(allocation_inverse_is_of_least_norm),
        cmocka_unit_test(allocation_inverse_refuses_what_cannot_be),
        cmocka_unit_test(preset_of_unknown_name),
        cmocka_unit_test(bad_vehicles_are_refused_by_name),
        cmocka_unit_test(real_inertia_is_accepted),
        cmocka_unit_test(inertia_has_a_limit_in_any_axes),
        cmocka_unit_test(every_preset_hovers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
