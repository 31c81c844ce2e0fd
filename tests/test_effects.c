// test_effects.c - every effect of the world against its closed form, and motions under them against theirs.
#include "equations/multirotor.h"
#include "flight.h"

// One body, its surroundings, and what is held over a step.
typedef struct effect_case {
    environment_model env;
    effect_params p;
    held_inputs held;
    body_state s;
    body_loads rotors;
} effect_case;

static const planet_params earth = {1, 6378137.0, 6356752.314245, 6.69437999014e-3, 7.292115e-5};

// Standard air, a wind, and parameters of every kind that is not zero, at a random attitude.
static effect_case random_case(random_source *r)
{
    effect_case c;
    memset(&c, 0, sizeof c);
    c.env.gravity.uniform = random_vec(r, 10.0);
    c.env.air = (atmosphere_params){ATMOSPHERE_STANDARD, 101325.0, 288.15, random_in(r, 0.5, 1.5)};
    c.env.wind.x = random_in(r, -5.0, 5.0);
    c.env.wind.y = random_in(r, -5.0, 5.0);
    c.env.wind.z = random_in(r, -5.0, 5.0);
    c.env.constant_wind = wind_constant(&c.env.wind);
    c.env.has_wind = 1;
    for (int i = 0; i < 3; ++i) {
        c.env.magnetic[i] = random_in(r, -1e-4, 1e-4);
        c.env.radiation_pressure[i] = random_in(r, -5e-6, 5e-6);
    }
    c.p = (effect_params){
        .mass = random_in(r, 0.1, 2.0),
        .linear_drag = {random_in(r, 0.0, 0.1), random_in(r, 0.0, 0.1), random_in(r, 0.0, 0.1)},
        .drag_area = random_in(r, 0.0, 0.1),
        .lift_area = random_in(r, -0.1, 0.1),
        .volume = random_in(r, 0.0, 0.01),
        .pressure_centre = random_vec(r, 0.1),
        .rate_damping_area = {random_in(r, 0.0, 1e-3), random_in(r, 0.0, 1e-3), random_in(r, 0.0, 1e-3)},
        .spin_damping = {random_in(r, 0.0, 1e-3), random_in(r, 0.0, 1e-3), random_in(r, 0.0, 1e-3)},
        .density_ratio = 1.0,
        .dipole = random_vec(r, 0.1),
        .light_area = random_in(r, 0.0, 2.0),
    };
    c.held.disturbance =
        (body_loads){random_vec(r, 1.0), random_vec(r, 1.0), random_vec(r, 0.1), random_vec(r, 0.1)};
    c.held.turbulence = random_vec(r, 2.0);
    c.s = (body_state){random_vec(r, 50.0), random_vec(r, 15.0), random_attitude(r), random_vec(r, 5.0)};
    c.rotors = loads_zero();
    c.rotors.force_body.z = random_in(r, 0.0, 20.0);
    c.rotors.torque_body = random_vec(r, 0.1);
    return c;
}

// What the effects in `flags` add: force in world axes, torque in body axes.
static vec3 force_of(const effect_case *c, uint64_t flags, vec3 *torque)
{
    body_loads l = c->rotors;
    const mat3 rotation = quat_matrix(c->s.attitude);
    const vec3 g = effects_add_parts(&c->env, &c->p, &c->held, &c->s, rotation, c->held.time,
                                     flags & EFFECTS_OF_BODIES, NULL, VARIANT_GENERAL, NULL, &l);
    const vec3 body = vec3_sub(l.force_body, c->rotors.force_body);
    const vec3 turned = quat_unrotate(c->s.attitude, l.torque_world);
    *torque = vec3_add(vec3_sub(l.torque_body, c->rotors.torque_body), turned);
    return vec3_add(vec3_add(quat_rotate(c->s.attitude, body), l.force_world), vec3_scale(c->p.mass, g));
}

static vec3 wind_of(const effect_case *c)
{
    return vec3_add((vec3){c->env.wind.x, c->env.wind.y, c->env.wind.z}, c->held.turbulence);
}

// The force of one effect, which must have no torque, and the other way round.
static vec3 pure_force(const effect_case *c, uint64_t flags)
{
    vec3 torque;
    const vec3 force = force_of(c, flags, &torque);
    assert_true(vec3_length(torque) == 0.0);
    return force;
}

static vec3 pure_torque(const effect_case *c, uint64_t flags)
{
    vec3 torque;
    assert_true(vec3_length(force_of(c, flags, &torque)) == 0.0);
    return torque;
}

enum { CASES = 300 };

