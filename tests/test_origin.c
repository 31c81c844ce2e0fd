// test_origin.c - a world at a place of a turning planet: its equations against the inertial ones and long
// double, its flights against inertial flights, flat ones and closed forms.
#include "environment/environment_build.h"
#include "flight.h"
#include "volery/ground.h"

#define DEGREE (PI / 180.0)

static vy_planet_def earth_at(double latitude, double longitude, double height)
{
    return (vy_planet_def){.radius = VY_EARTH_RADIUS,
                           .flattening = VY_EARTH_FLATTENING,
                           .rate = VY_EARTH_RATE,
                           .origin = {.gm = VY_EARTH_GM,
                                      .latitude = latitude,
                                      .longitude = longitude,
                                      .height = height,
                                      .j2 = VY_EARTH_J2}};
}

static environment_model build(const vy_planet_def *planet)
{
    vy_environment_def def = vy_default_environment_def();
    environment_model env;
    def.planet = *planet;
    assert_int_equal(vy_check_environment_def(&def, NULL), VY_OK);
    vy_environment_build(&def, &env);
    return env;
}

static double random_latitude(random_source *r)
{
    static const double special[] = {0.0, 0.5 * PI, -0.5 * PI, 0.25 * PI, -80.0 * DEGREE};
    const uint64_t k = random_bits(r) % 10;
    return k < 5 ? special[k] : random_in(r, -0.5 * PI, 0.5 * PI);
}

// The place `height` above the ellipsoid in the meridian plane of the origin and `east` of it, in long
// double.
static void exact_meridian(long double latitude, long double east, long double height, long double out[3])
{
    const long double f = (long double)VY_EARTH_FLATTENING, e2 = f * (2.0L - f), s = sinl(latitude),
                      c = cosl(latitude), n = (long double)VY_EARTH_RADIUS / sqrtl(1.0L - e2 * s * s);
    out[0] = (n + height) * c * cosl(east);
    out[1] = (n + height) * c * sinl(east);
    out[2] = (n * (1.0L - e2) + height) * s;
}

// Height and normal of places up to 100 km away, from their definition. Near the origin the height has the
// digits of z.
static void heights_are_those_of_the_ellipsoid(void **unused)
{
    (void)unused;
    random_source r = {1};
    double worst = 0.0, near = 0.0, normal = 0.0;
    for (int trial = 0; trial < 20000; ++trial) {
        const double latitude = random_latitude(&r), h0 = random_in(&r, -400.0, 9000.0);
        const double reach = pow(10.0, random_in(&r, -1.0, 5.0)), h = random_in(&r, -100.0, 5000.0);
        const vy_planet_def planet = earth_at(latitude, 0.0, h0);
        const environment_model env = build(&planet);
        const long double lat = (long double)latitude + (long double)random_in(&r, -reach, reach) / 6.4e6L,
                          east = (long double)random_in(&r, -reach, reach) / 6.4e6L;
        const long double s = sinl((long double)latitude), c = cosl((long double)latitude);
        long double o[3], p[3];
        exact_meridian((long double)latitude, 0.0L, (long double)h0, o);
        exact_meridian(lat, east, (long double)(h0 + h), p);
        const long double x = p[0] - o[0], z = p[2] - o[2];
        const vec3 at = vec3_make((double)p[1], (double)(c * z - s * x), (double)(c * x + s * z));
        const local_position place = local_locate(&env.gravity.frame, &env.planet, at);
        // (cos lat cos east, cos lat sin east, sin lat) is the normal there.
        const long double nx = cosl(lat) * cosl(east), ny = cosl(lat) * sinl(east), nz = sinl(lat);
        const vec3 up = vec3_make((double)ny, (double)(c * nz - s * nx), (double)(c * nx + s * nz));
        normal = fmax(normal, check_distance(place.up, up));
        const double error = fabs(place.height - ((h0 + h) - h0));
        worst = fmax(worst, error);
        if (reach < 100.0 && fabs(h) < 100.0) near = fmax(near, error);
    }
    print_message("origin: heights within %.1e m of long double, within 100 m %.1e m; normals %.1e\n", worst,
                  near, normal);
    assert_true(worst < 2e-11 && near < 2e-12 && normal < 1e-15);
}

