// ekf.h - an error-state Kalman filter over `real`: position, velocity, attitude, and what the sensors are
// off by.
//
// The nominal state is an estimator_state, moved by the IMU, and what a kalman_block has beside it. Its error
// has 49 parts, in this order: position and velocity in world axes, attitude as a small rotation vector in
// body axes (true = estimate rotated by it), bias of gyroscope and accelerometer, hard iron, bias of the
// barometer, wander of the GPS, scale and alignment of gyroscope, accelerometer and
// magnetometer, row by row. Measurements come one number at a time, so nothing is
// inverted (J. Sola, Quaternion kinematics for the error-state Kalman filter, arXiv:1711.02508, 2017, with
// the local error).
#pragma once
#include "base/assert.h"
#include "estimators/align.h"

enum {
    EKF_POSITION = 0,
    EKF_VELOCITY = 3,
    EKF_ATTITUDE = 6,
    EKF_NAVIGATION_STATES = 9, // from here on errors stand still, but for their noise
    EKF_GYRO_BIAS = 9,
    EKF_ACCEL_BIAS = 12,
    EKF_MAG_BIAS = 15,
    EKF_BARO_BIAS = 18,
    EKF_GPS_WANDER = 19,
    EKF_GYRO_DISTORTION = 22,
    EKF_ACCEL_DISTORTION = 31,
    EKF_MAG_DISTORTION = 40,
    EKF_STATES = 49
};
_Static_assert((int)KALMAN_STATES == (int)EKF_STATES, "a kalman_block holds one covariance");

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

/// The innovation gate of each sensor, by vy_aid_source.
typedef struct ekf_gate {
    real square; // largest normalised innovation that is accepted, squared; 0: no gate
    real inflation[VY_AID_SOURCE_COUNT]; // of the covariance by each rejected sample, after timeout_ticks
    bits timeout_ticks;                  // [steps] of rejections in a row before that
} ekf_gate;

/// Parameters of the sensors. Variances; those of sensors that a drone lacks are not read.
typedef struct ekf_params {
    real period;                           // [s] of the IMU
    vec3 gravity;                          // [m/s^2] world
    vec3 imu_offset;                       // [m] where the IMU is, body
    real attitude_noise, velocity_noise;   // [rad^2], [m^2/s^2] added per IMU sample
    real gyro_walk, accel_walk, baro_walk; // what the biases gain per IMU sample, by walking at random
    real wander_decay;                     // share of the GPS wander that is left after an IMU sample
    vec3 wander_noise;                     // [m^2] added per IMU sample
    real mocap_position_variance, mocap_attitude_variance; // [m^2], [rad^2]
    vec3 gps_position_variance;                            // [m^2]
    real gps_velocity_variance, gps_delay;                 // the latter in [s]
    real gps_delay_stiffness, gps_delay_damping;           // of ekf_update_mean_acceleration()
    vec3 gps_offset;                                       // [m] body
    real baro_variance;                                    // [m^2] of its height
    vec3 field;                                            // of the world, in units of its own length
    real field_unit, mag_variance;                         // [1/T]; in units of its length, squared
    real range_variance, range_noise_ratio;                // [m^2], [1]
    vec3 range_offset, range_direction;                    // [m] and unit, body
    real flow_variance;                                    // [rad^2/s^2]
    vec3 flow_offset;                                      // [m] body
    real start[EKF_STATES];                                // variances of the start
    align_params align;
    ekf_gate gate;
} ekf_params;

/// Where the covariance of parts `i` and `k` is in the upper triangle, row by row.
VY_FN int ekf_covariance_index(int i, int k)
{
    const int row = i <= k ? i : k, column = i <= k ? k : i;
    return row * EKF_STATES - row * (row + 1) / 2 + column;
}

VY_FN void ekf_start(const ekf_params *p, real *cells)
{
    memset(cells, 0, KALMAN_CELLS * sizeof *cells);
    for (int i = 0; i < EKF_STATES; ++i) cells[ekf_covariance_index(i, i)] = p->start[i];
}

/// How an error moves over one IMU sample: F = I + what is here.
typedef struct ekf_jacobian {
    real period;                                               // [s] of the IMU
    vec3 rate, force;                                          // [rad/s], [m/s^2] body
    mat3 velocity_attitude, velocity_accel, attitude_attitude; // blocks: row_column
} ekf_jacobian;

VY_FN vec3 ekf_vec3(const real *x, int first)
{
    VY_ASSERT(first >= 0 && first + 3 <= EKF_STATES);
    return vec3_make(x[first], x[first + 1], x[first + 2]);
}

VY_FN void ekf_set_vec3(vec3 v, real *x, int first)
{
    VY_ASSERT(first >= 0 && first + 3 <= EKF_STATES);
    x[first] = v.x;
    x[first + 1] = v.y;
    x[first + 2] = v.z;
}

/// The vertical in body axes.
VY_FN vec3 ekf_up(const estimator_state *estimate)
{
    return quat_unrotate(estimate->attitude, vec3_make(real_set(0.0), real_set(0.0), real_set(1.0)));
}

/// A 3 x 3 part, row by row, times v.
VY_FN vec3 ekf_distorted(const real *distortion, vec3 v)
{
    return vec3_make((distortion[0] * v.x + distortion[1] * v.y) + distortion[2] * v.z,
                     (distortion[3] * v.x + distortion[4] * v.y) + distortion[5] * v.z,
                     (distortion[6] * v.x + distortion[7] * v.y) + distortion[8] * v.z);
}

