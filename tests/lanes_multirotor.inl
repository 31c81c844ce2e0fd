// lanes_multirotor.inl - the closed loop of lanes_multirotor.h for the VY_LANES and LANES_FLY of the including file.
#include "lanes_multirotor.h"
#include "control/ladder.h"
#include "equations/multirotor.h"
#include "sensors/imu.h"
#include "sensors/mocap.h"

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
    // Parameters.
    multirotor_params plant;
    body_loads held;
    vec3 gravity;
    real dt, speed_max;
    imu_params imu_params;
    mocap_params mocap_params;
    estimator_params estimator_params;
    real gains[7];
    vec3 attitude_gain;
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
    p.position = f->gains[0];
    p.velocity = f->gains[1];
    p.integral = f->gains[2];
    p.period = f->gains[3];
    p.tan_tilt = f->gains[4];
    p.integral_max = f->gains[5];
    p.rate = f->gains[6];
    p.attitude = f->attitude_gain;
    memcpy(p.inverse, v->inverse, sizeof p.inverse);
    p.rotor_count = v->count;
    p.thrust_max = f->thrust_max;
    p.inverse_thrust_max = f->inverse_thrust_max;
    return p;
}

VY_FN void lanes_step(const rotor_layout *layout, const ladder_params *ladder, bits seed, bits index, bits tick,
                      struct flight *f)
{
    real command[LANES_ROTORS];
    for (int k = 0; k < LANES_ROTORS; ++k) command[k] = f->speed_max * f->motors[k];
    multirotor_step(layout, &f->plant, f->dt, f->gravity, &f->held, command, &f->body, f->speed);
    imu_sample(&f->imu_params, &f->body, f->gravity, seed, index, tick, &f->imu);
    mocap_sample(&f->mocap_params, &f->body, seed, index, tick, &f->mocap);
    estimator_predict(&f->estimator_params, f->imu.accel, f->imu.gyro, &f->estimate);
    estimator_correct(&f->estimator_params, f->mocap.position, f->mocap.attitude, &f->estimate);
    f->thrust = lower_position(ladder, &f->reference, &f->estimate, &f->integral, &f->attitude);
    f->rates = lower_attitude(ladder, f->attitude, f->estimate.attitude);
    f->torque = lower_rates(ladder, f->rates, f->estimate.rate);
    f->clamped = f->clamped + lower_wrench(ladder, f->thrust, f->torque, f->motors);
}

void LANES_FLY(const lanes_vehicle *v, const lanes_key *keys, int steps, double *values)
{
    rotor_layout layout;
    layout.count = v->count;
    memcpy(layout.roll, v->roll, sizeof layout.roll);
    memcpy(layout.pitch, v->pitch, sizeof layout.pitch);
    memcpy(layout.yaw, v->yaw, sizeof layout.yaw);

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
    for (int i = 0; i < steps; ++i) lanes_step(&layout, &ladder, seed, index, tick + (uint64_t)i, &f);

    for (int lane = 0; lane < VY_LANES; ++lane) {
        for (int k = 0; k < LANES_VALUES; ++k) {
            memcpy(&values[lane * LANES_VALUES + k], (double *)&f + k * VY_LANES + lane, sizeof(double));
        }
    }
}
