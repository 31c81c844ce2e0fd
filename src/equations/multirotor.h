// multirotor.h - one RK4 step of a multirotor: rotors and the effects of the world on a rigid body.
//
// With no rotors it is the step of a rigid body.
#pragma once
#include "equations/battery.h"
#include "equations/rotor.h"
#include "base/assert.h"
#include "equations/environment_model.h"

/// Induced velocities below this [m/s] are set to 0: a decay must not end in denormal numbers.
#define INFLOW_FLOOR 1e-9

typedef struct multirotor_params {
    body_params body;
    rotor_params rotor;
    effect_params effects;
    rotor_curve curve; // read when the layout is general
} multirotor_params;

/// Everything of a step that its four stages share.
typedef struct multirotor_inputs {
    const rotor_layout *layout;
    const multirotor_params *params;
    const environment_model *env;
    held_inputs held;
    bits flags;                    // effects that are computed
    const rotor_air_state *memory; // state of the rotors' effects; NULL when none can be on
    // What makes a step a coupled one (coupled_step.h); nothing of it: it is none.
    const body_loads *half, *end;  // disturbances half-way and at the end; NULL: they do not move
    const battery_params *battery; // NULL: none in any lane
    int has_inflow;                // some lane's rotors have induced velocities
    real *steady; // [m/s] out, of one moment: what each rotor would induce in the end, or NULL
} multirotor_inputs;

/// Adds what rotors, effects and thrusters do; returns gravity [m/s^2]. `count` is layout->count, where
/// possible as a compile-time constant; `variant` is one, and `parts`, where it is NULL. Behind the speeds of
/// the rotors stand the thrusts [N] of the thrusters, in `speed`, in `command` and below.
VY_FN vec3 multirotor_loads(const multirotor_inputs *in, const body_state *s, mat3 rotation,
                            const real *speed, const real *command, int count, enum effect_variant variant,
                            real time, load_parts *parts, body_loads *loads)
{
    if (parts != NULL) memset(parts, 0, sizeof *parts);
    if (variant == VARIANT_GENERAL && VY_BASIC_OR(0, in->layout->general)) {
        rotor_add_general(in->layout, &in->params->rotor, &in->params->curve, speed, count, loads);
    } else {
        rotor_add(in->layout, &in->params->rotor, speed, count, loads);
    }
    rotor_inputs rotor_in;
    if (variant == VARIANT_GENERAL) {
        rotor_in.layout = in->layout;
        rotor_in.rotor = &in->params->rotor;
        rotor_in.curve = &in->params->curve;
        rotor_in.memory = in->memory;
        rotor_in.speed = speed;
        rotor_in.command = command;
        rotor_in.count = count;
        rotor_in.steady = in->steady;
    }
    if (parts != NULL) parts->rotors = *loads;
    vec3 gravity = effects_add_parts(in->env, &in->params->effects, &in->held, s, rotation, time, in->flags,
                                     &rotor_in, variant, parts, loads);
    const body_loads before = parts != NULL ? *loads : loads_zero();
    if (variant == VARIANT_GENERAL) thrusters_add(&in->layout->thrusters, speed + count, loads);
    const body_loads static_loads = parts != NULL ? *loads : loads_zero();
    if (variant == VARIANT_GENERAL && VY_BASIC_OR(0, in->env->gravity.frame.on))
        gravity = vec3_add(
            gravity, local_motion_add(&in->env->gravity.frame, in->params->body.inertia, s, rotation, loads));
    if (parts != NULL) {
        parts->thrusters = loads_added(&before, &static_loads);
        parts->effect[EFFECT_gravity].torque_body = vec3_sub(loads->torque_body, static_loads.torque_body);
        parts->effect[EFFECT_gravity].force_world = vec3_scale(in->params->effects.mass, gravity);
        parts->attitude = s->attitude;
    }
    return gravity;
}

VY_FN body_derivatives multirotor_derivative_parts(const multirotor_inputs *in, const body_state *s,
                                                   const real *speed, const real *command, int count,
                                                   enum effect_variant variant, real time, load_parts *parts)
{
    const mat3 rotation = quat_matrix(s->attitude);
    body_loads loads = loads_zero();
    const vec3 gravity =
        multirotor_loads(in, s, rotation, speed, command, count, variant, time, parts, &loads);
    return body_derivative(&in->params->body, s, rotation, &loads, gravity);
}

VY_FN body_derivatives multirotor_derivative(const multirotor_inputs *in, const body_state *s,
                                             const real *speed, const real *command, int count,
                                             enum effect_variant variant, real time)
{
    return multirotor_derivative_parts(in, s, speed, command, count, variant, time, NULL);
}

