// family.h - the constants of the worlds of a batch, over `real`.
#pragma once
#include "batch/lanes.h"
#include "environment/surroundings_build.h"

/// What the stages read of every world of a family. Seed, breeze and params are those of one block: the
/// caller's.
VY_FN void family_model(const lanes_family *f, vy_model *m)
{
    memset(m, 0, sizeof *m);
    m->dt = f->dt;
    surroundings_build(f->environment, &m->env);
    m->env.windy = f->windy;
    m->turbulence = f->turbulence;
    m->nap = f->environment->nap;
    m->planet = f->environment->planet;
    m->turbulence_period = f->turbulence_period;
    m->physics = f->environment->physics;
    m->usual = plant_is_usual(&m->physics);
    m->nap_period = f->nap_period;
    m->drone_count = m->drone_cap = f->drone_count;
    m->geared = f->counts.of[BLOCK_gear] > 0;
    m->thrusting = f->counts.of[BLOCK_thruster] > 0;
    m->disturbance_count = m->disturbance_cap = f->disturbance_count;
    m->noise_count = f->counts.of[BLOCK_noise];
    m->drones = f->drones;
    m->disturbances = f->disturbances;
}
