// imu.h - accelerometer and gyroscope over `real`.
//
// Specific force is the mean over the sample interval, dv/dt - g, seen from the attitude halfway through it;
// each axis then gets its bias and white noise. Biases walk at random from a turn-on value.
#pragma once
#include "base/rng.h"
#include "equations/gravity.h"
#include "equations/rigid_body.h"

typedef struct imu_params {
    real inverse_period; // [1/s]
    real accel_noise;    // [m/s^2] standard deviation of a sample
    real gyro_noise;     // [rad/s]
    real accel_walk;     // [m/s^2] standard deviation of the bias's step per sample
    real gyro_walk;      // [rad/s]
} imu_params;

#define SAMPLE_imu(F, block)                               \
    F(block, tick, TICK, 1, "", "when it arrived")         \
    F(block, accel, VEC3, 3, "m/s^2", "last sample, body") \
    F(block, gyro, VEC3, 3, "rad/s", "last sample, body")
#define CHANNELS_imu(C, s)                                     \
    C(s, ACCEL, "accel", "m/s^2", 0, 3, 0, 3, 3, "of the IMU") \
    C(s, GYRO, "gyro", "rad/s", 3, 3, 3, 3, 3, "of the IMU")

typedef struct imu_state {
    vec3 accel;      // [m/s^2] the last sample, body axes
    vec3 gyro;       // [rad/s]
    vec3 accel_bias; // [m/s^2] body
    vec3 gyro_bias;  // [rad/s] body
    vec3 velocity;   // truth at the last sample, to take differences from
    quat attitude;   // q_WB, likewise
} imu_state;

/// Biases of the first moment: `accel_deviation` and `gyro_deviation` are the standard deviations of the
/// turn-on bias.
VY_FN imu_state imu_start(const body_state *body, real accel_deviation, real gyro_deviation, vec3 gravity,
                          bits seed, bits index)
{
    real n[6];
    rng_normals(seed, RNG_STREAM_START, index, bits_set(0), n, 6);
    imu_state s;
    s.accel_bias = vec3_scale(accel_deviation, vec3_make(n[0], n[1], n[2]));
    s.gyro_bias = vec3_scale(gyro_deviation, vec3_make(n[3], n[4], n[5]));
    s.velocity = body->velocity;
    s.attitude = body->attitude;
    s.accel = vec3_sub(s.accel_bias, quat_unrotate(body->attitude, gravity)); // as if held still
    s.gyro = vec3_add(s.gyro_bias, body->rate);
    return s;
}

/// A body with its rate relative to inertial space, which is what gyroscopes see.
VY_FN body_state inertial_body(const gravity_params *field, const body_state *body)
{
    body_state b = *body;
    if (VY_BASIC_OR(0, field->frame.on))
        b.rate = vec3_add(b.rate, local_rate(&field->frame, quat_matrix(b.attitude)));
    return b;
}

/// And back: a gyroscope's rate less the planet's, at a believed attitude.
VY_FN vec3 gyro_relative_to_ground(const gravity_params *field, quat attitude, vec3 gyro)
{
    if (!VY_BASIC_OR(0, field->frame.on)) return gyro;
    return vec3_sub(gyro, local_rate(&field->frame, quat_matrix(attitude)));
}

enum { IMU_NORMALS = 12 };

/// `n` are IMU_NORMALS deviates of stream RNG_STREAM_IMU.
VY_FN void imu_sample(const imu_params *p, const body_state *body, vec3 gravity, const real *n, imu_state *s)
{
    const vec3 dv = vec3_sub(body->velocity, s->velocity);
    const vec3 force = vec3_sub(vec3_scale(p->inverse_period, dv), gravity);
    const quat halfway = quat_normalize(quat_add(s->attitude, body->attitude));

    s->accel_bias = vec3_add_scaled(s->accel_bias, p->accel_walk, vec3_make(n[6], n[7], n[8]));
    s->gyro_bias = vec3_add_scaled(s->gyro_bias, p->gyro_walk, vec3_make(n[9], n[10], n[11]));
    s->accel = vec3_add_scaled(vec3_add(quat_unrotate(halfway, force), s->accel_bias), p->accel_noise,
                               vec3_make(n[0], n[1], n[2]));
    s->gyro = vec3_add_scaled(vec3_add(body->rate, s->gyro_bias), p->gyro_noise, vec3_make(n[3], n[4], n[5]));
    s->velocity = body->velocity;
    s->attitude = body->attitude;
}
