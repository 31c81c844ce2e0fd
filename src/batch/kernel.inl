// kernel.inl - the step of a block of worlds, for the VY_LANES of the including file, which also defines
// LANES_NAME (text) and LANES_TABLE (symbol), and LANES_ADVANCE where more is to be done than lanes_advance.
//
// The stages and their order are those of world/step.c. A world that has ended keeps its cells: what its lane
// computes meanwhile is thrown away.
#ifndef LANES_ADVANCE
#define LANES_ADVANCE lanes_advance
#endif
#include "base/hash.h"
#include "base/assert.h"
#include "batch/family.h"
#include "world/disturbance.h"
#include "world/plant.h"
#include "world/safety.h"
#include "world/sense.h"
#include "world/steer.h"
#include "world/surround.h"

enum { DRONE_MOST = 64 };

/// One thread's: constants, and what no step remembers.
typedef struct lanes_model {
    vy_model model;
    body_loads loads[DRONE_MOST];
    real speeds[DRONE_MOST][VY_ROTOR_CAP];
    control_reply replies[DRONE_MOST];
    uint64_t *flat; // unused lanes aside, one world's state as a world has it
} lanes_model;

typedef struct lanes_block {
    world_block *world;
    drone_block *drones;
    noise_block *noise;
    gear_block *gear;
    thruster_block *thrusters;
    nap_account_block *nap_accounts;
    drone_params *params;
    extra_block *extra;
} lanes_block;

VY_FN lanes_block lanes_at(const lanes_family *f, void *block)
{
    unsigned char *at = (unsigned char *)block;
    lanes_block b;
    b.world = (world_block *)block;
    b.drones = (drone_block *)(void *)(at + block_offset(&f->counts, BLOCK_drone));
    b.noise = (noise_block *)(void *)(at + block_offset(&f->counts, BLOCK_noise));
    b.gear = (gear_block *)(void *)(at + block_offset(&f->counts, BLOCK_gear));
    b.thrusters = (thruster_block *)(void *)(at + block_offset(&f->counts, BLOCK_thruster));
    b.nap_accounts = (nap_account_block *)(void *)(at + block_offset(&f->counts, BLOCK_nap_account));
    b.params = (drone_params *)(void *)(at + block_offset(&f->counts, BLOCK_KINDS));
    b.extra = (extra_block *)(b.params + f->drone_count);
    return b;
}

static void lanes_prepare(const lanes_family *f, void *memory)
{
    family_model(f, &((lanes_model *)memory)->model);
}

// The actions of a block as replies. Lanes without a world get the first one's.
static void lanes_read_actions(const lanes_family *f, const double *actions, int present,
                               control_reply *replies)
{
    const size_t row = (size_t)f->drone_count * f->action_size;
    VY_ASSERT(f->action_size <= VY_ROTOR_CAP && f->drone_count <= DRONE_MOST);
    VY_ASSERT(present > 0 && present <= VY_LANES);
    for (uint32_t d = 0; d < f->drone_count; ++d) {
        real value[VY_ROTOR_CAP];
        for (uint32_t k = 0; k < f->action_size; ++k) {
            double lane[VY_LANES];
            for (int l = 0; l < VY_LANES; ++l) {
                lane[l] = actions[(size_t)(l < present ? l : 0) * row + d * f->action_size + k];
            }
            value[k] = real_load(lane);
        }
        control_reply *r = &replies[d];
        memset(r, 0, sizeof *r);
        r->rung = bits_set((uint64_t)f->rung);
        if (f->rung == VY_RUNG_MOTORS) memcpy(r->motors, value, f->action_size * sizeof(real));
        if (f->rung < VY_RUNG_WRENCH) continue;
        r->thrust = r->sticks[0] = value[0];
        for (uint32_t k = 1; k < 4; ++k) r->sticks[k] = value[k];
        r->velocity = vec3_make(value[0], value[1], value[2]);
        r->yaw_rate = value[3];
        if (f->rung == VY_RUNG_WRENCH) r->torque = vec3_make(value[1], value[2], value[3]);
        if (f->rung == VY_RUNG_RATES) r->rates = vec3_make(value[1], value[2], value[3]);
        if (f->rung == VY_RUNG_ATTITUDE) r->attitude = quat_make(value[1], value[2], value[3], value[4]);
    }
}

VY_FN void lanes_controller_stage(const lanes_family *f, const lanes_model *lm, world_block *w,
                                  drone_block *drones)
{
    const vy_model *m = &lm->model;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const mask now = due(w->tick, m->drones[i].control_period);
        if (!mask_any(now)) continue;
        if (f->rung != VY_RUNG_NONE) {
            steer_reply(m, i, now, &lm->replies[i], w, &drones[i]);
        } else {
            steer_built_in(m, i, now, w, &drones[i]);
        }
    }
}

