// disturbance.h - forces and torques from outside. Sinusoids move within a step; all else is sampled at its
// start and held. Over `real`.
#pragma once
#include "base/math.h"
#include "base/assert.h"
#include "base/rng.h"
#include "world/model.h"

VY_FN vec3 disturbance_vec3(vy_vec3 v) { return vec3_make(real_set(v.x), real_set(v.y), real_set(v.z)); }
VY_FN int disturbance_is_nonzero(vy_vec3 v) { return v.x != 0.0 || v.y != 0.0 || v.z != 0.0; }

/// Add to `loads` in the lanes of `active`, +0.0 in the others.
VY_FN void disturbance_add(const vy_disturbance_def *def, mask active, vec3 force, vec3 torque,
                           body_loads *loads)
{
    if (def->frame == VY_FRAME_WORLD) {
        loads->force_world = vec3_add(loads->force_world, vec3_masked(active, force));
        loads->torque_world = vec3_add(loads->torque_world, vec3_masked(active, torque));
    } else {
        loads->force_body = vec3_add(loads->force_body, vec3_masked(active, force));
        loads->torque_body = vec3_add(loads->torque_body, vec3_masked(active, torque));
    }
}

/// The random numbers of one noise.
typedef struct noise_ahead {
    rng_cache force, torque;
} noise_ahead;

/// First-order Gauss-Markov noise of unit variance: white noise through a low-pass with the declared corner.
VY_FN void disturbance_filter(const vy_model *m, const disturbance_model *dm, uint32_t number, bits tick,
                              mask active, noise_block *filter, noise_ahead *draws_ahead)
{
    const bits index = bits_set(((uint64_t)dm->index << 20) + number); // disturbances < 2^12, bodies < 2^20
    VY_ASSERT(dm->index < 1u << 12 && number < 1u << 20);
    const mask is_first = tick == bits_set(dm->start); // starts with its stationary variance, not at rest
    const real decay = real_select(is_first, real_set(0.0), real_set(dm->decay));
    const real noise_gain = real_select(is_first, real_set(1.0), real_set(dm->noise_gain));
    real draw_buffer[3];
    if (disturbance_is_nonzero(dm->def.force)) {
        const real *deviates =
            rng_normals_cached(draws_ahead == NULL ? NULL : &draws_ahead->force, m->seed,
                               RNG_STREAM_DISTURBANCE_FORCE, index, tick, 1, draw_buffer, 3);
        const vec3 next = vec3_add_scaled(vec3_scale(decay, filter->force), noise_gain,
                                          vec3_make(deviates[0], deviates[1], deviates[2]));
        filter->force = vec3_select(active, next, filter->force);
    }
    if (disturbance_is_nonzero(dm->def.torque)) {
        const real *deviates =
            rng_normals_cached(draws_ahead == NULL ? NULL : &draws_ahead->torque, m->seed,
                               RNG_STREAM_DISTURBANCE_TORQUE, index, tick, 1, draw_buffer, 3);
        const vec3 next = vec3_add_scaled(vec3_scale(decay, filter->torque), noise_gain,
                                          vec3_make(deviates[0], deviates[1], deviates[2]));
        filter->torque = vec3_select(active, next, filter->torque);
    }
}

/// The largest size of one filtered axis within `count` steps: no deviate exceeds NORMAL_DEVIATE_MAX.
VY_FN real disturbance_noise_bound(const disturbance_model *dm, real x, uint64_t count)
{
    const double increment_max = NORMAL_DEVIATE_MAX * dm->noise_gain, time_constant = 1.0 / (1.0 - dm->decay);
    const double steps = ((double)count < time_constant ? (double)count : time_constant) + 1.0;
    return real_max(real_abs(x) + steps * increment_max, real_set(NORMAL_DEVIATE_MAX));
}

VY_FN vec3 disturbance_noise_bounds(const disturbance_model *dm, vec3 x, uint64_t count)
{
    return vec3_make(disturbance_noise_bound(dm, x.x, count), disturbance_noise_bound(dm, x.y, count),
                     disturbance_noise_bound(dm, x.z, count));
}

/// No declared disturbance on drone or body `number` exceeds this at ticks [tick, tick + count): forces [N]
/// and torques [N m], and how much of them has body axes or those of the world.
VY_FN void disturbance_bound(const vy_model *m, bits tick, uint64_t count, const noise_block *noise,
                             uint32_t number, nap_inputs *out)
{
    const real zero = real_set(0.0);
    real force_sum = zero, torque_sum = zero, force_body_sum = zero, torque_world_sum = zero;
    for (uint32_t k = 0; k != VY_BASIC_OR(0u, m->disturbance_count); ++k) {
        const disturbance_model *dm = &m->disturbances[k];
        const mask has_begun = tick + count > bits_set(dm->start), is_before_end = tick < bits_set(dm->end);
        const mask active = has_begun & is_before_end;
        if (number < dm->first || number >= dm->last || !mask_any(active)) continue;
        vec3 force_axes = disturbance_vec3(dm->def.force), torque_axes = disturbance_vec3(dm->def.torque);
        const double scale = dm->def.kind == VY_DISTURBANCE_IMPULSE ? dm->scale : 1.0;
        if (dm->def.kind == VY_DISTURBANCE_NOISE) {
            const noise_block *filter = &noise[dm->noise + (number - dm->first)];
            VY_ASSERT(dm->noise + (number - dm->first) < m->noise_count);
            force_axes = vec3_mul(force_axes, disturbance_noise_bounds(dm, filter->force, count));
            torque_axes = vec3_mul(torque_axes, disturbance_noise_bounds(dm, filter->torque, count));
        }
        const real force = real_select(active, scale * vec3_length(force_axes), zero),
                   torque = real_select(active, scale * vec3_length(torque_axes), zero);
        force_sum = force_sum + force;
        torque_sum = torque_sum + torque;
        if (dm->def.frame == VY_FRAME_WORLD) {
            torque_world_sum = torque_world_sum + torque;
        } else {
            force_body_sum = force_body_sum + force;
        }
    }
    out->disturbance = force_sum * (1.0 + 0x1p-40); // a bound of the rounding error
    out->disturbance_torque = torque_sum * (1.0 + 0x1p-40);
    out->force_body = force_body_sum * (1.0 + 0x1p-40);
    out->torque_world = torque_world_sum * (1.0 + 0x1p-40);
}

