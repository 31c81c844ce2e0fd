// test_order.c - the order of every integrator under every effect, in a world: alone, and all together.
//
// A row is a flight of half a second without a controller, flown in steps of 4, 2, 1 and 0.5 ms and compared
// with a much finer one. It says the error at 1 ms in place and rate, and the order with which the whole
// state converges. The rows are those of docs/effects.md, and stand there as they are printed.
#include "check.h"
#include "volery/world.h"
#include <string.h>

enum { INTEGRATORS = 4, STEPS = 4 };
static const vy_integrator integrators[INTEGRATORS] = {VY_INTEGRATOR_RK4, VY_INTEGRATOR_LIE_MIDPOINT,
                                                       VY_INTEGRATOR_SEMI_IMPLICIT, VY_INTEGRATOR_EULER};
static const double steps[STEPS] = {4e-3, 2e-3, 1e-3, 0.5e-3};
static const double duration = 0.48, finest = 0.0625e-3;

/// A flight: changes what it needs of a world and a drone that feels gravity alone.
typedef struct flight {
    vy_world_def world;
    vy_drone_def drone;
    vy_disturbance_def disturbance;
    int disturbed;
    int other; // another drone above
} flight;

typedef struct row {
    const char *name;
    void (*set)(flight *f);
    int held; // an input that is held over a step: the first order is what it has
} row;

// --- effects

static void set_nothing(flight *f) { (void)f; }
static void set_linear_drag(flight *f) { f->drone.vehicle.drag_linear = (vy_vec3){0.01, 0.02, 0.03}; }

static void set_drag(flight *f)
{
    f->drone.vehicle.area = 0.01;
    f->drone.vehicle.cd = 0.8;
}

static void set_lift(flight *f)
{
    f->drone.vehicle.area = 0.01;
    f->drone.vehicle.cl = 0.3;
    f->drone.vehicle.pressure_centre = (vy_vec3){1e-4, -2e-4, 3e-4};
}

static void set_damping(flight *f)
{
    f->drone.vehicle.damping = (vy_vec3){2e-6, 1e-6, 3e-6};
    f->drone.vehicle.damping_area = (vy_vec3){1e-7, 2e-7, 1e-7};
}

static void set_density(flight *f)
{
    f->world.environment.atmosphere.mode = VY_ATMOSPHERE_LAYERED;
    f->drone.vehicle.density_scaling = 1;
    f->drone.vehicle.volume = 1e-3;
}

static void set_wind(flight *f)
{
    set_drag(f);
    vy_wind_def *w = &f->world.environment.wind;
    w->constant = (vy_vec3){2.0, 1.0, -0.5};
    w->shear = VY_SHEAR_POWER;
    w->shear_speed = 5.0;
    w->shear_height = 10.0;
    w->shear_exponent = 0.2;
    w->gust_count = 1;
    w->gusts[0] = (vy_gust_def){{3.0, -2.0, 1.0}, -0.2, 2.0, 0.0};
}

static void set_fields(flight *f)
{
    f->world.environment.magnetic_field = (vy_vec3){1e-5, 2e-5, -4e-5};
    f->world.environment.sunlight = (vy_vec3){1e-3, 0.0, -1e-3};
    f->drone.vehicle.dipole = (vy_vec3){0.5, -0.3, 0.2};
    f->drone.vehicle.light_area = 0.5;
}

static void set_sinusoid(flight *f)
{
    f->disturbed = 1;
    f->disturbance.kind = VY_DISTURBANCE_SINUSOID;
    f->disturbance.frequency = 4.0;
    f->disturbance.phase = 0.7;
    f->disturbance.force = (vy_vec3){0.05, -0.02, 0.04};
    f->disturbance.torque = (vy_vec3){1e-5, 2e-5, -1e-5};
}

static void set_constant(flight *f)
{
    set_sinusoid(f);
    f->disturbance.kind = VY_DISTURBANCE_CONSTANT;
    f->disturbance.frame = VY_FRAME_BODY;
}

static void set_rotor_drag(flight *f)
{
    f->drone.vehicle.rotor_air.drag = 2e-7;
    f->drone.vehicle.rotor_air.drag_axial = 1e-7;
    f->drone.vehicle.rotor_air.lift = 1e-5;
}

static void set_flapping(flight *f) { f->drone.vehicle.rotor_air.flap = 1e-9; }

static void set_gyroscopic(flight *f) { f->drone.vehicle.rotor_air.inertia = 2e-8; }

