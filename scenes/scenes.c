// scenes.c - the golden scenes: small worlds that between them reach every equation and every stage.
#include "scenes/scenes.h"
#include "scenes/bodies.h"
#include "volery/fault.h"
#include <string.h>

static vy_status new_world(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_world_def def = vy_default_world_def();
    def.seed = seed;
    return vy_world_create(&def, out, err);
}

vy_status vy_scene_finish(vy_status status, vy_world **out)
{
    if (status != VY_OK) {
        vy_world_destroy(*out);
        *out = NULL;
    }
    return status;
}

static vy_status add_gust(vy_world *world, double force, double torque, vy_error *err)
{
    vy_disturbance_def d = vy_default_disturbance_def();
    d.kind = VY_DISTURBANCE_NOISE;
    d.force = (vy_vec3){force, force, 0.5 * force};
    d.torque = (vy_vec3){torque, torque, torque};
    d.frequency = 0.5;
    return vy_world_add_disturbance(world, &d, err);
}

static vy_status add_impulse(vy_world *world, double start, vy_error *err)
{
    vy_disturbance_def d = vy_default_disturbance_def();
    d.kind = VY_DISTURBANCE_IMPULSE;
    d.force = (vy_vec3){0.01, -0.005, 0.0};
    d.torque = (vy_vec3){2e-5, 1e-5, 5e-6};
    d.start = start;
    d.duration = 0.02;
    return vy_world_add_disturbance(world, &d, err);
}

static vy_status build_hover(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_status status = new_world(seed, out, err);
    if (status != VY_OK) return status;
    const vy_drone_def drone = vy_default_drone_def();
    return vy_scene_finish(vy_world_add_drone(*out, &drone, NULL, err), out);
}

static vy_status build_square(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_status status = new_world(seed, out, err);
    if (status != VY_OK) return status;
    static const vy_setpoint waypoints[] = {
        {1.0, {0.0, 0.0, 1.0}, 0.0},  {3.0, {1.0, 0.0, 1.0}, 0.0},  {5.0, {1.0, 1.0, 1.5}, 1.57},
        {7.0, {0.0, 1.0, 1.5}, 3.14}, {9.0, {0.0, 0.0, 1.0}, 4.71}, {11.0, {0.0, 0.0, 1.0}, 6.28},
    };
    vy_drone_def drone = vy_default_drone_def();
    memcpy(drone.controller.setpoints, waypoints, sizeof waypoints);
    drone.controller.setpoint_count = sizeof waypoints / sizeof waypoints[0];
    status = vy_world_add_drone(*out, &drone, NULL, err);
    if (status == VY_OK) status = add_gust(*out, 2e-3, 2e-6, err);
    if (status == VY_OK) status = add_impulse(*out, 12.0, err);
    vy_disturbance_def sinusoid = vy_default_disturbance_def();
    sinusoid.kind = VY_DISTURBANCE_SINUSOID;
    sinusoid.frame = VY_FRAME_BODY;
    sinusoid.torque = (vy_vec3){1e-5, 0.0, 0.0};
    sinusoid.frequency = 3.0;
    sinusoid.start = 14.0;
    if (status == VY_OK) status = vy_world_add_disturbance(*out, &sinusoid, err);
    return vy_scene_finish(status, out);
}

// The world specification's benchmark configurations, each on top of the one before. IMU and disturbances at
// every step, the control loops at their default rates.
enum { WORLD_BASELINE, WORLD_AIR, WORLD_FULL, WORLD_NEGLECTED, WORLD_PLACED };

