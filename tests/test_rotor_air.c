// test_rotor_air.c - rotors in moving air, the ground, batteries, blades and wakes against closed forms.
#include "equations/multirotor.h"
#include "flight.h"
#include "vehicle/allocation.h"
#include "vehicle/blade.h"
#include "volery/world.h"
#include "world/world_impl.h"

// --- one moment, at a random attitude

typedef struct moment {
    rotor_layout layout;
    rotor_params rotor;
    rotor_curve shape;
    rotor_air_state memory;
    effect_params p;
    environment_model env;
    held_inputs held;
    body_state s;
    double speed[ROTOR_CAP], command[ROTOR_CAP];
    double thrust[ROTOR_CAP]; // of the coefficients
    vec3 velocity[ROTOR_CAP]; // of each hub through the air, body
} moment;

// A tilted, uneven hexarotor anywhere, in a steady wind and somebody's wake.
static moment random_moment(random_source *r)
{
    moment m;
    memset(&m, 0, sizeof m);
    vy_vehicle_def v = vy_default_vehicle_def();
    v.allocation = VY_ALLOCATION_PHYSICAL;
    v.rotor_count = 6;
    for (int i = 0; i < 6; ++i) {
        v.rotors[i] = (vy_rotor_def){.position = random_vec(r, 0.2),
                                     .axis = {random_in(r, -0.4, 0.4), random_in(r, -0.4, 0.4), 1.0},
                                     .spin = i % 2 ? 1 : -1};
    }
    m.layout = vy_layout_build(&v);
    m.rotor = (rotor_params){1e-5, 2e-7, 0.9, 0.81};
    m.shape = (rotor_curve){.torque_ratio = 0.02, .rise = 30.0, .fall = 15.0};
    m.memory.downwash = random_vec(r, 3.0);
    const vec3 wind = random_vec(r, 5.0);
    m.env = (environment_model){.gravity = {.uniform = {0, 0, -9.8}},
                                .air = {.mode = ATMOSPHERE_STANDARD, .density = 1.225},
                                .constant_wind = wind,
                                .has_wind = 1,
                                .steady = 1};
    m.s = (body_state){random_vec(r, 3.0), random_vec(r, 8.0), random_attitude(r), random_vec(r, 3.0)};
    m.s.position.z = random_in(r, 0.1, 3.0);
    const vec3 flow = vec3_sub(vec3_sub(m.s.velocity, wind), m.memory.downwash);
    for (int i = 0; i < 6; ++i) {
        m.speed[i] = random_in(r, 100.0, 1000.0);
        m.command[i] = random_in(r, 100.0, 1000.0);
        m.thrust[i] = 1e-5 * m.speed[i] * m.speed[i];
        m.memory.inflow[i] = random_in(r, 0.0, 8.0);
        m.velocity[i] =
            vec3_add(quat_unrotate(m.s.attitude, flow), vec3_cross(m.s.rate, vec3_of(m.layout.hub[i])));
    }
    m.p.rotors.momentum_factor = 2.0 * 1.225 * PI * 0.1 * 0.1;
    m.p.rotors.radius = 0.1;
    return m;
}

static vec3 torque_seen;

// Force of one effect, body axes; its torque is left in torque_seen.
static vec3 force_of(const moment *m, uint64_t bit)
{
    const rotor_inputs scene = {&m->layout, &m->rotor,  &m->shape,       &m->memory,
                                m->speed,   m->command, m->layout.count, NULL};
    body_loads l = loads_zero();
    (void)effects_add_parts(&m->env, &m->p, &m->held, &m->s, quat_matrix(m->s.attitude), 0.0,
                            bit | EFFECT_BIT(wind) | EFFECT_BIT(downwash), &scene, VARIANT_GENERAL, NULL, &l);
    assert_true(vec3_length(l.force_world) == 0.0 && vec3_length(l.torque_world) == 0.0);
    torque_seen = l.torque_body;
    return l.force_body;
}

enum { CASES = 300 };

static void rotor_drag_opposes_each_hub(void **unused)
{
    (void)unused;
    random_source r = {601};
    for (int n = 0; n < CASES; ++n) {
        moment m = random_moment(&r);
        m.p.rotors.drag_across = 8e-5;
        m.p.rotors.drag_along = 3e-5;
        vec3 force = vec3_zero(), torque = vec3_zero();
        for (int i = 0; i < 6; ++i) {
            const vec3 a = vec3_of(m.layout.axis[i]), v = m.velocity[i];
            const double along = a.x * v.x + a.y * v.y + a.z * v.z;
            const vec3 f = {-m.speed[i] * (8e-5 * (v.x - along * a.x) + 3e-5 * along * a.x),
                            -m.speed[i] * (8e-5 * (v.y - along * a.y) + 3e-5 * along * a.y),
                            -m.speed[i] * (8e-5 * (v.z - along * a.z) + 3e-5 * along * a.z)};
            force = vec3_add(force, f);
            torque = vec3_add(torque, vec3_cross(vec3_of(m.layout.hub[i]), f));
        }
        assert_vec_near(force_of(&m, EFFECT_BIT(rotor_drag)), force, 1e-12);
        assert_vec_near(torque_seen, torque, 1e-12);
    }
}