/// A sinusoid `step_fraction` of a step after `tick`, in the lanes of `active`.
VY_FN real disturbance_sine(const vy_model *m, const disturbance_model *dm, bits tick, mask active,
                            double step_fraction)
{
    const real steps = real_from_uint(bits_select(active, tick - dm->start, bits_set(0)));
    const real time = (steps + step_fraction) * m->dt;
    return math_sin(6.283185307179586 * (dm->def.frequency * time) + dm->def.phase);
}

/// What acts on drones and bodies [first, last) `step_fraction` of the step that began at `tick` later; the
/// noise is that of the step.
VY_NOINLINE_FN void disturbance_at_part(const vy_model *m, bits tick, double step_fraction,
                                        const noise_block *noise, uint32_t first, uint32_t last,
                                        body_loads *loads)
{
    VY_ASSERT(first <= last && last <= body_count(m) && step_fraction >= 0.0 && step_fraction <= 1.0);
    for (uint32_t i = first; i < last; ++i) loads[i - first] = loads_zero();
    for (uint32_t k = 0; k != VY_BASIC_OR(0u, m->disturbance_count); ++k) {
        const disturbance_model *dm = &m->disturbances[k];
        const mask has_begun = tick >= bits_set(dm->start), is_before_end = tick < bits_set(dm->end);
        const mask active = has_begun & is_before_end;
        if (!mask_any(active)) continue;
        const vy_disturbance_def *def = &dm->def;
        const vec3 force = disturbance_vec3(def->force), torque = disturbance_vec3(def->torque);
        const real scale = def->kind == VY_DISTURBANCE_SINUSOID
                               ? disturbance_sine(m, dm, tick, active, step_fraction)
                               : real_set(dm->scale);
        for (uint32_t i = first > dm->first ? first : dm->first; i < last && i < dm->last; ++i) {
            if (def->kind == VY_DISTURBANCE_NOISE) {
                const noise_block *filter = &noise[dm->noise + (i - dm->first)];
                disturbance_add(def, active, vec3_mul(force, filter->force), vec3_mul(torque, filter->torque),
                                &loads[i - first]);
            } else {
                disturbance_add(def, active, vec3_scale(scale, force), vec3_scale(scale, torque),
                                &loads[i - first]);
            }
        }
    }
}

/// Per drone and body what acts at the step's start; with sinusoids behind these likewise half-way and at its
/// end. The tick is that of the step's start. `draws_ahead` has random numbers drawn ahead
/// for each noise, or is NULL; likewise in lanes.
VY_NOINLINE_FN void disturbance_stage(const vy_model *m, const world_block *w, noise_block *noise,
                                      noise_ahead *draws_ahead, body_loads *loads)
{
    const bits tick = w->tick - 1u;
    for (uint32_t i = 0; i < body_count(m); ++i) loads[i] = loads_zero();

    for (uint32_t k = 0; k != VY_BASIC_OR(0u, m->disturbance_count); ++k) {
        const disturbance_model *dm = &m->disturbances[k];
        const mask has_begun = tick >= bits_set(dm->start), is_before_end = tick < bits_set(dm->end);
        const mask active = has_begun & is_before_end;
        if (!mask_any(active)) continue;
        VY_ASSERT(dm->start < dm->end && dm->first <= dm->last && dm->last <= body_count(m));
        const vy_disturbance_def *def = &dm->def;
        const vec3 force = disturbance_vec3(def->force), torque = disturbance_vec3(def->torque);
        real scale = real_set(dm->scale);
        if (def->kind == VY_DISTURBANCE_SINUSOID) scale = disturbance_sine(m, dm, tick, active, 0.0);
        for (uint32_t i = dm->first; i < dm->last; ++i) {
            if (def->kind == VY_DISTURBANCE_NOISE) {
                const uint32_t slot = dm->noise + (i - dm->first);
                VY_ASSERT(slot < m->noise_count);
                noise_block *filter = &noise[slot];
                disturbance_filter(m, dm, i, tick, active, filter,
                                   draws_ahead == NULL ? NULL : &draws_ahead[slot]);
                disturbance_add(def, active, vec3_mul(force, filter->force), vec3_mul(torque, filter->torque),
                                &loads[i]);
            } else {
                disturbance_add(def, active, vec3_scale(scale, force), vec3_scale(scale, torque), &loads[i]);
            }
        }
    }
    if (!VY_BASIC_OR(0, m->has_sinusoid)) return;
    const uint32_t count = body_count(m);
    disturbance_at_part(m, tick, 0.5, noise, 0, count, loads + count);
    disturbance_at_part(m, tick, 1.0, noise, 0, count, loads + 2 * count);
}