static void forces_have_their_closed_forms(void **unused)
{
    (void)unused;
    random_source r = {401};
    for (int n = 0; n < CASES; ++n) {
        const effect_case c = random_case(&r);
        const double rho = c.env.air.density;
        assert_vec_near(pure_force(&c, EFFECT_BIT(gravity)), vec3_scale(c.p.mass, c.env.gravity.uniform),
                        1e-14);
        const vec3 v = c.s.velocity, through = vec3_sub(v, wind_of(&c));
        const vec3 still = vec3_scale(-0.5 * rho * c.p.drag_area * vec3_length(v), v);
        const vec3 blown = vec3_scale(-0.5 * rho * c.p.drag_area * vec3_length(through), through);
        assert_vec_near(pure_force(&c, EFFECT_BIT(drag)), still, 1e-13);
        assert_vec_near(pure_force(&c, EFFECT_BIT(drag) | EFFECT_BIT(wind)), blown, 1e-13);
        const vec3 inner = quat_unrotate(c.s.attitude, through);
        const vec3 linear = {c.p.linear_drag.x * inner.x, c.p.linear_drag.y * inner.y,
                             c.p.linear_drag.z * inner.z};
        assert_vec_near(pure_force(&c, EFFECT_BIT(linear_drag) | EFFECT_BIT(wind)),
                        vec3_neg(quat_rotate(c.s.attitude, linear)), 1e-13);
        assert_vec_near(pure_force(&c, EFFECT_BIT(radiation)),
                        vec3_scale(c.p.light_area, vec3_of(c.env.radiation_pressure)), 1e-20);
        const vec3 pushed = vec3_add(c.held.disturbance.force_world,
                                     quat_rotate(c.s.attitude, c.held.disturbance.force_body));
        assert_vec_near(pure_force(&c, EFFECT_BIT(disturbance)), pushed, 1e-14);
        assert_true(vec3_length(pure_force(&c, EFFECT_BIT(wind))) == 0.0); // nothing of its own
    }
}

static void torques_have_their_closed_forms(void **unused)
{
    (void)unused;
    random_source r = {402};
    for (int n = 0; n < CASES; ++n) {
        const effect_case c = random_case(&r);
        const uint64_t air = EFFECT_BIT(wind);
        const vec3 loads =
            vec3_add(pure_force(&c, EFFECT_BIT(drag) | air), pure_force(&c, EFFECT_BIT(lift) | air));
        const vec3 lever = vec3_cross(quat_rotate(c.s.attitude, c.p.pressure_centre), loads); // in the world
        assert_vec_near(pure_torque(&c, EFFECT_BIT(aero_torque) | air), quat_unrotate(c.s.attitude, lever),
                        1e-13);

        const double k = 0.25 * c.env.air.density * vec3_length(vec3_sub(c.s.velocity, wind_of(&c)));
        const vec3 w = c.s.rate;
        const vec3 damped = {-(c.p.spin_damping.x + k * c.p.rate_damping_area.x) * w.x,
                             -(c.p.spin_damping.y + k * c.p.rate_damping_area.y) * w.y,
                             -(c.p.spin_damping.z + k * c.p.rate_damping_area.z) * w.z};
        assert_vec_near(pure_torque(&c, EFFECT_BIT(damping) | air), damped, 1e-15);

        const vec3 dipole = quat_rotate(c.s.attitude, c.p.dipole);
        const vec3 turned = vec3_cross(dipole, vec3_of(c.env.magnetic));
        assert_vec_near(pure_torque(&c, EFFECT_BIT(magnetic)), quat_unrotate(c.s.attitude, turned), 1e-16);
        const vec3 disturbance_torque = vec3_add(quat_unrotate(c.s.attitude, c.held.disturbance.torque_world),
                                                 c.held.disturbance.torque_body);
        assert_vec_near(pure_torque(&c, EFFECT_BIT(disturbance_torque)), disturbance_torque, 1e-15);
    }
}

// Without its effect's bit nothing is added, and all effects together are the sum of each alone.
static void effects_add_up(void **unused)
{
    (void)unused;
    random_source r = {403};
    for (int n = 0; n < CASES; ++n) {
        const effect_case c = random_case(&r);
        vec3 force = vec3_zero(), torque = vec3_zero(), t;
        for (int i = 0; i < EFFECT_COUNT; ++i) {
            force = vec3_add(force, force_of(&c, ((uint64_t)1 << i) | EFFECT_BIT(wind), &t));
            torque = vec3_add(torque, t);
        }
        assert_vec_near(force_of(&c, EFFECTS_ALL, &t), force, 1e-12);
        assert_vec_near(t, torque, 1e-13);
        assert_true(vec3_length(force_of(&c, 0, &t)) == 0.0 && vec3_length(t) == 0.0);
    }
}