/// The parts of F x that move.
VY_FN void ekf_transition(const ekf_jacobian *jacobian, const real *x, real *out)
{
    const vec3 rotation = ekf_vec3(x, EKF_ATTITUDE);
    const vec3 accel =
        vec3_add(ekf_vec3(x, EKF_ACCEL_BIAS), ekf_distorted(x + EKF_ACCEL_DISTORTION, jacobian->force));
    const vec3 velocity_change = vec3_add(mat3_mul_vec(jacobian->velocity_attitude, rotation),
                                          mat3_mul_vec(jacobian->velocity_accel, accel));
    const vec3 velocity = ekf_vec3(x, EKF_VELOCITY);
    const vec3 mean_velocity = vec3_add_scaled(velocity, real_set(0.5), velocity_change);
    const vec3 rate =
        vec3_add(ekf_vec3(x, EKF_GYRO_BIAS), ekf_distorted(x + EKF_GYRO_DISTORTION, jacobian->rate));
    ekf_set_vec3(vec3_add_scaled(ekf_vec3(x, EKF_POSITION), jacobian->period, mean_velocity), out,
                 EKF_POSITION);
    ekf_set_vec3(vec3_add(velocity, velocity_change), out, EKF_VELOCITY);
    ekf_set_vec3(vec3_sub(vec3_add(rotation, mat3_mul_vec(jacobian->attitude_attitude, rotation)),
                          vec3_scale(jacobian->period, rate)),
                 out, EKF_ATTITUDE);
}

/// The wander of the GPS decays.
VY_FN void ekf_decay_wander(real decay, real *cells)
{
    for (int i = EKF_GPS_WANDER; i < EKF_GPS_WANDER + 3; ++i) {
        for (int k = 0; k < EKF_STATES; ++k)
            cells[ekf_covariance_index(i, k)] = decay * cells[ekf_covariance_index(i, k)];
        cells[ekf_covariance_index(i, i)] = decay * cells[ekf_covariance_index(i, i)];
    }
}

VY_FN void ekf_add_noise(real variance, int part, real *cells)
{
    cells[ekf_covariance_index(part, part)] = cells[ekf_covariance_index(part, part)] + variance;
}

VY_FN void ekf_propagate(const ekf_params *p, const ekf_jacobian *jacobian, real *cells)
{
    real moved[EKF_NAVIGATION_STATES][EKF_STATES], x[EKF_STATES], out[EKF_NAVIGATION_STATES];
    memset(x, 0, sizeof x);
    for (int k = 0; k < EKF_STATES; ++k) {
        for (int i = 0; i < EKF_MAG_BIAS; ++i) x[i] = cells[ekf_covariance_index(i, k)];
        for (int i = EKF_GYRO_DISTORTION; i < EKF_MAG_DISTORTION; ++i)
            x[i] = cells[ekf_covariance_index(i, k)];
        ekf_transition(jacobian, x, out);
        for (int i = 0; i < EKF_NAVIGATION_STATES; ++i) moved[i][k] = out[i];
    }
    for (int i = 0; i < EKF_NAVIGATION_STATES; ++i) {
        ekf_transition(jacobian, moved[i], out);
        for (int k = i; k < EKF_NAVIGATION_STATES; ++k) cells[ekf_covariance_index(i, k)] = out[k];
        for (int k = EKF_NAVIGATION_STATES; k < EKF_STATES; ++k)
            cells[ekf_covariance_index(i, k)] = moved[i][k];
    }
    ekf_decay_wander(p->wander_decay, cells);
    for (int i = 0; i < 3; ++i) {
        ekf_add_noise(p->velocity_noise, EKF_VELOCITY + i, cells);
        ekf_add_noise(p->attitude_noise, EKF_ATTITUDE + i, cells);
        ekf_add_noise(p->gyro_walk, EKF_GYRO_BIAS + i, cells);
        ekf_add_noise(p->accel_walk, EKF_ACCEL_BIAS + i, cells);
    }
    ekf_add_noise(p->baro_walk, EKF_BARO_BIAS, cells);
    ekf_add_noise(p->wander_noise.x, EKF_GPS_WANDER, cells);
    ekf_add_noise(p->wander_noise.y, EKF_GPS_WANDER + 1, cells);
    ekf_add_noise(p->wander_noise.z, EKF_GPS_WANDER + 2, cells);
}

/// The mean of an acceleration over the delay d of fixes, by the Pade approximant 1 / (1 + ds/2 + (ds)^2/12)
/// of (1 - e^(-ds)) / (ds), which is right to the third order, integrated by the trapezoidal rule: with k =
/// 12 / d^2, gps_delay_stiffness = T k and gps_delay_damping = T k d / 4 + T^2 k / 4.
VY_FN void ekf_update_mean_acceleration(const ekf_params *p, vec3 acceleration, kalman_block *kalman)
{
    const vec3 previous_jerk = kalman->jerk;
    const vec3 damped = vec3_scale(1.0 - p->gps_delay_damping, previous_jerk);
    const vec3 driven =
        vec3_add_scaled(damped, p->gps_delay_stiffness, vec3_sub(acceleration, kalman->acceleration));
    kalman->jerk = vec3_scale(1.0 / (1.0 + p->gps_delay_damping), driven);
    kalman->acceleration =
        vec3_add_scaled(kalman->acceleration, 0.5 * p->period, vec3_add(previous_jerk, kalman->jerk));
}

