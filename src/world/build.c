// build.c - constants of drones and disturbances, computed once.
#include "world/build.h"
#include "base/assert.h"
#include "world/sensor_suite.h"
#include "base/fail.h"
#include "base/math.h"
#include "control/trajectory.h"
#include "vehicle/allocation.h"
#include "vehicle/parts.h"
#include "world/recorded.h"
#include "world/supervisor.h"
#include "world/world_impl.h"
#include "world/world_def.h"
#include <stdio.h>

static vy_status build_schedule(const vy_model *world, const vy_drone_def *def, drone_model *out,
                                vy_error *err)
{
    const struct {
        const char *name;
        double period;
        uint64_t *ticks;
    } periods[] = {
        {"drone.imu.period", def->imu.period, &out->imu_period},
        {"drone.mocap.period", def->mocap.period, &out->mocap_period},
        {"drone.controller.period", def->controller.period, &out->control_period},
        {"drone.controller.rate_period", def->controller.rate_period, &out->rate_period},
    };
    for (size_t i = 0; i < sizeof periods / sizeof periods[0]; ++i) {
        *periods[i].ticks = 0;
        const int is_control = i >= 2;
        if (is_control ? def->controller.kind == VY_CONTROLLER_NONE : periods[i].period == 0.0) continue;
        const vy_status status =
            vy_period_ticks(periods[i].name, periods[i].period, world->dt, periods[i].ticks, err);
        if (status != VY_OK) return status;
    }
    return VY_OK;
}

// Least and greatest principal moment (O. Smith, Eigenvalues of a symmetric 3x3 matrix, CACM 4, 1961),
// widened by a bound of the rounding error.
static void principal_moments(mat3 inertia, double *min, double *max)
{
    const double mean = (inertia.m[0][0] + inertia.m[1][1] + inertia.m[2][2]) / 3.0;
    double square = 0.0;
    mat3 b = inertia;
    for (int r = 0; r < 3; ++r) {
        b.m[r][r] -= mean;
        for (int c = 0; c < 3; ++c) square += b.m[r][c] * b.m[r][c];
    }
    const double p = real_sqrt(square / 6.0);
    *min = *max = mean;
    if (p > 1e-12 * mean) {
        const double half = 0.5 * (mat3_det(b) / (p * p * p));
        const double angle = math_acos(real_clamp(half, -1.0, 1.0)) / 3.0;
        *max = mean + 2.0 * p * math_cos(angle);
        *min = mean + 2.0 * p * math_cos(angle + 2.0943951023931953);
    }
    *min *= 1.0 - 1e-9;
    *max *= 1.0 + 1e-9;
    // Of a needle all digits of the smallest cancel; what follows from the determinant has none to lose.
    *min = real_max(*min, (1.0 - 1e-9) * (mat3_det(inertia) / (*max * *max)));
    VY_ASSERT(*min > 0.0 && *min <= *max); // of a body, not of any matrix
}

void vy_plant_build(const vy_vehicle_def *v, double dt, multirotor_params *out)
{
    const double lag = v->motor_lag, lag_down = v->motor_lag_down > 0.0 ? v->motor_lag_down : lag;
    VY_ASSERT(v->mass > 0.0 && mat3_det(v->inertia) > 0.0);
    double min, max;
    principal_moments(v->inertia, &min, &max);
    *out = (multirotor_params){
        .body = {1.0 / v->mass, v->inertia, mat3_inverse(v->inertia)},
        .rotor = {v->thrust_coef, v->torque_coef, vy_lag_decay(0.5 * dt, lag), vy_lag_decay(dt, lag)},
        .curve =
            {
                .linear = v->thrust_linear,
                .cubic = v->thrust_cubic,
                .torque_ratio = v->rotor_count > 0 ? v->torque_coef / v->thrust_coef : 0.0,
                .fall_half = vy_lag_decay(0.5 * dt, lag_down),
                .fall_full = vy_lag_decay(dt, lag_down),
                .rise = lag > 0.0 ? 1.0 / lag : 0.0,
                .fall = lag_down > 0.0 ? 1.0 / lag_down : 0.0,
                .rise_weights = vy_lag_weights(dt, lag),
                .fall_weights = vy_lag_weights(dt, lag_down),
            },
        .effects =
            {
                .mass = v->mass,
                .linear_drag = v->drag_linear,
                .drag_area = v->cd * v->area,
                .lift_area = v->cl * v->area,
                .volume = v->volume,
                .pressure_centre = vec3_sub(v->pressure_centre, v->centre_of_mass),
                .rate_damping_area = v->damping_area,
                .spin_damping = v->damping,
                .density_ratio = v->density_scaling ? 1.0 : 0.0,
                .dipole = v->dipole,
                .light_area = v->light_area,
                .inertia = v->inertia,
                .inertia_spread = max - min,
            },
    };
}

