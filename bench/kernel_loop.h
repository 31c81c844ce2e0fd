// kernel_loop.h - the bare loop: RK4 of the flight equations under a proportional controller, and nothing
// else. Over `real`.
#pragma once
#include "equations/multirotor.h"

VY_FN void kernel_start(body_state *state, real *speed)
{
    const real zero = real_set(0.0);
    state->position = vec3_make(zero, zero, real_set(1.0));
    state->velocity = vec3_zero();
    state->attitude = quat_identity();
    state->rate = vec3_make(real_set(0.1), real_set(-0.1), real_set(0.05));
    for (int i = 0; i < 4; ++i) speed[i] = real_set(1540.0);
}

/// `effects` are those computed; `steady`: by the short way through air that is everywhere the same.
VY_FN void kernel_fly(int steps, uint64_t effects, int steady, body_state *state, real *speed)
{
    const double lever = 0.046 * 0.70710678118654752440;
    rotor_layout layout;
    multirotor_params params;
    environment_model env;
    multirotor_inputs inputs;
    memset(&layout, 0, sizeof layout);
    memset(&params, 0, sizeof params);
    memset(&env, 0, sizeof env);
    memset(&inputs, 0, sizeof inputs);
    layout.count = 4;
    layout.roll[0] = layout.roll[3] = layout.pitch[2] = layout.pitch[3] = lever;
    layout.roll[1] = layout.roll[2] = layout.pitch[0] = layout.pitch[1] = -lever;
    layout.yaw[0] = layout.yaw[2] = 1.0;
    layout.yaw[1] = layout.yaw[3] = -1.0;
    params.body.inverse_mass = real_set(1.0 / 0.028);
    params.body.inertia = mat3_diag(real_set(1.4e-5), real_set(1.4e-5), real_set(2.17e-5));
    params.body.inverse_inertia = mat3_inverse(params.body.inertia);
    params.rotor.thrust_coef = real_set(2.88e-8);
    params.rotor.torque_coef = real_set(7.24e-10);
    params.rotor.decay_half = real_set(0.96721610048200536); // lag 15 ms, step 1 ms
    params.rotor.decay_full = real_set(0.93550698503161778);
    params.effects.mass = real_set(0.028);
    params.effects.drag_area = real_set(2e-3 / 1.225);
    env.gravity.uniform = vec3_make(real_set(0.0), real_set(0.0), real_set(-9.80665));
    env.air.mode = ATMOSPHERE_STANDARD;
    env.air.pressure = 101325.0;
    env.air.temperature = 288.15;
    env.air.density = 1.225;
    env.steady = steady;
    inputs.layout = &layout;
    inputs.params = &params;
    inputs.env = &env;
    inputs.flags = bits_set(effects);
    for (int i = 0; i < steps; ++i) {
        const real common_speed = 1543.88 - 77.0 * (state->position.z - 1.0) - 77.0 * state->velocity.z;
        const real roll = 20.0 * state->rate.x, pitch = 20.0 * state->rate.y, yaw = 20.0 * state->rate.z;
        const real command[ROTOR_CAP] = {common_speed - roll + pitch - yaw, common_speed + roll + pitch + yaw,
                                         common_speed + roll - pitch - yaw,
                                         common_speed - roll - pitch + yaw};
        multirotor_step_variant(&inputs, real_set(1e-3), command, 4, VARIANT_GENERAL, state, speed);
    }
}