/// Advance `s` and `speed` by dt. `command` [rad/s] and what is held stay constant over the step; rotor
/// speeds follow their exact solution and are sampled at the three times of the four stages. `parts`: of the
/// first stage.
VY_FN void multirotor_step_parts(const multirotor_inputs *in, real dt, const real *command, int count,
                                 enum effect_variant variant, body_state *s, real *speed, load_parts *parts)
{
    const rotor_params *rotor = &in->params->rotor;
    const rotor_curve *curve = &in->params->curve;
    real speed_half[ROTOR_CAP], speed_full[ROTOR_CAP];
    for (int i = 0; i < count; ++i) {
        real decay_half = rotor->decay_half, decay_full = rotor->decay_full;
        if (variant == VARIANT_GENERAL &&
            VY_BASIC_OR(0,
                        in->layout->general)) { // it rises or falls all the way: it never passes its command
            const mask falls = command[i] < speed[i];
            decay_half = real_select(falls, curve->fall_half, decay_half);
            decay_full = real_select(falls, curve->fall_full, decay_full);
        }
        speed_half[i] = rotor_speed_after(speed[i], command[i], decay_half);
        speed_full[i] = rotor_speed_after(speed[i], command[i], decay_full);
    }
    if (variant == VARIANT_GENERAL) {
        thrusters_follow(&in->layout->thrusters, speed + count, command + count, speed_half + count,
                         speed_full + count);
    }
    const real half = 0.5 * dt;
    const real t1 = in->held.time, t2 = t1 + half, t4 = t1 + dt;
    const body_derivatives k1 = multirotor_derivative_parts(in, s, speed, command, count, variant, t1, parts);
    const body_state s2 = body_advance(s, half, &k1);
    const body_derivatives k2 = multirotor_derivative(in, &s2, speed_half, command, count, variant, t2);
    const body_state s3 = body_advance(s, half, &k2);
    const body_derivatives k3 = multirotor_derivative(in, &s3, speed_half, command, count, variant, t2);
    const body_state s4 = body_advance(s, dt, &k3);
    const body_derivatives k4 = multirotor_derivative(in, &s4, speed_full, command, count, variant, t4);
    *s = body_rk4_finish(s, dt, &k1, &k2, &k3, &k4);
    for (int i = 0; i < count; ++i) speed[i] = rotor_speed_flushed(speed_full[i]);
    for (int i = count; variant == VARIANT_GENERAL && i < count + VY_BASIC_OR(0, in->layout->thrusters.count);
         ++i)
        speed[i] = thrust_flushed(speed_full[i]);
}

VY_FN void multirotor_step_variant(const multirotor_inputs *in, real dt, const real *command, int count,
                                   enum effect_variant variant, body_state *s, real *speed)
{
    multirotor_step_parts(in, dt, command, count, variant, s, speed, NULL);
}

// One copy, out of the way of the usual flights.
VY_NOINLINE_FN void multirotor_step_general(const multirotor_inputs *in, const real *step,
                                            const real *command, body_state *s, real *speed)
{
    multirotor_step_variant(in, *step, command, VY_BASIC_OR(4, in->layout->count), VARIANT_GENERAL, s, speed);
}

/// The same for a count known at run time: straight-line copies for the usual flights. The order of every sum
/// depends on the count alone, and an effect that is off adds nothing, so each copy gives the same bits.
VY_FN void multirotor_step(const multirotor_inputs *in, real dt, const real *command, body_state *s,
                           real *speed)
{
    const int count = VY_BASIC_OR(4, in->layout->count);
    const int is_ordinary = count == 4 && !VY_BASIC_OR(0, in->layout->general) &&
                            VY_BASIC_OR(0, in->env->gravity.body_count) == 0;
#if VY_BASIC_ONLY // every lane takes the same way, whichever effects it has
    (void)is_ordinary;
    multirotor_step_variant(in, dt, command, 4, VARIANT_STEADY, s, speed);
    return;
#endif
    if (is_ordinary && !mask_any((in->flags & ~(uint64_t)EFFECTS_BASIC) != 0u)) {
        multirotor_step_variant(in, dt, command, 4, VARIANT_BASIC, s, speed);
    } else if (is_ordinary && VY_BASIC_OR(1, in->env->steady) &&
               !mask_any((in->flags & ~(uint64_t)EFFECTS_STEADY) != 0u)) {
        multirotor_step_variant(in, dt, command, 4, VARIANT_STEADY, s, speed);
    } else {
        multirotor_step_general(in, &dt, command, s, speed);
    }
}

/// The induced velocities after a step of the first order of which `s` and `speed` are the start: each goes
/// towards its steady value there, by the exact solution of its lag. (The step itself sees them as they
/// were.)
VY_NOINLINE_FN void multirotor_inflow(const multirotor_inputs *in, const body_state *s, const real *speed,
                                      rotor_air_state *next)
{
    const rotor_air_params *air_params = &in->params->effects.rotors;
    const mat3 rotation = quat_matrix(s->attitude);
    VY_ASSERT(in->memory != NULL && in->memory != next);
    vec3 flow = air_sample_general(in->env, &in->held, s, in->held.time, in->flags).flow;
    flow = vec3_sub(flow, vec3_masked(effect_on(in->flags, EFFECT_downwash), in->memory->downwash));
    rotor_inputs rotor_in;
    rotor_in.layout = in->layout;
    rotor_in.rotor = &in->params->rotor;
    rotor_in.curve = &in->params->curve;
    rotor_in.memory = in->memory;
    rotor_in.speed = speed;
    rotor_in.command = speed;
    rotor_in.count = VY_BASIC_OR(4, in->layout->count);
    rotor_in.steady = NULL;
    rotor_view view;
    rotor_view_at(&rotor_in, air_params, mat3_tmul_vec(rotation, flow), s->rate, real_set(1.0), &view);
    for (int i = 0; i < view.count; ++i) {
        const real hover = rotor_hover_inflow(air_params, view.thrust[i]);
        const real steady = inflow_steady(hover, view.climb[i], vec3_dot(view.across[i], view.across[i]));
        const real inflow = steady + (view.inflow[i] - steady) * air_params->inflow_decay;
        const real flushed = real_select(inflow < INFLOW_FLOOR, real_set(0.0), inflow);
        next->inflow[i] = real_select(air_params->momentum_factor > 0.0, flushed, view.inflow[i]);
    }
}