static vy_status build_world(int configuration, uint64_t seed, vy_world **out, vy_error *err)
{
    vy_world_def def = vy_default_world_def();
    vy_drone_def drone = vy_default_drone_def();
    def.seed = seed;
    drone.vehicle.drag_linear = (vy_vec3){0.0, 0.0, 0.0};
    if (configuration >= WORLD_AIR) { // drag, buoyancy, damping of rotation, wind
        def.environment.wind.constant = (vy_vec3){1.0, 0.5, 0.0};
        def.environment.nap.strict = configuration != WORLD_NEGLECTED;
        drone.vehicle.area = 0.005;
        drone.vehicle.cd = 1.0;
        drone.vehicle.volume = 3e-5;
        drone.vehicle.damping = (vy_vec3){1e-8, 1e-8, 1e-8};
    }
    if (configuration >= WORLD_FULL) { // thrust by density, lift
        drone.vehicle.density_scaling = 1;
        drone.vehicle.cl = 0.2;
    }
    if (configuration == WORLD_NEGLECTED) { // the full declaration, and thresholds that leave all of it out
        def.environment.nap.force_rel = 0.1;
        def.environment.nap.torque_rel = 0.1;
    }
    if (configuration == WORLD_PLACED) { // the full declaration, at a place of the Earth
        const vy_origin_def place = {.gm = VY_EARTH_GM, .latitude = 0.8, .height = 400.0, .j2 = VY_EARTH_J2};
        def.environment.planet = (vy_planet_def){VY_EARTH_RADIUS, VY_EARTH_FLATTENING, VY_EARTH_RATE, place};
        def.environment.atmosphere.mode = VY_ATMOSPHERE_LAYERED;
    }
    vy_status status = vy_world_create(&def, out, err);
    if (status != VY_OK) return status;
    status = vy_world_add_drone(*out, &drone, NULL, err);
    if (status == VY_OK) status = add_gust(*out, 2e-3, 0.0, err);
    return vy_scene_finish(status, out);
}

static vy_status build_baseline(uint64_t seed, vy_world **out, vy_error *err)
{
    return build_world(WORLD_BASELINE, seed, out, err);
}

static vy_status build_air(uint64_t seed, vy_world **out, vy_error *err)
{
    return build_world(WORLD_AIR, seed, out, err);
}

static vy_status build_full(uint64_t seed, vy_world **out, vy_error *err)
{
    return build_world(WORLD_FULL, seed, out, err);
}

static vy_status build_neglected(uint64_t seed, vy_world **out, vy_error *err)
{
    return build_world(WORLD_NEGLECTED, seed, out, err);
}

static vy_status build_placed(uint64_t seed, vy_world **out, vy_error *err)
{
    return build_world(WORLD_PLACED, seed, out, err);
}

// A satellite: no rotors, a planet with J2 below, sunlight and a magnetic field around it.
static vy_status build_orbit(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_world_def def = vy_default_world_def();
    vy_environment_def *env = &def.environment;
    def.seed = seed;
    def.dt = 0.1;
    env->gravity.mode = VY_GRAVITY_CENTRAL;
    env->gravity.body_count = 1;
    env->gravity.bodies[0] = (vy_gravity_body){3.986004418e14, {0.0, 0.0, 0.0}, 1.08262982e-3, 6378137.0};
    env->planet =
        (vy_planet_def){.radius = 6378137.0, .flattening = 1.0 / 298.257223563, .rate = 7.292115e-5};
    env->atmosphere.mode = VY_ATMOSPHERE_LAYERED;
    env->magnetic_field = (vy_vec3){0.0, 0.0, 3e-5};
    env->sunlight = (vy_vec3){-4.56e-6, 0.0, 0.0};
    env->nap.period = 1.0;
    vy_status status = vy_world_create(&def, out, err);
    if (status != VY_OK) return status;
    vy_world_body_def body = vy_default_world_body_def();
    body.mass = 4.0;
    body.inertia = (vy_mat3){{{0.04, 0.0, 0.001}, {0.0, 0.04, 0.0}, {0.001, 0.0, 0.01}}};
    body.area = 0.03;
    body.cd = 2.2;
    body.dipole = (vy_vec3){0.0, 0.01, 0.0};
    body.light_area = 0.04;
    body.position = (vy_vec3){6.8e6, 0.0, 0.0};
    body.velocity = (vy_vec3){0.0, 5400.0, 5400.0};
    body.rate = (vy_vec3){0.01, 0.02, -0.01};
    return vy_scene_finish(vy_world_add_body(*out, &body, NULL, err), out);
}

