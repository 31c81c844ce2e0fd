// coupled_step.h - one step of a multirotor with states and inputs beside its body that the forces depend on:
// induced velocities, a battery, disturbances that move. All of them go through the integrator's stages.
//
//   u' = (u_steady(x) - u) / lag        induced velocity of each rotor
//   w' = (command V(c, w) / V_nominal - w) / lag    rotor speeds on a battery of charge c
//   c' = -I(c, w)
//
// RK4 of the body and the charge is ETDRK4 of what lags (Cox, Matthews, Exponential time differencing for
// stiff systems, 2002): with a lag of infinity it is RK4, and for a constant target it is the exact solution,
// to the last bit that of a step that is not coupled. Without a lag the state is what its target is, which
// every stage solves for.
#pragma once
#include "equations/integrators.h"

/// What there is beside the body and the rotors' speeds.
typedef struct coupled_state {
    rotor_air_state air;
    real charge; // [A s]
} coupled_state;

/// A moment within a step, and what follows from it.
typedef struct coupled_stage {
    body_state body;
    real speed[ROTOR_CAP]; // [rad/s], behind them the thrusts of thrusters
    coupled_state state;
    real target[ROTOR_CAP]; // [rad/s] by the voltage there is
    real current;           // [A]
    real steady[ROTOR_CAP]; // [m/s] induced velocity that each rotor tends to
} coupled_stage;

/// How the rotors' speeds follow in this step: up or down from its start on.
typedef struct rotor_lag {
    real half[ROTOR_CAP], full[ROTOR_CAP]; // what is left of an error after half a step and a whole one
    lag_weights weights[ROTOR_CAP];
} rotor_lag;

VY_FN int step_is_coupled(const multirotor_inputs *in)
{
    return in->half != NULL || in->battery != NULL || in->has_inflow;
}

/// Power [W] at the shafts of all rotors.
VY_FN real rotors_power(const rotor_layout *layout, const multirotor_params *p, const real *speed)
{
    real power = real_set(0.0);
    VY_ASSERT(layout->count <= ROTOR_CAP);
    for (int k = 0; k < layout->count; ++k) {
        const real thrust = rotor_thrust(layout, &p->rotor, &p->curve, k, speed[k]);
        const real torque = layout->torque_scale[k] * (p->curve.torque_ratio * thrust);
        power = power + torque * speed[k];
    }
    return power;
}

/// The factor of a battery on speed targets, its voltage over the nominal one: 1 in lanes without a battery
/// and where its effect is neglected; a neglected battery is drained all the same.
VY_FN real battery_voltage_ratio(const multirotor_inputs *in, real charge, const real *speed, real *current)
{
    const battery_params *b = in->battery;
    const mask has_battery = b->capacity > 0.0;
    const real volts = battery_voltage(b, charge, rotors_power(in->layout, in->params, speed), current);
    *current = real_select(has_battery, *current, real_set(0.0));
    return real_select(has_battery & effect_on(in->flags, EFFECT_battery), volts / b->nominal, real_set(1.0));
}

/// Lanes whose motors have no lag at all.
VY_FN mask motors_are_ideal(const multirotor_inputs *in)
{
    const mask rise_is_ideal = in->params->rotor.decay_full == 0.0;
    return in->layout->general ? rise_is_ideal & (in->params->curve.fall_full == 0.0) : rise_is_ideal;
}

/// Speeds of ideal motors on a battery: target = command V(target) / V_nominal. Newton's method for the one
/// share that they have in common; power grows about with its cube.
VY_COLD_FN void coupled_solve_ideal_motors(const multirotor_inputs *in, const real *command, mask ideal,
                                           coupled_stage *stage)
{
    const battery_params *b = in->battery;
    const int count = in->layout->count;
    const mask active = ideal & (b->capacity > 0.0) & effect_on(in->flags, EFFECT_battery);
    const real open_circuit = battery_open_voltage(b, stage->state.charge), one = real_set(1.0);
    real ratio = open_circuit / b->nominal, target[ROTOR_CAP], current;
    for (int n = 0; n < 6; ++n) {
        for (int i = 0; i < count; ++i) target[i] = command[i] * ratio;
        const real power = rotors_power(in->layout, in->params, target);
        const real volts = battery_voltage(b, stage->state.charge, power, &current);
        const real root = 2.0 * volts - open_circuit; // sqrt(E^2 - 4 R P)
        const mask has_slope = (root > 0.0) & (ratio > 0.0);
        const real slope = 3.0 * (power / b->efficiency) * b->resistance /
                           (real_select(has_slope, root * ratio, one) * b->nominal);
        const real residual = ratio - volts / b->nominal;
        ratio =
            real_max(ratio - residual / (1.0 + real_select(has_slope, slope, real_set(0.0))), real_set(0.0));
    }
    for (int i = 0; i < count; ++i) {
        stage->speed[i] = real_select(active, command[i] * ratio, stage->speed[i]);
        stage->speed[i] = real_select(ideal & mask_not(active), command[i], stage->speed[i]);
    }
}

