// ekf.h - an error-state Kalman filter over `real`: position, velocity, attitude and the IMU's biases.
//
// The nominal state is an estimator_state, moved by the IMU. Its error has 15 parts, in this order: position
// and velocity in world axes, attitude as a small turn in body axes (true = believed turned by it), gyroscope
// bias, accelerometer bias. Measurements come one number at a time, so nothing is inverted (J. Sola,
// Quaternion kinematics for the error-state Kalman filter, arXiv:1711.02508, 2017, with the local error).
#pragma once
#include "control/estimator.h"

enum { EKF_POSITION = 0, EKF_VELOCITY = 3, EKF_TURN = 6, EKF_GYRO = 9, EKF_ACCEL = 12, EKF_STATES = 15 };

/// What it is told of the sensors. Variances; those of what a drone does not have are not read.
typedef struct ekf_params {
    real period;                     // [s] of the IMU
    vec3 gravity;                    // [m/s^2] world
    vec3 imu_at;                     // [m] where the IMU is, body
    real turn_noise, velocity_noise; // added per IMU sample
    real gyro_walk, accel_walk;
    real mocap_position, mocap_attitude;
    vec3 gps_position;
    vec3 gps_sample;              // of one position by itself: a slow wander counts as more in the long run
    real gps_velocity, gps_delay; // the latter in [s]
    vec3 gps_at;                  // [m] body
    real baro, baro_sample;       // likewise
    vec3 field;                   // of the world, in units of its own length
    real field_unit, mag;
    real range, range_share; // [m^2], [1]
    vec3 range_at, range_along;
    real flow;
    vec3 flow_at;
    vec3 start[5]; // variances of the start, part by part
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
}

