// config.h - what lanes and a GPU share: the constants of the worlds of a batch, and the source of their
// actions. Over `real`.
#pragma once
#include "batch/lanes.h"
#include "environment/environment_build.h"
#include "world/controller_stage.h"

/// What the stages read of every world of a batch. Seed, constant wind and params are those of one block:
/// the caller's.
VY_FN void lanes_model_init(const lanes_config *config, vy_model *m)
{
    memset(m, 0, sizeof *m);
    m->dt = config->dt;
    environment_build(config->environment, &m->env);
    m->env.has_wind = config->has_wind;
    m->turbulence = config->turbulence;
    m->nap = config->environment->nap;
    m->planet = config->environment->planet;
    m->turbulence_period = config->turbulence_period;
    m->physics = config->environment->physics;
    m->strict_rk4 = plant_is_strict_rk4(&m->physics);
    m->nap_period = config->nap_period;
    m->drone_count = m->drone_cap = config->drone_count;
#define DRONE_BLOCK(id, name, list, member, text) m->has_##name = config->counts.of[BLOCK_##name] > 0;
#include "world/blocks.inl"
    m->disturbance_count = m->disturbance_cap = config->disturbance_count;
    m->noise_count = config->counts.of[BLOCK_noise];
    m->drones = config->drones;
    m->disturbances = config->disturbances;
    m->has_sinusoid = config->has_sinusoid;
}

/// Actions, at this rung, of each drone; VY_RUNG_NONE: the scenario's own controllers.
typedef struct batch_actions {
    int rung;
    const control_reply *replies; // one per drone
} batch_actions;

VY_FN uint32_t controller_stage(const batch_actions *reply_source, const vy_model *m, world_block *w,
                                drone_block *drones)
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const mask is_due = due(w->tick, m->drones[i].control_period);
        if (!mask_any(is_due)) continue;
        if (reply_source->rung != VY_RUNG_NONE) {
            controller_reply(m, i, is_due, &reply_source->replies[i], w, &drones[i]);
        } else {
            controller_built_in(m, i, is_due, w, &drones[i]);
        }
    }
    return 0;
}