/// Speed targets at the present voltage, and the current.
VY_FN void coupled_set_targets(const multirotor_inputs *in, const real *command, coupled_stage *stage)
{
    const int count = in->layout->count, effectors = count + in->layout->thrusters.count;
    real ratio = real_set(1.0);
    stage->current = real_set(0.0);
    if (in->battery != NULL) {
        const mask ideal = motors_are_ideal(in);
        if (mask_any(ideal)) coupled_solve_ideal_motors(in, command, ideal, stage);
        ratio = battery_voltage_ratio(in, stage->state.charge, stage->speed, &stage->current);
    }
    for (int i = 0; i < effectors; ++i) stage->target[i] = i < count ? command[i] * ratio : command[i];
}

/// The inputs of the loads at a moment of the step: `part` is 0 at its start, 1 half-way, 2 at its end.
VY_FN void coupled_inputs(const multirotor_inputs *in, coupled_stage *stage, int part, multirotor_inputs *out)
{
    *out = *in;
    out->half = out->end = NULL;
    out->battery = NULL;
    if (in->memory != NULL) out->memory = &stage->state.air;
    if (in->has_inflow) out->steady = stage->steady;
    if (in->half != NULL && part > 0) out->held.disturbance = part == 1 ? *in->half : *in->end;
}

/// Time after `part` halves of a step.
VY_FN real coupled_time(const multirotor_inputs *in, real dt, int part)
{
    const real start = in->held.time;
    return part == 0 ? start : part == 1 ? start + 0.5 * dt : start + dt;
}

/// Without a lag it is what it would be in the end.
VY_FN void coupled_solve_ideal_inflow(const multirotor_inputs *in, coupled_stage *stage)
{
    if (!in->has_inflow) return;
    const mask has_no_lag = in->params->effects.rotors.inflow_decay == 0.0;
    for (int i = 0; i < in->layout->count; ++i)
        stage->state.air.inflow[i] = real_select(has_no_lag, stage->steady[i], stage->state.air.inflow[i]);
}

// One that keeps the parts, out of the way.
VY_COLD_FN void coupled_derivative_recorded(const multirotor_inputs *stage_inputs, const coupled_stage *stage,
                                            real time, load_parts *parts, body_derivatives *rates)
{
    *rates = multirotor_derivative_parts(stage_inputs, &stage->body, stage->speed, stage->target,
                                         stage_inputs->layout->count, VARIANT_GENERAL, time, parts);
}

/// `parts`: the loads at that moment, or NULL; likewise below.
VY_NOINLINE_FN void coupled_derivative(const multirotor_inputs *in, real dt, const real *command, int part,
                                       coupled_stage *stage, load_parts *parts, body_derivatives *rates)
{
    multirotor_inputs stage_inputs;
    const real time = coupled_time(in, dt, part);
    coupled_set_targets(in, command, stage);
    coupled_inputs(in, stage, part, &stage_inputs);
    if (parts == NULL) {
        *rates = multirotor_derivative(&stage_inputs, &stage->body, stage->speed, stage->target,
                                       in->layout->count, VARIANT_GENERAL, time);
    } else {
        coupled_derivative_recorded(&stage_inputs, stage, time, parts, rates);
    }
    coupled_solve_ideal_inflow(in, stage);
}

VY_FN void coupled_set_rotor_lag(const multirotor_inputs *in, const coupled_stage *start, rotor_lag *lag)
{
    const multirotor_params *p = in->params;
    for (int i = 0; i < in->layout->count; ++i) {
        const mask falls = mask_set(in->layout->general) & (start->target[i] < start->speed[i]);
        lag->half[i] = real_select(falls, p->curve.fall_half, p->rotor.decay_half);
        lag->full[i] = real_select(falls, p->curve.fall_full, p->rotor.decay_full);
        lag->weights[i].middle =
            real_select(falls, p->curve.fall_weights.middle, p->curve.rise_weights.middle);
        lag->weights[i].last = real_select(falls, p->curve.fall_weights.last, p->curve.rise_weights.last);
        lag->weights[i].last_linear =
            real_select(falls, p->curve.fall_weights.last_linear, p->curve.rise_weights.last_linear);
    }
}

/// The start of a step.
VY_FN void coupled_start(const multirotor_inputs *in, const body_state *s, const real *speed,
                         const coupled_state *c, coupled_stage *stage)
{
    const int effectors = in->layout->count + in->layout->thrusters.count;
    memset(stage, 0, sizeof *stage);
    stage->body = *s;
    for (int i = 0; i < effectors; ++i) stage->speed[i] = speed[i];
    stage->state = *c;
}

