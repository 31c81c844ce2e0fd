// multirotor.h - one RK4 step of a multirotor: rotors, drag, gravity and held loads on a rigid body.
//
// With no rotors it is the step of a plain rigid body.
#pragma once
#include "equations/drag.h"
#include "equations/rotor.h"

typedef struct multirotor_params {
    body_params body;
    rotor_params rotor;
    drag_params drag;
} multirotor_params;

VY_FN body_rates multirotor_derivative(const rotor_layout *layout, const multirotor_params *p,
                                       const body_state *s, const real *speed, int count,
                                       const body_loads *held, vec3 gravity)
{
    const mat3 rotation = quat_matrix(s->attitude);
    body_loads loads = *held;
    rotor_add(layout, &p->rotor, speed, count, &loads);
    drag_add(&p->drag, rotation, s->velocity, &loads);
    return body_derivative(&p->body, s, rotation, &loads, gravity);
}

/// Advance `s` and `speed` by dt. `command` [rad/s] and `held` stay constant over the step; rotor speeds
/// follow their exact solution and are sampled at the three times of the four stages. `count` is
/// layout->count as a compile-time constant (see multirotor_step).
VY_FN void multirotor_step_count(const rotor_layout *layout, const multirotor_params *p, real dt,
                                 vec3 gravity, const body_loads *held, const real *command, int count,
                                 body_state *s, real *speed)
{
    real speed_half[ROTOR_CAP], speed_full[ROTOR_CAP];
    for (int i = 0; i < count; ++i) {
        speed_half[i] = rotor_speed_after(speed[i], command[i], p->rotor.decay_half);
        speed_full[i] = rotor_speed_after(speed[i], command[i], p->rotor.decay_full);
    }
    const real half = 0.5 * dt;
    const body_rates k1 = multirotor_derivative(layout, p, s, speed, count, held, gravity);
    const body_state s2 = body_advance(s, half, &k1);
    const body_rates k2 = multirotor_derivative(layout, p, &s2, speed_half, count, held, gravity);
    const body_state s3 = body_advance(s, half, &k2);
    const body_rates k3 = multirotor_derivative(layout, p, &s3, speed_half, count, held, gravity);
    const body_state s4 = body_advance(s, dt, &k3);
    const body_rates k4 = multirotor_derivative(layout, p, &s4, speed_full, count, held, gravity);
    *s = body_rk4_finish(s, dt, &k1, &k2, &k3, &k4);
    for (int i = 0; i < count; ++i) speed[i] = rotor_speed_settled(speed_full[i]);
}

/// The same for a count known at run time: one straight-line copy per count.
VY_FN void multirotor_step(const rotor_layout *layout, const multirotor_params *p, real dt, vec3 gravity,
                           const body_loads *held, const real *command, body_state *s, real *speed)
{
    switch (layout->count) {
    case 0: multirotor_step_count(layout, p, dt, gravity, held, command, 0, s, speed); break;
    case 1: multirotor_step_count(layout, p, dt, gravity, held, command, 1, s, speed); break;
    case 2: multirotor_step_count(layout, p, dt, gravity, held, command, 2, s, speed); break;
    case 3: multirotor_step_count(layout, p, dt, gravity, held, command, 3, s, speed); break;
    case 4: multirotor_step_count(layout, p, dt, gravity, held, command, 4, s, speed); break;
    case 5: multirotor_step_count(layout, p, dt, gravity, held, command, 5, s, speed); break;
    case 6: multirotor_step_count(layout, p, dt, gravity, held, command, 6, s, speed); break;
    case 7: multirotor_step_count(layout, p, dt, gravity, held, command, 7, s, speed); break;
    default: multirotor_step_count(layout, p, dt, gravity, held, command, 8, s, speed); break;
    }
}