// What follows the plant, in the lanes whose plant did not fail.
VY_FN void lanes_after_plant(const lanes_family *f, const lanes_model *lm, void *scratch,
                             const lanes_block *b)
{
    const vy_model *m = &lm->model;
    const mask runs = b->world->failure_reason == bits_set(VY_FAILURE_NONE);
    const size_t size = f->drone_count * sizeof(drone_block);
    cells_keep(runs, b->drones, scratch, size);
    sensor_stage(m, b->world, b->drones, NULL);
    estimator_stage(m, b->world, b->drones);
    lanes_controller_stage(f, lm, b->world, b->drones);
    (void)dal_stage(m, b->world, b->drones);
    safety_stage(m, b->world, b->drones);
    cells_give_back(runs, scratch, b->drones, size);
}

// The hash of each world's step, as world/step.c takes it: over the NAP accounts only when the policy has looked.
static void lanes_chain(const lanes_family *f, mask live, mask looked, lanes_model *lm, const lanes_block *b)
{
    const bits who = bits_select(live, bits_set(1), bits_set(0)),
               all = bits_select(looked, bits_set(1), bits_set(0));
    const unsigned char *cells = (const unsigned char *)b->world;
    uint64_t *flat = lm->flat;
    for (int l = 0; l < VY_LANES; ++l) {
        if (!bits_lane(who, l) || bits_lane(b->world->failure_reason, l) == VY_FAILURE_NOT_FINITE) continue;
        const size_t count = bits_lane(all, l) ? f->state_cells : f->hashed_cells;
        for (size_t c = 0; c < count; ++c) memcpy(&flat[c], cells + (c * VY_LANES + (size_t)l) * 8, 8);
        const uint64_t hash = vy_hash64(flat, count * 8);
        memcpy((unsigned char *)b->world + (size_t)l * 8, &hash, 8); // the chain is the first cell
    }
}

// Before the first step of an episode: what only some families have.
static void lanes_start(const vy_model *m, const lanes_block *b)
{
    const mask first = b->world->tick == bits_set(0);
    if (!mask_any(first)) return;
    if (m->geared) gear_start(m, &first, b->drones, b->gear);
    if (m->thrusting) thrusters_start(m, &first, b->drones, b->thrusters);
}

VY_FN void lanes_step(const lanes_family *f, mask live, lanes_model *lm, void *scratch, const lanes_block *b)
{
    const vy_model *m = &lm->model;
    if (m->geared || m->thrusting) lanes_start(m, b);
    VY_ASSERT(mask_any(live) &&
              mask_all(mask_not(live) | (b->world->failure_reason == bits_set(VY_FAILURE_NONE))));
    b->world->tick = b->world->tick + 1u;
    disturbance_stage(m, b->world, b->noise, NULL, lm->loads);
    turbulence_stage(m, b->world, b->drones);
    const mask looked = nap_stage(m, b->world, b->noise, b->drones, b->nap_accounts);
    actuator_stage(m, b->drones, b->gear, lm->speeds);
    if (m->thrusting) thruster_stage(m, &b->world->tick, b->drones, b->thrusters, lm->speeds);
    plant_stage(m, lm->loads, lm->speeds, b->world, b->drones, b->gear, b->thrusters);
    lanes_after_plant(f, lm, scratch, b);
    if (f->chain) lanes_chain(f, live, looked, lm, b);
}

VY_FN mask lanes_live(const lanes_block *b)
{
    const mask sound = b->world->failure_reason == bits_set(VY_FAILURE_NONE);
    const mask wanted = b->extra->halted == bits_set(0);
    return sound & wanted;
}

static void lanes_advance(const lanes_family *f, void *model, void *scratch, uint64_t steps,
                          const double *actions, int present, void *block)
{
    lanes_model *lm = (lanes_model *)model;
    const lanes_block b = lanes_at(f, block);
    const size_t size = (size_t)((unsigned char *)b.params - (unsigned char *)block); // of the state
    VY_ASSERT((uintptr_t)block % sizeof(real) == 0);
    void *kept = (unsigned char *)scratch + size;
    lm->flat = (uint64_t *)(void *)((unsigned char *)kept + size);
    lm->model.seed = b.extra->seed;
    lm->model.env.breeze = b.extra->breeze;
    lm->model.params = b.params;
    if (f->rung != VY_RUNG_NONE) lanes_read_actions(f, actions, present, lm->replies);

    mask live = lanes_live(&b);
    cells_keep(live, block, kept, size);
    for (uint64_t i = 0; i < steps && mask_any(live); ++i) {
        lanes_step(f, live, lm, scratch, &b);
        if (f->episode != 0) {
            const mask over = live & (b.world->tick >= bits_set(f->episode));
            b.extra->halted = bits_select(over, bits_set(1), b.extra->halted);
        }
        const mask still = live & lanes_live(&b);
        if (mask_all(mask_not(live) | still)) continue;
        cells_give_back(live, kept, block, size); // some world has just ended: it stays as it is now
        memcpy(kept, block, size);
        live = still;
    }
    cells_give_back(live, kept, block, size);
}

static const lanes_table table = {
    LANES_NAME, VY_LANES, sizeof(lanes_model), lanes_prepare, LANES_ADVANCE,
};
const lanes_table *const LANES_TABLE = &table;
