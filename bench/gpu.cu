// gpu.cu - the bare flight equations on a GPU, in double precision: 168 registers a thread.
#define GPU_FLY    vy_bench_gpu_fly
#define GPU_BLOCKS 3
#include "bench/gpu.inl"
