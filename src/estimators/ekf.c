// ekf.c - the Kalman filter: constants from the sensors' figures, its start, and its step.
#include "base/assert.h"
#include "base/math.h"
#include "estimators/estimators.h"
#include "volery/sensors.h"

#define STILL_SPEED            0.01 // [m/s] that a drone on the ground may have
#define INITIAL_POSITION_SIGMA 1e3  // [m] what is known of a place before the first fix
#define INITIAL_ATTITUDE_SIGMA 1.0  // [rad] and of an attitude before the first sample

static double square(double x) { return x * x; }

// Variance of a reading's last digit.
static double step_variance(double step) { return square(step) / 12.0; }

// Variance that a bias gains per IMU sample, by random walk and bias instability.
static double bias_walk_variance(double drift, double instability, const vy_imu_def *imu)
{
    const double sigma = instability / VY_ALLAN_FLOOR;
    const double instability_variance =
        imu->instability_time > 0.0 ? 2.0 * square(sigma) / imu->instability_time : 0.0;
    return imu->period * (square(drift) + instability_variance);
}

// [m/Pa] at the altitude of the start; 0 where the air has no pressure that could be measured.
static double metres_per_pascal(const atmosphere_params *air, double altitude)
{
    const double pressure = baro_pressure(air, altitude);
    const double metres = baro_altitude(air, pressure - 0.5) - baro_altitude(air, pressure + 0.5);
    return real_is_finite(metres) ? metres : 0.0;
}

// A sensor that has been rejected for gate_time is accepted again after the same time, unless others
// contradict it.
static void build_gate(const estimator_setup *in, ekf_gate *out)
{
    const vy_sensor_suite_def *suite = in->sensor_suite;
    const double periods[VY_AID_SOURCE_COUNT] = {in->mocap->period, suite->gps.period,   suite->baro.period,
                                                 suite->mag.period, suite->range.period, suite->flow.period};
    out->square = square(in->def->gate);
    if (!(out->square > 0.0)) return;
    VY_ASSERT(in->def->gate_time > 0.0 && in->dt > 0.0);
    out->timeout_ticks = (uint64_t)real_round(real_min(in->def->gate_time / in->dt, 1e15));
    for (int i = 0; i < VY_AID_SOURCE_COUNT; ++i)
        out->inflation[i] = real_min(periods[i] / in->def->gate_time, 1.0) / out->square;
}

static void build_imu(const vy_imu_def *imu, ekf_params *p)
{
    const double period = imu->period;
    VY_ASSERT(period > 0.0 && imu->gyro_noise >= 0.0 && imu->accel_noise >= 0.0);
    p->period = period;
    p->imu_offset = imu->position;
    p->attitude_noise = square(imu->gyro_noise) * period + square(period) * step_variance(imu->gyro_step);
    p->velocity_noise = square(imu->accel_noise) * period + square(period) * step_variance(imu->accel_step);
    p->gyro_walk = bias_walk_variance(imu->gyro_drift, imu->gyro_instability, imu);
    p->accel_walk = bias_walk_variance(imu->accel_drift, imu->accel_instability, imu);
    const double gyro = square(imu->gyro_bias) + square(imu->gyro_instability / VY_ALLAN_FLOOR);
    const double accel = square(imu->accel_bias) + square(imu->accel_instability / VY_ALLAN_FLOOR);
    for (int i = 0; i < 3; ++i) {
        p->start[EKF_GYRO_BIAS + i] = gyro;
        p->start[EKF_ACCEL_BIAS + i] = accel;
    }
    for (int i = 0; i < 9; ++i) {
        p->start[EKF_GYRO_DISTORTION + i] = square(i % 4 == 0 ? imu->gyro_scale : imu->gyro_misalignment);
        p->start[EKF_ACCEL_DISTORTION + i] = square(i % 4 == 0 ? imu->accel_scale : imu->accel_misalignment);
    }
}

