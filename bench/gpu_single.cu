// gpu_single.cu - the bare flight equations on a GPU, in single precision: 128 registers a thread.
#define VY_SINGLE  1
#define GPU_FLY    vy_bench_gpu_fly_single
#define GPU_BLOCKS 4
#include "bench/gpu.inl"
