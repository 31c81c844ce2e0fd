// surround.c - turbulence around every drone, and which effects of the world are computed for it.
#include "base/rng.h"
#include "world/model.h"

void vy_turbulence_stage(const vy_model *m, uint64_t tick, drone_block *drones)
{
    if (!due(tick, m->turbulence_period)) return;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        drone_block *d = &drones[i];
        double n[TURBULENCE_NORMALS];
        rng_normals(m->seed, RNG_STREAM_WIND, i, tick, n, TURBULENCE_NORMALS);
        const double altitude = nap_altitude(&m->env, d->body.position);
        const vec3 at = m->env.planet.on ? vec3_make(0.0, 0.0, altitude) : d->body.position;
        const vec3 wind = wind_at(&m->env.wind, at, (double)tick * m->dt);
        vec3 ground = vec3_zero();
        if (m->env.planet.on) ground = planet_ground_velocity(&m->env.planet, d->body.position);
        const double airspeed = vec3_length(vec3_sub(vec3_sub(d->body.velocity, ground), wind));
        const double level = real_sqrt(wind.x * wind.x + wind.y * wind.y);
        const double x = level > 0.0 ? wind.x / level : 1.0, y = level > 0.0 ? wind.y / level : 0.0;
        if (tick == 0) {
            d->turbulence = turbulence_start(n);
        } else {
            turbulence_advance(&m->turbulence, altitude, airspeed, n, &d->turbulence);
        }
        d->gust = turbulence_velocity(&m->turbulence, altitude, x, y, &d->turbulence);
    }
}

// No gust until the next evaluation is faster than this.
static double gust_bound(const vy_model *m, const drone_block *d)
{
    if (m->turbulence_period == 0) return 0.0;
    // A generous range: at most 1000 m/s faster than now until the next evaluation.
    const double speed = vec3_length(d->body.velocity) + 1000.0;
    const double far = (double)m->nap_period * m->dt * speed;
    const double altitude = nap_altitude(&m->env, d->body.position);
    const turbulence_range range = {altitude - far, altitude + far, 0.0, speed + 1000.0};
    const int advances = (int)(m->nap_period / m->turbulence_period) + 1;
    // What blows now was scaled at an earlier altitude.
    return real_max(vec3_length(d->gust), turbulence_bound(&m->turbulence, &range, advances, &d->turbulence));
}

void vy_nap_stage(const vy_model *m, uint64_t tick, const noise_block *noise, drone_block *drones,
                  ledger_block *ledger)
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const drone_model *dm = &m->drones[i];
        drone_block *d = &drones[i];
        nap_moment now = {.time = (double)tick * m->dt, .turbulent = m->turbulence_period != 0};
        vy_disturbance_bound(m, tick, m->nap_period, noise, i, &now.disturbance, &now.twist);
        now.turbulence = gust_bound(m, d);
        double command[VY_ROTOR_CAP] = {0.0};
        for (int k = 0; k < dm->layout.count; ++k) command[k] = motor_speed(&dm->motor, d->control.motors[k]);
        now.command = command;
        const uint64_t before = d->effects;
        d->effects = nap_evaluate(&m->env, &dm->nap, &dm->plant, &dm->layout, &d->body, d->rotor_speed, &now,
                                  before, &ledger[i]);
        for (uint64_t change = before ^ d->effects; change != 0; change &= change - 1) d->effect_changes += 1;
    }
}