// From the world's axes to the planet's and back, also over the date line and the poles.
static void places_round_trip(void **unused)
{
    (void)unused;
    random_source r = {2};
    double worst = 0.0, turned = 0.0;
    for (int trial = 0; trial < 20000; ++trial) {
        const double latitude = random_latitude(&r);
        const vy_planet_def planet =
            earth_at(latitude, random_bits(&r) % 2 ? PI : random_in(&r, -PI, PI), 300.0);
        const vec3 position = random_vec(&r, 5e4), velocity = random_vec(&r, 30.0);
        const quat attitude = random_attitude(&r);
        const vy_geodetic g = vy_geodetic_of(&planet, 17.0, position, velocity, attitude);
        vec3 p, v;
        quat q;
        assert_true(fabs(g.longitude) <= PI + 1e-15);
        vy_geodetic_to_world(&planet, 17.0, &g, &p, &v, &q);
        worst = fmax(worst, fmax(check_distance(p, position), check_distance(v, velocity)));
        turned = fmax(turned, check_angle(q, attitude));
    }
    print_message("origin: round trips within %.1e m and m/s, %.1e rad\n", worst, turned);
    assert_true(worst < 2e-8 && turned < 1e-7);
    // At a pole the longitude of the origin counts as 0: +y is along the meridian of 180 degrees.
    const vy_planet_def pole = earth_at(0.5 * PI, 1.0, 0.0);
    const vy_geodetic g =
        vy_geodetic_of(&pole, 0.0, vec3_make(0.0, 1000.0, 0.0), vec3_zero(), quat_identity());
    assert_near(fabs(g.longitude), PI, 1e-9);
}

// Gravity in the turning frame is that of the inertial world, turned, less the centrifugal acceleration by
// its definition; and it is the slope of the potential.
static void gravity_is_the_inertial_one(void **unused)
{
    (void)unused;
    random_source r = {3};
    double worst = 0.0, slope = 0.0;
    for (int trial = 0; trial < 5000; ++trial) {
        const double latitude = random_latitude(&r);
        const vy_planet_def planet = earth_at(latitude, 0.0, random_in(&r, 0.0, 5000.0));
        const environment_model env = build(&planet);
        const vec3 at = random_vec(&r, pow(10.0, random_in(&r, 0.0, 5.0)));
        const vec3 m = local_to_meridian(&env.gravity.frame, at);
        const gravity_params inertial = {
            .body_count = 1, .bodies = {{VY_EARTH_GM, 0.0, 0.0, 0.0, VY_EARTH_J2, VY_EARTH_RADIUS}}};
        const vec3 w = vec3_make(0.0, 0.0, VY_EARTH_RATE);
        const vec3 want =
            vec3_sub(gravity_at(&inertial, m), vec3_cross(w, vec3_cross(w, m))); // in the meridian frame
        const vec3 g = gravity_at(&env.gravity, at);
        worst = fmax(worst, check_distance(g, local_from_meridian(&env.gravity.frame, want)));
        const vec3 axis = quat_rotate(random_attitude(&r), vec3_make(1.0, 0.0, 0.0));
        const double h = 50.0, rise = gravity_potential(&env.gravity, vec3_add_scaled(at, h, axis)) -
                                      gravity_potential(&env.gravity, vec3_add_scaled(at, -h, axis));
        slope = fmax(slope, fabs(rise / (2.0 * h) + vec3_dot(g, axis)));
        assert_near(gravity_potential(&env.gravity, vec3_zero()), 0.0, 1e-12);
    }
    print_message("origin: gravity within %.1e m/s^2 of the inertial one, of the potential's slope %.1e\n",
                  worst, slope);
    assert_true(worst < 2e-14 && slope < 1e-8);
    // NIMA TR8350.2: normal gravity at the equator and at the pole, up to what J4 and J6 add (environment.md)
    const vy_planet_def equator = earth_at(0.0, 0.0, 0.0), pole = earth_at(0.5 * PI, 0.0, 0.0);
    const environment_model a = build(&equator), b = build(&pole);
    assert_near(gravity_at(&a.gravity, vec3_zero()).z, -9.7803253359, 5e-5);
    assert_near(gravity_at(&b.gravity, vec3_zero()).z, -9.8321849378, 1.3e-4);
}

