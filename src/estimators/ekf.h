// ekf.h - an error-state Kalman filter over `real`: position, velocity, attitude and the IMU's biases.
//
// The nominal state is an estimator_state, moved by the IMU. Its error has 15 parts, in this order: position
// and velocity in world axes, attitude as a small rotation vector in body axes (true = estimate rotated by
// it), gyroscope bias, accelerometer bias. Measurements come one number at a time, so nothing is inverted (J.
// Sola, Quaternion kinematics for the error-state Kalman filter, arXiv:1711.02508, 2017, with the local
// error).
#pragma once
#include "base/assert.h"
#include "estimators/estimator.h"

enum { EKF_POSITION = 0, EKF_VELOCITY = 3, EKF_ATTITUDE = 6, EKF_GYRO = 9, EKF_ACCEL = 12, EKF_STATES = 15 };
_Static_assert((int)FILTER_STATES == (int)EKF_STATES, "a filter_block holds one covariance");

#define ROWS_ekf                                                                                            \
    ROW("gate", NUMBER, vy_estimator_def, gate, .range = WITHIN(1.0, 1e6), .keyword = "none",               \
        .keyword_value = 0.0, .when = 1u << VY_ESTIMATOR_EKF,                                               \
        .help =                                                                                             \
            "a sample is rejected when one of its numbers is more than this many standard deviations from " \
            "what was expected"),                                                                           \
        ROW("gate_time", NUMBER, vy_estimator_def, gate_time, .unit = "s", .range = POSITIVE,               \
            .when = 1u << VY_ESTIMATOR_EKF,                                                                 \
            .help =                                                                                         \
                "from this long of rejection on, a sensor makes the filter less sure of what it measures"),
#define DEFAULTS_ekf .gate_time = 5.0,

/// The innovation gate of each sensor, by vy_gated.
typedef struct ekf_gate {
    real square;                    // largest normalised innovation that is accepted, squared; 0: no gate
    real inflation[VY_GATED_COUNT]; // of the covariance by each rejected sample, after `ticks`
    bits ticks;                     // [steps] of rejections in a row before that
} ekf_gate;

/// Parameters of the sensors. Variances; those of sensors that a drone lacks are not read.
typedef struct ekf_params {
    real period;                         // [s] of the IMU
    vec3 gravity;                        // [m/s^2] world
    vec3 imu_offset;                     // [m] where the IMU is, body
    real attitude_noise, velocity_noise; // added per IMU sample
    real gyro_walk, accel_walk;
    real mocap_position, mocap_attitude;
    vec3 gps_position;
    vec3 gps_sample;              // of one position by itself: a slow wander counts as more in the long run
    real gps_velocity, gps_delay; // the latter in [s]
    vec3 gps_offset;              // [m] body
    real baro, baro_sample;       // likewise
    vec3 field;                   // of the world, in units of its own length
    real field_unit, mag;
    real range, range_noise_ratio; // [m^2], [1]
    vec3 range_offset, range_direction;
    real flow;
    vec3 flow_offset;
    vec3 start[5];        // variances of the start, part by part
    bits baro_has_offset; // the barometer is set to the believed height at its first sample
    ekf_gate gate;
} ekf_params;

typedef struct ekf_covariance {
    real p[EKF_STATES][EKF_STATES];
} ekf_covariance;

/// The upper triangle, row by row.
VY_FN void ekf_unpack(const real *cells, ekf_covariance *c)
{
    int at = 0;
    for (int i = 0; i < EKF_STATES; ++i) {
        for (int k = i; k < EKF_STATES; ++k) c->p[i][k] = c->p[k][i] = cells[at++];
    }
    VY_ASSERT(at == FILTER_CELLS);
}

VY_FN void ekf_pack(const ekf_covariance *c, real *cells)
{
    int at = 0;
    for (int i = 0; i < EKF_STATES; ++i) {
        for (int k = i; k < EKF_STATES; ++k) cells[at++] = c->p[i][k];
    }
    VY_ASSERT(at == FILTER_CELLS);
}

VY_FN void ekf_start(const ekf_params *p, ekf_covariance *c)
{
    memset(c, 0, sizeof *c);
    for (int i = 0; i < 5; ++i) {
        c->p[3 * i][3 * i] = p->start[i].x;
        c->p[3 * i + 1][3 * i + 1] = p->start[i].y;
        c->p[3 * i + 2][3 * i + 2] = p->start[i].z;
    }
}

/// How an error moves over one IMU sample: F = I + what is here.
typedef struct ekf_jacobian {
    real t;
    mat3 velocity_attitude, velocity_accel, attitude_attitude;
} ekf_jacobian;