/// What lags after a time of which `decay` is left, with the target `g` all the while; and with one that is
/// `g` at the start, and its changes by their weights.
VY_FN real lag_after(real u, real g, real decay) { return g + (u - g) * decay; }
VY_FN real lag_full(real u, real g, real decay, real change) { return lag_after(u, g, decay) + change; }

/// Stages 1 to 3 from those before them.
VY_FN void coupled_advance(const multirotor_inputs *in, real dt, const rotor_lag *lag, const real *command,
                           const body_derivatives *rates, int n, coupled_stage *stages)
{
    const rotor_air_params *air = &in->params->effects.rotors;
    const coupled_stage *first = &stages[0], *last = &stages[n - 1];
    const int count = in->layout->count;
    const real step = n == 3 ? dt : 0.5 * dt, zero = real_set(0.0);
    coupled_stage *next = &stages[n];
    next->body = body_advance(&first->body, step, rates);
    next->state = first->state;
    for (int i = 0; i < count; ++i) {
        const real initial = first->speed[i];
        const real speed =
            n < 3 ? lag_after(initial, last->target[i], lag->half[i])
                  : lag_full(initial, first->target[i], lag->full[i],
                             2.0 * ((1.0 - lag->half[i]) * (last->target[i] - first->target[i])));
        next->speed[i] = in->battery == NULL ? speed : real_max(speed, zero);
    }
    real half[ROTOR_CAP], full[ROTOR_CAP];
    thrusters_follow(&in->layout->thrusters, first->speed + count, command + count, half, full);
    for (int i = 0; i < in->layout->thrusters.count; ++i) next->speed[count + i] = n < 3 ? half[i] : full[i];
    if (in->battery != NULL)
        next->state.charge = battery_charge_after(first->state.charge, last->current, step);
    if (!in->has_inflow) return;
    for (int i = 0; i < count; ++i) {
        const real initial = first->state.air.inflow[i];
        next->state.air.inflow[i] =
            n < 3 ? lag_after(initial, last->steady[i], air->inflow_half)
                  : lag_full(initial, first->steady[i], air->inflow_decay,
                             2.0 * ((1.0 - air->inflow_half) * (last->steady[i] - first->steady[i])));
    }
}

/// The induced velocities at the end of a step, in the lanes that have any.
VY_FN void coupled_inflow_end(const multirotor_inputs *in, const real *end_values, coupled_state *c)
{
    const mask has_inflow = in->params->effects.rotors.momentum_factor > 0.0;
    for (int i = 0; i < in->layout->count; ++i) {
        const real flushed = real_select(end_values[i] < INFLOW_FLOOR, real_set(0.0), end_values[i]);
        c->air.inflow[i] = real_select(has_inflow, flushed, c->air.inflow[i]);
    }
}

/// Rotor speeds and thrusts at the end of a step.
VY_FN void coupled_speeds_end(const multirotor_inputs *in, const real *end_values, const coupled_stage *end,
                              real *speed)
{
    const int count = in->layout->count;
    for (int i = 0; i < count; ++i) {
        const real w = in->battery == NULL ? end_values[i] : real_max(end_values[i], real_set(0.0));
        speed[i] = rotor_speed_flushed(w);
    }
    for (int i = count; i < count + in->layout->thrusters.count; ++i)
        speed[i] = thrust_flushed(end->speed[i]);
}

/// RK4 from the four stages, which the caller may look at. `parts`: of the first.
VY_NOINLINE_FN void coupled_rk4(const multirotor_inputs *in, real dt, const real *command, body_state *s,
                                real *speed, coupled_state *c, coupled_stage stages[4], load_parts *parts)
{
    const rotor_air_params *air = &in->params->effects.rotors;
    body_derivatives rates[4];
    rotor_lag lag;
    coupled_start(in, s, speed, c, &stages[0]);
    coupled_derivative(in, dt, command, 0, &stages[0], parts, &rates[0]);
    coupled_set_rotor_lag(in, &stages[0], &lag);
    for (int n = 1; n < 4; ++n) {
        coupled_advance(in, dt, &lag, command, &rates[n - 1], n, stages);
        coupled_derivative(in, dt, command, n == 3 ? 2 : 1, &stages[n], NULL, &rates[n]);
    }
    *s = body_rk4_finish(s, dt, &rates[0], &rates[1], &rates[2], &rates[3]);
    real end_values[ROTOR_CAP];
    for (int i = 0; i < in->layout->count; ++i) {
        const real first_target = stages[0].target[i];
        const real change = lag.weights[i].middle * ((stages[1].target[i] - first_target) +
                                                     (stages[2].target[i] - first_target)) +
                            lag.weights[i].last * (stages[3].target[i] - first_target);
        end_values[i] = lag_full(stages[0].speed[i], first_target, lag.full[i], change);
    }
    coupled_speeds_end(in, end_values, &stages[3], speed);
    if (in->battery != NULL) {
        const real mean_current = (1.0 / 6.0) * ((stages[0].current + stages[3].current) +
                                                 2.0 * (stages[1].current + stages[2].current));
        c->charge = battery_charge_after(c->charge, mean_current, dt);
    }
    if (!in->has_inflow) return;
    for (int i = 0; i < in->layout->count; ++i) {
        const real first_target = stages[0].steady[i];
        const real change = air->inflow_weights.middle * ((stages[1].steady[i] - first_target) +
                                                          (stages[2].steady[i] - first_target)) +
                            air->inflow_weights.last * (stages[3].steady[i] - first_target);
        end_values[i] = lag_full(stages[0].state.air.inflow[i], first_target, air->inflow_decay, change);
    }
    coupled_inflow_end(in, end_values, c);
}