// --- one flight in both forms

static vy_drone_def brick(void)
{
    vy_drone_def def = passive_body();
    def.imu.period = def.mocap.period = 0.0;
    def.vehicle.area = 0.02;
    def.vehicle.cd = 0.4;
    def.vehicle.cl = 0.1;
    def.vehicle.volume = 1e-3;
    def.vehicle.damping_area = (vy_vec3){2e-4, 8e-4, 2e-4};
    return def;
}

static vy_world *drop(const vy_planet_def *planet, const vy_geodetic *start, vy_vec3 rate, vy_integrator by)
{
    vy_world_def def = vy_default_world_def();
    vy_environment_def *e = &def.environment;
    vy_drone_def drone = brick();
    def.dt = 0.005;
    e->planet = *planet;
    e->atmosphere.mode = VY_ATMOSPHERE_LAYERED;
    e->nap.strict = 1;
    e->physics.integrator = by;
    if (!(planet->origin.gm > 0.0)) {
        e->gravity.mode = VY_GRAVITY_CENTRAL;
        e->gravity.body_count = 1;
        e->gravity.bodies[0] = (vy_gravity_body){VY_EARTH_GM, {0.0, 0.0, 0.0}, VY_EARTH_J2, VY_EARTH_RADIUS};
    }
    vy_geodetic_to_world(planet, 0.0, start, &drone.position, &drone.velocity, &drone.attitude);
    drone.rate = rate;
    if (planet->origin.gm > 0.0) { // relative to the ground, which turns
        const local_frame f = local_frame_build(planet);
        drone.rate = vec3_sub(rate, local_rate(&f, quat_matrix(drone.attitude)));
    }
    return fly_in(&def, &drone);
}

// A brick that falls for 60 s from 9 km, tumbling in the air that turns with the planet.
static void both_forms_fly_alike(void **unused)
{
    (void)unused;
    random_source r = {4};
    double worst = 0.0, angle = 0.0, speed = 0.0;
    for (int trial = 0; trial < 6; ++trial) {
        const double latitude = random_in(&r, -85.0, 85.0) * DEGREE, longitude = random_in(&r, -PI, PI);
        const vy_planet_def local = earth_at(latitude, longitude, 500.0);
        vy_planet_def inertial = local;
        inertial.origin = (vy_origin_def){.gm = 0.0};
        const vy_geodetic start = {.latitude = latitude + random_in(&r, -1e-3, 1e-3),
                                   .longitude = longitude + random_in(&r, -1e-3, 1e-3),
                                   .altitude = 9000.0,
                                   .velocity = random_vec(&r, 100.0),
                                   .yaw = random_in(&r, -PI, PI)};
        const vec3 rate = random_vec(&r, 1.0);
        vy_world *a = drop(&local, &start, rate, VY_INTEGRATOR_RK4),
                 *b = drop(&inertial, &start, rate, VY_INTEGRATOR_RK4);
        for (int k = 1; k <= 12; ++k) {
            assert_int_equal(vy_world_advance(a, 1000) | vy_world_advance(b, 1000), 0);
            const double time = vy_world_time(a);
            const vy_drone_state s = state_of(a, 0), t = state_of(b, 0);
            const vy_geodetic g = vy_geodetic_of(&inertial, time, t.position, t.velocity, t.attitude);
            vec3 p, v;
            quat q;
            vy_geodetic_to_world(&local, time, &g, &p, &v, &q);
            worst = fmax(worst, check_distance(p, s.position));
            speed = fmax(speed, check_distance(v, s.velocity));
            angle = fmax(angle, check_angle(q, s.attitude));
        }
        assert_near(vy_world_time(a), 60.0, 1e-9);
        vy_world_destroy(a);
        vy_world_destroy(b);
    }
    print_message("origin: local and inertial flights of 60 s differ by %.1e m, %.1e m/s, %.1e rad\n", worst,
                  speed, angle);
    assert_true(worst < 1e-6 && speed < 1e-8 && angle < 1e-9);
}