VY_FN void ekf_pack(const ekf_covariance *c, real *cells)
{
    int at = 0;
    for (int i = 0; i < EKF_STATES; ++i) {
        for (int k = i; k < EKF_STATES; ++k) cells[at++] = c->p[i][k];
    }
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
typedef struct ekf_motion {
    real t;
    mat3 velocity_turn, velocity_accel, turn_turn;
} ekf_motion;

VY_FN vec3 ekf_part(const real *x, int at) { return vec3_make(x[at], x[at + 1], x[at + 2]); }

VY_FN void ekf_put(vec3 v, real *x, int at)
{
    x[at] = v.x;
    x[at + 1] = v.y;
    x[at + 2] = v.z;
}

/// out = F x.
VY_FN void ekf_move(const ekf_motion *m, const real *x, real *out)
{
    const vec3 turn = ekf_part(x, EKF_TURN), accel = ekf_part(x, EKF_ACCEL);
    const vec3 gain = vec3_add(mat3_mul_vec(m->velocity_turn, turn), mat3_mul_vec(m->velocity_accel, accel));
    const vec3 velocity = ekf_part(x, EKF_VELOCITY);
    const vec3 way = vec3_add_scaled(velocity, real_set(0.5), gain);
    memcpy(out, x, EKF_STATES * sizeof *out);
    ekf_put(vec3_add_scaled(ekf_part(x, EKF_POSITION), m->t, way), out, EKF_POSITION);
    ekf_put(vec3_add(velocity, gain), out, EKF_VELOCITY);
    ekf_put(
        vec3_sub(vec3_add(turn, mat3_mul_vec(m->turn_turn, turn)), vec3_scale(m->t, ekf_part(x, EKF_GYRO))),
        out, EKF_TURN);
}

VY_FN void ekf_spread(const ekf_params *p, const ekf_motion *m, ekf_covariance *c)
{
    real half[EKF_STATES][EKF_STATES]; // (F P)^T, as P is symmetric
    for (int i = 0; i < EKF_STATES; ++i) ekf_move(m, c->p[i], half[i]);
    for (int i = 0; i < EKF_STATES; ++i) {
        real row[EKF_STATES];
        for (int k = 0; k < EKF_STATES; ++k) row[k] = half[k][i];
        ekf_move(m, row, c->p[i]);
    }
    for (int i = 0; i < EKF_STATES; ++i) {
        for (int k = 0; k < i; ++k) c->p[k][i] = c->p[i][k]; // rounding must not set the halves apart
    }
    for (int i = 0; i < 3; ++i) {
        c->p[EKF_VELOCITY + i][EKF_VELOCITY + i] =
            c->p[EKF_VELOCITY + i][EKF_VELOCITY + i] + p->velocity_noise;
        c->p[EKF_TURN + i][EKF_TURN + i] = c->p[EKF_TURN + i][EKF_TURN + i] + p->turn_noise;
        c->p[EKF_GYRO + i][EKF_GYRO + i] = c->p[EKF_GYRO + i][EKF_GYRO + i] + p->gyro_walk;
        c->p[EKF_ACCEL + i][EKF_ACCEL + i] = c->p[EKF_ACCEL + i][EKF_ACCEL + i] + p->accel_walk;
    }
}

/// An IMU sample has come. Rates count as changing evenly since the last one, force as that of halfway.
VY_FN void ekf_predict(const ekf_params *p, vec3 accel, vec3 gyro, estimator_state *s, ekf_covariance *c)
{
    const real t = p->period;
    const vec3 before = s->rate, rate = vec3_sub(gyro, s->gyro_bias);
    const vec3 mean = vec3_scale(real_set(0.5), vec3_add(before, rate));
    const vec3 spin = vec3_add(vec3_cross(vec3_scale(1.0 / t, vec3_sub(rate, before)), p->imu_at),
                               vec3_cross(mean, vec3_cross(mean, p->imu_at)));
    const vec3 force = vec3_sub(vec3_sub(accel, s->accel_bias), spin); // of the centre of mass, body
    const mat3 halfway = quat_matrix(attitude_turned(s->attitude, vec3_scale(0.5 * t, mean)));
    const vec3 a = vec3_add(mat3_mul_vec(halfway, force), p->gravity);
    ekf_motion m;
    m.t = t;
    m.velocity_accel = halfway;
    m.velocity_turn = mat3_mul(halfway, mat3_cross(force));
    m.turn_turn = mat3_cross(mean);
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            m.velocity_accel.m[i][k] = -t * m.velocity_accel.m[i][k];
            m.velocity_turn.m[i][k] = -t * m.velocity_turn.m[i][k];
            m.turn_turn.m[i][k] = -t * m.turn_turn.m[i][k];
        }
    }
    ekf_spread(p, &m, c);
    s->position = vec3_add_scaled(vec3_add_scaled(s->position, t, s->velocity), 0.5 * t * t, a);
    s->velocity = vec3_add_scaled(s->velocity, t, a);
    s->attitude = attitude_turned(s->attitude, vec3_scale(t, mean));
    s->rate = rate;
}

/// How far a sample is from what was expected.
typedef struct ekf_surprise {
    real worst;             // largest square of a number over its variance: of a good number chi-square of 1
    real square;            // of that number itself
    real along[EKF_STATES]; // an error that explains 1 of it, shared out by how unsure each part is
} ekf_surprise;

/// What a measurement has found so far; given to the state by ekf_finish.
typedef struct ekf_change {
    real x[EKF_STATES];
    ekf_surprise surprise;
} ekf_change;

VY_FN ekf_change ekf_begin(void)
{
    ekf_change d;
    memset(&d, 0, sizeof d);
    return d;
}