// Every kind of wind at once, in layered air.
static vy_status build_storm(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_world_def def = vy_default_world_def();
    vy_wind_def *wind = &def.environment.wind;
    def.seed = seed;
    def.environment.atmosphere.mode = VY_ATMOSPHERE_LAYERED;
    wind->constant = (vy_vec3){0.5, -0.2, 0.0};
    wind->shear = VY_SHEAR_LOG;
    wind->shear_speed = 1.0;
    wind->gust_count = 1;
    wind->gusts[0] = (vy_gust_def){{0.0, 1.0, 0.3}, 3.0, 0.5, 1.0};
    wind->turbulence.wind20 = 2.0;
    vy_status status = vy_world_create(&def, out, err);
    if (status != VY_OK) return status;
    vy_drone_def drone = vy_default_drone_def();
    drone.position.z = 5.0;
    drone.vehicle.area = 0.005;
    drone.vehicle.cd = 1.0;
    drone.vehicle.cl = 0.1;
    drone.vehicle.pressure_centre.z = 0.002;
    drone.vehicle.density_scaling = 1;
    return vy_scene_finish(vy_world_add_drone(*out, &drone, NULL, err), out);
}

// A brick spun about its middle axis, without forces: the worst case for an integrator.
static vy_status build_tumble(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_world_def def = vy_default_world_def();
    def.seed = seed;
    def.environment.gravity.uniform.z = 0.0;
    vy_status status = vy_world_create(&def, out, err);
    if (status != VY_OK) return status;
    const double mass = 48.0, x = 0.2, y = 0.4, z = 0.6; // a density of 1000 kg/m^3
    vy_world_body_def body = vy_default_world_body_def();
    body.position.z = 1.0;
    body.mass = mass;
    body.inertia = (vy_mat3){{{mass / 12.0 * (y * y + z * z), 0.0, 0.0},
                              {0.0, mass / 12.0 * (x * x + z * z), 0.0},
                              {0.0, 0.0, mass / 12.0 * (x * x + y * y)}}};
    body.rate = (vy_vec3){0.3, 6.0, 0.2};
    return vy_scene_finish(vy_world_add_body(*out, &body, NULL, err), out);
}

// Motors off, thrown and tumbling, with both kinds of drag and a full inertia tensor.
static vy_status build_throw(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_status status = new_world(seed, out, err);
    if (status != VY_OK) return status;
    vy_drone_def drone = vy_default_drone_def();
    drone.vehicle.inertia =
        (vy_mat3){{{1.5e-5, 2e-6, -1e-6}, {2e-6, 1.4e-5, 1.5e-6}, {-1e-6, 1.5e-6, 2.2e-5}}};
    drone.vehicle.area = 0.01;
    drone.vehicle.cd = 0.065;
    drone.controller.kind = VY_CONTROLLER_NONE;
    drone.velocity = (vy_vec3){3.0, -2.0, 8.0};
    drone.attitude = (vy_quat){0.6, 0.3, -0.5, 0.2};
    drone.rate = (vy_vec3){7.0, -11.0, 3.0};
    status = vy_world_add_drone(*out, &drone, NULL, err);
    vy_disturbance_def d = vy_default_disturbance_def();
    d.torque = (vy_vec3){1e-6, -2e-6, 3e-6}; // constant in world axes
    if (status == VY_OK) status = vy_world_add_disturbance(*out, &d, err);
    return vy_scene_finish(status, out);
}