// Rotors in the air, battery, wake: what a plain rotor does not have.
static void build_powertrain(const vy_model *world, const vy_vehicle_def *v, drone_model *model,
                             drone_params *out)
{
    double voltage_ratio_max;
    vy_battery_build(&v->battery, &out->battery, &out->battery_start, &voltage_ratio_max);
    rotor_air_params *rotor_air = &out->plant.effects.rotors;
    *rotor_air = vy_rotor_air_build(v, world->dt, !frame_is_inertial(&world->env));
    if (v->battery.capacity > 0.0)
        rotor_air->battery =
            real_max(1.0, voltage_ratio_max * voltage_ratio_max - 1.0); // an empty one leaves nothing
    model->has_powertrain = vy_rotor_air_is_declared(v) || v->battery.capacity > 0.0;
    vy_rotor_air_wake(v, &model->layout, &model->wake_width, &model->wake_exit);
}

static void build_nap(const vy_model *world, const rotor_layout *layout, const vy_vehicle_def *v,
                      int has_powertrain, nap_params *params)
{
    const vy_nap_def *nap = &world->nap;
    // Reference: the largest torque of one rotor (arm or yaw); a body without rotors declares one.
    double arm = 0.0;
    for (int i = 0; i < v->rotor_count; ++i) {
        const double *hub = layout->hub[i];
        arm = real_max(arm, real_sqrt(hub[0] * hub[0] + hub[1] * hub[1]));
    }
    const double speed_max2 = v->speed_max * v->speed_max;
    double torque = real_max(arm * v->thrust_coef * speed_max2, v->torque_coef * speed_max2);
    if (v->rotor_count == 0) torque = 0.0;
    for (int i = 0; i < v->thruster_count; ++i) {
        const double lever = vec3_length(vec3_of(layout->thrusters.lever[i]));
        torque = real_max(torque, lever * v->thrusters[i].thrust_max);
    }
    if (v->torque_ref > 0.0) torque = v->torque_ref;
    params->force_abs = nap->force_abs;
    params->force_rel = nap->force_rel;
    params->torque_threshold = real_max(nap->torque_abs, nap->torque_rel * torque);
    params->hysteresis = nap->hysteresis;
    principal_moments(v->inertia, &params->inertia_min, &params->inertia_max);
    params->rotor_speed_max = v->rotor_count > 0 ? v->speed_max : 0.0;
    params->rotor_count = (uint64_t)v->rotor_count;
    params->strict = nap->strict != 0;
    params->horizon = nap->horizon;
    params->open_loop = 1;
    // Air that follows the motion has no certificate, and with a battery rotors are slower than commanded.
    params->rotors = has_powertrain || world->wakes.on;
    params->has_obstacles = !frame_is_inertial(&world->env) && world->ground_heights != NULL;
    params->flat = !frame_is_inertial(&world->env) && !params->has_obstacles;
    if (params->rotors || v->thruster_count > 0) params->open_loop = 0;
    if (v->battery.capacity > 0.0)
        params->rotor_speed_max *= real_max(1.0, v->battery.voltage[4] / v->battery.nominal);
}

static void build_sensors(const vy_model *world, const vy_drone_def *def, drone_params *out)
{
    const vy_imu_def *imu = &def->imu;
    if (imu->period > 0.0) out->imu = vy_imu_basic(imu);
    out->mocap = (mocap_params){def->mocap.position_noise, def->mocap.attitude_noise};
    const estimator_setup setup = vy_estimator_setup(world, def);
    vy_fading_build(&setup, &out->fading);
}

// Points that could touch the ground, from the centre of mass.
static void build_ground_points(const vy_vehicle_def *v, drone_model *out)
{
    VY_ASSERT(v->rotor_count + v->collision_point_count <= VY_ROTOR_CAP + VY_COLLISION_POINT_CAP);
    for (int i = 0; i < v->rotor_count + v->collision_point_count; ++i) {
        const vec3 point =
            i < v->rotor_count ? v->rotors[i].position : v->collision_points[i - v->rotor_count].position;
        out->ground_points[i] = vec3_sub(point, v->centre_of_mass);
    }
    out->ground_point_count = v->rotor_count + v->collision_point_count;
}