// A drone whose motors keep hover thrust, and a load on a rod below it: rotors, their inertia, air and a
// joint, in a world at a place or in inertial axes.
static vy_world *carry(const vy_planet_def *planet, const vy_geodetic *start)
{
    vy_world_def def = vy_default_world_def();
    vy_environment_def *e = &def.environment;
    vy_drone_def drone = quiet_drone();
    vy_world_body_def load = vy_default_world_body_def();
    drone.imu.period = drone.mocap.period = 0.0;
    drone.vehicle.rotor_air.inertia = 1e-7;
    e->planet = *planet;
    e->atmosphere.mode = VY_ATMOSPHERE_LAYERED;
    e->nap.strict = 1;
    if (!(planet->origin.gm > 0.0)) {
        e->gravity.mode = VY_GRAVITY_CENTRAL;
        e->gravity.body_count = 1;
        e->gravity.bodies[0] = (vy_gravity_body){VY_EARTH_GM, {0.0, 0.0, 0.0}, VY_EARTH_J2, VY_EARTH_RADIUS};
    }
    vy_geodetic below = *start;
    below.altitude -= 0.5;
    vy_geodetic_to_world(planet, 0.0, start, &drone.position, &drone.velocity, &drone.attitude);
    vy_geodetic_to_world(planet, 0.0, &below, &load.position, &load.velocity, &load.attitude);
    load.mass = 0.005;
    load.inertia = (vy_mat3){{{1e-6, 0.0, 0.0}, {0.0, 1e-6, 0.0}, {0.0, 0.0, 1e-6}}};
    if (!(planet->origin.gm > 0.0)) { // they turn with the ground at the start
        const vy_vec3 turn = {0.0, 0.0, planet->rate};
        drone.rate = quat_unrotate(drone.attitude, turn);
        load.rate = quat_unrotate(load.attitude, turn);
    }
    vy_world *world = fly_in(&def, &drone);
    vy_error err = {0};
    vy_joint_def rod = vy_default_joint_def();
    if (vy_world_add_body(world, &load, NULL, &err) != VY_OK) fail_msg("%s", err.text);
    rod.kind = VY_JOINT_DISTANCE;
    rod.length = vec3_length(vec3_sub(drone.position, load.position));
    rod.body_a = vy_world_body(world, 0);
    rod.body_b = vy_world_body(world, 1);
    if (vy_world_add_joint(world, &rod, NULL, &err) != VY_OK) fail_msg("%s", err.text);
    return world;
}

static void drones_with_loads_fly_alike(void **unused)
{
    (void)unused;
    random_source r = {8};
    double worst = 0.0, moved = 0.0;
    for (int trial = 0; trial < 3; ++trial) {
        const double latitude = random_in(&r, -80.0, 80.0) * DEGREE, longitude = random_in(&r, -PI, PI);
        const vy_planet_def local = earth_at(latitude, longitude, 500.0);
        vy_planet_def inertial = local;
        inertial.origin = (vy_origin_def){.gm = 0.0};
        const vy_geodetic start = {.latitude = latitude,
                                   .longitude = longitude,
                                   .altitude = 2000.0,
                                   .velocity = random_vec(&r, 3.0),
                                   .yaw = random_in(&r, -PI, PI),
                                   .pitch = random_in(&r, -0.02, 0.02)};
        vy_world *a = carry(&local, &start), *b = carry(&inertial, &start);
        const vec3 first = state_of(a, 0).position;
        assert_int_equal(vy_world_advance(a, 60000) | vy_world_advance(b, 60000), 0);
        assert_near(vy_world_time(a), 60.0, 1e-9);
        for (uint32_t n = 0; n < 2; ++n) {
            vy_world_body_state s, t;
            assert_int_equal(vy_world_read_body(a, vy_world_body(a, n), &s), VY_OK);
            assert_int_equal(vy_world_read_body(b, vy_world_body(b, n), &t), VY_OK);
            const vy_geodetic g = vy_geodetic_of(&inertial, 60.0, t.position, t.velocity, t.attitude);
            vec3 p, v;
            quat q;
            vy_geodetic_to_world(&local, 60.0, &g, &p, &v, &q);
            worst = fmax(worst, check_distance(p, s.position));
        }
        moved = fmax(moved, check_distance(first, state_of(a, 0).position));
        vy_world_destroy(a);
        vy_world_destroy(b);
    }
    print_message("origin: local and inertial flights of drones with loads differ by %.1e m, over %.0f m\n",
                  worst, moved);
    assert_true(worst < 1e-6 && moved > 50.0);
}