// Ruling 18: lift acts along the part of body +z that is perpendicular to the flow, with 1/2 rho Cl A v^2.
static void ruling_18_lift_is_across_the_flow(void **unused)
{
    (void)unused;
    random_source r = {404};
    for (int n = 0; n < CASES; ++n) {
        effect_case c = random_case(&r);
        c.p.lift_area = fabs(c.p.lift_area);
        const vec3 flow = vec3_sub(c.s.velocity, wind_of(&c)),
                   up = quat_rotate(c.s.attitude, (vec3){0, 0, 1});
        const vec3 lift = pure_force(&c, EFFECT_BIT(lift) | EFFECT_BIT(wind));
        const double size = 0.5 * c.env.air.density * c.p.lift_area * vec3_dot(flow, flow);
        assert_near(vec3_length(lift), size, 1e-12 * size);
        assert_near(vec3_dot(lift, flow), 0.0, 1e-12 * size * vec3_length(flow));
        assert_true(vec3_dot(lift, up) >= 0.0);
        assert_near(vec3_dot(lift, vec3_cross(flow, up)), 0.0,
                    1e-11 * size * vec3_length(flow)); // in their plane
        c.p.lift_area = -c.p.lift_area;
        assert_true(vec3_length(vec3_add(pure_force(&c, EFFECT_BIT(lift) | EFFECT_BIT(wind)), lift)) == 0.0);
    }
}

// Ruling 18: no lift, and no torque of it, when the flow is along body z, forwards or backwards, or there is
// none.
static void ruling_18_no_lift_along_the_flow(void **unused)
{
    (void)unused;
    random_source r = {405};
    for (int n = 0; n < CASES; ++n) {
        effect_case c = random_case(&r);
        const vec3 up = quat_rotate(c.s.attitude, (vec3){0, 0, 1});
        const double speed = n == 0 ? 0.0 : random_in(&r, -20.0, 20.0);
        c.s.velocity = vec3_scale(speed, up);
        assert_true(vec3_length(pure_force(&c, EFFECT_BIT(lift))) == 0.0);
        c.p.drag_area = 0.0;
        assert_true(vec3_length(pure_torque(&c, EFFECT_BIT(aero_torque))) == 0.0);
        // A thousandth of a radian off it is there in full.
        if (n == 0) continue;
        const vec3 side = quat_rotate(c.s.attitude, (vec3){1, 0, 0});
        c.s.velocity = vec3_add_scaled(c.s.velocity, 1e-3 * speed, side);
        const double size =
            0.5 * c.env.air.density * fabs(c.p.lift_area) * vec3_dot(c.s.velocity, c.s.velocity);
        assert_near(vec3_length(pure_force(&c, EFFECT_BIT(lift))), size, 1e-9 * size);
    }
}

// Ruling 18: buoyancy is -rho V g(r), with the gravity of the place.
static void ruling_18_buoyancy_follows_gravity(void **unused)
{
    (void)unused;
    random_source r = {406};
    for (int n = 0; n < CASES; ++n) {
        effect_case c = random_case(&r);
        c.env.gravity.body_count = 1;
        c.env.gravity.bodies[0] = (gravity_body){4.0e5, 10.0, -20.0, -300.0, 0.0, 0.0};
        const vec3 d = vec3_sub(c.s.position, (vec3){10.0, -20.0, -300.0});
        const vec3 g = vec3_add_scaled(c.env.gravity.uniform, -4.0e5 / pow(vec3_length(d), 3), d);
        assert_vec_near(pure_force(&c, EFFECT_BIT(gravity)), vec3_scale(c.p.mass, g), 1e-13);
        assert_vec_near(pure_force(&c, EFFECT_BIT(buoyancy)), vec3_scale(-c.env.air.density * c.p.volume, g),
                        1e-14);
    }
}

// Ruling 18: rotor thrust and torque change by rho / 1.225 - 1; not at all without an atmosphere or without
// scaling.
static void ruling_18_density_scales_thrust(void **unused)
{
    (void)unused;
    random_source r = {407};
    for (int n = 0; n < CASES; ++n) {
        effect_case c = random_case(&r);
        vec3 torque;
        const vec3 force = force_of(&c, EFFECT_BIT(density), &torque);
        const double k = c.env.air.density / 1.225 - 1.0;
        assert_vec_near(
            force, vec3_scale(k * c.rotors.force_body.z, quat_rotate(c.s.attitude, (vec3){0, 0, 1})), 1e-13);
        assert_vec_near(torque, vec3_scale(k, c.rotors.torque_body), 1e-15);
        c.env.air.density = 1.225;
        assert_near(vec3_length(force_of(&c, EFFECT_BIT(density), &torque)), 0.0, 1e-14);
        c.env.air.density = 0.3;
        c.p.density_ratio = 0.0;
        assert_true(vec3_length(force_of(&c, EFFECT_BIT(density), &torque)) == 0.0);
    }
}

static void ruling_18_density_factor_is_one_without_an_atmosphere(void **unused)
{
    (void)unused;
    random_source r = {408};
    for (int n = 0; n < CASES; ++n) {
        effect_case c = random_case(&r);
        c.env.air = (atmosphere_params){ATMOSPHERE_NONE, 0.0, 0.0, 0.0};
        vec3 torque;
        assert_true(vec3_length(force_of(&c, EFFECT_BIT(density), &torque)) == 0.0 &&
                    vec3_length(torque) == 0.0);
        // and nothing of the air is left
        assert_true(vec3_length(force_of(&c, EFFECT_BIT(drag) | EFFECT_BIT(lift) | EFFECT_BIT(buoyancy),
                                         &torque)) == 0.0);
    }
    // A drone whose thrust follows the density hovers in a vacuum as in standard air.
    vy_world_def wd = vy_default_world_def();
    wd.environment.atmosphere.mode = VY_ATMOSPHERE_NONE;
    vy_drone_def def = quiet_drone();
    def.vehicle.density_scaling = 1;
    def.vehicle.drag_linear = (vy_vec3){0, 0, 0};
    vy_world *world = fly_in(&wd, &def);
    (void)vy_world_advance(world, 1000);
    assert_near(state_of(world, 0).position.z, def.position.z, 1e-9);
    vy_world_destroy(world);
}