VY_FN vec3 ekf_vec3(const real *x, int at)
{
    VY_ASSERT(at >= 0 && at + 3 <= EKF_STATES);
    return vec3_make(x[at], x[at + 1], x[at + 2]);
}

VY_FN void ekf_set_vec3(vec3 v, real *x, int at)
{
    VY_ASSERT(at >= 0 && at + 3 <= EKF_STATES);
    x[at] = v.x;
    x[at + 1] = v.y;
    x[at + 2] = v.z;
}

/// out = F x.
VY_FN void ekf_transition(const ekf_jacobian *m, const real *x, real *out)
{
    const vec3 turn = ekf_vec3(x, EKF_ATTITUDE), accel = ekf_vec3(x, EKF_ACCEL);
    const vec3 gain =
        vec3_add(mat3_mul_vec(m->velocity_attitude, turn), mat3_mul_vec(m->velocity_accel, accel));
    const vec3 velocity = ekf_vec3(x, EKF_VELOCITY);
    const vec3 way = vec3_add_scaled(velocity, real_set(0.5), gain);
    memcpy(out, x, EKF_STATES * sizeof *out);
    ekf_set_vec3(vec3_add_scaled(ekf_vec3(x, EKF_POSITION), m->t, way), out, EKF_POSITION);
    ekf_set_vec3(vec3_add(velocity, gain), out, EKF_VELOCITY);
    ekf_set_vec3(vec3_sub(vec3_add(turn, mat3_mul_vec(m->attitude_attitude, turn)),
                          vec3_scale(m->t, ekf_vec3(x, EKF_GYRO))),
                 out, EKF_ATTITUDE);
}

VY_FN void ekf_propagate(const ekf_params *p, const ekf_jacobian *m, ekf_covariance *c)
{
    real half[EKF_STATES][EKF_STATES]; // (F P)^T, as P is symmetric
    for (int i = 0; i < EKF_STATES; ++i) ekf_transition(m, c->p[i], half[i]);
    for (int i = 0; i < EKF_STATES; ++i) {
        real row[EKF_STATES];
        for (int k = 0; k < EKF_STATES; ++k) row[k] = half[k][i];
        ekf_transition(m, row, c->p[i]);
    }
    for (int i = 0; i < EKF_STATES; ++i) {
        for (int k = 0; k < i; ++k)
            c->p[k][i] = c->p[i][k]; // keeps the matrix symmetric in spite of rounding
    }
    for (int i = 0; i < 3; ++i) {
        c->p[EKF_VELOCITY + i][EKF_VELOCITY + i] =
            c->p[EKF_VELOCITY + i][EKF_VELOCITY + i] + p->velocity_noise;
        c->p[EKF_ATTITUDE + i][EKF_ATTITUDE + i] =
            c->p[EKF_ATTITUDE + i][EKF_ATTITUDE + i] + p->attitude_noise;
        c->p[EKF_GYRO + i][EKF_GYRO + i] = c->p[EKF_GYRO + i][EKF_GYRO + i] + p->gyro_walk;
        c->p[EKF_ACCEL + i][EKF_ACCEL + i] = c->p[EKF_ACCEL + i][EKF_ACCEL + i] + p->accel_walk;
    }
}

/// Predict by an IMU sample. Rates count as changing linearly since the last one, the force as that of the
/// midpoint.
VY_FN void ekf_predict(const ekf_params *p, vec3 accel, vec3 gyro, vec3 gravity, estimator_state *s,
                       ekf_covariance *c)
{
    const real t = p->period;
    VY_ASSERT(mask_all(t > 0.0));
    const vec3 before = s->rate, rate = vec3_sub(gyro, s->gyro_bias);
    const vec3 mean = vec3_scale(real_set(0.5), vec3_add(before, rate));
    const vec3 spin = vec3_add(vec3_cross(vec3_scale(1.0 / t, vec3_sub(rate, before)), p->imu_offset),
                               vec3_cross(mean, vec3_cross(mean, p->imu_offset)));
    const vec3 force = vec3_sub(vec3_sub(accel, s->accel_bias), spin); // of the centre of mass, body
    const mat3 halfway = quat_matrix(attitude_rotated(s->attitude, vec3_scale(0.5 * t, mean)));
    const vec3 a = vec3_add(mat3_mul_vec(halfway, force), gravity);
    ekf_jacobian m;
    m.t = t;
    m.velocity_accel = halfway;
    m.velocity_attitude = mat3_mul(halfway, mat3_cross(force));
    m.attitude_attitude = mat3_cross(mean);
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            m.velocity_accel.m[i][k] = -t * m.velocity_accel.m[i][k];
            m.velocity_attitude.m[i][k] = -t * m.velocity_attitude.m[i][k];
            m.attitude_attitude.m[i][k] = -t * m.attitude_attitude.m[i][k];
        }
    }
    ekf_propagate(p, &m, c);
    s->position = vec3_add_scaled(vec3_add_scaled(s->position, t, s->velocity), 0.5 * t * t, a);
    s->velocity = vec3_add_scaled(s->velocity, t, a);
    s->attitude = attitude_rotated(s->attitude, vec3_scale(t, mean));
    s->rate = rate;
}