// The frame's torque and Coriolis acceleration go through the other integrators too, at their order.
static void other_integrators_agree(void **unused)
{
    (void)unused;
    const vy_planet_def local = earth_at(50.0 * DEGREE, 0.0, 0.0);
    const vy_geodetic start = {.latitude = 50.0 * DEGREE, .altitude = 5000.0, .velocity = {40.0, 10.0, 0.0}};
    const vec3 rate = vec3_make(0.3, -0.2, 0.5);
    vy_world *a = drop(&local, &start, rate, VY_INTEGRATOR_RK4),
             *b = drop(&local, &start, rate, VY_INTEGRATOR_LIE_MIDPOINT);
    assert_int_equal(vy_world_advance(a, 2000) | vy_world_advance(b, 2000), 0);
    assert_true(check_distance(state_of(a, 0).position, state_of(b, 0).position) < 1e-3);
    assert_true(check_angle(state_of(a, 0).attitude, state_of(b, 0).attitude) < 1e-3);
    vy_world_destroy(a);
    vy_world_destroy(b);
}

// A body that does not turn in space turns under the sky once a day.
static void a_free_body_turns_with_the_stars(void **unused)
{
    (void)unused;
    vy_world_def def = vy_default_world_def();
    vy_drone_def drone = passive_body();
    def.environment.planet = earth_at(30.0 * DEGREE, 0.0, 0.0);
    def.environment.nap.strict = 1;
    drone.position = (vy_vec3){0.0, 0.0, 90e3};
    const vec3 w = vec3_make(0.0, VY_EARTH_RATE * cos(30.0 * DEGREE), VY_EARTH_RATE * sin(30.0 * DEGREE));
    drone.rate = vec3_neg(w);
    vy_world *world = fly_in(&def, &drone);
    assert_int_equal(vy_world_advance(world, 20000), 0);
    const vy_quat want = turn(-20.0 * VY_EARTH_RATE, 0.0, cos(30.0 * DEGREE), sin(30.0 * DEGREE));
    assert_true(check_angle(state_of(world, 0).attitude, want) < 1e-9);
    assert_near(vec3_length(state_of(world, 0).samples.imu.gyro), 0.0, 1e-12); // it does not turn in space
    vy_world_destroy(world);
}

// --- closed forms

// A stone from rest falls to the east by w cos(latitude) g t^3 / 3, to within the next orders.
static void a_falling_stone_drifts_east(void **unused)
{
    (void)unused;
    const double latitudes[] = {0.0, 45.0 * DEGREE, -60.0 * DEGREE};
    for (size_t i = 0; i < sizeof latitudes / sizeof latitudes[0]; ++i) {
        vy_world_def def = vy_default_world_def();
        vy_drone_def drone = passive_body();
        def.environment.planet = earth_at(latitudes[i], 0.0, 0.0);
        def.environment.atmosphere.mode = VY_ATMOSPHERE_NONE;
        drone.position = (vy_vec3){0.0, 0.0, 500.0};
        vy_world *world = fly_in(&def, &drone);
        const environment_model env = build(&def.environment.planet);
        const double g = -gravity_at(&env.gravity, drone.position).z, t = 10.0;
        assert_int_equal(vy_world_advance(world, 10000), 0);
        const double want = VY_EARTH_RATE * cos(latitudes[i]) * g * t * t * t / 3.0;
        assert_near(state_of(world, 0).position.x, want, 0.002 * want);
        vy_world_destroy(world);
    }
}

static vy_drone_def follower(void)
{
    vy_drone_def def = quiet_drone();
    def.controller.kind = VY_CONTROLLER_HOLD;
    def.position = (vy_vec3){0.0, 0.0, 1.0};
    def.truth = 1;
    return def;
}

static vy_world *hover(const vy_planet_def *planet, vy_vec3 gravity, const vy_drone_def *drone)
{
    vy_world_def def = vy_default_world_def();
    def.environment.gravity.uniform = gravity;
    def.environment.nap.strict = 1;
    if (planet != NULL) def.environment.planet = *planet;
    return fly_in(&def, drone);
}