// The air turns with the planet: drag sees the velocity over the ground, less the wind in local axes.
static void air_turns_with_the_planet(void **unused)
{
    (void)unused;
    random_source r = {409};
    for (int n = 0; n < CASES; ++n) {
        effect_case c = random_case(&r);
        c.env.planet = earth;
        const double lat = random_in(&r, -1.5, 1.5), lon = random_in(&r, -PI, PI),
                     up = random_in(&r, 0.0, 1000.0);
        const double across =
            earth.radius / sqrt(1.0 - earth.e2 * sin(lat) * sin(lat)); // to the axis, along the vertical
        c.s.position = (vec3){(across + up) * cos(lat) * cos(lon), (across + up) * cos(lat) * sin(lon),
                              (across * (1.0 - earth.e2) + up) * sin(lat)};
        const vec3 ground = vec3_cross((vec3){0, 0, earth.rate}, c.s.position), w = wind_of(&c);
        const vec3 east = {-sin(lon), cos(lon), 0.0},
                   north = {-sin(lat) * cos(lon), -sin(lat) * sin(lon), cos(lat)};
        const vec3 above = vec3_cross(east, north);
        const vec3 wind = vec3_add_scaled(vec3_add_scaled(vec3_scale(w.x, east), w.y, north), w.z, above);
        const vec3 flow = vec3_sub(vec3_sub(c.s.velocity, ground), wind);
        const vec3 wanted = vec3_scale(-0.5 * c.env.air.density * c.p.drag_area * vec3_length(flow), flow);
        assert_vec_near(pure_force(&c, EFFECT_BIT(drag) | EFFECT_BIT(wind)), wanted,
                        1e-9 * (1.0 + vec3_length(wanted)));
        c.s.velocity = ground;
        assert_near(vec3_length(pure_force(&c, EFFECT_BIT(drag))), 0.0, 1e-20);
    }
}

// A body that falls in air and is partly carried by it: v = vt tanh(t g' / vt), with the weight less the
// buoyancy, g' = g (1 - rho V / m), vt = sqrt(2 m g' / (rho Cd A)).
static void a_fall_ends_at_terminal_velocity(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.environment.nap.strict = 1;
    vy_drone_def def = passive_body();
    def.vehicle.area = 0.3;
    def.vehicle.cd = 0.9;
    def.vehicle.volume = 0.2;
    vy_world *world = fly_in(&wd, &def);
    const double rho = 101325.0 / (287.05287 * 288.15), g = 9.80665 * (1.0 - rho * 0.2);
    const double vt = sqrt(2.0 * g / (rho * 0.9 * 0.3));
    for (int i = 1; i <= 10; ++i) {
        (void)vy_world_advance(world, 1000);
        assert_near(state_of(world, 0).velocity.z, -vt * tanh(g * i / vt),
                    1e-5); // the gas constant has 8 digits
    }
    assert_near(state_of(world, 0).velocity.z, -vt, 1e-5);
    vy_world_destroy(world);
}

// A balloon as heavy as the air it displaces stays where it is; a lighter one rises, by as much as it is
// lighter.
static void buoyancy_balances_weight(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.environment.nap.strict = 1;
    const double rho =
        wd.environment.atmosphere.pressure / (AIR_GAS_CONSTANT * wd.environment.atmosphere.temperature);
    for (int n = 0; n < 3; ++n) {
        vy_drone_def def = passive_body();
        def.vehicle.volume = (1.0 + 0.1 * n) / rho;
        vy_world *world = fly_in(&wd, &def);
        (void)vy_world_advance(world, 2000);
        assert_near(state_of(world, 0).position.z, 1.0 + 0.5 * 9.80665 * 0.1 * n * 4.0, 1e-11);
        vy_world_destroy(world);
    }
}