static void build_gps(const vy_gps_def *gps, ekf_params *p)
{
    const double period = p->period,
                 decay = gps->wander_time > 0.0 ? math_exp(-period / gps->wander_time) : 0.0;
    const double horizontal_variance = square(gps->position_wander),
                 vertical_variance = square(gps->height_wander);
    p->wander_decay = decay;
    p->wander_noise = vec3_scale(1.0 - square(decay),
                                 vec3_make(horizontal_variance, horizontal_variance, vertical_variance));
    p->start[EKF_GPS_WANDER] = p->start[EKF_GPS_WANDER + 1] = horizontal_variance;
    p->start[EKF_GPS_WANDER + 2] = vertical_variance;
    p->gps_position_variance =
        vec3_make(square(gps->position_noise), square(gps->position_noise), square(gps->height_noise));
    p->gps_velocity_variance = square(gps->velocity_noise);
    p->gps_delay = gps->link.delay;
    if (p->gps_delay > 0.0) {
        const double stiffness = 12.0 / square(p->gps_delay);
        p->gps_delay_stiffness = period * stiffness;
        p->gps_delay_damping = 0.25 * period * stiffness * (p->gps_delay + period);
    }
    p->gps_offset = gps->position;
}

static void build_baro(const vy_baro_def *baro, const estimator_setup *in, ekf_params *p)
{
    const double metres_per_pascal2 = square(metres_per_pascal(in->air, in->altitude));
    p->baro_variance = metres_per_pascal2 * (square(baro->noise) + step_variance(baro->step));
    p->start[EKF_BARO_BIAS] = metres_per_pascal2 * (square(baro->bias) + square(baro->wander));
    p->baro_walk = baro->wander_time > 0.0
                       ? metres_per_pascal2 * 2.0 * square(baro->wander) * p->period / baro->wander_time
                       : 0.0;
}

static void build_mag(const vy_mag_def *mag, const estimator_setup *in, ekf_params *p)
{
    const vec3 field = in->field;
    const double strength = vec3_length(field);
    if (!(strength > 0.0)) return;
    p->field_unit = 1.0 / strength;
    p->field = vec3_scale(p->field_unit, field);
    p->mag_variance = square(p->field_unit) * (square(mag->noise) + step_variance(mag->step));
    for (int i = 0; i < 3; ++i) p->start[EKF_MAG_BIAS + i] = square(p->field_unit * mag->bias);
    for (int i = 0; i < 9; ++i)
        p->start[EKF_MAG_DISTORTION + i] = square(i % 4 == 0 ? mag->scale : mag->misalignment);
}

static void build(const estimator_setup *in, void *params)
{
    const vy_sensor_suite_def *suite = in->sensor_suite;
    const vy_estimator_def *def = in->def;
    ekf_params *p = params;
    VY_ASSERT(suite != NULL && in->mocap != NULL && in->air != NULL);
    memset(p, 0, sizeof *p);
    p->gravity = in->gravity;
    build_imu(in->imu, p);
    p->mocap_position_variance = square(in->mocap->position_noise);
    p->mocap_attitude_variance = square(in->mocap->attitude_noise);
    build_gps(&suite->gps, p);
    if (suite->baro.period > 0.0) build_baro(&suite->baro, in, p);
    if (suite->mag.period > 0.0) build_mag(&suite->mag, in, p);
    p->range_variance = square(suite->range.noise) + step_variance(suite->range.step);
    p->range_noise_ratio = square(suite->range.noise_share);
    p->range_offset = suite->range.position;
    if (suite->range.period > 0.0)
        p->range_direction = vec3_scale(1.0 / vec3_length(suite->range.direction), suite->range.direction);
    p->flow_variance = square(suite->flow.noise);
    p->flow_offset = suite->flow.position;
    for (int i = 0; i < 3; ++i) {
        p->start[EKF_POSITION + i] = square(def->start_position);
        p->start[EKF_VELOCITY + i] = square(def->start_velocity);
        p->start[EKF_ATTITUDE + i] = square(def->start_attitude);
    }
    for (int i = 0; i < EKF_STATES; ++i) VY_ASSERT(p->start[i] >= 0.0); // variances
    VY_ASSERT(p->range_variance >= 0.0 && p->flow_variance >= 0.0 && p->mag_variance >= 0.0);
    p->align = vy_align_build(in);
    build_gate(in, &p->gate);
}

