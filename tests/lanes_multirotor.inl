// lanes_multirotor.inl - the closed loop of lanes_multirotor.h for the VY_LANES and LANES_FLY of the
// including file.
#include "control/ladder.h"
#include "environment/nap.h"
#include "equations/coupled_step.h"
#include "estimators/fading.h"
#include "sensors/imu.h"
#include "sensors/mocap.h"
// What the equations declare comes first.
#include "lanes_multirotor.h"

// Reals only, so that it is an array of reals as well.
struct flight {
    body_state body;
    real speed[LANES_ROTORS];
    real motors[LANES_ROTORS];
    imu_state imu;
    mocap_state mocap;
    estimator_state estimate;
    vec3 integral;
    quat attitude;
    vec3 rates, torque;
    real thrust, clamped;
    real flags; // their bits: effects that are computed
    nap_state nap;
    // Parameters.
    multirotor_params plant;
    held_inputs held;
    rotor_air_state memory;
    battery_params battery;
    real charge;
    body_loads later[2]; // the disturbance half-way and at the end of each step
    real downwash;
    real force_off, torque_threshold, hysteresis; // of the negligibility policy
    real inertia_min, inertia_max, horizon;
    real disturbance, disturbance_torque, turbulence; // bounds of what is held
    vec3 gravity;
    real dt, speed_max;
    imu_params imu_params;
    mocap_params mocap_params;
    fading_params fading_params;
    real gains[7], keep;
    vec3 attitude_gain;
    vec3 stick, stick_speed, velocity, velocity_integral; // of the pilot and velocity rungs
    real heading, yaw_rate;
    indi_params indi_params;
    indi_state indi;
    real limit[LANES_ROTORS];
    real thrust_max, inverse_thrust_max;
    reference reference;
};

_Static_assert(sizeof(struct flight) == LANES_VALUES * sizeof(real), "LANES_VALUES is the number of reals");

// Built by hand, because part of it is not per lane.
VY_FN ladder_params lanes_ladder(const lanes_vehicle *v, const struct flight *f)
{
    ladder_params p;
    p.mass = 1.0 / f->plant.body.inverse_mass;
    p.inertia = f->plant.body.inertia;
    p.gravity = f->gravity;
    p.position_gain = f->gains[0];
    p.velocity_gain = f->gains[1];
    p.integral_gain = f->gains[2];
    p.period = f->gains[3];
    p.tan_tilt = f->gains[4];
    p.integral_max = f->gains[5];
    p.rate_gain = f->gains[6];
    p.attitude_gain = f->attitude_gain;
    for (int i = 0; i < LADDER_ROTORS; ++i) {
        for (int j = 0; j < 4; ++j) p.pseudo_inverse[i][j] = real_set(v->inverse[i][j]);
        p.scale[i] = real_set(v->layout.thrust_scale[i]);
    }
    p.rotor_count = bits_set((uint64_t)v->count);
    p.motor.is_linear = bits_set(!v->curved);
    p.motor.speed_max = f->speed_max;
    p.motor.speed_idle = 0.05 * f->speed_max;
    p.motor.dead_zone = real_set(0.1);
    p.motor.thrust_model_factor = real_set(0.6);
    p.motor.quadratic = f->plant.rotor.thrust_coef;
    p.motor.linear = f->plant.curve.linear;
    p.motor.cubic = f->plant.curve.cubic;
    p.uses_thrusters = bits_set(0);
    p.command_count = p.rotor_count;
    p.has_thrust_scale = bits_set((uint64_t)v->layout.general);
    p.thrust_max = f->thrust_max;
    p.inverse_thrust_max = f->inverse_thrust_max;
    p.rate_period = f->dt;
    p.stick_decay = f->keep;
    for (int i = 0; i < LANES_ROTORS; ++i) p.rotor_thrust_max[i] = f->limit[i];
    for (int i = 0; i < LANES_ROTORS; ++i) {
        for (int j = 0; j < 4; ++j) p.allocate.rows[j][i] = real_set(v->rows[j][i]);
        for (int k = 0; k < LANES_ROTORS; ++k) p.allocate.hessian[i][k] = real_set(v->hessian[i][k]);
    }
    for (int j = 0; j < 4; ++j) p.allocate.scale[j] = (j == 0 ? 10.0 : 1000.0) * f->inverse_thrust_max;
    p.allocate.unit = f->thrust_max;
    p.allocate.count = bits_set((uint64_t)v->count);
    p.indi = f->indi_params;
    return p;
}