// Damping stops a spinning body exponentially; a magnetic needle swings about the field with sqrt(m B / I).
static void damping_and_field_turn_a_body(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.environment.nap.strict = 1;
    wd.environment.gravity.uniform = (vy_vec3){0, 0, 0};
    wd.environment.magnetic_field = (vy_vec3){0.5, 0.0, 0.0};
    vy_drone_def def = passive_body();
    def.rate = (vy_vec3){0.0, 0.0, 2.0};
    def.vehicle.damping = (vy_vec3){0.0, 0.0, 0.01};
    vy_world *world = fly_in(&wd, &def);
    (void)vy_world_advance(world, 3000);
    assert_near(state_of(world, 0).rate.z, 2.0 * exp(-3.0 * 0.01 / 0.04), 1e-12);
    vy_world_destroy(world);

    const double small = 1e-4, frequency = sqrt(0.2 * 0.5 / 0.04);
    def = passive_body();
    def.vehicle.dipole = (vy_vec3){0.2, 0.0, 0.0};
    def.attitude = turn(small, 0, 0, 1);
    world = fly_in(&wd, &def);
    for (int i = 1; i <= 20; ++i) {
        (void)vy_world_advance(world, 250);
        const vec3 needle = quat_rotate(state_of(world, 0).attitude, (vec3){1, 0, 0});
        assert_near(asin(needle.y), small * cos(frequency * 0.25 * i), 1e-4 * small);
    }
    vy_world_destroy(world);
}

// Point masses in pairs to both sides, each pulled by the gravity of its own place: what turns them about
// their centre is the torque of the gradient, but for the square of their distance over that of the
// attractor.
static void gradient_turns_masses_as_their_weights_do(void **unused)
{
    (void)unused;
    random_source r = {408};
    for (int n = 0; n < CASES; ++n) {
        effect_case c = random_case(&r);
        c.env.gravity.gradient = 1;
        c.env.gravity.body_count = 2;
        c.env.gravity.bodies[0] = (gravity_body){4.0e5, 10.0, -20.0, -300.0, 0.0, 0.0};
        c.env.gravity.bodies[1] = (gravity_body){9.0e5, -400.0, 90.0, 80.0, 0.0, 0.0};
        const mat3 mounting = quat_matrix(random_attitude(&r));
        memset(&c.p.inertia, 0, sizeof c.p.inertia);
        vec3 torque = vec3_zero();
        for (int k = 0; k < 3; ++k) {
            const double far = random_in(&r, 0.01, 0.1), m = random_in(&r, 0.1, 2.0);
            const vec3 arm =
                vec3_scale(far, (vec3){mounting.m[0][k], mounting.m[1][k], mounting.m[2][k]}); // body axes
            for (int side = -1; side <= 1; side += 2) {
                const vec3 out = quat_rotate(c.s.attitude, vec3_scale(side, arm));
                const vec3 g = gravity_at(&c.env.gravity, vec3_add(c.s.position, out));
                torque = vec3_add(torque, vec3_cross(out, vec3_scale(m, g)));
            }
            const double v[3] = {arm.x, arm.y, arm.z};
            for (int i = 0; i < 9; ++i) // 2 m (|arm|^2 - arm arm)
                c.p.inertia.m[i / 3][i % 3] +=
                    2.0 * m * ((i / 3 == i % 3 ? far * far : 0.0) - v[i / 3] * v[i % 3]);
        }
        const vec3 wanted = quat_unrotate(c.s.attitude, torque);
        assert_vec_near(pure_torque(&c, EFFECT_BIT(gravity_gradient)), wanted,
                        1e-5 * vec3_length(wanted) + 1e-14);
        c.env.gravity.gradient = 0;
        assert_true(vec3_length(pure_torque(&c, EFFECT_BIT(gravity_gradient))) == 0.0);
    }
}

// A satellite about the Earth, and no air.
static const double earth_gm = 3.986004418e14;

static vy_world_def orbit_world(double dt, double j2)
{
    vy_world_def wd = vy_default_world_def();
    wd.dt = dt;
    vy_environment_def *e = &wd.environment;
    e->atmosphere.mode = VY_ATMOSPHERE_NONE;
    e->gravity.mode = VY_GRAVITY_CENTRAL;
    e->gravity.body_count = 1;
    e->gravity.bodies[0] = (vy_gravity_body){earth_gm, {0, 0, 0}, j2, 6378137.0};
    e->nap.period = 10.0 * dt;
    return wd;
}

static vy_world *orbiter(double dt, double j2, vec3 position, vec3 velocity)
{
    const vy_world_def wd = orbit_world(dt, j2);
    vy_drone_def def = passive_body();
    def.imu.period = def.mocap.period = 0.0;
    def.position = position;
    def.velocity = velocity;
    return fly_in(&wd, &def);
}