// In the order of vy_aid_source.
static const int aid_sensors[VY_AID_SOURCE_COUNT] = {SENSOR_mocap, SENSOR_gps,   SENSOR_baro,
                                                     SENSOR_mag,   SENSOR_range, SENSOR_flow};

const char *vy_aid_source_name(vy_aid_source sensor)
{
    return (unsigned)sensor < VY_AID_SOURCE_COUNT ? vy_sensors[aid_sensors[sensor]].type->name : "unknown";
}

static void start(const void *params, const filter_blocks *memory)
{
    ekf_start(params, memory->kalman->covariance);
}

// e^T P^-1 e of the parts that move, by Cholesky; 0: P is singular.
static double nees_of(const double *covariance, const double error[EKF_NAVIGATION_STATES])
{
    double l[EKF_NAVIGATION_STATES][EKF_NAVIGATION_STATES], e[EKF_NAVIGATION_STATES], sum = 0.0;
    for (int i = 0; i < EKF_NAVIGATION_STATES; ++i) {
        e[i] = error[i];
        for (int k = 0; k <= i; ++k) {
            double s = covariance[ekf_covariance_index(i, k)];
            for (int n = 0; n < k; ++n) s -= l[i][n] * l[k][n];
            if (i == k && !(s > 0.0)) return 0.0;
            l[i][k] = i == k ? real_sqrt(s) : s / l[k][k];
            if (k < i) e[i] -= l[i][k] * e[k];
        }
        e[i] /= l[i][i];
        sum += e[i] * e[i];
    }
    return sum;
}

static void evaluate(const filter_blocks *memory, const double error[9], vy_filter_state *out)
{
    const kalman_block *kalman = memory->kalman;
    const double *p = kalman->covariance;
    const int x = EKF_POSITION, y = x + 1, z = x + 2;
    out->variance = vec3_make(p[ekf_covariance_index(x, x)], p[ekf_covariance_index(y, y)],
                              p[ekf_covariance_index(z, z)]);
    out->covariance = vec3_make(p[ekf_covariance_index(y, x)], p[ekf_covariance_index(z, x)],
                                p[ekf_covariance_index(z, y)]);
    out->deviation = real_sqrt(out->variance.x + out->variance.y + out->variance.z);
    out->nees = nees_of(kalman->covariance, error);
    for (int i = 0; i < VY_AID_SOURCE_COUNT; ++i) {
        if (kalman->innovation_count[i] > 0)
            out->mean_nis[i] = kalman->innovations[i] / (double)kalman->innovation_count[i];
    }
}

const estimator_type vy_estimator_ekf = {
    .name = "ekf", .is_kalman = 1, .evaluate = evaluate, .build = build, .start = start};

// --- the start on the ground

