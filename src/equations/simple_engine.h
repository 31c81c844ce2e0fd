// simple_engine.h - the equations of the simple physics service: no engine at all, to the letter of its
// specification. Over `real`.
//
//   v += F / m dt                   with the sum of the forces of the step, world axes
//   w += I^-1 t dt                  body axes; no gyroscopic term
//   q += 1/2 q (0, w) dt            normalised
//   p += v dt                       with the new v, then clamped to the ground z = 0 and to the boundary
//
// Clamping changes the position alone: the velocity stays, and the body sticks.
#pragma once
#include "equations/rigid_body.h"

/// Apply a sum of forces [N] (world axes) and torques [N m] (body axes) to the velocities.
VY_FN void simple_accelerate(real mass, mat3 inverse_inertia, vec3 force, vec3 torque, real dt, body_state *s)
{
    const vec3 acceleration = vec3_make(force.x / mass, force.y / mass, force.z / mass);
    s->velocity = vec3_add_scaled(s->velocity, dt, acceleration);
    s->rate = vec3_add_scaled(s->rate, dt, mat3_mul_vec(inverse_inertia, torque));
}

/// Rotate by the rate. A body that does not rotate keeps its attitude to the bit.
VY_FN void simple_rotate(real dt, body_state *s)
{
    const quat turned =
        quat_normalize(quat_add_scaled(s->attitude, dt, attitude_derivative(s->attitude, s->rate)));
    s->attitude = quat_select(vec3_any_nonzero(s->rate), turned, s->attitude);
}

/// Move by the velocity, within the ground and the boundary [m].
VY_FN void simple_move(real dt, real boundary, body_state *s)
{
    const vec3 p = vec3_add_scaled(s->position, dt, s->velocity);
    s->position = vec3_make(real_clamp(p.x, -boundary, boundary), real_clamp(p.y, -boundary, boundary),
                            real_max(p.z, real_set(0.0)));
}