/// Predict by an IMU sample. Rates count as changing linearly since the last one, the force as that of the
/// midpoint.
VY_FN void ekf_predict(const ekf_params *p, vec3 accel, vec3 gyro, vec3 gravity, estimator_state *estimate,
                       kalman_block *kalman)
{
    const real period = p->period;
    VY_ASSERT(mask_all(period > 0.0));
    const vec3 gyro_unbiased = vec3_sub(gyro, estimate->gyro_bias);
    const vec3 previous_rate = estimate->rate,
               rate = vec3_sub(gyro_unbiased, ekf_distorted(kalman->gyro_distortion, gyro_unbiased));
    const vec3 mean_rate = vec3_scale(real_set(0.5), vec3_add(previous_rate, rate));
    const vec3 lever_acceleration =
        vec3_add(vec3_cross(vec3_scale(1.0 / period, vec3_sub(rate, previous_rate)), p->imu_offset),
                 vec3_cross(mean_rate, vec3_cross(mean_rate, p->imu_offset)));
    const vec3 accel_unbiased = vec3_sub(accel, estimate->accel_bias);
    const vec3 force =
        vec3_sub(vec3_sub(accel_unbiased, ekf_distorted(kalman->accel_distortion, accel_unbiased)),
                 lever_acceleration); // of the centre of mass
    const mat3 mid_rotation =
        quat_matrix(quat_apply_small_rotation(estimate->attitude, vec3_scale(0.5 * period, mean_rate)));
    const vec3 acceleration = vec3_add(mat3_mul_vec(mid_rotation, force), gravity);
    ekf_jacobian jacobian;
    jacobian.period = period;
    jacobian.rate = mean_rate;
    jacobian.force = force;
    jacobian.velocity_accel = mid_rotation;
    jacobian.velocity_attitude = mat3_mul(mid_rotation, mat3_cross(force));
    jacobian.attitude_attitude = mat3_cross(mean_rate);
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            jacobian.velocity_accel.m[i][k] = -period * jacobian.velocity_accel.m[i][k];
            jacobian.velocity_attitude.m[i][k] = -period * jacobian.velocity_attitude.m[i][k];
            jacobian.attitude_attitude.m[i][k] = -period * jacobian.attitude_attitude.m[i][k];
        }
    }
    ekf_propagate(p, &jacobian, kalman->covariance);
    estimate->position = vec3_add_scaled(vec3_add_scaled(estimate->position, period, estimate->velocity),
                                         0.5 * period * period, acceleration);
    estimate->velocity = vec3_add_scaled(estimate->velocity, period, acceleration);
    estimate->attitude = quat_apply_small_rotation(estimate->attitude, vec3_scale(period, mean_rate));
    estimate->rate = rate;
    if (mask_any(p->gps_delay > 0.0)) ekf_update_mean_acceleration(p, acceleration, kalman);
    kalman->gps_wander = vec3_scale(p->wander_decay, kalman->gps_wander);
}

/// The innovation of a sample: measured less expected.
typedef struct ekf_innovation {
    real sum;                             // of the normalised innovations squared
    real max_ratio;                       // the largest of them: chi-square of 1 for a good sensor
    real square;                          // the innovation squared of that number, not normalised
    real inflation_direction[EKF_STATES]; // the state correction per unit of it, in proportion to the
                                          // covariance
} ekf_innovation;

/// The correction by the numbers of a measurement so far; applied to the state by ekf_apply_correction().
typedef struct ekf_correction {
    real x[EKF_STATES]; // of each part of the error
    ekf_innovation innovation;
} ekf_correction;

VY_FN ekf_correction ekf_begin(void)
{
    ekf_correction correction;
    memset(&correction, 0, sizeof correction);
    return correction;
}

/// Record the innovation of a number, given the numbers before it, of variance `variance`. Fused one
/// after the other, the numbers of a sample are independent, whatever their covariance.
VY_FN void ekf_test_innovation(const real *h, real innovation, real variance, const real *cells,
                               ekf_innovation *out)
{
    const real square = innovation * innovation, ratio = square / variance;
    const mask is_worse = ratio > out->max_ratio;
    out->sum = out->sum + ratio;
    if (!mask_any(is_worse)) return;
    real prior_variance = real_set(0.0);
    for (int i = 0; i < EKF_STATES; ++i)
        prior_variance = prior_variance + cells[ekf_covariance_index(i, i)] * (h[i] * h[i]);
    const real inverse = 1.0 / real_select(prior_variance > 0.0, prior_variance, real_set(1.0));
    out->max_ratio = real_select(is_worse, ratio, out->max_ratio);
    out->square = real_select(is_worse, square, out->square);
    for (int i = 0; i < EKF_STATES; ++i)
        out->inflation_direction[i] = real_select(
            is_worse, cells[ekf_covariance_index(i, i)] * h[i] * inverse, out->inflation_direction[i]);
}