// The nose goes up when a drone flies ahead, and the right side when it flies to the right.
static void flapping_turns_away_from_the_motion(void **unused)
{
    (void)unused;
    random_source r = {602};
    for (int n = 0; n < CASES; ++n) {
        moment m = random_moment(&r);
        m.p.rotors.flap = 1e-5;
        vec3 torque = vec3_zero();
        for (int i = 0; i < 6; ++i) {
            const vec3 turned = vec3_cross(m.velocity[i], vec3_of(m.layout.axis[i]));
            torque = vec3_add_scaled(torque, 1e-5 * m.speed[i], turned);
        }
        assert_true(vec3_length(force_of(&m, EFFECT_BIT(flapping))) == 0.0);
        assert_vec_near(torque_seen, torque, 1e-14);
    }
    moment m = random_moment(&r);
    memset(&m.memory, 0, sizeof m.memory);
    m.env.constant_wind = vec3_zero();
    m.p.rotors.flap = 1e-5;
    m.s.attitude = (quat){1, 0, 0, 0};
    m.s.rate = vec3_zero();
    for (int i = 0; i < 6; ++i) {
        memcpy(m.layout.axis[i], (double[3]){0, 0, 1}, sizeof m.layout.axis[i]);
    }
    m.s.velocity = (vec3){5, 0, 0};
    (void)force_of(&m, EFFECT_BIT(flapping));
    assert_true(torque_seen.y < 0.0); // ruling 2: positive about +y is nose down
    m.s.velocity = (vec3){0, -5, 0};
    (void)force_of(&m, EFFECT_BIT(flapping));
    assert_true(torque_seen.x < 0.0); // positive about +x lowers the right side
}

static void translational_lift_grows_with_the_square(void **unused)
{
    (void)unused;
    random_source r = {603};
    for (int n = 0; n < CASES; ++n) {
        moment m = random_moment(&r);
        m.p.rotors.lift = 1e-3;
        vec3 force = vec3_zero(), torque = vec3_zero();
        for (int i = 0; i < 6; ++i) {
            const vec3 a = vec3_of(m.layout.axis[i]), v = m.velocity[i], cross = vec3_cross(v, a);
            const vec3 f = vec3_scale(1e-3 * vec3_dot(cross, cross), a);
            force = vec3_add(force, f);
            torque = vec3_add(torque, vec3_cross(vec3_of(m.layout.hub[i]), f));
        }
        assert_vec_near(force_of(&m, EFFECT_BIT(translational_lift)), force, 1e-13);
        assert_vec_near(torque_seen, torque, 1e-13);
    }
}

// --- inflow

// Steady induced velocity solves momentum theory in climb, in fast descent, and across; in the vortex ring
// state it is larger than hover's, about twice v_h at its largest (Leishman, figure 2.18).
static void steady_inflow_is_momentum_theory(void **unused)
{
    (void)unused;
    for (double x = 0.0; x < 20.0; x += 0.1) {
        const double v = inflow_axial(x);
        assert_near(v * (v + x), 1.0, 1e-12);
        const double across = inflow_across(0.5 * x * x);
        assert_near(across * sqrt(x * x + across * across), 1.0, 1e-12);
        const double sink = -2.0 - 0.01 - x, mill = inflow_axial(sink);
        assert_near(mill * (-sink - mill), 1.0, 1e-12);
        assert_true(mill < 1.0);
    }
    double max = 0.0, at = 0.0;
    for (double x = -2.0; x < 0.0; x += 0.001) {
        if (inflow_axial(x) > max) max = inflow_axial(x), at = x;
    }
    assert_true(max > 1.9 && max < 2.1 && at > -1.6 && at < -1.0);
    assert_near(inflow_axial(-1e-9), 1.0, 1e-8);
    assert_near(inflow_steady(4.0, 0.0, 0.0), 4.0, 1e-12);
    assert_true(inflow_steady(0.0, 5.0, 1.0) == 0.0);
}

static void inflow_takes_and_gives_thrust(void **unused)
{
    (void)unused;
    random_source r = {604};
    for (int n = 0; n < CASES; ++n) {
        moment m = random_moment(&r);
        m.p.rotors.inflow = 5e-5;
        m.p.rotors.vortex_ring_loss = n % 2 ? 0.3 : 0.0;
        vec3 force = vec3_zero();
        for (int i = 0; i < 6; ++i) {
            const vec3 a = vec3_of(m.layout.axis[i]), cross = vec3_cross(m.velocity[i], a);
            const double climb = vec3_dot(m.velocity[i], a),
                         hover = sqrt(m.thrust[i] / m.p.rotors.momentum_factor);
            const double x = climb / hover, across = vec3_dot(cross, cross) / (hover * hover);
            double thrust = 5e-5 * m.speed[i] * (hover - m.memory.inflow[i] - climb);
            if (x < 0.0 && x > -2.0 && across < 1.0)
                thrust -=
                    m.p.rotors.vortex_ring_loss * m.thrust[i] * pow(x * (2.0 + x), 2.0) * (1.0 - across);
            force = vec3_add_scaled(force, thrust, a);
        }
        assert_vec_near(force_of(&m, EFFECT_BIT(inflow)), force, 1e-11);
    }
}

static vy_world *world_with(const vy_world_def *wd, const vy_drone_def *def)
{
    vy_world *world;
    vy_error err = {0};
    if (vy_world_create(wd, &world, &err) != VY_OK || vy_world_add_drone(world, def, NULL, &err) != VY_OK)
        fail_msg("%s", err.text);
    return world;
}