static void set_ground(flight *f)
{
    f->drone.vehicle.rotor_air.ground = 1;
    f->drone.position.z = 0.1;
    f->drone.attitude = (vy_quat){1.0, 0.05, -0.03, 0.2};
    f->drone.rate = (vy_vec3){0.3, -0.2, 0.5};
}

static void set_inflow(flight *f)
{
    f->drone.vehicle.rotor_air.inflow = 1e-6;
    f->drone.vehicle.rotor_air.inflow_lag = 0.03;
    f->drone.vehicle.rotor_air.vortex_loss = 0.1;
}

static void set_quick_inflow(flight *f)
{
    set_inflow(f);
    f->drone.vehicle.rotor_air.inflow_lag = 0.0;
}

static void set_blades(flight *f)
{
    vy_vehicle_def *v = &f->drone.vehicle;
    f->drone.velocity = (vy_vec3){1.0, -0.5, 9.0}; // in a climb all the while, and short of stall
    f->drone.attitude = (vy_quat){1.0, 0.02, -0.01, 0.2};
    f->drone.rate = (vy_vec3){0.1, -0.1, 0.3};
    v->blade = (vy_blade_def){
        .count = 2, .chord = 0.006, .twist = 0.1, .lift_slope = 5.0, .lift_max = 20.0, .drag_square = 1.0};
}

static void set_battery(flight *f)
{
    f->drone.vehicle.battery = (vy_battery_def){.capacity = 30.0,
                                                .charge = 0.95,
                                                .resistance = 0.1,
                                                .nominal = 3.7,
                                                .voltage = {3.0, 3.6, 3.74, 3.9, 4.17},
                                                .efficiency = 0.8,
                                                .power = 0.5};
}

static void set_battery_ideal(flight *f)
{
    set_battery(f);
    f->drone.vehicle.motor_lag = 0.0;
}

// Rotors are at their targets from the start of the first step on, though they begin slower.
static void set_ideal(flight *f) { f->drone.vehicle.motor_lag = 0.0; }

static void set_together(flight *f)
{
    set_wind(f);
    set_lift(f);
    set_linear_drag(f);
    set_damping(f);
    set_density(f);
    set_fields(f);
    set_sinusoid(f);
    set_rotor_drag(f);
    set_flapping(f);
    set_gyroscopic(f);
    set_inflow(f);
    set_battery(f);
    f->drone.vehicle.rotor_air.ground = 1;
}

static void set_wakes(flight *f)
{
    set_linear_drag(f);
    f->world.environment.wakes.on = 1;
    f->world.environment.wakes.period = f->world.dt;
    f->drone.attitude = (vy_quat){1.0, 0.02, -0.01, 0.2};
    f->drone.rate = (vy_vec3){0.1, -0.1, 0.3};
    f->other = 1;
}

