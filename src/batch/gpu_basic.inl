// gpu_basic.inl - the kernel of batches of basic drones: basic_step.inl, one world to a thread, its state in
// shared memory. For the real of the including file, which also defines GPU_BASIC (symbol).
#include "batch/basic_step.inl"
#include <cuda_runtime.h>

#if VY_SINGLE
#define THREADS_PER_BLOCK         64
#define BLOCKS_PER_MULTIPROCESSOR 7 // as many as shared memory has room for
#else
#define THREADS_PER_BLOCK         64
#define BLOCKS_PER_MULTIPROCESSOR 4
#endif
#define SINGLE_WARP_BLOCKS_MAX 1024 // warps

/// The kernel's argument.
struct basic_job {
    gpu_job job;
    basic_constants constants;
};

template <int HAS_ACTIONS>
__global__ static void __launch_bounds__(THREADS_PER_BLOCK, BLOCKS_PER_MULTIPROCESSOR)
    advance(const __grid_constant__ basic_job b)
{
    extern __shared__ double storage[];
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= b.job.layout.worlds) return;
    shared_world *here = (shared_world *)(void *)((unsigned char *)storage + threadIdx.x * SHARED_STRIDE);
    basic_advance_world(&b.job, &b.constants, HAS_ACTIONS ? b.job.layout.rung : VY_RUNG_NONE, i, here);
}

static void basic_configure(void)
{
    const int shared_size_max = THREADS_PER_BLOCK * SHARED_STRIDE;
    (void)cudaFuncSetAttribute(advance<0>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_size_max);
    (void)cudaFuncSetAttribute(advance<1>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_size_max);
}

// Few worlds are spread over all multiprocessors.
static void basic_advance(const gpu_job *job, const void *constants, void *stream)
{
    basic_job b;
    b.job = *job;
    b.constants = *(const basic_constants *)constants;
    const uint32_t world_count = job->layout.worlds;
    const uint32_t thread_count =
        world_count <= SINGLE_WARP_BLOCKS_MAX * GPU_WARP ? GPU_WARP : THREADS_PER_BLOCK;
    const uint32_t block_count = (world_count + thread_count - 1) / thread_count;
    const size_t shared_size = thread_count * SHARED_STRIDE;
    if (job->layout.rung != VY_RUNG_NONE) {
        advance<1><<<block_count, thread_count, shared_size, (cudaStream_t)stream>>>(b);
        return;
    }
    advance<0><<<block_count, thread_count, shared_size, (cudaStream_t)stream>>>(b);
}

extern const gpu_basic_kernel GPU_BASIC = {sizeof(basic_constants), basic_prepare, basic_configure,
                                           basic_advance};
