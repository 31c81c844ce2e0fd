// gpu_basic_single.cu - basic drones on a GPU in single precision: tier 1.
#define VY_SINGLE 1
#define GPU_BASIC vy_gpu_basic_single
#include "batch/gpu_basic.inl"
