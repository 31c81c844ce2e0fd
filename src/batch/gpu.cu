// gpu.cu - the worlds of a batch on a GPU, one thread each, through the stages of world/step.c.
//
// Doubles, no contraction (-fmad=false): the bits of the CPU. A block of 32 worlds lies in memory as in lanes.h with
// cells 32 wide, so that the threads of a warp read neighbours; a thread flies its world in local memory.
#include "volery/gpu.h"
extern "C" {
#include "base/fail.h"
#include "batch/gpu_parts.h"
}
#include "world/disturbance.h"
#include "world/plant.h"
#include "world/safety.h"
#include "world/sense.h"
#include "world/steer.h"
#include "world/surround.h"
#include <cuda_runtime.h>
#include <new>

#define WARP       32
#define NOISE_MOST 8
#define THREADS    64

/// One world, as a thread has it. Cells in the order of a block.
struct gpu_world {
    world_block world;
    drone_block drone;
    noise_block noise[NOISE_MOST];
    ledger_block ledger;
    drone_params params;
    extra_block extra;
};

struct gpu_job {
    gpu_parts parts;
    const vy_model *model;
    uint64_t *cells;
    const double *actions;
    double *observations;
    uint8_t *ended;           // terminated, then truncated, of each world
    const uint32_t *observed; // cells of the drone's block
    uint64_t steps;
};

struct vy_gpu {
    vy_batch *batch;
    int device;
    gpu_job job;
    size_t cells_size, actions_size, observations_size;
    uint64_t *host; // cells, 32 wide
};

__device__ static void move_cells(uint64_t *at, void *local, uint32_t count, int store)
{
    uint64_t *cell = (uint64_t *)local;
    for (uint32_t i = 0; i < count; ++i) {
        if (store) {
            at[(size_t)i * WARP] = cell[i];
        } else {
            cell[i] = at[(size_t)i * WARP];
        }
    }
}

__device__ static void move_world(const gpu_job *job, uint64_t *at, gpu_world *w, int store)
{
    const gpu_parts *p = &job->parts;
    const uint32_t drone = sizeof(world_block) / 8, noise = drone + sizeof(drone_block) / 8;
    const uint32_t ledger = noise + p->noise_count * (uint32_t)(sizeof(noise_block) / 8);
    move_cells(at, &w->world, sizeof(world_block) / 8, store);
    move_cells(at + (size_t)drone * WARP, &w->drone, sizeof(drone_block) / 8, store);
    move_cells(at + (size_t)noise * WARP, w->noise, p->noise_count * (uint32_t)(sizeof(noise_block) / 8), store);
    move_cells(at + (size_t)ledger * WARP, &w->ledger, sizeof(ledger_block) / 8, store);
    if (!store) move_cells(at + (size_t)p->params_at * WARP, &w->params, sizeof(drone_params) / 8, 0);
    move_cells(at + (size_t)p->extra_at * WARP, &w->extra, sizeof(extra_block) / 8, store);
}

__device__ static control_reply read_action(const gpu_parts *p, const double *v)
{
    control_reply r;
    memset(&r, 0, sizeof r);
    r.rung = (uint64_t)p->rung;
    if (p->rung == VY_RUNG_MOTORS) {
        for (uint32_t k = 0; k < p->action_size; ++k) r.motors[k] = v[k];
    } else if (p->rung != VY_RUNG_NONE) {
        r.thrust = v[0];
        for (int k = 0; k < 4; ++k) r.sticks[k] = v[k];
        r.torque = r.rates = vec3_make(v[1], v[2], v[3]);
        r.velocity = vec3_make(v[0], v[1], v[2]);
        r.yaw_rate = v[3];
        if (p->rung == VY_RUNG_ATTITUDE) r.attitude = quat_make(v[1], v[2], v[3], v[4]);
    }
    return r;
}

// The order of world/step.c.
__device__ static void step_world(const gpu_parts *p, const vy_model *m, const control_reply *reply, gpu_world *w)
{
    body_loads loads;
    real speeds[1][VY_ROTOR_CAP];
    w->world.tick += 1;
    disturbance_stage(m, &w->world, w->noise, NULL, &loads);
    turbulence_stage(m, &w->world, &w->drone);
    (void)nap_stage(m, &w->world, w->noise, &w->drone, &w->ledger);
    actuator_stage(m, &w->drone, NULL, speeds);
    plant_stage(m, &loads, speeds, &w->world, &w->drone, NULL, NULL);
    if (w->world.failure_reason != VY_FAILURE_NONE) return;
    sensor_stage(m, &w->world, &w->drone, NULL);
    estimator_stage(m, &w->world, &w->drone);
    if (due(w->world.tick, m->drones[0].control_period)) {
        if (p->rung != VY_RUNG_NONE) {
            steer_reply(m, 0, 1, reply, &w->world, &w->drone);
        } else {
            steer_built_in(m, 0, 1, &w->world, &w->drone);
        }
    }
    (void)dal_stage(m, &w->world, &w->drone);
    safety_stage(m, &w->world, &w->drone);
}

