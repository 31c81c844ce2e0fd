// integrators.h - one step of a multirotor by any integrator. Over `real`.
//
// All see the same loads (multirotor.h): what is held over a step is held, and rotor speeds and thrusts
// follow their exact solutions, sampled at the times at which an integrator asks for loads.
//   Euler, semi-implicit   at the start
//   RK4                    at the start, twice half-way, at the end
//   Lie midpoint           at the start, twice at the end: the second kick sees the velocities that a first
//                          try of it gives, so that drag and damping are of order 2 as well
#pragma once
#include "equations/body_step.h"
#include "equations/multirotor.h"
#include "volery/integrator.h"

VY_FN void multirotor_wrench_parts(const multirotor_inputs *in, const body_state *s, const real *speed,
                                   const real *command, real time, load_parts *parts, body_wrench *out)
{
    const mat3 rotation = quat_matrix(s->attitude);
    body_loads loads = loads_zero();
    const vec3 gravity =
        multirotor_loads(in, s, rotation, speed, command, VY_BASIC_OR(4, in->layout->count),
                         VY_BASIC_ONLY ? VARIANT_STEADY : VARIANT_GENERAL, time, parts, &loads);
    const vec3 force = vec3_add(mat3_mul_vec(rotation, loads.force_body), loads.force_world);
    out->acceleration = vec3_add_scaled(gravity, in->params->body.inverse_mass, force);
    out->torque = vec3_add(loads.torque_body, mat3_tmul_vec(rotation, loads.torque_world));
}

VY_NOINLINE_FN void multirotor_wrench(const multirotor_inputs *in, const body_state *s, const real *speed,
                                      const real *command, real time, body_wrench *out)
{
    multirotor_wrench_parts(in, s, speed, command, time, NULL, out);
}

VY_COLD_FN void multirotor_wrench_recorded(const multirotor_inputs *in, const body_state *s,
                                           const real *speed, const real *command, real time,
                                           load_parts *parts, body_wrench *out)
{
    multirotor_wrench_parts(in, s, speed, command, time, parts, out);
}

/// As multirotor_step, and keep what acts at its start.
VY_COLD_FN void multirotor_step_recorded(const multirotor_inputs *in, real dt, const real *command,
                                         body_state *s, real *speed, load_parts *parts)
{
    multirotor_step_parts(in, dt, command, VY_BASIC_OR(4, in->layout->count), VARIANT_GENERAL, s, speed,
                          parts);
}

/// The speeds of rotors, and the thrusts behind them, after half a step and after a whole one.
VY_FN void multirotor_follow(const multirotor_inputs *in, const real *command, const real *speed, real *half,
                             real *full)
{
    const int count = VY_BASIC_OR(4, in->layout->count);
    for (int i = 0; i < count; ++i) {
        const mask falls = mask_set(VY_BASIC_OR(0, in->layout->general)) & (command[i] < speed[i]);
        const real decay_half = real_select(falls, in->params->curve.fall_half, in->params->rotor.decay_half);
        const real decay_full = real_select(falls, in->params->curve.fall_full, in->params->rotor.decay_full);
        half[i] = rotor_speed_after(speed[i], command[i], decay_half);
        full[i] = rotor_speed_after(speed[i], command[i], decay_full);
    }
    thrusters_follow(&in->layout->thrusters, speed + count, command + count, half + count, full + count);
}

/// The loads at the start of a step, stored in `parts` unless that is NULL.
VY_FN void multirotor_wrench_at_start(const multirotor_inputs *in, const body_state *s, const real *speed,
                                      const real *command, load_parts *parts, body_wrench *out)
{
    if (parts == NULL) multirotor_wrench(in, s, speed, command, in->held.time, out);
    if (parts != NULL) multirotor_wrench_recorded(in, s, speed, command, in->held.time, parts, out);
}

