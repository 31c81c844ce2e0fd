// imu_full.h - an IMU by its data sheet, over `real`; imu.h is the basic model.
//
// The specific force at the mount is that of the centre of mass, plus alpha x r (Euler), plus
// omega x (omega x r) (centripetal); both ends of the sample interval count alike, as in imu.h. Then, in the
// order of the signal path: scale and alignment, low-pass, bias (turn-on, random walk, wander), white noise,
// saturation, quantisation.
#pragma once
#include "sensors/imu.h"
#include "sensors/sensor.h"

typedef struct imu_full_params {
    imu_params basic;
    real accel_wander_deviation, gyro_wander_deviation; // [m/s^2], [rad/s] of the wanders
    gauss_markov_params accel_wander, gyro_wander;
    mat3 accel_distortion, gyro_distortion; // scale and alignment
    real accel_alpha, gyro_alpha; // 1 - e^(-2 pi bandwidth period): share of a change seen after one sample
    quantizer_params accel_quantizer, gyro_quantizer;
    vec3 position; // [m] from the centre of mass, body
} imu_full_params;

/// Its state beside imu_state.
typedef struct imu_full_block {
    vec3 accel_wander, gyro_wander; // of the biases
    vec3 accel_smooth, gyro_smooth; // outputs of the low-passes
    vec3 rate;                      // true rate at the last sample
} imu_full_block;

#define FIELDS_imu_full(F, block)                                       \
    F(block, accel_wander, VEC3, 3, "m/s^2", "instability of the bias") \
    F(block, gyro_wander, VEC3, 3, "rad/s", "instability of the bias")  \
    F(block, accel_smooth, VEC3, 3, "m/s^2", "behind the low-pass")     \
    F(block, gyro_smooth, VEC3, 3, "rad/s", "behind the low-pass")      \
    F(block, rate, VEC3, 3, "rad/s", "true rate at the last sample")

/// The largest Allan deviation of a Gauss-Markov process over its deviation.
#define VY_ALLAN_FLOOR 0.6175

/// Constants of the basic model, with a period.
imu_params vy_imu_basic(const vy_imu_def *imu);
/// Does it have a figure that the basic model lacks?
int vy_imu_is_full(const vy_imu_def *d);

typedef struct imu_reading {
    vec3 accel, gyro; // [m/s^2], [rad/s] body
} imu_reading;

/// Specific force at the mount, the mean over the interval, body axes of halfway through it.
VY_FN vec3 imu_specific_force(const imu_full_params *p, const body_state *body, vec3 gravity,
                              const imu_state *s, vec3 previous_rate)
{
    const vec3 dv = vec3_sub(body->velocity, s->velocity);
    const vec3 force = vec3_sub(vec3_scale(p->basic.inverse_period, dv), gravity);
    const quat halfway = quat_normalize(quat_add(s->attitude, body->attitude));
    const vec3 euler =
        vec3_cross(vec3_scale(p->basic.inverse_period, vec3_sub(body->rate, previous_rate)), p->position);
    const vec3 centripetal_sum = vec3_add(vec3_cross(previous_rate, vec3_cross(previous_rate, p->position)),
                                          vec3_cross(body->rate, vec3_cross(body->rate, p->position)));
    return vec3_add_scaled(vec3_add(quat_unrotate(halfway, force), euler), real_set(0.5), centripetal_sum);
}

/// As if it had always been held with this specific force: filters have settled, wanders have their
/// stationary distribution.
VY_FN void imu_full_start(const imu_full_params *p, const body_state *body, vec3 specific_force, bits seed,
                          bits index, imu_full_block *f)
{
    real n[6];
    rng_normals(seed, RNG_STREAM_IMU_WANDER, index, bits_set(0), n, 6);
    f->accel_wander = vec3_scale(p->accel_wander_deviation, vec3_make(n[0], n[1], n[2]));
    f->gyro_wander = vec3_scale(p->gyro_wander_deviation, vec3_make(n[3], n[4], n[5]));
    f->accel_smooth = mat3_mul_vec(p->accel_distortion, specific_force);
    f->gyro_smooth = mat3_mul_vec(p->gyro_distortion, body->rate);
    f->rate = body->rate;
}

VY_FN imu_reading imu_full_sample(const imu_full_params *p, const body_state *body, vec3 gravity, bits seed,
                                  bits index, bits tick, imu_state *s, imu_full_block *f)
{
    real n[12], wander_normals[6];
    rng_normals(seed, RNG_STREAM_IMU, index, tick, n, 12);
    rng_normals(seed, RNG_STREAM_IMU_WANDER, index, tick, wander_normals, 6);
    const vec3 force = mat3_mul_vec(p->accel_distortion, imu_specific_force(p, body, gravity, s, f->rate));
    const vec3 rate = mat3_mul_vec(p->gyro_distortion, body->rate);
    f->accel_smooth = vec3_add_scaled(f->accel_smooth, p->accel_alpha, vec3_sub(force, f->accel_smooth));
    f->gyro_smooth = vec3_add_scaled(f->gyro_smooth, p->gyro_alpha, vec3_sub(rate, f->gyro_smooth));

    s->accel_bias = vec3_add_scaled(s->accel_bias, p->basic.accel_walk, vec3_make(n[6], n[7], n[8]));
    s->gyro_bias = vec3_add_scaled(s->gyro_bias, p->basic.gyro_walk, vec3_make(n[9], n[10], n[11]));
    f->accel_wander = gauss_markov_next3(p->accel_wander, f->accel_wander, wander_normals);
    f->gyro_wander = gauss_markov_next3(p->gyro_wander, f->gyro_wander, wander_normals + 3);
    s->velocity = body->velocity;
    s->attitude = body->attitude;
    f->rate = body->rate;

    const vec3 accel_bias = vec3_add(s->accel_bias, f->accel_wander);
    const vec3 gyro_bias = vec3_add(s->gyro_bias, f->gyro_wander);
    imu_reading r;
    r.accel = vec3_add_scaled(vec3_add(f->accel_smooth, accel_bias), p->basic.accel_noise,
                              vec3_make(n[0], n[1], n[2]));
    r.gyro = vec3_add_scaled(vec3_add(f->gyro_smooth, gyro_bias), p->basic.gyro_noise,
                             vec3_make(n[3], n[4], n[5]));
    r.accel = quantize3(p->accel_quantizer, r.accel);
    r.gyro = quantize3(p->gyro_quantizer, r.gyro);
    return r;
}