vy_status vy_drone_build(const vy_model *world, const vy_drone_def *def, drone_model *model,
                         drone_params *params, vy_error *err)
{
    drone_model m;
    drone_params p;
    memset(&m, 0, sizeof m);
    memset(&p, 0, sizeof p);
    vy_status status = build_schedule(world, def, &m, err);
    if (def->controller.flight == VY_FLIGHT_KINEMATIC && world->physics.engine == VY_ENGINE_STRICT) {
        status =
            vy_fail(err, VY_BAD_VALUE,
                    "controller.flight: kinematic needs a world with `physics: {engine: simple}` or `rigid`");
    }
    if (status == VY_OK) {
        const vec3 gravity = gravity_at(&world->env.gravity, def->position);
        status = vy_ladder_build(&def->controller, &def->vehicle, gravity, &p.ladder, err);
    }
    if (status != VY_OK) return status;

    m.layout = vy_layout_build(&def->vehicle);
    VY_ASSERT(m.layout.count + m.layout.thrusters.count <= VY_ROTOR_CAP); // they share their commands
    m.has_thruster = m.layout.thrusters.count > 0;
    status = vy_thruster_build(&def->vehicle, world->dt, &m.layout.thrusters, err);
    if (status != VY_OK) return status;
    m.controller = def->controller;
    m.estimate_source = def->truth ? ESTIMATE_TRUTH : ESTIMATE_FADING;
    vy_path_build(&def->controller.path, &m.path);
    m.safety = def->safety;
    m.crash = def->crash;
    const double tilt = def->safety.tilt_max;
    m.cos_tilt_max = tilt < 3.141592653589793 ? math_cos(tilt) : -2.0; // no tilt is above half a turn
    m.sustain = (uint64_t)real_round(real_min(def->safety.sustain / world->dt, 1e15));

    vy_supervisor_build(world, def, &m);
    build_ground_points(&def->vehicle, &m);
    p.motor = vy_motor_build(&def->vehicle);
    vy_plant_build(&def->vehicle, world->dt, &p.plant);
    build_powertrain(world, &def->vehicle, &m, &p);
    build_sensors(world, def, &p);
    build_nap(world, &m.layout, &def->vehicle, m.has_powertrain, &p.nap);
    if (def->controller.kind != VY_CONTROLLER_NONE) p.nap.open_loop = 0;
    vy_autopilot autopilot = def->controller.autopilot;
    if (autopilot.has_target) vy_autopilot_set_target(&autopilot, autopilot.target);
    p.autopilot = vy_autopilot_build(&autopilot);
    const mat3 r = quat_matrix(quat_normalize(def->attitude));
    p.home = def->position;
    p.home_yaw = math_atan2(r.m[1][0], r.m[0][0]);
    *model = m;
    *params = p;
    return VY_OK;
}

vy_vehicle_def vy_body_vehicle(const vy_world_body_def *def)
{
    vy_vehicle_def v;
    memset(&v, 0, sizeof v);
    v.cookie = vy_default_vehicle_def().cookie;
    v.command_curve = 1.0;
    v.mass = def->mass;
    v.inertia = def->inertia;
    v.drag_linear = def->drag_linear;
    v.area = def->area;
    v.cd = def->cd;
    v.cl = def->cl;
    v.pressure_centre = def->pressure_centre;
    v.volume = def->volume;
    v.damping_area = def->damping_area;
    v.damping = def->damping;
    v.dipole = def->dipole;
    v.light_area = def->light_area;
    v.torque_ref = def->torque_ref;
    return v;
}

void vy_body_build(const vy_model *world, const vy_world_body_def *def, body_model *out)
{
    static const rotor_layout no_rotors;
    const vy_vehicle_def v = vy_body_vehicle(def);
    drone_params p;
    memset(&p, 0, sizeof p);
    vy_plant_build(&v, world->dt, &p.plant);
    build_nap(world, &no_rotors, &v, 0, &p.nap);
    *out = (body_model){.plant = p.plant, .nap = p.nap, .crash = def->crash};
}

void vy_drone_update_mass(const vy_model *world, const vy_vehicle_def *v, drone_model *model,
                          drone_params *params)
{
    drone_params p = *params;
    model->layout = vy_layout_build(v);
    (void)vy_thruster_build(v, world->dt, &model->layout.thrusters, NULL); // checked when it was built
    vy_plant_build(v, world->dt, &p.plant);
    build_powertrain(world, v, model, &p);
    params->plant = p.plant;
    principal_moments(v->inertia, &params->nap.inertia_min, &params->nap.inertia_max);
}