// A reference quad with rotors of 0.1 m, its motors told to hold `share` of the hover speed.
static vy_drone_def told(double share)
{
    vy_drone_def def = vy_default_drone_def();
    assert_int_equal(vy_vehicle_preset("reference-quad", &def.vehicle, NULL), VY_OK);
    def.vehicle.rotor_air.radius = 0.1;
    def.rotor_speed = vy_vehicle_hover_speed(&def.vehicle, 9.80665);
    const double hover = vy_vehicle_hover_speed(&def.vehicle, 9.80665);
    const double u = share * hover / def.vehicle.speed_max;
    def.rotor_speed = hover;
    def.controller.kind = VY_CONTROLLER_NONE;
    def.controller.start = (vy_intent){.rung = VY_RUNG_MOTORS, .motors = {u, u, u, u}};
    return def;
}

// In steady hover nothing happens. A rotor that is told more speed at once gains more thrust than it keeps:
// the air it drives down follows with the lag, and the induced velocity is its exact solution.
static void inflow_follows_with_its_lag(void **unused)
{
    (void)unused;
    vy_drone_def def = told(1.0);
    def.vehicle.motor_lag = 0.0;
    def.vehicle.rotor_air.inflow = 2e-4;
    def.vehicle.rotor_air.inflow_lag = 0.05;
    vy_world_def wd = vy_default_world_def();
    vy_world *world = world_with(&wd, &def);
    (void)vy_world_advance(world, 500);
    assert_near(state_of(world, 0).velocity.z, 0.0, 1e-9);
    const double disc = 2.0 * 1.225 * PI * 0.01, hover = sqrt(9.80665 / 4.0 / disc);
    assert_near(world->powertrain[0].memory.inflow[0], hover, 1e-9);
    vy_world_destroy(world);

    def = told(1.2);
    def.vehicle.motor_lag = 0.0;
    def.vehicle.mass = 1e6; // too heavy to move: only the air does
    // rotor_speed is still that of hover
    def.vehicle.rotor_air.inflow = 2e-4;
    def.vehicle.rotor_air.inflow_lag = 0.05;
    wd.environment.gravity.uniform = vec3_zero();
    world = world_with(&wd, &def);
    for (int i = 1; i <= 200; ++i) {
        (void)vy_world_step(world);
        const double wanted = 1.2 * hover + (hover - 1.2 * hover) * exp(-0.001 * i / 0.05);
        assert_near(world->powertrain[0].memory.inflow[2], wanted, 2e-6); // its climb: 14 N on 1e6 kg
    }
    vy_world_destroy(world);
}

// Of as many rotors as there can be, without a lag: each has the induced velocity of its hover.
static void inflow_without_lag_is_steady(void **unused)
{
    (void)unused;
    vy_drone_def def = vy_default_drone_def();
    assert_int_equal(vy_vehicle_preset("octo", &def.vehicle, NULL), VY_OK);
    assert_int_equal(def.vehicle.rotor_count, VY_ROTOR_CAP);
    def.vehicle.rotor_air.inflow = 2e-4;
    def.vehicle.rotor_air.inflow_lag = 0.0;
    def.vehicle.rotor_air.radius = 0.1;
    def.rotor_speed = vy_vehicle_hover_speed(&def.vehicle, 9.80665);
    def.position.z = 50.0;
    const vy_world_def wd = vy_default_world_def();
    vy_world *world = world_with(&wd, &def);
    (void)vy_world_advance(world, 200);
    const double *inflow = world->powertrain[0].memory.inflow;
    assert_true(inflow[0] > 0.1);
    for (int i = 1; i < VY_ROTOR_CAP; ++i) assert_near(inflow[i], inflow[0], 0.05 * inflow[0]);
    vy_world_destroy(world);
}

// Sinking at v_h with the air settled, a rotor has lost the declared share and what the measured curve takes.
static void vortex_ring_takes_thrust(void **unused)
{
    (void)unused;
    assert_true(vortex_ring(-1.0, 0.0) == 1.0 && vortex_ring(0.0, 0.0) == 0.0 &&
                vortex_ring(0.5, 0.0) == 0.0);
    assert_true(vortex_ring(-2.0, 0.0) == 0.0 && vortex_ring(-3.0, 0.0) == 0.0);
    assert_true(vortex_ring(-1.0, 0.5) == 0.0 && vortex_ring(-1.0, 9.0) == 0.0);
    random_source r = {605};
    moment m = random_moment(&r);
    memset(&m.memory, 0, sizeof m.memory);
    m.env.constant_wind = vec3_zero();
    m.s.rate = vec3_zero();
    m.s.attitude = (quat){1, 0, 0, 0};
    m.p.rotors.vortex_ring_loss = 0.25;
    const double hover = sqrt(1e-5 * 250000.0 / m.p.rotors.momentum_factor);
    double lifted = 0.0;
    for (int i = 0; i < 6; ++i) {
        memcpy(m.layout.axis[i], (double[3]){0, 0, 1}, sizeof m.layout.axis[i]);
        m.speed[i] = 500.0;
        lifted += 1e-5 * 250000.0;
    }
    m.s.velocity = (vec3){0, 0, -hover};
    assert_near(force_of(&m, EFFECT_BIT(inflow)).z, -0.25 * lifted, 1e-12);
    m.s.velocity.x = 2.0 * hover; // fast across: out of its own wake
    assert_near(force_of(&m, EFFECT_BIT(inflow)).z, 0.0, 1e-12);
}