/// The step of the Lie midpoint rule: half a kick, a free turn, half a kick.
VY_FN void multirotor_step_lie(const multirotor_inputs *in, real dt, const real *command, const real *speed,
                               const real *speed_full, body_state *s, load_parts *parts)
{
    const body_params *body = &in->params->body;
    const real end = in->held.time + dt, half = 0.5 * dt;
    body_wrench wrench;
    multirotor_wrench_at_start(in, s, speed, command, parts, &wrench);
    const body_state kicked = body_kicked(body, s, half, &wrench);
    const body_state drifted = body_drifted(body, &kicked, dt);
    multirotor_wrench(in, &drifted, speed_full, command, end, &wrench);
    const body_state predicted = body_kicked(body, &drifted, half, &wrench);
    multirotor_wrench(in, &predicted, speed_full, command, end, &wrench);
    *s = body_kicked(body, &drifted, half, &wrench);
}

/// RK4 loses the energy of a fast spin, and ends from about two radians a step on: lanes that turn far take
/// the Lie midpoint rule, whose free turn has any length. What acts at the start is the same for both.
VY_COLD_FN void multirotor_step_fast_rotation(const multirotor_inputs *in, real dt, const real *command,
                                              body_state *s, real *speed, load_parts *parts)
{
    real speed_half[ROTOR_CAP], speed_full[ROTOR_CAP];
    body_state turned = *s;
    memset(speed_full, 0, sizeof speed_full); // a body has no rotors
    multirotor_follow(in, command, speed, speed_half, speed_full);
    multirotor_step_lie(in, dt, command, speed, speed_full, &turned, parts);
#if VY_BASIC_ONLY // one lane, and no other step
    *s = turned;
    for (int i = 0; i < 4; ++i) speed[i] = rotor_speed_flushed(speed_full[i]);
    return;
#endif
    const mask is_fast = rotates_too_far(s, dt);
    multirotor_step(in, dt, command, s, speed);
    s->position = vec3_select(is_fast, turned.position, s->position);
    s->velocity = vec3_select(is_fast, turned.velocity, s->velocity);
    s->attitude = quat_select(is_fast, turned.attitude, s->attitude);
    s->rate = vec3_select(is_fast, turned.rate, s->rate);
}

/// multirotor_step for any rate of turn.
VY_FN void multirotor_step_rk4(const multirotor_inputs *in, real dt, const real *command, body_state *s,
                               real *speed)
{
    if (mask_any(rotates_too_far(s, dt))) {
        multirotor_step_fast_rotation(in, dt, command, s, speed, NULL);
    } else {
        multirotor_step(in, dt, command, s, speed);
    }
}

/// As multirotor_step_rk4, by any integrator. `parts`: the loads at its start, or NULL.
VY_NOINLINE_FN void multirotor_step_with(vy_integrator integrator, const multirotor_inputs *in, real dt,
                                         const real *command, body_state *s, real *speed, load_parts *parts)
{
    if (integrator == VY_INTEGRATOR_RK4) {
        if (parts == NULL) {
            multirotor_step_rk4(in, dt, command, s, speed);
        } else if (mask_any(rotates_too_far(s, dt))) {
            multirotor_step_fast_rotation(in, dt, command, s, speed, parts);
        } else {
            multirotor_step_recorded(in, dt, command, s, speed, parts);
        }
        return;
    }
    const body_params *body = &in->params->body;
    real speed_half[ROTOR_CAP], speed_full[ROTOR_CAP];
    memset(speed_full, 0, sizeof speed_full); // a body has no rotors
    multirotor_follow(in, command, speed, speed_half, speed_full);
    if (integrator == VY_INTEGRATOR_LIE_MIDPOINT) {
        multirotor_step_lie(in, dt, command, speed, speed_full, s, parts);
    } else {
        body_wrench wrench;
        multirotor_wrench_at_start(in, s, speed, command, parts, &wrench);
        *s = integrator == VY_INTEGRATOR_EULER ? body_euler(body, s, dt, &wrench)
                                               : body_semi_implicit(body, s, dt, &wrench);
    }
    const int count = VY_BASIC_OR(4, in->layout->count);
    for (int i = 0; i < count; ++i) speed[i] = rotor_speed_flushed(speed_full[i]);
    for (int i = count; i < count + VY_BASIC_OR(0, in->layout->thrusters.count); ++i)
        speed[i] = thrust_flushed(speed_full[i]);
}
