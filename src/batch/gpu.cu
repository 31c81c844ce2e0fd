// gpu.cu - the worlds of a batch on a GPU: memory and calls. The kernels are in gpu_kernel.inl.
#include "volery/gpu.h"
extern "C" {
#include "base/fail.h"
#include "batch/gpu_kernel.h"
}
#include <cuda_runtime.h>
#include <new>

struct vy_gpu {
    vy_batch *batch;
    int device;
    const gpu_kernel *kernel;
    gpu_job job;
    void *drones, *disturbances;                        // arrays of the model, in device memory
    size_t cells_size, actions_size, observations_size; // [bytes]
    uint64_t *host_cells;                               // a copy of job.cells
    const gpu_basic_kernel *basic;
    unsigned char *constants; // of `basic`
    int uses_general_kernel;  // nothing but the general kernel is wanted
};

static vy_status check_cuda(cudaError_t error, vy_error *err)
{
    if (error == cudaSuccess) return VY_OK;
    const vy_status status = error == cudaErrorMemoryAllocation ? VY_NO_MEMORY : VY_IO;
    return vy_fail(err, status, "GPU: %s", cudaGetErrorString(error));
}

static vy_status check_device(vy_error *err)
{
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0) return VY_OK;
    return vy_fail(err, VY_NOT_FOUND, "GPU: none on this machine (%s)", cudaGetErrorString(error));
}

static vy_status allocate_and_upload(const void *from, size_t size, void **out, vy_error *err)
{
    *out = NULL;
    vy_status status = check_cuda(cudaMalloc(out, size > 0 ? size : 1), err);
    if (status == VY_OK && from != NULL)
        status = check_cuda(cudaMemcpy(*out, from, size, cudaMemcpyHostToDevice), err);
    return status;
}

// The model with its arrays on the device.
static vy_status upload_model(vy_gpu *gpu, vy_error *err)
{
    lanes_config config = *gpu->job.layout.config;
    vy_status status =
        allocate_and_upload(config.drones, config.drone_count * sizeof *config.drones, &gpu->drones, err);
    if (status == VY_OK)
        status =
            allocate_and_upload(config.disturbances, config.disturbance_count * sizeof *config.disturbances,
                                &gpu->disturbances, err);
    if (status != VY_OK) return status;
    config.drones = (drone_model *)gpu->drones;
    config.disturbances = (disturbance_model *)gpu->disturbances;
    unsigned char *model = new (std::nothrow) unsigned char[gpu->kernel->model_size];
    if (model == NULL) return vy_fail(err, VY_NO_MEMORY, "GPU: no memory");
    gpu->kernel->prepare(&config, model);
    void *device_memory = NULL;
    status = allocate_and_upload(model, gpu->kernel->model_size, &device_memory, err);
    gpu->job.model = device_memory;
    delete[] model;
    return status;
}

void vy_gpu_destroy(vy_gpu *gpu)
{
    if (gpu == NULL) return;
    (void)cudaSetDevice(gpu->device);
    cudaFree(gpu->drones);
    cudaFree(gpu->disturbances);
    cudaFree((void *)gpu->job.is_integer);
    cudaFree((void *)gpu->job.model);
    cudaFree(gpu->job.cells);
    cudaFree((void *)gpu->job.actions);
    cudaFree(gpu->job.observations);
    cudaFree(gpu->job.ended);
    cudaFree((void *)gpu->job.observed_cells);
    delete[] gpu->host_cells;
    delete[] gpu->constants;
    delete gpu;
}