// On a planet that does not turn, a hover is that of a flat world of the same gravity.
static void a_planet_at_rest_is_flat(void **unused)
{
    (void)unused;
    vy_planet_def planet = earth_at(45.0 * DEGREE, 0.0, 0.0);
    planet.rate = 0.0;
    const environment_model env = build(&planet);
    vy_drone_def drone = follower();
    drone.velocity = (vy_vec3){0.3, -0.2, 0.1}; // something to come back from
    const vec3 g = gravity_at(&env.gravity, drone.position);
    assert_near(vec3_length(g), 9.815, 0.02);
    vy_world *round = hover(&planet, vec3_zero(), &drone), *flat = hover(NULL, g, &drone);
    double worst = 0.0;
    for (int k = 0; k < 1000; ++k) {
        assert_int_equal(vy_world_advance(round, 10) | vy_world_advance(flat, 10), 0);
        worst = fmax(worst, check_distance(state_of(round, 0).position, state_of(flat, 0).position));
    }
    print_message("origin: a hover over a planet at rest and a flat one differ by %.1e m\n", worst);
    assert_true(worst < 1e-6 && worst > 0.0);
    vy_world_destroy(round);
    vy_world_destroy(flat);
}

// On a planet that turns, a drone on its way north is pushed east by 2 w sin(latitude) v: as far from the
// flat flight as one that is pushed so.
static void a_turning_planet_pushes_by_coriolis(void **unused)
{
    (void)unused;
    const vy_planet_def planet = earth_at(45.0 * DEGREE, 0.0, 0.0);
    const environment_model env = build(&planet);
    vy_drone_def drone = follower();
    vy_path_def *path = &drone.controller.path;
    path->kind = VY_PATH_LINE;
    path->speed = 2.0;
    path->start = 0.0;
    path->ramp = 0.01;
    drone.velocity = (vy_vec3){0.0, 2.0, 0.0};
    path->centre = drone.position;
    path->to = (vy_vec3){0.0, 40.0, 1.0};
    const vec3 g = gravity_at(&env.gravity, drone.position);
    vy_world *turning = hover(&planet, vec3_zero(), &drone), *flat = hover(NULL, g, &drone),
             *pushed = hover(NULL, g, &drone);
    vy_disturbance_def push = vy_default_disturbance_def();
    push.kind = VY_DISTURBANCE_CONSTANT;
    push.force.x = drone.vehicle.mass * 2.0 * VY_EARTH_RATE * sin(45.0 * DEGREE) * 2.0;
    push.duration = 100.0;
    push.body = vy_world_body(pushed, 0);
    assert_int_equal(vy_world_add_disturbance(pushed, &push, NULL), VY_OK);
    double peak = 0.0, apart = 0.0;
    for (int k = 0; k < 100; ++k) {
        assert_int_equal(
            vy_world_advance(turning, 100) | vy_world_advance(flat, 100) | vy_world_advance(pushed, 100), 0);
        const double x = state_of(flat, 0).position.x;
        const double effect = state_of(turning, 0).position.x - x, want = state_of(pushed, 0).position.x - x;
        peak = fmax(peak, want);
        apart = fmax(apart, fabs(effect - want));
    }
    print_message("origin: Coriolis pushes a flight north by up to %.3e m, %.1e m from a force as strong\n",
                  peak, apart);
    assert_true(peak > 1e-6);
    assert_true(apart < 0.05 * peak);
    vy_world_destroy(turning);
    vy_world_destroy(flat);
    vy_world_destroy(pushed);
}

// The account of energy closes on a planet as on flat ground.
static void energy_is_accounted_for(void **unused)
{
    (void)unused;
    const vy_planet_def local = earth_at(50.0 * DEGREE, 0.0, 0.0);
    const vy_geodetic start = {.latitude = 50.0 * DEGREE, .altitude = 5000.0, .velocity = {40.0, 10.0, 0.0}};
    vy_world *world = drop(&local, &start, vec3_make(3.0, -2.0, 5.0), VY_INTEGRATOR_RK4);
    vy_world_track_energy(world);
    assert_int_equal(vy_world_advance(world, 2000), 0);
    vy_energy e;
    assert_int_equal(vy_world_read_energy(world, vy_world_body(world, 0), &e), VY_OK);
    assert_near(e.residual, 0.0, 1e-7 * e.kinetic);
    vy_world_destroy(world);
}