/// The innovation of a sample: measured less expected.
typedef struct ekf_innovation {
    real max_ratio;         // largest normalised innovation squared: chi-square of 1 for a good sensor
    real square;            // of that number itself
    real along[EKF_STATES]; // the state correction per unit of it, in proportion to the covariance
} ekf_innovation;

/// The correction by the numbers of a measurement so far; applied to the state by ekf_finish.
typedef struct ekf_correction {
    real x[EKF_STATES];
    ekf_innovation innovation;
} ekf_correction;

VY_FN ekf_correction ekf_begin(void)
{
    ekf_correction d;
    memset(&d, 0, sizeof d);
    return d;
}

/// Record the innovation of a number, given the numbers before it, of variance `s`. Fused one
/// after the other, the numbers of a sample are independent, whatever their covariance.
VY_FN void ekf_test_innovation(const real *h, real innovation, real s, const ekf_covariance *c,
                               ekf_innovation *out)
{
    const real square = innovation * innovation, ratio = square / s;
    const mask worse = ratio > out->max_ratio;
    if (!mask_any(worse)) return;
    real variance = real_set(0.0);
    for (int i = 0; i < EKF_STATES; ++i) variance = variance + c->p[i][i] * (h[i] * h[i]);
    const real inverse = 1.0 / real_select(variance > 0.0, variance, real_set(1.0));
    out->max_ratio = real_select(worse, ratio, out->max_ratio);
    out->square = real_select(worse, square, out->square);
    for (int i = 0; i < EKF_STATES; ++i)
        out->along[i] = real_select(worse, c->p[i][i] * h[i] * inverse, out->along[i]);
}

/// Inflate the covariance along a rejected measurement, by the fraction `inflation` of the squared
/// innovation.
VY_FN void ekf_inflate(const ekf_innovation *found, real inflation, ekf_covariance *c)
{
    const real more = inflation * found->square;
    for (int i = 0; i < EKF_STATES; ++i) {
        for (int k = i; k < EKF_STATES; ++k)
            c->p[i][k] = c->p[k][i] = c->p[i][k] + more * (found->along[i] * found->along[k]);
    }
}

/// One number: it is `residual` above what was expected, has the variance `noise`, by itself `sample`, and
/// moves with the error by `h`.
VY_FN void ekf_fuse_correlated(const real *h, real residual, real noise, real sample, ekf_covariance *c,
                               ekf_correction *d)
{
    real ph[EKF_STATES], s = noise, innovation = residual;
    for (int i = 0; i < EKF_STATES; ++i) {
        ph[i] = real_set(0.0);
        for (int k = 0; k < EKF_STATES; ++k) ph[i] = ph[i] + c->p[i][k] * h[k];
    }
    for (int i = 0; i < EKF_STATES; ++i) {
        s = s + h[i] * ph[i];
        innovation = innovation - h[i] * d->x[i];
    }
    ekf_test_innovation(h, innovation, s + (sample - noise), c, &d->innovation);
    const real inverse = 1.0 / s;
    for (int i = 0; i < EKF_STATES; ++i) {
        const real gain = ph[i] * inverse;
        d->x[i] = d->x[i] + gain * innovation;
        for (int k = i; k < EKF_STATES; ++k) c->p[i][k] = c->p[k][i] = c->p[i][k] - gain * ph[k];
    }
}

/// The same with white noise.
VY_FN void ekf_fuse(const real *h, real residual, real noise, ekf_covariance *c, ekf_correction *d)
{
    ekf_fuse_correlated(h, residual, noise, noise, c, d);
}

/// Apply the corrections of a measurement; returns its innovation.
VY_FN ekf_innovation ekf_finish(const ekf_correction *d, estimator_state *s)
{
    s->position = vec3_add(s->position, ekf_vec3(d->x, EKF_POSITION));
    s->velocity = vec3_add(s->velocity, ekf_vec3(d->x, EKF_VELOCITY));
    s->attitude = attitude_rotated(s->attitude, ekf_vec3(d->x, EKF_ATTITUDE));
    s->rate = vec3_sub(s->rate, ekf_vec3(d->x, EKF_GYRO));
    s->gyro_bias = vec3_add(s->gyro_bias, ekf_vec3(d->x, EKF_GYRO));
    s->accel_bias = vec3_add(s->accel_bias, ekf_vec3(d->x, EKF_ACCEL));
    return d->innovation;
}