// --- the ground

// Cheeseman and Bennett's factor at heights they measured, along the tilted axis, and not upside down. Below
// the ground it fades out over a radius: nothing is left at any depth.
static void ground_lifts_by_the_distance_along_the_axis(void **unused)
{
    (void)unused;
    assert_near(1.0 + ground_gain(0.1, 0.05), 4.0 / 3.0, 1e-14);
    assert_near(1.0 + ground_gain(0.1, 0.1), 16.0 / 15.0, 1e-14);
    assert_near(1.0 + ground_gain(0.1, 0.2), 64.0 / 63.0, 1e-14);
    assert_near(1.0 + ground_gain(0.1, 0.0), 4.0 / 3.0, 1e-14);
    assert_true(ground_fade(0.1, 0.0) == 1.0 && ground_fade(0.1, 1e9) == 1.0 &&
                ground_fade(0.1, -0.1) == 0.0 && ground_fade(0.1, -1e9) == 0.0);
    random_source r = {606};
    int up = 0, below = 0;
    for (int n = 0; n < CASES; ++n) {
        moment m = random_moment(&r);
        m.s.position.z = n % 4 == 0 ? random_in(&r, -0.3, 0.0) : random_in(&r, 0.05, 0.5);
        m.p.rotors.ground = 1.0;
        vec3 force = vec3_zero(), torque = vec3_zero();
        for (int i = 0; i < 6; ++i) {
            const vec3 a = vec3_of(m.layout.axis[i]), axis = quat_rotate(m.s.attitude, a);
            const vec3 hub = quat_rotate(m.s.attitude, vec3_of(m.layout.hub[i]));
            if (axis.z <= 0.05) continue;
            ++up;
            const double along = (m.s.position.z + hub.z) / axis.z;
            const double d = fmax(along, 0.05), q = pow(0.1 / (4.0 * d), 2.0);
            const double left = fmin(fmax(1.0 + along / 0.1, 0.0), 1.0);
            below += left < 1.0;
            const vec3 f = vec3_scale(left * m.thrust[i] * (1.0 / (1.0 - q) - 1.0), a);
            force = vec3_add(force, f);
            torque = vec3_add(torque, vec3_cross(vec3_of(m.layout.hub[i]), f));
        }
        assert_vec_near(force_of(&m, EFFECT_BIT(ground)), force, 1e-12);
        assert_vec_near(torque_seen, torque, 1e-12);
    }
    assert_true(up > CASES && below > CASES / 10);
}

// Ruling 2: what the ground adds to a rotor's thrust turns the vehicle by the rows of its allocation, as all
// thrust does: documented ones have pitch the other way round.
static void ruling_02_ground_effect_goes_through_the_allocation(void **unused)
{
    (void)unused;
    const vy_world_def world_def = vy_default_world_def();
    for (int documented = 0; documented < 2; ++documented) {
        vy_drone_def def = told(1.0);
        def.vehicle.allocation = documented ? VY_ALLOCATION_DOCUMENTED : VY_ALLOCATION_PHYSICAL;
        def.vehicle.rotor_air.ground = 1;
        def.attitude = quat_normalize((vy_quat){1.0, 0.05, -0.1, 0.02}); // rolled, nose up
        def.position = (vy_vec3){0.0, 0.0, 0.12};
        vy_world *world = fly_in(&world_def, &def);
        const vy_drone_state s = state_of(world, 0); // loads are those at the start of the step
        assert_int_equal(vy_world_keep_loads(world, 1, NULL), VY_OK);
        vy_world_step(world);
        vy_loads loads;
        assert_int_equal(vy_world_read_loads(world, vy_world_body(world, 0), &loads), VY_OK);
        const vec3 axis = quat_rotate(s.attitude, vec3_make(0.0, 0.0, 1.0));
        vec3 torque = vec3_zero();
        for (int i = 0; i < 4; ++i) {
            const vec3 place = def.vehicle.rotors[i].position, hub = quat_rotate(s.attitude, place);
            const double d = (s.position.z + hub.z) / axis.z, q = pow(0.1 / (4.0 * d), 2.0);
            const double more =
                def.vehicle.thrust_coef * s.rotor_speed[i] * s.rotor_speed[i] * (1.0 / (1.0 - q) - 1.0);
            torque.x += place.y * more;
            torque.y += (documented ? 1.0 : -1.0) * place.x * more;
        }
        assert_true(fabs(torque.x) > 1e-4 && fabs(torque.y) > 1e-4);
        assert_vec_near(loads.torque[EFFECT_ground], torque, 1e-12);
        vy_world_destroy(world);
    }
}

