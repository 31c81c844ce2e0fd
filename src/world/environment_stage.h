// environment_stage.h - turbulence around every drone and body, and which effects of the world are computed
// for it. Over `real`.
#pragma once
#include "base/rng.h"
#include "base/assert.h"
#include "world/disturbance.h"
#include "world/model.h"

/// The gusts around drone or body `number` at `tick`, in the lanes of `active`.
VY_FN void turbulence_update(const vy_model *m, uint32_t number, bits tick, mask active,
                             const body_state *body, turbulence_state *turbulence, vec3 *gust)
{
    const mask is_first = tick == bits_set(0);
    real deviates[TURBULENCE_NORMALS];
    rng_normals(m->seed, RNG_STREAM_WIND, bits_set(number), tick, deviates, TURBULENCE_NORMALS);
    const real altitude = height_at(&m->env, body->position);
    const vec3 lookup_position = wind_lookup_position(&m->env, body->position, altitude);
    const vec3 wind = mean_wind_at(&m->env.wind, m->env.constant_wind, lookup_position, time_of(m, tick));
    vec3 ground = vec3_zero();
    if (frame_is_inertial(&m->env)) ground = planet_ground_velocity(&m->env.planet, body->position);
    const real airspeed = vec3_length(vec3_sub(vec3_sub(body->velocity, ground), wind));
    const real horizontal_speed = real_sqrt(wind.x * wind.x + wind.y * wind.y);
    const real x = real_select(horizontal_speed > 0.0, wind.x / horizontal_speed, real_set(1.0));
    const real y = real_select(horizontal_speed > 0.0, wind.y / horizontal_speed, real_set(0.0));
    turbulence_state saved;
    cells_save(active, turbulence, &saved, sizeof saved);
    turbulence_advance(&m->turbulence, altitude, airspeed, deviates, turbulence);
    if (mask_any(is_first)) {
        const turbulence_state start = turbulence_start(deviates);
        cells_restore(mask_not(is_first), &start, turbulence, sizeof start);
    }
    *gust = vec3_select(active, turbulence_velocity(&m->turbulence, altitude, x, y, turbulence), *gust);
    cells_restore(active, &saved, turbulence, sizeof saved);
}

VY_NOINLINE_FN void turbulence_update_all(const vy_model *m, const bits *tick, const mask *active,
                                          drone_block *drones)
{
    VY_ASSERT(m->turbulence.period > 0.0 && m->turbulence.speed_floor > 0.0);
    for (uint32_t i = 0; i < VY_BASIC_OR(1u, m->drone_count); ++i) {
        drone_block *d = &drones[i];
        turbulence_update(m, i, *tick, *active, &d->body, drone_turbulence(d), drone_gust_out(d));
    }
}

VY_FN void turbulence_stage(const vy_model *m, const world_block *w, drone_block *drones)
{
    const bits tick = w->tick - 1u;
    const mask active = due(tick, VY_BASIC_OR(0, m->turbulence_period));
    if (mask_any(active)) turbulence_update_all(m, &tick, &active, drones);
}

/// The bound of the gusts until the next evaluation.
VY_FN real nap_gust_bound(const vy_model *m, const body_state *body, const turbulence_state *turbulence,
                          vec3 gust)
{
    if (VY_BASIC_OR(1, m->turbulence_period == 0)) return real_set(0.0);
    // A generous range: at most 1000 m/s faster than now until the next evaluation.
    const real speed = vec3_length(body->velocity) + 1000.0;
    const real distance = (double)m->nap_period * m->dt * speed;
    const real altitude = height_at(&m->env, body->position);
    turbulence_range range;
    range.altitude_low = altitude - distance;
    range.altitude_high = altitude + distance;
    range.speed_low = real_set(0.0);
    range.speed_high = speed + 1000.0;
    const int advance_count = (int)(m->nap_period / m->turbulence_period) + 1;
    // The present gusts were scaled at an earlier altitude.
    return real_max(vec3_length(gust), turbulence_bound(&m->turbulence, &range, advance_count, turbulence));
}