// What the drone has measured while it stood still, as measurements of a filter that knew nothing: the error
// of a tilt found by the accelerometer is that of its bias, and the filter knows.
static void start_on_ground(const ekf_params *p, const estimator_samples *in, estimator_state *estimate,
                            const filter_block *filter, kalman_block *kalman)
{
    const sensor_suite_blocks *sensors = in->sensors;
    ekf_params mean_params = *p; // figures of means
    VY_ASSERT(filter->still_samples > 0);
    const double sample_count = (double)filter->still_samples;
    for (int i = 0; i < 3; ++i) {
        if (p->align.needs_fix) mean_params.start[EKF_POSITION + i] = square(INITIAL_POSITION_SIGMA);
        mean_params.start[EKF_VELOCITY + i] = square(STILL_SPEED);
        mean_params.start[EKF_ATTITUDE + i] = square(INITIAL_ATTITUDE_SIGMA);
    }
    ekf_start(&mean_params, kalman->covariance);
    const vec3 gyro = estimate->gyro_bias,
               specific_force = vec3_neg(quat_unrotate(estimate->attitude, p->gravity));
    const mat3 force_cross = mat3_cross(specific_force);
    estimate->gyro_bias = vec3_zero();
    ekf_correction correction = ekf_begin();
    for (int i = 0; i < 3; ++i) {
        double h[EKF_STATES] = {0};
        h[EKF_GYRO_BIAS + i] = 1.0;
        ekf_fuse(h, vec3_at(gyro, i), p->attitude_noise / (square(p->period) * sample_count),
                 kalman->covariance, &correction);
        h[EKF_GYRO_BIAS + i] = 0.0;
        h[EKF_ACCEL_BIAS + i] = 1.0;
        ekf_set_vec3(specific_force, h, EKF_ACCEL_DISTORTION + 3 * i);
        ekf_set_vec3(mat3_row(force_cross, i), h, EKF_ATTITUDE);
        ekf_fuse(h, vec3_at(vec3_sub(filter->still_accel, specific_force), i),
                 p->velocity_noise / (square(p->period) * sample_count), kalman->covariance, &correction);
    }
    (void)ekf_apply_correction(p, &correction, estimate, kalman);
    estimate->rate = vec3_zero();
    kalman->acceleration = kalman->jerk = vec3_zero();
    if (in->mocap_tick > 0) {
        (void)ekf_mocap(p, in->mocap->position, in->mocap->attitude, estimate, kalman);
    } else if (sensors->gps != NULL && filter->still_fixes > 0) {
        (void)ekf_gps(p, sensors->gps->position, sensors->gps->velocity, estimate,
                      kalman); // the last one: fixes wander
    }
    if (filter->still_fields > 0 && p->field_unit > 0.0) {
        mean_params.mag_variance = p->mag_variance / (double)filter->still_fields;
        (void)ekf_mag(&mean_params, vec3_scale(p->field_unit, filter->still_field), estimate, kalman);
    }
}

// --- a step

// Whether a new sample has arrived that the filter can use.
static int is_available(int sensor, const ekf_params *p, const estimator_samples *in,
                        const estimator_state *estimate, const kalman_block *kalman)
{
    const sensor_suite_blocks *sensors = in->sensors;
    const uint64_t tick = in->tick;
    switch (sensor) {
    case SENSOR_mocap: return in->mocap_tick == tick;
    case SENSOR_gps: return sensors->gps != NULL && sensors->gps->tick == tick;
    case SENSOR_baro: return sensors->baro != NULL && sensors->baro->tick == tick;
    case SENSOR_mag:
        return sensors->mag != NULL && sensors->mag->tick == tick && p->field_unit > 0.0 &&
               ekf_field_is_undisturbed(p, vec3_scale(p->field_unit, sensors->mag->field), estimate, kalman);
    case SENSOR_range: return sensors->range != NULL && sensors->range->tick == tick;
    default: return sensors->flow != NULL && sensors->flow->tick == tick && sensors->flow->quality > 0.0;
    }
}

static ekf_innovation fuse_sample(const ekf_params *p, int sensor, const estimator_samples *in,
                                  estimator_state *estimate, kalman_block *kalman)
{
    const sensor_suite_blocks *sensors = in->sensors;
    switch (sensor) {
    case SENSOR_mocap: return ekf_mocap(p, in->mocap->position, in->mocap->attitude, estimate, kalman);
    case SENSOR_gps: return ekf_gps(p, sensors->gps->position, sensors->gps->velocity, estimate, kalman);
    case SENSOR_baro: return ekf_height(p, samples_baro_z(in, sensors->baro->altitude), estimate, kalman);
    case SENSOR_mag: return ekf_mag(p, vec3_scale(p->field_unit, sensors->mag->field), estimate, kalman);
    case SENSOR_range:
        return ekf_range(p, sensors->range->distance, samples_curvature_drop(in), estimate, kalman);
    default:
        return ekf_flow(p, sensors->flow->x, sensors->flow->y, samples_curvature_drop(in), estimate, kalman);
    }
}