/// Inflate the covariance along a rejected measurement, by the fraction `inflation` of the squared
/// innovation.
VY_FN void ekf_inflate(const ekf_innovation *innovation, real inflation, real *cells)
{
    const real increase = inflation * innovation->square;
    for (int i = 0; i < EKF_STATES; ++i) {
        for (int k = i; k < EKF_STATES; ++k)
            cells[ekf_covariance_index(i, k)] =
                cells[ekf_covariance_index(i, k)] +
                increase * (innovation->inflation_direction[i] * innovation->inflation_direction[k]);
    }
}

/// Forget what is known of a part: it has the variance `variance`, and nothing in common with others.
VY_FN void ekf_uncorrelate(int part, real variance, real *cells)
{
    for (int k = 0; k < EKF_STATES; ++k) cells[ekf_covariance_index(part, k)] = real_set(0.0);
    cells[ekf_covariance_index(part, part)] = variance;
}

/// P h; returns h P h.
VY_FN real ekf_innovation_variance(const real *h, const real *cells, real *ph)
{
    real variance = real_set(0.0);
    for (int i = 0; i < EKF_STATES; ++i) ph[i] = real_set(0.0);
    for (int k = 0; k < EKF_STATES; ++k) {
        if (!mask_any((h[k] > 0.0) | (h[k] < 0.0))) continue;
        for (int i = 0; i < EKF_STATES; ++i) ph[i] = ph[i] + cells[ekf_covariance_index(i, k)] * h[k];
    }
    for (int i = 0; i < EKF_STATES; ++i) variance = variance + h[i] * ph[i];
    return variance;
}

/// One number: it is `residual` above what was expected, has the variance `noise`, and moves with the error
/// by `h`.
VY_FN void ekf_fuse(const real *h, real residual, real noise, real *cells, ekf_correction *correction)
{
    real ph[EKF_STATES], innovation = residual;
    const real variance = noise + ekf_innovation_variance(h, cells, ph);
    for (int i = 0; i < EKF_STATES; ++i) innovation = innovation - h[i] * correction->x[i];
    ekf_test_innovation(h, innovation, variance, cells, &correction->innovation);
    const real inverse = 1.0 / variance;
    real *cell = cells;
    for (int i = 0; i < EKF_STATES; ++i) {
        const real gain = ph[i] * inverse;
        correction->x[i] = correction->x[i] + gain * innovation;
        for (int k = i; k < EKF_STATES; ++k, ++cell) *cell = *cell - gain * ph[k];
    }
}

VY_FN real vec3_at(vec3 v, int i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }

VY_FN vec3 mat3_row(mat3 m, int i) { return vec3_make(m.m[i][0], m.m[i][1], m.m[i][2]); }

/// What an instrument is expected to read of a vector that is the same everywhere in the world, and how that
/// changes with the attitude error. The magnetometer reads (I + D) u + b of the field u = R^T m, by (I + D)
/// [u]x; the accelerometer u + d u_z + b of the force u = -R^T g that holds a drone against gravity.
typedef struct ekf_reading {
    vec3 u;                 // the vector in body axes
    vec3 value;             // what is read
    mat3 attitude_jacobian; // how `value` changes with the attitude error
} ekf_reading;

/// `distortion` is a 3 x 3 part, row by row.
VY_FN ekf_reading ekf_reading_of(const estimator_state *estimate, vec3 vector, const real *distortion,
                                 vec3 bias)
{
    ekf_reading out;
    out.u = quat_unrotate(estimate->attitude, vector);
    out.value = vec3_add(vec3_add(out.u, ekf_distorted(distortion, out.u)), bias);
    out.attitude_jacobian = mat3_cross(out.u);
    for (int k = 0; k < 3; ++k) {
        const vec3 distorted_column =
            ekf_distorted(distortion, vec3_make(out.attitude_jacobian.m[0][k], out.attitude_jacobian.m[1][k],
                                                out.attitude_jacobian.m[2][k]));
        for (int i = 0; i < 3; ++i)
            out.attitude_jacobian.m[i][k] = out.attitude_jacobian.m[i][k] + vec3_at(distorted_column, i);
    }
    return out;
}

VY_FN ekf_reading ekf_field_reading(const ekf_params *p, const estimator_state *estimate,
                                    const kalman_block *kalman)
{
    return ekf_reading_of(estimate, p->field, kalman->mag_distortion, kalman->mag_bias);
}

VY_FN ekf_reading ekf_force_reading(const ekf_params *p, const estimator_state *estimate,
                                    const kalman_block *kalman)
{
    return ekf_reading_of(estimate, vec3_neg(p->gravity), kalman->accel_distortion, estimate->accel_bias);
}

/// Where in the error an instrument's bias and D are.
typedef struct ekf_instrument {
    int bias, distortion; // index of their first part
} ekf_instrument;

static const ekf_instrument ekf_accelerometer = {EKF_ACCEL_BIAS, EKF_ACCEL_DISTORTION};
static const ekf_instrument ekf_magnetometer = {EKF_MAG_BIAS, EKF_MAG_DISTORTION};

/// Number `i` of a bias plus what attitude and D add to it: `attitude_row` is how it changes with attitude,
/// `u` with row `i` of D.
VY_FN real ekf_reading_row(const ekf_instrument *instrument, int i, vec3 attitude_row, vec3 u, const real *x)
{
    const vec3 d = ekf_vec3(x, instrument->distortion + 3 * i);
    return (x[instrument->bias + i] + vec3_dot(attitude_row, ekf_vec3(x, EKF_ATTITUDE))) + vec3_dot(u, d);
}