static const row rows[] = {
    {"rigid body, gravity, motor lag", set_nothing, 0},
    {"linear drag", set_linear_drag, 0},
    {"drag", set_drag, 0},
    {"lift, aero torque", set_lift, 0},
    {"damping", set_damping, 0},
    {"layered air: density, buoyancy", set_density, 0},
    {"wind: shear, gust", set_wind, 0},
    {"magnetic field, sunlight", set_fields, 0},
    {"constant disturbance", set_constant, 0},
    {"sinusoidal disturbance", set_sinusoid, 0},
    {"rotor drag, translational lift", set_rotor_drag, 0},
    {"flapping", set_flapping, 0},
    {"gyroscopic rotors", set_gyroscopic, 0},
    {"ground", set_ground, 0},
    {"inflow with a lag, vortex ring", set_inflow, 0},
    {"inflow without one", set_quick_inflow, 0},
    {"blade elements", set_blades, 0},
    {"ideal motors", set_ideal, 0},
    {"battery", set_battery, 0},
    {"battery, ideal motors", set_battery_ideal, 0},
    {"all of these but blades", set_together, 0},
    {"wakes of others", set_wakes, 1},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

// --- flights

// A drone thrown askew and spinning, its motors told different speeds.
static flight start(double dt, vy_integrator integrator)
{
    flight f;
    memset(&f, 0, sizeof f);
    f.world = vy_default_world_def();
    f.world.dt = dt;
    f.world.environment.nap.strict = 1; // no decision of the policy between the steps compared
    f.world.environment.nap.period = f.world.dt;
    f.world.environment.physics.integrator = integrator;
    f.disturbance = vy_default_disturbance_def();
    vy_drone_def *d = &f.drone;
    *d = vy_default_drone_def();
    d->vehicle.inertia = (vy_mat3){{{1.5e-5, 2e-6, -1e-6}, {2e-6, 1.4e-5, 1.5e-6}, {-1e-6, 1.5e-6, 2.2e-5}}};
    d->vehicle.drag_linear = (vy_vec3){0.0, 0.0, 0.0};
    d->vehicle.motor_lag = 0.05;
    d->vehicle.rotor_air.radius = 0.023;
    d->imu.period = d->mocap.period = 0.0;
    d->controller.kind = VY_CONTROLLER_NONE;
    d->controller.start = (vy_intent){.rung = VY_RUNG_MOTORS, .motors = {0.62, 0.6, 0.63, 0.61}};
    d->position = (vy_vec3){0.0, 0.0, 4.0};
    d->velocity = (vy_vec3){3.0, -2.0, 6.0};
    d->attitude = (vy_quat){0.9, 0.1, -0.2, 0.3};
    d->rate = (vy_vec3){2.0, -1.5, 3.0};
    d->rotor_speed = 1000.0;
    return f;
}

static vy_world *world_of(const row *r, double dt, vy_integrator integrator)
{
    flight f = start(dt, integrator);
    r->set(&f);
    vy_world *world = NULL;
    vy_error err = {0};
    if (vy_world_create(&f.world, &world, &err) != VY_OK) fail_msg("%s: %s", r->name, err.text);
    if (vy_world_add_drone(world, &f.drone, NULL, &err) != VY_OK) fail_msg("%s: %s", r->name, err.text);
    if (f.disturbed && vy_world_add_disturbance(world, &f.disturbance, &err) != VY_OK)
        fail_msg("%s: %s", r->name, err.text);
    if (f.other) {
        f.drone.position.z += 1.0;
        if (vy_world_add_drone(world, &f.drone, NULL, &err) != VY_OK) fail_msg("%s: %s", r->name, err.text);
    }
    return world;
}

static vy_drone_state fly(const row *r, double dt, vy_integrator integrator)
{
    vy_world *world = world_of(r, dt, integrator);
    (void)vy_world_advance(world, (uint64_t)(duration / dt + 0.5));
    vy_drone_state s;
    assert_int_equal(vy_world_read_drone(world, vy_world_drone(world, 0), &s), VY_OK);
    vy_world_destroy(world);
    return s;
}

typedef struct measured {
    double place, rate; // [m], [rad/s] at 1 ms
    double order;       // of the whole state; 0: exact
} measured;

// Everything in one figure: a metre, a second and a radian weigh the same.
static double error_of(const vy_drone_state *a, const vy_drone_state *b)
{
    return check_distance(a->position, b->position) + check_distance(a->velocity, b->velocity) +
           check_angle(a->attitude, b->attitude) + 0.1 * check_distance(a->rate, b->rate);
}

// The order between the two finest steps whose errors stand out of rounding. The fine flight has an error of
// the same order itself, which a part of 8^p hides.
static measured measure(const row *r, vy_integrator integrator, const vy_drone_state *exact)
{
    const double floor = 2e-11;
    measured m = {0};
    double error[STEPS];
    for (int k = 0; k < STEPS; ++k) {
        const vy_drone_state s = fly(r, steps[k], integrator);
        error[k] = error_of(&s, exact);
        if (steps[k] == 1e-3) {
            m.place = check_distance(s.position, exact->position);
            m.rate = check_distance(s.rate, exact->rate);
        }
    }
    for (int k = 0; k + 1 < STEPS; ++k) {
        if (error[k + 1] > floor) m.order = log2(error[k] / error[k + 1]);
    }
    return m;
}

static void print_figures(const measured *m, char *out, size_t room)
{
    if (m->order == 0.0 || (m->place < 1e-12 && m->rate < 1e-12)) {
        snprintf(out, room, "exact");
    } else {
        snprintf(out, room, "%.1f (%.0e m, %.0e rad/s)", m->order, m->place, m->rate);
    }
}

// The page of effects, to look for rows in.
static const char *page(void)
{
    static char text[200000];
    FILE *file = fopen("docs/effects.md", "rb");
    if (file == NULL) fail_msg("no docs/effects.md here");
    const size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    return text;
}

// Each integrator keeps its order with every effect; what is held over a step has the first.
static void every_effect_keeps_the_order(void **unused)
{
    (void)unused;
    const char *text = page();
    int wrong = 0;
    for (int n = 0; n < ROWS; ++n) {
        const vy_drone_state exact = fly(&rows[n], finest, VY_INTEGRATOR_RK4);
        char line[400];
        int at = snprintf(line, sizeof line, "| %s |", rows[n].name);
        for (int k = 0; k < INTEGRATORS; ++k) {
            const measured m = measure(&rows[n], integrators[k], &exact);
            char figures[80];
            print_figures(&m, figures, sizeof figures);
            at += snprintf(line + at, sizeof line - (size_t)at, " %s |", figures);
            const int order = vy_integrator_order(integrators[k]);
            const double wanted = rows[n].held ? 0.9 : order == 4 ? 3.9 : order - 0.15;
            if (strcmp(figures, "exact") != 0 && m.order < wanted) wrong += 1;
        }
        print_message("%s\n", line);
        if (strstr(text, line) == NULL) {
            print_error("docs/effects.md has not this row\n");
            wrong += 1;
        }
    }
    assert_int_equal(wrong, 0);
}

// The account of energy sees the stages that the step has: what no cause explains is RK4's own error of
// quadrature, and rounding for the Lie midpoint.
static void every_joule_has_a_cause(void **unused)
{
    (void)unused;
    static void (*const sets[])(flight *) = {set_together, set_quick_inflow, set_battery_ideal, set_ideal};
    for (int n = 0; n < 8; ++n) {
        const row r = {"energy", sets[n / 2], 0};
        const vy_integrator integrator = integrators[n % 2];
        vy_world *world = world_of(&r, 1e-3, integrator);
        vy_world_track_energy(world);
        (void)vy_world_advance(world, 480);
        vy_energy e;
        assert_int_equal(vy_world_read_energy(world, vy_world_body(world, 0), &e), VY_OK);
        const double share = fabs(e.residual) / e.exchanged;
        print_message("%s: %.1e of %.2g J\n", vy_integrator_name(integrator), share, e.exchanged);
        assert_true(e.exchanged > 0.01 && share < (integrator == VY_INTEGRATOR_RK4 ? 1e-8 : 1e-12));
        vy_world_destroy(world);
    }
}

static void set_fast_spin(flight *f)
{
    set_inflow(f);
    set_sinusoid(f);
    set_battery(f);
    f->drone.rate = (vy_vec3){300.0, -200.0, 400.0};
}

// Steps that turn by a quarter to one radian keep the second order of the rule they take, with a battery,
// induced velocities and a sinusoid in them. Against steps of 0.01 rad, which are RK4.
static void a_coupled_step_that_turns_far_keeps_its_order(void **unused)
{
    (void)unused;
    static const double coarse[3] = {2e-3, 1e-3, 0.5e-3};
    const row r = {"fast spin", set_fast_spin, 0};
    const vy_drone_state exact = fly(&r, 0.02e-3, VY_INTEGRATOR_RK4);
    double error[3];
    for (int k = 0; k < 3; ++k) {
        const vy_drone_state s = fly(&r, coarse[k], VY_INTEGRATOR_RK4);
        error[k] = error_of(&s, &exact);
    }
    const double order = log2(error[1] / error[2]);
    print_message("errors %.1e, %.1e, %.1e, order %.2f\n", error[0], error[1], error[2], order);
    assert_true(order > 1.85 && order < 2.3);
    assert_true(log2(error[0] / error[1]) > 1.85 && error[2] < 0.01);
}

// Everything that a step goes on from is state: a world restored half-way ends in the same bits.
static void a_restored_flight_goes_on(void **unused)
{
    (void)unused;
    const row r = {"restored", set_together, 0};
    static uint64_t block[4096];
    for (int n = 0; n < INTEGRATORS; ++n) {
        vy_world *a = world_of(&r, 1e-3, integrators[n]), *b = world_of(&r, 1e-3, integrators[n]);
        assert_true(vy_world_state_size(a) <= sizeof block);
        (void)vy_world_advance(a, 240);
        vy_world_save(a, block);
        assert_int_equal(vy_world_restore(b, block, vy_world_state_size(b), NULL), VY_OK);
        (void)vy_world_advance(a, 240);
        (void)vy_world_advance(b, 240);
        assert_true(vy_world_hash(a) == vy_world_hash(b));
        vy_world_destroy(a);
        vy_world_destroy(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_effect_keeps_the_order),
        cmocka_unit_test(every_joule_has_a_cause),
        cmocka_unit_test(a_coupled_step_that_turns_far_keeps_its_order),
        cmocka_unit_test(a_restored_flight_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