__global__ static void __launch_bounds__(THREADS) advance(gpu_job job)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const gpu_parts *p = &job.parts;
    if (i >= p->worlds) return;
    uint64_t *at = job.cells + (size_t)(i / WARP) * p->block_cells * WARP + i % WARP;
    gpu_world w;
    move_world(&job, at, &w, 0);
    vy_model m = *job.model;
    m.seed = w.extra.seed;
    m.env.breeze = w.extra.breeze;
    m.params = &w.params;
    const control_reply reply = read_action(p, job.actions + (size_t)i * p->action_size);
    for (uint64_t k = 0; k < job.steps; ++k) {
        if (w.world.failure_reason != VY_FAILURE_NONE || w.extra.halted != 0) break;
        step_world(p, &m, &reply, &w);
        if (p->episode != 0 && w.world.tick >= p->episode) w.extra.halted = 1;
    }
    move_world(&job, at, &w, 1);
    job.ended[i] = w.world.failure_reason != VY_FAILURE_NONE;
    job.ended[p->worlds + i] = w.world.failure_reason == VY_FAILURE_NONE && w.extra.halted != 0;
    const uint64_t *drone = (const uint64_t *)&w.drone;
    for (uint32_t k = 0; k < p->observation_size; ++k) {
        const uint64_t bits_here = drone[job.observed[k] & 0x7fffffffu];
        double value;
        memcpy(&value, &bits_here, 8);
        if (job.observed[k] >> 31) value = (double)bits_here;
        job.observations[(size_t)i * p->observation_size + k] = value;
    }
}

static vy_status failed(cudaError_t error, vy_error *err)
{
    if (error == cudaSuccess) return VY_OK;
    const vy_status status = error == cudaErrorMemoryAllocation ? VY_NO_MEMORY : VY_IO;
    return vy_fail(err, status, "GPU: %s", cudaGetErrorString(error));
}

static vy_status there_is_one(vy_error *err)
{
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0) return VY_OK;
    return vy_fail(err, VY_NOT_FOUND, "GPU: none on this machine (%s)", cudaGetErrorString(error));
}

static vy_status put(const void *from, size_t size, void **out, vy_error *err)
{
    *out = NULL;
    vy_status status = failed(cudaMalloc(out, size > 0 ? size : 1), err);
    if (status == VY_OK && from != NULL) status = failed(cudaMemcpy(*out, from, size, cudaMemcpyHostToDevice), err);
    return status;
}

// The model with its arrays on the device. They are never freed apart from it: see vy_gpu_destroy.
static vy_status put_model(const vy_model *model, const vy_model **out, vy_error *err)
{
    vy_model m = *model;
    void *drones, *disturbances, *there;
    vy_status status = put(m.drones, m.drone_count * sizeof *m.drones, &drones, err);
    if (status == VY_OK)
        status = put(m.disturbances, m.disturbance_count * sizeof *m.disturbances, &disturbances, err);
    if (status != VY_OK) return status;
    m.drones = (drone_model *)drones;
    m.disturbances = (disturbance_model *)disturbances;
    m.params = NULL;
    status = put(&m, sizeof m, &there, err);
    *out = (const vy_model *)there;
    return status;
}

void vy_gpu_destroy(vy_gpu *gpu)
{
    if (gpu == NULL) return;
    vy_model m;
    (void)cudaSetDevice(gpu->device);
    if (gpu->job.model != NULL && cudaMemcpy(&m, gpu->job.model, sizeof m, cudaMemcpyDeviceToHost) == cudaSuccess) {
        cudaFree(m.drones);
        cudaFree(m.disturbances);
    }
    cudaFree((void *)gpu->job.model);
    cudaFree(gpu->job.cells);
    cudaFree((void *)gpu->job.actions);
    cudaFree(gpu->job.observations);
    cudaFree(gpu->job.ended);
    cudaFree((void *)gpu->job.observed);
    delete[] gpu->host;
    delete gpu;
}

vy_status vy_gpu_create(vy_batch *batch, vy_gpu **out, vy_error *err)
{
    *out = NULL;
    vy_status status = there_is_one(err);
    if (status != VY_OK) return status;
    vy_gpu *gpu = new (std::nothrow) vy_gpu();
    if (gpu == NULL) return vy_fail(err, VY_NO_MEMORY, "GPU: no memory");
    gpu->batch = batch;
    status = failed(cudaGetDevice(&gpu->device), err);
    gpu_parts *p = &gpu->job.parts;
    uint32_t observed[GPU_OBSERVED_MOST];
    if (status == VY_OK) status = vy_batch_gpu_parts(batch, NOISE_MOST, p, observed, err);
    if (status == VY_OK) {
        const size_t blocks = (p->worlds + WARP - 1) / WARP;
        gpu->cells_size = blocks * p->block_cells * WARP * 8;
        gpu->actions_size = (size_t)p->worlds * p->action_size * sizeof(double);
        gpu->observations_size = (size_t)p->worlds * p->observation_size * sizeof(double);
        gpu->host = new (std::nothrow) uint64_t[gpu->cells_size / 8]();
        if (gpu->host == NULL) status = vy_fail(err, VY_NO_MEMORY, "GPU: no memory");
    }
    void *there = NULL;
    if (status == VY_OK) status = put_model(p->model, &gpu->job.model, err);
    if (status == VY_OK) status = put(NULL, gpu->cells_size, &there, err);
    gpu->job.cells = status == VY_OK ? (uint64_t *)there : NULL;
    if (status == VY_OK) status = put(NULL, 2 * (size_t)p->worlds, &there, err);
    gpu->job.ended = status == VY_OK ? (uint8_t *)there : NULL;
    if (status == VY_OK) status = put(p->actions, gpu->actions_size, &there, err);
    gpu->job.actions = status == VY_OK ? (const double *)there : NULL;
    if (status == VY_OK) status = put(NULL, gpu->observations_size, &there, err);
    gpu->job.observations = status == VY_OK ? (double *)there : NULL;
    if (status == VY_OK) status = put(observed, sizeof observed, &there, err);
    gpu->job.observed = status == VY_OK ? (const uint32_t *)there : NULL;
    if (status == VY_OK) status = vy_gpu_upload(gpu, err);
    if (status != VY_OK) {
        vy_gpu_destroy(gpu);
        return status;
    }
    *out = gpu;
    return VY_OK;
}