void vy_drone_start(const vy_model *world, const vy_drone_def *def, uint32_t index, drone_block *out)
{
    const drone_model *model = &world->drones[index];
    const drone_params *params = &world->params[index];
    VY_ASSERT(index < world->drone_count);
    drone_block d;
    memset(&d, 0, sizeof d);
    d.effects = params->nap.rotors ? EFFECTS_ALL : EFFECTS_OF_BODIES;
    d.body = (body_state){def->position, def->velocity, quat_normalize(def->attitude), def->rate};
    int has_rotor_speeds = 0; // rotors have speeds of their own
    for (int k = 0; k < model->layout.count; ++k) has_rotor_speeds |= def->rotor_speeds[k] != 0.0;
    for (int k = 0; k < model->layout.count; ++k)
        d.rotor_speed[k] = has_rotor_speeds ? def->rotor_speeds[k] : def->rotor_speed;
    VY_ASSERT(body_is_finite(&d.body) && real_abs(quat_dot(d.body.attitude, d.body.attitude) - 1.0) < 1e-9);

    const body_state sensed = inertial_body(&world->env.gravity, &d.body);
    d.imu = imu_start(&sensed, def->imu.accel_bias, def->imu.gyro_bias,
                      gravity_at(&world->env.gravity, def->position), world->seed, index);
    d.mocap = (mocap_state){d.body.position, d.body.attitude};
    if (model->mocap_period != 0) mocap_sample(&params->mocap, &d.body, world->seed, index, 0, &d.mocap);
    d.estimate.position = d.mocap.position;
    d.estimate.attitude = d.mocap.attitude;
    d.estimate.velocity = d.body.velocity; // a drone knows how it was launched
    d.estimate.rate = gyro_relative_to_ground(&world->env.gravity, d.estimate.attitude, d.imu.gyro);
    if (model->estimate_source == ESTIMATE_FILTER)
        vy_filter_initial_estimate(world, def, index, &d.body, &d.estimate);
    if (model->estimate_source == ESTIMATE_TRUTH) {
        d.estimate.position = d.body.position;
        d.estimate.attitude = d.body.attitude;
        d.estimate.rate = d.body.rate;
    }

    d.control.attitude = quat_identity();
    const motor_params *motor = &params->motor;
    for (int k = 0; k < model->layout.count; ++k) {
        double command = motor->speed_max > 0.0 ? d.rotor_speed[k] / motor->speed_max : 0.0;
        if (!motor->is_linear && motor->speed_max > 0.0) command = motor_command(motor, d.rotor_speed[k]);
        d.control.motors[k] = command;
    }
    if (def->controller.start.rung != VY_RUNG_NONE) {
        const int rung =
            vy_control_accept(&params->ladder, &def->controller.start, &d.estimate, &d.control, &d.clamps);
        d.rung = rung < 0 ? VY_RUNG_NONE : (uint64_t)rung;
        VY_ASSERT(rung >= 0); // the def has been checked
        (void)control_lower(&params->ladder, d.rung, 1, &d.estimate, &d.control);
    }
    if (def->controller.kind == VY_CONTROLLER_RECORDED) vy_recorded_play(world, index, 0, &d);
    *out = d;
}

uint64_t vy_tick_at(double time, double dt)
{
    VY_ASSERT(time >= 0.0 && dt > 0.0);
    const double ticks = time / dt;
    return ticks < 1e15 ? (uint64_t)real_round(ticks) : UINT64_MAX / 2;
}

void vy_disturbance_build(const vy_model *world, const vy_disturbance_def *def, disturbance_model *out)
{
    memset(out, 0, sizeof *out);
    out->def = *def;
    out->start = vy_tick_at(def->start, world->dt);
    uint64_t length = vy_tick_at(def->duration, world->dt);
    if (length == 0) length = 1;
    out->end = out->start + length;
    VY_ASSERT(out->end > out->start); // a tick past the range does not wrap around
    out->scale = 1.0;
    if (def->kind == VY_DISTURBANCE_IMPULSE) out->scale = 1.0 / ((double)length * world->dt);
    if (def->kind == VY_DISTURBANCE_NOISE) {
        out->decay = math_exp(-6.283185307179586 * def->frequency * world->dt);
        out->noise_gain = real_sqrt(1.0 - out->decay * out->decay);
        VY_ASSERT(out->decay >= 0.0 && out->decay < 1.0); // disturbance_noise_bound divides by the complement
    }
}