/// After the correction `x`: what is added to a bias so that the reading is the one that was corrected
/// linearly; and the covariance of the bias to match.
///
/// On the ground a drone knows what its instruments read, not what they are off by: a heading is 15 degrees
/// off by hard iron, a tilt one by the accelerometer's bias. Attitude and bias lie on an arc, at every point
/// of which the reading is the same. Corrections and a covariance along the tangent of where the filter stood
/// before would make it sure of what nobody has measured. So a bias follows from reading and attitude, b' = b
/// + (H_before - H_now) (attitude, D).
VY_FN vec3 ekf_relinearise_bias(const ekf_reading *before, const ekf_reading *now,
                                const ekf_instrument *instrument, const real *x, real *cells)
{
    real rows[3][EKF_STATES], column[EKF_STATES], expected[3];
    vec3 attitude_changes[3];
    const vec3 u_change = vec3_sub(before->u, now->u);
    for (int i = 0; i < 3; ++i) {
        attitude_changes[i] =
            vec3_sub(mat3_row(before->attitude_jacobian, i), mat3_row(now->attitude_jacobian, i));
        expected[i] = ekf_reading_row(instrument, i, mat3_row(before->attitude_jacobian, i), before->u, x);
    }
    for (int k = 0; k < EKF_STATES; ++k) {
        for (int i = 0; i < EKF_STATES; ++i) column[i] = cells[ekf_covariance_index(i, k)];
        for (int i = 0; i < 3; ++i)
            rows[i][k] = ekf_reading_row(instrument, i, attitude_changes[i], u_change, column);
    }
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < EKF_STATES; ++k) {
            const int axis = k - instrument->bias;
            if (axis < 0 || axis > 2)
                cells[ekf_covariance_index(instrument->bias + i, k)] = rows[i][k];
            else
                cells[ekf_covariance_index(instrument->bias + i, k)] =
                    ekf_reading_row(instrument, axis, attitude_changes[axis], u_change, rows[i]);
        }
    }
    const vec3 change = vec3_make(expected[0], expected[1], expected[2]);
    return vec3_sub(vec3_add(before->value, change), now->value);
}

/// Rows `first` of the covariance, and the columns, times `m`.
VY_FN void ekf_rotate_covariance(mat3 m, int first, real *cells)
{
    real rows[3][EKF_STATES];
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < EKF_STATES; ++k) {
            real sum = real_set(0.0);
            for (int n = 0; n < 3; ++n) sum = sum + m.m[i][n] * cells[ekf_covariance_index(first + n, k)];
            rows[i][k] = sum;
        }
    }
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < EKF_STATES; ++k) {
            if (k < first || k >= first + 3) cells[ekf_covariance_index(first + i, k)] = rows[i][k];
        }
        for (int k = i; k < 3; ++k) {
            real sum = real_set(0.0);
            for (int n = 0; n < 3; ++n) sum = sum + rows[i][first + n] * m.m[k][n];
            cells[ekf_covariance_index(first + i, first + k)] = sum;
        }
    }
}

/// An attitude error where the vertical has moved in body axes from `before` to `now`: its heading is one
/// about the new vertical.
VY_FN mat3 ekf_same_heading(vec3 before, vec3 now)
{
    const vec3 moved = vec3_sub(now, before);
    mat3 m;
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k)
            m.m[i][k] = vec3_at(moved, i) * vec3_at(before, k) + real_set(i == k ? 1.0 : 0.0);
    }
    return m;
}

/// Apply the corrections of a measurement; returns its innovation. The heading is turned about the vertical,
/// so that no correction of a heading, however large, tilts.
VY_FN ekf_innovation ekf_apply_correction(const ekf_params *p, const ekf_correction *correction,
                                          estimator_state *estimate, kalman_block *kalman)
{
    const ekf_reading field = ekf_field_reading(p, estimate, kalman),
                      force = ekf_force_reading(p, estimate, kalman);
    const vec3 rate = vec3_add(ekf_vec3(correction->x, EKF_GYRO_BIAS),
                               ekf_distorted(correction->x + EKF_GYRO_DISTORTION, estimate->rate));
    estimate->position = vec3_add(estimate->position, ekf_vec3(correction->x, EKF_POSITION));
    estimate->velocity = vec3_add(estimate->velocity, ekf_vec3(correction->x, EKF_VELOCITY));
    const vec3 up = ekf_up(estimate), rotation = ekf_vec3(correction->x, EKF_ATTITUDE);
    const vec3 heading = vec3_scale(vec3_dot(rotation, up), up);
    estimate->attitude = quat_apply_small_rotation(quat_apply_small_rotation(estimate->attitude, heading),
                                                   vec3_sub(rotation, heading));
    estimate->rate = vec3_sub(estimate->rate, rate);
    estimate->gyro_bias = vec3_add(estimate->gyro_bias, ekf_vec3(correction->x, EKF_GYRO_BIAS));
    estimate->accel_bias = vec3_add(estimate->accel_bias, ekf_vec3(correction->x, EKF_ACCEL_BIAS));
    kalman->mag_bias = vec3_add(kalman->mag_bias, ekf_vec3(correction->x, EKF_MAG_BIAS));
    kalman->baro_offset = kalman->baro_offset + correction->x[EKF_BARO_BIAS];
    kalman->gps_wander = vec3_add(kalman->gps_wander, ekf_vec3(correction->x, EKF_GPS_WANDER));
    for (int i = 0; i < 9; ++i) {
        kalman->gyro_distortion[i] = kalman->gyro_distortion[i] + correction->x[EKF_GYRO_DISTORTION + i];
        kalman->accel_distortion[i] = kalman->accel_distortion[i] + correction->x[EKF_ACCEL_DISTORTION + i];
        kalman->mag_distortion[i] = kalman->mag_distortion[i] + correction->x[EKF_MAG_DISTORTION + i];
    }
    ekf_reading field_now = ekf_field_reading(p, estimate, kalman),
                force_now = ekf_force_reading(p, estimate, kalman);
    const mat3 same_heading = ekf_same_heading(up, ekf_up(estimate));
    field_now.attitude_jacobian = mat3_mul(field_now.attitude_jacobian, same_heading);
    force_now.attitude_jacobian = mat3_mul(force_now.attitude_jacobian, same_heading);
    estimate->accel_bias =
        vec3_add(estimate->accel_bias, ekf_relinearise_bias(&force, &force_now, &ekf_accelerometer,
                                                            correction->x, kalman->covariance));
    if (mask_any(p->field_unit > 0.0))
        kalman->mag_bias =
            vec3_add(kalman->mag_bias, ekf_relinearise_bias(&field, &field_now, &ekf_magnetometer,
                                                            correction->x, kalman->covariance));
    ekf_rotate_covariance(same_heading, EKF_ATTITUDE, kalman->covariance);
    return correction->innovation;
}