/// Inputs of an evaluation at `tick`, the next one `period_ticks` later, from the surroundings of drone or
/// body `number`, without a command.
VY_FN nap_inputs nap_inputs_at(const vy_model *m, uint32_t number, bits tick, uint64_t period_ticks,
                               const noise_block *noise, const body_state *body,
                               const turbulence_state *turbulence, vec3 gust)
{
    nap_inputs inputs;
    inputs.time = time_of(m, tick);
    inputs.turbulent = VY_BASIC_OR(0, m->turbulence_period != 0);
    VY_ASSERT(period_ticks > 0 && period_ticks <= m->nap_period);
    inputs.period = real_set((double)period_ticks * m->dt);
    disturbance_bound(m, tick, period_ticks, noise, number, &inputs);
    inputs.turbulence = nap_gust_bound(m, body, turbulence, gust);
    inputs.downwash = real_set(VY_BASIC_OR(0, m->wakes.on) && body_count(m) > 1 ? m->wake_max : 0.0);
    inputs.command = NULL;
    return inputs;
}

/// How many decisions changed from `effects_before` to `effects_after`.
VY_FN bits nap_changes(bits effects_before, bits effects_after)
{
    const bits changed = effects_before ^ effects_after;
    bits count = bits_set(0);
    if (!mask_any(changed != 0u)) return count;
    for (int k = 0; k < EFFECT_COUNT; ++k) count = count + ((changed >> k) & 1u);
    return count;
}

/// Evaluate the policy for drone `i` in the lanes of `active`; the next time is `period_ticks` later.
VY_FN void nap_evaluate_drone(const vy_model *m, uint32_t i, bits tick, uint64_t period_ticks, mask active,
                              const noise_block *noise, drone_block *d, nap_account_block *account)
{
    const drone_params *p = &m->params[i];
    const rotor_layout *layout = &m->drones[i].layout;
    nap_inputs inputs =
        nap_inputs_at(m, i, tick, period_ticks, noise, &d->body, drone_turbulence(d), drone_gust(d));
    real command[VY_ROTOR_CAP];
    for (int k = 0; k < VY_BASIC_OR(4, layout->count); ++k)
        command[k] = motor_speed(&p->motor, d->control.motors[k]);
    inputs.command = command;
    const bits effects_before = d->effects;
    nap_account_block saved;
    cells_save(active, account, &saved, sizeof saved);
    const bits effects_after = nap_evaluate(&m->env, &p->nap, &p->plant, layout, &d->body, d->rotor_speed,
                                            &inputs, effects_before, account);
    cells_restore(active, &saved, account, sizeof saved);
    d->effects = bits_select(active, effects_after, effects_before);
    VY_ASSERT(!mask_any((d->effects & bits_set(~(uint64_t)EFFECTS_ALL)) != 0u));
    d->effect_changes = d->effect_changes + nap_changes(effects_before, d->effects);
}

VY_NOINLINE_FN void nap_evaluate_all(const vy_model *m, const bits *tick, const mask *active,
                                     const noise_block *noise, drone_block *drones,
                                     nap_account_block *nap_accounts)
{
    for (uint32_t i = 0; i < VY_BASIC_OR(1u, m->drone_count); ++i)
        nap_evaluate_drone(m, i, *tick, m->nap_period, *active, noise, &drones[i], &nap_accounts[i]);
}

/// Returns the lanes in which the policy was evaluated.
VY_FN mask nap_stage(const vy_model *m, const world_block *w, const noise_block *noise, drone_block *drones,
                     nap_account_block *nap_accounts)
{
    const bits tick = w->tick - 1u;
    const mask active = due(tick, m->nap_period);
    VY_ASSERT(m->nap_period > 0);
    if (mask_any(active)) nap_evaluate_all(m, &tick, &active, noise, drones, nap_accounts);
    return active;
}