// Raw samples straight into the motors: the motion is chaotic, so the smallest difference soon fills the
// state.
static void feed_back(void *self, const vy_samples *samples, vy_intent *intent)
{
    (void)self;
    const double signals[4] = {
        samples->imu.gyro.x + samples->imu.accel.y, samples->imu.gyro.y - samples->imu.accel.x,
        samples->imu.gyro.z + samples->imu.accel.z, samples->imu.gyro.x * samples->imu.gyro.y};
    intent->rung = VY_RUNG_MOTORS;
    for (int i = 0; i < 4; ++i) {
        const double x = signals[i] + 0.1 * (double)i;
        intent->motors[i] = 0.62 + 0.3 * x / (1.0 + x * x);
    }
}

static vy_status build_feedback(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_status status = new_world(seed, out, err);
    if (status != VY_OK) return status;
    vy_drone_def drone = vy_default_drone_def();
    status = vy_vehicle_preset("crazyflie2x-physical", &drone.vehicle, err);
    drone.controller.kind = VY_CONTROLLER_CALLBACK;
    drone.controller.call = feed_back;
    drone.controller.period = 0.003;
    if (status == VY_OK) status = vy_world_add_drone(*out, &drone, NULL, err);
    if (status == VY_OK) status = add_gust(*out, 1e-2, 1e-5, err);
    return vy_scene_finish(status, out);
}

// Three drones above each other with everything that rotors can have: each in the wakes of those above it,
// the lowest close to the ground, on batteries that sag; one by blade elements.
static vy_status build_wake(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_world_def def = vy_default_world_def();
    def.seed = seed;
    def.environment.wakes.on = 1;
    vy_status status = vy_world_create(&def, out, err);
    for (int i = 0; status == VY_OK && i < 3; ++i) {
        vy_drone_def drone = vy_default_drone_def();
        status = vy_vehicle_preset(i == 1 ? "hexa" : "x500", &drone.vehicle, err);
        vy_vehicle_def *vehicle = &drone.vehicle;
        vehicle->battery = (vy_battery_def){900.0, 0.9, 0.02, 15.0, {12.0, 14.4, 15.0, 15.6, 16.7}, 0.8, 5.0};
        vehicle->rotor_air.inflow_lag = 0.02;
        vehicle->rotor_air.inertia = 3e-5;
        vehicle->rotor_air.ground = 1;
        if (i == 2) {
            vehicle->rotor_air.drag = 0.0;
            vehicle->blade = (vy_blade_def){2, 0.02, 0.15, 5.7, 1.3, 1.5};
        } else {
            vehicle->rotor_air.flap = 1e-6;
            vehicle->rotor_air.lift = 1e-3;
            vehicle->rotor_air.inflow = 2e-4;
            vehicle->rotor_air.vortex_loss = 0.2;
        }
        drone.rotor_speed = vy_vehicle_hover_speed(vehicle, 9.80665);
        drone.position = (vy_vec3){0.1 * i, 0.0, 3.2 - 1.5 * i};
        drone.controller.setpoint_count = 2;
        drone.controller.setpoints[0] = (vy_setpoint){0.5, drone.position, 0.0};
        drone.controller.setpoints[1] = (vy_setpoint){2.0, {0.1 * i, 0.5, 2.2 - i}, 0.5};
        if (status == VY_OK) status = vy_world_add_drone(*out, &drone, NULL, err);
    }
    return vy_scene_finish(status, out);
}

static vy_status build_swarm(uint64_t seed, vy_world **out, vy_error *err)
{
    enum { DRONES = 8 };
    vy_status status = new_world(seed, out, err);
    for (int i = 0; i < DRONES && status == VY_OK; ++i) {
        vy_drone_def drone = vy_default_drone_def();
        if (i % 2 == 1) status = vy_vehicle_preset("crazyflie2x-physical", &drone.vehicle, err);
        drone.vehicle.mass *= 1.0 + 0.02 * i;
        drone.position = (vy_vec3){0.5 * i, 0.25 * (i % 3), 1.0 + 0.1 * i};
        drone.controller.setpoint_count = 1;
        drone.controller.setpoints[0] = (vy_setpoint){0.0, {0.5 * i, 0.0, 1.5}, 0.4 * i};
        if (status == VY_OK) status = vy_world_add_drone(*out, &drone, NULL, err);
    }
    if (status == VY_OK) status = add_gust(*out, 3e-3, 0.0, err);
    if (status == VY_OK) status = add_impulse(*out, 2.0, err);
    return vy_scene_finish(status, out);
}

