// motor.h - motor command to rotor speed: dead zone, idle speed, curve; and the inverse.
//
//   x = (u - dead) / (1 - dead)            0 at and below the dead zone, 1 at full command
//   w = idle + (top - idle) sqrt(s x^2 + (1 - s) x)
//
// With s = 1 speed is proportional to the command, with s = 0 thrust is (the thrust model of PX4's control
// allocation, THR_MDL_FAC, is s).
#pragma once
#include "equations/rotor.h"

/// Constants of a motor and its rotor that lead from a command to a speed, and from a thrust to a command.
typedef struct motor_params {
    bits is_linear;  // the same in every lane: speed is top * command and thrust is quadratic * speed^2
    real speed_max;  // [rad/s] at command 1
    real speed_idle; // [rad/s] just above the dead zone
    real dead_zone;  // commands up to here stop the rotor
    real thrust_model_factor;      // s above
    real quadratic, linear, cubic; // thrust over powers of speed: [N s^2], [N s], [N s^3]
} motor_params;

/// Rotor speed [rad/s] for a command of 0 to 1.
VY_FN real motor_speed(const motor_params *m, real command)
{
    if (VY_BASIC_OR(1, bits_uniform(m->is_linear))) return m->speed_max * command;
    const real x = (command - m->dead_zone) / (1.0 - m->dead_zone);
    const real ratio2 = m->thrust_model_factor * (x * x) + (1.0 - m->thrust_model_factor) * x;
    const real speed =
        m->speed_idle + (m->speed_max - m->speed_idle) * real_sqrt(real_max(ratio2, real_set(0.0)));
    return real_select(command > m->dead_zone, speed, real_set(0.0));
}

/// The command for a speed; 0 for no speed.
VY_FN real motor_command(const motor_params *m, real speed)
{
    const real speed_ratio = real_max(speed - m->speed_idle, real_set(0.0)) / (m->speed_max - m->speed_idle);
    const real ratio2 = speed_ratio * speed_ratio, linear = 1.0 - m->thrust_model_factor;
    // The root of s x^2 + (1 - s) x = share in the form that loses no digits, whatever s.
    const real denominator = linear + real_sqrt(linear * linear + 4.0 * (m->thrust_model_factor * ratio2));
    const real x = 2.0 * ratio2 / real_max(denominator, real_set(1e-150));
    return real_select(speed > 0.0, m->dead_zone + (1.0 - m->dead_zone) * x, real_set(0.0));
}

/// The thrust [N] of a rotor at a speed [rad/s].
VY_FN real motor_thrust(const motor_params *m, real w)
{
    return m->quadratic * (w * w) + (m->linear * w + m->cubic * (w * w * w));
}

/// The speed [rad/s] at which a rotor makes a thrust [N] of at least 0.
VY_FN real motor_speed_for(const motor_params *m, real thrust)
{
    const real root = real_sqrt(m->linear * m->linear + 4.0 * (m->quadratic * thrust));
    real w = (root - m->linear) / (2.0 * m->quadratic);
    for (int i = 0; i < 6; ++i) { // Newton; without a cubic term the start is the answer
        const real value = motor_thrust(m, w);
        const real slope = 2.0 * (m->quadratic * w) + (m->linear + 3.0 * (m->cubic * (w * w)));
        const mask is_refined = (m->cubic * w != 0.0) & (slope > 0.0);
        w = real_select(is_refined, w - (value - thrust) / real_select(is_refined, slope, real_set(1.0)), w);
    }
    return w;
}

/// The command for a thrust [N] of at least 0.
VY_FN real motor_command_for(const motor_params *m, real thrust)
{
    return motor_command(m, motor_speed_for(m, thrust));
}