VY_FN real vec3_at(vec3 v, int i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }

/// Row `i` of minus R [v]x: how component `i` of R v changes with the attitude error.
VY_FN vec3 ekf_attitude_row(mat3 rotation, vec3 v, int i)
{
    const mat3 m = mat3_mul(rotation, mat3_cross(v));
    return vec3_make(-m.m[i][0], -m.m[i][1], -m.m[i][2]);
}

VY_FN ekf_innovation ekf_mocap(const ekf_params *p, vec3 position, quat attitude, estimator_state *s,
                               ekf_covariance *c)
{
    ekf_correction d = ekf_begin();
    const vec3 residual = vec3_sub(position, s->position);
    const quat q = quat_mul(quat_conj(s->attitude), attitude);
    const real two = real_copysign(real_set(2.0), q.w); // the shorter way round
    const vec3 turn = vec3_make(two * q.x, two * q.y, two * q.z);
    for (int i = 0; i < 3; ++i) {
        real h[EKF_STATES] = {0};
        h[EKF_POSITION + i] = real_set(1.0);
        ekf_fuse(h, vec3_at(residual, i), p->mocap_position, c, &d);
        h[EKF_POSITION + i] = real_set(0.0);
        h[EKF_ATTITUDE + i] = real_set(1.0);
        ekf_fuse(h, vec3_at(turn, i), p->mocap_attitude, c, &d);
    }
    return ekf_finish(&d, s);
}

/// The antenna was at p + R a - delay v.
VY_FN ekf_innovation ekf_gps(const ekf_params *p, vec3 position, vec3 velocity, estimator_state *s,
                             ekf_covariance *c)
{
    ekf_correction d = ekf_begin();
    const mat3 rotation = quat_matrix(s->attitude);
    const vec3 swing = vec3_cross(s->rate, p->gps_offset);
    const vec3 v = vec3_add(s->velocity, mat3_mul_vec(rotation, swing));
    const vec3 at = vec3_add(s->position, mat3_mul_vec(rotation, p->gps_offset));
    const vec3 position_residual = vec3_sub(position, vec3_add_scaled(at, -p->gps_delay, v));
    const vec3 velocity_residual = vec3_sub(velocity, v);
    const mat3 lever = mat3_mul(rotation, mat3_cross(p->gps_offset));
    for (int i = 0; i < 3; ++i) {
        real h[EKF_STATES] = {0};
        h[EKF_POSITION + i] = real_set(1.0);
        h[EKF_VELOCITY + i] = -p->gps_delay;
        ekf_set_vec3(ekf_attitude_row(rotation, p->gps_offset, i), h, EKF_ATTITUDE);
        ekf_fuse_correlated(h, vec3_at(position_residual, i), vec3_at(p->gps_position, i),
                            vec3_at(p->gps_sample, i), c, &d);
        memset(h, 0, sizeof h);
        h[EKF_VELOCITY + i] = real_set(1.0);
        ekf_set_vec3(ekf_attitude_row(rotation, swing, i), h, EKF_ATTITUDE);
        ekf_set_vec3(vec3_make(lever.m[i][0], lever.m[i][1], lever.m[i][2]), h, EKF_GYRO);
        ekf_fuse(h, vec3_at(velocity_residual, i), p->gps_velocity, c, &d);
    }
    return ekf_finish(&d, s);
}

/// A height above z = 0.
VY_FN ekf_innovation ekf_height(const ekf_params *p, real height, estimator_state *s, ekf_covariance *c)
{
    ekf_correction d = ekf_begin();
    real h[EKF_STATES] = {0};
    h[EKF_POSITION + 2] = real_set(1.0);
    ekf_fuse_correlated(h, height - s->position.z, p->baro, p->baro_sample, c, &d);
    return ekf_finish(&d, s);
}

/// The field in body axes, R^T m, changes with the attitude error by [R^T m]x.
VY_FN ekf_innovation ekf_mag(const ekf_params *p, vec3 field, estimator_state *s, ekf_covariance *c)
{
    ekf_correction d = ekf_begin();
    const vec3 expected = quat_unrotate(s->attitude, p->field);
    const vec3 residual = vec3_sub(vec3_scale(p->field_unit, field), expected);
    const mat3 cross = mat3_cross(expected);
    for (int i = 0; i < 3; ++i) {
        real h[EKF_STATES] = {0};
        ekf_set_vec3(vec3_make(cross.m[i][0], cross.m[i][1], cross.m[i][2]), h, EKF_ATTITUDE);
        ekf_fuse(h, vec3_at(residual, i), p->mag, c, &d);
    }
    return ekf_finish(&d, s);
}

