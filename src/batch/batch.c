// batch.c - the worlds of a batch: made, started, stepped, observed, read.
#include "volery/batch.h"
#include "base/assert.h"
#include "base/real.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/pool.h"
#include "batch/batch_cells.h"
#include "batch/standalone.h"
#include "batch/start.h"
#include "batch/pack.h"
#include "batch/randomisation.h"
#include "world/build.h"
#include "world/stages.h"
#include "world/world_def.h"
#include "world/world_impl.h"
#include <stdlib.h>

#define BATCH_COOKIE 0x62746368u

enum { WORLD_MAX = 1 << 24, DRONE_MAX = 64 };

// Worlds are moved cell by cell.
_Static_assert(sizeof(drone_params) % 8 == 0 && sizeof(episode_block) == 5 * 8, "cells alone");
_Static_assert(offsetof(world_block, chain) == 0, "the chain is a world's first cell");

vy_batch_def vy_default_batch_def(void)
{
    return (vy_batch_def){
        .cookie = BATCH_COOKIE,
        .world_count = 1,
        .seed = 1,
        .observe_count = 4,
        .observe = {"body.position", "body.velocity", "body.attitude", "body.rate"},
    };
}

// The widest kernel that this CPU can run and `width` allows; NULL: not that one here.
static const lanes_kernel *choose_lanes(uint32_t width)
{
    const lanes_kernel *const kernels[] = {vy_lanes_8_avx512, vy_lanes_4_avx2, vy_lanes_2, vy_lanes_1};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; ++i) {
        const lanes_kernel *kernel = kernels[i];
        if (kernel == NULL || (width != 0 && (uint32_t)kernel->width != width)) continue;
#if defined(__x86_64__)
        if (kernel->width == 8 && !(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi")))
            continue;
        if (kernel->width == 4 && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi")))
            continue;
#endif
        return kernel;
    }
    return NULL;
}

// The scenario with this seed and its randomised values.
static vy_status randomised_scenario(const vy_batch *b, uint64_t seed, vy_scenario **out, vy_error *err)
{
    const vy_batch_def *def = &b->def;
    vy_scenario *scenario = NULL;
    *out = NULL;
    const vy_status status = vy_scenario_copy(b->scenario, &scenario, err);
    if (status != VY_OK) return status;
    scenario->seed = seed;
    scenario->environment.wind.constant = vy_randomise_wind(def->randomisation, def->randomisation_count,
                                                            seed, scenario->environment.wind.constant);
    for (int i = 0; i < scenario->drone_count; ++i)
        vy_randomise_drone(def->randomisation, def->randomisation_count, seed, (uint32_t)i,
                           &scenario->drones[i].def);
    *out = scenario;
    return VY_OK;
}

// The same for a standalone world. When memory is out it keeps its present world, which has ended.
static vy_status start_standalone(vy_batch *b, uint32_t world, uint64_t seed, int halted, vy_error *err)
{
    episode_block episode = {.seed = seed, .halted = 1};
    vy_scenario *scenario = NULL;
    vy_status status = randomised_scenario(b, seed, &scenario, err);
    if (status == VY_OK) {
        const size_t first_drone = (size_t)world * b->view.drones;
        // A world does not own the field of its wind: it takes the batch's, which outlives it.
        scenario->environment.wind.grid = b->scenario->environment.wind.grid;
        vy_standalone_bind(scenario, (vy_rung)b->config.rung,
                           b->view.actions + first_drone * b->view.action_size, b->view.action_size,
                           b->standalone_actions + first_drone);
        status = vy_standalone_create(scenario, cell_view_of(b, world).first, &b->standalone[world], err);
    }
    if (status == VY_OK) episode.halted = halted != 0;
    put_cells(b, world, b->config.episode_offset, &episode, sizeof episode / 8);
    vy_scenario_destroy(scenario);
    return status;
}

// Put world `world` at the start of the episode with this seed.
static vy_status start_world(vy_batch *b, uint32_t world, uint64_t seed, int halted, vy_error *err)
{
    if (b->standalone != NULL) return start_standalone(b, world, seed, halted, err);
    vy_world *template_world = b->template_world;
    vy_model *m = &template_world->model;
    const vy_batch_def *def = &b->def;
    const uint64_t fpu_state = fpu_enter();
    vy_status status = VY_OK;
    m->seed = seed;
    for (uint32_t i = 0; i < m->drone_count && status == VY_OK; ++i) {
        vy_drone_def drone = b->scenario->drones[i].def;
        vy_randomise_drone(def->randomisation, def->randomisation_count, seed, i, &drone);
        vy_resolve_drone_def(&drone, m->dt);
        drone_model unused_model;                 // of the origin: randomisation does not change it
        status = vy_check_drone_def(&drone, err); // a valid scenario may become invalid by randomised values
        if (status == VY_OK) status = vy_drone_build(m, &drone, &unused_model, &m->params[i], err);
        if (status == VY_OK) vy_drone_start(m, &drone, i, &template_world->drones[i]);
    }
    episode_block episode = {.seed = seed, .halted = halted != 0 || status != VY_OK};
    episode.constant_wind = vy_randomise_wind(def->randomisation, def->randomisation_count, seed,
                                              b->scenario->environment.wind.constant);
    if (status == VY_OK) {
        put_cells(b, world, 0, template_world->state, b->config.state_cells);
        put_cells(b, world, b->config.params_offset, m->params, m->drone_count * sizeof(drone_params) / 8);
    }
    put_cells(b, world, b->config.episode_offset, &episode, sizeof episode / 8);
    fpu_leave(fpu_state);
    return status;
}

// Whether only seed, constant wind and drones differ.
static int shares_environment(vy_batch *b, const vy_scenario *scenario)
{
    if (b->scenario_hash == 0) b->scenario_hash = vy_scenario_hash(b->scenario);
    vy_scenario comparable = *scenario;
    comparable.seed = b->scenario->seed;
    comparable.environment.wind.constant = b->scenario->environment.wind.constant;
    comparable.drones = b->scenario->drones;
    return scenario->drone_count == b->scenario->drone_count && b->scenario_hash != 0 &&
           vy_scenario_hash(&comparable) == b->scenario_hash;
}

vy_status vy_batch_start(vy_batch *b, uint32_t world, const vy_scenario *scenario, vy_error *err)
{
    FPU_SCOPE;
    vy_world *w = b->template_world;
    vy_model *m = &w->model;
    const vy_vec3 wind = scenario->environment.wind.constant;
    const int has_wind = wind.x != 0.0 || wind.y != 0.0 || wind.z != 0.0;
    if (b->standalone != NULL || !shares_environment(b, scenario) || (has_wind && !b->config.has_wind))
        return vy_fail(err, VY_BAD_VALUE, "batch: these worlds cannot lie side by side");
    m->seed = scenario->seed;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const vy_drone_def *def = &scenario->drones[i].def;
        drone_model batch_model, own_model;
        drone_params params;
        memset(&batch_model, 0, sizeof batch_model); // compared byte by byte
        memset(&own_model, 0, sizeof own_model);
        vy_status status = vy_check_drone_def(def, err);
        if (status == VY_OK)
            status = vy_drone_build(m, &b->scenario->drones[i].def, &batch_model, &params, err);
        if (status == VY_OK) status = vy_drone_build(m, def, &own_model, &m->params[i], err);
        if (status != VY_OK) return status;
        // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
        if (memcmp(&batch_model, &own_model, sizeof own_model) != 0)
            return vy_fail(err, VY_BAD_VALUE, "batch: these worlds cannot lie side by side");
        vy_drone_start(m, def, i, &w->drones[i]);
    }
    const episode_block episode = {.seed = scenario->seed, .constant_wind = wind};
    put_cells(b, world, 0, w->state, b->config.state_cells);
    put_cells(b, world, b->config.params_offset, m->params, m->drone_count * sizeof(drone_params) / 8);
    put_cells(b, world, b->config.episode_offset, &episode, sizeof episode / 8);
    b->view.seeds[world] = scenario->seed;
    b->view.ticks[world] = 0;
    b->view.terminated[world] = b->view.truncated[world] = 0;
    return VY_OK;
}

int vy_batch_has_lanes(const vy_batch *batch) { return batch->standalone == NULL; }

static void observe_world(const vy_batch *b, uint32_t world, double *out)
{
    const cell_view c = cell_view_of(b, world);
    for (uint32_t d = 0; d < b->view.drones; ++d) {
        for (int k = 0; k < b->def.observe_count; ++k) {
            const observation_field *o = &b->observed_fields[k];
            const unsigned char *cell = c.first + (o->cell + d * o->stride) * c.stride;
            for (int i = 0; i < o->count; ++i, cell += c.stride, ++out) {
                uint64_t integer;
                memcpy(&integer, cell, 8);
                memcpy(out, cell, 8);
                if (o->is_integer) *out = (double)integer;
            }
        }
    }
}

static vy_status begin_episode(vy_batch *b, uint32_t world, vy_error *err)
{
    const uint64_t seed = vy_episode_seed(b->base_seeds[world], b->episodes[world]);
    const vy_status status = start_world(b, world, seed, 0, err);
    if (status != VY_OK) return status;
    b->view.seeds[world] = seed;
    b->view.ticks[world] = 0;
    return VY_OK;
}

void vy_batch_write_outputs(vy_batch *b, uint32_t world, size_t row_size)
{
    uint64_t tick, reason, halted;
    get_cells(b, world, offsetof(world_block, tick) / 8, &tick, 1);
    get_cells(b, world, offsetof(world_block, failure_reason) / 8, &reason, 1);
    get_cells(b, world, b->config.episode_offset + offsetof(episode_block, halted) / 8, &halted, 1);
    b->view.terminated[world] = reason != VY_FAILURE_NONE;
    VY_ASSERT(reason <= VY_FAILURE_FENCE && halted <= 1);
    b->view.truncated[world] = reason == VY_FAILURE_NONE && halted != 0;
    b->view.ticks[world] = tick;
    observe_world(b, world, b->view.observations + world * row_size);
}

// Step a range of the standalone worlds.
static void step_standalone(void *self, uint32_t thread, size_t first, size_t last)
{
    vy_batch *b = self;
    const uint64_t episode_steps = b->config.episode;
    (void)thread;
    for (size_t i = first; i < last; ++i) {
        const size_t halted_cell = b->config.episode_offset + offsetof(episode_block, halted) / 8;
        uint64_t halted;
        get_cells(b, (uint32_t)i, halted_cell, &halted, 1);
        if (halted == 0) {
            const uint64_t remaining_steps =
                episode_steps != 0 ? episode_steps - vy_world_tick(b->standalone[i]) : b->steps;
            VY_ASSERT(episode_steps == 0 ||
                      vy_world_tick(b->standalone[i]) < episode_steps); // else it was halted
            (void)vy_world_advance(b->standalone[i], remaining_steps < b->steps ? remaining_steps : b->steps);
            halted = episode_steps != 0 && vy_world_tick(b->standalone[i]) >= episode_steps;
            put_cells(b, (uint32_t)i, halted_cell, &halted, 1);
        }
        vy_batch_write_outputs(b, (uint32_t)i, (size_t)b->view.drones * b->view.observation_size);
    }
}

// Some of the blocks.
static void step_blocks(void *self, uint32_t thread, size_t first, size_t last)
{
    vy_batch *b = self;
    const uint64_t fpu_state = fpu_enter();
    const size_t width = (size_t)b->kernel->width,
                 row_size = (size_t)b->view.drones * b->view.observation_size;
    unsigned char *model = b->thread_memory + thread * b->thread_size,
                  *scratch = model + b->thread_model_size;
    for (size_t k = first; k < last; ++k) {
        const size_t world = k * width, remaining_worlds = b->view.worlds - world,
                     world_count = remaining_worlds < width ? remaining_worlds : width;
        VY_ASSERT(k < b->block_count && world < b->view.worlds);
        const double *actions = b->view.actions;
        if (actions != NULL) actions += world * b->view.drones * b->view.action_size;
        b->kernel->advance(&b->config, model, scratch, b->steps, actions, (int)world_count,
                           b->cells + k * b->config.block_cells * width * 8);
        for (size_t i = 0; i < world_count; ++i) vy_batch_write_outputs(b, (uint32_t)(world + i), row_size);
    }
    fpu_leave(fpu_state);
}

static int has_ended(const vy_batch *b, uint32_t world)
{
    return b->view.terminated[world] || b->view.truncated[world];
}

void vy_batch_step(vy_batch *batch, uint64_t steps)
{
    FPU_SCOPE;
    const size_t row_size = (size_t)batch->view.drones * batch->view.observation_size;
    if (batch->def.autoreset ==
        VY_AUTORESET_NEXT) { // a world that had ended restarts and does not step in this call
        for (uint32_t i = 0; i < batch->view.worlds; ++i) {
            if (!has_ended(batch, i)) continue;
            batch->episodes[i] += 1;
            (void)start_world(batch, i, vy_episode_seed(batch->base_seeds[i], batch->episodes[i]), 1, NULL);
        }
    }
    batch->steps = steps;
    if (batch->standalone != NULL) {
        vy_pool_run(batch->pool, batch->view.worlds, step_standalone, batch);
    } else {
        vy_pool_run(batch->pool, batch->block_count, step_blocks, batch);
    }
    for (uint32_t i = 0; i < batch->view.worlds && batch->def.autoreset != VY_AUTORESET_OFF; ++i) {
        if (!has_ended(batch, i)) continue;
        double *observation = batch->view.observations + i * row_size;
        if (batch->def.autoreset == VY_AUTORESET_SAME) {
            memcpy(batch->view.final_observations + i * row_size, observation,
                   row_size * sizeof *observation);
            batch->episodes[i] += 1;
            (void)begin_episode(batch, i, NULL);
            observe_world(batch, i, observation);
        } else if (batch->view.ticks[i] == 0) { // it waited: let it run from the next call on
            batch->view.truncated[i] = begin_episode(batch, i, NULL) != VY_OK;
        }
    }
}

void vy_batch_reset(vy_batch *batch, const uint8_t *selected, const uint64_t *seeds)
{
    FPU_SCOPE;
    const size_t row_size = (size_t)batch->view.drones * batch->view.observation_size;
    for (uint32_t i = 0; i < batch->view.worlds; ++i) {
        if (selected != NULL && !selected[i]) continue;
        batch->episodes[i] = seeds != NULL ? 0 : batch->episodes[i] + 1;
        if (seeds != NULL) batch->base_seeds[i] = seeds[i];
        batch->view.truncated[i] = begin_episode(batch, i, NULL) != VY_OK;
        batch->view.terminated[i] = 0;
        observe_world(batch, i, batch->view.observations + i * row_size);
    }
}

vy_batch_view vy_batch_get_view(const vy_batch *batch) { return batch->view; }
const char *vy_batch_kernel(const vy_batch *batch)
{
    return batch->standalone != NULL ? "worlds" : batch->kernel->name;
}
uint32_t vy_batch_threads(const vy_batch *batch) { return vy_pool_count(batch->pool); }
size_t vy_batch_memory(const vy_batch *batch) { return batch->memory; }
size_t vy_batch_state_size(const vy_batch *batch, uint32_t world)
{
    return batch->standalone != NULL ? vy_world_state_size(batch->standalone[world])
                                     : batch->config.state_cells * 8;
}

uint64_t vy_batch_hash(const vy_batch *batch, uint32_t world)
{
    uint64_t chain;
    get_cells(batch, world, offsetof(world_block, chain) / 8, &chain, 1);
    return batch->def.chain ? chain : 0;
}

void vy_batch_save(const vy_batch *batch, uint32_t world, void *block)
{
    if (batch->standalone != NULL) {
        vy_world_save(batch->standalone[world], block);
    } else {
        get_cells(batch, world, 0, block, batch->config.state_cells);
    }
}

uint64_t vy_batch_state_hash(const vy_batch *batch, uint32_t world)
{
    if (batch->standalone != NULL) return vy_world_state_hash(batch->standalone[world]);
    void *block = malloc(vy_batch_state_size(batch, world));
    if (block == NULL) return 0;
    vy_batch_save(batch, world, block);
    const uint64_t hash = vy_state_hash(block, vy_batch_state_size(batch, world));
    free(block);
    return hash;
}

// A state has been written to a world's cells: it runs, unless its episode is over.
static void resume_world(vy_batch *b, uint32_t world)
{
    episode_block episode;
    uint64_t tick;
    get_cells(b, world, offsetof(world_block, tick) / 8, &tick, 1);
    get_cells(b, world, b->config.episode_offset, &episode, sizeof episode / 8);
    episode.halted = b->config.episode != 0 && tick >= b->config.episode;
    put_cells(b, world, b->config.episode_offset, &episode, sizeof episode / 8);
    vy_batch_write_outputs(b, world, (size_t)b->view.drones * b->view.observation_size);
}

vy_status vy_batch_restore(vy_batch *batch, uint32_t world, const void *block, size_t size, vy_error *err)
{
    FPU_SCOPE;
    if (batch->standalone != NULL) {
        const vy_status restored = vy_world_restore(batch->standalone[world], block, size, err);
        if (restored == VY_OK) resume_world(batch, world);
        return restored;
    }
    const vy_integrator integrator = vy_world_integrator(batch->template_world);
    const vy_status status = vy_world_restore(batch->template_world, block, size, err);
    if (status != VY_OK) return status;
    const int has_same_integrator =
        vy_world_integrator(batch->template_world) == integrator; // lanes side by side share one
    if (has_same_integrator) {
        put_cells(batch, world, 0, block, batch->config.state_cells);
        resume_world(batch, world);
    }
    if (!has_same_integrator) (void)vy_world_set_integrator(batch->template_world, integrator, NULL);
    memset(batch->template_world->state, 0,
           batch->template_world->state_size); // the next episode is built on a clean world
    vy_world_layout_state(batch->template_world);
    if (has_same_integrator) return VY_OK;
    return vy_fail(err, VY_BAD_VALUE, "snapshot: of another integrator than the batch's, %s",
                   vy_integrator_name(integrator));
}

vy_status vy_batch_cells(const vy_batch *batch, uint32_t drone, const char *field, vy_cells *out,
                         vy_error *err)
{
    const vy_field *f = vy_find_field(BLOCK_drone, field);
    if (f == NULL) return vy_fail(err, VY_NOT_FOUND, "a drone has no field %s", field);
    if (drone >= batch->view.drones) return vy_fail(err, VY_NOT_FOUND, "there is no drone %u", drone);
    const size_t cell = drone_cell(batch, drone) + f->offset / 8;
    *out = (vy_cells){
        .first = (double *)(void *)(cell_view_of(batch, 0).first + cell * (size_t)batch->kernel->width * 8),
        .count = (uint32_t)f->count,
        .lanes = (uint32_t)batch->kernel->width,
        .block = batch->config.block_cells * (size_t)batch->kernel->width,
    };
    return VY_OK;
}

vy_status vy_batch_scenario(const vy_batch *batch, uint32_t world, vy_scenario **out, vy_error *err)
{
    return randomised_scenario(batch, batch->view.seeds[world], out, err);
}

// ---- creation

static vy_status check_def(const vy_batch_def *def, vy_error *err)
{
    if (def->cookie != BATCH_COOKIE || def->scenario == NULL)
        return vy_fail(err, VY_BAD_VALUE, "batch: start from vy_default_batch_def() and give a scenario");
    if (def->world_count < 1 || def->world_count > WORLD_MAX)
        return vy_fail(err, VY_BAD_VALUE, "batch: 1 to %d worlds, got %u", WORLD_MAX, def->world_count);
    if (def->scenario->drone_count < 1) return vy_fail(err, VY_BAD_VALUE, "batch: the scenario has no drone");
    if (def->threads > VY_POOL_MAX_THREADS)
        return vy_fail(err, VY_BAD_VALUE, "batch: at most %d threads", VY_POOL_MAX_THREADS);
    if (choose_lanes(def->lanes) == NULL)
        return vy_fail(err, VY_BAD_VALUE, "batch: this machine has no lanes of %u; 0 takes the widest it has",
                       def->lanes);
    if ((unsigned)def->rung > VY_RUNG_PILOT || (unsigned)def->autoreset > VY_AUTORESET_SAME ||
        (unsigned)def->precision > VY_PRECISION_SINGLE)
        return vy_fail(err, VY_BAD_VALUE, "batch: rung, autoreset or precision is unknown");
    if (def->randomisation_count < 0 || def->randomisation_count > VY_RANDOMISATION_CAP)
        return vy_fail(err, VY_BAD_VALUE, "batch: at most %d variables", VY_RANDOMISATION_CAP);
    if (def->observe_count < 0 || def->observe_count > VY_OBSERVE_CAP)
        return vy_fail(err, VY_BAD_VALUE, "batch: at most %d observed fields", VY_OBSERVE_CAP);
    for (int i = 0; i < def->randomisation_count; ++i) {
        const vy_status status = vy_check_randomisation(&def->randomisation[i], def->scenario, err);
        if (status != VY_OK) return status;
    }
    return VY_OK;
}

// Our copy of the scenario, controlled by actions where the def says so.
static vy_status set_scenario(vy_batch *b, vy_error *err)
{
    vy_status status = vy_scenario_copy(b->def.scenario, &b->scenario, err);
    if (status != VY_OK) return status;
    int effector_count = 0; // and thrusters, of the first drone that has some; bodies take no actions
    for (int i = 0; i < b->scenario->drone_count; ++i) {
        vy_controller_def *c = &b->scenario->drones[i].def.controller;
        const vy_vehicle_def *v = &b->scenario->drones[i].def.vehicle;
        const int count = v->rotor_count + v->thruster_count;
        if (count == 0 && c->kind == VY_CONTROLLER_NONE) continue;
        if (b->def.rung != VY_RUNG_NONE) {
            c->kind = VY_CONTROLLER_CALLBACK;
            c->period = b->scenario->step;
            c->call = NULL;
        } else if (vy_controller_is_external(c->kind)) {
            return vy_fail(err, VY_BAD_VALUE,
                           "batch: the controller of %s is not built in: choose a rung for actions",
                           b->scenario->drones[i].name);
        }
        if (effector_count == 0) effector_count = count;
        if (b->def.rung == VY_RUNG_MOTORS && count != effector_count)
            return vy_fail(err, VY_BAD_VALUE, "batch: motor actions need the same rotors on every drone");
    }
    b->effector_count = (uint32_t)effector_count;
    return vy_scenario_build(b->scenario, &b->template_world, err);
}

// Whether worlds have a stage that lanes lack: those are stepped one by one.
static int is_standalone(const vy_model *m)
{
    return (step_options(m) & OPTIONS_OF_WORLDS) != 0 || m->drone_count > DRONE_MAX;
}

// Whether the scenario can be stepped in single precision.
static vy_status check_single(const vy_batch *b, vy_error *err)
{
    if (vy_lanes_single == NULL)
        return vy_fail(err, VY_NOT_FOUND,
                       "batch: this library was built without a C++ compiler, so without single precision");
    if (b->def.lanes > 1 || b->def.chain)
        return vy_fail(err, VY_BAD_VALUE, "batch: single precision has no lanes side by side and no chain");
    const unsigned options = step_options(&b->template_world->model);
    if (options != 0)
        return vy_fail(err, VY_BAD_VALUE, "batch: worlds with %s have double precision only",
                       step_option_text(options));
    if (b->template_world->model.drone_count > DRONE_MAX)
        return vy_fail(err, VY_BAD_VALUE, "batch: at most %d drones in single precision", DRONE_MAX);
    const vy_environment_def *e = &b->scenario->environment;
    if (e->planet.radius > 0.0 || e->gravity.mode != VY_GRAVITY_UNIFORM)
        return vy_fail(err, VY_BAD_VALUE, "batch: places on a planet or between stars need double precision");
    return VY_OK;
}

static void set_config(vy_batch *b)
{
    const vy_model *m = &b->template_world->model;
    lanes_config *config = &b->config;
    *config = (lanes_config){
        .dt = m->dt,
        .environment = &b->scenario->environment,
        .has_wind = m->env.has_wind,
        .turbulence = m->turbulence,
        .turbulence_period = m->turbulence_period,
        .nap_period = m->nap_period,
        .drone_count = m->drone_count,
        .disturbance_count = m->disturbance_count,
        .counts = b->template_world->counts,
        .drones = m->drones,
        .disturbances = m->disturbances,
        .has_sinusoid = m->has_sinusoid,
        .episode = b->def.episode_steps_max,
        .chain = b->def.chain,
        .rung = (int)b->def.rung,
    };
    for (int i = 0; i < b->def.randomisation_count; ++i) {
        const vy_variable variable = b->def.randomisation[i].variable;
        if (variable >= VY_VARIABLE_WIND_X && variable <= VY_VARIABLE_WIND_Z) config->has_wind = 1;
    }
    b->template_world->model.env.has_wind = config->has_wind;
    static const uint32_t action_sizes[] = {0, 0, 4, 4, 5, 4, 4};
    VY_ASSERT((size_t)config->rung < sizeof action_sizes / sizeof action_sizes[0] &&
              b->effector_count <= VY_ROTOR_CAP);
    config->action_size = action_sizes[config->rung];
    if (config->rung == VY_RUNG_MOTORS) config->action_size = b->effector_count;
    config->hashed_cells = b->template_world->hashed_size / 8;
    config->params_offset = config->episode_offset = config->state_cells = b->template_world->state_size / 8;
    if (!is_standalone(m)) config->episode_offset += config->drone_count * CELLS_OF(drone_params);
    config->block_cells = config->episode_offset + CELLS_OF(episode_block);
    VY_ASSERT(config->hashed_cells <= config->state_cells &&
              config->state_cells == block_offset(&config->counts, BLOCK_KINDS) / 8);
}

// A field of a sensor's block, "baro.pressure", of drones that all carry it: their blocks are in order.
static vy_status find_sensor_field(const vy_batch *b, const char *name, observation_field *out, vy_error *err)
{
    const vy_model *m = &b->template_world->model;
    for (int kind = BLOCK_imu_full; kind < SENSORS_FIRST_BLOCK + SENSOR_SUITE_KINDS; ++kind) {
        const vy_block *block = &vy_blocks[kind];
        const size_t length = strlen(block->name);
        if (strncmp(name, block->name, length) != 0 || name[length] != '.') continue;
        const vy_field *f = vy_find_field((enum block_kind)kind, name + length + 1);
        if (f == NULL) break;
        if (b->config.counts.of[kind] != m->drone_count)
            return vy_fail(err, VY_NOT_FOUND, "%s cannot be observed: not every drone carries that sensor",
                           name);
        *out = (observation_field){(block_offset(&b->config.counts, (enum block_kind)kind) + f->offset) / 8,
                                   block->size / 8, f->count, field_is_integer(f)};
        return VY_OK;
    }
    return vy_fail(err, VY_NOT_FOUND, "a drone has no field %s", name);
}

static vy_status set_observation(vy_batch *b, vy_error *err)
{
    for (int i = 0; i < b->def.observe_count; ++i) {
        const char *name = b->def.observe[i];
        const vy_field *f = vy_find_field(BLOCK_drone, name);
        observation_field *o = &b->observed_fields[i];
        if (f != NULL) {
            *o = (observation_field){drone_cell(b, 0) + f->offset / 8, CELLS_OF(drone_block), f->count,
                                     field_is_integer(f)};
        } else {
            const vy_status status = find_sensor_field(b, name, o, err);
            if (status != VY_OK) return status;
        }
        VY_ASSERT(o->cell + (b->config.drone_count - 1) * o->stride + (size_t)o->count <=
                  b->config.state_cells);
        b->view.observation_size += (uint32_t)o->count;
    }
    return VY_OK;
}

static size_t align_up(size_t size) { return (size + 63u) & ~(size_t)63u; }

static void *alloc_zeroed(vy_batch *b, size_t size)
{
    void *block = aligned_alloc(64, align_up(size > 0 ? size : 1));
    if (block != NULL) {
        memset(block, 0, align_up(size > 0 ? size : 1));
        b->memory += align_up(size);
    }
    return block;
}

static vy_status allocate_all(vy_batch *b, vy_error *err)
{
    vy_batch_view *v = &b->view;
    const size_t width = (size_t)b->kernel->width, world_count = b->def.world_count;
    v->worlds = b->def.world_count;
    v->drones = b->config.drone_count;
    v->action_size = b->config.action_size;
    b->block_count = (world_count + width - 1) / width;
    b->thread_model_size = align_up(b->kernel->model_size);
    b->thread_size = b->thread_model_size + align_up(b->config.state_cells * 8 * (2 * width + 1));
    if (is_standalone(&b->template_world->model)) {
        b->thread_size = 0;
        b->standalone = alloc_zeroed(b, world_count * sizeof(void *));
        b->standalone_actions = alloc_zeroed(b, world_count * v->drones * sizeof *b->standalone_actions);
        if (b->standalone == NULL || b->standalone_actions == NULL)
            return vy_fail(err, VY_NO_MEMORY, "batch: no memory");
    }
    if (b->def.precision == VY_PRECISION_SINGLE) { // the packed world stands before the scratch
        b->thread_size += align_up(b->config.block_cells * 8);
        b->is_integer = alloc_zeroed(b, b->config.block_cells);
        if (b->is_integer == NULL) return vy_fail(err, VY_NO_MEMORY, "batch: no memory");
        vy_pack_mark_integers(&b->config.counts, b->is_integer);
        b->config.is_integer = b->is_integer;
    }
    const size_t row_bytes = (size_t)v->drones * v->observation_size * sizeof(double);
    b->cells = alloc_zeroed(b, b->block_count * b->config.block_cells * width * 8);
    b->thread_memory = alloc_zeroed(b, vy_pool_count(b->pool) * b->thread_size);
    v->actions = alloc_zeroed(b, world_count * v->drones * v->action_size * sizeof(double));
    v->observations = alloc_zeroed(b, world_count * row_bytes);
    v->final_observations = alloc_zeroed(b, world_count * row_bytes);
    v->terminated = alloc_zeroed(b, world_count);
    v->truncated = alloc_zeroed(b, world_count);
    v->ticks = alloc_zeroed(b, world_count * sizeof(uint64_t));
    v->seeds = alloc_zeroed(b, world_count * sizeof(uint64_t));
    b->base_seeds = alloc_zeroed(b, world_count * sizeof(uint64_t));
    b->episodes = alloc_zeroed(b, world_count * sizeof(uint64_t));
    if (b->cells == NULL || b->thread_memory == NULL || v->actions == NULL || v->observations == NULL ||
        v->final_observations == NULL || v->terminated == NULL || v->truncated == NULL || v->ticks == NULL ||
        v->seeds == NULL || b->base_seeds == NULL || b->episodes == NULL) {
        return vy_fail(err, VY_NO_MEMORY, "batch: no memory for %zu worlds", world_count);
    }
    return VY_OK;
}

static vy_status build_batch(vy_batch *b, vy_error *err)
{
    vy_status status = set_scenario(b, err);
    if (status != VY_OK) return status;
    b->kernel = is_standalone(&b->template_world->model) ? vy_lanes_1 : choose_lanes(b->def.lanes);
    if (b->def.precision == VY_PRECISION_SINGLE) {
        status = check_single(b, err);
        if (status != VY_OK) return status;
        b->kernel = vy_lanes_single;
    }
    set_config(b);
    if (b->def.rung >= VY_RUNG_WRENCH) {
        for (uint32_t i = 0; i < b->config.drone_count; ++i) {
            if (vy_controller_is_external(b->scenario->drones[i].def.controller.kind) &&
                !b->template_world->model.params[i].ladder.has_full_authority)
                return vy_fail(err, VY_BAD_VALUE, "batch: the rotors of %s take motor commands only",
                               b->scenario->drones[i].name);
        }
    }
    status = set_observation(b, err);
    if (status != VY_OK) return status;
    b->pool = vy_pool_create(b->def.threads);
    if (b->pool == NULL) return vy_fail(err, VY_NO_MEMORY, "batch: cannot start %u threads", b->def.threads);
    status = allocate_all(b, err);
    if (status != VY_OK) return status;
    for (uint32_t t = 0; t < vy_pool_count(b->pool) && b->standalone == NULL; ++t)
        b->kernel->prepare(&b->config, b->thread_memory + t * b->thread_size);
    const uint32_t width = (uint32_t)b->kernel->width, lane_count = (uint32_t)b->block_count * width;
    for (uint32_t i = b->view.worlds; i < lane_count; ++i)
        (void)start_world(b, i, b->def.seed, 1, NULL); // lanes without a world
    for (uint32_t i = 0; i < b->view.worlds; ++i) {
        b->base_seeds[i] = b->def.seed + i;
        status = begin_episode(b, i, err);
        if (status != VY_OK) return status;
        if (b->standalone != NULL) b->memory += vy_world_memory(b->standalone[i]);
        observe_world(b, i, b->view.observations + (size_t)i * b->view.drones * b->view.observation_size);
    }
    return VY_OK;
}

vy_status vy_batch_create(const vy_batch_def *def, vy_batch **out, vy_error *err)
{
    FPU_SCOPE;
    *out = NULL;
    vy_status status = check_def(def, err);
    if (status != VY_OK) return status;
    vy_batch *b = calloc(1, sizeof *b);
    if (b == NULL) return vy_fail(err, VY_NO_MEMORY, "batch: no memory");
    b->memory = sizeof *b;
    b->def = *def;
    status = build_batch(b, err);
    if (status != VY_OK) {
        vy_batch_destroy(b);
        return status;
    }
    *out = b;
    return VY_OK;
}

void vy_batch_destroy(vy_batch *batch)
{
    if (batch == NULL) return;
    vy_batch_view *v = &batch->view;
    void *const blocks[] = {
        batch->cells,   batch->thread_memory, v->actions, v->observations, v->final_observations,
        v->terminated,  v->truncated,         v->ticks,   v->seeds,        batch->base_seeds,
        batch->episodes};
    vy_pool_destroy(batch->pool);
    for (uint32_t i = 0; batch->standalone != NULL && i < v->worlds; ++i)
        vy_world_destroy(batch->standalone[i]);
    free(batch->is_integer);
    free(batch->standalone);
    free(batch->standalone_actions);
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; ++i) free(blocks[i]);
    vy_world_destroy(batch->template_world);
    vy_scenario_destroy(batch->scenario);
    free(batch);
}