// A long body on a circle swings about the vertical, in the plane of the orbit with n sqrt(3 (I_x - I_z) /
// I_y) (Hughes, section 9.3). Its long axis is z, its pitch axis y.
static void a_dumbbell_librates(void **unused)
{
    (void)unused;
    enum { STEPS = 8000 };
    const double radius = 7.0e6, n = sqrt(earth_gm / pow(radius, 3)), small = 1e-4;
    const double frequency = n * sqrt(3.0 * (2.0 - 0.2) / 1.9);
    const quat plane = turn(0.7, 0.6, 0.8, 0.0);
    vy_world_def wd = orbit_world(2.0 * PI / n / STEPS, 0.0);
    wd.environment.gravity.gradient = 1;
    wd.environment.nap.strict = 1;
    vy_drone_def def = passive_body();
    def.imu.period = def.mocap.period = 0.0;
    def.vehicle.inertia = (vy_mat3){{{2.0, 0, 0}, {0, 1.9, 0}, {0, 0, 0.2}}};
    def.position = quat_rotate(plane, (vec3){radius, 0, 0});
    def.velocity = quat_rotate(plane, (vec3){0, n * radius, 0});
    // The orbit turns about its +z: body +y. Body +z is up, along +x at the start.
    const quat upright = {0.5, 0.5, 0.5, 0.5}; // x to y, y to z, z to x
    def.attitude = quat_mul(plane, quat_mul(turn(small, 0, 0, 1), upright));
    def.rate = (vy_vec3){0, n, 0};
    vy_world *world = fly_in(&wd, &def);
    for (int i = 1; i <= 8; ++i) {
        (void)vy_world_advance(world, STEPS / 4);
        const vy_drone_state s = state_of(world, 0);
        const vec3 axis = quat_unrotate(plane, quat_rotate(s.attitude, (vec3){0, 0, 1}));
        const vec3 up = vec3_scale(1.0 / vec3_length(s.position), quat_unrotate(plane, s.position));
        const double time = (double)i * (STEPS / 4) * wd.dt;
        assert_near(asin(up.x * axis.y - up.y * axis.x), small * cos(frequency * time), 1e-5 * small);
        assert_near(axis.z, 0.0, 1e-9);
    }
    vy_world_destroy(world);
}

// Position on an ellipse in the x-y plane with perigee on +x, `time` after it: Kepler's equation by Newton.
static vec3 kepler(double axis, double eccentricity, double time)
{
    const double mean = fmod(time * sqrt(earth_gm / pow(axis, 3)), 2.0 * PI);
    double e = mean;
    for (int i = 0; i < 50; ++i) e -= (e - eccentricity * sin(e) - mean) / (1.0 - eccentricity * cos(e));
    return (vec3){axis * (cos(e) - eccentricity), axis * sqrt(1.0 - eccentricity * eccentricity) * sin(e),
                  0.0};
}

static double energy_of(const vy_drone_state *s)
{
    return 0.5 * vec3_dot(s->velocity, s->velocity) - earth_gm / vec3_length(s->position);
}

// One and ten periods of a circle and of an ellipse, and every eighth of the first: position against Kepler's
// solution, energy and angular momentum against their start.
static void orbits_follow_kepler(void **unused)
{
    (void)unused;
    enum { STEPS = 16000 };
    static const double eccentricities[] = {0.0, 0.3};
    for (size_t n = 0; n < 2; ++n) {
        const double e = eccentricities[n], axis = 7.0e6 / (1.0 - e);
        const double period = 2.0 * PI * sqrt(pow(axis, 3) / earth_gm), tilt = 0.7;
        const double fast = sqrt(earth_gm * (1.0 + e) / 7.0e6);
        const quat plane = turn(tilt, 0.6, 0.8, 0.0); // no axis is special
        vy_world *world = orbiter(period / STEPS, 0.0, quat_rotate(plane, (vec3){7.0e6, 0, 0}),
                                  quat_rotate(plane, (vec3){0, fast, 0}));
        const vy_drone_state start = state_of(world, 0);
        const vec3 l0 = vec3_cross(start.position, start.velocity);
        double part = 0.0;
        for (int i = 1; i <= 8; ++i) {
            (void)vy_world_advance(world, STEPS / 8);
            const vec3 wanted = quat_rotate(plane, kepler(axis, e, period * i / 8.0));
            part = fmax(part, check_distance(state_of(world, 0).position, wanted));
        }
        const double one = check_distance(state_of(world, 0).position, start.position);
        (void)vy_world_advance(world, 9 * STEPS);
        const vy_drone_state end = state_of(world, 0);
        const double ten = check_distance(end.position, start.position);
        const double energy = fabs(energy_of(&end) / energy_of(&start) - 1.0);
        const double momentum = check_distance(vec3_cross(end.position, end.velocity), l0) / vec3_length(l0);
        print_message(
            "orbit e = %.1f, step %.2f s: off by %.1e m within a period, %.1e m after one, %.1e m after ten; "
            "energy %.1e, angular momentum %.1e\n",
            e, period / STEPS, part, one, ten, energy, momentum);
        assert_true(part < 1e-4 && one < 1e-4 && ten < 1e-3);
        assert_true(energy < 1e-12 && momentum < 1e-12);
        vy_world_destroy(world);
    }
}