// Over a table the ground is the table, beside it the floor; the distance is along the tilted axis.
static void ground_is_what_is_below(void **unused)
{
    (void)unused;
    vy_world_def world_def = vy_default_world_def();
    for (int n = 0; n < 4; ++n) {
        vy_drone_def def = told(1.0);
        def.vehicle.rotor_air.ground = 1;
        const double tilt = n % 2 == 0 ? 0.0 : 0.4, beside = n / 2 * 5.0;
        def.attitude = (vy_quat){cos(0.5 * tilt), sin(0.5 * tilt), 0.0, 0.0};
        def.position = (vy_vec3){beside, 0.0, 0.8};
        vy_world *world = fly_in(&world_def, &def);
        vy_obstacle_def floor = vy_default_obstacle_def(), table = floor;
        table.solid.kind = VY_COLLIDER_BOX;
        table.solid.size = (vy_vec3){1.0, 1.0, 0.7};
        table.position = (vy_vec3){0.0, 0.0, 0.35};
        assert_int_equal(vy_world_add_obstacle(world, &table, NULL), VY_OK);
        assert_int_equal(vy_world_add_obstacle(world, &floor, NULL), VY_OK);
        const vy_drone_state s = state_of(world, 0);
        assert_int_equal(vy_world_keep_loads(world, 1, NULL), VY_OK);
        vy_world_step(world);
        vy_loads loads;
        assert_int_equal(vy_world_read_loads(world, vy_world_body(world, 0), &loads), VY_OK);
        const double height = s.position.z - (beside > 0.0 ? 0.0 : 0.7);
        double lift = 0.0;
        for (int i = 0; i < 4; ++i) {
            const vec3 hub = quat_rotate(s.attitude, def.vehicle.rotors[i].position);
            const double d = (height + hub.z) / cos(tilt), q = pow(0.1 / (4.0 * d), 2.0);
            lift += def.vehicle.thrust_coef * s.rotor_speed[i] * s.rotor_speed[i] * (1.0 / (1.0 - q) - 1.0);
        }
        const vec3 wanted = quat_rotate(s.attitude, vec3_make(0.0, 0.0, lift));
        assert_vec_near(loads.force[EFFECT_ground], wanted, 1e-9 * lift);
        assert_true(beside > 0.0 ? lift < 0.02 : lift > 0.2);
        vy_world_destroy(world);
    }
}

// --- angular momentum

// Without anything from outside, the angular momentum of body and rotors together stays, whatever the rotors
// do: four that speed up and slow down, on a body that tumbles.
static void rotors_keep_angular_momentum(void **unused)
{
    (void)unused;
    vy_drone_def def = told(1.0);
    def.vehicle.thrust_coef = 1e-15;
    def.vehicle.torque_coef = 0.0;
    def.vehicle.inertia = mat3_diag(0.005, 0.006, 0.009);
    def.vehicle.rotor_air.inertia = 5e-5;
    def.vehicle.motor_lag_down = 0.07;
    def.vehicle.rotors[2].spin = 1; // three turn one way: there is momentum to begin with
    def.rotor_speed = 500.0;
    def.rate = (vy_vec3){2.0, -1.0, 3.0};
    def.controller.start.motors[0] = 0.9;
    def.controller.start.motors[1] = 0.1;
    def.controller.start.motors[2] = 0.7;
    def.controller.start.motors[3] = 0.5;
    vy_world_def wd = vy_default_world_def();
    wd.environment.gravity.uniform = vec3_zero();
    wd.environment.nap.strict = 1;
    vy_world *world = world_with(&wd, &def);
    vec3 start = vec3_zero();
    double changed = 0.0;
    for (int i = 0; i < 2000; ++i) {
        const vy_drone_state s = state_of(world, 0);
        vec3 l = mat3_mul_vec(def.vehicle.inertia, s.rate);
        for (int k = 0; k < 4; ++k) l.z += 5e-5 * def.vehicle.rotors[k].spin * s.rotor_speed[k];
        const vec3 now = quat_rotate(s.attitude, l);
        if (i == 0) start = now;
        assert_vec_near(now, start, 2e-9);
        changed = fmax(changed, check_distance(s.rate, def.rate));
        (void)vy_world_step(world);
    }
    assert_true(changed > 1.0);
    vy_world_destroy(world);
}

// --- blades

// The same sums with 400 radii and 360 azimuths, by angles, written anew.
static blade_loads fine_sum(const vy_vehicle_def *v, const blade_params *b, double w, double spin, double vx,
                            double vy, double through)
{
    blade_loads l = {0};
    const double root = atan2(b->pitch_sin[0], b->pitch_cos[0]) + v->blade.twist * blade_point(0);
    for (int k = 0; k < 400; ++k) {
        const double r = (0.15 + 0.85 * (k + 0.5) / 400.0) * b->radius, dr = 0.85 * b->radius / 400.0;
        const double pitch = root - v->blade.twist * r / b->radius;
        for (int j = 0; j < 360; ++j) {
            const double psi = 2.0 * PI * j / 360.0, tx = -spin * sin(psi), ty = spin * cos(psi);
            const double ut = w * r + tx * vx + ty * vy, phi = atan2(through, ut), a = pitch - phi;
            const double u2 = ut * ut + through * through;
            const double cl = fmin(fmax(b->slope * sin(a) * cos(a), -b->lift_max), b->lift_max);
            const double cd = b->drag_0 + b->drag_2 * sin(a) * sin(a);
            const double q = 0.5 * 1.225 * v->blade.chord * v->blade.count * u2 * dr / 360.0;
            const double up = q * (cl * cos(phi) - cd * sin(phi)), back = q * (cl * sin(phi) + cd * cos(phi));
            l.thrust += up;
            l.torque += r * back;
            l.force_1 -= tx * back;
            l.force_2 -= ty * back;
            l.moment_1 += sin(psi) * r * up;
            l.moment_2 -= cos(psi) * r * up;
        }
    }
    return l;
}