/// Remember a number that is `left` from where the numbers before it lead one to expect it, with the variance
/// `s`. Taken one after the other the numbers of a sample are independent, whatever their covariance.
VY_FN void ekf_weigh(const real *h, real left, real s, const ekf_covariance *c, ekf_surprise *out)
{
    const real square = left * left, ratio = square / s;
    const mask worse = ratio > out->worst;
    if (!mask_any(worse)) return;
    real spread = real_set(0.0);
    for (int i = 0; i < EKF_STATES; ++i) spread = spread + c->p[i][i] * (h[i] * h[i]);
    const real inverse = 1.0 / real_select(spread > 0.0, spread, real_set(1.0));
    out->worst = real_select(worse, ratio, out->worst);
    out->square = real_select(worse, square, out->square);
    for (int i = 0; i < EKF_STATES; ++i)
        out->along[i] = real_select(worse, c->p[i][i] * h[i] * inverse, out->along[i]);
}

/// Be less sure of what a sample measured that was not believed: by the share `share` of what would explain
/// it.
VY_FN void ekf_widen(const ekf_surprise *found, real share, ekf_covariance *c)
{
    const real more = share * found->square;
    for (int i = 0; i < EKF_STATES; ++i) {
        for (int k = i; k < EKF_STATES; ++k)
            c->p[i][k] = c->p[k][i] = c->p[i][k] + more * (found->along[i] * found->along[k]);
    }
}

/// One number: it is `miss` above what was expected, has the variance `noise`, by itself `sample`, and moves
/// with the error by `h`.
VY_FN void ekf_take_slow(const real *h, real miss, real noise, real sample, ekf_covariance *c, ekf_change *d)
{
    real ph[EKF_STATES], s = noise, left = miss;
    for (int i = 0; i < EKF_STATES; ++i) {
        ph[i] = real_set(0.0);
        for (int k = 0; k < EKF_STATES; ++k) ph[i] = ph[i] + c->p[i][k] * h[k];
    }
    for (int i = 0; i < EKF_STATES; ++i) {
        s = s + h[i] * ph[i];
        left = left - h[i] * d->x[i];
    }
    ekf_weigh(h, left, s + (sample - noise), c, &d->surprise);
    const real inverse = 1.0 / s;
    for (int i = 0; i < EKF_STATES; ++i) {
        const real gain = ph[i] * inverse;
        d->x[i] = d->x[i] + gain * left;
        for (int k = i; k < EKF_STATES; ++k) c->p[i][k] = c->p[k][i] = c->p[i][k] - gain * ph[k];
    }
}

/// The same with white noise.
VY_FN void ekf_take(const real *h, real miss, real noise, ekf_covariance *c, ekf_change *d)
{
    ekf_take_slow(h, miss, noise, noise, c, d);
}

/// Every measurement ends with this, and says how much of a surprise it was.
VY_FN ekf_surprise ekf_finish(const ekf_change *d, estimator_state *s)
{
    s->position = vec3_add(s->position, ekf_part(d->x, EKF_POSITION));
    s->velocity = vec3_add(s->velocity, ekf_part(d->x, EKF_VELOCITY));
    s->attitude = attitude_turned(s->attitude, ekf_part(d->x, EKF_TURN));
    s->rate = vec3_sub(s->rate, ekf_part(d->x, EKF_GYRO));
    s->gyro_bias = vec3_add(s->gyro_bias, ekf_part(d->x, EKF_GYRO));
    s->accel_bias = vec3_add(s->accel_bias, ekf_part(d->x, EKF_ACCEL));
    return d->surprise;
}

VY_FN real vec3_at(vec3 v, int i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }

/// Row `i` of minus R [v]x: how component `i` of R v moves with the turn.
VY_FN vec3 ekf_turn_row(mat3 rotation, vec3 v, int i)
{
    const mat3 m = mat3_mul(rotation, mat3_cross(v));
    return vec3_make(-m.m[i][0], -m.m[i][1], -m.m[i][2]);
}

