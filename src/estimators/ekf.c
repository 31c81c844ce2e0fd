// ekf.c - the Kalman filter: constants from the sensors' figures, and its step.
#include "base/assert.h"
#include "base/math.h"
#include "estimators/estimators.h"
#include "volery/sensors.h"

static double square(double x) { return x * x; }

static vec3 vec3_splat(double x) { return vec3_make(x, x, x); }

// The variance per sample of white noise as strong, over long times, as noise and a slow wander together.
static double equivalent_white_noise(double noise, double wander, double time, double period)
{
    const double keep = time > 0.0 ? math_exp(-period / time) : 0.0;
    return square(noise) + square(wander) * (1.0 + keep) / (1.0 - keep);
}

// Variance that a bias gains per IMU sample, by random walk and bias instability.
static double bias_walk_variance(double drift, double instability, const vy_imu_def *imu)
{
    const double wander = instability / VY_ALLAN_FLOOR;
    const double slow = imu->instability_time > 0.0 ? 2.0 * square(wander) / imu->instability_time : 0.0;
    return imu->period * (square(drift) + slow);
}

// [m/Pa] at the altitude of the start.
static double metres_per_pascal(const atmosphere_params *air, double altitude)
{
    const double p = baro_pressure(air, altitude);
    return baro_altitude(air, p - 0.5) - baro_altitude(air, p + 0.5);
}

// A sensor that has been rejected for gate_time is accepted again after the same time, unless others
// contradict it.
static void build_gate(const estimator_setup *in, ekf_gate *out)
{
    const vy_sensor_suite_def *k = in->sensor_suite;
    const double periods[VY_GATED_COUNT] = {in->mocap->period, k->gps.period,   k->baro.period,
                                            k->mag.period,     k->range.period, k->flow.period};
    out->square = square(in->def->gate);
    if (!(out->square > 0.0)) return;
    VY_ASSERT(in->def->gate_time > 0.0 && in->dt > 0.0);
    out->ticks = (uint64_t)real_round(real_min(in->def->gate_time / in->dt, 1e15));
    for (int i = 0; i < VY_GATED_COUNT; ++i)
        out->inflation[i] = real_min(periods[i] / in->def->gate_time, 1.0) / out->square;
}

static void build(const estimator_setup *in, void *params)
{
    const vy_imu_def *imu = in->imu;
    const vy_sensor_suite_def *k = in->sensor_suite;
    const vy_estimator_def *e = in->def;
    const double t = imu->period;
    ekf_params *p = params;
    VY_ASSERT(imu->period > 0.0 && k != NULL && in->mocap != NULL &&
              in->air != NULL); // a filter needs an IMU
    VY_ASSERT(imu->gyro_noise >= 0.0 && imu->accel_noise >= 0.0);
    memset(p, 0, sizeof *p);
    p->period = t;
    p->gravity = in->gravity;
    p->imu_offset = imu->position;
    p->attitude_noise = square(imu->gyro_noise) * t;
    p->velocity_noise = square(imu->accel_noise) * t;
    p->gyro_walk = bias_walk_variance(imu->gyro_drift, imu->gyro_instability, imu);
    p->accel_walk = bias_walk_variance(imu->accel_drift, imu->accel_instability, imu);
    p->mocap_position = square(in->mocap->position_noise);
    p->mocap_attitude = square(in->mocap->attitude_noise);
    const double across = equivalent_white_noise(k->gps.position_noise, k->gps.position_wander,
                                                 k->gps.wander_time, k->gps.period);
    const double up =
        equivalent_white_noise(k->gps.height_noise, k->gps.height_wander, k->gps.wander_time, k->gps.period);
    p->gps_position = vec3_make(across, across, up);
    const double across_now = square(k->gps.position_noise) + square(k->gps.position_wander);
    const double up_now = square(k->gps.height_noise) + square(k->gps.height_wander);
    p->gps_sample = vec3_make(across_now, across_now, up_now);
    p->gps_velocity = square(k->gps.velocity_noise);
    p->gps_delay = k->gps.link.delay;
    p->gps_offset = k->gps.position;
    if (k->baro.period > 0.0) {
        const double metres = square(metres_per_pascal(in->air, in->altitude));
        p->baro = metres *
                  equivalent_white_noise(k->baro.noise, k->baro.wander, k->baro.wander_time, k->baro.period);
        p->baro_sample = metres * (square(k->baro.noise) + square(k->baro.wander));
    }
    const double strength = vec3_length(in->field);
    if (strength > 0.0) {
        p->field_unit = 1.0 / strength;
        p->field = vec3_scale(p->field_unit, in->field);
        p->mag = (square(k->mag.noise) + square(k->mag.bias)) * square(p->field_unit) + square(k->mag.scale) +
                 square(k->mag.misalignment);
    }
    p->range = square(k->range.noise) + square(k->range.step) / 12.0;
    p->range_noise_ratio = square(k->range.noise_share);
    p->range_offset = k->range.position;
    if (k->range.period > 0.0)
        p->range_direction = vec3_scale(1.0 / vec3_length(k->range.direction), k->range.direction);
    p->flow = square(k->flow.noise);
    p->flow_offset = k->flow.position;
    p->start[0] = vec3_splat(square(e->start_position));
    p->start[1] = vec3_splat(square(e->start_velocity));
    p->start[2] = vec3_splat(square(e->start_attitude));
    p->start[3] = vec3_splat(square(imu->gyro_bias) + square(imu->gyro_instability / VY_ALLAN_FLOOR));
    p->start[4] = vec3_splat(square(imu->accel_bias) + square(imu->accel_instability / VY_ALLAN_FLOOR));
    p->baro_has_offset = k->baro.bias > 0.0;
    for (int i = 0; i < 5; ++i) VY_ASSERT(p->start[i].x >= 0.0); // variances
    VY_ASSERT(p->range >= 0.0 && p->flow >= 0.0 && p->mag >= 0.0);
    build_gate(in, &p->gate);
}