static vy_vehicle_def bladed(void)
{
    vy_vehicle_def v = vy_default_vehicle_def();
    assert_int_equal(vy_vehicle_preset("x500", &v, NULL), VY_OK);
    v.rotor_air = (vy_rotor_air_def){.radius = 0.127, .inflow_lag = 0.02};
    v.blade = (vy_blade_def){
        .count = 2, .chord = 0.02, .twist = 0.15, .lift_slope = 5.7, .lift_max = 1.3, .drag_square = 1.5};
    return v;
}

// In hover the blades make k_F W^2 and k_M W^2 at every speed; off hover they agree with a sum a thousand
// times finer.
static void blades_agree_with_the_coefficients_in_hover(void **unused)
{
    (void)unused;
    const vy_vehicle_def v = bladed();
    blade_params b;
    vy_error err = {0};
    if (vy_blade_build(&v, &b, &err) != VY_OK) fail_msg("%s", err.text);
    assert_true(b.drag_0 > 0.0 && b.drag_0 < 0.2);
    for (double w = 100.0; w <= 1000.0; w += 100.0) {
        const double thrust = v.thrust_coef * w * w,
                     hover = sqrt(thrust / (2.0 * 1.225 * PI * 0.127 * 0.127));
        const blade_loads l = blade_sum(&b, w, 1.0, 0.0, 0.0, hover);
        assert_near(l.thrust, thrust, 1e-8 * thrust);
        assert_near(l.torque, v.torque_coef * w * w, 1e-8 * thrust);
        assert_near(l.force_1, 0.0, 1e-12);
        assert_near(l.moment_2, 0.0, 1e-12);
    }
    random_source r = {607};
    for (int n = 0; n < 40; ++n) {
        const double w = random_in(&r, 400.0, 1000.0), spin = n % 2 ? 1.0 : -1.0;
        const double x = random_in(&r, -12, 12), y = random_in(&r, -12, 12), z = random_in(&r, -2, 10);
        const blade_loads a = blade_sum(&b, w, spin, x, y, z), f = fine_sum(&v, &b, w, spin, x, y, z);
        const double scale = v.thrust_coef * w * w;
        assert_near(a.thrust, f.thrust, 0.01 * scale);
        assert_near(a.torque, f.torque, 0.01 * scale * 0.127);
        assert_near(a.force_1, f.force_1, 0.01 * scale);
        assert_near(a.force_2, f.force_2, 0.01 * scale);
        assert_near(a.moment_1, f.moment_1, 0.02 * scale * 0.127);
        assert_near(a.moment_2, f.moment_2, 0.02 * scale * 0.127);
    }
    const blade_loads ahead = blade_sum(&b, 700.0, 1.0, 10.0, 0.0, 5.0);
    assert_true(ahead.force_1 < 0.0);                                        // drag against the motion
    assert_true(ahead.thrust > blade_sum(&b, 700.0, 1.0, 0, 0, 5.0).thrust); // and translational lift
    assert_true(blade_sum(&b, 700.0, 1.0, 0, 0, 8.0).thrust < blade_sum(&b, 700.0, 1.0, 0, 0, 5.0).thrust);
}

// A world in which the blades fly: it hovers at the coefficients' hover speed, and blades that cannot make
// the coefficients are refused.
static void a_bladed_drone_hovers(void **unused)
{
    (void)unused;
    vy_drone_def def = vy_default_drone_def();
    def.vehicle = bladed();
    const double hover = vy_vehicle_hover_speed(&def.vehicle, 9.80665);
    const double u = hover / def.vehicle.speed_max;
    def.rotor_speed = hover;
    def.controller.kind = VY_CONTROLLER_NONE;
    def.controller.start = (vy_intent){.rung = VY_RUNG_MOTORS, .motors = {u, u, u, u}};
    const vy_world_def wd = vy_default_world_def();
    vy_world *world = world_with(&wd, &def);
    (void)vy_world_advance(world, 1000);
    vy_certificate c;
    assert_int_equal(vy_world_certificate(world, vy_world_body(world, 0), &c), VY_OK);
    assert_true(c.effects >> EFFECT_blade_element & 1);
    assert_near(state_of(world, 0).velocity.z, 0.0, 1e-5);
    vy_world_destroy(world);

    vy_error err = {0};
    vy_vehicle_def v = bladed();
    v.blade.chord = 1e-4;
    assert_int_equal(vy_check_vehicle_def(&v, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "no pitch"));
    v = bladed();
    v.torque_coef *= 0.1;
    assert_int_equal(vy_check_vehicle_def(&v, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "torque_coef"));
    v = bladed();
    v.rotor_air.drag = 1e-5;
    assert_int_equal(vy_check_vehicle_def(&v, &err), VY_BAD_VALUE);
    v = bladed();
    v.rotor_air.radius = 0.0;
    assert_int_equal(vy_check_vehicle_def(&v, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "radius"));
}

// --- battery

static const vy_battery_def cell = {.capacity = 900.0,
                                    .charge = 1.0,
                                    .resistance = 0.1,
                                    .nominal = 3.9,
                                    .voltage = {3.0, 3.6, 3.74, 3.9, 4.17},
                                    .efficiency = 0.5,
                                    .power = 0.3};