// A sustained torque turns the drone over; the tilt limit ends the run.
static vy_status build_upset(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_status status = new_world(seed, out, err);
    if (status != VY_OK) return status;
    vy_drone_def drone = vy_default_drone_def();
    drone.safety.tilt_max = 1.0;
    drone.safety.sustain = 0.02;
    status = vy_world_add_drone(*out, &drone, NULL, err);
    vy_disturbance_def d = vy_default_disturbance_def();
    d.frame = VY_FRAME_BODY;
    d.torque = (vy_vec3){2e-2, 0.0, 0.0};
    d.start = 1.0;
    if (status == VY_OK) status = vy_world_add_disturbance(*out, &d, err);
    return vy_scene_finish(status, out);
}

// A quad whose drive limits what a hurried controller asks for, and holds while commands are lost; a
// hexacopter that notices that a rotor is gone.
static vy_status build_failsafe(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_world_def world = vy_default_world_def();
    world.seed = seed;
    vy_status status = vy_world_create(&world, out, err);
    if (status != VY_OK) return status;
    vy_drone_def quad = vy_default_drone_def();
    quad.vehicle.drive = (vy_drive_def){.speed_max = 1.0,
                                        .climb_max = 0.5,
                                        .tilt_max = 0.2,
                                        .rate_max = 2.0,
                                        .command_min = 0.1,
                                        .command_max = 0.9,
                                        .slew = 4.0,
                                        .deadline = 0.05,
                                        .land_speed = 0.5,
                                        .failsafe = VY_FAILSAFE_HOLD};
    quad.safety.fall_max = 3.0;
    quad.safety.ground = 1;
    quad.safety.fence = (vy_fence_def){.kind = VY_FENCE_POLYGON,
                                       .low = 0.0,
                                       .high = 9.0,
                                       .corner_count = 3,
                                       .corners = {{{-5.0, -5.0}}, {{9.0, 0.0}}, {{-5.0, 5.0}}}};
    quad.controller.setpoint_count = 2;
    quad.controller.setpoints[0] = (vy_setpoint){.time = 0.2, .position = {0.0, 0.0, 1.0}};
    quad.controller.setpoints[1] = (vy_setpoint){.time = 0.7, .position = {1.0, 0.5, 1.3}, .yaw = 1.0};
    vy_drone_id id;
    vy_fault_def fault = vy_default_fault_def();
    fault.kind = VY_FAULT_COMMAND_LOSS;
    fault.size = 1.0;
    fault.start = 1.2;
    fault.duration = 1.0;
    status = vy_world_add_drone(*out, &quad, &id, err);
    fault.drone = id;
    if (status == VY_OK) status = vy_world_add_fault(*out, &fault, err);

    vy_drone_def hexa = vy_default_drone_def();
    if (status == VY_OK) status = vy_vehicle_preset("hexa", &hexa.vehicle, err);
    hexa.position = (vy_vec3){0.0, 5.0, 3.0};
    hexa.rotor_speed = vy_vehicle_hover_speed(&hexa.vehicle, 9.80665);
    hexa.vehicle.drive.rotor_loss = 0.05;
    fault = vy_default_fault_def();
    fault.rotor = 1;
    fault.start = 1.0;
    if (status == VY_OK) status = vy_world_add_drone(*out, &hexa, &id, err);
    fault.drone = id;
    if (status == VY_OK) status = vy_world_add_fault(*out, &fault, err);
    return vy_scene_finish(status, out);
}

