// nap.h - the negligibility policy: which effects are computed, what zeroing the others can have done. Over
// `real`.
//
// At every evaluation the body's *reach* until the next one is bounded: how fast it can get, how fast it can
// turn, how dense and windy the air can be there. From it each effect states a force and a torque that it
// cannot exceed. An effect whose bounds are below the thresholds is computed as zero until the next
// evaluation.
#pragma once
#include "environment/nap_deviation.h"

/// Whether an effect is left out only where it is zero exactly: nothing may be neglected, or joints may do
/// anything.
VY_FN int nap_is_exact(const nap_params *n)
{
    return VY_BASIC_OR(0, bits_uniform(n->strict)) || VY_BASIC_OR(0, bits_uniform(n->jointed));
}

/// One bit per effect: zeroed when below both thresholds, computed again when above one of the higher ones.
/// `weight` [N] is what forces are small against, and itself against nothing: gravity has the absolute
/// threshold alone.
VY_FN bits nap_decide(const nap_params *nap, const nap_bounds *bounds, real weight, bits flags)
{
    const real relative = real_max(nap->force_abs, nap->force_rel * weight);
    const int is_exact = nap_is_exact(nap);
    for (int i = 0; i < EFFECT_COUNT; ++i) {
        if (!nap_has_effect(nap, i)) continue;
        const bits bit = bits_set((uint64_t)1 << i);
        // An effect that is zero exactly need not be computed even when nothing may be neglected.
        const mask is_zero = (bounds->effect[i].force == 0.0) & (bounds->effect[i].torque == 0.0);
        if (is_exact) {
            flags = bits_select(is_zero, flags & ~bit, flags | bit);
            continue;
        }
        const real force_threshold = i == EFFECT_gravity ? nap->force_abs : relative;
        const mask is_small =
            (bounds->effect[i].force < force_threshold) & (bounds->effect[i].torque < nap->torque_threshold);
        const mask is_large = (bounds->effect[i].force > nap->hysteresis * force_threshold) |
                              (bounds->effect[i].torque > nap->hysteresis * nap->torque_threshold);
        flags = bits_select(is_small | is_zero, flags & ~bit, bits_select(is_large, flags | bit, flags));
    }
    return flags;
}

/// Where the flown motion can be until the next evaluation.
VY_FN nap_reach nap_flown_reach(const environment_model *env, const nap_params *nap,
                                const multirotor_params *vehicle, const rotor_layout *layout,
                                const body_state *s, const real *speed, const nap_inputs *inputs)
{
    const real no_deviation[DEVIATION_COUNT] = {real_set(0.0), real_set(0.0), real_set(0.0), real_set(0.0)};
    nap_reach reach = nap_reach_of(env, nap, vehicle, layout, s, speed, inputs, no_deviation);
    if (VY_BASIC_OR(
            0,
            bits_uniform(nap->jointed))) { // joints may do anything: only what is zero everywhere is zero
        nap_reach_set_unbounded(mask_set(1), &reach);
        reach.effect.rate = real_set(NAP_UNBOUNDED);
    }
    return reach;
}

/// The air that is left out above the end of the standard, where it counts as none, strictly too: it is no
/// denser than at the end.
VY_FN void nap_add_thin_air(const environment_model *env, const nap_params *nap,
                            const multirotor_params *vehicle, const nap_reach *reach, real period, bits flags,
                            nap_state *state)
{
    const mask reaches_above = reach->altitude + reach->max_distance > AIR_TOP,
               is_above = reach->altitude - reach->max_distance > AIR_TOP;
    if (env->air.mode != ATMOSPHERE_LAYERED || !mask_any(reaches_above)) return;
    effect_reach e = reach->effect;
    e.density = e.density_min = real_set(0.0);
    const nap_bounds without_thin_air = nap_bounds_of(&vehicle->effects, &e);
    e.density = air_at(&env->air, real_set(AIR_TOP)).density;
    const nap_bounds with_thin_air = nap_bounds_of(&vehicle->effects, &e);
    for (int i = 0; i < EFFECT_COUNT; ++i) {
        if (!nap_has_effect(nap, i)) continue;
        // In what reaches below the end it is in the bound already.
        const mask is_left_out = reaches_above & (is_above | effect_on(flags, i));
        const real force = with_thin_air.effect[i].force - without_thin_air.effect[i].force;
        const real torque = with_thin_air.effect[i].torque - without_thin_air.effect[i].torque;
        state->impulse[i] =
            state->impulse[i] + real_select(is_left_out & (force > 0.0), period * force, real_set(0.0));
        state->angular[i] =
            state->angular[i] + real_select(is_left_out & (torque > 0.0), period * torque, real_set(0.0));
    }
}

/// Account for the effects that are left out until the next evaluation.
VY_FN void nap_add_impulses(const nap_params *nap, const nap_bounds *bounds, real period, bits flags,
                            nap_state *state)
{
    for (int i = 0; i < EFFECT_COUNT; ++i) {
        if (!nap_has_effect(nap, i)) continue;
        const mask is_off = mask_not(effect_on(flags, i));
        state->impulse[i] =
            state->impulse[i] + real_select(is_off, period * bounds->effect[i].force, real_set(0.0));
        state->angular[i] =
            state->angular[i] + real_select(is_off, period * bounds->effect[i].torque, real_set(0.0));
    }
}

/// One evaluation: decide, and account for what is neglected until the next.
VY_FN bits nap_evaluate(const environment_model *env, const nap_params *nap, const multirotor_params *vehicle,
                        const rotor_layout *layout, const body_state *s, const real *speed,
                        const nap_inputs *inputs, bits flags, nap_state *state)
{
    const nap_reach reach = nap_flown_reach(env, nap, vehicle, layout, s, speed, inputs);
    const nap_bounds bounds = nap_bounds_of(&vehicle->effects, &reach.effect);
    const real weight = vehicle->effects.mass * vec3_length(gravity_at(&env->gravity, s->position));
    flags = nap_decide(nap, &bounds, weight, flags);
    if (!nap_is_exact(nap)) nap_add_impulses(nap, &bounds, inputs->period, flags, state);
    nap_add_thin_air(env, nap, vehicle, &reach, inputs->period, flags, state);
    if (!VY_BASIC_OR(0, bits_uniform(nap->open_loop)) ||
        inputs->turbulent) { // motors or gusts that follow the motion: no bound is known
        for (int i = 0; i < DEVIATION_COUNT; ++i)
            state->deviation[i] = real_set(VY_BASIC_OR(0, bits_uniform(nap->strict)) ? 0.0 : NAP_UNBOUNDED);
    } else if (mask_any(inputs->time < nap->horizon)) {
        real next_deviation[DEVIATION_COUNT];
        for (int i = 0; i < DEVIATION_COUNT; ++i) next_deviation[i] = state->deviation[i];
        nap_certify(env, nap, vehicle, layout, s, speed, inputs, flags, &reach, next_deviation);
        for (int i = 0; i < DEVIATION_COUNT; ++i) {
            state->deviation[i] =
                real_select(inputs->time < nap->horizon, next_deviation[i], state->deviation[i]);
        }
    }
    return flags;
}