// Voltage and current solve V = E - I R and V I = P; the open voltage is straight between its points; more
// than the battery can give leaves half its voltage; an empty one gives nothing.
static void battery_solves_its_circuit(void **unused)
{
    (void)unused;
    battery_params p = {900.0, 0.1, 3.9, {3.0, 3.6, 3.74, 3.9, 4.17}, 0.5, 0.3};
    assert_near(battery_open_voltage(&p, 900.0), 4.17, 1e-15);
    assert_near(battery_open_voltage(&p, 450.0), 3.74, 1e-15);
    assert_near(battery_open_voltage(&p, 562.5), 3.82, 1e-14);
    assert_near(battery_open_voltage(&p, 0.0), 3.0, 1e-15);
    random_source r = {608};
    for (int n = 0; n < 500; ++n) {
        battery_state b = {.charge = random_in(&r, 1.0, 900.0)};
        const double charge = b.charge, power = random_in(&r, 0.0, 8.0);
        b.voltage = battery_voltage(&p, charge, power, &b.current);
        b.charge = battery_charge_after(charge, b.current, 0.01);
        assert_near(b.voltage, battery_open_voltage(&p, charge) - 0.1 * b.current, 1e-12);
        assert_near(b.voltage * b.current, power / 0.5 + 0.3, 1e-11);
        assert_near(b.charge, charge - 0.01 * b.current, 1e-12);
    }
    battery_state b = {.charge = 900.0};
    b.voltage = battery_voltage(&p, b.charge, 1e3, &b.current);
    assert_near(b.voltage, 0.5 * 4.17, 1e-12);
    b.charge = 0.0;
    b.voltage = battery_voltage(&p, b.charge, 1.0, &b.current);
    assert_true(b.voltage == 0.0 && b.current == 0.0);
}

// A Crazyflie on its battery holds its place while the voltage falls, with ever larger commands, until the
// battery is empty; charge is what the current took.
static void a_flight_ends_with_its_battery(void **unused)
{
    (void)unused;
    vy_drone_def def = vy_default_drone_def();
    def.vehicle.battery = cell;
    def.vehicle.battery.capacity = 150.0;
    def.vehicle.battery.efficiency = 1.0;
    const vy_world_def wd = vy_default_world_def();
    vy_world *world = world_with(&wd, &def);
    (void)vy_world_advance(world, 1000);
    vy_drone_state s = state_of(world, 0);
    const double fresh = s.motor_command[0], volts = s.battery_voltage;
    double taken = 150.0 - s.battery_charge;
    for (int i = 0; i < 5000; ++i) {
        (void)vy_world_step(world); // the current is that at the step's start
        taken += 0.001 * world->powertrain[0].battery.current;
    }
    s = state_of(world, 0);
    assert_near(s.battery_charge, 150.0 - taken, 1e-3);
    assert_true(s.battery_voltage < volts && s.motor_command[0] > fresh);
    assert_true(check_distance(s.position, def.position) < 0.1); // an integral lags behind a ramp
    assert_near(s.rotor_speed[0], 1544.0, 60.0);                 // the same speed as ever
    (void)vy_world_advance(world, 70000);
    s = state_of(world, 0);
    assert_true(s.battery_charge == 0.0 && s.rotor_speed[0] < 1.0 && s.velocity.z < -1.0);
    vy_world_destroy(world);
}

// --- wakes

// Two Crazyflies, one half a metre below the other: the lower one feels the jet of the upper one, about 4 g
// of force as measured between such drones (Shi et al., Neural-Swarm, 2020: about 4 g of 34 g at 0.5 m).
static void a_drone_below_is_pushed_down(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.environment.wakes.on = 1;
    vy_drone_def def = vy_default_drone_def();
    def.position = (vy_vec3){0, 0, 2};
    vy_world *world = world_with(&wd, &def);
    def.position = (vy_vec3){0, 0, 1.5};
    assert_int_equal(vy_world_add_drone(world, &def, NULL, NULL), VY_OK);
    def.position = (vy_vec3){0.6, 0, 1.5};
    assert_int_equal(vy_world_add_drone(world, &def, NULL, NULL), VY_OK);
    (void)vy_world_step(world);
    const double push = sqrt(0.028 * 9.80665 / 1.225), speed = 6.84 * push / 0.5;
    const vy_vec3 wake = state_of(world, 1).wake;
    assert_near(wake.z, -speed, 1e-9);
    assert_true(vec3_length(state_of(world, 0).wake) == 0.0 && vec3_length(state_of(world, 2).wake) == 0.0);
    const double grams = 1e3 * def.vehicle.drag_linear.z * speed / 9.80665;
    print_message("0.5 m below a Crazyflie: %.2f m/s of air, %.2f g of force\n", speed, grams);
    assert_true(grams > 2.0 && grams < 8.0);
    (void)vy_world_advance(world, 300);
    assert_true(state_of(world, 1).position.z < 1.5 - 0.005);
    assert_true(fabs(state_of(world, 2).position.z - 1.5) < 0.01);
    vy_world_destroy(world);
}