// A quad with two jets beside its rotors, and a plain body that eight thrusters turn, in pulses and without.
static vy_status build_thrusters(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_status status = new_world(seed, out, err);
    if (status != VY_OK) return status;
    vy_drone_def quad = vy_default_drone_def();
    quad.controller.kind = VY_CONTROLLER_NONE;
    quad.controller.start = (vy_intent){.rung = VY_RUNG_MOTORS, .motors = {0.62, 0.61, 0.62, 0.61, 0.3, 0.7}};
    quad.vehicle.thruster_count = 2;
    quad.vehicle.thrusters[0] = (vy_thruster_def){.position = {-0.03, 0.001, 0.0},
                                                  .axis = {1.0, 0.1, 0.3},
                                                  .thrust_max = 0.05,
                                                  .thrust_min = 0.01,
                                                  .lag = 0.1};
    quad.vehicle.thrusters[1] = (vy_thruster_def){.axis = {-1.0, 0.0, 0.2},
                                                  .thrust_max = 0.04,
                                                  .lag = 0.01,
                                                  .lag_down = 0.03,
                                                  .pulse_period = 0.05,
                                                  .pulse_min = 0.004};
    status = vy_world_add_drone(*out, &quad, NULL, err);
    if (status != VY_OK) return vy_scene_finish(status, out);

    vy_drone_def body = vy_default_drone_def();
    body.vehicle.rotor_count = 0;
    body.vehicle.thruster_count = 8;
    for (int i = 0; i < 8; ++i) {
        const double x = i / 2 == 0 || i / 2 == 3 ? 0.05 : -0.05, y = i / 2 < 2 ? 0.05 : -0.05;
        const double spin = i % 2 == 0 ? 20.0 : -20.0, lift_sign = i / 2 % 2 == 0 ? 1.0 : -1.0;
        body.vehicle.thrusters[i] = (vy_thruster_def){.position = {x, y, 0.01},
                                                      .axis = {-spin * y, spin * x, 0.05 * spin * lift_sign},
                                                      .thrust_max = 0.005,
                                                      .lag = 0.008,
                                                      .pulse_period = i < 4 ? 0.02 : 0.0,
                                                      .pulse_min = i < 4 ? 0.003 : 0.0};
    }
    body.position = (vy_vec3){1.0, 0.0, 5.0};
    body.rate = (vy_vec3){0.5, -1.0, 0.7};
    body.controller.kind = VY_CONTROLLER_INTENT;
    body.controller.start =
        (vy_intent){.rung = VY_RUNG_ATTITUDE, .thrust = 0.001, .attitude = {0.9, 0.3, -0.2, 0.1}};
    return vy_scene_finish(vy_world_add_drone(*out, &body, NULL, err), out);
}

// A Kalman filter on a full sensor suite: an IMU with all its figures off the centre, late and lossy samples.
static vy_drone_def sensing_drone(void)
{
    vy_drone_def drone = vy_default_drone_def();
    (void)vy_imu_preset("bmi088", &drone.imu, NULL);
    (void)vy_baro_preset("bmp388", &drone.sensor_suite.baro, NULL);
    (void)vy_mag_preset("hmc5883l", &drone.sensor_suite.mag, NULL);
    (void)vy_gps_preset("neo-m9n", &drone.sensor_suite.gps, NULL);
    (void)vy_range_preset("vl53l1x", &drone.sensor_suite.range, NULL);
    (void)vy_flow_preset("pmw3901", &drone.sensor_suite.flow, NULL);
    (void)vy_esc_preset("kiss", &drone.sensor_suite.esc, NULL);
    (void)vy_lidar_preset("vl53l5cx", &drone.sensor_suite.lidar, NULL);
    drone.imu.accel_bias = 0.02; // calibrated
    drone.imu.position = (vy_vec3){0.01, -0.005, 0.004};
    drone.imu.link.delay = 0.002;
    drone.sensor_suite.mag.bias = 3e-7;
    drone.sensor_suite.gps.link.dropout = 0.1;
    drone.sensor_suite.lidar.attitude = (vy_quat){0.9, 0.0, 0.4, 0.1};
    drone.mocap.period = 0.0;
    drone.estimator.kind = VY_ESTIMATOR_EKF;
    drone.position.z = 1.5;
    drone.controller.setpoint_count = 2;
    drone.controller.setpoints[0] = (vy_setpoint){1.0, {0.0, 0.0, 1.5}, 0.0};
    drone.controller.setpoints[1] = (vy_setpoint){4.0, {1.0, -1.0, 1.2}, 1.0};
    return drone;
}