/// Row `i` of minus R [v]x: how component `i` of R v changes with the attitude error.
VY_FN vec3 ekf_attitude_row(mat3 rotation, vec3 v, int i)
{
    return vec3_neg(mat3_row(mat3_mul(rotation, mat3_cross(v)), i));
}

VY_FN ekf_innovation ekf_mocap(const ekf_params *p, vec3 position, quat attitude, estimator_state *estimate,
                               kalman_block *kalman)
{
    ekf_correction correction = ekf_begin();
    const vec3 residual = vec3_sub(position, estimate->position);
    const quat attitude_error = quat_mul(quat_conj(estimate->attitude), attitude);
    const real twice = real_copysign(real_set(2.0), attitude_error.w); // the shorter way round
    const vec3 rotation =
        vec3_make(twice * attitude_error.x, twice * attitude_error.y, twice * attitude_error.z);
    for (int i = 0; i < 3; ++i) {
        real h[EKF_STATES] = {0};
        h[EKF_POSITION + i] = real_set(1.0);
        ekf_fuse(h, vec3_at(residual, i), p->mocap_position_variance, kalman->covariance, &correction);
        h[EKF_POSITION + i] = real_set(0.0);
        h[EKF_ATTITUDE + i] = real_set(1.0);
        ekf_fuse(h, vec3_at(rotation, i), p->mocap_attitude_variance, kalman->covariance, &correction);
    }
    return ekf_apply_correction(p, &correction, estimate, kalman);
}

/// h of `scale` times `axis_row` (D force), D that of the accelerometer.
VY_FN void ekf_set_distortion(real scale, vec3 axis_row, vec3 force, real *h)
{
    for (int i = 0; i < 3; ++i)
        ekf_set_vec3(vec3_scale(scale * vec3_at(axis_row, i), force), h, EKF_ACCEL_DISTORTION + 3 * i);
}

/// The fix is `delay` old: the antenna had the velocity u = v + R (w x a) - delay A, with the mean
/// acceleration A since then, and was at p + R a - delay v + delay^2 A / 2. The position is off by the
/// wander.
VY_FN ekf_innovation ekf_gps(const ekf_params *p, vec3 position, vec3 velocity, estimator_state *estimate,
                             kalman_block *kalman)
{
    ekf_correction correction = ekf_begin();
    const real delay = p->gps_delay;
    const mat3 rotation = quat_matrix(estimate->attitude);
    const vec3 lever_velocity = vec3_cross(estimate->rate, p->gps_offset);
    const vec3 antenna_velocity = vec3_add(estimate->velocity, mat3_mul_vec(rotation, lever_velocity));
    const vec3 delayed_velocity = vec3_add_scaled(antenna_velocity, -delay, kalman->acceleration);
    const vec3 antenna_position =
        vec3_add(vec3_add(estimate->position, kalman->gps_wander), mat3_mul_vec(rotation, p->gps_offset));
    const vec3 delayed_position = vec3_add_scaled(vec3_add_scaled(antenna_position, -delay, antenna_velocity),
                                                  0.5 * delay * delay, kalman->acceleration);
    const vec3 position_residual = vec3_sub(position, delayed_position),
               velocity_residual = vec3_sub(velocity, delayed_velocity);
    const mat3 lever = mat3_mul(rotation, mat3_cross(p->gps_offset));
    // The force over the delay, as it is seen now: that is what an attitude that is off has turned.
    const vec3 force = mat3_tmul_vec(rotation, vec3_sub(kalman->acceleration, p->gravity));
    for (int i = 0; i < 3; ++i) {
        real h[EKF_STATES] = {0};
        const vec3 force_row = ekf_attitude_row(rotation, force, i), axis_row = mat3_row(rotation, i);
        h[EKF_POSITION + i] = h[EKF_GPS_WANDER + i] = real_set(1.0);
        h[EKF_VELOCITY + i] = -delay;
        ekf_set_vec3(
            vec3_add_scaled(ekf_attitude_row(rotation, p->gps_offset, i), 0.5 * delay * delay, force_row), h,
            EKF_ATTITUDE);
        ekf_set_vec3(vec3_scale(-0.5 * delay * delay, axis_row), h, EKF_ACCEL_BIAS);
        ekf_set_distortion(-0.5 * delay * delay, axis_row, force, h);
        ekf_fuse(h, vec3_at(position_residual, i), vec3_at(p->gps_position_variance, i), kalman->covariance,
                 &correction);
        memset(h, 0, sizeof h);
        h[EKF_VELOCITY + i] = real_set(1.0);
        ekf_set_vec3(vec3_add_scaled(ekf_attitude_row(rotation, lever_velocity, i), -delay, force_row), h,
                     EKF_ATTITUDE);
        ekf_set_vec3(vec3_scale(delay, axis_row), h, EKF_ACCEL_BIAS);
        ekf_set_distortion(delay, axis_row, force, h);
        ekf_set_vec3(mat3_row(lever, i), h, EKF_GYRO_BIAS);
        ekf_fuse(h, vec3_at(velocity_residual, i), p->gps_velocity_variance, kalman->covariance, &correction);
    }
    return ekf_apply_correction(p, &correction, estimate, kalman);
}