// The search on the grid finds what asking everybody finds, in any crowd, and in any order of creation.
static void the_search_finds_every_wake(void **unused)
{
    (void)unused;
    random_source r = {609};
    int felt = 0;
    for (int n = 0; n < 20; ++n) {
        enum { CROWD = 60 };
        vy_world_def wd = vy_default_world_def();
        wd.environment.wakes.on = 1;
        wd.environment.wakes.length = random_in(&r, 0.5, 4.0);
        vy_world *worlds[2];
        vy_drone_def defs[CROWD];
        const double size = random_in(&r, 0.5, 3.0);
        for (int k = 0; k < CROWD; ++k) {
            defs[k] = vy_default_drone_def();
            defs[k].position = random_vec(&r, size);
            defs[k].attitude = turn(random_in(&r, 0.0, n % 4 == 0 ? 3.0 : 0.3), 0.6, 0.8, 0.0);
            defs[k].rotor_speed = k % 7 ? random_in(&r, 500.0, 2400.0) : 0.0;
        }
        for (int w = 0; w < 2; ++w) {
            assert_int_equal(vy_world_create(&wd, &worlds[w], NULL), VY_OK);
            for (int k = 0; k < CROWD; ++k) {
                const int who = w ? CROWD - 1 - k : k;
                assert_int_equal(vy_world_add_drone(worlds[w], &defs[who], NULL, NULL), VY_OK);
            }
            (void)vy_world_step(worlds[w]);
        }
        for (uint32_t i = 0; i < CROWD; ++i) {
            vec3 air = vec3_zero();
            for (int j = 0; j < CROWD; ++j) {
                if (j == (int)i || defs[j].rotor_speed == 0.0) continue;
                const double thrust = 4.0 * 2.88e-8 * defs[j].rotor_speed * defs[j].rotor_speed;
                const vec3 up = quat_rotate(defs[j].attitude, (vec3){0, 0, 1});
                const wake_source w = {.position = defs[j].position,
                                       .down = vec3_scale(-1.0, up),
                                       .momentum = sqrt(thrust / 1.225),
                                       .exit_speed =
                                           sqrt(2.0 * thrust / (1.225 * 4.0 * PI * 0.0231 * 0.0231)),
                                       .width = 4.0 * 0.0231};
                const vec3 offset = vec3_sub(defs[i].position, defs[j].position);
                air = vec3_add_scaled(air, wake_speed(&w, offset, wd.environment.wakes.length), w.down);
            }
            const double max = 2.0 * sqrt(4.0 * 0.18 / (2.0 * 1.225 * 4.0 * PI * 0.0231 * 0.0231));
            if (vec3_length(air) > max) air = vec3_scale(max / vec3_length(air), air);
            felt += vec3_length(air) > 0.01;
            assert_vec_near(state_of(worlds[0], i).wake, air, 1e-6);
            assert_vec_near(state_of(worlds[1], CROWD - 1 - i).wake, air, 1e-6);
        }
        vy_world_destroy(worlds[0]);
        vy_world_destroy(worlds[1]);
    }
    assert_true(felt > 100);
}

// --- all of it

// A world in which everything is declared goes on from a snapshot with the same bits.
static void snapshots_hold_the_powertrain(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.environment.wakes.on = 1;
    vy_drone_def def = vy_default_drone_def();
    def.vehicle.battery = cell;
    def.vehicle.rotor_air = (vy_rotor_air_def){.radius = 0.0231,
                                               .drag = 1e-7,
                                               .drag_axial = 1e-7,
                                               .flap = 1e-10,
                                               .lift = 1e-5,
                                               .inflow = 1e-6,
                                               .inflow_lag = 0.02,
                                               .vortex_loss = 0.2,
                                               .inertia = 1e-8,
                                               .ground = 1};
    vy_world *worlds[2];
    for (int w = 0; w < 2; ++w) {
        def.position = (vy_vec3){0, 0, 0.5};
        worlds[w] = world_with(&wd, &def);
        def.position = (vy_vec3){0.02, 0, 0.1};
        assert_int_equal(vy_world_add_drone(worlds[w], &def, NULL, NULL), VY_OK);
    }
    static unsigned char block[1 << 16];
    const size_t size = vy_world_state_size(worlds[0]);
    assert_true(size <= sizeof block && size == vy_world_state_size(worlds[1]));
    (void)vy_world_advance(worlds[0], 777);
    vy_world_save(worlds[0], block);
    assert_int_equal(vy_world_restore(worlds[1], block, size, NULL), VY_OK);
    for (int w = 0; w < 2; ++w) assert_int_equal(vy_world_advance(worlds[w], 777) & VY_EVENT_FAILED, 0);
    assert_true(vy_world_hash(worlds[0]) == vy_world_hash(worlds[1]));
    assert_true(vec3_length(state_of(worlds[1], 1).wake) > 0.5);
    vy_world_destroy(worlds[0]);
    vy_world_destroy(worlds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotor_drag_opposes_each_hub),
        cmocka_unit_test(flapping_turns_away_from_the_motion),
        cmocka_unit_test(translational_lift_grows_with_the_square),
        cmocka_unit_test(steady_inflow_is_momentum_theory),
        cmocka_unit_test(inflow_takes_and_gives_thrust),
        cmocka_unit_test(inflow_follows_with_its_lag),
        cmocka_unit_test(inflow_without_lag_is_steady),
        cmocka_unit_test(vortex_ring_takes_thrust),
        cmocka_unit_test(ground_lifts_by_the_distance_along_the_axis),
        cmocka_unit_test(ruling_02_ground_effect_goes_through_the_allocation),
        cmocka_unit_test(ground_is_what_is_below),
        cmocka_unit_test(rotors_keep_angular_momentum),
        cmocka_unit_test(blades_agree_with_the_coefficients_in_hover),
        cmocka_unit_test(a_bladed_drone_hovers),
        cmocka_unit_test(battery_solves_its_circuit),
        cmocka_unit_test(a_flight_ends_with_its_battery),
        cmocka_unit_test(a_drone_below_is_pushed_down),
        cmocka_unit_test(the_search_finds_every_wake),
        cmocka_unit_test(snapshots_hold_the_powertrain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
