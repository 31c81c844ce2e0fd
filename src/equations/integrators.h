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

VY_BIG_FN void multirotor_push(const multirotor_inputs *in, const body_state *s, const real *speed,
                               const real *command, real time, body_wrench *out)
{
    const mat3 rotation = quat_matrix(s->attitude);
    body_loads l = loads_zero();
    const vec3 gravity =
        multirotor_loads(in, s, rotation, speed, command, in->layout->count, WAY_ANY, time, &l);
    const vec3 force = vec3_add(mat3_mul_vec(rotation, l.force_body), l.force_world);
    out->acceleration = vec3_add_scaled(gravity, in->params->body.inverse_mass, force);
    out->torque = vec3_add(l.torque_body, mat3_tmul_vec(rotation, l.torque_world));
}

/// The speeds of rotors, and the thrusts behind them, after half a step and after a whole one.
VY_FN void multirotor_follow(const multirotor_inputs *in, const real *command, const real *speed, real *half,
                             real *full)
{
    const int count = in->layout->count;
    for (int i = 0; i < count; ++i) {
        const mask falls = mask_set(in->layout->general) & (command[i] < speed[i]);
        const real decay_half = real_select(falls, in->params->shape.fall_half, in->params->rotor.decay_half);
        const real decay_full = real_select(falls, in->params->shape.fall_full, in->params->rotor.decay_full);
        half[i] = rotor_speed_after(speed[i], command[i], decay_half);
        full[i] = rotor_speed_after(speed[i], command[i], decay_full);
    }
    thrusters_follow(&in->layout->thrusters, speed + count, command + count, half + count, full + count);
}

/// As multirotor_step, by any integrator.
VY_BIG_FN void multirotor_step_by(vy_integrator integrator, const multirotor_inputs *in, real dt,
                                  const real *command, body_state *s, real *speed)
{
    if (integrator == VY_INTEGRATOR_RK4) {
        multirotor_step(in, dt, command, s, speed);
        return;
    }
    const body_params *body = &in->params->body;
    const real start = in->held.time, end = start + dt, half = 0.5 * dt;
    real speed_half[ROTOR_CAP], speed_full[ROTOR_CAP];
    multirotor_follow(in, command, speed, speed_half, speed_full);
    body_wrench wrench;
    multirotor_push(in, s, speed, command, start, &wrench);
    if (integrator == VY_INTEGRATOR_EULER) {
        *s = body_euler(body, s, dt, &wrench);
    } else if (integrator == VY_INTEGRATOR_SEMI_IMPLICIT) {
        *s = body_semi_implicit(body, s, dt, &wrench);
    } else {
        const body_state kicked = body_kicked(body, s, half, &wrench);
        const body_state drifted = body_drifted(body, &kicked, dt);
        multirotor_push(in, &drifted, speed_full, command, end, &wrench);
        const body_state tried = body_kicked(body, &drifted, half, &wrench);
        multirotor_push(in, &tried, speed_full, command, end, &wrench);
        *s = body_kicked(body, &drifted, half, &wrench);
    }
    const int count = in->layout->count;
    for (int i = 0; i < count; ++i) speed[i] = rotor_speed_settled(speed_full[i]);
    for (int i = count; i < count + in->layout->thrusters.count; ++i)
        speed[i] = thruster_settled(speed_full[i]);
}
