// thruster.h - jets and thrusters: a force at a point along an axis, throttled or in pulses.
//
//   F = axis * sum of T_i,  t = r_i x F_i      T_i' = (target - T_i) / lag, one lag to rise and one to fall
//
// A throttled one makes nothing at command 0 and from `thrust_min` to `thrust_max` above it. A pulsed one has
// a valve that is open or shut: every `period` it opens for the command's share of it. What is too short for
// the valve, or no whole number of steps, waits for the next period, so that the mean thrust is the commanded
// one (pulse width modulation with the error fed back: M. Sidi, Spacecraft Dynamics and Control, 1997,
// chapter 9).
#pragma once
#include "equations/rigid_body.h"
#include "base/assert.h"

/// Rotors and thrusters of a vehicle share their commands: together they are no more than this.
#define THRUSTER_CAP 8

/// Thrusters of a vehicle, the same for every drone of a batch. Positions are from the centre of mass.
typedef struct thruster_layout {
    int count;
    double axis[THRUSTER_CAP][3];                              // unit vector of the force, body
    double lever[THRUSTER_CAP][3];                             // [m] torque per newton
    double thrust_max[THRUSTER_CAP], thrust_min[THRUSTER_CAP]; // [N]
    double rise_half[THRUSTER_CAP],
        rise_full[THRUSTER_CAP]; // what is left of an error after half a step and a whole one
    double fall_half[THRUSTER_CAP], fall_full[THRUSTER_CAP]; // the same when the thrust falls
    double pulse_min[THRUSTER_CAP];                          // [s] of a pulse
    double step;                                             // [s] of the world
    uint64_t period[THRUSTER_CAP];                           // [steps] from pulse to pulse; 0: throttled
    double nozzle[THRUSTER_CAP][3];                          // [m] nozzle, body; for display
} thruster_layout;

/// State of a vehicle's thrusters.
typedef struct thruster_state {
    real thrust[THRUSTER_CAP]; // [N]
    real owed[THRUSTER_CAP];   // [s] of open valve that was asked for and is still to come
    bits shut[THRUSTER_CAP];   // tick at which the valve shuts
} thruster_state;

/// Below this [N] a decaying thrust is set to 0: its decay must not end in denormal numbers.
#define THRUSTER_FLOOR 1e-12

/// The thrust [N] that a throttled thruster makes of its command, 0 to 1.
VY_FN real thruster_throttled(const thruster_layout *layout, int i, real command)
{
    const real thrust = layout->thrust_min[i] + (layout->thrust_max[i] - layout->thrust_min[i]) * command;
    return real_select(command > 0.0, thrust, real_set(0.0));
}

/// The thrust [N] that a pulsed one tends to during the step that begins at `tick`; where `is_due`, a period
/// begins there and its valve is set.
VY_FN real thruster_pulsed(const thruster_layout *layout, int i, mask is_due, bits tick, real command,
                           thruster_state *s)
{
    const real period_steps = real_set((double)layout->period[i]);
    VY_ASSERT(i >= 0 && i < layout->count && layout->period[i] > 0 && layout->step > 0.0);
    const real requested_time = s->owed[i] + command * (period_steps * layout->step);
    // Half a millionth of a step is rounding and not time.
    const real open_steps = requested_time / layout->step + 5e-7, nearest = real_round(open_steps);
    const real whole_steps =
        real_min(real_select(nearest > open_steps, nearest - 1.0, nearest), period_steps);
    const real granted_steps =
        real_select(requested_time + 5e-7 * layout->step < layout->pulse_min[i], real_set(0.0), whole_steps);
    const real remainder =
        real_clamp(requested_time - granted_steps * layout->step, real_set(0.0), period_steps * layout->step);
    s->owed[i] = real_select(is_due, remainder, s->owed[i]);
    s->shut[i] = bits_select(is_due, tick + real_round_bits(granted_steps), s->shut[i]);
    return real_select(tick < s->shut[i], real_set(layout->thrust_max[i]), real_set(0.0));
}

/// Thrusts after half a step and a whole one: the exact solution of their lags.
VY_FN void thrusters_follow(const thruster_layout *layout, const real *thrust, const real *target, real *half,
                            real *full)
{
    for (int i = 0; i < layout->count; ++i) {
        const mask falls = target[i] < thrust[i];
        const real error = thrust[i] - target[i];
        half[i] = target[i] +
                  error * real_select(falls, real_set(layout->fall_half[i]), real_set(layout->rise_half[i]));
        full[i] = target[i] +
                  error * real_select(falls, real_set(layout->fall_full[i]), real_set(layout->rise_full[i]));
    }
}

VY_FN real thrust_flushed(real thrust) { return real_select(thrust < THRUSTER_FLOOR, real_set(0.0), thrust); }

/// Add their loads.
VY_FN void thrusters_add(const thruster_layout *layout, const real *thrust, body_loads *loads)
{
    for (int i = 0; i < layout->count; ++i) {
        loads->force_body = vec3_add_scaled(loads->force_body, thrust[i], vec3_of(layout->axis[i]));
        loads->torque_body = vec3_add_scaled(loads->torque_body, thrust[i], vec3_of(layout->lever[i]));
    }
}
