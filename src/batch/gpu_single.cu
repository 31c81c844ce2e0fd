// gpu_single.cu - worlds on a GPU in single precision: tier 1.
#define VY_SINGLE  1
#define GPU_KERNEL vy_gpu_single
#include "batch/gpu_kernel.inl"
