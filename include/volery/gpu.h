// gpu.h - a batch on a GPU: the same worlds, the same bits, many steps a launch.
//
// A library built without CUDA has these calls too: vy_gpu_create says so.
#pragma once
#include "volery/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vy_gpu vy_gpu; ///< opaque; one owner

/// Put all worlds of a batch on the calling thread's GPU (cudaSetDevice) as they are now. One drone per
/// world; no chain of hashes; at most eight noise disturbances. The batch must not be destroyed before the
/// last call but vy_gpu_destroy, and keeps its own copy, untouched until vy_gpu_download.
/// @return VY_NOT_FOUND: no GPU, or a library without CUDA; VY_BAD_VALUE: not such a batch; VY_NO_MEMORY
vy_status vy_gpu_create(vy_batch *batch, vy_gpu **out, vy_error *err);
void vy_gpu_destroy(vy_gpu *gpu); ///< NULL is a no-op

/// Device addresses, to be read and written by the caller's own kernels between calls, on whatever stream:
/// actions [worlds][action_size], observations [worlds][observation_size], terminated and truncated [worlds],
/// all as in vy_batch_view.
double *vy_gpu_actions(vy_gpu *gpu);
const double *vy_gpu_observations(const vy_gpu *gpu);
const uint8_t *vy_gpu_terminated(const vy_gpu *gpu);
const uint8_t *vy_gpu_truncated(const vy_gpu *gpu);

/// One field of the state itself, on the device, laid out as by vy_batch_cells.
/// @return VY_NOT_FOUND for a name that is no field of a drone
vy_status vy_gpu_cells(const vy_gpu *gpu, const char *field, vy_cells *out, vy_error *err);

/// The number of its device, as CUDA counts them.
int vy_gpu_device(const vy_gpu *gpu);

/// Copy the batch's own actions there, or the observations back.
vy_status vy_gpu_upload_actions(vy_gpu *gpu, vy_error *err);
vy_status vy_gpu_download_observations(vy_gpu *gpu, vy_error *err);

/// Advance every world that has not ended by `steps` steps in one launch, when all that the device was given
/// before is done, and wait for it.
vy_status vy_gpu_step(vy_gpu *gpu, uint64_t steps, vy_error *err);

/// The same on a stream of the caller's (a cudaStream_t; NULL: the default one) of the GPU's device, without
/// waiting: it comes after what was put on that stream before, and may be captured in a CUDA graph. Every
/// other call waits for all streams.
vy_status vy_gpu_step_on(vy_gpu *gpu, uint64_t steps, void *stream, vy_error *err);

/// Bring the state back into the batch: hashes, snapshots and views are then those of the GPU's worlds.
vy_status vy_gpu_download(vy_gpu *gpu, vy_error *err);

/// The other way: the state, the observations and what has ended, as after vy_batch_reset or
/// vy_batch_restore.
vy_status vy_gpu_upload(vy_gpu *gpu, vy_error *err);

#ifdef __cplusplus
}
#endif