// J2 turns the plane of an orbit by -3/2 J2 (R / p)^2 n cos i a second, on average over whole turns (first
// order in J2: a thousandth is left), and leaves the component of the angular momentum along the axis.
static void oblateness_turns_the_node(void **unused)
{
    (void)unused;
    const double j2 = 1.08262668e-3, radius = 7.2e6;
    const double n = sqrt(earth_gm / pow(radius, 3)), speed = n * radius;
    for (int k = 0; k < 3; ++k) {
        const double tilt = 0.4 + 0.9 * k; // prograde, nearly polar, retrograde
        const double dt = 0.5, turns = 30.0,
                     nodal = n * (1.0 + 1.5 * j2 * pow(6378137.0 / radius, 2) *
                                            (4.0 * cos(tilt) * cos(tilt) - 1.0));
        const uint64_t steps = (uint64_t)(turns * 2.0 * PI / nodal / dt);
        vy_world *world =
            orbiter(dt, j2, (vec3){radius, 0, 0}, (vec3){0, speed * cos(tilt), speed * sin(tilt)});
        const vy_drone_state a = state_of(world, 0);
        (void)vy_world_advance(world, steps);
        const vy_drone_state b = state_of(world, 0);
        const vec3 la = vec3_cross(a.position, a.velocity), lb = vec3_cross(b.position, b.velocity);
        const double turned = atan2(lb.x, -lb.y) - atan2(la.x, -la.y);
        const double wanted = -1.5 * j2 * pow(6378137.0 / radius, 2) * n * cos(tilt) * (double)steps * dt;
        print_message("node: inclination %.1f rad, %.5f rad in %.0f turns, secular %.5f\n", tilt, turned,
                      turns, wanted);
        assert_near(turned, wanted, 0.005 * fabs(wanted));
        assert_near(lb.z / la.z, 1.0, 1e-11);
        vy_world_destroy(world);
    }
}

// A flight with every effect on: layered air, sheared and gusting wind, gravity of two bodies, lift,
// buoyancy.
static body_state full_flight(double dt, int steps)
{
    effect_case c;
    memset(&c, 0, sizeof c);
    c.env.gravity.body_count = 2;
    c.env.gravity.bodies[0] = (gravity_body){earth_gm, 0.0, 0.0, -6.378e6, 1.08e-3, 6.378e6};
    c.env.gravity.bodies[1] = (gravity_body){3e3, 20.0, 10.0, 50.0, 0.0, 0.0}; // a hill
    c.env.air.mode = ATMOSPHERE_LAYERED;
    c.env.has_wind = 1;
    c.env.wind = (wind_params){.x = 3.0,
                               .y = -2.0,
                               .z = 0.5,
                               .shear = WIND_SHEAR_LOGARITHMIC,
                               .shear_x = 0.6,
                               .shear_y = 0.8,
                               .shear_speed = 4.0,
                               .shear_height = 10.0,
                               .shear_roughness = 0.03,
                               .gust_count = 1,
                               .gusts = {{4.0, 2.0, -1.0, -0.5, 2.0, 2.0, 1.0}}};
    wind_prepare(&c.env.wind);
    c.env.constant_wind = wind_constant(&c.env.wind);
    c.env.magnetic[0] = 0.1;
    c.env.radiation_pressure[1] = 0.1;
    c.held.disturbance =
        (body_loads){{0.2, -0.1, 0.3}, {0.1, 0.2, -0.1}, {2e-3, 1e-3, -1e-3}, {-1e-3, 2e-3, 3e-3}};
    const mat3 inertia = {{{0.010, 0.001, 0.0}, {0.001, 0.012, -0.002}, {0.0, -0.002, 0.016}}};
    const multirotor_params p = {
        .body = {1.0 / 0.8, inertia, mat3_inverse(inertia)},
        .rotor = {1e-5, 1e-7, exp(-0.5 * dt / 0.05), exp(-dt / 0.05)},
        .effects = {.mass = 0.8,
                    .linear_drag = {0.02, 0.03, 0.05},
                    .drag_area = 0.05,
                    .lift_area = 0.03,
                    .volume = 0.01,
                    .pressure_centre = {0.02, -0.01, 0.03},
                    .rate_damping_area = {1e-3, 2e-3, 1e-3},
                    .spin_damping = {1e-3, 2e-3, 3e-3},
                    .density_ratio = 1.0,
                    .dipole = {0.01, 0.02, -0.01},
                    .light_area = 0.5},
    };
    const rotor_layout layout = {
        .count = 4, .roll = {0.1, -0.1, -0.1, 0.1}, .pitch = {-0.1, -0.1, 0.1, 0.1}, .yaw = {1, -1, 1, -1}};
    const double command[ROTOR_CAP] = {430.0, 425.0, 440.0, 435.0};
    double speed[ROTOR_CAP] = {300.0, 320.0, 340.0, 360.0};
    c.s = (body_state){{0, 0, 100}, {8, -3, 1}, {0.8, 0.36, 0.0, 0.48}, {1.0, -2.0, 1.5}};
    for (int i = 0; i < steps; ++i) {
        c.held.time = i * dt;
        const multirotor_inputs in = {
            .layout = &layout, .params = &p, .env = &c.env, .held = c.held, .flags = EFFECTS_OF_BODIES};
        multirotor_step(&in, dt, command, &c.s, speed);
    }
    return c.s;
}

