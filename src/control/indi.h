// indi.h - rates to torque by increments (incremental nonlinear dynamic inversion), over `real`.
//
// E. Smeur, Q. Chu, G. de Croon, Adaptive incremental nonlinear dynamic inversion for attitude control of
// micro air vehicles, JGCD 39(3), 2016. Where NDI computes the whole torque from the inertia, INDI measures
// the angular acceleration and adds the missing part to the torque that acts already:
//
//   t = t_f + I (k (w_wanted - w) - w'_f)
//
// w'_f is the derivative of the measured rate through a second-order Butterworth filter; t_f is the torque of
// the commands, behind the lag of the motors, through the same filter, so that both are equally late. A
// constant external torque, a wrong inertia or a gyroscopic term is in w'_f and needs no model.
#pragma once
#include "base/vec.h"

typedef struct indi_params {
    real transition[2][2]; // state transition of (value - input, derivative) over a period
    real lag_decay;        // what is left of a difference between commanded and acting torque after a period
} indi_params;

/// A filtered vector and its derivative.
typedef struct indi_filter {
    vec3 value, derivative;
} indi_filter;

typedef struct indi_state {
    indi_filter rate;   // [rad/s] [rad/s^2] body
    vec3 lagged;        // [N m] commanded torque behind the lag of the motors
    indi_filter torque; // [N m] [N m/s]
} indi_state;

/// The exact step of value'' = c^2 (input - value) - sqrt(2) c value' with a constant input.
VY_FN void indi_filter_step(const indi_params *p, vec3 input, indi_filter *f)
{
    const vec3 d = vec3_sub(f->value, input), s = f->derivative;
    f->value = vec3_add(input, vec3_add_scaled(vec3_scale(p->transition[0][0], d), p->transition[0][1], s));
    f->derivative = vec3_add_scaled(vec3_scale(p->transition[1][0], d), p->transition[1][1], s);
}

/// The torque [N m] for the desired angular acceleration [rad/s^2], from the measured rate and the torque
/// that the present motor commands make.
VY_FN vec3 indi_torque(const indi_params *p, mat3 inertia, vec3 acceleration, vec3 rate, vec3 commanded,
                       indi_state *s)
{
    s->lagged = vec3_add_scaled(commanded, p->lag_decay, vec3_sub(s->lagged, commanded));
    indi_filter_step(p, rate, &s->rate);
    indi_filter_step(p, s->lagged, &s->torque);
    return vec3_add(s->torque.value, mat3_mul_vec(inertia, vec3_sub(acceleration, s->rate.derivative)));
}

/// In flight at `rate` under the torque of the present commands, in balance.
VY_FN indi_state indi_start(vec3 rate, vec3 torque)
{
    indi_state s;
    s.rate.value = rate;
    s.torque.value = s.lagged = torque;
    s.rate.derivative = s.torque.derivative = vec3_zero();
    return s;
}

VY_FN indi_filter indi_filter_select(mask m, indi_filter a, indi_filter b)
{
    indi_filter f = {vec3_select(m, a.value, b.value), vec3_select(m, a.derivative, b.derivative)};
    return f;
}

VY_FN indi_state indi_select(mask m, indi_state a, indi_state b)
{
    indi_state s = {indi_filter_select(m, a.rate, b.rate), vec3_select(m, a.lagged, b.lagged),
                    indi_filter_select(m, a.torque, b.torque)};
    return s;
}