vy_status vy_gpu_create(vy_batch *batch, vy_gpu **out, vy_error *err)
{
    *out = NULL;
    vy_status status = check_device(err);
    if (status != VY_OK) return status;
    vy_gpu *gpu = new (std::nothrow) vy_gpu();
    if (gpu == NULL) return vy_fail(err, VY_NO_MEMORY, "GPU: no memory");
    gpu->batch = batch;
    status = check_cuda(cudaGetDevice(&gpu->device), err);
    gpu_layout *layout = &gpu->job.layout;
    uint32_t observed_cells[GPU_OBSERVED_MAX];
    if (status == VY_OK) status = vy_batch_gpu_layout(batch, GPU_NOISE_MAX, layout, observed_cells, err);
    if (status == VY_OK) {
        const size_t block_count = (layout->worlds + GPU_WARP - 1) / GPU_WARP;
        gpu->cells_size = block_count * layout->block_cells * GPU_WARP * 8;
        gpu->actions_size = (size_t)layout->worlds * layout->action_size * sizeof(double);
        gpu->observations_size = (size_t)layout->worlds * layout->observation_size * sizeof(double);
        gpu->host_cells = new (std::nothrow) uint64_t[gpu->cells_size / 8]();
        if (gpu->host_cells == NULL) status = vy_fail(err, VY_NO_MEMORY, "GPU: no memory");
    }
    void *device_memory = NULL;
    if (status == VY_OK) {
        const int is_single = layout->config->is_integer != NULL;
        gpu->kernel = is_single ? &vy_gpu_single : &vy_gpu_double;
        gpu->basic = is_single ? &vy_gpu_basic_single : &vy_gpu_basic_double;
        gpu->basic->configure();
        gpu->constants = new (std::nothrow) unsigned char[gpu->basic->constants_size];
        if (gpu->constants == NULL) status = vy_fail(err, VY_NO_MEMORY, "GPU: no memory");
    }
    if (status == VY_OK) {
        status = upload_model(gpu, err);
    }
    if (status == VY_OK)
        status = allocate_and_upload(layout->config->is_integer,
                                     layout->config->is_integer != NULL ? layout->block_cells : 0,
                                     &device_memory, err);
    gpu->job.is_integer = status == VY_OK ? (const uint8_t *)device_memory : NULL;
    if (status == VY_OK) status = allocate_and_upload(NULL, gpu->cells_size, &device_memory, err);
    gpu->job.cells = status == VY_OK ? (uint64_t *)device_memory : NULL;
    if (status == VY_OK) status = allocate_and_upload(NULL, 2 * (size_t)layout->worlds, &device_memory, err);
    gpu->job.ended = status == VY_OK ? (uint8_t *)device_memory : NULL;
    if (status == VY_OK)
        status = allocate_and_upload(layout->actions, gpu->actions_size, &device_memory, err);
    gpu->job.actions = status == VY_OK ? (const double *)device_memory : NULL;
    if (status == VY_OK) status = allocate_and_upload(NULL, gpu->observations_size, &device_memory, err);
    gpu->job.observations = status == VY_OK ? (double *)device_memory : NULL;
    if (status == VY_OK)
        status = allocate_and_upload(observed_cells, sizeof observed_cells, &device_memory, err);
    gpu->job.observed_cells = status == VY_OK ? (const uint32_t *)device_memory : NULL;
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
const uint8_t *vy_gpu_truncated(const vy_gpu *gpu) { return gpu->job.ended + gpu->job.layout.worlds; }
int vy_gpu_device(const vy_gpu *gpu) { return gpu->device; }

vy_status vy_gpu_cells(const vy_gpu *gpu, const char *field, vy_cells *out, vy_error *err)
{
    vy_cells cells;
    uint32_t first;
    const vy_status status = vy_batch_gpu_field(gpu->batch, field, &first, &cells.count, err);
    if (status != VY_OK) return status;
    cells.first = (double *)(gpu->job.cells + (size_t)first * GPU_WARP);
    cells.lanes = GPU_WARP;
    cells.block = (size_t)gpu->job.layout.block_cells * GPU_WARP;
    *out = cells;
    return VY_OK;
}

// The calling thread may have selected another device, and other streams may be using our arrays.
static vy_status synchronise_device(const vy_gpu *gpu, vy_error *err)
{
    const vy_status status = check_cuda(cudaSetDevice(gpu->device), err);
    return status != VY_OK ? status : check_cuda(cudaDeviceSynchronize(), err);
}

static vy_status copy_memory(const vy_gpu *gpu, void *to, const void *from, size_t size,
                             cudaMemcpyKind direction, vy_error *err)
{
    const vy_status status = synchronise_device(gpu, err);
    return status != VY_OK ? status : check_cuda(cudaMemcpy(to, from, size, direction), err);
}

vy_status vy_gpu_upload_actions(vy_gpu *gpu, vy_error *err)
{
    return copy_memory(gpu, (void *)gpu->job.actions, gpu->job.layout.actions, gpu->actions_size,
                       cudaMemcpyHostToDevice, err);
}

vy_status vy_gpu_download_observations(vy_gpu *gpu, vy_error *err)
{
    return copy_memory(gpu, gpu->job.layout.observations, gpu->job.observations, gpu->observations_size,
                       cudaMemcpyDeviceToHost, err);
}

vy_status vy_gpu_step_on(vy_gpu *gpu, uint64_t steps, void *stream, vy_error *err)
{
    gpu->job.steps = steps;
    if (gpu->job.layout.is_basic && !gpu->uses_general_kernel) {
        gpu->basic->advance(&gpu->job, gpu->constants, stream);
    } else {
        gpu->kernel->advance(&gpu->job, stream);
    }
    return check_cuda(cudaGetLastError(), err);
}

vy_status vy_gpu_step(vy_gpu *gpu, uint64_t steps, vy_error *err)
{
    const vy_status sync_status = synchronise_device(gpu, err);
    if (sync_status != VY_OK) return sync_status;
    const vy_status status = vy_gpu_step_on(gpu, steps, NULL, err);
    return status != VY_OK ? status : check_cuda(cudaDeviceSynchronize(), err);
}

vy_status vy_gpu_download(vy_gpu *gpu, vy_error *err)
{
    const vy_status status =
        copy_memory(gpu, gpu->host_cells, gpu->job.cells, gpu->cells_size, cudaMemcpyDeviceToHost, err);
    if (status == VY_OK) vy_batch_gpu_copy(gpu->batch, GPU_WARP, gpu->host_cells, 1);
    return status;
}

void vy_gpu_use_general_kernel(vy_gpu *gpu) { gpu->uses_general_kernel = 1; }

// New episodes have drawn other constants.
static vy_status prepare_basic(vy_gpu *gpu, vy_error *err)
{
    gpu_layout *layout = &gpu->job.layout;
    layout->is_basic = vy_batch_gpu_is_basic(gpu->batch, layout);
    if (!layout->is_basic) return VY_OK;
    const uint32_t count = layout->episode_offset - layout->params_offset;
    uint64_t *first_params = new (std::nothrow) uint64_t[count];
    if (first_params == NULL) return vy_fail(err, VY_NO_MEMORY, "GPU: no memory");
    for (uint32_t k = 0; k < count; ++k)
        first_params[k] = gpu->host_cells[(size_t)(layout->params_offset + k) * GPU_WARP];
    gpu->basic->prepare(layout->config, first_params, gpu->constants);
    delete[] first_params;
    return VY_OK;
}

vy_status vy_gpu_upload(vy_gpu *gpu, vy_error *err)
{
    const gpu_layout *layout = &gpu->job.layout;
    vy_batch_gpu_copy(gpu->batch, GPU_WARP, gpu->host_cells, 0);
    const vy_status basic_status = prepare_basic(gpu, err);
    if (basic_status != VY_OK) return basic_status;
    vy_status status =
        copy_memory(gpu, gpu->job.cells, gpu->host_cells, gpu->cells_size, cudaMemcpyHostToDevice, err);
    if (status == VY_OK)
        status = copy_memory(gpu, gpu->job.observations, layout->observations, gpu->observations_size,
                             cudaMemcpyHostToDevice, err);
    if (status == VY_OK)
        status =
            copy_memory(gpu, gpu->job.ended, layout->terminated, layout->worlds, cudaMemcpyHostToDevice, err);
    if (status == VY_OK)
        status = copy_memory(gpu, gpu->job.ended + layout->worlds, layout->truncated, layout->worlds,
                             cudaMemcpyHostToDevice, err);
    return status;
}