/// Distance to the ground `rise` below z = 0 along `along` (body) from `at` (body), and its derivatives by
/// height and attitude error. 0: the ray does not point down, or starts below.
VY_FN real ekf_distance(const estimator_state *s, mat3 rotation, vec3 at, vec3 along, real rise,
                        real *d_height, vec3 *d_attitude)
{
    const real height = (s->position.z + rise) + mat3_mul_vec(rotation, at).z;
    const real slope = mat3_mul_vec(rotation, along).z;
    const mask looks = (slope < -0.1) & (height > 0.01);
    const real inverse = 1.0 / real_select(looks, slope, real_set(-1.0));
    *d_height = -inverse;
    *d_attitude = vec3_sub(vec3_scale(height * inverse * inverse, ekf_attitude_row(rotation, along, 2)),
                           vec3_scale(inverse, ekf_attitude_row(rotation, at, 2)));
    return real_select(looks, -height * inverse, real_set(0.0));
}

VY_FN ekf_innovation ekf_range(const ekf_params *p, real distance, real rise, estimator_state *s,
                               ekf_covariance *c)
{
    real h[EKF_STATES] = {0};
    vec3 d_attitude;
    const mat3 rotation = quat_matrix(s->attitude);
    const real expected = ekf_distance(s, rotation, p->range_offset, p->range_direction, rise,
                                       &h[EKF_POSITION + 2], &d_attitude);
    ekf_correction d = ekf_begin();
    if (!mask_any((expected > 0.0) & (distance > 0.0))) return d.innovation;
    ekf_set_vec3(d_attitude, h, EKF_ATTITUDE);
    const real variance = p->range + p->range_noise_ratio * expected * expected;
    ekf_fuse(h, distance - expected, variance, c, &d);
    return ekf_finish(&d, s);
}

/// x = w_y - v_x / d, y = -w_x - v_y / d, with the camera's velocity v = R^T v + w x a in body axes.
VY_FN ekf_innovation ekf_flow(const ekf_params *p, real x, real y, real rise, estimator_state *s,
                              ekf_covariance *c)
{
    const mat3 rotation = quat_matrix(s->attitude);
    real d_height;
    vec3 d_attitude;
    const vec3 down = vec3_make(real_set(0.0), real_set(0.0), real_set(-1.0));
    const real distance = ekf_distance(s, rotation, p->flow_offset, down, rise, &d_height, &d_attitude);
    ekf_correction d = ekf_begin();
    if (!mask_any(distance > 0.0)) return d.innovation;
    const vec3 body = mat3_tmul_vec(rotation, s->velocity);
    const vec3 v = vec3_add(body, vec3_cross(s->rate, p->flow_offset));
    const mat3 cross = mat3_cross(body), lever = mat3_cross(p->flow_offset);
    const real inverse = 1.0 / distance;
    for (int i = 0; i < 2; ++i) {
        real h[EKF_STATES] = {0};
        const real speed = vec3_at(v, i), closer = speed * inverse * inverse;
        h[EKF_POSITION + 2] = closer * d_height;
        ekf_set_vec3(vec3_scale(-inverse, vec3_make(rotation.m[0][i], rotation.m[1][i], rotation.m[2][i])), h,
                     EKF_VELOCITY);
        const vec3 seen = vec3_make(cross.m[i][0], cross.m[i][1], cross.m[i][2]);
        ekf_set_vec3(vec3_sub(vec3_scale(closer, d_attitude), vec3_scale(inverse, seen)), h, EKF_ATTITUDE);
        // The rate is the gyroscope's less the bias: w x a moves with the bias by [a]x.
        ekf_set_vec3(vec3_scale(-inverse, vec3_make(lever.m[i][0], lever.m[i][1], lever.m[i][2])), h,
                     EKF_GYRO);
        const real rate = i == 0 ? s->rate.y : -s->rate.x;
        h[EKF_GYRO + (i == 0 ? 1 : 0)] = h[EKF_GYRO + (i == 0 ? 1 : 0)] + (i == 0 ? -1.0 : 1.0);
        ekf_fuse(h, (i == 0 ? x : y) - (rate - speed * inverse), p->flow, c, &d);
    }
    return ekf_finish(&d, s);
}
