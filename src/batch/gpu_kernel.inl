// gpu_kernel.inl - the worlds of a batch on a GPU, one thread each, through the stages of world/stages.inl.
// For the real of the including file, which also defines GPU_KERNEL (symbol).
//
// The threads of a warp read neighbouring cells; a thread steps its world in local memory.
#include "batch/config.h"
#include "batch/gpu_kernel.h"
#include "world/disturbance.h"
#include "world/plant.h"
#include "world/safety.h"
#include "world/sensor_stage.h"
#include "world/stages.h"
#include "world/controller_stage.h"
#include "world/environment_stage.h"
#include <cuda_runtime.h>

#define THREADS_PER_BLOCK 64

/// One world, as a thread has it. Cells in the order of a block.
struct gpu_world {
    world_block world;
    drone_block drone;
    noise_block noise[GPU_NOISE_MAX];
    nap_account_block nap_accounts;
    drone_params params;
    episode_block episode;
};

// Cells [first, end) of a block. In memory they are 8 bytes wide in either precision.
__device__ static void move_cells(const gpu_job *job, uint64_t *cells, uint32_t first, uint32_t end,
                                  void *local, int is_store)
{
#if VY_SINGLE
    uint32_t *words = (uint32_t *)local;
    for (uint32_t i = first; i < end; ++i) {
        uint64_t *cell = cells + (size_t)i * GPU_WARP;
        if (job->is_integer[i]) {
            if (is_store) {
                *cell = (uint64_t)words[1] << 32 | words[0];
            } else {
                words[0] = (uint32_t)*cell;
                words[1] = (uint32_t)(*cell >> 32);
            }
            words += 2;
        } else {
            if (is_store) {
                *cell = (uint64_t)__double_as_longlong((double)__uint_as_float(*words));
            } else {
                *words = __float_as_uint((float)__longlong_as_double((long long)*cell));
            }
            words += 1;
        }
    }
#else
    (void)job;
    uint64_t *local_cells = (uint64_t *)local;
    for (uint32_t i = first; i < end; ++i) {
        if (is_store) {
            cells[(size_t)i * GPU_WARP] = local_cells[i - first];
        } else {
            local_cells[i - first] = cells[(size_t)i * GPU_WARP];
        }
    }
#endif
}

__device__ static void move_world(const gpu_job *job, uint64_t *cells, gpu_world *w, int is_store)
{
    const gpu_layout *layout = &job->layout;
    move_cells(job, cells, 0, layout->world_cells, &w->world, is_store); // the entries behind it stay
    move_cells(job, cells, layout->drone_offset, layout->noise_offset, &w->drone, is_store);
    move_cells(job, cells, layout->noise_offset, layout->nap_account_offset, w->noise, is_store);
    move_cells(job, cells, layout->nap_account_offset, layout->params_offset, &w->nap_accounts, is_store);
    if (!is_store) move_cells(job, cells, layout->params_offset, layout->episode_offset, &w->params, 0);
    move_cells(job, cells, layout->episode_offset, layout->block_cells, &w->episode, is_store);
}

__device__ static control_reply read_action(const gpu_layout *layout, const double *action)
{
    control_reply r;
    memset(&r, 0, sizeof r);
    r.rung = (uint64_t)layout->rung;
    if (layout->rung == VY_RUNG_MOTORS) {
        for (uint32_t k = 0; k < layout->action_size; ++k) r.motors[k] = action[k];
    } else if (layout->rung != VY_RUNG_NONE) {
        r.thrust = action[0];
        for (int k = 0; k < 4; ++k) r.sticks[k] = action[k];
        r.torque = r.rates = vec3_make(action[1], action[2], action[3]);
        r.velocity = vec3_make(action[0], action[1], action[2]);
        r.yaw_rate = action[3];
        if (layout->rung == VY_RUNG_ATTITUDE)
            r.attitude = quat_make(action[1], action[2], action[3], action[4]);
    }
    return r;
}

// A GPU has no optional stages.
__device__ static void step_world(const gpu_layout *layout, const vy_model *m, const control_reply *reply,
                                  gpu_world *here)
{
    const vy_model *plant_model = m;
    world_block *w = &here->world;
    drone_block *drones = &here->drone;
    noise_block *noise = here->noise;
    powertrain_block *powertrain = NULL;
    thruster_block *thrusters = NULL;
    nap_account_block *nap_accounts = &here->nap_accounts;
    body_loads loads[3];
    real speeds[1][VY_ROTOR_CAP];
    noise_ahead *noise_draws = NULL;
    rng_cache *imu_draws = NULL;
    const batch_actions actions = {layout->rung, reply}, *reply_source = &actions;
    [[maybe_unused]] mask nap_evaluated; // asked for by hashes, which a GPU has not
    uint32_t events = 0;
#define STAGE(...)                __VA_ARGS__;
#define STAGE_UNLESS(option, ...) __VA_ARGS__;
#define RUNNING_BEGIN             if (w->failure_reason == VY_FAILURE_NONE) {
#define RUNNING_END               }
#include "world/stages.inl"
    (void)events;
}

__global__ static void __launch_bounds__(THREADS_PER_BLOCK) advance(gpu_job job)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const gpu_layout *layout = &job.layout;
    if (i >= layout->worlds) return;
    uint64_t *cells = job.cells + (size_t)(i / GPU_WARP) * layout->block_cells * GPU_WARP + i % GPU_WARP;
    gpu_world w;
    move_world(&job, cells, &w, 0);
    vy_model m = *(const vy_model *)job.model;
    m.seed = w.episode.seed;
    m.env.constant_wind = w.episode.constant_wind;
    m.params = &w.params;
    const control_reply reply = read_action(layout, job.actions + (size_t)i * layout->action_size);
    for (uint64_t k = 0; k < job.steps; ++k) {
        if (w.world.failure_reason != VY_FAILURE_NONE || w.episode.halted != 0) break;
        step_world(layout, &m, &reply, &w);
        if (layout->episode != 0 && w.world.tick >= layout->episode) w.episode.halted = 1;
    }
    move_world(&job, cells, &w, 1);
    job.ended[i] = w.world.failure_reason != VY_FAILURE_NONE;
    job.ended[layout->worlds + i] = w.world.failure_reason == VY_FAILURE_NONE && w.episode.halted != 0;
    for (uint32_t k = 0; k < layout->observation_size; ++k) {
        const uint32_t cell = layout->drone_offset + (job.observed_cells[k] & 0x7fffffffu);
        const uint64_t stored = cells[(size_t)cell * GPU_WARP];
        double value;
        memcpy(&value, &stored, 8);
        if (job.observed_cells[k] >> 31) value = (double)stored;
        job.observations[(size_t)i * layout->observation_size + k] = value;
    }
}

static void kernel_prepare(const lanes_config *config, void *model)
{
    lanes_model_init(config, (vy_model *)model);
}

static void kernel_advance(const gpu_job *job, void *stream)
{
    advance<<<(job->layout.worlds + THREADS_PER_BLOCK - 1) / THREADS_PER_BLOCK, THREADS_PER_BLOCK, 0,
              (cudaStream_t)stream>>>(*job);
}

extern const gpu_kernel GPU_KERNEL = {sizeof(vy_model), kernel_prepare, kernel_advance};