/// A height above z = 0, too high by the offset.
VY_FN ekf_innovation ekf_height(const ekf_params *p, real height, estimator_state *estimate,
                                kalman_block *kalman)
{
    ekf_correction correction = ekf_begin();
    real h[EKF_STATES] = {0};
    h[EKF_POSITION + 2] = h[EKF_BARO_BIAS] = real_set(1.0);
    ekf_fuse(h, height - (estimate->position.z + kalman->baro_offset), p->baro_variance, kalman->covariance,
             &correction);
    return ekf_apply_correction(p, &correction, estimate, kalman);
}

/// Variance that a number `u` times the field in body axes, of which attitude makes `attitude_row`, is
/// expected to have.
VY_FN real ekf_field_variance(const ekf_params *p, vec3 u, vec3 expected, vec3 attitude_row,
                              const real *cells)
{
    real h[EKF_STATES] = {0}, ph[EKF_STATES];
    ekf_set_vec3(attitude_row, h, EKF_ATTITUDE);
    ekf_set_vec3(u, h, EKF_MAG_BIAS);
    for (int i = 0; i < 3; ++i)
        ekf_set_vec3(vec3_scale(vec3_at(u, i), expected), h, EKF_MAG_DISTORTION + 3 * i);
    return ekf_innovation_variance(h, cells, ph) + p->mag_variance;
}

/// Whether a field is the Earth's, by its length and its part along the vertical, which no heading changes:
/// within a tenth of the field and 5 deviations of what is expected. `field` is in units of the world's.
VY_FN mask ekf_field_is_undisturbed(const ekf_params *p, vec3 field, const estimator_state *estimate,
                                    const kalman_block *kalman)
{
    const vec3 expected = quat_unrotate(estimate->attitude, p->field);
    const vec3 up = ekf_up(estimate);
    const vec3 corrected =
        vec3_sub(vec3_sub(field, kalman->mag_bias), ekf_distorted(kalman->mag_distortion, expected));
    const real length_error = vec3_length(corrected) - 1.0,
               height_error = vec3_dot(up, vec3_sub(corrected, expected));
    const real length_variance = ekf_field_variance(p, expected, expected, vec3_zero(), kalman->covariance);
    const real height_variance =
        ekf_field_variance(p, up, expected, vec3_cross(up, expected), kalman->covariance);
    const mask fits_length = real_abs(length_error) < 0.1 + 5.0 * real_sqrt(length_variance);
    const mask fits_height = real_abs(height_error) < 0.1 + 5.0 * real_sqrt(height_variance);
    return fits_length & fits_height;
}

/// Variance of the heading.
VY_FN real ekf_heading_variance(const estimator_state *estimate, const real *cells)
{
    real h[EKF_STATES] = {0}, ph[EKF_STATES];
    ekf_set_vec3(ekf_up(estimate), h, EKF_ATTITUDE);
    return ekf_innovation_variance(h, cells, ph);
}

/// (I + D) u + b with the field u = R^T m in body axes, which changes with the attitude error by [u]x.
VY_FN ekf_innovation ekf_mag(const ekf_params *p, vec3 field, estimator_state *estimate, kalman_block *kalman)
{
    ekf_correction correction = ekf_begin();
    const ekf_reading expected = ekf_field_reading(p, estimate, kalman);
    const vec3 residual = vec3_sub(field, expected.value);
    // A heading that is off by s moves the reading along an arc. Where the drone stands level that is known;
    // tilted by t it is seen differently, to the second order by s^2 m_h sin(t) / 2, whose variance counts as
    // noise (a filter of second order: A. Jazwinski, Stochastic Processes and Filtering Theory, 1970, 9.3).
    const vec3 up = ekf_up(estimate);
    const real horizontal_field2 = p->field.x * p->field.x + p->field.y * p->field.y;
    const real heading = ekf_heading_variance(estimate, kalman->covariance),
               arc_variance = heading * heading * horizontal_field2;
    const real noise = p->mag_variance + 0.5 * arc_variance * (1.0 - up.z * up.z);
    for (int i = 0; i < 3; ++i) {
        real h[EKF_STATES] = {0};
        ekf_set_vec3(mat3_row(expected.attitude_jacobian, i), h, EKF_ATTITUDE);
        h[EKF_MAG_BIAS + i] = real_set(1.0);
        ekf_set_vec3(expected.u, h, EKF_MAG_DISTORTION + 3 * i);
        ekf_fuse(h, vec3_at(residual, i), noise, kalman->covariance, &correction);
    }
    return ekf_apply_correction(p, &correction, estimate, kalman);
}