// In the order of vy_gated.
static const int gated[VY_GATED_COUNT] = {SENSOR_mocap, SENSOR_gps,   SENSOR_baro,
                                          SENSOR_mag,   SENSOR_range, SENSOR_flow};

const char *vy_gated_name(vy_gated sensor)
{
    return (unsigned)sensor < VY_GATED_COUNT ? vy_sensors[gated[sensor]].type->name : "unknown";
}

static void start(const void *params, filter_block *filter, gate_block *gate)
{
    ekf_covariance c;
    (void)gate;
    ekf_start(params, &c);
    ekf_pack(&c, filter->covariance);
}

const estimator_type vy_estimator_ekf = {.name = "ekf", .has_gate = 1, .build = build, .start = start};

// --- a step

// Whether a new sample has arrived that the filter can use.
static int is_available(int sensor, const ekf_params *p, const estimator_samples *in)
{
    const sensor_suite_blocks *k = in->sensors;
    const uint64_t tick = in->tick;
    switch (sensor) {
    case SENSOR_mocap: return in->mocap_tick == tick;
    case SENSOR_gps: return k->gps != NULL && k->gps->tick == tick;
    case SENSOR_baro: return k->baro != NULL && k->baro->tick == tick;
    case SENSOR_mag: return k->mag != NULL && k->mag->tick == tick && p->field_unit > 0.0;
    case SENSOR_range: return k->range != NULL && k->range->tick == tick;
    default: return k->flow != NULL && k->flow->tick == tick && k->flow->quality > 0.0;
    }
}

static ekf_innovation fuse_sample(const ekf_params *p, int sensor, const estimator_samples *in,
                                  estimator_state *e, filter_block *f, ekf_covariance *c)
{
    const sensor_suite_blocks *k = in->sensors;
    switch (sensor) {
    case SENSOR_mocap: return ekf_mocap(p, in->mocap->position, in->mocap->attitude, e, c);
    case SENSOR_gps: return ekf_gps(p, k->gps->position, k->gps->velocity, e, c);
    case SENSOR_baro:
        return ekf_height(p, filter_height(samples_baro_z(in, k->baro->altitude), p->baro_has_offset, e, f),
                          e, c);
    case SENSOR_mag: return ekf_mag(p, k->mag->field, e, c);
    case SENSOR_range: return ekf_range(p, k->range->distance, samples_curvature_drop(in), e, c);
    default: return ekf_flow(p, k->flow->x, k->flow->y, samples_curvature_drop(in), e, c);
    }
}

// Undo the update by a sample outside the gate. If samples stay outside for long, the filter may be the one
// that is wrong: its covariance is inflated along what the sensor measures, until other sensors reduce it
// again.
static void reject_sample(const ekf_gate *gate, int which, uint64_t tick, const ekf_innovation *found,
                          const ekf_covariance *before, ekf_covariance *c, gate_block *g)
{
    if (g->since[which] == 0) g->since[which] = tick;
    VY_ASSERT(which >= 0 && which < VY_GATED_COUNT && found->max_ratio > gate->square);
    g->rejected[which] += 1;
    *c = *before;
    if (tick - g->since[which] >= gate->ticks) ekf_inflate(found, gate->inflation[which], c);
}

void vy_ekf_step(const ekf_params *p, const estimator_samples *in, estimator_state *e, filter_block *filter,
                 gate_block *gate)
{
    ekf_covariance c, before;
    ekf_unpack(filter->covariance, &c);
    if (in->imu_tick == in->tick)
        ekf_predict(p, in->accel, in->gyro, in->ground != NULL ? in->ground->gravity : p->gravity, e, &c);
    for (int i = 0; i < VY_GATED_COUNT; ++i) {
        if (!is_available(gated[i], p, in)) continue;
        const estimator_state believed = *e;
        if (gate != NULL) before = c;
        const ekf_innovation found = fuse_sample(p, gated[i], in, e, filter, &c);
        if (gate == NULL) continue;
        if (found.max_ratio > p->gate.square) {
            *e = believed;
            reject_sample(&p->gate, i, in->tick, &found, &before, &c, gate);
        } else {
            gate->since[i] = 0;
        }
    }
    ekf_pack(&c, filter->covariance);
}