VY_FN environment_model lanes_surroundings(const lanes_vehicle *v, const struct flight *f)
{
    environment_model env;
    memset(&env, 0, sizeof env);
    env.gravity.uniform = f->gravity;
    env.gravity.body_count = v->body_count;
    env.gravity.gradient = v->gradient;
    memcpy(env.gravity.bodies, v->bodies, sizeof v->bodies);
    env.air = v->air;
    env.planet = v->planet;
    env.wind = v->wind;
    env.constant_wind = wind_constant(&v->wind);
    env.has_wind = 1;
    // The scalar takes the short way through steady air where it may, so that it is compared with the long
    // one.
    env.steady = VY_LANES == 1 && !v->planet.on && v->air.mode != ATMOSPHERE_LAYERED &&
                 v->wind.shear == WIND_SHEAR_NONE && v->wind.gust_count == 0 &&
                 v->wind.grid.velocity == NULL && !mask_any(vec3_any_nonzero(f->held.turbulence));
    memcpy(env.magnetic, v->magnetic, sizeof env.magnetic);
    memcpy(env.radiation_pressure, v->light, sizeof env.radiation_pressure);
    return env;
}

// Kept out of its caller, which is large enough.
VY_COLD_FN void lanes_decide(const lanes_vehicle *v, const rotor_layout *layout, const environment_model *env,
                             const real *command, struct flight *f)
{
    nap_params n;
    n.force_abs = f->force_off;
    n.force_rel = real_set(0.0);
    n.torque_threshold = f->torque_threshold;
    n.hysteresis = f->hysteresis;
    n.inertia_min = f->inertia_min;
    n.inertia_max = f->inertia_max;
    n.rotor_speed_max = f->speed_max;
    n.rotor_count = bits_set((uint64_t)v->count);
    n.strict = bits_set((uint64_t)v->strict);
    n.jointed = bits_set(0);
    n.horizon = f->horizon;
    n.open_loop = bits_set((uint64_t)v->open_loop);
    nap_inputs m;
    m.time = f->held.time;
    m.period = (double)v->period * f->dt;
    m.disturbance = f->disturbance;
    m.disturbance_torque = f->disturbance_torque;
    m.force_body = f->disturbance;
    m.torque_world = f->disturbance_torque;
    m.turbulence = f->turbulence;
    m.command = command;
    m.turbulent = 0;
    m.downwash = f->downwash;
    n.rotors = bits_set((uint64_t)v->rotors);
    n.flat = bits_set(v->planet.on == 0);
    n.has_obstacles = bits_set(0);
    f->flags =
        real_of(nap_evaluate(env, &n, &f->plant, layout, &f->body, f->speed, &m, bits_of(f->flags), &f->nap));
}

// RK4 and the Lie midpoint in turn.
VY_COLD_FN void lanes_coupled_step(const multirotor_inputs *in, int step, const real *command,
                                   struct flight *f)
{
    coupled_state c;
    coupled_stage k[4];
    c.air = f->memory;
    c.charge = f->charge;
    if (step % 2 == 0) {
        coupled_rk4(in, f->dt, command, &f->body, f->speed, &c, k, NULL);
    } else {
        coupled_lie_midpoint(in, f->dt, command, &f->body, f->speed, &c, k, NULL);
    }
    f->memory = c.air;
    f->charge = c.charge;
}

