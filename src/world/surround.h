// surround.h - turbulence around every drone, and which effects of the world are computed for it. Over
// `real`.
#pragma once
#include "base/rng.h"
#include "base/assert.h"
#include "world/disturbance.h"
#include "world/model.h"

VY_BIG_FN void turbulence_stage(const vy_model *m, const world_block *w, drone_block *drones)
{
    const bits tick = w->tick - 1u;
    const mask now = due(tick, m->turbulence_period);
    if (!mask_any(now)) return;
    const mask fresh = tick == bits_set(0);
    VY_ASSERT(m->turbulence.period > 0.0 && m->turbulence.speed_floor > 0.0);
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        drone_block *d = &drones[i];
        real n[TURBULENCE_NORMALS];
        rng_normals(m->seed, RNG_STREAM_WIND, bits_set(i), tick, n, TURBULENCE_NORMALS);
        const real altitude = nap_altitude(&m->env, d->body.position);
        const vec3 at =
            m->env.planet.on ? vec3_make(real_set(0.0), real_set(0.0), altitude) : d->body.position;
        const vec3 wind = wind_from(&m->env.wind, m->env.breeze, at, time_of(m, tick));
        vec3 ground = vec3_zero();
        if (m->env.planet.on) ground = planet_ground_velocity(&m->env.planet, d->body.position);
        const real airspeed = vec3_length(vec3_sub(vec3_sub(d->body.velocity, ground), wind));
        const real level = real_sqrt(wind.x * wind.x + wind.y * wind.y);
        const real x = real_select(level > 0.0, wind.x / level, real_set(1.0));
        const real y = real_select(level > 0.0, wind.y / level, real_set(0.0));
        turbulence_state kept;
        cells_keep(now, &d->turbulence, &kept, sizeof kept);
        turbulence_advance(&m->turbulence, altitude, airspeed, n, &d->turbulence);
        if (mask_any(fresh)) {
            const turbulence_state start = turbulence_start(n);
            cells_give_back(mask_not(fresh), &start, &d->turbulence, sizeof start);
        }
        const vec3 gust = turbulence_velocity(&m->turbulence, altitude, x, y, &d->turbulence);
        d->gust = vec3_select(now, gust, d->gust);
        cells_give_back(now, &kept, &d->turbulence, sizeof kept);
    }
}

/// No gust until the next evaluation is faster than this.
VY_FN real nap_gust_bound(const vy_model *m, const drone_block *d)
{
    if (m->turbulence_period == 0) return real_set(0.0);
    // A generous range: at most 1000 m/s faster than now until the next evaluation.
    const real speed = vec3_length(d->body.velocity) + 1000.0;
    const real far = (double)m->nap_period * m->dt * speed;
    const real altitude = nap_altitude(&m->env, d->body.position);
    turbulence_range range;
    range.altitude_low = altitude - far;
    range.altitude_high = altitude + far;
    range.speed_low = real_set(0.0);
    range.speed_high = speed + 1000.0;
    const int advances = (int)(m->nap_period / m->turbulence_period) + 1;
    // What blows now was scaled at an earlier altitude.
    return real_max(vec3_length(d->gust), turbulence_bound(&m->turbulence, &range, advances, &d->turbulence));
}

/// Returns the lanes in which the policy was evaluated.
VY_BIG_FN mask nap_stage(const vy_model *m, const world_block *w, const noise_block *noise,
                         drone_block *drones, nap_account_block *nap_accounts)
{
    const bits tick = w->tick - 1u;
    const mask now = due(tick, m->nap_period);
    VY_ASSERT(m->nap_period > 0);
    if (!mask_any(now)) return now;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const drone_params *p = &m->params[i];
        const rotor_layout *layout = &m->drones[i].layout;
        drone_block *d = &drones[i];
        nap_moment moment;
        moment.time = time_of(m, tick);
        moment.turbulent = m->turbulence_period != 0;
        disturbance_bound(m, tick, m->nap_period, noise, i, &moment.disturbance, &moment.twist);
        moment.turbulence = nap_gust_bound(m, d);
        moment.downwash = real_set(m->wakes.on && m->drone_count > 1 ? m->wake_most : 0.0);
        real command[VY_ROTOR_CAP];
        for (int k = 0; k < layout->count; ++k) command[k] = motor_speed(&p->motor, d->control.motors[k]);
        moment.command = command;
        const bits before = d->effects;
        nap_account_block kept;
        cells_keep(now, &nap_accounts[i], &kept, sizeof kept);
        const bits after = nap_evaluate(&m->env, &p->nap, &p->plant, layout, &d->body, d->rotor_speed,
                                        &moment, before, &nap_accounts[i]);
        cells_give_back(now, &kept, &nap_accounts[i], sizeof kept);
        d->effects = bits_select(now, after, before);
        VY_ASSERT(!mask_any((d->effects & bits_set(~(uint64_t)EFFECTS_ALL)) != 0u));
        const bits change = before ^ d->effects;
        if (!mask_any(change != 0u)) continue;
        for (int k = 0; k < EFFECT_COUNT; ++k) d->effect_changes = d->effect_changes + ((change >> k) & 1u);
    }
    return now;
}