VY_FN ekf_surprise ekf_mocap(const ekf_params *p, vec3 position, quat attitude, estimator_state *s,
                             ekf_covariance *c)
{
    ekf_change d = ekf_begin();
    const vec3 miss = vec3_sub(position, s->position);
    const quat q = quat_mul(quat_conj(s->attitude), attitude);
    const real two = real_copysign(real_set(2.0), q.w); // the shorter way round
    const vec3 turn = vec3_make(two * q.x, two * q.y, two * q.z);
    for (int i = 0; i < 3; ++i) {
        real h[EKF_STATES] = {0};
        h[EKF_POSITION + i] = real_set(1.0);
        ekf_take(h, vec3_at(miss, i), p->mocap_position, c, &d);
        h[EKF_POSITION + i] = real_set(0.0);
        h[EKF_TURN + i] = real_set(1.0);
        ekf_take(h, vec3_at(turn, i), p->mocap_attitude, c, &d);
    }
    return ekf_finish(&d, s);
}

/// The antenna was at p + R a - delay v.
VY_FN ekf_surprise ekf_gps(const ekf_params *p, vec3 position, vec3 velocity, estimator_state *s,
                           ekf_covariance *c)
{
    ekf_change d = ekf_begin();
    const mat3 rotation = quat_matrix(s->attitude);
    const vec3 swing = vec3_cross(s->rate, p->gps_at);
    const vec3 v = vec3_add(s->velocity, mat3_mul_vec(rotation, swing));
    const vec3 at = vec3_add(s->position, mat3_mul_vec(rotation, p->gps_at));
    const vec3 place_miss = vec3_sub(position, vec3_add_scaled(at, -p->gps_delay, v));
    const vec3 speed_miss = vec3_sub(velocity, v);
    const mat3 lever = mat3_mul(rotation, mat3_cross(p->gps_at));
    for (int i = 0; i < 3; ++i) {
        real h[EKF_STATES] = {0};
        h[EKF_POSITION + i] = real_set(1.0);
        h[EKF_VELOCITY + i] = -p->gps_delay;
        ekf_put(ekf_turn_row(rotation, p->gps_at, i), h, EKF_TURN);
        ekf_take_slow(h, vec3_at(place_miss, i), vec3_at(p->gps_position, i), vec3_at(p->gps_sample, i), c,
                      &d);
        memset(h, 0, sizeof h);
        h[EKF_VELOCITY + i] = real_set(1.0);
        ekf_put(ekf_turn_row(rotation, swing, i), h, EKF_TURN);
        ekf_put(vec3_make(lever.m[i][0], lever.m[i][1], lever.m[i][2]), h, EKF_GYRO);
        ekf_take(h, vec3_at(speed_miss, i), p->gps_velocity, c, &d);
    }
    return ekf_finish(&d, s);
}

/// A height above z = 0.
VY_FN ekf_surprise ekf_height(const ekf_params *p, real height, estimator_state *s, ekf_covariance *c)
{
    ekf_change d = ekf_begin();
    real h[EKF_STATES] = {0};
    h[EKF_POSITION + 2] = real_set(1.0);
    ekf_take_slow(h, height - s->position.z, p->baro, p->baro_sample, c, &d);
    return ekf_finish(&d, s);
}

/// The field in body axes, R^T m, moves with the turn by [R^T m]x.
VY_FN ekf_surprise ekf_mag(const ekf_params *p, vec3 field, estimator_state *s, ekf_covariance *c)
{
    ekf_change d = ekf_begin();
    const vec3 expected = quat_unrotate(s->attitude, p->field);
    const vec3 miss = vec3_sub(vec3_scale(p->field_unit, field), expected);
    const mat3 cross = mat3_cross(expected);
    for (int i = 0; i < 3; ++i) {
        real h[EKF_STATES] = {0};
        ekf_put(vec3_make(cross.m[i][0], cross.m[i][1], cross.m[i][2]), h, EKF_TURN);
        ekf_take(h, vec3_at(miss, i), p->mag, c, &d);
    }
    return ekf_finish(&d, s);
}