// Halving the step divides the error by 16.
static void rk4_is_of_fourth_order_with_all_effects(void **unused)
{
    (void)unused;
    const body_state exact = full_flight(1.0 / 6400, 6400);
    double before = 0.0;
    for (int steps = 50; steps <= 400; steps *= 2) {
        const body_state s = full_flight(1.0 / steps, steps);
        const double error =
            fmax(fmax(check_distance(s.position, exact.position), check_distance(s.velocity, exact.velocity)),
                 fmax(check_distance(s.rate, exact.rate), check_angle(s.attitude, exact.attitude)));
        print_message("all effects: step %g s, error %.2e\n", 1.0 / steps, error);
        if (before > 0.0) assert_near(log2(before / error), 4.0, 0.25);
        before = error;
    }
}

// sn, cn and dn of parameter m = k^2 by the arithmetic-geometric mean (Abramowitz, Stegun, section 16.4).
static void jacobi(double u, double m, double *sn, double *cn, double *dn)
{
    double a[20], c[20], b = sqrt(1.0 - m);
    int n = 0;
    a[0] = 1.0;
    c[0] = sqrt(m);
    while (fabs(c[n]) > 1e-17 && n < 18) {
        a[n + 1] = 0.5 * (a[n] + b);
        c[n + 1] = 0.5 * (a[n] - b);
        b = sqrt(a[n] * b);
        ++n;
    }
    double phase = ldexp(a[n] * u, n);
    for (int i = n; i > 0; --i) phase = 0.5 * (phase + asin(c[i] * sin(phase) / a[i]));
    *sn = sin(phase);
    *cn = cos(phase);
    *dn = sqrt(1.0 - m * *sn * *sn);
}

// A brick without torque, of three different moments I1 < I2 < I3, spinning mostly about the third: its rates
// are A1 cn, A2 sn, A3 dn of time (Landau, Lifshitz, Mechanics, section 37).
static void a_brick_follows_jacobis_functions(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.environment.gravity.uniform = (vy_vec3){0, 0, 0};
    wd.environment.atmosphere.mode = VY_ATMOSPHERE_NONE;
    const double i1 = 0.20 / 12.0, i2 = 0.40 / 12.0, i3 = 0.52 / 12.0;
    static const vec3 starts[] = {{1.0, 0.0, 5.0}, {3.0, 0.0, 4.0}, {3.7, 0.0, 3.0}};
    for (size_t n = 0; n < sizeof starts / sizeof starts[0]; ++n) {
        vy_drone_def def = passive_body();
        def.vehicle.inertia = (vy_mat3){{{i1, 0, 0}, {0, i2, 0}, {0, 0, i3}}};
        def.rate = starts[n];
        const double w1 = def.rate.x, w3 = def.rate.z;
        const double energy = i1 * w1 * w1 + i3 * w3 * w3, square = i1 * i1 * w1 * w1 + i3 * i3 * w3 * w3;
        assert_true(square > energy * i2); // about the third axis
        const double a2 = sqrt((energy * i3 - square) / (i2 * (i3 - i2)));
        const double lambda = sqrt((i3 - i2) * (square - energy * i1) / (i1 * i2 * i3));
        const double m = (i2 - i1) * (energy * i3 - square) / ((i3 - i2) * (square - energy * i1));
        vy_world *world = fly_in(&wd, &def);
        double worst = 0.0;
        for (int i = 1; i <= 600; ++i) {
            (void)vy_world_advance(world, 100);
            double sn, cn, dn;
            jacobi(lambda * 0.1 * i, m, &sn, &cn, &dn);
            worst = fmax(worst, check_distance(state_of(world, 0).rate, (vec3){w1 * cn, a2 * sn, w3 * dn}));
        }
        print_message("brick: k^2 = %.4f, rates within %.1e rad/s over a minute\n", m, worst);
        assert_true(worst < 1e-8);
        vy_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_have_their_closed_forms),
        cmocka_unit_test(torques_have_their_closed_forms),
        cmocka_unit_test(effects_add_up),
        cmocka_unit_test(ruling_18_lift_is_across_the_flow),
        cmocka_unit_test(ruling_18_no_lift_along_the_flow),
        cmocka_unit_test(ruling_18_buoyancy_follows_gravity),
        cmocka_unit_test(ruling_18_density_scales_thrust),
        cmocka_unit_test(ruling_18_density_factor_is_one_without_an_atmosphere),
        cmocka_unit_test(air_turns_with_the_planet),
        cmocka_unit_test(a_fall_ends_at_terminal_velocity),
        cmocka_unit_test(buoyancy_balances_weight),
        cmocka_unit_test(damping_and_field_turn_a_body),
        cmocka_unit_test(gradient_turns_masses_as_their_weights_do),
        cmocka_unit_test(a_dumbbell_librates),
        cmocka_unit_test(orbits_follow_kepler),
        cmocka_unit_test(oblateness_turns_the_node),
        cmocka_unit_test(rk4_is_of_fourth_order_with_all_effects),
        cmocka_unit_test(a_brick_follows_jacobis_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