VY_FN void coupled_wrench(const multirotor_inputs *in, real dt, const real *command, int part,
                          coupled_stage *stage, load_parts *parts, body_wrench *out)
{
    multirotor_inputs stage_inputs;
    const real time = coupled_time(in, dt, part);
    coupled_set_targets(in, command, stage);
    coupled_inputs(in, stage, part, &stage_inputs);
    if (parts == NULL) multirotor_wrench(&stage_inputs, &stage->body, stage->speed, stage->target, time, out);
    if (parts != NULL)
        multirotor_wrench_recorded(&stage_inputs, &stage->body, stage->speed, stage->target, time, parts,
                                   out);
    coupled_solve_ideal_inflow(in, stage);
}

/// What lags and drains after a step of order 1, from its start.
VY_FN void coupled_predict(const multirotor_inputs *in, real dt, const rotor_lag *lag, const real *command,
                           const coupled_stage *start, coupled_stage *end)
{
    const rotor_air_params *air = &in->params->effects.rotors;
    const int count = in->layout->count;
    *end = *start;
    for (int i = 0; i < count; ++i) {
        end->speed[i] = lag_after(start->speed[i], start->target[i], lag->full[i]);
        if (in->has_inflow)
            end->state.air.inflow[i] =
                lag_after(start->state.air.inflow[i], start->steady[i], air->inflow_decay);
    }
    real half[ROTOR_CAP];
    thrusters_follow(&in->layout->thrusters, start->speed + count, command + count, half, end->speed + count);
    if (in->battery != NULL)
        end->state.charge = battery_charge_after(start->state.charge, start->current, dt);
}

/// The Lie midpoint from its three evaluations: at the start, at the end of the drift, and there with the
/// velocities that a first kick gives. `parts`: of the first.
VY_NOINLINE_FN void coupled_lie_midpoint(const multirotor_inputs *in, real dt, const real *command,
                                         body_state *s, real *speed, coupled_state *c,
                                         coupled_stage stages[3], load_parts *parts)
{
    const rotor_air_params *air = &in->params->effects.rotors;
    const body_params *body = &in->params->body;
    const real half = 0.5 * dt;
    body_wrench wrench;
    rotor_lag lag;
    coupled_start(in, s, speed, c, &stages[0]);
    coupled_wrench(in, dt, command, 0, &stages[0], parts, &wrench);
    coupled_set_rotor_lag(in, &stages[0], &lag);
    coupled_predict(in, dt, &lag, command, &stages[0], &stages[1]);
    const body_state kicked = body_kicked(body, s, half, &wrench);
    stages[1].body = body_drifted(body, &kicked, dt);
    coupled_wrench(in, dt, command, 2, &stages[1], NULL, &wrench);
    stages[2] = stages[1];
    stages[2].body = body_kicked(body, &stages[1].body, half, &wrench);
    coupled_wrench(in, dt, command, 2, &stages[2], NULL, &wrench);
    *s = body_kicked(body, &stages[1].body, half, &wrench);
    real end_values[ROTOR_CAP];
    for (int i = 0; i < in->layout->count; ++i) {
        const real change = lag.weights[i].last_linear * (stages[2].target[i] - stages[0].target[i]);
        end_values[i] = lag_full(stages[0].speed[i], stages[0].target[i], lag.full[i], change);
    }
    coupled_speeds_end(in, end_values, &stages[2], speed);
    if (in->battery != NULL)
        c->charge = battery_charge_after(c->charge, 0.5 * (stages[0].current + stages[2].current), dt);
    if (!in->has_inflow) return;
    for (int i = 0; i < in->layout->count; ++i) {
        const real change = air->inflow_weights.last_linear * (stages[2].steady[i] - stages[0].steady[i]);
        end_values[i] =
            lag_full(stages[0].state.air.inflow[i], stages[0].steady[i], air->inflow_decay, change);
    }
    coupled_inflow_end(in, end_values, c);
}