static vy_status build_senses(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_world_def def = vy_default_world_def();
    def.seed = seed;
    def.environment.magnetic_field = (vy_vec3){1e-6, 20e-6, -45e-6};
    vy_status status = vy_world_create(&def, out, err);
    if (status != VY_OK) return status;
    const vy_drone_def drone = sensing_drone();
    status = vy_world_add_drone(*out, &drone, NULL, err);
    return vy_scene_finish(status, out);
}

// The same behind a gate, with a fault of every kind, each on another sensor.
static vy_status build_liars(uint64_t seed, vy_world **out, vy_error *err)
{
    static const struct {
        vy_fault_kind kind;
        vy_channel channel;
        double size;
        vy_vec3 vector;
    } sensor_faults[] = {
        {VY_FAULT_SENSOR_BIAS, VY_CHANNEL_GPS_POSITION, 0.0, {25.0, -10.0, 5.0}},
        {VY_FAULT_SENSOR_NOISE, VY_CHANNEL_LIDAR, 0.0, {0.3, 0.0, 0.0}},
        {VY_FAULT_SENSOR_VIBRATION, VY_CHANNEL_ESC, 0.0, {50.0, 0.0, 0.0}},
        {VY_FAULT_SENSOR_STUCK, VY_CHANNEL_BARO, 0.0, {0.0, 0.0, 0.0}},
        {VY_FAULT_SENSOR_SWAP, VY_CHANNEL_MAG, 0.0, {0.0, 0.0, 0.0}},
        {VY_FAULT_SENSOR_DROPOUT, VY_CHANNEL_RANGE, 0.5, {0.0, 0.0, 0.0}},
        {VY_FAULT_SENSOR_DELAY, VY_CHANNEL_FLOW, 0.05, {0.0, 0.0, 0.0}},
    };
    enum { SENSOR_FAULTS = sizeof sensor_faults / sizeof sensor_faults[0] };
    vy_world_def def = vy_default_world_def();
    def.seed = seed;
    def.environment.magnetic_field = (vy_vec3){1e-6, 20e-6, -45e-6};
    vy_status status = vy_world_create(&def, out, err);
    if (status != VY_OK) return status;
    vy_drone_def drone = sensing_drone();
    drone.estimator.gate = 5.0;
    drone.estimator.gate_time = 0.3;
    status = vy_world_add_drone(*out, &drone, NULL, err);
    for (int i = 0; i < SENSOR_FAULTS && status == VY_OK; ++i) {
        vy_fault_def fault = vy_default_fault_def();
        fault.kind = sensor_faults[i].kind;
        fault.channel = sensor_faults[i].channel;
        fault.size = sensor_faults[i].size;
        fault.vector = sensor_faults[i].vector;
        fault.start = 0.5;
        fault.every = 1.0;
        fault.duration = 0.5;
        fault.chance = 0.8;
        status = vy_world_add_fault(*out, &fault, err);
    }
    return vy_scene_finish(status, out);
}

// Another scene, by another integrator.
static vy_status use_integrator(vy_integrator integrator, vy_status status, vy_world **out, vy_error *err)
{
    if (status == VY_OK) status = vy_world_set_integrator(*out, integrator, err);
    return vy_scene_finish(status, out);
}

