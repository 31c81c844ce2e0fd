// gpu_none.c - a library built without CUDA says so.
#include "base/fail.h"
#include "volery/gpu.h"

vy_status vy_gpu_create(vy_batch *batch, vy_gpu **out, vy_error *err)
{
    (void)batch;
    *out = NULL;
    return vy_fail(
        err, VY_NOT_FOUND,
        "GPU: this library was built without CUDA (cmake -DVOLERY_CUDA=ON; VOLERY_CUDA=1 pip install .)");
}

// There is no vy_gpu to call these with.
void vy_gpu_destroy(vy_gpu *gpu) { (void)gpu; }

double *vy_gpu_actions(vy_gpu *gpu)
{
    (void)gpu;
    return NULL;
}

const double *vy_gpu_observations(const vy_gpu *gpu)
{
    (void)gpu;
    return NULL;
}

const uint8_t *vy_gpu_terminated(const vy_gpu *gpu)
{
    (void)gpu;
    return NULL;
}

const uint8_t *vy_gpu_truncated(const vy_gpu *gpu) { return vy_gpu_terminated(gpu); }

vy_status vy_gpu_cells(const vy_gpu *gpu, const char *field, vy_cells *out, vy_error *err)
{
    (void)gpu;
    (void)field;
    (void)out;
    return vy_gpu_step(NULL, 0, err);
}

int vy_gpu_device(const vy_gpu *gpu)
{
    (void)gpu;
    return -1;
}

vy_status vy_gpu_upload_actions(vy_gpu *gpu, vy_error *err) { return vy_gpu_step(gpu, 0, err); }
vy_status vy_gpu_download_observations(vy_gpu *gpu, vy_error *err) { return vy_gpu_step(gpu, 0, err); }
vy_status vy_gpu_download(vy_gpu *gpu, vy_error *err) { return vy_gpu_step(gpu, 0, err); }
vy_status vy_gpu_upload(vy_gpu *gpu, vy_error *err) { return vy_gpu_step(gpu, 0, err); }

vy_status vy_gpu_step(vy_gpu *gpu, uint64_t steps, vy_error *err)
{
    (void)gpu;
    (void)steps;
    return vy_fail(err, VY_NOT_FOUND, "GPU: this library was built without CUDA");
}

vy_status vy_gpu_step_on(vy_gpu *gpu, uint64_t steps, void *stream, vy_error *err)
{
    (void)gpu;
    (void)steps;
    (void)stream;
    return vy_fail(err, VY_NOT_FOUND, "GPU: this library was built without CUDA");
}