/// Distance to the ground z = 0 along `along` (body) from `at` (body), and how it moves with height and turn.
/// 0: the ray does not look down, or starts below.
VY_FN real ekf_distance(const estimator_state *s, mat3 rotation, vec3 at, vec3 along, real *of_height,
                        vec3 *of_turn)
{
    const real height = s->position.z + mat3_mul_vec(rotation, at).z;
    const real slope = mat3_mul_vec(rotation, along).z;
    const mask looks = (slope < -0.1) & (height > 0.01);
    const real inverse = 1.0 / real_select(looks, slope, real_set(-1.0));
    *of_height = -inverse;
    *of_turn = vec3_sub(vec3_scale(height * inverse * inverse, ekf_turn_row(rotation, along, 2)),
                        vec3_scale(inverse, ekf_turn_row(rotation, at, 2)));
    return real_select(looks, -height * inverse, real_set(0.0));
}

VY_FN ekf_surprise ekf_range(const ekf_params *p, real distance, estimator_state *s, ekf_covariance *c)
{
    real h[EKF_STATES] = {0};
    vec3 of_turn;
    const mat3 rotation = quat_matrix(s->attitude);
    const real expected =
        ekf_distance(s, rotation, p->range_at, p->range_along, &h[EKF_POSITION + 2], &of_turn);
    ekf_change d = ekf_begin();
    if (!mask_any((expected > 0.0) & (distance > 0.0))) return d.surprise;
    ekf_put(of_turn, h, EKF_TURN);
    const real spread = p->range + p->range_share * expected * expected;
    ekf_take(h, distance - expected, spread, c, &d);
    return ekf_finish(&d, s);
}

/// x = w_y - v_x / d, y = -w_x - v_y / d, with the camera's velocity v = R^T v + w x a in body axes.
VY_FN ekf_surprise ekf_flow(const ekf_params *p, real x, real y, estimator_state *s, ekf_covariance *c)
{
    const mat3 rotation = quat_matrix(s->attitude);
    real of_height;
    vec3 of_turn;
    const vec3 down = vec3_make(real_set(0.0), real_set(0.0), real_set(-1.0));
    const real distance = ekf_distance(s, rotation, p->flow_at, down, &of_height, &of_turn);
    ekf_change d = ekf_begin();
    if (!mask_any(distance > 0.0)) return d.surprise;
    const vec3 body = mat3_tmul_vec(rotation, s->velocity);
    const vec3 v = vec3_add(body, vec3_cross(s->rate, p->flow_at));
    const mat3 cross = mat3_cross(body), lever = mat3_cross(p->flow_at);
    const real inverse = 1.0 / distance;
    for (int i = 0; i < 2; ++i) {
        real h[EKF_STATES] = {0};
        const real speed = vec3_at(v, i), closer = speed * inverse * inverse;
        h[EKF_POSITION + 2] = closer * of_height;
        ekf_put(vec3_scale(-inverse, vec3_make(rotation.m[0][i], rotation.m[1][i], rotation.m[2][i])), h,
                EKF_VELOCITY);
        const vec3 seen = vec3_make(cross.m[i][0], cross.m[i][1], cross.m[i][2]);
        ekf_put(vec3_sub(vec3_scale(closer, of_turn), vec3_scale(inverse, seen)), h, EKF_TURN);
        // The rate is the gyroscope's less the bias: w x a moves with the bias by [a]x.
        ekf_put(vec3_scale(-inverse, vec3_make(lever.m[i][0], lever.m[i][1], lever.m[i][2])), h, EKF_GYRO);
        const real rate = i == 0 ? s->rate.y : -s->rate.x;
        h[EKF_GYRO + (i == 0 ? 1 : 0)] = h[EKF_GYRO + (i == 0 ? 1 : 0)] + (i == 0 ? -1.0 : 1.0);
        ekf_take(h, (i == 0 ? x : y) - (rate - speed * inverse), p->flow, c, &d);
    }
    return ekf_finish(&d, s);
}
