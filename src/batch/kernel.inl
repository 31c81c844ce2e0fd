// kernel.inl - the step of a block of worlds, for the VY_LANES of the including file, which also defines
// LANES_NAME (text) and LANES_TABLE (symbol), LANES_ADVANCE where more is to be done than lanes_advance, and
// LANES_WITHOUT_OPTIONS where STAGE_LANES is nothing.
//
// The stages and their order are those of world/stages.inl. A world that has ended keeps its cells: what its
// lane computes meanwhile is discarded.
#ifndef LANES_ADVANCE
#define LANES_ADVANCE lanes_advance
#endif
#include "base/hash.h"
#include "base/assert.h"
#include "batch/config.h"
#include "world/disturbance.h"
#include "world/plant.h"
#include "world/safety.h"
#include "world/sensor_stage.h"
#include "world/stages.h"
#include "world/controller_stage.h"
#include "world/environment_stage.h"

enum { DRONE_MAX = 64 };

/// Of one thread: constants and scratch.
typedef struct lanes_model {
    vy_model model;
    unsigned options; // step_options(&model)
    body_loads loads[3 * DRONE_MAX];
    real speeds[DRONE_MAX][VY_ROTOR_CAP];
    control_reply replies[DRONE_MAX];
    uint64_t *world_state; // the state of one lane's world, gathered for its hash
} lanes_model;

/// Where the parts of a block of worlds begin.
typedef struct lanes_block {
    world_block *world;
    drone_block *drones;
    noise_block *noise;
    powertrain_block *powertrain;
    thruster_block *thrusters;
    nap_account_block *nap_accounts;
    drone_params *params;
    episode_block *episode_state;
} lanes_block;

VY_FN lanes_block lanes_block_at(const lanes_config *config, void *block)
{
    unsigned char *bytes = (unsigned char *)block;
    lanes_block out;
    out.world = (world_block *)block;
    out.drones = (drone_block *)(void *)(bytes + block_offset(&config->counts, BLOCK_drone));
    out.noise = (noise_block *)(void *)(bytes + block_offset(&config->counts, BLOCK_noise));
    out.powertrain = (powertrain_block *)(void *)(bytes + block_offset(&config->counts, BLOCK_powertrain));
    out.thrusters = (thruster_block *)(void *)(bytes + block_offset(&config->counts, BLOCK_thruster));
    out.nap_accounts =
        (nap_account_block *)(void *)(bytes + block_offset(&config->counts, BLOCK_nap_account));
    out.params = (drone_params *)(void *)(bytes + block_offset(&config->counts, BLOCK_KINDS));
    out.episode_state = (episode_block *)(out.params + config->drone_count);
    return out;
}

static void lanes_prepare(const lanes_config *config, void *memory)
{
    lanes_model *lm = (lanes_model *)memory;
    lanes_model_init(config, &lm->model);
    lm->options = step_options(&lm->model);
    VY_ASSERT((lm->options & OPTIONS_OF_WORLDS) == 0);
}

// The actions of a block as replies. Lanes without a world get the first one's.
static void lanes_read_actions(const lanes_config *config, const double *actions, int world_count,
                               control_reply *replies)
{
    const size_t row = (size_t)config->drone_count * config->action_size;
    VY_ASSERT(config->action_size <= VY_ROTOR_CAP && config->drone_count <= DRONE_MAX);
    VY_ASSERT(world_count > 0 && world_count <= VY_LANES);
    for (uint32_t d = 0; d < config->drone_count; ++d) {
        real values[VY_ROTOR_CAP];
        for (uint32_t k = 0; k < config->action_size; ++k) {
            double lane_values[VY_LANES];
            for (int l = 0; l < VY_LANES; ++l) {
                lane_values[l] =
                    actions[(size_t)(l < world_count ? l : 0) * row + d * config->action_size + k];
            }
            values[k] = real_load(lane_values);
        }
        control_reply *r = &replies[d];
        memset(r, 0, sizeof *r);
        r->rung = bits_set((uint64_t)config->rung);
        if (config->rung == VY_RUNG_MOTORS) memcpy(r->motors, values, config->action_size * sizeof(real));
        if (config->rung < VY_RUNG_WRENCH) continue;
        r->thrust = r->sticks[0] = values[0];
        for (uint32_t k = 1; k < 4; ++k) r->sticks[k] = values[k];
        r->velocity = vec3_make(values[0], values[1], values[2]);
        r->yaw_rate = values[3];
        if (config->rung == VY_RUNG_WRENCH) r->torque = vec3_make(values[1], values[2], values[3]);
        if (config->rung == VY_RUNG_RATES) r->rates = vec3_make(values[1], values[2], values[3]);
        if (config->rung == VY_RUNG_ATTITUDE)
            r->attitude = quat_make(values[1], values[2], values[3], values[4]);
    }
}