/// Distance to the ground `ground_depth` below z = 0 along `ray_direction` (body) from `offset` (body), and
/// its derivatives by height and attitude error. 0: the ray does not point down, or starts below.
VY_FN real ekf_distance(const estimator_state *estimate, mat3 rotation, vec3 offset, vec3 ray_direction,
                        real ground_depth, real *d_height, vec3 *d_attitude)
{
    const real height = (estimate->position.z + ground_depth) + mat3_mul_vec(rotation, offset).z;
    const real slope = mat3_mul_vec(rotation, ray_direction).z;
    const mask sees_ground = (slope < -0.1) & (height > 0.01);
    const real inverse = 1.0 / real_select(sees_ground, slope, real_set(-1.0));
    *d_height = -inverse;
    *d_attitude =
        vec3_sub(vec3_scale(height * inverse * inverse, ekf_attitude_row(rotation, ray_direction, 2)),
                 vec3_scale(inverse, ekf_attitude_row(rotation, offset, 2)));
    return real_select(sees_ground, -height * inverse, real_set(0.0));
}

VY_FN ekf_innovation ekf_range(const ekf_params *p, real distance, real ground_depth,
                               estimator_state *estimate, kalman_block *kalman)
{
    real h[EKF_STATES] = {0};
    vec3 d_attitude;
    const mat3 rotation = quat_matrix(estimate->attitude);
    const real expected = ekf_distance(estimate, rotation, p->range_offset, p->range_direction, ground_depth,
                                       &h[EKF_POSITION + 2], &d_attitude);
    ekf_correction correction = ekf_begin();
    if (!mask_any((expected > 0.0) & (distance > 0.0))) return correction.innovation;
    ekf_set_vec3(d_attitude, h, EKF_ATTITUDE);
    const real variance = p->range_variance + p->range_noise_ratio * expected * expected;
    ekf_fuse(h, distance - expected, variance, kalman->covariance, &correction);
    return ekf_apply_correction(p, &correction, estimate, kalman);
}

/// x = w_y - v_x / d, y = -w_x - v_y / d, with the camera's velocity v = R^T v + w x a in body axes.
VY_FN ekf_innovation ekf_flow(const ekf_params *p, real x, real y, real ground_depth,
                              estimator_state *estimate, kalman_block *kalman)
{
    const mat3 rotation = quat_matrix(estimate->attitude);
    real d_height;
    vec3 d_attitude;
    const vec3 down = vec3_make(real_set(0.0), real_set(0.0), real_set(-1.0));
    const real distance =
        ekf_distance(estimate, rotation, p->flow_offset, down, ground_depth, &d_height, &d_attitude);
    ekf_correction correction = ekf_begin();
    if (!mask_any(distance > 0.0)) return correction.innovation;
    const vec3 body_velocity = mat3_tmul_vec(rotation, estimate->velocity);
    const vec3 camera_velocity = vec3_add(body_velocity, vec3_cross(estimate->rate, p->flow_offset));
    const mat3 velocity_cross = mat3_cross(body_velocity), lever_cross = mat3_cross(p->flow_offset);
    const real inverse = 1.0 / distance;
    for (int i = 0; i < 2; ++i) {
        real h[EKF_STATES] = {0};
        const real speed = vec3_at(camera_velocity, i), flow_by_distance = speed * inverse * inverse;
        h[EKF_POSITION + 2] = flow_by_distance * d_height;
        ekf_set_vec3(vec3_scale(-inverse, vec3_make(rotation.m[0][i], rotation.m[1][i], rotation.m[2][i])), h,
                     EKF_VELOCITY);
        const vec3 attitude_row =
            vec3_make(velocity_cross.m[i][0], velocity_cross.m[i][1], velocity_cross.m[i][2]);
        ekf_set_vec3(vec3_sub(vec3_scale(flow_by_distance, d_attitude), vec3_scale(inverse, attitude_row)), h,
                     EKF_ATTITUDE);
        // The rate is the gyroscope's less the bias: w x a moves with the bias by [a]x.
        ekf_set_vec3(
            vec3_scale(-inverse, vec3_make(lever_cross.m[i][0], lever_cross.m[i][1], lever_cross.m[i][2])), h,
            EKF_GYRO_BIAS);
        const real rate = i == 0 ? estimate->rate.y : -estimate->rate.x;
        h[EKF_GYRO_BIAS + (i == 0 ? 1 : 0)] = h[EKF_GYRO_BIAS + (i == 0 ? 1 : 0)] + (i == 0 ? -1.0 : 1.0);
        ekf_fuse(h, (i == 0 ? x : y) - (rate - speed * inverse), p->flow_variance, kalman->covariance,
                 &correction);
    }
    return ekf_apply_correction(p, &correction, estimate, kalman);
}
