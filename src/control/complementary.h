// complementary.h - a filter of constant gains over `real`: gyroscope for what is quick, gravity and the
// magnetic field for what is slow; position and velocity by dead reckoning that is pulled to what is
// measured.
//
// Attitude after R. Mahony, T. Hamel and J.-M. Pflimlin, Nonlinear complementary filters on the special
// orthogonal group, IEEE Trans. Automatic Control 53, 2008. The accelerometer counts as gravity only while it
// reads about that much.
#pragma once
#include "control/estimator.h"

typedef struct complementary_params {
    real period;             // [s] of the IMU
    vec3 gravity;            // [m/s^2] world
    real weight;             // [m/s^2] its size
    real pull;               // [1/s] of attitude
    real bias;               // [1/s^2] of the gyroscope's bias
    vec3 field;              // magnetic, world, of unit length
    real position, velocity; // shares of what is missing that a sample of the position gives: [1], [1/s]
    real speed;              // of a sample of the velocity: [1]
    real height, climb;      // of a sample of the height: [1], [1/s]
} complementary_params;

/// How far the nose is from where the field says, about world up, as a small angle.
VY_FN real complementary_heading(const complementary_params *p, vec3 field, quat attitude)
{
    const vec3 seen = quat_rotate(attitude, field);
    const real flat =
        (seen.x * seen.x + seen.y * seen.y) * (p->field.x * p->field.x + p->field.y * p->field.y);
    const mask some = flat > 0.0;
    const real size = real_sqrt(real_select(some, flat, real_set(1.0)));
    return real_select(some, (seen.x * p->field.y - seen.y * p->field.x) / size, real_set(0.0));
}

/// An IMU sample has come; `field` is the latest of the magnetometer, zero for none.
VY_FN void complementary_predict(const complementary_params *p, vec3 accel, vec3 gyro, vec3 field,
                                 estimator_state *s)
{
    const real size = vec3_length(accel);
    const mask still = (size > 0.8 * p->weight) & (size < 1.2 * p->weight);
    const vec3 up = quat_unrotate(s->attitude, vec3_scale(-1.0 / p->weight, p->gravity));
    const vec3 felt = vec3_scale(1.0 / real_select(still, size, real_set(1.0)), accel);
    const vec3 lean = vec3_select(still, vec3_cross(felt, up), vec3_zero());
    const vec3 error = vec3_add_scaled(lean, complementary_heading(p, field, s->attitude), up);
    s->gyro_bias = vec3_sub(s->gyro_bias, vec3_scale(p->period * p->bias, error));
    s->rate = vec3_sub(gyro, s->gyro_bias);
    const vec3 turn = vec3_add_scaled(s->rate, p->pull, error);
    s->attitude = attitude_turned(s->attitude, vec3_scale(p->period, turn));
    const vec3 a = vec3_add(quat_rotate(s->attitude, accel), p->gravity);
    s->position =
        vec3_add_scaled(vec3_add_scaled(s->position, p->period, s->velocity), 0.5 * p->period * p->period, a);
    s->velocity = vec3_add_scaled(s->velocity, p->period, a);
}

VY_FN void complementary_position(const complementary_params *p, vec3 position, estimator_state *s)
{
    const vec3 miss = vec3_sub(position, s->position);
    s->position = vec3_add_scaled(s->position, p->position, miss);
    s->velocity = vec3_add_scaled(s->velocity, p->velocity, miss);
}

VY_FN void complementary_velocity(const complementary_params *p, vec3 velocity, estimator_state *s)
{
    s->velocity = vec3_add_scaled(s->velocity, p->speed, vec3_sub(velocity, s->velocity));
}

VY_FN void complementary_height(const complementary_params *p, real height, estimator_state *s)
{
    const real miss = height - s->position.z;
    s->position.z = s->position.z + p->height * miss;
    s->velocity.z = s->velocity.z + p->climb * miss;
}