// The hash of each world's step, as world/step.h takes it: over the NAP accounts only when the policy was
// evaluated.
static void lanes_hash(const lanes_config *config, mask live_lanes, mask nap_evaluated, lanes_model *lm,
                       const lanes_block *b)
{
    const bits is_live = bits_select(live_lanes, bits_set(1), bits_set(0)),
               hashes_accounts = bits_select(nap_evaluated, bits_set(1), bits_set(0));
    const unsigned char *cells = (const unsigned char *)b->world;
    uint64_t *world_state = lm->world_state;
    for (int l = 0; l < VY_LANES; ++l) {
        if (!bits_lane(is_live, l) || bits_lane(b->world->failure_reason, l) == VY_FAILURE_NOT_FINITE)
            continue;
        const size_t count = bits_lane(hashes_accounts, l) ? config->state_cells : config->hashed_cells;
        for (size_t c = 0; c < count; ++c) memcpy(&world_state[c], cells + (c * VY_LANES + (size_t)l) * 8, 8);
        const uint64_t hash = vy_hash64(world_state, count * 8);
        memcpy((unsigned char *)b->world + (size_t)l * 8, &hash, 8); // the chain is the first cell
    }
}

VY_FN void lanes_step(const lanes_config *config, mask live_lanes, lanes_model *lm, void *scratch,
                      const lanes_block *b)
{
    const vy_model *m = &lm->model, *plant_model = m;
    const unsigned options = lm->options;
    world_block *w = b->world;
    drone_block *drones = b->drones;
    noise_block *noise = b->noise;
    powertrain_block *powertrain = b->powertrain;
    thruster_block *thrusters = b->thrusters;
    nap_account_block *nap_accounts = b->nap_accounts;
    body_loads *loads = lm->loads;
    real(*speeds)[VY_ROTOR_CAP] = lm->speeds;
    noise_ahead *noise_draws = NULL;
    rng_cache *imu_draws = NULL;
    const batch_actions replies = {config->rung, lm->replies}, *reply_source = &replies;
    const mask is_first_step = w->tick == bits_set(0);
    const size_t size = config->drone_count * sizeof(drone_block);
    mask nap_evaluated;
    uint32_t events = 0; // not requested
    VY_ASSERT(mask_any(live_lanes) &&
              mask_all(mask_not(live_lanes) | (w->failure_reason == bits_set(VY_FAILURE_NONE))));
#define STAGE(...) __VA_ARGS__;
#ifndef LANES_WITHOUT_OPTIONS
#define STAGE_LANES(option, ...)                  \
    if ((options & 1u << OPTION_##option) != 0) { \
        __VA_ARGS__;                              \
    }
#endif
#define STAGE_UNLESS(option, ...) __VA_ARGS__;
#define RUNNING_BEGIN                                                 \
    const mask runs = w->failure_reason == bits_set(VY_FAILURE_NONE); \
    cells_save(runs, drones, scratch, size);
#define RUNNING_END cells_restore(runs, scratch, drones, size);
#include "world/stages.inl"
    (void)events;
    (void)options;
    (void)is_first_step;
    if (config->chain) lanes_hash(config, live_lanes, nap_evaluated, lm, b);
}

VY_FN mask lanes_live(const lanes_block *b)
{
    const mask is_running = b->world->failure_reason == bits_set(VY_FAILURE_NONE);
    const mask is_unhalted = b->episode_state->halted == bits_set(0);
    return is_running & is_unhalted;
}

static void lanes_advance(const lanes_config *config, void *model, void *scratch, uint64_t steps,
                          const double *actions, int world_count, void *block)
{
    lanes_model *lm = (lanes_model *)model;
    const lanes_block b = lanes_block_at(config, block);
    const size_t size = (size_t)((unsigned char *)b.params - (unsigned char *)block); // of the state
    VY_ASSERT((uintptr_t)block % sizeof(real) == 0);
    void *saved_block = (unsigned char *)scratch + size;
    lm->world_state = (uint64_t *)(void *)((unsigned char *)saved_block + size);
    lm->model.seed = b.episode_state->seed;
    lm->model.env.constant_wind = b.episode_state->constant_wind;
    lm->model.params = b.params;
    if (config->rung != VY_RUNG_NONE) lanes_read_actions(config, actions, world_count, lm->replies);

    mask live_lanes = lanes_live(&b);
    cells_save(live_lanes, block, saved_block, size);
    for (uint64_t i = 0; i < steps && mask_any(live_lanes); ++i) {
        lanes_step(config, live_lanes, lm, scratch, &b);
        if (config->episode != 0) {
            const mask is_over = live_lanes & (b.world->tick >= bits_set(config->episode));
            b.episode_state->halted = bits_select(is_over, bits_set(1), b.episode_state->halted);
        }
        const mask remaining_lanes = live_lanes & lanes_live(&b);
        if (mask_all(mask_not(live_lanes) | remaining_lanes)) continue;
        cells_restore(live_lanes, saved_block, block,
                      size); // some world has just ended: it stays as it is now
        memcpy(saved_block, block, size);
        live_lanes = remaining_lanes;
    }
    cells_restore(live_lanes, saved_block, block, size);
}

static const lanes_kernel kernel = {
    LANES_NAME, VY_LANES, sizeof(lanes_model), lanes_prepare, LANES_ADVANCE,
};
const lanes_kernel *const LANES_TABLE = &kernel;