double *vy_gpu_actions(vy_gpu *gpu) { return (double *)gpu->job.actions; }
const double *vy_gpu_observations(const vy_gpu *gpu) { return gpu->job.observations; }
const uint8_t *vy_gpu_terminated(const vy_gpu *gpu) { return gpu->job.ended; }
const uint8_t *vy_gpu_truncated(const vy_gpu *gpu) { return gpu->job.ended + gpu->job.parts.worlds; }
int vy_gpu_device(const vy_gpu *gpu) { return gpu->device; }

vy_status vy_gpu_cells(const vy_gpu *gpu, const char *field, vy_cells *out, vy_error *err)
{
    vy_cells cells;
    uint32_t first;
    const vy_status status = vy_batch_gpu_field(field, &first, &cells.count, err);
    if (status != VY_OK) return status;
    cells.first = (double *)(gpu->job.cells + (size_t)first * WARP);
    cells.lanes = WARP;
    cells.block = (size_t)gpu->job.parts.block_cells * WARP;
    *out = cells;
    return VY_OK;
}

// The calling thread may have turned to another device, and other streams may be at work on our arrays.
static vy_status settle(const vy_gpu *gpu, vy_error *err)
{
    const vy_status status = failed(cudaSetDevice(gpu->device), err);
    return status != VY_OK ? status : failed(cudaDeviceSynchronize(), err);
}

static vy_status copy(const vy_gpu *gpu, void *to, const void *from, size_t size, cudaMemcpyKind way, vy_error *err)
{
    const vy_status status = settle(gpu, err);
    return status != VY_OK ? status : failed(cudaMemcpy(to, from, size, way), err);
}

vy_status vy_gpu_upload_actions(vy_gpu *gpu, vy_error *err)
{
    return copy(gpu, (void *)gpu->job.actions, gpu->job.parts.actions, gpu->actions_size, cudaMemcpyHostToDevice, err);
}

vy_status vy_gpu_download_observations(vy_gpu *gpu, vy_error *err)
{
    return copy(gpu, gpu->job.parts.observations, gpu->job.observations, gpu->observations_size,
                cudaMemcpyDeviceToHost, err);
}

vy_status vy_gpu_step(vy_gpu *gpu, uint64_t steps, vy_error *err)
{
    const vy_status settled = settle(gpu, err);
    if (settled != VY_OK) return settled;
    gpu->job.steps = steps;
    advance<<<(gpu->job.parts.worlds + THREADS - 1) / THREADS, THREADS>>>(gpu->job);
    const vy_status status = failed(cudaGetLastError(), err);
    return status != VY_OK ? status : failed(cudaDeviceSynchronize(), err);
}

vy_status vy_gpu_download(vy_gpu *gpu, vy_error *err)
{
    const vy_status status = copy(gpu, gpu->host, gpu->job.cells, gpu->cells_size, cudaMemcpyDeviceToHost, err);
    if (status == VY_OK) vy_batch_gpu_copy(gpu->batch, WARP, gpu->host, 1);
    return status;
}

vy_status vy_gpu_upload(vy_gpu *gpu, vy_error *err)
{
    const gpu_parts *p = &gpu->job.parts;
    vy_batch_gpu_copy(gpu->batch, WARP, gpu->host, 0);
    vy_status status = copy(gpu, gpu->job.cells, gpu->host, gpu->cells_size, cudaMemcpyHostToDevice, err);
    if (status == VY_OK)
        status = copy(gpu, gpu->job.observations, p->observations, gpu->observations_size, cudaMemcpyHostToDevice, err);
    if (status == VY_OK)
        status = copy(gpu, gpu->job.ended, p->terminated, p->worlds, cudaMemcpyHostToDevice, err);
    if (status == VY_OK)
        status = copy(gpu, gpu->job.ended + p->worlds, p->truncated, p->worlds, cudaMemcpyHostToDevice, err);
    return status;
}