// --- over the ground

static void quantities_are_those_of_the_place(void **unused)
{
    (void)unused;
    vy_world_def def = vy_default_world_def();
    vy_drone_def drone = passive_body();
    def.environment.planet = earth_at(45.0 * DEGREE, 179.99 * DEGREE, 250.0);
    def.environment.wind.constant = (vy_vec3){3.0, 0.0, 0.0};
    drone.position = (vy_vec3){5000.0, 0.0, 100.0};
    drone.velocity = (vy_vec3){-3.0, 4.0, 1.0};
    vy_world *world = fly_in(&def, &drone);
    vy_ground_state g;
    assert_int_equal(vy_world_read_ground(world, 0, &g), VY_OK);
    assert_int_equal(vy_world_read_ground(world, 1, &g), VY_NOT_FOUND);
    // The ground falls away by x^2 / 2 N, N = 6388838 m.
    const double drop = 5000.0 * 5000.0 / (2.0 * 6388838.0);
    assert_near(g.height, 100.0 + drop, 1e-3);
    assert_near(g.altitude, 350.0 + drop, 1e-3);
    assert_near(g.longitude, -180.0 * DEGREE + (5000.0 / (6388838.0 * cos(45.0 * DEGREE)) - 0.01 * DEGREE),
                1e-7);
    assert_near(g.ground_speed, 5.0, 0.01);
    assert_near(g.track, 2.0 * PI - atan(0.75), 0.01);
    assert_near(g.air_speed, sqrt(36.0 + 16.0 + 1.0), 0.01);
    assert_near(g.climb, 1.0 - 3.0 * 5000.0 / 6388838.0, 1e-4);
    assert_near(g.tilt, 5000.0 / 6388838.0, 1e-6);
    vy_world_destroy(world);
    // The same over flat ground, as the angles of the attitude.
    vy_drone_def tilted = passive_body();
    tilted.attitude = turn(0.3, 0.0, 0.0, 1.0);
    tilted.position.z = 7.0;
    world = fly(&tilted);
    assert_int_equal(vy_world_read_ground(world, 0, &g), VY_OK);
    assert_near(g.yaw, 0.3, 1e-12);
    assert_near(g.heading, 0.5 * PI - 0.3, 1e-12);
    assert_true(g.height == 7.0 && g.altitude == 7.0 && g.latitude == 0.0);
    vy_world_destroy(world);
}

static void check_refused(vy_planet_def planet, const char *part)
{
    vy_environment_def def = vy_default_environment_def();
    vy_error err = {0};
    def.planet = planet;
    assert_int_equal(vy_check_environment_def(&def, &err), VY_BAD_VALUE);
    if (strstr(err.text, part) == NULL) fail_msg("%s: %s", part, err.text);
}

static void mistakes_are_named(void **unused)
{
    (void)unused;
    check_refused(earth_at(2.0, 0.0, 0.0), "latitude");
    check_refused(earth_at(0.0, 0.0, -13e3), "sea floor");
    check_refused(earth_at(0.0, 0.0, 2e5), "100 km");
    check_refused(earth_at(NOT_A_NUMBER, 0.0, 0.0), "latitude");
    check_refused(earth_at(0.0, INFINITE, 0.0), "finite");
    vy_planet_def p = earth_at(0.0, 0.0, 0.0);
    p.radius = 0.0;
    check_refused(p, "radius");
    p.origin.gm = -1.0;
    check_refused(p, "gm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heights_are_those_of_the_ellipsoid),
        cmocka_unit_test(places_round_trip),
        cmocka_unit_test(gravity_is_the_inertial_one),
        cmocka_unit_test(both_forms_fly_alike),
        cmocka_unit_test(drones_with_loads_fly_alike),
        cmocka_unit_test(other_integrators_agree),
        cmocka_unit_test(a_free_body_turns_with_the_stars),
        cmocka_unit_test(a_falling_stone_drifts_east),
        cmocka_unit_test(a_planet_at_rest_is_flat),
        cmocka_unit_test(a_turning_planet_pushes_by_coriolis),
        cmocka_unit_test(energy_is_accounted_for),
        cmocka_unit_test(quantities_are_those_of_the_place),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