VY_FN void lanes_step(const lanes_vehicle *v, const rotor_layout *layout, const ladder_params *ladder,
                      bits seed, bits index, bits tick, int step, struct flight *f)
{
    real command[LANES_ROTORS];
    for (int k = 0; k < LANES_ROTORS; ++k) command[k] = motor_speed(&ladder->motor, f->motors[k]);
    const environment_model env = lanes_surroundings(v, f);
    if (step % v->period == 0) lanes_decide(v, layout, &env, command, f);
    multirotor_inputs in;
    in.layout = layout;
    in.params = &f->plant;
    in.env = &env;
    in.held = f->held;
    in.flags = bits_of(f->flags);
    in.memory = &f->memory;
    in.half = in.end = NULL;
    in.battery = NULL;
    in.has_inflow = 0;
    in.steady = NULL;
    if (v->rotors) { // inflow, battery and disturbances through the stages
        in.half = &f->later[0];
        in.end = &f->later[1];
        in.battery = &f->battery;
        in.has_inflow = 1;
        lanes_coupled_step(&in, step, command, f);
    } else
        // One copy of the step for every count of rotors is enough for lanes; the scalar has a copy per
        // count.
        if (VY_LANES == 1) {
            multirotor_step(&in, f->dt, command, &f->body, f->speed);
        } else {
            multirotor_step_variant(&in, f->dt, command, v->count, VARIANT_GENERAL, &f->body, f->speed);
        }
    f->held.time = f->held.time + f->dt;
    real n[IMU_NORMALS];
    rng_normals(seed, RNG_STREAM_IMU, index, tick, n, IMU_NORMALS);
    imu_sample(&f->imu_params, &f->body, gravity_at(&env.gravity, f->body.position), n, &f->imu);
    mocap_sample(&f->mocap_params, &f->body, seed, index, tick, &f->mocap);
    fading_predict(&f->fading_params, f->imu.accel, f->imu.gyro, &f->estimate);
    fading_correct(&f->fading_params, f->mocap.position, f->mocap.attitude, &f->estimate);
    f->thrust = lower_position(ladder, &f->reference, &f->estimate, &f->integral, &f->attitude);
    f->rates = lower_attitude(ladder, f->attitude, f->estimate.attitude);
    f->torque = lower_rates(ladder, f->rates, f->estimate.rate);
    f->clamped = f->clamped + lower_wrench(ladder, f->thrust, f->torque, f->motors);

    // The rungs above, beside the loop.
    quat attitude;
    f->velocity = lower_pilot(ladder, f->stick, f->estimate.attitude, &f->stick_speed);
    f->thrust = lower_velocity(ladder, f->velocity, f->yaw_rate, &f->estimate, &f->heading,
                               &f->velocity_integral, &attitude);
    f->rates = rates_with_yaw(lower_attitude(ladder, attitude, f->estimate.attitude), f->yaw_rate,
                              f->estimate.attitude);
    f->torque = lower_rates_indi(ladder, f->rates, f->estimate.rate, f->motors, &f->indi);
}

void LANES_FLY(const lanes_vehicle *v, const lanes_key *keys, int steps, double *values)
{
    // Lane by lane in memory: this works for a double as for a vector.
    struct flight f;
    uint64_t key[3][VY_LANES];
    bits seed, index, tick;
    for (int lane = 0; lane < VY_LANES; ++lane) {
        for (int k = 0; k < LANES_VALUES; ++k) {
            memcpy((double *)&f + k * VY_LANES + lane, &values[lane * LANES_VALUES + k], sizeof(double));
        }
        key[0][lane] = keys[lane].seed;
        key[1][lane] = keys[lane].index;
        key[2][lane] = keys[lane].tick;
    }
    memcpy(&seed, key[0], sizeof seed);
    memcpy(&index, key[1], sizeof index);
    memcpy(&tick, key[2], sizeof tick);

    const ladder_params ladder = lanes_ladder(v, &f);
    for (int i = 0; i < steps; ++i) {
        lanes_step(v, &v->layout, &ladder, seed, index, tick + (uint64_t)i, i, &f);
    }

    for (int lane = 0; lane < VY_LANES; ++lane) {
        for (int k = 0; k < LANES_VALUES; ++k) {
            memcpy(&values[lane * LANES_VALUES + k], (double *)&f + k * VY_LANES + lane, sizeof(double));
        }
    }
}