static vy_status build_euler(uint64_t seed, vy_world **out, vy_error *err)
{
    return use_integrator(VY_INTEGRATOR_EULER, build_full(seed, out, err), out, err);
}

static vy_status build_semi_implicit(uint64_t seed, vy_world **out, vy_error *err)
{
    return use_integrator(VY_INTEGRATOR_SEMI_IMPLICIT, build_full(seed, out, err), out, err);
}

static vy_status build_lie_midpoint(uint64_t seed, vy_world **out, vy_error *err)
{
    return use_integrator(VY_INTEGRATOR_LIE_MIDPOINT, build_full(seed, out, err), out, err);
}

static vy_status build_lie_midpoint_joined(uint64_t seed, vy_world **out, vy_error *err)
{
    return use_integrator(VY_INTEGRATOR_LIE_MIDPOINT, vy_scene_joined(seed, out, err), out, err);
}

const vy_scene vy_scenes[] = {
    {"hover", "a Crazyflie holds its place on noisy sensors", 20000, build_hover},
    {"square", "a square in gusts, and a knock", 20000, build_square},
    {"baseline", "gravity, disturbances, IMU noise and controller at every step", 20000, build_baseline},
    {"air", "and drag, buoyancy, damping of rotation, wind", 20000, build_air},
    {"full", "and thrust by density, and lift", 20000, build_full},
    {"neglected", "the same, with thresholds that leave the air out", 20000, build_neglected},
    {"storm", "every kind of wind at once, in layered air", 10000, build_storm},
    {"orbit", "a satellite over an oblate planet, in sunlight and a magnetic field", 20000, build_orbit},
    {"tumble", "a brick spun about its middle axis, free of forces", 60000, build_tumble},
    {"throw", "a thrown drone, motors off, both kinds of drag", 3000, build_throw},
    {"feedback", "raw samples into the motors: chaos that shows any difference", 20000, build_feedback},
    {"swarm", "eight drones of both allocations", 5000, build_swarm},
    {"wake", "rotors in the air: three drones above each other, ground, batteries, blades", 3000, build_wake},
    {"thrusters", "jets beside rotors, and a body that thrusters turn, throttled and in pulses", 5000,
     build_thrusters},
    {"payload", "a drone drops one load and takes up another", 3000, vy_scene_payload},
    {"failsafe", "limits of a drive, commands that are lost, a rotor that is gone", 4000, build_failsafe},
    {"bump", "landing, a thin wall, boxes on a tilted pad, a ball and a capsule on hills, a load set down",
     3000, vy_scene_bump},
    {"asleep", "stacks that fall asleep below a drone, and a ball that falls on both", 1200, vy_scene_asleep},
    {"joined", "a load on a cable, a boom that bends, and a string of every other kind of joint", 3000,
     vy_scene_joined},
    {"dragged", "the same above a floor that load, boom and string touch", 1500, vy_scene_dragged},
    {"senses", "a Kalman filter on parts as sold, late and lossy", 5000, build_senses},
    {"liars", "the same behind a gate, with sensors that break at random", 5000, build_liars},
    {"euler", "the scene full, by forward Euler", 2000, build_euler},
    {"semi-implicit", "the scene full, by semi-implicit Euler", 2000, build_semi_implicit},
    {"lie", "the scene full, by the Lie midpoint rule", 2000, build_lie_midpoint},
    {"lie-joined", "the scene joined, by the Lie midpoint rule", 500, build_lie_midpoint_joined},
    {"upset", "a torque too strong to hold: the tilt limit ends the run", 5000, build_upset},
    {"placed", "the scene full, at a place of the turning Earth", 2000, build_placed},
};
const int vy_scene_count = (int)(sizeof vy_scenes / sizeof vy_scenes[0]);

const vy_scene *vy_scene_find(const char *name)
{
    for (int i = 0; i < vy_scene_count; ++i) {
        if (strcmp(vy_scenes[i].name, name) == 0) return &vy_scenes[i];
    }
    return NULL;
}