// Numbers of a sample, by vy_aid_source.
static const uint64_t measurement_size[VY_AID_SOURCE_COUNT] = {6, 6, 1, 3, 1, 2};

// A barometer whose bias is not what it was: a sample as far off as this is not one of its noise.
#define JUMP_RATIO 5.0

// Whether the barometer has jumped: then its bias is unknown again. A jump counts as one of the bias, or it
// would go, by what small things errors have in common, into everything that the filter believes.
static int has_jumped(const ekf_params *p, int source, const ekf_innovation *innovation)
{
    return source == VY_AID_SOURCE_BARO && p->start[EKF_BARO_BIAS] > 0.0 &&
           innovation->max_ratio > square(JUMP_RATIO);
}

static void reset_baro_bias(const ekf_params *p, const ekf_innovation *innovation, kalman_block *kalman)
{
    ekf_uncorrelate(EKF_BARO_BIAS, p->start[EKF_BARO_BIAS] + innovation->square, kalman->covariance);
}

// If samples stay outside the gate for long, the filter may be the one that is wrong: its covariance is
// inflated along what the sensor measures, until other sensors reduce it again.
static void reject_sample(const ekf_params *p, int source, uint64_t tick, const ekf_innovation *innovation,
                          kalman_block *kalman, gate_block *g)
{
    const ekf_gate *gate = &p->gate;
    if (g->since[source] == 0) g->since[source] = tick;
    VY_ASSERT(source >= 0 && source < VY_AID_SOURCE_COUNT && innovation->max_ratio > gate->square);
    g->rejected[source] += 1;
    if (tick - g->since[source] < gate->timeout_ticks) return;
    if (has_jumped(p, source, innovation))
        reset_baro_bias(p, innovation, kalman);
    else
        ekf_inflate(innovation, gate->inflation[source], kalman->covariance);
}

// Correct by one sensor's sample, and undo that if it is outside the gate.
static void correct(const ekf_params *p, int source, const estimator_samples *in, estimator_state *estimate,
                    kalman_block *kalman, gate_block *gate)
{
    const estimator_state previous_state = *estimate;
    const kalman_block previous_filter = *kalman;
    ekf_innovation innovation = fuse_sample(p, aid_sensors[source], in, estimate, kalman);
    if (gate == NULL && has_jumped(p, source, &innovation)) {
        *estimate = previous_state;
        *kalman = previous_filter;
        reset_baro_bias(p, &innovation, kalman);
        innovation = fuse_sample(p, aid_sensors[source], in, estimate, kalman);
    }
    if (gate != NULL && innovation.max_ratio > p->gate.square) {
        *estimate = previous_state;
        *kalman = previous_filter;
        reject_sample(p, source, in->tick, &innovation, kalman, gate);
        return;
    }
    if (gate != NULL) gate->since[source] = 0;
    if (!(innovation.sum > 0.0)) return; // nothing was seen
    kalman->innovations[source] += innovation.sum;
    kalman->innovation_count[source] += measurement_size[source];
}

void vy_ekf_step(const ekf_params *p, const estimator_samples *in, estimator_state *estimate,
                 const filter_blocks *memory)
{
    kalman_block *kalman = memory->kalman;
    if (memory->filter->started == 0) {
        if (!vy_align_step(&p->align, in, estimate, memory->filter)) return;
        start_on_ground(p, in, estimate, memory->filter, kalman);
        memory->filter->started = in->tick;
        return;
    }
    if (in->imu_tick == in->tick)
        ekf_predict(p, in->accel, in->gyro, in->ground != NULL ? in->ground->gravity : p->gravity, estimate,
                    kalman);
    for (int i = 0; i < VY_AID_SOURCE_COUNT; ++i) {
        if (is_available(aid_sensors[i], p, in, estimate, kalman))
            correct(p, i, in, estimate, kalman, memory->gate);
    }
}
